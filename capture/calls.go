package capture

import (
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/effects"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// call is asked about every call that traced bytecode makes.
func (tr *tracer) call(in *vm.Interp, callable vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if tr.depth > 0 || tr.d.active != tr || tr.d.outer != nil {
		return nil, false, nil
	}
	f := callable
	if m, ok := f.(*vm.BoundMethod); ok {
		f = m.Func
	}
	if tr.putOff(callable, f) {
		tr.effects.PutOff(effects.Call{Fn: callable, Args: args, Kw: kw})
		return vm.None, true, nil
	}
	if v, ok := tr.reads.asksByMethod(f, callable, args); ok {
		return v, true, nil
	}
	v, done, err := tr.random.randomCall(callable, args, kw)
	if done || err != nil {
		return v, done, tr.journal.located(err)
	}
	switch f := f.(type) {
	case *vm.Builtin:
		v, done, err = tr.callBuiltin(f, args, kw)
	case *vm.Function:
		if v, done, err = tr.callFunction(f, callable, args, kw); !done && err == nil {
			tr.bindings.calling(f, callable, args, kw)
			if f.Code.Flags&code.Generator != 0 && !tr.quiet() {
				v, done, err = tr.drain(callable, args, kw)
			}
		}
	case *vm.Type:
		if rule := classRules[f.Module+"."+f.Name]; rule != nil {
			if v := rule(tr, args, kw); v != nil {
				return v, true, nil
			}
		}
		if err := tr.userException(f, args); err != nil {
			return nil, false, tr.journal.located(err)
		}
		if !looksOnly.has(f.Name) && f.Module == "builtins" {
			for i, a := range args {
				rows, err := tr.unpackTensor(a)
				if err != nil {
					return nil, false, err
				}
				if rows != nil && walks.has(f.Name) {
					args[i] = rows
				}
				tr.world.seeItems(a)
				tr.reads.content(a)
			}
		}
		if f == vm.SuperType && len(args) == 0 && tr.in.Frame() != nil {
			tr.bindings.seeClassCell(tr.in.Frame())
		}
		if f.Module == "builtins" || f.Module == "" {
			if (f.Name == "list" || f.Name == "tuple") && len(args) == 1 {
				tr.reads.walked(args[0])
			}
			tr.world.usePolyfill("builtins."+f.Name, args)
		}
		v, done, err = tr.numberType(f, args, kw)
	case *vm.Instance:
		if src := tr.world.sourceOf(f); src != nil && !isModule(f) && !tr.quiet() && tr.world.tracked(f) && !unguarded.has(f.Class.FullName()) {
			tr.guards.Add(guard.Identity(f, src)) // what calling it does is not looked into by guards
		}
		if isModule(f) {
			v, done, err = tr.bindings.callModule(f, args, kw)
		} else if isA(f.Class, "torch._ops", "HigherOrderOperator") {
			v, done, err = tr.bodies.higherOrder(f, args, kw)
		} else if s, ok := f.Class.Lookup("__call__").(*vm.StaticMethod); ok {
			if g, ok := s.Func.(*vm.Function); ok {
				v, done, err = tr.callFunction(g, callable, args, kw)
			}
		}
	}
	return v, done, tr.journal.located(err)
}

// readAttr is getattr(o, name) of an object from outside: what it finds has a source, too. ok is false when there is nothing to find.
func (rd *reads) readAttr(o, name vm.Object) (v vm.Object, ok bool) {
	src := rd.world.sources[source.Identity(o)]
	n, isStr := vm.AsStr(name)
	if isStr {
		rd.readsAttr(o, n)
	}
	if _, isTensor := o.(*torch.Tensor); src == nil || !isStr || isTensor {
		return nil, false
	}
	v, err := rd.in.GetAttr(o, n)
	if err != nil {
		return nil, false
	}
	if !rd.boundHere(o, n, v) {
		rd.seeAttr(o, src, n, v)
	}
	return v, true
}

// seeForMethod registers the members of a container that one of its methods reads.
func (rd *reads) seeForMethod(self vm.Object, method string, args []vm.Object) {
	if method == "__contains__" && len(args) > 0 {
		if d, ok := vm.AsDict(self); ok && rd.world.sourceOf(self) != nil {
			rd.world.memberGuard(rd.world.sourceOf(self), d, args[0])
		} else {
			rd.content(self)
		}
	}
	switch method {
	case "append", "extend", "insert", "clear", "__contains__", "__len__", "update", "__setitem__", "add", "discard":
		return
	}
	d, isDict := self.(*vm.Dict)
	if !isDict {
		rd.world.seeItems(self)
		rd.content(self)
		return
	}
	src := rd.world.sourceOf(self)
	if src == nil {
		return
	}
	switch method {
	case "keys":
		rd.walked(self)
	case "get", "pop", "setdefault", "__getitem__":
		if len(args) == 0 {
			return
		}
		v, ok, err := d.Get(rd.in, args[0])
		rd.world.memberGuard(src, d, args[0])
		if ok && err == nil {
			rd.world.seeItem(self, src, args[0], v)
		}
		if err != nil || !ok || source.Identity(args[0]) != nil || !rd.effects.Held(self, args[0], v) {
			return
		}
		if r, err := rd.in.Repr(args[0]); err == nil {
			rd.world.see(v, source.Item{Base: src, Key: args[0], Text: r})
		}
	default:
		if method == "items" || method == "values" {
			rd.walked(self)
		}
		rd.world.seeItems(self)
		rd.content(self)
	}
}

func (tr *tracer) callBuiltin(f *vm.Builtin, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if _, ok := f.Native.(torch.Target); ok {
		return nil, false, nil // the torch hook records it
	}
	if f.Owner != nil && len(args) > 0 {
		tr.reads.seeForMethod(args[0], f.Name, args[1:])
		for _, a := range args[1:] {
			tr.world.seeItems(a)
			tr.reads.content(a)
		}
		return nil, false, tr.reads.nativeState(f, args[0])
	}
	lazy := f.Self == nil && f.Owner == nil && f.Module == "builtins" && looksOnly.has(f.Name)
	if f.Module == "builtins" {
		switch {
		case (f.Name == "isinstance" || f.Name == "issubclass") && len(args) == 2:
			tr.reads.content(args[1])
		case f.Name == "setattr" && len(args) == 3:
			if n, ok := vm.AsStr(args[1]); ok {
				if err := tr.reads.storesTensor(args[0], n); err != nil {
					return nil, false, err
				}
			}
		case f.Name == "hasattr" && len(args) == 2:
			tr.reads.asksAttr(args[0], args[1])
		case f.Name == "vars" && len(args) == 1:
			if i, ok := args[0].(*vm.Instance); ok {
				if d, err := tr.in.GetAttr(i, "__dict__"); err == nil {
					tr.world.ownDict(i, d)
				}
			}
		case f.Name == "len" && len(args) == 1:
			if d, ok := args[0].(*vm.Dict); ok {
				if src := tr.world.sourceOf(d); src != nil {
					n := d.Len()
					if before, saved := tr.effects.Before(d); saved {
						n = len(before) / 2
					}
					tr.guards.Covertly(func() { tr.guards.Add(guard.Length(guard.DictLength, src, n, guard.DictLen)) })
				}
			} else if _, ok := guard.Contained(tr.in, args[0]); ok && tr.world.sourceOf(args[0]) != nil {
				tr.world.membersGuard(tr.world.sourceOf(args[0]), args[0])
			}
		}
	}
	for _, a := range args {
		if !lazy {
			tr.world.seeItems(a)
			tr.reads.content(a)
		}
	}
	for _, a := range args {
		if err := tr.standIns.useValue(a); err != nil {
			return nil, false, err
		}
	}
	if v, done, err := tr.numberFunction(f, args, kw); done || err != nil {
		return v, done, err
	}
	if f.Self != nil {
		if _, isModule := f.Self.(*vm.Module); !isModule {
			if tr.world.sourceOf(f) != nil {
				tr.world.anchor(f.Self) // the method is guarded by its identity
			}
			tr.reads.seeForMethod(f.Self, f.Name, args)
			return nil, false, tr.reads.nativeState(f, f.Self)
		}
	}
	if f.Module == "builtins" && f.Name == "id" && len(args) == 1 {
		if _, isTensor := args[0].(*torch.Tensor); isTensor {
			return nil, false, unsupported(breaks.Identity, tr.world.variableName(args[0]))
		}
	}
	if f.Module == "builtins" && f.Name == "getattr" && len(args) > 1 {
		if v, ok := tr.reads.readAttr(args[0], args[1]); ok {
			return v, true, nil
		}
	}
	if f.Module == "builtins" && f.Name == "iter" && len(args) == 1 {
		tr.reads.walked(args[0])
	}
	tr.world.usePolyfill(strings.TrimPrefix(f.Module, "_")+"."+f.Name, args)
	if f.Owner != nil {
		return nil, false, nil
	}
	if f.Module == "builtins" || f.Module == "" {
		if _, ok := lasting.names[f.Name]; ok {
			return nil, false, tr.refusedBuiltin(f, args, kw)
		}
		return nil, false, nil
	}
	if id, ok := torchState.names[f.Name]; ok && f.Module == "torch._C" {
		return nil, false, unsupported(id, f.Name)
	}
	if pureModules.has(f.Module) {
		return nil, false, nil
	}
	return nil, false, unsupportedBuiltin(f.Module, f.Name)
}

// unsupportedBuiltin is the break at a native function that capture does not know.
func unsupportedBuiltin(module, name string) error {
	return unsupported(breaks.UnknownBuiltin, module, name)
}

// refusedBuiltin words the break at a builtin function that capture does not do.
func (tr *tracer) refusedBuiltin(f *vm.Builtin, args []vm.Object, kw []vm.KwArg) error {
	kinds := make([]string, len(args))
	for i, a := range args {
		kinds[i] = "<class 'torch._dynamo.variables." + tr.world.variableClass(a) + "'>"
	}
	id, known := lasting.names[f.Name]
	if !known {
		id = breaks.Builtin
	}
	return unsupported(id, f.Name, strings.Join(kinds, ", "), pyBool(len(kw) > 0))
}

func isModule(i *vm.Instance) bool {
	_, ok := moduleTable(i, "_parameters")
	return ok
}

// marked reports whether a function carries an attribute that is True, or that names the function itself.
func marked(f *vm.Function, name string) bool {
	if f.Dict == nil {
		return false
	}
	v, ok := f.Dict.GetStr(name)
	return ok && (v == vm.True || v == vm.Object(f))
}

func skipped(f *vm.Function) error {
	return unsupported(breaks.SkipFunction, f.Qualname, shortFile(f.Code.Filename))
}

// libraryCalls are functions of the standard library, written in Python here, that end a graph with words of their own.
var libraryCalls = map[string]func(tr *tracer, args []vm.Object) *Unsupported{
	"warnings.warn": func(*tracer, []vm.Object) *Unsupported { return unsupported(breaks.Warning) },
	"copy.deepcopy": func(tr *tracer, args []vm.Object) *Unsupported {
		if len(args) == 0 {
			return unsupported(breaks.DeepCopyOfNothing)
		}
		return unsupported(breaks.DeepCopy, tr.world.variableName(args[0]))
	},
}

// definition is the module and the name of a function. What a wrapper says of itself may be another's: functools.wraps makes it so.
func (d *Dynamo) definition(f *vm.Function) (mod, name string) {
	mod, _ = vm.AsStr(f.Module)
	if d.IsLibrary(f.Code.Filename) || f.Globals == nil {
		return mod, f.Name
	}
	if v, ok := f.Globals.GetStr("__name__"); ok {
		mod, _ = vm.AsStr(v)
	}
	return mod, f.Code.Name
}

func (tr *tracer) callFunction(f *vm.Function, callable vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	mod, name := tr.d.definition(f)
	whole := args // of the function itself
	if m, ok := callable.(*vm.BoundMethod); ok {
		whole = append([]vm.Object{m.Self}, args...)
	}
	top, _, _ := strings.Cut(mod, ".")
	if top == "torch" {
		if cls, rest := appliedFunction(f, callable, args); cls != nil {
			return tr.bodies.applyFunction(cls, rest, kw)
		}
		if fn := directives[mod+"."+f.Qualname]; fn != nil {
			return fn(tr, args, kw)
		}
	}
	if marked(f, "_torchdynamo_disable") || marked(f, "_torchdynamo_disable_once") {
		return nil, false, tr.disabled(f)
	}
	if marked(f, "_dynamo_allow_in_graph") {
		if target := tr.t.TargetOf(f); target != "" {
			v, err := tr.t.Hook(&torch.Call{Op: fx.CallFunction, Target: target, Args: whole, Kw: kw, Run: func(a []vm.Object, k []vm.KwArg) (vm.Object, error) {
				return tr.in.Call(f, a, k)
			}})
			return v, true, err
		}
	}
	if marked(f, "_torchdynamo_ahead") {
		v, err := tr.ahead(func() (vm.Object, error) { return tr.in.Call(callable, args, kw) })
		if err == nil {
			err = tr.optimizerInputs(callable, args)
		}
		return v, true, err
	}
	if marked(f, "_dynamo_marked_constant") {
		v, err := tr.outside(func() (vm.Object, error) { return tr.in.Call(callable, args, kw) })
		return v, true, err
	}
	if top == "torch" {
		if target := wholeInGraph(mod, name); target != "" {
			v, err := tr.t.Hook(&torch.Call{Op: fx.CallFunction, Target: target, Args: whole, Kw: kw, Run: func(a []vm.Object, k []vm.KwArg) (vm.Object, error) {
				return tr.in.Call(f, a, k)
			}})
			return v, true, err
		}
		if strings.HasPrefix(mod, "torch._dynamo") || strings.HasPrefix(mod, "torch._inductor") {
			return nil, false, skipped(f)
		}
		return nil, false, nil
	}
	if decorators.has(f.Code.Filename) {
		return nil, false, nil
	}
	tr.world.usePolyfill(mod+"."+name, args)
	if fn := libraryCalls[mod+"."+name]; fn != nil {
		return nil, false, fn(tr, args)
	}
	if top == "logging" {
		if done, err := tr.logger(f, callable); done || err != nil {
			return vm.None, done, err
		}
	}
	if tr.d.IsLibrary(f.Code.Filename) && !inlinedLibraries.has(top) {
		id := breaks.SkipFunction
		if strings.HasPrefix(f.Qualname, "print") { // as those of traceback are called
			id = breaks.SkipPrint
		}
		return nil, false, unsupported(id, f.Qualname, f.Code.Filename)
	}
	return nil, false, nil
}

// disabled words the break at a function that torch.compiler.disable, or the library for its own functions, keeps out of graphs.
func (tr *tracer) disabled(f *vm.Function) error {
	if f.Dict == nil {
		return skipped(f)
	}
	if _, ours := f.Dict.GetStr("_torchdynamo_library"); ours {
		return unsupported(breaks.LibraryDisabled, f.Qualname)
	}
	var what vm.Object = f
	if v, ok := f.Dict.GetStr("_torchdynamo_orig_callable"); ok {
		what = v
	}
	r, err := tr.in.Repr(what)
	if err != nil {
		return err
	}
	return unsupported(breaks.Disabled, r)
}

// wholeInGraph is the target of a function of torch written in Python that capture does not look into, "" for others.
func wholeInGraph(mod, name string) string {
	switch mod {
	case "torch.nn.functional":
		if name[0] == '_' || inlinedFunctional.has(name) {
			return ""
		}
	case "torch.functional":
		if cellFunctions.has(name) {
			return "torch." + name
		}
		if !graphFunctions.has(name) {
			return ""
		}
	case "torch.masked._ops", "torch.signal.windows.windows":
		if name[0] == '_' {
			return ""
		}
	default:
		return ""
	}
	return mod + "." + name
}

// directives are functions of torch that speak to capture itself, by module and qualified name.
var directives map[string]directive

type directive func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error)

func init() {
	brk := func(id breaks.ID, args ...string) directive {
		return func(*tracer, []vm.Object, []vm.KwArg) (vm.Object, bool, error) {
			return nil, false, unsupported(id, args...)
		}
	}
	yes := func(*tracer, []vm.Object, []vm.KwArg) (vm.Object, bool, error) { return vm.True, true, nil }
	cond := func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
		return tr.bodies.cond(args, kw)
	}
	directives = map[string]directive{
		"torch.cond":                        cond,
		"torch._higher_order_ops.cond.cond": cond,
		"torch.utils.checkpoint.checkpoint": func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
			return tr.bodies.checkpoint(args, kw)
		},
		"torch._dynamo.decorators.graph_break": brk(breaks.GraphBreak),
		"torch._check": func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
			return tr.symbols.check(args, kw)
		},
		"torch._check_is_size": func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
			return tr.symbols.checkIsSize(args, kw)
		},
		"torch.compiler.is_compiling":                        yes,
		"torch.compiler.is_dynamo_compiling":                 yes,
		"torch._dynamo.is_compiling":                         yes,
		"torch._dynamo.external_utils.is_compiling":          yes,
		"torch._dynamo.comptime._Comptime.graph_break":       brk(breaks.ComptimeBreak, "ComptimeContext.graph_break"),
		"torch._dynamo.comptime._Comptime.__call__":          (*tracer).comptime,
		"torch._dynamo.comptime._Comptime.print":             comptimeMethod("print"),
		"torch._dynamo.comptime._Comptime.print_graph":       comptimeMethod("print_graph"),
		"torch._dynamo.comptime._Comptime.print_locals":      comptimeMethod("print_locals"),
		"torch._dynamo.comptime._Comptime.print_bt":          comptimeMethod("print_bt"),
		"torch._dynamo.comptime._Comptime.print_guards":      comptimeMethod("print_guards"),
		"torch._dynamo.comptime._Comptime.print_value_stack": comptimeMethod("print_value_stack"),
		"torch._dynamo.comptime._Comptime.breakpoint":        comptimeMethod("breakpoint"),
		"torch._dynamo.comptime._Comptime.sleep":             comptimeMethod("sleep"),
		"torch._dynamo.comptime._Comptime.print_disas":       comptimeMethod("print_disas"),
		"torch._dynamo.comptime._Comptime.force_static":      comptimeMethod("force_static"),
		"torch._dynamo.comptime._Comptime.print_value_stack_and_return": func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
			if len(args) == 0 {
				return nil, false, nil
			}
			_, done, err := comptimeMethod("print_value_stack")(tr, nil, kw)
			return args[0], done, err
		},
		"torch._dynamo.comptime._Comptime.assert_static": comptimeMethod("assert_static"),
	}
}

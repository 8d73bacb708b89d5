package capture

import (
	"path"
	"slices"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/effects"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// call is asked about every call that traced bytecode makes. done says that v is what the call gave; otherwise the interpreter makes it,
// and so the trace goes into what is Python. What native code is about to read of its arguments is guarded first: nobody sees that.
func (tr *tracer) call(in *vm.Interp, callable vm.Object, args []vm.Object, kw []vm.KwArg) (v vm.Object, done bool, err error) {
	if tr.depth > 0 || tr.d.active != tr || tr.d.outer != nil {
		return nil, false, nil // a call inside of a call of torch, or of plain Python that runs in the middle of the trace
	}
	f := callable
	if m, ok := f.(*vm.BoundMethod); ok {
		f = m.Func
	}
	if tr.putOff(callable, f) {
		tr.effects.PutOff(&effects.Call{Fn: callable, Args: args, Kw: kw})
		return vm.None, true, nil
	}
	if v, ok := tr.reads.asksByMethod(f, callable, args); ok {
		return v, true, nil
	}
	if v, done, err = tr.numpyFunctionCall(callable, args, kw); done || err != nil {
		return v, done, tr.journal.located(err)
	}
	v, done, err = tr.random.randomCall(callable, args, kw)
	if done || err != nil {
		return v, done, tr.journal.located(err)
	}
	if v, ok := formatMethod(callable, args, kw); ok {
		return v, true, nil
	}
	if err := textGiven(f, args, kw); err != nil {
		return nil, false, tr.journal.located(err)
	}
	if src := tr.world.sourceOf(f); src != nil && f.Type().Module == "weakref" && f.Type().Name == "ReferenceType" && len(args)+len(kw) == 0 {
		if v, err := tr.in.Call(f, nil, nil); err == nil {
			tr.world.see(v, weakTarget{src})
			return v, true, nil
		}
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
		v, done, err = tr.callClass(f, args, kw)
	case *vm.Instance:
		v, done, err = tr.callInstance(f, callable, args, kw)
	}
	if !done && err == nil {
		v, done, err = tr.fold(callable, args, kw)
	}
	return v, done, tr.journal.located(err)
}

// callClass is a call of a class. Those of the builtins read their arguments as functions do.
func (tr *tracer) callClass(c *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if c.Name == "BackwardHook" && c.Module == "torch.utils.hooks" {
		return nil, false, unsupported(breaks.BackwardHooks)
	}
	if v, ok := c.Dict.GetStr("_dynamo_forbidden"); ok && v == vm.True {
		return nil, false, tr.forbiddenCallable(c)
	}
	if rule := classRules[c.Module+"."+c.Name]; rule != nil {
		if v := rule(tr, args, kw); v != nil {
			return v, true, nil
		}
	}
	if err := tr.userException(c, args); err != nil {
		return nil, false, err
	}
	if err := tr.unhandledClass(c, args, kw); err != nil {
		return nil, false, err
	}
	if c == vm.TypeType && len(args) == 1 {
		if err := tr.reads.useOne(args[0]); err != nil {
			return nil, false, err
		}
	}
	if !c.Heap && !looksOnly.has(c.Name) {
		for _, a := range args {
			if out := tr.reads.stepsOuter(a); out != nil {
				return nil, false, out
			}
		}
	}
	if nullContexts.has(c.FullName()) && c.Module != "contextlib" { // a profiler, which compiled code leaves out
		v, err := tr.outside(func() (vm.Object, error) {
			null, err := tr.attribute("contextlib", "nullcontext")
			if err != nil {
				return nil, err
			}
			return tr.in.Call(null, nil, nil)
		})
		return v, err == nil, err
	}
	if init, ok := c.Lookup("__init__").(*vm.Function); ok {
		mod, _ := tr.d.definition(init)
		if err := tr.skippedTorch(init, mod); err != nil {
			return nil, false, err
		}
	}
	if !looksOnly.has(c.Name) && c.Module == "builtins" {
		for i, a := range args {
			rows, err := tr.unpackTensor(a)
			if err != nil {
				return nil, false, err
			}
			if rows != nil && walks.has(c.Name) {
				if c.Name == "list" || c.Name == "tuple" {
					tr.reads.iterated(a)
				}
				args[i] = rows // list(x) of a tensor
			}
			if t := tr.world.liftItems(a); t != nil && walks.has(c.Name) {
				args[i] = t
				continue
			}
			tr.world.seeItems(a)
			tr.reads.content(a)
			if hashes.has(c.Name) {
				if err := tr.standIns.useAll([]vm.Object{a}); err != nil {
					return nil, false, err
				}
			}
		}
	}
	if c == vm.SuperType && len(args) == 0 && tr.in.Frame() != nil {
		tr.bindings.seeSuper(tr.in.Frame())
	}
	if c.Module == "builtins" || c.Module == "" {
		if (c.Name == "list" || c.Name == "tuple") && len(args) == 1 {
			tr.reads.walked(args[0])
			tr.reads.walkedSet(args[0])
		}
		if m, ok := first(args).(*vm.Instance); ok && c.Name == "enumerate" && isModule(m) {
			tr.reads.walked(m)
		}
		tr.world.usePolyfill("builtins."+c.Name, args)
	} else if c.Module == "itertools" || c.Module == "operator" || c.Module == "_operator" {
		tr.world.usePolyfill(strings.TrimPrefix(c.Module, "_")+"."+c.Name, args)
	}
	if v, done, err := tr.substituted(c, args, kw); done || err != nil {
		return v, done, err
	}
	if v, done, err := tr.tensorFunction(c.Module, c.Name, args, kw); done || err != nil {
		return v, done, err
	}
	return tr.numberType(c, args, kw)
}

// callInstance is a call of an object by its class's __call__: modules, operators with bodies, and objects whose __call__ is a function
// that does not take them.
func (tr *tracer) callInstance(i *vm.Instance, callable vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if f := cachedFunction(i); f != nil {
		tr.bindings.seeWrapped(i, f, "__wrapped__")
		if v, done, err := tr.callFunction(f, f, args, kw); done || err != nil {
			return v, done, err
		}
		v, err := tr.in.Call(f, args, kw)
		return v, true, err
	}
	if isEnumMember(i) && tr.ofProgram() {
		return nil, false, unsupported(breaks.UnhandledCall, tr.world.variableName(i), tr.variableNames(args), tr.keywordNames(kw))
	}
	if src := tr.world.sourceOf(i); src != nil && !isModule(i) && !tr.quiet() && tr.world.tracked(i) && !unguarded.has(i.Class.FullName()) {
		tr.guards.Add(guard.Identity(i, src)) // what calling it does is not looked into by guards
	}
	if inner := tr.bindings.compiledModule(i); inner != nil {
		if m, ok := inner.(*vm.Instance); ok && isModule(m) {
			if v, done, err := tr.bindings.callModule(m, args, kw); done || err != nil {
				return v, done, err
			}
		}
		v, err := tr.in.Call(inner, args, kw)
		return v, true, err
	}
	if isModule(i) {
		if err := tr.initializeLazy(i, args, kw); err != nil {
			return nil, false, err
		}
		if isA(i.Class, "torch.nn.modules.rnn", "RNNBase") {
			return nil, false, unsupported(breaks.RecurrentModule)
		}
		if v, done, err := tr.leafModule(i, args, kw); done || err != nil {
			return v, done, err
		}
		return tr.bindings.callModule(i, args, kw)
	}
	if isA(i.Class, "torch._ops", "HigherOrderOperator") {
		return tr.bodies.higherOrder(i, args, kw)
	}
	if s, ok := i.Class.Lookup("__call__").(*vm.StaticMethod); ok {
		if g, ok := s.Func.(*vm.Function); ok {
			return tr.callFunction(g, callable, args, kw)
		}
	}
	return nil, false, nil
}

// cachedFunction is the function that functools.lru_cache has wrapped; nil for other objects. A trace goes through the function at each call: the
// cache keeps nothing of a trace, and gives nothing to it. Of a method it is called without self, as PyTorch's trace does.
func cachedFunction(i *vm.Instance) *vm.Function {
	if i.Class.Module != "functools" || i.Class.Name != "_lru_cache_wrapper" || i.Dict == nil {
		return nil
	}
	v, _ := i.Dict.GetStr("__wrapped__")
	f, _ := v.(*vm.Function)
	return f
}

// initializeLazy lets a module that makes its parameters at its first call make them, from the sizes that the trace has: the module is an ordinary
// one from then on, in the program, too.
func (tr *tracer) initializeLazy(m *vm.Instance, args []vm.Object, kw []vm.KwArg) error {
	if m.Dict == nil {
		return nil
	}
	if _, lazy := m.Dict.GetStr("_initialize_hook"); !lazy {
		return nil
	}
	named := vm.NewDict()
	for _, k := range kw {
		named.SetStr(k.Name, tr.standIns.swapOne(k.Value))
	}
	_, err := tr.imports(func() (vm.Object, error) {
		return tr.in.CallMethod(m, "_infer_parameters", m, vm.NewTuple(tr.standIns.swap(args)...), named)
	})
	return err
}

// liftedFor is a dict that takes the place of one from outside, of which a method gives items; nil where that is as good.
func (tr *tracer) liftedFor(method string, self vm.Object) *vm.Dict {
	switch method {
	case "items", "values", "get":
		return tr.world.liftValues(self)
	}
	return nil
}

// callBuiltin is a call of a function or method written in Go. A call of torch is left to the hook under it. Of others, what they read
// is guarded, and those that the trace must not make end it.
func (tr *tracer) callBuiltin(f *vm.Builtin, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if _, ok := f.Native.(torch.Target); ok {
		if tr.d.rules.disallowed[f] {
			return nil, false, unsupportedBuiltin(f.Module, f.Name)
		}
		return nil, false, nil // the torch hook records it
	}
	if f.Name == "data_ptr" && someTensor(append([]vm.Object{f.Self}, args...)) && tr.ofProgram() {
		return nil, false, unsupported(breaks.TensorDataPtr)
	}
	if kind := nonTensorMethods[f.Name]; kind != "" && someTensor(append([]vm.Object{f.Self}, args...)) && tr.ofProgram() {
		return nil, false, unsupported(breaks.NonTensorMethod, kind, f.Name)
	}
	if err := tr.unhandledFunction(f, args, kw); err != nil {
		return nil, false, err
	}
	if f.Owner != nil && len(args) > 0 { // str.join(sep, parts): a method taken from its class
		if err := tr.unhandledMethod(f.Name, args[0], args[1:], kw); err != nil {
			return nil, false, err
		}
		tr.reads.seeForMethod(args[0], f.Name, args[1:])
		for _, a := range args[1:] {
			tr.world.seeItems(a)
			tr.reads.content(a)
		}
		return nil, false, tr.reads.nativeState(f, args[0])
	}
	if f.Module == "builtins" {
		if f.Name == "sum" && len(args) > 0 {
			if t := tr.world.liftItems(args[0]); t != nil {
				args = append([]vm.Object{t}, args[1:]...)
				if len(args) == 1 && len(kw) == 0 && integers(t) {
					v, err := tr.inTorch("sym_sum", t)
					return v, err == nil, err
				}
			}
		}
		if err := tr.reads.builtinAsks(f.Name, args); err != nil {
			return nil, false, err
		}
	}
	if lazy := f.Self == nil && f.Owner == nil && f.Module == "builtins" && looksOnly.has(f.Name); !lazy {
		for _, a := range args {
			tr.world.seeItems(a)
			tr.reads.content(a)
		}
	}
	for _, a := range args {
		if err := tr.reads.useOne(a); err != nil {
			return nil, false, err
		}
		if !looksOnly.has(f.Name) && f.Name != "iter" {
			if out := tr.reads.stepsOuter(a); out != nil {
				return nil, false, out
			}
		}
	}
	if v, done, err := tr.boundOfArrays(f, args, kw); done || err != nil {
		return v, done, err
	}
	if v, done, err := tr.tensorFunction(f.Module, f.Name, args, kw); done || err != nil {
		return v, done, err
	}
	if v, done, err := tr.numberFunction(f, args, kw); done || err != nil {
		return v, done, err
	}
	if f.Self != nil {
		if _, isModule := f.Self.(*vm.Module); !isModule { // functions of a module have that for self
			if err := tr.unhandledMethod(f.Name, f.Self, args, kw); err != nil {
				return nil, false, err
			}
			if tr.world.sourceOf(f) != nil {
				tr.world.anchor(f.Self) // the method is guarded by its identity
			}
			if d := tr.liftedFor(f.Name, f.Self); d != nil {
				v, err := tr.in.CallMethod(d, f.Name, args...)
				return v, err == nil, err
			}
			tr.reads.seeForMethod(f.Self, f.Name, args)
			return nil, false, tr.reads.nativeState(f, f.Self)
		}
	}
	if f.Module == "builtins" {
		switch {
		case (f.Name == "setattr" || f.Name == "delattr") && len(args) > 1 && isPythonClass(args[0]):
			return nil, false, tr.refusedBuiltin(f.Name, args, kw)
		case f.Name == "id" && len(args) == 1:
			if src := tr.world.sourceOf(args[0]); src != nil {
				tr.guards.Add(guard.Identity(args[0], src))
				return vm.MakeInt(tr.in.ID(args[0])), true, nil
			}
			switch args[0].(type) {
			case *torch.Tensor:
				return nil, false, unsupported(breaks.TensorIdentity)
			case *vm.Instance, *vm.Type:
			default:
				return nil, false, unsupported(breaks.Identity, tr.world.variableName(args[0]))
			}
		case (f.Name == "getattr" || f.Name == "hasattr") && len(args) > 1 && tr.reads.ownAccess(args[0]) != nil:
			return nil, false, tr.reads.ownAccess(args[0])
		case f.Name == "getattr" && len(args) > 1:
			if len(args) == 3 {
				tr.reads.asksAttrOr(args[0], args[1])
			}
			if v, ok := tr.reads.readAttr(args[0], args[1]); ok {
				return v, true, nil
			}
		case f.Name == "iter" && len(args) == 1:
			tr.reads.walked(args[0])
		}
	}
	tr.world.usePolyfill(strings.TrimPrefix(f.Module, "_")+"."+f.Name, args)
	if v, done, err := tr.substituted(f, args, kw); done || err != nil {
		return v, done, err
	}
	if s := tr.d.polyfills[called(f)]; s != nil && s.folds {
		return nil, false, nil // it depends on nothing but its arguments, which are constants
	}
	return nil, false, tr.forbidden(f, args, kw)
}

// forbiddenCallable is the end of a compilation that meets what no trace may meet.
func (tr *tracer) forbiddenCallable(o vm.Object) error {
	return &escaped{tr.in.Errorf(tr.in.Exc.AssertionError, "Attempt to trace forbidden callable %s", tr.repr(o))}
}

// forbidden is the break at a native function that the trace must not call: one with lasting effects, one that sets torch's state,
// or one that nobody has said of that it has none of that. nil for those that it may.
func (tr *tracer) forbidden(f *vm.Builtin, args []vm.Object, kw []vm.KwArg) error {
	if f.Owner != nil {
		return nil
	}
	if f.Module == "builtins" || f.Module == "" || tr.isBuiltin(f) {
		if _, ok := lasting.names[f.Name]; ok {
			return tr.refusedBuiltin(f.Name, args, kw)
		}
		return nil
	}
	if id, ok := torchState.names[f.Name]; ok && f.Module == "torch._C" {
		return unsupported(id, f.Name)
	}
	if id, ok := levelState.names[f.Name]; ok && f.Module == levelState.home && tr.t.Levels.Top() != nil {
		return unsupported(id, "_functorch."+f.Name)
	}
	if f.Name == "_pop_torch_function_stack" && f.Module == "torch._C" && len(tr.t.Functions.Stack) == 0 {
		return unsupported(breaks.EmptyModeStack)
	}
	if pureModules.has(f.Module) || f.Module == "_warnings" && f.Name == "_filters_mutated" { // that makes the next warning look at the filters again
		return nil
	}
	return unsupportedBuiltin(f.Module, f.Name)
}

// integers reports whether a tuple holds integers only, known or unknown ones.
func integers(o vm.Object) bool {
	t, ok := vm.AsTuple(o)
	if !ok {
		return false
	}
	for _, x := range t.Items {
		switch x := x.(type) {
		case vm.Int:
		case *torch.Scalar:
			if x.Kind != tensor.Int64 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isBuiltin reports whether the module builtins has a function under its name, whichever module that comes from: open is one of io.
func (tr *tracer) isBuiltin(f *vm.Builtin) bool {
	v, err := tr.in.GetAttr(tr.in.Builtins, f.Name)
	return err == nil && v == vm.Object(f)
}

// unsupportedBuiltin is the break at a native function that capture does not know.
func unsupportedBuiltin(module, name string) error {
	if module == "_warnings" && name == "warn" {
		return unsupported(breaks.Warning)
	}
	return unsupported(breaks.UnknownBuiltin, module, name)
}

// refusedBuiltin words the break at a builtin function that capture does not do.
func (tr *tracer) refusedBuiltin(name string, args []vm.Object, kw []vm.KwArg) error {
	kinds := make([]string, len(args))
	for i, a := range args {
		kinds[i] = "<class 'torch._dynamo.variables." + tr.world.variableClass(a) + "'>"
	}
	id, known := lasting.names[name]
	if id == breaks.UnknownBuiltin {
		return unsupportedBuiltin("builtins", name)
	}
	if !known {
		id = breaks.Builtin
	}
	return unsupported(id, name, strings.Join(kinds, ", "), pyBool(len(kw) > 0))
}

// isModule reports whether an object is an nn.Module, by what every module has: its table of parameters.
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

// inlined is what the wrapper that torch.compile puts around a callable calls: inside a trace the wrapper is looked through. nil for other
// functions.
func inlined(f *vm.Function) vm.Object {
	if f.Dict == nil {
		return nil
	}
	v, _ := f.Dict.GetStr("_torchdynamo_inline")
	return v
}

// skipped is the break at a function that capture was told to leave alone.
func skipped(f *vm.Function) error {
	return unsupported(breaks.SkipFunction, f.Qualname, shortFile(f.Code.Filename))
}

// skippedTorch is the break at a function of torch that PyTorch's traces do not look into, called by the program itself; nil for others.
func (tr *tracer) skippedTorch(f *vm.Function, mod string) error {
	if fr := tr.in.Frame(); fr == nil || tr.d.IsLibrary(fr.Code.Filename) {
		return nil
	}
	class, name, method := strings.Cut(f.Qualname, ".")
	if handledTorch.has(mod + "." + class) {
		return nil
	}
	for m := mod; strings.HasPrefix(m, "torch."); m = strings.TrimSuffix(m, path.Ext(m)) {
		if !skippedTorch.has(m) {
			continue
		}
		if !method {
			return skipped(f)
		}
		list := "SKIP_DIRS"
		if forceSkipped.has(m) {
			list = "FORCE_SKIP_FILES"
		}
		return unsupported(breaks.InlineSkipped, f.Qualname, name, shortFile(f.Code.Filename), list)
	}
	return nil
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
	"dataclasses._is_dataclass_instance": madeInTrace,
	"dataclasses.fields": func(tr *tracer, args []vm.Object) *Unsupported {
		if len(args) == 1 {
			if c, ok := args[0].(*vm.Type); ok {
				return unsupported(breaks.DataclassFields, tr.world.variableName(c))
			}
		}
		return nil
	},
}

// madeInTrace finds questions about an object of a dataclass that has no source: PyTorch does not know its class's attributes.
func madeInTrace(tr *tracer, args []vm.Object) *Unsupported {
	if len(args) == 1 {
		if i, ok := args[0].(*vm.Instance); ok && tr.world.sourceOf(i) == nil && i.Class.Heap {
			return unsupported(breaks.HasAttr, "UserDefinedClassVariable", "__dataclass_fields__")
		}
	}
	return nil
}

// definition is the module and the name of a function. What a wrapper says of itself may be another's: functools.wraps makes it so.
func (d *Dynamo) definition(f *vm.Function) (mod, name string) {
	mod, _ = vm.AsStr(f.Module)
	wraps := strings.HasPrefix(f.Code.Filename, "torch/_functorch/") || strings.HasPrefix(f.Code.Filename, "torch/_higher_order_ops/") // functions there have the names of those that they transform
	if d.IsLibrary(f.Code.Filename) && !wraps || f.Globals == nil {
		return mod, f.Name
	}
	if v, ok := f.Globals.GetStr("__name__"); ok {
		mod, _ = vm.AsStr(v)
	}
	return mod, f.Code.Name
}

// callFunction is a call of a Python function. Most are traced through, as every frame is; this finds the ones that capture knows:
// directives to it, functions that are one node of the graph, and those that run as plain Python while tracing.
func (tr *tracer) callFunction(f *vm.Function, callable vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	mod, name := tr.d.definition(f)
	whole := args // of the function itself: with self, where a method is called
	if m, ok := callable.(*vm.BoundMethod); ok {
		whole = append([]vm.Object{m.Self}, args...)
	}
	top, _, _ := strings.Cut(mod, ".")
	if !tr.d.IsLibrary(f.Code.Filename) {
		if v, done, err := tr.substituted(f, whole, kw); done || err != nil {
			return v, done, err
		}
	}
	if top == "torch" {
		if cls, rest := appliedFunction(f, callable, args); cls != nil {
			return tr.bodies.applyFunction(cls, rest, kw)
		}
		if fn := directives[mod+"."+f.Qualname]; fn != nil {
			return fn(tr, args, kw)
		}
	}
	if marked(f, "_dynamo_forbidden") {
		return nil, false, tr.forbiddenCallable(f)
	}
	if inner := inlined(f); inner != nil {
		tr.bindings.seeInlined(f, inner)
		v, err := tr.in.Call(inner, whole, kw)
		return v, true, err
	}
	if marked(f, "_torchdynamo_disable") || marked(f, "_torchdynamo_disable_once") {
		return nil, false, tr.disabled(f, asMethod(f, callable, args))
	}
	// The program's own marks come first: out of the trace, one node of the graph, or run while tracing.
	if marked(f, "_dynamo_allow_in_graph") {
		if target := tr.t.TargetOf(f); target != "" {
			v, err := tr.t.CallWhole(target, f, whole, kw)
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
			v, err := tr.t.CallWhole(target, f, whole, kw)
			return v, true, err
		}
		if mod == "torch.utils._pytree" && name == "tree_flatten" && len(args) > 0 {
			if err := tr.bodies.realizeOne(args[0]); err != nil { // taking a tree apart looks at all leaves
				return nil, false, err
			}
		}
		if strings.HasPrefix(mod, "torch._dynamo.polyfills.") || decorators.has(f.Code.Filename) {
			return nil, false, nil
		}
		if strings.HasPrefix(mod, "torch._dynamo") || strings.HasPrefix(mod, "torch._inductor") {
			if into, err := tr.lookedInto(f); into || err != nil {
				return nil, false, err
			}
			return nil, false, skipped(f)
		}
		return nil, false, tr.skippedTorch(f, mod)
	}
	if tr.d.rules.skips(f.Code.Filename) {
		if into, err := tr.lookedInto(f); into || err != nil {
			return nil, false, err
		}
		return nil, false, skipped(f)
	}
	if decorators.has(f.Code.Filename) {
		return nil, false, nil
	}
	// What is left is Python of the program, which is traced, and of the standard library, of which some is.
	tr.world.usePolyfill(mod+"."+name, args)
	if fn := libraryCalls[mod+"."+name]; fn != nil {
		if u := fn(tr, args); u != nil {
			return nil, false, u
		}
	}
	folds := folded.has(mod+"."+name) && constantArgs(args) && !slices.ContainsFunc(kw, func(k vm.KwArg) bool { return !constantArgs([]vm.Object{k.Value}) })
	if folds || describing.has(mod+"."+name) {
		v, err := tr.outside(func() (vm.Object, error) { return tr.in.Call(callable, args, kw) })
		return v, err == nil, err
	}
	if inCollections(f) {
		return nil, false, unsupported(breaks.InlineSkipped, f.Qualname, name, f.Code.Filename, "SKIP_DIRS")
	}
	if top == "logging" {
		if done, err := tr.logger(f, callable); done || err != nil {
			return vm.None, done, err
		}
	}
	if top == "warnings" && strings.HasPrefix(f.Qualname, "catch_warnings.") {
		return nil, false, nil // what it changes it changes back
	}
	if tr.d.leavesAlone(f, top) {
		id := breaks.SkipFunction
		if strings.HasPrefix(f.Qualname, "print") { // as those of traceback are called
			id = breaks.SkipPrint
		}
		return nil, false, unsupported(id, f.Qualname, f.Code.Filename)
	}
	return nil, false, nil
}

// leavesAlone reports whether capture never looks into a function whose module belongs to the package top, as it says itself.
func (d *Dynamo) leavesAlone(f *vm.Function, top string) bool {
	if skippedLibraries.has(top) {
		return true
	}
	if !d.IsLibrary(f.Code.Filename) {
		return false
	}
	home := strings.TrimSuffix(path.Base(f.Code.Filename), ".py")
	return home != top && (skippedLibraries.has(home) || skippedWrappers.has(home))
}

// entersDisabled is the break at a frame of a function that is kept out of graphs, and that native code calls: a module its forward, a
// functools.partial what it holds.
func (tr *tracer) entersDisabled(f *vm.Frame) error {
	if f.Func == nil || f.Func.Dict == nil || inlined(f.Func) != nil || !marked(f.Func, "_torchdynamo_disable") && !marked(f.Func, "_torchdynamo_disable_once") {
		return nil
	}
	return tr.disabled(f.Func, ofClass(f.Func.Qualname))
}

// asMethod reports whether a call of a function is one of a method of an object: the instruction that loads a method leaves the object among the arguments.
func asMethod(f *vm.Function, callable vm.Object, args []vm.Object) bool {
	if _, bound := callable.(*vm.BoundMethod); bound || len(args) == 0 || !ofClass(f.Qualname) {
		return bound
	}
	return args[0].Type().Lookup(f.Name) == vm.Object(f)
}

// ofClass reports whether what has a qualified name was defined in a class.
func ofClass(qualname string) bool {
	i := strings.LastIndexByte(qualname, '.')
	return i >= 0 && !strings.HasSuffix(qualname[:i], "<locals>")
}

// disabled words the break at a function that torch.compiler.disable, or the library for its own functions, keeps out of graphs. PyTorch looks into a
// wrapper that is called as a method of an object before it sees that.
func (tr *tracer) disabled(f *vm.Function, bound bool) error {
	if f.Dict == nil {
		return skipped(f)
	}
	if _, ours := f.Dict.GetStr("_torchdynamo_library"); ours {
		return unsupported(breaks.LibraryDisabled, f.Qualname)
	}
	var what vm.Object = f
	if v, wraps := f.Dict.GetStr("_torchdynamo_orig_callable"); wraps {
		if bound {
			return unsupported(breaks.InlineSkipped, f.Qualname, "_fn", "torch/_dynamo/eval_frame.py", "SKIP_DIRS")
		}
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
	case "torch._functorch.eager_transforms", "torch._functorch.vmap", "torch.autograd.forward_ad":
		if !transformSteps.has(name) {
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
	skip := func(function, file string) directive { return brk(breaks.SkipFunction, function, file) }
	yes := func(*tracer, []vm.Object, []vm.KwArg) (vm.Object, bool, error) { return vm.True, true, nil }
	directives = map[string]directive{
		"torch.utils.checkpoint.checkpoint": func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
			return tr.bodies.checkpoint(args, kw)
		},
		"torch._dynamo.decorators.graph_break":        brk(breaks.GraphBreak),
		"torch.manual_seed":                           skip("manual_seed", "torch/_compile.py"), // the wrapper that PyTorch puts around it
		"torch.random.manual_seed":                    skip("manual_seed", "torch/random.py"),
		"torch.random.get_rng_state":                  skip("get_rng_state", "torch/random.py"),
		"torch.random.set_rng_state":                  skip("set_rng_state", "torch/random.py"),
		"torch.autograd.grad":                         skip("grad", "torch/autograd/__init__.py"),
		"torch._functorch.eager_transforms.linearize": skip("disallow_in_graph", "torch/_dynamo/decorators.py"), // it makes a graph of its own
		"torch.autograd.backward":                     skip("backward", "torch/autograd/__init__.py"),
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

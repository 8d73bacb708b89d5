package torch

import (
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
)

// FunctionModes are what __torch_function__ overrides: the modes that are entered, and how much of it is switched off. Compiled code is
// guarded on them, and runs without them.
type FunctionModes struct {
	// Stack are the modes, the outermost first. It is never changed in place.
	Stack []vm.Object
	// Off says what is switched off.
	Off FunctionOff
}

// FunctionOff is how much of __torch_function__ is switched off.
type FunctionOff int

// Nothing, the overrides of subclasses of Tensor, or those of modes as well.
const (
	FunctionOn FunctionOff = iota
	SubclassOff
	AllOff
)

// SuspendFunctionModes takes all modes of __torch_function__ away until restore is called: compiled code has what they do in its graph.
func (t *Torch) SuspendFunctionModes() (restore func()) {
	before := t.Functions
	t.Functions = FunctionModes{}
	return func() { t.Functions = before }
}

// operatorMethods are the methods of Tensor that overrides see in place of Python's operators; Tensor has all others under the name of the
// operator between underscores.
var operatorMethods = map[string]string{"pos": "positive", "neg": "neg", "abs": "abs", "pow": "pow", "mul": "mul", "matmul": "matmul", "truediv": "div", "mod": "remainder",
	"add": "add", "lt": "lt", "gt": "gt", "ge": "ge", "le": "le", "ne": "ne", "sub": "sub", "ipow": "pow_", "imul": "mul_", "imatmul": "matmul", "ifloordiv": "floor_divide_",
	"itruediv": "div_", "imod": "remainder_", "iadd": "add_", "isub": "sub_", "truth": "__bool__", "not_": "__bool__"}

// reflectedMethods are those that overrides see where the tensor is the right operand alone.
var reflectedMethods = map[string]string{"pow": "__rpow__", "truediv": "__rdiv__", "mod": "__rmod__", "lt": "gt", "gt": "lt", "ge": "le", "le": "ge", "sub": "__rsub__", "ipow": "__rpow__",
	"imul": "mul", "itruediv": "__rdiv__", "imod": "__rmod__", "iadd": "add", "isub": "__rsub__", "add": "add", "mul": "mul", "floordiv": "__rfloordiv__", "ifloordiv": "__rfloordiv__",
	"and_": "bitwise_and", "iand": "bitwise_and", "or_": "bitwise_or", "ior": "bitwise_or", "xor": "bitwise_xor", "ixor": "bitwise_xor", "lshift": "__rlshift__", "rshift": "__rrshift__",
	"ilshift": "__rlshift__", "irshift": "__rrshift__", "matmul": "__rmatmul__", "eq": "__eq__", "ne": "ne"}

// overridable is the function of a call as overrides see it, with its arguments in the order in which that takes them. nil for what
// overrides do not see.
func (t *Torch) overridable(op fx.Op, target string, args []vm.Object) (vm.Object, []vm.Object) {
	method := func(name string) vm.Object {
		f, err := t.In.GetAttr(t.TensorType, name)
		if err != nil {
			return nil
		}
		return f
	}
	if op == fx.CallMethod {
		return method(target), args
	}
	if name, ok := strings.CutPrefix(target, "operator."); ok {
		if len(args) == 2 {
			_, left := args[0].(*Tensor)
			_, right := args[1].(*Tensor)
			if r := reflectedMethods[name]; r != "" && right && !left {
				return method(r), []vm.Object{args[1], args[0]}
			}
		}
		m := operatorMethods[name]
		if m == "" {
			m = "__" + strings.TrimSuffix(name, "_") + "__"
		}
		return method(m), args
	}
	if !strings.HasPrefix(target, "torch") && !fx.IsOverload(target) || strings.HasPrefix(target, "torch._C._") && shownModule(target) == "" || strings.HasPrefix(target, "torch.amp.") || target == MakeSubclass {
		return nil, nil
	}
	f, err := t.Resolve(target)
	if err != nil {
		return nil, nil
	}
	return f, args
}

// shownModule is the public module of a function in a module of torch._C that holds nothing but functions: torch.linalg for
// torch._C._linalg.linalg_inv; empty for others.
func shownModule(target string) string {
	rest, ok := strings.CutPrefix(target, "torch._C._")
	if !ok {
		return ""
	}
	switch name, _, _ := strings.Cut(rest, "."); name {
	case "nn", "linalg", "special", "fft", "sparse":
		return "torch." + name
	}
	return ""
}

// overriding are the arguments of a call, at most one of each class, whose class overrides functions of torch: subclasses stand before
// what they derive from.
func (t *Torch) overriding(args []vm.Object, kw []vm.KwArg) (found []vm.Object) {
	look := func(o vm.Object) {
		switch o.(type) {
		case *Tensor, *vm.Instance:
		default:
			return
		}
		c := o.Type()
		if c == t.TensorType || t.plainClass(c) {
			return
		}
		at := len(found)
		for i, y := range found {
			if y.Type() == c {
				return
			}
			if at == len(found) && c.IsSubtype(y.Type()) {
				at = i
			}
		}
		found = slices.Insert(found, at, o)
	}
	each := func(o vm.Object) {
		look(o)
		switch l := o.(type) {
		case *vm.List:
			for _, x := range l.Items {
				look(x)
			}
		case *vm.Tuple:
			for _, x := range l.Items {
				look(x)
			}
		}
	}
	for _, a := range args {
		each(a)
	}
	for _, k := range kw {
		each(k.Value)
	}
	return found
}

// plainClass reports whether a class overrides nothing: one that has no __torch_function__, or says so, as Parameter does.
func (t *Torch) plainClass(c *vm.Type) bool {
	f := c.Lookup("__torch_function__")
	if f == nil && !c.IsSubtype(t.TensorType) {
		return true
	}
	if s, ok := f.(*vm.StaticMethod); ok {
		f = s.Func
	}
	if f == t.disabledFunction {
		return true
	}
	if f == t.TensorType.Lookup("__torch_function__") && t.performsItself(c) {
		return true // a class that performs operators overrides no functions
	}
	// Inside a trace results keep no class of their own: only what a program overrides is called.
	return t.Hook != nil && (f == nil || f == t.TensorType.Lookup("__torch_function__"))
}

// overridden has a mode or a class of an argument perform a call; done is false where none does.
func (t *Torch) overridden(op fx.Op, target string, args []vm.Object, kw []vm.KwArg) (v vm.Object, done bool, err error) {
	owners, asked := t.owners(args, kw)
	if !asked {
		return nil, false, nil
	}
	f, args := t.overridable(op, target, args)
	if f == nil {
		return nil, false, nil
	}
	if err := t.misfit(op, target, args, kw); err != nil {
		return nil, true, err
	}
	call := []vm.Object{f, nil, vm.NewTuple(slices.Clone(args)...)} // the interpreter's arguments are lent
	if len(kw) > 0 {
		named := vm.NewDict()
		for _, k := range kw {
			named.SetStr(k.Name, k.Value)
		}
		call = append(call, named)
	}
	return t.ask(owners, call, func() error { return t.noOverride(op, target, owners) })
}

// misfit is the error of a call of a function that fits none of its signatures, objects that override functions taken for tensors: nobody is asked
// to perform it.
func (t *Torch) misfit(op fx.Op, target string, args []vm.Object, kw []vm.KwArg) error {
	dot := strings.LastIndexByte(target, '.')
	if op != fx.CallFunction || dot < 0 || target[:dot] != "torch" && shownModule(target) == "" || t.Hook != nil {
		return nil
	}
	name := target[dot+1:]
	if writtenInPython[name] || aten.Deprecated(name) && len(args) > 2 {
		return nil
	}
	c := pythonCall{t, name, false, nil, args, slices.Clone(kw)}
	c.numpyNames()
	for _, s := range aten.Signatures(name, false) {
		if c.misfit(s) == nil && c.unpacked(s) == nil {
			return nil
		}
	}
	return c.argumentError()
}

// writtenInPython are the functions of module torch that have signatures of their own, as they are written in Python over others.
var writtenInPython = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`align_tensors atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul einsum istft
		meshgrid norm split stft tensordot unique unique_consecutive`) {
		m[n] = true
	}
	return m
}()

// owners are the arguments of a call that override functions of torch; asked tells whether anybody does, the modes included.
func (t *Torch) owners(args []vm.Object, kw []vm.KwArg) (owners []vm.Object, asked bool) {
	if t.Functions.Off == AllOff {
		return nil, false
	}
	if t.Functions.Off == FunctionOn {
		owners = t.overriding(args, kw)
	}
	return owners, len(owners) > 0 || len(t.Functions.Stack) > 0
}

// ask has the innermost mode, or the first of owners that knows how, perform a call; call is what __torch_function__ gets, without types.
func (t *Torch) ask(owners, call []vm.Object, nobody func() error) (v vm.Object, done bool, err error) {
	classes := make([]vm.Object, len(owners))
	for i, o := range owners {
		classes[i] = o.Type()
	}
	call[1] = vm.NewTuple(classes...)
	if n := len(t.Functions.Stack); n > 0 {
		mode := t.Functions.Stack[n-1]
		t.Functions.Stack = slices.Clone(t.Functions.Stack[:n-1])
		v, err := t.In.CallMethod(mode, "__torch_function__", call...)
		t.Functions.Stack = append(slices.Clone(t.Functions.Stack), mode)
		if err != nil || v != vm.NotImplemented {
			return v, true, err
		}
	}
	for _, o := range owners {
		v, err := t.In.CallMethod(o, "__torch_function__", call...)
		if err != nil || v != vm.NotImplemented {
			return v, true, err
		}
	}
	return nil, true, nobody()
}

// overridePython has the public functions of a module that are written in Python ask __torch_function__ first, as those written in C do:
// (globals of the module). They are called with what has a default by its name.
func (t *Torch) overridePython(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	globals, ok := vm.AsDict(a[0])
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "_override_python() takes the globals of a module")
	}
	globals.Each(func(k, v vm.Object) bool {
		name, _ := vm.AsStr(k)
		if f, ok := v.(*vm.Function); ok && f.Globals == globals && !strings.HasPrefix(name, "_") {
			f.Override = func(in *vm.Interp, frame *vm.Frame) (vm.Object, bool, error) {
				return t.overriddenPython(f, frame)
			}
		}
		return true
	})
	return vm.None, nil
}

// overriddenPython is overridden for a call of a function written in Python, in a frame where its arguments are bound.
func (t *Torch) overriddenPython(f *vm.Function, frame *vm.Frame) (v vm.Object, done bool, err error) {
	if t.Hook != nil {
		return nil, false, nil // capture knows these functions by itself
	}
	c := f.Code
	bound := frame.LocalsPlus[:c.ArgCount+c.KwOnly]
	if c.Flags&code.VarArgs != 0 {
		rest, _ := vm.AsTuple(frame.LocalsPlus[len(bound)])
		bound = append(slices.Clone(bound), rest.Items...)
	}
	owners, asked := t.owners(bound, nil)
	if !asked {
		return nil, false, nil
	}
	required := c.ArgCount - len(f.Defaults)
	named := vm.NewDict()
	for i := required; i < c.ArgCount+c.KwOnly; i++ {
		named.SetStr(c.VarNames[i], bound[i])
	}
	args := append(slices.Clone(bound[:required]), bound[c.ArgCount+c.KwOnly:]...)
	return t.ask(owners, []vm.Object{f, nil, vm.NewTuple(args...), named}, func() error {
		name, _ := vm.AsStr(f.Module)
		return t.noOverride(fx.CallFunction, name+"."+f.Name, owners)
	})
}

// noOverride is the error where nobody who overrides a call wants to perform it. Python's operators ask the other operand then.
func (t *Torch) noOverride(op fx.Op, target string, owners []vm.Object) error {
	name, operator := strings.CutPrefix(target, "operator.")
	switch {
	case operator:
		name = "torch.Tensor." + name
	case op == fx.CallMethod:
		name = "torch.Tensor." + target
	default:
		name = target
		if shown := shownModule(target); shown != "" {
			name = shown + target[strings.LastIndexByte(target, '.'):]
		}
	}
	var who strings.Builder
	if n := len(t.Functions.Stack); n > 0 {
		r, err := t.In.Repr(t.Functions.Stack[n-1])
		if err != nil {
			return err
		}
		who.WriteString("  - mode object " + r + "\n")
	}
	for _, o := range owners {
		r, err := t.In.Repr(o.Type())
		if err != nil {
			return err
		}
		who.WriteString("  - tensor subclass " + r + "\n")
	}
	return t.In.Errorf(t.In.Exc.TypeError, "Multiple dispatch failed for '%s'; all __torch_function__ handlers returned NotImplemented:\n\n%s\nFor more information, try re-running with TORCH_LOGS=not_implemented", name, who.String())
}

// defaultFunction is Tensor.__torch_function__: it calls the function with the overrides of subclasses switched off, and makes tensors
// among the results instances of the class that was asked.
func (t *Torch) defaultFunction(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	if len(a) < 3 {
		return nil, in.Errorf(in.Exc.TypeError, "__torch_function__() takes a function, types, arguments and keyword arguments")
	}
	cls, ok := a[0].(*vm.Type)
	if !ok {
		cls = a[0].Type()
	}
	types, err := in.IterAll(a[2])
	if err != nil {
		return nil, err
	}
	for _, o := range types {
		if c, ok := o.(*vm.Type); ok && !cls.IsSubtype(c) {
			return vm.NotImplemented, nil
		}
	}
	pos, kw, err := t.spread(a[3:])
	if err != nil {
		return nil, err
	}
	before := t.Functions.Off
	t.Functions.Off = max(before, SubclassOff)
	v, err := in.Call(a[1], pos, kw)
	t.Functions.Off = before
	if err != nil || cls == t.TensorType {
		return v, err
	}
	return t.converted(v, cls)
}

// converted makes plain tensors in a result instances of a class, in sequences too.
func (t *Torch) converted(v vm.Object, cls *vm.Type) (vm.Object, error) {
	switch o := v.(type) {
	case *Tensor:
		if o.Type().IsSubtype(cls) {
			return v, nil
		}
		return t.asSubclass(t.In, []vm.Object{v, cls}, nil)
	case *vm.Tuple:
		return t.convertedAll(o.Items, cls, func(items []vm.Object) vm.Object { return vm.NewTuple(items...) })
	case *vm.List:
		return t.convertedAll(o.Items, cls, func(items []vm.Object) vm.Object { return vm.NewList(items...) })
	}
	return v, nil
}

func (t *Torch) convertedAll(items []vm.Object, cls *vm.Type, build func(items []vm.Object) vm.Object) (vm.Object, error) {
	out := make([]vm.Object, len(items))
	for i, x := range items {
		y, err := t.converted(x, cls)
		if err != nil {
			return nil, err
		}
		out[i] = y
	}
	return build(out), nil
}

// spread are the arguments of a call that are given as a sequence and a dict, either of which may be left out.
func (t *Torch) spread(a []vm.Object) (pos []vm.Object, kw []vm.KwArg, err error) {
	if len(a) > 0 {
		if pos, err = t.In.IterAll(a[0]); err != nil {
			return nil, nil, err
		}
		pos = slices.Clone(pos)
	}
	if len(a) > 1 {
		if d, ok := vm.AsDict(a[1]); ok {
			d.Each(func(k, v vm.Object) bool {
				name, _ := vm.AsStr(k)
				kw = append(kw, vm.KwArg{Name: name, Value: v})
				return true
			})
		}
	}
	return pos, kw, nil
}

package torch

import (
	"slices"

	"whittle/capture/python/vm"
)

// registerOverrides binds the stack of function modes, and the methods by which a class says that calls of it are not overridden.
func (t *Torch) registerOverrides() {
	for _, name := range []string{"_disabled_torch_function_impl", "_disabled_torch_dispatch_impl"} {
		f := t.c.Func(name, func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if len(a) < 2 {
				return nil, in.Errorf(in.Exc.TypeError, "%s() takes a function and types", name)
			}
			if _, isClass := a[0].(*vm.Type); isClass { // as a method, of a class
				a = a[1:]
			}
			pos, kw, err := t.spread(a[min(2, len(a)):])
			if err != nil {
				return nil, err
			}
			before := t.Functions.Off
			t.Functions.Off = max(before, SubclassOff)
			defer func() { t.Functions.Off = before }()
			return in.Call(a[0], pos, kw)
		})
		if name == "_disabled_torch_function_impl" {
			t.disabledFunction = f
		} else {
			t.disabledDispatch = f
		}
	}
	t.registerDispatch()
	t.registerFunctorch()
	t.c.Func("_len_torch_function_stack", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeInt(int64(len(t.Functions.Stack))), nil
	})
	t.c.Func("_push_on_torch_function_stack", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) != 1 {
			return nil, in.Errorf(in.Exc.TypeError, "_push_on_torch_function_stack() takes exactly one argument (%d given)", len(a))
		}
		t.Functions.Stack = append(slices.Clone(t.Functions.Stack), a[0])
		return vm.None, nil
	})
	t.c.Func("_pop_torch_function_stack", func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		n := len(t.Functions.Stack)
		if n == 0 {
			return nil, in.Errorf(in.Exc.RuntimeError, "Trying to pop from empty mode stack")
		}
		m := t.Functions.Stack[n-1]
		t.Functions.Stack = slices.Clone(t.Functions.Stack[:n-1])
		return m, nil
	})
	t.c.Func("_get_function_stack_at", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) == 1 {
			if i, ok := vm.AsInt(a[0]); ok && i >= 0 && int(i) < len(t.Functions.Stack) {
				return t.Functions.Stack[i], nil
			}
		}
		return nil, in.Errorf(in.Exc.IndexError, "_get_function_stack_at(): no mode of this index")
	})
	t.c.Func("_set_torch_function_off", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		before := t.Functions.Off
		n, _ := vm.AsInt(a[0])
		t.Functions.Off = FunctionOff(n)
		return vm.MakeInt(int64(before)), nil
	})
	t.c.Func("_is_torch_function_enabled", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(t.Functions.Off == FunctionOn), nil
	})
	t.c.Func("_is_torch_function_all_disabled", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(t.Functions.Off == AllOff), nil
	})
	t.c.Func("_override_python", t.overridePython)
	for name, off := range map[string]FunctionOff{"DisableTorchFunctionSubclass": SubclassOff, "DisableTorchFunction": AllOff} {
		t.c.Set(name, t.disabler(name, off))
	}
}

// functionGuard is an instance of DisableTorchFunction or DisableTorchFunctionSubclass, with what to go back to.
type functionGuard struct {
	class  *vm.Type
	before []FunctionOff
}

// Type is the class of the guard.
func (g *functionGuard) Type() *vm.Type { return g.class }

// SwitchesOverrides reports whether o is a DisableTorchFunctionSubclass of torch._C: while its block runs, classes do not override functions.
func SwitchesOverrides(o vm.Object) bool {
	g, is := o.(*functionGuard)
	return is && g.class.Name == "DisableTorchFunctionSubclass"
}

// disabler is the class of a context manager that switches overrides off.
func (t *Torch) disabler(name string, off FunctionOff) *vm.Type {
	var cls *vm.Type
	cls = t.In.NewNativeType(vm.Spec{Name: name, Module: "torch._C", NoDict: true,
		New: func(*vm.Interp, *vm.Type, []vm.Object, []vm.KwArg) (vm.Object, error) {
			return &functionGuard{class: cls}, nil
		},
		Methods: map[string]vm.GoFunc{
			"__enter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				g := a[0].(*functionGuard)
				g.before = append(g.before, t.Functions.Off)
				t.Functions.Off = max(t.Functions.Off, off)
				return a[0], nil
			},
			"__exit__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				g := a[0].(*functionGuard)
				n := len(g.before)
				if n == 0 {
					return nil, in.Errorf(in.Exc.RuntimeError, "%s: left without being entered", name)
				}
				t.Functions.Off, g.before = g.before[n-1], g.before[:n-1]
				return vm.None, nil
			},
		}})
	return cls
}

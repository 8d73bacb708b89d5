package torch

import "whittle/capture/python/vm"

// registerOverrides binds the stack of function modes, and the methods by which a class says that calls of it are not overridden.
func (t *Torch) registerOverrides() {
	for _, name := range []string{"_disabled_torch_function_impl", "_disabled_torch_dispatch_impl"} {
		t.c.Func(name, func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if len(a) < 2 {
				return nil, in.Errorf(in.Exc.TypeError, "%s() takes a function and types", name)
			}
			var pos []vm.Object
			var kw []vm.KwArg
			if len(a) > 2 {
				var err error
				if pos, err = in.IterAll(a[2]); err != nil {
					return nil, err
				}
			}
			if len(a) > 3 {
				if d, ok := a[3].(*vm.Dict); ok {
					d.Each(func(k, v vm.Object) bool {
						name, _ := vm.AsStr(k)
						kw = append(kw, vm.KwArg{Name: name, Value: v})
						return true
					})
				}
			}
			return in.Call(a[0], pos, kw)
		})
	}
	var modes []vm.Object
	t.c.Func("_len_torch_function_stack", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeInt(int64(len(modes))), nil
	})
	t.c.Func("_push_on_torch_function_stack", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) != 1 {
			return nil, in.Errorf(in.Exc.TypeError, "_push_on_torch_function_stack() takes exactly one argument (%d given)", len(a))
		}
		modes = append(modes, a[0])
		return vm.None, nil
	})
	t.c.Func("_pop_torch_function_stack", func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(modes) == 0 {
			return nil, in.Errorf(in.Exc.RuntimeError, "Trying to pop from an empty function mode stack")
		}
		m := modes[len(modes)-1]
		modes = modes[:len(modes)-1]
		return m, nil
	})
	t.c.Func("_get_function_stack_at", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) == 1 {
			if i, ok := vm.AsInt(a[0]); ok && i >= 0 && int(i) < len(modes) {
				return modes[i], nil
			}
		}
		return nil, in.Errorf(in.Exc.IndexError, "_get_function_stack_at(): no mode of this index")
	})
}

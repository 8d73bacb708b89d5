package torch

import "whittle/capture/python/vm"

// registerOverrides binds the methods by which a class says that calls of it are not overridden.
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
}

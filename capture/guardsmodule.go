package capture

import (
	"whittle/capture/python/vm"
)

// guardsModule binds what guards of programs ask of native code, and makes torch._C._dynamo.guards, which is written in Python.
func (d *Dynamo) guardsModule(m *vm.Module) {
	cls := d.In.NewNativeType(vm.Spec{Name: "_GlobalState", Module: "torch._C._dynamo", NoDict: true})
	m.Func("global_state", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return &vm.Instance{Class: cls, Native: d.globalState(d.T.Grad.Enabled())}, nil
	})
	m.Func("global_state_changed", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) == 1 {
			if i, ok := a[0].(*vm.Instance); ok {
				if s, ok := i.Native.(globalState); ok {
					return vm.Str(s.changed(d.globalState(d.T.Grad.Enabled()))), nil
				}
			}
		}
		return nil, in.Errorf(in.Exc.TypeError, "global_state_changed() takes what global_state() gave")
	})
	entries := d.In.NewNativeType(vm.Spec{Name: "_CacheEntry", Module: "torch._C._dynamo.eval_frame", NoDict: true, GetSet: []*vm.GetSet{
		{Name: "compile_id", Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) {
			return vm.Str(self.(*vm.Instance).Native.(*entry).id), nil
		}},
	}})
	m.Func("cache_entries", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		c, ok := a[0].(*vm.Code)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "expected a code object!")
		}
		out := vm.NewList()
		st := d.codes[c.Code]
		if st == nil {
			return out, nil
		}
		for i := len(st.entries) - 1; i >= 0; i-- {
			en := st.entries[i]
			if en.handle == nil {
				en.handle = &vm.Instance{Class: entries, Native: en}
			}
			out.Items = append(out.Items, en.handle)
		}
		return out, nil
	})
	m.GetAttrHook = func(in *vm.Interp, name string) (vm.Object, bool, error) {
		if name != "guards" {
			return nil, false, nil
		}
		g, err := in.Import("torch._dynamo._guard_tree")
		if err != nil {
			return nil, false, err
		}
		m.Set(name, g)
		in.Modules.SetStr("torch._C._dynamo.guards", g)
		return g, true, nil
	}
}

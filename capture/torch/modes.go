package torch

import (
	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// registerModes binds what sets and reads Modes, and the switches of autocast that are no context managers.
func (t *Torch) registerModes() {
	c, in := t.c, t.In
	def := func(name, sig string, f vm.GoFunc) { c.Func(name, bound(name, sig, f)) }
	boolean := func(fn, arg string, at int, o vm.Object) (bool, error) {
		b, ok := o.(vm.Bool)
		if !ok {
			return false, in.Errorf(in.Exc.TypeError, "%s(): argument '%s' (position %d) must be bool, not %s", fn, arg, at, o.Type().Name)
		}
		return bool(b), nil
	}
	def("_set_deterministic_algorithms", "mode, *, warn_only=False", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		on, err := boolean("_set_deterministic_algorithms", "mode", 1, a[0])
		if err != nil {
			return nil, err
		}
		warn, err := boolean("_set_deterministic_algorithms", "warn_only", 2, a[1])
		if err != nil {
			return nil, err
		}
		t.Modes.Deterministic, t.Modes.WarnOnly = on, warn
		return vm.None, nil
	})
	c.Func("_get_deterministic_algorithms", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(t.Modes.Deterministic), nil
	})
	c.Func("_get_deterministic_algorithms_warn_only", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(t.Modes.WarnOnly), nil
	})
	def("_set_float32_matmul_precision", "precision, /", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		t.Modes.MatmulPrecision, _ = vm.AsStr(a[0])
		return vm.None, nil
	})
	// The switch of TF32 is the precision of matrix products under another name.
	c.Func("_get_cublas_allow_tf32", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(t.Modes.MatmulPrecision != "highest"), nil
	})
	def("_set_cublas_allow_tf32", "value, /", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		on, err := boolean("set_allow_tf32_cublas", "value", 1, a[0])
		if err != nil {
			return nil, err
		}
		t.Modes.MatmulPrecision = "highest"
		if on {
			t.Modes.MatmulPrecision = "high"
		}
		return vm.None, nil
	})
	c.Func("_get_float32_matmul_precision", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.Str(t.Modes.MatmulPrecision), nil
	})
	def("_set_autocast_enabled", "enabled, /", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		on, err := boolean("set_autocast_enabled", "enabled", 2, a[0])
		t.Autocast.Enabled = on && err == nil || t.Autocast.Enabled && err != nil
		return vm.None, err
	})
	def("_set_autocast_dtype", "dtype, /", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		d, ok := t.Value(a[0])
		dt, isType := d.(tensor.DType)
		if !ok || !isType {
			return nil, in.Errorf(in.Exc.TypeError, "set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not %s", a[0].Type().Name)
		}
		t.Autocast.DType = dt
		return vm.None, nil
	})
	def("set_autocast_cache_enabled", "enabled, /", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		on, err := boolean("set_autocast_cache_enabled", "enabled", 1, a[0])
		if err == nil {
			t.Autocast.Cache = on
		}
		return vm.None, err
	})
}

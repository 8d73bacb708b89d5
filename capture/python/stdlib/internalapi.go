package stdlib

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// internalAPIModule is _testinternalcapi, as far as it tells about the interpreter.
func internalAPIModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_testinternalcapi", "")
	m.Set("SIZEOF_PYGC_HEAD", vm.Int(16))
	clinic.Def(m, "get_config", "", func(*clinic.Call) (vm.Object, error) {
		d := vm.NewDict()
		d.SetStr("code_debug_ranges", vm.Int(1))
		return d, nil
	})
	return m, nil
}

func init() { natives["_testinternalcapi"] = internalAPIModule }

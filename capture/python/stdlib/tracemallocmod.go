package stdlib

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// tracemallocModule is _tracemalloc: it is never tracing, as Go's allocator does not tell which line of Python asks for memory.
func tracemallocModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_tracemalloc", "Debug module to trace memory blocks allocated by Python.")
	give := func(name, spec string, v vm.Object) {
		clinic.Def(m, name, spec, func(*clinic.Call) (vm.Object, error) { return v, nil })
	}
	give("is_tracing", "", vm.False)
	give("clear_traces", "", vm.None)
	give("reset_peak", "", vm.None)
	give("stop", "", vm.None)
	give("get_traceback_limit", "", vm.Int(1))
	give("get_tracemalloc_memory", "", vm.Int(0))
	give("get_traced_memory", "", vm.NewTuple(vm.Int(0), vm.Int(0)))
	give("_get_object_traceback", "obj, /", vm.None)
	clinic.Def(m, "_get_traces", "", func(*clinic.Call) (vm.Object, error) { return vm.NewList(), nil })
	clinic.Def(m, "start", "nframe:int=1, /", func(c *clinic.Call) (vm.Object, error) {
		return nil, c.Errorf(c.Exc.RuntimeError, "tracemalloc: this interpreter cannot trace memory blocks")
	})
	return m, nil
}

func init() { natives["_tracemalloc"] = tracemallocModule }

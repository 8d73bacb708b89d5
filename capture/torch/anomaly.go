package torch

import "whittle/capture/python/vm"

// anomalyNames binds the switch of torch.autograd.detect_anomaly in torch._C. What the mode says is worded in torch.autograd.anomaly_mode.
func (t *Torch) anomalyNames() {
	on, checkNaN := false, true
	t.c.Func("_set_anomaly_enabled", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		var err error
		if on, err = in.Truth(a[0]); err != nil {
			return nil, err
		}
		if checkNaN = true; len(a) > 1 {
			if checkNaN, err = in.Truth(a[1]); err != nil {
				return nil, err
			}
		}
		if !on {
			t.Grad.DetectAnomaly(nil)
			return vm.None, nil
		}
		t.Grad.DetectAnomaly(&Anomaly{CheckNaN: checkNaN, Trace: t.programTrace, Failed: t.anomalyFound})
		return vm.None, nil
	})
	t.c.Func("_is_anomaly_enabled", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.MakeBool(on), nil })
	t.c.Func("_is_anomaly_check_nan_enabled", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.MakeBool(checkNaN), nil })
}

// programTrace is the stack of the program now, as lines of a traceback.
func (t *Torch) programTrace() any {
	v, err := t.callIn("torch.autograd.anomaly_mode", "_program_trace")
	if err != nil {
		return nil
	}
	return v
}

// anomalyFound warns of the node in which a backward pass failed.
func (t *Torch) anomalyFound(chain []AnomalyNode) {
	l := vm.NewList()
	for _, n := range chain {
		trace, ok := n.Trace.(vm.Object)
		if !ok {
			trace = vm.None
		}
		l.Items = append(l.Items, vm.NewTuple(vm.Str(n.Name), trace))
	}
	_, _ = t.callIn("torch.autograd.anomaly_mode", "_warn", l) // the failure itself is told anyway
}

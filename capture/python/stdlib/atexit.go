package stdlib

import (
	"slices"

	"whittle/capture/python/vm"
)

// exitCall is one call that atexit.register noted.
type exitCall struct {
	f    vm.Object
	args []vm.Object
	kw   []vm.KwArg
}

// atexitModule is atexit: calls for the end of the program, the last that was registered first.
func atexitModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("atexit", "allow programmer to define multiple exit functions to be executed\nupon normal program termination.\n\nTwo public functions, register and unregister, are defined.\n")
	var calls []exitCall
	run := func(in *vm.Interp) {
		for len(calls) > 0 {
			c := calls[len(calls)-1]
			calls = calls[:len(calls)-1]
			if _, err := in.Call(c.f, c.args, c.kw); err != nil {
				unraisable(in, err, "in atexit callback", c.f)
			}
		}
	}
	in.AtExit(&vm.Builtin{Name: "_run_exitfuncs", Max: -1, Fn: func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) { run(in); return vm.None, nil }})
	m.Func("register", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		if len(args) == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "register() takes at least 1 argument (0 given)")
		}
		if !callableObject(args[0]) {
			return nil, in.Errorf(in.Exc.TypeError, "the first argument must be callable")
		}
		calls = append(calls, exitCall{args[0], slices.Clone(args[1:]), kw})
		return args[0], nil
	})
	m.FuncN("unregister", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		for i := 0; i < len(calls); i++ { // __eq__ may change them
			same, err := in.Eq(calls[i].f, args[0])
			if err != nil {
				return nil, err
			}
			if same && i < len(calls) {
				calls = slices.Delete(calls, i, i+1)
				i--
			}
		}
		return vm.None, nil
	})
	m.FuncN("_run_exitfuncs", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) { run(in); return vm.None, nil })
	m.FuncN("_clear", 0, 0, func(*vm.Interp, []vm.Object) (vm.Object, error) { calls = nil; return vm.None, nil })
	m.FuncN("_ncallbacks", 0, 0, func(*vm.Interp, []vm.Object) (vm.Object, error) { return vm.MakeInt(int64(len(calls))), nil })
	return m, nil
}

package stdlib

import (
	"syscall"

	"whittle/capture/python/stdlib/posix"
	"whittle/capture/python/vm"
)

// posixHooks are how module posix sends signals to this very process: those that the script handles run their handlers.
var posixHooks = posix.Hooks{
	Kill: func(in *vm.Interp, sig int) error { return signalsOf(in).deliver(sig) },
	Abort: func(in *vm.Interp) {
		_ = in.Flush()
		die(syscall.SIGABRT)
	},
}

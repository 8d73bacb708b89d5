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
		if d := signalsOf(in).dumps[int(syscall.SIGABRT)]; d != nil {
			d.write(in, fatalSignals[int(syscall.SIGABRT)])
		}
		_ = in.Flush()
		die(syscall.SIGABRT)
	},
}

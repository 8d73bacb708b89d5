package stdlib

import (
	"os/signal"
	"runtime"
	"syscall"
)

// die sends this process a signal in its default meaning: the Go runtime's handlers would turn it into a stack dump. The signal goes
// to the calling thread, and so is delivered before the call returns.
func die(sig syscall.Signal) {
	if sig != syscall.SIGKILL && sig != syscall.SIGSTOP {
		signal.Reset(sig)
		resetHandler(sig)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), sig)
}

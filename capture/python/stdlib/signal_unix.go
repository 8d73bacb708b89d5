package stdlib

import (
	"os/signal"
	"syscall"
	"time"
)

// die sends this process a signal in its default meaning: the Go runtime's handlers would turn it into a stack dump.
func die(sig syscall.Signal) {
	if sig != syscall.SIGKILL && sig != syscall.SIGSTOP {
		signal.Reset(sig)
		resetHandler(sig)
	}
	_ = syscall.Kill(syscall.Getpid(), sig)
	time.Sleep(200 * time.Millisecond) // until it is delivered
}

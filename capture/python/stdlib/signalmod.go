package stdlib

import (
	"math"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// signalTexts are what strsignal says.
var signalTexts = map[int]string{1: "Hangup", 2: "Interrupt", 3: "Quit", 4: "Illegal instruction", 5: "Trace/breakpoint trap", 6: "Aborted", 7: "Bus error",
	8: "Floating point exception", 9: "Killed", 10: "User defined signal 1", 11: "Segmentation fault", 12: "User defined signal 2", 13: "Broken pipe", 14: "Alarm clock",
	15: "Terminated", 16: "Stack fault", 17: "Child exited", 18: "Continued", 19: "Stopped (signal)", 20: "Stopped", 21: "Stopped (tty input)", 22: "Stopped (tty output)",
	23: "Urgent I/O condition", 24: "CPU time limit exceeded", 25: "File size limit exceeded", 26: "Virtual timer expired", 27: "Profiling timer expired", 28: "Window changed",
	29: "I/O possible", 30: "Power failure", 31: "Bad system call"}

// signalModule is _signal, on which CPython's signal.py stands.
func signalModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_signal", "")
	s := signalsOf(in)
	for n := 1; n < 32; n++ {
		if name := unix.SignalName(syscall.Signal(n)); name != "" {
			m.Set(name, vm.MakeInt(int64(n)))
		}
	}
	for n, v := range map[string]int{"SIGIOT": 6, "SIGCLD": 17, "SIGPOLL": 29, "SIGRTMIN": 34, "SIGRTMAX": sigLast, "NSIG": sigLast + 1, "SIG_DFL": sigDefault, "SIG_IGN": sigIgnore,
		"SIG_BLOCK": 0, "SIG_UNBLOCK": 1, "SIG_SETMASK": 2, "ITIMER_REAL": 0, "ITIMER_VIRTUAL": 1, "ITIMER_PROF": 2} {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	m.Set("ItimerError", in.Exc.OSError)
	m.Set("default_int_handler", clinic.Def(m, "default_int_handler", "signalnum:int, frame, /", func(c *clinic.Call) (vm.Object, error) {
		return nil, c.RaiseObj(c.Exc.KeyboardInterrupt)
	}))
	if _, set := s.handlers[int(syscall.SIGINT)]; !set {
		h, _ := m.Dict.GetStr("default_int_handler")
		s.interrupt = h
	}
	number := func(c *clinic.Call, i int) (int, error) {
		n := c.Int(i)
		if n < 1 || n > sigLast {
			return 0, c.Errorf(c.Exc.ValueError, "signal number out of range")
		}
		return int(n), nil
	}
	clinic.Def(m, "signal", "signalnum:int, handler, /", func(c *clinic.Call) (vm.Object, error) {
		if !c.OnMainThread() {
			return nil, c.Errorf(c.Exc.ValueError, "signal only works in main thread of the main interpreter")
		}
		sig, err := number(c, 0)
		if err != nil {
			return nil, err
		}
		h := c.Args[1]
		n, isNumber := vm.AsInt(h)
		if isNumber && n != sigDefault && n != sigIgnore || !isNumber && !callable(c.Interp, h) {
			return nil, c.Errorf(c.Exc.TypeError, "signal handler must be signal.SIG_IGN, signal.SIG_DFL, or a callable object")
		}
		if sig == int(syscall.SIGKILL) || sig == int(syscall.SIGSTOP) {
			return nil, c.OSErr(syscall.EINVAL)
		}
		if isNumber {
			h = vm.MakeInt(n) // an enum's member is a number
		}
		return s.set(sig, h), nil
	})
	clinic.Def(m, "getsignal", "signalnum:int, /", func(c *clinic.Call) (vm.Object, error) {
		sig, err := number(c, 0)
		if err != nil {
			return nil, err
		}
		return s.get(sig), nil
	})
	clinic.Def(m, "raise_signal", "signalnum:int, /", func(c *clinic.Call) (vm.Object, error) {
		sig, err := number(c, 0)
		if err != nil {
			return nil, err
		}
		return vm.None, s.deliver(sig)
	})
	clinic.Def(m, "strsignal", "signalnum:int, /", func(c *clinic.Call) (vm.Object, error) {
		sig, err := number(c, 0)
		if err != nil {
			return nil, err
		}
		if t, ok := signalTexts[sig]; ok {
			return vm.Str(t), nil
		}
		return vm.None, nil
	})
	clinic.Def(m, "valid_signals", "", func(c *clinic.Call) (vm.Object, error) {
		l := &vm.List{}
		for n := 1; n <= sigLast; n++ {
			if n != 32 && n != 33 { // the C library keeps these two for itself
				l.Items = append(l.Items, vm.MakeInt(int64(n)))
			}
		}
		return c.Interp.Call(vm.SetType, []vm.Object{l}, nil)
	})
	clinic.Def(m, "siginterrupt", "signalnum:int, flag:int, /", func(c *clinic.Call) (vm.Object, error) {
		_, err := number(c, 0)
		return vm.None, err
	})
	clinic.Def(m, "set_wakeup_fd", "fd:int, *, warn_on_full_buffer:bool=True", func(c *clinic.Call) (vm.Object, error) {
		if !c.OnMainThread() {
			return nil, c.Errorf(c.Exc.ValueError, "set_wakeup_fd only works in main thread of the main interpreter")
		}
		if fd := c.Int(0); fd != -1 {
			f, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
			if err != nil {
				return nil, c.OSErr(err)
			}
			if f&unix.O_NONBLOCK == 0 {
				return nil, c.Errorf(c.Exc.ValueError, "the fd %d must be in non-blocking mode", fd)
			}
		}
		return vm.MakeInt(int64(s.wakeup(int(c.Int(0))))), nil
	})
	signalTimers(m, s)
	clinic.Def(m, "pause", "", func(c *clinic.Call) (vm.Object, error) { return vm.None, s.pause(math.MaxInt64) })
	clinic.Def(m, "pthread_kill", "thread_id:int, signalnum:int, /", func(c *clinic.Call) (vm.Object, error) {
		if c.Int(1) == 0 {
			return vm.None, nil
		}
		return vm.None, s.deliver(int(c.Int(1)))
	})
	return m, nil
}

// signalTimers are alarm and the timers of real time.
func signalTimers(m *vm.Module, s *signals) {
	left := func() (vm.Object, float64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.timer == nil {
			return vm.NewTuple(vm.Float(0), vm.Float(0)), 0
		}
		sec := max(time.Until(s.due), 0).Seconds()
		return vm.NewTuple(vm.Float(sec), vm.Float(s.every.Seconds())), sec
	}
	clinic.Def(m, "alarm", "seconds:int, /", func(c *clinic.Call) (vm.Object, error) {
		_, was := left()
		s.itimer(time.Duration(c.Int(0))*time.Second, 0)
		return vm.MakeInt(int64(math.Ceil(was))), nil
	})
	clinic.Def(m, "setitimer", "which:int, seconds:float, interval:float=0.0, /", func(c *clinic.Call) (vm.Object, error) {
		if c.Int(0) != 0 || c.Float(1) < 0 || c.Float(2) < 0 {
			return nil, c.OSErr(syscall.EINVAL)
		}
		was, every := s.itimer(time.Duration(c.Float(1)*float64(time.Second)), time.Duration(c.Float(2)*float64(time.Second)))
		return vm.NewTuple(vm.Float(was.Seconds()), vm.Float(every.Seconds())), nil
	})
	clinic.Def(m, "getitimer", "which:int, /", func(c *clinic.Call) (vm.Object, error) {
		if c.Int(0) < 0 || c.Int(0) > 2 {
			return nil, c.OSErr(syscall.EINVAL)
		}
		v, _ := left()
		return v, nil
	})
}

// wakeup sets the descriptor that gets a byte for each signal, and gives the one before; -1 for none.
func (s *signals) wakeup(fd int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.wakeFD - 1
	s.wakeFD = fd + 1
	return was
}

// tellWakeup writes a signal's number to that descriptor.
func (s *signals) tellWakeup(sig int) {
	s.mu.Lock()
	fd := s.wakeFD - 1
	s.mu.Unlock()
	if fd >= 0 {
		_, _ = unix.Write(fd, []byte{byte(sig)})
	}
}

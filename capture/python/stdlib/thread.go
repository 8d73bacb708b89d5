package stdlib

import (
	"errors"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// threadModule is _thread, on which CPython's threading.py stands. A thread is a goroutine; one of them runs at a time (vm.Threads).
func threadModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_thread", "")
	m.Set("error", in.Exc.RuntimeError)
	m.Set("TIMEOUT_MAX", vm.Float(9223372036))
	lock := lockType(in)
	m.Set("LockType", lock)
	m.Set("RLock", rlockType(in))
	m.Set("_local", localType(in))
	args := vm.NewStructSequence(in, "_thread", "_ExceptHookArgs", "", 4, "exc_type", "exc_value", "exc_traceback", "thread")
	m.Set("_ExceptHookArgs", args)
	for _, name := range []string{"allocate_lock", "allocate"} {
		clinic.Def(m, name, "", func(*clinic.Call) (vm.Object, error) { return vm.NewInstance(lock, newLock()), nil })
	}
	ident := func(c *clinic.Call) (vm.Object, error) { return vm.MakeInt(identOf(c.Thread())), nil }
	clinic.Def(m, "get_ident", "", ident)
	clinic.Def(m, "get_native_id", "", func(c *clinic.Call) (vm.Object, error) {
		return vm.MakeInt(int64(unix.Getpid()) + c.Thread().ID - 1), nil
	})
	clinic.Def(m, "_count", "", func(c *clinic.Call) (vm.Object, error) { return vm.MakeInt(int64(len(c.Running()) - 1)), nil })
	clinic.Def(m, "stack_size", "size:int=0, /", func(*clinic.Call) (vm.Object, error) { return vm.Int(0), nil })
	clinic.Def(m, "daemon_threads_allowed", "", func(*clinic.Call) (vm.Object, error) { return vm.True, nil })
	for _, name := range []string{"exit", "exit_thread"} {
		clinic.Def(m, name, "", func(c *clinic.Call) (vm.Object, error) { return nil, c.RaiseObj(c.Exc.SystemExit) })
	}
	clinic.Def(m, "interrupt_main", "signum:int=2, /", func(c *clinic.Call) (vm.Object, error) {
		if n := c.Int(0); n < 1 || n > sigLast {
			return nil, c.Errorf(c.Exc.ValueError, "signal number out of range")
		}
		s, sig := signalsOf(c.Interp), int(c.Int(0))
		_, set := s.handlers[sig]
		if _, number := vm.AsInt(s.get(sig)); !number || !set && sig == int(syscall.SIGINT) { // otherwise nothing of Python's would run
			s.note(sig)
		}
		return vm.None, nil
	})
	clinic.Def(m, "_set_sentinel", "", func(c *clinic.Call) (vm.Object, error) {
		l := newLock()
		c.Thread().Ext[sentinelKey{}] = l
		return vm.NewInstance(lock, l), nil
	})
	for _, name := range []string{"start_new_thread", "start_new"} {
		clinic.Def(m, name, "function, args, kwargs=None, /", startThread)
	}
	clinic.Def(m, "_excepthook", "args, /", func(c *clinic.Call) (vm.Object, error) { return vm.None, threadExcepthook(c) })
	return m, nil
}

// identOf is a thread's number as get_ident shows it.
func identOf(t *vm.Thread) int64 { return 0x7f1000000000 + t.ID*0x1000 }

// sentinelKey finds the lock that is released when a thread ends.
type sentinelKey struct{}

// startThread is start_new_thread.
func startThread(c *clinic.Call) (vm.Object, error) {
	f := c.Args[0]
	if call, err := c.GetAttrOpt(f, "__call__"); err != nil || call == nil {
		return nil, c.Errorf(c.Exc.TypeError, "first arg must be callable")
	}
	args, ok := vm.AsTuple(c.Args[1])
	if !ok {
		return nil, c.Errorf(c.Exc.TypeError, "2nd arg must be a tuple")
	}
	var kw []vm.KwArg
	if !c.None(2) {
		d, ok := vm.AsDict(c.Args[2])
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "optional 3rd arg must be a dictionary")
		}
		d.Each(func(k, v vm.Object) bool {
			kw = append(kw, vm.KwArg{Name: str(k), Value: v})
			return true
		})
	}
	in := c.Interp
	t := in.Go(func() {
		_, err := in.Call(f, args.Items, kw)
		args, kw = nil, nil // it keeps nothing
		dropLocals(in)
		in.Owe()
		if l, ok := in.Thread().Ext[sentinelKey{}].(*lock); ok {
			defer l.release()
		}
		var r *vm.Raised
		if err == nil || errors.As(err, &r) && r.Exc.Class.IsSubtype(in.Exc.SystemExit) {
			return
		}
		_ = in.Flush()
		_, _ = in.Stderr.Write([]byte("Exception ignored in thread started by: " + reprOr(in, f) + "\n" + in.FormatException(err)))
	})
	return vm.MakeInt(identOf(t)), nil
}

// reprOr is an object's repr, or a word about one that has none.
func reprOr(in *vm.Interp, o vm.Object) string {
	s, err := in.Repr(o)
	if err != nil {
		return "<object repr() failed>"
	}
	return s
}

// threadExcepthook prints what a thread has died of.
func threadExcepthook(c *clinic.Call) error {
	a, ok := vm.AsTuple(c.Args[0])
	if !ok || len(a.Items) != 4 {
		return c.Errorf(c.Exc.TypeError, "_thread.excepthook argument type must be ExceptHookArgs")
	}
	if k, ok := a.Items[0].(*vm.Type); ok && k.IsSubtype(c.Exc.SystemExit) {
		return nil
	}
	name := "<unknown>"
	if a.Items[3] != vm.None {
		n, err := c.GetAttr(a.Items[3], "name")
		if err != nil {
			return err
		}
		name = str(n)
	} else {
		name = reprOr(c.Interp, vm.MakeInt(identOf(c.Thread())))
	}
	text := "Exception in thread " + name + ":\n"
	if e, ok := a.Items[1].(*vm.Exception); ok {
		text += c.FormatExceptionObj(e, true)
	}
	_ = c.Flush()
	if sys, ok := c.Modules.GetStr("sys"); ok {
		if f, err := c.GetAttrOpt(sys, "stderr"); err == nil && f != nil && f != vm.None {
			_, err := c.CallMethod(f, "write", vm.Str(text))
			return err
		}
	}
	return nil
}

// lock is a lock: a place for one token, which who holds the lock has taken.
type lock struct{ token chan struct{} }

func newLock() *lock {
	l := &lock{make(chan struct{}, 1)}
	l.token <- struct{}{}
	return l
}

// acquire takes the lock: at once, within a time, or, for a negative time, whenever it can be had. Signals are seen while it waits.
func (l *lock) acquire(in *vm.Interp, blocking bool, timeout time.Duration) (bool, error) {
	select {
	case <-l.token:
		return true, nil
	default:
		if !blocking || timeout == 0 {
			return false, nil
		}
	}
	end := time.Now().Add(timeout)
	for {
		slice := 50 * time.Millisecond
		if timeout > 0 {
			slice = min(slice, time.Until(end))
		}
		got := false
		_ = in.Unlocked(func() error {
			t := time.NewTimer(max(slice, 0))
			defer t.Stop()
			select {
			case <-l.token:
				got = true
			case <-t.C:
			}
			return nil
		})
		if got {
			return true, nil
		}
		if timeout > 0 && !time.Now().Before(end) {
			return false, nil
		}
		if err := in.Poll(); err != nil {
			return false, err
		}
	}
}

// release gives the lock back, and reports whether it was held.
func (l *lock) release() bool {
	select {
	case l.token <- struct{}{}:
		return true
	default:
		return false
	}
}

func (l *lock) locked() bool { return len(l.token) == 0 }

// timeoutOf reads the arguments of acquire.
func timeoutOf(c *clinic.Call) (blocking bool, timeout time.Duration, err error) {
	s := c.Float(1)
	switch {
	case !c.Bool(0) && s != -1:
		return false, 0, c.Errorf(c.Exc.ValueError, "can't specify a timeout for a non-blocking call")
	case s < 0 && s != -1:
		return false, 0, c.Errorf(c.Exc.ValueError, "timeout value must be a non-negative number")
	case s > 9223372036:
		return false, 0, c.Errorf(c.Exc.OverflowError, "timeout value is too large")
	case s == -1:
		return c.Bool(0), -1, nil
	}
	return c.Bool(0), time.Duration(s * float64(time.Second)), nil
}

// addAll gives a method more names.
func addAll(methods map[string]vm.GoFunc, f vm.GoFunc, names ...string) {
	for _, n := range names {
		methods[n] = f
	}
}

// lockType is the class of plain locks.
func lockType(in *vm.Interp) *vm.Type {
	of := func(c *clinic.Call) *lock { return c.Self.(*vm.Instance).Native.(*lock) }
	methods := map[string]vm.GoFunc{
		"__repr__": clinic.Method("__repr__", "", func(c *clinic.Call) (vm.Object, error) {
			state := "unlocked"
			if of(c).locked() {
				state = "locked"
			}
			return vm.Str("<" + state + " _thread.lock object at " + c.Addr(c.Self) + ">"), nil
		}),
		"_at_fork_reinit": clinic.Method("_at_fork_reinit", "", func(c *clinic.Call) (vm.Object, error) {
			of(c).release()
			return vm.None, nil
		}),
		"__enter__": clinic.Method("__enter__", "", func(c *clinic.Call) (vm.Object, error) {
			_, err := of(c).acquire(c.Interp, true, -1)
			return vm.True, err
		}),
	}
	addAll(methods, clinic.Method("acquire", "blocking:bool=True, timeout:float=-1", func(c *clinic.Call) (vm.Object, error) {
		blocking, timeout, err := timeoutOf(c)
		if err != nil {
			return nil, err
		}
		ok, err := of(c).acquire(c.Interp, blocking, timeout)
		return vm.MakeBool(ok), err
	}), "acquire", "acquire_lock")
	addAll(methods, clinic.Method("release", "*args", func(c *clinic.Call) (vm.Object, error) {
		if !of(c).release() {
			return nil, c.Errorf(c.Exc.RuntimeError, "release unlocked lock")
		}
		return vm.None, nil
	}), "release", "release_lock", "__exit__")
	addAll(methods, clinic.Method("locked", "", func(c *clinic.Call) (vm.Object, error) { return vm.MakeBool(of(c).locked()), nil }), "locked", "locked_lock")
	return in.NewNativeType(vm.Spec{Strict: true, Name: "lock", Module: "_thread", NoDict: true, Final: true, Methods: methods,
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create '_thread.lock' instances")
		}})
}

// rlock is a lock that its owner may take again.
type rlock struct {
	lock
	owner *vm.Thread
	count int
}

func (l *rlock) take(in *vm.Interp, blocking bool, timeout time.Duration) (bool, error) {
	if l.owner == in.Thread() {
		l.count++
		return true, nil
	}
	ok, err := l.acquire(in, blocking, timeout)
	if ok {
		l.owner, l.count = in.Thread(), 1
	}
	return ok, err
}

// give releases the lock once, and reports whether the running thread held it.
func (l *rlock) give(in *vm.Interp) bool {
	if l.count == 0 || l.owner != in.Thread() {
		return false
	}
	if l.count--; l.count == 0 {
		l.owner = nil
		l.release()
	}
	return true
}

// rlockType is the class of locks that may be taken again.
func rlockType(in *vm.Interp) *vm.Type {
	of := func(c *clinic.Call) *rlock { return c.Self.(*vm.Instance).Native.(*rlock) }
	methods := map[string]vm.GoFunc{
		"__repr__": clinic.Method("__repr__", "", func(c *clinic.Call) (vm.Object, error) {
			l, state, owner := of(c), "unlocked", int64(0)
			if l.count > 0 {
				state, owner = "locked", identOf(l.owner)
			}
			return vm.Str("<" + state + " " + c.Self.Type().FullName() + " object owner=" + strconv.FormatInt(owner, 10) + " count=" + strconv.Itoa(int(l.count)) + " at " + c.Addr(c.Self) + ">"), nil
		}),
		"__enter__": clinic.Method("__enter__", "", func(c *clinic.Call) (vm.Object, error) {
			_, err := of(c).take(c.Interp, true, -1)
			return vm.True, err
		}),
		"acquire": clinic.Method("acquire", "blocking:bool=True, timeout:float=-1", func(c *clinic.Call) (vm.Object, error) {
			blocking, timeout, err := timeoutOf(c)
			if err != nil {
				return nil, err
			}
			ok, err := of(c).take(c.Interp, blocking, timeout)
			return vm.MakeBool(ok), err
		}),
		"_is_owned": clinic.Method("_is_owned", "", func(c *clinic.Call) (vm.Object, error) {
			return vm.MakeBool(of(c).count > 0 && of(c).owner == c.Thread()), nil
		}),
		"_recursion_count": clinic.Method("_recursion_count", "", func(c *clinic.Call) (vm.Object, error) {
			if of(c).owner != c.Thread() {
				return vm.Int(0), nil
			}
			return vm.MakeInt(int64(of(c).count)), nil
		}),
		"_release_save": clinic.Method("_release_save", "", func(c *clinic.Call) (vm.Object, error) {
			l := of(c)
			if l.count == 0 {
				return nil, c.Errorf(c.Exc.RuntimeError, "cannot release un-acquired lock")
			}
			n := l.count
			l.count, l.owner = 0, nil
			l.release()
			return vm.MakeInt(int64(n)), nil
		}),
		"_acquire_restore": clinic.Method("_acquire_restore", "state:int, /", func(c *clinic.Call) (vm.Object, error) {
			l := of(c)
			if _, err := l.acquire(c.Interp, true, -1); err != nil {
				return nil, err
			}
			l.owner, l.count = c.Thread(), int(c.Int(0))
			return vm.None, nil
		}),
		"_at_fork_reinit": clinic.Method("_at_fork_reinit", "", func(c *clinic.Call) (vm.Object, error) {
			l := of(c)
			l.owner, l.count = nil, 0
			l.release()
			return vm.None, nil
		}),
	}
	addAll(methods, clinic.Method("release", "*args", func(c *clinic.Call) (vm.Object, error) {
		if !of(c).give(c.Interp) {
			return nil, c.Errorf(c.Exc.RuntimeError, "cannot release un-acquired lock")
		}
		return vm.None, nil
	}), "release", "__exit__")
	return in.NewNativeType(vm.Spec{Strict: true, Name: "RLock", Module: "_thread", Methods: methods,
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewInstance(cls, &rlock{lock: *newLock()}), nil
		}})
}

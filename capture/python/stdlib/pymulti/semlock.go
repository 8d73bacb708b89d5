package pymulti

import (
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// The kinds of SemLock.
const (
	recursiveMutex = iota
	counting
)

// slice is how long a thread waits before it looks for signals.
const slice = 20 * time.Millisecond

// semLock is a SemLock, the Native of its instance: a semaphore, with how often this process has taken it.
type semLock struct {
	sem   semaphore
	kind  int64
	most  int64
	name  vm.Object
	count int64
	owner *vm.Thread
}

func of(o vm.Object) *semLock {
	l, _ := o.(*vm.Instance).Native.(*semLock)
	return l
}

func (l *semLock) mine(in *vm.Interp) bool { return l.count > 0 && l.owner == in.Thread() }

// newLock is an instance of a class, whose semaphore goes when nobody has it.
func newLock(cls *vm.Type, sem semaphore, kind, most int64, name vm.Object) vm.Object {
	l := &semLock{sem: sem, kind: kind, most: most, name: name}
	runtime.AddCleanup(l, func(s semaphore) { s.close() }, sem)
	return vm.NewInstance(cls, l)
}

// acquire takes the semaphore; false if it could not be had in time.
func (l *semLock) acquire(c *clinic.Call) (bool, error) {
	if l.kind == recursiveMutex && l.mine(c.Interp) {
		l.count++
		return true, nil
	}
	err := l.sem.try()
	if err == unix.EAGAIN && c.Bool(0) {
		end := time.Time{}
		if !c.None(1) {
			end = time.Now().Add(time.Duration(min(max(c.Float(1), 0)*1e9, math.MaxInt64/2)))
		}
		if err = l.await(c, end); err == unix.ETIMEDOUT {
			return false, nil
		}
	}
	switch errno, ok := err.(unix.Errno); {
	case errno == unix.EAGAIN:
		return false, nil
	case ok:
		return false, c.OSErr(err)
	case err != nil:
		return false, err
	}
	l.count++
	l.owner = c.Thread()
	return true, nil
}

// await waits in slices, so that signals are handled in between.
func (l *semLock) await(c *clinic.Call, end time.Time) error {
	for {
		d := slice
		if !end.IsZero() {
			d = min(d, time.Until(end))
		}
		err := unix.ETIMEDOUT
		_ = c.Unlocked(func() error {
			err, _ = l.sem.wait(max(d, 0)).(unix.Errno)
			return nil
		})
		if err != unix.ETIMEDOUT && err != unix.EINTR {
			if err == 0 {
				return nil
			}
			return err
		}
		if err := c.Poll(); err != nil {
			return err
		}
		if !end.IsZero() && !time.Now().Before(end) {
			return unix.ETIMEDOUT
		}
	}
}

// release gives it back.
func (l *semLock) release(c *clinic.Call) error {
	if l.kind == recursiveMutex {
		if !l.mine(c.Interp) {
			return c.Errorf(c.Exc.AssertionError, "attempt to release recursive lock not owned by thread")
		}
		if l.count > 1 {
			l.count--
			return nil
		}
	} else if v, err := l.sem.value(); err != nil {
		return c.OSErr(err)
	} else if v >= l.most {
		return c.Errorf(c.Exc.ValueError, "semaphore or lock released too many times")
	}
	if err := l.sem.post(); err != nil {
		return c.OSErr(err)
	}
	l.count--
	return nil
}

// semLockType makes the class SemLock.
func semLockType(in *vm.Interp) *vm.Type {
	acquire := func(c *clinic.Call) (vm.Object, error) {
		ok, err := of(c.Self).acquire(c)
		return vm.MakeBool(ok), err
	}
	give := func(c *clinic.Call) (vm.Object, error) { return vm.None, of(c.Self).release(c) }
	value := func(f func(v int64) vm.Object) clinic.Func {
		return func(c *clinic.Call) (vm.Object, error) {
			v, err := of(c.Self).sem.value()
			if err != nil {
				return nil, c.OSErr(err)
			}
			return f(v), nil
		}
	}
	field := func(name string, get func(l *semLock) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return get(of(o)), nil },
			Set: func(in *vm.Interp, _, _ vm.Object) error {
				return in.Errorf(in.Exc.AttributeError, "readonly attribute")
			}}
	}
	params := vm.NewParams("SemLock", "kind, value, maxvalue, name, unlink")
	t := in.NewNativeType(vm.Spec{Name: "SemLock", Module: "_multiprocessing", NoDict: true, Strict: true,
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := params.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			return createLock(in, cls, a)
		},
		Methods: map[string]vm.GoFunc{
			"acquire":     clinic.Method("acquire", "block:int=1, timeout:float?=None", acquire),
			"release":     clinic.Method("release", "", give),
			"__enter__":   clinic.Method("__enter__", "", func(c *clinic.Call) (vm.Object, error) { return c.CallMethod(c.Self, "acquire") }),
			"__exit__":    clinic.Method("__exit__", "exc_type=None, exc_value=None, exc_tb=None, /", give),
			"_count":      clinic.Method("_count", "", func(c *clinic.Call) (vm.Object, error) { return vm.MakeInt(of(c.Self).count), nil }),
			"_is_mine":    clinic.Method("_is_mine", "", func(c *clinic.Call) (vm.Object, error) { return vm.MakeBool(of(c.Self).mine(c.Interp)), nil }),
			"_get_value":  clinic.Method("_get_value", "", value(func(v int64) vm.Object { return vm.MakeInt(v) })),
			"_is_zero":    clinic.Method("_is_zero", "", value(func(v int64) vm.Object { return vm.MakeBool(v == 0) })),
			"_after_fork": clinic.Method("_after_fork", "", func(c *clinic.Call) (vm.Object, error) { of(c.Self).count = 0; return vm.None, nil }),
		},
		Class: map[string]vm.GoFunc{"_rebuild": clinic.Method("_rebuild", "handle:int, kind:int, maxvalue:int, name:str, /", func(c *clinic.Call) (vm.Object, error) {
			sem, err := openSemaphore(c.Str(3), -1)
			if err != nil {
				return nil, c.OSErr(err)
			}
			cls, _ := c.Self.(*vm.Type)
			return newLock(cls, sem, c.Int(1), c.Int(2), c.Args[3]), nil
		})},
		GetSet: []*vm.GetSet{
			field("handle", func(l *semLock) vm.Object { return vm.MakeInt(l.sem.handle()) }),
			field("kind", func(l *semLock) vm.Object { return vm.MakeInt(l.kind) }),
			field("maxvalue", func(l *semLock) vm.Object { return vm.MakeInt(l.most) }),
			field("name", func(l *semLock) vm.Object { return l.name }),
		}})
	t.Dict.SetStr("SEM_VALUE_MAX", vm.MakeInt(math.MaxInt32))
	return t
}

// createLock is SemLock(kind, value, maxvalue, name, unlink).
func createLock(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
	var n [3]int64
	var err error
	for i := range n {
		if n[i], err = in.Index(a[i]); err != nil {
			return nil, err
		}
	}
	name, ok := vm.AsStr(a[3])
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "SemLock() argument 'name' must be str, not %s", vm.ArgName(a[3]))
	}
	if n[0] != recursiveMutex && n[0] != counting {
		return nil, in.Errorf(in.Exc.ValueError, "unrecognized kind")
	}
	unlink, err := in.Truth(a[4])
	if err != nil {
		return nil, err
	}
	sem, err := openSemaphore(name, max(n[1], 0))
	if err != nil {
		return nil, vm.NewOSError(in, err)
	}
	kept := a[3]
	if unlink {
		if err := unlinkSemaphore(name); err != nil {
			return nil, vm.NewOSError(in, err)
		}
		kept = vm.None
	}
	return newLock(cls, sem, n[0], n[2], kept), nil
}

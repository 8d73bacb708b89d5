package posix

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// selectModule waits until descriptors are ready.
func selectModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("select", "")
	m.Set("error", in.Exc.OSError)
	for n, v := range map[string]int{"POLLIN": unix.POLLIN, "POLLPRI": unix.POLLPRI, "POLLOUT": unix.POLLOUT, "POLLERR": unix.POLLERR, "POLLHUP": unix.POLLHUP, "POLLNVAL": unix.POLLNVAL,
		"POLLRDNORM": 64, "POLLRDBAND": 128, "POLLWRNORM": 256, "POLLWRBAND": 512, "POLLMSG": 1024, "POLLRDHUP": unix.POLLRDHUP, "PIPE_BUF": 4096, "EPOLLIN": unix.EPOLLIN,
		"EPOLLOUT": unix.EPOLLOUT, "EPOLLPRI": unix.EPOLLPRI, "EPOLLERR": unix.EPOLLERR, "EPOLLHUP": unix.EPOLLHUP, "EPOLLRDHUP": unix.EPOLLRDHUP, "EPOLLET": 1 << 31,
		"EPOLLONESHOT": 1 << 30, "EPOLLEXCLUSIVE": 1 << 28, "EPOLL_CLOEXEC": unix.EPOLL_CLOEXEC, "EPOLLRDNORM": 64, "EPOLLRDBAND": 128, "EPOLLWRNORM": 256, "EPOLLWRBAND": 512, "EPOLLMSG": 1024} {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	clinic.Def(m, "select", "rlist, wlist, xlist, timeout=None, /", selectCall)
	pollType := newPoll(in)
	clinic.Def(m, "poll", "", func(*clinic.Call) (vm.Object, error) {
		return vm.NewInstance(pollType, &poll{events: map[int]int16{}}), nil
	})
	m.Set("epoll", newEpoll(in))
	return m, nil
}

// deadline is a timeout in seconds as a time; None and, where negative is none, what is below 0: never.
func deadline(c *clinic.Call, o vm.Object, unit time.Duration) (at time.Time, ever bool, err error) {
	if o == vm.None {
		return at, false, nil
	}
	s, err := c.Interp.Float(o)
	if err != nil {
		if c.Matches(err, c.Exc.TypeError) {
			return at, false, c.Errorf(c.Exc.TypeError, "timeout must be a float or None")
		}
		return at, false, err
	}
	return time.Now().Add(time.Duration(s * float64(unit))), true, nil
}

// wait polls until something is ready, the time has come, or a signal's handler has raised.
func wait(c *clinic.Call, fds []unix.PollFd, at time.Time, ever bool) (int, error) {
	for {
		ms := -1
		if ever {
			ms = max(0, int((time.Until(at)+time.Millisecond-1)/time.Millisecond))
		}
		slice := ms
		if slice < 0 || slice > 100 {
			slice = 100 // signals are seen in between
		}
		var n int
		err := c.Unlocked(func() (err error) { n, err = unix.Poll(fds, slice); return err })
		if err != nil && err != unix.EINTR {
			return 0, c.OSErr(err)
		}
		if n > 0 || ms >= 0 && ms <= slice && err == nil {
			return n, nil
		}
		if err := c.Poll(); err != nil {
			return 0, err
		}
	}
}

// selectCall is select.select.
func selectCall(c *clinic.Call) (vm.Object, error) {
	at, ever, err := deadline(c, c.Args[3], time.Second)
	if err != nil {
		return nil, err
	}
	if f := c.Args[3]; f != vm.None && time.Until(at) < -time.Millisecond {
		return nil, c.Errorf(c.Exc.ValueError, "timeout must be non-negative")
	}
	events := []int16{unix.POLLIN, unix.POLLOUT, unix.POLLPRI}
	ready := []int16{unix.POLLIN | unix.POLLHUP | unix.POLLERR, unix.POLLOUT | unix.POLLERR, unix.POLLPRI}
	var fds []unix.PollFd
	var objects [3][]vm.Object
	for k := range events {
		if objects[k], err = c.IterAll(c.Args[k]); err != nil {
			if c.Matches(err, c.Exc.TypeError) {
				return nil, c.Errorf(c.Exc.TypeError, "arguments 1-3 must be sequences")
			}
			return nil, err
		}
		for _, o := range objects[k] {
			fd, err := clinic.FD(c.Interp, o)
			if err != nil {
				return nil, err
			}
			if fd >= 1024 {
				return nil, c.Errorf(c.Exc.ValueError, "filedescriptor out of range in select()")
			}
			fds = append(fds, unix.PollFd{Fd: int32(fd), Events: events[k]})
		}
	}
	if _, err := wait(c, fds, at, ever); err != nil {
		return nil, err
	}
	out := make([]vm.Object, 3)
	i := 0
	for k := range out {
		l := &vm.List{}
		for _, o := range objects[k] {
			if fds[i].Revents&unix.POLLNVAL != 0 {
				return nil, c.OSErr(unix.EBADF)
			}
			if fds[i].Revents&ready[k] != 0 {
				l.Items = append(l.Items, o)
			}
			i++
		}
		out[k] = l
	}
	return vm.NewTuple(out...), nil
}

// poll is a select.poll object: what is asked of which descriptor.
type poll struct{ events map[int]int16 }

func newPoll(in *vm.Interp) *vm.Type {
	of := func(c *clinic.Call) *poll { return c.Self.(*vm.Instance).Native.(*poll) }
	set := func(c *clinic.Call) (vm.Object, error) {
		of(c).events[int(c.Int(0))] = int16(c.Int(1))
		return vm.None, nil
	}
	return in.NewNativeType(vm.Spec{Strict: true, Name: "poll", Module: "select", NoDict: true, Final: true, Methods: map[string]vm.GoFunc{
		"register": clinic.Method("register", "fd:fd, eventmask:int=7, /", set),
		"modify": clinic.Method("modify", "fd:fd, eventmask:int, /", func(c *clinic.Call) (vm.Object, error) {
			if _, ok := of(c).events[int(c.Int(0))]; !ok {
				return nil, c.OSErr(unix.ENOENT)
			}
			return set(c)
		}),
		"unregister": clinic.Method("unregister", "fd:fd, /", func(c *clinic.Call) (vm.Object, error) {
			if _, ok := of(c).events[int(c.Int(0))]; !ok {
				return nil, c.RaiseObj(c.Exc.KeyError, vm.MakeInt(c.Int(0)))
			}
			delete(of(c).events, int(c.Int(0)))
			return vm.None, nil
		}),
		"poll": clinic.Method("poll", "timeout=None, /", func(c *clinic.Call) (vm.Object, error) {
			at, ever, err := deadline(c, c.Args[0], time.Millisecond)
			if err != nil {
				return nil, err
			}
			if ever && time.Until(at) < -time.Second/2000 { // a negative time is none
				ever = false
			}
			var fds []unix.PollFd
			for fd, e := range of(c).events {
				fds = append(fds, unix.PollFd{Fd: int32(fd), Events: e})
			}
			slices.SortFunc(fds, func(a, b unix.PollFd) int { return cmp.Compare(a.Fd, b.Fd) })
			if _, err := wait(c, fds, at, ever); err != nil {
				return nil, err
			}
			l := &vm.List{}
			for _, f := range fds {
				if f.Revents != 0 {
					l.Items = append(l.Items, vm.NewTuple(vm.MakeInt(int64(f.Fd)), vm.MakeInt(int64(f.Revents))))
				}
			}
			return l, nil
		}),
	}})
}

// epoll is a select.epoll object: the descriptor, -1 once it is closed.
type epoll struct{ fd int }

func newEpoll(in *vm.Interp) *vm.Type {
	of := func(c *clinic.Call) (*epoll, error) {
		e := c.Self.(*vm.Instance).Native.(*epoll)
		if e.fd < 0 {
			return nil, c.Errorf(c.Exc.ValueError, "I/O operation on closed epoll object")
		}
		return e, nil
	}
	ctl := func(op int) clinic.Func {
		return func(c *clinic.Call) (vm.Object, error) {
			e, err := of(c)
			if err != nil {
				return nil, err
			}
			ev := &unix.EpollEvent{Fd: int32(c.Int(0))}
			if op != unix.EPOLL_CTL_DEL {
				ev.Events = uint32(c.Int(1))
			}
			return c.Do(unix.EpollCtl(e.fd, op, int(c.Int(0)), ev))
		}
	}
	shut := func(c *clinic.Call) (vm.Object, error) {
		e := c.Self.(*vm.Instance).Native.(*epoll)
		if e.fd >= 0 {
			_ = unix.Close(e.fd)
			e.fd = -1
		}
		return vm.None, nil
	}
	return in.NewNativeType(vm.Spec{Strict: true, Name: "epoll", Module: "select", NoDict: true,
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if _, err := in.ParseArgs("epoll", args, kw, "sizehint=-1, flags=0"); err != nil {
				return nil, err
			}
			fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
			if err != nil {
				return nil, vm.NewOSError(in, err)
			}
			return vm.NewInstance(cls, &epoll{fd}), nil
		},
		GetSet: []*vm.GetSet{{Name: "closed", Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) {
			return vm.MakeBool(self.(*vm.Instance).Native.(*epoll).fd < 0), nil
		}}},
		Methods: map[string]vm.GoFunc{
			"register":   clinic.Method("register", "fd:fd, eventmask:int=7", ctl(unix.EPOLL_CTL_ADD)),
			"modify":     clinic.Method("modify", "fd:fd, eventmask:int", ctl(unix.EPOLL_CTL_MOD)),
			"unregister": clinic.Method("unregister", "fd:fd", ctl(unix.EPOLL_CTL_DEL)),
			"close":      clinic.Method("close", "", shut),
			"__exit__":   clinic.Method("__exit__", "*args", shut),
			"__enter__": clinic.Method("__enter__", "", func(c *clinic.Call) (vm.Object, error) {
				_, err := of(c)
				return c.Self, err
			}),
			"fileno": clinic.Method("fileno", "", func(c *clinic.Call) (vm.Object, error) {
				e, err := of(c)
				if err != nil {
					return nil, err
				}
				return vm.MakeInt(int64(e.fd)), nil
			}),
			"poll": clinic.Method("poll", "timeout=None, maxevents:int=-1", epollWait(of)),
		}})
}

// epollWait is epoll.poll.
func epollWait(of func(c *clinic.Call) (*epoll, error)) clinic.Func {
	return func(c *clinic.Call) (vm.Object, error) {
		e, err := of(c)
		if err != nil {
			return nil, err
		}
		at, ever, err := deadline(c, c.Args[0], time.Second)
		if err != nil {
			return nil, err
		}
		if ever && time.Until(at) < -time.Second/2 {
			ever = false
		}
		most := int(c.Int(1))
		if most == -1 {
			most = 1023
		}
		if most <= 0 {
			return nil, c.Errorf(c.Exc.ValueError, "maxevents must be greater than 0, got %d", most)
		}
		if _, err := wait(c, []unix.PollFd{{Fd: int32(e.fd), Events: unix.POLLIN}}, at, ever); err != nil {
			return nil, err
		}
		evs := make([]unix.EpollEvent, most)
		n, err := unix.EpollWait(e.fd, evs, 0)
		if err != nil {
			return nil, c.OSErr(err)
		}
		l := &vm.List{}
		for _, ev := range evs[:n] {
			l.Items = append(l.Items, vm.NewTuple(vm.MakeInt(int64(ev.Fd)), vm.MakeInt(int64(ev.Events))))
		}
		return l, nil
	}
}

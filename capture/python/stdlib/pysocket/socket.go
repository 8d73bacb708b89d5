package pysocket

import (
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// sock is a socket. With a timeout its descriptor does not block, and calls wait by poll.
type sock struct {
	fd                  int // -1 once it is closed or detached
	family, kind, proto int
	timeout             float64 // seconds; negative for none
}

func (m *module) newSock(fd, family, kind, proto int) *sock {
	s := &sock{fd, family, kind &^ (unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK), proto, m.timeout}
	if kind&unix.SOCK_NONBLOCK != 0 {
		s.timeout = 0
	}
	if s.timeout >= 0 {
		_ = unix.SetNonblock(fd, true)
	}
	return s
}

func of(c *clinic.Call) *sock { return c.Self.(*vm.Instance).Native.(*sock) }

// wait waits until the socket is ready.
func (s *sock) wait(c *clinic.Call, events int16, end time.Time) error {
	for {
		slice := 100 * time.Millisecond
		if s.timeout > 0 {
			left := time.Until(end)
			if left <= 0 {
				return c.RaiseObj(c.Exc.TimeoutError, vm.Str("timed out"))
			}
			slice = min(slice, left)
		}
		fds := []unix.PollFd{{Fd: int32(s.fd), Events: events}}
		var n int
		err := c.Unlocked(func() (err error) {
			n, err = unix.Poll(fds, int((slice+time.Millisecond-1)/time.Millisecond))
			return err
		})
		if err != nil && err != unix.EINTR {
			return c.OSErr(err)
		}
		if n > 0 {
			return nil
		}
		if err := c.Poll(); err != nil {
			return err
		}
	}
}

// do makes a call once the socket is ready for it, and again where that was not so after all.
func (s *sock) do(c *clinic.Call, events int16, call func() error) error {
	if s.fd < 0 {
		return c.OSErr(unix.EBADF)
	}
	end := time.Now().Add(time.Duration(s.timeout * float64(time.Second)))
	for {
		if s.timeout != 0 {
			if err := s.wait(c, events, end); err != nil {
				return err
			}
		}
		err := call()
		switch {
		case err == nil:
			return nil
		case err == unix.EINTR, err == unix.EAGAIN && s.timeout != 0:
			continue
		}
		return c.OSErr(err)
	}
}

// address reads an address as programs write it.
func (m *module) address(c *clinic.Call, s *sock, o vm.Object, fn string) (unix.Sockaddr, error) {
	if s.family == unix.AF_UNIX {
		p, err := c.FSPath(o)
		if err != nil {
			b, ok := vm.AsBytes(o)
			if !ok {
				return nil, err
			}
			p = string(b)
		}
		if len(p) > 107 {
			return nil, c.Errorf(c.Exc.OSError, "AF_UNIX path too long")
		}
		return &unix.SockaddrUnix{Name: p}, nil
	}
	if s.family != unix.AF_INET && s.family != unix.AF_INET6 {
		return nil, c.Errorf(c.Exc.OSError, "%s(): bad family", fn)
	}
	t, ok := vm.AsTuple(o)
	if !ok {
		return nil, c.Errorf(c.Exc.TypeError, "%s(): AF_INET%s address must be tuple, not %s", fn, map[bool]string{true: "6"}[s.family == unix.AF_INET6], vm.TypeName(o))
	}
	if s.family == unix.AF_INET && len(t.Items) != 2 || len(t.Items) < 2 || len(t.Items) > 4 {
		return nil, c.Errorf(c.Exc.TypeError, "%s(): AF_INET address must be a pair (host, port)", fn)
	}
	host, ok := vm.AsStr(t.Items[0])
	if b, isBytes := vm.AsBytes(t.Items[0]); isBytes && !ok {
		host, ok = string(b), true
	}
	if !ok {
		return nil, c.Errorf(c.Exc.TypeError, "str, bytes or bytearray expected, not %s", vm.TypeName(t.Items[0]))
	}
	port, err := c.Index(t.Items[1])
	if err != nil {
		return nil, err
	}
	if port < 0 || port > 0xffff {
		return nil, c.Errorf(c.Exc.OverflowError, "%s(): port must be 0-65535.", fn)
	}
	ip, err := m.hostIP(c, host, s.family)
	if err != nil {
		return nil, err
	}
	if s.family == unix.AF_INET {
		return &unix.SockaddrInet4{Port: int(port), Addr: [4]byte(ip.To4())}, nil
	}
	a := &unix.SockaddrInet6{Port: int(port), Addr: [16]byte(ip.To16())}
	if len(t.Items) > 3 {
		n, err := c.Index(t.Items[3])
		if err != nil {
			return nil, err
		}
		a.ZoneId = uint32(n)
	}
	return a, nil
}

// hostIP is a host's address; "" is any, "<broadcast>" all.
func (m *module) hostIP(c *clinic.Call, host string, family int) (net.IP, error) {
	switch {
	case host == "" && family == unix.AF_INET:
		return net.IPv4zero, nil
	case host == "":
		return net.IPv6zero, nil
	case host == "<broadcast>":
		return net.IPv4bcast, nil
	}
	ip := net.ParseIP(host)
	if ip != nil && (family == unix.AF_INET6 && ip.To4() == nil || family == unix.AF_INET && ip.To4() != nil) {
		return ip, nil
	}
	if ip != nil {
		return nil, m.gai(c, -9, "Address family for hostname not supported")
	}
	ips, err := m.resolve(c, host, family)
	if err != nil {
		return nil, err
	}
	return ips[0], nil
}

// addressValue is an address as programs read it.
func addressValue(a unix.Sockaddr) vm.Object {
	switch x := a.(type) {
	case *unix.SockaddrInet4:
		return vm.NewTuple(vm.Str(net.IP(x.Addr[:]).String()), vm.MakeInt(int64(x.Port)))
	case *unix.SockaddrInet6:
		return vm.NewTuple(vm.Str(net.IP(x.Addr[:]).String()), vm.MakeInt(int64(x.Port)), vm.Int(0), vm.MakeInt(int64(x.ZoneId)))
	case *unix.SockaddrUnix:
		if len(x.Name) > 0 && x.Name[0] == '@' {
			return vm.Bytes("\x00" + x.Name[1:])
		}
		return vm.Str(x.Name)
	}
	return vm.None
}

// socketType is the class _socket.socket.
func (m *module) socketType(in *vm.Interp) *vm.Type {
	get := func(name string, f func(s *sock) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) {
			return f(self.(*vm.Instance).Native.(*sock)), nil
		}}
	}
	num := func(n int) vm.Object { return vm.MakeInt(int64(n)) }
	methods := map[string]vm.GoFunc{}
	def := func(name, params string, f clinic.Func) { methods[name] = clinic.Method(name, params, f) }
	def("__init__", "family:int=-1, type:int=-1, proto:int=-1, fileno=None", m.init)
	def("__repr__", "", func(c *clinic.Call) (vm.Object, error) {
		s := of(c)
		return vm.Str("<socket object, fd=" + strconv.Itoa(s.fd) + ", family=" + strconv.Itoa(s.family) + ", type=" + strconv.Itoa(s.kind) + ", proto=" + strconv.Itoa(s.proto) + ">"), nil
	})
	m.connecting(def)
	m.moving(def)
	m.messages(def)
	m.settings(def)
	return in.NewNativeType(vm.Spec{Strict: true, Name: "socket", Module: "_socket", Methods: methods,
		GetSet: []*vm.GetSet{get("family", func(s *sock) vm.Object { return num(s.family) }), get("type", func(s *sock) vm.Object { return num(s.kind) }),
			get("proto", func(s *sock) vm.Object { return num(s.proto) }), get("timeout", timeoutValue)},
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewInstance(cls, &sock{fd: -1, timeout: -1}), nil
		}})
}

func timeoutValue(s *sock) vm.Object {
	if s.timeout < 0 {
		return vm.None
	}
	return vm.Float(s.timeout)
}

// init opens a socket, or takes over a descriptor.
func (m *module) init(c *clinic.Call) (vm.Object, error) {
	family, kind, proto := int(c.Int(0)), int(c.Int(1)), int(c.Int(2))
	s := of(c)
	if !c.None(3) {
		fd, err := clinic.FD(c.Interp, c.Args[3])
		if err != nil {
			return nil, err
		}
		ask := func(opt int, given *int) error {
			if *given != -1 {
				return nil
			}
			v, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, opt)
			if err == nil {
				*given = v
			}
			return err
		}
		for opt, given := range map[int]*int{unix.SO_DOMAIN: &family, unix.SO_TYPE: &kind, unix.SO_PROTOCOL: &proto} {
			if err := ask(opt, given); err != nil {
				return nil, c.OSErr(err)
			}
		}
		*s = *m.newSock(int(fd), family, kind, proto)
		return vm.None, nil
	}
	if family == -1 {
		family = unix.AF_INET
	}
	if kind == -1 {
		kind = unix.SOCK_STREAM
	}
	if proto == -1 {
		proto = 0
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return nil, c.OSErr(err)
	}
	*s = *m.newSock(fd, family, kind, proto)
	return vm.None, nil
}

// connecting are the methods that make connections and end them.
func (m *module) connecting(def func(name, params string, f clinic.Func)) {
	def("bind", "address, /", func(c *clinic.Call) (vm.Object, error) {
		a, err := m.address(c, of(c), c.Args[0], "bind")
		if err != nil {
			return nil, err
		}
		return c.Do(unix.Bind(of(c).fd, a))
	})
	def("listen", "backlog:int=128, /", func(c *clinic.Call) (vm.Object, error) { return c.Do(unix.Listen(of(c).fd, max(int(c.Int(0)), 0))) })
	def("_accept", "", func(c *clinic.Call) (vm.Object, error) {
		var fd int
		var from unix.Sockaddr
		err := of(c).do(c, unix.POLLIN, func() (err error) {
			fd, from, err = unix.Accept4(of(c).fd, unix.SOCK_CLOEXEC)
			return err
		})
		if err != nil {
			return nil, err
		}
		return vm.NewTuple(vm.MakeInt(int64(fd)), addressValue(from)), nil
	})
	connect := func(c *clinic.Call) (unix.Errno, error) {
		s := of(c)
		a, err := m.address(c, s, c.Args[0], "connect")
		if err != nil {
			return 0, err
		}
		if s.fd < 0 {
			return unix.EBADF, nil
		}
		var no unix.Errno
		_ = c.Unlocked(func() error {
			err := unix.Connect(s.fd, a)
			no, _ = err.(unix.Errno)
			return nil
		})
		if no != unix.EINTR && (no != unix.EINPROGRESS || s.timeout == 0) {
			return no, nil
		}
		if err := s.wait(c, unix.POLLOUT, time.Now().Add(time.Duration(s.timeout*float64(time.Second)))); err != nil {
			return 0, err
		}
		n, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil {
			return 0, c.OSErr(err)
		}
		return unix.Errno(n), nil
	}
	def("connect", "address, /", func(c *clinic.Call) (vm.Object, error) {
		no, err := connect(c)
		if err == nil && no != 0 {
			err = c.OSErr(no)
		}
		return vm.None, err
	})
	def("connect_ex", "address, /", func(c *clinic.Call) (vm.Object, error) {
		no, err := connect(c)
		return vm.MakeInt(int64(no)), err
	})
	def("shutdown", "how:int, /", func(c *clinic.Call) (vm.Object, error) { return c.Do(unix.Shutdown(of(c).fd, int(c.Int(0)))) })
	def("close", "", func(c *clinic.Call) (vm.Object, error) {
		s := of(c)
		fd := s.fd
		if fd < 0 {
			return vm.None, nil
		}
		s.fd = -1
		if err := unix.Close(fd); err != nil && err != unix.ECONNRESET {
			return nil, c.OSErr(err)
		}
		return vm.None, nil
	})
	def("detach", "", func(c *clinic.Call) (vm.Object, error) {
		s := of(c)
		fd := s.fd
		s.fd = -1
		return vm.MakeInt(int64(fd)), nil
	})
	def("fileno", "", func(c *clinic.Call) (vm.Object, error) { return vm.MakeInt(int64(of(c).fd)), nil })
	name := func(f func(fd int) (unix.Sockaddr, error)) clinic.Func {
		return func(c *clinic.Call) (vm.Object, error) {
			a, err := f(of(c).fd)
			if err != nil {
				return nil, c.OSErr(err)
			}
			return addressValue(a), nil
		}
	}
	def("getsockname", "", name(unix.Getsockname))
	def("getpeername", "", name(unix.Getpeername))
}

// moving are the methods that send and receive.
func (m *module) moving(def func(name, params string, f clinic.Func)) {
	receive := func(c *clinic.Call, buf []byte, flags int64) (int, unix.Sockaddr, error) {
		var n int
		var from unix.Sockaddr
		err := of(c).do(c, unix.POLLIN, func() (err error) {
			n, from, err = unix.Recvfrom(of(c).fd, buf, int(flags))
			return err
		})
		return n, from, err
	}
	sized := func(c *clinic.Call, i int, what string) ([]byte, error) {
		if c.Int(i) < 0 {
			return nil, c.Errorf(c.Exc.ValueError, "negative buffersize in %s", what)
		}
		return make([]byte, c.Int(i)), nil
	}
	def("recv", "bufsize:int, flags:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		buf, err := sized(c, 0, "recv")
		if err != nil {
			return nil, err
		}
		n, _, err := receive(c, buf, c.Int(1))
		if err != nil {
			return nil, err
		}
		return vm.Bytes(buf[:n]), nil
	})
	def("recvfrom", "bufsize:int, flags:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		buf, err := sized(c, 0, "recvfrom")
		if err != nil {
			return nil, err
		}
		n, from, err := receive(c, buf, c.Int(1))
		if err != nil {
			return nil, err
		}
		return vm.NewTuple(vm.Bytes(buf[:n]), addressValue(from)), nil
	})
	into := func(c *clinic.Call, what string) (int, unix.Sockaddr, error) {
		buf, ok := vm.WritableBytes(c.Args[0])
		if !ok {
			return 0, nil, c.Errorf(c.Exc.TypeError, "%s() argument 1 must be read-write bytes-like object, not %s", what, vm.ArgName(c.Args[0]))
		}
		n := int(c.Int(1))
		switch {
		case n < 0:
			return 0, nil, c.Errorf(c.Exc.ValueError, "negative buffersize in %s", what)
		case n > len(buf):
			return 0, nil, c.Errorf(c.Exc.ValueError, "buffer too small for requested bytes")
		case n == 0:
			n = len(buf)
		}
		return receive(c, buf[:n], c.Int(2))
	}
	def("recv_into", "buffer, nbytes:int=0, flags:int=0", func(c *clinic.Call) (vm.Object, error) {
		n, _, err := into(c, "recv_into")
		return vm.MakeInt(int64(n)), err
	})
	def("recvfrom_into", "buffer, nbytes:int=0, flags:int=0", func(c *clinic.Call) (vm.Object, error) {
		n, from, err := into(c, "recvfrom_into")
		if err != nil {
			return nil, err
		}
		return vm.NewTuple(vm.MakeInt(int64(n)), addressValue(from)), nil
	})
	// What does not wait for ever is sent by pieces, so that others run, and handlers of signals, while the other side is slow to take it.
	send := func(c *clinic.Call, data []byte, flags int64, to unix.Sockaddr) (int, error) {
		done := 0
		for {
			var n int
			err := of(c).do(c, unix.POLLOUT, func() (err error) {
				n, err = unix.SendmsgN(of(c).fd, data[done:], nil, to, int(flags)|unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
				return err
			})
			if done += n; err != nil || done >= len(data) || of(c).timeout >= 0 || of(c).kind != unix.SOCK_STREAM {
				return done, err
			}
		}
	}
	def("send", "data:bytes, flags:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		n, err := send(c, c.Bytes(0), c.Int(1), nil)
		return vm.MakeInt(int64(n)), err
	})
	def("sendall", "data:bytes, flags:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		for data := c.Bytes(0); len(data) > 0; {
			n, err := send(c, data, c.Int(1), nil)
			if err != nil {
				return nil, err
			}
			data = data[n:]
		}
		return vm.None, nil
	})
	def("sendto", "data:bytes, flags_or_address, address=None, /", func(c *clinic.Call) (vm.Object, error) {
		flags, to := int64(0), c.Args[1]
		if !c.None(2) {
			var err error
			if flags, err = c.Index(c.Args[1]); err != nil {
				return nil, err
			}
			to = c.Args[2]
		}
		a, err := m.address(c, of(c), to, "sendto")
		if err != nil {
			return nil, err
		}
		n, err := send(c, c.Bytes(0), flags, a)
		return vm.MakeInt(int64(n)), err
	})
}

// settings are the methods that ask and change how the socket behaves.
func (m *module) settings(def func(name, params string, f clinic.Func)) {
	set := func(c *clinic.Call, t float64) (vm.Object, error) {
		s := of(c)
		s.timeout = t
		return c.Do(unix.SetNonblock(s.fd, t >= 0))
	}
	def("settimeout", "timeout, /", func(c *clinic.Call) (vm.Object, error) {
		t, err := timeoutOf(c, 0)
		if err != nil {
			return nil, err
		}
		return set(c, t)
	})
	def("gettimeout", "", func(c *clinic.Call) (vm.Object, error) { return timeoutValue(of(c)), nil })
	def("setblocking", "flag:bool, /", func(c *clinic.Call) (vm.Object, error) {
		return set(c, map[bool]float64{true: -1, false: 0}[c.Bool(0)])
	})
	def("getblocking", "", func(c *clinic.Call) (vm.Object, error) { return vm.MakeBool(of(c).timeout != 0), nil })
	def("getsockopt", "level:int, option:int, buflen:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		if c.Int(2) == 0 {
			n, err := unix.GetsockoptInt(of(c).fd, int(c.Int(0)), int(c.Int(1)))
			if err != nil {
				return nil, c.OSErr(err)
			}
			return vm.MakeInt(int64(n)), nil
		}
		s, err := unix.GetsockoptString(of(c).fd, int(c.Int(0)), int(c.Int(1)))
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.Bytes(s[:min(len(s), int(c.Int(2)))]), nil
	})
	def("setsockopt", "level:int, option:int, value, optlen=None, /", func(c *clinic.Call) (vm.Object, error) {
		if n, ok := vm.AsInt(c.Args[2]); ok {
			return c.Do(unix.SetsockoptInt(of(c).fd, int(c.Int(0)), int(c.Int(1)), int(n)))
		}
		b, ok := vm.AsBytes(c.Args[2])
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(c.Args[2]))
		}
		return c.Do(unix.SetsockoptString(of(c).fd, int(c.Int(0)), int(c.Int(1)), string(b)))
	})
}

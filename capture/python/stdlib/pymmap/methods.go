package pymmap

import (
	"bytes"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// of is the memory of an instance.
func of(o vm.Object) *mapping {
	m, _ := o.(*vm.Instance).Native.(*mapping)
	return m
}

// iterator makes the class of what walks over the memory: byte by byte, each as bytes.
func iterator(in *vm.Interp) *vm.Type {
	return in.NewNativeType(vm.Spec{Name: "iterator", Module: "builtins", NoDict: true, Strict: true, Final: true,
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create 'iterator' instances")
		},
		Methods: map[string]vm.GoFunc{
			"__iter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
			"__next__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				v, err := a[0].(*vm.GoIter).Next(in)
				if v == nil && err == nil {
					return nil, in.RaiseObj(in.Exc.StopIteration)
				}
				return v, err
			},
		}})
}

// walk is an iterator over the memory.
func (m *mapping) walk(class *vm.Type) vm.Object {
	i := 0
	return &vm.GoIter{T: class, NextFn: func(in *vm.Interp) (vm.Object, error) {
		if err := m.open(in); err != nil || i >= len(m.data) {
			return nil, err
		}
		i++
		return vm.Bytes(m.data[i-1 : i]), nil
	}}
}

// methods are those of mmap. All but a few raise once the memory is closed.
func methods(iter *vm.Type) map[string]vm.GoFunc {
	out := map[string]vm.GoFunc{
		"close":    clinic.Method("close", "", func(c *clinic.Call) (vm.Object, error) { return vm.None, of(c.Self).close(c.Interp) }),
		"__exit__": clinic.Method("__exit__", "*args", func(c *clinic.Call) (vm.Object, error) { return vm.None, of(c.Self).close(c.Interp) }),
		"__repr__": clinic.Method("__repr__", "", func(c *clinic.Call) (vm.Object, error) {
			return vm.Str(of(c.Self).repr(c.Self.Type().FullName())), nil
		}),
	}
	def := func(name, params string, f func(c *clinic.Call, m *mapping) (vm.Object, error)) {
		out[name] = clinic.Method(name, params, func(c *clinic.Call) (vm.Object, error) {
			m := of(c.Self)
			if err := m.open(c.Interp); err != nil {
				return nil, err
			}
			return f(c, m)
		})
	}
	change := func(name, params string, f func(c *clinic.Call, m *mapping) (vm.Object, error)) {
		def(name, params, func(c *clinic.Call, m *mapping) (vm.Object, error) {
			if err := m.writable(c.Interp); err != nil {
				return nil, err
			}
			return f(c, m)
		})
	}
	def("__enter__", "", func(c *clinic.Call, _ *mapping) (vm.Object, error) { return c.Self, nil })
	def("__len__", "", func(_ *clinic.Call, m *mapping) (vm.Object, error) { return vm.MakeInt(int64(len(m.data))), nil })
	def("__iter__", "", func(_ *clinic.Call, m *mapping) (vm.Object, error) { return m.walk(iter), nil })
	def("tell", "", func(_ *clinic.Call, m *mapping) (vm.Object, error) { return vm.MakeInt(int64(m.pos)), nil })
	def("size", "", func(c *clinic.Call, m *mapping) (vm.Object, error) {
		n, err := m.size(c.Interp)
		return vm.MakeInt(n), err
	})
	def("resize", "newsize:int, /", func(c *clinic.Call, m *mapping) (vm.Object, error) { return vm.None, m.resize(c.Interp, c.Int(0)) })
	def("seek", "dist:int, whence:int=0, /", seek)
	def("flush", "offset:int=0, size=nil, /", flush)
	def("madvise", "option:int, start:int=0, length=nil, /", madvise)
	reads(def)
	searches(def)
	items(def, change)
	change("write", "data:bytes, /", func(c *clinic.Call, m *mapping) (vm.Object, error) {
		if len(c.Bytes(0)) > len(m.rest()) {
			return nil, c.Errorf(c.Exc.ValueError, "data out of range")
		}
		n := copy(m.rest(), c.Bytes(0))
		m.pos += n
		return vm.MakeInt(int64(n)), nil
	})
	change("write_byte", "byte, /", func(c *clinic.Call, m *mapping) (vm.Object, error) {
		n, err := c.Index(c.Args[0])
		switch {
		case err != nil:
			return nil, err
		case n < 0:
			return nil, c.Errorf(c.Exc.OverflowError, "unsigned byte integer is less than minimum")
		case n > 255:
			return nil, c.Errorf(c.Exc.OverflowError, "unsigned byte integer is greater than maximum")
		case len(m.rest()) == 0:
			return nil, c.Errorf(c.Exc.ValueError, "write byte out of range")
		}
		m.rest()[0] = byte(n)
		m.pos++
		return vm.None, nil
	})
	change("move", "dest:int, src:int, count:int, /", func(c *clinic.Call, m *mapping) (vm.Object, error) {
		dest, src, n, size := c.Int(0), c.Int(1), c.Int(2), int64(len(m.data))
		if dest < 0 || src < 0 || n < 0 || size-dest < n || size-src < n {
			return nil, c.Errorf(c.Exc.ValueError, "source, destination, or count out of range")
		}
		copy(m.data[dest:dest+n], m.data[src:src+n])
		return vm.None, nil
	})
	return out
}

type definer func(name, params string, f func(c *clinic.Call, m *mapping) (vm.Object, error))

func seek(c *clinic.Call, m *mapping) (vm.Object, error) {
	to := c.Int(0)
	switch c.Int(1) {
	case 0:
	case 1:
		to += int64(m.pos)
	case 2:
		to += int64(len(m.data))
	default:
		return nil, c.Errorf(c.Exc.ValueError, "unknown seek type")
	}
	if to < 0 || to > int64(len(m.data)) {
		return nil, c.Errorf(c.Exc.ValueError, "seek out of range")
	}
	m.pos = int(to)
	return vm.None, nil
}

func flush(c *clinic.Call, m *mapping) (vm.Object, error) {
	at, n := c.Int(0), int64(len(m.data))
	if c.Args[1] != nil {
		var err error
		if n, err = c.Index(c.Args[1]); err != nil {
			return nil, err
		}
	}
	if at < 0 || n < 0 || int64(len(m.data))-at < n {
		return nil, c.Errorf(c.Exc.ValueError, "flush values out of range")
	}
	if m.access == accessRead || m.access == accessCopy {
		return vm.None, nil
	}
	if at%int64(pageSize) != 0 {
		return nil, c.OSErr(unix.EINVAL)
	}
	return c.Do(unix.Msync(m.data[at:at+n], unix.MS_SYNC))
}

func madvise(c *clinic.Call, m *mapping) (vm.Object, error) {
	at, n := c.Int(1), int64(len(m.data))
	if c.Args[2] != nil {
		var err error
		if n, err = c.Index(c.Args[2]); err != nil {
			return nil, err
		}
	}
	switch {
	case at < 0 || at >= int64(len(m.data)):
		return nil, c.Errorf(c.Exc.ValueError, "madvise start out of bounds")
	case n < 0:
		return nil, c.Errorf(c.Exc.ValueError, "madvise length invalid")
	case at > 1<<62-n:
		return nil, c.Errorf(c.Exc.OverflowError, "madvise length too large")
	case at%int64(pageSize) != 0:
		return nil, c.OSErr(unix.EINVAL)
	}
	return c.Do(unix.Madvise(m.data[at:min(at+n, int64(len(m.data)))], int(c.Int(0))))
}

// reads defines what reads from the position on.
func reads(def definer) {
	take := func(m *mapping, n int) vm.Object {
		b := vm.Bytes(m.rest()[:n])
		m.pos += n
		return b
	}
	def("read", "n=None, /", func(c *clinic.Call, m *mapping) (vm.Object, error) {
		n := len(m.rest())
		if !c.None(0) {
			if _, ok := vm.AsInt(c.Args[0]); !ok && c.Args[0].Type().Lookup("__index__") == nil {
				return nil, c.Errorf(c.Exc.TypeError, "argument should be integer or None, not '%s'", vm.TypeName(c.Args[0]))
			}
			want, err := c.Index(c.Args[0])
			if err != nil {
				return nil, err
			}
			if want >= 0 {
				n = int(min(want, int64(n)))
			}
		}
		return take(m, n), nil
	})
	def("readline", "", func(_ *clinic.Call, m *mapping) (vm.Object, error) {
		n := bytes.IndexByte(m.rest(), '\n') + 1
		if n == 0 {
			n = len(m.rest())
		}
		return take(m, n), nil
	})
	def("read_byte", "", func(c *clinic.Call, m *mapping) (vm.Object, error) {
		if len(m.rest()) == 0 {
			return nil, c.Errorf(c.Exc.ValueError, "read byte out of range")
		}
		b := m.rest()[0]
		m.pos++
		return vm.MakeInt(int64(b)), nil
	})
}

// searches defines find and rfind.
func searches(def definer) {
	for name, index := range map[string]func(s, sep []byte) int{"find": bytes.Index, "rfind": bytes.LastIndex} {
		def(name, "sub:bytes, start=nil, end=nil, /", func(c *clinic.Call, m *mapping) (vm.Object, error) {
			size := int64(len(m.data))
			bounds := [2]int64{int64(m.pos), size}
			for i := range bounds {
				if o := c.Args[i+1]; o != nil {
					n, err := c.Index(o)
					if err != nil {
						return nil, err
					}
					if n < 0 {
						n += size
					}
					bounds[i] = max(0, min(n, size))
				}
			}
			if bounds[0] > bounds[1] {
				return vm.MakeInt(-1), nil
			}
			at := index(m.data[bounds[0]:bounds[1]], c.Bytes(0))
			if at >= 0 {
				at += int(bounds[0])
			}
			return vm.MakeInt(int64(at)), nil
		})
	}
}

// place is the byte that a key names, or -1 and a slice.
func (m *mapping) place(in *vm.Interp, key vm.Object) (int, *vm.Slice, error) {
	if s, ok := key.(*vm.Slice); ok {
		return -1, s, nil
	}
	if _, ok := vm.AsInt(key); !ok && key.Type().Lookup("__index__") == nil {
		return 0, nil, in.Errorf(in.Exc.TypeError, "mmap indices must be integers")
	}
	i, err := in.Index(key)
	if err != nil {
		return 0, nil, err
	}
	if i < 0 {
		i += int64(len(m.data))
	}
	if i < 0 || i >= int64(len(m.data)) {
		return 0, nil, in.Errorf(in.Exc.IndexError, "mmap index out of range")
	}
	return int(i), nil, nil
}

// items defines what brackets do.
func items(def, change definer) {
	def("__getitem__", "key, /", func(c *clinic.Call, m *mapping) (vm.Object, error) {
		i, s, err := m.place(c.Interp, c.Args[0])
		if err != nil {
			return nil, err
		}
		if s == nil {
			return vm.MakeInt(int64(m.data[i])), nil
		}
		start, _, step, n, err := s.Indices(c.Interp, len(m.data))
		if err != nil {
			return nil, err
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = m.data[start+i*step]
		}
		return vm.Bytes(b), nil
	})
	change("__setitem__", "key, value, /", func(c *clinic.Call, m *mapping) (vm.Object, error) {
		i, s, err := m.place(c.Interp, c.Args[0])
		if err != nil {
			return nil, err
		}
		if s == nil {
			if _, ok := vm.AsInt(c.Args[1]); !ok && c.Args[1].Type().Lookup("__index__") == nil {
				return nil, c.Errorf(c.Exc.TypeError, "mmap item value must be an int")
			}
			v, err := c.Index(c.Args[1])
			if err == nil && (v < 0 || v > 255) {
				err = c.Errorf(c.Exc.ValueError, "mmap item value must be in range(0, 256)")
			}
			if err == nil {
				m.data[i] = byte(v)
			}
			return vm.None, err
		}
		start, _, step, n, err := s.Indices(c.Interp, len(m.data))
		if err != nil {
			return nil, err
		}
		b, ok := vm.AsBytes(c.Args[1])
		switch {
		case !ok:
			return nil, c.Errorf(c.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(c.Args[1]))
		case len(b) != n:
			return nil, c.Errorf(c.Exc.IndexError, "mmap slice assignment is wrong size")
		}
		for i, v := range bytes.Clone(b) {
			m.data[start+i*step] = v
		}
		return vm.None, nil
	})
	change("__delitem__", "key, /", func(c *clinic.Call, _ *mapping) (vm.Object, error) {
		return nil, c.Errorf(c.Exc.TypeError, "mmap doesn't support item deletion")
	})
}

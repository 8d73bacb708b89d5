package pyio

import (
	"bytes"

	"whittle/capture/python/vm"
)

// closedMark is the attribute by which the base class knows that it was closed.
const closedMark = "__IOBase_closed"

// newIOBase makes a file of a class that is written in Python, whatever it is given: that is for __init__.
func newIOBase(_ *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	return vm.NewInstance(cls, nil), nil
}

// makeIOBase makes _IOBase: what all files can do by the few methods that their classes have.
func (m *module) makeIOBase(in *vm.Interp) *vm.Type {
	s := vm.Spec{Strict: true, Name: "_IOBase", Module: "_io", New: newIOBase, Methods: map[string]vm.GoFunc{}, Arity: map[string][2]int{}}
	def := func(name string, lo, hi int, f func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error)) {
		s.Arity[name] = [2]int{lo, hi}
		s.Methods[name] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return f(in, a[0], a[1:]) }
	}
	for name, hi := range map[string]int{"seek": 2, "truncate": 1, "fileno": 0} {
		def(name, 0, hi, func(in *vm.Interp, _ vm.Object, _ []vm.Object) (vm.Object, error) { return nil, m.noSupport(in, name) })
	}
	def("tell", 0, 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return in.CallMethod(self, "seek", vm.MakeInt(0), vm.MakeInt(1))
	})
	def("flush", 0, 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		if marked(in, self) {
			return nil, closedError(in)
		}
		return vm.None, nil
	})
	def("close", 0, 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		if marked(in, self) {
			return vm.None, nil
		}
		_, err := in.CallMethod(self, "flush")
		return vm.None, chained(err, in.SetAttr(self, closedMark, vm.True))
	})
	def("__del__", 0, 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		m.ended(in, self)
		return vm.None, nil
	})
	for _, name := range []string{"seekable", "readable", "writable"} {
		def(name, 0, 0, func(*vm.Interp, vm.Object, []vm.Object) (vm.Object, error) { return vm.False, nil })
	}
	def("isatty", 0, 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.False, checkClosed(in, self)
	})
	def("_checkClosed", 0, 1, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.None, checkClosed(in, self)
	})
	for name, check := range map[string][2]string{
		"_checkSeekable": {"seekable", "File or stream is not seekable."}, "_checkReadable": {"readable", "File or stream is not readable."},
		"_checkWritable": {"writable", "File or stream is not writable."},
	} {
		def(name, 0, 1, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
			v, err := in.CallMethod(self, check[0])
			if err == nil && v != vm.True {
				err = m.noSupport(in, check[1])
			}
			return v, err
		})
	}
	def("__enter__", 0, 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return self, checkClosed(in, self)
	})
	def("__exit__", 0, 3, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return in.CallMethod(self, "close")
	})
	def("__iter__", 0, 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return self, checkClosed(in, self)
	})
	def("__next__", 0, 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		line, err := in.CallMethod(self, "readline")
		if err != nil {
			return nil, err
		}
		if n, err := in.Len(line); err != nil || n > 0 {
			return line, err
		}
		return nil, stop(in)
	})
	def("readline", 0, 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		n, err := size(in, a)
		if err != nil {
			return nil, err
		}
		return readLineBy(in, self, n)
	})
	def("readlines", 0, 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		n, err := size(in, a)
		if err != nil {
			return nil, err
		}
		return readLines(in, self, n)
	})
	def("writelines", 1, 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		if err := checkClosed(in, self); err != nil {
			return nil, err
		}
		it, err := in.Iter(a[0])
		if err != nil {
			return nil, err
		}
		for {
			line, err := in.Next(it)
			if line == nil || err != nil {
				return vm.None, err
			}
			if _, err := in.CallMethod(self, "write", line); err != nil {
				return nil, err
			}
		}
	})
	s.GetSet = []*vm.GetSet{{Name: "closed", Get: func(in *vm.Interp, o vm.Object) (vm.Object, error) { return vm.MakeBool(marked(in, o)), nil }}}
	return in.NewNativeType(s)
}

// marked reports whether the base class has closed an object.
func marked(in *vm.Interp, o vm.Object) bool {
	v, err := in.GetAttrOpt(o, closedMark)
	return err == nil && v != nil
}

func closedError(in *vm.Interp) error {
	return in.Errorf(in.Exc.ValueError, "I/O operation on closed file.")
}

// checkClosed raises unless a file is open.
func checkClosed(in *vm.Interp, o vm.Object) error {
	closed, err := isClosed(in, o)
	if err == nil && closed {
		err = closedError(in)
	}
	return err
}

// stop is StopIteration.
func stop(in *vm.Interp) error {
	e := &vm.Exception{Class: in.Exc.StopIteration, Args: vm.NewTuple()}
	e.SetField("value", vm.None)
	return &vm.Raised{Exc: e}
}

// readLineBy reads a line of at most n bytes by the methods peek, if there is one, and read.
func readLineBy(in *vm.Interp, self vm.Object, n int) (vm.Object, error) {
	peek, err := in.GetAttrOpt(self, "peek")
	if err != nil {
		return nil, err
	}
	var line []byte
	for n < 0 || len(line) < n {
		want := 1
		if peek != nil {
			v, err := in.Call(peek, []vm.Object{vm.MakeInt(1)}, nil)
			if err != nil {
				return nil, err
			}
			ahead, ok := v.(vm.Bytes)
			if !ok {
				return nil, in.Errorf(in.Exc.OSError, "peek() should have returned a bytes object, not '%s'", vm.TypeName(v))
			}
			if len(ahead) > 0 {
				if want = bytes.IndexByte([]byte(ahead), '\n') + 1; want == 0 {
					want = len(ahead)
				}
				if n >= 0 {
					want = min(want, n-len(line))
				}
			}
		}
		v, err := in.CallMethod(self, "read", vm.MakeInt(int64(want)))
		if err != nil {
			return nil, err
		}
		b, ok := v.(vm.Bytes)
		if !ok {
			return nil, in.Errorf(in.Exc.OSError, "read() should have returned a bytes object, not '%s'", vm.TypeName(v))
		}
		line = append(line, b...)
		if len(b) == 0 || b[len(b)-1] == '\n' {
			break
		}
	}
	return ownBytes(line), nil
}

// readLines collects lines until they are n long together; all for n of zero or less.
func readLines(in *vm.Interp, self vm.Object, n int) (vm.Object, error) {
	it, err := in.Iter(self)
	if err != nil {
		return nil, err
	}
	out := &vm.List{}
	for total := 0; ; {
		line, err := in.Next(it)
		if err != nil {
			return nil, err
		}
		if line == nil {
			return out, nil
		}
		out.Append(line)
		if n <= 0 {
			continue
		}
		k, err := in.Len(line)
		if err != nil {
			return nil, err
		}
		if total += k; total > n {
			return out, nil
		}
	}
}

// makeRawBase makes _RawIOBase.
func (m *module) makeRawBase(in *vm.Interp) *vm.Type {
	return in.NewNativeType(vm.Spec{Strict: true, Name: "_RawIOBase", Module: "_io", Bases: []*vm.Type{m.ioBase},
		Arity: map[string][2]int{"read": {0, 1}, "readall": {0, 0}},
		Methods: map[string]vm.GoFunc{
			"read": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				n, err := size(in, a[1:])
				if err != nil {
					return nil, err
				}
				if n < 0 {
					return in.CallMethod(a[0], "readall")
				}
				b := &vm.ByteArray{B: make([]byte, n)}
				v, err := in.CallMethod(a[0], "readinto", b)
				if err != nil || v == vm.None {
					return v, err
				}
				k, err := in.Index(v)
				if err != nil {
					return nil, err
				}
				if k < 0 || k > int64(len(b.B)) {
					return nil, in.Errorf(in.Exc.ValueError, "readinto returned %d outside buffer size %d", k, len(b.B))
				}
				return vm.Bytes(b.B[:k]), nil
			},
			"readall": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return readAllBy(in, a[0], vm.MakeInt(bufferSize))
			},
		}})
}

// readAllBy reads to the end by the method read.
func readAllBy(in *vm.Interp, o vm.Object, args ...vm.Object) (vm.Object, error) {
	var out []byte
	for {
		v, err := in.CallMethod(o, "read", args...)
		if err != nil {
			return nil, err
		}
		if v == vm.None && len(out) == 0 {
			return v, nil
		}
		b, ok := v.(vm.Bytes)
		if !ok && v != vm.None {
			return nil, in.Errorf(in.Exc.TypeError, "read() should return bytes")
		}
		if len(b) == 0 {
			return ownBytes(out), nil
		}
		out = append(out, b...)
	}
}

// makeBufferedBase makes _BufferedIOBase.
func (m *module) makeBufferedBase(in *vm.Interp) *vm.Type {
	s := vm.Spec{Strict: true, Name: "_BufferedIOBase", Module: "_io", Bases: []*vm.Type{m.ioBase}, Methods: m.refusals("read", "read1", "write", "detach")}
	s.Arity = map[string][2]int{"readinto": {1, 1}, "readinto1": {1, 1}}
	for name, by := range map[string]string{"readinto": "read", "readinto1": "read1"} {
		s.Methods[name] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			b, err := memoryOf(in, a[1], name)
			if err != nil {
				return nil, err
			}
			v, err := in.CallMethod(a[0], by, vm.MakeInt(int64(len(b))))
			if err != nil {
				return nil, err
			}
			data, ok := v.(vm.Bytes)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "read() should return bytes")
			}
			if len(data) > len(b) {
				return nil, in.Errorf(in.Exc.ValueError, "read() returned too much data: %d bytes requested, %d returned", len(b), len(data))
			}
			return vm.MakeInt(int64(copy(b, data))), nil
		}
	}
	return in.NewNativeType(s)
}

// makeTextBase makes _TextIOBase.
func (m *module) makeTextBase(in *vm.Interp) *vm.Type {
	return in.NewNativeType(vm.Spec{Strict: true, Name: "_TextIOBase", Module: "_io", Bases: []*vm.Type{m.ioBase}, Methods: m.refusals("read", "readline", "write", "detach"),
		Attrs: map[string]vm.Object{"encoding": vm.None, "newlines": vm.None, "errors": vm.None}})
}

// refusals are methods that a class leaves to those that derive from it.
func (m *module) refusals(names ...string) map[string]vm.GoFunc {
	out := map[string]vm.GoFunc{}
	for _, n := range names {
		out[n] = func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) { return nil, m.noSupport(in, n) }
	}
	return out
}

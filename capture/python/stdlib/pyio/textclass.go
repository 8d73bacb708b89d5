package pyio

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// makeText makes TextIOWrapper.
func (m *module) makeText(in *vm.Interp) *vm.Type {
	c := newClass(m, "TextIOWrapper", m.textBase, func() *textIO { return &textIO{m: m} })
	c.call("__init__", wrapParams, func(c *clinic.Call, self *vm.Instance, t *textIO) (vm.Object, error) {
		return vm.None, t.init(c, self)
	})
	m.textTransfers(c)
	m.textState(c)
	m.textEnds(c)
	c.noPickle()
	return in.NewNativeType(c.spec)
}

// textTransfers are the methods that read, write and move.
func (m *module) textTransfers(c *class[*textIO]) {
	c.def("write", 1, 1, func(in *vm.Interp, _ *vm.Instance, t *textIO, a []vm.Object) (vm.Object, error) {
		s, ok := vm.AsStr(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "write() argument must be str, not %s", vm.ArgName(a[0]))
		}
		if err := t.check(in); err != nil {
			return nil, err
		}
		if err := t.write(in, s); err != nil {
			return nil, err
		}
		return vm.MakeInt(int64(chars(s))), nil
	})
	sized := func(name string, f func(t *textIO, in *vm.Interp, n int) (string, error)) {
		c.def(name, 0, 1, func(in *vm.Interp, _ *vm.Instance, t *textIO, a []vm.Object) (vm.Object, error) {
			n, err := size(in, a)
			if err != nil {
				return nil, err
			}
			if err := t.check(in); err != nil {
				return nil, err
			}
			s, err := f(t, in, n)
			return vm.Str(s), err
		})
	}
	sized("read", (*textIO).read)
	sized("readline", (*textIO).readLine)
	nextLine(c, vm.Str(""), "str", func(self *vm.Instance, t *textIO) bool { return self.Class == m.text }, func(in *vm.Interp, t *textIO) (vm.Object, error) { return t.line(in) })
	c.def("tell", 0, 0, func(in *vm.Interp, _ *vm.Instance, t *textIO, _ []vm.Object) (vm.Object, error) { return t.tell(in) })
	c.def("seek", 1, 2, func(in *vm.Interp, _ *vm.Instance, t *textIO, a []vm.Object) (vm.Object, error) { return t.seek(in, a) })
	c.def("truncate", 0, 1, func(in *vm.Interp, self *vm.Instance, t *textIO, a []vm.Object) (vm.Object, error) {
		if err := t.usable(in); err != nil {
			return nil, err
		}
		if _, err := in.CallMethod(self, "flush"); err != nil {
			return nil, err
		}
		return in.CallMethod(t.buffer, "truncate", a...)
	})
}

// textState are the attributes.
func (m *module) textState(c *class[*textIO]) {
	get := func(name string, f func(in *vm.Interp, t *textIO) (vm.Object, error)) *vm.GetSet {
		return c.get(name, func(in *vm.Interp, _ *vm.Instance, t *textIO) (vm.Object, error) {
			if err := t.usable(in); err != nil {
				return nil, err
			}
			return f(in, t)
		})
	}
	// A detached file still says how it worked.
	set := func(name string, f func(t *textIO) vm.Object) {
		c.get(name, func(in *vm.Interp, _ *vm.Instance, t *textIO) (vm.Object, error) {
			if !t.detached && !t.ready {
				return nil, t.usable(in)
			}
			return f(t), nil
		})
	}
	set("encoding", func(t *textIO) vm.Object { return vm.Str(t.encoding) })
	set("errors", func(t *textIO) vm.Object { return t.errors })
	set("line_buffering", func(t *textIO) vm.Object { return vm.MakeBool(t.lineBuffering) })
	set("write_through", func(t *textIO) vm.Object { return vm.MakeBool(t.writeThrough) })
	get("buffer", func(_ *vm.Interp, t *textIO) (vm.Object, error) { return t.buffer, nil })
	get("name", func(in *vm.Interp, t *textIO) (vm.Object, error) { return in.GetAttr(t.buffer, "name") })
	get("closed", func(in *vm.Interp, t *textIO) (vm.Object, error) { return in.GetAttr(t.buffer, "closed") })
	get("newlines", func(in *vm.Interp, t *textIO) (vm.Object, error) {
		if t.decoder == nil {
			return vm.None, nil
		}
		return t.decoder.newlines(in)
	})
	get("_CHUNK_SIZE", func(_ *vm.Interp, t *textIO) (vm.Object, error) { return vm.MakeInt(int64(t.chunk)), nil }).Set = func(in *vm.Interp, o, v vm.Object) error {
		_, t, err := c.held(in, o)
		if err != nil {
			return err
		}
		if v == nil {
			return in.Errorf(in.Exc.AttributeError, "cannot delete attribute")
		}
		n, err := in.Index(v)
		if err == nil && n <= 0 {
			err = in.Errorf(in.Exc.ValueError, "a strictly positive integer is required")
		}
		if err == nil {
			t.chunk = int(n)
		}
		return err
	}
	c.def("__repr__", 0, 0, func(in *vm.Interp, self *vm.Instance, t *textIO, _ []vm.Object) (vm.Object, error) {
		if !t.detached && !t.ready {
			return nil, t.usable(in)
		}
		name, err := nameRepr(in, self)
		if err != nil {
			return nil, err
		}
		out := "<_io.TextIOWrapper"
		if name != "" {
			out += " name=" + name
		}
		mode, err := in.GetAttrOpt(self, "mode")
		if err != nil {
			return nil, err
		}
		if mode != nil {
			r, err := in.Repr(mode)
			if err != nil {
				return nil, err
			}
			out += " mode=" + r
		}
		r, err := in.Repr(vm.Str(t.encoding))
		return vm.Str(out + " encoding=" + r + ">"), err
	})
}

// textEnds are the methods that ask the buffer, flush, close, and change how the file works.
func (m *module) textEnds(c *class[*textIO]) {
	for _, name := range []string{"readable", "writable", "seekable", "fileno", "isatty"} {
		c.def(name, 0, 0, func(in *vm.Interp, _ *vm.Instance, t *textIO, _ []vm.Object) (vm.Object, error) {
			if err := t.usable(in); err != nil {
				return nil, err
			}
			return in.CallMethod(t.buffer, name)
		})
	}
	c.def("flush", 0, 0, func(in *vm.Interp, _ *vm.Instance, t *textIO, _ []vm.Object) (vm.Object, error) {
		if err := t.check(in); err != nil {
			return nil, err
		}
		return vm.None, t.flush(in)
	})
	c.def("close", 0, 0, func(in *vm.Interp, self *vm.Instance, t *textIO, _ []vm.Object) (vm.Object, error) {
		in.Settled(self)
		if err := t.usable(in); err != nil {
			return nil, err
		}
		if closed, err := t.isClosed(in); closed || err != nil {
			return vm.None, err
		}
		m.notPrinted(in, self)
		_, err := in.CallMethod(self, "flush")
		delete(m.unwritten, t)
		v, cerr := in.CallMethod(t.buffer, "close")
		return v, chained(err, cerr)
	})
	c.def("detach", 0, 0, func(in *vm.Interp, self *vm.Instance, t *textIO, _ []vm.Object) (vm.Object, error) {
		if err := t.usable(in); err != nil {
			return nil, err
		}
		m.notPrinted(in, self)
		if _, err := in.CallMethod(self, "flush"); err != nil {
			return nil, err
		}
		t.ready, t.detached = false, true
		return t.buffer, nil
	})
	reconfigure := vm.NewParams("reconfigure", "*, encoding=None, errors=None, newline=nil, line_buffering=None, write_through=None")
	c.spec.Methods["reconfigure"] = func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		self, t, err := c.held(in, a[0])
		if err != nil {
			return nil, err
		}
		bound, err := reconfigure.Bind(in, a[1:], kw)
		if err != nil {
			return nil, err
		}
		if err := t.usable(in); err != nil {
			return nil, err
		}
		m.notPrinted(in, self)
		return vm.None, t.reconfigure(in, self, bound)
	}
}

// reconfigure is the method.
func (t *textIO) reconfigure(in *vm.Interp, self *vm.Instance, args []vm.Object) error {
	newNewline := args[2] != nil
	changes := args[0] != vm.None || args[1] != vm.None || newNewline
	if t.decoder != nil && changes && (t.snapshot || t.decoded != "") {
		return t.m.noSupport(in, "It is not possible to set the encoding or newline of stream after the first read")
	}
	o := textOptions{t.encoding, t.errors, t.newline, t.lineBuffering, t.writeThrough}
	var err error
	if newNewline {
		if o.newline, err = newlineOf(in, args[2]); err != nil {
			return err
		}
	}
	for i, p := range []*bool{&o.lineBuffering, &o.writeThrough} {
		if v := args[3+i]; v != vm.None {
			n, err := in.Index(v)
			if err != nil {
				return err
			}
			*p = n != 0
		}
	}
	if args[0] != vm.None {
		if o.encoding, err = t.encodingOf(in, args[0]); err != nil {
			return err
		}
		o.errors = vm.Str("strict")
	}
	if args[1] != vm.None {
		if o.errors, err = errorsOf(in, args[1]); err != nil {
			return err
		}
	}
	if _, err := in.CallMethod(self, "flush"); err != nil {
		return err
	}
	t.lineBuffering, t.writeThrough = o.lineBuffering, o.writeThrough
	if !changes {
		return nil
	}
	was := *t
	t.encoding, t.errors, t.newline = o.encoding, o.errors, o.newline
	if err := t.codecs(in); err != nil {
		*t = was
		return err
	}
	if t.seekable && t.encoder != nil {
		v, err := in.CallMethod(t.buffer, "tell")
		if err != nil {
			return err
		}
		if at, ok := vm.AsInt(v); !ok || at != 0 {
			return t.encoder.setStart(in, false)
		}
	}
	return nil
}

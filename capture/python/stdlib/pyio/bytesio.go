package pyio

import (
	"bytes"
	"runtime"
	"slices"
	"weak"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// bytesIO is what a BytesIO holds.
type bytesIO struct {
	m       *module
	data    []byte
	pos     int
	shared  bool // a bytes object has the memory, too: it is copied before it changes
	closed  bool
	exports []weak.Pointer[export]
}

// export is what the views that getbuffer has given hold: while one of them lives, the memory stays where it is.
type export struct{ _ *bytesIO }

func (b *bytesIO) check(in *vm.Interp) error {
	if b.closed {
		return closedError(in)
	}
	return nil
}

// exported raises while a view of the memory is in use.
func (b *bytesIO) exported(in *vm.Interp) error {
	alive := func() bool {
		b.exports = slices.DeleteFunc(b.exports, func(p weak.Pointer[export]) bool { return p.Value() == nil })
		return len(b.exports) > 0
	}
	if !alive() {
		return nil
	}
	runtime.GC() // nobody counts who refers to a view
	if !alive() {
		return nil
	}
	return in.Errorf(in.Exc.BufferError, "Existing exports of data: object cannot be re-sized")
}

// own makes the memory the object's alone.
func (b *bytesIO) own() {
	if b.shared {
		b.data, b.shared = bytes.Clone(b.data), false
	}
}

// write puts bytes at the place.
func (b *bytesIO) write(in *vm.Interp, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if len(b.exports) > 0 {
		if err := b.exported(in); err != nil {
			return err
		}
	}
	if b.pos < len(b.data) {
		b.own()
	}
	if gap := b.pos - len(b.data); gap > 0 {
		b.data = append(b.data, make([]byte, gap)...)
	}
	n := copy(b.data[b.pos:], p)
	b.data = append(b.data, p[n:]...)
	b.pos += len(p)
	return nil
}

// rest is what lies behind the place.
func (b *bytesIO) rest() []byte { return b.data[min(b.pos, len(b.data)):] }

// read takes at most n bytes, all for a negative n.
func (b *bytesIO) read(n int) vm.Object {
	p := b.rest()
	if n >= 0 && n < len(p) {
		p = p[:n]
	}
	b.pos += len(p)
	if len(p) > 0 && len(p) == len(b.data) {
		b.shared = len(b.exports) == 0
		if b.shared {
			return ownBytes(p)
		}
	}
	return vm.Bytes(p)
}

// line is the next line, of at most n bytes.
func (b *bytesIO) line(n int) []byte {
	p := b.rest()
	if n >= 0 && n < len(p) {
		p = p[:n]
	}
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		p = p[:i+1]
	}
	b.pos += len(p)
	return p
}

// makeBytesIO makes BytesIO.
func (m *module) makeBytesIO(in *vm.Interp) *vm.Type {
	c := newClass(m, "BytesIO", m.bufferedBase, func() *bytesIO { return &bytesIO{m: m} })
	c.call("__init__", "initial_bytes=b''", func(c *clinic.Call, _ *vm.Instance, b *bytesIO) (vm.Object, error) {
		if err := b.exported(c.Interp); err != nil {
			return nil, err
		}
		*b = bytesIO{m: b.m}
		o := c.Args[0]
		if o == vm.None {
			return vm.None, nil
		}
		p, err := bytesOf(c.Interp, o)
		if err != nil {
			return nil, err
		}
		if _, ok := o.(vm.Bytes); ok {
			b.data, b.shared = p, true
		} else {
			b.data = bytes.Clone(p)
		}
		return vm.None, nil
	})
	// open adds a method of an open file.
	open := func(name string, lo, hi int, f func(b *bytesIO, in *vm.Interp, a []vm.Object) (vm.Object, error)) {
		c.def(name, lo, hi, func(in *vm.Interp, _ *vm.Instance, b *bytesIO, a []vm.Object) (vm.Object, error) {
			if err := b.check(in); err != nil {
				return nil, err
			}
			return f(b, in, a)
		})
	}
	for name, v := range map[string]vm.Object{"readable": vm.True, "writable": vm.True, "seekable": vm.True, "isatty": vm.False, "flush": vm.None} {
		open(name, 0, 0, func(*bytesIO, *vm.Interp, []vm.Object) (vm.Object, error) { return v, nil })
	}
	sized := func(name string, f func(b *bytesIO, n int) vm.Object) {
		open(name, 0, 1, func(b *bytesIO, in *vm.Interp, a []vm.Object) (vm.Object, error) {
			n, err := size(in, a)
			if err != nil {
				return nil, err
			}
			return f(b, n), nil
		})
	}
	sized("read", (*bytesIO).read)
	sized("read1", (*bytesIO).read)
	sized("readline", func(b *bytesIO, n int) vm.Object { return vm.Bytes(b.line(n)) })
	sized("readlines", func(b *bytesIO, n int) vm.Object {
		out := &vm.List{}
		for total := 0; n <= 0 || total < n; {
			line := b.line(-1)
			if len(line) == 0 {
				break
			}
			out.Append(vm.Bytes(line))
			total += len(line)
		}
		return out
	})
	open("readinto", 1, 1, func(b *bytesIO, in *vm.Interp, a []vm.Object) (vm.Object, error) {
		p, err := memoryOf(in, a[0], "readinto")
		if err != nil {
			return nil, err
		}
		n := copy(p, b.rest())
		b.pos += n
		return vm.MakeInt(int64(n)), nil
	})
	open("write", 1, 1, func(b *bytesIO, in *vm.Interp, a []vm.Object) (vm.Object, error) {
		p, err := bytesOf(in, a[0])
		if err != nil {
			return nil, err
		}
		return vm.MakeInt(int64(len(p))), b.write(in, p)
	})
	open("tell", 0, 0, func(b *bytesIO, _ *vm.Interp, _ []vm.Object) (vm.Object, error) { return vm.MakeInt(int64(b.pos)), nil })
	open("seek", 1, 2, (*bytesIO).seek)
	open("truncate", 0, 1, (*bytesIO).truncate)
	open("getvalue", 0, 0, func(b *bytesIO, _ *vm.Interp, _ []vm.Object) (vm.Object, error) {
		if len(b.exports) > 0 {
			return vm.Bytes(b.data), nil
		}
		b.shared = true
		return ownBytes(b.data), nil
	})
	c.def("getbuffer", 0, 0, func(in *vm.Interp, self *vm.Instance, b *bytesIO, _ []vm.Object) (vm.Object, error) {
		if err := b.check(in); err != nil {
			return nil, err
		}
		b.own()
		v := vm.NewMemoryView(self, b.data, 'B', false)
		e := &export{b}
		v.Hold(e)
		b.exports = append(b.exports, weak.Make(e))
		return v, nil
	})
	c.def("close", 0, 0, func(in *vm.Interp, _ *vm.Instance, b *bytesIO, _ []vm.Object) (vm.Object, error) {
		if err := b.exported(in); err != nil {
			return nil, err
		}
		b.data, b.closed = nil, true
		return vm.None, nil
	})
	nextLine(c, vm.Bytes(""), "bytes", func(*vm.Instance, *bytesIO) bool { return true }, func(in *vm.Interp, b *bytesIO) (vm.Object, error) { return b.nextLine(in) })
	c.get("closed", func(_ *vm.Interp, _ *vm.Instance, b *bytesIO) (vm.Object, error) { return vm.MakeBool(b.closed), nil })
	c.def("__sizeof__", 0, 0, func(_ *vm.Interp, _ *vm.Instance, b *bytesIO, _ []vm.Object) (vm.Object, error) {
		return vm.MakeInt(int64(96 + cap(b.data))), nil
	})
	bytesState(c)
	return in.NewNativeType(c.spec)
}

func (b *bytesIO) seek(in *vm.Interp, a []vm.Object) (vm.Object, error) {
	off, whence, err := places(in, a)
	if err != nil {
		return nil, err
	}
	switch whence {
	case 0:
		if off < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "negative seek value %d", off)
		}
	case 1, 2:
		base := int64(b.pos)
		if whence == 2 {
			base = int64(len(b.data))
		}
		if off > 1<<63-1-base {
			return nil, in.Errorf(in.Exc.OverflowError, "new position too large")
		}
		off = max(0, off+base)
	default:
		return nil, in.Errorf(in.Exc.ValueError, "invalid whence (%d, should be 0, 1 or 2)", whence)
	}
	b.pos = int(off)
	return vm.MakeInt(off), nil
}

func (b *bytesIO) truncate(in *vm.Interp, a []vm.Object) (vm.Object, error) {
	if err := b.exported(in); err != nil {
		return nil, err
	}
	n := b.pos
	if len(a) > 0 && a[0] != vm.None {
		var err error
		if n, err = size(in, a); err != nil {
			return nil, err
		}
	}
	if n < 0 {
		return nil, in.Errorf(in.Exc.ValueError, "negative size value %d", n)
	}
	if n < len(b.data) {
		b.own()
		b.data = b.data[:n]
	}
	return vm.MakeInt(int64(n)), nil
}

// bytesState is what pickling writes and reads: the content, the place, the attributes.
func bytesState(c *class[*bytesIO]) {
	c.def("__getstate__", 0, 0, func(in *vm.Interp, self *vm.Instance, b *bytesIO, _ []vm.Object) (vm.Object, error) {
		if err := b.check(in); err != nil {
			return nil, err
		}
		return vm.NewTuple(vm.Bytes(b.data), vm.MakeInt(int64(b.pos)), attributes(self)), nil
	})
	c.def("__setstate__", 1, 1, func(in *vm.Interp, self *vm.Instance, b *bytesIO, a []vm.Object) (vm.Object, error) {
		t, ok := vm.AsTuple(a[0])
		if !ok || len(t.Items) < 3 {
			return nil, in.Errorf(in.Exc.TypeError, "%s.__setstate__ argument should be 3-tuple, got %s", self.Class.FullName(), vm.TypeName(a[0]))
		}
		if err := b.check(in); err != nil {
			return nil, err
		}
		if err := b.exported(in); err != nil {
			return nil, err
		}
		p, err := bytesOf(in, t.Items[0])
		if err != nil {
			return nil, err
		}
		b.data, b.shared = bytes.Clone(p), false
		pos, err := statePosition(in, "second", t.Items[1])
		if err != nil {
			return nil, err
		}
		b.pos = pos
		return vm.None, setAttributes(in, self, "third", t.Items[2])
	})
}

// attributes is an object's __dict__, None if it is empty.
func attributes(self *vm.Instance) vm.Object {
	if self.Dict == nil {
		return vm.None
	}
	return self.Dict.Copy()
}

// statePosition is the place in a state.
func statePosition(in *vm.Interp, which string, o vm.Object) (int, error) {
	n, ok := vm.AsInt(o)
	if !ok {
		return 0, in.Errorf(in.Exc.TypeError, "%s item of state must be an integer, got %s", which, vm.TypeName(o))
	}
	if n < 0 {
		return 0, in.Errorf(in.Exc.ValueError, "position value cannot be negative")
	}
	return int(n), nil
}

// setAttributes gives an object the attributes of a state.
func setAttributes(in *vm.Interp, self *vm.Instance, which string, o vm.Object) error {
	if o == vm.None {
		return nil
	}
	d, ok := vm.AsDict(o)
	if !ok {
		return in.Errorf(in.Exc.TypeError, "%s item of state should be a dict, got a %s", which, vm.TypeName(o))
	}
	own := self.AttrDict(true)
	var err error
	d.Each(func(k, v vm.Object) bool {
		err = own.Set(in, k, v)
		return err == nil
	})
	return err
}

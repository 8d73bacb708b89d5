package pyio

import (
	"fmt"
	"sync"
	"weak"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// buffered is what a BufferedReader, BufferedWriter or BufferedRandom holds. Only one of its two buffers is in use at a time: before something
// is written, the raw object goes back to where the reader stands; before something is read, what was written is passed on.
type buffered struct {
	m        *module
	readable bool
	writable bool
	ready    bool // __init__ has succeeded
	detached bool
	through  bool // holds nothing back: the standard streams have a buffer of their own

	raw  raw
	size int
	rbuf []byte // unread is rbuf[r:]
	r    int
	wbuf []byte // not written yet
	lent bool   // bytes objects have parts of rbuf: it is not filled again

	mu    sync.Mutex
	owner *vm.Thread
	self  weak.Pointer[vm.Instance]
}

// usable raises unless there is a raw object.
func (b *buffered) usable(in *vm.Interp) error {
	switch {
	case b.ready:
		return nil
	case b.detached:
		return in.Errorf(in.Exc.ValueError, "raw stream has been detached")
	}
	return in.Errorf(in.Exc.ValueError, "I/O operation on uninitialized object")
}

// check raises unless the file is open; what says what was tried.
func (b *buffered) check(in *vm.Interp, what string) error {
	if err := b.usable(in); err != nil {
		return err
	}
	closed, err := b.raw.isClosed(in)
	if err == nil && closed && (b.r == len(b.rbuf) || what == "flush") {
		err = in.Errorf(in.Exc.ValueError, "%s of closed file", what)
		if what == "write" {
			err = in.Errorf(in.Exc.ValueError, "write to closed file")
		}
	}
	return err
}

// enter keeps other threads out of the buffers until leave.
func (b *buffered) enter(in *vm.Interp) error {
	t := in.Thread()
	if b.owner == t {
		s := "<object>"
		if self := b.self.Value(); self != nil {
			s, _ = in.Repr(self)
		}
		return in.Errorf(in.Exc.RuntimeError, "reentrant call inside %s", s)
	}
	if !b.mu.TryLock() {
		if err := in.Unlocked(func() error { b.mu.Lock(); return nil }); err != nil {
			return err
		}
	}
	b.owner = t
	return nil
}

func (b *buffered) leave() {
	b.owner = nil
	b.mu.Unlock()
}

// within runs a step that no other thread may disturb.
func (b *buffered) within(in *vm.Interp, f func() error) error {
	if err := b.enter(in); err != nil {
		return err
	}
	defer b.leave()
	return f()
}

// unread is the part of what was read and not yet given.
func (b *buffered) unread() []byte { return b.rbuf[b.r:] }

// take gives n bytes that are in the buffer.
func (b *buffered) take(n int) []byte {
	p := b.rbuf[b.r : b.r+n]
	b.r += n
	return p
}

// mostWaste is how many times its own length of memory a bytes object may keep alive.
const mostWaste = 256

// give is a bytes object of n bytes that are in the buffer. It shares the memory where that wastes little.
func (b *buffered) give(n int) vm.Bytes {
	p := b.take(n)
	if n*mostWaste < b.size || !b.raw.plain() {
		return vm.Bytes(p)
	}
	b.lent = true
	return ownBytes(p)
}

// fill reads once into the empty buffer: 0 at the end, -1 if there is nothing yet.
func (b *buffered) fill(in *vm.Interp) (int, error) {
	if cap(b.rbuf) < b.size || b.lent {
		b.rbuf, b.lent = make([]byte, 0, b.size), false
	}
	b.rbuf, b.r = b.rbuf[:0], 0
	n, err := b.raw.readInto(in, b.rbuf[:b.size])
	if n > 0 {
		b.rbuf = b.rbuf[:n]
	}
	return n, err
}

// forget drops what was read ahead: the raw object goes back to where the reader stands.
func (b *buffered) forget(in *vm.Interp) error {
	n := len(b.unread())
	b.rbuf, b.r = b.rbuf[:0], 0
	if n == 0 {
		return nil
	}
	_, err := b.raw.seekTo(in, int64(-n), 1)
	return err
}

// settle writes what waits to be written.
func (b *buffered) settle(in *vm.Interp) error {
	for len(b.wbuf) > 0 {
		n, err := b.raw.writeFrom(in, b.wbuf)
		if err != nil {
			return err
		}
		if n < 0 {
			return b.wouldBlock(in, 0)
		}
		b.wbuf = b.wbuf[:copy(b.wbuf, b.wbuf[n:])]
		if err := in.Poll(); err != nil {
			return err
		}
	}
	delete(b.m.unwritten, b)
	return nil
}

// wouldBlock raises BlockingIOError for a write of which so many bytes were taken.
func (b *buffered) wouldBlock(in *vm.Interp, written int) error {
	return in.RaiseObj(in.Exc.BlockingIOError, vm.MakeInt(int64(unix.EAGAIN)), vm.Str("write could not complete without blocking"), vm.MakeInt(int64(written)))
}

// write takes bytes. Those that neither the raw object nor the buffer has room for are an error.
func (b *buffered) write(in *vm.Interp, p []byte) (int, error) {
	if err := b.forget(in); err != nil {
		return 0, err
	}
	if b.through {
		return len(p), b.writeAll(in, p)
	}
	if len(b.wbuf)+len(p) > b.size {
		if err := b.settle(in); err != nil && (!isErr(err, in, in.Exc.BlockingIOError) || len(b.wbuf) > b.size) {
			return 0, err
		}
		if len(b.wbuf) == 0 && b.raw.plain() {
			n, err := b.writeLarge(in, p)
			p = p[n:]
			if err != nil || len(p) == 0 {
				return n, err
			}
			b.hold(p)
			return n + len(p), nil
		}
	}
	had := len(b.wbuf)
	b.hold(p)
	if len(b.wbuf) <= b.size {
		return len(p), nil
	}
	written := len(p)
	if err := b.settle(in); err != nil {
		if !isErr(err, in, in.Exc.BlockingIOError) {
			b.wbuf = b.wbuf[:min(had, len(b.wbuf))]
			return 0, err
		}
		if over := len(b.wbuf) - b.size; over > 0 {
			b.wbuf = b.wbuf[:b.size]
			return 0, b.wouldBlock(in, written-over)
		}
	}
	return written, nil
}

// writeAll writes past the buffer.
func (b *buffered) writeAll(in *vm.Interp, p []byte) error {
	for len(p) > 0 {
		n, err := b.raw.writeFrom(in, p)
		if err == nil && n < 0 {
			err = b.wouldBlock(in, 0)
		}
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// writeLarge writes past the empty buffer what does not fit into it, and says how much that was. The rest fits.
func (b *buffered) writeLarge(in *vm.Interp, p []byte) (done int, err error) {
	for len(p)-done > b.size {
		n, err := b.raw.writeFrom(in, p[done:])
		if err != nil {
			return done, err
		}
		if n < 0 {
			b.hold(p[done : done+b.size])
			return 0, b.wouldBlock(in, done+b.size)
		}
		done += n
	}
	return done, nil
}

// hold puts bytes into the buffer.
func (b *buffered) hold(p []byte) {
	if len(b.wbuf) == 0 && len(p) > 0 {
		b.m.unwritten[b] = b.self
		if b.wbuf == nil {
			b.wbuf = make([]byte, 0, b.size)
		}
	}
	b.wbuf = append(b.wbuf, p...)
}

// flush writes everything and leaves nothing read ahead.
func (b *buffered) flush(in *vm.Interp) error {
	if b.writable {
		if err := b.settle(in); err != nil {
			return err
		}
	}
	if b.readable && b.writable {
		return b.forget(in)
	}
	return nil
}

// pass implements holder, here and below.
func (b *buffered) pass(in *vm.Interp) error {
	if err := b.check(in, "flush"); err != nil {
		return err
	}
	return b.within(in, func() error { return b.settle(in) })
}

func (b *buffered) end(in *vm.Interp) {
	if b.pass(in) == nil {
		_, _ = in.CallMethod(b.raw.obj, "close")
	}
}

func (b *buffered) file() (fileIdentity, bool) {
	f, ok := b.raw.own.(*fileIO)
	if !ok || f.fd < 0 {
		return fileIdentity{}, false
	}
	return f.id, true
}

// seek moves the place where the next byte is read or written.
func (b *buffered) seek(in *vm.Interp, off int64, whence int) (int64, error) {
	if whence != 2 && len(b.unread()) > 0 {
		if n, ok, err := b.seekNear(in, off, whence); ok || err != nil {
			return n, err
		}
	}
	if err := b.settle(in); err != nil {
		return 0, err
	}
	if whence == 1 {
		off -= int64(len(b.unread()))
	}
	n, err := b.raw.seekTo(in, off, whence)
	if err == nil {
		b.rbuf, b.r = b.rbuf[:0], 0
	}
	return n, err
}

// seekNear moves within what was read ahead.
func (b *buffered) seekNear(in *vm.Interp, off int64, whence int) (int64, bool, error) {
	at, err := b.raw.tell(in)
	if err != nil {
		return 0, false, err
	}
	here := at - int64(len(b.unread()))
	if whence == 0 {
		off -= here
	}
	if off < int64(-b.r) || off > int64(len(b.unread())) {
		return 0, false, nil
	}
	b.r += int(off)
	return here + off, true, nil
}

// tell is where the next byte is read or written.
func (b *buffered) tell(in *vm.Interp) (int64, error) {
	n, err := b.raw.tell(in)
	if err != nil {
		return 0, err
	}
	n += int64(len(b.wbuf) - len(b.unread()))
	if n < 0 {
		return 0, in.Errorf(in.Exc.OSError, "Raw stream returned invalid position %d", n)
	}
	return n, nil
}

// init is __init__.
func (b *buffered) init(c *clinic.Call, self *vm.Instance) error {
	in, o := c.Interp, c.Args[0]
	b.ready, b.detached = false, false
	checks := map[string]bool{"_checkSeekable": b.readable && b.writable, "_checkReadable": b.readable, "_checkWritable": b.writable}
	for _, name := range []string{"_checkSeekable", "_checkReadable", "_checkWritable"} {
		if !checks[name] {
			continue
		}
		if err := b.m.require(in, o, name); err != nil {
			return err
		}
	}
	if c.Int(1) <= 0 {
		return in.Errorf(in.Exc.ValueError, "buffer size must be strictly positive")
	}
	if c.Int(1) > 1<<40 {
		return in.RaiseObj(in.Exc.MemoryError)
	}
	b.setup(self, newRaw(b.m, o), int(c.Int(1)))
	return nil
}

// require asks by a method of the base class whether a file can do something.
func (m *module) require(in *vm.Interp, o vm.Object, check string) error {
	able := map[string][2]string{"_checkSeekable": {"seekable", "File or stream is not seekable."}, "_checkReadable": {"readable", "File or stream is not readable."},
		"_checkWritable": {"writable", "File or stream is not writable."}}[check]
	v, err := in.CallMethod(o, able[0])
	if err == nil && v != vm.True {
		err = m.noSupport(in, able[1])
	}
	return err
}

// setup makes an object ready.
func (b *buffered) setup(self *vm.Instance, r raw, size int) {
	b.raw, b.size, b.ready, b.self = r, size, true, weak.Make(self)
	b.rbuf, b.r, b.wbuf = nil, 0, nil
}

// makeBuffered makes one of the three classes.
func (m *module) makeBuffered(in *vm.Interp, name string) *vm.Type {
	readable, writable := name != "BufferedWriter", name != "BufferedReader"
	c := newClass(m, name, m.bufferedBase, func() *buffered { return &buffered{m: m, readable: readable, writable: writable} })
	c.call("__init__", "raw, buffer_size:int=8192", func(c *clinic.Call, self *vm.Instance, b *buffered) (vm.Object, error) {
		return vm.None, b.init(c, self)
	})
	m.bufferedShared(c)
	if readable {
		bufferedReads(c)
	}
	if writable {
		c.def("write", 1, 1, func(in *vm.Interp, _ *vm.Instance, b *buffered, a []vm.Object) (vm.Object, error) {
			p, err := bytesOf(in, a[0])
			if err != nil {
				return nil, err
			}
			n, err := b.writeChecked(in, p)
			if err != nil {
				return nil, err
			}
			return vm.MakeInt(int64(n)), nil
		})
		delegate(c, "writable")
	}
	if readable {
		delegate(c, "readable")
	}
	c.noPickle()
	return in.NewNativeType(c.spec)
}

// writeChecked is the method write.
func (b *buffered) writeChecked(in *vm.Interp, p []byte) (int, error) {
	if err := b.check(in, "write"); err != nil {
		return 0, err
	}
	if err := b.enter(in); err != nil {
		return 0, err
	}
	defer b.leave()
	return b.write(in, p)
}

// delegate adds methods that ask the raw object.
func delegate(c *class[*buffered], names ...string) {
	for _, name := range names {
		c.def(name, 0, 0, func(in *vm.Interp, _ *vm.Instance, b *buffered, _ []vm.Object) (vm.Object, error) {
			if err := b.usable(in); err != nil {
				return nil, err
			}
			return in.CallMethod(b.raw.obj, name)
		})
	}
}

// bufferedShared are the methods that the three classes have in common.
func (m *module) bufferedShared(c *class[*buffered]) {
	delegate(c, "seekable", "fileno", "isatty")
	for _, name := range []string{"closed", "name", "mode"} {
		c.get(name, func(in *vm.Interp, _ *vm.Instance, b *buffered) (vm.Object, error) {
			if err := b.usable(in); err != nil {
				return nil, err
			}
			return in.GetAttr(b.raw.obj, name)
		})
	}
	c.get("raw", func(in *vm.Interp, _ *vm.Instance, b *buffered) (vm.Object, error) {
		if b.raw.obj == nil {
			return vm.None, nil
		}
		return b.raw.obj, nil
	})
	c.def("__sizeof__", 0, 0, func(_ *vm.Interp, _ *vm.Instance, b *buffered, _ []vm.Object) (vm.Object, error) {
		n := 176
		if b.ready {
			n += b.size
		}
		return vm.MakeInt(int64(n)), nil
	})
	c.def("__repr__", 0, 0, func(in *vm.Interp, self *vm.Instance, _ *buffered, _ []vm.Object) (vm.Object, error) {
		name, err := nameRepr(in, self)
		if err != nil {
			return nil, err
		}
		if name != "" {
			name = " name=" + name
		}
		return vm.Str(fmt.Sprintf("<%s%s>", self.Class.FullName(), name)), nil
	})
	c.def("seek", 1, 2, func(in *vm.Interp, _ *vm.Instance, b *buffered, a []vm.Object) (v vm.Object, err error) {
		off, whence, err := places(in, a)
		if err != nil {
			return nil, err
		}
		if whence < 0 || whence > 4 {
			return nil, in.Errorf(in.Exc.ValueError, "whence value %d unsupported", whence)
		}
		if err := b.usable(in); err != nil {
			return nil, err
		}
		if closed, err := b.raw.isClosed(in); closed || err != nil {
			if err == nil {
				err = in.Errorf(in.Exc.ValueError, "seek of closed file")
			}
			return nil, err
		}
		if _, isFile := b.raw.own.(*fileIO); !isFile {
			if err := m.require(in, b.raw.obj, "_checkSeekable"); err != nil {
				return nil, err
			}
		}
		err = b.within(in, func() error {
			n, err := b.seek(in, off, whence)
			v = vm.MakeInt(n)
			return err
		})
		return v, err
	})
	c.def("tell", 0, 0, func(in *vm.Interp, _ *vm.Instance, b *buffered, _ []vm.Object) (vm.Object, error) {
		if err := b.usable(in); err != nil {
			return nil, err
		}
		n, err := b.tell(in)
		return vm.MakeInt(n), err
	})
	c.def("flush", 0, 0, func(in *vm.Interp, _ *vm.Instance, b *buffered, _ []vm.Object) (vm.Object, error) {
		if err := b.check(in, "flush"); err != nil {
			return nil, err
		}
		if !b.writable || b.through {
			return in.CallMethod(b.raw.obj, "flush")
		}
		return vm.None, b.within(in, func() error { return b.flush(in) })
	})
	c.def("truncate", 0, 1, func(in *vm.Interp, _ *vm.Instance, b *buffered, a []vm.Object) (v vm.Object, err error) {
		if err := b.check(in, "truncate"); err != nil {
			return nil, err
		}
		if !b.writable {
			return nil, m.noSupport(in, "truncate")
		}
		err = b.within(in, func() error {
			if err := b.flush(in); err != nil {
				return err
			}
			v, err = in.CallMethod(b.raw.obj, "truncate", a...)
			return err
		})
		return v, err
	})
	c.def("close", 0, 0, func(in *vm.Interp, self *vm.Instance, b *buffered, _ []vm.Object) (vm.Object, error) {
		in.Settled(self)
		if err := b.usable(in); err != nil {
			return nil, err
		}
		if closed, err := b.raw.isClosed(in); closed || err != nil {
			return vm.None, err
		}
		_, err := in.CallMethod(self, "flush")
		v, cerr := in.CallMethod(b.raw.obj, "close")
		delete(m.unwritten, b)
		b.rbuf, b.r, b.wbuf = nil, 0, nil
		return v, chained(err, cerr)
	})
	c.def("detach", 0, 0, func(in *vm.Interp, self *vm.Instance, b *buffered, _ []vm.Object) (vm.Object, error) {
		if err := b.usable(in); err != nil {
			return nil, err
		}
		if _, err := in.CallMethod(self, "flush"); err != nil {
			return nil, err
		}
		b.ready, b.detached = false, true
		o := b.raw.obj
		b.raw = raw{}
		return o, nil
	})
}

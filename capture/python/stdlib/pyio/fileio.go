package pyio

import (
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// fileIO is what a FileIO holds: a file descriptor.
type fileIO struct {
	m         *module
	fd        int // -1: closed
	created   bool
	readable  bool
	writable  bool
	appending bool
	closefd   bool
	seekable  int8 // -1 no, 1 yes, 0 nobody knows yet
	block     int  // what the file system likes to read at once
	id        fileIdentity
	cleanup   runtime.Cleanup
}

// fileIdentity is by what the operating system knows a file.
type fileIdentity struct{ dev, ino uint64 }

func identityOf(st *unix.Stat_t) fileIdentity { return fileIdentity{uint64(st.Dev), st.Ino} }

// openMode is what a mode such as "rb+" means.
type openMode struct {
	flags                                  int
	created, readable, writable, appending bool
}

// parseMode reads a mode of FileIO.
func parseMode(in *vm.Interp, mode string) (o openMode, err error) {
	kinds, plus := 0, false
	for _, c := range mode {
		switch c {
		case 'x':
			o.created, o.writable = true, true
			o.flags |= unix.O_EXCL | unix.O_CREAT
		case 'r':
			o.readable = true
		case 'w':
			o.writable = true
			o.flags |= unix.O_CREAT | unix.O_TRUNC
		case 'a':
			o.writable, o.appending = true, true
			o.flags |= unix.O_APPEND | unix.O_CREAT
		case 'b':
			continue
		case '+':
			if plus {
				kinds = 2
			}
			plus = true
			continue
		default:
			return o, in.Errorf(in.Exc.ValueError, "invalid mode: %s", mode)
		}
		kinds++
	}
	if kinds != 1 {
		return o, in.Errorf(in.Exc.ValueError, "Must have exactly one of create/read/write/append mode and at most one plus")
	}
	if plus {
		o.readable, o.writable = true, true
	}
	switch {
	case o.readable && o.writable:
		o.flags |= unix.O_RDWR
	case o.readable:
		o.flags |= unix.O_RDONLY
	default:
		o.flags |= unix.O_WRONLY
	}
	o.flags |= unix.O_CLOEXEC
	return o, nil
}

// again repeats a call that a signal has interrupted, while other threads run.
func again(in *vm.Interp, f func() error) error {
	for {
		err := in.Unlocked(f)
		if err != unix.EINTR {
			return err
		}
		if err := in.Poll(); err != nil {
			return err
		}
	}
}

// osError raises what the operating system said.
func osError(in *vm.Interp, err error, names ...vm.Object) error {
	if _, ok := err.(*vm.Raised); ok {
		return err
	}
	return vm.NewOSError(in, err, names...)
}

// init is FileIO.__init__.
func (f *fileIO) init(c *clinic.Call, self *vm.Instance) error {
	in, name := c.Interp, c.Args[0]
	if f.fd >= 0 {
		if err := f.shut(in); err != nil {
			return err
		}
	}
	fd, path, err := target(in, name)
	if err != nil {
		return err
	}
	mode, err := parseMode(in, c.Str(1))
	if err != nil {
		return err
	}
	f.created, f.readable, f.writable, f.appending, f.seekable = mode.created, mode.readable, mode.writable, mode.appending, 0
	f.closefd = c.Bool(2)
	own := fd < 0
	if own {
		if !f.closefd {
			return in.Errorf(in.Exc.ValueError, "Cannot use closefd=False with file name")
		}
		if fd, err = f.open(c, path, mode); err != nil {
			return err
		}
	}
	if err := f.take(in, fd, self, name); err != nil {
		if own {
			_ = unix.Close(fd)
		}
		f.fd = -1
		return err
	}
	return nil
}

// target is the descriptor or else the path that a file is opened by.
func target(in *vm.Interp, name vm.Object) (fd int, path string, err error) {
	if _, ok := name.(vm.Float); ok {
		return 0, "", in.Errorf(in.Exc.TypeError, "integer argument expected, got float")
	}
	if n, ok := vm.AsInt(name); ok && n == int64(int32(n)) {
		if n < 0 {
			return 0, "", in.Errorf(in.Exc.ValueError, "negative file descriptor")
		}
		return int(n), "", nil
	}
	if path, err = in.FSPath(name); err != nil {
		return 0, "", err
	}
	if strings.IndexByte(path, 0) >= 0 {
		return 0, "", in.Errorf(in.Exc.ValueError, "embedded null byte")
	}
	return -1, path, nil
}

// open opens a path, by the opener if there is one.
func (f *fileIO) open(c *clinic.Call, path string, mode openMode) (fd int, err error) {
	in := c.Interp
	if c.None(3) {
		if !mode.writable {
			f.m.unwritten.collectFor(in, path)
		}
		err = again(in, func() (err error) { fd, err = unix.Open(path, mode.flags, 0o666); return err })
		if err != nil {
			return -1, osError(in, err, c.Args[0])
		}
		return fd, nil
	}
	v, err := in.Call(c.Args[3], []vm.Object{c.Args[0], vm.MakeInt(int64(mode.flags))}, nil)
	if err != nil {
		return -1, err
	}
	n, ok := vm.AsInt(v)
	if !ok {
		return -1, in.Errorf(in.Exc.TypeError, "expected integer from opener")
	}
	if n < 0 {
		return -1, in.Errorf(in.Exc.ValueError, "opener returned %d", n)
	}
	unix.CloseOnExec(int(n))
	return int(n), nil
}

// take makes an open descriptor the object's own.
func (f *fileIO) take(in *vm.Interp, fd int, self *vm.Instance, name vm.Object) error {
	var st unix.Stat_t
	if err := again(in, func() error { return unix.Fstat(fd, &st) }); err != nil {
		return osError(in, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return osError(in, unix.EISDIR, name)
	}
	f.fd, f.id, f.block = fd, identityOf(&st), bufferSize
	if st.Blksize > 1 {
		f.block = int(st.Blksize)
	}
	if err := in.SetAttr(self, "name", name); err != nil {
		return err
	}
	if f.appending {
		if _, err := unix.Seek(fd, 0, 2); err != nil && err != unix.ESPIPE {
			return osError(in, err)
		}
	}
	if f.closefd {
		type left struct {
			fd int
			id fileIdentity
		}
		f.cleanup = runtime.AddCleanup(f, func(l left) {
			var st unix.Stat_t
			if unix.Fstat(l.fd, &st) == nil && identityOf(&st) == l.id {
				_ = unix.Close(l.fd)
			}
		}, left{fd, f.id})
	}
	return nil
}

func (f *fileIO) file() (fileIdentity, bool) { return f.id, f.fd >= 0 }

// shut gives the descriptor back.
func (f *fileIO) shut(in *vm.Interp) error {
	fd := f.fd
	f.fd = -1
	if fd < 0 || !f.closefd {
		return nil
	}
	f.cleanup.Stop()
	if err := in.Unlocked(func() error { return unix.Close(fd) }); err != nil && err != unix.EINTR {
		return osError(in, err)
	}
	return nil
}

// open raises for a closed file.
func (f *fileIO) opened(in *vm.Interp) error {
	if f.fd < 0 {
		return in.Errorf(in.Exc.ValueError, "I/O operation on closed file")
	}
	return nil
}

// may raises unless the file is open for what is wanted.
func (f *fileIO) may(in *vm.Interp, ok bool, what string) error {
	if err := f.opened(in); err != nil {
		return err
	}
	if !ok {
		return f.m.noSupport(in, "File not open for "+what)
	}
	return nil
}

// transfer reads or writes once; -1 if the file would make the program wait and must not.
func (f *fileIO) transfer(in *vm.Interp, p []byte, how func(int, []byte) (int, error)) (n int, err error) {
	n, err = how(f.fd, p)
	if err == unix.EAGAIN {
		return -1, nil
	}
	if err != nil {
		return 0, osError(in, err)
	}
	return n, nil
}

// mostAtOnce is how much Linux transfers with one call.
const mostAtOnce = 0x7ffff000

// readInto implements rawFile, here and below.
func (f *fileIO) readInto(in *vm.Interp, p []byte) (int, error) {
	if err := f.may(in, f.readable, "reading"); err != nil {
		return 0, err
	}
	return f.transfer(in, p[:min(len(p), mostAtOnce)], in.ReadFD)
}

func (f *fileIO) writeFrom(in *vm.Interp, p []byte) (int, error) {
	if err := f.may(in, f.writable, "writing"); err != nil {
		return 0, err
	}
	return f.transfer(in, p[:min(len(p), mostAtOnce)], in.WriteFD)
}

func (f *fileIO) readRest(in *vm.Interp) ([]byte, bool, error) {
	if err := f.may(in, f.readable, "reading"); err != nil {
		return nil, false, err
	}
	room := bufferSize
	var st unix.Stat_t
	if unix.Fstat(f.fd, &st) == nil && st.Size > 0 {
		if at, err := unix.Seek(f.fd, 0, 1); err == nil && at <= st.Size {
			room = int(st.Size-at) + 1
		}
	}
	b := make([]byte, 0, room)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := f.transfer(in, b[len(b):min(cap(b), len(b)+mostAtOnce)], in.ReadFD)
		switch {
		case err != nil:
			return nil, false, err
		case n < 0 && len(b) == 0:
			return nil, false, nil
		case n <= 0:
			return b, true, nil
		}
		b = b[:len(b)+n]
	}
}

func (f *fileIO) seekTo(in *vm.Interp, off int64, whence int) (int64, error) {
	if err := f.opened(in); err != nil {
		return 0, err
	}
	n, err := unix.Seek(f.fd, off, whence)
	if err != nil {
		return 0, osError(in, err)
	}
	return n, nil
}

// canSeek reports whether the file has places.
func (f *fileIO) canSeek() bool {
	if f.seekable == 0 {
		f.seekable = 1
		if _, err := unix.Seek(f.fd, 0, 1); err != nil {
			f.seekable = -1
		}
	}
	return f.seekable > 0
}

// mode is how the file is open.
func (f *fileIO) mode() string {
	kind, plus := "r", ""
	switch {
	case f.created:
		kind = "x"
	case f.appending:
		kind = "a"
	case !f.readable:
		kind = "w"
	}
	if f.readable && f.writable {
		plus = "+"
	}
	return kind + "b" + plus
}

// count is what read and write give: a number, None if there was nothing to do yet.
func count(n int, err error) (vm.Object, error) {
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return vm.None, nil
	}
	return vm.MakeInt(int64(n)), nil
}

// makeFileIO makes FileIO.
func (m *module) makeFileIO(in *vm.Interp) *vm.Type {
	c := newClass(m, "FileIO", m.rawBase, func() *fileIO { return &fileIO{m: m, fd: -1, closefd: true} })
	c.call("__init__", "file, mode:str='r', closefd:bool=True, opener=None", func(c *clinic.Call, self *vm.Instance, f *fileIO) (vm.Object, error) {
		return vm.None, f.init(c, self)
	})
	c.def("close", 0, 0, func(in *vm.Interp, self *vm.Instance, f *fileIO, _ []vm.Object) (vm.Object, error) {
		in.Settled(self)
		_, err := in.Call(m.rawBase.Lookup("close"), []vm.Object{self}, nil)
		return vm.None, chained(err, f.shut(in))
	})
	c.def("fileno", 0, 0, func(in *vm.Interp, _ *vm.Instance, f *fileIO, _ []vm.Object) (vm.Object, error) {
		return vm.MakeInt(int64(f.fd)), f.opened(in)
	})
	for name, is := range map[string]func(f *fileIO) bool{
		"readable": func(f *fileIO) bool { return f.readable }, "writable": func(f *fileIO) bool { return f.writable }, "seekable": (*fileIO).canSeek,
		"isatty": func(f *fileIO) bool { return isTerminal(f.fd) },
	} {
		c.def(name, 0, 0, func(in *vm.Interp, _ *vm.Instance, f *fileIO, _ []vm.Object) (vm.Object, error) {
			if err := f.opened(in); err != nil {
				return nil, err
			}
			return vm.MakeBool(is(f)), nil
		})
	}
	fileTransfers(c)
	c.get("closed", func(_ *vm.Interp, _ *vm.Instance, f *fileIO) (vm.Object, error) { return vm.MakeBool(f.fd < 0), nil })
	c.get("closefd", func(_ *vm.Interp, _ *vm.Instance, f *fileIO) (vm.Object, error) { return vm.MakeBool(f.closefd), nil })
	c.get("mode", func(_ *vm.Interp, _ *vm.Instance, f *fileIO) (vm.Object, error) { return vm.Str(f.mode()), nil })
	c.get("_blksize", func(_ *vm.Interp, _ *vm.Instance, f *fileIO) (vm.Object, error) {
		return vm.MakeInt(int64(f.block)), nil
	})
	c.def("__repr__", 0, 0, func(in *vm.Interp, self *vm.Instance, f *fileIO, _ []vm.Object) (vm.Object, error) {
		if f.fd < 0 {
			return vm.Str("<_io.FileIO [closed]>"), nil
		}
		what := fmt.Sprintf("fd=%d", f.fd)
		name, err := nameRepr(in, self)
		if err != nil {
			return nil, err
		}
		if name != "" {
			what = "name=" + name
		}
		return vm.Str(fmt.Sprintf("<_io.FileIO %s mode='%s' closefd=%s>", what, f.mode(), map[bool]string{true: "True", false: "False"}[f.closefd])), nil
	})
	c.noPickle()
	return in.NewNativeType(c.spec)
}

// fileTransfers are the methods that move data or the place in the file.
func fileTransfers(c *class[*fileIO]) {
	m := c.m
	readAll := func(in *vm.Interp, f *fileIO) (vm.Object, error) {
		b, ok, err := f.readRest(in)
		if err != nil || !ok {
			return vm.None, err
		}
		return ownBytes(b), nil
	}
	c.def("read", 0, 1, func(in *vm.Interp, self *vm.Instance, f *fileIO, a []vm.Object) (vm.Object, error) {
		if err := f.may(in, f.readable, "reading"); err != nil {
			return nil, err
		}
		n, err := size(in, a)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			if self.Class != m.fileIO {
				return in.CallMethod(self, "readall")
			}
			return readAll(in, f)
		}
		b := make([]byte, min(n, mostAtOnce))
		n, err = f.readInto(in, b)
		if err != nil || n < 0 {
			return vm.None, err
		}
		return ownBytes(b[:n]), nil
	})
	c.def("readall", 0, 0, func(in *vm.Interp, _ *vm.Instance, f *fileIO, _ []vm.Object) (vm.Object, error) {
		if err := f.opened(in); err != nil {
			return nil, err
		}
		return readAll(in, f)
	})
	c.def("readinto", 1, 1, func(in *vm.Interp, _ *vm.Instance, f *fileIO, a []vm.Object) (vm.Object, error) {
		b, err := memoryOf(in, a[0], "readinto")
		if err != nil {
			return nil, err
		}
		return count(f.readInto(in, b))
	})
	c.def("write", 1, 1, func(in *vm.Interp, _ *vm.Instance, f *fileIO, a []vm.Object) (vm.Object, error) {
		if err := f.may(in, f.writable, "writing"); err != nil {
			return nil, err
		}
		b, err := bytesOf(in, a[0])
		if err != nil {
			return nil, err
		}
		n, err := f.writeFrom(in, b)
		if err == nil {
			err = in.Poll() // a signal may have cut it short
		}
		return count(n, err)
	})
	c.def("seek", 1, 2, func(in *vm.Interp, _ *vm.Instance, f *fileIO, a []vm.Object) (vm.Object, error) {
		if err := f.opened(in); err != nil {
			return nil, err
		}
		if _, ok := a[0].(vm.Float); ok {
			return nil, in.Errorf(in.Exc.TypeError, "an integer is required")
		}
		off, whence, err := places(in, a)
		if err != nil {
			return nil, err
		}
		n, err := f.seekTo(in, off, whence)
		return vm.MakeInt(n), err
	})
	c.def("tell", 0, 0, func(in *vm.Interp, _ *vm.Instance, f *fileIO, _ []vm.Object) (vm.Object, error) {
		n, err := f.seekTo(in, 0, 1)
		return vm.MakeInt(n), err
	})
	c.def("truncate", 0, 1, func(in *vm.Interp, _ *vm.Instance, f *fileIO, a []vm.Object) (vm.Object, error) {
		if err := f.may(in, f.writable, "writing"); err != nil {
			return nil, err
		}
		var n int64
		var err error
		if len(a) == 0 || a[0] == vm.None {
			n, err = f.seekTo(in, 0, 1)
		} else {
			n, err = offset(in, a[0])
		}
		if err != nil {
			return nil, err
		}
		if err := again(in, func() error { return unix.Ftruncate(f.fd, n) }); err != nil {
			return nil, osError(in, err)
		}
		return vm.MakeInt(n), nil
	})
}

// isTerminal reports whether a descriptor is that of a terminal.
func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// nameRepr is the repr of an object's name, empty if it has none.
func nameRepr(in *vm.Interp, o vm.Object) (string, error) {
	name, err := in.GetAttrOpt(o, "name")
	if isErr(err, in, in.Exc.ValueError) {
		return "", nil
	}
	if err != nil || name == nil {
		return "", err
	}
	text := ""
	ok, err := in.ReprGuard(o, func() (err error) { text, err = in.Repr(name); return err })
	if err == nil && !ok {
		err = in.Errorf(in.Exc.RuntimeError, "reentrant call inside %s.__repr__", o.Type().FullName())
	}
	return text, err
}

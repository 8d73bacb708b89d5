package pyio

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"whittle/capture/python/vm"
)

// stream is a raw object over what is not a file descriptor of its own: the streams of the interpreter.
type stream struct {
	m      *module
	name   string
	read   func(p []byte) (int, error) // nil: not readable
	write  func(p []byte) (int, error) // nil: not writable
	flush  func() error
	file   func() *os.File // what is beneath, nil if that is no file
	data   *bytes.Reader   // what it reads, if that is in memory
	closed bool
}

func (s *stream) check(in *vm.Interp) error {
	if s.closed {
		return in.Errorf(in.Exc.ValueError, "I/O operation on closed file")
	}
	return nil
}

// readInto implements rawFile, here and below.
func (s *stream) readInto(in *vm.Interp, p []byte) (n int, err error) {
	if err := s.check(in); err != nil {
		return 0, err
	}
	if s.read == nil {
		return 0, s.m.noSupport(in, "File not open for reading")
	}
	err = in.Unlocked(func() (err error) { n, err = s.read(p); return err })
	if n > 0 || err == io.EOF || err == nil {
		return n, nil
	}
	return 0, osError(in, err)
}

func (s *stream) writeFrom(in *vm.Interp, p []byte) (int, error) {
	if err := s.check(in); err != nil {
		return 0, err
	}
	if s.write == nil {
		return 0, s.m.noSupport(in, "File not open for writing")
	}
	n, err := s.write(p)
	if err != nil {
		return 0, osError(in, err)
	}
	return n, nil
}

func (s *stream) readRest(in *vm.Interp) (out []byte, ok bool, err error) {
	p := make([]byte, bufferSize)
	for {
		n, err := s.readInto(in, p)
		if n == 0 || err != nil {
			return out, true, err
		}
		out = append(out, p[:n]...)
	}
}

func (s *stream) seekTo(in *vm.Interp, _ int64, _ int) (int64, error) {
	return 0, s.m.noSupport(in, "underlying stream is not seekable")
}

// makeStream makes the class of the standard streams' raw objects.
func (m *module) makeStream(in *vm.Interp) *vm.Type {
	c := newClass(m, "_Stream", m.rawBase, func() *stream { return &stream{m: m} })
	for name, is := range map[string]func(s *stream) bool{
		"readable": func(s *stream) bool { return s.read != nil }, "writable": func(s *stream) bool { return s.write != nil }, "seekable": func(*stream) bool { return false },
		"isatty": func(s *stream) bool { f := s.file(); return f != nil && isTerminal(int(f.Fd())) },
	} {
		c.def(name, 0, 0, func(in *vm.Interp, _ *vm.Instance, s *stream, _ []vm.Object) (vm.Object, error) {
			return vm.MakeBool(is(s)), s.check(in)
		})
	}
	c.def("fileno", 0, 0, func(in *vm.Interp, _ *vm.Instance, s *stream, _ []vm.Object) (vm.Object, error) {
		if err := s.check(in); err != nil {
			return nil, err
		}
		if f := s.file(); f != nil {
			return vm.MakeInt(int64(f.Fd())), nil
		}
		return nil, m.noSupport(in, "fileno")
	})
	c.def("flush", 0, 0, func(in *vm.Interp, _ *vm.Instance, s *stream, _ []vm.Object) (vm.Object, error) {
		if err := s.check(in); err != nil {
			return nil, err
		}
		if err := s.flush(); err != nil {
			return nil, osError(in, err)
		}
		return vm.None, nil
	})
	c.def("close", 0, 0, func(in *vm.Interp, _ *vm.Instance, s *stream, _ []vm.Object) (vm.Object, error) {
		s.closed = true
		if err := s.flush(); err != nil {
			return nil, osError(in, err)
		}
		return vm.None, nil
	})
	c.def("readinto", 1, 1, func(in *vm.Interp, _ *vm.Instance, s *stream, a []vm.Object) (vm.Object, error) {
		p, err := memoryOf(in, a[0], "readinto")
		if err != nil {
			return nil, err
		}
		return count(s.readInto(in, p))
	})
	c.def("write", 1, 1, func(in *vm.Interp, _ *vm.Instance, s *stream, a []vm.Object) (vm.Object, error) {
		p, err := bytesOf(in, a[0])
		if err != nil {
			return nil, err
		}
		return count(s.writeFrom(in, p))
	})
	c.get("closed", func(_ *vm.Interp, _ *vm.Instance, s *stream) (vm.Object, error) { return vm.MakeBool(s.closed), nil })
	c.get("name", func(_ *vm.Interp, _ *vm.Instance, s *stream) (vm.Object, error) { return vm.Str(s.name), nil })
	c.get("mode", func(_ *vm.Interp, _ *vm.Instance, s *stream) (vm.Object, error) { return vm.Str(s.mode()), nil })
	c.get("closefd", func(*vm.Interp, *vm.Instance, *stream) (vm.Object, error) { return vm.False, nil })
	c.def("__repr__", 0, 0, func(in *vm.Interp, _ *vm.Instance, s *stream, _ []vm.Object) (vm.Object, error) {
		return vm.Str(fmt.Sprintf("<_io.FileIO name='%s' mode='%s' closefd=False>", s.name, s.mode())), nil
	})
	c.noPickle()
	return in.NewNativeType(c.spec)
}

func (s *stream) mode() string {
	if s.read != nil {
		return "rb"
	}
	return "wb"
}

// fileOf is the file that a reader or writer is, nil if it is something else.
func fileOf(v any) *os.File {
	f, _ := v.(*os.File)
	return f
}

// textOver is a text file over a stream.
func (m *module) textOver(in *vm.Interp, s *stream, class *vm.Type, o textOptions) (*vm.Instance, error) {
	raw := vm.NewInstance(m.stream, s)
	b := &buffered{m: m, readable: s.read != nil, writable: s.write != nil, through: true}
	buffer := vm.NewInstance(class, b)
	b.setup(buffer, newRaw(m, raw), bufferSize)
	t := &textIO{m: m}
	text := vm.NewInstance(m.text, t)
	if err := t.setup(in, text, buffer, o); err != nil {
		return nil, err
	}
	t.direct = true
	text.AttrDict(true).SetStr("mode", vm.Str(s.mode()[:1]))
	return text, nil
}

// streamEncoding is how the standard streams write characters: in UTF-8 in every locale, but for what PYTHONIOENCODING says. In the locale of C,
// under one of its names, bytes that are no UTF-8 go in and out as they are.
func streamEncoding(getenv func(string) string) (encoding, errors string) {
	encoding, errors, _ = strings.Cut(getenv("PYTHONIOENCODING"), ":")
	if errors == "" {
		errors = "strict"
		if encoding == "" && (getenv("PYTHONUTF8") == "1" || localeOfC(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))) {
			errors = "surrogateescape"
		}
	}
	return cmp.Or(encoding, "utf-8"), errors
}

// localeOfC reports whether a locale is that of C, or one that CPython takes for it.
func localeOfC(name string) bool {
	return slices.Contains([]string{"", "C", "POSIX", "C.UTF-8", "C.utf8", "UTF-8"}, name)
}

// Streams are sys.stdin, sys.stdout and sys.stderr, which read and write the interpreter's own streams.
func Streams(in *vm.Interp) (stdin, stdout, stderr vm.Object, err error) {
	m := of(in)
	none := func() error { return nil }
	universal, _ := newlineOf(in, vm.None)
	encoding, errors := streamEncoding(os.Getenv)
	o := textOptions{encoding: encoding, errors: vm.Str(errors), newline: universal}
	r := &stream{m: m, name: "<stdin>", flush: none, file: func() *os.File { return fileOf(in.Stdin) }, read: func(p []byte) (int, error) { return in.StdinReader().Read(p) }}
	if stdin, err = m.textOver(in, r, m.reader, o); err != nil {
		return nil, nil, nil, err
	}
	w := &stream{m: m, name: "<stdout>", flush: in.Flush, file: func() *os.File { return fileOf(in.Stdout) }, write: in.StdoutWriter().Write}
	o.newline, _ = newlineOf(in, vm.Str("\n"))
	o.lineBuffering = w.file() != nil && isTerminal(int(w.file().Fd()))
	if stdout, err = m.textOver(in, w, m.writer, o); err != nil {
		return nil, nil, nil, err
	}
	if !o.lineBuffering {
		in.Ext[vm.StdoutKey{}] = stdout
	}
	e := &stream{m: m, name: "<stderr>", flush: none, file: func() *os.File { return fileOf(in.Stderr) }, write: func(p []byte) (int, error) {
		_ = in.Flush()
		return in.Stderr.Write(p)
	}}
	o.lineBuffering, o.errors = true, vm.Str("backslashreplace")
	stderr, err = m.textOver(in, e, m.writer, o)
	return stdin, stdout, stderr, err
}

// notPrinted makes print use the methods of sys.stdout from now on, as it is closed or works in another way.
func (m *module) notPrinted(in *vm.Interp, self *vm.Instance) {
	if in.Ext[vm.StdoutKey{}] == vm.Object(self) {
		delete(in.Ext, vm.StdoutKey{})
	}
}

// WriteText implements vm.TextWriter.
func (t *textIO) WriteText(in *vm.Interp, self *vm.Instance, s string) (bool, error) {
	if self.Class != t.m.text || self.Dict != nil && self.Dict.Len() > 1 {
		return false, nil
	}
	if err := t.check(in); err != nil {
		return true, err
	}
	return true, t.write(in, s)
}

// WriteText implements vm.TextWriter.
func (s *stringIO) WriteText(in *vm.Interp, self *vm.Instance, text string) (bool, error) {
	if self.Class != s.m.stringIO || self.Dict != nil {
		return false, nil
	}
	if err := s.check(in); err != nil {
		return true, err
	}
	s.write(in, text)
	return true, nil
}

package vm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"whittle/capture/python/literal"
)

// File is an open file; a text file decodes and encodes UTF-8.
type File struct {
	Name     string
	Mode     string
	Binary   bool
	Encoding string
	Errors   string
	F        *os.File // nil for a stream of the interpreter
	r        *bufio.Reader
	w        *bufio.Writer
	W        io.Writer // a stream of the interpreter
	closed   bool
	Dict     *Dict
	LineBuf  bool
}

// Type implements Object.
func (*File) Type() *Type { return FileType }

// Unread is what a file that is open for reading alone has left, without reading it; ok is false for other files.
func (f *File) Unread() (data []byte, ok bool) {
	if f.F == nil || f.r == nil || f.w != nil || f.closed {
		return nil, false
	}
	at, err := f.F.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, false
	}
	at -= int64(f.r.Buffered())
	end, err := f.F.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, false
	}
	if _, err := f.F.Seek(at+int64(f.r.Buffered()), io.SeekStart); err != nil || end < at {
		return nil, false
	}
	data = make([]byte, end-at)
	if _, err := f.F.ReadAt(data, at); err != nil && err != io.EOF {
		return nil, false
	}
	return data, true
}

// NewUnreadFile is a file of the given name and mode that reads data, and has nothing else behind it.
func NewUnreadFile(name, mode, encoding string, data []byte) *File {
	return &File{Name: name, Mode: mode, Encoding: encoding, Binary: strings.Contains(mode, "b"), r: bufio.NewReader(bytes.NewReader(data))}
}

// AttrDict implements HasDict.
func (f *File) AttrDict(create bool) *Dict {
	if f.Dict == nil && create {
		f.Dict = NewDict()
	}
	return f.Dict
}

// NewWriterFile is a text file that writes to w: sys.stdout and sys.stderr.
func NewWriterFile(name string, w io.Writer) *File {
	return &File{Name: name, Mode: "w", Encoding: "utf-8", Errors: "strict", W: w}
}

// NewReaderFile is a text file that reads from r: sys.stdin.
func NewReaderFile(name string, r *bufio.Reader) *File {
	return &File{Name: name, Mode: "r", Encoding: "utf-8", Errors: "strict", r: r}
}

// OpenFile is open().
func (in *Interp) OpenFile(name Object, mode, enc, errs string) (Object, error) {
	path := ""
	var f *os.File
	binary := strings.Contains(mode, "b")
	flag := 0
	plus := strings.Contains(mode, "+")
	kinds := 0
	for _, c := range mode {
		switch c {
		case 'r':
			kinds++
			flag = os.O_RDONLY
			if plus {
				flag = os.O_RDWR
			}
		case 'w':
			kinds++
			flag = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		case 'a':
			kinds++
			flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
		case 'x':
			kinds++
			flag = os.O_WRONLY | os.O_CREATE | os.O_EXCL
		case 'b', 't', '+':
		default:
			return nil, in.Errorf(in.Exc.ValueError, "invalid mode: '%s'", mode)
		}
	}
	if kinds != 1 {
		return nil, in.Errorf(in.Exc.ValueError, "must have exactly one of create/read/write/append mode")
	}
	if plus {
		flag = flag&^os.O_WRONLY | os.O_RDWR
	}
	if fd, ok := AsInt(name); ok {
		f = os.NewFile(uintptr(fd), itoa(int(fd)))
		path = itoa(int(fd))
	} else {
		var err error
		if path, err = in.FSPath(name); err != nil {
			return nil, err
		}
		if f, err = os.OpenFile(path, flag, 0o666); err != nil {
			return nil, in.OSError(err, path)
		}
		if st, err := f.Stat(); err == nil && st.IsDir() {
			f.Close()
			return nil, in.OSError(&os.PathError{Op: "open", Path: path, Err: errIsDir}, path)
		}
	}
	o := &File{Name: path, Mode: mode, Binary: binary, Encoding: enc, Errors: errs, F: f}
	if strings.ContainsAny(mode, "r+") {
		o.r = bufio.NewReader(f)
	}
	if strings.ContainsAny(mode, "wax+") {
		o.w = bufio.NewWriter(f)
	}
	return o, nil
}

// FSPath is os.fspath for strings.
func (in *Interp) FSPath(o Object) (string, error) {
	if s, ok := AsStr(o); ok {
		return s, nil
	}
	if b, ok := unwrap(o).(Bytes); ok {
		return string(b), nil
	}
	v, ok, err := in.special(o, "__fspath__")
	if err != nil {
		return "", err
	}
	if ok {
		if s, ok := AsStr(v); ok {
			return s, nil
		}
	}
	return "", in.Errorf(in.Exc.TypeError, "expected str, bytes or os.PathLike object, not %s", o.Type().Name)
}

func (f *File) check(in *Interp) error {
	if f.closed {
		return in.Errorf(in.Exc.ValueError, "I/O operation on closed file.")
	}
	return nil
}

// Write writes text or bytes.
func (f *File) Write(in *Interp, s string) error {
	if err := f.check(in); err != nil {
		return err
	}
	var err error
	switch {
	case f.W != nil:
		_, err = io.WriteString(f.W, s)
	case f.w != nil:
		_, err = f.w.WriteString(s)
	default:
		return in.Errorf(in.Exc.OSError, "not writable")
	}
	if err != nil {
		return in.OSError(err, "")
	}
	return nil
}

// Flush flushes what was written.
func (f *File) Flush() error {
	if f.w != nil {
		return f.w.Flush()
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	err := f.Flush()
	if f.F != nil {
		err = errors.Join(err, f.F.Close())
	}
	return err
}

// value is what reading gives: bytes of a binary file, else text, with newlines of all kinds as one.
func (f *File) value(in *Interp, b []byte) (Object, error) {
	if f.Binary {
		return Bytes(b), nil
	}
	errs := f.Errors
	if errs == "" {
		errs = "strict"
	}
	enc := f.Encoding
	if enc == "" {
		enc = "utf-8"
	}
	s, err := decodeText(in, b, enc, errs)
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return Str(s), err
}

// readLine reads up to a newline, which it includes; at the end of the file the line is empty.
func (f *File) readLine(in *Interp) (Object, error) {
	if err := f.check(in); err != nil {
		return nil, err
	}
	if f.r == nil {
		return nil, in.Errorf(in.Exc.OSError, "not readable")
	}
	b, err := f.r.ReadBytes('\n')
	if err != nil && err != io.EOF {
		return nil, in.OSError(err, "")
	}
	return f.value(in, b)
}

// Next gives the next line.
func (f *File) Next(in *Interp) (Object, error) {
	v, err := f.readLine(in)
	if err != nil {
		return nil, err
	}
	if t, _ := in.Truth(v); !t {
		return nil, nil
	}
	return v, nil
}

// initFile gives files their methods.
func initFile() {
	t := FileType
	t.HasDict = true
	m := func(name string, lo, hi int, fn func(in *Interp, f *File, args []Object) (Object, error)) {
		addMethod(t, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			f, ok := args[0].(*File)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "not a file")
			}
			return fn(in, f, args[1:])
		})
	}
	m("__enter__", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) { return f, f.check(in) })
	m("__exit__", 0, 3, func(in *Interp, f *File, _ []Object) (Object, error) {
		if err := f.Close(); err != nil {
			return nil, in.OSError(err, "")
		}
		return None, nil
	})
	m("__iter__", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) { return f, nil })
	m("__next__", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) {
		v, err := f.Next(in)
		if v == nil && err == nil {
			err = in.stopIteration(None)
		}
		return v, err
	})
	m("read", 0, 1, func(in *Interp, f *File, args []Object) (Object, error) {
		if err := f.check(in); err != nil {
			return nil, err
		}
		if f.r == nil {
			return nil, in.Errorf(in.Exc.OSError, "not readable")
		}
		n := int64(-1)
		if len(args) > 0 && args[0] != None {
			var err error
			if n, err = in.Index(args[0]); err != nil {
				return nil, err
			}
		}
		var b []byte
		var err error
		switch {
		case n < 0:
			b, err = io.ReadAll(f.r)
		case f.Binary:
			b = make([]byte, n)
			var k int
			k, err = io.ReadFull(f.r, b)
			b = b[:k]
		default:
			for ; n > 0; n-- {
				r, w, e := f.r.ReadRune()
				if e != nil {
					break
				}
				if r == 0xfffd && w == 1 {
					_ = f.r.UnreadRune()
					c, _ := f.r.ReadByte()
					b = append(b, c)
					continue
				}
				b = append(b, string(r)...)
			}
		}
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, in.OSError(err, f.Name)
		}
		return f.value(in, b)
	})
	m("readline", 0, 1, func(in *Interp, f *File, _ []Object) (Object, error) { return f.readLine(in) })
	m("readlines", 0, 1, func(in *Interp, f *File, _ []Object) (Object, error) {
		l := &List{}
		for {
			v, err := f.Next(in)
			if err != nil {
				return nil, err
			}
			if v == nil {
				return l, nil
			}
			l.Items = append(l.Items, v)
		}
	})
	m("write", 1, 1, func(in *Interp, f *File, args []Object) (Object, error) {
		if f.Binary {
			b, ok := bytesOf(args[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", args[0].Type().Name)
			}
			return MakeInt(int64(len(b))), f.Write(in, string(b))
		}
		s, ok := AsStr(args[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "write() argument must be str, not %s", args[0].Type().Name)
		}
		return MakeInt(int64(strLen(s))), f.Write(in, s)
	})
	m("writelines", 1, 1, func(in *Interp, f *File, args []Object) (Object, error) {
		items, err := in.IterAll(args[0])
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			if _, err := in.CallMethod(f, "write", it); err != nil {
				return nil, err
			}
		}
		return None, nil
	})
	m("flush", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) {
		err := f.Flush()
		if f.W != nil {
			if fl, ok := f.W.(interface{ Flush() error }); ok {
				err = fl.Flush()
			}
		}
		if err != nil {
			return nil, in.OSError(err, "")
		}
		return None, nil
	})
	m("close", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) {
		if err := f.Close(); err != nil {
			return nil, in.OSError(err, "")
		}
		return None, nil
	})
	m("fileno", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) {
		if f.F != nil {
			return MakeInt(int64(f.F.Fd())), nil
		}
		n := map[string]int64{"<stdin>": 0, "<stdout>": 1, "<stderr>": 2}
		return MakeInt(n[f.Name]), nil
	})
	m("isatty", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) { return False, nil })
	m("readable", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) { return MakeBool(f.r != nil), nil })
	m("writable", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) { return MakeBool(f.w != nil || f.W != nil), nil })
	m("seekable", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) { return MakeBool(f.F != nil), nil })
	m("reconfigure", 0, -1, func(in *Interp, f *File, _ []Object) (Object, error) { return None, nil })
	m("seek", 1, 2, func(in *Interp, f *File, args []Object) (Object, error) {
		if f.F == nil {
			return nil, in.Errorf(in.Exc.OSError, "underlying stream is not seekable")
		}
		off, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		whence := 0
		if len(args) > 1 {
			w, _ := AsInt(args[1])
			whence = int(w)
		}
		_ = f.Flush()
		if whence == 1 && f.r != nil {
			off -= int64(f.r.Buffered())
		}
		n, e := f.F.Seek(off, whence)
		if e != nil {
			return nil, in.OSError(e, "")
		}
		if f.r != nil {
			f.r.Reset(f.F)
		}
		return MakeInt(n), nil
	})
	m("tell", 0, 0, func(in *Interp, f *File, _ []Object) (Object, error) {
		if f.F == nil {
			return nil, in.Errorf(in.Exc.OSError, "underlying stream is not seekable")
		}
		_ = f.Flush()
		n, e := f.F.Seek(0, 1)
		if e != nil {
			return nil, in.OSError(e, "")
		}
		if f.r != nil {
			n -= int64(f.r.Buffered())
		}
		return MakeInt(n), nil
	})
	m("truncate", 0, 1, func(in *Interp, f *File, args []Object) (Object, error) {
		_ = f.Flush()
		n := int64(0)
		if len(args) > 0 {
			n, _ = AsInt(args[0])
		} else {
			n, _ = f.F.Seek(0, 1)
		}
		if err := f.F.Truncate(n); err != nil {
			return nil, in.OSError(err, "")
		}
		return MakeInt(n), nil
	})
	g := func(name string, get func(f *File) Object) {
		addGetSet(t, name, func(in *Interp, o Object) (Object, error) { return get(o.(*File)), nil }, nil)
	}
	g("name", func(f *File) Object { return Str(f.Name) })
	g("mode", func(f *File) Object { return Str(f.Mode) })
	g("closed", func(f *File) Object { return MakeBool(f.closed) })
	g("encoding", func(f *File) Object { return Str(f.Encoding) })
	g("errors", func(f *File) Object { return Str(f.Errors) })
	g("newlines", func(f *File) Object { return None })
	g("buffer", func(f *File) Object {
		b := *f
		b.Binary = true
		return &b
	})
	addMethod(t, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		f := args[0].(*File)
		return Str("<_io.TextIOWrapper name=" + literal.Str(f.Name) + " mode=" + literal.Str(f.Mode) + " encoding='utf-8'>"), nil
	})
}

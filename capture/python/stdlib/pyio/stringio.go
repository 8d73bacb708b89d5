package pyio

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// validText reports whether a text has no surrogates.
func validText(s string) bool { return wtf8.Valid(s) }

// chars counts the characters of a text.
func chars(s string) int { return wtf8.RuneCountInString(s) }

// skip is the length in bytes of the first n characters of a text, of all of it if it has fewer, and how many they are.
func skip(s string, n int) (off, k int) {
	for b := textBytes(s); off+8 <= len(b) && k+8 <= n && binary.LittleEndian.Uint64(b[off:])&0x8080808080808080 == 0; off, k = off+8, k+8 {
	}
	for off < len(s) && k < n {
		if s[off] < utf8.RuneSelf {
			off++
		} else {
			_, w := wtf8.DecodeRuneInString(s[off:])
			off += w
		}
		k++
	}
	return off, k
}

// stringIO is what a StringIO holds. Places are counted in characters.
type stringIO struct {
	m       *module
	text    []byte
	n       int // characters
	pos     int
	off     int // where pos lies in text; its end if pos is behind that
	newline newlineMode
	decoder *newlineDecoder // for newlines of all kinds
	closed  bool
	ready   bool
	shared  bool // a str has the memory, too
}

func (s *stringIO) check(in *vm.Interp) error {
	switch {
	case !s.ready:
		return in.Errorf(in.Exc.ValueError, "I/O operation on uninitialized object")
	case s.closed:
		return in.Errorf(in.Exc.ValueError, "I/O operation on closed file")
	}
	return nil
}

// move goes to a place.
func (s *stringIO) move(pos int) {
	s.pos = pos
	switch {
	case pos >= s.n:
		s.off = len(s.text)
	case s.n == len(s.text):
		s.off = pos
	default:
		s.off, _ = skip(ownText(s.text), pos)
	}
}

// write puts text at the place, with its newlines as newline= says.
func (s *stringIO) write(in *vm.Interp, t string) {
	if s.decoder != nil {
		t = s.decoder.text(t, true)
	}
	if s.newline.write != "" {
		t = strings.ReplaceAll(t, "\n", s.newline.write)
	}
	s.put(t)
}

// put puts text at the place.
func (s *stringIO) put(t string) {
	k := chars(t)
	if k == 0 {
		return
	}
	if s.pos < s.n {
		n, over := skip(ownText(s.text[s.off:]), k)
		if s.shared || n != len(t) {
			out := make([]byte, 0, len(s.text)+len(t)-n)
			out = append(append(out, s.text[:s.off]...), t...)
			s.text, s.shared = append(out, s.text[s.off+n:]...), false
		} else {
			copy(s.text[s.off:], t)
		}
		s.n += k - over
	} else {
		// A str that was given ends before what is added.
		for ; s.n < s.pos; s.n++ {
			s.text = append(s.text, 0)
		}
		s.text = append(s.text, t...)
		s.n += k
		s.off = len(s.text) - len(t)
	}
	s.pos += k
	s.off += len(t)
}

// rest is the text behind the place.
func (s *stringIO) rest() string {
	if s.pos >= s.n {
		return ""
	}
	s.shared = true
	return ownText(s.text[s.off:])
}

// take gives the first bytes of the rest.
func (s *stringIO) take(t string) vm.Object {
	if s.n == len(s.text) {
		s.pos += len(t)
	} else {
		s.pos += chars(t)
	}
	s.off += len(t)
	return vm.Str(t)
}

// read takes at most n characters, all for a negative n.
func (s *stringIO) read(n int) vm.Object {
	t := s.rest()
	if n >= 0 && n < len(t) {
		i := n
		if s.n != len(s.text) {
			i, _ = skip(t, n)
		}
		t = t[:i]
	}
	return s.take(t)
}

// line takes the next line, of at most n characters.
func (s *stringIO) line(n int) vm.Object {
	t := s.rest()
	if i := s.newline.lineEnd(t); i > 0 {
		t = t[:i]
	}
	if n >= 0 && n < len(t) {
		i, _ := skip(t, n)
		t = t[:i]
	}
	return s.take(t)
}

// init sets newline= and the content.
func (s *stringIO) init(in *vm.Interp, newline vm.Object) error {
	n, err := newlineOf(in, newline)
	if err != nil {
		return err
	}
	*s = stringIO{m: s.m, newline: n, ready: true}
	if n.universal {
		s.decoder = &newlineDecoder{translate: n.translate}
	}
	return nil
}

// makeStringIO makes StringIO.
func (m *module) makeStringIO(in *vm.Interp) *vm.Type {
	c := newClass(m, "StringIO", m.textBase, func() *stringIO { return &stringIO{m: m} })
	c.call("__init__", "initial_value='', newline='\n'", func(c *clinic.Call, _ *vm.Instance, s *stringIO) (vm.Object, error) {
		t, ok := vm.AsStr(c.Args[0])
		if !ok && c.Args[0] != vm.None {
			return nil, c.Errorf(c.Exc.TypeError, "initial_value must be str or None, not %s", vm.TypeName(c.Args[0]))
		}
		if err := s.init(c.Interp, c.Args[1]); err != nil {
			return nil, err
		}
		s.write(c.Interp, t)
		s.move(0)
		return vm.None, nil
	})
	open := func(name string, lo, hi int, f func(s *stringIO, in *vm.Interp, a []vm.Object) (vm.Object, error)) {
		c.def(name, lo, hi, func(in *vm.Interp, _ *vm.Instance, s *stringIO, a []vm.Object) (vm.Object, error) {
			if err := s.check(in); err != nil {
				return nil, err
			}
			return f(s, in, a)
		})
	}
	for _, name := range []string{"readable", "writable", "seekable"} {
		open(name, 0, 0, func(*stringIO, *vm.Interp, []vm.Object) (vm.Object, error) { return vm.True, nil })
	}
	open("read", 0, 1, func(s *stringIO, in *vm.Interp, a []vm.Object) (vm.Object, error) {
		n, err := size(in, a)
		if err != nil {
			return nil, err
		}
		return s.read(n), nil
	})
	open("readline", 0, 1, func(s *stringIO, in *vm.Interp, a []vm.Object) (vm.Object, error) {
		n, err := size(in, a)
		if err != nil {
			return nil, err
		}
		return s.line(n), nil
	})
	open("write", 1, 1, func(s *stringIO, in *vm.Interp, a []vm.Object) (vm.Object, error) {
		t, ok := vm.AsStr(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "string argument expected, got '%s'", vm.TypeName(a[0]))
		}
		s.write(in, t)
		return vm.MakeInt(int64(chars(t))), nil
	})
	open("tell", 0, 0, func(s *stringIO, _ *vm.Interp, _ []vm.Object) (vm.Object, error) {
		return vm.MakeInt(int64(s.pos)), nil
	})
	open("seek", 1, 2, (*stringIO).seek)
	open("truncate", 0, 1, (*stringIO).truncate)
	open("getvalue", 0, 0, func(s *stringIO, _ *vm.Interp, _ []vm.Object) (vm.Object, error) {
		s.shared = true
		return vm.Str(ownText(s.text)), nil
	})
	c.def("close", 0, 0, func(_ *vm.Interp, _ *vm.Instance, s *stringIO, _ []vm.Object) (vm.Object, error) {
		s.closed, s.text, s.n = true, nil, 0
		return vm.None, nil
	})
	nextLine(c, vm.Str(""), "str", func(self *vm.Instance, s *stringIO) bool { return self.Class == m.stringIO }, func(in *vm.Interp, s *stringIO) (vm.Object, error) { return s.nextLine(in) })
	c.get("closed", func(in *vm.Interp, _ *vm.Instance, s *stringIO) (vm.Object, error) {
		if !s.ready {
			return nil, s.check(in)
		}
		return vm.MakeBool(s.closed), nil
	})
	c.get("line_buffering", func(in *vm.Interp, _ *vm.Instance, s *stringIO) (vm.Object, error) { return vm.False, s.check(in) })
	c.get("newlines", func(in *vm.Interp, _ *vm.Instance, s *stringIO) (vm.Object, error) {
		if err := s.check(in); err != nil || s.decoder == nil {
			return vm.None, err
		}
		return s.decoder.newlines(in)
	})
	stringState(c)
	return in.NewNativeType(c.spec)
}

func (s *stringIO) seek(in *vm.Interp, a []vm.Object) (vm.Object, error) {
	off, whence, err := places(in, a)
	if err != nil {
		return nil, err
	}
	switch {
	case whence < 0 || whence > 2:
		return nil, in.Errorf(in.Exc.ValueError, "Invalid whence (%d, should be 0, 1 or 2)", whence)
	case whence == 0 && off < 0:
		return nil, in.Errorf(in.Exc.ValueError, "Negative seek position %d", off)
	case whence != 0 && off != 0:
		return nil, in.Errorf(in.Exc.OSError, "Can't do nonzero cur-relative seeks")
	case whence == 0:
		s.move(int(off))
	case whence == 2:
		s.move(s.n)
	}
	return vm.MakeInt(int64(s.pos)), nil
}

func (s *stringIO) truncate(in *vm.Interp, a []vm.Object) (vm.Object, error) {
	n := s.pos
	if len(a) > 0 && a[0] != vm.None {
		var err error
		if n, err = size(in, a); err != nil {
			return nil, err
		}
	}
	if n < 0 {
		return nil, in.Errorf(in.Exc.ValueError, "Negative size value %d", n)
	}
	if n < s.n {
		off, _ := skip(ownText(s.text), n)
		s.text, s.n, s.shared = append(make([]byte, 0, off), s.text[:off]...), n, false
		s.move(s.pos)
	}
	return vm.MakeInt(int64(n)), nil
}

// stringState is what pickling writes and reads: the content, newline=, the place, the attributes.
func stringState(c *class[*stringIO]) {
	c.def("__getstate__", 0, 0, func(in *vm.Interp, self *vm.Instance, s *stringIO, _ []vm.Object) (vm.Object, error) {
		if err := s.check(in); err != nil {
			return nil, err
		}
		return vm.NewTuple(vm.Str(s.text), s.newline.given, vm.MakeInt(int64(s.pos)), attributes(self)), nil
	})
	c.def("__setstate__", 1, 1, func(in *vm.Interp, self *vm.Instance, s *stringIO, a []vm.Object) (vm.Object, error) {
		if s.closed {
			return nil, s.check(in)
		}
		t, ok := vm.AsTuple(a[0])
		if !ok || len(t.Items) < 4 {
			return nil, in.Errorf(in.Exc.TypeError, "%s.__setstate__ argument should be 4-tuple, got %s", self.Class.FullName(), vm.TypeName(a[0]))
		}
		text, ok := vm.AsStr(t.Items[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "initial_value must be str or None, not %s", vm.TypeName(t.Items[0]))
		}
		if err := s.init(in, t.Items[1]); err != nil {
			return nil, err
		}
		s.put(text)
		pos, err := statePosition(in, "third", t.Items[2])
		if err != nil {
			return nil, err
		}
		s.move(pos)
		return vm.None, setAttributes(in, self, "fourth", t.Items[3])
	})
}

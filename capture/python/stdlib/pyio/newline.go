package pyio

import (
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// newlineMode is what newline= says of a text file.
type newlineMode struct {
	given     vm.Object // as it was given
	read      string    // what ends a line
	universal bool      // \n, \r and \r\n end a line
	translate bool      // all of them are read as \n
	write     string    // what \n is written as; "" for itself
}

// newlineOf reads newline=.
func newlineOf(in *vm.Interp, o vm.Object) (n newlineMode, err error) {
	n.given = o
	if o == vm.None {
		n.universal, n.translate = true, true
		return n, nil
	}
	s, ok := vm.AsStr(o)
	if !ok {
		return n, in.Errorf(in.Exc.TypeError, "newline must be str or None, not %s", vm.TypeName(o))
	}
	switch s {
	case "":
		n.universal = true
	case "\n":
		n.read = s
	case "\r", "\r\n":
		n.read, n.write = s, s
	default:
		r, err := in.Repr(o)
		if err != nil {
			return n, err
		}
		return n, in.Errorf(in.Exc.ValueError, "illegal newline value: %s", r)
	}
	return n, nil
}

// lineEnd finds the end of the first line of s, 0 if it does not end in s.
func (n *newlineMode) lineEnd(s string) int {
	switch {
	case n.translate:
		return strings.IndexByte(s, '\n') + 1
	case n.universal:
		i := strings.IndexAny(s, "\r\n")
		if i >= 0 && s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
			i++
		}
		return i + 1
	}
	if i := strings.Index(s, n.read); i >= 0 {
		return i + len(n.read)
	}
	return 0
}

// The kinds of newlines that a decoder has seen.
const (
	seenCR = 1 << iota
	seenLF
	seenCRLF
)

// newlineDecoder finds the newlines of all kinds in what another decoder gives, and may make them all \n.
type newlineDecoder struct {
	inner     decoder // nil: text comes as it is
	translate bool
	pendingCR bool // a \r was the last character: what follows it says what it is
	seen      int
}

// text is one step: it takes a part of the text. Only at the end is a \r at the end of the part given.
func (d *newlineDecoder) text(s string, final bool) string {
	if d.pendingCR && (final || s != "") {
		s = "\r" + s
		d.pendingCR = false
	}
	if !final && strings.HasSuffix(s, "\r") {
		s = s[:len(s)-1]
		d.pendingCR = true
	}
	if strings.IndexByte(s, '\r') < 0 {
		if d.seen&seenLF == 0 && strings.IndexByte(s, '\n') >= 0 {
			d.seen |= seenLF
		}
		return s
	}
	crlf := strings.Count(s, "\r\n")
	if crlf > 0 {
		d.seen |= seenCRLF
	}
	if strings.Count(s, "\r") > crlf {
		d.seen |= seenCR
	}
	if strings.Count(s, "\n") > crlf {
		d.seen |= seenLF
	}
	if d.translate {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return s
}

// decode implements decoder, here and below.
func (d *newlineDecoder) decode(in *vm.Interp, b []byte, final bool) (string, error) {
	s, err := d.inner.decode(in, b, final)
	if err != nil {
		return "", err
	}
	return d.text(s, final), nil
}

func (d *newlineDecoder) state(in *vm.Interp) (rest []byte, flags int64, err error) {
	if d.inner != nil {
		if rest, flags, err = d.inner.state(in); err != nil {
			return nil, 0, err
		}
	}
	flags <<= 1
	if d.pendingCR {
		flags |= 1
	}
	return rest, flags, nil
}

func (d *newlineDecoder) setState(in *vm.Interp, rest []byte, flags int64) error {
	d.pendingCR = flags&1 != 0
	if d.inner == nil {
		return nil
	}
	return d.inner.setState(in, rest, flags>>1)
}

func (d *newlineDecoder) reset(in *vm.Interp) error {
	d.seen, d.pendingCR = 0, false
	if d.inner == nil {
		return nil
	}
	return d.inner.reset(in)
}

// newlines are the kinds that were seen: None, one, or a tuple.
func (d *newlineDecoder) newlines(*vm.Interp) (vm.Object, error) {
	var out []vm.Object
	for bit, s := range map[int]string{seenCR: "\r", seenLF: "\n", seenCRLF: "\r\n"} {
		if d.seen == bit {
			return vm.Str(s), nil
		}
	}
	for i, s := range []string{"\r", "\n", "\r\n"} {
		if d.seen&(1<<i) != 0 {
			out = append(out, vm.Str(s))
		}
	}
	if len(out) == 0 {
		return vm.None, nil
	}
	return vm.NewTuple(out...), nil
}

// makeNewlines makes IncrementalNewlineDecoder.
func (m *module) makeNewlines(in *vm.Interp) *vm.Type {
	type holder struct {
		*newlineDecoder
		outer vm.Object // the decoder that it stands on, None for text
	}
	c := newClass(m, "IncrementalNewlineDecoder", vm.ObjectType, func() *holder { return &holder{} })
	ready := func(in *vm.Interp, h *holder) error {
		if h.newlineDecoder == nil {
			return in.Errorf(in.Exc.ValueError, "IncrementalNewlineDecoder.__init__() not called")
		}
		return nil
	}
	c.call("__init__", "decoder, translate:bool, errors='strict'", func(c *clinic.Call, _ *vm.Instance, h *holder) (vm.Object, error) {
		h.outer, h.newlineDecoder = c.Args[0], &newlineDecoder{translate: c.Bool(1)}
		if h.outer != vm.None {
			h.inner = pyDecoder{h.outer}
		}
		return vm.None, nil
	})
	c.call("decode", "input, final:bool=False", func(c *clinic.Call, _ *vm.Instance, h *holder) (vm.Object, error) {
		if err := ready(c.Interp, h); err != nil {
			return nil, err
		}
		v := c.Args[0]
		if h.outer != vm.None {
			var err error
			if v, err = c.CallMethod(h.outer, "decode", v, vm.MakeBool(c.Bool(1))); err != nil {
				return nil, err
			}
		}
		s, ok := vm.AsStr(v)
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "decoder should return a string result, not '%s'", vm.TypeName(v))
		}
		return vm.Str(h.text(s, c.Bool(1))), nil
	})
	c.def("getstate", 0, 0, func(in *vm.Interp, _ *vm.Instance, h *holder, _ []vm.Object) (vm.Object, error) {
		if err := ready(in, h); err != nil {
			return nil, err
		}
		rest, flags, err := h.state(in)
		if err != nil {
			return nil, err
		}
		return vm.NewTuple(vm.Bytes(rest), vm.MakeInt(flags)), nil
	})
	c.def("setstate", 1, 1, func(in *vm.Interp, _ *vm.Instance, h *holder, a []vm.Object) (vm.Object, error) {
		if err := ready(in, h); err != nil {
			return nil, err
		}
		t, ok := a[0].(*vm.Tuple)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "state argument must be a tuple")
		}
		rest, flags, err := decoderState(in, t, "setstate(): illegal state argument")
		if err != nil {
			return nil, err
		}
		return vm.None, h.setState(in, rest, flags)
	})
	c.def("reset", 0, 0, func(in *vm.Interp, _ *vm.Instance, h *holder, _ []vm.Object) (vm.Object, error) {
		if err := ready(in, h); err != nil {
			return nil, err
		}
		return vm.None, h.reset(in)
	})
	c.get("newlines", func(in *vm.Interp, _ *vm.Instance, h *holder) (vm.Object, error) {
		if err := ready(in, h); err != nil {
			return nil, err
		}
		return h.newlines(in)
	})
	return in.NewNativeType(c.spec)
}

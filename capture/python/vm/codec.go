package vm

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/literal"
	"whittle/capture/python/wtf8"
)

// Codecs are the encodings and the handlers of errors that a program has registered, by name.
type Codecs struct {
	// LookupCodec finds the encoder and the decoder of an encoding that is not built in: codecs.lookup, once module _codecs is there. instead
	// is the function that is for encodings of other things than text.
	LookupCodec func(name, instead string) (encode, decode Object, err error)
	// ErrorHandler finds a handler of errors that is not built in, nil if there is none.
	ErrorHandler func(name string) Object
}

// A codec is an encoding that the interpreter has itself.
type codec struct {
	name   string // as errors show it
	encode func(e *encoder)
	decode func(d *decoder)
}

// codecNames are the built-in encodings by their names, without dashes, spaces and underlines.
var codecNames map[string]*codec

func init() {
	rows := []struct {
		names string
		codec *codec
	}{
		{"utf8 u8 utf cp65001 utf8ucs2 utf8ucs4", &codec{"utf-8", encodeUTF8, decodeUTF8}},
		{"ascii 646 usascii", &codec{"ascii", encodeBytes(128, "ordinal not in range(128)"), decodeASCII}},
		{"latin1 iso88591 8859 cp819 latin l1 iso8859", &codec{"latin-1", encodeBytes(256, "ordinal not in range(256)"), decodeLatin1}},
		{"utf16 u16", &codec{"utf-16", encodeWide(2, littleMark), decodeWide(2, byMark)}},
		{"utf16le", &codec{"utf-16-le", encodeWide(2, littleEndian), decodeWide(2, littleEndian)}},
		{"utf16be", &codec{"utf-16-be", encodeWide(2, bigEndian), decodeWide(2, bigEndian)}},
		{"utf32 u32", &codec{"utf-32", encodeWide(4, littleMark), decodeWide(4, byMark)}},
		{"utf32le", &codec{"utf-32-le", encodeWide(4, littleEndian), decodeWide(4, littleEndian)}},
		{"utf32be", &codec{"utf-32-be", encodeWide(4, bigEndian), decodeWide(4, bigEndian)}},
	}
	codecNames = map[string]*codec{}
	for _, r := range rows {
		for _, n := range strings.Fields(r.names) {
			codecNames[n] = r.codec
		}
	}
}

var looseName = strings.NewReplacer("-", "", "_", "", " ", "")

// builtinCodec finds a built-in encoding.
func builtinCodec(name string) *codec {
	if c := codecNames[name]; c != nil {
		return c
	}
	return codecNames[looseName.Replace(strings.ToLower(name))]
}

// Encode turns text into bytes of an encoding; errs says what becomes of characters that it does not have.
func (in *Interp) Encode(s, enc, errs string) ([]byte, error) {
	c := builtinCodec(enc)
	if c == nil {
		return in.encodeBy(s, enc, errs)
	}
	e := &encoder{in: in, name: c.name, text: s, errors: errs, runes: nil}
	if c.name == "utf-8" && wtf8.Valid(s) {
		return []byte(s), nil
	}
	e.runes = wtf8.Runes(s)
	c.encode(e)
	return e.out, e.err
}

// Decode turns bytes of an encoding into text.
func (in *Interp) Decode(b []byte, enc, errs string) (string, error) {
	c := builtinCodec(enc)
	if c == nil {
		return in.decodeBy(b, enc, errs)
	}
	s, _, err := in.decodeWith(c, b, errs, true)
	return s, err
}

// decodeWith runs a built-in decoder. Unless the bytes are final, what may go on is left: used says how many were read.
func (in *Interp) decodeWith(c *codec, b []byte, errs string, final bool) (s string, used int, err error) {
	if c.name == "utf-8" && utf8.Valid(b) {
		return string(b), len(b), nil
	}
	d := &decoder{in: in, name: c.name, data: b, errors: errs, final: final}
	c.decode(d)
	if used = d.pos; final { // a handler may have replaced the bytes
		used = len(b)
	}
	return d.out.String(), used, d.err
}

// DecodePart is Decode for bytes of which more may follow: it reads as far as it can and says how far that is. The encoding must be a
// built-in one.
func (in *Interp) DecodePart(b []byte, enc, errs string, final bool) (string, int, error) {
	return in.decodeWith(builtinCodec(enc), b, errs, final)
}

// foreign finds an encoding that is not built in.
func (in *Interp) foreign(name, instead string) (encode, decode Object, err error) {
	if in.LookupCodec == nil {
		if _, err := in.Import("_codecs"); err != nil {
			return nil, nil, in.Errorf(in.Exc.LookupError, "unknown encoding: %s", name)
		}
	}
	return in.LookupCodec(name, instead)
}

// encodeBy encodes by a codec of a program's, or of the library's package encodings.
func (in *Interp) encodeBy(s, enc, errs string) ([]byte, error) {
	encode, _, err := in.foreign(enc, "codecs.encode()")
	if err != nil {
		return nil, err
	}
	v, err := in.Call(encode, []Object{Str(s), Str(errs)}, nil)
	if err != nil {
		return nil, in.CodecFailed(err, "encoding", enc)
	}
	t, ok := AsTuple(v)
	if !ok || len(t.Items) != 2 {
		return nil, in.Errorf(in.Exc.TypeError, "encoder must return a tuple (object, integer)")
	}
	b, ok := AsBytes(t.Items[0])
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "'%s' encoder returned '%s' instead of 'bytes'; use codecs.encode() to encode to arbitrary types", enc, TypeName(t.Items[0]))
	}
	return b, nil
}

// decodeBy decodes in the same way.
func (in *Interp) decodeBy(b []byte, enc, errs string) (string, error) {
	_, decode, err := in.foreign(enc, "codecs.decode()")
	if err != nil {
		return "", err
	}
	v, err := in.Call(decode, []Object{Bytes(b), Str(errs)}, nil)
	if err != nil {
		return "", in.CodecFailed(err, "decoding", enc)
	}
	t, ok := AsTuple(v)
	if !ok || len(t.Items) != 2 {
		return "", in.Errorf(in.Exc.TypeError, "decoder must return a tuple (object,integer)")
	}
	s, ok := AsStr(t.Items[0])
	if !ok {
		return "", in.Errorf(in.Exc.TypeError, "'%s' decoder returned '%s' instead of 'str'; use codecs.decode() to decode to arbitrary types", enc, TypeName(t.Items[0]))
	}
	return s, nil
}

// CodecFailed is the error of a codec that is not built in, told with the codec's name: an exception of the same class, whose cause is the one
// that was raised. One that has more to it than a message stays as it is.
func (in *Interp) CodecFailed(err error, doing, enc string) error {
	r, ok := errors.AsType[*Raised](err)
	if !ok {
		return err
	}
	e := r.Exc
	plain := e.Fields == nil && (e.Dict == nil || e.Dict.Len() == 0) && e.Class.Lookup("__init__") == excInitBuiltin && len(e.Args.Items) < 2
	if !plain || len(e.Args.Items) == 1 && e.Args.Items[0].Type() != StrType {
		return err
	}
	f, ok := errors.AsType[*Raised](in.Errorf(e.Class, "%s with '%s' codec failed (%s)", doing, enc, strings.TrimSuffix(e.Class.Name+": "+e.message(), ": ")))
	if ok {
		f.Exc.Cause, f.Exc.Suppress, f.Exc.Context = e, true, e
		return f
	}
	return err
}

// An encoder is an encoding under way. After an error nothing more is written.
type encoder struct {
	in     *Interp
	name   string
	text   string
	errors string
	unit   int // how many bytes a character takes at least
	runes  []rune
	out    []byte
	err    error
}

// fail is told of characters from i to end that the encoding lacks. It gives what takes their place, as bytes or as text that is still to be
// encoded, and where to go on.
func (e *encoder) fail(i, end int, why string) (raw []byte, text string, next int) {
	bad := e.runes[i:end]
	var sb strings.Builder
	switch e.errors {
	case "strict", "":
		e.err = e.raise(i, end, why)
		return nil, "", end
	case "ignore":
		return nil, "", end
	case "replace":
		return nil, strings.Repeat("?", len(bad)), end
	case "backslashreplace":
		for _, r := range bad {
			literal.Escape(&sb, r)
		}
		return nil, sb.String(), end
	case "xmlcharrefreplace":
		for _, r := range bad {
			fmt.Fprintf(&sb, "&#%d;", r)
		}
		return nil, sb.String(), end
	case "surrogateescape":
		for _, r := range bad {
			if r < 0xdc80 || r > 0xdcff {
				e.err = e.raise(i, end, why)
				return nil, "", end
			}
			raw = append(raw, byte(r-0xdc00))
		}
		return raw, "", end
	case "surrogatepass":
		if raw, ok := passSurrogates(e.name, bad); ok {
			return raw, "", end
		}
		e.err = e.raise(i, end, why)
		return nil, "", end
	}
	var v Object
	v, next, e.err = e.in.handle(e.errors, e.in.unicodeError(e.in.Exc.UnicodeEncodeError, e.name, Str(e.text), i, end, why), func() (int, error) {
		return len(e.runes), nil
	})
	if e.err != nil {
		return nil, "", end
	}
	if b, ok := AsBytes(v); ok {
		return b, "", next
	}
	s, ok := AsStr(v)
	if !ok {
		e.err = e.in.Errorf(e.in.Exc.TypeError, "encoding error handler must return (str/bytes, int) tuple")
	}
	return nil, s, next
}

func (e *encoder) raise(i, end int, why string) error {
	return e.in.Raise(e.in.unicodeError(e.in.Exc.UnicodeEncodeError, e.name, Str(e.text), i, end, why))
}

// unicodeError makes an exception of a character that cannot be encoded or a byte that cannot be decoded.
func (in *Interp) unicodeError(cls *Type, name string, object Object, start, end int, why string) *Exception {
	e := &Exception{Class: cls, Args: NewTuple(Str(name), object, MakeInt(int64(start)), MakeInt(int64(end)), Str(why))}
	for i, n := range []string{"encoding", "object", "start", "end", "reason"} {
		e.SetField(n, e.Args.Items[i])
	}
	return e
}

// handle asks a handler that the program registered: what takes the place of the trouble, and where to go on, among as many as there are by then.
func (in *Interp) handle(name string, trouble *Exception, size func() (int, error)) (Object, int, error) {
	var h Object
	if in.ErrorHandler != nil {
		h = in.ErrorHandler(name)
	}
	if h == nil {
		return nil, 0, in.Errorf(in.Exc.LookupError, "unknown error handler name '%s'", name)
	}
	v, err := in.Call(h, []Object{trouble}, nil)
	if err != nil {
		return nil, 0, err
	}
	t, ok := AsTuple(v)
	if !ok || len(t.Items) != 2 {
		what := "encoding error handler must return (str/bytes, int) tuple"
		if trouble.Class == in.Exc.UnicodeDecodeError {
			what = "decoding error handler must return (str, int) tuple"
		}
		return nil, 0, in.Errorf(in.Exc.TypeError, "%s", what)
	}
	at, err := in.Index(t.Items[1])
	if err != nil {
		return nil, 0, err
	}
	n, err := size()
	if err != nil {
		return nil, 0, err
	}
	if at < 0 {
		at += int64(n)
	}
	if at < 0 || at > int64(n) {
		return nil, 0, in.Errorf(in.Exc.IndexError, "position %d from error handler out of bounds", at)
	}
	return t.Items[0], int(at), nil
}

// passSurrogates writes surrogates as the encoding would if they were characters.
func passSurrogates(name string, rs []rune) (out []byte, ok bool) {
	for _, r := range rs {
		if !wtf8.IsSurrogate(r) {
			return nil, false
		}
		switch name {
		case "utf-8":
			out = wtf8.AppendRune(out, r)
		case "utf-16", "utf-16-le":
			out = append(out, byte(r), byte(r>>8))
		case "utf-16-be":
			out = append(out, byte(r>>8), byte(r))
		case "utf-32", "utf-32-le":
			out = append(out, byte(r), byte(r>>8), 0, 0)
		case "utf-32-be":
			out = append(out, 0, 0, byte(r>>8), byte(r))
		default:
			return nil, false
		}
	}
	return out, true
}

// each encodes the characters one after the other. put writes one and reports whether the encoding has it; runs of those that it lacks are
// reported at once.
func (e *encoder) each(why string, put func(r rune) bool) {
	for i := 0; i < len(e.runes) && e.err == nil; {
		if put(e.runes[i]) {
			i++
			continue
		}
		mark := len(e.out)
		end := i + 1
		for end < len(e.runes) && !put(e.runes[end]) {
			end++
		}
		e.out = e.out[:mark]
		raw, text, next := e.fail(i, end, why)
		if e.err != nil {
			return
		}
		if e.unit > 1 && len(raw)%e.unit != 0 {
			e.err = e.raise(i, end, why)
			return
		}
		e.out = append(e.out, raw...)
		for _, r := range wtf8.All(text) {
			if !put(r) {
				e.err = e.raise(i, end, why)
				return
			}
		}
		i = next
	}
}

// A decoder is a decoding under way.
type decoder struct {
	in     *Interp
	name   string
	data   []byte
	errors string
	final  bool
	pos    int
	out    strings.Builder
	err    error
}

// fail is told of bytes from d.pos to end that stand for nothing; what takes their place is written, and d.pos goes on.
func (d *decoder) fail(end int, why string) {
	bad := d.data[d.pos:end]
	raise := func() {
		d.err = d.in.Raise(d.in.unicodeError(d.in.Exc.UnicodeDecodeError, d.name, Bytes(d.data), d.pos, end, why))
	}
	switch d.errors {
	case "strict", "":
		raise()
	case "ignore":
		d.pos = end
	case "replace":
		d.out.WriteRune(utf8.RuneError)
		d.pos = end
	case "backslashreplace":
		for _, c := range bad {
			fmt.Fprintf(&d.out, `\x%02x`, c)
		}
		d.pos = end
	case "surrogateescape":
		n := 0
		for n < len(bad) && n < 4 && bad[n] >= 0x80 {
			wtf8.WriteRune(&d.out, 0xdc00+rune(bad[n]))
			n++
		}
		if n == 0 {
			raise()
			return
		}
		d.pos += n
	case "surrogatepass":
		name := d.name
		if c := builtinCodec(name); c != nil {
			name = c.name
		}
		r, n := takeSurrogate(name, d.data[d.pos:])
		if n == 0 {
			raise()
			return
		}
		wtf8.WriteRune(&d.out, r)
		d.pos += n
	default:
		trouble := d.in.unicodeError(d.in.Exc.UnicodeDecodeError, d.name, Bytes(d.data), d.pos, end, why)
		v, next, err := d.in.handle(d.errors, trouble, func() (int, error) { // what is decoded is what the handler leaves in the exception
			b, ok := AsBytes(trouble.Field("object"))
			if !ok {
				return 0, d.in.Errorf(d.in.Exc.TypeError, "object attribute must be bytes")
			}
			d.data = []byte(b)
			return len(b), nil
		})
		if err != nil {
			d.err = err
			return
		}
		s, ok := AsStr(v)
		if !ok {
			d.err = d.in.Errorf(d.in.Exc.TypeError, "decoding error handler must return (str, int) tuple")
			return
		}
		d.out.WriteString(s)
		d.pos = next
	}
}

// takeSurrogate is the surrogate that the bytes stand for, and how many there are of them: none if they stand for something else.
func takeSurrogate(name string, b []byte) (rune, int) {
	var r rune
	n := 0
	switch {
	case name == "utf-8" && len(b) >= 3:
		r, n = wtf8.DecodeRuneInString(string(b[:3]))
	case (name == "utf-16" || name == "utf-16-le") && len(b) >= 2:
		r, n = rune(b[0])|rune(b[1])<<8, 2
	case name == "utf-16-be" && len(b) >= 2:
		r, n = rune(b[1])|rune(b[0])<<8, 2
	case (name == "utf-32" || name == "utf-32-le") && len(b) >= 4 && b[2] == 0 && b[3] == 0:
		r, n = rune(b[0])|rune(b[1])<<8, 4
	case name == "utf-32-be" && len(b) >= 4 && b[0] == 0 && b[1] == 0:
		r, n = rune(b[3])|rune(b[2])<<8, 4
	}
	if !wtf8.IsSurrogate(r) {
		return 0, 0
	}
	return r, n
}

// DecodeError has a handler of errors deal with bytes that stand for nothing: for decoders outside of this package. It gives the text that
// takes their place and where to go on, in bytes that the handler may have put into the place of data.
func (in *Interp) DecodeError(name string, data []byte, start, end int, why, errs string) (text string, rest []byte, next int, err error) {
	d := &decoder{in: in, name: name, data: data, errors: errs, final: true, pos: start}
	d.fail(end, why)
	return d.out.String(), d.data, d.pos, d.err
}

// EncodeError is the same for encoders, about the characters from start to end.
func (in *Interp) EncodeError(name, text string, start, end int, why, errs string) (raw []byte, repl string, next int, err error) {
	e := &encoder{in: in, name: name, text: text, errors: errs, runes: wtf8.Runes(text)}
	raw, repl, next = e.fail(start, end, why)
	return raw, repl, next, e.err
}

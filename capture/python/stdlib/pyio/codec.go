package pyio

import (
	"bytes"
	"strings"

	"whittle/capture/python/vm"
)

// decoder decodes text of which more may follow.
type decoder interface {
	decode(in *vm.Interp, b []byte, final bool) (string, error)
	state(in *vm.Interp) (rest []byte, flags int64, err error) // the bytes that are not decoded yet, and what else it keeps in mind
	setState(in *vm.Interp, rest []byte, flags int64) error
	reset(in *vm.Interp) error
	newlines(in *vm.Interp) (vm.Object, error) // None if it does not look at them
}

// builtin is a decoder of an encoding that the interpreter has, and that keeps nothing in mind but the start of a character.
type builtin struct {
	encoding, errors string
	rest             []byte
}

// builtins are the encodings of which that holds, without dashes and the like.
var builtins = func() map[string]string {
	out := map[string]string{}
	for _, row := range []string{"utf-8 utf8 u8 utf", "ascii ascii 646 usascii", "latin-1 latin1 iso88591 8859 cp819 latin l1 iso8859", "utf-16-le utf16le", "utf-16-be utf16be",
		"utf-32-le utf32le", "utf-32-be utf32be"} {
		names := strings.Fields(row)
		for _, n := range names[1:] {
			out[n] = names[0]
		}
	}
	return out
}()

// plainName is an encoding's name without what spellings differ in.
func plainName(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}

// decode implements decoder, here and below.
func (d *builtin) decode(in *vm.Interp, b []byte, final bool) (string, error) {
	if len(d.rest) > 0 {
		b = append(bytes.Clone(d.rest), b...)
	}
	s, used, err := in.DecodePart(b, d.encoding, d.errors, final)
	if err != nil {
		return "", err
	}
	if d.rest = nil; used < len(b) {
		d.rest = bytes.Clone(b[used:])
	}
	return s, nil
}

func (d *builtin) state(*vm.Interp) ([]byte, int64, error) { return d.rest, 0, nil }

func (d *builtin) setState(_ *vm.Interp, rest []byte, _ int64) error {
	d.rest = bytes.Clone(rest)
	return nil
}

func (d *builtin) reset(*vm.Interp) error {
	d.rest = nil
	return nil
}

func (d *builtin) newlines(*vm.Interp) (vm.Object, error) { return vm.None, nil }

// pyDecoder is an incremental decoder of a codec that is written in Python.
type pyDecoder struct{ obj vm.Object }

// decode implements decoder, here and below.
func (d pyDecoder) decode(in *vm.Interp, b []byte, final bool) (string, error) {
	v, err := in.CallMethod(d.obj, "decode", vm.Bytes(b), vm.MakeBool(final))
	if err != nil {
		return "", err
	}
	s, ok := vm.AsStr(v)
	if !ok {
		return "", in.Errorf(in.Exc.TypeError, "decoder should return a string result, not '%s'", vm.TypeName(v))
	}
	return s, nil
}

func (d pyDecoder) state(in *vm.Interp) ([]byte, int64, error) {
	v, err := in.CallMethod(d.obj, "getstate")
	if err != nil {
		return nil, 0, err
	}
	t, ok := v.(*vm.Tuple)
	if !ok {
		return nil, 0, in.Errorf(in.Exc.TypeError, "illegal decoder state")
	}
	return decoderState(in, t, "illegal decoder state")
}

// decoderState reads the pair that getstate gives.
func decoderState(in *vm.Interp, t *vm.Tuple, wrong string) ([]byte, int64, error) {
	if len(t.Items) != 2 {
		return nil, 0, in.Errorf(in.Exc.TypeError, "%s", wrong)
	}
	rest, ok := vm.AsBytes(t.Items[0])
	if !ok {
		return nil, 0, in.Errorf(in.Exc.TypeError, "illegal decoder state: the first item should be a bytes object, not '%s'", vm.TypeName(t.Items[0]))
	}
	flags, err := in.Index(t.Items[1])
	return rest, flags, err
}

func (d pyDecoder) setState(in *vm.Interp, rest []byte, flags int64) error {
	_, err := in.CallMethod(d.obj, "setstate", vm.NewTuple(vm.Bytes(rest), vm.MakeInt(flags)))
	return err
}

func (d pyDecoder) reset(in *vm.Interp) error {
	_, err := in.CallMethod(d.obj, "reset")
	return err
}

func (d pyDecoder) newlines(in *vm.Interp) (vm.Object, error) {
	v, err := in.GetAttrOpt(d.obj, "newlines")
	if v == nil && err == nil {
		v = vm.None
	}
	return v, err
}

// encoder encodes text of which more may follow.
type encoder interface {
	encode(in *vm.Interp, s string) ([]byte, error)
	setStart(in *vm.Interp, start bool) error // whether what comes next stands at the start of the file
}

// builtinEncoder is one of an encoding that the interpreter has.
type builtinEncoder struct{ encoding, errors string }

// encode implements encoder, here and below. Text that is valid UTF-8 is given as it is.
func (e builtinEncoder) encode(in *vm.Interp, s string) ([]byte, error) {
	if e.encoding == "utf-8" && validText(s) {
		return textBytes(s), nil
	}
	return in.Encode(s, e.encoding, e.errors)
}

func (builtinEncoder) setStart(*vm.Interp, bool) error { return nil }

// pyEncoder is an incremental encoder of a codec that is written in Python.
type pyEncoder struct{ obj vm.Object }

// encode implements encoder, here and below.
func (e pyEncoder) encode(in *vm.Interp, s string) ([]byte, error) {
	v, err := in.CallMethod(e.obj, "encode", vm.Str(s))
	if err != nil {
		return nil, err
	}
	b, ok := v.(vm.Bytes)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "encoder should return a bytes object, not '%s'", vm.TypeName(v))
	}
	return []byte(b), nil
}

func (e pyEncoder) setStart(in *vm.Interp, start bool) error {
	if start {
		_, err := in.CallMethod(e.obj, "reset")
		return err
	}
	_, err := in.CallMethod(e.obj, "setstate", vm.MakeInt(0))
	return err
}

// textCodec is the CodecInfo of an encoding, which must be one of text.
func textCodec(in *vm.Interp, encoding string) (vm.Object, error) {
	m, err := in.Import("_codecs")
	if err != nil {
		return nil, err
	}
	info, err := in.CallMethod(m, "lookup", vm.Str(encoding))
	if err != nil {
		return nil, err
	}
	is, err := in.GetAttrOpt(info, "_is_text_encoding")
	if err != nil {
		return nil, err
	}
	if is != nil {
		if ok, err := in.Truth(is); err != nil || !ok {
			if err == nil {
				err = in.Errorf(in.Exc.LookupError, "'%s' is not a text encoding; use codecs.open() to handle arbitrary codecs", encoding)
			}
			return nil, err
		}
	}
	return info, nil
}

package vm

import (
	"bytes"
	"encoding/hex"
	"strings"
)

// byteSource are the arguments of bytes(...) and bytearray(...).
type byteSource struct {
	src, enc, errs Object // nil where not given
}

func readByteSource(in *Interp, t *Type, args []Object, kw []KwArg) (a byteSource, err error) {
	v, err := in.ParseArgs(t.Name, args, kw, "source=nil, encoding=nil, errors=nil")
	if err != nil {
		return a, err
	}
	for i, name := range []string{"encoding", "errors"} {
		if v[i+1] == nil {
			continue
		}
		if _, ok := AsStr(v[i+1]); !ok {
			return a, in.Errorf(in.Exc.TypeError, "%s() argument '%s' must be str, not %s", t.Name, name, ArgName(v[i+1]))
		}
	}
	return byteSource{v[0], v[1], v[2]}, nil
}

// text is what a text gives in its encoding; done says that nothing else is to be looked at.
func (a byteSource) text(in *Interp) (b []byte, done bool, err error) {
	s, isText := AsStr(orNone(a.src))
	switch {
	case a.enc != nil && !isText:
		return nil, true, in.Errorf(in.Exc.TypeError, "encoding without a string argument")
	case a.errs != nil && !isText:
		return nil, true, in.Errorf(in.Exc.TypeError, "errors without a string argument")
	case a.enc != nil:
		enc, _ := AsStr(a.enc)
		errs := "strict"
		if a.errs != nil {
			errs, _ = AsStr(a.errs)
		}
		out, err := in.Encode(s, enc, errs)
		return []byte(out), true, err
	case a.errs != nil:
		return nil, true, in.Errorf(in.Exc.TypeError, "string argument without an encoding")
	}
	return nil, a.src == nil, nil
}

// byteCount is how many zero bytes an integer asks for; ok says whether the object is one. A __index__ that raises a TypeError does not count.
func byteCount(in *Interp, o Object) (n int, ok bool, err error) {
	if _, isInt := AsBig(o); !isInt && o.Type().Lookup("__index__") == nil {
		return 0, false, nil
	}
	b, err := in.IndexBig(o)
	switch {
	case err != nil && in.Matches(err, in.Exc.TypeError):
		return 0, false, nil
	case err != nil:
		return 0, true, err
	case !b.IsInt64():
		return 0, true, in.Errorf(in.Exc.OverflowError, "cannot fit '%s' into an index-sized integer", TypeName(o))
	case b.Sign() < 0:
		return 0, true, in.Errorf(in.Exc.ValueError, "negative count")
	case b.Int64() > mostItems:
		return 0, true, in.Errorf(in.Exc.MemoryError, "")
	}
	return int(b.Int64()), true, nil
}

// byteItems gives the bytes of an iterable of small integers, one after the other; what is what errors about them begin with.
func byteItems(in *Interp, src Object, target, what string, each func(c byte)) error {
	switch src.(type) {
	case *List, *Tuple:
	default:
		it, err := in.Iter(src)
		if err != nil && in.Matches(err, in.Exc.TypeError) {
			return in.Errorf(in.Exc.TypeError, "cannot convert '%s' object to %s", TypeName(src), target)
		}
		if err != nil {
			return err
		}
		src = it
	}
	return in.eachItem(src, func(it Object) error {
		n, err := in.IndexBig(it)
		if err != nil {
			return err
		}
		if n.Sign() < 0 || n.BitLen() > 8 {
			return in.Errorf(in.Exc.ValueError, "%s must be in range(0, 256)", what)
		}
		each(byte(n.Int64()))
		return nil
	})
}

// newBytes is what bytes(...) makes of its arguments: a text and its encoding, what __bytes__ gives, a length, bytes, or integers.
func newBytes(in *Interp, args []Object, kw []KwArg) ([]byte, error) {
	a, err := readByteSource(in, BytesType, args, kw)
	if err != nil {
		return nil, err
	}
	if b, done, err := a.text(in); done || err != nil {
		return b, err
	}
	if _, exact := a.src.(Bytes); !exact {
		if v, ok, err := in.Special(a.src, "__bytes__"); ok || err != nil {
			b, isBytes := unwrap(orNone(v)).(Bytes)
			if err == nil && !isBytes {
				err = in.Errorf(in.Exc.TypeError, "__bytes__ returned non-bytes (type %s)", TypeName(v))
			}
			return []byte(b), err
		}
	}
	if _, ok := AsStr(a.src); ok {
		return nil, in.Errorf(in.Exc.TypeError, "string argument without an encoding")
	}
	if n, ok, err := byteCount(in, a.src); ok || err != nil {
		return make([]byte, n), err
	}
	if b, ok := bytesOf(a.src); ok {
		return append([]byte(nil), b...), nil
	}
	out := []byte{}
	return out, byteItems(in, a.src, "bytes", "bytes", func(c byte) { out = append(out, c) })
}

// init is bytearray.__init__: what it held goes, and items come one by one, so that an iterator sees those before it.
func (x *ByteArray) init(in *Interp, args []Object, kw []KwArg) error {
	a, err := readByteSource(in, ByteArrayType, args, kw)
	if err != nil {
		return err
	}
	if len(x.B) > 0 {
		x.B = nil
	}
	if a.enc == nil && a.src != nil {
		if _, ok := AsStr(a.src); ok {
			return in.Errorf(in.Exc.TypeError, "string argument without an encoding")
		}
	}
	if b, done, err := a.text(in); done || err != nil {
		x.B = b
		return err
	}
	if n, ok, err := byteCount(in, a.src); ok || err != nil {
		x.B = make([]byte, n)
		return err
	}
	if b, ok := bytesOf(a.src); ok {
		x.B = append([]byte(nil), b...)
		return nil
	}
	return byteItems(in, a.src, "bytearray", "byte", func(c byte) { x.B = append(x.B, c) })
}

// initBytes gives bytes and byte arrays their methods.
func initBytes() {
	BytesType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		b, err := newBytes(in, args, kw)
		return wrap(cls, BytesType, Bytes(b)), err
	}
	ByteArrayType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		return wrap(cls, ByteArrayType, &ByteArray{}), nil
	}
	addKw(ByteArrayType, "__init__", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		x, ok := unwrap(args[0]).(*ByteArray)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '__init__' requires a 'bytearray' object but received a '%s'", TypeName(args[0]))
		}
		return None, x.init(in, args[1:], kw)
	})
	for _, t := range []*Type{BytesType, ByteArrayType} {
		mk := func(b []byte) Object {
			if t == ByteArrayType {
				return &ByteArray{b}
			}
			return Bytes(b)
		}
		addOps(t, nil, "+", "*", "%")
		addCompare(t, func(o Object) bool { return t == ByteArrayType || o.Type().IsSubtype(BytesType) }, allCompare...)
		addBasics(t, "repr len iter getitem contains")
		m := func(name string, lo, hi int, f func(in *Interp, b []byte, args []Object) (Object, error)) {
			addMethod(t, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				b, ok := bytesOf(args[0])
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", name, t.Name, TypeName(args[0]))
				}
				return f(in, b, args[1:])
			})
		}
		addKw(t, "decode", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			a, err := in.ParseArgs("decode", args, kw, "self, encoding='utf-8', errors='strict'")
			if err != nil {
				return nil, err
			}
			b, _ := bytesOf(a[0])
			enc, errs, err := encodingArgs(in, "decode", a[1], a[2])
			if err != nil {
				return nil, err
			}
			s, err := in.Decode(b, enc, errs)
			return Str(s), err
		})
		addClass(t, "fromhex", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			if len(args) != 2 || len(kw) > 0 {
				return nil, in.Errorf(in.Exc.TypeError, "%s.fromhex() takes exactly one argument (%d given)", t.Name, len(args)-1)
			}
			s, ok := AsStr(args[1])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "fromhex() argument must be str, not %s", ArgName(args[1]))
			}
			var b []byte
			for i := 0; i < len(s); {
				if strings.IndexByte(" \t\n\r\v\f", s[i]) >= 0 {
					i++
					continue
				}
				var c [1]byte
				if _, err := hex.Decode(c[:], []byte(s[i:min(i+2, len(s))])); err != nil || i+1 >= len(s) {
					at := i
					if _, err := hex.Decode(c[:], []byte{s[i], '0'}); err == nil {
						at++
					}
					return nil, in.Errorf(in.Exc.ValueError, "non-hexadecimal number found in fromhex() arg at position %d", strLen(s[:at]))
				}
				b = append(b, c[0])
				i += 2
			}
			if args[0] != Object(t) { // a derived class makes its own of the bytes
				return in.Call(args[0], []Object{Bytes(b)}, nil)
			}
			return mk(b), nil
		})
		m("join", 1, 1, func(in *Interp, b []byte, args []Object) (Object, error) {
			if t := args[0].Type(); t.Lookup("__iter__") == nil && t.Lookup("__getitem__") == nil {
				return nil, in.Errorf(in.Exc.TypeError, "can only join an iterable")
			}
			items, err := in.IterAll(args[0])
			if err != nil {
				return nil, err
			}
			var parts [][]byte
			for i, it := range items {
				x, ok, _ := in.OneBuffer(it)
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "sequence item %d: expected a bytes-like object, %s found", i, TypeName(it))
				}
				parts = append(parts, x)
			}
			return mk(bytes.Join(parts, b)), nil
		})
		addByteMethods(t, mk)
	}
	addByteArrayMethods()
	addBasics(BytesType, "hash")
	addMethod(BytesType, "__getnewargs__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return NewTuple(unwrap(args[0])), nil
	})
	addMethod(BytesType, "__bytes__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return unwrap(args[0]), nil
	})
	addMethod(ByteArrayType, "__alloc__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b := unwrap(args[0]).(*ByteArray).B
		if cap(b) == 0 {
			return Int(0), nil
		}
		return MakeInt(int64(cap(b)) + 1), nil // and a zero byte behind, as in CPython
	})
	addMethod(ByteArrayType, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		s, _, err := nativeRepr(in, args[0])
		return Str(args[0].Type().Name + strings.TrimPrefix(s, "bytearray")), err
	})
	addBasics(ByteArrayType, "unhash setitem")
	addMethod(ByteArrayType, "clear", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		unwrap(args[0]).(*ByteArray).B = nil
		return None, nil
	})
}

// anyBytes is what bytes(o) would hold, of anything but a number or a text: of a buffer, of what has __bytes__, of an iterable of small
// numbers. It is the caller's own.
func (in *Interp) anyBytes(o Object) ([]byte, error) {
	if b, ok := bytesOf(o); ok {
		return append([]byte(nil), b...), nil
	}
	_, isText := AsStr(o)
	_, isNumber := AsInt(o)
	if isText || isNumber {
		return nil, in.Errorf(in.Exc.TypeError, "cannot convert '%s' object to bytes", TypeName(o))
	}
	v, err := in.Call(BytesType, []Object{o}, nil)
	if err != nil {
		return nil, err
	}
	b, _ := bytesOf(v)
	return append([]byte(nil), b...), nil
}

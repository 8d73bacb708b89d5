package vm

import (
	"bytes"
	"encoding/hex"
	"strings"
)

// bytesFrom is what bytes(...) and bytearray(...) make of their arguments: a text and its encoding, a length, bytes, or integers.
func bytesFrom(in *Interp, args []Object, kw []KwArg) ([]byte, error) {
	a, err := in.ParseArgs("bytes", args, kw, "source=None, encoding=None, errors='strict'")
	if err != nil {
		return nil, err
	}
	src := a[0]
	if len(args) == 0 && src == None {
		return nil, nil
	}
	if s, ok := AsStr(src); ok {
		enc, ok := AsStr(a[1])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "string argument without an encoding")
		}
		errs, _ := AsStr(a[2])
		b, err := in.Encode(s, enc, errs)
		return []byte(b), err
	}
	if b, ok := bytesOf(src); ok {
		return append([]byte(nil), b...), nil
	}
	if n, ok := AsInt(src); ok {
		if n < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "negative count")
		}
		if n > mostItems {
			return nil, in.Errorf(in.Exc.MemoryError, "")
		}
		return make([]byte, n), nil
	} else if _, ok := AsBig(src); ok {
		return nil, in.Errorf(in.Exc.OverflowError, "cannot fit 'int' into an index-sized integer")
	}
	if v, ok, err := in.special(src, "__bytes__"); ok || err != nil {
		b, isBytes := bytesOf(orNone(v))
		if err == nil && !isBytes {
			err = in.Errorf(in.Exc.TypeError, "__bytes__ returned non-bytes (type %s)", v.Type().Name)
		}
		return b, err
	}
	items, err := in.IterAll(src)
	if err != nil {
		if in.Matches(err, in.Exc.TypeError) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot convert '%s' object to bytes", src.Type().Name)
		}
		return nil, err
	}
	out := make([]byte, len(items))
	for i, it := range items {
		n, err := in.IndexBig(it)
		if err != nil {
			return nil, err
		}
		if n.Sign() < 0 || n.BitLen() > 8 {
			return nil, in.Errorf(in.Exc.ValueError, "bytes must be in range(0, 256)")
		}
		out[i] = byte(n.Int64())
	}
	return out, nil
}

// initBytes gives bytes and byte arrays their methods.
func initBytes() {
	BytesType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		b, err := bytesFrom(in, args, kw)
		return wrap(cls, BytesType, Bytes(b)), err
	}
	ByteArrayType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		return wrap(cls, ByteArrayType, &ByteArray{}), nil
	}
	addKw(ByteArrayType, "__init__", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		x, ok := unwrap(args[0]).(*ByteArray)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '__init__' requires a 'bytearray' object but received a '%s'", args[0].Type().Name)
		}
		b, err := bytesFrom(in, args[1:], kw)
		if err == nil {
			x.B = b
		}
		return None, err
	})
	for _, t := range []*Type{BytesType, ByteArrayType} {
		mk := func(b []byte) Object {
			if t == ByteArrayType {
				return &ByteArray{b}
			}
			return Bytes(b)
		}
		addOps(t, nil, "+", "*", "%")
		addCompare(t, nil, allCompare...)
		addBasics(t, "repr len iter getitem contains")
		m := func(name string, lo, hi int, f func(in *Interp, b []byte, args []Object) (Object, error)) {
			addMethod(t, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				b, ok := bytesOf(args[0])
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", name, t.Name, args[0].Type().Name)
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
			enc, _ := AsStr(a[1])
			errs, _ := AsStr(a[2])
			s, err := in.Decode(b, enc, errs)
			return Str(s), err
		})
		addClass(t, "fromhex", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			if len(args) != 2 || len(kw) > 0 {
				return nil, in.Errorf(in.Exc.TypeError, "%s.fromhex() takes exactly one argument (%d given)", t.Name, len(args)-1)
			}
			s, ok := AsStr(args[1])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "fromhex() argument must be str, not %s", args[1].Type().Name)
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
			return mk(b), nil
		})
		m("join", 1, 1, func(in *Interp, b []byte, args []Object) (Object, error) {
			items, err := in.IterAll(args[0])
			if err != nil {
				return nil, err
			}
			var parts [][]byte
			for i, it := range items {
				x, ok := bytesOf(it)
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "sequence item %d: expected a bytes-like object, %s found", i, it.Type().Name)
				}
				parts = append(parts, x)
			}
			return mk(bytes.Join(parts, b)), nil
		})
		addByteMethods(t, mk)
	}
	addByteArrayMethods()
	addBasics(BytesType, "hash")
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
		return nil, in.Errorf(in.Exc.TypeError, "cannot convert '%s' object to bytes", o.Type().Name)
	}
	v, err := in.Call(BytesType, []Object{o}, nil)
	if err != nil {
		return nil, err
	}
	b, _ := bytesOf(v)
	return append([]byte(nil), b...), nil
}

package vm

import (
	"bytes"
	"encoding/hex"
	"strings"
)

func (in *Interp) bytesFrom(args []Object, kw []KwArg) ([]byte, error) {
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
		b, err := in.encode(s, enc, errs)
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
		b, _ := bytesOf(orNone(v))
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

func initBytes() {
	BytesType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		b, err := in.bytesFrom(args, kw)
		return wrap(cls, BytesType, Bytes(b)), err
	}
	ByteArrayType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		b, err := in.bytesFrom(args, kw)
		return wrap(cls, ByteArrayType, &ByteArray{b}), err
	}
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
		want := func(in *Interp, o Object) ([]byte, error) {
			b, ok := bytesOf(o)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", o.Type().Name)
			}
			return b, nil
		}
		addKw(t, "decode", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			a, err := in.ParseArgs("decode", args, kw, "self, encoding='utf-8', errors='strict'")
			if err != nil {
				return nil, err
			}
			b, _ := bytesOf(a[0])
			enc, _ := AsStr(a[1])
			errs, _ := AsStr(a[2])
			s, err := in.decode(b, enc, errs)
			return Str(s), err
		})
		m("hex", 0, 2, func(in *Interp, b []byte, args []Object) (Object, error) {
			h := hex.EncodeToString(b)
			if len(args) > 0 {
				sep, _ := AsStr(args[0])
				var parts []string
				for i := 0; i < len(h); i += 2 {
					parts = append(parts, h[i:i+2])
				}
				h = strings.Join(parts, sep)
			}
			return Str(h), nil
		})
		addClass(t, "fromhex", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			s, _ := AsStr(args[1])
			b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
			if err != nil {
				return nil, in.Errorf(in.Exc.ValueError, "non-hexadecimal number found in fromhex() arg")
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
		for name, f := range map[string]func(b []byte) []byte{"lower": bytes.ToLower, "upper": bytes.ToUpper} {
			m(name, 0, 0, func(in *Interp, b []byte, _ []Object) (Object, error) { return mk(f(b)), nil })
		}
		for name, f := range map[string]func(b []byte, cut string) []byte{"strip": bytes.Trim, "lstrip": bytes.TrimLeft, "rstrip": bytes.TrimRight} {
			m(name, 0, 1, func(in *Interp, b []byte, args []Object) (Object, error) {
				cut := " \t\n\r\v\f"
				if len(args) > 0 && args[0] != None {
					c, err := want(in, args[0])
					if err != nil {
						return nil, err
					}
					cut = string(c)
				}
				return mk(append([]byte(nil), f(b, cut)...)), nil
			})
		}
		for name, f := range map[string]func(b, x []byte) bool{"startswith": bytes.HasPrefix, "endswith": bytes.HasSuffix} {
			m(name, 1, 1, func(in *Interp, b []byte, args []Object) (Object, error) {
				cands := []Object{args[0]}
				if tp, ok := AsTuple(args[0]); ok {
					cands = tp.Items
				}
				for _, c := range cands {
					x, err := want(in, c)
					if err != nil {
						return nil, err
					}
					if f(b, x) {
						return True, nil
					}
				}
				return False, nil
			})
		}
		for name, f := range map[string]func(b, x []byte) int{"find": bytes.Index, "rfind": bytes.LastIndex, "index": bytes.Index, "count": bytes.Count} {
			m(name, 1, 1, func(in *Interp, b []byte, args []Object) (Object, error) {
				if n, ok := AsInt(args[0]); ok {
					args = []Object{Bytes([]byte{byte(n)})}
				}
				x, err := want(in, args[0])
				if err != nil {
					return nil, err
				}
				i := f(b, x)
				if i < 0 && name == "index" {
					return nil, in.Errorf(in.Exc.ValueError, "subsection not found")
				}
				return MakeInt(int64(i)), nil
			})
		}
		m("replace", 2, 3, func(in *Interp, b []byte, args []Object) (Object, error) {
			x, err := want(in, args[0])
			if err != nil {
				return nil, err
			}
			y, err := want(in, args[1])
			if err != nil {
				return nil, err
			}
			n := int64(-1)
			if len(args) > 2 {
				n, _ = AsInt(args[2])
			}
			return mk(bytes.Replace(b, x, y, int(n))), nil
		})
		m("split", 0, 2, func(in *Interp, b []byte, args []Object) (Object, error) {
			l := &List{}
			if len(args) == 0 || args[0] == None {
				for _, p := range bytes.Fields(b) {
					l.Items = append(l.Items, mk(p))
				}
				return l, nil
			}
			x, err := want(in, args[0])
			if err != nil {
				return nil, err
			}
			n := int64(-1)
			if len(args) > 1 {
				n, _ = AsInt(args[1])
				n++
			}
			if n == 0 {
				n = -1
			}
			for _, p := range bytes.SplitN(b, x, int(n)) {
				l.Items = append(l.Items, mk(p))
			}
			return l, nil
		})
		m("splitlines", 0, 1, func(in *Interp, b []byte, args []Object) (Object, error) {
			keep := len(args) > 0 && args[0] == True
			l := &List{}
			for _, p := range splitLines(string(b), keep) {
				l.Items = append(l.Items, mk([]byte(p)))
			}
			return l, nil
		})
	}
	addBasics(BytesType, "hash")
	addBasics(ByteArrayType, "unhash setitem")
	addMethod(ByteArrayType, "append", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b := unwrap(args[0]).(*ByteArray)
		n, err := in.Index(args[1])
		if err != nil {
			return nil, err
		}
		if n < 0 || n > 255 {
			return nil, in.Errorf(in.Exc.ValueError, "byte must be in range(0, 256)")
		}
		b.B = append(b.B, byte(n))
		return None, nil
	})
	addMethod(ByteArrayType, "extend", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b := unwrap(args[0]).(*ByteArray)
		x, err := in.bytesFrom(args[1:], nil)
		b.B = append(b.B, x...)
		return None, err
	})
	addMethod(ByteArrayType, "clear", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		unwrap(args[0]).(*ByteArray).B = nil
		return None, nil
	})
}

package vm

import (
	"encoding/hex"
	"slices"
	"strings"
)

// Methods of bytes and bytearray that are those of str on other letters: the bytes go to str as characters, those that mean
// something to str alone as characters without a meaning.

const byteBase = 0xe000 // of a range for private use

// byteText makes a string of bytes for string methods to work on: bytes that those would take for letters or white space, and bytes methods
// do not, become characters from byteBase on.
func byteText(b []byte, lines bool) string {
	var sb strings.Builder
	for _, c := range b {
		if c >= 0x80 || c >= 0x1c && c < 0x20 || lines && (c == '\v' || c == '\f') {
			sb.WriteRune(byteBase + rune(c))
		} else {
			sb.WriteByte(c)
		}
	}
	return sb.String()
}

// textBytes takes the bytes back out of what byteText made.
func textBytes(s string) []byte {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r >= byteBase {
			r -= byteBase
		}
		b = append(b, byte(r))
	}
	return b
}

// What the arguments of such a method may be beside bytes.
const (
	argBytes = iota
	argByte  // a number stands for one byte
	argTuple // or a tuple of bytes
)

// takesText are the methods whose first argument is bytes, optionalText those that take None for it.
var (
	takesText    = map[string]bool{"split": true, "rsplit": true, "partition": true, "rpartition": true, "replace": true, "strip": true, "lstrip": true, "rstrip": true, "removeprefix": true, "removesuffix": true}
	optionalText = map[string]bool{"split": true, "rsplit": true, "strip": true, "lstrip": true, "rstrip": true}
)

// addByteMethods adds the methods that bytes and byte arrays share; most do what the string's method of that name does to byteText.
func addByteMethods(t *Type, mk func(b []byte) Object) {
	via := func(kind int, names ...string) {
		for _, name := range names {
			addKw(t, name, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
				if len(args) == 0 {
					return nil, in.Errorf(in.Exc.TypeError, "unbound method %s.%s() needs an argument", t.Name, name)
				}
				b, ok := bytesOf(args[0])
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", name, t.Name, TypeName(args[0]))
				}
				own, _ := StrType.Lookup(name).(*Builtin)
				if n := len(args) - 1; own.NoKw && (len(kw) > 0 || n < own.Min || own.Max >= 0 && n > own.Max) {
					return nil, (&Builtin{Name: name, Owner: t, Min: own.Min, Max: own.Max, parsed: own.parsed}).wrongArgs(in, n, len(kw) > 0)
				}
				lines := name == "splitlines"
				conv := func(i int, a Object) (Object, error) {
					if i > 0 && (kind == argByte || kind == argTuple) {
						return a, nil // a place
					}
					if t == ByteArrayType && strings.HasSuffix(name, "partition") { // it makes a bytearray of it
						if x, ok := bytesOf(a); ok {
							return Str(byteText(x, lines)), nil
						}
					}
					if x, ok, err := in.OneBuffer(a); err != nil || ok {
						return Str(byteText(x, lines)), err
					}
					if tp, ok := AsTuple(a); ok && kind == argTuple && i == 0 {
						out := newItems(len(tp.Items))
						for j, it := range tp.Items {
							x, ok, err := in.OneBuffer(it)
							if err != nil {
								return nil, err
							}
							if !ok {
								return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", TypeName(it))
							}
							out.Items[j] = Str(byteText(x, lines))
						}
						return out, nil
					}
					if kind == argByte && i == 0 && a.Type().Lookup("__index__") != nil {
						n, err := in.IndexBig(a)
						if err != nil {
							return nil, err
						}
						if n.Sign() < 0 || n.BitLen() > 8 {
							return nil, in.Errorf(in.Exc.ValueError, "byte must be in range(0, 256)")
						}
						return Str(byteText([]byte{byte(n.Int64())}, lines)), nil
					}
					if kind == argTuple && i == 0 {
						return nil, in.Errorf(in.Exc.TypeError, "%s first arg must be bytes or a tuple of bytes, not %s", name, TypeName(a))
					}
					if _, isStr := AsStr(a); isStr {
						switch {
						case kind == argByte:
							return nil, in.Errorf(in.Exc.TypeError, "argument should be integer or bytes-like object, not 'str'")
						case i == 1 && strings.HasSuffix(name, "just") || name == "center":
							return nil, in.Errorf(in.Exc.TypeError, "%s() argument 2 must be a byte string of length 1, not str", name)
						}
						return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not 'str'")
					}
					if i == 0 && takesText[name] && !(a == None && optionalText[name]) || i == 1 && name == "replace" {
						return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", TypeName(a))
					}
					if i == 0 && kind == argByte {
						return nil, in.Errorf(in.Exc.TypeError, "argument should be integer or bytes-like object, not '%s'", TypeName(a))
					}
					return a, nil
				}
				rest := make([]Object, len(args)-1)
				for i, a := range args[1:] {
					var err error
					if rest[i], err = conv(i, a); err != nil {
						return nil, err
					}
				}
				named := make([]KwArg, len(kw))
				for i, k := range kw {
					v, err := conv(-1, k.Value)
					if err != nil {
						return nil, err
					}
					named[i] = KwArg{k.Name, v}
				}
				f, err := in.GetAttr(Str(byteText(b, lines)), name)
				if err != nil {
					return nil, err
				}
				v, err := in.Call(f, rest, named)
				if err != nil {
					if r, ok := err.(*Raised); ok && len(r.Exc.Args.Items) == 1 && r.Exc.Args.Items[0] == Object(Str("substring not found")) {
						r.Exc.Args = NewTuple(Str("subsection not found"))
					}
					return nil, err
				}
				switch v := v.(type) {
				case Str:
					return mk(textBytes(string(v))), nil
				case *List:
					for i, it := range v.Items {
						s, _ := AsStr(it)
						v.Items[i] = mk(textBytes(s))
					}
				case *Tuple:
					out := newItems(len(v.Items))
					for i, it := range v.Items {
						s, _ := AsStr(it)
						out.Items[i] = mk(textBytes(s))
					}
					return out, nil
				}
				return v, nil
			})
		}
	}
	via(argByte, "find", "rfind", "index", "rindex", "count")
	via(argTuple, "startswith", "endswith")
	parsedArgs(t)
	via(argBytes, "split", "rsplit", "splitlines", "partition", "rpartition", "replace", "strip", "lstrip", "rstrip", "ljust", "rjust", "center", "zfill",
		"expandtabs", "lower", "upper", "title", "capitalize", "swapcase", "removeprefix", "removesuffix",
		"isalpha", "isalnum", "isdigit", "islower", "isupper", "istitle", "isspace")
	addMethod(t, "isascii", 0, 0, func(_ *Interp, args []Object, _ []KwArg) (Object, error) {
		b, _ := bytesOf(args[0])
		return MakeBool(isASCII(string(b))), nil
	})
	want := func(in *Interp, o Object) ([]byte, error) {
		b, ok, err := in.OneBuffer(o)
		if err == nil && !ok {
			err = in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", TypeName(o))
		}
		return b, err
	}
	t.Dict.SetStr("maketrans", &StaticMethod{Func: &Builtin{Name: "maketrans", Owner: t, Min: 2, Max: 2, NoKw: true, Fn: func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		from, err := want(in, args[0])
		if err != nil {
			return nil, err
		}
		to, err := want(in, args[1])
		if err != nil {
			return nil, err
		}
		if len(from) != len(to) {
			return nil, in.Errorf(in.Exc.ValueError, "maketrans arguments must have same length")
		}
		table := make([]byte, 256)
		for i := range table {
			table[i] = byte(i)
		}
		for i, c := range from {
			table[c] = to[i]
		}
		return Bytes(table), nil
	}}})
	addKw(t, "translate", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("translate", args, kw, "self, table, /, delete=nil")
		if err != nil {
			return nil, err
		}
		b, err := want(in, a[0])
		if err != nil {
			return nil, err
		}
		var table []byte
		if a[1] != None {
			if table, err = want(in, a[1]); err != nil {
				return nil, err
			}
			if len(table) != 256 {
				return nil, in.Errorf(in.Exc.ValueError, "translation table must be 256 characters long")
			}
		}
		var drop []byte
		if a[2] != nil {
			if drop, err = want(in, a[2]); err != nil {
				return nil, err
			}
		}
		out := []byte{}
		for _, c := range b {
			if slices.Contains(drop, c) {
				continue
			}
			if table != nil {
				c = table[c]
			}
			out = append(out, c)
		}
		return mk(out), nil
	})
	addKw(t, "hex", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("hex", args, kw, "self, sep=nil, bytes_per_sep=1")
		if err != nil {
			return nil, err
		}
		b, err := want(in, a[0])
		if err != nil {
			return nil, err
		}
		sep := ""
		if a[1] != nil {
			s, ok := AsStr(a[1])
			if raw, isBytes := bytesOf(a[1]); isBytes {
				s, ok = string(raw), true
			}
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "sep must be str or bytes.")
			}
			if strLen(s) != 1 {
				return nil, in.Errorf(in.Exc.ValueError, "sep must be length 1.")
			}
			if !isASCII(s) {
				return nil, in.Errorf(in.Exc.ValueError, "sep must be ASCII.")
			}
			sep = s
		}
		n, err := in.Index(a[2])
		if err != nil {
			return nil, err
		}
		h := hex.EncodeToString(b)
		if sep == "" || n == 0 {
			return Str(h), nil
		}
		group := int(min(max(n, -n), int64(len(b)+1)))
		var parts []string
		at := 0
		if n > 0 {
			at = len(b) % group // groups count from the right
		}
		if at > 0 {
			parts = append(parts, h[:2*at])
		}
		for ; at < len(b); at += group {
			parts = append(parts, h[2*at:2*min(at+group, len(b))])
		}
		return Str(strings.Join(parts, sep)), nil
	})
}

// addByteArrayMethods adds what changes a byte array.
func addByteArrayMethods() {
	t := ByteArrayType
	method := func(name string, lo, hi int, fn func(in *Interp, b *ByteArray, args []Object) (Object, error)) {
		addMethod(t, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			b, ok := unwrap(args[0]).(*ByteArray)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for 'bytearray' objects doesn't apply to a '%s' object", name, TypeName(args[0]))
			}
			return fn(in, b, args[1:])
		})
	}
	byteArg := func(in *Interp, o Object) (byte, error) {
		big, err := in.IndexBig(o)
		if err != nil {
			return 0, err
		}
		n := big.Int64()
		if !big.IsInt64() || n < 0 || n > 255 {
			err = in.Errorf(in.Exc.ValueError, "byte must be in range(0, 256)")
		}
		return byte(n), err
	}
	method("append", 1, 1, func(in *Interp, b *ByteArray, args []Object) (Object, error) {
		c, err := byteArg(in, args[0])
		if err == nil {
			b.B = append(b.B, c)
		}
		return None, err
	})
	method("extend", 1, 1, func(in *Interp, b *ByteArray, args []Object) (Object, error) {
		if x, ok := bytesOf(args[0]); ok {
			b.B = append(b.B, x...)
			return None, nil
		}
		items, err := in.IterAll(args[0])
		if err != nil {
			if in.Matches(err, in.Exc.TypeError) && args[0].Type().Lookup("__iter__") == nil {
				err = in.Errorf(in.Exc.TypeError, "can't extend bytearray with %s", TypeName(args[0]))
			}
			return nil, err
		}
		out := make([]byte, len(items))
		for i, it := range items {
			if out[i], err = byteArg(in, it); err != nil {
				return nil, err
			}
		}
		b.B = append(b.B, out...)
		return None, nil
	})
	method("pop", 0, 1, func(in *Interp, b *ByteArray, args []Object) (Object, error) {
		if len(b.B) == 0 {
			return nil, in.Errorf(in.Exc.IndexError, "pop from empty bytearray")
		}
		i := int64(-1)
		if len(args) > 0 {
			var err error
			if i, err = in.Index(args[0]); err != nil {
				return nil, err
			}
		}
		if i < 0 {
			i += int64(len(b.B))
		}
		if i < 0 || i >= int64(len(b.B)) {
			return nil, in.Errorf(in.Exc.IndexError, "pop index out of range")
		}
		c := b.B[i]
		b.B = slices.Delete(b.B, int(i), int(i)+1)
		return MakeInt(int64(c)), nil
	})
	method("insert", 2, 2, func(in *Interp, b *ByteArray, args []Object) (Object, error) {
		i, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		c, err := byteArg(in, args[1])
		if err != nil {
			return nil, err
		}
		n := int64(len(b.B))
		if i < 0 {
			i = max(0, i+n)
		}
		b.B = slices.Insert(b.B, int(min(i, n)), c)
		return None, nil
	})
	method("remove", 1, 1, func(in *Interp, b *ByteArray, args []Object) (Object, error) {
		c, err := byteArg(in, args[0])
		if err != nil {
			return nil, err
		}
		i := slices.Index(b.B, c)
		if i < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "value not found in bytearray")
		}
		b.B = slices.Delete(b.B, i, i+1)
		return None, nil
	})
	method("reverse", 0, 0, func(_ *Interp, b *ByteArray, _ []Object) (Object, error) {
		slices.Reverse(b.B)
		return None, nil
	})
	method("copy", 0, 0, func(_ *Interp, b *ByteArray, _ []Object) (Object, error) { return &ByteArray{slices.Clone(b.B)}, nil })
	addMethod(t, "__iadd__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b := unwrap(args[0]).(*ByteArray)
		x, ok := bytesOf(args[1])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "can't concat %s to bytearray", TypeName(args[1]))
		}
		b.B = append(b.B, x...)
		return args[0], nil
	})
	addMethod(t, "__imul__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b := unwrap(args[0]).(*ByteArray)
		n, err := in.Index(args[1])
		if err != nil {
			return nil, err
		}
		b.B = slices.Repeat(b.B, int(max(n, 0)))
		return args[0], nil
	})
	method("__delitem__", 1, 1, func(in *Interp, b *ByteArray, args []Object) (Object, error) {
		if sl, ok := args[0].(*Slice); ok {
			start, _, step, n, err := sl.indices(in, len(b.B))
			if err != nil {
				return nil, err
			}
			drop := map[int]bool{}
			for i := range n {
				drop[start+i*step] = true
			}
			out := make([]byte, 0, len(b.B)-n)
			for i, c := range b.B {
				if !drop[i] {
					out = append(out, c)
				}
			}
			b.B = out
			return None, nil
		}
		i, err := seqIndex(in, args[0], len(b.B), "bytearray")
		if err != nil {
			return nil, err
		}
		b.B = slices.Delete(b.B, i, i+1)
		return None, nil
	})
}

package vm

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/ucd"
	"whittle/capture/python/wtf8"
)

// strArg wants a str argument.
func strArg(in *Interp, fname string, o Object) (string, error) {
	s, ok := AsStr(o)
	if !ok {
		return "", in.Errorf(in.Exc.TypeError, "%s must be str, not %s", fname, TypeName(o))
	}
	return s, nil
}

// span turns optional start and end (in characters) into a substring; off is its offset in characters.
func span(in *Interp, s string, args []Object) (sub string, off int, ok bool, err error) {
	from, to := None, None
	if len(args) > 0 {
		from = args[0]
	}
	if len(args) > 1 {
		to = args[1]
	}
	if from == None && to == None {
		return s, 0, true, nil
	}
	wide, n := in.runes(s)
	start, simple := bound(from, 0, n)
	stop, also := bound(to, n, n)
	if !simple || !also {
		sl := &Slice{from, to, None}
		if start, stop, _, _, err = sl.indices(in, n); err != nil {
			return "", 0, false, err
		}
	}
	if i, isI := AsInt(from); isI && i > int64(n) || start > stop {
		return "", 0, false, nil
	}
	if wide == nil {
		return s[start:stop], start, true, nil
	}
	return s[byteOff(s, start):byteOff(s, stop)], start, true, nil
}

// notStr is the TypeError for a method of str that is called with something else.
func notStr(in *Interp, name string, o Object) error {
	return in.Errorf(in.Exc.TypeError, "descriptor '%s' for 'str' objects doesn't apply to a '%s' object", name, TypeName(o))
}

// sameStr is s as an object: o itself, if that is a str of this text.
func sameStr(o Object, s string) Object {
	if x, ok := o.(Str); ok && string(x) == s {
		return o
	}
	if len(s) == 1 && s[0] < utf8.RuneSelf {
		return charStrs[s[0]]
	}
	return Str(s)
}

// allRunes reports whether f is true of all characters.
func allRunes(s string, f func(r rune) bool) bool {
	for _, r := range wtf8.All(s) {
		if !f(r) {
			return false
		}
	}
	return true
}

// byteOff is where character n begins in s.
func byteOff(s string, i int) int {
	for j := range wtf8.All(s) {
		if i == 0 {
			return j
		}
		i--
	}
	return len(s)
}

// parsedArgs marks the methods that search in a part of a text.
func parsedArgs(t *Type) {
	for _, name := range []string{"find", "rfind", "index", "rindex", "count", "startswith", "endswith"} {
		t.own(name).(*Builtin).parsed = true
	}
}

// encodingArgs reads the arguments that name an encoding and how its errors are handled.
func encodingArgs(in *Interp, function string, encoding, errors Object) (enc, errs string, err error) {
	enc, ok := AsStr(encoding)
	if !ok {
		return "", "", in.Errorf(in.Exc.TypeError, "%s() argument 'encoding' must be str, not %s", function, ArgName(encoding))
	}
	if errs, ok = AsStr(errors); !ok {
		return "", "", in.Errorf(in.Exc.TypeError, "%s() argument 'errors' must be str, not %s", function, ArgName(errors))
	}
	return enc, errs, nil
}

// orText is an argument, or a text where it was not given.
func orText(o Object, s string) Object {
	if o == nil {
		return Str(s)
	}
	return o
}

// initStr gives strings their methods. Positions in arguments and results count characters; inside, they are offsets of bytes.
func initStr() {
	t := StrType
	t.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		text := func(o Object) (Object, error) {
			v, err := in.str(o)
			if err != nil || cls == StrType {
				return v, err
			}
			s, _ := AsStr(v)
			return wrap(cls, StrType, Str(s)), nil
		}
		if len(args) == 1 && len(kw) == 0 {
			return text(args[0])
		}
		a, err := in.ParseArgs("str", args, kw, "object=nil, encoding=nil, errors=nil")
		if err != nil {
			return nil, err
		}
		decodes := a[1] != nil || a[2] != nil
		enc, errs, err := encodingArgs(in, "str", orText(a[1], "utf-8"), orText(a[2], "strict"))
		if err != nil {
			return nil, err
		}
		if a[0] == nil {
			return wrap(cls, StrType, Str("")), nil
		}
		if b, ok := bytesOf(a[0]); ok && decodes {
			s, err := in.Decode(b, enc, errs)
			return wrap(cls, StrType, Str(s)), err
		}
		if _, ok := AsStr(a[0]); ok && decodes {
			return nil, in.Errorf(in.Exc.TypeError, "decoding str is not supported")
		}
		if decodes {
			return nil, in.Errorf(in.Exc.TypeError, "decoding to str: need a bytes-like object, %s found", TypeName(a[0]))
		}
		return text(a[0])
	}
	addOps(t, nil, "+", "*", "%")
	addCompare(t, nil, allCompare...)
	addBasics(t, "repr hash len iter getitem contains format")
	m := func(name string, lo, hi int, f func(in *Interp, s string, args []Object) (Object, error)) {
		addMethod(t, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			s, ok := AsStr(args[0])
			if !ok {
				return nil, notStr(in, name, args[0])
			}
			return f(in, s, args[1:])
		})
	}
	kwm := func(name, sig string, f func(in *Interp, s string, args []Object) (Object, error)) {
		addKw(t, name, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			a, err := in.ParseArgs(name, args, kw, "self, /, "+sig)
			if err != nil {
				return nil, err
			}
			s, _ := AsStr(a[0])
			return f(in, s, a[1:])
		})
	}
	m("__str__", 0, 0, func(_ *Interp, s string, _ []Object) (Object, error) { return Str(s), nil })
	m("__getnewargs__", 0, 0, func(_ *Interp, s string, _ []Object) (Object, error) { return NewTuple(Str(s)), nil })
	simple := func(name string, f func(s string) string) {
		addMethod(t, name, 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			s, ok := AsStr(args[0])
			if !ok {
				return nil, notStr(in, name, args[0])
			}
			return sameStr(args[0], f(s)), nil
		})
	}
	simple("lower", lowerStr)
	simple("upper", upperStr)
	simple("casefold", foldStr)
	simple("swapcase", swapCase)
	simple("capitalize", capitalize)
	simple("title", titleStr)
	is := func(name string, empty bool, f func(r rune) bool) {
		m(name, 0, 0, func(_ *Interp, s string, _ []Object) (Object, error) {
			if s == "" {
				return MakeBool(empty), nil
			}
			for i := 0; i < len(s); i++ {
				if s[i] >= utf8.RuneSelf {
					return MakeBool(allRunes(s[i:], f)), nil
				}
				if !f(rune(s[i])) {
					return False, nil
				}
			}
			return True, nil
		})
	}
	is("isalpha", false, isAlpha)
	is("isdigit", false, isAnyDigit)
	is("isdecimal", false, isDecimal)
	is("isnumeric", false, isNumeric)
	is("isalnum", false, func(r rune) bool { return isAlpha(r) || isNumeric(r) })
	is("isspace", false, isSpace)
	is("isprintable", true, func(r rune) bool { return has(r, ucd.Printable) })
	is("isascii", true, func(r rune) bool { return r < 128 })
	m("isidentifier", 0, 0, func(_ *Interp, s string, _ []Object) (Object, error) {
		return MakeBool(isIdentifier(s)), nil
	})
	cased := func(name string, bad, good func(r rune) bool) {
		m(name, 0, 0, func(_ *Interp, s string, _ []Object) (Object, error) {
			any := false
			for _, r := range wtf8.All(s) {
				if bad(r) {
					return False, nil
				}
				any = any || good(r)
			}
			return MakeBool(any), nil
		})
	}
	cased("islower", isUpper, isLower)
	cased("isupper", isLower, isUpper)
	m("istitle", 0, 0, func(_ *Interp, s string, _ []Object) (Object, error) {
		prev, any := false, false
		for _, r := range wtf8.All(s) {
			if (isUpper(r) || isTitle(r)) && prev || isLower(r) && !prev {
				return False, nil
			}
			prev = isUpper(r) || isTitle(r) || isLower(r)
			any = any || prev
		}
		return MakeBool(any), nil
	})
	strip := func(name string, l, r bool) {
		addMethod(t, name, 0, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			s, ok := AsStr(args[0])
			if !ok {
				return nil, notStr(in, name, args[0])
			}
			f := isSpace
			if len(args) > 1 && args[1] != None {
				cut, err := strArg(in, name+" arg", args[1])
				if err != nil {
					return nil, in.Errorf(in.Exc.TypeError, "%s arg must be None or str", name)
				}
				f = func(r rune) bool { return strings.ContainsRune(cut, r) }
			}
			if l && s != "" && (s[0] >= utf8.RuneSelf || f(rune(s[0]))) {
				s = strings.TrimLeftFunc(s, f)
			}
			if r && s != "" && (s[len(s)-1] >= utf8.RuneSelf || f(rune(s[len(s)-1]))) {
				s = strings.TrimRightFunc(s, f)
			}
			return sameStr(args[0], s), nil
		})
	}
	strip("strip", true, true)
	strip("lstrip", true, false)
	strip("rstrip", false, true)
	find := func(name string, last, raise bool) {
		m(name, 1, 3, func(in *Interp, s string, args []Object) (Object, error) {
			sub, ok := AsStr(args[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "must be str, not %s", TypeName(args[0]))
			}
			part, off, ok, err := span(in, s, args[1:])
			if err != nil {
				return nil, err
			}
			i := -1
			if ok {
				if last {
					i = strings.LastIndex(part, sub)
				} else {
					i = strings.Index(part, sub)
				}
			}
			if i < 0 {
				if raise {
					return nil, in.Errorf(in.Exc.ValueError, "substring not found")
				}
				return MakeInt(-1), nil
			}
			return MakeInt(int64(off + strLen(part[:i]))), nil
		})
	}
	find("find", false, false)
	find("rfind", true, false)
	find("index", false, true)
	find("rindex", true, true)
	m("count", 1, 3, func(in *Interp, s string, args []Object) (Object, error) {
		sub, ok := AsStr(args[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "must be str, not %s", TypeName(args[0]))
		}
		part, _, ok, err := span(in, s, args[1:])
		if err != nil || !ok {
			return MakeInt(0), err
		}
		return MakeInt(int64(strings.Count(part, sub))), nil
	})
	affix := func(name string, f func(s, x string) bool) {
		m(name, 1, 3, func(in *Interp, s string, args []Object) (Object, error) {
			part, _, ok, err := span(in, s, args[1:])
			if err != nil || !ok {
				return False, err
			}
			cands := []Object{args[0]}
			if tp, ok := AsTuple(args[0]); ok {
				cands = tp.Items
			}
			for _, c := range cands {
				x, ok := AsStr(c)
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "%s first arg must be str or a tuple of str, not %s", name, TypeName(c))
				}
				if f(part, x) {
					return True, nil
				}
			}
			return False, nil
		})
	}
	affix("startswith", strings.HasPrefix)
	affix("endswith", strings.HasSuffix)
	parsedArgs(t)
	m("removeprefix", 1, 1, func(in *Interp, s string, args []Object) (Object, error) {
		x, err := strArg(in, "removeprefix() argument", args[0])
		return Str(strings.TrimPrefix(s, x)), err
	})
	m("removesuffix", 1, 1, func(in *Interp, s string, args []Object) (Object, error) {
		x, err := strArg(in, "removesuffix() argument", args[0])
		return Str(strings.TrimSuffix(s, x)), err
	})
	m("replace", 2, 3, func(in *Interp, s string, args []Object) (Object, error) {
		old, err := strArg(in, "replace() argument 1", args[0])
		if err != nil {
			return nil, err
		}
		nw, err := strArg(in, "replace() argument 2", args[1])
		if err != nil {
			return nil, err
		}
		n := int64(-1)
		if len(args) > 2 {
			if n, err = in.Index(args[2]); err != nil {
				return nil, err
			}
		}
		return Str(strings.Replace(s, old, nw, int(n))), nil
	})
	m("join", 1, 1, func(in *Interp, s string, args []Object) (Object, error) {
		if args[0].Type().Lookup("__iter__") == nil && args[0].Type().Lookup("__getitem__") == nil {
			return nil, in.Errorf(in.Exc.TypeError, "can only join an iterable")
		}
		var items []Object
		switch x := args[0].(type) {
		case *List:
			items = x.Items
		case *Tuple:
			items = x.Items
		default:
			it, err := in.Iter(x)
			if err != nil && in.Matches(err, in.Exc.TypeError) {
				return nil, in.Errorf(in.Exc.TypeError, "can only join an iterable")
			} else if err != nil {
				return nil, err
			}
			if items, err = in.IterAll(it); err != nil {
				return nil, err
			}
		}
		parts := make([]string, len(items))
		for i, it := range items {
			x, ok := AsStr(it)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "sequence item %d: expected str instance, %s found", i, TypeName(it))
			}
			parts[i] = x
		}
		return Str(strings.Join(parts, s)), nil
	})
	toList := func(parts []string) Object {
		l := &List{make([]Object, len(parts))}
		for i, p := range parts {
			l.Items[i] = Str(p)
		}
		return l
	}
	split := func(name string, right bool) {
		kwm(name, "sep=None, maxsplit=-1", func(in *Interp, s string, a []Object) (Object, error) {
			n, err := in.Index(a[1])
			if err != nil {
				return nil, err
			}
			if a[0] == None {
				return toList(splitSpace(s, int(n), right)), nil
			}
			sep, ok := AsStr(a[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "must be str or None, not %s", TypeName(a[0]))
			}
			if sep == "" {
				return nil, in.Errorf(in.Exc.ValueError, "empty separator")
			}
			if !right {
				if n >= 0 {
					n++ // SplitN counts the parts
				}
				return toList(strings.SplitN(s, sep, int(n))), nil
			}
			var parts []string // the last first: separators that overlap are taken from the right
			for ; n != 0; n-- {
				i := strings.LastIndex(s, sep)
				if i < 0 {
					break
				}
				parts = append(parts, s[i+len(sep):])
				s = s[:i]
			}
			parts = append(parts, s)
			slices.Reverse(parts)
			return toList(parts), nil
		})
	}
	split("split", false)
	split("rsplit", true)
	kwm("splitlines", "keepends=False", func(in *Interp, s string, a []Object) (Object, error) {
		keep, err := in.Index(a[0])
		if err != nil {
			return nil, err
		}
		return toList(splitLines(s, keep != 0)), nil
	})
	part := func(name string, last bool) {
		m(name, 1, 1, func(in *Interp, s string, args []Object) (Object, error) {
			sep, err := strArg(in, "must", args[0])
			if err != nil {
				return nil, err
			}
			if sep == "" {
				return nil, in.Errorf(in.Exc.ValueError, "empty separator")
			}
			i := strings.Index(s, sep)
			if last {
				i = strings.LastIndex(s, sep)
			}
			if i < 0 {
				if last {
					return NewTuple(Str(""), Str(""), Str(s)), nil
				}
				return NewTuple(Str(s), Str(""), Str("")), nil
			}
			return NewTuple(Str(s[:i]), Str(sep), Str(s[i+len(sep):])), nil
		})
	}
	part("partition", false)
	part("rpartition", true)
	just := func(name string, f func(s, fill string, n int) string) {
		m(name, 1, 2, func(in *Interp, s string, args []Object) (Object, error) {
			w, err := in.Index(args[0])
			if err != nil {
				return nil, err
			}
			fill := " "
			if len(args) > 1 {
				if fill, err = strArg(in, "The fill character", args[1]); err != nil || strLen(fill) != 1 {
					return nil, in.Errorf(in.Exc.TypeError, "The fill character must be exactly one character long")
				}
			}
			n := int(w) - strLen(s)
			if n <= 0 {
				return Str(s), nil
			}
			if n > mostItems {
				return nil, in.Errorf(in.Exc.MemoryError, "")
			}
			return Str(f(s, fill, n)), nil
		})
	}
	just("ljust", func(s, fill string, n int) string { return s + strings.Repeat(fill, n) })
	just("rjust", func(s, fill string, n int) string { return strings.Repeat(fill, n) + s })
	just("center", func(s, fill string, n int) string {
		l := n/2 + (n & (n + strLen(s)) & 1)
		return strings.Repeat(fill, l) + s + strings.Repeat(fill, n-l)
	})
	m("zfill", 1, 1, func(in *Interp, s string, args []Object) (Object, error) {
		w, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		n := int(w) - strLen(s)
		if n <= 0 {
			return Str(s), nil
		}
		if n > mostItems {
			return nil, in.Errorf(in.Exc.MemoryError, "")
		}
		if s != "" && (s[0] == '-' || s[0] == '+') {
			return Str(s[:1] + strings.Repeat("0", n) + s[1:]), nil
		}
		return Str(strings.Repeat("0", n) + s), nil
	})
	kwm("expandtabs", "tabsize=8", func(in *Interp, s string, a []Object) (Object, error) {
		n, err := in.Index(a[0])
		if err != nil {
			return nil, err
		}
		if n != int64(int32(n)) {
			return nil, in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C int")
		}
		var sb strings.Builder
		col := 0
		for _, r := range wtf8.All(s) {
			switch r {
			case '\t':
				if n > 0 {
					k := int(n) - col%int(n)
					if k > mostItems-sb.Len() {
						return nil, in.Errorf(in.Exc.OverflowError, "new string is too long")
					}
					sb.WriteString(strings.Repeat(" ", k))
					col += k
				}
			case '\n', '\r':
				wtf8.WriteRune(&sb, r)
				col = 0
			default:
				wtf8.WriteRune(&sb, r)
				col++
			}
		}
		return Str(sb.String()), err
	})
	kwm("encode", "encoding='utf-8', errors='strict'", func(in *Interp, s string, a []Object) (Object, error) {
		enc, errs, err := encodingArgs(in, "encode", a[0], a[1])
		if err != nil {
			return nil, err
		}
		b, err := in.Encode(s, enc, errs)
		return Bytes(b), err
	})
	addKw(t, "format", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		s, _ := AsStr(args[0])
		r, err := strFormat(in, s, args[1:], kw)
		return Str(r), err
	})
	m("format_map", 1, 1, func(in *Interp, s string, args []Object) (Object, error) {
		f := &strFormatter{in: in, names: args[0]}
		r, err := f.format(s, 2)
		return Str(r), err
	})
	m("translate", 1, 1, func(in *Interp, s string, args []Object) (Object, error) {
		var sb strings.Builder
		for _, r := range wtf8.All(s) {
			v, err := in.GetItem(args[0], MakeInt(int64(r)))
			if err != nil {
				if in.Matches(err, in.Exc.LookupError) {
					wtf8.WriteRune(&sb, r)
					continue
				}
				return nil, err
			}
			if v == None {
				continue
			}
			if x, ok := AsStr(v); ok {
				sb.WriteString(x)
				continue
			}
			n, ok := AsBig(v)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "character mapping must return integer, None or str")
			}
			if !n.IsInt64() || n.Int64() < 0 || n.Int64() > utf8.MaxRune {
				return nil, in.Errorf(in.Exc.ValueError, "character mapping must be in range(0x%x)", utf8.MaxRune+1)
			}
			wtf8.WriteRune(&sb, rune(n.Int64()))
		}
		return Str(sb.String()), nil
	})
	t.Dict.SetStr("maketrans", &StaticMethod{Func: &Builtin{Name: "maketrans", Owner: t, Min: 1, Max: 3, NoKw: true, Fn: func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		d := NewDict()
		if len(args) == 1 {
			src, ok := AsDict(args[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "if you give only one argument to maketrans it must be a dict")
			}
			var err error
			src.Each(func(k, v Object) bool {
				if s, ok := AsStr(k); ok {
					r, size := wtf8.DecodeRuneInString(s)
					if s == "" || size < len(s) {
						err = in.Errorf(in.Exc.ValueError, "string keys in translate table must be of length 1")
						return false
					}
					k = MakeInt(int64(r))
				} else if _, ok := AsBig(k); !ok {
					err = in.Errorf(in.Exc.TypeError, "keys in translate table must be strings or integers")
					return false
				}
				err = d.Set(in, k, v)
				return err == nil
			})
			return d, err
		}
		x, isText := AsStr(args[0])
		if !isText {
			return nil, in.Errorf(in.Exc.TypeError, "first maketrans argument must be a string if there is a second argument")
		}
		var more [2]string
		for i, o := range args[1:] {
			var err error
			if more[i], err = strArg(in, "maketrans() argument "+strconv.Itoa(i+2), o); err != nil {
				return nil, err
			}
		}
		y, z := more[0], more[1]
		xs, ys := wtf8.Runes(x), wtf8.Runes(y)
		if len(xs) != len(ys) {
			return nil, in.Errorf(in.Exc.ValueError, "the first two maketrans arguments must have equal length")
		}
		for i := range xs {
			if err := d.Set(in, MakeInt(int64(xs[i])), MakeInt(int64(ys[i]))); err != nil {
				return nil, err
			}
		}
		for _, r := range wtf8.All(z) {
			if err := d.Set(in, MakeInt(int64(r)), None); err != nil {
				return nil, err
			}
		}
		return d, nil
	}}})
}

// splitSpace splits at runs of white space, n times at most unless that is negative, counted from the right end if right.
func splitSpace(s string, n int, right bool) []string {
	if n < 0 && isASCII(s) {
		return splitASCII(s)
	}
	if n < 0 {
		return strings.FieldsFunc(s, isSpace)
	}
	var out []string
	if !right {
		s = strings.TrimLeftFunc(s, isSpace)
		for s != "" {
			if len(out) == n {
				return append(out, s)
			}
			i := strings.IndexFunc(s, isSpace)
			if i < 0 {
				return append(out, s)
			}
			out = append(out, s[:i])
			s = strings.TrimLeftFunc(s[i:], isSpace)
		}
		return out
	}
	s = strings.TrimRightFunc(s, isSpace)
	for s != "" {
		if len(out) == n {
			return append([]string{s}, out...)
		}
		i := strings.LastIndexFunc(s, isSpace)
		if i < 0 {
			return append([]string{s}, out...)
		}
		_, w := wtf8.DecodeRuneInString(s[i:])
		out = append([]string{s[i+w:]}, out...)
		s = strings.TrimRightFunc(s[:i], isSpace)
	}
	return out
}

// splitASCII is splitSpace of what has characters of one byte only, without a limit.
func splitASCII(s string) []string {
	out := make([]string, 0, len(s)/8+1)
	begin := -1
	for i := 0; i < len(s); i++ {
		switch space := isSpace(rune(s[i])); {
		case space && begin >= 0:
			out = append(out, s[begin:i])
			begin = -1
		case !space && begin < 0:
			begin = i
		}
	}
	if begin >= 0 {
		out = append(out, s[begin:])
	}
	return out
}

// splitLines splits at all that Unicode takes for the end of a line.
func splitLines(s string, keep bool) []string {
	var out []string
	for s != "" {
		i := strings.IndexFunc(s, func(r rune) bool {
			return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
		})
		if i < 0 {
			return append(out, s)
		}
		_, w := wtf8.DecodeRuneInString(s[i:])
		if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
			w = 2
		}
		if keep {
			out = append(out, s[:i+w])
		} else {
			out = append(out, s[:i])
		}
		s = s[i+w:]
	}
	return out
}

// isIdentifier reports whether a text could be a name.
func isIdentifier(s string) bool {
	for i, r := range wtf8.All(s) {
		if !has(r, ucd.IDStart) && (i == 0 || !has(r, ucd.IDContinue)) {
			return false
		}
	}
	return s != ""
}

package stdlib

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/charnames"
	"whittle/capture/python/clinic"
	"whittle/capture/python/literal"
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// codecRegistry is what programs have registered: search functions, handlers of errors, and the codecs found so far.
type codecRegistry struct {
	search []vm.Object
	found  map[string]foundCodec
	errors map[string]vm.Object
	ready  bool // the package encodings, whose search function is the first, has been imported
}

// codecsModule is _codecs, on which CPython's codecs.py and the package encodings stand.
func codecsModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_codecs", "")
	r := &codecRegistry{found: map[string]foundCodec{}, errors: map[string]vm.Object{}}
	in.LookupCodec = func(name, instead string) (encode, decode vm.Object, err error) {
		t, err := r.lookup(in, name)
		if err != nil {
			return nil, nil, err
		}
		if b, _ := in.GetAttrOpt(t.t, "_is_text_encoding"); b == vm.False {
			return nil, nil, in.Errorf(in.Exc.LookupError, "'%s' is not a text encoding; use %s to handle arbitrary codecs", name, instead)
		}
		return t.Items[0], t.Items[1], nil
	}
	in.ErrorHandler = func(name string) vm.Object { return r.errors[name] }
	r.registry(m)
	r.handlers(m)
	builtinCodecs(m)
	escapeCodecs(m)
	utf7Codec(m)
	charmaps(in, m)
	return m, nil
}

// normalName is an encoding's name as search functions get it.
func normalName(name string) string {
	var sb strings.Builder
	punct := false
	for _, c := range []byte(strings.ToLower(name)) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' {
			if punct && sb.Len() > 0 {
				sb.WriteByte('_')
			}
			sb.WriteByte(c)
			punct = false
			continue
		}
		punct = true
	}
	return sb.String()
}

// foundCodec is a CodecInfo and its items.
type foundCodec struct {
	*vm.Tuple
	t vm.Object
}

// lookup finds a codec by the search functions.
func (r *codecRegistry) lookup(in *vm.Interp, name string) (foundCodec, error) {
	key := normalName(name)
	if !r.ready {
		r.ready = true
		if _, err := in.Import("encodings"); err != nil {
			return foundCodec{}, err
		}
	}
	if t, ok := r.found[key]; ok {
		return t, nil
	}
	for _, f := range r.search {
		v, err := in.Call(f, []vm.Object{vm.Str(key)}, nil)
		if err != nil {
			return foundCodec{}, err
		}
		if v == vm.None {
			continue
		}
		t, ok := vm.AsTuple(v)
		if !ok || len(t.Items) != 4 {
			return foundCodec{}, in.Errorf(in.Exc.TypeError, "codec search functions must return 4-tuples")
		}
		r.found[key] = foundCodec{t, v}
		return r.found[key], nil
	}
	return foundCodec{}, in.Errorf(in.Exc.LookupError, "unknown encoding: %s", name)
}

// registry are the functions by which codecs are registered and used.
func (r *codecRegistry) registry(m *vm.Module) {
	callable := func(c *clinic.Call, i int, what string) error {
		if f, err := c.GetAttrOpt(c.Args[i], "__call__"); err != nil || f == nil {
			return c.Errorf(c.Exc.TypeError, "%s must be callable", what)
		}
		return nil
	}
	clinic.Def(m, "register", "search_function, /", func(c *clinic.Call) (vm.Object, error) {
		if err := callable(c, 0, "argument"); err != nil {
			return nil, err
		}
		r.search = append(r.search, c.Args[0])
		return vm.None, nil
	})
	clinic.Def(m, "unregister", "search_function, /", func(c *clinic.Call) (vm.Object, error) {
		for i, f := range r.search {
			if f == c.Args[0] {
				r.search = append(r.search[:i:i], r.search[i+1:]...)
				clear(r.found)
				break
			}
		}
		return vm.None, nil
	})
	clinic.Def(m, "_forget_codec", "encoding:str, /", func(c *clinic.Call) (vm.Object, error) {
		delete(r.found, normalName(c.Str(0)))
		return vm.None, nil
	})
	clinic.Def(m, "lookup", "encoding:str, /", func(c *clinic.Call) (vm.Object, error) {
		t, err := r.lookup(c.Interp, c.Str(0))
		if err != nil {
			return nil, err
		}
		return t.t, nil
	})
	for i, name := range []string{"encode", "decode"} {
		clinic.Def(m, name, "obj, encoding:str=\"utf-8\", errors:str=\"strict\"", func(c *clinic.Call) (vm.Object, error) {
			t, err := r.lookup(c.Interp, c.Str(1))
			if err != nil {
				return nil, err
			}
			v, err := c.Interp.Call(t.Items[i], []vm.Object{c.Args[0], c.Args[2]}, nil)
			if err != nil {
				return nil, c.CodecFailed(err, name[:len(name)-1]+"ing", c.Str(1))
			}
			pair, ok := vm.AsTuple(v)
			if !ok || len(pair.Items) != 2 {
				return nil, c.Errorf(c.Exc.TypeError, "%sr must return a tuple (object, integer)", name)
			}
			return pair.Items[0], nil
		})
	}
	clinic.Def(m, "register_error", "errors:str, handler, /", func(c *clinic.Call) (vm.Object, error) {
		if err := callable(c, 1, "handler"); err != nil {
			return nil, err
		}
		r.errors[c.Str(0)] = c.Args[1]
		return vm.None, nil
	})
	clinic.Def(m, "lookup_error", "name:str, /", func(c *clinic.Call) (vm.Object, error) {
		if h := r.errors[c.Str(0)]; h != nil {
			return h, nil
		}
		return nil, c.Errorf(c.Exc.LookupError, "unknown error handler name '%s'", c.Str(0))
	})
}

// handlers are the handlers of errors that there are from the start, as functions that programs can find and call. The codecs themselves
// know them by their names.
func (r *codecRegistry) handlers(m *vm.Module) {
	for _, name := range []string{"strict", "ignore", "replace", "backslashreplace", "xmlcharrefreplace", "namereplace", "surrogateescape", "surrogatepass"} {
		r.errors[name] = &vm.Builtin{Name: name + "_errors", Min: 1, Max: 1, NoKw: true, Fn: func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			e, ok := args[0].(*vm.Exception)
			if !ok && name == "strict" {
				return nil, in.Errorf(in.Exc.TypeError, "codec must pass exception instance")
			} else if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "don't know how to handle %s in error callback", vm.TypeName(args[0]))
			}
			return handleError(in, name, e)
		}}
	}
}

// handleError is a handler called by a program.
func handleError(in *vm.Interp, name string, e *vm.Exception) (vm.Object, error) {
	start, _ := vm.AsInt(e.Field("start"))
	end, _ := vm.AsInt(e.Field("end"))
	clamp := func(n int) { // to characters that there are
		start, end = max(0, min(start, int64(n)-1)), min(max(1, end), int64(n))
		start = min(start, end)
	}
	enc, _ := vm.AsStr(e.Field("encoding"))
	give := func(s string) (vm.Object, error) { return vm.NewTuple(vm.Str(s), vm.MakeInt(end)), nil }
	wrong := func() (vm.Object, error) {
		return nil, in.Errorf(in.Exc.TypeError, "don't know how to handle %s in error callback", e.Class.Name)
	}
	if name == "strict" {
		return nil, in.Raise(e)
	}
	if e.Class.IsSubtype(in.Exc.UnicodeDecodeError) {
		b, ok := vm.AsBytes(e.Field("object"))
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "object attribute must be bytes")
		}
		clamp(len(b))
		switch name {
		case "ignore":
			return give("")
		case "replace":
			return give("\ufffd")
		case "backslashreplace":
			s := ""
			for _, c := range b[start:end] {
				s += fmt.Sprintf(`\x%02x`, c)
			}
			return give(s)
		case "surrogateescape", "surrogatepass":
			s, _, next, err := in.DecodeError(enc, b, int(start), int(end), "", name)
			if err != nil {
				return nil, in.Raise(e)
			}
			return vm.NewTuple(vm.Str(s), vm.MakeInt(int64(next))), nil
		}
		return wrong()
	}
	encodes := e.Class.IsSubtype(in.Exc.UnicodeEncodeError)
	if !encodes && !e.Class.IsSubtype(in.Exc.UnicodeTranslateError) {
		return wrong()
	}
	text, ok := vm.AsStr(e.Field("object"))
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "object attribute must be unicode")
	}
	rs := wtf8.Runes(text)
	clamp(len(rs))
	bad := wtf8.String(rs[start:end])
	switch {
	case name == "ignore":
		return give("")
	case name == "replace" && !encodes:
		return give(strings.Repeat("\ufffd", int(end-start)))
	case name == "replace":
		return give(strings.Repeat("?", int(end-start)))
	case name == "namereplace" && encodes:
		return give(namesOf(bad))
	case name == "backslashreplace":
		var sb strings.Builder
		for _, r := range rs[start:end] {
			literal.Escape(&sb, r)
		}
		return give(sb.String())
	case name == "xmlcharrefreplace" && encodes:
		var sb strings.Builder
		for _, r := range rs[start:end] {
			fmt.Fprintf(&sb, "&#%d;", r)
		}
		return give(sb.String())
	case (name == "surrogateescape" || name == "surrogatepass") && encodes:
		first, last := rune(0xd800), rune(0xdfff)
		if name == "surrogateescape" {
			enc, first, last = "ascii", 0xdc80, 0xdcff
		}
		b, err := in.Encode(bad, enc, name)
		if err != nil || slices.ContainsFunc(rs[start:end], func(r rune) bool { return r < first || r > last }) {
			return nil, in.Raise(e)
		}
		return vm.NewTuple(vm.Bytes(b), vm.MakeInt(end)), nil
	}
	return wrong()
}

// builtinCodecs are the functions of the encodings that the interpreter has itself.
func builtinCodecs(m *vm.Module) {
	for fn, enc := range map[string]string{"utf_8": "utf-8", "ascii": "ascii", "latin_1": "latin-1", "utf_16": "utf-16", "utf_16_le": "utf-16-le", "utf_16_be": "utf-16-be",
		"utf_32": "utf-32", "utf_32_le": "utf-32-le", "utf_32_be": "utf-32-be"} {
		clinic.Def(m, fn+"_encode", "str:str, errors:str?=None, byteorder:int=0, /", func(c *clinic.Call) (vm.Object, error) {
			name := enc
			if o := c.Int(2); o != 0 && (fn == "utf_16" || fn == "utf_32") {
				name += map[bool]string{true: "-le", false: "-be"}[o < 0]
			}
			b, err := c.Encode(c.Str(0), name, errorsOf(c, 1))
			if err != nil {
				return nil, err
			}
			return vm.NewTuple(vm.Bytes(b), vm.MakeInt(int64(wtf8.RuneCountInString(c.Str(0))))), nil
		})
		final := strings.HasPrefix(fn, "utf")
		clinic.Def(m, fn+"_decode", "data:bytes, errors:str?=None, final:bool=False, /", func(c *clinic.Call) (vm.Object, error) {
			s, n, err := c.DecodePart(c.Bytes(0), enc, errorsOf(c, 1), c.Bool(2) || !final)
			if err != nil {
				return nil, err
			}
			return vm.NewTuple(vm.Str(s), vm.MakeInt(int64(n))), nil
		})
	}
	for fn, mark := range map[string]string{"utf_16_ex": "utf-16", "utf_32_ex": "utf-32"} {
		clinic.Def(m, fn+"_decode", "data:bytes, errors:str?=None, byteorder:int=0, final:bool=False, /", func(c *clinic.Call) (vm.Object, error) {
			enc, order := mark, c.Int(2)
			b, size := c.Bytes(0), map[string]int{"utf-16": 2, "utf-32": 4}[mark]
			if order == 0 && len(b) >= size {
				switch {
				case b[0] == 0xff && b[1] == 0xfe:
					order = -1
				case b[size-2] == 0xfe && b[size-1] == 0xff:
					order = 1
				}
			} else if order != 0 {
				enc += map[bool]string{true: "-le", false: "-be"}[order < 0]
			}
			s, n, err := c.DecodePart(b, enc, errorsOf(c, 1), c.Bool(3))
			if err != nil {
				return nil, err
			}
			return vm.NewTuple(vm.Str(s), vm.MakeInt(int64(n)), vm.MakeInt(order)), nil
		})
	}
	clinic.Def(m, "readbuffer_encode", "data, errors:str?=None, /", func(c *clinic.Call) (vm.Object, error) {
		b, ok := vm.AsBytes(c.Args[0])
		if s, isStr := vm.AsStr(c.Args[0]); isStr {
			b, ok = []byte(s), true
		}
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(c.Args[0]))
		}
		return vm.NewTuple(vm.Bytes(b), vm.MakeInt(int64(len(b)))), nil
	})
}

// errorsOf is an optional argument that names a handler.
func errorsOf(c *clinic.Call, i int) string {
	if c.None(i) {
		return "strict"
	}
	return c.Str(i)
}

// namesOf spells characters as \N{...} where they have a name.
func namesOf(s string) string {
	var sb strings.Builder
	for _, r := range wtf8.All(s) {
		if n := charnames.Name(r); n != "" {
			sb.WriteString(`\N{` + n + `}`)
			continue
		}
		escapeRune(&sb, r, false)
	}
	return sb.String()
}

// escapeRune writes a character as unicode_escape does; raw leaves what fits a byte as it is.
func escapeRune(sb *strings.Builder, r rune, raw bool) {
	if raw && r < 0x100 {
		sb.WriteByte(byte(r))
		return
	}
	literal.Escape(sb, r)
}

// escapeCodecs are the encodings that write what is not plain as escapes.
func escapeCodecs(m *vm.Module) {
	for _, raw := range []bool{false, true} {
		name := map[bool]string{false: "unicode_escape", true: "raw_unicode_escape"}[raw]
		clinic.Def(m, name+"_encode", "str:str, errors:str?=None, /", func(c *clinic.Call) (vm.Object, error) {
			var sb strings.Builder
			n := 0
			for _, r := range wtf8.All(c.Str(0)) {
				n++
				switch {
				case raw && r < 0x100:
					sb.WriteByte(byte(r))
				case !raw && r == '\\', !raw && r == '\n', !raw && r == '\r', !raw && r == '\t':
					sb.WriteString(map[rune]string{'\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`}[r])
				case !raw && r >= ' ' && r < 0x7f:
					sb.WriteRune(r)
				default:
					escapeRune(&sb, r, raw)
				}
			}
			return vm.NewTuple(vm.Bytes(sb.String()), vm.MakeInt(int64(n))), nil
		})
		clinic.Def(m, name+"_decode", "data, errors:str?=None, final:bool=True, /", func(c *clinic.Call) (vm.Object, error) {
			b, ok := vm.AsBytes(c.Args[0])
			if s, isStr := vm.AsStr(c.Args[0]); isStr {
				b, ok = []byte(s), true
			}
			if !ok {
				return nil, c.Errorf(c.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(c.Args[0]))
			}
			u := unescaper{c: c, data: b, codec: strings.ReplaceAll(name, "_", ""), raw: raw, errors: errorsOf(c, 1), final: c.Bool(2)}
			if raw {
				u.codec = "rawunicodeescape"
			}
			if err := u.run(); err != nil {
				return nil, err
			}
			if err := warnOdd(c.Interp, u.odd); err != nil {
				return nil, err
			}
			used := u.pos
			if u.final { // a handler may have replaced the bytes
				used = len(b)
			}
			return vm.NewTuple(vm.Str(u.out.String()), vm.MakeInt(int64(used))), nil
		})
	}
	clinic.Def(m, "escape_encode", "data:bytes, errors:str?=None, /", func(c *clinic.Call) (vm.Object, error) {
		var sb strings.Builder
		for _, ch := range c.Bytes(0) {
			switch {
			case ch == '\\' || ch == '\'':
				sb.WriteString(`\` + string(rune(ch)))
			case ch == '\n' || ch == '\r' || ch == '\t':
				sb.WriteString(map[byte]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}[ch])
			case ch < ' ' || ch >= 0x7f:
				fmt.Fprintf(&sb, `\x%02x`, ch)
			default:
				sb.WriteByte(ch)
			}
		}
		return vm.NewTuple(vm.Bytes(sb.String()), vm.MakeInt(int64(len(c.Bytes(0))))), nil
	})
	clinic.Def(m, "escape_decode", "data, errors:str?=None, /", func(c *clinic.Call) (vm.Object, error) {
		b, _ := vm.AsBytes(c.Args[0])
		if s, ok := vm.AsStr(c.Args[0]); ok {
			b = []byte(s)
		}
		out, err := unescapeBytes(c, b, errorsOf(c, 1))
		if err != nil {
			return nil, err
		}
		return vm.NewTuple(vm.Bytes(out), vm.MakeInt(int64(len(b)))), nil
	})
}

// plainEscapes are the escapes of one letter.
var plainEscapes = map[byte]byte{'\\': '\\', '\'': '\'', '"': '"', 'a': 7, 'b': 8, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11}

// unescapeBytes reads the escapes of a bytes literal.
func unescapeBytes(c *clinic.Call, b []byte, errs string) ([]byte, error) {
	var out []byte
	why := ""
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			out = append(out, b[i])
			continue
		}
		i++
		if i >= len(b) {
			return nil, c.Errorf(c.Exc.ValueError, `Trailing \ in string`)
		}
		switch e, ok := plainEscapes[b[i]]; {
		case ok:
			out = append(out, e)
		case b[i] == '\n':
		case b[i] >= '0' && b[i] <= '7':
			j := i
			for j < len(b) && j < i+3 && b[j] >= '0' && b[j] <= '7' {
				j++
			}
			n, _ := strconv.ParseUint(string(b[i:j]), 8, 16)
			if n > 0o377 {
				odd(&why, "octal escape", b[i:j])
			}
			out = append(out, byte(n))
			i = j - 1
		case b[i] == 'x':
			if n, err := strconv.ParseUint(string(b[min(i+1, len(b)):min(i+3, len(b))]), 16, 8); err == nil && i+2 < len(b) {
				out = append(out, byte(n))
				i += 2
				continue
			}
			switch errs {
			case "strict":
				return nil, c.Errorf(c.Exc.ValueError, `invalid \x escape at position %d`, i-1)
			case "replace":
				out = append(out, '?')
			case "ignore":
			default:
				return nil, c.Errorf(c.Exc.ValueError, "decoding error; unknown error handling code: %s", errs)
			}
			if i+1 < len(b) && isHexByte(b[i+1]) {
				i++
			}
		default:
			odd(&why, "escape", b[i:i+1])
			out = append(out, '\\', b[i])
		}
	}
	return out, warnOdd(c.Interp, why)
}

func isHexByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// odd notes in why that an escape is none, unless another one was noted before.
func odd(why *string, kind string, escape []byte) {
	if *why == "" {
		var s strings.Builder // Latin-1
		for _, c := range escape {
			s.WriteRune(rune(c))
		}
		*why = "invalid " + kind + " sequence '\\" + s.String() + "'"
	}
}

// warnOdd warns of what odd has noted.
func warnOdd(in *vm.Interp, why string) error {
	if why == "" {
		return nil
	}
	return in.Warn(in.Exc.DeprecationWarning, why)
}

// unescaper decodes unicode_escape and its raw form.
type unescaper struct {
	c      *clinic.Call
	data   []byte
	codec  string
	raw    bool
	errors string
	final  bool
	pos    int
	out    strings.Builder
	odd    string // why the first escape that is none is deprecated
}

// run reads everything; without final, an escape that is not whole is left.
func (u *unescaper) run() error {
	for u.pos < len(u.data) {
		c := u.data[u.pos]
		if c != '\\' {
			wtf8.WriteRune(&u.out, rune(c))
			u.pos++
			continue
		}
		if u.pos+1 >= len(u.data) {
			if !u.final {
				return nil
			}
			if u.raw {
				u.out.WriteByte('\\')
				u.pos++
				continue
			}
			if err := u.bad(len(u.data), `\ at end of string`); err != nil {
				return err
			}
			continue
		}
		stop, err := u.escape(u.data[u.pos+1])
		if stop || err != nil {
			return err
		}
	}
	return nil
}

// escape reads one escape whose letter is e.
func (u *unescaper) escape(e byte) (stop bool, err error) {
	if n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[e]; n > 0 && (!u.raw || e != 'x') {
		start := u.pos + 2
		j := start
		for j < len(u.data) && j < start+n && isHexByte(u.data[j]) {
			j++
		}
		if j < start+n {
			if j == len(u.data) && !u.final {
				return true, nil
			}
			return false, u.bad(j, map[byte]string{'x': `truncated \xXX escape`, 'u': `truncated \uXXXX escape`, 'U': `truncated \UXXXXXXXX escape`}[e])
		}
		v, _ := strconv.ParseUint(string(u.data[start:j]), 16, 64)
		if v > utf8.MaxRune {
			what := "illegal Unicode character"
			if u.raw {
				what = `\Uxxxxxxxx out of range`
			}
			return false, u.bad(j, what)
		}
		wtf8.WriteRune(&u.out, rune(v))
		u.pos = j
		return false, nil
	}
	if u.raw {
		u.out.WriteByte('\\')
		u.pos++
		if e == '\\' {
			u.out.WriteByte('\\')
			u.pos++
		}
		return false, nil
	}
	switch p, ok := plainEscapes[e]; {
	case ok:
		u.out.WriteByte(p)
		u.pos += 2
	case e == '\n':
		u.pos += 2
	case e >= '0' && e <= '7':
		j := u.pos + 1
		for j < len(u.data) && j < u.pos+4 && u.data[j] >= '0' && u.data[j] <= '7' {
			j++
		}
		n, _ := strconv.ParseUint(string(u.data[u.pos+1:j]), 8, 32)
		if n > 0o377 {
			odd(&u.odd, "octal escape", u.data[u.pos+1:j])
		}
		wtf8.WriteRune(&u.out, rune(n))
		u.pos = j
	case e == 'N':
		return u.named()
	default:
		odd(&u.odd, "escape", []byte{e})
		u.out.WriteByte('\\')
		wtf8.WriteRune(&u.out, rune(e))
		u.pos += 2
	}
	return false, nil
}

// named reads \N{NAME}.
func (u *unescaper) named() (stop bool, err error) {
	rest := u.data[u.pos+2:]
	if len(rest) == 0 && !u.final {
		return true, nil
	}
	if len(rest) > 0 && rest[0] == '{' {
		end := strings.IndexByte(string(rest), '}')
		if end < 0 && !u.final {
			return true, nil
		}
		if end > 1 {
			r, ok := charnames.Named(string(rest[1:end]))
			if !ok {
				return false, u.bad(u.pos+2+end+1, "unknown Unicode character name")
			}
			wtf8.WriteRune(&u.out, r)
			u.pos += 2 + end + 1
			return false, nil
		}
		if end < 0 {
			return false, u.bad(len(u.data), `malformed \N character escape`)
		}
		return false, u.bad(u.pos+2+end+1, `malformed \N character escape`)
	}
	return false, u.bad(u.pos+2, `malformed \N character escape`)
}

// bad has an escape that stands for nothing handled.
func (u *unescaper) bad(end int, why string) error {
	s, rest, next, err := u.c.DecodeError(u.codec, u.data, u.pos, end, why, u.errors)
	u.out.WriteString(s)
	u.data, u.pos = rest, next
	return err
}

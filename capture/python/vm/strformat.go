package vm

import (
	"strconv"
	"strings"

	"whittle/capture/python/wtf8"
)

// strFormat is str.format.
func strFormat(in *Interp, s string, args []Object, kw []KwArg) (string, error) {
	f := &strFormatter{in: in, args: args, kw: kw}
	return f.format(s, 2)
}

// strFormatter fills in the fields of one format string, and of the specs inside it: they share the count of fields without a number.
type strFormatter struct {
	in        *Interp
	args      []Object
	kw        []KwArg
	names     Object // format_map: what fields are named by, and no field has a number; else nil
	next      int    // the argument that the next field without a number takes
	numbering numbering
}

// numbering is how the fields of a format say which argument they take: all in one way.
type numbering uint8

const (
	unnumbered numbering = iota // no field so far
	automatic                   // {}
	manual                      // {0}
)

// format fills in s. depth is how deep formats may be nested, this one included: a spec is one, a spec in a field of a spec one too many.
func (f *strFormatter) format(s string, depth int) (string, error) {
	if depth <= 0 {
		return "", f.in.Errorf(f.in.Exc.ValueError, "Max string recursion exceeded")
	}
	var sb strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		if c != '{' && c != '}' {
			sb.WriteByte(c)
			i++
			continue
		}
		if i+1 < len(s) && s[i+1] == c {
			sb.WriteByte(c)
			i += 2
			continue
		}
		if c == '}' || i+1 == len(s) {
			return "", f.in.Errorf(f.in.Exc.ValueError, "Single '%c' encountered in format string", c)
		}
		field, n, err := f.parse(s[i+1:])
		if err != nil {
			return "", err
		}
		text, err := f.text(field, depth)
		if err != nil {
			return "", err
		}
		sb.WriteString(text)
		i += 1 + n
	}
	return sb.String(), nil
}

// strField is one field: what it prints, the conversion behind "!" (0: none), and the spec behind ":".
type strField struct {
	name string
	conv rune
	spec string
}

// parse reads the field that s begins with, behind its opening bracket; n is its length, with the closing bracket. Any character may stand
// in an index and behind "!", brackets too.
func (f *strFormatter) parse(s string) (field strField, n int, err error) {
	fail := func(msg string) (strField, int, error) {
		return strField{}, 0, f.in.Errorf(f.in.Exc.ValueError, "%s", msg)
	}
	i := strings.IndexAny(s, "{}[:!")
	for ; i >= 0 && i < len(s) && s[i] == '['; i++ {
		end := strings.IndexByte(s[i:], ']')
		if end < 0 {
			return fail("expected '}' before end of string")
		}
		next := strings.IndexAny(s[i+end:], "{}[:!")
		if next < 0 {
			return fail("expected '}' before end of string")
		}
		i += end + next - 1
	}
	switch {
	case i < 0:
		return fail("expected '}' before end of string")
	case s[i] == '{':
		return fail("unexpected '{' in field name")
	}
	field.name = s[:i]
	if s[i] == '}' {
		return field, i + 1, nil
	}
	if s[i] == '!' {
		c, size := wtf8.DecodeRuneInString(s[i+1:])
		if size == 0 {
			return fail("end of string while looking for conversion specifier")
		}
		field.conv = c
		i += 1 + size
		switch {
		case i == len(s):
			return fail("unmatched '{' in format spec")
		case s[i] == '}':
			return field, i + 1, nil
		case s[i] != ':':
			return fail("expected ':' after conversion specifier")
		}
	}
	start, depth := i+1, 1
	for i = start; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				field.spec = s[start:i]
				return field, i + 1, nil
			}
		}
	}
	return fail("unmatched '{' in format spec")
}

// text is what a field stands for.
func (f *strFormatter) text(field strField, depth int) (string, error) {
	v, err := f.value(field.name)
	if err != nil {
		return "", err
	}
	if field.conv != 0 {
		if v, err = f.convert(v, field.conv); err != nil {
			return "", err
		}
	}
	spec := field.spec
	if strings.ContainsAny(spec, "{}") {
		if spec, err = f.format(spec, depth-1); err != nil {
			return "", err
		}
	}
	return f.in.Format(v, spec)
}

// convert is what "!" asks for.
func (f *strFormatter) convert(v Object, conv rune) (Object, error) {
	var t string
	var err error
	switch {
	case conv == 'r':
		t, err = f.in.Repr(v)
	case conv == 's':
		t, err = f.in.Str(v)
	case conv == 'a':
		t, err = f.in.ascii(v)
	case conv > 32 && conv < 127:
		err = f.in.Errorf(f.in.Exc.ValueError, "Unknown conversion specifier %c", conv)
	default:
		err = f.in.Errorf(f.in.Exc.ValueError, "Unknown conversion specifier \\x%x", conv)
	}
	return Str(t), err
}

// value finds what a field's name stands for: an argument by number, by turn or by name, then attributes and items of it.
func (f *strFormatter) value(name string) (Object, error) {
	in, args := f.in, f.args
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	first, rest := name[:end], name[end:]
	var v Object
	idx, err := strconv.Atoi(first)
	if first != "" && strings.Trim(first, "0123456789") == "" && err != nil {
		return nil, in.Errorf(in.Exc.ValueError, "Too many decimal digits in format string")
	}
	switch {
	case first == "":
		if f.numbering == manual {
			return nil, in.Errorf(in.Exc.ValueError, "cannot switch from manual field specification to automatic field numbering")
		}
		f.numbering = automatic
		idx = f.next
		f.next++
		err = nil
	case err == nil:
		if f.numbering == automatic {
			return nil, in.Errorf(in.Exc.ValueError, "cannot switch from automatic field numbering to manual field specification")
		}
		f.numbering = manual
	}
	switch {
	case err == nil && f.names != nil:
		return nil, in.Errorf(in.Exc.ValueError, "Format string contains positional fields")
	case f.names != nil:
		if v, err = in.GetItem(f.names, Str(first)); err != nil {
			return nil, err
		}
	case err == nil:
		if idx >= len(args) || idx < 0 {
			return nil, in.Errorf(in.Exc.IndexError, "Replacement index %d out of range for positional args tuple", idx)
		}
		v = args[idx]
	default:
		for _, k := range f.kw {
			if k.Name == first {
				v = k.Value
			}
		}
		if v == nil {
			return nil, in.KeyError(Str(first))
		}
	}
	for rest != "" {
		if rest[0] == '.' {
			e := strings.IndexAny(rest[1:], ".[")
			if e < 0 {
				e = len(rest) - 1
			}
			n := rest[1 : 1+e]
			if n == "" {
				return nil, in.Errorf(in.Exc.ValueError, "Empty attribute in format string")
			}
			if v, err = in.GetAttr(v, n); err != nil {
				return nil, err
			}
			rest = rest[1+e:]
			continue
		}
		e := strings.IndexByte(rest, ']')
		if e < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "Missing ']' in format string")
		}
		key := rest[1:e]
		var k Object = Str(key)
		n, err := strconv.Atoi(key)
		if key != "" && strings.Trim(key, "0123456789") == "" && err != nil {
			return nil, in.Errorf(in.Exc.ValueError, "Too many decimal digits in format string")
		}
		if err == nil && key[0] >= '0' && key[0] <= '9' { // -1 is a name
			k = MakeInt(int64(n))
		}
		if v, err = in.GetItem(v, k); err != nil {
			return nil, err
		}
		rest = rest[e+1:]
		if rest != "" && rest[0] != '.' && rest[0] != '[' {
			return nil, in.Errorf(in.Exc.ValueError, "Only '.' or '[' may follow ']' in format field specifier")
		}
	}
	return v, nil
}

// FormatPart is a piece of a format string: text, and behind it, if Field is set, a replacement field.
type FormatPart struct {
	Text       string
	Field      bool
	Name       string
	Conversion rune // behind "!"; 0 for none
	Spec       string
}

// FormatPart takes the first piece off a format string. A doubled bracket ends a piece without a field.
func (in *Interp) FormatPart(s string) (p FormatPart, rest string, err error) {
	i := strings.IndexAny(s, "{}")
	switch {
	case i < 0:
		return FormatPart{Text: s}, "", nil
	case i+1 < len(s) && s[i+1] == s[i]:
		return FormatPart{Text: s[:i+1]}, s[i+2:], nil
	case s[i] == '}' || i+1 == len(s):
		return p, "", in.Errorf(in.Exc.ValueError, "Single '%c' encountered in format string", s[i])
	}
	f := &strFormatter{in: in}
	field, n, err := f.parse(s[i+1:])
	if err != nil {
		return p, "", err
	}
	return FormatPart{s[:i], true, field.name, field.conv, field.spec}, s[i+1+n:], nil
}

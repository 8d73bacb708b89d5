package vm

import (
	"strconv"
	"strings"
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
	next      int // the argument that the next field without a number takes
	numbering numbering
}

// numbering is how the fields of a format say which argument they take: all in one way.
type numbering uint8

const (
	unnumbered numbering = iota // no field so far
	automatic                   // {}
	manual                      // {0}
)

// format fills in s. depth is how deep fields may stand in fields' specs.
func (f *strFormatter) format(s string, depth int) (string, error) {
	if depth < 0 {
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
		if c == '}' {
			return "", f.in.Errorf(f.in.Exc.ValueError, "Single '}' encountered in format string")
		}
		n := fieldLen(s[i+1:])
		if n < 0 {
			if i+1 >= len(s) {
				return "", f.in.Errorf(f.in.Exc.ValueError, "Single '{' encountered in format string")
			}
			return "", f.in.Errorf(f.in.Exc.ValueError, "expected '}' before end of string")
		}
		text, err := f.field(s[i+1:i+1+n], depth)
		if err != nil {
			return "", err
		}
		sb.WriteString(text)
		i += n + 2
	}
	return sb.String(), nil
}

// fieldLen is how long the field is that s begins with: up to the bracket that closes it, -1 if there is none.
func fieldLen(s string) int {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// field is the text of one field, which stands in no brackets here.
func (f *strFormatter) field(field string, depth int) (string, error) {
	name, conv, spec, err := f.parts(field)
	if err != nil {
		return "", err
	}
	v, err := f.value(name)
	if err != nil {
		return "", err
	}
	if conv != 0 {
		if v, err = f.convert(v, conv); err != nil {
			return "", err
		}
	}
	if strings.ContainsAny(spec, "{}") {
		if spec, err = f.format(spec, depth-1); err != nil {
			return "", err
		}
	}
	return f.in.Format(v, spec)
}

// parts cuts a field into its name, the conversion behind "!" (0: none) and the spec behind ":". In an index, both are plain characters.
func (f *strFormatter) parts(field string) (name string, conv byte, spec string, err error) {
	brackets := 0
	for k := 0; k < len(field); k++ {
		switch field[k] {
		case '[':
			brackets++
			continue
		case ']':
			brackets--
			continue
		case ':', '!':
		default:
			continue
		}
		if brackets != 0 {
			continue
		}
		rest := field[k:]
		if rest[0] == '!' {
			if len(rest) < 2 {
				return "", 0, "", f.in.Errorf(f.in.Exc.ValueError, "end of string while looking for conversion specifier")
			}
			conv, rest = rest[1], rest[2:]
			if rest != "" && rest[0] != ':' {
				return "", 0, "", f.in.Errorf(f.in.Exc.ValueError, "expected ':' after conversion specifier")
			}
		}
		return field[:k], conv, strings.TrimPrefix(rest, ":"), nil
	}
	return field, 0, "", nil
}

func (f *strFormatter) convert(v Object, conv byte) (Object, error) {
	var t string
	var err error
	switch conv {
	case 'r':
		t, err = f.in.Repr(v)
	case 's':
		t, err = f.in.Str(v)
	case 'a':
		t, err = f.in.ascii(v)
	default:
		return nil, f.in.Errorf(f.in.Exc.ValueError, "Unknown conversion specifier '%c'", conv)
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
	if err == nil {
		if idx >= len(args) || idx < 0 {
			return nil, in.Errorf(in.Exc.IndexError, "Replacement index %d out of range for positional args tuple", idx)
		}
		v = args[idx]
	} else {
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
		if n, err := strconv.Atoi(key); err == nil && key[0] >= '0' && key[0] <= '9' { // -1 is a name
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

package vm

import (
	"strconv"
	"strings"
)

// strFormat is str.format.
func strFormat(in *Interp, s string, args []Object, kw []KwArg) (string, error) {
	auto := 0
	mode := 0 // 1: automatic numbering, 2: manual
	return strFormatRec(in, s, args, kw, &auto, &mode, 2)
}

func strFormatRec(in *Interp, s string, args []Object, kw []KwArg, auto, mode *int, depth int) (string, error) {
	if depth < 0 {
		return "", in.Errorf(in.Exc.ValueError, "Max string recursion exceeded")
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
			return "", in.Errorf(in.Exc.ValueError, "Single '}' encountered in format string")
		}
		j, d := i+1, 1
		for j < len(s) && d > 0 {
			switch s[j] {
			case '{':
				d++
			case '}':
				d--
			}
			j++
		}
		if d > 0 {
			if i+1 >= len(s) {
				return "", in.Errorf(in.Exc.ValueError, "Single '{' encountered in format string")
			}
			return "", in.Errorf(in.Exc.ValueError, "expected '}' before end of string")
		}
		field := s[i+1 : j-1]
		i = j
		spec, conv := "", byte(0)
		name := field
		br := 0
		for k := 0; k < len(field); k++ {
			if field[k] == '[' {
				br++
			} else if field[k] == ']' {
				br--
			} else if br == 0 && (field[k] == ':' || field[k] == '!') {
				name = field[:k]
				rest := field[k:]
				if rest[0] == '!' {
					if len(rest) < 2 {
						return "", in.Errorf(in.Exc.ValueError, "end of string while looking for conversion specifier")
					}
					conv = rest[1]
					rest = rest[2:]
					if rest != "" && rest[0] != ':' {
						return "", in.Errorf(in.Exc.ValueError, "expected ':' after conversion specifier")
					}
				}
				if strings.HasPrefix(rest, ":") {
					spec = rest[1:]
				}
				break
			}
		}
		v, err := formatField(in, name, args, kw, auto, mode)
		if err != nil {
			return "", err
		}
		switch conv {
		case 0:
		case 'r', 's', 'a':
			var t string
			switch conv {
			case 'r':
				t, err = in.Repr(v)
			case 's':
				t, err = in.Str(v)
			default:
				t, err = in.ascii(v)
			}
			if err != nil {
				return "", err
			}
			v = Str(t)
		default:
			return "", in.Errorf(in.Exc.ValueError, "Unknown conversion specifier '%c'", conv)
		}
		if strings.ContainsAny(spec, "{}") {
			if spec, err = strFormatRec(in, spec, args, kw, auto, mode, depth-1); err != nil {
				return "", err
			}
		}
		t, err := in.Format(v, spec)
		if err != nil {
			return "", err
		}
		sb.WriteString(t)
	}
	return sb.String(), nil
}

func formatField(in *Interp, name string, args []Object, kw []KwArg, auto, mode *int) (Object, error) {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	first, rest := name[:end], name[end:]
	var v Object
	idx, err := strconv.Atoi(first)
	switch {
	case first == "":
		if *mode == 2 {
			return nil, in.Errorf(in.Exc.ValueError, "cannot switch from manual field specification to automatic field numbering")
		}
		*mode = 1
		idx = *auto
		*auto++
		err = nil
	case err == nil:
		if *mode == 1 {
			return nil, in.Errorf(in.Exc.ValueError, "cannot switch from automatic field numbering to manual field specification")
		}
		*mode = 2
	}
	if err == nil {
		if idx >= len(args) || idx < 0 {
			return nil, in.Errorf(in.Exc.IndexError, "Replacement index %d out of range for positional args tuple", idx)
		}
		v = args[idx]
	} else {
		for _, k := range kw {
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

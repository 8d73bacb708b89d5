package vm

import (
	"strings"
)

// builtinPrint is print(). Where sys.stdout is what it was at the start, the text goes straight into the buffer behind it.
func builtinPrint(in *Interp, args []Object, kw []KwArg) (Object, error) {
	sep, end := " ", "\n"
	var file Object
	flush := false
	for _, k := range kw {
		switch k.Name {
		case "sep", "end":
			if k.Value == None {
				continue
			}
			s, ok := AsStr(k.Value)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "%s must be None or a string, not %s", k.Name, k.Value.Type().Name)
			}
			if k.Name == "sep" {
				sep = s
			} else {
				end = s
			}
		case "file":
			if k.Value != None {
				file = k.Value
			}
		case "flush":
			var err error
			if flush, err = in.Truth(k.Value); err != nil {
				return nil, err
			}
		default:
			return nil, in.Errorf(in.Exc.TypeError, "'%s' is an invalid keyword argument for print()", k.Name)
		}
	}
	var sb strings.Builder
	for i, a := range args {
		if i > 0 {
			sb.WriteString(sep)
		}
		s, err := in.Str(a)
		if err != nil {
			return nil, err
		}
		sb.WriteString(s)
	}
	sb.WriteString(end)
	if file == nil {
		if sys, ok := in.Modules.GetStr("sys"); ok {
			if o, ok := sys.(*Module).Dict.GetStr("stdout"); ok && o != in.Ext[StdoutKey{}] {
				file = o
			}
		}
	}
	if file == None {
		return None, nil
	}
	if file != nil {
		if f, ok := file.(*File); ok && !f.Binary {
			if err := f.Write(in, sb.String()); err != nil {
				return nil, err
			}
		} else if _, err := in.CallMethod(file, "write", Str(sb.String())); err != nil {
			return nil, err
		}
		if flush {
			_, err := in.CallMethod(file, "flush")
			return None, err
		}
		return None, nil
	}
	if err := in.Write(sb.String()); err != nil {
		return nil, err
	}
	if flush {
		if err := in.Flush(); err != nil {
			return nil, in.OSError(err, "")
		}
	}
	return None, nil
}

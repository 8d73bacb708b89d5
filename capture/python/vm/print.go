package vm

import (
	"strings"

	"whittle/capture/python/wtf8"
)

// display has sys.displayhook show the value of an expression statement.
func (in *Interp) display(o Object) error {
	sys, ok := in.Modules.GetStr("sys")
	if !ok { // nobody can have changed it
		if o == None {
			return nil
		}
		s, err := in.Repr(o)
		if err != nil {
			return err
		}
		return in.Write(s + "\n")
	}
	hook, ok := sys.(*Module).Dict.GetStr("displayhook")
	if !ok {
		return in.Errorf(in.Exc.RuntimeError, "lost sys.displayhook")
	}
	_, err := in.Call(hook, []Object{o}, nil)
	return err
}

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
				return nil, in.Errorf(in.Exc.TypeError, "%s must be None or a string, not %s", k.Name, TypeName(k.Value))
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
			if o, ok := sys.(*Module).Dict.GetStr("stdout"); ok && (o != in.Ext[StdoutKey{}] || !wtf8.Valid(sb.String())) {
				file = o
			}
		}
	}
	if file == None {
		return None, nil
	}
	if file != nil {
		if err := in.writeTo(file, sb.String()); err != nil {
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

// TextWriter is what an instance holds of a class that is written in Go, and to which print writes without a call of its method write. ok is
// false if that method has to be called after all, as the object or its class has another one.
type TextWriter interface {
	WriteText(in *Interp, self *Instance, text string) (ok bool, err error)
}

// writeTo writes to a file.
func (in *Interp) writeTo(file Object, text string) error {
	if i, ok := file.(*Instance); ok {
		if w, ok := i.Native.(TextWriter); ok {
			if ok, err := w.WriteText(in, i, text); ok || err != nil {
				return err
			}
		}
	}
	_, err := in.CallMethod(file, "write", Str(text))
	return err
}

package vm

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"

	"whittle/capture/python/literal"
	"whittle/capture/python/wtf8"
)

// excFields are the native attributes of an exception class that its arguments fill, by the class that it derives from.
type excFields struct {
	class *Type
	init  func(in *Interp, e *Exception, args []Object) error
	named []string                                                      // what may also come by keyword
	text  func(in *Interp, e *Exception) (s string, ok bool, err error) // str(e); ok false leaves it to BaseException
}

// fieldsOf is the row for an exception; of BaseException it is empty.
func fieldsOf(c *Type) *excFields {
	for _, b := range c.MRO {
		if f := b.fields; f != nil {
			return f
		}
	}
	return &excFields{}
}

// initFields sets the native attributes of an exception from the arguments of its call. A keyword that the class does not know is refused,
// unless a class of Python has an __init__ that may know it.
func (e *Exception) initFields(in *Interp, args []Object, kw []KwArg) error {
	f := fieldsOf(e.Class)
	for _, n := range f.named {
		e.SetField(n, None)
	}
	own := e.Class.Lookup("__init__") != excInitBuiltin
next:
	for _, k := range kw {
		for _, n := range f.named {
			if k.Name == n {
				e.SetField(n, k.Value)
				continue next
			}
		}
		switch {
		case own:
		case f.named != nil:
			return in.Errorf(in.Exc.TypeError, "'%s' is an invalid keyword argument for %s()", k.Name, f.class.Name)
		default:
			return in.Errorf(in.Exc.TypeError, "%s() takes no keyword arguments", e.Class.Name)
		}
	}
	if f.init == nil {
		return nil
	}
	err := f.init(in, e, args)
	if own && err != nil { // that __init__ gives others
		return nil
	}
	return err
}

// initExcFields makes the rows.
func initExcFields() {
	x := &excTypes
	for _, f := range []excFields{
		{class: x.StopIteration, init: func(_ *Interp, e *Exception, args []Object) error {
			e.SetField("value", append(args[:len(args):len(args)], None)[0])
			return nil
		}},
		{class: x.SystemExit, init: func(_ *Interp, e *Exception, args []Object) error {
			code := Object(e.Args)
			if len(args) < 2 {
				code = append(args[:len(args):len(args)], None)[0]
			}
			e.SetField("code", code)
			return nil
		}},
		{class: x.AttributeError, named: []string{"name", "obj"}},
		{class: x.NameError, named: []string{"name"}},
		{class: x.ImportError, named: []string{"name", "path"}, init: initImportError, text: func(_ *Interp, e *Exception) (string, bool, error) {
			s, ok := e.Field("msg").(Str)
			return string(s), ok, nil
		}},
		{class: x.SyntaxError, init: func(in *Interp, e *Exception, _ []Object) error { return e.setSyntaxFields(in) }, text: textSyntaxError},
		{class: x.OSError, init: initOSError, text: textOSError},
		{class: x.KeyError, text: func(in *Interp, e *Exception) (string, bool, error) {
			if len(e.Args.Items) != 1 {
				return "", false, nil
			}
			s, err := in.Repr(e.Args.Items[0])
			return s, true, err
		}},
		{class: x.UnicodeEncodeError, init: initUnicodeError, text: textUnicodeError},
		{class: x.UnicodeDecodeError, init: initUnicodeError, text: textUnicodeError},
		{class: x.UnicodeTranslateError, init: initUnicodeError, text: textUnicodeError},
		{class: x.BaseExceptionGroup, text: func(in *Interp, e *Exception) (string, bool, error) {
			pl := "s"
			n := len(groupMembers(e))
			if n == 1 {
				pl = ""
			}
			msg, err := in.Str(e.Field("message"))
			return fmt.Sprintf("%s (%d sub-exception%s)", msg, n, pl), true, err
		}},
	} {
		f.class.fields = &f
	}
}

// initImportError takes the message of an ImportError.
func initImportError(_ *Interp, e *Exception, args []Object) error {
	e.SetField("msg", None)
	if len(args) == 1 {
		e.SetField("msg", args[0])
	}
	return nil
}

var syntaxFields = []string{"filename", "lineno", "offset", "text", "end_lineno", "end_offset"}

// setSyntaxFields takes a SyntaxError's fields from its arguments: the message, and a tuple of the place.
func (e *Exception) setSyntaxFields(in *Interp) error {
	for _, n := range append([]string{"msg", "print_file_and_line"}, syntaxFields...) {
		e.SetField(n, None)
	}
	args := e.Args.Items
	if len(args) > 0 {
		e.SetField("msg", args[0])
	}
	if len(args) != 2 {
		return nil
	}
	place, err := in.IterAll(args[1])
	if err != nil {
		return err
	}
	switch n := len(place); {
	case n < 4:
		return in.Errorf(in.Exc.TypeError, "function takes at least 4 arguments (%d given)", n)
	case n > 6:
		return in.Errorf(in.Exc.TypeError, "function takes at most 6 arguments (%d given)", n)
	case n == 5:
		return in.Errorf(in.Exc.TypeError, "end_offset must be provided when end_lineno is provided")
	}
	for i, v := range place {
		e.SetField(syntaxFields[i], v)
	}
	return nil
}

// textSyntaxError is the message of a SyntaxError with the file's name and the line where they are known.
func textSyntaxError(in *Interp, e *Exception) (string, bool, error) {
	msg, err := in.Str(e.Field("msg"))
	if err != nil {
		return "", true, err
	}
	file, named := e.Field("filename").(Str)
	line, numbered := e.Field("lineno").(Int)
	switch base := path.Base(string(file)); {
	case named && numbered:
		msg = fmt.Sprintf("%s (%s, line %d)", msg, base, line)
	case named:
		msg = fmt.Sprintf("%s (%s)", msg, base)
	case numbered:
		msg = fmt.Sprintf("%s (line %d)", msg, line)
	}
	return msg, true, nil
}

// initOSError takes the number of an OSError, its text and the names of up to two files; the number says what class it is of.
func initOSError(_ *Interp, e *Exception, args []Object) error {
	for _, n := range []string{"errno", "strerror", "filename", "filename2"} {
		e.SetField(n, None)
	}
	if len(args) < 2 || len(args) > 5 {
		return nil
	}
	e.SetField("errno", args[0])
	e.SetField("strerror", args[1])
	if n, ok := blockedAt(e.Class, args); ok {
		e.SetField("characters_written", n)
	} else if len(args) >= 3 && args[2] != None {
		e.SetField("filename", args[2])
		if len(args) == 5 {
			e.SetField("filename2", args[4])
		}
		e.Args = NewTuple(args[0], args[1])
	}
	if no, ok := AsInt(args[0]); ok && e.Class == excTypes.OSError {
		e.Class = excTypes.errnoClass(syscall.Errno(no))
	}
	return nil
}

// textOSError is an OSError's number and text, and the names of its files.
func textOSError(in *Interp, e *Exception) (string, bool, error) {
	if e.Field("errno") == None || e.Field("strerror") == None {
		return "", false, nil
	}
	var parts [2]string
	for i, n := range []string{"errno", "strerror"} {
		var err error
		if parts[i], err = in.Str(e.Field(n)); err != nil {
			return "", true, err
		}
	}
	s := "[Errno " + parts[0] + "] " + parts[1]
	for i, n := range []string{"filename", "filename2"} {
		f := e.Field(n)
		if f == None {
			break
		}
		r, err := in.Repr(f)
		if err != nil {
			return "", true, err
		}
		s += []string{": ", " -> "}[i] + r
	}
	return s, true, nil
}

// unicodeFields are the attributes of a class of UnicodeError, in the order of its arguments.
func unicodeFields(c *Type) []string {
	names := []string{"encoding", "object", "start", "end", "reason"}
	if c.IsSubtype(excTypes.UnicodeTranslateError) {
		return names[1:]
	}
	return names
}

// initUnicodeError takes what could not be encoded, decoded or translated, and where.
func initUnicodeError(in *Interp, e *Exception, args []Object) error {
	names := unicodeFields(e.Class)
	if len(args) != len(names) {
		return in.Errorf(in.Exc.TypeError, "function takes exactly %d arguments (%d given)", len(names), len(args))
	}
	for i, n := range names {
		v := args[i]
		var err error
		switch {
		case n == "start" || n == "end":
			_, err = in.Index(v)
		case n == "object" && e.Class.IsSubtype(excTypes.UnicodeDecodeError):
			b, ok := bytesOf(v)
			if !ok {
				err = in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", TypeName(v))
			} else if _, ok := v.(Bytes); !ok {
				v = Bytes(slices.Clone(b))
			}
		default:
			if _, ok := AsStr(v); !ok {
				err = in.Errorf(in.Exc.TypeError, "argument %d must be str, not %s", i+1, ArgName(v))
			}
		}
		if err != nil {
			return err
		}
		e.SetField(n, v)
	}
	return nil
}

// textUnicodeError says what could not be encoded, decoded or translated, by the attributes as they are now.
func textUnicodeError(in *Interp, e *Exception) (string, bool, error) {
	object := e.Field("object")
	if object == None {
		return "", true, nil
	}
	what, enc := "can't translate", ""
	reason, err := in.Str(e.Field("reason"))
	if err == nil && !e.Class.IsSubtype(excTypes.UnicodeTranslateError) {
		enc, err = in.Str(e.Field("encoding"))
		what = "'" + enc + "' codec can't encode"
	}
	if err != nil {
		return "", true, err
	}
	start, _ := AsInt(e.Field("start"))
	end, _ := AsInt(e.Field("end"))
	one, many := "", "characters"
	if b, ok := AsBytes(object); ok {
		what, many = "'"+enc+"' codec can't decode", "bytes"
		if start >= 0 && int(start) < len(b) {
			one = fmt.Sprintf("byte 0x%02x", b[start])
		}
	} else if s, ok := AsStr(object); ok {
		if rs := wtf8.Runes(s); start >= 0 && int(start) < len(rs) {
			one = "character " + escapedRune(rs[start])
		}
	}
	if one != "" && end == start+1 {
		return fmt.Sprintf("%s %s in position %d: %s", what, one, start, reason), true, nil
	}
	return fmt.Sprintf("%s %s in position %d-%d: %s", what, many, start, end-1, reason), true, nil
}

// escapedRune is a character as UnicodeEncodeError shows it: always escaped.
func escapedRune(r rune) string {
	var b strings.Builder
	b.WriteByte('\'')
	literal.Escape(&b, r)
	b.WriteByte('\'')
	return b.String()
}

// str is str(e) without a user's __str__.
func (e *Exception) str(in *Interp) (string, error) {
	if f := fieldsOf(e.Class); f.text != nil {
		if s, ok, err := f.text(in, e); ok || err != nil {
			return s, err
		}
	}
	switch len(e.Args.Items) {
	case 0:
		return "", nil
	case 1:
		return in.Str(e.Args.Items[0])
	}
	return in.Repr(e.Args)
}

// reduce is what pickle and copy make an exception of: its class, its arguments, and what these do not say.
func (e *Exception) reduce(in *Interp) Object {
	args := e.Args
	state := e.Dict
	switch {
	case e.Class.IsSubtype(in.Exc.OSError) && len(args.Items) == 2 && e.Field("filename") != None:
		args = NewTuple(args.Items[0], args.Items[1], e.Field("filename"))
		if f := e.Field("filename2"); f != None {
			args = NewTuple(args.Items[0], args.Items[1], args.Items[2], None, f)
		}
	case e.Class.IsSubtype(in.Exc.ImportError):
		for _, n := range []string{"name", "path"} {
			if v := e.Field(n); v != None {
				if state == e.Dict {
					state = NewDict()
					e.Dict.Each(func(k, v Object) bool { state.SetStr(string(k.(Str)), v); return true })
				}
				state.SetStr(n, v)
			}
		}
	}
	if state != nil && state.Len() > 0 {
		return NewTuple(e.Class, args, state)
	}
	return NewTuple(e.Class, args)
}

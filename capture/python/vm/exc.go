package vm

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"whittle/capture/python/syntax"
)

// Exception is an instance of BaseException or of a class below it. It carries its own traceback, which grows by an entry for each frame
// that the exception passes; what was being handled when it was raised is its Context, and what stands behind "from" its Cause.
type Exception struct {
	Identity
	Class     *Type
	Args      *Tuple
	Dict      *Dict
	Fields    *Dict // native attributes: value, name, errno, ...
	Traceback *Traceback
	Cause     Object // nil or None: none
	Context   *Exception
	Suppress  bool
	Native    any

	slots []Object // values of __slots__
}

// Traceback is one entry: a frame that the exception passed. Next is nearer to the raise.
type Traceback struct {
	Code    *Code
	Globals *Dict
	PC      int
	Next    *Traceback
	frame   *Frame

	made        bool // by a program, with the numbers that follow
	lasti, line int
}

// Line is the source line of the entry.
func (t *Traceback) Line() int {
	if t.made {
		return t.line
	}
	return t.Code.lineAt(t.PC)
}

// Raised is the Go error that carries a Python exception.
type Raised struct{ Exc *Exception }

// ErrorFrom makes an exception whose cause, and context, is another.
func (in *Interp) ErrorFrom(cause error, cls *Type, format string, args ...any) error {
	err := in.Errorf(cls, format, args...)
	r, ok := err.(*Raised)
	if c, is := cause.(*Raised); ok && is {
		r.Exc.Cause, r.Exc.Context, r.Exc.Suppress = c.Exc, c.Exc, true
	}
	return err
}

// Error is the exception's class and its message where that takes no interpreter; FormatException prints all of it.
func (r *Raised) Error() string {
	return r.Exc.Class.Name + ": " + r.Exc.message()
}

// message is str(exc) for the simple cases; used where there is no interpreter at hand.
func (e *Exception) message() string {
	if len(e.Args.Items) == 0 {
		return ""
	}
	if len(e.Args.Items) == 1 {
		if s, ok := e.Args.Items[0].(Str); ok {
			return string(s)
		}
	}
	s := ""
	for i, a := range e.Args.Items {
		if i > 0 {
			s += ", "
		}
		switch x := a.(type) {
		case Str:
			s += string(x)
		case Int:
			s += fmt.Sprint(int64(x))
		default:
			s += "<" + a.Type().Name + ">"
		}
	}
	return s
}

// Field gives a native attribute such as StopIteration's value.
func (e *Exception) Field(name string) Object {
	if v, ok := e.Fields.GetStr(name); ok {
		return v
	}
	return None
}

// SetField stores a native attribute.
func (e *Exception) SetField(name string, v Object) {
	if e.Fields == nil {
		e.Fields = NewDict()
	}
	e.Fields.SetStr(name, v)
}

// ExcTypes are the built-in exception classes.
type ExcTypes struct {
	BaseException, Exception, GeneratorExit, KeyboardInterrupt, SystemExit, BaseExceptionGroup, ExceptionGroup,
	ArithmeticError, FloatingPointError, OverflowError, ZeroDivisionError, AssertionError, AttributeError, BufferError,
	EOFError, ImportError, ModuleNotFoundError, LookupError, IndexError, KeyError, MemoryError, NameError, UnboundLocalError,
	OSError, BlockingIOError, ChildProcessError, ConnectionError, BrokenPipeError, ConnectionAbortedError, ConnectionRefusedError,
	ConnectionResetError, FileExistsError, FileNotFoundError, InterruptedError, IsADirectoryError, NotADirectoryError,
	PermissionError, ProcessLookupError, TimeoutError, ReferenceError, RuntimeError, NotImplementedError, RecursionError,
	StopAsyncIteration, StopIteration, SyntaxError, IndentationError, TabError, SystemError, TypeError, ValueError, UnicodeError,
	UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError, Warning, BytesWarning, DeprecationWarning, EncodingWarning,
	FutureWarning, ImportWarning, PendingDeprecationWarning, ResourceWarning, RuntimeWarning, SyntaxWarning, UnicodeWarning,
	UserWarning *Type
}

var excTypes ExcTypes

// syntaxError is the SyntaxError, or the class below it, for an error of package syntax. One that was found late shows the line of the file
// only if there is a file.
func syntaxError(in *Interp, err error) error {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return in.Errorf(in.Exc.SystemError, "%s", err.Error())
	}
	cls := in.Exc.SyntaxError
	switch se.Kind {
	case "IndentationError":
		cls = in.Exc.IndentationError
	case "TabError":
		cls = in.Exc.TabError
	}
	var text Object = Str(se.Text)
	if se.Late {
		if _, err := os.Stat(se.Filename); err != nil {
			text = None
		}
	}
	e := &Exception{Class: cls, Args: NewTuple(Str(se.Msg), NewTuple(Str(se.Filename), Int(se.Line), Int(se.Offset), text, Int(se.EndLine), Int(se.EndOffset)))}
	if se.Line == 0 {
		e.Args = NewTuple(Str(se.Msg))
	}
	if err := e.setSyntaxFields(in); err != nil {
		return err
	}
	return in.Raise(e)
}

// toException makes an exception of what a raise statement was given.
func toException(in *Interp, o Object) (*Exception, error) {
	switch x := o.(type) {
	case *Exception:
		return x, nil
	case *Type:
		if x.IsSubtype(in.Exc.BaseException) {
			v, err := in.Call(x, nil, nil)
			if err != nil {
				return nil, err
			}
			if e, ok := v.(*Exception); ok {
				return e, nil
			}
			class, err := in.Repr(x)
			if err != nil {
				return nil, err
			}
			got, err := in.Repr(v.Type())
			if err != nil {
				return nil, err
			}
			return nil, in.Errorf(in.Exc.TypeError, "calling %s should have returned an instance of BaseException, not %s", class, got)
		}
	}
	return nil, in.Errorf(in.Exc.TypeError, "exceptions must derive from BaseException")
}

func excNew(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
	e := &Exception{Class: cls, Args: emptyTuple}
	if len(args) > 0 {
		e.Args = newItems(len(args))
		copy(e.Args.Items, args)
	}
	if err := e.initFields(in, args, kw); err != nil || !cls.IsSubtype(excTypes.OSError) {
		return e, err
	}
	// An OSError whose class has an __init__, and no __new__, of its own gets its arguments from that alone.
	if _, ok := cls.Lookup("__new__").(*Builtin); ok && cls.Lookup("__init__") != excInitBuiltin {
		e.Args = NewTuple()
		return e, e.initFields(in, nil, nil)
	}
	return e, nil
}

var excInitBuiltin Object

// excRow is one built-in exception class: its name, its base, and the field of ExcTypes that it goes to.
type excRow struct {
	name, base string
	p          **Type
}

// initExceptions makes the built-in exception classes, bases before what derives from them.
func initExceptions() {
	x := &excTypes
	rows := []excRow{
		{"BaseException", "", &x.BaseException},
		{"Exception", "BaseException", &x.Exception}, {"GeneratorExit", "BaseException", &x.GeneratorExit},
		{"KeyboardInterrupt", "BaseException", &x.KeyboardInterrupt}, {"SystemExit", "BaseException", &x.SystemExit},
		{"BaseExceptionGroup", "BaseException", &x.BaseExceptionGroup}, {"ExceptionGroup", "Exception", &x.ExceptionGroup},
		{"ArithmeticError", "Exception", &x.ArithmeticError}, {"FloatingPointError", "ArithmeticError", &x.FloatingPointError},
		{"OverflowError", "ArithmeticError", &x.OverflowError}, {"ZeroDivisionError", "ArithmeticError", &x.ZeroDivisionError},
		{"AssertionError", "Exception", &x.AssertionError}, {"AttributeError", "Exception", &x.AttributeError},
		{"BufferError", "Exception", &x.BufferError}, {"EOFError", "Exception", &x.EOFError},
		{"ImportError", "Exception", &x.ImportError}, {"ModuleNotFoundError", "ImportError", &x.ModuleNotFoundError},
		{"LookupError", "Exception", &x.LookupError}, {"IndexError", "LookupError", &x.IndexError}, {"KeyError", "LookupError", &x.KeyError},
		{"MemoryError", "Exception", &x.MemoryError}, {"NameError", "Exception", &x.NameError}, {"UnboundLocalError", "NameError", &x.UnboundLocalError},
		{"OSError", "Exception", &x.OSError}, {"BlockingIOError", "OSError", &x.BlockingIOError}, {"ChildProcessError", "OSError", &x.ChildProcessError},
		{"ConnectionError", "OSError", &x.ConnectionError}, {"BrokenPipeError", "ConnectionError", &x.BrokenPipeError},
		{"ConnectionAbortedError", "ConnectionError", &x.ConnectionAbortedError}, {"ConnectionRefusedError", "ConnectionError", &x.ConnectionRefusedError},
		{"ConnectionResetError", "ConnectionError", &x.ConnectionResetError}, {"FileExistsError", "OSError", &x.FileExistsError},
		{"FileNotFoundError", "OSError", &x.FileNotFoundError}, {"InterruptedError", "OSError", &x.InterruptedError},
		{"IsADirectoryError", "OSError", &x.IsADirectoryError}, {"NotADirectoryError", "OSError", &x.NotADirectoryError},
		{"PermissionError", "OSError", &x.PermissionError}, {"ProcessLookupError", "OSError", &x.ProcessLookupError},
		{"TimeoutError", "OSError", &x.TimeoutError}, {"ReferenceError", "Exception", &x.ReferenceError},
		{"RuntimeError", "Exception", &x.RuntimeError}, {"NotImplementedError", "RuntimeError", &x.NotImplementedError},
		{"RecursionError", "RuntimeError", &x.RecursionError}, {"StopAsyncIteration", "Exception", &x.StopAsyncIteration},
		{"StopIteration", "Exception", &x.StopIteration}, {"SyntaxError", "Exception", &x.SyntaxError},
		{"IndentationError", "SyntaxError", &x.IndentationError}, {"TabError", "IndentationError", &x.TabError},
		{"SystemError", "Exception", &x.SystemError}, {"TypeError", "Exception", &x.TypeError}, {"ValueError", "Exception", &x.ValueError},
		{"UnicodeError", "ValueError", &x.UnicodeError}, {"UnicodeDecodeError", "UnicodeError", &x.UnicodeDecodeError},
		{"UnicodeEncodeError", "UnicodeError", &x.UnicodeEncodeError}, {"UnicodeTranslateError", "UnicodeError", &x.UnicodeTranslateError},
		{"Warning", "Exception", &x.Warning}, {"BytesWarning", "Warning", &x.BytesWarning}, {"DeprecationWarning", "Warning", &x.DeprecationWarning},
		{"EncodingWarning", "Warning", &x.EncodingWarning}, {"FutureWarning", "Warning", &x.FutureWarning}, {"ImportWarning", "Warning", &x.ImportWarning},
		{"PendingDeprecationWarning", "Warning", &x.PendingDeprecationWarning}, {"ResourceWarning", "Warning", &x.ResourceWarning},
		{"RuntimeWarning", "Warning", &x.RuntimeWarning}, {"SyntaxWarning", "Warning", &x.SyntaxWarning},
		{"UnicodeWarning", "Warning", &x.UnicodeWarning}, {"UserWarning", "Warning", &x.UserWarning},
	}
	byName := map[string]*Type{}
	for _, r := range rows {
		base := ObjectType
		if r.base != "" {
			base = byName[r.base]
		}
		t := newBuiltinType(r.name, base)
		t.New = excNew
		if strings.HasSuffix(r.name, "Group") {
			t.New = groupNew
		}
		t.HasDict = true
		if r.name == "ExceptionGroup" {
			t.Bases = []*Type{x.BaseExceptionGroup, x.Exception}
			t.MRO = []*Type{t, x.BaseExceptionGroup, x.Exception, x.BaseException, ObjectType}
		}
		*r.p = t
		byName[r.name] = t
		excByName = append(excByName, t)
	}
	initExceptionMethods()
	addDeletable(x.BaseException, "__dict__", func(in *Interp, o Object) (Object, error) {
		e, err := excSelf(in, o)
		if err != nil {
			return nil, err
		}
		return e.AttrDict(true), nil
	}, func(in *Interp, o, v Object) error {
		e, err := excSelf(in, o)
		if err != nil {
			return err
		}
		if v == nil {
			return in.Errorf(in.Exc.TypeError, "cannot delete __dict__")
		}
		d, ok := AsDict(v)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "__dict__ must be set to a dictionary, not a '%s'", TypeName(v))
		}
		e.Dict = d
		return nil
	})
}

var excByName []*Type

// excSelf is the exception that a method of BaseException was called on.
func excSelf(in *Interp, o Object) (*Exception, error) {
	e, ok := o.(*Exception)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "descriptor requires a 'BaseException' object but received a '%s'", TypeName(o))
	}
	return e, nil
}

// initExceptionMethods gives exceptions their methods, and each class its native attributes.
func initExceptionMethods() {
	b := excTypes.BaseException
	excInitBuiltin = addMethod(b, "__init__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		e, err := excSelf(in, args[0])
		if err != nil {
			return nil, err
		}
		e.Args = NewTuple(append([]Object(nil), args[1:]...)...)
		return None, e.initFields(in, args[1:], kw)
	})
	addNew(b)
	addMethod(b, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		e, err := excSelf(in, args[0])
		if err != nil {
			return nil, err
		}
		if len(e.Args.Items) == 1 {
			s, err := in.Repr(e.Args.Items[0])
			return Str(e.Class.Name + "(" + s + ")"), err
		}
		s, err := in.Repr(e.Args)
		return Str(e.Class.Name + s), err
	})
	addMethod(b, "__str__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		e, err := excSelf(in, args[0])
		if err != nil {
			return nil, err
		}
		s, err := e.str(in)
		return Str(s), err
	})
	addMethod(b, "with_traceback", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		e, err := excSelf(in, args[0])
		if err != nil {
			return nil, err
		}
		return e, e.setTraceback(in, args[1])
	})
	addMethod(b, "add_note", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		e, err := excSelf(in, args[0])
		if err != nil {
			return nil, err
		}
		if _, ok := AsStr(args[1]); !ok {
			return nil, in.Errorf(in.Exc.TypeError, "note must be a str, not '%s'", TypeName(args[1]))
		}
		notes, err := in.GetAttrOpt(e, "__notes__")
		if err != nil {
			return nil, err
		}
		if notes == nil {
			return None, in.SetAttr(e, "__notes__", NewList(args[1]))
		}
		l, ok := unwrap(notes).(*List)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "Cannot add note: __notes__ is not a list")
		}
		l.Items = append(l.Items, args[1])
		return None, nil
	})
	addMethod(b, "__reduce__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		e, err := excSelf(in, args[0])
		if err != nil {
			return nil, err
		}
		return e.reduce(in), nil
	})
	addMethod(b, "__setstate__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if args[1] == None {
			return None, nil
		}
		d, ok := AsDict(args[1])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "state is not a dictionary")
		}
		for _, k := range d.Keys() {
			v, _, err := d.Get(in, k)
			if err != nil {
				return nil, err
			}
			name, ok := AsStr(k)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "attribute name must be string, not '%s'", TypeName(k))
			}
			if err := in.SetAttr(args[0], name, v); err != nil {
				return nil, err
			}
		}
		return None, nil
	})
	get := func(name string, get func(in *Interp, e *Exception) Object, set func(in *Interp, e *Exception, v Object) error) {
		addDeletable(b, name, func(in *Interp, self Object) (Object, error) {
			e, err := excSelf(in, self)
			if err != nil {
				return nil, err
			}
			return get(in, e), nil
		}, func(in *Interp, self, v Object) error {
			e, err := excSelf(in, self)
			if err != nil {
				return err
			}
			switch {
			case v == nil && name == "__suppress_context__":
				return in.Errorf(in.Exc.TypeError, "can't delete numeric/char attribute")
			case v == nil:
				return in.Errorf(in.Exc.TypeError, "%s may not be deleted", name)
			}
			return set(in, e, v)
		})
	}
	get("args", func(_ *Interp, e *Exception) Object { return e.Args }, func(in *Interp, e *Exception, v Object) error {
		items, err := in.IterAll(v)
		e.Args = NewTuple(items...)
		return err
	})
	get("__traceback__", func(_ *Interp, e *Exception) Object {
		if e.Traceback == nil {
			return None
		}
		return e.Traceback
	}, func(in *Interp, e *Exception, v Object) error { return e.setTraceback(in, v) })
	get("__cause__", func(_ *Interp, e *Exception) Object {
		if e.Cause == nil {
			return None
		}
		return e.Cause
	}, func(in *Interp, e *Exception, v Object) error {
		if _, ok := v.(*Exception); !ok && v != None {
			return in.Errorf(in.Exc.TypeError, "exception cause must be None or derive from BaseException")
		}
		e.Cause, e.Suppress = v, true
		return nil
	})
	get("__context__", func(_ *Interp, e *Exception) Object {
		if e.Context == nil {
			return None
		}
		return e.Context
	}, func(in *Interp, e *Exception, v Object) error {
		c, ok := v.(*Exception)
		if !ok && v != None {
			return in.Errorf(in.Exc.TypeError, "exception context must be None or derive from BaseException")
		}
		e.Context = c
		return nil
	})
	get("__suppress_context__", func(_ *Interp, e *Exception) Object { return MakeBool(e.Suppress) },
		func(in *Interp, e *Exception, v Object) error {
			b, ok := v.(Bool)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "attribute value type must be bool")
			}
			e.Suppress = b == True
			return nil
		})
	field := func(t *Type, names ...string) {
		for _, n := range names {
			addDeletable(t, n, func(in *Interp, self Object) (Object, error) {
				e, err := excSelf(in, self)
				if err != nil {
					return nil, err
				}
				return e.Field(n), nil
			}, func(in *Interp, self, v Object) error {
				e, err := excSelf(in, self)
				if err != nil {
					return err
				}
				switch {
				case (n == "start" || n == "end") && v == nil:
					return in.Errorf(in.Exc.TypeError, "can't delete numeric/char attribute")
				case n == "start" || n == "end":
					if _, ok := AsBig(v); !ok {
						return in.Errorf(in.Exc.TypeError, "an integer is required")
					}
				case v == nil:
					v = None
				}
				e.SetField(n, v)
				return nil
			})
		}
	}
	x := &excTypes
	field(x.StopIteration, "value")
	field(x.SystemExit, "code")
	field(x.AttributeError, "name", "obj")
	field(x.NameError, "name")
	field(x.ImportError, "name", "path", "msg")
	field(x.OSError, "errno", "strerror", "filename", "filename2")
	addDeletable(x.OSError, "characters_written", writtenOf, setWritten)
	field(x.SyntaxError, "msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset", "print_file_and_line")
	for _, t := range []*Type{x.UnicodeDecodeError, x.UnicodeEncodeError, x.UnicodeTranslateError} {
		field(t, unicodeFields(excTypes.UnicodeError)...)
	}
	for _, n := range []string{"message", "exceptions"} {
		addGetSet(x.BaseExceptionGroup, n, func(_ *Interp, o Object) (Object, error) { return o.(*Exception).Field(n), nil }, nil)
	}
	initExceptionGroups()
	initExcFields()
}

// setTraceback stores a traceback, or None for none.
func (e *Exception) setTraceback(in *Interp, v Object) error {
	t, ok := v.(*Traceback)
	if !ok && v != None {
		return in.Errorf(in.Exc.TypeError, "__traceback__ must be a traceback or None")
	}
	e.Traceback = t
	return nil
}

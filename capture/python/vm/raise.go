package vm

import (
	"errors"
	"fmt"
)

// Raising makes the Go errors that carry Python exceptions, and knows the exception that is being handled, which becomes the context of
// every exception that is raised meanwhile.
//
// The evaluator sets what is handled where a handler begins (PUSH_EXC_INFO) and ends (POP_EXCEPT); a frame that fails, and a generator that
// yields, put back what their caller was handling. No chain of contexts is ever a cycle: see chain.
type Raising struct {
	// Exc holds the built-in exception types. All interpreters share them.
	Exc *ExcTypes

	exc *Exception // the exception being handled, or nil
}

// Handling returns the exception that is being handled, or nil.
func (r *Raising) Handling() *Exception { return r.exc }

// Errorf raises: it returns the error to return.
func (r *Raising) Errorf(cls *Type, format string, args ...any) error {
	msg := format
	if len(args) > 0 {
		msg = fmt.Sprintf(format, args...)
	}
	return &Raised{r.withContext(&Exception{Class: cls, Args: NewTuple(Str(msg))})}
}

// Raise returns the error that raises e.
func (r *Raising) Raise(e *Exception) error { return &Raised{r.withContext(e)} }

// RaiseObj raises a class with arguments, constructing it as a call would.
func (in *Interp) RaiseObj(cls *Type, args ...Object) error {
	o, err := in.Call(cls, args, nil)
	if err != nil {
		return err
	}
	e, ok := o.(*Exception)
	if !ok {
		return in.Errorf(in.Exc.TypeError, "exceptions must derive from BaseException")
	}
	return in.Raise(e)
}

// withContext links the exception being handled, unless e has a context already.
func (r *Raising) withContext(e *Exception) *Exception {
	if e.Context == nil {
		r.chain(e)
	}
	return e
}

// raiseAgain raises an exception that may have a context from an earlier time: what is being handled now replaces it.
func (r *Raising) raiseAgain(e *Exception) error {
	r.chain(e)
	return &Raised{e}
}

// chain makes what is being handled the context of e. Where e stands further up that chain of contexts, the chain is cut there, as it would
// lead back to itself.
func (r *Raising) chain(e *Exception) {
	h := r.exc
	if h == nil || h == e {
		return
	}
	slow, step := h, false // a chain that a program has made circular is not followed for ever
	for x := h; x != nil; x = x.Context {
		if x.Context == e {
			x.Context = nil
			break
		}
		if step {
			if slow = slow.Context; slow == x.Context {
				break
			}
		}
		step = !step
	}
	e.Context = h
}

// Matches reports whether err is a Python exception of class cls.
func (r *Raising) Matches(err error, cls *Type) bool {
	var raised *Raised
	return errors.As(err, &raised) && raised.Exc.Class.IsSubtype(cls)
}

// stopIteration is how a generator, or an iterator that Python code asks, says that it has ended, with the value that it returns.
func (r *Raising) stopIteration(v Object) error {
	e := &Exception{Class: r.Exc.StopIteration, Args: emptyTuple}
	if v != nil && v != None {
		e.Args = NewTuple(v)
	}
	if v == nil {
		v = None
	}
	e.SetField("value", v)
	return &Raised{e}
}

// KeyError raises KeyError(key).
func (r *Raising) KeyError(key Object) error {
	return r.Raise(&Exception{Class: r.Exc.KeyError, Args: NewTuple(key)})
}

// attrError raises AttributeError with its fields set, by which a traceback suggests other names.
func (r *Raising) attrError(o Object, name, format string, args ...any) error {
	e := &Exception{Class: r.Exc.AttributeError, Args: NewTuple(Str(fmt.Sprintf(format, args...)))}
	e.SetField("name", Str(name))
	e.SetField("obj", o)
	return r.Raise(e)
}

// nameError raises NameError for a name that is bound nowhere.
func (r *Raising) nameError(name string) error {
	e := &Exception{Class: r.Exc.NameError, Args: NewTuple(Str("name '" + name + "' is not defined"))}
	e.SetField("name", Str(name))
	return r.Raise(e)
}

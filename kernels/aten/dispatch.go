package aten

import (
	"fmt"

	"github.com/sourcegraph/conc/panics"

	"whittle/kernels/tensor"
)

type eagerDispatcher struct{}
type fakeDispatcher struct{}
type defaultDispatcher struct{}

// Eager runs operators on real tensors.
var Eager Dispatcher = eagerDispatcher{}

// Fake computes metadata only; real inputs are treated as fake.
var Fake Dispatcher = fakeDispatcher{}

// Default runs Fake when any input is fake, else Eager.
var Default Dispatcher = defaultDispatcher{}

func (d eagerDispatcher) Dispatch(op *Op, args []Value) (Value, error) { return eager(op, args, nil) }

// eager runs op on real tensors; into is where the result would best be, nil for a tensor of its own.
func eager(op *Op, args []Value, into *tensor.Tensor) (Value, error) {
	if t := firstOf(args, func(t *tensor.Tensor) bool { return !t.Fake && t.DType > tensor.Complex128 }); t != nil {
		return nil, &Error{Op: op.Name(), Kind: RuntimeError, Msg: fmt.Sprintf("\"%s\" not implemented for '%s'", op.Sig().Name, cName(t.DType))}
	}
	var f Fn
	if anyComplex(args) {
		if f = complexForm(op, args); f == nil {
			if err := checkComplex(op, args); err != nil {
				return nil, err
			}
		}
	}
	if f == nil {
		if err := checkNeeds(op, args); err != nil {
			return nil, err
		}
		if op.Tags&(Inplace|OutVariant) != 0 {
			if err := checkApart(op, args); err != nil {
				return nil, err
			}
		}
		if f = op.Eager; f == nil {
			f = op.Decomp
		}
	}
	call := &struct {
		Call
		lendings
	}{Call: Call{Op: op, Args: args, Dispatch: Eager, real: true, inplace: into}}
	c := &call.Call
	c.lent = &call.lendings
	return c.freed(guarded(op, f, c))
}

// Forgets implements Forgetful.
func (d eagerDispatcher) Forgets([]Value) bool { return true }

// Forgets implements Forgetful.
func (d defaultDispatcher) Forgets([]Value) bool { return true }

// lendings is memory that is given back when a call ends.
type lendings struct {
	parts []*tensor.Tensor // large results of parts of the call, and copies
	rooms []func()         // give back the memory that kernels worked in
}

// part notes a result of a part of the call.
func (c *Call) part(v Value, err error) (Value, error) {
	if t, ok := v.(*tensor.Tensor); ok && c.lent != nil && !t.Fake && t.Storage.Recyclable() {
		c.lent.parts = append(c.lent.parts, t)
	}
	return v, err
}

// freed is the result of the call, without which the memory of its parts is given back at once where nobody has it: not what it was called with, and not
// what comes of it.
func (c *Call) freed(v Value, err error) (Value, error) {
	if c.lent == nil {
		return v, err
	}
	for _, done := range c.lent.rooms {
		done()
	}
	c.lent.rooms = nil
	for _, t := range c.lent.parts {
		s := t.Storage
		has := func(t *tensor.Tensor) bool { return t.Storage == s }
		if !(c.inplace != nil && has(c.inplace)) && firstOf(c.Args, has) == nil && firstOf([]Value{v}, has) == nil {
			s.Recycle()
		}
	}
	return v, err
}

// Dispatch computes metadata. A row without a metadata function is decomposed, on metadata again.
func (d fakeDispatcher) Dispatch(op *Op, args []Value) (Value, error) {
	if f := complexForm(op, args); f != nil {
		return guarded(op, f, &Call{Op: op, Args: args, Dispatch: d})
	}
	if err := checkComplex(op, args); err != nil {
		return nil, err
	}
	if err := checkNeeds(op, args); err != nil {
		return nil, err
	}
	c := &Call{Op: op, Args: args, Dispatch: d}
	if op.Meta != nil {
		return guarded(op, op.Meta, c)
	}
	return guarded(op, op.Decomp, c)
}

// Dispatch picks a mode by the arguments.
func (d defaultDispatcher) Dispatch(op *Op, args []Value) (Value, error) {
	if AnyFake(args) {
		return Fake.Dispatch(op, args)
	}
	return Eager.Dispatch(op, args)
}

// AnyFake reports whether any tensor among the values, at any depth, is fake.
func AnyFake(args []Value) bool {
	return firstOf(args, func(t *tensor.Tensor) bool { return t.Fake }) != nil
}

// firstOf is the first tensor among the values, at any depth, for which is holds; nil for none.
func firstOf(args []Value, is func(t *tensor.Tensor) bool) *tensor.Tensor {
	for _, a := range args {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil && is(a) {
				return a
			}
		case []Value:
			if t := firstOf(a, is); t != nil {
				return t
			}
		}
	}
	return nil
}

// Decompose runs op as what it is made of, each part by d. The operator must have a decomposition.
func Decompose(d Dispatcher, op *Op, args []Value) (Value, error) {
	if err := checkNeeds(op, args); err != nil {
		return nil, err
	}
	call := &struct {
		Call
		lendings
	}{Call: Call{Op: op, Args: args, Dispatch: d}}
	c := &call.Call
	if f, ok := d.(Forgetful); ok && f.Forgets(args) {
		c.lent = &call.lendings
	}
	return c.freed(guarded(op, op.Decomp, c))
}

// Elements runs an operator of lists as one call for each element, by d. It must have ByElement.
func Elements(d Dispatcher, op *Op, args []Value) (Value, error) {
	if err := checkNeeds(op, args); err != nil {
		return nil, err
	}
	return guarded(op, op.ByElement, &Call{Op: op, Args: args, Dispatch: d})
}

// guarded runs f and names the operator in errors, which come without a value. A panic inside a kernel becomes a *Panic, so that one bad call cannot end
// a long search.
func guarded(op *Op, f Fn, c *Call) (v Value, err error) {
	if f == nil {
		return nil, &Error{Op: op.Name(), Kind: NotImplementedError, Msg: fmt.Sprintf("%s has no kernel for this dispatcher", op.Name())}
	}
	if len(c.Args) != len(op.Sig().Args) {
		return nil, &Error{Op: op.Name(), Kind: TypeError, Msg: fmt.Sprintf("%s: %d values for %d arguments", op.Name(), len(c.Args), len(op.Sig().Args))}
	}
	defer func() {
		if r := recover(); needsData(r) {
			err = &Error{Op: op.Name(), Kind: DataDependentError, Msg: op.Name()}
		} else if r != nil {
			err = newPanic(op, c, r)
		}
		if e, ok := err.(*Error); ok && e.Op == "" {
			e.Op = op.Name()
		}
		if err != nil {
			v = nil // a kernel may have left a nil *tensor.Tensor, which is a Value that is not nil
		}
	}()
	return f(c)
}

// needsData reports whether a kernel panicked because a fake tensor has no data, be it on another thread.
func needsData(r any) bool {
	if there, ok := r.(*panics.Recovered); ok {
		r = there.Value
	}
	return r == (tensor.NoData{})
}

// Run binds positional args and runs the named overload; missing trailing arguments take their defaults.
func Run(d Dispatcher, name string, args ...Value) (Value, error) {
	return CallKw(d, name, args, nil)
}

// CallKw binds args and kwargs to the named overload and runs it.
func CallKw(d Dispatcher, name string, args []Value, kwargs map[string]Value) (Value, error) {
	op := Lookup(name)
	if op == nil {
		return nil, &Error{Op: name, Kind: NotImplementedError, Msg: fmt.Sprintf("%s is not implemented", name)}
	}
	return CallOp(d, op, args, kwargs)
}

// CallOp binds args and kwargs to op and runs it.
func CallOp(d Dispatcher, op *Op, args []Value, kwargs map[string]Value) (Value, error) {
	bound, err := Bind(op, args, kwargs)
	if err != nil {
		return nil, err
	}
	return d.Dispatch(op, bound)
}

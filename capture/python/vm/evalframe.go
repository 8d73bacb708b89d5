package vm

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"whittle/capture/python/code"
	"whittle/capture/python/libm"
)

// Frames begin, end and fail.

// PanicError is an internal failure of a native function that was turned into an error.
type PanicError struct {
	Value any
	Stack []byte
}

// Error is the panic's value and the stack of the goroutine.
func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v\n%s", e.Value, e.Stack) }

// EvalFrame runs a frame from its PC until it returns, yields or fails. It does not ask FrameHook.
func (in *Interp) EvalFrame(f *Frame) (Object, error) { return in.evalThrow(f, nil) }

// evalThrow evaluates a frame from its PC, or, if thrown is not nil, as if its current instruction had failed with that. It counts the call,
// puts the frame on top of the call stack and takes it down again, and when the frame fails, what the caller was handling is handled again.
// A frame that returns has done that itself.
func (in *Interp) evalThrow(f *Frame, thrown error) (result Object, err error) {
	in.depth++
	prev, prevExc := in.frame, in.exc
	f.Back = prev
	in.frame = f
	if in.depth > in.RecursionLimit {
		err = in.newRecursionError()
	} else if prev == nil {
		result, err = in.evalOutermost(f, thrown)
	} else if in.watched {
		result, err = in.evalWatched(f, thrown)
	} else {
		result, err = in.eval(f, thrown)
		if f.spy != nil { // it got one on the way
			result, err = in.reportReturn(f, result, err)
		}
	}
	in.frame = prev
	in.depth--
	if f.kept && prev != nil {
		prev.Retain()
	}
	if err != nil {
		in.exc = prevExc
	}
	return result, err
}

// evalOutermost is the boundary where a panic becomes an error.
func (in *Interp) evalOutermost(f *Frame, thrown error) (result Object, err error) {
	mark, printing := in.mark(), len(in.printing)
	defer func() {
		if r := recover(); r != nil {
			in.rewind(mark)
			in.printing = in.printing[:printing]
			result, err = nil, &PanicError{r, debug.Stack()}
		}
	}()
	return in.eval(f, thrown)
}

// A wayfarer is an error, no Python exception, that notes the frames that it leaves, innermost first.
type wayfarer interface {
	error
	Leave(place string)
}

// unwind is what happens when the instruction at f.PC fails, or an exception goes on through the frame (entry false: then its traceback has
// this frame already).
//
// A Python exception gets an entry in its traceback. If a row of the exception table covers the PC, the stack is cut to the height that it
// had when the try statement began, the index of the failing instruction is pushed if the row says so, where CPython keeps it for RERAISE,
// then the exception, and evaluation goes on at the handler: sp and pc say where. Without a row the error is for the caller. Any other Go
// error ends all frames without running a handler, finally clauses included: it is no exception of the program.
func (in *Interp) unwind(f *Frame, err error, entry bool) (sp, pc int, _ error) {
	c := f.Code
	r, ok := err.(*Raised)
	if ok && entry && in.RaiseHook != nil && r.Exc.Traceback == nil && !c.Native {
		err = in.RaiseHook(f, r)
		r, ok = err.(*Raised)
	}
	if !ok && !errors.As(err, &r) {
		var w wayfarer
		if entry && !c.Native && errors.As(err, &w) {
			t := Traceback{Code: c, PC: f.PC}
			w.Leave(fmt.Sprintf("File \"%s\", line %d, in %s", c.Filename, t.Line(), c.Name))
		}
		return 0, 0, err
	}
	if entry && !c.Native {
		f.Retain()
		r.Exc.Traceback = &Traceback{Code: c, Globals: f.Globals, PC: f.PC, Next: r.Exc.Traceback, frame: f}
	}
	if entry && f.spy != nil {
		r = in.traceException(f, r)
	}
	if entry && in.awaited != 0 {
		height := 0
		if h, ok := f.Code.HandlerAt(f.PC); ok {
			height = int(h.Depth)
		}
		in.unwound(f, height)
	}
	return f.handle(r, f.PC)
}

// handle goes on at the handler of the instruction at f.PC with an exception that comes from instruction at; if there is none, the frame is
// left there.
func (f *Frame) handle(r *Raised, at int) (sp, pc int, _ error) {
	h, ok := f.Code.HandlerAt(f.PC)
	if !ok {
		f.PC = at
		return 0, 0, r
	}
	sp = int(h.Depth)
	clear(f.Stack[sp:])
	if h.Lasti {
		f.Stack[sp] = MakeInt(int64(at))
		sp++
	}
	f.Stack[sp] = r.Exc
	return sp + 1, int(h.Target), nil
}

// unaryNames has the operators of the unary instructions.
var unaryNames = map[code.Op]string{code.UNARY_NEGATIVE: "-", code.UNARY_POSITIVE: "+", code.UNARY_INVERT: "~"}

// floatOp is an operator of floats by the argument of BINARY_OP; nil where there is an error to raise, or more to do.
func (bx *boxes) floatOp(x, y float64, arg int32) Object {
	switch arg {
	case 0, 13:
		return bx.boxFloat(x + y)
	case 10, 23:
		return bx.boxFloat(x - y)
	case 5, 18:
		return bx.boxFloat(x * y)
	case 11, 24:
		if y != 0 {
			return bx.boxFloat(x / y)
		}
	case 8, 21:
		if x > 0 || y == math.Trunc(y) && x != 0 {
			if r := libm.Pow(x, y); !math.IsInf(r, 0) {
				return bx.boxFloat(r)
			}
		}
	}
	return nil
}

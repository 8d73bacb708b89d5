package vm

import "whittle/capture/python/code"

// Untaken is how an embedder learns at once that nobody took the value of a call: Go's collector would find out long after. Only what is plain from the
// instructions counts: the function that made the object is called by CALL or CALL_FUNCTION_EX, and what follows drops it, or returns it to a call in Python
// of which the same holds. So no variable, container or argument has ever had it.
type Untaken struct {
	// Made is set by each function with Builtin.Fresh before it returns: to its result if nobody else has that, or nil.
	Made Object
	// Unheld is told of what was Made when it is dropped; nil => nobody is.
	Unheld func(o Object)

	passed Object // what the Python function that has just returned was Made, by the call that its return follows
}

// valued is told of the value v of a call of callable, behind which pc is.
func (in *Interp) valued(f *Frame, pc int, callable, v Object) {
	m := in.Made
	switch c := callable.(type) {
	case *Function:
		m = in.passed
	case *Builtin:
		if !c.Fresh {
			m = nil
		}
	case *BoundMethod:
		if b, ok := c.Func.(*Builtin); !ok || !b.Fresh {
			m = nil
		}
	default:
		m = nil
	}
	in.Made, in.passed = nil, nil
	if m == nil || m != v || in.Unheld == nil || f.Trace != nil || in.watched || in.FrameHook != nil || in.CallHook != nil {
		return
	}
	for pc < len(f.Code.ops) && f.Code.ops[pc].op() == code.CACHE {
		pc++
	}
	switch f.Code.ops[pc].op() {
	case code.POP_TOP:
		in.Unheld(v)
	case code.RETURN_VALUE:
		in.passed = v
	}
}

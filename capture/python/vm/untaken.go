package vm

import "whittle/capture/python/code"

// Untaken is how an embedder learns at once that nobody took the value of a call or an operator: Go's collector would find out long after. Only what is
// plain from the instructions counts: the function that made the object is called by CALL or CALL_FUNCTION_EX, or as an operator of a type that is marked,
// and what follows drops it, or returns it, also out of with blocks, to a call in Python of which the same holds. So no variable, container or argument
// has ever had it.
type Untaken struct {
	// Made is set by each function with Builtin.Fresh before it returns: to its result if nobody else has that, or nil.
	Made Object
	// Unheld is told of what was Made when it is dropped; nil => nobody is.
	Unheld func(o Object)
	// Operates is the type all of whose operators are Fresh: of its instances themselves with each other and with numbers, not of those of classes
	// that derive from it; nil => there is none.
	Operates *Type

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
	in.untaken(f, pc, m, v)
}

// operated is told of the value v of an operator on a, and b unless that is nil, behind which pc is.
func (in *Interp) operated(f *Frame, pc int, a, b, v Object) {
	m := in.Made
	if !in.operates(a, b) && !in.operates(b, a) {
		m = nil
	}
	in.untaken(f, pc, m, v)
}

// operates reports whether a's type is the one that is marked, and no operator of b's can be asked that is not its own, or a number's.
func (in *Interp) operates(a, b Object) bool {
	if a == nil || a.Type() != in.Operates {
		return false
	}
	switch b.(type) {
	case nil, Int, Float, Bool:
		return true
	}
	return b.Type() == in.Operates
}

// untaken tells what becomes of v where it is the m that somebody made; pc is behind the instruction whose value it is.
func (in *Interp) untaken(f *Frame, pc int, m, v Object) {
	in.Made, in.passed = nil, nil
	if m == nil || m != v || in.Unheld == nil || f.Trace != nil || in.watched || in.FrameHook != nil || in.CallHook != nil {
		return
	}
	switch at, _ := f.Code.step(pc); at.op() {
	case code.POP_TOP:
		in.Unheld(v)
	case code.RETURN_VALUE:
		in.passed = v
	case code.SWAP:
		if f.Code.leaves(pc) {
			f.leaving = v
		}
	}
}

// step is the instruction at pc or behind it that is no CACHE, and where the next one may be.
func (c *Code) step(pc int) (o op, next int) {
	for pc < len(c.ops) {
		if o = c.ops[pc]; o.op() != code.CACHE {
			return o, pc + 1
		}
		pc++
	}
	return op{}, pc
}

// leave is how a with block is left with a value: its manager is called without an exception, and that call's value dropped.
var leave = []code.Op{code.SWAP, code.LOAD_CONST, code.LOAD_CONST, code.LOAD_CONST, code.PRECALL, code.CALL, code.POP_TOP}

// leaves reports whether the instructions at pc do no more than leave with blocks with the value on top of the stack, and return it.
func (c *Code) leaves(pc int) bool {
	for {
		var o op
		if o, _ = c.step(pc); o.op() == code.RETURN_VALUE {
			return true
		}
		for _, want := range leave {
			if o, pc = c.step(pc); o.op() != want || want == code.SWAP && o.arg != 2 {
				return false
			}
		}
	}
}

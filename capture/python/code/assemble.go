package code

import (
	"fmt"

	"whittle/capture/python/syntax"
)

// label is a place in the code that jumps go to.
type label int

// rawInstr is an instruction before its labels are resolved.
type rawInstr struct {
	Instr
	target  label // 0: not a jump
	handler *region
}

// region is code that one handler covers: the body of a try or with statement, or a handler, whose own failure restores the exception state.
// Regions nest; where one is left early (by return, say), what runs on the way out lies in the regions around it only.
type region struct {
	outer  *region
	target label // of the handler
	lasti  bool  // the handler wants the index of the failing instruction below the exception
	first  int   // index of the first covered instruction
	adjust int   // pushed values that the handler's depth leaves out
	depth  int   // of the stack where the handler begins, before anything is pushed for it; -1 until depths finds it
}

// unit is one code object in the making. Its instructions name the places that they jump to by labels, and have the region that they lie in;
// assemble makes numbers and the exception table of both, once all are there.
type unit struct {
	outer  *unit // of the function or class around it
	scope  *scope
	code   *Code // its Instrs, ExcTable and StackSize are filled by assemble
	instrs []rawInstr
	labels []int          // position of each label, -1 until mark
	region *region        // the innermost one that what is emitted now lies in, nil for none
	pos    syntax.Span    // what is emitted now has this position
	frames []frameBlock   // what return, break and continue would leave, the innermost last
	consts map[any]int    // numbers of constants by constKey
	names  map[string]int // numbers of names
}

func (u *unit) newLabel() label {
	u.labels = append(u.labels, -1)
	return label(len(u.labels))
}

// mark says that a label is here.
func (u *unit) mark(l label) { u.labels[l-1] = len(u.instrs) }

// emit adds an instruction at the current position, in the current region.
func (u *unit) emit(op Op, arg int) {
	u.instrs = append(u.instrs, rawInstr{Instr: Instr{op, int32(arg), u.pos.Line, u.pos.Col, u.pos.EndLine, u.pos.EndCol}, handler: u.region})
}

// jump adds an instruction that jumps to a label, before or behind it.
func (u *unit) jump(op Op, l label) {
	u.emit(op, 0)
	u.instrs[len(u.instrs)-1].target = l
}

// pushRegion begins code that the handler at l covers. adjust is how many of the values that lie on the stack now the handler does not want
// to find there.
func (u *unit) pushRegion(l label, lasti bool, adjust int) {
	u.region = &region{outer: u.region, target: l, lasti: lasti, first: len(u.instrs), adjust: adjust, depth: -1}
}

func (u *unit) popRegion() { u.region = u.region.outer }

// terminal reports whether the instruction that follows is reached only by a jump.
func terminal(op Op) bool {
	switch op {
	case RETURN_VALUE, RAISE_VARARGS, RERAISE, JUMP_FORWARD, JUMP_BACKWARD, JUMP_BACKWARD_NO_INTERRUPT:
		return true
	}
	return false
}

// Terminal reports whether the instruction that follows is reached only by a jump.
func (o Op) Terminal() bool { return terminal(o) }

// Effect is what an instruction adds to the stack when it falls through, or jumps.
func (in Instr) Effect(jump bool) int { return effect(in.Op, int(in.Arg), jump) }

// effect is what an instruction adds to the stack when it falls through (jump false) or jumps.
func effect(op Op, arg int, jump bool) int {
	switch op {
	case POP_TOP, PRINT_EXPR, POP_EXCEPT, STORE_FAST, STORE_DEREF, STORE_NAME, STORE_GLOBAL, RETURN_VALUE, IMPORT_STAR, DELETE_ATTR,
		BINARY_SUBSCR, BINARY_OP, COMPARE_OP, IS_OP, CONTAINS_OP, LIST_APPEND, SET_ADD, LIST_EXTEND, SET_UPDATE, DICT_MERGE, DICT_UPDATE, IMPORT_NAME, PREP_RERAISE_STAR:
		return -1
	case POP_JUMP_FORWARD_IF_FALSE, POP_JUMP_FORWARD_IF_TRUE, POP_JUMP_FORWARD_IF_NONE, POP_JUMP_FORWARD_IF_NOT_NONE,
		POP_JUMP_BACKWARD_IF_FALSE, POP_JUMP_BACKWARD_IF_TRUE, POP_JUMP_BACKWARD_IF_NONE, POP_JUMP_BACKWARD_IF_NOT_NONE:
		return -1
	case PUSH_NULL, LOAD_CONST, LOAD_FAST, LOAD_DEREF, LOAD_CLOSURE, LOAD_CLASSDEREF, LOAD_NAME, LOAD_BUILD_CLASS, LOAD_ASSERTION_ERROR,
		LOAD_METHOD, GET_LEN, PUSH_EXC_INFO, COPY, MATCH_MAPPING, MATCH_SEQUENCE, MATCH_KEYS, IMPORT_FROM, BEFORE_WITH, WITH_EXCEPT_START, RETURN_GENERATOR,
		GET_ANEXT, BEFORE_ASYNC_WITH:
		return 1
	case LOAD_GLOBAL:
		return 1 + arg&1
	case STORE_ATTR, DELETE_SUBSCR, MAP_ADD, MATCH_CLASS, END_ASYNC_FOR:
		return -2
	case STORE_SUBSCR:
		return -3
	case JUMP_IF_FALSE_OR_POP, JUMP_IF_TRUE_OR_POP:
		if jump {
			return 0
		}
		return -1
	case FOR_ITER:
		if jump {
			return -1
		}
		return 1
	case SEND:
		if jump {
			return -1
		}
		return 0
	case UNPACK_SEQUENCE:
		return arg - 1
	case UNPACK_EX:
		return arg&0xff + arg>>8
	case BUILD_TUPLE, BUILD_LIST, BUILD_SET, BUILD_STRING:
		return 1 - arg
	case BUILD_MAP:
		return 1 - 2*arg
	case BUILD_CONST_KEY_MAP:
		return -arg
	case BUILD_SLICE:
		return 1 - arg
	case RAISE_VARARGS:
		return -arg
	case RERAISE:
		return -1
	case MAKE_FUNCTION:
		n := 0
		for _, b := range []int{1, 2, 4, 8} {
			if arg&b != 0 {
				n++
			}
		}
		return -n
	case CALL:
		return -1 - arg
	case CALL_FUNCTION_EX:
		return -2 - arg&1
	case FORMAT_VALUE:
		if arg&4 != 0 {
			return -1
		}
	}
	return 0
}

// Takes is how many values an instruction takes from the stack, or looks at there.
func (in Instr) Takes() int {
	arg := int(in.Arg)
	switch in.Op {
	case POP_TOP, PRINT_EXPR, POP_EXCEPT, STORE_FAST, STORE_DEREF, STORE_NAME, STORE_GLOBAL, RETURN_VALUE, IMPORT_STAR, DELETE_ATTR, LOAD_ATTR,
		LOAD_METHOD, GET_ITER, FOR_ITER, UNPACK_SEQUENCE, UNPACK_EX, UNARY_NOT, UNARY_NEGATIVE, UNARY_INVERT, UNARY_POSITIVE, POP_JUMP_FORWARD_IF_FALSE,
		POP_JUMP_FORWARD_IF_TRUE, POP_JUMP_FORWARD_IF_NONE, POP_JUMP_FORWARD_IF_NOT_NONE, POP_JUMP_BACKWARD_IF_FALSE, POP_JUMP_BACKWARD_IF_TRUE,
		POP_JUMP_BACKWARD_IF_NONE, POP_JUMP_BACKWARD_IF_NOT_NONE, JUMP_IF_FALSE_OR_POP, JUMP_IF_TRUE_OR_POP, BEFORE_WITH, YIELD_VALUE, GET_LEN,
		GET_YIELD_FROM_ITER, LIST_TO_TUPLE, IMPORT_FROM, MATCH_MAPPING, MATCH_SEQUENCE, RERAISE, PUSH_EXC_INFO,
		GET_AITER, GET_ANEXT, GET_AWAITABLE, BEFORE_ASYNC_WITH, ASYNC_GEN_WRAP:
		return 1
	case BINARY_SUBSCR, BINARY_OP, COMPARE_OP, IS_OP, CONTAINS_OP, STORE_ATTR, DELETE_SUBSCR, SEND, MATCH_KEYS, IMPORT_NAME, CHECK_EXC_MATCH, CHECK_EG_MATCH, PREP_RERAISE_STAR, END_ASYNC_FOR:
		return 2
	case STORE_SUBSCR, MATCH_CLASS:
		return 3
	case COPY, SWAP:
		return arg
	case LIST_APPEND, SET_ADD, LIST_EXTEND, SET_UPDATE, DICT_UPDATE, DICT_MERGE:
		return arg + 1
	case MAP_ADD:
		return arg + 2
	case WITH_EXCEPT_START:
		return 4
	case FORMAT_VALUE:
		return 1 + arg>>2&1
	case CALL:
		return arg + 2
	case CALL_FUNCTION_EX:
		return 3 + arg&1
	case BUILD_TUPLE, BUILD_LIST, BUILD_SET, BUILD_STRING, BUILD_SLICE, RAISE_VARARGS:
		return arg
	case BUILD_MAP:
		return 2 * arg
	case BUILD_CONST_KEY_MAP:
		return arg + 1
	case MAKE_FUNCTION:
		return 1 - effect(MAKE_FUNCTION, arg, false)
	}
	return 0
}

// assemble resolves labels, drops what cannot be reached, computes depths and the exception table.
func (u *unit) assemble() error {
	u.foldTuples()
	u.swapTuples()
	u.dropRedundant()
	u.inlineExits()
	u.copyExits()
	depth, err := u.depths()
	if err != nil {
		return err
	}
	u.trimConsts(depth)
	u.dropNops(depth)
	u.spreadLines(depth)
	u.lay(depth)
	return nil
}

// depths walks through the code along every path, jumps and handlers included, and gives the height of the stack before each instruction; -1
// for what no path reaches. On the way it finds the depth of each region, and the largest height that the frame must have room for.
//
// All paths to an instruction have the same height there, as each statement leaves the stack as it was and each expression adds one value: the
// first path that comes by decides, and the work list holds where others begin.
func (u *unit) depths() ([]int, error) {
	n := len(u.instrs)
	depth := make([]int, n)
	for i := range depth {
		depth[i] = -1
	}
	most, counted := 0, 0 // counted is what CPython takes for the most: of a generator without what is sent to it first
	seen := map[*region]bool{}
	var work []int
	visit := func(i, d int) {
		if i < n && depth[i] < 0 {
			depth[i] = d
			work = append(work, i)
		}
	}
	visit(0, 0)
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		for {
			in := &u.instrs[i]
			d := depth[i]
			for r := in.handler; r != nil; r = r.outer {
				if seen[r] {
					continue
				}
				seen[r] = true
				at := u.enterRegion(r, depth, d)
				visit(u.labels[r.target-1], at)
				most, counted = max(most, at+2), max(counted, at)
			}
			if in.target != 0 {
				visit(u.labels[in.target-1], d+effect(in.Op, int(in.Arg), true))
			}
			after := d + effect(in.Op, int(in.Arg), false)
			if after < 0 {
				return nil, fmt.Errorf("code: stack underflow at instruction %d (%s) of %s", i, in.Op, u.code.QualName)
			}
			most, counted = max(most, after, d+1), max(counted, after)
			if terminal(in.Op) || i+1 >= n || depth[i+1] >= 0 {
				break
			}
			i++
			depth[i] = after
		}
	}
	u.code.StackSize, u.code.Depth = most+2, counted
	return depth, nil
}

// enterRegion notes the depth that the stack is cut to when something in r fails, and gives the height with which its handler begins. d is the
// height at the instruction of r that is being looked at.
func (u *unit) enterRegion(r *region, depth []int, d int) (at int) {
	if r.depth < 0 {
		// The depth where the region begins; a region is always entered at its start.
		if depth[r.first] >= 0 {
			d = depth[r.first]
		}
		r.depth = d - r.adjust
	}
	if r.lasti {
		return r.depth + 2
	}
	return r.depth + 1
}

// lay puts what is reached into the code object, where jumps name instructions by their new numbers, and jumps back have instructions of
// their own. A row of the exception table covers instructions in a row with the same innermost region.
func (u *unit) lay(depth []int) {
	n := len(u.instrs)
	number := make([]int, n+1)
	k := 0
	for i := range u.instrs {
		number[i] = k
		if depth[i] >= 0 {
			k++
		}
	}
	number[n] = k
	out := make([]Instr, 0, k)
	regions := make([]*region, 0, k)
	for i := range u.instrs {
		if depth[i] < 0 {
			continue
		}
		in := u.instrs[i]
		if in.target != 0 {
			in.Arg = int32(number[u.labels[in.target-1]])
			if int(in.Arg) <= len(out) {
				in.Op = backward(in.Op)
			}
		}
		out = append(out, in.Instr)
		regions = append(regions, in.handler)
	}
	u.code.Instrs = out
	for i := 0; i < len(regions); {
		j := i + 1
		for j < len(regions) && regions[j] == regions[i] {
			j++
		}
		if r := regions[i]; r != nil {
			u.code.ExcTable = append(u.code.ExcTable, Handler{int32(i), int32(j), int32(number[u.labels[r.target-1]]), int32(r.depth), r.lasti})
		}
		i = j
	}
}

// backward is the instruction for a jump that goes back: loops are interrupted there, and CPython's traces show the direction.
func backward(op Op) Op {
	switch op {
	case JUMP_FORWARD:
		return JUMP_BACKWARD
	case POP_JUMP_FORWARD_IF_FALSE:
		return POP_JUMP_BACKWARD_IF_FALSE
	case POP_JUMP_FORWARD_IF_TRUE:
		return POP_JUMP_BACKWARD_IF_TRUE
	case POP_JUMP_FORWARD_IF_NONE:
		return POP_JUMP_BACKWARD_IF_NONE
	case POP_JUMP_FORWARD_IF_NOT_NONE:
		return POP_JUMP_BACKWARD_IF_NOT_NONE
	}
	return op
}

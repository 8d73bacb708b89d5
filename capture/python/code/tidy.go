package code

import "whittle/capture/python/syntax"

// What CPython's compiler does once it has all instructions of a code object, before it lays them out.

// noPos is the position of an instruction that stands for nothing in the source.
var noPos = syntax.Span{Line: -1, Col: -1, EndLine: -1, EndCol: -1}

// blocks says where blocks begin: a label is there, or a jump ended the one before.
func (u *unit) blocks() []bool {
	begins := make([]bool, len(u.instrs)+1)
	for _, at := range u.labels {
		if at >= 0 {
			begins[at] = true
		}
	}
	for i, in := range u.instrs {
		if in.target != 0 || terminal(in.Op) {
			begins[i+1] = true
		}
	}
	return begins
}

// foldTuples makes one constant of a tuple that is built of constants. It comes behind all others.
func (u *unit) foldTuples() {
	begins := u.blocks()
	for i, in := range u.instrs {
		n := int(in.Arg)
		if in.Op != BUILD_TUPLE || n > i {
			continue
		}
		ks := make(Tuple, n)
		ok := n == 0 || !begins[i]
		for j := range ks {
			k := u.instrs[i-n+j]
			if ok = ok && k.Op == LOAD_CONST && (j == 0 || !begins[i-n+j]); ok {
				ks[j] = u.code.Consts[k.Arg]
				_, isCode := ks[j].(*Code)
				ok = !isCode
			}
		}
		if !ok {
			continue
		}
		for j := i - n; j < i; j++ {
			u.instrs[j].Op, u.instrs[j].Arg = NOP, 0
		}
		u.instrs[i].Op, u.instrs[i].Arg = LOAD_CONST, int32(u.constant(ks))
	}
}

// swapTuples has no tuple made that is taken apart at once: two or three values on the stack change their places instead, and where they are
// stored right away, the stores change theirs.
func (u *unit) swapTuples() {
	begins := u.blocks()
	for i := range u.instrs[:max(len(u.instrs)-1, 0)] {
		in, next := &u.instrs[i], &u.instrs[i+1]
		if in.Op != BUILD_TUPLE || next.Op != UNPACK_SEQUENCE || in.Arg != next.Arg || begins[i+1] {
			continue
		}
		switch in.Arg {
		case 1:
			next.Op, next.Arg = NOP, 0
		case 2, 3:
			next.Op = SWAP
		default:
			continue
		}
		in.Op, in.Arg = NOP, 0
	}
	for i := range u.instrs {
		if u.instrs[i].Op == SWAP {
			u.swapStores(i, begins)
		}
	}
}

// swapStores makes the SWAP at place i needless by exchanging the instructions that take the two values, if all from one to the other just store or
// drop a value and stand in one line. It goes on with the SWAPs before it, which only then may be followed by such.
func (u *unit) swapStores(i int, begins []bool) {
	taking := func(op Op) bool { return op == STORE_FAST || op == POP_TOP }
	// next is the place of the next instruction that takes a value, -1 if another comes first, or if it is of another line than the one given.
	next := func(i int, line int32) int {
		for i++; i < len(u.instrs) && !begins[i]; i++ {
			switch in := u.instrs[i]; {
			case line >= 0 && in.Line != line:
				return -1
			case in.Op == NOP:
			case taking(in.Op):
				return i
			default:
				return -1
			}
		}
		return -1
	}
	for from := i; i >= 0 && (i == from || !begins[i+1]); i-- {
		in := &u.instrs[i]
		if in.Op != SWAP {
			if in.Op != NOP && !taking(in.Op) {
				return
			}
			continue
		}
		first := next(i, -1)
		if first < 0 {
			return
		}
		last := first
		for range in.Arg - 1 {
			if last = next(last, u.instrs[first].Line); last < 0 {
				return
			}
		}
		a, b := u.instrs[first], u.instrs[last]
		stores := func(in rawInstr, name int32) bool { return in.Op == STORE_FAST && in.Arg == name }
		for k := first + 1; k <= last; k++ {
			if between := u.instrs[k]; a.Op == STORE_FAST && stores(between, a.Arg) || k < last && b.Op == STORE_FAST && stores(between, b.Arg) {
				return
			}
		}
		in.Op, in.Arg = NOP, 0
		u.instrs[first], u.instrs[last] = b, a
	}
}

// trimConsts drops the constants behind the last that is used. The first stays: it may be a docstring.
func (u *unit) trimConsts(depth []int) {
	last := 0
	for i, in := range u.instrs {
		if depth[i] >= 0 && ops[in.Op].arg == argConst {
			last = max(last, int(in.Arg))
		}
	}
	if last+1 < len(u.code.Consts) {
		u.code.Consts = u.code.Consts[:last+1]
	}
}

// dropNops drops the instructions that are there for their lines only, where one beside them in the same block has that line: it marks them
// in depth as what is not reached.
func (u *unit) dropNops(depth []int) {
	n := len(u.instrs)
	begins := u.blocks()
	prev := int32(-1) // line of the instruction before in the block
	for i := range u.instrs {
		if begins[i] {
			prev = -1
		}
		in := &u.instrs[i]
		if depth[i] < 0 {
			continue
		}
		if in.Op != NOP {
			prev = in.Line
			continue
		}
		next := i + 1
		for next < n && depth[next] < 0 {
			next++
		}
		switch {
		case in.Line < 0 || prev == in.Line:
		case next < n && !begins[i+1] && u.instrs[next].Line < 0:
			to := &u.instrs[next]
			to.Line, to.Col, to.EndLine, to.EndCol = in.Line, in.Col, in.EndLine, in.EndCol
		case next < n && u.instrs[next].Line == in.Line:
		default:
			prev = in.Line
			continue
		}
		if next < n {
			depth[i] = -1
		}
	}
}

// dropRedundant threads jumps to jumps of the same line.
func (u *unit) dropRedundant() {
	for i := range u.instrs {
		in := &u.instrs[i]
		switch in.Op {
		case JUMP_FORWARD, JUMP_BACKWARD, POP_JUMP_FORWARD_IF_FALSE, POP_JUMP_FORWARD_IF_TRUE, POP_JUMP_FORWARD_IF_NONE, POP_JUMP_FORWARD_IF_NOT_NONE:
		default:
			continue
		}
		for range 8 {
			t := u.labels[in.target-1]
			if t >= len(u.instrs) || t == i {
				break
			}
			to := u.instrs[t]
			if to.target == 0 || to.Op != JUMP_FORWARD && to.Op != JUMP_BACKWARD || to.Line != in.Line || to.target == in.target {
				break
			}
			in.target = to.target
		}
	}
}

// spreadLines gives an instruction without a line that of the one before it, where only that one can come before.
func (u *unit) spreadLines(depth []int) {
	begins := u.blocks()
	n := len(u.instrs)
	from := make([]int, n+1)   // the one that comes before, where a block begins
	counts := make([]int, n+1) // how many do
	prev := -1
	for i, in := range u.instrs {
		if depth[i] < 0 {
			continue
		}
		if begins[i] && prev >= 0 && !terminal(u.instrs[prev].Op) {
			counts[i]++
			from[i] = prev
		}
		if in.target != 0 {
			t := u.labels[in.target-1]
			for t < n && depth[t] < 0 {
				t++
			}
			counts[t]++
			from[t] = i
		}
		prev = i
	}
	prev = -1
	for i := range u.instrs {
		in := &u.instrs[i]
		if depth[i] < 0 {
			continue
		}
		if in.Line < 0 && in.Op != MAKE_CELL && in.Op != COPY_FREE_VARS {
			before := prev
			if begins[i] {
				before = -1
				if counts[i] == 1 {
					before = from[i]
				}
			}
			if before >= 0 {
				b := u.instrs[before]
				in.Line, in.Col, in.EndLine, in.EndCol = b.Line, b.Col, b.EndLine, b.EndCol
			}
		}
		prev = i
	}
}

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

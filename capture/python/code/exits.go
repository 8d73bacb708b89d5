package code

// Where a code object is left, CPython has copies, so that each way out has a line of its own.

// mostCopied is how long what is copied in the place of a jump may be.
const mostCopied = 4

// exitAt is the block that begins at a label, if the code is left at its end: where it ends, and whether it is of no line. A jump to what lies
// behind all instructions has none.
func (u *unit) exitAt(l label, begins []bool) (from, to int, noLine, ok bool) {
	from = u.labels[l-1]
	noLine = true
	for to = from; to < len(u.instrs); to++ {
		in := u.instrs[to]
		if to > from && begins[to] || in.target != 0 {
			return 0, 0, false, false
		}
		noLine = noLine && in.Line < 0
		switch in.Op {
		case RETURN_VALUE, RAISE_VARARGS, RERAISE:
			return from, to + 1, noLine, true
		}
	}
	return 0, 0, false, false
}

// inlineExits puts a short way out that is of no line in the place of a jump to it.
func (u *unit) inlineExits() {
	begins := u.blocks()
	more := map[int][]rawInstr{}
	for i := range u.instrs {
		in := &u.instrs[i]
		if in.Op != JUMP_FORWARD && in.Op != JUMP_BACKWARD {
			continue
		}
		from, to, noLine, ok := u.exitAt(in.target, begins)
		if !ok || !noLine || to-from > mostCopied {
			continue
		}
		more[i+1] = append([]rawInstr(nil), u.instrs[from:to]...)
		in.Op, in.target = NOP, 0
	}
	u.insert(more)
}

// copyExits gives each jump to a way out that is of no line, and that more than one way leads to, a copy of its own: at the jump's line.
func (u *unit) copyExits() {
	begins := u.blocks()
	ways := map[int]int{}
	for i, in := range u.instrs {
		if in.target != 0 {
			ways[u.labels[in.target-1]]++
		}
		if i+1 < len(u.instrs) && begins[i+1] && !terminal(in.Op) {
			ways[i+1]++
		}
	}
	more := map[int][]rawInstr{}
	type start struct {
		l      label
		behind int // where the copies are put in
		at     int // in them
	}
	var starts []start
	for i := range u.instrs {
		in := &u.instrs[i]
		if in.target == 0 || in.Line < 0 {
			continue
		}
		from, to, noLine, ok := u.exitAt(in.target, begins)
		if !ok || !noLine || ways[from] < 2 {
			continue
		}
		ways[from]--
		c := append([]rawInstr(nil), u.instrs[from:to]...)
		c[0].Line, c[0].Col, c[0].EndLine, c[0].EndCol = in.Line, in.Col, in.EndLine, in.EndCol
		l := u.newLabel()
		starts = append(starts, start{l, to, len(more[to])})
		more[to] = append(more[to], c...)
		in.target = l
	}
	moved := u.insert(more)
	for _, s := range starts {
		u.labels[s.l-1] = moved[s.behind] - len(more[s.behind]) + s.at
	}
}

// insert puts instructions in before others, by the numbers of these, and gives the new numbers of all. What began at one of them still does.
func (u *unit) insert(more map[int][]rawInstr) (moved []int) {
	n := len(u.instrs)
	moved = make([]int, n+1)
	if len(more) == 0 {
		return moved
	}
	out := make([]rawInstr, 0, n+8)
	regions := map[*region]bool{}
	for i := 0; i <= n; i++ {
		out = append(out, more[i]...)
		moved[i] = len(out)
		if i < n {
			out = append(out, u.instrs[i])
			for r := u.instrs[i].handler; r != nil; r = r.outer {
				regions[r] = true
			}
		}
	}
	u.instrs = out
	for i, at := range u.labels {
		if at >= 0 {
			u.labels[i] = moved[at]
		}
	}
	for r := range regions {
		r.first = moved[r.first]
	}
	return moved
}

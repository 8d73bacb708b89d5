package resume

import "whittle/capture/python/code"

// Live says which local slots may still be read, or are deleted and so have to be bound, when control is at pc: backward data flow over the bytecode.
func Live(c *code.Code, pc int) map[int]bool {
	n := len(c.Instrs)
	in := make([]map[int]bool, n)
	for i := range in {
		in[i] = map[int]bool{}
	}
	for changed := true; changed; {
		changed = false
		for i := n - 1; i >= 0; i-- {
			ins := c.Instrs[i]
			out := map[int]bool{}
			for _, s := range successors(c, i) {
				for v := range in[s] {
					out[v] = true
				}
			}
			switch ins.Op {
			case code.STORE_FAST:
				delete(out, int(ins.Arg))
			case code.LOAD_FAST, code.DELETE_FAST, code.LOAD_DEREF, code.LOAD_CLOSURE, code.LOAD_CLASSDEREF, code.STORE_DEREF, code.DELETE_DEREF:
				out[int(ins.Arg)] = true
			}
			if len(out) != len(in[i]) {
				in[i] = out
				changed = true
			}
		}
	}
	if pc >= n {
		return map[int]bool{}
	}
	return in[pc]
}

func successors(c *code.Code, i int) []int {
	var s []int
	ins := c.Instrs[i]
	switch ins.Op {
	case code.RETURN_VALUE, code.RERAISE, code.RAISE_VARARGS:
	case code.JUMP_FORWARD, code.JUMP_BACKWARD, code.JUMP_BACKWARD_NO_INTERRUPT:
		s = append(s, int(ins.Arg))
	default:
		if ins.Op.HasJump() {
			s = append(s, int(ins.Arg))
		}
		if i+1 < len(c.Instrs) {
			s = append(s, i+1)
		}
	}
	if h, ok := c.HandlerAt(i); ok {
		s = append(s, int(h.Target))
	}
	return s
}

package code

// Temporaries tells for each instruction whether it is a call among whose operands is a value that another call made, and that nothing but the stack had from
// there on, as far as one can see: f(g()), f([g()]), g().m(). Values are followed along straight lines only.
func (c *Code) Temporaries() []bool {
	takes := make([]bool, len(c.Instrs))
	target := make([]bool, len(c.Instrs)+1)
	for _, in := range c.Instrs {
		if in.Op.HasJump() && in.Arg >= 0 && int(in.Arg) < len(target) {
			target[in.Arg] = true
		}
	}
	for _, h := range c.ExcTable {
		target[h.Target] = true
	}
	var made []bool // of the values on top of the stack that are known, the last on top
	pop := func(n int) (any bool) {
		for ; n > 0 && len(made) > 0; n-- {
			any = any || made[len(made)-1]
			made = made[:len(made)-1]
		}
		return any
	}
	push := func(n int, m bool) {
		for range n {
			made = append(made, m)
		}
	}
	for i, in := range c.Instrs {
		if target[i] {
			made = made[:0]
		}
		n := int(in.Arg)
		switch in.Op {
		case NOP, RESUME, PRECALL, KW_NAMES, CACHE:
		case CALL:
			takes[i] = pop(n + 2)
			push(1, true)
		case LOAD_METHOD:
			push(2, pop(1))
		case BUILD_LIST, BUILD_TUPLE:
			push(1, pop(n))
		case POP_TOP, STORE_FAST, STORE_NAME, STORE_GLOBAL, STORE_DEREF:
			pop(1)
		default:
			if e := effect(in.Op, n, false); e > 0 {
				push(e, false)
			} else {
				pop(1 - e)
				push(1, false)
			}
		}
	}
	return takes
}

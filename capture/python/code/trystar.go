package code

import "whittle/capture/python/syntax"

// tryStar emits a try with except* clauses. While they run, the stack holds what was being handled before, the exception as it
// was raised, a list of what the clauses raised, and the part of the exception that no clause has taken yet.
func (c *compiler) tryStar(s *syntax.Try) {
	u := c.u
	handler, clean, end, again := u.newLabel(), u.newLabel(), u.newLabel(), u.newLabel()
	c.tryBody(s, handler, clean, end)
	for i, h := range s.Handlers {
		u.pos = h.Span
		if i == 0 {
			u.emit(COPY, 1)
			u.emit(BUILD_LIST, 0)
			u.emit(SWAP, 2)
		}
		c.starClause(h)
	}
	u.pos.Col = -1
	u.emit(LIST_APPEND, 1)
	u.emit(PREP_RERAISE_STAR, 0)
	u.emit(COPY, 1)
	u.jump(POP_JUMP_FORWARD_IF_NOT_NONE, again)
	u.emit(POP_TOP, 0)
	u.popRegion()
	u.emit(POP_EXCEPT, 0)
	u.jump(JUMP_FORWARD, end)
	u.mark(again)
	u.emit(SWAP, 2)
	u.emit(POP_EXCEPT, 0)
	u.emit(RERAISE, 0)
	c.cleanup(clean)
	u.mark(end)
}

// starClause emits one clause: it is run for what it matches, if anything, and what it raises goes to the list.
func (c *compiler) starClause(h *syntax.ExceptHandler) {
	u := c.u
	none, next, failed := u.newLabel(), u.newLabel(), u.newLabel()
	c.expr(h.Type)
	u.pos = h.Type.Pos()
	u.emit(CHECK_EG_MATCH, 0)
	u.emit(COPY, 1)
	u.jump(POP_JUMP_FORWARD_IF_NONE, none)
	u.pos = h.Span
	forget := func() {
		if h.Name != "" {
			c.loadConst(nil)
			c.storeName(h.Name)
			c.deleteName(h.Name)
		}
	}
	if h.Name != "" {
		c.storeName(h.Name)
	} else {
		u.emit(POP_TOP, 0)
	}
	u.pushRegion(failed, true, 0)
	c.push(frameBlock{kind: starHandler, reg: u.region})
	c.stmts(h.Body)
	c.pop()
	u.popRegion()
	u.pos.Col = -1
	forget()
	u.jump(JUMP_FORWARD, next)
	u.mark(failed)
	forget()
	u.emit(LIST_APPEND, 3)
	u.emit(POP_TOP, 0)
	u.jump(JUMP_FORWARD, next)
	u.mark(none)
	u.emit(POP_TOP, 0)
	u.mark(next)
}

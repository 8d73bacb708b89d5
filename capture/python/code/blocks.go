package code

import (
	"slices"

	"whittle/capture/python/syntax"
)

// Blocks that are left in more ways than one: loops, try and with.
//
// A try statement is laid out like this. On the right is what lies on the stack before each line, above what lay there when the statement
// began, and the region that covers the line.
//
//	         NOP
//	         the body                                         -> handler
//	         the else clause
//	         jump to end
//	handler: PUSH_EXC_INFO                exc                 -> clean, lasti
//	         the class                    outer exc           -> clean, lasti
//	         CHECK_EXC_MATCH              outer exc class     -> clean, lasti
//	         jump to next if false        outer exc bool      -> clean, lasti
//	         POP_TOP, or store the name   outer exc           -> clean, lasti
//	         the clause                   outer               -> clean, lasti
//	         POP_EXCEPT                   outer
//	         jump to end
//	next:    the other clauses            outer exc           -> clean, lasti
//	         RERAISE                      outer exc           -> clean, lasti
//	clean:   COPY 3                       outer lasti exc
//	         POP_EXCEPT                   outer lasti exc outer
//	         RERAISE 1                    outer lasti exc
//	end:
//
// So what is handled when the statement is over is what was handled before it, however it ends: by a clause, by an exception that no clause
// takes, or by one that a clause raises, for which the code at clean is there. A statement that is left by return, break or continue takes the
// way that unwind emits.
//
// A with statement has its __exit__ on the stack below all of this:
//
//	         BEFORE_WITH                  manager
//	         store or drop the value      exit entered        -> handler, lasti, exit stays
//	         the body                     exit                -> handler, lasti, exit stays
//	         call exit with three Nones   exit
//	         jump to end
//	handler: PUSH_EXC_INFO                exit lasti exc      -> clean, lasti
//	         WITH_EXCEPT_START            exit lasti outer exc
//	         jump to suppress if true     exit lasti outer exc result
//	         RERAISE 2                    exit lasti outer exc
//	clean:   COPY 3, POP_EXCEPT, RERAISE 1
//	suppress: POP_TOP, POP_EXCEPT, twice POP_TOP: nothing is left

// unwind emits what leaving block b takes; keep says that a value lies on top that must stay there. The code runs outside of b's own region:
// a failure in a finally clause on the way out is not for that clause's statement to handle.
func (c *compiler) unwind(b frameBlock, keep bool) {
	u := c.u
	switch b.kind {
	case whileLoop:
	case forLoop, popValueBlock:
		if keep {
			u.emit(SWAP, 2)
		}
		u.emit(POP_TOP, 0)
	case tryBlock:
		u.region = b.reg.outer
	case finallyTry:
		u.region = b.reg.outer
		saved := u.frames
		if keep {
			u.frames = append(slices.Clone(u.frames), frameBlock{kind: popValueBlock})
		}
		c.stmts(b.final)
		u.pos = noPos // what goes on from here comes after the clause
		u.frames = saved
	case finallyEnd:
		if b.reg != nil {
			u.region = b.reg.outer
		}
		if keep {
			u.emit(SWAP, 2)
		}
		u.emit(POP_TOP, 0) // the exception
		if keep {
			u.emit(SWAP, 2)
		}
		u.emit(POP_EXCEPT, 0)
	case withBlock:
		u.region = b.reg.outer
		u.pos = b.pos
		if keep {
			u.emit(SWAP, 2)
		}
		c.exitNones(b.async)
		u.emit(POP_TOP, 0)
		u.pos = noPos
	case handlerBlock, handlerNamed:
		if b.reg != nil {
			u.region = b.reg.outer
			if b.kind == handlerNamed {
				u.region = b.reg.outer.outer
			}
		}
		if keep {
			u.emit(SWAP, 2)
		}
		u.emit(POP_EXCEPT, 0)
		if b.kind == handlerNamed {
			c.loadConst(nil)
			c.storeName(b.name)
			c.deleteName(b.name)
		}
	}
}

// exitNones calls the __exit__ on the stack with three Nones, and awaits what an __aexit__ gives.
func (c *compiler) exitNones(async bool) {
	u := c.u
	c.loadConst(nil)
	c.loadConst(nil)
	c.loadConst(nil)
	u.emit(PRECALL, 2)
	u.emit(CALL, 2)
	if async {
		c.await(2)
	}
}

// unwindTo leaves blocks from the innermost to (not including) index stop. The function that it returns puts the blocks back for the code
// that follows, which is inside them.
func (c *compiler) unwindTo(stop int, keep bool) func() {
	u := c.u
	frames, reg := u.frames, u.region
	for i := len(frames) - 1; i > stop; i-- {
		u.frames = frames[:i:i] // what a finally clause pushes must not overwrite the rest
		c.unwind(frames[i], keep)
	}
	return func() { u.frames, u.region = frames, reg }
}

// ret leaves all blocks around the statement, with the value on top of the stack, or, if it is a constant, without it: that is loaded last.
func (c *compiler) ret(s *syntax.Return) {
	u := c.u
	var k any
	isConst := s.Value == nil
	if v, ok := c.foldable(s.Value); ok && s.Value != nil {
		k, isConst = v, true
	}
	if !isConst {
		c.expr(s.Value)
	}
	u.pos = s.Pos()
	if isConst && s.Value != nil {
		u.pos = s.Value.Pos()
		u.emit(NOP, 0)
		if s.Value.Pos().Line != s.Line {
			u.pos = s.Pos()
		}
	}
	if s.Value == nil || s.Value.Pos().Line != s.Line {
		u.emit(NOP, 0)
	}
	restore := c.unwindTo(-1, !isConst)
	if isConst {
		c.loadConst(k)
	}
	u.emit(RETURN_VALUE, 0)
	restore()
}

// breakContinue leaves the blocks inside the innermost loop. The checker has refused one outside a loop.
func (c *compiler) breakContinue(brk bool) {
	u := c.u
	i := len(u.frames) - 1
	for i >= 0 && u.frames[i].kind != whileLoop && u.frames[i].kind != forLoop {
		i--
	}
	if i < 0 {
		return
	}
	loop := u.frames[i]
	u.emit(NOP, 0)
	restore := c.unwindTo(i, false)
	if brk {
		if loop.kind == forLoop {
			u.emit(POP_TOP, 0)
		}
		u.jump(JUMP_FORWARD, loop.end)
	} else {
		u.jump(JUMP_BACKWARD, loop.start)
	}
	restore()
}

// push begins a block, inside which return, break and continue have something to leave.
func (c *compiler) push(b frameBlock) { c.u.frames = append(c.u.frames, b) }

func (c *compiler) pop() { c.u.frames = c.u.frames[:len(c.u.frames)-1] }

// cleanup is the tail of every handler: restore the exception state and raise again.
func (c *compiler) cleanup(l label) {
	u := c.u
	u.mark(l)
	pos := u.pos
	u.pos = noPos
	u.emit(COPY, 3)
	u.emit(POP_EXCEPT, 0)
	u.emit(RERAISE, 1)
	u.pos = pos
}

// tryFinally emits the finally clause twice, as CPython does: behind the body, and in a handler that raises again what it caught. Each
// return, break and continue that leaves the statement has one more copy.
func (c *compiler) tryFinally(s *syntax.Try) {
	u := c.u
	handler, clean, end := u.newLabel(), u.newLabel(), u.newLabel()
	u.emit(NOP, 0)
	u.pushRegion(handler, false, 0)
	c.push(frameBlock{kind: finallyTry, reg: u.region, final: s.Final})
	if len(s.Handlers) > 0 {
		c.handlers(s)
	} else {
		c.stmts(s.Body)
		c.stmts(s.Else)
	}
	c.pop()
	u.popRegion()
	c.stmts(s.Final)
	u.pos = noPos
	u.jump(JUMP_FORWARD, end)
	u.mark(handler)
	u.pushRegion(clean, true, 0)
	u.emit(PUSH_EXC_INFO, 0)
	c.push(frameBlock{kind: finallyEnd, reg: u.region})
	c.stmts(s.Final)
	c.pop()
	u.pos = noPos
	u.emit(RERAISE, 0)
	u.popRegion()
	c.cleanup(clean)
	u.mark(end)
}

// handlers emits a try with except or except* clauses.
func (c *compiler) handlers(s *syntax.Try) {
	if s.Star {
		c.tryStar(s)
	} else {
		c.tryExcept(s)
	}
}

// tryBody emits a try's body and its else clause, after which it goes on at end, and begins what handles an exception.
func (c *compiler) tryBody(s *syntax.Try, handler, clean, end label) {
	u := c.u
	u.emit(NOP, 0)
	u.pushRegion(handler, false, 0)
	c.push(frameBlock{kind: tryBlock, reg: u.region})
	c.stmts(s.Body)
	c.pop()
	u.popRegion()
	c.stmts(s.Else)
	u.pos = noPos
	u.jump(JUMP_FORWARD, end)
	u.mark(handler)
	u.pushRegion(clean, true, 0)
	u.emit(PUSH_EXC_INFO, 0)
}

// tryExcept tests one clause after another; an exception that none takes is raised again. In a clause, the exception that was handled before
// lies on the stack. `except E as name` unbinds the name at the end, whatever happens: its body has a handler for that alone.
func (c *compiler) tryExcept(s *syntax.Try) {
	u := c.u
	handler, clean, end := u.newLabel(), u.newLabel(), u.newLabel()
	c.tryBody(s, handler, clean, end)
	reg := u.region
	for _, h := range s.Handlers {
		u.pos = h.Span
		next := u.newLabel()
		if h.Type != nil {
			c.expr(h.Type)
			u.pos = h.Type.Pos()
			u.emit(CHECK_EXC_MATCH, 0)
			u.jump(POP_JUMP_FORWARD_IF_FALSE, next)
			u.pos = h.Span
		}
		if h.Name != "" {
			c.storeName(h.Name)
			inner := u.newLabel()
			u.pushRegion(inner, true, 0)
			c.push(frameBlock{kind: handlerNamed, reg: u.region, name: h.Name})
			c.stmts(h.Body)
			c.pop()
			u.popRegion()
			u.region = reg.outer
			u.pos = noPos
			u.emit(POP_EXCEPT, 0)
			c.loadConst(nil)
			c.storeName(h.Name)
			c.deleteName(h.Name)
			u.jump(JUMP_FORWARD, end)
			u.region = reg
			u.mark(inner)
			c.loadConst(nil)
			c.storeName(h.Name)
			c.deleteName(h.Name)
			u.emit(RERAISE, 1)
		} else {
			u.emit(POP_TOP, 0)
			c.push(frameBlock{kind: handlerBlock, reg: reg})
			c.stmts(h.Body)
			c.pop()
			u.region = reg.outer
			u.pos = noPos
			u.emit(POP_EXCEPT, 0)
			u.jump(JUMP_FORWARD, end)
			u.region = reg
		}
		u.mark(next)
		u.pos = h.Span
	}
	u.emit(RERAISE, 0)
	u.popRegion()
	c.cleanup(clean)
	u.mark(end)
}

// with emits the i-th item and what is inside it: the next item, or the body. __exit__ lies on the stack all the while. It is called with
// three Nones where the body ends or is left, and in the handler with the exception; true there swallows it.
func (c *compiler) with(s *syntax.With, i int) {
	u := c.u
	it := s.Items[i]
	handler, clean, end, suppress := u.newLabel(), u.newLabel(), u.newLabel(), u.newLabel()
	c.expr(it.Context)
	u.pos = it.Context.Pos()
	if s.Async {
		u.emit(BEFORE_ASYNC_WITH, 0)
		c.await(1)
	} else {
		u.emit(BEFORE_WITH, 0)
	}
	u.pushRegion(handler, true, 1)
	reg := u.region
	c.push(frameBlock{kind: withBlock, reg: reg, pos: it.Context.Pos(), async: s.Async})
	if it.Vars != nil {
		c.store(it.Vars)
	} else {
		u.emit(POP_TOP, 0)
	}
	if i+1 < len(s.Items) {
		c.with(s, i+1)
	} else {
		c.stmts(s.Body)
	}
	c.pop()
	u.popRegion()
	u.pos = it.Context.Pos()
	c.exitNones(s.Async)
	u.emit(POP_TOP, 0)
	u.jump(JUMP_FORWARD, end)
	u.mark(handler)
	u.pushRegion(clean, true, 0)
	u.emit(PUSH_EXC_INFO, 0)
	u.emit(WITH_EXCEPT_START, 0)
	if s.Async {
		c.await(2)
	}
	u.jump(POP_JUMP_FORWARD_IF_TRUE, suppress)
	u.emit(RERAISE, 2)
	caught := u.region
	u.popRegion()
	c.cleanup(clean)
	u.mark(suppress)
	u.region = caught
	u.emit(POP_TOP, 0)
	u.popRegion()
	u.emit(POP_EXCEPT, 0)
	u.emit(POP_TOP, 0)
	u.emit(POP_TOP, 0)
	u.mark(end)
}

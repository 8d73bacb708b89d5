package code

import "whittle/capture/python/syntax"

// Awaiting: what async functions, async for, async with and async comprehensions have in the place of their plain forms.
//
// An await is a yield from of what GET_AWAITABLE gives. An async for asks for one awaitable after another; StopAsyncIteration, which is raised
// while the awaitable is made or awaited, ends it, and nothing else does: that part alone is covered by the handler.
//
//	       GET_AITER
//	start: GET_ANEXT                    aiter                -> done, aiter stays
//	       await                        aiter awaitable      -> done, aiter stays
//	       store the target             aiter item
//	       the body                     aiter
//	       jump to start
//	done:  END_ASYNC_FOR                aiter exc
//	       the else clause

// await waits for the awaitable on the stack and leaves its value. of is the argument of GET_AWAITABLE.
func (c *compiler) await(of int) {
	c.u.emit(GET_AWAITABLE, of)
	c.loadConst(nil)
	c.delegate(3)
}

// delegate yields what the iterator on the stack, below None, yields, and sends it what is sent, until it returns: then its value is on the
// stack. The generator knows by RESUME 2 and 3 that it waits here, and that the delegate lies on top of its stack.
func (c *compiler) delegate(resume int) {
	u := c.u
	start, exit := u.newLabel(), u.newLabel()
	u.mark(start)
	u.jump(SEND, exit)
	u.emit(YIELD_VALUE, 0)
	u.emit(RESUME, resume)
	u.jump(JUMP_BACKWARD_NO_INTERRUPT, start)
	u.mark(exit)
}

// yieldTop yields the value on the stack, which in an async generator is marked as such.
func (c *compiler) yieldTop() {
	u := c.u
	if u.scope.gen && u.scope.coroutine {
		u.emit(ASYNC_GEN_WRAP, 0)
	}
	u.emit(YIELD_VALUE, 0)
	u.emit(RESUME, 1)
}

// nextAwaited pushes the next item of the async iterator on the stack; where there is none, done is next.
func (c *compiler) nextAwaited(done label) {
	u := c.u
	u.pushRegion(done, false, 0)
	u.emit(GET_ANEXT, 0)
	c.loadConst(nil)
	c.delegate(3)
	u.popRegion()
}

// asyncFor is forStmt for async for; what it walks over is on the stack.
func (c *compiler) asyncFor(s *syntax.For) {
	u := c.u
	start, done, end := u.newLabel(), u.newLabel(), u.newLabel()
	u.emit(GET_AITER, 0)
	u.mark(start)
	u.frames = append(u.frames, frameBlock{kind: forLoop, start: start, end: end})
	u.pos = s.Pos()
	c.nextAwaited(done)
	c.store(s.Target)
	c.stmts(s.Body)
	u.pos = noPos // the jump is of the line that comes before it
	u.jump(JUMP_BACKWARD, start)
	u.frames = u.frames[:len(u.frames)-1]
	u.mark(done)
	u.pos = s.Iter.Pos()
	u.emit(END_ASYNC_FOR, 0)
	c.stmts(s.Else)
	u.mark(end)
}

package vm

import (
	"whittle/capture/python/code"
)

// Coroutine is what calling an async function gives. It has the body of a generator, but is no iterator: only await runs it, or send.
type Coroutine struct {
	Identity
	body   *Generator
	origin Object // where it was made, if sys.set_coroutine_origin_tracking_depth asks for it
}

// coroutineWrapper is what a coroutine's __await__ gives: an iterator over what it yields.
type coroutineWrapper struct{ c *Coroutine }

// Type implements Object, here and below.
func (*Coroutine) Type() *Type        { return CoroutineType }
func (*coroutineWrapper) Type() *Type { return coroutineWrapperType }

// Next implements Iterator.
func (w *coroutineWrapper) Next(in *Interp) (Object, error) { return w.c.body.Next(in) }

// newSuspended makes the object that a call of a generator function or an async function returns, around the frame of the call.
func (in *Interp) newSuspended(f *Frame) Object {
	g := &Generator{Name: f.Func.Name, Qualname: f.Func.Qualname, frame: f, code: f.Code}
	f.body = g
	back := f.Back
	f.Back = nil // until it is resumed
	switch {
	case f.Code.Flags&code.Coroutine != 0:
		g.kind = coroutineBody
		c := &Coroutine{body: g, origin: None}
		if in.originDepth > 0 {
			c.origin = originOf(back, in.originDepth)
		}
		g.watch = newWatch(in, c, func(c *Coroutine) { in.endCoroutine(c) })
		return c
	case f.Code.Flags&code.AsyncGen != 0:
		g.kind = asyncGenBody
		return &AsyncGenerator{body: g}
	}
	return g
}

// endCoroutine is what happens to a coroutine that nothing refers to any more: one that was never awaited is warned about, one that waits is closed.
func (in *Interp) endCoroutine(c *Coroutine) {
	if c.body.started || c.body.done {
		in.endBody(c.body, c)
		return
	}
	w, err := in.Import("warnings")
	if err == nil {
		_, err = in.CallMethod(w, "_warn_unawaited_coroutine", c)
	}
	if err != nil {
		in.tellUnraisable(err, c)
	}
}

// endBody closes what waits at a yield.
func (in *Interp) endBody(g *Generator, of Object) {
	if g.done || g.running {
		return
	}
	if err := g.Close(in); err != nil {
		in.tellUnraisable(err, of)
	}
}

// originOf lists up to depth callers: file, line and function of each.
func originOf(f *Frame, depth int) Object {
	var out []Object
	for ; f != nil && len(out) < depth; f = f.Back {
		out = append(out, NewTuple(Str(f.Code.Filename), MakeInt(int64(f.Line())), Str(f.Code.Name)))
	}
	return NewTuple(out...)
}

// bodyOf is the suspended function of a generator or coroutine, nil for anything else.
func bodyOf(o Object) *Generator {
	switch x := o.(type) {
	case *Generator:
		return x
	case *Coroutine:
		return x.body
	case *coroutineWrapper:
		return x.c.body
	}
	return nil
}

// awaitable gives the iterator that await runs: a coroutine itself, or what __await__ gives, which may not be a coroutine.
func (in *Interp) awaitable(o Object) (Object, error) {
	if isCoroutine(o) {
		return o, nil
	}
	m := o.Type().Lookup("__await__")
	if m == nil {
		return nil, in.Errorf(in.Exc.TypeError, "object %s can't be used in 'await' expression", TypeName(o))
	}
	v, err := in.callSpecial(m, o)
	if err != nil {
		return nil, err
	}
	if isCoroutine(v) {
		return nil, in.Errorf(in.Exc.TypeError, "__await__() returned a coroutine")
	}
	if _, ok := v.(Iterator); !ok && v.Type().Lookup("__next__") == nil {
		return nil, in.Errorf(in.Exc.TypeError, "__await__() returned non-iterator of type '%s'", TypeName(v))
	}
	return v, nil
}

// isCoroutine reports whether o is a coroutine, or a generator that types.coroutine made one.
func isCoroutine(o Object) bool {
	switch x := o.(type) {
	case *Coroutine:
		return true
	case *Generator:
		return x.code != nil && x.code.Flags&code.Iterable != 0
	}
	return false
}

// getAwaitable is GET_AWAITABLE. of says what gave the object: 1 and 2 are __aenter__ and __aexit__.
func (in *Interp) getAwaitable(o Object, of int32) (Object, error) {
	if (of == 1 || of == 2) && !isCoroutine(o) && o.Type().Lookup("__await__") == nil {
		name := map[int32]string{1: "__aenter__", 2: "__aexit__"}[of]
		return nil, in.Errorf(in.Exc.TypeError, "'async with' received an object from %s that does not implement __await__: %s", name, TypeName(o))
	}
	v, err := in.awaitable(o)
	if err != nil {
		return nil, err
	}
	if c, ok := v.(*Coroutine); ok && c.body.delegate() != nil {
		return nil, in.Errorf(in.Exc.RuntimeError, "coroutine is being awaited already")
	}
	return v, nil
}

// getAIter is GET_AITER.
func (in *Interp) getAIter(o Object) (Object, error) {
	m := o.Type().Lookup("__aiter__")
	if m == nil {
		return nil, in.Errorf(in.Exc.TypeError, "'async for' requires an object with __aiter__ method, got %s", TypeName(o))
	}
	v, err := in.callSpecial(m, o)
	if err != nil {
		return nil, err
	}
	if v.Type().Lookup("__anext__") == nil {
		return nil, in.Errorf(in.Exc.TypeError, "'async for' received an object from __aiter__ that does not implement __anext__: %s", TypeName(v))
	}
	return v, nil
}

// getANext is GET_ANEXT.
func (in *Interp) getANext(it Object) (Object, error) {
	if g, ok := it.(*AsyncGenerator); ok {
		return g.asend(in, None)
	}
	m := it.Type().Lookup("__anext__")
	if m == nil {
		return nil, in.Errorf(in.Exc.TypeError, "'async for' requires an iterator with __anext__ method, got %s", TypeName(it))
	}
	next, err := in.callSpecial(m, it)
	if err != nil {
		return nil, err
	}
	v, err := in.awaitable(next)
	if r, ok := err.(*Raised); ok {
		e := &Exception{Class: in.Exc.TypeError, Cause: r.Exc, Context: r.Exc, Suppress: true,
			Args: NewTuple(Str("'async for' received an invalid object from __anext__: " + TypeName(next)))}
		return nil, &Raised{e}
	}
	return v, err
}

// asyncWithMethods looks an asynchronous context manager's methods up on its class and binds them.
func asyncWithMethods(in *Interp, m Object) (exit, enter Object, err error) {
	t := m.Type()
	for _, name := range []string{"__aenter__", "__aexit__"} {
		d := t.Lookup(name)
		if d == nil {
			s := ""
			if name == "__aexit__" {
				s = " (missed __aexit__ method)"
			}
			return nil, nil, in.Errorf(in.Exc.TypeError, "'%s' object does not support the asynchronous context manager protocol%s", t.errName(), s)
		}
		v, err := in.bindDescr(d, m, t)
		if err != nil {
			return nil, nil, err
		}
		enter, exit = exit, v
	}
	return exit, enter, nil
}

// endAsyncFor is END_ASYNC_FOR: only StopAsyncIteration ends the loop.
func (in *Interp) endAsyncFor(exc Object) error {
	e, ok := exc.(*Exception)
	if ok && e.Class.IsSubtype(in.Exc.StopAsyncIteration) {
		return nil
	}
	return &Raised{e}
}

// evalAsync runs the instructions of async code that neither jump nor leave the frame.
func (in *Interp) evalAsync(f *Frame, o op, sp int) (_ int, err error) {
	stack := f.Stack
	var v Object
	switch o.op() {
	case code.GET_AWAITABLE:
		v, err = in.getAwaitable(stack[sp-1], o.arg)
	case code.GET_AITER:
		v, err = in.getAIter(stack[sp-1])
	case code.GET_ANEXT:
		v, err = in.getANext(stack[sp-1])
		sp++
	case code.ASYNC_GEN_WRAP:
		v = &wrappedValue{stack[sp-1]}
	case code.BEFORE_ASYNC_WITH:
		exit, enter, e := asyncWithMethods(in, stack[sp-1])
		if e != nil {
			return sp, e
		}
		v, err = in.Call(enter, nil, nil)
		stack[sp-1] = exit
		sp++
	}
	if err != nil {
		return sp, err
	}
	stack[sp-1] = v
	return sp, nil
}

// SetOriginDepth says how many callers a new coroutine notes.
func (in *Interp) SetOriginDepth(n int) { in.originDepth = n }

// OriginDepth is how many callers a new coroutine notes.
func (in *Interp) OriginDepth() int { return in.originDepth }

// asyncState is what belongs to the async code of an interpreter.
type asyncState struct {
	originDepth         int
	firstIter, finalize Object // sys.set_asyncgen_hooks; nil for none
}

// AsyncGenHooks are what sys.set_asyncgen_hooks has set; nil for none.
func (in *Interp) AsyncGenHooks() (firstIter, finalizer Object) { return in.firstIter, in.finalize }

// SetAsyncGenHooks sets what is called with an async generator that is iterated for the first time, and with one that nobody needs any more.
func (in *Interp) SetAsyncGenHooks(firstIter, finalizer Object) {
	in.firstIter, in.finalize = firstIter, finalizer
}

// initCoroutine gives coroutines and their wrappers their methods.
func initCoroutine() {
	addBody(CoroutineType, "cr", func(o Object) *Generator { return bodyOf(o) })
	addGetSet(CoroutineType, "cr_origin", func(_ *Interp, o Object) (Object, error) { return o.(*Coroutine).origin, nil }, nil)
	addMethod(CoroutineType, "__await__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return &coroutineWrapper{args[0].(*Coroutine)}, nil
	})
	w := coroutineWrapperType
	addMethod(w, "__iter__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return args[0], nil })
	addMethod(w, "__next__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return bodyOf(args[0]).returned(in)(bodyOf(args[0]).resume(in, None, nil))
	})
	for _, t := range []*Type{CoroutineType, w} {
		addSendThrow(t)
	}
}

package vm

// AsyncGenerator is what calling an async function with a yield in it gives. Its body yields for two reasons: what it awaits yields, which is
// for the event loop, or it yields an item, which is for whoever iterates it. ASYNC_GEN_WRAP marks the items.
//
// Nothing of the body runs when __anext__, asend, athrow or aclose is called: they give an awaitable (an asyncCall), and awaiting that runs
// the body to its next item, which becomes the awaitable's value.
type AsyncGenerator struct {
	Identity
	body    *Generator
	hooked  bool // the hooks of sys.set_asyncgen_hooks were asked
	closed  bool // it has ended, or aclose was begun
	running bool // an awaitable of it is under way
}

// wrappedValue is an item that an async generator yields.
type wrappedValue struct{ v Object }

// Type implements Object, here and below.
func (*AsyncGenerator) Type() *Type { return AsyncGeneratorType }
func (*wrappedValue) Type() *Type   { return wrappedValueType }

func (c *asyncCall) Type() *Type {
	if c.send != nil {
		return asyncSendType
	}
	return asyncThrowType
}

// asyncCall is an awaitable of an async generator: of asend if send is set, of athrow if exc is, of aclose if neither is.
type asyncCall struct {
	g     *AsyncGenerator
	send  Object
	exc   []Object
	state asyncCallState
}

// asyncCallState says how far an asyncCall has come.
type asyncCallState uint8

const (
	asyncInit asyncCallState = iota
	asyncUnderWay
	asyncClosed
)

// asend is __anext__ and asend.
func (g *AsyncGenerator) asend(in *Interp, v Object) (Object, error) {
	if err := g.hook(in); err != nil {
		return nil, err
	}
	return &asyncCall{g: g, send: v}, nil
}

// hook tells the event loop of a generator that is iterated for the first time.
func (g *AsyncGenerator) hook(in *Interp) error {
	if g.hooked {
		return nil
	}
	g.hooked = true
	finalize := in.finalize // that of the loop which iterates it
	Watch(in, g, func(g *AsyncGenerator) { in.endAsyncGen(g, finalize) })
	if in.firstIter == nil {
		return nil
	}
	_, err := in.Call(in.firstIter, []Object{g}, nil)
	return err
}

// endAsyncGen gives an async generator that nothing refers to any more to its event loop, or closes it.
func (in *Interp) endAsyncGen(g *AsyncGenerator, finalize Object) {
	if g.body.done {
		return
	}
	if finalize == nil || g.closed {
		in.endBody(g.body, g)
		return
	}
	if _, err := in.Call(finalize, []Object{g}, nil); err != nil {
		in.tellUnraisable(err, g)
	}
}

// name is what texts call the call.
func (c *asyncCall) name() string {
	switch {
	case c.send != nil:
		return "anext()"
	case c.exc != nil:
		return "athrow()"
	}
	return "aclose()"
}

// used is the RuntimeError for an awaitable that has been awaited.
func (c *asyncCall) used(in *Interp) error {
	what := "aclose()/athrow()"
	if c.send != nil {
		what = "__anext__()/asend()"
	}
	return in.Errorf(in.Exc.RuntimeError, "cannot reuse already awaited %s", what)
}

// begin checks that the call can begin, and marks the generator as running. ended says that there is nothing to do.
func (c *asyncCall) begin(in *Interp, v Object) error {
	g := c.g
	if g.running {
		if c.send == nil {
			c.state = asyncClosed
		}
		return in.Errorf(in.Exc.RuntimeError, "%s: asynchronous generator is already running", c.name())
	}
	if c.send == nil {
		if g.closed {
			c.state = asyncClosed
			return in.Raise(&Exception{Class: in.Exc.StopAsyncIteration, Args: emptyTuple})
		}
		if v != None {
			return in.Errorf(in.Exc.RuntimeError, "can't send non-None value to a just-started coroutine")
		}
	}
	c.state = asyncUnderWay
	g.running = true
	return nil
}

// step is send: it runs the body on.
func (c *asyncCall) step(in *Interp, v Object) (Object, error) {
	g := c.g
	if c.state == asyncClosed {
		return nil, c.used(in)
	}
	if c.send == nil && g.body.done { // there is nothing to close
		c.state = asyncClosed
		return nil, in.stopIteration(None)
	}
	if c.state == asyncUnderWay {
		g.running = true
		return c.outcome(in)(g.body.resume(in, v, nil))
	}
	if err := c.begin(in, v); err != nil {
		return nil, err
	}
	if c.send != nil {
		if v == None {
			v = c.send
		}
		return c.outcome(in)(g.body.resume(in, v, nil))
	}
	exc := &Exception{Class: in.Exc.GeneratorExit, Args: emptyTuple}
	if c.exc == nil {
		g.closed = true
	} else {
		var err error
		if exc, err = thrown(in, c.exc); err != nil {
			return c.outcome(in)(nil, nil, err)
		}
	}
	return c.outcome(in)(g.body.throwInto(in, exc, false))
}

// throw raises an exception where the body waits.
func (c *asyncCall) throw(in *Interp, args []Object) (Object, error) {
	if c.state == asyncClosed {
		return nil, c.used(in)
	}
	exc, err := thrown(in, args)
	if err != nil {
		return nil, err
	}
	return c.outcome(in)(c.g.body.throwInto(in, exc, true))
}

// outcome makes what the awaitable does of what the body did: what an await in it yields is yielded; an item is the awaitable's value; the end
// of the body is StopAsyncIteration, or, for aclose, the end of the awaitable, which must not meet another item.
func (c *asyncCall) outcome(in *Interp) func(v, ret Object, err error) (Object, error) {
	return func(v, ret Object, err error) (Object, error) {
		g := c.g
		item, isItem := v.(*wrappedValue)
		if err == nil && ret == nil && !isItem {
			return v, nil
		}
		g.running = false
		c.state = asyncClosed
		closing := c.send == nil && c.exc == nil
		switch {
		case isItem && closing:
			return nil, in.Errorf(in.Exc.RuntimeError, "async generator ignored GeneratorExit")
		case isItem:
			return nil, in.stopIteration(item.v)
		case err == nil:
			err = in.Raise(&Exception{Class: in.Exc.StopAsyncIteration, Args: emptyTuple})
		}
		if in.Matches(err, in.Exc.StopAsyncIteration) || in.Matches(err, in.Exc.GeneratorExit) {
			g.closed = true
			if closing {
				return nil, in.stopIteration(None)
			}
		}
		return nil, err
	}
}

// Next implements Iterator.
func (c *asyncCall) Next(in *Interp) (Object, error) {
	v, err := c.step(in, None)
	if err != nil && in.Matches(err, in.Exc.StopIteration) && err.(*Raised).Exc.Field("value") == None {
		return nil, nil
	}
	return v, err
}

// anextDefault is what anext(it, default) gives: it awaits, and has a value where there is no next item.
type anextDefault struct {
	of   Object
	def  Object
	iter Object // what is awaited, nil until it is
}

// Type implements Object.
func (*anextDefault) Type() *Type { return anextDefaultType }

// run does one step of what is awaited.
func (a *anextDefault) run(in *Interp, how string, args ...Object) (v Object, err error) {
	if a.iter == nil {
		if a.iter, err = in.awaitable(a.of); err != nil {
			return nil, err
		}
		if c, ok := a.iter.(*Coroutine); ok {
			a.iter = &coroutineWrapper{c}
		}
	}
	v, err = in.CallMethod(a.iter, how, args...)
	if err != nil && in.Matches(err, in.Exc.StopAsyncIteration) {
		return nil, in.stopIteration(a.def)
	}
	return v, err
}

// initAsyncGen gives async generators and their awaitables their methods.
func initAsyncGen() {
	t := AsyncGeneratorType
	addBody(t, "ag", func(o Object) *Generator { return o.(*AsyncGenerator).body })
	addGetSet(t, "ag_running", func(_ *Interp, o Object) (Object, error) { return MakeBool(o.(*AsyncGenerator).running), nil }, nil)
	addClass(t, "__class_getitem__", genericAlias)
	addMethod(t, "__aiter__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return args[0], nil })
	addMethod(t, "__anext__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return args[0].(*AsyncGenerator).asend(in, None)
	})
	addMethod(t, "asend", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return args[0].(*AsyncGenerator).asend(in, args[1])
	})
	addMethod(t, "athrow", 1, 3, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		g := args[0].(*AsyncGenerator)
		return &asyncCall{g: g, exc: append([]Object{}, args[1:]...)}, g.hook(in)
	})
	addMethod(t, "aclose", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		g := args[0].(*AsyncGenerator)
		return &asyncCall{g: g}, g.hook(in)
	})
	for _, t := range []*Type{asyncSendType, asyncThrowType} {
		addMethod(t, "__await__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return args[0], nil })
		addMethod(t, "__iter__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return args[0], nil })
		addMethod(t, "__next__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			return args[0].(*asyncCall).step(in, None)
		})
		addMethod(t, "send", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			return args[0].(*asyncCall).step(in, args[1])
		})
		addMethod(t, "throw", 1, 3, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			return args[0].(*asyncCall).throw(in, args[1:])
		})
		addMethod(t, "close", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			args[0].(*asyncCall).state = asyncClosed
			return None, nil
		})
	}
	a := anextDefaultType
	for _, n := range []string{"__await__", "__iter__"} {
		addMethod(a, n, 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return args[0], nil })
	}
	addMethod(a, "__next__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return args[0].(*anextDefault).run(in, "__next__")
	})
	addMethod(a, "send", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return args[0].(*anextDefault).run(in, "send", args[1])
	})
	addMethod(a, "throw", 1, 3, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return args[0].(*anextDefault).run(in, "throw", args[1:]...)
	})
	addMethod(a, "close", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return args[0].(*anextDefault).run(in, "close")
	})
}

// addAsyncBuiltins adds aiter and anext.
func addAsyncBuiltins() {
	addBuiltin("aiter", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		m := args[0].Type().Lookup("__aiter__")
		if m == nil {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not an async iterable", TypeName(args[0]))
		}
		v, err := in.callSpecial(m, args[0])
		if err == nil && v.Type().Lookup("__anext__") == nil {
			return nil, in.Errorf(in.Exc.TypeError, "aiter() returned not an async iterator of type '%s'", TypeName(v))
		}
		return v, err
	})
	addBuiltin("anext", 1, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		m := args[0].Type().Lookup("__anext__")
		if m == nil {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not an async iterator", TypeName(args[0]))
		}
		v, err := in.callSpecial(m, args[0])
		if err != nil || len(args) == 1 {
			return v, err
		}
		return &anextDefault{of: v, def: args[1]}, nil
	})
}

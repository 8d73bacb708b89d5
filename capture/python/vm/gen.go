package vm

import "errors"

// Generator is a generator object: a frame that stops at a yield and goes on when it is asked for more.
//
// Its states: not started (the frame waits behind RETURN_GENERATOR); suspended (the frame's PC is behind a YIELD_VALUE, and what the yield
// expression is to be goes on top of its stack); running; done, by a return, an exception or close. The frame owns its memory, as it
// outlives the call that made it.
//
// A body that yields inside an except clause is handling an exception that its caller is not. That exception is kept in exc while the
// generator waits (hasExc) and is handled again when it goes on; the caller's is put back meanwhile.
type Generator struct {
	Identity
	Name, Qualname string
	frame          *Frame
	running        bool
	started        bool
	done           bool
	exc            *Exception // exception that the body was handling when it yielded
	hasExc         bool
}

// Frame is the suspended frame, nil once the generator has finished.
func (g *Generator) Frame() *Frame { return g.frame }

// Suspended is the state of a generator that waits at a yield, or did not begin; ok is false for one that runs, has ended, or handles
// an exception.
func (g *Generator) Suspended() (f *Frame, started, ok bool) {
	return g.frame, g.started, g.frame != nil && !g.running && !g.done && !g.hasExc
}

// NewSuspended is a generator with a frame of the state that Suspended gave.
func NewSuspended(name, qualname string, f *Frame, started bool) *Generator {
	return &Generator{Name: name, Qualname: qualname, frame: f, started: started}
}

// Next implements Iterator.
func (g *Generator) Next(in *Interp) (Object, error) {
	v, ret, err := g.resume(in, None, nil)
	if err != nil || ret != nil {
		return nil, err
	}
	return v, nil
}

// resume runs to the next yield (v) or to the return (ret), with sent as the value of the yield that it waits at. exc, if not nil, is thrown
// in there instead.
func (g *Generator) resume(in *Interp, sent Object, exc *Exception) (v, ret Object, err error) {
	if g.running {
		return nil, nil, in.Errorf(in.Exc.ValueError, "generator already executing")
	}
	if g.done {
		if exc != nil {
			return nil, nil, &Raised{exc}
		}
		return nil, None, nil
	}
	f := g.frame
	// Nothing of the body has run, so nothing of it can handle the exception.
	if !g.started && exc != nil {
		g.finish()
		exc.Traceback = &Traceback{Code: f.Code, Globals: f.Globals, PC: f.PC, Next: exc.Traceback}
		return nil, nil, &Raised{exc}
	}
	if !g.started && sent != None {
		return nil, nil, in.Errorf(in.Exc.TypeError, "can't send non-None value to a just-started generator")
	}
	if err := in.enter(); err != nil {
		return nil, nil, err
	}
	outer := in.exc
	if g.hasExc {
		in.exc = g.exc
	}
	entry := in.exc
	g.running, g.started = true, true
	f.yielded = false
	if exc != nil {
		if g.hasExc && g.exc != nil { // what the generator is handling
			in.chain(exc)
		}
		f.PC-- // the instruction that yielded fails
		v, err = f.throw(in, exc)
	} else {
		f.Stack[f.SP] = sent
		f.SP++
		v, err = in.runFrame(f)
	}
	g.running = false
	in.leave()
	if err == nil && f.yielded {
		g.hasExc = in.exc != entry || g.hasExc
		g.exc = in.exc
		if in.exc == outer {
			g.hasExc = false
		}
		in.exc = outer
		return v, nil, nil
	}
	in.exc = outer
	g.finish()
	if err != nil {
		// A StopIteration must not leave a generator's body.
		var r *Raised
		if errors.As(err, &r) && r.Exc.Class.IsSubtype(in.Exc.StopIteration) {
			e := &Exception{Class: in.Exc.RuntimeError, Args: NewTuple(Str("generator raised StopIteration")), Cause: r.Exc, Context: r.Exc, Suppress: true}
			return nil, nil, &Raised{e}
		}
		return nil, nil, err
	}
	return nil, v, nil
}

// finish ends the generator, whose frame nobody needs any more.
func (g *Generator) finish() {
	g.done = true
	g.frame = nil
}

// throw resumes a frame by raising at its current instruction. No hook is asked: it was when the frame began.
func (f *Frame) throw(in *Interp, exc *Exception) (Object, error) {
	f.Back = in.frame
	return in.evalThrow(f, &Raised{exc})
}

// throw is generator.throw. A generator that waits in a yield from hands the exception to its delegate first; GeneratorExit closes the
// delegate. What the delegate yields then goes out; what it returns or raises goes into this frame, which goes on behind the yield from or
// fails there.
func (g *Generator) throw(in *Interp, exc *Exception) (v, ret Object, err error) {
	if g.running {
		return nil, nil, in.Errorf(in.Exc.ValueError, "generator already executing")
	}
	if sub := g.delegate(); sub != nil {
		var rv Object
		var done bool
		if exc.Class.IsSubtype(in.Exc.GeneratorExit) {
			if err = closeIter(in, sub); err != nil {
				if r, ok := err.(*Raised); ok {
					return g.resume(in, None, r.Exc)
				}
				return nil, nil, err
			}
			return g.resume(in, None, exc)
		}
		if sg, ok := sub.(*Generator); ok {
			g.running = true
			v, ret, err = sg.throw(in, exc)
			g.running = false
			done, rv = ret != nil, ret
		} else {
			m, e := in.GetAttrOpt(sub, "throw")
			if e != nil {
				return nil, nil, e
			}
			if m == nil {
				return g.resume(in, None, exc)
			}
			g.running = true
			v, err = in.Call(m, []Object{exc}, nil)
			g.running = false
			if err != nil && in.Matches(err, in.Exc.StopIteration) {
				done, rv, err = true, err.(*Raised).Exc.Field("value"), nil
			}
		}
		if err != nil {
			if r, ok := err.(*Raised); ok {
				// The delegate failed: the exception arises at the yield from.
				f := g.frame
				f.SP-- // the delegate
				f.Stack[f.SP] = nil
				return g.resume(in, None, r.Exc)
			}
			return nil, nil, err
		}
		if done {
			// The delegate returned: yield from has its value.
			f := g.frame
			send := f.PC - 2
			f.SP--
			f.PC = int(f.Code.Instrs[send].Arg)
			return g.resume(in, rv, nil)
		}
		return v, nil, nil
	}
	return g.resume(in, None, exc)
}

// delegate is the iterator that a suspended yield from waits on: RESUME 2 follows only the yield of that expression, and then the delegate
// is on top of the stack.
func (g *Generator) delegate() Object {
	f := g.frame
	if f == nil || !g.started || f.PC < 2 || f.PC >= len(f.Code.ops) {
		return nil
	}
	if in := f.Code.ops[f.PC]; in.op.String() == "RESUME" && in.arg == 2 && f.SP > 0 {
		return f.Stack[f.SP-1]
	}
	return nil
}

// closeIter closes a delegate.
func closeIter(in *Interp, o Object) error {
	if g, ok := o.(*Generator); ok {
		return g.Close(in)
	}
	m, err := in.GetAttrOpt(o, "close")
	if err != nil || m == nil {
		return err
	}
	_, err = in.Call(m, nil, nil)
	return err
}

// Close is generator.close(): it throws GeneratorExit in, and the generator has to end. One that has not started has nothing to clean up.
func (g *Generator) Close(in *Interp) error {
	if g.done {
		return nil
	}
	if !g.started {
		g.finish()
		return nil
	}
	e := &Exception{Class: in.Exc.GeneratorExit, Args: emptyTuple}
	_, ret, err := g.throw(in, e)
	if err != nil {
		if in.Matches(err, in.Exc.GeneratorExit) || in.Matches(err, in.Exc.StopIteration) {
			return nil
		}
		return err
	}
	if ret != nil {
		return nil
	}
	return in.Errorf(in.Exc.RuntimeError, "generator ignored GeneratorExit")
}

// initGenerator gives generators their methods and attributes.
func initGenerator() {
	t := GeneratorType
	self := func(in *Interp, o Object) (*Generator, error) {
		g, ok := o.(*Generator)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor requires a 'generator' object but received a '%s'", o.Type().Name)
		}
		return g, nil
	}
	result := func(in *Interp, v, ret Object, err error) (Object, error) {
		if err != nil {
			return nil, err
		}
		if ret != nil {
			return nil, in.stopIteration(ret)
		}
		return v, nil
	}
	addMethod(t, "__iter__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return args[0], nil })
	addMethod(t, "__next__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		g, err := self(in, args[0])
		if err != nil {
			return nil, err
		}
		v, ret, err := g.resume(in, None, nil)
		return result(in, v, ret, err)
	})
	addMethod(t, "send", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		g, err := self(in, args[0])
		if err != nil {
			return nil, err
		}
		v, ret, err := g.resume(in, args[1], nil)
		return result(in, v, ret, err)
	})
	addMethod(t, "throw", 1, 3, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		g, err := self(in, args[0])
		if err != nil {
			return nil, err
		}
		var o Object = args[1]
		if c, ok := o.(*Type); ok && len(args) > 2 && args[2] != None {
			if o, err = in.Call(c, []Object{args[2]}, nil); err != nil {
				return nil, err
			}
		}
		e, err := toException(in, o)
		if err != nil {
			return nil, err
		}
		v, ret, err := g.throw(in, e)
		return result(in, v, ret, err)
	})
	addMethod(t, "close", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		g, err := self(in, args[0])
		if err != nil {
			return nil, err
		}
		return None, g.Close(in)
	})
	addGetSet(t, "__name__", func(in *Interp, o Object) (Object, error) { return Str(o.(*Generator).Name), nil }, nil)
	addGetSet(t, "__qualname__", func(in *Interp, o Object) (Object, error) { return Str(o.(*Generator).Qualname), nil }, nil)
	addGetSet(t, "gi_running", func(in *Interp, o Object) (Object, error) { return MakeBool(o.(*Generator).running), nil }, nil)
	addGetSet(t, "gi_frame", func(in *Interp, o Object) (Object, error) {
		if f := o.(*Generator).frame; f != nil {
			return f, nil
		}
		return None, nil
	}, nil)
	addGetSet(t, "gi_yieldfrom", func(in *Interp, o Object) (Object, error) {
		if d := o.(*Generator).delegate(); d != nil {
			return d, nil
		}
		return None, nil
	}, nil)
}

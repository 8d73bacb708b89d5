package vm

import (
	"errors"
	"weak"

	"whittle/capture/python/code"
)

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
	kind           bodyKind
	code           *Code
	frame          *Frame
	running        bool
	started        bool
	done           bool
	watch          *watch     // its end, or its coroutine's, is awaited; nil => it is not
	exc            *Exception // exception that the body was handling when it yielded
	hasExc         bool
}

// bodyKind says of what a Generator is the body: of itself, or of a coroutine or an async generator.
type bodyKind uint8

const (
	generatorBody bodyKind = iota
	coroutineBody
	asyncGenBody
)

// String is the name in error texts.
func (k bodyKind) String() string {
	switch k {
	case coroutineBody:
		return "coroutine"
	case asyncGenBody:
		return "async generator"
	}
	return "generator"
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
	return &Generator{Name: name, Qualname: qualname, code: f.Code, frame: f, started: started}
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
		return nil, nil, in.Errorf(in.Exc.ValueError, "%s already executing", g.kind)
	}
	if g.done {
		if g.kind == coroutineBody {
			return nil, nil, in.Errorf(in.Exc.RuntimeError, "cannot reuse already awaited coroutine")
		}
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
		return nil, nil, in.Errorf(in.Exc.TypeError, "can't send non-None value to a just-started %s", g.kind)
	}
	if in.depth >= in.RecursionLimit {
		return nil, nil, in.newRecursionError()
	}
	in.depth++
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
		v, err = in.finish(f, false)
	}
	g.running = false
	f.Back = nil // whoever resumes it next
	in.leave()
	if err == nil && f.yielded {
		g.hasExc = in.exc != entry || g.hasExc
		g.exc = in.exc
		if in.exc == outer {
			g.hasExc = false
		}
		in.exc = outer
		if g.watch == nil && g.kind == generatorBody && len(f.Code.ExcTable) > 0 { // it may wait inside a try statement
			g.watch = newWatch(in, g, func(g *Generator) { in.endBody(g, g) })
			f.gen, f.body = weak.Make(g), nil
		}
		return v, nil, nil
	}
	in.exc = outer
	g.finish()
	if err != nil {
		return nil, nil, g.unstopped(in, err)
	}
	if in.awaited != 0 {
		if held := in.leaving(f, v); held != nil {
			a, t := dropping(held), triggerOf(held)
			held, f = nil, nil
			in.collectDropped(a)
			t.count()
		}
	}
	return nil, v, nil
}

// unstopped makes a RuntimeError of what would tell the caller that the body has ended: a StopIteration, or, of an async generator, a
// StopAsyncIteration, must not leave a body by itself.
func (g *Generator) unstopped(in *Interp, err error) error {
	var r *Raised
	if !errors.As(err, &r) {
		return err
	}
	name := "StopIteration"
	if !r.Exc.Class.IsSubtype(in.Exc.StopIteration) {
		if g.kind != asyncGenBody || !r.Exc.Class.IsSubtype(in.Exc.StopAsyncIteration) {
			return err
		}
		name = "StopAsyncIteration"
	}
	text := Str(g.kind.String() + " raised " + name)
	return &Raised{&Exception{Class: in.Exc.RuntimeError, Args: NewTuple(text), Cause: r.Exc, Context: r.Exc, Suppress: true}}
}

// finish ends the generator, whose frame nobody needs any more.
func (g *Generator) finish() {
	g.done = true
	g.frame = nil
	if g.watch != nil {
		g.watch.settle()
	}
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
	return g.throwInto(in, exc, true)
}

// throwInto is throw; without closing, a delegate gets GeneratorExit like any other exception.
func (g *Generator) throwInto(in *Interp, exc *Exception, closing bool) (v, ret Object, err error) {
	if g.running {
		return nil, nil, in.Errorf(in.Exc.ValueError, "%s already executing", g.kind)
	}
	if sub := g.delegate(); sub != nil {
		var rv Object
		var done bool
		if closing && exc.Class.IsSubtype(in.Exc.GeneratorExit) {
			g.running = true
			err = closeIter(in, sub)
			g.running = false
			if err != nil {
				if r, ok := err.(*Raised); ok {
					return g.resume(in, None, r.Exc)
				}
				return nil, nil, err
			}
			return g.resume(in, None, exc)
		}
		if sg := bodyOf(sub); sg != nil {
			g.running = true
			v, ret, err = sg.throwInto(in, exc, closing)
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

// delegate is the iterator that a suspended yield from or await waits on: RESUME 2 and 3 follow only the yields of these, and then the
// delegate is on top of the stack.
func (g *Generator) delegate() Object {
	f := g.frame
	if f == nil || !g.started || g.running || f.PC < 2 || f.PC >= len(f.Code.ops) {
		return nil
	}
	if in := f.Code.ops[f.PC]; in.op() == code.RESUME && in.arg >= 2 && f.SP > 0 {
		return f.Stack[f.SP-1]
	}
	return nil
}

// closeIter closes a delegate.
func closeIter(in *Interp, o Object) error {
	if g := bodyOf(o); g != nil {
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
	if g.running {
		return in.Errorf(in.Exc.ValueError, "%s already executing", g.kind)
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
	return in.Errorf(in.Exc.RuntimeError, "%s ignored GeneratorExit", g.kind)
}

// returned makes what send and throw do of what resume gave: a return is a StopIteration.
func (g *Generator) returned(in *Interp) func(v, ret Object, err error) (Object, error) {
	return func(v, ret Object, err error) (Object, error) {
		if err == nil && ret != nil {
			err = in.stopIteration(ret)
		}
		return v, err
	}
}

// thrown is the exception that the arguments of throw stand for: an exception, or a class and what it is called with; a traceback at last.
func thrown(in *Interp, args []Object) (*Exception, error) {
	o := args[0]
	if c, ok := o.(*Type); ok && c.IsSubtype(in.Exc.BaseException) {
		var with []Object
		if len(args) > 1 {
			switch x := args[1].(type) {
			case *NoneType:
			case *Tuple:
				with = x.Items
			case *Exception:
				if x.Class.IsSubtype(c) {
					o = x
				} else {
					with = []Object{x}
				}
			default:
				with = []Object{x}
			}
		}
		if o == args[0] {
			v, err := in.Call(c, with, nil)
			if err != nil {
				return nil, err
			}
			o = v
		}
	} else if _, ok := o.(*Exception); !ok {
		return nil, in.Errorf(in.Exc.TypeError, "exceptions must be classes or instances deriving from BaseException, not %s", TypeName(o))
	} else if len(args) > 1 && args[1] != None {
		return nil, in.Errorf(in.Exc.TypeError, "instance exception may not have a separate value")
	}
	e, err := toException(in, o)
	if err != nil {
		return nil, err
	}
	if len(args) > 2 && args[2] != None {
		t, ok := args[2].(*Traceback)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "throw() third argument must be a traceback object")
		}
		e.Traceback = t
	}
	return e, nil
}

// addSendThrow gives a type with a body send, throw and close.
func addSendThrow(t *Type) {
	self := func(in *Interp, o Object) (*Generator, error) {
		g := bodyOf(o)
		if g == nil || o.Type() != t {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor requires a '%s' object but received a '%s'", t.Name, TypeName(o))
		}
		return g, nil
	}
	addMethod(t, "send", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		g, err := self(in, args[0])
		if err != nil {
			return nil, err
		}
		return g.returned(in)(g.resume(in, args[1], nil))
	})
	addMethod(t, "throw", 1, 3, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		g, err := self(in, args[0])
		if err != nil {
			return nil, err
		}
		e, err := thrown(in, args[1:])
		if err != nil {
			return nil, err
		}
		return g.returned(in)(g.throw(in, e))
	})
	addMethod(t, "close", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		g, err := self(in, args[0])
		if err != nil {
			return nil, err
		}
		return None, g.Close(in)
	})
}

// addBody gives a type with a body its names and the attributes that tell of the body: prefix_frame, prefix_code and so on.
func addBody(t *Type, prefix string, body func(Object) *Generator) {
	addBasics(t, "repr")
	name := func(attr string, field func(g *Generator) *string) {
		addGetSet(t, attr, func(_ *Interp, o Object) (Object, error) { return Str(*field(body(o))), nil }, func(in *Interp, o, v Object) error {
			s, ok := AsStr(v)
			if v == nil || !ok {
				return in.Errorf(in.Exc.TypeError, "%s must be set to a string object", attr)
			}
			*field(body(o)) = s
			return nil
		})
	}
	name("__name__", func(g *Generator) *string { return &g.Name })
	name("__qualname__", func(g *Generator) *string { return &g.Qualname })
	add := func(attr string, get func(g *Generator) Object) {
		addGetSet(t, prefix+"_"+attr, func(_ *Interp, o Object) (Object, error) { return get(body(o)), nil }, nil)
	}
	add("running", func(g *Generator) Object { return MakeBool(g.running) })
	add("suspended", func(g *Generator) Object { return MakeBool(g.started && !g.running && !g.done) })
	add("code", func(g *Generator) Object { return g.code })
	add("frame", func(g *Generator) Object {
		if g.frame != nil {
			return g.frame
		}
		return None
	})
	waits := map[string]string{"gi": "yieldfrom"}[prefix]
	if waits == "" {
		waits = "await"
	}
	add(waits, func(g *Generator) Object { return orNone(g.delegate()) })
}

// initGenerator gives generators their methods and attributes.
func initGenerator() {
	t := GeneratorType
	addBody(t, "gi", func(o Object) *Generator { return o.(*Generator) })
	addMethod(t, "__iter__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return args[0], nil })
	addMethod(t, "__next__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		g, ok := args[0].(*Generator)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor requires a 'generator' object but received a '%s'", TypeName(args[0]))
		}
		return g.returned(in)(g.resume(in, None, nil))
	})
	addSendThrow(t)
}

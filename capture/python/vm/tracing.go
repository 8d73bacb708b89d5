package vm

import "whittle/capture/python/code"

// tracing is sys.settrace and sys.setprofile in one thread. While neither is set, it costs a test at each call.
//
// A frame that begins while a trace function is set gets a spy, and the evaluator's step for each instruction (Frame.Trace): the call is
// reported where the frame resumes, then each line where it begins. The return, and what ends a frame or is caught in it, are reported where
// they happen. While one of the functions runs, nothing is reported.
type tracing struct {
	traceFn   Object
	profileFn Object
	profiler  Profiler // what profileFn is, where it is no function of Python
	watched   bool     // one of them is set, and none runs
	reporting bool     // one of them runs
	myHook    bool     // CallHook is ours: it reports calls of builtins to profileFn
}

// spy is what tracing keeps of a frame.
type spy struct {
	fn      Object // f_trace
	last    int    // the instruction before
	noLines bool   // f_trace_lines is false
	opcodes bool   // f_trace_opcodes
	event   string // that is being reported, empty for none
	locals  *Dict  // f_locals while it is
}

// A Profiler is told in Go what a profile function is told in Python: the event "call", "return", "c_call", "c_return" or "c_exception" in a
// frame, and what goes with it. Nothing is reported meanwhile.
type Profiler interface {
	Profile(in *Interp, f *Frame, event string, arg Object)
}

// TraceFunc is what SetTrace has set, nil for none; ProfileFunc what SetProfile has.
func (in *Interp) TraceFunc() Object { return in.traceFn }

// ProfileFunc is what SetProfile has set, nil for none.
func (in *Interp) ProfileFunc() Object { return in.profileFn }

// SetTrace is sys.settrace for the thread that runs; nil ends it.
func (in *Interp) SetTrace(fn Object) {
	in.traceFn = fn
	in.watch()
}

// SetProfile is sys.setprofile for the thread that runs; nil ends it.
func (in *Interp) SetProfile(fn Object) { in.setProfile(fn, nil) }

// SetProfiler has p told in the thread that runs; o is the object of Python's that sys.getprofile gives.
func (in *Interp) SetProfiler(o Object, p Profiler) { in.setProfile(o, p) }

func (in *Interp) setProfile(fn Object, p Profiler) {
	in.profileFn, in.profiler = fn, p
	if fn != nil && in.CallHook == nil {
		in.CallHook, in.myHook = profiledCall, true
	} else if fn == nil && in.myHook {
		in.CallHook, in.myHook = nil, false
	}
	in.watch()
}

func (in *Interp) watch() {
	in.watched = !in.reporting && (in.traceFn != nil || in.profileFn != nil)
}

// report calls a trace or profile function; what it gives is for the caller to keep.
func (in *Interp) report(fn Object, f *Frame, event string, arg Object) (Object, error) {
	f.Retain()
	s := f.spy
	s.event, s.locals = event, nil
	in.reporting = true
	in.watch()
	outer := in.exc
	v, err := in.Call(fn, []Object{f, Str(event), arg}, nil)
	in.exc = outer
	in.reporting = false
	in.watch()
	s.event = ""
	f.takeLocals(s.locals)
	s.locals = nil
	return v, err
}

// trace reports an event to a frame's own function, or, where the frame begins, to that of the thread. The function that it gives is asked
// from then on. A function that fails ends tracing.
func (in *Interp) trace(f *Frame, event string, arg Object) error {
	fn := f.spy.fn
	if event == "call" {
		fn = in.traceFn
	}
	if fn == nil || in.traceFn == nil && event != "return" {
		return nil
	}
	v, err := in.report(fn, f, event, arg)
	if err != nil {
		in.SetTrace(nil)
		f.spy.fn = nil
		return err
	}
	if v != None {
		f.spy.fn = v
	}
	return nil
}

// profile reports an event to the profile function; one that fails ends profiling.
func (in *Interp) profile(f *Frame, event string, arg Object) error {
	if in.profileFn == nil || f == nil {
		return nil
	}
	if p := in.profiler; p != nil {
		outer := in.exc
		in.reporting = true
		in.watch()
		p.Profile(in, f, event, arg)
		in.exc = outer
		in.reporting = false
		in.watch()
		return nil
	}
	if f.spy == nil {
		f.spy = &spy{last: f.PC}
	}
	_, err := in.report(in.profileFn, f, event, arg)
	if err != nil {
		in.SetProfile(nil)
	}
	return err
}

// evalWatched is eval of a frame that begins or goes on while a function is set.
func (in *Interp) evalWatched(f *Frame, thrown error) (Object, error) {
	if f.spy == nil {
		f.spy = &spy{last: -1}
	}
	if f.Trace == nil {
		f.Trace = in.step
	}
	v, err := in.eval(f, thrown)
	return in.reportReturn(f, v, err)
}

// reportReturn reports how a frame was left, with what it gives or without.
func (in *Interp) reportReturn(f *Frame, v Object, err error) (Object, error) {
	if !in.watched || f.spy == nil {
		return v, err
	}
	if g := f.generator(); g != nil && !g.started {
		return v, err // the call of a generator function: nothing of it has run
	}
	arg := v
	if err != nil {
		if _, ok := err.(*Raised); !ok {
			return v, err
		}
		arg = None
	}
	if e := in.trace(f, "return", arg); e != nil {
		return nil, e
	}
	if e := in.profile(f, "return", arg); e != nil {
		return nil, e
	}
	return v, err
}

// step is what runs before each instruction of a frame with a spy.
func (in *Interp) step(f *Frame) error {
	s := f.spy
	if s == nil || !in.watched {
		if s != nil {
			s.last = f.PC
		}
		return nil
	}
	ins := f.Code.Instrs[f.PC]
	prev := s.last
	s.last = f.PC
	if ins.Op == code.RESUME {
		if err := in.trace(f, "call", None); err != nil {
			return err
		}
		return in.profile(f, "call", None)
	}
	if s.fn == nil || in.traceFn == nil {
		return nil
	}
	if !s.noLines && ins.Line >= 0 && f.newLine(prev) {
		if err := in.trace(f, "line", None); err != nil {
			return err
		}
		s.last = f.PC // it may have been set
	}
	if s.opcodes {
		return in.trace(f, "opcode", None)
	}
	return nil
}

// newLine reports whether a line begins with the current instruction, where prev ran before: it is of another line, or the code went back.
func (f *Frame) newLine(prev int) bool {
	instrs := f.Code.Instrs
	if prev < 0 || prev >= len(instrs) {
		return true
	}
	for i := 0; i <= prev; i++ {
		if instrs[i].Op == code.RESUME {
			if i == prev {
				return true
			}
			break
		}
		if i == prev {
			return true // before the first that is traced
		}
	}
	return instrs[prev].Line != instrs[f.PC].Line || f.PC < prev && instrs[f.PC].Op != code.SEND
}

// traceException reports an exception in a frame; what the function raises takes its place.
func (in *Interp) traceException(f *Frame, r *Raised) *Raised {
	if f.spy == nil || f.spy.fn == nil || !in.watched {
		return r
	}
	var tb Object = None
	if r.Exc.Traceback != nil {
		tb = r.Exc.Traceback
	}
	if err := in.trace(f, "exception", NewTuple(r.Exc.Class, r.Exc, tb)); err != nil {
		if e, ok := err.(*Raised); ok {
			return e
		}
	}
	return r
}

// profiledCall is the hook that reports calls of what is written in Go.
func profiledCall(in *Interp, fn Object, args []Object, kw []KwArg) (Object, bool, error) {
	native := fn
	if b, ok := fn.(*BoundMethod); ok {
		native = b.Func
	}
	if b, ok := native.(*Builtin); !ok || b.slot || !in.watched || in.frame == nil {
		return nil, false, nil
	}
	f := in.frame
	if err := in.profile(f, "c_call", fn); err != nil {
		return nil, true, err
	}
	v, err := in.Call(fn, args, kw)
	if !in.watched {
		return v, true, err
	}
	event := "c_return"
	if err != nil {
		event = "c_exception"
	}
	if e := in.profile(f, event, fn); e != nil {
		return nil, true, e
	}
	return v, true, err
}

// takeLocals puts what a trace function has changed in f_locals into the variables of a function.
func (f *Frame) takeLocals(d *Dict) {
	if d == nil || f.Locals != nil {
		return
	}
	for i := range f.LocalsPlus {
		v, ok := d.GetStr(f.Code.LocalsPlusName(i))
		if !ok {
			v = nil
		}
		if c, isCell := f.LocalsPlus[i].(*Cell); isCell {
			c.V = v
		} else {
			f.LocalsPlus[i] = v
		}
	}
}

// initTracing gives frames the attributes of tracing.
func initTracing() {
	spyOf := func(in *Interp, o Object) *spy {
		f := o.(*Frame)
		if f.spy == nil {
			f.spy = &spy{last: f.PC}
		}
		return f.spy
	}
	addDeletable(FrameType, "f_lineno", func(_ *Interp, o Object) (Object, error) {
		if n := o.(*Frame).Line(); n > 0 {
			return MakeInt(int64(n)), nil
		}
		return None, nil
	}, func(in *Interp, o, v Object) error {
		if v == nil {
			return in.Errorf(in.Exc.AttributeError, "cannot delete attribute")
		}
		return o.(*Frame).setLine(in, v)
	})
	addDeletable(FrameType, "f_trace", func(in *Interp, o Object) (Object, error) {
		if s := o.(*Frame).spy; s != nil && s.fn != nil {
			return s.fn, nil
		}
		return None, nil
	}, func(in *Interp, o, v Object) error {
		s := spyOf(in, o)
		if v == None {
			v = nil
		}
		s.fn = v
		if f := o.(*Frame); v != nil && f.Trace == nil {
			f.Trace = in.step
		}
		return nil
	})
	flag := func(name string, get func(s *spy) bool, set func(s *spy, v bool)) {
		addGetSet(FrameType, name, func(in *Interp, o Object) (Object, error) { return MakeBool(get(spyOf(in, o))), nil }, func(in *Interp, o, v Object) error {
			b, ok := v.(Bool)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "attribute value type must be bool")
			}
			set(spyOf(in, o), bool(b))
			return nil
		})
	}
	flag("f_trace_lines", func(s *spy) bool { return !s.noLines }, func(s *spy, v bool) { s.noLines = !v })
	flag("f_trace_opcodes", func(s *spy) bool { return s.opcodes }, func(s *spy, v bool) { s.opcodes = v })
}

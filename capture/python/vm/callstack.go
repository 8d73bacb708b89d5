package vm

import (
	"slices"
	"unsafe"

	"whittle/capture/python/code"
)

// CallStack holds the frames that run, and the memory of those that need none of their own.
//
// Most calls end before anything could keep their frame. Their locals and operands therefore lie in one slab, each frame's above those of
// its caller, and their Frame structs are used again: each for calls of one height, as the next call from there is mostly one of the same
// function, to which it is fitted already. The slab below top belongs to running frames; above top every slot is nil, so that
// pushFrame hands out unbound locals without clearing them. When the slab is full, a larger one takes its place for the calls that follow;
// frames remember theirs, and popFrame goes back to it.
//
// A frame that something may keep has memory of its own instead (Frame.heap): a generator's, every frame while a FrameHook is set, and one
// that Retain was called for, which popFrame copies out of the slab: for a traceback above all.
type CallStack struct {
	RecursionLimit int // how many calls may be under way; beyond it RecursionError is raised

	frame *Frame // the innermost
	depth int    // calls under way, those of native functions too
	slab  []Object
	top   int
	pool  []*Frame // by height: pool[:inUse] run, the others are for use again
	inUse int
	named []KwArg // the keyword arguments that are bound right now
	tracing
}

const (
	firstSlab   = 4096
	largestSlab = 1 << 20 // slots; only a frame that is larger by itself makes a larger slab
)

func newCallStack() CallStack {
	return CallStack{RecursionLimit: 1000, slab: make([]Object, firstSlab)}
}

// Frame returns the frame that runs now, or nil.
func (s *CallStack) Frame() *Frame { return s.frame }

// leave undoes what enter counted.
func (s *CallStack) leave() { s.depth-- }

// grow puts a larger slab in the place of one that has no room for n more slots.
func (s *CallStack) grow(n int) {
	size := max(2*len(s.slab), n)
	if size > largestSlab {
		size = max(n, largestSlab)
	}
	s.slab, s.top = make([]Object, size), 0
}

// popFrame gives back a frame that pushFrame made, once its call is over.
func (s *CallStack) popFrame(f *Frame) {
	if f.heap {
		return
	}
	s.inUse--
	if f.retained {
		s.pool[s.inUse] = &Frame{}
		f.LocalsPlus = slices.Clone(f.LocalsPlus)
		f.Stack = nil // the call is over
	}
	clearSlots(f.slab[f.base : f.base+f.size])
	s.top = f.base
	if unsafe.SliceData(s.slab) != unsafe.SliceData(f.slab) {
		s.slab = f.slab
	}
	if f.retained {
		f.slab = nil
		f.heap = true
		return
	}
	// What a frame says of its call must go, as it may keep much alive; the rest is overwritten.
	f.Func, f.Back = nil, nil
	if f.Locals != nil || f.Trace != nil || f.Ext != nil || f.yielded || f.spy != nil {
		f.Locals, f.Trace, f.Ext, f.yielded, f.spy = nil, nil, nil, false, nil
	}
}

// clearSlots clears slots, a multiple of slotStep.
func clearSlots(s []Object) {
	for len(s) >= slotStep {
		*(*[slotStep]Object)(s) = [slotStep]Object{}
		s = s[slotStep:]
	}
}

// slotStep is how many slots are cleared at once: the room that a frame takes in the slab is a multiple of it.
const slotStep = 4

// callMark is a height of the stack, to which a panic that became an error takes it back.
type callMark struct {
	depth int
	slab  []Object
	top   int
	inUse int
}

func (s *CallStack) mark() callMark { return callMark{s.depth, s.slab, s.top, s.inUse} }

func (s *CallStack) rewind(m callMark) {
	s.depth, s.slab, s.top, s.inUse = m.depth, m.slab, m.top, m.inUse
	clear(s.slab[s.top:])
	clear(s.pool[s.inUse:]) // they are as the calls left them
	s.pool = s.pool[:s.inUse]
}

// pushFrame makes a frame for a call of fn: in the slab, unless something may keep it.
func (in *Interp) pushFrame(fn *Function) *Frame {
	c := fn.Code
	if c.gen || in.FrameHook != nil {
		return in.NewFrame(fn, c)
	}
	if c.fast == nil {
		c.ready()
	}
	n := c.size
	if in.top+n > len(in.slab) {
		in.grow(n)
	}
	base := in.top
	in.top = base + n
	k := in.inUse
	in.inUse = k + 1
	if k == len(in.pool) {
		in.pool = append(in.pool, &Frame{})
	}
	f := in.pool[k]
	if f.Code != c || f.base != base || unsafe.SliceData(f.slab) != unsafe.SliceData(in.slab) {
		f.Code = c
		f.LocalsPlus = in.slab[base : base+c.nslots : base+c.nslots]
		f.Stack = in.slab[base+c.nslots : base+n : base+n]
		f.base, f.size, f.slab = base, n, in.slab
	}
	f.Func, f.Globals, f.Builtins = fn, fn.Globals, fn.Builtins
	f.SP, f.PC = 0, 0
	return f
}

// callPlain is a call of a Python function with positional arguments, which may lie on the caller's stack.
func (in *Interp) callPlain(fn *Function, args []Object) (Object, error) {
	f := in.pushFrame(fn)
	if c := f.Code; c.simple && len(args) == c.ArgCount && len(args) <= len(f.LocalsPlus) {
		//lint:ignore S1001 they are few: copy would be a call, with another one in it
		for i, a := range args {
			f.LocalsPlus[i] = a
		}
	} else if err := fn.bind(in, f.LocalsPlus, args, nil); err != nil {
		in.popFrame(f)
		return nil, err
	}
	return in.finish(f, true)
}

// finish evaluates a frame for the frame that runs now, and gives it back if pushFrame made it. It is evalThrow and endFrame in one, for the
// calls about which nobody wants to know.
func (in *Interp) finish(f *Frame, pushed bool) (Object, error) {
	prev, prevExc := in.frame, in.exc
	if in.FrameHook != nil || prev == nil || in.watched || in.depth >= in.RecursionLimit {
		v, err := in.runFrame(f)
		if pushed {
			in.endFrame(f, v)
		}
		return v, err
	}
	in.depth++
	f.Back = prev
	in.frame = f
	v, err := in.eval(f, nil)
	if f.spy != nil { // it got one on the way
		v, err = in.reportReturn(f, v, err)
	}
	in.frame = prev
	in.depth--
	if f.kept {
		prev.Retain()
	}
	if err != nil {
		in.exc = prevExc
	}
	if pushed {
		in.endFrame(f, v)
	}
	return v, err
}

// enter counts a call, or raises RecursionError; leave undoes it. Frames are counted by evalThrow.
func (in *Interp) enter() error {
	in.depth++
	if in.depth > in.RecursionLimit {
		in.depth--
		return in.newRecursionError()
	}
	return nil
}

// Depth is how many calls are under way.
func (in *Interp) Depth() int { return in.depth }

func (in *Interp) newRecursionError() error {
	return in.Errorf(in.Exc.RecursionError, "maximum recursion depth exceeded")
}

// GuardIn runs f as a level of recursion of something that the error names: " while pickling an object".
func (in *Interp) GuardIn(where string, f func() error) error {
	in.depth++
	defer in.leave()
	if in.depth > in.RecursionLimit {
		return in.Errorf(in.Exc.RecursionError, "maximum recursion depth exceeded%s", where)
	}
	return f()
}

// Guard runs f as a level of recursion.
func (in *Interp) Guard(f func() error) error {
	if err := in.enter(); err != nil {
		return err
	}
	defer in.leave()
	return f()
}

// DropStale clears what calls that are over have left above the operands of the frames that run, so that it keeps nothing alive. A frame's
// height is known where it calls.
func (s *CallStack) DropStale() { dropStale(s.frame) }

func dropStale(f *Frame) {
	for ; f != nil; f = f.Back {
		if f.PC < len(f.Code.ops) && f.Code.ops[f.PC].op() == code.CALL {
			clear(f.Stack[f.SP:])
		}
	}
}

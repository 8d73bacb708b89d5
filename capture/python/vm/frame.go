package vm

import (
	"weak"

	"slices"
)

// Frame is one activation of a code object. It is valid until the call returns; Retain keeps it longer.
//
// LocalsPlus has a slot for each parameter and local variable, then for each cell that is no parameter, then for each free variable; the
// slot of a cell or free variable holds a *Cell. What a frame means to the interpreter between two instructions is its PC, its slots and
// Stack[:SP]: with these, and the exception that is being handled, it can be left and gone on with.
type Frame struct {
	Func       *Function
	Code       *Code
	Globals    *Dict
	Builtins   *Dict
	Locals     Object   // namespace of a module or class body; nil in functions
	LocalsPlus []Object // locals, cells, free variables; nil where unbound
	Stack      []Object // operand stack; Stack[:SP] is live
	SP         int
	PC         int // index of the instruction that runs, or that runs next
	Back       *Frame
	body       *Generator              // of a generator's frame; nil once the generator's end is told (see Watch)
	gen        weak.Pointer[Generator] // then it is here

	// Trace, if not nil, is called before every instruction of this frame. It sees PC and the operand stack, and may
	// change them. An error that is not *Raised ends the frame without running handlers.
	Trace func(f *Frame) error

	// Ext is free for embedders.
	Ext any

	leaving Object // what it will return that nobody else has, while it leaves its with blocks; see Untaken

	spy      *spy // what tracing keeps, nil while it is not traced
	retained bool // it is still wanted after its call
	kept     bool // and so are those of its callers
	yielded  bool
	heap     bool // LocalsPlus and Stack are its own
	base     int  // where its slots begin in the slab
	size     int  // how many they are there, those of the stack included
	slab     []Object
}

// Retain keeps the frame and its contents after its call returns.
func (f *Frame) Retain() { f.retained, f.kept = true, true }

// generator is the generator of which the frame is, or nil.
func (f *Frame) generator() *Generator {
	if f.body != nil {
		return f.body
	}
	return f.gen.Value()
}

// Line is the current source line.
func (f *Frame) Line() int {
	return f.Code.lineAt(f.PC)
}

// NewFrame makes a frame of its own memory for a function and a code object, which need not be the function's. All
// LocalsPlus are unbound and PC is 0; a caller that starts in the middle sets LocalsPlus, Stack, SP and PC.
// Cells and free variables are then the caller's to set, too, as MAKE_CELL and COPY_FREE_VARS do not run.
func (in *Interp) NewFrame(fn *Function, c *Code) *Frame {
	if c.fast == nil {
		c.ready()
	}
	n := c.nslots
	mem := make([]Object, n+c.StackSize+1)
	f := &Frame{Func: fn, Code: c, heap: true, retained: true, LocalsPlus: mem[:n:n], Stack: mem[n:]}
	f.Globals, f.Builtins = fn.Globals, fn.Builtins
	if f.Builtins == nil {
		f.Builtins = in.Builtins.Dict
	}
	return f
}

// runFrame evaluates a frame for the frame that runs now, by the hook if there is one.
func (in *Interp) runFrame(f *Frame) (Object, error) {
	f.Back = in.frame
	if in.FrameHook != nil {
		return in.FrameHook(in, f)
	}
	return in.EvalFrame(f)
}

// LocalsDict is locals() of the frame: the namespace of a module or class, a fresh dict for a function. A variable that closures share is
// seen through its cell, and one without a value is left out.
func (f *Frame) LocalsDict() Object {
	if f.Locals != nil {
		return f.Locals
	}
	d := NewDict()
	for i, v := range f.LocalsPlus {
		name := f.Code.LocalsPlusName(i)
		if c, ok := v.(*Cell); ok && (i >= len(f.Code.VarNames) || slices.Contains(f.Code.CellVars, name)) {
			v = c.V
		}
		if v != nil {
			d.SetStr(name, v)
		}
	}
	return d
}

// clear is frame.clear(): it drops the variables of a frame that does not run; a generator's is closed first.
func (f *Frame) clear(in *Interp) error {
	for g := in.frame; g != nil; g = g.Back {
		if g == f {
			return in.Errorf(in.Exc.RuntimeError, "cannot clear an executing frame")
		}
	}
	if g := f.generator(); g != nil && !g.done {
		if err := g.Close(in); err != nil {
			return err
		}
	}
	clear(f.LocalsPlus)
	clear(f.Stack)
	f.SP = 0
	return nil
}

// lineAt is the line of instruction pc; one that is of no line counts to the one before it.
func (c *Code) lineAt(pc int) int {
	for i := min(pc, len(c.Instrs)-1); i >= 0; i-- {
		if n := c.Instrs[i].Line; n >= 0 {
			return int(n)
		}
	}
	return c.FirstLine
}

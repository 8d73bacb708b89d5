package code

import (
	"slices"

	"whittle/capture/python/syntax"
)

// Code is a compiled function, class body or module. It is immutable once compiled; Clone one to alter it.
//
// Instructions name variables by the slots of a frame. A frame has a slot for each of VarNames, then for each of CellVars that is no parameter,
// then for each of FreeVars; NLocalsPlus counts them, LocalsPlusName and CellSlot go from slots to names and back.
type Code struct {
	Name      string
	QualName  string
	Filename  string
	FirstLine int
	ArgCount  int // positional parameters, the positional-only ones included
	PosOnly   int
	KwOnly    int
	Flags     Flags
	Consts    []any    // nil, bool, int64, *big.Int, float64, complex128, string, Bytes, Ellipsis, Tuple, FrozenSet, *Code
	Names     []string // globals, attributes, imports
	VarNames  []string // locals, parameters first
	CellVars  []string // locals that inner functions see; a parameter among them is also in VarNames
	FreeVars  []string // names from enclosing functions
	Instrs    []Instr
	ExcTable  []Handler
	StackSize int              // the room that the evaluator needs
	Depth     int              // the most values that lie on the stack, as CPython counts them: co_stacksize
	Source    *Source          // nil for code that was parsed from a listing
	Warnings  []syntax.Warning // of a module: what its compilation warns of; not kept with the code

	// VM is the interpreter's cache for this code (constants as objects, inline caches). Others leave it alone.
	VM any
}

// Source is the text a code object was compiled from; all code of one file shares it.
type Source struct{ Text string }

// Flags are CPython's co_flags.
type Flags uint32

// The flags that matter.
const (
	Optimized   Flags = 1
	NewLocals   Flags = 2
	VarArgs     Flags = 4
	VarKeywords Flags = 8
	Nested      Flags = 16
	Generator   Flags = 32
	Coroutine   Flags = 128
	Iterable    Flags = 256 // a generator that types.coroutine made awaitable
	AsyncGen    Flags = 512
	Annotations Flags = 0x1000000 // from __future__ import annotations
)

// Instr is one instruction with its source range. Columns are byte offsets; Col < 0 says that there is no range.
type Instr struct {
	Op      Op
	Arg     int32
	Line    int32
	Col     int32
	EndLine int32
	EndCol  int32
}

// Handler covers the instructions [Start, End): on an exception the stack is cut to Depth, the index of the failing
// instruction is pushed if Lasti, then the exception, and control goes to Target. Rows do not overlap: of regions inside each other, an
// instruction has the innermost one's row, and what fails in a handler is covered by the row of the handler's own instructions.
type Handler struct {
	Start, End, Target int32
	Depth              int32
	Lasti              bool
}

// Constants without a Go type of their own.
type (
	Bytes     string
	Ellipsis  struct{}
	Tuple     []any
	FrozenSet []any
)

// Clone returns a copy that may be altered: its slices are its own, its nested code objects are shared.
func (c *Code) Clone() *Code {
	d := *c
	d.Consts = slices.Clone(c.Consts)
	d.Names = slices.Clone(c.Names)
	d.VarNames = slices.Clone(c.VarNames)
	d.CellVars = slices.Clone(c.CellVars)
	d.FreeVars = slices.Clone(c.FreeVars)
	d.Instrs = slices.Clone(c.Instrs)
	d.ExcTable = slices.Clone(c.ExcTable)
	d.VM = nil
	return &d
}

// WithSource is the code as it is where its text is at hand: c, and what is among its constants, with the text that it was compiled from. c stays as
// it is.
func (c *Code) WithSource(text string) *Code { return c.withSource(&Source{text}) }

func (c *Code) withSource(src *Source) *Code {
	d := *c
	d.Source = src
	for i, k := range d.Consts {
		if inner, ok := k.(*Code); ok {
			if &d.Consts[0] == &c.Consts[0] {
				d.Consts = slices.Clone(c.Consts)
			}
			d.Consts[i] = inner.withSource(src)
		}
	}
	return &d
}

// HandlerAt returns the handler that covers instruction pc.
func (c *Code) HandlerAt(pc int) (Handler, bool) {
	for i := range c.ExcTable {
		if h := &c.ExcTable[i]; int(h.Start) <= pc && pc < int(h.End) {
			return *h, true
		}
	}
	return Handler{}, false
}

// NumArgs counts the parameters, with *args and **kwargs.
func (c *Code) NumArgs() int {
	n := c.ArgCount + c.KwOnly
	if c.Flags&VarArgs != 0 {
		n++
	}
	if c.Flags&VarKeywords != 0 {
		n++
	}
	return n
}

// NLocalsPlus is the number of slots of a frame's locals, cells and free variables.
func (c *Code) NLocalsPlus() int { return len(c.VarNames) + c.nCellSlots() + len(c.FreeVars) }

// nCellSlots counts cells that have a slot of their own: a parameter that is a cell keeps its parameter slot.
func (c *Code) nCellSlots() int {
	n := 0
	for _, v := range c.CellVars {
		if !slices.Contains(c.VarNames, v) {
			n++
		}
	}
	return n
}

// LocalsPlusName names slot i of a frame.
func (c *Code) LocalsPlusName(i int) string {
	if i < len(c.VarNames) {
		return c.VarNames[i]
	}
	i -= len(c.VarNames)
	for _, v := range c.CellVars {
		if slices.Contains(c.VarNames, v) {
			continue
		}
		if i == 0 {
			return v
		}
		i--
	}
	if i < len(c.FreeVars) {
		return c.FreeVars[i]
	}
	return "?"
}

// CellSlot says where cell or free variable name lives in the frame, or -1.
func (c *Code) CellSlot(name string) int {
	if slices.Contains(c.CellVars, name) {
		if i := slices.Index(c.VarNames, name); i >= 0 {
			return i
		}
		n := len(c.VarNames)
		for _, v := range c.CellVars {
			if v == name {
				return n
			}
			if !slices.Contains(c.VarNames, v) {
				n++
			}
		}
	}
	if i := slices.Index(c.FreeVars, name); i >= 0 {
		return len(c.VarNames) + c.nCellSlots() + i
	}
	return -1
}

package resume

import (
	"fmt"
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/vm"
)

// prefix begins the names of resume functions, before the name of the function that broke.
const prefix = "torch_dynamo_resume_in_"

// Functions are the resume functions of a session. The zero value has none, and is ready for use.
type Functions struct {
	made    map[entry]*vm.Code
	origins map[*code.Code]*code.Code // what the code of resume functions began as
}

// entry is a way into the rest of a function.
type entry struct {
	code *code.Code // of the function as it was written
	pc   int
	sp   int // the depth of the stack there
}

// At is the code of the function that goes on at pc with a stack of sp values, after the instruction at broke the graph of c. A
// function that was resumed before counts as the one it began as: ways through it meet again.
func (fs *Functions) At(c *vm.Code, at, pc, sp int) *vm.Code {
	origin := c.Code
	if o := fs.origins[origin]; o != nil {
		origin = o
	}
	k := entry{origin, pc, sp}
	if r := fs.made[k]; r != nil {
		return r
	}
	rest := c.Code.Clone()
	rest.FirstLine = int(c.Instrs[at].Line)
	rest.Name = fmt.Sprintf("%s%s_at_%d", prefix, original(c.Name), rest.FirstLine)
	r := vm.NewCode(rest)
	if fs.made == nil {
		fs.made, fs.origins = map[entry]*vm.Code{}, map[*code.Code]*code.Code{}
	}
	fs.made[k] = r
	fs.origins[rest] = origin
	return r
}

// original is the name of the function that a resume function is a part of; other names stay as they are.
func original(name string) string {
	if base, ok := strings.CutPrefix(name, prefix); ok {
		if i := strings.LastIndex(base, "_at_"); i > 0 {
			return base[:i]
		}
	}
	return name
}

// Block is a block of a function whose end control may reach by an exception.
type Block struct {
	With  bool // a with block; false: one of try
	Depth int  // of the stack in the block; the exit of a with block lies on top
}

// Blocks are the blocks that the instruction at pc stands in, innermost first. A resume function cannot start inside of one unless
// it is entered again.
func Blocks(c *code.Code, pc int) []Block {
	var out []Block
	for seen := map[int]bool{}; ; {
		h, ok := c.HandlerAt(pc)
		if !ok || seen[int(h.Target)] {
			return out
		}
		pc = int(h.Target)
		seen[pc] = true
		if c.Instrs[pc].Op != code.PUSH_EXC_INFO { // what ends a handler
			if len(seen) == 1 {
				out = append(out, Block{false, int(h.Depth)}) // the instruction itself is in an except clause
			}
			continue
		}
		with := pc+1 < len(c.Instrs) && c.Instrs[pc+1].Op == code.WITH_EXCEPT_START
		out = append(out, Block{with, int(h.Depth)})
	}
}

// InLoop reports whether control can come back from behind pc to pc or before it, as far as PyTorch looks: up to where the code that follows
// returns. It looks at the code of a newer CPython, which has a copy of a short end of the function where a break leaves the loop, and jumps back
// at once where a branch would go to a jump on its own line.
func InLoop(c *code.Code, pc int) bool {
	back := func(in code.Instr) bool { return in.Op.HasJump() && int(in.Arg) <= pc }
	if in := c.Instrs[pc]; in.Op.HasJump() && int(in.Arg) < len(c.Instrs) {
		if to := c.Instrs[in.Arg]; back(in) || back(to) && to.Op == code.JUMP_BACKWARD && to.Line == in.Line {
			return true
		}
	}
	for i, in := range c.Instrs[pc+1:] {
		switch {
		case in.Op == code.RETURN_VALUE, in.Op == code.JUMP_FORWARD && i < 3 && returnsSoon(c, int(in.Arg)):
			return false
		case back(in):
			return true
		}
	}
	return false
}

// returnsSoon reports whether the code at pc is so short an end of the function that CPython copies it.
func returnsSoon(c *code.Code, pc int) bool {
	for n, at := 0, pc; at < len(c.Instrs) && n < 4; at++ {
		switch in := c.Instrs[at]; {
		case in.Op == code.RETURN_VALUE:
			return true
		case in.Op.HasJump():
			return false
		case in.Op != code.CACHE && in.Op != code.NOP:
			n++
		}
	}
	return false
}

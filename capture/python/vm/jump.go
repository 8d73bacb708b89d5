package vm

import (
	"strings"

	"whittle/capture/python/code"
)

// Setting f_lineno goes on elsewhere in a frame. What lies on the stack here and there must be alike: iterators of loops, exceptions that are
// handled and managers of with statements cannot be made up, only dropped. stackKinds says what lies where, a letter for each value.
const (
	kindIter   = 'I'
	kindExc    = 'E' // what is handled
	kindObject = 'O'
	kindNull   = 'N'
	kindLasti  = 'L'

	unreachable = "?" // for no path there
)

// stackKinds gives what lies on the stack before each instruction.
func (c *Code) stackKinds() []string {
	kinds := make([]string, len(c.Instrs))
	for i := range kinds {
		kinds[i] = unreachable
	}
	var work []int
	visit := func(i int, s string) {
		if i < len(kinds) && kinds[i] == unreachable {
			kinds[i] = s
			work = append(work, i)
		}
	}
	visit(0, "")
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		s := kinds[i]
		if h, ok := c.HandlerAt(i); ok && int(h.Depth) <= len(s) {
			at := s[:h.Depth]
			if h.Lasti {
				at += string(kindLasti)
			}
			visit(int(h.Target), at+string(kindExc))
		}
		in := c.Instrs[i]
		next, jumped := kindsAfter(in, s)
		if in.Op.HasJump() {
			visit(int(in.Arg), jumped)
		}
		if !in.Op.Terminal() {
			visit(i+1, next)
		}
	}
	return kinds
}

// kindsAfter is the stack behind an instruction that falls through, and where it jumps.
func kindsAfter(in code.Instr, s string) (next, jumped string) {
	drop := func(n int) string { return s[:max(len(s)-n, 0)] }
	obj, n := string(kindObject), int(in.Arg)
	switch in.Op {
	case code.GET_ITER, code.GET_AITER:
		next = drop(1) + string(kindIter)
	case code.FOR_ITER:
		return s + obj, drop(1)
	case code.PUSH_EXC_INFO:
		next = s + string(kindExc)
	case code.LOAD_GLOBAL:
		next = s + strings.Repeat(string(kindNull), n&1) + obj
	case code.PUSH_NULL:
		next = s + string(kindNull)
	case code.LOAD_METHOD:
		next = drop(1) + string(kindNull) + obj
	case code.SWAP:
		if n > len(s) {
			return s, s
		}
		b := []byte(s)
		b[len(b)-1], b[len(b)-n] = b[len(b)-n], b[len(b)-1]
		next = string(b)
	case code.COPY:
		if n > len(s) {
			return s, s
		}
		next = s + s[len(s)-n:len(s)-n+1]
	default:
		return settle(s, in, false), settle(s, in, true)
	}
	return next, next
}

// settle is the stack behind an instruction that takes what it takes and leaves objects.
func settle(s string, in code.Instr, jump bool) string {
	effect := in.Effect(jump)
	if effect < 0 {
		return s[:max(len(s)+effect, 0)]
	}
	return s + strings.Repeat(string(kindObject), effect)
}

// compatible reports whether a frame whose stack is from can go on where it is to: what lies above is dropped.
func compatible(from, to string) bool {
	if len(from) < len(to) || to == unreachable || from == unreachable {
		return false
	}
	for i := range len(to) {
		a, b := from[i], to[i]
		switch {
		case b == kindNull:
		case b == kindObject && a != kindNull:
		case a != b:
			return false
		}
	}
	return true
}

// whyNot explains what keeps a frame from going to where the stack is to.
func whyNot(to string) string {
	if to == unreachable || to == "" {
		return "can't jump to unreachable code"
	}
	switch to[len(to)-1] {
	case kindExc:
		return "can't jump into an 'except' block as there's no exception"
	case kindLasti:
		return "can't jump into a re-raising block as there's no location"
	case kindIter:
		return "can't jump into the body of a for loop"
	}
	return "incompatible stacks"
}

// setLine is frame.f_lineno = n, with CPython's rules and errors.
func (f *Frame) setLine(in *Interp, v Object) error {
	wrong := func(format string, args ...any) error { return in.Errorf(in.Exc.ValueError, format, args...) }
	if v == nil {
		return in.Errorf(in.Exc.AttributeError, "cannot delete attribute")
	}
	n, ok := v.(Int)
	if !ok {
		return wrong("lineno must be an integer")
	}
	if f.spy == nil || f.spy.fn == nil && f.spy.event != "call" {
		return wrong("f_lineno can only be set by a trace function")
	}
	switch f.spy.event {
	case "line":
	case "return":
		if f.yielded {
			return wrong("can't jump from the 'yield' statement")
		}
		return wrong("can only jump from a 'line' trace event")
	case "call":
		return wrong("can't jump from the 'call' trace event of a new frame")
	default:
		return wrong("can only jump from a 'line' trace event")
	}
	if int(n) < f.Code.FirstLine {
		return wrong("line %d comes before the current code block", n)
	}
	line := f.lineFrom(int32(n))
	if line < 0 {
		return wrong("line %d comes after the current code block", n)
	}
	kinds := f.Code.stackKinds()
	from := kinds[f.PC]
	best, msg := -1, "cannot find bytecode for specified line"
	for i := range f.Code.Instrs {
		if !f.beginsLine(i, line) {
			continue
		}
		switch {
		case compatible(from, kinds[i]):
			if best < 0 || len(kinds[i]) > len(kinds[best]) {
				best = i
			}
		case best < 0 && from == unreachable:
			msg = "can't jump from unreachable code"
		case best < 0:
			msg = whyNot(kinds[i])
		}
	}
	if best < 0 {
		return wrong("%s", msg)
	}
	f.dropTo(in, from, len(kinds[best]))
	f.PC = best
	f.spy.last = best
	return nil
}

// beginsLine reports whether a stretch of a line begins with instruction i.
func (f *Frame) beginsLine(i int, line int32) bool {
	instrs := f.Code.Instrs
	return instrs[i].Line == line && (i == 0 || instrs[i-1].Line != line)
}

// lineFrom is the first line of code that is not before n; -1 for none.
func (f *Frame) lineFrom(n int32) int32 {
	best := int32(-1)
	for _, in := range f.Code.Instrs {
		if in.Line >= n && (best < 0 || in.Line < best) {
			best = in.Line
		}
	}
	return best
}

// dropTo drops what lies above a height of the stack; what was handled there is handled no longer.
func (f *Frame) dropTo(in *Interp, kinds string, height int) {
	for len(kinds) > height && f.SP > 0 {
		f.SP--
		if kinds[len(kinds)-1] == kindExc {
			in.exc, _ = f.Stack[f.SP].(*Exception)
		}
		f.Stack[f.SP] = nil
		kinds = kinds[:len(kinds)-1]
	}
}

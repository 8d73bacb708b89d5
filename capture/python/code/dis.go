package code

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// The listing. A code object is a header line, tables, and its instructions as dis shows them:
//
//	code "f" qualname "C.f" file "t.py" line 1 args 2 posonly 0 kwonly 0 flags 0x3 stack 4
//	const 0 = None
//	const 1 = code 1
//	name 0 = "print"
//	local 0 = "x"
//	cell 0 = "y"
//	free 0 = "z"
//	  2:4-2:9        0 LOAD_FAST                0 (x)
//	  2:4-2:9     >> 1 RETURN_VALUE
//	handler 0 to 4 -> 9 [1] lasti
//	end
//
// Nested code objects follow, in the order of their numbers; number 0 is the first listing itself. The text in brackets
// after an argument is for the reader and is not read back.

// Disassemble writes the listing of c and of the code objects in its constants.
func Disassemble(w io.Writer, c *Code) error {
	bw := bufio.NewWriter(w)
	all := []*Code{c}
	for i := 0; i < len(all); i++ {
		all = writeListing(bw, all[i], all)
	}
	return bw.Flush()
}

// String is the listing.
func (c *Code) String() string {
	var sb strings.Builder
	_ = Disassemble(&sb, c) // a Builder does not fail
	return sb.String()
}

// writeListing writes one code object, and adds to all those that it finds among the constants: their place there is their number.
func writeListing(w *bufio.Writer, c *Code, all []*Code) []*Code {
	fmt.Fprintf(w, "code %q qualname %q file %q line %d args %d posonly %d kwonly %d flags %#x stack %d\n",
		c.Name, c.QualName, c.Filename, c.FirstLine, c.ArgCount, c.PosOnly, c.KwOnly, uint32(c.Flags), c.StackSize)
	for i, k := range c.Consts {
		var text string
		if sub, ok := k.(*Code); ok {
			text = "code " + strconv.Itoa(len(all))
			all = append(all, sub)
		} else {
			text = constText(k)
		}
		fmt.Fprintf(w, "const %d = %s\n", i, text)
	}
	for _, t := range []struct {
		what  string
		names []string
	}{{"name", c.Names}, {"local", c.VarNames}, {"cell", c.CellVars}, {"free", c.FreeVars}} {
		for i, n := range t.names {
			fmt.Fprintf(w, "%s %d = %q\n", t.what, i, n)
		}
	}
	targets := map[int32]bool{}
	for _, in := range c.Instrs {
		if in.Op.HasJump() {
			targets[in.Arg] = true
		}
	}
	for _, h := range c.ExcTable {
		targets[h.Target] = true
	}
	for i, in := range c.Instrs {
		mark := "  "
		if targets[int32(i)] {
			mark = ">>"
		}
		pos := fmt.Sprintf("%d:%d-%d:%d", in.Line, in.Col, in.EndLine, in.EndCol)
		if ops[in.Op].arg == argNone && in.Arg == 0 {
			fmt.Fprintf(w, "  %-14s %s %d %s\n", pos, mark, i, in.Op)
			continue
		}
		fmt.Fprintf(w, "  %-14s %s %d %-26s %d%s\n", pos, mark, i, in.Op, in.Arg, c.argText(in))
	}
	for _, h := range c.ExcTable {
		lasti := ""
		if h.Lasti {
			lasti = " lasti"
		}
		fmt.Fprintf(w, "handler %d to %d -> %d [%d]%s\n", h.Start, h.End, h.Target, h.Depth, lasti)
	}
	w.WriteString("end\n")
	return all
}

// Dis lists the instructions as Python's dis module does, with a line number where a source line begins, and without offsets.
// An arrow stands before the instruction at; -1 for none.
func (c *Code) Dis(at int) string {
	var sb strings.Builder
	line := int32(-1)
	for i, in := range c.Instrs {
		if in.Op == CACHE {
			continue
		}
		no := ""
		if in.Line != line && in.Line > 0 {
			if i > 0 {
				sb.WriteString("\n")
			}
			line = in.Line
			no = strconv.Itoa(int(line))
		}
		text := DisLine(no, in.Op.String(), c.disArg(in))
		if i == at && len(text) > 14 {
			text = text[:10] + "--> " + text[14:]
		}
		sb.WriteString(text)
	}
	return sb.String()
}

// DisLine is one line of Dis: a line number or "", an instruction's name, and its argument with what that means.
func DisLine(line, op, arg string) string {
	return strings.TrimRight(fmt.Sprintf("%3s           %-20s %s", line, op, arg), " ") + "\n"
}

func (c *Code) disArg(in Instr) string {
	if ops[in.Op].arg == argNone {
		return ""
	}
	return fmt.Sprintf("%5d", in.Arg) + c.argText(in)
}

// ArgValue is what an instruction's argument stands for, as Python's dis shows argval: a name, a constant, a jump's target, or
// the number itself; "None" for instructions without an argument.
func (c *Code) ArgValue(in Instr) string {
	if ops[in.Op].arg == argNone {
		return "None"
	}
	if k, a := ops[in.Op].arg, int(in.Arg); k == argConst && a >= 0 && a < len(c.Consts) {
		if s, ok := c.Consts[a].(string); ok {
			return s
		}
	}
	s := strings.TrimSuffix(strings.TrimPrefix(c.argText(in), " ("), ")")
	switch {
	case s == "":
		return strconv.Itoa(int(in.Arg))
	case ops[in.Op].arg == argGlobal:
		return strings.TrimPrefix(s, "NULL + ")
	case ops[in.Op].arg == argJump:
		return strings.TrimPrefix(s, "to ")
	case ops[in.Op].arg == argBinOp:
		return strconv.Itoa(int(in.Arg))
	}
	return s
}

// argText explains an argument as dis does; "" if there is nothing to say.
func (c *Code) argText(in Instr) string {
	a := int(in.Arg)
	at := func(list []string, i int) string {
		if i < 0 || i >= len(list) {
			return ""
		}
		return list[i]
	}
	var s string
	switch ops[in.Op].arg {
	case argName:
		s = at(c.Names, a)
	case argGlobal:
		s = at(c.Names, a>>1)
		if s != "" && a&1 != 0 {
			s = "NULL + " + s
		}
	case argLocal:
		s = c.LocalsPlusName(a)
	case argConst:
		if a >= 0 && a < len(c.Consts) {
			if sub, ok := c.Consts[a].(*Code); ok {
				s = "<code object " + sub.Name + ">"
			} else {
				s = constText(c.Consts[a])
			}
		}
	case argJump:
		s = "to " + strconv.Itoa(a)
	case argCmp:
		s = at(CmpOps, a)
	case argBinOp:
		s = at(BinOps, a)
	}
	if s == "" {
		return ""
	}
	return " (" + strings.ReplaceAll(s, "\n", `\n`) + ")"
}

// constText writes a constant so that parseConst reads it back.
func constText(k any) string {
	switch k := k.(type) {
	case nil:
		return "None"
	case bool:
		if k {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(k, 10)
	case *big.Int:
		return k.String()
	case float64:
		return "float " + strconv.FormatFloat(k, 'x', -1, 64)
	case complex128:
		return "complex " + strconv.FormatFloat(real(k), 'x', -1, 64) + " " + strconv.FormatFloat(imag(k), 'x', -1, 64)
	case string:
		return strconv.Quote(k)
	case Bytes:
		return "b" + strconv.Quote(string(k))
	case Ellipsis:
		return "Ellipsis"
	case Tuple:
		return "(" + constList(k) + ")"
	case FrozenSet:
		return "frozenset(" + constList(k) + ")"
	}
	return fmt.Sprintf("?%T", k)
}

func constList(ks []any) string {
	var parts []string
	for _, k := range ks {
		parts = append(parts, constText(k))
	}
	return strings.Join(parts, ", ")
}

package code

import (
	"bufio"
	"fmt"
	"io"
	"math"
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
		all = listing(bw, all[i], all)
	}
	return bw.Flush()
}

// String is the listing.
func (c *Code) String() string {
	var sb strings.Builder
	_ = Disassemble(&sb, c) // a Builder does not fail
	return sb.String()
}

func listing(w *bufio.Writer, c *Code, all []*Code) []*Code {
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

// Parse reads a listing. Every jump and handler must point into its code.
func Parse(r io.Reader) (*Code, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<24)
	var all []*Code
	type ref struct {
		c   *Code
		i   int
		num int
	}
	var refs []ref
	var c *Code
	line := 0
	fail := func(format string, args ...any) error {
		return fmt.Errorf("code listing, line %d: %s", line, fmt.Sprintf(format, args...))
	}
	for sc.Scan() {
		line++
		p := &lineParser{s: sc.Text()}
		switch word := p.word(); word {
		case "":
			continue
		case "code":
			if c != nil {
				return nil, fail("a code object begins inside another")
			}
			c = &Code{}
			c.Name = p.str()
			p.want("qualname")
			c.QualName = p.str()
			p.want("file")
			c.Filename = p.str()
			for _, f := range []struct {
				name string
				to   *int
			}{{"line", &c.FirstLine}, {"args", &c.ArgCount}, {"posonly", &c.PosOnly}, {"kwonly", &c.KwOnly}} {
				p.want(f.name)
				*f.to = p.num()
			}
			p.want("flags")
			c.Flags = Flags(p.num())
			p.want("stack")
			c.StackSize = p.num()
			if c.ArgCount < 0 || c.KwOnly < 0 || c.StackSize < 0 || c.StackSize > 1<<20 {
				return nil, fail("numbers out of range")
			}
			all = append(all, c)
		case "end":
			if c == nil {
				return nil, fail("end without a code object")
			}
			if err := c.check(); err != nil {
				return nil, fail("%v", err)
			}
			c = nil
		case "const", "name", "local", "cell", "free":
			if c == nil {
				return nil, fail("%s outside a code object", word)
			}
			i := p.num()
			p.want("=")
			if word == "const" {
				if i != len(c.Consts) {
					return nil, fail("const %d out of order", i)
				}
				if p.peek("code") {
					p.word()
					refs = append(refs, ref{c, i, p.num()})
					c.Consts = append(c.Consts, nil)
				} else {
					c.Consts = append(c.Consts, p.constant(0))
				}
				break
			}
			list := map[string]*[]string{"name": &c.Names, "local": &c.VarNames, "cell": &c.CellVars, "free": &c.FreeVars}[word]
			if i != len(*list) {
				return nil, fail("%s %d out of order", word, i)
			}
			*list = append(*list, p.str())
		case "handler":
			if c == nil {
				return nil, fail("handler outside a code object")
			}
			var h Handler
			h.Start = int32(p.num())
			p.want("to")
			h.End = int32(p.num())
			p.want("->")
			h.Target = int32(p.num())
			p.want("[")
			h.Depth = int32(p.num())
			p.want("]")
			if p.peek("lasti") {
				p.word()
				h.Lasti = true
			}
			c.ExcTable = append(c.ExcTable, h)
		default:
			if c == nil {
				return nil, fail("%q is outside a code object", word)
			}
			var in Instr
			if n, err := fmt.Sscanf(word, "%d:%d-%d:%d", &in.Line, &in.Col, &in.EndLine, &in.EndCol); err != nil || n != 4 {
				return nil, fail("%q is no source range", word)
			}
			if p.peek(">>") {
				p.word()
			}
			if i := p.num(); i != len(c.Instrs) {
				return nil, fail("instruction %d out of order", i)
			}
			name := p.word()
			o, ok := OpNamed(name)
			if !ok {
				return nil, fail("unknown instruction %q", name)
			}
			in.Op = o
			p.space()
			if p.s != "" && p.s[0] != '(' {
				in.Arg = int32(p.num())
			}
			p.s = "" // what follows is for the reader
			c.Instrs = append(c.Instrs, in)
		}
		p.space()
		if p.err == nil && p.s != "" {
			p.err = fmt.Errorf("unexpected %q", p.s)
		}
		if p.err != nil {
			return nil, fail("%v", p.err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("code listing: %w", err)
	}
	if c != nil {
		return nil, fail("the last code object has no end")
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("code listing: no code object")
	}
	for _, r := range refs {
		// A code object may only hold later ones: no cycles.
		if r.num <= 0 || r.num >= len(all) || all[r.num] == r.c {
			return nil, fmt.Errorf("code listing: code %d does not exist", r.num)
		}
		for i, x := range all[:r.num] {
			if x == r.c && i >= r.num {
				return nil, fmt.Errorf("code listing: code %d contains itself", r.num)
			}
		}
		ok := false
		for _, x := range all[:r.num] {
			ok = ok || x == r.c
		}
		if !ok {
			return nil, fmt.Errorf("code listing: code %d stands before its owner", r.num)
		}
		r.c.Consts[r.i] = all[r.num]
	}
	return all[0], nil
}

// check tests that all arguments point somewhere.
func (c *Code) check() error {
	n := int32(len(c.Instrs))
	if c.NumArgs() > len(c.VarNames) {
		return fmt.Errorf("%d parameters but %d locals", c.NumArgs(), len(c.VarNames))
	}
	slots := int32(c.NLocalsPlus())
	for i, in := range c.Instrs {
		limit := int32(math.MaxInt32)
		switch ops[in.Op].arg {
		case argName:
			limit = int32(len(c.Names))
		case argGlobal:
			limit = int32(len(c.Names)) * 2
		case argConst:
			limit = int32(len(c.Consts))
		case argLocal:
			limit = slots
		case argJump:
			limit = n
		case argCmp:
			limit = int32(len(CmpOps))
		case argBinOp:
			limit = int32(len(BinOps))
		}
		if in.Arg < 0 || in.Arg >= limit {
			return fmt.Errorf("instruction %d: argument %d of %s is out of range", i, in.Arg, in.Op)
		}
	}
	for _, h := range c.ExcTable {
		if h.Start < 0 || h.End < h.Start || h.End > n || h.Target < 0 || h.Target >= n || h.Depth < 0 || int(h.Depth) > c.StackSize {
			return fmt.Errorf("handler %d to %d -> %d is out of range", h.Start, h.End, h.Target)
		}
	}
	return nil
}

// lineParser reads one line of a listing; the first mistake sticks in err.
type lineParser struct {
	s   string
	err error
}

func (p *lineParser) space() { p.s = strings.TrimLeft(p.s, " \t") }

func (p *lineParser) word() string {
	p.space()
	i := strings.IndexAny(p.s, " \t")
	if i < 0 {
		i = len(p.s)
	}
	w := p.s[:i]
	p.s = p.s[i:]
	return w
}

func (p *lineParser) peek(w string) bool {
	p.space()
	return p.s == w || strings.HasPrefix(p.s, w+" ")
}

func (p *lineParser) want(w string) {
	p.space()
	if !strings.HasPrefix(p.s, w) {
		p.fail("%q is wanted before %q", w, p.s)
		return
	}
	p.s = p.s[len(w):]
}

func (p *lineParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.s = ""
}

func (p *lineParser) num() int {
	p.space()
	i := 0
	for i < len(p.s) && strings.IndexByte("+-0123456789abcdefx", p.s[i]) >= 0 {
		i++
	}
	n, err := strconv.ParseInt(p.s[:i], 0, 33)
	if err != nil || n > math.MaxUint32 {
		p.fail("a number is wanted before %q", p.s)
		return 0
	}
	p.s = p.s[i:]
	return int(n)
}

func (p *lineParser) str() string {
	p.space()
	q, err := strconv.QuotedPrefix(p.s)
	if err != nil || q == "" || q[0] != '"' {
		p.fail("a quoted string is wanted before %q", p.s)
		return ""
	}
	p.s = p.s[len(q):]
	s, err := strconv.Unquote(q)
	if err != nil {
		p.fail("%v", err)
	}
	return s
}

func (p *lineParser) float() float64 {
	w := strings.TrimRight(p.upTo(" ,)"), " ")
	f, err := strconv.ParseFloat(w, 64)
	if err != nil {
		p.fail("a float is wanted, not %q", w)
	}
	return f
}

func (p *lineParser) upTo(stop string) string {
	p.space()
	i := strings.IndexAny(p.s, stop)
	if i < 0 {
		i = len(p.s)
	}
	w := p.s[:i]
	p.s = p.s[i:]
	return w
}

func (p *lineParser) constant(depth int) any {
	p.space()
	if depth > 100 {
		p.fail("constants nested too deeply")
	}
	if p.err != nil || p.s == "" {
		p.fail("a constant is wanted")
		return nil
	}
	switch {
	case p.s[0] == '"':
		return p.str()
	case strings.HasPrefix(p.s, `b"`):
		p.s = p.s[1:]
		return Bytes(p.str())
	case p.s[0] == '(':
		return Tuple(p.list(depth))
	case strings.HasPrefix(p.s, "frozenset("):
		p.s = p.s[len("frozenset"):]
		return FrozenSet(p.list(depth))
	case strings.HasPrefix(p.s, "float "):
		p.s = p.s[6:]
		return p.float()
	case strings.HasPrefix(p.s, "complex "):
		p.s = p.s[8:]
		re := p.float()
		return complex(re, p.float())
	}
	switch w := p.upTo(" ,)"); w {
	case "None":
		return nil
	case "True":
		return true
	case "False":
		return false
	case "Ellipsis":
		return Ellipsis{}
	default:
		n, ok := new(big.Int).SetString(w, 10)
		if !ok {
			p.fail("unknown constant %q", w)
			return nil
		}
		if n.IsInt64() {
			return n.Int64()
		}
		return n
	}
}

func (p *lineParser) list(depth int) []any {
	p.want("(")
	out := []any{}
	for {
		p.space()
		if strings.HasPrefix(p.s, ")") {
			p.s = p.s[1:]
			return out
		}
		if len(out) > 0 {
			p.want(",")
		}
		out = append(out, p.constant(depth+1))
		if p.err != nil {
			return out
		}
	}
}

package code

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Parse reads a listing. Every jump and handler must point into its code, and what a listing says in brackets, for the reader, is not read.
func Parse(r io.Reader) (*Code, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<24)
	var l listingReader
	for sc.Scan() {
		l.line++
		if err := l.read(sc.Text()); err != nil {
			return nil, fmt.Errorf("code listing, line %d: %w", l.line, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("code listing: %w", err)
	}
	if l.cur != nil {
		return nil, fmt.Errorf("code listing, line %d: the last code object has no end", l.line)
	}
	if len(l.all) == 0 {
		return nil, fmt.Errorf("code listing: no code object")
	}
	if err := l.link(); err != nil {
		return nil, fmt.Errorf("code listing: %w", err)
	}
	return l.all[0], nil
}

// listingReader is a listing that is being read, line by line. The first code object holds all others, directly or not.
type listingReader struct {
	line int
	all  []*Code
	cur  *Code     // the one that has begun and not ended
	refs []codeRef // constants that are code objects, for link
}

// codeRef says that constant i of c is the code object of number num.
type codeRef struct {
	c      *Code
	i, num int
}

// read takes in one line.
func (l *listingReader) read(text string) error {
	p := &lineParser{s: text}
	word := p.word()
	if word == "" {
		return nil
	}
	if (l.cur == nil) != (word == "code") {
		switch word {
		case "code":
			return fmt.Errorf("a code object begins inside another")
		case "end":
			return fmt.Errorf("end without a code object")
		case "const", "name", "local", "cell", "free", "handler":
			return fmt.Errorf("%s outside a code object", word)
		}
		return fmt.Errorf("%q is outside a code object", word)
	}
	var err error
	switch word {
	case "code":
		err = l.begin(p)
	case "end":
		err = l.cur.check()
		l.cur = nil
	case "const", "name", "local", "cell", "free":
		err = l.entry(p, word)
	case "handler":
		l.handler(p)
	default:
		err = l.instr(p, word)
	}
	if err != nil {
		return err
	}
	if p.space(); p.err == nil && p.s != "" {
		return fmt.Errorf("unexpected %q", p.s)
	}
	return p.err
}

// begin reads the first line of a code object.
func (l *listingReader) begin(p *lineParser) error {
	c := &Code{}
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
	c.Depth = max(c.StackSize-2, 0)
	if c.ArgCount < 0 || c.KwOnly < 0 || c.StackSize < 0 || c.StackSize > 1<<20 {
		return fmt.Errorf("numbers out of range")
	}
	l.all, l.cur = append(l.all, c), c
	return nil
}

// entry reads one constant or name. They are numbered, so that a line that is missing does not shift the rest.
func (l *listingReader) entry(p *lineParser, word string) error {
	c := l.cur
	i := p.num()
	p.want("=")
	if word == "const" {
		if i != len(c.Consts) {
			return fmt.Errorf("const %d out of order", i)
		}
		if p.peek("code") {
			p.word()
			l.refs = append(l.refs, codeRef{c, i, p.num()})
			c.Consts = append(c.Consts, nil)
		} else {
			c.Consts = append(c.Consts, p.constant(0))
		}
		return nil
	}
	list := map[string]*[]string{"name": &c.Names, "local": &c.VarNames, "cell": &c.CellVars, "free": &c.FreeVars}[word]
	if i != len(*list) {
		return fmt.Errorf("%s %d out of order", word, i)
	}
	*list = append(*list, p.str())
	return nil
}

// handler reads a row of the exception table.
func (l *listingReader) handler(p *lineParser) {
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
	l.cur.ExcTable = append(l.cur.ExcTable, h)
}

// instr reads an instruction; its source range has been read.
func (l *listingReader) instr(p *lineParser, span string) error {
	var in Instr
	if n, err := fmt.Sscanf(span, "%d:%d-%d:%d", &in.Line, &in.Col, &in.EndLine, &in.EndCol); err != nil || n != 4 {
		return fmt.Errorf("%q is no source range", span)
	}
	if p.peek(">>") {
		p.word()
	}
	if i := p.num(); i != len(l.cur.Instrs) {
		return fmt.Errorf("instruction %d out of order", i)
	}
	name := p.word()
	o, ok := OpNamed(name)
	if !ok {
		return fmt.Errorf("unknown instruction %q", name)
	}
	in.Op = o
	if p.space(); p.s != "" && p.s[0] != '(' {
		in.Arg = int32(p.num())
	}
	p.s = "" // what follows is for the reader
	l.cur.Instrs = append(l.cur.Instrs, in)
	return nil
}

// link puts code objects in their places among the constants. A code object stands behind the one that holds it: so there are no cycles.
func (l *listingReader) link() error {
	for _, r := range l.refs {
		if r.num <= 0 || r.num >= len(l.all) || l.all[r.num] == r.c {
			return fmt.Errorf("code %d does not exist", r.num)
		}
		if !slices.Contains(l.all[:r.num], r.c) {
			return fmt.Errorf("code %d stands before its owner", r.num)
		}
		r.c.Consts[r.i] = l.all[r.num]
	}
	return nil
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

// word takes what stands before the next blank.
func (p *lineParser) word() string { return p.upTo(" \t") }

func (p *lineParser) peek(w string) bool {
	p.space()
	return p.s == w || strings.HasPrefix(p.s, w+" ")
}

// want takes a word that has to be there.
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

// num takes a number.
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

// str takes a quoted string.
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

// float takes a float in Go's hexadecimal form.
func (p *lineParser) float() float64 {
	w := strings.TrimRight(p.upTo(" ,)"), " ")
	f, err := strconv.ParseFloat(w, 64)
	if err != nil {
		p.fail("a float is wanted, not %q", w)
	}
	return f
}

// upTo takes what stands before any of the characters in stop.
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

// constant takes a constant, as constText writes it.
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

// list takes constants in brackets.
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

package symbolic

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Parse reads an expression as PyTorch prints it into graphs, repros and guards: 4*s0*(((s2 - 1)//16) + 1)**2, Max(1, s0),
// CeilToInt(IntTrueDiv(s0, 2)), Ne(s0, 1). Parsing what [Expr.String] prints gives the expression back. Python's operators and
// functions are read, too.
//
// A single slash divides exactly, as in sympy, and so gives a float. An error quotes the text and says what is wrong with it:
// it is malformed, names a function that is not known, divides by the constant zero, or would be very long in canonical form.
func Parse(text string) (*Expr, error) {
	p := &parser{text: text, symbol: Sym}
	e := p.relation()
	return e, p.end()
}

// EvalInt computes a text that [Parse] reads, given the values of its symbols. A result that is not whole is rounded towards minus
// infinity: repros of old PyTorch versions write s0/2 where a size is halved. An error is one of Parse's, or names a symbol without a
// value; a truth value is an error, too.
func EvalInt(text string, values map[string]int64) (int64, error) {
	p := bound(text, values)
	n := p.integer(p.relation())
	return n, p.end()
}

// EvalInts computes texts with commas between them, as EvalInt does each: s0, Max(1, s1), 3. Nothing is an empty list.
func EvalInts(text string, values map[string]int64) ([]int64, error) {
	p, out := bound(text, values), []int64{}
	if p.space(); p.pos < len(text) {
		out = append(out, p.integer(p.relation()))
	}
	for p.err == nil && p.accept(",") {
		out = append(out, p.integer(p.relation()))
	}
	return out, p.end()
}

// bound is a parser that replaces symbols as it reads them: what is made of constants is a constant, and no text is slow to compute.
func bound(text string, values map[string]int64) *parser {
	return &parser{text: text, symbol: func(name string) *Expr {
		if v, ok := values[name]; ok {
			return Int(v)
		}
		return nil
	}}
}

// integer is the value of a constant.
func (p *parser) integer(e *Expr) int64 {
	switch {
	case p.err != nil:
	case e.Op == OpInt:
		return e.Int
	case e.Op == OpFloat && math.Abs(e.Float) < 1<<63:
		return int64(math.Floor(e.Float))
	default:
		p.fail("%s is no integer", e)
	}
	return 0
}

// end is the error of a text that was read, which must be all of it.
func (p *parser) end() error {
	if p.space(); p.err == nil && p.pos < len(p.text) {
		p.fail("%q is left over", p.text[p.pos:])
	}
	return p.err
}

// SymbolsIn lists the names of the symbols in a text, in order of appearance, each once. The text may be malformed.
func SymbolsIn(text string) []string {
	var out []string
	p := &parser{text: text}
	for p.pos < len(text) {
		switch w := p.word(); {
		case w == "":
			p.pos++
		case isDigit(w[0]) || strings.Contains(w, ".") || p.peek("(") || literals[w] != nil || slices.Contains(out, w):
		default:
			out = append(out, w)
		}
	}
	return out
}

// parser reads by recursive descent. After an error every part is 0, and the error stays.
type parser struct {
	text   string
	pos    int
	symbol func(name string) *Expr // what a symbol means; nil for one without a value
	err    error
	depth  int
}

// deepest and longest bound what is read: texts come from files that others wrote.
const (
	deepest = 200     // nested parentheses, calls and signs
	longest = 1 << 13 // characters of an expression in canonical form
)

func (p *parser) fail(format string, args ...any) *Expr {
	if p.err == nil {
		p.err = fmt.Errorf("size %q: %s", p.text, fmt.Sprintf(format, args...))
	}
	return Int(0)
}

func (p *parser) space() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\n') {
		p.pos++
	}
}

// peek reports whether tok is next.
func (p *parser) peek(tok string) bool {
	p.space()
	return strings.HasPrefix(p.text[p.pos:], tok)
}

// accept takes tok, if it is next.
func (p *parser) accept(tok string) bool {
	if !p.peek(tok) {
		return false
	}
	p.pos += len(tok)
	return true
}

// number is e, which must not be a truth value.
func (p *parser) number(e *Expr) *Expr {
	if e.IsBool() {
		return p.fail("%s is no number", e)
	}
	return e
}

// infixes are the relations, longer ones before those that they begin with.
var infixes = []struct {
	text string
	op   Op
}{{"==", OpEq}, {"!=", OpNe}, {"<=", OpLe}, {">=", OpGe}, {"<", OpLt}, {">", OpGt}}

func (p *parser) relation() *Expr {
	l := p.sum()
	for _, r := range infixes {
		if p.accept(r.text) {
			return p.compare(r.op, l, p.sum())
		}
	}
	return l
}

func (p *parser) compare(op Op, l, r *Expr) *Expr {
	if op != OpEq && op != OpNe || l.IsBool() != r.IsBool() {
		l, r = p.number(l), p.number(r)
	}
	if p.err != nil {
		return Int(0)
	}
	return Cmp(op, l, r)
}

// sum keeps its parts together, as float arithmetic is not regrouped.
func (p *parser) sum() *Expr {
	e := p.product()
	parts := []*Expr{e}
	for p.err == nil {
		switch {
		case p.accept("+"):
			parts = append(parts, p.product())
		case p.accept("-"):
			parts = append(parts, Neg(p.number(p.product())))
		case len(parts) == 1:
			return e
		default:
			length := 0
			for i := range parts {
				parts[i] = p.number(parts[i])
				length += len(parts[i].text) + len(" + ")
			}
			if p.err != nil || length > longest {
				return p.fail("too long")
			}
			return Add(parts...)
		}
	}
	return Int(0)
}

func (p *parser) product() *Expr {
	e := p.power()
	factors := []*Expr{e}
	for p.err == nil {
		switch {
		case p.accept("//"):
			factors = []*Expr{p.floorDiv(p.product1(factors), p.power())}
		case p.accept("/"):
			factors = []*Expr{p.trueDiv(p.product1(factors), p.power())}
		case p.accept("%"):
			factors = []*Expr{p.mod(p.product1(factors), p.power())}
		case p.accept("*"): // power has taken every **
			factors = append(factors, p.power())
		default:
			return p.product1(factors)
		}
	}
	return Int(0)
}

// product1 is the product of several factors; one stays what it is.
func (p *parser) product1(factors []*Expr) *Expr {
	if len(factors) == 1 {
		return factors[0]
	}
	terms, length := 1, 1
	for i, f := range factors {
		f = p.number(f)
		n := len(f.terms())
		length = length*n + terms*len(f.text)
		terms *= max(n, 1)
		if factors[i] = f; p.err != nil || length > longest {
			return p.fail("too long")
		}
	}
	return Mul(factors...)
}

func (p *parser) floorDiv(a, b *Expr) *Expr {
	a, b = p.number(a), p.number(b)
	switch {
	case p.err != nil:
		return Int(0)
	case isZero(b):
		return p.fail("division by zero")
	case a.Op == OpFloorDiv: // divides by the product of both divisors
		p.product1([]*Expr{a.Args[1], b})
		if p.err != nil {
			return Int(0)
		}
	}
	return FloorDiv(a, b)
}

// isZero reports whether e is the constant 0, of either kind.
func isZero(e *Expr) bool { return e.Op == OpInt && e.Int == 0 || e.Op == OpFloat && e.Float == 0 }

func (p *parser) trueDiv(a, b *Expr) *Expr {
	a, b = p.number(a), p.number(b)
	switch {
	case p.err != nil:
		return Int(0)
	case isZero(b):
		return p.fail("division by zero")
	}
	return TrueDiv(a, b)
}

func (p *parser) mod(a, b *Expr) *Expr {
	a, b = p.number(a), p.number(b)
	switch {
	case p.err != nil:
		return Int(0)
	case a.IsFloat() || b.IsFloat():
		return p.fail("the remainder of a float")
	case b.Op == OpInt && b.Int == 0:
		return p.fail("division by zero")
	}
	return Mod(a, b)
}

// power is a sign before a power: -x**2 is -(x**2).
func (p *parser) power() *Expr {
	if p.depth++; p.depth > deepest {
		return p.fail("too deep")
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("-"):
		return Neg(p.number(p.power()))
	case p.accept("~"):
		return p.not(p.power())
	}
	e := p.atom()
	if p.accept("**") {
		return p.pow(e, p.power())
	}
	return e
}

func (p *parser) not(e *Expr) *Expr {
	if p.err != nil {
		return Int(0)
	}
	return Not(e)
}

// highest is the greatest constant exponent of an integer.
const highest = 64

func (p *parser) pow(base, exp *Expr) *Expr {
	base, exp = p.number(base), p.number(exp)
	switch {
	case p.err != nil:
		return Int(0)
	case base.IsFloat() || exp.IsFloat():
		return FloatPow(base, exp)
	case exp.Op != OpInt || exp.Int < 0 || exp.Int > highest:
		return p.fail("power %s", exp)
	case degree(base)*exp.Int > 1<<10:
		return p.fail("too long")
	case len(base.terms()) > 1:
		return p.product1(slices.Repeat([]*Expr{base}, int(exp.Int)))
	}
	return Pow(base, exp.Int)
}

// degree is the greatest sum of exponents in a product of e.
func degree(e *Expr) int64 {
	d := int64(0)
	for _, t := range e.terms() {
		n := int64(0)
		for _, f := range t.fs {
			n += f.exp
		}
		d = max(d, n)
	}
	return d
}

// literals are words that are neither symbols nor functions.
var literals = map[string]*Expr{"True": Bool(true), "False": Bool(false), "inf": Float(math.Inf(1)), "nan": Float(math.NaN())}

func (p *parser) atom() *Expr {
	if p.err != nil {
		return Int(0)
	}
	if p.accept("(") {
		return p.closed(p.relation())
	}
	p.space()
	start := p.pos
	w := p.word()
	switch {
	case w == "":
		return p.fail("a number or symbol is missing at %q", p.text[start:])
	case isDigit(w[0]):
		return p.literal(w, strings.HasSuffix(strings.TrimRight(p.text[:start], " \n"), "-"))
	case w == "not":
		return p.not(p.relation())
	case p.accept("("):
		var args []*Expr
		for p.err == nil {
			args = append(args, p.relation())
			if !p.accept(",") {
				break
			}
		}
		p.closed(nil)
		return p.call(w, args)
	case literals[w] != nil:
		return literals[w]
	case strings.Contains(w, "."):
		return p.fail("a number or symbol is missing at %q", p.text[start:])
	}
	if e := p.symbol(w); e != nil {
		return e
	}
	return p.fail("symbol %s has no value", w)
}

// closed is e, after its parenthesis.
func (p *parser) closed(e *Expr) *Expr {
	if !p.accept(")") {
		return p.fail("a parenthesis is not closed")
	}
	return e
}

// literal is a number; negative ones have their sign before them.
func (p *parser) literal(w string, negative bool) *Expr {
	if v, err := strconv.ParseInt(w, 0, 64); err == nil {
		return Int(v)
	}
	if v, err := strconv.ParseUint(w, 0, 64); err == nil && v == 1<<63 && negative {
		return Int(math.MinInt64) // its own opposite
	}
	if v, err := strconv.ParseFloat(w, 64); err == nil && strings.ContainsAny(w, ".eE") && !strings.HasPrefix(w, "0x") {
		return Float(v)
	}
	return p.fail("number %s", w)
}

// word takes a number, or a name, which may have dots.
func (p *parser) word() string {
	start := p.pos
	for ; p.pos < len(p.text); p.pos++ {
		c := p.text[p.pos]
		name := c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if p.pos == start && c == '.' || !name && c != '.' && !p.exponentSign(start) {
			break
		}
	}
	return p.text[start:p.pos]
}

// exponentSign reports whether the sign of a float's exponent is next: 1e+20.
func (p *parser) exponentSign(start int) bool {
	w, c := p.text[start:p.pos], p.text[p.pos]
	return (c == '+' || c == '-') && len(w) > 1 && isDigit(w[0]) && (w[len(w)-1] == 'e' || w[len(w)-1] == 'E') && !strings.HasPrefix(w, "0x") &&
		p.pos+1 < len(p.text) && isDigit(p.text[p.pos+1])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// function is a function in a text.
type function struct {
	args   int // how many it takes, -1 for any number above 0
	make   func(p *parser, a []*Expr) *Expr
	truths bool // takes truth values, too
}

// functionsByName has the functions of torch.utils._sympy.functions, sympy and Python's numbers.
var functionsByName = map[string]function{}

func init() {
	set := func(f function, names ...string) {
		for _, n := range names {
			functionsByName[n] = f
		}
	}
	fold := func(f func(a, b *Expr) *Expr) function {
		return function{args: -1, make: func(_ *parser, a []*Expr) *Expr {
			out := a[0]
			for _, x := range a[1:] {
				out = f(out, x)
			}
			return out
		}}
	}
	whole := func(round string) function {
		return function{args: 1, make: func(p *parser, a []*Expr) *Expr {
			e := a[0]
			if e.IsFloat() && round != "" {
				e = Call(round, e)
			}
			if e.Op == OpFloat && !(math.Abs(e.Float) < 1<<63) {
				return p.fail("%s as an integer", e)
			}
			return Trunc(e)
		}}
	}
	two := func(f func(p *parser, a, b *Expr) *Expr) function {
		return function{args: 2, make: func(p *parser, a []*Expr) *Expr { return f(p, a[0], a[1]) }}
	}
	set(fold(Max), "Max", "max", "torch.sym_max")
	set(fold(Min), "Min", "min", "torch.sym_min")
	set(function{args: 1, make: func(p *parser, a []*Expr) *Expr { return Abs(a[0]) }}, "Abs", "abs")
	set(two((*parser).floorDiv), "FloorDiv", "CleanDiv")
	set(two((*parser).mod), "Mod", "PythonMod")
	set(two((*parser).trueDiv), "IntTrueDiv", "FloatTrueDiv")
	set(two((*parser).pow), "PowByNatural", "Pow")
	set(two(func(_ *parser, a, b *Expr) *Expr { return FloatPow(a, b) }), "FloatPow")
	set(function{args: 3, make: func(p *parser, a []*Expr) *Expr { return p.mod(p.floorDiv(a[0], a[1]), a[2]) }}, "ModularIndexing")
	set(whole(""), "TruncToInt", "int", "math.trunc", "torch.sym_int")
	set(whole("floor"), "FloorToInt", "math.floor")
	set(whole("ceil"), "CeilToInt", "ceiling", "math.ceil")
	set(function{args: 1, make: func(_ *parser, a []*Expr) *Expr { return ToFloat(a[0]) }}, "ToFloat", "float", "torch.sym_float")
	set(function{args: 1, make: func(_ *parser, a []*Expr) *Expr { return a[0] }}, "Identity")
	// String prints these two for floats that were rounded, and sympy for integers.
	for _, name := range []string{"floor", "ceil"} {
		set(function{args: 1, make: func(_ *parser, a []*Expr) *Expr {
			if !a[0].IsFloat() {
				return a[0]
			}
			return Call(name, a[0])
		}}, name)
	}
	for name := range functions {
		f := function{args: 1, make: func(_ *parser, a []*Expr) *Expr { return Call(name, a[0]) }}
		set(f, "OpaqueUnaryFn_"+name)
		if name != "floor" && name != "ceil" {
			set(f, "math."+name, "torch._sym_"+name)
		}
	}
	for name, op := range map[string]Op{"Eq": OpEq, "Ne": OpNe, "Lt": OpLt, "Le": OpLe, "Gt": OpGt, "Ge": OpGe} {
		f := two(func(p *parser, a, b *Expr) *Expr { return p.compare(op, a, b) })
		f.truths = true
		set(f, name)
	}
}

// call is a function of args.
func (p *parser) call(name string, args []*Expr) *Expr {
	if p.err != nil {
		return Int(0)
	}
	f, ok := functionsByName[name]
	if !ok || f.args >= 0 && len(args) != f.args {
		return p.fail("function %s", name)
	}
	length := 0
	for _, a := range args {
		if length += len(a.text); !f.truths {
			p.number(a)
		}
	}
	if p.err != nil || length > longest {
		return p.fail("too long")
	}
	return f.make(p, args)
}

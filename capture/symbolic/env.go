package symbolic

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// Symbol is one unknown of a trace.
type Symbol struct {
	Name  string
	Hint  any   // the value seen while tracing: int64 or float64; nil for what only the running program knows
	Range Range // of an integer
	// Size says that the symbol counts something: an unbacked one is compared with 0 and 1 as if it were greater.
	Size  bool
	stand int64 // what stands for an unknown value in plain sizes; 0 => not chosen yet
	// From is where the value is read: the text of a source, L['x'].size()[0].
	From string

	loBy, hiBy *Expr // the decisions that made the bounds of Range what they are; nil => none did
}

// Policy says how a size becomes a symbol.
type Policy uint8

// The policies for sizes.
const (
	Static  Policy = iota // the value is a constant
	Duck                  // equal values share a symbol
	Dynamic               // a symbol of its own
)

// Env holds the symbols of one trace and what is known of them. It is not safe for concurrent use.
type Env struct {
	// Lasting says that programs have these numbers in their hands outside of a trace.
	Lasting  bool
	symbols  map[string]*Symbol
	order    []*Symbol
	duck     map[int64]string
	replaced map[string]*Expr
	deciding *Expr // the decision that conclusions are drawn from
	// replacedBy has the decisions that showed symbols to be expressions of others.
	replacedBy map[string]*Expr
	guards     []*Expr
	facts      facts
	unbacked   int
	asserts    []*Expr

	// Stand is the number that stands for unknown ones where plain sizes are needed; 0 => one is chosen.
	Stand int64

	// Created is told of each new symbol, Guarded of each relation that becomes a guard, Replaced of a symbol that a relation shows to be an
	// expression of others; nil => nobody.
	Created  func(s *Symbol)
	Guarded  func(g *Expr)
	Replaced func(s *Symbol, to *Expr, why string)
}

// NewEnv is an Env without symbols.
func NewEnv() *Env {
	return &Env{symbols: map[string]*Symbol{}, duck: map[int64]string{}, replaced: map[string]*Expr{}, replacedBy: map[string]*Expr{}}
}

// DataDependent is the error of a decision that only the running program can make.
type DataDependent struct{ Expr *Expr }

// DataDependentText begins what the error says, before the expression.
const DataDependentText = "Could not guard on data-dependent expression "

func (d *DataDependent) Error() string { return DataDependentText + d.Expr.String() }

func (v *Env) add(s *Symbol) *Expr {
	v.symbols[s.Name] = s
	v.order = append(v.order, s)
	if v.Created != nil {
		v.Created(s)
	}
	return Sym(s.Name)
}

// backed counts the symbols that have hints: the next one gets that number.
func (v *Env) backed() int {
	n := 0
	for _, s := range v.order {
		if s.Hint != nil {
			n++
		}
	}
	return n
}

// Size is the expression of a size or stride seen as n. 0 and 1 are constants under every policy.
func (v *Env) Size(n int64, from string, p Policy) *Expr {
	if p == Static || n == 0 || n == 1 {
		return Int(n)
	}
	if p == Duck {
		if name := v.duck[n]; name != "" {
			return Sym(name)
		}
	}
	e := v.add(&Symbol{Name: fmt.Sprintf("s%d", v.backed()), Hint: n, Range: Range{2, NoUpper}, Size: true, From: from})
	if p == Duck {
		v.duck[n] = e.Name
	}
	return e
}

// Number is the symbol of a plain integer of the program, 0 and 1 included.
func (v *Env) Number(n int64, from string) *Expr {
	return v.add(&Symbol{Name: fmt.Sprintf("s%d", v.backed()), Hint: n, Range: All, From: from})
}

// Real is the symbol of a float of the program.
func (v *Env) Real(f float64, from string) *Expr {
	return v.add(&Symbol{Name: fmt.Sprintf("zf%d", v.backed()), Hint: f, Range: All, From: from})
}

// Unbacked is a new integer that only the running program knows; size says that it counts something.
func (v *Env) Unbacked(size bool) *Expr {
	r := All
	if size {
		r.Lo = 0
	}
	e := v.add(&Symbol{Name: fmt.Sprintf("u%d", v.unbacked), Range: r, Size: size})
	v.unbacked++
	return e
}

// UnbackedReal is a new float that only the running program knows.
func (v *Env) UnbackedReal() *Expr {
	e := v.add(&Symbol{Name: fmt.Sprintf("zuf%d", v.unbacked), Range: All})
	v.unbacked++
	return e
}

// Symbol looks a symbol up; nil for none.
func (v *Env) Symbol(name string) *Symbol { return v.symbols[name] }

// Symbols lists all symbols in order of creation.
func (v *Env) Symbols() []*Symbol { return v.order }

// Constrain narrows a symbol to lo..hi without a guard: the caller promises it, or checks it elsewhere.
func (v *Env) Constrain(name string, r Range) {
	if s := v.symbols[name]; s != nil {
		v.narrow(s, r)
	}
}

// Simplify applies the equalities that are known.
func (v *Env) Simplify(e *Expr) *Expr {
	if len(v.replaced) == 0 {
		return e
	}
	for range 20 { // replacements may chain; they never form a circle
		n := e.Subst(func(name string) *Expr { return v.replaced[name] })
		if n.text == e.text {
			return n
		}
		e = n
	}
	return e
}

func (v *Env) rangeOf(name string) Range {
	if s := v.symbols[name]; s != nil {
		return s.Range
	}
	return All
}

// Bound is the range of an integer expression.
func (v *Env) Bound(e *Expr) Range { return v.Simplify(e).Bound(v.rangeOf) }

// Unknown reports whether e holds a symbol without a hint.
func (v *Env) Unknown(e *Expr) bool {
	for _, s := range v.Simplify(e).Symbols() {
		if sym := v.symbols[s]; sym == nil || sym.Hint == nil {
			return true
		}
	}
	return false
}

// Hint is e's value while tracing: int64, float64 or bool. An error says that e holds a symbol without one.
func (v *Env) Hint(e *Expr) (any, error) {
	return v.Simplify(e).Eval(func(name string) (any, bool) {
		if s := v.symbols[name]; s != nil && s.Hint != nil {
			return s.Hint, true
		}
		return nil, false
	})
}

// HintInt is the hint of an integer expression; 0 where there is none.
func (v *Env) HintInt(e *Expr) int64 {
	h, _ := v.Hint(e)
	n, _ := h.(int64)
	return n
}

// StandIn is the number that stands for a symbol without a hint where plain sizes are needed. It is chosen once, within what
// is known then.
func (v *Env) StandIn(name string) int64 {
	n := v.standIn(name)
	if s := v.symbols[name]; s != nil {
		s.stand = n
	}
	return n
}

func (v *Env) standIn(name string) int64 {
	const some = 8191
	s := v.symbols[name]
	if s == nil {
		return some
	}
	if n := cmp.Or(s.stand, v.Stand); n != 0 {
		return n
	}
	return max(min(some, s.Range.Hi), s.Range.Lo)
}

// Share chooses the numbers that stand for parts which have to add up to a whole, so that they do: what the others leave is shared out among the
// symbols without a hint whose stand-in was not needed yet.
func (v *Env) Share(whole *Expr, parts []*Expr) {
	rest := v.Trial(whole)
	var open []*Symbol
	for _, p := range parts {
		p = v.Simplify(p)
		if s := v.symbols[p.Name]; p.Op == OpSym && s != nil && s.Hint == nil && s.stand == 0 && v.Stand == 0 && !slices.Contains(open, s) {
			open = append(open, s)
		} else {
			rest -= v.Trial(p)
		}
	}
	for i, s := range open {
		s.stand = max(rest/int64(len(open)-i), 1)
		rest -= s.stand
	}
}

// Trial is the value of an integer expression with hints, and stand-ins for what has none; -1 where it cannot be computed.
func (v *Env) Trial(e *Expr) int64 { return v.trial(e, v.StandIn) }

// Example is Trial, but for that other numbers may stand for those without a hint later: it says what kind of number e is.
func (v *Env) Example(e *Expr) int64 { return v.trial(e, v.standIn) }

func (v *Env) trial(e *Expr, standIn func(name string) int64) int64 {
	r, err := v.Simplify(e).Eval(func(name string) (any, bool) {
		if s := v.symbols[name]; s != nil && s.Hint != nil {
			return s.Hint, true
		}
		return standIn(name), true
	})
	n, ok := r.(int64)
	if err != nil || !ok {
		return -1
	}
	return n
}

// MarkSize says that an unbacked symbol counts something.
func (v *Env) MarkSize(e *Expr) {
	if e = v.Simplify(e); e.Op != OpSym {
		return
	}
	if s := v.symbols[e.Name]; s != nil && s.Hint == nil {
		s.Size = true
		v.narrow(s, Range{0, NoUpper})
	}
}

// Known reports the truth of e when it follows from what is known; ok is false when it does not.
func (v *Env) Known(e *Expr) (truth, ok bool) { return v.known(v.Simplify(e), true) }

func (v *Env) known(e *Expr, useFacts bool) (truth, ok bool) {
	switch e.Op {
	case OpBool:
		return e.Int != 0, true
	case OpNot:
		t, ok := v.known(e.Args[0], useFacts)
		return !t, ok
	}
	if e.Op < OpEq || e.Args[0].IsFloat() || e.Args[1].IsFloat() || e.Args[0].IsBool() {
		if useFacts && v.facts.same(e) {
			return true, true
		}
		if useFacts && v.facts.same(Not(e)) {
			return false, true
		}
		return false, false
	}
	d := Sub(v.lessRest(e.Args[0]), v.lessRest(e.Args[1]))
	b := d.Bound(v.rangeOf)
	if t, ok := decide(e.Op, b); ok {
		return t, true
	}
	if t, ok := decide(e.Op, v.boundFromOne(d)); ok {
		return t, true
	}
	if !useFacts {
		return false, false
	}
	return v.facts.know(e.Op, d)
}

// lessRest is e, or a where e is a % b and a lies between 0 and b.
func (v *Env) lessRest(e *Expr) *Expr {
	if e.Op != OpMod {
		return e
	}
	for _, d := range []*Expr{e.Args[0], Add(Sub(e.Args[1], e.Args[0]), Int(-1))} {
		if d.Bound(v.rangeOf).Lo < 0 && v.boundFromOne(d).Lo < 0 {
			return e
		}
	}
	return e.Args[0]
}

// boundFromOne is the range of d, asked of symbols that all begin at 1: s0*s1 - s1 is positive where both are at least 2, though the ranges of its terms
// do not say so.
func (v *Env) boundFromOne(d *Expr) Range {
	shift := func(name string) int64 {
		if r := v.rangeOf(name); r.Lo > All.Lo {
			return r.Lo - 1
		}
		return 0
	}
	return d.Subst(func(name string) *Expr {
		if by := shift(name); by != 0 {
			return Add(Sym(name), Int(by))
		}
		return nil
	}).Bound(func(name string) Range {
		r, by := v.rangeOf(name), shift(name)
		return Range{satAdd(r.Lo, -by), satAdd(r.Hi, -by)}
	})
}

// decide compares a difference of range b with 0.
func decide(op Op, b Range) (truth, ok bool) {
	switch op {
	case OpEq, OpNe:
		if b.Lo > 0 || b.Hi < 0 {
			return op == OpNe, true
		}
		if b.Lo == 0 && b.Hi == 0 {
			return op == OpEq, true
		}
	case OpLt, OpGe:
		if b.Hi < 0 {
			return op == OpLt, true
		}
		if b.Lo >= 0 {
			return op == OpGe, true
		}
	case OpLe, OpGt:
		if b.Hi <= 0 {
			return op == OpLe, true
		}
		if b.Lo > 0 {
			return op == OpGt, true
		}
	}
	return false, false
}

// Decide is the truth of e while tracing. What does not follow from what is known becomes a guard.
// The error is a *DataDependent when only the running program can tell.
func (v *Env) Decide(e *Expr) (bool, error) {
	if t, ok := v.Known(e); ok {
		return t, nil
	}
	if v.Unknown(e) {
		return false, &DataDependent{v.Simplify(e)}
	}
	h, err := v.Hint(e)
	if err != nil {
		return false, err
	}
	t, isBool := h.(bool)
	if !isBool {
		return false, fmt.Errorf("symbolic: %s is no truth value", e)
	}
	g := e
	if !t {
		g = Not(e)
	}
	v.guard(g)
	return t, nil
}

// DecideSize is Decide for questions about sizes that the library asks for speed: unbacked sizes count as greater than 1.
func (v *Env) DecideSize(e *Expr) (bool, error) {
	if t, ok := v.Known(e); ok || !v.Unknown(e) {
		if ok {
			return t, nil
		}
		return v.Decide(e)
	}
	if s := v.Simplify(e); s.Op >= OpEq && s.Op != OpNot {
		b := Sub(s.Args[0], s.Args[1]).Bound(func(name string) Range {
			r := v.rangeOf(name)
			if sym := v.symbols[name]; sym != nil && sym.Hint == nil && sym.Size {
				r.Lo = max(r.Lo, 2)
			}
			return r
		})
		if t, ok := decide(s.Op, b); ok {
			return t, nil
		}
	}
	return v.Decide(e)
}

// Require is a guard that e holds, from which nothing else is concluded.
func (v *Env) Require(e *Expr) error {
	if t, ok := v.Known(e); ok {
		if !t {
			return fmt.Errorf("symbolic: %s does not hold", e)
		}
		return nil
	}
	if v.Unknown(e) {
		return &DataDependent{v.Simplify(e)}
	}
	v.guards = append(v.guards, e)
	return nil
}

// Allows reports whether other values of symbols agree with all that is known; symbols that are not given keep their hints.
func (v *Env) Allows(values map[string]int64) bool {
	value := func(name string) (any, bool) {
		if n, ok := values[name]; ok {
			return n, true
		}
		if s := v.symbols[name]; s != nil && s.Hint != nil {
			return s.Hint, true
		}
		return nil, false
	}
	for name, n := range values {
		if r := v.rangeOf(name); n < r.Lo || n > r.Hi {
			return false
		}
	}
	for _, g := range v.guards {
		r, err := v.Simplify(g).Eval(value)
		if b, ok := r.(bool); err == nil && (!ok || !b) {
			return false
		}
	}
	return true
}

// Assert makes e true for the rest of the trace: a backed e is guarded, an unbacked one becomes a run-time assertion.
// It reports whether an assertion is needed in the graph.
func (v *Env) Assert(e *Expr) (needed bool, err error) {
	if t, ok := v.Known(e); ok {
		if !t {
			return false, fmt.Errorf("Runtime assertion failed for expression %s", e)
		}
		return false, nil
	}
	if !v.Unknown(e) {
		t, err := v.Decide(e)
		if err == nil && !t {
			err = fmt.Errorf("Runtime assertion failed for expression %s", e)
		}
		return false, err
	}
	v.learn(v.Simplify(e))
	v.asserts = append(v.asserts, e)
	if v.Guarded != nil {
		v.Guarded(e)
	}
	return true, nil
}

// Asserts lists the conditions that the running program has to check, in order.
func (v *Env) Asserts() []*Expr { return v.asserts }

// Specialize fixes e to its hint, with a guard.
func (v *Env) Specialize(e *Expr) (any, error) {
	s := v.Simplify(e)
	switch s.Op {
	case OpInt:
		return s.Int, nil
	case OpFloat:
		return s.Float, nil
	case OpBool:
		return s.Int != 0, nil
	}
	if s.IsBool() {
		return v.Decide(e)
	}
	if v.Unknown(s) {
		return nil, &DataDependent{s}
	}
	h, err := v.Hint(s)
	if err != nil {
		return nil, err
	}
	v.guard(Cmp(OpEq, e, Const(h)))
	return h, nil
}

// SpecializeInt is Specialize for an integer.
func (v *Env) SpecializeInt(e *Expr) (int64, error) {
	h, err := v.Specialize(e)
	n, _ := h.(int64)
	return n, err
}

func (v *Env) guard(g *Expr) {
	v.deciding = g
	v.learn(v.Simplify(g))
	v.deciding = nil
	v.guards = append(v.guards, g)
	if v.Guarded != nil {
		v.Guarded(g)
	}
}

// learn draws conclusions from a relation that holds.
func (v *Env) learn(g *Expr) {
	if g.Op >= OpEq && g.Op != OpNot && !g.Args[0].IsBool() && !g.Args[0].IsFloat() {
		v.refine(g)
		if g.Op == OpEq {
			v.solve(g)
		}
		v.facts.add(g.Op, Sub(g.Args[0], g.Args[1]))
		return
	}
	if g.Op == OpEq && g.Args[0].Op == OpSym {
		v.replaced[g.Args[0].Name] = g.Args[1]
	}
	v.facts.texts = append(v.facts.texts, g.text)
}

// linear splits d into coef*s + rest, where rest is free of s; ok is false when d is not of that form.
func linear(d *Expr, s string) (coef int64, rest *Expr, ok bool) {
	var left []term
	for _, t := range d.terms() {
		holds := false
		for _, f := range t.fs {
			for _, name := range f.base.Symbols() {
				holds = holds || name == s
			}
		}
		if !holds {
			left = append(left, t)
			continue
		}
		if len(t.fs) != 1 || t.fs[0].exp != 1 || t.fs[0].base.Op != OpSym || coef != 0 {
			return 0, nil, false
		}
		coef = t.coef
	}
	return coef, collect(left), coef != 0
}

// refine narrows the ranges of the symbols of a relation between integers.
func (v *Env) refine(g *Expr) {
	d := Sub(g.Args[0], g.Args[1])
	for _, name := range d.Symbols() {
		s := v.symbols[name]
		if s == nil {
			continue
		}
		coef, rest, ok := linear(d, name)
		if !ok {
			continue
		}
		b := rest.Bound(v.rangeOf)
		op := g.Op
		lo, hi := satMul(b.Hi, -1), satMul(b.Lo, -1) // coef*s op -rest
		if coef < 0 {
			coef, lo, hi = -coef, satMul(hi, -1), satMul(lo, -1)
			op = map[Op]Op{OpLt: OpGt, OpLe: OpGe, OpGt: OpLt, OpGe: OpLe, OpEq: OpEq, OpNe: OpNe}[op]
		}
		r := All
		switch op {
		case OpGt: // a bound that the symbol has already is not moved by one, as PyTorch has it
			if div(lo, coef, true) > s.Range.Lo {
				r.Lo = div(satAdd(lo, 1), coef, true)
			}
		case OpGe:
			r.Lo = div(lo, coef, true)
		case OpLt:
			if div(hi, coef, false) < s.Range.Hi {
				r.Hi = div(satAdd(hi, -1), coef, false)
			}
		case OpLe:
			r.Hi = div(hi, coef, false)
		case OpEq:
			r.Lo, r.Hi = div(lo, coef, true), div(hi, coef, false)
		}
		v.narrow(s, r)
	}
}

func div(a, b int64, up bool) int64 {
	if open(a) {
		return a
	}
	if up {
		q, _ := DivMod(-a, b)
		return -q
	}
	q, _ := DivMod(a, b)
	return q
}

func (v *Env) narrow(s *Symbol, r Range) {
	if r.Lo > s.Range.Lo {
		s.loBy = v.deciding
	}
	if r.Hi < s.Range.Hi {
		s.hiBy = v.deciding
	}
	s.Range.Lo, s.Range.Hi = max(s.Range.Lo, r.Lo), min(s.Range.Hi, r.Hi)
	if s.Range.Lo == s.Range.Hi && v.replaced[s.Name] == nil {
		v.replace(s.Name, Int(s.Range.Lo), "range_refined_to_singleton")
	}
}

// replace notes that a symbol is an expression of others, and why.
func (v *Env) replace(name string, to *Expr, why string) {
	if s := v.symbols[name]; s != nil && v.Replaced != nil {
		v.Replaced(s, to, why)
	}
	v.replaced[name] = to
	if v.deciding != nil {
		v.replacedBy[name] = v.deciding
	}
}

// solve turns an equality into a replacement of one of its symbols: that with the greatest hint, then the last name.
func (v *Env) solve(g *Expr) {
	if g.has(OpMod) || g.has(OpFloorDiv) {
		return
	}
	d := Sub(g.Args[0], g.Args[1])
	names := d.Symbols()
	if len(names) == 0 || len(names) > 5 {
		return
	}
	rank := func(name string) int64 {
		s := v.symbols[name]
		if s == nil {
			return 0
		}
		if n, ok := s.Hint.(int64); ok && s.Size {
			return n
		}
		return NoUpper
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := rank(names[i]), rank(names[j])
		if a != b {
			return a > b
		}
		return names[i] > names[j]
	})
	name := names[0]
	coef, rest, ok := linear(d, name)
	if !ok {
		return
	}
	to, ok := divide(Neg(rest), Int(coef))
	if !ok {
		return
	}
	if v.Unknown(to) {
		return // a symbol of the running program may not be known yet where name is
	}
	if to.Op == OpSym {
		if s, t := v.symbols[name], v.symbols[to.Name]; s != nil && t != nil {
			v.narrow(t, s.Range)
		}
	}
	if now := v.replaced[name]; now == nil || now.text != to.text {
		v.replace(name, to, "solve")
	}
}

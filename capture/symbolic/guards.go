package symbolic

import (
	"fmt"
	"slices"
	"strings"
)

// Input is one number that comes from outside, and the expression that the trace used for it.
type Input struct {
	From string // the text of its source
	Expr *Expr  // as it was made, before anything was learned
	// Tensor says that constants need no guard here: the check of the tensor itself compares them.
	Tensor bool
	// Limit is what the user promised of this dimension; nil for nothing.
	Limit *Limit
}

// Limit is a promise that a dimension stays dynamic.
type Limit struct {
	Range Range  // All: only that it is no constant
	Name  string // what the user calls the dimension; "" for none
	Warn  bool   // a broken promise is no error
}

// Guard is a relation between inputs that must hold for a trace to be used. Why there is one is in one of Decision, Same and Bounded, or it is there so that a
// number is one.
type Guard struct {
	Text     string
	Decision *Expr  // the decision of the trace, as Guarded was told of it; nil => none
	Same     *Input // this input was found to be what another one says; nil => it was not
	Bounded  string // the symbol whose range it is that no decision made; "" => none
	NaN      bool   // a float is a number

	expr *Expr
	need []string
}

// Holds checks the guard; value gives the number at a source. A value that cannot be read, or a division by zero, fails it.
func (g *Guard) Holds(value func(from string) (any, bool)) bool {
	r, err := g.expr.Eval(value)
	b, ok := r.(bool)
	return err == nil && ok && b
}

// Needs lists the sources that the guard reads.
func (g *Guard) Needs() []string { return g.need }

// Violation is a promise about dimensions that the trace broke.
type Violation struct {
	Sources []string
	Reasons []string
	Fixes   []string // what the user may say instead
}

func (e *Violation) Error() string {
	s := "Constraints violated (" + strings.Join(e.Sources, ", ") + ")! For more information, run with TORCH_LOGS=\"+dynamic\"."
	for _, r := range e.Reasons {
		s += "\n  - " + r
	}
	if len(e.Fixes) > 0 {
		s += "\n\nSuggested fixes:"
		for _, f := range e.Fixes {
			s += "\n  " + f
		}
	}
	return s
}

// Guards lists what must hold of the inputs: equalities with the expressions that the trace used, the decisions that it made,
// and the ranges of symbols, in this order. The error is a *Violation.
func (v *Env) Guards(inputs []Input) ([]*Guard, error) {
	first := map[string]string{} // symbol => its first source
	var names []string
	for _, in := range inputs {
		if e := v.Simplify(in.Expr); e.Op == OpSym && first[e.Name] == "" {
			first[e.Name] = in.From
			names = append(names, e.Name)
		}
	}
	for _, s := range v.order { // a symbol whose own input was simplified away is still read there
		if first[s.Name] == "" && s.From != "" && v.replaced[s.Name] == nil {
			first[s.Name] = s.From
			names = append(names, s.Name)
		}
	}
	source := func(name string) string {
		if s := first[name]; s != "" {
			return s
		}
		return name
	}
	toSource := func(name string) *Expr { return done(&Expr{Op: OpSym, Name: source(name)}) }
	var out []*Guard
	emit := func(text string, e *Expr) *Guard {
		e = e.Subst(toSource)
		g := &Guard{Text: text, expr: e, need: e.Symbols()}
		out = append(out, g)
		return g
	}
	bound := func(g *Guard, by *Expr, name string) {
		if g.Decision = by; by == nil {
			g.Bounded = name
		}
	}
	broken := &Violation{}
	violate := func(in Input, fix, format string, a ...any) {
		if !in.Limit.Warn {
			if !slices.Contains(broken.Sources, in.name()) {
				broken.Sources = append(broken.Sources, in.name())
			}
			if in.Limit.Name != "" && fix != "" && !slices.Contains(broken.Fixes, in.Limit.Name+" = "+fix) {
				broken.Fixes = append(broken.Fixes, in.Limit.Name+" = "+fix)
			}
			broken.Reasons = append(broken.Reasons, fmt.Sprintf("Not all values of %s ", in.limit())+fmt.Sprintf(format, a...))
		}
	}
	named := map[string]Input{} // by symbol
	for _, in := range inputs {
		e := v.Simplify(in.Expr)
		if in.Limit != nil && in.Limit.Name != "" && e.Op == OpSym {
			if other, ok := named[e.Name]; !ok {
				named[e.Name] = in
			} else if a, b := in.Limit.Name, other.Limit.Name; a != b && !slices.Contains(broken.Sources, a) {
				broken.Sources = append(broken.Sources, a)
				broken.Reasons = append(broken.Reasons, fmt.Sprintf("The values of %s = %s and %s = %s must always be equal.", a, in.From, b, other.From))
				broken.Fixes = append(broken.Fixes, a+" = "+b)
			}
		}
		if e.Op == OpSym && first[e.Name] == in.From {
			continue
		}
		if in.Limit != nil && e.Op == OpInt && e.Int != 0 && e.Int != 1 {
			violate(in, itoa(e.Int), "are valid because %s was inferred to be a constant (%d).", in.name(), e.Int)
		}
		if in.Tensor && e.IsConst() {
			continue
		}
		g := emit(in.From+" == "+e.Python(source), &Expr{Op: OpEq, Args: []*Expr{{Op: OpSym, Name: in.From, text: in.From}, e}})
		if in.Expr.Op == OpSym {
			g.Decision = v.replacedBy[in.Expr.Name]
		}
		if g.Decision == nil {
			g.Same = &in
		}
	}
	issued := map[string]bool{}
	for _, g := range v.guards {
		e := v.Simplify(g)
		if _, ok := v.known(e, false); ok || issued[e.text] {
			continue
		}
		issued[e.text] = true
		text := e.Python(source)
		emit(text, e).Decision = g
		if syms := e.Symbols(); len(syms) == 1 {
			for _, in := range inputs {
				if in.Limit != nil && (in.Limit.Range != All || in.Limit.Name != "") && v.Simplify(in.Expr).text == syms[0] {
					violate(in, "", "satisfy the generated guard %s.", text)
				}
			}
		}
	}
	for _, name := range names {
		s := v.symbols[name]
		if s == nil || s.Hint == nil {
			continue
		}
		sym := Sym(name)
		if _, isFloat := s.Hint.(float64); isFloat {
			out = append(out, &Guard{Text: "not __math_isnan(" + source(name) + ")", expr: Cmp(OpEq, sym, sym).Subst(toSource), need: []string{source(name)}, NaN: true})
			continue
		}
		var parts []string
		if s.Range.Lo != NoLower {
			parts = append(parts, itoa(s.Range.Lo)+" <= "+source(name))
			bound(emit(parts[0], Cmp(OpLe, Int(s.Range.Lo), sym)), s.loBy, name)
		}
		if s.Range.Hi != NoUpper {
			parts = append(parts, source(name)+" <= "+itoa(s.Range.Hi))
			bound(emit(parts[len(parts)-1], Cmp(OpLe, sym, Int(s.Range.Hi))), s.hiBy, name)
		}
		for _, in := range inputs {
			if in.Limit == nil || in.Limit.Range == All && in.Limit.Name == "" || v.Simplify(in.Expr).text != name {
				continue
			}
			l := in.Limit.Range
			if max(l.Lo, 2) < s.Range.Lo || l.Hi > s.Range.Hi {
				end := "."
				if in.Limit.Name != "" {
					end, in.From = "", source(name)
				}
				violate(in, s.Range.dim(in.Limit), "satisfy the generated guard %s%s", strings.Join(parts, " and "), end)
			}
		}
	}
	if len(broken.Sources) > 0 {
		return out, broken
	}
	return out, nil
}

// dim writes the bounds of a dimension that has a name, as far as they are narrower than what the user said.
func (r Range) dim(l *Limit) string {
	s := "Dim('" + l.Name + "'"
	if lo := max(r.Lo, l.Range.Lo); lo > 2 {
		s += ", min=" + itoa(lo)
	}
	if hi := min(r.Hi, l.Range.Hi); hi != NoUpper {
		s += ", max=" + itoa(hi)
	}
	return s + ")"
}

// name is what the user calls the number, or where it comes from.
func (in Input) name() string {
	if in.Limit != nil && in.Limit.Name != "" {
		return in.Limit.Name
	}
	return in.From
}

// limit shows a promise as PyTorch does.
func (in Input) limit() string {
	r := in.Limit.Range
	switch {
	case r == All && in.Limit.Name != "":
		return in.Limit.Name + " = " + in.From + " in the specified range"
	case r == All:
		return "RelaxedUnspecConstraint(" + in.From + ")"
	case r.Hi == NoUpper:
		return fmt.Sprintf("%s = %s in the specified range %d <= %[1]s", in.name(), in.From, r.Lo)
	case r.Lo == NoLower:
		return fmt.Sprintf("%s = %s in the specified range %[1]s <= %[3]d", in.name(), in.From, r.Hi)
	}
	return fmt.Sprintf("%s = %s in the specified range %[3]d <= %[1]s <= %[4]d", in.name(), in.From, r.Lo, r.Hi)
}

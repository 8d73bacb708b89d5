package code

import "whittle/capture/python/syntax"

// The mistakes of patterns.

// match checks the cases. Only the last one, or one with a guard, may match everything.
func (c *checker) match(s *syntax.Match) {
	c.expr(s.Subject)
	for i, k := range s.Cases {
		p := &patternCheck{c: c, always: k.Guard != nil || i == len(s.Cases)-1}
		p.pattern(k.Pattern)
		c.expr(k.Guard)
		c.stmts(k.Body)
	}
}

// patternCheck checks the pattern of one case.
type patternCheck struct {
	c      *checker
	always bool // the pattern may match everything
	bound  []string
}

// bind notes a name that the pattern binds, which it may do once.
func (p *patternCheck) bind(n string) {
	if n == "" {
		return
	}
	p.c.debug(n)
	for _, b := range p.bound {
		if b == n {
			p.c.fail(p.c.at, "multiple assignments to name '%s' in pattern", n)
		}
	}
	p.bound = append(p.bound, n)
}

// inner checks a pattern that has others around it.
func (p *patternCheck) inner(q syntax.Pattern) {
	old := p.always
	p.always = true
	p.pattern(q)
	p.always = old
}

// pattern checks a pattern: a switch over their kinds.
func (p *patternCheck) pattern(q syntax.Pattern) {
	c := p.c
	c.at = q.Pos()
	switch q := q.(type) {
	case *syntax.MatchAs:
		if q.Pattern == nil {
			if !p.always {
				if q.Name == "" {
					c.fail(q.Span, "wildcard makes remaining patterns unreachable")
				}
				c.fail(q.Span, "name capture '%s' makes remaining patterns unreachable", q.Name)
			}
		} else {
			p.pattern(q.Pattern)
		}
		p.bind(q.Name)
	case *syntax.MatchStar:
		p.bind(q.Name)
	case *syntax.MatchSequence:
		stars := 0
		for _, k := range q.Patterns {
			if _, ok := k.(*syntax.MatchStar); ok {
				if stars++; stars > 1 {
					c.fail(q.Span, "multiple starred names in sequence pattern")
				}
			}
		}
		for _, k := range q.Patterns {
			p.inner(k)
		}
	case *syntax.MatchMapping:
		p.keys(q)
		for _, k := range q.Patterns {
			p.inner(k)
		}
		p.bind(q.Rest)
	case *syntax.MatchClass:
		for i, n := range q.KwdAttrs {
			c.debug(n)
			for j, m := range q.KwdAttrs[i+1:] {
				if m == n {
					c.fail(q.KwdPatterns[i+1+j].Pos(), "attribute name repeated in class pattern: %s", n)
				}
			}
		}
		for _, l := range [][]syntax.Pattern{q.Patterns, q.KwdPatterns} {
			for _, k := range l {
				p.inner(k)
			}
		}
	case *syntax.MatchOr:
		p.alternatives(q)
	}
}

// keys refuses a key that a mapping pattern asks for twice.
func (p *patternCheck) keys(q *syntax.MatchMapping) {
	seen := map[any]bool{}
	for _, k := range q.Keys {
		v, text := keyValue(k)
		if v == nil {
			continue
		}
		if seen[v] {
			p.c.fail(q.Span, "mapping pattern checks duplicate key (%s)", text)
		}
		seen[v] = true
	}
}

// keyValue is what is equal for keys of a mapping pattern that are: numbers are compared by value, whatever their types. It is nil for what only shows
// when the pattern is matched. The text is the key's repr.
func keyValue(k syntax.Expr) (v any, text string) {
	text = Unparse(k)
	switch k := k.(type) {
	case *syntax.Attribute:
		return nil, ""
	case *syntax.Constant:
		if b, ok := k.Value.(bool); ok {
			if b {
				return complex(1, 0), text
			}
			return complex(0, 0), text
		}
	case *syntax.UnaryOp:
		if n, ok := number(k.Operand); ok && k.Op == "-" {
			if n == 0 {
				text = Unparse(k.Operand)
			}
			return -n + 0, text
		}
	case *syntax.BinOp:
		left, ok := keyNumber(k.Left)
		if right, yes := number(k.Right); ok && yes {
			if k.Op == "-" {
				right = -right
			}
			return left + right + 0, text
		}
	}
	if n, ok := number(k); ok {
		return n, text
	}
	return text, text
}

// keyNumber is a number that may have a sign.
func keyNumber(e syntax.Expr) (complex128, bool) {
	v, _ := keyValue(e)
	n, ok := v.(complex128)
	return n, ok
}

// number is the value of a literal that fits a complex number without loss.
func number(e syntax.Expr) (complex128, bool) {
	k, ok := e.(*syntax.Constant)
	if !ok {
		return 0, false
	}
	switch v := k.Value.(type) {
	case int64:
		return complex(float64(v), 0), int64(float64(v)) == v && v > -1<<53 && v < 1<<53
	case float64:
		return complex(v, 0), true
	case complex128:
		return v, true
	}
	return 0, false
}

// alternatives must bind the same names.
func (p *patternCheck) alternatives(q *syntax.MatchOr) {
	always, before := p.always, p.bound
	var first []string
	for i, k := range q.Patterns {
		p.always = always && i == len(q.Patterns)-1
		p.bound = nil
		p.pattern(k)
		if i == 0 {
			first = p.bound
		} else if !sameNames(first, p.bound) {
			p.c.fail(p.c.at, "alternative patterns bind different names")
		}
	}
	p.always, p.bound = always, before
	for _, n := range first {
		p.bind(n)
	}
}

// sameNames compares what the alternatives of an or-pattern bind, in any order.
func sameNames(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	in := map[string]bool{}
	for _, n := range a {
		in[n] = true
	}
	for _, n := range b {
		if !in[n] {
			return false
		}
	}
	return true
}

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
	seen := map[string]bool{}
	for _, k := range q.Keys {
		if _, ok := k.(*syntax.Attribute); ok {
			continue
		}
		text := Unparse(k)
		if seen[text] {
			p.c.fail(q.Span, "mapping pattern checks duplicate key (%s)", text)
		}
		seen[text] = true
	}
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

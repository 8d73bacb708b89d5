package code

import (
	"slices"

	"whittle/capture/python/syntax"
)

// matcher is the pattern of one case, as it is compiled.
//
// Each pattern consumes the subject on top of the stack. When it does not match, it jumps to fails[n], where n is the
// number of values that still lie above the match statement's own subject and must be dropped. Captured names are
// stored as they match.
type matcher struct {
	fails []label // by the number of values to drop
	depth int     // values above the statement's subject
}

// failLabel is the label for a pattern that fails with n values to drop.
func (c *compiler) failLabel(m *matcher, n int) label {
	for len(m.fails) <= n {
		m.fails = append(m.fails, c.u.newLabel())
	}
	return m.fails[n]
}

// jumpFail pops a condition and leaves the case if it is false.
func (c *compiler) jumpFail(m *matcher) { c.u.jump(POP_JUMP_FORWARD_IF_FALSE, c.failLabel(m, m.depth)) }

// land places the fail labels: fails[n] pops n values.
func (c *compiler) land(m *matcher) {
	for n := len(m.fails) - 1; n >= 0; n-- {
		c.u.mark(m.fails[n])
		if n > 0 {
			c.u.emit(POP_TOP, 0)
		}
	}
}

// match tries one case after another with a copy of the subject.
func (c *compiler) match(s *syntax.Match) {
	u := c.u
	end := u.newLabel()
	c.expr(s.Subject)
	for _, k := range s.Cases {
		u.pos = k.Pattern.Pos()
		m := &matcher{}
		u.emit(COPY, 1)
		m.depth = 1
		c.pattern(m, k.Pattern)
		if k.Guard != nil {
			c.jumpIf(k.Guard, c.failLabel(m, 0), false)
		}
		u.pos = k.Pattern.Pos()
		u.emit(POP_TOP, 0)
		c.stmts(k.Body)
		u.jump(JUMP_FORWARD, end)
		c.land(m)
	}
	u.emit(POP_TOP, 0)
	u.mark(end)
}

// pattern consumes the value on top; m.depth counts it on entry and not on exit.
func (c *compiler) pattern(m *matcher, p syntax.Pattern) {
	defer c.at(p)()
	u := c.u
	switch p := p.(type) {
	case *syntax.MatchAs:
		if p.Pattern != nil {
			u.emit(COPY, 1)
			m.depth++
			c.pattern(m, p.Pattern)
		}
		m.depth--
		if p.Name == "" {
			u.emit(POP_TOP, 0)
		} else {
			c.storeName(p.Name)
		}
	case *syntax.MatchValue:
		c.expr(p.Value)
		u.emit(COMPARE_OP, 2)
		m.depth--
		c.jumpFail(m)
	case *syntax.MatchSingleton:
		c.loadConst(p.Value)
		u.emit(IS_OP, 0)
		m.depth--
		c.jumpFail(m)
	case *syntax.MatchSequence:
		c.sequencePattern(m, p)
	case *syntax.MatchMapping:
		c.mappingPattern(m, p)
	case *syntax.MatchClass:
		c.expr(p.Cls)
		var names Tuple
		for _, n := range p.KwdAttrs {
			names = append(names, n)
		}
		if names == nil {
			names = Tuple{}
		}
		c.loadConst(names)
		u.emit(MATCH_CLASS, len(p.Patterns))
		u.emit(COPY, 1)
		u.jump(POP_JUMP_FORWARD_IF_NONE, c.failLabel(m, m.depth))
		all := append(append([]syntax.Pattern{}, p.Patterns...), p.KwdPatterns...)
		u.emit(UNPACK_SEQUENCE, len(all))
		m.depth += len(all) - 1
		for _, q := range all {
			c.pattern(m, q)
		}
	case *syntax.MatchOr:
		done := u.newLabel()
		for i, q := range p.Patterns {
			if i == len(p.Patterns)-1 {
				c.pattern(m, q)
				break
			}
			u.emit(COPY, 1)
			inner := &matcher{depth: 1}
			c.pattern(inner, q)
			u.emit(POP_TOP, 0)
			u.jump(JUMP_FORWARD, done)
			c.land(inner)
		}
		u.mark(done)
	case *syntax.MatchStar:
		m.depth--
		if p.Name == "" {
			u.emit(POP_TOP, 0)
		} else {
			c.storeName(p.Name)
		}
	}
}

// sequencePattern tests the kind and the length before it takes the items apart.
func (c *compiler) sequencePattern(m *matcher, p *syntax.MatchSequence) {
	u := c.u
	u.emit(MATCH_SEQUENCE, 0)
	c.jumpFail(m)
	star := -1
	for i, q := range p.Patterns {
		if _, ok := q.(*syntax.MatchStar); ok {
			star = i
		}
	}
	n := len(p.Patterns)
	switch {
	case star < 0:
		u.emit(GET_LEN, 0)
		c.loadConst(int64(n))
		u.emit(COMPARE_OP, 2)
		c.jumpFail(m)
	case n > 1:
		u.emit(GET_LEN, 0)
		c.loadConst(int64(n - 1))
		u.emit(COMPARE_OP, 5)
		c.jumpFail(m)
	}
	bound := slices.ContainsFunc(p.Patterns, func(q syntax.Pattern) bool { return !wildcard(q) })
	switch {
	case !bound: // nothing is taken out of the subject
		u.emit(POP_TOP, 0)
		m.depth--
		return
	case star >= 0 && wildcard(p.Patterns[star]):
		c.pickItems(m, p.Patterns, star)
		return
	}
	if star < 0 {
		u.emit(UNPACK_SEQUENCE, n)
	} else {
		u.emit(UNPACK_EX, star|(n-star-1)<<8)
	}
	m.depth += n - 1
	for _, q := range p.Patterns {
		c.pattern(m, q)
	}
}

// wildcard reports whether a pattern is _ or *_.
func wildcard(q syntax.Pattern) bool {
	switch q := q.(type) {
	case *syntax.MatchAs:
		return q.Pattern == nil && q.Name == ""
	case *syntax.MatchStar:
		return q.Name == ""
	}
	return false
}

// pickItems takes the items around *_ by their indices, those behind it from the end, and leaves the others in the subject.
func (c *compiler) pickItems(m *matcher, patterns []syntax.Pattern, star int) {
	u := c.u
	for i, q := range patterns {
		if wildcard(q) {
			continue
		}
		u.emit(COPY, 1)
		m.depth++
		if i < star {
			c.loadConst(int64(i))
		} else {
			u.emit(GET_LEN, 0)
			c.loadConst(int64(len(patterns) - i))
			u.emit(BINARY_OP, slices.Index(BinOps, "-"))
		}
		u.emit(BINARY_SUBSCR, 0)
		c.pattern(m, q)
	}
	u.emit(POP_TOP, 0)
	m.depth--
}

// mappingPattern takes the keys' values; what is left, for **rest, is a copy of the subject without those keys.
func (c *compiler) mappingPattern(m *matcher, p *syntax.MatchMapping) {
	u := c.u
	u.emit(MATCH_MAPPING, 0)
	c.jumpFail(m)
	if len(p.Keys) > 0 {
		u.emit(GET_LEN, 0)
		c.loadConst(int64(len(p.Keys)))
		u.emit(COMPARE_OP, 5)
		c.jumpFail(m)
	}
	for _, k := range p.Keys {
		c.expr(k)
	}
	u.emit(BUILD_TUPLE, len(p.Keys))
	u.emit(MATCH_KEYS, 0) // subject, keys, values or None
	m.depth += 2
	u.emit(COPY, 1)
	u.jump(POP_JUMP_FORWARD_IF_NONE, c.failLabel(m, m.depth))
	u.emit(UNPACK_SEQUENCE, len(p.Keys))
	m.depth += len(p.Keys) - 1
	for _, q := range p.Patterns {
		c.pattern(m, q)
	}
	// subject, keys
	if p.HasRest {
		u.emit(SWAP, 2)
		u.emit(BUILD_MAP, 0)
		u.emit(SWAP, 2)
		u.emit(DICT_UPDATE, 1) // keys, rest
		u.emit(SWAP, 2)
		u.emit(UNPACK_SEQUENCE, len(p.Keys))
		for i := len(p.Keys); i > 0; i-- {
			u.emit(COPY, i+1)
			u.emit(SWAP, 2)
			u.emit(DELETE_SUBSCR, 0)
		}
		m.depth -= 2
		c.storeName(p.Rest)
		return
	}
	u.emit(POP_TOP, 0)
	u.emit(POP_TOP, 0)
	m.depth -= 2
}

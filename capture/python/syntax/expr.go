package syntax

import "strings"

// exprs turns nodes into expressions.
func (p *parser) exprs(kids []*cst) (out []Expr) {
	for _, k := range kids {
		if k.named {
			out = append(out, hoistStar(p.expr(k)))
		}
	}
	return out
}

// hoistStar repairs `{*f()}` and `print(1, *f())`, in which the grammar binds the star closer than the call.
func hoistStar(e Expr) Expr {
	// What is left of the star's operand begins behind the star.
	var left func(e *Expr) bool
	after := func(sp *Span, value *Expr) bool {
		if !left(value) {
			return false
		}
		start := (*value).Pos()
		sp.Line, sp.Col = start.Line, start.Col
		return true
	}
	left = func(e *Expr) bool {
		switch x := (*e).(type) {
		case *Starred:
			*e = x.Value
			return true
		case *Call:
			return after(&x.Span, &x.Func)
		case *Attribute:
			return after(&x.Span, &x.Value)
		case *Subscript:
			return after(&x.Span, &x.Value)
		case *BinOp:
			return after(&x.Span, &x.Left)
		}
		return false
	}
	if _, ok := e.(*Starred); ok {
		return e
	}
	whole := e.Pos()
	if left(&e) {
		return &Starred{exprNode{whole}, e}
	}
	return e
}

// expr turns a concrete node into the expression that it is. It is a switch over the grammar's kinds of nodes; what takes more than a line or
// two is a function below.
func (p *parser) expr(c *cst) Expr {
	if c == nil {
		p.fail(Span{1, 0, 1, 0}, "invalid syntax")
	}
	b := exprNode{p.sp(c)}
	switch c.kind {
	case "identifier", "keyword_identifier", "print", "exec", "match", "case", "type", "_":
		return p.nameExpr(c)
	case "integer", "float":
		return &Constant{b, p.number(c)}
	case "true":
		return &Constant{b, true}
	case "false":
		return &Constant{b, false}
	case "none":
		return &Constant{b, nil}
	case "ellipsis":
		return &Constant{b, EllipsisValue{}}
	case "string", "concatenated_string":
		return p.strings(c)
	case "parenthesized_expression":
		return p.parenthesized(c)
	case "parenthesized_list_splat":
		p.fail(b.Span, "cannot use starred expression here")
	case "expression_list", "tuple":
		return p.tuple(c)
	case "list":
		return &List{b, p.exprs(c.kids)}
	case "set":
		return &Set{b, p.exprs(c.kids)}
	case "list_splat":
		return &Starred{b, p.expr(c.namedKids()[0])}
	case "list_splat_pattern", "tuple_pattern", "list_pattern", "pattern_list":
		return p.exprTarget(c)
	case "dictionary":
		return p.dict(c)
	case "list_comprehension", "set_comprehension", "generator_expression":
		return p.comprehension(c)
	case "dictionary_comprehension":
		return p.dictComprehension(c)
	case "attribute":
		return &Attribute{b, p.expr(c.get("object")), normaliseIdent(p.text(c.get("attribute")))}
	case "subscript":
		return p.subscript(c)
	case "slice":
		return p.slice(c)
	case "call":
		return p.call(c)
	case "binary_operator":
		op := p.text(c.get("operator"))
		return &BinOp{b, p.expr(c.get("left")), op, p.expr(c.get("right"))}
	case "unary_operator":
		return &UnaryOp{b, p.text(c.get("operator")), p.expr(c.get("argument"))}
	case "not_operator":
		return &UnaryOp{b, "not", p.expr(c.get("argument"))}
	case "boolean_operator":
		return p.boolOp(c)
	case "comparison_operator":
		return p.compare(c)
	case "conditional_expression":
		ks := c.namedKids()
		if len(ks) != 3 {
			p.bad(c)
		}
		return &IfExp{b, p.expr(ks[1]), p.expr(ks[0]), p.expr(ks[2])}
	case "lambda":
		return &Lambda{b, p.params(c.get("parameters"), true), p.expr(c.get("body"))}
	case "named_expression":
		return p.namedExpr(c)
	case "yield":
		return p.yield(c)
	case "await":
		return &Await{b, p.expr(c.namedKids()[0])}
	case "as_pattern":
		p.fail(p.sp(c), "invalid syntax")
	case "generic_type": // name[...] in an annotation
		return p.genericType(c)
	case "union_type":
		ks := c.namedKids()
		return &BinOp{b, p.expr(ks[0]), "|", p.expr(ks[1])}
	case "member_type":
		ks := c.namedKids()
		return &Attribute{b, p.expr(ks[0]), p.text(ks[len(ks)-1])}
	case "splat_type":
		return &Starred{b, p.expr(c.namedKids()[0])}
	}
	p.bad(c)
	return nil
}

// nameExpr reads a name. Words that are names in some places only have nodes of their own, and "type" is also what the grammar wraps an
// annotation in.
func (p *parser) nameExpr(c *cst) Expr {
	b := exprNode{p.sp(c)}
	if len(c.kids) > 0 {
		return p.expr(c.namedKids()[0])
	}
	switch s := p.text(c); s {
	case "None":
		return &Constant{b, nil}
	case "True", "False":
		return &Constant{b, s == "True"}
	case "await", "async":
		p.fail(b.Span, "invalid syntax")
		return nil
	default:
		if keywords[s] {
			p.bad(c)
		}
		return &Name{b, normaliseIdent(s)}
	}
}

// parenthesized drops the brackets: the tree does not have them, only positions of a tuple do.
func (p *parser) parenthesized(c *cst) Expr {
	k := c.namedKids()
	if len(k) != 1 {
		p.bad(c)
	}
	if k[0].kind == "list_splat" {
		p.fail(p.sp(k[0]), "cannot use starred expression here")
	}
	return p.expr(k[0])
}

// tuple reads expressions with commas between them, with brackets or without.
func (p *parser) tuple(c *cst) Expr {
	es := p.exprs(c.kids)
	if len(es) == 1 && !c.has(",") { // a lone star: the brackets are of wrapStars
		return es[0]
	}
	return &Tuple{exprNode{p.sp(c)}, es}
}

// dict reads a dict display; a nil key says that the value is unpacked.
func (p *parser) dict(c *cst) Expr {
	d := &Dict{exprNode: exprNode{p.sp(c)}}
	for _, k := range c.namedKids() {
		switch k.kind {
		case "pair":
			d.Keys = append(d.Keys, p.expr(k.get("key")))
			d.Values = append(d.Values, p.expr(k.get("value")))
		case "dictionary_splat":
			d.Keys = append(d.Keys, nil)
			d.Values = append(d.Values, p.expr(k.namedKids()[0]))
		default:
			p.bad(k)
		}
	}
	return d
}

// comprehension reads a list or set comprehension or a generator expression.
func (p *parser) comprehension(c *cst) Expr {
	b := exprNode{p.sp(c)}
	body := c.get("body")
	if body.kind == "list_splat" {
		p.fail(p.sp(body), "iterable unpacking cannot be used in comprehension")
	}
	elt := p.expr(body)
	gens := p.generators(c)
	switch c.kind {
	case "list_comprehension":
		return &ListComp{b, elt, gens}
	case "set_comprehension":
		return &SetComp{b, elt, gens}
	}
	return &GeneratorExp{b, elt, gens}
}

// dictComprehension reads a dict comprehension.
func (p *parser) dictComprehension(c *cst) Expr {
	body := c.get("body")
	if body.kind != "pair" {
		p.fail(p.sp(body), "dict unpacking cannot be used in dict comprehension")
	}
	return &DictComp{exprNode{p.sp(c)}, p.expr(body.get("key")), p.expr(body.get("value")), p.generators(c)}
}

// call reads a call. A generator expression without brackets of its own has to be the only argument.
func (p *parser) call(c *cst) Expr {
	f := &Call{exprNode: exprNode{p.sp(c)}, Func: p.expr(c.get("function"))}
	a := c.get("arguments")
	f.Args, f.Keywords = p.args(a)
	if a.kind == "argument_list" {
		for _, k := range a.namedKids() {
			if k.kind == "generator_expression" && len(a.namedKids()) > 1 && p.src[k.start] != '(' {
				p.fail(p.sp(k), "Generator expression must be parenthesized")
			}
		}
	}
	return f
}

// boolOp makes one node of `a and b and c`, which the grammar nests to the left.
func (p *parser) boolOp(c *cst) Expr {
	b := exprNode{p.sp(c)}
	op := p.text(c.get("operator"))
	l, r := p.expr(c.get("left")), p.expr(c.get("right"))
	if x, ok := l.(*BoolOp); ok && x.Op == op && c.get("left").kind == "boolean_operator" {
		x.Values = append(x.Values, r)
		x.Span = b.Span
		return x
	}
	return &BoolOp{b, op, []Expr{l, r}}
}

// compare reads a comparison, which may be a chain: operands and operators take turns. An operator of two words is one with one blank.
func (p *parser) compare(c *cst) Expr {
	cmp := &Compare{exprNode: exprNode{p.sp(c)}}
	for _, k := range c.kids {
		switch {
		case k.field == "operators" || !k.named && k.kind != "print":
			op := strings.Join(strings.Fields(p.text(k)), " ")
			if op == "<>" {
				p.bad(k)
			}
			cmp.Ops = append(cmp.Ops, op)
		case cmp.Left == nil:
			cmp.Left = p.expr(k)
		default:
			cmp.Comparators = append(cmp.Comparators, p.expr(k))
		}
	}
	return cmp
}

// namedExpr reads name := value.
func (p *parser) namedExpr(c *cst) Expr {
	n := p.expr(c.get("name"))
	t, ok := n.(*Name)
	if !ok {
		p.fail(n.Pos(), "cannot use assignment expressions with %s", exprName(n))
	}
	return &NamedExpr{exprNode{p.sp(c)}, t, p.expr(c.get("value"))}
}

// yield reads a yield expression; several values are a tuple.
func (p *parser) yield(c *cst) Expr {
	b := exprNode{p.sp(c)}
	ks := c.namedKids()
	if c.has("from") {
		return &YieldFrom{b, p.expr(ks[0])}
	}
	y := &Yield{exprNode: b}
	if len(ks) > 1 {
		y.Value = &Tuple{exprNode{join(p.sp(ks[0]), p.sp(ks[len(ks)-1]))}, p.exprs(ks)}
	} else if len(ks) == 1 {
		y.Value = p.expr(ks[0])
	}
	return y
}

// genericType reads name[...] in an annotation, which the grammar gives a node of its own: it is a subscript like any other.
func (p *parser) genericType(c *cst) Expr {
	b := exprNode{p.sp(c)}
	ks := c.namedKids()
	v := p.expr(ks[0])
	var idx []Expr
	comma := false
	var first, last *cst
	for _, k := range ks[1].kids {
		if k.named {
			idx = append(idx, hoistStar(p.expr(k)))
			if first == nil {
				first = k
			}
			last = k
		} else if k.kind == "," {
			comma = true
		}
	}
	if len(idx) == 0 {
		p.bad(c)
	}
	if _, star := idx[0].(*Starred); len(idx) == 1 && !comma && !star {
		return &Subscript{b, v, idx[0]}
	}
	return &Subscript{b, v, &Tuple{exprNode{join(p.sp(first), p.sp(last))}, idx}}
}

// join is the range from the beginning of a to the end of b.
func join(a, b Span) Span { return Span{a.Line, a.Col, b.EndLine, b.EndCol} }

func normaliseIdent(s string) string { return s }

// subscript reads o[...]: several indices, or one with a comma or a star, are a tuple, which is where its parts are and has no brackets.
func (p *parser) subscript(c *cst) Expr {
	s := &Subscript{exprNode: exprNode{p.sp(c)}, Value: p.expr(c.get("value"))}
	idx := c.all("subscript")
	if len(idx) == 0 {
		p.bad(c)
	}
	comma := false
	seen := false
	for _, k := range c.kids {
		if k.kind == "[" {
			seen = true
		}
		if seen && k.kind == "," {
			comma = true
		}
	}
	if len(idx) == 1 && !comma {
		s.Index = hoistStar(p.expr(idx[0]))
		if st, ok := s.Index.(*Starred); ok {
			s.Index = &Tuple{exprNode{st.Span}, []Expr{st}}
		}
		return s
	}
	var es []Expr
	for _, k := range idx {
		es = append(es, hoistStar(p.expr(k)))
	}
	s.Index = &Tuple{exprNode{join(es[0].Pos(), es[len(es)-1].Pos())}, es}
	return s
}

// slice reads a:b:c by the colons, as each part may lack.
func (p *parser) slice(c *cst) Expr {
	s := &SliceExpr{exprNode: exprNode{p.sp(c)}}
	part := 0
	for _, k := range c.kids {
		if k.kind == ":" && !k.named {
			part++
			continue
		}
		e := p.expr(k)
		switch part {
		case 0:
			s.Lower = e
		case 1:
			s.Upper = e
		case 2:
			s.Step = e
		}
	}
	return s
}

// generators reads the for and if clauses of a comprehension.
func (p *parser) generators(c *cst) (out []*Comprehension) {
	for _, k := range c.kids {
		switch k.kind {
		case "for_in_clause":
			rs := k.all("right")
			if len(rs) == 0 {
				p.bad(k)
			}
			if len(rs) > 1 {
				p.bad(rs[1])
			}
			out = append(out, &Comprehension{Target: p.exprTarget(k.get("left")), Iter: p.expr(rs[0]), Async: isAsync(k)})
		case "if_clause":
			g := out[len(out)-1]
			g.Ifs = append(g.Ifs, p.expr(k.namedKids()[0]))
		}
	}
	return out
}

// match reads a match statement.
func (p *parser) match(c *cst, b stmtNode) Stmt {
	m := &Match{stmtNode: b}
	subj := c.all("subject")
	comma := false
	for _, k := range c.kids {
		if k.kind == "," {
			comma = true
		}
	}
	if len(subj) == 1 && !comma {
		m.Subject = p.expr(subj[0])
	} else {
		m.Subject = &Tuple{exprNode{join(p.sp(subj[0]), p.sp(subj[len(subj)-1]))}, p.exprs(subj)}
	}
	blk := c.get("body")
	if blk == nil {
		blk = c
	}
	for _, k := range blk.kids {
		if k.kind != "case_clause" {
			continue
		}
		mc := &MatchCase{Body: p.block(k.get("consequence"))}
		if g := k.get("guard"); g != nil {
			mc.Guard = p.expr(g.namedKids()[0])
		}
		var pats []*cst
		comma := false
		for _, x := range k.kids {
			if x.kind == "case_pattern" {
				pats = append(pats, x)
			} else if x.kind == "," {
				comma = true
			}
		}
		if len(pats) == 0 {
			p.bad(k)
		}
		if len(pats) == 1 && !comma {
			mc.Pattern = p.pattern(pats[0])
		} else {
			mc.Pattern = &MatchSequence{patNode{join(p.sp(pats[0]), p.sp(pats[len(pats)-1]))}, p.patterns(pats)}
		}
		m.Cases = append(m.Cases, mc)
	}
	return m
}

func (p *parser) patterns(cs []*cst) (out []Pattern) {
	for _, c := range cs {
		out = append(out, p.pattern(c))
	}
	return out
}

// pattern reads a pattern.
func (p *parser) pattern(c *cst) Pattern {
	b := patNode{p.sp(c)}
	switch c.kind {
	case "case_pattern":
		pats := p.simplePatterns(c.kids)
		if len(pats) != 1 {
			p.bad(c)
		}
		return pats[0]
	case "as_pattern":
		ks := c.namedKids()
		name := p.text(ks[len(ks)-1])
		if name == "_" {
			p.fail(p.sp(ks[len(ks)-1]), "cannot use '_' as a target")
		}
		return &MatchAs{b, p.pattern(ks[0]), name}
	case "union_pattern":
		return &MatchOr{b, p.simplePatterns(c.kids)}
	case "list_pattern", "tuple_pattern":
		var pats []*cst
		for _, k := range c.kids {
			if k.kind == "case_pattern" || k.named {
				pats = append(pats, k)
			}
		}
		if c.kind == "tuple_pattern" && len(pats) == 1 && !c.has(",") {
			return p.pattern(pats[0])
		}
		return &MatchSequence{b, p.patterns(pats)}
	case "dict_pattern":
		m := &MatchMapping{patNode: b}
		var key Expr
		for i := 0; i < len(c.kids); i++ {
			k := c.kids[i]
			switch {
			case k.kind == "-": // of the key that follows
			case k.kind == "splat_pattern" || k.kind == "case_pattern" && len(k.kids) == 1 && k.kids[0].kind == "splat_pattern":
				if k.kind == "case_pattern" {
					k = k.kids[0]
				}
				m.HasRest = true
				m.Rest = p.text(k.kids[len(k.kids)-1])
			case k.field == "key" || k.named && key == nil:
				key = p.patternValue(k, i > 0 && c.kids[i-1].kind == "-")
			case k.field == "value" || k.named:
				m.Keys = append(m.Keys, key)
				m.Patterns = append(m.Patterns, p.pattern(k))
				key = nil
			}
		}
		return m
	case "class_pattern":
		m := &MatchClass{patNode: b}
		for _, k := range c.namedKids() {
			switch {
			case k.kind == "dotted_name" && m.Cls == nil:
				m.Cls = p.dottedExpr(k)
			default:
				if k.kind == "case_pattern" && len(k.kids) == 1 && k.kids[0].kind == "keyword_pattern" {
					k = k.kids[0]
				}
				if k.kind == "keyword_pattern" {
					name := p.text(k.kids[0])
					m.KwdAttrs = append(m.KwdAttrs, name)
					vals := p.simplePatterns(k.kids[2:])
					if len(vals) != 1 {
						p.bad(k)
					}
					m.KwdPatterns = append(m.KwdPatterns, vals[0])
				} else {
					if len(m.KwdAttrs) > 0 {
						p.fail(p.sp(k), "positional patterns follow keyword patterns")
					}
					m.Patterns = append(m.Patterns, p.pattern(k))
				}
			}
		}
		return m
	case "splat_pattern":
		name := p.text(c.kids[len(c.kids)-1])
		if name == "_" {
			name = ""
		}
		return &MatchStar{b, name}
	}
	pats := p.simplePatterns([]*cst{c})
	return pats[0]
}

// simplePatterns reads alternatives, in which a minus sign stands before its number as a sibling.
func (p *parser) simplePatterns(ks []*cst) (out []Pattern) {
	neg := false
	for _, k := range ks {
		b := patNode{p.sp(k)}
		switch k.kind {
		case "|", ",", "(", ")":
			continue
		case "-":
			neg = true
			continue
		case "_":
			out = append(out, &MatchAs{patNode: b})
		case "none":
			out = append(out, &MatchSingleton{b, nil})
		case "true", "false":
			out = append(out, &MatchSingleton{b, k.kind == "true"})
		case "dotted_name", "identifier":
			name := p.text(k)
			switch {
			case name == "_":
				out = append(out, &MatchAs{patNode: b})
			case strings.Contains(name, "."):
				out = append(out, &MatchValue{b, p.dottedExpr(k)})
			default:
				out = append(out, &MatchAs{patNode: b, Name: name})
			}
		case "integer", "float", "string", "concatenated_string", "complex_pattern":
			out = append(out, &MatchValue{b, p.patternValue(k, neg)})
		default:
			out = append(out, p.pattern(k))
		}
		neg = false
	}
	return out
}

// patternValue reads a literal or a dotted name in a pattern; neg says that a minus sign stands before it.
func (p *parser) patternValue(k *cst, neg bool) Expr {
	switch k.kind {
	case "dotted_name":
		return p.dottedExpr(k)
	case "case_pattern":
		neg := k.kids[0].kind == "-"
		return p.patternValue(k.kids[len(k.kids)-1], neg)
	case "complex_pattern":
		return p.complexPattern(k)
	}
	e := p.expr(k)
	if j, ok := e.(*JoinedStr); ok {
		p.fail(j.Span, "patterns may only match literals and attribute lookups")
	}
	if neg {
		return &UnaryOp{exprNode{e.Pos()}, "-", e}
	}
	return e
}

// complexPattern reads a real number, its sign, and the imaginary one that is added or taken away.
func (p *parser) complexPattern(c *cst) Expr {
	ks := c.kids
	neg := p.text(ks[0]) == "-"
	if neg {
		ks = ks[1:]
	}
	left, right := p.expr(ks[0]), p.expr(ks[2])
	if neg {
		left = &UnaryOp{exprNode{left.Pos()}, "-", left}
	}
	return &BinOp{exprNode{p.sp(c)}, left, p.text(ks[1]), right}
}

// dottedExpr reads a dotted name as attributes of attributes.
func (p *parser) dottedExpr(c *cst) Expr {
	if c.kind == "identifier" {
		return &Name{exprNode{p.sp(c)}, p.text(c)}
	}
	var e Expr
	for _, k := range c.namedKids() {
		if e == nil {
			e = &Name{exprNode{p.sp(k)}, p.text(k)}
		} else {
			e = &Attribute{exprNode{join(e.Pos(), p.sp(k))}, e, p.text(k)}
		}
	}
	return e
}

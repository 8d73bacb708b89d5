package syntax

// What is assigned to.

// assign reads an assignment, which the grammar nests to the right, with or without an annotation.
func (p *parser) assign(c *cst) Stmt {
	b := stmtNode{p.sp(c)}
	if t := c.get("type"); t != nil {
		s := &AnnAssign{stmtNode: b}
		l := c.get("left")
		s.Target = p.exprTarget(l)
		switch x := s.Target.(type) {
		case *Name:
			s.Simple = l.kind == "identifier"
		case *Attribute, *Subscript:
		case *List:
			p.fail(x.Span, "only single target (not list) can be annotated")
		case *Tuple:
			p.fail(x.Span, "only single target (not tuple) can be annotated")
		default:
			p.fail(x.Pos(), "illegal target for annotation")
		}
		s.Annotation = p.expr(t)
		if r := c.get("right"); r != nil {
			if r.kind == "assignment" || r.kind == "augmented_assignment" {
				p.bad(r)
			}
			s.Value = hoistStar(p.expr(r))
		}
		return s
	}
	s := &Assign{stmtNode: b}
	for {
		l := c.get("left")
		t := p.exprTarget(l)
		if len(s.Targets) > 0 && c.get("type") != nil {
			p.bad(c.get("type"))
		}
		s.Targets = append(s.Targets, t)
		r := c.get("right")
		if r.kind == "assignment" {
			c = r
			continue
		}
		if r.kind == "augmented_assignment" {
			p.bad(r)
		}
		s.Value = hoistStar(hoistStar(p.expr(r)))
		return s
	}
}

// exprTarget reads an assignment target, which the grammar has judged.
func (p *parser) exprTarget(c *cst) Expr {
	switch c.kind {
	case "pattern_list":
		return &Tuple{exprNode{p.sp(c)}, p.targets(c)}
	case "tuple_pattern":
		es := p.targets(c)
		if len(es) == 1 && !c.has(",") {
			if _, ok := es[0].(*Starred); ok {
				p.fail(es[0].Pos(), "cannot use starred expression here")
			}
			return es[0]
		}
		return &Tuple{exprNode{p.sp(c)}, es}
	case "list_pattern":
		return &List{exprNode{p.sp(c)}, p.targets(c)}
	case "list_splat_pattern", "list_splat":
		return &Starred{exprNode{p.sp(c)}, p.exprTarget(c.namedKids()[0])}
	case "parenthesized_expression", "pattern":
		return p.exprTarget(c.namedKids()[0])
	}
	return p.expr(c)
}

func (p *parser) targets(c *cst) (out []Expr) {
	for _, k := range c.namedKids() {
		out = append(out, hoistStar(p.exprTarget(k)))
	}
	return out
}

// exprName says what an expression is, in CPython's words.
func exprName(e Expr) string {
	switch x := e.(type) {
	case *Constant:
		switch v := x.Value.(type) {
		case nil:
			return "None"
		case bool:
			if v {
				return "True"
			}
			return "False"
		case EllipsisValue:
			return "ellipsis"
		}
		return "literal"
	case *Call:
		return "function call"
	case *BinOp, *UnaryOp, *BoolOp:
		return "expression"
	case *Compare:
		return "comparison"
	case *IfExp:
		return "conditional expression"
	case *Lambda:
		return "lambda"
	case *JoinedStr:
		return "f-string expression"
	case *FormattedValue:
		return "f-string expression"
	case *ListComp:
		return "list comprehension"
	case *SetComp:
		return "set comprehension"
	case *DictComp:
		return "dict comprehension"
	case *GeneratorExp:
		return "generator expression"
	case *Dict:
		return "dict literal"
	case *Set:
		return "set display"
	case *Yield, *YieldFrom:
		return "yield expression"
	case *NamedExpr:
		return "named expression"
	case *Name:
		return "name"
	case *Attribute:
		return "attribute"
	case *Subscript:
		return "subscript"
	case *Starred:
		return "starred"
	case *Tuple:
		return "tuple"
	case *List:
		return "list"
	}
	return "expression"
}

// parenthesised reports whether a tuple was written with its brackets.
func (p *parser) parenthesised(t *Tuple) bool {
	off := p.lines[t.Line-1] + int(t.Col)
	return off < len(p.src) && p.src[off] == '('
}

package syntax

// funcDef reads a function; its position is that of def, not of its decorators.
func (p *parser) funcDef(c *cst, decs []Expr) Stmt {
	f := &FunctionDef{stmtNode: stmtNode{p.sp(c)}, Async: isAsync(c), Name: p.text(c.get("name")), Decorators: decs}
	if tp := c.get("type_parameters"); tp != nil {
		p.bad(tp)
	}
	f.Args = p.params(c.get("parameters"), false)
	if r := c.get("return_type"); r != nil {
		f.Returns = p.expr(r)
	}
	f.Body = p.block(c.get("body"))
	return f
}

// classDef reads a class.
func (p *parser) classDef(c *cst, decs []Expr) Stmt {
	d := &ClassDef{stmtNode: stmtNode{p.sp(c)}, Name: p.text(c.get("name")), Decorators: decs}
	if tp := c.get("type_parameters"); tp != nil {
		p.bad(tp)
	}
	if s := c.get("superclasses"); s != nil {
		d.Bases, d.Keywords = p.args(s)
	}
	d.Body = p.block(c.get("body"))
	return d
}

// params reads a parameter list of a def or a lambda.
func (p *parser) params(c *cst, lambda bool) *Arguments {
	a := &Arguments{}
	if c == nil {
		return a
	}
	star := false
	add := func(n *cst, ann, def *cst) {
		arg := &Arg{Span: p.sp(n), Name: p.text(n)}
		if ann != nil {
			arg.Span.EndLine, arg.Span.EndCol = p.sp(ann).EndLine, p.sp(ann).EndCol
			arg.Annotation = p.expr(ann)
		}
		if star {
			a.KwOnly = append(a.KwOnly, arg)
			var d Expr
			if def != nil {
				d = p.expr(def)
			}
			a.KwDefaults = append(a.KwDefaults, d)
			return
		}
		a.Args = append(a.Args, arg)
		if def != nil {
			a.Defaults = append(a.Defaults, p.expr(def))
		}
	}
	splat := func(n, ann *cst) {
		id := n.namedKids()
		arg := &Arg{Span: p.sp(id[0]), Name: p.text(id[0])}
		if ann != nil {
			arg.Span.EndLine, arg.Span.EndCol = p.sp(ann).EndLine, p.sp(ann).EndCol
			arg.Annotation = hoistStar(p.expr(ann))
		}
		if n.kind == "dictionary_splat_pattern" {
			a.Kwarg = arg
			return
		}
		star = true
		a.Vararg = arg
	}
	for _, k := range c.kids {
		switch k.kind {
		case "(", ")", ",":
		case "identifier", "tuple_pattern":
			add(k, nil, nil)
		case "default_parameter":
			add(k.get("name"), nil, k.get("value"))
		case "typed_default_parameter":
			add(k.get("name"), k.get("type"), k.get("value"))
		case "typed_parameter":
			if n := k.kids[0]; n.kind == "identifier" {
				add(n, k.get("type"), nil)
			} else {
				splat(n, k.get("type"))
			}
		case "list_splat_pattern", "dictionary_splat_pattern":
			splat(k, nil)
		case "positional_separator":
			a.PosOnly, a.Args = a.Args, nil
		case "keyword_separator":
			star = true
		default:
			p.bad(k)
		}
	}
	return a
}

// args reads an argument list.
func (p *parser) args(c *cst) (args []Expr, kws []*Keyword) {
	if c.kind == "generator_expression" {
		return []Expr{p.expr(c)}, nil
	}
	for _, k := range c.kids {
		switch k.kind {
		case "(", ")", ",":
		case "keyword_argument":
			kws = append(kws, &Keyword{p.sp(k), p.text(k.get("name")), p.expr(k.get("value"))})
		case "dictionary_splat":
			kws = append(kws, &Keyword{p.sp(k), "", p.expr(k.namedKids()[0])})
		case "list_splat":
			args = append(args, &Starred{exprNode{p.sp(k)}, p.expr(k.namedKids()[0])})
		default:
			args = append(args, hoistStar(p.expr(k)))
		}
	}
	return args, kws
}

package syntax

func (p *parser) funcDef(c *cst, decs []Expr) Stmt {
	p.noAsync(c)
	f := &FunctionDef{stmtNode: stmtNode{p.sp(c)}, Name: p.text(c.get("name")), Decorators: decs}
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
	star, slash := false, false
	add := func(n *cst, ann, def *cst) {
		if n.kind != "identifier" {
			if lambda {
				p.fail(p.sp(n), "Lambda expression parameters cannot be parenthesized")
			}
			p.fail(p.sp(n), "Function parameters cannot be parenthesized")
		}
		if a.Kwarg != nil {
			p.fail(p.sp(n), "arguments cannot follow var-keyword argument")
		}
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
		} else if len(a.Defaults) > 0 {
			p.fail(p.sp(n), "non-default argument follows default argument")
		}
	}
	splat := func(n, ann *cst) {
		id := n.namedKids()
		if len(id) == 0 {
			p.bad(n)
		}
		arg := &Arg{Span: p.sp(id[0]), Name: p.text(id[0])}
		if ann != nil {
			arg.Annotation = p.expr(ann)
		}
		if a.Kwarg != nil {
			p.fail(p.sp(n), "arguments cannot follow var-keyword argument")
		}
		if n.kind == "dictionary_splat_pattern" {
			a.Kwarg = arg
			return
		}
		if star {
			p.fail(p.sp(n), "* argument may appear only once")
		}
		star = true
		a.Vararg = arg
	}
	for i, k := range c.kids {
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
			if slash {
				p.fail(p.sp(k), "/ may appear only once")
			}
			if star {
				p.fail(p.sp(k), "/ must be ahead of *")
			}
			if len(a.Args) == 0 {
				p.fail(p.sp(k), "at least one argument must precede /")
			}
			slash = true
			a.PosOnly, a.Args = a.Args, nil
		case "keyword_separator":
			if star {
				p.fail(p.sp(k), "* argument may appear only once")
			}
			star = true
			j := i + 1
			for j < len(c.kids) && (c.kids[j].kind == "," || c.kids[j].kind == ")") {
				j++
			}
			if j >= len(c.kids) || c.kids[j].kind == "dictionary_splat_pattern" {
				p.fail(p.sp(k), "named arguments must follow bare *")
			}
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
	seen := map[string]bool{}
	unpack := false
	n := 0
	for i, k := range c.kids {
		switch k.kind {
		case "(", ")", ",":
			if k.kind == "," && (i == 0 || c.kids[i-1].kind == "," || c.kids[i-1].kind == "(") {
				p.bad(k)
			}
			continue
		case "keyword_argument":
			nm := k.get("name")
			if nm.kind != "identifier" {
				if s := p.text(nm); s == "True" || s == "False" || s == "None" {
					p.fail(p.sp(k), "cannot assign to %s", s)
				}
				p.fail(p.sp(k), `expression cannot contain assignment, perhaps you meant "=="?`)
			}
			name := p.text(nm)
			if name == "True" || name == "False" || name == "None" {
				p.fail(p.sp(k), "cannot assign to %s", name)
			}
			if seen[name] {
				p.fail(p.sp(k), "keyword argument repeated: %s", name)
			}
			seen[name] = true
			kws = append(kws, &Keyword{p.sp(k), name, p.expr(k.get("value"))})
		case "dictionary_splat":
			unpack = true
			kws = append(kws, &Keyword{p.sp(k), "", p.expr(k.namedKids()[0])})
		case "list_splat":
			if unpack {
				p.fail(p.sp(k), "iterable argument unpacking follows keyword argument unpacking")
			}
			args = append(args, &Starred{exprNode{p.sp(k)}, p.expr(k.namedKids()[0])})
		default:
			if unpack {
				p.fail(p.sp(k), "positional argument follows keyword argument unpacking")
			}
			if len(kws) > 0 {
				p.fail(p.sp(k), "positional argument follows keyword argument")
			}
			e := hoistStar(p.expr(k))
			if k.kind == "parenthesized_list_splat" {
				p.fail(p.sp(k), "cannot use starred expression here")
			}
			args = append(args, e)
		}
		n++
	}
	return args, kws
}

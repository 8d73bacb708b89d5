package syntax

// checker walks a finished tree for what CPython's compiler and symbol table refuse.
type checker struct {
	p     *parser
	f     *File
	scope *checkScope
}

type checkScope struct {
	kind   string // "module", "class", "function", "comp"
	parent *checkScope
	loop   int // loops around the statement, inside the innermost except*
	star   int // except* clauses around it
	params map[string]bool
	used   map[string]string // how a name was used before a global or nonlocal statement
	bound  map[string]bool
	decl   map[string]string // "global" or "nonlocal"
}

func newScope(kind string, parent *checkScope) *checkScope {
	return &checkScope{kind: kind, parent: parent, params: map[string]bool{}, used: map[string]string{},
		bound: map[string]bool{}, decl: map[string]string{}}
}

var futureNames = map[string]bool{"nested_scopes": true, "generators": true, "division": true, "absolute_import": true,
	"with_statement": true, "print_function": true, "unicode_literals": true, "barry_as_FLUFL": true,
	"generator_stop": true, "annotations": true}

func (c *checker) file() {
	c.scope = newScope("module", nil)
	early := true
	for i, s := range c.f.Body {
		if im, ok := s.(*ImportFrom); ok && im.Module == "__future__" && im.Level == 0 {
			if !early {
				c.p.fail(im.Span, "from __future__ imports must occur at the beginning of the file")
			}
			for _, a := range im.Names {
				if a.Name == "braces" {
					c.future(im, "not a chance")
				}
				if !futureNames[a.Name] {
					c.future(im, "future feature %s is not defined", a.Name)
				}
				c.f.Future[a.Name] = true
			}
			continue
		}
		if es, ok := s.(*ExprStmt); ok && i == 0 {
			if k, ok := es.Value.(*Constant); ok {
				if _, ok := k.Value.(string); ok {
					continue
				}
			}
		}
		early = false
	}
	c.stmts(c.f.Body)
}

// future refuses an import from __future__; such an error has no end.
func (c *checker) future(im *ImportFrom, format string, args ...any) {
	e := c.p.errAt("SyntaxError", im.Span, format, args...)
	e.EndOffset = 0
	panic(e)
}

func (c *checker) stmts(b []Stmt) {
	for _, s := range b {
		c.stmt(s)
	}
}

func (c *checker) loop(b []Stmt) {
	c.scope.loop++
	c.stmts(b)
	c.scope.loop--
}

const leavesStar = "'break', 'continue' and 'return' cannot appear in an except* block"

func (c *checker) stmt(s Stmt) {
	switch s := s.(type) {
	case *Return:
		if c.scope.kind != "function" {
			c.p.fail(s.Span, "'return' outside function")
		}
		if c.scope.star > 0 {
			c.p.fail(s.Span, leavesStar)
		}
		c.expr(s.Value)
	case *Break:
		if c.scope.loop == 0 {
			if c.scope.star > 0 {
				c.p.fail(s.Span, leavesStar)
			}
			c.p.fail(s.Span, "'break' outside loop")
		}
	case *Continue:
		if c.scope.loop == 0 {
			if c.scope.star > 0 {
				c.p.fail(s.Span, leavesStar)
			}
			c.p.fail(s.Span, "'continue' not properly in loop")
		}
	case *Global:
		c.declare(s.Span, s.Names, "global")
	case *Nonlocal:
		if c.scope.kind == "module" {
			c.p.fail(s.Span, "nonlocal declaration not allowed at module level")
		}
		c.declare(s.Span, s.Names, "nonlocal")
		for _, n := range s.Names {
			found := false
			for p := c.scope.parent; p != nil; p = p.parent {
				if p.kind == "function" && (p.bound[n] || p.params[n]) {
					found = true
				}
				if p.kind == "function" && p.decl[n] == "nonlocal" {
					found = true
				}
			}
			if !found {
				c.p.fail(s.Span, "no binding for nonlocal '%s' found", n)
			}
		}
	case *FunctionDef:
		for _, d := range s.Decorators {
			c.expr(d)
		}
		c.bind(s.Name)
		c.function(s.Args, s.Returns, func() {
			prebind(c.scope, s.Body)
			c.stmts(s.Body)
		})
	case *ClassDef:
		for _, d := range s.Decorators {
			c.expr(d)
		}
		c.exprs(s.Bases)
		for _, k := range s.Keywords {
			c.expr(k.Value)
		}
		c.bind(s.Name)
		c.scope = newScope("class", c.scope)
		c.stmts(s.Body)
		c.scope = c.scope.parent
	case *Delete:
		c.exprs(s.Targets)
	case *Assign:
		c.expr(s.Value)
		for _, t := range s.Targets {
			c.target(t)
		}
	case *AugAssign:
		c.target(s.Target)
		c.expr(s.Value)
	case *AnnAssign:
		if n, ok := s.Target.(*Name); ok && s.Simple {
			if d := c.scope.decl[n.Id]; d != "" {
				c.p.fail(s.Span, "annotated name '%s' can't be %s", n.Id, d)
			}
		}
		c.expr(s.Annotation)
		c.expr(s.Value)
		c.target(s.Target)
	case *For:
		c.expr(s.Iter)
		c.target(s.Target)
		c.loop(s.Body)
		c.stmts(s.Else)
	case *While:
		c.expr(s.Test)
		c.loop(s.Body)
		c.stmts(s.Else)
	case *If:
		c.expr(s.Test)
		c.stmts(s.Body)
		c.stmts(s.Else)
	case *With:
		for _, it := range s.Items {
			c.expr(it.Context)
			if it.Vars != nil {
				c.target(it.Vars)
			}
		}
		c.stmts(s.Body)
	case *Raise:
		c.expr(s.Exc)
		c.expr(s.Cause)
	case *Try:
		if len(s.Handlers) == 0 && len(s.Final) == 0 {
			c.p.fail(s.Span, "expected 'except' or 'finally' block")
		}
		c.stmts(s.Body)
		for i, h := range s.Handlers {
			if h.Type == nil && i < len(s.Handlers)-1 {
				c.p.fail(h.Span, "default 'except:' must be last")
			}
			c.expr(h.Type)
			if h.Name != "" {
				c.bind(h.Name)
			}
			if s.Star {
				loops := c.scope.loop
				c.scope.loop, c.scope.star = 0, c.scope.star+1
				c.stmts(h.Body)
				c.scope.loop, c.scope.star = loops, c.scope.star-1
			} else {
				c.stmts(h.Body)
			}
		}
		c.stmts(s.Else)
		c.stmts(s.Final)
	case *Assert:
		c.expr(s.Test)
		c.expr(s.Msg)
	case *Import:
		for _, a := range s.Names {
			n := a.AsName
			if n == "" {
				n = a.Name
			}
			c.bind(n)
		}
	case *ImportFrom:
		for _, a := range s.Names {
			if a.Name == "*" {
				if c.scope.kind != "module" {
					c.p.fail(s.Span, "import * only allowed at module level")
				}
				continue
			}
			n := a.AsName
			if n == "" {
				n = a.Name
			}
			c.bind(n)
		}
		if s.Module == "__future__" && s.Level == 0 && c.scope.kind != "module" {
			c.p.fail(s.Span, "from __future__ imports must occur at the beginning of the file")
		}
	case *ExprStmt:
		if st, ok := s.Value.(*Starred); ok {
			c.p.fail(st.Span, "can't use starred expression here")
		}
		c.expr(s.Value)
	case *Match:
		c.expr(s.Subject)
		for i, k := range s.Cases {
			if k.Guard == nil && i < len(s.Cases)-1 {
				if a, ok := k.Pattern.(*MatchAs); ok && a.Pattern == nil {
					if a.Name == "" {
						c.p.fail(a.Span, "wildcard makes remaining patterns unreachable")
					}
					c.p.fail(a.Span, "name capture '%s' makes remaining patterns unreachable", a.Name)
				}
			}
			c.pattern(k.Pattern, map[string]bool{})
			c.expr(k.Guard)
			c.stmts(k.Body)
		}
	}
}

func (c *checker) pattern(p Pattern, seen map[string]bool) {
	bind := func(n string) {
		if n == "" {
			return
		}
		if seen[n] {
			c.p.fail(p.Pos(), "multiple assignments to name '%s' in pattern", n)
		}
		seen[n] = true
		c.bind(n)
	}
	all := func(ps []Pattern) {
		stars := 0
		for _, q := range ps {
			if _, ok := q.(*MatchStar); ok {
				stars++
				if stars > 1 {
					c.p.fail(q.Pos(), "multiple starred expressions in sequence pattern")
				}
			}
			c.pattern(q, seen)
		}
	}
	switch q := p.(type) {
	case *MatchAs:
		if q.Pattern != nil {
			c.pattern(q.Pattern, seen)
		}
		bind(q.Name)
	case *MatchStar:
		bind(q.Name)
	case *MatchSequence:
		all(q.Patterns)
	case *MatchMapping:
		all(q.Patterns)
		bind(q.Rest)
	case *MatchClass:
		all(q.Patterns)
		all(q.KwdPatterns)
	case *MatchOr:
		var first map[string]bool
		for i, alt := range q.Patterns {
			if a, ok := alt.(*MatchAs); ok && a.Pattern == nil && i < len(q.Patterns)-1 {
				if a.Name == "" {
					c.p.fail(a.Span, "wildcard makes remaining patterns unreachable")
				}
				c.p.fail(a.Span, "name capture '%s' makes remaining patterns unreachable", a.Name)
			}
			m := map[string]bool{}
			c.pattern(alt, m)
			if first == nil {
				first = m
			} else if len(first) != len(m) {
				c.p.fail(q.Span, "alternative patterns bind different names")
			}
			for k := range m {
				if !first[k] {
					c.p.fail(q.Span, "alternative patterns bind different names")
				}
			}
		}
		for k := range first {
			seen[k] = true
		}
	}
}

// prebind notes the names that a function's body binds, so that a nested nonlocal finds those bound later.
func prebind(s *checkScope, body []Stmt) {
	var tgt func(e Expr)
	tgt = func(e Expr) {
		switch e := e.(type) {
		case *Name:
			s.bound[e.Id] = true
		case *Tuple:
			for _, x := range e.Elts {
				tgt(x)
			}
		case *List:
			for _, x := range e.Elts {
				tgt(x)
			}
		case *Starred:
			tgt(e.Value)
		}
	}
	for _, st := range body {
		switch st := st.(type) {
		case *Assign:
			for _, t := range st.Targets {
				tgt(t)
			}
		case *AugAssign:
			tgt(st.Target)
		case *AnnAssign:
			tgt(st.Target)
		case *For:
			tgt(st.Target)
			prebind(s, st.Body)
			prebind(s, st.Else)
		case *While:
			prebind(s, st.Body)
			prebind(s, st.Else)
		case *If:
			prebind(s, st.Body)
			prebind(s, st.Else)
		case *With:
			for _, it := range st.Items {
				if it.Vars != nil {
					tgt(it.Vars)
				}
			}
			prebind(s, st.Body)
		case *Try:
			prebind(s, st.Body)
			for _, h := range st.Handlers {
				if h.Name != "" {
					s.bound[h.Name] = true
				}
				prebind(s, h.Body)
			}
			prebind(s, st.Else)
			prebind(s, st.Final)
		case *FunctionDef:
			s.bound[st.Name] = true
		case *ClassDef:
			s.bound[st.Name] = true
		case *Import:
			for _, a := range st.Names {
				s.bound[a.Name] = true
				s.bound[a.AsName] = true
			}
		case *ImportFrom:
			for _, a := range st.Names {
				s.bound[a.Name] = true
				s.bound[a.AsName] = true
			}
		case *Match:
			for _, k := range st.Cases {
				prebind(s, k.Body)
			}
		}
	}
}

func (c *checker) declare(sp Span, names []string, how string) {
	for _, n := range names {
		if c.scope.params[n] {
			c.p.fail(sp, "name '%s' is parameter and %s", n, how)
		}
		if d := c.scope.decl[n]; d != "" && d != how {
			c.p.fail(sp, "name '%s' is nonlocal and global", n)
		}
		if u := c.scope.used[n]; u != "" {
			c.p.fail(sp, "name '%s' is %s before %s declaration", n, u, how)
		}
		c.scope.decl[n] = how
	}
}

func (c *checker) bind(n string) {
	c.scope.bound[n] = true
	if c.scope.used[n] == "" {
		c.scope.used[n] = "assigned to"
	}
}

func (c *checker) function(a *Arguments, returns Expr, body func()) {
	c.exprs(a.Defaults)
	c.exprs(a.KwDefaults)
	s := newScope("function", c.scope)
	add := func(x *Arg) {
		if x == nil {
			return
		}
		if s.params[x.Name] {
			c.p.fail(x.Span, "duplicate argument '%s' in function definition", x.Name)
		}
		if x.Name == "__debug__" {
			c.p.fail(x.Span, "cannot assign to __debug__")
		}
		s.params[x.Name] = true
		c.expr(x.Annotation)
	}
	for _, l := range [][]*Arg{a.PosOnly, a.Args, a.KwOnly} {
		for _, x := range l {
			add(x)
		}
	}
	add(a.Vararg)
	add(a.Kwarg)
	c.expr(returns)
	c.scope = s
	body()
	c.scope = s.parent
}

func (c *checker) exprs(es []Expr) {
	for _, e := range es {
		c.expr(e)
	}
}

func (c *checker) target(e Expr) {
	switch e := e.(type) {
	case *Name:
		c.bind(e.Id)
	case *Tuple:
		for _, x := range e.Elts {
			c.target(x)
		}
	case *List:
		for _, x := range e.Elts {
			c.target(x)
		}
	case *Starred:
		c.target(e.Value)
	default:
		c.expr(e)
	}
}

func (c *checker) noStar(e Expr) {
	if s, ok := e.(*Starred); ok {
		c.p.fail(s.Span, "can't use starred expression here")
	}
}

func (c *checker) expr(e Expr) {
	switch e := e.(type) {
	case nil:
	case *Name:
		if c.scope.used[e.Id] == "" {
			c.scope.used[e.Id] = "used"
		}
	case *Constant:
	case *Attribute:
		c.expr(e.Value)
	case *Subscript:
		c.expr(e.Value)
		c.expr(e.Index)
	case *SliceExpr:
		c.expr(e.Lower)
		c.expr(e.Upper)
		c.expr(e.Step)
	case *Call:
		c.expr(e.Func)
		c.exprs(e.Args)
		for _, k := range e.Keywords {
			c.expr(k.Value)
		}
	case *BinOp:
		c.noStar(e.Left)
		c.noStar(e.Right)
		c.expr(e.Left)
		c.expr(e.Right)
	case *UnaryOp:
		c.expr(e.Operand)
	case *BoolOp:
		c.exprs(e.Values)
	case *Compare:
		c.expr(e.Left)
		c.exprs(e.Comparators)
	case *IfExp:
		c.expr(e.Test)
		c.expr(e.Body)
		c.expr(e.Else)
	case *Lambda:
		c.function(e.Args, nil, func() { c.expr(e.Body) })
	case *NamedExpr:
		for s := c.scope; s != nil && s.kind == "comp"; s = s.parent {
			if s.bound[e.Target.Id] {
				c.p.fail(e.Span, "assignment expression cannot rebind comprehension iteration variable '%s'", e.Target.Id)
			}
			if s.parent != nil && s.parent.kind == "class" {
				c.p.fail(e.Span, "assignment expression within a comprehension cannot be used in a class body")
			}
		}
		c.expr(e.Value)
		c.bind(e.Target.Id)
	case *Tuple:
		c.exprs(e.Elts)
	case *List:
		c.exprs(e.Elts)
	case *Set:
		c.exprs(e.Elts)
	case *Dict:
		c.exprs(e.Keys)
		c.exprs(e.Values)
	case *ListComp:
		c.comp(e.Generators, e.Elt)
	case *SetComp:
		c.comp(e.Generators, e.Elt)
	case *GeneratorExp:
		c.comp(e.Generators, e.Elt)
	case *DictComp:
		c.comp(e.Generators, e.Key, e.Value)
	case *Starred:
		c.expr(e.Value)
	case *Yield:
		c.yield(e.Span, "yield")
		c.expr(e.Value)
	case *YieldFrom:
		c.yield(e.Span, "yield")
		c.expr(e.Value)
	case *JoinedStr:
		c.exprs(e.Values)
	case *FormattedValue:
		c.noStar(e.Value)
		c.expr(e.Value)
		c.expr(e.Spec)
	}
}

func (c *checker) yield(sp Span, what string) {
	if c.scope.kind == "comp" {
		c.p.fail(sp, "'yield' inside list comprehension")
	}
	if c.scope.kind != "function" {
		c.p.fail(sp, "'%s' outside function", what)
	}
}

func (c *checker) comp(gens []*Comprehension, elts ...Expr) {
	c.expr(gens[0].Iter)
	c.scope = newScope("comp", c.scope)
	for i, g := range gens {
		c.target(g.Target)
		if i > 0 {
			c.expr(g.Iter)
		}
		c.exprs(g.Ifs)
	}
	c.exprs(elts)
	c.scope = c.scope.parent
}

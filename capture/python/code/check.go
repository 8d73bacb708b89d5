package code

import (
	"strings"

	"whittle/capture/python/syntax"
)

// checker finds the mistakes that CPython's compiler finds while it makes code, in its order; those of names are the symbol
// table's. It fails by panicking with a *syntax.Error.
type checker struct {
	f     *syntax.File
	kind  scopeKind
	scope *scope      // of the statement; nil inside an annotation that stays text
	async bool        // it is an async function's own
	loops int         // loops around the statement, inside the innermost except*
	stars int         // except* clauses around it
	at    syntax.Span // where CPython believes to be: what has no place of its own is reported there
}

// check finds the first of these mistakes in a file, in the order in which CPython's compiler would come to it.
func check(f *syntax.File, root *scope, body []syntax.Stmt, mode Mode) {
	c := &checker{f: f, scope: root}
	if mode == Eval { // its one statement returns the value
		c.expr(body[0].(*syntax.Return).Value)
		return
	}
	c.stmts(body)
}

func (c *checker) fail(sp syntax.Span, format string, args ...any) {
	panic(c.f.ErrorAt(sp, format, args...))
}

// within checks what has a scope of its own: that of n.
func (c *checker) within(kind scopeKind, n syntax.Node, f func()) {
	old := *c
	c.kind, c.scope, c.async, c.loops, c.stars = kind, c.scope.children[n], false, 0, 0
	f()
	*c = old
}

// awaits refuses an async statement outside of an async function.
func (c *checker) awaits(s syntax.Stmt, async bool, what string) {
	if async && !c.async {
		c.fail(s.Pos(), "'async %s' outside async function", what)
	}
}

func (c *checker) stmts(list []syntax.Stmt) {
	for _, s := range list {
		c.stmt(s)
	}
}

func (c *checker) loop(body []syntax.Stmt) {
	c.loops++
	c.stmts(body)
	c.loops--
}

const leavesStar = "'break', 'continue' and 'return' cannot appear in an except* block"

// leave checks a break or continue; outside is the message where there is no loop.
func (c *checker) leave(sp syntax.Span, outside string) {
	if c.loops > 0 {
		return
	}
	if c.stars > 0 {
		c.fail(sp, leavesStar)
	}
	c.fail(sp, "%s", outside)
}

// debug refuses to bind __debug__.
func (c *checker) debug(n string) {
	if n == "__debug__" {
		c.fail(c.at, "cannot assign to __debug__")
	}
}

// stmt checks a statement: a switch over their kinds.
func (c *checker) stmt(s syntax.Stmt) {
	c.at = s.Pos()
	switch s := s.(type) {
	case *syntax.Return:
		if c.kind != functionScope {
			c.fail(s.Span, "'return' outside function")
		}
		if s.Value != nil && c.scope.gen && c.scope.coroutine {
			c.fail(s.Span, "'return' with value in async generator")
		}
		c.expr(s.Value)
		if c.stars > 0 {
			c.fail(s.Span, leavesStar)
		}
	case *syntax.Break:
		c.leave(s.Span, "'break' outside loop")
	case *syntax.Continue:
		c.leave(s.Span, "'continue' not properly in loop")
	case *syntax.FunctionDef:
		c.funcDef(s)
	case *syntax.ClassDef:
		c.classDef(s)
	case *syntax.Delete:
		for _, t := range s.Targets {
			c.del(t)
		}
	case *syntax.Assign:
		c.expr(s.Value)
		for _, t := range s.Targets {
			c.target(t)
		}
	case *syntax.AugAssign:
		c.target(s.Target)
		c.expr(s.Value)
	case *syntax.AnnAssign:
		c.annAssign(s)
	case *syntax.For:
		c.awaits(s, s.Async, "for")
		c.expr(s.Iter)
		c.target(s.Target)
		c.loop(s.Body)
		c.stmts(s.Else)
	case *syntax.While:
		c.expr(s.Test)
		c.loop(s.Body)
		c.stmts(s.Else)
	case *syntax.If:
		c.expr(s.Test)
		c.stmts(s.Body)
		c.stmts(s.Else)
	case *syntax.With:
		c.awaits(s, s.Async, "with")
		for _, it := range s.Items {
			c.expr(it.Context)
			if it.Vars != nil {
				c.target(it.Vars)
			}
		}
		c.stmts(s.Body)
	case *syntax.Raise:
		c.expr(s.Exc)
		c.expr(s.Cause)
	case *syntax.Try:
		c.try(s)
	case *syntax.Assert:
		if t, ok := s.Test.(*syntax.Tuple); ok && len(t.Elts) > 0 {
			c.f.Warn(s.Span, "assertion is always true, perhaps remove parentheses?")
		}
		c.expr(s.Test)
		c.expr(s.Msg)
	case *syntax.Import:
		for _, a := range s.Names {
			c.imported(a)
		}
	case *syntax.ImportFrom:
		if s.Module == "__future__" && s.Level == 0 && int(s.Line) > c.f.FutureLine {
			c.fail(s.Span, "from __future__ imports must occur at the beginning of the file")
		}
		for _, a := range s.Names {
			c.imported(a)
		}
	case *syntax.ExprStmt:
		c.expr(s.Value)
	case *syntax.Match:
		c.match(s)
	}
}

// funcDef checks in the order in which code is made: what is evaluated outside first, then the body, and the binding of the name last.
func (c *checker) funcDef(s *syntax.FunctionDef) {
	c.exprs(s.Decorators)
	c.at = s.Span
	c.arguments(s.Args, s.Returns)
	c.within(functionScope, s, func() {
		c.async = s.Async
		c.stmts(s.Body)
	})
	c.at = s.Span
	c.debug(s.Name)
}

// classDef checks the body before the bases, as CPython compiles it first.
func (c *checker) classDef(s *syntax.ClassDef) {
	c.exprs(s.Decorators)
	c.within(classScope, s, func() { c.stmts(s.Body) })
	c.at = s.Span
	c.starred(s.Bases)
	c.keywords(s.Keywords)
	c.debug(s.Name)
}

// annAssign checks an annotation only where it is evaluated: not that of a function's local name, nor one that stays text.
func (c *checker) annAssign(s *syntax.AnnAssign) {
	if s.Value != nil {
		c.expr(s.Value)
	}
	c.target(s.Target)
	if !c.f.Future["annotations"] && (c.kind == moduleScope || c.kind == classScope || !s.Simple) {
		c.expr(s.Annotation)
	}
}

// try checks the clauses. Nothing may leave an except* clause, so the loops around it do not count inside.
func (c *checker) try(s *syntax.Try) {
	c.stmts(s.Body)
	for i, h := range s.Handlers {
		if h.Type == nil && i < len(s.Handlers)-1 {
			c.fail(h.Span, "default 'except:' must be last")
		}
		c.expr(h.Type)
		c.at = h.Span
		c.debug(h.Name)
		if s.Star {
			loops := c.loops
			c.loops, c.stars = 0, c.stars+1
			c.stmts(h.Body)
			c.loops, c.stars = loops, c.stars-1
		} else {
			c.stmts(h.Body)
		}
	}
	c.stmts(s.Else)
	c.stmts(s.Final)
}

// imported checks the name that an import binds.
func (c *checker) imported(a *syntax.Alias) {
	n := a.AsName
	if n == "" {
		n, _, _ = strings.Cut(a.Name, ".")
	}
	c.debug(n)
}

// arguments checks a parameter list: the defaults, the names, the annotations.
func (c *checker) arguments(a *syntax.Arguments, returns syntax.Expr) {
	at := c.at
	c.exprs(a.Defaults)
	c.exprs(a.KwDefaults)
	c.at = at
	for _, x := range allArgs(a) {
		c.debug(x.Name)
	}
	if c.f.Future["annotations"] {
		return
	}
	for _, x := range allArgs(a) {
		if s, ok := x.Annotation.(*syntax.Starred); ok {
			c.expr(s.Value)
		} else {
			c.expr(x.Annotation)
		}
	}
	c.expr(returns)
}

// keywords checks the keyword arguments of a call or class: the names first, then the values.
func (c *checker) keywords(kws []*syntax.Keyword) {
	seen := map[string]bool{}
	for _, k := range kws {
		if k.Arg == "" {
			continue
		}
		c.debug(k.Arg)
		if seen[k.Arg] {
			c.fail(k.Span, "keyword argument repeated: %s", k.Arg)
		}
		seen[k.Arg] = true
	}
	for _, k := range kws {
		c.expr(k.Value)
	}
}

func (c *checker) exprs(es []syntax.Expr) {
	for _, e := range es {
		c.expr(e)
	}
}

// starred checks expressions among which stars may stand.
func (c *checker) starred(es []syntax.Expr) {
	for _, e := range es {
		if s, ok := e.(*syntax.Starred); ok {
			e = s.Value
		}
		c.expr(e)
	}
}

// target checks what is assigned to.
func (c *checker) target(e syntax.Expr) {
	c.at = e.Pos()
	switch e := e.(type) {
	case *syntax.Name:
		c.debug(e.Id)
	case *syntax.Attribute:
		c.expr(e.Value)
		c.at = e.Span
		c.debug(e.Attr)
	case *syntax.Tuple:
		c.unpack(e.Elts)
	case *syntax.List:
		c.unpack(e.Elts)
	case *syntax.Starred:
		c.fail(e.Span, "starred assignment target must be in a list or tuple")
	default:
		c.expr(e)
	}
}

// unpack checks targets that are assigned to together: one star among them at most.
func (c *checker) unpack(es []syntax.Expr) {
	stars := 0
	for _, e := range es {
		if _, ok := e.(*syntax.Starred); ok {
			if stars++; stars > 1 {
				c.fail(c.at, "multiple starred expressions in assignment")
			}
		}
	}
	for _, e := range es {
		if s, ok := e.(*syntax.Starred); ok {
			e = s.Value
		}
		c.target(e)
	}
}

// del checks what a del statement names.
func (c *checker) del(e syntax.Expr) {
	c.at = e.Pos()
	switch e := e.(type) {
	case *syntax.Name:
		if e.Id == "__debug__" {
			c.fail(e.Span, "cannot delete __debug__")
		}
	case *syntax.Tuple:
		for _, x := range e.Elts {
			c.del(x)
		}
	case *syntax.List:
		for _, x := range e.Elts {
			c.del(x)
		}
	default:
		c.expr(e)
	}
}

// expr checks an expression: a switch over their kinds.
func (c *checker) expr(e syntax.Expr) {
	if e == nil {
		return
	}
	c.at = e.Pos()
	switch e := e.(type) {
	case *syntax.Attribute:
		c.expr(e.Value)
	case *syntax.Subscript:
		c.missedComma(e.Value, e.Index)
		c.expr(e.Value)
		c.expr(e.Index)
	case *syntax.SliceExpr:
		c.expr(e.Lower)
		c.expr(e.Upper)
		c.expr(e.Step)
	case *syntax.Call:
		seen := c.at
		if what := literalType(e.Func, false); what != "" {
			c.f.Warn(e.Span, "'%s' object is not callable; perhaps you missed a comma?", what)
		}
		c.expr(e.Func)
		c.starred(e.Args)
		c.at = seen
		c.keywords(e.Keywords)
	case *syntax.BinOp:
		c.expr(e.Left)
		c.expr(e.Right)
	case *syntax.UnaryOp:
		c.expr(e.Operand)
	case *syntax.BoolOp:
		c.exprs(e.Values)
	case *syntax.Compare:
		c.identity(e)
		c.expr(e.Left)
		c.exprs(e.Comparators)
	case *syntax.IfExp:
		c.expr(e.Test)
		c.expr(e.Body)
		c.expr(e.Else)
	case *syntax.Lambda:
		c.arguments(e.Args, nil)
		c.within(functionScope, e, func() { c.expr(e.Body) })
	case *syntax.NamedExpr:
		c.expr(e.Value)
		c.target(e.Target)
	case *syntax.Tuple:
		c.starred(e.Elts)
	case *syntax.List:
		c.starred(e.Elts)
	case *syntax.Set:
		c.starred(e.Elts)
	case *syntax.Dict:
		for i := range e.Values {
			c.expr(e.Keys[i])
			c.expr(e.Values[i])
		}
	case *syntax.ListComp:
		c.comp(e, e.Generators, e.Elt)
	case *syntax.SetComp:
		c.comp(e, e.Generators, e.Elt)
	case *syntax.GeneratorExp:
		c.comp(e, e.Generators, e.Elt)
	case *syntax.DictComp:
		c.comp(e, e.Generators, e.Key, e.Value)
	case *syntax.Starred:
		c.fail(e.Span, "can't use starred expression here")
	case *syntax.Yield:
		c.yield(e.Span)
		c.expr(e.Value)
	case *syntax.YieldFrom:
		c.yield(e.Span)
		if c.async {
			c.fail(e.Span, "'yield from' inside async function")
		}
		c.expr(e.Value)
	case *syntax.Await:
		if c.kind != functionScope && c.kind != compScope {
			c.fail(e.Span, "'await' outside function")
		}
		if !c.async && c.kind != compScope {
			c.fail(e.Span, "'await' outside async function")
		}
		c.expr(e.Value)
	case *syntax.JoinedStr:
		c.exprs(e.Values)
	case *syntax.FormattedValue:
		c.expr(e.Value)
		c.expr(e.Spec)
	}
}

func (c *checker) yield(sp syntax.Span) {
	if c.kind != functionScope {
		c.fail(sp, "'yield' outside function")
	}
}

// comp checks a comprehension; its outermost iterable is evaluated outside, and after the rest.
func (c *checker) comp(e syntax.Expr, gens []*syntax.Comprehension, elts ...syntax.Expr) {
	if s := c.scope.children[e]; s.coroutine && !s.gen && !c.async && c.kind != compScope {
		c.fail(e.Pos(), "asynchronous comprehension outside of an asynchronous function")
	}
	c.within(compScope, e, func() {
		for i, g := range gens {
			if i > 0 {
				c.expr(g.Iter)
			}
			c.target(g.Target)
			c.exprs(g.Ifs)
		}
		c.exprs(elts)
	})
	c.expr(gens[0].Iter)
}

// identity warns where `is` compares with a literal, of which there may be one object or several.
func (c *checker) identity(e *syntax.Compare) {
	left := plainLiteral(e.Left)
	for i, op := range e.Ops {
		right := plainLiteral(e.Comparators[i])
		if (left || right) && (op == "is" || op == "is not") {
			better := map[string]string{"is": "==", "is not": "!="}[op]
			c.f.Warn(e.Span, `"%s" with a literal. Did you mean "%s"?`, op, better)
			return
		}
		left = right
	}
}

// plainLiteral reports whether an expression is a literal of a value other than None, True, False and Ellipsis.
func plainLiteral(e syntax.Expr) bool {
	k, ok := e.(*syntax.Constant)
	if !ok {
		return false
	}
	switch k.Value.(type) {
	case nil, bool, syntax.EllipsisValue:
		return false
	}
	return true
}

// missedComma warns where a literal is subscripted by what it cannot be: two items of a list with no comma between them look like that.
func (c *checker) missedComma(value, index syntax.Expr) {
	what := literalType(value, true)
	switch what {
	case "":
		return
	case "str", "bytes", "list", "tuple":
		k := literalType(index, true)
		if k != "" && k != "int" && k != "bool" {
			c.f.Warn(value.Pos(), "%s indices must be integers or slices, not %s; perhaps you missed a comma?", what, k)
		}
	case "dict":
	default:
		c.f.Warn(value.Pos(), "'%s' object is not subscriptable; perhaps you missed a comma?", what)
	}
}

// literalType is the name of the type of what a literal or a display gives, empty for other expressions. Of a subscript, more kinds are known.
func literalType(e syntax.Expr, subscript bool) string {
	switch e := e.(type) {
	case *syntax.Constant:
		switch e.Value.(type) {
		case nil:
			return "NoneType"
		case bool:
			return "bool"
		case string:
			return "str"
		case syntax.Bytes:
			return "bytes"
		case syntax.EllipsisValue:
			return "ellipsis"
		case float64:
			return "float"
		case complex128:
			return "complex"
		}
		return "int"
	case *syntax.Tuple:
		return "tuple"
	case *syntax.List, *syntax.ListComp:
		return "list"
	case *syntax.Dict, *syntax.DictComp:
		return "dict"
	case *syntax.Set, *syntax.SetComp:
		return "set"
	case *syntax.GeneratorExp:
		return "generator"
	case *syntax.JoinedStr:
		return "str"
	case *syntax.Lambda:
		if subscript {
			return "function"
		}
	}
	return ""
}

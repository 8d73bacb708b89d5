package code

import (
	"sort"
	"strings"

	"whittle/capture/python/syntax"
)

type scopeKind uint8

const (
	moduleScope scopeKind = iota
	functionScope
	classScope
	compScope // list, set and dict comprehensions, generator expressions
)

// How a scope reaches a name.
type access uint8

const (
	accName   access = iota // LOAD_NAME: module and class bodies
	accFast                 // local of a function
	accGlobal               // declared or implied
	accCell                 // local that an inner scope sees
	accFree                 // local of an outer function
)

// scope is one block of the symbol table.
type scope struct {
	kind     scopeKind
	parent   *scope
	children map[syntax.Node]*scope
	order    []*scope
	params   []string
	bound    map[string]bool
	used     map[string]bool
	globals  map[string]bool
	nonlocal map[string]bool
	cells    map[string]bool
	free     map[string]bool
	locals   []string // bound names in order of appearance
	gen      bool
	class    string // innermost class, for private names
	annots   bool   // has variable annotations
}

func newScope(kind scopeKind, parent *scope) *scope {
	s := &scope{kind: kind, parent: parent, children: map[syntax.Node]*scope{}, bound: map[string]bool{}, used: map[string]bool{},
		globals: map[string]bool{}, nonlocal: map[string]bool{}, cells: map[string]bool{}, free: map[string]bool{}}
	if parent != nil {
		s.class = parent.class
		parent.order = append(parent.order, s)
	}
	return s
}

func (s *scope) function() bool { return s.kind == functionScope || s.kind == compScope }

func (s *scope) bind(n string) {
	n = mangle(s.class, n)
	if s.globals[n] || s.nonlocal[n] {
		s.used[n] = true
		return
	}
	if !s.bound[n] {
		s.bound[n] = true
		s.locals = append(s.locals, n)
	}
}

func (s *scope) use(n string) { s.used[mangle(s.class, n)] = true }

// mangle makes a private name of a class its own.
func mangle(class, n string) string {
	if class == "" || !strings.HasPrefix(n, "__") || strings.HasSuffix(n, "__") || strings.Contains(n, ".") {
		return n
	}
	class = strings.TrimLeft(class, "_")
	if class == "" {
		return n
	}
	return "_" + class + n
}

// symbols builds and resolves the scopes of a file.
type symbols struct{ cur *scope }

func buildSymbols(f *syntax.File, body []syntax.Stmt) *scope {
	root := newScope(moduleScope, nil)
	b := &symbols{root}
	b.stmts(body)
	resolve(root)
	return root
}

// resolve finds free names bottom-up, then marks the cells that they come from.
func resolve(s *scope) {
	for _, c := range s.order {
		resolve(c)
		for n := range c.free {
			if n == "__class__" && s.kind == classScope {
				s.cells[n] = true
				continue
			}
			switch {
			case s.function() && s.bound[n] && !s.globals[n]:
				s.cells[n] = true
			case s.kind == moduleScope:
				delete(c.free, n)
			default:
				if s.function() && s.globals[n] {
					dropFree(c, n)
				} else {
					s.free[n] = true
				}
			}
		}
	}
	if s.kind == moduleScope {
		for _, c := range s.order {
			for n := range c.free {
				dropFree(c, n)
			}
		}
		return
	}
	for n := range s.used {
		if s.globals[n] || s.bound[n] && s.kind != classScope {
			continue
		}
		if s.bound[n] && !s.nonlocal[n] {
			continue
		}
		if outer(s, n) {
			s.free[n] = true
		}
	}
	for n := range s.nonlocal {
		s.free[n] = true
	}
}

// outer reports whether an enclosing function binds n.
func outer(s *scope, n string) bool {
	for p := s.parent; p != nil; p = p.parent {
		if p.kind == classScope {
			if n == "__class__" {
				return true
			}
			continue
		}
		if p.function() {
			if p.globals[n] {
				return false
			}
			if p.bound[n] {
				return true
			}
		}
	}
	return false
}

func dropFree(s *scope, n string) {
	delete(s.free, n)
	for _, c := range s.order {
		if c.free[n] && !s.cells[n] {
			dropFree(c, n)
		}
	}
}

func (s *scope) access(n string) access {
	switch {
	case s.globals[n]:
		return accGlobal
	case s.cells[n]:
		return accCell
	case s.free[n]:
		return accFree
	case s.function():
		if s.bound[n] {
			return accFast
		}
		return accGlobal
	}
	return accName
}

func sorted(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func (b *symbols) push(kind scopeKind, n syntax.Node) func() {
	s := newScope(kind, b.cur)
	b.cur.children[n] = s
	b.cur = s
	return func() { b.cur = s.parent }
}

func (b *symbols) stmts(list []syntax.Stmt) {
	for _, s := range list {
		b.stmt(s)
	}
}

func (b *symbols) args(a *syntax.Arguments, annotations bool) {
	b.exprs(a.Defaults)
	b.exprs(a.KwDefaults)
	if !annotations {
		return
	}
	for _, x := range allArgs(a) {
		b.expr(x.Annotation)
	}
}

func allArgs(a *syntax.Arguments) (out []*syntax.Arg) {
	out = append(out, a.PosOnly...)
	out = append(out, a.Args...)
	if a.Vararg != nil {
		out = append(out, a.Vararg)
	}
	out = append(out, a.KwOnly...)
	if a.Kwarg != nil {
		out = append(out, a.Kwarg)
	}
	return out
}

func (b *symbols) params(a *syntax.Arguments) {
	add := func(x *syntax.Arg) {
		n := mangle(b.cur.class, x.Name)
		b.cur.params = append(b.cur.params, n)
		b.cur.bind(x.Name)
	}
	for _, l := range [][]*syntax.Arg{a.PosOnly, a.Args, a.KwOnly} {
		for _, x := range l {
			add(x)
		}
	}
	if a.Vararg != nil {
		add(a.Vararg)
	}
	if a.Kwarg != nil {
		add(a.Kwarg)
	}
}

func (b *symbols) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.FunctionDef:
		b.exprs(s.Decorators)
		b.args(s.Args, true)
		b.expr(s.Returns)
		b.cur.bind(s.Name)
		pop := b.push(functionScope, s)
		b.params(s.Args)
		b.stmts(s.Body)
		pop()
	case *syntax.ClassDef:
		b.exprs(s.Decorators)
		b.exprs(s.Bases)
		for _, k := range s.Keywords {
			b.expr(k.Value)
		}
		b.cur.bind(s.Name)
		pop := b.push(classScope, s)
		b.cur.class = s.Name
		b.stmts(s.Body)
		pop()
	case *syntax.Return:
		b.expr(s.Value)
	case *syntax.Delete:
		for _, t := range s.Targets {
			b.target(t)
		}
	case *syntax.Assign:
		b.expr(s.Value)
		for _, t := range s.Targets {
			b.target(t)
		}
	case *syntax.AugAssign:
		b.target(s.Target)
		if n, ok := s.Target.(*syntax.Name); ok {
			b.cur.use(n.Id)
		}
		b.expr(s.Value)
	case *syntax.AnnAssign:
		if _, ok := s.Target.(*syntax.Name); ok && s.Simple {
			b.cur.annots = true
		}
		b.target(s.Target)
		b.expr(s.Annotation)
		b.expr(s.Value)
	case *syntax.For:
		b.target(s.Target)
		b.expr(s.Iter)
		b.stmts(s.Body)
		b.stmts(s.Else)
	case *syntax.While:
		b.expr(s.Test)
		b.stmts(s.Body)
		b.stmts(s.Else)
	case *syntax.If:
		b.expr(s.Test)
		b.stmts(s.Body)
		b.stmts(s.Else)
	case *syntax.With:
		for _, it := range s.Items {
			b.expr(it.Context)
			if it.Vars != nil {
				b.target(it.Vars)
			}
		}
		b.stmts(s.Body)
	case *syntax.Raise:
		b.expr(s.Exc)
		b.expr(s.Cause)
	case *syntax.Try:
		b.stmts(s.Body)
		for _, h := range s.Handlers {
			b.expr(h.Type)
			if h.Name != "" {
				b.cur.bind(h.Name)
			}
			b.stmts(h.Body)
		}
		b.stmts(s.Else)
		b.stmts(s.Final)
	case *syntax.Assert:
		b.expr(s.Test)
		b.expr(s.Msg)
	case *syntax.Import:
		for _, a := range s.Names {
			n := a.AsName
			if n == "" {
				n, _, _ = strings.Cut(a.Name, ".")
			}
			b.cur.bind(n)
		}
	case *syntax.ImportFrom:
		for _, a := range s.Names {
			n := a.AsName
			if n == "" {
				n = a.Name
			}
			if n != "*" {
				b.cur.bind(n)
			}
		}
	case *syntax.Global:
		for _, n := range s.Names {
			b.cur.globals[mangle(b.cur.class, n)] = true
		}
	case *syntax.Nonlocal:
		for _, n := range s.Names {
			b.cur.nonlocal[mangle(b.cur.class, n)] = true
		}
	case *syntax.ExprStmt:
		b.expr(s.Value)
	case *syntax.Match:
		b.expr(s.Subject)
		for _, c := range s.Cases {
			b.pattern(c.Pattern)
			b.expr(c.Guard)
			b.stmts(c.Body)
		}
	}
}

func (b *symbols) pattern(p syntax.Pattern) {
	bind := func(n string) {
		if n != "" {
			b.cur.bind(n)
		}
	}
	each := func(ps []syntax.Pattern) {
		for _, q := range ps {
			b.pattern(q)
		}
	}
	switch p := p.(type) {
	case *syntax.MatchValue:
		b.expr(p.Value)
	case *syntax.MatchSequence:
		each(p.Patterns)
	case *syntax.MatchMapping:
		b.exprs(p.Keys)
		each(p.Patterns)
		bind(p.Rest)
	case *syntax.MatchClass:
		b.expr(p.Cls)
		each(p.Patterns)
		each(p.KwdPatterns)
	case *syntax.MatchStar:
		bind(p.Name)
	case *syntax.MatchAs:
		if p.Pattern != nil {
			b.pattern(p.Pattern)
		}
		bind(p.Name)
	case *syntax.MatchOr:
		each(p.Patterns)
	}
}

func (b *symbols) target(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Name:
		b.cur.bind(e.Id)
	case *syntax.Tuple:
		for _, x := range e.Elts {
			b.target(x)
		}
	case *syntax.List:
		for _, x := range e.Elts {
			b.target(x)
		}
	case *syntax.Starred:
		b.target(e.Value)
	default:
		b.expr(e)
	}
}

func (b *symbols) exprs(es []syntax.Expr) {
	for _, e := range es {
		b.expr(e)
	}
}

func (b *symbols) comp(n syntax.Expr, gens []*syntax.Comprehension, elts ...syntax.Expr) {
	b.expr(gens[0].Iter)
	pop := b.push(compScope, n)
	b.cur.params = []string{".0"}
	b.cur.bind(".0")
	for i, g := range gens {
		b.target(g.Target)
		if i > 0 {
			b.expr(g.Iter)
		}
		b.exprs(g.Ifs)
	}
	b.exprs(elts)
	pop()
}

func (b *symbols) expr(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Name:
		b.cur.use(e.Id)
		if e.Id == "super" && b.cur.function() && b.cur.class != "" {
			b.cur.used["__class__"] = true
		}
	case *syntax.Attribute:
		b.expr(e.Value)
	case *syntax.Subscript:
		b.expr(e.Value)
		b.expr(e.Index)
	case *syntax.SliceExpr:
		b.expr(e.Lower)
		b.expr(e.Upper)
		b.expr(e.Step)
	case *syntax.Call:
		b.expr(e.Func)
		b.exprs(e.Args)
		for _, k := range e.Keywords {
			b.expr(k.Value)
		}
	case *syntax.BinOp:
		b.expr(e.Left)
		b.expr(e.Right)
	case *syntax.UnaryOp:
		b.expr(e.Operand)
	case *syntax.BoolOp:
		b.exprs(e.Values)
	case *syntax.Compare:
		b.expr(e.Left)
		b.exprs(e.Comparators)
	case *syntax.IfExp:
		b.expr(e.Test)
		b.expr(e.Body)
		b.expr(e.Else)
	case *syntax.Lambda:
		b.args(e.Args, false)
		pop := b.push(functionScope, e)
		b.params(e.Args)
		b.expr(e.Body)
		pop()
	case *syntax.NamedExpr:
		b.expr(e.Value)
		// In a comprehension the name belongs to the scope around it.
		s := b.cur
		for s.kind == compScope {
			s = s.parent
		}
		if s != b.cur {
			n := mangle(s.class, e.Target.Id)
			for c := b.cur; c != s; c = c.parent {
				if s.kind == moduleScope || s.globals[n] {
					c.globals[n] = true
				} else {
					c.nonlocal[n] = true
				}
			}
		}
		s.bind(e.Target.Id)
	case *syntax.Tuple:
		b.exprs(e.Elts)
	case *syntax.List:
		b.exprs(e.Elts)
	case *syntax.Set:
		b.exprs(e.Elts)
	case *syntax.Dict:
		b.exprs(e.Keys)
		b.exprs(e.Values)
	case *syntax.ListComp:
		b.comp(e, e.Generators, e.Elt)
	case *syntax.SetComp:
		b.comp(e, e.Generators, e.Elt)
	case *syntax.GeneratorExp:
		b.comp(e, e.Generators, e.Elt)
		b.cur.children[e].gen = true
	case *syntax.DictComp:
		b.comp(e, e.Generators, e.Key, e.Value)
	case *syntax.Starred:
		b.expr(e.Value)
	case *syntax.Yield:
		b.cur.gen = true
		b.expr(e.Value)
	case *syntax.YieldFrom:
		b.cur.gen = true
		b.expr(e.Value)
	case *syntax.JoinedStr:
		b.exprs(e.Values)
	case *syntax.FormattedValue:
		b.expr(e.Value)
		b.expr(e.Spec)
	}
}

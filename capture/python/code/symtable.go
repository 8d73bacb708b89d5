package code

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"whittle/capture/python/syntax"
)

// scopeKind says what kind of block a scope is.
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

// symbol says what a scope does with a name, and, once resolved, where the name lives.
//
// In
//
//	def f(a):
//	    b = a
//	    def g():
//	        return b, c
//
// a is a local of f: a slot of its frame. b is a cell of f and free in g: f makes a cell for it, and the function g is made with that cell,
// which each frame of g has in a slot of its own. c is global: no function around g binds it. A function between two others that has no use for
// a name hands the cell on, so the name is free there, too. A class between them does so without seeing what it binds itself
// (freeInClass).
type symbol uint16

const (
	defGlobal symbol = 1 << iota // a global statement
	defNonlocal
	defParam
	defLocal // assigned to
	defImport
	defAnnot    // annotated
	defCompIter // bound by the for of a comprehension
	used
	isLocal // where it lives: one of these four, after resolve
	isCell
	isFree
	isGlobal
	freeInClass // a class binds the name and hands the outer one of that name on to its functions
	defBound    = defLocal | defParam | defImport
)

// scope is one block of the symbol table.
type scope struct {
	kind      scopeKind
	comp      string // what texts call a comprehension
	parent    *scope
	children  map[syntax.Node]*scope // by the statement or expression that they are of
	order     []*scope               // the children as they come
	params    []string
	symbols   map[string]symbol      // by mangled name
	names     []string               // keys of symbols in order of appearance
	declared  map[string]syntax.Span // where names were declared global or nonlocal
	gen       bool                   // a generator function
	coroutine bool                   // an async function, or a comprehension that awaits
	class     string                 // innermost class, for private names
	annots    bool                   // has variable annotations
	classCell bool                   // a class whose functions want __class__

	target bool // the target of a for clause is being read
	iters  int  // what a comprehension walks over is being read: how deep
}

// newScope makes a scope inside another. A comprehension's iterables may stand inside those of another.
func newScope(kind scopeKind, parent *scope) *scope {
	s := &scope{kind: kind, parent: parent, children: map[syntax.Node]*scope{}, symbols: map[string]symbol{}, declared: map[string]syntax.Span{}}
	if parent != nil {
		s.class = parent.class
		s.iters = parent.iters
		parent.order = append(parent.order, s)
	}
	return s
}

func (s *scope) function() bool { return s.kind == functionScope || s.kind == compScope }

// of gives what the scope knows of a name.
func (s *scope) of(n string) symbol { return s.symbols[Mangle(s.class, n)] }

// Mangle makes a private name of a class its own.
func Mangle(class, n string) string {
	if class == "" || !strings.HasPrefix(n, "__") || strings.HasSuffix(n, "__") || strings.Contains(n, ".") {
		return n
	}
	class = strings.TrimLeft(class, "_")
	if class == "" {
		return n
	}
	return "_" + class + n
}

// symbols builds the scopes of a file. It fails by panicking with a *syntax.Error.
type symbols struct {
	f         *syntax.File
	root, cur *scope
}

func (b *symbols) fail(sp syntax.Span, format string, args ...any) {
	panic(b.f.ErrorAt(sp, format, args...))
}

// buildSymbols reads a file: first what each scope does with each name, in the order of the source, then, from the module down, where each
// name lives.
func buildSymbols(f *syntax.File, body []syntax.Stmt) *scope {
	root := newScope(moduleScope, nil)
	b := &symbols{f, root, root}
	b.stmts(body)
	b.resolve(root, nil, map[string]bool{}, map[string]bool{})
	return root
}

// resolve says where each name of a scope lives. bound holds the names that functions around the scope bind (nil at the
// top: there nothing can be nonlocal), global those that are declared global around it; free receives what the scope and those
// within want from outside. bound and global are the scope's own to change.
func (b *symbols) resolve(s *scope, bound, free, global map[string]bool) {
	local := map[string]bool{}
	inBound, inGlobal, inFree := map[string]bool{}, map[string]bool{}, map[string]bool{}
	if s.kind == classScope { // what a class binds is not seen from its functions
		maps.Copy(inGlobal, global)
		maps.Copy(inBound, bound)
	}
	for _, n := range s.names {
		d := s.symbols[n]
		switch {
		case d&defGlobal != 0:
			if d&defNonlocal != 0 {
				b.fail(s.declared[n], "name '%s' is nonlocal and global", n)
			}
			s.symbols[n] |= isGlobal
			global[n] = true
			delete(bound, n)
		case d&defNonlocal != 0:
			if bound == nil {
				b.fail(s.declared[n], "nonlocal declaration not allowed at module level")
			}
			if !bound[n] {
				b.fail(s.declared[n], "no binding for nonlocal '%s' found", n)
			}
			s.symbols[n] |= isFree
			free[n] = true
		case d&defBound != 0:
			s.symbols[n] |= isLocal
			local[n] = true
			delete(global, n)
		case bound[n]:
			s.symbols[n] |= isFree
			free[n] = true
		default:
			s.symbols[n] |= isGlobal
		}
	}
	if s.kind == classScope {
		inBound["__class__"] = true
	} else {
		if s.function() {
			maps.Copy(inBound, local)
		}
		maps.Copy(inBound, bound)
		maps.Copy(inGlobal, global)
	}
	for _, c := range s.order {
		up := map[string]bool{}
		b.resolve(c, maps.Clone(inBound), up, maps.Clone(inGlobal))
		maps.Copy(inFree, up)
	}
	switch {
	case s.function():
		for n, d := range s.symbols {
			if d&isLocal != 0 && inFree[n] {
				s.symbols[n] = d&^isLocal | isCell
				delete(inFree, n)
			}
		}
	case s.kind == classScope && inFree["__class__"]:
		s.classCell = true
		delete(inFree, "__class__")
	}
	for n := range inFree {
		d, ok := s.symbols[n]
		switch {
		case ok:
			if s.kind == classScope && d&(defBound|defGlobal) != 0 {
				s.symbols[n] |= freeInClass
			}
		case bound != nil && bound[n]:
			s.symbols[n] = isFree
		}
	}
	maps.Copy(free, inFree)
}

// access says how code of the scope reaches a name.
func (s *scope) access(n string) access {
	d := s.symbols[n]
	switch {
	case d&isFree != 0:
		return accFree
	case d&isCell != 0:
		return accCell
	case d&isLocal != 0 && s.function():
		return accFast
	case d&isGlobal != 0 && (s.function() || d&defGlobal != 0):
		return accGlobal
	}
	return accName
}

// cells and free are the names of a code object's cells of its own and from outside, sorted.
func (s *scope) cells() (out []string) {
	if s.classCell {
		out = append(out, "__class__")
	}
	cells := s.with(isCell)
	for _, p := range s.params {
		if slices.Contains(cells, p) {
			out = append(out, p)
		}
	}
	for _, n := range cells {
		if !slices.Contains(s.params, n) {
			out = append(out, n)
		}
	}
	return out
}

func (s *scope) free() []string { return s.with(isFree | freeInClass) }

// with gives the names of which any of these is so, sorted.
func (s *scope) with(mask symbol) (out []string) {
	for n, d := range s.symbols {
		if d&mask != 0 {
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return out
}

// varNames are the parameters and then the other locals that are no cells.
func (s *scope) varNames() []string {
	out := slices.Clone(s.params)
	for _, n := range s.names {
		if s.symbols[n]&(isLocal|defParam) == isLocal {
			out = append(out, n)
		}
	}
	return out
}

// add notes what the scope that is being read does with a name.
func (b *symbols) add(n string, d symbol, sp syntax.Span) { b.addTo(b.cur, n, d, sp) }

// addTo notes what scope s, perhaps one around the current one, does with a name. Names are mangled by the class that the code stands in.
func (b *symbols) addTo(s *scope, name string, d symbol, sp syntax.Span) {
	n := Mangle(b.cur.class, name)
	old, ok := s.symbols[n]
	if d&old&defParam != 0 {
		b.fail(sp, "duplicate argument '%s' in function definition", name)
	}
	if !ok {
		s.names = append(s.names, n)
	}
	all := old | d
	if s.target {
		if all&(defGlobal|defNonlocal) != 0 {
			b.fail(sp, "comprehension inner loop cannot rebind assignment expression target '%s'", name)
		}
		all |= defCompIter
	}
	s.symbols[n] = all
	switch {
	case d&defParam != 0:
		s.params = append(s.params, n)
	case d&defGlobal != 0: // the module knows all names that are declared global somewhere
		if b.root.symbols[n] == 0 {
			b.root.names = append(b.root.names, n)
		}
		b.root.symbols[n] |= defGlobal
	}
}

// push begins the scope of n; the function that it returns ends it.
func (b *symbols) push(kind scopeKind, n syntax.Node) func() {
	s := newScope(kind, b.cur)
	b.cur.children[n] = s
	b.cur = s
	return func() { b.cur = s.parent }
}

// declare is a global or nonlocal statement.
func (b *symbols) declare(sp syntax.Span, names []string, d symbol, how string) {
	for _, n := range names {
		switch old := b.cur.of(n); {
		case old&defParam != 0:
			b.fail(sp, "name '%s' is parameter and %s", n, how)
		case old&used != 0:
			b.fail(sp, "name '%s' is used prior to %s declaration", n, how)
		case old&defAnnot != 0:
			b.fail(sp, "annotated name '%s' can't be %s", n, how)
		case old&defLocal != 0:
			b.fail(sp, "name '%s' is assigned to before %s declaration", n, how)
		}
		b.add(n, d, sp)
		b.directive(n, sp)
	}
}

// directive notes where a name was first declared, for errors that only resolve finds.
func (b *symbols) directive(n string, sp syntax.Span) {
	n = Mangle(b.cur.class, n)
	if _, ok := b.cur.declared[n]; !ok {
		b.cur.declared[n] = sp
	}
}

func (b *symbols) stmts(list []syntax.Stmt) {
	for _, s := range list {
		b.stmt(s)
	}
}

// args reads what is evaluated when a function is made: defaults and annotations.
func (b *symbols) args(a *syntax.Arguments, annotations bool) {
	b.exprs(a.Defaults)
	b.exprs(a.KwDefaults)
	if !annotations {
		return
	}
	for _, l := range [][]*syntax.Arg{a.PosOnly, a.Args, {a.Vararg, a.Kwarg}, a.KwOnly} {
		for _, x := range l {
			if x != nil {
				b.annotation(x.Annotation)
			}
		}
	}
}

// annotation reads an annotation; one that stays text has a scope of its own, which nothing comes out of.
func (b *symbols) annotation(e syntax.Expr) {
	if e == nil {
		return
	}
	if b.f.Future["annotations"] {
		out := b.cur
		b.cur = &scope{kind: functionScope, children: map[syntax.Node]*scope{}, symbols: map[string]symbol{}, declared: map[string]syntax.Span{}, class: out.class}
		defer func() { b.cur = out }()
	}
	b.expr(e)
}

// allArgs gives the parameters in the order of the source.
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

// params declares a function's parameters, in the order of its slots.
func (b *symbols) params(a *syntax.Arguments) {
	for _, l := range [][]*syntax.Arg{a.PosOnly, a.Args, a.KwOnly, {a.Vararg, a.Kwarg}} {
		for _, x := range l {
			if x != nil {
				b.add(x.Name, defParam, x.Span)
			}
		}
	}
}

// stmt reads a statement: a switch over their kinds.
func (b *symbols) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.FunctionDef:
		b.funcDef(s)
	case *syntax.ClassDef:
		b.classDef(s)
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
		b.expr(s.Value)
	case *syntax.AnnAssign:
		b.annAssign(s)
	case *syntax.For:
		b.expr(s.Iter)
		b.target(s.Target)
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
		b.try(s)
	case *syntax.Assert:
		b.expr(s.Test)
		b.expr(s.Msg)
	case *syntax.Import:
		b.importStmt(s)
	case *syntax.ImportFrom:
		b.importFrom(s)
	case *syntax.Global:
		b.declare(s.Span, s.Names, defGlobal, "global")
	case *syntax.Nonlocal:
		b.declare(s.Span, s.Names, defNonlocal, "nonlocal")
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

// funcDef notes the function's name and what is evaluated around it in the scope around, and its body in one of its own.
func (b *symbols) funcDef(s *syntax.FunctionDef) {
	b.add(s.Name, defLocal, s.Span)
	b.args(s.Args, true)
	b.annotation(s.Returns)
	b.exprs(s.Decorators)
	pop := b.push(functionScope, s)
	b.cur.coroutine = s.Async
	b.params(s.Args)
	b.stmts(s.Body)
	pop()
}

// classDef notes the class's name and what is evaluated around it, and its body, whose private names are mangled by the class's name.
func (b *symbols) classDef(s *syntax.ClassDef) {
	b.add(s.Name, defLocal, s.Span)
	b.exprs(s.Bases)
	for _, k := range s.Keywords {
		b.expr(k.Value)
	}
	b.exprs(s.Decorators)
	pop := b.push(classScope, s)
	b.cur.class = s.Name
	b.stmts(s.Body)
	pop()
}

// try reads the else clause before the handlers, as CPython does: of two mistakes it is the first in this order that is reported.
func (b *symbols) try(s *syntax.Try) {
	b.stmts(s.Body)
	b.stmts(s.Else)
	for _, h := range s.Handlers {
		b.expr(h.Type)
		if h.Name != "" {
			b.add(h.Name, defLocal, h.Span)
		}
		b.stmts(h.Body)
	}
	b.stmts(s.Final)
}

// importStmt binds what is written behind as, else the top package.
func (b *symbols) importStmt(s *syntax.Import) {
	for _, a := range s.Names {
		n := a.AsName
		if n == "" {
			n, _, _ = strings.Cut(a.Name, ".")
		}
		b.add(n, defImport, a.Span)
	}
}

// importFrom binds the names, of which a star has none.
func (b *symbols) importFrom(s *syntax.ImportFrom) {
	for _, a := range s.Names {
		n := a.AsName
		if n == "" {
			n = a.Name
		}
		if n != "*" {
			b.add(n, defImport, a.Span)
		} else if b.cur.kind != moduleScope {
			b.fail(a.Span, "import * only allowed at module level")
		}
	}
}

// annAssign binds a plain name even without a value: it is local for that.
func (b *symbols) annAssign(s *syntax.AnnAssign) {
	n, ok := s.Target.(*syntax.Name)
	if !ok {
		b.expr(s.Target)
		b.annotation(s.Annotation)
		b.expr(s.Value)
		return
	}
	if s.Simple {
		b.cur.annots = true
		if d := b.cur.of(n.Id); d&(defGlobal|defNonlocal) != 0 && b.cur.kind != moduleScope {
			how := "nonlocal"
			if d&defGlobal != 0 {
				how = "global"
			}
			b.fail(s.Span, "annotated name '%s' can't be %s", n.Id, how)
		}
		b.add(n.Id, defAnnot|defLocal, n.Span)
	} else if s.Value != nil {
		b.add(n.Id, defLocal, n.Span)
	}
	b.annotation(s.Annotation)
	b.expr(s.Value)
}

// pattern binds what a pattern captures.
func (b *symbols) pattern(p syntax.Pattern) {
	bind := func(n string) {
		if n != "" {
			b.add(n, defLocal, p.Pos())
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

// target binds the names in what is assigned to.
func (b *symbols) target(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Name:
		b.add(e.Id, defLocal, e.Span)
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

// comp reads a comprehension. Its outermost iterable belongs to the scope around it; the rest has a scope with one parameter, .0.
func (b *symbols) comp(n syntax.Expr, what string, gens []*syntax.Comprehension, elts ...syntax.Expr) {
	iter := func(e syntax.Expr) {
		b.cur.iters++
		b.expr(e)
		b.cur.iters--
	}
	iter(gens[0].Iter)
	pop := b.push(compScope, n)
	b.cur.comp = what
	b.cur.coroutine = gens[0].Async
	b.add(".0", defParam, n.Pos())
	for i, g := range gens {
		b.cur.coroutine = b.cur.coroutine || g.Async
		b.cur.target = true
		b.target(g.Target)
		b.cur.target = false
		if i > 0 {
			iter(g.Iter)
		}
		b.exprs(g.Ifs)
	}
	b.exprs(elts)
	async := b.cur.coroutine
	pop()
	if _, lazy := n.(*syntax.GeneratorExp); async && !lazy { // its value is awaited
		b.cur.coroutine = true
	}
}

// named binds the target of an assignment expression: in a comprehension it belongs to the scope around it.
func (b *symbols) named(e *syntax.NamedExpr) {
	if b.cur.iters > 0 {
		b.fail(e.Span, "assignment expression cannot be used in a comprehension iterable expression")
	}
	n, sp := e.Target.Id, e.Target.Span
	if b.cur.kind == compScope {
		s := b.cur
		for ; s.kind == compScope; s = s.parent {
			if s.of(n)&defCompIter != 0 {
				b.fail(sp, "assignment expression cannot rebind comprehension iteration variable '%s'", n)
			}
		}
		switch {
		case s.kind == classScope:
			b.fail(sp, "assignment expression within a comprehension cannot be used in a class body")
		case s.kind == moduleScope:
			b.add(n, defGlobal, sp)
			b.directive(n, sp)
			b.addTo(s, n, defGlobal, sp)
		default:
			d := defNonlocal
			if s.of(n)&defGlobal != 0 {
				d = defGlobal
			}
			b.add(n, d, sp)
			b.directive(n, sp)
			b.addTo(s, n, defLocal, sp)
		}
	}
	b.expr(e.Value)
	b.add(n, defLocal, sp)
}

// yield makes the function a generator function.
func (b *symbols) yield(sp syntax.Span, value syntax.Expr) {
	b.expr(value)
	b.cur.gen = true
	if b.cur.kind == compScope {
		b.fail(sp, "'yield' inside %s", b.cur.comp)
	}
}

// expr reads an expression: a switch over their kinds. super() in a function uses __class__.
func (b *symbols) expr(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Name:
		b.add(e.Id, used, e.Span)
		if e.Id == "super" && b.cur.function() {
			b.add("__class__", used, e.Span)
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
		b.named(e)
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
		b.comp(e, "list comprehension", e.Generators, e.Elt)
	case *syntax.SetComp:
		b.comp(e, "set comprehension", e.Generators, e.Elt)
	case *syntax.GeneratorExp:
		b.comp(e, "generator expression", e.Generators, e.Elt)
		b.cur.children[e].gen = true
	case *syntax.DictComp:
		b.comp(e, "dict comprehension", e.Generators, e.Value, e.Key)
	case *syntax.Starred:
		b.expr(e.Value)
	case *syntax.Yield:
		b.yield(e.Span, e.Value)
	case *syntax.YieldFrom:
		b.yield(e.Span, e.Value)
	case *syntax.Await:
		b.expr(e.Value)
		b.cur.coroutine = true
	case *syntax.JoinedStr:
		b.exprs(e.Values)
	case *syntax.FormattedValue:
		b.expr(e.Value)
		b.expr(e.Spec)
	}
}

package syntax

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is a Python SyntaxError (or one of its subclasses, named by Kind).
type Error struct {
	Kind      string // "SyntaxError", "IndentationError", "TabError"
	Msg       string
	Filename  string
	Line      int // from 1
	Offset    int // from 1, in characters
	EndLine   int
	EndOffset int
	Text      string // the source line, with its newline
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (%s, line %d)", e.Kind, e.Msg, e.Filename, e.Line)
}

// parser converts one concrete tree.
type parser struct {
	src      string
	filename string
	lines    []int // start offset of each line
	// An f-string's expression is parsed as a file of its own; shift moves its positions.
	lineShift, colShift int32
	fstring             bool
	// Set when brackets were added to the source; see wrapStars.
	orig     *parser
	inserted []int
}

func newParser(filename, src string) *parser {
	p := &parser{src: src, filename: filename}
	p.lines = append(p.lines, 0)
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	return p
}

func (p *parser) lineText(line int) string {
	if p.orig != nil {
		return p.orig.lineText(line)
	}
	if line < 1 || line > len(p.lines) {
		return ""
	}
	s := p.src[p.lines[line-1]:]
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i+1]
	}
	return s
}

// charCol turns a byte column into a character column.
func charCol(line string, col int) int {
	if col > len(line) {
		col = len(line)
	}
	if col < 0 {
		col = 0
	}
	return utf8.RuneCountInString(line[:col])
}

func (p *parser) errAt(kind string, sp Span, format string, args ...any) *Error {
	text := p.lineText(int(sp.Line))
	end := p.lineText(int(sp.EndLine))
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...), Filename: p.filename,
		Line: int(sp.Line), Offset: charCol(text, int(sp.Col)) + 1,
		EndLine: int(sp.EndLine), EndOffset: charCol(end, int(sp.EndCol)) + 1, Text: text}
}

// fail ends the parse; Parse recovers the *Error.
func (p *parser) fail(sp Span, format string, args ...any) {
	panic(p.errAt("SyntaxError", sp, format, args...))
}

func (p *parser) bad(c *cst) { p.fail(c.span, "invalid syntax") }

// Parse parses a module. The error is always an *Error.
func Parse(filename, src string) (f *File, err error) {
	src = normalise(src)
	p := newParser(filename, src)
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				e = p.errAt("SyntaxError", Span{1, 0, 1, 0}, "internal error while parsing: %v", r)
			}
			f, err = nil, e
		}
	}()
	if i := strings.IndexByte(src, 0); i >= 0 {
		return nil, p.errAt("SyntaxError", Span{1, 0, 1, 0}, "source code string cannot contain null bytes")
	}
	if !utf8.ValidString(src) {
		return nil, p.errAt("SyntaxError", Span{1, 0, 1, 0}, "(unicode error) 'utf-8' codec can't decode bytes: invalid utf-8")
	}
	toks, lexErr := scan(p)
	if lexErr != nil {
		return nil, lexErr
	}
	root := parseTree(src)
	if root == nil {
		return nil, p.errAt("SyntaxError", Span{1, 0, 1, 0}, "invalid syntax")
	}
	if root.err || root.kind == "ERROR" {
		fixed := false
		if text, at := wrapStars(p, toks); at != nil {
			if again := parseTree(text); again != nil && !again.err && again.kind != "ERROR" {
				q := newParser(filename, text)
				q.orig, q.inserted = p, at
				root, p, fixed = again, q, true
			}
		}
		if !fixed {
			panic(p.diagnose(root, toks))
		}
	}
	f = &File{Filename: filename, Source: src, Future: map[string]bool{}}
	f.Body = p.stmts(root.kids)
	c := &checker{p: p, f: f}
	c.file()
	return f, nil
}

// ParseExpr parses one expression, as eval() does.
func ParseExpr(filename, src string) (Expr, *File, error) {
	src = strings.TrimLeft(normalise(src), " \t")
	f, err := Parse(filename, src)
	if err != nil {
		return nil, nil, err
	}
	p := newParser(filename, src)
	if len(f.Body) != 1 {
		return nil, nil, p.errAt("SyntaxError", Span{1, 0, 1, 0}, "invalid syntax")
	}
	e, ok := f.Body[0].(*ExprStmt)
	if !ok {
		return nil, nil, p.errAt("SyntaxError", f.Body[0].Pos(), "invalid syntax")
	}
	return e.Value, f, nil
}

// normalise gives every line a plain newline, the last one too, and drops a byte order mark.
func normalise(src string) string {
	src = strings.TrimPrefix(src, "\ufeff")
	if strings.IndexByte(src, '\r') >= 0 {
		src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	}
	if src != "" && !strings.HasSuffix(src, "\n") {
		src += "\n"
	}
	return src
}

func (p *parser) text(c *cst) string { return p.src[c.start:c.end] }

func (p *parser) sp(c *cst) Span {
	s := c.span
	if p.orig != nil {
		s = p.unwrapped(s)
	}
	if p.fstring {
		if s.Line == 1 {
			s.Col += p.colShift
		}
		if s.EndLine == 1 {
			s.EndCol += p.colShift
		}
		s.Line += p.lineShift
		s.EndLine += p.lineShift
	}
	return s
}

func (c *cst) get(field string) *cst {
	for _, k := range c.kids {
		if k.field == field {
			return k
		}
	}
	return nil
}

func (c *cst) all(field string) (out []*cst) {
	for _, k := range c.kids {
		if k.field == field {
			out = append(out, k)
		}
	}
	return out
}

func (c *cst) namedKids() (out []*cst) {
	for _, k := range c.kids {
		if k.named {
			out = append(out, k)
		}
	}
	return out
}

func (c *cst) has(kind string) bool { return c.child(kind) != nil }

func (c *cst) child(kind string) *cst {
	for _, k := range c.kids {
		if k.kind == kind {
			return k
		}
	}
	return nil
}

func (p *parser) block(c *cst) []Stmt {
	if c == nil {
		return nil
	}
	return p.stmts(c.kids)
}

func (p *parser) stmts(kids []*cst) []Stmt {
	var out []Stmt
	for _, k := range kids {
		if k.named {
			out = append(out, p.stmt(k))
		}
	}
	return out
}

func (p *parser) stmt(c *cst) Stmt {
	b := stmtNode{p.sp(c)}
	switch c.kind {
	case "expression_statement":
		return p.exprStmt(c)
	case "pass_statement":
		return &Pass{b}
	case "break_statement":
		return &Break{b}
	case "continue_statement":
		return &Continue{b}
	case "return_statement":
		r := &Return{stmtNode: b}
		if ks := c.namedKids(); len(ks) > 0 {
			r.Value = p.expr(ks[0])
		}
		return r
	case "delete_statement":
		d := &Delete{stmtNode: b}
		t := c.namedKids()[0]
		if t.kind == "expression_list" {
			for _, k := range t.namedKids() {
				d.Targets = append(d.Targets, p.expr(k))
			}
		} else {
			d.Targets = []Expr{p.expr(t)}
		}
		for _, t := range d.Targets {
			p.checkTarget(t, "delete")
		}
		return d
	case "raise_statement":
		r := &Raise{stmtNode: b}
		for _, k := range c.namedKids() {
			if k.field == "cause" {
				r.Cause = p.expr(k)
			} else {
				r.Exc = p.expr(k)
			}
		}
		if t, ok := r.Exc.(*Tuple); ok && !p.parenthesised(t) {
			p.fail(t.Span, "invalid syntax")
		}
		return r
	case "assert_statement":
		ks := c.namedKids()
		a := &Assert{stmtNode: b, Test: p.expr(ks[0])}
		if len(ks) > 1 {
			a.Msg = p.expr(ks[1])
		}
		if len(ks) > 2 {
			p.bad(ks[2])
		}
		return a
	case "global_statement", "nonlocal_statement":
		var names []string
		for _, k := range c.namedKids() {
			names = append(names, p.text(k))
		}
		if c.kind == "global_statement" {
			return &Global{b, names}
		}
		return &Nonlocal{b, names}
	case "import_statement":
		return &Import{b, p.aliases(c)}
	case "import_from_statement", "future_import_statement":
		return p.importFrom(c)
	case "if_statement":
		s := &If{stmtNode: b, Test: p.expr(c.get("condition")), Body: p.block(c.get("consequence"))}
		cur := s
		for _, a := range c.all("alternative") {
			if a.kind == "elif_clause" {
				n := &If{stmtNode: stmtNode{p.sp(a)}, Test: p.expr(a.get("condition")), Body: p.block(a.get("consequence"))}
				cur.Else = []Stmt{n}
				cur = n
			} else {
				cur.Else = p.block(a.get("body"))
			}
		}
		return s
	case "while_statement":
		s := &While{stmtNode: b, Test: p.expr(c.get("condition")), Body: p.block(c.get("body"))}
		if a := c.get("alternative"); a != nil {
			s.Else = p.block(a.get("body"))
		}
		return s
	case "for_statement":
		p.noAsync(c)
		s := &For{stmtNode: b, Target: p.target(c.get("left")), Iter: p.expr(c.get("right")), Body: p.block(c.get("body"))}
		if a := c.get("alternative"); a != nil {
			s.Else = p.block(a.get("body"))
		}
		return s
	case "try_statement":
		return p.try(c, b)
	case "with_statement":
		return p.with(c, b)
	case "function_definition":
		return p.funcDef(c, nil)
	case "class_definition":
		return p.classDef(c, nil)
	case "decorated_definition":
		var decs []Expr
		for _, k := range c.kids {
			if k.kind == "decorator" {
				decs = append(decs, p.expr(k.namedKids()[0]))
			}
		}
		d := c.get("definition")
		if d == nil {
			p.bad(c)
		}
		if d.kind == "class_definition" {
			return p.classDef(d, decs)
		}
		return p.funcDef(d, decs)
	case "match_statement":
		return p.match(c, b)
	case "print_statement":
		return p.printStmt(c, b)
	case "exec_statement":
		p.fail(p.sp(c), "Missing parentheses in call to 'exec'. Did you mean exec(...)?")
	case "type_alias_statement":
		p.bad(c)
	}
	p.bad(c)
	return nil
}

func (p *parser) noAsync(c *cst) {
	if len(c.kids) > 0 && c.kids[0].kind == "async" {
		p.fail(p.sp(c.kids[0]), "async code is not supported")
	}
}

// printStmt sees what the grammar takes for Python 2's print: `print >> x` is an expression, the rest an error.
func (p *parser) printStmt(c *cst, b stmtNode) Stmt {
	if ch := c.child("chevron"); ch != nil {
		right := p.expr(ch.namedKids()[0])
		e := Expr(&BinOp{exprNode{p.sp(c)}, &Name{exprNode{p.sp(c.kids[0])}, "print"}, ">>", right})
		args := c.all("argument")
		if len(args) > 0 {
			elts := []Expr{e}
			for _, a := range args {
				elts = append(elts, p.expr(a))
			}
			e = &Tuple{exprNode{p.sp(c)}, elts}
		}
		return &ExprStmt{b, e}
	}
	p.fail(p.sp(c), "Missing parentheses in call to 'print'. Did you mean print(...)?")
	return nil
}

func (p *parser) dotted(c *cst) string {
	var parts []string
	for _, k := range c.namedKids() {
		parts = append(parts, p.text(k))
	}
	return strings.Join(parts, ".")
}

func (p *parser) aliases(c *cst) (out []*Alias) {
	for _, k := range c.all("name") {
		a := &Alias{Span: p.sp(k)}
		if k.kind == "aliased_import" {
			a.Name, a.AsName = p.dotted(k.get("name")), p.text(k.get("alias"))
		} else {
			a.Name = p.dotted(k)
		}
		out = append(out, a)
	}
	return out
}

func (p *parser) importFrom(c *cst) Stmt {
	s := &ImportFrom{stmtNode: stmtNode{p.sp(c)}}
	if c.kind == "future_import_statement" {
		s.Module = "__future__"
	} else if m := c.get("module_name"); m.kind == "relative_import" {
		s.Level = strings.Count(p.text(m.kids[0]), ".")
		if d := m.child("dotted_name"); d != nil {
			s.Module = p.dotted(d)
		}
	} else {
		s.Module = p.dotted(m)
	}
	if w := c.child("wildcard_import"); w != nil {
		s.Names = []*Alias{{Span: p.sp(w), Name: "*"}}
		return s
	}
	s.Names = p.aliases(c)
	if len(c.kids) > 0 && c.kids[len(c.kids)-1].kind == "," {
		p.fail(p.sp(c.kids[len(c.kids)-1]), "trailing comma not allowed without surrounding parentheses")
	}
	return s
}

func (p *parser) try(c *cst, b stmtNode) Stmt {
	s := &Try{stmtNode: b, Body: p.block(c.get("body"))}
	for _, k := range c.kids {
		switch k.kind {
		case "except_clause", "except_group_clause":
			star := k.kind == "except_group_clause"
			if len(s.Handlers) > 0 && star != s.Star {
				p.fail(p.sp(k), "cannot have both 'except' and 'except*' on the same 'try'")
			}
			s.Star = star
			if n := len(s.Handlers); n > 0 && s.Handlers[n-1].Type == nil {
				p.fail(s.Handlers[n-1].Span, "default 'except:' must be last")
			}
			h := &ExceptHandler{Span: p.sp(k)}
			ks := k.namedKids()
			for i, e := range ks {
				switch {
				case e.kind == "block":
					h.Body = p.block(e)
				case i == 0 && e.kind == "as_pattern":
					h.Type = p.expr(e.kids[0])
					t := e.get("alias")
					if t == nil {
						p.bad(e)
					}
					h.Name = p.text(t)
				case i == 0:
					h.Type = p.expr(e)
					if _, ok := h.Type.(*Tuple); ok && e.kind == "expression_list" {
						p.fail(p.sp(e), "multiple exception types must be parenthesized")
					}
				default:
					if len(ks) > 2 {
						p.fail(h.Type.Pos(), "multiple exception types must be parenthesized")
					}
					p.bad(e)
				}
			}
			if star && h.Type == nil {
				p.fail(p.sp(k), "expected one or more exception types")
			}
			s.Handlers = append(s.Handlers, h)
		case "else_clause":
			s.Else = p.block(k.get("body"))
		case "finally_clause":
			s.Final = p.block(k.child("block"))
		}
	}
	return s
}

func (p *parser) with(c *cst, b stmtNode) Stmt {
	p.noAsync(c)
	s := &With{stmtNode: b, Body: p.block(c.get("body"))}
	cl := c.child("with_clause")
	for _, k := range cl.kids {
		if k.kind != "with_item" {
			continue
		}
		v := k.get("value")
		switch {
		case v.kind == "as_pattern":
			s.Items = append(s.Items, &WithItem{p.expr(v.kids[0]), p.asTarget(v)})
		case v.kind == "tuple" && len(cl.kids) == 1 && p.anyAs(v):
			// The grammar takes `with (a as b, c as d):` for a tuple at times.
			for _, e := range v.namedKids() {
				if e.kind == "as_pattern" {
					s.Items = append(s.Items, &WithItem{p.expr(e.kids[0]), p.asTarget(e)})
				} else {
					s.Items = append(s.Items, &WithItem{Context: p.expr(e)})
				}
			}
		case v.kind == "parenthesized_expression" && p.anyAs(v):
			e := v.child("as_pattern")
			s.Items = append(s.Items, &WithItem{p.expr(e.kids[0]), p.asTarget(e)})
		default:
			s.Items = append(s.Items, &WithItem{Context: p.expr(v)})
		}
	}
	return s
}

func (p *parser) anyAs(c *cst) bool { return c.child("as_pattern") != nil }

func (p *parser) asTarget(c *cst) Expr {
	a := c.get("alias")
	if a == nil || len(a.kids) == 0 {
		p.bad(c)
	}
	return p.target(a.kids[0])
}

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

func (p *parser) exprStmt(c *cst) Stmt {
	b := stmtNode{p.sp(c)}
	if len(c.kids) == 0 {
		p.bad(c)
	}
	if len(c.kids) > 1 {
		elts := p.exprs(c.kids)
		return &ExprStmt{b, &Tuple{exprNode{p.sp(c)}, elts}}
	}
	k := c.kids[0]
	switch k.kind {
	case "assignment":
		return p.assign(k)
	case "augmented_assignment":
		t := k.get("left")
		s := &AugAssign{stmtNode: b, Target: p.exprTarget(t)}
		switch x := s.Target.(type) {
		case *Name, *Attribute, *Subscript:
		default:
			p.fail(x.Pos(), "'%s' is an illegal expression for augmented assignment", exprName(x))
		}
		p.checkTarget(s.Target, "assign")
		op := p.text(k.get("operator"))
		s.Op = op[:len(op)-1]
		s.Value = p.expr(k.get("right"))
		return s
	}
	e := p.expr(k)
	if n, ok := e.(*NamedExpr); ok && k.kind == "named_expression" {
		p.fail(n.Target.Span, "invalid syntax")
	}
	return &ExprStmt{b, e}
}

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
		p.checkTarget(s.Target, "assign")
		s.Annotation = p.expr(t)
		if r := c.get("right"); r != nil {
			if r.kind == "assignment" || r.kind == "augmented_assignment" {
				p.bad(r)
			}
			s.Value = p.expr(r)
		}
		return s
	}
	s := &Assign{stmtNode: b}
	for {
		l := c.get("left")
		t := p.target(l)
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
		s.Value = p.expr(r)
		return s
	}
}

// exprTarget reads an assignment target without judging it.
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
		out = append(out, p.exprTarget(k))
	}
	return out
}

// target reads an assignment target and refuses what cannot be one.
func (p *parser) target(c *cst) Expr {
	t := p.exprTarget(c)
	if _, ok := t.(*Starred); ok {
		p.fail(t.Pos(), "starred assignment target must be in a list or tuple")
	}
	p.checkTarget(t, "assign")
	return t
}

// checkTarget refuses literals, calls and the like as targets; verb is "assign" or "delete".
func (p *parser) checkTarget(t Expr, verb string) {
	prep := map[string]string{"assign": "assign to", "delete": "delete"}[verb]
	switch x := t.(type) {
	case *Name:
		if x.Id == "__debug__" {
			p.fail(x.Span, "cannot %s __debug__", prep)
		}
	case *Attribute, *Subscript:
	case *Tuple:
		p.checkTargets(x.Elts, verb)
	case *List:
		p.checkTargets(x.Elts, verb)
	case *Starred:
		if verb == "delete" {
			p.fail(x.Span, "cannot delete starred")
		}
		p.checkTarget(x.Value, verb)
	default:
		hint := ""
		if verb == "assign" {
			switch x.(type) {
			case *Constant:
				if exprName(x) == "literal" || exprName(x) == "ellipsis" {
					hint = " here. Maybe you meant '==' instead of '='?"
				}
			case *Call, *BinOp, *UnaryOp, *BoolOp, *IfExp, *JoinedStr, *ListComp, *DictComp, *SetComp, *GeneratorExp, *Dict, *Set, *Compare, *Lambda:
				hint = " here. Maybe you meant '==' instead of '='?"
			}
		}
		p.fail(x.Pos(), "cannot %s %s%s", prep, exprName(x), hint)
	}
}

func (p *parser) checkTargets(es []Expr, verb string) {
	stars := 0
	for _, e := range es {
		if _, ok := e.(*Starred); ok {
			stars++
		}
		if stars > 1 {
			p.fail(e.Pos(), "multiple starred expressions in assignment")
		}
		if c, ok := e.(*Constant); ok && verb == "assign" {
			p.fail(c.Span, "cannot assign to %s", exprName(c))
		}
		if c, ok := e.(*Call); ok && verb == "assign" {
			p.fail(c.Span, "cannot assign to function call")
		}
		p.checkTarget(e, verb)
	}
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

func (p *parser) number(c *cst) any {
	raw := p.text(c)
	s := strings.ToLower(raw)
	if strings.HasSuffix(s, "l") {
		p.fail(p.sp(c), "invalid decimal literal")
	}
	clean := strings.ReplaceAll(s, "_", "")
	if strings.HasSuffix(s, "__") || strings.Contains(s, "__") || strings.HasSuffix(s, "_") {
		p.fail(p.sp(c), "invalid decimal literal")
	}
	if strings.HasSuffix(clean, "j") && !strings.HasPrefix(clean, "0x") {
		f, err := strconv.ParseFloat(clean[:len(clean)-1], 64)
		if err != nil {
			p.bad(c)
		}
		return complex(0, f)
	}
	base := 10
	if len(clean) > 1 && clean[0] == '0' {
		switch clean[1] {
		case 'x':
			base = 16
		case 'o':
			base = 8
		case 'b':
			base = 2
		}
	}
	if base != 10 {
		n, ok := new(big.Int).SetString(clean[2:], base)
		if !ok {
			p.bad(c)
		}
		return intConst(n)
	}
	if strings.ContainsAny(clean, ".e") {
		f, err := strconv.ParseFloat(clean, 64)
		if err != nil && !strings.Contains(err.Error(), "range") {
			p.bad(c)
		}
		return f
	}
	if len(clean) > 1 && clean[0] == '0' && strings.Trim(clean, "0") != "" {
		p.fail(p.sp(c), "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers")
	}
	if v, err := strconv.ParseInt(clean, 10, 64); err == nil {
		return v
	}
	n, ok := new(big.Int).SetString(clean, 10)
	if !ok {
		p.bad(c)
	}
	return intConst(n)
}

func intConst(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

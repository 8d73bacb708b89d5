package syntax

import (
	"errors"
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
	Line      int // from 1; 0: the mistake has no place
	Offset    int // from 1, in characters
	EndLine   int
	EndOffset int
	Text      string // the source line, with its newline
	Late      bool   // found when names were looked up or code was made: CPython takes Text from the file then, if there is one
}

// Error is the message with its kind and place, for Go.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (%s, line %d)", e.Kind, e.Msg, e.Filename, e.Line)
}

// parser converts one concrete tree. Positions of the concrete tree are those of the text that was parsed, which is not always the file: sp
// gives those of the file.
type parser struct {
	src      string
	filename string
	lines    []int // start offset of each line
	// An f-string's expression is parsed as a file of its own; shift moves its positions.
	lineShift, colShift int32
	fstring             bool
	bytes               bool // columns of errors count bytes, as those of replacement fields do
	judging             bool // strings are read only to find what is wrong with them
	warnings            []Warning
	// Set when brackets were added to the source; see wrapStars.
	orig     *parser
	inserted []int
}

// newParser notes where the lines of a text begin.
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

// lineText is a line of the file, with its newline, for an error to show.
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

// errAt makes the error for a range. Spans count lines from 1 and columns in bytes from 0, at their end too; errors count both from 1 and
// columns in characters, as scripts see them.
func (p *parser) errAt(kind string, sp Span, format string, args ...any) *Error {
	text := p.lineText(int(sp.Line))
	end := p.lineText(int(sp.EndLine))
	e := &Error{Kind: kind, Msg: fmt.Sprintf(format, args...), Filename: p.filename,
		Line: int(sp.Line), Offset: charCol(text, int(sp.Col)) + 1,
		EndLine: int(sp.EndLine), EndOffset: charCol(end, int(sp.EndCol)) + 1, Text: text}
	if p.bytes {
		e.Offset, e.EndOffset = int(sp.Col)+1, int(sp.EndCol)+1
	}
	return e
}

// fail ends the parse; Parse recovers the *Error.
func (p *parser) fail(sp Span, format string, args ...any) {
	panic(p.errAt("SyntaxError", sp, format, args...))
}

func (p *parser) bad(c *cst) { p.fail(c.span, "invalid syntax") }

// Parse parses a module. The error is always an *Error.
func Parse(filename, src string) (f *File, err error) { return parse(filename, src, "file", Typed{}) }

// ParseKnown parses a module that is known to be right, such as one that is part of this program: its mistakes are not looked for.
func ParseKnown(filename, src string) (*File, error) { return parse(filename, src, "", Typed{}) }

// parse parses what a rule of the grammar describes; without a rule, the source is taken to be right.
func parse(filename, src, rule string, how Typed) (f *File, err error) {
	how.cut = how.Single && src != "" && !strings.HasSuffix(src, "\n")
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
		return nil, &Error{Kind: "SyntaxError", Msg: "source code string cannot contain null bytes", Filename: filename}
	}
	if !utf8.ValidString(src) {
		return nil, p.errAt("SyntaxError", Span{1, 0, 1, 0}, "(unicode error) 'utf-8' codec can't decode bytes: invalid utf-8")
	}
	var toks []tok
	if rule != "" {
		toks = scan(p)
		if e := wrongness(p, toks, rule, how); e != nil {
			return nil, e
		}
	}
	root := parseTree(p.starsFirst(toks))
	if root == nil {
		return nil, p.errAt("SyntaxError", Span{1, 0, 1, 0}, "invalid syntax")
	}
	if root.err || root.kind == "ERROR" {
		if toks == nil {
			toks = scan(p)
		}
		if again := p.joined(toks); again != nil {
			root = again
		} else if text, at := wrapStars(p, toks); at != nil {
			if again := parseTree(text); again != nil && !again.err && again.kind != "ERROR" {
				q := newParser(filename, text)
				q.orig, q.inserted = p, at
				root, p = again, q
			}
		}
		if bad := firstError(root); bad != nil {
			p.fail(bad.span, "this is Python, but not of a form that is supported")
		}
	}
	f = &File{Filename: filename, Source: src, Future: map[string]bool{}}
	f.Body = p.stmts(root.kids)
	f.Warnings = p.warnings
	if e := f.future(); e != nil {
		return nil, e
	}
	return f, nil
}

// starsFirst gives the text with the star of each `except *E` right behind except, where the grammar knows it. Nothing else moves.
func (p *parser) starsFirst(toks []tok) string {
	if toks == nil {
		if !strings.Contains(p.src, "except *") {
			return p.src
		}
		toks = scan(p)
	}
	var out []byte
	for i := 1; i < len(toks); i++ {
		if toks[i].text != "*" || toks[i-1].text != "except" {
			continue
		}
		if out == nil {
			out = []byte(p.src)
		}
		at := func(t tok) int { return p.lines[t.span.Line-1] + int(t.span.Col) }
		out[at(toks[i])] = ' '
		out[at(toks[i-1])+len("except")] = '*'
	}
	if out == nil {
		return p.src
	}
	return string(out)
}

// ParseExpr parses one expression, as eval() does.
func ParseExpr(filename, src string, how Typed) (Expr, *File, error) {
	src = strings.TrimLeft(normalise(src), " \t")
	f, err := parse(filename, src, "eval", how)
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

// sp is the range of a node in the file. Three things lie between: brackets that were put into the text so that the grammar takes it
// (unwrapped counts them out), the brackets around an f-string's expression, which is parsed as a text of its own, and where that expression
// begins in the file. Columns are shifted on its first line only.
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

// get is the first child in a field of the grammar, nil for none.
func (c *cst) get(field string) *cst {
	for _, k := range c.kids {
		if k.field == field {
			return k
		}
	}
	return nil
}

// all are the children in a field.
func (c *cst) all(field string) (out []*cst) {
	for _, k := range c.kids {
		if k.field == field {
			out = append(out, k)
		}
	}
	return out
}

// namedKids are the children that are no punctuation.
func (c *cst) namedKids() (out []*cst) {
	for _, k := range c.kids {
		if k.named {
			out = append(out, k)
		}
	}
	return out
}

func (c *cst) has(kind string) bool { return c.child(kind) != nil }

// child is the first child of a kind, nil for none.
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

// stmts turns nodes into statements.
func (p *parser) stmts(kids []*cst) []Stmt {
	var out []Stmt
	for _, k := range kids {
		if k.named {
			out = append(out, p.stmt(k))
		}
	}
	return out
}

// stmt turns a concrete node into the statement that it is: a switch over the grammar's kinds of nodes.
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
		return p.del(c, b)
	case "raise_statement":
		return p.raise(c, b)
	case "assert_statement":
		return p.assert(c, b)
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
		return p.ifStmt(c, b)
	case "while_statement":
		s := &While{stmtNode: b, Test: p.expr(c.get("condition")), Body: p.block(c.get("body"))}
		if a := c.get("alternative"); a != nil {
			s.Else = p.block(a.get("body"))
		}
		return s
	case "for_statement":
		s := &For{stmtNode: b, Async: isAsync(c), Target: p.exprTarget(c.get("left")), Iter: p.expr(c.get("right")), Body: p.block(c.get("body"))}
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
		return p.decorated(c)
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

// del takes a list of targets without brackets apart; one in brackets is a tuple.
func (p *parser) del(c *cst, b stmtNode) Stmt {
	d := &Delete{stmtNode: b}
	t := c.namedKids()[0]
	if t.kind == "expression_list" {
		for _, k := range t.namedKids() {
			d.Targets = append(d.Targets, p.expr(k))
		}
	} else {
		d.Targets = []Expr{p.expr(t)}
	}
	return d
}

// raise refuses Python 2's `raise Class, value`.
func (p *parser) raise(c *cst, b stmtNode) Stmt {
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
}

// assert has a test and perhaps a message.
func (p *parser) assert(c *cst, b stmtNode) Stmt {
	ks := c.namedKids()
	a := &Assert{stmtNode: b, Test: p.expr(ks[0])}
	if len(ks) > 1 {
		a.Msg = p.expr(ks[1])
	}
	if len(ks) > 2 {
		p.bad(ks[2])
	}
	return a
}

// ifStmt makes an If in the Else of each elif.
func (p *parser) ifStmt(c *cst, b stmtNode) Stmt {
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
}

// decorated hands the decorators to the function or class below them.
func (p *parser) decorated(c *cst) Stmt {
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
}

// isAsync reports whether a statement or clause begins with async.
func isAsync(c *cst) bool { return len(c.kids) > 0 && c.kids[0].kind == "async" }

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

// dotted is a dotted name's text, without white space.
func (p *parser) dotted(c *cst) string {
	var parts []string
	for _, k := range c.namedKids() {
		parts = append(parts, p.text(k))
	}
	return strings.Join(parts, ".")
}

// aliases are the names of an import, each with what stands behind as.
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

// importFrom counts the leading dots as the level.
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

// try reads all four kinds of clauses.
func (p *parser) try(c *cst, b stmtNode) Stmt {
	s := &Try{stmtNode: b, Body: p.block(c.get("body"))}
	for _, k := range c.kids {
		switch k.kind {
		case "except_clause", "except_group_clause":
			s.Star = s.Star || k.kind == "except_group_clause"
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
				default:
					p.bad(e)
				}
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

// with reads the items, which the grammar nests differently where there are brackets around them all.
func (p *parser) with(c *cst, b stmtNode) Stmt {
	s := &With{stmtNode: b, Async: isAsync(c), Body: p.block(c.get("body"))}
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

// asTarget is what stands behind as.
func (p *parser) asTarget(c *cst) Expr {
	a := c.get("alias")
	if a == nil || len(a.kids) == 0 {
		p.bad(c)
	}
	return p.exprTarget(a.kids[0])
}

// exprStmt reads what the grammar calls an expression statement: assignments are among them.
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
		op := p.text(k.get("operator"))
		s.Op = op[:len(op)-1]
		s.Value = p.expr(k.get("right"))
		return s
	}
	return &ExprStmt{b, hoistStar(p.expr(k))}
}

// number is the value of a numeric literal: int64, *big.Int, float64 or complex128.
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
		if err != nil && !errors.Is(err, strconv.ErrRange) {
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

// firstError is the first place that the grammar could not make sense of, nil for none.
func firstError(c *cst) *cst {
	if c.kind == "ERROR" || c.missing {
		if c.kind == "ERROR" && c.span.Line == 1 && len(c.kids) > 0 {
			// The whole file became an error: an inner one is closer to the cause.
			for _, k := range c.kids {
				if k.err {
					if e := firstError(k); e != nil {
						return e
					}
				}
			}
		}
		return c
	}
	if !c.err {
		return nil
	}
	for _, k := range c.kids {
		if e := firstError(k); e != nil {
			return e
		}
	}
	return nil
}

package fx

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/python"

	"whittle/kernels/tensor"
)

// ParseError says where a text stops being a graph, and which construct is not understood.
type ParseError struct {
	File string
	Line int // 1-based
	Msg  string
}

func (e *ParseError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// lambdaInit is how PyTorch prints the bodies of higher-order operators into a repro: not Python at all.
var lambdaInit = regexp.MustCompile(`(?m)^(\s+self\.\w+ = )<lambda>\(\)`)

// Source is a Python file's syntax tree, for the readers of graphs and repros.
type Source struct {
	File string
	Text []byte
	Root *sitter.Node
	tree *sitter.Tree // keeps Root alive
}

// ParseSource parses Python text. A syntax error is an error with its line.
func ParseSource(file, text string) (*Source, error) {
	if !utf8.ValidString(text) {
		return nil, &ParseError{file, 1, "the text is not UTF-8"}
	}
	b := []byte(lambdaInit.ReplaceAllString(text, "${1}_lambda_()"))
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(python.GetLanguage())
	tree, err := p.ParseCtx(context.Background(), nil, b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s := &Source{File: file, Text: b, Root: tree.RootNode(), tree: tree}
	if s.Root.HasError() {
		if n := firstError(s.Root); n != nil {
			return nil, s.Errorf(n, "not valid Python here: %s", s.snippet(n))
		}
	}
	return s, nil
}

func firstError(n *sitter.Node) *sitter.Node {
	if n.IsError() || n.IsMissing() {
		return n
	}
	for i := 0; i < int(n.ChildCount()); i++ {
		if c := n.Child(i); c.HasError() || c.IsMissing() || c.IsError() {
			if e := firstError(c); e != nil {
				return e
			}
		}
	}
	return nil
}

// Errorf makes a ParseError at a syntax node.
func (s *Source) Errorf(n *sitter.Node, format string, args ...any) error {
	return &ParseError{s.File, int(n.StartPoint().Row) + 1, fmt.Sprintf(format, args...)}
}

// Content is the text of a syntax node.
func (s *Source) Content(n *sitter.Node) string { return n.Content(s.Text) }

func (s *Source) snippet(n *sitter.Node) string {
	t := s.Content(n)
	if t == "" { // a missing token: show its line
		lines := strings.Split(string(s.Text), "\n")
		if r := int(n.StartPoint().Row); r < len(lines) {
			t = strings.TrimSpace(lines[r])
		}
	}
	if i := strings.IndexByte(t, '\n'); i >= 0 {
		t = t[:i]
	}
	if len(t) > 80 {
		t = t[:80] + "..."
	}
	return strconv.Quote(t)
}

// Parse reads the graph in a Python text: the first class with a forward method, or a bare `def forward`.
// file is used in errors only.
func Parse(file, text string) (*GraphModule, error) {
	s, err := ParseSource(file, text)
	if err != nil {
		return nil, err
	}
	return s.Module()
}

// ParseGraph is Parse for a bare `def forward`.
func ParseGraph(text string) (*Graph, error) {
	gm, err := Parse("graph", text)
	if err != nil {
		return nil, err
	}
	return gm.Graph, nil
}

// Module reads the first class with a forward method, or a forward outside of any class.
func (s *Source) Module() (*GraphModule, error) {
	for i := 0; i < int(s.Root.NamedChildCount()); i++ {
		n := s.Root.NamedChild(i)
		switch n.Type() {
		case "class_definition":
			if s.forwardOf(n.ChildByFieldName("body")) != nil {
				return s.class(n)
			}
		case "function_definition":
			if s.Content(n.ChildByFieldName("name")) == "forward" {
				gm := &GraphModule{ClassName: "GraphModule"}
				return gm, s.forward(gm, n)
			}
		}
	}
	return nil, &ParseError{s.File, 1, "no class with a forward method, and no `def forward`"}
}

func (s *Source) forwardOf(body *sitter.Node) *sitter.Node {
	if body == nil {
		return nil
	}
	for i := 0; i < int(body.NamedChildCount()); i++ {
		if n := body.NamedChild(i); n.Type() == "function_definition" && s.Content(n.ChildByFieldName("name")) == "forward" {
			return n
		}
	}
	return nil
}

func (s *Source) class(n *sitter.Node) (*GraphModule, error) {
	gm := &GraphModule{ClassName: s.Content(n.ChildByFieldName("name"))}
	body := n.ChildByFieldName("body")
	for i := 0; i < int(body.NamedChildCount()); i++ {
		c := body.NamedChild(i)
		switch c.Type() {
		case "function_definition":
			name := s.Content(c.ChildByFieldName("name"))
			var err error
			switch name {
			case "__init__":
				err = s.initMethod(gm, c)
			case "forward":
				err = s.forward(gm, c)
			default:
				err = s.Errorf(c, "method %s: only __init__ and forward are understood", name)
			}
			if err != nil {
				return nil, err
			}
		case "class_definition": // bodies of higher-order operators, as print_readable shows them
			sub, err := s.class(c)
			if err != nil {
				return nil, err
			}
			if gm.Submodules == nil {
				gm.Submodules = map[string]*GraphModule{}
			}
			gm.Submodules[sub.ClassName] = sub
		case "comment", "pass_statement":
		case "expression_statement":
			if c.NamedChildCount() == 1 && c.NamedChild(0).Type() == "string" {
				continue
			}
			return nil, s.Errorf(c, "statement %s in a class body is not understood", s.snippet(c))
		default:
			return nil, s.Errorf(c, "%s in a class body is not understood", c.Type())
		}
	}
	if gm.Graph == nil {
		return nil, s.Errorf(n, "class %s has no forward method", gm.ClassName)
	}
	return gm, nil
}

func (s *Source) initMethod(gm *GraphModule, fn *sitter.Node) error {
	body := fn.ChildByFieldName("body")
	for i := 0; i < int(body.NamedChildCount()); i++ {
		st := body.NamedChild(i)
		if st.Type() == "comment" || st.Type() == "pass_statement" {
			continue
		}
		if st.Type() != "expression_statement" || st.NamedChildCount() != 1 {
			return s.Errorf(st, "%s in __init__ is not understood", s.snippet(st))
		}
		e := st.NamedChild(0)
		if e.Type() == "call" {
			f := s.Content(e.ChildByFieldName("function"))
			args := e.ChildByFieldName("arguments")
			switch {
			case f == "super().__init__" || f == "super(Repro, self).__init__":
				continue
			case f == "self.register_buffer" && args.NamedChildCount() >= 2 && args.NamedChild(0).Type() == "string":
				name, err := s.str(args.NamedChild(0))
				if err != nil {
					return err
				}
				gm.setInit(InitLine{Name: name, Expr: s.Content(args.NamedChild(1)), Buffer: true})
				continue
			}
		}
		if e.Type() == "assignment" && e.ChildByFieldName("right") != nil {
			l := e.ChildByFieldName("left")
			if path, ok := s.selfPath(l); ok && path != "" {
				expr := s.Content(e.ChildByFieldName("right"))
				if expr == "_lambda_()" {
					expr = "<lambda>()"
				}
				gm.setInit(InitLine{Name: path, Expr: expr})
				continue
			}
		}
		return s.Errorf(st, "%s in __init__ is not understood", s.snippet(st))
	}
	return nil
}

// setInit notes a line of __init__ and what it means for the module's maps.
func (gm *GraphModule) setInit(l InitLine) {
	gm.Init = append(gm.Init, l)
	if t := attrValue(l.Expr); t != nil {
		if gm.Attrs == nil {
			gm.Attrs = map[string]*tensor.Tensor{}
		}
		gm.Attrs[l.Name] = t
		return
	}
	if l.Buffer || strings.Contains(l.Expr, "<lambda>") || strings.HasPrefix(l.Expr, "torch.nn.Parameter(") {
		return
	}
	if gm.Modules == nil {
		gm.Modules = map[string]Module{}
	}
	gm.Modules[l.Name] = Module{Text: l.Expr}
}

// selfPath reads self.a.b and getattr(self.a, "0").b.
func (s *Source) selfPath(n *sitter.Node) (string, bool) {
	switch n.Type() {
	case "identifier":
		return "", s.Content(n) == "self"
	case "attribute":
		base, ok := s.selfPath(n.ChildByFieldName("object"))
		if !ok {
			return "", false
		}
		return joinDot(base, s.Content(n.ChildByFieldName("attribute"))), true
	case "call":
		if s.Content(n.ChildByFieldName("function")) != "getattr" {
			return "", false
		}
		args := n.ChildByFieldName("arguments")
		if args.NamedChildCount() != 2 || args.NamedChild(1).Type() != "string" {
			return "", false
		}
		base, ok := s.selfPath(args.NamedChild(0))
		if !ok {
			return "", false
		}
		name, err := s.str(args.NamedChild(1))
		return joinDot(base, name), err == nil
	case "subscript": // self.layers[0]
		base, ok := s.selfPath(n.ChildByFieldName("value"))
		if !ok || base == "" {
			return "", false
		}
		return joinDot(base, strings.Trim(s.Content(n.ChildByFieldName("subscript")), `'"`)), true
	}
	return "", false
}

func joinDot(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}

// fnParser holds the state of reading one forward.
type fnParser struct {
	*Source
	g       *Graph
	locals  map[string]*Node
	pending *pendingNode
	free    bool // unknown identifiers are symbolic sizes: outside of graphs
}

// pendingNode is `x += y` or `x[i] = y`, whose name comes with the next statement.
type pendingNode struct {
	target string
	args   []Arg
	local  string // what the left side was called
}

func (s *Source) forward(gm *GraphModule, fn *sitter.Node) error {
	p := &fnParser{Source: s, g: NewGraph(), locals: map[string]*Node{}}
	gm.Graph = p.g
	if rt := fn.ChildByFieldName("return_type"); rt != nil {
		p.g.ReturnType = s.Content(rt)
	}
	if err := p.params(fn.ChildByFieldName("parameters")); err != nil {
		return err
	}
	body := fn.ChildByFieldName("body")
	for i := 0; i < int(body.NamedChildCount()); i++ {
		if err := p.stmt(body.NamedChild(i)); err != nil {
			return err
		}
	}
	if p.g.OutputNode() == nil {
		p.flush()
		return s.Errorf(fn, "forward does not return anything")
	}
	return nil
}

func (p *fnParser) params(ps *sitter.Node) error {
	for i := 0; i < int(ps.NamedChildCount()); i++ {
		c := ps.NamedChild(i)
		n := &Node{Op: Placeholder}
		name := ""
		switch c.Type() {
		case "comment":
			continue
		case "identifier":
			name = p.Content(c)
		case "typed_parameter":
			name = p.Content(c.NamedChild(0))
			n.Type = p.Content(c.ChildByFieldName("type"))
		case "default_parameter", "typed_default_parameter":
			name = p.Content(c.ChildByFieldName("name"))
			if t := c.ChildByFieldName("type"); t != nil {
				n.Type = p.Content(t)
			}
			v, err := p.arg(c.ChildByFieldName("value"))
			if err != nil {
				return err
			}
			made := false
			WalkArg(v, func(*Node) { made = true })
			if made {
				return p.Errorf(c, "default %s is not a constant", p.snippet(c))
			}
			n.Args = []Arg{v}
		case "list_splat_pattern", "dictionary_splat_pattern":
			name = p.Content(c)
		default:
			return p.Errorf(c, "parameter %s is not understood", p.snippet(c))
		}
		if i == 0 && name == "self" {
			continue
		}
		bare := strings.TrimLeft(name, "*")
		if p.locals[bare] != nil {
			return p.Errorf(c, "parameter %s is there twice", name)
		}
		n.Name, n.Target = bare, name
		p.g.names.claim(bare)
		p.g.Nodes = append(p.g.Nodes, n)
		p.locals[bare] = n
	}
	return nil
}

// node adds a node under exactly the given name if it is free, else under a fresh one.
func (p *fnParser) node(op Op, target string, args []Arg, kwargs []Kwarg, name string) *Node {
	if name == "" || p.g.names.used[name] {
		return p.g.CreateNode(op, target, args, kwargs, name)
	}
	n := &Node{Op: op, Name: name, Target: target, Args: args, Kwargs: kwargs}
	p.g.names.claim(name)
	p.g.Nodes = append(p.g.Nodes, n)
	return n
}

// flush makes the pending in-place node when the text does not name it.
func (p *fnParser) flush() {
	if q := p.pending; q != nil {
		p.pending = nil
		n := p.node(CallFunction, q.target, q.args, nil, "")
		if q.local != "" && q.target != "operator.setitem" {
			p.locals[q.local] = n
		}
	}
}

func (p *fnParser) stmt(st *sitter.Node) error {
	switch st.Type() {
	case "comment", "pass_statement":
		return nil
	case "return_statement":
		p.flush()
		if p.g.OutputNode() != nil {
			return p.Errorf(st, "a second return")
		}
		var v Arg
		if st.NamedChildCount() > 0 {
			var err error
			if v, err = p.arg(st.NamedChild(0)); err != nil {
				return err
			}
		}
		p.node(Output, "output", []Arg{v}, nil, "output")
		return nil
	case "expression_statement":
		if st.NamedChildCount() != 1 {
			return p.Errorf(st, "statement %s is not understood", p.snippet(st))
		}
		e := st.NamedChild(0)
		if p.g.OutputNode() != nil {
			return p.Errorf(st, "a statement after return")
		}
		switch e.Type() {
		case "assignment":
			return p.assign(e)
		case "augmented_assignment":
			return p.augment(e)
		case "string":
			return nil
		case "call":
			p.flush()
			_, err := p.value(e, "")
			return err
		}
	}
	return p.Errorf(st, "%s %s is not understood in forward", st.Type(), p.snippet(st))
}

func (p *fnParser) augment(e *sitter.Node) error {
	p.flush()
	target, ok := inplaceTarget[p.Content(e.ChildByFieldName("operator"))]
	if !ok {
		return p.Errorf(e, "operator %s is not understood", p.Content(e.ChildByFieldName("operator")))
	}
	l, err := p.arg(e.ChildByFieldName("left"))
	if err != nil {
		return err
	}
	r, err := p.arg(e.ChildByFieldName("right"))
	if err != nil {
		return err
	}
	if _, ok := l.(*Node); !ok {
		return p.Errorf(e, "%s is not a node", p.snippet(e.ChildByFieldName("left")))
	}
	local := ""
	if e.ChildByFieldName("left").Type() == "identifier" {
		local = p.Content(e.ChildByFieldName("left"))
	}
	p.pending = &pendingNode{target, []Arg{l, r}, local}
	return nil
}

func (p *fnParser) assign(e *sitter.Node) error {
	l, r := e.ChildByFieldName("left"), e.ChildByFieldName("right")
	if r == nil {
		return p.Errorf(e, "annotation %s without a value", p.snippet(e))
	}
	if l.Type() == "subscript" {
		p.flush()
		obj, err := p.arg(l.ChildByFieldName("value"))
		if err != nil {
			return err
		}
		if _, ok := obj.(*Node); !ok {
			return p.Errorf(l, "%s is not a node", p.snippet(l.ChildByFieldName("value")))
		}
		idx, err := p.index(l)
		if err != nil {
			return err
		}
		v, err := p.arg(r)
		if err != nil {
			return err
		}
		p.pending = &pendingNode{"operator.setitem", []Arg{obj, idx, v}, ""}
		return nil
	}
	if l.Type() == "pattern_list" || l.Type() == "tuple_pattern" { // a, b = f(x), written by hand
		return p.unpack(l, r)
	}
	if l.Type() != "identifier" {
		return p.Errorf(l, "assignment to %s is not understood", p.snippet(l))
	}
	if p.deletion(e) {
		p.flush()
		return p.delete(e)
	}
	name := p.Content(l)
	typ := ""
	if t := e.ChildByFieldName("type"); t != nil {
		typ = p.Content(t)
	}
	if r.Type() == "identifier" {
		src, ok := p.locals[p.Content(r)]
		if !ok {
			return p.Errorf(r, "name %q is not defined here", p.Content(r))
		}
		if q := p.pending; q != nil && q.args[0] == Arg(src) {
			p.pending = nil
			n := p.node(CallFunction, q.target, q.args, nil, name)
			n.Type = typ
			p.locals[name] = n
			return nil
		}
		p.flush()
		if src.Op == Placeholder && src.Name == strings.TrimLeft(src.Target, "*") && p.Content(r) == src.Name && !p.g.names.used[name] {
			p.aliasPlaceholder(src, name)
		}
		p.locals[name] = src
		return nil
	}
	p.flush()
	v, err := p.value(r, name)
	if err != nil {
		return err
	}
	n, ok := v.(*Node)
	if !ok {
		return p.Errorf(r, "a graph has no node for the constant %s", p.snippet(r))
	}
	n.Type = typ
	p.locals[name] = n
	return nil
}

// aliasPlaceholder is `l_x_ = L_x_`: the node is called l_x_. Where the line stands behind calls, so does the node.
func (p *fnParser) aliasPlaceholder(n *Node, name string) {
	n.Name = name
	p.g.names.claim(name)
	for _, o := range p.g.Nodes {
		if o.Op != Placeholder {
			p.g.Erase(n)
			p.g.Nodes = append(p.g.Nodes, n)
			return
		}
	}
}

func (p *fnParser) unpack(l, r *sitter.Node) error {
	p.flush()
	v, err := p.value(r, "")
	if err != nil {
		return err
	}
	for i := 0; i < int(l.NamedChildCount()); i++ {
		c := l.NamedChild(i)
		if c.Type() != "identifier" {
			return p.Errorf(c, "assignment to %s is not understood", p.snippet(c))
		}
		p.locals[p.Content(c)] = p.node(CallFunction, "operator.getitem", []Arg{v, int64(i)}, nil, p.Content(c))
	}
	return nil
}

// deletion reports whether e is `a = b = None`.
func (p *fnParser) deletion(e *sitter.Node) bool {
	for e.Type() == "assignment" {
		if e = e.ChildByFieldName("right"); e == nil {
			return false
		}
	}
	return e.Type() == "none"
}

func (p *fnParser) delete(e *sitter.Node) error {
	for e.Type() == "assignment" {
		l := e.ChildByFieldName("left")
		name := p.Content(l)
		if l.Type() != "identifier" || p.locals[name] == nil {
			return p.Errorf(l, "name %q is deleted but not defined", name)
		}
		delete(p.locals, name)
		e = e.ChildByFieldName("right")
	}
	return nil
}

// value reads an expression that makes a node called name ("" => named after its target).
func (p *fnParser) value(n *sitter.Node, name string) (Arg, error) {
	switch n.Type() {
	case "parenthesized_expression":
		return p.value(n.NamedChild(0), name)
	case "call":
		return p.call(n, name)
	case "subscript":
		obj, err := p.arg(n.ChildByFieldName("value"))
		if err != nil {
			return nil, err
		}
		if _, ok := obj.(*Node); !ok {
			return nil, p.Errorf(n, "%s is not a node", p.snippet(n.ChildByFieldName("value")))
		}
		idx, err := p.index(n)
		if err != nil {
			return nil, err
		}
		return p.node(CallFunction, "operator.getitem", []Arg{obj, idx}, nil, name), nil
	case "attribute":
		if path, ok := p.selfPath(n); ok {
			return p.node(GetAttr, path, nil, nil, name), nil
		}
		if root := p.root(n); root != "" && p.locals[root] == nil && !p.free {
			return nil, p.Errorf(n, "%s is not a node", p.snippet(n))
		}
		obj, err := p.arg(n.ChildByFieldName("object"))
		if err != nil {
			return nil, err
		}
		if _, ok := obj.(*Node); !ok {
			return nil, p.Errorf(n, "%s is not a node", p.snippet(n.ChildByFieldName("object")))
		}
		return p.node(CallFunction, "getattr", []Arg{obj, p.Content(n.ChildByFieldName("attribute"))}, nil, name), nil
	case "binary_operator":
		return p.binary(n, n.ChildByFieldName("left"), n.ChildByFieldName("right"), p.Content(n.ChildByFieldName("operator")), name)
	case "comparison_operator":
		if n.NamedChildCount() != 2 {
			return nil, p.Errorf(n, "chained comparison %s is not understood", p.snippet(n))
		}
		return p.binary(n, n.NamedChild(0), n.NamedChild(1), p.Content(n.ChildByFieldName("operators")), name)
	case "unary_operator":
		op := p.Content(n.ChildByFieldName("operator"))
		target, ok := prefixTarget[op]
		if !ok {
			return nil, p.Errorf(n, "operator %s is not understood", op)
		}
		v, err := p.arg(n.ChildByFieldName("argument"))
		if err != nil {
			return nil, err
		}
		return p.node(CallFunction, target, []Arg{v}, nil, name), nil
	}
	return p.arg(n)
}

func (p *fnParser) binary(n, l, r *sitter.Node, op, name string) (Arg, error) {
	target, ok := infixTarget[op]
	if !ok {
		return nil, p.Errorf(n, "operator %s is not understood", op)
	}
	a, err := p.arg(l)
	if err != nil {
		return nil, err
	}
	b, err := p.arg(r)
	if err != nil {
		return nil, err
	}
	return p.node(CallFunction, target, []Arg{a, b}, nil, name), nil
}

// root is the identifier that an attribute chain starts from, "" if it starts from something else.
func (p *fnParser) root(n *sitter.Node) string {
	for n.Type() == "attribute" {
		n = n.ChildByFieldName("object")
	}
	if n.Type() == "identifier" {
		return p.Content(n)
	}
	return ""
}

func (p *fnParser) call(n *sitter.Node, name string) (Arg, error) {
	fn := n.ChildByFieldName("function")
	var recv *sitter.Node
	op, target := CallFunction, ""
	if path, ok := p.selfPath(fn); ok && path != "" {
		op, target = CallModule, path
	} else if root := p.root(fn); root != "" && p.locals[root] == nil {
		text := p.Content(fn)
		t, ok := funcName(text)
		if !ok && !p.free {
			return nil, p.Errorf(fn, "function %s is not understood", p.snippet(fn))
		} else if !ok {
			t = text
		}
		target = t
	} else if fn.Type() == "attribute" {
		op, target, recv = CallMethod, p.Content(fn.ChildByFieldName("attribute")), fn.ChildByFieldName("object")
		if !isIdent(target) {
			return nil, p.Errorf(fn, "method %q: names are ASCII here", target)
		}
	} else {
		return nil, p.Errorf(fn, "a call of %s is not understood", p.snippet(fn))
	}
	var args []Arg
	if recv != nil {
		r, err := p.arg(recv)
		if err != nil {
			return nil, err
		}
		if _, ok := r.(*Node); !ok && !p.free {
			return nil, p.Errorf(recv, "%s is not a node", p.snippet(recv))
		}
		args = append(args, r)
	}
	rest, kwargs, err := p.arguments(n.ChildByFieldName("arguments"))
	if err != nil {
		return nil, err
	}
	return p.node(op, target, append(args, rest...), kwargs, name), nil
}

func (p *fnParser) arguments(list *sitter.Node) (args []Arg, kwargs []Kwarg, err error) {
	if list.Type() != "argument_list" {
		return nil, nil, p.Errorf(list, "%s as arguments is not understood", list.Type())
	}
	for i := 0; i < int(list.NamedChildCount()); i++ {
		c := list.NamedChild(i)
		switch c.Type() {
		case "comment":
			continue
		case "keyword_argument":
			v, err := p.arg(c.ChildByFieldName("value"))
			if err != nil {
				return nil, nil, err
			}
			kwargs = append(kwargs, Kwarg{p.Content(c.ChildByFieldName("name")), v})
			continue
		}
		v, err := p.arg(c)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, v)
	}
	return args, kwargs, nil
}

// index reads what stands in the brackets of a subscript.
func (p *fnParser) index(n *sitter.Node) (Arg, error) {
	var items Tuple
	seen := 0
	for i := 0; i < int(n.ChildCount()); i++ {
		if n.FieldNameForChild(i) != "subscript" {
			continue
		}
		seen++
		v, err := p.arg(n.Child(i))
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	trailing := n.ChildCount() >= 2 && n.Child(int(n.ChildCount())-2).Type() == ","
	if seen == 1 && !trailing {
		return items[0], nil
	}
	return items, nil
}

// arg reads an argument.
func (p *fnParser) arg(n *sitter.Node) (Arg, error) {
	switch n.Type() {
	case "none":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "ellipsis":
		return Ellipsis{}, nil
	case "integer", "float":
		return p.number(n)
	case "string":
		return p.strArg(n)
	case "concatenated_string":
		s := ""
		for i := 0; i < int(n.NamedChildCount()); i++ {
			t, err := p.str(n.NamedChild(i))
			if err != nil {
				return nil, err
			}
			s += t
		}
		return s, nil
	case "identifier":
		return p.ident(n)
	case "list":
		v, err := p.seq(n)
		return List(v), err
	case "tuple":
		v, err := p.seq(n)
		return Tuple(v), err
	case "expression_list": // return a, b
		v, err := p.seq(n)
		return Tuple(v), err
	case "dictionary":
		return p.dict(n)
	case "slice":
		return p.slice(n)
	case "parenthesized_expression":
		return p.arg(n.NamedChild(0))
	case "unary_operator":
		return p.unary(n)
	case "binary_operator":
		return p.binaryArg(n)
	case "attribute":
		return p.attribute(n)
	case "call":
		return p.callArg(n)
	case "subscript", "comparison_operator":
		return p.value(n, "")
	}
	return nil, p.Errorf(n, "%s %s is not understood", n.Type(), p.snippet(n))
}

func (p *fnParser) seq(n *sitter.Node) ([]Arg, error) {
	var out []Arg
	for i := 0; i < int(n.NamedChildCount()); i++ {
		c := n.NamedChild(i)
		if c.Type() == "comment" {
			continue
		}
		v, err := p.arg(c)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (p *fnParser) dict(n *sitter.Node) (Arg, error) {
	d := Dict{}
	for i := 0; i < int(n.NamedChildCount()); i++ {
		c := n.NamedChild(i)
		if c.Type() != "pair" {
			return nil, p.Errorf(c, "%s in a dict is not understood", p.snippet(c))
		}
		k, err := p.arg(c.ChildByFieldName("key"))
		if err != nil {
			return nil, err
		}
		v, err := p.arg(c.ChildByFieldName("value"))
		if err != nil {
			return nil, err
		}
		d = append(d, DictItem{k, v})
	}
	return d, nil
}

// slice reads a:b:c.
func (p *fnParser) slice(n *sitter.Node) (Arg, error) {
	var parts [3]Arg
	k := 0
	for i := 0; i < int(n.ChildCount()); i++ {
		c := n.Child(i)
		if c.Type() == ":" {
			k++
			continue
		}
		v, err := p.arg(c)
		if err != nil {
			return nil, err
		}
		parts[k] = v
	}
	return Slice{parts[0], parts[1], parts[2]}, nil
}

var symName = regexp.MustCompile(`^(s|u|f|zf|zuf|z)[0-9]+$`)

func (p *fnParser) ident(n *sitter.Node) (Arg, error) {
	t := p.Content(n)
	if v, ok := p.locals[t]; ok {
		return v, nil
	}
	switch t {
	case "inf":
		return math.Inf(1), nil
	case "nan":
		return math.NaN(), nil
	case "Ellipsis":
		return Ellipsis{}, nil
	}
	if symName.MatchString(t) {
		return SymInt{Expr: t}, nil
	}
	if f, ok := funcName(t); ok {
		return FnRef(f), nil
	}
	if p.free {
		return FnRef(t), nil
	}
	return nil, p.Errorf(n, "name %q is not defined here", t)
}

func (p *fnParser) unary(n *sitter.Node) (Arg, error) {
	op := p.Content(n.ChildByFieldName("operator"))
	v, err := p.arg(n.ChildByFieldName("argument"))
	if err != nil {
		return nil, err
	}
	if op == "+" {
		switch v.(type) {
		case int64, float64, *big.Int, complex128:
			return v, nil
		}
	}
	if op == "-" {
		switch v := v.(type) {
		case int64:
			return -v, nil
		case *big.Int:
			b := new(big.Int).Neg(v)
			if b.IsInt64() {
				return b.Int64(), nil
			}
			return b, nil
		case float64:
			return -v, nil
		case complex128:
			if real(v) == 0 { // -1j: Python's repr of complex(-0.0, -1) reads (-0-1j)
				return complex(0, -imag(v)), nil
			}
			return -v, nil
		case SymInt:
			return SymInt{Expr: p.Content(n)}, nil
		}
	}
	target, ok := prefixTarget[op]
	if _, isNode := v.(*Node); !ok || !isNode {
		return nil, p.Errorf(n, "%s is not understood", p.snippet(n))
	}
	return p.node(CallFunction, target, []Arg{v}, nil, ""), nil
}

// binaryArg is an expression in argument position: complex literals, symbolic
// sizes, and (in hand-written graphs) operators on nodes.
func (p *fnParser) binaryArg(n *sitter.Node) (Arg, error) {
	op := p.Content(n.ChildByFieldName("operator"))
	l, err := p.arg(n.ChildByFieldName("left"))
	if err != nil {
		return nil, err
	}
	r, err := p.arg(n.ChildByFieldName("right"))
	if err != nil {
		return nil, err
	}
	if c, ok := r.(complex128); ok && (op == "+" || op == "-") {
		re := 0.0
		switch l := l.(type) {
		case int64:
			re = float64(l)
			if l == 0 && strings.HasPrefix(p.Content(n.ChildByFieldName("left")), "-") {
				re = math.Copysign(0, -1)
			}
		case float64:
			re = l
		default:
			return nil, p.Errorf(n, "%s is not understood", p.snippet(n))
		}
		if op == "-" {
			return complex(re, -imag(c)), nil
		}
		return complex(re, imag(c)), nil
	}
	_, ls := l.(SymInt)
	_, rs := r.(SymInt)
	_, ln := l.(*Node)
	_, rn := r.(*Node)
	if (ls || rs) && !ln && !rn {
		return SymInt{Expr: p.Content(n)}, nil
	}
	if !ln && !rn {
		if li, ok := l.(int64); ok {
			if ri, ok := r.(int64); ok {
				if v, ok := intOp(op, li, ri); ok {
					return v, nil
				}
			}
		}
	}
	target, ok := infixTarget[op]
	if !ok {
		return nil, p.Errorf(n, "operator %s is not understood", op)
	}
	return p.node(CallFunction, target, []Arg{l, r}, nil, ""), nil
}

func intOp(op string, a, b int64) (int64, bool) {
	switch op {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	case "//":
		if b != 0 {
			return floorDiv(a, b), true
		}
	case "%":
		if b != 0 {
			return a - b*floorDiv(a, b), true
		}
	}
	return 0, false
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func (p *fnParser) attribute(n *sitter.Node) (Arg, error) {
	if path, ok := p.selfPath(n); ok {
		return p.node(GetAttr, path, nil, nil, ""), nil
	}
	if root := p.root(n); root == "" || p.locals[root] != nil {
		return p.value(n, "")
	}
	return constant(p, n, p.Content(n))
}

// ParseArg reads one argument expression outside of any graph; unknown s0, s1 ... are symbolic integers.
func ParseArg(text string) (Arg, error) { return parseArg(text, false) }

func parseArg(text string, call bool) (Arg, error) {
	s, err := ParseSource("expression", text)
	if err != nil {
		return nil, err
	}
	if s.Root.NamedChildCount() != 1 || s.Root.NamedChild(0).Type() != "expression_statement" || s.Root.NamedChild(0).NamedChildCount() != 1 {
		return nil, s.Errorf(s.Root, "%s is not an expression", s.snippet(s.Root))
	}
	return s.Arg(s.Root.NamedChild(0).NamedChild(0), call)
}

// Arg reads an expression outside of any graph. A call is an error unless calls is set; it then
// gives a *Node that belongs to no graph.
func (s *Source) Arg(n *sitter.Node, calls bool) (Arg, error) {
	p := &fnParser{Source: s, g: NewGraph(), locals: map[string]*Node{}, free: calls}
	v, err := p.arg(n)
	if err == nil && len(p.g.Nodes) > 0 && !calls {
		return nil, s.Errorf(n, "%s is not a constant", s.snippet(n))
	}
	return v, err
}

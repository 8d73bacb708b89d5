package fx

import (
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

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

// forward reads a forward method into the graph of gm, statement by statement. Names of nodes are those of the text: a name is a node from its
// assignment until it is assigned again or set to None, so the text may use a name twice, and the second node then has a fresh one.
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

// params makes a placeholder for each parameter but self. Annotations are kept as text; defaults have to be constants, as a graph has no node
// before its placeholders.
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

// stmt reads one statement. A graph is straight-line code: assignments, calls for their effects, deletions, and one return at the end.
// Everything else, such as a loop, is an error, as leaving it out would change what the graph computes.
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

// augment reads `x += y`, which makes a node for operator.iadd. PyTorch prints such a node as `x += y; name = x`: the node gets its name from
// the statement that follows, and waits for it in pending.
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

// assign reads `name = expression`, and the other forms that stand for something else: `x[i] = v` is operator.setitem, `a = b = None` deletes,
// `a = b` gives a node a second name or names the pending node, and `a, b = f()` takes results apart.
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

// unpack reads `a, b = f(x)`: one node for the call, and a getitem for each name.
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

// delete reads `a = b = None`. The names are no nodes any more; the nodes stay.
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

// binary makes the node of an infix operator or comparison.
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

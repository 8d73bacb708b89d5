package fx

import (
	"math"
	"math/big"
	"regexp"
	"strings"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"

	"whittle/capture/symbolic"
)

// call reads f(...), self.mod(...) or x.method(...), and makes a node for it. What a name at the front stands for decides: self is the module,
// a local name is a node and the call a method of it, and everything else is a function by its qualified name.
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

// arguments reads what stands in the parentheses of a call. Keywords keep their order, which the printed graph keeps, too.
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

// seq reads the items of a list, a tuple or an expression list.
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

// dict reads a dict display. Keys may be any arguments; their order is kept.
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

// symName are the names that PyTorch gives to symbolic sizes: s0 of inputs, u0 of what only data says, zf0 and the like of floats.
var symName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(s|u|f|zf|zuf|z)[0-9]+$`) })

// ident reads a bare name: a node of this graph, before anything that Python or PyTorch know by that name; a symbolic size; or a function. A
// name that is none of these is an error in a graph, and a function where p.free is set.
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
	if symName().MatchString(t) {
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

// unary reads a sign or ~. A sign before a number belongs to the number, as literals have none in Python; before a node it is an operator, and
// so a node of its own.
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

// intOp folds arithmetic of integer literals, by Python's rules: division rounds down. ok is false for other operators, and for a division by
// zero.
func intOp(op string, a, b int64) (int64, bool) {
	switch op {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	}
	if b == 0 {
		return 0, false
	}
	q, r := symbolic.DivMod(a, b)
	switch op {
	case "//":
		return q, true
	case "%":
		return r, true
	}
	return 0, false
}

// attribute reads a.b in the place of an argument: self.b is a get_attr node, x.b of a node is a getattr node, and torch.b is a constant.
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

// parseArg reads an expression outside of any graph. Nodes that it makes for calls, where call allows them, are in a graph that is thrown
// away.
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

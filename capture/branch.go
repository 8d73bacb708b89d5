package capture

import (
	"slices"

	"whittle/capture/fx"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// branch is a subgraph being traced inside a trace: while it is, what the tracer knows of nodes is its own.
type branch struct {
	parent *branch
	outer  scope     // of the surrounding trace
	inputs []outside // what the branch reads of the surrounding trace, in placeholder order

	backward bool // of an autograd.Function
}

// scope is the graph that a trace is writing, with the nodes of tensors and numbers in it. A value without a node here may have one in
// the graph around: a branch then takes it in (see branch.input, branch.number).
type scope struct {
	graph     *fx.Graph
	nodes     map[*tensor.Tensor]*fx.Node // by stand-in
	exprNodes map[string]*fx.Node         // by the text of a simplified expression
	scalars   map[*torch.Scalar]*fx.Node  // by the object that the program has
}

func newScope() scope {
	return scope{fx.NewGraph(), map[*tensor.Tensor]*fx.Node{}, map[string]*fx.Node{}, map[*torch.Scalar]*fx.Node{}}
}

// outside is what a branch reads of the trace around it: a tensor, or a number by the text of its expression.
type outside struct {
	tensor *tensor.Tensor
	number string
}

// outsideOf is what a branch's placeholder stands for.
func outsideOf(n *fx.Node) outside {
	if s, ok := n.Val.(fx.SymInt); ok {
		return outside{number: s.Expr}
	}
	f, _ := n.Val.(*tensor.Tensor)
	return outside{tensor: f}
}

// nodeOf is the node of v here.
func (og *output) nodeOf(v outside) *fx.Node {
	if v.tensor != nil {
		return og.nodes[v.tensor]
	}
	return og.exprNodes[v.number]
}

// openBody begins a subgraph.
func (og *output) openBody() *branch {
	b := &branch{parent: og.branch, outer: og.scope}
	og.scope = newScope()
	og.branch = b
	return b
}

// close goes on with the graph around a subgraph.
func (b *branch) close(og *output) { og.scope, og.branch = b.outer, b.parent }

// around runs f in the surrounding trace.
func (b *branch) around(og *output, f func()) {
	own := og.scope
	og.scope, og.branch = b.outer, b.parent
	defer func() { og.scope, og.branch = own, b }()
	f()
}

// inside is fake inside a body: values from around it come in through placeholders.
func (st *standIns) inside(b *branch, p *torch.Tensor) (*tensor.Tensor, error) {
	og := st.out
	if og.nodes[p.T] != nil {
		return p.T, nil
	}
	var f *tensor.Tensor
	var err error
	b.around(og, func() { f, err = st.fake(p) })
	if err != nil {
		return nil, err
	}
	if og.nodes[f] == nil {
		b.input(og, f)
	}
	return f, nil
}

// input adds a placeholder for a tensor of the surrounding trace, and before it for the symbols that its sizes have.
func (b *branch) input(og *output, f *tensor.Tensor) {
	for _, name := range og.symbolsOf(f) {
		og.exprNode(symbolic.Sym(name))
	}
	og.nodes[f] = b.placeholder(og, outside{tensor: f}, b.outer.nodes[f], f)
}

// number is the placeholder for a number that the surrounding trace has, or can have; nil for one that has to be computed here.
func (b *branch) number(og *output, e *symbolic.Expr) *fx.Node {
	var n *fx.Node
	b.around(og, func() {
		if e.Op == symbolic.OpSym || og.exprNodes[e.String()] != nil {
			n = og.exprNode(e)
		}
	})
	if n == nil {
		return nil
	}
	og.exprNodes[e.String()] = b.placeholder(og, outside{number: e.String()}, n, n.Val)
	return og.exprNodes[e.String()]
}

// placeholder adds a placeholder for v, whose node in the surrounding trace is outer.
func (b *branch) placeholder(og *output, v outside, outer *fx.Node, val any) *fx.Node {
	name := outer.Name
	var first *fx.Node
	for _, n := range og.graph.Nodes {
		if n.Op != fx.Placeholder {
			first = n
			break
		}
	}
	var n *fx.Node
	add := func() { n = og.graph.CreateNode(fx.Placeholder, name, nil, nil, "") }
	if first != nil {
		og.graph.InsertBefore(first, add)
	} else {
		add()
	}
	n.Val = val
	b.inputs = append(b.inputs, v)
	return n
}

// symbolsOf are the symbols of a tensor's sizes and strides.
func (og *output) symbolsOf(f *tensor.Tensor) []string {
	if !og.sizes.Symbolic(f) {
		return nil
	}
	es := slices.Clone(og.sizes.Size(f))
	if strides, err := og.sizes.Stride(f); err == nil {
		es = append(es, strides...)
	}
	var out []string
	for _, e := range es {
		for _, name := range og.unknowns.Simplify(e).Symbols() {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

package capture

import (
	"fmt"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// branch is a subgraph being traced inside a trace: while it is, tr.graph and tr.nodes are its own.
type branch struct {
	parent *branch
	graph  *fx.Graph // of the surrounding trace
	nodes  map[*tensor.Tensor]*fx.Node
	inputs []*tensor.Tensor // values of the surrounding trace that the branch reads, in placeholder order

	backward bool // of an autograd.Function
}

// fake is tracer.fake inside a branch: values from around it come in through placeholders.
func (b *branch) fake(tr *tracer, p *torch.Tensor) (*tensor.Tensor, error) {
	if tr.nodes[p.T] != nil {
		return p.T, nil
	}
	graph, nodes := tr.graph, tr.nodes
	tr.graph, tr.nodes, tr.branch = b.graph, b.nodes, b.parent
	f, err := tr.fake(p)
	tr.graph, tr.nodes, tr.branch = graph, nodes, b
	if err != nil {
		return nil, err
	}
	if tr.nodes[f] == nil {
		b.input(tr, f)
	}
	return f, nil
}

// input adds a placeholder for a value of the surrounding trace.
func (b *branch) input(tr *tracer, f *tensor.Tensor) {
	name := b.nodes[f].Name
	var first *fx.Node
	for _, n := range tr.graph.Nodes {
		if n.Op != fx.Placeholder {
			first = n
			break
		}
	}
	var n *fx.Node
	add := func() { n = tr.graph.CreateNode(fx.Placeholder, name, nil, nil, "") }
	if first != nil {
		tr.graph.InsertBefore(first, add)
	} else {
		add()
	}
	n.Val = f
	tr.nodes[f] = n
	b.inputs = append(b.inputs, f)
}

// cond is torch.cond(pred, true_fn, false_fn, operands): one node with two subgraphs.
func (tr *tracer) cond(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	names := []string{"pred", "true_fn", "false_fn", "operands"}
	full := make([]vm.Object, 4)
	copy(full, args)
	for _, k := range kw {
		for i, n := range names {
			if n == k.Name {
				full[i] = k.Value
			}
		}
	}
	if full[0] == nil || full[1] == nil || full[2] == nil {
		return nil, false, nil // plain Python words the error
	}
	pred, ok := full[0].(*torch.Tensor)
	if !ok {
		return nil, false, nil // a constant: one branch is inlined
	}
	var operands []vm.Object
	if full[3] != nil {
		tr.seeItems(full[3])
		switch v := full[3].(type) {
		case *vm.Tuple:
			operands = v.Items
		case *vm.List:
			operands = v.Items
		default:
			return nil, false, nil
		}
	}
	tr.usePytree()
	tr.useCond()
	pf, err := tr.fake(pred)
	if err != nil {
		return nil, false, err
	}
	var given []*tensor.Tensor
	for _, o := range operands {
		p, ok := o.(*torch.Tensor)
		if !ok {
			return nil, false, &Unsupported{Reason: "Unsupported: torch.cond: operands must be a sequence of tensors"}
		}
		f, err := tr.fake(p)
		if err != nil {
			return nil, false, err
		}
		given = append(given, f)
	}
	var graphs [2]*fx.Graph
	var outs [2][]vm.Object
	var uses [2][]*tensor.Tensor
	var result vm.Object
	for i, fn := range full[1:3] {
		g, res, inputs, err := tr.traceBranch(fn, operands, given)
		if err != nil {
			return nil, false, err
		}
		graphs[i], uses[i] = g, inputs
		switch v := res.(type) {
		case *torch.Tensor:
			outs[i] = []vm.Object{v}
		case *vm.Tuple:
			outs[i] = v.Items
		case *vm.List:
			outs[i] = v.Items
		default:
			return nil, false, &Unsupported{Reason: "Unsupported: Expected branches to return a possibly nested list/tuple/dict of tensors but it consists of non tensors.", NoBreak: true}
		}
		if i == 0 {
			result = res
		}
	}
	if len(outs[0]) != len(outs[1]) {
		return nil, false, &Unsupported{Reason: fmt.Sprintf("Unsupported: Expected branches to return the same number of outputs, got %d and %d", len(outs[0]), len(outs[1])), NoBreak: true}
	}
	// What either branch read from around it is an input of both.
	all := append([]*tensor.Tensor(nil), uses[0]...)
	for _, f := range uses[1] {
		if !hasTensor(all, f) {
			all = append(all, f)
		}
	}
	var subs [2]*fx.Node
	for i, kind := range []string{"true", "false"} {
		name := fmt.Sprintf("cond_%s_%d", kind, tr.conds)
		tr.arrange(graphs[i], all)
		if tr.subs == nil {
			tr.subs = map[string]*fx.GraphModule{}
		}
		tr.subs[name] = &fx.GraphModule{Graph: graphs[i], ClassName: "GraphModule", Attrs: tr.attrs, Submodules: tr.branchesOf(graphs[i])}
		subs[i] = tr.graph.GetAttr(name)
	}
	tr.conds++
	list := make(fx.List, len(all))
	for i, f := range all {
		list[i] = tr.nodes[f]
	}
	n := tr.graph.CallFunction("torch.ops.higher_order.cond", tr.nodes[pf], subs[0], subs[1], list)
	tr.calls++
	items := make([]vm.Object, len(outs[0]))
	for i, o := range outs[0] {
		f, err := tr.onFakes(func() (vm.Object, error) { return tr.swapOne(o), nil })
		if err != nil {
			return nil, false, err
		}
		items[i] = tr.t.Wrap(tensor.FakeLike(f.(*torch.Tensor).T))
	}
	bound := tr.bind(n, vm.NewTuple(items...)).(*vm.Tuple)
	switch result.(type) {
	case *torch.Tensor:
		return bound.Items[0], true, nil
	case *vm.List:
		return vm.NewList(bound.Items...), true, nil
	}
	return bound, true, nil
}

// useCond guards what PyTorch's own version of torch.cond looks up.
func (tr *tracer) useCond() {
	own := importSource{"torch._higher_order_ops.cond"}.Name()
	tr.guards.add(fixedGuard(own),
		&Guard{Kind: "TYPE_MATCH", Expr: "___check_type_id(" + own + ".cond_op, <id>)"},
		&Guard{Kind: "EQUALS_MATCH", Expr: own + ".cond_op.__name__ == 'cond'"})
	m, err := tr.in.Import("torch")
	if err != nil {
		return
	}
	src := tr.sources[m]
	if src == nil {
		return
	}
	tr.guards.add(fixedGuard(src.Name()+".compiler"), fixedGuard(src.Name()+".compiler.is_dynamo_compiling"))
	alias := &Guard{Kind: "OBJECT_ALIASING", Expr: src.Name() + " is " + own + ".torch"}
	if k := alias.Kind + alias.Expr; !tr.guards.seen[k] {
		tr.guards.seen[k] = true
		tr.guards.list = append(tr.guards.list, alias, alias) // both objects carry it
	}
}

// branchesOf are the subgraphs that g names.
func (tr *tracer) branchesOf(g *fx.Graph) map[string]*fx.GraphModule {
	var out map[string]*fx.GraphModule
	for _, n := range g.Nodes {
		if s := tr.subs[n.Target]; n.Op == fx.GetAttr && s != nil {
			if out == nil {
				out = map[string]*fx.GraphModule{}
			}
			out[n.Target] = s
		}
	}
	return out
}

func hasTensor(l []*tensor.Tensor, f *tensor.Tensor) bool {
	for _, x := range l {
		if x == f {
			return true
		}
	}
	return false
}

// traceBranch runs a branch of a cond with a graph of its own.
func (tr *tracer) traceBranch(fn vm.Object, operands []vm.Object, given []*tensor.Tensor) (*fx.Graph, vm.Object, []*tensor.Tensor, error) {
	return tr.traceBody(fn, operands, nil, given, "Expected branches to return a possibly nested list/tuple/dict of tensors but it consists of non tensors.")
}

// traceBody runs fn with a graph of its own; given are the values that come in whether or not fn reads them, and refusal is said
// of a result that holds anything but tensors.
func (tr *tracer) traceBody(fn vm.Object, operands []vm.Object, kw []vm.KwArg, given []*tensor.Tensor, refusal string) (*fx.Graph, vm.Object, []*tensor.Tensor, error) {
	b := tr.openBody()
	defer b.close(tr)
	for _, f := range given {
		if tr.nodes[f] == nil {
			b.input(tr, f)
		}
	}
	res, done, err := tr.call(tr.in, fn, operands, kw)
	if err == nil && !done {
		res, err = tr.in.Call(fn, operands, kw)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	var out fx.Tuple
	items := []vm.Object{res}
	switch v := res.(type) {
	case *vm.Tuple:
		items = v.Items
	case *vm.List:
		items = v.Items
	}
	for _, o := range items {
		p, ok := o.(*torch.Tensor)
		if !ok {
			return nil, nil, nil, &Unsupported{Reason: "Unsupported: " + refusal, NoBreak: true}
		}
		f, err := tr.fake(p)
		if err != nil {
			return nil, nil, nil, err
		}
		out = append(out, tr.nodes[f])
	}
	g := tr.graph
	g.Output(out)
	return g, res, b.inputs, nil
}

// arrange gives a branch's graph the placeholders of inputs, in that order.
func (tr *tracer) arrange(g *fx.Graph, inputs []*tensor.Tensor) {
	var ps, rest []*fx.Node
	have := map[*tensor.Tensor]*fx.Node{}
	for _, n := range g.Nodes {
		if n.Op == fx.Placeholder {
			have[n.Val.(*tensor.Tensor)] = n
		} else {
			rest = append(rest, n)
		}
	}
	for _, f := range inputs {
		n := have[f]
		if n == nil {
			g.InsertBefore(rest[0], func() { n = g.CreateNode(fx.Placeholder, tr.nodes[f].Name, nil, nil, "") })
			n.Val = f
		}
		ps = append(ps, n)
	}
	g.Nodes = append(ps, rest...)
}

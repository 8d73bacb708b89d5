package capture

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// cond is torch.cond(pred, true_fn, false_fn, operands): one node with two subgraphs. done is false where plain Python does what PyTorch
// does: it words the error of a wrong call, and a constant pred makes it the call of one branch.
func (bo *bodies) cond(args []vm.Object, kw []vm.KwArg) (v vm.Object, done bool, err error) {
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
	pred, ok := full[0].(*torch.Tensor)
	if !ok || full[1] == nil || full[2] == nil {
		return nil, false, nil
	}
	var operands []vm.Object
	if full[3] != nil {
		bo.world.seeItems(full[3])
		switch v := full[3].(type) {
		case *vm.Tuple:
			operands = v.Items
		case *vm.List:
			operands = v.Items
		default:
			return nil, false, nil
		}
	}
	bo.usePytree()
	bo.useCond()
	pf, given, err := bo.condInputs(pred, full[1:3], operands)
	if err != nil {
		return nil, false, err
	}
	graphs, uses, result, err := bo.traceBranches(full[1:3], operands, given)
	if err != nil {
		return nil, false, err
	}
	all, names := bo.branchInputs(uses)
	var subs [2]*fx.Node
	for i, kind := range []string{"true", "false"} {
		name := fmt.Sprintf("cond_%s_%d", kind, bo.conds)
		bo.out.rename(graphs[i], all, names)
		bo.out.file(name, graphs[i])
		subs[i] = bo.out.graph.GetAttr(name)
	}
	bo.conds++
	list := make(fx.List, len(all))
	for i, v := range all {
		list[i] = bo.out.nodeOf(v)
	}
	n := bo.out.graph.CallFunction("torch.ops.higher_order.cond", bo.out.nodes[pf], subs[0], subs[1], list)
	bo.out.calls++
	return bo.standIns.bodyResult(n, result)
}

// condInputs makes inputs of what a cond reads, in PyTorch's order: pred, what the branches close over, the operands.
func (bo *bodies) condInputs(pred *torch.Tensor, branches, operands []vm.Object) (p *tensor.Tensor, given []*tensor.Tensor, err error) {
	if p, err = bo.standIns.fake(pred); err != nil {
		return nil, nil, err
	}
	for _, fn := range branches {
		if err := bo.realizeClosure(fn); err != nil {
			return nil, nil, err
		}
	}
	for _, o := range operands {
		x, ok := o.(*torch.Tensor)
		if !ok {
			return nil, nil, unsupported(breaks.CondOperands)
		}
		f, err := bo.standIns.fake(x)
		if err != nil {
			return nil, nil, err
		}
		given = append(given, f)
	}
	return p, given, nil
}

// traceBranches runs both branches of a cond, each with a graph of its own. They have to give back as many tensors; result is the first
// one's, which is what the cond's own result looks like.
func (bo *bodies) traceBranches(branches, operands []vm.Object, given []*tensor.Tensor) (graphs [2]*fx.Graph, uses [2][]outside, result vm.Object, err error) {
	var outs [2]int
	for i, fn := range branches {
		var res vm.Object
		if graphs[i], res, uses[i], err = bo.traceBody(fn, operands, nil, given, breaks.CondResult); err != nil {
			return graphs, uses, nil, err
		}
		switch v := res.(type) {
		case *torch.Tensor:
			outs[i] = 1
		case *vm.Tuple:
			outs[i] = len(v.Items)
		case *vm.List:
			outs[i] = len(v.Items)
		default:
			return graphs, uses, nil, unsupported(breaks.CondResult)
		}
		if i == 0 {
			result = res
		}
	}
	if outs[0] != outs[1] {
		return graphs, uses, nil, unsupported(breaks.CondResults, strconv.Itoa(outs[0]), strconv.Itoa(outs[1]))
	}
	return graphs, uses, result, nil
}

// realizeClosure looks at what a function made in the trace closes over, in the order of its cells: PyTorch does so with the arguments of
// an operator that has a body, before it traces that.
func (bo *bodies) realizeClosure(fn vm.Object) error {
	f, ok := fn.(*vm.Function)
	if !ok {
		return nil
	}
	for _, c := range f.Closure {
		src := bo.bindings.argumentOf(c)
		if src == nil {
			continue
		}
		if s, ok := bo.symbols.lifted(c.V, src).(*torch.Scalar); ok {
			bo.out.exprNode(s.Expr)
			continue
		}
		bo.world.see(c.V, src)
		if p, ok := c.V.(*torch.Tensor); ok {
			if _, err := bo.standIns.fake(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// useCond guards what PyTorch's own version of torch.cond looks up.
func (bo *bodies) useCond() {
	own := source.Import{Module: "torch._higher_order_ops.cond"}.Name()
	bo.guards.Add(guard.Part(own),
		guard.New(guard.TypeMatch, "___check_type_id("+own+".cond_op, <id>)", nil, nil),
		guard.New(guard.EqualsMatch, own+".cond_op.__name__ == 'cond'", nil, nil))
	m, err := bo.in.Import("torch")
	if err != nil {
		return
	}
	src := bo.world.sources[m]
	if src == nil {
		return
	}
	bo.guards.Add(guard.Part(src.Name()+".compiler"), guard.Part(src.Name()+".compiler.is_dynamo_compiling"))
	bo.guards.AddTwice(guard.New(guard.ObjectAliasing, src.Name()+" is "+own+".torch", nil, nil))
}

// traceBody runs fn with a graph of its own; given are the values that come in whether or not fn reads them, and refusal is said
// of a result that holds anything but tensors.
func (bo *bodies) traceBody(fn vm.Object, operands []vm.Object, kw []vm.KwArg, given []*tensor.Tensor, refusal breaks.ID) (*fx.Graph, vm.Object, []outside, error) {
	b := bo.out.openBody()
	defer b.close(bo.out) // after an error, too: the trace may go on behind it, in an except block of the program
	for _, f := range given {
		if bo.out.nodes[f] == nil {
			b.input(bo.out, f)
		}
	}
	res, done, err := bo.call(bo.in, fn, operands, kw)
	if err == nil && !done {
		res, err = bo.in.Call(fn, operands, kw)
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
			return nil, nil, nil, unsupported(refusal)
		}
		f, err := bo.standIns.fake(p)
		if err != nil {
			return nil, nil, nil, err
		}
		out = append(out, bo.out.nodes[f])
	}
	g := bo.out.graph
	g.Output(out)
	return g, res, b.inputs, nil
}

// branchInputs are what two branches read of the trace around them, in the order and with the names that PyTorch gives them: what both
// read, then what only the first does, then what only the second does, each sorted by name.
func (bo *bodies) branchInputs(uses [2][]outside) (all []outside, names []string) {
	for _, part := range []struct {
		suffix string
		of     []outside
		in     func(v outside) bool
	}{
		{"", uses[0], func(v outside) bool { return slices.Contains(uses[1], v) }},
		{"_true_branch", uses[0], func(v outside) bool { return !slices.Contains(uses[1], v) }},
		{"_false_branch", uses[1], func(v outside) bool { return !slices.Contains(uses[0], v) }},
	} {
		var vs []outside
		for _, v := range part.of {
			if part.in(v) {
				vs = append(vs, v)
			}
		}
		slices.SortFunc(vs, func(a, b outside) int { return strings.Compare(bo.out.nodeOf(a).Name, bo.out.nodeOf(b).Name) })
		for _, v := range vs {
			all, names = append(all, v), append(names, bo.out.nodeOf(v).Name+part.suffix)
		}
	}
	return all, names
}

// arrange gives a branch's graph the placeholders of inputs, in that order.
func (bo *bodies) arrange(g *fx.Graph, inputs []outside) {
	var ps, rest []*fx.Node
	have := map[outside]*fx.Node{}
	for _, n := range g.Nodes {
		if n.Op == fx.Placeholder {
			have[outsideOf(n)] = n
		} else {
			rest = append(rest, n)
		}
	}
	for _, v := range inputs {
		n := have[v]
		if n == nil {
			outer := bo.out.nodeOf(v)
			g.InsertBefore(rest[0], func() { n = g.CreateNode(fx.Placeholder, outer.Name, nil, nil, "") })
			n.Val = outer.Val
		}
		ps = append(ps, n)
	}
	g.Nodes = append(ps, rest...)
}

package capture

import (
	"slices"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// condReason is what an error says of a cond that ends the trace.
const condReason = "Cond doesn't work unless it is captured completely with torch.compile."

// cond is torch.cond(pred, true_fn, false_fn, operands): one node with two subgraphs. done is false where plain Python does what PyTorch
// does: a constant pred makes it the call of one branch.
func (bo *bodies) cond(args []vm.Object, kw []vm.KwArg) (v vm.Object, done bool, err error) {
	v, done, err = bo.tracedCond(args, kw)
	return v, done, bo.uncaptured(condReason, err)
}

func (bo *bodies) tracedCond(args []vm.Object, kw []vm.KwArg) (v vm.Object, done bool, err error) {
	names := []string{"pred", "true_fn", "false_fn", "operands"}
	full := make([]vm.Object, 4)
	copy(full, args)
	given := len(args)
	var unexpected []vm.KwArg
	for _, k := range kw {
		at := slices.Index(names, k.Name)
		if at < 0 {
			unexpected = append(unexpected, k)
			continue
		}
		full[at] = k.Value
		given++
	}
	if len(unexpected) > 0 {
		return nil, false, refused("torch.cond: Got unexpected kwargs: %s", keywordList(unexpected))
	}
	if full[3] == nil && given == 3 {
		full[3] = vm.NewTuple()
		given++
	}
	if given != 4 {
		return nil, false, refused("Expected 4 arguments but got %d.\nUsage: cond(pred, true_fn, false_fn, operands)", given)
	}
	pred, ok := full[0].(*torch.Tensor)
	if !ok {
		return bo.constantCond(full)
	}
	operands, err := bo.sequence(full[3], "Expected operands to be a list/tuple but got %s")
	if err != nil {
		return nil, false, err
	}
	bo.usePytree()
	bo.useCond()
	pf, err := bo.condInputs(pred, full[1:3], operands)
	if err != nil {
		return nil, false, err
	}
	for i, fn := range full[1:3] {
		if !callable(fn) && fn.Type().Lookup("__call__") == nil {
			return nil, false, refused("%s is of unsupported callable type %s.", names[1+i], bo.world.variableName(fn))
		}
	}
	branches, err := bo.traceBranches(full[1:3], operands)
	if err != nil {
		return nil, false, err
	}
	all, names := bo.merged([2][]outside{branches[0].inputs, branches[1].inputs}, [2]string{"_true_branch", "_false_branch"})
	var subs [2]*fx.Node
	for i, kind := range []string{"cond_true", "cond_false"} {
		bo.out.rename(branches[i].graph, all, names, 0)
		undescribed(branches[i].graph, 0)
		subs[i] = bo.file(kind, branches[i])
	}
	res, err := bo.node("cond", []fx.Arg{bo.out.nodes[pf], subs[0], subs[1], fx.List(bo.nodesOf(all))}, nil, branches[0].tree, nil)
	return res, err == nil, err
}

// alike reports whether two structures are the same. A leaf beside a container passes, as it does in PyTorch's capture.
func (bo *bodies) alike(a, b vm.Object) (bool, error) {
	if a.Type() != b.Type() {
		return true, nil
	}
	same, err := bo.outside(func() (vm.Object, error) { return bo.in.CallMethod(a, "__eq__", b) })
	return same == vm.True, err
}

// constantCond is a cond whose predicate is no value of the graph: the call of one branch.
func (bo *bodies) constantCond(full []vm.Object) (vm.Object, bool, error) {
	_, err := bo.outside(func() (vm.Object, error) {
		m, err := bo.in.Import("warnings")
		if err != nil {
			return nil, err
		}
		return bo.in.CallMethod(m, "warn", vm.Str("Pred is a Python constant. When used with torch.cond, it specializes on one of the branches. "+
			"If you want torch.cond to preserve two branches, please make the predicate a boolean tensor or a SymBool."))
	})
	if err != nil {
		return nil, false, err
	}
	yes, err := bo.in.Truth(full[0])
	if err != nil {
		return nil, false, err
	}
	operands, err := bo.sequence(full[3], "Expected operands to be a list/tuple but got %s")
	if err != nil {
		return nil, false, err
	}
	fn := full[2]
	if yes {
		fn = full[1]
	}
	v, err := bo.callTraced(fn, operands, nil)
	return v, err == nil, err
}

// condInputs makes inputs of what a cond reads, in PyTorch's order: pred, what the branches close over, the operands.
func (bo *bodies) condInputs(pred *torch.Tensor, branches, operands []vm.Object) (p *tensor.Tensor, err error) {
	if p, err = bo.standIns.fake(pred); err != nil {
		return nil, err
	}
	for _, fn := range branches {
		if err := bo.realizeOne(fn); err != nil {
			return nil, err
		}
	}
	if bad := bo.operandsOf(operands); bad {
		return nil, refused("Expect operands to be a tuple of pytrees that only consists of tensor leaves.")
	}
	return p, bo.realize(nil, operands, nil)
}

// operandsOf reports whether there is anything but tensors and constants in operands.
func (bo *bodies) operandsOf(operands []vm.Object) (bad bool) {
	for _, o := range operands {
		bo.world.seeItems(o)
		switch v := o.(type) {
		case *torch.Tensor, vm.Int, vm.Bool, vm.Float, vm.Str, *vm.NoneType:
		case *vm.Tuple:
			bad = bad || bo.operandsOf(v.Items)
		case *vm.List:
			bad = bad || bo.operandsOf(v.Items)
		case *vm.Dict:
			bad = bad || bo.operandsOf(v.Values())
		default:
			return true
		}
	}
	return bad
}

// traceBranches runs both branches of a cond, each with a graph of its own. Their results have to be alike.
func (bo *bodies) traceBranches(branches, operands []vm.Object) (out [2]*body, err error) {
	for i, fn := range branches {
		if out[i], err = bo.trace(fn, nil, operands, nil); err != nil {
			return out, err
		}
		for _, o := range out[i].leaves {
			if _, ok := o.(*torch.Tensor); !ok {
				return out, unsupported(breaks.CondResult)
			}
		}
	}
	same, err := bo.alike(out[0].spec, out[1].spec)
	if err != nil {
		return out, err
	}
	if !same {
		return out, refused("Expected branches to return the same pytree structure.")
	}
	if diffs := bo.differences(out[0].leaves, out[1].leaves); diffs != "" {
		return out, refused("Expect branches to return tensors with same metadata but find %s", diffs)
	}
	return out, nil
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

// merged are what two bodies read of the trace around them, in the order and with the names that PyTorch gives them: what both
// read, then what only the first does, then what only the second does, each sorted by name.
func (bo *bodies) merged(uses [2][]outside, suffixes [2]string) (all []outside, names []string) {
	for _, part := range []struct {
		suffix string
		of     []outside
		in     func(v outside) bool
	}{
		{"", uses[0], func(v outside) bool { return slices.Contains(uses[1], v) }},
		{suffixes[0], uses[0], func(v outside) bool { return !slices.Contains(uses[1], v) }},
		{suffixes[1], uses[1], func(v outside) bool { return !slices.Contains(uses[0], v) }},
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

// arrange gives a branch's graph the placeholders of inputs, in that order, behind its first own ones.
func (bo *bodies) arrange(g *fx.Graph, inputs []outside, own int) {
	var ps, rest []*fx.Node
	have := map[outside]*fx.Node{}
	for _, n := range g.Nodes {
		switch {
		case n.Op != fx.Placeholder:
			rest = append(rest, n)
		case len(ps) < own:
			ps = append(ps, n)
		default:
			have[outsideOf(n)] = n
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

package capture

import (
	"fmt"
	"slices"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// checkpoint is torch.utils.checkpoint.checkpoint(fn, *args): one node that names the graph of fn. What fn reads comes in in
// the order of its use.
func (tr *tracer) checkpoint(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(args) == 0 {
		return nil, false, nil // plain Python words the error
	}
	var settings []fx.Kwarg
	var given []vm.KwArg
	for _, k := range kw {
		if !checkpointSettings.has(k.Name) {
			given = append(given, k)
			continue
		}
		v, err := tr.t.GraphArg(k.Value, func(vm.Object) (fx.Arg, bool, error) { return nil, false, nil })
		if err != nil {
			return nil, false, unsupported(breaks.CheckpointArgument, k.Name)
		}
		settings = append(settings, fx.Kwarg{Name: k.Name, Val: v})
	}
	tr.usePytree()
	if err := tr.realizeClosure(args[0]); err != nil {
		return nil, false, err
	}
	g, res, inputs, err := tr.traceBody(args[0], args[1:], given, nil, breaks.CheckpointResult)
	if err != nil {
		return nil, false, err
	}
	inputs = tr.byUse(g, inputs)
	tr.arrange(g, inputs)
	name := fmt.Sprintf("wrap_body_%d", tr.bodies)
	tr.bodies++
	if tr.subs == nil {
		tr.subs = map[string]*fx.GraphModule{}
	}
	tr.subs[name] = &fx.GraphModule{Graph: g, ClassName: "GraphModule", Attrs: tr.attrs, Submodules: tr.branchesOf(g)}
	operands := []fx.Arg{tr.graph.GetAttr(name)}
	for _, v := range inputs {
		operands = append(operands, tr.nodeOf(v))
	}
	n := tr.graph.CreateNode(fx.CallFunction, "torch.ops.higher_order.tag_activation_checkpoint", operands, settings, "")
	n.SetOrigin(tr.origin())
	tr.calls++
	return tr.bodyResult(n, res)
}

// byUse sorts what a body reads by the nodes that read it; the symbols of a tensor's sizes come before it.
func (tr *tracer) byUse(g *fx.Graph, inputs []outside) []outside {
	var out []outside
	add := func(v outside) {
		if slices.Contains(inputs, v) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, n := range g.Nodes {
		n.WalkInputs(func(in *fx.Node) {
			if in.Op != fx.Placeholder {
				return
			}
			v := outsideOf(in)
			if v.tensor != nil {
				for _, name := range tr.symbolsOf(v.tensor) {
					add(outside{number: name})
				}
			}
			add(v)
		})
	}
	for _, v := range inputs {
		add(v)
	}
	return out
}

// bodyResult binds what a node with a body gives back: tensors like those that the body computed, in the same container.
func (tr *tracer) bodyResult(n *fx.Node, res vm.Object) (vm.Object, bool, error) {
	outs := []vm.Object{res}
	switch v := res.(type) {
	case *vm.Tuple:
		outs = v.Items
	case *vm.List:
		outs = v.Items
	}
	items := make([]vm.Object, len(outs))
	for i, o := range outs {
		f := tr.swapOne(o).(*torch.Tensor).T // traceBody takes nothing but tensors
		x := tensor.FakeLike(f)
		tr.sizes.Copy(x, f)
		if tr.t.Grad.RequiresGrad(f) {
			if err := tr.t.Grad.SetRequiresGrad(x, true); err != nil {
				return nil, false, err
			}
		}
		items[i] = tr.t.Wrap(x)
	}
	bound := tr.bind(n, vm.NewTuple(items...)).(*vm.Tuple)
	switch res.(type) {
	case *torch.Tensor:
		return bound.Items[0], true, nil
	case *vm.List:
		return vm.NewList(bound.Items...), true, nil
	}
	return bound, true, nil
}

// pytreeFacts are what PyTorch's capture guards when an operator with a body goes through its arguments: the parts of
// torch.utils._pytree that it traces. check is what is printed of a part, "" for its identity.
var pytreeFacts = []struct {
	kind      guard.Kind
	check, of string
}{
	{guard.IDMatch, "", ""},
	{guard.IDMatch, "", ".TreeSpec"},
	{guard.IDMatch, "", "._is_leaf.__code__"},
	{guard.TypeMatch, "___check_type_id(%s, <id>)", "._LEAF_SPEC"},
	{guard.IDMatch, "", "._LEAF_SPEC.type"},
	{guard.IDMatch, "", "._LEAF_SPEC.context"},
	{guard.EqualsMatch, "%s == 1", "._LEAF_SPEC.num_nodes"},
	{guard.EqualsMatch, "%s == 1", "._LEAF_SPEC.num_leaves"},
	{guard.EqualsMatch, "%s == 0", "._LEAF_SPEC.num_children"},
	{guard.TypeMatch, "___check_type_id(%s, <id>)", "._LEAF_SPEC.children_specs"},
	{guard.LengthCheck, "not %s", "._LEAF_SPEC.children_specs"},
	{guard.IDMatch, "", "._get_node_type.__code__"},
	{guard.DictVersion, "___dict_version(%s) == 3", ".SUPPORTED_NODES"},
	{guard.IDMatch, "", "._tree_flatten_helper.__code__"},
	{guard.IDMatch, "", "._is_namedtuple_instance.__code__"},
}

// usePytree guards what PyTorch relies on when it flattens arguments.
func (tr *tracer) usePytree() {
	for _, name := range []string{"len", "list", "type", "tuple", "isinstance"} {
		if v, ok := tr.in.Builtins.Dict.GetStr(name); ok {
			tr.useBuiltin(name, v)
		}
	}
	module := source.Import{Module: "torch.utils._pytree"}.Name()
	for _, f := range pytreeFacts {
		if f.kind == guard.IDMatch {
			tr.guards.Add(guard.Part(module + f.of))
		} else {
			tr.guards.Add(guard.New(f.kind, fmt.Sprintf(f.check, module+f.of), nil, nil))
		}
	}
	tr.guards.Add(guard.Part("G['_<id>_c0'].Tensor"), guard.Part("G['_<id>_c0'].Tensor.__bases__[0]"))
}

// higherOrder is a call of an operator of torch.ops.higher_order, as repros of graphs with bodies have it. Of others the calls of the bodies
// become the graph's.
func (tr *tracer) higherOrder(op *vm.Instance, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	o, err := tr.in.GetAttr(op, "__name__")
	if err != nil {
		return nil, false, err
	}
	name, _ := vm.AsStr(o)
	switch name {
	case "tag_activation_checkpoint":
		return tr.checkpoint(args, kw)
	case "cond":
		return tr.cond(args, kw)
	}
	return nil, false, nil
}

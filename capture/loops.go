package capture

import (
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// Operators that run a body several times: map, while_loop, scan and associative_scan.

// sample is the part of a tensor that a body gets of it at each step: x selected at the first index of a dimension, as a value that no graph computes.
// Its node keeps a name from being used, as PyTorch's does.
func (bo *bodies) sample(x *torch.Tensor) (operand, error) {
	v, err := bo.callTraced(bo.selector(), []vm.Object{x, vm.MakeInt(0), vm.MakeInt(0)}, nil)
	if err != nil {
		return operand{}, err
	}
	p := v.(*torch.Tensor)
	n := bo.out.nodes[p.T]
	bo.out.graph.NameAfter(n, "child")
	if bo.out.branch == nil {
		bo.out.graph.Erase(n)
		bo.out.calls--
	}
	return operand{p, n.Name}, nil
}

// discarded is x selected at the first index of a dimension, as a value that no graph computes.
func (bo *bodies) discarded(x *torch.Tensor, dim int) (vm.Object, error) {
	b := bo.out.openBody()
	defer b.close(bo.out)
	return bo.callTraced(bo.selector(), []vm.Object{x, vm.MakeInt(int64(dim)), vm.MakeInt(0)}, nil)
}

// selector is the function that takes one index of a dimension.
func (bo *bodies) selector() vm.Object {
	return &vm.Builtin{Name: "getitem", Module: "_operator", Min: 3, Max: 3, Fn: func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		dim, _ := vm.AsInt(a[1])
		if dim == 0 {
			return in.GetItem(a[0], a[2])
		}
		index := &vm.Tuple{}
		for range dim {
			index.Items = append(index.Items, &vm.Slice{Start: vm.None, Stop: vm.None, Step: vm.None})
		}
		index.Items = append(index.Items, a[2])
		return in.GetItem(a[0], index)
	}}
}

// mapOver is map(fn, xs, *args): fn for each of the first dimension of xs.
func (bo *bodies) mapOver(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(kw) > 0 {
		return nil, false, refused("torch.ops.higher_order.map: kwargs are not supported in the map operator.")
	}
	if len(args) < 2 {
		return nil, false, nil
	}
	xs, ok := args[1].(*torch.Tensor)
	if !ok {
		return nil, false, bo.in.Errorf(bo.in.Exc.AssertionError, "")
	}
	f, err := bo.standIns.fake(xs)
	if err != nil {
		return nil, false, err
	}
	if len(f.Shape) == 0 || f.Shape[0] == 0 {
		return nil, false, refused("map() operator doesn't support scalar or zero-sized tensors during tracing.")
	}
	bo.usePytree()
	if err := bo.realize(args[0], args[1:], nil); err != nil {
		return nil, false, err
	}
	row, err := bo.sample(xs)
	if err != nil {
		return nil, false, err
	}
	own, nodes, err := bo.ownOperands(args[2:])
	if err != nil {
		return nil, false, err
	}
	b, err := bo.trace(args[0], append([]operand{row}, own...), nil, nil)
	if err != nil {
		return nil, false, err
	}
	operands := append(fx.List(nodes), bo.lift(b, 1+len(own))...)
	count := bo.sizes.Size(f)[0]
	v, err := bo.node("map_impl", []fx.Arg{bo.file("map_body", b), fx.List{bo.out.nodes[f]}, operands}, nil, b.tree, func(of *tensor.Tensor) *tensor.Tensor {
		return bo.stacked(of, f.Shape[0], count, 0)
	})
	return v, err == nil, err
}

// stacked is a contiguous tensor of n like of along a new dimension.
func (bo *bodies) stacked(of *tensor.Tensor, n int64, count *symbolic.Expr, dim int) *tensor.Tensor {
	shape := append(append(append([]int64(nil), of.Shape[:dim]...), n), of.Shape[dim:]...)
	x := tensor.EmptyFake(of.DType, shape, tensor.ContiguousStrides(shape))
	inner := bo.sizes.Size(of)
	size := append(append(append([]*symbolic.Expr(nil), inner[:dim]...), count), inner[dim:]...)
	if !constants(size) {
		stride := make([]*symbolic.Expr, len(size))
		step := symbolic.Int(1)
		for i := len(size) - 1; i >= 0; i-- {
			stride[i] = step
			step = symbolic.Mul(step, size[i])
		}
		bo.sizes.Set(x, size, stride)
	}
	return x
}

// whileLoop is while_loop(cond_fn, body_fn, carried, additional).
func (bo *bodies) whileLoop(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(kw) > 0 {
		return nil, false, refused("torch.while_loop: Got unexpected kwargs: %s", keywordList(kw))
	}
	if len(args) != 4 {
		return nil, false, refused("Expected 4 arguments but got %d.\nUsage: while_loop(cond_fn, body_fn, operands)", len(args))
	}
	carried, err := bo.sequence(args[2], "Expected operands to be a list/tuple but got %s")
	if err != nil {
		return nil, false, err
	}
	more, err := bo.sequence(args[3], "Expected additional_inputs to be a list/tuple but got %s. It seems to be an internal error, please report an issue to PyTorch.")
	if err != nil {
		return nil, false, err
	}
	bo.usePytree()
	all := append(append([]vm.Object(nil), carried...), more...)
	for _, o := range all {
		bo.out.nameAfter(o, "child")
	}
	for _, fn := range args[:2] {
		if err := bo.realizeOne(fn); err != nil {
			return nil, false, err
		}
	}
	own, nodes, err := bo.ownOperands(all)
	if err != nil {
		return nil, false, err
	}
	test, err := bo.trace(args[0], own, nil, nil)
	if err != nil {
		return nil, false, err
	}
	if len(test.leaves) != 1 {
		return nil, false, refused("Expected cond_fn to return a tensor but got %d values", len(test.leaves))
	}
	p, ok := test.leaves[0].(*torch.Tensor)
	if !ok {
		return nil, false, refused("Expected cond_fn to return a tensor but got %s", classOf(test.leaves[0]))
	}
	if p.T.DType != tensor.Bool || len(p.T.Shape) != 0 {
		return nil, false, refused("Expected cond_fn to return a tensor with shape (,) but got %s", sizeText(p.T.Shape))
	}
	test.single()
	step, err := bo.trace(args[1], own, nil, nil)
	if err != nil {
		return nil, false, err
	}
	if diffs := bo.differences(carried, step.leaves); diffs != "" {
		return nil, false, refused("Expected carried_inputs and body outputs return tensors with same metadata but find:\n%s", diffs)
	}
	shared, names := bo.merged([2][]outside{test.inputs, step.inputs}, [2]string{"_cond_fn", "_body_fn"})
	for _, b := range []*body{test, step} {
		bo.out.rename(b.graph, shared, names, len(own))
		undescribed(b.graph, len(own))
	}
	lifted := append(fx.Tuple(nodes[len(carried):]), bo.nodesOf(shared)...)
	condNode, bodyNode := bo.file("cond_fn", test), bo.file("body_fn", step)
	v, err := bo.node("while_loop", []fx.Arg{condNode, bodyNode, fx.Tuple(nodes[:len(carried)]), lifted}, nil, step.tree, nil)
	return v, err == nil, err
}

// undescribed takes from the placeholders of a graph behind the first own ones what is printed of their values: PyTorch makes them anew when two bodies
// are given the same operands, and notes nothing of their values.
func undescribed(g *fx.Graph, own int) {
	for _, n := range g.Placeholders()[own:] {
		if n.Meta == nil {
			n.Meta = map[string]any{}
		}
		n.Meta[fx.MetaUndescribed] = true
	}
}

// single makes the one result of a body its output, where it was a tuple.
func (b *body) single() {
	out := b.graph.Nodes[len(b.graph.Nodes)-1]
	if t, ok := out.Args[0].(fx.Tuple); ok && len(t) == 1 {
		out.Args[0] = t[0]
	}
}

// list makes the results of a body a list, as the function gave them.
func (b *body) list() {
	out := b.graph.Nodes[len(b.graph.Nodes)-1]
	if t, ok := out.Args[0].(fx.Tuple); ok {
		out.Args[0] = fx.List(t)
	}
}

// sizeText is a shape as torch.Size prints it.
func sizeText(shape []int64) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = fmt.Sprint(n)
	}
	return "torch.Size([" + strings.Join(parts, ", ") + "])"
}

// metadata is a tensor as PyTorch's messages describe it.
func (bo *bodies) metadata(x *tensor.Tensor) string {
	stride := make([]string, len(x.Stride))
	for i, n := range x.Stride {
		stride[i] = fmt.Sprint(n)
	}
	strides := "(" + strings.Join(stride, ", ") + ")"
	if len(stride) == 1 {
		strides = "(" + stride[0] + ",)"
	}
	return fmt.Sprintf("TensorMetadata(shape=%s, dtype=%s, requires_grad=%s, stride=%s, memory_format=None, is_quantized=False, qparams={})",
		sizeText(x.Shape), "torch."+x.DType.String(), pyBool(bo.t.Grad.RequiresGrad(x)), strides)
}

// differences says where tensors that have to be alike are not; "" where they are.
func (bo *bodies) differences(a, b []vm.Object) string {
	var all []string
	for i := range min(len(a), len(b)) {
		l, ok1 := bo.standIns.swapOne(a[i]).(*torch.Tensor)
		r, ok2 := bo.standIns.swapOne(b[i]).(*torch.Tensor)
		if !ok1 || !ok2 {
			continue
		}
		var parts []string
		x, y := l.T, r.T
		if !tensor.SameShape(x, y) {
			parts = append(parts, fmt.Sprintf("'shape: %s vs %s'", sizeText(x.Shape), sizeText(y.Shape)))
		}
		if x.DType != y.DType {
			parts = append(parts, fmt.Sprintf("'dtype: torch.%s vs torch.%s'", x.DType, y.DType))
		}
		if fmt.Sprint(x.Stride) != fmt.Sprint(y.Stride) {
			parts = append(parts, fmt.Sprintf("'stride: %v vs %v'", x.Stride, y.Stride))
		}
		if len(parts) > 0 {
			all = append(all, fmt.Sprintf("pair[%d] differ in %s, where lhs is %s and rhs is %s", i, strings.Join(parts, ", "), bo.metadata(x), bo.metadata(y)))
		}
	}
	return strings.Join(all, "\n")
}

// scanned are the operands of a scan's function: for each of xs the part at the first index of a dimension.
func (bo *bodies) scanned(xs []vm.Object, dim int) ([]operand, error) {
	var out []operand
	for _, o := range xs {
		x, ok := o.(*torch.Tensor)
		if !ok {
			return nil, refused("Expected xs to be a list of tensors but got %s", classOf(o))
		}
		row, err := bo.discarded(x, dim)
		if err != nil {
			return nil, err
		}
		out = append(out, operand{row, "child"})
	}
	return out, nil
}

// associativeScan is the operator associative_scan(combine_fn, xs, dim).
func (bo *bodies) associativeScan(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	full, ok := named(args, kw, "combine_fn", "xs", "dim")
	if !ok {
		return nil, false, nil
	}
	list, ok := full[1].(*vm.List)
	if !ok {
		return nil, false, refused("Expected xs to be a list of tensors but got %s", classOf(full[1]))
	}
	bo.world.seeItems(list)
	if err := bo.realize(full[0], list.Items, nil); err != nil {
		return nil, false, err
	}
	dim, ok := vm.AsInt(full[2])
	if !ok {
		return nil, false, refused("associative_scan over a dimension that is no constant")
	}
	for _, o := range list.Items {
		if x, ok := o.(*torch.Tensor); ok && (dim < 0 || int(dim) >= len(x.T.Shape)) {
			return nil, false, refused("associative_scan over dimension %d of a tensor with %d", dim, len(x.T.Shape))
		}
	}
	own, err := bo.scanned(append(append([]vm.Object(nil), list.Items...), list.Items...), int(dim))
	if err != nil {
		return nil, false, err
	}
	b, err := bo.trace(full[0], children(own), nil, nil)
	if err != nil {
		return nil, false, err
	}
	if len(b.inputs) > 0 {
		return nil, false, refused("Combine fn had unexpected freevars: {%s}", bo.proxies(b.inputs))
	}
	if len(b.leaves) != len(list.Items) {
		return nil, false, refused("Expected combine_fn to return %d tensors but got %d", len(list.Items), len(b.leaves))
	}
	for i, o := range list.Items {
		x, ok1 := bo.standIns.swapOne(o).(*torch.Tensor)
		y, ok2 := b.leaves[i].(*torch.Tensor)
		if ok1 && ok2 && x.T.DType != y.T.DType {
			return nil, false, refused("Expected combine_fn to return a tensor of torch.%s but got torch.%s", x.T.DType, y.T.DType)
		}
	}
	b.list()
	nodes := bo.tensorNodes(list.Items)
	v, err := bo.node("associative_scan", []fx.Arg{bo.file("associative_scan_combine_fn", b), fx.List(nodes), dim}, nil, tree{leaves: list.Items}, nil)
	return v, err == nil, err
}

// children names operands that PyTorch takes out of a list: child, child_1 ...
func children(own []operand) []operand {
	for i := range own {
		own[i].name = "child"
		if i > 0 {
			own[i].name = fmt.Sprintf("child_%d", i)
		}
	}
	return own
}

// tensorNodes are the nodes of tensors that are values of the trace.
func (bo *bodies) tensorNodes(ts []vm.Object) []fx.Arg {
	var out []fx.Arg
	for _, o := range ts {
		if p, ok := bo.standIns.swapOne(o).(*torch.Tensor); ok {
			out = append(out, bo.out.nodes[p.T])
		}
	}
	return out
}

// named are arguments by position and by name, in the order of names; ok is false where one is missing or unknown.
func named(args []vm.Object, kw []vm.KwArg, names ...string) (full []vm.Object, ok bool) {
	full = make([]vm.Object, len(names))
	if len(args) > len(names) {
		return nil, false
	}
	copy(full, args)
	for _, k := range kw {
		found := false
		for i, n := range names {
			if n == k.Name {
				full[i], found = k.Value, true
			}
		}
		if !found {
			return nil, false
		}
	}
	for _, v := range full {
		if v == nil {
			return nil, false
		}
	}
	return full, true
}

// scan is the operator scan(combine_fn, init, xs, dim, reverse, additional_inputs).
func (bo *bodies) scan(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	full, ok := named(args, kw, "combine_fn", "init", "xs", "dim", "reverse", "additional_inputs")
	if !ok {
		return nil, false, nil
	}
	xs, ok := full[2].(*vm.List)
	if !ok {
		return nil, false, refused("Expected xs to be a list of tensors but got %s", classOf(full[2]))
	}
	init, ok := full[1].(*vm.List)
	if !ok {
		return nil, false, refused("Expected init to be a list of tensors but got %s", classOf(full[1]))
	}
	more, err := bo.sequence(full[5], "Expected additional_inputs to be a list/tuple but got %s")
	if err != nil {
		return nil, false, err
	}
	if err := bo.realize(full[0], append(append(append([]vm.Object(nil), init.Items...), xs.Items...), more...), nil); err != nil {
		return nil, false, err
	}
	dim, ok1 := vm.AsInt(full[3])
	reverse, ok2 := full[4].(vm.Bool)
	if !ok1 || !ok2 {
		return nil, false, refused("scan over a dimension that is no constant")
	}
	if len(xs.Items) == 0 {
		return nil, false, refused("scan() operator doesn't support zero-sized tensors during tracing.")
	}
	first, ok := bo.standIns.swapOne(xs.Items[0]).(*torch.Tensor)
	if ok && (dim < 0 || int(dim) >= len(first.T.Shape)) {
		return nil, false, refused("scan over dimension %d of a tensor with %d", dim, len(first.T.Shape))
	}
	if !ok || first.T.Shape[dim] == 0 {
		return nil, false, refused("scan() operator doesn't support zero-sized tensors during tracing.")
	}
	if len(init.Items) == 0 {
		return nil, false, refused("scan() operator requires init leaves.")
	}
	own, _, err := bo.ownOperands(init.Items)
	if err != nil {
		return nil, false, err
	}
	rows, err := bo.scanned(xs.Items, int(dim))
	if err != nil {
		return nil, false, err
	}
	extra, extraNodes, err := bo.ownOperands(more)
	if err != nil {
		return nil, false, err
	}
	own = children(append(append(own, rows...), extra...))
	b, err := bo.trace(full[0], own, nil, nil)
	if err != nil {
		return nil, false, err
	}
	if len(b.leaves) < len(init.Items) {
		return nil, false, refused("Expected combine_fn to return at least %d tensors but got %d", len(init.Items), len(b.leaves))
	}
	for i, o := range init.Items {
		x, ok1 := bo.standIns.swapOne(o).(*torch.Tensor)
		y, ok2 := b.leaves[i].(*torch.Tensor)
		if ok1 && ok2 && (x.T.DType != y.T.DType || !tensor.SameShape(x.T, y.T)) {
			return nil, false, refused("Expected metadata of the combine_fn result %s to be the same as the metadata of init with %s", bo.metadata(y.T), bo.metadata(x.T))
		}
	}
	b.list()
	nodes := append(fx.List(extraNodes), bo.lift(b, len(own))...)
	k := len(init.Items)
	t := tree{leaves: append(append([]vm.Object(nil), init.Items...), b.leaves[k:]...)}
	count := bo.sizes.Size(first.T)[dim]
	seen := 0
	v, err := bo.node("scan", []fx.Arg{bo.file("scan_combine_fn", b), fx.List(bo.tensorNodes(init.Items)), fx.List(bo.tensorNodes(xs.Items)), dim, bool(reverse), nodes}, nil, t,
		func(of *tensor.Tensor) *tensor.Tensor {
			if seen++; seen <= k {
				x := tensor.FakeLike(of)
				bo.sizes.Copy(x, of)
				return x
			}
			return bo.stacked(of, first.T.Shape[dim], count, 0)
		})
	return v, err == nil, err
}

package capture

import (
	"fmt"
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

// functionModule holds torch.autograd.Function and the class of its contexts.
const functionModule = "torch.autograd.function"

// appliedFunction is the class of which callable is the apply method, with the arguments that remain; nil for other calls.
func appliedFunction(f *vm.Function, callable vm.Object, args []vm.Object) (*vm.Type, []vm.Object) {
	if f.Qualname != "Function.apply" {
		return nil, nil
	}
	if mod, _ := vm.AsStr(f.Module); mod != functionModule {
		return nil, nil
	}
	if m, ok := callable.(*vm.BoundMethod); ok {
		cls, _ := m.Self.(*vm.Type)
		return cls, args
	}
	if len(args) > 0 {
		if cls, ok := args[0].(*vm.Type); ok {
			return cls, args[1:]
		}
	}
	return nil, nil
}

// applyFunction is Fn.apply(*args) of a torch.autograd.Function. Where a gradient may be asked for, forward and backward become
// the two bodies of one node; where not, forward is traced as any function is.
func (tr *tracer) applyFunction(cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	for _, a := range args {
		tr.seeItems(a)
		if err := tr.useValue(a); err != nil {
			return nil, false, err
		}
	}
	ctx, err := tr.newContext(args, kw)
	if err != nil {
		return nil, false, err
	}
	fwd, ok := tr.staticFunction(cls, "forward")
	if !ok {
		return nil, false, unsupported(breaks.FunctionForward, cls.Name)
	}
	if !tr.t.Grad.Enabled() || !tr.wantsGradient(args, kw) {
		n := tr.contextNode()
		n.SetOrigin(tr.origin())
		given := append([]vm.Object{ctx}, args...)
		if c := fwd.Code; c.ArgCount+c.KwOnly == len(args) {
			given = args // a forward that has setup_context beside it
		}
		v, err := tr.callTraced(fwd, given, kw)
		return v, true, err
	}
	for _, name := range []string{"vjp", "jvp"} {
		if tr.overrides(cls, name) {
			return nil, false, unsupported(breaks.FunctionDerivative, name)
		}
	}
	if len(kw) > 0 {
		return nil, false, unsupported(breaks.FunctionKeywords)
	}
	bwd, ok := tr.staticFunction(cls, "backward")
	if !ok {
		return nil, false, unsupported(breaks.FunctionMethod)
	}
	return tr.applyWithBackward(&applied{cls: cls, ctx: ctx, args: args, forward: fwd, backward: bwd})
}

// applied is one call of a torch.autograd.Function on its way into a graph.
type applied struct {
	cls      *vm.Type
	ctx      *vm.Instance
	args     []vm.Object
	forward  *vm.Function
	backward *vm.Function

	mask    []bool // which arguments are values of the graph
	tensors []*fx.Node
	lifted  []outside        // what forward reads besides its arguments
	result  vm.Object        // of forward
	outs    []*tensor.Tensor // in it; nil for None
}

// contextNode is what a graph has of a context.
func (tr *tracer) contextNode() *fx.Node {
	tr.calls++
	return tr.graph.CallFunction(functionModule + ".FunctionCtx")
}

// newContext makes the object that forward and backward share.
func (tr *tracer) newContext(args []vm.Object, kw []vm.KwArg) (*vm.Instance, error) {
	m, err := tr.in.Import(functionModule)
	if err != nil {
		return nil, err
	}
	cls, err := tr.in.GetAttr(m, "FunctionCtx")
	if err != nil {
		return nil, err
	}
	o, err := tr.in.Call(cls, nil, nil)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 && len(kw) == 0 {
		needs := make([]vm.Object, len(args))
		for i, a := range args {
			p, ok := a.(*torch.Tensor)
			needs[i] = vm.MakeBool(ok && tr.t.Grad.RequiresGrad(p.T))
		}
		if err := tr.in.SetAttr(o, "needs_input_grad", vm.NewTuple(needs...)); err != nil {
			return nil, err
		}
	}
	return o.(*vm.Instance), nil
}

// staticFunction is a static method of a class.
func (tr *tracer) staticFunction(cls *vm.Type, name string) (*vm.Function, bool) {
	switch f := cls.Lookup(name).(type) {
	case *vm.StaticMethod:
		fn, ok := f.Func.(*vm.Function)
		return fn, ok
	case *vm.Function:
		return f, true
	}
	return nil, false
}

// overrides reports whether a class between cls and torch.autograd.Function defines name.
func (tr *tracer) overrides(cls *vm.Type, name string) bool {
	for _, c := range cls.MRO {
		if c.Module == functionModule {
			return false
		}
		if _, ok := c.Dict.GetStr(name); ok {
			return true
		}
	}
	return false
}

// wantsGradient reports whether a tensor among the arguments, or in a container among them, asks for gradients.
func (tr *tracer) wantsGradient(args []vm.Object, kw []vm.KwArg) bool {
	todo := slices.Clone(args)
	for _, k := range kw {
		todo = append(todo, k.Value)
	}
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch v := o.(type) {
		case *torch.Tensor:
			if tr.t.Grad.RequiresGrad(v.T) {
				return true
			}
		case *vm.List:
			todo = append(todo, v.Items...)
		case *vm.Tuple:
			todo = append(todo, v.Items...)
		case *vm.Dict:
			todo = append(todo, v.Values()...)
		}
	}
	return false
}

// callTraced calls a function as traced bytecode would.
func (tr *tracer) callTraced(fn vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	v, done, err := tr.call(tr.in, fn, args, kw)
	if err == nil && !done {
		v, err = tr.in.Call(fn, args, kw)
	}
	return v, err
}

// applyWithBackward traces forward and backward and makes the node that has both.
func (tr *tracer) applyWithBackward(a *applied) (vm.Object, bool, error) {
	a.mask = make([]bool, len(a.args))
	for i, o := range a.args {
		switch v := o.(type) {
		case *torch.Tensor:
			f, err := tr.fake(v)
			if err != nil {
				return nil, false, err
			}
			a.mask[i] = true
			a.tensors = append(a.tensors, tr.nodes[f])
		case *torch.Scalar:
			n, err := tr.scalarArg(v)
			if err != nil {
				return nil, false, err
			}
			if node, ok := n.(*fx.Node); ok {
				a.mask[i] = true
				a.tensors = append(a.tensors, node)
			}
		}
	}
	ctx := tr.contextNode()
	ctx.SetOrigin(tr.origin())
	gf, gb, err := tr.traceFunction(a)
	if err != nil {
		return nil, false, err
	}
	var bodies [2]*fx.Node
	for i, b := range []struct {
		name string
		g    *fx.Graph
	}{{"fwd_body", gf}, {"bwd_body", gb}} {
		bodies[i] = tr.graph.GetAttr(tr.addBody(b.name, b.g))
	}
	operands := []fx.Arg{bodies[0], bodies[1]}
	for _, n := range a.tensors {
		operands = append(operands, n)
	}
	for _, v := range a.lifted {
		operands = append(operands, tr.nodeOf(v))
	}
	mask := make(fx.List, len(a.mask))
	for i, on := range a.mask {
		mask[i] = on
	}
	still := tr.notDifferentiable(a)
	index := make(fx.List, len(still))
	for i, k := range still {
		index[i] = int64(k)
	}
	n := tr.graph.CreateNode(fx.CallFunction, "torch.ops.higher_order.autograd_function_apply", operands,
		[]fx.Kwarg{{Name: "args_tensor_mask", Val: mask}, {Name: "non_differentiable_idx", Val: index}}, "")
	n.SetOrigin(tr.origin())
	tr.calls++
	tr.logNode(n)
	if src := tr.sources[a.cls]; src != nil {
		tr.guards.Add(guard.Identity(a.forward, source.Attr{Base: src, Of: "forward"}))
		if tr.overrides(a.cls, "setup_context") {
			if f, ok := tr.staticFunction(a.cls, "setup_context"); ok {
				tr.guards.Add(guard.Identity(f, source.Attr{Base: src, Of: "setup_context"}))
			}
		}
	}
	return tr.functionResult(n, a, still)
}

// addBody files a subgraph under the first free name that begins with prefix.
func (tr *tracer) addBody(prefix string, g *fx.Graph) string {
	if tr.subs == nil {
		tr.subs = map[string]*fx.GraphModule{}
	}
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s_%d", prefix, i)
		if tr.subs[name] == nil {
			tr.subs[name] = &fx.GraphModule{Graph: g, ClassName: "GraphModule", Attrs: tr.attrs, Submodules: tr.branchesOf(g)}
			return name
		}
	}
}

// traceFunction traces forward with a graph of its own, and backward with one inside of that: what backward reads of forward
// becomes an output of the first and an input of the second.
func (tr *tracer) traceFunction(a *applied) (*fx.Graph, *fx.Graph, error) {
	fb := tr.openBody()
	defer fb.close(tr)
	names := argNames(a.forward, len(a.args)+1)
	ctxName := "ctx"
	given := slices.Clone(a.args)
	setup := tr.overrides(a.cls, "setup_context")
	if setup {
		names, ctxName = nil, "function_ctx"
	} else if names != nil {
		ctxName = names[0]
	}
	tr.graph.CreateNode(fx.Placeholder, ctxName, nil, nil, "").Type = functionModule + ".Function"
	k := 0
	for i, o := range a.args {
		if !a.mask[i] {
			continue
		}
		name := a.tensors[k].Name
		k++
		if names != nil {
			name = names[i+1]
		}
		given[i] = tr.bodyInput(o, name)
	}
	res, err := tr.withoutGrad(func() (vm.Object, error) {
		if !setup {
			return tr.callTraced(a.forward, append([]vm.Object{a.ctx}, given...), nil)
		}
		out, err := tr.callTraced(a.forward, given, nil)
		if err != nil {
			return nil, err
		}
		fn, ok := tr.staticFunction(a.cls, "setup_context")
		if !ok {
			return nil, unsupported(breaks.FunctionMethod)
		}
		_, err = tr.callTraced(fn, []vm.Object{a.ctx, vm.NewTuple(given...), out}, nil)
		return out, err
	})
	if err != nil {
		return nil, nil, err
	}
	a.result = res
	fwdOut, err := tr.bodyOutput(res)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range itemsOf(res) {
		var f *tensor.Tensor
		if p, ok := o.(*torch.Tensor); ok {
			if f, err = tr.fake(p); err != nil {
				return nil, nil, err
			}
		}
		a.outs = append(a.outs, f)
	}
	if _, ok := a.ctx.Dict.GetStr("_materialize_non_diff_grads"); ok {
		return nil, nil, unsupported(breaks.FunctionMaterialize)
	}
	gb, uses, err := tr.traceBackward(a)
	if err != nil {
		return nil, nil, err
	}
	saved := make(fx.List, len(uses))
	for i, v := range uses {
		saved[i] = tr.nodeOf(v)
	}
	tr.graph.Output(fx.Tuple{fwdOut, saved})
	a.lifted = fb.inputs
	return tr.graph, gb, nil
}

// traceBackward traces backward inside of forward's graph. uses are the values of forward that it reads.
func (tr *tracer) traceBackward(a *applied) (g *fx.Graph, uses []outside, err error) {
	bb := tr.openBody()
	bb.backward = true
	defer bb.close(tr)
	grads := itemsOf(a.result)
	names := argNames(a.backward, len(grads)+1)
	ctxName := "ctx"
	if names != nil {
		ctxName = names[0]
	}
	tr.graph.CreateNode(fx.Placeholder, ctxName, nil, nil, "").Type = functionModule + ".Function"
	given := make([]vm.Object, len(grads))
	for i, o := range grads {
		given[i] = o
		if a.outs[i] == nil {
			continue
		}
		name := bb.outer.nodes[a.outs[i]].Name
		if names != nil {
			name = names[i+1]
		}
		given[i] = tr.bodyInput(o, name)
	}
	res, err := tr.withoutGrad(func() (vm.Object, error) {
		return tr.callTraced(a.backward, append([]vm.Object{a.ctx}, given...), nil)
	})
	if err != nil {
		return nil, nil, err
	}
	out, err := tr.bodyOutput(res)
	if err != nil {
		return nil, nil, err
	}
	// Arguments that are no values of the graph have no gradient.
	if items, many := out.(fx.Tuple); many {
		kept := fx.Tuple{}
		for i, x := range items {
			if i >= len(a.mask) {
				break
			}
			if a.mask[i] {
				kept = append(kept, x)
			} else if x != nil {
				return nil, nil, tr.in.Errorf(tr.in.Exc.AssertionError, "Grad of non-Tensor arg %v is not None.", fx.FormatArg(x))
			}
		}
		out = kept
	}
	tr.graph.Output(out)
	return tr.graph, bb.inputs, nil
}

// bodyInput gives a subgraph a placeholder for a value that is passed to it; inside it is a value of its own.
func (tr *tracer) bodyInput(o vm.Object, name string) vm.Object {
	n := tr.graph.CreateNode(fx.Placeholder, name, nil, nil, "")
	p, ok := o.(*torch.Tensor)
	if !ok {
		return o
	}
	of := tr.swapOne(p).(*torch.Tensor).T
	x := tensor.FakeLike(of)
	tr.sizes.Copy(x, of)
	if tr.t.Grad.RequiresGrad(of) {
		_ = tr.t.Grad.SetRequiresGrad(x, true) // as the value that it stands for
	}
	n.Val = x
	tr.nodes[x] = n
	return tr.t.WrapAs(x, p.Type())
}

// withoutGrad runs part of a trace with gradients switched off, and notes that in the graph.
func (tr *tracer) withoutGrad(f func() (vm.Object, error)) (vm.Object, error) {
	const target = "torch._C._set_grad_enabled"
	defer tr.t.KeepModes()()
	on := tr.t.Grad.Enabled()
	if on {
		tr.graph.CallFunction(target, false)
		tr.t.Grad.SetEnabled(false)
	}
	v, err := f()
	if on && err == nil {
		tr.graph.CallFunction(target, true)
	}
	return v, err
}

func itemsOf(res vm.Object) []vm.Object {
	switch v := res.(type) {
	case *vm.Tuple:
		return v.Items
	case *vm.List:
		return v.Items
	}
	return []vm.Object{res}
}

// bodyOutput is what a body gives back, as an argument of its output: tensors and None.
func (tr *tracer) bodyOutput(res vm.Object) (fx.Arg, error) {
	one := func(o vm.Object) (fx.Arg, error) {
		switch v := o.(type) {
		case *vm.NoneType:
			return nil, nil
		case *torch.Tensor:
			f, err := tr.fake(v)
			if err != nil {
				return nil, err
			}
			return tr.nodes[f], nil
		}
		return nil, unsupported(breaks.FunctionResult)
	}
	items := itemsOf(res)
	out := make([]fx.Arg, len(items))
	for i, o := range items {
		var err error
		if out[i], err = one(o); err != nil {
			return nil, err
		}
	}
	switch res.(type) {
	case *vm.Tuple:
		return fx.Tuple(out), nil
	case *vm.List:
		return fx.List(out), nil
	}
	return out[0], nil
}

// notDifferentiable are the results that forward marked so, by position.
func (tr *tracer) notDifferentiable(a *applied) []int {
	marked, ok := a.ctx.Dict.GetStr("non_differentiable")
	if !ok {
		return nil
	}
	var out []int
	for i, f := range a.outs {
		for _, o := range itemsOf(marked) {
			if p, ok := o.(*torch.Tensor); ok && f != nil && p.T == f {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// functionResult binds what the node gives back: values like those of forward, which ask for gradients unless forward said otherwise.
func (tr *tracer) functionResult(n *fx.Node, a *applied, still []int) (vm.Object, bool, error) {
	items := make([]vm.Object, len(a.outs))
	for i, f := range a.outs {
		items[i] = vm.None
		if f == nil {
			continue
		}
		x := tensor.FakeLike(f)
		tr.sizes.Copy(x, f)
		if x.DType.Kind() >= tensor.KindFloat && !slices.Contains(still, i) {
			if err := tr.t.Grad.SetRequiresGrad(x, true); err != nil {
				return nil, false, err
			}
		}
		items[i] = tr.t.Wrap(x)
	}
	switch a.result.(type) {
	case *vm.Tuple, *vm.List:
		return tr.bind(n, vm.NewTuple(items...)), true, nil
	}
	if a.outs[0] == nil {
		return vm.None, true, nil
	}
	return tr.bind(n, items[0]), true, nil
}

// argNames are the names of a function's positional arguments; nil when there are fewer than are passed.
func argNames(f *vm.Function, passed int) []string {
	if f.Code.ArgCount < passed {
		return nil
	}
	return f.Code.VarNames[:f.Code.ArgCount]
}

// strictMode ends the trace of a backward at an attribute that may be another one when it runs: whether a gradient is contiguous,
// say. What forward computed is as it was then.
func (tr *tracer) strictMode(o vm.Object, name string) error {
	b := tr.branch
	for b != nil && !b.backward {
		b = b.parent
	}
	p, ok := o.(*torch.Tensor)
	if b == nil || !ok || b.outer.nodes[p.T] != nil {
		return nil
	}
	if !unsteadyProperties.has(name) && !strings.HasPrefix(name, "is_") {
		return nil
	}
	return unsupported(breaks.StrictMode, name)
}

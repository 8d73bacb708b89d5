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
func (bo *bodies) applyFunction(cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	for _, a := range args {
		bo.world.seeItems(a)
		if err := bo.standIns.useValue(a); err != nil {
			return nil, false, err
		}
	}
	ctx, err := bo.newContext(args, kw)
	if err != nil {
		return nil, false, err
	}
	training := bo.t.Grad.Enabled() && bo.wantsGradient(args, kw)
	fwd, ok := staticFunction(cls, "forward")
	ofClass := classFunction(cls, "forward")
	switch {
	case ofClass != nil && training:
		return nil, false, bo.classMethodOf(ofClass, args)
	case ofClass == nil && !ok:
		return nil, false, unsupported(breaks.FunctionForward, cls.Name)
	}
	if !training {
		n := bo.out.contextNode()
		n.SetOrigin(bo.trail(n))
		given := append([]vm.Object{ctx}, args...)
		if ofClass != nil {
			fwd, given = ofClass, append([]vm.Object{cls}, given...)
		} else if c := fwd.Code; c.ArgCount+c.KwOnly == len(args) {
			given = args // a forward that has setup_context beside it
		}
		v, err := bo.callTraced(fwd, given, kw)
		return v, true, err
	}
	for _, name := range []string{"vjp", "jvp"} {
		if overrides(cls, name) {
			return nil, false, unsupported(breaks.FunctionDerivative, name)
		}
	}
	if len(kw) > 0 {
		return nil, false, unsupported(breaks.FunctionKeywords)
	}
	bwd, ok := staticFunction(cls, "backward")
	if f := classFunction(cls, "backward"); f != nil {
		return nil, false, bo.classMethodOf(f, args)
	}
	if !ok {
		return nil, false, unsupported(breaks.FunctionMethod)
	}
	return bo.applyWithBackward(&applied{cls: cls, ctx: ctx, args: args, forward: fwd, backward: bwd})
}

// classMethodOf is the break at a forward or backward that is a class method, in a graph with gradients: PyTorch's trace gives it the class twice.
func (bo *bodies) classMethodOf(f *vm.Function, args []vm.Object) error {
	classes := []string{"<class 'type'>", "<class 'type'>", "<class 'torch.autograd.function.Function'>"}
	for _, a := range args {
		classes = append(classes, pythonType(a))
	}
	return argsMismatch("too many positional arguments", f, classes, "{}")
}

// applied is one call of a torch.autograd.Function on its way into a graph.
type applied struct {
	cls      *vm.Type
	ctx      *vm.Instance
	args     []vm.Object
	forward  *vm.Function
	backward *vm.Function

	mask    []bool           // which arguments are values of the graph
	tensors []*fx.Node       // those, in order
	lifted  []outside        // what forward reads besides its arguments
	result  vm.Object        // of forward
	outs    []*tensor.Tensor // in it; nil for None
}

// newContext makes the object that forward and backward share.
func (bo *bodies) newContext(args []vm.Object, kw []vm.KwArg) (*vm.Instance, error) {
	m, err := bo.in.Import(functionModule)
	if err != nil {
		return nil, err
	}
	cls, err := bo.in.GetAttr(m, "FunctionCtx")
	if err != nil {
		return nil, err
	}
	o, err := bo.in.Call(cls, nil, nil)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 && len(kw) == 0 { // a call with keywords ends the trace, or needs no gradients
		needs := make([]vm.Object, len(args))
		for i, a := range args {
			p, ok := a.(*torch.Tensor)
			needs[i] = vm.MakeBool(ok && bo.t.Grad.RequiresGrad(p.T))
		}
		if err := bo.in.SetAttr(o, "needs_input_grad", vm.NewTuple(needs...)); err != nil {
			return nil, err
		}
	}
	return o.(*vm.Instance), nil
}

// staticFunction is a static method of a class.
func staticFunction(cls *vm.Type, name string) (*vm.Function, bool) {
	switch f := cls.Lookup(name).(type) {
	case *vm.StaticMethod:
		fn, ok := f.Func.(*vm.Function)
		return fn, ok
	case *vm.Function:
		return f, true
	}
	return nil, false
}

// classFunction is the function of a class method, nil where the class has none of that name.
func classFunction(cls *vm.Type, name string) *vm.Function {
	if m, ok := cls.Lookup(name).(*vm.ClassMethod); ok {
		f, _ := m.Func.(*vm.Function)
		return f
	}
	return nil
}

// overrides reports whether a class between cls and torch.autograd.Function defines name.
func overrides(cls *vm.Type, name string) bool {
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
func (bo *bodies) wantsGradient(args []vm.Object, kw []vm.KwArg) bool {
	todo := slices.Clone(args)
	for _, k := range kw {
		todo = append(todo, k.Value)
	}
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch v := o.(type) {
		case *torch.Tensor:
			if bo.t.Grad.RequiresGrad(v.T) {
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
func (bo *bodies) callTraced(fn vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	v, done, err := bo.call(bo.in, fn, args, kw)
	if err == nil && !done {
		v, err = bo.in.Call(fn, args, kw)
	}
	return v, err
}

// applyWithBackward traces forward and backward and makes the node that has both. Its operands are the two bodies, the arguments that are
// values of the graph, and what forward reads besides; its keyword arguments say which arguments and which results have gradients.
func (bo *bodies) applyWithBackward(a *applied) (vm.Object, bool, error) {
	a.mask = make([]bool, len(a.args))
	for i, o := range a.args {
		switch v := o.(type) {
		case *torch.Tensor:
			f, err := bo.standIns.fake(v)
			if err != nil {
				return nil, false, err
			}
			a.mask[i] = true
			a.tensors = append(a.tensors, bo.out.nodes[f])
		case *torch.Scalar:
			n, err := bo.out.scalarArg(v)
			if err != nil {
				return nil, false, err
			}
			if node, ok := n.(*fx.Node); ok {
				a.mask[i] = true
				a.tensors = append(a.tensors, node)
			}
		}
	}
	ctx := bo.out.contextNode()
	ctx.SetOrigin(bo.trail(ctx))
	gf, gb, err := bo.traceFunction(a)
	if err != nil {
		return nil, false, err
	}
	var bodies [2]*fx.Node
	for i, b := range []struct {
		name string
		g    *fx.Graph
	}{{"fwd_body", gf}, {"bwd_body", gb}} {
		bodies[i] = bo.out.graph.GetAttr(bo.out.addBody(b.name, b.g))
	}
	operands := []fx.Arg{bodies[0], bodies[1]}
	for _, n := range a.tensors {
		operands = append(operands, n)
	}
	for _, v := range a.lifted {
		operands = append(operands, bo.out.nodeOf(v))
	}
	mask := make(fx.List, len(a.mask))
	for i, on := range a.mask {
		mask[i] = on
	}
	still := notDifferentiable(a)
	index := make(fx.List, len(still))
	for i, k := range still {
		index[i] = int64(k)
	}
	n := bo.out.graph.CreateNode(fx.CallFunction, "torch.ops.higher_order.autograd_function_apply", operands,
		[]fx.Kwarg{{Name: "args_tensor_mask", Val: mask}, {Name: "non_differentiable_idx", Val: index}}, "")
	n.SetOrigin(bo.trail(n))
	bo.out.calls++
	bo.journal.logNode(n)
	if src := bo.world.sources[a.cls]; src != nil {
		bo.guards.Add(guard.Identity(a.forward, source.Attr{Base: src, Of: "forward"}))
		if overrides(a.cls, "setup_context") {
			if f, ok := staticFunction(a.cls, "setup_context"); ok {
				bo.guards.Add(guard.Identity(f, source.Attr{Base: src, Of: "setup_context"}))
			}
		}
	}
	return bo.standIns.functionResult(n, a, still)
}

// traceFunction traces forward with a graph of its own, and backward with one inside of that: what backward reads of forward
// becomes an output of the first and an input of the second.
func (bo *bodies) traceFunction(a *applied) (*fx.Graph, *fx.Graph, error) {
	fb := bo.out.openBody()
	defer fb.close(bo.out)
	names := argNames(a.forward, len(a.args)+1)
	ctxName := "ctx"
	given := slices.Clone(a.args)
	setup := overrides(a.cls, "setup_context")
	if setup {
		names, ctxName = nil, "function_ctx"
	} else if names != nil {
		ctxName = names[0]
	}
	bo.out.graph.CreateNode(fx.Placeholder, ctxName, nil, nil, "").Type = functionModule + ".Function"
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
		given[i] = bo.standIns.bodyInput(o, name)
	}
	res, err := bo.withoutGrad(func() (vm.Object, error) {
		if !setup {
			return bo.callTraced(a.forward, append([]vm.Object{a.ctx}, given...), nil)
		}
		out, err := bo.callTraced(a.forward, given, nil)
		if err != nil {
			return nil, err
		}
		fn, ok := staticFunction(a.cls, "setup_context")
		if !ok {
			return nil, unsupported(breaks.FunctionMethod)
		}
		_, err = bo.callTraced(fn, []vm.Object{a.ctx, vm.NewTuple(given...), out}, nil)
		return out, err
	})
	if err != nil {
		return nil, nil, err
	}
	a.result = res
	fwdOut, err := bo.standIns.bodyOutput(res)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range itemsOf(res) {
		var f *tensor.Tensor
		if p, ok := o.(*torch.Tensor); ok {
			if f, err = bo.standIns.fake(p); err != nil {
				return nil, nil, err
			}
		}
		a.outs = append(a.outs, f)
	}
	if _, ok := a.ctx.Dict.GetStr("_materialize_non_diff_grads"); ok {
		return nil, nil, unsupported(breaks.FunctionMaterialize)
	}
	// backward is traced while the graph of forward is still open: what it reads of forward becomes an output of that.
	gb, uses, err := bo.traceBackward(a)
	if err != nil {
		return nil, nil, err
	}
	saved := make(fx.List, len(uses)) // what backward gets besides gradients
	for i, v := range uses {
		saved[i] = bo.out.nodeOf(v)
	}
	bo.out.graph.Output(fx.Tuple{fwdOut, saved})
	a.lifted = fb.inputs
	return bo.out.graph, gb, nil
}

// traceBackward traces backward inside of forward's graph. uses are the values of forward that it reads.
func (bo *bodies) traceBackward(a *applied) (g *fx.Graph, uses []outside, err error) {
	bb := bo.out.openBody()
	bb.backward = true
	defer bb.close(bo.out)
	grads := itemsOf(a.result)
	names := argNames(a.backward, len(grads)+1)
	ctxName := "ctx"
	if names != nil {
		ctxName = names[0]
	}
	bo.out.graph.CreateNode(fx.Placeholder, ctxName, nil, nil, "").Type = functionModule + ".Function"
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
		given[i] = bo.standIns.bodyInput(o, name)
	}
	res, err := bo.withoutGrad(func() (vm.Object, error) {
		return bo.callTraced(a.backward, append([]vm.Object{a.ctx}, given...), nil)
	})
	if err != nil {
		return nil, nil, err
	}
	out, err := bo.standIns.bodyOutput(res)
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
				return nil, nil, bo.in.Errorf(bo.in.Exc.AssertionError, "Grad of non-Tensor arg %v is not None.", fx.FormatArg(x))
			}
		}
		out = kept
	}
	bo.out.graph.Output(out)
	return bo.out.graph, bb.inputs, nil
}

// bodyInput gives a subgraph a placeholder for a value that is passed to it; inside it is a value of its own.
func (st *standIns) bodyInput(o vm.Object, name string) vm.Object {
	n := st.out.graph.CreateNode(fx.Placeholder, name, nil, nil, "")
	p, ok := o.(*torch.Tensor)
	if !ok {
		return o
	}
	of := st.swapOne(p).(*torch.Tensor).T
	x := tensor.FakeLike(of)
	st.sizes.Copy(x, of)
	if st.t.Grad.RequiresGrad(of) {
		_ = st.t.Grad.SetRequiresGrad(x, true) // as the value that it stands for
	}
	n.Val = x
	st.out.nodes[x] = n
	return st.t.WrapAs(x, p.Type())
}

// withoutGrad runs part of a trace with gradients switched off, and notes that in the graph.
func (bo *bodies) withoutGrad(f func() (vm.Object, error)) (vm.Object, error) {
	const target = "torch._C._set_grad_enabled"
	defer bo.t.KeepModes()()
	on := bo.t.Grad.Enabled()
	if on {
		bo.out.graph.CallFunction(target, false)
		bo.t.Grad.SetEnabled(false)
	}
	v, err := f()
	if on && err == nil {
		bo.out.graph.CallFunction(target, true)
	}
	return v, err
}

// itemsOf are the values that a function returned: of a tuple or a list its items.
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
func (st *standIns) bodyOutput(res vm.Object) (fx.Arg, error) {
	one := func(o vm.Object) (fx.Arg, error) {
		switch v := o.(type) {
		case *vm.NoneType:
			return nil, nil
		case *torch.Tensor:
			f, err := st.fake(v)
			if err != nil {
				return nil, err
			}
			return st.out.nodes[f], nil
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
func notDifferentiable(a *applied) []int {
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
func (st *standIns) functionResult(n *fx.Node, a *applied, still []int) (vm.Object, bool, error) {
	items := make([]vm.Object, len(a.outs))
	for i, f := range a.outs {
		items[i] = vm.None
		if f == nil {
			continue
		}
		x := tensor.FakeLike(f)
		st.sizes.Copy(x, f)
		if x.DType.Kind() >= tensor.KindFloat && !slices.Contains(still, i) {
			if err := st.t.Grad.SetRequiresGrad(x, true); err != nil {
				return nil, false, err
			}
		}
		items[i] = st.t.Wrap(x)
	}
	switch a.result.(type) {
	case *vm.Tuple, *vm.List:
		return st.out.bind(n, vm.NewTuple(items...)), true, nil
	}
	if a.outs[0] == nil {
		return vm.None, true, nil
	}
	return st.out.bind(n, items[0]), true, nil
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
	b := tr.out.branch
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

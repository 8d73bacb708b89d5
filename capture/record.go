package capture

import (
	"errors"
	"slices"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/sizes"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// api is the hook under every torch call: it records the call and runs it on fakes.
func (tr *tracer) api(c *torch.Call) (vm.Object, error) {
	v, err := tr.record(c)
	return v, tr.journal.located(err)
}

// record makes a node of a call of torch, and runs the call on stand-ins for its result. Before that come the calls that make none: those
// inside of other calls, those that have a form of their own, those that change nothing, and those that end the trace.
func (tr *tracer) record(c *torch.Call) (vm.Object, error) {
	if tr.depth > 0 {
		return c.Run(c.Args, c.Kw)
	}
	if v, done, err := tr.ofArrays(c); done || err != nil {
		return v, err
	}
	if v, ok, err := tr.item(c); ok || err != nil {
		return v, err
	}
	if u := tr.breaksAt(c); u != nil {
		return nil, u
	}
	if changesGrad(c) {
		return c.Args[0], nil // it changes nothing
	}
	if v, done, err := tr.hook(c); done || err != nil {
		return v, err
	}
	if err := tr.onlyCompliant(c); err != nil {
		return nil, err
	}
	if v, done, err := tr.rewritten(c); done {
		return v, err
	}
	if v, done, err := tr.tensorOfTensors(c); done || err != nil {
		return v, err
	}
	if c.Target == "torch._C._set_grad_enabled" && len(c.Args) == 1 && (c.Args[0] == vm.True) == tr.t.Grad.Enabled() && strings.HasPrefix(tr.in.Frame().Code.Filename, "torch/") {
		return vm.None, nil // nothing changes; a call that the program itself makes is in the graph all the same
	}
	if c.Target == "operator.getitem" && len(c.Args) == 2 {
		// Indexing with an unknown number reads no value: the graph selects.
		_, isTensor := c.Args[0].(*torch.Tensor)
		if i, ok := c.Args[1].(*torch.Scalar); ok && isTensor && i.Kind == tensor.Int64 {
			return tr.inTorch("select", c.Args[0], vm.MakeInt(0), i)
		}
	}
	if v, done, err := tr.numbersOnly(c); done || err != nil {
		return v, err
	}
	for _, a := range c.Args {
		tr.world.seeItems(a)
	}
	if err := tr.standIns.useArguments(c); err != nil {
		return nil, err
	}
	args, kwargs, err := tr.nodeArguments(c)
	if err != nil {
		return nil, err
	}
	runArgs, runKw := tr.standIns.swap(c.Args), append([]vm.KwArg(nil), c.Kw...)
	for i := range runKw {
		runKw[i].Value = tr.standIns.swapOne(runKw[i].Value)
	}
	res, err := tr.onFakes(func() (vm.Object, error) { return c.Run(runArgs, runKw) })
	if err != nil {
		return nil, tr.failedOnFakes(c, runArgs, runKw, err)
	}
	n := tr.out.graph.CreateNode(c.Op, c.Target, args, kwargs, overloadStem(c))
	if !placeless.has(c.Target) {
		n.SetOrigin(tr.trail(n))
	}
	tr.out.calls++
	res = tr.out.bind(n, res)
	tr.out.bindFresh()
	tr.journal.logNode(n)
	return res, nil
}

// nodeArguments are the arguments of a call as the graph has them: nodes for tensors, unknown numbers and open regions.
func (tr *tracer) nodeArguments(c *torch.Call) ([]fx.Arg, []fx.Kwarg, error) {
	args := make([]fx.Arg, len(c.Args))
	for i, a := range c.Args {
		v, err := tr.t.GraphArg(a, tr.nodeFor)
		if err != nil {
			return nil, nil, unsupportedArg(err)
		}
		args[i] = v
	}
	var kwargs []fx.Kwarg
	for _, k := range c.Kw {
		v, err := tr.t.GraphArg(k.Value, tr.nodeFor)
		if err != nil {
			return nil, nil, unsupportedArg(err)
		}
		kwargs = append(kwargs, fx.Kwarg{Name: k.Name, Val: v})
	}
	return args, kwargs, nil
}

// nodeFor is the node of a value; ok is false for values that graphs hold as they are.
func (tr *tracer) nodeFor(o vm.Object) (n fx.Arg, ok bool, err error) {
	if s, ok := o.(*torch.Scalar); ok {
		a, err := tr.out.scalarArg(s)
		return a, true, err
	}
	if m, ok := o.(torch.Region); ok {
		n := *m.EnteredBy()
		if n == nil || tr.out.graph.Node(n.Name) != n { // entered before this graph began
			return nil, false, unsupported(breaks.OpenRegion)
		}
		return n, true, nil
	}
	p, ok := o.(*torch.Tensor)
	if !ok {
		return nil, false, nil
	}
	f, err := tr.standIns.fake(p)
	if err != nil {
		return nil, false, err
	}
	return tr.out.nodes[f], true, nil
}

// failedOnFakes says what becomes of the trace when a call fails on stand-ins: it ends where real tensors may do better, or where the
// program is wrong; else the program gets the error.
func (tr *tracer) failedOnFakes(c *torch.Call, args []vm.Object, kw []vm.KwArg, err error) error {
	if u := unsupportedNumber(err); u != nil {
		return u
	}
	var ae *aten.Error
	if errors.As(err, &ae) && ae.Kind == aten.DataDependentError {
		return tr.dynamicShape(ae.Msg)
	}
	if _, expr, ok := strings.Cut(err.Error(), symbolic.DataDependentText); ok {
		return unsupported(breaks.DataDependentGuard, expr, expr)
	}
	if u := tr.wrongCall(c, err); u != nil {
		return u
	}
	if f := tr.wrongValues(c, args, kw, err); f != nil {
		return f
	}
	tr.opError = err
	return err
}

// breaksAt is the break at a call of torch that a graph has no form for, or that gives the program what only a run knows; nil for
// other calls.
func (tr *tracer) breaksAt(c *torch.Call) *Unsupported {
	if u := tr.viewOfInput(c); u != nil {
		return u
	}
	switch why, reads := dataDependent.names[c.Target]; {
	case reads && c.Op == fx.CallMethod:
		if why == breaks.TensorItem {
			tr.adviseScalarOutputs()
		}
		return unsupported(why)
	case c.Target == "torch.is_inference_mode_enabled":
		return unsupported(breaks.NonTensorResult, "bool", "is_inference_mode_enabled")
	case c.Target == torch.MakeSubclass:
		return unsupported(breaks.ParameterConstruction)
	case changesGrad(c):
		if p, ok := c.Args[0].(*torch.Tensor); ok && tr.t.Grad.RequiresGrad(p.T) != wantsGrad(c) {
			return unsupported(breaks.TensorRequiresGrad)
		}
	case c.Op == fx.CallFunction && slices.ContainsFunc(c.Kw, func(k vm.KwArg) bool { return k.Name == "requires_grad" && k.Value == vm.True }):
		return unsupported(breaks.FactoryRequiresGrad)
	}
	return nil
}

// changesGrad reports whether a call is x.requires_grad_().
func changesGrad(c *torch.Call) bool {
	return c.Op == fx.CallMethod && c.Target == "requires_grad_" && len(c.Args) > 0
}

// wantsGrad is what such a call asks for.
func wantsGrad(c *torch.Call) bool {
	for _, k := range c.Kw {
		if k.Name == "requires_grad" {
			return k.Value != vm.False
		}
	}
	return len(c.Args) < 2 || c.Args[1] != vm.False
}

// viewOfInput is the break at a method that makes a tensor from outside a view of other sizes in its place; nil for other calls. Those that
// the trace made are changed in the graph.
func (tr *tracer) viewOfInput(c *torch.Call) *Unsupported {
	if c.Op != fx.CallMethod || !inPlaceViews.has(c.Target) || len(c.Args) == 0 || !tr.ofProgram() || tr.world.sourceOf(c.Args[0]) == nil {
		return nil
	}
	return unsupported(breaks.InputView, tr.variableNames(c.Args[1:]), tr.keywordNames(c.Kw))
}

// nonTensorMethods are methods of tensors that give the program something else, by the name of its class, and that no trace knows.
var nonTensorMethods = map[string]string{"storage_offset": "int", "is_shared": "bool", "is_pinned": "bool"}

// onlyCompliant is the break at an operator of a program that does not say that it works in graphs, where the settings ask for that.
func (tr *tracer) onlyCompliant(c *torch.Call) error {
	if c.Op != fx.CallFunction || !fx.IsOverload(c.Target) && !strings.HasPrefix(c.Target, "torch.ops.") {
		return nil
	}
	if on, err := tr.d.configBool("only_allow_pt2_compliant_ops"); err != nil || !on {
		return err
	}
	op, err := tr.t.Called(c.Target, tr.standIns.swap(c.Args), c.Kw)
	if err != nil {
		var raised *vm.Raised
		if !errors.As(err, &raised) {
			return err
		}
		text, serr := tr.in.Str(raised.Exc)
		if serr != nil {
			return serr
		}
		return unsupported(breaks.NotCompliant, text)
	}
	if op == nil {
		return nil
	}
	if ok, err := tr.t.Compliant(op); ok || err != nil {
		return err
	}
	overload := op.Sig().Overload
	if overload == "" {
		overload = "default"
	}
	name := strings.TrimPrefix(c.Target, "torch.ops.")
	switch {
	case fx.IsOverload(c.Target):
		name = "torch.ops.OpOverload " + name + " that is not PT2 compliant."
	case len(tr.t.Library.Packet(op.Sig().Namespace, op.Sig().Name)) == 1:
		name = "non-overloaded torch.ops.OpOverloadPacket " + name + " that is not PT2 compliant. "
	default:
		name = "torch.ops.OpOverloadPacket " + name + " which resolves to the overload (" + overload + ") that is not PT2 compliant."
	}
	return unsupported(breaks.NotCompliant, "Encountered the "+name+" With the current config, we will graph break (and fall back to eager-mode PyTorch) on all ops "+
		"that have do not have the 'pt2_compliant_tag'. Please see the following doc for how to mark this op as PT2 compliant "+breaks.CustomOpsPage)
}

// overloadStem is what the node of an overload that the program calls is named after: its name and the overload's. "" for other calls.
func overloadStem(c *torch.Call) string {
	if c.Stem != "" {
		return c.Stem
	}
	if c.Op != fx.CallFunction || !fx.IsOverload(c.Target) {
		return ""
	}
	_, name, _ := strings.Cut(c.Target, ".")
	return fx.SnakeCase(strings.ReplaceAll(name, ".", "_"))
}

// unsupportedArg makes an exception over an argument, which graphs have no form for, a break.
func unsupportedArg(err error) error {
	var r *vm.Raised
	if errors.As(err, &r) {
		return unsupported(breaks.Argument, r.Error())
	}
	return err
}

// onFakes runs f with operators computing metadata only. Nothing in it is recorded: what f calls is part of one node.
func (tr *tracer) onFakes(f func() (vm.Object, error)) (vm.Object, error) {
	tr.refusal = nil
	defer tr.t.Push(func(a *torch.Ambient) {
		a.Hook, a.Symbolic = nil, true
		a.Dispatch = fakeDispatch{tr.t.Grad, tr.sizes, tr.standIns.known, &tr.refusal}
		a.Lift = func(x *tensor.Tensor) (*tensor.Tensor, error) { return tr.standIns.known.lift(x), nil }
	})()
	tr.depth++
	defer func() { tr.depth-- }()
	return f()
}

// fakeDispatch computes metadata, and keeps track of what requires gradients and of symbolic sizes.
type fakeDispatch struct {
	grad  torch.Autograd
	sizes *sizes.Tracker
	known knownValues
	// refusal is set to what an operator says that refuses its arguments.
	refusal *error
}

// Dispatch runs op on fakes; results inherit requires_grad as autograd would give it.
func (d fakeDispatch) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	below := d.grad.(interface {
		DispatchFake(op *aten.Op, args []aten.Value) (aten.Value, error)
	})
	v, err := d.sizes.Dispatch(op, args, func(args []aten.Value) (aten.Value, error) { return below.DispatchFake(op, args) })
	if err != nil {
		*d.refusal = err
		return v, err
	}
	d.known.wrote(op, args)
	d.known.follow(d.grad, op, args, v)
	return v, nil
}

package capture

import (
	"errors"
	"fmt"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// readsNumber is the operator that gives a tensor's number to the program.
const readsNumber = "aten._local_scalar_dense.default"

// unsupportedNumber is the graph break for a question that only the running program can answer; nil for other errors.
func unsupportedNumber(err error) *Unsupported {
	var dd *torch.DataDependent
	if errors.As(err, &dd) {
		return unsupported(breaks.DataDependentOperator, dd.Op)
	}
	var sd *symbolic.DataDependent
	if errors.As(err, &sd) {
		return unsupported(breaks.DataDependentOperator, readsNumber)
	}
	return nil
}

// decidable reports whether a trace can branch on s.
func (sy *symbols) decidable(s *torch.Scalar) bool {
	if s.Backed() {
		return true
	}
	e := s.Expr
	if s.Kind != tensor.Bool {
		e = symbolic.Cmp(symbolic.OpNe, e, symbolic.Int(0))
	}
	_, ok := sy.unknowns.Known(e)
	return ok
}

// loaded handles a value that the next instruction loads: a number may become a symbol.
func (wo *world) loaded(f *vm.Frame, v vm.Object, src source.Source) {
	if s := wo.swapping(func() { wo.see(v, src) }); s != nil {
		f.Ext = &pending{swap: s}
	}
}

// scalarArg is a symbolic number as the argument of a node: its node, or a constant where it is one by now.
func (og *output) scalarArg(s *torch.Scalar) (fx.Arg, error) {
	if n := og.scalars[s]; n != nil {
		return n, nil
	}
	if e := og.unknowns.Simplify(s.Expr); e.Op == symbolic.OpInt {
		return e.Int, nil
	}
	if s.Env != og.unknowns {
		return nil, unsupported(breaks.OtherTraceNumber)
	}
	if n := og.exprNode(s.Expr); n != nil {
		og.scalars[s] = n
		return n, nil
	}
	v, err := og.t.Specialize(s)
	if err != nil {
		return nil, err
	}
	return og.t.GraphArg(v, func(vm.Object) (fx.Arg, bool, error) { return nil, false, nil })
}

// numbersOnly records a call on symbolic numbers. What comes out is a constant, or has a node that no other
// computes already.
func (tr *tracer) numbersOnly(c *torch.Call) (vm.Object, bool, error) {
	if !strings.HasPrefix(c.Target, "operator.") && !strings.HasPrefix(c.Target, "torch.sym_") && !strings.HasPrefix(c.Target, "torch._sym_") && c.Target != "__abs__" {
		return nil, false, nil
	}
	some := false
	for _, a := range c.Args {
		switch a.(type) {
		case *torch.Scalar:
			some = true
		case vm.Int, vm.Float, vm.Bool:
		default:
			return nil, false, nil
		}
	}
	if !some || len(c.Kw) > 0 {
		return nil, false, nil
	}
	if err := tr.random.drawnOperand(c); err != nil {
		return nil, false, err
	}
	res, err := tr.onFakes(func() (vm.Object, error) { return c.Run(c.Args, c.Kw) })
	if err != nil {
		return nil, false, err
	}
	s, ok := res.(*torch.Scalar)
	if !ok {
		return res, true, nil
	}
	fixed := s.Expr.IsConst() // constants are not shared
	if n := tr.out.exprNodes[s.Expr.String()]; n != nil && !fixed {
		tr.out.scalars[s] = n
		return s, true, nil
	}
	args := make([]fx.Arg, len(c.Args))
	for i, a := range c.Args {
		if x, ok := a.(*torch.Scalar); ok {
			args[i], err = tr.out.scalarArg(x)
		} else {
			args[i], err = tr.t.GraphArg(a, func(vm.Object) (fx.Arg, bool, error) { return nil, false, nil })
		}
		if err != nil {
			return nil, false, err
		}
	}
	n := tr.out.graph.CreateNode(c.Op, c.Target, args, nil, "")
	tr.out.calls++
	n.Val = fx.SymInt{Expr: s.Expr.String()}
	if h, err := tr.unknowns.Hint(s.Expr); err == nil {
		if i, ok := h.(int64); ok {
			n.Val = fx.SymInt{Expr: s.Expr.String(), Hint: i}
		}
	}
	tr.out.scalars[s] = n
	if !fixed {
		tr.out.exprNodes[s.Expr.String()] = n
	}
	return s, true, nil
}

// itemNumber is what x.item() gives while tracing. That of an input that holds one integer has a hint: it can be read at any call.
func (tr *tracer) itemNumber(p *torch.Tensor, n *fx.Node) (vm.Object, error) {
	src := tr.world.sources[p]
	if src == nil && p.T.Fake {
		if real := tr.standIns.reals[p.T]; real != nil {
			p, src = real, tr.world.sources[real]
		}
	}
	if src == nil || p.T.Fake || p.T.DType != tensor.Int64 && p.T.DType != tensor.Int32 || len(p.T.Shape) != 0 {
		s := tr.t.NewScalar(p.T.DType, tr.unknowns)
		tr.out.scalars[s] = n
		tr.out.define(s.Expr, n)
		return s, nil
	}
	name := src.Name() + ".item()"
	if s := tr.symbols.liftedAs[name]; s != nil {
		return s, nil
	}
	e := tr.unknowns.Number(p.T.AtInt(0), name)
	tr.symbols.track(symbolic.Input{From: name, Expr: e}, func(e *source.Env) (any, bool) {
		v, err := src.Get(e)
		q, ok := v.(*torch.Tensor)
		if err != nil || !ok || q.T.Numel() != 1 {
			return nil, false
		}
		return q.T.AtInt(0), true
	})
	s := tr.t.Number(e, tr.unknowns)
	tr.out.scalars[s.(*torch.Scalar)] = n
	tr.out.exprNodes[e.Name] = n
	tr.symbols.liftedAs[name] = s
	return s, nil
}

// indicesGuard says that a tensor carries no marks of dynamic dimensions that the trace does not know.
func (sy *symbols) indicesGuard(p *torch.Tensor, src source.Source) *guard.Guard {
	const attr = "_dynamo_dynamic_indices"
	n := src.Name()
	known := sy.marks(p, attr)
	if p.AttrDict(false) == nil || known == nil {
		return guard.New(guard.NoHasattr, fmt.Sprintf("hasattr(%s, '%s') == False", n, attr), src, func(_ *source.Env, now vm.Object) (bool, guard.Failure) {
			q, ok := now.(*torch.Tensor)
			return ok && sy.marks(q, attr) == nil, guard.Failure{}
		})
	}
	list := ""
	for i := range p.T.Shape {
		if known[i] {
			if list != "" {
				list += ", "
			}
			list += fmt.Sprint(i)
		}
	}
	return guard.New(guard.DynamicIndices, fmt.Sprintf("((%s.%s.issubset({%s})) if hasattr(%s, '%s') else True)", n, attr, list, n, attr), src, func(_ *source.Env, now vm.Object) (bool, guard.Failure) {
		q, ok := now.(*torch.Tensor)
		if !ok {
			return false, guard.Failure{}
		}
		for i := range sy.marks(q, attr) {
			if !known[i] {
				return false, guard.Failure{}
			}
		}
		return true, guard.Failure{}
	})
}

// fixed are the values of sizes that are constants at the end of the trace; guard.Free for the others.
func (sy *symbols) fixed(es []*symbolic.Expr) []int64 {
	out := make([]int64, len(es))
	for i, e := range es {
		out[i] = guard.Free
		if s := sy.unknowns.Simplify(e); s.Op == symbolic.OpInt {
			out[i] = s.Int
		}
	}
	return out
}

// trim removes what nobody reads and nobody would miss: unused inputs, constants, parts of tuples, and arithmetic on
// sizes. An input that is a symbol stays while another input has that symbol among its sizes.
func (sy *symbols) trim() {
	g := sy.out.graph
	for {
		users := g.Users()
		var dead []*fx.Node
		for _, n := range g.Nodes {
			if len(users[n]) > 0 {
				continue
			}
			_, number := n.Val.(fx.SymInt)
			switch { // sums of sizes stay, as they do in PyTorch
			case n.Op == fx.GetAttr, n.Op == fx.CallFunction && (n.Target == "operator.getitem" || number && n.Target != "torch.sym_sum"), n.Op == fx.CallMethod && number && (n.Target == "item" || n.Target == "numel"):
				dead = append(dead, n)
			case n.Op == fx.Placeholder && (!number || !sy.named(n)):
				dead = append(dead, n)
			}
		}
		if len(dead) == 0 {
			return
		}
		g.Erase(dead...)
	}
}

// named reports whether the symbol of a placeholder is part of the sizes of another input that is in use.
func (sy *symbols) named(n *fx.Node) bool {
	sym := n.Val.(fx.SymInt).Expr
	for _, in := range sy.out.inputs {
		if in.symbol != "" || !kept(sy.out.graph, in.node) || len(sy.out.graph.Users()[in.node]) == 0 {
			continue
		}
		s := sy.inputSizes[in.source.Name()]
		if s == nil {
			continue
		}
		for _, e := range append(append([]*symbolic.Expr{}, s.size...), s.stride...) {
			for _, name := range sy.unknowns.Simplify(e).Symbols() {
				if name == sym {
					return true
				}
			}
		}
	}
	return false
}

// hasNumber reports whether a sequence holds a symbolic number.
func hasNumber(o vm.Object) bool {
	t, ok := vm.AsTuple(o)
	if !ok {
		return false
	}
	for _, x := range t.Items {
		if _, ok := x.(*torch.Scalar); ok {
			return true
		}
	}
	return false
}

// beforeShapes are the guards that PyTorch has made when those on sizes fail.
func beforeShapes(gs []*guard.Guard) []*guard.Guard {
	var out []*guard.Guard
	for _, g := range gs {
		switch g.Kind {
		case guard.LambdaGuard, guard.GlobalState, guard.TorchFunctionModeStack:
		default:
			out = append(out, g)
		}
	}
	return out
}

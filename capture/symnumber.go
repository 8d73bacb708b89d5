package capture

import (
	"errors"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// readsNumber is the operator that gives a tensor's number to the program.
const readsNumber = "aten._local_scalar_dense.default"

// readsTensor is readsNumber where the program may ask for the number to stay in the graph.
const readsTensor = readsNumber + numbersStay

// numbersStay says how numbers that operators give stay in a graph.
const numbersStay = "; to enable, set torch._dynamo.config.capture_scalar_outputs = True"

// unsupportedNumber is the graph break for a question that only the running program can answer; nil for other errors.
func unsupportedNumber(err error) *Unsupported {
	var dd *torch.DataDependent
	if errors.As(err, &dd) {
		return unsupported(breaks.DataDependentOperator, dd.Op+numbersStay)
	}
	var sd *symbolic.DataDependent
	if errors.As(err, &sd) {
		return unsupported(breaks.DataDependentOperator, readsNumber)
	}
	return nil
}

// dynamicShape is the break at an operator whose result depends on what is in a tensor: in its sizes, or, where it gives a number, as a whole.
func (tr *tracer) dynamicShape(op string) *Unsupported {
	if readers.has(op) {
		return unsupported(breaks.DataDependentOperator, op+numbersStay)
	}
	if on, err := tr.d.configBool("capture_dynamic_output_shape_ops"); err == nil && on {
		return unsupported(breaks.DynamicShapeUnknown, op)
	}
	return unsupported(breaks.DynamicShapeOperator, op)
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
	if e := s.Expr.String(); !s.Expr.IsConst() && tr.out.exprNodes[e] == nil {
		tr.out.exprNodes[e] = n
	}
	return s, true, nil
}

// itemNumber is what x.item() gives while tracing. That of an input that holds one integer has a hint: it can be read at any call.
func (tr *tracer) itemNumber(p *torch.Tensor, n *fx.Node) (vm.Object, error) {
	src := tr.world.sources[p]
	if src == nil && standsIn(p.T) { // the stand-in of an input, which a body of an operator passes on
		if real := tr.standIns.reals[p.T]; real != nil {
			p, src = real, tr.world.sources[real]
		}
	}
	if src == nil || standsIn(p.T) || p.T.DType != tensor.Int64 && p.T.DType != tensor.Int32 || len(p.T.Shape) != 0 {
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
	n.Val = fx.SymInt{Expr: e.Name, Hint: p.T.AtInt(0)}
	tr.symbols.liftedAs[name] = s
	return s, nil
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

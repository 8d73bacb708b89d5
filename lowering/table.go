package lowering

import (
	"fmt"
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// lowering makes the lazy value of one node; nil means that this call goes to the eager kernel.
type lowering func(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error)

// table holds the pointwise lowerings, by operator.
var table = map[string]lowering{}

// pointwise registers an operator whose elements are op(operands) in the type that mode picks.
type mode uint8

const (
	same    mode = iota // computes in the result's type
	compare             // computes in the operands' common type, gives bool
	float               // integer operands become float first
	logical             // operands become bool
)

func init() {
	for name, op := range map[string]string{
		"neg.default": "neg", "abs.default": "abs", "sign.default": "sign", "relu.default": "relu",
		"mul.Tensor": "mul", "mul.Scalar": "mul", "maximum.default": "maximum", "minimum.default": "minimum",
		"bitwise_and.Tensor": "bitand", "bitwise_or.Tensor": "bitor", "bitwise_xor.Tensor": "bitxor",
		"bitwise_and.Scalar": "bitand", "bitwise_or.Scalar": "bitor", "bitwise_xor.Scalar": "bitxor",
		"fmod.Tensor": "fmod", "fmod.Scalar": "fmod", "remainder.Tensor": "remainder", "remainder.Scalar": "remainder",
		"pow.Tensor_Tensor": "pow", "pow.Tensor_Scalar": "pow", "pow.Scalar": "pow",
		"ceil.default": "ceil", "floor.default": "floor", "round.default": "round", "trunc.default": "trunc",
	} {
		pointwise("aten."+name, op, same)
	}
	for _, name := range []string{"exp", "exp2", "expm1", "log", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan", "asin", "acos", "atan",
		"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "sigmoid", "log1p"} {
		pointwise("aten."+name+".default", name, float)
	}
	pointwise("aten.atan2.default", "atan2", float)
	pointwise("aten.div.Tensor", "div", float)
	pointwise("aten.div.Scalar", "div", float)
	for _, name := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
		pointwise("aten."+name+".Tensor", name, compare)
		pointwise("aten."+name+".Scalar", name, compare)
	}
	for name, op := range map[string]string{"logical_and": "and", "logical_or": "or", "logical_xor": "xor", "logical_not": "not"} {
		pointwise("aten."+name+".default", op, logical)
	}
	pointwise("prims.fma.default", "fma", same)
	table["aten.add.Tensor"] = addSub("add")
	table["aten.sub.Tensor"] = addSub("sub")
	table["aten.add.Scalar"] = addSub("add")
	table["aten.sub.Scalar"] = addSub("sub")
	table["aten.isnan.default"] = classify("isnan")
	table["aten.isinf.default"] = classify("isinf")
	table["aten.bitwise_not.default"] = func(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
		op := "bitnot"
		if t.DType == tensor.Bool {
			op = "not"
		}
		return l.build(n, t, t.DType, n.Args[:1], func(xs []*ir.Expr) *ir.Expr { return call(op, t.DType, xs...) }), nil
	}
	table["aten.div.Tensor_mode"] = divMode
	table["aten.div.Scalar_mode"] = divMode
	table["aten.where.self"] = where
	table["aten.clamp_min.default"] = clamp("maximum", 1)
	table["aten.clamp_max.default"] = clamp("minimum", 1)
	table["aten.clamp.default"] = clampBoth
	table["aten.clone.default"] = identity
	table["aten.flip.default"] = flip
	table["prims.rev.default"] = flip
	table["aten.copy.default"] = func(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) { return l.castTo(n, n.Args[1], t) }
	table["prims.convert_element_type.default"] = func(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) { return l.castTo(n, n.Args[0], t) }
	table["aten._to_copy.default"] = table["prims.convert_element_type.default"]
	for _, name := range []string{"aten.full.default", "aten.full_like.default", "aten.zeros.default", "aten.ones.default", "aten.zeros_like.default",
		"aten.ones_like.default", "aten.scalar_tensor.default", "aten.new_zeros.default", "aten.new_ones.default", "aten.new_full.default"} {
		table[name] = fill
	}
	table["prims.iota.default"] = iota_
}

// call is op on args, computed in d.
func call(op string, d tensor.DType, args ...*ir.Expr) *ir.Expr {
	return &ir.Expr{Kind: ir.Call, DType: d, Op: op, Args: args}
}

// cast converts e to d; conversions that change nothing vanish.
func cast(e *ir.Expr, d tensor.DType) *ir.Expr {
	if e.DType == d {
		return e
	}
	if e.Kind == ir.Const && d != tensor.Bool && e.DType.Kind() <= d.Kind() {
		return &ir.Expr{Kind: ir.Const, DType: d, Value: e.Value}
	}
	if e.Op == "cast" && e.Args[0].DType == tensor.Bool && e.DType != tensor.Bool { // 0 and 1 are the same in all types
		return cast(e.Args[0], d)
	}
	return call("cast", d, e)
}

// constant is a Scalar argument in dtype d.
func constant(v fx.Arg, d tensor.DType) (*ir.Expr, bool) {
	e := &ir.Expr{Kind: ir.Const, DType: d}
	switch v := v.(type) {
	case bool:
		e.Value = v
		if d != tensor.Bool {
			e.Value = map[bool]int64{true: 1}[v]
		}
	case int64:
		e.Value = v
		if d == tensor.Bool {
			e.Value = v != 0
		}
	case float64:
		switch {
		case d == tensor.Bool:
			e.Value = v != 0
		case d.IsFloat():
			e.Value = v
		default:
			e.Value = int64(v)
		}
	default:
		return nil, false
	}
	return e, true
}

// build makes a lazy pointwise value: f over the operands, each loaded and cast to d.
func (l *lowerer) build(n *fx.Node, t *tensor.Tensor, d tensor.DType, args []fx.Arg, f func(xs []*ir.Expr) *ir.Expr) *value {
	d = compute(d)
	v := &value{t: t, cost: 1}
	var loads []func(ix []ir.Index) *ir.Expr
	for _, a := range args {
		in, ok := a.(*fx.Node)
		if !ok {
			c, ok := constant(a, d)
			if !ok {
				return nil
			}
			loads = append(loads, func([]ir.Index) *ir.Expr { return c })
			continue
		}
		x := l.vals[in]
		if x == nil {
			return nil
		}
		v.cost += x.cost
		v.from = append(v.from, x.from...)
		loads = append(loads, func(ix []ir.Index) *ir.Expr { return cast(x.at(broadcast(ix, x.t.Shape)), d) })
	}
	v.from = append(v.from, n.Name)
	v.load = func(ix []ir.Index) *ir.Expr {
		xs := make([]*ir.Expr, len(loads))
		for i, ld := range loads {
			xs[i] = ld(ix)
		}
		return f(xs)
	}
	return v
}

func pointwise(name, op string, m mode) {
	table[name] = func(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
		d := t.DType
		switch m {
		case compare:
			d = commonType(n)
		case float:
			if !d.IsFloat() {
				return nil, nil
			}
		case logical:
			d = tensor.Bool
		}
		res := compute(d)
		if m == compare {
			res = tensor.Bool
		}
		if op == "relu" && l.cfg.InjectRelu != "" {
			return l.bug(n, t, "relu", l.cfg.InjectRelu)
		}
		if op == "log1p" && l.cfg.InjectLog1p != "" {
			return l.bug(n, t, "log1p", l.cfg.InjectLog1p)
		}
		if op == "pow" && !d.IsFloat() && n.Target != "aten.pow.Tensor_Scalar" {
			return nil, nil // integer powers of tensors check for negative exponents
		}
		if (op == "ceil" || op == "floor" || op == "round" || op == "trunc") && !d.IsFloat() {
			return l.build(n, t, d, n.Args[:1], func(xs []*ir.Expr) *ir.Expr { return xs[0] }), nil
		}
		if d == tensor.Bool && (op == "mul" || op == "neg" || op == "abs" || op == "sign" || op == "bitand" || op == "bitor" || op == "bitxor") {
			b, ok := map[string]string{"mul": "and", "bitand": "and", "bitor": "or", "bitxor": "xor"}[op]
			if !ok {
				return nil, nil
			}
			return l.build(n, t, d, n.Args[:2], func(xs []*ir.Expr) *ir.Expr { return call(b, tensor.Bool, xs...) }), nil
		}
		if len(n.Kwargs) > 0 {
			return nil, nil
		}
		return l.build(n, t, d, n.Args, func(xs []*ir.Expr) *ir.Expr { return simpler(call(op, res, xs...)) }), nil
	}
}

// simpler is e without what powers by a constant need not compute, as the eager kernel has it.
func simpler(e *ir.Expr) *ir.Expr {
	if e.Op != "pow" || e.Args[1].Kind != ir.Const || !e.DType.IsFloat() {
		return e
	}
	x, d := e.Args[0], e.DType
	var by float64
	switch v := e.Args[1].Value.(type) {
	case int64:
		by = float64(v)
	case float64:
		by = v
	}
	switch by {
	case 1:
		return x
	case 2:
		return call("mul", d, x, x)
	case 3:
		return call("mul", d, call("mul", d, x, x), x)
	case 0.5:
		return call("sqrt", d, x)
	case -1:
		return call("reciprocal", d, x)
	case -0.5:
		return call("rsqrt", d, x)
	case -2:
		return call("reciprocal", d, call("mul", d, x, x))
	}
	return e
}

// bug puts one of the injected faults in place of op.
func (l *lowerer) bug(n *fx.Node, t *tensor.Tensor, op, kind string) (*value, error) {
	var name string
	switch kind {
	case "compile_error":
		name = "bug_compile"
	case "runtime_error":
		name = "bug_runtime"
	case "accuracy":
		name = "bug_plus1"
	default:
		return nil, &LoweringError{Type: "AssertionError", Msg: fmt.Sprintf("unrecognized config cpp.inject_%s_bug_TESTING_ONLY = '%s'", op, kind), Target: n.Target}
	}
	v := l.build(n, t, t.DType, n.Args[:1], func(xs []*ir.Expr) *ir.Expr {
		if name == "bug_plus1" && op == "log1p" {
			xs = []*ir.Expr{call(op, xs[0].DType, xs[0])}
		}
		return call(name, xs[0].DType, xs[0])
	})
	return v, nil
}

// commonType is the type in which operands are compared.
func commonType(n *fx.Node) tensor.DType {
	var args []any
	for _, a := range n.Args[:2] {
		if in, ok := a.(*fx.Node); ok {
			args = append(args, in.Val)
		} else {
			args = append(args, a)
		}
	}
	return tensor.ResultType(args...)
}

// addSub lowers sums and differences. alpha multiplies the second operand first, in the dtype of the result. Bools are left to the kernel,
// which refuses a difference of them.
func addSub(op string) lowering {
	return func(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
		d := t.DType
		alpha, scaled := n.Kwarg("alpha")
		if len(n.Args) > 2 {
			alpha, scaled = n.Args[2], true
		}
		if d == tensor.Bool {
			return nil, nil
		}
		return l.build(n, t, d, n.Args[:2], func(xs []*ir.Expr) *ir.Expr {
			y := xs[1]
			if scaled {
				if c, ok := constant(alpha, compute(d)); ok {
					y = call("mul", compute(d), y, c)
				}
			}
			return call(op, compute(d), xs[0], y)
		}), nil
	}
}

// classify lowers the tests of floats. Integers are neither infinite nor nan: their kernel fills with false.
func classify(op string) lowering {
	return func(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
		in, ok := n.Args[0].(*fx.Node)
		if !ok {
			return nil, nil
		}
		x, ok := in.Val.(*tensor.Tensor)
		if !ok || !x.DType.IsFloat() {
			return nil, nil
		}
		return l.build(n, t, x.DType, n.Args[:1], func(xs []*ir.Expr) *ir.Expr { return call(op, tensor.Bool, xs...) }), nil
	}
}

// divMode lowers division with rounding for floats alone.
func divMode(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	m, _ := n.Kwarg("rounding_mode")
	op := map[any]string{"floor": "div_floor", "trunc": "div_trunc", nil: "div"}[m]
	if op == "" || m == nil && !t.DType.IsFloat() || !t.DType.IsFloat() {
		return nil, nil // integer division by zero must raise
	}
	return l.build(n, t, t.DType, n.Args[:2], func(xs []*ir.Expr) *ir.Expr { return call(op, compute(t.DType), xs...) }), nil
}

// where lowers a choice. The condition is loaded as a bool, the branches in the dtype of the result; all three are computed, as nothing in an
// expression has an effect.
func where(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	c, ok := n.Args[0].(*fx.Node)
	if !ok || l.vals[c] == nil {
		return nil, nil
	}
	cond := l.vals[c]
	v := l.build(n, t, t.DType, n.Args[1:3], nil)
	if v == nil {
		return nil, nil
	}
	branches := l.build(n, t, t.DType, n.Args[1:3], func(xs []*ir.Expr) *ir.Expr { return call("where", compute(t.DType), nil, xs[0], xs[1]) })
	v.cost += cond.cost
	v.from = append(append([]string(nil), cond.from...), v.from...)
	v.load = func(ix []ir.Index) *ir.Expr {
		e := branches.load(ix)
		e.Args[0] = cast(cond.at(broadcast(ix, cond.t.Shape)), tensor.Bool)
		return e
	}
	return v, nil
}

// clamp lowers a one-sided bound, by the maximum or minimum of the two; NaN stays NaN.
func clamp(op string, k int) lowering {
	return func(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
		return l.build(n, t, t.DType, n.Args[:k+1], func(xs []*ir.Expr) *ir.Expr { return call(op, compute(t.DType), xs...) }), nil
	}
}

// clampBoth lowers both bounds, the lower one first: where they cross, the upper one wins.
func clampBoth(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	args := append(append([]fx.Arg{}, n.Args...), nil, nil)
	for i, name := range []string{"min", "max"} {
		if v, ok := n.Kwarg(name); ok {
			args[i+1] = v
		}
	}
	ops := []string{"maximum", "minimum"}
	use := []fx.Arg{args[0]}
	var chain []string
	for i, a := range args[1:3] {
		if a != nil {
			use = append(use, a)
			chain = append(chain, ops[i])
		}
	}
	return l.build(n, t, t.DType, use, func(xs []*ir.Expr) *ir.Expr {
		e := xs[0]
		for i, op := range chain {
			e = call(op, compute(t.DType), e, xs[i+1])
		}
		return e
	}), nil
}

// identity is a copy: the loader of its operand under the new layout.
func identity(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	v := l.build(n, t, t.DType, n.Args[:1], func(xs []*ir.Expr) *ir.Expr { return xs[0] })
	return v, nil
}

// flip reads axes from their ends.
func flip(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	dims, ok := ints(n.Args[1])
	v := l.build(n, t, t.DType, n.Args[:1], func(xs []*ir.Expr) *ir.Expr { return xs[0] })
	if !ok || v == nil {
		return nil, nil
	}
	forward := v.load
	v.load = func(ix []ir.Index) *ir.Expr {
		ix = slices.Clone(ix)
		for _, d := range dims {
			if d < 0 {
				d += int64(len(ix))
			}
			ix[d] = ir.Index{Const: t.Shape[d] - 1}.Plus(ix[d], -1)
		}
		return forward(ix)
	}
	return v, nil
}

// castTo lowers a conversion of argument a to the dtype of t. A 16-bit float goes through memory, where it is rounded.
func (l *lowerer) castTo(n *fx.Node, a fx.Arg, t *tensor.Tensor) (*value, error) {
	in, ok := a.(*fx.Node)
	if !ok || l.vals[in] == nil {
		return nil, nil
	}
	x := l.vals[in]
	v := &value{t: t, cost: x.cost + 1, from: append(append([]string(nil), x.from...), n.Name)}
	half := t.DType == tensor.BFloat16 || t.DType == tensor.Float16
	if half {
		// Rounding to a half type has to happen, so the value goes through memory.
		v.cost = maxInline + 1
	}
	v.load = func(ix []ir.Index) *ir.Expr { return cast(x.at(broadcast(ix, x.t.Shape)), compute(t.DType)) }
	return v, nil
}

// fill lowers the operators that make a tensor of one number, by where their arguments have it.
func fill(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	var x fx.Arg = int64(0)
	switch n.Target {
	case "aten.full.default", "aten.full_like.default":
		x = n.Args[1]
	case "aten.scalar_tensor.default":
		x = n.Args[0]
	case "aten.new_full.default":
		x = n.Args[2]
	case "aten.ones.default", "aten.ones_like.default", "aten.new_ones.default":
		x = int64(1)
	}
	c, ok := constant(x, compute(t.DType))
	if !ok {
		return nil, nil
	}
	return &value{t: t, from: []string{n.Name}, load: func([]ir.Index) *ir.Expr { return c }}, nil
}

// iota_ lowers a range of integers: an index expression of the axis itself.
func iota_(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	start, step := int64(0), int64(1)
	if v, ok := n.Kwarg("start"); ok {
		start, _ = v.(int64)
	}
	if v, ok := n.Kwarg("step"); ok {
		step, _ = v.(int64)
	}
	return &value{t: t, from: []string{n.Name}, load: func(ix []ir.Index) *ir.Expr {
		at := ir.Index{Const: start}.Plus(ix[0], step)
		return &ir.Expr{Kind: ir.AxisValue, DType: t.DType, At: at}
	}}, nil
}

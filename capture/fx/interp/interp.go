package interp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Aten runs calls through d: overloads by name, operator.* and sizes on
// numbers here, torch.* functions and tensor methods by PyTorch's overload resolution where an aten operator of
// that name exists.
func Aten(ctx context.Context, d aten.Dispatcher) fx.Resolver {
	r := &atenResolver{ctx: ctx, d: d}
	return r.call
}

// atenResolver finds the operator of a call by its target, and runs it on d. It holds no state of the run: one may serve many graphs.
type atenResolver struct {
	ctx context.Context
	d   aten.Dispatcher
}

// call decides by the kind of target. An overload is looked up; operator.* works on numbers and tensors alike; other functions, and methods,
// are resolved by name among the overloads of an operator, as PyTorch binds them.
func (r *atenResolver) call(n *fx.Node, args []any, kwargs map[string]any) (any, error) {
	switch n.Op {
	case fx.CallMethod:
		return r.packet(n.Target, args, kwargs)
	case fx.CallModule:
		return nil, fmt.Errorf("module %s cannot be run here", n.Target)
	}
	if fx.IsOverload(n.Target) {
		if v, ok, err := symSize(n.Target, args); ok {
			return v, err
		}
		if op := n.Operator(); op != nil {
			return aten.CallOp(r.d, op, args, kwargs)
		}
		return nil, unknown(n.Target, n.Target)
	}
	if name, ok := strings.CutPrefix(n.Target, "operator."); ok {
		return r.operator(name, args)
	}
	switch {
	case n.Target == condTarget && len(args) == 4:
		return r.cond(args)
	case n.Target == writingTarget && n.Custom != nil:
		return r.writing(n.Custom, kwargs)
	case n.Target == savingTarget:
		return r.saving(n, args, kwargs)
	case n.Target == againTarget && len(args) > 1:
		return r.again(n, args, kwargs)
	}
	if n.Target == "getattr" && len(args) == 2 {
		if v, ok := tensorAttr(args[0], args[1]); ok {
			return v, nil
		}
	}
	if v, ok, err := numberFunc(n.Target, args); ok {
		return v, err
	}
	parts := strings.Split(n.Target, ".")
	return r.packet(parts[len(parts)-1], args, kwargs)
}

// packet resolves a call by the name of an operator. Sizes that stand one by one, as in x.view(2, -1), are tried as a list where they do not
// bind otherwise.
func (r *atenResolver) packet(name string, args []any, kwargs map[string]any) (any, error) {
	if name == "size" && len(args) > 0 {
		if t, ok := args[0].(*tensor.Tensor); ok {
			if len(args) == 1 {
				return sizes(t), nil
			}
			if v, ok, err := symSize("aten.sym_size.int", args); ok {
				return v, err
			}
		}
	}
	name, args, kwargs = aten.PythonForm(name, args, kwargs)
	ops := aten.Packet("aten", name)
	if len(ops) == 0 {
		return nil, unknown(name, "aten::"+name)
	}
	op, bound, err := aten.ResolveOverload(ops, args, kwargs)
	if err != nil && len(args) > 1 && allInts(args[1:]) { // x.view(2, -1): sizes one by one
		op, bound, err = aten.ResolveOverload(ops, []any{args[0], args[1:]}, kwargs)
	}
	if err != nil {
		return nil, err
	}
	return r.d.Dispatch(op, bound)
}

// allInts reports whether all values are whole numbers.
func allInts(vs []any) bool {
	for _, v := range vs {
		if _, ok := v.(int64); !ok {
			return false
		}
	}
	return true
}

// unknown is the error of a graph, of a file or of another PyTorch most often, that names an operator which there is no row of in the registry.
func unknown(op, name string) error {
	return &aten.Error{Op: op, Kind: aten.NotImplementedError, Msg: name + " is not implemented"}
}

// The higher-order operators that graphs of AOTAutograd's call.
const (
	condTarget    = "torch.ops.higher_order.cond"
	writingTarget = "torch.ops.higher_order.auto_functionalized_v2"
	savingTarget  = "torch.ops.higher_order.run_and_save_rng_state"
	againTarget   = "torch.ops.higher_order.run_with_rng_state"
)

// Runs reports whether a call of a higher-order operator can be run.
func Runs(n *fx.Node) bool {
	switch n.Target {
	case condTarget, savingTarget, againTarget:
		return true
	}
	return n.Target == writingTarget && n.Custom != nil
}

// saving runs an operator that draws random numbers, and gives the state of the generator before that, and its results.
func (r *atenResolver) saving(n *fx.Node, args []any, kwargs map[string]any) (any, error) {
	before := aten.DefaultGenerator.State()
	state, err := tensor.FromBytes(tensor.UInt8, before, int64(len(before)))
	if err != nil {
		return nil, err
	}
	out, err := r.named(n, args, kwargs)
	return []any{state, out}, err
}

// again runs an operator that draws random numbers from a state of the generator that was saved.
func (r *atenResolver) again(n *fx.Node, args []any, kwargs map[string]any) (any, error) {
	state, ok := args[0].(*tensor.Tensor)
	if !ok {
		return nil, fmt.Errorf("%s: the state is a %T", againTarget, args[0])
	}
	if !state.Fake {
		defer aten.DefaultGenerator.SetState(aten.DefaultGenerator.State())
		if err := aten.DefaultGenerator.SetState(state.Bytes()); err != nil {
			return nil, err
		}
	}
	return r.named(n, args[1:], kwargs)
}

// named runs the operator that the first argument names.
func (r *atenResolver) named(n *fx.Node, args []any, kwargs map[string]any) (any, error) {
	name, _ := args[0].(fx.FnRef)
	op := n.Custom
	if op == nil {
		op = aten.Lookup(strings.TrimPrefix(string(name), "torch.ops."))
	}
	if op == nil {
		return nil, unknown(n.Target, string(name))
	}
	return aten.CallOp(r.d, op, args[1:], kwargs)
}

// writing runs an operator on copies of what it writes, and gives its results, or None, and then these copies.
func (r *atenResolver) writing(op *aten.Op, kwargs map[string]any) (any, error) {
	given, _ := kwargs["_all_bases"].([]any)
	bases := make([]any, len(given))
	starts := make([]int64, len(given)) // where each began in its own storage
	for i, b := range given {
		t, ok := b.(*tensor.Tensor)
		if !ok {
			return nil, fmt.Errorf("%s: base %d is a %T", writingTarget, i, b)
		}
		starts[i] = t.Offset
		bases[i] = t.Clone()
	}
	view := func(prefix string) (any, error) {
		at, ok := kwargs[prefix+"_base_index"].(int64)
		if !ok {
			return nil, nil
		}
		b := bases[at]
		if dim, ok := kwargs[prefix+"_slice_dim"]; ok {
			return aten.CallOp(r.d, aten.Lookup("aten.slice.Tensor"), []any{b, dim, kwargs[prefix+"_slice_start"], kwargs[prefix+"_slice_end"]}, nil)
		}
		if start, ok := kwargs[prefix+"_storage_offset"].(int64); ok {
			return aten.CallOp(r.d, aten.Lookup("aten.as_strided.default"), []any{b, kwargs[prefix+"_size"], kwargs[prefix+"_stride"], start - starts[at]}, nil)
		}
		return b, nil
	}
	args := make([]aten.Value, len(op.Sig().Args))
	for i, a := range op.Sig().Args {
		if !a.Write() {
			args[i] = kwargs[a.Name]
			continue
		}
		var err error
		if n, ok := kwargs["_"+a.Name+"_length"].(int64); ok {
			l := make([]aten.Value, n)
			for k := range l {
				if l[k], err = view(fmt.Sprintf("_%s_%d", a.Name, k)); err != nil {
					return nil, err
				}
			}
			args[i] = l
		} else if args[i], err = view("_" + a.Name); err != nil {
			return nil, err
		}
	}
	out, err := r.d.Dispatch(op, args)
	if err != nil {
		return nil, err
	}
	if l, ok := out.([]aten.Value); ok && len(op.Sig().Returns) > 1 {
		return append(slices.Clone(l), bases...), nil
	}
	return append([]any{out}, bases...), nil
}

// cond runs the one branch of torch.cond that its predicate picks, with the same resolver.
func (r *atenResolver) cond(args []any) (any, error) {
	yes, err := truth(args[0])
	if err != nil {
		return nil, err
	}
	pick := args[2]
	if yes {
		pick = args[1]
	}
	gm, ok := pick.(*fx.GraphModule)
	ops, ok2 := args[3].([]any)
	if !ok || !ok2 {
		return nil, fmt.Errorf("cond needs two graphs and a list of operands")
	}
	return fx.Run(r.ctx, gm, ops, r.call)
}

// truth is the value of a predicate: a number, or a tensor of one element. A fake tensor counts as true, as the results of both branches have
// the same metadata.
func truth(v any) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case int64:
		return v != 0, nil
	case *tensor.Tensor:
		if v.Fake {
			return true, nil // shapes of both branches agree
		}
		if v.Numel() == 1 {
			return v.At(0) != 0, nil
		}
	}
	return false, fmt.Errorf("%T has no truth value here", v)
}

// symSize computes operators on sizes, whose results are numbers.
func symSize(target string, args []any) (any, bool, error) {
	if len(args) == 0 {
		return nil, false, nil
	}
	t, ok := args[0].(*tensor.Tensor)
	if !ok {
		return nil, false, nil
	}
	dim := func(of []int64) (any, bool, error) {
		if len(args) < 2 {
			return nil, true, fmt.Errorf("%s needs a dimension", target)
		}
		k, _ := args[1].(int64)
		if k < 0 {
			k += int64(len(of))
		}
		if k < 0 || k >= int64(len(of)) {
			return nil, true, fmt.Errorf("Dimension out of range (expected to be in range of [%d, %d], but got %v)", -len(of), len(of)-1, args[1])
		}
		return of[k], true, nil
	}
	switch target {
	case "aten.sym_size.int":
		return dim(t.Shape)
	case "aten.sym_stride.int":
		return dim(t.Stride)
	case "aten.sym_size.default":
		return sizes(t), true, nil
	case "aten.sym_numel.default":
		return t.Numel(), true, nil
	case "aten.sym_storage_offset.default":
		return t.Offset, true, nil
	}
	return nil, false, nil
}

// sizes are those of a tensor, as x.size() gives them.
func sizes(t *tensor.Tensor) []any {
	out := make([]any, len(t.Shape))
	for i, s := range t.Shape {
		out[i] = s
	}
	return out
}

// tensorAttr is an attribute of a tensor that a graph may ask for, such as shape or dtype; ok is false for others.
func tensorAttr(v, name any) (any, bool) {
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, false
	}
	switch name {
	case "shape":
		return sizes(t), true
	case "dtype":
		return t.DType, true
	case "ndim":
		return int64(t.Dim()), true
	case "device":
		return tensor.CPU, true
	}
	return nil, false
}

// operator computes the functions of Python's operator module.
func (r *atenResolver) operator(name string, args []any) (any, error) {
	if name == "getitem" && len(args) == 2 {
		if seq, ok := args[0].([]any); ok {
			return index(seq, args[1])
		}
	}
	tensors := false
	for _, a := range args {
		if _, ok := a.(*tensor.Tensor); ok {
			tensors = true
		}
	}
	if !tensors {
		return number(name, args)
	}
	switch name {
	case "getitem":
		return r.subscript(args[0], args[1])
	}
	if op, ok := tensorOps[name]; ok {
		if _, ok := args[0].(*tensor.Tensor); !ok && (name == "sub" || name == "truediv" || name == "floordiv" || name == "mod") {
			args = []any{tensor.Scalar(args[0]), args[1]}
		} else if !ok && len(args) == 2 {
			switch name {
			case "add", "mul", "and_", "or_", "xor", "eq", "ne":
				args = []any{args[1], args[0]}
			}
		}
		return r.packet(op, args, nil)
	}
	return nil, fmt.Errorf("operator.%s is not supported on tensors here", name)
}

// tensorOps are the operators that operator.* functions stand for where an operand is a tensor.
var tensorOps = map[string]string{
	"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "pow": "pow",
	"matmul": "matmul", "neg": "neg", "pos": "positive", "invert": "bitwise_not", "abs": "abs", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor",
	"lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
	"iadd": "add_", "isub": "sub_", "imul": "mul_", "itruediv": "div_", "ipow": "pow_", "iand": "bitwise_and_", "ior": "bitwise_or_",
	"ixor": "bitwise_xor_", "imod": "remainder_", "ifloordiv": "floor_divide_",
}

// index is seq[i] for a list of values: by a number, or by a slice.
func index(seq []any, i any) (any, error) {
	switch i := i.(type) {
	case int64:
		if i < 0 {
			i += int64(len(seq))
		}
		if i < 0 || i >= int64(len(seq)) {
			return nil, fmt.Errorf("IndexError: tuple index out of range")
		}
		return seq[i], nil
	case fx.Slice:
		lo, hi := int64(0), int64(len(seq))
		if s, ok := i.Start.(int64); ok {
			lo = s
		}
		if s, ok := i.Stop.(int64); ok {
			hi = s
		}
		clamp := func(x int64) int64 {
			if x < 0 {
				x += int64(len(seq))
			}
			return max(0, min(x, int64(len(seq))))
		}
		lo, hi = clamp(lo), clamp(hi)
		return append([]any{}, seq[lo:max(lo, hi)]...), nil
	}
	return nil, fmt.Errorf("an index of type %T is not supported", i)
}

// subscript is tensor indexing by integers, slices, None, ... and tensors.
func (r *atenResolver) subscript(v, idx any) (any, error) {
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, fmt.Errorf("%T cannot be indexed", v)
	}
	items, ok := idx.([]any)
	if !ok {
		items = []any{idx}
	}
	used := 0
	for _, it := range items {
		switch it.(type) {
		case nil, fx.Ellipsis, bool:
		default:
			used++
		}
	}
	dim := int64(0)
	var gather []any
	hasTensor := false
	cur := any(t)
	for _, it := range items {
		var err error
		switch it := it.(type) {
		case nil:
			cur, err = aten.Run(r.d, "aten.unsqueeze.default", cur, dim)
			dim++
			gather = append(gather, nil)
		case fx.Ellipsis:
			for k := t.Dim() - used; k > 0; k-- {
				dim++
				gather = append(gather, nil)
			}
		case int64:
			cur, err = aten.Run(r.d, "aten.select.int", cur, dim, it)
		case fx.Slice:
			stop, step := it.Stop, it.Step
			if stop == nil {
				stop = int64(math.MaxInt64)
			}
			if step == nil {
				step = int64(1)
			}
			start := it.Start
			if start == nil {
				start = int64(0)
			}
			cur, err = aten.Run(r.d, "aten.slice.Tensor", cur, dim, start, stop, step)
			dim++
			gather = append(gather, nil)
		case *tensor.Tensor:
			hasTensor = true
			gather = append(gather, it)
			dim++
			if it.DType == tensor.Bool {
				dim += int64(it.Dim()) - 1
			}
		default:
			err = fmt.Errorf("an index of type %T is not supported", it)
		}
		if err != nil {
			return nil, err
		}
	}
	if hasTensor {
		return aten.Run(r.d, "aten.index.Tensor", cur, gather)
	}
	return cur, nil
}

// numberFunc computes functions of symbolic numbers.
func numberFunc(target string, args []any) (any, bool, error) {
	switch target {
	case "torch.sym_int", "int", "torch.sym_float", "float", "torch._sym_sqrt", "math.sqrt", "torch.sym_max", "torch.sym_min", "max", "min",
		"torch.sym_not", "math.floor", "math.ceil", "math.trunc", "torch._check_is_size", "torch._check", "torch.sym_ite", "abs", "torch._C._log_api_usage_once",
		"torch._C._set_grad_enabled", "torch.amp.autocast_mode._enter_autocast", "torch.amp.autocast_mode._exit_autocast":
	default:
		return nil, false, nil
	}
	var f [3]float64
	ints := true
	for i, a := range args {
		switch a := a.(type) {
		case int64:
			if i < 3 {
				f[i] = float64(a)
			}
		case float64:
			ints = false
			if i < 3 {
				f[i] = a
			}
		case *tensor.Tensor:
			return nil, false, nil
		}
	}
	num := func(x float64) (any, bool, error) {
		if ints {
			return int64(x), true, nil
		}
		return x, true, nil
	}
	switch target {
	case "torch.sym_int", "int", "math.trunc":
		return int64(f[0]), true, nil
	case "torch.sym_float", "float":
		return f[0], true, nil
	case "torch._sym_sqrt", "math.sqrt":
		return math.Sqrt(f[0]), true, nil
	case "math.floor":
		return int64(math.Floor(f[0])), true, nil
	case "math.ceil":
		return int64(math.Ceil(f[0])), true, nil
	case "abs":
		return num(math.Abs(f[0]))
	case "torch.sym_max", "max":
		return num(math.Max(f[0], f[1]))
	case "torch.sym_min", "min":
		return num(math.Min(f[0], f[1]))
	case "torch.sym_not":
		b, _ := args[0].(bool)
		return !b, true, nil
	case "torch.sym_ite":
		if b, _ := args[0].(bool); b {
			return args[1], true, nil
		}
		return args[2], true, nil
	}
	return nil, true, nil
}

// number is Python arithmetic on ints, floats and bools, as symbolic sizes need it. Two whole numbers give a whole one, but for true division; else
// both are floats.
func number(name string, args []any) (any, error) {
	if len(args) == 0 || len(args) > 2 {
		return nil, fmt.Errorf("operator.%s takes other arguments", name)
	}
	op := strings.TrimSuffix(name, "_")
	if strings.HasPrefix(op, "i") && isInplace(op) {
		op = op[1:]
	}
	var v any
	var ok bool
	var err error
	if len(args) == 1 {
		v, ok = unary(op, args[0])
	} else {
		v, ok, err = binary(op, args)
	}
	if !ok && err == nil {
		err = fmt.Errorf("operator.%s is not supported on %T", op, args[0])
	}
	return v, err
}

// toInt is an int, or a bool as 0 or 1.
func toInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// toFloat is any number as a float.
func toFloat(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	i, ok := toInt(v)
	return float64(i), ok
}

// unary computes with one operand; ok is false for what it does not support.
func unary(op string, x any) (any, bool) {
	if i, ok := toInt(x); ok {
		switch op {
		case "neg":
			return -i, true
		case "pos", "index":
			return i, true
		case "invert":
			return ^i, true
		case "not":
			return i == 0, true
		case "abs":
			return max(i, -i), true
		case "truth":
			return i != 0, true
		}
		return nil, false
	}
	if f, ok := toFloat(x); ok {
		switch op {
		case "neg":
			return -f, true
		case "pos":
			return f, true
		case "abs":
			return math.Abs(f), true
		}
	}
	return nil, false
}

// binary computes with two operands; ok is false for what they do not support.
func binary(op string, args []any) (v any, ok bool, err error) {
	a, aok := toInt(args[0])
	b, bok := toInt(args[1])
	if aok && bok {
		if v, ok, err = wholeBinary(op, args, a, b); ok || err != nil {
			return v, ok, err
		}
	}
	x, xok := toFloat(args[0])
	y, yok := toFloat(args[1])
	if xok && yok {
		return floatBinary(op, x, y)
	}
	switch op {
	case "eq":
		return args[0] == args[1], true, nil
	case "ne":
		return args[0] != args[1], true, nil
	}
	return nil, false, nil
}

// wholeBinary is binary for a and b, the integers that args are; ok is false where the result is a float, too.
func wholeBinary(op string, args []any, a, b int64) (v any, ok bool, err error) {
	switch op {
	case "add", "sub", "mul", "floordiv", "mod":
		if v, ok := intOp(op, a, b); ok {
			return v, true, nil
		}
		return nil, false, fmt.Errorf("ZeroDivisionError: integer division or modulo by zero")
	case "pow":
		if b < 0 {
			return nil, false, nil
		}
		p := int64(1)
		for ; b > 0; b-- {
			p *= a
		}
		return p, true, nil
	case "lshift":
		return a << uint(b), true, nil
	case "rshift":
		return a >> uint(b), true, nil
	case "and":
		return logical(args, a&b), true, nil
	case "or":
		return logical(args, a|b), true, nil
	case "xor":
		return logical(args, a^b), true, nil
	}
	v, ok = relation(op, a, b)
	return v, ok, nil
}

// floatBinary is binary for floats. Division rounds down, and its remainder has the sign of the divisor, as in Python.
func floatBinary(op string, x, y float64) (v any, ok bool, err error) {
	switch op {
	case "add":
		return x + y, true, nil
	case "sub":
		return x - y, true, nil
	case "mul":
		return x * y, true, nil
	case "truediv":
		if y == 0 {
			return nil, false, fmt.Errorf("ZeroDivisionError: division by zero")
		}
		return x / y, true, nil
	case "floordiv":
		return math.Floor(x / y), true, nil
	case "mod":
		return x - y*math.Floor(x/y), true, nil
	case "pow":
		return math.Pow(x, y), true, nil
	}
	v, ok = relation(op, x, y)
	return v, ok, nil
}

// relation compares two numbers of one type; ok is false for what is no relation. A nan is equal to nothing.
func relation[T int64 | float64](op string, a, b T) (v any, ok bool) {
	switch op {
	case "eq":
		return a == b, true
	case "ne":
		return a != b, true
	case "lt":
		return a < b, true
	case "le":
		return a <= b, true
	case "gt":
		return a > b, true
	case "ge":
		return a >= b, true
	}
	return nil, false
}

// logical keeps the type bool where both operands have it.
func logical(args []any, v int64) any {
	_, a := args[0].(bool)
	_, b := args[1].(bool)
	if a && b {
		return v != 0
	}
	return v
}

// Propagate runs the graph on fake tensors by the operators' meta functions and sets every node's Val.
// After an error, Val is set for the nodes before the one that the error names.
func Propagate(ctx context.Context, gm *fx.GraphModule, inputs []any) error {
	return PropagateWith(ctx, gm, inputs, Aten(ctx, aten.Fake))
}

// PropagateWith is Propagate with another resolver for fake values.
func PropagateWith(ctx context.Context, gm *fx.GraphModule, inputs []any, resolve fx.Resolver) error {
	fakes := make([]any, len(inputs))
	for i, v := range inputs {
		fakes[i] = fx.Fake(v)
	}
	_, err := fx.RunObserved(ctx, gm, fakes, resolve, func(n *fx.Node, v any) (any, error) {
		v = fx.Fake(v)
		n.Val = v
		return v, nil
	})
	return err
}

// isInplace reports whether name is iadd, imul ...
func isInplace(name string) bool {
	_, ok := tensorOps[name]
	return ok || name == "ilshift" || name == "irshift" || name == "imatmul"
}

// intOp is Python's integer arithmetic.
func intOp(op string, a, b int64) (int64, bool) {
	switch op {
	case "add":
		return a + b, true
	case "sub":
		return a - b, true
	case "mul":
		return a * b, true
	}
	if b == 0 {
		return 0, false
	}
	q, r := symbolic.DivMod(a, b)
	if op == "mod" {
		return r, true
	}
	return q, true
}

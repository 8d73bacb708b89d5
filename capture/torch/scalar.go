package torch

import (
	"errors"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Scalar is a number of a traced program that is not fixed: a size, a number among the inputs, or one read from a tensor.
// Arithmetic on it is recorded. A backed one has a hint, and a decision about it becomes a guard.
type Scalar struct {
	Kind  tensor.DType // Int64, Float64 or Bool
	Expr  *symbolic.Expr
	Env   *symbolic.Env
	class *vm.Type
}

// Type is torch.SymInt, SymFloat or SymBool.
func (s *Scalar) Type() *vm.Type { return s.class }

// Backed reports whether the number has a value while tracing.
func (s *Scalar) Backed() bool { return !s.Env.Unknown(s.Expr) }

// hint is a value of the right type, for computing metadata.
func (s *Scalar) hint() any {
	if h, err := s.Env.Hint(s.Expr); err == nil {
		return h
	}
	switch s.Kind {
	case tensor.Int64:
		return s.Env.Example(s.Expr)
	case tensor.Bool:
		return true
	}
	return 1.5
}

// Hint is the Python number that s is while tracing; a stand-in when it is not known.
func (s *Scalar) Hint() vm.Object { return number(s.hint()) }

func number(v any) vm.Object {
	switch v := v.(type) {
	case int64:
		return vm.MakeInt(v)
	case float64:
		return vm.Float(v)
	case bool:
		return vm.MakeBool(v)
	}
	return vm.None
}

// SymbolicNumber is a Scalar among the arguments of an operator.
type SymbolicNumber struct{ *Scalar }

// Hint is the number's value while tracing.
func (s SymbolicNumber) Hint() aten.Value { return s.hint() }

// Expression is what the number is.
func (s SymbolicNumber) Expression() *symbolic.Expr { return s.Expr }

// NewScalar is the number that the running program reads from a 0-d tensor of dtype d.
func (t *Torch) NewScalar(d tensor.DType, env *symbolic.Env) *Scalar {
	k := tensor.Float64
	switch {
	case d == tensor.Bool:
		k = tensor.Bool
	case !d.IsFloat():
		k = tensor.Int64
	}
	e := env.UnbackedReal
	if k != tensor.Float64 {
		e = func() *symbolic.Expr { return env.Unbacked(false) }
	}
	return &Scalar{k, e(), env, t.scalarType(k)}
}

// Number is an expression as a Python object: a plain number when it is constant.
func (t *Torch) Number(e *symbolic.Expr, env *symbolic.Env) vm.Object {
	e = env.Simplify(e)
	switch e.Op {
	case symbolic.OpInt:
		return vm.MakeInt(e.Int)
	case symbolic.OpFloat:
		return vm.Float(e.Float)
	case symbolic.OpBool:
		return vm.MakeBool(e.Int != 0)
	}
	return t.computed(e, env)
}

// computed is the result of arithmetic on symbolic numbers. It stays one of them even where it is constant: 0*n has a node.
func (t *Torch) computed(e *symbolic.Expr, env *symbolic.Env) *Scalar {
	k := tensor.Int64
	switch {
	case e.IsBool():
		k = tensor.Bool
	case e.IsFloat():
		k = tensor.Float64
	}
	return &Scalar{k, e, env, t.scalarType(k)}
}

// ScalarError turns an error of the symbolic algebra into what ends a trace or reaches the program.
func (t *Torch) ScalarError(err error) error {
	var d *symbolic.DataDependent
	if errors.As(err, &d) {
		return &DataDependent{Op: "aten._local_scalar_dense.default"}
	}
	if err != nil {
		return t.In.Errorf(t.In.Exc.RuntimeError, "%s", err.Error())
	}
	return nil
}

// Truth is the truth value of s; where it is not known otherwise, a guard.
func (t *Torch) Truth(s *Scalar) (bool, error) {
	if s.Kind != tensor.Bool && s.Backed() {
		v, err := t.Specialize(s) // PyTorch asks for the value
		if err != nil {
			return false, err
		}
		return t.In.Truth(v)
	}
	e := s.Expr
	if s.Kind != tensor.Bool {
		e = symbolic.Cmp(symbolic.OpNe, e, symbolic.Int(0))
	}
	b, err := s.Env.Decide(e)
	return b, t.ScalarError(err)
}

// Specialize fixes s to its value, with a guard.
func (t *Torch) Specialize(s *Scalar) (vm.Object, error) {
	v, err := s.Env.Specialize(s.Expr)
	if err != nil {
		return nil, t.ScalarError(err)
	}
	return number(v), nil
}

func (t *Torch) scalarType(k tensor.DType) *vm.Type {
	if c := t.scalars[k]; c != nil {
		return c
	}
	methods := map[string]vm.GoFunc{}
	for _, op := range []string{"add", "sub", "mul", "truediv", "floordiv", "mod", "pow"} {
		methods["__"+op+"__"] = t.scalarOp("operator."+op, false)
		methods["__r"+op+"__"] = t.scalarOp("operator."+op, true)
	}
	for _, op := range []string{"lt", "le", "gt", "ge", "eq", "ne"} {
		methods["__"+op+"__"] = t.scalarOp("operator."+op, false)
	}
	for _, op := range []string{"neg", "pos"} {
		methods["__"+op+"__"] = t.scalarOp("operator."+op, false)
	}
	methods["__abs__"] = t.scalarOp("__abs__", false)
	methods["__bool__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		b, err := t.Truth(a[0].(*Scalar))
		return vm.MakeBool(b), err
	}
	same := func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil }
	fixed := []string{"bit_length"}
	switch k {
	case tensor.Int64:
		methods["conjugate"] = same
		methods["as_integer_ratio"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewTuple(a[0], vm.MakeInt(1)), nil
		}
	case tensor.Float64:
		methods["conjugate"] = same
		fixed = []string{"is_integer", "as_integer_ratio", "hex"}
	}
	// What is not recorded is computed with the value, which a guard then fixes.
	for _, m := range append(fixed, "__int__", "__float__", "__index__", "__hash__", "__format__", "__round__", "__trunc__", "__floor__", "__ceil__",
		"__and__", "__or__", "__xor__", "__lshift__", "__rshift__", "__rand__", "__ror__", "__rxor__", "__rlshift__", "__rrshift__", "__divmod__", "__rdivmod__",
		"__invert__") {
		methods[m] = func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if m == "__hash__" && k == tensor.Int64 && t.Hook == nil { // in a function that is run as one node of a graph
				return nil, in.Errorf(in.Exc.TypeError, "unhashable type: non-nested SymInt")
			}
			args := append([]vm.Object(nil), a...)
			for i, o := range args {
				if s, ok := o.(*Scalar); ok {
					v, err := t.Specialize(s)
					if err != nil {
						return nil, err
					}
					args[i] = v
				}
			}
			switch m {
			case "__index__", "__int__":
				if _, isInt := args[0].(vm.Int); isInt {
					return args[0], nil
				}
			case "__hash__":
				h, err := in.Hash(args[0])
				return vm.MakeInt(int64(h)), err
			case "__format__":
				spec, _ := vm.AsStr(args[1])
				s, err := in.Format(args[0], spec)
				return vm.Str(s), err
			}
			return in.CallMethod(args[0], m, args[1:]...)
		}
	}
	text := func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		s := a[0].(*Scalar)
		if t.Hook == nil {
			return vm.Str(s.Env.Simplify(s.Expr).String()), nil
		}
		v, err := t.Specialize(s)
		if err != nil {
			return nil, err
		}
		r, err := in.Repr(v)
		return vm.Str(r), err
	}
	methods["__str__"], methods["__repr__"] = text, text
	name := map[tensor.DType]string{tensor.Int64: "SymInt", tensor.Float64: "SymFloat", tensor.Bool: "SymBool"}[k]
	c := t.In.NewNativeType(vm.Spec{Name: name, Module: "torch", NoDict: true, Methods: methods})
	if t.scalars == nil {
		t.scalars = map[tensor.DType]*vm.Type{}
	}
	t.scalars[k] = c
	return c
}

// relations are the comparisons among the operators.
var relations = map[string]symbolic.Op{"operator.lt": symbolic.OpLt, "operator.le": symbolic.OpLe, "operator.gt": symbolic.OpGt, "operator.ge": symbolic.OpGe,
	"operator.eq": symbolic.OpEq, "operator.ne": symbolic.OpNe}

// expression is a Python number as an expression; ok is false for anything else.
func expression(o vm.Object) (e *symbolic.Expr, ok bool) {
	switch v := o.(type) {
	case *Scalar:
		return v.Env.Simplify(v.Expr), true
	case vm.Int:
		return symbolic.Int(int64(v)), true
	case vm.Bool:
		n := int64(0)
		if v {
			n = 1
		}
		return symbolic.Int(n), true
	case vm.Float:
		return symbolic.Float(float64(v)), true
	}
	return nil, false
}

// scalarOp is one operator on symbolic numbers; tensors know themselves what to do with one.
func (t *Torch) scalarOp(target string, reflected bool) vm.GoFunc {
	return func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		var env *symbolic.Env
		for _, x := range a {
			if _, ok := expression(x); !ok {
				return vm.NotImplemented, nil
			}
			if s, ok := x.(*Scalar); ok {
				env = s.Env
			}
		}
		if reflected {
			a = []vm.Object{a[1], a[0]}
		}
		if target == "operator.pow" {
			if p, done, err := t.wholePower(a); done || err != nil {
				return p, err
			}
		}
		op := fx.CallFunction
		if target == "__abs__" {
			op = fx.CallMethod
		}
		return t.call(op, target, a, nil, func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			es := make([]*symbolic.Expr, len(a))
			for i, x := range a {
				es[i], _ = expression(x)
			}
			e, err := t.compute(target, es)
			if err != nil {
				return nil, err
			}
			return t.computed(e, env), nil
		})
	}
}

// wholePower is a power whose kind the values decide: one of integers is an integer where the exponent is at least 0, so that one is fixed
// to its value, and a power by a modulus has no symbolic form. done is false where the power is a matter of expressions; a may have the value in it.
func (t *Torch) wholePower(a []vm.Object) (p vm.Object, done bool, err error) {
	whole := func(o vm.Object) bool { e, ok := expression(o); return ok && !e.IsFloat() }
	fix := func(i int) {
		if s, ok := a[i].(*Scalar); ok && err == nil {
			a[i], err = t.Specialize(s)
		}
	}
	if len(a) == 3 && a[2] != vm.None {
		for i := range a {
			fix(i)
		}
		if err != nil {
			return nil, false, err
		}
		p, err = t.In.CallMethod(a[0], "__pow__", a[1], a[2])
		return p, true, err
	}
	if !whole(a[0]) || !whole(a[1]) {
		return nil, false, nil
	}
	if fix(1); err != nil {
		return nil, false, err
	}
	if _, symbolic := a[0].(*Scalar); symbolic {
		return nil, false, nil
	}
	p, err = t.In.BinaryOp("**", a[0], a[1])
	return p, true, err
}

func (t *Torch) compute(target string, es []*symbolic.Expr) (*symbolic.Expr, error) {
	if r, ok := relations[target]; ok {
		for i, e := range es { // a SymBool among numbers counts as 0 or 1
			if e.IsBool() && e.Op != symbolic.OpBool {
				es[i] = e
			}
		}
		return symbolic.Cmp(r, es[0], es[1]), nil
	}
	if len(es) == 2 && es[1].Op == symbolic.OpInt && es[1].Int == 0 || len(es) == 2 && es[1].Op == symbolic.OpFloat && es[1].Float == 0 {
		switch target {
		case "operator.truediv", "operator.floordiv", "operator.mod":
			return nil, t.In.Errorf(t.In.Exc.ZeroDivisionError, "division by zero")
		}
	}
	switch target {
	case "operator.add":
		return symbolic.Add(es...), nil
	case "operator.sub":
		if es[0].IsFloat() || es[1].IsFloat() {
			return symbolic.Add(es[0], symbolic.Mul(symbolic.Float(-1), es[1])), nil
		}
		return symbolic.Sub(es[0], es[1]), nil
	case "operator.mul":
		return symbolic.Mul(es...), nil
	case "operator.truediv":
		return symbolic.TrueDiv(es[0], es[1]), nil
	case "operator.floordiv":
		return symbolic.FloorDiv(es[0], es[1]), nil
	case "operator.mod":
		if es[0].IsFloat() || es[1].IsFloat() {
			q := symbolic.Call("floor", symbolic.TrueDiv(es[0], es[1]))
			return symbolic.Add(es[0], symbolic.Mul(symbolic.Float(-1), es[1], q)), nil
		}
		return symbolic.Mod(es[0], es[1]), nil
	case "operator.pow":
		if n := es[1]; n.Op == symbolic.OpInt && n.Int >= 0 && n.Int < 64 && !es[0].IsFloat() {
			return symbolic.Pow(es[0], n.Int), nil
		}
		return symbolic.FloatPow(es[0], es[1]), nil
	case "operator.neg":
		if es[0].IsFloat() {
			return symbolic.Mul(symbolic.Float(-1), es[0]), nil
		}
		return symbolic.Neg(es[0]), nil
	case "operator.pos":
		return es[0], nil
	case "__abs__":
		return symbolic.Abs(es[0]), nil
	}
	return nil, t.In.Errorf(t.In.Exc.TypeError, "%s is not supported on symbolic numbers", target)
}

// ScalarChoice records torch.sym_max or torch.sym_min of two numbers, at least one of which is symbolic.
func (t *Torch) ScalarChoice(target string, a, b vm.Object, env *symbolic.Env, choose func(a, b *symbolic.Expr) *symbolic.Expr) (vm.Object, error) {
	return t.call(fx.CallFunction, target, []vm.Object{a, b}, nil, func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		x, ok1 := expression(a[0])
		y, ok2 := expression(a[1])
		if !ok1 || !ok2 {
			return nil, t.In.Errorf(t.In.Exc.TypeError, "%s needs numbers", target)
		}
		return t.Number(choose(x, y), env), nil
	})
}

// ScalarFunction records a function of one symbolic number: torch.sym_float, torch._sym_sqrt and their kind.
func (t *Torch) ScalarFunction(target string, s *Scalar, f func(e *symbolic.Expr) *symbolic.Expr) (vm.Object, error) {
	return t.call(fx.CallFunction, target, []vm.Object{s}, nil, func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		e, ok := expression(a[0])
		if !ok {
			return nil, t.In.Errorf(t.In.Exc.TypeError, "%s needs a number", target)
		}
		return t.Number(f(e), s.Env), nil
	})
}

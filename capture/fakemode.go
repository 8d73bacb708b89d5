package capture

import (
	"errors"
	"fmt"
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/sizes"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// fakeMode implements torch.FakeMode: what a FakeTensorMode of a program does, or what a trace knew once it is over.
type fakeMode struct {
	d     *Dynamo
	sizes *sizes.Tracker
	// symbols says that there is a ShapeEnv: sizes may be symbols, and numbers that only a run knows have names.
	symbols   bool
	allowReal bool // real tensors may stand among the arguments
	traced    bool // it is a trace's
	object    vm.Object

	memo   map[*tensor.Tensor]*tensor.Tensor // the fakes of real tensors
	consts knownValues
}

func (d *Dynamo) newFakeMode(env *symbolic.Env, symbols bool) *fakeMode {
	env.Lasting = true
	m := &fakeMode{d: d, sizes: sizes.New(env), symbols: symbols, memo: map[*tensor.Tensor]*tensor.Tensor{}, consts: knownValues{}}
	m.sizes.Unbacked = symbols
	return m
}

// Type is the class of the native handle.
func (m *fakeMode) Type() *vm.Type { return m.d.fakeModeType }

// Addressed implements torch.FakeMode.
func (m *fakeMode) Addressed() bool { return !m.traced }

// Class is FakeTensor, where the program has come to know it.
func (m *fakeMode) Class() *vm.Type {
	if c := m.d.T.FakeTensorType; c != nil {
		return c
	}
	return m.d.T.TensorType
}

// Object is the mode in Python.
func (m *fakeMode) Object() (vm.Object, error) {
	if m.object == nil { // a trace's
		mod, err := m.d.In.Import("torch._subclasses.fake_tensor")
		if err != nil {
			return nil, err
		}
		if m.object, err = m.d.In.CallMethod(mod, "_mode_of", m); err != nil {
			return nil, err
		}
	}
	return m.object, nil
}

// Dispatch computes the metadata of op's results.
func (m *fakeMode) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	args, err := m.fakes(op, args, args)
	if err != nil {
		return nil, err
	}
	var refusal error
	v, err := fakeDispatch{m.d.T.Grad, m.sizes, m.consts, &refusal}.Dispatch(op, args)
	if err != nil {
		return nil, m.error(op, err)
	}
	torch.Own(v, m)
	return v, nil
}

// Beneath is Dispatch beneath autograd.
func (m *fakeMode) Beneath(op *aten.Op, args []aten.Value, below func(args []aten.Value) (aten.Value, error)) (aten.Value, error) {
	v, err := m.sizes.Dispatch(op, args, below)
	torch.Own(v, m)
	return v, err
}

// fakes are arguments with fakes in place of real tensors; all is what an error shows of the call.
func (m *fakeMode) fakes(op *aten.Op, args, all []aten.Value) ([]aten.Value, error) {
	out := args
	for i, a := range args {
		var to aten.Value
		switch a := a.(type) {
		case *tensor.Tensor:
			if a == nil || a.Mode == torch.FakeMode(m) {
				continue
			}
			if a.Fake {
				if a.Mode != nil {
					return nil, m.d.In.Errorf(m.d.In.Exc.AssertionError, "Mixing fake modes NYI")
				}
				continue
			}
			if !m.allowReal && !(len(a.Shape) == 0 && a.Py == nil) { // a number of the program is no tensor to it
				return nil, m.d.In.Errorf(m.d.In.Exc.AssertionError, "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'. Found in %s(%s)", op.Name(), m.shown(op, all))
			}
			to = m.fake(a, nil)
		case []aten.Value:
			l, err := m.fakes(op, a, all)
			if err != nil {
				return nil, err
			}
			to = l
		default:
			continue
		}
		if &out[0] == &args[0] {
			out = append([]aten.Value(nil), args...)
		}
		out[i] = to
	}
	return out, nil
}

// shown are the arguments of a call as an error writes them: of a real tensor only its size.
func (m *fakeMode) shown(op *aten.Op, args []aten.Value) string {
	var parts []string
	places, _ := op.Sig().Shown(args)
	for _, a := range args[:places] {
		if x, ok := a.(*tensor.Tensor); ok && x != nil && !x.Fake {
			parts = append(parts, fmt.Sprintf("tensor([...], size=%s)", m.d.repr(vm.NewTuple(ints(x.Shape)...))))
			continue
		}
		parts = append(parts, m.d.repr(m.d.T.Object(a)))
	}
	return strings.Join(parts, ", ")
}

func ints(ns []int64) []vm.Object {
	out := make([]vm.Object, len(ns))
	for i, n := range ns {
		out[i] = vm.MakeInt(n)
	}
	return out
}

// repr is how Python writes a value; the name of its class for one that cannot be written.
func (d *Dynamo) repr(v vm.Object) string {
	r, err := d.In.Repr(v)
	if err != nil {
		return v.Type().Name
	}
	return r
}

// error is what a program sees of an operator that cannot go on without data.
func (m *fakeMode) error(op *aten.Op, err error) error {
	var ae *aten.Error
	if !errors.As(err, &ae) || ae.Kind != aten.DataDependentError {
		return err
	}
	class := "DataDependentOutputException"
	if op.Tags&aten.DataDependent != 0 || strings.HasPrefix(ae.Msg, "aten.nonzero") {
		class = "DynamicOutputShapeException"
	}
	return m.needsData(class, ae.Msg)
}

// needsData is one of the errors of torch._subclasses.fake_tensor, about an operator.
func (m *fakeMode) needsData(class, op string) error {
	f, err := m.d.T.Resolve(op)
	if err != nil {
		f = vm.Str(op)
	}
	return m.d.raise("torch._subclasses.fake_tensor", class, f)
}

// Extents implements torch.FakeMode.
func (m *fakeMode) Extents(x *tensor.Tensor, stride bool, dims ...int) []vm.Object {
	if !m.sizes.Symbolic(x) {
		return nil
	}
	all := m.sizes.Size(x)
	if stride {
		var err error
		if all, err = m.sizes.Stride(x); err != nil {
			return nil
		}
	}
	if len(dims) > 0 {
		some := make([]*symbolic.Expr, len(dims))
		for i, n := range dims {
			some[i] = all[n]
		}
		all = some
	}
	out := make([]vm.Object, len(all))
	for i, e := range all {
		out[i] = m.d.T.Number(e, m.sizes.Env)
	}
	return out
}

// Adopt implements torch.SymbolicMode.
func (m *fakeMode) Adopt(x *tensor.Tensor, size, stride []*symbolic.Expr) {
	m.sizes.Set(x, size, stride)
	m.keep(x)
}

// Number implements torch.SymbolicMode.
func (m *fakeMode) Number(e *symbolic.Expr) vm.Object { return m.d.T.Number(e, m.sizes.Env) }

// Env implements torch.SymbolicMode.
func (m *fakeMode) Env() *symbolic.Env { return m.sizes.Env }

// Item implements torch.FakeMode.
func (m *fakeMode) Item(x *tensor.Tensor) (vm.Object, error) {
	if c := m.consts[x]; c != nil {
		return m.d.In.CallMethod(m.d.T.Wrap(c), "item")
	}
	if !m.symbols || x.DType.Kind() == tensor.KindComplex {
		return nil, m.needsData("DataDependentOutputException", "aten._local_scalar_dense.default")
	}
	return m.d.T.NewScalar(x.DType, m.sizes.Env), nil
}

// fake is the fake of a real tensor; policies says which of its sizes are symbols, nil => none. One tensor has one fake.
func (m *fakeMode) fake(x *tensor.Tensor, policies []symbolic.Policy) *tensor.Tensor {
	if f := m.memo[x]; f != nil {
		return f
	}
	f := tensor.FakeLike(x)
	f.Mode = m
	m.memo[x] = f
	if policies != nil {
		sy := &symbols{ground: &ground{unknowns: m.sizes.Env}}
		name := fmt.Sprintf("__meta_utils_unknown_tensor%d", len(m.memo)-1)
		rules, static := make([]dimRule, len(policies)), true
		size := make([]*symbolic.Expr, len(policies))
		for i, p := range policies {
			rules[i].policy = p
			static = static && p == symbolic.Static
			size[i] = m.sizes.Env.Size(x.Shape[i], fmt.Sprintf("%s.size()[%d]", name, i), p)
		}
		m.sizes.Set(f, size, sy.strides(name, x, size, rules, static))
	}
	if m.d.T.Grad.RequiresGrad(x) {
		_ = m.d.T.Grad.SetRequiresGrad(f, true) // x requires it: its dtype has gradients
	}
	if p, ok := x.Py.(*torch.Tensor); ok && p.Type() != m.d.T.TensorType {
		m.d.T.WrapAs(f, p.Type())
	}
	return f
}

// lift takes a tensor that was made of Python's numbers into the mode. A single number stays known.
func (m *fakeMode) lift(x *tensor.Tensor) (*tensor.Tensor, error) {
	f := m.consts.lift(x)
	f.Mode = m
	return f, nil
}

// known makes what a trace knew of its stand-ins outlive it: programs find them as the values of the nodes of its graph.
func (tr *tracer) known() *fakeMode {
	m := tr.d.newFakeMode(tr.unknowns, true)
	m.traced = true
	m.sizes = tr.sizes
	for _, n := range tr.out.graph.Nodes {
		m.keep(n.Val)
	}
	return m
}

// keep is own for the value of a node. What stood for a tensor of the trace is now one of the program's.
func (m *fakeMode) keep(v any) {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v != nil && v.Fake && v.Mode == nil {
			v.Mode = m
			if p, ok := v.Py.(*torch.Tensor); ok && p.Type() == m.d.T.TensorType {
				v.Py = nil
			}
		}
	case []any:
		for _, x := range v {
			m.keep(x)
		}
	}
}

// shapeEnv is the native half of a torch.fx.experimental.symbolic_shapes.ShapeEnv.
type shapeEnv struct {
	env   *symbolic.Env
	class *vm.Type
	said  []*symbolic.Expr // the relations that were taken for granted
}

// Type is the class of the handle.
func (s *shapeEnv) Type() *vm.Type { return s.class }

// fakeModule binds FakeTensorMode and ShapeEnv.
func (d *Dynamo) fakeModule(m *vm.Module) {
	in := d.In
	d.fakeModeType = in.NewNativeType(vm.Spec{Name: "_FakeMode", Module: "torch._C._dynamo", NoDict: true})
	envType := in.NewNativeType(vm.Spec{Name: "_ShapeEnv", Module: "torch._C._dynamo", NoDict: true})
	mode := func(o vm.Object) (*fakeMode, error) {
		if m, ok := o.(*fakeMode); ok {
			return m, nil
		}
		return nil, in.Errorf(in.Exc.TypeError, "expected a fake mode, not %s", o.Type().Name)
	}
	env := func(o vm.Object) (*shapeEnv, error) {
		if s, ok := o.(*shapeEnv); ok {
			return s, nil
		}
		return nil, in.Errorf(in.Exc.TypeError, "expected a shape env, not %s", o.Type().Name)
	}
	number := func(s *shapeEnv, e *symbolic.Expr) vm.Object { return d.T.Number(e, s.env) }

	m.Func("fake_class", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		d.T.FakeTensorType = a[0].(*vm.Type)
		return vm.None, nil
	})
	m.Func("fake_mode", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		symbols, e := a[1] != vm.None, symbolic.NewEnv()
		if symbols {
			s, err := env(a[1])
			if err != nil {
				return nil, err
			}
			e = s.env
		}
		fm := d.newFakeMode(e, symbols)
		fm.object, fm.allowReal = a[0], a[2] == vm.True
		return fm, nil
	})
	m.Func("fake_env", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		fm, err := mode(a[0])
		if err != nil || !fm.symbols {
			return vm.None, err
		}
		return &shapeEnv{env: fm.sizes.Env, class: envType}, nil
	})
	m.Func("fake_enter", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		fm, err := mode(a[0])
		if err != nil {
			return nil, err
		}
		d.fakeModes = append(d.fakeModes, enteredFakeMode{fm, d.T.Push(func(a *torch.Ambient) { a.Dispatch, a.Symbolic, a.Lift = fm, true, fm.lift })})
		return vm.None, nil
	})
	m.Func("fake_suspend", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		d.fakeModes = append(d.fakeModes, enteredFakeMode{nil, d.T.Push(func(a *torch.Ambient) { a.Dispatch, a.Symbolic, a.Lift = d.T.Eagerly(), false, nil })})
		return vm.None, nil
	})
	m.Func("fake_exit", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		last := len(d.fakeModes) - 1
		if last < 0 {
			return nil, in.Errorf(in.Exc.RuntimeError, "no fake mode is entered")
		}
		d.fakeModes[last].leave()
		d.fakeModes = d.fakeModes[:last]
		return vm.None, nil
	})
	m.Func("fake_current", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		if n := len(d.fakeModes); n > 0 && d.fakeModes[n-1].mode != nil {
			return d.fakeModes[n-1].mode.Object()
		}
		return vm.None, nil
	})
	m.Func("fake_mode_of", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if p, ok := a[0].(*torch.Tensor); ok {
			if fm, ok := p.T.Mode.(*fakeMode); ok {
				return fm.Object()
			}
		}
		return vm.None, nil
	})
	m.Func("fake_tensor", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		fm, err := mode(a[0])
		if err != nil {
			return nil, err
		}
		p, ok := a[1].(*torch.Tensor)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "expected a tensor, not %s", a[1].Type().Name)
		}
		var policies []symbolic.Policy
		if fm.symbols && a[2] != vm.None {
			items, err := in.IterAll(a[2])
			if err != nil {
				return nil, err
			}
			for _, it := range items {
				n, _ := vm.AsInt(it)
				policies = append(policies, symbolic.Policy(n))
			}
		}
		return d.T.Wrap(fm.fake(p.T, policies)), nil
	})
	m.Func("shape_env", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		s := &shapeEnv{env: symbolic.NewEnv(), class: envType}
		s.env.Lasting = true
		s.env.Guarded = func(g *symbolic.Expr) { s.said = append(s.said, g) }
		return s, nil
	})
	m.Func("shape_env_number", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		s, err := env(a[0])
		if err != nil {
			return nil, err
		}
		from, _ := vm.AsStr(a[2])
		policy, _ := vm.AsInt(a[3])
		switch n := a[1].(type) {
		case vm.Int:
			return number(s, s.env.Size(int64(n), from, symbolic.Policy(policy))), nil
		case vm.Float:
			return number(s, s.env.Real(float64(n), from)), nil
		}
		switch from {
		case "float":
			return d.T.NewScalar(tensor.Float64, s.env), nil
		case "bool":
			return d.T.NewScalar(tensor.Bool, s.env), nil
		}
		return d.T.NewScalar(tensor.Int64, s.env), nil
	})
	m.Func("shape_env_state", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		s, err := env(a[0])
		if err != nil {
			return nil, err
		}
		guards := vm.NewList()
		for _, g := range s.said {
			guards.Items = append(guards.Items, vm.Str(g.String()))
		}
		values, ranges := vm.NewDict(), vm.NewDict()
		bound := func(n, none int64) vm.Object {
			if n == none {
				return vm.None
			}
			return vm.MakeInt(n)
		}
		for _, y := range s.env.Symbols() {
			if n, ok := y.Hint.(int64); ok {
				values.SetStr(y.Name, vm.MakeInt(n))
			}
			ranges.SetStr(y.Name, vm.NewTuple(bound(y.Range.Lo, symbolic.NoLower), bound(y.Range.Hi, symbolic.NoUpper)))
		}
		return vm.NewTuple(guards, values, ranges), nil
	})
}

// enteredFakeMode is a mode that a program is in; nil where it suspended those around.
type enteredFakeMode struct {
	mode  *fakeMode
	leave func()
}

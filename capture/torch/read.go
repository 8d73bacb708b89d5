package torch

import (
	"slices"
	"strings"

	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/levels"
	"whittle/kernels/tensor"
)

// item is the Python number of a one-element tensor.
func (t *Torch) item(x *tensor.Tensor) (vm.Object, error) {
	if x.Numel() != 1 {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "a Tensor with %d elements cannot be converted to Scalar", x.Numel())
	}
	if m := modeOf(x); m != nil {
		return m.Item(x)
	}
	if x.Fake && t.Reads || len(t.python.modes) > 0 || x.Fake && t.python.off == 0 && len(t.performers([]aten.Value{x})) > 0 {
		return t.Packet("aten", "_local_scalar_dense", []vm.Object{t.Wrap(x)}, nil)
	}
	if x.Wraps != nil && x.Fake && !t.Symbolic {
		if w := levels.Of(levels.Alive(x)); w != nil && hidden(w) {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, "%s", levels.Item)
		} else if w == nil {
			return t.item(levels.Alive(x))
		}
	}
	if x.Fake {
		return nil, &DataDependent{Op: "aten._local_scalar_dense.default"}
	}
	return t.element(x, 0), nil
}

// hidden reports whether a tensor of a level has a dimension that a vmap hides, on that level or one beneath.
func hidden(w *levels.Wrapped) bool {
	for ; w != nil; w = levels.Of(w.Value) {
		if w.Dim >= 0 {
			return true
		}
	}
	return false
}

// DataDependent is the error of reading a fake tensor's data.
type DataDependent struct{ Op string }

func (e *DataDependent) Error() string { return e.Op }

// Unwrap makes the error that of the operator, for who looks for one.
func (e *DataDependent) Unwrap() error {
	return &aten.Error{Op: e.Op, Kind: aten.DataDependentError, Msg: e.Op}
}

// Abort marks the error as no Python exception.
func (e *DataDependent) Abort() bool { return true }

func (t *Torch) element(x *tensor.Tensor, i int64) vm.Object {
	switch {
	case x.DType == tensor.Bool:
		return vm.MakeBool(x.AtInt(i) != 0)
	case x.DType.IsInt():
		return vm.MakeInt(x.AtInt(i))
	}
	if x.DType.Kind() == tensor.KindComplex {
		one := tensor.Empty(x.DType)
		tensor.Copy(one, tensor.NewView(x, nil, nil, x.Position(i)))
		return vm.Complex(one.Complexes()[0])
	}
	return vm.Float(x.At(i))
}

func (t *Torch) truth(x *tensor.Tensor) (vm.Object, error) {
	if x.Numel() != 1 {
		if x.Numel() == 0 {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, "Boolean value of Tensor with no values is ambiguous")
		}
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "Boolean value of Tensor with more than one value is ambiguous")
	}
	if w := levels.Of(x); w != nil && x.Fake && !t.Symbolic && hidden(w) {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "%s", levels.Truth)
	}
	v, err := t.item(x)
	if err != nil {
		return nil, err
	}
	b, err := t.In.Truth(v)
	return vm.MakeBool(b), err
}

func (t *Torch) number(x *tensor.Tensor, cls *vm.Type) (vm.Object, error) {
	v, err := t.item(x)
	if err != nil {
		return nil, err
	}
	return t.In.Call(cls, []vm.Object{v}, nil)
}

func (t *Torch) toList(x *tensor.Tensor) (vm.Object, error) {
	if isMeta(x) {
		return nil, t.noMetaData()
	}
	if m := modeOf(x); m != nil {
		return m.Item(x)
	}
	if x.Fake {
		return nil, &DataDependent{Op: "aten._local_scalar_dense.default"}
	}
	if len(x.Shape) == 0 {
		return t.element(x, 0), nil
	}
	at := int64(0)
	var build func(d int) vm.Object
	build = func(d int) vm.Object {
		items := make([]vm.Object, x.Shape[d])
		for i := range items {
			if d == len(x.Shape)-1 {
				items[i] = t.element(x, at)
				at++
			} else {
				items[i] = build(d + 1)
			}
		}
		return vm.NewList(items...)
	}
	return build(0), nil
}

func (t *Torch) repr(p *Tensor) (vm.Object, error) {
	extra := t.gradText(p.T)
	if p.T.Fake {
		dims := make([]string, len(p.T.Shape))
		for i, n := range t.sizes(p.T) {
			dims[i], _ = t.In.Repr(n) // a number, whose repr cannot fail
		}
		return vm.Str(fakeText(p, dims, extra)), nil
	}
	opts := t.Print
	opts.Default = t.DefaultDType
	if cls := p.Type(); cls != t.TensorType && (cls.Name != "Parameter" || cls.Module != "torch.nn.parameter") {
		opts.Class = cls.Name
	}
	return vm.Str(p.T.Repr(opts, extra...)), nil
}

func (t *Torch) registerHook(x *tensor.Tensor, f vm.Object) (vm.Object, error) {
	if !t.Grad.RequiresGrad(x) {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "cannot register a hook on a tensor that doesn't require gradient")
	}
	remove := t.Grad.AddHook(x, func(g *tensor.Tensor) (*tensor.Tensor, error) {
		r, err := t.In.Call(f, []vm.Object{t.Wrap(g)}, nil)
		if err != nil || r == vm.None {
			return nil, err
		}
		p, ok := r.(*Tensor)
		if !ok {
			return nil, t.notFromHook(r)
		}
		if g == nil {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, "can't replace a None gradient with a non-None value")
		}
		return p.T, t.sizeFromHook(f, p.T, g)
	})
	return t.Handle(remove), nil
}

// notFromHook is the error of a hook that gives something else than a gradient.
func (t *Torch) notFromHook(r vm.Object) error {
	return t.In.Errorf(t.In.Exc.TypeError, "expected Variable, but hook returned '%s'", r.Type().Name)
}

// sizeFromHook is the error of a hook that gives a tensor of another size.
func (t *Torch) sizeFromHook(f vm.Object, gave, want *tensor.Tensor) error {
	if slices.Equal(gave.Shape, want.Shape) {
		return nil
	}
	return t.In.Errorf(t.In.Exc.RuntimeError, "hook '%s' has changed the size of value", t.hookName(f))
}

// registerPostHook registers a hook that sees a leaf when its gradient is there.
func (t *Torch) registerPostHook(x *tensor.Tensor, f vm.Object) (vm.Object, error) {
	if !t.Grad.RequiresGrad(x) {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "cannot register a hook on a tensor that doesn't require gradient")
	}
	if !t.Grad.IsLeaf(x) {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors")
	}
	remove := t.Grad.AddPostHook(x, func(x *tensor.Tensor) error {
		r, err := t.In.Call(f, []vm.Object{t.Wrap(x)}, nil)
		if err != nil || r == vm.None {
			return err
		}
		if p, ok := r.(*Tensor); ok {
			if err := t.sizeFromHook(f, p.T, x); err != nil {
				return err
			}
			return t.In.Errorf(t.In.Exc.RuntimeError, "Tensor post accumulate grad hooks should return None.")
		}
		return t.notFromHook(r)
	})
	return t.Handle(remove), nil
}

// Handle is what registering a hook gives a program: an object whose remove() takes the hook away, as does the end of a block that it is
// entered for.
func (t *Torch) Handle(remove func()) vm.Object {
	if t.handleType == nil {
		off := func(o vm.Object) {
			if i, ok := o.(*vm.Instance); ok {
				if f, ok := i.Native.(func()); ok {
					f()
				}
			}
		}
		t.handleType = t.In.NewNativeType(vm.Spec{Name: "RemovableHandle", Module: "torch.utils.hooks", Methods: map[string]vm.GoFunc{
			"remove": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				off(a[0])
				return vm.None, nil
			},
			"__enter__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
			"__exit__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				off(a[0])
				return vm.None, nil
			}}})
	}
	return &vm.Instance{Class: t.handleType, Native: remove}
}

// backward is Tensor.backward(gradient=None, retain_graph=None, create_graph=False, inputs=None).
func (t *Torch) backward(a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	names := []string{"self", "gradient", "retain_graph", "create_graph", "inputs"}
	vals := map[string]vm.Object{}
	for i, x := range a {
		if i < len(names) {
			vals[names[i]] = x
		}
	}
	for _, k := range kw {
		vals[k.Name] = k.Value
	}
	o := BackwardOptions{Accumulate: true}
	truth := func(n string) bool {
		v, ok := vals[n]
		if !ok || v == vm.None {
			return false
		}
		b, _ := t.In.Truth(v)
		return b
	}
	o.CreateGraph = truth("create_graph")
	o.RetainGraph = truth("retain_graph") || o.CreateGraph
	for _, k := range kw {
		if !slices.Contains(names[1:], k.Name) {
			return nil, t.In.Errorf(t.In.Exc.TypeError, "Tensor.backward() got an unexpected keyword argument '%s'", k.Name)
		}
	}
	roots, grads := []*tensor.Tensor{a[0].(*Tensor).T}, []*tensor.Tensor{nil}
	if v, ok := vals["gradient"]; ok && v != vm.None {
		var err error
		if grads, err = t.seedList(v); err != nil {
			return nil, err
		}
	}
	if v, ok := vals["inputs"]; ok && v != vm.None {
		if x, ok := v.(*Tensor); ok {
			o.Inputs = []*tensor.Tensor{x.T}
		} else {
			items, err := t.In.IterAll(v)
			if err != nil {
				return nil, err
			}
			for _, x := range items {
				if p, ok := x.(*Tensor); ok {
					o.Inputs = append(o.Inputs, p.T)
				}
			}
		}
		if len(o.Inputs) == 0 {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, "`inputs` argument to `backward()` cannot be empty.")
		}
	}
	if err := t.fitSeeds(roots, grads); err != nil {
		return nil, err
	}
	_, err := t.propagate(roots, nil, grads[:1], o)
	return vm.None, t.Error(err)
}

// gradText is what the repr of a tensor says of how it came about, one or no item.
func (t *Torch) gradText(x *tensor.Tensor) []string {
	if n := t.Grad.GradFn(x); n != "" {
		return []string{"grad_fn=<" + n + ">"}
	} else if t.Grad.RequiresGrad(x) {
		return []string{"requires_grad=True"}
	}
	return nil
}

// FakeText is the repr of a tensor without data whose sizes go by the given names.
func (t *Torch) FakeText(p *Tensor, dims []string) string {
	s := fakeText(p, dims, t.gradText(p.T))
	if p.class.Name == "Parameter" {
		s = "Parameter(" + s + ")"
	}
	return s
}

func fakeText(p *Tensor, dims, extra []string) string {
	x := p.T
	size := "(" + strings.Join(dims, ", ") + ")"
	if len(dims) == 1 {
		size = "(" + dims[0] + ",)"
	}
	s := "FakeTensor(..., size=" + size
	if isMeta(x) {
		s = "tensor(..., device='meta', size=" + size
	}
	if x.DType != tensor.Float32 {
		s += ", dtype=torch." + x.DType.String()
	}
	s = strings.Join(append([]string{s}, extra...), ", ") + ")"
	if p.same != nil && p.same.class.Name == "Parameter" && p.class != p.same.class { // else its own repr says so
		s = "Parameter(" + s + ")"
	}
	return s
}

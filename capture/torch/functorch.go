package torch

import (
	"fmt"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/levels"
	"whittle/kernels/tensor"
)

// The levels of torch.func's transformations, as torch._C._functorch has them. A trace notes the calls that begin and end levels, and wrap and unwrap tensors;
// it runs them on fakes that are as the program sees them, without any level.

// plainDispatcher is Dispatch, under autocast where that is on.
func (t *Torch) plainDispatcher() aten.Dispatcher {
	if t.Autocast.Enabled {
		return autocasting{t.Dispatch, t.Autocast.DType}
	}
	return t.Dispatch
}

// dispatcher runs operators on the levels that are under way, and beneath them on Dispatch.
func (t *Torch) dispatcher() aten.Dispatcher { return leveled{t} }

// leveled is the dispatcher over all levels.
type leveled struct{ t *Torch }

// Dispatch implements aten.Dispatcher.
func (l leveled) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	if !l.t.Symbolic && l.t.Levels.Concerns(args) {
		return l.t.Levels.Dispatch(op, args)
	}
	return l.t.plainDispatcher().Dispatch(op, args)
}

// startLevels makes the empty stack of levels.
func (t *Torch) startLevels() {
	t.Levels = levels.Stack{Base: t.plainDispatcher, Recorder: t.Grad.Recorder, WithMode: func(on bool, f func()) {
		was := t.Grad.Enabled()
		t.Grad.SetEnabled(on)
		defer t.Grad.SetEnabled(was)
		f()
	}}
}

// wrappedAmong reports whether a tensor is of a level, or levels are under way: a backward pass then runs on them.
func (t *Torch) wrappedAmong(xs []*tensor.Tensor) bool {
	if t.Levels.Active() {
		return true
	}
	for _, x := range xs {
		if x != nil && x.Wraps != nil {
			return true
		}
	}
	return false
}

// registerFunctorch binds torch._C._functorch and what belongs to it in torch._C.
func (t *Torch) registerFunctorch() {
	in := t.In
	t.startLevels()
	m := in.NewModule("torch._C._functorch", "")
	in.Modules.SetStr("torch._C._functorch", m)
	t.c.Set("_functorch", m)
	ask := func(name string, f func(a []vm.Object) (vm.Object, error)) {
		m.Func(name, func(_ *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			for _, k := range kw {
				a = append(a, k.Value)
			}
			return f(a)
		})
	}
	recorded := func(of *vm.Module, name, target string, f func(a []vm.Object, kw []vm.KwArg) (vm.Object, error)) {
		b := of.Func(name, func(_ *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.call(fx.CallFunction, target, a, kw, f)
		})
		b.Native = Target(target)
	}
	node := func(name string, f func(a []vm.Object, kw []vm.KwArg) (vm.Object, error)) {
		recorded(m, name, "torch._C._functorch."+name, f)
	}
	begin := func(kind levels.Kind) func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			l := &levels.Level{Kind: kind, PrevMode: t.Grad.Enabled(), Traced: t.Symbolic}
			if kind == levels.Vmap && len(a) == 2 {
				if s, ok := a[0].(*Scalar); ok {
					a = []vm.Object{s.Hint(), a[1]}
				}
				l.Size, _ = vm.AsInt(a[0])
				l.Randomness, _ = vm.AsStr(a[1])
			}
			return vm.MakeInt(int64(t.Levels.Push(l).ID)), nil
		}
	}
	end := func([]vm.Object, []vm.KwArg) (vm.Object, error) {
		l := t.Levels.Pop()
		if l == nil { // a generator of a trace that ended is closed late
			return vm.None, nil
		}
		return vm.MakeInt(int64(l.ID)), nil
	}
	for prefix, kind := range map[string]levels.Kind{"_vmap": levels.Vmap, "_grad": levels.Grad, "_jvp": levels.Jvp, "_func": levels.Functionalize} {
		node(prefix+"_increment_nesting", begin(kind))
		node(prefix+"_decrement_nesting", end)
	}
	node("_add_batch_dim", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return t.addBatchDim(a) })
	node("_remove_batch_dim", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return t.removeBatchDim(a) })
	node("_wrap_for_grad", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return t.wrapForGrad(a) })
	node("_unwrap_for_grad", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return t.unwrapForGrad(a) })
	node("set_inplace_requires_grad_allowed", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		on, err := in.Truth(a[0])
		t.inplaceGrad = on
		return vm.None, err
	})
	ask("get_inplace_requires_grad_allowed", func([]vm.Object) (vm.Object, error) { return vm.MakeBool(t.inplaceGrad), nil })
	ask("maybe_current_level", func([]vm.Object) (vm.Object, error) {
		if l := t.Levels.Top(); l != nil {
			return vm.MakeInt(int64(l.ID)), nil
		}
		return vm.None, nil
	})
	ask("get_dynamic_layer_stack_depth", func([]vm.Object) (vm.Object, error) { return vm.MakeInt(int64(len(t.Levels.Levels))), nil })
	ask("pop_dynamic_layer_stack_and_undo_to_depth", func(a []vm.Object) (vm.Object, error) {
		n, _ := vm.AsInt(a[0])
		t.EndLevels(int(n))
		return vm.None, nil
	})
	m.Func("_beneath", func(_ *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		n := len(t.Levels.Levels)
		if n == 0 || len(a) == 0 {
			return nil, in.Errorf(in.Exc.RuntimeError, "there is no level to go beneath")
		}
		all := t.Levels.Levels
		t.Levels.Levels = all[: n-1 : n-1]
		defer func() { t.Levels.Levels = all }()
		return in.Call(a[0], a[1:], kw)
	})
	ask("_batch_size", func([]vm.Object) (vm.Object, error) {
		if l := t.Levels.Top(); l != nil {
			return vm.MakeInt(l.Size), nil
		}
		return vm.None, nil
	})
	ask("current_level", func([]vm.Object) (vm.Object, error) {
		if l := t.Levels.Top(); l != nil {
			return vm.MakeInt(int64(l.ID)), nil
		}
		return nil, in.Errorf(in.Exc.RuntimeError, "maybe_layer.has_value() INTERNAL ASSERT FAILED")
	})
	m.GetAttrHook = func(in *vm.Interp, name string) (vm.Object, bool, error) {
		of := map[string]string{"peek_interpreter_stack": "_peek", "get_interpreter_stack": "_stack", "TransformType": "TransformType", "RandomnessType": "RandomnessType", "CInterpreter": "FuncTorchInterpreter"}[name]
		if of == "" {
			return nil, false, nil
		}
		py, err := in.Import("torch._functorch.pyfunctorch")
		if err != nil {
			return nil, false, err
		}
		o, err := in.GetAttr(py, of)
		return o, err == nil, err
	}
	ask("_jvp_depth", func([]vm.Object) (vm.Object, error) {
		n := 0
		for _, l := range t.Levels.Levels {
			if l.Kind == levels.Jvp {
				n++
			}
		}
		return vm.MakeInt(int64(n)), nil
	})
	ask("_traced", func([]vm.Object) (vm.Object, error) { return vm.MakeBool(t.Symbolic), nil })
	ask("_levels", func([]vm.Object) (vm.Object, error) { return t.LevelStates(), nil })
	kindOf := func(kinds ...levels.Kind) func(a []vm.Object) (vm.Object, error) {
		return func(a []vm.Object) (vm.Object, error) {
			if p, ok := a[0].(*Tensor); ok {
				if w := levels.Of(p.T); w != nil {
					for _, k := range kinds {
						if w.Level.Kind == k {
							return vm.True, nil
						}
					}
				}
			}
			return vm.False, nil
		}
	}
	ask("is_batchedtensor", kindOf(levels.Vmap))
	ask("is_gradtrackingtensor", kindOf(levels.Grad, levels.Jvp))
	ask("is_functorch_wrapped_tensor", kindOf(levels.Vmap, levels.Grad, levels.Jvp))
	ask("is_functionaltensor", func([]vm.Object) (vm.Object, error) { return vm.False, nil })
	of := func(name string, none vm.Object, f func(w *levels.Wrapped) vm.Object) {
		ask(name, func(a []vm.Object) (vm.Object, error) {
			if p, ok := a[0].(*Tensor); ok {
				if w := levels.Of(p.T); w != nil {
					return f(w), nil
				}
			}
			if none == nil {
				return a[0], nil
			}
			return none, nil
		})
	}
	of("get_unwrapped", nil, func(w *levels.Wrapped) vm.Object { return t.Wrap(w.Value) })
	of("maybe_get_level", vm.MakeInt(-1), func(w *levels.Wrapped) vm.Object { return vm.MakeInt(int64(w.Level.ID)) })
	of("maybe_get_bdim", vm.MakeInt(-1), func(w *levels.Wrapped) vm.Object { return vm.MakeInt(int64(w.Dim)) })
	ask("unwrap_if_dead", func(a []vm.Object) (vm.Object, error) {
		if p, ok := a[0].(*Tensor); ok {
			return t.Wrap(levels.Alive(p.T)), nil
		}
		return a[0], nil
	})
	ask("_unwrap_batched", func(a []vm.Object) (vm.Object, error) {
		p, ok := a[0].(*Tensor)
		level, _ := vm.AsInt(a[1])
		if ok {
			if w := levels.Of(p.T); w != nil && w.Level.ID == int(level) && w.Level.Kind == levels.Vmap {
				return vm.NewTuple(t.Wrap(w.Value), vm.MakeInt(int64(w.Dim))), nil
			}
		}
		return vm.NewTuple(a[0], vm.None), nil
	})
	t.registerForwardMode(recorded)
	t.c.Func("_are_functorch_transforms_active", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(t.Levels.Top() != nil), nil
	})
}

// EndLevels ends all levels but the first n.
func (t *Torch) EndLevels(n int) {
	for len(t.Levels.Levels) > n {
		t.Levels.Pop()
	}
}

// LevelStates are the levels that are under way, as torch._functorch.pyfunctorch compares them: a tuple for each.
func (t *Torch) LevelStates() vm.Object {
	out := vm.NewList()
	for _, l := range t.Levels.Levels {
		last := vm.Object(vm.MakeBool(l.PrevMode))
		switch l.Kind {
		case levels.Vmap:
			last = vm.Str(l.Randomness)
		case levels.Jvp:
			last = vm.True
		}
		out.Items = append(out.Items, vm.NewTuple(vm.Str(l.Kind.String()), vm.MakeInt(int64(l.ID)), last))
	}
	return out
}

// leveledTensor are the arguments (tensor, ..., level at place k) of a function of levels.
func (t *Torch) leveledTensor(a []vm.Object, k int) (*tensor.Tensor, *levels.Level, error) {
	if len(a) <= k {
		return nil, nil, t.In.Errorf(t.In.Exc.TypeError, "a tensor and a level are missing")
	}
	p, ok := a[0].(*Tensor)
	if !ok {
		return nil, nil, t.In.Errorf(t.In.Exc.TypeError, "argument 1 must be Tensor, not %s", a[0].Type().Name)
	}
	id, _ := vm.AsInt(a[k])
	return p.T, t.Levels.Find(int(id)), nil
}

// addBatchDim is (tensor, dimension, level): the tensor without that dimension, on a level of vmap.
func (t *Torch) addBatchDim(a []vm.Object) (vm.Object, error) {
	if p, ok := a[0].(*Tensor); ok && t.Symbolic {
		d, _ := vm.AsInt(a[1])
		if d >= 0 && int(d) < p.T.Dim() && p.T.Shape[d] == 0 {
			sizes := &vm.Tuple{}
			for i, n := range p.T.Shape {
				if i != int(d) {
					sizes.Items = append(sizes.Items, vm.MakeInt(n))
				}
			}
			return t.Packet("aten", "new_empty", []vm.Object{p, sizes}, nil)
		}
		return t.Packet("aten", "select", []vm.Object{p, a[1], vm.MakeInt(0)}, nil)
	}
	x, l, err := t.leveledTensor(a, 2)
	if err != nil {
		return nil, err
	}
	d, _ := vm.AsInt(a[1])
	x = levels.Alive(x)
	if d < 0 {
		d += int64(x.Dim())
	}
	if l == nil || d < 0 || int(d) >= x.Dim() {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "_add_batch_dim(): no dimension %d of a tensor with %d, or no level", d, x.Dim())
	}
	return t.Wrap(t.Levels.Wrap(l, x, int(d))), nil
}

// removeBatchDim is (tensor, level, size, dimension): the tensor with the dimension that its level hides, there.
func (t *Torch) removeBatchDim(a []vm.Object) (vm.Object, error) {
	if len(a) != 4 {
		return nil, t.In.Errorf(t.In.Exc.TypeError, "_remove_batch_dim() takes 4 arguments (%d given)", len(a))
	}
	var x *tensor.Tensor
	var l *levels.Level
	var err error
	if !t.Symbolic {
		if x, l, err = t.leveledTensor(a, 1); err != nil {
			return nil, err
		}
		x = levels.Alive(x)
		if w := levels.Of(x); w != nil && w.Level == l {
			d, _ := vm.AsInt(a[3])
			if d < 0 {
				d += int64(w.Value.Dim())
			}
			if d < 0 || int(d) >= w.Value.Dim() {
				return nil, t.In.Errorf(t.In.Exc.IndexError, "Dimension out of range (expected to be in range of [%d, %d], but got %v)", -w.Value.Dim(), w.Value.Dim()-1, a[3])
			}
			if int(d) == w.Dim {
				return t.Wrap(w.Value), nil
			}
			return t.Packet("aten", "movedim", []vm.Object{t.Wrap(w.Value), vm.MakeInt(int64(w.Dim)), vm.MakeInt(d)}, nil)
		}
	}
	p := a[0]
	if x != nil {
		p = t.Wrap(x)
	}
	rank := p.(*Tensor).T.Dim() + 1
	d, _ := vm.AsInt(a[3])
	if d < 0 {
		d += int64(rank)
	}
	if d < 0 || int(d) >= rank {
		return nil, t.In.Errorf(t.In.Exc.IndexError, "Dimension out of range (expected to be in range of [%d, %d], but got %v)", -rank, rank-1, a[3])
	}
	wide, err := t.Packet("aten", "unsqueeze", []vm.Object{p, vm.MakeInt(d)}, nil)
	if err != nil {
		return nil, err
	}
	sizes := &vm.Tuple{}
	for i := range rank {
		if i == int(d) {
			sizes.Items = append(sizes.Items, a[2])
		} else {
			sizes.Items = append(sizes.Items, vm.MakeInt(-1))
		}
	}
	return t.Packet("aten", "expand", []vm.Object{wide, sizes}, nil)
}

// wrapForGrad is (tensor, level): the tensor on a level of grad or jvp.
func (t *Torch) wrapForGrad(a []vm.Object) (vm.Object, error) {
	if t.Symbolic {
		return t.Packet("aten", "alias", []vm.Object{a[0]}, nil)
	}
	x, l, err := t.leveledTensor(a, 1)
	if err != nil || l == nil {
		return a[0], err
	}
	return t.Wrap(t.Levels.Wrap(l, levels.Alive(x), -1)), nil
}

// unwrapForGrad is (tensor, level): what the tensor stands for on that level.
func (t *Torch) unwrapForGrad(a []vm.Object) (vm.Object, error) {
	if t.Symbolic {
		return t.Packet("aten", "detach", []vm.Object{a[0]}, nil)
	}
	x, l, err := t.leveledTensor(a, 1)
	if err != nil || l == nil {
		return a[0], err
	}
	v, _ := levels.Unwrap(l, levels.Alive(x))
	return t.Wrap(v), nil
}

// registerForwardMode binds the tensors with tangents of torch.autograd.forward_ad. A level of jvp has them; outside of one, the dual level is such a level.
func (t *Torch) registerForwardMode(recorded func(of *vm.Module, name, target string, f func(a []vm.Object, kw []vm.KwArg) (vm.Object, error))) {
	in := t.In
	enabled := true
	var dual []*levels.Level // of the dual levels that are open: those that stand for themselves
	open := 0                // dual levels that are open
	t.c.Func("_dual_level", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.MakeInt(int64(open - 1)), nil })
	recorded(t.c, "_set_fwd_grad_enabled", "torch._C._set_fwd_grad_enabled", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		on, err := in.Truth(a[0])
		enabled = on
		return vm.None, err
	})
	t.c.Func("_is_fwd_grad_enabled", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.MakeBool(enabled), nil })
	recorded(t.c, "_enter_dual_level", "torch._C._enter_dual_level", func([]vm.Object, []vm.KwArg) (vm.Object, error) {
		open++
		if top := t.Levels.Top(); top == nil || top.Kind != levels.Jvp {
			dual = append(dual, t.Levels.Push(&levels.Level{Kind: levels.Jvp, PrevMode: t.Grad.Enabled(), Traced: t.Symbolic}))
		}
		return vm.MakeInt(0), nil
	})
	recorded(t.c, "_exit_dual_level", "torch._C._exit_dual_level", func([]vm.Object, []vm.KwArg) (vm.Object, error) {
		open = max(0, open-1)
		if n := len(dual); n > 0 && dual[n-1] == t.Levels.Top() {
			t.Levels.Pop()
			dual = dual[:n-1]
		}
		return vm.None, nil
	})
	m := in.NewModule("torch._C._forward_ad", "")
	in.Modules.SetStr("torch._C._forward_ad", m)
	t.c.Set("_forward_ad", m)
	recorded(m, "_make_dual", "torch._make_dual", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return t.makeDual(a) })
	recorded(m, "_unpack_dual", "torch._unpack_dual", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		own := len(dual) > 0 && dual[len(dual)-1] == t.Levels.Top()
		return t.unpackDual(a, own)
	})
}

// jvpLevel is the innermost level of jvp.
func (t *Torch) jvpLevel() *levels.Level {
	for i := len(t.Levels.Levels) - 1; i >= 0; i-- {
		if l := t.Levels.Levels[i]; l.Kind == levels.Jvp {
			return l
		}
	}
	return nil
}

// makeDual is (primal, tangent): the primal on the level of jvp.
func (t *Torch) makeDual(a []vm.Object) (vm.Object, error) {
	p, ok := a[0].(*Tensor)
	g, ok2 := a[1].(*Tensor)
	if !ok || !ok2 {
		return nil, t.In.Errorf(t.In.Exc.TypeError, "_make_dual() takes two tensors")
	}
	if !tensor.SameShape(p.T, g.T) {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of size %v while the given forward gradient is of size %v.", p.T.Shape, g.T.Shape)
	}
	if t.Symbolic {
		return t.Packet("aten", "alias", []vm.Object{a[0]}, nil)
	}
	l := t.jvpLevel()
	if l == nil {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
	}
	x := t.Levels.Wrap(l, levels.Alive(p.T), -1)
	if err := t.Grad.SetRequiresGrad(x, true); err != nil {
		return nil, t.Error(err)
	}
	l.Duals = append(l.Duals, levels.Dual{Primal: x, Tangent: levels.Alive(g.T)})
	return t.Wrap(x), nil
}

// unpackDual is (tensor): the tensor without its tangent, and the tangent or None. Both are of the level, unless it is the dual level's own.
func (t *Torch) unpackDual(a []vm.Object, own bool) (vm.Object, error) {
	p, ok := a[0].(*Tensor)
	if !ok {
		return nil, t.In.Errorf(t.In.Exc.TypeError, "_unpack_dual() takes a tensor")
	}
	if t.Symbolic {
		primal, err := t.Packet("aten", "alias", []vm.Object{p}, nil)
		if err != nil {
			return nil, err
		}
		tangent, err := t.Packet("aten", "zeros_like", []vm.Object{p}, nil)
		return vm.NewTuple(primal, tangent), err
	}
	l := t.jvpLevel()
	y := levels.Alive(p.T)
	w := levels.Of(y)
	if l == nil || w == nil || w.Level != l {
		return vm.NewTuple(t.Wrap(y), vm.None), nil
	}
	g, err := t.tangent(l, y)
	if err != nil {
		return nil, err
	}
	if own {
		y = w.Value
		if g != nil {
			g, _ = levels.Unwrap(l, g)
		}
	}
	if g == nil {
		return vm.NewTuple(t.Wrap(y), vm.None), nil
	}
	return vm.NewTuple(t.Wrap(y), t.Wrap(g)), nil
}

// tangent is the derivative of y along the tangents of its level: the product of the Jacobian with them, as the derivative, by weights, of the product with
// weights from the other side. nil where y depends on none of them.
func (t *Torch) tangent(l *levels.Level, y *tensor.Tensor) (*tensor.Tensor, error) {
	if !t.Grad.RequiresGrad(y) {
		return nil, nil
	}
	for _, d := range l.Duals {
		if d.Primal == y {
			return t.Levels.Wrap(l, d.Tangent, -1), nil
		}
	}
	ones, err := aten.Run(t.Levels.At(l), "aten.ones_like.default", y) // any weights do, as the product is linear in them; zeros are where formulas have poles
	if err != nil {
		return nil, t.Error(err)
	}
	weights := ones.(*tensor.Tensor)
	if levels.Of(weights) == nil || levels.Of(weights).Level != l {
		weights = t.Levels.Wrap(l, weights, -1)
	}
	if err := t.Grad.SetRequiresGrad(weights, true); err != nil {
		return nil, t.Error(err)
	}
	ins := make([]*tensor.Tensor, len(l.Duals))
	for i, d := range l.Duals {
		ins[i] = d.Primal
	}
	o := BackwardOptions{RetainGraph: true, CreateGraph: true, AllowUnused: true, Inputs: ins, On: t.dispatcher()}
	slopes, err := t.propagate([]*tensor.Tensor{y}, nil, []*tensor.Tensor{weights}, o)
	if err != nil {
		return nil, t.Error(err)
	}
	var roots, given []*tensor.Tensor
	for i, s := range slopes {
		if s != nil && t.Grad.RequiresGrad(s) {
			roots, given = append(roots, s), append(given, l.Duals[i].Tangent)
		}
	}
	if len(roots) == 0 {
		return nil, nil
	}
	o.Inputs = []*tensor.Tensor{weights}
	found, err := t.propagate(roots, nil, given, o)
	if err != nil {
		return nil, t.Error(err)
	}
	if g := found[0]; g != nil {
		if w := levels.Of(g); w == nil || w.Level != l {
			return t.Levels.Wrap(l, g, -1), nil
		}
		return g, nil
	}
	return nil, nil
}

// guardLevels is the error of what a program must not do to a tensor while it is transformed; nil outside of transformations.
func (t *Torch) guardLevels() error {
	if !t.Levels.Active() || t.inplaceGrad {
		return nil
	}
	return fmt.Errorf("You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a function being transformed by a functorch transform. " +
		"This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being transformed instead.")
}

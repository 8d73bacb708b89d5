package torch

import (
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// savedPair are hooks for saved tensors as a program has set them, and as the engine calls them.
type savedPair struct {
	pack, unpack vm.Object
	hooks        *SavedHooks
}

// savedNames binds what torch._C._autograd has for tensors that are saved for the backward pass: hooks that are set for all of them, the switch
// that forbids hooks, and the class of one such tensor.
func (t *Torch) savedNames(autograd *vm.Module) {
	t.Grad.UseHooks(func() *SavedHooks {
		if n := len(t.savedHooks); n > 0 {
			return t.savedHooks[n-1].hooks
		}
		return nil
	})
	def := func(name string, takes int, f func(a []vm.Object) error) {
		target := "torch._C._autograd." + name
		b := autograd.Func(name, func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(a) != takes {
				return nil, in.Errorf(in.Exc.TypeError, "%s(): incompatible function arguments", name)
			}
			return t.call(fx.CallFunction, target, a, kw, func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.None, f(a)
			})
		})
		b.Native = Target(target)
	}
	def("_saved_tensors_hooks_disable", 1, func(a []vm.Object) error {
		if len(t.savedHooks) > 0 {
			msg, _ := vm.AsStr(a[0])
			return t.In.Errorf(t.In.Exc.RuntimeError, "%s", msg)
		}
		t.savedHooksOff = a[0]
		return nil
	})
	def("_unsafe_set_version_counter", 2, func(a []vm.Object) error {
		x, ok := a[0].(*Tensor)
		v, ok2 := vm.AsInt(a[1])
		if !ok || !ok2 {
			return t.In.Errorf(t.In.Exc.TypeError, "_unsafe_set_version_counter(): incompatible function arguments")
		}
		x.T.SetVersion(v)
		return nil
	})
	def("_saved_tensors_hooks_enable", 0, func([]vm.Object) error { t.savedHooksOff = nil; return nil })
	def("_push_saved_tensors_default_hooks", 2, func(a []vm.Object) error {
		if !vm.Callable(a[0]) || !vm.Callable(a[1]) {
			return t.In.Errorf(t.In.Exc.TypeError, "_push_saved_tensors_default_hooks(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: function, arg1: function) -> None")
		}
		if t.savedHooksOff != nil {
			msg, _ := vm.AsStr(t.savedHooksOff)
			return t.In.Errorf(t.In.Exc.RuntimeError, "%s", msg)
		}
		t.savedHooks = append(t.savedHooks[:len(t.savedHooks):len(t.savedHooks)], savedPair{a[0], a[1], t.hooks(a[0], a[1])})
		return nil
	})
	def("_pop_saved_tensors_default_hooks", 0, func([]vm.Object) error {
		if n := len(t.savedHooks); n > 0 {
			t.savedHooks = t.savedHooks[:n-1]
		}
		return nil
	})
	autograd.Func("_top_saved_tensors_default_hooks", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		if n := len(t.savedHooks); n > 0 {
			return vm.NewTuple(t.savedHooks[n-1].pack, t.savedHooks[n-1].unpack), nil
		}
		return vm.None, nil
	})
	autograd.Func("_saved_tensors_hooks_get_disabled_error_message", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		if t.savedHooksOff == nil {
			return vm.None, nil
		}
		return t.savedHooksOff, nil
	})
	autograd.Func("_saved_tensors_hooks_is_enabled", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(t.savedHooksOff == nil), nil
	})
	t.savedTensorType = t.In.NewNativeType(vm.Spec{Name: "SavedTensor", Module: "torch._C._autograd",
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.RuntimeError, "Trying to create a SavedTensor object from Python is forbidden.")
		},
		Methods: map[string]vm.GoFunc{
			"register_hooks": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				if len(a) != 3 {
					return nil, in.Errorf(in.Exc.TypeError, "register_hooks(): incompatible function arguments. The following argument types are supported:\n    1. (self: torch._C._autograd.SavedTensor, arg0: function, arg1: function) -> None")
				}
				s, ok := a[0].(*vm.Instance).Native.(SavedTensor)
				if !ok {
					return nil, in.Errorf(in.Exc.RuntimeError, "Calling register_hooks on a saved tensor with value None is forbidden")
				}
				return vm.None, t.Error(s.Hook(t.hooks(a[1], a[2])))
			},
		}})
	autograd.Dict.SetStr("SavedTensor", t.savedTensorType)
	autograd.Func("_unpack", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) != 1 {
			return nil, in.Errorf(in.Exc.TypeError, "_unpack() takes 1 argument (%d given)", len(a))
		}
		return t.unpack(a[0])
	})
}

// hooks are two functions of a program as the engine calls them: nothing that they compute is recorded when they pack.
func (t *Torch) hooks(pack, unpack vm.Object) *SavedHooks {
	return &SavedHooks{
		Pack: func(x *tensor.Tensor) (any, error) {
			on := t.Grad.Enabled()
			t.Grad.SetEnabled(false)
			defer t.Grad.SetEnabled(on)
			return t.In.Call(pack, []vm.Object{t.Wrap(x)}, nil)
		},
		Unpack: func(p any) (*tensor.Tensor, error) {
			v, err := t.In.Call(unpack, []vm.Object{p.(vm.Object)}, nil)
			if err != nil {
				return nil, err
			}
			x, ok := v.(*Tensor)
			if !ok {
				return nil, t.In.Errorf(t.In.Exc.TypeError, "Output of saved tensor unpack_hook expected to be a Tensor but got result of type %s", v.Type().Name)
			}
			return x.T, nil
		},
	}
}

// keep saves what the context of a custom function was given for the backward pass in the node whose result out is. The node is an object
// with the attributes of the context from then on.
func (t *Torch) keep(out *tensor.Tensor, ctx *vm.Instance) error {
	n := t.Grad.Node(out)
	if n == nil {
		return nil
	}
	if ctx.Dict == nil {
		ctx.Dict = vm.NewDict()
	}
	if ctx.Class.IsSubtype(t.functionBase()) {
		ctx.Native = n
		*n.Face() = ctx
	} else if face, ok := t.nodeObject(n).(*vm.Instance); ok {
		face.Dict = ctx.Dict
	}
	of, ok := ctx.Dict.GetStr("to_save")
	if !ok {
		return nil
	}
	items, err := t.In.IterAll(of)
	if err != nil {
		return err
	}
	var kept []SavedTensor
	objects := make([]vm.Object, len(items))
	for i, o := range items {
		x, ok := o.(*Tensor)
		if !ok {
			objects[i] = t.savedObject(nil)
			continue
		}
		s, err := t.Grad.Save(x.T)
		if err != nil {
			return t.Error(err)
		}
		kept, objects[i] = append(kept, s), t.savedObject(s)
	}
	n.Keep(kept)
	ctx.Dict.SetStr("to_save", vm.None)
	ctx.Dict.SetStr("_raw_saved_tensors", vm.NewTuple(objects...))
	return nil
}

// savedObject is what programs see of a saved tensor; of nil, of None that was saved.
func (t *Torch) savedObject(s SavedTensor) vm.Object {
	o := &vm.Instance{Class: t.savedTensorType}
	if s != nil {
		o.Native = s
	}
	return o
}

// savedAttr is an attribute of a node that shows what it keeps: _saved_NAME, the value, and _raw_saved_NAME, the object that holds it. ok is
// false where it keeps nothing of that name.
func (t *Torch) savedAttr(n GradNode, name string) (v vm.Object, ok bool, err error) {
	if name == "saved_tensors" {
		return t.savedTensors(n)
	}
	of, raw := strings.CutPrefix(name, "_raw_saved_")
	if !raw {
		if of, ok = strings.CutPrefix(name, "_saved_"); !ok {
			return nil, false, nil
		}
	}
	saved, err := n.Saved()
	if err != nil {
		return nil, false, t.Error(err)
	}
	for _, s := range saved {
		if s.Name() != of {
			continue
		}
		if raw {
			return t.savedObject(s), true, nil
		}
		x, err := s.Get()
		if err != nil {
			return nil, false, t.Error(err)
		}
		return t.Wrap(x), true, nil
	}
	if x, ok := n.Scalars()[of]; ok && !raw {
		return t.Object(x), true, nil
	}
	return nil, false, nil
}

// savedTensors are what the context of a custom function was given for the backward pass. ok is false for the node of an operator.
func (t *Torch) savedTensors(n GradNode) (v vm.Object, ok bool, err error) {
	face, _ := (*n.Face()).(*vm.Instance)
	if face == nil || face.Dict == nil {
		return nil, false, nil
	}
	raw, ok := face.Dict.GetStr("_raw_saved_tensors")
	if !ok {
		return nil, false, nil
	}
	v, err = t.unpack(raw)
	return v, err == nil, err
}

// unpack gives the tensors of objects of saved tensors, None for None.
func (t *Torch) unpack(saved vm.Object) (vm.Object, error) {
	items, err := t.In.IterAll(saved)
	if err != nil {
		return nil, err
	}
	out := make([]vm.Object, len(items))
	for i, o := range items {
		s, ok := o.(*vm.Instance).Native.(SavedTensor)
		if !ok {
			out[i] = vm.None
			continue
		}
		x, err := s.Get()
		if err != nil {
			return nil, t.Error(err)
		}
		out[i] = t.Wrap(x)
	}
	return vm.NewTuple(out...), nil
}

// savedAttrs are the names of such attributes.
func savedAttrs(n GradNode) []string {
	var out []string
	saved, _ := n.Saved()
	for _, s := range saved {
		out = append(out, "_saved_"+s.Name(), "_raw_saved_"+s.Name())
	}
	for name := range n.Scalars() {
		out = append(out, "_saved_"+name)
	}
	return out
}

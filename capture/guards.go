package capture

import (
	"slices"
	"strings"

	"whittle/capture/guard"
	"whittle/capture/numpy"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// guardFor makes the guards of a value by its type, as the builder of PyTorch's variables does: constants by what they equal, functions by
// their code, containers by type and length. What a container holds is guarded when it is read; parts that are read along with
// the value itself are seen here.
func (wo *world) guardFor(v vm.Object, src source.Source) []*guard.Guard {
	switch v := v.(type) {
	case *torch.Tensor:
		gs := []*guard.Guard{wo.tensorGuard(v, src)}
		if !staticShape(v, src) {
			gs = append(gs, wo.symbols.indicesGuard(v, src))
		}
		return gs
	case vm.Int, vm.Float, vm.Str, *vm.BigInt, vm.Bytes, vm.Complex, *torch.DType, *torch.Device, *torch.MemoryFormat, *torch.Layout:
		return []*guard.Guard{wo.equalsGuard(v, src)}
	case vm.Bool, *vm.NoneType, *vm.EllipsisType, *vm.Builtin, *vm.Type, *vm.Module:
		return []*guard.Guard{guard.Identity(v, src)}
	case *vm.Function:
		if v.Code.Filename == "torch/utils/checkpoint.py" { // see bodies.checkpoint
			return nil // capture knows it by heart
		}
		if wo.keptWhole(v) {
			g := guard.Identity(v, src)
			if inlined(v) != nil {
				g.Hide() // see seeInlined
			}
			return []*guard.Guard{g}
		}
		return []*guard.Guard{guard.Code(v, src)}
	case *vm.BoundMethod:
		if shared, err := wo.sharedGenerator(); err == nil && v.Self == shared { // random.randint and the like, which capture knows by heart
			if _, native := v.Func.(*vm.Builtin); native {
				return []*guard.Guard{guard.Identity(v, src)}
			}
			self := guard.Identity(v.Self, source.Attr{Base: src, Of: "__self__"})
			self.Hide()
			return []*guard.Guard{guard.Type(v, src), self}
		}
		if self, ok := v.Self.(*vm.Instance); ok && self.Class.Module == "torch.autograd.grad_mode" { // a decorator's: PyTorch enters it without a look
			same := guard.Identity(self, source.Attr{Base: src, Of: "__self__"})
			same.Hide()
			return []*guard.Guard{guard.Type(v, src), same}
		}
		if v.Func != nil {
			wo.see(v.Func, source.Attr{Base: src, Of: "__func__"})
		}
		wo.see(v.Self, source.Attr{Base: src, Of: "__self__"})
		return []*guard.Guard{guard.Type(v, src)}
	case *vm.List:
		return []*guard.Guard{guard.Type(v, src), guard.Length(guard.LengthCheck, src, len(v.Items), guard.ListLen)}
	case *vm.Tuple:
		gs := []*guard.Guard{guard.Type(v, src), guard.Length(guard.LengthCheck, src, len(v.Items), guard.TupleLen)}
		if wo.constantTuple(v, src) {
			gs = append(gs, wo.equalsGuard(v, src))
		}
		return gs
	case *vm.Set, *vm.FrozenSet:
		if guard.Constant(v) {
			return []*guard.Guard{wo.equalsGuard(v, src)}
		}
		g := guard.Type(v, src)
		wo.membersGuard(src, v)
		return []*guard.Guard{g}
	case *vm.Dict:
		t := guard.Type(v, src) // hidden: logs have the length alone
		t.Hide()
		if slices.ContainsFunc(v.Keys(), func(k vm.Object) bool { return !guard.Constant(k) }) {
			wo.guards.Order(src)
			wo.keysGuard(src, v, v)
		}
		return []*guard.Guard{guard.Length(guard.DictLength, src, v.Len(), guard.DictLen), t}
	case *vm.Range:
		wo.see(vm.MakeInt(v.Start), source.Attr{Base: src, Of: "start"})
		wo.see(vm.MakeInt(v.Stop), source.Attr{Base: src, Of: "stop"})
		wo.see(vm.MakeInt(v.Step), source.Attr{Base: src, Of: "step"})
		return []*guard.Guard{guard.Type(v, src)}
	case *vm.Slice:
		wo.see(v.Start, source.Attr{Base: src, Of: "start"})
		wo.see(v.Stop, source.Attr{Base: src, Of: "stop"})
		wo.see(v.Step, source.Attr{Base: src, Of: "step"})
		return []*guard.Guard{guard.Type(v, src)}
	case *vm.Instance:
		return wo.instanceGuards(v, src)
	}
	if v.Type().FullName() == "numpy.ufunc" {
		return []*guard.Guard{guard.Identity(v, src)}
	}
	gs := []*guard.Guard{guard.Type(v, src)}
	if np := numpy.Loaded(wo.in); np != nil && v.Type().IsSubtype(np.DTypeType) { // each has a class of its own in PyTorch
		return append(gs, guard.New(guard.EqualsMatch, src.Name()+" == "+wo.repr(v), src, func(e *source.Env, now vm.Object) (bool, guard.Failure) {
			eq, err := e.In.Eq(now, v)
			return err == nil && eq, guard.Failure{}
		}).Hide())
	}
	if n, ok := v.(interface{ Len() int }); ok && v.Type().Name == "deque" {
		gs = append(gs, guard.Length(guard.LengthCheck, src, n.Len(), func(o vm.Object) int {
			if n, ok := o.(interface{ Len() int }); ok {
				return n.Len()
			}
			return -1
		}))
	}
	return gs
}

// instanceGuards are the guards of an instance of a class written in Python.
func (wo *world) instanceGuards(v *vm.Instance, src source.Source) []*guard.Guard {
	name := v.Class.FullName()
	switch {
	case unguarded.has(name):
		return nil
	case name == "functools.partial":
		return wo.partialGuards(v, src)
	case byIdentity.has(name), isEnumMember(v), wo.t.TargetOf(v) != "", isA(v.Class, "torch.optim.optimizer", "Optimizer"):
		return []*guard.Guard{guard.Identity(v, src)}
	case isModule(v):
		return []*guard.Guard{guard.Type(v, src)}
	}
	if d, ok := vm.AsDict(v); ok {
		switch v.Class.Name {
		case "OrderedDict", "defaultdict":
			if f, err := wo.in.GetAttr(v, "default_factory"); err == nil && v.Class.Name == "defaultdict" {
				wo.see(f, source.Attr{Base: src, Of: "default_factory"})
			}
			g := guard.Length(guard.DictLength, src, d.Len(), guard.DictLen)
			if a, ok := src.(source.Attr); ok && d.Len() == 0 && hookTables.has(a.Of) && source.InModule(src) {
				g.Hide()
			}
			t := guard.Type(v, src)
			t.Hide()
			return []*guard.Guard{g, t}
		}
		n := guard.Length(guard.DictLength, src, d.Len(), guard.DictLen)
		n.Hide()
		return []*guard.Guard{guard.Type(v, src), n}
	}
	gs := []*guard.Guard{guard.Type(v, src)}
	if l, ok := vm.AsList(v); ok {
		gs = append(gs, guard.Length(guard.LengthCheck, src, len(l.Items), guard.ListLen))
	} else if t, ok := vm.AsTuple(v); ok {
		gs = append(gs, guard.Length(guard.LengthCheck, src, len(t.Items), guard.TupleLen))
	} else if n, ok := v.Native.(vm.Object); ok && guard.Constant(n) { // a subclass of int or str
		gs = append(gs, guard.NativeEquals(n, src))
	}
	return gs
}

// partialGuards are those of a functools.partial: its function, and all that is bound.
func (wo *world) partialGuards(v *vm.Instance, src source.Source) []*guard.Guard {
	gs := []*guard.Guard{guard.Type(v, src)}
	if f, err := wo.in.GetAttr(v, "func"); err == nil {
		wo.see(f, source.Attr{Base: src, Of: "func"})
	}
	if a, err := wo.in.GetAttr(v, "args"); err == nil {
		wo.see(a, source.Attr{Base: src, Of: "args"})
		wo.seeItems(a)
	}
	if k, err := wo.in.GetAttr(v, "keywords"); err == nil {
		if d, ok := vm.AsDict(k); ok {
			ks := source.Attr{Base: src, Of: "keywords"}
			gs = append(gs, guard.Type(k, ks))
			n := guard.Length(guard.DictLength, ks, d.Len(), guard.DictLen)
			n.Hide()
			gs = append(gs, n)
			wo.sources[k] = ks
			wo.guards.SetValue(ks.Name(), k)
			wo.save(k)
			d.Each(func(key, x vm.Object) bool {
				if r, err := wo.in.Repr(key); err == nil {
					wo.see(x, source.Item{Base: ks, Key: key, Text: r})
				}
				return true
			})
		}
	}
	return gs
}

// keptWhole reports whether capture never looks into a function: its identity is what counts then, not its code.
func (wo *world) keptWhole(f *vm.Function) bool {
	if marked(f, "_torchdynamo_disable") || marked(f, "_dynamo_allow_in_graph") {
		return true
	}
	file := f.Code.Filename
	if decorators.has(file) || inlinedTorch(f.Code) || strings.HasPrefix(file, "torch/optim/") || strings.HasPrefix(file, "torch/_higher_order_ops/") {
		return false
	}
	return wo.d.IsLibrary(file) || strings.HasPrefix(file, "numpy/") // functions of NumPy have handlers of their own
}

// constantTuple reports whether a tuple is taken as one constant: tuples of numbers in modules are.
func (wo *world) constantTuple(v *vm.Tuple, src source.Source) bool {
	return source.InModule(src) && guard.Constant(v)
}

// staticShape reports whether a tensor's sizes are never made dynamic: parameters and what belongs to modules.
func staticShape(p *torch.Tensor, src source.Source) bool {
	if isParameter(p) {
		return true
	}
	for s := src; s != nil; s = source.Base(s) {
		n, ok := s.(source.Module)
		if ok && n.Kind == source.LibraryModule {
			return true
		}
		if a, isAttr := s.(source.Attr); isAttr && (a.Of == "_buffers" || a.Of == "_parameters") {
			if _, ok := a.Base.(source.Module); ok {
				return true
			}
		}
	}
	return false
}

// isEnumMember reports whether an object is a member of an enum.
func isEnumMember(v *vm.Instance) bool { return isA(v.Class, "enum", "Enum") }

// isA reports whether a class derives from another, given by module and name.
func isA(c *vm.Type, module, name string) bool {
	for _, b := range c.MRO {
		if b.Name == name && b.Module == module {
			return true
		}
	}
	return false
}

// equalsGuard holds for values that cannot be told from v.
func (wo *world) equalsGuard(v vm.Object, src source.Source) *guard.Guard {
	return guard.Equals(v, wo.repr(v), src)
}

// tensorGuard is the guard on all that a graph relies on of a tensor.
func (wo *world) tensorGuard(p *torch.Tensor, src source.Source) *guard.Guard {
	x := p.T
	blocks := wo.state.blocks
	in := wo.symbols.sizesAt(p, src)
	class := p.Type()
	if wo.t.IsFace(p) {
		class = wo.t.TensorType // of what the array is turned into
	}
	return guard.Tensor(guard.TensorFacts{Class: class, DType: x.DType, Keys: wo.d.keysOf(p, blocks.Inference, blocks.Autocast.Enabled), KeysOf: wo.d.keys,
		RequiresGrad: wo.d.T.Grad.RequiresGrad(x), Grad: wo.d.T.Grad.RequiresGrad,
		Layout: func() (shape, stride []int64) { return wo.symbols.fixed(in.size), wo.symbols.fixed(in.stride) }}, src)
}

// keysOf are the dispatch keys of a call with p, in inference mode or under autocast.
func (d *Dynamo) keysOf(p *torch.Tensor, inference, autocast bool) guard.KeySet {
	own := d.T.Grad.IsInference(p.T)
	return guard.KeySet{Inplace: !own, Autograd: !own && !inference, Autocast: autocast}
}

// keys are the dispatch keys of a call with p now.
func (d *Dynamo) keys(p *torch.Tensor) guard.KeySet {
	return d.keysOf(p, d.T.Inference, d.T.Autocast.Enabled)
}

// pyBool is how Python writes b.
func pyBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// memberGuard holds while a dict has a key, or has it not.
func (wo *world) memberGuard(src source.Source, d *vm.Dict, key vm.Object) {
	if k, ok := key.(*torch.Scalar); ok && k != nil {
		return
	}
	has := false
	if before, saved := wo.effects.Before(d); saved {
		for i := 0; i < len(before) && !has; i += 2 {
			has = guard.Same(wo.in, before[i], key)
		}
	} else if _, ok, err := d.Get(wo.in, key); err == nil {
		has = ok
	}
	r, err := wo.in.Repr(key)
	if err != nil || source.Identity(key) != nil && !guard.Constant(key) && wo.sourceOf(key) == nil && wo.madeHere(key) {
		return
	}
	wo.guards.Covertly(func() {
		wo.guards.Add(guard.Member(key, r, has, src))
	})
}

// membersGuard holds while a set, a deque or another container of Go holds what it holds.
func (wo *world) membersGuard(src source.Source, o vm.Object) {
	items, ok := guard.Contained(wo.in, o)
	if !ok {
		return
	}
	wo.guards.Covertly(func() {
		wo.guards.Add(guard.Contents(o, items, src))
	})
}

// keysGuard holds while a dict has the keys that it had before the trace, in their order.
func (wo *world) keysGuard(src source.Source, o vm.Object, d *vm.Dict) {
	var keys []vm.Object
	if before, saved := wo.effects.Before(d); saved {
		for i := 0; i < len(before); i += 2 {
			keys = append(keys, before[i])
		}
	} else {
		keys = d.Keys()
	}
	wo.guards.Covertly(func() {
		wo.guards.Add(guard.Keys(o.Type(), keys, src))
	})
}

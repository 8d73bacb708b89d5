package capture

import (
	"fmt"
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// guardFor makes the guards of a value by its type, as the builder of PyTorch's variables does.
func (tr *tracer) guardFor(v vm.Object, src source.Source) []*Guard {
	switch v := v.(type) {
	case *torch.Tensor:
		gs := []*Guard{tr.tensorGuard(v, src)}
		if !staticShape(v, src) {
			gs = append(gs, tr.indicesGuard(v, src))
		}
		return gs
	case vm.Int, vm.Float, vm.Str, *vm.BigInt, vm.Bytes, vm.Complex, *torch.DType, *torch.Device, *torch.MemoryFormat:
		return []*Guard{tr.equalsGuard(v, src)}
	case vm.Bool, *vm.NoneType, *vm.EllipsisType, *vm.Builtin, *vm.Type, *vm.Module:
		return []*Guard{idGuard(v, src)}
	case *vm.Function:
		if v.Code.Filename == "torch/utils/checkpoint.py" {
			return nil // capture knows it by heart
		}
		if tr.keptWhole(v) {
			return []*Guard{idGuard(v, src)}
		}
		return []*Guard{codeGuard(v, src)}
	case *vm.BoundMethod:
		if shared, err := tr.sharedGenerator(); err == nil && v.Self == shared { // random.randint and the like, which capture knows by heart
			self := idGuard(v.Self, source.Attr{Base: src, Of: "__self__"})
			self.hidden = true
			return []*Guard{tr.typeGuard(v, src), self}
		}
		if v.Func != nil {
			tr.see(v.Func, source.Attr{Base: src, Of: "__func__"})
		}
		tr.see(v.Self, source.Attr{Base: src, Of: "__self__"})
		return []*Guard{tr.typeGuard(v, src)}
	case *vm.List:
		return []*Guard{tr.typeGuard(v, src), lengthGuard("LENGTH_CHECK", src, len(v.Items), listLen)}
	case *vm.Tuple:
		gs := []*Guard{tr.typeGuard(v, src), lengthGuard("LENGTH_CHECK", src, len(v.Items), tupleLen)}
		if tr.constantTuple(v, src) {
			gs = append(gs, tr.equalsGuard(v, src))
		}
		return gs
	case *vm.Set, *vm.FrozenSet:
		if literal(v) {
			return []*Guard{tr.equalsGuard(v, src)}
		}
		g := tr.typeGuard(v, src)
		tr.membersGuard(src, v)
		return []*Guard{g}
	case *vm.Dict:
		t := tr.typeGuard(v, src)
		t.hidden = true
		return []*Guard{lengthGuard("DICT_LENGTH", src, v.Len(), dictLen), t}
	case *vm.Range:
		tr.see(vm.MakeInt(v.Start), source.Attr{Base: src, Of: "start"})
		tr.see(vm.MakeInt(v.Stop), source.Attr{Base: src, Of: "stop"})
		tr.see(vm.MakeInt(v.Step), source.Attr{Base: src, Of: "step"})
		return []*Guard{tr.typeGuard(v, src)}
	case *vm.Slice:
		tr.see(v.Start, source.Attr{Base: src, Of: "start"})
		tr.see(v.Stop, source.Attr{Base: src, Of: "stop"})
		tr.see(v.Step, source.Attr{Base: src, Of: "step"})
		return []*Guard{tr.typeGuard(v, src)}
	case *vm.Instance:
		return tr.instanceGuards(v, src)
	}
	gs := []*Guard{tr.typeGuard(v, src)}
	if n, ok := v.(interface{ Len() int }); ok && v.Type().Name == "deque" {
		gs = append(gs, lengthGuard("LENGTH_CHECK", src, n.Len(), func(o vm.Object) int {
			if n, ok := o.(interface{ Len() int }); ok {
				return n.Len()
			}
			return -1
		}))
	}
	return gs
}

// instanceGuards are the guards of an instance of a class written in Python.
func (tr *tracer) instanceGuards(v *vm.Instance, src source.Source) []*Guard {
	name := v.Class.FullName()
	switch {
	case unguarded.has(name):
		return nil
	case name == "functools.partial":
		return tr.partialGuards(v, src)
	case byIdentity.has(name), isEnumMember(v), tr.t.TargetOf(v) != "", isA(v.Class, "torch.optim.optimizer", "Optimizer"):
		return []*Guard{idGuard(v, src)}
	case isModule(v):
		return []*Guard{tr.typeGuard(v, src)}
	}
	if d, ok := vm.AsDict(v); ok {
		switch v.Class.Name {
		case "OrderedDict", "defaultdict":
			if f, err := tr.in.GetAttr(v, "default_factory"); err == nil && v.Class.Name == "defaultdict" {
				tr.see(f, source.Attr{Base: src, Of: "default_factory"})
			}
			g := lengthGuard("DICT_LENGTH", src, d.Len(), dictLen)
			t := tr.typeGuard(v, src)
			t.hidden = true
			return []*Guard{g, t}
		}
		n := lengthGuard("DICT_LENGTH", src, d.Len(), dictLen)
		n.hidden = true
		return []*Guard{tr.typeGuard(v, src), n}
	}
	gs := []*Guard{tr.typeGuard(v, src)}
	if l, ok := vm.AsList(v); ok {
		gs = append(gs, lengthGuard("LENGTH_CHECK", src, len(l.Items), listLen))
	} else if t, ok := vm.AsTuple(v); ok {
		gs = append(gs, lengthGuard("LENGTH_CHECK", src, len(t.Items), tupleLen))
	} else if n, ok := v.Native.(vm.Object); ok && literal(n) { // a subclass of int or str
		gs = append(gs, &Guard{Kind: "EQUALS_MATCH", Expr: "the value of " + src.Name(), Source: src, hidden: true, check: func(e *source.Env, now vm.Object) (bool, string) {
			i, ok := now.(*vm.Instance)
			if !ok {
				return false, ""
			}
			x, ok := i.Native.(vm.Object)
			return ok && sameConstant(e.In, x, n), ""
		}})
	}
	return gs
}

// partialGuards are those of a functools.partial: its function, and all that is bound.
func (tr *tracer) partialGuards(v *vm.Instance, src source.Source) []*Guard {
	gs := []*Guard{tr.typeGuard(v, src)}
	if f, err := tr.in.GetAttr(v, "func"); err == nil {
		tr.see(f, source.Attr{Base: src, Of: "func"})
	}
	if a, err := tr.in.GetAttr(v, "args"); err == nil {
		tr.see(a, source.Attr{Base: src, Of: "args"})
		tr.seeItems(a)
	}
	if k, err := tr.in.GetAttr(v, "keywords"); err == nil {
		if d, ok := vm.AsDict(k); ok {
			ks := source.Attr{Base: src, Of: "keywords"}
			gs = append(gs, tr.typeGuard(k, ks))
			n := lengthGuard("DICT_LENGTH", ks, d.Len(), dictLen)
			n.hidden = true
			gs = append(gs, n)
			tr.sources[k] = ks
			tr.guards.values[ks.Name()] = k
			tr.save(k)
			d.Each(func(key, x vm.Object) bool {
				if r, err := tr.in.Repr(key); err == nil {
					tr.see(x, source.Item{Base: ks, Key: key, Text: r})
				}
				return true
			})
		}
	}
	return gs
}

// keptWhole reports whether capture never looks into a function: its identity is what counts then, not its code.
func (tr *tracer) keptWhole(f *vm.Function) bool {
	if marked(f, "_torchdynamo_disable") || marked(f, "_dynamo_allow_in_graph") {
		return true
	}
	file := f.Code.Filename
	if decorators.has(file) || strings.HasPrefix(file, "torch/nn/modules/") || strings.HasPrefix(file, "torch/optim/") || strings.HasPrefix(file, "torch/_higher_order_ops/") {
		return false
	}
	return tr.d.IsLibrary(file)
}

// constantTuple reports whether a tuple is taken as one constant: tuples of numbers in modules are.
func (tr *tracer) constantTuple(v *vm.Tuple, src source.Source) bool {
	return source.InModule(src) && literal(v)
}

// literal reports whether a value is made of constants alone.
func literal(o vm.Object) bool {
	all := func(items []vm.Object) bool {
		for _, x := range items {
			if !literal(x) {
				return false
			}
		}
		return true
	}
	switch v := o.(type) {
	case vm.Int, vm.Float, vm.Str, vm.Bool, vm.Bytes, vm.Complex, *vm.NoneType, *vm.BigInt, *vm.EllipsisType, *torch.DType, *torch.Device, *torch.MemoryFormat:
		return true
	case *vm.Tuple:
		return all(v.Items)
	case *vm.List:
		return all(v.Items)
	case *vm.Set:
		return all(v.Items())
	case *vm.FrozenSet:
		return all(v.Items())
	}
	return false
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

func (tr *tracer) equalsGuard(v vm.Object, src source.Source) *Guard {
	r, err := tr.in.Repr(v)
	if err != nil {
		r = v.Type().Name
	}
	return &Guard{Kind: "EQUALS_MATCH", Expr: src.Name() + " == " + r, Source: src, check: func(e *source.Env, now vm.Object) (bool, string) {
		if now.Type() != v.Type() {
			return false, ""
		}
		switch v.(type) {
		case *vm.List, *vm.Set:
			if now == v {
				return true, ""
			}
			eq, err := e.In.Eq(now, v)
			return err == nil && eq, ""
		}
		return sameConstant(e.In, now, v), ""
	}}
}

func idGuard(v vm.Object, src source.Source) *Guard {
	return &Guard{Kind: "ID_MATCH", Expr: fmt.Sprintf("___check_obj_id(%s, <id>)", src.Name()), Source: src, check: func(_ *source.Env, now vm.Object) (bool, string) { return now == v, "" }}
}

// codeGuard holds for every function with the same code: closures may differ.
func codeGuard(v *vm.Function, src source.Source) *Guard {
	c := v.Code
	return &Guard{Kind: "ID_MATCH", Expr: fmt.Sprintf("___check_obj_id(%s.__code__, <id>)", src.Name()), Source: src, check: func(_ *source.Env, now vm.Object) (bool, string) {
		f, ok := now.(*vm.Function)
		return ok && f.Code == c && f.Globals == v.Globals, ""
	}}
}

func listLen(o vm.Object) int {
	if l, ok := vm.AsList(o); ok {
		return len(l.Items)
	}
	return -1
}

func tupleLen(o vm.Object) int {
	if t, ok := vm.AsTuple(o); ok {
		return len(t.Items)
	}
	return -1
}

func dictLen(o vm.Object) int {
	if d, ok := vm.AsDict(o); ok {
		return d.Len()
	}
	return -1
}

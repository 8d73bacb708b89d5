package vm

// Referents calls f with the objects that o refers to directly: what a container holds, an object's attributes and class, a function's code,
// defaults and cells, a frame's variables.
func Referents(o Object, f func(o Object)) {
	each := func(os []Object) {
		for _, o := range os {
			if o != nil {
				f(o)
			}
		}
	}
	dict := func(d *Dict) {
		if d != nil {
			f(d)
		}
	}
	class := func(t *Type) {
		if t.Heap {
			f(t)
		}
	}
	switch x := o.(type) {
	case *Tuple:
		each(x.Items)
	case *List:
		each(x.Items)
	case *Set:
		each(x.Items())
	case *FrozenSet:
		each(x.Items())
	case *Dict:
		x.Each(func(k, v Object) bool { f(k); f(v); return true })
	case *MappingProxy:
		f(x.M)
	case *Instance:
		class(x.Class)
		dict(x.Dict)
		each(x.Slots)
		if n, ok := x.Native.(Object); ok {
			Referents(n, f)
		}
	case *Exception:
		class(x.Class)
		f(x.Args)
		dict(x.Dict)
		dict(x.Fields)
		each([]Object{x.Cause})
		each(x.slots)
		if x.Context != nil {
			f(x.Context)
		}
		if x.Traceback != nil {
			f(x.Traceback)
		}
	case *Traceback:
		if x.frame != nil {
			f(x.frame)
		}
		if x.Next != nil {
			f(x.Next)
		}
	case *Frame:
		f(x.Code)
		dict(x.Globals)
		each([]Object{x.Locals})
		each(x.LocalsPlus)
		if x.Back != nil {
			f(x.Back)
		}
	case *Generator:
		if x.frame != nil {
			f(x.frame)
		}
	case *Function:
		f(x.Code)
		dict(x.Globals)
		dict(x.Dict)
		each(x.Defaults)
		for _, c := range x.Closure {
			f(c)
		}
		each([]Object{x.Doc, x.Module, x.Annots})
		dict(x.KwDefaults)
	case *Code:
		each(x.Consts)
	case *Cell:
		each([]Object{x.V})
	case *BoundMethod:
		f(x.Func)
		f(x.Self)
	case *Builtin:
		each([]Object{x.Self})
		dict(x.Dict)
	case *Property:
		each([]Object{x.Get, x.Set, x.Del, x.Doc})
	case *ClassMethod:
		f(x.Func)
	case *StaticMethod:
		f(x.Func)
	case *Module:
		dict(x.Dict)
	case *Type:
		dict(x.Dict)
		for _, b := range x.MRO {
			class(b)
		}
	case *GenericAlias:
		f(x.Origin)
		f(x.Args)
	case *Super:
		each([]Object{x.Self})
	}
}

// Reachable are the objects that can be reached from the modules and the frames that run, each once. Those without referents (numbers,
// texts) are left out, as the garbage collector of CPython does not know them either.
func (in *Interp) Reachable() []Object {
	seen := map[any]bool{}
	var out, todo []Object
	add := func(o Object) {
		switch o.(type) {
		case Int, *BigInt, Bool, Float, Complex, Str, Bytes, *ByteArray, *NoneType, *EllipsisType, *NotImplementedType, *Range, *Slice:
			return
		}
		if key := any(in.ID(o)); !seen[key] {
			seen[key] = true
			out, todo = append(out, o), append(todo, o)
		}
	}
	add(in.Modules)
	if in.frame != nil {
		add(in.frame)
	}
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		Referents(o, add)
	}
	return out
}

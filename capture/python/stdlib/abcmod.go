package stdlib

import (
	"slices"
	"strings"

	"whittle/capture/python/vm"
)

// abcData is what an abstract base class knows of other classes; it lies in the class as _abc_impl.
type abcData struct {
	registry []*vm.Type
	yes, no  map[*vm.Type]bool
	version  int64 // of the registries when no was last right
}

// Type implements vm.Object.
func (*abcData) Type() *vm.Type { return vm.ObjectType }

// abcState is the part of _abc that belongs to an interpreter.
type abcState struct {
	version int64 // grows with each registration of any class
}

// abcModule is _abc, which ABCMeta consists of.
func abcModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_abc", "Module contains faster C implementation of abc.ABCMeta")
	st := &abcState{}
	m.FuncN("get_cache_token", 0, 0, func(*vm.Interp, []vm.Object) (vm.Object, error) { return vm.MakeInt(st.version), nil })
	m.FuncN("_abc_init", 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		cls, ok := a[0].(*vm.Type)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "_abc_init() argument must be a class")
		}
		return vm.None, st.init(in, cls)
	})
	two := func(name string, f func(in *vm.Interp, cls *vm.Type, o vm.Object) (vm.Object, error)) {
		m.FuncN(name, 2, 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
			cls, ok := a[0].(*vm.Type)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "%s() argument 1 must be a class", name)
			}
			return f(in, cls, a[1])
		})
	}
	two("_abc_register", st.register)
	two("_abc_instancecheck", st.instanceCheck)
	two("_abc_subclasscheck", func(in *vm.Interp, cls *vm.Type, o vm.Object) (vm.Object, error) {
		ok, err := st.subclassCheck(in, cls, o)
		return vm.MakeBool(ok), err
	})
	one := func(name string, f func(in *vm.Interp, d *abcData) (vm.Object, error)) {
		m.FuncN(name, 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
			d, err := abcOf(in, a[0])
			if err != nil {
				return nil, err
			}
			return f(in, d)
		})
	}
	one("_reset_registry", func(_ *vm.Interp, d *abcData) (vm.Object, error) {
		d.registry = nil
		return vm.None, nil
	})
	one("_reset_caches", func(_ *vm.Interp, d *abcData) (vm.Object, error) {
		d.yes, d.no = map[*vm.Type]bool{}, map[*vm.Type]bool{}
		return vm.None, nil
	})
	one("_get_dump", func(in *vm.Interp, d *abcData) (vm.Object, error) {
		set := func(types []*vm.Type) (vm.Object, error) {
			s := vm.NewSet()
			for _, t := range types {
				if err := s.Add(in, t); err != nil {
					return nil, err
				}
			}
			return s, nil
		}
		var out []vm.Object
		for _, types := range [][]*vm.Type{d.registry, typesOf(d.yes), typesOf(d.no)} {
			s, err := set(types)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
		return vm.NewTuple(append(out, vm.MakeInt(d.version))...), nil
	})
	return m, nil
}

// typesOf are the keys of a cache by name.
func typesOf(m map[*vm.Type]bool) []*vm.Type {
	var out []*vm.Type
	for t := range m {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *vm.Type) int { return strings.Compare(a.FullName(), b.FullName()) })
	return out
}

// abcOf is the data of an abstract base class.
func abcOf(in *vm.Interp, cls vm.Object) (*abcData, error) {
	if t, ok := cls.(*vm.Type); ok {
		if d, ok := t.Lookup("_abc_impl").(*abcData); ok {
			return d, nil
		}
	}
	v, err := in.GetAttr(cls, "_abc_impl")
	if err != nil {
		return nil, err
	}
	if d, ok := v.(*abcData); ok {
		return d, nil
	}
	return nil, in.Errorf(in.Exc.TypeError, "_abc_impl is set to a wrong type")
}

// init notes the abstract methods of a new class and gives it data of its own.
func (st *abcState) init(in *vm.Interp, cls *vm.Type) error {
	names, err := abstractNames(in, cls)
	if err != nil {
		return err
	}
	frozen, err := in.Call(vm.FrozenSetType, []vm.Object{vm.NewList(names...)}, nil)
	if err != nil {
		return err
	}
	cls.SetAttr("__abstractmethods__", frozen)
	if v, ok := cls.Dict.GetStr("__abc_tpflags__"); ok {
		flags, ok := vm.AsInt(v)
		switch {
		case ok && flags&isSequence != 0 && flags&isMapping != 0:
			return in.Errorf(in.Exc.TypeError, "__abc_tpflags__ cannot be both Py_TPFLAGS_SEQUENCE and Py_TPFLAGS_MAPPING")
		case ok && flags&isSequence != 0:
			cls.SetCollection(in, vm.Sequence)
		case ok && flags&isMapping != 0:
			cls.SetCollection(in, vm.Mapping)
		}
		cls.Dict.DelStr("__abc_tpflags__")
	}
	cls.SetAttr("_abc_impl", &abcData{yes: map[*vm.Type]bool{}, no: map[*vm.Type]bool{}, version: st.version})
	return nil
}

// The bits of __abc_tpflags__ that say which patterns may match instances of a class.
const (
	isSequence = 1 << 5
	isMapping  = 1 << 6
)

// abstractNames lists the methods that a class leaves abstract, its own and inherited ones.
func abstractNames(in *vm.Interp, cls *vm.Type) ([]vm.Object, error) {
	var names []vm.Object
	d := cls.Dict.Copy()
	var err error
	d.Each(func(k, v vm.Object) bool {
		var abstract bool
		if abstract, err = isAbstract(in, v); abstract {
			names = append(names, k)
		}
		return err == nil
	})
	for _, b := range cls.Bases {
		if err != nil {
			return nil, err
		}
		inherited, _ := b.Dict.GetStr("__abstractmethods__")
		if inherited == nil {
			continue
		}
		items, e := in.IterAll(inherited)
		if e != nil {
			return nil, e
		}
		for _, k := range items {
			name, _ := vm.AsStr(k)
			v, e := in.GetAttrOpt(cls, name)
			if e != nil {
				return nil, e
			}
			if v == nil {
				continue
			}
			if abstract, e := isAbstract(in, v); e != nil {
				return nil, e
			} else if abstract {
				names = append(names, k)
			}
		}
	}
	return names, err
}

// isAbstract reports whether an object says of itself that it is an abstract method.
func isAbstract(in *vm.Interp, o vm.Object) (bool, error) {
	switch f := o.(type) {
	case vm.Str, vm.Int, *vm.Tuple, *vm.Dict, *vm.NoneType, *vm.Builtin, *vm.Member:
		return false, nil
	case *vm.Function:
		if f.Dict == nil {
			return false, nil
		}
	}
	v, err := in.GetAttrOpt(o, "__isabstractmethod__")
	if v == nil || err != nil {
		return false, err
	}
	return in.Truth(v)
}

func (st *abcState) register(in *vm.Interp, cls *vm.Type, o vm.Object) (vm.Object, error) {
	sub, ok := o.(*vm.Type)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "Can only register classes")
	}
	if yes, err := in.IsSubclass(sub, cls); yes || err != nil {
		return sub, err
	}
	if yes, err := in.IsSubclass(cls, sub); err != nil {
		return nil, err
	} else if yes {
		return nil, in.Errorf(in.Exc.RuntimeError, "Refusing to create an inheritance cycle")
	}
	d, err := abcOf(in, cls)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(d.registry, sub) {
		d.registry = append(d.registry, sub)
	}
	st.version++
	if c := cls.Collection(); c != vm.NoCollection {
		sub.SetCollection(in, c)
	}
	return sub, nil
}

// instanceCheck is isinstance(o, cls), by the class that o has and by the one that it says it has.
func (st *abcState) instanceCheck(in *vm.Interp, cls *vm.Type, o vm.Object) (vm.Object, error) {
	d, err := abcOf(in, cls)
	if err != nil {
		return nil, err
	}
	said, err := in.GetAttr(o, "__class__")
	if err != nil {
		return nil, err
	}
	if t, ok := said.(*vm.Type); ok {
		if d.yes[t] {
			return vm.True, nil
		}
		if t == o.Type() && d.version == st.version && d.no[t] {
			return vm.False, nil
		}
	}
	ok, err := in.IsSubclass(said, cls)
	if ok || err != nil || said == vm.Object(o.Type()) {
		return vm.MakeBool(ok), err
	}
	ok, err = in.IsSubclass(o.Type(), cls)
	return vm.MakeBool(ok), err
}

// subclassCheck is issubclass(o, cls): what the class's own hook says, or else inheritance, registration, or a subclass of either kind.
func (st *abcState) subclassCheck(in *vm.Interp, cls *vm.Type, o vm.Object) (bool, error) {
	sub, ok := o.(*vm.Type)
	if !ok {
		return false, in.Errorf(in.Exc.TypeError, "issubclass() arg 1 must be a class")
	}
	d, err := abcOf(in, cls)
	if err != nil {
		return false, err
	}
	if d.yes[sub] {
		return true, nil
	}
	if d.version < st.version {
		clear(d.no)
		d.version = st.version
	} else if d.no[sub] {
		return false, nil
	}
	said, err := in.CallMethod(cls, "__subclasshook__", sub)
	if err != nil {
		return false, err
	}
	switch said {
	case vm.True:
		d.yes[sub] = true
		return true, nil
	case vm.False:
		d.no[sub] = true
		return false, nil
	case vm.NotImplemented:
	default:
		return false, in.Errorf(in.Exc.AssertionError, "__subclasshook__ must return either False, True, or NotImplemented")
	}
	yes := slices.Contains(sub.MRO, cls)
	for i := 0; !yes && i < len(d.registry); i++ {
		if yes, err = in.IsSubclass(sub, d.registry[i]); err != nil {
			return false, err
		}
	}
	if !yes {
		if yes, err = st.belowSubclass(in, cls, sub); err != nil {
			return false, err
		}
	}
	if yes {
		d.yes[sub] = true
	} else {
		d.no[sub] = true
	}
	return yes, nil
}

// belowSubclass reports whether sub is a subclass of a class that derives from cls.
func (st *abcState) belowSubclass(in *vm.Interp, cls, sub *vm.Type) (bool, error) {
	below, err := in.CallMethod(cls, "__subclasses__")
	if err != nil {
		return false, err
	}
	items, err := in.IterAll(below)
	for _, s := range items {
		if yes, err := in.IsSubclass(sub, s); yes || err != nil {
			return yes, err
		}
	}
	return false, err
}

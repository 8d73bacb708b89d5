package vm

import (
	"slices"
	"sort"
	"strings"
)

// The built-in types. They are set up once by init and never change after.
var (
	ObjectType, TypeType, IntType, BoolType, FloatType, ComplexType, StrType, BytesType, ByteArrayType, NoneTypeType, EllipsisTypeType,
	NotImplementedTypeType, TupleType, ListType, DictType, SetType, FrozenSetType, SliceType, RangeType, CellType, FunctionType,
	MethodType, BuiltinType, MethodDescrType, ModuleType, PropertyType, GetSetType, MemberType, ClassMethodType, StaticMethodType,
	SuperType, MappingProxyType, GenericAliasType, UnionTypeType, CodeType, FrameType, TracebackType, GeneratorType, IteratorType,
	ListIterType, TupleIterType, RangeIterType, StrIterType, SetIterType, BytesIterType, DictKeyIterType, DictValueIterType,
	DictItemIterType, DictKeysType, DictValuesType, DictItemsType, EnumerateType, ZipType, MapType, FilterType, ReversedType, FileType, MemoryViewType *Type
)

var (
	typeCall, typeInstanceCheck, typeSubclassCheck Object
	allTypes                                       []*Type
)

func newBuiltinType(name string, base *Type) *Type {
	t := &Type{Name: name, Qualname: name, Module: "builtins", Dict: NewDict()}
	if base != nil {
		t.Bases = []*Type{base}
		t.MRO = append([]*Type{t}, base.MRO...)
		t.New = base.New
		t.HasDict = base.HasDict
	} else {
		t.MRO = []*Type{t}
	}
	allTypes = append(allTypes, t)
	return t
}

func addMethod(t *Type, name string, lo, hi int, fn GoFunc) Object {
	b := &Builtin{Name: name, Fn: fn, Method: true, Owner: t, Min: lo, Max: hi, NoKw: hi >= 0, shared: true}
	t.Dict.SetStr(name, b)
	return b
}

// addKw adds a method that takes keywords.
func addKw(t *Type, name string, fn GoFunc) {
	t.Dict.SetStr(name, &Builtin{Name: name, Fn: fn, Method: true, Owner: t, Max: -1, shared: true})
}

func addClass(t *Type, name string, fn GoFunc) {
	t.Dict.SetStr(name, &ClassMethod{&Builtin{Name: name, Fn: fn, Owner: t, Max: -1, shared: true}})
}

func addGetSet(t *Type, name string, get func(in *Interp, self Object) (Object, error), set func(in *Interp, self, v Object) error) {
	t.Dict.SetStr(name, &GetSet{Name: name, Get: get, Set: set, own: t})
}

// addNew puts the type's New into its dict as __new__.
func addNew(t *Type) Object {
	b := &Builtin{Name: "__new__", Owner: t, Max: -1, shared: true}
	b.Fn = func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		if len(args) == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "%s.__new__(): not enough arguments", t.Name)
		}
		cls, ok := args[0].(*Type)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "%s.__new__(X): X is not a type object (%s)", t.Name, args[0].Type().Name)
		}
		if !cls.IsSubtype(t) {
			return nil, in.Errorf(in.Exc.TypeError, "%s.__new__(%s): %s is not a subtype of %s", t.Name, cls.Name, cls.Name, t.Name)
		}
		return t.New(in, cls, args[1:], kw)
	}
	t.Dict.SetStr("__new__", b)
	return b
}

func objectNew(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
	if len(args) > 0 || len(kw) > 0 {
		if n := cls.Lookup("__new__"); n != objectNewB {
			return nil, in.Errorf(in.Exc.TypeError, "object.__new__() takes exactly one argument (the type to instantiate)")
		}
		if cls.Lookup("__init__") == objectInit {
			return nil, in.Errorf(in.Exc.TypeError, "%s() takes no arguments", cls.Name)
		}
	}
	if in.isAbstract(cls) {
		return nil, in.abstractError(cls)
	}
	i := &Instance{Class: cls}
	if cls.NumSlots > 0 {
		i.Slots = make([]Object, cls.NumSlots)
	}
	return i, nil
}

func (in *Interp) isAbstract(cls *Type) bool {
	if cls.Meta == nil {
		return false
	}
	a, ok := cls.Dict.GetStr("__abstractmethods__")
	if !ok {
		return false
	}
	n, err := in.Len(a)
	return err == nil && n > 0
}

func (in *Interp) abstractError(cls *Type) error {
	a, _ := cls.Dict.GetStr("__abstractmethods__")
	items, _ := in.IterAll(a)
	var names []string
	for _, it := range items {
		s, _ := AsStr(it)
		names = append(names, s)
	}
	sort.Strings(names)
	pl := ""
	if len(names) > 1 {
		pl = "s"
	}
	return in.Errorf(in.Exc.TypeError, "Can't instantiate abstract class %s with abstract method%s %s", cls.Name, pl, strings.Join(names, ", "))
}

// NewInstance makes an instance of cls that holds native, without running __init__.
func NewInstance(cls *Type, native any) *Instance {
	i := &Instance{Class: cls, Native: native}
	if cls.NumSlots > 0 {
		i.Slots = make([]Object, cls.NumSlots)
	}
	return i
}

// wrap gives v itself for the exact type and an instance of the subclass otherwise.
func wrap(cls, exact *Type, v Object) Object {
	if cls == exact {
		return v
	}
	return NewInstance(cls, v)
}

func init() {
	ObjectType = newBuiltinType("object", nil)
	ObjectType.New = objectNew
	TypeType = newBuiltinType("type", ObjectType)
	simple := []struct {
		p    **Type
		name string
	}{
		{&IntType, "int"}, {&FloatType, "float"}, {&ComplexType, "complex"}, {&StrType, "str"}, {&BytesType, "bytes"}, {&ByteArrayType, "bytearray"},
		{&NoneTypeType, "NoneType"}, {&EllipsisTypeType, "ellipsis"}, {&NotImplementedTypeType, "NotImplementedType"}, {&TupleType, "tuple"},
		{&ListType, "list"}, {&DictType, "dict"}, {&SetType, "set"}, {&FrozenSetType, "frozenset"}, {&SliceType, "slice"}, {&RangeType, "range"},
		{&CellType, "cell"}, {&FunctionType, "function"}, {&MethodType, "method"}, {&BuiltinType, "builtin_function_or_method"},
		{&MethodDescrType, "method_descriptor"}, {&ModuleType, "module"}, {&PropertyType, "property"}, {&GetSetType, "getset_descriptor"},
		{&MemberType, "member_descriptor"}, {&ClassMethodType, "classmethod"}, {&StaticMethodType, "staticmethod"}, {&SuperType, "super"},
		{&MappingProxyType, "mappingproxy"}, {&GenericAliasType, "GenericAlias"}, {&UnionTypeType, "UnionType"}, {&CodeType, "code"},
		{&FrameType, "frame"}, {&TracebackType, "traceback"}, {&GeneratorType, "generator"}, {&IteratorType, "iterator"},
		{&ListIterType, "list_iterator"}, {&TupleIterType, "tuple_iterator"}, {&RangeIterType, "range_iterator"}, {&StrIterType, "str_ascii_iterator"},
		{&SetIterType, "set_iterator"}, {&BytesIterType, "bytes_iterator"}, {&DictKeyIterType, "dict_keyiterator"}, {&DictValueIterType, "dict_valueiterator"},
		{&DictItemIterType, "dict_itemiterator"}, {&DictKeysType, "dict_keys"}, {&DictValuesType, "dict_values"}, {&DictItemsType, "dict_items"},
		{&EnumerateType, "enumerate"}, {&ZipType, "zip"}, {&MapType, "map"}, {&FilterType, "filter"}, {&ReversedType, "reversed"}, {&FileType, "TextIOWrapper"}, {&MemoryViewType, "memoryview"},
	}
	for _, s := range simple {
		*s.p = newBuiltinType(s.name, ObjectType)
		(*s.p).New = nil
	}
	BoolType = newBuiltinType("bool", IntType)
	for _, t := range []*Type{BoolType, NoneTypeType, EllipsisTypeType, NotImplementedTypeType, SliceType, RangeType, FunctionType, MethodType, BuiltinType, GeneratorType, CodeType, FrameType, TracebackType, CellType} {
		t.Final = true
	}
	FunctionType.HasDict, ModuleType.HasDict = true, true
	for _, t := range []*Type{MappingProxyType, GenericAliasType, UnionTypeType} {
		t.Module = "types"
	}
	FileType.Module = "_io"
	initObject()
	initType()
	initNumbers()
	initStr()
	initBytes()
	initSequences()
	initDict()
	initSets()
	initFunctions()
	initGenerator()
	initIterators()
	initMemoryView()
	initMisc()
	initExceptions()
	initFile()
	for _, t := range allTypes {
		if t.New != nil && t != ObjectType {
			if _, ok := t.Dict.GetStr("__new__"); !ok {
				addNew(t)
			}
		}
		if t.Doc == "" {
			t.Doc = builtinDocs[t.Name]
		}
		// Some types have descriptors of these names for their instances.
		if _, ok := t.Dict.GetStr("__doc__"); !ok {
			if t.Doc != "" {
				t.Dict.SetStr("__doc__", Str(t.Doc))
			} else {
				t.Dict.SetStr("__doc__", None)
			}
		}
		if _, ok := t.Dict.GetStr("__module__"); !ok {
			t.Dict.SetStr("__module__", Str(t.Module))
		}
	}
	for _, t := range allTypes {
		t.flat = map[string]Object{}
		for i := len(t.MRO) - 1; i >= 0; i-- {
			t.MRO[i].Dict.Each(func(k, v Object) bool { t.flat[string(k.(Str))] = v; return true })
		}
	}
	// What interpreters share gets its identity now.
	id := int64(0x7d0000000000)
	for _, t := range allTypes {
		t.flags = *t.hooks()
		id += 48
		t.id = id
		t.Dict.Each(func(_, v Object) bool {
			if b, ok := v.(*Builtin); ok {
				id += 48
				b.id = id
			}
			return true
		})
	}
}

var builtinDocs = map[string]string{"list": "Built-in mutable sequence.", "dict": "Built-in mapping.", "int": "Built-in integer."}

func initObject() {
	t := ObjectType
	objectNewB = addNew(t)
	objectInit = addMethod(t, "__init__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		if len(args) > 1 || len(kw) > 0 {
			c := args[0].Type()
			if c.Lookup("__init__") != objectInit {
				return nil, in.Errorf(in.Exc.TypeError, "object.__init__() takes exactly one argument (the instance to initialize)")
			}
			if c.Lookup("__new__") == objectNewB {
				return nil, in.Errorf(in.Exc.TypeError, "%s.__init__() takes exactly one argument (the instance to initialize)", c.Name)
			}
		}
		return None, nil
	})
	objectGetattribute = addMethod(t, "__getattribute__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		name, ok := AsStr(args[1])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "attribute name must be string, not '%s'", args[1].Type().Name)
		}
		v, err := in.genericGetAttr(args[0], args[0].Type(), name)
		if v == nil && err == nil {
			err = in.noAttr(args[0], name)
		}
		return v, err
	})
	objectSetattr = addMethod(t, "__setattr__", 2, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		name, _ := AsStr(args[1])
		return None, in.genericSetAttr(args[0], name, args[2])
	})
	objectDelattr = addMethod(t, "__delattr__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		name, _ := AsStr(args[1])
		return None, in.genericSetAttr(args[0], name, nil)
	})
	objectHash = addMethod(t, "__hash__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if i, ok := args[0].(*Instance); ok {
			if _, ok := i.Native.(Object); !ok {
				return MakeInt(in.ID(i) >> 4), nil
			}
		}
		if native(args[0]) {
			h, err := in.Hash(args[0])
			return MakeInt(int64(h)), err
		}
		return MakeInt(in.ID(args[0]) >> 4), nil
	})
	addMethod(t, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		s, err := in.defaultRepr(args[0])
		return Str(s), err
	})
	addMethod(t, "__str__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		s, err := in.Repr(args[0])
		return Str(s), err
	})
	addMethod(t, "__format__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		spec, _ := AsStr(args[1])
		if spec != "" {
			return nil, in.Errorf(in.Exc.TypeError, "unsupported format string passed to %s.__format__", args[0].Type().Name)
		}
		s, err := in.Str(args[0])
		return Str(s), err
	})
	addMethod(t, "__eq__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if Is(args[0], args[1]) {
			return True, nil
		}
		return NotImplemented, nil
	})
	addMethod(t, "__ne__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		f := args[0].Type().Lookup("__eq__")
		if f == nil || f == None {
			return NotImplemented, nil
		}
		v, err := in.callSpecial(f, args[0], args[1])
		if err != nil || v == NotImplemented {
			return v, err
		}
		b, err := in.Truth(v)
		return MakeBool(!b), err
	})
	for _, n := range []string{"__lt__", "__le__", "__gt__", "__ge__"} {
		addMethod(t, n, 1, 1, func(*Interp, []Object, []KwArg) (Object, error) { return NotImplemented, nil })
	}
	addMethod(t, "__dir__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return in.dir(args[0]) })
	addMethod(t, "__sizeof__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return MakeInt(56), nil })
	reduce := func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return in.reduceObject(args[0])
	}
	addMethod(t, "__reduce__", 0, 0, reduce)
	addMethod(t, "__reduce_ex__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if f := args[0].Type().Lookup("__reduce__"); f != ObjectType.Lookup("__reduce__") {
			return in.callSpecial(f, args[0])
		}
		return in.reduceObject(args[0])
	})
	addMethod(t, "__getstate__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if i, ok := args[0].(*Instance); ok {
			return instanceState(i), nil
		}
		return None, nil
	})
	addClass(t, "__init_subclass__", func(in *Interp, args []Object, kw []KwArg) (Object, error) { return None, nil })
	addClass(t, "__subclasshook__", func(in *Interp, args []Object, kw []KwArg) (Object, error) { return NotImplemented, nil })
	addGetSet(t, "__class__", func(in *Interp, self Object) (Object, error) { return self.Type(), nil }, func(in *Interp, self, v Object) error {
		c, ok := v.(*Type)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "__class__ must be set to a class, not '%s' object", v.Type().Name)
		}
		switch x := self.(type) {
		case *Instance:
			x.Class = c
			return nil
		case *Exception:
			x.Class = c
			return nil
		case *Module:
			x.class = c
			return nil
		}
		return in.Errorf(in.Exc.TypeError, "__class__ assignment only supported for mutable types or ModuleType subclasses")
	})
}

// reduceObject gives (copyreg-like reconstructor, args, state) as copy and pickle use it.
func (in *Interp) reduceObject(o Object) (Object, error) {
	i, ok := o.(*Instance)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "cannot pickle '%s' object", o.Type().Name)
	}
	newf, err := in.GetAttr(i.Class, "__new__")
	if err != nil {
		return nil, err
	}
	args := NewTuple(i.Class)
	if v, ok := i.Native.(Object); ok {
		switch v.(type) {
		case *List, *Dict, *Set:
		default:
			args = NewTuple(i.Class, v)
		}
	}
	state := instanceState(i)
	if f := i.Class.Lookup("__getstate__"); f != ObjectType.Lookup("__getstate__") {
		if state, err = in.callSpecial(f, o); err != nil {
			return nil, err
		}
	}
	return NewTuple(newf, args, state), nil
}

// instanceState is what object.__getstate__ gives: the attributes, and with slots a pair of both.
func instanceState(i *Instance) Object {
	var state Object = None
	if i.Dict != nil {
		state = i.Dict
	}
	if i.Class.NumSlots > 0 {
		sl := NewDict()
		for _, c := range i.Class.MRO {
			c.Dict.Each(func(_, v Object) bool {
				if m, ok := v.(*Member); ok && m.Index < len(i.Slots) && i.Slots[m.Index] != nil {
					sl.SetStr(m.Name, i.Slots[m.Index])
				}
				return true
			})
		}
		state = NewTuple(state, sl)
	}
	return state
}

func initType() {
	t := TypeType
	t.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(args) == 1 && len(kw) == 0 && cls == TypeType {
			return args[0].Type(), nil
		}
		if len(args) != 3 {
			return nil, in.Errorf(in.Exc.TypeError, "type() takes 1 or 3 arguments")
		}
		name, ok := AsStr(args[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "type.__new__() argument 1 must be str, not %s", args[0].Type().Name)
		}
		bases, ok := AsTuple(args[1])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "type.__new__() argument 2 must be tuple, not %s", args[1].Type().Name)
		}
		ns, ok := AsDict(args[2])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "type.__new__() argument 3 must be dict, not %s", args[2].Type().Name)
		}
		return in.typeNew(cls, name, bases.Items, ns, kw)
	}
	addMethod(t, "__init__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) { return None, nil })
	typeCall = addMethod(t, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		return in.instantiate(args[0].(*Type), slices.Clone(args[1:]), kw)
	})
	typeInstanceCheck = addMethod(t, "__instancecheck__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return MakeBool(args[1].Type().IsSubtype(args[0].(*Type))), nil
	})
	typeSubclassCheck = addMethod(t, "__subclasscheck__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		c, ok := args[1].(*Type)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "issubclass() arg 1 must be a class")
		}
		return MakeBool(c.IsSubtype(args[0].(*Type))), nil
	})
	addMethod(t, "mro", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		l := &List{}
		for _, b := range args[0].(*Type).MRO {
			l.Items = append(l.Items, b)
		}
		return l, nil
	})
	addMethod(t, "__subclasses__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		l := &List{}
		for _, b := range in.subclasses[args[0].(*Type)] {
			l.Items = append(l.Items, b)
		}
		return l, nil
	})
	addMethod(t, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return Str("<class '" + args[0].(*Type).FullName() + "'>"), nil
	})
	addMethod(t, "__or__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return makeUnion(args[0], args[1]), nil })
	addMethod(t, "__ror__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return makeUnion(args[1], args[0]), nil })
	addClass(t, "__prepare__", func(in *Interp, args []Object, kw []KwArg) (Object, error) { return NewDict(), nil })
	str := func(name string, get func(t *Type) string, set func(t *Type, s string)) {
		addGetSet(t, name, func(in *Interp, self Object) (Object, error) { return Str(get(self.(*Type))), nil }, func(in *Interp, self, v Object) error {
			s, ok := AsStr(v)
			c := self.(*Type)
			if !ok || !c.Heap {
				return in.Errorf(in.Exc.TypeError, "cannot set '%s' attribute of type '%s'", name, c.Name)
			}
			set(c, s)
			return nil
		})
	}
	str("__name__", func(t *Type) string { return t.Name }, func(t *Type, s string) { t.Name = s })
	str("__qualname__", func(t *Type) string { return t.Qualname }, func(t *Type, s string) { t.Qualname = s })
	addGetSet(t, "__module__", func(in *Interp, self Object) (Object, error) {
		if v, ok := self.(*Type).Dict.GetStr("__module__"); ok {
			if _, isDescr := v.(*GetSet); !isDescr {
				return v, nil
			}
		}
		return Str(self.(*Type).Module), nil
	}, func(in *Interp, self, v Object) error {
		c := self.(*Type)
		if s, ok := AsStr(v); ok {
			c.Module = s
		}
		c.SetAttr("__module__", v)
		return nil
	})
	addGetSet(t, "__mro__", func(in *Interp, self Object) (Object, error) {
		var items []Object
		for _, b := range self.(*Type).MRO {
			items = append(items, b)
		}
		return NewTuple(items...), nil
	}, nil)
	addGetSet(t, "__bases__", func(in *Interp, self Object) (Object, error) {
		var items []Object
		for _, b := range self.(*Type).Bases {
			items = append(items, b)
		}
		return NewTuple(items...), nil
	}, nil)
	addGetSet(t, "__base__", func(in *Interp, self Object) (Object, error) {
		if b := self.(*Type).Bases; len(b) > 0 {
			return b[0], nil
		}
		return None, nil
	}, nil)
	addGetSet(t, "__dict__", func(in *Interp, self Object) (Object, error) { return &MappingProxy{self.(*Type).Dict}, nil }, nil)
	addGetSet(t, "__flags__", func(in *Interp, self Object) (Object, error) {
		n := int64(0)
		if self.(*Type).Heap {
			n |= 1 << 9
		}
		return MakeInt(n), nil
	}, nil)
	addGetSet(t, "__annotations__", func(in *Interp, self Object) (Object, error) {
		c := self.(*Type)
		if v, ok := c.Dict.GetStr("__annotations__"); ok {
			return v, nil
		}
		if !c.Heap {
			return nil, in.noAttr(c, "__annotations__")
		}
		d := NewDict()
		c.Dict.SetStr("__annotations__", d)
		return d, nil
	}, func(in *Interp, self, v Object) error {
		self.(*Type).Dict.SetStr("__annotations__", v)
		return nil
	})
	addGetSet(t, "__doc__", func(in *Interp, self Object) (Object, error) {
		if v, ok := self.(*Type).Dict.GetStr("__doc__"); ok {
			if _, isDescr := v.(*GetSet); !isDescr {
				return v, nil
			}
		}
		return None, nil
	}, func(in *Interp, self, v Object) error { self.(*Type).SetAttr("__doc__", v); return nil })
	addGetSet(t, "__abstractmethods__", func(in *Interp, self Object) (Object, error) {
		if v, ok := self.(*Type).Dict.GetStr("__abstractmethods__"); ok {
			return v, nil
		}
		return nil, in.noAttr(self, "__abstractmethods__")
	}, func(in *Interp, self, v Object) error { self.(*Type).SetAttr("__abstractmethods__", v); return nil })
	addGetSet(t, "__text_signature__", func(in *Interp, self Object) (Object, error) { return None, nil }, nil)
}

func makeUnion(a, b Object) Object {
	var items []Object
	add := func(o Object) {
		if u, ok := o.(*UnionType); ok {
			items = append(items, u.Args.Items...)
			return
		}
		if o == None {
			o = NoneTypeType
		}
		items = append(items, o)
	}
	switch b.(type) {
	case *Type, *UnionType, *GenericAlias, *NoneType, *Instance:
	default:
		return NotImplemented
	}
	add(a)
	add(b)
	var out []Object
	for _, it := range items {
		dup := false
		for _, o := range out {
			dup = dup || Is(o, it)
		}
		if !dup {
			out = append(out, it)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	return &UnionType{NewTuple(out...)}
}

// dir is dir(o) for an object.
func (in *Interp) dir(o Object) (Object, error) {
	names := map[string]bool{}
	addDict := func(d *Dict) {
		d.Each(func(k, _ Object) bool {
			if s, ok := k.(Str); ok {
				names[string(s)] = true
			}
			return true
		})
	}
	if hd, ok := o.(HasDict); ok {
		addDict(hd.AttrDict(false))
	}
	if m, ok := o.(*Module); ok {
		addDict(m.Dict)
	} else {
		t := o.Type()
		if c, ok := o.(*Type); ok {
			t = c
		}
		for _, b := range t.MRO {
			addDict(b.Dict)
		}
	}
	l := &List{}
	for _, n := range sortedKeys(names) {
		l.Items = append(l.Items, Str(n))
	}
	return l, nil
}

func initFunctions() {
	t := FunctionType
	fn := func(o Object) *Function { return o.(*Function) }
	addMethod(t, "__get__", 1, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if args[1] == None {
			return args[0], nil
		}
		return &BoundMethod{args[0], args[1]}, nil
	})
	addMethod(t, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		return in.Call(args[0], slices.Clone(args[1:]), kw)
	})
	addMethod(t, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return Str("<function " + fn(args[0]).Qualname + " at " + in.addr(args[0]) + ">"), nil
	})
	set := func(name string, get func(in *Interp, f *Function) Object, put func(in *Interp, f *Function, v Object) error) {
		var s func(in *Interp, self, v Object) error
		if put != nil {
			s = func(in *Interp, self, v Object) error { return put(in, fn(self), v) }
		}
		addGetSet(t, name, func(in *Interp, self Object) (Object, error) { return get(in, fn(self)), nil }, s)
	}
	name := func(p func(f *Function) *string) (func(in *Interp, f *Function) Object, func(in *Interp, f *Function, v Object) error) {
		return func(_ *Interp, f *Function) Object { return Str(*p(f)) }, func(in *Interp, f *Function, v Object) error {
			s, ok := AsStr(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "__name__ must be set to a string object")
			}
			*p(f) = s
			return nil
		}
	}
	g, s := name(func(f *Function) *string { return &f.Name })
	set("__name__", g, s)
	g, s = name(func(f *Function) *string { return &f.Qualname })
	set("__qualname__", g, s)
	set("__module__", func(_ *Interp, f *Function) Object { return orNone(f.Module) }, func(_ *Interp, f *Function, v Object) error { f.Module = v; return nil })
	set("__doc__", func(_ *Interp, f *Function) Object { return orNone(f.Doc) }, func(_ *Interp, f *Function, v Object) error { f.Doc = v; return nil })
	set("__globals__", func(_ *Interp, f *Function) Object { return f.Globals }, nil)
	set("__builtins__", func(_ *Interp, f *Function) Object { return f.Builtins }, nil)
	set("__dict__", func(_ *Interp, f *Function) Object { return f.AttrDict(true) }, func(in *Interp, f *Function, v Object) error {
		d, ok := v.(*Dict)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "__dict__ must be set to a dictionary, not a '%s'", v.Type().Name)
		}
		f.Dict = d
		return nil
	})
	set("__code__", func(_ *Interp, f *Function) Object { return f.Code }, func(in *Interp, f *Function, v Object) error {
		c, ok := v.(*Code)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "__code__ must be set to a code object")
		}
		f.Code = c
		return nil
	})
	set("__defaults__", func(_ *Interp, f *Function) Object {
		if len(f.Defaults) == 0 {
			return None
		}
		return NewTuple(f.Defaults...)
	}, func(in *Interp, f *Function, v Object) error {
		if v == None || v == nil {
			f.Defaults = nil
			return nil
		}
		tp, ok := AsTuple(v)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "__defaults__ must be set to a tuple object")
		}
		f.Defaults = tp.Items
		return nil
	})
	set("__kwdefaults__", func(_ *Interp, f *Function) Object {
		if f.KwDefaults == nil {
			return None
		}
		return f.KwDefaults
	}, func(in *Interp, f *Function, v Object) error { f.KwDefaults, _ = v.(*Dict); return nil })
	set("__closure__", func(_ *Interp, f *Function) Object {
		if len(f.Closure) == 0 {
			return None
		}
		var items []Object
		for _, c := range f.Closure {
			items = append(items, c)
		}
		return NewTuple(items...)
	}, nil)
	set("__annotations__", func(in *Interp, f *Function) Object { return f.Annotations() }, func(in *Interp, f *Function, v Object) error { f.Annots = v; return nil })
	FunctionType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("function", args, kw, "code, globals, name=None, argdefs=None, closure=None")
		if err != nil {
			return nil, err
		}
		c, ok := a[0].(*Code)
		g, ok2 := AsDict(a[1])
		if !ok || !ok2 {
			return nil, in.Errorf(in.Exc.TypeError, "function() argument 'code' must be code, not %s", a[0].Type().Name)
		}
		f := &Function{Code: c, Globals: g, Builtins: in.builtinsOf(g), Name: c.Name, Qualname: c.QualName, Doc: None, Module: None}
		if s, ok := AsStr(a[2]); ok {
			f.Name, f.Qualname = s, s
		}
		if m, ok := g.GetStr("__name__"); ok {
			f.Module = m
		}
		if tp, ok := a[3].(*Tuple); ok {
			f.Defaults = tp.Items
		}
		if tp, ok := a[4].(*Tuple); ok {
			for _, x := range tp.Items {
				cell, ok := x.(*Cell)
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "arg 5 (closure) expected cell, found %s", x.Type().Name)
				}
				f.Closure = append(f.Closure, cell)
			}
		}
		if len(f.Closure) != len(c.FreeVars) {
			return nil, in.Errorf(in.Exc.ValueError, "%s requires closure of length %d, not %d", c.Name, len(c.FreeVars), len(f.Closure))
		}
		return f, nil
	}

	m := MethodType
	m.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(args) != 2 {
			return nil, in.Errorf(in.Exc.TypeError, "method expected 2 arguments, got %d", len(args))
		}
		return &BoundMethod{args[0], args[1]}, nil
	}
	addGetSet(m, "__func__", func(in *Interp, o Object) (Object, error) { return o.(*BoundMethod).Func, nil }, nil)
	addGetSet(m, "__self__", func(in *Interp, o Object) (Object, error) { return o.(*BoundMethod).Self, nil }, nil)
	for _, n := range []string{"__name__", "__qualname__", "__doc__", "__module__", "__code__", "__defaults__", "__kwdefaults__", "__globals__", "__closure__", "__annotations__", "__wrapped__"} {
		addGetSet(m, n, func(in *Interp, o Object) (Object, error) { return in.GetAttr(o.(*BoundMethod).Func, n) }, nil)
	}
	addMethod(m, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		return in.Call(args[0], slices.Clone(args[1:]), kw)
	})
	addMethod(m, "__eq__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		x, ok1 := args[0].(*BoundMethod)
		y, ok2 := args[1].(*BoundMethod)
		if !ok1 || !ok2 {
			return NotImplemented, nil
		}
		return MakeBool(Is(x.Func, y.Func) && Is(x.Self, y.Self)), nil
	})
	addMethod(m, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b := args[0].(*BoundMethod)
		if f, ok := b.Func.(*Builtin); ok {
			return Str("<built-in method " + f.Name + " of " + b.Self.Type().Name + " object at " + in.addr(b.Self) + ">"), nil
		}
		q := "?"
		if v, _ := in.GetAttrOpt(b.Func, "__qualname__"); v != nil {
			q, _ = AsStr(v)
		}
		r, err := in.Repr(b.Self)
		return Str("<bound method " + q + " of " + r + ">"), err
	})
	addMethod(m, "__getattribute__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b := args[0].(*BoundMethod)
		name, _ := AsStr(args[1])
		v, err := in.genericGetAttr(b, MethodType, name)
		if v == nil && err == nil {
			if v, err = in.lookupAttr(b.Func, name); v == nil && err == nil {
				err = in.noAttr(b, name)
			}
		}
		return v, err
	})
	for _, bt := range []*Type{BuiltinType, MethodDescrType} {
		bi := func(o Object) *Builtin { return o.(*Builtin) }
		addGetSet(bt, "__name__", func(in *Interp, o Object) (Object, error) { return Str(bi(o).Name), nil }, func(in *Interp, o, v Object) error {
			bi(o).Name, _ = AsStr(v)
			return nil
		})
		addGetSet(bt, "__qualname__", func(in *Interp, o Object) (Object, error) {
			if b := bi(o); b.Owner != nil {
				return Str(b.Owner.Name + "." + b.Name), nil
			}
			return Str(bi(o).Name), nil
		}, func(in *Interp, o, v Object) error { return nil })
		addGetSet(bt, "__module__", func(in *Interp, o Object) (Object, error) {
			if bi(o).Module == "" {
				return None, nil
			}
			return Str(bi(o).Module), nil
		}, func(in *Interp, o, v Object) error { bi(o).Module, _ = AsStr(v); return nil })
		addGetSet(bt, "__doc__", func(in *Interp, o Object) (Object, error) {
			if bi(o).Doc == "" {
				return None, nil
			}
			return Str(bi(o).Doc), nil
		}, func(in *Interp, o, v Object) error { bi(o).Doc, _ = AsStr(v); return nil })
		addGetSet(bt, "__self__", func(in *Interp, o Object) (Object, error) { return orNone(bi(o).Self), nil }, nil)
		addGetSet(bt, "__text_signature__", func(in *Interp, o Object) (Object, error) { return None, nil }, nil)
		addMethod(bt, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			return in.Call(args[0], slices.Clone(args[1:]), kw)
		})
		addMethod(bt, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			b := bi(args[0])
			if b.Method {
				return Str("<method '" + b.Name + "' of '" + b.Owner.Name + "' objects>"), nil
			}
			return Str("<built-in function " + b.Name + ">"), nil
		})
	}
	addGetSet(MethodDescrType, "__objclass__", func(in *Interp, o Object) (Object, error) { return o.(*Builtin).Owner, nil }, nil)
	addMethod(MethodDescrType, "__get__", 1, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if args[1] == None {
			return args[0], nil
		}
		return &BoundMethod{args[0], args[1]}, nil
	})
	initCodeFrame()
}

func orNone(o Object) Object {
	if o == nil {
		return None
	}
	return o
}

// Annotations gives the function's __annotations__ dict.
func (f *Function) Annotations() *Dict {
	switch a := f.Annots.(type) {
	case *Dict:
		return a
	case *Tuple:
		d := NewDict()
		for i := 0; i+1 < len(a.Items); i += 2 {
			d.SetStr(string(a.Items[i].(Str)), a.Items[i+1])
		}
		f.Annots = d
		return d
	}
	d := NewDict()
	f.Annots = d
	return d
}

func initCodeFrame() {
	strs := func(ss []string) Object {
		items := make([]Object, len(ss))
		for i, s := range ss {
			items[i] = Str(s)
		}
		return NewTuple(items...)
	}
	c := func(name string, get func(c *Code) Object) {
		addGetSet(CodeType, name, func(in *Interp, o Object) (Object, error) { return get(o.(*Code)), nil }, nil)
	}
	c("co_name", func(c *Code) Object { return Str(c.Name) })
	c("co_qualname", func(c *Code) Object { return Str(c.QualName) })
	c("co_filename", func(c *Code) Object { return Str(c.Filename) })
	c("co_firstlineno", func(c *Code) Object { return MakeInt(int64(c.FirstLine)) })
	c("co_argcount", func(c *Code) Object { return MakeInt(int64(c.ArgCount)) })
	c("co_posonlyargcount", func(c *Code) Object { return MakeInt(int64(c.PosOnly)) })
	c("co_kwonlyargcount", func(c *Code) Object { return MakeInt(int64(c.KwOnly)) })
	c("co_nlocals", func(c *Code) Object { return MakeInt(int64(len(c.VarNames))) })
	c("co_stacksize", func(c *Code) Object { return MakeInt(int64(c.StackSize)) })
	c("co_flags", func(c *Code) Object { return MakeInt(int64(c.Flags)) })
	c("co_consts", func(c *Code) Object { return NewTuple(c.Consts...) })
	c("co_names", func(c *Code) Object { return strs(c.Names) })
	c("co_varnames", func(c *Code) Object { return strs(c.VarNames) })
	c("co_cellvars", func(c *Code) Object { return strs(c.CellVars) })
	c("co_freevars", func(c *Code) Object { return strs(c.FreeVars) })
	c("co_code", func(c *Code) Object {
		b := make([]byte, 0, 2*len(c.Instrs))
		for _, i := range c.Instrs {
			b = append(b, byte(i.Op), byte(i.Arg))
		}
		return Bytes(b)
	})
	addMethod(CodeType, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		k := args[0].(*Code)
		return Str("<code object " + k.Name + " at " + in.addr(k) + ", file \"" + k.Filename + "\", line " + itoa(k.FirstLine) + ">"), nil
	})
	f := func(name string, get func(in *Interp, f *Frame) Object) {
		addGetSet(FrameType, name, func(in *Interp, o Object) (Object, error) { return get(in, o.(*Frame)), nil }, nil)
	}
	f("f_code", func(_ *Interp, f *Frame) Object { return f.Code })
	f("f_globals", func(_ *Interp, f *Frame) Object { return f.Globals })
	f("f_builtins", func(_ *Interp, f *Frame) Object { return f.Builtins })
	f("f_locals", func(_ *Interp, f *Frame) Object { return f.LocalsDict() })
	f("f_lineno", func(_ *Interp, f *Frame) Object { return MakeInt(int64(f.Line())) })
	f("f_lasti", func(_ *Interp, f *Frame) Object { return MakeInt(int64(f.PC) * 2) })
	f("f_back", func(_ *Interp, f *Frame) Object {
		if f.Back == nil {
			return None
		}
		f.Back.Retain()
		return f.Back
	})
	tb := func(name string, get func(in *Interp, t *Traceback) Object, set func(in *Interp, self, v Object) error) {
		addGetSet(TracebackType, name, func(in *Interp, o Object) (Object, error) { return get(in, o.(*Traceback)), nil }, set)
	}
	tb("tb_frame", func(in *Interp, t *Traceback) Object { return t.Frame(in) }, nil)
	tb("tb_lineno", func(in *Interp, t *Traceback) Object { return MakeInt(int64(t.Line())) }, nil)
	tb("tb_lasti", func(in *Interp, t *Traceback) Object { return MakeInt(int64(t.PC) * 2) }, nil)
	tb("tb_next", func(in *Interp, t *Traceback) Object {
		if t.Next == nil {
			return None
		}
		return t.Next
	}, func(in *Interp, self, v Object) error { self.(*Traceback).Next, _ = v.(*Traceback); return nil })
	addGetSet(CellType, "cell_contents", func(in *Interp, o Object) (Object, error) {
		if v := o.(*Cell).V; v != nil {
			return v, nil
		}
		return nil, in.Errorf(in.Exc.ValueError, "Cell is empty")
	}, func(in *Interp, o, v Object) error { o.(*Cell).V = v; return nil })
	CellType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(args) > 0 {
			return &Cell{args[0]}, nil
		}
		return &Cell{}, nil
	}
}

// Frame gives the entry's frame; one that has been given back is stood in for by a copy without locals.
func (t *Traceback) Frame(in *Interp) *Frame {
	if t.frame == nil {
		t.frame = &Frame{Func: &Function{Code: t.Code, Globals: t.Globals, Name: t.Code.Name}, Code: t.Code, Globals: t.Globals, Builtins: in.Builtins.Dict,
			LocalsPlus: make([]Object, t.Code.nslots), PC: t.PC, heap: true}
		if t.Code.Name == "<module>" {
			t.frame.Locals = t.Globals
		}
	}
	return t.frame
}

// ParseArgs binds arguments to a signature like "a, b=None, *args, c, **kw": a name with a default is optional and is
// None when absent unless the default is one of True, False, an integer, or a quoted string. The result has one entry per
// parameter; *args is a *Tuple and **kw a *Dict. A lone "/" or "*" separates as in Python.
func (in *Interp) ParseArgs(fname string, args []Object, kw []KwArg, sig string) ([]Object, error) {
	type param struct {
		name string
		def  Object
		kind byte // 'p' positional or keyword, 'o' positional only, 'k' keyword only, '*', 'd'
	}
	var ps []param
	kind := byte('p')
	for _, part := range strings.Split(sig, ",") {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
		case part == "/":
			for i := range ps {
				ps[i].kind = 'o'
			}
		case part == "*":
			kind = 'k'
		case strings.HasPrefix(part, "**"):
			ps = append(ps, param{part[2:], nil, 'd'})
		case strings.HasPrefix(part, "*"):
			ps = append(ps, param{part[1:], nil, '*'})
			kind = 'k'
		default:
			n, d, ok := strings.Cut(part, "=")
			p := param{name: strings.TrimSpace(n), kind: kind}
			if ok {
				p.def = parseDefault(strings.TrimSpace(d))
			}
			ps = append(ps, p)
		}
	}
	out := make([]Object, len(ps))
	used := 0
	npos, nreq := 0, 0
	for i, p := range ps {
		switch p.kind {
		case 'p', 'o':
			npos++
			if p.def == nil {
				nreq++
			}
			if used < len(args) {
				out[i] = args[used]
				used++
			}
		case '*':
			out[i] = NewTuple(slices.Clone(args[min(used, len(args)):])...)
			used = len(args)
		case 'd':
			out[i] = NewDict()
		}
	}
	if used < len(args) {
		if nreq == npos {
			pl := "s"
			if npos == 1 {
				pl = ""
			}
			return nil, in.Errorf(in.Exc.TypeError, "%s() takes %d positional argument%s but %d were given", fname, npos, pl, len(args))
		}
		return nil, in.Errorf(in.Exc.TypeError, "%s() takes from %d to %d positional arguments but %d were given", fname, nreq, npos, len(args))
	}
next:
	for _, k := range kw {
		for i, p := range ps {
			if p.name == k.Name && (p.kind == 'p' || p.kind == 'k') {
				if out[i] != nil {
					return nil, in.Errorf(in.Exc.TypeError, "%s() got multiple values for argument '%s'", fname, k.Name)
				}
				out[i] = k.Value
				continue next
			}
		}
		if len(ps) > 0 && ps[len(ps)-1].kind == 'd' {
			out[len(ps)-1].(*Dict).SetStr(k.Name, k.Value)
			continue
		}
		return nil, in.Errorf(in.Exc.TypeError, "%s() got an unexpected keyword argument '%s'", fname, k.Name)
	}
	var missing []string
	mk := "positional"
	for i, p := range ps {
		if out[i] == nil {
			if p.def == nil {
				missing = append(missing, p.name)
				if p.kind == 'k' {
					mk = "keyword-only"
				}
				continue
			}
			out[i] = p.def
		}
	}
	if len(missing) > 0 {
		return nil, in.missing(&Function{Qualname: fname}, mk, missing)
	}
	return out, nil
}

func parseDefault(s string) Object {
	switch s {
	case "True":
		return True
	case "False":
		return False
	case "None", "...":
		return None
	}
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return Str(s[1 : n-1])
	}
	if v, ok := parseInt(s, 10); ok {
		return v
	}
	if f, ok := parseFloat(s); ok {
		return Float(f)
	}
	return None
}

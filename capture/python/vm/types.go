package vm

import (
	"sort"
	"strings"
)

// The built-in types. They are set up once by init and never change after.
var (
	ObjectType, TypeType, IntType, BoolType, FloatType, ComplexType, StrType, BytesType, ByteArrayType, NoneTypeType, EllipsisTypeType,
	NotImplementedTypeType, TupleType, ListType, DictType, SetType, FrozenSetType, SliceType, RangeType, CellType, FunctionType,
	MethodType, BuiltinType, MethodDescrType, WrapperDescrType, MethodWrapperType, ClassMethodDescrType, ModuleType, PropertyType, GetSetType, MemberType, ClassMethodType, StaticMethodType,
	SuperType, MappingProxyType, GenericAliasType, UnionTypeType, CodeType, FrameType, TracebackType, GeneratorType, IteratorType,
	ListIterType, TupleIterType, RangeIterType, StrIterType, SetIterType, BytesIterType, ByteArrayIterType, CallableIterType, LongRangeIterType, ListReverseIterType, MemoryIterType, DictKeyIterType, DictValueIterType,
	DictItemIterType, DictReverseKeyIterType, DictReverseValueIterType, DictReverseItemIterType, strWideIterType, genericAliasIterType, DictKeysType, DictValuesType, DictItemsType, EnumerateType, ZipType, MapType, FilterType, ReversedType, MemoryViewType,
	CoroutineType, coroutineWrapperType, AsyncGeneratorType, asyncSendType, asyncThrowType, wrappedValueType, anextDefaultType *Type
)

var (
	typeCall, typeInstanceCheck, typeSubclassCheck Object
	allTypes                                       []*Type
)

// newBuiltinType makes a type of the interpreter's own. init gathers its attributes, inherited ones too, in flat; from then on it is
// immutable, and all interpreters share it.
func newBuiltinType(name string, base *Type) *Type {
	t := &Type{Name: name, Qualname: name, Module: "builtins", Dict: NewDict()}
	if base != nil {
		t.Bases = []*Type{base}
		t.MRO = append([]*Type{t}, base.MRO...)
		if base != ObjectType { // its instances are of one Go type, and those of what derives from object are not
			t.New = base.New
		}
		t.HasDict = base.HasDict
	} else {
		t.MRO = []*Type{t}
	}
	allTypes = append(allTypes, t)
	return t
}

// addMethod adds a method of lo to hi positional arguments besides self, and no keywords; with hi -1 any number, and keywords.
func addMethod(t *Type, name string, lo, hi int, fn GoFunc) Object {
	b := &Builtin{Name: name, Fn: fn, Method: true, Owner: t, Min: lo, Max: hi, NoKw: hi >= 0, shared: true, strict: true}
	t.Dict.SetStr(name, b)
	return b
}

// addGet adds __get__, which is of an instance or of a class.
func addGet(t *Type, get GoFunc) Object {
	return addMethod(t, "__get__", 1, 2, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		if args[1] == None && (len(args) < 3 || args[2] == None) {
			return nil, in.Errorf(in.Exc.TypeError, "__get__(None, None) is invalid")
		}
		return get(in, args, kw)
	})
}

// addKw adds a method that takes keywords.
func addKw(t *Type, name string, fn GoFunc) {
	t.Dict.SetStr(name, &Builtin{Name: name, Fn: fn, Method: true, Owner: t, Max: -1, shared: true, strict: true})
}

// addClass adds a class method.
func addClass(t *Type, name string, fn GoFunc) {
	t.Dict.SetStr(name, newClassMethod(t, name, "", fn, nil))
}

// classArity is how few and how many arguments besides the class some class methods take.
var classArity = map[string][2]int{"__class_getitem__": {1, 1}, "__subclasshook__": {1, 1}, "__getformat__": {1, 1}, "fromhex": {1, 1}, "from_iterable": {1, 1}}

// newClassMethod is a class method in Go. arity goes before classArity.
func newClassMethod(t *Type, name, doc string, fn GoFunc, arity map[string][2]int) *ClassMethod {
	b := &Builtin{Name: name, Fn: fn, Owner: t, Max: -1, Doc: doc, ofClass: true}
	if a, ok := arity[name]; ok {
		b.Min, b.Max, b.NoKw = a[0], a[1], true
	} else if a, ok := classArity[name]; ok {
		b.Min, b.Max, b.NoKw = a[0], a[1], true
	}
	return &ClassMethod{Func: b}
}

// addGetSet adds a property that Go functions compute; set nil makes it read-only.
func addGetSet(t *Type, name string, get func(in *Interp, self Object) (Object, error), set func(in *Interp, self, v Object) error) {
	t.Dict.SetStr(name, &GetSet{Name: name, Get: get, Set: set, own: t, keep: true})
}

// addDeletable is addGetSet for an attribute that may be deleted: then set gets nil.
func addDeletable(t *Type, name string, get func(in *Interp, self Object) (Object, error), set func(in *Interp, self, v Object) error) {
	t.Dict.SetStr(name, &GetSet{Name: name, Get: get, Set: set, own: t})
}

// addNew puts the type's New into its dict as __new__.
func addNew(t *Type) Object {
	b := &Builtin{Name: "__new__", Owner: t, Max: -1, shared: true}
	b.Fn = func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		if len(args) == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "%s.__new__(): not enough arguments", t.errName())
		}
		cls, ok := args[0].(*Type)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "%s.__new__(X): X is not a type object (%s)", t.Name, TypeName(args[0]))
		}
		if !cls.IsSubtype(t) {
			return nil, in.Errorf(in.Exc.TypeError, "%s.__new__(%s): %s is not a subtype of %s", t.errName(), cls.errName(), cls.errName(), t.errName())
		}
		if s := cls.solid(); s != t.solid() {
			return nil, in.Errorf(in.Exc.TypeError, "%s.__new__(%s) is not safe, use %s.__new__()", t.errName(), cls.errName(), s.errName())
		}
		v, err := t.New(in, cls, args[1:], kw)
		if e, ok := v.(*Exception); ok { // it is for __init__ to judge the arguments
			return e, nil
		}
		return v, err
	}
	t.Dict.SetStr("__new__", b)
	return b
}

// objectNew is object.__new__. Arguments are an error unless the class has a __new__ or an __init__ that takes them.
func objectNew(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
	if len(args) > 0 || len(kw) > 0 {
		if n := cls.Lookup("__new__"); n != objectNewB {
			return nil, in.Errorf(in.Exc.TypeError, "object.__new__() takes exactly one argument (the type to instantiate)")
		}
		if cls.Lookup("__init__") == objectInit {
			return nil, in.Errorf(in.Exc.TypeError, "%s() takes no arguments", cls.errName())
		}
	}
	if cls.isAbstract(in) {
		return nil, cls.abstractError(in)
	}
	return NewInstance(cls, nil), nil
}

// isAbstract reports whether abstract methods are left, which abc notes in the class.
func (t *Type) isAbstract(in *Interp) bool {
	if t.Meta == nil {
		return false
	}
	a, ok := t.Dict.GetStr("__abstractmethods__")
	if !ok {
		return false
	}
	n, err := in.Len(a)
	return err == nil && n > 0
}

// abstractError is the TypeError for an instance of an abstract class.
func (t *Type) abstractError(in *Interp) error {
	a, _ := t.Dict.GetStr("__abstractmethods__")
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
	return in.Errorf(in.Exc.TypeError, "Can't instantiate abstract class %s with abstract method%s %s", t.Name, pl, strings.Join(names, ", "))
}

// NewInstance makes an instance of cls that holds native, without running __init__.
func NewInstance(cls *Type, native any) *Instance {
	var i *Instance
	switch n := cls.NumSlots; n { // few slots lie beside the instance, in one piece of memory
	case 0:
		i = &Instance{}
	case 1:
		i = slotted(func(o *withSlots[[1]Object]) []Object { return o.slots[:] })
	case 2:
		i = slotted(func(o *withSlots[[2]Object]) []Object { return o.slots[:] })
	case 3:
		i = slotted(func(o *withSlots[[3]Object]) []Object { return o.slots[:] })
	default:
		i = &Instance{Slots: make([]Object, n)}
	}
	i.Class, i.Native = cls, native
	if cls.owner != nil && cls.hooks().del {
		cls.finalizes(i)
	}
	return i
}

// withSlots is an instance with its slots behind it.
type withSlots[A any] struct {
	Instance
	slots A
}

func slotted[A any](slots func(o *withSlots[A]) []Object) *Instance {
	o := new(withSlots[A])
	o.Slots = slots(o)
	return &o.Instance
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
		{&MethodDescrType, "method_descriptor"}, {&WrapperDescrType, "wrapper_descriptor"}, {&MethodWrapperType, "method-wrapper"}, {&ClassMethodDescrType, "classmethod_descriptor"}, {&ModuleType, "module"}, {&PropertyType, "property"}, {&GetSetType, "getset_descriptor"},
		{&MemberType, "member_descriptor"}, {&ClassMethodType, "classmethod"}, {&StaticMethodType, "staticmethod"}, {&SuperType, "super"},
		{&MappingProxyType, "mappingproxy"}, {&GenericAliasType, "GenericAlias"}, {&UnionTypeType, "UnionType"}, {&CodeType, "code"},
		{&FrameType, "frame"}, {&TracebackType, "traceback"}, {&GeneratorType, "generator"}, {&IteratorType, "iterator"},
		{&ListIterType, "list_iterator"}, {&TupleIterType, "tuple_iterator"}, {&RangeIterType, "range_iterator"}, {&StrIterType, "str_ascii_iterator"},
		{&SetIterType, "set_iterator"}, {&BytesIterType, "bytes_iterator"}, {&ByteArrayIterType, "bytearray_iterator"}, {&CallableIterType, "callable_iterator"},
		{&LongRangeIterType, "longrange_iterator"}, {&ListReverseIterType, "list_reverseiterator"}, {&MemoryIterType, "memory_iterator"}, {&DictKeyIterType, "dict_keyiterator"}, {&DictValueIterType, "dict_valueiterator"},
		{&DictItemIterType, "dict_itemiterator"}, {&DictReverseKeyIterType, "dict_reversekeyiterator"}, {&DictReverseValueIterType, "dict_reversevalueiterator"},
		{&DictReverseItemIterType, "dict_reverseitemiterator"}, {&strWideIterType, "str_iterator"}, {&genericAliasIterType, "generic_alias_iterator"}, {&DictKeysType, "dict_keys"}, {&DictValuesType, "dict_values"}, {&DictItemsType, "dict_items"},
		{&EnumerateType, "enumerate"}, {&ZipType, "zip"}, {&MapType, "map"}, {&FilterType, "filter"}, {&ReversedType, "reversed"}, {&MemoryViewType, "memoryview"},
		{&CoroutineType, "coroutine"}, {&coroutineWrapperType, "coroutine_wrapper"}, {&AsyncGeneratorType, "async_generator"}, {&asyncSendType, "async_generator_asend"},
		{&asyncThrowType, "async_generator_athrow"}, {&wrappedValueType, "async_generator_wrapped_value"}, {&anextDefaultType, "anext_awaitable"},
	}
	for _, s := range simple {
		*s.p = newBuiltinType(s.name, ObjectType)
		(*s.p).New = nil
	}
	BoolType = newBuiltinType("bool", IntType)
	for _, t := range []*Type{BoolType, NoneTypeType, EllipsisTypeType, NotImplementedTypeType, SliceType, RangeType, FunctionType, MethodType, BuiltinType, GeneratorType, CodeType, FrameType, TracebackType, CellType,
		IteratorType, ListIterType, TupleIterType, RangeIterType, StrIterType, strWideIterType, SetIterType, BytesIterType, ByteArrayIterType, CallableIterType, LongRangeIterType, ListReverseIterType, MemoryIterType, genericAliasIterType,
		DictKeyIterType, DictValueIterType, DictItemIterType, DictReverseKeyIterType, DictReverseValueIterType, DictReverseItemIterType, DictKeysType, DictValuesType, DictItemsType,
		CoroutineType, coroutineWrapperType, AsyncGeneratorType, asyncSendType, asyncThrowType, wrappedValueType, anextDefaultType} {
		t.Final = true
	}
	for _, t := range []*Type{FunctionType, ModuleType, ClassMethodType, StaticMethodType} {
		t.HasDict = true
	}
	for _, t := range []*Type{SetType, FrozenSetType, FunctionType, BuiltinType, MethodType, GeneratorType, CoroutineType, AsyncGeneratorType, CodeType, TypeType, ModuleType,
		MemoryViewType, GenericAliasType} {
		t.HasWeak = true
	}
	for _, t := range []*Type{GenericAliasType, UnionTypeType} {
		t.Module = "types"
	}
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
	initCoroutine()
	initAsyncGen()
	initIterators()
	initMemoryView()
	initMisc()
	initCollections()
	initExceptions()
	initReduce()
	addOwnSlots()
	markDescriptors()
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
	}
	for _, t := range allTypes {
		t.flat = map[string]Object{}
		for i := len(t.MRO) - 1; i >= 0; i-- {
			t.MRO[i].Dict.Each(func(k, v Object) bool { t.flat[string(k.(Str))] = v; return true })
		}
		t.makes, t.inits = t.flat["__new__"], t.flat["__init__"]
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

// addSetters adds __setattr__ and __delattr__, which object and type have each of their own: object's do not reach what a class holds.
func addSetters(t *Type) (set, del Object) {
	add := func(name string, args int) Object {
		return addMethod(t, name, args, args, func(in *Interp, a []Object, _ []KwArg) (Object, error) {
			if _, ok := a[0].(*Type); ok && t == ObjectType {
				return nil, in.Errorf(in.Exc.TypeError, "can't apply this %s to %s object", name, TypeName(a[0]))
			}
			attr, ok := AsStr(a[1])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "attribute name must be string, not '%s'", TypeName(a[1]))
			}
			var v Object
			if len(a) > 2 {
				v = a[2]
			}
			return None, in.genericSetAttr(a[0], attr, v)
		})
	}
	return add("__setattr__", 2), add("__delattr__", 1)
}

// initObject gives object its methods, which all classes inherit.
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
			return nil, in.Errorf(in.Exc.TypeError, "attribute name must be string, not '%s'", TypeName(args[1]))
		}
		v, err := in.genericGetAttr(args[0], args[0].Type(), name)
		if v == nil && err == nil {
			err = in.noAttr(args[0], name)
		}
		return v, err
	})
	objectSetattr, objectDelattr = addSetters(t)
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
		if t := args[0].Type(); t.Heap { // what its __repr__ gives is judged as what __str__ gave
			return in.callSpecial(t.Lookup("__repr__"), args[0])
		}
		s, err := in.Repr(args[0])
		return Str(s), err
	})
	addMethod(t, "__format__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		spec, ok := AsStr(args[1])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "__format__() argument must be str, not %s", ArgName(args[1]))
		}
		if spec != "" {
			return nil, in.Errorf(in.Exc.TypeError, "unsupported format string passed to %s.__format__", TypeName(args[0]))
		}
		return in.str(args[0])
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
	addMethod(t, "__dir__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return dirOf(in, args[0]) })
	addMethod(t, "__sizeof__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return MakeInt(56), nil })
	addMethod(t, "__reduce__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return reduceOld(in, args[0], 0) })
	addMethod(t, "__reduce_ex__", 1, 1, reduceEx)
	addMethod(t, "__getstate__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if i, ok := args[0].(*Instance); ok {
			return instanceState(i), nil
		}
		return None, nil
	})
	addClass(t, "__init_subclass__", func(in *Interp, args []Object, kw []KwArg) (Object, error) { return None, nil })
	addClass(t, "__subclasshook__", func(in *Interp, args []Object, kw []KwArg) (Object, error) { return NotImplemented, nil })
	addGetSet(t, "__class__", func(in *Interp, self Object) (Object, error) { return self.Type(), nil }, setClass)
	objectClass, _ = t.Dict.GetStr("__class__")
}

package vm

import "strings"

// addOwnSlots puts into the dicts of built-in types the methods of object that CPython lists there, too, as their types fill the slot: the
// method is object's, which knows all types. A type has then the names in its __dict__ that programs look for.
func addOwnSlots() {
	const order = " __lt__ __le__ __gt__ __ge__"
	rows := []struct {
		names string
		types []*Type
	}{
		{"__setattr__ __delattr__", []*Type{TypeType, FrameType, excTypes.BaseException}},
		{"__dir__", []*Type{TypeType, GenericAliasType, TracebackType}},
		{"__sizeof__", []*Type{TypeType, FrameType, CodeType, DictType, ByteArrayType, FrozenSetType, SetType, AsyncGeneratorType, CoroutineType, GeneratorType,
			IntType, ListType, StrType}},
		{"__reduce__", []*Type{GenericAliasType, BuiltinType, SliceType, RangeType, DictKeyIterType, EllipsisTypeType, NotImplementedTypeType, EnumerateType,
			FilterType, ListIterType, MapType, RangeIterType, ReversedType, SetIterType, StrIterType, TupleIterType, ZipType, ByteArrayType, FrozenSetType, SetType}},
		{"__reduce_ex__", []*Type{ByteArrayType}},
		{"__format__", []*Type{ComplexType}},
		{"__str__", []*Type{MappingProxyType, ByteArrayType, BytesType}},
		{"__eq__ __hash__ __ne__" + order, []*Type{BuiltinType, CodeType}},
		{"__ne__" + order, []*Type{GenericAliasType, UnionTypeType, MappingProxyType, MemoryViewType, SliceType}},
		{order, []*Type{ComplexType, RangeType, DictType}},
		{"__getattribute__", []*Type{TypeType, excTypes.BaseException, FrameType, GenericAliasType, TracebackType, BuiltinType, CodeType, ComplexType, UnionTypeType,
			MappingProxyType, MemoryViewType, SliceType, RangeType, DictType, DictValuesType, FloatType, PropertyType, SuperType, TupleType, DictItemsType,
			DictKeysType, DictKeyIterType, EllipsisTypeType, EnumerateType, FilterType, ListIterType, MapType, RangeIterType, ReversedType, SetIterType,
			StrIterType, TupleIterType, ZipType, ByteArrayType, FrozenSetType, SetType, AsyncGeneratorType, CoroutineType, GeneratorType, IntType, ListType,
			StrType, BytesType}},
	}
	for _, r := range rows {
		for _, n := range strings.Fields(r.names) {
			m, _ := ObjectType.Dict.GetStr(n)
			for _, t := range r.types {
				if _, ok := t.Dict.GetStr(n); !ok {
					t.Dict.SetStr(n, m)
				}
			}
		}
	}
}

// initDescriptorNames gives the descriptors of attributes their own: the class that they are of, and where that makes them found.
func initDescriptorNames() {
	owner := func(o Object) (*Type, string) {
		switch d := o.(type) {
		case *GetSet:
			return d.own, d.Name
		case *Member:
			return d.Own, d.Name
		}
		return nil, ""
	}
	for _, t := range []*Type{GetSetType, MemberType} {
		addGetSet(t, "__objclass__", func(in *Interp, o Object) (Object, error) {
			if own, _ := owner(o); own != nil {
				return own, nil
			}
			return ObjectType, nil
		}, nil)
		addGetSet(t, "__qualname__", func(in *Interp, o Object) (Object, error) {
			own, name := owner(o)
			if own != nil {
				name = own.Qualname + "." + name
			}
			return Str(name), nil
		}, nil)
	}
}

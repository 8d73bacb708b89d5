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
		{"__setattr__ __delattr__", []*Type{FrameType, excTypes.BaseException}},
		{"__dir__", []*Type{TypeType, GenericAliasType, TracebackType}},
		{"__sizeof__", []*Type{TypeType, FrameType, CodeType, DictType, ByteArrayType, FrozenSetType, SetType, AsyncGeneratorType, CoroutineType, GeneratorType,
			IntType, ListType, StrType}},
		{"__reduce__", []*Type{GenericAliasType, BuiltinType, SliceType, RangeType, DictKeyIterType, EllipsisTypeType, NotImplementedTypeType, EnumerateType,
			FilterType, ListIterType, MapType, RangeIterType, ReversedType, SetIterType, StrIterType, TupleIterType, ZipType, ByteArrayType, FrozenSetType, SetType}},
		{"__format__", []*Type{ComplexType}},
		{"__str__", []*Type{MappingProxyType, ByteArrayType, BytesType}},
		{"__eq__ __hash__ __ne__" + order, []*Type{BuiltinType, CodeType}},
		{"__ne__" + order, []*Type{GenericAliasType, UnionTypeType, MappingProxyType, MemoryViewType, SliceType}},
		{order, []*Type{ComplexType, RangeType, DictType}},
		{"__getattribute__", []*Type{TypeType, excTypes.BaseException, FrameType, GenericAliasType, TracebackType, BuiltinType, CodeType, ComplexType, UnionTypeType,
			MappingProxyType, MemoryViewType, SliceType, RangeType, DictType, DictValuesType, FloatType, PropertyType, SuperType, TupleType, DictItemsType,
			DictKeysType, DictKeyIterType, DictValueIterType, DictItemIterType, IteratorType, CallableIterType, LongRangeIterType,
			ListReverseIterType, MemoryIterType, strWideIterType, BytesIterType, ByteArrayIterType, EllipsisTypeType, EnumerateType, FilterType, ListIterType, MapType, RangeIterType, ReversedType, SetIterType,
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

// slotNames are the special methods that CPython keeps in slots of a type in C. What a type has there is a wrapper_descriptor in its dict, and
// a method-wrapper when it is bound. Other special methods (__reduce__, __dir__, __format__) are methods as any.
var slotNames = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields("repr hash call str getattribute getattr setattr delattr lt le eq ne gt ge iter next get set delete init del await aiter anext " +
		"add radd sub rsub mul rmul mod rmod divmod rdivmod pow rpow neg pos abs bool invert lshift rlshift rshift rrshift and rand xor rxor or ror int float index " +
		"iadd isub imul imod ipow ilshift irshift iand ixor ior floordiv rfloordiv truediv rtruediv ifloordiv itruediv matmul rmatmul imatmul len getitem setitem delitem contains") {
		m["__"+n+"__"] = true
	}
	return m
}()

// inSlot reports whether a method of t is one that CPython keeps in a slot. Some types of the interpreter have a faster method beside it.
func inSlot(t *Type, name string) bool {
	switch name {
	case "__getitem__":
		return t != ListType && t != DictType
	case "__contains__":
		return t != DictType && t != SetType && t != FrozenSetType
	}
	return slotNames[name]
}

// markDescriptors says of the attributes of the interpreter's own types how CPython has them: methods in slots, and values of the struct in C,
// which are member_descriptor.
func markDescriptors() {
	for _, t := range allTypes {
		t.Dict.Each(func(k, v Object) bool {
			if b, ok := v.(*Builtin); ok && b.Owner == t && b.Method {
				b.slot = inSlot(t, b.Name)
			}
			return true
		})
	}
	x := &excTypes
	rows := []struct {
		names string
		types []*Type
	}{
		{"__closure__ __doc__ __globals__ __module__ __builtins__", []*Type{FunctionType}},
		{"__func__ __self__", []*Type{MethodType}},
		{"__module__", []*Type{BuiltinType}},
		{"__objclass__", []*Type{MethodDescrType, WrapperDescrType, MethodWrapperType, GetSetType, MemberType}},
		{"__name__", []*Type{MethodDescrType, WrapperDescrType, GetSetType, MemberType}},
		{"real imag", []*Type{ComplexType}},
		{"start stop step", []*Type{SliceType, RangeType}},
		{"fget fset fdel __doc__", []*Type{PropertyType}},
		{"__thisclass__ __self__ __self_class__", []*Type{SuperType}},
		{"__func__ __wrapped__", []*Type{ClassMethodType, StaticMethodType}},
		{"__origin__ __args__", []*Type{GenericAliasType}},
		{"__args__", []*Type{UnionTypeType}},
		{"__dict__", []*Type{ModuleType}},
		{"__basicsize__ __itemsize__ __flags__ __weakrefoffset__ __base__ __dictoffset__ __mro__", []*Type{TypeType}},
		{"tb_frame tb_lasti", []*Type{TracebackType}},
		{"f_trace_lines f_trace_opcodes", []*Type{FrameType}},
		{"co_argcount co_posonlyargcount co_kwonlyargcount co_stacksize co_flags co_names co_filename co_name co_qualname co_firstlineno co_linetable co_exceptiontable co_consts",
			[]*Type{CodeType}},
		{"__suppress_context__", []*Type{x.BaseException}},
		{"code", []*Type{x.SystemExit}},
		{"value", []*Type{x.StopIteration}},
		{"msg name path", []*Type{x.ImportError}},
		{"name", []*Type{x.NameError}},
		{"name obj", []*Type{x.AttributeError}},
		{"errno strerror filename filename2", []*Type{x.OSError}},
		{"msg filename lineno offset text end_lineno end_offset print_file_and_line", []*Type{x.SyntaxError}},
		{"message exceptions", []*Type{x.BaseExceptionGroup}},
		{"encoding object start end reason", []*Type{x.UnicodeDecodeError, x.UnicodeEncodeError}},
		{"object start end reason", []*Type{x.UnicodeTranslateError}},
	}
	for _, r := range rows {
		for _, t := range r.types {
			for _, n := range strings.Fields(r.names) {
				if g, ok := t.own(n).(*GetSet); ok {
					g.member = true
				}
			}
		}
	}
}

package pyctypes

import (
	"bytes"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// lib is the module's state.
type lib struct {
	in *vm.Interp

	cdata, simple, array, pointer, structure, union, function               *vm.Type
	metaSimple, metaArray, metaPointer, metaStruct, metaUnion, metaFunction *vm.Type
	field, param, argError                                                  *vm.Type

	pointers *vm.Dict // _pointer_type_cache
	arrays   map[arrayKey]*vm.Type
	code     []function

	memory  []known // by their beginnings
	living  int     // of memory, when it was last looked through
	longest uint64
	errno   int64
}

func (c *lib) id(o vm.Object) uint64 { return uint64(c.in.ID(o)) }

// Module makes _ctypes.
func Module(in *vm.Interp) (*vm.Module, error) {
	c := &lib{in: in, pointers: vm.NewDict(), arrays: map[arrayKey]*vm.Type{}}
	m := in.NewModule("_ctypes", "Create and manipulate C compatible data types in Python.")
	made, err := in.Call(vm.TypeType, []vm.Object{vm.Str("ArgumentError"), vm.NewTuple(in.Exc.Exception), vm.NewDict()}, nil)
	if err != nil {
		return nil, err
	}
	c.argError = made.(*vm.Type)
	c.argError.SetAttr("__module__", vm.Str("ctypes"))
	c.argError.Module = "ctypes"
	c.field, c.param = c.fieldType(), c.paramType()
	c.cdata = in.NewNativeType(vm.Spec{Name: "_CData", Module: "_ctypes", NoDict: true, New: vm.Uncreatable, Methods: c.dataMethods(), GetSet: dataFacts()})
	meta := func(name string, make vm.NewFunc, more map[string]vm.GoFunc) *vm.Type {
		methods := c.metaMethods()
		for n, f := range more {
			methods[n] = f
		}
		return in.NewNativeType(vm.Spec{Name: name, Module: "_ctypes", Bases: []*vm.Type{vm.TypeType}, New: make, Methods: methods})
	}
	c.metaSimple = meta("PyCSimpleType", c.newSimple, nil)
	c.metaArray = meta("PyCArrayType", c.newArray, nil)
	c.metaPointer = meta("PyCPointerType", c.newPointer, map[string]vm.GoFunc{"set_type": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(args) != 2 {
			return nil, in.Errorf(in.Exc.TypeError, "set_type() takes exactly one argument (%d given)", len(args)-1)
		}
		if err := c.pointTo(layoutOf(args[0]), args[1]); err != nil {
			return nil, err
		}
		args[0].(*vm.Type).SetAttr("_type_", args[1])
		return vm.None, nil
	}})
	setattr := map[string]vm.GoFunc{"__setattr__": c.setClassAttr}
	c.metaStruct = meta("PyCStructType", c.newRecord, setattr)
	c.metaUnion = meta("UnionType", c.newRecord, setattr)
	c.metaFunction = meta("PyCFuncPtrType", c.newFunction, nil)
	c.simple, c.array, c.pointer, c.function = c.simpleType(), c.arrayType(), c.pointerType(), c.functionType()
	c.structure, c.union = c.recordType("Structure", c.metaStruct), c.recordType("Union", c.metaUnion)
	for n, v := range map[string]vm.Object{
		"_SimpleCData": c.simple, "Array": c.array, "_Pointer": c.pointer, "CFuncPtr": c.function, "Structure": c.structure, "Union": c.union, "ArgumentError": c.argError,
		"_pointer_type_cache": c.pointers, "__version__": vm.Str("1.1.0"), "RTLD_LOCAL": vm.MakeInt(0), "RTLD_GLOBAL": vm.MakeInt(256), "CTYPES_MAX_ARGCOUNT": vm.MakeInt(1024),
		"FUNCFLAG_CDECL": vm.MakeInt(1), "FUNCFLAG_PYTHONAPI": vm.MakeInt(4), "FUNCFLAG_USE_ERRNO": vm.MakeInt(8), "FUNCFLAG_USE_LASTERROR": vm.MakeInt(16),
	} {
		m.Set(n, v)
	}
	own := c.ownFunctions()
	for _, n := range []string{"_memmove_addr", "_memset_addr", "_string_at_addr", "_wstring_at_addr", "_cast_addr"} {
		m.Set(n, vm.MakeInt(int64(c.addCode(own[n]))))
	}
	c.functions(m)
	return m, nil
}

// newClass makes a class of a metaclass. Its layout is that of its base, or nil if it is to be made. A nil class goes with an error, or with a
// metaclass that is called with the one argument of type().
func (c *lib) newClass(meta *vm.Type, args []vm.Object, kw []vm.KwArg) (*vm.Type, *layout, error) {
	made, err := vm.TypeType.New(c.in, meta, args, kw)
	if err != nil {
		return nil, nil, err
	}
	cls := made.(*vm.Type)
	l := inherit(cls)
	if l != nil {
		cls.Native = l
	}
	return cls, l, nil
}

// newData is __new__ of the classes that make memory of zeros.
func (c *lib) newData(_ *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	d, err := c.create(cls)
	if err != nil {
		return nil, err
	}
	return d.self, nil
}

// setClassAttr is how a class of records hears of its fields after it was made.
func (c *lib) setClassAttr(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if len(args) == 3 {
		if name, _ := vm.AsStr(args[1]); name == "_fields_" {
			l := layoutOf(args[0])
			if l == nil {
				return nil, in.Errorf(in.Exc.TypeError, "abstract class")
			}
			if l.final {
				return nil, in.Errorf(in.Exc.AttributeError, "_fields_ is final")
			}
			args[0].(*vm.Type).SetAttr("_fields_", args[2])
			return vm.None, c.setFields(l, args[2])
		}
	}
	return in.Call(vm.TypeType.Lookup("__setattr__"), args, kw)
}

// classOf is the class that a method of a metaclass was called on.
func (c *lib) classOf(call *clinic.Call) (*vm.Type, *layout, error) {
	l := layoutOf(call.Self)
	if l == nil {
		return nil, nil, call.Errorf(call.Exc.TypeError, "abstract class")
	}
	return l.class, l, nil
}

// metaMethods are what every class of ctypes can be asked.
func (c *lib) metaMethods() map[string]vm.GoFunc {
	times := func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		l := layoutOf(args[0])
		if l == nil {
			return nil, in.Errorf(in.Exc.TypeError, "Expected a type object")
		}
		if !hasIndex(args[1]) {
			return nil, in.Errorf(in.Exc.TypeError, "can't multiply sequence by non-int of type '%s'", args[1].Type().Name)
		}
		n, err := in.Index(args[1])
		if err != nil {
			return nil, err
		}
		return c.times(l, n)
	}
	return map[string]vm.GoFunc{
		"__mul__": times, "__rmul__": times,
		"from_param": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if len(args) != 2 {
				return nil, in.Errorf(in.Exc.TypeError, "from_param() takes exactly one argument (%d given)", len(args)-1)
			}
			return c.fromParam(args[0].(*vm.Type), args[1])
		},
		"from_address": clinic.Method("from_address", "address:obj, /", func(call *clinic.Call) (vm.Object, error) {
			_, l, err := c.classOf(call)
			if err != nil {
				return nil, err
			}
			if _, ok := vm.AsBig(call.Args[0]); !ok {
				return nil, call.Errorf(call.Exc.TypeError, "integer expected")
			}
			mem, owner, err := c.piece(intAddress(call.Args[0]), l.size)
			if err != nil {
				return nil, err
			}
			d := c.over(l, mem)
			d.awaits = owner
			return d.self, nil
		}),
		"from_buffer": clinic.Method("from_buffer", "obj, offset:int=0, /", func(call *clinic.Call) (vm.Object, error) {
			_, l, err := c.classOf(call)
			if err != nil {
				return nil, err
			}
			view, err := call.MemoryView(call.Args[0])
			if err != nil {
				return nil, err
			}
			if view.ReadOnly() {
				return nil, call.Errorf(call.Exc.TypeError, "underlying buffer is not writable")
			}
			raw, ok := view.Raw()
			if !ok {
				return nil, call.Errorf(call.Exc.TypeError, "underlying buffer is not C contiguous")
			}
			b, _ := vm.AsBytes(raw)
			mem, err := c.within(b, l, call.Int(1))
			if err != nil {
				return nil, err
			}
			d := c.over(l, mem)
			d.buffer = view
			if l.kind == simpleKind {
				d.objects = view
			} else {
				d.objectsDict().SetStr("ffffffff", view)
			}
			if src := dataOf(call.Args[0]); src != nil {
				d.awaits = src.root
			}
			return d.self, nil
		}),
		"from_buffer_copy": clinic.Method("from_buffer_copy", "buffer:bytes, offset:int=0, /", func(call *clinic.Call) (vm.Object, error) {
			_, l, err := c.classOf(call)
			if err != nil {
				return nil, err
			}
			mem, err := c.within(call.Bytes(0), l, call.Int(1))
			if err != nil {
				return nil, err
			}
			return c.over(l, append(make([]byte, 0, max(l.size, 1)), mem...)).self, nil
		}),
		"in_dll": clinic.Method("in_dll", "library:obj, name:str, /", func(call *clinic.Call) (vm.Object, error) {
			return nil, c.undefined(call.Args[0], call.Args[1], call.Exc.ValueError)
		}),
	}
}

// within is the part of a buffer that an instance takes.
func (c *lib) within(b []byte, l *layout, offset int64) ([]byte, error) {
	if offset < 0 {
		return nil, c.in.Errorf(c.in.Exc.ValueError, "offset cannot be negative")
	}
	if int64(l.size) > int64(len(b))-offset {
		return nil, c.in.Errorf(c.in.Exc.ValueError, "Buffer size too small (%d instead of at least %d bytes)", len(b), int64(l.size)+offset)
	}
	return b[offset : offset+int64(l.size) : offset+int64(l.size)], nil
}

// dataMethods are what every instance can do.
func (c *lib) dataMethods() map[string]vm.GoFunc {
	return map[string]vm.GoFunc{
		"__hash__": func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "unhashable type")
		},
		"__ctypes_from_outparam__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) { return args[0], nil },
		"__reduce__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			d := dataOf(args[0])
			if d.layout.pointers {
				return nil, in.Errorf(in.Exc.ValueError, "ctypes objects containing pointers cannot be pickled")
			}
			dict, err := in.GetAttrOpt(args[0], "__dict__")
			if err != nil {
				return nil, err
			}
			m, err := in.Import("_ctypes")
			if err != nil {
				return nil, err
			}
			again, err := in.GetAttr(m, "_unpickle")
			if err != nil {
				return nil, err
			}
			if dict == nil {
				dict = vm.NewDict()
			}
			return vm.NewTuple(again, vm.NewTuple(d.Type(), vm.NewTuple(dict, vm.Bytes(bytes.Clone(d.mem))))), nil
		},
		"__setstate__": clinic.Method("__setstate__", "dict:obj, data:bytes, /", func(call *clinic.Call) (vm.Object, error) {
			copy(dataOf(call.Self).mem, call.Bytes(1))
			own, err := call.GetAttr(call.Self, "__dict__")
			if err != nil {
				return nil, err
			}
			if _, ok := vm.AsDict(own); !ok {
				return nil, call.Errorf(call.Exc.TypeError, "%s.__dict__ must be a dictionary, not %s", call.Self.Type().Name, own.Type().Name)
			}
			return call.CallMethod(own, "update", call.Args[0])
		}),
	}
}

// dataFacts are the attributes that show what keeps what alive.
func dataFacts() []*vm.GetSet {
	fact := func(name string, get func(d *data) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return get(dataOf(o)), nil }}
	}
	return []*vm.GetSet{
		fact("_objects", func(d *data) vm.Object { return orNone(d.objects) }),
		fact("_b_base_", func(d *data) vm.Object {
			if d.base == nil {
				return vm.None
			}
			return d.base.self
		}),
		fact("_b_needsfree_", func(d *data) vm.Object {
			if d.root == d && d.awaits == nil && d.buffer == nil {
				return vm.MakeInt(1)
			}
			return vm.MakeInt(0)
		}),
	}
}

// sizes gives what sizeof or alignment says.
func (c *lib) sizes(o vm.Object, otherwise string, get func(l *layout, d *data) int) (vm.Object, error) {
	d := dataOf(o)
	l := layoutOf(o)
	if d != nil {
		l = d.layout
	}
	if l == nil {
		return nil, c.in.Errorf(c.in.Exc.TypeError, "%s", otherwise)
	}
	return vm.MakeInt(int64(get(l, d))), nil
}

// functions adds the module's functions.
func (c *lib) functions(m *vm.Module) {
	clinic.Def(m, "sizeof", "obj, /", func(call *clinic.Call) (vm.Object, error) {
		return c.sizes(call.Args[0], "this type has no size", func(l *layout, d *data) int {
			if d != nil {
				return len(d.mem)
			}
			return l.size
		})
	})
	clinic.Def(m, "alignment", "obj, /", func(call *clinic.Call) (vm.Object, error) {
		return c.sizes(call.Args[0], "no alignment info", func(l *layout, _ *data) int { return l.align })
	})
	clinic.Def(m, "addressof", "obj, /", func(call *clinic.Call) (vm.Object, error) {
		d := dataOf(call.Args[0])
		if d == nil {
			return nil, call.Errorf(call.Exc.TypeError, "invalid type")
		}
		return c.pointerParam('P', c.address(d), nil).value, nil
	})
	clinic.Def(m, "byref", "obj, offset:int=0, /", func(call *clinic.Call) (vm.Object, error) { return c.byref(call.Args[0], call.Int(1)) })
	clinic.Def(m, "POINTER", "type:obj, /", func(call *clinic.Call) (vm.Object, error) { return c.pointerTo(call.Args[0]) })
	clinic.Def(m, "pointer", "obj, /", func(call *clinic.Call) (vm.Object, error) {
		if dataOf(call.Args[0]) == nil {
			return nil, call.Errorf(call.Exc.TypeError, "_type_ must have storage info")
		}
		t, err := c.pointerTo(call.Args[0].Type())
		if err != nil {
			return nil, err
		}
		return call.Call(t, []vm.Object{call.Args[0]}, nil)
	})
	clinic.Def(m, "resize", "obj, size:int, /", func(call *clinic.Call) (vm.Object, error) {
		d := dataOf(call.Args[0])
		if d == nil {
			return nil, call.Errorf(call.Exc.TypeError, "excepted ctypes instance")
		}
		n := int(call.Int(1))
		if n < d.layout.size {
			return nil, call.Errorf(call.Exc.ValueError, "minimum size is %d", d.layout.size)
		}
		if d.root != d || d.awaits != nil || d.buffer != nil {
			return nil, call.Errorf(call.Exc.ValueError, "Memory cannot be resized because this object doesn't own it")
		}
		mem := make([]byte, n)
		copy(mem, d.mem)
		d.mem = mem
		return vm.None, nil
	})
	clinic.Def(m, "_unpickle", "type:obj, state:obj, /", func(call *clinic.Call) (vm.Object, error) {
		o, err := call.CallMethod(call.Args[0], "__new__", call.Args[0])
		if err != nil {
			return nil, err
		}
		t, ok := vm.AsTuple(call.Args[1])
		if !ok {
			return nil, call.Errorf(call.Exc.TypeError, "state must be a tuple")
		}
		_, err = call.CallMethod(o, "__setstate__", t.Items...)
		return o, err
	})
	clinic.Def(m, "get_errno", "", func(*clinic.Call) (vm.Object, error) { return vm.MakeInt(c.errno), nil })
	clinic.Def(m, "set_errno", "value:int, /", func(call *clinic.Call) (vm.Object, error) {
		old := c.errno
		c.errno = call.Int(0)
		return vm.MakeInt(old), nil
	})
	clinic.Def(m, "buffer_info", "obj, /", func(call *clinic.Call) (vm.Object, error) {
		l := layoutOf(call.Args[0])
		if d := dataOf(call.Args[0]); d != nil {
			l = d.layout
		}
		if l == nil {
			return nil, call.Errorf(call.Exc.TypeError, "not a ctypes type or object")
		}
		var shape []vm.Object
		for ; l.kind == arrayKind; l = l.item {
			shape = append(shape, vm.MakeInt(int64(l.length)))
		}
		format := "B"
		if letter := l.letter(); letter != 0 {
			format = "<" + string(letter)
			if l.swapped {
				format = ">" + string(letter)
			}
		}
		return vm.NewTuple(vm.Str(format), vm.MakeInt(int64(len(shape))), vm.NewTuple(shape...)), nil
	})
	clinic.Def(m, "dlopen", "name:obj, flag:int=2, /", func(call *clinic.Call) (vm.Object, error) {
		if call.None(0) {
			return vm.MakeInt(1), nil // this program itself, which shows no symbols
		}
		s, err := call.CallMethod(call.Args[0], "__str__")
		if err != nil {
			return nil, err
		}
		name, _ := vm.AsStr(s)
		return nil, call.Errorf(call.Exc.OSError, "%s: cannot open shared object file: foreign code cannot be loaded here", name)
	})
	clinic.Def(m, "dlclose", "handle:int, /", func(*clinic.Call) (vm.Object, error) { return vm.None, nil })
	clinic.Def(m, "dlsym", "handle:int, name:str, /", func(call *clinic.Call) (vm.Object, error) {
		return nil, call.Errorf(call.Exc.OSError, "undefined symbol: %s", call.Str(1))
	})
}

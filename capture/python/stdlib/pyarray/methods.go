package pyarray

import (
	"slices"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// method is a method of array: c.Self is what it was called on, a the array that this is or holds.
type method func(c *clinic.Call, a *Array) (vm.Object, error)

// Module makes array.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("array", "This module defines an object type which can efficiently represent\nan array of basic values: characters, integers, floating point\nnumbers.")
	t := &types{}
	t.makeIter(in)
	maker := clinic.Def(m, "_array_reconstructor", "arraytype, typecode:obj, mformat_code:int, items, /", func(c *clinic.Call) (vm.Object, error) {
		if s, ok := vm.AsStr(c.Args[1]); !ok || len(s) != 1 {
			return nil, c.Errorf(c.Exc.TypeError, "_array_reconstructor() argument 2 must be a unicode character, not %s", vm.ArgName(c.Args[1]))
		}
		return t.reconstructor(c)
	})
	t.makeArray(in, maker)
	m.Set("array", t.array)
	m.Set("ArrayType", t.array)
	m.Set("typecodes", vm.Str(typecodes))
	abc, err := in.Import("collections.abc")
	if err != nil {
		return nil, err
	}
	sequence, err := in.GetAttr(abc, "MutableSequence")
	if err != nil {
		return nil, err
	}
	_, err = in.CallMethod(sequence, "register", t.array)
	return m, err
}

// code is the type code that an argument is; 0 if it is none.
func code(o vm.Object) byte {
	if s, ok := vm.AsStr(o); ok && len(s) == 1 {
		return s[0]
	}
	return 0
}

// newArray is array.__new__.
func (t *types) newArray(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if cls == t.array && len(kw) > 0 {
		return nil, in.Errorf(in.Exc.TypeError, "array.array() takes no keyword arguments")
	}
	switch n := len(args); {
	case n == 0:
		return nil, in.Errorf(in.Exc.TypeError, "array() takes at least 1 argument (0 given)")
	case n > 2:
		return nil, in.Errorf(in.Exc.TypeError, "array() takes at most 2 arguments (%d given)", n)
	}
	if s, ok := vm.AsStr(args[0]); !ok || runes(s) != 1 {
		return nil, in.Errorf(in.Exc.TypeError, "array() argument 1 must be a unicode character, not %s", vm.ArgName(args[0]))
	}
	k := kindOf(code(args[0]))
	if len(args) == 2 {
		if err := mixed(in, args[1], str(args[0])); err != nil {
			return nil, err
		}
	}
	if k == nil {
		return nil, in.Errorf(in.Exc.ValueError, "bad typecode (must be b, B, u, h, H, i, I, l, L, q, Q, f or d)")
	}
	a := &Array{types: t, kind: k}
	if len(args) == 1 {
		return wrap(cls, a), nil
	}
	return wrap(cls, a), a.fill(in, args[1])
}

// mixed is the error of characters for an array of numbers.
func mixed(in *vm.Interp, o vm.Object, code string) error {
	if code == "u" {
		return nil
	}
	if _, ok := vm.AsStr(o); ok {
		return in.Errorf(in.Exc.TypeError, "cannot use a str to initialize an array with typecode '%s'", code)
	}
	if b, ok := arrayOf(o); ok && b.kind.class == text {
		return in.Errorf(in.Exc.TypeError, "cannot use a unicode array to initialize an array with typecode '%s'", code)
	}
	return nil
}

// fill adds what an array is made of.
func (a *Array) fill(in *vm.Interp, o vm.Object) error {
	if s, ok := vm.AsStr(o); ok {
		return a.addText(in, s)
	}
	if b, ok := arrayOf(o); ok && b.kind == a.kind {
		return a.addBytes(in, b.data)
	}
	if t := o.Type(); t.IsSubtype(vm.BytesType) || t.IsSubtype(vm.ByteArrayType) {
		p, _ := vm.AsBytes(o)
		return a.addBytes(in, p)
	}
	it, err := in.Iter(o)
	if err != nil {
		return err
	}
	for {
		v, err := in.Next(it)
		if v == nil || err != nil {
			return err
		}
		if err := a.insert(in, a.Len(), v); err != nil {
			return err
		}
	}
}

// makeArray makes the class.
func (t *types) makeArray(in *vm.Interp, maker vm.Object) {
	s := vm.Spec{Name: "array", Module: "array", Collection: vm.Sequence, NoDict: true, Strict: true, New: t.newArray, Methods: map[string]vm.GoFunc{},
		Doc: "array(typecode [, initializer]) -> array",
		GetSet: []*vm.GetSet{
			{Name: "typecode", Doc: "the typecode character used to create the array", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
				a, _ := arrayOf(o)
				return vm.Str(string(a.kind.code)), nil
			}},
			{Name: "itemsize", Doc: "the size, in bytes, of one array item", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
				a, _ := arrayOf(o)
				return vm.MakeInt(int64(a.kind.size)), nil
			}},
		}}
	def := func(name, params string, f method) {
		s.Methods[name] = clinic.Method(name, params, func(c *clinic.Call) (vm.Object, error) {
			a, _ := arrayOf(c.Self)
			return f(c, a)
		})
	}
	itemMethods(def)
	searchMethods(def)
	bytesMethods(def)
	operators(def)
	wholeMethods(t, def, maker)
	t.array = in.NewNativeType(s)
}

// itemMethods put items in and take them out.
func itemMethods(def func(name, params string, f method)) {
	def("append", "v, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		return vm.None, a.insert(c.Interp, a.Len(), c.Args[0])
	})
	def("insert", "i:int, v, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		i := c.Int(0)
		if i < 0 {
			i = max(0, i+int64(a.Len()))
		}
		return vm.None, a.insert(c.Interp, int(min(i, int64(a.Len()))), c.Args[1])
	})
	def("pop", "i:int=-1, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		n := int64(a.Len())
		if n == 0 {
			return nil, c.Errorf(c.Exc.IndexError, "pop from empty array")
		}
		i := c.Int(0)
		if i < 0 {
			i += n
		}
		if i < 0 || i >= n {
			return nil, c.Errorf(c.Exc.IndexError, "pop index out of range")
		}
		v, err := a.ItemAt(c.Interp, int(i))
		if err != nil {
			return nil, err
		}
		return v, a.remove(c.Interp, int(i), int(i)+1)
	})
	def("extend", "bb, /", func(c *clinic.Call, a *Array) (vm.Object, error) { return vm.None, a.extend(c.Interp, c.Args[0]) })
	def("fromlist", "list, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		l, ok := vm.AsList(c.Args[0])
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "arg must be list")
		}
		var p []byte
		for i, n := 0, len(l.Items); i < n; i++ {
			b, err := a.value(c.Interp, l.Items[i])
			if err != nil {
				return nil, err
			}
			if len(l.Items) != n {
				return nil, c.Errorf(c.Exc.RuntimeError, "list changed size during iteration")
			}
			p = append(p, b...)
		}
		return vm.None, a.addBytes(c.Interp, p)
	})
	def("tolist", "", func(c *clinic.Call, a *Array) (vm.Object, error) {
		items, err := a.items(c.Interp)
		return vm.NewList(items...), err
	})
	def("reverse", "", func(_ *clinic.Call, a *Array) (vm.Object, error) {
		for i, j := 0, a.Len()-1; i < j; i, j = i+1, j-1 {
			for k := range a.kind.size {
				p, q := a.at(i), a.at(j)
				p[k], q[k] = q[k], p[k]
			}
		}
		return vm.None, nil
	})
	def("byteswap", "", func(_ *clinic.Call, a *Array) (vm.Object, error) {
		for i := range a.Len() {
			slices.Reverse(a.at(i))
		}
		return vm.None, nil
	})
}

// searchMethods look for items.
func searchMethods(def func(name, params string, f method)) {
	def("remove", "v, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		i, err := a.find(c.Interp, c.Args[0], 0, a.Len())
		if err != nil {
			return nil, err
		}
		if i < 0 {
			return nil, c.Errorf(c.Exc.ValueError, "array.remove(x): x not in array")
		}
		return vm.None, a.remove(c.Interp, i, i+1)
	})
	def("count", "v, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		n := 0
		for i := 0; i < a.Len(); i++ {
			at, err := a.find(c.Interp, c.Args[0], i, i+1)
			if err != nil {
				return nil, err
			}
			if at >= 0 {
				n++
			}
		}
		return vm.MakeInt(int64(n)), nil
	})
	def("index", "v, start=0, stop=9223372036854775807, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		var bound [2]int
		for i, o := range c.Args[1:] {
			if o.Type().Lookup("__index__") == nil {
				return nil, c.Errorf(c.Exc.TypeError, "slice indices must be integers or have an __index__ method")
			}
			_, stop, _, _, err := (&vm.Slice{Start: vm.MakeInt(0), Stop: o, Step: vm.None}).Indices(c.Interp, a.Len())
			if err != nil {
				return nil, err
			}
			bound[i] = stop
		}
		i, err := a.find(c.Interp, c.Args[0], bound[0], bound[1])
		if err != nil {
			return nil, err
		}
		if i < 0 {
			return nil, c.Errorf(c.Exc.ValueError, "array.index(x): x not in array")
		}
		return vm.MakeInt(int64(i)), nil
	})
	def("__contains__", "v, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		i, err := a.find(c.Interp, c.Args[0], 0, a.Len())
		return vm.MakeBool(i >= 0), err
	})
}

// bytesMethods are about the memory and about text.
func bytesMethods(def func(name, params string, f method)) {
	def("tobytes", "", func(_ *clinic.Call, a *Array) (vm.Object, error) { return vm.Bytes(a.data), nil })
	def("frombytes", "buffer:bytes, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		if b, ok := arrayOf(c.Args[0]); ok && b.kind.size != 1 {
			return nil, c.Errorf(c.Exc.TypeError, "a bytes-like object is required")
		}
		return vm.None, a.addBytes(c.Interp, slices.Clone(c.Bytes(0)))
	})
	def("tofile", "f, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		for part := range slices.Chunk(a.data, blockSize) {
			if _, err := c.CallMethod(c.Args[0], "write", vm.Bytes(part)); err != nil {
				return nil, err
			}
		}
		return vm.None, nil
	})
	def("fromfile", "f, n:int, /", fromFile)
	def("tounicode", "", func(c *clinic.Call, a *Array) (vm.Object, error) {
		if a.kind.class != text {
			return nil, c.Errorf(c.Exc.ValueError, "tounicode() may only be called on unicode type arrays")
		}
		s, err := a.text(c.Interp)
		return vm.Str(s), err
	})
	def("fromunicode", "ustr, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		s, ok := vm.AsStr(c.Args[0])
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "fromunicode() argument must be str, not %s", vm.ArgName(c.Args[0]))
		}
		if a.kind.class != text {
			return nil, c.Errorf(c.Exc.ValueError, "fromunicode() may only be called on unicode type arrays")
		}
		return vm.None, a.addText(c.Interp, s)
	})
	def("buffer_info", "", func(c *clinic.Call, a *Array) (vm.Object, error) {
		return vm.NewTuple(vm.MakeInt(c.ID(a)+headSize), vm.MakeInt(int64(a.Len()))), nil
	})
}

// blockSize is how much tofile writes at once, headSize what an empty array takes in CPython.
const blockSize, headSize = 64 << 10, 64

func fromFile(c *clinic.Call, a *Array) (vm.Object, error) {
	n := c.Int(1)
	if n < 0 {
		return nil, c.Errorf(c.Exc.ValueError, "negative count")
	}
	if n > mostBytes {
		return nil, c.Errorf(c.Exc.MemoryError, "")
	}
	want := n * int64(a.kind.size)
	o, err := c.CallMethod(c.Args[0], "read", vm.MakeInt(want))
	if err != nil {
		return nil, err
	}
	if !o.Type().IsSubtype(vm.BytesType) {
		return nil, c.Errorf(c.Exc.TypeError, "read() didn't return bytes")
	}
	p, _ := vm.AsBytes(o)
	if err := a.addBytes(c.Interp, p); err != nil {
		return nil, err
	}
	if int64(len(p)) != want {
		return nil, c.Errorf(c.Exc.EOFError, "read() didn't return enough bytes")
	}
	return vm.None, nil
}

// operators are the special methods of sequences.
func operators(def func(name, params string, f method)) {
	def("__len__", "", func(_ *clinic.Call, a *Array) (vm.Object, error) { return vm.MakeInt(int64(a.Len())), nil })
	def("__getitem__", "key, /", func(c *clinic.Call, a *Array) (vm.Object, error) { return a.getItem(c.Interp, c.Args[0]) })
	def("__setitem__", "key, value, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		return vm.None, a.setItem(c.Interp, c.Args[0], c.Args[1])
	})
	def("__delitem__", "key, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		return vm.None, a.setItem(c.Interp, c.Args[0], nil)
	})
	for name, op := range map[string]string{"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="} {
		def(name, "value, /", func(c *clinic.Call, a *Array) (vm.Object, error) { return a.compare(c.Interp, op, c.Args[0]) })
	}
	def("__add__", "value, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		b, ok := arrayOf(c.Args[0])
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "can only append array (not \"%s\") to array", vm.TypeName(c.Args[0]))
		}
		if b.kind != a.kind {
			return nil, c.Errorf(c.Exc.TypeError, "bad argument type for built-in operation")
		}
		out := a.like()
		out.data = slices.Concat(a.data, b.data)
		return out, nil
	})
	def("__iadd__", "value, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		if _, ok := arrayOf(c.Args[0]); !ok {
			return nil, c.Errorf(c.Exc.TypeError, "can only extend array with array (not \"%s\")", vm.TypeName(c.Args[0]))
		}
		return c.Self, a.extend(c.Interp, c.Args[0])
	})
	for _, name := range []string{"__mul__", "__rmul__", "__imul__"} {
		def(name, "value, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
			return a.times(c, name == "__imul__")
		})
	}
}

// times is the array n times, in the array itself or a new one.
func (a *Array) times(c *clinic.Call, here bool) (vm.Object, error) {
	if c.Args[0].Type().Lookup("__index__") == nil {
		return nil, c.Errorf(c.Exc.TypeError, "can't multiply sequence by non-int of type '%s'", vm.TypeName(c.Args[0]))
	}
	n, err := c.Index(c.Args[0])
	if err != nil {
		return nil, err
	}
	if here && n != 1 && len(a.data) > 0 {
		if err := a.fixed(c.Interp); err != nil {
			return nil, err
		}
	}
	p, err := a.repeat(c.Interp, n)
	if err != nil {
		return nil, err
	}
	if !here {
		out := a.like()
		out.data = p
		return out, nil
	}
	if n != 1 {
		a.data = p
	}
	return c.Self, nil
}

// wholeMethods are about an array as a whole.
func wholeMethods(t *types, def func(name, params string, f method), maker vm.Object) {
	dup := func(_ *clinic.Call, a *Array) (vm.Object, error) {
		out := a.like()
		out.data = slices.Clone(a.data)
		return out, nil
	}
	def("__copy__", "", dup)
	def("__deepcopy__", "unused, /", dup)
	def("__reduce_ex__", "value:int, /", func(c *clinic.Call, a *Array) (vm.Object, error) {
		return a.reduce(c.Interp, c.Self, c.Int(0), maker)
	})
	def("__iter__", "", func(c *clinic.Call, a *Array) (vm.Object, error) {
		return &walker{types: t, a: a, self: c.Self}, nil
	})
	def("__sizeof__", "", func(_ *clinic.Call, a *Array) (vm.Object, error) {
		return vm.MakeInt(int64(headSize + len(a.data))), nil
	})
	def("__repr__", "", func(c *clinic.Call, a *Array) (vm.Object, error) {
		head := c.Self.Type().Name + "('" + string(a.kind.code) + "'"
		if a.Len() == 0 {
			return vm.Str(head + ")"), nil
		}
		var v vm.Object
		if a.kind.class == text {
			s, err := a.text(c.Interp)
			if err != nil {
				return nil, err
			}
			v = vm.Str(s)
		} else {
			items, err := a.items(c.Interp)
			if err != nil {
				return nil, err
			}
			v = vm.NewList(items...)
		}
		s, err := c.Repr(v)
		return vm.Str(head + ", " + s + ")"), err
	})
}

func str(o vm.Object) string {
	s, _ := vm.AsStr(o)
	return s
}

// runes counts the characters of a text.
func runes(s string) (n int) {
	for range s {
		n++
	}
	return n
}

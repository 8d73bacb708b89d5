package pyctypes

import (
	"bytes"
	"fmt"
	"math"

	"whittle/capture/python/vm"
)

// newArray makes a class of arrays: _length_ of _type_.
func (c *lib) newArray(in *vm.Interp, meta *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	cls, _, err := c.newClass(meta, args, kw)
	if err != nil || cls == nil {
		return nil, err
	}
	n, err := in.GetAttrOpt(cls, "_length_")
	if err != nil {
		return nil, err
	}
	if n == nil || n == vm.None {
		return nil, in.Errorf(in.Exc.AttributeError, "class must define a '_length_' attribute")
	}
	length, ok := vm.AsBig(n)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "The '_length_' attribute must be an integer")
	}
	if length.Sign() < 0 {
		return nil, in.Errorf(in.Exc.ValueError, "The '_length_' attribute must not be negative")
	}
	if !length.IsInt64() {
		return nil, in.Errorf(in.Exc.OverflowError, "The '_length_' attribute is too large")
	}
	of, err := in.GetAttrOpt(cls, "_type_")
	if err != nil {
		return nil, err
	}
	if of == nil {
		return nil, in.Errorf(in.Exc.AttributeError, "class must define a '_type_' attribute")
	}
	item := layoutOf(of)
	if item == nil {
		return nil, in.Errorf(in.Exc.TypeError, "_type_ must have storage info")
	}
	if item.size > 0 && length.Int64() > math.MaxInt64/int64(item.size) {
		return nil, in.Errorf(in.Exc.OverflowError, "array too large")
	}
	k := int(length.Int64())
	item.final = true
	cls.Native = &layout{class: cls, kind: arrayKind, item: item, length: k, size: k * item.size, align: item.align, pointers: item.pointers}
	switch item.letter() {
	case 'c':
		cls.SetAttr("value", c.textProperty(1))
		cls.SetAttr("raw", c.rawProperty())
	case 'u':
		cls.SetAttr("value", c.textProperty(4))
	}
	return cls, nil
}

// times is the class of arrays of so many items.
func (c *lib) times(item *layout, n int64) (vm.Object, error) {
	if n < 0 {
		return nil, c.in.Errorf(c.in.Exc.ValueError, "Array length must be >= 0, not %d", n)
	}
	key := arrayKey{item, n}
	if t := c.arrays[key]; t != nil {
		return t, nil
	}
	ns := vm.NewDict()
	ns.SetStr("_length_", vm.MakeInt(n))
	ns.SetStr("_type_", item.class)
	t, err := c.in.Call(c.metaArray, []vm.Object{vm.Str(fmt.Sprintf("%s_Array_%d", item.class.Name, n)), vm.NewTuple(c.array), ns}, nil)
	if err != nil {
		return nil, err
	}
	c.arrays[key] = t.(*vm.Type)
	return t, nil
}

// arrayKey is what an array type hangs on.
type arrayKey struct {
	item *layout
	n    int64
}

// textProperty is value of an array of characters: what comes before the first zero.
func (c *lib) textProperty(width int) *vm.GetSet {
	return &vm.GetSet{Name: "value",
		Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			text := upToZero(dataOf(o).mem, width)
			if width == 4 {
				return vm.Str(narrow(text)), nil
			}
			return vm.Bytes(bytes.Clone(text)), nil
		},
		Set: func(in *vm.Interp, o, v vm.Object) error {
			mem := dataOf(o).mem
			if v == nil {
				return in.Errorf(in.Exc.TypeError, "can't delete attribute")
			}
			var text []byte
			if width == 4 {
				s, ok := vm.AsStr(v)
				if !ok {
					return in.Errorf(in.Exc.TypeError, "unicode string expected instead of %s instance", v.Type().Name)
				}
				if text = wide(s); len(text) > len(mem) {
					return in.Errorf(in.Exc.ValueError, "string too long")
				}
			} else {
				b, ok := vm.AsBytes(v)
				if !ok || !v.Type().IsSubtype(vm.BytesType) {
					return in.Errorf(in.Exc.TypeError, "bytes expected instead of %s instance", v.Type().Name)
				}
				if text = b; len(text) > len(mem) {
					return in.Errorf(in.Exc.ValueError, "byte string too long")
				}
			}
			if n := copy(mem, text); n < len(mem) {
				clear(mem[n : n+width])
			}
			return nil
		}}
}

// upToZero is text that ends with the first zero, or with its memory.
func upToZero(mem []byte, width int) []byte {
	end := 0
	for end+width <= len(mem) && load(mem[end:end+width]) != 0 {
		end += width
	}
	return mem[:end]
}

// rawProperty is raw of an array of bytes: all of it.
func (c *lib) rawProperty() *vm.GetSet {
	return &vm.GetSet{Name: "raw",
		Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return vm.Bytes(bytes.Clone(dataOf(o).mem)), nil },
		Set: func(in *vm.Interp, o, v vm.Object) error {
			if v == nil {
				return in.Errorf(in.Exc.AttributeError, "cannot delete attribute")
			}
			b, ok := vm.AsBytes(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(v))
			}
			if len(b) > len(dataOf(o).mem) {
				return in.Errorf(in.Exc.ValueError, "byte string too long")
			}
			copy(dataOf(o).mem, b)
			return nil
		}}
}

// arrayType is Array.
func (c *lib) arrayType() *vm.Type {
	return c.in.NewNativeType(vm.Spec{Name: "Array", Module: "_ctypes", Bases: []*vm.Type{c.cdata}, Meta: c.metaArray, NoDict: true, New: c.newData,
		Class: map[string]vm.GoFunc{"__class_getitem__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return in.Call(vm.GenericAliasType, args, nil)
		}},
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d := dataOf(args[0])
				for i, v := range args[1:] {
					if err := d.put(int64(i), v); err != nil {
						return nil, err
					}
				}
				return vm.None, nil
			},
			"__len__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.MakeInt(int64(dataOf(args[0]).layout.length)), nil
			},
			"__getitem__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d := dataOf(args[0])
				if s, ok := args[1].(*vm.Slice); ok {
					start, _, step, n, err := s.Indices(in, d.layout.length)
					if err != nil {
						return nil, err
					}
					return run(d.layout.item, n, func(i int) (vm.Object, error) { return d.item(int64(start + i*step)) })
				}
				i, err := c.position(d, args[1])
				if err != nil {
					return nil, err
				}
				return d.item(i)
			},
			"__setitem__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d := dataOf(args[0])
				s, ok := args[1].(*vm.Slice)
				if !ok {
					i, err := c.position(d, args[1])
					if err != nil {
						return nil, err
					}
					return vm.None, d.put(i, args[2])
				}
				start, _, step, n, err := s.Indices(in, d.layout.length)
				if err != nil {
					return nil, err
				}
				items, err := in.IterAll(args[2])
				if err != nil {
					return nil, err
				}
				if len(items) != n {
					return nil, in.Errorf(in.Exc.ValueError, "Can only assign sequence of same size")
				}
				for i, v := range items {
					if err := d.put(int64(start+i*step), v); err != nil {
						return nil, err
					}
				}
				return vm.None, nil
			},
			"__delitem__": func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return nil, in.Errorf(in.Exc.TypeError, "Array does not support item deletion")
			},
		}})
}

// position is an index, counted from the end if it is negative.
func (c *lib) position(d *data, o vm.Object) (int64, error) {
	if !hasIndex(o) {
		return 0, c.in.Errorf(c.in.Exc.TypeError, "indices must be integers")
	}
	i, err := c.in.Index(o)
	if err == nil && i < 0 {
		i += int64(d.layout.length)
	}
	return i, err
}

func hasIndex(o vm.Object) bool {
	_, number := vm.AsInt(o)
	return number || o.Type().Lookup("__index__") != nil
}

// item is an array's item.
func (d *data) item(i int64) (vm.Object, error) {
	if i < 0 || i >= int64(d.layout.length) {
		return nil, d.in().Errorf(d.in().Exc.IndexError, "invalid index")
	}
	return d.read(d.layout.item, int(i), int(i)*d.layout.item.size)
}

// put sets an array's item.
func (d *data) put(i int64, v vm.Object) error {
	if i < 0 || i >= int64(d.layout.length) {
		return d.in().Errorf(d.in().Exc.IndexError, "invalid index")
	}
	item := d.layout.item
	return d.write(item, int(i), d.mem[int(i)*item.size:][:item.size], v)
}

// run is a slice: text of characters, a list of anything else.
func run(item *layout, n int, at func(i int) (vm.Object, error)) (vm.Object, error) {
	var list []vm.Object
	var text []byte
	letter := item.letter()
	for i := range n {
		o, err := at(i)
		if err != nil {
			return nil, err
		}
		switch letter {
		case 'c':
			b, _ := vm.AsBytes(o)
			text = append(text, b...)
		case 'u':
			s, _ := vm.AsStr(o)
			text = append(text, s...)
		default:
			list = append(list, o)
		}
	}
	switch letter {
	case 'c':
		return vm.Bytes(text), nil
	case 'u':
		return vm.Str(text), nil
	}
	return vm.NewList(list...), nil
}

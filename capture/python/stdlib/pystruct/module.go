package pystruct

import (
	"slices"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// most is how many formats the module's functions keep.
const most = 100

// Module makes _struct.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_struct", "Functions to convert between Python values and C structs.\nPython bytes objects are used to hold the data representing the C struct\nand also as format strings (explained below) to describe the layout of data\nin the C struct.")
	e, err := in.MakeClass(vm.TypeType, "error", []*vm.Type{in.Exc.Exception}, vm.StrDict("__module__", vm.Str("struct")))
	if err != nil {
		return nil, err
	}
	s := &state{in, e}
	class, iter := s.classes()
	m.Set("error", e)
	m.Set("Struct", class)
	c := &cache{state: s, kept: map[string]*layout{}}
	c.functions(m, iter)
	return m, nil
}

// cache keeps layouts by their formats.
type cache struct {
	*state
	kept map[string]*layout
}

func (c *cache) layout(format vm.Object) (*layout, error) {
	key, ok := vm.AsStr(format)
	if ok {
		if l := c.kept[key]; l != nil {
			return l, nil
		}
	}
	l, err := c.readFormat(format)
	if err != nil || !ok {
		return l, err
	}
	if len(c.kept) >= most {
		clear(c.kept)
	}
	c.kept[key] = l
	return l, nil
}

// functions adds the module's functions.
func (c *cache) functions(m *vm.Module, iter *vm.Type) {
	clinic.Def(m, "_clearcache", "", func(*clinic.Call) (vm.Object, error) {
		clear(c.kept)
		return vm.None, nil
	})
	clinic.Def(m, "calcsize", "format, /", func(call *clinic.Call) (vm.Object, error) {
		l, err := c.layout(call.Args[0])
		if err != nil {
			return nil, err
		}
		return vm.MakeInt(int64(l.size)), nil
	})
	// any adds a function whose arguments after the format are those of a method that takes any number.
	anyNumber := func(name string, f func(l *layout, args []vm.Object) (vm.Object, error)) {
		m.Func(name, func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(kw) > 0 {
				return nil, in.Errorf(in.Exc.TypeError, "_struct.%s() takes no keyword arguments", name)
			}
			if len(args) == 0 {
				return nil, in.Errorf(in.Exc.TypeError, "missing format argument")
			}
			l, err := c.layout(args[0])
			if err != nil {
				return nil, err
			}
			return f(l, slices.Clone(args[1:]))
		})
	}
	anyNumber("pack", c.pack)
	anyNumber("pack_into", func(l *layout, args []vm.Object) (vm.Object, error) { return vm.None, c.packInto(l, args) })
	clinic.Def(m, "unpack", "format, buffer:bytes, /", func(call *clinic.Call) (vm.Object, error) {
		l, err := c.layout(call.Args[0])
		if err != nil {
			return nil, err
		}
		return c.unpack(l, call.Bytes(1))
	})
	clinic.Def(m, "unpack_from", "format, /, buffer:bytes, offset:int=0", func(call *clinic.Call) (vm.Object, error) {
		l, err := c.layout(call.Args[0])
		if err != nil {
			return nil, err
		}
		return c.unpackFrom(l, call, 1)
	})
	clinic.Def(m, "iter_unpack", "format, buffer, /", func(call *clinic.Call) (vm.Object, error) {
		l, err := c.layout(call.Args[0])
		if err != nil {
			return nil, err
		}
		return c.iterUnpack(l, call.Args[1], iter)
	})
}

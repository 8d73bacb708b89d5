package pycsv

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// module is what the classes and functions share.
type module struct {
	err                     *vm.Type
	dialect, reader, writer *vm.Type
	dialects                *vm.Dict // by name
	limit                   int64    // most characters of a field
}

// defaultLimit is field_size_limit() at first.
const defaultLimit = 128 << 10

// Module makes _csv.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_csv", "CSV parsing and writing.\n\nThis module provides classes that assist in the reading and writing of comma separated values, in any of the forms that programs write them.")
	s := &module{dialects: vm.NewDict(), limit: defaultLimit}
	var err error
	if s.err, err = in.MakeClass(vm.TypeType, "Error", []*vm.Type{in.Exc.Exception}, vm.StrDict("__module__", vm.Str("_csv"))); err != nil {
		return nil, err
	}
	s.makeDialectClass(in)
	s.makeReader(in)
	s.makeWriter(in)
	for name, v := range map[string]vm.Object{"Error": s.err, "Dialect": s.dialect, "Reader": s.reader, "Writer": s.writer, "_dialects": s.dialects, "__version__": vm.Str("1.0")} {
		m.Set(name, v)
	}
	for i, name := range quotings {
		m.Set(name, vm.MakeInt(int64(i)))
	}
	s.functions(m)
	return m, nil
}

// registered is the dialect of a name.
func (s *module) registered(in *vm.Interp, name vm.Object) (vm.Object, error) {
	v, ok, err := s.dialects.Get(in, name)
	if err == nil && !ok {
		err = in.Errorf(s.err, "unknown dialect")
	}
	return v, err
}

// dialectArgs is the dialect of a function's arguments after the first one.
func (s *module) dialectArgs(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (*dialect, error) {
	if n := len(args); n < 1 {
		return nil, in.Errorf(in.Exc.TypeError, " expected at least 1 argument, got %d", n)
	} else if n > 2 {
		return nil, in.Errorf(in.Exc.TypeError, " expected at most 2 arguments, got %d", n)
	}
	o, err := s.newDialect(in, args[1:], kw)
	if err != nil {
		return nil, err
	}
	return dialectOf(o), nil
}

// functions adds the functions.
func (s *module) functions(m *vm.Module) {
	m.Func("reader", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		if len(args) > 0 && len(args) <= 2 {
			it, err := in.Iter(args[0])
			if err != nil {
				return nil, err
			}
			d, err := s.dialectArgs(in, args, kw)
			return &reader{m: s, dialect: d, lines: it}, err
		}
		_, err := s.dialectArgs(in, args, nil)
		return nil, err
	})
	m.Func("writer", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		w := &writer{m: s}
		if len(args) > 0 && len(args) <= 2 {
			var err error
			if w.write, err = in.GetAttrOpt(args[0], "write"); err != nil {
				return nil, err
			}
			if w.write == nil || !vm.Callable(w.write) {
				return nil, in.Errorf(in.Exc.TypeError, "argument 1 must have a \"write\" method")
			}
		}
		var err error
		w.dialect, err = s.dialectArgs(in, args, kw)
		return w, err
	})
	m.Func("register_dialect", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		if len(args) > 0 {
			if _, ok := vm.AsStr(args[0]); !ok {
				return nil, in.Errorf(in.Exc.TypeError, "dialect name must be a string")
			}
		}
		d, err := s.dialectArgs(in, args, kw)
		if err == nil {
			err = s.dialects.Set(in, args[0], d)
		}
		return vm.None, err
	})
	clinic.Def(m, "unregister_dialect", "name", func(c *clinic.Call) (vm.Object, error) {
		ok, err := s.dialects.Del(c.Interp, c.Args[0])
		if err == nil && !ok {
			err = c.Errorf(s.err, "unknown dialect")
		}
		return vm.None, err
	})
	clinic.Def(m, "get_dialect", "name", func(c *clinic.Call) (vm.Object, error) { return s.registered(c.Interp, c.Args[0]) })
	clinic.Def(m, "list_dialects", "", func(*clinic.Call) (vm.Object, error) { return vm.NewList(s.dialects.Keys()...), nil })
	clinic.Def(m, "field_size_limit", "new_limit=nil", func(c *clinic.Call) (vm.Object, error) {
		old := vm.MakeInt(s.limit)
		if c.Args[0] == nil {
			return old, nil
		}
		if c.Args[0].Type() != vm.IntType {
			return nil, c.Errorf(c.Exc.TypeError, "limit must be an integer")
		}
		n, err := c.Index(c.Args[0])
		if err != nil {
			return nil, c.Errorf(c.Exc.OverflowError, "Python int too large to convert to C long")
		}
		s.limit = n
		return old, nil
	})
}

// readonly is an attribute that nobody sets.
func readonly(name string, get func(o vm.Object) vm.Object) *vm.GetSet {
	return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return get(o), nil },
		Set: func(in *vm.Interp, _, _ vm.Object) error {
			return in.Errorf(in.Exc.AttributeError, "readonly attribute")
		}}
}

// noNew refuses to make what only a function makes.
func noNew(name string) vm.NewFunc {
	return func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return nil, in.Errorf(in.Exc.TypeError, "cannot create '_csv.%s' instances", name)
	}
}

func (s *module) makeReader(in *vm.Interp) {
	s.reader = in.NewNativeType(vm.Spec{Name: "reader", Module: "_csv", NoDict: true, Final: true, Strict: true, New: noNew("reader"),
		Methods: map[string]vm.GoFunc{
			"__iter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
			"__next__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				v, err := a[0].(*reader).Next(in)
				if v == nil && err == nil {
					return nil, in.RaiseObj(in.Exc.StopIteration)
				}
				return v, err
			},
		},
		GetSet: []*vm.GetSet{
			readonly("dialect", func(o vm.Object) vm.Object { return o.(*reader).dialect }),
			readonly("line_num", func(o vm.Object) vm.Object { return vm.MakeInt(o.(*reader).line) }),
		}})
}

func (s *module) makeWriter(in *vm.Interp) {
	s.writer = in.NewNativeType(vm.Spec{Name: "writer", Module: "_csv", NoDict: true, Final: true, Strict: true, New: noNew("writer"),
		Methods: map[string]vm.GoFunc{
			"writerow": clinic.Method("writerow", "row, /", func(c *clinic.Call) (vm.Object, error) { return c.Self.(*writer).row(c.Interp, c.Args[0]) }),
			"writerows": clinic.Method("writerows", "rows, /", func(c *clinic.Call) (vm.Object, error) {
				it, err := c.Iter(c.Args[0])
				if err != nil {
					return nil, err
				}
				for {
					row, err := c.Next(it)
					if err != nil {
						return nil, err
					}
					if row == nil {
						return vm.None, nil
					}
					if _, err := c.Self.(*writer).row(c.Interp, row); err != nil {
						return nil, err
					}
				}
			}),
		},
		GetSet: []*vm.GetSet{readonly("dialect", func(o vm.Object) vm.Object { return o.(*writer).dialect })}})
}

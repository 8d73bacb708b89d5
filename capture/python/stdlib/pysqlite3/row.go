package pysqlite3

import (
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// row is the Native of a Row: a tuple whose items have the names of columns.
type row struct{ data, description *vm.Tuple }

func rowOf(o vm.Object) *row { return o.(*vm.Instance).Native.(*row) }

// name is the name of a column.
func (r *row) name(i int) string {
	s, _ := vm.AsStr(r.description.Items[i].(*vm.Tuple).Items[0])
	return s
}

// rowClass makes Row.
func (m *module) rowClass(in *vm.Interp) *vm.Type {
	compare := func(same bool) vm.GoFunc {
		return func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			a := rowOf(args[0])
			i, ok := args[1].(*vm.Instance)
			if !ok {
				return vm.NotImplemented, nil
			}
			b, ok := i.Native.(*row)
			if !ok {
				return vm.NotImplemented, nil
			}
			eq, err := in.Eq(a.description, b.description)
			if err == nil && eq {
				eq, err = in.Eq(a.data, b.data)
			}
			return vm.MakeBool(eq == same), err
		}
	}
	unordered := func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.NotImplemented, nil }
	return in.NewNativeType(vm.Spec{Name: "Row", Module: "sqlite3", NoDict: true, Strict: true,
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(kw) > 0 && cls == m.row {
				return nil, in.Errorf(in.Exc.TypeError, "Row() takes no keyword arguments")
			}
			if len(args) != 2 {
				return nil, in.Errorf(in.Exc.TypeError, "Row expected 2 arguments, got %d", len(args))
			}
			i, ok := args[0].(*vm.Instance)
			var cur *cursor
			if ok {
				cur, ok = i.Native.(*cursor)
			}
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "Row() argument 1 must be sqlite3.Cursor, not %s", vm.ArgName(args[0]))
			}
			if !args[1].Type().IsSubtype(vm.TupleType) {
				return nil, in.Errorf(in.Exc.TypeError, "Row() argument 2 must be tuple, not %s", vm.ArgName(args[1]))
			}
			items, err := in.IterAll(args[1])
			if err != nil {
				return nil, err
			}
			r := &row{data: vm.NewTuple(items...), description: vm.NewTuple()}
			if d, ok := cur.description.(*vm.Tuple); ok {
				r.description = d
			}
			return vm.NewInstance(cls, r), nil
		},
		Methods: map[string]vm.GoFunc{
			"__iter__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return in.Iter(rowOf(args[0]).data)
			},
			"__len__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.MakeInt(int64(len(rowOf(args[0]).data.Items))), nil
			},
			"__hash__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				r := rowOf(args[0])
				a, err := in.Hash(r.description)
				if err != nil {
					return nil, err
				}
				b, err := in.Hash(r.data)
				return vm.MakeInt(int64(a ^ b)), err
			},
			"__eq__": compare(true), "__ne__": compare(false),
			"__lt__": unordered, "__le__": unordered, "__gt__": unordered, "__ge__": unordered,
			"__getitem__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				r := rowOf(args[0])
				if s, ok := vm.AsStr(args[1]); ok {
					for i := range r.description.Items {
						if name := r.name(i); i < len(r.data.Items) && (name == s || sameName(name, s)) {
							return r.data.Items[i], nil
						}
					}
					return nil, in.Errorf(in.Exc.IndexError, "No item with that key")
				}
				if isInt(args[1]) {
					n, err := in.IndexBig(args[1])
					if err != nil {
						return nil, err
					}
					if !n.IsInt64() {
						return nil, in.Errorf(in.Exc.IndexError, "cannot fit 'int' into an index-sized integer")
					}
					return in.GetItem(r.data, args[1])
				}
				if _, ok := args[1].(*vm.Slice); ok {
					return in.GetItem(r.data, args[1])
				}
				return nil, in.Errorf(in.Exc.IndexError, "Index must be int or string")
			},
			"keys": clinic.Method("keys", "", func(k *clinic.Call) (vm.Object, error) {
				r := rowOf(k.Self)
				l := vm.NewList()
				for i := range r.description.Items {
					l.Append(vm.Str(r.name(i)))
				}
				return l, nil
			}),
		}})
}

// sameName compares names of columns, whose letters of ASCII may be of either case.
func sameName(a, b string) bool {
	return len(a) == len(b) && strings.EqualFold(a, b) && strings.IndexFunc(a, func(r rune) bool { return r >= 0x80 }) < 0
}

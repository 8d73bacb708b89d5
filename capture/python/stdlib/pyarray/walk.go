package pyarray

import "whittle/capture/python/vm"

// walker is the iterator of an array; at the end it lets go of it.
type walker struct {
	types *types
	a     *Array
	self  vm.Object // what is walked through, for pickles
	i     int
}

// Type implements vm.Object.
func (w *walker) Type() *vm.Type { return w.types.iter }

// Next implements vm.Iterator.
func (w *walker) Next(in *vm.Interp) (vm.Object, error) {
	if w.a == nil {
		return nil, nil
	}
	if w.i >= w.a.Len() {
		w.a, w.self = nil, nil
		return nil, nil
	}
	w.i++
	return w.a.ItemAt(in, w.i-1)
}

// makeIter makes the iterator's class.
func (t *types) makeIter(in *vm.Interp) {
	t.iter = in.NewNativeType(vm.Spec{Name: "arrayiterator", Module: "array", NoDict: true, Final: true, Strict: true,
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create 'array.arrayiterator' instances")
		},
		Methods: map[string]vm.GoFunc{
			"__iter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
			"__next__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				v, err := a[0].(*walker).Next(in)
				if v == nil && err == nil {
					return nil, in.RaiseObj(in.Exc.StopIteration)
				}
				return v, err
			},
			"__reduce__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				w := a[0].(*walker)
				iter, err := in.GetAttr(in.Builtins, "iter")
				if err != nil {
					return nil, err
				}
				if w.a == nil {
					return vm.NewTuple(iter, vm.NewTuple(vm.NewTuple())), nil
				}
				return vm.NewTuple(iter, vm.NewTuple(w.self), vm.MakeInt(int64(w.i))), nil
			},
			"__setstate__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				w := a[0].(*walker)
				if a[1].Type().Lookup("__index__") == nil {
					return nil, in.Errorf(in.Exc.TypeError, "an integer is required")
				}
				n, err := in.Index(a[1])
				if err != nil {
					return nil, err
				}
				if w.a != nil {
					w.i = int(min(max(n, 0), int64(w.a.Len())))
				}
				return vm.None, nil
			},
		}})
}

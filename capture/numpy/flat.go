package numpy

import (
	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

// flatIter is a.flat.
type flatIter struct {
	a  *Array
	np *NumPy
	i  int
}

// Type is numpy.flatiter.
func (f *flatIter) Type() *vm.Type { return f.np.flat }

// Next is the next element.
func (f *flatIter) Next(*vm.Interp) (vm.Object, error) {
	if f.i >= f.a.A.Len() {
		return nil, nil
	}
	x := f.a.A
	off := x.Offset
	k := f.i
	for ax := x.NDim() - 1; ax >= 0; ax-- {
		off += k % x.Shape[ax] * x.Strides[ax]
		k /= x.Shape[ax]
	}
	f.i++
	return f.np.Scalar(x.Get(off), x.DType), nil
}

func (np *NumPy) newFlat(a *Array) vm.Object { return &flatIter{a: a, np: np} }

// line is the array in one axis, and whether that is a copy.
func (f *flatIter) line() (*ndarray.Array, bool, error) {
	r, err := f.a.A.Reshape([]int{-1}, 'C')
	if err != nil {
		return nil, false, f.np.err(err)
	}
	return r, r.Buf != f.a.A.Buf, nil
}

// setFlat stores values, repeated as often as needed, in all elements.
func (np *NumPy) setFlat(a *ndarray.Array, v vm.Object) error {
	src, err := np.valuesFor(v, a.DType)
	if err != nil {
		return err
	}
	flat, err := src.Reshape([]int{-1}, 'C')
	if err != nil || flat.Len() == 0 {
		return np.err(err)
	}
	idx := make([]int64, a.Len())
	for i := range idx {
		idx[i] = int64(i % flat.Len())
	}
	s, err := flat.Select([]ndarray.Index{{Kind: ndarray.Fancy, Of: ndarray.FromSlice(ndarray.Int64, idx)}})
	if err != nil {
		return np.err(err)
	}
	r, err := s.Read().Reshape(a.Shape, 'C')
	if err != nil {
		return np.err(err)
	}
	return np.err(a.Assign(r))
}

func (np *NumPy) flatType() {
	np.flat = np.In.NewNativeType(vm.Spec{Name: "flatiter", Module: "numpy", NoDict: true, Methods: map[string]vm.GoFunc{
		"__iter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
		"__next__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			v, err := a[0].(*flatIter).Next(in)
			if v == nil && err == nil {
				return nil, in.RaiseObj(in.Exc.StopIteration)
			}
			return v, err
		},
		"__len__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.MakeInt(int64(a[0].(*flatIter).a.A.Len())), nil
		},
		"__getitem__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			r, _, err := a[0].(*flatIter).line()
			if err != nil {
				return nil, err
			}
			v, err := np.getItem(np.Wrap(r).(*Array), a[1])
			if x, ok := v.(*Array); ok {
				return np.Wrap(x.A.Copy('C')), err
			}
			return v, err
		},
		"__setitem__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			f := a[0].(*flatIter)
			r, copied, err := f.line()
			if err != nil {
				return nil, err
			}
			if err := np.setItem(np.Wrap(r).(*Array), a[1], a[2]); err != nil || !copied {
				return vm.None, err
			}
			back, err := r.Reshape(f.a.A.Shape, 'C')
			if err != nil {
				return nil, np.err(err)
			}
			return vm.None, np.err(f.a.A.Assign(back))
		},
		"copy": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			r, _, err := a[0].(*flatIter).line()
			if err != nil {
				return nil, err
			}
			return np.Wrap(r.Copy('C')), nil
		},
	}, GetSet: []*vm.GetSet{
		{Name: "base", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return o.(*flatIter).a, nil }},
		{Name: "index", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return vm.MakeInt(int64(o.(*flatIter).i)), nil }},
	}})
}

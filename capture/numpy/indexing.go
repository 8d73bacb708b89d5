package numpy

import (
	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

const badKey = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"

// key reads what stands between brackets.
func (np *NumPy) key(o vm.Object) (key []ndarray.Index, full bool, err error) {
	parts := []vm.Object{o}
	if t, ok := vm.AsTuple(o); ok {
		parts = t.Items
	}
	full = true // integers alone
	for _, p := range parts {
		k, err := np.keyPart(p)
		if err != nil {
			return nil, false, err
		}
		full = full && k.Kind == ndarray.At
		key = append(key, k)
	}
	return key, full, nil
}

func (np *NumPy) keyPart(o vm.Object) (k ndarray.Index, err error) {
	in := np.In
	switch x := o.(type) {
	case vm.Int:
		return ndarray.Index{Kind: ndarray.At, I: int(x)}, nil
	case *vm.NoneType:
		return ndarray.Index{Kind: ndarray.NewAxis}, nil
	case *vm.EllipsisType:
		return ndarray.Index{Kind: ndarray.Dots}, nil
	case *vm.Slice:
		k.Kind = ndarray.Part
		for _, p := range []struct {
			o  vm.Object
			to **int
		}{{x.Start, &k.Start}, {x.Stop, &k.Stop}, {x.Step, &k.Step}} {
			if p.o == nil || p.o == vm.None {
				continue
			}
			n, err := in.Index(p.o)
			if err != nil {
				if in.Matches(err, in.Exc.TypeError) {
					err = in.Errorf(in.Exc.TypeError, "slice indices must be integers or None or have an __index__ method")
				}
				return k, err
			}
			v := int(n)
			*p.to = &v
		}
		return k, nil
	case vm.Bool:
		return mask(ndarray.New(ndarray.Of(ndarray.Bool)), bool(x)), nil
	case vm.Str, vm.Float, vm.Bytes:
		return k, in.Errorf(in.Exc.IndexError, badKey)
	}
	if v, d, ok := np.scalarOf(o); ok {
		switch d.Kind {
		case 'i', 'u':
			return ndarray.Index{Kind: ndarray.At, I: int(ndarray.AsInt(v))}, nil
		case 'b':
			return mask(ndarray.New(d), v.(bool)), nil
		}
		return k, in.Errorf(in.Exc.IndexError, badKey)
	}
	_, isArray := o.(*Array)
	if _, isList := vm.AsList(o); !isArray && !isList && o.Type().Lookup("__index__") != nil && o.Type().Lookup("__array__") == nil {
		n, err := in.Index(o)
		return ndarray.Index{Kind: ndarray.At, I: int(n)}, err
	}
	a, err := np.FromObject(o, nil, false)
	if err != nil {
		return k, err
	}
	switch {
	case a.DType.Kind == 'b':
		return ndarray.Index{Kind: ndarray.Mask, Of: a}, nil
	case a.DType.Kind == 'i' || a.DType.Kind == 'u':
		if a.NDim() == 0 {
			return ndarray.Index{Kind: ndarray.At, I: int(ndarray.AsInt(a.Get(a.Offset)))}, nil
		}
		return ndarray.Index{Kind: ndarray.Fancy, Of: a}, nil
	case a.Len() == 0 && !isArray:
		a, err = a.AsType(ndarray.Of(ndarray.Int64), 'C')
		return ndarray.Index{Kind: ndarray.Fancy, Of: a}, err
	case isArray:
		return k, in.Errorf(in.Exc.IndexError, "arrays used as indices must be of integer (or boolean) type")
	}
	return k, in.Errorf(in.Exc.IndexError, badKey)
}

func mask(a *ndarray.Array, v bool) ndarray.Index {
	_ = a.Set(0, v)
	return ndarray.Index{Kind: ndarray.Mask, Of: a}
}

// getItem is a[key].
func (np *NumPy) getItem(a *Array, o vm.Object) (vm.Object, error) {
	if i, ok := o.(vm.Int); ok && a.A.NDim() == 1 { // the common case, without a selection
		n := a.A.Shape[0]
		j := int(i)
		if j < -n || j >= n {
			return nil, np.In.Errorf(np.In.Exc.IndexError, "index %d is out of bounds for axis 0 with size %d", j, n)
		}
		if j < 0 {
			j += n
		}
		return np.Scalar(a.A.Get(a.A.Offset+j*a.A.Strides[0]), a.A.DType), nil
	}
	key, full, err := np.key(o)
	if err != nil {
		return nil, err
	}
	s, err := a.A.Select(key)
	if err != nil {
		return nil, np.err(err)
	}
	r := s.Read()
	if full && r.NDim() == 0 {
		return np.Scalar(r.Get(r.Offset), r.DType), nil
	}
	if s.Basic() {
		return np.view(r, a), nil
	}
	out := np.Wrap(r)
	out.(*Array).class = a.class
	return out, nil
}

// setItem is a[key] = v.
func (np *NumPy) setItem(a *Array, o, v vm.Object) error {
	in := np.In
	if a.A.ReadOnly {
		return in.Errorf(in.Exc.ValueError, "assignment destination is read-only")
	}
	key, full, err := np.key(o)
	if err != nil {
		return err
	}
	s, err := a.A.Select(key)
	if err != nil {
		return np.err(err)
	}
	if full && s.Basic() && s.View.NDim() == 0 { // one element
		if src, ok := v.(*Array); ok && src.A.NDim() > 0 && src.A.Len() != 1 && a.A.DType.Num != ndarray.Object {
			return in.Errorf(in.Exc.ValueError, "setting an array element with a sequence.")
		}
		x, err := np.valueFor(v, a.A.DType)
		if err != nil {
			if _, isSeq, _ := np.sequence(v); isSeq {
				return in.Errorf(in.Exc.ValueError, "setting an array element with a sequence.")
			}
			return err
		}
		return np.err(s.View.Set(s.View.Offset, x))
	}
	src, err := np.valuesFor(v, a.A.DType)
	if err != nil {
		return err
	}
	return np.err(s.Write(src))
}

// valuesFor is what is assigned to elements of a dtype, as an array. Python's own values are converted with its rules.
func (np *NumPy) valuesFor(v vm.Object, d *ndarray.DType) (*ndarray.Array, error) {
	a, _, err := np.arrayOf(v)
	if err != nil {
		return nil, err
	}
	if a != nil {
		return a, nil
	}
	return np.fromNested(v, d)
}

package pyarray

import (
	"slices"

	"whittle/capture/python/vm"
)

// place is the item that a key names, or -1 and a slice.
func (a *Array) place(in *vm.Interp, key vm.Object, outside string) (int, *vm.Slice, error) {
	if s, ok := key.(*vm.Slice); ok {
		return -1, s, nil
	}
	if _, ok := vm.AsBig(key); !ok && key.Type().Lookup("__index__") == nil {
		return 0, nil, in.Errorf(in.Exc.TypeError, "array indices must be integers")
	}
	b, err := in.IndexBig(key)
	if err != nil {
		return 0, nil, err
	}
	if !b.IsInt64() {
		return 0, nil, in.Errorf(in.Exc.IndexError, "cannot fit '%s' into an index-sized integer", vm.TypeName(key))
	}
	i := b.Int64()
	if i < 0 {
		i += int64(a.Len())
	}
	if i < 0 || i >= int64(a.Len()) {
		return 0, nil, in.Errorf(in.Exc.IndexError, "%s", outside)
	}
	return int(i), nil, nil
}

func (a *Array) getItem(in *vm.Interp, key vm.Object) (vm.Object, error) {
	i, s, err := a.place(in, key, "array index out of range")
	if err != nil {
		return nil, err
	}
	if s == nil {
		return a.ItemAt(in, i)
	}
	start, _, step, n, err := s.Indices(in, a.Len())
	if err != nil {
		return nil, err
	}
	out := a.like()
	if step == 1 {
		out.data = slices.Clone(a.data[start*a.kind.size : (start+n)*a.kind.size])
		return out, nil
	}
	for k := range n {
		out.data = append(out.data, a.at(start+k*step)...)
	}
	return out, nil
}

// setItem stores an item, or the items of another array; a nil v deletes.
func (a *Array) setItem(in *vm.Interp, key, v vm.Object) error {
	i, s, err := a.place(in, key, "array assignment index out of range")
	switch {
	case err != nil:
		return err
	case s == nil && v == nil:
		return a.remove(in, i, i+1)
	case s == nil:
		p, err := a.value(in, v)
		if err == nil {
			copy(a.at(i), p)
		}
		return err
	}
	var with []byte
	if v != nil {
		b, ok := arrayOf(v)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "can only assign array (not \"%s\") to array slice", vm.TypeName(v))
		}
		if b.kind != a.kind {
			return in.Errorf(in.Exc.TypeError, "bad argument type for built-in operation")
		}
		with = slices.Clone(b.data)
	}
	return a.setSlice(in, s, with)
}

// setSlice puts items in the place of those that a slice selects.
func (a *Array) setSlice(in *vm.Interp, s *vm.Slice, with []byte) error {
	start, _, step, n, err := s.Indices(in, a.Len())
	if err != nil {
		return err
	}
	size := a.kind.size
	have := len(with) / size
	if have == 0 || have != n {
		if err := a.fixed(in); err != nil {
			return err
		}
	}
	switch {
	case step == 1:
		a.data = slices.Replace(a.data, start*size, (start+n)*size, with...)
	case have == 0:
		drop := map[int]bool{}
		for k := range n {
			drop[start+k*step] = true
		}
		kept := a.data[:0]
		for i := range a.Len() {
			if !drop[i] {
				kept = append(kept, a.at(i)...)
			}
		}
		a.data = kept
	case have != n:
		return in.Errorf(in.Exc.ValueError, "attempt to assign array of size %d to extended slice of size %d", have, n)
	default:
		for k := range n {
			copy(a.at(start+k*step), with[k*size:])
		}
	}
	return nil
}

// repeat is the memory n times.
func (a *Array) repeat(in *vm.Interp, n int64) ([]byte, error) {
	if n <= 0 || len(a.data) == 0 {
		return nil, nil
	}
	if n > mostBytes/int64(len(a.data)) {
		return nil, in.Errorf(in.Exc.MemoryError, "")
	}
	return slices.Repeat(a.data, int(n)), nil
}

// mostBytes is the size beyond which a repeated array is a MemoryError.
const mostBytes = 1 << 36

// compare is a rich comparison of two arrays: by the first items that differ, or else by length.
func (a *Array) compare(in *vm.Interp, op string, o vm.Object) (vm.Object, error) {
	b, ok := arrayOf(o)
	if !ok {
		return vm.NotImplemented, nil
	}
	if a.Len() != b.Len() && (op == "==" || op == "!=") {
		return vm.MakeBool(op == "!="), nil
	}
	for i := 0; i < a.Len() && i < b.Len(); i++ {
		x, err := a.ItemAt(in, i)
		if err != nil {
			return nil, err
		}
		y, err := b.ItemAt(in, i)
		if err != nil {
			return nil, err
		}
		same, err := in.Eq(x, y)
		if err != nil {
			return nil, err
		}
		if !same {
			return in.Compare(op, x, y)
		}
	}
	return in.Compare(op, vm.MakeInt(int64(a.Len())), vm.MakeInt(int64(b.Len())))
}

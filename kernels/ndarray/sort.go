package ndarray

import (
	"cmp"
	"slices"
	"strings"
)

// lanes calls f with the place of the beginning of every line along an axis, in each array.
func lanes(axis int, as []*Array, f func(offs []int) error) error {
	views := make([]*Array, len(as))
	for i, a := range as {
		views[i] = a.View(slices.Delete(slices.Clone(a.Shape), axis, axis+1), slices.Delete(slices.Clone(a.Strides), axis, axis+1), a.Offset)
	}
	return newWalk(views[0].Shape, views, false).run(func(offs []int, n int, steps []int) error {
		at := slices.Clone(offs)
		for range n {
			if err := f(at); err != nil {
				return err
			}
			for i := range at {
				at[i] += steps[i]
			}
		}
		return nil
	})
}

// order compares two values as sorting does: NaN is last.
func order(a, b any, lang Language) (int, error) {
	switch x := a.(type) {
	case bool:
		return b2i(x) - b2i(b.(bool)), nil
	case int64:
		return cmp.Compare(x, b.(int64)), nil
	case uint64:
		return cmp.Compare(x, b.(uint64)), nil
	case float64:
		return floatOrder(x, b.(float64)), nil
	case complex128:
		y := b.(complex128)
		if c := floatOrder(real(x), real(y)); c != 0 {
			return c, nil
		}
		return floatOrder(imag(x), imag(y)), nil
	case string:
		return strings.Compare(x, b.(string)), nil
	case Raw:
		return strings.Compare(string(x), string(b.(Raw))), nil
	case Item:
		y := b.(Item)
		if less, err := lang.Less(x.V, y.V); less || err != nil {
			return -1, err
		}
		if less, err := lang.Less(y.V, x.V); less || err != nil {
			return 1, err
		}
	}
	return 0, nil
}

func floatOrder[T float32 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return b2i(a != a) - b2i(b != b)
}

// argsortLine gives the order of the elements of a line; equal ones stay in order.
func argsortLine(a *Array, off, axis int) ([]int64, error) {
	n, step := a.Shape[axis], a.Strides[axis]
	idx := make([]int64, n)
	for i := range idx {
		idx[i] = int64(i)
	}
	switch a.DType.Num {
	case Float64:
		sortBy(idx, gather[float64](a, off, n, step), floatOrder[float64])
		return idx, nil
	case Float32:
		sortBy(idx, gather[float32](a, off, n, step), floatOrder[float32])
		return idx, nil
	case Int64:
		sortBy(idx, gather[int64](a, off, n, step), cmp.Compare[int64])
		return idx, nil
	}
	vals := make([]any, n)
	for i := range vals {
		vals[i] = a.Get(off + i*step)
	}
	var failed error
	slices.SortStableFunc(idx, func(i, j int64) int {
		c, err := order(vals[i], vals[j], a.DType.Lang)
		if err != nil && failed == nil {
			failed = err
		}
		return c
	})
	return idx, failed
}

func gather[T any](a *Array, off, n, step int) []T {
	xs := make([]T, n)
	for i := range xs {
		xs[i] = *at[T](a.ptr(off), step, i)
	}
	return xs
}

func sortBy[T any](idx []int64, vals []T, c func(a, b T) int) {
	slices.SortStableFunc(idx, func(i, j int64) int { return c(vals[i], vals[j]) })
}

// Argsort gives the indices that would sort along an axis.
func Argsort(a *Array, axis int) (*Array, error) {
	axis, err := Axis(axis, a.NDim())
	if err != nil {
		return nil, err
	}
	out := New(Of(Int64), a.Shape...)
	err = lanes(axis, []*Array{a, out}, func(offs []int) error {
		idx, err := argsortLine(a, offs[0], axis)
		for i, x := range idx {
			*at[int64](out.ptr(offs[1]), out.Strides[axis], i) = x
		}
		return err
	})
	return out, err
}

// Sort sorts in place along an axis.
func Sort(a *Array, axis int) error {
	axis, err := Axis(axis, a.NDim())
	if err != nil {
		return err
	}
	return lanes(axis, []*Array{a}, func(offs []int) error {
		n, step := a.Shape[axis], a.Strides[axis]
		switch a.DType.Num {
		case Float64:
			sortLine(a, offs[0], n, step, floatOrder[float64])
			return nil
		case Float32:
			sortLine(a, offs[0], n, step, floatOrder[float32])
			return nil
		case Int64:
			sortLine(a, offs[0], n, step, cmp.Compare[int64])
			return nil
		}
		idx, err := argsortLine(a, offs[0], axis)
		if err != nil {
			return err
		}
		vals := make([]any, n)
		for i, x := range idx {
			vals[i] = a.Get(offs[0] + int(x)*step)
		}
		for i, v := range vals {
			if err := a.Set(offs[0]+i*step, v); err != nil {
				return err
			}
		}
		return nil
	})
}

func sortLine[T any](a *Array, off, n, step int, c func(x, y T) int) {
	xs := gather[T](a, off, n, step)
	slices.SortFunc(xs, c)
	for i, x := range xs {
		*at[T](a.ptr(off), step, i) = x
	}
}

// SearchSorted finds where values would go in a sorted array of one axis.
func SearchSorted(a, v *Array, right bool, sorter []int64) (*Array, error) {
	d := ResultType([]*DType{a.DType, v.DType}, nil)
	if d == nil {
		return nil, fail("TypeError", "The DType could not be promoted")
	}
	if a.NDim() != 1 {
		return nil, fail("ValueError", "object too deep for desired array")
	}
	a, err := a.As(d, 'C')
	if err != nil {
		return nil, err
	}
	if v, err = v.As(d, 'C'); err != nil {
		return nil, err
	}
	out := New(Of(Int64), v.Shape...)
	res := Slice[int64](out)
	vals := make([]any, a.Shape[0])
	for i := range vals {
		j := i
		if sorter != nil {
			j = int(sorter[i])
		}
		vals[i] = a.Get(a.Offset + j*a.Strides[0])
	}
	for i, off := range v.offsets() {
		x := v.Get(off)
		var failed error
		k, _ := slices.BinarySearchFunc(vals, x, func(e, t any) int {
			c, err := order(e, t, d.Lang)
			if err != nil {
				failed = err
			}
			if right && c == 0 {
				return -1
			}
			return c
		})
		if failed != nil {
			return nil, failed
		}
		res[i] = int64(k)
	}
	return out, nil
}

// ArgExtreme finds the first largest, or smallest, element along an axis; NaN counts as both.
func ArgExtreme(a *Array, axis int, largest bool) (*Array, error) {
	axis, err := Axis(axis, a.NDim())
	if err != nil {
		return nil, err
	}
	name := "argmin"
	if largest {
		name = "argmax"
	}
	if a.Shape[axis] == 0 && a.Len() == 0 {
		return nil, fail("ValueError", "attempt to get %s of an empty sequence", name)
	}
	out := New(Of(Int64), slices.Delete(slices.Clone(a.Shape), axis, axis+1)...)
	res := Slice[int64](out)
	k := 0
	err = lanes(axis, []*Array{a}, func(offs []int) error {
		if i, ok := extremeOf(a, offs[0], axis, largest); ok {
			res[k] = int64(i)
			k++
			return nil
		}
		best := a.Get(offs[0])
		for i := 1; i < a.Shape[axis]; i++ {
			if v, ok := best.(float64); ok && v != v {
				break
			}
			x := a.Get(offs[0] + i*a.Strides[axis])
			c, err := order(x, best, a.DType.Lang)
			if err != nil {
				return err
			}
			if f, ok := x.(float64); ok && f != f || largest && c > 0 || !largest && c < 0 {
				best, res[k] = x, int64(i)
			}
		}
		k++
		return nil
	})
	return out, err
}

// extremeOf is ArgExtreme on one line of a common type.
func extremeOf(a *Array, off, axis int, largest bool) (int, bool) {
	n, step := a.Shape[axis], a.Strides[axis]
	switch a.DType.Num {
	case Float64:
		return extremeLine[float64](a, off, n, step, largest), true
	case Float32:
		return extremeLine[float32](a, off, n, step, largest), true
	case Int64:
		return extremeLine[int64](a, off, n, step, largest), true
	}
	return 0, false
}

func extremeLine[T int64 | float32 | float64](a *Array, off, n, step int, largest bool) int {
	p := a.ptr(off)
	best, at0 := *at[T](p, step, 0), 0
	for i := 1; i < n && best == best; i++ {
		if x := *at[T](p, step, i); x != x || largest && x > best || !largest && x < best {
			best, at0 = x, i
		}
	}
	return at0
}

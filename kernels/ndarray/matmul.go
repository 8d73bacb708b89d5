package ndarray

import "whittle/kernels/parallel"

// MatMul multiplies stacks of matrices, as @ does.
func MatMul(a, b *Array, d *DType) (*Array, error) {
	for i, x := range []*Array{a, b} {
		if x.NDim() == 0 {
			return nil, fail("ValueError", "matmul: Input operand %d does not have enough dimensions (has 0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)", i)
		}
	}
	vecA, vecB := a.NDim() == 1, b.NDim() == 1
	if vecA {
		a = a.Insert(0)
	}
	if vecB {
		b = b.Insert(1)
	}
	na, nb := a.NDim(), b.NDim()
	if a.Shape[na-1] != b.Shape[nb-2] {
		return nil, fail("ValueError", "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size %d is different from %d)", b.Shape[nb-2], a.Shape[na-1])
	}
	if d == nil {
		if d = ResultType([]*DType{a.DType, b.DType}, nil); d == nil || d.Flexible() {
			return nil, Find("matmul").unsupported([]*DType{a.DType, b.DType})
		}
	}
	a, err := a.As(d, 'C')
	if err != nil {
		return nil, err
	}
	if b, err = b.As(d, 'C'); err != nil {
		return nil, err
	}
	batch, err := BroadcastShapes(a.Shape[:na-2], b.Shape[:nb-2])
	if err != nil {
		return nil, err
	}
	n, k, m := a.Shape[na-2], a.Shape[na-1], b.Shape[nb-1]
	out := New(d, append(append([]int{}, batch...), n, m)...)
	va, err := a.View(a.Shape[:na-2], a.Strides[:na-2], a.Offset).Broadcast(batch)
	if err != nil {
		return nil, err
	}
	vb, err := b.View(b.Shape[:nb-2], b.Strides[:nb-2], b.Offset).Broadcast(batch)
	if err != nil {
		return nil, err
	}
	vo := out.View(batch, out.Strides[:len(batch)], 0)
	err = newWalk(batch, []*Array{va, vb, vo}, false).run(func(offs []int, cnt int, steps []int) error {
		for i := range cnt {
			if err := product(a, offs[0]+i*steps[0], b, offs[1]+i*steps[1], out, offs[2]+i*steps[2], n, k, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	nd := len(batch)
	if vecB {
		out, _ = out.Squeeze([]int{nd + 1})
	}
	if vecA {
		out, _ = out.Squeeze([]int{nd})
	}
	return out, nil
}

func init() { define(&Ufunc{Name: "matmul", In: 2, Out: 1}) }

// product multiplies two matrices that lie in C order.
func product(a *Array, ao int, b *Array, bo int, out *Array, oo, n, k, m int) error {
	if n == 0 || m == 0 || k == 0 {
		return nil
	}
	switch out.DType.Num {
	case Float32:
		mul[float32](a, ao, b, bo, out, oo, n, k, m)
	case Float64:
		mul[float64](a, ao, b, bo, out, oo, n, k, m)
	case Complex64:
		mul[complex64](a, ao, b, bo, out, oo, n, k, m)
	case Complex128:
		mul[complex128](a, ao, b, bo, out, oo, n, k, m)
	case Int8:
		mul[int8](a, ao, b, bo, out, oo, n, k, m)
	case UInt8:
		mul[uint8](a, ao, b, bo, out, oo, n, k, m)
	case Int16:
		mul[int16](a, ao, b, bo, out, oo, n, k, m)
	case UInt16:
		mul[uint16](a, ao, b, bo, out, oo, n, k, m)
	case Int32:
		mul[int32](a, ao, b, bo, out, oo, n, k, m)
	case UInt32:
		mul[uint32](a, ao, b, bo, out, oo, n, k, m)
	case Int64:
		mul[int64](a, ao, b, bo, out, oo, n, k, m)
	case UInt64:
		mul[uint64](a, ao, b, bo, out, oo, n, k, m)
	default:
		return mulSlow(a, ao, b, bo, out, oo, n, k, m)
	}
	return nil
}

func sliceAt[T any](a *Array, off, n int) []T {
	v := a.View([]int{n}, []int{a.DType.Size}, off)
	return Slice[T](v)
}

// mul multiplies row by row: each row of the result is a sum of rows of b.
func mul[T number | complexes](a *Array, ao int, b *Array, bo int, out *Array, oo, n, k, m int) {
	x, y, z := sliceAt[T](a, ao, n*k), sliceAt[T](b, bo, k*m), sliceAt[T](out, oo, n*m)
	parallel.For(n, 1+(1<<16)/(k*m+1), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := z[i*m : (i+1)*m]
			for l, f := range x[i*k : (i+1)*k] {
				for j, w := range y[l*m : (l+1)*m] {
					row[j] += f * w
				}
			}
		}
	})
}

// mulSlow multiplies elements of other kinds: halves, truths and objects.
func mulSlow(a *Array, ao int, b *Array, bo int, out *Array, oo, n, k, m int) error {
	size := out.DType.Size
	get := func(x *Array, off int) any { return x.Get(off) }
	for i := range n {
		for j := range m {
			var acc any
			for l := range k {
				v, err := multiplyAdd(out.DType, acc, get(a, ao+(i*k+l)*size), get(b, bo+(l*m+j)*size))
				if err != nil {
					return err
				}
				acc = v
			}
			if err := out.Set(oo+(i*m+j)*size, acc); err != nil {
				return err
			}
		}
	}
	return nil
}

func multiplyAdd(d *DType, acc, x, y any) (any, error) {
	switch d.Num {
	case Bool:
		return AsBool(acc) || x.(bool) && y.(bool), nil
	case Float16:
		return AsFloat(acc) + AsFloat(x)*AsFloat(y), nil
	}
	p, err := d.Lang.Apply("multiply", []any{x.(Item).V, y.(Item).V})
	if err != nil || acc == nil {
		return Item{p}, err
	}
	s, err := d.Lang.Apply("add", []any{acc.(Item).V, p})
	return Item{s}, err
}

package ndarray

import (
	"whittle/kernels/aten"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

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
	if d, ok := large[out.DType.Num]; ok && n*k*m > 1<<15 {
		view := func(x *Array, off, rows, cols int) *tensor.Tensor {
			data := x.Buf.Bytes[off:]
			return &tensor.Tensor{Storage: &tensor.Storage{Data: data, NBytes: int64(len(data))}, DType: d, Shape: []int64{int64(rows), int64(cols)}, Stride: []int64{int64(cols), 1}}
		}
		_, err := aten.CallKw(aten.Eager, "aten.mm.out", []aten.Value{view(a, ao, n, k), view(b, bo, k, m)}, map[string]aten.Value{"out": view(out, oo, n, m)})
		return err
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

// large are the types whose larger products the kernels of tensors compute.
var large = map[Num]tensor.DType{Float32: tensor.Float32, Float64: tensor.Float64}

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

// Dot is the product of arrays with axes: over the last one of a and the last but one of b.
func Dot(a, b *Array) (*Array, error) {
	na, nb := a.NDim(), b.NDim()
	kb := max(nb-2, 0)
	if a.Shape[na-1] != b.Shape[kb] {
		return nil, fail("ValueError", "shapes %s and %s not aligned: %d (dim %d) != %d (dim %d)", tightShape(a.Shape), tightShape(b.Shape), a.Shape[na-1], na-1, b.Shape[kb], kb)
	}
	if na <= 2 && nb <= 2 {
		return MatMul(a, b, nil)
	}
	k := a.Shape[na-1]
	x, err := a.Reshape([]int{Count(a.Shape[:na-1]), k}, 'C')
	if err != nil {
		return nil, err
	}
	perm := []int{kb}
	var rest []int
	for i, n := range b.Shape {
		if i != kb {
			perm, rest = append(perm, i), append(rest, n)
		}
	}
	t, err := b.Transpose(perm)
	if err != nil {
		return nil, err
	}
	y, err := t.Reshape([]int{k, Count(rest)}, 'C')
	if err != nil {
		return nil, err
	}
	r, err := MatMul(x, y, nil)
	if err != nil {
		return nil, err
	}
	return r.Reshape(append(append([]int{}, a.Shape[:na-1]...), rest...), 'C')
}

// Where picks elements of x where cond is true, else of y.
func Where(cond, x, y *Array, d *DType) (*Array, error) {
	if d == nil {
		return nil, fail("TypeError", "The DTypes could not be promoted")
	}
	shape, err := BroadcastShapes(cond.Shape, x.Shape, y.Shape)
	if err != nil {
		return nil, err
	}
	out := New(d, shape...)
	if err := out.Assign(y); err != nil {
		return nil, err
	}
	return out, PutMask(out, cond, x)
}

// Count fills an array of one axis with start, start+step and so on.
func (a *Array) Count(start, step any) error {
	for i := range a.Len() {
		var v any
		switch {
		case a.DType.Kind == 'i' || a.DType.Kind == 'u':
			if f, ok := start.(float64); ok || isFloat(step) {
				// As NumPy: the first two are converted, and their difference is the step.
				first, second := int64(AsFloat(start)), int64(AsFloat(start)+AsFloat(step))
				_ = f
				v = first + int64(i)*(second-first)
			} else {
				v = AsInt(start) + int64(i)*AsInt(step)
			}
		case a.DType.Kind == 'f':
			first := round(a.DType, AsFloat(start))
			delta := round(a.DType, AsFloat(start)+AsFloat(step)) - first
			v = first + float64(i)*delta
		case a.DType.Kind == 'c':
			v = AsComplex(start) + complex(float64(i), 0)*AsComplex(step)
		default:
			v = AsInt(start) + int64(i)*AsInt(step)
		}
		if err := a.Set(a.Offset+i*a.Strides[0], v); err != nil {
			return err
		}
	}
	return nil
}

func isFloat(v any) bool { _, ok := v.(float64); return ok }

// round is x as a float of a dtype.
func round(d *DType, x float64) float64 {
	switch d.Num {
	case Float32:
		return float64(float32(x))
	case Float16:
		return float64(halfFrom(x).f32())
	}
	return x
}

// LexSort gives the order by several keys, the last one first.
func LexSort(keys []*Array) (*Array, error) {
	n := keys[0].Len()
	idx := make([]int64, n)
	for i := range idx {
		idx[i] = int64(i)
	}
	for _, k := range keys {
		if k.NDim() != 1 || k.Len() != n {
			return nil, fail("ValueError", "all keys need to be the same shape")
		}
		c, err := take(k, idx)
		if err != nil {
			return nil, err
		}
		ord, err := argsortLine(c, 0, 0)
		if err != nil {
			return nil, err
		}
		next := make([]int64, n)
		for i, o := range ord {
			next[i] = idx[o]
		}
		idx = next
	}
	return FromSlice(Int64, idx), nil
}

func take(a *Array, idx []int64) (*Array, error) {
	s, err := a.Select([]Index{{Kind: Fancy, Of: FromSlice(Int64, idx)}})
	if err != nil {
		return nil, err
	}
	return s.Read(), nil
}

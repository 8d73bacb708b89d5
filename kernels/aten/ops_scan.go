package aten

import (
	"math"
	"sync"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Running sums, products, maxima and logarithms of sums along a dimension. float32 accumulates in float64, save where a SIMD kernel does whole
// rows; integers in int64. Running maxima and minima give positions, too.

// scan runs f over each line of t along dim, in place on a float copy, fi on one of integers. rows, where there is one, does it for contiguous lines of float32, and quick
// for what is dense, unless it reports that it cannot.
func (c *Call) scan(t *tensor.Tensor, dim int64, out tensor.DType, f func(line []float64), fi func(line []int64), rows func(out, a []float32, cols int), quick func(o, t *tensor.Tensor, d int64) bool) (*tensor.Tensor, error) {
	d, err := wrapDim(dim, int64(t.Dim()))
	if err != nil {
		return nil, err
	}
	o := c.NewUnset(out, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
	if !c.real || t.Numel() == 0 {
		return o, nil
	}
	if quick != nil && t.Numel() >= 64 && !t.IsNonOverlappingAndDense() {
		t = c.dense(t, t.DType)
	}
	if y, x := o.Float32s(), t.Float32s(); rows != nil && x != nil && y != nil && int(d) == t.Dim()-1 {
		rows(y, x, int(t.Shape[d]))
		return o, nil
	}
	if quick != nil && t.Numel() >= 64 && t.IsContiguous(tensor.ContiguousFormat) && !o.IsContiguous(tensor.ContiguousFormat) {
		done := false
		inRows(o, func(o *tensor.Tensor) { done = quick(o, t, d) })
		if done {
			return o, nil
		}
	}
	if quick != nil && t.Numel() >= 64 && quick(o, t, d) {
		return o, nil
	}
	lines(t, d, func(off, st, n int64, k int64) {
		oo, os := lineAt(o, d, k)
		if out.IsFloat() {
			floats := make([]float64, n)
			tensor.LoadFloat(t, off, st, floats)
			f(floats)
			tensor.StoreFloat(o, oo, os, floats)
			return
		}
		b := make([]int64, n)
		tensor.LoadInt(t, off, st, b)
		fi(b)
		tensor.StoreInt(o, oo, os, b)
	})
	return o, nil
}

// lines visits each line of t along dim d: offset, stride, length and number. Several at once: f may write what belongs to its line alone.
func lines(t *tensor.Tensor, d int64, f func(off, st, n, k int64)) {
	if t.Dim() == 0 {
		f(t.Offset, 1, 1, 0)
		return
	}
	if t.Numel() == 0 {
		return
	}
	mask := make([]bool, t.Dim())
	mask[d] = true
	kept, _ := reduceSplit(t, mask)
	at := offsets(kept)
	parallel.For(len(at), int(grain/(t.Shape[d]+1)+1), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			f(t.Offset+at[k], t.Stride[d], t.Shape[d], int64(k))
		}
	})
}

// lineAt is the offset and stride of line k of t along dim d.
func lineAt(t *tensor.Tensor, d int64, k int64) (off, st int64) {
	if t.Dim() == 0 {
		return t.Offset, 1
	}
	off = t.Offset
	for i := t.Dim() - 1; i >= 0; i-- {
		if int64(i) == d {
			continue
		}
		off += k % t.Shape[i] * t.Stride[i]
		k /= t.Shape[i]
	}
	return off, t.Stride[d]
}

func runningSum[T float64 | int64](l []T) {
	var s T
	for i, x := range l {
		s += x
		l[i] = s
	}
}

func runningProduct[T float64 | int64](l []T) {
	p := T(1)
	for i, x := range l {
		p *= x
		l[i] = p
	}
}

func scans() {
	simple := func(name string, f func(l []float64), fi func(l []int64), rows func(out, a []float32, cols int), op native.Running) {
		def(name, func(c *Call) (Value, error) {
			t := c.T(0)
			d := t.DType
			if d.Kind() < tensor.KindFloat {
				d = tensor.Int64
			}
			d = c.optDT(d)
			return c.tv(c.scan(t, c.I(1), d, f, fi, rows, func(o, t *tensor.Tensor, d int64) bool { return scanned(o, t, d, op) }))
		})
	}
	simple("cumsum", runningSum[float64], runningSum[int64], native.CumsumRows32, native.RunningSum)
	simple("cumprod", runningProduct[float64], runningProduct[int64], nil, native.RunningProduct)
	def("logcumsumexp", func(c *Call) (Value, error) {
		t := c.T(0)
		return c.tv(c.scan(t, c.I(1), floatType(t.DType), func(l []float64) {
			for i := 1; i < len(l); i++ {
				a, b := l[i-1], l[i]
				if math.IsInf(a, 0) && a == b {
					l[i] = a
					continue
				}
				l[i] = max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
			}
		}, nil, nil, func(o, t *tensor.Tensor, d int64) bool { return scanned(o, t, d, native.RunningLogSum) }))
	})
	best := func(name string, better func(a, b float64) bool) {
		def(name, func(c *Call) (Value, error) {
			t := c.T(0)
			d, err := wrapDim(c.I(1), int64(t.Dim()))
			if err != nil {
				return nil, err
			}
			v := c.NewUnset(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape))
			ix := c.newCUnset(tensor.Int64, t.Shape...)
			if c.real {
				rooms := sync.Pool{New: func() any { return &sorting{} }}
				lines(t, d, func(off, st, n, k int64) {
					l := rooms.Get().(*sorting)
					defer rooms.Put(l)
					l.b, l.p = room(l.b, int(n)), room(l.p, int(n))
					b, p := l.b, l.p
					clear(p)
					tensor.LoadFloat(t, off, st, b)
					for i := int64(1); i < n; i++ {
						if b[i-1] == b[i-1] && (b[i] != b[i] || !better(b[i-1], b[i])) || b[i] != b[i] {
							p[i] = i
						} else {
							b[i], p[i] = b[i-1], p[i-1]
						}
					}
					o, s := lineAt(v, d, k)
					tensor.StoreFloat(v, o, s, b)
					tensor.StoreInt(ix, o, s, p)
				})
			}
			return []Value{v, ix}, nil
		})
	}
	best("cummax", func(a, b float64) bool { return a > b })
	best("cummin", func(a, b float64) bool { return a < b })
}

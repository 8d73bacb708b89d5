package aten

import (
	"math"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// bnShape is the space of a batch normalisation: n images of ch channels of inner elements, in row-major order.
type bnShape struct{ n, ch, inner int64 }

// channels visits the channels, several at once.
func (s bnShape) channels(f func(k int64)) {
	parallel.For(int(s.ch), int(grain/(s.n*s.inner+1)+1), func(lo, hi int) {
		for k := int64(lo); k < int64(hi); k++ {
			f(k)
		}
	})
}

// shortRun is how many elements a run of a channel has that are worth a call.
const shortRun = 1024

// bnNests calls f for rows of n elements that are treated alike, as many as stay in the first cache, several at once: at is a lane of a tensor's elements,
// of one of the channels' numbers, and where the first row begins is from. The rows are runs of a channel, or, where runs are short, of neighbouring channels,
// or, where a run is one element, images.
func bnNests[T float32 | float64](s bnShape, f func(at, of func(x []T) native.Lane[T], k, from, n, rows int64)) {
	const some = 1 << 13
	if s.n*s.ch*s.inner == 0 {
		return
	}
	if s.inner == 1 {
		height := max(some/max(s.ch, 1), 1)
		parallel.For(int((s.n+height-1)/height), int(grain/(height*s.ch+1)+1), func(lo, hi int) {
			for i := int64(lo) * height; i < min(int64(hi)*height, s.n); i += height {
				f(func(x []T) native.Lane[T] { return native.Lane[T]{From: x[i*s.ch:], Step: 1, Row: s.ch} },
					func(x []T) native.Lane[T] { return native.Lane[T]{From: x, Step: 1} }, 0, i*s.ch, s.ch, min(height, s.n-i))
			}
		})
		return
	}
	height := max(some/max(s.inner, 1), 1)
	if s.inner < shortRun {
		per := (s.ch + height - 1) / height
		parallel.For(int(s.n*per), int(grain/(height*s.inner)+1), func(lo, hi int) {
			for q := int64(lo); q < int64(hi); q++ {
				k := q % per * height
				from := (q/per*s.ch + k) * s.inner
				f(func(x []T) native.Lane[T] { return native.Lane[T]{From: x[from:], Step: 1, Row: s.inner} },
					func(x []T) native.Lane[T] { return native.Lane[T]{From: x[k:], Row: 1} }, k, from, s.inner, min(height, s.ch-k))
			}
		})
		return
	}
	s.channels(func(k int64) {
		for i := int64(0); i < s.n; i += height {
			from := (i*s.ch + k) * s.inner
			f(func(x []T) native.Lane[T] { return native.Lane[T]{From: x[from:], Step: 1, Row: s.ch * s.inner} },
				func(x []T) native.Lane[T] { return native.Lane[T]{From: x[k : k+1]} }, k, from, s.inner, min(height, s.n-i))
		}
	})
}

// bnGather gathers the elements of each channel, and, for those reductions that take one, center's number of it.
func bnGather[T float32 | float64](s bnShape, op native.Reduction, x []T, center []float64) []float64 {
	sums := make([]float64, s.ch)
	if s.inner == 1 {
		native.ReduceCols(op, sums, x, center, int(s.n), int(s.ch))
		return sums
	}
	if s.n == 1 {
		native.ReduceRows(op, sums, x, center, int(s.inner), int(s.inner))
		return sums
	}
	s.channels(func(k int64) {
		runs := make([]float64, s.n)
		var about []float64
		if center != nil {
			about = slices.Repeat(center[k:k+1], int(s.n))
		}
		native.ReduceRows(op, runs, x[k*s.inner:], about, int(s.inner), int(s.ch*s.inner))
		for _, r := range runs {
			sums[k] += r
		}
	})
	return sums
}

// bnMoments are the mean and the variance of each channel, summed in float64, with the divisor n.
func bnMoments[T float32 | float64](s bnShape, x []T) (mean, variance []T) {
	cnt := float64(s.n * s.inner)
	sum := bnGather(s, native.Sum, x, nil)
	for k := range sum {
		sum[k] /= cnt
	}
	sq := bnGather(s, native.Deviations, x, sum)
	mean, variance = make([]T, s.ch), make([]T, s.ch)
	for k := range sum {
		mean[k], variance[k] = T(sum[k]), T(sq[k]/cnt)
	}
	return mean, variance
}

// bnInvStd is 1/sqrt(v+eps), rounded at each step.
func bnInvStd[T float32 | float64](v []T, eps float64) []T {
	out := make([]T, len(v))
	for k := range v {
		out[k] = 1 / T(math.Sqrt(float64(v[k]+T(eps))))
	}
	return out
}

// bnApply normalises x to y: subtract, multiply, scale, shift, each rounded, in the order of the decomposition. So compiled code has the
// same bits: with few elements per channel a normalisation magnifies the last one a thousandfold.
func bnApply[T float32 | float64](s bnShape, y, x, mean, inv, weight, bias []T) {
	bnNests(s, func(at, of func(x []T) native.Lane[T], _, _, n, rows int64) {
		row := at(y)
		native.BinaryRows(native.Sub, row, at(x), of(mean), n, rows)
		native.BinaryRows(native.Mul, row, row, of(inv), n, rows)
		if weight != nil {
			native.BinaryRows(native.Mul, row, row, of(weight), n, rows)
		}
		if bias != nil {
			native.BinaryRows(native.Add, row, row, of(bias), n, rows)
		}
	})
}

// bnBackward is the gradient of x, for dx, of weight and of bias behind g, in the order of the decomposition, too.
func bnBackward[T float32 | float64](s bnShape, dx, g, x, mean, inv, weight []T, train bool) (dw, db []T) {
	bnNests(s, func(at, of func(x []T) native.Lane[T], _, _, n, rows int64) {
		row := at(dx)
		native.BinaryRows(native.Sub, row, at(x), of(mean), n, rows)
		native.BinaryRows(native.Mul, row, at(g), row, n, rows)
	})
	sum, dot := bnGather(s, native.Sum, g, nil), bnGather(s, native.Sum, dx, nil)
	norm := T(1 / float64(s.n*s.inner))
	dw, db = make([]T, s.ch), make([]T, s.ch)
	scale, gm, proj := make([]T, s.ch), make([]T, s.ch), make([]T, s.ch)
	for k := range sum {
		db[k], dw[k] = T(sum[k]), T(dot[k])*inv[k]
		scale[k] = inv[k]
		if weight != nil {
			scale[k] *= weight[k]
		}
		gm[k] = db[k] * norm
		proj[k] = T(T(dot[k])*norm) * T(inv[k]*inv[k])
	}
	bnNests(s, func(at, of func(x []T) native.Lane[T], _, _, n, rows int64) {
		to, gr := at(dx), at(g)
		if !train {
			native.BinaryRows(native.Mul, to, gr, of(scale), n, rows)
			return
		}
		native.BinaryRows(native.Sub, to, at(x), of(mean), n, rows)
		native.BinaryRows(native.Mul, to, to, of(proj), n, rows)
		native.BinaryRows(native.Sub, to, gr, to, n, rows)
		native.BinaryRows(native.Sub, to, to, of(gm), n, rows)
		native.BinaryRows(native.Mul, to, to, of(scale), n, rows)
	})
	return dw, db
}

// valuesOf are t's elements in row-major order as T, for reading: they may be t's own. nil for none.
func valuesOf[T float32 | float64](t *tensor.Tensor) []T {
	if t == nil {
		return nil
	}
	if x := own[T](t); x != nil {
		return x
	}
	if x := own[T](t.Contiguous()); x != nil && t.Numel() > 0 {
		return x
	}
	out := make([]T, t.Numel())
	for i, v := range t.Floats() {
		out[i] = T(v)
	}
	return out
}

// own are the elements of a contiguous tensor of dtype T, for writing; nil for others.
func own[T float32 | float64](t *tensor.Tensor) []T {
	if x, ok := any(t.Float32s()).([]T); ok && x != nil {
		return x
	}
	if x, ok := any(t.Float64s()).([]T); ok && x != nil {
		return x
	}
	return nil
}

// setValues stores row-major elements; t may be nil.
func setValues[T float32 | float64](t *tensor.Tensor, xs []T) {
	if t == nil {
		return
	}
	if y := own[T](t); y != nil {
		if len(y) > 0 && &y[0] != &xs[0] {
			copy(y, xs)
		}
		return
	}
	out := make([]float64, len(xs))
	for i, v := range xs {
		out[i] = float64(v)
	}
	t.SetFloats(out)
}

// bnForward fills out, and in training mode mean and invstd, and returns the new running statistics.
func bnForward[T float32 | float64](s bnShape, t, w, b, rm, rv, out, mean, invstd *tensor.Tensor, training bool, momentum, eps float64) (nrm, nrv []T) {
	x := valuesOf[T](t)
	nrm, nrv = slices.Clone(valuesOf[T](rm)), slices.Clone(valuesOf[T](rv))
	mu, inv := make([]T, s.ch), make([]T, s.ch)
	if training {
		var v []T
		mu, v = bnMoments(s, x)
		inv = bnInvStd(v, eps)
		cnt := float64(s.n * s.inner)
		for k := range nrm {
			nrm[k] = T(mu[k]*T(momentum)) + T(nrm[k]*T(1-momentum))
		}
		for k := range nrv {
			nrv[k] = T(T(v[k]*T(cnt/(cnt-1)))*T(momentum)) + T(nrv[k]*T(1-momentum))
		}
		setValues(mean, mu)
		setValues(invstd, inv)
	} else {
		if nrm != nil {
			mu = nrm
		}
		if nrv != nil {
			inv = bnInvStd(nrv, eps)
		}
	}
	y := own[T](out)
	if y == nil {
		y = make([]T, len(x))
	}
	bnApply(s, y, x, mu, inv, valuesOf[T](w), valuesOf[T](b))
	if own[T](out) == nil {
		setValues(out, y)
	}
	return nrm, nrv
}

// bnGradients fills those of gi, gw and gb that are not nil.
func bnGradients[T float32 | float64](s bnShape, g, t, w, rm, rv, sm, si, gi, gw, gb *tensor.Tensor, train bool, eps float64) {
	mean, inv := valuesOf[T](sm), valuesOf[T](si)
	if !train {
		mean, inv = valuesOf[T](rm), bnInvStd(valuesOf[T](rv), eps)
	}
	var dx []T
	if gi != nil {
		dx = own[T](gi)
	}
	if dx == nil {
		dx = make([]T, t.Numel())
	}
	dw, db := bnBackward(s, dx, valuesOf[T](g), valuesOf[T](t), mean, inv, valuesOf[T](w), train)
	setValues(gi, dx)
	setValues(gw, dw)
	setValues(gb, db)
}

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

// rows visits the elements of each channel: where a run of inner elements begins. Several channels at once, the runs of one in their order.
func (s bnShape) rows(f func(k, from int64)) {
	parallel.For(int(s.ch), int(grain/(s.n*s.inner+1)+1), func(lo, hi int) {
		for k := int64(lo); k < int64(hi); k++ {
			for i := range s.n {
				f(k, (i*s.ch+k)*s.inner)
			}
		}
	})
}

// deviations is the sum of x-mean, to the power 1 or 2, in float64.
func deviations[T float32 | float64](x []T, mean float64, power int) float64 {
	if x, ok := any(x).([]float32); ok {
		return native.Deviations32(x, mean, power)
	}
	return native.DeviationsGo(x, mean, power)
}

// bnMoments are the mean and the variance of each channel, summed in float64, with the divisor n.
func bnMoments[T float32 | float64](s bnShape, x []T) (mean, variance []T) {
	cnt := float64(s.n * s.inner)
	sum, sq := make([]float64, s.ch), make([]float64, s.ch)
	s.rows(func(k, from int64) { sum[k] += deviations(x[from:from+s.inner], 0, 1) })
	for k := range sum {
		sum[k] /= cnt
	}
	s.rows(func(k, from int64) { sq[k] += deviations(x[from:from+s.inner], sum[k], 2) })
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
	s.rows(func(k, from int64) {
		row := y[from : from+s.inner]
		rowOp(native.Sub, row, x[from:from+s.inner], mean[k:k+1])
		rowOp(native.Mul, row, row, inv[k:k+1])
		if weight != nil {
			rowOp(native.Mul, row, row, weight[k:k+1])
		}
		if bias != nil {
			rowOp(native.Add, row, row, bias[k:k+1])
		}
	})
}

// rowOp is out = op(a, b); b may be one number.
func rowOp[T float32 | float64](op native.Op, out, a, b []T) {
	switch out := any(out).(type) {
	case []float32:
		native.Binary32(op, out, any(a).([]float32), any(b).([]float32))
	case []float64:
		native.Binary64(op, out, any(a).([]float64), any(b).([]float64))
	}
}

// bnBackward is the gradient of x, weight and bias behind g, in the order of the decomposition, too.
func bnBackward[T float32 | float64](s bnShape, g, x, mean, inv, weight []T, train bool) (dx, dw, db []T) {
	sum, dot := make([]float64, s.ch), make([]float64, s.ch)
	s.rows(func(k, from int64) {
		row := make([]T, s.inner)
		rowOp(native.Sub, row, x[from:from+s.inner], mean[k:k+1])
		rowOp(native.Mul, row, g[from:from+s.inner], row)
		sum[k] += deviations(g[from:from+s.inner], 0, 1)
		dot[k] += deviations(row, 0, 1)
	})
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
	dx = make([]T, len(x))
	s.rows(func(k, from int64) {
		to, gr := dx[from:from+s.inner], g[from:from+s.inner]
		if !train {
			rowOp(native.Mul, to, gr, scale[k:k+1])
			return
		}
		rowOp(native.Sub, to, x[from:from+s.inner], mean[k:k+1])
		rowOp(native.Mul, to, to, proj[k:k+1])
		rowOp(native.Sub, to, gr, to)
		rowOp(native.Sub, to, to, gm[k:k+1])
		rowOp(native.Mul, to, to, scale[k:k+1])
	})
	return dx, dw, db
}

// valuesOf are t's elements in row-major order as T, for reading: they may be t's own. nil for none.
func valuesOf[T float32 | float64](t *tensor.Tensor) []T {
	if t == nil {
		return nil
	}
	if x := own[T](t); x != nil {
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
	if y, ok := any(t.Float32s()).([]T); ok && y != nil {
		copy(y, xs)
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
	dx, dw, db := bnBackward(s, valuesOf[T](g), valuesOf[T](t), mean, inv, valuesOf[T](w), train)
	setValues(gi, dx)
	setValues(gw, dw)
	setValues(gb, db)
}

package aten

import (
	"math"
	"slices"

	"whittle/kernels/tensor"
)

// bnShape is the space of a batch normalisation: n images of ch channels of inner elements, in row-major order.
type bnShape struct{ n, ch, inner int64 }

// rows visits the elements of each channel: where a run of inner elements begins.
func (s bnShape) rows(f func(k, from int64)) {
	for i := int64(0); i < s.n; i++ {
		for k := int64(0); k < s.ch; k++ {
			f(k, (i*s.ch+k)*s.inner)
		}
	}
}

// bnMoments are the mean and the variance of each channel, summed in float64, with the divisor n.
func bnMoments[T float32 | float64](s bnShape, x []T) (mean, variance []T) {
	cnt := float64(s.n * s.inner)
	sum, sq := make([]float64, s.ch), make([]float64, s.ch)
	s.rows(func(k, from int64) {
		part := 0.0
		for _, e := range x[from : from+s.inner] {
			part += float64(e)
		}
		sum[k] += part
	})
	for k := range sum {
		sum[k] /= cnt
	}
	s.rows(func(k, from int64) {
		part, m := 0.0, sum[k]
		for _, e := range x[from : from+s.inner] {
			d := float64(e) - m
			part += d * d
		}
		sq[k] += part
	})
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

// bnApply normalises x in place: subtract, multiply, scale, shift, each rounded, in the order of the decomposition. So compiled code has the
// same bits: with few elements per channel a normalisation magnifies the last one a thousandfold.
func bnApply[T float32 | float64](s bnShape, x, mean, inv, weight, bias []T) {
	s.rows(func(k, from int64) {
		row := x[from : from+s.inner]
		m, r := mean[k], inv[k]
		for j, e := range row {
			row[j] = (e - m) * r
		}
		if weight != nil {
			w := weight[k]
			for j, e := range row {
				row[j] = e * w
			}
		}
		if bias != nil {
			b := bias[k]
			for j, e := range row {
				row[j] = e + b
			}
		}
	})
}

// bnBackward is the gradient of x, weight and bias behind g, in the order of the decomposition, too.
func bnBackward[T float32 | float64](s bnShape, g, x, mean, inv, weight []T, train bool) (dx, dw, db []T) {
	sum, dot := make([]float64, s.ch), make([]float64, s.ch)
	s.rows(func(k, from int64) {
		for j := from; j < from+s.inner; j++ {
			sum[k] += float64(g[j])
			dot[k] += float64(T(g[j] * (x[j] - mean[k])))
		}
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
		for j := from; j < from+s.inner; j++ {
			d := g[j]
			if train {
				d = T(T(d-T((x[j]-mean[k])*proj[k])) - gm[k])
			}
			dx[j] = d * scale[k]
		}
	})
	return dx, dw, db
}

// valuesOf are t's elements in row-major order as T; nil for none.
func valuesOf[T float32 | float64](t *tensor.Tensor) []T {
	if t == nil {
		return nil
	}
	if x, ok := any(t.Float32s()).([]T); ok && x != nil {
		return slices.Clone(x)
	}
	out := make([]T, t.Numel())
	for i, v := range t.Floats() {
		out[i] = T(v)
	}
	return out
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
	nrm, nrv = valuesOf[T](rm), valuesOf[T](rv)
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
	bnApply(s, x, mu, inv, valuesOf[T](w), valuesOf[T](b))
	setValues(out, x)
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

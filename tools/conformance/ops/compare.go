package ops

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// compare holds results against the recorded ones: values, or with data false only shape, dtype and strides.
func compare(r *Record, got, want aten.Value, data bool) error {
	g, w := leaves(got), leaves(want)
	if len(g) != len(w) {
		return fmt.Errorf("%d results, want %d", len(g), len(w))
	}
	for i := range w {
		noise := 0.0
		if i < len(r.Noise) && r.Noise[i] != nil {
			noise = *r.Noise[i]
		}
		if err := compareLeaf(g[i], w[i], noise, data && !slices.Contains(r.Nonunique, i)); err != nil {
			if len(w) > 1 {
				return fmt.Errorf("result %d: %w", i, err)
			}
			return err
		}
	}
	return nil
}

func compareLeaf(g, w aten.Value, noise float64, data bool) error {
	wt, ok := w.(*tensor.Tensor)
	if !ok {
		return compareScalar(g, w)
	}
	gt, ok := g.(*tensor.Tensor)
	if !ok {
		return fmt.Errorf("got %T, want a tensor", g)
	}
	if gt.DType != wt.DType {
		return fmt.Errorf("dtype %v, want %v", gt.DType, wt.DType)
	}
	if !tensor.SameShape(gt, wt) {
		return fmt.Errorf("shape %v, want %v", gt.Shape, wt.Shape)
	}
	if data {
		return Close(gt, wt, noise)
	}
	for i, s := range wt.Shape {
		if s > 1 && wt.Numel() > 0 && gt.Stride[i] != wt.Stride[i] {
			return fmt.Errorf("stride %v, want %v of shape %v", gt.Stride, wt.Stride, wt.Shape)
		}
	}
	return nil
}

func compareScalar(g, w aten.Value) error {
	number := func(v aten.Value) (complex128, bool) {
		switch v := v.(type) {
		case int64:
			return complex(float64(v), 0), true
		case float64:
			return complex(v, 0), true
		case complex128:
			return v, true
		}
		return 0, false
	}
	x, ok1 := number(g)
	y, ok2 := number(w)
	if ok1 && ok2 && (cmplx.Abs(x-y) <= 1e-6*max(1, cmplx.Abs(y)) || cmplx.IsNaN(x) && cmplx.IsNaN(y) || x == y) {
		return nil
	}
	if g != w {
		return fmt.Errorf("got %v, want %v", g, w)
	}
	return nil
}

// tolerance is the largest error, as a share of the largest magnitude of the result, that each dtype is allowed.
var tolerance = map[tensor.DType]float64{tensor.Float64: 1e-10, tensor.Float32: 3e-6, tensor.Float16: 2e-3, tensor.BFloat16: 1.6e-2}

// Close compares values: exactly for ints and bools, else within the dtype's tolerance, scaled by
// the largest finite magnitude of want and widened by noise.
func Close(got, want *tensor.Tensor, noise float64) error {
	if want.DType.Kind() == tensor.KindComplex {
		g, err := realView(got)
		if err != nil {
			return err
		}
		w, err := realView(want)
		if err != nil {
			return err
		}
		return Close(g, w, noise)
	}
	if !want.DType.IsFloat() {
		a, b := got.Ints(), want.Ints()
		for i := range a {
			if a[i] != b[i] {
				return fmt.Errorf("element %d is %d, want %d", i, a[i], b[i])
			}
		}
		return nil
	}
	a, b := got.Floats(), want.Floats()
	scale := 0.0
	for _, x := range b {
		if !math.IsInf(x, 0) && x == x {
			scale = max(scale, math.Abs(x))
		}
	}
	limit := max(tolerance[want.DType]*scale, 4*noise, 1e-30)
	for i := range a {
		x, y := a[i], b[i]
		if x == y || x != x && y != y {
			continue
		}
		if d := math.Abs(x - y); !(d <= limit) {
			return fmt.Errorf("element %d is %g, want %g (off by %.3g, limit %.3g)", i, x, y, d, limit)
		}
	}
	return nil
}

// realView is a complex tensor as a real one with a last dimension of two.
func realView(t *tensor.Tensor) (*tensor.Tensor, error) {
	d := tensor.Float32
	if t.DType == tensor.Complex128 {
		d = tensor.Float64
	}
	return tensor.FromBytes(d, t.Contiguous().Bytes(), append(slices.Clone(t.Shape), 2)...)
}

package decomp

import (
	"math"

	"whittle/aot"
	"whittle/aot/build"
	"whittle/kernels/tensor"
)

// Composite holds operators that PyTorch takes apart while it traces, before autograd sees them, whatever the backend.
var Composite = map[string]aot.Decomposition{}

func init() {
	Composite["aten.dropout.default"] = func(b b_, a []val) val {
		x := in(a[0])
		if train, _ := a[2].(bool); !train || build.Is(a[1], 0) {
			return b.T("clone.default", x)
		}
		return b.M("native_dropout.default", x, a[1], true)[0]
	}
	Composite["aten.softshrink.default"] = func(b b_, a []val) val {
		x := in(a[0])
		return b.Where(b.T("gt.Scalar", b.Un("abs", x), a[1]), b.Sub(x, b.Mul(b.Un("sign", x), a[1])), b.Mul(x, int64(0)))
	}
	Composite["aten.hardshrink.default"] = func(b b_, a []val) val {
		x := in(a[0])
		return b.T("where.ScalarSelf", b.T("le.Scalar", b.Un("abs", x), a[1]), int64(0), x)
	}
	Composite["aten.isfinite.default"] = func(b b_, a []val) val {
		x := in(a[0])
		if !x.DType.IsFloat() {
			return aot.Declined{}
		}
		return b.Mul(b.T("eq.Tensor", x, x), b.T("ne.Scalar", b.Un("abs", x), math.Inf(1)))
	}
	Composite["aten.linear.default"] = func(b b_, a []val) val {
		x, w := in(a[0]), in(a[1])
		if !folds(b, x, w) {
			return aot.Declined{}
		}
		r := foldedProduct(b, x, b.T("t.default", w))
		if len(a) > 2 && a[2] != nil {
			if bias, ok := a[2].(tt); ok && bias != nil {
				return b.Add(r, bias)
			}
		}
		return r
	}
	Composite["aten.matmul.default"] = func(b b_, a []val) val {
		if x, y := in(a[0]), in(a[1]); folds(b, x, y) {
			return foldedProduct(b, x, y)
		}
		return aot.Declined{}
	}
	for _, n := range []string{"1d", "2d", "3d"} {
		Composite["aten.upsample_nearest"+n+".default"] = func(b b_, a []val) val { return nearest(b, in(a[0]), a[1], a[2:], 0) }
		Composite["aten._upsample_nearest_exact"+n+".default"] = func(b b_, a []val) val { return nearest(b, in(a[0]), a[1], a[2:], 0.5) }
	}
	for _, n := range []string{"linear1d", "bilinear2d", "trilinear3d"} {
		Composite["aten.upsample_"+n+".default"] = linearly
	}
}

// folds reports whether the rows of all of x are multiplied at once although they have to be copied for that: with a matrix that
// asks for gradients a batched product would have to sum over a copy of it for each of the batch.
func folds(b b_, x, y tt) bool {
	return x.Dim() > 2 && y.Dim() == 2 && !x.IsContiguous(tensor.ContiguousFormat) && x.Numel() > 0 && aot.NeedsGrad(b.D, y)
}

// foldedProduct is x @ y as one product of matrices.
func foldedProduct(b b_, x, y tt) tt {
	n := len(x.Shape) - 1
	rows := b.T("reshape.default", x, []val{int64(-1), x.Shape[n]})
	out := build.Ints(x.Shape)
	out[n] = y.Shape[1]
	return b.T("_unsafe_view.default", b.T("mm.default", rows, y), out)
}

// nearest picks source elements by index: (i + offset) * scale, cut to an integer.
func nearest(b b_, x tt, size val, scales []val, offset float64) val {
	out := build.ToInts(size)
	n := len(out)
	idx := []val{nil, nil}
	for d, o := range out {
		i := x.Shape[len(x.Shape)-n+d]
		scale := float64(i) / float64(o)
		if d < len(scales) && scales[d] != nil && build.Float(scales[d]) > 0 {
			scale = float64(i) / (float64(i) * build.Float(scales[d]))
		}
		at := b.T("arange.default", o, tensor.Float32)
		at = b.T("_to_copy.default", b.Mul(b.Add(at, offset), scale), tensor.Int64)
		for range n - 1 - d {
			at = b.T("unsqueeze.default", at, int64(-1))
		}
		idx = append(idx, at)
	}
	return b.T("_unsafe_index.Tensor", x, idx)
}

// linearly interpolates between the two neighbours along each dimension.
func linearly(b b_, a []val) val {
	x, out := in(a[0]), build.ToInts(a[1])
	corners, _ := a[2].(bool)
	scales := a[3:]
	n := len(out)
	type axis struct{ f, lo, hi tt }
	axes := make([]axis, n)
	for d, o := range out {
		size := x.Shape[len(x.Shape)-n+d]
		var scale float64
		switch {
		case corners && o > 1:
			scale = (float64(size) - 1) / (float64(o) - 1)
		case corners:
		case d < len(scales) && scales[d] != nil && build.Float(scales[d]) > 0:
			scale = 1 / build.Float(scales[d])
		default:
			scale = float64(size) / float64(o)
		}
		i := b.T("_to_copy.default", b.T("arange.default", o), x.DType)
		if corners {
			i = b.Mul(i, scale)
		} else {
			i = b.Sub(b.Mul(b.Add(i, 0.5), scale), 0.5)
		}
		i = b.T("clamp.default", i, 0.0)
		shape := []val{o}
		for range n - 1 - d {
			shape = append(shape, int64(1))
		}
		f := b.T("view.default", i, shape)
		lo := b.T("_to_copy.default", f, tensor.Int64)
		axes[d] = axis{f, lo, b.T("clamp.default", b.Add(lo, int64(1)), nil, size-1)}
	}
	vs := make([]tt, 1<<n)
	for corner := range vs {
		idx := []val{nil, nil}
		for d, ax := range axes {
			if corner>>(n-1-d)&1 == 0 {
				idx = append(idx, ax.lo)
			} else {
				idx = append(idx, ax.hi)
			}
		}
		vs[corner] = b.T("_unsafe_index.Tensor", x, idx)
	}
	for d := n - 1; d >= 0; d-- {
		w := b.T("clamp.default", b.Sub(axes[d].f, axes[d].lo), 0.0, 1.0)
		next := make([]tt, len(vs)/2)
		for i := range next {
			next[i] = b.Add(vs[2*i], b.Mul(b.Sub(vs[2*i+1], vs[2*i]), w))
		}
		vs = next
	}
	return vs[0]
}

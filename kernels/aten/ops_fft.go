package aten

import (
	"math"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Discrete Fourier transforms, by the lines of a tensor; see native.Transform. All are computed in float64.

// How a transform is scaled: PyTorch's fft_norm_mode.
const (
	fftNone   = 0
	fftByRoot = 1
	fftByN    = 2
)

func fftScale(mode int64, n int64) float64 {
	switch mode {
	case fftByRoot:
		return 1 / math.Sqrt(float64(n))
	case fftByN:
		return 1 / float64(n)
	}
	return 1
}

// fftMode translates the norm argument; forward transforms are not scaled by default.
func fftMode(norm Value, forward bool) (int64, error) {
	switch s, _ := norm.(string); s {
	case "", "backward":
		if forward {
			return fftNone, nil
		}
		return fftByN, nil
	case "forward":
		if forward {
			return fftByN, nil
		}
		return fftNone, nil
	case "ortho":
		return fftByRoot, nil
	default:
		return 0, errf("Invalid normalization mode: \"%s\"", s)
	}
}

// lineStarts is the storage position of the first element of each line of t along d.
func lineStarts(t *tensor.Tensor, d int) []int64 {
	rest := &tensor.Tensor{Shape: slices.Delete(slices.Clone(t.Shape), d, d+1), Stride: slices.Delete(slices.Clone(t.Stride), d, d+1)}
	return addTo(offsets(rest), t.Offset)
}

// fftLines transforms the complex tensor t, of either width, along d, times scale, to o, of the same shape and of either width; the two may be one.
func fftLines(o, t *tensor.Tensor, d int, forward bool, scale float64) {
	switch {
	case t.DType == tensor.Complex64 && o.DType == tensor.Complex64:
		fftLinesOf[complex64, complex64](o, t, d, forward, scale)
	case t.DType == tensor.Complex64:
		fftLinesOf[complex128, complex64](o, t, d, forward, scale)
	case o.DType == tensor.Complex64:
		fftLinesOf[complex64, complex128](o, t, d, forward, scale)
	default:
		fftLinesOf[complex128, complex128](o, t, d, forward, scale)
	}
}

func fftLinesOf[D, S native.Complex](o, t *tensor.Tensor, d int, forward bool, scale float64) {
	plan := native.TransformOf(int(t.Shape[d]), false)
	native.ComplexLines(plan, tensor.Whole[D](o), lineStarts(o, d), o.Stride[d], tensor.Whole[S](t), lineStarts(t, d), t.Stride[d], !forward, scale)
}

// between is room for what is transformed along another dimension yet: a line rounds once, at the end.
func between(shape []int64) *tensor.Tensor {
	return tensor.EmptyUnset(tensor.Complex128, shape, tensor.ContiguousStrides(shape))
}

// fftDims wraps the dimensions of a transform, which must be given and not repeat.
func fftDims(dims []int64, nd int) ([]int, error) {
	out := make([]int, len(dims))
	for i, d := range dims {
		w, err := wrapDim(d, int64(nd))
		if err != nil {
			return nil, err
		}
		if slices.Contains(out[:i], int(w)) {
			return nil, errf("FFT dims must be unique")
		}
		out[i] = int(w)
	}
	return out, nil
}

// mirror fills the second half of a spectrum of a real signal: X[-k] = conj(X[k]), over the transformed dimensions.
func mirror(t *tensor.Tensor, dims []int) {
	if t.DType == tensor.Complex64 {
		mirrorOf(t, dims, func(z complex64) complex64 { return complex(real(z), -imag(z)) })
	} else {
		mirrorOf(t, dims, func(z complex128) complex128 { return complex(real(z), -imag(z)) })
	}
}

func mirrorOf[T native.Complex](t *tensor.Tensor, dims []int, conj func(T) T) {
	last := dims[len(dims)-1]
	n, step, data := t.Shape[last], t.Stride[last], tensor.Whole[T](t)
	rest := slices.Delete(slices.Clone(t.Shape), last, last+1)
	from := &tensor.Tensor{Shape: rest, Stride: slices.Delete(slices.Clone(t.Stride), last, last+1)}
	to := lineStarts(t, last)
	// The line that a line mirrors: at 0 the same, else from the other end, along each other transformed dimension.
	pos := make([]int64, len(rest))
	lines := make([]int64, len(to))
	for k := range to {
		unravel(int64(k), rest, pos)
		at := t.Offset
		for d, p := range pos {
			if whole := d + int(b2i(d >= last)); slices.Contains(dims, whole) && p > 0 {
				p = rest[d] - p
			}
			at += p * from.Stride[d]
		}
		lines[k] = at
	}
	parallel.For(len(to), int(grain/4/(n+1)+1), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			for i := n/2 + 1; i < n; i++ {
				data[to[k]+i*step] = conj(data[lines[k]+(n-i)*step])
			}
		}
	})
}

func fftKernels() {
	def("_fft_c2c", func(c *Call) (Value, error) {
		t := c.T(0)
		if !isComplex(t) {
			return nil, errf("self.is_complex() INTERNAL ASSERT FAILED: _fft_c2c needs a complex input, got %s", cName(t.DType))
		}
		if t.DType == tensor.Complex32 {
			return nil, errf("Unsupported dtype %s", cName(t.DType))
		}
		dims, err := fftDims(c.Ints(1), t.Dim())
		if err != nil {
			return nil, err
		}
		if len(dims) == 0 {
			return c.do("clone", t, nil)
		}
		o := c.NewUnset(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape))
		if !c.real || o.Numel() == 0 {
			return o, nil
		}
		n := int64(1)
		for _, d := range dims {
			n *= t.Shape[d]
		}
		from, scale := t, fftScale(c.I(2), n)
		for i, d := range dims {
			to := o
			if i < len(dims)-1 {
				if to = from; i == 0 {
					to = between(t.Shape)
				}
			}
			fftLines(to, from, d, c.B(3), scale)
			from, scale = to, 1
		}
		return o, nil
	})
	def("_fft_r2c", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.DType != tensor.Float32 && t.DType != tensor.Float64 {
			return nil, errf("self.is_floating_point() INTERNAL ASSERT FAILED: _fft_r2c needs a float or double input, got %s", cName(t.DType))
		}
		dims, err := fftDims(c.Ints(1), t.Dim())
		if err != nil {
			return nil, err
		}
		last := dims[len(dims)-1]
		full, half := slices.Clone(t.Shape), slices.Clone(t.Shape)
		half[last] = t.Shape[last]/2 + 1
		shape := full
		if c.B(3) {
			shape = half
		}
		if t.Numel() == 0 {
			return c.NewC(t.DType.ToComplex(), shape...), nil
		}
		o := c.NewUnset(t.DType.ToComplex(), shape, tensor.ContiguousStrides(shape))
		if !c.real {
			return o, nil
		}
		n, size := t.Shape[last], int64(1)
		for _, d := range dims {
			size *= t.Shape[d]
		}
		to := tensor.NewView(o, half, o.Stride, 0)
		from := to
		if len(dims) > 1 {
			from = between(half)
		}
		plan, scale := native.TransformOf(int(n), true), fftScale(c.I(2), size)
		switch {
		case t.DType == tensor.Float64:
			realLines[complex128, float64](plan, from, t, last, scale)
		case from.DType == tensor.Complex64:
			realLines[complex64, float32](plan, from, t, last, scale)
		default:
			realLines[complex128, float32](plan, from, t, last, scale)
		}
		for i, d := range dims[:len(dims)-1] {
			next := from
			if i == len(dims)-2 {
				next = to
			}
			fftLines(next, from, d, true, 1)
		}
		if !c.B(3) {
			mirror(o, dims)
		}
		return o, nil
	})
	def("_fft_c2r", func(c *Call) (Value, error) {
		t, n := c.T(0), c.I(3)
		if !isComplex(t) {
			return nil, errf("self.is_complex() INTERNAL ASSERT FAILED: _fft_c2r needs a complex input, got %s", cName(t.DType))
		}
		if t.DType == tensor.Complex32 {
			return nil, errf("Unsupported dtype %s", cName(t.DType))
		}
		dims, err := fftDims(c.Ints(1), t.Dim())
		if err != nil {
			return nil, err
		}
		last := dims[len(dims)-1]
		shape := slices.Clone(t.Shape)
		shape[last] = n
		if t.Numel() == 0 {
			return c.NewC(t.DType.ToReal(), shape...), nil
		}
		o := c.NewUnset(t.DType.ToReal(), shape, tensor.ContiguousStrides(shape))
		if !c.real || o.Numel() == 0 {
			return o, nil
		}
		half := n/2 + 1
		if t.Shape[last] < half {
			return nil, errf("_fft_c2r: %d coefficients are too few for a last dimension of %d", t.Shape[last], n)
		}
		from := t
		for _, d := range dims[:len(dims)-1] {
			to := from
			if from == t {
				to = between(t.Shape)
			}
			fftLines(to, from, d, false, 1)
			from = to
		}
		size := int64(1)
		for _, d := range dims {
			size *= shape[d]
		}
		plan, scale := native.TransformOf(int(n), true), fftScale(c.I(2), size)
		switch {
		case o.DType == tensor.Float64:
			halfLines[float64, complex128](plan, o, from, last, scale)
		case from.DType == tensor.Complex64:
			halfLines[float32, complex64](plan, o, from, last, scale)
		default:
			halfLines[float32, complex128](plan, o, from, last, scale)
		}
		return o, nil
	})
}

func realLines[D native.Complex, S native.Real](plan *native.Transform, o, t *tensor.Tensor, d int, scale float64) {
	native.RealLines(plan, tensor.Whole[D](o), lineStarts(o, d), o.Stride[d], tensor.Whole[S](t), lineStarts(t, d), t.Stride[d], scale)
}

func halfLines[D native.Real, S native.Complex](plan *native.Transform, o, t *tensor.Tensor, d int, scale float64) {
	native.HalfLines(plan, tensor.Whole[D](o), lineStarts(o, d), o.Stride[d], tensor.Whole[S](t), lineStarts(t, d), t.Stride[d], scale)
}

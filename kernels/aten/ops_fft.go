package aten

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"

	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Discrete Fourier transforms. gonum computes single lines of any length in float64; the
// operators walk the lines of a tensor and scale.

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

// eachLine shares out count lines of n elements among threads, each of which calls make for a function that does one after the other, in room of its own.
func eachLine(count int, n int64, make func() func(k int)) {
	parallel.For(count, int(grain/8/(n+1)+1), func(lo, hi int) {
		f := make()
		for k := lo; k < hi; k++ {
			f(k)
		}
	})
}

// fftLines transforms the complex tensor t in place along d, times scale.
func fftLines(t *tensor.Tensor, d int, forward bool, scale float64) {
	n := t.Shape[d]
	starts := lineStarts(t, d)
	if t.Stride[d] != 1 && t.DType == tensor.Complex128 {
		fftAcross(tensor.Whole[complex128](t), starts, n, t.Stride[d], forward, scale)
		return
	}
	plans := sync.Pool{New: func() any { return fourier.NewCmplxFFT(int(n)) }}
	eachLine(len(starts), n, func() func(k int) {
		plan := plans.Get().(*fourier.CmplxFFT)
		line, out := make([]complex128, n), make([]complex128, n)
		return func(k int) {
			off := starts[k]
			tensor.LoadComplex(t, off, t.Stride[d], line)
			if forward {
				plan.Coefficients(out, line)
			} else {
				plan.Sequence(out, line)
			}
			if scale != 1 {
				for i := range out {
					out[i] *= complex(scale, 0)
				}
			}
			tensor.StoreComplex(t, off, t.Stride[d], out)
		}
	})
}

// fftAcross is fftLines for lines whose elements lie step apart: as many of them as share lines of the cache are read and written together.
func fftAcross(data []complex128, starts []int64, n, step int64, forward bool, scale float64) {
	const together = 8
	plans := sync.Pool{New: func() any { return fourier.NewCmplxFFT(int(n)) }}
	eachLine((len(starts)+together-1)/together, together*n, func() func(k int) {
		plan := plans.Get().(*fourier.CmplxFFT)
		lines, out := make([]complex128, together*n), make([]complex128, n)
		return func(k int) {
			some := starts[k*together : min((k+1)*together, len(starts))]
			for i := range n {
				for j, s := range some {
					lines[int64(j)*n+i] = data[s+i*step]
				}
			}
			for j := range some {
				line := lines[int64(j)*n:][:n]
				if forward {
					plan.Coefficients(out, line)
				} else {
					plan.Sequence(out, line)
				}
				for i, x := range out {
					line[i] = complex(real(x)*scale, imag(x)*scale)
				}
			}
			for i := range n {
				for j, s := range some {
					data[s+i*step] = lines[int64(j)*n+i]
				}
			}
		}
	})
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
	last := dims[len(dims)-1]
	n := t.Shape[last]
	pos := make([]int64, t.Dim())
	var z [1]complex128
	total := t.Numel()
	for i := int64(0); i < total; i++ {
		unravel(i, t.Shape, pos)
		if pos[last] <= n/2 {
			continue
		}
		src, dst := t.Offset, t.Offset
		for d, p := range pos {
			dst += p * t.Stride[d]
			if slices.Contains(dims, d) {
				p = (t.Shape[d] - p) % t.Shape[d]
			}
			src += p * t.Stride[d]
		}
		tensor.LoadComplex(t, src, 0, z[:])
		z[0] = complex(real(z[0]), -imag(z[0]))
		tensor.StoreComplex(t, dst, 0, z[:])
	}
}

func fftKernels() {
	def("_fft_c2c", func(c *Call) (Value, error) {
		t := c.T(0)
		if !isComplex(t) {
			return nil, errf("self.is_complex() INTERNAL ASSERT FAILED: _fft_c2c needs a complex input, got %s", cName(t.DType))
		}
		dims, err := fftDims(c.Ints(1), t.Dim())
		if err != nil {
			return nil, err
		}
		if len(dims) == 0 {
			return c.do("clone", t, nil)
		}
		o := c.NewC(t.DType, t.Shape...)
		if !c.real || o.Numel() == 0 {
			return o, nil
		}
		// Lines pass through float64 storage, so that several dimensions round once.
		w := tensor.EmptyUnset(tensor.Complex128, t.Shape, tensor.ContiguousStrides(t.Shape))
		tensor.Copy(w, t)
		n := int64(1)
		for _, d := range dims {
			n *= t.Shape[d]
		}
		for i, d := range dims {
			s := 1.0
			if i == 0 {
				s = fftScale(c.I(2), n)
			}
			fftLines(w, d, c.B(3), s)
		}
		tensor.Copy(o, w)
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
		o := c.NewC(t.DType.ToComplex(), shape...)
		if !c.real || t.Numel() == 0 {
			return o, nil
		}
		w := tensor.Empty(tensor.Complex128, shape...)
		n, size := t.Shape[last], int64(1)
		for _, d := range dims {
			size *= t.Shape[d]
		}
		scale := complex(fftScale(c.I(2), size), 0)
		ins, outs := lineStarts(t, last), lineStarts(w, last)
		plans := sync.Pool{New: func() any { return fourier.NewFFT(int(n)) }}
		eachLine(len(ins), n, func() func(k int) {
			plan, line, out := plans.Get().(*fourier.FFT), make([]float64, n), make([]complex128, n/2+1)
			return func(k int) {
				tensor.LoadFloat(t, ins[k], t.Stride[last], line)
				plan.Coefficients(out, line)
				if scale != 1 {
					for i := range out {
						out[i] *= scale
					}
				}
				tensor.StoreComplex(w, outs[k], w.Stride[last], out)
			}
		})
		h := tensor.NewView(w, half, w.Stride, 0)
		for _, d := range dims[:len(dims)-1] {
			fftLines(h, d, true, 1)
		}
		if !c.B(3) {
			mirror(w, dims)
		}
		tensor.Copy(o, w)
		return o, nil
	})
	def("_fft_c2r", func(c *Call) (Value, error) {
		t, n := c.T(0), c.I(3)
		if !isComplex(t) {
			return nil, errf("self.is_complex() INTERNAL ASSERT FAILED: _fft_c2r needs a complex input, got %s", cName(t.DType))
		}
		dims, err := fftDims(c.Ints(1), t.Dim())
		if err != nil {
			return nil, err
		}
		last := dims[len(dims)-1]
		shape := slices.Clone(t.Shape)
		shape[last] = n
		o := c.NewC(t.DType.ToReal(), shape...)
		if !c.real || o.Numel() == 0 || t.Numel() == 0 {
			return o, nil
		}
		half := n/2 + 1
		if t.Shape[last] < half {
			return nil, errf("_fft_c2r: %d coefficients are too few for a last dimension of %d", t.Shape[last], n)
		}
		w := tensor.EmptyUnset(tensor.Complex128, t.Shape, tensor.ContiguousStrides(t.Shape))
		tensor.Copy(w, t)
		for _, d := range dims[:len(dims)-1] {
			fftLines(w, d, false, 1)
		}
		size := int64(1)
		for _, d := range dims {
			size *= shape[d]
		}
		scale := fftScale(c.I(2), size)
		ins, outs := lineStarts(w, last), lineStarts(o, last)
		plans := sync.Pool{New: func() any { return fourier.NewFFT(int(n)) }}
		eachLine(len(ins), n, func() func(k int) {
			plan, line, out := plans.Get().(*fourier.FFT), make([]complex128, half), make([]float64, n)
			return func(k int) {
				tensor.LoadComplex(w, ins[k], w.Stride[last], line)
				// The zero frequency of a real signal is real, and so is the highest of an even length.
				line[0] = complex(real(line[0]), 0)
				if n%2 == 0 {
					line[half-1] = complex(real(line[half-1]), 0)
				}
				plan.Sequence(out, line)
				for i := range out {
					out[i] *= scale
				}
				tensor.StoreFloat(o, outs[k], o.Stride[last], out)
			}
		})
		return o, nil
	})
}

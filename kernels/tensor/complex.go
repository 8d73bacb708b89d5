package tensor

// LoadComplex reads len(dst) elements at storage positions off, off+stride, ...; real dtypes have imaginary part 0.
func LoadComplex(t *Tensor, off, stride int64, dst []complex128) {
	if len(dst) == 0 {
		return
	}
	switch t.DType {
	case Complex64:
		s := all[complex64](t)
		for i := range dst {
			dst[i] = complex128(s[off])
			off += stride
		}
	case Complex128:
		s := all[complex128](t)
		for i := range dst {
			dst[i] = s[off]
			off += stride
		}
	default:
		buf := make([]float64, len(dst))
		LoadFloat(t, off, stride, buf)
		for i, x := range buf {
			dst[i] = complex(x, 0)
		}
	}
}

// StoreComplex writes src at storage positions off, off+stride, ...; real dtypes take the real part, bool whether it is not zero.
func StoreComplex(t *Tensor, off, stride int64, src []complex128) {
	if len(src) == 0 {
		return
	}
	switch t.DType {
	case Complex64:
		s := all[complex64](t)
		for _, x := range src {
			s[off] = complex64(x)
			off += stride
		}
	case Complex128:
		s := all[complex128](t)
		for _, x := range src {
			s[off] = x
			off += stride
		}
	default:
		buf := make([]float64, len(src))
		for i, x := range src {
			buf[i] = real(x)
			if t.DType == Bool && imag(x) != 0 {
				buf[i] = 1
			}
		}
		StoreFloat(t, off, stride, buf)
	}
}

// Complexes copies t's elements in row-major order to a fresh []complex128.
func (t *Tensor) Complexes() []complex128 {
	out := make([]complex128, t.Numel())
	if t.Fake {
		return out
	}
	forRows(t, func(o, s, k, n int64) { LoadComplex(t, o, s, out[k:k+n]) })
	return out
}

// SetComplexes stores len(t) values in row-major order.
func (t *Tensor) SetComplexes(xs []complex128) {
	forRows(t, func(o, s, k, n int64) { StoreComplex(t, o, s, xs[k:k+n]) })
}

// FillComplex sets every element to z.
func (t *Tensor) FillComplex(z complex128) {
	if t.Fake || t.Numel() == 0 {
		return
	}
	one := Empty(t.DType)
	StoreComplex(one, 0, 0, []complex128{z})
	t.fillFrom(one)
}

// ToReal is the real dtype of a complex dtype's parts; other dtypes are their own.
func (d DType) ToReal() DType {
	switch d {
	case Complex64:
		return Float32
	case Complex128:
		return Float64
	case Complex32:
		return Float16
	}
	return d
}

// ToComplex is the complex dtype whose parts are of the floating dtype d; other dtypes are their own.
func (d DType) ToComplex() DType {
	switch d {
	case Float32, BFloat16:
		return Complex64
	case Float64:
		return Complex128
	case Float16:
		return Complex32
	}
	return d
}

package tensor

import "math"

// F32ToBF16 rounds x to bfloat16, to nearest even; NaN stays NaN.
func F32ToBF16(x float32) uint16 {
	b := math.Float32bits(x)
	if b&0x7fffffff > 0x7f800000 {
		return 0x7fc0
	}
	return uint16((b + 0x7fff + (b>>16)&1) >> 16)
}

// BF16ToF32 widens a bfloat16.
func BF16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// F32ToF16 rounds x to IEEE half precision, to nearest even, with subnormals and overflow to infinity.
func F32ToF16(x float32) uint16 {
	b := math.Float32bits(x)
	sign := uint16(b>>16) & 0x8000
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00
	case b >= 0x47800000: // 65536 and above
		return sign | 0x7c00
	case b < 0x38800000: // below the smallest normal half
		// Adding 0.5 aligns the mantissa so that the FPU does the rounding.
		f := math.Float32frombits(b) + 0.5
		return sign | uint16(math.Float32bits(f)-0x3f000000)
	}
	b += 0xfff + (b>>13)&1
	return sign | uint16((b-0x38000000)>>13)
}

// F16ToF32 widens a half.
func F16ToF32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	e := uint32(h>>10) & 31
	m := uint32(h & 0x3ff)
	switch e {
	case 0:
		f := float32(m) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | m<<13)
	}
	return math.Float32frombits(sign | (e+112)<<23 | m<<13)
}

// RoundTo rounds x to the precision of the floating dtype d; other dtypes leave it alone.
func RoundTo(d DType, x float64) float64 {
	switch d {
	case Float32:
		return float64(float32(x))
	case BFloat16:
		return float64(BF16ToF32(F32ToBF16(float32(x))))
	case Float16:
		return float64(F16ToF32(F32ToF16(float32(x))))
	}
	return x
}

// IsSmallFloat reports whether d is float32 or a 16-bit float, whose elements float32 holds.
func (d DType) IsSmallFloat() bool { return d == Float32 || d == BFloat16 || d == Float16 }

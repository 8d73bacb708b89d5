package ndarray

import (
	"math"
	"math/cmplx"
)

// unary defines the functions of one argument.
func unary() {
	for _, f := range []struct {
		name string
		real func(float64) float64
		cplx func(complex128) complex128
	}{
		{"exp", math.Exp, cmplx.Exp},
		{"exp2", math.Exp2, func(c complex128) complex128 { return cmplx.Pow(2, c) }},
		{"expm1", math.Expm1, func(c complex128) complex128 { return cmplx.Exp(c) - 1 }},
		{"log", math.Log, cmplx.Log},
		{"log2", math.Log2, func(c complex128) complex128 { return cmplx.Log(c) / math.Ln2 }},
		{"log10", math.Log10, cmplx.Log10},
		{"log1p", math.Log1p, func(c complex128) complex128 { return cmplx.Log(1 + c) }},
		{"sqrt", math.Sqrt, cmplx.Sqrt},
		{"cbrt", math.Cbrt, nil},
		{"sin", math.Sin, cmplx.Sin}, {"cos", math.Cos, cmplx.Cos}, {"tan", math.Tan, cmplx.Tan},
		{"arcsin", math.Asin, cmplx.Asin}, {"arccos", math.Acos, cmplx.Acos}, {"arctan", math.Atan, cmplx.Atan},
		{"sinh", math.Sinh, cmplx.Sinh}, {"cosh", math.Cosh, cmplx.Cosh}, {"tanh", math.Tanh, cmplx.Tanh},
		{"arcsinh", math.Asinh, cmplx.Asinh}, {"arccosh", math.Acosh, cmplx.Acosh}, {"arctanh", math.Atanh, cmplx.Atanh},
		{"degrees", func(x float64) float64 { return x * (180 / math.Pi) }, nil},
		{"radians", func(x float64) float64 { return x * (math.Pi / 180) }, nil},
		{"fabs", math.Abs, nil},
		{"rint", math.RoundToEven, func(c complex128) complex128 {
			return complex(math.RoundToEven(real(c)), math.RoundToEven(imag(c)))
		}},
		{"spacing", func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) - x }, nil},
	} {
		rows := floats1(f.real)
		if f.cplx != nil {
			rows = append(rows, complex1(f.cplx)...)
		}
		fn1(f.name, rows...)
	}
	fn1("spacing", row1(Float32, Float32, one(func(x float32) float32 { return math.Nextafter32(x, float32(math.Inf(1))) - x })), row1(Float64, Float64, one(func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) - x })))
	ufuncs["asin"], ufuncs["acos"], ufuncs["atan"], ufuncs["asinh"], ufuncs["acosh"], ufuncs["atanh"], ufuncs["atan2"] = ufuncs["arcsin"], ufuncs["arccos"], ufuncs["arctan"], ufuncs["arcsinh"], ufuncs["arccosh"], ufuncs["arctanh"], ufuncs["arctan2"]
	ufuncs["rad2deg"], ufuncs["deg2rad"] = ufuncs["degrees"], ufuncs["radians"]
	signs()
	for name, f := range map[string]func(float64) float64{"floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc} {
		rows := append([]Typed{row1(Bool, Bool, castSame[b8])}, sameInts()...)
		fn1(name, append(rows, floats1(f)...)...)
	}
	fn1("reciprocal", cat([]Typed{row1(Int8, Int8, one(inverse[int8])), row1(UInt8, UInt8, one(inverse[uint8])), row1(Int16, Int16, one(inverse[int16])), row1(UInt16, UInt16, one(inverse[uint16])), row1(Int32, Int32, one(inverse[int32])),
		row1(UInt32, UInt32, one(inverse[uint32])), row1(Int64, Int64, one(inverse[int64])), row1(UInt64, UInt64, one(inverse[uint64]))}, floats1(func(x float64) float64 { return 1 / x }), complex1(func(c complex128) complex128 { return divideComplex(1, c) }))...)
	classify()
}

func sameInts() []Typed {
	return []Typed{row1(Int8, Int8, castSame[int8]), row1(UInt8, UInt8, castSame[uint8]), row1(Int16, Int16, castSame[int16]), row1(UInt16, UInt16, castSame[uint16]), row1(Int32, Int32, castSame[int32]), row1(UInt32, UInt32, castSame[uint32]), row1(Int64, Int64, castSame[int64]), row1(UInt64, UInt64, castSame[uint64])}
}

func inverse[T integer](a T) T {
	if a == 0 {
		return 0
	}
	return 1 / a
}
func negate[T integer | float32 | float64 | complexes](a T) T { return -a }
func square[T integer | float32 | float64 | complexes](a T) T { return a * a }
func absolute[T integer](a T) T {
	if a < 0 {
		return -a
	}
	return a
}
func sign[T integer | float32 | float64](a T) T {
	switch {
	case a > 0:
		return 1
	case a < 0:
		return a / -a
	case a == 0:
		return 0
	}
	return a
}

// signs defines what is exact: negative, absolute, sign, square, conjugate.
func signs() {
	halfs := func(f func(float32) float32) Typed {
		return row1(Float16, Float16, one(func(a f16) f16 { return toHalf(f(a.f32())) }))
	}
	fn1("negative", row1(Int8, Int8, one(negate[int8])), row1(UInt8, UInt8, one(negate[uint8])), row1(Int16, Int16, one(negate[int16])), row1(UInt16, UInt16, one(negate[uint16])), row1(Int32, Int32, one(negate[int32])),
		row1(UInt32, UInt32, one(negate[uint32])), row1(Int64, Int64, one(negate[int64])), row1(UInt64, UInt64, one(negate[uint64])), halfs(negate[float32]), row1(Float32, Float32, one(negate[float32])),
		row1(Float64, Float64, one(negate[float64])), row1(Complex64, Complex64, one(negate[complex64])), row1(Complex128, Complex128, one(negate[complex128])))
	fn1("square", row1(Int8, Int8, one(square[int8])), row1(UInt8, UInt8, one(square[uint8])), row1(Int16, Int16, one(square[int16])), row1(UInt16, UInt16, one(square[uint16])), row1(Int32, Int32, one(square[int32])),
		row1(UInt32, UInt32, one(square[uint32])), row1(Int64, Int64, one(square[int64])), row1(UInt64, UInt64, one(square[uint64])), halfs(square[float32]), row1(Float32, Float32, one(square[float32])),
		row1(Float64, Float64, one(square[float64])), row1(Complex64, Complex64, one(square[complex64])), row1(Complex128, Complex128, one(square[complex128])))
	fn1("sign", row1(Int8, Int8, one(sign[int8])), row1(UInt8, UInt8, one(sign[uint8])), row1(Int16, Int16, one(sign[int16])), row1(UInt16, UInt16, one(sign[uint16])), row1(Int32, Int32, one(sign[int32])),
		row1(UInt32, UInt32, one(sign[uint32])), row1(Int64, Int64, one(sign[int64])), row1(UInt64, UInt64, one(sign[uint64])), halfs(sign[float32]), row1(Float32, Float32, one(sign[float32])), row1(Float64, Float64, one(sign[float64])),
		row1(Complex64, Complex64, one(func(c complex64) complex64 { return complex64(signComplex(complex128(c))) })), row1(Complex128, Complex128, one(signComplex)))
	fn1("absolute", row1(Bool, Bool, castSame[b8]), row1(Int8, Int8, one(absolute[int8])), row1(UInt8, UInt8, castSame[uint8]), row1(Int16, Int16, one(absolute[int16])), row1(UInt16, UInt16, castSame[uint16]), row1(Int32, Int32, one(absolute[int32])),
		row1(UInt32, UInt32, castSame[uint32]), row1(Int64, Int64, one(absolute[int64])), row1(UInt64, UInt64, castSame[uint64]), row1(Float16, Float16, one(func(a f16) f16 { return a & 0x7fff })),
		row1(Float32, Float32, one(func(a float32) float32 { return math.Float32frombits(math.Float32bits(a) &^ (1 << 31)) })), row1(Float64, Float64, one(math.Abs)),
		row1(Complex64, Float32, one(func(c complex64) float32 { return float32(cmplx.Abs(complex128(c))) })), row1(Complex128, Float64, one(cmplx.Abs)))
	ufuncs["abs"] = ufuncs["absolute"]
	same := append(sameInts(), row1(Float16, Float16, castSame[f16]), row1(Float32, Float32, castSame[float32]), row1(Float64, Float64, castSame[float64]))
	fn1("conjugate", cat(same, complex1(cmplx.Conj))...)
	ufuncs["conj"] = ufuncs["conjugate"]
	fn1("positive", append(same, row1(Complex64, Complex64, castSame[complex64]), row1(Complex128, Complex128, castSame[complex128]))...)
}

func signComplex(c complex128) complex128 {
	if c == 0 {
		return 0
	}
	return c / complex(cmplx.Abs(c), 0)
}

// classify defines the tests of numbers, and what takes them apart.
func classify() {
	test := func(name string, f func(float64) bool, c func(complex128) bool, ints bool) {
		rows := []Typed{}
		if c != nil {
			for _, n := range Plain[:9] { // of integers the answer is known
				rows = append(rows, row1(n, Bool, constant(ints)))
			}
		}
		rows = append(rows, row1(Float16, Bool, one(func(a f16) b8 { return boolean(f(float64(a.f32()))) })), row1(Float32, Bool, one(func(a float32) b8 { return boolean(f(float64(a))) })), row1(Float64, Bool, one(func(a float64) b8 { return boolean(f(a)) })))
		if c != nil {
			rows = append(rows, row1(Complex64, Bool, one(func(a complex64) b8 { return boolean(c(complex128(a))) })), row1(Complex128, Bool, one(func(a complex128) b8 { return boolean(c(a)) })))
		}
		fn1(name, rows...)
	}
	finite := func(x float64) bool { return x-x == 0 }
	inf := func(x float64) bool { return math.IsInf(x, 0) }
	test("isnan", math.IsNaN, isNaN, false)
	test("isinf", inf, func(c complex128) bool { return inf(real(c)) || inf(imag(c)) }, false)
	test("isfinite", finite, func(c complex128) bool { return finite(real(c)) && finite(imag(c)) }, true)
	test("signbit", math.Signbit, nil, false)
	define(&Ufunc{Name: "modf", In: 1, Out: 2, Rows: []Typed{
		{[]Num{Float16, Float16, Float16}, split(func(a f16) (f16, f16) { f, i := modf(float64(a.f32())); return toHalf(float32(f)), toHalf(float32(i)) })},
		{[]Num{Float32, Float32, Float32}, split(func(a float32) (float32, float32) { f, i := modf(float64(a)); return float32(f), float32(i) })},
		{[]Num{Float64, Float64, Float64}, split(modf)},
	}})
	define(&Ufunc{Name: "frexp", In: 1, Out: 2, Rows: []Typed{
		{[]Num{Float32, Float32, Int32}, split(func(a float32) (float32, int32) { f, e := math.Frexp(float64(a)); return float32(f), int32(e) })},
		{[]Num{Float64, Float64, Int32}, split(func(a float64) (float64, int32) { f, e := math.Frexp(a); return f, int32(e) })},
	}})
}

func modf(x float64) (frac, whole float64) {
	if math.IsInf(x, 0) {
		return math.Copysign(0, x), x
	}
	whole, frac = math.Modf(x)
	return math.Copysign(frac, x), whole
}

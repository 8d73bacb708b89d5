package ndarray

import (
	"math"
	"math/bits"
	"math/cmplx"
	"unsafe"
)

func row1(a, r Num, l Loop) Typed    { return Typed{[]Num{a, r}, l} }
func row2(a, b, r Num, l Loop) Typed { return Typed{[]Num{a, b, r}, l} }
func same2(n Num, l Loop) Typed      { return row2(n, n, n, l) }
func test2(n Num, l Loop) Typed      { return row2(n, n, Bool, l) }
func define(u *Ufunc)                { ufuncs[u.Name] = u }
func fn1(name string, rows ...Typed) { define(&Ufunc{Name: name, In: 1, Out: 1, Rows: rows}) }
func fn2(name string, id any, r []Typed) {
	define(&Ufunc{Name: name, In: 2, Out: 1, Identity: id, Rows: r})
}

// ints2 are the rows of a function of two integers; of is called with each type by way of generic twins.
func ints2(i8 func(a, b int8) int8, u8 func(a, b uint8) uint8, i16 func(a, b int16) int16, u16 func(a, b uint16) uint16,
	i32 func(a, b int32) int32, u32 func(a, b uint32) uint32, i64 func(a, b int64) int64, u64 func(a, b uint64) uint64) []Typed {
	return []Typed{
		same2(Int8, folding(two(i8), i8)), same2(UInt8, folding(two(u8), u8)), same2(Int16, folding(two(i16), i16)), same2(UInt16, folding(two(u16), u16)),
		same2(Int32, folding(two(i32), i32)), same2(UInt32, folding(two(u32), u32)), same2(Int64, folding(two(i64), i64)), same2(UInt64, folding(two(u64), u64)),
	}
}

// floats2 are the rows of a function of two real numbers. Halves are computed in float32.
func floats2(f32 func(a, b float32) float32, f64 func(a, b float64) float64) []Typed {
	h := func(a, b f16) f16 { return toHalf(f32(a.f32(), b.f32())) }
	return []Typed{same2(Float16, folding(two(h), h)), same2(Float32, folding(two(f32), f32)), same2(Float64, folding(two(f64), f64))}
}

// math2 is floats2 of a function of float64.
func math2(f func(a, b float64) float64) []Typed {
	return floats2(func(a, b float32) float32 { return float32(f(float64(a), float64(b))) }, f)
}

// floats1 are the rows of a function of one real number.
func floats1(f func(float64) float64) []Typed {
	return []Typed{
		row1(Float16, Float16, one(func(a f16) f16 { return toHalf(float32(f(float64(a.f32())))) })),
		row1(Float32, Float32, one(func(a float32) float32 { return float32(f(float64(a))) })),
		row1(Float64, Float64, one(f)),
	}
}

func complex1(f func(complex128) complex128) []Typed {
	return []Typed{
		row1(Complex64, Complex64, one(func(a complex64) complex64 { return complex64(f(complex128(a))) })),
		row1(Complex128, Complex128, one(f)),
	}
}

func complex2(f func(a, b complex128) complex128) []Typed {
	g := func(a, b complex64) complex64 { return complex64(f(complex128(a), complex128(b))) }
	return []Typed{same2(Complex64, folding(two(g), g)), same2(Complex128, folding(two(f), f))}
}

func cat(rows ...[]Typed) (out []Typed) {
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}

func halfVector(f func(a, b float32) float32) Loop {
	h := func(a, b f16) f16 { return toHalf(f(a.f32(), b.f32())) }
	return folding(two(h), h)
}

func init() {
	or := func(a, b b8) b8 { return boolean(a != 0 || b != 0) }
	and := func(a, b b8) b8 { return boolean(a != 0 && b != 0) }
	sums := []Typed{
		same2(Float16, adding(halfVector(func(a, b float32) float32 { return a + b }), func(p unsafe.Pointer, n, s int, into *f16) { *into = toHalf(into.f32() + halfSum(p, n, s)) })),
		same2(Float32, adding(addVector[float32]().loop, func(p unsafe.Pointer, n, s int, into *float32) { *into += pairwise[float32](p, n, s) })),
		same2(Float64, adding(addVector[float64]().loop, func(p unsafe.Pointer, n, s int, into *float64) { *into += pairwise[float64](p, n, s) })),
		same2(Complex64, adding(addVector[complex64]().loop, func(p unsafe.Pointer, n, s int, into *complex64) { *into += pairwiseComplex[complex64](p, n, s) })),
		same2(Complex128, adding(addVector[complex128]().loop, func(p unsafe.Pointer, n, s int, into *complex128) { *into += pairwiseComplex[complex128](p, n, s) })),
	}
	fn2("add", int64(0), cat([]Typed{same2(Bool, folding(two(or), or))}, vectorInts(addVector[int8](), addVector[uint8](), addVector[int16](), addVector[uint16](), addVector[int32](), addVector[uint32](), addVector[int64](), addVector[uint64]()), sums))
	fn2("subtract", nil, cat(vectorInts(subVector[int8](), subVector[uint8](), subVector[int16](), subVector[uint16](), subVector[int32](), subVector[uint32](), subVector[int64](), subVector[uint64]()),
		[]Typed{same2(Float16, halfVector(func(a, b float32) float32 { return a - b })), same2(Float32, subVector[float32]().loop), same2(Float64, subVector[float64]().loop), same2(Complex64, subVector[complex64]().loop), same2(Complex128, subVector[complex128]().loop)}))
	fn2("multiply", int64(1), cat([]Typed{same2(Bool, folding(two(and), and))}, vectorInts(mulVector[int8](), mulVector[uint8](), mulVector[int16](), mulVector[uint16](), mulVector[int32](), mulVector[uint32](), mulVector[int64](), mulVector[uint64]()),
		[]Typed{same2(Float16, halfVector(func(a, b float32) float32 { return a * b })), same2(Float32, mulVector[float32]().loop), same2(Float64, mulVector[float64]().loop), same2(Complex64, mulVector[complex64]().loop), same2(Complex128, mulVector[complex128]().loop)}))
	quotient := func(n Num, l Loop) Typed { return row2(n, n, Float64, l) }
	fn2("divide", nil, cat([]Typed{quotient(Int8, two(divided[int8])), quotient(UInt8, two(divided[uint8])), quotient(Int16, two(divided[int16])), quotient(UInt16, two(divided[uint16])),
		quotient(Int32, two(divided[int32])), quotient(UInt32, two(divided[uint32])), quotient(Int64, two(divided[int64])), quotient(UInt64, two(divided[uint64])),
		same2(Float16, halfVector(func(a, b float32) float32 { return a / b })), same2(Float32, divVector[float32]().loop), same2(Float64, divVector[float64]().loop)}, complex2(divideComplex)))
	ufuncs["divide"].Name = "divide"
	ufuncs["true_divide"] = ufuncs["divide"]

	fn2("floor_divide", nil, cat(ints2(floorDiv[int8], floorDiv[uint8], floorDiv[int16], floorDiv[uint16], floorDiv[int32], floorDiv[uint32], floorDiv[int64], floorDiv[uint64]), floats2(func(a, b float32) float32 { q, _ := divmod(a, b); return q }, func(a, b float64) float64 { q, _ := divmod(a, b); return q })))
	fn2("remainder", nil, cat(ints2(floorMod[int8], floorMod[uint8], floorMod[int16], floorMod[uint16], floorMod[int32], floorMod[uint32], floorMod[int64], floorMod[uint64]), floats2(func(a, b float32) float32 { _, m := divmod(a, b); return m }, func(a, b float64) float64 { _, m := divmod(a, b); return m })))
	ufuncs["mod"] = ufuncs["remainder"]
	fn2("fmod", nil, cat(ints2(truncMod[int8], truncMod[uint8], truncMod[int16], truncMod[uint16], truncMod[int32], truncMod[uint32], truncMod[int64], truncMod[uint64]), math2(math.Mod)))
	fn2("power", nil, cat(ints2(intPow[int8], intPow[uint8], intPow[int16], intPow[uint16], intPow[int32], intPow[uint32], intPow[int64], intPow[uint64]), math2(pow), complex2(powComplex)))
	ufuncs["power"].Refuse = func(t *Typed, ins []*Array) error {
		if k := Of(t.Types[0]).Kind; k != 'i' {
			return nil
		}
		for _, e := range ins[1].offsets() {
			if v, ok := ins[1].Get(e).(int64); ok && v < 0 {
				return fail("ValueError", "Integers to negative integer powers are not allowed.")
			}
		}
		return nil
	}
	ufuncs["pow"] = ufuncs["power"]
	fn2("float_power", nil, cat([]Typed{same2(Float64, two(pow))}, complex2(powComplex)[1:]))
	fn2("arctan2", nil, math2(math.Atan2))
	fn2("hypot", int64(0), math2(math.Hypot))
	fn2("copysign", nil, math2(math.Copysign))
	fn2("nextafter", nil, []Typed{same2(Float16, two(halfNext)), same2(Float32, two(math.Nextafter32)), same2(Float64, two(math.Nextafter))})
	fn2("logaddexp", math.Inf(-1), math2(func(a, b float64) float64 {
		if a == b {
			return a + math.Ln2
		}
		if a > b {
			return a + math.Log1p(math.Exp(b-a))
		}
		return b + math.Log1p(math.Exp(a-b))
	}))
	fn2("logaddexp2", math.Inf(-1), math2(func(a, b float64) float64 {
		if a == b {
			return a + 1
		}
		return max(a, b) + math.Log1p(math.Exp2(-math.Abs(a-b)))/math.Ln2
	}))
	fn2("heaviside", nil, math2(func(x, h float64) float64 {
		switch {
		case x != x:
			return x
		case x == 0:
			return h
		case x < 0:
			return 0
		}
		return 1
	}))
	fn2("ldexp", nil, []Typed{
		row2(Float16, Int32, Float16, two(func(a f16, b int32) f16 { return toHalf(float32(math.Ldexp(float64(a.f32()), int(b)))) })),
		row2(Float32, Int32, Float32, two(func(a float32, b int32) float32 { return float32(math.Ldexp(float64(a), int(b))) })),
		row2(Float32, Int64, Float32, two(func(a float32, b int64) float32 { return float32(math.Ldexp(float64(a), int(b))) })),
		row2(Float64, Int32, Float64, two(func(a float64, b int32) float64 { return math.Ldexp(a, int(b)) })),
		row2(Float64, Int64, Float64, two(func(a float64, b int64) float64 { return math.Ldexp(a, int(b)) })),
	})
	bitwise()
	compare()
	extremes()
	unary()
}

func vectorInts(i8 vector[int8, int8], u8 vector[uint8, uint8], i16 vector[int16, int16], u16 vector[uint16, uint16], i32 vector[int32, int32], u32 vector[uint32, uint32], i64 vector[int64, int64], u64 vector[uint64, uint64]) []Typed {
	return []Typed{
		same2(Int8, folding(i8.loop, i8.each)), same2(UInt8, folding(u8.loop, u8.each)), same2(Int16, folding(i16.loop, i16.each)), same2(UInt16, folding(u16.loop, u16.each)),
		same2(Int32, folding(i32.loop, i32.each)), same2(UInt32, folding(u32.loop, u32.each)), same2(Int64, folding(i64.loop, i64.each)), same2(UInt64, folding(u64.loop, u64.each)),
	}
}

// bitwise defines what works on bits and truths.
func bitwise() {
	or := func(a, b b8) b8 { return boolean(a != 0 || b != 0) }
	and := func(a, b b8) b8 { return boolean(a != 0 && b != 0) }
	xor := func(a, b b8) b8 { return boolean((a != 0) != (b != 0)) }
	fn2("bitwise_and", int64(-1), cat([]Typed{same2(Bool, folding(two(and), and))}, ints2(bitAnd[int8], bitAnd[uint8], bitAnd[int16], bitAnd[uint16], bitAnd[int32], bitAnd[uint32], bitAnd[int64], bitAnd[uint64])))
	fn2("bitwise_or", int64(0), cat([]Typed{same2(Bool, folding(two(or), or))}, ints2(bitOr[int8], bitOr[uint8], bitOr[int16], bitOr[uint16], bitOr[int32], bitOr[uint32], bitOr[int64], bitOr[uint64])))
	fn2("bitwise_xor", int64(0), cat([]Typed{same2(Bool, folding(two(xor), xor))}, ints2(bitXor[int8], bitXor[uint8], bitXor[int16], bitXor[uint16], bitXor[int32], bitXor[uint32], bitXor[int64], bitXor[uint64])))
	fn2("left_shift", nil, ints2(shiftLeft[int8], shiftLeft[uint8], shiftLeft[int16], shiftLeft[uint16], shiftLeft[int32], shiftLeft[uint32], shiftLeft[int64], shiftLeft[uint64]))
	fn2("right_shift", nil, ints2(shiftRight[int8], shiftRight[uint8], shiftRight[int16], shiftRight[uint16], shiftRight[int32], shiftRight[uint32], shiftRight[int64], shiftRight[uint64]))
	fn2("gcd", int64(0), ints2(gcd[int8], gcd[uint8], gcd[int16], gcd[uint16], gcd[int32], gcd[uint32], gcd[int64], gcd[uint64]))
	fn2("lcm", nil, ints2(lcm[int8], lcm[uint8], lcm[int16], lcm[uint16], lcm[int32], lcm[uint32], lcm[int64], lcm[uint64]))
	fn1("invert", row1(Bool, Bool, one(func(a b8) b8 { return boolean(a == 0) })), row1(Int8, Int8, one(func(a int8) int8 { return ^a })), row1(UInt8, UInt8, one(func(a uint8) uint8 { return ^a })),
		row1(Int16, Int16, one(func(a int16) int16 { return ^a })), row1(UInt16, UInt16, one(func(a uint16) uint16 { return ^a })), row1(Int32, Int32, one(func(a int32) int32 { return ^a })), row1(UInt32, UInt32, one(func(a uint32) uint32 { return ^a })),
		row1(Int64, Int64, one(func(a int64) int64 { return ^a })), row1(UInt64, UInt64, one(func(a uint64) uint64 { return ^a })))
	ufuncs["bitwise_not"], ufuncs["bitwise_invert"] = ufuncs["invert"], ufuncs["invert"]
	ufuncs["bitwise_left_shift"], ufuncs["bitwise_right_shift"] = ufuncs["left_shift"], ufuncs["right_shift"]
	count := func(n Num, l Loop) Typed { return row1(n, UInt8, l) }
	fn1("bitwise_count", count(Int8, one(popcount[int8])), count(UInt8, one(popcount[uint8])), count(Int16, one(popcount[int16])), count(UInt16, one(popcount[uint16])),
		count(Int32, one(popcount[int32])), count(UInt32, one(popcount[uint32])), count(Int64, one(popcount[int64])), count(UInt64, one(popcount[uint64])))

	// The logical functions see truths: every number is made one first.
	var ands, ors, xors, nots []Typed
	for _, n := range Plain {
		c := castTable[n][Bool]
		if n == Bool {
			ands, ors, xors = []Typed{same2(n, folding(two(and), and))}, []Typed{same2(n, folding(two(or), or))}, []Typed{same2(n, folding(two(xor), xor))}
			nots = append(nots, row1(n, n, one(func(a b8) b8 { return boolean(a == 0) })))
			continue
		}
		ands = append(ands, test2(n, truths(c, and)))
		ors = append(ors, test2(n, truths(c, or)))
		xors = append(xors, test2(n, truths(c, xor)))
		nots = append(nots, row1(n, Bool, func(k int, p []unsafe.Pointer, s []int) {
			c(k, p, s)
			for i := range k {
				*at[b8](p[1], s[1], i) ^= 1
			}
		}))
	}
	fn2("logical_and", true, ands)
	fn2("logical_or", false, ors)
	fn2("logical_xor", false, xors)
	fn1("logical_not", nots...)
}

// truths is a loop of a function of the truths of two numbers.
func truths(cast Loop, f func(a, b b8) b8) Loop {
	return func(n int, p []unsafe.Pointer, s []int) {
		var a, b b8
		for i := range n {
			cast(1, []unsafe.Pointer{unsafe.Add(p[0], i*s[0]), unsafe.Pointer(&a)}, []int{0, 0})
			cast(1, []unsafe.Pointer{unsafe.Add(p[1], i*s[1]), unsafe.Pointer(&b)}, []int{0, 0})
			*at[b8](p[2], s[2], i) = f(a, b)
		}
	}
}

type bitsLike interface{ integer }

func bitAnd[T bitsLike](a, b T) T { return a & b }
func bitOr[T bitsLike](a, b T) T  { return a | b }
func bitXor[T bitsLike](a, b T) T { return a ^ b }
func shiftLeft[T bitsLike](a, b T) T {
	if b < 0 || uint64(b) >= uint64(8*unsafe.Sizeof(a)) {
		return 0
	}
	return a << uint64(b)
}
func shiftRight[T bitsLike](a, b T) T {
	if b < 0 || uint64(b) >= uint64(8*unsafe.Sizeof(a)) {
		if a < 0 {
			return ^T(0)
		}
		return 0
	}
	return a >> uint64(b)
}
func gcd[T bitsLike](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		a = -a
	}
	return a
}
func lcm[T bitsLike](a, b T) T {
	g := gcd(a, b)
	if g == 0 {
		return 0
	}
	r := a / g * b
	if r < 0 {
		r = -r
	}
	return r
}
func popcount[T bitsLike](a T) uint8 {
	if a < 0 {
		a = -a
	}
	return uint8(bits.OnesCount64(uint64(a)))
}
func divided[T bitsLike](a, b T) float64 { return float64(a) / float64(b) }
func floorDiv[T bitsLike](a, b T) T {
	if b == 0 {
		return 0
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
func floorMod[T bitsLike](a, b T) T {
	if b == 0 {
		return 0
	}
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}
func truncMod[T bitsLike](a, b T) T {
	if b == 0 {
		return 0
	}
	return a % b
}
func intPow[T bitsLike](a, b T) T {
	r := T(1)
	for ; b > 0; b >>= 1 {
		if b&1 != 0 {
			r *= a
		}
		a *= a
	}
	return r
}

// divmod is Python's division with remainder of floats.
func divmod[T float32 | float64](a, b T) (q, m T) {
	m = T(math.Mod(float64(a), float64(b)))
	if b == 0 {
		return a / b, m
	}
	d := (a - m) / b
	if m != 0 {
		if (b < 0) != (m < 0) {
			m += b
			d--
		}
	} else {
		m = T(math.Copysign(0, float64(b)))
	}
	if d != 0 {
		q = T(math.Floor(float64(d)))
		if d-q > 0.5 {
			q++
		}
	} else {
		q = T(math.Copysign(0, float64(a/b)))
	}
	return q, m
}

func pow(a, b float64) float64 {
	switch b {
	case 2:
		return a * a
	case 1:
		return a
	case 0.5:
		if !math.IsInf(a, -1) {
			return math.Sqrt(a)
		}
	}
	return math.Pow(a, b)
}

func divideComplex(a, b complex128) complex128 {
	if br, bi := math.Abs(real(b)), math.Abs(imag(b)); br >= bi {
		if br == 0 && bi == 0 {
			return complex(real(a)/br, imag(a)/br)
		}
		r := imag(b) / real(b)
		d := 1 / (real(b) + imag(b)*r)
		return complex((real(a)+imag(a)*r)*d, (imag(a)-real(a)*r)*d)
	}
	r := real(b) / imag(b)
	d := 1 / (imag(b) + real(b)*r)
	return complex((real(a)*r+imag(a))*d, (imag(a)*r-real(a))*d)
}

func powComplex(a, b complex128) complex128 {
	if imag(b) == 0 {
		switch n := real(b); {
		case n == 0:
			return 1
		case n == 1:
			return a
		case n == 2:
			return a * a
		case n == 3:
			return a * a * a
		}
	}
	return cmplx.Pow(a, b)
}

func halfNext(a, b f16) f16 {
	x, y := a.f32(), b.f32()
	switch {
	case x != x || y != y:
		return 0x7e00
	case x == y:
		return b
	case x == 0:
		if y > 0 {
			return 1
		}
		return 0x8001
	case (x < y) == (x > 0):
		return a + 1
	}
	return a - 1
}

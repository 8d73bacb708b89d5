package ndarray

import (
	"math"
	"unsafe"
)

// ordered are the rows of a comparison of real numbers: of <, or of <=, with the operands exchanged or not.
func ordered(flip bool, ls map[Num]Loop) []Typed {
	var out []Typed
	for _, n := range Plain {
		l := ls[n]
		if l == nil {
			continue
		}
		if flip {
			l = swap(l)
		}
		out = append(out, test2(n, l))
	}
	return out
}

// lexical orders complex numbers by their parts.
func lexical[C complexes](eq bool) Loop {
	return two(func(a, b C) b8 {
		x, y := complex128(a), complex128(b)
		if real(x) != real(y) {
			return boolean(real(x) < real(y))
		}
		return boolean(imag(x) < imag(y) || eq && imag(x) == imag(y))
	})
}

func compare() {
	half := func(f func(a, b float32) bool) Loop {
		return two(func(a, b f16) b8 { return boolean(f(a.f32(), b.f32())) })
	}
	less := map[Num]Loop{
		Bool: lessVector[uint8]().loop, Int8: lessVector[int8]().loop, UInt8: lessVector[uint8]().loop, Int16: lessVector[int16]().loop, UInt16: lessVector[uint16]().loop,
		Int32: lessVector[int32]().loop, UInt32: lessVector[uint32]().loop, Int64: lessVector[int64]().loop, UInt64: lessVector[uint64]().loop,
		Float16: half(func(a, b float32) bool { return a < b }), Float32: lessVector[float32]().loop, Float64: lessVector[float64]().loop,
		Complex64: lexical[complex64](false), Complex128: lexical[complex128](false),
	}
	lessEqual := map[Num]Loop{
		Bool: lessEqualVector[uint8]().loop, Int8: lessEqualVector[int8]().loop, UInt8: lessEqualVector[uint8]().loop, Int16: lessEqualVector[int16]().loop, UInt16: lessEqualVector[uint16]().loop,
		Int32: lessEqualVector[int32]().loop, UInt32: lessEqualVector[uint32]().loop, Int64: lessEqualVector[int64]().loop, UInt64: lessEqualVector[uint64]().loop,
		Float16: half(func(a, b float32) bool { return a <= b }), Float32: lessEqualVector[float32]().loop, Float64: lessEqualVector[float64]().loop,
		Complex64: lexical[complex64](true), Complex128: lexical[complex128](true),
	}
	equal := func(want bool) map[Num]Loop {
		return map[Num]Loop{
			Bool: equalVector[b8](want).loop, Int8: equalVector[int8](want).loop, UInt8: equalVector[uint8](want).loop, Int16: equalVector[int16](want).loop, UInt16: equalVector[uint16](want).loop,
			Int32: equalVector[int32](want).loop, UInt32: equalVector[uint32](want).loop, Int64: equalVector[int64](want).loop, UInt64: equalVector[uint64](want).loop,
			Float16: half(func(a, b float32) bool { return (a == b) == want }), Float32: equalVector[float32](want).loop, Float64: equalVector[float64](want).loop,
			Complex64: equalVector[complex64](want).loop, Complex128: equalVector[complex128](want).loop,
		}
	}
	fn2("less", nil, ordered(false, less))
	fn2("greater", nil, ordered(true, less))
	fn2("less_equal", nil, ordered(false, lessEqual))
	fn2("greater_equal", nil, ordered(true, lessEqual))
	fn2("equal", nil, ordered(false, equal(true)))
	fn2("not_equal", nil, ordered(false, equal(false)))
}

// extremes defines maximum, minimum and those that pass over NaN.
func extremes() {
	fmax := func(a, b float64) float64 {
		if a >= b || a != a {
			return a
		}
		return b
	}
	fmin := func(a, b float64) float64 {
		if a <= b || a != a {
			return a
		}
		return b
	}
	skip := func(f func(a, b float64) float64) func(a, b float64) float64 {
		return func(a, b float64) float64 {
			switch {
			case a != a:
				return b
			case b != b:
				return a
			}
			return f(a, b)
		}
	}
	cmax := func(a, b complex128) complex128 {
		if isNaN(a) || !isNaN(b) && (real(a) > real(b) || real(a) == real(b) && imag(a) >= imag(b)) {
			return a
		}
		return b
	}
	cmin := func(a, b complex128) complex128 {
		if isNaN(a) || !isNaN(b) && (real(a) < real(b) || real(a) == real(b) && imag(a) <= imag(b)) {
			return a
		}
		return b
	}
	maxes := ints2(imax[int8], imax[uint8], imax[int16], imax[uint16], imax[int32], imax[uint32], imax[int64], imax[uint64])
	mins := ints2(imin[int8], imin[uint8], imin[int16], imin[uint16], imin[int32], imin[uint32], imin[int64], imin[uint64])
	or := func(a, b b8) b8 { return a | b }
	and := func(a, b b8) b8 { return a & b }
	bmax, bmin := []Typed{same2(Bool, folding(two(or), or))}, []Typed{same2(Bool, folding(two(and), and))}
	f32 := func(f func(a, b float64) float64) []Typed {
		return floats2(func(a, b float32) float32 { return float32(f(float64(a), float64(b))) }, f)
	}
	fast := func(rows []Typed, a func(x, y float32) float32, b func(x, y float64) float64) []Typed {
		rows[1] = same2(Float32, folding(two(a), a))
		rows[2] = same2(Float64, folding(two(b), b))
		return rows
	}
	fn2("maximum", nil, cat(bmax, maxes, fast(f32(fmax), rmax[float32], rmax[float64]), complex2(cmax)))
	fn2("minimum", nil, cat(bmin, mins, fast(f32(fmin), rmin[float32], rmin[float64]), complex2(cmin)))
	fn2("fmax", nil, cat(bmax, maxes, f32(skip(fmax)), complex2(cmax)))
	fn2("fmin", nil, cat(bmin, mins, f32(skip(fmin)), complex2(cmin)))
}

func isNaN(c complex128) bool { return math.IsNaN(real(c)) || math.IsNaN(imag(c)) }

func imax[T integer](a, b T) T { return max(a, b) }
func imin[T integer](a, b T) T { return min(a, b) }
func rmax[T float32 | float64](a, b T) T {
	if a >= b || a != a {
		return a
	}
	return b
}
func rmin[T float32 | float64](a, b T) T {
	if a <= b || a != a {
		return a
	}
	return b
}

// Clip limits elements to a range in one loop of numbers of one type.
func clip[T number](n int, p []unsafe.Pointer, s []int) {
	for i := range n {
		x, lo, hi := *at[T](p[0], s[0], i), *at[T](p[1], s[1], i), *at[T](p[2], s[2], i)
		if x < lo || lo != lo {
			x = lo
		}
		if x > hi || hi != hi {
			x = hi
		}
		*at[T](p[3], s[3], i) = x
	}
}

func init() {
	row := func(n Num, l Loop) Typed { return Typed{[]Num{n, n, n, n}, l} }
	define(&Ufunc{Name: "clip", In: 3, Out: 1, Rows: []Typed{
		row(Bool, clip[uint8]), row(Int8, clip[int8]), row(UInt8, clip[uint8]), row(Int16, clip[int16]), row(UInt16, clip[uint16]), row(Int32, clip[int32]), row(UInt32, clip[uint32]),
		row(Int64, clip[int64]), row(UInt64, clip[uint64]), row(Float16, func(n int, p []unsafe.Pointer, s []int) {
			for i := range n {
				x := min(max(at[f16](p[0], s[0], i).f32(), at[f16](p[1], s[1], i).f32()), at[f16](p[2], s[2], i).f32())
				*at[f16](p[3], s[3], i) = toHalf(x)
			}
		}), row(Float32, clip[float32]), row(Float64, clip[float64]),
	}})
}

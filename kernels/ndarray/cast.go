package ndarray

import (
	"math"
	"unsafe"

	"whittle/kernels/tensor"
)

// b8 and f16 are the elements of bool and float16.
type (
	b8  uint8
	f16 uint16
)

func (h f16) f32() float32 { return tensor.F16ToF32(uint16(h)) }
func toHalf(x float32) f16 { return f16(tensor.F32ToF16(x)) }
func boolean(x bool) (b b8) {
	if x {
		b = 1
	}
	return b
}

type integer interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64
}

type number interface{ integer | float32 | float64 }

type complexes interface{ complex64 | complex128 }

// halfFrom rounds a float64 to float16 once.
func halfFrom(x float64) f16 {
	f := float32(x)
	if float64(f) != x && !math.IsNaN(x) && !math.IsInf(float64(f), 0) { // keep the direction of what is lost: round to odd
		b := math.Float32bits(f)
		if b&1 == 0 {
			if (float64(f) < x) == (x > 0) {
				b++
			} else {
				b--
			}
			f = math.Float32frombits(b)
		}
	}
	return toHalf(f)
}

func castReal[A, B number](n int, p []unsafe.Pointer, s []int) {
	for i := range n {
		*at[B](p[1], s[1], i) = B(*at[A](p[0], s[0], i))
	}
}

func castSame[A any](n int, p []unsafe.Pointer, s []int) {
	if z := int(unsafe.Sizeof(*new(A))); s[0] == z && s[1] == z {
		copy(unsafe.Slice((*A)(p[1]), n), unsafe.Slice((*A)(p[0]), n))
		return
	}
	for i := range n {
		*at[A](p[1], s[1], i) = *at[A](p[0], s[0], i)
	}
}

func castBy[A, B any](f func(A) B) Loop {
	return func(n int, p []unsafe.Pointer, s []int) {
		for i := range n {
			*at[B](p[1], s[1], i) = f(*at[A](p[0], s[0], i))
		}
	}
}

// castsOf are the loops from a real type to all others.
func castsOf[A number]() map[Num]Loop {
	return map[Num]Loop{
		Bool: castBy(func(a A) b8 { return boolean(a != 0) }),
		Int8: castReal[A, int8], UInt8: castReal[A, uint8], Int16: castReal[A, int16], UInt16: castReal[A, uint16], Int32: castReal[A, int32],
		UInt32: castReal[A, uint32], Int64: castReal[A, int64], UInt64: castReal[A, uint64], Float32: castReal[A, float32], Float64: castReal[A, float64],
		Float16:    castBy(func(a A) f16 { return halfFrom(float64(a)) }),
		Complex64:  castBy(func(a A) complex64 { return complex(float32(a), 0) }),
		Complex128: castBy(func(a A) complex128 { return complex(float64(a), 0) }),
	}
}

// floatCasts are castsOf, where what C makes of numbers that do not fit differs from Go's conversions.
func floatCasts[A float32 | float64]() map[Num]Loop {
	m := castsOf[A]()
	m[Int8] = castBy(func(a A) int8 { return int8(int32(a)) })
	m[UInt8] = castBy(func(a A) uint8 { return uint8(int32(a)) })
	m[Int16] = castBy(func(a A) int16 { return int16(int32(a)) })
	m[UInt16] = castBy(func(a A) uint16 { return uint16(int32(a)) })
	m[UInt32] = castBy(func(a A) uint32 { return uint32(int64(a)) })
	return m
}

// through are casts that go by another type first.
func through[A, B any](f func(A) B, of map[Num]Loop) map[Num]Loop {
	m := map[Num]Loop{}
	for n, l := range of {
		m[n] = func(n int, p []unsafe.Pointer, s []int) {
			var b B
			q, z := []unsafe.Pointer{unsafe.Pointer(&b), p[1]}, []int{0, 0}
			for i := range n {
				b = f(*at[A](p[0], s[0], i))
				q[1] = unsafe.Add(p[1], s[1]*i)
				l(1, q, z)
			}
		}
	}
	return m
}

// castTable has the loops between bool and the numbers.
var castTable = func() (t [24]map[Num]Loop) {
	t[Int8], t[UInt8], t[Int16], t[UInt16] = castsOf[int8](), castsOf[uint8](), castsOf[int16](), castsOf[uint16]()
	t[Int32], t[UInt32], t[Int64], t[UInt64] = castsOf[int32](), castsOf[uint32](), castsOf[int64](), castsOf[uint64]()
	t[Float32], t[Float64] = floatCasts[float32](), floatCasts[float64]()
	t[Bool] = castsOf[uint8]()
	t[Float16] = through(f16.f32, t[Float32])
	t[Complex64] = through(func(c complex64) float32 { return real(c) }, t[Float32])
	t[Complex128] = through(func(c complex128) float64 { return real(c) }, t[Float64])
	t[Bool][Bool], t[Float16][Float16], t[Float32][Float32], t[Float64][Float64] = castSame[b8], castSame[f16], castSame[float32], castSame[float64]
	t[Int64][Int64], t[Int32][Int32], t[UInt8][UInt8] = castSame[int64], castSame[int32], castSame[uint8]
	t[Complex64][Complex64], t[Complex128][Complex128] = castSame[complex64], castSame[complex128]
	t[Complex64][Complex128] = castBy(func(c complex64) complex128 { return complex128(c) })
	t[Complex128][Complex64] = castBy(func(c complex128) complex64 { return complex64(c) })
	t[Complex64][Bool] = castBy(func(c complex64) b8 { return boolean(c != 0) })
	t[Complex128][Bool] = castBy(func(c complex128) b8 { return boolean(c != 0) })
	return t
}()

// Copy is a new array of the elements in an order: C, F, A (F if a is so) or K (as they lie).
func (a *Array) Copy(order byte) *Array {
	c := NewOrder(a.DType, a.Shape, a.order(order))
	_ = c.Assign(a) // of one dtype
	return c
}

// order is the order of axes that a letter asks for.
func (a *Array) order(letter byte) []int {
	switch {
	case letter == 'F', letter == 'A' && a.FContiguous() && !a.Contiguous():
		perm := make([]int, a.NDim())
		for i := range perm {
			perm[i] = len(perm) - 1 - i
		}
		return perm
	case letter == 'K':
		return memoryOrder(a.NDim(), [][]int{a.Strides}, a.Shape)
	}
	return nil
}

// As is a itself if it has a dtype and an order already, else a copy that has.
func (a *Array) As(d *DType, order byte) (*Array, error) {
	if a.DType.Same(d) && (order == 'K' || order == 'A' || order == 'C' && a.Contiguous() || order == 'F' && a.FContiguous()) {
		return a, nil
	}
	return a.AsType(d, order)
}

// AsType is a new array of another dtype.
func (a *Array) AsType(d *DType, order byte) (*Array, error) {
	if d.Flexible() && d.Size == 0 {
		d = d.sized(a)
	}
	c := NewOrder(d, a.Shape, a.order(order))
	return c, c.Assign(a)
}

// Assign stores the elements of src, broadcast, as those of a.
func (a *Array) Assign(src *Array) error {
	v, err := src.Broadcast(a.Shape)
	if err != nil {
		for len(src.Shape) > len(a.Shape) && src.Shape[0] == 1 { // NumPy lets leading ones go
			src = src.View(src.Shape[1:], src.Strides[1:], src.Offset)
		}
		var again error
		if v, again = src.Broadcast(a.Shape); again != nil {
			return err
		}
	}
	if a.Len() == 0 {
		return nil
	}
	if src.Buf == a.Buf && src.SharesMemory(a) && !(src.Offset == a.Offset && equalInts(src.Strides, a.Strides)) {
		v = v.Copy('C')
	}
	w := newWalk(a.Shape, []*Array{a, v}, true)
	w.strides[0], w.strides[1], w.offs[0], w.offs[1] = w.strides[1], w.strides[0], w.offs[1], w.offs[0]
	views := []*Array{v, a}
	if l := castTable[src.DType.Num][a.DType.Num]; l != nil && !src.DType.Swapped && !a.DType.Swapped {
		runLoop(w, views, l)
		return nil
	}
	return w.run(func(offs []int, n int, steps []int) error {
		for i := range n {
			if err := a.Set(offs[1]+i*steps[1], v.Get(offs[0]+i*steps[0])); err != nil {
				return err
			}
		}
		return nil
	})
}

func equalInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

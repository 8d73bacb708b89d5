package tiles

import (
	"fmt"
	"math"
	"unsafe"

	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// A vector is the value of an expression on a tile: as many elements as the tile has, or one that is the same for all of it. One field is used, by
// the dtype: b for bool, i for other integers, whatever their width, f and d for floats.
type vector struct {
	f []float32
	d []float64
	i []int64
	b []uint8
}

// class is which field of a vector a dtype uses.
type class uint8

const (
	single class = iota
	double
	integer
	truth
)

func classOf(d tensor.DType) class {
	switch {
	case d == tensor.Float64:
		return double
	case d.IsFloat():
		return single
	case d == tensor.Bool:
		return truth
	}
	return integer
}

// room is a vector of n elements.
func room(d tensor.DType, n int) vector {
	switch classOf(d) {
	case single:
		return vector{f: make([]float32, n)}
	case double:
		return vector{d: make([]float64, n)}
	case truth:
		return vector{b: make([]uint8, n)}
	}
	return vector{i: make([]int64, n)}
}

// first is v without what lies beyond n elements.
func (v vector) first(n int) vector {
	switch {
	case v.f != nil:
		v.f = v.f[:n]
	case v.d != nil:
		v.d = v.d[:n]
	case v.i != nil:
		v.i = v.i[:n]
	default:
		v.b = v.b[:n]
	}
	return v
}

// constant is a vector of one element.
func constant(e *ir.Expr) vector {
	v := room(e.DType, 1)
	var f float64
	var i int64
	switch x := e.Value.(type) {
	case bool:
		if x {
			f, i = 1, 1
		}
	case int64:
		f, i = float64(x), x
	case float64:
		f, i = x, cut(tensor.Int64, x)
	default:
		panic(fmt.Sprintf("a constant of type %T", e.Value))
	}
	switch classOf(e.DType) {
	case single:
		v.f[0] = float32(f)
	case double:
		v.d[0] = f
	case integer:
		v.i[0] = wrapped(e.DType, i)
	default:
		if f != 0 {
			v.b[0] = 1
		}
	}
	return v
}

// cut is x as an integer of d: what no int64 holds is the least. All that are narrower are the lower bits of an int32.
func cut(d tensor.DType, x float64) int64 {
	switch {
	case d != tensor.Int64 && !(x >= math.MinInt32 && x < math.MaxInt32+1):
		x = math.MinInt32
	case !(x >= -9.2233720368547758e18 && x < 9.2233720368547758e18):
		return math.MinInt64
	}
	return wrapped(d, int64(x))
}

// wrapped is x as wide as d.
func wrapped(d tensor.DType, x int64) int64 {
	switch d {
	case tensor.Int32:
		return int64(int32(x))
	case tensor.Int16:
		return int64(int16(x))
	case tensor.Int8:
		return int64(int8(x))
	case tensor.UInt8:
		return int64(uint8(x))
	}
	return x
}

// wrap cuts all of xs.
func wrap(d tensor.DType, xs []int64) {
	if d == tensor.Int64 {
		return
	}
	for k, x := range xs {
		xs[k] = wrapped(d, x)
	}
}

// bits are the elements of v under an unsigned type of their size.
func bits[U uint8 | uint32 | uint64, T float32 | float64 | int64 | uint8](v []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// load reads n elements of t, a buffer's memory, from off in steps into v, which is of dtype d; or gives the memory itself, where that has them.
func load(t *tensor.Tensor, from tensor.DType, d tensor.DType, off, step int64, n int, v vector) vector {
	off += t.Offset
	switch {
	case classOf(d) == single && from == tensor.Float32 && (step == 1 || n == 1):
		return vector{f: tensor.Whole[float32](t)[off : off+int64(n)]}
	case classOf(d) == double && from == tensor.Float64 && (step == 1 || n == 1):
		return vector{d: tensor.Whole[float64](t)[off : off+int64(n)]}
	case d == tensor.Int64 && from == tensor.Int64 && (step == 1 || n == 1):
		return vector{i: tensor.Whole[int64](t)[off : off+int64(n)]}
	case d == tensor.Bool && from == tensor.Bool && (step == 1 || n == 1):
		return vector{b: tensor.Whole[uint8](t)[off : off+int64(n)]}
	}
	v = v.first(n)
	if v.f != nil && from.IsSmallFloat() {
		tensor.Load32(t, off, step, v.f)
		return v
	}
	whole := tensor.Int64 // what all that is like it fits in
	if from.IsFloat() {
		whole = tensor.Float64
	}
	x := v
	if classOf(d) != classOf(whole) {
		x = room(whole, n)
	}
	if from.IsFloat() {
		tensor.LoadFloat(t, off, step, x.d)
	} else {
		tensor.LoadInt(t, off, step, x.i)
	}
	convert(x, whole, v, d)
	return v
}

// store writes n elements of v, of dtype d, to t.
func store(t *tensor.Tensor, to tensor.DType, off, step int64, n int, v vector, d tensor.DType) {
	off += t.Offset
	if classOf(d) != classOf(to) {
		w := room(to, n)
		convert(v, d, w, to)
		v, d = w, to
	}
	switch classOf(d) {
	case single:
		tensor.Store32(t, off, step, wide(v.f, n))
	case double:
		tensor.StoreFloat(t, off, step, wide(v.d, n))
	case integer:
		tensor.StoreInt(t, off, step, wide(v.i, n))
	default:
		x := tensor.Whole[uint8](t)
		for k, b := range wide(v.b, n) {
			x[off+int64(k)*step] = b
		}
	}
}

// wide repeats what is the same for all of a tile.
func wide[T any](v []T, n int) []T {
	if len(v) == n {
		return v
	}
	w := make([]T, n)
	for k := range w {
		w[k] = v[0]
	}
	return w
}

// convert casts v of dtype from to out, of dtype to and of any length; v may have one element.
func convert(v vector, from tensor.DType, out vector, to tensor.DType) {
	switch classOf(from) {
	case single:
		convertFrom(v.f, out, to)
	case double:
		convertFrom(v.d, out, to)
	case integer:
		convertFrom(v.i, out, to)
	default:
		convertFrom(v.b, out, to)
	}
}

func convertFrom[T float32 | float64 | int64 | uint8](v []T, out vector, to tensor.DType) {
	switch classOf(to) {
	case single:
		for k := range out.f {
			out.f[k] = float32(at(v, k))
		}
	case double:
		for k := range out.d {
			out.d[k] = float64(at(v, k))
		}
	case integer:
		_, f := any(v).([]float32)
		_, d := any(v).([]float64)
		for k := range out.i {
			if f || d {
				out.i[k] = cut(to, float64(at(v, k)))
			} else {
				out.i[k] = wrapped(to, int64(at(v, k)))
			}
		}
	default:
		for k := range out.b {
			out.b[k] = 0
			if at(v, k) != 0 {
				out.b[k] = 1
			}
		}
	}
}

// at is element k of v, or its only one.
func at[T any](v []T, k int) T {
	if len(v) == 1 {
		return v[0]
	}
	return v[k]
}

package tensor

import (
	"math"
	"sync/atomic"
	"unsafe"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
)

// index is the storage position, in elements, of t's i-th element in row-major order.
func (t *Tensor) index(i int64) int64 {
	o := t.Offset
	for d := len(t.Shape) - 1; d >= 0; d-- {
		s := t.Shape[d]
		o += (i % s) * t.Stride[d]
		i /= s
	}
	return o
}

// Position is the storage position, in elements, of t's i-th element in row-major order.
func (t *Tensor) Position(i int64) int64 { return t.index(i) }

// NoData is what reading an element of a fake tensor panics with.
type NoData struct{}

func (NoData) Error() string { return "a fake tensor has no elements to read" }

func (t *Tensor) mustHaveData() {
	if t.Fake {
		panic(NoData{})
	}
}

// At is the i-th element in row-major order as a float64 (bool: 0 or 1). Out of range panics, like a slice; of a fake tensor with NoData.
func (t *Tensor) At(i int64) float64 {
	t.mustHaveData()
	var b [1]float64
	LoadFloat(t, t.index(i), 0, b[:])
	return b[0]
}

// AtInt is the i-th element in row-major order as an int64; floats are truncated. Panics like At.
func (t *Tensor) AtInt(i int64) int64 {
	t.mustHaveData()
	var b [1]int64
	LoadInt(t, t.index(i), 0, b[:])
	return b[0]
}

// Set stores x as the i-th element in row-major order.
func (t *Tensor) Set(i int64, x float64) { StoreFloat(t, t.index(i), 0, []float64{x}) }

// SetInt stores x as the i-th element in row-major order.
func (t *Tensor) SetInt(i int64, x int64) { StoreInt(t, t.index(i), 0, []int64{x}) }

// Item is the value of a one-element tensor as a bool, int64, float64 or complex128; nil for fake ones.
func (t *Tensor) Item() any {
	if t.Fake {
		return nil
	}
	switch t.DType.Kind() {
	case KindBool:
		return t.AtInt(0) != 0
	case KindInt:
		return t.AtInt(0)
	case KindComplex:
		var z [1]complex128
		LoadComplex(t, t.index(0), 0, z[:])
		return z[0]
	}
	return t.At(0)
}

// Floats copies t's elements in row-major order to a fresh []float64. Panics with NoData for a fake tensor that has elements.
func (t *Tensor) Floats() []float64 {
	out := make([]float64, t.Numel())
	t.LoadFloats(out)
	return out
}

// LoadFloats copies t's elements in row-major order to out, of as many. Panics like Floats.
func (t *Tensor) LoadFloats(out []float64) {
	if len(out) == 0 {
		return
	}
	t.mustHaveData()
	forParts(t, func(t *Tensor, o, s, k, n int64) { LoadFloat(t, o, s, out[k:k+n]) })
}

// Ints copies t's elements in row-major order to a fresh []int64. Panics like Floats.
func (t *Tensor) Ints() []int64 {
	out := make([]int64, t.Numel())
	if len(out) == 0 {
		return out
	}
	t.mustHaveData()
	forParts(t, func(t *Tensor, o, s, k, n int64) { LoadInt(t, o, s, out[k:k+n]) })
	return out
}

// Within reports whether all elements of t, which are integers, are at least low and less than high. Panics like Floats.
func (t *Tensor) Within(low, high int64) bool {
	if t.Numel() == 0 {
		return true
	}
	t.mustHaveData()
	if t.DType == Int64 && isContiguous(t.Shape, t.Stride) {
		xs := unsafe.Slice((*int64)(t.Ptr()), t.Numel())
		var out atomic.Bool
		parallel.For(len(xs), grain, func(lo, hi int) {
			if outside(xs[lo:hi], low, high-1) {
				out.Store(true)
			}
		})
		return !out.Load()
	}
	ok := true
	var piece [256]int64
	forRows(t, func(o, s, _, n int64) {
		for k := int64(0); k < n && ok; k += int64(len(piece)) {
			xs := piece[:min(int64(len(piece)), n-k)]
			LoadInt(t, o+k*s, s, xs)
			ok = !outside(xs, low, high-1)
		}
	})
	return ok
}

// outside reports whether one of xs is less than low or more than high, by the signs of differences.
func outside(xs []int64, low, high int64) bool {
	var a, b, c, d int64
	for ; len(xs) >= 4; xs = xs[4:] {
		a |= (xs[0] - low) | (high - xs[0])
		b |= (xs[1] - low) | (high - xs[1])
		c |= (xs[2] - low) | (high - xs[2])
		d |= (xs[3] - low) | (high - xs[3])
	}
	for _, x := range xs {
		a |= (x - low) | (high - x)
	}
	return a|b|c|d < 0
}

// SetFloats stores len(t) values in row-major order.
func (t *Tensor) SetFloats(xs []float64) { setAll(t, xs) }

// SetInts stores len(t) values in row-major order.
func (t *Tensor) SetInts(xs []int64) { setAll(t, xs) }

func setAll[D float64 | int64](t *Tensor, xs []D) {
	if t.HasInternalOverlap() || !isContiguous(t.Shape, t.Stride) && len(xs) < grain/8 { // the last one counts
		forRows(t, func(o, s, k, n int64) { storeAny(t, o, s, xs[k:k+n]) })
		return
	}
	if !isContiguous(t.Shape, t.Stride) { // to convert and to turn is faster one after the other
		c := EmptyUnset(t.DType, t.Shape, ContiguousStrides(t.Shape))
		setAll(c, xs)
		Copy(t, c)
		c.Storage.Recycle()
		return
	}
	forParts(t, func(t *Tensor, o, s, k, n int64) { storeAny(t, o, s, xs[k:k+n]) })
}

// forParts is forRows for reading, or for a contiguous tensor: parts of a large one several at once, in the memory of a copy where it lies otherwise.
func forParts(t *Tensor, f func(t *Tensor, off, stride, k, n int64)) {
	if t.Numel() < 2*grain {
		forRows(t, func(off, stride, k, n int64) { f(t, off, stride, k, n) })
		return
	}
	t = t.Contiguous()
	parallel.For(int(t.Numel()), grain, func(lo, hi int) { f(t, t.Offset+int64(lo), 1, int64(lo), int64(hi-lo)) })
}

// forRows visits the rows of t in row-major order: storage offset, stride, row-major position, length.
func forRows(t *Tensor, f func(off, stride, k, n int64)) {
	total := t.Numel()
	if total == 0 {
		return
	}
	if isContiguous(t.Shape, t.Stride) {
		f(t.Offset, 1, 0, total)
		return
	}
	nd := len(t.Shape)
	n := t.Shape[nd-1]
	idx := make([]int64, nd-1)
	o := t.Offset
	for k := int64(0); k < total; k += n {
		f(o, t.Stride[nd-1], k, n)
		for d := nd - 2; d >= 0; d-- {
			idx[d]++
			o += t.Stride[d]
			if idx[d] < t.Shape[d] {
				break
			}
			o -= idx[d] * t.Stride[d]
			idx[d] = 0
		}
	}
}

// all gives the whole storage as elements of T.
func all[T any](t *Tensor) []T {
	var z T
	n := len(t.Storage.Data) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&t.Storage.Data[0])), n)
}

type number = native.Number

// many is from how many elements on a conversion is worth a call of a kernel.
const many = 64

func load[T number, D float64 | int64](s []T, off, stride int64, dst []D) {
	if stride == 1 {
		if x := s[off : off+int64(len(dst))]; len(dst) >= many {
			native.Convert(0, dst, x)
		} else {
			for i, x := range x {
				dst[i] = D(x)
			}
		}
		return
	}
	for i := range dst {
		dst[i] = D(s[off])
		off += stride
	}
}

func loadHalf[D float64 | int64](s []uint16, off, stride int64, dst []D, f func(uint16) float32) {
	for i := range dst {
		dst[i] = D(f(s[off]))
		off += stride
	}
}

func loadAny[D float64 | int64](t *Tensor, off, stride int64, dst []D) {
	if len(dst) == 0 {
		return
	}
	switch t.DType {
	case Float32:
		load(all[float32](t), off, stride, dst)
	case Float64:
		load(all[float64](t), off, stride, dst)
	case Int64:
		load(all[int64](t), off, stride, dst)
	case Int32:
		load(all[int32](t), off, stride, dst)
	case Int16:
		load(all[int16](t), off, stride, dst)
	case Int8:
		load(all[int8](t), off, stride, dst)
	case UInt8, Bool:
		load(all[uint8](t), off, stride, dst)
	case BFloat16:
		loadHalf(all[uint16](t), off, stride, dst, BF16ToF32)
	case Float16:
		loadHalf(all[uint16](t), off, stride, dst, F16ToF32)
	case Complex64: // the real part
		load(all[float32](t), 2*off, 2*stride, dst)
	case Complex128:
		load(all[float64](t), 2*off, 2*stride, dst)
	}
}

// LoadFloat reads len(dst) elements at storage positions off, off+stride, ... as float64.
func LoadFloat(t *Tensor, off, stride int64, dst []float64) { loadAny(t, off, stride, dst) }

// LoadInt reads len(dst) elements as int64.
func LoadInt(t *Tensor, off, stride int64, dst []int64) { loadAny(t, off, stride, dst) }

func store[T number, D float64 | int64](s []T, off, stride int64, src []D) {
	if stride == 1 && len(src) >= many {
		native.Convert(0, s[off:off+int64(len(src))], src)
		return
	}
	for _, x := range src {
		s[off] = T(x)
		off += stride
	}
}

// storeSmall cuts floats to an int32 and takes its lower bits, as compiled C++ does for all integers that are no wider.
func storeSmall[T int32 | int16 | int8 | uint8, D float64 | int64](s []T, off, stride int64, src []D) {
	if stride == 1 && len(src) >= many {
		native.Convert(0, s[off:off+int64(len(src))], src)
		return
	}
	for _, x := range src {
		s[off] = T(cut(x))
		off += stride
	}
}

// cut is x as an integer, of floats an int32: its least value for what it does not hold.
func cut[D float64 | int64](x D) int64 {
	if f, ok := any(x).(float64); ok && !(f > math.MinInt32-1 && f < math.MaxInt32+1) {
		return math.MinInt32
	}
	return int64(x)
}

func storeAny[D float64 | int64](t *Tensor, off, stride int64, src []D) {
	if len(src) == 0 {
		return
	}
	switch t.DType {
	case Float32:
		store(all[float32](t), off, stride, src)
	case Float64:
		store(all[float64](t), off, stride, src)
	case Int64:
		store(all[int64](t), off, stride, src)
	case Int32:
		storeSmall(all[int32](t), off, stride, src)
	case Int16:
		storeSmall(all[int16](t), off, stride, src)
	case Int8:
		storeSmall(all[int8](t), off, stride, src)
	case UInt8:
		storeSmall(all[uint8](t), off, stride, src)
	case Bool:
		s := all[uint8](t)
		for _, x := range src {
			if x != 0 {
				s[off] = 1
			} else {
				s[off] = 0
			}
			off += stride
		}
	case BFloat16:
		s := all[uint16](t)
		for _, x := range src {
			s[off] = F32ToBF16(float32(x))
			off += stride
		}
	case Float16:
		s := all[uint16](t)
		for _, x := range src {
			s[off] = F32ToF16(float32(x))
			off += stride
		}
	case Complex64:
		s := all[float32](t)
		for _, x := range src {
			s[2*off], s[2*off+1] = float32(x), 0
			off += stride
		}
	case Complex128:
		s := all[float64](t)
		for _, x := range src {
			s[2*off], s[2*off+1] = float64(x), 0
			off += stride
		}
	}
}

// StoreFloat writes src at storage positions off, off+stride, ..., converted to t's dtype.
func StoreFloat(t *Tensor, off, stride int64, src []float64) { storeAny(t, off, stride, src) }

// StoreInt writes src at storage positions off, off+stride, ..., converted to t's dtype.
func StoreInt(t *Tensor, off, stride int64, src []int64) { storeAny(t, off, stride, src) }

// Fill sets every element to x.
func (t *Tensor) Fill(x float64) {
	if t.Fake || t.Numel() == 0 {
		return
	}
	one := Empty(t.DType)
	StoreFloat(one, 0, 0, []float64{x})
	t.fillFrom(one)
}

// FillInt sets every element to x.
func (t *Tensor) FillInt(x int64) {
	if t.Fake || t.Numel() == 0 {
		return
	}
	one := Empty(t.DType)
	StoreInt(one, 0, 0, []int64{x})
	t.fillFrom(one)
}

const (
	pattern = 1 << 13 // bytes: so many of a filled tensor are copied to the rest
	worth   = 1 << 18 // bytes that are worth a thread to be written
)

// clearAll is clear, by several threads where it is much.
func clearAll(b []byte) {
	parallel.For((len(b)+pattern-1)/pattern, worth/pattern, func(lo, hi int) { clear(b[lo*pattern : min(hi*pattern, len(b))]) })
}

func (t *Tensor) fillFrom(one *Tensor) {
	es := t.DType.Size()
	src := one.Storage.Data
	zero := true
	for _, b := range src {
		zero = zero && b == 0
	}
	if t.IsNonOverlappingAndDense() {
		o := t.Offset * int64(es)
		dst := t.Storage.Data[o : o+t.Numel()*int64(es)]
		if zero {
			clearAll(dst)
			return
		}
		first := dst[:min(len(dst), pattern)]
		copy(first, src)
		for n := es; n < len(first); n *= 2 {
			copy(first[n:], first[:n])
		}
		parallel.For((len(dst)+pattern-1)/pattern-1, worth/pattern, func(lo, hi int) {
			for i := lo + 1; i <= hi; i++ {
				copy(dst[i*pattern:], first)
			}
		})
		return
	}
	Copy(t, NewView(one, t.Shape, make([]int64, len(t.Shape)), 0))
}

// Load32 reads len(dst) elements of a float32, float16 or bfloat16 tensor as float32.
func Load32(t *Tensor, off, stride int64, dst []float32) {
	if len(dst) == 0 {
		return
	}
	switch t.DType {
	case Float32:
		s := all[float32](t)
		if stride == 1 {
			copy(dst, s[off:])
			return
		}
		for i := range dst {
			dst[i] = s[off]
			off += stride
		}
	case BFloat16:
		s := all[uint16](t)
		if stride == 1 {
			native.FromBFloat16(dst, s[off:off+int64(len(dst))])
			return
		}
		for i := range dst {
			dst[i] = BF16ToF32(s[off])
			off += stride
		}
	case Float16:
		s := all[uint16](t)
		if stride == 1 {
			native.FromFloat16(dst, s[off:off+int64(len(dst))])
			return
		}
		for i := range dst {
			dst[i] = F16ToF32(s[off])
			off += stride
		}
	}
}

// Store32 writes src to a float32, float16 or bfloat16 tensor.
func Store32(t *Tensor, off, stride int64, src []float32) {
	switch t.DType {
	case Float32:
		s := all[float32](t)
		for _, x := range src {
			s[off] = x
			off += stride
		}
	case BFloat16:
		s := all[uint16](t)
		if stride == 1 {
			native.ToBFloat16(s[off:off+int64(len(src))], src)
			return
		}
		for _, x := range src {
			s[off] = F32ToBF16(x)
			off += stride
		}
	case Float16:
		s := all[uint16](t)
		if stride == 1 {
			native.ToFloat16(s[off:off+int64(len(src))], src)
			return
		}
		for _, x := range src {
			s[off] = F32ToF16(x)
			off += stride
		}
	}
}

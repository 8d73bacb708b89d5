package ndarray

import (
	"unsafe"

	"whittle/kernels/tensor"
)

// An Array is a strided view of a buffer.
type Array struct {
	Buf      *Buffer
	DType    *DType
	Shape    []int
	Strides  []int // in bytes
	Offset   int   // of the first element, in bytes
	ReadOnly bool
}

// A Buffer is what views share.
type Buffer struct {
	Bytes   []byte
	Objects []any // of dtype O; an offset of 8 bytes is one of them
	Holder  any   // what owns the bytes, if it is not this buffer
}

// New makes an array of zeros in C order.
func New(d *DType, shape ...int) *Array { return NewOrder(d, shape, nil) }

// NewOrder makes an array of zeros whose axes lie in memory in an order, the slowest first; nil is C order.
func NewOrder(d *DType, shape []int, order []int) *Array {
	n := Count(shape)
	a := &Array{DType: d, Shape: append([]int{}, shape...), Strides: make([]int, len(shape)), Buf: NewBuffer(d, n)}
	step := d.Size
	for i := len(shape) - 1; i >= 0; i-- {
		ax := i
		if order != nil {
			ax = order[i]
		}
		a.Strides[ax] = step
		if step *= shape[ax]; shape[ax] == 0 {
			step = d.Size
		}
	}
	if n == 0 && order == nil {
		copy(a.Strides, CStrides(d.Size, shape))
	}
	return a
}

// NewBuffer has room for n elements, all zero.
func NewBuffer(d *DType, n int) *Buffer {
	if d.Num == Object {
		return &Buffer{Objects: make([]any, n)}
	}
	return &Buffer{Bytes: tensor.NewStorage(int64(n * d.Size)).Data}
}

// CStrides are the strides of C order.
func CStrides(size int, shape []int) []int {
	s := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = size
		size *= shape[i]
	}
	return s
}

// Count is the number of elements of a shape.
func Count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Len is the number of elements.
func (a *Array) Len() int { return Count(a.Shape) }

// NDim is the number of axes.
func (a *Array) NDim() int { return len(a.Shape) }

// ptr is where an element lies.
func (a *Array) ptr(off int) unsafe.Pointer {
	if off >= len(a.Buf.Bytes) {
		return nil // of an array without elements
	}
	return unsafe.Pointer(&a.Buf.Bytes[off])
}

// View is the same elements under other metadata.
func (a *Array) View(shape, strides []int, offset int) *Array {
	return &Array{Buf: a.Buf, DType: a.DType, Shape: shape, Strides: strides, Offset: offset, ReadOnly: a.ReadOnly}
}

// Alias is a view of all of a.
func (a *Array) Alias() *Array {
	return a.View(append([]int{}, a.Shape...), append([]int{}, a.Strides...), a.Offset)
}

// Contiguous says that the elements lie in C order without gaps.
func (a *Array) Contiguous() bool {
	step := a.DType.Size
	for i := len(a.Shape) - 1; i >= 0; i-- {
		if a.Shape[i] == 0 {
			return true
		}
		if a.Shape[i] != 1 {
			if a.Strides[i] != step {
				return false
			}
			step *= a.Shape[i]
		}
	}
	return true
}

// FContiguous says that the elements lie in Fortran's order without gaps.
func (a *Array) FContiguous() bool {
	step := a.DType.Size
	ok := true
	for i, n := range a.Shape {
		if n == 0 {
			return true
		}
		if n != 1 {
			ok = ok && a.Strides[i] == step
			step *= n
		}
	}
	return ok
}

// Bytes are the bytes of the elements in C order: the array's own where they lie so.
func (a *Array) Bytes() []byte {
	c := a
	if !a.Contiguous() {
		c = a.Copy('C')
	}
	n := c.Len() * c.DType.Size
	if n == 0 {
		return []byte{}
	}
	return c.Buf.Bytes[c.Offset : c.Offset+n]
}

// Slice is the elements of a contiguous array as Go's values; T has the dtype's size.
func Slice[T any](a *Array) []T {
	n := a.Len()
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(a.ptr(a.Offset)), n)
}

// FromSlice is an array of one axis over a slice of Go's values, which it keeps.
func FromSlice[T any](n Num, xs []T) *Array {
	d := Of(n)
	b := &Buffer{Holder: xs}
	if len(xs) > 0 {
		b.Bytes = unsafe.Slice((*byte)(unsafe.Pointer(&xs[0])), len(xs)*d.Size)
	}
	return &Array{Buf: b, DType: d, Shape: []int{len(xs)}, Strides: []int{d.Size}}
}

// Ints is a as a contiguous int64 array's elements.
func (a *Array) Ints() []int64 {
	c, err := a.As(Of(Int64), 'C')
	if err != nil {
		return nil
	}
	return Slice[int64](c)
}

// Floats is a as a contiguous float64 array's elements.
func (a *Array) Floats() []float64 {
	c, err := a.As(Of(Float64), 'C')
	if err != nil {
		return nil
	}
	return Slice[float64](c)
}

// offsets are the places of all elements in C order.
func (a *Array) offsets() []int {
	out := make([]int, 0, a.Len())
	each(a.Shape, a.Strides, a.Offset, func(off int) { out = append(out, off) })
	return out
}

// each calls f with the place of every element, in C order.
func each(shape, strides []int, off int, f func(off int)) {
	if len(shape) == 0 {
		f(off)
		return
	}
	if len(shape) == 1 {
		for i := range shape[0] {
			f(off + i*strides[0])
		}
		return
	}
	for i := range shape[0] {
		each(shape[1:], strides[1:], off+i*strides[0], f)
	}
}

// SharesMemory says whether the bytes that a and b span overlap.
func (a *Array) SharesMemory(b *Array) bool {
	if a.Len() == 0 || b.Len() == 0 {
		return false
	}
	if a.Buf.Objects != nil || b.Buf.Objects != nil {
		return a.Buf == b.Buf
	}
	lo, hi := a.span()
	lo2, hi2 := b.span()
	return lo < hi2 && lo2 < hi
}

func (a *Array) span() (lo, hi uintptr) {
	first, last := a.Offset, a.Offset+a.DType.Size
	for i, n := range a.Shape {
		if d := (n - 1) * a.Strides[i]; d > 0 {
			last += d
		} else {
			first += d
		}
	}
	base := uintptr(unsafe.Pointer(unsafe.SliceData(a.Buf.Bytes)))
	return base + uintptr(first), base + uintptr(last)
}

// Address is where the first element lies.
func (a *Array) Address() uintptr { return uintptr(a.ptr(a.Offset)) }

package tensor

import (
	"fmt"
	"slices"
	"unsafe"
)

// FakeStorage is a storage with a size and an identity but no bytes.
func FakeStorage(nbytes int64) *Storage { return &Storage{NBytes: nbytes} }

// Bump counts one in-place write to t's storage.
func (t *Tensor) Bump() { *t.writes()++ }

// Version counts the writes that autograd has to know of: those to the tensor and to its views.
func (t *Tensor) Version() int64 { return *t.writes() }

// SetVersion makes v the count of writes.
func (t *Tensor) SetVersion(v int64) { *t.writes() = v }

func (t *Tensor) writes() *int64 {
	if t.Writes != nil {
		return t.Writes
	}
	return &t.Storage.Version
}

// Numel is the number of elements of a shape.
func Numel(shape []int64) int64 {
	n := int64(1)
	for _, s := range shape {
		n *= s
	}
	return n
}

// Numel is the number of elements of t.
func (t *Tensor) Numel() int64 { return Numel(t.Shape) }

// Dim is the number of dimensions of t.
func (t *Tensor) Dim() int { return len(t.Shape) }

// extent is the number of elements of storage that a layout spans, offset excluded.
func extent(shape, stride []int64) int64 {
	n := int64(1)
	for i, s := range shape {
		if s == 0 {
			return 0
		}
		n += (s - 1) * stride[i]
	}
	return n
}

// Empty makes a real contiguous tensor (its elements are zero).
func Empty(d DType, shape ...int64) *Tensor {
	return EmptyStrided(d, shape, ContiguousStrides(shape))
}

// EmptyStrided makes a real tensor of the given layout, with just the storage that it spans.
func EmptyStrided(d DType, shape, stride []int64) *Tensor {
	return &Tensor{
		Storage: NewStorage(extent(shape, stride) * int64(d.Size())),
		DType:   d, Shape: cloneDims(shape), Stride: cloneDims(stride),
	}
}

// EmptyUnset is EmptyStrided whose elements may be anything: for a result that is written in full.
func EmptyUnset(d DType, shape, stride []int64) *Tensor {
	return &Tensor{
		Storage: NewStorageUnset(extent(shape, stride) * int64(d.Size())),
		DType:   d, Shape: cloneDims(shape), Stride: cloneDims(stride),
	}
}

// EmptyFake is EmptyStrided without data.
func EmptyFake(d DType, shape, stride []int64) *Tensor {
	return &Tensor{
		Storage: FakeStorage(extent(shape, stride) * int64(d.Size())),
		DType:   d, Shape: cloneDims(shape), Stride: cloneDims(stride), Fake: true,
	}
}

func cloneDims(s []int64) []int64 { return append(make([]int64, 0, len(s)), s...) }

// FakeLike makes a fake tensor with t's metadata and a storage of its own (same size, same offset).
func FakeLike(t *Tensor) *Tensor {
	return &Tensor{
		Storage: FakeStorage(t.Storage.NBytes),
		DType:   t.DType, Shape: cloneDims(t.Shape), Stride: cloneDims(t.Stride), Offset: t.Offset, Fake: true,
	}
}

// EmptyMode makes a fake or a real tensor.
func EmptyMode(fake bool, d DType, shape, stride []int64) *Tensor {
	if fake {
		return EmptyFake(d, shape, stride)
	}
	return EmptyStrided(d, shape, stride)
}

// unsetMode is EmptyMode for a tensor that is written in full.
func unsetMode(fake bool, d DType, shape, stride []int64) *Tensor {
	if fake {
		return EmptyFake(d, shape, stride)
	}
	return EmptyUnset(d, shape, stride)
}

// NewView makes a tensor over base's storage. Its Base is base's own base if it has one.
func NewView(base *Tensor, shape, stride []int64, offset int64) *Tensor {
	root := base
	if base.Base != nil {
		root = base.Base
	}
	n := len(shape)
	dims := make([]int64, n+len(stride))
	copy(dims, shape)
	copy(dims[n:], stride)
	return &Tensor{
		Storage: base.Storage, DType: base.DType, Shape: dims[:n:n], Stride: dims[n:],
		Offset: offset, Fake: base.Fake, Base: root, Writes: base.Writes, Mode: base.Mode,
	}
}

// Alias is a view of t with the same metadata.
func (t *Tensor) Alias() *Tensor { return NewView(t, t.Shape, t.Stride, t.Offset) }

// Full makes a contiguous tensor whose elements are all x, converted to d.
func Full(d DType, x float64, shape ...int64) *Tensor {
	t := Empty(d, shape...)
	t.Fill(x)
	return t
}

// FullInt is Full for integers that float64 cannot hold.
func FullInt(d DType, x int64, shape ...int64) *Tensor {
	t := Empty(d, shape...)
	t.FillInt(x)
	return t
}

// Scalar makes a 0-dim tensor from a bool, int, int64, float64 or complex128, with PyTorch's default dtype for it.
func Scalar(v any) *Tensor {
	switch v := v.(type) {
	case bool:
		t := Empty(Bool)
		if v {
			t.SetInt(0, 1)
		}
		return t
	case int:
		return FullInt(Int64, int64(v))
	case int64:
		return FullInt(Int64, v)
	case float64:
		return Full(DefaultDType, v)
	case complex128:
		t := Empty(Complex64)
		t.FillComplex(v)
		return t
	}
	return Empty(DefaultDType)
}

// DefaultDType is the floating dtype used where PyTorch uses torch.get_default_dtype() and no other was given.
const DefaultDType = Float32

func fromSlice[T any](d DType, xs []T, shape []int64) *Tensor {
	if len(shape) == 0 {
		shape = []int64{int64(len(xs))}
	}
	if Numel(shape) != int64(len(xs)) {
		// A programming error in Go code, never reachable from scripts.
		panic(fmt.Sprintf("tensor: %d values for shape %v", len(xs), shape))
	}
	t := Empty(d, shape...)
	if len(xs) > 0 {
		copy(unsafe.Slice((*T)(unsafe.Pointer(&t.Storage.Data[0])), len(xs)), xs)
	}
	return t
}

// FromFloat32s makes a contiguous float32 tensor. Without a shape it is 1-D.
func FromFloat32s(xs []float32, shape ...int64) *Tensor { return fromSlice(Float32, xs, shape) }

// FromFloat64s makes a contiguous float64 tensor.
func FromFloat64s(xs []float64, shape ...int64) *Tensor { return fromSlice(Float64, xs, shape) }

// FromInt64s makes a contiguous int64 tensor.
func FromInt64s(xs []int64, shape ...int64) *Tensor { return fromSlice(Int64, xs, shape) }

// FromBools makes a contiguous bool tensor.
func FromBools(xs []bool, shape ...int64) *Tensor { return fromSlice(Bool, xs, shape) }

// FromBytes makes a contiguous tensor from little-endian element bytes, which are copied.
func FromBytes(d DType, data []byte, shape ...int64) (*Tensor, error) {
	t := Empty(d, shape...)
	if len(data) != len(t.Storage.Data) {
		return nil, fmt.Errorf("tensor: %d bytes for shape %v of %v", len(data), shape, d)
	}
	copy(t.Storage.Data, data)
	return t, nil
}

// typed gives the storage from t's offset on as a slice of T.
func typed[T any](t *Tensor) []T {
	var z T
	es := int64(unsafe.Sizeof(z))
	n := int64(len(t.Storage.Data))/es - t.Offset
	if n <= 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&t.Storage.Data[t.Offset*es])), n)
}

// Raw gives the storage as elements of type T, starting at t's offset: Raw(t)[i*stride] is an element.
// T must have the size of t's dtype. It is nil for fake tensors and empty storages.
func Raw[T any](t *Tensor) []T { return typed[T](t) }

// Ptr is the address of t's first element, nil for fake tensors and empty storages.
func (t *Tensor) Ptr() unsafe.Pointer {
	o := t.Offset * int64(t.DType.Size())
	if o >= int64(len(t.Storage.Data)) {
		return nil
	}
	return unsafe.Pointer(&t.Storage.Data[o])
}

func contiguousSlice[T any](t *Tensor, d DType) []T {
	if t.DType != d || t.Fake || !t.IsContiguous(ContiguousFormat) {
		return nil
	}
	n := t.Numel()
	if n == 0 {
		return []T{}
	}
	return typed[T](t)[:n:n]
}

// Float32s is the elements of a contiguous float32 tensor, aliasing its storage; nil for any other tensor.
func (t *Tensor) Float32s() []float32 { return contiguousSlice[float32](t, Float32) }

// Float64s is the elements of a contiguous float64 tensor; nil for any other.
func (t *Tensor) Float64s() []float64 { return contiguousSlice[float64](t, Float64) }

// Int64s is the elements of a contiguous int64 tensor; nil for any other.
func (t *Tensor) Int64s() []int64 { return contiguousSlice[int64](t, Int64) }

// Int32s is the elements of a contiguous int32 tensor; nil for any other.
func (t *Tensor) Int32s() []int32 { return contiguousSlice[int32](t, Int32) }

// Bools is the elements of a contiguous bool tensor; nil for any other.
func (t *Tensor) Bools() []bool { return contiguousSlice[bool](t, Bool) }

// Bytes is the elements of t in row-major order as little-endian bytes; it aliases the
// storage when t is contiguous and copies otherwise. nil for fake tensors.
func (t *Tensor) Bytes() []byte {
	if t.Fake {
		return nil
	}
	c := t.Contiguous()
	o := c.Offset * int64(c.DType.Size())
	n := c.Numel() * int64(c.DType.Size())
	if n == 0 {
		return []byte{}
	}
	return c.Storage.Data[o : o+n : o+n]
}

// Contiguous is t itself if contiguous, else a contiguous copy.
func (t *Tensor) Contiguous() *Tensor {
	if t.IsContiguous(ContiguousFormat) {
		return t
	}
	c := unsetMode(t.Fake, t.DType, t.Shape, ContiguousStrides(t.Shape))
	if !t.Fake {
		Copy(c, t)
	}
	return c
}

// Clone copies t into fresh storage; dense layouts keep their strides, others become contiguous in stride order.
func (t *Tensor) Clone() *Tensor {
	c := unsetMode(t.Fake, t.DType, t.Shape, PreservedStrides(t.Shape, t.Stride))
	if !t.Fake {
		Copy(c, t)
	}
	return c
}

// To is t converted to d, contiguous in t's stride order; t itself if it has that dtype.
func (t *Tensor) To(d DType) *Tensor {
	if t.DType == d {
		return t
	}
	c := unsetMode(t.Fake, d, t.Shape, PreservedStrides(t.Shape, t.Stride))
	if !t.Fake {
		Copy(c, t)
	}
	return c
}

// SameShape reports whether two tensors have equal shapes.
func SameShape(a, b *Tensor) bool { return slices.Equal(a.Shape, b.Shape) }

// Whole is t's whole storage as elements of type T, whatever t's offset. T must have the size of t's dtype.
func Whole[T any](t *Tensor) []T { return all[T](t) }

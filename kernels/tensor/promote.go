package tensor

import "fmt"

// Promote is the dtype that PyTorch's promotion table gives for a and b.
func Promote(a, b DType) DType {
	if a == b {
		return a
	}
	if a == Invalid {
		return b
	}
	if b == Invalid {
		return a
	}
	if a.Kind() > b.Kind() {
		a, b = b, a
	}
	if a.Kind() < b.Kind() {
		if b == Complex64 && a == Float64 {
			return Complex128
		}
		return b
	}
	switch a.Kind() {
	case KindComplex:
		return Complex128
	case KindFloat:
		switch {
		case a == Float64 || b == Float64:
			return Float64
		}
		return Float32 // f32 with a half type, or f16 with bf16
	case KindInt:
		if a == UInt8 || b == UInt8 {
			if a == UInt8 {
				a, b = b, a
			}
			// b is UInt8, a signed.
			if a == Int8 {
				return Int16
			}
			return a
		}
		if a.Size() > b.Size() {
			return a
		}
		return b
	}
	return a
}

// ResultType is torch.result_type over any number of arguments: *Tensor, bool, int64, float64, or
// DType (counted like a tensor with dimensions); nil is skipped. Tensors with dimensions outrank 0-dim tensors, which outrank numbers,
// unless the lower-ranked argument is of a higher kind.
func ResultType(args ...any) DType { return ResultTypeDefault(DefaultDType, args...) }

// ResultTypeDefault is ResultType with the given default floating dtype.
func ResultTypeDefault(def DType, args ...any) DType {
	var dim, zero, wrapped DType
	for _, a := range args {
		switch a := a.(type) {
		case *Tensor:
			if a == nil {
				continue
			}
			if len(a.Shape) > 0 {
				dim = Promote(dim, a.DType)
			} else {
				zero = Promote(zero, a.DType)
			}
		case DType:
			dim = Promote(dim, a)
		case bool:
			wrapped = Promote(wrapped, Bool)
		case int:
			wrapped = Promote(wrapped, Int64)
		case int64:
			wrapped = Promote(wrapped, Int64)
		case float64:
			wrapped = Promote(wrapped, def)
		case complex128:
			if def == Float64 {
				wrapped = Promote(wrapped, Complex128)
			} else {
				wrapped = Promote(wrapped, Complex64)
			}
		}
	}
	combine := func(hi, lo DType) DType {
		if hi == Invalid {
			return lo
		}
		if lo == Invalid {
			return hi
		}
		if lo.Kind() > hi.Kind() {
			// A complex number with a float keeps the float's precision.
			if lo.Kind() == KindComplex && hi.Kind() == KindFloat {
				if hi == Float64 {
					return Complex128
				}
				return Complex64
			}
			return lo
		}
		return hi
	}
	return combine(dim, combine(zero, wrapped))
}

// CanCast reports whether PyTorch allows writing a result of dtype from into an output of dtype to.
func CanCast(from, to DType) bool {
	if from.Kind() == KindComplex && to.Kind() != KindComplex {
		return false
	}
	if from.Kind() == KindFloat && (to.Kind() == KindInt || to.Kind() == KindBool) {
		return false
	}
	if from.Kind() != KindBool && to.Kind() == KindBool {
		return false
	}
	return true
}

// BroadcastShapes is the shape that a and b broadcast to. The error has PyTorch's text.
func BroadcastShapes(a, b []int64) ([]int64, error) {
	n := max(len(a), len(b))
	out := make([]int64, n)
	for i := n - 1; i >= 0; i-- {
		x, y := int64(1), int64(1)
		if k := i - (n - len(a)); k >= 0 {
			x = a[k]
		}
		if k := i - (n - len(b)); k >= 0 {
			y = b[k]
		}
		if x != y && x != 1 && y != 1 {
			return nil, fmt.Errorf("The size of tensor a (%d) must match the size of tensor b (%d) at non-singleton dimension %d", x, y, i)
		}
		if x == 1 {
			out[i] = y
		} else {
			out[i] = x
		}
	}
	return out, nil
}

// Expand is the view of t broadcast to shape, whose dimensions must be compatible (BroadcastShapes checks that).
func (t *Tensor) Expand(shape []int64) *Tensor {
	if SameShape(t, &Tensor{Shape: shape}) {
		return t
	}
	return NewView(t, shape, BroadcastStrides(t, shape), t.Offset)
}

// ViewStrides is the strides of a view of (shape, stride) as newShape, or nil if there is none: the test of Tensor.view.
func ViewStrides(shape, stride, newShape []int64) []int64 {
	numel := Numel(shape)
	if len(shape) == 0 {
		st := make([]int64, len(newShape))
		for i := range st {
			st[i] = 1
		}
		return st
	}
	if numel == 0 {
		if SameShape(&Tensor{Shape: shape}, &Tensor{Shape: newShape}) {
			return cloneDims(stride)
		}
		st := make([]int64, len(newShape))
		for d := len(newShape) - 1; d >= 0; d-- {
			if d == len(newShape)-1 {
				st[d] = 1
			} else {
				st[d] = max(newShape[d+1], 1) * st[d+1]
			}
		}
		return st
	}
	st := make([]int64, len(newShape))
	vd := len(newShape) - 1
	base := stride[len(stride)-1]
	tn, vn := int64(1), int64(1)
	for d := len(shape) - 1; d >= 0; d-- {
		tn *= shape[d]
		if d == 0 || (shape[d-1] != 1 && stride[d-1] != tn*base) {
			for vd >= 0 && (vn < tn || newShape[vd] == 1) {
				st[vd] = vn * base
				vn *= newShape[vd]
				vd--
			}
			if vn != tn {
				return nil
			}
			if d > 0 {
				base = stride[d-1]
				tn, vn = 1, 1
			}
		}
	}
	if vd != -1 {
		return nil
	}
	return st
}

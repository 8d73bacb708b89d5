package aot

import (
	"fmt"
	"slices"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Some operators change what a tensor looks like, and not only what it holds: views in place (t_, unsqueeze_), and results that an out= tensor of
// another size is made to fit.

// viewInPlace makes args[0] the view of itself that fn gave; inner is that view on the layer below.
func (f *Functional) viewInPlace(fn *aten.Op, args []aten.Value, inner aten.Value) (aten.Value, error) {
	t, v := args[0].(*tensor.Tensor), inner.(*tensor.Tensor)
	st := f.outer[t]
	if st == nil {
		return nil, fmt.Errorf("%s: in place on a constant tensor of shape %v inside a compiled function", fn.Name(), t.Shape)
	}
	st.chain = append(slices.Clone(st.chain), viewStep{fn, slices.Clone(args), 0})
	st.inner = v
	f.look(t, v)
	return t, nil
}

// look gives t the shape, strides and offset of v.
func (f *Functional) look(t, v *tensor.Tensor) {
	t.Shape, t.Stride, t.Offset = slices.Clone(v.Shape), slices.Clone(v.Stride), v.Offset
}

// intoOut stores a result in an out= tensor. One of another size becomes as large as the result.
func (f *Functional) intoOut(t, v *tensor.Tensor) error {
	if !tensor.CanCast(v.DType, t.DType) {
		return &aten.Error{Kind: aten.RuntimeError, Msg: fmt.Sprintf("result type %s can't be cast to the desired output type %s", aten.ScalarTypeName(v.DType), aten.ScalarTypeName(t.DType))}
	}
	st := f.outer[t]
	if st == nil || build.EqualInts(t.Shape, v.Shape) {
		return f.write(t, v)
	}
	ss := f.storage[t.Storage]
	size := int64(t.DType.Size())
	need := (t.Offset + extent(v)) * size
	if len(st.chain) == 0 {
		b := &build.B{D: f.Below}
		return build.Run(func() {
			v = b.To(v, t.DType)
			if !v.IsNonOverlappingAndDense() {
				v = b.T("clone.default", v, tensor.ContiguousFormat)
			}
			f.look(t, v)
			t.Offset = 0
			t.Storage.NBytes = max(t.Storage.NBytes, need)
			f.store(ss, v)
			st.inner, st.gen = v, ss.gen
		})
	}
	if need > t.Storage.NBytes {
		return fmt.Errorf("an out= tensor of size %s that is a view cannot grow to size %s inside a compiled function", tensor.ShapeText(t.Shape), tensor.ShapeText(v.Shape))
	}
	as := aten.Lookup("aten.as_strided.default")
	args := []aten.Value{t, build.Ints(v.Shape), build.Ints(v.Stride), t.Offset}
	in, err := f.unwrapAll(args)
	if err != nil {
		return err
	}
	out, err := f.Below.Dispatch(as, in)
	if err != nil {
		return err
	}
	if _, err := f.viewInPlace(as, args, out); err != nil {
		return err
	}
	return f.write(t, v)
}

// resize makes an input as large as the value that is to be written to it.
func resize(d aten.Dispatcher, t, v *tensor.Tensor) error {
	if tensor.SameShape(t, v) {
		return nil
	}
	if _, err := build.Call(d, "aten.resize_.default", t, build.Ints(v.Shape)); err != nil {
		return err
	}
	_, err := build.Call(d, "aten.as_strided_.default", t, build.Ints(v.Shape), build.Ints(v.Stride), t.Offset)
	return err
}

// grown reports whether a value takes more memory than the input that it is written to.
func grown(t, v *tensor.Tensor) bool {
	return (t.Offset+extent(v))*int64(t.DType.Size()) > t.Storage.NBytes
}

// extent is how many elements of storage a tensor spans.
func extent(t *tensor.Tensor) int64 {
	n := int64(1)
	for i, s := range t.Shape {
		if s == 0 {
			return 0
		}
		n += (s - 1) * t.Stride[i]
	}
	return n
}

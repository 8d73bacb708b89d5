package aten

import (
	"math"
	"slices"

	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Copies and conversions between dtypes and memory formats. A conversion of a float to an integer cuts towards zero; what no int64 holds is
// its least value, as on x86; a float becomes true if it is not zero, NaN included. preserve_format keeps the strides of a dense tensor, and
// else their order.

func copies() {
	def("clone", func(c *Call) (Value, error) {
		t := c.T(0)
		o := c.NewUnset(t.DType, t.Shape, c.likeStrides(t))
		if c.real {
			tensor.Copy(o, t)
		}
		return o, nil
	})
	def("lift_fresh_copy", func(c *Call) (Value, error) { return c.do("clone", c.Args[0], nil) })
	def("_to_copy", func(c *Call) (Value, error) {
		t := c.T(0)
		o := c.NewUnset(c.optDT(t.DType), t.Shape, c.likeStrides(t))
		if c.real {
			tensor.Copy(o, t)
		}
		return o, nil
	})
	def("copy_", func(c *Call) (Value, error) {
		o := c.T(0)
		src, ok := c.Args[1].(*tensor.Tensor)
		if !ok {
			src = tensor.Scalar(c.Args[1])
		}
		if o == src {
			c.bump(o)
			return o, nil
		}
		sh, err := tensor.BroadcastShapes(o.Shape, src.Shape)
		if err != nil {
			return nil, errf("%s", err)
		}
		if !slices.Equal(sh, o.Shape) {
			return nil, errf("output with shape %s doesn't match the broadcast shape %s", tensor.ShapeText(o.Shape), tensor.ShapeText(sh))
		}
		if err := checkOverlap(o, []Value{src}); err != nil {
			return nil, err
		}
		if c.real {
			if o.Storage == src.Storage {
				src = src.Clone()
			}
			tensor.Copy(o, src)
		}
		c.bump(o)
		return o, nil
	})
	def("copy", func(c *Call) (Value, error) {
		t, src := c.T(0), c.T(1)
		o := c.NewUnset(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		sh, err := tensor.BroadcastShapes(o.Shape, src.Shape)
		if err != nil {
			return nil, errf("%s", err)
		}
		if !slices.Equal(sh, o.Shape) {
			return nil, errf("output with shape %s doesn't match the broadcast shape %s", tensor.ShapeText(o.Shape), tensor.ShapeText(sh))
		}
		if c.real {
			tensor.Copy(o, src)
		}
		return o, nil
	})
	to := func(c *Call, d tensor.DType, cp bool, f Value) (Value, error) {
		t := c.T(0)
		if d == tensor.Invalid {
			d = t.DType
		}
		mf, _ := f.(tensor.MemoryFormat)
		if d == t.DType && !cp && (mf == "" || mf == tensor.PreserveFormat || t.SuggestMemoryFormat() == mf) {
			return t, nil
		}
		return c.via("_to_copy", t, d, nil, nil, nil, false, f)
	}
	comp("to.device", func(c *Call) (Value, error) { return to(c, c.DT(2), c.B(4), c.Args[5]) })
	comp("to.dtype", func(c *Call) (Value, error) { return to(c, c.DT(1), c.B(3), c.Args[4]) })
	comp("to.other", func(c *Call) (Value, error) { return to(c, c.T(1).DType, c.B(3), c.Args[4]) })
	comp("to.dtype_layout", func(c *Call) (Value, error) { return to(c, c.DT(1), c.B(6), c.Args[7]) })
	comp("type_as", func(c *Call) (Value, error) { return to(c, c.T(1).DType, false, nil) })
	fill := func(c *Call, o *tensor.Tensor) (Value, error) {
		v := c.Args[1]
		if t, ok := v.(*tensor.Tensor); ok && t.Dim() != 0 {
			return nil, errf("fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.", t.Dim())
		}
		if c.real {
			if t, ok := v.(*tensor.Tensor); ok {
				v = t.Item()
			}
			fillScalar(o, v)
		}
		return o, nil
	}
	def("fill_.Scalar fill_.Tensor", func(c *Call) (Value, error) {
		v, err := fill(c, c.T(0))
		c.bump(c.T(0))
		return v, err
	})
	def("fill.Scalar fill.Tensor", func(c *Call) (Value, error) {
		t := c.T(0)
		return fill(c, c.NewUnset(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride)))
	})
	def("zero_", func(c *Call) (Value, error) {
		if c.real {
			c.T(0).FillInt(0)
		}
		c.bump(c.T(0))
		return c.T(0), nil
	})
	def("zero", func(c *Call) (Value, error) {
		t := c.T(0)
		return c.New(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride)), nil
	})
	// A triangle keeps of each row what lies up to the diagonal, or from it on.
	tri := func(name string) {
		def(name, func(c *Call) (Value, error) {
			t, k := c.T(0), c.I(1)
			if t.Dim() < 2 {
				return nil, errf("%s: input tensor must have at least 2 dimensions", name)
			}
			o := c.NewUnset(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape))
			if !c.real || t.Numel() == 0 {
				return o, nil
			}
			tensor.Copy(o, t)
			n, m, es := t.Shape[t.Dim()-2], t.Shape[t.Dim()-1], int64(t.DType.Size())
			data := o.Bytes()
			parallel.For(int(o.Numel()/m), int(grain/m+1), func(lo, hi int) {
				for r := int64(lo); r < int64(hi); r++ {
					row, at := data[r*m*es:(r+1)*m*es], r%n+k // at: the column of the diagonal
					if name == "tril" {
						clear(row[min(max(at+1, 0), m)*es:])
					} else {
						clear(row[:min(max(at, 0), m)*es])
					}
				}
			})
			return o, nil
		})
	}
	tri("tril")
	tri("triu")
	def("_foobar", func(c *Call) (Value, error) {
		if c.real {
			return c.T(0), nil
		}
		return tensor.FakeLike(c.T(0)), nil
	})
	def("_local_scalar_dense", func(c *Call) (Value, error) { return item(c, c.T(0)) })
	comp("item", func(c *Call) (Value, error) {
		if n := c.T(0).Numel(); n != 1 {
			return nil, errf("a Tensor with %d elements cannot be converted to Scalar", n)
		}
		return c.via("_local_scalar_dense", c.Args[0])
	})
	def("equal", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		if a.Fake || b.Fake || !c.real {
			return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
		}
		if !tensor.SameShape(a, b) {
			return false, nil
		}
		e, err := c.doT("eq.Tensor", a, b)
		if err != nil {
			return nil, err
		}
		for _, x := range e.Ints() {
			if x == 0 {
				return false, nil
			}
		}
		return true, nil
	})
	comp("allclose", func(c *Call) (Value, error) {
		v, err := c.viaT("isclose", c.Args...)
		if err != nil {
			return nil, err
		}
		if v.Fake {
			return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
		}
		return !anyIs(v.Bytes(), false), nil
	})
	comp("is_same_size", func(c *Call) (Value, error) { return tensor.SameShape(c.T(0), c.T(1)), nil })
	comp("is_nonzero", func(c *Call) (Value, error) {
		v, err := c.via("item", c.Args[0])
		return toFloat(v) != 0, err
	})
	def("_assert_scalar", func(c *Call) (Value, error) {
		ok := true
		switch v := c.Args[0].(type) {
		case bool:
			ok = v
		case int64:
			ok = v != 0
		case float64:
			ok = v != 0
		}
		if !ok {
			msg, _ := c.Args[1].(string)
			return nil, errf("%s", msg)
		}
		return nil, nil
	})
	for name, size := range map[string]bool{"sym_constrain_range": false, "sym_constrain_range_for_size": true} {
		def(name, func(c *Call) (Value, error) { return nil, constrainRange(c, size) })
	}
	def("sym_size.int", func(c *Call) (Value, error) {
		if c.T(0).Dim() == 0 {
			return nil, kindf(IndexError, "Dimension specified as %d but tensor has no dimensions", c.I(1))
		}
		d, err := wrapDim(c.I(1), int64(c.T(0).Dim()))
		if err != nil {
			return nil, err
		}
		return c.T(0).Shape[d], nil
	})
	def("sym_stride.int", func(c *Call) (Value, error) {
		if c.T(0).Dim() == 0 {
			return nil, kindf(IndexError, "Dimension specified as %d but tensor has no dimensions", c.I(1))
		}
		d, err := wrapDim(c.I(1), int64(c.T(0).Dim()))
		if err != nil {
			return nil, err
		}
		return c.T(0).Stride[d], nil
	})
	def("sym_numel", func(c *Call) (Value, error) { return c.T(0).Numel(), nil })
	def("sym_storage_offset", func(c *Call) (Value, error) { return c.T(0).Offset, nil })
}

func item(c *Call, t *tensor.Tensor) (Value, error) {
	if t.Fake || !c.real {
		return nil, &Error{Kind: DataDependentError, Msg: "aten._local_scalar_dense.default"}
	}
	if t.Numel() != 1 {
		return nil, errf("a Tensor with %d elements cannot be converted to Scalar", t.Numel())
	}
	return t.Item(), nil
}

// constrainRange checks that a number, a size or any, lies between two bounds.
func constrainRange(c *Call, size bool) error {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if size {
		lo = 0
	}
	if v, ok := c.Args[1].(int64); ok {
		lo = v
	}
	if v, ok := c.Args[2].(int64); ok {
		hi = v
	}
	if size && hi <= 2 {
		return errf("Max value to constrain_range_for_size must be greater than 2. got: %d", hi)
	}
	if n, ok := c.Args[0].(int64); ok && (n < lo || n > hi) {
		return errf("Invalid value range for %d between [%d, %d].", n, lo, hi)
	}
	return nil
}

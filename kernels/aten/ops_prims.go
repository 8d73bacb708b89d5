package aten

import (
	"math"
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

// The operators that Inductor and the decompositions use beneath aten: torch.ops.prims. They promote less than aten does: dtypes are given,
// not inferred.

func primsOps() {
	alias := func(p, to string) {
		for _, n := range strings.Fields(p) {
			t := to
			if t == "" {
				t = n
			}
			def("prims::"+n, func(c *Call) (Value, error) { return c.do(t, c.Args...) })
		}
	}
	alias("abs acos acosh asin asinh atan atanh cos cosh bitwise_not ceil digamma erf erfc exp expm1 exp2 floor isfinite lgamma log log1p log2 log10 neg reciprocal round rsqrt sin sinh sqrt tan tanh trunc sign signbit", "")
	alias("atan2 fmax fmin hypot igamma igammac gcd maximum minimum nextafter", "")
	for _, n := range strings.Fields("bitwise_and bitwise_or bitwise_xor eq ge gt le lt ne fmod mul remainder") {
		alias(n, n+".Tensor")
	}
	alias("pow", "pow.Tensor_Tensor")
	alias("shift_left", "bitwise_left_shift.Tensor")
	alias("shift_right_arithmetic", "bitwise_right_shift.Tensor")
	alias("where", "where.self")
	def("prims::add prims::sub", func(c *Call) (Value, error) {
		return c.do(c.Op.Sig().Name+".Tensor", c.Args[0], c.Args[1], int64(1))
	})
	def("prims::div", func(c *Call) (Value, error) {
		if rtype(c.Args...).Kind() < tensor.KindFloat {
			return c.do("div.Tensor_mode", c.Args[0], c.Args[1], "trunc")
		}
		return c.do("div.Tensor", c.Args[0], c.Args[1])
	})
	def("prims::fma", func(c *Call) (Value, error) {
		d := rtype(c.Args...)
		if d.IsInt() { // exact, and wrapping around
			return c.do("add.Tensor", must(c.do("mul.Tensor", c.Args[0], c.Args[1])), c.Args[2], int64(1))
		}
		return c.pwv(c.Args, d, d, f3(func(a, b, x float64) float64 { return math.FMA(a, b, x) }))
	})
	def("prims::convert_element_type", func(c *Call) (Value, error) {
		t := c.T(0)
		o := c.NewUnset(c.DT(1), t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		if c.real {
			tensor.Copy(o, t)
		}
		return o, nil
	})
	def("prims::device_put", func(c *Call) (Value, error) {
		return c.do("clone", c.Args[0], nil)
	})
	def("prims::iota", func(c *Call) (Value, error) {
		n, start, step := c.I(0), c.I(1), c.I(2)
		if n < 0 {
			return nil, kindf(ValueError, "length must be non-negative, got %d", n)
		}
		o := c.newCUnset(c.DT(3), n)
		if c.real {
			xs := make([]int64, n)
			for i := range xs {
				xs[i] = start + int64(i)*step
			}
			o.SetInts(xs)
		}
		return o, nil
	})
	def("prims::rev", func(c *Call) (Value, error) { return c.do("flip", c.Args[0], c.Args[1]) })
	def("prims::inductor_seed", func(c *Call) (Value, error) {
		o := c.NewC(tensor.Int64)
		if c.real {
			o.SetInt(0, int64(DefaultGenerator.Uint64()%math.MaxUint64)+math.MinInt64)
		}
		return o, nil
	})
	def("prims::inductor_seeds", func(c *Call) (Value, error) {
		o := c.NewC(tensor.Int64, c.I(0))
		if c.real {
			// randint over the whole int64 range takes one 64-bit draw per seed.
			xs := make([]int64, c.I(0))
			for i := range xs {
				xs[i] = int64(DefaultGenerator.Uint64()%math.MaxUint64) + math.MinInt64
			}
			o.SetInts(xs)
		}
		return o, nil
	})
	def("prims::inductor_lookup_seed", func(c *Call) (Value, error) {
		return c.do("clone", must(c.do("select.int", c.Args[0], int64(0), c.Args[1])), nil)
	})
	// As in a compiled kernel, and unlike in PyTorch's eager one, the seed decides: a backward pass that draws again gets the same numbers.
	seeded := func(c *Call, seed *tensor.Tensor) Value {
		if !c.real {
			return tensor.NewGenerator(0)
		}
		return tensor.NewGenerator(uint64(seed.Ints()[0]))
	}
	def("prims::inductor_random", func(c *Call) (Value, error) {
		switch mode := c.Str(2); mode {
		case "rand", "randn":
			return c.do(mode+".generator", c.Args[0], seeded(c, c.T(1)))
		}
		return nil, kindf(ValueError, "inductor_random: unknown mode %s", c.Str(2))
	})
	def("prims::inductor_randint", func(c *Call) (Value, error) {
		return c.do("randint.low_generator", c.Args[0], c.Args[1], c.Args[2], seeded(c, c.T(3)))
	})
	def("prims::inductor_force_stride_order", func(c *Call) (Value, error) {
		t := c.T(0)
		o := c.NewUnset(t.DType, t.Shape, c.Ints(1))
		if c.real {
			tensor.Copy(o, t)
		}
		return o, nil
	})
	red := func(n string, f func(c *Call, t *tensor.Tensor, dims Value) (Value, error)) {
		def("prims::"+n, func(c *Call) (Value, error) {
			v, err := f(c, c.T(0), c.Args[1])
			if err != nil {
				return nil, err
			}
			if d, ok := c.opt("output_dtype").(tensor.DType); ok {
				return c.do("prims.convert_element_type", v, d)
			}
			return v, nil
		})
	}
	red("sum", func(c *Call, t *tensor.Tensor, d Value) (Value, error) { return c.do("sum.dim_IntList", t, d, false) })
	red("amax", func(c *Call, t *tensor.Tensor, d Value) (Value, error) { return c.do("amax", t, d, false) })
	red("amin", func(c *Call, t *tensor.Tensor, d Value) (Value, error) { return c.do("amin", t, d, false) })
	red("var", func(c *Call, t *tensor.Tensor, d Value) (Value, error) {
		return c.do("var.correction", t, d, c.Args[2], false)
	})
	def("prims::broadcast_in_dim", func(c *Call) (Value, error) {
		t, shape, dims := c.T(0), c.Ints(1), c.Ints(2)
		st := make([]int64, len(shape))
		for i, d := range dims {
			if d < 0 || int(d) >= len(shape) || t.Shape[i] != 1 && t.Shape[i] != shape[d] {
				return nil, errf("broadcast_in_dim: dimension %d of size %d does not fit", i, t.Shape[i])
			}
			if t.Shape[i] == shape[d] {
				st[d] = t.Stride[i]
			}
		}
		return c.View(t, shape, st, t.Offset), nil
	})
	alias("transpose", "permute")
	alias("squeeze", "squeeze.dims")
	alias("as_strided", "as_strided")
	alias("clone", "clone")
	def("prims::collapse_view", func(c *Call) (Value, error) { return c.do("flatten.using_ints", c.Args...) })
	def("prims::split_dim", func(c *Call) (Value, error) {
		t, d, o := c.T(0), c.I(1), c.I(2)
		sh := append(slices.Clone(t.Shape[:d]), o, t.Shape[d]/max(o, 1))
		return c.do("view", t, ints(append(sh, t.Shape[d+1:]...)))
	})
	def("prims::full", func(c *Call) (Value, error) { return c.do("full", c.Args[0], c.Args[1], c.Args[2]) })
	def("prims::full_like", func(c *Call) (Value, error) { return c.do("full_like", c.Args[0], c.Args[1], c.Args[2]) })
	def("prims::scalar_tensor", func(c *Call) (Value, error) { return c.do("scalar_tensor", c.Args[0], c.Args[1]) })
	def("prims::empty_strided", func(c *Call) (Value, error) { return c.do("empty_strided", c.Args[0], c.Args[1], c.Args[2]) })
	def("prims::empty_permuted", func(c *Call) (Value, error) { return c.do("empty_permuted", c.Args[0], c.Args[1], c.Args[2]) })
	def("prims::copy_to", func(c *Call) (Value, error) { return c.do("copy_", c.Args...) })
	def("prims::item", func(c *Call) (Value, error) { return item(c, c.T(0)) })
	def("prims::view_of", func(c *Call) (Value, error) { return c.do("alias", c.Args...) })
	def("_assert_async _assert_async.msg _functional_assert_async.msg", func(c *Call) (Value, error) {
		if c.real && c.T(0).Numel() == 1 && c.T(0).At(0) == 0 {
			if m := c.opt("assert_msg"); m != nil {
				return nil, errf("%s", m)
			}
			return nil, errf("Expected Tensor with single nonzero value, but got zero")
		}
		return nil, nil
	})
}

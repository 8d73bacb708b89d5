package aten

import (
	"math"
	"slices"

	"whittle/kernels/tensor"
)

// opt finds an argument by name; nil when the schema lacks it.
func (c *Call) opt(name string) Value {
	if i := c.Op.Sig().Arg(name); i >= 0 {
		return c.Args[i]
	}
	return nil
}

// optDT is the dtype argument, or def for None.
func (c *Call) optDT(def tensor.DType) tensor.DType {
	if d, ok := c.opt("dtype").(tensor.DType); ok {
		return d
	}
	return def
}

// checkSize refuses negative sizes and devices that do not exist.
func (c *Call) checkSize(size []int64) error {
	for _, s := range size {
		if s < 0 {
			return errf("Trying to create tensor with negative dimension %d: %s", s, tensor.ShapeText(size))
		}
	}
	return c.checkDevice()
}

func (c *Call) checkDevice() error {
	if d, ok := c.opt("device").(tensor.Device); ok && d.Type != "cpu" && d.Type != "meta" {
		if d.Type == "cuda" {
			return kindf(RuntimeError, "Torch not compiled with CUDA enabled")
		}
		return errf("device %s is not available", d.Type)
	}
	return nil
}

func scalarDType(v Value) tensor.DType {
	switch v.(type) {
	case bool:
		return tensor.Bool
	case int64:
		return tensor.Int64
	case complex128:
		return tensor.Complex64
	}
	return tensor.DefaultDType
}

// fillScalar sets t to a number without losing integers above 2^53.
func fillScalar(t *tensor.Tensor, v Value) {
	switch v := v.(type) {
	case float64:
		t.Fill(v)
	case complex128:
		t.FillComplex(v)
	default:
		t.FillInt(toInt(v))
	}
}

// likeStrides is the layout of x_like(self, memory_format).
func (c *Call) likeStrides(t *tensor.Tensor) []int64 {
	f, _ := c.opt("memory_format").(tensor.MemoryFormat)
	if f == "" || f == tensor.PreserveFormat {
		return tensor.PreservedStrides(t.Shape, t.Stride)
	}
	return tensor.FormatStrides(t.Shape, f)
}

func init() {
	sized := func(names string, dt tensor.DType, fill func(c *Call, t *tensor.Tensor)) {
		def(names, func(c *Call) (Value, error) {
			size := toInts(c.opt("size"))
			if err := c.checkSize(size); err != nil {
				return nil, err
			}
			f, _ := c.opt("memory_format").(tensor.MemoryFormat)
			t := c.New(c.optDT(dt), size, tensor.FormatStrides(size, f))
			if c.real && fill != nil {
				fill(c, t)
			}
			return t, nil
		})
	}
	one := func(c *Call, t *tensor.Tensor) { t.FillInt(1) }
	gen := func(c *Call) *tensor.Generator {
		if g, ok := c.opt("generator").(*tensor.Generator); ok && g != nil {
			return g
		}
		return DefaultGenerator
	}
	rnd := func(c *Call, t *tensor.Tensor) { gen(c).UniformFill(t, 0, 1) }
	nrm := func(c *Call, t *tensor.Tensor) { gen(c).NormalFill(t, 0, 1) }
	sized("empty.memory_format zeros", tensor.Float32, nil)
	sized("ones", tensor.Float32, one)
	sized("rand rand.generator", tensor.Float32, rnd)
	sized("randn randn.generator", tensor.Float32, nrm)
	randint := func(c *Call, t *tensor.Tensor, lo, hi int64) error {
		if lo >= hi {
			return errf("random_ expects 'from' to be less than 'to', but got from=%d >= to=%d", lo, hi)
		}
		if c.real {
			gen(c).RandomFill(t, lo, hi)
		}
		return nil
	}
	def("randint randint.generator randint.low randint.low_generator", func(c *Call) (Value, error) {
		size := toInts(c.opt("size"))
		if err := c.checkSize(size); err != nil {
			return nil, err
		}
		lo, hi := toInt(c.opt("low")), toInt(c.opt("high"))
		t := c.NewC(c.optDT(tensor.Int64), size...)
		return t, randint(c, t, lo, hi)
	})
	like := func(names string, fill func(c *Call, t *tensor.Tensor)) {
		def(names, func(c *Call) (Value, error) {
			s := c.T(0)
			if err := c.checkDevice(); err != nil {
				return nil, err
			}
			t := c.New(c.optDT(s.DType), s.Shape, c.likeStrides(s))
			if c.real && fill != nil {
				fill(c, t)
			}
			return t, nil
		})
	}
	like("empty_like zeros_like", nil)
	like("ones_like", one)
	like("rand_like", rnd)
	like("randn_like", nrm)
	like("full_like", func(c *Call, t *tensor.Tensor) { fillScalar(t, c.Args[1]) })
	def("randint_like randint_like.low_dtype", func(c *Call) (Value, error) {
		s := c.T(0)
		t := c.New(c.optDT(s.DType), s.Shape, c.likeStrides(s))
		return t, randint(c, t, toInt(c.opt("low")), toInt(c.opt("high")))
	})
	newLike := func(names string, fill func(c *Call, t *tensor.Tensor)) {
		def(names, func(c *Call) (Value, error) {
			size := c.Ints(1)
			if err := c.checkSize(size); err != nil {
				return nil, err
			}
			t := c.NewC(c.optDT(c.T(0).DType), size...)
			if c.real && fill != nil {
				fill(c, t)
			}
			return t, nil
		})
	}
	newLike("new_empty new_zeros", nil)
	newLike("new_ones", one)
	newLike("new_full", func(c *Call, t *tensor.Tensor) { fillScalar(t, c.Args[2]) })
	def("new_empty_strided", func(c *Call) (Value, error) {
		if a, b := len(c.Ints(1)), len(c.Ints(2)); a != b {
			return nil, errf("mismatch in length of strides and shape: %d and %d", b, a)
		}
		if err := c.checkSize(c.Ints(1)); err != nil {
			return nil, err
		}
		return c.New(c.optDT(c.T(0).DType), c.Ints(1), c.Ints(2)), nil
	})
	def("empty_strided", func(c *Call) (Value, error) {
		if len(c.Ints(0)) != len(c.Ints(1)) {
			return nil, errf("dimensionality of sizes (%d) must match dimensionality of strides (%d)", len(c.Ints(0)), len(c.Ints(1)))
		}
		if err := c.checkSize(c.Ints(0)); err != nil {
			return nil, err
		}
		return c.New(c.optDT(tensor.Float32), c.Ints(0), c.Ints(1)), nil
	})
	def("empty_permuted", func(c *Call) (Value, error) {
		size, phys := c.Ints(0), c.Ints(1)
		st := make([]int64, len(size))
		n := int64(1)
		for i := len(phys) - 1; i >= 0; i-- {
			if phys[i] < 0 || int(phys[i]) >= len(size) {
				return nil, errf("Dimension out of range (expected to be between 0 and %d, but got %d at index %d).  NB: negative dims not currently supported; file an issue if you want it.", len(size)-1, phys[i], i)
			}
			st[phys[i]] = n
			n *= max(size[phys[i]], 1)
		}
		return c.New(c.optDT(tensor.Float32), size, st), c.checkSize(size)
	})
	def("full", func(c *Call) (Value, error) {
		if err := c.checkSize(c.Ints(0)); err != nil {
			return nil, err
		}
		t := c.NewC(c.optDT(scalarDType(c.Args[1])), c.Ints(0)...)
		if c.real {
			fillScalar(t, c.Args[1])
		}
		return t, nil
	})
	def("scalar_tensor", func(c *Call) (Value, error) {
		t := c.NewC(c.optDT(tensor.Float32))
		if c.real {
			fillScalar(t, c.Args[0])
		}
		return t, c.checkDevice()
	})
	def("arange arange.start arange.start_step", func(c *Call) (Value, error) {
		var start, step Value = int64(0), int64(1)
		end := c.opt("end")
		if s := c.opt("start"); s != nil {
			start = s
		}
		if s := c.opt("step"); s != nil {
			step = s
		}
		d := tensor.Int64
		for _, v := range []Value{start, end, step} {
			if _, ok := v.(float64); ok {
				d = tensor.DefaultDType
			}
		}
		d = c.optDT(d)
		if err := c.checkDevice(); err != nil {
			return nil, err
		}
		sf, ef, pf := toFloat(start), toFloat(end), toFloat(step)
		if pf == 0 {
			return nil, errf("step must be nonzero")
		}
		if math.IsInf(sf, 0) || math.IsInf(ef, 0) || sf != sf || ef != ef {
			return nil, errf("unsupported range: %g -> %g", sf, ef)
		}
		if pf > 0 && sf > ef || pf < 0 && sf < ef {
			return nil, errf("upper bound and larger bound inconsistent with step sign")
		}
		n := int64(math.Ceil((ef - sf) / pf))
		if d.IsInt() {
			if _, ok := start.(float64); !ok {
				if _, ok := step.(float64); !ok {
					a, e, s := toInt(start), toInt(end), toInt(step)
					if s > 0 {
						n = (e - a + s - 1) / s
					} else {
						n = (e - a + s + 1) / s
					}
				}
			}
		}
		n = max(n, 0)
		t := c.NewC(d, n)
		if c.real && n > 0 {
			if d.IsInt() {
				a, s := toInt(start), toInt(step)
				buf := make([]int64, n)
				for i := range buf {
					buf[i] = a + int64(i)*s
				}
				tensor.StoreInt(t, 0, 1, buf)
			} else {
				buf := make([]float64, n)
				for i := range buf {
					buf[i] = sf + float64(i)*pf
				}
				tensor.StoreFloat(t, 0, 1, buf)
			}
		}
		return t, nil
	})
	space := func(names string, log bool) {
		def(names, func(c *Call) (Value, error) {
			n := c.I(2)
			d := c.optDT(tensor.DefaultDType)
			if n < 0 {
				return nil, errf("number of steps must be non-negative")
			}
			for _, i := range []int{0, 1} {
				if t, ok := c.Args[i].(*tensor.Tensor); ok && t.Dim() != 0 {
					return nil, errf("linspace only supports 0-dimensional start and end tensors, but got %s with %d dimension(s).", []string{"start", "end"}[i], t.Dim())
				}
			}
			t := c.NewC(d, n)
			if !c.real {
				return t, nil
			}
			a, b := toFloat(c.Args[0]), toFloat(c.Args[1])
			if d.Kind() == tensor.KindInt {
				a, b = math.Trunc(a), math.Trunc(b)
			}
			buf := make([]float64, n)
			step := 0.0
			if n > 1 {
				step = (b - a) / float64(n-1)
			}
			if d == tensor.Float32 {
				step = float64(float32(float32(b)-float32(a)) / float32(n-1))
			}
			for i := range buf {
				x := a + step*float64(i)
				if int64(i) >= n/2 {
					x = b - step*float64(n-1-int64(i))
				}
				if n == 1 {
					x = a
				}
				if log {
					x = math.Pow(c.F(3), x)
				}
				buf[i] = x
			}
			tensor.StoreFloat(t, 0, 1, buf)
			return t, nil
		})
	}
	space("linspace linspace.Tensor_Tensor linspace.Tensor_Scalar linspace.Scalar_Tensor", false)
	space("logspace logspace.Tensor_Tensor logspace.Tensor_Scalar logspace.Scalar_Tensor", true)
	def("eye eye.m", func(c *Call) (Value, error) {
		n := c.I(0)
		m := n
		if v := c.opt("m"); v != nil {
			m = toInt(v)
		}
		if n < 0 || m < 0 {
			return nil, errf("n must be greater or equal to 0, got %d", min(n, m))
		}
		t := c.NewC(c.optDT(tensor.Float32), n, m)
		if c.real {
			for i := int64(0); i < min(n, m); i++ {
				t.SetInt(i*m+i, 1)
			}
		}
		return t, nil
	})
	def("randperm randperm.generator", func(c *Call) (Value, error) {
		n := c.I(0)
		if n < 0 {
			return nil, errf("n must be non-negative, got%d", n)
		}
		t := c.NewC(c.optDT(tensor.Int64), n)
		if c.real && n > 0 {
			t.SetInts(gen(c).Perm(n))
		}
		return t, nil
	})
	def("tril_indices triu_indices", func(c *Call) (Value, error) {
		row, col, off := c.I(0), c.I(1), c.I(2)
		var r, k []int64
		for i := int64(0); i < row; i++ {
			for j := int64(0); j < col; j++ {
				if c.Op.Sig().Name == "tril_indices" && j-i <= off || c.Op.Sig().Name == "triu_indices" && j-i >= off {
					r, k = append(r, i), append(k, j)
				}
			}
		}
		t := c.NewC(c.optDT(tensor.Int64), 2, int64(len(r)))
		if c.real {
			t.SetInts(append(r, k...))
		}
		return t, nil
	})
	copies()
	randomInplace(gen)
}

func copies() {
	def("clone", func(c *Call) (Value, error) {
		t := c.T(0)
		o := c.New(t.DType, t.Shape, c.likeStrides(t))
		if c.real {
			tensor.Copy(o, t)
		}
		return o, nil
	})
	def("lift_fresh_copy", func(c *Call) (Value, error) { return c.do("clone", c.Args[0], nil) })
	def("_to_copy", func(c *Call) (Value, error) {
		t := c.T(0)
		if err := c.checkDevice(); err != nil {
			return nil, err
		}
		o := c.New(c.optDT(t.DType), t.Shape, c.likeStrides(t))
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
		o := c.New(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
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
		if err := c.checkDevice(); err != nil {
			return nil, err
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
		return fill(c, c.New(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride)))
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
	tri := func(name string, keep func(i, j, k int64) bool) {
		def(name, func(c *Call) (Value, error) {
			t, k := c.T(0), c.I(1)
			if t.Dim() < 2 {
				return nil, errf("%s: input tensor must have at least 2 dimensions", name)
			}
			o := c.NewC(t.DType, t.Shape...)
			if name == "triu" || name == "tril" {
				o.Stride = tensor.ContiguousStrides(t.Shape)
			}
			if !c.real {
				return o, nil
			}
			tensor.Copy(o, t)
			n, m := t.Shape[t.Dim()-2], t.Shape[t.Dim()-1]
			es := t.DType.Size()
			for b := int64(0); n*m > 0 && b < o.Numel()/(n*m); b++ {
				for i := int64(0); i < n; i++ {
					for j := int64(0); j < m; j++ {
						if !keep(i, j, k) {
							p := (b*n*m + i*m + j) * int64(es)
							clear(o.Storage.Data[p : p+int64(es)])
						}
					}
				}
			}
			return o, nil
		})
	}
	tri("tril", func(i, j, k int64) bool { return j-i <= k })
	tri("triu", func(i, j, k int64) bool { return j-i >= k })
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
		for _, x := range v.Ints() {
			if x == 0 {
				return false, nil
			}
		}
		return true, nil
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

func randomInplace(gen func(c *Call) *tensor.Generator) {
	// Each filler serves x_(self, ...), and x(self, ...), which fills a tensor like self.
	fill := func(names string, f func(c *Call, g *tensor.Generator, t *tensor.Tensor) error) {
		def(names, func(c *Call) (Value, error) {
			t := c.T(0)
			if !c.Op.Has(Inplace) {
				t = c.New(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
			}
			if err := f(c, gen(c), t); err != nil {
				return nil, err
			}
			if c.Op.Has(Inplace) {
				c.bump(t)
			}
			return t, nil
		})
	}
	fill("uniform_ uniform", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.F(1) > c.F(2) {
			return errf("uniform_ expects to return a [from, to) range, but found from=%g > to=%g", c.F(1), c.F(2))
		}
		if c.real {
			g.UniformFill(t, c.F(1), c.F(2))
		}
		return nil
	})
	fill("normal_ normal_functional", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.F(2) < 0 {
			return errf("normal expects std >= 0.0, but found std %g", c.F(2))
		}
		if c.real {
			g.NormalFill(t, c.F(1), c.F(2))
		}
		return nil
	})
	fill("exponential_ exponential", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.F(1) <= 0 {
			return errf("exponential_ expects lambda > 0.0, but found lambda=%g", c.F(1))
		}
		if c.real {
			g.ExponentialFill(t, c.F(1))
		}
		return nil
	})
	fill("bernoulli_.float bernoulli.p", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if p := c.F(1); p < 0 || p > 1 {
			return errf("bernoulli_ expects p to be in [0, 1], but got p=%g", p)
		}
		if c.real {
			g.BernoulliFill(t, c.F(1))
		}
		return nil
	})
	fill("bernoulli_.Tensor bernoulli.Tensor", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.real {
			g.BernoulliTensor(t, c.T(1).Expand(t.Shape))
		}
		return nil
	})
	def("bernoulli", func(c *Call) (Value, error) {
		p := c.T(0)
		t := c.New(p.DType, p.Shape, tensor.PreservedStrides(p.Shape, p.Stride))
		if c.real {
			for _, x := range p.Floats() {
				if !(x >= 0 && x <= 1) {
					return nil, errf("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
				}
			}
			gen(c).BernoulliTensor(t, p)
		}
		return t, nil
	})
	fill("random_ random", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.real {
			g.RandomFull(t)
		}
		return nil
	})
	fill("random_.to random_.from random.to random.from", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		lo, hi := int64(0), toInt(c.opt("to"))
		if f := c.opt("from"); f != nil {
			lo = toInt(f)
		}
		if c.Op.Sig().Arg("from") >= 0 && c.opt("to") == nil {
			hi = math.MaxInt64
		}
		if lo >= hi {
			return errf("random_ expects 'from' to be less than 'to', but got from=%d >= to=%d", lo, hi)
		}
		if c.real {
			g.RandomFill(t, lo, hi)
		}
		return nil
	})
	def("normal.float_float", func(c *Call) (Value, error) {
		t := c.NewC(c.optDT(tensor.Float32), c.Ints(2)...)
		if c.real {
			gen(c).NormalFill(t, c.F(0), c.F(1))
		}
		return t, nil
	})
	def("normal.Tensor_Tensor normal.Tensor_float normal.float_Tensor", func(c *Call) (Value, error) {
		sh, err := broadcast(c.Args[:2])
		if err != nil {
			return nil, err
		}
		d := rtype(c.Args[:2]...)
		if m, ok := c.Args[0].(*tensor.Tensor); ok {
			d = m.DType
		}
		t := c.NewC(d, sh...)
		if c.real {
			gen(c).NormalFill(t, 0, 1)
			x, err := c.doT("mul.Tensor", t, c.Args[1])
			if err != nil {
				return nil, err
			}
			return c.do("add.Tensor", x, c.Args[0], int64(1))
		}
		return t, nil
	})
	def("multinomial", func(c *Call) (Value, error) {
		p, n, repl := c.T(0), c.I(1), c.B(2)
		if p.Dim() < 1 || p.Dim() > 2 {
			return nil, errf("prob_dist must be 1 or 2 dim")
		}
		k := p.Shape[p.Dim()-1]
		if n <= 0 {
			return nil, errf("cannot sample n_sample <= 0 samples")
		}
		if !repl && n > k {
			return nil, errf("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
		}
		shape := slices.Clone(p.Shape)
		shape[len(shape)-1] = n
		o := c.NewC(tensor.Int64, shape...)
		if !c.real {
			return o, nil
		}
		g := gen(c)
		if !repl || n == 1 {
			q := tensor.Empty(p.DType, p.Shape...)
			g.ExponentialFill(q, 1)
			r, err := c.doT("div.Tensor", p, q)
			if err != nil {
				return nil, err
			}
			v, err := c.do("topk", r, n, int64(-1), true, true)
			if err != nil {
				return nil, err
			}
			return v.([]Value)[1], nil
		}
		xs := p.Floats()
		var out []int64
		for r := int64(0); r < p.Numel()/k; r++ {
			cdf := slices.Clone(xs[r*k : (r+1)*k])
			for i := 1; i < len(cdf); i++ {
				cdf[i] = tensor.RoundTo(p.DType, cdf[i]+cdf[i-1])
			}
			total := cdf[k-1]
			if !(total > 0) {
				return nil, errf("invalid multinomial distribution (sum of probabilities <= 0)")
			}
			for i := range cdf {
				cdf[i] /= total
			}
			cdf[k-1] = 1
			for i := int64(0); i < n; i++ {
				u := g.Float64()
				j, _ := slices.BinarySearch(cdf, u)
				out = append(out, int64(min(j, int(k)-1)))
			}
		}
		o.SetInts(out)
		return o, nil
	})
	def("native_dropout", func(c *Call) (Value, error) {
		t, p := c.T(0), c.F(1)
		train := c.None(2) || c.B(2)
		if !train || t.Numel() == 0 {
			m := c.New(tensor.Bool, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
			m.FillInt(1)
			o, err := c.do("clone", t, nil)
			return []Value{o, m}, err
		}
		if p == 1 {
			return []Value{c.New(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride)), c.New(tensor.Bool, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))}, nil
		}
		m := c.New(tensor.Bool, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		if c.real {
			DefaultGenerator.BernoulliFill(m, 1-p)
		}
		o, err := c.do("mul.Tensor", t, m)
		if err == nil {
			o, err = c.do("mul.Tensor", o, 1/(1-p))
		}
		return []Value{o, m}, err
	})
	def("native_dropout_backward", func(c *Call) (Value, error) {
		g, m, s := c.T(0), c.T(1), c.F(2)
		d := rtype(g, m, s)
		return c.pwv([]Value{g, m}, d, d, f2(func(a, b float64) float64 { return a * b * s }))
	})
	dropout := func(name string, feature, alpha bool) {
		comp(name, func(c *Call) (Value, error) {
			t, p, train := c.T(0), c.F(1), c.B(2)
			if p < 0 || p > 1 {
				return nil, errf("dropout probability has to be between 0 and 1, but got %g", p)
			}
			if p == 0 || !train || t.Numel() == 0 {
				return t, nil
			}
			if p == 1 {
				z, err := c.via("zeros_like", t)
				if err != nil {
					return nil, err
				}
				return c.via("mul.Tensor", t, z)
			}
			var noise Value
			var err error
			if feature {
				shape := make([]int64, t.Dim())
				for i := range shape {
					shape[i] = 1
					if i < 2 {
						shape[i] = t.Shape[i]
					}
				}
				noise, err = c.via("empty.memory_format", ints(shape), t.DType)
			} else {
				noise, err = c.via("empty_like", t)
			}
			if err != nil {
				return nil, err
			}
			if noise, err = c.via("bernoulli_.float", noise, 1-p); err != nil {
				return nil, err
			}
			if alpha {
				const ap = 1.7580993408473766
				a := 1 / math.Sqrt((ap*ap*p+1)*(1-p))
				b := must(c.via("mul.Scalar", must(c.via("add.Scalar", noise, -1.0)), ap*a))
				b = must(c.via("add.Scalar", b, ap*a*p))
				noise = must(c.via("mul.Scalar", noise, a))
				return c.via("add.Tensor", must(c.via("mul.Tensor", t, noise)), b)
			}
			if noise, err = c.via("div_.Scalar", noise, 1-p); err != nil {
				return nil, err
			}
			return c.via("mul.Tensor", t, noise)
		})
		comp(name+"_", func(c *Call) (Value, error) {
			v, err := c.via(name, c.Args...)
			if err != nil || v == c.Args[0] {
				return c.Args[0], err
			}
			return c.via("copy_", c.Args[0], v)
		})
	}
	dropout("dropout", false, false)
	dropout("feature_dropout", true, false)
	dropout("alpha_dropout", false, true)
	dropout("feature_alpha_dropout", true, true)
	def("rrelu_with_noise", func(c *Call) (Value, error) {
		t, noise, lo, hi, train := c.T(0), c.T(1), c.F(2), c.F(3), c.B(4)
		if !train {
			return c.do("leaky_relu", t, (lo+hi)/2)
		}
		o := c.New(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		if c.real {
			xs, ns := t.Floats(), make([]float64, t.Numel())
			g := gen(c)
			for i, x := range xs {
				ns[i] = 1
				if x <= 0 {
					ns[i] = tensor.RoundTo(t.DType, g.Float64()*(hi-lo)+lo)
					xs[i] = x * ns[i]
				}
			}
			o.SetFloats(xs)
			noise.SetFloats(ns)
		}
		c.bump(noise)
		return o, nil
	})
	def("rrelu_with_noise_backward", func(c *Call) (Value, error) {
		lo, hi, train := c.F(3), c.F(4), c.B(5)
		if train && hi-lo > 1e-6 {
			return c.do("mul.Tensor", c.Args[2], c.Args[0])
		}
		return c.do("leaky_relu_backward", c.Args[0], c.Args[1], (lo+hi)/2, c.Args[6])
	})
	comp("rrelu", func(c *Call) (Value, error) {
		n, err := c.via("empty_like", c.Args[0])
		if err != nil {
			return nil, err
		}
		return c.via("rrelu_with_noise", c.Args[0], n, c.Args[1], c.Args[2], c.Args[3], c.Args[4])
	})
}

package aten

import (
	"math"
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

func init() {
	rearrange()
	aliases()
	statistics()
	primsOps()
	distances()
	miscComposites()
}

func rearrange() {
	def("flip", func(c *Call) (Value, error) {
		t := c.T(0)
		mask, err := wrapDims(c.Ints(1), t.Dim(), false)
		if err != nil {
			return nil, err
		}
		o := c.New(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		if c.real && t.Numel() > 0 && t.Dim() > 0 {
			v := *t
			v.Stride = slices.Clone(t.Stride)
			for i := range t.Shape {
				if mask[i] {
					v.Offset += (t.Shape[i] - 1) * t.Stride[i]
					v.Stride[i] = -t.Stride[i]
				}
			}
			gatherAt(o, t, addTo(offsets(&v), v.Offset))
		} else if c.real {
			tensor.Copy(o, t)
		}
		return o, nil
	})
	comp("fliplr", func(c *Call) (Value, error) {
		if c.T(0).Dim() < 2 {
			return nil, errf("Input must be >= 2-d.")
		}
		return c.via("flip", c.Args[0], ints([]int64{1}))
	})
	comp("flipud", func(c *Call) (Value, error) {
		if c.T(0).Dim() < 1 {
			return nil, errf("Input must be >= 1-d.")
		}
		return c.via("flip", c.Args[0], ints([]int64{0}))
	})
	def("roll", func(c *Call) (Value, error) {
		t, sh, dims := c.T(0), c.Ints(1), c.Ints(2)
		o := c.NewC(t.DType, t.Shape...)
		if len(dims) == 0 && len(sh) == 1 {
			if !c.real || t.Numel() == 0 {
				return o, nil
			}
			f := t.Contiguous()
			flat := tensor.NewView(f, []int64{t.Numel()}, []int64{1}, f.Offset)
			rollInto(tensor.NewView(o, []int64{t.Numel()}, []int64{1}, 0), flat, sh[0], 0)
			return o, nil
		}
		if len(sh) == 0 || len(sh) != len(dims) {
			return nil, errf("shifts and dimensions must align. shifts: %d, dims:%d", len(sh), len(dims))
		}
		if !c.real || t.Numel() == 0 {
			return o, nil
		}
		cur := t
		for i, d := range dims {
			w, err := wrapDim(d, int64(t.Dim()))
			if err != nil {
				return nil, err
			}
			next := tensor.Empty(t.DType, t.Shape...)
			rollInto(next, cur, sh[i], w)
			cur = next
		}
		tensor.Copy(o, cur)
		return o, nil
	})
	def("repeat", func(c *Call) (Value, error) {
		t, r := c.T(0), c.Ints(1)
		if len(r) < t.Dim() {
			return nil, errf("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
		}
		lead := len(r) - t.Dim()
		shape := make([]int64, len(r))
		for i := range r {
			s := int64(1)
			if i >= lead {
				s = t.Shape[i-lead]
			}
			if r[i] < 0 {
				return nil, errf("Trying to create tensor with negative dimension %d: %s", r[i]*s, tensor.ShapeText(r))
			}
			shape[i] = r[i] * s
		}
		o := c.NewC(t.DType, shape...)
		if c.real && o.Numel() > 0 {
			// View the result as (repeat, size) per dimension and broadcast into it.
			var vs, vt, ss []int64
			for i := range r {
				s, st := int64(1), int64(0)
				if i >= lead {
					s, st = t.Shape[i-lead], t.Stride[i-lead]
				}
				vs = append(vs, r[i], s)
				vt = append(vt, o.Stride[i]*s, o.Stride[i])
				ss = append(ss, 0, st)
			}
			tensor.Copy(tensor.NewView(o, vs, vt, 0), tensor.NewView(t, vs, ss, t.Offset))
		}
		return o, nil
	})
	comp("tile", func(c *Call) (Value, error) {
		r := c.Ints(1)
		for len(r) < c.T(0).Dim() {
			r = append([]int64{1}, r...)
		}
		return c.via("repeat", c.Args[0], ints(r))
	})
	def("rot90", func(c *Call) (Value, error) {
		t, k, dims := c.T(0), c.I(1), c.Ints(2)
		if len(dims) != 2 {
			return nil, errf("expected total rotation dims == 2, but got dims = %d", len(dims))
		}
		if t.Dim() < 2 {
			return nil, errf("expected total dims >= 2, but got total dims = %d", t.Dim())
		}
		a, b := dims[0], dims[1]
		switch ((k % 4) + 4) % 4 {
		case 1:
			v, err := c.do("flip", t, ints([]int64{b}))
			if err != nil {
				return nil, err
			}
			return c.do("transpose.int", v, a, b)
		case 2:
			return c.do("flip", t, ints(dims))
		case 3:
			v, err := c.do("flip", t, ints([]int64{a}))
			if err != nil {
				return nil, err
			}
			return c.do("transpose.int", v, a, b)
		}
		return c.do("clone", t, tensor.ContiguousFormat)
	})
	def("repeat_interleave.Tensor", func(c *Call) (Value, error) {
		r := c.T(0)
		if !c.real {
			if c.None(1) {
				return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
			}
			return c.NewC(r.DType, c.I(1)), nil
		}
		var out []int64
		for i, n := range r.Ints() {
			if n < 0 {
				return nil, errf("repeats can not be negative")
			}
			for ; n > 0; n-- {
				out = append(out, int64(i))
			}
		}
		o := c.NewC(r.DType, int64(len(out)))
		o.SetInts(out)
		return o, nil
	})
	comp("repeat_interleave.self_Tensor", func(c *Call) (Value, error) {
		t, r := Value(c.T(0)), c.T(1)
		d := Value(c.Args[2])
		if d == nil {
			t = must(c.via("flatten.using_ints", t))
			d = int64(0)
		}
		rep := Value(r)
		if r.Dim() == 0 || r.Dim() == 1 && r.Shape[0] == 1 {
			x, ok := t.(*tensor.Tensor)
			if !ok {
				return nil, t.(error)
			}
			w, err := wrapDim(toInt(d), int64(x.Dim()))
			if err != nil {
				return nil, err
			}
			rep = must(c.via("expand", must(c.via("reshape", r, ints([]int64{1}))), ints([]int64{x.Shape[w]})))
		}
		return c.via("index_select", t, d, must(c.via("repeat_interleave.Tensor", rep, c.Args[3])))
	})
	comp("repeat_interleave.self_int", func(c *Call) (Value, error) {
		t, n := Value(c.T(0)), c.I(1)
		d := int64(0)
		if c.None(2) {
			t = must(c.via("flatten.using_ints", t))
		} else {
			d = c.I(2)
		}
		x, ok := t.(*tensor.Tensor)
		if !ok {
			return nil, t.(error)
		}
		d, err := wrapDim(d, int64(x.Dim()))
		if err != nil {
			return nil, err
		}
		u := must(c.via("unsqueeze", x, d+1))
		sh := slices.Insert(slices.Clone(x.Shape), int(d)+1, n)
		u = must(c.via("expand", u, ints(sh)))
		u = must(c.via("clone", u, tensor.ContiguousFormat))
		return c.via("flatten.using_ints", u, d, d+1)
	})
	def("diag_embed", func(c *Call) (Value, error) {
		t, off := c.T(0), c.I(1)
		nd := int64(t.Dim()) + 1
		d1, err := wrapDim(c.I(2), nd)
		if err != nil {
			return nil, err
		}
		d2, err := wrapDim(c.I(3), nd)
		if err != nil {
			return nil, err
		}
		if d1 == d2 {
			return nil, errf("diagonal dimensions cannot be identical %d, %d", d1, d2)
		}
		n := t.Shape[t.Dim()-1] + max(off, -off)
		shape := []int64{}
		k := 0
		for i := int64(0); i < nd; i++ {
			if i == d1 || i == d2 {
				shape = append(shape, n)
			} else {
				shape = append(shape, t.Shape[k])
				k++
			}
		}
		o := c.NewC(t.DType, shape...)
		if c.real {
			v, err := c.diagonal(o, off, d1, d2)
			if err != nil {
				return nil, err
			}
			tensor.Copy(v, t)
		}
		return o, nil
	})
	comp("diag", func(c *Call) (Value, error) {
		switch c.T(0).Dim() {
		case 1:
			return c.via("diag_embed", c.Args[0], c.Args[1])
		case 2:
			return c.via("diagonal_copy", c.Args[0], c.Args[1])
		}
		return nil, errf("diag(): Supports 1D or 2D tensors. Got %dD", c.T(0).Dim())
	})
	comp("diagflat", func(c *Call) (Value, error) {
		f := must(c.via("view", must(c.via("contiguous", c.Args[0])), ints([]int64{-1})))
		return c.via("diag", f, c.Args[1])
	})
	def("trace", func(c *Call) (Value, error) {
		if c.T(0).Dim() != 2 {
			return nil, errf("trace: expected a matrix, but got tensor with dim %d", c.T(0).Dim())
		}
		return c.do("sum", must(c.do("diagonal", c.Args[0])))
	})
	back := func(name string, view func(c *Call, o *tensor.Tensor) (*tensor.Tensor, error)) {
		def(name, func(c *Call) (Value, error) {
			g := c.T(0)
			o := c.NewC(g.DType, c.Ints(1)...)
			v, err := view(c, o)
			if err != nil || !c.real {
				return o, err
			}
			tensor.Copy(v, g)
			return o, nil
		})
	}
	back("slice_backward", func(c *Call, o *tensor.Tensor) (*tensor.Tensor, error) {
		return c.doT("slice.Tensor", o, c.Args[2], c.Args[3], c.Args[4], c.Args[5])
	})
	back("select_backward", func(c *Call, o *tensor.Tensor) (*tensor.Tensor, error) {
		return c.doT("select.int", o, c.Args[2], c.Args[3])
	})
	back("diagonal_backward", func(c *Call, o *tensor.Tensor) (*tensor.Tensor, error) {
		return c.doT("diagonal", o, c.Args[2], c.Args[3], c.Args[4])
	})
	def("unfold_backward", func(c *Call) (Value, error) {
		g, dim, size, step := c.T(0), c.Args[2], c.Args[3], c.Args[4]
		o := c.NewC(g.DType, c.Ints(1)...)
		if !c.real {
			return o, nil
		}
		v, err := c.doT("unfold", o, dim, size, step)
		if err != nil {
			return nil, err
		}
		scatterAt(o, addTo(offsets(v), v.Offset), g, true)
		return o, nil
	})
	def("glu", func(c *Call) (Value, error) {
		t := c.T(0)
		d, err := wrapDim(c.I(1), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		if t.Dim() == 0 {
			return nil, errf("glu does not support 0-dimensional tensors")
		}
		if t.Shape[d]%2 != 0 {
			return nil, errf("Halving dimension must be even, but dimension %d is size %d", d, t.Shape[d])
		}
		h := t.Shape[d] / 2
		a, err := c.slice(t, d, int64(0), h, 1)
		if err != nil {
			return nil, err
		}
		b, err := c.slice(t, d, h, 2*h, 1)
		if err != nil {
			return nil, err
		}
		return c.pwv([]Value{a, b}, t.DType, t.DType, f2(func(a, b float64) float64 { return a * sigmoid(b) }))
	})
	def("glu_backward", func(c *Call) (Value, error) {
		g, t := c.T(0), c.T(1)
		d, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		o := c.NewC(t.DType, t.Shape...)
		if !c.real {
			return o, nil
		}
		h := t.Shape[d] / 2
		half := func(x *tensor.Tensor, k int64) *tensor.Tensor {
			v, _ := c.slice(x, d, k*h, (k+1)*h, 1)
			return v
		}
		run([]*tensor.Tensor{half(o, 0), g, half(t, 1)}, t.DType, f2(func(g, b float64) float64 { return g * sigmoid(b) }))
		run([]*tensor.Tensor{half(o, 1), g, half(t, 0), half(t, 1)}, t.DType, f3(func(g, a, b float64) float64 {
			s := sigmoid(b)
			return g * a * s * (1 - s)
		}))
		return o, nil
	})
	def("renorm", func(c *Call) (Value, error) {
		t, p, limit := c.T(0), c.F(1), c.F(3)
		d, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		o := c.NewC(t.DType, t.Shape...)
		if !c.real {
			return o, nil
		}
		tensor.Copy(o, t)
		for i := int64(0); i < t.Shape[d]; i++ {
			v, _ := c.slice(o, d, i, i+1, 1)
			xs := v.Floats()
			if n := vectorNorm(xs, p); n > limit {
				for k := range xs {
					xs[k] *= limit / (n + 1e-7)
				}
				v.SetFloats(xs)
			}
		}
		return o, nil
	})
	reshapes := func(name string, f func(t *tensor.Tensor, r int64) (view, perm, out []int64, err error)) {
		def(name, func(c *Call) (Value, error) {
			t := c.T(0)
			v, p, o, err := f(t, c.I(1))
			if err != nil {
				return nil, err
			}
			return c.do("reshape", must(c.do("clone", must(c.do("permute", must(c.do("reshape", t, ints(v))), ints(p))), tensor.ContiguousFormat)), ints(o))
		})
	}
	reshapes("pixel_shuffle", func(t *tensor.Tensor, r int64) (v, p, o []int64, err error) {
		n := t.Dim()
		if n < 3 {
			return nil, nil, nil, errf("pixel_shuffle expects input to have at least 3 dimensions, but got input with %d dimension(s)", n)
		}
		lead := t.Shape[:n-3]
		ch, h, w := t.Shape[n-3], t.Shape[n-2], t.Shape[n-1]
		if ch%(r*r) != 0 {
			return nil, nil, nil, errf("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)=%d is not divisible by %d", ch, r*r)
		}
		b := int64(len(lead))
		for i := int64(0); i < b; i++ {
			p = append(p, i)
		}
		return append(slices.Clone(lead), ch/(r*r), r, r, h, w), append(p, b, b+3, b+1, b+4, b+2), append(slices.Clone(lead), ch/(r*r), h*r, w*r), nil
	})
	reshapes("pixel_unshuffle", func(t *tensor.Tensor, r int64) (v, p, o []int64, err error) {
		n := t.Dim()
		if n < 3 {
			return nil, nil, nil, errf("pixel_unshuffle expects input to have at least 3 dimensions, but got input with %d dimension(s)", n)
		}
		lead := t.Shape[:n-3]
		ch, h, w := t.Shape[n-3], t.Shape[n-2], t.Shape[n-1]
		if h%r != 0 || w%r != 0 {
			return nil, nil, nil, errf("pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=%d is not divisible by %d", h, r)
		}
		b := int64(len(lead))
		for i := int64(0); i < b; i++ {
			p = append(p, i)
		}
		return append(slices.Clone(lead), ch, h/r, r, w/r, r), append(p, b, b+2, b+4, b+1, b+3), append(slices.Clone(lead), ch*r*r, h/r, w/r), nil
	})
	reshapes("channel_shuffle native_channel_shuffle", func(t *tensor.Tensor, g int64) (v, p, o []int64, err error) {
		if t.Dim() < 3 {
			return nil, nil, nil, errf("channel_shuffle expects input with > 2 dims, but got input with sizes %s", tensor.ShapeText(t.Shape))
		}
		if g <= 0 || t.Shape[1]%g != 0 {
			return nil, nil, nil, errf("Number of channels must be divisible by groups. Got %d channels and %d groups.", t.Shape[1], g)
		}
		return []int64{t.Shape[0], g, t.Shape[1] / g, -1}, []int64{0, 2, 1, 3}, t.Shape, nil
	})
}

func addTo(xs []int64, n int64) []int64 {
	for i := range xs {
		xs[i] += n
	}
	return xs
}

func rollInto(o, t *tensor.Tensor, shift, d int64) {
	n := t.Shape[d]
	shift = ((shift % n) + n) % n
	part := func(x *tensor.Tensor, a, b int64) *tensor.Tensor {
		sh := slices.Clone(x.Shape)
		sh[d] = b - a
		return tensor.NewView(x, sh, x.Stride, x.Offset+a*x.Stride[d])
	}
	tensor.Copy(part(o, shift, n), part(t, 0, n-shift))
	tensor.Copy(part(o, 0, shift), part(t, n-shift, n))
}

// aliases registers the operators that are other names of one another.
func aliases() {
	for _, p := range strings.Fields("absolute:abs arccos:acos arccosh:acosh arcsin:asin arcsinh:asinh arctan:atan arctanh:atanh negative:neg fix:trunc square:square true_divide.Tensor:div.Tensor true_divide.Scalar:div.Scalar " +
		"divide.Tensor:div.Tensor divide.Scalar:div.Scalar divide.Tensor_mode:div.Tensor_mode divide.Scalar_mode:div.Scalar_mode multiply.Tensor:mul.Tensor multiply.Scalar:mul.Scalar subtract.Tensor:sub.Tensor subtract.Scalar:sub.Scalar " +
		"greater.Tensor:gt.Tensor greater.Scalar:gt.Scalar greater_equal.Tensor:ge.Tensor greater_equal.Scalar:ge.Scalar less.Tensor:lt.Tensor less.Scalar:lt.Scalar less_equal.Tensor:le.Tensor less_equal.Scalar:le.Scalar not_equal.Tensor:ne.Tensor not_equal.Scalar:ne.Scalar " +
		"arctan2:atan2 clip:clamp clip.Tensor:clamp.Tensor special_expit:sigmoid special_gammaln:lgamma special_digamma:digamma special_psi:digamma special_erf:erf special_erfc:erfc special_erfinv:erfinv special_exp2:exp2 special_expm1:expm1 special_i0:i0 special_log1p:log1p special_sinc:sinc special_logit:logit special_round:round special_logsumexp:logsumexp special_polygamma:polygamma special_gammainc:igamma special_gammaincc:igammac " +
		"special_xlogy:xlogy.Tensor special_xlogy.self_scalar:xlogy.Scalar_Self special_xlogy.other_scalar:xlogy.Scalar_Other " +
		"__and__.Tensor:bitwise_and.Tensor __and__.Scalar:bitwise_and.Scalar __or__.Tensor:bitwise_or.Tensor __or__.Scalar:bitwise_or.Scalar __xor__.Tensor:bitwise_xor.Tensor __xor__.Scalar:bitwise_xor.Scalar inverse:linalg_inv orgqr:linalg_householder_product det:linalg_det slogdet:linalg_slogdet matrix_power:linalg_matrix_power") {
		n, to, _ := strings.Cut(p, ":")
		if n == to {
			continue
		}
		comp(n, func(c *Call) (Value, error) { return c.via(to, c.Args...) })
	}
	comp("square", func(c *Call) (Value, error) { return c.via("pow.Tensor_Scalar", c.Args[0], int64(2)) })
	comp("selu", func(c *Call) (Value, error) {
		return c.via("elu", c.Args[0], 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, int64(1))
	})
	comp("relu6", func(c *Call) (Value, error) { return c.via("hardtanh", c.Args[0], int64(0), int64(6)) })
	def("celu", func(c *Call) (Value, error) {
		if c.F(1) == 0 {
			return nil, errf("ZeroDivisionError: alpha cannot be 0 for CELU")
		}
		return c.do("elu", c.Args[0], c.Args[1], 1.0, 1/c.F(1))
	})
	comp("log_sigmoid", func(c *Call) (Value, error) {
		v, err := c.via("log_sigmoid_forward", c.Args[0])
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	comp("prelu", func(c *Call) (Value, error) {
		x, w := c.T(0), c.T(1)
		if x.DType != w.DType {
			return nil, errf("prelu: Type promoting not supported. Got %s and %s", lName(x.DType), lName(w.DType))
		}
		if w.Numel() != 1 {
			if x.Dim() == 0 {
				return nil, errf("Not allow zero-dim input tensor.")
			}
			ch := int64(1)
			if x.Dim() > 1 {
				ch = x.Shape[1]
			}
			if ch != w.Numel() {
				return nil, errf("Mismatch of parameter numbers and input channel size. Found parameter numbers = %d and channel size = %d.", w.Numel(), ch)
			}
		}
		wv := Value(w)
		if x.Dim() != w.Dim() || w.Numel() != 1 {
			sh := fill(nil, x.Dim(), 1)
			if x.Dim() > 1 {
				sh[1] = w.Numel()
			} else if x.Dim() == 1 {
				sh[0] = w.Numel()
			}
			wv = must(c.via("reshape", w, ints(sh)))
		}
		return c.via("_prelu_kernel", x, wv)
	})
	fp := func(c *Call) (Value, error) {
		conv := func(v Value) Value {
			if t, ok := v.(*tensor.Tensor); ok {
				return must(c.via("to.dtype", t, tensor.Float64))
			}
			return toFloat(v)
		}
		return c.via("pow."+c.Op.Sig().Overload, conv(c.Args[0]), conv(c.Args[1]))
	}
	comp("float_power.Tensor_Tensor float_power.Tensor_Scalar float_power.Scalar", fp)
	comp("ldexp.Tensor", func(c *Call) (Value, error) {
		return c.via("mul.Tensor", c.Args[0], must(c.via("pow.Scalar", 2.0, c.Args[1])))
	})
	for n, d := range map[string]tensor.DType{"Float": tensor.Float32, "Double": tensor.Float64, "Half": tensor.Float16, "Long": tensor.Int64, "Int": tensor.Int32, "Short": tensor.Int16, "Char": tensor.Int8, "Byte": tensor.UInt8} {
		comp("_cast_"+n, func(c *Call) (Value, error) { return c.via("to.dtype", c.Args[0], d) })
	}
	comp("special_ndtr", func(c *Call) (Value, error) {
		x := c.Args[0]
		if c.T(0).DType.Kind() < tensor.KindFloat {
			x = must(c.via("_to_copy", x, tensor.Float32))
		}
		e := must(c.via("erfc", must(c.via("mul.Scalar", x, -math.Sqrt2/2))))
		return c.via("mul.Scalar", e, 0.5)
	})
	comp("special_multigammaln", func(c *Call) (Value, error) { return c.via("mvlgamma", c.Args...) })
	def("mvlgamma", func(c *Call) (Value, error) {
		p := c.I(1)
		d := floatType(c.T(0).DType)
		return c.pwv(c.Args[:1], d, d, f1(func(x float64) float64 {
			s := float64(p*(p-1)) / 4 * math.Log(math.Pi)
			for j := int64(0); j < p; j++ {
				l, _ := math.Lgamma(x - float64(j)/2)
				s += l
			}
			return s
		}))
	})
	keepAngle := func(x float64) float64 {
		if x != x {
			return x
		}
		if x < 0 {
			return math.Pi
		}
		return 0
	}
	fl("angle", 1, fixed(f1(keepAngle)))
	comp("conj_physical", func(c *Call) (Value, error) { return c.T(0), nil })
}

func statistics() {
	comp("nanmean", func(c *Call) (Value, error) {
		n := must(c.via("sum.dim_IntList", must(c.via("logical_not", must(c.via("isnan", c.Args[0])))), c.Args[1], c.Args[2]))
		return c.via("div.Tensor", must(c.via("nansum", c.Args...)), n)
	})
	quantile := func(c *Call, qv Value, ignore bool) (Value, error) {
		t := c.T(0)
		q, isT := qv.(*tensor.Tensor)
		if !isT {
			q = tensor.Full(t.DType, toFloat(qv))
			if qf := toFloat(qv); qf < 0 || qf > 1 {
				return nil, errf("quantile() q must be in the range [0, 1] but got %g", qf)
			}
		}
		if t.DType != tensor.Float32 && t.DType != tensor.Float64 {
			return nil, errf("quantile() input tensor must be either float or double dtype")
		}
		if q.Dim() > 1 {
			return nil, errf("quantile() q must be a scalar or 1D tensor")
		}
		if t.Numel() == 0 {
			return nil, errf("quantile() input tensor must be non-empty")
		}
		mask := allMask(t)
		if !c.None(2) {
			var err error
			if mask, err = wrapDims([]int64{c.I(2)}, t.Dim(), false); err != nil {
				return nil, err
			}
		}
		shape := reduceShape(t, mask, c.B(3))
		out := shape
		if q.Dim() == 1 {
			out = append([]int64{q.Numel()}, shape...)
		}
		o := tensor.EmptyMode(t.Fake, t.DType, out, tensor.ContiguousStrides(out))
		if t.Fake {
			return o, nil
		}
		n := tensor.Numel(shape)
		res := make([]float64, o.Numel())
		eachRow(t, mask, func(k int64, row []float64) {
			b := slices.Clone(row)
			slices.SortFunc(b, func(x, y float64) int {
				if lessNaN(x, y) {
					return -1
				}
				return int(b2i(lessNaN(y, x)))
			})
			valid := len(b)
			for valid > 0 && b[valid-1] != b[valid-1] {
				valid--
			}
			for i, qq := range q.Floats() {
				var r float64
				if !ignore && valid < len(b) || valid == 0 {
					r = math.NaN()
				} else {
					pos := qq * float64(valid-1)
					lo, hi := math.Floor(pos), math.Ceil(pos)
					switch c.Str(4) {
					case "lower":
						r = b[int(lo)]
					case "higher":
						r = b[int(hi)]
					case "midpoint":
						r = (b[int(lo)] + b[int(hi)]) / 2
					case "nearest":
						r = b[int(math.RoundToEven(pos))]
					default:
						r = b[int(lo)] + (pos-lo)*(b[int(hi)]-b[int(lo)])
					}
				}
				res[int64(i)*n+k] = r
			}
		})
		o.SetFloats(res)
		return o, nil
	}
	def("quantile quantile.scalar", func(c *Call) (Value, error) { return quantile(c, c.Args[1], false) })
	def("nanquantile nanquantile.scalar", func(c *Call) (Value, error) { return quantile(c, c.Args[1], true) })
	comp("cov", func(c *Call) (Value, error) {
		x := c.T(0)
		if x.Dim() > 2 {
			return nil, errf("cov(): expected input to have two or fewer dimensions but got an input with %d dimensions", x.Dim())
		}
		in := Value(x)
		if x.Dim() < 2 {
			in = must(c.via("view", must(c.via("contiguous", x)), ints([]int64{1, -1})))
		}
		xt, ok := in.(*tensor.Tensor)
		if !ok {
			return nil, in.(error)
		}
		n := Value(xt.Shape[1])
		var w Value
		if f := c.T(2); f != nil {
			w = f
		}
		if a := c.T(3); a != nil {
			if w != nil {
				w = must(c.via("mul.Tensor", w, a))
			} else {
				w = a
			}
		}
		var avg Value
		var ws Value
		if w != nil {
			ws = must(c.via("sum", w))
			avg = must(c.via("div.Tensor", must(c.via("sum.dim_IntList", must(c.via("mul.Tensor", xt, w)), ints([]int64{1}), false)), ws))
		} else {
			avg = must(c.via("div.Scalar", must(c.via("sum.dim_IntList", xt, ints([]int64{1}), false)), n))
		}
		corr := c.I(1)
		d := must(c.via("sub.Tensor", xt, must(c.via("unsqueeze", avg, int64(1)))))
		wd := d
		if w != nil {
			wd = must(c.via("mul.Tensor", d, w))
		}
		m := must(c.via("mm", d, must(c.via("t", wd))))
		var r Value
		switch {
		case w == nil:
			r = must(c.via("div.Scalar", m, max(toInt(n)-corr, 0)))
		case corr != 0 && c.T(3) != nil:
			wa := must(c.via("sum", must(c.via("mul.Tensor", w, c.T(3)))))
			nf := must(c.via("sub.Tensor", ws, must(c.via("div.Tensor", must(c.via("mul.Scalar", wa, corr)), ws))))
			r = must(c.via("div.Tensor", m, must(c.via("clamp_min", nf, int64(0)))))
		default:
			r = must(c.via("div.Tensor", m, must(c.via("clamp_min", must(c.via("sub.Scalar", ws, corr)), int64(0)))))
		}
		return c.via("squeeze", r)
	})
	comp("corrcoef", func(c *Call) (Value, error) {
		v, err := c.viaT("cov", c.Args[0])
		if err != nil {
			return nil, err
		}
		if v.Dim() == 0 {
			return c.via("div.Tensor", v, v)
		}
		d := must(c.via("sqrt", must(c.via("diag", v))))
		r := must(c.via("div.Tensor", v, must(c.via("view", d, ints([]int64{-1, 1})))))
		return c.via("div.Tensor", r, must(c.via("view", d, ints([]int64{1, -1}))))
	})
	def("histc", func(c *Call) (Value, error) {
		t, n := c.T(0), c.I(1)
		if n <= 0 {
			return nil, errf("bins must be > 0")
		}
		o := c.NewC(t.DType, n)
		if !c.real {
			return o, nil
		}
		xs := t.Floats()
		lo, hi := c.F(2), c.F(3)
		if lo == hi && len(xs) > 0 {
			lo, hi = slices.Min(xs), slices.Max(xs)
		}
		if lo == hi {
			lo, hi = lo-1, hi+1
		}
		cnt := make([]float64, n)
		for _, x := range xs {
			if x >= lo && x <= hi {
				k := int64((x - lo) / (hi - lo) * float64(n))
				cnt[min(k, n-1)]++
			}
		}
		o.SetFloats(cnt)
		return o, nil
	})
}

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
		return c.pwv(c.Args, d, d, f3(func(a, b, x float64) float64 { return math.FMA(a, b, x) }))
	})
	def("prims::convert_element_type", func(c *Call) (Value, error) {
		t := c.T(0)
		o := c.New(c.DT(1), t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		if c.real {
			tensor.Copy(o, t)
		}
		return o, nil
	})
	def("prims::device_put", func(c *Call) (Value, error) {
		if err := c.checkDevice(); err != nil {
			return nil, err
		}
		return c.do("clone", c.Args[0], nil)
	})
	def("prims::iota", func(c *Call) (Value, error) {
		n, start, step := c.I(0), c.I(1), c.I(2)
		if n < 0 {
			return nil, kindf(ValueError, "length must be non-negative, got %d", n)
		}
		o := c.NewC(c.DT(3), n)
		if c.real {
			xs := make([]int64, n)
			for i := range xs {
				xs[i] = start + int64(i)*step
			}
			o.SetInts(xs)
		}
		return o, nil
	})
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
	def("prims::inductor_random", func(c *Call) (Value, error) {
		switch c.Str(2) {
		case "rand", "randn":
			return c.do(map[string]string{"rand": "rand", "randn": "randn"}[c.Str(2)], c.Args[0])
		}
		return nil, kindf(ValueError, "inductor_random: unknown mode %s", c.Str(2))
	})
	def("prims::inductor_randint", func(c *Call) (Value, error) { return c.do("randint.low", c.Args[0], c.Args[1], c.Args[2]) })
	def("prims::inductor_force_stride_order", func(c *Call) (Value, error) {
		t := c.T(0)
		o := c.New(t.DType, t.Shape, c.Ints(1))
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

func distances() {
	comp("cdist", func(c *Call) (Value, error) {
		if c.F(2) < 0 {
			return nil, errf("cdist only supports non-negative p values")
		}
		return c.via("_cdist_forward", c.Args...)
	})
	dist := func(a, b []float64, p float64) float64 {
		d := make([]float64, len(a))
		for i := range a {
			d[i] = a[i] - b[i]
		}
		return vectorNorm(d, p)
	}
	def("_cdist_forward", func(c *Call) (Value, error) {
		a, b, p := c.T(0), c.T(1), c.F(2)
		if a.Dim() < 2 || b.Dim() < 2 {
			return nil, errf("cdist only supports at least 2D tensors, X1 got: %dD", min(a.Dim(), b.Dim()))
		}
		n, m, k := a.Shape[a.Dim()-2], b.Shape[b.Dim()-2], a.Shape[a.Dim()-1]
		if k != b.Shape[b.Dim()-1] {
			return nil, errf("X1 and X2 must have the same number of columns. X1: %d X2: %d", k, b.Shape[b.Dim()-1])
		}
		batch, err := tensor.BroadcastShapes(a.Shape[:a.Dim()-2], b.Shape[:b.Dim()-2])
		if err != nil {
			return nil, errf("%s", err)
		}
		o := c.NewC(rtype(a, b), append(slices.Clone(batch), n, m)...)
		if !c.real {
			return o, nil
		}
		as := a.Expand(append(slices.Clone(batch), n, k)).Floats()
		bs := b.Expand(append(slices.Clone(batch), m, k)).Floats()
		out := make([]float64, o.Numel())
		for i := range out {
			q := int64(i) / (n * m)
			r, s := int64(i)/m%n, int64(i)%m
			out[i] = dist(as[(q*n+r)*k:(q*n+r+1)*k], bs[(q*m+s)*k:(q*m+s+1)*k], p)
		}
		o.SetFloats(out)
		return o, nil
	})
	// dnorm is the derivative of the p-norm of a difference vector by one component.
	dnorm := func(x, norm, p float64) float64 {
		switch {
		case norm == 0 || p == 0:
			return 0
		case p == 1:
			return sgn(x)
		case math.IsInf(p, 1):
			return sgn(x) * b2f(math.Abs(x) == norm)
		case p == 2:
			return x / norm
		}
		return sgn(x) * math.Pow(math.Abs(x), p-1) / math.Pow(norm, p-1)
	}
	def("_cdist_backward", func(c *Call) (Value, error) {
		g, a, b, p := c.T(0), c.T(1), c.T(2), c.F(3)
		nd := a.Dim()
		n, m, k := a.Shape[nd-2], b.Shape[b.Dim()-2], a.Shape[nd-1]
		batch, err := tensor.BroadcastShapes(a.Shape[:nd-2], b.Shape[:b.Dim()-2])
		if err != nil {
			return nil, errf("%s", err)
		}
		sh := append(slices.Clone(batch), n, k)
		o := c.NewC(a.DType, sh...)
		if c.real {
			as, bs, gs, ds := a.Expand(sh).Floats(), b.Expand(append(slices.Clone(batch), m, k)).Floats(), g.Floats(), c.T(4).Floats()
			out := make([]float64, o.Numel())
			for i := range gs {
				q := int64(i) / (n * m)
				r, s := int64(i)/m%n, int64(i)%m
				for j := int64(0); j < k; j++ {
					out[(q*n+r)*k+j] += gs[i] * dnorm(as[(q*n+r)*k+j]-bs[(q*m+s)*k+j], ds[i], p)
				}
			}
			o.SetFloats(out)
		}
		return o, nil
	})
	comp("pdist", func(c *Call) (Value, error) {
		return c.via("_pdist_forward", must(c.via("contiguous", c.Args[0])), c.Args[1])
	})
	def("_pdist_forward", func(c *Call) (Value, error) {
		a, p := c.T(0), c.F(1)
		n := a.Shape[0]
		o := c.NewC(a.DType, n*(n-1)/2)
		if c.real {
			k := a.Shape[1]
			xs := a.Floats()
			var out []float64
			for i := int64(0); i < n; i++ {
				for j := i + 1; j < n; j++ {
					out = append(out, dist(xs[i*k:(i+1)*k], xs[j*k:(j+1)*k], p))
				}
			}
			o.SetFloats(out)
		}
		return o, nil
	})
	def("_pdist_backward", func(c *Call) (Value, error) {
		g, a, p, d := c.T(0), c.T(1), c.F(2), c.T(3)
		o := c.NewC(a.DType, a.Shape...)
		if c.real {
			n, k := a.Shape[0], a.Shape[1]
			xs, gs, ds := a.Floats(), g.Floats(), d.Floats()
			out := make([]float64, len(xs))
			q := 0
			for i := int64(0); i < n; i++ {
				for j := i + 1; j < n; j++ {
					for e := int64(0); e < k; e++ {
						z := gs[q] * dnorm(xs[i*k+e]-xs[j*k+e], ds[q], p)
						out[i*k+e] += z
						out[j*k+e] -= z
					}
					q++
				}
			}
			o.SetFloats(out)
		}
		return o, nil
	})
	def("linalg_cross", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		sh, err := tensor.BroadcastShapes(a.Shape, b.Shape)
		if err != nil {
			return nil, errf("%s", err)
		}
		d, err := wrapDim(c.I(2), int64(len(sh)))
		if err != nil {
			return nil, err
		}
		if sh[d] != 3 {
			return nil, errf("linalg.cross: inputs dimension %d must have length 3. Got %d and %d", c.I(2), a.Shape[d], b.Shape[d])
		}
		o := c.NewC(rtype(a, b), sh...)
		if !c.real {
			return o, nil
		}
		part := func(t *tensor.Tensor, i int64) *tensor.Tensor {
			v, _ := c.slice(t, d, i, i+1, 1)
			return v
		}
		ea, eb := a.Expand(sh), b.Expand(sh)
		for i := int64(0); i < 3; i++ {
			j, k := (i+1)%3, (i+2)%3
			x, err := c.do("mul.Tensor", part(ea, j), part(eb, k))
			if err != nil {
				return nil, err
			}
			y, err := c.do("mul.Tensor", part(ea, k), part(eb, j))
			if err != nil {
				return nil, err
			}
			z, err := c.doT("sub.Tensor", x, y, int64(1))
			if err != nil {
				return nil, err
			}
			tensor.Copy(part(o, i), z)
		}
		return o, nil
	})
	comp("cross", func(c *Call) (Value, error) {
		a := c.T(0)
		if !c.None(2) {
			return c.via("linalg_cross", c.Args...)
		}
		for i, s := range a.Shape {
			if s == 3 {
				return c.via("linalg_cross", a, c.Args[1], int64(i))
			}
		}
		return nil, errf("no dimension of size 3 in input")
	})
}

func miscComposites() {
	comp("kron", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		n := max(a.Dim(), b.Dim())
		at := func(t *tensor.Tensor, i int) int64 {
			if k := i - (n - t.Dim()); k >= 0 {
				return t.Shape[k]
			}
			return 1
		}
		var sa, sb, so []int64
		for i := 0; i < n; i++ {
			sa = append(sa, at(a, i), 1)
			sb = append(sb, 1, at(b, i))
			so = append(so, at(a, i)*at(b, i))
		}
		m := must(c.via("mul.Tensor", must(c.via("reshape", a, ints(sa))), must(c.via("reshape", b, ints(sb)))))
		return c.via("reshape", m, ints(so))
	})
	comp("diff", func(c *Call) (Value, error) {
		v, n := Value(c.T(0)), c.I(1)
		d, err := wrapDim(c.I(2), int64(c.T(0).Dim()))
		if err != nil {
			return nil, err
		}
		if c.T(0).Dim() == 0 {
			return nil, errf("diff expects input to be at least one-dimensional")
		}
		if n < 0 {
			return nil, errf("order must be non-negative but got %d", n)
		}
		var parts []Value
		if p := c.T(3); p != nil {
			parts = append(parts, p)
		}
		parts = append(parts, v)
		if p := c.T(4); p != nil {
			parts = append(parts, p)
		}
		if len(parts) > 1 && n > 0 {
			if v, err = c.via("cat", parts, d); err != nil {
				return nil, err
			}
		}
		if n == 0 {
			r, err := c.via("zeros_like", v)
			if err != nil {
				return nil, err
			}
			return c.via("copy_", r, v)
		}
		for ; n > 0; n-- {
			t := v.(*tensor.Tensor)
			l := t.Shape[d]
			if l == 0 {
				return v, nil
			}
			a := must(c.via("slice.Tensor", t, d, int64(1), l, int64(1)))
			b := must(c.via("slice.Tensor", t, d, int64(0), l-1, int64(1)))
			if t.DType == tensor.Bool {
				v, err = c.via("logical_xor", a, b)
			} else {
				v, err = c.via("sub.Tensor", a, b)
			}
			if err != nil {
				return nil, err
			}
		}
		return v, nil
	})
	trap := func(c *Call, cum bool) (Value, error) {
		hasX := c.Op.Sig().Overload == "x"
		y := c.T(0)
		dim := toInt(c.opt("dim"))
		d, err := wrapDim(dim, int64(y.Dim()))
		if err != nil {
			return nil, err
		}
		n := y.Shape[d]
		if n == 0 {
			sh := slices.Delete(slices.Clone(y.Shape), int(d), int(d)+1)
			return c.via("zeros", ints(sh), y.DType)
		}
		l := must(c.via("slice.Tensor", y, d, int64(0), n-1, int64(1)))
		r := must(c.via("slice.Tensor", y, d, int64(1), n, int64(1)))
		s := must(c.via("add.Tensor", l, r))
		if hasX {
			x := c.T(1)
			xv := Value(x)
			if x.Dim() == 1 && y.Dim() > 1 {
				sh := fill(nil, y.Dim(), 1)
				sh[d] = x.Shape[0]
				xv = must(c.via("view", x, ints(sh)))
			}
			dx, err := c.via("diff", xv, int64(1), d-int64(y.Dim()))
			if err != nil {
				return nil, err
			}
			s = must(c.via("mul.Tensor", s, dx))
		}
		var v Value
		if cum {
			v = must(c.via("cumsum", s, d))
		} else {
			v = must(c.via("sum.dim_IntList", s, ints([]int64{d}), false))
		}
		if hasX {
			return c.via("div.Scalar", v, 2.0)
		}
		return c.via("mul.Scalar", v, toFloat(c.opt("dx"))/2)
	}
	comp("trapezoid.x trapezoid.dx trapz.x", func(c *Call) (Value, error) { return trap(c, false) })
	comp("cumulative_trapezoid.x cumulative_trapezoid.dx", func(c *Call) (Value, error) { return trap(c, true) })
	comp("trapz.dx", func(c *Call) (Value, error) { return c.via("trapezoid.dx", c.Args...) })
	def("block_diag", func(c *Call) (Value, error) {
		ts := c.Ts(0)
		var n, m int64
		d := tensor.Invalid
		for i, t := range ts {
			if t.Dim() > 2 {
				return nil, errf("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input %d has %d dimensions", i, t.Dim())
			}
			d = tensor.Promote(d, t.DType)
			v, err := c.doT("atleast_2d", t)
			if err != nil {
				return nil, err
			}
			ts[i] = v
			n, m = n+v.Shape[0], m+v.Shape[1]
		}
		o := c.NewC(d, n, m)
		if c.real {
			var a, b int64
			for _, t := range ts {
				tensor.Copy(tensor.NewView(o, t.Shape, o.Stride, a*m+b), t)
				a, b = a+t.Shape[0], b+t.Shape[1]
			}
		}
		return o, nil
	})
	comp("cartesian_prod", func(c *Call) (Value, error) {
		ts := c.Ts(0)
		if len(ts) == 1 {
			return ts[0], nil
		}
		v, err := c.via("meshgrid", c.Args[0])
		if err != nil {
			return nil, err
		}
		var fs []Value
		for _, g := range v.([]Value) {
			f, err := c.via("flatten.using_ints", g)
			if err != nil {
				return nil, err
			}
			fs = append(fs, f)
		}
		return c.via("stack", fs, int64(1))
	})
	def("_chunk_cat", func(c *Call) (Value, error) {
		var parts []Value
		dim, k := c.I(1), c.I(2)
		if ts := c.Ts(0); len(ts) > 0 && dim < 0 {
			dim += int64(ts[0].Dim())
		}
		for _, t := range c.Ts(0) {
			d, err := wrapDim(dim, int64(t.Dim()))
			if err != nil {
				return nil, err
			}
			size := t.Shape[d]
			per := (size + k - 1) / k
			pad := make([]int64, 2*t.Dim())
			pad[2*(int64(t.Dim())-1-d)+1] = per*k - size
			p, err := c.doT("constant_pad_nd", t, ints(pad), int64(0))
			if err != nil {
				return nil, err
			}
			sh := append(slices.Clone(t.Shape[:d]), k, -1)
			v, err := c.do("reshape", p, ints(sh))
			if err != nil {
				return nil, err
			}
			parts = append(parts, v)
		}
		return c.do("cat", parts, dim+1)
	})
	def("_addmm_activation", func(c *Call) (Value, error) {
		v, err := c.do("addmm", c.Args[:5]...)
		if err != nil {
			return nil, err
		}
		if c.B(5) {
			return c.do("gelu", v, "tanh")
		}
		return c.do("relu", v)
	})
	comp("_weight_norm", func(c *Call) (Value, error) {
		v, d := c.T(0), c.I(2)
		var dims []int64
		for i := 0; i < v.Dim(); i++ {
			if int64(i) != d {
				dims = append(dims, int64(i))
			}
		}
		n := must(c.via("norm.ScalarOpt_dim", v, int64(2), ints(dims), true))
		return c.via("mul.Tensor", v, must(c.via("div.Tensor", c.Args[1], n)))
	})
	comp("norm_except_dim", func(c *Call) (Value, error) {
		v, d := c.T(0), c.I(2)
		var dims []int64
		for i := 0; i < v.Dim(); i++ {
			if int64(i) != d {
				dims = append(dims, int64(i))
			}
		}
		return c.via("norm.ScalarOpt_dim", v, c.Args[1], ints(dims), true)
	})
	def("_masked_softmax", func(c *Call) (Value, error) {
		d := int64(-1)
		if !c.None(2) {
			d = c.I(2)
		}
		x := must(c.do("masked_fill.Scalar", c.Args[0], c.Args[1], math.Inf(-1)))
		return c.do("_softmax", x, d, false)
	})
	comp("gather_backward", func(c *Call) (Value, error) {
		z := must(c.via("new_zeros", c.Args[1], ints(c.T(1).Shape)))
		return c.via("scatter_add", z, c.Args[2], c.Args[3], c.Args[0])
	})
	comp("linalg_norm", func(c *Call) (Value, error) {
		t := c.T(0)
		if c.None(1) && (c.None(2) || len(c.Ints(2)) != 2 || true) {
			return c.via("linalg_vector_norm", c.Args[0], 2.0, c.Args[2], c.Args[3], c.Args[4])
		}
		if len(c.Ints(2)) == 2 || c.None(2) && t.Dim() == 2 {
			dims := c.Args[2]
			if dims == nil {
				dims = ints([]int64{-2, -1})
			}
			return c.via("linalg_matrix_norm", c.Args[0], c.Args[1], dims, c.Args[3], c.Args[4])
		}
		return c.via("linalg_vector_norm", c.Args...)
	})
	comp("linalg_matrix_norm", func(c *Call) (Value, error) {
		ord, dims, keep := c.F(1), c.Ints(2), c.B(3)
		t := c.T(0)
		if len(dims) != 2 {
			return nil, errf("linalg.matrix_norm: dim must be a 2-tuple. Got %s", tensor.ShapeText(dims))
		}
		switch math.Abs(ord) {
		case 1, math.Inf(1):
			a, b := dims[0], dims[1]
			if math.Abs(ord) != 1 {
				a, b = b, a
			}
			if !keep {
				wa, e1 := wrapDim(a, int64(t.Dim()))
				wb, e2 := wrapDim(b, int64(t.Dim()))
				if e1 != nil || e2 != nil {
					return nil, dimError(a, int64(t.Dim()))
				}
				if wb > wa {
					wb--
				}
				a, b = wa, wb
			}
			s, err := c.via("linalg_vector_norm", t, 1.0, ints([]int64{a}), keep, c.Args[4])
			if err != nil {
				return nil, err
			}
			if ord > 0 {
				return c.via("amax", s, ints([]int64{b}), keep)
			}
			return c.via("amin", s, ints([]int64{b}), keep)
		}
		return nil, kindf(NotImplementedError, "linalg.matrix_norm of order %g is not implemented", ord)
	})
	comp("linalg_matrix_norm.str_ord", func(c *Call) (Value, error) {
		if c.Str(1) != "fro" {
			return nil, kindf(NotImplementedError, "linalg.matrix_norm of order %s is not implemented", c.Str(1))
		}
		return c.via("linalg_vector_norm", c.Args[0], 2.0, c.Args[2], c.Args[3], c.Args[4])
	})
	comp("frobenius_norm.dim", func(c *Call) (Value, error) {
		return c.via("linalg_vector_norm", c.Args[0], 2.0, c.Args[1], c.Args[2], nil)
	})
	comp("linalg_vander", func(c *Call) (Value, error) {
		t := c.T(0)
		n := t.Shape[t.Dim()-1]
		if !c.None(1) {
			n = c.I(1)
		}
		x := must(c.via("expand", must(c.via("unsqueeze", t, int64(-1))), ints(append(slices.Clone(t.Shape), n-1))))
		p := must(c.via("cumprod", x, int64(-1)))
		one := must(c.via("ones", ints(append(slices.Clone(t.Shape), 1)), rtype(t)))
		if e, ok := p.(error); ok {
			return nil, e
		}
		return c.via("cat", []Value{one, p}, int64(-1))
	})
	for _, n := range []string{"bartlett_window", "hann_window", "hamming_window", "blackman_window"} {
		def(n+" "+n+".periodic", func(c *Call) (Value, error) {
			l := c.I(0)
			periodic := c.Op.Sig().Overload == "" || c.B(1)
			o := c.NewC(c.optDT(tensor.Float32), l)
			if !c.real {
				return o, nil
			}
			m := float64(l - 1)
			if periodic {
				m = float64(l)
			}
			xs := make([]float64, l)
			for i := range xs {
				if l == 1 {
					xs[i] = 1
					continue
				}
				t := 2 * math.Pi * float64(i) / m
				switch n {
				case "hann_window":
					xs[i] = 0.5 - 0.5*math.Cos(t)
				case "hamming_window":
					xs[i] = 0.54 - 0.46*math.Cos(t)
				case "blackman_window":
					xs[i] = 0.42 - 0.5*math.Cos(t) + 0.08*math.Cos(2*t)
				default:
					xs[i] = 1 - math.Abs(2*float64(i)/m-1)
				}
			}
			o.SetFloats(xs)
			return o, nil
		})
	}
}

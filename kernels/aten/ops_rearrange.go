package aten

import (
	"math"
	"math/cmplx"
	"slices"
	"strings"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Rearranging: flip, roll, repeat, rot90, tile, and operators that are other names of one another. What PyTorch composes of views and copies
// is a decomposition here, too, since that is what a trace shows.

func rearrange() {
	def("flip", func(c *Call) (Value, error) {
		t := c.T(0)
		mask, err := wrapDims(c.Ints(1), t.Dim(), false)
		if err != nil {
			return nil, err
		}
		o := c.NewUnset(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		if c.real && t.Numel() > 0 && t.Dim() > 0 {
			v := *t
			v.Stride = slices.Clone(t.Stride)
			for i := range t.Shape {
				if mask[i] {
					v.Offset += (t.Shape[i] - 1) * t.Stride[i]
					v.Stride[i] = -t.Stride[i]
				}
			}
			tensor.Copy(o, &v)
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
		o := c.NewUnset(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape))
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
		if t.Numel() == 0 {
			return o, nil
		}
		if t.Dim() == 0 {
			return nil, kindf(IndexError, "Dimension specified as %d but tensor has no dimensions", dims[0])
		}
		for _, d := range dims {
			if _, err := wrapDim(d, int64(t.Dim())); err != nil {
				return nil, err
			}
		}
		if !c.real {
			return o, nil
		}
		cur := t
		if t.Numel() >= grain { // the parts of what is transposed are no large blocks
			cur = t.Contiguous()
		}
		for i, d := range dims {
			w, err := wrapDim(d, int64(t.Dim()))
			if err != nil {
				return nil, err
			}
			next := o
			if i < len(dims)-1 {
				next = tensor.EmptyUnset(t.DType, t.Shape, o.Stride)
			}
			rollInto(next, cur, sh[i], w)
			cur = next
		}
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
		o := c.NewUnset(t.DType, shape, tensor.ContiguousStrides(shape))
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
		for i, d := range dims {
			if n := int64(t.Dim()); d < -n || d >= n {
				return nil, errf("Rotation dim%d out of range, dim%d = %d", i, i, d)
			}
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
		if !c.None(1) && c.I(1) != int64(len(out)) {
			return nil, errf("allocated size does not match required size")
		}
		o := c.newCUnset(r.DType, int64(len(out)))
		o.SetInts(out)
		return o, nil
	})
	comp("repeat_interleave.self_Tensor", func(c *Call) (Value, error) {
		t, r := Value(c.T(0)), c.T(1)
		d := Value(c.Args[2])
		if d == nil || c.T(0).Dim() == 0 {
			t = must(c.via("flatten.using_ints", t))
			d = int64(0)
		}
		rep := Value(r)
		x, ok := t.(*tensor.Tensor)
		if !ok {
			return nil, t.(error)
		}
		w, err := wrapDim(toInt(d), int64(x.Dim()))
		switch {
		case err != nil:
			return nil, err
		case r.Dim() == 0 || r.Dim() == 1 && r.Shape[0] == 1:
			rep = must(c.via("expand", must(c.via("reshape", r, ints([]int64{1}))), ints([]int64{x.Shape[w]})))
		case r.Dim() > 1:
			return nil, errf("repeats must be 0-dim or 1-dim tensor")
		case r.Shape[0] != x.Shape[w]:
			return nil, errf("repeats must have the same size as input along dim, but got repeats.size(0) = %d and input.size(%d) = %d", r.Shape[0], w, x.Shape[w])
		}
		return c.via("index_select", t, d, must(c.via("repeat_interleave.Tensor", rep, c.Args[3])))
	})
	comp("repeat_interleave.self_int", func(c *Call) (Value, error) {
		t, n := Value(c.T(0)), c.I(1)
		if n < 0 {
			return nil, errf("Repeats must be non-negative")
		}
		d := int64(0)
		if c.None(2) || c.T(0).Dim() == 0 {
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
			if err == nil && !tensor.SameShape(v, g) {
				err = errf("%s(): Expected a gradient of size %s, but got %s", name, tensor.ShapeText(v.Shape), tensor.ShapeText(g.Shape))
			}
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
		if err == nil && !tensor.SameShape(v, g) {
			err = errf("unfold_backward(): Expected a gradient of size %s, but got %s", tensor.ShapeText(v.Shape), tensor.ShapeText(g.Shape))
		}
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
		k := f2(func(a, b float64) float64 { return a * sigmoid(b) })
		k.S = func(out []float32, in [][]float32) {
			var room [block]float32
			for p := 0; p < len(out); p += block {
				end := min(p+block, len(out))
				gate := room[:end-p]
				native.Unary32(native.Sigmoid, gate, in[1][p:end])
				native.Binary32(native.Mul, out[p:end], in[0][p:end], gate)
			}
		}
		return c.pwv([]Value{a, b}, t.DType, t.DType, k)
	})
	def("glu_backward", func(c *Call) (Value, error) {
		g, t := c.T(0), c.T(1)
		d, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		o := c.newCUnset(t.DType, t.Shape...)
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
		o := c.newCUnset(t.DType, t.Shape...)
		if !c.real {
			return o, nil
		}
		if t.DType == tensor.Float32 || t.DType == tensor.Float64 {
			var others []int64
			for i := range t.Dim() {
				if int64(i) != d {
					others = append(others, int64(i))
				}
			}
			n, err := c.doT("linalg_vector_norm", t, p, ints(others), true, nil)
			if err != nil {
				return nil, err
			}
			run([]*tensor.Tensor{n, n}, n.DType, f1(func(n float64) float64 {
				if n > limit {
					return limit / (n + 1e-7)
				}
				return 1
			}))
			run([]*tensor.Tensor{o, t, n.Expand(t.Shape)}, t.DType, f2(func(x, by float64) float64 { return x * by }).simd(native.Mul))
			return o, nil
		}
		tensor.Copy(o, t)
		parallel.For(int(t.Shape[d]), 1, func(lo, hi int) {
			xs, done := tensor.Room[float64](t.Numel() / t.Shape[d])
			defer done()
			for i := int64(lo); i < int64(hi); i++ {
				v, _ := c.slice(o, d, i, i+1, 1)
				v.LoadFloats(xs)
				if n := vectorNorm(xs, p); n > limit {
					for k := range xs {
						xs[k] *= limit / (n + 1e-7)
					}
					v.SetFloats(xs)
				}
			}
		})
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

// rollInto writes t, rolled by shift along d, to o, as two blocks.
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
		"arctan2:atan2 clip:clamp clip.Tensor:clamp.Tensor special_expit:sigmoid special_gammaln:lgamma special_digamma:digamma special_psi:digamma special_erf:erf special_erfc:erfc special_erfinv:erfinv special_exp2:exp2 special_expm1:expm1 special_i0:i0 special_log1p:log1p special_sinc:sinc special_logit:logit special_logsumexp:logsumexp special_polygamma:polygamma special_gammainc:igamma special_gammaincc:igammac " +
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
	comp("float_power.Tensor_Tensor float_power.Tensor_Scalar float_power.Scalar", func(c *Call) (Value, error) {
		args, _ := floatPowerArgs(c)
		return c.via("pow."+c.Op.Sig().Overload, args...)
	})
	comp("float_power_.Tensor float_power_.Scalar", func(c *Call) (Value, error) {
		args, d := floatPowerArgs(c)
		if self := c.T(0); self.DType != d {
			return nil, errf("the base given to float_power_ has dtype %s but the operation's result requires dtype %s", cName(self.DType), cName(d))
		}
		return c.via("pow_."+c.Op.Sig().Overload, c.Args[0], args[1])
	})
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
		e := must(c.via("erf", must(c.via("mul.Scalar", x, math.Sqrt2/2))))
		return c.via("mul.Scalar", must(c.via("add.Scalar", e, int64(1))), 0.5)
	})
	comp("special_round", func(c *Call) (Value, error) {
		if c.I(1) == 0 {
			return c.via("round", c.Args[0])
		}
		return c.via("round.decimals", c.Args...)
	})
	comp("special_multigammaln", func(c *Call) (Value, error) { return c.via("mvlgamma", c.Args...) })
	def("mvlgamma", func(c *Call) (Value, error) {
		p := c.I(1)
		if p < 1 {
			return nil, errf("p has to be greater than or equal to 1")
		}
		d := floatType(c.T(0).DType)
		first := float64(p*(p-1)) / 4 * math.Log(math.Pi)
		k := f1(func(x float64) float64 {
			s := first
			for j := int64(0); j < p; j++ {
				s += lgamma(x - float64(j)/2)
			}
			return s
		})
		k.S = func(out []float32, in [][]float32) {
			part := make([]float32, min(len(out), block))
			for from := 0; from < len(out); from += block {
				o, x := out[from:min(from+block, len(out))], in[0][from:min(from+block, len(out))]
				part := part[:len(o)]
				for j := int64(0); j < p; j++ {
					native.Binary32(native.Sub, part, x, []float32{float32(j) / 2})
					native.Unary32(native.Lgamma, part, part)
					if j == 0 {
						native.Binary32(native.Add, o, part, []float32{float32(first)})
					} else {
						native.Binary32(native.Add, o, o, part)
					}
				}
			}
		}
		return c.pwv(c.Args[:1], d, d, k)
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
	def("angle", func(c *Call) (Value, error) {
		d := floatType(c.T(0).DType)
		return c.pwv(c.Args[:1], d, d.ToReal(), f1(keepAngle).simd(native.Angle).c1(func(z complex128) complex128 { return complex(cmplx.Phase(z), 0) }))
	})
}

// floatPowerArgs are base and exponent in the dtype in which float_power computes: float64, or complex128 where one of them is complex.
func floatPowerArgs(c *Call) ([]Value, tensor.DType) {
	d := tensor.Float64
	if rtype(c.Args...).Kind() == tensor.KindComplex {
		d = tensor.Complex128
	}
	args := make([]Value, len(c.Args))
	for i, v := range c.Args {
		switch v.(type) {
		case *tensor.Tensor:
			args[i] = must(c.via("to.dtype", v, d))
		default:
			if args[i] = toFloat(v); d == tensor.Complex128 {
				args[i] = toComplex(v)
			}
		}
	}
	return args, d
}

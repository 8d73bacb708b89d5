package aten

import (
	"math"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Attention: softmax(q k^T * scale + mask) v, and its gradient. Rows of scores are computed as wanted and never stored as a whole; what is
// kept for the backward is the logarithm of each row's normaliser. What float32 can hold works on blocks of queries as products of matrices.
// 16-bit inputs are computed in float32.

// sdpa computes attention for real 4-D tensors: out (N, L, H, E laid out as PyTorch's flash kernel) and logsumexp.
func sdpa(q, k, v, mask *tensor.Tensor, causal bool, scale float64) (out, lse []float64) {
	n, h, l, e := q.Shape[0], q.Shape[1], q.Shape[2], q.Shape[3]
	s, ev := k.Shape[2], v.Shape[3]
	qs, ks, vs := q.Floats(), k.Floats(), v.Floats()
	var ms []float64
	if mask != nil {
		ms = mask.Expand([]int64{n, h, l, s}).Floats()
		if mask.DType == tensor.Bool {
			for i, x := range ms {
				if x == 0 {
					ms[i] = math.Inf(-1)
				} else {
					ms[i] = 0
				}
			}
		}
	}
	out, lse = make([]float64, n*h*l*ev), make([]float64, n*h*l)
	parallel.For(int(n*h), 1, func(lo, hi int) {
		w := make([]float64, s)
		for b := int64(lo); b < int64(hi); b++ {
			for i := int64(0); i < l; i++ {
				lse[b*l+i] = attnRow(w, qs, ks, ms, b, i, l, s, e, causal, scale)
				for j, x := range w {
					if x == 0 {
						continue
					}
					for d := int64(0); d < ev; d++ {
						out[(b*l+i)*ev+d] += x * vs[(b*s+int64(j))*ev+d]
					}
				}
			}
		}
	})
	return
}

// attentionBlock is how many scores are made at a time: few enough to stay in the cache.
const attentionBlock = 1 << 16

// attention32 is attention in float32: contiguous operands, and a block of queries at a time, whose scores are one product of matrices.
type attention32 struct {
	q, k, v       []float32
	mask          []float32 // added to the scores, (heads, l, s); nil: nothing
	heads         int64     // of all of the batch
	l, s, e, ev   int64
	causal        bool
	scale         float32
	blocks, large int64 // blocks of queries of a head, and queries of a block but the last
}

// newAttention32 prepares operands of 4 dimensions and a small dtype.
func newAttention32(q, k, v, mask *tensor.Tensor, causal bool, scale float64) *attention32 {
	a := &attention32{q: inFloat32(q).Float32s(), k: inFloat32(k).Float32s(), v: inFloat32(v).Float32s(), heads: q.Shape[0] * q.Shape[1],
		l: q.Shape[2], s: k.Shape[2], e: q.Shape[3], ev: v.Shape[3], causal: causal, scale: float32(scale), large: 64}
	if mask != nil {
		m := mask.Expand([]int64{q.Shape[0], q.Shape[1], a.l, a.s})
		if m.DType == tensor.Bool {
			hidden := tensor.Full(tensor.Float32, math.Inf(-1), m.Shape...)
			for i, seen := range m.Floats() {
				if seen != 0 {
					hidden.Float32s()[i] = 0
				}
			}
			m = hidden
		}
		a.mask = inFloat32(m).Float32s()
	}
	if !causal && a.heads >= 4 && a.s > 0 { // keys and values are packed for each block
		a.large = min(max(a.large, attentionBlock/a.s), 256)
	}
	a.blocks = (a.l + a.large - 1) / a.large
	return a
}

// weights fills w, of m rows, with the weights of the queries of head b from one on, and lse, if it is not nil, with the logarithms of their normalisers.
// It gives how many keys a row has: those beyond are hidden from the whole block.
func (a *attention32) weights(w, lse []float32, b, from, m int64) (last int64) {
	last = a.s
	if a.causal {
		last = min(a.s, from+m)
	}
	native.GemmAlone32(int(m), int(last), int(a.e), a.scale, mx(a.q[(b*a.l+from)*a.e:], a.e, 1), mx(a.k[b*a.s*a.e:], 1, a.e), 0, mx(w, last, 1))
	w = w[:m*last]
	switch mask := a.mask; {
	case mask == nil:
	case last == a.s:
		native.Binary32(native.Add, w, w, mask[(b*a.l+from)*a.s:][:len(w)])
	default:
		for i := range m {
			row := w[i*last:][:last]
			native.Binary32(native.Add, row, row, mask[(b*a.l+from+i)*a.s:][:last])
		}
	}
	none := float32(math.Inf(-1))
	if a.causal {
		for i := range m {
			hidden := w[min(i*last+from+i+1, (i+1)*last) : (i+1)*last]
			for j := range hidden {
				hidden[j] = none
			}
		}
	}
	best, greatest := make([]int64, m), make([]float32, m)
	native.ArgRows32(best, w, int(last), false)
	for i := range m {
		best[i] += i * last
		greatest[i] = w[best[i]]
	}
	native.SoftmaxRows32(w, w, int(last), false)
	for i, x := range greatest {
		if x == none { // all is hidden
			clear(w[int64(i)*last:][:last])
		} else {
			x -= float32(math.Log(float64(w[best[i]]))) // the greatest weight is not too small for it
		}
		if lse != nil {
			lse[b*a.l+from+int64(i)] = x
		}
	}
	return last
}

// forward writes the output to out, laid out as (heads, l, ev), and gives the logarithms of the normalisers.
func (a *attention32) forward(out []float32) (lse []float32) {
	lse = make([]float32, a.heads*a.l)
	parallel.For(int(a.heads*a.blocks), 1, func(lo, hi int) {
		w, done := tensor.Room[float32](a.large * a.s)
		defer done()
		for t := int64(lo); t < int64(hi); t++ {
			b, from := t/a.blocks, t%a.blocks*a.large
			m := min(a.large, a.l-from)
			last := a.weights(w, lse, b, from, m)
			native.GemmAlone32(int(m), int(a.ev), int(last), 1, mx(w, last, 1), mx(a.v[b*a.s*a.ev:], a.ev, 1), 0, mx(out[(b*a.l+from)*a.ev:], a.ev, 1))
		}
	})
	return lse
}

// backward is the gradients of queries, keys and values, for the gradient g of the output: with weights P and dP = g V', dS = P (dP - sum of P dP)
// is the scores'.
func (a *attention32) backward(g []float32) (dq, dk, dv []float32) {
	dq, dk, dv = make([]float32, len(a.q)), make([]float32, len(a.k)), make([]float32, len(a.v))
	parallel.For(int(a.heads), 1, func(lo, hi int) {
		w, done := tensor.Room[float32](a.large * a.s)
		defer done()
		dw, done2 := tensor.Room[float32](a.large * a.s)
		defer done2()
		for t := int64(lo) * a.blocks; t < int64(hi)*a.blocks; t++ {
			b, from := t/a.blocks, t%a.blocks*a.large
			m := min(a.large, a.l-from)
			last := a.weights(w, nil, b, from, m)
			grad := mx(g[(b*a.l+from)*a.ev:], a.ev, 1)
			native.GemmAlone32(int(last), int(a.ev), int(m), 1, mx(w, 1, last), grad, 1, mx(dv[b*a.s*a.ev:], a.ev, 1))
			native.GemmAlone32(int(m), int(last), int(a.ev), 1, grad, mx(a.v[b*a.s*a.ev:], 1, a.ev), 0, mx(dw, last, 1))
			for i := range m {
				p, d := w[i*last:(i+1)*last], dw[i*last:(i+1)*last]
				sum := float32(0)
				for j, x := range p {
					sum += x * d[j]
				}
				for j, x := range p {
					d[j] = x * (d[j] - sum)
				}
			}
			native.GemmAlone32(int(m), int(a.e), int(last), a.scale, mx(dw, last, 1), mx(a.k[b*a.s*a.e:], a.e, 1), 0, mx(dq[(b*a.l+from)*a.e:], a.e, 1))
			native.GemmAlone32(int(last), int(a.e), int(m), a.scale, mx(dw, 1, last), mx(a.q[(b*a.l+from)*a.e:], a.e, 1), 1, mx(dk[b*a.s*a.e:], a.e, 1))
		}
	})
	return dq, dk, dv
}

// attnRow fills w with the attention weights of one query and returns the log of their normaliser.
func attnRow(w, qs, ks, ms []float64, b, i, l, s, e int64, causal bool, scale float64) float64 {
	m := math.Inf(-1)
	for j := int64(0); j < s; j++ {
		if causal && j > i {
			w[j] = math.Inf(-1)
			continue
		}
		x := 0.0
		for d := int64(0); d < e; d++ {
			x += qs[(b*l+i)*e+d] * ks[(b*s+j)*e+d]
		}
		x *= scale
		if ms != nil {
			x += ms[(b*l+i)*s+j]
		}
		w[j] = x
		m = max(m, x)
	}
	if math.IsInf(m, -1) {
		clear(w)
		return m
	}
	t := 0.0
	for j := range w {
		w[j] = math.Exp(w[j] - m)
		t += w[j]
	}
	for j := range w {
		w[j] /= t
	}
	return m + math.Log(t)
}

func attention() {
	scaleOf := func(v Value, q *tensor.Tensor) float64 {
		if v != nil {
			return toFloat(v)
		}
		return 1 / math.Sqrt(float64(q.Shape[q.Dim()-1]))
	}
	def("_scaled_dot_product_flash_attention_for_cpu", func(c *Call) (Value, error) {
		q, k, v, causal, mask := c.T(0), c.T(1), c.T(2), c.B(4), c.T(5)
		if q.Dim() != 4 || k.Dim() != 4 || v.Dim() != 4 {
			return nil, errf("_scaled_dot_product_flash_attention: Accept only 4 dims inputs shape of {B, H, T, K}")
		}
		n, h, l, e := q.Shape[0], q.Shape[1], q.Shape[2], v.Shape[3]
		shape := []int64{n, h, l, e}
		stride := tensor.ContiguousStrides(shape)
		if e == q.Shape[3] { // laid out like the query
			stride = tensor.PreservedStrides(q.Shape, q.Stride)
		}
		o := c.New(q.DType, shape, stride)
		ld := q.DType
		if ld == tensor.BFloat16 || ld == tensor.Float16 {
			ld = tensor.Float32
		}
		lse := c.New(ld, []int64{n, h, l}, []int64{h * l, 1, h})
		if c.real {
			if q.DType.IsSmallFloat() && q.Numel() > 0 && k.Numel() > 0 && v.Numel() > 0 {
				own := o
				if o.Float32s() == nil { // of another dtype or layout
					own = c.NewC(tensor.Float32, o.Shape...)
				}
				ls := newAttention32(q, k, v, mask, causal, scaleOf(c.Args[6], q)).forward(own.Float32s())
				if own != o {
					tensor.Copy(o, own)
				}
				tensor.Copy(lse, tensor.FromFloat32s(ls, lse.Shape...))
			} else {
				out, ls := sdpa(q, k, v, mask, causal, scaleOf(c.Args[6], q))
				o.SetFloats(out)
				lse.SetFloats(ls)
			}
		}
		return list(o, lse), nil
	})
	def("_scaled_dot_product_flash_attention_for_cpu_backward", func(c *Call) (Value, error) {
		g, q, k, v, causal, mask := c.T(0), c.T(1), c.T(2), c.T(3), c.B(7), c.T(8)
		n, h, l, e := q.Shape[0], q.Shape[1], q.Shape[2], q.Shape[3]
		s, ev := k.Shape[2], v.Shape[3]
		mk := func(t *tensor.Tensor, l int64) *tensor.Tensor {
			d := t.Shape[3]
			return c.New(t.DType, t.Shape, []int64{l * h * d, d, h * d, 1})
		}
		gq, gk, gv := mk(q, l), mk(k, s), mk(v, s)
		if !c.real {
			return list(gq, gk, gv), nil
		}
		scale := scaleOf(c.Args[9], q)
		if q.DType.IsSmallFloat() && q.Numel() > 0 && k.Numel() > 0 && v.Numel() > 0 {
			dq, dk, dv := newAttention32(q, k, v, mask, causal, scale).backward(inFloat32(g).Float32s())
			for i, d := range [][]float32{dq, dk, dv} {
				t := []*tensor.Tensor{gq, gk, gv}[i]
				tensor.Copy(t, tensor.FromFloat32s(d, t.Shape...))
			}
			return list(gq, gk, gv), nil
		}
		gs, qs, ks, vs := c.floats(g), c.floats(q), c.floats(k), c.floats(v)
		var ms []float64
		if mask != nil {
			ms = c.floats(mask.Expand([]int64{n, h, l, s}))
		}
		dq, dk, dv := make([]float64, len(qs)), make([]float64, len(ks)), make([]float64, len(vs))
		w, dw := make([]float64, s), make([]float64, s)
		for b := int64(0); b < n*h; b++ {
			for i := int64(0); i < l; i++ {
				attnRow(w, qs, ks, ms, b, i, l, s, e, causal, scale)
				t := 0.0
				for j := int64(0); j < s; j++ {
					dw[j] = 0
					for d := int64(0); d < ev; d++ {
						gr := gs[(b*l+i)*ev+d]
						dv[(b*s+j)*ev+d] += w[j] * gr
						dw[j] += gr * vs[(b*s+j)*ev+d]
					}
					t += dw[j] * w[j]
				}
				for j := int64(0); j < s; j++ {
					z := w[j] * (dw[j] - t) * scale
					for d := int64(0); d < e; d++ {
						dq[(b*l+i)*e+d] += z * ks[(b*s+j)*e+d]
						dk[(b*s+j)*e+d] += z * qs[(b*l+i)*e+d]
					}
				}
			}
		}
		gq.SetFloats(dq)
		gk.SetFloats(dk)
		gv.SetFloats(dv)
		return list(gq, gk, gv), nil
	})
	comp("_scaled_dot_product_attention_math", func(c *Call) (Value, error) {
		q, k, v, mask, p, causal := Value(c.T(0)), Value(c.T(1)), Value(c.T(2)), Value(optT(c.T(3))), c.F(4), c.B(5)
		qt, kt := c.T(0), c.T(1)
		half := qt.DType == tensor.BFloat16 || qt.DType == tensor.Float16
		work := qt.DType
		if half {
			// Scores of 16-bit inputs are computed in float32.
			work = tensor.Float32
			for _, x := range []*Value{&q, &k, &v} {
				*x = must(c.via("_to_copy", *x, work))
			}
		}
		sc := math.Sqrt(math.Abs(scaleOf(c.Args[7], qt)))
		neg := scaleOf(c.Args[7], qt) < 0
		l, s := qt.Shape[qt.Dim()-2], kt.Shape[kt.Dim()-2]
		if causal {
			if mask != nil {
				return nil, errf("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
			}
			mask = must(c.via("tril", must(c.via("ones", ints([]int64{l, s}), tensor.Bool))))
		}
		if c.B(8) {
			// Grouped queries: each key and value head serves several query heads.
			rep := qt.Shape[qt.Dim()-3] / kt.Shape[kt.Dim()-3]
			k = must(c.via("repeat_interleave.self_int", k, rep, int64(-3)))
			v = must(c.via("repeat_interleave.self_int", v, rep, int64(-3)))
		}
		if m, ok := mask.(*tensor.Tensor); ok && m.DType == tensor.Bool {
			inf := must(c.via("scalar_tensor", math.Inf(-1), work))
			mask = must(c.via("where.self", m, must(c.via("scalar_tensor", 0.0, work)), inf))
		}
		qsc := sc
		if neg {
			qsc = -sc
		}
		q = must(c.via("mul.Scalar", q, qsc))
		ktr := must(c.via("mul.Scalar", must(c.via("transpose.int", k, int64(-2), int64(-1))), sc))
		a := must(c.via("matmul", q, ktr))
		if mask != nil {
			a = must(c.via("add.Tensor", a, mask))
		}
		a = must(c.via("_safe_softmax", a, int64(-1)))
		if p > 0 {
			if dm := c.T(6); dm != nil {
				a = must(c.via("masked_fill.Scalar", a, must(c.via("logical_not", dm)), 0.0))
				v = must(c.via("mul.Scalar", v, 1/(1-p)))
			} else {
				a = must(c.via("dropout", a, p, true))
			}
		}
		weights := a
		if half {
			weights = must(c.via("_to_copy", a, qt.DType))
		}
		o, err := c.via("matmul", a, v)
		if err == nil && half {
			o, err = c.via("_to_copy", o, qt.DType)
		}
		return []Value{o, weights}, err
	})
	comp("scaled_dot_product_attention", func(c *Call) (Value, error) {
		q, k, v, mask, p, causal, gqa := c.T(0), c.T(1), c.T(2), c.T(3), c.F(4), c.B(5), c.B(7)
		if q.DType != k.DType || k.DType != v.DType {
			return nil, errf("Expected query, key, and value to have the same dtype, but got query.dtype: %s key.dtype: %s and value.dtype: %s instead.", lName(q.DType), lName(k.DType), lName(v.DType))
		}
		if q.Dim() < 2 || k.Dim() < 2 || v.Dim() < 2 {
			return nil, errf("Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: %d, key.dim: %d and value.dim: %d instead.", q.Dim(), k.Dim(), v.Dim())
		}
		if mask != nil && mask.DType != tensor.Bool && mask.DType != q.DType && mask.DType != tensor.Float32 {
			return nil, errf("Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: %s and  query.dtype: %s instead.", lName(mask.DType), lName(q.DType))
		}
		if mask != nil && causal {
			return nil, errf("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
		}
		flash := q.Dim() == 4 && k.Dim() == 4 && v.Dim() == 4 && p == 0 && q.DType.IsFloat() && !gqa &&
			q.Shape[3] == k.Shape[3] && k.Shape[3] == v.Shape[3] && q.Shape[0] == k.Shape[0] && q.Shape[1] == k.Shape[1] && k.Shape[2] == v.Shape[2] &&
			q.Stride[3] == 1 && k.Stride[3] == 1 && v.Stride[3] == 1 && q.Numel() > 0 && k.Numel() > 0 && (mask == nil || mask.Dim() == 2 || mask.Dim() == 4)
		if flash {
			m := optT(mask)
			if mask != nil && mask.DType == tensor.Bool {
				inf := must(c.via("scalar_tensor", math.Inf(-1), q.DType))
				m = must(c.via("where.self", mask, must(c.via("scalar_tensor", 0.0, q.DType)), inf))
			}
			r, err := c.via("_scaled_dot_product_flash_attention_for_cpu", q, k, v, p, causal, m, c.Args[6])
			if err != nil {
				return nil, err
			}
			return r.([]Value)[0], nil
		}
		r, err := c.via("_scaled_dot_product_attention_math", q, k, v, optT(mask), p, causal, nil, c.Args[6], gqa)
		if err != nil {
			return nil, err
		}
		return r.([]Value)[0], nil
	})
	def("_native_multi_head_attention", func(c *Call) (Value, error) {
		q, e, heads := c.T(0), c.I(3), c.I(4)
		if !q.DType.IsFloat() {
			return nil, errf("_native_multi_head_attention(): expected floating query, got %s", cName(q.DType))
		}
		if e%heads != 0 {
			return nil, errf("_native_multi_head_attention(): embed_dim %d is not a multiple of num_head %d", e, heads)
		}
		for i, t := range []*tensor.Tensor{c.T(5), c.T(6)} {
			if t.Shape[0] != 3*e {
				return nil, errf("_native_multi_head_attention(): Expected %s to have %d rows, three times embed_dim, but got size %s", []string{"qkv_weight", "qkv_bias"}[i], 3*e, tensor.ShapeText(t.Shape))
			}
		}
		if m := c.T(9); m != nil && c.I(12) == 1 && m.Dim() != 2 {
			return nil, errf("_native_multi_head_attention(): Expected mask to have 2 dimensions, but got size %s", tensor.ShapeText(m.Shape))
		}
		n, l := q.Shape[0], q.Shape[1]
		var parts []Value
		qkvW := must(c.do("split.Tensor", c.Args[5], e, int64(0)))
		qkvB := must(c.do("split.Tensor", c.Args[6], e, int64(0)))
		ws, ok := qkvW.([]Value)
		bs, ok2 := qkvB.([]Value)
		if !ok || !ok2 {
			return nil, errf("_native_multi_head_attention(): bad projection weights")
		}
		for i, x := range c.Args[:3] {
			p := must(c.do("linear", x, ws[i], bs[i]))
			t := must(c.do("view", p, ints([]int64{n, x.(*tensor.Tensor).Shape[1], heads, e / heads})))
			parts = append(parts, must(c.do("transpose.int", t, int64(1), int64(2))))
		}
		a := must(c.do("matmul", must(c.do("mul.Scalar", parts[0], 1/math.Sqrt(float64(e/heads)))), must(c.do("transpose.int", parts[1], int64(2), int64(3)))))
		if m := c.T(9); m != nil {
			mv := Value(m)
			switch c.I(12) {
			case 1: // key padding (N, S)
				mv = must(c.do("view", m, ints([]int64{m.Shape[0], 1, 1, m.Shape[1]})))
			}
			if m.DType == tensor.Bool {
				a = must(c.do("masked_fill.Scalar", a, mv, math.Inf(-1)))
			} else {
				a = must(c.do("add.Tensor", a, mv))
			}
		}
		w := must(c.do("_softmax", a, int64(-1), false))
		o := must(c.do("matmul", w, parts[2]))
		o = must(c.do("reshape", must(c.do("transpose.int", o, int64(1), int64(2))), ints([]int64{n, l, e})))
		o, err := c.do("linear", o, c.Args[7], c.Args[8])
		if err != nil {
			return nil, err
		}
		if !c.B(10) {
			return []Value{o, c.NewC(q.DType, 0)}, nil
		}
		if c.B(11) {
			w, err = c.do("mean.dim", w, ints([]int64{1}), false)
		}
		return []Value{o, w}, err
	})
	def("_transformer_encoder_layer_fwd", func(c *Call) (Value, error) {
		x := Value(c.T(0))
		e := c.I(1)
		gelu, first, eps := c.B(7), c.B(8), c.F(9)
		norm := func(x Value, w, b int) Value {
			return must(c.do("layer_norm", x, ints([]int64{e}), c.Args[w], c.Args[b], eps))
		}
		attn := func(y Value) Value {
			r, err := c.do("_native_multi_head_attention", y, y, y, e, c.I(2), c.Args[3], c.Args[4], c.Args[5], c.Args[6], c.Args[18], false, true, c.opt("mask_type"))
			if err != nil {
				return err
			}
			return r.([]Value)[0]
		}
		ffn := func(y Value) Value {
			h := must(c.do("linear", y, c.Args[14], c.Args[15]))
			if gelu {
				h = must(c.do("gelu", h))
			} else {
				h = must(c.do("relu", h))
			}
			return must(c.do("linear", h, c.Args[16], c.Args[17]))
		}
		add := func(a, b Value) Value { return must(c.do("add.Tensor", a, b)) }
		if first {
			x = add(x, attn(norm(x, 10, 11)))
			x = add(x, ffn(norm(x, 12, 13)))
		} else {
			x = norm(add(x, attn(x)), 10, 11)
			x = norm(add(x, ffn(x)), 12, 13)
		}
		if err, ok := x.(error); ok {
			return nil, err
		}
		return x, nil
	})
}

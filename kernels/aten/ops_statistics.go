package aten

import (
	"math"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Statistics of samples: covariance, quantiles, distances between vectors. NaN in a sample is NaN in what is computed of it, but for the nan-
// forms, which leave it out.

// asksForTruth is the error of an operator that decides by whether a fake tensor is true: PyTorch compares it with one that is.
func asksForTruth() error { return &Error{Kind: DataDependentError, Msg: "aten.equal.default"} }

// unknown is whether what is in a tensor is not known, and not only hidden by a level of vmap.
func unknown(t *tensor.Tensor) bool { return t.Fake && t.Wraps == nil }

func statistics() {
	comp("nanmean", func(c *Call) (Value, error) {
		n := must(c.via("sum.dim_IntList", must(c.via("logical_not", must(c.via("isnan", c.Args[0])))), c.Args[1], c.Args[2]))
		return c.via("div.Tensor", must(c.via("nansum", c.Args...)), n)
	})
	quantile := func(c *Call, qv Value, ignore bool) (Value, error) {
		t := c.T(0)
		q, isT := qv.(*tensor.Tensor)
		if !isT {
			if q = tensor.Full(t.DType, toFloat(qv)); t.Fake {
				v, err := c.via("scalar_tensor", toFloat(qv), t.DType)
				if err != nil {
					return nil, err
				}
				q = v.(*tensor.Tensor)
			}
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
		if q.DType != t.DType {
			return nil, errf("quantile() q tensor must be same dtype as the input tensor")
		}
		if how := c.Str(4); !slices.Contains([]string{"linear", "lower", "higher", "midpoint", "nearest"}, how) {
			return nil, errf("quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got %s", how)
		}
		if unknown(q) || unknown(t) {
			return nil, asksForTruth()
		}
		if !q.Fake {
			for _, x := range c.floats(q) {
				if !(x >= 0 && x <= 1) {
					return nil, errf("quantile() q values must be in the range [0, 1]")
				}
			}
		}
		return quantiles(c, t, q, ignore)
	}
	comp("quantile quantile.scalar", func(c *Call) (Value, error) { return quantile(c, c.Args[1], false) })
	comp("nanquantile nanquantile.scalar", func(c *Call) (Value, error) { return quantile(c, c.Args[1], true) })
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
		if unknown(xt) { // it asks whether any degrees of freedom are left
			return nil, asksForTruth()
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
		if t, ok := wd.(*tensor.Tensor); ok && isComplex(t) {
			wd = must(c.via("conj", wd))
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
		xs := c.floats(t)
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

// distance is the p-norm of the difference of two vectors.
func distance(a, b []float64, p float64) float64 {
	b = b[:len(a)]
	switch p {
	case 0, 1:
		s, t := [2]float64{}, 0.0
		if p == 0 {
			for i, x := range a {
				if x != b[i] {
					t++
				}
			}
			return t
		}
		i := 0
		for ; i+1 < len(a); i += 2 {
			s[0] += math.Abs(a[i] - b[i])
			s[1] += math.Abs(a[i+1] - b[i+1])
		}
		for ; i < len(a); i++ {
			s[0] += math.Abs(a[i] - b[i])
		}
		return s[0] + s[1]
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return vectorNorm(d, p)
}

// differenceOf is what the p-norm of a difference gathers, and what is made of it; ok is false where there is no kernel for it.
func differenceOf(p float64) (kind native.Difference, finish func(float64) float64, ok bool) {
	same := func(x float64) float64 { return x }
	switch {
	case p == 0:
		return native.ApartNonzeros, same, true
	case p == 1:
		return native.ApartSizes, same, true
	case p == 2:
		return native.ApartSquares, math.Sqrt, true
	case math.IsInf(p, 1):
		return native.ApartGreatest, same, true
	}
	return 0, nil, false
}

func distances() {
	comp("cdist", func(c *Call) (Value, error) {
		if c.F(2) < 0 {
			return nil, errf("cdist only supports non-negative p values")
		}
		return c.via("_cdist_forward", c.Args...)
	})
	dist := distance
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
		if kind, finish, ok := differenceOf(p); ok && p != 2 && a.DType == tensor.Float32 && b.DType == tensor.Float32 && k >= 8 {
			as := tensor.Raw[float32](a.Expand(append(slices.Clone(batch), n, k)).Contiguous())
			bs := tensor.Raw[float32](b.Expand(append(slices.Clone(batch), m, k)).Contiguous())
			to := o.Float32s()
			parallel.For(int(tensor.Numel(batch)*n), int(grain/(m*k+1)+1), func(lo, hi int) {
				sums := make([]float64, m)
				for r := int64(lo); r < int64(hi); r++ {
					native.Differences(kind, sums, as[r*k:(r+1)*k], bs[r/n*m*k:(r/n+1)*m*k], int(k))
					for j, s := range sums {
						to[r*m+int64(j)] = float32(finish(s))
					}
				}
			})
			return o, nil
		}
		as := c.floats(a.Expand(append(slices.Clone(batch), n, k)))
		bs := c.floats(b.Expand(append(slices.Clone(batch), m, k)))
		out := c.zeros(o.Numel())
		if p == 2 && o.DType != tensor.Float64 {
			for q := range tensor.Numel(batch) {
				euclid(out[q*n*m:(q+1)*n*m], as[q*n*k:(q+1)*n*k], bs[q*m*k:(q+1)*m*k], int(n), int(m), int(k))
			}
			o.SetFloats(out)
			return o, nil
		}
		parallel.For(len(out), int(grain/(k+1)+1), func(lo, hi int) {
			for i := int64(lo); i < int64(hi); i++ {
				q := i / (n * m)
				r, s := i/m%n, i%m
				out[i] = dist(as[(q*n+r)*k:(q*n+r+1)*k], bs[(q*m+s)*k:(q*m+s+1)*k], p)
			}
		})
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
			if p == 2 && o.DType == tensor.Float32 && (n > 25 || m > 25) { // as many as the distances are computed of by a product
				x, y, g, d := c.dense(a.Expand(sh), a.DType), c.dense(b.Expand(append(slices.Clone(batch), m, k)), a.DType), c.dense(g, a.DType), c.dense(c.T(4), a.DType)
				for q := range tensor.Numel(batch) {
					euclidBack32(o.Float32s()[q*n*k:(q+1)*n*k], x.Float32s()[q*n*k:], y.Float32s()[q*m*k:(q+1)*m*k], g.Float32s()[q*n*m:(q+1)*n*m], d.Float32s()[q*n*m:(q+1)*n*m], int(n), int(m), int(k))
				}
				return o, nil
			}
			as, bs, gs, ds := c.floats(a.Expand(sh)), c.floats(b.Expand(append(slices.Clone(batch), m, k))), c.floats(g), c.floats(c.T(4))
			out := c.zeros(o.Numel())
			if p == 2 && o.DType != tensor.Float64 {
				for q := range tensor.Numel(batch) {
					euclidBack(out[q*n*k:(q+1)*n*k], as[q*n*k:(q+1)*n*k], bs[q*m*k:(q+1)*m*k], gs[q*n*m:(q+1)*n*m], ds[q*n*m:(q+1)*n*m], int(n), int(m), int(k))
				}
				o.SetFloats(out)
				return o, nil
			}
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
			if kind, finish, ok := differenceOf(p); ok && a.DType == tensor.Float32 && k >= 8 {
				xs, to := tensor.Raw[float32](a.Contiguous()), o.Float32s()
				parallel.For(int(n), int(grain/(n*k+1)+1), func(lo, hi int) {
					sums := make([]float64, n)
					for i := int64(lo); i < int64(hi)-b2i(int64(hi) == n); i++ {
						some, at := sums[:n-i-1], i*(2*n-i-1)/2
						native.Differences(kind, some, xs[i*k:(i+1)*k], xs[(i+1)*k:], int(k))
						for j, s := range some {
							to[at+int64(j)] = float32(finish(s))
						}
					}
				})
				return o, nil
			}
			xs := c.floats(a)
			out := c.zeros(o.Numel())
			parallel.For(int(n), int(grain/(n*k+1)+1), func(lo, hi int) {
				for i := int64(lo); i < int64(hi); i++ {
					at := i * (2*n - i - 1) / 2 // before it are n-1, n-2 and so on
					for j := i + 1; j < n; j++ {
						out[at+j-i-1] = dist(xs[i*k:(i+1)*k], xs[j*k:(j+1)*k], p)
					}
				}
			})
			o.SetFloats(out)
		}
		return o, nil
	})
	def("_pdist_backward", func(c *Call) (Value, error) {
		g, a, p, d := c.T(0), c.T(1), c.F(2), c.T(3)
		o := c.NewC(a.DType, a.Shape...)
		if c.real {
			n, k := a.Shape[0], a.Shape[1]
			xs, gs, ds := c.floats(a), c.floats(g), c.floats(d)
			out := c.zeros(int64(len(xs)))
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
		if a.Dim() != b.Dim() {
			return nil, errf("linalg.cross: inputs must have the same number of dimensions.")
		}
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

// quantiles sorts rows of x along a last dimension, picks the elements at the ranks that q names, and goes between neighbours as argument 4 says.
func quantiles(c *Call, x, q *tensor.Tensor, ignore bool) (Value, error) {
	last := int64(-1)
	var rows Value
	whole, keep, nd := c.None(2), c.B(3), x.Dim()
	dim, err := wrapDim(c.I(2), int64(nd))
	switch {
	case err != nil:
		return nil, err
	case whole:
		rows = must(c.via("flatten.using_ints", x, int64(0), last))
	default:
		rows = must(c.via("transpose.int", must(c.via("unsqueeze", x, last)), dim, last))
	}
	s := must(c.via("sort", rows, last, false))
	if err, ok := s.(error); ok {
		return nil, err
	}
	sorted := s.([]Value)[0].(*tensor.Tensor)
	n := sorted.Shape[sorted.Dim()-1]
	nan := must(c.via("isnan", sorted))
	ranks := Value(q)
	if q.Dim() == 0 {
		ranks = must(c.via("unsqueeze", q, int64(0)))
	}
	if ignore {
		// The rank is among the numbers; 0 where there are none, which is NaN.
		valid := must(c.via("sub.Tensor", must(c.via("sum.dim_IntList", must(c.via("logical_not", nan)), ints([]int64{last}), true)), int64(1)))
		ranks = must(c.via("mul.Tensor", ranks, valid))
		ranks = must(c.via("masked_fill.Scalar", ranks, must(c.via("lt.Scalar", ranks, int64(0))), int64(0)))
	} else {
		// NaN is sorted last: a row with one has it as every quantile.
		any := must(c.via("any.dim", nan, last, true))
		ranks = must(c.via("mul.Tensor", ranks, n-1))
		pair := must(c.via("broadcast_tensors", []Value{ranks, any}))
		if err, ok := pair.(error); ok {
			return nil, err
		}
		ranks = must(c.via("masked_fill.Scalar", pair.([]Value)[0], pair.([]Value)[1], n-1))
	}
	how := c.Str(4)
	if op := map[string]string{"lower": "floor", "higher": "ceil", "nearest": "round"}[how]; op != "" {
		ranks = must(c.via(op, ranks))
	}
	index := func(r Value) Value { return must(c.via("_to_copy", r, tensor.Int64)) }
	below := index(ranks)
	v := must(c.via("gather", sorted, last, below))
	if how == "linear" || how == "midpoint" {
		weight := must(c.via("sub.Tensor", ranks, below))
		if how == "midpoint" {
			weight = must(c.via("full_like", ranks, 0.5))
		}
		v = must(c.via("lerp.Tensor", v, must(c.via("gather", sorted, last, index(must(c.via("ceil", ranks))))), weight))
	}
	if err, ok := v.(error); ok {
		return nil, err
	}
	t := v.(*tensor.Tensor)
	switch {
	case whole && keep:
		shape := append(slices.Repeat([]int64{1}, nd), t.Shape[0])
		v = must(c.via("reshape", v, ints(shape)))
	case !whole && !keep && nd > 0:
		v = must(c.via("squeeze.dim", v, dim))
	}
	if q.Dim() == 0 {
		return c.via("squeeze.dim", v, last)
	}
	return c.via("movedim.int", v, last, int64(0))
}

// euclid fills d (n x m) with the distances of the rows of a from those of b, of k elements, by one product: of float32 numbers the difference of
// squares in float64 leaves enough, and what is too near for that is calculated as it is.
func euclid(d, a, b []float64, n, m, k int) {
	sa, sb := make([]float64, n), make([]float64, m)
	native.ReduceRows(native.Squares, sa, a, nil, k, k)
	native.ReduceRows(native.Squares, sb, b, nil, k, k)
	native.Gemm64(n, m, k, -2, native.Matrix[float64]{Data: a, RS: k, CS: 1}, native.Matrix[float64]{Data: b, RS: 1, CS: k}, 0, native.Matrix[float64]{Data: d, RS: m, CS: 1})
	parallel.For(n, int(grain/(m+1)+1), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := d[r*m : (r+1)*m]
			for s := range row {
				sum := sa[r] + sb[s]
				x := sum + row[s]
				if !(x > 1e-5*sum) { // NaN, too
					x = 0
					for j := range k {
						e := a[r*k+j] - b[s*k+j]
						x += e * e
					}
				}
				row[s] = x
			}
			native.Unary64(native.Sqrt, row, row)
		}
	})
}

// euclidBack is the gradient of the rows of a: the sum of (a-b)*g/d over the rows of b, where d is not 0.
func euclidBack(out, a, b, g, d []float64, n, m, k int) {
	w, sum := make([]float64, n*m), make([]float64, n)
	for i, x := range d {
		if x != 0 {
			w[i] = g[i] / x
		}
	}
	native.ReduceRows(native.Sum, sum, w, nil, m, m)
	for r := range n {
		for j := range k {
			out[r*k+j] = sum[r] * a[r*k+j]
		}
	}
	native.Gemm64(n, k, m, -1, native.Matrix[float64]{Data: w, RS: m, CS: 1}, native.Matrix[float64]{Data: b, RS: k, CS: 1}, 1, native.Matrix[float64]{Data: out, RS: k, CS: 1})
}

// euclidBack32 is euclidBack in float32, as PyTorch has it.
func euclidBack32(out, a, b, g, d []float32, n, m, k int) {
	w, sum := make([]float32, n*m), make([]float64, n)
	parallel.For(n, grain/m+1, func(lo, hi int) {
		w, d := w[lo*m:hi*m], d[lo*m:hi*m]
		native.Binary32(native.Div, w, g[lo*m:hi*m], d)
		for i, x := range d {
			if x == 0 {
				w[i] = 0
			}
		}
	})
	native.ReduceRows(native.Sum, sum, w, nil, m, m)
	for r := range n {
		s := float32(sum[r])
		for j := range k {
			out[r*k+j] = s * a[r*k+j]
		}
	}
	native.Gemm32(n, k, m, -1, native.Matrix[float32]{Data: w, RS: m, CS: 1}, native.Matrix[float32]{Data: b, RS: k, CS: 1}, 1, native.Matrix[float32]{Data: out, RS: k, CS: 1})
}

package aten

import (
	"math"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Softmax, and normalisation by mean and variance: batch, layer, group. Statistics are accumulated in float64, but where a SIMD kernel does
// whole rows of float32. Softmax subtracts the largest element first, so that nothing overflows; a row of nothing but -inf is NaN, as in
// PyTorch, save for _safe_softmax, which gives zeros.
//
// In training, batch norm divides by the number of elements for the result and by one less for the running variance.

// softmaxLine computes softmax or log-softmax of one line in place.
func softmaxLine(l []float64, logarithm bool) {
	m := math.Inf(-1)
	for _, x := range l {
		m = max(m, x)
	}
	s := 0.0
	for i, x := range l {
		e := math.Exp(x - m)
		s += e
		if logarithm {
			l[i] = x - m
		} else {
			l[i] = e
		}
	}
	ls := math.Log(s)
	for i := range l {
		if logarithm {
			l[i] -= ls
		} else {
			l[i] /= s
		}
	}
}

func init() {
	soft := func(name string, logarithm bool) {
		def(name, func(c *Call) (Value, error) {
			t := c.T(0)
			d, err := wrapDim(c.I(1), int64(t.Dim()))
			if err != nil {
				return nil, err
			}
			if c.B(2) {
				return nil, errf("softmax with half to float conversion is not supported on CPU")
			}
			if !t.DType.IsFloat() {
				n := "softmax_kernel_impl"
				if t.Dim() > 0 && int(d) == t.Dim()-1 {
					n = "softmax_lastdim_kernel_impl"
				}
				if logarithm && int(d) == max(t.Dim(), 1)-1 {
					n = "log_" + n
				}
				return nil, kindf(RuntimeError, "\"%s\" not implemented for '%s'", n, cName(t.DType))
			}
			o := c.NewUnset(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape))
			if !c.real || t.Numel() == 0 {
				return o, nil
			}
			if x := t.Float32s(); x != nil && t.Dim() > 0 && int(d) == t.Dim()-1 && o.Float32s() != nil {
				native.SoftmaxRows32(o.Float32s(), x, int(t.Shape[d]), logarithm)
				return o, nil
			}
			switch {
			case t.Dim() == 0:
			case t.DType == tensor.Float32:
				softmaxAlong(o, t, d, logarithm, native.SoftmaxRows32)
				return o, nil
			case t.DType == tensor.Float64:
				softmaxAlong(o, t, d, logarithm, native.SoftmaxRows[float64])
				return o, nil
			}
			if t.DType.IsSmallFloat() && t.Dim() > 0 { // turned, so that its lines are contiguous, and in float32
				x := swapped(t, d)
				y := tensor.EmptyUnset(tensor.Float32, x.Shape, tensor.ContiguousStrides(x.Shape))
				tensor.Copy(y, x)
				native.SoftmaxRows32(y.Float32s(), y.Float32s(), int(t.Shape[d]), logarithm)
				tensor.Copy(swapped(o, d), y)
				return o, nil
			}
			lines(t, d, func(off, st, n, k int64) {
				b := make([]float64, n)
				tensor.LoadFloat(t, off, st, b)
				softmaxLine(b, logarithm)
				oo, os := lineAt(o, d, k)
				tensor.StoreFloat(o, oo, os, b)
			})
			return o, nil
		})
		def(name+"_backward_data", func(c *Call) (Value, error) {
			g, y := c.T(0), c.T(1)
			d, err := wrapDim(c.I(2), int64(g.Dim()))
			if err != nil {
				return nil, err
			}
			o := c.NewC(c.DT(3), g.Shape...)
			if !c.real || g.Numel() == 0 {
				return o, nil
			}
			if gx, yx, dx := g.Float32s(), y.Float32s(), o.Float32s(); gx != nil && yx != nil && dx != nil && int(d) == g.Dim()-1 {
				softmaxBackRows(dx, gx, yx, int(g.Shape[d]), logarithm)
				return o, nil
			}
			if inner := inside(g, d); g.DType == y.DType && o.DType == y.DType && inner >= 8 && tensor.SameShape(g, y) && o.IsContiguous(tensor.ContiguousFormat) {
				switch n := inner * g.Shape[d]; g.DType {
				case tensor.Float32:
					gx, yx := tensor.Raw[float32](c.dense(g, g.DType)), tensor.Raw[float32](c.dense(y, y.DType))
					eachPlane(g.Numel()/n, n, func(q int64) {
						native.SoftmaxBackCols(o.Float32s()[q*n:(q+1)*n], gx[q*n:(q+1)*n], yx[q*n:(q+1)*n], int(inner), logarithm)
					})
					return o, nil
				case tensor.Float64:
					to, gx, yx := tensor.Raw[float64](o), tensor.Raw[float64](c.dense(g, g.DType)), tensor.Raw[float64](c.dense(y, y.DType))
					eachPlane(g.Numel()/n, n, func(q int64) {
						native.SoftmaxBackCols(to[q*n:(q+1)*n], gx[q*n:(q+1)*n], yx[q*n:(q+1)*n], int(inner), logarithm)
					})
					return o, nil
				}
			}
			if g.DType == tensor.Float32 && y.DType == tensor.Float32 && o.DType == tensor.Float32 && g.Dim() > 1 && g.Numel() >= grain && tensor.SameShape(g, y) {
				gx, yx := lastly(g, d), lastly(y, d)
				dx := tensor.EmptyUnset(tensor.Float32, gx.Shape, gx.Stride)
				softmaxBackRows(dx.Float32s(), gx.Float32s(), yx.Float32s(), int(g.Shape[d]), logarithm)
				tensor.Copy(swapped(o, d), dx)
				return o, nil
			}
			lines(g, d, func(off, st, n, k int64) {
				a, b := make([]float64, n), make([]float64, n)
				tensor.LoadFloat(g, off, st, a)
				yo, ys := lineAt(y, d, k)
				tensor.LoadFloat(y, yo, ys, b)
				s := 0.0
				for i := range a {
					if logarithm {
						s += a[i]
					} else {
						s += a[i] * b[i]
					}
				}
				for i := range a {
					if logarithm {
						a[i] -= math.Exp(b[i]) * s
					} else {
						a[i] = (a[i] - s) * b[i]
					}
				}
				oo, os := lineAt(o, d, k)
				tensor.StoreFloat(o, oo, os, a)
			})
			return o, nil
		})
	}
	soft("_softmax", false)
	soft("_log_softmax", true)
	for _, n := range []string{"softmax", "log_softmax"} {
		comp(n+".int", func(c *Call) (Value, error) {
			x := c.Args[0]
			if !c.None(2) && c.DT(2) != c.T(0).DType {
				var err error
				if x, err = c.via("_to_copy", x, c.DT(2)); err != nil {
					return nil, err
				}
			}
			return c.via("_"+n, x, c.Args[1], false)
		})
	}
	comp("special_softmax", func(c *Call) (Value, error) { return c.via("softmax.int", c.Args...) })
	comp("special_log_softmax", func(c *Call) (Value, error) { return c.via("log_softmax.int", c.Args...) })
	def("_safe_softmax", func(c *Call) (Value, error) {
		v, err := c.doT("softmax.int", c.Args...)
		if err != nil || !c.real || v.Numel() == 0 {
			return v, err
		}
		d, _ := wrapDim(c.I(1), int64(v.Dim()))
		x := c.T(0)
		if all := v.Float32s(); all != nil && !slices.ContainsFunc(all, func(y float32) bool { return y != y }) {
			return v, nil // lines of nothing but -inf have NaN
		}
		lines(x, d, func(off, st, n, k int64) {
			b := make([]float64, n)
			tensor.LoadFloat(x, off, st, b)
			for _, e := range b {
				if !math.IsInf(e, -1) {
					return
				}
			}
			o, s := lineAt(v, d, k)
			tensor.StoreFloat(v, o, s, make([]float64, n))
		})
		return v, nil
	})
	layerNorms()
	batchNorms()
	groupNorms()
}

// swapped is t with dimension d in the place of the last one.
func swapped(t *tensor.Tensor, d int64) *tensor.Tensor {
	v, last := tensor.NewView(t, t.Shape, t.Stride, t.Offset), t.Dim()-1
	v.Shape[d], v.Shape[last], v.Stride[d], v.Stride[last] = v.Shape[last], v.Shape[d], v.Stride[last], v.Stride[d]
	return v
}

// inside is how many elements lie side by side in a contiguous tensor of t's shape, in one place along dimension d.
func inside(t *tensor.Tensor, d int64) int64 {
	if t.Dim() == 0 {
		return 1
	}
	return tensor.Numel(t.Shape[d+1:])
}

// softmaxAlong computes o, which is contiguous, of t along dimension d: by rows where the lines along d are or become some, else as columns of contiguous matrices.
func softmaxAlong[T float32 | float64](o, t *tensor.Tensor, d int64, logarithm bool, rows func(out, a []T, cols int, logarithm bool)) {
	n, inner := t.Shape[d], inside(t, d)
	if inner > 1 && inner < 8 { // columns are too few
		x := lastly(t, d)
		y := tensor.EmptyUnset(t.DType, x.Shape, x.Stride)
		rows(tensor.Raw[T](y), tensor.Raw[T](x), int(n), logarithm)
		tensor.Copy(swapped(o, d), y)
		return
	}
	t, done := lent(t)
	defer done()
	y, x := tensor.Raw[T](o), tensor.Raw[T](t)
	if inner == 1 {
		rows(y, x, int(n), logarithm)
		return
	}
	eachPlane(t.Numel()/(n*inner), n*inner, func(q int64) {
		native.SoftmaxCols(y[q*n*inner:(q+1)*n*inner], x[q*n*inner:(q+1)*n*inner], int(inner), logarithm)
	})
}

// lastly is swapped, so that lines along d are rows.
func lastly(t *tensor.Tensor, d int64) *tensor.Tensor { return swapped(t, d).Contiguous() }

// softmaxBackRows is the gradient of a softmax, or of its logarithm, over contiguous rows of cols elements, y being its result.
func softmaxBackRows(dx, g, y []float32, cols int, logarithm bool) {
	parallel.For(len(g)/max(cols, 1), grain/max(cols, 1)+1, func(lo, hi int) {
		var sum [1]float64
		for r := lo * cols; r < hi*cols; r += cols {
			gr, yr := g[r:r+cols], y[r:r+cols]
			if logarithm {
				native.ReduceRows(native.Sum, sum[:], gr, nil, cols, cols)
				native.Point(native.LogSoftmaxBack, dx[r:r+cols], [][]float32{gr, yr}, sum[:])
			} else {
				native.DotRows(sum[:], gr, yr, cols)
				native.Point(native.SoftmaxBack, dx[r:r+cols], [][]float32{gr, yr}, sum[:])
			}
		}
	})
}

func layerNorms() {
	def("native_layer_norm", func(c *Call) (Value, error) {
		t, ns, w, b, eps := c.T(0), c.Ints(1), c.T(2), c.T(3), c.F(4)
		if len(ns) == 0 {
			return nil, errf("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []")
		}
		for name, p := range map[string]*tensor.Tensor{"weight": w, "bias": b} {
			if p != nil && !tensor.SameShape(p, &tensor.Tensor{Shape: ns}) {
				return nil, errf("Expected %s to be of same shape as normalized_shape, but got %s of shape %s and normalized_shape = %s", name, name, tensor.ShapeText(p.Shape), tensor.ShapeText(ns))
			}
		}
		k := t.Dim() - len(ns)
		if k < 0 || !tensor.SameShape(&tensor.Tensor{Shape: t.Shape[k:]}, &tensor.Tensor{Shape: ns}) {
			txt := ""
			for _, n := range ns {
				txt += ", " + tensor.ShapeText([]int64{n})[1:]
				txt = txt[:len(txt)-1]
			}
			return nil, errf("Given normalized_shape=%s, expected input with shape [*%s], but got input of size%s", tensor.ShapeText(ns), txt, tensor.ShapeText(t.Shape))
		}
		if err := sameAsParameters(t, w, b); err != nil {
			return nil, err
		}
		cols := tensor.Numel(ns)
		rows := tensor.Numel(t.Shape[:k])
		o := c.NewUnset(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape))
		sd := t.DType
		if (sd == tensor.BFloat16 || sd == tensor.Float16) && (w != nil && w.DType == tensor.Float32 || b != nil && b.DType == tensor.Float32) {
			sd = tensor.Float32
		}
		ss := append([]int64{}, t.Shape[:k]...)
		for range ns {
			ss = append(ss, 1)
		}
		mean, rstd := c.NewC(sd, ss...), c.NewC(sd, ss...)
		if !c.real || rows == 0 {
			return []Value{o, mean, rstd}, nil
		}
		if cols == 0 {
			mean.Fill(math.NaN())
			rstd.Fill(math.NaN())
			return []Value{o, mean, rstd}, nil
		}
		if t.DType.IsSmallFloat() {
			get := func(p *tensor.Tensor) []float32 {
				if p == nil {
					return nil
				}
				return inFloat32(p).Float32s()
			}
			y, mu, rs := asFloat32(o), asFloat32(mean), asFloat32(rstd)
			native.NormRows32(y.Float32s(), mu.Float32s(), rs.Float32s(), inFloat32(t).Float32s(), get(w), get(b), int(cols), float32(eps))
			for i, r := range []*tensor.Tensor{o, mean, rstd} {
				if from := []*tensor.Tensor{y, mu, rs}[i]; from != r {
					tensor.Copy(r, from)
				}
			}
			return []Value{o, mean, rstd}, nil
		}
		x := c.floats(t)
		y, mu, rs := c.zeros(int64(len(x))), c.zeros(int64(rows)), c.zeros(int64(rows))
		native.NormRowsGo(y, mu, rs, x, floatsOf(w), floatsOf(b), int(cols), eps)
		o.SetFloats(y)
		mean.SetFloats(mu)
		rstd.SetFloats(rs)
		return []Value{o, mean, rstd}, nil
	})
	def("native_layer_norm_backward", func(c *Call) (Value, error) {
		g, t, ns, mean, rstd, w, b := c.T(0), c.T(1), c.Ints(2), c.T(3), c.T(4), c.T(5), c.T(6)
		mask := boolMask(c.Args[7])
		cols := tensor.Numel(ns)
		var gi, gw, gb *tensor.Tensor
		if mask[0] {
			gi = c.New(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape))
		}
		// PyTorch's fake tensors say that the gradients of weight and bias are of the input's type, which they are not.
		kind := func(p *tensor.Tensor) tensor.DType {
			if c.real {
				return p.DType
			}
			return t.DType
		}
		if mask[1] && w != nil {
			gw = c.NewC(kind(w), ns...)
		}
		if mask[2] && b != nil {
			gb = c.NewC(kind(b), ns...)
		}
		if !c.real || t.Numel() == 0 {
			return list(gi, gw, gb), nil
		}
		rowNormBackward(gi, gw, gb, t, g, mean, rstd, w, int(cols), 0)
		return list(gi, gw, gb), nil
	})
	comp("layer_norm", func(c *Call) (Value, error) {
		v, err := c.via("native_layer_norm", c.Args[:5]...)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	comp("rms_norm", func(c *Call) (Value, error) {
		t, ns := c.T(0), c.Ints(1)
		eps := min(t.DType.Epsilon(), tensor.Float32.Epsilon()) // half precision is computed in float32
		if !c.None(3) {
			eps = c.F(3)
		}
		x := Value(t)
		if t.DType == tensor.BFloat16 || t.DType == tensor.Float16 {
			x = must(c.via("_to_copy", t, tensor.Float32))
		}
		var dims []int64
		for i := range ns {
			dims = append(dims, int64(t.Dim()-len(ns)+i))
		}
		m := must(c.via("mean.dim", must(c.via("pow.Tensor_Scalar", x, int64(2))), ints(dims), true))
		r := must(c.via("rsqrt", must(c.via("add.Scalar", m, eps))))
		y := must(c.via("mul.Tensor", x, r))
		if w := c.T(2); w != nil {
			y = must(c.via("mul.Tensor", y, w))
		}
		if yt, ok := y.(*tensor.Tensor); ok && yt.DType != t.DType {
			return c.via("_to_copy", y, t.DType)
		}
		if e, ok := y.(error); ok {
			return nil, e
		}
		return y, nil
	})
}

// inFloat32 is t, of a small dtype, contiguous and in float32: itself if it is that.
func inFloat32(t *tensor.Tensor) *tensor.Tensor {
	if t.DType == tensor.Float32 {
		return t.Contiguous()
	}
	w := tensor.EmptyUnset(tensor.Float32, t.Shape, tensor.ContiguousStrides(t.Shape))
	tensor.Copy(w, t)
	return w
}

// asFloat32 is memory for what will be t's elements, contiguous and in float32: t itself if it is that.
func asFloat32(t *tensor.Tensor) *tensor.Tensor {
	if t.DType == tensor.Float32 && t.IsContiguous(tensor.ContiguousFormat) {
		return t
	}
	return tensor.EmptyUnset(tensor.Float32, t.Shape, tensor.ContiguousStrides(t.Shape))
}

func setIf(t *tensor.Tensor, xs []float64) {
	if t != nil {
		t.SetFloats(xs)
	}
}

func floatsOf(t *tensor.Tensor) []float64 {
	if t == nil {
		return nil
	}
	return t.Floats()
}

// boolMask is output_mask: which of three gradients are wanted.
func boolMask(v Value) [3]bool {
	var m [3]bool
	if l, ok := v.([]Value); ok {
		for i := range m {
			if i < len(l) {
				m[i], _ = l[i].(bool)
			}
		}
	}
	return m
}

// channels splits a tensor (N, C, ...) into its sizes.
func channels(t *tensor.Tensor) (n, ch, inner int64) {
	n, ch, inner = 1, 1, 1
	if t.Dim() > 0 {
		n = t.Shape[0]
	}
	if t.Dim() > 1 {
		ch = t.Shape[1]
		inner = tensor.Numel(t.Shape[2:])
	}
	return
}

// batchNorm computes out, and in training mode the saved mean and inverse deviation and new running statistics.
func batchNorm(c *Call, t, w, b, rm, rv *tensor.Tensor, training bool, momentum, eps float64, update bool) (out, mean, invstd *tensor.Tensor, nrm, nrv []float64, err error) {
	n, ch, inner := channels(t)
	for _, p := range []struct {
		name string
		t    *tensor.Tensor
	}{{"running_mean", rm}, {"running_var", rv}, {"weight", w}, {"bias", b}} {
		if p.t != nil && (p.t.Numel() != ch || ch == 0 && p.t.Dim() != 1) {
			return nil, nil, nil, nil, nil, errf("%s should contain %d elements not %d", p.name, ch, p.t.Numel())
		}
	}
	if !training && (rm == nil || rv == nil) {
		what := "running_mean"
		if rm != nil {
			what = "running_var"
		}
		return nil, nil, nil, nil, nil, errf("%s must be defined in evaluation mode", what)
	}
	out = c.NewUnset(t.DType, t.Shape, tensor.FormatStrides(t.Shape, t.SuggestMemoryFormat()))
	sd := t.DType
	if w != nil && w.DType != t.DType {
		sd = w.DType
	} else if rm != nil && rm.DType != t.DType {
		sd = rm.DType
	}
	if training {
		mean, invstd = c.NewC(sd, ch), c.NewC(sd, ch)
	} else {
		mean, invstd = c.NewC(sd, 0), c.NewC(sd, 0)
	}
	if !c.real {
		return
	}
	shape := bnShape{n, ch, inner}
	if t.DType == tensor.Float64 {
		nrm, nrv = bnForward[float64](shape, t, w, b, rm, rv, out, mean, invstd, training, momentum, eps)
	} else {
		m, v := bnForward[float32](shape, t, w, b, rm, rv, out, mean, invstd, training, momentum, eps)
		nrm, nrv = widened(m), widened(v)
	}
	if training && update {
		setIf(rm, nrm)
		setIf(rv, nrv)
	}
	return
}

func widened(xs []float32) []float64 {
	if xs == nil {
		return nil
	}
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = float64(x)
	}
	return out
}

func torchSize(s []int64) string { return "torch.Size(" + tensor.ShapeText(s) + ")" }

func batchNorms() {
	run := func(c *Call, rm, rv *tensor.Tensor, training bool, mom, eps float64) (Value, error) {
		o, m, s, _, _, err := batchNorm(c, c.T(0), c.T(1), c.T(2), rm, rv, training, mom, eps, true)
		if training {
			for _, r := range []*tensor.Tensor{rm, rv} {
				if r != nil {
					c.bump(r)
				}
			}
		}
		return list(o, m, s), err
	}
	def("native_batch_norm _native_batch_norm_legit", func(c *Call) (Value, error) {
		return run(c, c.T(3), c.T(4), c.B(5), c.F(6), c.F(7))
	})
	def("_native_batch_norm_legit.no_stats", func(c *Call) (Value, error) { return run(c, nil, nil, c.B(3), c.F(4), c.F(5)) })
	def("_native_batch_norm_legit_no_training", func(c *Call) (Value, error) {
		return run(c, c.T(3), c.T(4), false, c.F(5), c.F(6))
	})
	functional := func(c *Call, training bool, mom, eps float64, reserve bool) (Value, error) {
		o, m, s, nm, nv, err := batchNorm(c, c.T(0), c.T(1), c.T(2), c.T(3), c.T(4), training, mom, eps, false)
		if err != nil {
			return nil, err
		}
		rm, err := c.doT("clone", c.Args[3], nil)
		if err != nil {
			return nil, err
		}
		rv, err := c.doT("clone", c.Args[4], nil)
		if err != nil {
			return nil, err
		}
		if c.real && training {
			rm.SetFloats(nm)
			rv.SetFloats(nv)
		}
		if reserve {
			return list(o, m, s, c.NewC(tensor.UInt8, 0), rm, rv), nil
		}
		return list(o, m, s, rm, rv), nil
	}
	def("_native_batch_norm_legit_functional", func(c *Call) (Value, error) { return functional(c, c.B(5), c.F(6), c.F(7), false) })
	def("_batch_norm_with_update_functional", func(c *Call) (Value, error) { return functional(c, true, c.F(5), c.F(6), true) })
	def("_batch_norm_with_update", func(c *Call) (Value, error) {
		v, err := run(c, c.T(3), c.T(4), true, c.F(5), c.F(6))
		if err != nil {
			return nil, err
		}
		return append(v.([]Value), c.NewC(tensor.UInt8, 0)), nil
	})
	def("_batch_norm_no_update", func(c *Call) (Value, error) {
		v, err := run(c, c.T(3), c.T(4), false, c.F(5), c.F(6))
		if err != nil {
			return nil, err
		}
		return append(v.([]Value), c.NewC(tensor.UInt8, 0)), nil
	})
	back := func(c *Call, g, t, w, rm, rv, sm, si *tensor.Tensor, train bool, eps float64, mask [3]bool) (Value, error) {
		n, ch, inner := channels(t)
		if train && (sm == nil || si == nil) || !train && (rm == nil || rv == nil) {
			return nil, errf("%s(): the mean and the variance that were used are needed: saved ones in training, running ones otherwise", c.Op.Sig().Name)
		}
		var gi, gw, gb *tensor.Tensor
		sd := t.DType
		if w != nil {
			sd = w.DType
		}
		if mask[0] {
			gi = c.New(t.DType, t.Shape, tensor.FormatStrides(t.Shape, t.SuggestMemoryFormat()))
		}
		if mask[1] {
			gw = c.NewC(sd, ch)
		}
		if mask[2] {
			gb = c.NewC(sd, ch)
		}
		if !c.real {
			return list(gi, gw, gb), nil
		}
		shape := bnShape{n, ch, inner}
		if t.DType == tensor.Float64 {
			bnGradients[float64](shape, g, t, w, rm, rv, sm, si, gi, gw, gb, train, eps)
		} else {
			bnGradients[float32](shape, g, t, w, rm, rv, sm, si, gi, gw, gb, train, eps)
		}
		return list(gi, gw, gb), nil
	}
	def("native_batch_norm_backward", func(c *Call) (Value, error) {
		return back(c, c.T(0), c.T(1), c.T(2), c.T(3), c.T(4), c.T(5), c.T(6), c.B(7), c.F(8), boolMask(c.Args[9]))
	})
	def("batch_norm_backward", func(c *Call) (Value, error) {
		return back(c, c.T(0), c.T(1), c.T(2), c.T(3), c.T(4), c.T(5), c.T(6), c.B(7), c.F(8), boolMask(c.Args[9]))
	})
	comp("batch_norm", func(c *Call) (Value, error) {
		if t := c.T(0); t.Numel() == 0 {
			// Nothing to normalise, but a gradient flows through weight and bias.
			v := must(c.via("clone", t))
			if !c.None(1) {
				v = must(c.via("mul.Tensor", v, must(c.via("select.int", c.Args[1], int64(0), int64(0)))))
			}
			if !c.None(2) {
				v = must(c.via("add.Tensor", v, must(c.via("select.int", c.Args[2], int64(0), int64(0)))))
			}
			return c.must2(v)
		}
		v, err := c.via("native_batch_norm", c.Args[:8]...)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	comp("_batch_norm_impl_index", func(c *Call) (Value, error) {
		v, err := c.via("native_batch_norm", c.Args[:8]...)
		if err != nil {
			return nil, err
		}
		reserve, err := c.via("empty.memory_format", ints([]int64{0}), tensor.UInt8)
		return append(v.([]Value), reserve, int64(0)), err
	})
	comp("instance_norm", func(c *Call) (Value, error) {
		t, w, b, rm, rv := c.T(0), c.T(1), c.T(2), c.T(3), c.T(4)
		n, ch, _ := channels(t)
		shape := append([]int64{1, n * ch}, t.Shape[2:]...)
		rep := func(p *tensor.Tensor) Value {
			if p == nil {
				return nil
			}
			return must(c.via("repeat", p, ints([]int64{n})))
		}
		wr, br, mr, vr := rep(w), rep(b), rep(rm), rep(rv)
		x := must(c.via("view", must(c.via("contiguous", t)), ints(shape)))
		o := must(c.via("batch_norm", x, wr, br, mr, vr, c.Args[5], c.Args[6], c.Args[7], c.Args[8]))
		for i, r := range []*tensor.Tensor{rm, rv} {
			if r == nil {
				continue
			}
			src := []Value{mr, vr}[i]
			m := must(c.via("mean.dim", must(c.via("view", src, ints([]int64{n, ch}))), ints([]int64{0}), false))
			if _, err := c.via("copy_", must(c.via("alias", r)), m); err != nil {
				return nil, err
			}
		}
		return c.via("view", o, ints(t.Shape))
	})
}

// groupNorm writes to o the elements of t as norm has them for each group, and then scaled and shifted by channel.
func groupNorm[T float32 | float64](o, mean, rstd, t, w, b *tensor.Tensor, groups int64, s bnShape, norm func(y, mu, rs, x []T)) {
	x, ws, bs := valuesOf[T](t), valuesOf[T](w), valuesOf[T](b)
	mu, rs, y := make([]T, groups), make([]T, groups), own[T](o)
	if y == nil {
		y = make([]T, len(x))
	}
	norm(y, mu, rs, x)
	if ws != nil || bs != nil {
		bnNests(s, func(at, of func(x []T) native.Lane[T], _, _, n, rows int64) {
			row := at(y)
			if ws != nil {
				native.BinaryRows(native.Mul, row, row, of(ws), n, rows)
			}
			if bs != nil {
				native.BinaryRows(native.Add, row, row, of(bs), n, rows)
			}
		})
	}
	setValues(o, y)
	setValues(mean, mu)
	setValues(rstd, rs)
}

func groupNorms() {
	def("native_group_norm", func(c *Call) (Value, error) {
		t, w, b, n, ch, hw, g, eps := c.T(0), c.T(1), c.T(2), c.I(3), c.I(4), c.I(5), c.I(6), c.F(7)
		for i, p := range []*tensor.Tensor{w, b} {
			if p != nil && (p.Dim() != 1 || p.Numel() != ch) {
				return nil, errf("Expected %s to be a vector of size equal to the number of channels in input, but got %s of shape %s and input of shape %s", []string{"weight", "bias"}[i], []string{"weight", "bias"}[i], tensor.ShapeText(p.Shape), tensor.ShapeText(t.Shape))
			}
		}
		if g <= 0 || ch%g != 0 {
			return nil, errf("Expected number of channels in input to be divisible by num_groups, but got input of shape %s and num_groups=%d", tensor.ShapeText(t.Shape), g)
		}
		if t.Numel() != n*ch*hw {
			return nil, errf("native_group_norm(): Expected input of %d elements, but got %s", n*ch*hw, tensor.ShapeText(t.Shape))
		}
		if err := sameAsParameters(t, w, b); err != nil {
			return nil, err
		}
		o := c.NewUnset(t.DType, t.Shape, tensor.FormatStrides(t.Shape, t.SuggestMemoryFormat()))
		sd := t.DType
		if w != nil {
			sd = w.DType
		}
		mean, rstd := c.NewC(sd, n, g), c.NewC(sd, n, g)
		if !c.real || t.Numel() == 0 {
			return list(o, mean, rstd), nil
		}
		cols := int(ch / g * hw)
		if wide(t) == tensor.Float32 {
			groupNorm(o, mean, rstd, t, w, b, n*g, bnShape{n, ch, hw}, func(y, mu, rs, x []float32) { native.NormRows32(y, mu, rs, x, nil, nil, cols, float32(eps)) })
		} else {
			groupNorm(o, mean, rstd, t, w, b, n*g, bnShape{n, ch, hw}, func(y, mu, rs, x []float64) { native.NormRowsGo(y, mu, rs, x, nil, nil, cols, eps) })
		}
		return list(o, mean, rstd), nil
	})
	def("native_group_norm_backward", func(c *Call) (Value, error) {
		gr, t, mean, rstd, w, ch, hw := c.T(0), c.T(1), c.T(2), c.T(3), c.T(4), c.I(6), c.I(7)
		mask := boolMask(c.Args[9])
		var gi, gw, gb *tensor.Tensor
		sd := t.DType
		if w != nil {
			sd = w.DType
		}
		if mask[0] {
			gi = c.New(t.DType, t.Shape, tensor.FormatStrides(t.Shape, t.SuggestMemoryFormat()))
		}
		if mask[1] {
			gw = c.NewC(sd, ch)
		}
		if mask[2] {
			gb = c.NewC(sd, ch)
		}
		if !c.real || t.Numel() == 0 {
			return list(gi, gw, gb), nil
		}
		rowNormBackward(gi, gw, gb, t, gr, mean, rstd, w, int(ch), int(hw))
		return list(gi, gw, gb), nil
	})
	comp("group_norm", func(c *Call) (Value, error) {
		t, g, w, b := c.T(0), c.I(1), c.Args[2], c.Args[3]
		n, ch, hw := channels(t)
		if g <= 0 || ch%g != 0 {
			return nil, errf("Expected number of channels in input to be divisible by num_groups, but got input of shape %s and num_groups=%d", tensor.ShapeText(t.Shape), g)
		}
		x := Value(t)
		if t.SuggestMemoryFormat() == tensor.ContiguousFormat {
			x = must(c.via("contiguous", t))
		}
		v, err := c.via("native_group_norm", x, w, b, n, ch, hw, g, c.Args[4])
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
}

// rowNormBackward is the backward of a norm over rows of contiguous elements behind g, into those of dx, dw and db that are there. Layer norm has a
// weight for each element of a row, and run 0; group norm one for each channel, a run of so many elements.
func rowNormBackward(dx, dw, db, x, g, mean, rstd, w *tensor.Tensor, params, run int) {
	d := wide(x)
	xc, gc, mc, rc, out := dense(x, d), dense(g, d), dense(mean, d), dense(rstd, d), dx
	if dx == nil || dx.DType != d || !dx.IsContiguous(tensor.ContiguousFormat) {
		out = tensor.EmptyUnset(d, x.Shape, tensor.ContiguousStrides(x.Shape))
	}
	var wc *tensor.Tensor
	if w != nil {
		wc = dense(w, d)
	}
	gw, gb := make([]float64, params), make([]float64, params)
	cols := int(x.Numel() / mean.Numel())
	if d == tensor.Float32 {
		native.NormBack32(out.Float32s(), xc.Float32s(), gc.Float32s(), mc.Float32s(), rc.Float32s(), valuesOf[float32](wc), gw, gb, cols, run)
	} else {
		normBack64(out.Float64s(), xc.Float64s(), gc.Float64s(), mc.Float64s(), rc.Float64s(), valuesOf[float64](wc), gw, gb, cols, run)
	}
	if dx != nil && out != dx {
		tensor.Copy(dx, out)
	}
	setIf(dw, gw)
	setIf(db, gb)
}

// normBack64 is native.NormBack32 for float64.
func normBack64(dx, x, g, mean, rstd, weight, dw, db []float64, cols, run int) {
	for r := range mean {
		s1, s2 := 0.0, 0.0
		param := func(i int) int {
			if run > 0 {
				return i / run % len(dw)
			}
			return i % cols
		}
		for i := r * cols; i < (r+1)*cols; i++ {
			gy, xh := g[i], (x[i]-mean[r])*rstd[r]
			dw[param(i)] += gy * xh
			db[param(i)] += gy
			if weight != nil {
				gy *= weight[param(i)]
			}
			s1 += gy
			s2 += gy * xh
		}
		for i := r * cols; i < (r+1)*cols; i++ {
			gy, xh := g[i], (x[i]-mean[r])*rstd[r]
			if weight != nil {
				gy *= weight[param(i)]
			}
			dx[i] = rstd[r] * (gy - (s1+xh*s2)/float64(cols))
		}
	}
}

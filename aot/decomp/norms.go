package decomp

import (
	"whittle/aot"
	"whittle/aot/build"
	"whittle/kernels/tensor"
)

// norms holds normalisation by mean and variance. Statistics come from one var_mean, with the divisor n; 16-bit inputs are computed in
// float32, and running variances are corrected to n-1. The gradients are the closed forms: with xh the normalised input, dx = rstd * (g -
// mean(g) - xh*mean(g*xh)).
func norms() {
	row("native_layer_norm.default", func(b b_, a []val) val {
		x := in(a[0])
		d := x.DType
		n := len(build.ToInts(a[1]))
		xf := x
		if d == tensor.BFloat16 || d == tensor.Float16 {
			xf = cast(b, x, tensor.Float32)
		}
		var dims []val
		for i := len(x.Shape) - n; i < len(x.Shape); i++ {
			dims = append(dims, int64(i))
		}
		vm := b.M("var_mean.correction", xf, dims, int64(0), true)
		rstd := b.Un("rsqrt", b.Add(vm[0], a[4]))
		out := b.Mul(b.Sub(xf, vm[1]), rstd)
		if a[2] != nil {
			out = b.Mul(out, a[2])
		}
		if a[3] != nil {
			out = b.Add(out, a[3])
		}
		return []val{cast(b, out, d), vm[1], rstd}
	})
	row("native_layer_norm_backward.default", func(b b_, a []val) val {
		g, x, mean, rstd := in(a[0]), in(a[1]), in(a[3]), in(a[4])
		mask := a[7].([]val)
		n := int64(len(build.ToInts(a[2])))
		axis := int64(len(x.Shape)) - n
		var inner, outer []val
		N := int64(1)
		for i := int64(0); i < int64(len(x.Shape)); i++ {
			if i >= axis {
				inner = append(inner, i)
				N *= x.Shape[i]
			} else {
				outer = append(outer, i)
			}
		}
		d := x.DType
		if d == tensor.BFloat16 || d == tensor.Float16 {
			g, x = cast(b, g, tensor.Float32), cast(b, x, tensor.Float32)
		}
		xhat := b.Mul(b.Sub(x, mean), rstd)
		gx := g
		if a[5] != nil {
			gx = b.Mul(g, a[5])
		}
		var dx, dw, db val
		if mask[0] == true {
			p := b.Mul(gx, N)
			q := b.T("sum.dim_IntList", gx, inner, true)
			r := b.Mul(xhat, b.T("sum.dim_IntList", b.Mul(gx, xhat), inner, true))
			dx = cast(b, b.Mul(b.Div(rstd, N), b.Sub(b.Sub(p, q), r)), d)
		}
		reduce := func(t tt) tt {
			if len(outer) > 0 {
				t = b.T("sum.dim_IntList", t, outer, false)
			}
			return t
		}
		if mask[1] == true && a[5] != nil {
			dw = cast(b, reduce(b.Mul(g, xhat)), in(a[5]).DType)
		}
		if mask[2] == true && a[6] != nil {
			db = cast(b, reduce(g), in(a[6]).DType)
		}
		return []val{dx, dw, db}
	})
	chan_ := func(b b_, v val, n int) tt {
		t := in(v)
		for i := 0; i < n-2; i++ {
			t = b.T("unsqueeze.default", t, int64(-1))
		}
		return t
	}
	affine := func(b b_, x, w, bias val) tt {
		out := in(x)
		n := len(out.Shape)
		if w != nil {
			out = b.Mul(out, chan_(b, w, n))
		}
		if bias != nil {
			out = b.Add(out, chan_(b, bias, n))
		}
		return out
	}
	bnTrain := func(b b_, x tt, w, bias, rm, rv val, momentum, eps val) []val {
		d := x.DType
		if d == tensor.BFloat16 || d == tensor.Float16 {
			x = cast(b, x, tensor.Float32)
		}
		dims := []val{int64(0)}
		count := x.Shape[0]
		for i := 2; i < len(x.Shape); i++ {
			dims = append(dims, int64(i))
			count *= x.Shape[i]
		}
		vm := b.M("var_mean.correction", x, dims, int64(0), true)
		rstd := b.Un("rsqrt", b.Add(vm[0], eps))
		out := cast(b, affine(b, b.Mul(b.Sub(x, vm[1]), rstd), w, bias), d)
		sm := b.T("squeeze.dims", vm[1], dims)
		si := b.T("squeeze.dims", rstd, dims)
		var nrm, nrv val
		m := build.Float(momentum)
		if rm != nil {
			nrm = b.Add(b.Mul(sm, m), b.Mul(in(rm), 1-m))
		}
		if rv != nil {
			v := b.Mul(b.T("squeeze.dims", vm[0], dims), float64(count)/float64(count-1))
			nrv = b.Add(b.Mul(v, m), b.Mul(in(rv), 1-m))
		}
		return []val{out, sm, si, nrm, nrv}
	}
	bnEval := func(b b_, x tt, w, bias, rm, rv, eps val) []val {
		d := x.DType
		n := len(x.Shape)
		rm, rv = b.Prim("convert_element_type.default", rm, in(rm).DType), b.Prim("convert_element_type.default", rv, in(rv).DType)
		inv := b.Mul(b.Un("reciprocal", b.Un("sqrt", b.Add(in(rv), eps))), int64(1))
		out := b.Mul(b.Sub(x, chan_(b, rm, n)), chan_(b, inv, n))
		e := full(b, []int64{0}, 0.0, tensor.Float32)
		return []val{cast(b, affine(b, out, w, bias), d), e, e}
	}
	row("_native_batch_norm_legit_functional.default", func(b b_, a []val) val {
		if a[5] == true {
			return bnTrain(b, in(a[0]), a[1], a[2], a[3], a[4], a[6], a[7])
		}
		r := bnEval(b, in(a[0]), a[1], a[2], a[3], a[4], a[7])
		return append(r, a[3], a[4])
	})
	row("_native_batch_norm_legit.no_stats", func(b b_, a []val) val {
		return bnTrain(b, in(a[0]), a[1], a[2], nil, nil, a[4], a[5])[:3]
	})
	row("_native_batch_norm_legit_no_training.default", func(b b_, a []val) val {
		return bnEval(b, in(a[0]), a[1], a[2], a[3], a[4], a[6])
	})
	row("native_batch_norm_backward.default", func(b b_, a []val) val {
		g, x := in(a[0]), in(a[1])
		n := len(x.Shape)
		dims := []val{int64(0)}
		count := x.Shape[0]
		for i := 2; i < n; i++ {
			dims = append(dims, int64(i))
			count *= x.Shape[i]
		}
		mean, rstd := a[5], a[6]
		if a[7] != true {
			mean = a[3]
			rstd = b.Un("rsqrt", b.Add(in(a[4]), a[8]))
		}
		lead := func(t val) tt { return chan_(b, b.T("unsqueeze.default", t, int64(0)), n+1-1) }
		xm := b.Sub(x, lead(mean))
		gs := b.T("sum.dim_IntList", g, dims)
		dot := b.T("sum.dim_IntList", b.Mul(g, xm), dims)
		norm := 1 / float64(count)
		var dx tt
		scale := in(rstd)
		if a[2] != nil {
			scale = lead(b.Mul(scale, a[2]))
		} else {
			scale = b.Mul(lead(scale), 1.0)
		}
		if a[7] == true {
			gm := lead(b.Mul(gs, norm))
			proj := lead(b.Mul(b.Mul(dot, norm), b.Mul(in(rstd), rstd)))
			dx = b.Mul(b.Sub(b.Sub(g, b.Mul(xm, proj)), gm), scale)
		} else {
			dx = b.Mul(g, scale)
		}
		mask := a[9].([]val)
		var dw, db val
		if mask[1] == true {
			dw = b.Mul(dot, rstd)
		}
		if mask[2] == true {
			db = gs
		}
		return []val{cast(b, dx, x.DType), dw, db}
	})
	row("native_group_norm.default", func(b b_, a []val) val {
		x := in(a[0])
		N, C, HW, G := a[3].(int64), a[4].(int64), a[5].(int64), a[6].(int64)
		r := b.T("view.default", x, build.Ints([]int64{N, G, C / G, HW}))
		if !x.IsContiguous(tensor.ContiguousFormat) {
			return aot.Declined{}
		}
		vm := b.M("var_mean.correction", r, []val{int64(2), int64(3)}, int64(0), true)
		rstd := b.Un("rsqrt", b.Add(vm[0], a[7]))
		out := b.T("view.default", b.Mul(b.Sub(r, vm[1]), rstd), build.Ints(x.Shape))
		w := func(v val) tt {
			t := b.T("unsqueeze.default", v, int64(0))
			for i := 2; i < len(x.Shape); i++ {
				t = b.T("unsqueeze.default", t, int64(i))
			}
			return t
		}
		if a[1] != nil {
			out = b.Mul(out, w(a[1]))
		}
		if a[2] != nil {
			out = b.Add(out, w(a[2]))
		}
		sq := []val{int64(2), int64(3)}
		return []val{out, b.T("squeeze.dims", vm[1], sq), b.T("squeeze.dims", rstd, sq)}
	})
	row("std_mean.correction", func(b b_, a []val) val {
		r := b.M("var_mean.correction", a...)
		return []val{b.Un("sqrt", r[0]), r[1]}
	})
	row("std.correction", func(b b_, a []val) val {
		return b.Un("sqrt", b.T("var.correction", a[0], a[1], a[2], a[3]))
	})
}

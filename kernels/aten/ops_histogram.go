package aten

import (
	"math"
	"sort"

	"whittle/kernels/tensor"
)

// Histograms in one and several dimensions. The last bin includes its upper edge; what lies outside, and NaN, is not counted.

// histogramRange is the interval that bins cover along dimension d of points [n, dims].
func histogramRange(xs []float64, dims, d int, given []float64) (lo, hi float64, err error) {
	if given != nil {
		lo, hi = given[2*d], given[2*d+1]
		if !(lo <= hi) {
			return 0, 0, errf("torch.histogramdd: left bound %g must not be larger than right bound %g", lo, hi)
		}
	} else if len(xs) == 0 {
		return 0, 1, nil
	} else {
		lo, hi = math.Inf(1), math.Inf(-1)
		for i := d; i < len(xs); i += dims {
			lo, hi = nanMin(lo, xs[i]), nanMax(hi, xs[i])
		}
	}
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) || lo != lo || hi != hi {
		return 0, 0, errf("torch.histogramdd: range of [%g, %g] is not finite", lo, hi)
	}
	if lo == hi {
		lo, hi = lo-0.5, hi+0.5
	}
	return lo, hi, nil
}

// linearEdges are n+1 edges of equal distance, as linspace makes them for dtype d.
func linearEdges(lo, hi float64, n int64, d tensor.DType) []float64 {
	out := make([]float64, n+1)
	step := (hi - lo) / float64(n)
	if d == tensor.Float32 {
		step = float64((float32(hi) - float32(lo)) / float32(n))
	}
	for i := range out {
		if int64(i) < (n+1)/2 {
			out[i] = tensor.RoundTo(d, lo+step*float64(i))
		} else {
			out[i] = tensor.RoundTo(d, hi-step*float64(n-int64(i)))
		}
	}
	return out
}

// bin finds x among ascending edges, -1 for outside.
func bin(edges []float64, x float64) int64 {
	n := len(edges) - 1
	if n < 1 || !(x >= edges[0] && x <= edges[n]) {
		return -1
	}
	if x == edges[n] {
		return int64(n - 1)
	}
	// Most edges are evenly spaced: the bin is that which they would have, or one beside it.
	if g := int((x - edges[0]) / (edges[n] - edges[0]) * float64(n)); g >= 0 && g < n {
		if x < edges[g] && g > 0 {
			g--
		} else if x >= edges[g+1] {
			g++
		}
		if edges[g] <= x && x < edges[g+1] {
			return int64(g)
		}
	}
	return int64(sort.Search(len(edges), func(i int) bool { return edges[i] > x }) - 1)
}

// histogram counts points [n, dims] into bins; weights may be nil. Densities divide by the total and the volume of each bin.
func histogram(xs []float64, edges [][]float64, weights []float64, density bool) []float64 {
	dims, total := len(edges), int64(1)
	for _, e := range edges {
		total *= int64(len(e) - 1)
	}
	out := make([]float64, total)
	for p := 0; dims > 0 && p*dims < len(xs); p++ {
		at := int64(0)
		for d, e := range edges {
			b := bin(e, xs[p*dims+d])
			if b < 0 {
				at = -1
				break
			}
			at = at*int64(len(e)-1) + b
		}
		if at < 0 {
			continue
		}
		if weights != nil {
			out[at] += weights[p]
		} else {
			out[at]++
		}
	}
	if density {
		sum := 0.0
		for _, x := range out {
			sum += x
		}
		for i := range out {
			v, r := out[i]/sum, int64(i)
			for d := dims - 1; d >= 0; d-- {
				n := int64(len(edges[d]) - 1)
				k := r % n
				r /= n
				v /= edges[d][k+1] - edges[d][k]
			}
			out[i] = v
		}
	}
	return out
}

func histogramOps() {
	check := func(c *Call, t *tensor.Tensor, w *tensor.Tensor) error {
		if t.DType != tensor.Float32 && t.DType != tensor.Float64 {
			return noKernel("histogramdd", t)
		}
		if w != nil && w.DType != t.DType {
			return errf("torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype")
		}
		return nil
	}
	def("histogram.bin_ct histogram.bins_tensor", func(c *Call) (Value, error) {
		t := c.T(0)
		w, _ := c.opt("weight").(*tensor.Tensor)
		if err := check(c, t, w); err != nil {
			return nil, err
		}
		density, _ := c.opt("density").(bool)
		var n int64
		bt, byEdges := c.Args[1].(*tensor.Tensor)
		if byEdges {
			if bt.Dim() != 1 || bt.Shape[0] < 2 {
				return nil, errf("torch.histogramdd: bins tensor should have at least 2 elements along one dimension, got %s", tensor.ShapeText(bt.Shape))
			}
			n = bt.Shape[0] - 1
		} else if n = c.I(1); n <= 0 {
			return nil, errf("torch.histogramdd(): bins must be > 0, but got %d", n)
		}
		if w != nil && w.Numel() != t.Numel() {
			return nil, errf("torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, but got input with shape %s and weight with shape %s", tensor.ShapeText(t.Shape), tensor.ShapeText(w.Shape))
		}
		h, e := c.NewC(t.DType, n), c.NewC(t.DType, n+1)
		if byEdges {
			e = c.New(t.DType, bt.Shape, tensor.PreservedStrides(bt.Shape, bt.Stride))
		}
		if !c.real {
			return list(h, e), nil
		}
		xs := c.floats(t)
		var edges []float64
		if byEdges {
			edges = c.floats(bt)
		} else {
			given := c.Floats(2)
			if given != nil && len(given) != 2 {
				return nil, errf("torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got %d", len(given))
			}
			lo, hi, err := histogramRange(xs, 1, 0, given)
			if err != nil {
				return nil, err
			}
			edges = linearEdges(lo, hi, n, t.DType)
		}
		e.SetFloats(edges)
		h.SetFloats(histogram(xs, [][]float64{edges}, floatsOf(w), density))
		return list(h, e), nil
	})
	points := func(t, w *tensor.Tensor, dims int) error {
		if t.Dim() < 2 {
			return errf("torch.histogramdd: input tensor should have at least 2 dimensions, but got %d", t.Dim())
		}
		if n := t.Shape[t.Dim()-1]; n != int64(dims) {
			return errf("torch.histogramdd: expected %d sequences of bin edges for a %d-dimensional histogram but got %d", n, n, dims)
		}
		if w != nil && w.Numel()*int64(dims) != t.Numel() {
			return errf("torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, but got input with shape %s and weight with shape %s", tensor.ShapeText(t.Shape), tensor.ShapeText(w.Shape))
		}
		return nil
	}
	binEdges := func(c *Call, t *tensor.Tensor, bins []int64) ([]*tensor.Tensor, [][]float64, error) {
		w, _ := c.opt("weight").(*tensor.Tensor)
		if err := points(t, w, len(bins)); err != nil {
			return nil, nil, err
		}
		var ts []*tensor.Tensor
		var es [][]float64
		var xs []float64
		if c.real {
			xs = c.floats(t)
		}
		given, _ := c.opt("range").([]Value)
		var r []float64
		for _, v := range given {
			r = append(r, toFloat(v))
		}
		if r != nil && len(r) != 2*len(bins) {
			return nil, nil, errf("torch.histogramdd: for a %d-dimensional histogram range should have %d elements, but got %d", len(bins), 2*len(bins), len(r))
		}
		for d, n := range bins {
			if n <= 0 {
				return nil, nil, errf("torch.histogramdd(): bins must be > 0, but got %d for dimension %d", n, d)
			}
			e := c.NewC(t.DType, n+1)
			ts = append(ts, e)
			if !c.real {
				continue
			}
			lo, hi, err := histogramRange(xs, len(bins), d, r)
			if err != nil {
				return nil, nil, err
			}
			es = append(es, linearEdges(lo, hi, n, t.DType))
			e.SetFloats(es[d])
		}
		return ts, es, nil
	}
	count := func(c *Call, t *tensor.Tensor, bins []int64, edges [][]float64) *tensor.Tensor {
		o := c.NewC(t.DType, bins...)
		if c.real {
			w, _ := c.opt("weight").(*tensor.Tensor)
			density, _ := c.opt("density").(bool)
			o.SetFloats(histogram(c.floats(t), edges, floatsOf(w), density))
		}
		return o
	}
	def("_histogramdd_bin_edges", func(c *Call) (Value, error) {
		w, _ := c.opt("weight").(*tensor.Tensor)
		if err := check(c, c.T(0), w); err != nil {
			return nil, err
		}
		ts, _, err := binEdges(c, c.T(0), c.Ints(1))
		return list(ts...), err
	})
	def("_histogramdd_from_bin_cts", func(c *Call) (Value, error) {
		w, _ := c.opt("weight").(*tensor.Tensor)
		if err := check(c, c.T(0), w); err != nil {
			return nil, err
		}
		_, es, err := binEdges(c, c.T(0), c.Ints(1))
		if err != nil {
			return nil, err
		}
		return count(c, c.T(0), c.Ints(1), es), nil
	})
	def("_histogramdd_from_bin_tensors", func(c *Call) (Value, error) {
		t, bins := c.T(0), c.Ts(1)
		w, _ := c.opt("weight").(*tensor.Tensor)
		if err := check(c, t, w); err != nil {
			return nil, err
		}
		if err := points(t, w, len(bins)); err != nil {
			return nil, err
		}
		var n []int64
		var es [][]float64
		for _, b := range bins {
			if b.Dim() != 1 || b.Shape[0] < 2 {
				return nil, errf("torch.histogramdd: bins tensor should have at least 2 elements along one dimension, got %s", tensor.ShapeText(b.Shape))
			}
			n = append(n, b.Numel()-1)
			es = append(es, c.floats(b))
		}
		return count(c, t, n, es), nil
	})
	comp("histogramdd histogramdd.int_bins", func(c *Call) (Value, error) {
		bins := c.Ints(1)
		if t := c.T(0); c.Op.Sig().Overload == "int_bins" && t.Dim() > 0 {
			bins = fill(nil, int(t.Shape[t.Dim()-1]), bins[0])
		}
		e, err := c.via("_histogramdd_bin_edges", c.Args[0], ints(bins), c.Args[2], c.Args[3], c.Args[4])
		if err != nil {
			return nil, err
		}
		h, err := c.via("_histogramdd_from_bin_cts", c.Args[0], ints(bins), c.Args[2], c.Args[3], c.Args[4])
		return []Value{h, e}, err
	})
	comp("histogramdd.TensorList_bins", func(c *Call) (Value, error) {
		h, err := c.via("_histogramdd_from_bin_tensors", c.Args[0], c.Args[1], c.Args[3], c.Args[4])
		return []Value{h, c.Args[1]}, err
	})
}

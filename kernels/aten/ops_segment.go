package aten

import (
	"math"
	"slices"

	"whittle/kernels/tensor"
)

// Reductions over consecutive segments, and over positions that a mask allows.

// segments is a call of segment_reduce taken apart: data as [outer, n, inner], and the bounds of each outer row's segments.
type segments struct {
	outer, n, inner, count int64
	bounds                 [][]int64 // per outer row, count+1 positions; nil when the call is fake
	shape                  []int64   // of the result
}

func (c *Call) segments(data *tensor.Tensor, unsafe bool) (segments, error) {
	var s segments
	axis, err := wrapDim(toInt(c.opt("axis")), int64(data.Dim()))
	if err != nil {
		return s, err
	}
	if data.Numel() < 0 || data.Dim() == 0 {
		return s, errf("segment_reduce(): data needs at least one dimension")
	}
	lengths, _ := c.opt("lengths").(*tensor.Tensor)
	offs, _ := c.opt("offsets").(*tensor.Tensor)
	by := lengths
	if offs != nil {
		by = offs
	}
	if by == nil {
		return s, errf("segment_reduce(): Either lengths or offsets must be defined.")
	}
	what := "lengths"
	if offs != nil {
		what = "offsets"
	}
	if by.Dim() != int(axis)+1 {
		return s, errf("segment_reduce(): Expected axis to be the last dimension of %s but got %d.", what, axis)
	}
	if !slices.Equal(by.Shape[:axis], data.Shape[:axis]) {
		return s, errf("segment_reduce(): Expected data and %s to have the same size in all dimensions but the last", what)
	}
	s.outer, s.n, s.inner = tensor.Numel(data.Shape[:axis]), data.Shape[axis], tensor.Numel(data.Shape[axis+1:])
	s.count = by.Shape[axis]
	if offs != nil {
		if s.count--; s.count < 0 {
			return s, errf("segment_reduce(): Expected offsets to hold at least one position, but got size %s", tensor.ShapeText(offs.Shape))
		}
	}
	s.shape = append(append(slices.Clone(data.Shape[:axis]), s.count), data.Shape[axis+1:]...)
	if !c.real {
		return s, nil
	}
	vals := by.Ints()
	w := by.Shape[axis]
	for o := int64(0); o < s.outer; o++ {
		row := vals[o*w : (o+1)*w]
		b := slices.Clone(row)
		if offs == nil {
			b = make([]int64, 1, w+1)
			at := int64(0)
			for _, l := range row {
				if l < 0 {
					return s, errf("lengths contains negative value!")
				}
				at += l
				b = append(b, at)
			}
			if !unsafe && at != s.n {
				return s, errf("segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.")
			}
		}
		for i := 1; i < len(b); i++ {
			if b[i] < b[i-1] || b[i-1] < 0 || b[i] > s.n {
				return s, errf("segment_reduce(): segment %d lies outside of the data", i-1)
			}
		}
		s.bounds = append(s.bounds, b)
	}
	return s, nil
}

func segmentOps() {
	def("segment_reduce", func(c *Call) (Value, error) {
		data, mode := c.T(0), c.Str(1)
		if !data.DType.IsFloat() {
			return nil, noKernel("_segment_reduce_cpu", data)
		}
		if !slices.Contains([]string{"max", "mean", "min", "sum", "prod"}, mode) {
			return nil, errf("unsupported reduction given! %s", mode)
		}
		s, err := c.segments(data, c.B(6))
		if err != nil {
			return nil, err
		}
		o := c.NewC(data.DType, s.shape...)
		if !c.real {
			return o, nil
		}
		xs, out := c.floats(data), c.zeros(o.Numel())
		start := map[string]float64{"max": math.Inf(-1), "min": math.Inf(1), "prod": 1}[mode]
		initial := c.opt("initial")
		if initial != nil {
			start = toFloat(initial)
		}
		for i := int64(0); i < s.outer; i++ {
			for g := int64(0); g < s.count; g++ {
				lo, hi := s.bounds[i][g], s.bounds[i][g+1]
				for j := int64(0); j < s.inner; j++ {
					v := start
					for k := lo; k < hi; k++ {
						x := xs[(i*s.n+k)*s.inner+j]
						switch mode {
						case "max":
							v = nanMax(v, x)
						case "min":
							v = nanMin(v, x)
						case "prod":
							v *= x
						default:
							v += x
						}
					}
					if mode == "mean" {
						switch {
						case hi > lo && v == v:
							v /= float64(hi - lo)
						case hi == lo && initial == nil:
							v = math.NaN()
						}
					}
					out[(i*s.count+g)*s.inner+j] = v
				}
			}
		}
		o.SetFloats(out)
		return o, nil
	})
	def("_segment_reduce_backward", func(c *Call) (Value, error) {
		grad, res, data, mode := c.T(0), c.T(1), c.T(2), c.Str(3)
		s, err := c.segments(data, true)
		if err != nil {
			return nil, err
		}
		o := c.NewC(data.DType, data.Shape...)
		if !c.real {
			return o, nil
		}
		gs, rs, xs, out := c.floats(grad), c.floats(res), c.floats(data), c.zeros(data.Numel())
		start := 1.0
		if v := c.opt("initial"); v != nil {
			start = toFloat(v)
		}
		for i := int64(0); i < s.outer; i++ {
			for g := int64(0); g < s.count; g++ {
				lo, hi := s.bounds[i][g], s.bounds[i][g+1]
				for j := int64(0); j < s.inner; j++ {
					at := (i*s.count+g)*s.inner + j
					dy, y := gs[at], rs[at]
					pos := func(k int64) int64 { return (i*s.n+k)*s.inner + j }
					switch mode {
					case "max", "min":
						ties := 0.0
						for k := lo; k < hi; k++ {
							if x := xs[pos(k)]; x != x || x == y {
								ties++
							}
						}
						for k := lo; k < hi; k++ {
							if x := xs[pos(k)]; x != x || x == y {
								out[pos(k)] = dy / max(ties, 1)
							}
						}
					case "prod":
						for k := lo; k < hi; k++ {
							if x := xs[pos(k)]; x == 0 || x != x {
								p := start
								for q := lo; q < hi; q++ {
									if q != k {
										p *= xs[pos(q)]
									}
								}
								out[pos(k)] = dy * p
							} else {
								out[pos(k)] = dy * y / x
							}
						}
					default:
						if mode == "mean" {
							dy /= float64(hi - lo)
						}
						for k := lo; k < hi; k++ {
							out[pos(k)] = dy
						}
					}
				}
			}
		}
		o.SetFloats(out)
		return o, nil
	})
	clampIndices := func(c *Call, self *tensor.Tensor, l Value) (Value, error) {
		var out []Value
		items, _ := l.([]Value)
		for d, v := range items {
			t, ok := v.(*tensor.Tensor)
			if !ok || t == nil {
				out = append(out, nil)
				continue
			}
			if d >= self.Dim() {
				return nil, kindf(IndexError, "too many indices for tensor of dimension %d (got %d)", self.Dim(), len(items))
			}
			n := self.Shape[d]
			x, err := c.via("clamp", t, -n, n-1)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	}
	comp("_unsafe_masked_index", func(c *Call) (Value, error) {
		self, mask := c.T(0), c.T(1)
		if mask.DType != tensor.Bool {
			return nil, errf("tensors used as masks must be bool tensors")
		}
		idx, err := clampIndices(c, self, c.Args[2])
		if err != nil {
			return nil, err
		}
		if self.Numel() == 0 {
			v, err := callOn(Fake, "index.Tensor", []Value{tensor.FakeLike(self), idx})
			if err != nil {
				return nil, err
			}
			return c.via("new_full", self, ints(v.(*tensor.Tensor).Shape), c.Args[3])
		}
		return c.via("masked_fill.Scalar", must(c.via("_unsafe_index.Tensor", self, idx)), must(c.via("logical_not", mask)), c.Args[3])
	})
	comp("_unsafe_masked_index_put_accumulate", func(c *Call) (Value, error) {
		self, mask := c.T(0), c.T(1)
		if mask.DType != tensor.Bool {
			return nil, errf("tensors used as masks must be bool tensors")
		}
		if self.Numel() == 0 {
			return c.via("clone", self)
		}
		idx, err := clampIndices(c, self, c.Args[2])
		if err != nil {
			return nil, err
		}
		vals := must(c.via("masked_fill.Scalar", c.Args[3], must(c.via("logical_not", mask)), int64(0)))
		return c.via("_unsafe_index_put", self, idx, vals, true)
	})
	def("masked_scatter_backward", func(c *Call) (Value, error) {
		g, mask, size := c.T(0), c.T(1), c.Ints(2)
		for _, v := range size {
			if v < 0 {
				return nil, errf("masked_scatter_backward(): negative size %d in sizes", v)
			}
		}
		if s, err := tensor.BroadcastShapes(mask.Shape, g.Shape); err != nil || !slices.Equal(s, g.Shape) {
			return nil, errf("masked_scatter_backward(): mask of size %s does not fit grad_output of size %s", tensor.ShapeText(mask.Shape), tensor.ShapeText(g.Shape))
		}
		n := tensor.Numel(size)
		o := c.NewC(g.DType, size...)
		if !c.real {
			return o, nil
		}
		m := mask.Expand(g.Shape)
		xs, ms, out := c.floats(g), m.Ints(), c.zeros(int64(n))
		k := int64(0)
		for i, b := range ms {
			if b != 0 && k < n {
				out[k] = xs[i]
				k++
			}
		}
		o.SetFloats(out)
		return o, nil
	})
}

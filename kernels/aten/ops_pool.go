package aten

import (
	"fmt"
	"math"
	"slices"

	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Pooling over windows. Windows are clipped to the input; dilation, padding and ceil mode decide how many there are (poolOut). Maxima give
// positions within the plane, save for Inductor's primitives, which count within the window; NaN is greater than all numbers. Averages divide
// by the size of the window, with or without its padding, or by a given divisor. One-dimensional pools are two-dimensional ones of height 1,
// as in PyTorch.

// poolOut is the output size of a pooling window along one dimension.
func poolOut(in, k, pad, stride, dil int64, ceil bool) int64 {
	num := in + 2*pad - dil*(k-1) - 1
	if ceil {
		num += stride - 1
	}
	q := num / stride
	if num%stride != 0 && num < 0 {
		q--
	}
	out := q + 1
	if ceil && (out-1)*stride >= in+pad {
		out--
	}
	return out
}

// planes views t as planes over its last nd dimensions.
func planes(t *tensor.Tensor, nd int) (lead []int64, count int64, spatial []int64) {
	lead = t.Shape[:t.Dim()-nd]
	return lead, tensor.Numel(lead), t.Shape[t.Dim()-nd:]
}

// unravel writes the indices of element i, in row-major order of shape, to out.
func unravel(i int64, shape, out []int64) {
	for d := len(shape) - 1; d >= 0; d-- {
		out[d] = i % shape[d]
		i /= shape[d]
	}
}

// window visits the input positions of a box [lo, hi) stepping dil, with their flat indices.
func window(lo, hi, dil, shape []int64, f func(i int64)) {
	var rec func(d int, base int64)
	rec = func(d int, base int64) {
		if d == len(shape) {
			f(base)
			return
		}
		for y := lo[d]; y < hi[d]; y += dil[d] {
			rec(d+1, base*shape[d]+y)
		}
	}
	rec(0, 0)
}

// A poolSpec is the geometry of a pool: one entry for each spatial dimension. out is the size of its result.
type poolSpec struct {
	k, stride, pad, dil []int64
	ceil                bool
	out                 []int64
}

// poolSpec fills in what a call leaves out, and refuses windows that do not fit; a stride that is not given is the size of the window.
func (c *Call) poolSpec(t *tensor.Tensor, nd int, k, stride, pad, dil []int64, ceil bool) (poolSpec, error) {
	p := poolSpec{k: fill(k, nd, 1), pad: fill(pad, nd, 0), dil: fill(dil, nd, 1), ceil: ceil}
	p.stride = p.k
	if len(stride) > 0 {
		p.stride = fill(stride, nd, 1)
	}
	if t.Dim() != nd+1 && t.Dim() != nd+2 {
		return p, errf("non-empty %dD or %dD (batch mode) tensor expected for input", nd+1, nd+2)
	}
	_, _, in := planes(t, nd)
	for d := range in {
		if p.k[d] <= 0 {
			return p, errf("kernel size should be greater than zero, but got kH: %d kW: %d", p.k[0], p.k[len(p.k)-1])
		}
		if p.stride[d] <= 0 {
			return p, errf("stride should not be zero")
		}
		if p.pad[d] > (p.dil[d]*(p.k[d]-1)+1)/2 {
			return p, errf("pad should be at most half of effective kernel size, but got pad=%d, kernel_size=%d and dilation=%d", p.pad[d], p.k[d], p.dil[d])
		}
		p.out = append(p.out, poolOut(in[d], p.k[d], p.pad[d], p.stride[d], p.dil[d], ceil))
	}
	for _, o := range p.out {
		if o < 1 {
			if nd == 2 {
				ch := t.Shape[t.Dim()-3]
				return p, errf("Given input size: (%dx%dx%d). Calculated output size: (%dx%dx%d). Output size is too small", ch, in[0], in[1], ch, p.out[0], p.out[1])
			}
			return p, errf("Given input size, calculated output size is too small")
		}
	}
	return p, nil
}

// box is the clipped window of output position o.
func (p poolSpec) box(o, in, lo, hi []int64) {
	for d := range o {
		lo[d], hi[d] = p.bounds(d, o[d], in[d])
	}
}

// bounds is the clipped window of output position o in dimension d, of size in.
func (p poolSpec) bounds(d int, o, in int64) (lo, hi int64) {
	lo = o*p.stride[d] - p.pad[d]
	hi = min(lo+(p.k[d]-1)*p.dil[d]+1, in)
	for lo < 0 {
		lo += p.dil[d]
	}
	return lo, hi
}

// maxPool gives maxima and their positions.
func (c *Call) maxPool(t *tensor.Tensor, nd int, p poolSpec) (v, ix *tensor.Tensor) {
	lead, n, in := planes(t, nd)
	shape := append(slices.Clone(lead), p.out...)
	st := tensor.FormatStrides(shape, t.SuggestMemoryFormat())
	v, ix = c.NewUnset(t.DType, shape, st), c.NewUnset(tensor.Int64, shape, st)
	if !c.real {
		return
	}
	if y, at := v.Float32s(), ix.Int64s(); y != nil && at != nil && nd == 2 && t.IsContiguous(tensor.ContiguousFormat) {
		maxPlanes(y, at, t.Float32s(), n, in, p)
		return
	}
	x, ov, oi := t.Floats(), make([]float64, v.Numel()), make([]int64, v.Numel())
	if nd == 2 {
		maxPlanes(ov, oi, x, n, in, p)
	} else {
		maxBoxes(ov, oi, x, n, in, p)
	}
	v.SetFloats(ov)
	ix.SetInts(oi)
	return
}

// eachPlane calls f for each of n planes of size elements and nd dimensions, several at once, with room for a position and the bounds of a window.
func eachPlane(n, size int64, nd int, f func(q int64, pos, lo, hi []int64)) {
	parallel.For(int(n), int(grain/(size+1)+1), func(first, last int) {
		pos, lo, hi := make([]int64, nd), make([]int64, nd), make([]int64, nd)
		for q := first; q < last; q++ {
			f(int64(q), pos, lo, hi)
		}
	})
}

// maxPlanes fills v and ix, n planes of p.out, with the greatest elements of the windows of x, n planes of in, and their positions in their planes:
// of equals the first, of NaNs the last.
func maxPlanes[T float32 | float64](v []T, ix []int64, x []T, n int64, in []int64, p poolSpec) {
	inN, outN := in[0]*in[1], p.out[0]*p.out[1]
	width, dr, dc := in[1], p.dil[0], p.dil[1]
	// The columns of the windows are the same in each row.
	left, right := make([]int64, p.out[1]), make([]int64, p.out[1])
	for j := range left {
		left[j], right[j] = p.bounds(1, int64(j), width)
	}
	eachPlane(n, inN, 0, func(q int64, _, _, _ []int64) {
		img, to, at := x[q*inN:(q+1)*inN], v[q*outN:(q+1)*outN], ix[q*outN:(q+1)*outN]
		for i := range p.out[0] {
			top, bottom := p.bounds(0, i, in[0])
			to, at := to[i*p.out[1]:(i+1)*p.out[1]], at[i*p.out[1]:(i+1)*p.out[1]]
			for j := range to {
				lo, hi := left[j], right[j]
				best, bi := T(math.Inf(-1)), top*width+lo
				for r := top * width; r < bottom*width; r += dr * width {
					for k := r + lo; k < r+hi; k += dc {
						if e := img[k]; e > best || e != e {
							best, bi = e, k
						}
					}
				}
				to[j], at[j] = best, bi
			}
		}
	})
}

// maxBoxes is maxPlanes in any number of dimensions.
func maxBoxes(v []float64, ix []int64, x []float64, n int64, in []int64, p poolSpec) {
	inN, outN := tensor.Numel(in), tensor.Numel(p.out)
	eachPlane(n, inN, len(in), func(q int64, o, lo, hi []int64) {
		img := x[q*inN : (q+1)*inN]
		for j := int64(0); j < outN; j++ {
			unravel(j, p.out, o)
			p.box(o, in, lo, hi)
			best, bi := math.Inf(-1), int64(-1)
			window(lo, hi, p.dil, in, func(i int64) {
				if bi < 0 || img[i] > best || img[i] != img[i] {
					best, bi = img[i], i
				}
			})
			v[q*outN+j], ix[q*outN+j] = best, bi
		}
	})
}

// unpool adds g's elements to the plane positions that ix names. One outside of the plane takes nothing, as in compiled code, which
// compares positions: repro files fill indices with zeros, from which padding makes such.
func (c *Call) unpool(g, t, ix *tensor.Tensor, nd int) *tensor.Tensor {
	o := c.New(t.DType, t.Shape, tensor.FormatStrides(t.Shape, t.SuggestMemoryFormat()))
	if !c.real {
		return o
	}
	_, n, in := planes(t, nd)
	inN := tensor.Numel(in)
	acc := make([]float64, t.Numel())
	gs, is := g.Floats(), ix.Ints()
	if n == 0 || len(gs) == 0 {
		return o
	}
	per := int64(len(gs)) / n
	eachPlane(n, inN, 0, func(q int64, _, _, _ []int64) {
		plane, gs, is := acc[q*inN:(q+1)*inN], gs[q*per:(q+1)*per], is[q*per:(q+1)*per]
		for j, x := range gs {
			if at := is[j]; at >= 0 && at < inN {
				plane[at] += x
			}
		}
	})
	o.SetFloats(acc)
	return o
}

// avgPool gives means, or with grad, their gradient: each element of a window gets its share.
func (c *Call) avgPool(t *tensor.Tensor, nd int, p poolSpec, includePad bool, divisor Value, grad *tensor.Tensor) *tensor.Tensor {
	lead, n, in := planes(t, nd)
	shape := append(slices.Clone(lead), p.out...)
	var o *tensor.Tensor
	if grad == nil {
		o = c.New(t.DType, shape, tensor.FormatStrides(shape, t.SuggestMemoryFormat()))
	} else {
		o = c.New(t.DType, t.Shape, tensor.FormatStrides(t.Shape, t.SuggestMemoryFormat()))
	}
	if !c.real {
		return o
	}
	inN, outN := tensor.Numel(in), tensor.Numel(p.out)
	var x, g []float64
	if grad == nil {
		x = t.Floats()
	} else {
		g = grad.Floats()
	}
	res := make([]float64, o.Numel())
	if nd == 2 {
		avgPlanes(res, x, g, n, in, p, includePad, divisor)
		o.SetFloats(res)
		return o
	}
	eachPlane(n, inN, nd, func(q int64, pos, lo, hi []int64) {
		for j := int64(0); j < outN; j++ {
			unravel(j, p.out, pos)
			size := 1.0
			for d := range pos {
				a := pos[d]*p.stride[d] - p.pad[d]
				b := min(a+p.k[d], in[d]+p.pad[d])
				size *= float64(b - a)
				lo[d], hi[d] = max(a, 0), min(b, in[d])
			}
			if !includePad {
				size = 1
				for d := range pos {
					size *= float64(hi[d] - lo[d])
				}
			}
			if divisor != nil {
				size = toFloat(divisor)
			}
			if grad == nil {
				s := 0.0
				window(lo, hi, p.dil, in, func(i int64) { s += x[q*inN+i] })
				res[q*outN+j] = s / size
			} else {
				v := g[q*outN+j] / size
				window(lo, hi, p.dil, in, func(i int64) { res[q*inN+i] += v })
			}
		}
	})
	o.SetFloats(res)
	return o
}

// avgPlanes fills res with the means of the windows of x, n planes of in; or where g is given, n planes of p.out, with its elements shared out to their windows.
func avgPlanes(res, x, g []float64, n int64, in []int64, p poolSpec, includePad bool, divisor Value) {
	inN, outN, width := in[0]*in[1], p.out[0]*p.out[1], in[1]
	type extent struct{ lo, hi, size int64 } // the clipped window, and the size that its elements are divided by
	extents := func(d int) []extent {
		out := make([]extent, p.out[d])
		for o := range out {
			a := int64(o)*p.stride[d] - p.pad[d]
			b := min(a+p.k[d], in[d]+p.pad[d])
			out[o] = extent{max(a, 0), min(b, in[d]), b - a}
			if !includePad {
				out[o].size = out[o].hi - out[o].lo
			}
		}
		return out
	}
	rows, cols := extents(0), extents(1)
	eachPlane(n, inN, 0, func(q int64, _, _, _ []int64) {
		for i, r := range rows {
			for j, c := range cols {
				size, at := float64(r.size)*float64(c.size), q*outN+int64(i)*p.out[1]+int64(j)
				if divisor != nil {
					size = toFloat(divisor)
				}
				if g != nil {
					v := g[at] / size
					for y := r.lo; y < r.hi; y++ {
						line := res[q*inN+y*width+c.lo : q*inN+y*width+max(c.hi, c.lo)]
						for k := range line {
							line[k] += v
						}
					}
					continue
				}
				s := 0.0
				for y := r.lo; y < r.hi; y++ {
					for _, e := range x[q*inN+y*width+c.lo : q*inN+y*width+max(c.hi, c.lo)] {
						s += e
					}
				}
				res[at] = s / size
			}
		}
	})
}

// adaptive visits, for each output position, the bounds of its input box.
func adaptiveBox(o, out, in, lo, hi []int64) {
	for d := range o {
		lo[d] = o[d] * in[d] / out[d]
		hi[d] = ((o[d]+1)*in[d] + out[d] - 1) / out[d]
	}
}

func (c *Call) adaptiveAvg(t *tensor.Tensor, nd int, out []int64, grad *tensor.Tensor) *tensor.Tensor {
	lead, n, in := planes(t, nd)
	shape := append(slices.Clone(lead), out...)
	if grad != nil {
		shape = t.Shape
	}
	o := c.New(t.DType, shape, tensor.FormatStrides(shape, t.SuggestMemoryFormat()))
	if !c.real || t.Numel() == 0 {
		return o
	}
	inN, outN := tensor.Numel(in), tensor.Numel(out)
	var x, g []float64
	if grad == nil {
		x = t.Floats()
	} else {
		g = grad.Floats()
	}
	res := make([]float64, o.Numel())
	ones := fill(nil, nd, 1)
	eachPlane(n, inN, nd, func(q int64, pos, lo, hi []int64) {
		for j := int64(0); j < outN; j++ {
			unravel(j, out, pos)
			adaptiveBox(pos, out, in, lo, hi)
			size := 1.0
			for d := range lo {
				size *= float64(hi[d] - lo[d])
			}
			if grad == nil {
				s := 0.0
				window(lo, hi, ones, in, func(i int64) { s += x[q*inN+i] })
				res[q*outN+j] = s / size
			} else {
				v := g[q*outN+j] / size
				window(lo, hi, ones, in, func(i int64) { res[q*inN+i] += v })
			}
		}
	})
	o.SetFloats(res)
	return o
}

func init() {
	for nd := 2; nd <= 3; nd++ {
		sfx := fmt.Sprintf("%dd", nd)
		def("max_pool"+sfx+"_with_indices", func(c *Call) (Value, error) {
			t := c.T(0)
			p, err := c.poolSpec(t, nd, c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4), c.B(5))
			if err != nil {
				return nil, err
			}
			v, ix := c.maxPool(t, nd, p)
			return list(v, ix), nil
		})
		def("max_pool"+sfx+"_with_indices_backward", func(c *Call) (Value, error) {
			return c.unpool(c.T(0), c.T(1), c.T(7), nd), nil
		})
		comp("max_pool"+sfx, func(c *Call) (Value, error) {
			v, err := c.via("max_pool"+sfx+"_with_indices", c.Args...)
			if err != nil {
				return nil, err
			}
			return v.([]Value)[0], nil
		})
		def("avg_pool"+sfx, func(c *Call) (Value, error) {
			t := c.T(0)
			if d, ok := c.Args[6].(int64); ok && d == 0 {
				return nil, errf("divisor must be not zero")
			}
			p, err := c.poolSpec(t, nd, c.Ints(1), c.Ints(2), c.Ints(3), nil, c.B(4))
			if err != nil {
				return nil, err
			}
			return c.avgPool(t, nd, p, c.B(5), c.Args[6], nil), nil
		})
		def("avg_pool"+sfx+"_backward", func(c *Call) (Value, error) {
			t := c.T(1)
			p, err := c.poolSpec(t, nd, c.Ints(2), c.Ints(3), c.Ints(4), nil, c.B(5))
			if err != nil {
				return nil, err
			}
			return c.avgPool(t, nd, p, c.B(6), c.Args[7], c.T(0)), nil
		})
		def("_adaptive_avg_pool"+sfx, func(c *Call) (Value, error) {
			t := c.T(0)
			if t.Dim() != nd+1 && t.Dim() != nd+2 {
				return nil, errf("adaptive_avg_pool%s(): Expected %dD or %dD tensor, but got %s", sfx, nd+1, nd+2, tensor.ShapeText(t.Shape))
			}
			return c.adaptiveAvg(t, nd, c.Ints(1), nil), nil
		})
		def("_adaptive_avg_pool"+sfx+"_backward", func(c *Call) (Value, error) {
			g, t := c.T(0), c.T(1)
			return c.adaptiveAvg(t, nd, g.Shape[g.Dim()-nd:], g), nil
		})
		comp("adaptive_avg_pool"+sfx, func(c *Call) (Value, error) {
			t, out := c.T(0), c.Ints(1)
			if len(out) != nd {
				return nil, errf("adaptive_avg_pool%s: output_size must be %d", sfx, nd)
			}
			if tensor.Numel(out) == 1 && nd == 2 {
				// One output per plane is a mean, and in this layout it is cheaper as one.
				v, err := c.viaT("mean.dim", t, ints([]int64{-1, -2}), true)
				if err != nil || t.SuggestMemoryFormat() != tensor.ChannelsLast {
					return v, err
				}
				n, ch := v.Shape[0], v.Shape[1]
				return c.via("as_strided", v, ints([]int64{n, ch, 1, 1}), ints([]int64{ch, 1, ch, ch}))
			}
			return c.via("_adaptive_avg_pool"+sfx, t, c.Args[1])
		})
		def("adaptive_max_pool"+sfx, func(c *Call) (Value, error) {
			t, out := c.T(0), c.Ints(1)
			lead, n, in := planes(t, nd)
			shape := append(slices.Clone(lead), out...)
			st := tensor.FormatStrides(shape, t.SuggestMemoryFormat())
			v, ix := c.New(t.DType, shape, st), c.New(tensor.Int64, shape, st)
			if c.real && t.Numel() > 0 {
				x := t.Floats()
				inN, outN := tensor.Numel(in), tensor.Numel(out)
				ov, oi := make([]float64, n*outN), make([]int64, n*outN)
				pos, lo, hi := make([]int64, nd), make([]int64, nd), make([]int64, nd)
				for q := int64(0); q < n; q++ {
					for j := int64(0); j < outN; j++ {
						unravel(j, out, pos)
						adaptiveBox(pos, out, in, lo, hi)
						best, bi := math.Inf(-1), int64(-1)
						window(lo, hi, fill(nil, nd, 1), in, func(i int64) {
							if e := x[q*inN+i]; bi < 0 || e > best || e != e {
								best, bi = e, i
							}
						})
						ov[q*outN+j], oi[q*outN+j] = best, bi
					}
				}
				v.SetFloats(ov)
				ix.SetInts(oi)
			}
			return list(v, ix), nil
		})
		def("adaptive_max_pool"+sfx+"_backward", func(c *Call) (Value, error) { return c.unpool(c.T(0), c.T(1), c.T(2), nd), nil })
	}
	// One-dimensional pools are two-dimensional ones of height 1.
	lift := func(c *Call, name string, args ...Value) (Value, error) {
		x := must(c.via("unsqueeze", c.Args[0], int64(-2)))
		v, err := c.via(name, append([]Value{x}, args...)...)
		if err != nil {
			return nil, err
		}
		if l, ok := v.([]Value); ok {
			out := make([]Value, len(l))
			for i := range l {
				if out[i], err = c.via("squeeze.dim", l[i], int64(-2)); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
		return c.via("squeeze.dim", v, int64(-2))
	}
	pair := func(first int64, v Value) Value {
		l := toInts(v)
		if len(l) == 0 {
			return []Value{}
		}
		return ints([]int64{first, l[0]})
	}
	comp("max_pool1d_with_indices", func(c *Call) (Value, error) {
		if n := c.T(0).Dim(); n != 2 && n != 3 {
			return nil, errf("max_pool1d() Expected 2D or 3D input tensor, but got %s", tensor.ShapeText(c.T(0).Shape))
		}
		return lift(c, "max_pool2d_with_indices", pair(1, c.Args[1]), pair(1, c.Args[2]), pair(0, c.Args[3]), pair(1, c.Args[4]), c.Args[5])
	})
	comp("max_pool1d", func(c *Call) (Value, error) {
		v, err := c.via("max_pool1d_with_indices", c.Args...)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
	comp("avg_pool1d", func(c *Call) (Value, error) {
		return lift(c, "avg_pool2d", pair(1, c.Args[1]), pair(1, c.Args[2]), pair(0, c.Args[3]), c.Args[4], c.Args[5])
	})
	comp("adaptive_avg_pool1d", func(c *Call) (Value, error) { return lift(c, "adaptive_avg_pool2d", pair(1, c.Args[1])) })
	comp("adaptive_max_pool1d", func(c *Call) (Value, error) { return lift(c, "adaptive_max_pool2d", pair(1, c.Args[1])) })
	maxUnpool := func(nd int, size func(c *Call) []int64) Fn {
		return func(c *Call) (Value, error) {
			t, ix := c.T(0), c.T(1)
			lead, n, _ := planes(t, nd)
			out := size(c)
			shape := append(slices.Clone(lead), out...)
			st := tensor.ContiguousStrides(shape)
			if nd == 2 {
				st = tensor.FormatStrides(shape, t.SuggestMemoryFormat())
			}
			o := c.New(t.DType, shape, st)
			if c.real && t.Numel() > 0 {
				xs, is := t.Floats(), ix.Ints()
				per := int64(len(xs)) / n
				outN := tensor.Numel(out)
				res := make([]float64, o.Numel())
				for j, x := range xs {
					if is[j] < 0 || is[j] >= outN {
						return nil, errf("Found an invalid max index: %d (output volumes are of size %s", is[j], tensor.ShapeText(out))
					}
					res[int64(j)/per*outN+is[j]] = x
				}
				o.SetFloats(res)
			}
			return o, nil
		}
	}
	def("max_unpool2d", maxUnpool(2, func(c *Call) []int64 { return c.Ints(2) }))
	def("max_unpool3d", maxUnpool(3, func(c *Call) []int64 { return c.Ints(2) }))
	prims2d()
	resamples()
	padding()
}

// prims2d registers Inductor's pair of max-pool primitives, whose offsets count inside the window.
func prims2d() {
	def("prims::_low_memory_max_pool2d_with_offsets", func(c *Call) (Value, error) {
		t := c.T(0)
		p, err := c.poolSpec(t, 2, c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4), c.B(5))
		if err != nil {
			return nil, err
		}
		v, ix := c.maxPool(t, 2, p)
		off := c.New(tensor.Int8, ix.Shape, ix.Stride)
		if c.real {
			is := ix.Ints()
			w := t.Shape[t.Dim()-1]
			for i, x := range is {
				ow := int64(i) % p.out[1]
				oh := int64(i) / p.out[1] % p.out[0]
				ih, iw := x/w, x%w
				is[i] = (ih-oh*p.stride[0]+p.pad[0])*p.k[1] + (iw - ow*p.stride[1] + p.pad[1])
			}
			off.SetInts(is)
		}
		return list(v, off), nil
	})
	def("prims::_low_memory_max_pool2d_offsets_to_indices", func(c *Call) (Value, error) {
		t, kw, iw, st, pad := c.T(0), c.I(1), c.I(2), c.Ints(3), c.Ints(4)
		o := c.New(tensor.Int64, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		if c.real {
			is := t.Ints()
			w, h := t.Shape[t.Dim()-1], t.Shape[t.Dim()-2]
			for i, x := range is {
				ow, oh := int64(i)%w, int64(i)/w%h
				is[i] = (oh*st[0]-pad[0]+x/kw)*iw + ow*st[1] - pad[1] + x%kw
			}
			o.SetInts(is)
		}
		return o, nil
	})
}

package aten

import (
	"fmt"
	"math"
	"slices"

	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

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

type poolSpec struct {
	k, stride, pad, dil []int64
	ceil                bool
	out                 []int64
}

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
	for j, x := range gs {
		if at := is[j]; at >= 0 && at < inN {
			acc[int64(j)/per*inN+at] += x
		}
	}
	o.SetFloats(acc)
	return o
}

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

// A tap is one input position that an output position reads, with its weight.
type tap struct {
	i int64
	w float64
}

// taps builds the table of one dimension for a resampling mode.
func taps(mode string, in, out int64, align bool, scale Value, d tensor.DType) [][]tap {
	t := make([][]tap, out)
	r := func(x float64) float64 {
		if d == tensor.Float64 {
			return x
		}
		return float64(float32(x))
	}
	ratio := r(float64(in) / float64(out))
	if s := toFloat(scale); scale != nil && s > 0 {
		ratio = r(1 / s)
	}
	src := func(o int64) float64 {
		if align {
			if out == 1 {
				return 0
			}
			return r(r(float64(in-1)/float64(out-1)) * float64(o))
		}
		return r(ratio*(float64(o)+0.5) - 0.5)
	}
	clampI := func(i int64) int64 { return min(max(i, 0), in-1) }
	for o := range t {
		switch mode {
		case "nearest":
			i := int64(math.Floor(r(ratio * float64(o))))
			t[o] = []tap{{min(i, in-1), 1}}
		case "nearest-exact":
			t[o] = []tap{{min(int64(math.Floor(r(ratio*(float64(o)+0.5)))), in-1), 1}}
		case "linear":
			x := src(int64(o))
			if !align {
				x = max(x, 0)
			}
			i := min(int64(x), in-1)
			l := x - float64(i)
			j := i
			if i < in-1 {
				j++
			}
			t[o] = []tap{{i, 1 - l}, {j, l}}
		case "cubic":
			x := src(int64(o))
			f := math.Floor(x)
			u := x - f
			const a = -0.75
			near := func(x float64) float64 { return ((a+2)*x-(a+3))*x*x + 1 }
			far := func(x float64) float64 { return ((a*x-5*a)*x+8*a)*x - 4*a }
			i := int64(f)
			t[o] = []tap{{clampI(i - 1), far(u + 1)}, {clampI(i), near(u)}, {clampI(i + 1), near(1 - u)}, {clampI(i + 2), far(2 - u)}}
		case "linear-aa", "cubic-aa":
			sc := ratio
			if align {
				sc = 0
				if out > 1 {
					sc = float64(in-1) / float64(out-1)
				}
			}
			sup := 1.0
			filter := func(x float64) float64 { return max(0, 1-math.Abs(x)) }
			if mode == "cubic-aa" {
				sup = 2
				filter = func(x float64) float64 {
					const a = -0.5
					x = math.Abs(x)
					if x < 1 {
						return ((a+2)*x-(a+3))*x*x + 1
					}
					if x < 2 {
						return (((x-5)*x+8)*x - 4) * a
					}
					return 0
				}
			}
			support, inv := sup, 1.0
			if sc >= 1 {
				support, inv = sup*sc, 1/sc
			}
			center := sc * (float64(o) + 0.5)
			lo := max(int64(center-support+0.5), 0)
			hi := min(int64(center+support+0.5), in)
			total := 0.0
			for i := lo; i < hi; i++ {
				w := filter((float64(i) - center + 0.5) * inv)
				t[o] = append(t[o], tap{i, w})
				total += w
			}
			for k := range t[o] {
				t[o][k].w /= total
			}
		}
	}
	return t
}

// resample applies a table of taps along the last nd dimensions, or its transpose for gradients.
func resample(x []float64, lead int64, in, out []int64, tables [][][]tap, transpose bool) []float64 {
	cur := x
	shape := slices.Clone(in)
	if transpose {
		shape = slices.Clone(out)
	}
	for d := range shape {
		n := shape[d]
		m := out[d]
		if transpose {
			m = in[d]
		}
		inner := tensor.Numel(shape[d+1:])
		outer := lead * tensor.Numel(shape[:d])
		next := make([]float64, outer*m*inner)
		for o := int64(0); o < outer; o++ {
			for a, ts := range tables[d] {
				for _, t := range ts {
					src, dst := t.i, int64(a)
					if transpose {
						src, dst = dst, src
					}
					s, e := cur[(o*n+src)*inner:(o*n+src+1)*inner], next[(o*m+dst)*inner:(o*m+dst+1)*inner]
					for k := range s {
						e[k] += t.w * s[k]
					}
				}
			}
		}
		cur = next
		shape[d] = m
	}
	return cur
}

func resamples() {
	type kind struct {
		name, mode string
		nd         int
		align      bool // has align_corners
	}
	for _, k := range []kind{{"upsample_nearest1d", "nearest", 1, false}, {"upsample_nearest2d", "nearest", 2, false}, {"upsample_nearest3d", "nearest", 3, false},
		{"_upsample_nearest_exact1d", "nearest-exact", 1, false}, {"_upsample_nearest_exact2d", "nearest-exact", 2, false}, {"_upsample_nearest_exact3d", "nearest-exact", 3, false},
		{"upsample_linear1d", "linear", 1, true}, {"upsample_bilinear2d", "linear", 2, true}, {"upsample_trilinear3d", "linear", 3, true}, {"upsample_bicubic2d", "cubic", 2, true},
		{"_upsample_bilinear2d_aa", "linear-aa", 2, true}, {"_upsample_bicubic2d_aa", "cubic-aa", 2, true}} {
		tables := func(c *Call, in, out []int64, at int, d tensor.DType) [][][]tap {
			align := false
			if k.align {
				align = c.B(at)
				at++
			}
			var ts [][][]tap
			for i := 0; i < k.nd; i++ {
				ts = append(ts, taps(k.mode, in[i], out[i], align, c.Args[at+i], d))
			}
			return ts
		}
		def(k.name, func(c *Call) (Value, error) {
			t, out := c.T(0), c.Ints(1)
			if t.Dim() != k.nd+2 {
				return nil, errf("It is expected input_size equals to %d, but got size %d", k.nd+2, t.Dim())
			}
			lead, n, in := planes(t, k.nd)
			for i := range out {
				if out[i] <= 0 || in[i] <= 0 {
					return nil, errf("Input and output sizes should be greater than 0, but got input (%s) and output (%s)", tensor.ShapeText(in), tensor.ShapeText(out))
				}
			}
			shape := append(slices.Clone(lead), out...)
			o := c.New(t.DType, shape, tensor.FormatStrides(shape, t.SuggestMemoryFormat()))
			if c.real {
				o.SetFloats(resample(t.Floats(), n, in, out, tables(c, in, out, 2, t.DType), false))
			}
			return o, nil
		})
		def(k.name+"_backward", func(c *Call) (Value, error) {
			g, out, size := c.T(0), c.Ints(1), c.Ints(2)
			if want := append(slices.Clone(size[:2]), out...); !slices.Equal(g.Shape, want) {
				return nil, errf("Expected grad_output to have the shape of the output %s, but got %s", tensor.ShapeText(want), tensor.ShapeText(g.Shape))
			}
			o := c.New(g.DType, size, tensor.FormatStrides(size, g.SuggestMemoryFormat()))
			if c.real {
				o.SetFloats(resample(g.Floats(), tensor.Numel(size[:2]), size[2:], out, tables(c, size[2:], out, 3, g.DType), true))
			}
			return o, nil
		})
		comp(k.name+".vec", func(c *Call) (Value, error) {
			t := c.T(0)
			var out []int64
			scales := make([]Value, k.nd)
			last := len(c.Args) - 1
			if !c.None(1) {
				out = c.Ints(1)
			} else {
				fs := c.Floats(last)
				if len(fs) != k.nd {
					return nil, errf("Must specify exactly one of output_size and scale_factors")
				}
				for i, f := range fs {
					out = append(out, int64(math.Floor(float64(t.Shape[i+2])*f)))
					scales[i] = f
				}
			}
			args := []Value{t, ints(out)}
			if k.align {
				args = append(args, c.Args[2])
			}
			return c.via(k.name, append(args, scales...)...)
		})
	}
}

func padding() {
	def("constant_pad_nd", func(c *Call) (Value, error) {
		t, pad := c.T(0), c.Ints(1)
		if len(pad)%2 != 0 {
			return nil, errf("Length of pad must be even but instead it equals %d", len(pad))
		}
		if len(pad)/2 > t.Dim() {
			return nil, errf("Length of pad should be no more than twice the number of dimensions of the input. Pad length is %d while the input has %d dimensions.", len(pad), t.Dim())
		}
		shape := slices.Clone(t.Shape)
		for i := 0; i < len(pad)/2; i++ {
			d := t.Dim() - 1 - i
			shape[d] += pad[2*i] + pad[2*i+1]
			if shape[d] < 0 {
				return nil, errf("The input size %d, plus negative padding %d and %d, resulted in a negative output size, which is invalid. Check dimension %d of your input.", t.Shape[d], pad[2*i], pad[2*i+1], d)
			}
		}
		o := c.New(t.DType, shape, tensor.FormatStrides(shape, t.SuggestMemoryFormat()))
		if !c.real {
			return o, nil
		}
		fillScalar(o, c.Args[2])
		src, dst := t, tensor.NewView(o, o.Shape, o.Stride, o.Offset)
		for i := 0; i < len(pad)/2; i++ {
			d := t.Dim() - 1 - i
			lo, hi := pad[2*i], pad[2*i+1]
			clip := func(x *tensor.Tensor, a, b int64) *tensor.Tensor {
				sh := slices.Clone(x.Shape)
				sh[d] = max(sh[d]-a-b, 0)
				return tensor.NewView(x, sh, x.Stride, x.Offset+a*x.Stride[d])
			}
			src = clip(src, max(-lo, 0), max(-hi, 0))
			dst = clip(dst, max(lo, 0), max(hi, 0))
		}
		tensor.Copy(dst, src)
		return o, nil
	})
	for nd := 1; nd <= 3; nd++ {
		for _, mode := range []string{"reflection", "replication"} {
			name := fmt.Sprintf("%s_pad%dd", mode, nd)
			table := func(in []int64, pad []int64) ([]int64, [][][]tap, error) {
				out := slices.Clone(in)
				ts := make([][][]tap, nd)
				for i := 0; i < nd; i++ {
					d := nd - 1 - i
					lo, hi := pad[2*i], pad[2*i+1]
					if in[d] < 1 {
						return nil, nil, errf("Expected a tensor with possibly 0 batch size and other non-zero dimensions for input, but got spatial size %s", tensor.ShapeText(in))
					}
					if mode == "reflection" && (lo >= in[d] || hi >= in[d]) {
						return nil, nil, errf("Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (%d, %d) at dimension %d of input %s", lo, hi, d+1, tensor.ShapeText(in))
					}
					out[d] += lo + hi
					if out[d] < 1 {
						return nil, nil, errf("input (%s) is too small. Calculated output %s", tensor.ShapeText(in), tensor.ShapeText(out))
					}
					for o := int64(0); o < out[d]; o++ {
						j := o - lo
						if mode == "reflection" {
							if j < 0 {
								j = -j
							}
							if j >= in[d] {
								j = 2*(in[d]-1) - j
							}
						} else {
							j = min(max(j, 0), in[d]-1)
						}
						ts[d] = append(ts[d], []tap{{j, 1}})
					}
				}
				return out, ts, nil
			}
			def(name, func(c *Call) (Value, error) {
				t := c.T(0)
				if t.Dim() != nd+1 && t.Dim() != nd+2 {
					return nil, errf("Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: %s", nd+1, nd+2, tensor.ShapeText(t.Shape))
				}
				lead, n, in := planes(t, nd)
				out, ts, err := table(in, c.Ints(1))
				if err != nil {
					return nil, err
				}
				shape := append(slices.Clone(lead), out...)
				o := c.New(t.DType, shape, tensor.FormatStrides(shape, t.SuggestMemoryFormat()))
				if c.real {
					o.SetFloats(resample(t.Floats(), n, in, out, ts, false))
				}
				return o, nil
			})
			def(name+"_backward", func(c *Call) (Value, error) {
				g, t := c.T(0), c.T(1)
				_, n, in := planes(t, nd)
				out, ts, err := table(in, c.Ints(2))
				if err != nil {
					return nil, err
				}
				if want := append(slices.Clone(t.Shape[:t.Dim()-nd]), out...); !slices.Equal(g.Shape, want) {
					return nil, errf("grad_output width unexpected. Expected: %s, Got: %s", tensor.ShapeText(want), tensor.ShapeText(g.Shape))
				}
				o := c.New(t.DType, t.Shape, tensor.FormatStrides(t.Shape, t.SuggestMemoryFormat()))
				if c.real {
					o.SetFloats(resample(g.Floats(), n, in, out, ts, true))
				}
				return o, nil
			})
		}
	}
	comp("pad", func(c *Call) (Value, error) {
		t, p, mode := c.T(0), c.Ints(1), c.Str(2)
		if mode == "constant" {
			v := c.Args[3]
			if v == nil {
				v = 0.0
			}
			return c.via("constant_pad_nd", t, c.Args[1], v)
		}
		if !c.None(3) && c.F(3) != 0 {
			return nil, errf("Padding mode \"%s\" doesn't take in value argument", mode)
		}
		nd := len(p) / 2
		if len(p)%2 == 0 && nd >= 1 && nd <= 3 && (t.Dim() == nd+1 || t.Dim() == nd+2) {
			switch mode {
			case "reflect":
				return c.via(fmt.Sprintf("reflection_pad%dd", nd), t, c.Args[1])
			case "replicate":
				return c.via(fmt.Sprintf("replication_pad%dd", nd), t, c.Args[1])
			case "circular":
				return c.via("_pad_circular", t, c.Args[1])
			default:
				return nil, kindf(NotImplementedError, "Unrecognised padding mode %s", mode)
			}
		}
		return nil, kindf(NotImplementedError, "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
	})
	comp("_pad_circular", func(c *Call) (Value, error) {
		t, p := c.T(0), c.Ints(1)
		var v Value = t
		for i := 0; i < len(p)/2; i++ {
			d := int64(t.Dim() - 1 - i)
			x := v.(*tensor.Tensor)
			n := x.Shape[d]
			lo, hi := p[2*i], p[2*i+1]
			if lo < 0 || hi < 0 {
				v, err := c.viaT("slice.Tensor", x, d, max(-lo, 0), n-max(-hi, 0), int64(1))
				if err != nil {
					return nil, err
				}
				x, n, lo, hi = v, v.Shape[d], max(lo, 0), max(hi, 0)
			}
			if lo > n || hi > n {
				return nil, errf("Padding value causes wrapping around more than once.")
			}
			var parts []Value
			if lo > 0 {
				parts = append(parts, must(c.via("slice.Tensor", x, d, n-lo, n, int64(1))))
			}
			parts = append(parts, must(c.via("slice.Tensor", x, d, max(-lo, 0), n-max(-hi, 0), int64(1))))
			if hi > 0 {
				parts = append(parts, must(c.via("slice.Tensor", x, d, int64(0), hi, int64(1))))
			}
			for _, q := range parts {
				if e, ok := q.(error); ok {
					return nil, e
				}
			}
			var err error
			if v, err = c.viaT("cat", parts, d); err != nil {
				return nil, err
			}
		}
		return v, nil
	})
}

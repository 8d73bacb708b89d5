package aten

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"whittle/kernels/native"
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
	var bs [][]extent
	for d := range in {
		row := make([]extent, p.out[d])
		for j := range row {
			row[j].lo, row[j].hi = p.bounds(d, int64(j), in[d])
		}
		bs = append(bs, row)
	}
	c.maxima(v, ix, t, n, in, bs, p.dil)
	return
}

// maxima fills v and ix with the greatest elements of windows of t's planes, and where they are.
func (c *Call) maxima(v, ix, t *tensor.Tensor, n int64, in []int64, bs [][]extent, dil []int64) {
	if channelsAreRows(t, v, ix) {
		if w, full := windowsOf(in, bs, dil); full {
			eachWindow(t, w, func(from, to, _ int64, w native.Windows) {
				native.MaxWindows32(tensor.Whole[float32](v)[v.Offset+to:], tensor.Whole[int64](ix)[ix.Offset+to:], tensor.Whole[float32](t)[t.Offset+from:], w, int(t.Shape[1]))
			})
			return
		}
	}
	if t.DType == tensor.Float32 {
		inRows(v, func(v *tensor.Tensor) {
			inRows(ix, func(ix *tensor.Tensor) {
				maxBoxes(v.Float32s(), ix.Int64s(), c.dense(t, t.DType).Float32s(), n, in, bs, dil)
			})
		})
		return
	}
	ov, oi := c.zeros(v.Numel()), make([]int64, v.Numel())
	maxBoxes(ov, oi, c.floats(t), n, in, bs, dil)
	v.SetFloats(ov)
	ix.SetInts(oi)
}

// channelsAreRows reports whether t is a float32 tensor of images whose channels lie together, at each position, and so do those of the results of a pool.
func channelsAreRows(t *tensor.Tensor, results ...*tensor.Tensor) bool {
	f := t.SuggestMemoryFormat()
	if t.DType != tensor.Float32 || f == tensor.ContiguousFormat || t.Shape[1] < 4 || !t.IsContiguous(f) {
		return false
	}
	return !slices.ContainsFunc(results, func(r *tensor.Tensor) bool { return !r.IsContiguous(f) })
}

// windowsOf lists the positions of a plane that are in each window; full says that none is empty.
func windowsOf(in []int64, bs [][]extent, dil []int64) (w native.Windows, full bool) {
	bs, in, dil = deep(bs, in, dil)
	w.Ends, full = append(w.Ends, 0), true
	for _, a := range bs[0] {
		for _, b := range bs[1] {
			for _, c := range bs[2] {
				for z := a.lo; z < a.hi; z += dil[0] {
					for y := b.lo; y < b.hi; y += dil[1] {
						for x := c.lo; x < c.hi; x += dil[2] {
							w.At = append(w.At, (z*in[1]+y)*in[2]+x)
						}
					}
				}
				n := int64(len(w.At))
				full = full && n > w.Ends[len(w.Ends)-1]
				w.Ends = append(w.Ends, n)
			}
		}
	}
	return w, full
}

// windowSizes is what the sum of each window is divided by.
func windowSizes(bs [][]extent, divisor Value) (sizes []float32) {
	bs, _, _ = deep(bs, nil, nil)
	for _, a := range bs[0] {
		for _, b := range bs[1] {
			for _, c := range bs[2] {
				sizes = append(sizes, float32(sizeOf(a, b, c, divisor)))
			}
		}
	}
	return sizes
}

// eachWindow calls f for the windows of each of t's images, whose channelsAreRows, for some at a time: with where the image begins in t, and the first of
// these windows in the result and among w.
func eachWindow(t *tensor.Tensor, w native.Windows, f func(from, to, first int64, w native.Windows)) {
	ch, per := t.Shape[1], int64(len(w.Ends)-1)
	size := tensor.Numel(t.Shape[1:])
	each := int64(len(w.At))/per*ch + ch
	parallel.For(int(t.Shape[0]*per), int(grain/each+1), func(lo, hi int) {
		for q, end := int64(lo), int64(hi); q < end; {
			n, first := q/per, q%per
			last := min(per, first+end-q)
			f(n*size, q*ch, first, native.Windows{At: w.At, Ends: w.Ends[first : last+1]})
			q += last - first
		}
	})
}

// inRows has f fill a tensor that is contiguous: o, or another that is copied to o.
func inRows(o *tensor.Tensor, f func(o *tensor.Tensor)) {
	if o.IsContiguous(tensor.ContiguousFormat) {
		f(o)
		return
	}
	r := tensor.EmptyUnset(o.DType, o.Shape, tensor.ContiguousStrides(o.Shape))
	f(r)
	tensor.Copy(o, r)
	r.Storage.Recycle()
}

// eachPlane calls f for each of n planes of size elements, several at once.
func eachPlane(n, size int64, f func(q int64)) {
	parallel.For(int(n), int(grain/(size+1)+1), func(first, last int) {
		for q := first; q < last; q++ {
			f(int64(q))
		}
	})
}

// maxBoxes fills v and ix, n planes of windows, with the greatest elements of the windows of x, n planes of in, and their positions in their planes: of
// equals the first, of NaNs the last. The windows are bounds for each of up to three dimensions.
func maxBoxes[T float32 | float64](v []T, ix []int64, x []T, n int64, in []int64, bs [][]extent, dil []int64) {
	bs, in, dil = deep(bs, in, dil)
	inN, line, area, narrow := tensor.Numel(in), in[2], in[1]*in[2], narrowest(bs[2])
	outN := int64(len(bs[0]) * len(bs[1]) * len(bs[2]))
	edge, full, begin, hop := even(bs[2], narrow)
	eachPlane(n, inN, func(q int64) {
		img, to := x[q*inN:(q+1)*inN], q*outN
		for _, a := range bs[0] {
			for _, b := range bs[1] {
				if narrow > 0 { // a row of windows together, column by column of each
					best, at := v[to:to+int64(len(bs[2]))], ix[to:to+int64(len(bs[2]))]
					for j, c := range bs[2] {
						best[j], at[j] = T(math.Inf(-1)), a.lo*area+b.lo*line+c.lo
					}
					for z := a.lo * area; z < a.hi*area; z += dil[0] * area {
						for y := z + b.lo*line; y < z+b.hi*line; y += dil[1] * line {
							row := img[y : y+line]
							for d := int64(0); d < narrow; d += dil[2] {
								for j := range edge {
									if i := bs[2][j].lo + d; i < bs[2][j].hi {
										if e := row[i]; e > best[j] || e != e {
											best[j], at[j] = e, y+i
										}
									}
								}
								for j, i := edge, begin+d; j < full; j, i = j+1, i+hop {
									if e := row[i]; e > best[j] || e != e {
										best[j], at[j] = e, y+i
									}
								}
								for j := full; j < len(best); j++ {
									if i := bs[2][j].lo + d; i < bs[2][j].hi {
										if e := row[i]; e > best[j] || e != e {
											best[j], at[j] = e, y+i
										}
									}
								}
							}
						}
					}
					to += int64(len(bs[2]))
					continue
				}
				for _, c := range bs[2] {
					best, bi := T(math.Inf(-1)), a.lo*area+b.lo*line+c.lo
					for z := a.lo * area; z < a.hi*area; z += dil[0] * area {
						for y := z + b.lo*line; y < z+b.hi*line; y += dil[1] * line {
							if dil[2] == 1 {
								for k, e := range img[y+c.lo : y+c.hi] {
									if e > best || e != e {
										best, bi = e, y+c.lo+int64(k)
									}
								}
								continue
							}
							for k := y + c.lo; k < y+c.hi; k += dil[2] {
								if e := img[k]; e > best || e != e {
									best, bi = e, k
								}
							}
						}
					}
					v[to], ix[to] = best, bi
					to++
				}
			}
		}
	})
}

// An extent is where a window begins and ends in one dimension, clipped to the input, and the size that it has in a mean.
type extent struct{ lo, hi, size int64 }

// deep is bounds, sizes and dilations in three dimensions, of which the first may be of one element.
func deep(bs [][]extent, in, dil []int64) ([][]extent, []int64, []int64) {
	bs, in, dil = slices.Clone(bs), slices.Clone(in), slices.Clone(dil)
	for len(bs) < 3 {
		bs, in, dil = slices.Insert(bs, 0, []extent{{0, 1, 1}}), slices.Insert(in, 0, 1), slices.Insert(dil, 0, 1)
	}
	return bs, in, dil
}

// narrowest is the width of the widest window, where windows are so narrow and many that a row of them is gone through together; else 0.
func narrowest(row []extent) (width int64) {
	for _, e := range row {
		width = max(width, e.hi-e.lo)
	}
	if width > 16 || len(row) < 8 {
		return 0
	}
	return width
}

// sizeOf is what the sum of a window is divided by: its own size, or divisor.
func sizeOf(a, b, c extent, divisor Value) float64 {
	if divisor != nil {
		return toFloat(divisor)
	}
	return float64(a.size) * float64(b.size) * float64(c.size)
}

// even are the entries of a row from edge to full whose windows are of the whole width, and each hop further than the one before: the first is at at.
func even(row []extent, width int64) (edge, full int, at, hop int64) {
	for edge < len(row) && row[edge].hi-row[edge].lo < width {
		edge++
	}
	if full = edge; full == len(row) {
		return edge, full, 0, 1
	}
	at, hop = row[edge].lo, 1
	if full++; full < len(row) {
		hop = row[full].lo - at
	}
	for full < len(row) && row[full].hi-row[full].lo == width && row[full].lo-row[full-1].lo == hop {
		full++
	}
	return edge, full, at, hop
}

// averages fills y with the means of the windows of x, n planes of in. A window's elements are added from the first to the last, in their precision.
func averages[T float32 | float64](y, x []T, n int64, in []int64, bs [][]extent, divisor Value) {
	bs, in, _ = deep(bs, in, nil)
	inN, line, area, narrow := tensor.Numel(in), in[2], in[1]*in[2], narrowest(bs[2])
	outN := int64(len(bs[0]) * len(bs[1]) * len(bs[2]))
	edge, full, at, hop := even(bs[2], narrow)
	eachPlane(n, inN, func(q int64) {
		img, to := x[q*inN:(q+1)*inN], q*outN
		for _, a := range bs[0] {
			for _, b := range bs[1] {
				if narrow > 0 { // a row of windows together, column by column of each
					sum := y[to : to+int64(len(bs[2]))]
					clear(sum)
					for z := a.lo * area; z < a.hi*area; z += area {
						for k := z + b.lo*line; k < z+b.hi*line; k += line {
							row := img[k : k+line]
							for d := range narrow {
								for j := range edge {
									if i := bs[2][j].lo + d; i < bs[2][j].hi {
										sum[j] += row[i]
									}
								}
								for j, i := edge, at+d; j < full; j, i = j+1, i+hop {
									sum[j] += row[i]
								}
								for j := full; j < len(sum); j++ {
									if i := bs[2][j].lo + d; i < bs[2][j].hi {
										sum[j] += row[i]
									}
								}
							}
						}
					}
					for j, c := range bs[2] {
						sum[j] /= T(sizeOf(a, b, c, divisor))
					}
					to += int64(len(bs[2]))
					continue
				}
				for _, c := range bs[2] {
					s := T(0)
					for z := a.lo * area; z < a.hi*area; z += area {
						for k := z + b.lo*line; k < z+b.hi*line; k += line {
							for _, e := range img[k+c.lo : k+max(c.hi, c.lo)] {
								s += e
							}
						}
					}
					y[to] = s / T(sizeOf(a, b, c, divisor))
					to++
				}
			}
		}
	})
}

// spread is the gradient of averages: it adds to y, n planes of in, each element of g spread to its window.
func spread(y, g []float64, n int64, in []int64, bs [][]extent, divisor Value) {
	bs, in, _ = deep(bs, in, nil)
	inN, line, area, narrow := tensor.Numel(in), in[2], in[1]*in[2], narrowest(bs[2])
	outN := int64(len(bs[0]) * len(bs[1]) * len(bs[2]))
	eachPlane(n, inN, func(q int64) {
		img, from := y[q*inN:(q+1)*inN], q*outN
		share := make([]float64, len(bs[2]))
		for _, a := range bs[0] {
			for _, b := range bs[1] {
				if narrow > 0 { // from the last column on, by which an element gets its shares in the order of the windows
					for j, c := range bs[2] {
						share[j] = g[from+int64(j)] / sizeOf(a, b, c, divisor)
					}
					for z := a.lo * area; z < a.hi*area; z += area {
						for k := z + b.lo*line; k < z+b.hi*line; k += line {
							row := img[k : k+line]
							for d := narrow - 1; d >= 0; d-- {
								for j, c := range bs[2] {
									if i := c.lo + d; i < c.hi {
										row[i] += share[j]
									}
								}
							}
						}
					}
					from += int64(len(bs[2]))
					continue
				}
				for _, c := range bs[2] {
					v := g[from] / sizeOf(a, b, c, divisor)
					from++
					for z := a.lo * area; z < a.hi*area; z += area {
						for k := z + b.lo*line; k < z+b.hi*line; k += line {
							row := img[k+c.lo : k+max(c.hi, c.lo)]
							for i := range row {
								row[i] += v
							}
						}
					}
				}
			}
		}
	})
}

// means is averages of t's planes, or the gradient of it where grad is given, into o.
func (c *Call) means(o, t, grad *tensor.Tensor, n int64, in []int64, bs [][]extent, divisor Value) {
	if grad == nil && channelsAreRows(t, o) {
		w, _ := windowsOf(in, bs, fill(nil, len(in), 1))
		sizes := windowSizes(bs, divisor)
		eachWindow(t, w, func(from, to, first int64, w native.Windows) {
			native.MeanWindows32(tensor.Whole[float32](o)[o.Offset+to:], tensor.Whole[float32](t)[t.Offset+from:], w, sizes[first:], int(t.Shape[1]))
		})
		return
	}
	if grad == nil && t.DType == tensor.Float32 {
		inRows(o, func(o *tensor.Tensor) { averages(o.Float32s(), c.dense(t, t.DType).Float32s(), n, in, bs, divisor) })
		return
	}
	res := c.zeros(o.Numel())
	if grad != nil {
		spread(res, c.floats(grad), n, in, bs, divisor)
	} else {
		averages(res, c.floats(t), n, in, bs, divisor)
	}
	o.SetFloats(res)
}

// unpool adds g's elements to the plane positions that ix names. One outside of the plane takes nothing, as in compiled code, which
// compares positions: repro files fill indices with zeros, from which padding makes such.
func (c *Call) unpool(g, t, ix *tensor.Tensor, nd int) *tensor.Tensor {
	o := c.New(t.DType, t.Shape, tensor.FormatStrides(t.Shape, t.SuggestMemoryFormat()))
	if !c.real {
		return o
	}
	_, n, in := planes(t, nd)
	is := c.ints(ix)
	if g.DType == tensor.Float32 && o.DType == tensor.Float32 {
		inRows(o, func(o *tensor.Tensor) {
			addAt(o.Float32s(), c.dense(g, g.DType).Float32s(), is, n, tensor.Numel(in))
		})
		return o
	}
	acc := c.numbers(t.Numel())
	addAt(acc, c.floats(g), is, n, tensor.Numel(in))
	o.SetFloats(acc)
	return o
}

// addAt makes y, n planes of size elements, the sums of g's elements at the positions that is names.
func addAt[T float32 | float64](y, g []T, is []int64, n, size int64) {
	per := int64(len(g)) / max(n, 1)
	parallel.For(int(n), int(grain/(max(size, per)+1)+1), func(lo, hi int) {
		clear(y[int64(lo)*size : int64(hi)*size])
		for q := int64(lo); q < int64(hi); q++ {
			plane, g, is := y[q*size:(q+1)*size], g[q*per:(q+1)*per], is[q*per:(q+1)*per]
			for j, x := range g {
				if at := uint64(is[j]); at < uint64(len(plane)) {
					plane[at] += x
				}
			}
		}
	})
}

// avgPool gives means, or with grad, their gradient: each element of a window gets its share.
func (c *Call) avgPool(t *tensor.Tensor, nd int, p poolSpec, includePad bool, divisor Value, grad *tensor.Tensor) *tensor.Tensor {
	lead, n, in := planes(t, nd)
	shape := append(slices.Clone(lead), p.out...)
	var o *tensor.Tensor
	if grad == nil {
		o = c.NewUnset(t.DType, shape, tensor.FormatStrides(shape, t.SuggestMemoryFormat()))
	} else {
		o = c.New(t.DType, t.Shape, tensor.FormatStrides(t.Shape, t.SuggestMemoryFormat()))
	}
	if !c.real {
		return o
	}
	var bs [][]extent
	for d := range in {
		row := make([]extent, p.out[d])
		for j := range row {
			a := int64(j)*p.stride[d] - p.pad[d]
			b := min(a+p.k[d], in[d]+p.pad[d])
			row[j] = extent{max(a, 0), min(b, in[d]), b - a}
			if !includePad {
				row[j].size = row[j].hi - row[j].lo
			}
		}
		bs = append(bs, row)
	}
	c.means(o, t, grad, n, in, bs, divisor)
	return o
}

// adaptive is the windows of an adaptive pool.
func adaptive(out, in []int64) (bs [][]extent) {
	for d := range out {
		row := make([]extent, out[d])
		for j := range row {
			o := int64(j)
			row[j].lo, row[j].hi = o*in[d]/out[d], ((o+1)*in[d]+out[d]-1)/out[d]
			row[j].size = row[j].hi - row[j].lo
		}
		bs = append(bs, row)
	}
	return bs
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
	c.means(o, t, grad, n, in, adaptive(out, in), nil)
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
			v, ix := c.NewUnset(t.DType, shape, st), c.NewUnset(tensor.Int64, shape, st)
			if c.real && t.Numel() > 0 {
				c.maxima(v, ix, t, n, in, adaptive(out, in), fill(nil, nd, 1))
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
			if !c.real || t.Numel() == 0 {
				return c.New(t.DType, shape, st), nil
			}
			o := c.NewUnset(t.DType, shape, st)
			is := c.ints(ix)
			per, outN := t.Numel()/n, tensor.Numel(out)
			at := -1
			if xs := c.dense(t, t.DType).Float32s(); xs != nil {
				inRows(o, func(o *tensor.Tensor) { at = unpoolTo(o.Float32s(), xs, is, n, per, outN) })
			} else {
				res := c.numbers(o.Numel())
				if at = unpoolTo(res, c.floats(t), is, n, per, outN); at < 0 {
					o.SetFloats(res)
				}
			}
			if at >= 0 {
				return nil, errf("Found an invalid max index: %d (output volumes are of size %s", is[at], tensor.ShapeText(out))
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

// unpoolTo stores xs, n planes of per elements, into planes of size elements of y, else zero, where is says; of several for one place the last counts.
// It gives the first entry of is that is no place in a plane, -1 where there is none.
func unpoolTo[T float32 | float64](y, xs []T, is []int64, n, per, size int64) int {
	var wrong atomic.Int64
	wrong.Store(math.MaxInt64)
	parallel.For(int(n), int(max(1, grain/max(per, size, 1))), func(lo, hi int) {
		clear(y[int64(lo)*size : int64(hi)*size])
		for q := int64(lo); q < int64(hi); q++ {
			plane := y[q*size : (q+1)*size]
			from := xs[q*per : (q+1)*per]
			for j, at := range is[q*per : (q+1)*per] {
				if uint64(at) >= uint64(len(plane)) {
					for k := q*per + int64(j); ; {
						if was := wrong.Load(); was <= k || wrong.CompareAndSwap(was, k) {
							return
						}
					}
				}
				plane[at] = from[j]
			}
		}
	})
	if at := wrong.Load(); at != math.MaxInt64 {
		return int(at)
	}
	return -1
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

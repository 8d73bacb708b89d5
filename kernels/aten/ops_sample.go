package aten

import (
	"math"
	"slices"
	"strconv"

	"whittle/kernels/tensor"
)

// Sampling at given places: grid_sampler, and pooling over windows that random numbers place.

// gridSpec is how grid_sampler interpolates: 0 linear, 1 nearest, 2 cubic; and what lies outside: 0 zeros, 1 the border, 2 a mirror.
type gridSpec struct {
	mode, pad int64
	align     bool
	single    bool // round each step to float32, as kernels for float32 do
}

func (g gridSpec) r(x float64) float64 {
	if g.single {
		return float64(float32(x))
	}
	return x
}

// source maps a normalised coordinate to a pixel coordinate, with its derivative.
func (g gridSpec) source(x float64, size int64) (y, dy float64) {
	n := float64(size)
	if g.align {
		return g.r(g.r(g.r(x+1) / 2 * (n - 1))), (n - 1) / 2
	}
	return g.r(g.r(g.r(g.r(x+1)*n)-1) / 2), n / 2
}

// inside applies the padding rule to a pixel coordinate.
func (g gridSpec) inside(x float64, size int64) (y, dy float64) {
	clip := func(x float64) (float64, float64) {
		if !(x > 0) {
			return 0, 0
		}
		if m := float64(size - 1); x >= m {
			return m, 0
		}
		return x, 1
	}
	switch g.pad {
	case 1:
		return clip(x)
	case 2:
		lo2, hi2 := int64(-1), 2*size-1
		if g.align {
			lo2, hi2 = 0, 2*(size-1)
		}
		if lo2 == hi2 {
			return 0, 0
		}
		low, span := float64(lo2)/2, float64(hi2-lo2)/2
		d := 1.0
		x -= low
		if x < 0 {
			x, d = -x, -1
		}
		extra := math.Mod(x, span)
		if flips := int64(math.Floor(x / span)); flips%2 == 0 {
			x = extra + low
		} else {
			x, d = span-extra+low, -d
		}
		y, c := clip(x)
		return y, d * c
	}
	return x, 1
}

// A gridTap is one pixel that a sample reads along one dimension: its index (-1: outside), weight, and the weight's derivative
// by the normalised coordinate.
type gridTap struct {
	i     int64
	w, dw float64
}

// cubicWeights are the weights of four neighbours, and their derivatives, for a sample at t between the middle ones: the cubic convolution of
// Keys (1981), with a = -0.75 as in PyTorch and OpenCV.
func cubicWeights(t float64) (w, d [4]float64) {
	const a = -0.75
	near := func(x float64) (float64, float64) {
		return ((a+2)*x-(a+3))*x*x + 1, (3*(a+2)*x - 2*(a+3)) * x
	}
	far := func(x float64) (float64, float64) {
		return ((a*x-5*a)*x+8*a)*x - 4*a, (3*a*x-10*a)*x + 8*a
	}
	w[0], d[0] = far(t + 1)
	w[1], d[1] = near(t)
	w[2], d[2] = near(1 - t)
	w[3], d[3] = far(2 - t)
	d[2], d[3] = -d[2], -d[3]
	return
}

// taps lists what a sample at normalised coordinate x reads along a dimension.
func (g gridSpec) taps(x float64, size int64) []gridTap {
	at := func(p float64) int64 {
		if !(p >= 0 && p < float64(size)) {
			return -1
		}
		return int64(p)
	}
	s, ds := g.source(x, size)
	if g.mode == 2 {
		f := math.Floor(s)
		w, d := cubicWeights(s - f)
		out := make([]gridTap, 4)
		for k := range out {
			p, _ := g.inside(f+float64(k-1), size)
			out[k] = gridTap{at(p), w[k], d[k] * ds}
		}
		return out
	}
	p, dp := g.inside(s, size)
	if g.mode == 1 {
		return []gridTap{{at(math.RoundToEven(p)), 1, 0}}
	}
	f := math.Floor(p)
	return []gridTap{{at(f), f + 1 - p, -ds * dp}, {at(f + 1), p - f, ds * dp}}
}

func (c *Call) gridCheck(x, grid *tensor.Tensor, nd int, mode int64) error {
	if x.Dim() != nd+2 || grid.Dim() != nd+2 {
		return errf("grid_sampler(): expected %dD input and grid with same number of dimensions, but got input with sizes %s and grid with sizes %s", nd+2, tensor.ShapeText(x.Shape), tensor.ShapeText(grid.Shape))
	}
	if x.Shape[0] != grid.Shape[0] {
		return errf("grid_sampler(): expected grid and input to have same batch size, but got input with sizes %s and grid with sizes %s", tensor.ShapeText(x.Shape), tensor.ShapeText(grid.Shape))
	}
	if grid.Shape[nd+1] != int64(nd) {
		return errf("grid_sampler(): expected grid to have size %d in last dimension, but got grid with sizes %s", nd, tensor.ShapeText(grid.Shape))
	}
	for d := 2; d < x.Dim(); d++ {
		if x.Shape[d] <= 0 {
			return errf("grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes %s with dimension %d being empty", tensor.ShapeText(x.Shape), d)
		}
	}
	if x.DType != grid.DType {
		return errf("grid_sampler(): expected input and grid to have same dtype, but input has %s and grid has %s", lName(x.DType), lName(grid.DType))
	}
	if nd == 3 && mode == 2 {
		return errf("grid_sampler(): bicubic interpolation only supports 4D input")
	}
	return nil
}

// eachSample calls f for each pixel that a sample reads: sample number within the image, pixel, weight, and its derivatives by the
// coordinates (x first).
func (g gridSpec) eachSample(coords []float64, spatial []int64, f func(sample int64, pixel int64, w float64, dw []float64)) {
	nd := len(spatial)
	taps := make([][]gridTap, nd) // slowest dimension first
	dw := make([]float64, nd)
	for s := int64(0); s*int64(nd) < int64(len(coords)); s++ {
		for d := range nd {
			taps[d] = g.taps(coords[s*int64(nd)+int64(nd-1-d)], spatial[d])
		}
		var walk func(d int, pixel int64, w float64, pick []gridTap)
		walk = func(d int, pixel int64, w float64, pick []gridTap) {
			if d == nd {
				for k := range nd {
					v := pick[k].dw
					for q := range nd {
						if q != k {
							v *= pick[q].w
						}
					}
					dw[nd-1-k] = v
				}
				f(s, pixel, w, dw)
				return
			}
			for _, t := range taps[d] {
				if t.i >= 0 {
					walk(d+1, pixel*spatial[d]+t.i, w*t.w, append(pick, t))
				}
			}
		}
		walk(0, 0, 1, make([]gridTap, 0, nd))
	}
}

func gridOps() {
	for _, nd := range []int{2, 3} {
		spec := func(c *Call, at int, t *tensor.Tensor) gridSpec {
			return gridSpec{c.I(at), c.I(at + 1), c.B(at + 2), t.DType != tensor.Float64}
		}
		names := "grid_sampler_" + strconv.Itoa(nd) + "d"
		if nd == 2 {
			names += " _grid_sampler_2d_cpu_fallback"
		}
		def(names, func(c *Call) (Value, error) {
			x, grid := c.T(0), c.T(1)
			if err := c.gridCheck(x, grid, nd, c.I(2)); err != nil {
				return nil, err
			}
			n, ch := x.Shape[0], x.Shape[1]
			places := grid.Shape[1 : nd+1]
			o := c.NewC(x.DType, append([]int64{n, ch}, places...)...)
			if !c.real || o.Numel() == 0 {
				return o, nil
			}
			px, per := tensor.Numel(x.Shape[2:]), tensor.Numel(places)
			xs, gs, out := c.floats(x), c.floats(grid), c.zeros(o.Numel())
			g := spec(c, 2, x)
			for b := int64(0); b < n; b++ {
				g.eachSample(gs[b*per*int64(nd):(b+1)*per*int64(nd)], x.Shape[2:], func(s, pixel int64, w float64, _ []float64) {
					for k := int64(0); k < ch; k++ {
						out[(b*ch+k)*per+s] += w * xs[(b*ch+k)*px+pixel]
					}
				})
			}
			o.SetFloats(out)
			return o, nil
		})
		def("grid_sampler_"+strconv.Itoa(nd)+"d_backward", func(c *Call) (Value, error) {
			dy, x, grid := c.T(0), c.T(1), c.T(2)
			if err := c.gridCheck(x, grid, nd, c.I(3)); err != nil {
				return nil, err
			}
			n, ch := x.Shape[0], x.Shape[1]
			mask, _ := c.Args[6].([]Value)
			var dx *tensor.Tensor
			if len(mask) == 0 || mask[0] == true {
				dx = c.NewC(x.DType, x.Shape...)
			}
			dg := c.NewC(grid.DType, grid.Shape...)
			if !c.real {
				return list(dx, dg), nil
			}
			px, per := tensor.Numel(x.Shape[2:]), tensor.Numel(grid.Shape[1:nd+1])
			xs, gs, ys := c.floats(x), c.floats(grid), c.floats(dy)
			ox, og := c.zeros(x.Numel()), c.zeros(grid.Numel())
			g := spec(c, 3, x)
			for b := int64(0); b < n; b++ {
				base := b * per * int64(nd)
				g.eachSample(gs[base:base+per*int64(nd)], x.Shape[2:], func(s, pixel int64, w float64, dw []float64) {
					for k := int64(0); k < ch; k++ {
						up := ys[(b*ch+k)*per+s]
						ox[(b*ch+k)*px+pixel] += up * w
						for d, v := range dw {
							og[base+s*int64(nd)+int64(d)] += up * v * xs[(b*ch+k)*px+pixel]
						}
					}
				})
			}
			if dx != nil {
				dx.SetFloats(ox)
			}
			dg.SetFloats(og)
			return list(dx, dg), nil
		})
	}
	comp("grid_sampler", func(c *Call) (Value, error) {
		if c.T(0).Dim() == 5 {
			return c.via("grid_sampler_3d", c.Args...)
		}
		return c.via("grid_sampler_2d", c.Args...)
	})
	comp("affine_grid_generator", func(c *Call) (Value, error) {
		theta, size := c.T(0), c.Ints(1)
		nd := len(size) - 2
		if nd != 2 && nd != 3 {
			return nil, errf("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
		}
		if theta.Dim() != 3 || theta.Shape[1] != int64(nd) || theta.Shape[2] != int64(nd)+1 {
			return nil, errf("Expected a batch of %d-D affine matrices, but got size %s", nd, tensor.ShapeText(theta.Shape))
		}
		// Coordinates, x first, then a one: [places, nd+1].
		var cols []Value
		for d := nd - 1; d >= 0; d-- {
			n := size[2+d]
			line := must(c.via("linspace", -1.0, 1.0, n, theta.DType))
			if !c.B(2) {
				line = must(c.via("div.Tensor", must(c.via("mul.Tensor", line, n-1)), n))
			}
			if n == 1 {
				line = must(c.via("zeros", ints([]int64{1}), theta.DType))
			}
			view := fill(nil, nd, 1)
			view[d] = n
			cols = append(cols, must(c.via("expand", must(c.via("reshape", line, ints(view))), ints(size[2:]))))
		}
		cols = append(cols, must(c.via("ones", ints(size[2:]), theta.DType)))
		for _, v := range cols {
			if e, ok := v.(error); ok {
				return nil, e
			}
		}
		base := must(c.via("reshape", must(c.via("stack", cols, int64(-1))), ints([]int64{1, tensor.Numel(size[2:]), int64(nd) + 1})))
		base = must(c.via("expand", base, ints([]int64{size[0], -1, -1})))
		out := must(c.via("bmm", base, must(c.via("transpose.int", theta, int64(1), int64(2)))))
		shape := append([]int64{size[0]}, append(slices.Clone(size[2:]), int64(nd))...)
		return c.via("view", out, ints(shape))
	})
}

// fractionalStarts places the windows along a dimension.
func fractionalStarts(sample float64, in, out, k int64, single bool) []int64 {
	seq := make([]int64, out)
	r := func(x float64) float64 {
		if single {
			return float64(float32(x))
		}
		return x
	}
	if out > 1 {
		alpha := r(float64(in-k) / float64(out-1))
		for i := int64(0); i < out-1; i++ {
			seq[i] = int64(r(r(float64(i)+sample)*alpha)) - int64(r(sample*alpha))
		}
	}
	if out > 0 {
		seq[out-1] = in - k
	}
	return seq
}

func fractionalPools() {
	for _, nd := range []int{2, 3} {
		sfx := strconv.Itoa(nd) + "d"
		def("fractional_max_pool"+sfx, func(c *Call) (Value, error) {
			t, k, size, samples := c.T(0), fill(c.Ints(1), nd, 1), fill(c.Ints(2), nd, 1), c.T(3)
			if t.Dim() != nd+1 && t.Dim() != nd+2 {
				return nil, errf("fractional_max_pool%s(): Expected %dD or %dD tensor, but got: %s", sfx, nd+1, nd+2, tensor.ShapeText(t.Shape))
			}
			lead, n, in := planes(t, nd)
			for d := range nd {
				if k[d] <= 0 || size[d] <= 0 {
					return nil, errf("fractional_max_pool%s(): kernel_size and output_size must be positive", sfx)
				}
				if size[d]+k[d]-1 > in[d] {
					return nil, errf("fractional_max_pool%s(): pool size %d too large relative to input size %d", sfx, k[d], in[d])
				}
			}
			if samples.DType != t.DType {
				return nil, errf("Expect _random_samples to have the same dtype as input")
			}
			if samples.Dim() != 3 || samples.Numel() < n*int64(nd) || samples.Shape[2] != int64(nd) {
				return nil, errf("Expect _random_samples.size(2) equals to %d; got %s.", nd, tensor.ShapeText(samples.Shape))
			}
			shape := append(slices.Clone(lead), size...)
			v, ix := c.NewC(t.DType, shape...), c.NewC(tensor.Int64, shape...)
			if !c.real {
				return list(v, ix), nil
			}
			xs, ss := c.floats(t), c.floats(samples)
			inN, outN := tensor.Numel(in), tensor.Numel(size)
			ov, oi := make([]float64, n*outN), make([]int64, n*outN)
			o, lo, hi, ones := make([]int64, nd), make([]int64, nd), make([]int64, nd), fill(nil, nd, 1)
			for q := int64(0); q < n; q++ {
				starts := make([][]int64, nd)
				for d := range nd {
					which := d
					if nd == 2 { // the plane's first sample places columns
						which = 1 - d
					}
					starts[d] = fractionalStarts(ss[q*int64(nd)+int64(which)], in[d], size[d], k[d], t.DType != tensor.Float64)
				}
				img := xs[q*inN : (q+1)*inN]
				for j := int64(0); j < outN; j++ {
					unravel(j, size, o)
					for d := range nd {
						lo[d] = starts[d][o[d]]
						hi[d] = lo[d] + k[d]
					}
					best, bi := math.Inf(-1), int64(-1)
					window(lo, hi, ones, in, func(i int64) {
						if bi < 0 || img[i] > best || img[i] != img[i] {
							best, bi = img[i], i
						}
					})
					ov[q*outN+j], oi[q*outN+j] = best, bi
				}
			}
			v.SetFloats(ov)
			ix.SetInts(oi)
			return list(v, ix), nil
		})
		def("fractional_max_pool"+sfx+"_backward", func(c *Call) (Value, error) {
			g, t, ix := c.T(0), c.T(1), c.T(4)
			o := c.NewC(t.DType, t.Shape...)
			if !c.real {
				return o, nil
			}
			v := c.unpool(g, t, ix, nd)
			tensor.Copy(o, v)
			return o, nil
		})
	}
}

package aten

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"whittle/kernels/tensor"
)

// TestPoolWindows holds pools, a row of windows at a time and one window at a time, against each window looked at by itself: strides, paddings, dilations,
// windows that stand over the edge, NaNs and infinities.
func TestPoolWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		in := []int64{1 + r.Int64N(4), 1 + r.Int64N(40)}
		var p poolSpec
		for d := range in {
			p.k, p.stride, p.dil = append(p.k, 1+r.Int64N(min(in[d], 5))), append(p.stride, 1+r.Int64N(3)), append(p.dil, 1)
			p.pad = append(p.pad, r.Int64N(p.k[d]/2+1))
			p.out = append(p.out, poolOut(in[d], p.k[d], p.pad[d], p.stride[d], 1, r.IntN(2) == 0))
		}
		var bs [][]extent
		for d := range in {
			row := make([]extent, p.out[d])
			for j := range row {
				row[j].lo, row[j].hi = p.bounds(d, int64(j), in[d])
				row[j].size = p.k[d]
			}
			bs = append(bs, row)
		}
		n := 1 + r.Int64N(3)
		x := make([]float32, n*in[0]*in[1])
		for i := range x {
			x[i] = float32(r.IntN(20))
			switch r.IntN(30) {
			case 0:
				x[i] = float32(math.NaN())
			case 1:
				x[i] = float32(math.Inf(r.IntN(2)*2 - 1))
			}
		}
		size := n * p.out[0] * p.out[1]
		v, ix, mean := make([]float32, size), make([]int64, size), make([]float32, size)
		var wv, wm []float32
		var wi []int64
		for q := range n {
			img := x[q*in[0]*in[1]:]
			for _, a := range bs[0] {
				for _, b := range bs[1] {
					best, at, sum := float32(math.Inf(-1)), a.lo*in[1]+b.lo, float32(0)
					for y := a.lo; y < a.hi; y++ {
						for z := b.lo; z < b.hi; z++ {
							e := img[y*in[1]+z]
							if e > best || e != e {
								best, at = e, y*in[1]+z
							}
						}
					}
					for y := a.lo; y < a.hi; y++ {
						for z := b.lo; z < b.hi; z++ {
							sum += img[y*in[1]+z]
						}
					}
					wv, wi, wm = append(wv, best), append(wi, at), append(wm, sum/float32(a.size*b.size))
				}
			}
		}
		maxBoxes(v, ix, x, n, in, bs, p.dil)
		averages(mean, x, n, in, bs, nil)
		for what, pair := range map[string][2]any{"maxima": {wv, v}, "positions": {wi, ix}, "means": {wm, mean}} {
			if diff := cmp.Diff(pair[0], pair[1], cmpopts.EquateNaNs()); diff != "" {
				t.Fatalf("%s of %v, %+v: %s", what, in, p, diff)
			}
		}
		back := make([]float32, len(x))
		want := make([]float32, len(x))
		addAt(back, mean, ix, n, in[0]*in[1])
		for i, m := range mean {
			want[int64(i)/(p.out[0]*p.out[1])*in[0]*in[1]+ix[i]] += m
		}
		if diff := cmp.Diff(want, back, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("back to %v: %s", in, diff)
		}
	}
}

// TestPickedSums: the gradient of picking elements is the transpose of its tables, and lines of two taps are what the general way makes of them.
func TestPickedSums(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var in, out []int64
		var tables, mixed [][][]tap
		for range 1 + r.IntN(3) {
			i, o := 1+r.Int64N(6), 1+r.Int64N(9)
			in, out = append(in, i), append(out, o)
			tables = append(tables, taps("nearest", i, o, false, nil, tensor.Float32))
			mixed = append(mixed, taps("linear", i, o, r.IntN(2) == 0, nil, tensor.Float32))
		}
		lead := 1 + r.Int64N(3)
		g := make([]float32, lead*tensor.Numel(out))
		for i := range g {
			g[i] = float32(r.IntN(64))
		}
		got, want := make([]float32, lead*tensor.Numel(in)), make([]float32, lead*tensor.Numel(in))
		pickedSums(got, g, lead, in, out, picks(tables))
		resample(want, g, lead, in, out, tables, true)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v from %v: %s", in, out, diff)
		}
		// A third tap of no weight takes the general way.
		plain := make([][][]tap, len(mixed))
		for d, table := range mixed {
			for _, ts := range table {
				plain[d] = append(plain[d], append(append([]tap{}, ts...), tap{0, 0}))
			}
		}
		x := want
		a, b := make([]float32, len(g)), make([]float32, len(g))
		resample(a, x, lead, in, out, mixed, false)
		resample(b, x, lead, in, out, plain, false)
		if diff := cmp.Diff(b, a); diff != "" {
			t.Fatalf("%v to %v: %s", in, out, diff)
		}
	}
}

// normal is n float32 numbers, normally distributed with a deviation, of which others take the first places.
func normal(r *rand.Rand, n int64, deviation float64, first ...float32) *tensor.Tensor {
	x := tensor.Empty(tensor.Float32, n)
	xs := x.Float32s()
	for i := range xs {
		xs[i] = float32(r.NormFloat64() * deviation)
	}
	copy(xs, first)
	return x
}

// TestPowersOf: powers of a number are the general ones, to the last bit but one, of special values as well.
func TestPowersOf(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	x := normal(r, 1200, 20, 0, float32(math.Copysign(0, -1)), 1, -1, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1e30, -1e30)
	xs := x.Float32s()
	for _, b := range []float64{2, 0.5, 1e-3, 3.7, 1e20, 1, 0, -2, math.Inf(1), math.NaN()} {
		out := mustTensor(t, "aten.pow.Scalar", b, x)
		if b == -2 {
			continue // of which only whole powers are numbers
		}
		for i, y := range out.Float32s() {
			want := math.Pow(float64(float32(b)), float64(xs[i]))
			if w := float32(want); y != w && !(y != y && w != w) && math.Abs(float64(y)-want) > 1.5e-7*math.Abs(want)+2e-45 {
				t.Errorf("%v to the power of %v is %v, want %v", b, xs[i], y, w)
			}
		}
	}
}

// TestSinc holds sinc, and sums of every other element, against their plain forms.
func TestSinc(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	x := normal(r, 1500, 30, 0, float32(math.Copysign(0, -1)), 1e-40, float32(math.Inf(1)), float32(math.NaN()), 1, 2.5)
	xs := x.Float32s()
	for i, y := range mustTensor(t, "aten.sinc", x).Float32s() {
		if want := sinc32(float64(xs[i])); !(math.Abs(float64(y)-want) <= 3e-7*math.Abs(want)+3e-8) && !(y != y && want != want) {
			t.Errorf("sinc(%v) is %v, want %v", xs[i], y, want)
		}
	}
	for _, n := range []int64{1, 2, 15, 700} {
		a, b := tensor.NewView(x, []int64{n}, []int64{2}, 0), tensor.NewView(x, []int64{n}, []int64{2}, 1)
		for i, y := range mustTensor(t, "aten.add.Tensor", a, b).Float32s() {
			if want := xs[2*i] + xs[2*i+1]; y != want && want == want {
				t.Errorf("%d: %v, want %v", i, y, want)
			}
		}
	}
}

// TestPoolsOfChannelsLast: what is pooled does not depend on how it lies in memory.
func TestPoolsOfChannelsLast(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for i := range 60 {
		n, ch, h, w := 1+r.Int64N(3), 4+r.Int64N(200), 4+r.Int64N(12), 4+r.Int64N(12)
		last := tensor.EmptyUnset(tensor.Float32, []int64{n, ch, h, w}, []int64{ch * h * w, 1, ch * w, ch})
		v := make([]float64, last.Numel())
		for i := range v {
			if v[i] = float64(r.IntN(20)); r.IntN(30) == 0 {
				v[i] = math.NaN()
			}
		}
		last.SetFloats(v)
		plain := last.Contiguous()
		k, pad := 2+r.Int64N(2), r.Int64N(2)
		kernel, stride, padding, ceil := ints([]int64{k, k}), ints([]int64{1 + r.Int64N(3), 1 + r.Int64N(3)}), ints([]int64{pad, pad}), r.IntN(2) == 0
		for op, args := range map[string][]Value{
			"aten.max_pool2d_with_indices.default": {kernel, stride, padding, ints([]int64{1, 1}), ceil},
			"aten.avg_pool2d.default":              {kernel, stride, padding, ceil, i%2 == 0, nil},
			"aten.adaptive_max_pool2d.default":     {ints([]int64{3, 2})},
			"aten._adaptive_avg_pool2d.default":    {ints([]int64{3, 2})},
		} {
			var results [2][]Value
			for i, x := range []*tensor.Tensor{last, plain} {
				v, err := Run(Eager, op, append([]Value{x}, args...)...)
				if err != nil {
					t.Fatal(err)
				}
				if l, ok := v.([]Value); ok {
					results[i] = l
				} else {
					results[i] = []Value{v}
				}
			}
			for i := range results[0] {
				got, want := results[0][i].(*tensor.Tensor), results[1][i].(*tensor.Tensor)
				if !got.IsContiguous(tensor.ChannelsLast) {
					t.Fatalf("%s: result %d has strides %v", op, i, got.Stride)
				}
				if diff := cmp.Diff(want.Floats(), got.Floats(), cmpopts.EquateNaNs()); diff != "" {
					t.Fatalf("%s of %v: result %d: %s", op, last.Shape, i, diff)
				}
			}
		}
	}
}

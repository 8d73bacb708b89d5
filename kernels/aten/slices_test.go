package aten

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"whittle/kernels/tensor"
)

// laid is a float32 tensor of the shape with small random numbers, whose dimensions lie in memory in a random order.
func laid(r *rand.Rand, shape ...int64) *tensor.Tensor {
	stride, n := make([]int64, len(shape)), int64(1)
	for _, d := range r.Perm(len(shape)) {
		stride[d] = n
		n *= shape[d]
	}
	base := tensor.Empty(tensor.Float32, n)
	for i := range base.Float32s() {
		base.Float32s()[i] = float32(r.IntN(9) - 4)
	}
	return tensor.NewView(base, shape, stride, 0)
}

func randomShape(r *rand.Rand, dims int) []int64 {
	shape := make([]int64, dims)
	for d := range shape {
		shape[d] = 1 + r.Int64N(7)
	}
	return shape
}

// each calls f for every position of the shape, in row-major order.
func each(shape []int64, f func(pos []int64)) {
	pos := make([]int64, len(shape))
	for i := range tensor.Numel(shape) {
		unravel(i, shape, pos)
		f(pos)
	}
}

// where is where the element at pos is in t's storage.
func where(t *tensor.Tensor, pos []int64) int64 {
	at := t.Offset
	for d, p := range pos {
		at += p * t.Stride[d]
	}
	return at
}

var joinings = map[joining]func(old, x float32) float32{
	storing: func(_, x float32) float32 { return x }, adding: func(o, x float32) float32 { return o + x }, multiplying: func(o, x float32) float32 { return o * x },
	greatest: func(o, x float32) float32 { return max(o, x) }, least: func(o, x float32) float32 { return min(o, x) }}

// TestJoin: slices and rows that are written at indexed places, of any strides, are what one element after the other gives.
func TestJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		shape := randomShape(r, 1+r.IntN(3))
		d := r.IntN(len(shape))
		o := laid(r, shape...)
		count := 1 + r.Int64N(9)
		vShape := slices.Clone(shape)
		vShape[d] = count
		v := laid(r, vShape...)
		for how, f := range joinings {
			for _, fresh := range []bool{false, true} {
				at := make([]int64, count)
				for i := range at {
					at[i] = r.Int64N(shape[d])
				}
				got, want := o.Clone(), o.Clone()
				seen := map[int64]bool{}
				w := tensor.Whole[float32](want)
				each(vShape, func(pos []int64) {
					x := tensor.Whole[float32](v)[where(v, pos)]
					pos = slices.Clone(pos)
					pos[d] = at[pos[d]]
					if p := where(want, pos); fresh && !seen[p] {
						w[p], seen[p] = x, true
					} else {
						w[p] = f(w[p], x)
					}
				})
				if !joinSlices(got, int64(d), at, v, how, fresh) {
					t.Fatal("not joined")
				}
				if diff := cmp.Diff(want.Floats(), got.Floats()); diff != "" {
					t.Fatalf("%d: slices %v of %v along %d, joining %d, fresh %v:\n%s", n, at, shape, d, how, fresh, diff)
				}
			}
			ix := tensor.Empty(tensor.Int64, vShape...)
			for i := range ix.Int64s() {
				ix.Int64s()[i] = r.Int64N(shape[d])
			}
			got, want := o.Clone(), o.Clone()
			w := tensor.Whole[float32](want)
			each(vShape, func(pos []int64) {
				to := slices.Clone(pos)
				to[d] = ix.Int64s()[where(ix, pos)]
				p := where(want, to)
				w[p] = f(w[p], tensor.Whole[float32](v)[where(v, pos)])
			})
			if !joinRows(got, ix, int64(d), v, how) {
				t.Fatal("not joined")
			}
			if diff := cmp.Diff(want.Floats(), got.Floats()); diff != "" {
				t.Fatalf("%d: rows of %v along %d, joining %d:\n%s", n, shape, d, how, diff)
			}
		}
	}
	if o := laid(r, 3); joinRows(o, tensor.FromInt64s([]int64{3}, 1), 0, laid(r, 1), storing) {
		t.Error("an index that is out of bounds was taken")
	}
}

// TestReduceWords: reductions at places, with repeated ones, beside the elements of other dtypes, which are gathered in maps.
func TestReduceWords(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name := range joiningOf {
		for _, include := range []bool{false, true} {
			o, v := laid(r, 20), laid(r, 50)
			pos := make([]int64, 50)
			for i := range pos {
				pos[i] = r.Int64N(15)
			}
			want := o.To(tensor.Float64).To(tensor.Float32)
			f := reducer(name)
			acc, count := map[int64]float64{}, map[int64]float64{}
			for i, p := range pos {
				if count[p] == 0 && include {
					acc[p], count[p] = o.At(p), 1
				}
				if count[p]++; count[p] == 1 {
					acc[p] = v.At(int64(i))
				} else {
					acc[p] = float64(float32(f(acc[p], v.At(int64(i)))))
				}
			}
			for p, x := range acc {
				if name == "mean" {
					x /= count[p]
				}
				want.Set(p, x)
			}
			reduceAt(o, pos, v, name, include)
			if diff := cmp.Diff(want.Floats(), o.Floats()); diff != "" {
				t.Errorf("%s, include %v:\n%s", name, include, diff)
			}
		}
	}
}

// TestWindows: pools of windows of any width, gone through in rows or one by one, beside windows that are visited element by element.
func TestWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		nd := 1 + r.IntN(3)
		in, dil := make([]int64, nd), make([]int64, nd)
		bs := make([][]extent, nd)
		for d := range in {
			in[d], dil[d] = 1+r.Int64N(24), 1+r.Int64N(2)
			for range 1 + r.IntN(12) {
				lo := r.Int64N(in[d])
				hi := min(lo+1+r.Int64N(5), in[d])
				bs[d] = append(bs[d], extent{lo, hi, hi - lo})
			}
			slices.SortFunc(bs[d], func(a, b extent) int { return int(a.lo - b.lo) })
		}
		out := make([]int64, nd)
		for d := range bs {
			out[d] = int64(len(bs[d]))
		}
		const planes = 2
		inN, outN := tensor.Numel(in), tensor.Numel(out)
		x, g := make([]float64, planes*inN), make([]float64, planes*outN)
		for i := range x {
			x[i] = float64(r.IntN(50))
			if r.IntN(40) == 0 {
				x[i] = math.NaN()
			}
		}
		for i := range g {
			g[i] = r.Float64()
		}
		v, ix, mean, back := make([]float64, planes*outN), make([]int64, planes*outN), make([]float64, planes*outN), make([]float64, planes*inN)
		maxBoxes(v, ix, x, planes, in, bs, dil)
		averages(mean, x, planes, in, bs, nil)
		spread(back, g, planes, in, bs, nil)
		wv, wix, wmean, wback := make([]float64, planes*outN), make([]int64, planes*outN), make([]float64, planes*outN), make([]float64, planes*inN)
		ones := fill(nil, nd, 1)
		for q := range int64(planes) {
			k := q * outN
			each(out, func(pos []int64) {
				lo, hi, size := make([]int64, nd), make([]int64, nd), 1.0
				for d, p := range pos {
					lo[d], hi[d] = bs[d][p].lo, bs[d][p].hi
					size *= float64(bs[d][p].size)
				}
				best, bi := math.Inf(-1), int64(-1)
				window(lo, hi, dil, in, func(i int64) {
					if e := x[q*inN+i]; bi < 0 || e > best || e != e {
						best, bi = e, i
					}
				})
				wv[k], wix[k] = best, bi
				window(lo, hi, ones, in, func(i int64) {
					wmean[k] += x[q*inN+i]
					wback[q*inN+i] += g[k] / size
				})
				wmean[k] /= size
				k++
			})
		}
		if diff := cmp.Diff([]any{wv, wix, wmean, wback}, []any{v, ix, mean, back}, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("%v in %v, %v: %s", bs, in, dil, diff)
		}
	}
}

// TestSorted: keys that carry their places are in the stable order, and so is what is found without sorting all.
func TestSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 2, 17, 255, 256, 3000} {
		for _, desc := range []bool{false, true} {
			l := &sorting{b: make([]float64, n), slim: true}
			for i := range l.b {
				l.b[i] = float64(float32(r.NormFloat64()))
				switch r.IntN(6) {
				case 0:
					l.b[i] = math.NaN()
				case 1:
					l.b[i] = float64(r.IntN(3) - 1)
				case 2:
					l.b[i] = math.Copysign(0, -1)
				}
			}
			want := make([]int64, n)
			for i := range want {
				want[i] = int64(i)
			}
			sort.SliceStable(want, func(i, j int) bool {
				x, y := l.b[want[i]], l.b[want[j]]
				if desc {
					x, y = y, x
				}
				return lessNaN(x, y)
			})
			if diff := cmp.Diff(want, slices.Clone(l.order(desc))); diff != "" {
				t.Errorf("%d, descending %v: %s", n, desc, diff)
			}
			for _, k := range []int{0, n / 3, n - 1} {
				if got := l.at(k); !desc && got != want[k] {
					t.Errorf("place %d of %d is %d, want %d", k, n, got, want[k])
				}
			}
		}
	}
}

// TestAcross: lines that lie apart are transformed as those whose elements are neighbours.
func TestAcross(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, shape := range [][]int64{{5, 3}, {12, 19}, {2, 7, 9}} {
		a := tensor.Empty(tensor.Complex128, shape...)
		for i := range tensor.Whole[complex128](a) {
			tensor.Whole[complex128](a)[i] = complex(r.NormFloat64(), r.NormFloat64())
		}
		d := a.Dim() - 2
		turned := slices.Clone(shape)
		turned[d], turned[d+1] = turned[d+1], turned[d]
		b := tensor.Empty(tensor.Complex128, turned...)
		st := slices.Clone(b.Stride)
		st[d], st[d+1] = st[d+1], st[d]
		view := tensor.NewView(b, shape, st, 0)
		for _, forward := range []bool{true, false} {
			tensor.Copy(view, a)
			fftLines(b, b, d+1, forward, 0.5)
			fftLines(a, a, d, forward, 0.5)
			if diff := cmp.Diff(view.Complexes(), a.Complexes()); diff != "" {
				t.Errorf("%v, forward %v: %s", shape, forward, diff)
			}
		}
	}
}

// TestDeep: convolutions in three dimensions of one channel, beside the sum for each element.
func TestDeep(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for n := range 60 {
		g, co := 1+r.Int64N(3), 1+r.Int64N(2)
		ws := append([]int64{g * co, 1}, randomShape(r, 3)...)
		xs := []int64{1 + r.Int64N(2), g}
		s := convSpec{groups: g}
		ys := []int64{xs[0], g * co}
		for d := range 3 {
			s.stride, s.pad, s.dil = append(s.stride, 1+r.Int64N(2)), append(s.pad, r.Int64N(3)), append(s.dil, 1+r.Int64N(2))
			reach := s.dil[d]*(ws[2+d]-1) + 1
			in := max(reach-2*s.pad[d], 1) + r.Int64N(5)
			xs = append(xs, in)
			ys = append(ys, (in+2*s.pad[d]-reach)/s.stride[d]+1)
		}
		x, w, y := laid(r, xs...).Contiguous(), laid(r, ws...).Contiguous(), tensor.Empty(tensor.Float32, ys...)
		convDeep(y.Float32s(), x.Float32s(), w.Float32s(), ys, xs, ws, s)
		want := tensor.Empty(tensor.Float32, ys...)
		each(ys, func(at []int64) {
			sum := 0.0
			each(ws[2:], func(k []int64) {
				from := []int64{at[0], at[1] / co, 0, 0, 0}
				for d := range 3 {
					from[2+d] = at[2+d]*s.stride[d] - s.pad[d] + k[d]*s.dil[d]
					if from[2+d] < 0 || from[2+d] >= xs[2+d] {
						return
					}
				}
				sum += x.At(where(x, from)) * w.At(where(w, []int64{at[1], 0, k[0], k[1], k[2]}))
			})
			want.Set(where(want, at), sum)
		})
		if diff := cmp.Diff(want.Floats(), y.Floats()); diff != "" {
			t.Fatalf("%d: %v by %v, %+v: %s", n, xs, ws, s, diff)
		}
	}
}

// TestNeeded: a resampling that leaves out what no tap reads gives the same bits.
func TestNeeded(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, mode := range []string{"linear", "cubic", "nearest"} {
		x := laid(r, 2, 3, 40, 30)
		out, in := []int64{3, 2}, []int64{40, 30}
		var tables [][][]tap
		for d := range out {
			tables = append(tables, taps(mode, in[d], out[d], false, nil, tensor.Float32))
		}
		if _, fewer, _ := needed(x, in, tables); tensor.Numel(fewer) >= tensor.Numel(in) {
			t.Errorf("%s: nothing is left out", mode)
		}
		got, want := tensor.Empty(tensor.Float32, 2, 3, 3, 2), make([]float32, 36)
		resampledSums(got, x, 6, in, out, tables, false)
		resample(want, x.Contiguous().Float32s(), 6, in, out, tables, false)
		if diff := cmp.Diff(want, got.Float32s()); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
	}
}

// BenchmarkIndexed times operators that write and read at indexed places, pools and sorting.
func BenchmarkIndexed(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x := laid(r, 1024, 1024).Contiguous()
	turned := tensor.NewView(x, x.Shape, []int64{1, 1024}, 0)
	ix, rows := tensor.Empty(tensor.Int64, 1024, 1024), tensor.Empty(tensor.Int64, 1024)
	for i := range ix.Int64s() {
		ix.Int64s()[i] = r.Int64N(1024)
	}
	for i := range rows.Int64s() {
		rows.Int64s()[i] = r.Int64N(1024)
	}
	img := tensor.NewView(x, []int64{8, 32, 64, 64}, []int64{32 * 64 * 64, 64 * 64, 64, 1}, 0)
	two := ints([]int64{2, 2})
	for _, in := range []struct {
		name string
		t    *tensor.Tensor
	}{{"rows", x}, {"turned", turned}} {
		for name, args := range map[string][]Value{
			"scatter_add": {in.t, int64(1), ix, x}, "index_add": {in.t, int64(0), rows, x, int64(1)}, "index_reduce": {in.t, int64(1), rows, x, "prod", true}, "index_copy": {in.t, int64(1), rows, x},
			"index_select": {in.t, int64(1), rows}, "gather": {in.t, int64(1), ix, false}, "take": {in.t, ix}, "kthvalue": {in.t, int64(100), int64(1), false},
		} {
			b.Run(fmt.Sprint(name, " ", in.name), func(b *testing.B) {
				for range b.N {
					if _, err := callOn(Eager, name, args); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	for name, args := range map[string][]Value{"avg_pool2d": {img, two, two}, "max_pool2d_with_indices": {img, two, two}, "_adaptive_avg_pool2d": {img, two}} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := callOn(Eager, name, args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestLargeSumsOfIntegers: sums of many integers are those of their elements, one by one, of what is repeated and of what lies in another order too.
func TestLargeSumsOfIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 2))
	for i := range 40 {
		shape := []int64{30 + r.Int64N(20), 30 + r.Int64N(20), 40 + r.Int64N(20)}
		base := tensor.Empty([]tensor.DType{tensor.Int64, tensor.Int32, tensor.Bool}[i%3], shape...)
		for j := range base.Numel() {
			base.SetInt(j, r.Int64N(2))
		}
		x := tensor.NewView(base, shape, slices.Clone(base.Stride), 0)
		switch r.IntN(3) {
		case 0:
			x.Stride[r.IntN(3)] = 0
		case 1:
			x.Shape[1], x.Shape[2], x.Stride[1], x.Stride[2] = x.Shape[2], x.Shape[1], x.Stride[2], x.Stride[1]
		}
		var dims []int64
		for d := range int64(3) {
			if r.IntN(2) == 0 {
				dims = append(dims, d)
			}
		}
		if dims == nil {
			dims = []int64{r.Int64N(3)}
		}
		got := mustTensor(t, "aten.sum.dim_IntList", x, ints(dims), true)
		want, xs, at := make([]int64, got.Numel()), x.Ints(), 0
		each(x.Shape, func(pos []int64) {
			k := int64(0)
			for d, p := range pos {
				if !slices.Contains(dims, int64(d)) {
					k = k*x.Shape[d] + p
				}
			}
			want[k] += xs[at]
			at++
		})
		if diff := cmp.Diff(want, got.Ints()); diff != "" {
			t.Fatalf("%v %v over %v: %s", x.Shape, x.Stride, dims, diff)
		}
	}
}

// masked_scatter takes the elements of its source in order, whatever the layouts, over the parts that a mask is walked through in, and from itself front to back.
func TestMaskedScatterLayouts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for _, shape := range [][]int64{{7}, {3, 5}, {4, 3, 6}, {300, 257}} {
		for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int16, tensor.UInt8, tensor.Complex128} {
			x, m, src := laid(r, shape...).To(dtype), laid(r, shape...).To(tensor.Bool), laid(r, shape...).To(dtype)
			want, from, next := x.Complexes(), src.Complexes(), 0
			for i, set := range m.Ints() {
				if set != 0 {
					want[i] = from[next]
					next++
				}
			}
			o, err := Run(Eager, "aten.masked_scatter.default", x, m, src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, o.(*tensor.Tensor).Complexes()); diff != "" {
				t.Errorf("%v of %s (-want +got):\n%s", shape, dtype, diff)
			}
		}
	}
	x, m := tensor.Empty(tensor.Float32, 40000), tensor.Empty(tensor.Bool, 40000)
	for i := range x.Float32s() {
		x.Float32s()[i], m.Bytes()[i] = float32(i), 1
	}
	m.Bytes()[0] = 0
	if _, err := Run(Eager, "aten.masked_scatter_.default", x, m, x); err != nil || slices.Max(x.Float32s()) != 0 {
		t.Errorf("from itself: %v, up to %g; want zeros, each of which comes from the one before", err, slices.Max(x.Float32s()))
	}
}

// Few elements that nearest picks out of planes that lie across are those that it picks out of rows.
func TestPickedAcross(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	x := laid(r, 2, 3, 40, 50)
	across := tensor.Empty(tensor.Float32, 2, 3, 50, 40)
	across = tensor.NewView(across, []int64{2, 3, 40, 50}, []int64{6000, 2000, 1, 40}, 0)
	tensor.Copy(across, x)
	for _, size := range []int64{3, 30} {
		var got [2][]float64
		for i, in := range []*tensor.Tensor{x.Contiguous(), across} {
			o, err := Run(Eager, "aten.upsample_nearest2d.default", in, []Value{size, size}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got[i] = o.(*tensor.Tensor).Floats()
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Errorf("%d: %s", size, diff)
		}
	}
}

// floatsFrom is what an operator gives, as floats.
func floatsFrom(t *testing.T, op string, args ...Value) []float64 {
	t.Helper()
	v, err := Run(Eager, op, args...)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	return v.(*tensor.Tensor).Floats()
}

// all and any of bools along rows that go together eight at a time are what they are of floats.
func TestLogicalColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, shape := range [][]int64{{5, 16}, {3, 77}, {2, 4, 33}, {700, 40}} {
		x := tensor.Empty(tensor.Float32, shape...)
		for i := range x.Float32s() {
			x.Float32s()[i] = float32(min(r.IntN(6), 1))
			if i%int(shape[len(shape)-1]) < 9 {
				x.Float32s()[i] = float32(i % 3 / 2)
			}
		}
		for _, op := range []string{"aten.all.dim", "aten.any.dim"} {
			for dim := range int64(len(shape)) {
				got, want := floatsFrom(t, op, x.To(tensor.Bool), dim, false), floatsFrom(t, op, x, dim, false)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s of %v along %d: %s", op, shape, dim, diff)
				}
			}
		}
	}
}

// Operands that lie across are joined to bands of rows, whatever else the others do, and nll_loss2d reads scores where they lie.
func TestBandsAcross(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 9))
	for _, shape := range [][]int64{{3, 40, 24}, {2, 33, 70}, {65, 16}} {
		k := len(shape) - 1
		turned := slices.Clone(shape)
		turned[k], turned[k-1] = shape[k-1], shape[k]
		across := func(x *tensor.Tensor) *tensor.Tensor {
			y := tensor.Empty(x.DType, turned...)
			stride := slices.Clone(y.Stride)
			stride[k], stride[k-1] = stride[k-1], stride[k]
			y = tensor.NewView(y, x.Shape, stride, 0)
			tensor.Copy(y, x)
			return y
		}
		row := slices.Clone(shape)
		row[k-1] = 1
		x := laid(r, shape...).Contiguous()
		for _, y := range []*tensor.Tensor{laid(r, shape...).Contiguous(), laid(r, row...).Contiguous(), laid(r, shape[k])} {
			got, want := floatsFrom(t, "aten.sub.Tensor", x, across(y.Expand(shape))), floatsFrom(t, "aten.sub.Tensor", x, y)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v - %v: %s", shape, y.Shape, diff)
			}
			got = floatsFrom(t, "aten.addcmul.default", y.Expand(shape), x, across(x))
			want = floatsFrom(t, "aten.addcmul.default", y.Expand(shape), x, x)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v + %v: %s", shape, y.Shape, diff)
			}
		}
	}
	scores := laid(r, 2, 3, 4, 5).Contiguous()
	base := tensor.NewView(tensor.Empty(tensor.Float32, 2, 3, 5, 4), []int64{2, 3, 4, 5}, []int64{60, 20, 1, 4}, 0)
	tensor.Copy(base, scores)
	y := tensor.Empty(tensor.Int64, 2, 4, 5)
	ys := make([]int64, 40)
	for i := range ys {
		ys[i] = r.Int64N(3)
	}
	y.SetInts(ys)
	want, got := floatsFrom(t, "aten.nll_loss2d.default", scores, y, nil, int64(0), int64(-100)), floatsFrom(t, "aten.nll_loss2d.default", base, y, nil, int64(0), int64(-100))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nll_loss2d: %s", diff)
	}
}

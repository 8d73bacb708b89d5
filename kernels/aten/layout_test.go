package aten_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// filled is a tensor of ordinary numbers and some that are not, whose dimensions lie in memory in the order of perm, slowest first.
func filled(d tensor.DType, perm []int, shape ...int64) *tensor.Tensor {
	st, n := make([]int64, len(shape)), int64(1)
	for i := len(perm) - 1; i >= 0; i-- {
		st[perm[i]] = n
		n *= shape[perm[i]]
	}
	t := tensor.EmptyStrided(d, shape, st)
	xs := make([]float64, t.Numel())
	for i := range xs {
		xs[i] = math.Round((rand.Float64()*4-2)*64) / 64
		if rand.IntN(500) == 0 {
			xs[i] = []float64{math.NaN(), math.Inf(1), 0}[rand.IntN(3)]
		}
	}
	t.SetFloats(xs)
	return t
}

// results are the elements of what an operator gives, one tensor or several.
func results(t *testing.T, name string, args ...aten.Value) [][]float64 {
	t.Helper()
	v, err := aten.Run(aten.Eager, name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	list, ok := v.([]aten.Value)
	if !ok {
		list = []aten.Value{v}
	}
	var out [][]float64
	for _, x := range list {
		out = append(out, x.(*tensor.Tensor).Floats())
	}
	return out
}

// TestLayouts: what an operator gives does not depend on how its operands lie in memory.
func TestLayouts(t *testing.T) {
	shape := []int64{37, 70, 45}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		tolerance := map[tensor.DType]float64{tensor.Float32: 1e-5, tensor.Float64: 1e-12, tensor.BFloat16: 0.02}[d]
		for _, perm := range [][]int{{0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}} {
			x, y, z := filled(d, perm, shape...), filled(d, []int{0, 1, 2}, shape...), filled(d, []int{1, 2, 0}, shape...)
			row := filled(d, []int{0}, 45)
			cx, cz := x.Contiguous(), z.Contiguous()
			same := func(name string, exact bool, of, with func(name string) [][]float64) {
				t.Helper()
				got, want := of(name), with(name)
				for k := range want {
					for i := range want[k] {
						g, w := got[k][i], want[k][i]
						if g == w || g != g && w != w || !exact && math.Abs(g-w) <= tolerance*max(1, math.Abs(w)) {
							continue
						}
						t.Fatalf("%s of %v in %v: result %d at %d: %v, contiguous %v", name, d, perm, k, i, g, w)
					}
				}
			}
			for _, name := range []string{"aten.add.Tensor", "aten.mul.Tensor", "aten.remainder.Tensor", "aten.fmod.Tensor", "aten.copysign.Tensor", "aten.lt.Tensor", "aten.logical_xor.default", "aten.maximum.default", "aten.fmin.default"} {
				same(name, true, func(n string) [][]float64 { return results(t, n, x, y) }, func(n string) [][]float64 { return results(t, n, cx, y) })
				same(name, true, func(n string) [][]float64 { return results(t, n, z, row) }, func(n string) [][]float64 { return results(t, n, cz, row) })
			}
			same("aten.addcmul.default", true, func(n string) [][]float64 { return results(t, n, y, x, z) }, func(n string) [][]float64 { return results(t, n, y, cx, cz) })
			same("aten.clamp.Tensor", true, func(n string) [][]float64 { return results(t, n, y, x, z) }, func(n string) [][]float64 { return results(t, n, y, cx, cz) })
			for _, name := range []string{"aten.frac.default", "aten.isinf.default", "aten.isfinite.default", "aten.isnan.default", "aten.logical_not.default", "aten.hardswish.default", "aten.tril.default"} {
				same(name, true, func(n string) [][]float64 { return results(t, n, x) }, func(n string) [][]float64 { return results(t, n, cx) })
			}
			for _, dims := range [][]int64{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}, {-1, 0}} {
				for _, keep := range []bool{false, true} {
					list := []aten.Value{}
					for _, k := range dims {
						list = append(list, k)
					}
					for _, name := range []string{"aten.sum.dim_IntList", "aten.nansum.default", "aten.mean.dim", "aten.amax.default", "aten.amin.default", "aten.logsumexp.default"} {
						same(fmt.Sprintf("%s %v", name, dims), name[5:7] == "am", func(string) [][]float64 { return results(t, name, x, list, keep) }, func(string) [][]float64 { return results(t, name, cx, list, keep) })
					}
					same(fmt.Sprintf("norm %v", dims), false, func(string) [][]float64 { return results(t, "aten.linalg_vector_norm.default", x, 2.0, list, keep) }, func(string) [][]float64 {
						return results(t, "aten.linalg_vector_norm.default", cx, 2.0, list, keep)
					})
					same(fmt.Sprintf("var %v", dims), false, func(string) [][]float64 { return results(t, "aten.var_mean.dim", x, list, true, keep) }, func(string) [][]float64 {
						return results(t, "aten.var_mean.dim", cx, list, true, keep)
					})
				}
			}
			for dim := range int64(3) {
				for _, name := range []string{"aten.argmax.default", "aten.argmin.default", "aten.max.dim", "aten.min.dim", "aten.prod.dim_int"} {
					same(fmt.Sprintf("%s %d", name, dim), name != "aten.prod.dim_int", func(string) [][]float64 { return results(t, name, x, dim, true) }, func(string) [][]float64 { return results(t, name, cx, dim, true) })
				}
				same(fmt.Sprintf("cumsum %d", dim), false, func(string) [][]float64 { return results(t, "aten.cumsum.default", x, dim) }, func(string) [][]float64 { return results(t, "aten.cumsum.default", cx, dim) })
			}
		}
	}
}

// TestChosen: the values chosen by rank are those that sorting puts there, and lie where is said.
func TestChosen(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Int64} {
		for _, n := range []int64{5, 130, 1001} {
			x := tensor.EmptyStrided(d, []int64{3, n}, []int64{n, 1})
			xs := make([]float64, x.Numel())
			for i := range xs {
				xs[i] = float64(rand.IntN(int(n) / 3))
				if d == tensor.Float32 && rand.IntN(50) == 0 {
					xs[i] = math.NaN()
				}
			}
			x.SetFloats(xs)
			for _, descending := range []bool{false, true} {
				sorted := results(t, "aten.sort.default", x, int64(1), descending)
				for _, k := range []int64{1, 4, n / 2, n} {
					top := results(t, "aten.topk.default", x, k, int64(1), descending, true)
					for i := range top[1] {
						r, c := int64(i)/k, int64(i)%k
						want := xs[r*n+int64(sorted[1][r*n+c])]
						if diff := cmp.Diff([]float64{want, want}, []float64{top[0][i], xs[r*n+int64(top[1][i])]}, cmpopts.EquateNaNs()); diff != "" {
							t.Fatalf("topk %d of %d, %v (-sorted +chosen):\n%s", k, n, descending, diff)
						}
					}
					if descending {
						continue
					}
					kth := results(t, "aten.kthvalue.default", x, k, int64(1), false)
					for r := range kth[1] {
						want := xs[int64(r)*n+int64(sorted[1][int64(r)*n+k-1])]
						if diff := cmp.Diff([]float64{want, want}, []float64{kth[0][r], xs[int64(r)*n+int64(kth[1][r])]}, cmpopts.EquateNaNs()); diff != "" {
							t.Fatalf("kthvalue %d of %d (-sorted +chosen):\n%s", k, n, diff)
						}
					}
				}
			}
		}
	}
}

// TestChosenOfEqual: which of equal elements are chosen, as PyTorch says.
func TestChosenOfEqual(t *testing.T) {
	for _, c := range []struct {
		n, k             int64
		greatest, least  []float64 // positions, the first eight
		kthvalue, common float64
	}{
		{5, 2, []float64{3, 2}, []float64{0, 1}, 4, 4},
		{20, 4, []float64{7, 17, 13, 18}, []float64{15, 5, 10, 0}, 0, 1},
		{200, 3, []float64{7, 3, 2}, []float64{10, 5, 0}, 110, 71},
		{40, 40, []float64{33, 27, 18, 17, 28, 13, 12, 32}, []float64{0, 35, 5, 30, 10, 25, 20, 15}, 28, 6},
	} {
		x := tensor.EmptyStrided(tensor.Int64, []int64{c.n}, []int64{1})
		xs := make([]int64, c.n)
		for i := range xs {
			xs[i] = int64(i * i * 7 % 5)
		}
		x.SetInts(xs)
		got := [][]float64{
			results(t, "aten.topk.default", x, c.k)[1], results(t, "aten.topk.default", x, c.k, int64(-1), false)[1],
			results(t, "aten.kthvalue.default", x, c.k)[1], results(t, "aten.mode.default", x)[1],
		}
		for i := range got {
			got[i] = got[i][:min(len(got[i]), 8)]
		}
		if diff := cmp.Diff([][]float64{c.greatest, c.least, {c.kthvalue}, {c.common}}, got); diff != "" {
			t.Errorf("%d of %d (-PyTorch +here):\n%s", c.k, c.n, diff)
		}
	}
}

// TestPlanes: a pool over planes is one over boxes of one plane.
func TestPlanes(t *testing.T) {
	list := func(xs ...int64) []aten.Value {
		out := []aten.Value{}
		for _, x := range xs {
			out = append(out, x)
		}
		return out
	}
	for _, c := range []struct{ k, stride, pad int64 }{{2, 2, 0}, {3, 1, 1}, {3, 2, 1}, {4, 3, 2}} {
		for _, ceil := range []bool{false, true} {
			for _, includePad := range []bool{false, true} {
				x := filled(tensor.Float32, []int{0, 1, 2, 3}, 3, 2, 13, 17)
				flat := results(t, "aten.avg_pool2d.default", x, list(c.k, c.k), list(c.stride, c.stride), list(c.pad, c.pad), ceil, includePad, nil)
				box := tensor.NewView(x, []int64{3, 2, 1, 13, 17}, []int64{442, 221, 221, 17, 1}, 0)
				deep := results(t, "aten.avg_pool3d.default", box, list(1, c.k, c.k), list(1, c.stride, c.stride), list(0, c.pad, c.pad), ceil, includePad, nil)
				if diff := cmp.Diff(deep, flat, cmpopts.EquateNaNs()); diff != "" {
					t.Errorf("%+v, ceil %v, padding %v (-boxes +planes):\n%s", c, ceil, includePad, diff)
				}
			}
		}
	}
}

// TestSoftmaxGradients: of rows, of columns, and of what lies between, by the kernels and by the plain loops for float64.
func TestSoftmaxGradients(t *testing.T) {
	for _, name := range []string{"aten._softmax", "aten._log_softmax"} {
		for dim := range int64(3) {
			g := filled(tensor.Float32, []int{2, 0, 1}, 40, 33, 50)
			y, err := aten.Run(aten.Eager, name+".default", filled(tensor.Float32, []int{0, 1, 2}, 40, 33, 50), dim, false)
			if err != nil {
				t.Fatal(err)
			}
			got := results(t, name+"_backward_data.default", g, y, dim, tensor.Float32)
			want := results(t, name+"_backward_data.default", g.To(tensor.Float64), y.(*tensor.Tensor).To(tensor.Float64), dim, tensor.Float64)
			for i, w := range want[0] {
				if x := got[0][i]; math.Abs(x-w) > 1e-5*max(1, math.Abs(w)) || (x == x) != (w == w) {
					t.Fatalf("%s along %d at %d: %v, want %v", name, dim, i, x, w)
				}
			}
		}
	}
}

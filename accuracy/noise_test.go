package accuracy

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// floats are n normal numbers.
func floats(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64())
	}
	return out
}

// TestDirect compares with eager by its noise: other ways to compute the same are the same, errors that PyTorch's tolerance or float64 hide are not.
func TestDirect(t *testing.T) {
	const n = 1000
	x, y := floats(1, n), floats(2, n)
	each := func(f func(x, y float32) float32) func(x, y []float32) []float32 {
		return func(x, y []float32) []float32 {
			out := make([]float32, len(x))
			for i := range x {
				out[i] = f(x[i], y[i])
			}
			return out
		}
	}
	for name, c := range map[string]struct {
		n     int
		graph string
		other func(x, y []float32) []float32 // the compiled graph
		same  bool
	}{
		"cancellation": {n, "a = torch.ops.aten.add.Tensor(x, 1000000.0)\n    b = torch.ops.aten.sub.Tensor(a, 1000000.0)\n    return (b,)", each(func(x, _ float32) float32 {
			return float32(math.Floor((float64(x)+1e6)*16)/16 - 1e6)
		}), false},
		"small": {n, "a = torch.ops.aten.mul.Tensor(x, 1e-07)\n    b = torch.ops.aten.log1p.default(a)\n    return (b,)", each(func(x, _ float32) float32 {
			return float32(math.Log(float64(1 + x*1e-7)))
		}), false},
		"not a number": {n, "b = torch.ops.aten.add.Tensor(x, y)\n    return (b,)", each(func(x, y float32) float32 {
			if x == x && x > 3 {
				return float32(math.NaN())
			}
			return x + y
		}), false},
		"a sum in sequence": {100000, "b = torch.ops.aten.sum.dim_IntList(x, [0], True)\n    return (b,)", func(x, _ []float32) []float32 {
			var s float32
			for _, v := range x {
				s += v
			}
			return []float32{s}
		}, true},
		"a sum of positive numbers in sequence": {100000, "a = torch.ops.aten.abs.default(x)\n    b = torch.ops.aten.sum.dim_IntList(a, [0], True)\n    return (b,)", func(x, _ []float32) []float32 {
			var s float32
			for _, v := range x {
				s += max(v, -v)
			}
			return []float32{s}
		}, true},
		"a sum that leaves one out": {n, "b = torch.ops.aten.sum.dim_IntList(x, [0], True)\n    return (b,)", func(x, _ []float32) []float32 {
			var s float32
			for _, v := range x[1:] {
				s += v
			}
			return []float32{s}
		}, false},
		"softmax without a maximum": {n, "b = torch.ops.aten._softmax.default(x, 0, False)\n    return (b,)", func(x, _ []float32) []float32 {
			out, s := make([]float32, len(x)), float32(0)
			for i, v := range x {
				out[i] = float32(math.Exp(float64(v)))
				s += out[i]
			}
			for i := range out {
				out[i] /= s
			}
			return out
		}, true},
		"layer_norm by the mean of squares": {n, "b = torch.ops.aten.native_layer_norm.default(x, [1000], None, None, 1e-05)\n    c = operator.getitem(b, 0)\n    return (c,)", func(x, _ []float32) []float32 {
			var s, q float32
			for _, v := range x {
				s += v
				q += v * v
			}
			m := s / n
			by := float32(1 / math.Sqrt(float64(q/n-m*m)+1e-5))
			out := make([]float32, len(x))
			for i, v := range x {
				out[i] = (v - m) * by
			}
			return out
		}, true},
		"fused multiply-add": {n, "a = torch.ops.aten.mul.Tensor(x, y)\n    b = torch.ops.aten.mul.Tensor(x, x)\n    c = torch.ops.aten.sub.Tensor(a, b)\n    return (c,)", each(func(x, y float32) float32 {
			return float32(math.FMA(float64(x), float64(y), -float64(x*x)))
		}), true},
		"ill-conditioned": {n, "a = torch.ops.aten.exp.default(x)\n    b = torch.ops.aten.add.Tensor(x, 1e-06)\n    c = torch.ops.aten.exp.default(b)\n    d = torch.ops.aten.sub.Tensor(a, c)\n    return (d,)", each(func(x, _ float32) float32 {
			ulp := math.Nextafter32(float32(math.Exp(float64(x))), 100)
			return ulp - float32(math.Exp(float64(x+1e-6)))
		}), true},
	} {
		t.Run(name, func(t *testing.T) {
			x, y := x, y
			if c.n != n {
				x, y = floats(3, c.n), floats(4, c.n)
			}
			in := []any{tensor.FromFloat32s(x, int64(c.n)), tensor.FromFloat32s(y, int64(c.n))}
			ctx := context.Background()
			gm := parse(t, "def forward(self, x, y):\n    "+c.graph)
			run := func(gm *fx.GraphModule, in []any, d aten.Dispatcher) (any, error) {
				return fx.Run(ctx, gm, in, interp.Aten(ctx, d))
			}
			ref, err := run(gm, cloneList(in), aten.Eager)
			if err != nil {
				t.Fatal(err)
			}
			noise, err := Noise(ref, aten.Eager, func(r *Rounding) (any, error) {
				in := cloneList(in)
				r.Nudge(in)
				return run(r.Attrs(gm), in, r)
			})
			if err != nil {
				t.Fatal(err)
			}
			out := c.other(x, y)
			rep := Compare(ref, []any{tensor.FromFloat32s(out, int64(len(out)))}, noise, Default().Strict(0))
			if rep.Same != c.same {
				t.Errorf("the same: %v %s, want %v", rep.Same, rep.Message, c.same)
			}
			if again := Compare(ref, ref, noise, Default().Strict(0)); !again.Same {
				t.Errorf("eager is not the same as itself: %s", again.Message)
			}
		})
	}
}

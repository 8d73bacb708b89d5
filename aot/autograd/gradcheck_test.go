package autograd

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// ramp is float64 data that avoids ties and kinks: lo, then steps that do not repeat.
func ramp(lo, hi float64, shape ...int64) *tensor.Tensor {
	n := tensor.Numel(shape)
	xs := make([]float64, n)
	for i := range xs {
		f := math.Mod(float64(i)*0.6180339887+0.137, 1)
		xs[i] = lo + (hi-lo)*f
	}
	return tensor.FromFloat64s(xs, shape...)
}

type call struct {
	op       string
	args     []aten.Value
	constant []int // the tensor arguments, counted from 0, that PyTorch does not differentiate
}

// TestFormulasAgreeWithFiniteDifferences differentiates each call numerically in float64.
func TestFormulasAgreeWithFiniteDifferences(t *testing.T) {
	for _, c := range commonCalls() {
		t.Run(c.op, func(t *testing.T) { gradcheck(t, c) })
	}
}

func commonCalls() []call {
	x, y := ramp(-2, 2, 3, 4), ramp(0.5, 2, 3, 4)
	pos := ramp(0.3, 3, 3, 4)
	idx := tensor.FromInt64s([]int64{2, 0, 2}, 3)
	l := func(v ...aten.Value) []aten.Value { return v }
	return []call{
		{op: "add.Tensor", args: l(x, y)}, {op: "sub.Tensor", args: l(x, y)}, {op: "mul.Tensor", args: l(x, y)}, {op: "div.Tensor", args: l(x, y)}, {op: "pow.Tensor_Scalar", args: l(pos, 3.0)},
		{op: "pow.Tensor_Tensor", args: l(pos, y)}, {op: "atan2.default", args: l(x, y)}, {op: "maximum.default", args: l(x, ramp(-2, 2, 3, 4).To(tensor.Float64))},
		{op: "exp.default", args: l(x)}, {op: "log.default", args: l(pos)}, {op: "sqrt.default", args: l(pos)}, {op: "rsqrt.default", args: l(pos)}, {op: "reciprocal.default", args: l(pos)}, {op: "sin.default", args: l(x)},
		{op: "cos.default", args: l(x)}, {op: "tan.default", args: l(x)}, {op: "tanh.default", args: l(x)}, {op: "sigmoid.default", args: l(x)}, {op: "erf.default", args: l(x)}, {op: "abs.default", args: l(x)}, {op: "relu.default", args: l(x)},
		{op: "silu.default", args: l(x)}, {op: "gelu.default", args: l(x, "none")}, {op: "gelu.default", args: l(x, "tanh")}, {op: "leaky_relu.default", args: l(x, 0.1)}, {op: "elu.default", args: l(x)}, {op: "softplus.default", args: l(x)},
		{op: "hardswish.default", args: l(x)}, {op: "log1p.default", args: l(pos)}, {op: "expm1.default", args: l(x)}, {op: "clamp.default", args: l(x, -1.0, 1.0)}, {op: "clamp_min.default", args: l(x, 0.1)},
		{op: "sum.default", args: l(x)}, {op: "sum.dim_IntList", args: l(x, l(int64(1)), false)}, {op: "mean.default", args: l(x)}, {op: "mean.dim", args: l(x, l(int64(0)), true)},
		{op: "amax.default", args: l(x, l(int64(1)), false)}, {op: "var.correction", args: l(x, l(int64(1)))}, {op: "std.correction", args: l(x, l(int64(1)))}, {op: "logsumexp.default", args: l(x, l(int64(1)), false)},
		{op: "_weight_norm_interface.default", args: l(x, ramp(0.5, 2, 3, 1), int64(0))}, {op: "cumsum.default", args: l(x, int64(1))}, {op: "prod.default", args: l(pos)}, {op: "linalg_vector_norm.default", args: l(x)},
		{op: "_softmax.default", args: l(x, int64(1), false)}, {op: "_log_softmax.default", args: l(x, int64(1), false)},
		{op: "mm.default", args: l(ramp(-1, 1, 3, 4), ramp(-1, 1, 4, 2))}, {op: "bmm.default", args: l(ramp(-1, 1, 2, 3, 4), ramp(-1, 1, 2, 4, 2))},
		{op: "addmm.default", args: l(ramp(-1, 1, 2), ramp(-1, 1, 3, 4), ramp(-1, 1, 4, 2))}, {op: "mv.default", args: l(x, ramp(-1, 1, 4))},
		{op: "view.default", args: l(x, l(int64(4), int64(3)))}, {op: "permute.default", args: l(x, l(int64(1), int64(0)))}, {op: "transpose.int", args: l(x, int64(0), int64(1))}, {op: "t.default", args: l(x)},
		{op: "expand.default", args: l(ramp(-1, 1, 1, 4), l(int64(3), int64(4)))}, {op: "unsqueeze.default", args: l(x, int64(1))}, {op: "squeeze.dim", args: l(ramp(-1, 1, 3, 1, 2), int64(1))},
		{op: "select.int", args: l(x, int64(1), int64(2))}, {op: "slice.Tensor", args: l(x, int64(1), int64(1), int64(4), int64(2))}, {op: "cat.default", args: l(l(x, y), int64(1))}, {op: "stack.default", args: l(l(x, y), int64(1))},
		{op: "flip.default", args: l(x, l(int64(1)))}, {op: "roll.default", args: l(x, l(int64(1)), l(int64(0)))}, {op: "repeat.default", args: l(x, l(int64(2), int64(3)))}, {op: "constant_pad_nd.default", args: l(x, l(int64(1), int64(2)), 0.0)},
		{op: "tril.default", args: l(x, int64(0))}, {op: "index_select.default", args: l(x, int64(0), idx)}, {op: "index.Tensor", args: l(x, l(idx))}, {op: "gather.default", args: l(x, int64(0), tensor.FromInt64s([]int64{2, 0, 1, 1}, 1, 4))},
		{op: "embedding.default", args: l(ramp(-1, 1, 3, 2), idx)}, {op: "where.self", args: l(tensor.FromBools([]bool{true, false, true, false}, 4), x, y)}, {op: "masked_fill.Scalar", args: l(x, tensor.FromBools([]bool{true, false, true, false}, 4), 2.0)},
		{op: "native_layer_norm.default", args: l(x, l(int64(4)), ramp(0.5, 1.5, 4), ramp(-1, 1, 4), 1e-5)},
		{op: "convolution.default", args: l(ramp(-1, 1, 2, 3, 5, 5), ramp(-1, 1, 4, 3, 3, 3), ramp(-1, 1, 4), l(int64(2), int64(2)), l(int64(1), int64(1)), l(int64(1), int64(1)), false, l(int64(0), int64(0)), int64(1))},
		{op: "avg_pool2d.default", args: l(ramp(-1, 1, 1, 2, 4, 4), l(int64(2), int64(2)))}, {op: "max_pool2d_with_indices.default", args: l(ramp(-1, 1, 1, 2, 4, 4), l(int64(2), int64(2)))},
		{op: "mse_loss.default", args: l(x, y)}, {op: "smooth_l1_loss.default", args: l(x, y)}, {op: "addcmul.default", args: l(x, y, pos)}, {op: "addcdiv.default", args: l(x, y, pos)}, {op: "lerp.Scalar", args: l(x, y, 0.3)},
	}
}

func gradcheck(t *testing.T, c call) {
	eng := &Engine{Below: aten.Eager}
	inputs, _ := flatTensors(c.args)
	var wrt []*tensor.Tensor
	for _, x := range inputs {
		if x.DType.IsFloat() {
			x.Autograd = &Meta{RequiresGrad: true}
			wrt = append(wrt, x)
		}
	}
	value := func(d aten.Dispatcher) *tensor.Tensor {
		v, err := build.Call(d, "aten."+c.op, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		return build.Tensors(v)[0]
	}
	out := value(eng)
	weight := ramp(0.2, 1.3, out.Shape...)
	weight.Shape, weight.Stride = out.Shape, tensor.ContiguousStrides(out.Shape) // a 0-dim one, too
	grads, err := eng.Backward([]*tensor.Tensor{out}, []*tensor.Tensor{weight}, Options{Inputs: wrt, AllowUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	loss := func() float64 {
		s := 0.0
		o := value(aten.Eager).Floats()
		for i, w := range weight.Floats() {
			s += w * o[i]
		}
		return s
	}
	const eps = 1e-6
	for k, x := range wrt {
		if grads[k] == nil {
			if slices.Contains(c.constant, k) {
				continue
			}
			t.Fatalf("input %d got no gradient", k)
		}
		got := grads[k].Floats()
		for i := range got {
			at := x.At(int64(i))
			x.Set(int64(i), at+eps)
			up := loss()
			x.Set(int64(i), at-eps)
			down := loss()
			x.Set(int64(i), at)
			want := (up - down) / (2 * eps)
			if math.Abs(got[i]-want) > 1e-5*(1+math.Abs(want)) {
				t.Fatalf("input %d, element %d: gradient %g, finite difference %g", k, i, got[i], want)
			}
		}
	}
	for _, x := range wrt {
		x.Autograd = nil
	}
}

// TestInplaceOnView shows that a write through a view reaches the base's gradient.
func TestInplaceOnView(t *testing.T) {
	eng := &Engine{Below: aten.Eager}
	x := ramp(-1, 1, 4)
	x.Autograd = &Meta{RequiresGrad: true}
	run := func(op string, args ...aten.Value) *tensor.Tensor {
		v, err := build.Call(eng, "aten."+op, args...)
		if err != nil {
			t.Fatal(err)
		}
		return v.(*tensor.Tensor)
	}
	b := run("mul.Tensor", x, 1.0)
	v := run("slice.Tensor", b, int64(0), int64(1), int64(3))
	run("mul_.Tensor", v, 5.0)
	s := run("sum.default", b)
	g, err := eng.Backward([]*tensor.Tensor{s}, []*tensor.Tensor{nil}, Options{Inputs: []*tensor.Tensor{x}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(g[0].Floats()); got != "[1 5 5 1]" {
		t.Errorf("gradient %s, want [1 5 5 1]", got)
	}
}

// TestSavedValueWrittenIsAnError shows the version check on saved values.
func TestSavedValueWrittenIsAnError(t *testing.T) {
	eng := &Engine{Below: aten.Eager}
	x := ramp(-1, 1, 4)
	x.Autograd = &Meta{RequiresGrad: true}
	a, err := build.Call(eng, "aten.exp.default", x)
	if err != nil {
		t.Fatal(err)
	}
	b, err := build.Call(eng, "aten.mul.Tensor", a, a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := build.Call(&Engine{Below: aten.Eager, Mode: &GradMode{}}, "aten.add_.Tensor", a, 1.0); err != nil {
		t.Fatal(err)
	}
	s, err := build.Call(eng, "aten.sum.default", b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = eng.Backward([]*tensor.Tensor{s.(*tensor.Tensor)}, []*tensor.Tensor{nil}, Options{Accumulate: true})
	if _, ok := err.(*InplaceError); !ok {
		t.Errorf("got %v, want an InplaceError", err)
	}
}

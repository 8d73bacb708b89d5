package autograd

import (
	"fmt"
	"math"
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
	op   string
	args []aten.Value
}

// TestFormulasAgreeWithFiniteDifferences differentiates each call numerically in float64.
func TestFormulasAgreeWithFiniteDifferences(t *testing.T) {
	x, y := ramp(-2, 2, 3, 4), ramp(0.5, 2, 3, 4)
	pos := ramp(0.3, 3, 3, 4)
	idx := tensor.FromInt64s([]int64{2, 0, 2}, 3)
	l := func(v ...aten.Value) []aten.Value { return v }
	calls := []call{
		{"add.Tensor", l(x, y)}, {"sub.Tensor", l(x, y)}, {"mul.Tensor", l(x, y)}, {"div.Tensor", l(x, y)}, {"pow.Tensor_Scalar", l(pos, 3.0)},
		{"pow.Tensor_Tensor", l(pos, y)}, {"atan2.default", l(x, y)}, {"maximum.default", l(x, ramp(-2, 2, 3, 4).To(tensor.Float64))},
		{"exp.default", l(x)}, {"log.default", l(pos)}, {"sqrt.default", l(pos)}, {"rsqrt.default", l(pos)}, {"reciprocal.default", l(pos)}, {"sin.default", l(x)},
		{"cos.default", l(x)}, {"tan.default", l(x)}, {"tanh.default", l(x)}, {"sigmoid.default", l(x)}, {"erf.default", l(x)}, {"abs.default", l(x)}, {"relu.default", l(x)},
		{"silu.default", l(x)}, {"gelu.default", l(x, "none")}, {"gelu.default", l(x, "tanh")}, {"leaky_relu.default", l(x, 0.1)}, {"elu.default", l(x)}, {"softplus.default", l(x)},
		{"hardswish.default", l(x)}, {"log1p.default", l(pos)}, {"expm1.default", l(x)}, {"clamp.default", l(x, -1.0, 1.0)}, {"clamp_min.default", l(x, 0.1)},
		{"sum.default", l(x)}, {"sum.dim_IntList", l(x, l(int64(1)), false)}, {"mean.default", l(x)}, {"mean.dim", l(x, l(int64(0)), true)},
		{"amax.default", l(x, l(int64(1)), false)}, {"var.correction", l(x, l(int64(1)))}, {"std.correction", l(x, l(int64(1)))}, {"logsumexp.default", l(x, l(int64(1)), false)},
		{"cumsum.default", l(x, int64(1))}, {"prod.default", l(pos)}, {"linalg_vector_norm.default", l(x)},
		{"_softmax.default", l(x, int64(1), false)}, {"_log_softmax.default", l(x, int64(1), false)},
		{"mm.default", l(ramp(-1, 1, 3, 4), ramp(-1, 1, 4, 2))}, {"bmm.default", l(ramp(-1, 1, 2, 3, 4), ramp(-1, 1, 2, 4, 2))},
		{"addmm.default", l(ramp(-1, 1, 2), ramp(-1, 1, 3, 4), ramp(-1, 1, 4, 2))}, {"mv.default", l(x, ramp(-1, 1, 4))},
		{"view.default", l(x, l(int64(4), int64(3)))}, {"permute.default", l(x, l(int64(1), int64(0)))}, {"transpose.int", l(x, int64(0), int64(1))}, {"t.default", l(x)},
		{"expand.default", l(ramp(-1, 1, 1, 4), l(int64(3), int64(4)))}, {"unsqueeze.default", l(x, int64(1))}, {"squeeze.dim", l(ramp(-1, 1, 3, 1, 2), int64(1))},
		{"select.int", l(x, int64(1), int64(2))}, {"slice.Tensor", l(x, int64(1), int64(1), int64(4), int64(2))}, {"cat.default", l(l(x, y), int64(1))}, {"stack.default", l(l(x, y), int64(1))},
		{"flip.default", l(x, l(int64(1)))}, {"roll.default", l(x, l(int64(1)), l(int64(0)))}, {"repeat.default", l(x, l(int64(2), int64(3)))}, {"constant_pad_nd.default", l(x, l(int64(1), int64(2)), 0.0)},
		{"tril.default", l(x, int64(0))}, {"index_select.default", l(x, int64(0), idx)}, {"index.Tensor", l(x, l(idx))}, {"gather.default", l(x, int64(0), tensor.FromInt64s([]int64{2, 0, 1, 1}, 1, 4))},
		{"embedding.default", l(ramp(-1, 1, 3, 2), idx)}, {"where.self", l(tensor.FromBools([]bool{true, false, true, false}, 4), x, y)}, {"masked_fill.Scalar", l(x, tensor.FromBools([]bool{true, false, true, false}, 4), 2.0)},
		{"native_layer_norm.default", l(x, l(int64(4)), ramp(0.5, 1.5, 4), ramp(-1, 1, 4), 1e-5)},
		{"convolution.default", l(ramp(-1, 1, 2, 3, 5, 5), ramp(-1, 1, 4, 3, 3, 3), ramp(-1, 1, 4), l(int64(2), int64(2)), l(int64(1), int64(1)), l(int64(1), int64(1)), false, l(int64(0), int64(0)), int64(1))},
		{"avg_pool2d.default", l(ramp(-1, 1, 1, 2, 4, 4), l(int64(2), int64(2)))}, {"max_pool2d_with_indices.default", l(ramp(-1, 1, 1, 2, 4, 4), l(int64(2), int64(2)))},
		{"mse_loss.default", l(x, y)}, {"smooth_l1_loss.default", l(x, y)}, {"addcmul.default", l(x, y, pos)}, {"addcdiv.default", l(x, y, pos)}, {"lerp.Scalar", l(x, y, 0.3)},
	}
	for _, c := range calls {
		t.Run(c.op, func(t *testing.T) { gradcheck(t, c) })
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

package aten

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"whittle/kernels/tensor"
)

// TestPlaneConvolutions: convolutions of one and two dimensions, which have kernels of their own, and their gradients are what they are as convolutions
// of three dimensions, which go by planes.
func TestPlaneConvolutions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(d tensor.DType, shape ...int64) *tensor.Tensor {
		x := tensor.Empty(d, shape...)
		v := make([]float64, x.Numel())
		for i := range v {
			v[i] = r.Float64() - 0.5
		}
		x.SetFloats(v)
		return x
	}
	deep := func(x *tensor.Tensor, nd int) *tensor.Tensor { // with dimensions of one before the last nd
		shape := append([]int64{}, x.Shape[:2]...)
		for range 3 - nd {
			shape = append(shape, 1)
		}
		return mustTensor(t, "aten.view.default", x, ints(append(shape, x.Shape[2:]...)))
	}
	long := func(l []int64, with int64) Value {
		for len(l) < 3 {
			l = append([]int64{with}, l...)
		}
		return ints(l)
	}
	for i := range 300 {
		nd := 1 + r.IntN(2)
		dtype := []tensor.DType{tensor.Float32, tensor.Float64}[r.IntN(2)]
		g := []int64{1, 1, 2, 8}[r.IntN(4)]
		ci, co := g*[]int64{1, 1, 3, 20}[r.IntN(4)], g*[]int64{1, 2, 5, 16}[r.IntN(4)]
		var size, kernel, stride, pad, dil, outPad []int64
		transposed := r.IntN(3) == 0
		for range nd {
			k, s := 1+r.Int64N(3), 1+r.Int64N(3)
			kernel, stride, pad, dil = append(kernel, k), append(stride, s), append(pad, r.Int64N(3)), append(dil, 1+r.Int64N(2))
			outPad = append(outPad, 0)
			size = append(size, 5+r.Int64N(40))
		}
		ws := append([]int64{co, ci / g}, kernel...)
		if transposed {
			ws = append([]int64{ci, co / g}, kernel...)
		}
		x, w := random(dtype, append([]int64{1 + r.Int64N(3), ci}, size...)...), random(dtype, ws...)
		name := fmt.Sprintf("%d: x %v w %v stride %v padding %v dilation %v transposed %v groups %d", i, x.Shape, w.Shape, stride, pad, dil, transposed, g)
		y := mustTensor(t, "aten.convolution.default", x, w, nil, ints(stride), ints(pad), ints(dil), transposed, ints(outPad), g)
		args := []Value{nil, long(stride, 1), long(pad, 0), long(dil, 1), transposed, long(outPad, 0), g}
		y3 := mustTensor(t, "aten.convolution.default", append([]Value{deep(x, nd), deep(w, nd)}, args...)...)
		near(t, name+": output", y, y3)
		gy := random(dtype, y.Shape...)
		mask := []Value{true, true, false}
		got := grads(t, gy, x, w, nil, ints(stride), ints(pad), ints(dil), transposed, ints(outPad), g, mask)
		want := grads(t, append(append([]Value{deep(gy, nd), deep(x, nd), deep(w, nd)}, args...), mask)...)
		near(t, name+": gradient of the input", got[0], want[0])
		near(t, name+": gradient of the weight", got[1], want[1])
	}
}

func grads(t *testing.T, args ...Value) []*tensor.Tensor {
	t.Helper()
	v, err := Run(Eager, "aten.convolution_backward.default", args...)
	if err != nil {
		t.Fatal(err)
	}
	var out []*tensor.Tensor
	for _, e := range v.([]Value)[:2] {
		out = append(out, e.(*tensor.Tensor))
	}
	return out
}

func mustTensor(t *testing.T, op string, args ...Value) *tensor.Tensor {
	t.Helper()
	v, err := Run(Eager, op, args...)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*tensor.Tensor)
}

func near(t *testing.T, what string, got, want *tensor.Tensor) {
	t.Helper()
	g, w := got.Floats(), want.Floats()
	if len(g) != len(w) {
		t.Fatalf("%s: shapes %v and %v", what, got.Shape, want.Shape)
	}
	for i := range g {
		if d := math.Abs(g[i] - w[i]); !(d <= 1e-4*max(1, math.Abs(w[i]))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, g[i], w[i])
		}
	}
}

// TestConvolutionOfFewOutputs: the outputs of an image may be fewer than the threads that could share them.
func TestConvolutionOfFewOutputs(t *testing.T) {
	for _, side := range []int64{1, 2, 3, 8, 9} {
		x, w := tensor.Empty(tensor.Float32, 1, 16, side, side), tensor.Empty(tensor.Float32, 8, 16, 3, 3)
		for _, o := range []*tensor.Tensor{x, w} {
			v := make([]float64, o.Numel())
			for i := range v {
				v[i] = 1
			}
			o.SetFloats(v)
		}
		y := mustTensor(t, "aten.convolution.default", x, w, nil, ints([]int64{1, 1}), ints([]int64{1, 1}), ints([]int64{1, 1}), false, ints([]int64{0, 0}), int64(1))
		if got, want := y.Floats()[0], float64(16*min(2, side)*min(2, side)); got != want {
			t.Errorf("side %d: %g, not %g", side, got, want)
		}
	}
}

// TestDeepTransposedConvolution: a transposed convolution of three dimensions is the adjoint of the plain one, as their products with anything say.
func TestDeepTransposedConvolution(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	random := func(shape ...int64) *tensor.Tensor {
		x := tensor.Empty(tensor.Float64, shape...)
		v := make([]float64, x.Numel())
		for i := range v {
			v[i] = r.Float64() - 0.5
		}
		x.SetFloats(v)
		return x
	}
	dot := func(a, b *tensor.Tensor) (s float64) {
		y := b.Floats()
		for i, x := range a.Floats() {
			s += x * y[i]
		}
		return s
	}
	for i := range 80 {
		g := 1 + r.Int64N(2)
		ci, co := g*(1+r.Int64N(3)), g*(1+r.Int64N(3))
		var size, kernel, stride, pad, dil []int64
		for range 3 {
			kernel, stride, pad, dil = append(kernel, 1+r.Int64N(3)), append(stride, 1+r.Int64N(3)), append(pad, r.Int64N(3)), append(dil, 1+r.Int64N(2))
			size = append(size, 5+r.Int64N(6))
		}
		x, w := random(append([]int64{2, ci}, size...)...), random(append([]int64{co, ci / g}, kernel...)...)
		y := mustTensor(t, "aten.convolution.default", x, w, nil, ints(stride), ints(pad), ints(dil), false, ints([]int64{0, 0, 0}), g)
		gy := random(y.Shape...)
		var over []int64 // what the strides leave over
		for d := range size {
			over = append(over, (size[d]+2*pad[d]-dil[d]*(kernel[d]-1)-1)%stride[d])
		}
		back := mustTensor(t, "aten.convolution.default", gy, w, nil, ints(stride), ints(pad), ints(dil), true, ints(over), g)
		if got, want := dot(back, x), dot(gy, y); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%d: x %v w %v stride %v padding %v dilation %v groups %d: %v, want %v", i, x.Shape, w.Shape, stride, pad, dil, g, got, want)
		}
	}
}

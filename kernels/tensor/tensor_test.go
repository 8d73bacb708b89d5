package tensor

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Expected values below were printed by PyTorch 2.6 on CPU.

func TestRandomStreams(t *testing.T) {
	approx := cmpopts.EquateApprox(1e-6, 1e-7)
	seeded := func(f func(g *Generator) []float64) []float64 { return f(NewGenerator(0)) }
	tests := []struct {
		name string
		got  []float64
		want []float64
	}{
		{"rand f32", seeded(func(g *Generator) []float64 { x := Empty(Float32, 4); g.UniformFill(x, 0, 1); return x.Floats() }),
			[]float64{0.49625658988952637, 0.7682217955589294, 0.08847743272781372, 0.13203048706054688}},
		{"rand f64", seeded(func(g *Generator) []float64 { x := Empty(Float64, 4); g.UniformFill(x, 0, 1); return x.Floats() }),
			[]float64{0.9700530018065531, 0.707819864399788, 0.45938294312745087, 0.9207476841219603}},
		{"rand half types", seeded(func(g *Generator) []float64 {
			x, y := Empty(BFloat16, 4), Empty(Float16, 4)
			g.UniformFill(x, 0, 1)
			g.UniformFill(y, 0, 1)
			return append(x.Floats(), y.Floats()...)
		}), []float64{0.671875, 0.18359375, 0.45703125, 0.75, 0.40771484375, 0.37255859375, 0.84521484375, 0.67529296875}},
		{"uniform", seeded(func(g *Generator) []float64 {
			g.UniformFill(Empty(Float32, 12), 0, 1)
			x := Empty(Float32, 3)
			g.UniformFill(x, -3, 5)
			return x.Floats()
		}), []float64{-2.8213939666748047, -1.6491284370422363, -0.6488924026489258}},
		{"randn 3", seeded(func(g *Generator) []float64 { x := Empty(Float32, 3); g.NormalFill(x, 0, 1); return x.Floats() }),
			[]float64{1.5409960746765137, -0.293428897857666, -2.1787893772125244}},
		{"randn 17", seeded(func(g *Generator) []float64 { x := Empty(Float32, 17); g.NormalFill(x, 0, 1); return x.Floats() }),
			[]float64{-1.1258398294448853, -1.6959311962127686, 0.5666506290435791, 0.7935083508491516, 0.5988394618034363, -1.5550950765609741, -0.3413603901863098, 1.85300612449646, 0.46809640526771545, -0.5854975581169128, -0.1733967512845993, 0.18347793817520142, 1.3893661499023438, 1.586334228515625, 0.946298360824585, -0.843676745891571, 0.9318265914916992}},
		{"randn 4 bf16 then 17 f64", seeded(func(g *Generator) []float64 {
			x, y := Empty(BFloat16, 4), Empty(Float64, 17)
			g.NormalFill(x, 0, 1)
			g.NormalFill(y, 0, 1)
			return append(x.Floats(), y.Floats()[:3]...)
		}), []float64{1.5390625, -0.29296875, -2.171875, 0.5703125, -0.8840250045832653, 0.2102998901016947, 0.17718935139366584}},
		{"bernoulli", seeded(func(g *Generator) []float64 {
			x, y, z := Empty(Float32, 8), Empty(Float32, 8), Empty(Float64, 8)
			g.BernoulliFill(x, 0.3)
			g.BernoulliTensor(y, Full(Float32, 0.3, 8))
			g.BernoulliTensor(z, Full(Float64, 0.3, 8))
			return append(append(x.Floats(), y.Floats()...), z.Floats()...)
		}), []float64{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}},
		{"exponential", seeded(func(g *Generator) []float64 {
			x, y := Empty(Float32, 4), Empty(Float64, 4)
			g.ExponentialFill(x, 2)
			g.ExponentialFill(y, 2)
			return append(x.Floats(), y.Floats()...)
		}), []float64{1.754163146018982, 0.6151923537254333, 0.3075220584869385, 1.267559289932251, 0.517852717911404, 0.783064447792376, 0.09837629769256363, 0.21624420357249943}},
		{"random", seeded(func(g *Generator) []float64 {
			a, b, c, d := Empty(Int64, 5), Empty(Int64, 3), Empty(Int64, 3), Empty(Float32, 3)
			g.RandomFill(a, 0, 100)
			g.RandomFill(b, -5, 1<<40)
			g.RandomFull(c)
			g.RandomFull(d)
			e, f, h, i, j := Empty(Int32, 3), Empty(UInt8, 3), Empty(Bool, 3), Empty(BFloat16, 3), Empty(Float64, 3)
			for _, x := range []*Tensor{e, f, h, i, j} {
				g.RandomFull(x)
			}
			var out []float64
			for _, x := range []*Tensor{a, b, c, d, e, f, h, i, j} {
				out = append(out, x.Floats()...)
			}
			return out
		}), []float64{44, 39, 33, 60, 63, 1080305077028, 444130142355, 908959885242, 7090591000091277092, 5488544720047782982, 1046169753006283352, 13421895.0, 2701528.0, 4735559.0,
			1252949478, 1340754471, 124102743, 174, 88, 81, 1, 1, 1, 186, 38, 70, 3668466293085095.0, 1850426345920540.0, 5990131360989462.0}},
		{"randperm", seeded(func(g *Generator) []float64 {
			var out []float64
			for _, x := range g.Perm(10) {
				out = append(out, float64(x))
			}
			return append(out, float64(g.Float32()))
		}), []float64{4, 1, 7, 5, 3, 9, 0, 8, 6, 2, 0.6323}},
	}
	for _, tc := range tests {
		opt := approx
		if tc.name == "randperm" {
			opt = cmpopts.EquateApprox(0, 1e-4)
		}
		if d := cmp.Diff(tc.want, tc.got, opt); d != "" {
			t.Errorf("%s: -want +got\n%s", tc.name, d)
		}
	}
}

func TestGeneratorState(t *testing.T) {
	g := NewGenerator(7)
	g.NormalFill(Empty(Float32, 3), 0, 1)
	s := g.State()
	want := g.Normal()
	wantNext := g.Uint64()
	h := NewGenerator(0)
	if err := h.SetState(s); err != nil {
		t.Fatal(err)
	}
	if got := h.Normal(); got != want {
		t.Errorf("normal after SetState = %v, want %v", got, want)
	}
	if got := h.Uint64(); got != wantNext {
		t.Errorf("Uint64 after SetState = %v, want %v", got, wantNext)
	}
	if err := h.SetState(s[:10]); err == nil {
		t.Error("short state accepted")
	}
}

func TestRepr(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ar := func(n int64, d DType) *Tensor {
		x := Empty(d, n)
		for i := int64(0); i < n; i++ {
			x.Set(i, float64(i))
		}
		return x
	}
	tests := []struct {
		t     *Tensor
		extra []string
		want  string
	}{
		{Full(Float32, 3.5), nil, "tensor(3.5000)"},
		{FromFloat32s([]float32{1e10, 1}), nil, "tensor([1.0000e+10, 1.0000e+00])"},
		{FromFloat32s([]float32{1e-10, 1, float32(nan)}), nil, "tensor([1.0000e-10, 1.0000e+00,        nan])"},
		{ar(2000, Int64), nil, "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"},
		{Empty(Float32, 0), nil, "tensor([])"},
		{Empty(Float32, 2, 0), nil, "tensor([], size=(2, 0))"},
		{Empty(Int64, 2, 0, 3), nil, "tensor([], size=(2, 0, 3), dtype=torch.int64)"},
		{FromBools([]bool{true, false}), nil, "tensor([ True, False])"},
		{Full(BFloat16, 1.5, 2), nil, "tensor([1.5000, 1.5000], dtype=torch.bfloat16)"},
		{Empty(Float32, 2, 2, 2), nil, "tensor([[[0., 0.],\n         [0., 0.]],\n\n        [[0., 0.],\n         [0., 0.]]])"},
		{FromFloat32s([]float32{float32(inf), 1}), nil, "tensor([inf, 1.])"},
		{FromFloat32s([]float32{1, 2, 3}), []string{"requires_grad=True"}, "tensor([1., 2., 3.], requires_grad=True)"},
		{FromInt64s([]int64{1, 22, -333, 4}, 2, 2), nil, "tensor([[   1,   22],\n        [-333,    4]])"},
		{FromFloat32s([]float32{1, 100000}), nil, "tensor([1.0000e+00, 1.0000e+05])"},
		{ar(40, Float32), nil, "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n        28., 29., 30., 31., 32., 33., 34., 35., 36., 37., 38., 39.])"},
		{Full(Float32, math.Copysign(0, -1)), nil, "tensor(-0.)"},
		{ar(1001, Float32), []string{"grad_fn=<MulBackward0>"}, "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.],\n       grad_fn=<MulBackward0>)"},
		{Empty(Float32, 1, 1001), nil, "tensor([[0., 0., 0.,  ..., 0., 0., 0.]])"},
		{Full(Float32, 1e-8), nil, "tensor(1.0000e-08)"},
		{FromFloat32s([]float32{float32(nan)}), nil, "tensor([nan])"},
	}
	for _, tc := range tests {
		if d := cmp.Diff(tc.want, tc.t.Repr(DefaultPrintOptions(), tc.extra...)); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
	}
}

func TestLayout(t *testing.T) {
	x := EmptyStrided(Float32, []int64{2, 3, 4, 5}, ChannelsLastStrides([]int64{2, 3, 4, 5}))
	if x.SuggestMemoryFormat() != ChannelsLast || x.IsContiguous(ContiguousFormat) || !x.IsNonOverlappingAndDense() {
		t.Errorf("channels last not recognised: %v", x.Stride)
	}
	y := Empty(Float32, 3, 1, 1)
	if d := cmp.Diff(ChannelsLastStrides(x.Shape), PointwiseStrides(x.Shape, x, y)); d != "" {
		t.Error(d)
	}
	tr := NewView(Empty(Float32, 4, 3), []int64{3, 4}, []int64{1, 3}, 0)
	if d := cmp.Diff([]int64{1, 3}, PointwiseStrides(tr.Shape, tr, Empty(Float32))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{1, 3}, PreservedStrides(tr.Shape, tr.Stride)); d != "" {
		t.Error(d)
	}
	if got := ViewStrides([]int64{3, 4}, []int64{1, 3}, []int64{12}); got != nil {
		t.Errorf("transposed view as [12]: %v", got)
	}
}

func TestPromotion(t *testing.T) {
	d1 := func(d DType) *Tensor { return Empty(d, 1) }
	d0 := func(d DType) *Tensor { return Empty(d) }
	tests := []struct {
		args []any
		want DType
	}{
		{[]any{d1(Int64), d0(Float32)}, Float32},
		{[]any{d1(Float32), d0(Float64)}, Float32},
		{[]any{d1(Float16), d1(BFloat16)}, Float32},
		{[]any{d1(UInt8), d1(Int8)}, Int16},
		{[]any{d1(Int32), 2.5}, Float32},
		{[]any{d0(Int32), int64(5)}, Int32},
		{[]any{d1(Bool), int64(5)}, Int64},
		{[]any{d1(BFloat16), 2.5}, BFloat16},
		{[]any{d1(BFloat16), d0(Float32)}, BFloat16},
		{[]any{d0(BFloat16), d1(Int64)}, BFloat16},
		{[]any{true, int64(1)}, Int64},
	}
	for _, tc := range tests {
		if got := ResultType(tc.args...); got != tc.want {
			t.Errorf("ResultType(%v) = %v, want %v", tc.args, got, tc.want)
		}
	}
	if _, err := BroadcastShapes([]int64{2, 3}, []int64{4}); err == nil || err.Error() != "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1" {
		t.Errorf("broadcast error: %v", err)
	}
}

func TestHalf(t *testing.T) {
	for i := 0; i < 1<<16; i++ {
		h := uint16(i)
		f := F16ToF32(h)
		if f != f {
			continue
		}
		if got := F32ToF16(f); got != h {
			t.Fatalf("F16 %#x -> %v -> %#x", h, f, got)
		}
		b := BF16ToF32(h)
		if b == b && F32ToBF16(b) != h {
			t.Fatalf("BF16 %#x", h)
		}
	}
}

func TestCopy(t *testing.T) {
	x := FromInt64s([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	tr := NewView(x, []int64{3, 2}, []int64{1, 3}, 0)
	y := Empty(BFloat16, 3, 2)
	Copy(y, tr)
	if d := cmp.Diff([]float64{1, 4, 2, 5, 3, 6}, y.Floats()); d != "" {
		t.Error(d)
	}
	z := Empty(Int32, 2, 3, 2)
	Copy(z, y)
	if d := cmp.Diff([]int64{1, 4, 2, 5, 3, 6, 1, 4, 2, 5, 3, 6}, z.Ints()); d != "" {
		t.Error(d)
	}
}

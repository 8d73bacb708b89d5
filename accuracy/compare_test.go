package accuracy

import (
	"context"
	"math"
	"testing"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

var nan = math.NaN()

func f32(xs ...float32) *tensor.Tensor { return tensor.FromFloat32s(xs, int64(len(xs))) }

func TestCompare(t *testing.T) {
	nan := float32(nan)
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		ref, res, fp64 any
		want           Kind
	}{
		"equal":            {f32(1, 2), f32(1, 2), nil, ""},
		"close":            {f32(1, 2), f32(1.0005, 2), nil, ""},
		"far":              {f32(1, 2), f32(1.1, 2), nil, Value},
		"shape":            {f32(1), f32(1, 2), nil, Shape},
		"dtype":            {f32(1), tensor.FromFloat64s([]float64{1}, 1), nil, DType},
		"length":           {[]any{f32(1)}, []any{}, nil, Length},
		"nan in both":      {f32(nan), f32(nan), nil, ""},
		"nan in one":       {f32(1), f32(nan), nil, NaN},
		"inf in both":      {f32(inf), f32(inf), nil, ""},
		"inf in one":       {f32(inf), f32(1), nil, Value},
		"as bad as eager":  {f32(1.1), f32(0.9), tensor.FromFloat64s([]float64{1}, 1), ""},
		"worse than eager": {f32(1.001), f32(1.1), tensor.FromFloat64s([]float64{1}, 1), Value},
		"eager has nan":    {f32(nan), f32(1.01), tensor.FromFloat64s([]float64{1}, 1), ""},
		"ints":             {int64(3), int64(4), nil, Value},
		"nested":           {[]any{nil, []any{f32(1)}}, []any{nil, []any{f32(2)}}, nil, Value},
	} {
		r := Compare(c.ref, c.res, c.fp64, Default())
		if r.Kind != c.want || r.Same != (c.want == "") {
			t.Errorf("%s: %+v", name, r)
		}
		if name == "nested" && r.Where != "[1][0]" {
			t.Error(r.Where)
		}
	}
	o := Default()
	o.IgnoreNonFP = true
	if r := Compare(tensor.FromInt64s([]int64{1}), tensor.FromInt64s([]int64{2}), nil, o); !r.Same {
		t.Error("ints compared though ignored")
	}
}

func TestDivergeNamesTheFirstNode(t *testing.T) {
	gm, err := fx.Parse("g", "def forward(self, x):\n    a = torch.inc(x)\n    b = torch.bad(a)\n    c = torch.inc(b)\n    return (c,)")
	if err != nil {
		t.Fatal(err)
	}
	run := func(bias float64) fx.Resolver {
		return func(n *fx.Node, args []any, _ map[string]any) (any, error) {
			x := args[0].(*tensor.Tensor).Float32s()[0] + 1
			if n.Target == "torch.bad" {
				x += float32(bias)
			}
			return f32(x), nil
		}
	}
	for _, m := range []Mode{Chained, Lockstep} {
		d, err := Diverge(context.Background(), gm, []any{f32(1)}, run(0), run(0.5), m, Default())
		if err != nil || d.Node == nil || d.Node.Name != "b" || d.Index != 2 {
			t.Errorf("%+v %v", d, err)
		}
	}
	if d, err := Diverge(context.Background(), gm, []any{f32(1)}, run(0), run(0), Chained, Default()); err != nil || d.Node != nil {
		t.Errorf("%+v %v", d, err)
	}
}

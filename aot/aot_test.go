package aot

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/aot/autograd"
	"whittle/aot/build"
	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// graphOf traces f and returns the text of its graphs by kind.
func graphOf(t *testing.T, f func(b *build.B, in []*tensor.Tensor) []*tensor.Tensor, inputs ...Input) map[string]string {
	t.Helper()
	c, err := Compile(func(d aten.Dispatcher, in []aten.Value) ([]aten.Value, error) {
		var ts []*tensor.Tensor
		for _, v := range in {
			ts = append(ts, v.(*tensor.Tensor))
		}
		var out []aten.Value
		err := build.Run(func() {
			for _, o := range f(&build.B{D: d}, ts) {
				out = append(out, o)
			}
		})
		return out, err
	}, inputs, Options{Compiler: func(gm *fx.GraphModule, kind string) (Callable, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for kind, gm := range c.Graphs() {
		var lines []string
		for _, n := range gm.Graph.Nodes {
			s, _, _ := strings.Cut(n.String(), ";")
			if n.Op != fx.Placeholder {
				lines = append(lines, strings.TrimSpace(s))
			}
		}
		texts[kind] = strings.Join(lines, "\n")
	}
	return texts
}

func matrix() *tensor.Tensor { return tensor.FromFloat32s(make([]float32, 6), 2, 3) }

// TestSyntheticBase: inputs that share memory, one of which is written, are views that the graph makes of their base.
func TestSyntheticBase(t *testing.T) {
	x := matrix()
	row := &tensor.Tensor{Storage: x.Storage, DType: x.DType, Shape: []int64{3}, Stride: []int64{1}, Offset: 3, Base: x}
	other := matrix()
	write := func(b *build.B, in []*tensor.Tensor) []*tensor.Tensor {
		b.T("mul_.Tensor", in[0], b.T("select.int", in[1], int64(0), int64(0)))
		return []*tensor.Tensor{b.T("add.Tensor", in[2], int64(1))}
	}
	got := graphOf(t, write, Input{Value: row}, Input{Value: other}, Input{Value: x})
	want := map[string]string{"inference": strings.Join([]string{
		"as_strided = torch.ops.aten.as_strided.default(arg0_1, [3], [1], 3)",
		"select = torch.ops.aten.select.int(arg1_1, 0, 0)",
		"mul = torch.ops.aten.mul.Tensor(as_strided, select)",
	}, "\n")}
	if !strings.HasPrefix(got["inference"], want["inference"]) || !strings.Contains(got["inference"], "as_strided_scatter.default(arg0_1, mul, [3], [1], 3)") ||
		!strings.Contains(got["inference"], "copy_.default(arg0_1, as_strided_scatter)") {
		t.Errorf("%s", got["inference"])
	}
	apart := graphOf(t, write, Input{Value: row}, Input{Value: other}, Input{Value: matrix()})
	if strings.Contains(apart["inference"], "as_strided") {
		t.Errorf("%s", apart["inference"])
	}
}

// TestOverwrittenValue: a backward that needs a value which the program overwrites is an error when it is traced, as in eager.
func TestOverwrittenValue(t *testing.T) {
	_, err := Compile(func(d aten.Dispatcher, in []aten.Value) (out []aten.Value, err error) {
		err = build.Run(func() {
			b := &build.B{D: d}
			y := b.T("mul.Tensor", in[0].(*tensor.Tensor), in[1].(*tensor.Tensor))
			b.T("add_.Tensor", in[1].(*tensor.Tensor), int64(1))
			out = []aten.Value{y}
		})
		return out, err
	}, []Input{{Value: matrix(), RequiresGrad: true}, {Value: matrix()}}, Options{Compiler: func(gm *fx.GraphModule, kind string) (Callable, error) { return nil, nil }})
	var overwritten *autograd.InplaceError
	if !errors.As(err, &overwritten) {
		t.Errorf("%v", err)
	}
}

// TestMutationBecomesCopy: a write to an input ends as one copy_ in the graph, a write to a view is scattered back.
func TestMutationBecomesCopy(t *testing.T) {
	got := graphOf(t, func(b *build.B, in []*tensor.Tensor) []*tensor.Tensor {
		row := b.T("select.int", in[0], int64(0), int64(1))
		b.T("add_.Tensor", row, int64(1))
		return []*tensor.Tensor{b.T("mul.Tensor", in[0], int64(2))}
	}, Input{Value: matrix()})
	want := map[string]string{"inference": strings.Join([]string{
		"select = torch.ops.aten.select.int(arg0_1, 0, 1)",
		"add = torch.ops.aten.add.Tensor(select, 1)",
		"select_scatter = torch.ops.aten.select_scatter.default(arg0_1, add, 0, 1)",
		"mul = torch.ops.aten.mul.Tensor(select_scatter, 2)",
		"copy_ = torch.ops.aten.copy_.default(arg0_1, select_scatter)",
		"return (mul,)",
	}, "\n")}
	clean := got["inference"]
	var kept []string
	for _, l := range strings.Split(clean, "\n") {
		if !strings.Contains(l, "select_1") && !strings.Contains(l, "select_2") {
			kept = append(kept, l)
		}
	}
	if diff := cmp.Diff(want["inference"], strings.Join(kept, "\n")); diff != "" {
		t.Errorf("graph (-want +got):\n%s", diff)
	}
}

// TestPartitionSavesTheCheapSide: what backward needs is saved once, pointwise work is not.
func TestPartition(t *testing.T) {
	got := graphOf(t, func(b *build.B, in []*tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{b.Un("sin", b.Mul(in[0], in[1]))}
	}, Input{Value: matrix(), RequiresGrad: true}, Input{Value: matrix()})
	want := map[string]string{
		"forward": "mul = torch.ops.aten.mul.Tensor(primals_1, primals_2)\nsin = torch.ops.aten.sin.default(mul)\nreturn (sin, primals_1, primals_2)",
		"backward": "mul = torch.ops.aten.mul.Tensor(primals_1, primals_2)\ncos = torch.ops.aten.cos.default(mul)\n" +
			"mul_1 = torch.ops.aten.mul.Tensor(tangents_1, cos)\nmul_2 = torch.ops.aten.mul.Tensor(mul_1, primals_2)\nreturn (mul_2, None)",
	}
	for _, kind := range []string{"forward", "backward"} {
		// Saving the product or the two factors costs the same order; both are right, the text must be one of them.
		alt := map[string]string{
			"forward":  "mul = torch.ops.aten.mul.Tensor(primals_1, primals_2)\nsin = torch.ops.aten.sin.default(mul)\nreturn (sin, primals_2, mul)",
			"backward": "cos = torch.ops.aten.cos.default(mul)\nmul_1 = torch.ops.aten.mul.Tensor(tangents_1, cos)\nmul_2 = torch.ops.aten.mul.Tensor(mul_1, primals_2)\nreturn (mul_2, None)",
		}
		if got[kind] != want[kind] && got[kind] != alt[kind] {
			t.Errorf("%s graph:\n%s\nwant:\n%s", kind, got[kind], want[kind])
		}
	}
}

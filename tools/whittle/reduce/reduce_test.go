package reduce

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
)

// fake is a description of a tensor over its own storage.
func fake(d tensor.DType, shape, stride []int64) *tensor.Tensor {
	if stride == nil {
		stride = tensor.ContiguousStrides(shape)
	}
	return tensor.EmptyFake(d, shape, stride)
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		data minify.Data
		t    *tensor.Tensor
		want string
	}{
		{minify.Data{Fill: minify.FillZeros}, fake(tensor.Float32, []int64{2, 3}, nil), "torch.zeros(6)"},
		{minify.Data{Fill: minify.FillOnes}, fake(tensor.Int64, []int64{2}, nil), "torch.ones(2, dtype=torch.int64)"},
		{minify.Data{Fill: minify.FillZeros}, fake(tensor.Float8E4M3FN, []int64{2}, nil), "torch.zeros(2, dtype=torch.float8_e4m3fn)"},
		{minify.Data{Fill: minify.FillZeros}, fake(tensor.Float32, []int64{2, 2}, []int64{8, 1}), "torch.zeros(10)"},
		{minify.Data{Fill: minify.FillZeros}, fake(tensor.Float32, []int64{0, 2}, nil), "torch.zeros(0)"},
		{minify.Data{Fill: minify.FillArange}, fake(tensor.Float16, []int64{2, 2}, nil), "torch.arange(4, dtype=torch.float16)"},
		{minify.Data{Fill: minify.FillList, List: []string{"1.5", "nan"}}, fake(tensor.Float32, []int64{2}, nil), "torch.tensor([1.5, nan], dtype=torch.float32)"},
		{minify.Data{Fill: minify.FillArange}, fake(tensor.Float32, []int64{2, 2}, []int64{1, 2}), "torch.empty_strided((2, 2), (1, 2)).copy_(torch.arange(4, dtype=torch.float32).reshape((2, 2)))"},
		{minify.Data{Fill: minify.FillRandom}, fake(tensor.Float32, []int64{2}, nil), ""},
	} {
		got, err := fill(c.data, c.t)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%+v: %v %s", c.data, err, diff)
		}
	}
	if _, err := fill(minify.Data{Fill: "poem"}, fake(tensor.Float32, []int64{1}, nil)); err == nil {
		t.Error("an unknown fill is no error")
	}
}

// module is a graph of placeholders that are all added up.
func module(names ...string) *fx.GraphModule {
	g := fx.NewGraph()
	var last *fx.Node
	for _, n := range names {
		p := &fx.Node{Op: fx.Placeholder, Name: n, Target: n}
		g.Adopt(p)
		if last == nil {
			last = p
		}
	}
	g.Output(fx.Tuple{last})
	return &fx.GraphModule{Graph: g, ClassName: "Repro"}
}

func TestPlace(t *testing.T) {
	base := fake(tensor.Float32, []int64{4}, nil)
	view := &tensor.Tensor{Storage: base.Storage, DType: base.DType, Shape: []int64{2}, Stride: []int64{2}, Offset: 1, Fake: true}
	s := minify.State{Module: module("a", "b", "n", "none", "z"), Inputs: []minify.Input{
		{Value: base, Data: minify.Data{Of: "0/a"}, RequiresGrad: true},
		{Value: view, Data: minify.Data{Of: "0/b"}},
		{Value: int64(3)},
		{},
		{Value: fake(tensor.Float32, []int64{2}, nil), Data: minify.Data{Fill: minify.FillZeroTensor}},
	}}
	asked := 0
	r := &repros.Repro{}
	if err := place(r, s, func(i int, _ minify.Input) (repros.Storage, error) {
		asked++
		return repros.Storage{Hash: "h"}, nil
	}); err != nil {
		t.Fatal(err)
	}
	want := &repros.Repro{
		Storages: []repros.Storage{{Hash: "h", NBytes: 16, Device: "cpu", DTypeHint: "float32"}},
		Inputs: []repros.Input{
			{Kind: repros.TensorInput, Name: "a", Shape: []int64{4}, DType: "float32", RequiresGrad: true, Leaf: true},
			{Kind: repros.TensorInput, Name: "b", Shape: []int64{2}, Stride: []int64{2}, Offset: 1, DType: "float32", Leaf: true},
			{Kind: repros.SymIntInput, Name: "n", Value: int64(3)},
			{Kind: repros.ConstInput, Name: "none"},
			{Kind: repros.ExprInput, Name: "z", Shape: []int64{2}, DType: "float32", Expr: "torch._efficientzerotensor((2,), dtype=torch.float32)"},
		},
	}
	if diff := cmp.Diff(want, r); diff != "" || asked != 1 {
		t.Errorf("storages asked for: %d%s", asked, diff)
	}
	broken := errors.New("gone")
	if err := place(&repros.Repro{}, s, func(int, minify.Input) (repros.Storage, error) { return repros.Storage{}, broken }); !errors.Is(err, broken) || !strings.Contains(err.Error(), "input a") {
		t.Error(err)
	}
}

func TestInlined(t *testing.T) {
	stored := map[string][]byte{}
	if st := inlined(make([]byte, 4000), tensor.Float32, stored); st.Expr != "torch.zeros(1000).untyped_storage()" || len(stored) != 0 {
		t.Errorf("%+v", st)
	}
	long := make([]byte, 4000)
	long[17] = 1
	if st := inlined(long, tensor.Float32, stored); st.Expr != "" || st.Hash != repros.StorageHash(long) || len(stored[st.Hash]) != 4000 {
		t.Errorf("%+v", st)
	}
	if st := inlined([]byte{1, 0}, tensor.Bool, stored); st.Expr != "torch.tensor([True, False], dtype=torch.bool).untyped_storage()" && st.Expr != "torch.tensor([True, False]).untyped_storage()" {
		t.Errorf("%+v", st)
	}
}

func TestScriptOutcome(t *testing.T) {
	for text, want := range map[string]replay.Signature{
		"Traceback (most recent call last):\n  File \"x.py\", line 1\ntorch._inductor.exc.LoweringException: AssertionError: no 7\n": {Type: "LoweringException", Message: "AssertionError: no #"},
		"whittle: something\nAccuracyError: Bad accuracy detected":                                                                   {Type: "AccuracyError", Message: "Bad accuracy detected"},
		"nothing here": {},
	} {
		if diff := cmp.Diff(want, scriptOutcome(text).Signature); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestVariants(t *testing.T) {
	s := minify.State{Module: module("a", "b"), Inputs: []minify.Input{{Value: int64(1), RequiresGrad: true}, {Value: int64(2)}}}
	got := variants(s)
	if len(got) != 2 || got[1].Inputs[0].RequiresGrad || !s.Inputs[0].RequiresGrad {
		t.Errorf("%+v", got)
	}
	if got := variants(got[1]); len(got) != 1 {
		t.Errorf("%d variants of a state without gradients", len(got))
	}
}

func TestAddBackend(t *testing.T) {
	r := &repros.Repro{Stage: repros.AfterDynamo, Backend: "picky"}
	if !NeedsBackend(r) || NeedsBackend(&repros.Repro{Stage: repros.AfterDynamo, Backend: "inductor"}) || NeedsBackend(&repros.Repro{Stage: repros.AfterAOT}) {
		t.Error("which repros need a backend")
	}
	if err := AddBackend(r, "p.py", "import os\nLIMIT = 3\ndef picky(gm, inputs):\n    return LIMIT\nprint(os)\n"); err != nil {
		t.Fatal(err)
	}
	want := "import torch._dynamo\nLIMIT = 3\ndef picky(gm, inputs):\n    return LIMIT\ntorch._dynamo.register_backend(picky)"
	if diff := cmp.Diff(want, r.Preamble); diff != "" || NeedsBackend(r) {
		t.Error(diff)
	}
	if err := AddBackend(r, "p.py", "import os\n"); err == nil || !strings.Contains(err.Error(), "picky") {
		t.Error(err)
	}
}

// Both engines refuse a repro whose data are not there, before anything is asked.
func TestMissingDataAreAnError(t *testing.T) {
	r := &repros.Repro{Stage: repros.AfterDynamo, Module: module("x"), SaveDir: "checkpoints", Storages: []repros.Storage{{Hash: "0123", NBytes: 8, DTypeHint: "float32"}},
		Inputs: []repros.Input{{Kind: repros.TensorInput, Name: "x", Shape: []int64{2}, DType: "float32"}}}
	for name, e := range map[string]interface {
		Load(context.Context, *repros.Repro, string) (minify.State, error)
	}{"native": &Native{}, "torch": NewTorch(nil)} {
		var missing *repros.MissingError
		if _, err := e.Load(context.Background(), r, t.TempDir()); !errors.As(err, &missing) || missing.Hash != "0123" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package reduce

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/minify"
	"whittle/repros"
)

func TestVariants(t *testing.T) {
	s := minify.State{Module: &fx.GraphModule{Graph: fx.NewGraph()}, Inputs: []minify.Input{{Value: int64(1), RequiresGrad: true}, {Value: int64(2)}}}
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

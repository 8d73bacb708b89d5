package autograd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// lines notes what a Watcher is told, each part within the one that it is a part of.
type lines struct {
	text  []string
	depth int
}

func (l *lines) begin(name string) func() {
	l.text = append(l.text, strings.Repeat("  ", l.depth)+name)
	l.depth++
	return func() { l.depth-- }
}

func (l *lines) Operator(op *aten.Op, _ []aten.Value, _ int64) func(aten.Value) {
	done := l.begin(op.Name())
	return func(aten.Value) { done() }
}

func (l *lines) Node(name string, _ int64, _ []*tensor.Tensor) func() { return l.begin(name) }

// TestWatcherSeesParts shows that a Watcher is told of what an operator is composed of within it, and of a backward pass by its nodes.
func TestWatcherSeesParts(t *testing.T) {
	seen := &lines{}
	e := &Engine{Below: aten.Default, Mode: &GradMode{Enabled: true}, Watch: seen}
	run := func(name string, args ...aten.Value) *tensor.Tensor {
		t.Helper()
		out, err := aten.Run(e, name, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out.(*tensor.Tensor)
	}
	ones := func(shape ...int64) *tensor.Tensor {
		x := tensor.Empty(tensor.Float32, shape...)
		if _, err := aten.Run(aten.Default, "aten.fill_.Scalar", x, 1.0); err != nil {
			t.Fatal(err)
		}
		return x
	}
	w := ones(3, 2)
	Ensure(w).RequiresGrad = true
	y := run("aten.sum.default", run("aten.linear.default", ones(4, 2), w, nil))
	if _, err := e.Backward([]*tensor.Tensor{y}, []*tensor.Tensor{nil}, Options{Accumulate: true}); err != nil {
		t.Fatal(err)
	}
	want := `aten.linear.default
  aten.t.default
  aten.matmul.default
    aten.mm.default
aten.sum.default
aten.ones_like.default
autograd::engine::evaluate_function: SumBackward0
  SumBackward0
    aten.expand.default
autograd::engine::evaluate_function: MmBackward0
  MmBackward0
    aten.t.default
    aten.mm.default
    aten.t.default
autograd::engine::evaluate_function: TBackward0
  TBackward0
    aten.t.default
autograd::engine::evaluate_function: torch::autograd::AccumulateGrad
  torch::autograd::AccumulateGrad
    aten.detach.default`
	if diff := cmp.Diff(strings.Split(want, "\n"), seen.text); diff != "" {
		t.Errorf("what was watched (-want +got):\n%s", diff)
	}
}

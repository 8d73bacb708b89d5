package tritontest

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"testing"

	"whittle/accuracy"
	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
	"whittle/lowering"
	"whittle/lowering/triton"
	"whittle/tools/whittle/stack"
)

//go:embed interpreter.py
var source string

// An Interpreter runs modules in whittle's own Python.
type Interpreter struct {
	s   *stack.Session
	run vm.Object
}

// New makes an interpreter.
func New(t *testing.T) *Interpreter {
	t.Helper()
	s := stack.New(context.Background(), "")
	if err := s.In.RunText("interpreter.py", source); err != nil {
		t.Fatal(err)
	}
	m, err := s.In.Import("__main__")
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.In.GetAttr(m, "run")
	if err != nil {
		t.Fatal(err)
	}
	return &Interpreter{s, run}
}

// Run runs a module on copies of its arguments, in blocks of some sizes.
func (x *Interpreter) Run(text string, inputs []any, xblock, rblock int) ([]any, error) {
	args := vm.NewList()
	for _, v := range accuracy.Clone(inputs).([]any) {
		args.Append(x.s.Torch.Object(v))
	}
	out, err := x.s.In.Call(x.run, []vm.Object{vm.Str(text), args, vm.Int(xblock), vm.Int(rblock)}, nil)
	if err != nil {
		return nil, err
	}
	v, ok := x.s.Torch.Value(out)
	if !ok {
		return nil, fmt.Errorf("run gives a %s", out.Type().Name)
	}
	return v.([]any), nil
}

// blocks are the sizes of blocks of x and r that kernels are run with: their results do not depend on them. There are few program instances where
// there are many elements.
func blocks(inputs []any) [][2]int {
	for _, v := range inputs {
		t, ok := v.(*tensor.Tensor)
		switch {
		case ok && t.Numel() > 1<<14:
			return [][2]int{{1024, 2048}}
		case ok && t.Numel() > 1<<12:
			return [][2]int{{256, 512}, {1024, 4096}}
		}
	}
	return [][2]int{{1, 64}, {16, 2048}, {64, 16}}
}

// Check writes a graph as Triton, runs that in blocks of several sizes, and compares with what the eager kernels make of the graph. Results may differ
// by what rounding makes of a few dozen calls, that is limit in float32, 0 for what is usual.
func (x *Interpreter) Check(t *testing.T, gm *fx.GraphModule, inputs []any, limit float64) {
	t.Helper()
	ctx := context.Background()
	copies := accuracy.Clone(inputs).([]any)
	want, err := fx.Run(ctx, gm, copies, interp.Aten(ctx, aten.Eager))
	if err != nil {
		t.Fatal(err)
	}
	if err := interp.Propagate(ctx, gm, inputs); err != nil {
		t.Fatal(err)
	}
	list, _ := want.([]any)
	x.Compare(t, gm, inputs, list, limit)
}

// Compare is Check for a graph whose results are known, and whose nodes have values.
func (x *Interpreter) Compare(t *testing.T, gm *fx.GraphModule, inputs, want []any, limit float64) {
	t.Helper()
	text, err := lowering.Triton(gm, lowering.Config{}, "inference", triton.Devices[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks(inputs) {
		got, err := x.Run(text, inputs, b[0], b[1])
		if err != nil {
			t.Fatalf("blocks of %v: %v\n%s", b, err, text)
		}
		if len(got) != len(want) {
			t.Fatalf("%d results, want %d\n%s", len(got), len(want), text)
		}
		for i, w := range want {
			if bad := apart(got[i], w, limit); bad != "" {
				t.Fatalf("blocks of %v, result %d: %s\n%s", b, i, bad, text)
			}
		}
	}
}

// apart says where got is not want, beyond a limit.
func apart(got, want any, float32s float64) string {
	w, ok := want.(*tensor.Tensor)
	if !ok {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Sprintf("%v, want %v", got, want)
		}
		return ""
	}
	g, ok := got.(*tensor.Tensor)
	if !ok || !tensor.SameShape(g, w) || g.DType != w.DType {
		return fmt.Sprintf("%v, want %v", got, want)
	}
	limit := map[tensor.DType]float64{tensor.Float32: max(2e-5, float32s), tensor.Float64: 1e-12, tensor.BFloat16: 1e-2, tensor.Float16: 2e-3}[w.DType]
	a, b := g.Floats(), w.Floats()
	scale := 1.0
	for _, x := range b {
		if !math.IsInf(x, 0) && x == x {
			scale = max(scale, math.Abs(x))
		}
	}
	for i := range a {
		if a[i] == b[i] || a[i] != a[i] && b[i] != b[i] {
			continue
		}
		if d := math.Abs(a[i] - b[i]); !(d <= limit*scale) {
			return fmt.Sprintf("element %d is %g, want %g", i, a[i], b[i])
		}
	}
	return ""
}

package decomp_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/aot"
	"whittle/aot/autograd"
	"whittle/aot/decomp"
	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// TestRows walks both tables: every row has calls in samples, and each of them, taken apart and run by the eager kernels, gives the dtypes, shapes,
// strides and values that the operator's own kernel gives. The operator itself is gone from the graph, but for a call that its row leaves as it is.
func TestRows(t *testing.T) {
	for _, table := range []struct {
		name string
		rows map[string]aot.Decomposition
		opt  aot.Options
	}{
		{"Inductor", decomp.Inductor, aot.Options{Decompositions: decomp.Inductor}},
		{"Composite", decomp.Composite, aot.Options{Composite: decomp.Composite}},
	} {
		for _, name := range slices.Sorted(maps.Keys(table.rows)) {
			t.Run(table.name+"/"+name, func(t *testing.T) {
				if aten.Lookup(name) == nil {
					t.Fatal("no such operator")
				}
				apart := false
				for _, text := range strings.Split(strings.TrimSpace(samples[name]), "\n") {
					s := sample{name: name, args: strings.TrimSpace(text), opt: table.opt}
					if s.args == "" {
						t.Fatal("no sample calls it")
					}
					s.args, s.left = strings.CutPrefix(s.args, "left: ")
					s.args, s.grad = strings.CutPrefix(s.args, "grad: ")
					s.args, s.strided = strings.CutPrefix(s.args, "strided: ")
					s.check(t)
					apart = apart || !s.left
				}
				if !apart {
					t.Error("no sample is taken apart")
				}
			})
		}
	}
	for name := range samples {
		if decomp.Inductor[name] == nil && decomp.Composite[name] == nil {
			t.Errorf("samples of %s, which has no row", name)
		}
	}
}

// sample is one call: its arguments as a graph has them, with a name for each tensor that says what it holds. See input.
type sample struct {
	name, args string
	opt        aot.Options
	left       bool // the row leaves this call as it is
	grad       bool // its tensors ask for gradients
	strided    bool // the strides of its results are not the kernel's
}

// check compares what the decomposition gives with what the operator's kernel gives.
func (s sample) check(t *testing.T) {
	t.Helper()
	names := slices.Compact(slices.Sorted(slices.Values(inputName.FindAllString(s.args, -1))))
	g, err := fx.ParseGraph(fmt.Sprintf("def forward(self, %s):\n    r = torch.ops.%s(%s)\n    return r", strings.Join(append(names, "last"), ", "), s.name, s.args))
	if err != nil {
		t.Fatal(err)
	}
	gm := &fx.GraphModule{Graph: g}
	var inputs []any
	for _, n := range names {
		inputs = append(inputs, input(n))
	}
	inputs = append(inputs, nil) // last: a call without tensors has no other
	ctx := context.Background()
	want, err := fx.Run(ctx, gm, inputs, interp.Aten(ctx, aten.Eager))
	if err != nil {
		t.Fatalf("(%s): %v", s.args, err)
	}
	var traced *fx.Graph
	opt := s.opt
	opt.Grad = &autograd.GradMode{Enabled: s.grad}
	opt.Eager = &autograd.Engine{Below: aten.Eager, Mode: opt.Grad}
	opt.Compiler = func(gm *fx.GraphModule, kind string) (aot.Callable, error) {
		traced = gm.Graph
		return func(inputs []aten.Value) ([]aten.Value, error) {
			v, err := fx.Run(ctx, gm, inputs, interp.Aten(ctx, aten.Eager))
			return v.([]any), err
		}, nil
	}
	var ins []aot.Input
	for _, v := range inputs {
		x, ok := v.(*tensor.Tensor)
		ins = append(ins, aot.Input{Value: v, RequiresGrad: s.grad && ok && x.DType.IsFloat()})
	}
	c, err := aot.Compile(func(d aten.Dispatcher, inputs []aten.Value) ([]aten.Value, error) {
		v, err := fx.Run(ctx, gm, inputs, interp.Aten(ctx, d))
		return flat(v), err
	}, ins, opt)
	if err != nil {
		t.Fatalf("(%s): %v", s.args, err)
	}
	if left := slices.ContainsFunc(traced.Nodes, func(n *fx.Node) bool { return n.Target == s.name }); left != s.left {
		t.Errorf("(%s): taken apart is %t, want %t:\n%s", s.args, !left, !s.left, traced)
	}
	got, err := c.Run(inputs)
	if err != nil {
		t.Fatalf("(%s): %v", s.args, err)
	}
	drawn, ok := g.Node("r").Facts()
	random := !ok || drawn.Effect == aten.Random
	if diff := cmp.Diff(s.described(flat(want)), s.described(got)); diff != "" {
		t.Errorf("(%s): dtypes, shapes and strides (-kernel +decomposition):\n%s", s.args, diff)
	} else if d := apart(flat(want), got); d != "" && !random {
		t.Errorf("(%s): %s", s.args, d)
	}
}

func flat(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

// described are the dtypes, shapes and strides of values.
func (s sample) described(vs []any) []string {
	var out []string
	for _, v := range vs {
		if x, ok := v.(*tensor.Tensor); ok && x != nil {
			stride := x.Stride
			if s.strided {
				stride = nil
			}
			out = append(out, fmt.Sprintf("%s%v%v", x.DType.Short(), x.Shape, stride))
		} else {
			out = append(out, "None")
		}
	}
	return out
}

// apart says where values differ by more than rounding; "" if nowhere.
func apart(want, got []any) string {
	for i := range want {
		w, ok := want[i].(*tensor.Tensor)
		if !ok || w == nil {
			continue
		}
		limit := map[tensor.DType]float64{tensor.Float32: 2e-6, tensor.Float64: 1e-12, tensor.BFloat16: 1e-2}[w.DType]
		for k, y := range w.Floats() {
			x := got[i].(*tensor.Tensor).Floats()[k]
			if x == y || x != x && y != y {
				continue
			}
			if !(math.Abs(x-y) <= limit*max(1, math.Abs(y))) {
				return fmt.Sprintf("element %d of result %d is %g, and %g from the kernel", k, i, x, y)
			}
		}
	}
	return ""
}

var inputName = regexp.MustCompile(`\b[a-z](?:\d+)[a-d]?\b`)

// input makes the tensor that a name such as f234b says: its kind, one digit for each size (0 alone: no dimensions), and a letter that tells it from
// others of that kind and shape.
//
//	f float32   d float64   h bfloat16   i int64 in 0..2   k int64 in -3..3   b bool
//	p float32 between 0 and 1   s float32 with -1 and 1 alone   e float32 with infinities, nan, and zeros of both signs   t float32, transposed
func input(name string) *tensor.Tensor {
	seed := 0.0
	if c := name[len(name)-1]; c >= 'a' {
		seed, name = float64(c-'a'+1), name[:len(name)-1]
	}
	var shape []int64
	for _, c := range name[1:] {
		if n, _ := strconv.Atoi(string(c)); n > 0 {
			shape = append(shape, int64(n))
		}
	}
	edges := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 3, -3, 0.5, -88, 100}
	value := func(i float64) float64 {
		x := math.Sin(i*1.3 + seed*0.7 + 0.4)
		switch name[0] {
		case 'i':
			return math.Mod(i*2+seed, 3)
		case 'k':
			return math.Mod(i*5+seed, 7) - 3
		case 'b':
			return math.Mod(i*2+math.Floor(i/3)+seed, 2)
		case 'p':
			return 0.5 + 0.45*x
		case 's':
			return math.Copysign(1, x)
		case 'e':
			return edges[int(i+seed)%len(edges)]
		}
		return 4 * x
	}
	d := map[byte]tensor.DType{'d': tensor.Float64, 'h': tensor.BFloat16, 'i': tensor.Int64, 'k': tensor.Int64, 'b': tensor.Bool}[name[0]]
	if d == tensor.Invalid {
		d = tensor.Float32
	}
	stride := tensor.ContiguousStrides(shape)
	if name[0] == 't' {
		slices.Reverse(shape)
		stride = tensor.ContiguousStrides(shape)
		slices.Reverse(shape)
		slices.Reverse(stride)
	}
	x := tensor.EmptyStrided(d, shape, stride)
	xs := make([]float64, x.Numel())
	for i := range xs {
		xs[i] = value(float64(i))
	}
	x.SetFloats(xs)
	return x
}

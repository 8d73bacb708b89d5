package minify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/replay"
)

// atenState parses a graph; inputs are given as "f32[2, 3]", "i64[4]", "s7" (a symbolic size) in order.
func atenState(t testing.TB, text string, inputs ...string) State {
	t.Helper()
	gm, err := fx.Parse("test.py", text)
	if err != nil {
		t.Fatal(err)
	}
	s := State{Module: gm}
	for k, in := range inputs {
		if n, ok := strings.CutPrefix(in, "s"); ok {
			var v int64
			fmt.Sscan(n, &v)
			s.Inputs = append(s.Inputs, Input{Value: v})
			continue
		}
		name, dims, _ := strings.Cut(strings.TrimSuffix(in, "]"), "[")
		dt := map[string]tensor.DType{"f32": tensor.Float32, "f64": tensor.Float64, "f16": tensor.Float16, "i64": tensor.Int64, "b8": tensor.Bool}[name]
		var shape []int64
		for _, x := range strings.Split(dims, ",") {
			var n int64
			if _, err := fmt.Sscan(strings.TrimSpace(x), &n); err == nil {
				shape = append(shape, n)
			}
		}
		x := tensor.Empty(dt, shape...)
		if dt.IsFloat() {
			tensor.NewGenerator(uint64(k)).NormalFill(x, 0, 1)
		}
		s.Inputs = append(s.Inputs, Input{Value: x})
	}
	return s
}

// engine runs candidates for real: their inputs are made, the graph runs eagerly; then a predicate decides.
type testEngine struct {
	EagerValues
	fails func(s State, ins []any) bool
}

func (e *testEngine) Run(ctx context.Context, c Candidate) (replay.Outcome, error) {
	ins, err := e.MakeAll(c.Inputs)
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}, nil
	}
	var probe EagerValues
	real := State{Module: c.Module}
	for i, v := range ins {
		real.Inputs = append(real.Inputs, Input{Value: v, RequiresGrad: c.Inputs[i].RequiresGrad})
	}
	if _, err := probe.Explore(ctx, real, ""); err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}, nil
	}
	if e.fails(c.State, ins) {
		return replay.Outcome{Status: replay.Failed, Signature: sig, Message: "boom"}, nil
	}
	return replay.Outcome{Status: replay.Pass}, nil
}

func node(s State, target string) *fx.Node {
	for _, c := range s.Module.Graph.Calls() {
		if c.Target == target || c.Op == fx.CallMethod && "."+c.Target == target {
			return c
		}
	}
	return nil
}

func calls(s State) int { return CostOf(s).Calls }

// Every row does what no other row of the table does: with it the result is reached, without it not.
func TestEachReductionDoesItsJob(t *testing.T) {
	const relu = "aten.relu.default"
	cases := []struct {
		row    string
		also   []string // rows that could do the job in another way
		text   string
		inputs []string
		adjust func(s *State)
		fails  func(s State, ins []any) bool
		done   func(s State) bool
	}{
		{row: "localise", also: []string{"bypass", "cut", "shortcut", "outputs", "simplify"},
			text:   "def forward(self, x):\n    a = torch.ops.aten.sin.default(x)\n    b = torch.ops.aten.relu.default(a)\n    c = torch.ops.aten.cos.default(b)\n    return (c,)",
			inputs: []string{"f32[4]"}, fails: func(s State, _ []any) bool { return has(s, relu) }, done: func(s State) bool { return calls(s) == 1 }},
		{row: "dead", also: []string{"localise", "cut", "bypass", "outputs", "shortcut", "plain", "simplify", "inputs", "bodies"},
			text:   "def forward(self, x):\n    a = torch.ops.aten.sin.default(x)\n    b = torch.ops.aten.relu.default(x)\n    return (b,)",
			inputs: []string{"f32[1]"}, fails: func(s State, _ []any) bool { return has(s, relu) }, done: func(s State) bool { return calls(s) == 1 }},
		{row: "symbols", text: "def forward(self, s0, x):\n    a = torch.ops.aten.full.default([s0], 1.0)\n    b = torch.ops.aten.add.Tensor(x, a)\n    return (b,)",
			inputs: []string{"s7", "f32[7]"}, fails: func(s State, _ []any) bool { return has(s, "aten.full.default") },
			done: func(s State) bool { return len(s.Inputs) == 0 }},
		{row: "regions", also: []string{"cut", "bypass", "localise", "shortcut"},
			text: "def forward(self, x):\n    enter = torch.amp.autocast_mode._enter_autocast('cpu', torch.bfloat16, True, None)\n    b = torch.relu(x)\n    c = torch.sin(b)\n" +
				"    exit = torch.amp.autocast_mode._exit_autocast(enter)\n    return (c,)",
			inputs: []string{"f32[4]"}, fails: func(s State, _ []any) bool { return has(s, "torch.relu") && has(s, "torch.sin") },
			done: func(s State) bool { return calls(s) == 2 }},
		{row: "outputs", also: []string{"localise", "cut", "bypass", "shortcut", "simplify"},
			text:   "def forward(self, x):\n    a = torch.ops.aten.sin.default(x)\n    b = torch.ops.aten.relu.default(x)\n    return (b, a)",
			inputs: []string{"f32[4]"}, fails: func(s State, _ []any) bool { return has(s, relu) }, done: func(s State) bool { return calls(s) == 1 }},
		{row: "bypass", also: []string{"shortcut", "localise", "simplify"},
			text:   "def forward(self, x):\n    a = torch.ops.aten.relu.default(x)\n    b = torch.ops.aten.sin.default(a)\n    c = torch.ops.aten.cos.default(b)\n    return (c,)",
			inputs: []string{"f32[4]"}, fails: func(s State, _ []any) bool { return dependsOn(s, relu, "aten.cos.default") },
			done: func(s State) bool { return calls(s) == 2 }},
		{row: "cut", also: []string{"bypass", "shortcut", "localise"},
			text:   "def forward(self, x):\n    a = torch.ops.aten.relu.default(x)\n    b = torch.ops.aten.mm.default(a, x)\n    c = torch.ops.aten.cos.default(b)\n    return (c,)",
			inputs: []string{"f32[2, 2]"}, fails: func(s State, _ []any) bool { return has(s, relu) && has(s, "aten.cos.default") },
			done: func(s State) bool { return calls(s) == 2 && len(outputs(s.Module.Graph)) == 2 }}, // a tap
		{row: "shortcut", also: []string{"localise"},
			text: "def forward(self, x):\n    a = torch.ops.aten.relu.default(x)\n    b = torch.ops.aten.sum.dim_IntList(a, [1])\n    c = torch.ops.aten.view.default(b, [2, 2])\n" +
				"    d = torch.ops.aten.cos.default(c)\n    return (d,)",
			inputs: []string{"f32[4, 3]"}, fails: func(s State, _ []any) bool {
				return dependsOn(s, relu, "aten.cos.default") && len(ranks(s)) == 1 && ranks(s)[0] == 2
			},
			done: func(s State) bool { return calls(s) < 4 }},
		{row: "inputs", also: []string{"localise", "outputs", "bypass", "cut", "shortcut", "dead", "arguments", "plain", "simplify"},
			text:   "def forward(self, x, y):\n    b = torch.ops.aten.relu.default(x)\n    return (b,)",
			inputs: []string{"f32[4]", "f32[4]"}, fails: func(s State, _ []any) bool { return has(s, relu) }, done: func(s State) bool { return len(s.Inputs) == 1 }},
		{row: "casts", text: "def forward(self):\n    a = torch.ops.prims.iota.default(4, start = 0, step = 1, dtype = torch.int64, device = device(type='cpu'), requires_grad = False)\n" +
			"    b = torch.ops.prims.convert_element_type.default(a, torch.float32)\n    c = torch.ops.aten.sum.default(b)\n    return (c,)",
			fails: func(s State, _ []any) bool {
				c := s.Module.Graph.Calls()
				d, _ := c[len(c)-1].Kwarg("dtype")
				return len(s.Inputs) == 0 && has(s, "aten.sum.default") && (has(s, "prims.convert_element_type.default") || d == tensor.Float32)
			},
			done: func(s State) bool { return calls(s) == 2 }},
		{row: "config", text: "def forward(self, x):\n    b = torch.ops.aten.relu.default(x)\n    return (b,)", inputs: []string{"f32[4]"},
			adjust: func(s *State) {
				for i := range 9 {
					s.Config = append(s.Config, Setting{fmt.Sprint("c", i), "1"})
				}
			},
			fails: func(s State, _ []any) bool { return slices.Contains(s.Config, Setting{"c5", "1"}) },
			done:  func(s State) bool { return len(s.Config) == 1 }},
		{row: "gradients", also: []string{"plain"}, text: "def forward(self, x):\n    b = torch.ops.aten.relu.default(x)\n    return (b,)", inputs: []string{"f32[4]"},
			adjust: func(s *State) { s.Inputs[0].RequiresGrad = true },
			fails:  func(s State, _ []any) bool { return true }, done: func(s State) bool { return !s.Inputs[0].RequiresGrad }},
		{row: "leaves", text: "def forward(self, x):\n    b = torch.ops.aten.relu.default(x)\n    return (b,)", inputs: []string{"f32[4]"},
			adjust: func(s *State) { s.Inputs[0].RequiresGrad, s.Inputs[0].Made = true, true },
			fails:  func(s State, _ []any) bool { return s.Inputs[0].RequiresGrad }, done: func(s State) bool { return s.Inputs[0].Leaf() }},
		{row: "constants", text: "class Repro(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('c', torch.tensor([1, 64, 3]))\n" +
			"    def forward(self, x):\n        c = self.c\n        b = torch.ops.aten.mul.Tensor(x, c)\n        return (b,)", inputs: []string{"i64[3]"},
			fails: func(s State, ins []any) bool { return has(s, "aten.mul.Tensor") }, done: func(s State) bool { return CostOf(s).Elements == 2 }},
		{row: "sizes", also: []string{"plain"}, text: "def forward(self, x, w):\n    a = torch.ops.aten.view.default(x, [16, 32])\n    b = torch.ops.aten.mm.default(a, w)\n    return (b,)",
			inputs: []string{"f32[2, 8, 32]", "f32[32, 5]"}, fails: func(s State, _ []any) bool { return has(s, "aten.view.default") && has(s, "aten.mm.default") },
			done: func(s State) bool { return CostOf(s).Elements == 2 }},
		{row: "dtypes", text: "def forward(self, x):\n    b = torch.ops.prims.convert_element_type.default(x, torch.float64)\n    return (b,)", inputs: []string{"f16[4]"},
			fails: func(s State, _ []any) bool { return has(s, "prims.convert_element_type.default") },
			done: func(s State) bool {
				return isTensor(s.Inputs[0].Value).DType == tensor.Float32 && node(s, "prims.convert_element_type.default").Args[1] == fx.Arg(tensor.Float32)
			}},
		{row: "layouts", also: []string{"plain", "sizes", "values", "elements"}, text: "def forward(self, x):\n    b = torch.ops.aten.relu.default(x)\n    return (b,)", inputs: []string{"f32[4, 4]"},
			adjust: func(s *State) {
				x := s.Inputs[0].Value.(*tensor.Tensor)
				s.Inputs[0].Value = tensor.NewView(x, []int64{3, 2}, []int64{1, 4}, 1)
			},
			fails: func(s State, _ []any) bool { return true },
			done:  func(s State) bool { return plainLayout(s, s.Inputs[0], isTensor(s.Inputs[0].Value)) }},
		{row: "values", also: []string{"plain", "elements"}, text: "def forward(self, x):\n    b = torch.ops.aten.relu.default(x)\n    return (b,)", inputs: []string{"f32[4]"},
			fails: func(_ State, ins []any) bool { return ins[0].(*tensor.Tensor).At(0) != 0 },
			done:  func(s State) bool { return s.Inputs[0].Data.Fill == FillOnes }},
		{row: "arguments", also: []string{"plain"}, text: "def forward(self, x, y):\n    b = torch.ops.aten.add.Tensor(x, y, alpha = 17)\n    c = torch.ops.aten.softplus.default(b, 2.5, 3.5)\n    return (c,)",
			inputs: []string{"f32[4]", "f32[4]"}, fails: func(s State, _ []any) bool { return has(s, "aten.add.Tensor") && has(s, "aten.softplus.default") },
			done: func(s State) bool {
				return len(node(s, "aten.add.Tensor").Kwargs) == 0 && len(node(s, "aten.softplus.default").Args) == 1
			}},
		{row: "simplify", text: "def forward(self, x):\n    b = torch.ops.aten._softmax.default(x, 1, False)\n    return (b,)", inputs: []string{"f32[4, 4]"},
			fails: func(s State, _ []any) bool { return true }, done: func(s State) bool { return has(s, relu) }},
		{row: "elements", text: "def forward(self, x):\n    b = torch.ops.aten.relu.default(x)\n    return (b,)", inputs: []string{"f32[5]"},
			adjust: func(s *State) { s.Inputs[0].Value = tensor.FromFloat32s([]float32{3, 1, 4, 1, 5}) },
			fails:  func(_ State, ins []any) bool { x := ins[0].(*tensor.Tensor); return x.Numel() == 5 && x.At(2) == 4 },
			done: func(s State) bool {
				return slices.Equal(s.Inputs[0].Data.List, []string{"0.0", "0.0", "4.0", "0.0", "0.0"})
			}},
		{row: "inline", text: condText, inputs: []string{"b8[]", "f32[4]"}, adjust: branches(t),
			fails: func(s State, _ []any) bool { return allCalls(s.Module)["aten.sin.default"] }, done: func(s State) bool { return calls(s) == 1 }},
		{row: "bodies", also: []string{"inline"}, text: condText, inputs: []string{"b8[]", "f32[4]"}, adjust: branches(t),
			fails: func(s State, _ []any) bool {
				return len(s.Module.Submodules) == 2 && allCalls(s.Module)["aten.sin.default"]
			},
			done: func(s State) bool { return calls(s) == 2 }},
		{row: "modules", text: "class Repro(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.act = ReLU()\n    def forward(self, x):\n        a = self.act(x)\n        return (a,)",
			inputs: []string{"f32[4]"}, fails: func(s State, _ []any) bool { return true }, done: func(s State) bool { return node(s, "act") == nil }},
	}
	rows := map[string]bool{}
	for _, c := range cases {
		rows[c.row] = true
		t.Run(c.row, func(t *testing.T) {
			start := atenState(t, c.text, c.inputs...)
			if c.adjust != nil {
				c.adjust(&start)
			}
			run := func(without map[string]bool) State {
				e := &testEngine{fails: c.fails}
				if c.row == "modules" || c.row == "regions" { // what package aten cannot run
					s := Search{Oracle: OracleFunc(func(_ context.Context, x Candidate) (replay.Outcome, error) {
						if c.fails(x.State, nil) {
							return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
						}
						return replay.Outcome{Status: replay.Pass}, nil
					}), without: without}
					r, err := run(t, &s, start)
					if err != nil {
						t.Fatal(err)
					}
					return r.State
				}
				s := Search{Oracle: e, Values: e, Workers: 2, without: without}
				r, err := run(t, &s, start)
				if err != nil {
					t.Fatal(err)
				}
				return r.State
			}
			others := setOf(c.also)
			if s := run(others); !c.done(s) {
				t.Errorf("not done:\n%s\n%+v", s.Module, s.Inputs)
			}
			others[c.row] = true
			if s := run(others); c.done(s) {
				t.Errorf("done without the row:\n%s", s.Module)
			}
		})
	}
	for _, name := range Reductions() {
		if !rows[name] && !slices.Contains([]string{"plain", "apart", "sweep", "workaround"}, name) { // these have tests of their own
			t.Errorf("row %s has no case", name)
		}
	}
}

// branches gives the cond of condText its bodies.
func branches(t *testing.T) func(s *State) {
	return func(s *State) {
		s.Module.Submodules = map[string]*fx.GraphModule{}
		for name, text := range map[string]string{
			"true_graph_0":  "def forward(self, arg0_1):\n    a = torch.ops.aten.sin.default(arg0_1)\n    b = torch.ops.aten.cos.default(a)\n    return (b,)",
			"false_graph_0": "def forward(self, arg0_1):\n    a = torch.ops.aten.neg.default(arg0_1)\n    return (a,)",
		} {
			gm, err := fx.Parse("body.py", text)
			if err != nil {
				t.Fatal(err)
			}
			s.Module.Submodules[name] = gm
		}
	}
}

const condText = `class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.true_graph_0 = <lambda>()
        self.false_graph_0 = <lambda>()
    def forward(self, p, x):
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        c = torch.ops.higher_order.cond(p, true_graph_0, false_graph_0, [x])
        g = c[0]
        return (g,)
`

func allCalls(gm *fx.GraphModule) map[string]bool {
	out := map[string]bool{}
	for _, n := range gm.Graph.Nodes {
		out[n.Target] = true
		if sub := gm.Submodules[n.Target]; sub != nil {
			for k := range allCalls(sub) {
				out[k] = true
			}
		}
	}
	return out
}

// ranks is how many dimensions the values that cos gets have.
func ranks(s State) []int {
	w := newWorld(nil)
	w.gen = 2
	vals, _, _ := w.propagate(ctx, s)
	var out []int
	for _, n := range s.Module.Graph.Calls() {
		if n.Target == "aten.cos.default" {
			if t := isTensor(vals[n.Name]); t != nil {
				out = append(out, len(t.Shape))
			}
		}
	}
	return out
}

// TestOptionalArguments has methods and functions of torch whose overloads say which of their arguments may be left out.
func TestOptionalArguments(t *testing.T) {
	s := stateOf(t, `
def forward(self, x, y):
    a = x.sub_(3)
    b = a.view(torch.int32)
    c = b.view(2, 1)
    d = c.sum(0)
    e = d.softmax(0)
    f = torch.add(e, y)
    g = torch.relu(f)
    h = torch.max(g, 0)
    i = torch.nn.functional.gelu(h, "none")
    j = torch.ops.aten.sum.dim_IntList(i, [0], True)
    return (j,)
`)
	d := newDriver(&Search{}, s)
	want := []string{"c.2", "d.1", "h.1", "i.1", "j.2"}
	if diff := cmp.Diff(want, optional(&d.view)); diff != "" {
		t.Error(diff)
	}
}

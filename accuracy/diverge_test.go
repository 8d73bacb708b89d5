package accuracy

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// toy runs graphs eagerly, and "compiled" with a bug: bug changes the value of a node, given the graph that is compiled.
func toy(bug func(gm *fx.GraphModule, n *fx.Node, v any) any) Executions {
	run := func(ctx context.Context, gm *fx.GraphModule, inputs []any, see func(n *fx.Node, v any) any) ([]any, error) {
		out, err := fx.RunObserved(ctx, gm, inputs, interp.Aten(ctx, aten.Eager), func(n *fx.Node, v any) (any, error) { return see(n, v), nil })
		if err != nil {
			return nil, err
		}
		return out.([]any), nil
	}
	return Executions{
		Eager: func(ctx context.Context, gm *fx.GraphModule, inputs []any, observe func(n *fx.Node, v any)) ([]any, error) {
			return run(ctx, gm, inputs, func(n *fx.Node, v any) any { observe(n, v); return v })
		},
		Compiled: func(ctx context.Context, gm *fx.GraphModule, inputs []any) ([]any, error) {
			return run(ctx, gm, inputs, func(n *fx.Node, v any) any { return bug(gm, n, v) })
		},
		Seed: aten.DefaultGenerator.ManualSeed,
	}
}

func parse(t *testing.T, forward string) *fx.GraphModule {
	t.Helper()
	gm, err := fx.Parse("g", forward)
	if err != nil {
		t.Fatal(err)
	}
	return gm
}

func offBy(x float64) func(any) any {
	return func(v any) any {
		c := v.(*tensor.Tensor).Clone()
		xs := c.Floats()
		for i := range xs {
			xs[i] += x
		}
		c.SetFloats(xs)
		return c
	}
}

func returned(gm *fx.GraphModule, n *fx.Node) bool {
	for _, a := range outputArgs(gm.Graph) {
		if a == fx.Arg(n) {
			return true
		}
	}
	return false
}

// verdicts is what a test looks at: node, verdict, and the note behind it.
func verdicts(rows []Row) string {
	var out []string
	for _, r := range rows {
		s := r.Node
		switch {
		case r.First:
			s += " FIRST"
		case r.Skipped:
			s += " skipped"
		case !r.Same:
			s += " differs"
		}
		if r.Note != "" {
			s += " (" + r.Note + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

const chain = `def forward(self, x):
    sin = torch.ops.aten.sin.default(x)
    exp = torch.ops.aten.exp.default(sin)
    neg = torch.ops.aten.neg.default(exp)
    return (neg,)
`

const random = `def forward(self, x):
    rand = torch.ops.aten.rand.default([2, 3])
    add = torch.ops.aten.add.Tensor(x, rand)
    sin = torch.ops.aten.sin.default(x)
    return (%s,)
`

func TestDiverge(t *testing.T) {
	far, right := offBy(0.5), func(_ *fx.GraphModule, _ *fx.Node, v any) any { return v }
	at := func(name string, when func(gm *fx.GraphModule, n *fx.Node) bool) func(gm *fx.GraphModule, n *fx.Node, v any) any {
		return func(gm *fx.GraphModule, n *fx.Node, v any) any {
			if n.Name == name && (when == nil || when(gm, n)) {
				return far(v)
			}
			return v
		}
	}
	fused := func(gm *fx.GraphModule, n *fx.Node) bool { return !returned(gm, n) }
	for name, c := range map[string]struct {
		graph  string
		bug    func(gm *fx.GraphModule, n *fx.Node, v any) any
		stream bool // same random numbers
		few    int  // MaxPrefixes
		strict bool
		want   string
	}{
		"same":            {graph: chain, bug: right, want: "sin\nexp\nneg\noutput[0]"},
		"the middle node": {graph: chain, bug: at("exp", nil), want: "sin\nexp FIRST\nneg differs\noutput[0] differs"},
		"only while exp is no output": {graph: chain, bug: at("exp", fused),
			want: "sin\nexp\nneg FIRST (" + noteTaps + ")\noutput[0] differs"},
		"prefixes by halves": {graph: chain, bug: at("exp", fused), few: 1,
			want: "sin skipped (" + noteNotRun + ")\nexp\nneg FIRST (" + noteTaps + ")\noutput[0] differs"},
		"only the graph without taps or cuts": {
			graph: strings.Replace(chain, "(neg,)", "(neg, sin)", 1), bug: at("exp", func(gm *fx.GraphModule, n *fx.Node) bool { return len(outputArgs(gm.Graph)) == 2 }),
			want: "sin\nexp\nneg\noutput[0] FIRST (" + noteWhole + ")\noutput[1]"},
		"writes to operands": {
			graph: strings.Replace(chain, "aten.neg.default(exp)", "aten.neg_.default(exp)", 1), bug: at("neg", nil),
			want: "sin\nexp\nneg FIRST (" + noteWrites + ")\noutput[0] differs"},
		"a copy into an input at the end": {
			graph: strings.Replace(chain, "    return", "    copy_ = torch.ops.aten.copy_.default(x, neg)\n    return", 1), bug: at("sin", nil),
			want: "sin FIRST\nexp differs\nneg differs\noutput[0] differs"},
		"random numbers are refused": {graph: strings.Replace(random, "%s", "add, sin", 1), bug: right,
			want: "rand skipped (" + noteRandom + ")\nadd skipped (" + noteRandom + ")\nsin\noutput[0] skipped (" + noteRandom + ")\noutput[1]\nerror output[0] cannot be judged: " + noteRandom},
		"a divergence beside random numbers": {graph: strings.Replace(random, "%s", "add, sin", 1), bug: at("sin", nil),
			want: "rand skipped (" + noteRandom + ")\nadd skipped (" + noteRandom + ")\nsin FIRST\noutput[0] skipped (" + noteRandom + ")\noutput[1] differs"},
		"the same random numbers on both sides": {graph: strings.Replace(random, "%s", "add, sin", 1), bug: right, stream: true,
			want: "rand\nadd\nsin\noutput[0]\noutput[1]"},
		"a bug behind the same random numbers": {graph: strings.Replace(random, "%s", "add, sin", 1), bug: at("add", nil), stream: true,
			want: "rand\nadd FIRST\nsin\noutput[0] differs\noutput[1]"},
		"uninitialised memory is refused": {
			graph: "def forward(self, x):\n    empty = torch.ops.aten.empty_like.default(x)\n    mul = torch.ops.aten.mul.Tensor(empty, x)\n    full = torch.ops.aten.full_like.default(empty, 2)\n    return (mul, full)",
			bug:   at("mul", nil),
			want:  "empty skipped (" + noteUninit + ")\nmul skipped (" + noteUninit + ")\nfull\noutput[0] skipped (" + noteUninit + ")\noutput[1]\nerror output[0] cannot be judged: " + noteUninit},
		"integers are left out": {graph: "def forward(self, x):\n    m = torch.ops.aten.argmax.default(x)\n    return (m,)", bug: at("m", nil), want: ""},
		"integers are compared where strict": {graph: "def forward(self, x):\n    m = torch.ops.aten.argmax.default(x)\n    return (m,)", bug: func(_ *fx.GraphModule, n *fx.Node, v any) any {
			if n.Name == "m" {
				return tensor.FullInt(tensor.Int64, 77)
			}
			return v
		}, strict: true, want: "m FIRST\noutput[0] differs"},
	} {
		t.Run(name, func(t *testing.T) {
			x := toy(c.bug)
			x.SameStream, x.MaxPrefixes = c.stream, c.few
			in := []any{tensor.FromFloat32s([]float32{1, 2, 3, -1, -2, -3}, 2, 3)}
			if !strings.Contains(c.graph, "x") {
				in = nil
			}
			rows, err := Diverge(context.Background(), parse(t, c.graph), in, x, Minifying(c.strict))
			got := verdicts(rows)
			var ne *NondeterministicError
			if errors.As(err, &ne) {
				got += "\nerror " + err.Error()
			} else if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDivergeRefusesCompiledNoise(t *testing.T) {
	runs := 0.0
	x := toy(func(_ *fx.GraphModule, n *fx.Node, v any) any {
		if n.Name == "exp" {
			runs++
			return offBy(runs)(v)
		}
		return v
	})
	rows, err := Diverge(context.Background(), parse(t, chain), []any{f32(1, 2)}, x, Minifying(false))
	var ne *NondeterministicError
	if !errors.As(err, &ne) || ne.Why != noteCompiled {
		t.Errorf("%v\n%s", err, verdicts(rows))
	}
}

func TestDivergeTellsFailuresApart(t *testing.T) {
	x := toy(func(_ *fx.GraphModule, _ *fx.Node, v any) any { return v })
	x.Compiled = func(context.Context, *fx.GraphModule, []any) ([]any, error) { return nil, errors.New("no compiler") }
	_, err := Diverge(context.Background(), parse(t, chain), []any{f32(1)}, x, Default())
	var ce *CompiledError
	if !errors.As(err, &ce) {
		t.Error(err)
	}
	_, err = Diverge(context.Background(), parse(t, chain), []any{"text"}, x, Default())
	var ee *EagerError
	if !errors.As(err, &ee) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = Diverge(ctx, parse(t, chain), []any{f32(1)}, x, Default()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestNullTest(t *testing.T) {
	n := float32(0)
	count := func(context.Context) (any, error) { n++; return []any{f32(1), f32(n)}, nil }
	var ne *NondeterministicError
	if err := NullTest(context.Background(), "eager", count, Default()); !errors.As(err, &ne) || ne.Where != "eager[1]" {
		t.Error(err)
	}
	same := func(context.Context) (any, error) { return f32(float32(nan)), nil }
	if err := NullTest(context.Background(), "compiled", same, Default()); err != nil {
		t.Error(err)
	}
}

func TestTable(t *testing.T) {
	rows := []Row{
		{Node: "mm", Target: "aten.mm.default", Eager: 1.25e-7, Compiled: 1.2e-7, Same: true},
		{Node: "relu", Target: "aten.relu.default", Eager: 0, Compiled: 0.5, First: true, Note: "wrong"},
		{Node: "rand", Target: "aten.rand.default", Eager: nan, Compiled: math.Inf(1), Same: true, Skipped: true, Note: noteRandom},
	}
	want := `    node  target               eager  compiled  same  note
    mm    aten.mm.default    1.2e-07   1.2e-07  yes
->  relu  aten.relu.default        0   5.0e-01  NO    wrong
    rand  aten.rand.default        ?       inf  -     random: two eager runs differ
`
	if d := cmp.Diff(want, Table(rows, 0)); d != "" {
		t.Error(d)
	}
	want = `    node  target             eager  compiled  same  note
[1 row before]
->  relu  aten.relu.default      0   5.0e-01  NO    wrong
[1 row after]
`
	if d := cmp.Diff(want, Table(rows, 1)); d != "" {
		t.Error(d)
	}
	b, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	var back []Row
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(back[2].Eager) {
		t.Error(back[2])
	}
	back[2].Eager, rows[2].Eager = 0, 0
	if d := cmp.Diff(rows, back); d != "" {
		t.Error(d)
	}
}

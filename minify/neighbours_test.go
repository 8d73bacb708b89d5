package minify

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/replay"
)

// residual is a graph of about 22 calls a layer as AOTAutograd makes them: norms with two results, products between views, gates, residuals.
func residual(t *testing.T, layers int) State {
	t.Helper()
	var b strings.Builder
	b.WriteString("def forward(self, x, w, v, g):\n")
	h, n := "x", 0
	call := func(op, args string) string {
		n++
		name := fmt.Sprintf("%s_%d", op[:strings.Index(op, ".")], n)
		fmt.Fprintf(&b, "    %s = torch.ops.aten.%s(%s)\n", name, op, args)
		return name
	}
	part := func(of string, i int) string {
		n++
		fmt.Fprintf(&b, "    getitem_%d = %s[%d]\n", n, of, i)
		return fmt.Sprintf("getitem_%d", n)
	}
	for range layers {
		m := call("var_mean.correction", h+", [1], correction = 0, keepdim = True")
		variance, mean := part(m, 0), part(m, 1)
		s := call("rsqrt.default", call("add.Tensor", variance+", 1e-05"))
		y := call("mul.Tensor", call("mul.Tensor", call("sub.Tensor", h+", "+mean)+", "+s)+", g")
		q := call("view.default", call("mm.default", y+", w")+", [2, 2, 8]")
		k := call("permute.default", q+", [0, 2, 1]")
		a := call("softmax.int", call("bmm.default", q+", "+k)+", -1")
		o := call("view.default", call("bmm.default", a+", "+q)+", [4, 8]")
		r := call("add.Tensor", call("mm.default", o+", w")+", "+h)
		u := call("mm.default", r+", v")
		z := call("mul.Tensor", call("sigmoid.default", u)+", "+u)
		h = call("add.Tensor", call("mm.default", z+", "+call("permute.default", "v, [1, 0]"))+", "+r)
	}
	gm, err := fx.Parse("residual.py", b.String()+"    return ("+h+",)")
	if err != nil {
		t.Fatal(err)
	}
	st := State{Module: gm}
	r := tensor.NewGenerator(1)
	for _, shape := range [][]int64{{4, 8}, {8, 8}, {8, 16}, {8}} {
		x := tensor.Empty(tensor.Float32, shape...)
		r.NormalFill(x, 0, 1)
		st.Inputs = append(st.Inputs, Input{Value: x})
	}
	return st
}

// connected reports whether the named calls are there, each computed from the one before it.
func connected(g *fx.Graph, names []string) bool {
	reached := map[*fx.Node]int{}
	for _, n := range g.Nodes {
		best := 0
		n.WalkInputs(func(in *fx.Node) { best = max(best, reached[in]) })
		if best < len(names) && n.IsCall() && n.Name == names[best] {
			best++
		}
		if best == len(names) {
			return true
		}
		reached[n] = best
	}
	return false
}

// TestCallsNearEachOtherTakeFewQuestions has failures as fusion and scheduling bring them forth: up to four calls a few edges apart, among two
// hundred, that must all be there, or must feed each other.
func TestCallsNearEachOtherTakeFewQuestions(t *testing.T) {
	const most = 60
	start := residual(t, 9)
	g := start.Module.Graph
	calls := slices.DeleteFunc(g.Calls(), part)
	users := g.Users()
	sum, cases := 0, 0
	for seed := range int64(24) {
		r := rand.New(rand.NewSource(seed))
		want := []string{calls[r.Intn(len(calls))].Name}
		for at := g.Node(want[0]); len(want) < 1+int(seed)%4; {
			for range 1 + r.Intn(3) {
				next := slices.DeleteFunc(slices.Clone(users[at]), func(n *fx.Node) bool { return !n.IsCall() })
				if len(next) > 0 {
					at = next[r.Intn(len(next))]
				}
			}
			if part(at) {
				continue
			}
			if at.Name == want[len(want)-1] {
				break
			}
			want = append(want, at.Name)
		}
		feeds := seed%2 == 0
		fails := func(s State) bool {
			if feeds {
				return connected(s.Module.Graph, want)
			}
			return !slices.ContainsFunc(want, func(name string) bool {
				n := s.Module.Graph.Node(name)
				return n == nil || !n.IsCall()
			})
		}
		s := Search{Steady: func(replay.Signature) bool { return true }, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
			if fails(c.State) {
				return replay.Outcome{Status: replay.Failed, Signature: sig, Message: "KeyError: 'buf7'"}, nil
			}
			return replay.Outcome{Status: replay.Pass}, nil
		})}
		res, err := run(t, &s, start)
		if err != nil {
			t.Fatal(err)
		}
		// What only connects the calls may stay where no adapter does the same.
		if left := res.Cost.Calls; !fails(res.State) || !feeds && left > len(want)+1 || left > 2*len(want) {
			t.Errorf("%v: %d calls left:\n%s", want, left, res.State.Module)
		}
		if res.Queries > most {
			t.Errorf("%v (feed each other: %v): %d questions", want, feeds, res.Queries)
		}
		sum, cases = sum+res.Queries, cases+1
	}
	t.Logf("%d calls, %d failures, %.1f questions each", len(calls), cases, float64(sum)/float64(cases))
}

// TestWrongOutputsAlone has a wrong result that is right again where anything else that is computed becomes an output, as when memory is used
// again: no part of the graph fails. The engine says which of the outputs is wrong.
func TestWrongOutputsAlone(t *testing.T) {
	var b strings.Builder
	b.WriteString("def forward(self, x, y):\n    early = torch.ops.aten.mul.Tensor(y, 2)\n    h0 = torch.ops.aten.relu.default(x)\n")
	const n = 120
	for i := range n {
		fmt.Fprintf(&b, "    h%d = torch.ops.aten.%s\n", i+1, fmt.Sprintf([]string{"add.Tensor(h%d, x)", "sigmoid.default(h%d)", "mul.Tensor(h%d, x)"}[i%3], i))
	}
	fmt.Fprintf(&b, "    late = torch.ops.aten.sub.Tensor(early, 3)\n    return (h%d, late)", n)
	returned := []string{fmt.Sprintf("h%d", n), "late"}
	var asked [2]int
	for i, wrong := range [][]int{{1}, nil} {
		s := Search{Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
			others := slices.ContainsFunc(outputs(c.Module.Graph), func(o fx.Arg) bool { return !slices.Contains(returned, fx.FormatArg(o)) })
			if !others && connected(c.Module.Graph, []string{"early", "late"}) {
				return replay.Outcome{Status: replay.Failed, Signature: sig, Outputs: wrong}, nil
			}
			return replay.Outcome{Status: replay.Pass}, nil
		})}
		res, err := run(t, &s, stateOf(t, b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if res.Cost.Calls != 2 {
			t.Errorf("%d calls left:\n%s", res.Cost.Calls, res.State.Module)
		}
		asked[i] = res.Queries
	}
	t.Logf("%d questions where the wrong output is told, else %d", asked[0], asked[1])
	if asked[0] >= asked[1] {
		t.Errorf("%d questions although the wrong output is told, else %d", asked[0], asked[1])
	}
}

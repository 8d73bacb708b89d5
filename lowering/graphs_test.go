package lowering_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/lowering"
	"whittle/tools/tritontest"
)

var randomGraphCount = flag.Int("graphs", 12, "random graphs that are compiled; ten times as many run in tiles")

// A grown is a random graph: calls on what is there already, each done by the eager kernels at once.
type grown struct {
	r     *rand.Rand
	lines []string
	names []string
	vals  []*tensor.Tensor
	uses  []int
}

// grow makes a graph of n calls on tensors that are shaped alike enough to meet.
func grow(seed uint64, n int) (*grown, []any) {
	g := &grown{r: rand.New(rand.NewPCG(seed, 3))}
	dims := []int64{1 + g.r.Int64N(80), 1 + g.r.Int64N(9), 2*g.r.Int64N(40) + 1 + g.r.Int64N(2)}
	if g.r.IntN(3) == 0 { // squares, which can be turned in their place
		dims[1] = dims[2] % 12
		dims[2] = dims[1]
	}
	var inputs []any
	for i, shape := range [][]int64{dims, {dims[0], dims[1], dims[2]}, {dims[2]}} {
		t := data(shape...)
		if i == 1 && g.r.IntN(2) == 0 { // columns first
			t = tensor.EmptyUnset(tensor.Float32, shape, []int64{shape[1] * shape[2], 1, shape[1]})
			tensor.Copy(t, data(shape...))
		}
		inputs = append(inputs, t)
		g.names, g.vals, g.uses = append(g.names, []string{"a", "b", "c"}[i]), append(g.vals, t), append(g.uses, 0)
	}
	for len(g.lines) < n {
		g.call()
	}
	return g, inputs
}

// add does a call, and keeps it if eager takes it and its values stay in bounds.
func (g *grown) add(op, args string, of ...int) {
	name := fmt.Sprintf("v%d", len(g.lines))
	line := fmt.Sprintf("    %s = torch.ops.aten.%s(%s)\n", name, op, args)
	var in []string
	var vals []any
	seen := map[int]bool{}
	for _, k := range of {
		if !seen[k] {
			in, vals = append(in, g.names[k]), append(vals, g.vals[k])
		}
		seen[k] = true
	}
	graph, err := fx.ParseGraph("def forward(self, " + strings.Join(in, ", ") + "):\n" + line + "    return " + name)
	if err != nil {
		panic(err)
	}
	v, err := fx.Run(context.Background(), &fx.GraphModule{Graph: graph}, vals, interp.Aten(context.Background(), aten.Eager))
	if err != nil {
		return
	}
	t := v.(*tensor.Tensor)
	for _, x := range t.Floats() {
		if math.IsNaN(x) || math.Abs(x) > 1e3 {
			return
		}
	}
	for k := range seen {
		g.uses[k]++
	}
	g.lines, g.names, g.vals, g.uses = append(g.lines, line), append(g.names, name), append(g.vals, t), append(g.uses, 0)
}

// call adds a random call, mostly on what is new.
func (g *grown) call() {
	k := len(g.vals) - 1 - min(g.r.IntN(3)*g.r.IntN(3), len(g.vals)-1)
	x, t := g.names[k], g.vals[k]
	n := len(t.Shape)
	dim := 0
	if n > 0 {
		dim = g.r.IntN(n)
	}
	j := g.r.IntN(len(g.vals))
	switch g.r.IntN(14) {
	case 0, 1, 2:
		g.add([]string{"sin", "exp", "tanh", "neg", "abs", "sigmoid", "relu", "erf", "atan", "expm1"}[g.r.IntN(10)]+".default", x, k)
	case 3, 4, 5:
		g.add([]string{"add", "sub", "mul", "maximum"}[g.r.IntN(3)]+".Tensor", x+", "+g.names[j], k, j)
	case 6:
		if n > 0 {
			keep := g.r.IntN(2) == 0
			op := []string{"sum.dim_IntList", "mean.dim", "amax.default", "amin.default"}[g.r.IntN(4)]
			over := fmt.Sprintf("[%d]", dim)
			if g.r.IntN(4) == 0 && n > 1 {
				over = fmt.Sprintf("[%d, %d]", dim, (dim+1)%n)
			}
			g.add(op, fmt.Sprintf("%s, %s, %s", x, over, map[bool]string{true: "True", false: "False"}[keep]), k)
		}
	case 7:
		if n > 0 && t.Shape[dim] > 1 {
			g.add("var.correction", fmt.Sprintf("%s, [%d], correction = 1, keepdim = True", x, dim), k)
		}
	case 8:
		perm := g.r.Perm(n)
		if n > 2 && g.r.IntN(2) == 0 { // within rows
			perm = append([]int{0}, g.r.Perm(n-1)...)
			for i := range perm[1:] {
				perm[1+i]++
			}
		}
		g.add("permute.default", fmt.Sprintf("%s, [%s]", x, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(perm)), ", "), "[]")), k)
	case 9: // two axes as one, or one as two
		shape := append([]int64{}, t.Shape...)
		if n > 1 && dim < n-1 {
			shape = append(append(append([]int64{}, shape[:dim]...), shape[dim]*shape[dim+1]), shape[dim+2:]...)
		} else if n > 0 && n < 4 && shape[dim]%2 == 0 {
			shape = append(append(append([]int64{}, shape[:dim]...), 2, shape[dim]/2), shape[dim+1:]...)
		}
		g.add("clone.default", x+", memory_format = torch.contiguous_format", k)
		k = len(g.vals) - 1
		g.add("view.default", fmt.Sprintf("%s, [%s]", g.names[k], strings.Trim(strings.Join(strings.Fields(fmt.Sprint(shape)), ", "), "[]")), k)
	case 10:
		if n > 0 && t.Shape[dim] > 2 {
			g.add("slice.Tensor", fmt.Sprintf("%s, %d, 1, %d, %d", x, dim, t.Shape[dim], 1+g.r.IntN(2)), k)
		}
	case 11:
		if n > 0 {
			g.add("cat.default", fmt.Sprintf("[%s, %s], %d", x, g.names[j], dim), k, j)
		}
	case 12:
		if n > 1 {
			g.add("constant_pad_nd.default", fmt.Sprintf("%s, [1, %d], 0.5", x, g.r.IntN(3)), k)
		}
	case 13:
		if n > 0 {
			g.add("flip.default", fmt.Sprintf("%s, [%d]", x, dim), k)
		}
	}
}

// text is the graph, with all that nobody reads, and something that somebody does, as results.
func (g *grown) text() (string, []*tensor.Tensor) {
	var outs []string
	var want []*tensor.Tensor
	for k := 3; k < len(g.names); k++ {
		if g.uses[k] == 0 || g.r.IntN(8) == 0 {
			outs, want = append(outs, g.names[k]), append(want, g.vals[k])
		}
	}
	return "def forward(self, a, b, c):\n" + strings.Join(g.lines, "") + "    return (" + strings.Join(outs, ", ") + ",)", want
}

// TestRandomGraphs: what is fused, cut, turned and joined at random gives in tiles and in C++ what the eager kernels give, one call after another.
func TestRandomGraphs(t *testing.T) {
	_, noCompiler := native.FindCompiler()
	ctx := context.Background()
	for seed := range uint64(10 * *randomGraphCount) {
		calls := 6 + int(seed%25)
		if seed%10 == 0 {
			calls = 80 // a C++ compilation takes much longer than a call
		}
		g, inputs := grow(seed, calls)
		text, want := g.text()
		graph, err := fx.ParseGraph(text)
		if err != nil {
			t.Fatal(err)
		}
		gm := &fx.GraphModule{Graph: graph}
		if err := interp.Propagate(ctx, gm, inputs); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		tiers := []lowering.Tier{lowering.Tiles}
		if seed%10 == 0 && noCompiler == nil {
			tiers = append(tiers, lowering.Cpp)
		}
		for _, tier := range tiers {
			p, err := lowering.Compile(ctx, gm, lowering.Config{CacheDir: t.TempDir(), Tier: tier, Threads: 1 + int(seed/10%2)})
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			got, err := p.Run(inputs)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			for i, w := range want {
				if bad := apart(got[i].(*tensor.Tensor), w); bad != "" {
					t.Fatalf("seed %d, tier %d, result %d: %s\n%s\n%s", seed, tier, i, bad, text, strings.Join(p.Steps, "\n"))
				}
			}
		}
	}
}

// apart says where got is not want, beyond what rounding makes of a few dozen calls.
func apart(got, want *tensor.Tensor) string {
	if !tensor.SameShape(got, want) {
		return fmt.Sprintf("shape %v, want %v", got.Shape, want.Shape)
	}
	a, b := got.Floats(), want.Floats()
	scale := 1.0
	for _, x := range b {
		scale = max(scale, math.Abs(x))
	}
	for i := range a {
		if d := math.Abs(a[i] - b[i]); !(d <= 1e-4*scale) {
			return fmt.Sprintf("element %d is %g, want %g", i, a[i], b[i])
		}
	}
	return ""
}

// TestRandomGraphsInTriton: what is written for a GPU gives the same, in an interpreter.
func TestRandomGraphsInTriton(t *testing.T) {
	x := tritontest.New(t)
	for seed := range uint64(*randomGraphCount) {
		g, inputs := grow(seed, 5+int(seed%20))
		text, _ := g.text()
		graph, err := fx.ParseGraph(text)
		if err != nil {
			t.Fatal(err)
		}
		if !t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { x.Check(t, &fx.GraphModule{Graph: graph}, inputs, 1e-4) }) {
			t.Log(text)
		}
	}
}

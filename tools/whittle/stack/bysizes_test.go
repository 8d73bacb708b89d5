package stack

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/capture/symbolic"
)

// TestFloatsStayTensors: one aten compilation serves all values of a float that only meets tensors; a float that has to be a
// number is compiled for each value, with the right result.
func TestFloatsStayTensors(t *testing.T) {
	for _, c := range []struct {
		name, body string
		tensor     bool // it stays a tensor
	}{
		{"meets tensors", "x * a + x / a", true},
		{"is compared", "x * a + (a > 0)", true},
		{"meets an integer tensor", "x.int() * a", false},
		{"is computed with", "x * (a * 2)", false},
	} {
		src := fmt.Sprintf(`
import torch
def f(x, a): return %s
c = torch.compile(f, backend="aot_eager")
x = torch.linspace(-1, 1, 4)
for a in (0.5, 1.5, 2.5, 3.5):
    assert torch.allclose(c(x, a), f(x, a)), a
`, c.body)
		s, n := New(context.Background(), t.TempDir()), 0
		inputs := 0
		s.AOT = func(_ string, gm *fx.GraphModule) { n, inputs = n+1, len(gm.Graph.Placeholders()) }
		if err := s.In.RunSource("script.py", src); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		// The first value is a constant; what is compiled again for other values is not announced.
		if n != 2 {
			t.Errorf("%s: %d graphs were announced, want 2", c.name, n)
		}
		if got := inputs == 2; got != c.tensor {
			t.Errorf("%s: the aten graph has %d inputs", c.name, inputs)
		}
	}
}

// TestSoundSizes runs functions compiled with dynamic=True at many sizes and compares with eager: a guard that is missing shows.
func TestSoundSizes(t *testing.T) {
	functions := []string{
		"x.view(-1, 2)", "x.view(2, -1).sum()", "x.reshape(x.shape[0], 2, -1)", "x.unflatten(1, (2, -1))", "x.transpose(0, 1).contiguous().view(-1)",
		"x[1:]", "x[:2]", "x[:-1]", "x[:, 1:3]", "x[::2]", "(x[0], x[-1], x[:, 1])", "x.chunk(2)", "x.split(3, 1)", "x.unbind(0)", "x.repeat(2, 1)",
		"(x.mean(0), x.sum(-1, keepdim=True), x.var(1))", "x.expand(3, -1, -1)", "x[:1].expand(x.shape[0], x.shape[1])", "torch.tril(torch.ones(x.shape[0], x.shape[0]))",
		"x.topk(2)[0]", "x.diagonal()", "torch.stack([x, x], 1)", "torch.cat([x, x[:1]])", "x * 2 if x.shape[0] > 3 else x", "x * 2 if x.shape[0] == x.shape[1] else x",
		"x * 2 if x.numel() > 10 else x", "torch.nn.functional.pad(x, (1, 1))", "torch.nn.functional.pad(x, (0, 8 - x.shape[1] % 8))", "x.squeeze().unsqueeze(0)",
		"x @ x.T", "torch.einsum('ij,kj->ik', x, x)", "x.flatten().unfold(0, 2, 2)", "torch.nn.functional.max_pool1d(x, 2)", "x.roll(1, 0).flip(0)",
		"torch.arange(x.shape[0]) * max(x.shape[1], 3)", "x.new_full((x.shape[0] // 2, 2), float(x.shape[1]))", "x.cumsum(0).sort(-1)[0]", "x.masked_fill(x > 1, 0)",
		"torch.nn.functional.layer_norm(x, (x.shape[-1],))", "torch.nn.functional.interpolate(x[None], scale_factor=2.0)", "x.tile(2, 2)[: x.shape[0]]",
	}
	src := `
import torch
def same(a, b):
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(p, q) for p, q in zip(a, b))
    if isinstance(a, Exception): # what is known of the sizes alone is the end of a trace
        return type(b).__name__ in (type(a).__name__, "TorchRuntimeError")
    return a.shape == b.shape and torch.allclose(a, b, equal_nan=True) if isinstance(a, torch.Tensor) else a == b
def attempt(f, x):
    try:
        return f(x)
    except Exception as e:
        return e
inputs = [torch.arange(float(a * b)).reshape(a, b) / 7 for a, b in ((4, 6), (6, 4), (5, 8), (2, 6), (8, 2), (3, 3), (6, 6), (1, 6), (4, 1), (12, 10))]
for text in functions:
    f = eval("lambda x: " + text)
    torch._dynamo.reset()
    c = torch.compile(f, backend="eager", dynamic=True)
    for x in inputs:
        want, got = attempt(f, x), attempt(c, x)
        if not same(want, got):
            print(text, tuple(x.shape))
`
	_, out, err := run(t, "functions = ["+strings.Join(quoted(functions), ", ")+"]\n"+src)
	if err != nil {
		t.Fatal(err)
	}
	if out != "" {
		t.Errorf("compiled and eager differ:\n%s", out)
	}
}

func quoted(ss []string) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = fmt.Sprintf("%q", s)
	}
	return out
}

// TestForAllSizes: the graphs that are shown for all sizes are, at sizes that they were not made from, those of a trace at these sizes.
func TestForAllSizes(t *testing.T) {
	for _, c := range []struct {
		body     string
		settable bool // whether graphs for all sizes are known
	}{
		{"torch.relu(x @ x.T).mean()", true},
		{"x.reshape(x.shape[0] * x.shape[1] // 2, 2).var() + x.shape[0]", true},
		{"x.view(2, -1).sum(1) * (x.shape[1] - 1)", true},
		{"torch.nn.functional.layer_norm(x, (x.shape[-1],)).std(0)", true},
		{"torch.cat([x, x[:2] * 3]).softmax(-1).sum(0)", true},
		{"x[:, : x.shape[1] // 2].cumsum(0) / x.numel()", true},
		{"torch.stack([x, x.sin()], 1).permute(2, 0, 1).reshape(x.shape[1], -1)", true},
		{"torch.nn.functional.pad(x, (1, 2)).max(1)[0]", true},
		{"x.new_ones(x.shape[0], 3) @ x.new_ones(3, x.shape[0] + x.shape[1]) * x.sum()", true},
		{"x * (x.shape[0] ** 0.5)", true},
		{"x.mean(1) * (x.shape[0] / 3)", true},
		{"torch.cat([x, x[: x.shape[0] // 2]])", true},
		{"torch.nn.functional.pad(x, (0, (3 - x.shape[1] % 3) % 3))", true},
		{"x * math.sqrt(x.shape[0])", false},
	} {
		at := func(dynamic string, a, b int64) map[string]string {
			s, got, values := New(context.Background(), t.TempDir()), map[string]string{}, map[string]int64{}
			s.AOT = func(kind string, gm *fx.GraphModule) {
				for _, p := range gm.Graph.Placeholders() {
					if v, ok := p.Val.(fx.SymInt); ok && kind == "forward" {
						values[v.Expr] = map[any]int64{int64(4): 6, int64(8): 10}[v.Hint]
					}
				}
				got[kind] = calls(t, gm, values)
			}
			if err := s.In.RunSource("script.py", fmt.Sprintf(`
import math, torch
f = torch.compile(lambda x: %s, backend="aot_eager", dynamic=%s)
f(torch.arange(%d.).reshape(%d, %d).requires_grad_()).sum().backward()
`, c.body, dynamic, a*b, a, b)); err != nil {
				t.Fatalf("%s: %v", c.body, err)
			}
			return got
		}
		if d := cmp.Diff(at("False", 6, 10), at("True", 4, 8)); (d == "") != c.settable {
			t.Errorf("%s: at other sizes (-), for all sizes (+):\n%s", c.body, d)
		}
	}
}

// calls are the calls of operators in a graph, with nodes numbered as they come and numbers in place of what computes them.
func calls(t *testing.T, gm *fx.GraphModule, values map[string]int64) string {
	var b strings.Builder
	args := map[*fx.Node]fx.Arg{}
	n := 0
	for _, node := range gm.Graph.Nodes {
		if v, ok := node.Val.(fx.SymInt); ok {
			e, err := symbolic.Parse(v.Expr)
			if err != nil {
				t.Fatal(err)
			}
			args[node], err = e.Eval(func(name string) (any, bool) { k, ok := values[name]; return k, ok })
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		args[node] = fmt.Sprintf("%%%d", n)
		n++
		if node.Op == fx.CallFunction {
			c := *node
			c.Args, c.Kwargs = slices.Clone(node.Args), slices.Clone(node.Kwargs)
			c.MapInputs(func(in *fx.Node) fx.Arg { return args[in] })
			fmt.Fprintln(&b, node.Target, fx.FormatArg(fx.Tuple(c.Args)), c.Kwargs)
		}
	}
	return b.String()
}

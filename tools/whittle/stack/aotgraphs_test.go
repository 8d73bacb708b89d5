package stack

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
)

// An aotCase is a function, the backend that compiles it, and the operators of its graphs as PyTorch 2.6 made them.
type aotCase struct {
	text, backend string
	graphs        map[string]string // by kind: operators with their numbers, sorted
}

// aotCases reads testdata/aotgraphs.txt: blocks of "# STATEMENT;;...;;EXPRESSION|INPUT;INPUT...", "backend NAME" and "KIND OPERATORS".
func aotCases(t *testing.T) []aotCase {
	t.Helper()
	data, err := os.ReadFile("testdata/aotgraphs.txt")
	if err != nil {
		t.Fatal(err)
	}
	var cases []aotCase
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		c := aotCase{graphs: map[string]string{}}
		for _, line := range strings.Split(block, "\n") {
			key, rest, _ := strings.Cut(line, " ")
			switch key {
			case "#":
				c.text = rest
			case "backend":
				c.backend = rest
			default:
				c.graphs[key] = rest
			}
		}
		cases = append(cases, c)
	}
	return cases
}

// script is the case as a program that prints whether the compiled results and gradients equal eager's.
func (c aotCase) script() string {
	at := strings.LastIndex(c.text, "|")
	inputs := strings.Split(c.text[at+1:], ";")
	body := strings.Split(c.text[:at], ";;")
	params := strings.Split("abcdefgh"[:len(inputs)], "")
	var b strings.Builder
	b.WriteString(`
import math, torch, torch.nn as nn, torch.nn.functional as F
def L(*s): return (torch.sin(torch.arange(float(math.prod(s)))).reshape(s) * 0.5 + 0.6).requires_grad_()
def N(*s): return torch.sin(torch.arange(float(math.prod(s)))).reshape(s) * 0.5 + 0.6
def I(*s, n=3): return (torch.arange(math.prod(s)) % n).reshape(s)
`)
	fmt.Fprintf(&b, "def fn(%s):\n", strings.Join(params, ", "))
	for i, s := range body {
		if i == len(body)-1 {
			s = "return " + s
		}
		fmt.Fprintf(&b, "    %s\n", strings.TrimSpace(s))
	}
	fmt.Fprintf(&b, `
def run(f):
    args = [%s]
    torch.manual_seed(0)
    r = f(*args)
    r = list(r) if isinstance(r, (tuple, list)) else [r]
    outs = [t for t in r if isinstance(t, torch.Tensor) and t.requires_grad]
    if outs:
        torch.autograd.backward(outs, [torch.ones_like(t) for t in outs])
    return r + args + [a.grad for a in args if isinstance(a, torch.Tensor) and a.grad is not None]
torch._dynamo.reset()
want = run(fn)
for w, g in zip(want, run(torch.compile(fn, backend=%q)), strict=True):
    if isinstance(w, torch.Tensor):
        assert torch.allclose(w.double(), g.double(), atol=1e-5, rtol=1e-4, equal_nan=True), (w, g)
    else:
        assert w == g
`, strings.Join(inputs, ", "), c.backend)
	return b.String()
}

// operators counts the calls of a graph; detach nodes are left out: dead ones come and go.
func operators(gm *fx.GraphModule) string {
	n := map[string]int{}
	for _, c := range gm.Graph.Calls() {
		if !strings.Contains(c.Target, "detach") {
			n[c.Target]++
		}
	}
	var ops []string
	for name, k := range n {
		if k > 1 {
			name = fmt.Sprintf("%s*%d", name, k)
		}
		ops = append(ops, name)
	}
	sort.Strings(ops)
	return strings.Join(ops, " ")
}

// sorted puts the recorded line into the order of operators.
func sorted(line string) string {
	ops := strings.Fields(strings.ReplaceAll(line, "<built-in function getitem>", "operator.getitem"))
	slices.Sort(ops)
	return strings.Join(ops, " ")
}

// TestAOTGraphs compiles small functions and compares the operators of their graphs with PyTorch's, and their results with eager's.
func TestAOTGraphs(t *testing.T) {
	sessions := map[string]*Session{}
	for _, c := range aotCases(t) {
		if testing.Short() && c.backend == "inductor" {
			continue
		}
		s := sessions[c.backend]
		if s == nil {
			s = New(context.Background(), t.TempDir())
			sessions[c.backend] = s
		}
		t.Run(c.backend+" "+c.text, func(t *testing.T) {
			got := map[string]string{}
			s.AOT = func(kind string, gm *fx.GraphModule) { got[kind] = operators(gm) }
			if err := s.In.RunSource("script.py", c.script()); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for k, v := range c.graphs {
				want[k] = sorted(v)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

package trace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadGraph: the nodes of a printed graph, in the forms of both PyTorches: what each reads, and which line it comes from. Names of attributes, keywords and texts are no nodes.
func TestReadGraph(t *testing.T) {
	for _, text := range []string{`class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[4, 3][3, 1]cpu", linear: "f32[3, 3][3, 1]cpu"):
        l_x_ = L_x_

         # File: /prog/a.py:4 in f, code: y = linear(x).relu()
        other: "f32[4, 3][3, 1]cpu" = torch._C._nn.linear(l_x_, linear, other = None);  l_x_ = None
        relu: "f32[4, 3][3, 1]cpu" = other.relu()
        s = "linear" + relu
        return (relu, other)

    class inner(torch.nn.Module):
        def forward(self, z):
            a = z + 1
`, `class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_x_: "f32[4, 3][3, 1]cpu",  # an input
        linear: "f32[3, 3][3, 1]cpu",
    ):
        # File: /prog/a.py:4 in f, code: y = linear(x).relu()
        other: "f32[4, 3][3, 1]cpu" = torch._C._nn.linear(L_x_, linear, other = None);  L_x_ = None
        relu: "f32[4, 3][3, 1]cpu" = other.relu()
        s = "linear" + relu
        return (
            relu,  # an output
            other,
        )
`} {
		var lines []string
		g := readGraph(text, func(o origin) int { lines = append(lines, o.code); return 1 })
		type node struct {
			Name, Op string
			In       []int
			At       int
		}
		var got []node
		for _, n := range g.Nodes {
			got = append(got, node{n.Name, n.Op, n.In, n.At})
		}
		want := []node{{"L_x_", "placeholder", nil, 0}, {"linear", "placeholder", nil, 0}, {"other", "torch._C._nn.linear", []int{0, 1}, 4}, {"relu", ".relu", []int{2}, 4},
			{"s", "+", []int{3}, 4}, {"output", "output", []int{3, 2}, 0}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s\nthe nodes: %s", text, d)
		}
		if g.Ops != 3 || strings.Join(lines, "") != "y = linear(x).relu()" {
			t.Errorf("%d operations, lines %q", g.Ops, lines)
		}
	}
}

// TestSizeOf: the bytes of a type, -1 for a size that is a symbol or for what is no tensor.
func TestSizeOf(t *testing.T) {
	for typ, want := range map[string]int64{"f32[4, 3][3, 1]cpu": 48, "bf16[2][1]cuda:0": 4, "f64[][]cpu": 8, "b8[0][1]cpu": 0, "f32[s0, 3][3, 1]cpu": -1, "Sym(s0)": -1, "": -1, "f32[9223372036854775807, 9223372036854775807]": -1} {
		if got := sizeOf(typ); got != want {
			t.Errorf("sizeOf(%q) = %d, want %d", typ, got, want)
		}
	}
}

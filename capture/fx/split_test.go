package fx

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	g := NewGraph()
	x, w := g.Placeholder("x"), g.Placeholder("w")
	a := g.CallFunction("torch.sin", x)
	b := g.CallFunction("torch.mul", a, w)
	c := g.CallFunction("torch.add", b, a)
	g.Output(Tuple{c, a})
	gm := &GraphModule{Graph: g, ClassName: "GraphModule"}
	parts, err := gm.Split(map[*Node]int{a: 0, b: 1, c: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range parts {
		if err := p.GM.Graph.Lint(); err != nil {
			t.Error(err)
		}
		got = append(got, p.GM.Graph.Forward(""))
	}
	want := []string{
		"def forward(self, x):\n    sin = torch.sin(x);  x = None\n    return (sin,)",
		"def forward(self, sin, w):\n    mul = torch.mul(sin, w);  w = None\n    add = torch.add(mul, sin);  mul = sin = None\n    return (add,)",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := gm.Split(map[*Node]int{a: 1, b: 0, c: 1}, 2); err == nil || !strings.Contains(err.Error(), "of a later piece") {
		t.Errorf("a piece that reads a later one: error %v", err)
	}
	if _, err := gm.Split(map[*Node]int{a: 0, b: 1}, 2); err == nil || !strings.Contains(err.Error(), "no piece") {
		t.Errorf("a node without a piece: error %v", err)
	}
}

func TestBuckets(t *testing.T) {
	g := NewGraph()
	x := g.Placeholder("x")
	var ws []*Node
	for _, n := range []string{"w0", "w1", "w2"} {
		ws = append(ws, g.Placeholder(n))
	}
	h := Arg(g.CallFunction("torch.sin", x))
	for _, w := range ws {
		h = g.CallFunction("torch.mul", h, w)
	}
	g.Output(Tuple{h})
	size := func(n *Node) int64 {
		if strings.HasPrefix(n.Name, "w") {
			return 4
		}
		return 0
	}
	for _, c := range []struct {
		limit, first int64
		want         []int // the piece of sin, mul, mul_1, mul_2
	}{
		{100, 100, []int{0, 0, 0, 0}},
		{8, 8, []int{0, 0, 1, 1}},
		{4, 4, []int{0, 0, 1, 2}}, // operators before the first parameter are no piece of their own
		{8, 4, []int{0, 0, 0, 1}},
	} {
		of, n := g.Buckets(c.limit, c.first, size)
		var got []int
		for _, x := range g.Calls() {
			got = append(got, of[x])
		}
		if d := cmp.Diff(c.want, got); d != "" || n != c.want[3]+1 {
			t.Errorf("limit %d, first %d: %d pieces %s", c.limit, c.first, n, d)
		}
	}
}

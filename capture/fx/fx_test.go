package fx

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"strings"
	"testing"

	"whittle/kernels/tensor"
)

func mustParse(t testing.TB, text string) *Graph {
	t.Helper()
	g, err := ParseGraph(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The forms that PyTorch 2.6 prints, each taken from its own output.
const forms = `def forward(self, x, L_Y_):
    l_y_ = L_Y_
    not_ = _operator_not_(x)
    getattr_1 = x.shape
    add_tensor = torch.ops.aten.add.Tensor(x, getattr_1);  getattr_1 = add_tensor = None
    sqrt = math_sqrt(2);  sqrt = None
    or_1 = x.__or__(l_y_);  or_1 = None
    tensor = torch.tensor([1.0, inf, -inf, nan, 1j, (1+2j), (-0-1j), 'a"b\'c\n', Ellipsis, None, True, torch.float32, device(type='cuda', index=1), torch.strided, torch.channels_last, {'a': x, 1: (x,)}, {}, slice(1, x, None), (), torch.ops.aten.add.Tensor, 1e-05, 1e+16, 1e+22, 123456789012345678901234567890, -0.0, 1000000000000000.0, 1.5e-300], a = x);  tensor = None
    a_0_b = getattr(self.a, "0").b;  a_0_b = None
    m_3 = getattr(self.m, "3")(x);  m_3 = None
    int_1 = int(x);  int_1 = None
    add = torch.ops.aten.add(x, x);  add = None
    cond = torch.ops.higher_order.cond(x);  cond = None
    x[0] = l_y_;  setitem = x;  setitem = None
    x += l_y_;  iadd = x;  iadd = None
    pow_1 = 2 ** l_y_;  pow_1 = None
    add_1 = -1 + l_y_;  add_1 = None
    _set_grad_enabled = torch._C._set_grad_enabled(False);  _set_grad_enabled = None
    and_ = x & l_y_;  and_ = None
    einsum = torch.functional.einsum('ij', x);  einsum = None
    add_2 = torch_Tensor_add(x, x);  add_2 = None
    max_1 = max(x, l_y_);  l_y_ = max_1 = None
    getattr_2 = getattr(x, 'a b')
    getitem = x[(0, None)];  getitem = None
    truth = _operator_truth(x);  x = truth = None
    return {'a': getattr_2, 'b': [not_]}`

func TestFormsRoundTrip(t *testing.T) {
	g := mustParse(t, forms)
	if err := g.Lint(); err != nil {
		t.Fatal(err)
	}
	if got := g.String(); got != forms {
		t.Errorf("printed differently:\n%s", got)
	}
	c, m := g.Clone()
	if c.String() != forms || m[g.Nodes[0]] != c.Nodes[0] {
		t.Error("a clone prints differently")
	}
}

func TestReadableFormParses(t *testing.T) {
	gm, err := Parse("dump.py", `class GraphModule(torch.nn.Module):
    def forward(self, s0: "Sym(s0)", L_x_: "f32[s0, 3]"):
        l_x_ = L_x_
        
         # File: a.py:3 in f, code: return x.cos() * s0
        cos: "f32[s0, 3]" = l_x_.cos();  l_x_ = None
        mul: "f32[s0, 3]" = cos * s0;  cos = s0 = None
        return (mul,)
`)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again", gm.String())
	if err != nil || again.String() != gm.String() || len(gm.Graph.Calls()) != 2 {
		t.Errorf("%v\n%s", err, gm)
	}
}

func TestBuilderNamesAndPrints(t *testing.T) {
	g := NewGraph()
	x := g.Placeholder("L_x_")
	x.Type = "torch.Tensor"
	a := g.CallFunction("aten.add.Tensor", x, int64(2))
	b := g.CallFunction("operator.add", a, a)
	s := g.CallMethod("sum", b)
	g.Output(Tuple{s})
	var r *Node
	g.InsertBefore(b, func() { r = g.CallFunction("torch.relu", a) })
	g.ReplaceUses(a, r)
	r.Args[0] = a
	want := `def forward(self, L_x_ : torch.Tensor):
    l_x_ = L_x_
    add = torch.ops.aten.add.Tensor(l_x_, 2);  l_x_ = None
    relu = torch.relu(add);  add = None
    add_1 = relu + relu;  relu = None
    sum_1 = add_1.sum();  add_1 = None
    return (sum_1,)`
	if got := g.String(); got != want {
		t.Error(got)
	}
	if us := g.Users()[r]; len(us) != 1 || us[0] != b {
		t.Error(us)
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	for text, want := range map[string]string{
		"def forward(self, x):\n    y = x +\n    return y":            `f.py:3: not valid Python`,
		"def forward(self, x):\n    y = foo(x)\n    return y":         `f.py:2: function "foo" is not understood`,
		"def forward(self, x):\n    return z":                         `f.py:2: name "z" is not defined here`,
		"def forward(self, x):\n    for i in x:\n        pass":        `f.py:2: for_statement`,
		"def forward(self, x):\n    x = None\n    return x":           `f.py:3: name "x" is not defined here`,
		"def forward(self, x):\n    y = x + 1":                        `f.py:1: forward does not return`,
		"x = 1":                                                       `f.py:1: no class with a forward method`,
		"def forward(self, x):\n    y = [i for i in x]\n    return y": `f.py:2: list_comprehension`,
	} {
		_, err := Parse("f.py", text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
		var pe *ParseError
		if !errors.As(err, &pe) {
			t.Errorf("%T", err)
		}
	}
}

func TestHashIgnoresNamesAndOrder(t *testing.T) {
	base := "def forward(self, a, b):\n    r = torch.relu(a)\n    s = torch.sin(b)\n    c = r + s\n    return (c,)"
	same := "def forward(self, p, q):\n    y = torch.sin(q)\n    x = torch.relu(p)\n    z = x + y\n    return (z,)"
	h := mustParse(t, base).Hash()
	if mustParse(t, same).Hash() != h {
		t.Error("renamed and reordered graph has another hash")
	}
	for _, other := range []string{
		"def forward(self, a, b):\n    r = torch.relu(a)\n    s = torch.sin(b)\n    c = s + r\n    return (c,)",
		"def forward(self, b, a):\n    r = torch.relu(a)\n    s = torch.sin(b)\n    c = r + s\n    return (c,)",
		"def forward(self, a, b):\n    r = torch.relu(a)\n    s = torch.sin(b)\n    c = r + s\n    return (c, r)",
		"def forward(self, a, b):\n    r = torch.relu(a)\n    s = torch.sin(b)\n    d = torch.cos(b)\n    c = r + s\n    return (c,)",
	} {
		if mustParse(t, other).Hash() == h {
			t.Errorf("another graph has the same hash:\n%s", other)
		}
	}
	w1 := mustParse(t, "def forward(self, a):\n    s = a.sin()\n    b = a.add_(1)\n    return (s, b)")
	w2 := mustParse(t, "def forward(self, a):\n    b = a.add_(1)\n    s = a.sin()\n    return (s, b)")
	if w1.Hash() == w2.Hash() {
		t.Error("a read moved across a write keeps its hash")
	}
	d1 := mustParse(t, "def forward(self, a):\n    r = a.relu()\n    s = a.relu()\n    x = r + r\n    y = r + s\n    return (x, y)")
	d2 := mustParse(t, "def forward(self, a):\n    r = a.relu()\n    s = a.relu()\n    x = r + r\n    y = s + s\n    return (x, y)")
	if d1.Hash() == d2.Hash() {
		t.Error("sharing does not count")
	}
	t1, t2 := mustParse(t, base), mustParse(t, base)
	t1.Nodes[0].Val = tensor.EmptyFake(tensor.Float32, []int64{2}, []int64{1})
	t2.Nodes[0].Val = tensor.EmptyFake(tensor.Float32, []int64{3}, []int64{1})
	if t1.Hash() == t2.Hash() {
		t.Error("shapes do not count")
	}
}

func TestRunFreesAndResolves(t *testing.T) {
	gm, err := Parse("g", "def forward(self, x, y):\n    a = x * y\n    b = a - 1\n    return (b, [a, x])")
	if err != nil {
		t.Fatal(err)
	}
	out, err := Run(context.Background(), gm, []any{int64(6), int64(7)}, func(n *Node, args []any, _ map[string]any) (any, error) {
		if n.Target == "operator.mul" {
			return args[0].(int64) * args[1].(int64), nil
		}
		return args[0].(int64) - args[1].(int64), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(out)
	if string(b) != "[41,[42,6]]" {
		t.Error(string(b))
	}
	if _, err := Run(context.Background(), gm, []any{int64(6)}, nil); err == nil || !strings.Contains(err.Error(), "forward takes 2 inputs") {
		t.Error(err)
	}
}

func TestRecordForm(t *testing.T) {
	gm, _ := Parse("g", "def forward(self, x):\n    a = x[(slice(None, 2, None), None)]\n    b = torch.add(a, 1.0, alpha = inf)\n    return (b,)")
	b, err := json.Marshal(Record(gm))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"ops":2,"nodes":[["placeholder","x",[],{},null],["call_function","operator.getitem",["%0",{"tuple":[{"slice":[null,2,null]},null]}],{},null],["call_function","torch.add",["%1",1.0],{"alpha":"float:inf"},null],["output","output",[{"tuple":["%2"]}],{},null]],"subgraphs":{}}`
	if string(b) != want {
		t.Errorf("%s", b)
	}
}

func TestLintFindsWhatIsWrong(t *testing.T) {
	for want, breakIt := range map[string]func(g *Graph){
		"not defined before it": func(g *Graph) { g.Nodes[1], g.Nodes[2] = g.Nodes[2], g.Nodes[1] },
		"name is there twice":   func(g *Graph) { g.Nodes[1].Name = g.Nodes[0].Name },
		"no output":             func(g *Graph) { g.Nodes = g.Nodes[:3] },
		"no argument type":      func(g *Graph) { g.Nodes[1].Args = append(g.Nodes[1].Args, 7) },
	} {
		g := mustParse(t, "def forward(self, x):\n    a = x.sin()\n    b = a.cos()\n    return (b,)")
		breakIt(g)
		if err := g.Lint(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	_ = big.NewInt
}

func FuzzRoundTrip(f *testing.F) {
	f.Add(forms)
	f.Add("def forward(self, a, b):\n    r = torch.relu(a)\n    r *= b;  imul = r;  r = None\n    return imul")
	f.Add("def forward(self, x : torch.Tensor, *args, k = 2) -> int:\n    return torch.f(x[1:, ..., None] ** -2, y = -k).sum() + 1")
	if dir := os.Getenv("WHITTLE_SHARED"); dir != "" {
		for i, name := range corpusFiles(f) {
			if b, err := os.ReadFile(name); err == nil && len(b) < 20000 && i%7 == 0 {
				f.Add(string(b))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		gm, err := Parse("fuzz.py", text)
		if err != nil {
			return
		}
		if err := gm.Graph.Lint(); err != nil {
			t.Skip() // names such as keywords, defaults that are nodes
		}
		printed := gm.Graph.String()
		again, err := ParseGraph(printed)
		if err != nil {
			t.Fatalf("%v\nfrom %q\nprinted %q", err, text, printed)
		}
		if again.String() != printed {
			t.Fatalf("from %q\nprinted %q\nthen %q", text, printed, again)
		}
		if again.Hash() != gm.Graph.Hash() {
			t.Fatalf("another hash\nfrom %q\nprinted %q", text, printed)
		}
	})
}

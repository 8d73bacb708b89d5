package repros

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// repro makes the text of an after-aot repro around a class.
func repro(class, load string) string {
	return "import torch\nfrom torch import tensor, device\n" + class + "def load_args(reader):\n" + load + "load_args._version = 0\nmod = Repro()\n" +
		"if __name__ == '__main__':\n    from torch._dynamo.repro.after_aot import run_repro\n    with torch.no_grad():\n" +
		"        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)\n"
}

const oneTensor = "    buf0 = reader.storage(None, 24)\n    reader.tensor(buf0, (2, 3), is_leaf=True)  # x\n"

// condRepro is a graph with a branch; init is what __init__ says of its bodies.
func condRepro(before, init string) string {
	return repro(before+`class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
`+init+`
    def forward(self, x):
        any_1 = torch.ops.aten.any.default(x)
        yes = self.true_graph_0
        no = self.false_graph_0
        cond = torch.ops.higher_order.cond(any_1, yes, no, [x]);  any_1 = yes = no = x = None
        getitem = cond[0];  cond = None
        return (getitem,)

`, oneTensor)
}

func body(class, op string) string {
	return fmt.Sprintf("class %s(torch.nn.Module):\n    def forward(self, a):\n        r = torch.ops.aten.%s.default(a);  a = None\n        return (r,)\n\n", class, op)
}

func TestSubgraphs(t *testing.T) {
	lambdas := "        self.true_graph_0 = <lambda>()\n        self.false_graph_0 = <lambda>()\n"
	comment := "# " + strings.ReplaceAll(strings.TrimSpace(body("true_graph_0", "sin")+body("false_graph_0", "cos")), "\n", "\n# ") + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"lambdas": {condRepro("", lambdas), "c.py:6: self.true_graph_0 = <lambda>() is a sub-graph of a higher-order operator that was not written down; c.py:7: self.false_graph_0"},
		"nested":  {condRepro("", "        self.true_graph_0 = <lambda>(\n  (true_graph_0): <lambda>()\n)\n        self.false_graph_0 = <lambda>()\n"), "c.py:6: self.true_graph_0 = <lambda>( ...) is a sub-graph"},
		"names":   {condRepro("", "        self.true_graph_0 = GraphModule()\n        self.false_graph_0 = GraphModule()\n"), "c.py:6: self.true_graph_0 = GraphModule() is a sub-graph"},
		"classes": {condRepro(body("A", "sin")+body("B", "cos"), "        self.true_graph_0 = A()\n        self.false_graph_0 = B()\n"), ""},
		"by name": {condRepro(body("true_graph_0", "sin")+body("false_graph_0", "cos"), lambdas), ""},
		"traced": {strings.ReplaceAll(strings.ReplaceAll(condRepro(body("A", "sin")+body("B", "cos"), "        self.true_graph_0 = fx.symbolic_trace(A())\n        self.false_graph_0 = B()\n"),
			"higher_order.cond(any_1, yes, no, [x])", "higher_order.tag_activation_checkpoint(yes, x, no)"), "import torch\n", "import torch\nimport torch._higher_order_ops.wrap\n"), ""},
		"comments": {condRepro(comment, lambdas), ""},
		"half":     {condRepro(body("true_graph_0", "sin"), lambdas), "c.py:12: self.false_graph_0 = <lambda>() is"},
	} {
		t.Run(name, func(t *testing.T) {
			r := roundTrip(t, "c.py", c.text)
			if r == nil {
				return
			}
			err := r.Complete()
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Module.Lint(); err != nil {
					t.Error(err)
				}
				sub := r.Module.Submodules["true_graph_0"]
				if sub == nil || !strings.Contains(sub.Graph.String(), "aten.sin") || !strings.Contains(r.Module.Submodules["false_graph_0"].Graph.String(), "aten.cos") {
					t.Errorf("%+v", r.Module.Submodules)
				}
				return
			}
			var inc *IncompleteError
			if !errors.As(err, &inc) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if len(r.Module.Graph.Nodes) != 7 {
				t.Errorf("%d nodes", len(r.Module.Graph.Nodes))
			}
		})
	}
	if _, err := Read("c.py", condRepro(body("A", "sin")+body("B", "cos"), "        self.true_graph_0 = A()\n        self.false_graph_0 = A()\n")); err == nil || !strings.Contains(err.Error(), "c.py:8: class B is used by no other") {
		t.Errorf("%v", err)
	}
	if _, err := Read("c.py", condRepro("", "        self.true_graph_0 = Repro()\n")); err == nil || !strings.Contains(err.Error(), "class Repro makes itself") {
		t.Errorf("%v", err)
	}
}

// A debug folder has the graph twice: to run, without the bodies, and to read, with them.
func TestBodiesBesideARunnable(t *testing.T) {
	dir := t.TempDir()
	runnable := condRepro("", "        self.true_graph_0 = <lambda>()\n        self.false_graph_0 = <lambda>()\n")
	readable := `class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[2, 3]"):
        any_1: "b8[]" = torch.ops.aten.any.default(x)
        yes = self.true_graph_0
        no = self.false_graph_0
        cond = torch.ops.higher_order.cond(any_1, yes, no, [x]);  any_1 = yes = no = x = None
        getitem: "f32[2, 3]" = cond[0];  cond = None
        return (getitem,)

    class true_graph_0(torch.nn.Module):
        def forward(self, arg0_1: "f32[2, 3]"):
            sin: "f32[2, 3]" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None
            return (sin,)

    class false_graph_0(torch.nn.Module):
        def forward(self, arg0_1: "f32[2, 3]"):
            cos: "f32[2, 3]" = torch.ops.aten.cos.default(arg0_1);  arg0_1 = None
            return (cos,)
`
	for name, text := range map[string]string{"fx_graph_runnable.py": runnable, "fx_graph_readable.py": readable, "repro.py": runnable} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := ReadFile(filepath.Join(dir, "fx_graph_runnable.py"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Complete(), r.Module.Lint()); err != nil {
		t.Error(err)
	}
	text := Write(r)
	if !strings.Contains(text, "self.true_graph_0 = Repro_true_graph_0()") || strings.Contains(text, "f32[") {
		t.Error(text)
	}
	roundTrip(t, "again.py", text)
	if r, err := ReadFile(filepath.Join(dir, "repro.py")); err != nil || r.Complete() == nil {
		t.Errorf("%v: another file's graph was taken", err)
	}
}

func TestModulesInInit(t *testing.T) {
	text := repro(`class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.e = EmbeddingBag(10, 3, mode=sum)
        self.c = Conv1d(4, 4, kernel_size=(3,), stride=(1,), padding=same, padding_mode=reflect)
        self.m = MultiheadAttention(
  (out_proj): NonDynamicallyQuantizableLinear(in_features=4, out_features=4, bias=True)
)
        self.s = Sequential(
  (0): Linear(in_features=3, out_features=4, bias=True)
  (1): Sequential(
    (0): Upsample(scale_factor=2.0, mode=nearest)
    (1): ReLU()
  )
)
        self.n = Sequential(
  (0-2): 3 x Linear(in_features=3, out_features=3, bias=True)
)
        setattr(self, '0', Linear(in_features=3, out_features=4, bias=True))
        self.register_buffer('k', tensor([1.+2.j, 3.+0.j]))
        self.register_buffer('big', torch.randint(1, size=[2, 8], dtype=torch.int64))
        self.p = torch.nn.Parameter(torch.randn([4], dtype=torch.float32))
        self.register_buffer('q', tensor([1., 2.], size=(2,), dtype=torch.quint8, quantization_scheme=torch.per_tensor_affine, scale=0.5))
        self.register_buffer('g', tensor([1., 2.], grad_fn=<AddBackward0>))

    def forward(self, x):
        e = self.e(x)
        big = self.big
        p = self.p
        g = self.g
        return (e, big, p, g)

`, oneTensor)
	r := roundTrip(t, "m.py", text)
	if r == nil {
		t.FailNow()
	}
	got := map[string]string{}
	for _, l := range r.Module.InitLines() {
		got[l.Name] = l.String()
	}
	for name, want := range map[string]string{
		"e": "self.e = EmbeddingBag(10, 3, mode='sum')",
		"c": "self.c = Conv1d(4, 4, kernel_size=(3,), stride=(1,), padding='same', padding_mode='reflect')",
		"s": "self.s = Sequential(Linear(in_features=3, out_features=4, bias=True), Sequential(Upsample(scale_factor=2.0, mode='nearest'), ReLU()))",
		"0": "setattr(self, '0', Linear(in_features=3, out_features=4, bias=True))",
		"g": "self.register_buffer('g', tensor([1., 2.]))",
	} {
		if got[name] != want {
			t.Errorf("%s: %s", name, got[name])
		}
	}
	if err := r.Complete(); err == nil || !strings.Contains(err.Error(), "m.py:8: self.m = MultiheadAttention( ...) is a module that cannot be made from its repr; m.py:18: self.n = Sequential( ...) is a module that cannot be made from its repr; m.py:25: self.q") {
		t.Errorf("%v", err)
	}
	var stand []string
	for _, l := range r.Module.StandIns() {
		stand = append(stand, l.Name)
	}
	if d := cmp.Diff([]string{"big", "p"}, stand); d != "" {
		t.Error(d)
	}
}

// What print_readable shows, as users paste it from logs: no __init__, no inputs, types as comments.
func TestReadable(t *testing.T) {
	text := `class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s0)", arg1_1: "f32[s0, 3][3, 1]cpu", arg2_1: "i64[3, 2][1, 3]"):
         # File: train.py:7 in step, code: y = x @ w
        sym: "Sym(3*s0)" = arg0_1 * 3
        view: "f32[3*s0]" = torch.ops.aten.view.default(arg1_1, [sym]);  arg1_1 = sym = None

        # No stacktrace found for following nodes
        k: "f32[2]" = self._tensor_constant0
        return (view, arg2_1, k)
`
	r := roundTrip(t, "log.txt", text)
	if r == nil {
		t.FailNow()
	}
	want := []Input{
		{Kind: SymIntInput, Name: "arg0_1", Value: int64(8)},
		{Kind: TensorInput, Name: "arg1_1", Shape: []int64{8, 3}, DType: "float32", Leaf: true},
		{Kind: TensorInput, Name: "arg2_1", Storage: 1, Shape: []int64{3, 2}, Stride: []int64{1, 3}, DType: "int64", Leaf: true},
	}
	if d := cmp.Diff(want, r.Inputs); d != "" {
		t.Error(d)
	}
	if err := errors.Join(r.Complete(), r.Module.Lint()); err != nil {
		t.Error(err)
	}
	if s := r.Module.StandIns(); len(s) != 1 || s[0].Expr != "torch.randn([2], dtype=torch.float32)" {
		t.Errorf("%+v", s)
	}
	// A function's comma is none between sizes.
	if r, err := Read("log.txt", strings.Replace(text, `"f32[s0, 3][3, 1]cpu"`, `"f32[Max(1, s0), 3][Max(3, 1), 1]cpu"`, 1)); err != nil || len(r.Inputs) != 3 ||
		!cmp.Equal(r.Inputs[1].Shape, []int64{8, 3}) {
		t.Errorf("%v, %+v", err, r)
	}
	r, err := Read("log.txt", strings.Replace(text, `k: "f32[2]"`, "k", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Complete(); err == nil || !strings.Contains(err.Error(), "self._tensor_constant0 is used, but the text does not hold it") {
		t.Errorf("%v", err)
	}
}

func TestExpressions(t *testing.T) {
	const class = "class Repro(torch.nn.Module):\n    def forward(self, x, y, z, n):\n        return (x, y, z)\n\n"
	text := "import os\nos.environ['TORCHINDUCTOR_FREEZING'] = '1'\n@triton.jit\ndef kernel(p):\n    pass\n" + repro(class,
		"    buf0 = torch.arange(6, dtype=torch.int32).untyped_storage()\n    reader.tensor(buf0, (2, 3), dtype=torch.int32, is_leaf=True)  # x\n"+
			"    buf1 = make().untyped_storage()  # 12 bytes\n    reader.tensor(buf1, (3,), is_leaf=True)  # y\n"+
			"    reader.symint(torch._efficientzerotensor((8, 32), dtype=torch.float64))  # z\n    reader.const('n')  # n, filtered out during compilation\n")
	r := roundTrip(t, "e.py", text)
	if r == nil {
		t.FailNow()
	}
	if d := cmp.Diff([]Setting{{"TORCHINDUCTOR_FREEZING", "'1'"}}, r.Env); d != "" {
		t.Error(d)
	}
	if r.Preamble != "@triton.jit\ndef kernel(p):\n    pass" {
		t.Errorf("%q", r.Preamble)
	}
	if r.Storages[0].NBytes != 24 || r.Storages[1].NBytes != 12 || !cmp.Equal(r.Inputs[2].Shape, []int64{8, 32}) || r.Inputs[2].DType != "float64" || r.Inputs[3].Kind != ConstInput {
		t.Errorf("%+v %+v", r.Storages, r.Inputs)
	}
	// PyTorch's readers have methods storage, tensor and symint.
	if strings.Contains(Write(r), "reader.const") {
		t.Error(Write(r))
	}
	if _, err := r.Tensors(nil); err == nil || !strings.Contains(err.Error(), "make().untyped_storage() is not understood") {
		t.Errorf("%v", err)
	}
	r.Storages[1].Expr = "torch.ones(3).untyped_storage()"
	vs, err := r.Tensors(nil)
	if err != nil {
		t.Fatal(err)
	}
	if x := vs[0].(*tensor.Tensor); x.DType != tensor.Int32 || x.Storage.Data[4] != 1 || vs[1].(*tensor.Tensor).Storage.Data[3] != 0x3f {
		t.Errorf("%v %v", vs[0], vs[1])
	}
	for old, c := range map[string][2]string{
		"make().untyped_storage()  # 12 bytes": {"make().untyped_storage()", "e.py:15: how many bytes make().untyped_storage() has"},
		"buf1 = make().untyped_storage()":      {"buf1 = make()", "e.py:15: not understood: make()"},
	} {
		if _, err := Read("e.py", strings.Replace(text, old, c[0], 1)); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v", c[0], err)
		}
	}
}

func TestDataExpr(t *testing.T) {
	ramp := make([]byte, 8*300)
	for i := range ramp {
		ramp[i] = byte(i * 7)
	}
	for _, c := range []struct {
		dtype string
		shape []int64
		data  []byte
		want  string
	}{
		{"float32", []int64{2, 2}, make([]byte, 16), "torch.zeros(2, 2)"},
		{"float32", []int64{}, []byte{0, 0, 0, 0x80}, "torch.tensor(-0.0)"},
		{"float32", []int64{2}, []byte{0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, "torch.ones(2)"},
		{"int8", []int64{3}, []byte{5, 5, 5}, "torch.full((3,), 5, dtype=torch.int8)"},
		{"int64", []int64{1, 3}, []byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}, "torch.arange(3).reshape([1, 3])"},
		{"bool", []int64{2}, []byte{1, 0}, "torch.tensor([True, False])"},
		{"uint16", []int64{2}, []byte{255, 255, 1, 0}, "torch.tensor([65535, 1], dtype=torch.uint16)"},
		{"complex64", []int64{1}, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, "torch.tensor([(1+2j)])"},
		{"float8_e5m2", []int64{2}, []byte{1, 2}, "torch.frombuffer(bytearray(__import__('base64').b64decode('AQI=')), dtype=torch.float8_e5m2)"},
		{"float64", []int64{300}, ramp, ""},
		{"float16", []int64{4, 30, 10}, ramp, ""},
		{"bfloat16", []int64{2}, []byte{0x80, 0x7f, 1, 0}, "torch.tensor([float('inf'), 9.183549615799121e-41], dtype=torch.bfloat16)"},
	} {
		got := DataExpr(c.dtype, c.shape, c.data, "")
		if c.want != "" && got != c.want {
			t.Errorf("%s %v: %s", c.dtype, c.shape, got)
		}
		v := fx.ConstValue(got)
		if v == nil {
			t.Errorf("%s is not read", got)
			continue
		}
		if v.DType.String() != c.dtype || !cmp.Equal(v.Shape, c.shape) || !cmp.Equal(v.Storage.Data[:len(c.data)], c.data) {
			t.Errorf("%s reads as %s %v %v", got, v.DType, v.Shape, v.Storage.Data)
		}
	}
}

func TestStandalone(t *testing.T) {
	read := func(text string) *Repro {
		t.Helper()
		r, err := Read("s.py", text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	strided := read(strings.Replace(small, "8*s0", "4*s0*2", 1))
	cond := read(condRepro(body("A", "sin")+body("B", "cos"), "        self.true_graph_0 = A()\n        self.false_graph_0 = B()\n"))
	plain := read(repro("class Repro(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('c', tensor([3]))\n    def forward(self, f):\n        c = self.c\n        add = torch.ops.aten.add.Tensor(f, c);  f = c = None\n        return (add,)\n\n",
		"    buf0 = reader.storage('abc', 8)\n    reader.tensor(buf0, (2,), is_leaf=True)  # f\n"))
	load := func(h string) ([]byte, error) {
		if h != "abc" {
			return nil, errors.New("no such storage")
		}
		return []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, nil
	}
	custom := read("from torch._dynamo.repro.after_dynamo import run_repro\n" + preambleStart + "\ndef bad(gm, args):\n    return gm\n" + preambleEnd + "\nclass Repro(torch.nn.Module):\n    def forward(self, x):\n        sin = x.sin()\n        return (sin,)\nmod = Repro()\ndef load_args(reader):\n" +
		strings.Replace(oneTensor, "is_leaf", "requires_grad=True, is_leaf", 1) + "if __name__ == '__main__':\n    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, autocast=False, backend='bad')\n")
	for name, c := range map[string]struct {
		r    *Repro
		o    Standalone
		want []string
	}{
		"accuracy, symbols, strides": {strided, Standalone{}, []string{"torch._inductor.config.cpp.simdlen = 0", "from math import inf\n", "s0 = 4\n", "buf0 = torch.zeros(8, dtype=torch.int32)\n", "x = torch.as_strided(buf0, (4, 2), (1, 4))\n",
			"y = torch.as_strided(buf0, (7,), (1,), 1)\n", "gm = make_fx(f, tracing_mode='symbolic')(*args)", "if not same_two_models(gm, torch.compile(f, dynamic=True), args, only_fwd=True):\n        raise AccuracyError('Bad accuracy detected')"}},
		"branches":       {cond, Standalone{}, []string{"class Repro_true_graph_0(torch.nn.Module)", "self.true_graph_0 = Repro_true_graph_0()", "f = Repro()\ntorch.compile(f)(x)\n"}},
		"values":         {plain, Standalone{Load: load}, []string{"def f_(f):\n    c = torch.tensor([3])\n    add = torch.ops.aten.add.Tensor(f, c)\n    return (add,)", "f = torch.tensor([1.0, 2.0])\ntorch.compile(f_)(f)\n"}},
		"without values": {plain, Standalone{Direct: true}, []string{"f = torch.randn(2)\nargs = [f]\nwith torch.no_grad():\n    gm = make_fx(f_)(*args)\n    compile_fx_inner(gm, args)(list(args))\n"}},
		"own backend":    {custom, Standalone{}, []string{"def bad(gm, args)", "x = torch.randn(2, 3).requires_grad_()\nout = torch.compile(f, backend=bad)(x)\nif requires_bwd_pass(out):\n    reduce_to_scalar_loss(out).backward()\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "accuracy, symbols, strides" {
				c.r.Module.Graph.Nodes[3].Args[1] = fx.List{-1.5, math.Inf(1)}
			}
			got, err := WriteStandalone(c.r, c.o)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q is missing in\n%s", w, got)
				}
			}
			if _, err := fx.ParseSource("standalone.py", got); err != nil {
				t.Error(err)
			}
		})
	}
	big := *plain
	big.Storages = []Storage{{Hash: "abc", NBytes: 4000}}
	big.Inputs = []Input{{Kind: TensorInput, Shape: []int64{1000}, DType: "float32"}}
	var large *LargeStorageError
	_, err := WriteStandalone(&big, Standalone{MaxBytes: 100, Load: func(string) ([]byte, error) {
		b := make([]byte, 4000)
		for i := range b {
			b[i] = byte(i)
		}
		return b, nil
	}})
	if !errors.As(err, &large) || large.Bytes != 4000 {
		t.Errorf("%v", err)
	}
	var inc *IncompleteError
	if _, err := WriteStandalone(read(condRepro("", "        self.true_graph_0 = <lambda>()\n        self.false_graph_0 = <lambda>()\n")), Standalone{}); !errors.As(err, &inc) {
		t.Errorf("%v", err)
	}
}

// TestSliceSource shows which statements a backend takes along into a repro.
func TestSliceSource(t *testing.T) {
	src := "import os\nimport math\nLIMIT = 3\nunused = LIMIT + 1\ndef helper(x):\n    return math.sqrt(x) + LIMIT\nclass K:\n    pass\ndef backend(gm, inputs):\n    return helper(len(inputs))\nprint(unused)\n"
	got, err := SliceSource("s.py", src, "backend")
	if err != nil {
		t.Fatal(err)
	}
	want := "import math\nLIMIT = 3\ndef helper(x):\n    return math.sqrt(x) + LIMIT\ndef backend(gm, inputs):\n    return helper(len(inputs))\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	src = "from reg import register, other\n\n@register(name='x')\n@other\ndef backend(gm,\n            inputs):\n    return gm\n\n@other\ndef further(): pass\n"
	want = "from reg import register, other\n@register(name='x')\n@other\ndef backend(gm,\n            inputs):\n    return gm\n"
	if got, err := SliceSource("s.py", src, "backend"); err != nil || got != want {
		t.Errorf("%v got:\n%s\nwant:\n%s", err, got, want)
	}
	if _, err := SliceSource("s.py", src, "missing"); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a name that the script does not define: got %v", err)
	}
}

func FuzzStandalone(f *testing.F) {
	f.Add(small, true)
	f.Add(condRepro(body("A", "sin")+body("B", "cos"), "        self.true_graph_0 = A()\n        self.false_graph_0 = B()\n"), false)
	f.Fuzz(func(t *testing.T, text string, direct bool) {
		r, err := Read("fuzz.py", text)
		if err != nil || r.Module.Lint() != nil {
			return
		}
		s, err := WriteStandalone(r, Standalone{Direct: direct})
		if err != nil {
			return
		}
		if _, err := fx.ParseSource("standalone.py", s); err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
	})
}

func FuzzDataExpr(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		names := []string{"float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16", "complex64", "float8_e4m3fn"}
		name := names[int(which)%len(names)]
		d, _ := tensor.ParseDType(name)
		data = data[:len(data)/d.Size()*d.Size()]
		if len(data) == 0 {
			return
		}
		e := DataExpr(name, []int64{int64(len(data) / d.Size())}, data, "")
		v := fx.ConstValue(e)
		if v == nil {
			t.Fatalf("%s is not read", e)
		}
		back := numbers(d, v.Storage.Data[:len(data)])
		if d.Kind() == tensor.KindInt || numbers(d, data) == nil { // what is written as numbers keeps no NaN's payload
			if !cmp.Equal(v.Storage.Data[:len(data)], data) {
				t.Fatalf("%s: %v became %v", e, data, v.Storage.Data)
			}
			return
		}
		for i, x := range numbers(d, data) {
			if !identical(x, back[i]) {
				t.Fatalf("%s: element %d, %v, became %v", e, i, x, back[i])
			}
		}
	})
}

// TestKeepGraph: what goes into a repro whose graph writes to its inputs is no part of what was read.
func TestKeepGraph(t *testing.T) {
	text := "import torch\n" + strings.Join(KeepGraph, "\n") + `
class Repro(torch.nn.Module):
    def forward(self, x_1):
        copy_ = torch.ops.aten.copy_.default(x_1, x_1);  x_1 = None
        return (copy_,)

def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4), is_leaf=True)  # x_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=True, command='run', save_dir=None, tracing_mode='real', check_str=None)
`
	r := roundTrip(t, "keep.py", text)
	if r != nil && len(r.Imports) > 0 {
		t.Errorf("kept %q", r.Imports)
	}
}

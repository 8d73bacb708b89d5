package snapshot_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/python/vm"
	"whittle/capture/snapshot"
	"whittle/tools/whittle/stack"
)

// session runs a script and gives its interpreter.
func session(t testing.TB, script string) *stack.Session {
	t.Helper()
	s := stack.New(context.Background(), t.TempDir())
	if err := s.In.RunSource("script.py", script); err != nil {
		t.Fatal(s.In.FormatException(err))
	}
	return s
}

func global(t testing.TB, s *stack.Session, name string) vm.Object {
	t.Helper()
	m, _ := s.In.Modules.GetStr("__main__")
	v, ok := m.(*vm.Module).Dict.GetStr(name)
	if !ok {
		t.Fatalf("no %s", name)
	}
	return v
}

// carry takes a value through the written form into a new interpreter, where the script did not run.
func carry(t testing.TB, s *stack.Session, v vm.Object) (*stack.Session, vm.Object) {
	t.Helper()
	w := snapshot.NewEncoder(s.In, s.Torch, nil)
	i, err := w.Add(v)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(snap)
	if err != nil {
		t.Fatal(err)
	}
	var read snapshot.Snapshot
	if err := json.Unmarshal(b, &read); err != nil {
		t.Fatal(err)
	}
	far := stack.New(context.Background(), t.TempDir())
	got, err := snapshot.NewDecoder(&read, far.In, far.Torch).Get(i)
	if err != nil {
		t.Fatal(err)
	}
	return far, got
}

// Each script defines show(): what it returns here and in another interpreter has to be the same.
func TestValuesComeBack(t *testing.T) {
	for name, script := range map[string]string{
		"numbers":    "def show(v=(1, -2**70, 2.5, float('inf'), 1j, True, None, ..., b'\\xff', 'é\\ud800', range(3), slice(1, None))): return repr(v)",
		"containers": "v = [{'a': {1, 2}, (1, 2): frozenset('x')}, bytearray(b'a')]\ndef show(): return repr(v)",
		"cycles":     "v = []\nv.append(v)\nd = {'v': v}\nd['d'] = d\ndef show(): return d['d'] is d and d['v'][0] is v",
		"sharing":    "a = [1]\nb = (a, a)\ndef show(): b[0].append(2); return repr(b)",
		"closures":   "def outer(n):\n    total = [0]\n    def inc(k=1, *, by=2):\n        nonlocal n\n        n += k * by\n        return n, total\n    return inc\nf = outer(5)\nf()\ndef show(): return f(), f(3), f.__name__, f.__qualname__",
		"recursion":  "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\ndef show(): return fib(10)",
		"classes": "class Base:\n    count = 0\n    def __init_subclass__(cls): Base.count += 1\n    def hello(self): return 'hello ' + self.name\n" +
			"class Sub(Base):\n    def __init__(self, name): self.name = name\n    def hello(self): return super().hello() + '!'\n    @property\n    def size(self): return len(self.name)\n" +
			"    @classmethod\n    def make(cls): return cls('made')\n    @staticmethod\n    def twice(x): return 2 * x\ns = Sub('x')\n" +
			"def show(): return s.hello(), s.size, Sub.make().hello(), Sub.twice(4), Base.count, isinstance(s, Base), Sub.__mro__",
		"slots":       "class P:\n    __slots__ = ('x', 'y')\n    def __init__(self): self.x, self.y = 1, [2]\np = P()\ndef show(): return p.x, p.y",
		"enums":       "import enum\nclass Color(enum.Enum):\n    RED = 1\n    BLUE = 2\ndef show(): return repr(Color.RED), Color(2) is Color.BLUE, [c.name for c in Color]",
		"dataclasses": "import dataclasses\n@dataclasses.dataclass(order=True)\nclass D:\n    x: int\n    y: list = dataclasses.field(default_factory=list)\nd = D(3)\ndef show(): return repr(d), d < D(4), repr(D(1))",
		"namedtuples": "import collections\nP = collections.namedtuple('P', 'x y')\np = P(1, 2)\ndef show(): return repr(p), p.x, p._replace(y=5)",
		"subclasses":  "class L(list): pass\nclass D(dict): pass\nl = L([1, 2])\nl.tag = 'x'\nd = D(a=1)\ndef show(): return l, l.tag, type(l).__name__, d, len(d)",
		"metaclasses": "class M(type):\n    def __call__(cls, *a): return ('called', super().__call__(*a))\nclass C(metaclass=M):\n    def __repr__(self): return 'C()'\ndef show(): return repr(C())",
		"methods":     "class C:\n    def m(self): return self.n\nc = C()\nc.n = 7\nm = c.m\ndef show(): return m()",
		"library":     "import math, functools, torch\nf = functools.partial(max, 3)\nT = torch.float32\nr = torch.relu\ndef show(): return math.sin(0), f(2), f(9), T, torch.nn.Linear.__name__, r(torch.tensor([-1.0]))",
		"generators":  "def count(n, *, by=1):\n    total = [0]\n    while n > 0:\n        got = yield n, total\n        total.append(got)\n        n -= by\ng = count(5, by=2)\nnext(g)\ng.send('x')\nfresh = count(1)\ndef show(): return next(g), list(fresh), list(g)",
		"operators": "import torch\nfrom torch import Tensor\n@torch.library.custom_op('snap::scale', mutates_args=())\ndef scale(x: Tensor, k: float) -> Tensor:\n    return x * k * factor\nfactor = 2\n" +
			"lib = torch.library.Library('snapb', 'DEF')\nlib.define('cut(Tensor x, int n) -> Tensor')\nlib.impl('cut', lambda x, n: x[:n].clone(), 'CPU')\ncut = torch.ops.snapb.cut\n" +
			"def show(): return scale(torch.ones(2), 3.0), torch.ops.snap.scale(torch.ones(1), 1.0), cut(torch.arange(3), 2), torch.ops.snapb.cut.default(torch.arange(3), 1)",
		"exceptions": "class E(ValueError): pass\ne = E('a', 1)\ndef show(): return repr(e), e.args",
		"views":      "import torch\na = torch.arange(6.0)\nb = a.view(2, 3)\nw = torch.ones(2, requires_grad=True)\ny = w * 2\ndef show():\n    b.mul_(2)\n    y.add_(1)\n    return b._base is a, a, y, y.is_leaf, w.is_leaf, y.requires_grad",
		"tensors":    "import torch\na = torch.arange(12.0).view(3, 4)\nb = a[1:, ::2]\nc = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)\ndef show():\n    b.fill_(7)\n    return a, b.stride(), c, c.requires_grad",
		"gradients":  "import torch\np = torch.nn.Parameter(torch.ones(2))\n(p * 3).sum().backward()\ndef show(): return p, p.grad, type(p).__name__",
		"modules":    "import torch\ntorch.manual_seed(0)\nm = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())\nm.eval()\ndef show(): return m, m(torch.ones(1, 2)), m.training, [n for n, _ in m.named_parameters()]",
	} {
		t.Run(name, func(t *testing.T) {
			s := session(t, script)
			show := global(t, s, "show")
			far, there := carry(t, s, show)
			if diff := cmp.Diff(call(t, s, show), call(t, far, there)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func call(t testing.TB, s *stack.Session, f vm.Object) string {
	t.Helper()
	v, err := s.In.Call(f, nil, nil)
	if err != nil {
		t.Fatal(s.In.FormatException(err))
	}
	text, err := s.In.Repr(v)
	if err != nil {
		t.Fatal(s.In.FormatException(err))
	}
	return text
}

// What has no written form is named; where it is only a global, a stand-in says what it was.
func TestRefusals(t *testing.T) {
	s := session(t, "g = iter([1])\ndef show(): return type(g).__name__")
	if _, err := snapshot.NewEncoder(s.In, s.Torch, nil).Add(global(t, s, "g")); err == nil || !strings.Contains(err.Error(), "a list_iterator has no written form") {
		t.Error(err)
	}
	far, there := carry(t, s, global(t, s, "show"))
	if got := call(t, far, there); got != "'list_iterator'" {
		t.Error(got)
	}
}

// A damaged snapshot is an error, never a panic.
func FuzzDecode(f *testing.F) {
	s := session(f, "import torch\nclass C:\n    __slots__ = ('a',)\nx = C()\nx.a = [torch.ones(2), {1: (2, 'x')}]\ndef show(k=3): return x.a, k")
	w := snapshot.NewEncoder(s.In, s.Torch, nil)
	if _, err := w.Add(global(f, s, "show")); err != nil {
		f.Fatal(err)
	}
	snap, err := w.Finish()
	if err != nil {
		f.Fatal(err)
	}
	b, err := json.Marshal(snap)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"nodes":[{"k":"tuple","r":[0]},{"k":"class","t":"X","r":[-1,0,-1,-1]},{"k":"tensor","t":"float32","shape":[9],"stride":[1],"r":[0,0,0]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var read snapshot.Snapshot
		if json.Unmarshal(b, &read) != nil {
			return
		}
		d := snapshot.NewDecoder(&read, s.In, s.Torch)
		for i := range min(len(read.Nodes), 50) {
			_, _ = d.Get(i)
		}
	})
}

// A file comes back with what was unread, whatever became of it meanwhile.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lines.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := session(t, "f = open("+strconv.Quote(path)+")\nf.readline()\ndef show(): return f.readlines(), f.mode, f.name == "+strconv.Quote(path))
	show := global(t, s, "show")
	far, there := carry(t, s, show)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want := call(t, s, show)
	if diff := cmp.Diff(want, call(t, far, there)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(want, "two") || strings.Contains(want, "one") {
		t.Errorf("the file that was written down gives %s", want)
	}
}

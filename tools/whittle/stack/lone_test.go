package stack

import (
	"testing"

	"whittle/capture/python/vm"
)

// TestResultsThatNobodyTakes: the memory of what compiled code made is given back where its caller drops it, and only where nobody else can have it.
func TestResultsThatNobodyTakes(t *testing.T) {
	const start = `
import torch
kept = []
x = torch.full((300, 300), 2.0)
constant = torch.ones(1000, 100)

def inference(f, *args):
    with torch.no_grad():
        return f(*args)

def keeps(x):
    y = x * 2 + 1
    kept.append(y)
    return y

def breaks(x):
    y = x + 1
    print(end="")
    kept.append(y)
    return y

def through(f):
    def call(x):
        y = f(x)
        kept.append(y)
        return y
    return call

def keeping(gm, inputs):
    def call(*args):
        out = gm(*args)
        kept.append(out[0])
        return out
    return call

plain = lambda x: x * 2 + 1
`
	for _, c := range []struct {
		name, setup, call string
		want              int
	}{
		{"dropped", "f = torch.compile(plain)", "f(x)", 3},
		{"dropped, with aot_eager", "f = torch.compile(plain, backend='aot_eager')", "f(x)", 3},
		{"returned to one that drops it", "f = torch.compile(plain)", "inference(f, x)", 3},
		{"taken", "f = torch.compile(plain)", "y = f(x)", 0},
		{"kept by the function", "f = torch.compile(keeps)", "f(x)", 0},
		{"kept behind a break", "f = torch.compile(breaks)", "f(x)", 0},
		{"kept by a caller", "f = through(torch.compile(plain))", "f(x)", 0},
		{"kept by a compiled caller", "f = torch.compile(through(torch._dynamo.disable(torch.compile(plain))))", "f(x)", 0},
		{"kept by a backend", "f = torch.compile(plain, backend=keeping)", "f(x)", 0},
		{"an argument", "f = torch.compile(lambda x: x)", "f(x)", 0},
		{"a view of an argument", "f = torch.compile(lambda x: x.t())", "f(x)", 0},
		{"a constant", "f = torch.compile(lambda x: constant)", "f(x)", 0},
		{"with a history", "x.requires_grad_(); f = torch.compile(plain)", "f(x)", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if n := givenBack(t, start+c.setup, c.call, "", func(vm.Object) bool { return true }); n != c.want {
				t.Errorf("%d of 3 results were given back, want %d", n, c.want)
			}
		})
	}
}

// givenBack runs a call three times, after a setup and once without being counted, and says how many of the objects for which counts holds were given back.
func givenBack(t *testing.T, setup, call, after string, counts func(vm.Object) bool) (n int) {
	t.Helper()
	s, run := session(t)
	unheld := s.In.Unheld
	s.In.Unheld = func(o vm.Object) {
		if counts(o) {
			n++
		}
		unheld(o)
	}
	s.In.Builtins.Dict.SetStr("count", &vm.Builtin{Name: "count", Fn: func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		n = 0
		return vm.None, nil
	}})
	if _, err := run(setup + "\n" + call + "\ncount()\nfor i in range(3): " + call + "\n" + after + "\n"); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGradientsThatNobodyTakes: gradients that a backward pass returns are given back where its caller drops them, and only where nobody else can have them.
func TestGradientsThatNobodyTakes(t *testing.T) {
	const start = `
import torch
kept = []
x = torch.full((300, 300), 2.0, requires_grad=True)
z = torch.full((300, 300), 3.0, requires_grad=True)
seed = torch.ones(300, 300)

def grad(y, *of, **kw):
    return torch.autograd.grad(y, of, seed, retain_graph=True, **kw)

def hooked(y, f):
    y.register_hook(f)
    return y

class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g):
        kept.append(g * 2)
        return kept[-1]
`
	for _, c := range []struct {
		name, setup, call string
		want              int
	}{
		{"dropped", "y = x.sin()", "grad(y, x)", 3},
		{"of two, dropped", "y = x * z", "grad(y, x, z)", 3},
		{"taken", "y = x.sin()", "g = grad(y, x)", 0},
		{"the seed", "y = x + 1", "grad(y, x)", 0},
		{"the seed for both", "y = x + z", "grad(y, x, z)", 0},
		{"kept by a hook", "y = hooked(x * 2, kept.append).sin()", "grad(y, x)", 0},
		{"kept by a hook of what is asked for", "x.register_hook(kept.append); y = x.sin()", "grad(y, x)", 0},
		{"kept by a function", "y = Keeps.apply(x)", "grad(y, x)", 0},
		{"with a history", "y = x.sin()", "grad(y, x, create_graph=True)", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tuples := func(o vm.Object) bool { _, ok := vm.AsTuple(o); return ok }
			if n := givenBack(t, start+c.setup, c.call, "for k in kept: k.sum().item()", tuples); n != c.want {
				t.Errorf("%d of 3 results were given back, want %d", n, c.want)
			}
		})
	}
}

// TestGradientsKept: what a backward pass gives back of its own is nothing that somebody still reads.
func TestGradientsKept(t *testing.T) {
	const source = `
import torch
def leaf(v): return torch.full((300, 300), v, requires_grad=True)
def same(t, v): assert t.shape == (300, 300) and bool((t == v).all()), (t.flatten()[:3], v)
kept = []

x = leaf(2.0)  # one gradient for two
y = leaf(3.0)
z = x * y
(z + z).sum().backward()
same(x.grad, 6.0); same(y.grad, 4.0)
(x * y).sum().backward()  # added in place
same(x.grad, 9.0); same(y.grad, 6.0)

x, y = leaf(2.0), leaf(3.0)  # the same gradient for both
(x + y).mul(2).sum().backward()
x.grad.zero_()
same(y.grad, 2.0)

x = leaf(2.0)  # asked for in the middle
h = x * 3
k = h * 5
a, b, c = torch.autograd.grad((k * k).sum(), [k, h, x])
same(a, 60.0); same(b, 300.0); same(c, 900.0)

x = leaf(2.0)  # kept by hooks and by what keeps its gradient
h = x * 3
h.retain_grad()
h.register_hook(lambda g: kept.append(g))
x.register_hook(lambda g: kept.append(g) or g * 2)
(h * 5).sum().backward()
for _ in range(3): torch.empty(300, 300).fill_(7.0)
same(h.grad, 5.0); same(kept[0], 5.0); same(kept[1], 15.0); same(x.grad, 30.0)

x = leaf(2.0)  # a node that sees what it is given and gives
n = (x * 3).grad_fn
n.register_hook(lambda i, o: kept.extend([i[0], o[0]]))
n.register_prehook(lambda o: kept.append(o[0]))
h = x * 3
h.grad_fn.register_hook(lambda i, o: kept.extend([i[0], o[0]]))
(h * 5).sum().backward()
for _ in range(3): torch.empty(300, 300).fill_(7.0)
same(kept[-2], 15.0); same(kept[-1], 5.0); same(x.grad, 15.0)

x = leaf(2.0)  # views of what a formula made
a, b = torch.autograd.grad((x.t() * 3).t()[:150].sum(), [x, x])
assert a[:150].eq(3).all() and b[150:].eq(0).all()
w = torch.ones(300, 300, requires_grad=True)
torch.nn.functional.linear(x, w).sum().backward()
same(x.grad, 300.0); same(w.grad, 600.0)
x.grad.t().add_(1)
same(w.grad, 600.0)
`
	_, run := session(t)
	if _, err := run(source); err != nil {
		t.Fatal(err)
	}
}

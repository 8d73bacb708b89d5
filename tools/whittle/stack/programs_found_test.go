package stack

import (
	"fmt"
	"strings"
	"testing"
)

// found are programs that random ones were reduced to: each showed a difference between eager and compiled once. They are run as
// TestRandomTorchPrograms does, under every backend.
var found = []struct{ name, source string }{
	{"an argument in a cell at a break", `
def inputs(v): return [torch.ones(2), [3, 1, 5][v]]
def f(x, k):
    z = (x + float(x.mean())) / k
    return z, [x * j for j in range(1, 4) if j != k]
`},
	{"a free variable that changes between calls", `
def make():
    n = 0
    def f(x):
        return (x + float(x.mean())) / n
    def assign(v):
        nonlocal n
        n = v
    return f, assign
f, assign = make()
def inputs(v):
    assign(v + 1)
    return [torch.ones(2)]
`},
	{"nonlocal before and after breaks", `
def make():
    n = 0
    def f(x, k):
        nonlocal n
        h = lambda: (n, k)
        n += 1
        y = x + float(x.mean())
        n += k
        k += 1
        torch._dynamo.graph_break()
        k += 1
        n += 1
        return y * k, h(), [k for _ in range(2)], k, n
    return f
f = make()
def inputs(v): return [torch.ones(2), v]
`},
	{"entries and attributes that are only kept", `
def inputs(v):
    holder.value = v
    return [torch.ones(2), {'a': v, 'z': 1, 'b': [v], 'c': 4}, [v, [v], 'x', v + 1]]
def f(x, d, l):
    d['n'] = 5
    del d['z']
    b = d.pop('b')
    d['b'] = b
    l.append(7)
    l.insert(0, 8)
    holder.extra = x * 2
    return x + len(l)
`},
	{"a list that loses and reorders items", `
def inputs(v): return [torch.ones(2), [v, [v], 'x', v + 1]]
def f(x, l):
    l[0] = 1
    l.pop()
    l.reverse()
    return x * 2
`},
	{"a value before its input is written", `
def inputs(v): return [torch.arange(6.0).reshape(2, 3)]
def f(x):
    y = x + 1.5
    x.mul_(2)
    x.transpose(0, 1).add_(0.25)
    return y
`},
	{"a function that refers to itself over a break", `
def inputs(v): return [torch.ones(3)]
def f(x):
    def h(p, d):
        return p if d == 0 else h(p.sin(), d - 1)
    y = h(x, 2)
    print('broken')
    return h(y, 1)
`},
	{"a view as input, whose base has its sizes", `
def inputs(v): return [torch.ones(3 + v).reshape([3 + v])]
def f(x):
    y = x.sin()
    return torch.outer(y, y)
`},
	{"gradients of views of a tensor that lies transposed", `
def inputs(v): return [torch.arange(12.0).reshape(3, 4).t().contiguous().t().requires_grad_()]
def f(x):
    y = x.clone()
    y[1].mul_(3)
    y[:, 0].add_(x[:, 1])
    return y * torch.arange(12.0).reshape(3, 4), x[0], x
`},
	{"tensordot", `
def inputs(v): return [torch.arange(9.0).reshape(3, 3).requires_grad_()]
def f(x):
    return torch.tensordot(x, x, 1), torch.tensordot(x, x, dims=([1], [0])), torch.tensordot(x, x), torch.tensordot(x, x, 0).shape
`},
	{"numbers that change, in the bodies of higher-order operators", `
def inputs(v): return [torch.arange(3.0 + v).requires_grad_(), [3, 1, 5][v]]
def f(x, k):
    y = x * k
    a = torch.utils.checkpoint.checkpoint(lambda p: (p + k) ** 2 + p.size(0) * k, y, use_reentrant=False)
    n = k * x.size(0)
    z, w = x.detach(), y.detach()
    b = torch.cond(a.sum() > 0, lambda p: p + n - w, lambda p: p - k, (z,))
    return a, b, k
`},
	{"inputs that share memory and are written", `
def inputs(v):
    x = torch.arange(24.0).reshape(2, 3, 4)
    pairs = [(x.permute(1, 2, 0), x), (x[0], x[:1, 1]), (x[:, :2], x[:, 1:]), (x[0], x[1]), (x, torch.ones(2, 3, 4)), (x[0], x[0])]
    a, b = pairs[v * 2 % 6], pairs[(v * 2 + 1) % 6]
    return [*a, *b, x]
def f(a, b, c, d, x):
    a.mul_(2)
    b.add_(a.sum())
    c[0] = d.sum()
    return a + 1, b, c.sin(), d * x.mean(), x
`},
	{"views of one tensor that gradients flow to", `
def inputs(v): return [torch.arange(6.0).reshape(2, 3).requires_grad_()]
def f(x):
    y = x * 2
    a, b = y[0], y.t()
    torch._dynamo.graph_break()
    a.mul_(3)
    b[1] = a.sum()
    return y.sin(), b, a * x
`},
	{"an input is written whose old value the backward needs", `
def inputs(v): return [torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()]
def f(x):
    y = x * 2
    torch._dynamo.graph_break()
    y.mul_(y.sum())
    return y * 1
`},
	{"views see what is written to their base", `
def inputs(v): return [torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()]
def f(x):
    y, z = x * 2, torch.zeros(2, 3)
    a, b = y.t(), z[0]
    y.copy_(x * 5)
    z.copy_(x)
    return a, b, y, z
`},
	{"a parameter written without gradients", `
def inputs(v): return [torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()]
def f(x):
    y = x * 2
    with torch.no_grad():
        y[0].add_(1)
        y.mul_(3)
    return y.sin()
`},
	{"a buffer that gradients begin to flow to", `
def inputs(v): return [torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_(), torch.ones(2, 3), torch.ones(4, 3), torch.tensor([1, 2])]
def f(x, a, b, i):
    a[0] = x[1] * 2
    b.index_add_(0, i, x)
    return a * x, b.sum()
`},
	{"an input given back, viewed and detached", `
def inputs(v): return [torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()]
def f(x): return x, x.view(-1), x.detach(), x.t() * 1
`},
	{"a value that backward needs is overwritten", `
def inputs(v): return [torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_(), torch.ones(2, 3)]
def f(x, b):
    y = x * b
    try:
        torch.sum(y).sin()
    finally:
        b.mul_(1)
    return b.sum()
`},
	{"a tensor that only a function made behind a break reads", `
def inputs(v): return [torch.full((3,), 1.0 + v).requires_grad_(), torch.ones(3)]
def f(x, y):
    y.sum().item()
    h = lambda: x * 3
    return x + h()
`},
	{"loops that data ends, over iterators of the frame", `
import itertools
def inputs(v): return [torch.full((2,), [-10.0, -1.0, -30.0][v])]
def f(x):
    t = x
    for i in range(3):
        if t.sum() > 0.3:
            break
        t = t * 0.5 + 0.3
    else:
        t = t + 100
    u = x
    for i, (a, b) in enumerate(zip([x, x * 2, x * 3], (1, 2, 3))):
        if u.sum() > 0.3:
            break
        u = u * 0.5 + 0.3 * i + a.abs() * b
    w = x
    for k, y in {'a': x, 'b': x * 2}.items():
        if w.sum() > 0.3:
            break
        w = w + y.abs()
    return t, u, w
`},
	{"loops that data ends, over iterators without an end", `
import itertools
def inputs(v): return [torch.full((2,), [-10.0, -1.0, -30.0][v])]
def f(x):
    t = x
    for i in itertools.count():
        if t.sum() > 0.3 or i > 20:
            break
        t = t + i
    for i in map(lambda a: a * 2, [1, 2, 3]):
        if t.sum() > 9:
            break
        t = t + i
    return t
`},
	{"a mask without dimensions", `
def inputs(v): return [torch.tensor(2.0 - v), torch.ones(2, 3)]
def f(x, y):
    return x[x > 0.5], y[x > 0.5], x[x > 0.5].sum()
`},
}

func TestFoundByRandomPrograms(t *testing.T) {
	var b strings.Builder
	b.WriteString(programsHarness)
	var names []string
	for _, c := range found {
		for _, backend := range []string{"eager", "aot_eager", "inductor"} {
			for _, dynamic := range []string{"None", "True"} {
				p := torchProgram{fmt.Sprintf("%s, %s, %s", c.name, backend, dynamic), c.source, backend, dynamic}
				names = append(names, p.name)
				b.WriteString(p.call(""))
			}
		}
	}
	out, err := runPrograms(t.TempDir(), b.String())
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	parts := strings.Split("\n"+out, "\n# ")[1:]
	for i, name := range names {
		if i >= len(parts) {
			t.Fatalf("%s did not run", name)
		}
		if _, text, _ := strings.Cut(parts[i], "\n"); strings.TrimSpace(text) != "runs\nequal" {
			t.Errorf("%s\n%s", name, text)
		}
	}
}

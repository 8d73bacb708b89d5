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
			s, run := session(t)
			n, unheld := 0, s.In.Unheld
			s.In.Unheld = func(o vm.Object) { n++; unheld(o) }
			s.In.Builtins.Dict.SetStr("count", &vm.Builtin{Name: "count", Fn: func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
				n = 0
				return vm.None, nil
			}})
			if _, err := run(start + c.setup + "\n" + c.call + "\ncount()\nfor i in range(3): " + c.call + "\n"); err != nil {
				t.Fatal(err)
			}
			if n != c.want {
				t.Errorf("%d of 3 results were given back, want %d", n, c.want)
			}
		})
	}
}

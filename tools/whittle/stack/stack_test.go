package stack

import (
	"bytes"
	"context"
	"testing"
)

// run runs a script in a fresh session and returns what it prints.
func run(t testing.TB, src string) (*Session, string, error) {
	t.Helper()
	s, printed := session(t)
	out, err := printed(src)
	return s, out, err
}

// session makes a session and a function that runs a script in it, and gives what the script printed.
func session(t testing.TB) (*Session, func(src string) (string, error)) {
	t.Helper()
	s := New(context.Background(), t.TempDir())
	return s, func(src string) (string, error) {
		t.Helper()
		var out bytes.Buffer
		s.In.Stdout = &out
		err := s.In.RunSource("script.py", src)
		if ferr := s.In.Flush(); ferr != nil {
			t.Fatal(ferr)
		}
		return out.String(), err
	}
}

// BenchmarkImportTorch is the cold start of every script.
func BenchmarkImportTorch(b *testing.B) {
	for b.Loop() {
		if _, _, err := run(b, "import torch\n"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestBackendsAgree runs one training step through every backend that needs no C++ compiler, and compares with eager.
func TestBackendsAgree(t *testing.T) {
	src := `
import torch
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 2))
with torch.no_grad():
    for i, p in enumerate(net.parameters()):
        p.copy_(torch.sin(torch.arange(p.numel()) * 0.7 + i).reshape(p.shape))
x = torch.cos(torch.arange(12.0)).reshape(3, 4)
def step(f):
    net.zero_grad()
    y = f(x)
    y.square().mean().backward()
    return [y.detach()] + [p.grad.clone() for p in net.parameters()]
ref = step(net)
for backend in ("eager", "aot_eager", "aot_eager_decomp_partition"):
    torch._dynamo.reset()
    got = step(torch.compile(net, backend=backend))
    print(backend, all(torch.allclose(a, b, atol=1e-5) for a, b in zip(ref, got)))
`
	_, out, err := run(t, src)
	if err != nil {
		t.Fatal(err)
	}
	if want := "eager True\naot_eager True\naot_eager_decomp_partition True\n"; out != want {
		t.Errorf("got:\n%swant:\n%s", out, want)
	}
}

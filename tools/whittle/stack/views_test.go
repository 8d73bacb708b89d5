package stack

import "testing"

// TestViewsOfInputs: outputs that are views of inputs with an offset, of another dtype, and views that only values decide, as eager gives them.
func TestViewsOfInputs(t *testing.T) {
	src := `
import torch
base = torch.arange(24.0)
off = base[1:].as_strided((2, 3), (8, 2), 1)
pairs = base[2:10].reshape(4, 2)
cut = torch.tensor([1, 9, 2])[::2]
cases = {
    "transposed": lambda: (lambda x: x.t(), off),
    "two of one": lambda: (lambda x: (x[1], x[:, 1:]), off),
    "complex": lambda: (torch.view_as_complex, pairs),
    "conjugate": lambda: (lambda x: torch.fft.ifft(x), base[:5]),
    "split by values": lambda: (lambda x: torch.tensor_split(x, cut, 0), base[:5]),
}
for name, case in cases.items():
    f, x = case()
    want = f(x)
    want = want if isinstance(want, tuple) else (want,)
    for backend in ("aot_eager", "inductor"):
        torch._dynamo.reset()
        got = torch.compile(f, backend=backend)(x)
        got = got if isinstance(got, tuple) else (got,)
        same = all(a.dtype == b.dtype and a.stride() == b.stride() and a.storage_offset() == b.storage_offset() and a.tolist() == b.tolist() for a, b in zip(want, got))
        print(name, backend, len(want) == len(got) and same)
`
	_, out, err := run(t, src)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, name := range []string{"transposed", "two of one", "complex", "conjugate", "split by values"} {
		want += name + " aot_eager True\n" + name + " inductor True\n"
	}
	if out != want {
		t.Errorf("got:\n%swant:\n%s", out, want)
	}
}

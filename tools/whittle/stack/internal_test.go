package stack

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// TestKernelPanicIsNoException runs programs whose kernel panics: no handler of theirs sees it, eager or compiled, and the error says
// which call it was and where the program stood.
func TestKernelPanicIsNoException(t *testing.T) {
	op := aten.Op{Schema: "broken::boom(Tensor x, int n=3) -> Tensor",
		Meta:  func(c *aten.Call) (aten.Value, error) { return tensor.FakeLike(c.Args[0].(*tensor.Tensor)), nil },
		Eager: func(*aten.Call) (aten.Value, error) { panic("a kernel went wrong") }}
	const eager = `import torch
def f(x):
    try:
        return torch.ops.broken.boom(x + 1)
    except BaseException:
        print('handled')
    finally:
        print('finally')
try:
    f(torch.ones(2))
except:
    print('handled')
`
	const compiled = `import torch
@torch.compile(backend='eager')
def f(x):
    return torch.ops.broken.boom(x + 1)
try:
    f(torch.ones(2))
except Exception:
    print('handled')
`
	for name, c := range map[string]struct {
		script string
		trail  []string
	}{
		"eager":    {eager, []string{`File "script.py", line 4, in f`, `File "script.py", line 10, in <module>`}},
		"compiled": {compiled, []string{`File "script.py", line 6, in <module>`}},
	} {
		s, printed := session(t)
		if _, err := s.Torch.Library.Define(op); err != nil {
			t.Fatal(err)
		}
		out, err := printed(c.script)
		var p *aten.Panic
		if !errors.As(err, &p) {
			t.Fatalf("%s: got %T %v", name, err, err)
		}
		if out != "" || p.Op != "broken.boom.default" || p.Args != "x=f32[2], n=3" {
			t.Errorf("%s: printed %q: %v", name, out, p)
		}
		own := slices.DeleteFunc(p.Trail, func(place string) bool { return !strings.HasPrefix(place, `File "script.py"`) })
		if diff := cmp.Diff(c.trail, own); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

package stack

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/native"
)

// scaled defines an operator that multiplies by k, with a gradient, and one that does it in place, under the same names for every k; what
// uses them is left in sys for the scripts that come after.
func scaled(backend string, k int) string {
	return fmt.Sprintf(`
import sys, torch
@torch.library.custom_op("mine::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * %[2]d
@scale.register_fake
def _(x):
    return torch.empty_like(x)
scale.register_autograd(lambda ctx, g: g * %[2]d)
@torch.library.custom_op("mine::scale_into", mutates_args={"out"})
def scale_into(x: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(x * %[2]d)
@scale_into.register_fake
def _(x, out):
    return None
def f(x):
    y = torch.ops.mine.scale(x + 1) + torch.ops.mine.scale.default(x)
    z = torch.zeros_like(x)
    torch.ops.mine.scale_into(x.detach(), z)
    return y * 2 + z
sys.mine = f
sys.mine_compiled = torch.compile(f, backend=%[1]q)
`, backend, k)
}

const useScaled = `
import sys, torch
for f in (sys.mine, sys.mine_compiled):
    x = torch.tensor([1., 2.], requires_grad=True)
    y = f(x)
    y.sum().backward()
    print(y.tolist(), x.grad.tolist())
`

// TestOperatorsBelongToASession runs two programs in one process that each define operators of the same names: in turn, eager and compiled,
// forward and backward, each has its own, also after it has defined them anew; a third that defines none has none.
func TestOperatorsBelongToASession(t *testing.T) {
	for _, backend := range []string{"eager", "aot_eager", "inductor"} {
		t.Run(backend, func(t *testing.T) {
			if _, err := native.FindCompiler(); err != nil && backend == "inductor" {
				t.Skip(err)
			}
			must := func(out string, err error) string {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			// y = 2 (k (x+1) + k x) + k x, and its gradient 4 k: the part in place is detached.
			want := func(k int) string {
				row := fmt.Sprintf("[%d.0, %d.0] [%d.0, %d.0]\n", 7*k, 12*k, 4*k, 4*k)
				return row + row
			}
			_, a := session(t)
			_, b := session(t)
			_, c := session(t)
			must(a(scaled(backend, 2)))
			must(b(scaled(backend, 3)))
			for range 2 {
				if diff := cmp.Diff(want(2), must(a(useScaled))); diff != "" {
					t.Errorf("the first session: %s", diff)
				}
				if diff := cmp.Diff(want(3), must(b(useScaled))); diff != "" {
					t.Errorf("the second session: %s", diff)
				}
			}
			must(a(scaled(backend, 5)))
			if diff := cmp.Diff(want(3)+want(5), must(b(useScaled))+must(a(useScaled))); diff != "" {
				t.Errorf("after the first has defined its operators anew: %s", diff)
			}
			missing := "import torch\ntry:\n    torch.ops.mine.scale\nexcept AttributeError as e:\n    print(e)\n"
			if diff := cmp.Diff("'_OpNamespace' 'mine' object has no attribute 'scale'\n", must(c(missing))); diff != "" {
				t.Errorf("a session that defines none: %s", diff)
			}
		})
	}
	if op := aten.Lookup("mine.scale.default"); op != nil {
		t.Errorf("%s is an operator of every session", op)
	}
}

// TestDroppedSessionGoes: a session whose program defined operators and compiled them is collected when nobody holds it.
func TestDroppedSessionGoes(t *testing.T) {
	gone := make(chan bool, 3)
	func() {
		s, run := session(t)
		if _, err := run(scaled("aot_eager", 2) + useScaled); err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(s, func(c chan bool) { c <- true }, gone)
		runtime.AddCleanup(s.Torch.Library, func(c chan bool) { c <- true }, gone)
		runtime.AddCleanup(s.In, func(c chan bool) { c <- true }, gone)
	}()
	deadline := time.After(time.Minute)
	for left := 3; left > 0; {
		runtime.GC()
		select {
		case <-gone:
			left--
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatalf("%d of session, library and interpreter are still held", left)
		}
	}
}

// TestWritingOperator: an operator that writes its arguments is called on copies of what these are views of, and the graph is run, and writes them, as eagerly.
func TestWritingOperator(t *testing.T) {
	s := New(context.Background(), t.TempDir())
	var calls []string
	s.AOT = func(_ string, gm *fx.GraphModule) {
		for _, n := range gm.Graph.Calls() {
			if strings.HasPrefix(n.Target, "torch.ops.") {
				calls = append(calls, n.String())
			}
		}
	}
	err := s.In.RunSource("script.py", `
import torch
from typing import List
@torch.library.custom_op("mine::fill", mutates_args={"a", "b", "c"})
def fill(x: torch.Tensor, a: torch.Tensor, b: List[torch.Tensor], c: torch.Tensor, k: float = 2.0) -> torch.Tensor:
    a.add_(x)
    c.sub_(x)
    for t in b:
        t.mul_(k)
    return x * k
@fill.register_fake
def _(x, a, b, c, k=2.0):
    return torch.empty_like(x)
def f(x, y):
    z = torch.ones(4, 3)
    r = fill(x, z[1], [y, y.view(-1)[:2]], z[2:3], 3.0)
    return r + z.sum(), z, y
def results(f):
    return [t.tolist() for t in f(torch.arange(3.0), torch.ones(2, 3))]
assert results(torch.compile(f, backend="aot_eager")) == results(f)
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"auto_functionalized_v2 = torch.ops.higher_order.auto_functionalized_v2(torch.ops.mine.fill.default, x = arg1_1, k = 3.0, " +
		"_a_base_index = 0, _a_size = (3,), _a_stride = (1,), _a_storage_offset = 3, _b_length = 2, _b_0_base_index = 1, _b_1_base_index = 1, _b_1_size = (2,), _b_1_stride = (1,), _b_1_storage_offset = 0, " +
		"_c_base_index = 0, _c_slice_dim = 0, _c_slice_start = 2, _c_slice_end = 3, _all_bases = [ones, arg0_1])"}
	if d := cmp.Diff(want, calls); d != "" {
		t.Error(d)
	}
}

// TestCheckpointedDropout: what a checkpointed region drops in the forward pass, the backward pass, which runs the region again, drops too.
func TestCheckpointedDropout(t *testing.T) {
	for backend, want := range map[string]string{"aot_eager": "torch.ops.higher_order.run_with_rng_state", "inductor": "prims.inductor_random.default"} {
		s := New(context.Background(), t.TempDir())
		found := false
		s.AOT = func(kind string, gm *fx.GraphModule) {
			for _, n := range gm.Graph.Calls() {
				found = found || kind == "backward" && n.Target == want
			}
		}
		err := s.In.RunSource("script.py", fmt.Sprintf(`
import torch
from torch.utils.checkpoint import checkpoint
def f(x):
    return torch.nn.functional.dropout(torch.relu(x), 0.5).sin()
g = torch.compile(lambda x: checkpoint(f, x, use_reentrant=False), backend=%q)
for _ in range(2):
    x = torch.ones(100, requires_grad=True)
    y = g(x)
    y.sum().backward()
    assert torch.equal(y != 0, x.grad != 0)
`, backend))
		if err != nil {
			t.Errorf("%s: %v", backend, err)
		}
		if !found {
			t.Errorf("%s: no %s in the backward graph", backend, want)
		}
	}
}

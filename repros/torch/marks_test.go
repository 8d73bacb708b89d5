package torch

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
)

// faulty has Inductor's code for tan do something else first.
func faulty(does string) string {
	return "torch._inductor.config.cpp.simdlen = 0\nfrom torch._inductor.codegen.cpp import CppOverrides\n" +
		"CppOverrides.tan = staticmethod(lambda x: '([&] { " + does + " return %s; }())' % x)\n"
}

// tripped defines an operator that does something when it is called for the second time: not in eager, but in what is compiled.
func tripped(does string) string {
	return `import os, time, ctypes
calls = []
@torch.library.custom_op("whittle_test::trip", mutates_args=())
def trip(x: torch.Tensor) -> torch.Tensor:
    calls.append(x)
    if len(calls) > 1:
        ` + does + `
    return x + 1
@trip.register_fake
def _(x):
    return torch.empty_like(x)
`
}

// lowered has the lowering of tan do something first.
func lowered(does string) string {
	return `import os, time
from torch._inductor.lowering import lowerings
real = lowerings[torch.ops.aten.tan.default]
def tan_lowered(*a, **k):
    ` + does + `
    return real(*a, **k)
lowerings[torch.ops.aten.tan.default] = tan_lowered
`
}

// kernels is a graph of three generated kernels, which matrix products keep apart; the calls of the second one are given.
func kernels(second ...string) string {
	lines := []string{"v = torch.ops.aten.view.default(x, [2, 4])", "t = torch.ops.aten.view.default(x, [4, 2])", "s = torch.ops.aten.sin.default(v)", "a = torch.ops.aten.mm.default(t, s)"}
	lines = append(lines, second...)
	return strings.Join(append(lines, "b = torch.ops.aten.mm.default(last, t)", "e = torch.ops.aten.exp.default(b)", "return (e,)"), "\n")
}

// What ends a process, or never ends, says where it was: in a generated kernel, an operator that generated code calls, or in the compiler. What is the
// user's own says nothing.
func TestWhereAnEndFromOutsideIs(t *testing.T) {
	t.Parallel()
	e := real(t, Options{Limits: Limits{Compile: 20 * time.Second, Run: 3 * time.Second}})
	tan := kernels("last = torch.ops.aten.tan.default(a)")
	fused := kernels("c = torch.ops.aten.cos.default(a)", "last = torch.ops.aten.tan.default(c)")
	viewed := kernels("w = torch.ops.aten.permute.default(a, [1, 0])", "last = torch.ops.aten.tan.default(w)")
	trip := kernels("last = torch.ops.whittle_test.trip.default(a)")
	hang := "for (volatile int on = 1; on;) {}"
	for _, c := range []struct {
		name, config, body string
		status             replay.Status
		stage              string
		at                 string // how the message ends
		suspects, region   []string
	}{
		{"a kernel aborts", faulty("std::abort();"), tan, replay.Killed, "run", "kernel cpp_fused_1", []string{"last"}, nil},
		{"a kernel hangs", faulty(hang), tan, replay.Timeout, "run", "kernel cpp_fused_1", []string{"last"}, nil},
		{"a fused kernel", faulty("*(volatile int*)8 = 1;"), fused, replay.Killed, "run", "kernel cpp_fused_1", nil, []string{"c", "last"}},
		{"a kernel after a view", faulty("std::abort();"), viewed, replay.Killed, "run", "kernel cpp_fused_1", nil, []string{"w", "last"}},
		{"an operator aborts", tripped("os.abort()"), trip, replay.Killed, "run", "torch.ops.whittle_test.trip.default", []string{"last"}, nil},
		{"an operator hangs", tripped("time.sleep(1000)"), trip, replay.Timeout, "run", "torch.ops.whittle_test.trip.default", []string{"last"}, nil},
		{"a lowering aborts", lowered("os.abort()"), tan, replay.Killed, "compile", "lowering tan", []string{"last"}, nil},
		{"a pass aborts", "import os\nfrom torch._inductor.fx_passes import post_grad\ndef mine(graph): os.abort()\ntorch._inductor.config.post_grad_custom_post_pass = mine", tan, replay.Killed, "compile", "the pass post_grad_custom_post_pass", nil, nil},
		{"a C++ compiler hangs", "from torch._inductor.codecache import CppCodeCache\nimport time\nload = CppCodeCache.load_async.__func__\ndef slow(cls, code, *a, **k):\n    if 'tan' in code: time.sleep(1000)\n    return load(cls, code, *a, **k)\nCppCodeCache.load_async = classmethod(slow)", tan,
			replay.Timeout, "compile", "the C++ compiler, at the kernel cpp_fused_1", []string{"last"}, nil},
		{"eager aborts", strings.Replace(tripped("os.abort()"), "len(calls) > 1", "True", 1), trip, replay.Invalid, "", "SIGABRT", nil, nil},
	} {
		q := aot(c.config, c.body)
		q.Locate = true
		o, err := e.Run(context.Background(), q)
		if c.region != nil { // whether a kernel is made from a view that it reads through is told otherwise by every version
			o.Suspects = nil
		}
		type told struct{ Suspects, Region []string }
		if diff := cmp.Diff(told{c.suspects, c.region}, told{o.Suspects, o.Region}); err != nil || o.Status != c.status || o.Signature.Stage != c.stage || !strings.HasSuffix(o.Message, c.at) || diff != "" {
			t.Errorf("%s: %v %s %v %q %s\n%s", c.name, err, o.Status, o.Signature, o.Message, diff, o.Detail)
		}
	}
}

// After dynamo it is the same for Inductor. Of a backend of the user's own it is known what node it is at where it goes from node to node.
func TestWhereAnEndIsAfterDynamo(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	body := "c = torch.cos(x)\ndoubled = c + c\nlast = torch.tan(doubled.view(4, 2) @ doubled.view(2, 4))\nreturn (last,)"
	own := func(compiled string) string {
		return "import os\ndef mine(gm, inputs):\n    def tan(*a):\n        os.abort()\n    class Own(torch.fx.Interpreter):\n        def call_function(self, target, a, k):\n            return tan() if target is torch.tan else super().call_function(target, a, k)\n    return " + compiled
	}
	for _, c := range []struct {
		name, config, backend, stage, at string
		suspects                         []string
	}{
		{"inductor", faulty("std::abort();"), "inductor", "run", "in the kernel cpp_fused_tan_1", []string{"last"}},
		{"inductor's lowering", lowered("os.abort()"), "inductor", "compile", "in lowering tan", []string{"last"}},
		{"an interpreter", own("Own(gm).run"), "mine", "run", "in Own at last", []string{"last"}},
		{"a function", own("tan"), "mine", "run", "SIGABRT", nil},
		{"compiling", own("tan()"), "mine", "compile", "SIGABRT", nil},
	} {
		q := aot(c.config, body)
		q.Stage, q.Backend, q.Locate = "dynamo", c.backend, true
		o, err := e.Run(context.Background(), q)
		if diff := cmp.Diff(c.suspects, o.Suspects); err != nil || o.Status != replay.Killed || o.Signature.Stage != c.stage || !strings.HasSuffix(o.Message, c.at) || diff != "" {
			t.Errorf("%s: %v %s %v %q %s\n%s", c.name, err, o.Status, o.Signature, o.Message, diff, o.Detail)
		}
	}
}

// A suspect that is needed but does nothing alone, as one that comes to grief over what another one left: the search ends at both.
func TestAnInnocentSuspect(t *testing.T) {
	t.Parallel()
	c := real(t, Options{})
	q := aot(scripted(strings.Replace(tripped("os.abort() if armed else None"), "calls = []", "calls, armed = [], []", 1)+`
@torch.library.custom_op("whittle_test::arm", mutates_args=())
def arm(x: torch.Tensor) -> torch.Tensor:
    armed.append(x)
    return x + 1
@arm.register_fake
def _(x):
    return torch.empty_like(x)
`), "s = torch.ops.aten.sin.default(x)\na = torch.ops.whittle_test.arm.default(s)\nr = torch.ops.aten.exp.default(a)\nc = torch.ops.aten.cos.default(x)\nb = torch.ops.whittle_test.trip.default(c)\nm = torch.ops.aten.mul.Tensor(b, r)\nreturn (m,)")
	r := search(t, c, q.Text)
	got := map[string]bool{}
	for _, n := range r.State.Module.Graph.Calls() {
		got[n.Target] = true
	}
	want := map[string]bool{"whittle_test.arm.default": true, "whittle_test.trip.default": true}
	if diff := cmp.Diff(want, got); diff != "" || !r.Complete || r.Cost.Calls != 2 {
		t.Errorf("%+v %s\n%s", r.Cost, diff, r.State.Module)
	}
	if diff := cmp.Diff([]string{"run alone: b", "passed"}, []string{r.Steps[1].Edit, string(r.Steps[1].Verdict)}); diff != "" {
		t.Error(diff)
	}
}

// scripted marks Python text as what a repro keeps of its script as it is.
func scripted(text string) string {
	return "# --- from the script: what this repro needs ---\n" + text + "\n# --- end ---"
}

// search minimises the repro of a text.
func search(t *testing.T, c *Client, text string) minify.Result {
	t.Helper()
	x, err := repros.Read("repro.py", text)
	if err != nil {
		t.Fatal(err)
	}
	e := New(c)
	start, err := e.Load(context.Background(), x, "")
	if err != nil {
		t.Fatal(err)
	}
	s := minify.Search{Values: e, Fingerprint: e.Fingerprint(), Workers: 2, Check: func(context.Context, minify.State) error { return nil },
		Oracle: minify.OracleFunc(func(ctx context.Context, c minify.Candidate) (replay.Outcome, error) { return e.Run(ctx, x, c) })}
	r, err := s.Run(context.Background(), start)
	for _, st := range r.Steps {
		t.Log(st.Reduction, st.Edit, st.Verdict, st.Taken, st.Cached, st.Duration)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A page gives its last whole mark back, and nothing for what is none: whoever died may have written anywhere.
func TestPage(t *testing.T) {
	cmd := exec.Command(python3(t), "-c", "import sys\nexec(compile(sys.stdin.read(), 'whittle', 'exec'), {'__name__': 'whittle'})\n"+`
from whittle_far.marks import FRONT, HEAD, SLOT, Page, mark_of
p = Page()
def wrote(n, b, at=None):
    start = HEAD.size + n % 2 * SLOT + (FRONT.size if at is None else at)
    p.memory[start:start + len(b)] = b
print(p.read())
p.write(mark_of("one", ["a", "b"], ["c"])); print(p.read())
p.write(mark_of("two", [])); print(p.read())
wrote(3, b"half of the third"); print(p.read())  # its number is not there yet
p.write(b""); print(p.read())
p.write(mark_of("five", ["x" * SLOT])); print(p.read())
p.write(mark_of("six", ["c"] * 9999)); print(len(p.read()["calls"]))
for bad in (b"{", b"[]", b"7", b"null", b'{"at": 1, "calls": [], "views": []}', b'{"at": "x", "calls": [1], "views": []}', b'{"at": "x", "calls": []}', b"\xff\xfe"):
    p.write(bad); print(p.read())
p.write(mark_of("seven", [])); wrote(p.number, b"\0" * 8, 0); print(p.read())  # the number is gone
p.write(mark_of("eight", [])); wrote(p.number, b"\xff" * 4, 8); print(p.read())  # so long is no mark
`)
	cmd.Stdin = strings.NewReader(program())
	out, err := cmd.CombinedOutput()
	want := `None
{'at': 'one', 'calls': ['a', 'b'], 'views': ['c']}
{'at': 'two', 'calls': [], 'views': []}
{'at': 'two', 'calls': [], 'views': []}
None
{'at': 'five', 'calls': [], 'views': []}
64
` + strings.Repeat("None\n", 10)
	if diff := cmp.Diff(want, string(out)); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

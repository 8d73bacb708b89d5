package torch

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
	"whittle/repros/engine"
)

// breaks has what generates a graph's kernels raise where the graph has all of some operators; else, and only where late is true, the first C++ that has a tangent.
// Both raise in the same place of torch.
func breaks(late bool, all ...string) string {
	text := `import torch._inductor.graph
def codegen(graph, real=torch._inductor.graph.GraphLowering.codegen):
    torch._check(not all(any(op in str(n.target) for n in graph.graph.nodes) for op in "` + strings.Join(all, " ") + `".split()), lambda: "no")
    return real(graph)
torch._inductor.graph.GraphLowering.codegen = codegen
`
	if late {
		text += `from torch._inductor.codecache import CppCodeCache
def load_async(cls, code, *a, real=CppCodeCache.load_async.__func__, **k):
    torch._check("tan" not in code, lambda: "no")
    return real(cls, code, *a, **k)
CppCodeCache.load_async = classmethod(load_async)
`
	}
	return scripted(text)
}

// A failure says which step it came before, and a candidate that is to go until that step is stopped there. Others go to their ends.
func TestStoppedAtAStep(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	fake := strings.Replace(strings.Replace(tripped("pass"), "return torch.empty_like(x)", "raise ValueError('no shape')", 1), "import os, time, ctypes", "", 1)
	fakes := "last = torch.ops.whittle_test.trip(x)\nreturn (last,)"
	own := "def own(gm, inputs):\n    raise ValueError('no')\n"
	for _, c := range []struct {
		name, config, body, backend, until string
		status                             replay.Status
		before                             string
		marks                              int
	}{
		{"lowering", breaks(false, "cos"), "c = torch.ops.aten.cos.default(x)\nreturn (c,)", "", "", replay.Failed, "C++", 2},
		{"lowering, until C++", breaks(false, "cos"), "c = torch.ops.aten.cos.default(x)\nreturn (c,)", "", "C++", replay.Failed, "C++", 2},
		{"none, until C++", breaks(false, "cos"), "c = torch.ops.aten.sin.default(x)\nreturn (c,)", "", "C++", replay.Pass, "C++", 2},
		{"none", breaks(false, "cos"), "c = torch.ops.aten.sin.default(x)\nreturn (c,)", "", "", replay.Pass, "", 4},
		{"no C++ at all", breaks(false, "cos"), "c = torch.ops.aten.view.default(x, [2, 4])\nreturn (c,)", "", "C++", replay.Pass, "", 4},
		{"C++", breaks(true, "cos"), "c = torch.ops.aten.tan.default(x)\nreturn (c,)", "", "", replay.Failed, "", 2},
		{"an abort", lowered("os.abort()"), "c = torch.ops.aten.tan.default(x)\nreturn (c,)", "", "C++", replay.Killed, "C++", 2},
		{"code that does not compile", faulty("no_such_thing();"), "c = torch.ops.aten.tan.default(x)\nreturn (c,)", "", "", replay.Failed, "built", 2},
		{"code that does not compile, until it is built", faulty("no_such_thing();"), "c = torch.ops.aten.tan.default(x)\nreturn (c,)", "", "built", replay.Failed, "built", 2},
		{"code that compiles, until it is built", faulty("throw 1;"), "c = torch.ops.aten.tan.default(x)\nreturn (c,)", "", "built", replay.Pass, "built", 2},
		{"code that only the assembler refuses", faulty(`asm("no_such_thing");`), "c = torch.ops.aten.tan.default(x)\nreturn (c,)", "", "", replay.Failed, "", 2},
		{"after dynamo, code that compiles, until it is built", faulty("throw 1;"), "c = x.tan()\nreturn (c,)", "inductor", "built", replay.Pass, "built", 2},
		{"running", faulty("throw 1;"), "c = torch.ops.aten.tan.default(x)\nreturn (c,)", "", "", replay.Failed, "", 3},
		{"Dynamo", fake, fakes, "inductor", "", replay.Failed, "backend", 2},
		{"Dynamo, until a backend", fake, "last = x.sin()\nreturn (last,)", "inductor", "backend", replay.Pass, "backend", 2},
		{"after dynamo", breaks(false, "cos"), "c = x.cos()\nreturn (c,)", "inductor", "", replay.Failed, "C++", 2},
		{"after dynamo, until C++", breaks(false, "cos"), "c = x.sin()\nreturn (c,)", "inductor", "C++", replay.Pass, "C++", 2},
		{"a backend", own, "c = x.sin()\nreturn (c,)", "own", "", replay.Failed, "C++", 2},
	} {
		q := aot(c.config, c.body)
		q.Until, q.Locate = c.until, c.until == ""
		if c.backend != "" {
			q.Stage, q.Backend = "dynamo", c.backend
		}
		o, err := e.Run(context.Background(), q)
		if diff := cmp.Diff(c.before, o.Before); err != nil || o.Status != c.status || diff != "" || len(o.Marks) != c.marks {
			t.Errorf("%s: %v %s %v %s %v %s\n%s", c.name, err, o.Status, o.Signature, o.Message, o.Marks, diff, o.Detail)
		}
	}
}

// Only a candidate that was to be stopped at a step may pass without what comes after it.
func TestAStopThatNobodyAskedFor(t *testing.T) {
	for _, c := range []struct {
		until, before string
		marks         int
		want          replay.Status
	}{
		{"C++", "C++", 2, replay.Pass},
		{"C++", "C++", 1, replay.Infrastructure},
		{"", "C++", 2, replay.Infrastructure},
		{"C++", "backend", 2, replay.Infrastructure},
		{"C++", "", 2, replay.Infrastructure},
		{"C++", "", 4, replay.Pass},
	} {
		r := reply{Status: replay.Pass, Before: c.before, Marks: engine.Marks[:c.marks]}
		if diff := cmp.Diff(c.want, r.outcome(c.until).Status); diff != "" {
			t.Errorf("%+v: %s", c, diff)
		}
	}
}

// A failure that comes before any C++ is minified without any, and with the same result where it may come later, too.
func TestAFailureThatMayComeLater(t *testing.T) {
	t.Parallel()
	client := real(t, Options{})
	body := "s = torch.ops.aten.sin.default(x)\na = torch.ops.aten.tan.default(s)\nr = torch.ops.aten.exp.default(a)\nc = torch.ops.aten.cos.default(r)\nm = torch.ops.aten.mul.Tensor(c, r)\nreturn (m,)"
	for _, c := range []struct {
		late bool
		want []string
	}{
		{false, []string{"aten.tan.default", "aten.cos.default"}},
		{true, []string{"aten.tan.default"}},
	} {
		r := search(t, client, aot(breaks(c.late, "cos", "tan"), body).Text)
		var got []string
		for _, n := range r.State.Module.Graph.Calls() {
			got = append(got, n.Target)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || !r.Complete {
			t.Errorf("late %v: %s\n%s", c.late, diff, r.State.Module)
		}
	}
}

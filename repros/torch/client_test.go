package torch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
	"whittle/repros/engine"
)

// torchCommand starts a Python with torch. Without $WHITTLE_TORCH, which .ci/run sets, there is none, and tests that need one are skipped.
func torchCommand(t testing.TB) []string {
	t.Helper()
	command := strings.Fields(os.Getenv("WHITTLE_TORCH"))
	if len(command) == 0 {
		t.Skip("$WHITTLE_TORCH names no Python with torch")
	}
	return command
}

// real starts the engine that $WHITTLE_TORCH names.
func real(t testing.TB, o Options) *Client {
	t.Helper()
	o.Command = torchCommand(t)
	begin := time.Now()
	e, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	t.Logf("started in %v: %+v", time.Since(begin), e.Facts())
	return e
}

// aot is an after-aot repro of one input of 8 numbers.
func aot(config, body string) Query {
	return Query{Stage: "aot", Query: engine.Query{Text: `import torch
from torch import tensor, device
` + config + `
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, x):
` + indent(body) + `
def load_args(reader):
    buf0 = reader.storage(None, 32)
    reader.tensor(buf0, (8,), is_leaf=True)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
`}}
}

func indent(body string) string { return "        " + strings.ReplaceAll(body, "\n", "\n        ") }

func TestOutcomes(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	relu := "relu = torch.ops.aten.relu.default(x)\nreturn (relu,)"
	bug := "torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "
	accuracy := aot(bug+"'accuracy'", relu)
	accuracy.Accuracy = "accuracy"
	for _, c := range []struct {
		name   string
		q      Query
		status replay.Status
		sig    replay.Signature // but for the frame
	}{
		{"pass", aot("", relu), replay.Pass, replay.Signature{}},
		{"compile error", aot(bug+"'compile_error'", relu), replay.Failed, replay.Signature{Stage: "compile", Type: "CppCompileError", Message: "C++ compile error: ‘compile’ is not declared"}},
		{"run error", aot(bug+"'runtime_error'", relu), replay.Failed, replay.Signature{Stage: "run", Type: "RuntimeError", Message: "unhandled error"}},
		{"accuracy", accuracy, replay.Failed, replay.Signature{Stage: "accuracy", Type: "AccuracyError", Message: "Bad accuracy detected"}},
		{"unknown setting", aot("torch._inductor.config.no_such_setting = 1", relu), replay.Pass, replay.Signature{}},
		{"eager fails", aot("", "mm = torch.ops.aten.mm.default(x, x)\nreturn (mm,)"), replay.Invalid, replay.Signature{}},
		{"no python", aot("this is no python", relu), replay.Invalid, replay.Signature{}},
		{"uninitialised results", func() Query {
			q := aot("", "empty = torch.ops.aten.empty_like.default(x)\nreturn (empty,)")
			q.Accuracy = "accuracy"
			return q
		}(), replay.Invalid, replay.Signature{}},
	} {
		o, err := e.Run(context.Background(), c.q)
		o.Signature.Frame = ""
		if diff := cmp.Diff(c.sig, o.Signature); err != nil || o.Status != c.status && !(c.name == "uninitialised results" && o.Status == replay.Pass) || diff != "" {
			t.Errorf("%s: %v %s %s %s\n%s", c.name, err, o.Status, o.Message, diff, o.Detail)
		}
		if c.status != replay.Failed {
			continue
		}
		q := c.q
		q.Fresh = true
		if q.Accuracy != "" {
			q.Text = strings.Replace(q.Text, "accuracy=False", "accuracy=True", 1)
		}
		o, err = e.Run(context.Background(), q)
		o.Signature.Frame = ""
		if diff := cmp.Diff(c.sig, o.Signature); err != nil || o.Status != c.status || diff != "" {
			t.Errorf("%s, fresh: %v %s %s %s\n%s", c.name, err, o.Status, o.Message, diff, o.Detail)
		}
	}
}

// Of a kernel that is fused from many calls, the one whose statement does not compile is the suspect; the others are its region.
func TestSuspectsInAFusedKernel(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	chain := "sin = torch.ops.aten.sin.default(x)\nmul = torch.ops.aten.mul.Tensor(sin, 2)\nrelu = torch.ops.aten.relu.default(mul)\nexp = torch.ops.aten.exp.default(relu)\nadd = torch.ops.aten.add.Tensor(exp, sin)\n"
	for _, c := range []struct{ name, body string }{
		{"pointwise", chain + "return (add,)"},
		{"before a reduction", chain + "sum_1 = torch.ops.aten.sum.default(add)\nreturn (sum_1, add)"},
		{"two kernels", chain + "mm = torch.ops.aten.mm.default(torch.ops.aten.view.default(x, [4, 2]), torch.ops.aten.view.default(x, [2, 4]))\ncos = torch.ops.aten.cos.default(mm)\nreturn (add, cos)"},
	} {
		q := aot("torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'compile_error'", c.body)
		o, err := e.Run(context.Background(), q)
		if diff := cmp.Diff([]string{"relu"}, o.Suspects); err != nil || o.Status != replay.Failed || diff != "" || !slices.Contains(o.Region, "relu") || len(o.Region) < 5 || slices.Contains(o.Region, "cos") {
			t.Errorf("%s: %v %s %v %s", c.name, err, o.Status, o.Region, diff)
		}
	}
}

// Of a kernel that is fused from many calls, the wrong one and what it is computed from nearby are the region, as their values show it when each is a
// result. What is right when each is a result, as uint8 whose bits above the eighth are cut off when they are stored, is found where each is computed
// from the few before it. What is right in all of these needs its whole kernel, and what that writes to inputs. Kernels that come later are no part of it.
func TestTheWrongCallOfAFusedKernel(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	op := func(name, op, args string) string {
		return name + " = torch.ops.aten." + op + "(" + args + ")\n"
	}
	chain := func(from string, n int) (text, last string) {
		last = from
		for i := range n {
			name := fmt.Sprintf("%s_%c", from, 'a'+i)
			text += op(name, "sin.default", last)
			last = name
		}
		return text, last
	}
	before, b := chain("x", 8)
	after, a := chain("relu", 8)
	narrow := op("p", "abs.default", b) + op("u", "mul.Tensor", "p, 100") + "c = torch.ops.prims.convert_element_type.default(u, torch.uint8)\n" +
		op("same", "abs.default", "c") + op("sub", "sub.Tensor", "same, 200") + "f = torch.ops.prims.convert_element_type.default(sub, torch.float32)\n"
	tail, last := chain("f", 8)
	for _, c := range []struct {
		name, body, in string
		most           int
	}{
		{"each a result", before + op("relu", "relu.default", b) + after + "return (" + a + ",)", "relu", 4},
		{"hidden", before + narrow + tail + "return (" + last + ",)", "sub", 6},
		{"before a product", before + op("relu", "relu.default", b) + after + op("v", "view.default", a+", [2, 4]") + op("w", "view.default", a+", [4, 2]") + op("f", "mm.default", "v, w") + tail +
			"return (" + last + ",)", "relu", 4},
		{"an input is written to", op("s", "slice.Tensor", "x, 0, 0, -1") + op("moved", "slice_scatter.default", "x, s, 0, 1, 9223372036854775807") + op("mean", "mean.dim", "moved, [0]") +
			op("f", "mul.Tensor", "mean, 1.5") + tail + op("copy_", "copy_.default", "x, moved") + "return (" + last + ",)", "copy_", 14},
	} {
		q := aot("torch._inductor.config.cpp.simdlen = 0\ntorch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'accuracy'", c.body)
		q.Accuracy, q.Locate = "accuracy", true
		o, err := e.Run(context.Background(), q)
		if err != nil || o.Status != replay.Failed || (!slices.Contains(o.Region, c.in) || len(o.Region) > c.most) {
			t.Errorf("%s: %v %s %v\n%s", c.name, err, o.Status, o.Region, o.Detail)
		}
	}
}

// Wrong results of a graph after dynamo are those of Inductor's code, or were there before it: PyTorch folds a uniform complex constant
// into a uniform real one. Where both are wrong, the first counts.
func TestWhereWrongResultsAreMade(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	folded := "z = torch.complex(x, x) + torch.ones(8, dtype=torch.complex64)\n"
	for _, c := range []struct{ name, body, want string }{
		{"folding", folded + "return (torch.view_as_real(z),)", "above the graph after aot"},
		{"code", "return (x.relu(),)", "below the graph after aot"},
		{"both", folded + "return (torch.view_as_real(z), x.relu())", "above the graph after aot"},
		{"neither", "return (x.sin(),)", ""},
	} {
		q := aot("torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'accuracy'", c.body)
		q.Stage, q.Backend, q.Accuracy = "dynamo", "inductor", "accuracy"
		o, err := e.Run(context.Background(), q)
		if diff := cmp.Diff(c.want, o.Signature.Frame); err != nil || diff != "" || (o.Status == replay.Failed) != (c.want != "") {
			t.Errorf("%s: %v %s %s %s\n%s", c.name, err, o.Status, o.Message, diff, o.Detail)
		}
	}
}

// evil is an after-dynamo repro whose backend does something while compiling, and gives a function that does something when run.
func evil(compiling, running string) Query {
	q := aot(`import os, signal, sys, time, ctypes
def bad_backend(gm, example_inputs):
`+indent("if True:\n    "+strings.ReplaceAll(compiling, "\n", "\n    "))+`
        pass
        def run(*args):
`+indent("    if True:\n        "+strings.ReplaceAll(running, "\n", "\n        "))+`
            return gm.forward(*args)
        return run
`, "relu = torch.relu(x)\nreturn (relu,)")
	q.Stage, q.Backend = "dynamo", "bad_backend"
	return q
}

// A failure is where its code is: in a backend of the user's own, and not in what torch wraps around it, unless torch's own code fails under it.
func TestCulprit(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	for _, c := range []struct{ name, compiling, running, want string }{
		{"compiling", "raise AssertionError('no')", "pass", "bad_backend in repro.py"},
		{"a function of it", "def inner(): raise AssertionError('no')\ninner()", "pass", "bad_backend.<locals>.inner in repro.py"},
		{"running", "pass", "raise ValueError('no')", "bad_backend.<locals>.run in repro.py"},
		{"torch under it", "import torch._dynamo.backends.registry as r\nr.lookup_backend('none of that name')", "pass", "lookup_backend in torch/_dynamo/backends/registry.py"},
	} {
		q := evil(c.compiling, c.running)
		begin, _, _ := strings.Cut(q.Text, "    from torch._dynamo.repro.after_aot")
		q.Text = begin + `    import torch._dynamo
    torch._dynamo.register_backend(bad_backend)
    from torch._dynamo.repro.after_dynamo import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, autocast=False, backend='bad_backend')
`
		for _, q.Fresh = range []bool{false, true} {
			o, err := e.Run(context.Background(), q)
			if diff := cmp.Diff(c.want, o.Signature.Frame); err != nil || o.Status != replay.Failed || diff != "" {
				t.Errorf("%s, fresh %v: %v %s %s %s", c.name, q.Fresh, err, o.Status, o.Message, diff)
			}
		}
	}
}

func TestWhateverAChildDoes(t *testing.T) {
	t.Parallel()
	tag := "WHITTLE_TEST=" + strconv.Itoa(os.Getpid())
	e := real(t, Options{Limits: Limits{Limits: engine.Limits{Memory: 1 << 30}, Compile: 10 * time.Second}, Env: []string{tag}})
	tmp := present(t, e).hello.Tmp
	spare := "pass"
	forks := "for _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(1000)"
	for _, c := range []struct {
		name               string
		compiling, running string
		status             replay.Status
		stage, typ         string
	}{
		{"passes", spare, spare, replay.Pass, "", ""},
		{"raises", "raise AssertionError('no')", spare, replay.Failed, "compile", "AssertionError"},
		{"raises at run", spare, "raise ValueError('no')", replay.Failed, "run", "ValueError"},
		{"segfaults", "ctypes.string_at(0)", spare, replay.Killed, "compile", "SIGSEGV"},
		{"segfaults at run", spare, "ctypes.string_at(0)", replay.Killed, "run", "SIGSEGV"},
		{"aborts", "os.abort()", spare, replay.Killed, "compile", "SIGABRT"},
		{"is killed", spare, "os.kill(os.getpid(), signal.SIGKILL)", replay.Killed, "run", "SIGKILL"},
		{"exits", "os._exit(7)", spare, replay.Killed, "compile", "exit 7"},
		{"exits like a good one", "os._exit(0)", spare, replay.Killed, "compile", "exit 0"},
		{"hangs", "time.sleep(1000)", spare, replay.Timeout, "compile", "timeout"},
		{"hangs at run", spare, "time.sleep(1000)", replay.Timeout, "run", "timeout"},
		{"spins", "while True: pass", spare, replay.Timeout, "compile", "timeout"},
		{"takes all memory", "hog = []\nwhile True: hog.append(bytearray(64 << 20))", spare, replay.OOM, "compile", "oom"},
		{"takes memory longer than a hang may last", spare, "hog = []\nwhile True: hog.append(bytearray(64 << 20)); time.sleep(0.2)", replay.OOM, "run", "oom"},
		{"prints", "print('x' * 100000); sys.stdout.flush(); os.write(1, b'\\0\\0\\0\\1{')", spare, replay.Pass, "", ""},
		{"closes its pipes", "os.closerange(3, 100); time.sleep(1000)", spare, replay.Infrastructure, "", ""},
		{"writes rubbish to all pipes", "for fd in range(3, 100):\n    try: os.write(fd, b'rubbish!' * 100)\n    except OSError: pass\ntime.sleep(1000)", spare, replay.Infrastructure, "", ""},
		{"forks further", forks, spare, replay.Pass, "", ""},
		{"forks further and dies", forks + "\nos.abort()", spare, replay.Killed, "compile", "SIGABRT"},
		{"still passes", spare, spare, replay.Pass, "", ""},
	} {
		o, err := e.Run(context.Background(), evil(c.compiling, c.running))
		if err != nil || o.Status != c.status || o.Signature.Stage != c.stage || o.Signature.Type != c.typ {
			t.Errorf("%s: %v %s %+v %s\n%s", c.name, err, o.Status, o.Signature, o.Message, o.Detail)
		}
	}
	if e.Started() != 1 {
		t.Errorf("%d Pythons were started", e.Started())
	}
	e.Close()
	var left []string
	for range 100 {
		if left = leftovers(t, tag, tmp); len(left) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// leftovers are the processes with tag in their environment, and the folder tmp of an engine.
func leftovers(t *testing.T, tag, tmp string) []string {
	var out []string
	if c := strings.Fields(os.Getenv("WHITTLE_TORCH")); len(c) > 1 && filepath.Base(c[0]) == "chroot" {
		tmp = filepath.Join(c[1], tmp)
	}
	if _, err := os.Stat(tmp); err == nil {
		out = append(out, tmp)
	}
	procs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range procs {
		if b, err := os.ReadFile(p); err == nil && strings.Contains(string(b), tag) {
			out = append(out, p)
		}
	}
	return out
}

func TestADeadParentIsReplaced(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	ctx := context.Background()
	data := make([]byte, 32)
	e.Put("somehash", func() ([]byte, error) { return data, nil })
	q := aot("", "relu = torch.ops.aten.relu.default(x)\nreturn (relu,)")
	q.Text = strings.Replace(q.Text, "reader.storage(None, 32)", "reader.storage('somehash', 32)", 1)
	q.Storages = []string{"somehash"}
	for range 3 {
		p := present(t, e)
		if err := syscall.Kill(p.line.(*python).group.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if o, err := e.Run(ctx, q); err != nil || o.Status != replay.Pass {
			t.Errorf("%v %s %s", err, o.Status, o.Message)
		}
	}
	if e.Started() != 4 {
		t.Errorf("%d Pythons were started", e.Started())
	}
}

// Importing torch takes long, and reads nothing: a Python whose whittle is killed meanwhile does not finish it first.
func TestNobodyWaitsForTheStart(t *testing.T) {
	t.Parallel()
	python := argv(torchCommand(t))
	body, err := greeting(known{})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python[0], python[1:]...)
	cmd.Stdin = bytes.NewReader(body) // and its end
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, os.Stderr
	if err := cmd.Run(); err != nil || said.Len() != 0 {
		t.Errorf("it ended with %v, and said %q", err, said.String())
	}
}

func TestNoTorchIsAnError(t *testing.T) {
	for command, want := range map[string]string{
		"/no/such/python":     "no such file",
		"false":               "false does not start a Python with torch",
		"sh -c exit":          "does not start a Python with torch",
		"echo a line of text": "does not start a Python with torch",
	} {
		if _, err := Start(context.Background(), Options{Command: strings.Fields(command)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// A backend may edit the graph that it gets, and write to its parameters: eager is the graph as it was.
func TestABackendThatEditsItsGraph(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	q := aot(`def edits(gm, example_inputs):
    for n in list(gm.graph.nodes):
        if n.op == "call_function" and "relu" in str(n.target):
            n.replace_all_uses_with(n.args[0])
    for p in list(gm.parameters()) + list(gm.buffers()):
        p.data.add_(1)
    gm.recompile()
    return gm.forward
`, "y = torch.relu(x - 1) * self.w\nreturn (y,)")
	q.Text = strings.Replace(q.Text, "super().__init__()\n", "super().__init__()\n        self.register_buffer('w', torch.full((8,), 2.0))\n", 1)
	q.Stage, q.Backend, q.Accuracy = "dynamo", "edits", "accuracy"
	o, err := e.Run(context.Background(), q)
	if err != nil || o.Status != replay.Failed || o.Signature.Type != "AccuracyError" {
		t.Errorf("%v %s %s\n%s", err, o.Status, o.Message, o.Detail)
	}
}

// The far side keeps storages within its bound, and is handed those again that it let go of: bytes that were put, and what was explored.
func TestHeldStoragesAreBounded(t *testing.T) {
	t.Parallel()
	const size = 100 << 10
	e := real(t, Options{Held: 10 * size})
	ctx := context.Background()
	tmp := present(t, e).hello.Tmp
	if c := strings.Fields(os.Getenv("WHITTLE_TORCH")); len(c) > 1 && filepath.Base(c[0]) == "chroot" {
		tmp = filepath.Join(c[1], tmp)
	}
	reads := func(hash string) Query {
		q := aot("", "relu = torch.ops.aten.relu.default(x)\nreturn (relu,)")
		q.Text = strings.NewReplacer("reader.storage(None, 32)", "reader.storage('"+hash+"', "+strconv.Itoa(size)+")", "(8,)", "("+strconv.Itoa(size/4)+",)").Replace(q.Text)
		q.Storages = []string{hash}
		return q
	}
	loads := map[string]int{}
	x := reads("put0")
	for i := range 20 {
		hash := "put" + strconv.Itoa(i)
		e.Put(hash, func() ([]byte, error) { loads[hash]++; return append(make([]byte, size-1), byte(i)), nil })
	}
	values, err := e.Explore(ctx, x, []string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	explored := View{Storage: values["relu"].Storage, DType: "float32", Shape: []int64{2}, Stride: []int64{1}}
	for i := range 20 {
		if o, err := e.Run(ctx, reads("put"+strconv.Itoa(i))); err != nil || o.Status != replay.Pass {
			t.Fatalf("%v %s %s", err, o.Status, o.Message)
		}
		held, err := filepath.Glob(filepath.Join(tmp, "storages", "*"))
		if err != nil || len(held) > 10 || len(held) == 0 {
			t.Errorf("%v, %d storages are held", err, len(held))
		}
	}
	if got, err := e.Elements(ctx, explored); err != nil || strings.Join(got, " ") != "0.0 0.0" {
		t.Errorf("%v %v", got, err)
	}
	if o, err := e.Run(ctx, reads("put0")); err != nil || o.Status != replay.Pass || loads["put0"] < 2 || loads["put19"] != 1 {
		t.Errorf("%v %s %s, loaded %v", err, o.Status, o.Message, loads)
	}
	if e.Started() != 1 {
		t.Errorf("%d Pythons were started", e.Started())
	}
}

// What is compiled while a graph runs, as a second graph after a break, takes none of the run's time.
func TestCompilingWhileItRuns(t *testing.T) {
	t.Parallel()
	e := real(t, Options{Limits: Limits{RunFloor: time.Second}})
	q := Query{Stage: "dynamo", Query: engine.Query{Backend: "slow", Text: `import time
import torch
import torch._dynamo
calls = []
def slow(gm, inputs):
    calls.append(gm)
    if len(calls) > 1:
        time.sleep(3)
    return gm.forward
class Repro(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        torch._dynamo.graph_break()
        return (y * 2,)
def load_args(reader):
    buf0 = reader.storage(None, 32)
    reader.tensor(buf0, (8,), is_leaf=True)
load_args._version = 0
mod = Repro()
`}}
	for _, c := range []struct {
		text   string
		status replay.Status
	}{
		{q.Text, replay.Pass},
		{strings.Replace(q.Text, "return gm.forward", "return lambda *args: time.sleep(30)", 1), replay.Timeout},
	} {
		q.Text = c.text
		if o, err := e.Run(context.Background(), q); err != nil || o.Status != c.status {
			t.Errorf("%v %s %s\n%s", err, o.Status, o.Message, o.Detail)
		}
	}
}

// A question says what its time went to, in a process that was there and in a fresh one; also one that is ended.
func TestSpent(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	relu := "relu = torch.ops.aten.relu.default(x)\nreturn (relu,)"
	fresh := aot("", "cos = torch.ops.aten.cos.default(x)\nreturn (cos,)") // whose kernel is not there yet
	fresh.Fresh = true
	for _, c := range []struct {
		name string
		q    Query
		want []string
	}{
		{"passes", aot("", relu), []string{engine.OnPython, engine.OnEager, engine.OnLowering, engine.OnCompiler, engine.OnRun}},
		{"fresh", fresh, []string{engine.OnPython, engine.OnLowering, engine.OnCompiler}},
		{"aborts", aot("import os, time\ndef aborts(*a, **k):\n    time.sleep(0.1)\n    os.abort()\ntorch._inductor.compile_fx.compile_fx_inner = aborts", relu), []string{engine.OnPython, engine.OnEager, engine.OnLowering}},
	} {
		clock := engine.NewClock(time.Now)
		if _, err := e.Run(engine.WithClock(context.Background(), clock), c.q); err != nil {
			t.Fatal(err)
		}
		spent, elapsed := clock.Spent()
		var all time.Duration
		for _, d := range spent {
			all += d
		}
		var got []string
		for _, k := range engine.Kinds {
			if k != engine.OnIdle && k != engine.OnStart && spent[k] > 0 {
				got = append(got, k)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || all != elapsed {
			t.Errorf("%s: %v of %v: %s", c.name, spent, elapsed, diff)
		}
	}
}

// Each fresh process of a long life is as fresh as the first: it has compiled nothing, though the far side has, and it is forked, not started anew, which
// would have it import torch again.
func TestEveryProofIsFresh(t *testing.T) {
	t.Parallel()
	e := real(t, Options{})
	if o, err := e.Run(context.Background(), aot("", "relu = torch.ops.aten.relu.default(x)\nreturn (relu,)")); err != nil || o.Status != replay.Pass { // warms the far side
		t.Fatal(err, o)
	}
	proof := func(want string) {
		t.Helper()
		if o, err := e.Run(context.Background(), Query{Stage: "aot", Query: engine.Query{Fresh: true, Text: freshness}}); err != nil || o.Message != want {
			t.Fatalf("%v %s, want %s\n%s", err, o.Message, want, o.Detail)
		}
	}
	for range 50 {
		proof("AssertionError: (False, 0, '-u', False)")
	}
	// Without its nursery the far side starts a new Python.
	pid := present(t, e).hello.PID
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(string(children)) {
		child, _ := strconv.Atoi(f)
		if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	proof("AssertionError: (False, 0, 'whittle_far-start.py', False)")
}

// freshness is a script that says what was done before in its process: compiled, generated code loaded, how it was started, and a script run.
const freshness = `import os, sys, torch
from torch._dynamo.utils import compilation_time_metrics
from torch._inductor.codecache import PyCodeCache
seen = "compile_fx_inner" in compilation_time_metrics, len(PyCodeCache.cache if hasattr(PyCodeCache, "cache") else PyCodeCache.modules), os.path.basename(sys.orig_argv[1]), "mine" in sys.modules
sys.modules["mine"] = sys
raise AssertionError(repr(seen))
`

// What a question is said to have used of its CPU time is its own: not that of those before it.
func TestCPUTimeIsOfEachQuestion(t *testing.T) {
	t.Parallel()
	e := real(t, Options{Limits: Limits{Limits: engine.Limits{CPU: 8 * time.Second}}})
	for range 3 {
		if o, err := e.Run(context.Background(), aot("import time\nt = time.process_time()\nwhile time.process_time() - t < 3: pass", "return (x + 1,)")); err != nil || o.Status != replay.Pass {
			t.Fatal(err, o)
		}
	}
	killed := aot("import os, time\ndef dies(*a, **k):\n    time.sleep(2.5)\n    os.kill(os.getpid(), 9)\ntorch._inductor.compile_fx.compile_fx_inner = dies", "return (x,)")
	if o, err := e.Run(context.Background(), killed); err != nil || o.Status != replay.Killed || o.Signature.Type != "SIGKILL" {
		t.Errorf("%v %s %s %s", err, o.Status, o.Signature, o.Message)
	}
}

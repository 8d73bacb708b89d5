package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/conc"

	"whittle/repros"
)

// program runs a shell script as the user's program, in a folder of its own. It sees the private folder as $H.
func program(t *testing.T, script string, change func(*Options)) (Result, string) {
	t.Helper()
	tmp := t.TempDir()
	var printed bytes.Buffer
	out := filepath.Join(t.TempDir(), "out")
	o := Options{Args: []string{"sh", "-c", `H=$(dirname "${PYTHONPATH%%:*}"); ` + script, "sh", "one", "two words"}, Dir: tmp, Out: func(Found) string { return out }, Stdin: strings.NewReader("typed"), Stdout: &printed, Stderr: &printed}
	if change != nil {
		change(&o)
	}
	res, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return res, printed.String()
}

func TestProgramIsUntouched(t *testing.T) {
	for _, c := range []struct {
		script, out string
		status      int
	}{
		{`cat; echo " $1 $2"; exit 0`, "typed one two words\n", 0},
		{`echo out; echo err >&2; exit 7`, "out\nerr\n", 7},
		{`kill -SEGV $$`, "", 128 + 11},
		{`sh -c 'kill -KILL $$'; exit $?`, "", 128 + 9},
		{`exit 255`, "", 255},
	} {
		res, out := program(t, c.script, nil)
		if strings.Contains(c.script, "KILL") {
			out = "" // what the shell says about it is its own
		}
		if res.Status != c.status || out != c.out || len(res.Found) > 0 || res.Heard {
			t.Errorf("%s: %+v %q", c.script, res, out)
		}
	}
	res, out := program(t, `echo "$PYTHONPATH|$TORCHDYNAMO_REPRO_AFTER|$TORCH_COMPILE_DEBUG_DIR"`, func(o *Options) {
		o.Env = []string{"PYTHONPATH=/mine", "TORCHDYNAMO_REPRO_AFTER=dynamo", "PATH=" + os.Getenv("PATH")}
	})
	if res.Status != 0 || !strings.HasSuffix(out, "/hook:/mine|dynamo|\n") {
		t.Errorf("%q", out)
	}
	_, err := Run(context.Background(), Options{Args: []string{"./no such program"}, Dir: t.TempDir()})
	var start *StartError
	if !errors.As(err, &start) || start.Status != 127 {
		t.Errorf("%v", err)
	}
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), Options{Args: []string{file}, Dir: t.TempDir()}); !errors.As(err, &start) || start.Status != 126 {
		t.Errorf("%v", err)
	}
}

func TestSignalsReachTheProgram(t *testing.T) {
	tmp := t.TempDir()
	ready := filepath.Join(tmp, "ready")
	var out bytes.Buffer
	var wg conc.WaitGroup
	var res Result
	var err error
	wg.Go(func() {
		res, err = Run(context.Background(), Options{Args: []string{"sh", "-c", `trap 'echo got it; exit 3' USR1; touch ` + ready + `; while :; do sleep 0.05; done`}, Dir: tmp, Stdout: &out})
	})
	for range 200 {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if err != nil || res.Status != 3 || out.String() != "got it\n" {
		t.Errorf("%v %+v %q", err, res, out.String())
	}
}

const smallRepro = `import torch
class Repro(torch.nn.Module):
    def forward(self, x):
        relu = torch.ops.aten.relu.default(x);  x = None
        return (relu,)
def load_args(reader):
    buf0 = reader.storage('0a', 24)
    reader.tensor(buf0, (2, 3), is_leaf=True)  # x
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir='checkpoints', tracing_mode='real', check_str=None)
`

// leave is shell text that leaves a record, as the recorder would.
func leave(t *testing.T, id string, info map[string]any) string {
	t.Helper()
	info["id"], info["torch"], info["version"] = id, "2.6.0", "3.13.5"
	b, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	text := smallRepro
	if info["stage"] == "dynamo" {
		text = strings.NewReplacer("torch.ops.aten.relu.default(x)", "torch.relu(x)", "after_aot", "after_dynamo", "    with torch.no_grad():\n    ", "", "tracing_mode='real', check_str=None", "autocast=False, backend='bad'").Replace(text)
	}
	return "mkdir -p $H/records/" + id + "/checkpoints/storages; touch $H/records/" + id + "/checkpoints/storages/0a; cat >$H/records/" + id + "/repro.py <<'END'\n" + text + "END\ncat >$H/records/" + id + "/record.json <<'END'\n" + string(b) + "\nEND\n"
}

func TestFound(t *testing.T) {
	exc := func(typ, msg string) map[string]any {
		return map[string]any{"Type": typ, "Module": "builtins", "Message": msg, "Traceback": "..."}
	}
	aot := func(state string, at int) map[string]any {
		return map[string]any{"stage": "aot", "state": state, "time": at, "compiler": "inductor"}
	}
	failed := func(m map[string]any, typ, msg string) map[string]any {
		m["state"], m["exception"] = "failed", exc(typ, msg)
		return m
	}
	with := func(m map[string]any, k string, v any) map[string]any { m[k] = v; return m }
	custom := map[string]any{"name": "bad", "module": "__main__", "function": "bad", "file": "train.py", "line": 3, "source": "import sys\nLIMIT = 2\ndef bad(gm, ins):\n    assert len(ins) < LIMIT\n    return gm\nprint(LIMIT)\n"}
	for name, c := range map[string]struct {
		script string
		after  string
		want   []string // titles
	}{
		"nothing":              {"exit 1", "", nil},
		"coped with":           {leave(t, "1-1", failed(aot("", 1), "ValueError", "a")), "", nil},
		"wrong results":        {leave(t, "1-1", with(aot("failed", 1), "accuracy", true)), "", []string{"the compiled graph's results differ from eager's (after aot)"}},
		"exception":            {leave(t, "1-1", failed(aot("", 1), "ValueError", "a\nb")) + "exit 1", "", []string{"ValueError: a (after aot)"}},
		"the last exception":   {leave(t, "1-1", failed(aot("", 1), "ValueError", "a")) + leave(t, "1-2", failed(aot("", 2), "ValueError", "b")) + "exit 1", "", []string{"ValueError: b (after aot)", "ValueError: a (after aot)"}},
		"the one that ended":   {leave(t, "1-1", failed(aot("", 1), "ValueError", "a")) + leave(t, "1-2", failed(aot("", 2), "ValueError", "b")) + `echo '{"record": "1-1"}' >$H/uncaught-1; exit 1`, "", []string{"ValueError: a (after aot)", "ValueError: b (after aot)"}},
		"another exception":    {leave(t, "1-1", with(failed(aot("", 1), "ValueError", "a"), "pid", 1)) + `echo '{"record": null}' >$H/uncaught-1; exit 1`, "", nil},
		"idle":                 {leave(t, "1-1", aot("idle", 1)) + "kill -SEGV $$", "", nil},
		"no storage":           {leave(t, "1-1", with(aot("run", 1), "stage", "dynamo")) + leave(t, "1-2", with(aot("run", 2), "unstored", true)) + "kill -SEGV $$", "", []string{"SIGSEGV while the graph was to run (after dynamo, backend inductor)", "SIGSEGV while the graph was to run (after aot)"}},
		"writes to inputs":     {leave(t, "1-1", with(with(aot("failed", 1), "accuracy", true), "writes", true)) + leave(t, "1-2", with(with(with(aot("failed", 2), "accuracy", true), "inner", "1-1"), "stage", "dynamo")), "", []string{"the compiled graph's results differ from eager's (after dynamo, backend inductor)", "the compiled graph's results differ from eager's (after aot)"}},
		"made inside":          {leave(t, "1-1", with(aot("failed", 1), "accuracy", true)) + leave(t, "1-2", with(with(with(aot("failed", 2), "accuracy", true), "inner", "1-1"), "stage", "dynamo")), "", []string{"the compiled graph's results differ from eager's (after aot)", "the compiled graph's results differ from eager's (after dynamo, backend inductor)"}},
		"made above":           {leave(t, "1-1", with(aot("failed", 1), "accuracy", true)) + leave(t, "1-2", with(with(with(with(aot("failed", 2), "accuracy", true), "inner", "1-1"), "above", true), "stage", "dynamo")), "", []string{"the compiled graph's results differ from eager's (after dynamo, backend inductor)", "the compiled graph's results differ from eager's (after aot)"}},
		"segfault":             {leave(t, "1-1", with(aot("compile", 1), "stage", "dynamo")) + leave(t, "1-2", aot("run", 2)) + "kill -SEGV $$", "", []string{"SIGSEGV while the graph was to run (after aot)", "SIGSEGV while the graph was to compile (after dynamo, backend inductor)"}},
		"after dynamo, wanted": {leave(t, "1-1", with(aot("compile", 1), "stage", "dynamo")) + leave(t, "1-2", aot("run", 2)) + "kill -SEGV $$", "dynamo", []string{"SIGSEGV while the graph was to compile (after dynamo, backend inductor)", "SIGSEGV while the graph was to run (after aot)"}},
		"out of memory":        {leave(t, "1-1", aot("compile", 1)) + "exit 137", "", []string{"SIGKILL while the graph was to compile (after aot)"}},
		"exit in a graph":      {leave(t, "1-1", aot("run", 1)) + "exit 3", "", []string{"the program ended while the graph was to run (after aot)"}},
		"hang":                 {leave(t, "1-1", with(aot("compile", 1), "stage", "dynamo")) + leave(t, "1-2", aot("run", 2)) + "exec sleep 60", "", []string{"a hang while the graph was to run (after aot)", "a hang while the graph was to compile (after dynamo, backend inductor)"}},
		"own backend": {leave(t, "1-1", with(with(failed(with(aot("", 1), "stage", "dynamo"), "AssertionError", "x"), "compiler", "bad"), "backend", custom)) + "exit 1", "",
			[]string{"AssertionError: x (after dynamo, backend bad)"}},
	} {
		t.Run(name, func(t *testing.T) {
			res, _ := program(t, c.script, func(o *Options) {
				o.After = c.after
				if name == "hang" {
					o.Hang = 300 * time.Millisecond
				}
			})
			var got []string
			for i, f := range res.Found {
				got = append(got, f.Title())
				if f.Problem != "" || f.Repro == nil {
					t.Fatalf("%s", f.Problem)
				}
				text, err := os.ReadFile(f.Path)
				if err != nil {
					t.Fatal(err)
				}
				r, err := repros.Read(f.Path, string(text))
				if err != nil {
					t.Fatal(err)
				}
				if r.Head[0] != "# "+f.Title() || r.Head[1] != "# torch 2.6.0, Python 3.13.5" {
					t.Errorf("%q", r.Head)
				}
				if _, err := os.Stat(filepath.Join(filepath.Dir(f.Path), r.SaveDir, "storages", "0a")); err != nil || r.SaveDir == "" {
					t.Error(err)
				}
				want := ""
				if name == "own backend" {
					want = "LIMIT = 2\ndef bad(gm, ins):\n    assert len(ins) < LIMIT\n    return gm\nimport torch._dynamo\ntorch._dynamo.register_backend(compiler_fn=bad, name='bad')"
				}
				if r.Preamble != want {
					t.Errorf("%d: %q", i, r.Preamble)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if name == "hang" && res.Status != 128+15 {
				t.Errorf("status %d", res.Status)
			}
		})
	}
}

func TestPreamble(t *testing.T) {
	for _, c := range []struct {
		b    backend
		want string
		note string
	}{
		{backend{Name: "inductor", Known: true}, "", ""},
		{backend{Name: "b", Module: "pkg.mod", Function: "b", Installed: true}, "from pkg.mod import b\nimport torch._dynamo\ntorch._dynamo.register_backend(compiler_fn=b, name='b')", ""},
		{backend{Name: "mine", Function: "b", Source: "from torch._dynamo import register_backend\n@register_backend(name='mine')\ndef b(gm, x):\n    return gm\n"}, "from torch._dynamo import register_backend\n@register_backend(name='mine')\ndef b(gm, x):\n    return gm", ""},
		{backend{Name: "b", Function: "main.<locals>.b", File: "t.py", Line: 7}, "", "backend b is main.<locals>.b of t.py, line 7, which has no name at the top of a file"},
		{backend{Name: "b", Function: "b", File: "t.py"}, "", "the source of backend b (t.py) could not be read"},
		{backend{Name: "b", Function: "b", File: "t.py", Source: "x = 1\n"}, "", "backend b cannot be cut out of its file: t.py does not define b"},
	} {
		got, notes := preamble(&c.b)
		if got != c.want || c.note == "" != (len(notes) == 0) || c.note != "" && !strings.HasPrefix(notes[0], c.note) {
			t.Errorf("%+v: %q %q", c.b, got, notes)
		}
	}
}

func TestPythonCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		ran  string
		want []string
	}{
		{[]string{"python3", "x.py"}, "/usr/bin/python3", []string{"python3"}},
		{[]string{"chroot", "/r", "/usr/bin/python3.13", "-u", "x.py"}, "", []string{"chroot", "/r", "/usr/bin/python3.13"}},
		{[]string{"chroot", "--userspec=me", "/r", "train"}, "/usr/bin/python3", []string{"chroot", "/r", "/usr/bin/python3"}},
		{[]string{"torchrun", "x.py"}, "/opt/bin/python", []string{"/opt/bin/python"}},
		{[]string{"make"}, "", nil},
	} {
		if d := cmp.Diff(c.want, python(c.args, c.ran)); d != "" {
			t.Errorf("%v: %s", c.args, d)
		}
	}
}

// A Python without torch is left as it is: the user's own sitecustomize runs, the path has no folder of ours, and the settings
// for PyTorch's own dumps are gone.
func TestSitecustomize(t *testing.T) {
	py, err := osexec.LookPath("python3")
	if err != nil {
		t.Skip("what is tested is a Python program, and there is no python3")
	}
	home := t.TempDir()
	for name, text := range map[string]string{
		"own/sitecustomize.py": "import builtins\nbuiltins.chained = __file__\n",
		"x.py":                 "import os, sys\nimport sitecustomize\nprint(getattr(__builtins__, 'chained', None), sitecustomize.__file__, [p for p in sys.path if 'whittle' in p], [k for k in os.environ if 'REPRO' in k or k.startswith('WHITTLE')])\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(home, "own", "sitecustomize.py")
	res, out := program(t, `exec "`+py+`" "`+home+`/x.py"`, func(o *Options) {
		o.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
			return strings.HasPrefix(kv, "PYTHONPATH=") || strings.HasPrefix(kv, "WHITTLE") || strings.HasPrefix(kv, "TORCHDYNAMO")
		})
		o.Env = append(o.Env, "PYTHONPATH="+filepath.Join(home, "own"))
	})
	if want := own + " " + own + " [] []\n"; out != want || !res.Heard || res.Trouble != nil {
		t.Errorf("%+v\n%swant\n%s", res, out, want)
	}
}

package torch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/conc"

	"whittle/replay"
	"whittle/repros/engine"
)

// guests lets one client after another visit a host.
type guests struct {
	t    *testing.T
	h    *Host
	wg   conc.WaitGroup
	turn sync.Mutex
	conn net.Conn // the last visitor's end
	err  error    // of the last turn
}

func hosted(t *testing.T, o Options) *guests {
	t.Helper()
	h, err := StartHost(t.Context(), o, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &guests{t: t, h: h}
	t.Cleanup(func() { g.wg.Wait(); h.Close() })
	return g
}

// wait is until nobody visits any more.
func (g *guests) wait() {
	g.turn.Lock()
	defer g.turn.Unlock()
}

// visit gives a client of the host, which may have to be waited for.
func (g *guests) visit(o Options) *Client {
	g.t.Helper()
	g.wait()
	o.Kept = func(ctx context.Context) net.Conn {
		ours, theirs := net.Pipe()
		g.conn = ours
		g.turn.Lock()
		g.wg.Go(func() {
			defer g.turn.Unlock()
			if g.err = g.h.Serve(context.WithoutCancel(ctx), theirs, "/"); g.err == nil {
				g.err = g.h.Reset(context.WithoutCancel(ctx))
			}
		})
		return ours
	}
	c, err := Start(context.Background(), o)
	if err != nil {
		g.t.Fatal(err)
	}
	return c
}

// One client after another asks one Python, each as if it were the first; also where one breaks off in the middle of what it asks or says.
func TestVisitors(t *testing.T) {
	o := far(t, farSpec{Home: t.TempDir()})
	g := hosted(t, o)
	for i := range 8 {
		c := g.visit(o)
		if !c.Kept() || c.Started() != 0 {
			t.Fatalf("visitor %d has started a Python", i)
		}
		data := []byte("mine")
		loads := 0
		c.Put(hashOf(data), func() ([]byte, error) { loads++; return data, nil })
		for range 3 {
			text := fmt.Sprint("of ", i)
			got, err := c.Run(t.Context(), Query{Query: engine.Query{Text: text}, Storages: []string{hashOf(data)}})
			if want := ranOn(text, []string{hashOf(data)}, map[string][]byte{hashOf(data): data}); err != nil || got.Message != want {
				t.Fatalf("visitor %d: %v %+v, want %s", i, err, got, want)
			}
		}
		if loads != 1 {
			t.Errorf("visitor %d had to hand its storage over %d times", i, loads)
		}
		switch i % 4 {
		case 1: // it is gone while it asks
			var wg conc.WaitGroup
			for range 4 {
				wg.Go(func() { _, _ = c.Run(t.Context(), Query{Query: engine.Query{Text: "left behind"}}) })
			}
			time.Sleep(time.Duration(i) * time.Millisecond) // each leaves a little later than the one before: at another step of its questions
			g.conn.Close()
			wg.Wait()
		case 2: // it is gone in the middle of a message
			_, _ = g.conn.Write([]byte{0, 0, 1, 0, '{'})
			g.conn.Close()
		}
		c.Close()
	}
}

// Who cannot visit starts a Python of its own, as does one whose host dies meanwhile.
func TestNoVisit(t *testing.T) {
	o := far(t, farSpec{Home: t.TempDir()})
	refuses := far(t, farSpec{Home: t.TempDir(), Refuses: "another torch was installed"})
	g := hosted(t, refuses)
	asks := func(c *Client) {
		t.Helper()
		got, err := c.Run(t.Context(), Query{Query: engine.Query{Text: "asked"}})
		if want := ranOn("asked", nil, nil); err != nil || got.Message != want || c.Started() != 1 {
			t.Errorf("%v %+v, want %s; %d started", err, got, want, c.Started())
		}
	}
	c := g.visit(o)
	defer c.Close()
	asks(c)
	g.wg.Wait()
	if !errors.Is(g.err, ErrRefused) {
		t.Error(g.err)
	}
	g = hosted(t, o)
	c = g.visit(o)
	defer c.Close()
	if err := syscall.Kill(g.h.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	asks(c)
	g.wg.Wait()
	<-g.h.Gone()
	if g.err == nil {
		t.Error("the dead one can be visited again")
	}
}

// A host whose command starts no Python says so, and leaves nothing behind.
func TestNoHost(t *testing.T) {
	o := far(t, farSpec{Home: t.TempDir(), Bad: 1, Step: "boot", Fault: "refuses"})
	if h, err := StartHost(t.Context(), o, ""); err == nil || !strings.Contains(err.Error(), "there is no torch here") {
		t.Error(h, err)
	}
}

// leaves is a script that leaves what it can behind, and tells of what it found.
const leaves = `import os, sys, torch
cache = os.environ["TORCHINDUCTOR_CACHE_DIR"]
top = os.path.dirname(cache)
found = "left" in os.listdir(top), os.path.exists(os.path.join(cache, "left")), sorted(os.listdir(os.path.join(top, "storages")))
os.makedirs(cache, exist_ok=True)
for path in (os.path.join(top, "left"), os.path.join(cache, "left"), os.path.join(top, "storages", "left")):
    open(path, "w").close()
if not os.fork():
    os.setsid()
    os.execvp("sleep", ["sleep", "7123"])
raise AssertionError(repr(found))
`

// A real Python that is kept: a search that comes later sees nothing of one before, has the same outcomes, and its proofs are fresh.
func TestAKeptPython(t *testing.T) {
	t.Parallel()
	o := Options{Command: torchCommand(t)}
	g := hosted(t, o)
	bug := aot("torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'compile_error'", "relu = torch.ops.aten.relu.default(x)\nreturn (relu,)")
	proof := bug
	proof.Fresh = true
	hangs := aot("import time\ntime.sleep(1000)", "return (x,)")
	var prints []string
	for i := range 3 {
		c := g.visit(o)
		if !c.Kept() {
			t.Fatal("it was not visited")
		}
		prints = append(prints, c.Fingerprint())
		for _, q := range []Query{bug, proof, {Stage: "aot", Query: engine.Query{Fresh: true, Text: freshness}}, {Stage: "aot", Query: engine.Query{Fresh: true, Text: leaves}}} {
			got, err := c.Run(context.Background(), q)
			want := replay.Signature{Stage: "compile", Type: "CppCompileError"}
			switch q.Text {
			case freshness:
				want = replay.Signature{Stage: "run", Type: "AssertionError", Message: "(False, 0, '-u', False)"}
			case leaves:
				want = replay.Signature{Stage: "run", Type: "AssertionError", Message: "(False, False, [])"}
			}
			if err != nil || got.Status != replay.Failed || got.Signature.Stage != want.Stage || got.Signature.Type != want.Type || !strings.Contains(got.Message, want.Message) {
				t.Errorf("visitor %d: %v %s %s %s, want %s\n%s", i, err, got.Status, got.Signature, got.Message, want, got.Detail)
			}
		}
		if i == 1 {
			var wg conc.WaitGroup
			wg.Go(func() { _, _ = c.Run(context.Background(), hangs) })
			time.Sleep(300 * time.Millisecond) // by then it hangs; if it is only about to, it has to be gone just as well
			g.conn.Close()
			c.seat.Close() // or it would start a Python of its own
			wg.Wait()
		}
		c.Close()
		g.wait() // until it was reset
		if left := below(g.h.hello.PID, "sleep"); len(left) > 0 {
			t.Errorf("visitor %d left processes: %v", i, left)
		}
	}
	if prints[0] != prints[1] || prints[0] != prints[2] {
		t.Error(prints)
	}
}

// attaches has visitors come to a far side whose PyTorch is none, from a folder that its command was started in, or not, and prints what they are told.
const attaches = `
import os, sys, tempfile, types
exec(compile(sys.stdin.read(), "whittle", "exec"), {"__name__": "whittle"})
from whittle_far.keep import Kept, attach
home, there = os.path.realpath(tempfile.mkdtemp()), os.path.realpath(tempfile.mkdtemp())
torch, builder = types.ModuleType("torch"), types.ModuleType("torch._inductor.cpp_builder")
torch.__file__ = os.path.join(home, "__init__.py")
builder.get_cpp_compiler = lambda: os.path.join(home, "g++")
sys.modules.update({"torch": torch, "torch._inductor": types.ModuleType("torch._inductor"), "torch._inductor.cpp_builder": builder})
for name in ("__init__.py", "version.py", "g++"):
    with open(os.path.join(home, name), "w") as f:
        f.write(name)
    os.chmod(f.name, 0o755)
os.chdir(home)
server = types.SimpleNamespace(kept=Kept(home))
print(attach(server, {"cwd": there}), os.getcwd() == there)
print("refused" in attach(server, {"cwd": "/no/such/folder"}), os.getcwd() == there)
server.kept = Kept(home) # of a command that goes elsewhere by itself
print(attach(server, {"cwd": home}), os.getcwd() == there)
for name in ("version.py", "g++"):
    os.remove(os.path.join(home, name))
    print(attach(server, {"cwd": there}))
    server.kept = Kept(home)
`

// A kept Python goes to the folder of who comes, where its command would have left it there, and is of no use when what it was started from has changed.
func TestAttach(t *testing.T) {
	cmd := exec.Command(python3(t), "-c", attaches)
	cmd.Stdin = strings.NewReader(program())
	out, err := cmd.CombinedOutput()
	want := `{} True
True True
{} True
{'refused': 'another torch, Python or compiler was installed since'}
{'refused': 'another torch, Python or compiler was installed since'}
`
	if diff := cmp.Diff(want, string(out)); err != nil || diff != "" {
		t.Errorf("%v%s", err, diff)
	}
}

// below are the processes whose parent is pid and whose command is called name.
func below(pid int, name string) (out []int) {
	all, _ := os.ReadDir("/proc")
	for _, e := range all {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
		f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(f) > 1 && f[1] == strconv.Itoa(pid) && strings.Contains(string(b), "("+name+")") {
			out = append(out, n)
		}
	}
	return out
}

package testscripts

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
)

// killed is a repro whose failure takes a few dozen cheap questions: two calls that fail together, among others.
const killed = `import torch
import torch._dynamo
def picky(gm, inputs):
    names = [getattr(n.target, '__name__', n.target) for n in gm.graph.nodes]
    if 'cumsum' in names and 'flip' in names:
        raise AssertionError('cumsum and flip')
    return gm.forward
# --- from the script: what this repro needs ---
import torch._dynamo
def picky(gm, inputs):
    names = [getattr(n.target, '__name__', n.target) for n in gm.graph.nodes]
    if 'cumsum' in names and 'flip' in names:
        raise AssertionError('cumsum and flip')
    return gm.forward
torch._dynamo.register_backend(picky)
# --- end ---
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, x : torch.Tensor):
%s
def load_args(reader):
    buf0 = reader.storage(None, 1024)
    reader.tensor(buf0, (16, 16), is_leaf=True)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_dynamo import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, autocast=False, backend='picky')
`

// search is one run of whittle minify on a real PyTorch, in a folder of its own.
type search struct {
	t    *testing.T
	dir  string
	tag  string
	jobs int
}

func newSearch(t *testing.T, jobs int) *search {
	t.Helper()
	if os.Getenv("WHITTLE_TORCH") == "" {
		t.Skip("$WHITTLE_TORCH names no Python with torch")
	}
	s := &search{t: t, dir: t.TempDir(), tag: fmt.Sprintf("WHITTLE_TEST=%d-%d", os.Getpid(), rand.Int64()), jobs: jobs}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(s.dir, "whittle")); err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	last := "x"
	for i := range 24 {
		op := "torch.sin(%s)"
		switch i {
		case 4:
			op = "torch.cumsum(%s, 1)"
		case 19:
			op = "torch.flip(%s, [0])"
		}
		name := "v" + strconv.Itoa(i)
		fmt.Fprintf(&body, "        %s = "+op+"\n", name, last)
		last = name
	}
	fmt.Fprintf(&body, "        return (%s,)\n", last)
	text := fmt.Sprintf(killed, body.String())
	text = text[:strings.Index(text, "def picky")] + text[strings.Index(text, "# --- from"):]
	if err := os.WriteFile(filepath.Join(s.dir, "start.py"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 300 {
			if len(s.processes()) == 0 {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("processes are left: %v", s.processes())
	})
	return s
}

// start starts whittle.
func (s *search) start() (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, filepath.Join(s.dir, "whittle"), "--store", "store.db", "minify", "-j", strconv.Itoa(s.jobs), "-o", "out/repro.py", "start.py")
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), s.tag, "WHITTLE_CACHE="+filepath.Join(filepath.Dir(s.dir), "cache")) // one cache for all searches of a test
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd, out
}

var asked = regexp.MustCompile(`whittle: minimal repro: .*, (\d+) quer(?:y|ies), \d+ cache hits?(?s:.*)\nwhittle: repro: out/repro\.py\n$`)

// result is what a search that ended well wrote, without the comments, and how many queries it asked.
func (s *search) result(cmd *exec.Cmd, out *bytes.Buffer) (text string, queries int) {
	s.t.Helper()
	if err := cmd.Wait(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "out/repro.py"))
	m := asked.FindStringSubmatch(out.String())
	if err != nil || m == nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	n, _ := strconv.Atoi(m[1])
	return string(b), n
}

// processes are those of this search but whittle itself.
func (s *search) processes() []int {
	var out []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(b, []byte(s.tag)) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		if err == nil && bytes.Contains(line, []byte("whittle_far")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			out = append(out, pid)
		}
	}
	return out
}

func parentOf(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	n, _ := strconv.Atoi(f[1])
	return n
}

// rounds is how often each kind of process is killed, and each number of workers tried.
var rounds = flag.Int("rounds", 1, "kills of each kind, and runs with each number of workers")

func TestKillWhittle(t *testing.T) {
	whole := newSearch(t, 1)
	begin := time.Now()
	want, n := whole.result(whole.start())
	took := time.Since(begin)
	for i := range *rounds {
		s := newSearch(t, 1)
		cmd, out := s.start()
		time.Sleep(time.Duration(rand.Int64N(int64(took))))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		known := s.answers()
		got, queries := s.result(s.start())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s%s", diff, out)
		}
		// A query is about one candidate or several. Each of those that are asked now has one at least that was not answered before.
		if fresh := s.answers() - known; queries > n || fresh < queries || known == whole.answers() && queries != 0 {
			t.Errorf("kill %d: %d candidates were answered before, %d since, by %d queries; an undisturbed search has %d queries", i, known, fresh, queries, n)
		}
	}
}

// answers is how many candidates the store has answers about.
func (s *search) answers() int {
	path := filepath.Join(s.dir, "store.db")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return 0
	}
	st, err := replay.Open(context.Background(), path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.Close()
	n, err := st.CountOutcomes(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// killOthers kills processes that pick chooses, at random moments of searches, and checks that each search ends as an undisturbed one.
func killOthers(t *testing.T, pick func(pids []int) int) {
	whole := newSearch(t, 2)
	want, _ := whole.result(whole.start())
	for done := 0; done < *rounds; {
		s := newSearch(t, 2)
		cmd, out := s.start()
		for range 3 {
			time.Sleep(time.Duration(rand.Int64N(int64(3 * time.Second))))
			if pid := pick(s.processes()); pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				done++
			}
		}
		got, _ := s.result(cmd, out)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s%s", diff, out)
		}
	}
}

func TestKillParent(t *testing.T) {
	killOthers(t, func(pids []int) int {
		for _, p := range pids {
			parent := parentOf(p)
			if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent)); err == nil && !bytes.Contains(line, []byte("whittle_far")) {
				return p
			}
		}
		return 0
	})
}

func TestKillChild(t *testing.T) {
	killOthers(t, func(pids []int) int {
		for _, p := range pids {
			parent := parentOf(p)
			if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent)); err == nil && bytes.Contains(line, []byte("whittle_far")) {
				return p
			}
		}
		return 0
	})
}

func TestWorkersDoNotMatter(t *testing.T) {
	var want string
	for i := range *rounds {
		for _, jobs := range []int{1, 2, 8} {
			s := newSearch(t, jobs)
			got, _ := s.result(s.start())
			if want == "" {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("run %d with -j %d: %s", i, jobs, diff)
			}
		}
	}
}

// A script does not outlive the whittle that runs it.
func TestKillRun(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	whittle, prog := filepath.Join(dir, "whittle"), filepath.Join(dir, "prog.py")
	if err := os.Symlink(self, whittle); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(prog, []byte("import os\nprint(os.getpid(), flush=True)\nwhile True:\n    pass\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(whittle, "run", prog)
	cmd.Stdout = w
	err = cmd.Start()
	w.Close() // from here on whittle and the script alone hold it open
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	// The output ends when the last process that could write to it is gone. The limit is for a script that lives on.
	if err := out.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Fatalf("the script's process %d is still there a minute after whittle was killed: %v", pid, err)
	}
}

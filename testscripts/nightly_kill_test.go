package testscripts

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
)

// nightlyKills is how often the bot is killed at a random moment.
var nightlyKills = 50

// nightlyEngine is an engine as a program: sh engine.sh VERSION. What is true of a case is a line: FROM TO, in versions.
const nightlyEngine = `q=$(cat)
case $q in
*'"op":"start"'*) echo "{\"fingerprint\": \"engine $1\"}"; exit ;;
*'"case":"corpus/early"'*) from=2 to=3 ;;
*'"case":"corpus/late"'*) from=5 to=9 ;;
*'"case":"corpus/always"'*) from=1 to=9 ;;
*'"case":"corpus/more"'*) from=9 to=9; [ $1 -lt 4 ] || breaks=1 ;;
*) from=9 to=9 ;;
esac
if [ $1 -ge $from ] && [ $1 -le $to ]; then
	echo '{"status": "fail", "signature": {"stage": "compile", "type": "AssertionError", "message": "broken"}, "message": "AssertionError: broken"}'
else
	echo "{\"status\": \"pass\", \"figures\": {\"graph_breaks\": [${breaks:-0}], \"compile_s\": [2.5, 2.6, 2.4]}}"
fi
`

// nightlyWeek is a bot in a folder of its own.
type nightlyWeek struct {
	t        *testing.T
	bin, dir string
	jobs     string
}

func newNightlyWeek(t *testing.T, bin, jobs string) nightlyWeek {
	w := nightlyWeek{t, bin, t.TempDir(), jobs}
	w.write("engine.sh", nightlyEngine)
	for _, name := range []string{"early", "late", "always", "more", "fine"} {
		w.write("corpus/"+name+".py", "import torch\n")
	}
	return w
}

func (w nightlyWeek) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

// start starts the night of a version.
func (w nightlyWeek) start(version int) (*exec.Cmd, *bytes.Buffer) {
	w.t.Helper()
	var versions []string
	for v := range version {
		versions = append(versions, fmt.Sprintf("'%d'", v+1))
	}
	w.write("bot.toml", fmt.Sprintf("name = 'bot'\n[[engine]]\nversions = [%s]\ncommand = 'sh engine.sh {}'\n[[corpus]]\nfolders = ['corpus']\n[report]\noutbox = 'out'\nhook = 'cat >/dev/null; echo %d >>hooked'\n", strings.Join(versions, ","), version))
	cmd := exec.Command(w.bin, "nightly", "--store", filepath.Join(w.dir, "store.db"), "-j", w.jobs, "--night", fmt.Sprintf("n%d", version), "bot.toml")
	out := &bytes.Buffer{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.dir, out, out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, out
}

// whole plays a night to its end.
func (w nightlyWeek) whole(version int) {
	w.t.Helper()
	cmd, out := w.start(version)
	if err := cmd.Wait(); err != nil && !strings.Contains(out.String(), "its end was not seen") {
		w.t.Fatalf("night %d: %v\n%s", version, err, out)
	}
}

// reports are all files of the outbox but locks.
func (w nightlyWeek) reports() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	all, err := filepath.Glob(filepath.Join(w.dir, "out", "*", "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // a folder
		}
		rel, _ := filepath.Rel(w.dir, path)
		out[rel] = string(b)
	}
	return out
}

// TestKillNightly: a week of nights that are killed at random moments gives the reports of one that is not, and starts no hook twice.
func TestKillNightly(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "whittle")
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	const nights = 7
	quiet := newNightlyWeek(t, bin, "1")
	var took time.Duration
	for v := 1; v <= nights; v++ {
		begin := time.Now()
		quiet.whole(v)
		took = max(took, time.Since(begin))
	}
	want := quiet.reports()
	for name, words := range map[string]string{"n2/report.md": "first bad version 2, after 1", "n4/report.md": "first good version 4, after 3", "n5/report.md": "first bad version 5, after 4"} {
		if !strings.Contains(want["out/"+name], words) {
			t.Errorf("%s does not say %q:\n%s", name, words, want["out/"+name])
		}
	}
	if len(want) != 2*nights || !strings.Contains(want["out/n4/report.md"], "graph\\_breaks: 0 to 1") {
		t.Errorf("%d reports:\n%s", len(want), want["out/n4/report.md"])
	}
	killed := newNightlyWeek(t, bin, "4")
	for v := 1; v <= nights; v++ {
		for range (nightlyKills + nights - 1) / nights {
			cmd, _ := killed.start(v)
			time.Sleep(time.Duration(rand.Int64N(int64(took)))) // it is killed at any moment of its life
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		}
		killed.whole(v)
	}
	if d := cmp.Diff(want, killed.reports()); d != "" {
		t.Error(d)
	}
	hooked, err := os.ReadFile(filepath.Join(killed.dir, "hooked"))
	if err != nil {
		t.Fatal(err)
	}
	for v := 1; v <= nights; v++ {
		if n := strings.Count("\n"+string(hooked), fmt.Sprintf("\n%d\n", v)); n > 1 {
			t.Errorf("the hook of night %d was started %d times", v, n)
		}
	}
}

// nightlyProgram is a program of the corpus: it passes, with one graph break.
const nightlyProgram = `import torch
@torch.compile
def f(x):
    y = torch.sin(x)
    print("break")
    return y + 1
print(f(torch.ones(4)).sum().item())
f(torch.ones(5))
`

// TestNightlyTorch: two nights on two real PyTorchs, with repros of real failures and a program. The newer one counts as the older one first, so that
// what it no longer has is new, and is fixed the night after.
func TestNightlyTorch(t *testing.T) {
	root, shared := os.Getenv("WHITTLE_TORCH_ROOT"), os.Getenv("WHITTLE_SHARED")
	if root == "" || shared == "" || os.Geteuid() != 0 {
		t.Skip("it needs $WHITTLE_TORCH_ROOT, a root with a PyTorch; $WHITTLE_SHARED, with a corpus; and root")
	}
	if _, err := os.Stat(root + "-forky"); err != nil {
		t.Skip("there is no root with a newer PyTorch: ", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "whittle")
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	w := nightlyWeek{t: t, bin: bin, dir: t.TempDir(), jobs: "2"}
	w.write("programs/breaks.py", nightlyProgram)
	old := fmt.Sprintf("[[engine]]\nversion = '2.6'\ntorch = 'chroot %s python3'\n", root)
	newer := fmt.Sprintf("[[engine]]\nversion = '2.14'\ntorch = 'chroot %s-forky python3'\n", root)
	rest := fmt.Sprintf(`[[corpus]]
name = 'failing'
folders = ['%s/corpus/failing']
match = '^(r04|r03|i04)_.*minifier_launcher\.py$'
[[corpus]]
folders = ['programs']
[limits]
minimise = '2m'
repeats = 3
[report]
outbox = 'out'
`, shared)
	for _, night := range []struct {
		key, engines string
		want         []string
	}{
		{"n1", newer + old, []string{"4 cases: 1 passed, 3 failed, 0 not tested. 3 new lines.", "failing/r04\\_shift\\_out\\_of\\_range/minifier\\_launcher**: `accuracy", "first bad version 2.6, after 2.14", "minimal repro: ", "fails on all versions, from 2.14"}},
		{"n2", old + newer, []string{"4 cases: 3 passed, 1 failed, 0 not tested. 2 new lines.", "## Fixed", "first good version 2.14, after 2.6", "## Open"}},
	} {
		w.write("bot.toml", "name = 'real'\n"+night.engines+rest)
		cmd := exec.Command(bin, "nightly", "--store", filepath.Join(w.dir, "store.db"), "-j", "2", "--night", night.key, "bot.toml")
		cmd.Dir = w.dir
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range night.want {
			if !strings.Contains(w.reports()["out/"+night.key+"/report.md"], words) {
				t.Errorf("%s does not say %q", night.key, words)
			}
		}
	}
	st, err := replay.Open(context.Background(), filepath.Join(w.dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	cases, err := st.Cases(context.Background(), "real")
	if err != nil {
		t.Fatal(err)
	}
	figures, err := st.NightFigures(context.Background(), "real", 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	for id, c := range cases {
		want := map[string][]string{"programs/breaks": {"compile_s", "graph_breaks", "peak_memory", "recompiles"},
			"failing/r04_shift_out_of_range/minifier_launcher": {"compile_s", "peak_memory", "speedup"}}[c.Name]
		for _, name := range want {
			if len(figures[id][name]) == 0 {
				t.Errorf("%s has no %s: %v", c.Name, name, figures[id])
			}
		}
	}
}

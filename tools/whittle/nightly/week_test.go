package nightly

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
)

var update = flag.Bool("update", false, "rewrite the golden reports")

// world is a lab in which it is written what is true of each version.
type world struct {
	noise    float64 // of nights and of repeats
	measured atomic.Int64
	truth    func(w *world, q Question, r *rand.Rand) Measurement
	dead     map[string]bool
}

func (w *world) Start(_ context.Context, e Engine) (string, error) {
	if w.dead[e.Version] {
		return "", fmt.Errorf("no such image: torch:%s", e.Version)
	}
	return "torch " + e.Version, nil
}

func (w *world) Measure(_ context.Context, q Question) (Measurement, error) {
	w.measured.Add(1)
	return w.truth(w, q, chance(q.Case.Name, q.Mode.String(), q.Night, q.Engine.Version, fmt.Sprint(q.Attempt))), nil
}

func (w *world) Minimise(_ context.Context, q Question, _ replay.Signature, dir string) (Minimal, error) {
	return Minimal{Repro: q.Case.Text + "# small\n", Path: filepath.Join(dir, "repro.py"), Calls: 2}, nil
}

// Diverge can say it of one case.
func (w *world) Diverge(_ context.Context, q Question, inside bool) (*Divergence, error) {
	if q.Case.Name != "corpus/drifting" || !inside {
		return nil, errors.New("the engine cannot say it")
	}
	return &Divergence{Node: "add_3", Target: "aten.add.Tensor"}, nil
}

// chance is randomness that depends on what is asked alone.
func chance(parts ...string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(parts, "\x00")))
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// student is Student's t with 5 degrees of freedom and a standard deviation of 1.
func student(r *rand.Rand) float64 {
	sum := 0.0
	for range 5 {
		x := r.NormFloat64()
		sum += x * x
	}
	return r.NormFloat64() / math.Sqrt(sum/5) / math.Sqrt(5.0/3)
}

// samples are nine repeats of a figure: with what the night, which is correlated with the one before, the process and the repeats add.
func (w *world) samples(q Question, r *rand.Rand, name string, value float64) []float64 {
	night := 0.0
	var n int
	fmt.Sscanf(q.Night, "n%d", &n)
	for back := range 8 {
		night += math.Pow(0.5, float64(back)) * 0.87 * student(chance(q.Case.Name, q.Mode.String(), name, fmt.Sprint(n-back)))
	}
	off := w.noise * (0.4*night + 0.25*r.NormFloat64())
	if r.IntN(40) == 0 {
		off += 0.15 * r.Float64() // something else ran
	}
	var out []float64
	for range 9 {
		out = append(out, value*math.Exp(off+w.noise*r.NormFloat64()))
	}
	return out
}

// pass is a case that passes, with the figures of a good day.
func (w *world) pass(q Question, r *rand.Rand, slower, rmse float64) Measurement {
	return Measurement{Outcome: replay.Outcome{Status: replay.Pass}, Figures: map[string][]float64{
		"compile_s": w.samples(q, r, "compile_s", 4)[:1], "speedup": w.samples(q, r, "speedup", 1.5/slower), "rmse": {rmse}, "graph_breaks": {1}, "peak_memory": w.samples(q, r, "peak_memory", 3e8)[:1],
	}}
}

func failed(message string) Measurement {
	return Measurement{Outcome: replay.Outcome{Status: replay.Failed, Signature: replay.NewSignature("compile", "AssertionError", message, nil, nil), Message: "AssertionError: " + message}}
}

// quietNights are those before the week, on version 1.
const quietNights = 30

// week is what is true of ten cases on seven versions.
func week(w *world, q Question, r *rand.Rand) Measurement {
	var v, n int
	fmt.Sscanf(q.Engine.Version, "%d", &v)
	fmt.Sscanf(q.Night, "n%d", &n)
	switch strings.TrimPrefix(q.Case.Name, "corpus/") {
	case "broken": // from 3 to 5, and again from 7
		if v >= 3 && v <= 5 || v == 7 {
			return failed("broken")
		}
	case "worse": // from 2; since 4 in another way
		switch {
		case v >= 4:
			return failed("much worse")
		case v >= 2:
			return failed("worse")
		}
	case "always":
		return failed("as ever")
	case "flaky":
		if v >= 2 && q.Attempt%2 == 0 && (n+q.Attempt)%3 != 0 {
			return failed("now and then")
		}
	case "slower":
		if v >= 4 {
			return w.pass(q, r, 1.08, 0.1)
		}
	case "drifting":
		return w.pass(q, r, 1, 0.3*math.Pow(1.12, float64(max(n-quietNights, 0))))
	case "absurd": // the machine had a bad night, and then not
		if n == quietNights+2 {
			return failed("absurd")
		}
	case "machine":
		if n == quietNights+4 {
			return Measurement{Outcome: replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Stage: "compile", Type: "OSError"}, Message: "OSError: [Errno 28] No space left on device: '/tmp/x'"}}
		}
	case "eager":
		return Measurement{Outcome: replay.Outcome{Status: replay.Invalid, Message: "RuntimeError: shapes"}}
	}
	return w.pass(q, r, 1, 0.1)
}

// script is a program that the scripted lab does not read.
const script = "import torch\nprint(1)\n"

// repro is a repro of the form that whittle reads.
const repro = `import torch
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, x : torch.Tensor):
        return (torch.sin(x),)
def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4), is_leaf=True)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_dynamo import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, autocast=False, backend='inductor')
`

// bot is a bot in a folder of its own.
type bot struct {
	t   testing.TB
	dir string
	st  *replay.Store
	lab Lab
	job int
}

func newBot(t testing.TB, lab Lab, jobs int, cases map[string]string) *bot {
	b := &bot{t: t, dir: t.TempDir(), lab: lab, job: jobs}
	for name, text := range cases {
		path := filepath.Join(b.dir, "corpus", name, "case.py")
		if filepath.Ext(name) == ".py" {
			path = filepath.Join(b.dir, "corpus", name)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	st, err := replay.Open(context.Background(), filepath.Join(b.dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	b.st = st
	return b
}

// config is that of a night on some versions.
func (b *bot) config(versions int) *Config {
	var names []string
	for v := range versions {
		names = append(names, fmt.Sprintf("'%d'", v+1))
	}
	c, err := ParseConfig(filepath.Join(b.dir, "bot.toml"), fmt.Appendf(nil, "name = 'bot'\n[[engine]]\nversions = [%s]\ncommand = 'python{}'\n[[corpus]]\nfolders = ['corpus']\n[report]\noutbox = 'outbox'\n", strings.Join(names, ", ")))
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// night plays one.
func (b *bot) night(n, versions int) (*Report, []byte) {
	b.t.Helper()
	r, j, err := Run(context.Background(), Options{Config: b.config(versions), Store: b.st, Lab: b.lab, Key: fmt.Sprintf("n%d", n), Jobs: b.job})
	if err != nil {
		b.t.Fatal(err)
	}
	return r, j
}

var weekCases = map[string]string{
	"broken.py": script, "worse.py": repro, "always.py": script, "flaky.py": script, "slower.py": script, "drifting.py": script, "absurd.py": script, "machine.py": script, "eager.py": script, "fine.py": script,
	"corrupt.py": "class Repro(torch.nn.Module):\n    def forward(self:\n",
}

// TestWeek: a week on seven versions gives exactly the reports in testdata, with one measurement at a time and with four.
func TestWeek(t *testing.T) {
	for _, jobs := range []int{1, 4} {
		b := newBot(t, &world{noise: 0.01, truth: week}, jobs, weekCases)
		for n := 1; n <= quietNights; n++ {
			r, _ := b.night(n, 1)
			if n > 1 && len(r.News) > 0 {
				t.Errorf("in a quiet night: %+v", r.News)
			}
		}
		for n := quietNights + 1; n <= quietNights+7; n++ {
			r, j := b.night(n, n-quietNights)
			golden(t, fmt.Sprintf("testdata/week/%d.json", n-quietNights), string(j))
			golden(t, fmt.Sprintf("testdata/week/%d.md", n-quietNights), r.Markdown())
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: %s", path, d)
	}
}

// TestQuietNights: a hundred quiet nights of twelve cases, with noise as machines have it, give at most one false alarm.
func TestQuietNights(t *testing.T) {
	cases := map[string]string{}
	for i := range 12 {
		cases[fmt.Sprintf("c%02d.py", i)] = script
	}
	b := newBot(t, &world{noise: 0.02, truth: func(w *world, q Question, r *rand.Rand) Measurement { return w.pass(q, r, 1, 0.1) }}, 2, cases)
	alarms := 0
	for n := 1; n <= 100; n++ {
		r, _ := b.night(n, 1)
		for _, l := range r.News {
			t.Logf("night %d: %s: %s: %s", n, l.Case, l.Kind, l.Text)
			alarms++
		}
	}
	if alarms > 1 {
		t.Errorf("%d false alarms", alarms)
	}
}

// TestStopped: a night that is stopped at any measurement goes on, measures nothing twice, and says the same.
func TestStopped(t *testing.T) {
	play := func(stop int64) (string, int64) {
		w := &world{noise: 0.01, truth: week}
		b := newBot(t, w, 2, weekCases)
		b.night(1, 1)
		begin := w.measured.Load()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		inner := w.truth
		w.truth = func(w *world, q Question, r *rand.Rand) Measurement {
			if w.measured.Load()-begin == stop {
				cancel()
			}
			return inner(w, q, r)
		}
		_, _, err := Run(ctx, Options{Config: b.config(5), Store: b.st, Lab: b.lab, Key: "n35", Jobs: b.job})
		if stop > 0 && err == nil {
			t.Fatalf("stopped at %d: it ended well", stop)
		}
		_, j := b.night(35, 5)
		runs, err := b.st.Runs(context.Background(), 2)
		if err != nil {
			t.Fatal(err)
		}
		return string(j), int64(len(runs))
	}
	want, runs := play(0)
	for stop := int64(1); stop <= runs; stop += 3 {
		got, n := play(stop)
		if d := cmp.Diff(want, got); d != "" || n != runs {
			t.Errorf("stopped at %d: %d runs of %d, %s", stop, n, runs, d)
		}
	}
}

// TestDeadEngine: an engine that cannot be started makes no case failing, and is no end of the bot.
func TestDeadEngine(t *testing.T) {
	w := &world{noise: 0.01, truth: week, dead: map[string]bool{"2": true}}
	b := newBot(t, w, 1, map[string]string{"worse.py": script, "fine.py": script})
	b.night(1, 1)
	r, _ := b.night(2, 2)
	if r.Dead == "" || r.Cases != 0 || len(r.News) != 0 {
		t.Errorf("dead: %+v", r)
	}
	r, _ = b.night(3, 3)
	if r.Dead != "" || len(r.News) != 1 || r.News[0].Range == nil || r.News[0].Range.Bad != "3" || r.News[0].Range.Good != "1" {
		t.Errorf("after it: %+v", r)
	}
	if !strings.Contains(r.Markdown(), "first bad version 3") {
		t.Error(r.Markdown())
	}
	var back Report
	_, j := b.night(2, 2)
	if err := json.Unmarshal(j, &back); err != nil || back.Dead == "" {
		t.Errorf("%v: %s", err, j)
	}
}

// TestFullStore: a store that is full ends the night with an error that says so; when there is space it goes on, and says the same.
func TestFullStore(t *testing.T) {
	ctx := context.Background()
	undisturbed := newBot(t, &world{noise: 0.01, truth: week}, 1, weekCases)
	_, want := undisturbed.night(35, 5)
	b := newBot(t, &world{noise: 0.01, truth: week}, 1, weekCases)
	if err := b.st.LimitPages(ctx, 1); err != nil { // what it has already
		t.Fatal(err)
	}
	_, _, err := Run(ctx, Options{Config: b.config(5), Store: b.st, Lab: b.lab, Key: "n35", Jobs: 1})
	var full *replay.FullError
	if !errors.As(err, &full) {
		t.Fatalf("a full store: %v", err)
	}
	if err := b.st.LimitPages(ctx, 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, got := b.night(35, 5); string(got) != string(want) {
		t.Error(cmp.Diff(string(want), string(got)))
	}
}

// TestGroup: what is new is put into a group, and a group that cannot be told is a line.
func TestGroup(t *testing.T) {
	b := newBot(t, &world{noise: 0.01, truth: week}, 1, map[string]string{"always.py": script, "worse.py": script})
	var asked []int64
	group := func(_ context.Context, failure int64) (int64, bool, error) {
		asked = append(asked, failure)
		if failure == 2 {
			return 0, false, errors.New("no features")
		}
		return 0, true, nil
	}
	r, _, err := Run(context.Background(), Options{Config: b.config(2), Store: b.st, Lab: b.lab, Key: "n2", Jobs: 1, Group: group})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int64{1, 2}, asked); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Trouble{{"corpus/worse", "", "could not be grouped: no features"}}, r.Trouble); d != "" {
		t.Error(d)
	}
}

// TestAbsent: what is open and not among the cases any more is told.
func TestAbsent(t *testing.T) {
	b := newBot(t, &world{noise: 0.01, truth: week}, 1, map[string]string{"always.py": script, "fine.py": script})
	b.night(1, 1)
	if err := os.Remove(filepath.Join(b.dir, "corpus", "always.py")); err != nil {
		t.Fatal(err)
	}
	r, _ := b.night(2, 1)
	want := []Trouble{{"corpus/always", "", "is not among the cases any more; open since night n1: compile: AssertionError: as ever"}}
	if d := cmp.Diff(want, r.Trouble); d != "" {
		t.Error(d)
	}
}

// TestMarkdownIsText: names, messages and signatures with Markdown, HTML and terminal escapes mean nothing in the report.
func TestMarkdownIsText(t *testing.T) {
	evil := "</code><script>alert(1)</script> `x` [a](javascript:b) \x1b[2J\u202e\n# title\n"
	r := Report{Bot: "b", Night: "n", Version: evil, Dead: "", Cases: 1, News: []Line{{Kind: "new", Case: evil, Mode: evil, Subject: plain(evil), Signature: &replay.Signature{}, Text: evil}}, Trouble: []Trouble{{evil, evil, evil}}}
	md := r.Markdown()
	outside := ""
	for i, part := range strings.Split(md, "``") { // what stands between fences is code
		if i%2 == 0 {
			outside += part
		}
	}
	for _, bad := range []string{"<script", "\x1b", "\u202e", "\n# title", "[a](", "] (javascript"} {
		if strings.Contains(outside, bad) {
			t.Errorf("it has %q:\n%s", bad, md)
		}
	}
}

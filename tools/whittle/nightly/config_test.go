package nightly

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"whittle/replay"
	"whittle/repros"
)

const least = "name = 'b'\n[[engine]]\nversion = '1'\nnative = true\n[[corpus]]\nfolders = ['c']\n[report]\noutbox = 'o'\n"

func TestParseConfig(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"the least", least, ""},
		{"empty", "", "c.toml: name is missing"},
		{"no TOML", "name = \n", "c.toml:1: "},
		{"unknown key", least + "hock = 'x'\n", "c.toml:9: unknown key report.hock: there are outbox, hook"},
		{"unknown key of a list", "name = 'b'\n[[engine]]\nversion = '1'\ntorhc = 'x'\n", "c.toml:4: unknown key engine.torhc: there are version, versions, versions_from, torch, command, native"},
		{"unknown table", least + "[limit]\n", "c.toml:9: unknown key limit: there are name, engine, corpus, mode, limits, thresholds, report"},
		{"wrong type", strings.Replace(least, "'b'", "3", 1), "c.toml:1: "},
		{"name", strings.Replace(least, "'b'", "'a/b'", 1), `c.toml:1: name "a/b": letters`},
		{"no engine", "name = 'b'\n", "c.toml: there is no [[engine]]"},
		{"no corpus", "name = 'b'\n[[engine]]\nversion = '1'\nnative = true\n", "c.toml: there is no [[corpus]]"},
		{"no outbox", strings.Split(least, "[report]")[0], "[report] needs an outbox"},
		{"two ways to say versions", strings.Replace(least, "version = '1'", "version = '1'\nversions = ['1', '2']", 1), "c.toml:2: an [[engine]] has one of version, versions and versions_from, got 2"},
		{"two ways to start", strings.Replace(least, "native = true", "native = true\ntorch = 'python3'", 1), "c.toml:2: an [[engine]] has one of torch, command and native, got 2"},
		{"no place for the version", strings.Replace(least, "version = '1'\nnative = true", "versions = ['1', '2']\ntorch = 'python3'", 1), "c.toml:2: the command does not say which version it starts: put {} into it"},
		{"native versions", strings.Replace(least, "version = '1'", "versions = ['1', '2']", 1), "c.toml:4: whittle's own stack has one version"},
		{"empty corpus", strings.Replace(least, "folders = ['c']", "", 1), "c.toml:5: a [[corpus]] has folders, or store = true"},
		{"two of a name", strings.Replace(least, "['c']", "['c', 'd/c']", 1), "c.toml:5: two corpora called c"},
		{"match", strings.Replace(least, "['c']", "['c']\nmatch = '('", 1), "c.toml:7: error parsing regexp"},
		{"mode", least + "[[mode]]\nmode = 'fast'\n", `c.toml:10: mode = "fast": one of default`},
		{"dtype", least + "[[mode]]\ndtype = 'half'\n", `c.toml:10: dtype = "half": one of float32`},
		{"backend", least + "[[mode]]\nbackend = 'a b'\n", `c.toml:10: backend = "a b" is no name`},
		{"the same mode", least + "[[mode]]\ndynamic = true\n[[mode]]\ndynamic = true\n", "c.toml:11: the same [[mode]] twice: dynamic=true"},
		{"time", least + "[limits]\ntime = 'long'\n", "c.toml:10: "},
		{"negative time", least + "[limits]\ntime = '-1s'\n", "c.toml:10: "},
		{"memory", least + "[limits]\nmemory = 'lots'\n", `c.toml:10: memory = "lots" is no size`},
		{"jobs", least + "[limits]\njobs = -1\n", "c.toml:10: jobs = -1: at least 1"},
		{"repeats", least + "[limits]\nrepeats = -1\n", "c.toml:10: repeats = -1: at least 1"},
		{"alarms", least + "[thresholds]\nalarms = 1\n", "c.toml:10: "},
		{"alarms too many", least + "[thresholds]\nalarms = 1.5\n", "c.toml:10: alarms = 1.5: above 0, below 1"},
		{"change", least + "[thresholds]\nchange = -0.5\n", "c.toml:10: change = -0.5: above 0, below 1"},
		{"figures", least + "[thresholds.figures]\ncompile_s = 3.0\n", "c.toml:10: compile_s = 3: above 0, below 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseConfig("c.toml", []byte(c.text))
			if err == nil && c.want == "" {
				return
			}
			var ce *ConfigError
			if c.want == "" || !errors.As(err, &ce) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	c, err := ParseConfig("c.toml", []byte(strings.Replace(least, "[[corpus]]", "[[engine]]\nversions_from = 'echo 2; echo 3'\ntorch = 'chroot /torch/{} python3'\n[[corpus]]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Versions(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := []Engine{{Version: "1", Native: true, Torch: []string{}, Command: []string{}}, {Version: "2", Torch: []string{"chroot", "/torch/2", "python3"}, Command: []string{}}, {Version: "3", Torch: []string{"chroot", "/torch/3", "python3"}, Command: []string{}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	c.Engines[1].VersionsFrom = "echo 1; echo 5"
	if _, err := c.Versions(context.Background()); err == nil || !strings.Contains(err.Error(), "version 1 is there twice") {
		t.Error(err)
	}
	c.Engines[1].VersionsFrom = "echo oh no >&2; false"
	if _, err := c.Versions(context.Background()); err == nil || !strings.Contains(err.Error(), "oh no") {
		t.Error(err)
	}
}

// TestCases: what a corpus holds, with the modes that fit each.
func TestCases(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"m/a.py": script, "m/deep/b.py": repro, "m/c.txt": "", "m/d.py": "\x00", "m/whittle-repro/x.py": script, "m/.git/x.py": script, "m/no.py": script} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	st, err := replay.Open(context.Background(), filepath.Join(dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := st.PutFailure(context.Background(), replay.Failure{Signature: replay.Signature{Type: "E"}, Repro: repro}); err != nil {
		t.Fatal(err)
	}
	c, err := ParseConfig(filepath.Join(dir, "c.toml"), []byte(strings.Replace(least, "['c']", "['m']\nmatch = '^(deep/)?[a-d]'\nstore = true", 1)+"[[mode]]\nbackend = 'aot_eager'\n[[mode]]\ndtype = 'float64'\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := Plan(context.Background(), c, st)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"failure/1 [aot_eager]", "m/a [aot_eager]", "m/a [float64]", "m/d [aot_eager]: cannot be read: it is a binary file, not Python", "m/d [float64]: cannot be read: it is a binary file, not Python", "m/deep/b [aot_eager]"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	c.Corpora[0].Folders[0] = "nowhere"
	if _, _, err := Plan(context.Background(), c, st); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

func TestApply(t *testing.T) {
	yes := true
	r, err := repros.Read("repro.py", repro)
	if err != nil {
		t.Fatal(err)
	}
	m := Mode{Backend: "aot_eager", Dynamic: &yes, Mode: "max-autotune"}
	m.Apply(r)
	m.Apply(r) // twice is once
	want := []repros.Setting{{Name: "torch._dynamo.config.assume_static_by_default", Value: "False"}, {Name: "torch._dynamo.config.automatic_dynamic_shapes", Value: "True"},
		{Name: "torch._inductor.config.triton.cudagraphs", Value: "True"}, {Name: "torch._inductor.config.max_autotune", Value: "True"}, {Name: "torch._inductor.config.coordinate_descent_tuning", Value: "True"}}
	if d := cmp.Diff(want, r.Config); d != "" || r.Backend != "aot_eager" {
		t.Errorf("%s, backend %s", d, r.Backend)
	}
	if got := m.String(); got != "aot_eager dynamic=true max-autotune" {
		t.Error(got)
	}
}

// TestProgram: a program runs as __main__ under any Python, and what it prints is parted from the figures.
func TestProgram(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the wrapper runs in a Python, and there is none: ", err)
	}
	text, err := ProgramScript("from __future__ import annotations\nimport inspect, sys\ndef f(): return \"</é\\n\"\nprint(__name__, sys.argv, 'JOB' in globals(), inspect.getsource(f).strip())\nsys.stdout.write('end')\n", Mode{}, "NONCE")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-")
	cmd.Stdin = strings.NewReader(text)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	printed, figures, err := ProgramOutput(out, "NONCE")
	if err != nil || printed != "__main__ ['program.py'] False def f(): return \"</é\\n\"\nend" || len(figures["peak_memory"]) != 1 {
		t.Errorf("%q, %v, %v", printed, figures, err)
	}
	if _, _, err := ProgramOutput([]byte("Segmentation fault"), "NONCE"); err == nil {
		t.Error("a program that was killed has figures")
	}
}

func TestSameOutput(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"x 1.00001 y", "x 1.00002 y", true}, {"x 1.0", "x 1.1", false}, {"x", "y", false}, {"1 2", "1", false}, {"nan", "nan", true}, {"nan", "1.0", false}, {"-1e-5", "1e-5", true}, {"1e3", "1e4", false},
	} {
		if SameOutput(c.a, c.b) != c.want {
			t.Errorf("%q and %q", c.a, c.b)
		}
	}
}

// TestExamples: the examples are what they are said to be.
func TestExamples(t *testing.T) {
	if _, err := Example("nothing"); err == nil || !strings.Contains(err.Error(), "config, cron") {
		t.Error(err)
	}
	key := regexp.MustCompile(`^[A-Z]\w+=.+$`)
	for _, name := range Examples() {
		text, err := Example(name)
		if err != nil {
			t.Fatal(err)
		}
		switch name {
		case "config":
			if _, err := ParseConfig("nightly.toml", []byte(text)); err != nil {
				t.Error(err)
			}
		case "cron":
			for _, line := range lines(text) {
				f := strings.Fields(line)
				if len(f) < 6 || !regexp.MustCompile(`^(\*|\d+) (\*|\d+) (\*|\d+) (\*|\d+) (\*|\d+)$`).MatchString(strings.Join(f[:5], " ")) {
					t.Errorf("crontab: %q", line)
				}
			}
		case "service", "timer":
			sections := map[string]bool{}
			for _, line := range lines(text) {
				if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
					sections[line] = true
				} else if !key.MatchString(line) || len(sections) == 0 {
					t.Errorf("%s: %q", name, line)
				}
			}
			if !sections["[Unit]"] || !sections[map[string]string{"service": "[Service]", "timer": "[Timer]"}[name]] {
				t.Errorf("%s: %v", name, sections)
			}
			if analyze, err := exec.LookPath("systemd-analyze"); err == nil && name == "timer" {
				if out, err := exec.Command(analyze, "calendar", "*-*-* 02:30:00").CombinedOutput(); err != nil {
					t.Errorf("%s", out)
				}
			}
		case "ci":
			var v struct {
				On   map[string]any
				Jobs map[string]struct {
					Steps []map[string]any
				}
			}
			if err := yaml.Unmarshal([]byte(text), &v); err != nil || v.On["schedule"] == nil || len(v.Jobs["nightly"].Steps) == 0 {
				t.Errorf("%v: %+v", err, v)
			}
		default:
			cmd := exec.Command("sh", "-n")
			cmd.Stdin = strings.NewReader(text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %s", name, out)
			}
		}
	}
}

// lines are those of a text that say something.
func lines(text string) []string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if l != "" && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

// TestHook: a hook gets the report once; one whose end nobody saw is told, and started again on request alone.
func TestHook(t *testing.T) {
	ctx := context.Background()
	b := newBot(t, &world{noise: 0.01, truth: week}, 1, map[string]string{"fine.py": script})
	_, text := b.night(1, 1)
	c := b.config(1)
	c.Report.Hook = "cat >>hooked"
	for range 2 {
		if err := c.Hook(ctx, b.st, text, "n1", false); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(b.dir, "hooked"))
	if d := cmp.Diff(string(text), string(got)); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	row, _, err := b.st.FindNight(ctx, "bot", "n1")
	if err != nil || row.Hook != "exit status 0" {
		t.Fatalf("%v %+v", err, row)
	}
	if err := b.st.EndHook(ctx, row.ID, replay.HookBegun); err != nil { // as after kill -9
		t.Fatal(err)
	}
	var lost *HookLostError
	if err := c.Hook(ctx, b.st, text, "n1", false); !errors.As(err, &lost) {
		t.Error(err)
	}
	c.Report.Hook = "echo not today >&2; exit 3"
	var failed *HookError
	if err := c.Hook(ctx, b.st, text, "n1", true); !errors.As(err, &failed) || err.Error() != "the hook: exit status 3: not today" {
		t.Error(err)
	}
}

// TestWrite: reports are written again as they were, and replace nothing of others.
func TestWrite(t *testing.T) {
	b := newBot(t, &world{noise: 0.01, truth: week}, 1, map[string]string{"fine.py": script})
	r, text := b.night(1, 1)
	c := b.config(1)
	own := filepath.Join(b.dir, "outbox", "n1", "report.md")
	if err := os.MkdirAll(filepath.Dir(own), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := c.Write(r, text)
		want := []string{filepath.Join(b.dir, "outbox", "n1", "report-2.md"), filepath.Join(b.dir, "outbox", "n1", "report.json")}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%v %s", err, d)
		}
	}
	if got, err := os.ReadFile(own); err != nil || string(got) != "mine" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLock(t *testing.T) {
	b := newBot(t, nil, 1, nil)
	f, err := b.config(1).Lock()
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := b.config(1).Lock(); !errors.As(err, &busy) {
		t.Error(err)
	}
	f.Close()
	if f, err = b.config(1).Lock(); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// TestCommand: what a command answers, and what stands for it where it does not.
func TestCommand(t *testing.T) {
	lab := Command{Dir: t.TempDir()}
	q := Question{Time: time.Minute, Repeats: 1}
	for _, c := range []struct{ script, want string }{
		{`echo '{"status": "pass"}'`, "pass"},
		{`grep -q '"op":"measure"' && echo '{"status": "fail", "signature": {"stage": "compile", "type": "E", "message": "of 17"}}'`, "fail compile: E: of #"},
		{`echo '{"status": "fail"}'`, "an answer that is none: status fail without a signature"},
		{`echo '{"status": "fine"}'`, `status "fine" is none of`},
		{`echo '{"status": "pass", "figures": {"x": [-1]}}'`, "figure x: -1"},
		{`echo '{"status": "pass", "speed": 1}'`, `unknown field "speed"`},
		{`echo '{"status": "pass"}{}'`, "more than one object"},
		{`echo nonsense`, "an answer that is none"},
		{`echo oh no >&2; exit 7`, "exit status 7: oh no"},
	} {
		q.Engine = Engine{Version: "1", Command: []string{"sh", "-c", c.script}}
		m, err := lab.Measure(context.Background(), q)
		got := strings.TrimSpace(string(m.Outcome.Status) + " " + m.Outcome.Signature.String())
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.script, got, c.want)
		}
	}
	q.Engine.Command, q.Time = []string{"sh", "-c", "sleep 60 & sleep 60"}, 100*time.Millisecond
	if m, err := lab.Measure(context.Background(), q); err != nil || m.Outcome.Status != replay.Timeout {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := lab.Start(context.Background(), Engine{Command: []string{"sh", "-c", "echo '{}'"}}); err == nil {
		t.Error("an engine without a fingerprint")
	}
	if got, err := lab.Start(context.Background(), Engine{Command: []string{"sh", "-c", "echo '{\"fingerprint\": \"f\"}'"}}); err != nil || got != "f" {
		t.Error(got, err)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add(least)
	text, err := Example("config")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add("[[mode]]\n[[mode]]\nx.y = 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConfig("c.toml", []byte(text))
		var ce *ConfigError
		if err != nil && !errors.As(err, &ce) {
			t.Fatalf("%T %v", err, err)
		}
		if err == nil && (c.Name == "" || len(c.Engines) == 0) {
			t.Fatalf("%+v", c)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"status": "fail", "signature": {"type": "E"}, "figures": {"x": [1]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseAnswer(b)
		if err == nil && failing(m.Outcome.Status) && m.Outcome.Signature.IsZero() {
			t.Fatalf("%+v", m)
		}
	})
}

func FuzzProgramOutput(f *testing.F) {
	f.Add([]byte("1\n\nN{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		printed, _, _ := ProgramOutput(b, "N")
		if !bytes.HasPrefix(b, []byte(printed)) || !SameOutput(printed, printed) {
			t.Fatalf("%q of %q", printed, b)
		}
	})
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// reportStore has one finished search with everything (1), one without a result (2), one of an older whittle (3), and a failure (1).
func reportStore(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := replay.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.UnixMilli(1700000000000)
	s.Now = func() time.Time { return now }
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sig := replay.NewSignature("compile", "LoweringException", "AssertionError: expected 3 | got 4 target: aten._foobar.default", nil, nil)
	id, _, err := s.BeginMinification(ctx, "a", "the start", sig)
	check(err)
	for i, st := range []replay.Step{{Reduction: "localise", Taken: true}, {Reduction: "shrink"}, {Reduction: "shrink", Taken: true}} {
		st.Seq = i + 1
		check(s.PutStep(ctx, id, st))
	}
	check(s.PutFinding(ctx, replay.Finding{Minification: id, Signature: replay.Signature{Stage: "run", Type: "RuntimeError", Message: "a < b"}, Raw: "RuntimeError: a < b", Repro: "import torch  # another"}))
	repro := "class Repro(torch.nn.Module):\n    def forward(self, x):\n        _foobar = torch.ops.aten._foobar.default(x);  x = None\n        return (_foobar,)\n\ndef load_args(reader):\n    buf0 = reader.storage('b40c2d8b09f728c8', 128)\n"
	check(s.PutResult(ctx, id, replay.Result{Repro: repro, Standalone: "import torch\ntorch.compile(torch.ops.aten._foobar)(torch.ones(3))  # ``` in a comment\n",
		Error: "LoweringException: AssertionError:\n  target: aten._foobar.default", Environment: "torch 2.6.0 (git 1eba9b3)\nPython 3.13",
		Certificate: []replay.Trial{{Reduction: "cut", Edit: "cut _foobar | all", Verdict: replay.Passed}, {Reduction: "shrink", Edit: "x to [1]", Verdict: replay.Different}},
		Engine:      "torch", Launcher: "run_1/minifier/minifier_launcher.py", Config: []replay.Setting{{Name: "torch._inductor.config.cpp.simdlen", Value: "0"}},
		Workaround: []replay.Setting{{Name: "torch._inductor.config.max_fusion_size", Value: "1"}}, Free: []string{"the sizes of x, from 2"},
		Start: replay.Cost{Calls: 400, Outputs: 3, Inputs: 7, Settings: 2, Elements: 1000000}, End: replay.Cost{Calls: 1, Outputs: 1, Inputs: 1, Settings: 1, Elements: 3},
		Complete: true, Queries: 31, CacheHits: 1, Rejected: 9, Seconds: 83.4, Confirmed: 3, Runs: 20, Rate: 0.55, FalseRuns: 10, FalseRate: 0.1, Off: []string{"dims"}}))
	check(s.FinishMinification(ctx, id, repro, "[]"))
	_, _, err = s.BeginMinification(ctx, "b", "the start", sig)
	check(err)
	old, _, err := s.BeginMinification(ctx, "c", "the start", sig)
	check(err)
	check(s.FinishMinification(ctx, old, repro, `[{"reduction":"cut","edit":"all","verdict":"passed"},{"reduction":"values","edit":"x to ones","verdict":"reproduced"}]`))
	_, err = s.PutFailure(ctx, replay.Failure{Signature: replay.Signature{Stage: "accuracy", Type: "AccuracyError", Message: "Bad accuracy detected"}, Raw: "AccuracyError: Bad accuracy detected", Repro: repro, Config: map[string]string{"b": "2", "a": "1"}})
	check(err)
	return path
}

// command runs whittle in this process.
func command(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = Run(args, strings.NewReader(""), &o, &e)
	return status, o.String(), e.String()
}

func TestReportGolden(t *testing.T) {
	store := reportStore(t)
	for name, ref := range map[string]string{"full": "1", "older": "minification/3", "failure": "failure/1"} {
		status, out, errs := command(t, "--store", store, "report", ref)
		if status != 0 || errs != "" {
			t.Errorf("%s: %d %s", name, status, errs)
		}
		golden := filepath.Join("testdata", "report-"+name+".md")
		if *update {
			if err := os.WriteFile(golden, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), out); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestReportJSON(t *testing.T) {
	status, out, _ := command(t, "--store", reportStore(t), "report", "--json", "1")
	var r issueReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 {
		t.Fatal(status, err)
	}
	if r.Ref != "minification/1" || r.State != replay.Done || r.Result.Start.Calls != 400 || r.Result.Rate != 0.55 || len(r.Passes) != 2 || len(r.Findings) != 1 || r.Start != "the start" || r.Steps != 3 {
		t.Errorf("%+v", r)
	}
}

func TestReportOfWhatIsNotThere(t *testing.T) {
	store := reportStore(t)
	for ref, want := range map[string]string{
		"2":         "minification 2 is running and has no result yet",
		"99":        "the store has no minification 99",
		"failure/9": "the store has no failure 9",
		"finding/1": `"finding/1": only minifications and failures have a report`,
		"x":         `"x" is no record`,
		"-- -1":     `"-1" is no record`,
		"1 2":       "got 2 arguments",
	} {
		status, out, errs := command(t, append([]string{"--store", store, "report"}, strings.Fields(ref)...)...)
		if status != 2 || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: %d %q %q", ref, status, out, errs)
		}
	}
}

func TestIssueTitles(t *testing.T) {
	repro := "    def forward(self, x):\n        y = torch.relu(x)\n        z : Sym(s0) = torch.ops.aten.sym_size.int(x, 0)\n        w = torch.relu(y)\n\ndef load_args(reader):\n    buf0 = torch.zeros(1).untyped_storage()\n"
	for want, s := range map[string]replay.Signature{
		"torch.compile: hangs for torch.relu, aten.sym_size.int":                                                    {Stage: "compile", Type: "timeout"},
		"torch.compile: uses up the memory for torch.relu, aten.sym_size.int":                                       {Stage: "run", Type: "oom"},
		"torch.compile: the compiled graph fails for torch.relu, aten.sym_size.int: SIGSEGV":                        {Stage: "run", Type: "SIGSEGV"},
		"torch.compile: the compiled graph computes something else than eager for torch.relu, aten.sym_size.int":    {Stage: "accuracy", Type: "AccuracyError", Message: "Bad accuracy detected"},
		"torch.compile: compilation fails for torch.relu, aten.sym_size.int: CppCompileError: C++ compile error":    {Stage: "compile", Type: "CppCompileError", Message: "CppCompileError: C++ compile error"},
		"torch.compile: compilation fails for torch.relu, aten.sym_size.int: E: " + strings.Repeat("ä", 33) + "...": {Stage: "compile", Type: "E", Message: strings.Repeat("ä", 300)},
		"torch.compile: fails for torch.relu, aten.sym_size.int: RuntimeError: of a stage that nobody knows":        {Stage: "later", Type: "RuntimeError", Message: "of a stage\nthat nobody knows"},
	} {
		if got := issueTitle(s, repro); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestFenceHoldsWhatEndsFences(t *testing.T) {
	text := "a\n````\nb"
	if got := fence("python", text); !strings.HasPrefix(got, "`````python\n") || !strings.HasSuffix(got, "\n`````\n") {
		t.Error(got)
	}
}

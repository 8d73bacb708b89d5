package replay

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestNights(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cases, err := s.PutCases(ctx, "bot", []BotCase{{Name: "a"}, {Name: "b", Mode: "inductor"}})
	must(err)
	again, err := s.PutCases(ctx, "bot", []BotCase{{Name: "b", Mode: "inductor"}, {Name: "a"}})
	must(err)
	if d := cmp.Diff([]BotCase{cases[1], cases[0]}, again); d != "" {
		t.Error(d)
	}
	all, err := s.Cases(ctx, "bot")
	must(err)
	if d := cmp.Diff(map[int64]BotCase{cases[0].ID: cases[0], cases[1].ID: cases[1]}, all); d != "" {
		t.Error(d)
	}

	first, err := s.BeginNight(ctx, Night{Bot: "bot", Key: "1", Version: "2.6", Fingerprint: "f"})
	must(err)
	resumed, err := s.BeginNight(ctx, Night{Bot: "bot", Key: "1", Version: "2.6", Fingerprint: "f"})
	must(err)
	if resumed.ID != first.ID || resumed.Report != nil {
		t.Errorf("resumed as %+v", resumed)
	}
	var changed *NightChangedError
	if _, err := s.BeginNight(ctx, Night{Bot: "bot", Key: "1", Version: "2.7", Fingerprint: "f"}); !errors.As(err, &changed) || changed.SameVersions {
		t.Errorf("with another version: %v", err)
	}
	if _, err := s.BeginNight(ctx, Night{Bot: "bot", Key: "1", Version: "2.6", Fingerprint: "g"}); !errors.As(err, &changed) || !changed.SameVersions {
		t.Errorf("with another build: %v", err)
	}

	sig := Signature{Stage: "compile", Type: "AssertionError"}
	run := Run{Night: first.ID, Case: cases[0].ID, Version: "2.6", Outcome: Outcome{Status: Failed, Signature: sig}, Figures: map[string][]float64{"compile_s": {1, 2}}, Duration: time.Second}
	must(s.PutRun(ctx, run))
	other := run
	other.Outcome = Outcome{Status: Pass}
	must(s.PutRun(ctx, other)) // the first one stays
	id, err := s.PutRunFailure(ctx, run, Failure{Signature: sig, Repro: "import torch"}, "bot: a")
	must(err)
	same, err := s.PutRunFailure(ctx, run, Failure{Signature: sig, Repro: "import torch"}, "bot: a")
	must(err)
	if id != same {
		t.Errorf("failures %d and %d of one run", id, same)
	}
	run.Failure = id
	runs, err := s.Runs(ctx, first.ID)
	must(err)
	if d := cmp.Diff([]Run{run}, runs); d != "" {
		t.Error(d)
	}
	must(s.SetDecides(ctx, id, 0, "versions: 2.5"))
	b, err := s.BeginBisection(ctx, Bisection{Key: "k", Kind: "versions"})
	must(err)
	must(s.SetDecides(ctx, id, b, "versions: 2.6"))
	must(s.SetDecides(ctx, id, 0, "versions: 2.6"))
	f, err := s.Failure(ctx, id)
	must(err)
	if f.Bisection != b || f.Decides != "versions: 2.6" {
		t.Errorf("bisection/%d: %s", f.Bisection, f.Decides)
	}

	figure := NightFigure{Night: first.ID, Case: cases[0].ID, Name: "compile_s", Value: 1.5, Spread: 0.5, Samples: []float64{1, 2}}
	news := News{Night: first.ID, Case: cases[0].ID, Kind: "new", Subject: sig.String(), Failure: id, Text: "new", Detail: "{}"}
	must(s.FinishNight(ctx, first.ID, []byte("{}"), []NightFigure{figure}, []News{news}))
	must(s.FinishNight(ctx, first.ID, []byte("other"), nil, nil)) // it stays
	done, found, err := s.FindNight(ctx, "bot", "1")
	must(err)
	if !found || string(done.Report) != "{}" {
		t.Errorf("finished as %+v", done)
	}
	second, err := s.BeginNight(ctx, Night{Bot: "bot", Key: "2", Version: "2.7"})
	must(err)
	figures, err := s.NightFigures(ctx, "bot", second.ID, 1)
	must(err)
	if d := cmp.Diff(map[int64]map[string][]NightFigure{cases[0].ID: {"compile_s": {figure}}}, figures); d != "" {
		t.Error(d)
	}
	if figures, err = s.NightFigures(ctx, "bot", first.ID, 0); err != nil || len(figures) != 0 {
		t.Errorf("before the first night: %v, %v", figures, err)
	}
	said, err := s.NewsBefore(ctx, "bot", second.ID)
	must(err)
	news.Key = "1"
	if d := cmp.Diff([]News{news}, said); d != "" {
		t.Error(d)
	}
	nights, err := s.Nights(ctx, "bot")
	must(err)
	if d := cmp.Diff([]Night{{ID: first.ID, Bot: "bot", Key: "1", Version: "2.6", Fingerprint: "f"}, second}, nights, cmpopts.IgnoreFields(Night{}, "Created")); d != "" {
		t.Error(d)
	}

	for i, want := range []bool{true, false} {
		if got, err := s.BeginHook(ctx, first.ID); err != nil || got != want {
			t.Errorf("hook %d: %v, %v", i, got, err)
		}
	}
	must(s.EndHook(ctx, first.ID, "exit status 0"))
	if got, err := s.BeginHook(ctx, first.ID); err != nil || got {
		t.Errorf("a hook that ended: %v, %v", got, err)
	}

	mine, err := s.PutFailure(ctx, Failure{Signature: sig, Repro: "import torch"})
	must(err)
	if _, err := s.PutFailure(ctx, Failure{Signature: sig}); err != nil { // cannot be tested
		t.Fatal(err)
	}
	open, err := s.OpenFailures(ctx)
	must(err)
	if d := cmp.Diff([]int64{mine}, open); d != "" {
		t.Error(d)
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := s.write.Exec("UPDATE runs SET figures = 'x'"); err != nil {
		t.Fatal(err)
	}
	var corrupt *CorruptError
	if _, err := s.Runs(ctx, first.ID); !errors.As(err, &corrupt) {
		t.Errorf("a run that cannot be read: %v", err)
	}
}

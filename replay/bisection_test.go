package replay

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBisection(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store.db"))
	id, err := s.BeginBisection(ctx, Bisection{Key: "k", Kind: "versions", Subject: "./test {}"})
	if err != nil {
		t.Fatal(err)
	}
	failed := Outcome{Status: Failed, Signature: Signature{Stage: "compile", Type: "AssertionError"}}
	want := []BisectionTrial{
		{Point: "2.6", Verdict: "bad", Text: "exit status 1", Duration: time.Second},
		{Point: "2.6", Attempt: 1, Verdict: "good"},
		{Point: "2.7", Outcome: &failed},
	}
	for _, x := range want {
		if err := s.PutTrial(ctx, id, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PutTrial(ctx, id, BisectionTrial{Point: "2.6", Verdict: "good"}); err != nil { // the first answer stays
		t.Fatal(err)
	}
	got, err := s.Trials(ctx, id)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	one, ok, err := s.Trial(ctx, id, "2.6", 1)
	if diff := cmp.Diff(want[1], one); diff != "" || !ok || err != nil {
		t.Error(diff, ok, err)
	}
	if _, ok, err := s.Trial(ctx, id, "2.8", 0); ok || err != nil {
		t.Error(ok, err)
	}
	if err := s.FinishBisection(ctx, id, "the first bad is 2.7"); err != nil {
		t.Fatal(err)
	}
	text, err := s.Show(ctx, "bisection/1", false)
	if err != nil || !strings.Contains(text, "AssertionError") || !strings.HasSuffix(text, "result: the first bad is 2.7\n") {
		t.Error(text, err)
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
		t.Error(r, err)
	}
	again, err := s.BeginBisection(ctx, Bisection{Key: "k", Kind: "versions", Subject: "./test {}"})
	if b, berr := s.Bisection(ctx, again); again != id || err != nil || berr != nil || b.Result != "" {
		t.Error(again, err, b, berr)
	}
	if err := s.DropTrials(ctx, id); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Trials(ctx, id); err != nil || len(got) > 0 {
		t.Error(got, err)
	}
}

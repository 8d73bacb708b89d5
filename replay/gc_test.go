package replay

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// aged is a store whose clock can be set in days, as check sees errors.
func aged(t *testing.T) (s *Store, day func(int), check func(error)) {
	s = open(t, filepath.Join(t.TempDir(), "s.db"))
	now := time.UnixMilli(1700000000000)
	s.Now = func() time.Time { return now }
	day = func(n int) { now = time.UnixMilli(1700000000000).Add(time.Duration(n) * 24 * time.Hour) }
	check = func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return s, day, check
}

func key(name string) QueryKey {
	return QueryKey{Graph: name, Inputs: "i", Config: "c", Fingerprint: "f"}
}

func TestGC(t *testing.T) {
	s, day, check := aged(t)
	ask := func(names ...string) {
		for _, n := range names {
			check(s.PutOutcome(ctx, key(n), Outcome{Status: Pass}))
		}
	}
	fail := func(typ, repro string) {
		_, err := s.PutFailure(ctx, Failure{Signature: Signature{Type: typ}, Repro: repro})
		check(err)
	}
	// A search that ended, and what it asked; two failures alike; content without an owner.
	done, _, err := s.BeginMinification(ctx, "done", "start", Signature{Type: "E"})
	check(err)
	ask("old", "used")
	check(s.PutFinding(ctx, Finding{Minification: done, Repro: "finding"}))
	check(s.PutResult(ctx, done, Result{Repro: "result", Files: map[string][]byte{"checkpoints/a": []byte("file")}}))
	check(s.FinishMinification(ctx, done, "end", "[]"))
	fail("E", "first of E")
	fail("F", "only one of F")
	_, err = s.PutBlob(ctx, []byte("nobody's"))
	check(err)
	check(s.PutGraph(ctx, "g", "a graph", 1))
	_, err = s.PutTensor(ctx, Tensor{DType: "uint8", Shape: []int64{1}, Stride: []int64{1}, Data: []byte{7}})
	check(err)
	_, err = s.PutFrame(ctx, Frame{Kind: "python", Data: []byte("frame")})
	check(err)
	// One that can be resumed used an old answer.
	day(5)
	open, _, err := s.BeginMinification(ctx, "open", "another start", Signature{})
	check(err)
	ask("asked by the open one")
	check(s.PutStep(ctx, open, Step{Seq: 1, Candidate: key("used").Candidate(), Verdict: Passed, Cached: true}))
	fail("E", "second of E")
	check(s.InterruptMinification(ctx, open))
	day(7)
	ask("of nobody")
	day(8)
	ask("asked by the open one later")
	check(s.PutStep(ctx, open, Step{Seq: 2, Candidate: key("asked by the open one later").Candidate(), Verdict: Passed}))
	// One that does not fail is over.
	none, _, err := s.BeginMinification(ctx, "none", "a third start", Signature{})
	check(err)
	check(s.InterruptMinification(ctx, none))
	check(s.PutStep(ctx, none, Step{Seq: 1, Reduction: EndNotFailing, Candidate: key("old").Candidate(), Verdict: Passed}))
	day(40)
	ask("young")

	dry, err := s.GC(ctx, GCOptions{OlderThan: KeepFor, DryRun: true})
	check(err)
	if n, err := s.CountOutcomes(ctx); err != nil || n != 6 {
		t.Fatalf("after a dry run: %d answers, %v", n, err)
	}
	got, err := s.GC(ctx, GCOptions{OlderThan: KeepFor, Vacuum: true})
	check(err)
	want := GCReport{Queries: 2, Failures: 1, Graphs: 1, Tensors: 1, Blobs: 4, Before: got.Before, After: got.After}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	dry.After = got.After
	if diff := cmp.Diff(got, dry); diff != "" {
		t.Errorf("a dry run says something else: %s", diff)
	}
	for name, there := range map[string]bool{"old": false, "used": true, "asked by the open one": true, "of nobody": false, "asked by the open one later": true, "young": true} {
		if _, found, err := s.CachedOutcome(ctx, key(name)); err != nil || found != there {
			t.Errorf("answer %q: %v %v", name, found, err)
		}
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
		t.Error(r.Problems, err)
	}
	for _, ref := range []string{"minification/1", "minification/2", "failure/2", "failure/3", "finding/1", "frame/1"} {
		if _, err := s.Show(ctx, ref, false); err != nil {
			t.Error(ref, err)
		}
	}
	if r, err := s.Result(ctx, done); err != nil || string(r.Files["checkpoints/a"]) != "file" {
		t.Error(r, err)
	}
	if _, err := s.Show(ctx, "failure/1", false); err == nil {
		t.Error("an old failure of which a younger one is there was kept")
	}
	// Once the search is over, its answers are as old as others.
	check(s.FinishMinification(ctx, open, "end", "[]"))
	if got, err := s.GC(ctx, GCOptions{OlderThan: KeepFor}); err != nil || got.Queries != 3 {
		t.Errorf("%+v %v", got, err)
	}
}

// TestGCSize: a file that is too large loses young answers too, the oldest first, and the bytes go back to the disk.
func TestGCSize(t *testing.T) {
	s, day, check := aged(t)
	for d := range 40 {
		day(d)
		check(s.PutOutcome(ctx, key(fmt.Sprint(d)), Outcome{Status: Failed, Message: strings.Repeat(fmt.Sprint(d), 20000)}))
	}
	before, err := s.Size(ctx)
	check(err)
	got, err := s.GC(ctx, GCOptions{OlderThan: 100 * 24 * time.Hour, MaxSize: before, Vacuum: true})
	check(err)
	if got.Queries != 0 {
		t.Errorf("a file that is not too large: %+v", got)
	}
	for d := range 400 { // more than one round takes
		check(s.PutOutcome(ctx, key(fmt.Sprint("more", d)), Outcome{Status: Failed, Message: strings.Repeat("m", 2000)}))
	}
	if before, err = s.Size(ctx); err != nil {
		t.Fatal(err)
	}
	got, err = s.GC(ctx, GCOptions{OlderThan: 100 * 24 * time.Hour, MaxSize: before / 4, Vacuum: true})
	check(err)
	if after, err := s.Size(ctx); err != nil || after > before/4 || after != got.After && after > got.After+1<<16 {
		t.Errorf("%d bytes after %d: %+v %v", after, before, got, err)
	}
	if _, found, _ := s.CachedOutcome(ctx, key("0")); found {
		t.Error("the oldest answer was kept")
	}
	if n, err := s.CountOutcomes(ctx); err != nil || n == 0 {
		t.Errorf("%d answers are left, %v: more went than had to", n, err)
	}
}

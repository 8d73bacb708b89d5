package replay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fill puts one of everything that a merge brings into a store, n times.
func fill(t *testing.T, s *Store, from string, n int) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		name := fmt.Sprintf("%s %d", from, i)
		key, err := s.PutTensor(ctx, Tensor{DType: "float32", Shape: []int64{1}, Stride: []int64{1}, Data: []byte(name + "!!!!")})
		check(err)
		check(s.PutGraph(ctx, "graph of "+name, "def forward(self): "+name, 1))
		frame, err := s.PutFrame(ctx, Frame{Kind: "python", Version: 1, Name: name, Data: []byte(name)})
		check(err)
		compile, err := s.PutCompile(ctx, Compile{Frame: frame, Graph: "graph of " + name, Backend: "inductor", Fingerprint: "fp", Status: Failed})
		check(err)
		sig := Signature{Stage: "run", Type: "RuntimeError", Message: name}
		search, _, err := s.BeginMinification(ctx, "search of "+name, "start "+name, sig)
		check(err)
		check(s.PutStep(ctx, search, Step{Seq: 1, Parent: "p", Reduction: "cut", Candidate: "c", Edit: name, Verdict: Reproduced, Taken: true}))
		check(s.PutFinding(ctx, Finding{Minification: search, Signature: Signature{Type: "other"}, Raw: name, Repro: "other " + name}))
		check(s.PutResult(ctx, search, Result{Repro: "small " + name, Error: name, Rate: 1, Runs: 1, Complete: true, Files: map[string][]byte{"checkpoints/x": []byte(name)}}))
		check(s.FinishMinification(ctx, search, "small "+name, "[]"))
		bisection, err := s.BeginBisection(ctx, Bisection{Key: "bisection of " + name, Kind: "versions", Subject: name})
		check(err)
		check(s.PutTrial(ctx, bisection, BisectionTrial{Point: "1", Verdict: "good", Text: name}))
		check(s.FinishBisection(ctx, bisection, "first bad: 2"))
		check(s.PutOutcome(ctx, QueryKey{name, "i", "c", "fp"}, Outcome{Status: Pass}))
		f, err := s.PutFailure(ctx, Failure{Compile: compile, Graph: "graph of " + name, Signature: sig, Raw: name, Inputs: []string{key}, Repro: "large " + name, Minification: search, Bisection: bisection, Origin: name, Decides: "2"})
		check(err)
		grouped(t, s, "bug "+name, f)
	}
}

// counts are the rows of each table.
func counts(t *testing.T, s *Store) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, table := range []string{"blobs", "tensors", "graphs", "frames", "compiles", "failures", "queries", "minifications", "steps", "results", "result_files", "findings", "bisections", "trials", "groups", "members", "events"} {
		var n int
		if err := s.read.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		out[table] = n
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
		t.Fatal(r, err)
	}
	return out
}

func sum(a, b map[string]int) map[string]int {
	out := map[string]int{}
	for k := range a {
		out[k] = a[k] + b[k]
	}
	return out
}

func TestMerge(t *testing.T) {
	dir := t.TempDir()
	here, there := open(t, filepath.Join(dir, "here.db")), open(t, filepath.Join(dir, "there.db"))
	fill(t, here, "here", 2) // numbers differ on both sides
	fill(t, there, "there", 3)
	want := sum(counts(t, here), counts(t, there))
	want["blobs"] -= 2 // an empty environment and an empty certificate are the same on both sides
	before, err := os.ReadFile(there.Path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := here.Merge(ctx, there.Path)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(there.Path); err != nil || string(after) != string(before) {
		t.Errorf("the other store was changed (%v)", err)
	}
	if d := cmp.Diff(MergeReport{Failures: 3, Minifications: 3, Bisections: 3, Queries: 3, Findings: 3, Compiles: 3, Groups: 3}, r); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, counts(t, here)); d != "" {
		t.Error(d)
	}
	// what belongs together still does
	for id := int64(3); id <= 5; id++ {
		f, err := here.Failure(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		m, err := here.Result(ctx, f.Minification)
		if err != nil || m.Repro != "small "+f.Raw || string(m.Files["checkpoints/x"]) != f.Raw {
			t.Error(m, err)
		}
		if j, err := here.Journal(ctx, f.Minification); err != nil || len(j) != 1 || j[0].Edit != f.Raw {
			t.Error(j, err)
		}
		if b, err := here.Bisection(ctx, f.Bisection); err != nil || b.Subject != f.Raw {
			t.Error(b, err)
		}
		if in, ok, err := here.MemberOf(ctx, id); err != nil || !ok {
			t.Error(ok, err)
		} else if g, err := here.Group(ctx, in.Group); err != nil || g.Title != "bug "+f.Raw {
			t.Error(g, err)
		}
	}
	// once, however often, and there and back
	for range 2 {
		if r, err := here.Merge(ctx, there.Path); err != nil || r != (MergeReport{}) {
			t.Error(r, err)
		}
		if d := cmp.Diff(want, counts(t, here)); d != "" {
			t.Error(d)
		}
	}
	if r, err := there.Merge(ctx, here.Path); err != nil || r.Failures != 2 || r.Groups != 2 {
		t.Error(r, err)
	}
	if d := cmp.Diff(want, counts(t, there)); d != "" {
		t.Error(d)
	}
	if r, err := here.Merge(ctx, there.Path); err != nil || r != (MergeReport{}) {
		t.Error(r, err)
	}
	if d := cmp.Diff(want, counts(t, here)); d != "" {
		t.Error(d)
	}
	// ours goes on where theirs ended, and what a person said here stays
	id, _, err := here.BeginMinification(ctx, "shared", "start", Signature{Type: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := here.PutStep(ctx, id, Step{Seq: 1, Edit: "ours"}); err != nil {
		t.Fatal(err)
	}
	theirs, _, err := there.BeginMinification(ctx, "shared", "start", Signature{Type: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := there.PutStep(ctx, theirs, Step{Seq: i + 1, Edit: "theirs"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(there.PutResult(ctx, theirs, Result{Repro: "small"}), there.FinishMinification(ctx, theirs, "small", "[]")); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Merge(ctx, there.Path); err != nil { // this process is at it
		t.Fatal(err)
	}
	if j, err := here.Journal(ctx, id); err != nil || len(j) != 1 || j[0].Edit != "ours" {
		t.Error(j, err)
	}
	if err := here.InterruptMinification(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Merge(ctx, there.Path); err != nil {
		t.Fatal(err)
	}
	if j, err := here.Journal(ctx, id); err != nil || len(j) != 2 || j[0].Edit != "theirs" {
		t.Error(j, err)
	}
	if r, err := here.Result(ctx, id); err != nil || r.Repro != "small" {
		t.Error(r, err)
	}
}

// TestMergeEarlier merges stores of each earlier schema, which stay as they are.
func TestMergeEarlier(t *testing.T) {
	for version := 1; version < len(migrations); version++ {
		dir := t.TempDir()
		old := filepath.Join(dir, "old.db")
		db, err := sql.Open("sqlite3", old)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range migrations[:version] {
			if _, err := db.Exec(m); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Exec(fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d;
			INSERT INTO failures(stage, type, message, frame, output, raw, config, inputs, created) VALUES ('run', 'E', 'm', '', '', 'twice', '[]', '[]', 7), ('run', 'E', 'm', '', '', 'twice', '[]', '[]', 7)`, applicationID, version)); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(old)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, filepath.Join(dir, "s.db"))
		for i := range 2 {
			r, err := s.Merge(ctx, old)
			if err != nil || r.Failures != 2*(1-i) {
				t.Errorf("version %d, time %d: %+v, %v", version, i, r, err)
			}
		}
		if after, err := os.ReadFile(old); err != nil || string(after) != string(before) {
			t.Errorf("version %d: the other store was changed (%v)", version, err)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "old.db?*")); len(files) > 0 {
			t.Error(files)
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "s.db"))
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite3", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE t (x)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	newer := filepath.Join(dir, "newer.db")
	if n := open(t, newer); n != nil {
		if _, err := n.write.Exec(fmt.Sprintf("PRAGMA user_version = %d", len(migrations)+1)); err != nil {
			t.Fatal(err)
		}
		n.Close()
	}
	for path, why := range map[string]Reason{filepath.Join(dir, "nowhere"): NotADatabase, dir: IsDirectory, write("text", "hello, this is a text"): NotADatabase, write("empty", ""): NotADatabase, foreign: Foreign, newer: Newer} {
		_, err := s.Merge(ctx, path)
		var oe *OpenError
		if !errors.As(err, &oe) || oe.Why != why || oe.Path != path {
			t.Errorf("%s: %v, want %s", path, err, why)
		}
	}
	if _, err := s.PutBlob(ctx, []byte("x")); err != nil { // the store can be used
		t.Error(err)
	}
}

// TestMergeKilled kills merges at random moments: the store has all of the other one, or nothing, and a later merge brings the rest.
func TestMergeKilled(t *testing.T) {
	if path := os.Getenv("WHITTLE_TEST_MERGE"); path != "" {
		s, err := Open(context.Background(), path)
		if err == nil {
			_, err = s.Merge(context.Background(), os.Getenv("WHITTLE_TEST_MERGE_FROM"))
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	dir := t.TempDir()
	from := open(t, filepath.Join(dir, "from.db"))
	from.write.Exec("PRAGMA synchronous = OFF")
	fill(t, from, "from", 60)
	whole := counts(t, from)
	child := func(path string, after time.Duration) {
		c := exec.Command(os.Args[0], "-test.run=^TestMergeKilled$")
		c.Env = append(os.Environ(), "WHITTLE_TEST_MERGE="+path, "WHITTLE_TEST_MERGE_FROM="+from.Path, "TMPDIR="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if after > 0 {
			time.Sleep(after)
			c.Process.Kill()
		}
		err := c.Wait()
		if after == 0 && err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	child(filepath.Join(dir, "first.db"), 0)
	took := time.Since(begin)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		path := filepath.Join(dir, fmt.Sprintf("%d.db", i))
		child(path, time.Millisecond+time.Duration(r.Int64N(int64(took))))
		s := open(t, path)
		got := counts(t, s)
		if got["failures"] != 0 && !cmp.Equal(got, whole) {
			t.Errorf("a part came: %v", cmp.Diff(whole, got))
		}
		if _, err := s.Merge(ctx, from.Path); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(whole, counts(t, s)); d != "" {
			t.Error(d)
		}
	}
}

package replay

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// someResult is a result whose texts depend on i and do not compress to nothing.
func someResult(i int) Result {
	noise := make([]byte, 3000)
	for j := range noise {
		noise[j] = byte('a' + (i*7919+j*j*31)%23)
	}
	return Result{Signature: Signature{Stage: "run", Type: "T", Output: fmt.Sprint(i)}, Repro: fmt.Sprintf("import torch  # %d %s", i, noise), Standalone: "print(1)", Error: "AssertionError", Environment: "torch 2.6",
		Certificate: []Trial{{"cut", fmt.Sprintf("cut %d", i), Passed, true}}, Engine: "torch", Launcher: "/a/minifier_launcher.py",
		Config: []Setting{{"torch._inductor.config.cpp.simdlen", "0"}}, Workaround: []Setting{{"torch._inductor.config.fallback_random", "True"}}, Free: []string{"the shape of x"},
		Start: Cost{Calls: 400, Outputs: 3, Inputs: 7, Settings: 2, Elements: 1 << 40, Complexity: 900}, End: Cost{Calls: 1, Outputs: 1, Inputs: 1, Elements: 3, Complexity: 1},
		Complete: true, Queries: 31 + i, CacheHits: 5, Rejected: 9, Seconds: 2.25, Confirmed: 3, Runs: 20, Rate: 0.55, FalseRuns: 30, FalseRate: 0.1, Stopped: "deadline", Off: []string{"dims"},
		Files: map[string][]byte{"checkpoints/storages/ab": noise[:i%7+1], "checkpoints/metadata": {0, 1}}}
}

func begin(t testing.TB, s *Store, key string) int64 {
	t.Helper()
	id, _, err := s.BeginMinification(ctx, key, "start", NewSignature("compile", "AssertionError", "m", nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestResultsComeBack(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	id := begin(t, s, "k")
	var nf *NotFoundError
	if _, err := s.Result(ctx, id); !errors.As(err, &nf) {
		t.Error(err)
	}
	for i := range 2 { // the second replaces the first
		want := someResult(i)
		if err := s.PutResult(ctx, id, want); err != nil {
			t.Fatal(err)
		}
		got, err := s.Result(ctx, id)
		if err != nil || !cmp.Equal(got, want) {
			t.Error(err, cmp.Diff(want, got))
		}
	}
	bare := Result{Signature: someResult(1).Signature, Repro: "r"}
	if err := s.PutResult(ctx, id, Result{Repro: "r"}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Result(ctx, id); err != nil || !cmp.Equal(got, bare, cmpopts.EquateEmpty()) {
		t.Error(err, got)
	}
	if err := s.PutResult(ctx, 99, bare); !errors.As(err, &nf) {
		t.Error(err)
	}
	nan := 0.0
	nan /= nan
	for _, bad := range []Result{{}, {Repro: "r", Rate: 1.5}, {Repro: "r", Rate: nan}, {Repro: "r", Seconds: -1}, {Repro: "r", Queries: -1}, {Repro: "r", Files: map[string][]byte{"../x": nil}}, {Repro: "r", Files: map[string][]byte{"/x": nil}}} {
		if err := s.PutResult(ctx, id, bad); err == nil {
			t.Errorf("%+v was stored", bad)
		}
	}
	if err := s.PutResult(ctx, id, someResult(1)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := s.Export(ctx, fmt.Sprintf("minification/%d", id), dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"repro.py": someResult(1).Repro, "standalone.py": "print(1)", "checkpoints/metadata": "\x00\x01"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want && !strings.HasPrefix(string(b), want+"\n# whittle wrote this file") {
			t.Error(name, err, string(b))
		}
	}
	if text, err := s.Show(ctx, fmt.Sprintf("minification/%d", id), false); err != nil || !strings.Contains(text, someResult(1).Repro) {
		t.Error(err, text)
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
		t.Error(r, err)
	}
	if _, err := s.write.Exec("UPDATE result_files SET path = '../escaped' WHERE path = 'checkpoints/metadata'"); err != nil {
		t.Fatal(err)
	}
	var ce *CorruptError
	if _, err := s.Export(ctx, fmt.Sprintf("minification/%d", id), filepath.Join(dir, "deep")); !errors.As(err, &ce) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "escaped")); err == nil {
		t.Error("a file was written outside of its folder")
	}
}

func TestPassesSumTheJournalUp(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	id := begin(t, s, "k")
	for i, st := range []Step{{Reduction: "localise", Duration: time.Second}, {Reduction: "cut", Taken: true, Duration: 2 * time.Second}, {Reduction: "cut", Duration: time.Second}, {Reduction: "localise", Taken: true}} {
		st.Seq = i + 1
		if err := s.PutStep(ctx, id, st); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Passes(ctx, id)
	want := []PassStats{{"localise", 2, 1, time.Second}, {"cut", 2, 1, 3 * time.Second}}
	if err != nil || !cmp.Equal(got, want) {
		t.Error(err, got)
	}
}

func TestSearchesHaveAState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	// A search of a process that is killed in the middle of it.
	cmd := childProcess(t, path, "results")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	state := func(id int64) State {
		ms, err := s.Minifications(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ms {
			if m.ID == id {
				return m.State
			}
		}
		t.Fatalf("no minification %d", id)
		return ""
	}
	if got := state(1); got != Running {
		t.Errorf("%s after %q", got, line)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if got := state(1); got != Interrupted {
		t.Error(got)
	}
	id := begin(t, s, "mine")
	if got := state(id); got != Running {
		t.Error(got)
	}
	if err := s.InterruptMinification(ctx, id); err != nil {
		t.Fatal(err)
	}
	if got := state(id); got != Interrupted {
		t.Error(got)
	}
	if again := begin(t, s, "mine"); again != id || state(id) != Running {
		t.Error("a resumed search does not run")
	}
	if err := s.PutProgress(ctx, id, Signature{Stage: "run", Type: "Error"}, 40, 7); err != nil {
		t.Fatal(err)
	}
	es, err := s.List(ctx, "minification")
	if err != nil || len(es) < 2 || es[len(es)-1].Summary != "running, 40 -> 7 calls, 0 steps: run: Error" {
		t.Error(es, err)
	}
	if err := s.FinishMinification(ctx, id, "result", "[]"); err != nil {
		t.Fatal(err)
	}
	if got := state(id); got != Done {
		t.Error(got)
	}
}

func TestOwnersThatAreNotAlive(t *testing.T) {
	if !alive(owner()) {
		t.Error("this process is not alive")
	}
	f := strings.Fields(owner())
	for _, o := range []string{"", "x", "a b c", f[0] + " 0 1", f[0] + " -1 1", "otherboot " + f[1] + " " + f[2], f[0] + " " + f[1] + " 1", f[0] + " 999999999 -"} {
		if alive(o) {
			t.Errorf("%q is alive", o)
		}
	}
}

func childProcess(t *testing.T, path, what string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REPLAY_TEST_CHILD="+path, "REPLAY_TEST_WHAT="+what)
	return cmd
}

// resultsChild stores results for ever, ever other ones under three searches, and says what was acknowledged.
func resultsChild(s *Store) {
	for i := 0; ; i++ {
		id, _, err := s.BeginMinification(ctx, fmt.Sprint(i%3), "start", Signature{Stage: "compile"})
		if err != nil {
			os.Exit(1)
		}
		if err := s.PutResult(ctx, id, someResult(i)); err != nil {
			os.Exit(1)
		}
		fmt.Println(id, i)
	}
}

func TestKillKeepsWholeResults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	acked := map[int64]int{} // search => the last result acknowledged
	for range 5 {
		cmd := childProcess(t, path, "results")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		clear(acked)
		sc := bufio.NewScanner(out)
		for n := 0; sc.Scan(); n++ {
			var id int64
			var i int
			if _, err := fmt.Sscan(sc.Text(), &id, &i); err != nil {
				t.Fatal(err)
			}
			acked[id] = i
			if n == 25 {
				_ = cmd.Process.Kill() // it may be faster
			}
		}
		_ = cmd.Wait() // it was killed
		s := open(t, path)
		for id, i := range acked {
			got, err := s.Result(ctx, id)
			if err != nil {
				t.Errorf("acknowledged and lost: %v", err)
				continue
			}
			// A later one may have been stored and not acknowledged; a mixture may not.
			k := got.Queries - 31
			if k != i && k != i+3 || !cmp.Equal(got, someResult(k)) {
				t.Errorf("search %d: result %d, %d acknowledged\n%s", id, k, i, cmp.Diff(someResult(k), got))
			}
		}
		if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
			t.Error(r, err)
		}
		s.Close()
	}
}

func TestFullDiskKeepsTheResultBefore(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	id := begin(t, s, "k")
	if err := s.LimitPages(ctx, 70); err != nil {
		t.Fatal(err)
	}
	last := -1
	for i := 0; ; i++ {
		err := s.PutResult(ctx, id, someResult(i))
		var fe *FullError
		if errors.As(err, &fe) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		last = i
	}
	if last < 0 {
		t.Fatal("not even one fits")
	}
	if got, err := s.Result(ctx, id); err != nil || !cmp.Equal(got, someResult(last)) {
		t.Error(err, got.Queries, last)
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
		t.Error(r, err)
	}
}

func TestCheckFindsDamagedResults(t *testing.T) {
	for name, c := range map[string]struct {
		damage string
		want   string
	}{
		"certificate": {"UPDATE results SET certificate = error", "certificate"},
		"config":      {"UPDATE results SET config = '[1'", "config"},
		"cost":        {"UPDATE results SET end_cost = '[]'", "end cost"},
		"repro gone":  {"PRAGMA foreign_keys = off; UPDATE results SET repro = 'nowhere'", "results"},
		"a file":      {"PRAGMA foreign_keys = off; UPDATE result_files SET blob = 'nowhere'", "result_files"},
		"repro":       {"UPDATE blobs SET data = (SELECT data FROM blobs b WHERE b.key = (SELECT error FROM results)) WHERE key = (SELECT repro FROM results)", "blob"},
	} {
		s := open(t, filepath.Join(t.TempDir(), "s.db"))
		if err := s.PutResult(ctx, begin(t, s, "k"), someResult(1)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.write.Exec(c.damage); err != nil {
			t.Fatal(err)
		}
		r, err := s.Check(ctx)
		if err != nil || len(r.Problems) == 0 || !strings.Contains(strings.Join(r.Problems, "\n"), c.want) {
			t.Errorf("%s: %v %+v", name, err, r)
		}
	}
}

// TestOldStoresAreBroughtUp opens a database as version 1 left it.
func TestOldStoresAreBroughtUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	key := Key([]byte("start"))
	probe := open(t, filepath.Join(t.TempDir(), "probe.db")) // only for its encoder
	data := probe.enc.EncodeAll([]byte("start"), nil)
	for _, q := range []string{schemaSQL, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 1", applicationID),
		fmt.Sprintf("INSERT INTO blobs VALUES ('%s', 5, x'%x')", key, data),
		fmt.Sprintf(`INSERT INTO minifications VALUES (7, 'old', '%[1]s', '%[1]s', '{"stage":"compile"}', '[]', 1000, 2000), (8, 'open', '%[1]s', NULL, '{"stage":"run"}', NULL, 1000, NULL)`, key)} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	s := open(t, path)
	got, err := s.Minifications(ctx)
	want := []Summary{
		{ID: 7, Signature: Signature{Stage: "compile"}, State: Done, StartCalls: -1, Calls: -1, Created: time.UnixMilli(1000), Finished: time.UnixMilli(2000)},
		{ID: 8, Signature: Signature{Stage: "run"}, State: Interrupted, StartCalls: -1, Calls: -1, Created: time.UnixMilli(1000)},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Error(err, cmp.Diff(want, got))
	}
	if err := s.PutResult(ctx, 7, someResult(1)); err != nil {
		t.Error(err)
	}
	if m, err := s.Minification(ctx, 7); err != nil || m.Result != "start" {
		t.Error(m, err)
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
		t.Error(r, err)
	}
}

// FuzzResult decodes what a damaged store may hold in the columns of a result: an error names it, and what decodes is
// stored and read as it is.
func FuzzResult(f *testing.F) {
	enc := func(v any) string { return jsonText(v) }
	r := someResult(1)
	f.Add(enc(r.Certificate), enc(r.Config), enc(r.Free), enc(r.Start))
	f.Add("[]", "null", "[\"\\ud800\"]", "{\"calls\":1e3}")
	f.Add("{", "[{}]", "[[]]", "{\"calls\":1.5}")
	f.Fuzz(func(t *testing.T, cert, config, free, cost string) {
		var r Result
		if err := r.decode(1, cost, cert, config, config, free, free, cost, cost); err != nil {
			var ce *CorruptError
			if !errors.As(err, &ce) || ce.Key != "1" {
				t.Errorf("%T %v", err, err)
			}
			return
		}
		var again Result
		if err := again.decode(1, enc(r.Signature), enc(r.Certificate), enc(r.Config), enc(r.Workaround), enc(r.Free), enc(r.Off), enc(r.Start), enc(r.End)); err != nil || !cmp.Equal(r, again, cmpopts.EquateEmpty()) {
			t.Error(err, cmp.Diff(r, again))
		}
	})
}

// FuzzOutcome decodes cached outcomes, and signatures.
func FuzzOutcome(f *testing.F) {
	o := Outcome{Status: Failed, Signature: NewSignature("run", "RuntimeError", "m", []string{"f in a.py"}, nil), Marks: []string{"loaded"}, Duration: time.Second}
	text, err := o.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(`{"status":7}`)
	f.Add(`{"signature":null,"marks":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := decodeOutcome(text)
		if err != nil {
			return
		}
		b, err := o.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeOutcome(b)
		if err != nil || !cmp.Equal(o, again, cmpopts.EquateEmpty()) {
			t.Error(err, cmp.Diff(o, again))
		}
		// A verdict never takes what says nothing for a reproduction.
		if v := Judge(o, o.Signature); v == Reproduced && (o.Signature.IsZero() || o.Status == Pass || o.Status == Invalid || o.Status == Infrastructure) {
			t.Errorf("%s for %s", v, text)
		}
		var sig Signature
		if json.Unmarshal([]byte(text), &sig) == nil && bytes.ContainsRune([]byte(Normalise(sig.Message)), '\n') {
			t.Error("a normalised message of several lines")
		}
	})
}

package cli

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"whittle/minify/bisect"
	"whittle/replay"
	"whittle/tools/whittle/axis/axistest"
)

// plainBisect is what a bisection without flags works with, over a store of its own.
func plainBisect(t *testing.T) (context.Context, *replay.Store, bisectOptions) {
	t.Helper()
	st, err := replay.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return context.Background(), st, bisectOptions{given: func(string) bool { return false }}
}

// TestBisectLists: of 200 random lists of 64 versions the one that switched a bug on is found, every time: in 8 tests by one worker, and in 3 rounds by
// four. Where it is switched off, likewise.
func TestBisectLists(t *testing.T) {
	ctx, st, o := plainBisect(t)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 64))
		first, off := 1+r.IntN(63), r.IntN(4) == 0
		var points []string
		for i := range 64 {
			points = append(points, fmt.Sprintf("%d.%d", i, r.IntN(100)))
		}
		for _, workers := range []int{1, 4} {
			a := &app{stdout: io.Discard, stderr: io.Discard, workers: workers}
			b := &bisection{kind: "versions", subject: "a wrapper", key: fmt.Sprint(seed, workers), points: points, test: func(_ context.Context, point string, _ int) (reply, error) {
				v := bisect.Good
				if (slices.Index(points, point) >= first) != off {
					v = bisect.Bad
				}
				return reply{Answer: bisect.Answer{Verdict: v}}, nil
			}}
			p := newBisectPrinter(a, o, false)
			got, err := a.bisect(ctx, st, b, o, p)
			if err == nil {
				err = p.result(b, got)
			}
			if err != nil || !slices.Equal(got.found.Suspects, []int{first}) || got.found.Fixed != off {
				t.Fatalf("list %d, %d workers: %+v, %v; want %d, fixed %v", seed, workers, got.found, err, first, off)
			}
			if c := got.found.Cost; workers == 1 && c.Tests > 8 || workers == 4 && c.Rounds > 3 {
				t.Errorf("list %d, %d workers: %+v", seed, workers, c)
			}
		}
	}
}

// TestBisectOutcomes: an engine's outcomes are judged by the failure at the ends, and what says nothing about a version is not kept.
func TestBisectOutcomes(t *testing.T) {
	failing := func(typ string) *replay.Outcome {
		return &replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Stage: "compile", Type: typ, Frame: "in some place of " + typ}}
	}
	passes := &replay.Outcome{Status: replay.Pass}
	infra := &replay.Outcome{Status: replay.Infrastructure, Message: "the pipe is gone"}
	for _, c := range []struct {
		name     string
		outcomes []*replay.Outcome
		text     string
		table    string // of words
		kept     int
	}{
		{"a failure that came", []*replay.Outcome{passes, passes, failing("A"), failing("A")}, "first bad: v2", "passes passes fails fails", 4},
		{"a failure that went", []*replay.Outcome{failing("A"), failing("A"), passes, passes}, "first good: v2", "fails fails passes passes", 4},
		{"another one between", []*replay.Outcome{passes, failing("B"), failing("A")}, "not decided: the first bad is one of v1, v2: what is between cannot be tested", "passes fails differently fails", 3},
		{"another one before", []*replay.Outcome{failing("B"), failing("A")}, "not decided: fails differently on v0, fails on v1", "fails differently fails", 2},
		{"on all", []*replay.Outcome{failing("A"), failing("A")}, "not decided: fails on v0 and on v1", "fails fails", 2},
		{"on none", []*replay.Outcome{passes, passes}, "not decided: passes on v0 and on v1", "passes passes", 2},
		{"no answer", []*replay.Outcome{passes, infra, failing("A")}, "not decided: the first bad is one of v1, v2: what is between cannot be tested", "passes skipped fails", 2},
	} {
		ctx, st, o := plainBisect(t)
		var points []string
		for i := range c.outcomes {
			points = append(points, fmt.Sprintf("v%d", i))
		}
		b := &bisection{kind: "versions", subject: "a repro", key: c.name, points: points, engine: true, test: func(_ context.Context, point string, _ int) (reply, error) {
			o := c.outcomes[slices.Index(points, point)]
			return reply{outcome: o, fleeting: o.Status == replay.Infrastructure}, nil
		}}
		for run, want := range []int{len(c.outcomes), len(c.outcomes) - c.kept} { // tests
			var out strings.Builder
			a := &app{stdout: &out, stderr: io.Discard, workers: 4}
			p := newBisectPrinter(a, o, true)
			got, err := a.bisect(ctx, st, b, o, p)
			if err != nil {
				t.Fatal(c.name, err)
			}
			_ = p.result(b, got) // the status is told by text
			var words []string
			for _, w := range p.table[0][2:] {
				_, word, _ := strings.Cut(w, " ")
				words = append(words, word)
			}
			if got.text(b) != c.text || strings.Join(words, " ") != c.table || got.found.Cost.Tests != want {
				t.Errorf("%s, run %d: %q, %q, %+v; want %q, %q, %d tests\n%s", c.name, run, got.text(b), words, got.found.Cost, c.text, c.table, want, &out)
			}
		}
		kept, err := st.Trials(ctx, 1)
		if len(kept) != c.kept || err != nil {
			t.Errorf("%s: %d answers are kept, want %d (%v)", c.name, len(kept), c.kept, err)
		}
	}
}

// TestBisectCommits: in repositories with 500 commits, merges, and one commit in ten that cannot be built, the guilty one is found; idle workers build
// ahead.
func TestBisectCommits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("commits are bisected, and there is no git: ", err)
	}
	for seed := range uint64(3) {
		h := axistest.Make(t, t.TempDir(), seed, 500, 10)
		before := snapshot(t, h.Dir)
		for _, workers := range []string{"1", "4"} {
			t.Setenv("WHITTLE_CACHE", t.TempDir())
			var stdout, stderr strings.Builder
			code := Run([]string{"bisect", "--store", filepath.Join(t.TempDir(), "store.db"), "-j", workers, "--repo", h.Dir, "--commits", h.Commits[0] + "..main",
				"--build", `test "$(cat broken)" = no && cp bug built`, "--", "sh", "-c", `test "$(cat built)" = no`}, strings.NewReader(""), &stdout, &stderr)
			if code != 0 || !strings.Contains(stdout.String(), "\nfirst bad: "+h.Guilty+"\n") {
				t.Fatalf("seed %d, -j %s: status %d, guilty %s\n%s%s", seed, workers, code, h.Guilty, &stdout, &stderr)
			}
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			t.Logf("seed %d, -j %s, %d of %d broken: %s", seed, workers, h.Broken, len(h.Commits), strings.Join(lines[len(lines)-2:], "; "))
		}
		if after := snapshot(t, h.Dir); after != before {
			t.Errorf("the repository was %s, and is %s", before, after)
		}
	}
}

// snapshot is what a user sees of a repository.
func snapshot(t *testing.T, dir string) string {
	var out strings.Builder
	for _, args := range [][]string{{"status", "--porcelain=v2", "--branch"}, {"worktree", "list"}, {"for-each-ref"}, {"reflog"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		b, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatal(err, string(b))
		}
		out.Write(b)
	}
	return out.String()
}

package stack_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/conc"

	"whittle/tools/whittle/cli"
	"whittle/tools/whittle/stack"
)

// asCommand makes the test binary the command, which starts itself again for a script's process and for workers.
const asCommand = "WHITTLE_TEST_IS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

var failingCount = flag.Int("failing", 8, "random programs with a failing backend that TestRandomFailingBackends shrinks")

var minimal = regexp.MustCompile(`(?m)^whittle: minimal repro: (\d+) of (\d+) calls?`)

// TestRandomFailingBackends runs random programs whose backend, written in Python, fails on something in their graphs: each failure
// ends with a repro in a folder of its own that fails with the same exception, and is no larger than the start.
func TestRandomFailingBackends(t *testing.T) {
	cache := t.TempDir()
	seed, keep := stack.ProgramFlags()
	seeds := make(chan uint64, *failingCount)
	for i := range uint64(*failingCount) {
		seeds <- seed + i
	}
	close(seeds)
	var mu sync.Mutex
	var sum shrunkProgram
	failed := 0
	var wg conc.WaitGroup
	for range 2 {
		wg.Go(func() {
			for seed := range seeds {
				r, ok := shrinkFailing(t, cache, keep, seed)
				mu.Lock()
				if ok {
					failed++
				}
				sum.before, sum.after = sum.before+r.before, sum.after+r.after
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d programs fail, of %d; %d calls became %d", failed, *failingCount, sum.before, sum.after)
}

// shrunkProgram is how many calls the graph of a program had, and has in its repro.
type shrunkProgram struct{ before, after int }

// shrinkFailing runs the program of a seed, and the repro that it ends with; false if nothing fails.
func shrinkFailing(t *testing.T, cache, keep string, seed uint64) (r shrunkProgram, failed bool) {
	p := stack.NewFailingProgram(cache, seed)
	if p.Source == "" {
		return r, false
	}
	dir := t.TempDir()
	for _, d := range []string{dir, keep} {
		if d == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(d, fmt.Sprintf("prog%d.py", seed)), []byte(p.Source), 0o666); err != nil {
			t.Error(err)
			return r, false
		}
	}
	out, code := whittleRun(t, dir, cache, fmt.Sprintf("prog%d.py", seed), p.Env)
	if code == 0 && out == "" { // what is wrong in a graph does not reach its results
		return r, false
	}
	complain := func(format string, args ...any) {
		t.Errorf("seed %d: %s\n%s", seed, p.What, fmt.Sprintf(format, args...))
	}
	m := minimal.FindStringSubmatch(out)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	repro, named := strings.CutPrefix(lines[len(lines)-1], "whittle: repro: ")
	if m == nil || !named || code != 1 || !strings.HasPrefix(repro, fmt.Sprintf("whittle-repro/prog%d-", seed)) {
		complain("status %d, no repro\n%s", code, out)
		return r, true
	}
	r.after, _ = strconv.Atoi(m[1])
	r.before, _ = strconv.Atoi(m[2])
	if r.after > r.before {
		complain("%d calls became %d", r.before, r.after)
	}
	again, code := whittleRun(t, dir, cache, repro, nil)
	if d := cmp.Diff(ended(out), ended(again)); d != "" || code != 1 {
		complain("the repro fails in another way, with status %d (-program +repro)\n%s\n%s\n%s", code, d, out, again)
	}
	return r, true
}

// whittleRun is what whittle run says of a script on standard error, and its exit status.
func whittleRun(t *testing.T, dir, cache, file string, env []string) (string, int) {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return "", -1
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "run", "-j", "1", file)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asCommand+"=1", "WHITTLE_STORE="+filepath.Join(dir, "store.db"), "WHITTLE_CACHE="+cache)
	cmd.Env = append(cmd.Env, env...)
	var out bytes.Buffer
	cmd.Stderr = &out
	var xe *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &xe) {
		t.Error(err)
		return out.String(), -1
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// ended is the exception that the program or repro ends with; of a backend's it is the backend's own. Its numbers may be others: sizes shrink.
func ended(out string) string {
	out, _, _ = strings.Cut(out, "\nwhittle: ")
	at := strings.LastIndex(out, "Traceback (most recent call last):")
	lines := strings.Split(out[max(at, 0):], "\n")[1:]
	for len(lines) > 0 && strings.HasPrefix(lines[0], " ") {
		lines = lines[1:]
	}
	text := strings.Join(lines, "\n")
	if strings.HasPrefix(text, "torch._dynamo.exc.BackendCompilerFailed") {
		_, text, _ = strings.Cut(text, "raised:\n")
		text, _, _ = strings.Cut(text, "\nSet TORCH_LOGS")
		text, _, _ = strings.Cut(text, "\n\nYou can suppress")
	}
	text, _, _ = strings.Cut(text, "While executing ") // what an Interpreter adds has the names of the graph
	text = strings.TrimRight(text, " :\n")
	if strings.HasPrefix(text, "torch._dynamo.debug_utils.AccuracyError") || strings.HasPrefix(text, "AccuracyError") {
		return "AccuracyError" // PyTorch has other words for it in a repro
	}
	return number.ReplaceAllString(strings.TrimPrefix(text, "__main__."), "#")
}

var number = regexp.MustCompile(`\b\d+\b`)

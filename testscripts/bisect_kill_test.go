package testscripts

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"whittle/replay"
	"whittle/tools/whittle/axis/axistest"
)

// bisectKills is how often a bisection is killed at a random moment.
var bisectKills = 20

var bisected = regexp.MustCompile(`(?s)\nfirst bad: ([0-9a-f]{40})\n.*bisection/1: (\d+) tests?, \d+ rounds?, (\d+) answers? from the store\n`)

// TestKillBisect: a bisection of commits that is killed goes on where it was, asks nothing again, finds the same, and leaves nothing behind.
func TestKillBisect(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("commits are bisected, and there is no git: ", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := axistest.Make(t, t.TempDir(), 7, 500, 10)
	bin := filepath.Join(t.TempDir(), "whittle")
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	start := func(dir string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command(bin, "bisect", "-j", "1", "--store", filepath.Join(dir, "store.db"), "--repo", h.Dir, "--commits", h.Commits[0]+"..main",
			"--build", `test "$(cat broken)" = no && cp bug built`, "--", "sh", "-c", `test "$(cat built)" = no`)
		out := &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = out, out
		cmd.Env = append(os.Environ(), "WHITTLE_CACHE="+filepath.Join(dir, "cache"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, out
	}
	whole := func(dir string) (asked, known int) {
		cmd, out := start(dir)
		err := cmd.Wait()
		m := bisected.FindStringSubmatch(out.String())
		if err != nil || m == nil || m[1] != h.Guilty {
			t.Fatalf("%v, guilty is %s\n%s", err, h.Guilty, out)
		}
		if left, err := os.ReadDir(filepath.Join(dir, "cache", "bisect")); len(left) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is left, %v", left, err)
		}
		asked, _ = strconv.Atoi(m[2])
		known, _ = strconv.Atoi(m[3])
		return asked, known
	}
	begin := time.Now()
	total, _ := whole(t.TempDir())
	took := time.Since(begin)
	for i := range bisectKills {
		dir := t.TempDir()
		cmd, _ := start(dir)
		time.Sleep(time.Duration(rand.Int64N(int64(took)))) // it is killed at any moment of its life
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		had := trials(t, dir)
		asked, known := whole(dir)
		if known != had || asked+known != total {
			t.Errorf("kill %d: %d answers were there, then %d known and %d asked; an undisturbed one asks %d", i, had, known, asked, total)
		}
	}
	text, err := exec.Command("git", "-C", h.Dir, "worktree", "list").CombinedOutput()
	if err != nil || strings.Count(string(text), "\n") != 1 {
		t.Errorf("%s%v", text, err)
	}
}

// trials is how many answers the store of a bisection has.
func trials(t *testing.T, dir string) int {
	path := filepath.Join(dir, "store.db")
	if _, err := os.Stat(path); err != nil {
		return 0
	}
	st, err := replay.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	all, err := st.Trials(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

package axis

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/tools/whittle/axis/axistest"
)

func needGit(t *testing.T) {
	t.Helper()
	if _, err := git(ctx, ".", "--version"); err != nil {
		t.Skip("builds are of commits, and there is no git: ", err)
	}
}

func TestReadCommits(t *testing.T) {
	needGit(t)
	h := axistest.Make(t, t.TempDir(), 1, 60, 10)
	first, last := h.Commits[0], h.Commits[len(h.Commits)-1]
	c, err := ReadCommits(ctx, h.Dir, first, "main", false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h.Commits, c.Hashes); diff != "" || c.Parents == nil {
		t.Error(diff)
	}
	for i, hash := range c.Hashes {
		text, err := git(ctx, h.Dir, "log", "-1", "--format=%P", hash)
		var want []int
		for _, p := range strings.Fields(text) {
			want = append(want, slices.Index(c.Hashes, p))
		}
		if diff := cmp.Diff(want, c.Parents(i)); diff != "" || err != nil {
			t.Error(hash, diff, err)
		}
	}
	c, err = ReadCommits(ctx, h.Dir, first, "main", true)
	if err != nil || c.Parents != nil || len(c.Hashes) >= len(h.Commits) || c.Hashes[0] != first || c.Hashes[len(c.Hashes)-1] != last {
		t.Error(c, err)
	}
	if got := c.Title(ctx, first); !strings.HasSuffix(got, "2023-11-14 change 0") {
		t.Error(got)
	}
	for _, bad := range [][3]string{{"nowhere", "main", "nowhere: no such commit"}, {"main", first, "does not come before"}, {"main", "main", "are one commit"}, {"--all", "main", "no such commit"}} {
		if _, err := ReadCommits(ctx, h.Dir, bad[0], bad[1], false); err == nil || !strings.Contains(err.Error(), bad[2]) {
			t.Error(bad, err)
		}
	}
}

func TestBuilds(t *testing.T) {
	needGit(t)
	h := axistest.Make(t, t.TempDir(), 2, 12, 3)
	dir := filepath.Join(t.TempDir(), "builds")
	command := `test "$(cat broken)" = no || { echo it is broken >&2; exit 1; }; git rev-parse HEAD > made; cat bug > artifact`
	b := &Builds{Repo: h.Dir, Dir: dir, Command: command, Artifacts: []string{"artifact"}, AtOnce: 2}
	sums := map[string]int{}
	for _, c := range h.Commits {
		x, err := b.Need(ctx, c)
		broken, gerr := git(ctx, h.Dir, "show", c+":broken")
		var bad *BuildError
		if gerr != nil || errors.As(err, &bad) != (broken == "yes") || bad != nil && bad.Said != "it is broken" {
			t.Fatal(c, err, gerr)
		}
		if err != nil {
			continue
		}
		if made, _ := os.ReadFile(filepath.Join(x.Path, "made")); strings.TrimSpace(string(made)) != c {
			t.Errorf("%s: %q", c, made)
		}
		if _, err := os.Stat(filepath.Join(x.Path, ".git")); err == nil {
			t.Error("a build is still a worktree")
		}
		sums[x.Sum]++
		x.Release()
	}
	if len(sums) != 2 {
		t.Errorf("%d different artifacts, want 2: %v", len(sums), sums)
	}
	made := b.cost.Made
	if x, err := b.Need(ctx, h.Commits[0]); err != nil || b.cost.Made != made {
		t.Error("built twice", err)
	} else {
		x.Release()
	}
	if text, err := git(ctx, h.Dir, "worktree", "list"); err != nil || strings.Contains(text, dir) {
		t.Error(text, err)
	}
	b.Close()
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is left")
	}
}

// TestBuildsBound: what was used longest ago goes first, and what is in use stays.
func TestBuildsBound(t *testing.T) {
	needGit(t)
	h := axistest.Make(t, t.TempDir(), 3, 6, 1000)
	dir := t.TempDir()
	b := &Builds{Repo: h.Dir, Dir: dir, Command: "head -c 100000 /dev/zero > large", Size: 250_000, Keep: true}
	first, err := b.Need(ctx, h.Commits[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range h.Commits[1:] {
		x, err := b.Need(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		x.Release()
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*", "tree", "id"))
	if _, err := os.Stat(first.Path); err != nil || len(left) != 2 {
		t.Error(err, left)
	}
	first.Release()
	b.Close()
	again := &Builds{Repo: h.Dir, Dir: dir, Command: b.Command, Keep: true}
	if x, err := again.Need(ctx, h.Commits[0]); err != nil || again.cost.Made != 0 {
		t.Error("what was kept is built again", err)
	} else {
		x.Release()
	}
	again.Close()
}

// TestBuildsClean: what a killed process left is removed, from the repository's list as well.
func TestBuildsClean(t *testing.T) {
	needGit(t)
	h := axistest.Make(t, t.TempDir(), 4, 6, 1000)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, commit := range map[string]string{"half-1": h.Commits[0], "gone-2": h.Commits[1]} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := git(ctx, h.Dir, "worktree", "add", "--detach", filepath.Join(dir, name, "tree"), commit); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "gone-2", "tree")); err != nil {
		t.Fatal(err)
	}
	b := &Builds{Repo: h.Dir, Dir: dir}
	b.Clean(ctx)
	text, err := git(ctx, h.Dir, "worktree", "list")
	if left, _ := os.ReadDir(dir); err != nil || len(left) > 0 || strings.Contains(text, dir) {
		t.Error(text, err, left)
	}
}

// TestBuildsAhead: a build that is made ahead is there when it is needed, and one that nobody needs makes room.
func TestBuildsAhead(t *testing.T) {
	needGit(t)
	h := axistest.Make(t, t.TempDir(), 5, 6, 1000)
	b := &Builds{Repo: h.Dir, Dir: filepath.Join(t.TempDir(), "builds"), Command: `test "$(cat id)" != 1 || sleep 60`, AtOnce: 1}
	b.Ahead(ctx, h.Commits[0])
	idle, cancel := context.WithCancel(ctx)
	cancel()
	b.Ahead(idle, h.Commits[1]) // it begins, or does not
	var slow string
	for _, c := range h.Commits {
		if id, err := git(ctx, h.Dir, "show", c+":id"); err == nil && id == "1" {
			slow = c
		}
	}
	soon, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Ahead(soon, slow)
	}()
	for _, c := range h.Commits {
		if c == slow {
			continue
		}
		x, err := b.Need(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		x.Release()
	}
	stop()
	<-done
	if cost := b.Close(); cost.Ahead < 1 || cost.Made < len(h.Commits)-1 {
		t.Errorf("%+v", cost)
	}
}

// TestBuildsSubmodules: a build has the submodules that its commit names, those of submodules as well; the repository's own configuration stays as it is, and one
// that cannot be had is the commit's fault.
func TestBuildsSubmodules(t *testing.T) {
	needGit(t)
	for name, value := range map[string]string{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"} {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	made := func(name string, commands string) string {
		path := filepath.Join(dir, name)
		text := "set -e\ngit init --quiet --initial-branch=main " + path + "\ncd " + path + "\ngit config user.name A\ngit config user.email a@example.org\ngit config commit.gpgsign false\n" + commands
		if out, err := exec.Command("sh", "-c", text).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return path
	}
	commit := func(text string) string { return "git add .\ngit commit --quiet -m '" + text + "'\n" }
	made("inner", "echo innermost > leaf\n"+commit("inner"))
	made("outer", "echo one > text\ngit submodule --quiet add ../inner deep\n"+commit("one")+"git tag one\necho two > text\n"+commit("two"))
	repo := made("repo", "git remote add origin "+dir+"/repo\necho 0 > x\n"+commit("zero")+"git tag zero\n"+
		"git submodule --quiet add ../outer sub\ngit -C sub checkout --quiet one\n"+commit("with")+"git tag with\ngit -C sub checkout --quiet main\n"+commit("newer")+"git tag newer\n"+
		"git config --file .gitmodules submodule.sub.url ../nowhere\n"+commit("broken")+"git tag broken\n")
	// The user's own checkout has the submodule's address in its settings; what a commit says counts where these say nothing.
	if _, err := git(ctx, repo, "config", "--remove-section", "submodule.sub"); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(repo, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	b := &Builds{Repo: repo, Dir: filepath.Join(dir, "builds"), Command: "cat x sub/text sub/deep/leaf > built 2>/dev/null || test ! -f .gitmodules"}
	got := map[string]string{}
	for _, name := range []string{"zero", "with", "newer", "broken"} {
		x, err := b.Need(ctx, name)
		var bad *BuildError
		if errors.As(err, &bad) {
			got[name] = strings.SplitAfter(bad.Error(), "submodules: ")[0]
			continue
		}
		if err != nil {
			t.Fatal(name, err)
		}
		text, _ := os.ReadFile(filepath.Join(x.Path, "built"))
		got[name] = string(text)
		_ = filepath.WalkDir(x.Path, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() == ".git" {
				t.Error(path, err)
			}
			return nil
		})
		x.Release()
	}
	want := map[string]string{"zero": "0\n", "with": "0\none\ninnermost\n", "newer": "0\ntwo\ninnermost\n", "broken": "does not build: submodules: "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	b.Close()
	if after, err := os.ReadFile(filepath.Join(repo, ".git", "config")); err != nil || string(after) != string(config) {
		t.Errorf("%v: the repository's configuration is now %s", err, after)
	}
}

// TestBuildsLimit: a build that takes too long is ended, and the commit's fault.
func TestBuildsLimit(t *testing.T) {
	needGit(t)
	h := axistest.Make(t, t.TempDir(), 6, 2, 1000)
	b := &Builds{Repo: h.Dir, Dir: filepath.Join(t.TempDir(), "builds"), Command: "echo begun; sleep 60", Limit: 200 * time.Millisecond}
	var bad *BuildError
	if _, err := b.Need(ctx, h.Commits[0]); !errors.As(err, &bad) || bad.Error() != "does not build: ran longer than 200ms: begun" {
		t.Error(err)
	}
	b.Close()
}

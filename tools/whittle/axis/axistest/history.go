// Package axistest makes git repositories to bisect, for tests.
package axistest

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// History is a repository whose commits have merges among them. Each has three files: "id", which no two share; "bug", which says yes in the guilty commit and
// in all that have it among those they were made from, else no; and "broken", which says yes in commits that cannot be built.
type History struct {
	Dir     string
	Guilty  string // its hash
	Commits []string
	Broken  int
}

// Make makes a history of n commits in an empty folder, all from one seed. One commit in share cannot be built, but for the first, the last, the guilty one
// and those that it was made from, so that it can be told.
func Make(t testing.TB, dir string, seed uint64, n, share int) History {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	guilty := 1 + r.IntN(n-1)
	parents := make([][]int, n)
	bug := make([]bool, n)
	merged := make([]bool, n)
	var text strings.Builder
	h := History{Dir: dir}
	for i := range n {
		switch {
		case i == 0:
		case i > 3 && i < n-1 && r.IntN(6) == 0: // a branch
			parents[i] = []int{i - 1 - r.IntN(3)}
		default:
			parents[i] = []int{i - 1}
			for j := i - 2; j >= 0 && j > i-8; j-- {
				if !merged[j] && (r.IntN(2) == 0 || i == n-1) {
					parents[i] = append(parents[i], j)
				}
			}
		}
		if i == n-1 {
			for j := range i - 1 {
				if !merged[j] && !slices.Contains(parents[i], j) {
					parents[i] = append(parents[i], j)
				}
			}
		}
		bug[i] = i == guilty
		for _, p := range parents[i] {
			merged[p] = true
			bug[i] = bug[i] || bug[p]
		}
	}
	yes := map[bool]string{true: "yes\n", false: "no\n"}
	for i := range n {
		broken := r.IntN(share) == 0 && i > 0 && i < n-1 && i != guilty && !slices.Contains(parents[guilty], i)
		if broken {
			h.Broken++
		}
		message := fmt.Sprintf("change %d", i)
		fmt.Fprintf(&text, "commit refs/heads/main\nmark :%d\ncommitter A <a@example.org> %d +0000\ndata %d\n%s\n", i+1, 1700000000+i, len(message), message)
		for k, p := range parents[i] {
			fmt.Fprintf(&text, "%s :%d\n", map[bool]string{true: "from", false: "merge"}[k == 0], p+1)
		}
		for name, data := range map[string]string{"id": fmt.Sprintln(i), "bug": yes[bug[i]], "broken": yes[broken]} {
			fmt.Fprintf(&text, "M 100644 inline %s\ndata %d\n%s\n", name, len(data), data)
		}
	}
	run(t, dir, "", "init", "--quiet", "--initial-branch=main")
	run(t, dir, text.String(), "fast-import", "--quiet", "--force", "--export-marks=.git/marks")
	run(t, dir, "", "reset", "--quiet", "--hard")
	h.Commits = strings.Fields(run(t, dir, "", "rev-list", "--reverse", "--topo-order", "main"))
	for _, line := range strings.Split(run(t, dir, "", "log", "--format=%H %s", "main"), "\n") {
		if hash, subject, _ := strings.Cut(line, " "); subject == fmt.Sprintf("change %d", guilty) {
			h.Guilty = hash
		}
	}
	return h
}

// run runs git and gives what it prints.
func run(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

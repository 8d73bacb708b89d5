package axis

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Commits is a part of a repository's history: a good commit, and those that lead from it to a bad one.
type Commits struct {
	Repo   string   // a folder of it
	Hashes []string // each after its parents; the good commit first, the bad one last
	// Parents are those of a commit that are in the list, by their places. nil: each has the one before it as its only parent.
	Parents func(i int) []int
}

// ReadCommits reads the commits that lead from good to bad, which has to come after it; of merges only the first parents if so wanted. It
// changes nothing in the repository.
func ReadCommits(ctx context.Context, repo, good, bad string, firstParent bool) (*Commits, error) {
	var ends []string
	for _, name := range []string{good, bad} {
		hash, err := git(ctx, repo, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
		if err != nil {
			return nil, fmt.Errorf("%s: no such commit in %s", name, repo)
		}
		ends = append(ends, hash)
	}
	if base, err := git(ctx, repo, "merge-base", ends[0], ends[1]); err != nil || base != ends[0] {
		if err != nil {
			base = "none"
		}
		return nil, fmt.Errorf("%s does not come before %s: the last commit that they have in common is %s", good, bad, base)
	}
	args := []string{"rev-list", "--reverse", "--topo-order", "--parents"}
	if firstParent {
		args = append(args, "--first-parent")
	}
	text, err := git(ctx, repo, append(args, ends[0]+".."+ends[1])...)
	if err != nil {
		return nil, err
	}
	c := &Commits{Repo: repo, Hashes: []string{ends[0]}}
	place := map[string]int{ends[0]: 0}
	parents := [][]int{nil}
	chain := true
	for _, line := range lines([]byte(text)) {
		f := strings.Fields(line)
		i := len(c.Hashes)
		var of []int
		for _, p := range f[1:] {
			if at, ok := place[p]; ok && !(firstParent && len(of) > 0) {
				of = append(of, at)
			}
		}
		chain = chain && slices.Equal(of, []int{i - 1})
		place[f[0]] = i
		c.Hashes, parents = append(c.Hashes, f[0]), append(parents, of)
	}
	if len(c.Hashes) < 2 {
		return nil, fmt.Errorf("%s and %s are one commit", good, bad)
	}
	if !chain && !firstParent {
		c.Parents = func(i int) []int { return parents[i] }
	}
	return c, nil
}

// Title is a commit's short hash, its date and its subject.
func (c *Commits) Title(ctx context.Context, hash string) string {
	text, err := git(ctx, c.Repo, "log", "-1", "--format=%h %cs %s", hash)
	if err != nil {
		return hash
	}
	return text
}

// Subject is the first line of what a commit's message says.
func Subject(ctx context.Context, repo, hash string) (string, error) {
	return git(ctx, repo, "log", "-1", "--format=%s", hash)
}

// git runs git in a folder and gives what it prints. None of the repository's hooks are run.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

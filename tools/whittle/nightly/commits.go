package nightly

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"whittle/minify/bisect"
	"whittle/replay"
	"whittle/tools/whittle/axis"
)

// Commits say how the commits between two versions are built and started.
type Commits struct {
	Repo        string   `toml:"repo"`         // a folder of the git repository, relative to the configuration; its own checkout is not touched
	Revision    string   `toml:"revision"`     // that a version is, such as v{}; "" => the version itself names one
	Build       string   `toml:"build"`        // command, by the shell, that builds a commit, in a worktree of it; "" => nothing is built
	Engine      string   `toml:"engine"`       // command that starts a build, in the manner of the engine's own; {} stands for the folder of the build
	Artifacts   []string `toml:"artifacts"`    // what a test depends on, as patterns below the build: builds in which these are equal are measured once
	FirstParent bool     `toml:"first_parent"` // a merge is one change, whatever it merges
	Cache       string   `toml:"cache"`        // folder that keeps builds; "" => one of whittle's own
	CacheSize   string   `toml:"cache_size"`   // that it may have: 500M, 20G; "" => 10G
}

// check refuses what makes no sense in the table at a place of the configuration.
func (c *Commits) check(at string, native bool, fail func(key, format string, args ...any) error) error {
	switch {
	case native:
		return fail(at, "whittle's own stack has one version: this one")
	case c.Repo == "":
		return fail(at, "commits need a repo: a folder of the git repository")
	case !strings.Contains(c.Engine, axis.Place):
		return fail(at+".engine", "the engine's command does not say which build it starts: put %s into it", axis.Place)
	case c.CacheSize != "" && !sizes().MatchString(c.CacheSize):
		return fail(at+".cache_size", "cache_size = %q is no size: 500M and 8G are", c.CacheSize)
	}
	return nil
}

// revision is the commit that a version is.
func (c *Commits) revision(version string) string {
	return strings.ReplaceAll(defaultTo(c.Revision, axis.Place), axis.Place, version)
}

// size is how many bytes of builds are kept.
func (c *Commits) size() int64 {
	text := defaultTo(c.CacheSize, "10G")
	var n int64
	for _, d := range strings.TrimRight(text, "KMG") {
		n = 10*n + int64(d-'0')
	}
	return n << (10 * (1 + strings.Index("KMG", text[len(text)-1:])))
}

// Commit is the commit with which something came, or went.
type Commit struct {
	Hash    string   `json:"hash,omitempty"` // the first that surely has the change
	Subject string   `json:"subject,omitempty"`
	Untold  []string `json:"untold,omitempty"` // commits before it that may be the first one, but could not be told: they do not build, or fail in another way
	More    bool     `json:"more,omitempty"`   // there is more than one change
	Why     string   `json:"why,omitempty"`    // it is not known
	Chance  *Chance  `json:"chance,omitempty"` // of a flaky failure
}

func (c Commit) text(fixed bool) string {
	if c.Why != "" {
		return "its commit was not found: " + c.Why
	}
	first := "first bad commit"
	if fixed {
		first = "first good commit"
	}
	s := fmt.Sprintf("%s %.12s (%s)", first, c.Hash, c.Subject)
	if len(c.Untold) > 0 {
		s += fmt.Sprintf(" or one of %s before it, from %.12s on, which cannot be told", replay.Count(len(c.Untold), "commit"), c.Untold[0])
	}
	if c.More {
		s += " (it came and went more than once)"
	}
	return s + c.Chance.text()
}

// commits goes on where a bisection of versions has ended: with the commits between two of them, where the configuration says which these are.
func (n *night) commits(ctx context.Context, x item, want replay.Signature, r *Range, good, bad Engine, flaky bool) error {
	if good.Commits == nil || bad.Commits == nil || n.Config.At(good.Commits.Repo) != n.Config.At(bad.Commits.Repo) {
		return nil
	}
	h, names, err := n.huntCommits(ctx, x, want, good, bad, flaky)
	var wrong *commitsError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &wrong):
		r.Commit = &Commit{Why: plain(wrong.Error())}
		return nil
	case err != nil:
		return err
	}
	r.Commit = &Commit{}
	if h.likely != nil {
		r.Commit.Chance = newChance(h.likely)
	}
	if h.ends != nil {
		r.Commit.Why = same(h.ends, []string{names[0][:12], names[len(names)-1][:12]})
		if r.Commit.Why == string(bisect.Bad) {
			r.Commit.Why = "bad on all of them, from " + names[0][:12] + " on"
		}
		return n.Store.FinishBisection(ctx, h.id, r.Commit.text(r.Fixed))
	}
	last := h.Suspects[len(h.Suspects)-1]
	r.Commit.Hash, r.Commit.More = names[last], len(h.Doubts) > 0
	for _, i := range h.Suspects[:len(h.Suspects)-1] {
		r.Commit.Untold = append(r.Commit.Untold, names[i])
	}
	if r.Commit.Subject, err = axis.Subject(ctx, n.Config.At(bad.Commits.Repo), names[last]); err != nil {
		return err
	}
	r.Commit.Subject, r.id = plain(r.Commit.Subject), h.id
	return n.Store.FinishBisection(ctx, h.id, r.Commit.text(r.Fixed))
}

// commitsError says why commits cannot be bisected, by a fault of the configuration or of the repository.
type commitsError struct{ err error }

func (e *commitsError) Error() string { return e.err.Error() }

// huntCommits bisects the commits from a good version to a bad one.
func (n *night) huntCommits(ctx context.Context, x item, want replay.Signature, good, bad Engine, flaky bool) (h hunt, names []string, err error) {
	c := bad.Commits
	repo := n.Config.At(c.Repo)
	list, err := axis.ReadCommits(ctx, repo, good.Commits.revision(good.Version), c.revision(bad.Version), c.FirstParent || flaky) // what flakes needs an order
	if err != nil {
		if ctx.Err() != nil {
			return h, nil, ctx.Err()
		}
		return h, nil, &commitsError{err}
	}
	builds, err := n.builds(ctx, c)
	if err != nil {
		return h, nil, &commitsError{err}
	}
	same := sameBuilds{answers: map[string]*replay.Outcome{}}
	p := points{kind: "commits", names: list.Hashes, parents: list.Parents, kept: true, test: func(ctx context.Context, point, attempt int) (*replay.Outcome, bisect.Answer, error) {
		hash := list.Hashes[point]
		build, err := builds.Need(ctx, hash)
		var broken *axis.BuildError
		switch {
		case errors.As(err, &broken):
			return nil, bisect.Answer{Verdict: bisect.Skip, Text: plain(broken.Error())}, nil
		case err != nil:
			return nil, bisect.Answer{}, &commitsError{err}
		}
		defer build.Release()
		if o := same.get(build.Sum); o != nil && !flaky { // of what is wrong now and then every answer counts
			return o, bisect.Answer{}, nil
		}
		o, a, err := n.point(ctx, ask{x: x, e: c.engine(bad, hash, build.Path), attempt: attempt}, false)
		if o != nil && err == nil {
			same.put(build.Sum, o)
		}
		return o, a, err
	}, ahead: func(ctx context.Context, point int) { builds.Ahead(ctx, list.Hashes[point]) }}
	h, err = n.hunt(ctx, x, want, p, flaky)
	return h, list.Hashes, err
}

// engine is that of a commit's build, of the kind that the version's is.
func (c *Commits) engine(of Engine, hash, folder string) Engine {
	words := axis.Fill(strings.Fields(c.Engine), folder)
	if len(of.Torch) > 0 {
		return Engine{Version: hash, Torch: words}
	}
	return Engine{Version: hash, Command: words}
}

// sameBuilds has what was measured of builds, by their sums.
type sameBuilds struct {
	mu      sync.Mutex
	answers map[string]*replay.Outcome
}

func (s *sameBuilds) get(sum string) *replay.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers[sum]
}

func (s *sameBuilds) put(sum string, o *replay.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[sum] = o
}

// builds are those of a repository, in a folder that outlives the night.
func (n *night) builds(ctx context.Context, c *Commits) (*axis.Builds, error) {
	repo := n.Config.At(c.Repo)
	dir := n.Config.At(c.Cache)
	if c.Cache == "" {
		dir = filepath.Join(defaultTo(n.Cache, os.TempDir()), replay.HashOf(repo, c.Build)[:16])
	}
	dir, err := axis.Folder(dir)
	if err != nil {
		return nil, err
	}
	if b := n.built[dir]; b != nil {
		return b, nil
	}
	b := &axis.Builds{Repo: repo, Dir: dir, Command: c.Build, Limit: time.Duration(n.Config.Limits.BuildTimeout), Size: c.size(), Keep: true, Artifacts: c.Artifacts, AtOnce: n.Jobs}
	b.Clean(ctx)
	n.built[dir] = b
	return b, nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"whittle/minify/bisect"
	"whittle/replay"
	"whittle/tools/whittle/axis"
)

// bisectTests are the points along the axis of a command, and what it takes to test them.
type bisectTests struct {
	a       *app
	o       bisectOptions
	points  []string
	commits *axis.Commits // nil: the points are versions
	builds  *axis.Builds  // of commits
	engines *versionEngines
	names   map[string]string // of files, by their path: what the user calls them; see things
	made    []string          // folders

	mu   sync.Mutex
	same map[string]answered // by what was tested, and the sum of the build
}

// answered is a commit's answer, which is that of others with the same build.
type answered struct {
	point string
	reply reply
}

// tests reads the axis that the flags name.
func (a *app) tests(ctx context.Context, o bisectOptions) (*bisectTests, error) {
	t := &bisectTests{a: a, o: o, engines: &versionEngines{options: o.engineOptions, most: max(a.workers, 2), open: map[string]*versionEngine{}}, same: map[string]answered{}, names: map[string]string{}}
	var err error
	switch {
	case o.settings != "", o.layers, o.calls:
	case o.versions != "":
		t.points, err = axis.Versions(o.versions)
	case o.versionsFrom != "":
		t.points, err = axis.VersionsFrom(ctx, o.versionsFrom)
	default:
		err = t.readCommits(ctx)
	}
	if err != nil && ctx.Err() == nil {
		err = usageError{err}
	}
	return t, err
}

// readCommits reads the history, and finds the folder for what is built of it.
func (t *bisectTests) readCommits(ctx context.Context) error {
	good, bad, ok := strings.Cut(t.o.commits, "..")
	if !ok || good == "" || bad == "" || strings.HasPrefix(bad, ".") {
		return fmt.Errorf("--commits %s: GOOD..BAD", t.o.commits)
	}
	repo, err := filepath.Abs(t.o.repo)
	if err != nil {
		return err
	}
	if t.commits, err = axis.ReadCommits(ctx, repo, good, bad, t.o.firstParent); err != nil {
		return err
	}
	if t.commits.Parents != nil && t.o.noisy() {
		return errors.New("tests that are wrong now and then need an order: --first-parent, as there are merges")
	}
	dir := t.o.cache
	if dir == "" {
		dir = filepath.Join(cacheDir(), "bisect", replay.HashOf(repo, t.o.build)[:16])
	}
	if dir, err = axis.Folder(dir); err != nil {
		return err
	}
	size, err := parseBytes(t.o.cacheSize)
	if err != nil {
		return err
	}
	t.points = t.commits.Hashes
	t.builds = &axis.Builds{Repo: repo, Dir: dir, Command: t.o.build, Limit: t.o.buildTimeout, Size: size, Keep: t.o.cache != "", Artifacts: t.o.artifacts, AtOnce: max(t.a.workers, 1)}
	t.builds.Clean(ctx)
	return nil
}

// close ends what tests have started: first what runs from builds, then these.
func (t *bisectTests) close() {
	t.engines.close()
	for _, dir := range t.made {
		os.RemoveAll(dir)
	}
	if t.builds == nil {
		return
	}
	if c := t.builds.Close(); c.Made > 0 {
		fmt.Fprintf(t.a.stderr, "whittle: %s, %d of them ahead by idle workers, of which %d were needed\n", replay.Count(c.Made, "build"), c.Ahead, c.Used)
	}
}

// of gives the bisections of a command, or of repros.
func (t *bisectTests) of(files, command []string) ([]*bisection, error) {
	if len(command) == 0 {
		return t.ofRepros(files)
	}
	c := axis.Command{Args: command, Limit: t.o.limit}
	if t.o.settings != "" {
		b, err := t.settingsOfCommand(c)
		return []*bisection{b}, err
	}
	b := &bisection{subject: axis.Line(c.Args), key: replay.HashOf("command", c.Key(), c.Limit.String())}
	if t.builds == nil {
		b.rerun = func(point string) string { return axis.Line(axis.Fill(c.Args, point)) }
	}
	return []*bisection{t.along(b, func(ctx context.Context, point, at string, _ int) (reply, error) {
		dir := ""
		if t.builds != nil {
			dir = at
		}
		a, err := c.Test(ctx, point, dir, nil)
		return reply{Answer: a}, err
	})}, nil
}

// along puts a thing onto the axis. test is told the point, and at what it is to be tested: the version, or the folder of the commit's build.
func (t *bisectTests) along(b *bisection, test func(ctx context.Context, point, at string, attempt int) (reply, error)) *bisection {
	b.points = t.points
	if t.builds == nil {
		b.kind = "versions"
		b.key = replay.HashOf(b.kind, b.key)
		b.test = func(ctx context.Context, point string, attempt int) (reply, error) {
			return test(ctx, point, point, attempt)
		}
		return b
	}
	b.kind, b.parents, b.ahead = "commits", t.commits.Parents, t.builds.Ahead
	b.key = replay.HashOf(b.kind, b.key, t.commits.Repo, t.o.build, strings.Join(t.o.artifacts, "\n"))
	if t.o.buildTimeout > 0 { // what takes too long for one may not for another
		b.key = replay.HashOf(b.key, t.o.buildTimeout.String())
	}
	b.title = func(point string) string { return t.commits.Title(context.Background(), point) }
	b.test = func(ctx context.Context, point string, attempt int) (reply, error) {
		build, err := t.builds.Need(ctx, point)
		var broken *axis.BuildError
		if errors.As(err, &broken) {
			return reply{Answer: bisect.Answer{Verdict: bisect.Skip, Text: broken.Error()}}, nil
		}
		if err != nil {
			return reply{}, err
		}
		defer build.Release()
		return t.once(b.key+build.Sum, point, func() (reply, error) { return test(ctx, point, build.Path, attempt) })
	}
	return b
}

// once answers a test of a commit by that of another whose build is the same. Tests that are wrong now and then are made each time: every answer counts.
func (t *bisectTests) once(key, point string, test func() (reply, error)) (reply, error) {
	if t.o.noisy() {
		return test()
	}
	t.mu.Lock()
	other, ok := t.same[key]
	t.mu.Unlock()
	if ok && other.point != point {
		r := other.reply
		if r.outcome == nil {
			r.Text = strings.TrimSuffix(fmt.Sprintf("its build is that of %.12s: %s", other.point, r.Text), ": ")
		}
		return r, nil
	}
	r, err := test()
	if err == nil && !r.fleeting {
		t.mu.Lock()
		t.same[key] = answered{point, r}
		t.mu.Unlock()
	}
	return r, err
}

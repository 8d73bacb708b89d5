package axis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sourcegraph/conc"
	"golang.org/x/sys/unix"

	"whittle/replay"
	"whittle/replay/files"
)

// Builds makes what is tested of commits, each in a worktree of its own below Dir, with its submodules, and keeps it by content: two commits with the same
// files and the same build command share one. The repository's own checkout and configuration are not touched.
//
// Each build is a folder of Dir: "tree" with the files, "done" with what there is to say about it, made when it is whole, and "lock", which whoever
// makes or uses it holds. So a build that a killed process left half made is known by its free lock, and is removed; and several processes may
// share Dir. A build that has a command is cut off from the repository when it is done: it has no .git.
type Builds struct {
	Repo      string
	Dir       string        // absolute; made where it is not there
	Command   string        // by the shell, in the worktree; "" => nothing is built
	Limit     time.Duration // of one build, and likewise of getting the submodules; 0 => none
	Size      int64         // bytes that Dir may hold; those used longest ago go first; 0 => no bound
	Keep      bool          // Dir outlives Close
	Artifacts []string      // what a test depends on, as patterns below the worktree; none => all files of the commit
	AtOnce    int           // builds that run side by side; 0 => 1

	mu      sync.Mutex
	git     sync.Mutex // worktrees are added one at a time
	work    conc.WaitGroup
	flights map[string]*flight
	cost    BuildCost
}

// Folder makes a folder for builds, and gives its path as git prints it.
func Folder(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// BuildCost is what builds took.
type BuildCost struct {
	Made  int // builds that ran to their end
	Ahead int // of those, before anybody needed them
	Used  int // of those that were made ahead, and needed later
}

// Build is one that can be used, until it is released.
type Build struct {
	Path string // of its files
	Sum  string // of its artifacts: builds with the same sum are one to a test
	lock *os.File
}

// Release lets it go: it may be removed from now on.
func (b *Build) Release() { _ = b.lock.Close() }

// BuildError says that a commit cannot be built.
type BuildError struct{ How, Said string }

func (e *BuildError) Error() string {
	return strings.TrimSuffix("does not build: "+e.How+": "+e.Said, ": ")
}

// flight is a build that is being made.
type flight struct {
	done   chan struct{}
	cancel context.CancelFunc
	needed bool
	err    error
}

// Need gives the build of a commit, which is made if it is not there. The error is a *BuildError where the commit is at fault.
func (b *Builds) Need(ctx context.Context, commit string) (*Build, error) {
	return b.get(ctx, commit, true)
}

// Ahead makes the build of a commit that somebody may need soon, where there is a place for it, and waits for it until ctx ends; the build goes on then.
func (b *Builds) Ahead(ctx context.Context, commit string) {
	if x, err := b.get(ctx, commit, false); err == nil {
		x.Release()
	}
}

func (b *Builds) get(ctx context.Context, commit string, needed bool) (*Build, error) {
	for {
		if x, err := b.look(ctx, commit, needed); x != nil || err != nil {
			return x, err
		}
	}
}

// look finds a build, or waits for one that is being made, or makes it. Neither a build nor an error: it has to be looked for again.
func (b *Builds) look(ctx context.Context, commit string, needed bool) (*Build, error) {
	tree, err := git(ctx, b.Repo, "rev-parse", commit+"^{tree}")
	if err != nil {
		return nil, err
	}
	key := replay.HashOf(tree, b.Command)[:32]
	b.mu.Lock()
	f := b.flights[key]
	if f == nil {
		if x, err := b.find(key, tree); x != nil || err != nil {
			b.mu.Unlock()
			return x, err
		}
		if f = b.start(ctx, key, commit, needed); f == nil {
			b.mu.Unlock()
			select { // for a place
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * time.Millisecond):
				return nil, nil
			}
		}
	} else if needed && !f.needed {
		f.needed = true
		b.cost.Used++
	}
	b.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.done:
	}
	if errors.Is(f.err, context.Canceled) && ctx.Err() == nil {
		return nil, nil // it had to make room for another
	}
	return nil, f.err
}

// start begins a build. Where no place is free, one that nobody needs has to go; nil: all are needed.
func (b *Builds) start(ctx context.Context, key, commit string, needed bool) *flight {
	if b.flights == nil {
		b.flights = map[string]*flight{}
	}
	if len(b.flights) >= max(b.AtOnce, 1) {
		if needed {
			for _, f := range b.flights {
				if !f.needed {
					f.cancel() // its place is free when it has ended
					break
				}
			}
		}
		return nil
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{done: make(chan struct{}), cancel: cancel, needed: needed}
	b.flights[key] = f
	b.work.Go(func() {
		defer cancel()
		err := b.make(life, key, commit)
		b.mu.Lock()
		defer b.mu.Unlock()
		f.err = err
		var bad *BuildError
		if err == nil || errors.As(err, &bad) {
			b.cost.Made++
			if !needed {
				b.cost.Ahead++
			}
		}
		delete(b.flights, key)
		close(f.done)
	})
	return f
}

// note is what stands in the file "done".
type note struct {
	Commit string `json:"commit"`
	Bytes  int64  `json:"bytes"`
}

// make makes a build.
func (b *Builds) make(ctx context.Context, key, commit string) error {
	if err := os.MkdirAll(b.Dir, 0o777); err != nil {
		return err
	}
	entry, err := os.MkdirTemp(b.Dir, key+"-")
	if err != nil {
		return err
	}
	lock, err := lockFile(filepath.Join(entry, "lock"), unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Close()
	tree := filepath.Join(entry, "tree")
	if err = b.checkout(ctx, tree, commit); err == nil && b.Command != "" {
		err = b.command(ctx, tree, "", "sh", "-c", b.Command)
		if cut := b.cutOff(entry, tree); err == nil {
			err = cut
		}
	}
	if err != nil {
		b.remove(entry)
		return err
	}
	n := note{Commit: commit}
	if n.Bytes, err = size(tree); err != nil {
		b.remove(entry)
		return err
	}
	text, err := json.Marshal(n)
	if err == nil {
		err = files.Replace(filepath.Join(entry, "done"), text)
	}
	if err == nil {
		b.bound(entry)
	}
	return err
}

// command runs a command in a checkout. The error is a *BuildError, which what begins, where the command does not end well.
func (b *Builds) command(ctx context.Context, tree, what string, words ...string) error {
	out := &tail{}
	state, late, err := run(ctx, words, tree, nil, b.Limit, out)
	switch {
	case err != nil:
		return err
	case late:
		return &BuildError{fmt.Sprintf("%sran longer than %v", what, b.Limit), out.last()}
	case !state.Success():
		return &BuildError{what + state.String(), out.last()}
	}
	return nil
}

// remove removes a build, and the repository's memory of its worktree, if there is any.
func (b *Builds) remove(entry string) {
	tree := filepath.Join(entry, "tree")
	if _, err := os.Lstat(filepath.Join(tree, ".git")); err == nil {
		b.git.Lock()
		_, _ = git(context.Background(), b.Repo, "worktree", "remove", "--force", "--force", tree) // the folder goes anyway
		b.git.Unlock()
	}
	_ = os.RemoveAll(entry) // what cannot go now, goes with the next clean
}

// size is how many bytes the files below a folder have.
func size(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		st, err := d.Info()
		if err == nil {
			n += st.Size()
		}
		return err
	})
	return n, err
}

// sum is that of a build's artifacts; tree stands for it where there are none.
func (b *Builds) sum(dir, tree string) (string, error) {
	h := sha256.New()
	matched := false
	for _, pattern := range b.Artifacts {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s\n%d\n%s", strings.TrimPrefix(path, dir), len(text), text)
			matched = true
		}
	}
	if !matched {
		return tree, nil
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// find gives a build that is there, of the files that git calls tree.
func (b *Builds) find(key, tree string) (*Build, error) {
	entries, _ := filepath.Glob(filepath.Join(b.Dir, key+"-*"))
	for _, e := range entries {
		if _, err := readNote(e); err != nil {
			continue
		}
		lock, err := lockFile(filepath.Join(e, "lock"), unix.LOCK_SH)
		if err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(e, "done")); err != nil { // it was removed just before
			lock.Close()
			continue
		}
		now := time.Now()
		_ = os.Chtimes(filepath.Join(e, "lock"), now, now) // a folder where that fails is bounded less well
		x := &Build{Path: filepath.Join(e, "tree"), lock: lock}
		if x.Sum, err = b.sum(x.Path, tree); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		return x, nil
	}
	return nil, nil
}

func readNote(entry string) (n note, err error) {
	text, err := os.ReadFile(filepath.Join(entry, "done"))
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	return n, err
}

// lockFile opens a file and locks it, if nobody holds it otherwise.
func lockFile(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// bound removes builds until those that are left have no more bytes than Size, but for the one that was just made and those that are in use.
func (b *Builds) bound(made string) {
	if b.Size <= 0 {
		return
	}
	type old struct {
		path string
		used time.Time
		size int64
	}
	var all []old
	total := int64(0)
	entries, _ := filepath.Glob(filepath.Join(b.Dir, "*-*"))
	for _, e := range entries {
		n, err := readNote(e)
		st, serr := os.Stat(filepath.Join(e, "lock"))
		if err != nil || serr != nil {
			continue
		}
		total += n.Bytes
		if e != made {
			all = append(all, old{e, st.ModTime(), n.Bytes})
		}
	}
	slices.SortFunc(all, func(x, y old) int { return x.used.Compare(y.used) })
	for _, x := range all {
		if total <= b.Size {
			return
		}
		if b.drop(x.path) {
			total -= x.size
		}
	}
}

// drop removes a build that nobody uses.
func (b *Builds) drop(entry string) bool {
	lock, err := lockFile(filepath.Join(entry, "lock"), unix.LOCK_EX)
	if err != nil {
		return false
	}
	defer lock.Close()
	_ = os.Remove(filepath.Join(entry, "done")) // first of all: what is half removed is no build
	b.remove(entry)
	return true
}

// Clean removes what processes left half made that are no more.
func (b *Builds) Clean(ctx context.Context) {
	entries, _ := filepath.Glob(filepath.Join(b.Dir, "*-*"))
	for _, e := range entries {
		if _, err := readNote(e); err != nil {
			b.drop(e)
		}
	}
	// A worktree that was killed before its folder was there, or whose folder somebody removed, is still known to git.
	text, err := git(ctx, b.Repo, "worktree", "list", "--porcelain")
	if err != nil {
		return
	}
	for _, line := range strings.Split(text, "\n") {
		path, ok := strings.CutPrefix(line, "worktree ")
		if !ok || !strings.HasPrefix(path, b.Dir+string(filepath.Separator)) {
			continue
		}
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && !b.flying() {
			_, _ = git(ctx, b.Repo, "worktree", "remove", "--force", "--force", path) // git says so again the next time
		}
	}
}

func (b *Builds) flying() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.flights) > 0
}

// Close ends builds that are being made, and removes what is not to be kept. It says what building took.
func (b *Builds) Close() BuildCost {
	b.mu.Lock()
	for _, f := range b.flights {
		f.cancel()
	}
	b.mu.Unlock()
	b.work.Wait()
	entries, _ := filepath.Glob(filepath.Join(b.Dir, "*-*"))
	for _, e := range entries {
		if !b.Keep || b.Command == "" {
			b.drop(e)
		}
	}
	if !b.Keep {
		_ = syscall.Rmdir(b.Dir) // another process may have builds there
	}
	return b.cost
}

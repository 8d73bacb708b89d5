package native

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// The bounds of a cache directory: what nobody used for KernelAge goes, and what was not used for longest while there are more than
// KernelBytes. They are applied by the process that adds to it, once in pruneEvery.
const (
	KernelAge   = 30 * 24 * time.Hour
	KernelBytes = 1 << 30
	pruneEvery  = 24 * time.Hour
)

// Only what a Builder wrote is ever removed: kernels with their sources, and what compilers that were killed left behind.
var (
	reKernel = regexp.MustCompile(`^[0-9a-f]{40}\.(so|cpp)$`)
	reLeft   = regexp.MustCompile(`^src-\d+\.cpp(\.so)?$`)
	reShard  = regexp.MustCompile(`^[0-9a-f]{2}$`)
)

// pruneNow prunes a cache directory whose last time is long ago. What goes wrong costs space alone. The mark is a file whose age is that of
// the last time; the process that can give it a new one does the work.
func pruneNow(dir string, now time.Time) {
	mark := filepath.Join(dir, "pruned")
	if st, err := os.Stat(mark); err == nil && now.Sub(st.ModTime()) < pruneEvery {
		return
	}
	f, err := os.OpenFile(mark, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return
	}
	if errors.Join(f.Close(), os.Chtimes(mark, now, now)) == nil {
		_ = Prune(dir, now, KernelAge, KernelBytes)
	}
}

// Prune removes from a cache directory the kernels that were not used since age before now, and then those that were not used for longest
// until at most most bytes are left. Kernels that are loaded go on working; one that is wanted again is compiled again.
func Prune(dir string, now time.Time, age time.Duration, most int64) error {
	type kernel struct {
		base  string // without .so and .cpp
		used  time.Time
		bytes int64
	}
	all := map[string]*kernel{}
	shards, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, shard := range shards {
		if !shard.IsDir() || !reShard.MatchString(shard.Name()) {
			continue
		}
		files, rerr := os.ReadDir(filepath.Join(dir, shard.Name()))
		err = errors.Join(err, rerr)
		for _, f := range files {
			st, serr := f.Info()
			if serr != nil || !st.Mode().IsRegular() { // another process prunes, too
				continue
			}
			path := filepath.Join(dir, shard.Name(), f.Name())
			switch {
			case reLeft.MatchString(f.Name()) && now.Sub(st.ModTime()) > pruneEvery:
				err = errors.Join(err, remove(path))
			case reKernel.MatchString(f.Name()):
				base := path[:len(path)-len(filepath.Ext(path))]
				k := all[base]
				if k == nil {
					k = &kernel{base: base}
					all[base] = k
				}
				k.bytes += st.Size()
				if st.ModTime().After(k.used) {
					k.used = st.ModTime()
				}
			}
		}
	}
	var list []*kernel
	total := int64(0)
	for _, k := range all {
		list, total = append(list, k), total+k.bytes
	}
	slices.SortFunc(list, func(a, b *kernel) int { return a.used.Compare(b.used) })
	for _, k := range list {
		if now.Sub(k.used) <= age && total <= most {
			break
		}
		total -= k.bytes
		err = errors.Join(err, remove(k.base+".so"), remove(k.base+".cpp"))
	}
	return err
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

package nightly

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Folder is a temporary folder of a night. Whoever holds its lock uses it: a process that was killed leaves the folder, and lets the lock go.
type Folder struct {
	Path string
	Lock *os.File // processes that it is handed to hold it, too
}

const (
	folderPrefix = "whittle-nightly-"
	folderLock   = "whittle-nightly.lock"
)

// NewFolder makes a folder among the temporary ones.
func NewFolder() (*Folder, error) {
	for {
		dir, err := os.MkdirTemp("", folderPrefix)
		if err != nil {
			return nil, err
		}
		lock, err := os.OpenFile(filepath.Join(dir, folderLock), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		// Whoever cleans up just now may have been faster, and has removed it then, or is about to.
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && isFile(lock, filepath.Join(dir, folderLock)) {
			return &Folder{dir, lock}, nil
		}
		_ = lock.Close() // nothing was written
	}
}

// isFile reports whether a path still leads to an open file.
func isFile(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

// Close removes the folder.
func (f *Folder) Close() error { return errors.Join(os.RemoveAll(f.Path), f.Lock.Close()) }

// CleanFolders removes the folders of nights that were killed: those of this user that have a lock which no process holds. What it cannot remove stays.
func CleanFolders() {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	for _, dir := range all {
		st, err := os.Lstat(dir)
		if err != nil || !st.IsDir() {
			continue
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Getuid() {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(dir, folderLock), os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue // somebody else's, or one that is just being made
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(dir) // what cannot go stays until the next time
		}
		_ = lock.Close()
	}
}

package files

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// nameless writes a file that has no name until it is whole, and gives it one that nothing else has: a process that dies before leaves
// nothing behind. ok is false where the file system knows no such files, or no links.
func nameless(dir, path string, data []byte) (ok bool, err error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return false, nil
	}
	f := os.NewFile(uintptr(fd), path)
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return true, err
	}
	if err := f.Sync(); err != nil {
		return true, err
	}
	err = unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	switch {
	case errors.Is(err, unix.EEXIST):
		return true, &os.LinkError{Op: "link", Old: "", New: path, Err: err}
	case err != nil:
		return false, nil
	}
	return true, syncFolder(dir)
}

package posix

import (
	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
)

// The numbers of pathconf, as the C library has them.
var pathconfNames = map[string]int{"PC_LINK_MAX": 0, "PC_MAX_CANON": 1, "PC_MAX_INPUT": 2, "PC_NAME_MAX": 3, "PC_PATH_MAX": 4, "PC_PIPE_BUF": 5, "PC_CHOWN_RESTRICTED": 6,
	"PC_NO_TRUNC": 7, "PC_VDISABLE": 8, "PC_SYNC_IO": 9, "PC_ASYNC_IO": 10, "PC_PRIO_IO": 11, "PC_SOCK_MAXBUF": 12, "PC_FILESIZEBITS": 13, "PC_REC_INCR_XFER_SIZE": 14,
	"PC_REC_MAX_XFER_SIZE": 15, "PC_REC_MIN_XFER_SIZE": 16, "PC_REC_XFER_ALIGN": 17, "PC_ALLOC_SIZE_MIN": 18, "PC_SYMLINK_MAX": 19}

// pathconfFixed are the limits that are the same everywhere; -1 is none.
var pathconfFixed = map[int]int64{1: 255, 2: 255, 4: 4096, 5: 4096, 6: 1, 7: 1, 8: 0, 9: -1, 10: -1, 11: -1, 12: -1, 14: -1, 15: -1, 19: -1}

// leastArguments is what SC_ARG_MAX is at least.
const leastArguments = 131072

// largeFilesystems are those with files beyond 32 bits, and how many links a file may have there.
var largeFilesystems = map[int64]int64{unix.EXT4_SUPER_MAGIC: 65000, unix.XFS_SUPER_MAGIC: 1<<31 - 1, unix.BTRFS_SUPER_MAGIC: 127, unix.REISERFS_SUPER_MAGIC: 64535}

// otherLinks is how many links a file may have in other file systems, as far as one knows.
const otherLinks = 127

// pathconf is a limit of the file system that a path or a descriptor is in.
func pathconf(c *clinic.Call, n int) (int64, error) {
	var s unix.Statfs_t
	var err error
	if c.IsFD(0) {
		err = again(func() error { return unix.Fstatfs(int(c.Int(0)), &s) })
	} else {
		err = again(func() error { return unix.Statfs(c.Str(0), &s) })
	}
	if v, ok := pathconfFixed[n]; ok || err != nil {
		return v, err
	}
	links, large := largeFilesystems[s.Type]
	switch n {
	case 0:
		if large {
			return links, nil
		}
		return otherLinks, nil
	case 3:
		return s.Namelen, nil
	case 13:
		if large {
			return 64, nil
		}
		return 32, nil
	case 16:
		return s.Bsize, nil
	case 17, 18:
		return s.Frsize, nil
	}
	return 0, unix.EINVAL
}

package posix

import (
	"math"
	"math/big"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// statValue is a stat_result.
func (m *module) statValue(s *unix.Stat_t) vm.Object {
	ns := func(t unix.Timespec) vm.Object {
		return vm.MakeBig(new(big.Int).Add(new(big.Int).Mul(big.NewInt(int64(t.Sec)), big.NewInt(1e9)), big.NewInt(int64(t.Nsec))))
	}
	sec := func(t unix.Timespec) vm.Object { return vm.Float(float64(t.Sec) + 1e-9*float64(t.Nsec)) }
	whole := func(t unix.Timespec) vm.Object { return vm.MakeInt(int64(t.Sec)) }
	return vm.NewStructValue(m.stat, vm.MakeInt(int64(s.Mode)), vm.MakeInt(int64(s.Ino)), vm.MakeInt(int64(s.Dev)), vm.MakeInt(int64(s.Nlink)), vm.MakeInt(int64(s.Uid)),
		vm.MakeInt(int64(s.Gid)), vm.MakeInt(s.Size), whole(s.Atim), whole(s.Mtim), whole(s.Ctim), sec(s.Atim), sec(s.Mtim), sec(s.Ctim), ns(s.Atim), ns(s.Mtim), ns(s.Ctim),
		vm.MakeInt(int64(s.Blksize)), vm.MakeInt(s.Blocks), vm.MakeInt(int64(s.Rdev)))
}

// files are the functions that take a file's path.
func (m *module) files(in *vm.Interp) {
	stat := func(c *clinic.Call, dir int, follow bool) (vm.Object, error) {
		var s unix.Stat_t
		var err error
		if c.IsFD(0) {
			err = unix.Fstat(int(c.Int(0)), &s)
		} else {
			if dir == unix.AT_FDCWD {
				c.AboutToRead(c.Str(0))
			}
			err = unix.Fstatat(dir, c.Str(0), &s, nofollow(follow))
		}
		if err != nil {
			return nil, c.OSErr(err, 0)
		}
		return m.statValue(&s), nil
	}
	clinic.Def(m.Module, "stat", "path:fpath, *, dir_fd:dirfd=None, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
		if c.IsFD(0) && !c.None(1) {
			return nil, c.Errorf(c.Exc.ValueError, "stat: can't specify dir_fd without matching path")
		}
		if c.IsFD(0) && !c.Bool(2) {
			return nil, c.Errorf(c.Exc.ValueError, "stat: cannot use fd and follow_symlinks together")
		}
		return stat(c, dirFD(c, 1), c.Bool(2))
	})
	clinic.Def(m.Module, "lstat", "path:path, *, dir_fd:dirfd=None", func(c *clinic.Call) (vm.Object, error) { return stat(c, dirFD(c, 1), false) })
	clinic.Def(m.Module, "fstat", "fd:fd", func(c *clinic.Call) (vm.Object, error) {
		var s unix.Stat_t
		if err := unix.Fstat(int(c.Int(0)), &s); err != nil {
			return nil, c.OSErr(err)
		}
		return m.statValue(&s), nil
	})
	clinic.Def(m.Module, "access", "path:path, mode:int, *, dir_fd:dirfd=None, effective_ids:bool=False, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
		flags := nofollow(c.Bool(4))
		if c.Bool(3) {
			flags |= unix.AT_EACCESS
		}
		return vm.MakeBool(unix.Faccessat(dirFD(c, 2), c.Str(0), uint32(c.Int(1)), flags) == nil), nil
	})
	clinic.Def(m.Module, "chmod", "path:fpath, mode:int, *, dir_fd:dirfd=None, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
		if c.IsFD(0) {
			return c.Do(unix.Fchmod(int(c.Int(0)), uint32(c.Int(1))), 0)
		}
		if !c.Bool(3) {
			return nil, c.Errorf(c.Exc.NotImplementedError, "chmod: follow_symlinks unavailable on this platform")
		}
		return c.Do(unix.Fchmodat(dirFD(c, 2), c.Str(0), uint32(c.Int(1)), 0), 0)
	})
	clinic.Def(m.Module, "chown", "path:fpath, uid:int, gid:int, *, dir_fd:dirfd=None, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
		if c.IsFD(0) {
			return c.Do(unix.Fchown(int(c.Int(0)), int(c.Int(1)), int(c.Int(2))), 0)
		}
		return c.Do(unix.Fchownat(dirFD(c, 3), c.Str(0), int(c.Int(1)), int(c.Int(2)), nofollow(c.Bool(4))), 0)
	})
	clinic.Def(m.Module, "lchown", "path:path, uid:int, gid:int", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Lchown(c.Str(0), int(c.Int(1)), int(c.Int(2))), 0)
	})
	clinic.Def(m.Module, "link", "src:path, dst:path, *, src_dir_fd:dirfd=None, dst_dir_fd:dirfd=None, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
		flags := unix.AT_SYMLINK_FOLLOW
		if !c.Bool(4) {
			flags = 0
		}
		return c.Do(unix.Linkat(dirFD(c, 2), c.Str(0), dirFD(c, 3), c.Str(1), flags), 0, 1)
	})
	clinic.Def(m.Module, "symlink", "src:path, dst:path, target_is_directory:bool=False, *, dir_fd:dirfd=None", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Symlinkat(c.Str(0), dirFD(c, 3), c.Str(1)), 0, 1)
	})
	clinic.Def(m.Module, "readlink", "path:path, *, dir_fd:dirfd=None", func(c *clinic.Call) (vm.Object, error) {
		buf := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(dirFD(c, 1), c.Str(0), buf)
		if err != nil {
			return nil, c.OSErr(err, 0)
		}
		return like(c.Args[0], string(buf[:n])), nil
	})
	for _, name := range []string{"rename", "replace"} {
		clinic.Def(m.Module, name, "src:path, dst:path, *, src_dir_fd:dirfd=None, dst_dir_fd:dirfd=None", func(c *clinic.Call) (vm.Object, error) {
			return c.Do(unix.Renameat(dirFD(c, 2), c.Str(0), dirFD(c, 3), c.Str(1)), 0, 1)
		})
	}
	for _, name := range []string{"remove", "unlink"} {
		clinic.Def(m.Module, name, "path:path, *, dir_fd:dirfd=None", func(c *clinic.Call) (vm.Object, error) {
			return c.Do(unix.Unlinkat(dirFD(c, 1), c.Str(0), 0), 0)
		})
	}
	clinic.Def(m.Module, "truncate", "path:fpath, length:int", func(c *clinic.Call) (vm.Object, error) {
		if c.IsFD(0) {
			return c.Do(unix.Ftruncate(int(c.Int(0)), c.Int(1)))
		}
		return c.Do(unix.Truncate(c.Str(0), c.Int(1)), 0)
	})
	clinic.Def(m.Module, "mkfifo", "path:path, mode:int=438, *, dir_fd:dirfd=None", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Mknodat(dirFD(c, 2), c.Str(0), unix.S_IFIFO|uint32(c.Int(1)), 0), 0)
	})
	clinic.Def(m.Module, "mknod", "path:path, mode:int=384, device:int=0, *, dir_fd:dirfd=None", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Mknodat(dirFD(c, 3), c.Str(0), uint32(c.Int(1)), int(c.Int(2))), 0)
	})
	clinic.Def(m.Module, "utime", "path:fpath, times=None, *, ns=None, dir_fd:dirfd=None, follow_symlinks:bool=True", m.utime)
	clinic.Def(m.Module, "statvfs", "path:fpath", func(c *clinic.Call) (vm.Object, error) {
		var s unix.Statfs_t
		var err error
		if c.IsFD(0) {
			err = unix.Fstatfs(int(c.Int(0)), &s)
		} else {
			err = unix.Statfs(c.Str(0), &s)
		}
		if err != nil {
			return nil, c.OSErr(err, 0)
		}
		n := func(v uint64) vm.Object { return vm.MakeBig(new(big.Int).SetUint64(v)) }
		return vm.NewStructValue(m.statvfs, n(uint64(s.Bsize)), n(uint64(s.Frsize)), n(s.Blocks), n(s.Bfree), n(s.Bavail), n(s.Files), n(s.Ffree), n(s.Ffree),
			n(uint64(s.Flags)&^0x20), n(uint64(s.Namelen)), n(uint64(uint32(s.Fsid.Val[0]))|uint64(uint32(s.Fsid.Val[1]))<<32)), nil
	})
	clinic.Def(m.Module, "fspath", "path", func(c *clinic.Call) (vm.Object, error) {
		o := c.Args[0]
		if _, ok := vm.AsStr(o); ok {
			return o, nil
		}
		if b, ok := vm.AsBytes(o); ok && b != nil && o.Type().IsSubtype(vm.BytesType) {
			return o, nil
		}
		f, err := c.GetAttrOpt(o.Type(), "__fspath__")
		if err != nil {
			return nil, err
		}
		if f == nil {
			return nil, c.Errorf(c.Exc.TypeError, "expected str, bytes or os.PathLike object, not %s", vm.TypeName(o))
		}
		p, err := c.Interp.Call(f, []vm.Object{o}, nil)
		if err != nil {
			return nil, err
		}
		if !p.Type().IsSubtype(vm.StrType) && !p.Type().IsSubtype(vm.BytesType) {
			return nil, c.Errorf(c.Exc.TypeError, "expected %s.__fspath__() to return str or bytes, not %s", vm.TypeName(o), vm.TypeName(p))
		}
		return p, nil
	})
	clinic.Def(m.Module, "_path_normpath", "path", func(c *clinic.Call) (vm.Object, error) {
		p, err := c.FSPath(c.Args[0])
		if err != nil {
			return nil, err
		}
		return like(c.Args[0], normpath(p)), nil
	})
	m.xattrs()
}

// normpath is os.path.normpath: two slashes at the beginning stay two, three and more are one.
func normpath(p string) string {
	if p == "" {
		return "."
	}
	clean := path.Clean(p)
	if len(p) > 1 && p[0] == '/' && p[1] == '/' && (len(p) == 2 || p[2] != '/') {
		clean = "/" + clean
	}
	return clean
}

// utime sets a file's times: to now, to seconds, or to nanoseconds.
func (m *module) utime(c *clinic.Call) (vm.Object, error) {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	given := func(i int, each func(o vm.Object) (unix.Timespec, error)) error {
		t, ok := vm.AsTuple(c.Args[i])
		if !ok || len(t.Items) != 2 {
			if i == 1 {
				return c.Errorf(c.Exc.TypeError, "utime: 'times' must be either a tuple of two ints or None")
			}
			return c.Errorf(c.Exc.TypeError, "utime: 'ns' must be a tuple of two ints")
		}
		for k, o := range t.Items {
			var err error
			if times[k], err = each(o); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case !c.None(1) && !c.None(2):
		return nil, c.Errorf(c.Exc.ValueError, "utime: you may specify either 'times' or 'ns' but not both")
	case !c.None(1):
		err := given(1, func(o vm.Object) (unix.Timespec, error) {
			if n, ok := vm.AsInt(o); ok {
				return unix.Timespec{Sec: n}, nil
			}
			f, err := c.Interp.Float(o)
			whole, part := math.Modf(f)
			if part < 0 {
				whole, part = whole-1, part+1
			}
			return unix.Timespec{Sec: int64(whole), Nsec: int64(math.Floor(part * 1e9))}, err
		})
		if err != nil {
			return nil, err
		}
	case !c.None(2):
		err := given(2, func(o vm.Object) (unix.Timespec, error) {
			n, err := c.IndexBig(o)
			if err != nil {
				return unix.Timespec{}, err
			}
			sec, nsec := new(big.Int).DivMod(n, big.NewInt(1e9), new(big.Int))
			return unix.Timespec{Sec: sec.Int64(), Nsec: nsec.Int64()}, nil
		})
		if err != nil {
			return nil, err
		}
	}
	if c.IsFD(0) {
		return c.Do(unix.UtimesNanoAt(int(c.Int(0)), "", times[:], unix.AT_EMPTY_PATH), 0)
	}
	return c.Do(unix.UtimesNanoAt(dirFD(c, 3), c.Str(0), times[:], nofollow(c.Bool(4))), 0)
}

// xattrs are the functions of extended attributes.
func (m *module) xattrs() {
	at := func(c *clinic.Call) string {
		if c.IsFD(0) {
			return "/proc/self/fd/" + strconv.FormatInt(c.Int(0), 10)
		}
		return c.Str(0)
	}
	read := func(follow bool, p, name string) ([]byte, error) {
		get := unix.Getxattr
		if !follow {
			get = unix.Lgetxattr
		}
		buf := make([]byte, 65536)
		n, err := get(p, name, buf)
		return buf[:max(n, 0)], err
	}
	clinic.Def(m.Module, "getxattr", "path:fpath, attribute:path, *, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
		b, err := read(c.Bool(2), at(c), c.Str(1))
		if err != nil {
			return nil, c.OSErr(err, 0)
		}
		return vm.Bytes(b), nil
	})
	clinic.Def(m.Module, "setxattr", "path:fpath, attribute:path, value:bytes, flags:int=0, *, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
		set := unix.Setxattr
		if !c.Bool(4) {
			set = unix.Lsetxattr
		}
		return c.Do(set(at(c), c.Str(1), c.Bytes(2), int(c.Int(3))), 0)
	})
	clinic.Def(m.Module, "removexattr", "path:fpath, attribute:path, *, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
		remove := unix.Removexattr
		if !c.Bool(2) {
			remove = unix.Lremovexattr
		}
		return c.Do(remove(at(c), c.Str(1)), 0)
	})
	clinic.Def(m.Module, "listxattr", "path:fpath?=None, *, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
		list, p := unix.Listxattr, at(c)
		if !c.Bool(1) {
			list = unix.Llistxattr
		}
		if c.None(0) {
			p = "."
		}
		buf := make([]byte, 65536)
		n, err := list(p, buf)
		if err != nil {
			return nil, c.OSErr(err, 0)
		}
		out := &vm.List{}
		for start, i := 0, 0; i < n; i++ {
			if buf[i] == 0 {
				out.Items = append(out.Items, vm.FSDecode(string(buf[start:i])))
				start = i + 1
			}
		}
		return out, nil
	})
}

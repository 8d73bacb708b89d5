package posix

import (
	"io/fs"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// folders are the functions that make, read and change to folders.
func (m *module) folders(in *vm.Interp) {
	clinic.Def(m.Module, "mkdir", "path:path, mode:int=511, *, dir_fd:dirfd=None", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Mkdirat(dirFD(c, 2), c.Str(0), uint32(c.Int(1))), 0)
	})
	clinic.Def(m.Module, "rmdir", "path:path, *, dir_fd:dirfd=None", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Unlinkat(dirFD(c, 1), c.Str(0), unix.AT_REMOVEDIR), 0)
	})
	clinic.Def(m.Module, "chdir", "path:fpath", func(c *clinic.Call) (vm.Object, error) {
		if c.IsFD(0) {
			return c.Do(unix.Fchdir(int(c.Int(0))), 0)
		}
		return c.Do(unix.Chdir(c.Str(0)), 0)
	})
	clinic.Def(m.Module, "chroot", "path:path", func(c *clinic.Call) (vm.Object, error) { return c.Do(unix.Chroot(c.Str(0)), 0) })
	cwd := func(c *clinic.Call, value func(string) vm.Object) (vm.Object, error) {
		d, err := unix.Getwd()
		if err != nil {
			return nil, c.OSErr(err)
		}
		return value(d), nil
	}
	clinic.Def(m.Module, "getcwd", "", func(c *clinic.Call) (vm.Object, error) {
		return cwd(c, func(s string) vm.Object { return vm.FSDecode(s) })
	})
	clinic.Def(m.Module, "getcwdb", "", func(c *clinic.Call) (vm.Object, error) {
		return cwd(c, func(s string) vm.Object { return vm.Bytes(s) })
	})
	clinic.Def(m.Module, "listdir", "path:fpath?=None", func(c *clinic.Call) (vm.Object, error) {
		entries, err := readDir(c)
		if err != nil {
			return nil, err
		}
		l := &vm.List{}
		for _, e := range entries {
			l.Items = append(l.Items, like(c.Args[0], e.Name()))
		}
		return l, nil
	})
	m.entryTypes(in)
	clinic.Def(m.Module, "scandir", "path:fpath?=None", func(c *clinic.Call) (vm.Object, error) {
		entries, err := readDir(c)
		if err != nil {
			return nil, err
		}
		s := &scan{entries: entries, dir: ".", of: c.Args[0]}
		if !c.None(0) {
			s.dir = c.Str(0)
		}
		if c.IsFD(0) {
			s.fd, s.dir = int(c.Int(0)), ""
		}
		return vm.NewInstance(m.scan, s), nil
	})
}

// readDir reads the folder that the first argument names: the working folder if it is None.
func readDir(c *clinic.Call) ([]fs.DirEntry, error) {
	p := "."
	switch {
	case c.IsFD(0):
		p = "/proc/self/fd/" + strconv.FormatInt(c.Int(0), 10)
	case !c.None(0):
		p = c.Str(0)
	}
	f, err := os.Open(p)
	if err == nil {
		var entries []fs.DirEntry
		entries, err = f.ReadDir(-1)
		_ = f.Close()
		if err == nil {
			return entries, nil
		}
	}
	if c.None(0) {
		return nil, vm.NewOSError(c.Interp, err, vm.Str("."))
	}
	return nil, c.OSErr(err, 0)
}

// scan is what scandir gives: an iterator over a folder's entries.
type scan struct {
	entries []fs.DirEntry
	dir     string
	fd      int
	of      vm.Object // the argument of scandir
}

// entry is a DirEntry.
type entry struct {
	scan  *scan
	name  string
	typ   fs.FileMode
	stats [2]vm.Object // of what it leads to, and of itself: asked once
}

// path is the entry's path for the system: below the folder as the program named it.
func (e *entry) path() string {
	if e.scan.dir == "" {
		return e.name
	}
	if e.scan.dir[len(e.scan.dir)-1] == '/' {
		return e.scan.dir + e.name
	}
	return e.scan.dir + "/" + e.name
}

// at is where the entry is, for a call of the at-family.
func (e *entry) at() (int, string) {
	if e.scan.dir == "" {
		return e.scan.fd, e.name
	}
	return unix.AT_FDCWD, e.path()
}

// mode is the kind of file, asked of the system where a link's end is meant or the folder did not say.
func (e *entry) mode(follow bool) (uint32, error) {
	var s unix.Stat_t
	dir, p := e.at()
	err := unix.Fstatat(dir, p, &s, nofollow(follow))
	return s.Mode & unix.S_IFMT, err
}

func entryOf(o vm.Object) *entry { return o.(*vm.Instance).Native.(*entry) }

// entryTypes makes the classes DirEntry and ScandirIterator.
func (m *module) entryTypes(in *vm.Interp) {
	is := func(name string, want uint32, known fs.FileMode) vm.GoFunc {
		return clinic.Method(name, "*, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
			e := entryOf(c.Self)
			link := e.typ&fs.ModeSymlink != 0
			if !link || !c.Bool(0) {
				return vm.MakeBool(!link && e.typ.Type() == known), nil
			}
			got, err := e.mode(true)
			if err == unix.ENOENT {
				return vm.False, nil
			}
			if err != nil {
				return nil, vm.NewOSError(c.Interp, err, like(e.scan.of, e.path()))
			}
			return vm.MakeBool(got == want), nil
		})
	}
	get := func(name string, f func(e *entry) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return f(entryOf(self)), nil }}
	}
	m.entry = in.NewNativeType(vm.Spec{Strict: true, Name: "DirEntry", Module: "posix", NoDict: true, Final: true,
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create 'posix.DirEntry' instances")
		},
		GetSet: []*vm.GetSet{get("name", func(e *entry) vm.Object { return like(e.scan.of, e.name) }), get("path", func(e *entry) vm.Object { return like(e.scan.of, e.path()) })},
		Class:  map[string]vm.GoFunc{"__class_getitem__": vm.ClassGetItem},
		Methods: map[string]vm.GoFunc{
			"is_dir":  is("is_dir", unix.S_IFDIR, fs.ModeDir),
			"is_file": is("is_file", unix.S_IFREG, 0),
			"is_symlink": clinic.Method("is_symlink", "", func(c *clinic.Call) (vm.Object, error) {
				return vm.MakeBool(entryOf(c.Self).typ&fs.ModeSymlink != 0), nil
			}),
			"inode": clinic.Method("inode", "", func(c *clinic.Call) (vm.Object, error) {
				var s unix.Stat_t
				e := entryOf(c.Self)
				dir, p := e.at()
				if err := unix.Fstatat(dir, p, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
					return nil, vm.NewOSError(c.Interp, err, like(e.scan.of, e.path()))
				}
				return vm.MakeInt(int64(s.Ino)), nil
			}),
			"stat": clinic.Method("stat", "*, follow_symlinks:bool=True", func(c *clinic.Call) (vm.Object, error) {
				e := entryOf(c.Self)
				which := 0
				if !c.Bool(0) {
					which = 1
				}
				if e.stats[which] == nil {
					var s unix.Stat_t
					dir, p := e.at()
					if err := unix.Fstatat(dir, p, &s, nofollow(c.Bool(0))); err != nil {
						return nil, vm.NewOSError(c.Interp, err, like(e.scan.of, e.path()))
					}
					e.stats[which] = m.statValue(&s)
				}
				return e.stats[which], nil
			}),
			"__fspath__": clinic.Method("__fspath__", "", func(c *clinic.Call) (vm.Object, error) {
				e := entryOf(c.Self)
				return like(e.scan.of, e.path()), nil
			}),
			"__repr__": clinic.Method("__repr__", "", func(c *clinic.Call) (vm.Object, error) {
				e := entryOf(c.Self)
				r, err := c.Repr(like(e.scan.of, e.name))
				return vm.Str("<DirEntry " + r + ">"), err
			}),
		}})
	m.Set("DirEntry", m.entry)
	scanOf := func(o vm.Object) *scan { return o.(*vm.Instance).Native.(*scan) }
	closeScan := clinic.Method("close", "*args", func(c *clinic.Call) (vm.Object, error) {
		scanOf(c.Self).entries = nil
		return vm.None, nil
	})
	self := clinic.Method("__iter__", "", func(c *clinic.Call) (vm.Object, error) { return c.Self, nil })
	m.scan = in.NewNativeType(vm.Spec{Strict: true, Name: "ScandirIterator", Module: "posix", NoDict: true, Final: true, Methods: map[string]vm.GoFunc{
		"__iter__": self, "__enter__": self, "__exit__": closeScan, "close": closeScan,
		"__next__": clinic.Method("__next__", "", func(c *clinic.Call) (vm.Object, error) {
			s := scanOf(c.Self)
			if len(s.entries) == 0 {
				return nil, c.RaiseObj(c.Exc.StopIteration)
			}
			e := s.entries[0]
			s.entries = s.entries[1:]
			return vm.NewInstance(m.entry, &entry{scan: s, name: path.Base(e.Name()), typ: e.Type()}), nil
		}),
	}})
}

package posix

import (
	"encoding/binary"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// descriptors are the functions that open, or take, a file descriptor. What they open is not inherited by other programs (PEP 446).
func (m *module) descriptors(in *vm.Interp) {
	count := func(c *clinic.Call, n int, err error) (vm.Object, error) {
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.MakeInt(int64(n)), nil
	}
	clinic.Def(m.Module, "open", "path:path, flags:int, mode:int=511, *, dir_fd:dirfd=None", func(c *clinic.Call) (vm.Object, error) {
		var fd int
		err := c.Unlocked(func() error {
			return again(func() (err error) {
				fd, err = unix.Openat(dirFD(c, 3), c.Str(0), int(c.Int(1))|unix.O_CLOEXEC, uint32(c.Int(2)))
				return err
			})
		})
		if err != nil {
			return nil, c.OSErr(err, 0)
		}
		return vm.MakeInt(int64(fd)), nil
	})
	clinic.Def(m.Module, "close", "fd:fd", func(c *clinic.Call) (vm.Object, error) { return c.Do(unix.Close(int(c.Int(0)))) })
	clinic.Def(m.Module, "closerange", "fd_low:int, fd_high:int, /", func(c *clinic.Call) (vm.Object, error) {
		for fd := c.Int(0); fd < c.Int(1); fd++ {
			_ = unix.Close(int(fd))
		}
		return vm.None, nil
	})
	clinic.Def(m.Module, "read", "fd:int, length:int, /", func(c *clinic.Call) (vm.Object, error) {
		if c.Int(1) < 0 {
			return nil, c.OSErr(unix.EINVAL)
		}
		b := make([]byte, c.Int(1))
		n, err := c.ReadFD(int(c.Int(0)), b)
		if err != nil {
			return nil, waited(c, err)
		}
		return vm.Bytes(b[:n]), nil
	})
	clinic.Def(m.Module, "pread", "fd:int, length:int, offset:int, /", func(c *clinic.Call) (vm.Object, error) {
		b, err := readFD(c, int(c.Int(1)), func(b []byte) (int, error) { return unix.Pread(int(c.Int(0)), b, c.Int(2)) })
		if err != nil {
			return nil, err
		}
		return vm.Bytes(b), nil
	})
	write := func(c *clinic.Call, f func() (int, error)) (vm.Object, error) {
		var n int
		err := c.Unlocked(func() error {
			return again(func() (err error) { n, err = f(); return err })
		})
		return count(c, n, err)
	}
	clinic.Def(m.Module, "write", "fd:int, data:bytes, /", func(c *clinic.Call) (vm.Object, error) {
		n, err := c.WriteFD(int(c.Int(0)), c.Bytes(1))
		if err != nil {
			return nil, waited(c, err)
		}
		return vm.MakeInt(int64(n)), c.Poll() // a signal may have cut it short
	})
	clinic.Def(m.Module, "pwrite", "fd:int, data:bytes, offset:int, /", func(c *clinic.Call) (vm.Object, error) {
		return write(c, func() (int, error) { return unix.Pwrite(int(c.Int(0)), c.Bytes(1), c.Int(2)) })
	})
	buffers := func(c *clinic.Call, i int, get func(vm.Object) ([]byte, bool)) ([][]byte, error) {
		items, err := c.IterAll(c.Args[i])
		if err != nil {
			return nil, err
		}
		var out [][]byte
		for _, it := range items {
			b, ok := get(it)
			if !ok {
				return nil, c.Errorf(c.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(it))
			}
			out = append(out, b)
		}
		return out, nil
	}
	clinic.Def(m.Module, "readv", "fd:int, buffers, /", func(c *clinic.Call) (vm.Object, error) {
		bs, err := buffers(c, 1, vm.WritableBytes)
		if err != nil {
			return nil, err
		}
		n, err := unix.Readv(int(c.Int(0)), bs)
		return count(c, n, err)
	})
	clinic.Def(m.Module, "writev", "fd:int, buffers, /", func(c *clinic.Call) (vm.Object, error) {
		bs, err := buffers(c, 1, vm.AsBytes)
		if err != nil {
			return nil, err
		}
		n, err := unix.Writev(int(c.Int(0)), bs)
		return count(c, n, err)
	})
	clinic.Def(m.Module, "preadv", "fd:int, buffers, offset:int, flags:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		bs, err := buffers(c, 1, vm.WritableBytes)
		if err != nil {
			return nil, err
		}
		n, err := unix.Preadv(int(c.Int(0)), bs, c.Int(2))
		return count(c, n, err)
	})
	clinic.Def(m.Module, "pwritev", "fd:int, buffers, offset:int, flags:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		bs, err := buffers(c, 1, vm.AsBytes)
		if err != nil {
			return nil, err
		}
		n, err := unix.Pwritev(int(c.Int(0)), bs, c.Int(2))
		return count(c, n, err)
	})
	clinic.Def(m.Module, "lseek", "fd:int, position:int, how:int, /", func(c *clinic.Call) (vm.Object, error) {
		n, err := unix.Seek(int(c.Int(0)), c.Int(1), int(c.Int(2)))
		return count(c, int(n), err)
	})
	clinic.Def(m.Module, "ftruncate", "fd:int, length:int, /", func(c *clinic.Call) (vm.Object, error) { return c.Do(unix.Ftruncate(int(c.Int(0)), c.Int(1))) })
	for name, f := range map[string]func(int) error{"fsync": unix.Fsync, "fdatasync": unix.Fdatasync, "fchdir": unix.Fchdir} {
		clinic.Def(m.Module, name, "fd:fd", func(c *clinic.Call) (vm.Object, error) { return c.Do(f(int(c.Int(0)))) })
	}
	clinic.Def(m.Module, "fchmod", "fd:int, mode:int", func(c *clinic.Call) (vm.Object, error) { return c.Do(unix.Fchmod(int(c.Int(0)), uint32(c.Int(1)))) })
	clinic.Def(m.Module, "fchown", "fd:int, uid:int, gid:int", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Fchown(int(c.Int(0)), int(c.Int(1)), int(c.Int(2))))
	})
	clinic.Def(m.Module, "fstatvfs", "fd:int, /", func(c *clinic.Call) (vm.Object, error) {
		f, _ := m.Dict.GetStr("statvfs")
		return c.Interp.Call(f, c.Args, nil)
	})
	clinic.Def(m.Module, "posix_fallocate", "fd:int, offset:int, length:int, /", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Fallocate(int(c.Int(0)), 0, c.Int(1), c.Int(2)))
	})
	clinic.Def(m.Module, "posix_fadvise", "fd:int, offset:int, length:int, advice:int, /", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Fadvise(int(c.Int(0)), c.Int(1), c.Int(2), int(c.Int(3))))
	})
	clinic.Def(m.Module, "lockf", "fd:int, command:int, length:int, /", func(c *clinic.Call) (vm.Object, error) { return c.Do(lockf(int(c.Int(0)), int(c.Int(1)), c.Int(2))) })
	clinic.Def(m.Module, "sendfile", "out_fd:int, in_fd:int, offset:int?, count:int", func(c *clinic.Call) (vm.Object, error) {
		var at *int64
		if !c.None(2) {
			off := c.Int(2)
			at = &off
		}
		var n int
		err := c.Transfer(int(c.Int(0)), unix.POLLOUT, func() (err error) {
			n, err = unix.Sendfile(int(c.Int(0)), int(c.Int(1)), at, int(c.Int(3)))
			return err
		})
		return count(c, n, err)
	})
	m.copies(count)
	m.kernelCopies()
	m.terminals()
}

// waited is an error of a call that may have waited: a handler's own, or the operating system's.
func waited(c *clinic.Call, err error) error {
	if _, ok := err.(*vm.Raised); ok {
		return err
	}
	return c.OSErr(err)
}

// readFD reads up to n bytes.
func readFD(c *clinic.Call, n int, read func(b []byte) (int, error)) ([]byte, error) {
	b := make([]byte, n)
	var got int
	err := c.Unlocked(func() error {
		return again(func() (err error) { got, err = read(b); return err })
	})
	if err != nil {
		return nil, c.OSErr(err)
	}
	return b[:got], nil
}

// lockf locks, tests or unlocks a part of a file from its position on.
func lockf(fd, command int, length int64) error {
	l := unix.Flock_t{Type: unix.F_WRLCK, Whence: 1, Len: length}
	switch command {
	case 0:
		l.Type = unix.F_UNLCK
		return unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &l)
	case 1:
		return unix.FcntlFlock(uintptr(fd), unix.F_SETLKW, &l)
	case 2:
		return unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &l)
	case 3:
		if err := unix.FcntlFlock(uintptr(fd), unix.F_GETLK, &l); err != nil || l.Type == unix.F_UNLCK || int(l.Pid) == os.Getpid() {
			return err
		}
		return unix.EACCES
	}
	return unix.EINVAL
}

// copies are the functions that make descriptors of descriptors, and say what is inherited.
func (m *module) copies(count func(c *clinic.Call, n int, err error) (vm.Object, error)) {
	clinic.Def(m.Module, "dup", "fd:int, /", func(c *clinic.Call) (vm.Object, error) {
		n, err := unix.FcntlInt(uintptr(c.Int(0)), unix.F_DUPFD_CLOEXEC, 0)
		return count(c, n, err)
	})
	clinic.Def(m.Module, "dup2", "fd:int, fd2:int, inheritable:bool=True", func(c *clinic.Call) (vm.Object, error) {
		if c.Int(0) < 0 || c.Int(1) < 0 {
			return nil, c.OSErr(unix.EBADF)
		}
		flags := 0
		if !c.Bool(2) {
			flags = unix.O_CLOEXEC
		}
		if c.Int(0) == c.Int(1) {
			_, err := unix.FcntlInt(uintptr(c.Int(0)), unix.F_GETFD, 0)
			return count(c, int(c.Int(1)), err)
		}
		return count(c, int(c.Int(1)), unix.Dup3(int(c.Int(0)), int(c.Int(1)), flags))
	})
	pipe := func(c *clinic.Call, flags int) (vm.Object, error) {
		var p [2]int
		if err := unix.Pipe2(p[:], flags); err != nil {
			return nil, c.OSErr(err)
		}
		return vm.NewTuple(vm.MakeInt(int64(p[0])), vm.MakeInt(int64(p[1]))), nil
	}
	clinic.Def(m.Module, "pipe", "", func(c *clinic.Call) (vm.Object, error) { return pipe(c, unix.O_CLOEXEC) })
	clinic.Def(m.Module, "pipe2", "flags:int, /", func(c *clinic.Call) (vm.Object, error) { return pipe(c, int(c.Int(0))) })
	clinic.Def(m.Module, "get_inheritable", "fd:int, /", func(c *clinic.Call) (vm.Object, error) {
		f, err := unix.FcntlInt(uintptr(c.Int(0)), unix.F_GETFD, 0)
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.MakeBool(f&unix.FD_CLOEXEC == 0), nil
	})
	clinic.Def(m.Module, "set_inheritable", "fd:int, inheritable:bool, /", func(c *clinic.Call) (vm.Object, error) {
		f := unix.FD_CLOEXEC
		if c.Bool(1) {
			f = 0
		}
		_, err := unix.FcntlInt(uintptr(c.Int(0)), unix.F_SETFD, f)
		return c.Do(err)
	})
	clinic.Def(m.Module, "get_blocking", "fd:int, /", func(c *clinic.Call) (vm.Object, error) {
		f, err := unix.FcntlInt(uintptr(c.Int(0)), unix.F_GETFL, 0)
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.MakeBool(f&unix.O_NONBLOCK == 0), nil
	})
	clinic.Def(m.Module, "set_blocking", "fd:int, blocking:bool, /", func(c *clinic.Call) (vm.Object, error) { return c.Do(unix.SetNonblock(int(c.Int(0)), !c.Bool(1))) })
	clinic.Def(m.Module, "eventfd", "initval:int, flags:int=524288", func(c *clinic.Call) (vm.Object, error) {
		n, err := unix.Eventfd(uint(c.Int(0)), int(c.Int(1)))
		return count(c, n, err)
	})
	clinic.Def(m.Module, "eventfd_read", "fd:fd", func(c *clinic.Call) (vm.Object, error) {
		b, err := readFD(c, 8, func(b []byte) (int, error) { return unix.Read(int(c.Int(0)), b) })
		if err != nil {
			return nil, err
		}
		return vm.MakeInt(int64(binary.NativeEndian.Uint64(b))), nil
	})
	clinic.Def(m.Module, "eventfd_write", "fd:fd, value:int", func(c *clinic.Call) (vm.Object, error) {
		_, err := unix.Write(int(c.Int(0)), binary.NativeEndian.AppendUint64(nil, uint64(c.Int(1))))
		return c.Do(err)
	})
}

// terminals are the functions that have to do with terminals.
func (m *module) terminals() {
	clinic.Def(m.Module, "isatty", "fd:int, /", func(c *clinic.Call) (vm.Object, error) {
		_, err := unix.IoctlGetTermios(int(c.Int(0)), unix.TCGETS)
		return vm.MakeBool(err == nil), nil
	})
	clinic.Def(m.Module, "get_terminal_size", "fd:int=1, /", func(c *clinic.Call) (vm.Object, error) {
		w, err := unix.IoctlGetWinsize(int(c.Int(0)), unix.TIOCGWINSZ)
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.NewStructValue(m.termSize, vm.MakeInt(int64(w.Col)), vm.MakeInt(int64(w.Row))), nil
	})
	clinic.Def(m.Module, "ttyname", "fd:int, /", func(c *clinic.Call) (vm.Object, error) {
		if _, err := unix.IoctlGetTermios(int(c.Int(0)), unix.TCGETS); err != nil {
			return nil, c.OSErr(err)
		}
		p, err := os.Readlink("/proc/self/fd/" + strconv.FormatInt(c.Int(0), 10))
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.FSDecode(p), nil
	})
	clinic.Def(m.Module, "openpty", "", func(c *clinic.Call) (vm.Object, error) {
		a, b, err := openpty()
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.NewTuple(vm.MakeInt(int64(a)), vm.MakeInt(int64(b))), nil
	})
	clinic.Def(m.Module, "tcgetpgrp", "fd:int, /", func(c *clinic.Call) (vm.Object, error) {
		n, err := unix.IoctlGetInt(int(c.Int(0)), unix.TIOCGPGRP)
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.MakeInt(int64(n)), nil
	})
	clinic.Def(m.Module, "tcsetpgrp", "fd:int, pgid:int, /", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.IoctlSetPointerInt(int(c.Int(0)), unix.TIOCSPGRP, int(c.Int(1))))
	})
	clinic.Def(m.Module, "device_encoding", "fd:int", func(c *clinic.Call) (vm.Object, error) {
		if _, err := unix.IoctlGetTermios(int(c.Int(0)), unix.TCGETS); err != nil {
			return vm.None, nil
		}
		return vm.Str("UTF-8"), nil
	})
	clinic.Def(m.Module, "ctermid", "", func(*clinic.Call) (vm.Object, error) { return vm.Str("/dev/tty"), nil })
}

// openpty opens a pseudo-terminal: what drives it and what a program sees.
func openpty() (master, slave int, err error) {
	master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = unix.Open("/dev/pts/"+strconv.Itoa(n), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		_ = unix.Close(master)
	}
	return master, slave, err
}

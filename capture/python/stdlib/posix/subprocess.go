package posix

import (
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// noProcess is a process number that no process has: what fork_exec gives for a program that could not be started.
const noProcess = 1 << 30

// subprocessModule is _posixsubprocess, on which CPython's subprocess.py stands.
func subprocessModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_posixsubprocess", "")
	clinic.Def(m, "fork_exec", "args, executables, close_fds:bool, pass_fds, cwd:path?, env, p2cread:int, p2cwrite:int, c2pread:int, c2pwrite:int, errread:int, errwrite:int, "+
		"errpipe_read:int, errpipe_write:int, restore_signals:bool, start_new_session:bool, process_group:int, gid, groups, uid, umask:int, preexec_fn, allow_vfork:bool, /", forkExec)
	return m, nil
}

// forkExec starts a program. One that cannot be started is reported as CPython's child would: by a line in the pipe that the parent reads.
func forkExec(c *clinic.Call) (vm.Object, error) {
	if !c.None(21) {
		return nil, c.Errorf(c.Exc.RuntimeError, "preexec_fn is not supported: nothing of Python runs between fork and exec")
	}
	argv, err := Texts(c, 0)
	if err != nil {
		return nil, err
	}
	programs, err := Texts(c, 1)
	if err != nil {
		return nil, err
	}
	env := os.Environ()
	if !c.None(5) {
		if env, err = Texts(c, 5); err != nil {
			return nil, err
		}
	}
	files, err := childFiles(c)
	if err != nil {
		return nil, err
	}
	attr := &syscall.ProcAttr{Dir: c.Str(4), Env: env, Files: files, Sys: &syscall.SysProcAttr{Setsid: c.Bool(15)}}
	if g := c.Int(16); g >= 0 {
		attr.Sys.Setpgid, attr.Sys.Pgid = true, int(g)
	}
	if attr.Sys.Credential, err = credential(c); err != nil {
		return nil, err
	}
	_ = c.Flush()
	if c.Int(20) >= 0 {
		defer unix.Umask(unix.Umask(int(c.Int(20))))
	}
	failed := error(unix.ENOENT)
	for _, p := range programs {
		pid, err := syscall.ForkExec(p, argv, attr)
		if err == nil {
			return vm.MakeInt(int64(pid)), nil
		}
		failed = err
		if err != unix.ENOENT && err != unix.ENOTDIR {
			break
		}
	}
	about := ""
	if _, err := os.Stat(attr.Dir); attr.Dir != "" && err != nil {
		about = "noexec:"
	}
	no, _ := failed.(unix.Errno)
	_, err = unix.Write(int(c.Int(13)), fmt.Appendf(nil, "OSError:%X:%s", int(no), about))
	if err != nil {
		return nil, c.OSErr(err)
	}
	return vm.MakeInt(noProcess), nil
}

// childFiles are the child's descriptors: its three streams, those that are passed on, and, unless all others are to be closed, what is
// inherited.
func childFiles(c *clinic.Call) ([]uintptr, error) {
	const closed = ^uintptr(0)
	files := []uintptr{0, 1, 2}
	for i, at := range []int{6, 9, 11} {
		if fd := c.Int(at); fd >= 0 {
			files[i] = uintptr(fd)
		}
	}
	if !c.Bool(2) {
		return files, nil
	}
	pass, err := c.IterAll(c.Args[3])
	if err != nil {
		return nil, err
	}
	keep := map[int]bool{}
	for _, o := range pass {
		fd, err := c.Index(o)
		if err != nil {
			return nil, err
		}
		keep[int(fd)] = fd != c.Int(13) // the pipe for errors ends when the program begins
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, c.OSErr(err)
	}
	for _, e := range open {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < 3 {
			continue
		}
		inherited, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if !keep[fd] && (err != nil || inherited&unix.FD_CLOEXEC != 0) {
			continue
		}
		for len(files) <= fd {
			files = append(files, closed)
		}
		if keep[fd] {
			files[fd] = uintptr(fd)
		}
	}
	return files, nil
}

// credential is who the child runs as, nil for the same user.
func credential(c *clinic.Call) (*syscall.Credential, error) {
	if c.None(17) && c.None(18) && c.None(19) {
		return nil, nil
	}
	cred := &syscall.Credential{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid()), NoSetGroups: c.None(18)}
	for at, to := range map[int]*uint32{17: &cred.Gid, 19: &cred.Uid} {
		if c.None(at) {
			continue
		}
		n, err := c.Index(c.Args[at])
		if err != nil {
			return nil, err
		}
		*to = uint32(n)
	}
	if !c.None(18) {
		items, err := c.IterAll(c.Args[18])
		if err != nil {
			return nil, err
		}
		for _, o := range items {
			n, err := c.Index(o)
			if err != nil {
				return nil, err
			}
			cred.Groups = append(cred.Groups, uint32(n))
		}
	}
	return cred, nil
}

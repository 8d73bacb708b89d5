package posix

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// What a file action of posix_spawn does.
const (
	spawnOpen = iota
	spawnClose
	spawnDup
)

// posixSpawns are posix_spawn and posix_spawnp. A signal mask and a scheduler are refused: nothing runs between the fork and the program.
func (m *module) posixSpawns() {
	for i, name := range []string{"POSIX_SPAWN_OPEN", "POSIX_SPAWN_CLOSE", "POSIX_SPAWN_DUP2"} {
		m.Set(name, vm.Int(i))
	}
	const params = "path:path, argv, env, /, *, file_actions=nil, setpgroup=nil, resetids=False, setsid:bool=False, setsigmask=nil, setsigdef=nil, scheduler=nil"
	for _, name := range []string{"posix_spawn", "posix_spawnp"} {
		clinic.Def(m.Module, name, params, func(c *clinic.Call) (vm.Object, error) { return posixSpawn(c, name) })
	}
}

func posixSpawn(c *clinic.Call, name string) (vm.Object, error) {
	_, tuple := vm.AsTuple(c.Args[1])
	if _, list := c.Args[1].(*vm.List); !list && !tuple {
		return nil, c.Errorf(c.Exc.TypeError, "%s: argv must be a tuple or list", name)
	}
	argv, err := Texts(c, 1)
	if err != nil {
		return nil, err
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, c.Errorf(c.Exc.ValueError, "%s: argv must not be empty", name)
	}
	env := os.Environ()
	if !c.None(2) {
		if items, err := c.GetAttrOpt(c.Args[2], "items"); err != nil || items == nil {
			if err == nil {
				err = c.Errorf(c.Exc.TypeError, "%s: environment must be a mapping object or None", name)
			}
			return nil, err
		}
		if env, err = environOf(c, 2); err != nil {
			return nil, err
		}
	}
	attr := &syscall.ProcAttr{Env: env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: c.Bool(6)}}
	if o := c.Args[4]; o != nil {
		pg, err := c.Index(o)
		if err != nil {
			return nil, err
		}
		attr.Sys.Setpgid, attr.Sys.Pgid = true, int(pg)
	}
	if o := c.Args[5]; o != vm.False {
		reset, ok := vm.AsInt(o)
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "'%s' object cannot be interpreted as an integer", vm.TypeName(o))
		}
		if reset != 0 {
			attr.Sys.Credential = &syscall.Credential{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid()), NoSetGroups: true}
		}
	}
	if mask, err := signalsOf(c, c.Args[7]); err != nil {
		return nil, err
	} else if len(mask) > 0 {
		return nil, c.Errorf(c.Exc.NotImplementedError, "%s: setsigmask is not supported", name)
	}
	if c.Args[9] != nil && c.Args[9] != vm.None {
		return nil, c.Errorf(c.Exc.NotImplementedError, "%s: scheduler is not supported", name)
	}
	defaults, err := signalsOf(c, c.Args[8])
	if err != nil {
		return nil, err
	}
	opened, err := fileActions(c, attr)
	defer func() {
		for _, fd := range opened {
			_ = unix.Close(fd)
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, s := range defaults { // those with a handler are as they were for any new program
		if signal.Ignored(s) {
			signal.Reset(s)
			defer signal.Ignore(s)
		}
	}
	_ = c.Flush()
	var failed error = unix.ENOENT
	for _, p := range programs(c.Str(0), name == "posix_spawnp", os.Environ()) {
		pid, err := syscall.ForkExec(p, argv, attr)
		if err == nil {
			return vm.MakeInt(int64(pid)), nil
		}
		if failed = err; err != unix.ENOENT && err != unix.ENOTDIR && err != unix.EACCES {
			break
		}
	}
	return nil, c.OSErr(failed, 0)
}

// signalsOf are the signals that an argument lists.
func signalsOf(c *clinic.Call, o vm.Object) ([]syscall.Signal, error) {
	if o == nil {
		return nil, nil
	}
	items, err := c.IterAll(o)
	if err != nil {
		return nil, err
	}
	var out []syscall.Signal
	for _, o := range items {
		n, err := c.Index(o)
		if err != nil {
			return nil, err
		}
		if n < 1 || n > 64 {
			return nil, c.Errorf(c.Exc.ValueError, "signal number %d out of range [1; 64]", n)
		}
		out = append(out, syscall.Signal(n))
	}
	return out, nil
}

// fileActions makes the child's descriptors what the actions would, one after the other. It gives the descriptors that it opened.
func fileActions(c *clinic.Call, attr *syscall.ProcAttr) (opened []int, err error) {
	const closed = ^uintptr(0)
	if c.Args[3] == nil || c.Args[3] == vm.None {
		return nil, nil
	}
	items, err := c.IterAll(c.Args[3])
	if err != nil {
		return nil, err
	}
	reach := func(fd int) {
		for next := len(attr.Files); next <= fd; next++ {
			of := closed
			if flags, err := unix.FcntlInt(uintptr(next), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				of = uintptr(next)
			}
			attr.Files = append(attr.Files, of)
		}
	}
	acted := map[int]bool{} // descriptors that an action has made something else
	for _, it := range items {
		t, ok := vm.AsTuple(it)
		if !ok || len(t.Items) == 0 {
			return opened, c.Errorf(c.Exc.TypeError, "Each file_actions element must be a non-empty tuple")
		}
		kind, ok := vm.AsInt(t.Items[0])
		if !ok || kind > spawnDup || kind < spawnOpen {
			return opened, c.Errorf(c.Exc.TypeError, "Unknown file_actions identifier")
		}
		if want := []int{5, 2, 3}[kind]; len(t.Items) != want {
			return opened, c.Errorf(c.Exc.TypeError, "A %s file_action tuple must have %d elements", []string{"open", "close", "dup2"}[kind], want)
		}
		number := func(i int) int {
			var n int64
			if err == nil {
				n, err = c.Index(t.Items[i])
			}
			if err == nil && (n < 0 || n > 1<<20) {
				err = c.OSErr(unix.EBADF)
			}
			return int(n)
		}
		fd := number(1)
		switch kind {
		case spawnOpen:
			flags, mode := number(3), number(4)
			if err != nil {
				return opened, err
			}
			path, err := c.FSPath(t.Items[2])
			if err != nil {
				return opened, err
			}
			for _, b := range []byte(path) {
				if b == 0 {
					return opened, c.Errorf(c.Exc.ValueError, "embedded null byte")
				}
			}
			from, err := unix.Open(path, flags|unix.O_CLOEXEC, uint32(mode))
			if err != nil {
				return opened, c.OSErr(err, 0)
			}
			opened = append(opened, from)
			reach(fd)
			attr.Files[fd], acted[fd] = uintptr(from), true
		case spawnClose:
			if err != nil {
				return opened, err
			}
			reach(fd)
			attr.Files[fd], acted[fd] = closed, true
		case spawnDup:
			to := number(2)
			if err != nil {
				return opened, err
			}
			reach(max(fd, to))
			from := attr.Files[fd]
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && !acted[fd] {
				from = uintptr(fd) // it is there until the program begins
			}
			if from == closed {
				return opened, c.OSErr(unix.EBADF, 0)
			}
			attr.Files[to], acted[to] = from, true
		}
	}
	return opened, nil
}

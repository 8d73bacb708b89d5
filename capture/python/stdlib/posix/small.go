package posix

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// Modules are the modules beside posix that are thin layers over the system.
var Modules = map[string]func(in *vm.Interp) (*vm.Module, error){
	"errno":            errnoModule,
	"fcntl":            fcntlModule,
	"grp":              grpModule,
	"pwd":              pwdModule,
	"resource":         resourceModule,
	"select":           selectModule,
	"_posixsubprocess": subprocessModule,
	"termios":          termiosModule,
}

// errnoModule has the numbers of the system's errors.
func errnoModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("errno", "")
	codes := vm.NewDict()
	for n := 1; n < 134; n++ {
		if name := unix.ErrnoName(unix.Errno(n)); name != "" {
			m.Set(name, vm.MakeInt(int64(n)))
			_ = codes.Set(in, vm.MakeInt(int64(n)), vm.Str(name))
		}
	}
	for name, n := range map[string]unix.Errno{"EWOULDBLOCK": unix.EWOULDBLOCK, "EDEADLOCK": unix.EDEADLK, "ENOTSUP": unix.ENOTSUP, "EOPNOTSUPP": unix.EOPNOTSUPP} {
		m.Set(name, vm.MakeInt(int64(n)))
	}
	m.Set("errorcode", codes)
	return m, nil
}

// fcntlModule locks and asks about descriptors.
func fcntlModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("fcntl", "")
	for n, v := range map[string]int{"F_DUPFD": unix.F_DUPFD, "F_DUPFD_CLOEXEC": unix.F_DUPFD_CLOEXEC, "F_GETFD": unix.F_GETFD, "F_SETFD": unix.F_SETFD, "F_GETFL": unix.F_GETFL,
		"F_SETFL": unix.F_SETFL, "F_GETLK": unix.F_GETLK, "F_SETLK": unix.F_SETLK, "F_SETLKW": unix.F_SETLKW, "F_GETOWN": unix.F_GETOWN, "F_SETOWN": unix.F_SETOWN, "F_RDLCK": unix.F_RDLCK,
		"F_WRLCK": unix.F_WRLCK, "F_UNLCK": unix.F_UNLCK, "F_GETPIPE_SZ": unix.F_GETPIPE_SZ, "F_SETPIPE_SZ": unix.F_SETPIPE_SZ, "FD_CLOEXEC": unix.FD_CLOEXEC, "LOCK_SH": unix.LOCK_SH,
		"LOCK_EX": unix.LOCK_EX, "LOCK_NB": unix.LOCK_NB, "LOCK_UN": unix.LOCK_UN} {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	clinic.Def(m, "fcntl", "fd:fd, cmd:int, arg=0, /", func(c *clinic.Call) (vm.Object, error) {
		arg, err := c.Index(c.Args[2])
		if err != nil {
			return nil, err
		}
		n, err := unix.FcntlInt(uintptr(c.Int(0)), int(c.Int(1)), int(arg))
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.MakeInt(int64(n)), nil
	})
	clinic.Def(m, "flock", "fd:fd, operation:int, /", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(c.Unlocked(func() error { return again(func() error { return unix.Flock(int(c.Int(0)), int(c.Int(1))) }) }))
	})
	clinic.Def(m, "lockf", "fd:fd, cmd:int, len:int=0, start:int=0, whence:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		l := unix.Flock_t{Whence: int16(c.Int(4)), Start: c.Int(3), Len: c.Int(2)}
		switch c.Int(1) &^ unix.LOCK_NB {
		case unix.LOCK_UN:
			l.Type = unix.F_UNLCK
		case unix.LOCK_SH:
			l.Type = unix.F_RDLCK
		case unix.LOCK_EX:
			l.Type = unix.F_WRLCK
		default:
			return nil, c.Errorf(c.Exc.ValueError, "unrecognized lockf argument")
		}
		cmd := unix.F_SETLKW
		if c.Int(1)&unix.LOCK_NB != 0 {
			cmd = unix.F_SETLK
		}
		return c.Do(c.Unlocked(func() error { return unix.FcntlFlock(uintptr(c.Int(0)), cmd, &l) }))
	})
	return m, nil
}

// lines are the entries of a file such as /etc/passwd: their fields.
func lines(file string, n int) [][]string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var out [][]string
	for s := bufio.NewScanner(f); s.Scan(); {
		if parts := strings.Split(s.Text(), ":"); len(parts) == n {
			out = append(out, parts)
		}
	}
	return out
}

// database makes the functions that look entries up, by name, by number, and all.
func database(m *vm.Module, prefix, byName, byID, all string, entries func() []*vm.Instance) {
	find := func(c *clinic.Call, field int, what string) (vm.Object, error) {
		for _, e := range entries() {
			t, _ := vm.AsTuple(e)
			if ok, err := c.Eq(t.Items[field], c.Args[0]); err != nil {
				return nil, err
			} else if ok {
				return e, nil
			}
		}
		r, err := c.Repr(c.Args[0])
		if err != nil {
			return nil, err
		}
		return nil, c.RaiseObj(c.Exc.KeyError, vm.Str(what+" not found: "+r))
	}
	clinic.Def(m, byName, "name:str", func(c *clinic.Call) (vm.Object, error) { return find(c, 0, byName+"(): name") })
	clinic.Def(m, byID, "id:int", func(c *clinic.Call) (vm.Object, error) { return find(c, 2, byID+"(): "+prefix) })
	clinic.Def(m, all, "", func(*clinic.Call) (vm.Object, error) {
		l := &vm.List{}
		for _, e := range entries() {
			l.Items = append(l.Items, e)
		}
		return l, nil
	})
}

func number(s string) vm.Object {
	n, _ := strconv.ParseInt(s, 10, 64)
	return vm.MakeInt(n)
}

// pwdModule looks users up.
func pwdModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("pwd", "")
	t := vm.NewStructSequence(in, "pwd", "struct_passwd", "", 7, "pw_name", "pw_passwd", "pw_uid", "pw_gid", "pw_gecos", "pw_dir", "pw_shell")
	m.Set("struct_passwd", t)
	database(m, "uid", "getpwnam", "getpwuid", "getpwall", func() (out []*vm.Instance) {
		for _, l := range lines("/etc/passwd", 7) {
			out = append(out, vm.NewStructValue(t, vm.Str(l[0]), vm.Str(l[1]), number(l[2]), number(l[3]), vm.Str(l[4]), vm.Str(l[5]), vm.Str(l[6])))
		}
		return out
	})
	return m, nil
}

// grpModule looks groups up.
func grpModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("grp", "")
	t := vm.NewStructSequence(in, "grp", "struct_group", "", 4, "gr_name", "gr_passwd", "gr_gid", "gr_mem")
	m.Set("struct_group", t)
	database(m, "gid", "getgrnam", "getgrgid", "getgrall", func() (out []*vm.Instance) {
		for _, l := range lines("/etc/group", 4) {
			members := &vm.List{}
			for _, n := range strings.Split(l[3], ",") {
				if n != "" {
					members.Items = append(members.Items, vm.Str(n))
				}
			}
			out = append(out, vm.NewStructValue(t, vm.Str(l[0]), vm.Str(l[1]), number(l[2]), members))
		}
		return out
	})
	return m, nil
}

// resourceModule asks and sets what the process may use, and says what it has used.
func resourceModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("resource", "")
	m.Set("error", in.Exc.OSError)
	m.Set("RLIM_INFINITY", vm.MakeInt(-1))
	for n, v := range map[string]int{"RLIMIT_CPU": 0, "RLIMIT_FSIZE": 1, "RLIMIT_DATA": 2, "RLIMIT_STACK": 3, "RLIMIT_CORE": 4, "RLIMIT_RSS": 5, "RLIMIT_NPROC": 6, "RLIMIT_NOFILE": 7,
		"RLIMIT_OFILE": 7, "RLIMIT_MEMLOCK": 8, "RLIMIT_AS": 9, "RUSAGE_SELF": 0, "RUSAGE_CHILDREN": -1, "RUSAGE_THREAD": 1} {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	usage := vm.NewStructSequence(in, "resource", "struct_rusage", "", 16, "ru_utime", "ru_stime", "ru_maxrss", "ru_ixrss", "ru_idrss", "ru_isrss", "ru_minflt", "ru_majflt",
		"ru_nswap", "ru_inblock", "ru_oublock", "ru_msgsnd", "ru_msgrcv", "ru_nsignals", "ru_nvcsw", "ru_nivcsw")
	m.Set("struct_rusage", usage)
	clinic.Def(m, "getrusage", "who:int, /", func(c *clinic.Call) (vm.Object, error) {
		var r unix.Rusage
		if err := unix.Getrusage(int(c.Int(0)), &r); err != nil {
			return nil, c.Errorf(c.Exc.ValueError, "invalid who parameter")
		}
		n := func(v int64) vm.Object { return vm.MakeInt(v) }
		s := func(t unix.Timeval) vm.Object { return vm.Float(float64(t.Sec) + float64(t.Usec)*1e-6) }
		return vm.NewStructValue(usage, s(r.Utime), s(r.Stime), n(r.Maxrss), n(r.Ixrss), n(r.Idrss), n(r.Isrss), n(r.Minflt), n(r.Majflt), n(r.Nswap), n(r.Inblock), n(r.Oublock),
			n(r.Msgsnd), n(r.Msgrcv), n(r.Nsignals), n(r.Nvcsw), n(r.Nivcsw)), nil
	})
	clinic.Def(m, "getpagesize", "", func(*clinic.Call) (vm.Object, error) { return vm.MakeInt(int64(os.Getpagesize())), nil })
	clinic.Def(m, "getrlimit", "resource:int, /", func(c *clinic.Call) (vm.Object, error) {
		var r unix.Rlimit
		if err := unix.Getrlimit(int(c.Int(0)), &r); err != nil {
			return nil, c.Errorf(c.Exc.ValueError, "invalid resource specified")
		}
		return vm.NewTuple(vm.MakeInt(int64(r.Cur)), vm.MakeInt(int64(r.Max))), nil
	})
	clinic.Def(m, "setrlimit", "resource:int, limits, /", func(c *clinic.Call) (vm.Object, error) {
		items, err := c.IterAll(c.Args[1])
		if err != nil {
			return nil, err
		}
		if len(items) != 2 {
			return nil, c.Errorf(c.Exc.ValueError, "expected a tuple of 2 integers")
		}
		var v [2]int64
		for i, o := range items {
			if v[i], err = c.Index(o); err != nil {
				return nil, err
			}
		}
		return c.Do(unix.Setrlimit(int(c.Int(0)), &unix.Rlimit{Cur: uint64(v[0]), Max: uint64(v[1])}))
	})
	return m, nil
}

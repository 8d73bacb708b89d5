package posix

import (
	"crypto/rand"
	"os"
	"os/user"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// The names that sysconf and confstr know, with the numbers that the C library gives them.
var (
	sysconfNames = map[string]int{"SC_ARG_MAX": 0, "SC_CHILD_MAX": 1, "SC_CLK_TCK": 2, "SC_NGROUPS_MAX": 3, "SC_OPEN_MAX": 4, "SC_PAGESIZE": 30, "SC_PAGE_SIZE": 30,
		"SC_SEM_NSEMS_MAX": 32, "SC_IOV_MAX": 60, "SC_GETPW_R_SIZE_MAX": 70, "SC_NPROCESSORS_CONF": 83, "SC_NPROCESSORS_ONLN": 84, "SC_PHYS_PAGES": 85, "SC_AVPHYS_PAGES": 86}
	confstrNames = map[string]int{"CS_PATH": 0, "CS_GNU_LIBC_VERSION": 2, "CS_GNU_LIBPTHREAD_VERSION": 3}
)

// system are the functions about the machine and the environment.
func (m *module) system(in *vm.Interp) {
	clinic.Def(m.Module, "putenv", "name:path, value:path, /", func(c *clinic.Call) (vm.Object, error) {
		if strings.Contains(c.Str(0), "=") {
			return nil, c.Errorf(c.Exc.ValueError, "illegal environment variable name")
		}
		return c.Do(os.Setenv(c.Str(0), c.Str(1)))
	})
	clinic.Def(m.Module, "unsetenv", "name:path, /", func(c *clinic.Call) (vm.Object, error) {
		if c.Str(0) == "" || strings.Contains(c.Str(0), "=") {
			return nil, c.OSErr(unix.EINVAL)
		}
		return c.Do(os.Unsetenv(c.Str(0)))
	})
	clinic.Def(m.Module, "strerror", "code:int, /", func(c *clinic.Call) (vm.Object, error) { return vm.Str(vm.StrError(unix.Errno(c.Int(0)))), nil })
	random := func(c *clinic.Call) (vm.Object, error) {
		if c.Int(0) < 0 {
			return nil, c.Errorf(c.Exc.ValueError, "negative argument not allowed")
		}
		b := make([]byte, c.Int(0))
		_, _ = rand.Read(b)
		return vm.Bytes(b), nil
	}
	clinic.Def(m.Module, "urandom", "size:int, /", random)
	clinic.Def(m.Module, "getrandom", "size:int, flags:int=0", random)
	clinic.Def(m.Module, "getlogin", "", func(c *clinic.Call) (vm.Object, error) {
		u, err := user.Current()
		if err != nil {
			return nil, c.OSErr(unix.ENXIO)
		}
		return vm.Str(u.Username), nil
	})
	clinic.Def(m.Module, "uname", "", func(c *clinic.Call) (vm.Object, error) {
		var u unix.Utsname
		if err := unix.Uname(&u); err != nil {
			return nil, c.OSErr(err)
		}
		s := func(b [65]byte) vm.Object { return vm.Str(unix.ByteSliceToString(b[:])) }
		return vm.NewStructValue(m.uname, s(u.Sysname), s(u.Nodename), s(u.Release), s(u.Version), s(u.Machine)), nil
	})
	clinic.Def(m.Module, "times", "", func(c *clinic.Call) (vm.Object, error) {
		var t unix.Tms
		n, err := unix.Times(&t)
		if err != nil {
			return nil, c.OSErr(err)
		}
		s := func(v int64) vm.Object { return vm.Float(float64(v) / 100) }
		return vm.NewStructValue(m.times, s(t.Utime), s(t.Stime), s(t.Cutime), s(t.Cstime), s(int64(n))), nil
	})
	clinic.Def(m.Module, "getloadavg", "", func(c *clinic.Call) (vm.Object, error) {
		var s unix.Sysinfo_t
		if err := unix.Sysinfo(&s); err != nil {
			return nil, c.OSErr(err)
		}
		l := func(i int) vm.Object { return vm.Float(float64(s.Loads[i]) / 65536) }
		return vm.NewTuple(l(0), l(1), l(2)), nil
	})
	clinic.Def(m.Module, "sync", "", func(c *clinic.Call) (vm.Object, error) {
		unix.Sync()
		return vm.None, nil
	})
	clinic.Def(m.Module, "major", "device:int, /", func(c *clinic.Call) (vm.Object, error) { return vm.MakeInt(int64(unix.Major(uint64(c.Int(0))))), nil })
	clinic.Def(m.Module, "minor", "device:int, /", func(c *clinic.Call) (vm.Object, error) { return vm.MakeInt(int64(unix.Minor(uint64(c.Int(0))))), nil })
	clinic.Def(m.Module, "makedev", "major:int, minor:int, /", func(c *clinic.Call) (vm.Object, error) {
		return vm.MakeInt(int64(unix.Mkdev(uint32(c.Int(0)), uint32(c.Int(1))))), nil
	})
	m.limits()
}

// configName is a limit's number, which may be given by its name.
func configName(c *clinic.Call, i int, names map[string]int) (int, error) {
	if s, ok := vm.AsStr(c.Args[i]); ok {
		n, ok := names[s]
		if !ok {
			return 0, c.Errorf(c.Exc.ValueError, "unrecognized configuration name")
		}
		return n, nil
	}
	if _, ok := vm.AsInt(c.Args[i]); !ok {
		return 0, c.Errorf(c.Exc.TypeError, "configuration names must be strings or integers")
	}
	n, err := c.Index(c.Args[i])
	return int(n), err
}

// limits are sysconf and its kin.
func (m *module) limits() {
	for name, names := range map[string]map[string]int{"sysconf_names": sysconfNames, "pathconf_names": pathconfNames, "confstr_names": confstrNames} {
		d := vm.NewDict()
		for n, v := range names {
			d.SetStr(n, vm.MakeInt(int64(v)))
		}
		m.Set(name, d)
	}
	clinic.Def(m.Module, "sysconf", "name, /", func(c *clinic.Call) (vm.Object, error) {
		n, err := configName(c, 0, sysconfNames)
		if err != nil {
			return nil, err
		}
		v, ok := sysconf(n)
		if !ok {
			return nil, c.OSErr(unix.EINVAL)
		}
		return vm.MakeInt(v), nil
	})
	for name, params := range map[string]string{"pathconf": "path:fpath, name", "fpathconf": "fd:fd, name, /"} {
		clinic.Def(m.Module, name, params, func(c *clinic.Call) (vm.Object, error) {
			n, err := configName(c, 1, pathconfNames)
			if err != nil {
				return nil, err
			}
			v, err := pathconf(c, n)
			switch {
			case err == unix.EINVAL || err != nil && c.IsFD(0):
				return nil, c.OSErr(err)
			case err != nil:
				return nil, c.OSErr(err, 0)
			}
			return vm.MakeInt(v), nil
		})
	}
	clinic.Def(m.Module, "confstr", "name, /", func(c *clinic.Call) (vm.Object, error) {
		n, err := configName(c, 0, confstrNames)
		if err != nil || n != 0 {
			return vm.None, err
		}
		return vm.Str("/bin:/usr/bin"), nil
	})
}

// sysconf is the value of a limit of the machine; -1 for none.
func sysconf(n int) (int64, bool) {
	var info unix.Sysinfo_t
	_ = unix.Sysinfo(&info)
	page := int64(os.Getpagesize())
	limit := func(what int) int64 {
		var r unix.Rlimit
		if unix.Getrlimit(what, &r) != nil || r.Cur > 1<<62 {
			return -1
		}
		return int64(r.Cur)
	}
	switch n {
	case 0: // a quarter of the stack
		return max(limit(unix.RLIMIT_STACK)/4, leastArguments), true
	case 1:
		return limit(unix.RLIMIT_NPROC), true
	case 2:
		return 100, true
	case 3:
		return 65536, true
	case 4:
		return limit(unix.RLIMIT_NOFILE), true
	case 30:
		return page, true
	case 32:
		return -1, true
	case 60, 70:
		return 1024, true
	case 83, 84:
		return int64(runtime.NumCPU()), true
	case 85:
		return int64(info.Totalram) * int64(info.Unit) / page, true
	case 86:
		return int64(info.Freeram) * int64(info.Unit) / page, true
	}
	return 0, false
}

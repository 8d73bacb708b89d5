package posix

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// Hooks are what the module needs of those who handle signals and streams.
type Hooks struct {
	Kill  func(in *vm.Interp, sig int) error // a signal for this very process runs its handler
	Abort func(in *vm.Interp)
}

// module is the module while it is made: its types.
type module struct {
	*vm.Module
	hooks    Hooks
	stat     *vm.Type
	statvfs  *vm.Type
	termSize *vm.Type
	times    *vm.Type
	uname    *vm.Type
	waitid   *vm.Type
	sched    *vm.Type
	entry    *vm.Type
	scan     *vm.Type
}

// New makes the module.
func New(in *vm.Interp, hooks Hooks) (*vm.Module, error) {
	m := &module{Module: in.NewModule("posix", "The calls of the operating system that POSIX names."), hooks: hooks}
	m.Set("environ", environ())
	m.Set("error", in.Exc.OSError)
	for n, v := range constants {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	have := &vm.List{}
	for _, h := range strings.Fields(haveFunctions) {
		have.Items = append(have.Items, vm.Str("HAVE_"+h))
	}
	m.Set("_have_functions", have)
	m.types(in)
	m.files(in)
	m.descriptors(in)
	m.folders(in)
	m.processes(in)
	m.system(in)
	return m.Module, nil
}

// haveFunctions are the calls by which os.py decides what takes folders, descriptors and links for paths.
const haveFunctions = "FACCESSAT FCHDIR FCHMOD FCHMODAT FCHOWN FCHOWNAT FDOPENDIR FPATHCONF FSTATAT FSTATVFS FTRUNCATE FUTIMENS FUTIMES LINKAT LCHOWN LSTAT LUTIMES " +
	"MKDIRAT MKFIFOAT MKNODAT OPENAT READLINKAT RENAMEAT SYMLINKAT UNLINKAT UTIMENSAT"

// environ is the environment at the start, in bytes.
func environ() *vm.Dict {
	env := vm.NewDict()
	for _, kv := range os.Environ() {
		if i := strings.IndexByte(kv[min(1, len(kv)):], '='); i >= 0 {
			_ = env.Set(nil, vm.Bytes(kv[:i+1]), vm.Bytes(kv[i+2:]))
		}
	}
	return env
}

// types makes the module's classes.
func (m *module) types(in *vm.Interp) {
	seq := func(name string, visible int, fields string) *vm.Type {
		names := strings.Split(fields, " ")
		for i, n := range names {
			if n == "-" {
				names[i] = ""
			}
		}
		module := "posix"
		if name == "stat_result" || name == "statvfs_result" || name == "terminal_size" {
			module = "os"
		}
		t := vm.NewStructSequence(in, module, name, "", visible, names...)
		m.Set(name, t)
		return t
	}
	m.stat = seq("stat_result", 10, "st_mode st_ino st_dev st_nlink st_uid st_gid st_size - - - st_atime st_mtime st_ctime st_atime_ns st_mtime_ns st_ctime_ns st_blksize st_blocks st_rdev")
	m.statvfs = seq("statvfs_result", 10, "f_bsize f_frsize f_blocks f_bfree f_bavail f_files f_ffree f_favail f_flag f_namemax f_fsid")
	m.termSize = seq("terminal_size", 2, "columns lines")
	m.times = seq("times_result", 5, "user system children_user children_system elapsed")
	m.uname = seq("uname_result", 5, "sysname nodename release version machine")
	m.waitid = seq("waitid_result", 5, "si_pid si_uid si_signo si_status si_code")
	m.sched = seq("sched_param", 1, "sched_priority")
}

// dirFD is the folder that a dir_fd argument names.
func dirFD(c *clinic.Call, i int) int {
	if c.None(i) {
		return unix.AT_FDCWD
	}
	return int(c.Int(i))
}

// flag is a flag of the at-family, set where a link itself is meant.
func nofollow(follow bool) int {
	if follow {
		return 0
	}
	return unix.AT_SYMLINK_NOFOLLOW
}

// like is text as bytes where the argument that it comes from was bytes.
func like(o vm.Object, s string) vm.Object {
	if _, ok := vm.AsBytes(o); ok {
		return vm.Bytes(s)
	}
	return vm.FSDecode(s)
}

// again repeats a call that a signal has interrupted.
func again(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

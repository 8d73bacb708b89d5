package posix

import (
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// processes are the functions that have to do with this and other processes.
func (m *module) processes(in *vm.Interp) {
	for name, f := range map[string]func() int{"getpid": os.Getpid, "getppid": os.Getppid, "getuid": os.Getuid, "geteuid": os.Geteuid, "getgid": os.Getgid, "getegid": os.Getegid,
		"getpgrp": unix.Getpgrp} {
		clinic.Def(m.Module, name, "", func(*clinic.Call) (vm.Object, error) { return vm.MakeInt(int64(f())), nil })
	}
	for name, f := range map[string]func(int) (int, error){"getpgid": unix.Getpgid, "getsid": unix.Getsid} {
		clinic.Def(m.Module, name, "pid:int, /", func(c *clinic.Call) (vm.Object, error) {
			n, err := f(int(c.Int(0)))
			if err != nil {
				return nil, c.OSErr(err)
			}
			return vm.MakeInt(int64(n)), nil
		})
	}
	clinic.Def(m.Module, "setsid", "", func(c *clinic.Call) (vm.Object, error) {
		_, err := unix.Setsid()
		return c.Do(err)
	})
	clinic.Def(m.Module, "setpgid", "pid:int, pgrp:int, /", func(c *clinic.Call) (vm.Object, error) { return c.Do(unix.Setpgid(int(c.Int(0)), int(c.Int(1)))) })
	clinic.Def(m.Module, "setpgrp", "", func(c *clinic.Call) (vm.Object, error) { return c.Do(unix.Setpgid(0, 0)) })
	for name, f := range map[string]func(int) error{"setuid": syscall.Setuid, "setgid": syscall.Setgid, "seteuid": syscall.Seteuid, "setegid": syscall.Setegid} {
		clinic.Def(m.Module, name, "id:int, /", func(c *clinic.Call) (vm.Object, error) { return c.Do(f(int(c.Int(0)))) })
	}
	for name, f := range map[string]func(r, e int) error{"setreuid": syscall.Setreuid, "setregid": syscall.Setregid} {
		clinic.Def(m.Module, name, "rid:int, eid:int, /", func(c *clinic.Call) (vm.Object, error) { return c.Do(f(int(c.Int(0)), int(c.Int(1)))) })
	}
	for name, f := range map[string]func(r, e, s int) error{"setresuid": syscall.Setresuid, "setresgid": syscall.Setresgid} {
		clinic.Def(m.Module, name, "rid:int, eid:int, sid:int, /", func(c *clinic.Call) (vm.Object, error) {
			return c.Do(f(int(c.Int(0)), int(c.Int(1)), int(c.Int(2))))
		})
	}
	clinic.Def(m.Module, "getgroups", "", func(c *clinic.Call) (vm.Object, error) {
		gs, err := os.Getgroups()
		if err != nil {
			return nil, c.OSErr(err)
		}
		l := &vm.List{}
		for _, g := range gs {
			l.Items = append(l.Items, vm.MakeInt(int64(g)))
		}
		return l, nil
	})
	clinic.Def(m.Module, "kill", "pid:int, signal:int, /", func(c *clinic.Call) (vm.Object, error) {
		if pid, sig := int(c.Int(0)), int(c.Int(1)); pid == os.Getpid() && sig != 0 {
			return vm.None, m.hooks.Kill(c.Interp, sig)
		}
		return c.Do(unix.Kill(int(c.Int(0)), syscall.Signal(c.Int(1))))
	})
	clinic.Def(m.Module, "killpg", "pgid:int, signal:int, /", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Kill(-int(c.Int(0)), syscall.Signal(c.Int(1))))
	})
	clinic.Def(m.Module, "_exit", "status:int", func(c *clinic.Call) (vm.Object, error) {
		os.Exit(int(c.Int(0))) // the script asked for the process to end
		return nil, nil
	})
	clinic.Def(m.Module, "abort", "", func(c *clinic.Call) (vm.Object, error) {
		m.hooks.Abort(c.Interp)
		return nil, nil
	})
	clinic.Def(m.Module, "register_at_fork", "*, before=None, after_in_child=None, after_in_parent=None", func(*clinic.Call) (vm.Object, error) { return vm.None, nil })
	m.programs()
	m.spawns()
	m.posixSpawns()
	m.waits()
	m.scheduling()
}

// programs are the functions that run another program, in the place of this one or as a child.
func (m *module) programs() {
	exec := func(c *clinic.Call, env []string) (vm.Object, error) {
		argv, err := Texts(c, 1)
		if err != nil {
			return nil, err
		}
		if len(argv) == 0 || argv[0] == "" {
			return nil, c.Errorf(c.Exc.ValueError, "execv() arg 2 must not be empty")
		}
		_ = c.Flush()
		return c.Do(unix.Exec(c.Str(0), argv, env), 0)
	}
	clinic.Def(m.Module, "execv", "path:path, argv, /", func(c *clinic.Call) (vm.Object, error) { return exec(c, os.Environ()) })
	clinic.Def(m.Module, "execve", "path:path, argv, env", func(c *clinic.Call) (vm.Object, error) {
		env, err := environOf(c, 2)
		if err != nil {
			return nil, err
		}
		return exec(c, env)
	})
	clinic.Def(m.Module, "system", "command:path", func(c *clinic.Call) (vm.Object, error) {
		_ = c.Flush()
		var ws syscall.WaitStatus
		err := c.Unlocked(func() error {
			p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", c.Str(0)}, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
			if err != nil {
				return err
			}
			st, err := p.Wait()
			if err == nil {
				ws = st.Sys().(syscall.WaitStatus)
			}
			return err
		})
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.MakeInt(int64(ws)), nil
	})
}

// Texts are the items of a sequence of paths.
func Texts(c *clinic.Call, i int) ([]string, error) {
	items, err := c.IterAll(c.Args[i])
	if err != nil {
		return nil, err
	}
	var out []string
	for _, it := range items {
		s, err := c.FSPath(it)
		if err != nil {
			return nil, err
		}
		if strings.IndexByte(s, 0) >= 0 {
			return nil, c.Errorf(c.Exc.ValueError, "embedded null byte")
		}
		out = append(out, s)
	}
	return out, nil
}

// environOf is a mapping as an environment.
func environOf(c *clinic.Call, i int) ([]string, error) {
	pairs, err := c.CallMethod(c.Args[i], "items")
	if err != nil {
		return nil, err
	}
	items, err := c.IterAll(pairs)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, it := range items {
		kv, ok := vm.AsTuple(it)
		if !ok || len(kv.Items) != 2 {
			return nil, c.Errorf(c.Exc.TypeError, "env must be a mapping object")
		}
		k, err := c.FSPath(kv.Items[0])
		if err != nil {
			return nil, err
		}
		v, err := c.FSPath(kv.Items[1])
		if err != nil {
			return nil, err
		}
		if k == "" || strings.Contains(k, "=") {
			return nil, c.Errorf(c.Exc.ValueError, "illegal environment variable name")
		}
		out = append(out, k+"="+v)
	}
	return out, nil
}

// waits are the functions that wait for child processes, and read what they ended with.
func (m *module) waits() {
	wait := func(c *clinic.Call, pid, options int) (vm.Object, error) {
		var ws syscall.WaitStatus
		var got int
		err := c.Unlocked(func() error {
			return again(func() (err error) { got, err = syscall.Wait4(pid, &ws, options, nil); return err })
		})
		if err != nil {
			return nil, c.OSErr(err)
		}
		if got == 0 {
			ws = 0
		}
		return vm.NewTuple(vm.MakeInt(int64(got)), vm.MakeInt(int64(ws))), nil
	}
	clinic.Def(m.Module, "wait", "", func(c *clinic.Call) (vm.Object, error) { return wait(c, -1, 0) })
	clinic.Def(m.Module, "waitpid", "pid:int, options:int, /", func(c *clinic.Call) (vm.Object, error) { return wait(c, int(c.Int(0)), int(c.Int(1))) })
	status := func(name string, f func(ws syscall.WaitStatus) vm.Object) {
		clinic.Def(m.Module, name, "status:int", func(c *clinic.Call) (vm.Object, error) { return f(syscall.WaitStatus(c.Int(0))), nil })
	}
	yes := func(f func(syscall.WaitStatus) bool) func(syscall.WaitStatus) vm.Object {
		return func(ws syscall.WaitStatus) vm.Object { return vm.MakeBool(f(ws)) }
	}
	status("WIFEXITED", yes(syscall.WaitStatus.Exited))
	status("WIFSIGNALED", yes(syscall.WaitStatus.Signaled))
	status("WIFSTOPPED", yes(syscall.WaitStatus.Stopped))
	status("WIFCONTINUED", yes(syscall.WaitStatus.Continued))
	status("WCOREDUMP", yes(syscall.WaitStatus.CoreDump))
	status("WEXITSTATUS", func(ws syscall.WaitStatus) vm.Object { return vm.MakeInt(int64(ws) >> 8 & 0xff) })
	status("WTERMSIG", func(ws syscall.WaitStatus) vm.Object { return vm.MakeInt(int64(ws) & 0x7f) })
	status("WSTOPSIG", func(ws syscall.WaitStatus) vm.Object { return vm.MakeInt(int64(ws) >> 8 & 0xff) })
	clinic.Def(m.Module, "waitstatus_to_exitcode", "status:int", func(c *clinic.Call) (vm.Object, error) {
		ws := syscall.WaitStatus(c.Int(0))
		switch {
		case ws.Exited():
			return vm.MakeInt(int64(ws.ExitStatus())), nil
		case ws.Signaled():
			return vm.MakeInt(-int64(ws.Signal())), nil
		case ws.Stopped():
			return nil, c.Errorf(c.Exc.ValueError, "process stopped by delivery of signal %d", int(ws.StopSignal()))
		}
		return nil, c.Errorf(c.Exc.ValueError, "invalid wait status: %d", int(ws))
	})
}

// scheduling are the functions that ask or change what the process gets of the machine.
func (m *module) scheduling() {
	clinic.Def(m.Module, "cpu_count", "", func(*clinic.Call) (vm.Object, error) { return vm.MakeInt(int64(runtime.NumCPU())), nil })
	clinic.Def(m.Module, "sched_yield", "", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(c.Unlocked(func() error { runtime.Gosched(); return nil }))
	})
	clinic.Def(m.Module, "sched_getaffinity", "pid:int, /", func(c *clinic.Call) (vm.Object, error) {
		var s unix.CPUSet
		if err := unix.SchedGetaffinity(int(c.Int(0)), &s); err != nil {
			return nil, c.OSErr(err)
		}
		l := &vm.List{}
		for i := range 1024 {
			if s.IsSet(i) {
				l.Items = append(l.Items, vm.MakeInt(int64(i)))
			}
		}
		return c.Interp.Call(vm.SetType, []vm.Object{l}, nil)
	})
	priority := func(c *clinic.Call, which, who int) (vm.Object, error) {
		n, err := unix.Getpriority(which, who)
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.MakeInt(int64(20 - n)), nil // the call itself gives 1 to 40
	}
	clinic.Def(m.Module, "nice", "increment:int, /", func(c *clinic.Call) (vm.Object, error) {
		n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err == nil {
			err = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-n+int(c.Int(0)))
		}
		if err != nil {
			return nil, c.OSErr(err)
		}
		return priority(c, unix.PRIO_PROCESS, 0)
	})
	clinic.Def(m.Module, "getpriority", "which:int, who:int", func(c *clinic.Call) (vm.Object, error) { return priority(c, int(c.Int(0)), int(c.Int(1))) })
	clinic.Def(m.Module, "setpriority", "which:int, who:int, priority:int", func(c *clinic.Call) (vm.Object, error) {
		return c.Do(unix.Setpriority(int(c.Int(0)), int(c.Int(1)), int(c.Int(2))))
	})
	clinic.Def(m.Module, "umask", "mask:int, /", func(c *clinic.Call) (vm.Object, error) { return vm.MakeInt(int64(unix.Umask(int(c.Int(0))))), nil })
}

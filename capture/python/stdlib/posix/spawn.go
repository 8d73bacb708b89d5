package posix

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// The modes of spawn*.
const (
	spawnWait = iota
	spawnNoWait
)

// notStarted is the status of a child that could not become the program.
const notStarted = 127

// spawns are the functions that run a program as a child. CPython's os.py has them by fork and exec; here the child is the program at once.
func (m *module) spawns() {
	m.Set("P_WAIT", vm.Int(spawnWait))
	m.Set("P_NOWAIT", vm.Int(spawnNoWait))
	m.Set("P_NOWAITO", vm.Int(spawnNoWait))
	for _, search := range []bool{false, true} {
		name := map[bool]string{false: "spawnv", true: "spawnvp"}[search]
		clinic.Def(m.Module, name, "mode:int, file:path, args", func(c *clinic.Call) (vm.Object, error) { return spawn(c, search, os.Environ()) })
		clinic.Def(m.Module, name+"e", "mode:int, file:path, args, env", func(c *clinic.Call) (vm.Object, error) {
			env := os.Environ()
			if !c.None(3) {
				var err error
				if env, err = environOf(c, 3); err != nil {
					return nil, err
				}
			}
			return spawn(c, search, env)
		})
	}
}

func spawn(c *clinic.Call, search bool, env []string) (vm.Object, error) {
	_, tuple := vm.AsTuple(c.Args[2])
	if _, list := c.Args[2].(*vm.List); !list && !tuple {
		return nil, c.Errorf(c.Exc.TypeError, "argv must be a tuple or a list")
	}
	argv, err := Texts(c, 2)
	if err != nil {
		return nil, err
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, c.Errorf(c.Exc.ValueError, "argv first element cannot be empty")
	}
	_ = c.Flush()
	pid := 0
	for _, p := range programs(c.Str(1), search, env) {
		if pid, err = syscall.ForkExec(p, argv, &syscall.ProcAttr{Env: env, Files: []uintptr{0, 1, 2}}); err == nil {
			break
		}
	}
	if err != nil { // as if a child had tried
		if c.Int(0) == spawnWait {
			return vm.Int(notStarted), nil
		}
		if pid, err = syscall.ForkExec("/bin/sh", []string{"sh", "-c", "exit 127"}, nil); err != nil {
			return nil, c.OSErr(err)
		}
	}
	if c.Int(0) != spawnWait {
		return vm.MakeInt(int64(pid)), nil
	}
	var ws unix.WaitStatus
	err = c.Unlocked(func() error {
		return again(func() error { _, err := unix.Wait4(pid, &ws, 0, nil); return err })
	})
	switch {
	case err != nil:
		return nil, c.OSErr(err)
	case ws.Signaled():
		return vm.MakeInt(-int64(ws.Signal())), nil
	}
	return vm.MakeInt(int64(ws.ExitStatus())), nil
}

// programs are the files that a name may mean: itself, or, if it is searched for and has no folder, one in each folder of PATH.
func programs(name string, search bool, env []string) []string {
	if !search || strings.Contains(name, "/") {
		return []string{name}
	}
	path := "/bin:/usr/bin"
	for _, e := range env {
		if p, ok := strings.CutPrefix(e, "PATH="); ok {
			path = p
		}
	}
	var out []string
	for _, dir := range filepath.SplitList(path) {
		out = append(out, filepath.Join(dir, name))
	}
	return out
}

package stdlib

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"whittle/capture/python/vm"
)

// posixModule is what lib/os.py is built on.
func posixModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("posix", "")
	env := vm.NewDict()
	for _, kv := range os.Environ() {
		for i := 1; i < len(kv); i++ {
			if kv[i] == '=' {
				env.SetStr(kv[:i], vm.Str(kv[i+1:]))
				break
			}
		}
	}
	m.Set("environ", env)
	path := func(name string, n int, f func(in *vm.Interp, p string, args []vm.Object) (vm.Object, error)) {
		m.FuncN(name, n, n+2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
			p, err := in.FSPath(args[0])
			if err != nil {
				return nil, err
			}
			return f(in, p, args[1:])
		})
	}
	do := func(in *vm.Interp, p string, err error) (vm.Object, error) {
		if err != nil {
			return nil, in.OSError(err, p)
		}
		return vm.None, nil
	}
	m.FuncN("getcwd", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) {
		d, err := os.Getwd()
		if err != nil {
			return nil, in.OSError(err, "")
		}
		return vm.Str(d), nil
	})
	path("chdir", 1, func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) { return do(in, p, os.Chdir(p)) })
	path("mkdir", 1, func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) { return do(in, p, os.Mkdir(p, 0o777)) })
	path("remove", 1, func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) { return do(in, p, syscall.Unlink(p)) })
	path("rmdir", 1, func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) { return do(in, p, syscall.Rmdir(p)) })
	path("rmtree", 1, func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) {
		if _, err := os.Lstat(p); err != nil {
			return nil, in.OSError(err, p)
		}
		return do(in, p, os.RemoveAll(p))
	})
	path("listdir", 0, func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) {
		es, err := os.ReadDir(p)
		if err != nil {
			return nil, in.OSError(err, p)
		}
		l := &vm.List{}
		for _, e := range es {
			l.Items = append(l.Items, vm.Str(e.Name()))
		}
		return l, nil
	})
	stat := func(lstat bool) func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) {
		return func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) {
			var s syscall.Stat_t
			var err error
			if lstat {
				err = syscall.Lstat(p, &s)
			} else {
				err = syscall.Stat(p, &s)
			}
			if err != nil {
				return nil, in.OSError(err, p)
			}
			sec := func(t syscall.Timespec) vm.Object { return vm.Float(float64(t.Sec) + float64(t.Nsec)/1e9) }
			return vm.NewTuple(vm.MakeInt(int64(s.Mode)), vm.MakeInt(int64(s.Ino)), vm.MakeInt(int64(s.Dev)), vm.MakeInt(int64(s.Nlink)), vm.MakeInt(int64(s.Uid)),
				vm.MakeInt(int64(s.Gid)), vm.MakeInt(s.Size), sec(s.Atim), sec(s.Mtim), sec(s.Ctim)), nil
		}
	}
	path("stat", 1, stat(false))
	path("lstat", 1, stat(true))
	path("realpath", 1, func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) {
		a, err := filepath.Abs(p)
		if err != nil {
			return vm.Str(p), nil
		}
		// As much of the path as exists is resolved.
		rest := ""
		for cur := a; ; {
			if r, err := filepath.EvalSymlinks(cur); err == nil {
				return vm.Str(filepath.Join(r, rest)), nil
			}
			rest = filepath.Join(filepath.Base(cur), rest)
			up := filepath.Dir(cur)
			if up == cur {
				return vm.Str(a), nil
			}
			cur = up
		}
	})
	path("readlink", 1, func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) {
		s, err := os.Readlink(p)
		if err != nil {
			return nil, in.OSError(err, p)
		}
		return vm.Str(s), nil
	})
	path("rename", 2, func(in *vm.Interp, p string, args []vm.Object) (vm.Object, error) {
		q, err := in.FSPath(args[0])
		if err != nil {
			return nil, err
		}
		return do(in, p, os.Rename(p, q))
	})
	path("symlink", 2, func(in *vm.Interp, p string, args []vm.Object) (vm.Object, error) {
		q, err := in.FSPath(args[0])
		if err != nil {
			return nil, err
		}
		return do(in, p, os.Symlink(p, q))
	})
	path("chmod", 2, func(in *vm.Interp, p string, args []vm.Object) (vm.Object, error) {
		n, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		return do(in, p, os.Chmod(p, os.FileMode(n)))
	})
	path("access", 2, func(in *vm.Interp, p string, args []vm.Object) (vm.Object, error) {
		n, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		return vm.MakeBool(syscall.Access(p, uint32(n)) == nil), nil
	})
	path("utime", 1, func(in *vm.Interp, p string, _ []vm.Object) (vm.Object, error) {
		now := time.Now()
		return do(in, p, os.Chtimes(p, now, now))
	})
	path("copyfile", 2, func(in *vm.Interp, p string, args []vm.Object) (vm.Object, error) {
		q, err := in.FSPath(args[0])
		if err != nil {
			return nil, err
		}
		src, err := os.Open(p)
		if err != nil {
			return nil, in.OSError(err, p)
		}
		defer src.Close()
		dst, err := os.Create(q)
		if err != nil {
			return nil, in.OSError(err, q)
		}
		_, err = io.Copy(dst, src)
		return do(in, q, errors.Join(err, dst.Close()))
	})
	m.FuncN("putenv", 2, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		return do(in, "", os.Setenv(str(args[0]), str(args[1])))
	})
	m.FuncN("unsetenv", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) { return do(in, "", os.Unsetenv(str(args[0]))) })
	m.FuncN("getpid", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) { return vm.MakeInt(int64(os.Getpid())), nil })
	m.FuncN("getppid", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) { return vm.MakeInt(int64(os.Getppid())), nil })
	m.FuncN("getuid", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) { return vm.MakeInt(int64(os.Getuid())), nil })
	m.FuncN("cpu_count", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) { return vm.MakeInt(int64(runtime.NumCPU())), nil })
	m.FuncN("getlogin", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) {
		u, err := user.Current()
		if err != nil {
			return nil, in.OSError(err, "")
		}
		return vm.Str(u.Username), nil
	})
	m.FuncN("urandom", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		n, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		b := make([]byte, max(n, 0))
		_, _ = rand.Read(b)
		return vm.Bytes(b), nil
	})
	m.FuncN("_exit", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		n, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		os.Exit(int(n)) // the script asked for the process to end
		return nil, nil
	})
	m.FuncN("abort", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) {
		_ = in.Flush()
		die(syscall.SIGABRT)
		return nil, nil
	})
	m.FuncN("kill", 2, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		pid, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		sig, err := in.Index(args[1])
		if err != nil {
			return nil, err
		}
		if int(pid) == os.Getpid() && sig != 0 {
			return vm.None, signalsOf(in).deliver(int(sig))
		}
		return do(in, "", syscall.Kill(int(pid), syscall.Signal(sig)))
	})
	m.FuncN("strerror", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		n, err := in.Index(args[0])
		return vm.Str(syscall.Errno(n).Error()), err
	})
	m.Func("run", runProcess)
	return m, nil
}

// runProcess runs a command: args list, input (bytes or None), cwd, env, capture out, capture err, timeout, shell. It gives
// (return code, out, err); None for a return code says that time ran out.
func runProcess(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	a, err := in.ParseArgs("run", args, kw, "args, input=None, cwd=None, env=None, out=0, err=0, timeout=None")
	if err != nil {
		return nil, err
	}
	items, err := in.IterAll(a[0])
	if err != nil {
		return nil, err
	}
	var argv []string
	for _, it := range items {
		s, err := in.FSPath(it)
		if err != nil {
			return nil, err
		}
		argv = append(argv, s)
	}
	if len(argv) == 0 {
		return nil, in.Errorf(in.Exc.ValueError, "empty command")
	}
	_ = in.Flush()
	cmd := exec.CommandContext(in.Context(), argv[0], argv[1:]...)
	if a[2] != vm.None {
		if cmd.Dir, err = in.FSPath(a[2]); err != nil {
			return nil, err
		}
	}
	if d, ok := vm.AsDict(a[3]); ok {
		cmd.Env = []string{}
		d.Each(func(k, v vm.Object) bool { cmd.Env = append(cmd.Env, str(k)+"="+str(v)); return true })
	}
	var out, errb writeBuf
	sink := func(mode vm.Object, buf *writeBuf, def io.Writer, other io.Writer) io.Writer {
		switch n, _ := vm.AsInt(mode); n {
		case 1:
			return buf
		case 2:
			return other // stderr to stdout
		case 3:
			return nil
		}
		return def
	}
	cmd.Stdout = sink(a[4], &out, in.Stdout, nil)
	cmd.Stderr = sink(a[5], &errb, in.Stderr, cmd.Stdout)
	switch b := a[1].(type) {
	case vm.Bytes:
		buf := writeBuf(b)
		cmd.Stdin = &buf
	default:
		cmd.Stdin = in.Stdin
	}
	if err := cmd.Start(); err != nil {
		var ee *exec.Error
		if errors.As(err, &ee) {
			return nil, in.OSError(&os.PathError{Op: "exec", Path: argv[0], Err: syscall.ENOENT}, argv[0])
		}
		return nil, in.OSError(err, argv[0])
	}
	timedOut := false
	if a[6] != vm.None {
		secs, err := in.Float(a[6])
		if err != nil {
			return nil, err
		}
		t := time.AfterFunc(time.Duration(secs*float64(time.Second)), func() { timedOut = true; _ = cmd.Process.Kill() })
		defer t.Stop()
	}
	if err := cmd.Wait(); cmd.ProcessState == nil {
		return nil, in.OSError(err, "")
	}
	code := cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		code = -int(ws.Signal())
	}
	var rc vm.Object = vm.MakeInt(int64(code))
	if timedOut {
		rc = vm.None
	}
	return vm.NewTuple(rc, vm.Bytes(slices.Clone(out)), vm.Bytes(slices.Clone(errb))), nil
}

type writeBuf []byte

func (b *writeBuf) Write(p []byte) (int, error) { *b = append(*b, p...); return len(p), nil }
func (b *writeBuf) Read(p []byte) (int, error) {
	if len(*b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, *b)
	*b = (*b)[n:]
	return n, nil
}

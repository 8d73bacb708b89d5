package exec

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/sourcegraph/conc"
	"golang.org/x/sys/unix"

	"whittle/repros/torch"
)

//go:embed hook/sitecustomize.py hook/recorder.py hook/calls.py
var hook embed.FS

// Options say what to run and how closely to watch it.
type Options struct {
	Args []string // the program and its arguments
	Env  []string // nil => this process's
	// Dir is where the private folder is made, "" for the temporary folder (for `chroot ROOT ...`: ROOT's). Seen is the same
	// folder as the program sees it, "" for the same path: for programs in another root, machine or container.
	Dir, Seen string
	// Out gives the folder for what is found, by the failure; it is made when there is one.
	Out       func(Found) string
	Level     int           // 2: crashes and exceptions; 4: results are compared with eager too. 0 => 2
	Strict    bool          // Level 4 compares with eager itself, by the noise of eager: see the torch engine
	Eager     bool          // graphs after aot are run as they are, and not compiled: what Level 4 finds then is made above them
	After     string        // "aot" or "dynamo": the graph that is handed back; "" => the one nearest to the failure
	Hang      time.Duration // a compile or first run that takes longer is a hang, and the program is ended; 0 => never
	Limit     time.Duration // a program that takes longer is ended; 0 => never
	Memory    int64         // bytes of address space that a process of the program may have; 0 => any
	CrashData int64         // bytes of a graph's inputs that are written before it first runs; 0 => 8 MiB
	Calls     *Calls        // checksums are recorded, in the place of failures; nil => failures are
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
}

// Result is what happened.
type Result struct {
	Status int     // the program's own exit status; 128+n for one that signal n ended
	Found  []Found // the failure, best repro first; empty when torch.compile did not fail
	// Heard is whether a Python that could record ran at all.
	Heard   bool
	Calls   []Call // where Options.Calls is set
	Notes   []Note // likewise, where it asks for them
	Overdue bool   // the program was ended by Options.Limit
	// Trouble are lines of what went wrong while recording.
	Trouble []string
}

// StartError says that the program could not be started. Status is what a shell would give: 127 not found, 126 not runnable.
type StartError struct {
	Status int
	Err    error
}

func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *StartError) Unwrap() error { return e.Err }

// Run runs the program to its end. Errors: *StartError, and what keeps the private folder from being made. ctx does not end the
// program: signals do, and those that this process gets are passed on.
func Run(ctx context.Context, o Options) (Result, error) {
	if len(o.Args) == 0 {
		return Result{}, errors.New("no program")
	}
	if o.Level == 0 {
		o.Level = 2
	}
	if o.CrashData == 0 {
		o.CrashData = 8 << 20
	}
	p, err := prepare(o)
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(p.dir)
	end, err := p.run(ctx)
	if err != nil {
		return Result{}, err
	}
	res := Result{Status: end.status(), Overdue: end.overdue}
	if _, err := os.Stat(filepath.Join(p.dir, "seen")); err == nil {
		res.Heard = true
	}
	if b, err := os.ReadFile(filepath.Join(p.dir, "trouble")); err == nil {
		res.Trouble = strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	if o.Calls != nil {
		if res.Calls, err = p.calls(); err == nil {
			res.Notes, err = p.notes()
		}
		return res, err
	}
	res.Found, err = p.collect(end)
	return res, err
}

// private is the folder of one run.
type private struct {
	Options
	dir  string // here
	out  string // the folder of what was found, "" before
	seen string // where the program sees it
}

// rootFlag matches the options of chroot that stand before the new root.
var rootFlag = regexp.MustCompile(`^-`)

// NewRoot is the root that `chroot ROOT ...` changes to, "" for other programs.
func NewRoot(args []string) string {
	if filepath.Base(args[0]) != "chroot" {
		return ""
	}
	for _, a := range args[1:] {
		if !rootFlag.MatchString(a) {
			return a
		}
	}
	return ""
}

func prepare(o Options) (*private, error) {
	parent, seen := o.Dir, o.Seen
	if root := NewRoot(o.Args); parent == "" && root != "" {
		if st, err := os.Stat(filepath.Join(root, "tmp")); err == nil && st.IsDir() {
			parent, seen = filepath.Join(root, "tmp"), "/tmp"
		}
	}
	if parent != "" {
		var err error
		if parent, err = filepath.Abs(parent); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp(parent, "whittle-exec-")
	if err != nil {
		return nil, err
	}
	p := &private{Options: o, dir: dir, seen: dir}
	if seen != "" {
		p.seen = filepath.Join(seen, filepath.Base(dir))
	}
	settings, err := json.Marshal(map[string]any{"calls": o.Calls, "level": o.Level, "eager": o.Eager, "crash_data": o.CrashData, "strict": o.Strict})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "settings.json"), settings, 0o644)
	}
	made := map[string]string{"hook/strict.py": torch.Strict, "hook/draws.py": torch.Draws()}
	names := []string{"hook/sitecustomize.py", "hook/recorder.py", "hook/strict.py", "hook/draws.py"}
	if o.Calls != nil {
		names = []string{"hook/sitecustomize.py", "hook/calls.py"}
	}
	for _, name := range names {
		b := []byte(made[name])
		if err == nil && made[name] == "" {
			b, err = hook.ReadFile(name)
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, "hook"), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

// environment is the program's: the hook first on the module path, and PyTorch's own dumps for a Python that ignores it.
func (p *private) environment() []string {
	env := p.Env
	if env == nil {
		env = os.Environ()
	}
	has := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		has[k] = v
	}
	out := append([]string{}, env...)
	path := filepath.Join(p.seen, "hook")
	if old := has["PYTHONPATH"]; old != "" {
		path += ":" + old
	}
	out = append(out, "PYTHONPATH="+path)
	if _, ok := has["TORCHDYNAMO_REPRO_AFTER"]; ok || p.Calls != nil {
		return out // the user's own way of doing it
	}
	after := p.After
	if after == "" {
		after = "aot"
	}
	var own []string
	for _, kv := range [][2]string{{"TORCHDYNAMO_REPRO_AFTER", after}, {"TORCHDYNAMO_REPRO_LEVEL", fmt.Sprint(p.Level)}, {"TORCH_COMPILE_DEBUG_DIR", p.seen}} {
		if _, ok := has[kv[0]]; !ok {
			own = append(own, kv[0])
			out = append(out, kv[0]+"="+kv[1])
		}
	}
	return append(out, "WHITTLE_EXEC_FALLBACK="+strings.Join(own, " "))
}

// ending is how the program ended.
type ending struct {
	state   *os.ProcessState
	hung    string // the record that was under way when its time was up, "" for none
	overdue bool   // it took longer than it may
	after   time.Duration
}

// signal is what ended the program, 0 for none. Shells and launchers say it as a status of 128+n.
func (e ending) signal() syscall.Signal {
	if ws, ok := e.state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal()
	}
	if s := e.state.ExitCode(); s > 128 && unix.SignalName(syscall.Signal(s-128)) != "" {
		return syscall.Signal(s - 128)
	}
	return 0
}

func (e ending) status() int {
	if s := e.signal(); s != 0 {
		return 128 + int(s)
	}
	return max(e.state.ExitCode(), 0)
}

// passed are the signals that are meant for the program.
var passed = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH}

// run starts the program and waits for its end.
func (p *private) run(ctx context.Context) (ending, error) {
	cmd := osexec.Command(p.Args[0], p.Args[1:]...)
	cmd.Env = p.environment()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	sigs := make(chan os.Signal, 32)
	signal.Notify(sigs, passed...)
	defer signal.Stop(sigs)
	if err := cmd.Start(); err != nil {
		st := &StartError{126, err}
		if errors.Is(err, osexec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			st.Status = 127
		}
		return ending{}, st
	}
	if p.Memory > 0 { // what it has done by now is to load itself
		limit := unix.Rlimit{Cur: uint64(p.Memory), Max: uint64(p.Memory)}
		_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_AS, &limit, nil)
	}
	begin := time.Now()
	done := make(chan struct{})
	var e ending
	var wg conc.WaitGroup
	wg.Go(func() {
		var tick <-chan time.Time
		if limit := least(p.Hang, p.Limit); limit > 0 {
			t := time.NewTicker(min(limit/4+time.Millisecond, 500*time.Millisecond))
			defer t.Stop()
			tick = t.C
		}
		for {
			select {
			case <-done:
				return
			case s := <-sigs:
				if !fromTerminal(s) {
					_ = cmd.Process.Signal(s)
				}
			case <-tick:
				if p.Limit > 0 && time.Since(begin) > p.Limit && !e.overdue {
					e.overdue = true
					p.end(cmd.Process, done)
				}
				if p.Hang == 0 {
					continue
				}
				if id := p.overdue(); id != "" && e.hung == "" {
					e.hung, e.after = id, time.Since(begin)
					p.end(cmd.Process, done)
				}
			}
		}
	})
	err := cmd.Wait()
	close(done)
	wg.Wait()
	e.state = cmd.ProcessState
	if e.state == nil {
		return e, err
	}
	return e, nil
}

// least is the smaller of two times that are given; 0 is none.
func least(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// fromTerminal reports whether the terminal sent a signal to the whole foreground group: the program has it already.
func fromTerminal(s os.Signal) bool {
	switch s {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH, syscall.SIGCONT:
	default:
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	fg, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && fg == unix.Getpgrp()
}

// end ends a program that hangs: politely, then not.
func (p *private) end(proc *os.Process, done <-chan struct{}) {
	_ = proc.Signal(syscall.SIGTERM)
	select {
	case <-done:
	case <-time.After(2 * time.Second):
		_ = proc.Kill()
	}
}

// overdue is a record that has been under way for longer than a hang takes, "" for none.
func (p *private) overdue() string {
	for _, r := range p.records() {
		if (r.State == "compile" || r.State == "run") && time.Since(r.began()) > p.Hang {
			return r.ID
		}
	}
	return ""
}

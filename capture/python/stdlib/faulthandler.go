package stdlib

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/literal"
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// fatalSignals are the signals that end a process which does something wrong, as faulthandler names them.
var fatalSignals = map[int]string{int(syscall.SIGBUS): "Bus error", int(syscall.SIGILL): "Illegal instruction", int(syscall.SIGFPE): "Floating point exception",
	int(syscall.SIGABRT): "Aborted", int(syscall.SIGSEGV): "Segmentation fault"}

// The most that a traceback shows.
const (
	dumpFrames  = 100
	dumpThreads = 100
	dumpText    = 500
)

// dump is a traceback that is written to a file when something happens.
type dump struct {
	fd    int
	file  vm.Object // whose descriptor it is; kept alive
	all   bool      // of all threads
	chain bool      // what the signal does else is done, too
}

// write writes the traceback of the running thread, as that of a fatal error unless fatal is empty.
func (d *dump) write(in *vm.Interp, fatal string) {
	var sb strings.Builder
	if fatal != "" {
		fmt.Fprintf(&sb, "Fatal Python error: %s\n\n", fatal)
	}
	if d.all {
		dumpAll(&sb, in.Running(), in.Thread(), in.FrameOf)
	} else {
		sb.WriteString("Stack (most recent call first):\n")
		dumpStack(&sb, in.Frame())
	}
	d.put(sb.String())
}

// put writes a text to the descriptor, as far as that takes it.
func (d *dump) put(text string) {
	for b := []byte(text); len(b) > 0; {
		n, err := unix.Write(d.fd, b)
		if err != nil && err != unix.EINTR {
			return
		}
		b = b[max(n, 0):]
	}
}

func threadTitle(what string, t *vm.Thread) string {
	return fmt.Sprintf("%s 0x%016x (most recent call first):\n", what, identOf(t))
}

// dumpAll writes the stacks of threads, the youngest first; current is the one that runs, if any.
func dumpAll(sb *strings.Builder, threads []*vm.Thread, current *vm.Thread, frameOf func(*vm.Thread) *vm.Frame) {
	for i, t := range slices.Backward(threads) {
		n := len(threads) - 1 - i
		if n > 0 {
			sb.WriteByte('\n')
		}
		if n == dumpThreads {
			sb.WriteString("...\n")
			return
		}
		what := "Thread"
		if t == current {
			what = "Current thread"
		}
		sb.WriteString(threadTitle(what, t))
		dumpStack(sb, frameOf(t))
	}
}

// dumpStack writes the frames of a stack, the innermost first.
func dumpStack(sb *strings.Builder, f *vm.Frame) {
	if f == nil {
		sb.WriteString("  <no Python frame>\n")
	}
	for n := 0; f != nil; f, n = f.Back, n+1 {
		if n == dumpFrames {
			sb.WriteString("  ...\n")
			return
		}
		fmt.Fprintf(sb, "  File \"%s\", line %d in %s\n", plainText(f.Code.Filename), f.Line(), plainText(f.Code.Name))
	}
}

// plainText is a text in printable ASCII, cut where it is long.
func plainText(s string) string {
	var sb strings.Builder
	n := 0
	for _, r := range wtf8.All(s) {
		if n++; n > dumpText {
			sb.WriteString("...")
			break
		}
		if r >= ' ' && r < 0x7f {
			sb.WriteRune(r)
		} else {
			literal.Escape(&sb, r)
		}
	}
	return sb.String()
}

// dumpTarget is the file that an argument means: a descriptor, an object with fileno(), or sys.stderr for None.
func dumpTarget(c *clinic.Call, file vm.Object) (*dump, error) {
	if file == nil || file == vm.None {
		sys, err := c.Import("sys")
		if err != nil {
			return nil, err
		}
		f, ok := sys.Dict.GetStr("stderr")
		if !ok {
			return nil, c.Errorf(c.Exc.RuntimeError, "unable to get sys.stderr")
		}
		if f == vm.None {
			return nil, c.Errorf(c.Exc.RuntimeError, "sys.stderr is None")
		}
		file = f
	}
	if _, ok := vm.AsInt(file); ok {
		fd, err := c.Index(file)
		if err == nil && (fd < 0 || fd > math.MaxInt32) {
			err = c.Errorf(c.Exc.ValueError, "file is not a valid file descripter")
		}
		return &dump{fd: int(fd)}, err
	}
	v, err := c.CallMethod(file, "fileno")
	if err != nil {
		return nil, err
	}
	fd, ok := vm.AsInt(v)
	if !ok || fd < 0 || fd > math.MaxInt32 {
		return nil, c.Errorf(c.Exc.RuntimeError, "file.fileno() is not a valid file descriptor")
	}
	_, _ = c.CallMethod(file, "flush") // it may be closed for all that matters
	return &dump{fd: int(fd), file: file}, nil
}

// later is the dump that waits for its time.
type later struct {
	stop chan struct{}
	done chan struct{}
}

// cancel ends it and waits until it does nothing any more.
func (l *later) cancel(in *vm.Interp) error {
	if l.stop == nil {
		return nil
	}
	close(l.stop)
	err := in.Unlocked(func() error { <-l.done; return nil })
	l.stop = nil
	return err
}

// start waits on a goroutine of its own and writes the traceback of all threads.
func (l *later) start(in *vm.Interp, d *dump, after time.Duration, repeat, exit bool) {
	stop, done := make(chan struct{}), make(chan struct{})
	l.stop, l.done = stop, done
	unwatch := in.Watch()
	go func() {
		defer close(done)
		defer unwatch()
		for again := true; again; again = repeat {
			select {
			case <-stop:
				return
			case <-time.After(after):
			}
			d.timeout(in, after, stop)
			if exit {
				os.Exit(1)
			}
		}
	}()
}

// patience is how long a dump waits for a moment when no thread runs.
const patience = 2 * time.Second

// timeout writes what all threads do, of an interpreter that goes on meanwhile.
func (d *dump) timeout(in *vm.Interp, after time.Duration, stop chan struct{}) {
	var sb strings.Builder
	fmt.Fprintf(&sb, "Timeout (%s)!\n", clock(after))
	seen := in.Inspect(patience, func() {
		select {
		case <-stop:
			sb.Reset()
		default:
			dumpAll(&sb, in.Running(), nil, (*vm.Thread).StackOf)
		}
	})
	if !seen {
		sb.WriteString("  <the running thread does not stop>\n")
	}
	d.put(sb.String())
}

// clock is a duration as hours, minutes and seconds, with what is left of a second only if there is any.
func clock(d time.Duration) string {
	us := d.Microseconds()
	s := fmt.Sprintf("%d:%02d:%02d", us/3600e6, us/60e6%60, us/1e6%60)
	if us%1e6 != 0 {
		s += fmt.Sprintf(".%06d", us%1e6)
	}
	return s
}

// faulthandlerModule is faulthandler. A fault in Go code is a panic, and not seen here: what is seen are the signals that a process is sent.
func faulthandlerModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("faulthandler", "faulthandler module.")
	s := signalsOf(in)
	clinic.Def(m, "dump_traceback", "file=nil, all_threads:bool=True", func(c *clinic.Call) (vm.Object, error) {
		d, err := dumpTarget(c, c.Args[0])
		if err != nil {
			return nil, err
		}
		d.all = c.Bool(1)
		d.write(c.Interp, "")
		return vm.None, nil
	})
	faultSignals(m, s)
	clinic.Def(m, "register", "signum:int, file=nil, all_threads:bool=True, chain:bool=False", func(c *clinic.Call) (vm.Object, error) {
		sig, err := dumpSignal(c)
		if err != nil {
			return nil, err
		}
		d, err := dumpTarget(c, c.Args[1])
		if err != nil {
			return nil, err
		}
		d.all, d.chain = c.Bool(2), c.Bool(3)
		s.dump(sig, d)
		return vm.None, nil
	})
	clinic.Def(m, "unregister", "signum:int, /", func(c *clinic.Call) (vm.Object, error) {
		sig, err := dumpSignal(c)
		if err != nil {
			return nil, err
		}
		return vm.MakeBool(s.dump(sig, nil) != nil), nil
	})
	dumpLater(m)
	return m, nil
}

// dumpLater adds the functions of the timer.
func dumpLater(m *vm.Module) {
	l := &later{}
	clinic.Def(m, "dump_traceback_later", "timeout, repeat:bool=False, file=nil, exit:bool=False", func(c *clinic.Call) (vm.Object, error) {
		seconds, err := dumpSeconds(c)
		switch {
		case err != nil:
			return nil, err
		case math.IsNaN(seconds):
			return nil, c.Errorf(c.Exc.ValueError, "Invalid value NaN (not a number)")
		case seconds >= math.MaxInt64/1e9:
			return nil, c.Errorf(c.Exc.OverflowError, "timestamp out of range for platform time_t")
		case seconds <= 0:
			return nil, c.Errorf(c.Exc.ValueError, "timeout must be greater than 0")
		}
		d, err := dumpTarget(c, c.Args[2])
		if err != nil {
			return nil, err
		}
		if err := l.cancel(c.Interp); err != nil {
			return nil, err
		}
		l.start(c.Interp, d, time.Duration(math.Ceil(seconds*1e6))*time.Microsecond, c.Bool(1), c.Bool(3))
		return vm.None, nil
	})
	clinic.Def(m, "cancel_dump_traceback_later", "", func(c *clinic.Call) (vm.Object, error) { return vm.None, l.cancel(c.Interp) })
}

// dumpSeconds is the time after which to write, an integer or a float.
func dumpSeconds(c *clinic.Call) (float64, error) {
	if f, ok := vm.AsFloat(c.Args[0]); ok {
		return f, nil
	}
	n, err := c.Index(c.Args[0])
	return float64(n), err
}

// dumpSignal is a signal's number that may be registered.
func dumpSignal(c *clinic.Call) (int, error) {
	n := c.Int(0)
	if fatalSignals[int(n)] != "" {
		return 0, c.Errorf(c.Exc.RuntimeError, "signal %d cannot be registered, use enable() instead", n)
	}
	if n < 1 || n > sigLast {
		return 0, c.Errorf(c.Exc.ValueError, "signal number out of range")
	}
	return int(n), nil
}

// faultSignals adds what has to do with the fatal signals.
func faultSignals(m *vm.Module, s *signals) {
	enabled := false
	clinic.Def(m, "enable", "file=nil, all_threads:bool=True", func(c *clinic.Call) (vm.Object, error) {
		d, err := dumpTarget(c, c.Args[0])
		if err != nil {
			return nil, err
		}
		d.all, enabled = c.Bool(1), true
		for sig := range fatalSignals {
			s.dump(sig, d)
		}
		return vm.None, nil
	})
	clinic.Def(m, "disable", "", func(*clinic.Call) (vm.Object, error) {
		was := enabled
		enabled = false
		for sig := range fatalSignals {
			s.dump(sig, nil)
		}
		return vm.MakeBool(was), nil
	})
	clinic.Def(m, "is_enabled", "", func(*clinic.Call) (vm.Object, error) { return vm.MakeBool(enabled), nil })
	for name, sig := range map[string]syscall.Signal{"_sigsegv": syscall.SIGSEGV, "_read_null": syscall.SIGSEGV, "_sigfpe": syscall.SIGFPE, "_sigabrt": syscall.SIGABRT} {
		clinic.Def(m, name, "release_gil:bool=False, /", func(*clinic.Call) (vm.Object, error) { return vm.None, s.deliver(int(sig)) })
	}
}

func init() { natives["faulthandler"] = faulthandlerModule }

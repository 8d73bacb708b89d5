package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/sourcegraph/conc"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/replay"
	"whittle/tools/whittle/early"
	"whittle/tools/whittle/stack"
)

// scriptArg is the hidden subcommand of the process that runs the script.
const scriptArg = "__script"

// event is what the script's process tells its parent.
type event struct {
	Kind  string           `json:"kind"` // begin, end: around a step that could take the process down; failed: a backend raised; internal: whittle panicked
	Repro string           `json:"repro,omitempty"`
	Data  string           `json:"data,omitempty"` // the folder that the repro's save_dir is in
	Dir   string           `json:"dir,omitempty"`  // for repros, by the script's own settings; "" for none
	Sig   replay.Signature `json:"sig,omitzero"`
	Raw   string           `json:"raw,omitempty"`
	Level int              `json:"level,omitempty"` // repro_level
	After string           `json:"after,omitempty"` // repro_after
	Frame json.RawMessage  `json:"frame,omitempty"` // a capture.FrameRecord
	Calls int              `json:"calls,omitempty"` // of the graph that is compiled
	Hung  bool             `json:"-"`               // set by the parent: the step did not end
}

type runOptions struct {
	report   string
	record   string
	path     []string // folders of packages
	frames   bool
	noMinify bool
	hang     time.Duration
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run SCRIPT.py | -m MODULE | -c CODE | - | -i | FOLDER [ARGS...]",
		Short: "Run a script; minify a backend failure",
		Long: `Run a Python script on whittle's own torch. When a torch.compile backend fails, crashes or hangs, the graph is
shrunk and a minimal repro.py is written to whittle-repro/NAME-SIGNATURE, a folder for each script and failure, or to
$TORCHDYNAMO_REPRO_DIR. The last line says where. Nothing that whittle did not write is replaced. The script's exit status is passed on.

Python's own flags go before the script: -i for a prompt (after the script, if there is one), -O and -OO, -W, -X, -E, -I, -P, -q.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("run: which script? (usage: whittle run SCRIPT.py [ARGS...])")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.run(c.Context(), args, o) },
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&o.record, "record", "", "write what capture did, as JSON")
	c.Flags().StringArrayVar(&o.path, "path", nil, "a `FOLDER` of packages, such as a site-packages, searched after whittle's own library and torch; more by more --path, or $WHITTLE_PATH")
	c.Flags().StringVar(&o.report, "report", "", "make a page of what was compiled in `FOLDER`, with the trace that it is made of, as whittle trace does")
	c.Flags().BoolVar(&o.frames, "record-frames", false, "keep each frame that is captured in the store, for whittle replay")
	c.Flags().BoolVar(&o.noMinify, "no-minify", false, "report a backend failure, and leave it at that")
	c.Flags().DurationVar(&o.hang, "hang", 0, "how long one compilation may take before it counts as a hang (0: found out: half a minute, more for a large graph or on a busy machine)")
	a.jobs(c)
	return c
}

// checkSyntax reports a syntax error before anything of the script runs, and gives its code; nil where the text is not in UTF-8.
func (a *app) checkSyntax(file string, src []byte) (*code.Code, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(src) || vm.SourceEncoding(string(src)) != "" {
		return nil, nil // the program's codecs are needed to read it
	}
	c, err := code.CompileSource(abs, string(src), code.Exec)
	if err != nil {
		fmt.Fprint(a.stderr, vm.New().FormatSyntaxError(err))
		return nil, exitCode(2)
	}
	return c, nil
}

func (a *app) run(ctx context.Context, args []string, o runOptions) error {
	v, err := parseInvocation(args)
	if err != nil {
		return err
	}
	if v.kind == "file" {
		src, err := checkFile(v.what)
		if err != nil {
			return err
		}
		if _, err := a.checkSyntax(v.what, src); err != nil {
			return err
		}
	}
	if a.store != "" || os.Getenv("WHITTLE_STORE") != "" {
		s, err := replay.Open(ctx, a.storePath())
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	data, err := os.MkdirTemp("", "whittle-run-") // the inputs of graphs
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	traces := ""
	if o.report != "" {
		if traces, err = a.traceFolder(o.report); err != nil {
			return err
		}
	}
	code, ev, err := a.supervise(ctx, args, data, traces, o)
	if err != nil {
		return err
	}
	if traces != "" {
		a.reportRun(traces, o.report)
	}
	if ev != nil {
		var said exitCode
		if err := a.failed(ctx, ev, v.name(), o); err != nil && !errors.As(err, &said) {
			fmt.Fprintln(a.stderr, "whittle:", err)
		}
	}
	if code == interrupted {
		dieInterrupted()
	}
	if code != 0 {
		return exitCode(code)
	}
	return nil
}

// interrupted is the status that a shell gives for a program that SIGINT has ended.
const interrupted = 128 + int(syscall.SIGINT)

// dieInterrupted ends the process by SIGINT, so that whoever waits for it knows what became of it. It comes back where the signal cannot do that.
func dieInterrupted() {
	signal.Reset(syscall.SIGINT)
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	time.Sleep(time.Second) // until it is delivered
}

// keepFrame stores a recorded frame and says how to replay it.
func (a *app) keepFrame(ctx context.Context, e *event) error {
	s, err := replay.Open(ctx, a.storePath())
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := s.PutFrame(ctx, replay.Frame{Kind: frameKind, Version: stack.FrameVersion, Name: e.Raw, Data: e.Frame})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "whittle: recorded frame %d (%s): whittle replay %d\n", id, e.Raw, id)
	return nil
}

// supervise runs the script in a child, which leaves the inputs of graphs in data and a trace in the folder traces, "" for none, and returns its exit status and the failure to minify, if
// there is one.
func (a *app) supervise(ctx context.Context, args []string, data, traces string, o runOptions) (int, *event, error) {
	argv := []string{data}
	if o.record != "" {
		argv = append(argv, "--record", o.record)
	}
	if o.frames {
		argv = append(argv, "--frames")
	}
	if o.report != "" {
		argv = append(argv, "--loops")
	}
	order := early.Order{Args: append(append(argv, "--"), args...)}
	if traces != "" {
		order.Env = append(order.Env, "TORCH_TRACE="+traces)
	}
	if len(o.path) > 0 {
		folders := slices.Clone(o.path)
		if old := os.Getenv(stack.PathVariable); old != "" {
			folders = append(folders, old)
		}
		order.Env = append(order.Env, stack.PathVariable+"="+strings.Join(folders, string(filepath.ListSeparator)))
	}
	// The terminal's Ctrl-C reaches the child by itself; we only must not die of it.
	signal.Ignore(syscall.SIGQUIT)
	child, wait, err := a.startScript(order)
	if err != nil {
		return 0, nil, fmt.Errorf("starting the script's process: %w", err)
	}
	defer child.Pipe.Close()
	events := make(chan *event)
	var wg conc.WaitGroup
	wg.Go(func() {
		defer close(events)
		dec := json.NewDecoder(child.Pipe)
		for {
			var e event
			if dec.Decode(&e) != nil {
				return
			}
			events <- &e
		}
	})
	run := &supervision{app: a, process: child.Process, wait: patience{given: o.hang, slow: slowness}}
	run.follow(ctx, events)
	state, err := wait()
	wg.Wait()
	if err != nil {
		return 0, run.failed, err
	}
	return run.ended(state)
}

// startScript gives the order to the process that was started early, or to one that it starts where there is none, or the streams are not this
// process's own. wait is to be called once: it waits for the end of the process.
func (a *app) startScript(o early.Order) (c *early.Child, wait func() (*os.ProcessState, error), err error) {
	if a.stdin == os.Stdin && a.stdout == os.Stdout && a.stderr == os.Stderr {
		if c := early.Take(); c != nil {
			return c, c.Process.Wait, c.Give(o)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	cmd := exec.Command(self, append([]string{scriptArg}, o.Args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stderr
	cmd.Env = append(append(os.Environ(), "GOTRACEBACK=none"), o.Env...)
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		r.Close()
		return nil, nil, err
	}
	wait = func() (*os.ProcessState, error) {
		err := cmd.Wait()
		var status *exec.ExitError
		if errors.As(err, &status) {
			err = nil
		}
		return cmd.ProcessState, err
	}
	return &early.Child{Process: cmd.Process, Pipe: r}, wait, nil
}

// supervision is what the parent knows of the script's process while it runs.
type supervision struct {
	*app
	process *os.Process
	wait    patience

	failed *event        // the first failure
	under  []*event      // compilations begun and not ended, each within the one before
	began  time.Time     // of the last of them, or of what is left of it when one within it has ended
	hung   time.Duration // how long the last one took when it was killed; 0: it was not
}

// follow takes events in until the process has ended, and kills it where a compilation takes too long.
func (s *supervision) follow(ctx context.Context, events <-chan *event) {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			s.take(ctx, e, timer)
		case <-timer.C:
			taken := time.Since(s.began)
			if more := s.wait.more(s.under[len(s.under)-1].Calls, taken); more > 0 {
				timer.Reset(more)
				continue
			}
			s.hung = taken
			_ = s.process.Kill()
		case <-ctx.Done():
			_ = s.process.Signal(syscall.SIGINT)
			ctx = context.WithoutCancel(ctx)
		}
	}
}

// take takes one event in. timer runs while a compilation does.
func (s *supervision) take(ctx context.Context, e *event, timer *time.Timer) {
	switch e.Kind {
	case "begin":
		s.under = append(s.under, e)
		s.began = time.Now()
		timer.Reset(s.wait.first(e.Calls))
	case "end":
		if len(s.under) > 0 {
			s.under = s.under[:len(s.under)-1]
		}
		if timer.Stop(); len(s.under) > 0 { // the compilation around it has its own time again
			s.began = time.Now()
			timer.Reset(s.wait.first(s.under[len(s.under)-1].Calls))
		}
	case "failed":
		if s.failed == nil {
			s.failed = e
		}
	case "frame":
		if err := s.keepFrame(ctx, e); err != nil {
			fmt.Fprintln(s.stderr, "whittle: recording a frame:", err)
		}
	case "internal":
		if err := s.keepFault(ctx, e); err != nil {
			fmt.Fprintln(s.stderr, "whittle: not kept:", err)
		}
	}
}

// ended says with what status the process ended, and what failed: what the script said, or the compilation during which it died.
func (s *supervision) ended(state *os.ProcessState) (int, *event, error) {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return state.ExitCode(), s.failed, nil
	}
	what := "was killed by signal " + ws.Signal().String()
	if s.hung > 0 {
		what = fmt.Sprintf("did not end within %s", s.hung.Round(100*time.Millisecond))
	}
	if len(s.under) == 0 && ws.Signal() == syscall.SIGINT {
		return interrupted, s.failed, nil // it has said why: KeyboardInterrupt
	}
	if len(s.under) == 0 {
		fmt.Fprintf(s.stderr, "whittle: the script %s\n", what)
		return 128 + int(ws.Signal()), s.failed, nil
	}
	last := s.under[len(s.under)-1]
	fmt.Fprintf(s.stderr, "whittle: a backend took the script down: its compilation %s\n", what)
	last.Raw, last.Hung = what, s.hung > 0
	last.Sig = replay.Signature{Stage: "compile", Type: unix.SignalName(ws.Signal())}
	if last.Hung {
		last.Sig.Type = "timeout"
	}
	return 1, last, nil
}

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
	"syscall"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/replay"
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
	record   string
	frames   bool
	noMinify bool
	hang     time.Duration
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run SCRIPT.py [ARGS...]",
		Short: "Run a script; minify a backend failure",
		Long: `Run a Python script on whittle's own torch. When a torch.compile backend fails, crashes or hangs, the graph is
shrunk and a minimal repro.py is written to whittle-repro/NAME-SIGNATURE, a folder for each script and failure, or to
$TORCHDYNAMO_REPRO_DIR. The last line says where. Nothing that whittle did not write is replaced. The script's exit status is passed on.`,
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
	c.Flags().BoolVar(&o.frames, "record-frames", false, "keep each frame that is captured in the store, for whittle replay")
	c.Flags().BoolVar(&o.noMinify, "no-minify", false, "report a backend failure, and leave it at that")
	c.Flags().DurationVar(&o.hang, "hang", 0, "how long one compilation may take before it counts as a hang (0: found out: half a minute, more for a large graph or on a busy machine)")
	a.jobs(c)
	return c
}

// checkSyntax reports a syntax error before anything of the script runs, and gives its code.
func (a *app) checkSyntax(file string, src []byte) (*code.Code, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	c, err := code.CompileSource(abs, string(src), code.Exec)
	if err != nil {
		fmt.Fprint(a.stderr, vm.New().FormatSyntaxError(err))
		return nil, exitCode(2)
	}
	return c, nil
}

func (a *app) run(ctx context.Context, args []string, o runOptions) error {
	src, err := checkFile(args[0])
	if err != nil {
		return err
	}
	if _, err := a.checkSyntax(args[0], src); err != nil {
		return err
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
	code, ev, err := a.supervise(ctx, args, data, o)
	if err != nil {
		return err
	}
	if ev != nil {
		var said exitCode
		if err := a.failed(ctx, ev, args[0], o); err != nil && !errors.As(err, &said) {
			fmt.Fprintln(a.stderr, "whittle:", err)
		}
	}
	if code != 0 {
		return exitCode(code)
	}
	return nil
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

// supervise runs the script in a child, which leaves the inputs of graphs in data, and returns its exit status and the failure to minify, if
// there is one.
func (a *app) supervise(ctx context.Context, args []string, data string, o runOptions) (int, *event, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	argv := []string{scriptArg, data}
	if o.record != "" {
		argv = append(argv, "--record", o.record)
	}
	if o.frames {
		argv = append(argv, "--frames")
	}
	cmd := exec.Command(self, append(append(argv, "--"), args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stderr
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none")
	cmd.ExtraFiles = []*os.File{w}
	// The terminal's Ctrl-C reaches the child by itself; we only must not die of it.
	signal.Ignore(syscall.SIGQUIT)
	if err := cmd.Start(); err != nil {
		w.Close()
		return 0, nil, fmt.Errorf("starting the script's process: %w", err)
	}
	w.Close()
	var failed *event
	var under []*event // steps begun and not ended
	hung, after := false, time.Duration(0)
	events := make(chan *event)
	var wg conc.WaitGroup
	wg.Go(func() {
		defer close(events)
		dec := json.NewDecoder(r)
		for {
			var e event
			if dec.Decode(&e) != nil {
				return
			}
			events <- &e
		}
	})
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	wait := patience{given: o.hang, slow: slowness}
	var began time.Time
loop:
	for {
		select {
		case e, ok := <-events:
			if !ok {
				break loop
			}
			switch e.Kind {
			case "begin":
				under = append(under, e)
				began = time.Now()
				timer.Reset(wait.first(e.Calls))
			case "end":
				if len(under) > 0 {
					under = under[:len(under)-1]
				}
				if timer.Stop(); len(under) > 0 { // the step around it has its own time again
					began = time.Now()
					timer.Reset(wait.first(under[len(under)-1].Calls))
				}
			case "failed":
				if failed == nil {
					failed = e
				}
			case "frame":
				if err := a.keepFrame(ctx, e); err != nil {
					fmt.Fprintln(a.stderr, "whittle: recording a frame:", err)
				}
			case "internal":
				if err := a.keepFault(ctx, e); err != nil {
					fmt.Fprintln(a.stderr, "whittle: not kept:", err)
				}
			}
		case <-timer.C:
			taken := time.Since(began)
			if more := wait.more(under[len(under)-1].Calls, taken); more > 0 {
				timer.Reset(more)
				continue
			}
			hung, after = true, taken
			_ = cmd.Process.Kill()
		case <-ctx.Done():
			_ = cmd.Process.Signal(syscall.SIGINT)
			ctx = context.WithoutCancel(ctx)
		}
	}
	werr := cmd.Wait()
	wg.Wait()
	code := 0
	var xe *exec.ExitError
	if errors.As(werr, &xe) {
		code = xe.ExitCode()
		if ws, ok := xe.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			code = 128 + int(ws.Signal())
			what := "was killed by signal " + ws.Signal().String()
			if hung {
				what = fmt.Sprintf("did not end within %s", after.Round(100*time.Millisecond))
			}
			if len(under) > 0 {
				last := under[len(under)-1]
				fmt.Fprintf(a.stderr, "whittle: a backend took the script down: its compilation %s\n", what)
				last.Raw, last.Hung = what, hung
				last.Sig = replay.Signature{Stage: "compile", Type: unix.SignalName(ws.Signal())}
				if hung {
					last.Sig.Type = "timeout"
				}
				return 1, last, nil
			}
			fmt.Fprintf(a.stderr, "whittle: the script %s\n", what)
		}
	} else if werr != nil {
		return 0, nil, werr
	}
	return code, failed, nil
}

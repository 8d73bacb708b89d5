package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"whittle/repros/kept"
	"whittle/repros/torch"
)

// keeperArg is the hidden subcommand of the process that keeps an engine: see runKeeper.
const keeperArg = "__engine"

// keepOrder is what that process is told, as its one argument.
type keepOrder struct {
	Command []string      `json:"command"`
	Key     string        `json:"key"`
	Keep    time.Duration `json:"keep"`
	Home    string        `json:"home"` // where the command is started
}

// keepReport is what it says, as one line, when commands can come, or why not.
type keepReport struct {
	About kept.About `json:"about"`
	Error string     `json:"error"`
}

func (a *app) engineCommand() *cobra.Command {
	var keep time.Duration
	var command string
	var stop bool
	c := &cobra.Command{
		Use:   "engine",
		Short: "Keep a Python with torch warm between commands; list and stop those that are kept",
		Long: `Without a flag, list the Pythons that are kept warm. With --keep, leave one behind, in which torch is imported: minify uses it by itself where it
is started by the same command, in the same environment, by the same version. One command has it at a time; another one that comes meanwhile
starts its own. Between two commands it is brought back to what it was: neither results nor proofs depend on it.

It ends when nobody wanted it for the time of --keep, with --stop, and by SIGTERM.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			keeps := c.Flags().Changed("keep")
			switch {
			case keeps && stop:
				return usagef("--keep and --stop: one of them")
			case keeps && keep <= 0:
				return usagef("--keep %v: a time above 0", keep)
			}
			f, err := keptFolder()
			if err != nil {
				return usageError{err}
			}
			switch {
			case stop:
				return a.stopEngines(c.Context(), f)
			case keeps:
				return a.keepEngine(c.Context(), f, strings.Fields(command), keep)
			}
			return a.listEngines(c.Context(), f)
		},
	}
	c.Flags().DurationVar(&keep, "keep", 0, "leave a Python with torch behind, which ends when no command wanted it for this time: 10m")
	c.Flags().StringVar(&command, "torch", os.Getenv("WHITTLE_TORCH"), "command that starts a Python with torch (default $WHITTLE_TORCH, then python3 if it has torch)")
	c.Flags().BoolVar(&stop, "stop", false, "end all that are kept")
	return c
}

// keptFolder is where kept engines are found.
func keptFolder() (kept.Folder, error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = cacheDir()
	}
	return kept.Open(filepath.Join(dir, "whittle-engines"))
}

// startOf is all that the answers of a Python depend on which command starts here.
func startOf(command []string) kept.Start {
	cwd, _ := os.Getwd() // "" is a folder like any other
	var cpus unix.CPUSet
	_ = unix.SchedGetaffinity(0, &cpus) // where it cannot be told, it is the same for all
	return kept.Start{Command: command, Env: os.Environ(), Cwd: cwd, Machine: []string{torch.Version(), fmt.Sprint(cpus)}}
}

// connectKept gives what connects to the engine that is kept for a command.
func connectKept(command []string) func(ctx context.Context) net.Conn {
	return func(ctx context.Context) net.Conn {
		f, err := keptFolder()
		if err != nil {
			return nil
		}
		s := startOf(command)
		return f.Connect(ctx, s.Key(), s.Cwd)
	}
}

// keepEngine leaves a process behind that keeps an engine, or sets the time of the one that is there.
func (a *app) keepEngine(ctx context.Context, f kept.Folder, command []string, keep time.Duration) error {
	if len(command) == 0 {
		if !hasTorch(ctx) {
			return errNoTorch
		}
		command = defaultPython
	}
	s := startOf(command)
	if about, err := f.Keep(ctx, s.Key(), keep); err == nil {
		fmt.Fprintf(a.stderr, "whittle: kept already, %s\n", describeKept(about))
		return nil
	}
	o := keepOrder{Command: command, Key: s.Key(), Keep: keep, Home: s.Cwd}
	if s.Anywhere() {
		o.Home = f.Home(o.Key)
	}
	r, err := leaveKeeper(ctx, o)
	if err != nil {
		return err
	}
	if r.Error != "" {
		return usageError{errors.New(r.Error)}
	}
	fmt.Fprintf(a.stderr, "whittle: kept, %s\n", describeKept(r.About))
	return nil
}

// leaveKeeper starts the process and waits until it says that commands can come.
func leaveKeeper(ctx context.Context, o keepOrder) (r keepReport, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return r, err
	}
	cmd := exec.Command(self, keeperArg, string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives this command and its terminal
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	stopped := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer stopped()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err != nil {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		return r, errors.Join(fmt.Errorf("the process that was to keep the engine ended: %w", err), cmd.Wait())
	}
	return r, cmd.Process.Release()
}

// runKeeper is the hidden subcommand __engine ORDER: it keeps an engine until that is over.
func runKeeper(args []string, stdout, stderr io.Writer) int {
	var o keepOrder
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &o) != nil {
		fmt.Fprintf(stderr, "whittle: %s is not for people: use whittle engine\n", keeperArg)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	say := func(r keepReport) {
		_ = json.NewEncoder(stdout).Encode(r) // who waited for it may be gone
		if c, ok := stdout.(io.Closer); ok {  // it waits for no more
			c.Close()
		}
	}
	f, err := keptFolder()
	if err == nil {
		facts := newFacts(o.Command)
		err = f.Serve(ctx, o.Key, kept.Options{Command: o.Command, Keep: o.Keep,
			Ready: func(a kept.About) { say(keepReport{About: a}) },
			Start: func(ctx context.Context) (kept.Host, string, error) {
				h, err := torch.StartHost(ctx, torch.Options{Command: o.Command, Facts: facts.read()}, o.Home)
				if err != nil {
					return nil, "", err
				}
				facts.write(h.Facts())
				return h, "torch " + h.Facts().Torch, nil
			}})
	}
	if err != nil {
		say(keepReport{Error: err.Error()})
		return 2
	}
	return 0
}

// describeKept is an engine in a line.
func describeKept(k kept.About) string {
	return fmt.Sprintf("until no command wanted it for %v: %s (%s), process %d", k.Keep, strings.Join(k.Command, " "), k.Version, k.PID)
}

func (a *app) stopEngines(ctx context.Context, f kept.Folder) error {
	all, err := f.Stop(ctx)
	for _, k := range all {
		fmt.Fprintf(a.stderr, "whittle: stopped: %s (%s), process %d\n", strings.Join(k.Command, " "), k.Version, k.PID)
	}
	if err == nil && len(all) == 0 {
		fmt.Fprintln(a.stderr, "whittle: no engine is kept")
	}
	return err
}

func (a *app) listEngines(ctx context.Context, f kept.Folder) error {
	all, err := f.List(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintln(a.stderr, "whittle: no engine is kept: whittle engine --keep 10m leaves one behind")
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "COMMAND\tVERSION\tPROCESS\tIDLE FOR\tENDS AT")
	for _, k := range all {
		idle, ends := "in use", "-"
		if !k.Busy {
			idle, ends = k.Idle.Round(time.Second).String(), k.Ends.Format(time.TimeOnly)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", strings.Join(k.Command, " "), k.Version, k.PID, idle, ends)
	}
	return w.Flush()
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"whittle/repros/worker"
	"whittle/tools/whittle/stack"
)

// Version of whittle, and of the PyTorch whose behaviour it follows.
const (
	Version        = "0.1.0"
	PyTorchVersion = "2.6.0"
)

// usageError is a wrong use of the command: exit status 2.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode ends the command with a status and no further message.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	store          string
	workers        int
}

// Run runs the command and returns its exit status: 0 fine, 1 the script or repro failed, 2 whittle was used wrongly, 70 a fault of whittle's
// own ended the script.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fill := paceGC(len(args) > 0 && strings.HasPrefix(args[0], "__"))
	if len(args) > 0 && args[0] == worker.WorkerArg {
		_ = os.Unsetenv("TORCH_TRACE") // it is of the program, and not of the questions about its graphs
		if err := worker.Serve(context.Background(), stack.Runner(cacheDir())); err != nil {
			fmt.Fprintln(stderr, "whittle:", err)
			return 2
		}
		return 0
	}
	if len(args) > 0 && args[0] == scriptArg {
		return runScript(args[1:], fill, stdout, stderr)
	}
	if len(args) > 0 && args[0] == keeperArg {
		return runKeeper(args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == programArg {
		return runProgram(args[1:], stdin, stdout, stderr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.command()
	if len(args) > 0 && (isPython(args[0]) || namesProgram(root, args[0])) {
		args = append([]string{"run"}, args...)
	}
	if len(args) > 0 && args[0] == "run" {
		args = append([]string{"run"}, splitRun(args[1:])...)
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(stderr, "whittle:", err)
	return 2
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "whittle",
		Short:         "Run PyTorch programs, and shrink what breaks torch.compile to a minimal repro.py",
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().StringVar(&a.store, "store", "", "SQLite file that keeps failures, queries and repros (default $WHITTLE_STORE, then the user's cache folder)")
	root.AddCommand(a.runCommand(), a.minifyCommand(), a.engineCommand(), a.replayCommand(), a.explainCommand(), a.storeCommand(), a.doctorCommand(), a.versionCommand(), a.opsCommand(), a.execCommand(),
		a.accuracyCommand(), a.accuracyChild(), a.reportCommand(), a.bisectCommand(), a.nightlyCommand(), a.triageCommand(), a.serveCommand(), a.ablateCommand(), a.codegenCommand(), a.traceCommand())
	return root
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print versions", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		fmt.Fprintf(a.stdout, "whittle %s (follows PyTorch %s), %s %s/%s\n", Version, PyTorchVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return nil
	}}
}

// jobs adds the flag for parallel queries.
func (a *app) jobs(c *cobra.Command) {
	n, err := strconv.Atoi(os.Getenv("WHITTLE_JOBS"))
	if err != nil || n < 1 {
		n = runtime.NumCPU()
	}
	c.Flags().IntVarP(&a.workers, "jobs", "j", n, "queries at a time; as many as there are cores unless $WHITTLE_JOBS says how many")
}

func cacheDir() string {
	if d := os.Getenv("WHITTLE_CACHE"); d != "" {
		return d
	}
	d, err := os.UserCacheDir()
	if err != nil {
		d = os.TempDir()
	}
	return filepath.Join(d, "whittle")
}

func (a *app) storePath() string {
	if a.store != "" {
		return a.store
	}
	if s := os.Getenv("WHITTLE_STORE"); s != "" {
		return s
	}
	return filepath.Join(cacheDir(), "store.db")
}

// checkFile refuses what cannot be a Python file, in one clear line.
func checkFile(path string) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, usagef("%s: no such file", path)
	case err != nil:
		return nil, usageError{err}
	case st.IsDir():
		return nil, usagef("%s is a directory, not a script", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, usageError{err}
	}
	for _, c := range b {
		if c == 0 {
			return nil, usagef("%s is a binary file, not a Python script", path)
		}
	}
	return b, nil
}

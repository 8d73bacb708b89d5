package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"whittle/replay"
	"whittle/tools/whittle/exec"
)

func (a *app) execCommand() *cobra.Command {
	o := exec.Options{}
	var dir, out, crashData string
	var x minifyOptions
	noMinify := false
	c := &cobra.Command{
		Use:   "exec [flags] -- PROGRAM [ARGUMENTS]",
		Short: "Run a program as it is; when torch.compile fails in it, keep and shrink the failure",
		Long: `Run a program as it is: its output, arguments, signals and exit status are its own. When torch.compile fails in it, by an
exception, a crash, an abort or (with --hang) a hang, the failing graph is kept as a repro with its real inputs and its
backend, and shrunk with the same Python. The result is repro.py in whittle-repro/NAME-SIGNATURE, a folder for each program and failure;
the graph as it was recorded lies beside it in recorded. The last line says where. Nothing that whittle did not write is replaced.

The program's Python has to see a folder of ours, by PYTHONPATH. With chroot that works by itself. Where the program runs in
another container or machine, pass PYTHONPATH on, and name a folder that both sides share with --exec-dir HERE=THERE.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Args = args
			switch o.After {
			case "", "aot", "dynamo":
			default:
				return usagef("--after %s: aot or dynamo", o.After)
			}
			if o.Level < 1 || o.Level > 4 {
				return usagef("--level %d: 1 to 4", o.Level)
			}
			if o.Strict && o.Level < 4 {
				return usagef("--strict compares results: it needs --level 4")
			}
			x.strict = o.Strict
			var err error
			if o.CrashData, err = parseBytes(crashData); err != nil {
				return usagef("--crash-data: %v", err)
			}
			if dir != "" {
				o.Dir, o.Seen, _ = strings.Cut(dir, "=")
				if st, err := os.Stat(o.Dir); err != nil || !st.IsDir() {
					return usagef("--exec-dir %s: no such folder", o.Dir)
				}
			}
			o.Out = func(f exec.Found) string {
				to := out
				if to == "" {
					to = folder(programName(args), f.Signature())
				}
				x.out = filepath.Join(to, "repro.py")
				if !noMinify {
					to = filepath.Join(to, "recorded") // the small one has the place of honour
				}
				return to
			}
			o.Stdin, o.Stdout, o.Stderr = a.stdin, a.stdout, a.stderr
			if noMinify {
				return a.exec(c.Context(), o, nil)
			}
			x.form = "standalone"
			return a.exec(c.Context(), o, &x)
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().IntVar(&o.Level, "level", 2, "2: exceptions and crashes; 4: results are compared with eager too")
	c.Flags().BoolVar(&o.Strict, "strict", false, "with --level 4: compare with eager itself, by the noise that eager shows when it is rounded otherwise")
	c.Flags().StringVar(&o.After, "after", "", "hand back the graph after `aot` or dynamo (default: the one nearest to the failure)")
	c.Flags().DurationVar(&o.Hang, "hang", 0, "a compile or a first run that takes longer is a hang: the program is ended")
	c.Flags().StringVar(&dir, "exec-dir", "", "where the recorder lies, `HERE[=THERE]`: THERE is the same folder as the program sees it")
	c.Flags().StringVar(&out, "out", "", "`FOLDER` for the repro (default: whittle-repro/NAME-SIGNATURE, one for each program and failure)")
	c.Flags().BoolVar(&noMinify, "no-minify", false, "keep the failing graph, and leave it at that")
	c.Flags().DurationVar(&x.timeout, "timeout", 0, "how long one compilation may take while shrinking before it counts as a hang (0: found out)")
	c.Flags().DurationVar(&x.deadline, "deadline", 0, "stop shrinking after this time, with the best so far (0: no limit)")
	c.Flags().IntVar(&x.confirm, "confirm", 1, "how many times the result has to fail in a fresh process")
	c.Flags().BoolVar(&x.workarounds, "workaround", false, "look for a setting that makes the failure go away")
	a.jobs(c)
	c.Flags().StringVar(&crashData, "crash-data", "8M", "inputs of a graph that are written before it first runs, in case that it crashes")
	return c
}

// programName is what a command line runs: the script or module of a Python, else the program itself.
func programName(args []string) string {
	for i, a := range args {
		if strings.HasSuffix(a, ".py") {
			return a
		}
		if a == "-m" && i+1 < len(args) {
			return args[i+1] + ".py" // torch.distributed.run is no file, and its last part no extension
		}
	}
	return args[0]
}

// parseBytes reads 1000, 64K, 8M, 1G.
func parseBytes(s string) (int64, error) {
	var n int64
	unit := ""
	if k, _ := fmt.Sscanf(s, "%d%s", &n, &unit); k == 0 || n < 0 {
		return 0, fmt.Errorf("%q is no size: 64K, 8M and 1G are", s)
	}
	shift, ok := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30}[strings.ToUpper(unit)]
	if !ok {
		return 0, fmt.Errorf("%q is no size: K, M and G are units", s)
	}
	return max(n<<shift, 1), nil
}

// exec runs the program, and looks after what failed in it: it is shrunk as x says, or for nil only kept.
func (a *app) exec(ctx context.Context, o exec.Options, x *minifyOptions) error {
	res, err := exec.Run(ctx, o)
	var start *exec.StartError
	if errors.As(err, &start) {
		fmt.Fprintln(a.stderr, "whittle exec:", start)
		return exitCode(start.Status)
	}
	if err != nil && res.Status == 0 {
		return err
	}
	say := func(format string, args ...any) { fmt.Fprintf(a.stderr, "whittle exec: "+format+"\n", args...) }
	if err != nil {
		say("%v", err)
	}
	switch {
	case len(res.Found) > 0:
		a.report(ctx, res.Found, programName(o.Args), x, say)
	case res.Status != 0 && !res.Heard:
		say("exit status %d, and nothing was recorded: no Python of the program saw our folder through PYTHONPATH (see whittle exec --help)", res.Status)
	case res.Status != 0:
		say("exit status %d; torch.compile did not fail (wrong results show with --level 4)", res.Status)
		for _, t := range res.Trouble {
			say("while recording: %s", t)
		}
	}
	if res.Status != 0 {
		return exitCode(res.Status)
	}
	return nil
}

// report says what was found and shrinks it. Where the first graph does not fail again on its own, the next may: the graph
// after dynamo around the one after aot.
func (a *app) report(ctx context.Context, all []exec.Found, program string, x *minifyOptions, say func(string, ...any)) {
	for i, f := range all {
		if fault := f.Machine(); fault != nil {
			say("%v", fault)
			return
		}
		say("%s", f.Title())
		for _, n := range f.Notes {
			say("%s", n)
		}
		if f.Problem != "" {
			say("the graph is in %s, but it cannot be run: %s", f.Path, f.Problem)
			continue
		}
		if x == nil || ctx.Err() != nil {
			say("repro: %s", f.Path)
			return
		}
		say("as it was recorded: %s", f.Path)
		var said exitCode
		err := a.shrinkFound(ctx, f, program, *x)
		if err == nil || errors.As(err, &said) { // its last line was the path of what came out
			return
		}
		say("minifying: %v", err)
		var fault *replay.MachineError
		if i+1 == len(all) || ctx.Err() != nil || errors.As(err, &fault) {
			say("repro: %s", f.Path)
			return
		}
		say("the next graph that was recorded:")
	}
}

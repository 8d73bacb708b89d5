package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whittle/replay"
	"whittle/replay/triage"
	"whittle/tools/whittle/ablate"
	"whittle/tools/whittle/axis"
	"whittle/tools/whittle/exec"
	"whittle/tools/whittle/reduce"
)

// ablateOptions are the command's flags.
type ablateOptions struct {
	ablate.Options
	json    bool
	torch   string
	timeout time.Duration
	memory  string
}

func (a *app) ablateCommand() *cobra.Command {
	var o ablateOptions
	c := &cobra.Command{
		Use:   "ablate [flags] PROGRAM.py [ARGS...] | [flags] -- COMMAND [ARGS...]",
		Short: "Find the layer of torch.compile that makes a program fail, drift or crawl",
		Long: `Run a program eagerly, as it is, and with one layer of torch.compile more each time: with the backends eager, aot_eager,
aot_eager_decomp_partition and inductor. Then, with the guilty layer, with other modes, with dynamic shapes and without, in one graph, with
errors suppressed, and with single settings otherwise. What the compiled calls return, raise and take is compared with eager; so are the gradients
of what they are given. The last lines say which layer it is, what makes it go away, and what to do next.

PROGRAM.py runs on whittle's own torch; a COMMAND after -- on its own PyTorch, as with whittle exec. The program stays as it is: its
torch.compile gets other arguments. Its standard output goes nowhere.
Exit status: 0 no layer that it uses is guilty, 1 one is, 2 the program cannot be compared: it fails eagerly, or draws other numbers each time.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("ablate: which program? (usage: whittle ablate PROGRAM.py [ARGS...])")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.ablate(c.Context(), args, c.ArgsLenAtDash() == 0, o)
		},
	}
	f := c.Flags()
	f.SetInterspersed(false)
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.Quick, "quick", false, "the layers alone")
	f.IntVar(&o.Repeat, "repeat", 1, "runs of each: a bad one counts, for failures that come and go")
	f.Float64Var(&o.Tolerance, "tolerance", 1e-3, "by which share of its magnitude a value may be off")
	f.DurationVar(&o.timeout, "timeout", 0, "a run that takes longer hangs (0: two minutes, more where the eager run is slow)")
	f.StringVar(&o.memory, "memory", "0", "how much address space a process of the program may have: 8G (0: any)")
	f.StringVar(&o.torch, "torch", "", "command that starts a Python with torch, for PROGRAM.py as that command sees it")
	return c
}

func (a *app) ablate(ctx context.Context, args []string, command bool, o ablateOptions) error {
	switch {
	case o.Repeat < 1:
		return usagef("--repeat %d: at least 1", o.Repeat)
	case !(o.Tolerance >= 0):
		return usagef("--tolerance %v: a tolerance is at least 0", o.Tolerance)
	case o.timeout < 0:
		return usagef("--timeout %v: a time is at least 0", o.timeout)
	case command && o.torch != "":
		return usagef("--torch is for a PROGRAM.py: a command after -- starts its own Python")
	}
	memory, err := parseBytes(o.memory)
	if err != nil {
		return usagef("--memory: %v", err)
	}
	if o.memory == "0" {
		memory = 0
	}
	subject := axis.Line(args)
	engine := "native"
	switch {
	case command:
		engine = "torch"
		o.Advice = ablate.Advice{Again: subject, Minify: "whittle exec -- " + subject, Accuracy: "whittle exec --level 4 -- " + subject}
	case o.torch != "":
		engine = "torch"
		args = append(strings.Fields(o.torch), args...)
		line := axis.Line(args)
		o.Advice = ablate.Advice{Again: line, Minify: "whittle exec -- " + line, Accuracy: "whittle exec --level 4 -- " + line}
	default:
		text, err := checkFile(args[0])
		if err != nil {
			return err
		}
		if _, err := a.checkSyntax(args[0], text); err != nil {
			return err
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		o.Advice = ablate.Advice{Again: "whittle run " + subject, Minify: "whittle run " + subject,
			Accuracy: `TORCHDYNAMO_REPRO_AFTER="aot" TORCHDYNAMO_REPRO_LEVEL=4 whittle run ` + subject}
		args = append([]string{self, "run", "--no-minify"}, args...)
	}
	o.Advice.Bisect = "whittle bisect --layers repro.py"
	for _, s := range reduce.Workarounds() {
		o.Settings = append(o.Settings, exec.Setting{Name: s.Name, Value: settingValue(s.Value)})
	}
	say := func(r ablate.Run) {
		fmt.Fprintf(a.stderr, "whittle: %s: %s, %.1f s\n", r.Name, r.Status, r.Seconds)
	}
	o.Say = say
	rep, err := ablate.Ablate(ctx, a.ablateRunner(args, o.timeout, memory), o.Options)
	if err != nil {
		if ablate.IsEager(err) {
			return usageError{err}
		}
		return err
	}
	rep.Program, rep.Engine = subject, engine
	if o.json {
		b, err := json.MarshalIndent(rep, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "%s\n", b)
	} else {
		showAblation(a.stdout, rep)
	}
	if rep.Guilty != nil {
		return exitCode(1)
	}
	return nil
}

// settingValue reads a value that is written as Python.
func settingValue(text string) any {
	switch text {
	case "True":
		return true
	case "False":
		return false
	case "None":
		return nil
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return strings.Trim(text, `'"`)
	}
	return v
}

// ablateRunner runs the program as a child. The time that it may take is found out by the eager run; a run that takes longer on a machine that is busy with something
// else is tried once more, with as much more time.
func (a *app) ablateRunner(args []string, timeout time.Duration, memory int64) ablate.Runner {
	const least, times = 2 * time.Minute, 10
	const busy = 1.5 // how slow a machine is that has other things to do
	waited := false
	limit := timeout
	if limit == 0 {
		limit = time.Hour // for the eager run
	}
	return func(ctx context.Context, c ablate.Change) (exec.Result, string, error) {
		if err := ctx.Err(); err != nil {
			return exec.Result{}, "", err
		}
		var said *lastLine
		run := func() (exec.Result, error) {
			said = &lastLine{}
			return exec.Run(ctx, exec.Options{Args: args, Stdin: nil, Stdout: io.Discard, Stderr: said, Limit: limit, Memory: memory,
				Calls: &exec.Calls{Eager: c.Eager, Every: 1, Compile: c.Compile, Settings: c.Settings, Notes: true}})
		}
		begin := time.Now()
		res, err := run()
		if err == nil && res.Overdue && timeout == 0 && !waited {
			if slow := slowness(); slow > busy {
				limit, waited = time.Duration(float64(limit)*2*slow), true
				res, err = run()
			}
		}
		var start *exec.StartError
		if errors.As(err, &start) {
			return res, "", usageError{err}
		}
		if err == nil && c.Eager && timeout == 0 {
			limit = max(least, times*time.Since(begin))
		}
		for _, line := range res.Trouble {
			fmt.Fprintln(a.stderr, "whittle: recording:", line)
		}
		return res, said.String(), errors.Join(err, ctx.Err())
	}
}

// lastLine keeps the last line that is written to it.
type lastLine struct{ line, part []byte }

func (l *lastLine) Write(p []byte) (int, error) {
	const most = 4096
	for _, c := range p {
		switch {
		case c == '\n':
			if len(l.part) > 0 {
				l.line, l.part = l.part, nil
			}
		case len(l.part) < most:
			l.part = append(l.part, c)
		}
	}
	return len(p), nil
}

func (l *lastLine) String() string {
	if len(l.part) > 0 {
		return string(l.part)
	}
	return string(l.line)
}

// showAblation prints a report for people.
func showAblation(w io.Writer, r *ablate.Report) {
	shown := map[string]string{}
	width := 0
	for _, x := range r.Runs {
		width = max(width, len(x.Name))
	}
	for _, x := range r.Runs {
		why := triage.Quote(x.Why)
		if first, ok := shown[why]; ok && x.Status != ablate.Same {
			why = "likewise: see " + first
		} else {
			shown[why] = x.Name
		}
		fmt.Fprintf(w, "%-*s  %-6s  %8s, then %8s  %s\n", width, x.Name, x.Status, shortTime(x.First), shortTime(x.Later), why)
	}
	switch g := r.Guilty; {
	case g != nil:
		fmt.Fprintf(w, "guilty: %s: %s: %s: %s\n", g.Layer, g.Name, g.Status, triage.Quote(g.Why))
	default:
		fmt.Fprintln(w, "guilty: no layer")
	}
	for _, s := range r.Slow {
		fmt.Fprintf(w, "slow: %s: a call takes %s, eagerly %s\n", s.Layer, shortTime(s.Seconds), shortTime(s.Eager))
	}
	for _, h := range r.Helps {
		fmt.Fprintf(w, "helps: %s\n", triage.Quote(h))
	}
	for _, h := range r.Also {
		fmt.Fprintf(w, "not used by the program, but not as eager either: %s\n", triage.Quote(h))
	}
	fmt.Fprintf(w, "next (%s):\n", replay.Count(len(r.Next), "thing"))
	for _, n := range r.Next {
		fmt.Fprintf(w, "  %s\n", triage.Quote(n))
	}
}

// shortTime is a time in seconds, for a table.
func shortTime(s float64) string {
	switch {
	case s == 0:
		return "-"
	case s < 1e-3:
		return fmt.Sprintf("%.0f us", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.1f ms", s*1e3)
	}
	return fmt.Sprintf("%.1f s", s)
}

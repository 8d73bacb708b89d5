package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/sourcegraph/conc"
	"github.com/spf13/cobra"

	"whittle/accuracy"
	"whittle/lowering"
	"whittle/repros"
	"whittle/repros/torch"
	"whittle/tools/whittle/stack"
)

// A divergeEngine compares the eager and the compiled execution of a repro with float64 arithmetic, node by node. dir is
// the folder of the repro's file. Errors are those of accuracy.Diverge; with a *NondeterministicError there are rows.
type divergeEngine interface {
	Diverge(ctx context.Context, repro *repros.Repro, dir string, o accuracy.Options) ([]accuracy.Row, error)
}

// divergeEngine starts the engine that the options ask for. close ends it.
func (a *app) divergeEngine(ctx context.Context, r *repros.Repro, o accuracyOptions) (e divergeEngine, name string, close func() error, err error) {
	g := &engines{o: minifyOptions{engine: o.engine, torch: o.torch}}
	x, _, err := g.of(ctx, r)
	if err != nil {
		return nil, "", nil, err
	}
	if t, ok := x.(*torch.Engine); ok {
		return t, t.Name(), t.Close, nil
	}
	return nativeDiverge{}, x.Name(), x.Close, nil
}

// accuracyOptions are the command's flags.
type accuracyOptions struct {
	json      bool
	strict    bool
	tolerance float64
	maxRows   int
	engine    string
	torch     string
	source    string
}

func (a *app) accuracyCommand() *cobra.Command {
	var o accuracyOptions
	c := &cobra.Command{
		Use:   "accuracy FILE",
		Short: "Compare a repro's intermediates, eager and compiled, with float64, and show where they part",
		Long: "Runs a repro eagerly, in float64 and compiled, and prints a row for each intermediate tensor and each output: how far both\n" +
			"are from float64, and whether PyTorch's rule calls them the same. The first that is not is marked.\n" +
			"With --strict they are the same if compiled is within 16 times eager's noise, or 4 ulps, of eager. The noise is how far any of 8 eager\n" +
			"runs is off that have their inputs and products moved by up to an ulp, and their sums taken in another order.\n" +
			"Exit status: 0 the same, 1 diverged (or the compiled graph fails), 2 nothing to compare.",
		Args: oneFile("accuracy"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.accuracy(c.Context(), args[0], o, c.Flags().Changed("strict"), c.Flags().Changed("tolerance"))
		},
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.strict, "strict", false, "compare with eager itself, by the noise that eager shows when it is rounded otherwise; integers and bools, too (default: as the file says)")
	f.Float64Var(&o.tolerance, "tolerance", 0, "absolute and relative tolerance (default: the file's repro_tolerance, then 0.001)")
	f.IntVar(&o.maxRows, "max-rows", 0, "rows to print, around the first divergence (default all)")
	f.StringVar(&o.engine, "engine", "auto", "auto, torch or native: what runs the repro")
	f.StringVar(&o.torch, "torch", os.Getenv("WHITTLE_TORCH"), "command that starts a Python with torch (default $WHITTLE_TORCH, then python3 if it has torch)")
	f.StringVar(&o.source, "source", "", "script that defines the backend that the file only names")
	return c
}

// accuracyReport is what `whittle accuracy --json` prints.
type accuracyReport struct {
	File      string         `json:"file"`
	Engine    string         `json:"engine"`
	After     repros.Stage   `json:"after"`
	Tolerance float64        `json:"tolerance"`
	Strict    bool           `json:"strict"`
	Same      bool           `json:"same"`
	First     *accuracy.Row  `json:"first"` // null: none
	Error     string         `json:"error,omitempty"`
	Rows      []accuracy.Row `json:"rows"`
}

func (a *app) accuracy(ctx context.Context, file string, o accuracyOptions, strictSet, tolSet bool) error {
	r, err := readRepro(file)
	if err != nil {
		return err
	}
	if tolSet && !(o.tolerance >= 0) {
		return usagef("--tolerance %v: a tolerance is at least 0", o.tolerance)
	}
	if o.maxRows < 0 {
		return usagef("--max-rows %d: want a number of rows, or 0 for all", o.maxRows)
	}
	m := minifyOptions{form: "repro", engine: o.engine, confirm: 1, memory: "0", source: o.source}
	if err := m.check(); err != nil {
		return err
	}
	if err := m.prepare(r); err != nil {
		return err
	}
	eng, name, done, err := a.divergeEngine(ctx, r, o)
	if err != nil {
		return err
	}
	defer done()
	o.engine = name
	opt, err := compareOptions(file, r)
	if err != nil {
		return err
	}
	if strictSet {
		opt.IgnoreNonFP, opt.Direct = !o.strict, o.strict
		if _, ok := r.Lookup("repro_tolerance"); o.strict && !ok {
			opt.Tol = 0
		}
	}
	if tolSet {
		opt.Tol = o.tolerance
	}
	rows, err := eng.Diverge(ctx, r, filepath.Dir(file), opt)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return a.showAccuracy(file, r, o, opt, rows, err)
}

// compareOptions are the tolerance and strictness that a repro asks for.
func compareOptions(file string, r *repros.Repro) (accuracy.Options, error) {
	opt := accuracy.Minifying(r.Accuracy == repros.StrictAccuracy)
	if v, ok := r.Lookup("repro_ignore_non_fp"); ok {
		opt.IgnoreNonFP = v == "True"
	}
	if v, ok := r.Lookup("repro_tolerance"); ok {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || !(x >= 0) {
			return opt, usagef("%s: repro_tolerance = %s is no tolerance", file, v)
		}
		opt.Tol = x
	} else if repros.IsStrict(r) {
		opt.Tol = 0
	}
	if repros.IsStrict(r) {
		opt = opt.Strict(opt.Tol)
	}
	return opt, nil
}

// showAccuracy prints the table and decides the exit status.
func (a *app) showAccuracy(file string, r *repros.Repro, o accuracyOptions, opt accuracy.Options, rows []accuracy.Row, err error) error {
	rep := accuracyReport{File: file, Engine: o.engine, After: r.Stage, Tolerance: opt.Tol, Strict: !opt.IgnoreNonFP, Same: err == nil && !accuracy.Differ(rows), Rows: rows}
	if rep.Rows == nil {
		rep.Rows = []accuracy.Row{}
	}
	for i := range rows {
		if rows[i].First {
			rep.First = &rows[i]
		}
	}
	var compiled *accuracy.CompiledError
	if err != nil {
		rep.Error = err.Error()
	}
	switch {
	case o.json:
		b, jerr := json.MarshalIndent(rep, "", "  ")
		if jerr != nil {
			return jerr
		}
		fmt.Fprintf(a.stdout, "%s\n", b)
	case len(rows) > 0:
		fmt.Fprint(a.stdout, accuracy.Table(rows, o.maxRows))
		if rep.First != nil {
			fmt.Fprintf(a.stdout, "first divergence: %s (%s)\n", rep.First.Node, rep.First.Target)
		} else if err == nil {
			within := fmt.Sprintf("%g", opt.Tol)
			switch {
			case opt.Direct && opt.Tol == 0:
				within = "the noise of eager"
			case opt.Direct:
				within += " and the noise of eager"
			}
			fmt.Fprintf(a.stdout, "the same, within %s\n", within)
		}
	case err == nil:
		fmt.Fprintln(a.stdout, "there is no floating tensor to compare; --strict compares the others")
	}
	switch {
	case errors.As(err, &compiled):
		fmt.Fprintf(a.stderr, "whittle: %v (`whittle minify %s` shrinks that)\n", err, file)
		return exitCode(1)
	case err != nil:
		return usageError{err}
	case rep.First != nil:
		return exitCode(1)
	}
	return nil
}

// nativeDiverge is whittle's own stack, in a process of its own: generated code may take it down.
type nativeDiverge struct{}

// accuracyChildArg names the command of that process.
const accuracyChildArg = "__accuracy"

// accuracyQuery goes to the child's standard input, accuracyAnswer comes back on descriptor 3.
type (
	accuracyQuery struct {
		Repro   string
		Dir     string
		Options accuracy.Options
	}
	accuracyAnswer struct {
		Rows  []accuracy.Row
		Error string
		Kind  string // of the error: eager, compiled, random
		Where string // Kind random
	}
)

// Diverge asks the child.
func (nativeDiverge) Diverge(ctx context.Context, r *repros.Repro, dir string, o accuracy.Options) ([]accuracy.Row, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	q, err := json.Marshal(accuracyQuery{Repro: repros.Write(r), Dir: dir, Options: o})
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer pr.Close()
	cmd := exec.CommandContext(ctx, self, accuracyChildArg)
	// A group of its own, so that what generated code starts ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdin = bytes.NewReader(q)
	said := &tail{limit: 4096}
	cmd.Stdout, cmd.Stderr = said, said
	cmd.Env = append(os.Environ(), "GOTRACEBACK=crash") // a signal in generated code ends the process as that signal
	cmd.ExtraFiles = []*os.File{pw}
	if err := cmd.Start(); err != nil {
		pw.Close()
		return nil, fmt.Errorf("starting the process that compares: %w", err)
	}
	pw.Close()
	var ans accuracyAnswer
	var derr error
	var wg conc.WaitGroup
	wg.Go(func() { derr = json.NewDecoder(pr).Decode(&ans) })
	werr := cmd.Wait()
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if derr != nil {
		return nil, &accuracy.CompiledError{Err: fmt.Errorf("the process that runs it %s", ended(werr, said.String()))}
	}
	switch ans.Kind {
	case "":
		return ans.Rows, nil
	case "random":
		return ans.Rows, &accuracy.NondeterministicError{Where: ans.Where, Why: ans.Error}
	case "eager":
		return ans.Rows, &accuracy.EagerError{Err: errors.New(ans.Error)}
	case "compiled":
		return ans.Rows, &accuracy.CompiledError{Err: errors.New(ans.Error)}
	}
	return ans.Rows, errors.New(ans.Error)
}

// ended says how a process without an answer ended.
func ended(err error, said string) string {
	var xe *exec.ExitError
	if errors.As(err, &xe) {
		if ws, ok := xe.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return "was killed by signal " + ws.Signal().String()
		}
	}
	said = strings.TrimSpace(said)
	if first, _, _ := strings.Cut(said, "\n"); first != "" {
		return "ended without an answer: " + first
	}
	return "ended without an answer"
}

// tail keeps the first bytes that are written to it: a crash says first what it is.
type tail struct {
	b     bytes.Buffer
	limit int
}

func (t *tail) Write(p []byte) (int, error) {
	t.b.Write(p[:min(len(p), max(0, t.limit-t.b.Len()))])
	return len(p), nil
}

func (t *tail) String() string { return t.b.String() }

// oneLine is the failure of a compilation in a line: for the C++ compiler's, its first complaint.
func oneLine(err error) string {
	var le *lowering.LoweringError
	var ce *lowering.CompileError
	if errors.As(err, &le) || errors.As(err, &ce) {
		s := stack.CompileOutcome(err).Signature
		return s.Type + ": " + s.Message
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// accuracyChild is the command behind nativeDiverge.
func (a *app) accuracyChild() *cobra.Command {
	return &cobra.Command{Use: accuracyChildArg, Hidden: true, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		out := os.NewFile(3, "answer")
		if out == nil {
			return usagef("%s is no command for people", accuracyChildArg)
		}
		defer out.Close()
		text, err := io.ReadAll(a.stdin)
		if err != nil {
			return err
		}
		var q accuracyQuery
		if err := json.Unmarshal(text, &q); err != nil {
			return usageError{err}
		}
		r, err := repros.Read("repro.py", q.Repro)
		if err != nil {
			return err
		}
		rows, err := stack.Diverge(c.Context(), r, q.Dir, cacheDir(), q.Options)
		ans := accuracyAnswer{Rows: rows}
		var (
			ee *accuracy.EagerError
			ce *accuracy.CompiledError
			ne *accuracy.NondeterministicError
		)
		switch {
		case errors.As(err, &ne):
			ans.Kind, ans.Where, ans.Error = "random", ne.Where, ne.Why
		case errors.As(err, &ee):
			ans.Kind, ans.Error = "eager", ee.Err.Error()
		case errors.As(err, &ce):
			ans.Kind, ans.Error = "compiled", oneLine(ce.Err)
		case err != nil:
			ans.Kind, ans.Error = "other", err.Error()
		}
		return json.NewEncoder(out).Encode(ans)
	}}
}

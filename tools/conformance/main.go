// Command conformance measures whittle against records of a real PyTorch:
//
//	conformance ops DIR      recorded operator calls: results, layout, meta, gradients, and under torch.compile
//	conformance graphs DIR   repro files: parse, round trip, eager and inductor on seeded inputs
//	conformance minify DIR   failing cases
//	conformance frames DIR   programs: their frames, recorded, and captured again in another process
//	conformance cpython DIR  CPython 3.11's own tests, whose outcomes DIR has; -lib is the library folder that they are in
//	conformance pytorch DIR  PyTorch 2.6's own tests, which DIR has with their outcomes
//
// Each prints "measure: N of M" lines; -v says why each failure failed, -o writes JSON. cpython and pytorch print a line and write -o whenever a
// file is done; -resume goes on from there.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/lowering"
	"whittle/replay"
	"whittle/replay/files"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/repros/torch"
	"whittle/tools/conformance/graphs"
	"whittle/tools/conformance/minify"
	"whittle/tools/conformance/ops"
	"whittle/tools/whittle/exec"
	"whittle/tools/whittle/reduce"
)

// options are the flags that all runners share.
type options struct {
	verbose  bool
	out      string
	resume   string
	match    string
	workers  int
	timeout  time.Duration
	eager    bool
	torch    string
	whittle  string
	lib      string
	pytorch  string
	limit    float64
	measures string
	every    int
}

// runners are the subcommands. Each prints its lines and returns what -o writes.
var runners = map[string]func(ctx context.Context, dir string, o options) (any, error){
	"ops":     runOps,
	"graphs":  runGraphs,
	"minify":  runMinify,
	"frames":  runFrames,
	"cpython": runCPython,
	"pytorch": runPyTorch,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string) error {
	usage := fmt.Errorf("usage: conformance ops|graphs|minify|frames|cpython|pytorch [-v] [-o OUT.json] [-resume OUT.json] [-match NAME] [-j N] DIR")
	if len(args) == 0 || runners[args[0]] == nil {
		return usage
	}
	var o options
	fs := flag.NewFlagSet(args[0], flag.ContinueOnError)
	fs.BoolVar(&o.verbose, "v", false, "say why each failure failed")
	fs.StringVar(&o.out, "o", "", "write the whole report as JSON")
	fs.StringVar(&o.resume, "resume", "", "cpython, pytorch: run only the tests that this report, which -o of an earlier run wrote, does not have")
	fs.StringVar(&o.match, "match", "", "only files whose name contains this (minify, cpython, pytorch: one of these, separated by commas)")
	fs.IntVar(&o.workers, "j", runtime.NumCPU(), "files at a time")
	fs.DurationVar(&o.timeout, "t", 2*time.Minute, "limit for one file; cpython, pytorch: for one test")
	fs.BoolVar(&o.eager, "eager", false, "graphs: leave inductor out")
	fs.StringVar(&o.measures, "measure", "", "ops: what to measure, separated by commas: "+strings.Join(ops.Measures, ", ")+"; empty: all but inductor")
	fs.IntVar(&o.every, "every", 1, "ops: check each Nth record of a file only")
	fs.StringVar(&o.torch, "torch", os.Getenv("WHITTLE_TORCH"), "minify: the command that starts a Python with torch; none: only read")
	fs.StringVar(&o.whittle, "whittle", "whittle", "frames, cpython, pytorch: the command to run")
	fs.StringVar(&o.lib, "lib", "/usr/lib/python3.11", "cpython: the library folder that has the tests, in test/")
	fs.StringVar(&o.pytorch, "pytorch", "", "minify: run PyTorch's own minifier beside it, in these modes: isolate,noisolate")
	fs.Float64Var(&o.limit, "pytorch-limit", 0, "minify: stop PyTorch's own minifier after so many times whittle's time")
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return usage
	}
	rep, err := runners[args[0]](ctx, fs.Arg(0), o)
	if err != nil {
		return err
	}
	return errors.Join(write(o.out, args[0], rep), leftOut(rep))
}

// leftOut names what of the data was broken, a line each. The rest was measured; it is an error all the same.
func leftOut(rep any) error {
	var broken []string
	switch rep := rep.(type) {
	case ops.Report:
		broken = rep.Broken
	case minify.Report:
		broken = rep.Broken
	case framesReport:
		broken = rep.Broken
	}
	for _, b := range broken {
		fmt.Fprintln(os.Stderr, "conformance: left out:", b)
	}
	if len(broken) > 0 {
		return fmt.Errorf("%s left out, the rest is measured", replay.Count(len(broken), "broken record"))
	}
	return nil
}

// write writes the whole report of a runner as JSON, where that is asked for.
func write(path, runner string, rep any) error {
	if path == "" {
		return nil
	}
	b, err := json.MarshalIndent(rep, "", " ")
	if err != nil {
		return err
	}
	at, err := files.Put(path, b, "conformance", runner)
	if err == nil && at != path {
		fmt.Fprintf(os.Stderr, "conformance: %s is not what conformance wrote: it stays, and the report is %s\n", path, at)
	}
	return err
}

// cacheDir holds compiled kernels.
func cacheDir() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "whittle")
}

func runOps(ctx context.Context, dir string, o options) (any, error) {
	opt := ops.Options{Workers: o.workers, CacheDir: cacheDir(), Every: o.every}
	if o.measures != "" {
		opt.Measures = strings.Split(o.measures, ",")
	}
	if o.match != "" {
		opt.Match = func(file string) bool { return slices.Contains(strings.Split(o.match, ","), file) }
	}
	rep, err := ops.Run(ctx, dir, opt)
	if err != nil {
		return nil, err
	}
	for _, l := range rep.Lines() {
		fmt.Println(l)
	}
	if o.verbose {
		for _, f := range rep.Failures {
			fmt.Printf("%s %s %s: %s: %s\n", f.Measure, f.File, f.Record, f.Call, f.Reason)
		}
	}
	return rep, nil
}

// inductor compiles a graph for real inputs by whittle's own lowering.
func inductor(dir string) func(ctx context.Context, gm *fx.GraphModule, inputs []any) (graphs.Callable, error) {
	return func(ctx context.Context, gm *fx.GraphModule, inputs []any) (graphs.Callable, error) {
		c, _ := gm.Clone()
		if err := interp.Propagate(ctx, c, inputs); err != nil {
			return nil, err
		}
		p, err := lowering.Compile(ctx, c, lowering.Config{CacheDir: dir})
		if err != nil {
			return nil, err
		}
		return func(_ context.Context, inputs []any) (any, error) {
			aten.DefaultGenerator.ManualSeed(0)
			out, err := p.Run(inputs)
			return any(out), err
		}, nil
	}
}

func runGraphs(ctx context.Context, dir string, o options) (any, error) {
	// One file at a time: eager and compiled runs draw the same random numbers from the one default stream.
	opt := graphs.Options{Eager: true, Match: o.match, Workers: 1, Timeout: o.timeout, Resolver: func(ctx context.Context) fx.Resolver {
		aten.DefaultGenerator.ManualSeed(0)
		return interp.Aten(ctx, aten.Eager)
	}}
	opt.Program = dynamoProgram(cacheDir())
	if !o.eager {
		opt.Compile = inductor(cacheDir())
	}
	rep, err := graphs.Run(ctx, dir, opt)
	if err != nil {
		return nil, err
	}
	for _, m := range rep.Measures {
		fmt.Printf("%s: %d of %d\n", m.Name, m.N, m.M)
		if o.verbose {
			for _, r := range m.Reasons {
				fmt.Printf("  %s: %s\n", r.File, r.Why)
			}
		}
	}
	return rep, nil
}

func runMinify(ctx context.Context, dir string, o options) (any, error) {
	opt := minify.Options{Match: o.match, Timeout: o.timeout}
	if o.torch != "" {
		m := &minifier{command: strings.Fields(o.torch), workers: o.workers}
		opt.Reduce, opt.Find, opt.Above, opt.Ended, opt.Own = m.reduce, m.find, m.above, m.ended, m.own
		if o.pytorch != "" {
			opt.Modes, opt.Limit = strings.Split(o.pytorch, ","), o.limit
		}
		opt.Each = func(c minify.CaseReport) {
			fmt.Fprintf(os.Stderr, "%s: %d -> %s, %d -> %s, %s, %.1f s, kept %v %s\n", c.Name, c.Start, replay.Count(c.End, "call"), c.StartElements, replay.Count(c.Elements, "element"), replay.Count(c.Queries, "query"), c.Seconds, c.Kept, c.Error)
		}
	}
	rep, err := minify.Run(ctx, dir, opt)
	if err != nil {
		return nil, err
	}
	if len(rep.Cases) > 0 {
		fmt.Print(rep.Table())
	}
	for _, m := range rep.Measures {
		fmt.Printf("%s: %d of %d\n", m.Name, m.N, m.M)
		if o.verbose {
			for _, r := range m.Reasons {
				fmt.Printf("  %+v\n", r)
			}
		}
	}
	return rep, nil
}

// minifier reduces cases with a real PyTorch, one Python for each case.
type minifier struct {
	command []string
	workers int
	facts   torch.Facts

	client  *torch.Client // of the case under way; nil before it is needed
	started time.Duration // that it was waited for
}

func (m *minifier) reduce(ctx context.Context, _ minify.Case, r *repros.Repro, dir string) (reduce.Report, error) {
	clock := engine.NewClock(time.Now)
	again := m.client != nil
	if !again {
		starting := clock.Begin(engine.OnStart)
		c, err := torch.Start(ctx, torch.Options{Command: m.command, Facts: m.facts, Slots: m.workers})
		starting.End()
		if err != nil {
			return reduce.Report{}, err
		}
		m.client, m.facts, m.started = c, c.Facts(), clock.Elapsed()
	}
	rep, err := reduce.Run(ctx, reduce.Options{Engine: torch.New(m.client), Repro: r, Dir: dir, Workers: m.workers, Clock: clock})
	if again && rep.Floor > 0 {
		rep.Floor += m.started // the case waited for it, in its first search
	}
	return rep, err
}

// ended ends the case's Python.
func (m *minifier) ended() {
	if m.client != nil {
		_ = m.client.Close() // it has been asked all that there is to ask
		m.client = nil
	}
}

// find runs the case's program under exec's recorder.
func (m *minifier) find(ctx context.Context, c minify.Case, dir string) (*repros.Repro, string, error) {
	o := exec.Options{Out: func(exec.Found) string { return dir }, Level: 2}
	if c.Level == 4 {
		o.Level = 4
	}
	if c.Kind == "hang" {
		o.Hang = 15 * time.Second
	}
	res, err := m.record(ctx, c, o)
	switch {
	case err != nil:
		return nil, "", err
	case len(res.Found) == 0 && res.Status == 0 && res.Heard:
		return nil, "", minify.ErrFine
	case len(res.Found) == 0:
		return nil, "", fmt.Errorf("exit status %d, and no failure of torch.compile was found", res.Status)
	case res.Found[0].Repro == nil:
		return nil, "", errors.New(res.Found[0].Problem)
	}
	return res.Found[0].Repro, filepath.Dir(res.Found[0].Path), nil
}

// above runs the case's program up to the graphs that Inductor gets, and no further.
func (m *minifier) above(ctx context.Context, c minify.Case, dir string) (*repros.Repro, string, error) {
	res, err := m.record(ctx, c, exec.Options{Out: func(exec.Found) string { return dir }, Level: 4, Eager: true})
	if err != nil {
		return nil, "", err
	}
	for _, f := range res.Found {
		if f.Kind == exec.Accuracy && f.Repro != nil {
			return f.Repro, filepath.Dir(f.Path), nil
		}
	}
	return nil, "", nil
}

// record runs the case's program, which is copied to where the command sees it.
func (m *minifier) record(ctx context.Context, c minify.Case, o exec.Options) (exec.Result, error) {
	place, seen, err := visible(m.command)
	if err != nil {
		return exec.Result{}, err
	}
	defer os.RemoveAll(place)
	text, err := os.ReadFile(filepath.Join(c.Dir, "program.py"))
	if err != nil {
		return exec.Result{}, err
	}
	if err := os.WriteFile(filepath.Join(place, "program.py"), text, 0o666); err != nil {
		return exec.Result{}, err
	}
	o.Args = append(slices.Clone(m.command), filepath.Join(seen, "program.py"))
	o.Stdout, o.Stderr = io.Discard, io.Discard
	return exec.Run(ctx, o)
}

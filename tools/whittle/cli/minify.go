package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"whittle/minify"
	"whittle/replay"
	"whittle/replay/files"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/repros/torch"
	found "whittle/tools/whittle/exec"
	"whittle/tools/whittle/reduce"
)

// minifyOptions are the flags of minify, and what the other commands that minify set by themselves.
type minifyOptions struct {
	out         string // "" => a folder of its own below whittle-repro
	form        string
	source      string // script that defines the backend
	engine      string // auto, native, torch
	torch       string // command that starts a Python with torch
	confirm     int
	maxQueries  int
	findings    int
	deadline    time.Duration
	timeout     time.Duration // of one query
	memory      string        // of one query
	json        bool
	resume      bool
	workarounds bool
	strict      bool // compare with eager itself
	all         bool // compare integers and booleans, too
	noKeep      bool // start a Python, also where one is kept

	want   replay.Signature
	seen   replay.Signature // what the program failed with
	python []string         // the torch command, in words
}

// subject is a failure to be shrunk.
type subject struct {
	repro *repros.Repro
	dir   string // that its data lie below
	path  string // of its file, or of the script that failed
	// failure is the store's record of it, which is told of its search; 0: none.
	failure int64
	next    *subject // that is shrunk after it; nil: none
}

// origin is where a failure comes from, for people: the whole path of what is a file here.
func origin(program string) string {
	abs, err := filepath.Abs(program)
	if err != nil {
		return program
	}
	if _, err := os.Stat(abs); err != nil {
		return program // of another root, or a module
	}
	return abs
}

// failed stores a failure and minifies it.
func (a *app) failed(ctx context.Context, ev *event, script string, o runOptions) error {
	r, err := repros.Read("repro.py", ev.Repro)
	if err != nil {
		return fmt.Errorf("the failing graph cannot be written as a repro: %w", err)
	}
	if fault := replay.MachineFault(ev.Sig.Type, ev.Raw); fault != nil {
		return fault
	}
	st, err := replay.Open(ctx, a.storePath())
	if err != nil {
		return err
	}
	defer st.Close()
	id, err := st.PutFailure(ctx, replay.Failure{Signature: ev.Sig, Raw: ev.Raw, Repro: ev.Repro, Origin: origin(script)})
	if err != nil {
		return err
	}
	at := place{source: script}
	if ev.Dir != "" && os.Getenv("TORCHDYNAMO_REPRO_DIR") == "" {
		at.file = filepath.Join(ev.Dir, "repro.py")
	}
	if ev.Level == 1 || o.noMinify {
		if ev.After == "" && o.noMinify {
			return nil
		}
		r.Command = "run" // nothing is left to do but to run it
		path, err := repros.WriteFile(at.repro(ev.Sig), r, "whole", r.Module.Hash(), ev.Sig.String())
		if err == nil {
			err = repros.SaveStorages(filepath.Join(ev.Data, checkpoints), filepath.Join(filepath.Dir(path), checkpoints))
		}
		if err != nil {
			return err
		}
		a.stays(at.repro(ev.Sig), path)
		fmt.Fprintf(a.stderr, "whittle: the failing graph, not minified: %s\n", path)
		return nil
	}
	m := minifyOptions{out: at.file, engine: "native", timeout: ev.wall()}
	if ev.Kind == "failed" { // how a process ends may look otherwise in a worker
		m.seen = ev.Sig
	}
	return a.minifyOne(ctx, st, subject{repro: r, dir: ev.Data, path: script, failure: id}, m)
}

// shrinkFound shrinks what `whittle exec` found in a program, with the program's own Python.
func (a *app) shrinkFound(ctx context.Context, f found.Found, program string, o minifyOptions) error {
	if f.Repro == nil {
		return errors.New(f.Problem)
	}
	st, err := replay.Open(ctx, a.storePath())
	if err != nil {
		return err
	}
	defer st.Close()
	text, err := os.ReadFile(f.Path)
	if err != nil {
		return err
	}
	id, err := st.PutFailure(ctx, replay.Failure{Signature: f.Signature(), Raw: f.Traceback, Repro: string(text), Origin: origin(program)})
	if err != nil {
		return err
	}
	if o.strict && f.Kind == found.Accuracy {
		repros.MakeStrict(f.Repro)
	}
	if f.Kind == found.Exception {
		o.seen = f.Signature()
	}
	o.engine, o.python = "torch", f.Python
	return a.minifyOne(ctx, st, subject{repro: f.Repro, dir: filepath.Dir(f.Path), path: f.Path, failure: id}, o)
}

func (a *app) minifyCommand() *cobra.Command {
	var o minifyOptions
	c := &cobra.Command{
		Use:   "minify FILE...",
		Short: "Shrink a repro, minifier_launcher.py or fx_graph_runnable.py, or many of them",
		Long: `Shrink the graph, the inputs and the settings of a repro to what still fails in the same way, and prove the result in a fresh process.

The engine that answers is a real PyTorch where there is one: --torch "COMMAND" or $WHITTLE_TORCH, any command that starts a
Python with torch, near or far (chroot DIR python3, ssh HOST python3, docker run -i IMAGE python3); else python3, if it has torch. Otherwise
it is whittle's own stack.

Several files are shrunk one after the other, by one Python that imports torch once, and the first runs of the next use the processors that
the one under way leaves idle. Of a folder, all repros below it are, those aside in a whittle-repro.

Nothing that whittle did not write is replaced, what was edited neither: the result goes beside it then, and the last line says where.

A search that was stopped, by whatever, goes on where it was when the command is given again (--resume insists on that).
Exit status: 0 minimal, 1 the repro does not fail or the search did not end, 2 used wrongly; of several files the highest.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("minify takes files, got none")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			all, err := subjects(args, o)
			if err != nil {
				return err
			}
			st, err := replay.Open(c.Context(), a.storePath())
			if err != nil {
				return err
			}
			defer st.Close()
			return a.minifyAll(c.Context(), st, all, o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.out, "output", "o", "", "`FILE` for the minimal repro (default: repro.py in whittle-repro/NAME-SIGNATURE, a folder for each file and failure)")
	f.StringVar(&o.form, "form", "repro", "repro: PyTorch's form; standalone: a plain script beside it, too (NAME_standalone.py)")
	f.StringVar(&o.source, "source", "", "script that defines the backend that the file only names")
	f.StringVar(&o.engine, "engine", "auto", "auto, torch or native")
	f.StringVar(&o.torch, "torch", os.Getenv("WHITTLE_TORCH"), "command that starts a Python with torch (default $WHITTLE_TORCH, then python3 if it has torch)")
	f.IntVar(&o.confirm, "confirm", 1, "how many times the result has to fail in a fresh process")
	f.IntVar(&o.maxQueries, "max-queries", 0, "stop after so many questions to the engine (0: no limit)")
	f.DurationVar(&o.deadline, "deadline", 0, "stop reducing after this time, with the best so far (0: no limit)")
	f.DurationVar(&o.timeout, "timeout", 0, "how long one compilation may take before it counts as a hang (0: found out)")
	f.StringVar(&o.memory, "memory", "0", "how much memory one question may use beyond an idle Python: 4G (0: found out)")
	f.IntVar(&o.findings, "finding-queries", 0, "questions spent on small repros of other failures met on the way")
	f.BoolVar(&o.workarounds, "workaround", false, "look for a setting that makes the failure go away")
	f.BoolVar(&o.strict, "strict", false, "compare results with eager itself, by the noise that eager shows when it is rounded otherwise: finds errors by cancellation, to which float64 is no nearer")
	f.BoolVar(&o.all, "strict-accuracy", false, "compare integers and booleans of the results, too, as the launchers of PyTorch do with this flag")
	f.BoolVar(&o.json, "json", false, "events as JSON, one a line, on standard output")
	f.BoolVar(&o.noKeep, "no-keep", false, "start a Python of its own, also where one is kept warm (whittle engine --keep); likewise with $WHITTLE_ENGINE=none")
	f.BoolVar(&o.resume, "resume", false, "go on with an interrupted search; an error where there is none")
	a.jobs(c)
	return c
}

// readRepro reads a repro file that has to be complete. What is wrong with it is a usage error.
func readRepro(path string) (*repros.Repro, error) {
	if _, err := checkFile(path); err != nil {
		return nil, err
	}
	r, err := repros.ReadFile(path)
	if err == nil {
		err = r.Complete()
	}
	if err != nil {
		return nil, usageError{err}
	}
	return r, nil
}

// check refuses flags that do not make sense, before anything starts.
func (o minifyOptions) check() error {
	switch o.form {
	case "repro", "standalone":
	default:
		return usagef("--form %s: repro or standalone", o.form)
	}
	switch o.engine {
	case "auto", "native", "torch":
	default:
		return usagef("--engine %s: auto, torch or native", o.engine)
	}
	if o.confirm < 1 {
		return usagef("--confirm %d: at least 1", o.confirm)
	}
	if o.maxQueries < 0 || o.findings < 0 || o.deadline < 0 || o.timeout < 0 {
		return usagef("a limit below 0")
	}
	if _, err := parseBytes(o.memory); err != nil {
		return usagef("--memory: %v", err)
	}
	return nil
}

// prepare does to a repro what the flags say.
func (o minifyOptions) prepare(r *repros.Repro) error {
	if o.source != "" {
		text, err := checkFile(o.source)
		if err != nil {
			return err
		}
		if err := reduce.AddBackend(r, o.source, string(text)); err != nil {
			return usageError{err}
		}
	}
	if o.all && r.Accuracy != repros.NoAccuracy && r.Accuracy != "" {
		r.Accuracy = repros.StrictAccuracy
	}
	if o.strict {
		repros.MakeStrict(r)
	}
	return nil
}

// ended turns the errors of a search into exit statuses.
func (a *app) ended(err error) error {
	var nf *minify.NotFailingError
	var un *minify.UnconfirmedError
	var missing *repros.MissingError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &missing):
		return usageError{err}
	case errors.As(err, &nf) && nf.Outcome.Status == replay.Invalid:
		return usageError{err}
	case errors.As(err, &nf), errors.As(err, &un):
		fmt.Fprintln(a.stderr, "whittle:", err)
		return exitCode(1)
	case errors.Is(err, context.Canceled):
		return exitCode(1)
	}
	return err
}

// subjects reads the files that minify was given, and those in folders. What is wrong with one is told before anything starts.
func subjects(args []string, o minifyOptions) ([]subject, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var all []subject
	many := len(args) > 1 || slices.ContainsFunc(args, isFolder)
	add := func(file string, r *repros.Repro) error {
		x := o
		if many && !reduce.NeedsBackend(r) {
			x.source = "" // is for the others
		}
		if err := x.prepare(r); err != nil {
			return err
		}
		path, err := filepath.Abs(file)
		all = append(all, subject{repro: r, dir: filepath.Dir(file), path: path})
		return err
	}
	if err := eachRepro(args, add); err != nil {
		return nil, err
	}
	switch {
	case len(all) > 1 && o.out != "":
		return nil, usagef("-o %s: names one file, and there are %d to write", o.out, len(all))
	case len(all) > 1 && o.resume:
		return nil, usagef("--resume: of one file; several go on where they were without it")
	}
	return all, nil
}

// eachRepro gives the repros that arguments name: files, and folders with at least one.
func eachRepro(args []string, add func(file string, r *repros.Repro) error) error {
	for _, arg := range args {
		if isFolder(arg) {
			found := false
			if err := reprosBelow(arg, func(file string, r *repros.Repro) error { found = true; return add(file, r) }); err != nil {
				return err
			}
			if !found {
				return usagef("%s: there is no repro below it", arg)
			}
			continue
		}
		r, err := readRepro(arg)
		if err == nil {
			err = add(arg, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// reprosBelow gives the complete repros below a folder, in the order of their paths, but for results.
func reprosBelow(dir string, add func(file string, r *repros.Repro) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return usageError{err}
		case d.IsDir() && d.Name() == files.Root && path != dir:
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".py"):
			return nil
		}
		r, err := repros.ReadFile(path)
		if err != nil || r.Complete() != nil {
			return nil // some other Python file
		}
		return add(path, r)
	})
}

// minifyOne shrinks one failure.
func (a *app) minifyOne(ctx context.Context, st *replay.Store, s subject, o minifyOptions) error {
	g := &engines{o: o, workers: a.workers}
	defer g.close()
	return a.minify(ctx, st, g, s, nil)
}

// minifyAll shrinks failures one after the other.
func (a *app) minifyAll(ctx context.Context, st *replay.Store, all []subject, o minifyOptions) error {
	g := &engines{o: o, workers: a.workers}
	defer g.close()
	var events *eventWriter
	if o.json {
		events = newEventWriter(a.stdout, time.Now)
	}
	worst := exitCode(0)
	for i := 1; i < len(all); i++ {
		all[i-1].next = &all[i]
	}
	for i, s := range all {
		if len(all) > 1 {
			fmt.Fprintf(a.stderr, "whittle: %s (%d of %d)\n", s.path, i+1, len(all))
		}
		err := a.ended(a.minify(ctx, st, g, s, events))
		var code exitCode
		switch {
		case len(all) == 1 || ctx.Err() != nil:
			return err
		case errors.As(err, &code):
		case err != nil:
			fmt.Fprintln(a.stderr, "whittle:", err)
			code = 2
		}
		worst = max(worst, code)
	}
	if worst > 0 {
		return worst
	}
	return nil
}

func oneFile(cmd string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one file, got %s", cmd, replay.Count(len(args), "argument"))
		}
		return nil
	}
}

// minify shrinks a failure and writes the result. events may be nil.
func (a *app) minify(ctx context.Context, st *replay.Store, g *engines, of subject, events *eventWriter) error {
	r, path, o := of.repro, of.path, g.o
	clock := engine.NewClock(time.Now)
	e, begun := g.took(r)
	if begun == nil {
		starting := clock.Begin(engine.OnStart)
		made, closed, err := g.of(ctx, r)
		starting.End()
		if err != nil {
			return err
		}
		defer closed()
		e = made
	} else {
		defer begun.Close()
		g.begin(ctx, of.next) // beside what is left of this one's start
	}
	live := newProgress(a.stderr)
	opt := reduce.Options{Engine: e, Repro: r, Dir: of.dir, Begun: begun, Want: o.want, Seen: o.seen, Workers: max(a.workers, 1), Confirm: o.confirm, MaxQueries: o.maxQueries, FindingQueries: o.findings,
		Workarounds: o.workarounds, Standalone: o.form == "standalone", Store: st, Progress: live.show, MustResume: o.resume, Clock: clock}
	if o.deadline > 0 {
		opt.Deadline = time.Now().Add(o.deadline)
	}
	var unlinked error
	opt.Event = func(ev minify.Event) {
		if ev.Kind == minify.EventStart && ev.ID > 0 && of.failure > 0 { // as soon as there is one: a search that is killed belongs to its failure, too
			unlinked = st.SetMinification(context.WithoutCancel(ctx), of.failure, ev.ID)
		}
		if ev.Kind == minify.EventStart {
			g.begin(ctx, of.next) // not beside the first one's start, which would be later
		}
		if events != nil {
			tell(events, ev, path, e)
		}
	}
	rep, err := reduce.Run(ctx, opt)
	err = errors.Join(err, unlinked)
	live.done()
	if err != nil && rep.Final == nil {
		if events != nil {
			spent, _ := clock.Spent()
			events.done(doneEvent{File: path, Status: doneFailed, Error: err.Error(), Spent: milliseconds(spent)})
		}
		if errors.Is(err, minify.ErrNothingToResume) {
			return usageError{err}
		}
		return err
	}
	rep.Final.Head[0] += " " + Version
	if rep.ID > 0 { // before any file: where the disk is full the result is not lost
		if serr := st.PutResult(context.WithoutCancel(ctx), rep.ID, rep.Stored(e.Name(), path, append([]string{"whittle: " + Version}, e.About()...))); serr != nil {
			return errors.Join(serr, err)
		}
	}
	if err := tidyStore(context.WithoutCancel(ctx), st, replay.KeepSize); err != nil {
		fmt.Fprintln(a.stderr, "whittle: dropping old answers from the store:", err)
	}
	out, script, werr := a.writeResult(rep, place{o.out, path}, r.Module.Hash())
	if werr != nil {
		if rep.ID > 0 {
			werr = fmt.Errorf("%w (the result is in the store: whittle store export minification/%d FOLDER)", werr, rep.ID)
		}
		return errors.Join(werr, err)
	}
	a.tellResult(rep, out, script, ctx.Err() != nil)
	if events != nil {
		status := doneMinimal
		if !rep.Complete {
			status = doneInterrupted
		}
		events.done(doneEvent{ID: rep.ID, File: path, Status: status, Signature: rep.Signature, Start: reduce.Cost(rep.Start), Cost: reduce.Cost(rep.Cost), Queries: rep.Queries, Candidates: rep.Candidates, CacheHits: rep.CacheHits,
			Rejected: rep.Rejected, Findings: len(rep.Result.Findings), Repro: out, Standalone: script,
			Floor: rep.Floor.Milliseconds(), Spent: milliseconds(rep.Spent)})
		if e := events.Err(); e != nil {
			return e
		}
	}
	if !rep.Complete { // all that there is to say is said
		return exitCode(1)
	}
	return err
}

// writeResult writes the repro, and the standalone script beside it, and returns where they are. start is the graph that the search began with:
// with the signature it says which result this is.
func (a *app) writeResult(rep reduce.Report, at place, start string) (out, script string, err error) {
	asked := at.repro(rep.Signature)
	about := []string{"minimal", start, rep.Signature.String()}
	if out, err = rep.WriteFiles(asked, about...); err != nil {
		return out, "", err
	}
	a.stays(asked, out)
	if rep.Standalone == "" {
		return out, "", nil
	}
	asked = strings.TrimSuffix(out, ".py") + "_standalone.py"
	if script, err = files.Put(asked, []byte(rep.Standalone), about...); err == nil {
		a.stays(asked, script)
	}
	return out, script, err
}

// tell passes an event of the search on. Its last word is minify's own.
func tell(w *eventWriter, ev minify.Event, path string, e engine.Engine) {
	cost := reduce.Cost(ev.Cost)
	switch ev.Kind {
	case minify.EventStart:
		t, ok := e.(*torch.Engine)
		w.start(startEvent{ID: ev.ID, File: path, Engine: e.Name(), Kept: ok && t.Kept(), Resumed: ev.Resumed, Signature: ev.Outcome.Signature, Cost: cost})
	case minify.EventTaken:
		w.taken(takenEvent{Reduction: ev.Reduction, Edit: ev.Edit, Before: reduce.Cost(ev.Before), Cost: cost, Answers: ev.Used})
	case minify.EventFinding:
		w.finding(findingEvent{Signature: ev.Outcome.Signature, Message: ev.Outcome.Message})
	case minify.EventFlaky:
		w.flaky(flakyEvent{Rate: ev.Rate, FalseRate: ev.FalseRate})
	case minify.EventConfirm:
		w.confirm(confirmEvent{Run: ev.Run, Of: ev.Of, Verdict: ev.Verdict})
	}
}

// tellResult says in a few lines what came out.
func (a *app) tellResult(rep reduce.Report, out, script string, interrupted bool) {
	say := func(format string, args ...any) { fmt.Fprintf(a.stderr, "whittle: "+format+"\n", args...) }
	what := "minimal repro"
	switch {
	case interrupted:
		what = "interrupted; best repro so far"
	case !rep.Complete:
		what = "stopped (" + rep.Stopped + "); best repro so far"
	}
	say("%s: %d of %s, %d of %s, %s, %s", what, rep.Cost.Calls, replay.Count(rep.Start.Calls, "call"), rep.Cost.Elements, replay.Count(rep.Start.Elements, "input element"),
		replay.Count(rep.Queries, "query"), replay.Count(rep.CacheHits, "cache hit"))
	say("signature: %s", rep.Signature)
	if rep.Rate > 0 {
		say("flaky: it fails in %.0f %% of %s", 100*rep.Rate, replay.Count(rep.Runs, "run"))
	}
	say("time: %s", rep.Time())
	for _, w := range rep.Workaround {
		say("workaround: %s = %s", w.Name, w.Value)
	}
	if rep.Partial != nil {
		say("some values of the graph are not known, and their calls were not tried as inputs: %v", rep.Partial)
	}
	for _, off := range rep.Off {
		say("reduction %s was switched off: too many of its candidates hung", off)
	}
	for _, f := range rep.Findings {
		say("also found on the way: %s%s", f.Signature, f.Problem)
	}
	if rep.ID > 0 && rep.Complete {
		say("report: whittle report %d", rep.ID)
	}
	if script != "" {
		say("standalone script: %s", script)
	} else if rep.NoScript != "" {
		say("no standalone script: %s", rep.NoScript)
	}
	say("repro: %s", out)
}

// progress is the line that shows a search at work: one that rewrites itself on a terminal, plain lines elsewhere.
type progress struct {
	w    *os.File
	tty  bool
	last time.Time
	any  bool
}

func newProgress(w any) *progress {
	p := &progress{}
	if f, ok := w.(*os.File); ok {
		p.w, p.tty = f, term.IsTerminal(int(f.Fd()))
	}
	return p
}

func (p *progress) show(m reduce.Progress) {
	if p.w == nil {
		return
	}
	every := 100 * time.Millisecond
	if !p.tty {
		every = 2 * time.Second
	}
	if time.Since(p.last) < every {
		return
	}
	p.last, p.any = time.Now(), true
	took := m.Elapsed.Round(100 * time.Millisecond).String()
	if p.tty {
		took = m.Spent.Round(100 * time.Millisecond).String()
		if m.Floor > 0 {
			took += fmt.Sprintf(", %.1f times its floor", m.Spent.Seconds()/m.Floor.Seconds())
		}
	}
	line := fmt.Sprintf("minifying: %s, %s, %s, %s (%s)", replay.Count(m.Nodes, "node"), replay.Count(m.Queries, "query"), replay.Count(m.CacheHits, "cache hit"), took, m.Reduction)
	if p.tty {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintf(p.w, "whittle: %s\n", line)
	}
}

func (p *progress) done() {
	if p.tty && p.any {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

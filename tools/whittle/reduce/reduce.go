package reduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
)

// Options say what to reduce, and how far.
type Options struct {
	Engine engine.Engine
	Repro  *repros.Repro
	Dir    string           // that the repro's file lies in
	Begun  *Begun           // of Repro, by Engine; nil => it was not begun
	Want   replay.Signature // the failure looked for; zero => the start's own
	Seen   replay.Signature // what the program itself failed with, see minify.Search; zero => not known

	Workers        int
	Confirm        int
	MaxQueries     int
	Deadline       time.Time
	FindingQueries int
	Workarounds    bool // look for a setting that makes the failure go away
	Standalone     bool // write a standalone script, too

	Store      *replay.Store // nil => nothing outlives the search
	MustResume bool          // ErrNothingToResume if the store has no such search that was stopped
	Progress   func(Progress)
	Event      func(minify.Event)
	// Clock counts what the time goes to. What it has counted before Run, that the search waited for its engine to start, belongs to the search;
	// nil => one that starts with Run.
	Clock *engine.Clock
}

// Progress is minify's, and how the search does against its floor.
type Progress struct {
	minify.Progress
	Spent time.Duration // by the Clock
	Floor time.Duration // what is known of it: a proof is taken to last as long as the first run; 0 where that is not known
}

// Report is what came out.
type Report struct {
	minify.Result
	Final      *repros.Repro
	Text       string            // of the repro file
	Storages   map[string][]byte // that the text's save_dir must hold, by hash
	Standalone string            // script; "" where none was asked for, or none fails in the same way
	NoScript   string            // why there is no script, where one was asked for
	Seconds    float64
	Findings   []Finding
	Floor      time.Duration            // what no search could have saved, see floor; 0 where the store had the answers, or the search was begun before
	Elapsed    time.Duration            // by the Clock
	Spent      map[string]time.Duration // what Elapsed went to, by engine.Kinds
}

// floor is the time that no search can do without: the engine's start, as far as it was waited for, the run of the start that showed the failure, and one proof of the result in a
// process that ran nothing before. 0 if one of these was not done in this run.
func floor(startup time.Duration, steps []replay.Step) time.Duration {
	var first, proof time.Duration
	for _, st := range steps {
		switch {
		case st.Verdict != replay.Reproduced || st.Cached:
		case st.Reduction == "start":
			first = st.Duration
		case st.Reduction == "confirm":
			proof = st.Duration
		}
	}
	if first == 0 || proof == 0 {
		return 0
	}
	return startup + first + proof
}

// Finding is another failure met on the way, with a repro of its own.
type Finding struct {
	Signature replay.Signature
	Text      string // of its repro file; "" where Problem says why there is none
	Problem   string
}

// load gives the start, and where it was begun how its first run ended; nil: that is not known.
func (o Options) load(ctx context.Context) (minify.State, *replay.Outcome, error) {
	if o.Begun != nil {
		if start, out, err := o.Begun.loaded(); err == nil {
			return start, out, nil
		}
	}
	start, err := o.Engine.Load(ctx, o.Repro, o.Dir)
	return start, nil, err
}

// Run reduces. An interrupted search gives the best so far, with the error.
func Run(ctx context.Context, o Options) (Report, error) {
	begin := time.Now()
	e, clock := o.Engine, o.Clock
	if clock == nil {
		clock = engine.NewClock(time.Now)
	}
	ctx = engine.WithClock(ctx, clock)
	waited, _ := clock.Spent()
	startup := waited[engine.OnStart]
	start, begun, err := o.load(ctx)
	if err != nil {
		return Report{}, err
	}
	var id int64
	startCalls := -1
	starts := variants(start)
	var known atomic.Pointer[replay.Outcome] // how the first run of the start ended, until it is asked
	known.Store(begun)
	oracle := minify.OracleFunc(func(ctx context.Context, c minify.Candidate) (replay.Outcome, error) {
		if c.Reduction == "start" && c.Attempt == 0 && !c.Idle {
			if out := known.Swap(nil); out != nil {
				return *out, nil
			}
		}
		return machine(e.Run(ctx, o.Repro, c))
	})
	ahead := newRelay(ctx, oracle, e.Yields(), starts)
	defer ahead.close()
	s := &minify.Search{
		Oracle: oracle, Values: e, Store: o.Store, Want: o.Want, Seen: o.Seen, Workers: max(o.Workers, 1), Together: e.Together, Confirm: o.Confirm, Resume: o.MustResume, MaxQueries: o.MaxQueries, Deadline: o.Deadline,
		FindingQueries: o.FindingQueries,
		Fingerprint:    replay.HashOf(e.Fingerprint(), string(o.Repro.Stage), o.Repro.Backend, string(o.Repro.Accuracy), o.Repro.Tracing, o.Repro.Preamble),
		Render: func(s minify.State) string {
			r, err := engine.Describe(o.Repro, s)
			if err != nil {
				return s.Module.String()
			}
			return repros.Write(r)
		},
	}
	if o.Workers > 1 {
		s.Oracle = ahead
	}
	s.Steady = func(sig replay.Signature) bool {
		// Inductor draws no lots; what a backend of the user's own does is unknown.
		return sig.Stage == "compile" && (sig.Type == "CppCompileError" || strings.Contains(sig.Frame, "torch/_inductor/") || strings.Contains(sig.Frame, "torch/_functorch/"))
	}
	if !e.Checks(o.Repro) {
		s.Check = func(context.Context, minify.State) error { return nil }
	}
	s.AnyWrong = o.Repro.Accuracy == repros.StrictAccuracy
	if o.Workarounds {
		s.Workarounds = workarounds(o.Repro)
	}
	var first time.Duration // of the start's run
	s.Event = func(ev minify.Event) {
		if ev.Kind == minify.EventStart {
			ahead.stop()
			id, startCalls = ev.ID, ev.Cost.Calls
			if !ev.Resumed && begun == nil {
				first = ev.Outcome.Duration
			}
		}
		if (ev.Kind == minify.EventStart || ev.Kind == minify.EventTaken) && id > 0 {
			// Only for those who look on: the search does not depend on it.
			_ = o.Store.PutProgress(ctx, id, ev.Outcome.Signature, startCalls, ev.Cost.Calls)
		}
		if o.Event != nil {
			o.Event(ev)
		}
	}
	if o.Progress != nil {
		s.Progress = func(p minify.Progress) {
			x := Progress{Progress: p, Spent: clock.Elapsed()}
			if first > 0 {
				x.Floor = startup + 2*first
			}
			o.Progress(x)
		}
	}
	if s.Want.IsZero() && o.Repro.Accuracy != "" && o.Repro.Accuracy != repros.NoAccuracy {
		s.Want = replay.Signature{Stage: "accuracy", Type: "AccuracyError", Message: "Bad accuracy detected"}
	}
	var res minify.Result
	for i, st := range starts {
		r, e := s.Run(ctx, st)
		var nf *minify.NotFailingError
		fails := !errors.As(e, &nf)
		s.Once = !fails && nf.Outcome.Status == replay.Pass // it was run often enough to see a failure that comes and goes
		if i == 0 || fails {
			res, err = r, e
		}
		if fails {
			break
		}
	}
	rep := Report{Result: res}
	if err != nil && (ctx.Err() == nil || res.Outcome.Status == "") && !errors.Is(err, minify.ErrBudget) {
		return rep, err
	}
	if errors.Is(err, minify.ErrBudget) {
		rep.Stopped = "queries"
	}
	// What is known is written, whatever ended the search.
	finish := context.WithoutCancel(ctx)
	if rep.Final, rep.Storages, err = e.Finish(finish, o.Repro, res.State); err != nil {
		return rep, err
	}
	rep.Final.Command = "run"
	rep.Final.Head = head(rep, e)
	rep.Text = repros.Write(rep.Final)
	for _, f := range res.Findings {
		x := Finding{Signature: f.Outcome.Signature}
		if r, _, err := e.Finish(finish, o.Repro, f.State); err == nil {
			x.Text = repros.Write(r)
		} else {
			x.Problem = err.Error()
		}
		rep.Findings = append(rep.Findings, x)
	}
	if o.Standalone && ctx.Err() == nil {
		rep.Standalone, rep.NoScript = script(ctx, o, rep)
	}
	rep.Seconds = time.Since(begin).Seconds()
	if begun == nil {
		rep.Floor = floor(startup, res.Steps)
	}
	rep.Spent, rep.Elapsed = clock.Spent()
	return rep, ctx.Err()
}

// machine makes an error of what an answer says about the machine, and not about the candidate: it ends the search, and is no answer.
func machine(o replay.Outcome, err error) (replay.Outcome, error) {
	typ, text := o.Signature.Type, o.Message
	var sys syscall.Errno
	switch {
	case errors.As(err, &sys): // no process could be started, or its files not be written
		typ, text = "OSError", err.Error()
	case (o.Status == replay.Infrastructure || o.Status == replay.Invalid) && strings.Contains(o.Message, "[Errno "):
		typ = "OSError" // of the far side's own files
	case o.Status != replay.Failed:
		return o, err
	}
	if m := replay.MachineFault(typ, text); m != nil {
		return o, m
	}
	return o, err
}

// script is a standalone script that fails with the same signature, or why there is none.
func script(ctx context.Context, o Options, rep Report) (text, why string) {
	load := func(hash string) ([]byte, error) {
		if b, ok := rep.Storages[hash]; ok {
			return b, nil
		}
		return nil, fmt.Errorf("no storage %s", hash)
	}
	for _, direct := range []bool{false, true} {
		text, err := repros.WriteStandalone(rep.Final, repros.Standalone{Load: load, Direct: direct})
		if err != nil {
			return "", err.Error()
		}
		tries := 1
		if rep.Rate > 0 {
			tries = min(int(7/rep.Rate)+1, 40)
		}
		for range tries {
			out, err := o.Engine.RunScript(ctx, rep.Final, text)
			if err != nil {
				return "", err.Error()
			}
			if sameFailure(out, rep.Signature) {
				return text, ""
			}
			why = string(out.Status) + " " + out.Signature.String()
		}
	}
	return "", "as a script it does not fail in the same way: " + why
}

// sameFailure compares without the stage, which a script does not tell, and without frames.
func sameFailure(o replay.Outcome, want replay.Signature) bool {
	got := o.Signature
	return !got.IsZero() && got.Type == want.Type && (got.Message == want.Message || want.Stage == "accuracy")
}

// Workarounds are settings that make some failures of Inductor go away, cheapest loss first.
func Workarounds() []minify.Setting {
	return []minify.Setting{
		{Name: "torch._inductor.config.pattern_matcher", Value: "False"},
		{Name: "torch._inductor.config.split_reductions", Value: "False"},
		{Name: "torch._inductor.config.epilogue_fusion", Value: "False"},
		{Name: "torch._inductor.config.max_fusion_size", Value: "1"},
		{Name: "torch._inductor.config.allow_buffer_reuse", Value: "False"},
		{Name: "torch._inductor.config.cpp.simdlen", Value: "1"},
		{Name: "torch._inductor.config.cpp.simdlen", Value: "256"},
		{Name: "torch._inductor.config.cpp.threads", Value: "1"},
		{Name: "torch._inductor.config.emulate_precision_casts", Value: "True"},
		{Name: "torch._inductor.config.layout_optimization", Value: "False"},
	}
}

// workarounds are those that a repro has not in place already.
func workarounds(r *repros.Repro) []minify.Setting {
	if r.Stage == repros.AfterDynamo && r.Backend != "" && r.Backend != "inductor" {
		return nil
	}
	all := Workarounds()
	return slices.DeleteFunc(all, func(s minify.Setting) bool {
		return slices.ContainsFunc(r.Config, func(c repros.Setting) bool { return c.Name == s.Name && c.Value == s.Value })
	})
}

// WriteFiles writes the repro to path, its storages beside it, and returns where the repro is: see repros.WriteFile, which about goes to.
func (r Report) WriteFiles(path string, about ...string) (string, error) {
	for _, data := range r.Storages {
		if err := repros.SaveStorage(filepath.Join(filepath.Dir(path), r.Final.SaveDir), data); err != nil {
			return "", err
		}
	}
	return repros.WriteFile(path, r.Final, about...)
}

// head is the comment at the top of a repro: what failed, where, and how it was reduced.
func head(r Report, e engine.Engine) []string {
	h := []string{
		"# Minimal repro written by whittle",
		"# Failure: " + r.Signature.String(),
		fmt.Sprintf("# Reduced from %s to %d, from %s to %d", replay.Count(r.Start.Calls, "call"), r.Cost.Calls, replay.Count(r.Start.Elements, "input element"), r.Cost.Elements),
	}
	if r.Rate > 0 {
		h = append(h, fmt.Sprintf("# Flaky: fails in %.0f %% of %s", 100*r.Rate, replay.Count(r.Runs, "run")))
	}
	for _, w := range r.Workaround {
		h = append(h, fmt.Sprintf("# Does not fail with %s = %s", w.Name, w.Value))
	}
	for _, l := range e.About() {
		h = append(h, "# "+l)
	}
	return h
}

// Cost is a search's cost as the store keeps it.
func Cost(c minify.Cost) replay.Cost {
	return replay.Cost{Calls: c.Calls, Outputs: c.Outputs, Inputs: c.Inputs, Settings: c.Settings, Elements: c.Elements, Complexity: c.Complexity}
}

// Stored is what the store keeps of a report. launcher is the file that the search began with.
func (r Report) Stored(engine, launcher string, about []string) replay.Result {
	out := replay.Result{Signature: r.Signature, Repro: r.Text, Standalone: r.Standalone, Error: r.Outcome.Message, Environment: strings.Join(about, "\n"), Engine: engine, Launcher: launcher,
		Start: Cost(r.Start), End: Cost(r.Cost), Complete: r.Complete, Queries: r.Queries, CacheHits: r.CacheHits, Rejected: r.Rejected, Seconds: r.Seconds, Runs: r.Runs, Rate: r.Rate,
		FalseRuns: r.FalseRuns, FalseRate: r.FalseRate, Stopped: r.Stopped, Off: r.Off, Free: r.free(), Files: map[string][]byte{}}
	for hash, data := range r.Storages {
		var b bytes.Buffer
		if repros.EncodeStorage(&b, hash, data) == nil {
			out.Files[path.Join(r.Final.SaveDir, "storages", hash)] = b.Bytes()
		}
	}
	if r.Complete {
		out.Confirmed = r.Confirmed
	}
	for _, t := range r.Certificate {
		out.Certificate = append(out.Certificate, replay.Trial(t))
	}
	for _, c := range r.State.Config {
		out.Config = append(out.Config, replay.Setting(c))
	}
	for _, w := range r.Workaround {
		out.Workaround = append(out.Workaround, replay.Setting(w))
	}
	return out
}

// free says what does not matter to the failure, as far as the result itself shows it.
func (r Report) free() []string {
	var out []string
	for i, n := range r.State.Module.Graph.Placeholders() {
		switch r.State.Inputs[i].Data.Fill {
		case minify.FillZeros, minify.FillOnes, minify.FillArange, minify.FillRandom:
			out = append(out, fmt.Sprintf("the values of %s: it fails with %s", n.Target, r.State.Inputs[i].Data.Fill))
		}
	}
	return out
}

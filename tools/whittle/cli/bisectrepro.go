package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"whittle/minify"
	"whittle/minify/bisect"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/tools/whittle/axis"
	"whittle/tools/whittle/reduce"
)

// ofRepros bisects repros; of a folder, all below it.
func (t *bisectTests) ofRepros(args []string) ([]*bisection, error) {
	var all []*bisection
	add := func(file string, r *repros.Repro) error {
		b, err := t.ofRepro(file, r)
		all = append(all, b)
		return err
	}
	if err := eachRepro(args, add); err != nil {
		return nil, err
	}
	return all, nil
}

// withBackend is a repro with the script's backend that it needs, and the path of its file. The script beside it comes first, so that a folder of cases,
// each with its own, is one command.
func (t *bisectTests) withBackend(file string, r *repros.Repro) (_ *repros.Repro, path string, err error) {
	if reduce.NeedsBackend(r) && t.o.source != "" {
		source := filepath.Join(filepath.Dir(file), t.o.source)
		if _, err := os.Stat(source); err != nil {
			source = t.o.source
		}
		text, err := checkFile(source)
		if err != nil {
			return nil, "", err
		}
		if err := reduce.AddBackend(r, source, string(text)); err != nil {
			return nil, "", usageError{err}
		}
	}
	if reduce.NeedsBackend(r) {
		return nil, "", usagef("%s: backend %s is not PyTorch's own: --source FILE names the script that defines it", file, r.Backend)
	}
	path, err = filepath.Abs(file)
	return r, path, err
}

// ofRepro bisects one repro.
func (t *bisectTests) ofRepro(file string, r *repros.Repro) (*bisection, error) {
	o := t.o
	r, path, err := t.withBackend(file, r)
	if err != nil {
		return nil, err
	}
	if o.settings != "" {
		return t.settingsOfRepro(file, path, r)
	}
	b := t.reproAlong(file, path, r)
	if slices.ContainsFunc(r.Inputs, func(in repros.Input) bool { return in.RequiresGrad }) {
		// A launcher says of parameters that they require gradients, even where the program compiled its graph without: that can hide the failure.
		plain := *r
		plain.Inputs = slices.Clone(r.Inputs)
		for i := range plain.Inputs {
			plain.Inputs[i].RequiresGrad = false
		}
		b.instead = t.reproAlong(file, path, &plain)
	}
	return b, nil
}

// reproAlong puts a repro onto the axis as it is.
func (t *bisectTests) reproAlong(file, path string, r *repros.Repro) *bisection {
	o := t.o
	b := t.along(&bisection{subject: t.name(file), engine: true, key: replay.HashOf("repro", repros.Write(r), o.torch, o.limit.String(), o.memory)},
		func(ctx context.Context, point, at string, attempt int) (reply, error) {
			return t.engines.test(ctx, at, r, filepath.Dir(path), attempt)
		})
	b.code = func(ctx context.Context, point string) (map[string][]byte, error) {
		if t.builds == nil {
			return t.engines.code(ctx, point, r, path)
		}
		build, err := t.builds.Need(ctx, point)
		if err != nil {
			return nil, err
		}
		defer build.Release()
		return t.engines.code(ctx, build.Path, r, path)
	}
	if t.builds == nil {
		b.smaller = func(ctx context.Context, st *replay.Store, point string) (*bisection, error) {
			x := t.engines.take(point)
			defer t.engines.release(x)
			e, closed, err := x.g.of(ctx, r)
			if err != nil {
				return nil, err
			}
			defer closed()
			small, dir, rate, err := t.smaller(ctx, st, e, r, filepath.Dir(path))
			if rate > 0 {
				fmt.Fprintf(t.a.stderr, "whittle: it fails in %.0f %% of runs: a single test can be wrong (--flaky)\n", 100*rate)
			}
			if err != nil || small == r {
				return nil, err
			}
			return t.reproAlong(file, filepath.Join(dir, filepath.Base(path)), small), nil
		}
	}
	return b
}

// worthSmaller is how many points a bisection has at least for which its repro is minified first: from here on more than four tests cost less each.
const worthSmaller = 8

// minified is a bisection of the smallest repro with the same failure, where one of the ends fails; nil where there is none, or it is not worth it.
func (a *app) minified(ctx context.Context, st *replay.Store, b *bisection, o bisectOptions) (*bisection, error) {
	if b.smaller == nil || o.noMinify || o.noisy() || len(b.points) < worthSmaller {
		return nil, nil
	}
	id, err := st.BeginBisection(ctx, b.row())
	if err != nil {
		return nil, err
	}
	j := &bisectJournal{b: b, st: st, id: id, points: b.points, replies: map[asked]reply{}}
	if _, err := j.seeEnds(ctx, max(a.workers, 1)); err != nil || j.failing == "" {
		return nil, err
	}
	return b.smaller(ctx, st, j.failing)
}

// versionEngines are the engines of versions, or of builds, each started when it is first needed. Few live at a time: a Python with torch takes memory.
type versionEngines struct {
	options func(version string) minifyOptions
	most    int

	mu    sync.Mutex
	open  map[string]*versionEngine
	clock int
}

type versionEngine struct {
	mu    sync.Mutex // starting it
	g     *engines
	users int
	used  int // when, by the clock
}

// engineOptions says what a version's engine is.
func (o bisectOptions) engineOptions(version string) minifyOptions {
	m := minifyOptions{engine: "torch", python: axis.Fill(strings.Fields(o.torch), version), timeout: o.limit, memory: o.memory}
	if o.settings != "" { // one engine for all, as for minify
		m.engine, m.python, m.torch = "auto", nil, o.torch
	}
	return m
}

// take gives a version's engines to a user more. Where too many are open, one that nobody uses is closed, the one that was used longest ago.
func (v *versionEngines) take(version string) *versionEngine {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clock++
	x := v.open[version]
	if x == nil {
		for len(v.open) >= v.most {
			oldest := ""
			for name, y := range v.open {
				if y.users == 0 && (oldest == "" || y.used < v.open[oldest].used) {
					oldest = name
				}
			}
			if oldest == "" {
				break
			}
			v.open[oldest].g.close()
			delete(v.open, oldest)
		}
		x = &versionEngine{g: &engines{o: v.options(version)}}
		v.open[version] = x
	}
	x.users++
	x.used = v.clock
	return x
}

func (v *versionEngines) release(x *versionEngine) {
	v.mu.Lock()
	defer v.mu.Unlock()
	x.users--
}

// close ends all of them.
func (v *versionEngines) close() {
	for _, x := range v.open {
		x.g.close()
	}
}

// test runs a repro by the Python of a version. One that cannot be started, or cannot load the repro, is skipped.
func (v *versionEngines) test(ctx context.Context, version string, r *repros.Repro, dir string, attempt int) (reply, error) {
	x := v.take(version)
	defer v.release(x)
	x.mu.Lock()
	e, closed, err := x.g.of(ctx, r)
	x.mu.Unlock()
	if err == nil {
		defer closed()
		var o replay.Outcome
		if o, err = runOn(ctx, e, r, dir, attempt); err == nil {
			if fault := replay.MachineFault(o.Signature.Type, o.Message); fault != nil {
				return reply{}, fault
			}
			return reply{outcome: &o, fleeting: o.Status == replay.Infrastructure}, nil
		}
	}
	var missing *repros.MissingError
	if ctx.Err() != nil || errors.As(err, &missing) {
		return reply{}, errors.Join(ctx.Err(), err)
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return reply{Answer: bisect.Answer{Verdict: bisect.Skip, Text: "cannot run: " + text}, fleeting: true}, nil
}

// runOn runs a repro as it is.
func runOn(ctx context.Context, e engine.Engine, r *repros.Repro, dir string, attempt int) (replay.Outcome, error) {
	s, err := e.Load(ctx, r, dir)
	if err != nil {
		return replay.Outcome{}, err
	}
	return e.Run(ctx, r, minify.Candidate{State: s, Reduction: "bisect", Attempt: attempt})
}

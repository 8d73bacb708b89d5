package nightly

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/pool"

	"whittle/replay"
)

// ask is one measurement that is wanted.
type ask struct {
	x       item
	e       Engine
	attempt int
	figures bool
}

var unsafeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\w.-]+`) })

// ensure has cases measured until each has so many runs that say something about it, or a few more were tried.
func (n *night) ensure(ctx context.Context, items []item, e Engine, want int, figures bool) error {
	for made := 0; made < want+spare; {
		var todo []ask
		for _, x := range items {
			lacks := want - len(n.valid(x, e))
			for a := 0; a < want+spare && lacks > 0; a++ {
				if _, ok := n.run(x, e, a); !ok {
					todo = append(todo, ask{x, e, a, figures})
					lacks--
				}
			}
		}
		if len(todo) == 0 {
			return nil
		}
		if err := n.measure(ctx, todo); err != nil {
			return err
		}
		made++
	}
	return nil
}

// measure makes measurements, and keeps each before anybody sees it.
func (n *night) measure(ctx context.Context, all []ask) error {
	p := pool.New().WithContext(ctx).WithMaxGoroutines(n.Jobs).WithCancelOnError().WithFirstError()
	for _, q := range all {
		p.Go(func(ctx context.Context) error {
			_, err := n.one(ctx, q)
			return err
		})
	}
	return p.Wait()
}

// one makes a measurement, unless it is there.
func (n *night) one(ctx context.Context, q ask) (replay.Run, error) {
	if r, ok := n.run(q.x, q.e, q.attempt); ok {
		return r, nil
	}
	r, err := n.once(ctx, q)
	if err != nil {
		return r, err
	}
	// A signal that comes just now does not make the answer less true.
	if err := n.Store.PutRun(context.WithoutCancel(ctx), r); err != nil {
		return r, err
	}
	n.mu.Lock()
	n.runs[runKey{q.x.id, q.e.Version, q.attempt}] = r
	n.mu.Unlock()
	n.measured(r, q)
	return r, nil
}

// once makes a measurement that nobody keeps.
func (n *night) once(ctx context.Context, q ask) (replay.Run, error) {
	begin := time.Now()
	m, err := n.Lab.Measure(ctx, n.question(q))
	if ctx.Err() != nil {
		return replay.Run{}, ctx.Err() // one that was stopped says nothing
	}
	if err != nil {
		m = Measurement{Outcome: replay.Outcome{Status: replay.Infrastructure, Message: err.Error()}}
	}
	if m.Repro != "" && failing(m.Outcome.Status) {
		m.Outcome.Detail = m.Repro
	}
	return replay.Run{Night: n.row.ID, Case: q.x.id, Version: q.e.Version, Attempt: q.attempt, Outcome: m.Outcome, Figures: m.Figures, Duration: time.Since(begin)}, nil
}

func (n *night) measured(r replay.Run, q ask) {
	n.tell(Event{Kind: "measured", Case: q.x.Case.Name, Mode: q.x.Mode.String(), Version: q.e.Version, Attempt: q.attempt, Status: r.Outcome.Status, Text: plain(r.Outcome.Signature.String())})
}

func (n *night) question(q ask) Question {
	l := n.Config.Limits
	out := Question{Case: q.x.Case, Mode: q.x.Mode, Engine: q.e, Attempt: q.attempt, Figures: q.figures, Repeats: l.repeats(), Time: l.Measurement(), Memory: l.Memory, Night: n.Key}
	if q.figures {
		out.Dir = n.folder("recorded", q.x, fmt.Sprint(q.attempt))
	}
	return out
}

// folder is a folder of the report for a case, in its mode.
func (n *night) folder(kind string, x item, more ...string) string {
	name := strings.Trim(unsafeName().ReplaceAllString(strings.TrimSpace(x.Case.Name+" "+x.Mode.String()), "-"), "-.")
	return filepath.Join(append([]string{n.Config.At(n.Config.Report.Outbox), n.Key, kind, name}, more...)...)
}

func (n *night) run(x item, e Engine, attempt int) (replay.Run, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r, ok := n.runs[runKey{x.id, e.Version, attempt}]
	return r, ok
}

// valid are the runs that say something about the case: not those in which the engine or the machine failed.
func (n *night) valid(x item, e Engine) []replay.Run {
	var out []replay.Run
	for a := range attempts + spare {
		if r, ok := n.run(x, e, a); ok && says(r.Outcome) {
			out = append(out, r)
		}
	}
	return out
}

// started makes an engine ready, once.
func (n *night) started(ctx context.Context, e Engine) error {
	n.mu.Lock()
	err, ok := n.up[e.key()]
	n.mu.Unlock()
	if ok {
		return err
	}
	_, err = n.Lab.Start(ctx, e)
	if ctx.Err() == nil {
		n.mu.Lock()
		n.up[e.key()] = err
		n.mu.Unlock()
	}
	return err
}

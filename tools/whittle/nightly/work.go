package nightly

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"whittle/minify/bisect"
	"whittle/replay"
)

// work minimises and bisects a failure.
func (n *night) work(ctx context.Context, x item, l *Line, repro string, attempt int) error {
	y := x // what is bisected: the smaller one, where there is one
	if repro != "" {
		small, err := n.minimise(ctx, x, l, repro, attempt)
		if err != nil {
			return err
		}
		if small != nil {
			y.Case = *small
		}
	}
	if l.Signature.Stage == "accuracy" {
		if err := n.diverge(ctx, y, l, false); err != nil {
			return err
		}
	}
	r, err := n.bisect(ctx, y, *l.Signature, n.engines, l.Rate < 1)
	if err != nil || r == nil {
		return err
	}
	l.Range = r
	l.Text += "; " + r.text()
	if r.Same == string(bisect.Bad) && len(n.figures[x.id]) > 0 {
		l.Text += ", though it passed in nights before: the case or the machine is not what it was"
	}
	if err := n.Store.SetDecides(ctx, l.Failure, r.id, r.decides()); err != nil {
		return err
	}
	return n.keepCode(ctx, y, l.minification, r)
}

// keepCode keeps what the versions on both sides of a range generate for a minimal repro, where both compile it.
func (n *night) keepCode(ctx context.Context, x item, minification int64, r *Range) error {
	lab, ok := n.Lab.(Coder)
	if !ok || minification == 0 || r.Same != "" || r.Good == "" {
		return nil
	}
	sides := map[string]string{r.Good: replay.GoodCode, r.Bad: replay.BadCode}
	if r.Fixed {
		sides = map[string]string{r.Good: replay.BadCode, r.Bad: replay.GoodCode}
	}
	files := map[string][]byte{}
	for _, e := range n.engines {
		if sides[e.Version] == "" {
			continue
		}
		texts, err := lab.Code(ctx, n.question(ask{x: x, e: e}))
		if err != nil {
			return ctx.Err() // it does not compile, or there is nothing to see
		}
		for name, text := range texts {
			files[sides[e.Version]+name] = text
		}
	}
	return n.Store.AddResultFiles(ctx, minification, files)
}

// diverge says in a line where a case's graph parts from eager, where the newest engine can say it. Nothing more is said where it cannot.
func (n *night) diverge(ctx context.Context, x item, l *Line, inside bool) error {
	lab, ok := n.Lab.(Diverger)
	if !ok {
		return nil
	}
	d, known := n.parts[x.id]
	if !known || !inside {
		var err error
		if d, err = lab.Diverge(ctx, n.question(ask{x: x, e: n.newest}), inside); err != nil {
			d = nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if inside { // several figures of a case tell of one change
		n.parts[x.id] = d
	}
	if d != nil {
		l.Parts = d
		l.Text += "; parts from eager first at " + plain(d.Node)
		if d.Target != "" {
			l.Text += " (" + plain(d.Target) + ")"
		}
	}
	return nil
}

// minimise shrinks what a case fails with, and gives the case that is left; nil where there is none.
func (n *night) minimise(ctx context.Context, x item, l *Line, repro string, attempt int) (*Case, error) {
	n.tell(Event{Kind: "minimising", Case: x.Case.Name, Mode: x.Mode.String(), Text: l.Subject})
	from := x
	from.Case.Repro, from.Case.Text = true, repro
	if !x.Case.Repro {
		from.Case.Path = filepath.Join(n.folder("recorded", x, fmt.Sprint(attempt)), "found", "repro.py")
	}
	q := n.question(ask{x: from, e: n.newest})
	q.Time = n.Config.Limits.minimise()
	m, err := n.Lab.Minimise(ctx, q, *l.Signature, n.folder("repros", x))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var full *replay.FullError
	switch {
	case errors.As(err, &full):
		return nil, err
	case errors.Is(err, ErrNoMinimiser):
		return nil, nil
	case err != nil:
		l.Text += "; not minimised: " + plain(err.Error())
		return nil, nil
	}
	l.Calls, l.minification = m.Calls, m.Minification
	l.Text += "; minimal repro: " + replay.Count(m.Calls, "call")
	if m.Rate > 0 {
		l.Text += fmt.Sprintf(", fails in %.0f %% of runs (and in %.0f %% without what is at fault)", 100*m.Rate, 100*m.FalseRate)
	}
	if m.Unfinished != "" {
		l.Text += " (" + m.Unfinished + ")"
	}
	if m.Path != "" {
		if rel, err := filepath.Rel(filepath.Join(n.Config.At(n.Config.Report.Outbox), n.Key), m.Path); err == nil {
			l.Repro = filepath.ToSlash(rel)
		}
		from.Case.Path = m.Path
	} else {
		from.Case.Path = x.Case.Path
	}
	from.Case.Text = m.Repro
	if m.Minification > 0 {
		err = n.Store.SetMinification(ctx, l.Failure, m.Minification)
	}
	return &from.Case, err
}

// points are those of an axis.
type points struct {
	kind    string
	names   []string
	parents func(i int) []int
	// test measures a point, or says why it cannot be.
	test  func(ctx context.Context, point, attempt int) (*replay.Outcome, bisect.Answer, error)
	ahead func(ctx context.Context, point int) // makes ready for a test; nil: there is nothing to be made
	kept  bool                                 // answers are taken from those of the bisection: measurements are kept nowhere else
}

// hunt is a search along an axis that came to something.
type hunt struct {
	bisect.Found
	likely *bisect.Likely    // of a flaky failure
	ends   *bisect.EndsError // the ends do not differ
	id     int64             // of the bisection in the store
}

// hunt finds the point with which a failure came, or went.
func (n *night) hunt(ctx context.Context, x item, want replay.Signature, p points, flaky bool) (h hunt, err error) {
	want.Frame = "" // functions move from version to version
	key := []string{"nightly", n.Config.Name, n.Key, x.Case.Name, x.Mode.String(), want.String(), p.names[0]}
	if p.kind != "versions" {
		key = append(key, p.kind, p.names[len(p.names)-1])
	}
	h.id, err = n.Store.BeginBisection(ctx, replay.Bisection{Key: replay.HashOf(key...), Kind: p.kind, Subject: n.Config.Name + ": " + x.Case.Name, Axis: p.names})
	if err != nil {
		return h, err
	}
	s := &bisect.Search{Workers: n.Jobs, Test: func(ctx context.Context, t bisect.Trial) (bisect.Answer, error) {
		begin := time.Now()
		o, a, err := p.test(ctx, t.Point, t.Attempt)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return a, err
		}
		if o != nil {
			a = verdict(*o, want)
		}
		row := replay.BisectionTrial{Point: p.names[t.Point], Attempt: t.Attempt, Verdict: string(a.Verdict), Text: a.Text, Outcome: o, Duration: time.Since(begin)}
		// A signal that comes just now does not make the answer less true.
		return a, n.Store.PutTrial(context.WithoutCancel(ctx), h.id, row)
	}}
	if p.kept {
		s.Journal = keptAnswers{n.Store, h.id, p.names}
	}
	if p.ahead != nil {
		s.Ahead = func(ctx context.Context, t bisect.Trial) { p.ahead(ctx, t.Point) }
	}
	if flaky {
		var l bisect.Likely
		l, err = s.Noisy(ctx, len(p.names), bisect.Noise{Confidence: n.Config.Thresholds.Confidence, MaxTests: n.Config.Limits.flakyTests()})
		h.Found, h.likely = l.Found, &l
	} else {
		h.Found, err = s.Range(ctx, len(p.names), p.parents)
	}
	if errors.As(err, &h.ends) {
		err = nil
	}
	return h, err
}

// verdict is what an outcome says about a failure.
func verdict(o replay.Outcome, want replay.Signature) bisect.Answer {
	if !says(o) {
		return bisect.Answer{Verdict: bisect.Skip, Text: "could not be measured: " + plain(o.Message)}
	}
	switch replay.Judge(o, want) {
	case replay.Passed:
		return bisect.Answer{Verdict: bisect.Good}
	case replay.Reproduced:
		return bisect.Answer{Verdict: bisect.Bad, Text: o.Signature.String()}
	}
	return bisect.Answer{Verdict: bisect.Skip, Text: plain(strings.TrimSuffix(string(o.Status)+": "+defaultTo(o.Signature.String(), o.Message), ": "))}
}

// keptAnswers are the answers of a bisection that the store has. They are put there by the test itself.
type keptAnswers struct {
	st    *replay.Store
	id    int64
	names []string
}

var _ bisect.Journal = keptAnswers{}

// Known implements bisect.Journal.
func (k keptAnswers) Known(ctx context.Context, t bisect.Trial) (bisect.Answer, bool, error) {
	row, ok, err := k.st.Trial(ctx, k.id, k.names[t.Point], t.Attempt)
	return bisect.Answer{Verdict: bisect.Verdict(row.Verdict), Text: row.Text}, ok, err
}

// Note implements bisect.Journal.
func (k keptAnswers) Note(context.Context, bisect.Trial, bisect.Answer) error { return nil }

// bisect finds the version with which a failure came, or went, and then the commit. nil: there are no two versions.
func (n *night) bisect(ctx context.Context, x item, want replay.Signature, engines []Engine, flaky bool) (*Range, error) {
	if len(engines) < 2 {
		return nil, nil
	}
	n.tell(Event{Kind: "bisecting", Case: x.Case.Name, Mode: x.Mode.String(), Text: plain(want.String())})
	// The runs of a flaky failure that the night has were picked because one of them failed, and would make it look more frequent than it is.
	p := points{kind: "versions", kept: flaky, test: func(ctx context.Context, point, attempt int) (*replay.Outcome, bisect.Answer, error) {
		return n.point(ctx, ask{x: x, e: engines[point], attempt: attempt}, !flaky)
	}}
	for _, e := range engines {
		p.names = append(p.names, e.Version)
	}
	h, err := n.hunt(ctx, x, want, p, flaky)
	if err != nil {
		return nil, err
	}
	if e := h.ends; e != nil && e.First.Verdict == bisect.Skip && e.Last.Verdict != bisect.Skip && len(engines) > 2 {
		return n.bisect(ctx, x, want, engines[1:], flaky) // the first one tells nothing
	}
	r := h.between(p.names)
	if err := n.Store.FinishBisection(ctx, h.id, r.text()); err != nil {
		return nil, err
	}
	if r.Same == "" && r.Good != "" {
		at := func(version string) Engine {
			return engines[slices.IndexFunc(engines, func(e Engine) bool { return e.Version == version })]
		}
		err = n.commits(ctx, x, want, r, at(r.Good), at(r.Bad), flaky)
	}
	return r, err
}

// point measures for a bisection; where it is a run of the night, it is kept as one.
func (n *night) point(ctx context.Context, q ask, run bool) (*replay.Outcome, bisect.Answer, error) {
	if err := n.started(ctx, q.e); err != nil {
		return nil, bisect.Answer{Verdict: bisect.Skip, Text: "cannot be started: " + plain(err.Error())}, ctx.Err()
	}
	if run {
		r, err := n.one(ctx, q)
		return &r.Outcome, bisect.Answer{}, err
	}
	r, err := n.once(ctx, q)
	if err == nil {
		n.measured(r, q)
	}
	return &r.Outcome, bisect.Answer{}, err
}

// between is what was found among versions.
func (h hunt) between(names []string) *Range {
	r := &Range{id: h.id}
	if h.likely != nil {
		r.Chance = newChance(h.likely)
	}
	if h.ends != nil {
		r.Good, r.Same = names[0], same(h.ends, names)
		return r
	}
	first, last := h.Suspects[0], h.Suspects[len(h.Suspects)-1]
	r.Fixed, r.More = h.Fixed, len(h.Doubts) > 0
	r.Bad, r.Untold = names[last], names[first:last]
	if first > 0 {
		r.Good = names[first-1]
	}
	return r
}

// same is what both ends are that do not differ.
func same(e *bisect.EndsError, names []string) string {
	if e.First.Verdict == bisect.Bad && e.Last.Verdict == bisect.Bad {
		return string(bisect.Bad)
	}
	return fmt.Sprintf("%s on %s, %s on %s", said(e.First), names[0], said(e.Last), names[len(names)-1])
}

// said is an answer for people.
func said(a bisect.Answer) string {
	if a.Verdict == bisect.Skip {
		return "cannot be told (" + plain(a.Text) + ")"
	}
	return string(a.Verdict)
}

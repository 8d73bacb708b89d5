package nightly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/pool"

	"whittle/accuracy/history"
	"whittle/minify/bisect"
	"whittle/replay"
)

// Options say which night to play.
type Options struct {
	Config *Config
	Store  *replay.Store
	Lab    Lab
	Key    string // of the night: letters, digits, and . - _ between them
	Jobs   int    // measurements at a time; 0 => 1
	// Group puts a failure into a group of those that are one bug. Asked again about a failure it says the same. nil => there are no groups.
	Group func(ctx context.Context, failure int64) (group int64, created bool, err error)
	// Event is told what happens, from one goroutine at a time. nil => nobody listens.
	Event func(Event)
}

// Event is something that happened in a night.
type Event struct {
	Kind    string        `json:"event"` // night, measured, minimising, bisecting, line
	Night   string        `json:"night"`
	Case    string        `json:"case,omitempty"`
	Mode    string        `json:"mode,omitempty"`
	Version string        `json:"version,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Status  replay.Status `json:"status,omitempty"`
	Text    string        `json:"text,omitempty"`
}

// KeyError says that a night's key is no name for a folder.
type KeyError struct{ Key string }

func (e *KeyError) Error() string {
	return fmt.Sprintf("night %q: letters, digits, and . - _ between them", e.Key)
}

// attempts is how many runs have to agree on something new.
const attempts = 3

// spare is how many more runs are made where the machine or the engine failed.
const spare = 2

// kept is how many nights of a figure are looked at.
const kept = 200

// item is a case in a mode.
type item struct {
	id   int64
	Case Case
	Mode Mode
}

type runKey struct {
	id      int64
	version string
	attempt int
}

// night is one that is being played.
type night struct {
	Options
	row     replay.Night
	before  []replay.Night // earlier ones, in order
	engines []Engine
	newest  Engine
	items   []item
	open    map[int64][]*finding
	said    []replay.News
	figures map[int64]map[string][]replay.NightFigure
	report  Report

	mu   sync.Mutex
	runs map[runKey]replay.Run
	up   map[string]error // engines that were started, and why not
}

// Run plays a night, or goes on with it, and gives its report. One that is finished is only read.
func Run(ctx context.Context, o Options) (*Report, []byte, error) {
	if !botName.MatchString(o.Key) {
		return nil, nil, &KeyError{o.Key}
	}
	done, found, err := o.Store.FindNight(ctx, o.Config.Name, o.Key)
	if err != nil {
		return nil, nil, err
	}
	if found && done.Report != nil {
		return readReport(done.Report)
	}
	n := &night{Options: o, runs: map[runKey]replay.Run{}, up: map[string]error{}}
	n.Jobs = max(n.Jobs, 1)
	if err := n.begin(ctx); err != nil {
		return nil, nil, err
	}
	if n.report.Dead == "" {
		if err := n.play(ctx); err != nil {
			return nil, nil, err
		}
	}
	return n.finish(ctx)
}

// Plan is what a night would measure, one line for each case and mode.
func Plan(ctx context.Context, c *Config, st *replay.Store) (engines []Engine, items []string, err error) {
	if engines, err = c.Versions(ctx); err != nil {
		return nil, nil, err
	}
	cases, err := c.Cases(ctx, st)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range spread(c, cases) {
		line := x.Case.Name
		if m := x.Mode.String(); m != "" {
			line += " [" + m + "]"
		}
		if x.Case.Problem != "" {
			line += ": " + plain(x.Case.Problem)
		}
		items = append(items, line)
	}
	return engines, items, nil
}

// spread gives each case in each mode that fits it.
func spread(c *Config, cases []Case) []item {
	modes := c.Modes
	if len(modes) == 0 {
		modes = []Mode{{}}
	}
	var out []item
	for _, x := range cases {
		for _, m := range modes {
			if m.fits(x) {
				out = append(out, item{Case: x, Mode: m})
			}
		}
	}
	return out
}

// begin starts the newest engine and writes the night's row.
func (n *night) begin(ctx context.Context) error {
	var err error
	if n.engines, err = n.Config.Versions(ctx); err != nil {
		return err
	}
	n.newest = n.engines[len(n.engines)-1]
	fingerprint, dead := n.Lab.Start(ctx, n.newest)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	n.up[n.newest.Version] = dead
	n.report = Report{Bot: n.Config.Name, Night: n.Key, Version: n.newest.Version, Fingerprint: fingerprint}
	if dead != nil {
		n.report.Dead = plain(dead.Error())
	}
	n.row, err = n.Store.BeginNight(ctx, replay.Night{Bot: n.Config.Name, Key: n.Key, Version: n.newest.Version, Fingerprint: fingerprint})
	if err != nil {
		return err
	}
	n.tell(Event{Kind: "night", Version: n.newest.Version, Text: n.report.Dead})
	all, err := n.Store.Nights(ctx, n.Config.Name)
	if err != nil {
		return err
	}
	for _, x := range all {
		if x.ID < n.row.ID {
			n.before = append(n.before, x)
		}
	}
	if n.said, err = n.Store.NewsBefore(ctx, n.Config.Name, n.row.ID); err != nil {
		return err
	}
	if n.open, err = readFindings(n.said); err != nil {
		return err
	}
	if n.figures, err = n.Store.NightFigures(ctx, n.Config.Name, n.row.ID, kept); err != nil {
		return err
	}
	runs, err := n.Store.Runs(ctx, n.row.ID)
	for _, r := range runs {
		n.runs[runKey{r.Case, r.Version, r.Attempt}] = r
	}
	return err
}

func (n *night) tell(e Event) {
	if n.Event == nil {
		return
	}
	e.Night = n.Key
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Event(e)
}

// play measures, and says what is new.
func (n *night) play(ctx context.Context) error {
	cases, err := n.Config.Cases(ctx, n.Store)
	if err != nil {
		return err
	}
	n.items = spread(n.Config, cases)
	rows := make([]replay.BotCase, len(n.items))
	for i, x := range n.items {
		rows[i] = replay.BotCase{Name: x.Case.Name, Mode: x.Mode.String()}
	}
	if rows, err = n.Store.PutCases(ctx, n.Config.Name, rows); err != nil {
		return err
	}
	var can []item
	for i, r := range rows {
		n.items[i].id = r.ID
		if n.items[i].Case.Problem == "" {
			can = append(can, n.items[i])
		}
	}
	if err := n.ensure(ctx, can, n.newest, 1, true); err != nil {
		return err
	}
	series := 0
	for _, x := range can {
		if r := n.valid(x, n.newest); len(r) > 0 {
			series += len(r[0].Figures)
		}
	}
	n.report.series = 64 // a round number, which does not change with every case that comes or goes
	for n.report.series < series {
		n.report.series *= 2
	}
	var doubted []item
	for _, x := range can {
		if n.doubted(x) {
			doubted = append(doubted, x)
		}
	}
	if err := n.ensure(ctx, doubted, n.newest, attempts, true); err != nil {
		return err
	}
	for _, x := range n.items {
		if err := n.judge(ctx, x); err != nil {
			return err
		}
	}
	return n.absent(ctx)
}

// doubted reports whether a case's first run says something new.
func (n *night) doubted(x item) bool {
	r := n.valid(x, n.newest)
	if len(r) == 0 || r[0].Outcome.Status == replay.Invalid {
		return false
	}
	o := r[0].Outcome
	if failing(o.Status) {
		return n.find(x, o.Signature) == nil
	}
	if slices.ContainsFunc(n.open[x.id], func(f *finding) bool { return f.open() && !f.flaky }) {
		return true
	}
	for name, samples := range r[0].Figures {
		if len(samples) > 0 && history.Doubtful(append(n.points(x, name), history.NewPoint(samples)), n.options(name)) {
			return true
		}
	}
	return false
}

func (n *night) options(name string) history.Options {
	return figureOf(name).options(n.Config.Thresholds, n.report.series)
}

// points are a figure's nights before this one.
func (n *night) points(x item, name string) []history.Point {
	var out []history.Point
	for _, f := range n.figures[x.id][name] {
		out = append(out, history.Point{Value: f.Value, Spread: f.Spread, Count: len(f.Samples)})
	}
	return out
}

// ask is one measurement that is wanted.
type ask struct {
	x       item
	e       Engine
	attempt int
	figures bool
}

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
	r := replay.Run{Night: n.row.ID, Case: q.x.id, Version: q.e.Version, Attempt: q.attempt, Outcome: m.Outcome, Figures: m.Figures, Duration: time.Since(begin)}
	// A signal that comes just now does not make the answer less true.
	if err := n.Store.PutRun(context.WithoutCancel(ctx), r); err != nil {
		return r, err
	}
	n.mu.Lock()
	n.runs[runKey{q.x.id, q.e.Version, q.attempt}] = r
	n.mu.Unlock()
	n.tell(Event{Kind: "measured", Case: q.x.Case.Name, Mode: q.x.Mode.String(), Version: q.e.Version, Attempt: q.attempt, Status: r.Outcome.Status, Text: plain(r.Outcome.Signature.String())})
	return r, nil
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
	name := strings.Trim(unsafeName.ReplaceAllString(strings.TrimSpace(x.Case.Name+" "+x.Mode.String()), "-"), "-.")
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

// says reports whether an outcome says something about its case.
func says(o replay.Outcome) bool {
	return o.Status != replay.Infrastructure && (!failing(o.Status) || replay.MachineFault(o.Signature.Type, o.Message) == nil)
}

// judge says what there is to say about a case.
func (n *night) judge(ctx context.Context, x item) error {
	n.report.Cases++
	if x.Case.Problem != "" {
		n.report.Untested++
		n.trouble(x, x.Case.Problem)
		return nil
	}
	runs := n.valid(x, n.newest)
	if len(runs) == 0 {
		n.report.Untested++
		r, _ := n.run(x, n.newest, 0)
		text := r.Outcome.Message
		if fault := replay.MachineFault(r.Outcome.Signature.Type, text); fault != nil {
			text = fault.Error()
		}
		n.trouble(x, "could not be measured: "+text)
		return nil
	}
	first := runs[0].Outcome
	if first.Status == replay.Invalid {
		n.report.Untested++
		n.trouble(x, "does not run in eager: "+first.Message)
		return nil
	}
	if failing(first.Status) {
		n.report.Failed++
	} else {
		n.report.Passed++
	}
	if failing(first.Status) {
		if f := n.find(x, first.Signature); f != nil {
			n.line(x, n.known(f))
			return nil
		}
		return n.fails(ctx, x, runs, 0)
	}
	if len(runs) >= attempts { // something was doubted: a run that fails is no accident of one process
		for i, r := range runs {
			if failing(r.Outcome.Status) {
				if f := n.find(x, r.Outcome.Signature); f != nil {
					return n.wavers(x, f, runs)
				}
				return n.fails(ctx, x, runs, i)
			}
		}
	}
	for _, f := range n.open[x.id] {
		if !f.open() {
			continue
		}
		if err := n.passes(ctx, x, f, runs); err != nil {
			return err
		}
	}
	n.compare(x, runs)
	return nil
}

// find is the open finding that a signature shows; nil: it is new.
func (n *night) find(x item, s replay.Signature) *finding {
	for _, f := range n.open[x.id] {
		if f.open() && f.Signature.Matches(s) {
			return f
		}
	}
	return nil
}

// known is the line of a finding that is open already.
func (n *night) known(f *finding) Line {
	l := f.Line
	l.Kind, l.History = "known", nil
	l.Text = fmt.Sprintf("since night %s, version %s", f.Since, f.Version)
	if f.flaky {
		l.Text = "comes and goes " + l.Text
	}
	return l
}

// wavers is for a finding that was thought to be reliable, and passes in some runs.
func (n *night) wavers(x item, f *finding, runs []replay.Run) error {
	l := n.known(f)
	if !f.flaky {
		l.Kind, l.Text = "flaky", fmt.Sprintf("%s; open since night %s", rateText(*f.Signature, runs), f.Since)
	}
	l.Rate = rate(*f.Signature, runs)
	n.line(x, l)
	return nil
}

// rate is the share of runs that fail in one way.
func rate(s replay.Signature, runs []replay.Run) float64 {
	fails := 0
	for _, r := range runs {
		if failing(r.Outcome.Status) && s.Matches(r.Outcome.Signature) {
			fails++
		}
	}
	return float64(fails) / float64(len(runs))
}

func rateText(s replay.Signature, runs []replay.Run) string {
	return fmt.Sprintf("fails in %.0f of %s", rate(s, runs)*float64(len(runs)), replay.Count(len(runs), "run"))
}

// fails is for a failure that is not open: that of the run at i, which decides what it is.
func (n *night) fails(ctx context.Context, x item, runs []replay.Run, i int) error {
	s := runs[i].Outcome.Signature
	if len(runs) < attempts {
		n.trouble(x, "fails, which could not be confirmed because the machine or the engine failed: "+s.String())
		return nil
	}
	l := Line{Kind: "new", Subject: plain(s.String()), Signature: &s, Since: n.Key, Version: n.newest.Version, Fingerprint: n.report.Fingerprint, Rate: rate(s, runs), Text: rateText(s, runs)}
	for _, f := range n.open[x.id] {
		if f.closed && f.Signature.Matches(s) {
			l.Kind, l.History = "back", f.History
		}
	}
	if l.Rate < 1 {
		if l.Kind == "new" {
			l.Kind = "flaky"
		}
		l.Text += "; it was neither minimised nor bisected"
	}
	if l.Kind == "back" {
		l.Text += "; before: " + strings.Join(l.History, ", ")
	}
	repro := ""
	if x.Case.Repro {
		repro = x.Case.Text
	} else if runs[i].Outcome.Detail != "" {
		repro = runs[i].Outcome.Detail
	}
	origin := n.Config.Name + ": " + x.Case.Name
	if m := x.Mode.String(); m != "" {
		origin += " [" + m + "]"
	}
	id, err := n.Store.PutRunFailure(ctx, runs[i], replay.Failure{Signature: s, Raw: runs[i].Outcome.Message, Repro: repro}, origin)
	if err != nil {
		return err
	}
	l.Failure = id
	if l.Rate == 1 {
		if err := n.work(ctx, x, &l, repro, runs[i].Attempt); err != nil {
			return err
		}
	}
	if n.Group != nil {
		group, _, err := n.Group(ctx, id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			n.trouble(x, "could not be grouped: "+err.Error())
		}
		l.Group = group
	}
	n.line(x, l)
	return nil
}

var unsafeName = regexp.MustCompile(`[^\w.-]+`)

// work minimises and bisects a failure.
func (n *night) work(ctx context.Context, x item, l *Line, repro string, attempt int) error {
	y := x // what is bisected: the smaller one, where there is one
	if repro != "" {
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
			return ctx.Err()
		}
		var full *replay.FullError
		switch {
		case errors.As(err, &full):
			return err
		case errors.Is(err, ErrNoMinimiser):
		case err != nil:
			l.Text += "; not minimised: " + plain(err.Error())
		default:
			l.Calls = m.Calls
			l.Text += "; minimal repro: " + replay.Count(m.Calls, "call")
			if m.Unfinished != "" {
				l.Text += " (" + m.Unfinished + ")"
			}
			if m.Path != "" {
				if rel, err := filepath.Rel(filepath.Join(n.Config.At(n.Config.Report.Outbox), n.Key), m.Path); err == nil {
					l.Repro = filepath.ToSlash(rel)
				}
				y.Case.Path = m.Path
			}
			y.Case.Repro, y.Case.Text = true, m.Repro
			if err := n.Store.PutFailureWork(ctx, l.Failure, replay.FailureWork{Minification: m.Minification}); err != nil {
				return err
			}
		}
	}
	r, id, err := n.bisect(ctx, y, *l.Signature, n.engines)
	if err != nil {
		return err
	}
	l.Range = r
	if r != nil {
		l.Text += "; " + r.text()
		if r.Same == string(bisect.Bad) && len(n.figures[x.id]) > 0 {
			l.Text += ", though it passed in nights before: the case or the machine is not what it was"
		}
		if err := n.Store.PutFailureWork(ctx, l.Failure, replay.FailureWork{Bisection: id, Decides: "versions: " + r.text()}); err != nil {
			return err
		}
	}
	return nil
}

// bisect finds the version with which a failure came, or went. nil: there are no two versions.
func (n *night) bisect(ctx context.Context, x item, want replay.Signature, engines []Engine) (*Range, int64, error) {
	if len(engines) < 2 {
		return nil, 0, nil
	}
	want.Frame = "" // functions move from version to version
	n.tell(Event{Kind: "bisecting", Case: x.Case.Name, Mode: x.Mode.String(), Text: plain(want.String())})
	id, err := n.Store.BeginBisection(ctx, replay.Bisection{Key: replay.HashOf("nightly", n.Config.Name, n.Key, x.Case.Name, x.Mode.String(), want.String(), engines[0].Version),
		Kind: "versions", Subject: n.Config.Name + ": " + x.Case.Name})
	if err != nil {
		return nil, 0, err
	}
	verdict := func(o replay.Outcome) bisect.Answer {
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
	s := &bisect.Search{Workers: n.Jobs, Test: func(ctx context.Context, t bisect.Trial) (bisect.Answer, error) {
		e := engines[t.Point]
		if err := n.started(ctx, e); err != nil {
			return bisect.Answer{Verdict: bisect.Skip, Text: "cannot be started: " + plain(err.Error())}, ctx.Err()
		}
		begin := time.Now()
		r, err := n.one(ctx, ask{x: x, e: e})
		if err != nil {
			return bisect.Answer{}, err
		}
		a := verdict(r.Outcome)
		return a, n.Store.PutTrial(context.WithoutCancel(ctx), id, replay.BisectionTrial{Point: e.Version, Verdict: string(a.Verdict), Text: a.Text, Outcome: &r.Outcome, Duration: time.Since(begin)})
	}}
	found, err := s.Range(ctx, len(engines), nil)
	r := &Range{}
	var ends *bisect.EndsError
	switch {
	case errors.As(err, &ends) && ends.First.Verdict == bisect.Skip && ends.Last.Verdict != bisect.Skip && len(engines) > 2:
		return n.bisect(ctx, x, want, engines[1:]) // the first one tells nothing
	case errors.As(err, &ends):
		r.Good = engines[0].Version
		if r.Same = string(bisect.Bad); ends.First.Verdict != bisect.Bad || ends.Last.Verdict != bisect.Bad {
			r.Same = fmt.Sprintf("%s on %s, %s on %s", said(ends.First), r.Good, said(ends.Last), engines[len(engines)-1].Version)
		}
	case err != nil:
		return nil, 0, err
	default:
		first, last := found.Suspects[0], found.Suspects[len(found.Suspects)-1]
		r.Fixed, r.More = found.Fixed, len(found.Doubts) > 0
		r.Bad = engines[last].Version
		for _, e := range engines[first:last] {
			r.Untold = append(r.Untold, e.Version)
		}
		if first > 0 {
			r.Good = engines[first-1].Version
		}
	}
	return r, id, n.Store.FinishBisection(ctx, id, r.text())
}

// said is an answer for people.
func said(a bisect.Answer) string {
	if a.Verdict == bisect.Skip {
		return "cannot be told (" + plain(a.Text) + ")"
	}
	return string(a.Verdict)
}

// started makes an engine ready, once.
func (n *night) started(ctx context.Context, e Engine) error {
	n.mu.Lock()
	err, ok := n.up[e.Version]
	n.mu.Unlock()
	if ok {
		return err
	}
	_, err = n.Lab.Start(ctx, e)
	if ctx.Err() == nil {
		n.mu.Lock()
		n.up[e.Version] = err
		n.mu.Unlock()
	}
	return err
}

// sure is how likely a flaky failure has to show by now, if it were still there, for it to count as fixed.
const sure = 0.99

// passes is for an open finding of a case that passes in all runs.
func (n *night) passes(ctx context.Context, x item, f *finding, runs []replay.Run) error {
	l := f.Line
	l.Range = nil
	if f.flaky {
		quiet := 1
		for _, b := range n.before {
			if b.ID > f.last {
				quiet++
			}
		}
		// The rate is what few runs showed: one failure more and one pass more are taken to be seen (Laplace's rule of succession).
		if p := math.Pow(1-(f.Rate*attempts+1)/(attempts+2), float64(quiet)); 1-p < sure {
			return nil
		}
		l.Kind, l.Text = "fixed", fmt.Sprintf("was flaky, and has not failed in %s", replay.Count(quiet, "night"))
		n.line(x, l)
		return nil
	}
	if len(runs) < attempts {
		return nil // tomorrow
	}
	old := slices.IndexFunc(n.engines, func(e Engine) bool { return e.Version == f.Version })
	last := slices.IndexFunc(n.engines, func(e Engine) bool { return e.Version == f.lastVersion })
	there := fmt.Sprintf("does not fail any more on version %s, on which it was found in night %s", f.Version, f.Since)
	switch {
	case f.Version == n.newest.Version && f.Fingerprint == n.report.Fingerprint:
		l.Kind, l.Text = "withdrawn", there
		n.line(x, l)
		return nil
	case old >= 0 && old < len(n.engines)-1 && n.started(ctx, n.engines[old]) == nil:
		if err := n.ensure(ctx, []item{x}, n.engines[old], attempts, false); err != nil {
			return err
		}
		again := n.valid(x, n.engines[old])
		if len(again) >= attempts && rate(*f.Signature, again) == 0 {
			l.Kind, l.Text = "withdrawn", there
			n.line(x, l)
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.Kind, l.Text = "fixed", fmt.Sprintf("failed on version %s in night %s, and passes on %s", f.lastVersion, f.lastKey, n.newest.Version)
	if last >= 0 && last < len(n.engines)-1 {
		r, _, err := n.bisect(ctx, x, *f.Signature, n.engines[last:])
		if err != nil {
			return err
		}
		if r != nil && r.Same == "" {
			l.Range = r
			l.Text += "; " + r.text()
		}
	}
	n.line(x, l)
	return nil
}

// absent is for what is open and belongs to no case of tonight.
func (n *night) absent(ctx context.Context) error {
	here := map[int64]bool{}
	for _, x := range n.items {
		here[x.id] = true
	}
	all, err := n.Store.Cases(ctx, n.Config.Name)
	if err != nil {
		return err
	}
	var ids []int64
	for id := range n.open {
		if !here[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		for _, f := range n.open[id] {
			if f.open() {
				n.report.Trouble = append(n.report.Trouble, Trouble{all[id].Name, all[id].Mode, "is not among the cases any more; open since night " + f.Since + ": " + f.Subject})
			}
		}
	}
	return nil
}

// compare holds the figures of a case against those of the nights before.
func (n *night) compare(x item, runs []replay.Run) {
	var names []string
	for name, samples := range runs[0].Figures {
		if len(samples) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		var all []history.Point
		var samples [][]float64
		for _, r := range runs {
			if s := r.Figures[name]; len(s) > 0 {
				all, samples = append(all, history.NewPoint(s)), append(samples, s)
			}
		}
		before := n.points(x, name)
		o := n.options(name)
		best := history.Nearest(before, all, o)
		p := all[best]
		n.report.figures = append(n.report.figures, replay.NightFigure{Night: n.row.ID, Case: x.id, Name: name, Value: p.Value, Spread: p.Spread, Samples: samples[best]})
		points := append(before, p)
		n.changed(x, name, points, o)
	}
}

// changed says what a figure's nights show tonight.
func (n *night) changed(x item, name string, points []history.Point, o history.Options) {
	f := figureOf(name)
	rows := n.figures[x.id][name]
	at := func(i int) (key, version string) {
		if i >= len(rows) {
			return n.Key, n.newest.Version
		}
		i = slices.IndexFunc(n.before, func(b replay.Night) bool { return b.ID == rows[i].Night })
		return n.before[i].Key, n.before[i].Version
	}
	begin := 0
	for _, c := range history.Scan(points, o) {
		begin = c.At
		if c.Found != len(points)-1 {
			continue
		}
		l := Line{Kind: f.Worse, Subject: name, Since: n.Key, Version: n.newest.Version, Figure: &Change{Name: name, Before: round(c.Before), After: round(c.After), Unit: f.Unit}}
		if (c.After > c.Before) == f.Down {
			l.Kind = f.Better
		}
		_, before := at(c.At - 1)
		since, version := at(c.At)
		l.Range = &Range{Good: before, Bad: version, Night: since}
		l.Text = l.Figure.text()
		if o.Scale == history.Ratio {
			l.Figure.Low, l.Figure.High = round(c.Low), round(c.High)
			l.Text += fmt.Sprintf(" (%s; 95 %% interval %s to %s)", percent(c.After/c.Before), percent(c.Low), percent(c.High))
		}
		l.Text += "; since night " + since
		if before != version {
			l.Text += fmt.Sprintf(", between versions %s and %s", before, version)
		}
		n.line(x, l)
	}
	if f.Limit == 0 || slices.ContainsFunc(n.said, func(s replay.News) bool {
		return s.Case == x.id && s.Kind == "drifting" && s.Subject == name && len(rows) > 0 && s.Night >= rows[max(len(rows)-60, 0)].Night && s.Night >= rows[min(begin, len(rows)-1)].Night
	}) {
		return
	}
	if t, ok := history.FindTrend(points, f.Limit, o); ok {
		since, _ := at(t.Since)
		l := Line{Kind: "drifting", Subject: name, Since: since, Version: n.newest.Version, Figure: &Change{Name: name, Before: round(points[t.Since].Value), After: round(points[len(points)-1].Value), Unit: f.Unit, Limit: f.Limit, Nights: t.Nights}}
		l.Text = fmt.Sprintf("%s since night %s, %s a night: passes its limit of %v in %s if it goes on", l.Figure.text(), since, percent(t.Nightly), f.Limit, replay.Count(t.Nights, "night"))
		n.line(x, l)
	}
}

func (n *night) trouble(x item, text string) {
	n.report.Trouble = append(n.report.Trouble, Trouble{x.Case.Name, x.Mode.String(), plain(text)})
}

// line adds a line to the report.
func (n *night) line(x item, l Line) {
	l.Case, l.Mode, l.id = x.Case.Name, x.Mode.String(), x.id
	if l.Kind == "known" {
		n.report.Open = append(n.report.Open, l)
		return
	}
	n.report.News = append(n.report.News, l)
	n.tell(Event{Kind: "line", Case: l.Case, Mode: l.Mode, Version: n.newest.Version, Text: l.Kind + ": " + l.Text})
}

// finish keeps the report.
func (n *night) finish(ctx context.Context) (*Report, []byte, error) {
	n.report.order()
	b, err := json.MarshalIndent(&n.report, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	b = append(b, '\n')
	var news []replay.News
	for _, l := range slices.Concat(n.report.News, n.report.Open) {
		detail, err := json.Marshal(l)
		if err != nil {
			return nil, nil, err
		}
		news = append(news, replay.News{Case: l.id, Kind: l.Kind, Subject: l.Subject, Group: l.Group, Failure: l.Failure, Text: l.Text, Detail: string(detail)})
	}
	if err := n.Store.FinishNight(ctx, n.row.ID, b, n.report.figures, news); err != nil {
		return nil, nil, err
	}
	return &n.report, b, nil
}

// finding is a failure that a night reported, and what became of it.
type finding struct {
	Line               // as it was first said, or said to be back
	flaky       bool   // it does not fail in every run
	closed      bool   // fixed, or withdrawn
	last        int64  // the last night that saw it
	lastKey     string // its key
	lastVersion string // on which it failed then
}

func (f *finding) open() bool { return !f.closed }

// readFindings goes through what the nights said, in their order.
func readFindings(said []replay.News) (map[int64][]*finding, error) {
	out := map[int64][]*finding{}
	for _, s := range said {
		var l Line
		if err := json.Unmarshal([]byte(s.Detail), &l); err != nil {
			return nil, &replay.CorruptError{Table: "news", Key: fmt.Sprintf("%d/%d/%s/%s", s.Night, s.Case, s.Kind, s.Subject), Msg: err.Error()}
		}
		if l.Signature == nil {
			continue // about a figure
		}
		i := slices.IndexFunc(out[s.Case], func(f *finding) bool { return f.Subject == l.Subject })
		if i < 0 {
			out[s.Case] = append(out[s.Case], &finding{Line: l})
			i = len(out[s.Case]) - 1
			out[s.Case][i].History = nil
		}
		f := out[s.Case][i]
		switch s.Kind {
		case "new", "back":
			old := f.History
			f.Line, f.flaky, f.closed = l, l.Rate < 1, false
			f.History = append(old, fmt.Sprintf("%s in night %s (%s)", s.Kind, s.Key, l.Version))
		case "flaky":
			f.flaky, f.closed, f.Rate = true, false, l.Rate
			f.History = append(f.History, fmt.Sprintf("flaky in night %s", s.Key))
		case "fixed", "withdrawn":
			f.closed = true
			f.History = append(f.History, fmt.Sprintf("%s in night %s", s.Kind, s.Key))
		}
		if s.Kind != "fixed" && s.Kind != "withdrawn" {
			f.last, f.lastKey = s.Night, s.Key
			f.lastVersion = l.seen()
		}
	}
	return out, nil
}

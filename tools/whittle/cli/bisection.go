package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/pool"

	"whittle/minify/bisect"
	"whittle/replay"
)

// A bisection is one thing along one axis.
type bisection struct {
	kind     string   // of points: versions, commits, settings
	subject  string   // what is tested, for people
	key      string   // what is tested, and how: answers are kept under it, each with the name of its point
	points   []string // their names, oldest first
	parents  func(i int) []int
	settings changes // whose sets are the points; nil: the points are those of points
	plain    bool    // of settings: nobody asks for a workaround
	engine   bool    // tests give outcomes, which are judged by the failure at the ends
	sure     *sure   // tests are wrong now and then: each answer is made of several; nil: of one
	test     func(ctx context.Context, point string, attempt int) (reply, error)
	ahead    func(ctx context.Context, point string)                                       // makes ready for a test; nil: there is nothing to be made
	rerun    func(point string) string                                                     // the command that shows what a point does; nil: none does
	smaller  func(ctx context.Context, st *replay.Store, point string) (*bisection, error) // its repro is minified, by the engine of a point where it fails; nil: it cannot be
	instead  *bisection                                                                    // to be bisected where both ends are good; nil: nothing is
	code     func(ctx context.Context, point string) (map[string][]byte, error)            // that is generated at a point; nil: nobody can say
	title    func(point string) string                                                     // what there is to say about a point; nil: its name says all
}

// reply is the answer to one test.
type reply struct {
	bisect.Answer                 // of a command; of an engine that gave no outcome, why
	outcome       *replay.Outcome // of an engine
	fleeting      bool            // says nothing about the point, as where a Python could not be started: it is not kept
	took          time.Duration
}

// bisectResult is what a bisection came to.
type bisectResult struct {
	id       int64
	found    bisect.Found
	likely   *bisect.Likely   // of tests that are wrong now and then
	deciding *bisect.Deciding // of settings
	ends     *bisect.EndsError
	trials   []told // in the order in which they were used
}

// told is an answer as it is shown.
type told struct {
	point   int // -1 for a set of settings
	name    string
	attempt int
	answer  bisect.Answer
	known   bool
}

// row is the bisection as the store begins it.
func (b *bisection) row() replay.Bisection {
	r := replay.Bisection{Key: b.key, Kind: b.kind, Subject: b.subject}
	if b.settings == nil {
		r.Axis = b.points
	}
	return r
}

// bisect runs one bisection, with every answer in the store before it is used.
func (a *app) bisect(ctx context.Context, st *replay.Store, b *bisection, o bisectOptions, p *bisectPrinter) (bisectResult, error) {
	id, err := st.BeginBisection(ctx, b.row())
	if err == nil && o.again {
		err = st.DropTrials(ctx, id)
	}
	r := bisectResult{id: id}
	if err != nil {
		return r, err
	}
	p.start(id, b)
	j := &bisectJournal{b: b, st: st, id: id, points: b.points, replies: map[asked]reply{}}
	if b.sure != nil {
		j.want = b.sure.want
	}
	if o.noisy() && o.fixed {
		j.points = slices.Clone(b.points)
		slices.Reverse(j.points)
	}
	ahead, err := j.seeEnds(ctx, max(a.workers, 1))
	if err != nil {
		return r, err
	}
	s := &bisect.Search{Test: j.test, Journal: j, Workers: max(a.workers, 1), Event: func(t bisect.Trial, answer bisect.Answer, known bool) {
		q := j.asked(t)
		x := told{slices.Index(b.points, q.point), q.point, t.Attempt, answer, known && !j.mine[q]}
		r.trials = append(r.trials, x)
		p.tested(id, b, x)
	}}
	if b.ahead != nil {
		s.Ahead = func(ctx context.Context, t bisect.Trial) { b.ahead(ctx, j.points[t.Point]) }
	}
	switch {
	case b.settings != nil:
		decide := s.Settings
		if b.plain {
			decide = s.Decide
		}
		var d bisect.Deciding
		d, err = decide(ctx, b.settings.count())
		r.deciding, r.found.Cost = &d, d.Cost
	case o.noisy() && b.sure == nil:
		err = r.noisy(ctx, s, len(b.points), o)
	default:
		r.found, err = s.Range(ctx, len(b.points), b.parents)
	}
	r.found.Cost.Tests += ahead
	r.found.Cost.Known -= ahead
	r.found.Cost.Rounds += (ahead + s.Workers - 1) / s.Workers
	if errors.As(err, &r.ends) {
		err = nil
	}
	if err != nil {
		return r, err
	}
	return r, st.FinishBisection(ctx, id, r.text(b))
}

// noisy bisects by tests that are wrong now and then. Where the first point is the bad one, the search has seen the points the other way round.
func (r *bisectResult) noisy(ctx context.Context, s *bisect.Search, n int, o bisectOptions) error {
	l, err := s.Noisy(ctx, n, o.noise())
	if o.fixed {
		l.Fixed = true
		for i, p := range l.Suspects {
			l.Suspects[i] = n - p // the last bad one is n-1-p: the first good one comes after it
		}
		slices.Reverse(l.Suspects)
	}
	r.likely, r.found = &l, l.Found
	return err
}

// asked is a question by the name of its point.
type asked struct {
	point   string
	attempt int
}

// bisectJournal keeps the answers of one bisection in the store. Those of an engine are kept as outcomes, and judged when they are used.
type bisectJournal struct {
	b       *bisection
	st      *replay.Store
	id      int64
	points  []string // in the order of the search
	want    replay.Signature
	failing string // the end that want is of

	mu      sync.Mutex
	replies map[asked]reply // of this run, until they are kept
	mine    map[asked]bool  // kept by seeEnds
}

var _ bisect.Journal = (*bisectJournal)(nil)

func (j *bisectJournal) asked(t bisect.Trial) asked {
	if j.b.settings != nil {
		return asked{point: j.b.settings.point(t.Set)}
	}
	return asked{j.points[t.Point], t.Attempt}
}

func (j *bisectJournal) test(ctx context.Context, t bisect.Trial) (bisect.Answer, error) {
	r, err := j.ask(ctx, j.asked(t))
	return j.verdict(r), err
}

// ask asks, and remembers the reply until it is kept.
func (j *bisectJournal) ask(ctx context.Context, q asked) (reply, error) {
	r, err := j.answer(ctx, q)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.replies[q] = r
	return r, err
}

func (j *bisectJournal) answer(ctx context.Context, q asked) (r reply, err error) {
	begin := time.Now()
	if j.b.sure != nil {
		r, err = j.b.sure.ask(ctx, j, q.point)
	} else {
		r, err = j.b.test(ctx, q.point, q.attempt)
	}
	if err == nil {
		err = ctx.Err() // one that was stopped says nothing
	}
	r.took = time.Since(begin)
	return r, err
}

// Known implements bisect.Journal.
func (j *bisectJournal) Known(ctx context.Context, t bisect.Trial) (bisect.Answer, bool, error) {
	r, ok, err := j.known(ctx, j.asked(t))
	return j.verdict(r), ok, err
}

func (j *bisectJournal) known(ctx context.Context, q asked) (reply, bool, error) {
	j.mu.Lock()
	r, ok := j.replies[q] // seen by seeEnds, and not kept
	j.mu.Unlock()
	if ok {
		return r, true, nil
	}
	row, ok, err := j.st.Trial(ctx, j.id, q.point, q.attempt)
	return reply{Answer: bisect.Answer{Verdict: bisect.Verdict(row.Verdict), Text: row.Text}, outcome: row.Outcome}, ok, err
}

// Note implements bisect.Journal.
func (j *bisectJournal) Note(ctx context.Context, t bisect.Trial, _ bisect.Answer) error {
	q := j.asked(t)
	j.mu.Lock()
	r := j.replies[q]
	j.mu.Unlock()
	return j.keep(ctx, q, r)
}

func (j *bisectJournal) keep(ctx context.Context, q asked, r reply) error {
	if r.fleeting {
		return nil
	}
	// A signal that comes just now does not make the answer less true.
	return j.st.PutTrial(context.WithoutCancel(ctx), j.id, replay.BisectionTrial{Point: q.point, Attempt: q.attempt, Verdict: string(r.Verdict), Text: r.Text, Outcome: r.outcome, Duration: r.took})
}

// seeEnds finds out which failure an engine is asked about: that of the last point, or of the first where the last one does not fail. It says how
// many tests that took.
func (j *bisectJournal) seeEnds(ctx context.Context, workers int) (tests int, err error) {
	if !j.b.engine || j.b.sure != nil {
		return 0, nil
	}
	j.mine = map[asked]bool{}
	ends := []string{j.b.points[len(j.b.points)-1], j.b.points[0]}
	got := make([]reply, len(ends))
	p := pool.New().WithContext(ctx).WithMaxGoroutines(workers).WithCancelOnError().WithFirstError()
	for i, point := range ends {
		p.Go(func(ctx context.Context) error {
			q := asked{point: point}
			r, ok, err := j.known(ctx, q)
			if err == nil && !ok {
				if r, err = j.ask(ctx, q); err == nil {
					err = j.keep(ctx, q, r)
				}
				j.mu.Lock()
				j.mine[q] = true
				j.mu.Unlock()
			}
			got[i] = r
			return err
		})
	}
	if err := p.Wait(); err != nil {
		return 0, err
	}
	for i, r := range got {
		if j.want.IsZero() && r.outcome != nil && fails(r.outcome.Status) {
			j.want = r.outcome.Signature
			j.failing = ends[i]
			j.want.Frame = "" // functions move from version to version
		}
	}
	return len(j.mine), nil
}

// verdict is what a reply means for the failure that is looked for.
func (j *bisectJournal) verdict(r reply) bisect.Answer {
	if r.outcome == nil {
		return r.Answer
	}
	switch v := replay.Judge(*r.outcome, j.want); v {
	case replay.Passed:
		return bisect.Answer{Verdict: bisect.Good}
	case replay.Reproduced:
		return bisect.Answer{Verdict: bisect.Bad, Text: r.outcome.Signature.String()}
	case replay.Different, replay.VerdictTimeout, replay.VerdictOOM, replay.VerdictKilled:
		return bisect.Answer{Verdict: bisect.Skip, Text: differently + r.outcome.Signature.String()}
	default:
		text, _, _ := strings.Cut(strings.TrimSpace(r.outcome.Message), "\n")
		return bisect.Answer{Verdict: bisect.Skip, Text: string(v) + ": " + text}
	}
}

// differently begins what is said of a failure with another signature.
const differently = "fails differently: "

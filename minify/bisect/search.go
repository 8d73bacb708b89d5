package bisect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/conc/pool"
)

// Verdict is what a test says of a point.
type Verdict string

// The verdicts.
const (
	Good Verdict = "good"
	Bad  Verdict = "bad"
	Skip Verdict = "skip" // the point cannot be tested
)

// Answer is a verdict with what there is to say about it.
type Answer struct {
	Verdict Verdict
	Text    string // why; for people, and kept with the answer
}

// Trial is one question.
type Trial struct {
	Point   int   // of Range and Noisy: from 0, the oldest
	Set     []int // of Settings: the differences that are as in the bad configuration, ascending
	Attempt int   // of Noisy: from 0; a point is asked again with the next number
}

// key is what a trial is remembered under.
func (t Trial) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d", t.Point, t.Attempt)
	for _, i := range t.Set {
		b.WriteByte(' ')
		b.WriteString(strconv.Itoa(i))
	}
	return b.String()
}

// Journal keeps answers beyond the life of a search. Its methods are called from several goroutines.
type Journal interface {
	// Known is the answer that was noted for a trial, if there is one.
	Known(ctx context.Context, t Trial) (a Answer, ok bool, err error)
	// Note keeps an answer. When it returns, the answer outlives the process.
	Note(ctx context.Context, t Trial, a Answer) error
}

// Search is one bisection. Fill the fields, then call one of Range, Noisy and Settings, once.
type Search struct {
	// Test answers a trial. It is called from as many goroutines as there are workers. An error ends the search and is no answer: what cannot be
	// tested is Skip.
	Test    func(ctx context.Context, t Trial) (Answer, error)
	Journal Journal // nil => nothing outlives the search
	Workers int     // tests at a time; 0 => 1
	// Event is told of every answer when it is first used, in an order that does not depend on which test ended first. It is called from one
	// goroutine. nil => nobody listens.
	Event func(t Trial, a Answer, known bool)

	// Ahead makes ready for a trial that is likely to be asked soon, as by building what it tests. Workers call it that have nothing to ask while
	// others do; ctx ends when the last of those has its answer. nil => they wait.
	Ahead func(ctx context.Context, t Trial)

	memo map[string]*reply
	cost Cost
}

// Cost is what a search took.
type Cost struct {
	Tests  int // asked of Test; those that were asked ahead and not used count
	Known  int // answers that the journal had
	Rounds int // times that the search waited for tests, which ran side by side as far as there were workers
}

func (s *Search) workers() int { return max(s.Workers, 1) }

// ask gets answers, by the order of trials, and uses them all. What was asked before in this search is not asked again. likely is what may be asked next,
// likeliest first, given the answers so far; nil => nobody can tell.
func (s *Search) ask(ctx context.Context, likely func(so map[string]Verdict) []Trial, trials ...Trial) ([]Answer, error) {
	if err := s.fetch(ctx, likely, trials); err != nil {
		return nil, err
	}
	out := make([]Answer, len(trials))
	for i, t := range trials {
		out[i] = s.use(t)
	}
	return out, nil
}

// reply is an answer that the search has.
type reply struct {
	Answer
	known, used bool // by the journal; by the search
}

// fetch gets the answers to trials that the search does not have.
func (s *Search) fetch(ctx context.Context, likely func(so map[string]Verdict) []Trial, trials []Trial) error {
	if s.memo == nil {
		s.memo = map[string]*reply{}
	}
	trials = slices.DeleteFunc(slices.Clone(trials), func(t Trial) bool { return s.memo[t.key()] != nil })
	got := make([]reply, len(trials))
	idle, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	so, ready := map[string]Verdict{}, map[string]bool{}
	p := pool.New().WithContext(ctx).WithMaxGoroutines(s.workers()).WithCancelOnError().WithFirstError()
	for i, t := range trials {
		p.Go(func(ctx context.Context) error {
			var err error
			got[i].Answer, got[i].known, err = s.one(ctx, t)
			mu.Lock()
			defer mu.Unlock()
			if so[t.key()] = got[i].Verdict; len(so) == len(trials) || err != nil {
				cancel()
			}
			return err
		})
	}
	for range s.workers() - 1 {
		if s.Ahead == nil || likely == nil {
			break
		}
		p.Go(func(context.Context) error {
			for idle.Err() == nil {
				mu.Lock()
				next := slices.DeleteFunc(likely(so), func(t Trial) bool { return ready[t.key()] })
				if len(next) > 0 {
					ready[next[0].key()] = true
				}
				mu.Unlock()
				if len(next) == 0 {
					return nil
				}
				s.Ahead(idle, next[0])
			}
			return nil
		})
	}
	if err := p.Wait(); err != nil {
		return err
	}
	tests := 0
	for i, t := range trials {
		s.memo[t.key()] = &got[i]
		if got[i].known {
			s.cost.Known++
		} else {
			tests++
		}
	}
	s.cost.Tests += tests
	s.cost.Rounds += (tests + s.workers() - 1) / s.workers()
	return nil
}

// use is an answer that was fetched.
func (s *Search) use(t Trial) Answer {
	r := s.memo[t.key()]
	if !r.used && s.Event != nil {
		s.Event(t, r.Answer, r.known)
	}
	r.used = true
	return r.Answer
}

// one answers a trial from the journal, or else by a test whose answer is noted before anybody sees it.
func (s *Search) one(ctx context.Context, t Trial) (a Answer, known bool, err error) {
	if err := ctx.Err(); err != nil {
		return a, false, err
	}
	if s.Journal != nil {
		if a, known, err = s.Journal.Known(ctx, t); known || err != nil {
			return a, known, err
		}
	}
	if a, err = s.Test(ctx, t); err != nil {
		return a, false, err
	}
	switch a.Verdict {
	case Good, Bad, Skip:
	default:
		return a, false, fmt.Errorf("a test said %q, which is no verdict", a.Verdict)
	}
	if s.Journal != nil {
		err = s.Journal.Note(ctx, t, a)
	}
	return a, false, err
}

// ErrTooFew says that an axis has no change: it takes two points.
var ErrTooFew = errors.New("a bisection needs at least two points")

// EndsError says that the two ends do not differ, so that nothing between them decides.
type EndsError struct{ First, Last Answer }

func (e *EndsError) Error() string {
	if e.First.Verdict == e.Last.Verdict && e.First.Verdict != Skip {
		return fmt.Sprintf("the first and the last are both %s: there is nothing to bisect", e.First.Verdict)
	}
	if e.First.Verdict == Skip {
		return "the first cannot be tested" + because(e.First)
	}
	return "the last cannot be tested" + because(e.Last)
}

func because(a Answer) string {
	if a.Text == "" {
		return ""
	}
	return ": " + a.Text
}

package minify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"whittle/replay"
)

// An Oracle runs one candidate and says what happened. It knows nothing of the search. It is called from
// several goroutines; an error counts as an outcome of the infrastructure.
type Oracle interface {
	Run(ctx context.Context, c Candidate) (replay.Outcome, error)
}

// OracleFunc makes a function an Oracle.
type OracleFunc func(ctx context.Context, c Candidate) (replay.Outcome, error)

// Run calls f.
func (f OracleFunc) Run(ctx context.Context, c Candidate) (replay.Outcome, error) { return f(ctx, c) }

// Values is what an engine knows of the values in a state's graph: what a call becomes when it is turned into an input.
type Values interface {
	// Explore runs s eagerly, once, and holds the value of every placeholder, constant and call under the name prefix + node name, for
	// as long as the engine lives. The result has what each looks like, by node name. Names may be missing:
	// after an error the values so far are returned with it.
	Explore(ctx context.Context, s State, prefix string) (map[string]Held, error)
	// Elements reads the elements of a held tensor, row-major, as Python literals. It is meant for small ones.
	Elements(ctx context.Context, name string) ([]string, error)
}

// Held is what one held value looks like.
type Held struct {
	// Value is a fake *tensor.Tensor, int64, float64, bool, nil, or a []any of these for a call with several results. Fakes
	// whose values share memory share their storage.
	Value any
	Hash  string // of the content; "" for what is no tensor
}

// Search is one minification. Fill the first group of fields, then call Run once.
type Search struct {
	Oracle Oracle
	Values Values                                   // nil => eager execution by package aten
	Check  func(ctx context.Context, s State) error // static check; nil => shape propagation where it works for the start
	Store  *replay.Store                            // nil => nothing outlives the search
	Render func(s State) string                     // repro text for the store; nil => the module's text

	// Steady reports whether failures like this come every time or never: then the result is not run again only to see whether they do.
	// nil => none are taken to.
	Steady func(sig replay.Signature) bool

	// Together says how many small candidates the oracle runs for little more than the price of one, in a search for failures like this: they are
	// one question. nil => 1.
	Together func(sig replay.Signature) int

	// Once says that a start which passes does not fail, with no more runs of it to see whether the failure comes and goes: for one of several starts, when
	// that was looked for in another.
	Once bool

	Suspects    []string  // calls to try after those, best first: where the executions part, for accuracy
	AnyWrong    bool      // accuracy: every difference counts, so that the first call to compute another value is at fault, be it that no result shows it
	Workarounds []Setting // settings that may make the failure go away; tried on the result, alone and in pairs

	Want        replay.Signature // the failure looked for; zero => the start's own
	Seen        replay.Signature // the failure as the program showed it: a start that fails in another way is NotFailing; zero => any will do
	Fingerprint string           // of the engine: part of every query's identity
	Workers     int              // queries at a time; 0 => 1. The result does not depend on it
	Round       int              // candidates per round; 0 => 8. The result does depend on it
	MaxQueries  int              // stop after so many questions to the oracle; 0 => no limit. What was asked in vain does not count
	Deadline    time.Time        // stop the reductions then, prove what is there, and return it without an error; zero => no limit
	Confirm     int              // proofs of the result in fresh processes; 0 => 1

	Resume bool // only go on with a search that the store has and that did not end: ErrNothingToResume otherwise

	FindingQueries int // questions spent on small repros of other failures, all together; 0 => none

	Progress func(Progress)   // called from one goroutine at a time
	Event    func(Event)      // likewise; the order and content, times aside, do not depend on the number of workers
	Now      func() time.Time // nil => time.Now

	without map[string]bool // rows that tests take out of the table
}

// Progress is a search's state for a live line.
type Progress struct {
	Reduction string
	Nodes     int // calls left
	Queries   int // asked of the oracle
	CacheHits int
	Elapsed   time.Duration
}

// Result is what a search found. After a cancelled or broken search it holds the best so far.
type Result struct {
	State       State
	Start, Cost Cost
	Signature   replay.Signature
	Outcome     replay.Outcome // of State, proved again at the end where Complete
	Complete    bool           // 1-minimal for all reductions, as far as Certificate says what was asked Earlier, and confirmed
	Confirmed   int            // times that State failed in a fresh process
	Queries     int            // questions to the oracle whose answers were used: of one candidate, or of several together; the same for any number of workers
	Candidates  int            // whose outcomes were used
	Ahead       int            // candidates that were run before it was known that they would be needed, and were not
	CacheHits   int
	Rejected    int // by the static check
	Steps       []replay.Step
	Certificate []Trial // the last sweep: nothing more goes
	Findings    []Finding
	ID          int64 // of the minification in the store, 0 without one
	Resumed     bool

	Workaround []Setting // makes the failure go away; nil for none known
	Stopped    string    // why the search ended early: "deadline"; "" if it did not
	Partial    error     // why not all values of the start's graph are known, so that fewer of its calls were tried as inputs; nil if they are
	Off        []string  // reductions switched off because too many of their candidates hung

	// How often the failure comes, where it is flaky; all 0 where it is not. A candidate then counts as passing when the odds
	// that it has the failure are below 0.001.
	Rate, FalseRate float64 // the share of runs that fail, of a state with the failure and of one without
	Runs, FalseRuns int     // what they were measured on
}

// EventKind says what an Event is about.
type EventKind string

// The kinds of events.
const (
	EventStart   EventKind = "start"   // the start fails
	EventTaken   EventKind = "taken"   // an edit was adopted
	EventFinding EventKind = "finding" // another failure
	EventFlaky   EventKind = "flaky"   // the failure comes and goes
	EventConfirm EventKind = "confirm" // one run of the result in a fresh process
	EventDone    EventKind = "done"
)

// Event is one thing that happened in a search.
type Event struct {
	Kind         EventKind
	Reduction    string // row under way
	Edit         string
	Before, Cost Cost // before the edit, and now
	Outcome      replay.Outcome
	Verdict      replay.Verdict
	Rate         float64 // of flaky
	FalseRate    float64
	Used         int // answers used so far
	Elapsed      time.Duration
	Hash         string // of the best state's identity
	ID           int64  // start: of the minification in the store, 0 without one
	Resumed      bool   // start: it was begun before
	Run, Of      int    // confirm: the number of the run, from 1, and how many there will be
}

// Trial is one line of the certificate.
type Trial struct {
	Reduction string         `json:"reduction"`
	Edit      string         `json:"edit"`
	Verdict   replay.Verdict `json:"verdict"`
	Earlier   bool           `json:"earlier,omitempty"` // asked before the last edits of finer things: inputs' contents, arguments, settings
}

// Finding is another failure met on the way.
type Finding struct {
	State   State
	Outcome replay.Outcome
}

// NotFailingError says that the start state does not fail, or not with the failure looked for.
type NotFailingError struct {
	Outcome replay.Outcome
	Want    replay.Signature // zero for any failure
	Runs    int
}

func (e *NotFailingError) Error() string {
	return "the repro did not fail again here, because " + e.why()
}

func (e *NotFailingError) why() string {
	first, _, _ := strings.Cut(e.Outcome.Message, "\n")
	switch e.Outcome.Status {
	case replay.Pass:
		s := "it ran without an error"
		if e.Want.Stage == "accuracy" {
			s = "what it computed is close enough to eager"
		}
		if e.Runs > 1 {
			s += fmt.Sprintf(", %d times out of %d", e.Runs, e.Runs)
		}
		if first != "" {
			s += " (" + first + ")"
		}
		return s
	case replay.Invalid:
		return "it says nothing about the compiler: " + first
	case replay.Infrastructure:
		return "the engine gave no answer: " + first
	}
	return fmt.Sprintf("it failed in another way: %s, and not with %s", e.Outcome.Signature, e.Want)
}

// UnconfirmedError says that the end state did not fail again when proved in a fresh process: the failure is not deterministic.
type UnconfirmedError struct{ Outcome replay.Outcome }

func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("the result did not fail again in a fresh process: it gives %q", e.Outcome.Status)
}

func (s *Search) render(st State) string {
	if s.Render != nil {
		return s.Render(st)
	}
	return st.Module.String()
}

// Run searches. The result is meaningful with an error, too, when the error is ctx's or the budget's.
func (s *Search) Run(ctx context.Context, start State) (Result, error) {
	if n := len(start.Module.Graph.Placeholders()); n != len(start.Inputs) {
		return Result{}, fmt.Errorf("minify: %d placeholders, %d inputs", n, len(start.Inputs))
	}
	if err := start.Module.Graph.Lint(); err != nil {
		return Result{}, err
	}
	d := newDriver(s, start)
	err := d.run(ctx)
	d.close()
	return d.result(), err
}

// ErrNothingToResume says that the store has no such search that was stopped.
var ErrNothingToResume = errors.New("minify: there is no interrupted search of this repro to go on with")

// ErrBudget ends a search whose MaxQueries are used up.
var ErrBudget = errors.New("minify: the budget of queries is used up")

func certificateText(ts []Trial) string {
	b, err := json.Marshal(ts)
	if err != nil {
		return "[]"
	}
	return string(b)
}

package cli

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"whittle/replay"
	"whittle/repros/engine"
)

// An eventWriter writes the stream of `whittle minify --json`: one JSON object a line, each with these fields first:
//
//	event       start, taken, finding, flaky, confirm or done
//	elapsed_ms  since start
//
// and then those of its kind:
//
//	start    id (of the minification in the store, 0 without one), file, engine, kept (the engine was kept warm: see whittle engine), resumed, signature, cost
//	taken    reduction, edit, before (cost), cost, answers (used so far, cached ones included): a candidate became the best state
//	finding  signature, message, repro (where it was written, "" for nowhere): another failure
//	flaky    rate, runs, false_rate, false_runs: the failure comes and goes; the share of runs that fail, with it and without it
//	confirm  run, of (how many are asked for), verdict: one proof of the result in a fresh process
//	done     id, file, status, signature, start, cost, queries (to the engine), candidates (that they were about), cache_hits, rejected, findings, repro (paths), standalone, error, floor_ms, spent_ms
//
// floor_ms is the time that no search could have saved, 0 where the store had the answers; spent_ms has, by kind (engine.Kinds), what the time from before
// the engine's start went to. A signature has stage, type, message, frame and output, each left out when empty. A cost has calls, outputs, inputs,
// settings, elements and complexity. status is minimal (1-minimal, and proved), interrupted (the best so far), unconfirmed (the
// result did not fail again) or failed (there is no result; error says why). Of each file, done comes last, once; start comes first, unless there
// was nothing to start with. Apart from times, from where the engine came from, and from how many answers done counts as cached, two runs of one search write the same lines.
//
// Methods may be called from several goroutines. The first error of the writer below ends the stream: see Err.
type eventWriter struct {
	mu    sync.Mutex
	w     io.Writer
	now   func() time.Time
	began time.Time
	err   error
}

// newEventWriter begins a stream; now is the clock.
func newEventWriter(w io.Writer, now func() time.Time) *eventWriter {
	return &eventWriter{w: w, now: now, began: now()}
}

// Err is the first error of the writer below, nil while there is none.
func (e *eventWriter) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// The kinds of events. Their fields are documented at eventWriter.
type (
	startEvent struct {
		ID        int64            `json:"id"`
		File      string           `json:"file"`
		Engine    string           `json:"engine"`
		Kept      bool             `json:"kept"`
		Resumed   bool             `json:"resumed"`
		Signature replay.Signature `json:"signature"`
		Cost      replay.Cost      `json:"cost"`
	}
	takenEvent struct {
		Reduction string      `json:"reduction"`
		Edit      string      `json:"edit"`
		Before    replay.Cost `json:"before"`
		Cost      replay.Cost `json:"cost"`
		Answers   int         `json:"answers"`
	}
	findingEvent struct {
		Signature replay.Signature `json:"signature"`
		Message   string           `json:"message"`
		Repro     string           `json:"repro"`
	}
	flakyEvent struct {
		Rate      float64 `json:"rate"`
		Runs      int     `json:"runs"`
		FalseRate float64 `json:"false_rate"`
		FalseRuns int     `json:"false_runs"`
	}
	confirmEvent struct {
		Run     int            `json:"run"` // from 1
		Of      int            `json:"of"`
		Verdict replay.Verdict `json:"verdict"`
	}
	doneEvent struct {
		ID         int64            `json:"id"`
		File       string           `json:"file"`
		Status     doneStatus       `json:"status"`
		Signature  replay.Signature `json:"signature"`
		Start      replay.Cost      `json:"start"`
		Cost       replay.Cost      `json:"cost"`
		Queries    int              `json:"queries"`
		Candidates int              `json:"candidates"`
		CacheHits  int              `json:"cache_hits"`
		Rejected   int              `json:"rejected"`
		Findings   int              `json:"findings"`
		Repro      string           `json:"repro"`
		Standalone string           `json:"standalone"`
		Error      string           `json:"error"`
		Floor      int64            `json:"floor_ms"`
		Spent      map[string]int64 `json:"spent_ms"`
	}
)

// milliseconds is how long each kind of engine.Kinds took.
func milliseconds(spent map[string]time.Duration) map[string]int64 {
	out := map[string]int64{}
	for _, kind := range engine.Kinds {
		out[kind] = spent[kind].Milliseconds()
	}
	return out
}

// doneStatus is how a search ended.
type doneStatus string

// The statuses.
const (
	doneMinimal     doneStatus = "minimal"
	doneInterrupted doneStatus = "interrupted"
	doneUnconfirmed doneStatus = "unconfirmed"
	doneFailed      doneStatus = "failed"
)

func (e *eventWriter) start(v startEvent)     { e.write("start", v) }
func (e *eventWriter) taken(v takenEvent)     { e.write("taken", v) }
func (e *eventWriter) finding(v findingEvent) { e.write("finding", v) }
func (e *eventWriter) flaky(v flakyEvent)     { e.write("flaky", v) }
func (e *eventWriter) confirm(v confirmEvent) { e.write("confirm", v) }
func (e *eventWriter) done(v doneEvent)       { e.write("done", v) }

// write puts one line out, whole: lines of several goroutines never mix.
func (e *eventWriter) write(kind string, v any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return
	}
	head, err := json.Marshal(struct {
		Event   string `json:"event"`
		Elapsed int64  `json:"elapsed_ms"`
	}{kind, e.now().Sub(e.began).Milliseconds()})
	if err == nil {
		var body []byte
		if body, err = json.Marshal(v); err == nil {
			line := append(head[:len(head)-1], ',')
			line = append(append(line, body[1:]...), '\n')
			_, err = e.w.Write(line)
		}
	}
	e.err = err
}

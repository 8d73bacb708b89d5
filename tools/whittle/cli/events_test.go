package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/conc/pool"

	"whittle/replay"
)

// clock ticks a second at each look.
func clock() func() time.Time {
	t := time.Unix(0, 0)
	return func() time.Time { t = t.Add(time.Second); return t }
}

func TestEventsAreLines(t *testing.T) {
	var b bytes.Buffer
	e := newEventWriter(&b, clock())
	sig := replay.Signature{Stage: "compile", Type: "AssertionError", Message: "a\nb"}
	e.start(startEvent{ID: 3, File: "repro.py", Engine: "torch", Signature: sig, Cost: replay.Cost{Calls: 400, Elements: 1 << 40}})
	e.taken(takenEvent{Reduction: "cut", Edit: "cut 7 calls", Before: replay.Cost{Calls: 14}, Cost: replay.Cost{Calls: 7}, Answers: 5})
	e.flaky(flakyEvent{Rate: 0.5, Runs: 20})
	e.finding(findingEvent{Signature: replay.Signature{Stage: "run"}, Message: "other", Repro: "finding1.py"})
	e.confirm(confirmEvent{Run: 1, Of: 2, Verdict: replay.Reproduced})
	e.done(doneEvent{ID: 3, File: "repro.py", Status: doneMinimal, Signature: sig, Cost: replay.Cost{Calls: 1}, Queries: 9, Findings: 1, Repro: "out.py", Floor: 8800,
		Spent: milliseconds(map[string]time.Duration{"start": 4100 * time.Millisecond, "C++": 3 * time.Second})})
	want := `{"event":"start","elapsed_ms":1000,"id":3,"file":"repro.py","engine":"torch","kept":false,"resumed":false,"signature":{"stage":"compile","type":"AssertionError","message":"a\nb"},"cost":{"calls":400,"outputs":0,"inputs":0,"settings":0,"elements":1099511627776,"complexity":0}}
{"event":"taken","elapsed_ms":2000,"reduction":"cut","edit":"cut 7 calls","before":{"calls":14,"outputs":0,"inputs":0,"settings":0,"elements":0,"complexity":0},"cost":{"calls":7,"outputs":0,"inputs":0,"settings":0,"elements":0,"complexity":0},"answers":5}
{"event":"flaky","elapsed_ms":3000,"rate":0.5,"runs":20,"false_rate":0,"false_runs":0}
{"event":"finding","elapsed_ms":4000,"signature":{"stage":"run"},"message":"other","repro":"finding1.py"}
{"event":"confirm","elapsed_ms":5000,"run":1,"of":2,"verdict":"reproduced"}
{"event":"done","elapsed_ms":6000,"id":3,"file":"repro.py","status":"minimal","signature":{"stage":"compile","type":"AssertionError","message":"a\nb"},"start":{"calls":0,"outputs":0,"inputs":0,"settings":0,"elements":0,"complexity":0},"cost":{"calls":1,"outputs":0,"inputs":0,"settings":0,"elements":0,"complexity":0},"queries":9,"candidates":0,"cache_hits":0,"rejected":0,"findings":1,"repro":"out.py","standalone":"","error":"","floor_ms":8800,"spent_ms":{"C++":3000,"eager":0,"idle":0,"lowering":0,"python":0,"run":0,"start":4100,"transfer":0}}
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	if e.Err() != nil {
		t.Error(e.Err())
	}
}

func TestEventsOfManyGoroutinesDoNotMix(t *testing.T) {
	var b bytes.Buffer
	e := newEventWriter(&b, time.Now)
	p := pool.New()
	for i := range 8 {
		p.Go(func() {
			for range 50 {
				e.taken(takenEvent{Edit: strings.Repeat("x", 100*i), Answers: i})
			}
		})
	}
	p.Wait()
	n := 0
	for sc := bufio.NewScanner(&b); sc.Scan(); n++ {
		var v struct {
			Event, Edit string
			Answers     int
		}
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil || v.Event != "taken" || len(v.Edit) != 100*v.Answers {
			t.Fatal(err, sc.Text())
		}
	}
	if n != 400 {
		t.Error(n)
	}
}

// failing refuses everything after so many writes.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("closed")
	}
	return len(p), nil
}

func TestEventsStopAtTheFirstError(t *testing.T) {
	f := &failing{left: 1}
	e := newEventWriter(f, clock())
	for range 4 {
		e.confirm(confirmEvent{})
	}
	if e.Err() == nil || f.left != -1 {
		t.Error(e.Err(), f.left)
	}
}

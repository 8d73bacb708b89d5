package reduce

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
)

func TestVariants(t *testing.T) {
	s := minify.State{Module: &fx.GraphModule{Graph: fx.NewGraph()}, Inputs: []minify.Input{{Value: int64(1), RequiresGrad: true}, {Value: int64(2)}}}
	got := variants(s)
	if len(got) != 2 || got[1].Inputs[0].RequiresGrad || !s.Inputs[0].RequiresGrad {
		t.Errorf("%+v", got)
	}
	if got := variants(got[1]); len(got) != 1 {
		t.Errorf("%d variants of a state without gradients", len(got))
	}
}

// The second variant is asked about beside the first run of the first, or where idle candidates do not yield beside the second, once, and what is learnt is the
// answer to its first question. Where the first fails after all nobody waits for it.
func TestRelay(t *testing.T) {
	for _, yields := range []bool{false, true} {
		testRelay(t, yields)
	}
}

func testRelay(t *testing.T, yields bool) {
	from := 1
	if yields {
		from = 0
	}
	starts := variants(minify.State{Module: &fx.GraphModule{Graph: fx.NewGraph()}, Inputs: []minify.Input{{Value: int64(1), RequiresGrad: true}}})
	for _, fails := range []bool{false, true} {
		began, asked := make(chan bool, 1), 0
		var mu sync.Mutex
		r := newRelay(t.Context(), func(ctx context.Context, c minify.Candidate) (replay.Outcome, error) {
			if c.State.Inputs[0].RequiresGrad {
				if c.Attempt == from {
					<-began
				}
				return replay.Outcome{Status: replay.Pass}, nil
			}
			mu.Lock()
			asked++
			mu.Unlock()
			began <- true
			if fails {
				<-ctx.Done() // it takes longer than the first
				return replay.Outcome{}, ctx.Err()
			}
			return replay.Outcome{Status: replay.Failed}, nil
		}, yields, starts)
		for attempt := range 3 {
			if o, err := r.Run(t.Context(), minify.Candidate{State: starts[0], Reduction: "start", Attempt: attempt}); err != nil || o.Status != replay.Pass || attempt < from && asked != 0 {
				t.Fatal(o, err, asked)
			}
		}
		if fails {
			r.close()
			continue
		}
		for attempt := range 2 { // the second attempt is a question of its own
			if o, err := r.Run(t.Context(), minify.Candidate{State: starts[1], Reduction: "start", Attempt: attempt}); err != nil || o.Status != replay.Failed || asked != 1+attempt {
				t.Fatal(o, err, asked)
			}
		}
		r.close()
	}
}

func TestAddBackend(t *testing.T) {
	r := &repros.Repro{Stage: repros.AfterDynamo, Backend: "picky"}
	if !NeedsBackend(r) || NeedsBackend(&repros.Repro{Stage: repros.AfterDynamo, Backend: "inductor"}) || NeedsBackend(&repros.Repro{Stage: repros.AfterAOT}) {
		t.Error("which repros need a backend")
	}
	if err := AddBackend(r, "p.py", "import os\nLIMIT = 3\ndef picky(gm, inputs):\n    return LIMIT\nprint(os)\n"); err != nil {
		t.Fatal(err)
	}
	want := "import torch._dynamo\nLIMIT = 3\ndef picky(gm, inputs):\n    return LIMIT\ntorch._dynamo.register_backend(picky)"
	if diff := cmp.Diff(want, r.Preamble); diff != "" || NeedsBackend(r) {
		t.Error(diff)
	}
	if err := AddBackend(r, "p.py", "import os\n"); err == nil || !strings.Contains(err.Error(), "picky") {
		t.Error(err)
	}
}

func TestTime(t *testing.T) {
	spent := map[string]time.Duration{engine.OnStart: 4100 * time.Millisecond, engine.OnCompiler: 3 * time.Second, engine.OnPython: 5 * time.Second, engine.OnRun: 49 * time.Millisecond, engine.OnIdle: 151 * time.Millisecond}
	for _, c := range []struct {
		r    Report
		want string
	}{
		{Report{Elapsed: 12300 * time.Millisecond, Floor: 8800 * time.Millisecond, Spent: spent}, "12.3 s, 1.4 times its floor of 8.8 s (python 5.0, start 4.1, C++ 3.0, idle 0.2)"},
		{Report{Elapsed: time.Second, Spent: map[string]time.Duration{engine.OnIdle: time.Second}}, "1.0 s (idle 1.0)"},
		{Report{Elapsed: time.Millisecond}, "0.0 s"},
	} {
		if diff := cmp.Diff(c.want, c.r.Time()); diff != "" {
			t.Error(diff)
		}
	}
}

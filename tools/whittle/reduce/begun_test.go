package reduce

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
)

// loader is an engine that can load one start, and run it.
type loader struct {
	engine.Engine
	loads int
	err   error // of the first Load
	run   func(ctx context.Context, c minify.Candidate) (replay.Outcome, error)
}

func (l *loader) Load(context.Context, *repros.Repro, string) (minify.State, error) {
	l.loads++
	if l.loads == 1 && l.err != nil {
		return minify.State{}, l.err
	}
	return minify.State{Module: &fx.GraphModule{Graph: fx.NewGraph()}}, nil
}

func (l *loader) Run(ctx context.Context, _ *repros.Repro, c minify.Candidate) (replay.Outcome, error) {
	return l.run(ctx, c)
}

// What is begun before its search is loaded once, and run on idle processors. Its outcome counts where the search would have seen the same: not where a limit
// of time or memory ended the run, which others' work may have brought about, nor where the machine is at fault.
func TestBegin(t *testing.T) {
	fails := replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Type: "RuntimeError"}}
	for _, c := range []struct {
		name  string
		out   replay.Outcome
		err   error // of the run
		load  error
		known bool
		loads int
	}{
		{"fails", fails, nil, nil, true, 1},
		{"passes", replay.Outcome{Status: replay.Pass}, nil, nil, true, 1},
		{"too slow", replay.Outcome{Status: replay.Timeout}, nil, nil, false, 1},
		{"too large", replay.Outcome{Status: replay.OOM}, nil, nil, false, 1},
		{"a full disk", replay.Outcome{Status: replay.Infrastructure, Message: "[Errno 28] No space left on device"}, nil, nil, false, 1},
		{"no answer", replay.Outcome{}, errors.New("gone"), nil, false, 1},
		{"not loaded", fails, nil, errors.New("busy"), false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &loader{err: c.load, run: func(_ context.Context, x minify.Candidate) (replay.Outcome, error) {
				if !x.Idle || x.Reduction != "start" {
					t.Errorf("%+v", x)
				}
				return c.out, c.err
			}}
			then := false
			b := Begin(t.Context(), l, &repros.Repro{}, "", func() { then = true })
			defer b.Close()
			start, out, err := Options{Engine: l, Begun: b}.load(t.Context())
			if !then || !b.Ended() {
				t.Error("not ended")
			}
			if err != nil || start.Module == nil || (out != nil) != c.known || l.loads != c.loads {
				t.Fatal(start, out, err, l.loads)
			}
			if c.known {
				if diff := cmp.Diff(c.out, *out); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// One that nobody comes to any more is stopped.
func TestCloseBegun(t *testing.T) {
	b := Begin(t.Context(), &loader{run: func(ctx context.Context, _ minify.Candidate) (replay.Outcome, error) {
		<-ctx.Done()
		return replay.Outcome{}, ctx.Err()
	}}, &repros.Repro{}, "", func() {})
	if b.Ended() {
		t.Error("ended")
	}
	b.Close()
	if _, out, _ := b.loaded(); out != nil {
		t.Error(out)
	}
}

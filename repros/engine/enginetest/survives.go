package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"

	"whittle/repros/engine"
)

// A Plan says how many engines live, and what happens in the life of each.
type Plan struct {
	Lives   int // engines, one after the other, AtOnce at a time
	AtOnce  int
	Workers int // of each engine: goroutines that ask
	Asks    int // of each worker
	// Start starts one engine, whose processes misbehave as rng has it. dir is a folder of its own. It is called again until it succeeds.
	Start func(ctx context.Context, dir string, seed uint64, rng *rand.Rand) (Subject, error)
}

// A Subject is an engine under test.
type Subject struct {
	// Ask asks one thing, which rng chooses. The error is nil for the right answer, wraps a *WrongAnswer for another one, and is the engine's
	// otherwise.
	Ask   func(ctx context.Context, rng *rand.Rand, name string) error
	Known func(err error) bool // whether the engine may give this error; those of a context and of Close are known
	Kill  func()               // somebody else kills a process of it; nil => nobody does
	Close func() error
	Left  func() error // what it must not leave behind when it was closed after its work; nil => nothing more
}

// WrongAnswer is the one thing that must not be.
type WrongAnswer struct{ Got, Want string }

func (w *WrongAnswer) Error() string { return fmt.Sprintf("the answer %q, not %q", w.Got, w.Want) }

// Survives has all engines of a plan live. Every answer is right or an error that is known, all come, an engine that was not closed
// meanwhile is as good as new at its end, and nothing is left behind: no goroutine, no process, no open file. $WHITTLE_TEST_SEED is the seed of
// the first.
func Survives(t *testing.T, p Plan) {
	seed := uint64(1)
	if text := os.Getenv("WHITTLE_TEST_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("WHITTLE_TEST_SEED=%d", seed)
	var right, wrong atomic.Int64
	if err := p.life(t.TempDir(), seed, &right, &wrong); err != nil { // the runtime makes what it keeps
		t.Fatal(err)
	}
	before := Held(t)
	home, begin := t.TempDir(), time.Now()
	lives := pool.New().WithMaxGoroutines(p.AtOnce).WithErrors()
	for i := range p.Lives {
		lives.Go(func() error {
			dir := filepath.Join(home, fmt.Sprint(i))
			if err := os.Mkdir(dir, 0o777); err != nil {
				return err
			}
			var err error
			Watched(fmt.Sprintf("seed %d, life %d", seed, i), func() { err = p.life(dir, seed+uint64(i), &right, &wrong) })
			if err != nil {
				return fmt.Errorf("life %d: %w", i, err)
			}
			return nil
		})
	}
	if err := lives.Wait(); err != nil {
		t.Error(err)
	}
	r, w := right.Load(), wrong.Load()
	t.Logf("%d right answers, %d errors, %v", r, w, time.Since(begin))
	if r < 2*w {
		t.Errorf("%d answers are right, %d are errors: the engine does not recover", r, w)
	}
	before.Again(t)
}

// life is that of one engine.
func (p Plan) life(dir string, seed uint64, right, wrong *atomic.Int64) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	var s Subject
	if err := Patiently(func(ctx context.Context) (err error) {
		if rng.IntN(20) == 0 {
			var cancel func()
			ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(60))*time.Millisecond)
			defer cancel()
		}
		s, err = p.Start(ctx, dir, seed, rng)
		return err
	}); err != nil {
		return err
	}
	defer s.Close()
	closes := rng.IntN(8) == 0
	errs := make([]error, p.Workers)
	var wg conc.WaitGroup
	for w := range p.Workers {
		rng := rand.New(rand.NewPCG(seed, uint64(2+w)))
		wg.Go(func() {
			for k := range p.Asks {
				ctx, cancel := context.WithCancel(context.Background())
				hurried := rng.IntN(6) == 0
				if hurried {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(30))*time.Millisecond)
				}
				err := s.Ask(ctx, rng, fmt.Sprintf("%d-%d", w, k))
				cancel()
				if err == nil {
					right.Add(1)
					continue
				}
				wrong.Add(1)
				var bad *WrongAnswer
				known := hurried && errors.Is(err, ctx.Err()) || closes && errors.Is(err, engine.ErrClosed) || s.Known(err)
				if errors.As(err, &bad) || !known {
					errs[w] = errors.Join(errs[w], err)
				}
			}
		})
	}
	killed, closed := time.Duration(rng.IntN(40))*time.Millisecond, time.Duration(rng.IntN(40))*time.Millisecond
	if s.Kill != nil && rng.IntN(3) == 0 {
		wg.Go(func() {
			time.Sleep(killed)
			s.Kill()
		})
	}
	if closes {
		wg.Go(func() {
			time.Sleep(closed)
			_ = s.Close()
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if closes {
		return s.Close()
	}
	last := rand.New(rand.NewPCG(seed, 100))
	if err := Patiently(func(ctx context.Context) error { return s.Ask(ctx, last, "last") }); err != nil {
		return err
	}
	if err := s.Close(); err != nil || s.Left == nil {
		return err
	}
	return s.Left()
}

// Patiently calls f until it succeeds. The error is the last one, when that takes longer than anything may.
func Patiently(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		err := f(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// Watched runs f. Where it does not return in two minutes, the test ends with all stacks.
func Watched(name string, f func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(2*time.Minute, func() {
		select {
		case <-done:
		default:
			fmt.Fprintf(os.Stderr, "%s: a deadlock\n", name)
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
			os.Exit(2)
		}
	})
	defer timer.Stop()
	f()
	close(done)
}

// Holding is what this process holds of the system.
type Holding struct {
	Goroutines, Files int      // Files are descriptors
	Children          []string // process numbers
}

// Held is what this process holds now.
func Held(t testing.TB) Holding {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	h := Holding{Goroutines: runtime.NumGoroutine(), Files: len(fds)}
	for _, f := range tasks {
		if b, err := os.ReadFile(f); err == nil {
			h.Children = append(h.Children, strings.Fields(string(b))...)
		}
	}
	return h
}

// Again waits until the process holds no more than it did, and no children; the test fails where that does not come. The runtime's own
// goroutines and descriptors go a little later than what they were for.
func (h Holding) Again(t testing.TB) {
	var now Holding
	for range 200 {
		now = Held(t)
		if now.Goroutines <= h.Goroutines && now.Files <= h.Files && len(now.Children) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
	t.Errorf("left behind: %d goroutines of %d, %d descriptors of %d, processes %v", now.Goroutines, h.Goroutines, now.Files, h.Files, now.Children)
}

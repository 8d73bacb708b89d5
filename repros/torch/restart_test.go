package torch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"

	"whittle/replay"
)

// far are the options of an engine whose far side is this test binary.
func far(t testing.TB, s farSpec) Options {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	stage := 150 * time.Millisecond
	return Options{Command: []string{self}, Env: []string{farSideEnv + "=" + string(text)},
		Limits: Limits{Load: stage, Eager: stage, Compile: stage, Run: stage, Start: 2 * time.Second, Silence: 400 * time.Millisecond, Grace: 40 * time.Millisecond}}
}

// open is what this process holds of the system: goroutines, file descriptors, children.
func open(t testing.TB) (goroutines, files int, children []string) {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tasks {
		if b, err := os.ReadFile(f); err == nil {
			children = append(children, strings.Fields(string(b))...)
		}
	}
	return runtime.NumGoroutine(), len(fds), children
}

// patiently calls f until it succeeds. The error is the last one, with all stacks, when that takes longer than anything may.
func patiently(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		err := f(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// watched runs f. Where it does not return, the test ends with all stacks.
func watched(name string, f func()) {
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

// Each fault at each step, alone: an engine whose first far side has it gives the right answer in the end.
func TestEachFaultAtEachStep(t *testing.T) {
	p := pool.New().WithMaxGoroutines(16)
	home := t.TempDir()
	one := func(step, fault string) {
		p.Go(func() {
			dir := filepath.Join(home, step, fault)
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Error(err)
				return
			}
			watched(step+", "+fault, func() {
				o := far(t, farSpec{Home: dir, Bad: 1, Step: step, Fault: fault})
				var e *Engine
				if err := patiently(func(ctx context.Context) (err error) { e, err = Start(ctx, o); return err }); err != nil {
					t.Errorf("%s, %s: %v", step, fault, err)
					return
				}
				defer e.Close()
				hurried, cancel := context.WithTimeout(context.Background(), time.Millisecond) // there is something to cancel
				defer cancel()
				_, _ = e.Run(hurried, Query{Text: "cancelled"})
				if err := patiently(func(ctx context.Context) error {
					_, err := e.Explore(ctx, Query{Text: "explored"}, []string{"a", "b"})
					return err
				}); err != nil {
					t.Errorf("%s, %s: %v", step, fault, err)
				}
				for seed := range uint64(12) {
					rng := rand.New(rand.NewPCG(seed, 0))
					if err := patiently(func(ctx context.Context) error {
						err := farAsk(ctx, e, rng, fmt.Sprint(seed))
						var bad *wrongAnswer
						if errors.As(err, &bad) {
							t.Errorf("%s, %s: %v", step, fault, err)
						}
						return err
					}); err != nil {
						t.Errorf("%s, %s: %v", step, fault, err)
					}
				}
			})
		})
	}
	for _, fault := range farEnds {
		for _, step := range farStarts {
			one(step, fault)
		}
	}
	for _, fault := range append(farTalks, farEnds...) {
		for _, step := range farJobs {
			one(step, fault)
		}
	}
	p.Wait()
}

// Who waits for a start that takes long may give up; the start goes on for the others, and for those who come later.
func TestOneStartForAll(t *testing.T) {
	o := far(t, farSpec{Home: t.TempDir()})
	e, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	first := e.last
	first.fail(errors.New("the test is over it"))
	gaveUp, cancel := context.WithCancel(context.Background())
	cancel()
	p := pool.New().WithErrors()
	for i := range 16 {
		p.Go(func() error {
			ctx := context.Background()
			if i%2 == 0 {
				ctx = gaveUp
			}
			q, err := e.process(ctx)
			if i%2 == 0 && errors.Is(err, context.Canceled) {
				return nil
			}
			if err == nil && q == first {
				err = errors.New("a dead process")
			}
			return err
		})
	}
	if err := p.Wait(); err != nil || e.Started() != 2 {
		t.Errorf("%v, %d Pythons were started", err, e.Started())
	}
}

// After a start that failed, the next call tries again, and Close does not wait for ever.
func TestCallsAfterAFailedStart(t *testing.T) {
	home := t.TempDir()
	e, err := Start(context.Background(), far(t, farSpec{Home: home}))
	if err != nil {
		t.Fatal(err)
	}
	good := e.o.Command
	e.o.Command = []string{"/no/such/python"}
	e.last.fail(errors.New("the test is over it"))
	for range 3 {
		if _, err := e.Run(context.Background(), Query{Text: "x"}); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Error(err)
		}
	}
	e.o.Command = good
	if o, err := e.Run(context.Background(), Query{Text: "x"}); err != nil || o.Status != replay.Pass {
		t.Errorf("%v %+v", err, o)
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	if _, err := e.Run(context.Background(), Query{Text: "x"}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// A storage that cannot be made again is an error that says so, and never other data.
func TestALostStorage(t *testing.T) {
	e, err := Start(context.Background(), far(t, farSpec{Home: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx := context.Background()
	e.Put("h", func() ([]byte, error) { return nil, os.ErrNotExist })
	for hash, want := range map[string]string{"h": "storage h cannot be handed over again: file does not exist", "never": "storage never cannot be handed over again: it was not put"} {
		var lost *LostError
		if _, err := e.Run(ctx, Query{Text: "x", Storages: []string{hash}}); !errors.As(err, &lost) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", hash, err)
		}
	}
}

// Explorations are kept within a bound of their texts; those unused for longest go, and the storages that they gave with them.
func TestOldExplorationsAreForgotten(t *testing.T) {
	e := &Engine{sources: map[string]source{}}
	text := strings.Repeat("x", maxExplored/4)
	for i := range 6 {
		if i == 4 {
			e.used(e.sources["s0"].made)
		}
		e.remember(job{"text": text}, map[string]Value{"v": {Storage: fmt.Sprint("s", i)}})
	}
	e.remember(job{"text": text, "needs": []string{"own"}}, map[string]Value{"v": {Storage: "own"}, "w": {Items: []Value{{Storage: "s0"}}}})
	var kept []string
	for hash := range e.sources {
		kept = append(kept, hash)
	}
	slices.Sort(kept)
	if diff := cmp.Diff([]string{"s0", "s3", "s4", "s5"}, kept); diff != "" || e.explored > maxExplored {
		t.Errorf("%d bytes%s", e.explored, diff)
	}
}

// rounds of this many workers, each of which asks this often, in a thousand engines.
const (
	farRounds  = 1000
	farWorkers = 8
	farAsks    = 3
)

// The engine survives whatever its far side does at any step: eight workers ask, the far side is killed, hangs, talks rubbish, starts
// slowly or not at all, and forgets. Every answer is the right one or an error, all come, and nothing is left behind.
func TestWhateverTheFarSideDoes(t *testing.T) {
	seed := uint64(1)
	if text := os.Getenv("WHITTLE_TEST_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("WHITTLE_TEST_SEED=%d", seed)
	home := t.TempDir()
	var right, wrong atomic.Int64
	if err := farRound(t, t.TempDir(), seed, &right, &wrong); err != nil { // the runtime makes what it keeps
		t.Fatal(err)
	}
	goroutines, files, _ := open(t)
	begin := time.Now()
	p := pool.New().WithMaxGoroutines(16).WithErrors()
	for i := range farRounds {
		p.Go(func() error {
			dir := filepath.Join(home, fmt.Sprint(i))
			if err := os.Mkdir(dir, 0o777); err != nil {
				return err
			}
			var err error
			watched(fmt.Sprintf("seed %d, round %d", seed, i), func() { err = farRound(t, dir, seed+uint64(i), &right, &wrong) })
			if err != nil {
				return fmt.Errorf("round %d: %w", i, err)
			}
			return nil
		})
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	t.Logf("%d right answers, %d errors, %v", right.Load(), wrong.Load(), time.Since(begin))
	if r, w := right.Load(), wrong.Load(); r < 2*w {
		t.Errorf("%d answers are right, %d are errors: the engine does not recover", r, w)
	}
	gone := func() bool {
		g, f, c := open(t)
		return g <= goroutines && f <= files && len(c) == 0
	}
	for range 200 { // the runtime's own goroutines and descriptors go a little later
		if gone() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if g, f, c := open(t); !gone() {
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		t.Errorf("left behind: %d goroutines of %d, %d descriptors of %d, processes %v", g, goroutines, f, files, c)
	}
}

// farRound is the life of one engine.
func farRound(t testing.TB, dir string, seed uint64, right, wrong *atomic.Int64) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	o := far(t, farSpec{Home: dir, Seed: seed, Bad: 1 + rng.IntN(3), Most: rng.IntN(2) * 12})
	var e *Engine
	if err := patiently(func(ctx context.Context) (err error) {
		if rng.IntN(20) == 0 {
			var cancel func()
			ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(60))*time.Millisecond)
			defer cancel()
		}
		e, err = Start(ctx, o)
		return err
	}); err != nil {
		return err
	}
	defer e.Close()
	x := Query{Text: "explored", Stage: "aot"}
	if err := patiently(func(ctx context.Context) error { _, err := e.Explore(ctx, x, []string{"a", "b"}); return err }); err != nil {
		return err
	}
	closes := rng.IntN(8) == 0
	errs := make([]error, farWorkers)
	var wg conc.WaitGroup
	for w := range farWorkers {
		rng := rand.New(rand.NewPCG(seed, uint64(2+w)))
		wg.Go(func() {
			for k := range farAsks {
				ctx, cancel := context.WithCancel(context.Background())
				hurried := rng.IntN(6) == 0
				if hurried {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(30))*time.Millisecond)
				}
				err := farAsk(ctx, e, rng, fmt.Sprintf("%d-%d", w, k))
				cancel()
				if err == nil {
					right.Add(1)
					continue
				}
				wrong.Add(1)
				var bad *wrongAnswer
				var gone *errGone
				var lost *LostError
				known := errors.As(err, &gone) || errors.As(err, &lost) || hurried && errors.Is(err, ctx.Err()) || closes && errors.Is(err, ErrClosed) ||
					strings.Contains(err.Error(), "does not start a Python with torch") || strings.Contains(err.Error(), "cannot unmarshal number")
				if errors.As(err, &bad) || !known {
					errs[w] = errors.Join(errs[w], err)
				}
			}
		})
	}
	killed, closed := time.Duration(rng.IntN(40))*time.Millisecond, time.Duration(rng.IntN(40))*time.Millisecond
	if rng.IntN(3) == 0 { // somebody kills it
		wg.Go(func() {
			time.Sleep(killed)
			e.mu.Lock()
			p := e.last
			e.mu.Unlock()
			_ = p.cmd.Process.Signal(syscall.SIGKILL) // an error says that it is gone
		})
	}
	if closes {
		wg.Go(func() {
			time.Sleep(closed)
			_ = e.Close()
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if !closes { // the engine is as good as new
		rng := rand.New(rand.NewPCG(seed, 100))
		if err := patiently(func(ctx context.Context) error { return farAsk(ctx, e, rng, "last") }); err != nil {
			return err
		}
	}
	if err := e.Close(); err != nil {
		return err
	}
	if !closes {
		left, err := filepath.Glob(filepath.Join(dir, "far-*"))
		if err != nil || len(left) > 0 {
			return fmt.Errorf("left behind: %v %v", left, err)
		}
	}
	return nil
}

// wrongAnswer is the one thing that must not be.
type wrongAnswer struct{ got, want string }

func (w *wrongAnswer) Error() string { return fmt.Sprintf("the answer %q, not %q", w.got, w.want) }

// farAsk asks one thing and looks at the answer.
func farAsk(ctx context.Context, e *Engine, rng *rand.Rand, name string) error {
	is := func(got, want string, err error) error {
		if err == nil && got != want {
			return &wrongAnswer{got, want}
		}
		return err
	}
	a, b := madeBy("explored", "a"), madeBy("explored", "b")
	switch rng.IntN(5) {
	case 0:
		v, err := e.Explore(ctx, Query{Text: name, Storages: []string{hashOf(a)}}, []string{"x"})
		return is(v["x"].Storage, hashOf(madeBy(name, "x")), err)
	case 1:
		v, err := e.Elements(ctx, View{Storage: hashOf(a)})
		return is(strings.Join(v, " "), string(a), err)
	case 2:
		v, err := e.Storage(ctx, hashOf(b), nil)
		return is(string(v), string(b), err)
	}
	held := map[string][]byte{hashOf(a): a, hashOf(b): b}
	q := Query{Text: name, Storages: []string{hashOf(a)}, Derived: map[string]Derived{"d": {Of: View{Storage: hashOf(b)}}}, Fresh: rng.IntN(3) == 0}
	mine := []byte("put by " + name)
	held[hashOf(mine)] = mine
	q.Storages = append(q.Storages, hashOf(mine))
	if q.Fresh {
		q.Give = map[string][]byte{hashOf(mine): mine}
	} else {
		e.Put(hashOf(mine), func() ([]byte, error) { return slices.Clone(mine), nil })
	}
	out, err := e.Run(ctx, q)
	if err == nil && out.Status == replay.Infrastructure {
		return errors.New(out.Message)
	}
	return is(out.Message, ranOn(name, q.needs(), held), err)
}

package torch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/conc/pool"

	"whittle/replay"
	"whittle/repros/engine"
	"whittle/repros/engine/enginetest"
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
		Limits: Limits{Load: stage, Eager: stage, Compile: stage, Run: stage, Start: 2 * time.Second, Silence: 400 * time.Millisecond, Grace: 120 * time.Millisecond}}
}

// present is the Python that a client has, or the next one.
func present(t testing.TB, c *Client) *process {
	p, err := c.seat.Get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p
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
			enginetest.Watched(step+", "+fault, func() {
				o := far(t, farSpec{Home: dir, Bad: 1, Step: step, Fault: fault})
				var e *Client
				if err := enginetest.Patiently(func(ctx context.Context) (err error) { e, err = Start(ctx, o); return err }); err != nil {
					t.Errorf("%s, %s: %v", step, fault, err)
					return
				}
				defer e.Close()
				hurried, cancel := context.WithTimeout(context.Background(), time.Millisecond) // there is something to cancel
				defer cancel()
				_, _ = e.Run(hurried, Query{Query: engine.Query{Text: "cancelled"}})
				if err := enginetest.Patiently(func(ctx context.Context) error {
					_, err := e.Explore(ctx, Query{Query: engine.Query{Text: "explored"}}, []string{"a", "b"})
					return err
				}); err != nil {
					t.Errorf("%s, %s: %v", step, fault, err)
				}
				for seed := range uint64(12) {
					rng := rand.New(rand.NewPCG(seed, 0))
					if err := enginetest.Patiently(func(ctx context.Context) error {
						err := farAsk(ctx, e, rng, fmt.Sprint(seed))
						var bad *enginetest.WrongAnswer
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
	first := present(t, e)
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
			q, err := e.seat.Get(ctx)
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
	present(t, e).fail(errors.New("the test is over it"))
	for range 3 {
		if _, err := e.Run(context.Background(), Query{Query: engine.Query{Text: "x"}}); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Error(err)
		}
	}
	e.o.Command = good
	if o, err := e.Run(context.Background(), Query{Query: engine.Query{Text: "x"}}); err != nil || o.Status != replay.Pass {
		t.Errorf("%v %+v", err, o)
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	if _, err := e.Run(context.Background(), Query{Query: engine.Query{Text: "x"}}); !errors.Is(err, engine.ErrClosed) {
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
		if _, err := e.Run(ctx, Query{Query: engine.Query{Text: "x"}, Storages: []string{hash}}); !errors.As(err, &lost) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", hash, err)
		}
	}
}

// Explorations are kept within a bound of their texts; those unused for longest go, and the storages that they gave with them.
func TestOldExplorationsAreForgotten(t *testing.T) {
	e := &Client{sources: map[string]source{}}
	text := strings.Repeat("x", maxExplored/4)
	for i := range 6 {
		if i == 4 {
			e.used(e.sources["s0"].made)
		}
		e.remember(job{subject: &subject{Text: text}}, map[string]Value{"v": {Storage: fmt.Sprint("s", i)}})
	}
	e.remember(job{subject: &subject{Text: text}, Needs: []string{"own"}}, map[string]Value{"v": {Storage: "own"}, "w": {Items: []Value{{Storage: "s0"}}}})
	var kept []string
	for hash := range e.sources {
		kept = append(kept, hash)
	}
	slices.Sort(kept)
	if diff := cmp.Diff([]string{"s0", "s3", "s4", "s5"}, kept); diff != "" || e.explored > maxExplored {
		t.Errorf("%d bytes%s", e.explored, diff)
	}
}

// The engine survives whatever its far side does at any step: eight workers ask, the far side is killed, hangs, talks rubbish, starts
// slowly or not at all, and forgets.
func TestWhateverTheFarSideDoes(t *testing.T) {
	enginetest.Survives(t, enginetest.Plan{Lives: 1000, AtOnce: 16, Workers: 8, Asks: 3, Start: func(ctx context.Context, dir string, seed uint64, rng *rand.Rand) (enginetest.Subject, error) {
		c, err := Start(ctx, far(t, farSpec{Home: dir, Seed: seed, Bad: 1 + rng.IntN(3), Most: rng.IntN(2) * 12}))
		if err != nil {
			return enginetest.Subject{}, err
		}
		x := Query{Query: engine.Query{Text: "explored"}, Stage: "aot"}
		if err := enginetest.Patiently(func(ctx context.Context) error { _, err := c.Explore(ctx, x, []string{"a", "b"}); return err }); err != nil {
			return enginetest.Subject{}, errors.Join(err, c.Close())
		}
		now := func() *process { // the present one, nil while one is started
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			p, _ := c.seat.Get(ctx)
			return p
		}
		var last *process
		return enginetest.Subject{
			Ask: func(ctx context.Context, rng *rand.Rand, name string) error { return farAsk(ctx, c, rng, name) },
			Known: func(err error) bool {
				var gone *errGone
				var lost *LostError
				return errors.As(err, &gone) || errors.As(err, &lost) || strings.Contains(err.Error(), "does not start a Python with torch") || strings.Contains(err.Error(), "cannot unmarshal number")
			},
			Kill: func() {
				if p := now(); p != nil {
					_ = syscall.Kill(p.line.(*python).group.PID(), syscall.SIGKILL) // an error says that it is gone
				}
			},
			Close: func() error {
				if p := now(); p != nil {
					last = p
				}
				return c.Close()
			},
			Left: func() error {
				left, err := filepath.Glob(filepath.Join(dir, "far-*"))
				if err == nil && len(left) > 0 && (last == nil || !last.line.(*python).killed) { // on a busy machine the grace may be over before it had a turn
					err = fmt.Errorf("left behind: %v", left)
				}
				return err
			},
		}, nil
	}})
}

// farAsk asks one thing and looks at the answer.
func farAsk(ctx context.Context, e *Client, rng *rand.Rand, name string) error {
	is := func(got, want string, err error) error {
		if err == nil && got != want {
			return &enginetest.WrongAnswer{Got: got, Want: want}
		}
		return err
	}
	a, b := madeBy("explored", "a"), madeBy("explored", "b")
	switch rng.IntN(5) {
	case 0:
		v, err := e.Explore(ctx, Query{Query: engine.Query{Text: name}, Storages: []string{hashOf(a)}}, []string{"x"})
		return is(v["x"].Storage, hashOf(madeBy(name, "x")), err)
	case 1:
		v, err := e.Elements(ctx, View{Storage: hashOf(a)})
		return is(strings.Join(v, " "), string(a), err)
	case 2:
		v, err := e.Storage(ctx, hashOf(b), nil)
		return is(string(v), string(b), err)
	}
	held := map[string][]byte{hashOf(a): a, hashOf(b): b}
	q := Query{Query: engine.Query{Text: name, Fresh: rng.IntN(3) == 0}, Storages: []string{hashOf(a)}, Derived: map[string]Derived{"d": {Of: View{Storage: hashOf(b)}}}}
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

func TestMissingDataAreAnError(t *testing.T) { enginetest.RefusesMissingData(t, New(nil).Load) }

// What the far side says that a job's time went to reaches the clock; what it does not say is Python's.
func TestSpentIsTold(t *testing.T) {
	o := far(t, farSpec{Home: t.TempDir()})
	e, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	clock := engine.NewClock(time.Now)
	if _, err := e.Run(engine.WithClock(t.Context(), clock), Query{Query: engine.Query{Text: "timed"}}); err != nil {
		t.Fatal(err)
	}
	spent, elapsed := clock.Spent()
	if spent[engine.OnCompiler] <= 0 || spent[engine.OnCompiler]+spent[engine.OnPython]+spent[engine.OnIdle]+spent[engine.OnStart] != elapsed {
		t.Errorf("%v of %v", spent, elapsed)
	}
}

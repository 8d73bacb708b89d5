package minify

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/replay"
)

// flips makes an oracle fail at random where pred holds, at a rate; elsewhere at another rate. Runs of one question are drawn
// in a row of their own, so that the answers do not depend on the order of questions.
type flips struct {
	mu          sync.Mutex
	pred        func(s State) bool
	rate, false float64
	seed        int64
	count       int
}

func (f *flips) Run(_ context.Context, c Candidate) (replay.Outcome, error) {
	f.mu.Lock()
	f.count++
	f.mu.Unlock()
	sum := sha256.Sum256(fmt.Append(nil, f.seed, c.Hash, c.Attempt, c.Fresh))
	draw := float64(binary.LittleEndian.Uint32(sum[:])) / (1 << 32)
	rate := f.false
	if f.pred(c.State) {
		rate = f.rate
	}
	if draw < rate {
		return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
	}
	return replay.Outcome{Status: replay.Pass}, nil
}

func TestFlakyFailureIsMinified(t *testing.T) {
	odd := func(s State) bool { return has(s, "torch.odd") }
	for _, c := range []struct{ rate, false float64 }{{0.5, 0}, {0.9, 0}, {0.2, 0}, {0.6, 0.1}} {
		bad := 0
		const seeds = 20
		for seed := range int64(seeds) {
			var journal []replay.Step
			for _, j := range []int{1, 8} {
				f := &flips{pred: odd, rate: c.rate, false: c.false, seed: seed}
				s := Search{Oracle: f, Values: sameValues{}, Workers: j}
				r, err := run(t, &s, stateOf(t, transformer(60, "torch.odd")))
				var nf *NotFailingError
				if errors.As(err, &nf) { // it passed seven times
					continue
				}
				if err != nil {
					t.Errorf("rate %v, seed %d: %v", c.rate, seed, err)
					continue
				}
				if r.Cost.Calls != 1 || !odd(r.State) {
					bad++
				}
				if r.Runs > 0 && (r.Rate < c.rate/3 || r.Rate > 1 || c.false == 0 && r.FalseRate > 0) {
					t.Errorf("rate %v measured as %v and %v", c.rate, r.Rate, r.FalseRate)
				}
				sameJournal(t, &journal, r.Steps)
			}
		}
		// Where states without the failure fail as well, now and then, one of them may pass for the real one. What comes nine times out of ten may
		// look steady throughout but for the one answer that a call's removal got.
		most := 0
		switch {
		case c.false > 0:
			most = 2 * 3
		case c.rate > 0.8:
			most = 2 * 1
		}
		if bad > most {
			t.Errorf("rate %v, false %v: %d of %d not minimal", c.rate, c.false, bad, 2*seeds)
		}
	}
}

func TestRareFailureIsRefused(t *testing.T) {
	first := true
	s := Search{Values: sameValues{}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		if first || c.Attempt == 0 && !c.Fresh && has(c.State, "torch.odd") {
			first = false
			return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	var fe *FlakyError
	if _, err := run(t, &s, stateOf(t, transformer(10, "torch.odd"))); !errors.As(err, &fe) || fe.Runs < flakyMore {
		t.Error(err)
	}
}

func TestFailsOnlyWhereSomethingRanBefore(t *testing.T) {
	s := Search{Values: sameValues{}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		if has(c.State, "torch.odd") && !c.Fresh {
			return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	var uc *UnconfirmedError
	if r, err := run(t, &s, stateOf(t, transformer(10, "torch.odd"))); !errors.As(err, &uc) || r.Cost.Calls != 1 {
		t.Error(err)
	}
}

// Hangs, memory hogs and signals are failures like others, when they are what is looked for.
func TestLimitsAndSignalsAreMinified(t *testing.T) {
	for _, o := range []replay.Outcome{
		{Status: replay.Timeout, Signature: replay.Signature{Stage: "run", Type: "timeout"}},
		{Status: replay.OOM, Signature: replay.Signature{Stage: "compile", Type: "oom"}},
		{Status: replay.Killed, Signature: replay.Signature{Stage: "run", Type: "SIGSEGV"}},
	} {
		s := Search{Values: sameValues{}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
			if has(c.State, "torch.odd") {
				return o, nil
			}
			return replay.Outcome{Status: replay.Pass}, nil
		})}
		r, err := run(t, &s, stateOf(t, transformer(60, "torch.odd")))
		if err != nil || r.Cost.Calls != 1 || r.Signature != o.Signature {
			t.Errorf("%v: %v %+v", o.Status, err, r.Cost)
		}
	}
}

func TestReductionWhoseCandidatesHangIsSwitchedOff(t *testing.T) {
	hung := 0
	text := "def forward(self, x, w):\n    n0 = torch.odd(x, w)\n"
	for i := range 60 {
		text += fmt.Sprintf("    n%d = torch.op(n%d, w)\n", i+1, i)
	}
	s := Search{Values: sameValues{}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		switch n := len(c.Module.Graph.Calls()); {
		case n == 61 && len(c.Inputs) == 2 && has(c.State, "torch.odd"):
			return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
		default:
			hung++
			return replay.Outcome{Status: replay.Timeout, Signature: replay.Signature{Stage: "compile", Type: "timeout"}}, nil
		}
	})}
	r, err := run(t, &s, stateOf(t, text+"    return (n60,)"))
	if err != nil || !slices.Contains(r.Off, "bypass") || !slices.Contains(r.Off, "cut") {
		t.Errorf("%v, off: %v", err, r.Off)
	}
	if hung > len(reductions)*(rowTimeouts+8) {
		t.Errorf("%d hung", hung)
	}
}

// What stands in uninitialised memory differs between two runs: no candidate may return it.
func TestUninitialisedResultsAreNoDivergence(t *testing.T) {
	accuracy := replay.Signature{Stage: "accuracy", Type: "AccuracyError"}
	text := "def forward(self, x):\n    e = torch.ops.aten.empty_like.default(x)\n    v = torch.ops.aten.view.default(e, [4])\n" +
		"    f = torch.ops.aten.copy.default(v, x)\n    r = torch.ops.aten.relu.default(f)\n    return (r,)"
	var asked []State
	e := &testEngine{}
	s := Search{Values: e, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		asked = append(asked, c.State)
		garbage := node(c.State, "aten.copy.default") == nil && (has(c.State, "aten.empty_like.default"))
		if has(c.State, "aten.relu.default") || garbage {
			return replay.Outcome{Status: replay.Failed, Signature: accuracy}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	r, err := run(t, &s, atenState(t, text, "f32[4]"))
	if err != nil || !has(r.State, "aten.relu.default") || r.Cost.Calls != 1 {
		t.Errorf("%v\n%s", err, r.State.Module)
	}
	for _, st := range asked[1:] {
		if n := unset(st.Module.Graph); n != nil {
			t.Errorf("asked about %s returned:\n%s", n.Name, st.Module)
		}
	}
}

func TestUnsetValues(t *testing.T) {
	for text, want := range map[string]string{
		"    a = torch.ops.aten.empty.memory_format([2])\n    return (a,)":                                                                                      "a",
		"    a = torch.ops.aten.empty_like.default(x)\n    b = torch.ops.aten.t.default(a)\n    return (b,)":                                                    "b",
		"    a = torch.ops.aten.empty_like.default(x)\n    b = torch.ops.aten.add.Tensor(a, x)\n    return (b,)":                                                "b",
		"    a = torch.ops.aten.empty_like.default(x)\n    b = torch.ops.aten.fill.Scalar(a, 1)\n    return (b,)":                                               "",
		"    a = torch.empty_like(x)\n    c = a.copy_(x)\n    return (a,)":                                                                                      "",
		"    a = torch.empty_like(x)\n    v = a.view(-1)\n    c = v.copy_(x)\n    return (a, v)":                                                                "",
		"    a = torch.ops.aten.empty_like.default(x)\n    b = torch.ops.aten.zeros_like.default(a)\n    return (b,)":                                           "",
		"    a = torch.ops.aten.empty_like.default(x)\n    b = torch.ops.aten.copy.default(x, a)\n    return (b,)":                                              "b",
		"    a = torch.empty_like(x)\n    c = torch.add(x, x, out = a)\n    return (a, c)":                                                                      "",
		"    a = torch.empty_like(x)\n    b = torch.nn.functional.batch_norm(a, x, x, None, None, True)\n    return (b,)":                                       "b",
		"    a = torch.empty_like(x)\n    b = torch.ops.aten.fill.Tensor(x, a)\n    return (b,)":                                                                "b",
		"    a = torch.ops.aten.empty_like.default(x)\n    b = torch.ops.aten.bernoulli.p(a, 0.5)\n    return (b,)":                                             "",
		"    a = torch.ops.aten.empty_like.default(x)\n    b = torch.ops.aten.bernoulli.default(a)\n    return (b,)":                                            "b",
		"    a = torch.ops.aten.empty_like.default(x)\n    b = torch.ops.aten.expand_as.default(x, a)\n    return (b,)":                                         "",
		"    a = torch.ops.aten.empty_like.default(x)\n    b = torch.ops.aten.expand_as.default(a, x)\n    return (b,)":                                         "b",
		"    a = torch.ops.aten.relu.default(x)\n    return (a,)":                                                                                               "",
		"    a = torch.ops.aten.empty_like.default(x)\n    b = torch.ops.aten.empty_like.default(x)\n    c = a.copy_(x)\n    return (a, b)":                     "b",
		"    a = torch.ops.aten.new_empty.default(x, [3])\n    b = torch.ops.aten.sym_size.int(a, 0)\n    c = torch.ops.aten.add.Tensor(x, b)\n    return (c,)": "",
	} {
		g, err := fx.ParseGraph("def forward(self, x):\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if n := unset(g); n != nil {
			got = n.Name
		}
		if got != want {
			t.Errorf("%q, want %q:\n%s", got, want, text)
		}
	}
}

func TestDeadlineKeepsTheBestSoFar(t *testing.T) {
	var mu sync.Mutex
	now := time.Unix(1000, 0)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	n, fresh := 0, 0
	s := Search{Values: sameValues{}, Now: clock, Deadline: time.Unix(1005, 0), Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		n++
		if c.Fresh {
			fresh++
		}
		if has(c.State, "torch.odd") {
			return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	r, err := run(t, &s, stateOf(t, transformer(400, "torch.odd")))
	if err != nil || r.Complete || r.Stopped != "deadline" || r.Cost.Calls >= 400 || r.Cost.Calls == 1 || !has(r.State, "torch.odd") || fresh != 1 || n > 9 {
		t.Errorf("%v %+v, %d questions, %d fresh, stopped: %q", err, r.Cost, n, fresh, r.Stopped)
	}
}

func TestBudgetOfQuestions(t *testing.T) {
	f := &fails{pred: func(s State) bool { return has(s, "torch.odd") }}
	s := Search{Oracle: f, Values: sameValues{}, MaxQueries: 5}
	r, err := run(t, &s, stateOf(t, transformer(400, "torch.odd")))
	if !errors.Is(err, ErrBudget) || f.count != 5 || r.Cost.Calls >= 400 {
		t.Errorf("%v %+v, %d questions", err, r.Cost, f.count)
	}
}

func TestWorkaround(t *testing.T) {
	run := func(helps func(c map[string]bool) bool) []Setting {
		s := Search{Values: sameValues{}, Workarounds: []Setting{{"a", "0"}, {"b", "0"}, {"c", "0"}}, Workers: 2,
			Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
				on := map[string]bool{}
				for _, x := range c.Config {
					on[x.Name] = true
				}
				if has(c.State, "torch.odd") && !helps(on) {
					return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
				}
				return replay.Outcome{Status: replay.Pass}, nil
			})}
		r, err := run(t, &s, stateOf(t, transformer(20, "torch.odd")))
		if err != nil || len(r.State.Config) > 0 {
			t.Fatal(err)
		}
		return r.Workaround
	}
	for _, c := range []struct {
		helps func(c map[string]bool) bool
		want  []Setting
	}{
		{func(c map[string]bool) bool { return c["b"] }, []Setting{{"b", "0"}}},
		{func(c map[string]bool) bool { return c["a"] && c["c"] }, []Setting{{"a", "0"}, {"c", "0"}}},
		{func(map[string]bool) bool { return false }, nil},
	} {
		if d := cmp.Diff(c.want, run(c.helps)); d != "" {
			t.Error(d)
		}
	}
}

func TestFindingsGetSmallRepros(t *testing.T) {
	other := replay.Signature{Stage: "run", Type: "Other", Message: "bang"}
	path := filepath.Join(t.TempDir(), "s.db")
	st, err := replay.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s := Search{Values: sameValues{}, FindingQueries: 40, Store: st, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		switch {
		case has(c.State, "torch.odd") && has(c.State, "torch.head"):
			return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
		case has(c.State, "torch.embed"):
			return replay.Outcome{Status: replay.Failed, Signature: other}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	r, err := run(t, &s, stateOf(t, transformer(60, "torch.odd")))
	if err != nil || r.Cost.Calls != 2 || len(r.Findings) != 1 {
		t.Fatalf("%v %+v %d", err, r.Cost, len(r.Findings))
	}
	if f := r.Findings[0]; f.Outcome.Signature != other || CostOf(f.State).Calls != 1 || !has(f.State, "torch.embed") {
		t.Errorf("%s\n%s", f.Outcome.Signature, f.State.Module)
	}
	stored, err := st.Findings(ctx, r.ID)
	if err != nil || len(stored) != 1 || strings.Count(stored[0].Repro, "torch.") != 2 { // a class and the one call
		t.Errorf("%v %+v", err, stored)
	}
}

func TestEventsDoNotDependOnWorkers(t *testing.T) {
	other := replay.Signature{Stage: "run", Type: "Other", Message: "bang"}
	var want []Event
	for _, j := range []int{1, 2, 8} {
		var got []Event
		s := Search{Values: sameValues{}, Workers: j, Event: func(e Event) {
			e.Elapsed = 0
			got = append(got, e)
		}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
			time.Sleep(time.Duration(rand.Intn(300)) * time.Microsecond)
			switch {
			case has(c.State, "torch.odd") && has(c.State, "torch.head"):
				return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
			case has(c.State, "torch.odd"):
				return replay.Outcome{Status: replay.Failed, Signature: other}, nil
			}
			return replay.Outcome{Status: replay.Pass}, nil
		})}
		if _, err := run(t, &s, stateOf(t, transformer(120, "torch.odd"))); err != nil {
			t.Fatal(err)
		}
		kinds := map[EventKind]int{}
		for _, e := range got {
			kinds[e.Kind]++
			if e.Kind == EventTaken && !e.Cost.Less(e.Before) {
				t.Errorf("%s is no gain: %+v", e.Edit, e)
			}
		}
		if kinds[EventStart] != 1 || kinds[EventTaken] < 3 || kinds[EventFinding] != 1 || kinds[EventConfirm] != 1 || kinds[EventDone] != 1 {
			t.Errorf("-j%d: %v", j, kinds)
		}
		if want == nil {
			want = got
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("-j%d: %s", j, d)
		}
	}
}

func TestPanickingOracleIsAnError(t *testing.T) {
	s := Search{Values: sameValues{}, Oracle: OracleFunc(func(context.Context, Candidate) (replay.Outcome, error) { panic("oops") })}
	if _, err := run(t, &s, stateOf(t, transformer(10, ""))); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Error(err)
	}
}

// A failure looked for without a place gets the one of the start: the search stays with it, and keeps the other as a finding.
func TestSearchStaysInThePlace(t *testing.T) {
	want := replay.Signature{Stage: "accuracy", Type: "AccuracyError"}
	at := func(frame string) replay.Signature { s := want; s.Frame = frame; return s }
	s := Search{Values: sameValues{}, Want: want, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		switch {
		case has(c.State, "torch.odd") && !c.Fresh:
			return replay.Outcome{Status: replay.Failed, Signature: at("above")}, nil
		case has(c.State, "torch.odd"): // a fresh process does not tell
			return replay.Outcome{Status: replay.Failed, Signature: want}, nil
		case has(c.State, "torch.softmax"):
			return replay.Outcome{Status: replay.Failed, Signature: at("below")}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	r, err := run(t, &s, stateOf(t, transformer(60, "torch.odd")))
	if err != nil {
		t.Fatal(err)
	}
	if !has(r.State, "torch.odd") || r.Cost.Calls != 1 || !r.Complete {
		t.Errorf("%s", r.State.Module)
	}
	if diff := cmp.Diff(at("above"), r.Signature); diff != "" {
		t.Error(diff)
	}
	if len(r.Findings) != 1 || r.Findings[0].Outcome.Signature != at("below") {
		t.Errorf("%+v", r.Findings)
	}
}

// lame is an engine that runs candidates and does not tell values: not one, or the first time not all.
type lame struct {
	sameValues
	some bool
	n    int
}

func (l *lame) Explore(ctx context.Context, s State, prefix string) (map[string]Held, error) {
	got, err := l.sameValues.Explore(ctx, s, prefix)
	if l.n++; l.n > 1 && l.some || err != nil {
		return got, err
	}
	if !l.some {
		return nil, errors.New("the pipe broke")
	}
	calls := s.Module.Graph.Calls()
	delete(got, calls[len(calls)/2].Name)
	return got, errors.New("a value is too large")
}

// An engine that cannot tell the values of a graph is an error; random ones never stand in for them.
func TestNoValuesAreMadeUp(t *testing.T) {
	oracle := OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		for _, in := range c.Inputs {
			if in.Data.Fill == FillRandom && !strings.HasPrefix(c.Edit, "random for ") { // a reduction that tries just that
				t.Errorf("random data in %s", c.Edit)
			}
		}
		if has(c.State, "torch.odd") {
			return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})
	s := Search{Oracle: oracle, Values: &lame{}}
	if _, err := run(t, &s, stateOf(t, transformer(10, "torch.odd"))); err == nil || !strings.Contains(err.Error(), "the pipe broke") {
		t.Error(err)
	}
	s = Search{Oracle: oracle, Values: &lame{some: true}}
	if r, err := run(t, &s, stateOf(t, transformer(10, "torch.odd"))); err != nil || r.Partial == nil || !r.Complete {
		t.Errorf("%v, partial: %v", err, r.Partial)
	}
}

// Why a start does not fail again is said, and stands in the journal.
func TestWhyAStartDoesNotFail(t *testing.T) {
	other := replay.Signature{Stage: "run", Type: "ValueError"}
	for _, c := range []struct {
		o    replay.Outcome
		want replay.Signature
		why  string
	}{
		{replay.Outcome{Status: replay.Pass}, replay.Signature{}, "it ran without an error, 7 times out of 7"},
		{replay.Outcome{Status: replay.Pass, Message: "rounding"}, replay.Signature{Stage: "accuracy", Type: "AccuracyError"}, "what it computed is close enough to eager, 7 times out of 7 (rounding)"},
		{replay.Outcome{Status: replay.Invalid, Message: "eager: RuntimeError: no\nmore"}, replay.Signature{}, "it says nothing about the compiler: eager: RuntimeError: no"},
		{replay.Outcome{Status: replay.Infrastructure, Message: "no Python"}, replay.Signature{}, "the engine gave no answer: no Python"},
		{replay.Outcome{Status: replay.Failed, Signature: other}, sig, "it failed in another way: run: ValueError, and not with " + sig.String()},
	} {
		s := Search{Want: c.want, Values: sameValues{}, Oracle: OracleFunc(func(context.Context, Candidate) (replay.Outcome, error) { return c.o, nil })}
		r, err := run(t, &s, stateOf(t, transformer(3, "torch.odd")))
		want := "the repro did not fail again here, because " + c.why
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if last := r.Steps[len(r.Steps)-1]; last.Edit != want || last.Reduction != replay.EndNotFailing || last.Taken {
			t.Errorf("%+v", last)
		}
	}
}

// TestSizesStayBound has a number that is a size of a tensor: no candidate keeps the number and leaves it without that tensor, whose compiler
// fails in another way then, under the same name.
func TestSizesStayBound(t *testing.T) {
	start := stateOf(t, `def forward(self, s, x, y):
    a = torch.ops.aten.relu.default(y)
    b = torch.ops.aten.mul.Tensor(x, s)
    return (a, b)`)
	start.Inputs[0].Value = int64(2)
	start.Inputs[1].Value = tensor.FromFloat32s([]float32{1, 2, 3}, 3)
	number := func(s State) bool {
		return slices.ContainsFunc(s.Inputs, func(in Input) bool { return in.Value == any(int64(2)) })
	}
	f := &fails{pred: func(s State) bool {
		if number(s) && !isSize(2, s.Inputs) {
			t.Errorf("a size of nothing:\n%s", s.Module)
		}
		return number(s)
	}}
	s := Search{Oracle: f}
	r, err := run(t, &s, start)
	if err != nil || r.Cost.Calls > 2 || !number(r.State) {
		t.Errorf("%v\n%s", err, r.State.Module)
	}
}

// TestTheFailureThatTheProgramSaw has starts that fail as the program did, and in other ways.
func TestTheFailureThatTheProgramSaw(t *testing.T) {
	for _, c := range []struct {
		seen, got replay.Signature
		same      bool
	}{
		{replay.Signature{}, sig, true},
		{replay.Signature{Type: "KeyError", Message: "NAME"}, replay.Signature{Stage: "compile", Type: "KeyError", Message: "NAME"}, true},
		{replay.Signature{Type: "torch._inductor.exc.LoweringException", Message: "AssertionError: # target: aten.foo"}, replay.Signature{Stage: "compile", Type: "LoweringException", Message: "AssertionError: no"}, true},
		{replay.Signature{Type: "LoweringException", Message: "KeyError: NAME"}, replay.Signature{Stage: "compile", Type: "LoweringException", Message: "AttributeError: 'NoneType'"}, false},
		{replay.Signature{Type: "KeyError", Message: "NAME"}, replay.Signature{Stage: "compile", Type: "LoweringException", Message: "AttributeError: no"}, false},
		{replay.Signature{Stage: "compile", Type: "SIGABRT"}, replay.Signature{Stage: "compile", Type: "SIGABRT"}, true},
		{replay.Signature{Type: "RuntimeError", Message: "Error compiling objects"}, replay.Signature{Stage: "run", Type: "RuntimeError", Message: "something else"}, true},
	} {
		s := Search{Seen: c.seen, Oracle: OracleFunc(func(_ context.Context, cand Candidate) (replay.Outcome, error) {
			return replay.Outcome{Status: replay.Failed, Signature: c.got, Message: "boom"}, nil
		})}
		_, err := run(t, &s, stateOf(t, "def forward(self, x):\n    a = torch.ops.aten.relu.default(x)\n    return (a,)"))
		var not *NotFailingError
		if errors.As(err, &not) == c.same {
			t.Errorf("seen %v, got %v: %v", c.seen, c.got, err)
		}
	}
}

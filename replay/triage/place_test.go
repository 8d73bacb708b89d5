package triage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
)

// clocked is a store whose time goes on by a second with each look at it.
func clocked(t testing.TB) (*replay.Store, *time.Time) {
	s := openStore(t)
	now := time.UnixMilli(1700000000000)
	s.Now = func() time.Time { now = now.Add(time.Second); return now }
	return s, &now
}

// wrongOf puts a failure with wrong results of a graph.
func wrongOf(t testing.TB, s *replay.Store, calls ...string) int64 {
	t.Helper()
	id, err := s.PutFailure(ctx, replay.Failure{Signature: wrong, Repro: repro("aot", "", f32, calls)})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// shrunk notes that a failure was shrunk to calls.
func shrunk(t testing.TB, s *replay.Store, failure int64, calls ...string) {
	t.Helper()
	m, _, err := s.BeginMinification(ctx, fmt.Sprint(failure, calls), "start", wrong)
	if err == nil {
		err = s.PutResult(ctx, m, replay.Result{Signature: wrong, Repro: repro("aot", "", f32, calls), Complete: true, Runs: 2, Rate: 1})
	}
	if err == nil {
		err = s.SetMinification(ctx, failure, m)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func placeIt(t testing.TB, s *replay.Store, failure int64) int64 {
	t.Helper()
	g, _, err := Place(ctx, s, failure, "ada")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func stateOf(t testing.TB, s *replay.Store, group int64) State {
	t.Helper()
	g, err := s.Group(ctx, group)
	if err != nil {
		t.Fatal(err)
	}
	return State(g.State)
}

const (
	erfinv  = "torch.ops.aten.erfinv.default($)"
	lgamma  = "torch.ops.aten.lgamma.default($)"
	digamma = "torch.ops.aten.digamma.default($)"
	relu    = "torch.ops.aten.relu.default($)"
	addOne  = "torch.ops.aten.add.Tensor($, 1)"
)

// TestKnownBetter: what is found about a failure moves it.
func TestKnownBetter(t *testing.T) {
	s, _ := clocked(t)
	a, b, c := wrongOf(t, s, relu, erfinv, lgamma, addOne), wrongOf(t, s, addOne, erfinv, lgamma), wrongOf(t, s, digamma, relu)
	one := placeIt(t, s, a)
	if two := placeIt(t, s, b); two != one {
		t.Errorf("group/%d and group/%d: two models with the same rare operators", one, two)
	}
	other := placeIt(t, s, c)
	if other == one {
		t.Error("other operators, one group")
	}
	shrunk(t, s, a, erfinv)
	shrunk(t, s, b, lgamma)
	r, err := PlaceAll(ctx, s, "ada")
	if err != nil || r.Placed != 2 {
		t.Fatal(r, err)
	}
	in := func(id int64) int64 { m, _, _ := s.MemberOf(ctx, id); return m.Group }
	if in(a) == in(b) || stateOf(t, s, in(a)) != Minimised || stateOf(t, s, in(b)) != Minimised {
		t.Errorf("group/%d (%s), group/%d (%s)", in(a), stateOf(t, s, in(a)), in(b), stateOf(t, s, in(b)))
	}
	if g, err := s.Group(ctx, in(b)); err != nil || g.Title != "wrong results: lgamma" {
		t.Error(g, err)
	}
	// one that is not shrunk, and has both, joins one and does not make them one
	if d := placeIt(t, s, wrongOf(t, s, relu, erfinv, lgamma)); d != in(a) && d != in(b) || in(a) == in(b) {
		t.Errorf("group/%d, of group/%d and group/%d", d, in(a), in(b))
	}
	// nothing is left to do, and nothing is told twice
	before, _ := s.GroupEvents(ctx, in(a))
	if r, err := PlaceAll(ctx, s, "ada"); err != nil || r.Placed != 0 {
		t.Error(r, err)
	}
	placeIt(t, s, a)
	if after, _ := s.GroupEvents(ctx, in(a)); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}

// TestBridge: a failure that is near two groups shows that they are one; the older number stays.
func TestBridge(t *testing.T) {
	s, _ := clocked(t)
	put := func(message string) int64 {
		id, err := s.PutFailure(ctx, replay.Failure{Signature: replay.NewSignature("compile", "ValueError", message, nil, nil)})
		if err != nil {
			t.Fatal(err)
		}
		return placeIt(t, s, id)
	}
	one, two := put("alpha beta gamma delta epsilon zeta eta theta"), put("alpha beta gamma delta iota kappa lambda my")
	if one == two {
		t.Fatal("one group already")
	}
	if three := put("alpha beta gamma delta epsilon zeta eta iota kappa lambda"); three != one {
		t.Errorf("group/%d", three)
	}
	gs, err := s.Groups(ctx, replay.GroupFilter{})
	if err != nil || len(gs) != 1 || gs[0].Members != 3 {
		t.Error(gs, err)
	}
	ev, _ := s.GroupEvents(ctx, one)
	if !slices.ContainsFunc(ev, func(e replay.GroupEvent) bool { return e.Kind == "merge" && strings.Contains(e.Text, "by failure/3") }) {
		t.Error(ev)
	}
}

// TestByHand: what a person said stands, whatever comes.
func TestByHand(t *testing.T) {
	s, _ := clocked(t)
	var ids []int64
	for range 4 {
		id := wrongOf(t, s, erfinv)
		shrunk(t, s, id, erfinv)
		ids = append(ids, id)
		placeIt(t, s, id)
	}
	split, err := Split(ctx, s, ids[2:], "ada")
	if err != nil || split == 1 {
		t.Fatal(split, err)
	}
	five := wrongOf(t, s, erfinv)
	shrunk(t, s, five, erfinv)
	placeIt(t, s, five)
	gs, err := s.Groups(ctx, replay.GroupFilter{})
	if err != nil || len(gs) != 2 {
		t.Fatal(gs, err)
	}
	shrunk(t, s, ids[3], erfinv, lgamma) // it would go, if nobody had put it there
	if _, err := PlaceAll(ctx, s, "ada"); err != nil {
		t.Fatal(err)
	}
	if m, _, _ := s.MemberOf(ctx, ids[3]); m.Group != split || !m.Pinned {
		t.Error(m)
	}
	if err := Merge(ctx, s, 1, []int64{split}, "ada"); err != nil {
		t.Fatal(err)
	}
	if g, err := s.Group(ctx, 1); err != nil || g.Members != 5 {
		t.Error(g, err)
	}
	for _, err := range []error{
		Merge(ctx, s, 1, []int64{1}, "ada"), Merge(ctx, s, 1, []int64{77}, "ada"), Merge(ctx, s, 77, []int64{1}, "ada"),
		func() error { _, err := Split(ctx, s, nil, "ada"); return err }(),
		func() error { _, err := Split(ctx, s, []int64{99}, "ada"); return err }(),
		func() error { _, err := Split(ctx, s, append(ids, five), "ada"); return err }(),
	} {
		if err == nil {
			t.Error("done")
		}
	}
	if g, err := s.Group(ctx, 1); err != nil || g.Members != 5 {
		t.Error(g, err)
	}
}

func TestStates(t *testing.T) {
	s, now := clocked(t)
	early := wrongOf(t, s, erfinv)
	first := wrongOf(t, s, erfinv)
	shrunk(t, s, first, erfinv)
	g := placeIt(t, s, first)
	if st := stateOf(t, s, g); st != Minimised {
		t.Error(st)
	}
	var te *TransitionError
	if err := SetState(ctx, s, g, Confirmed, "ada", ""); !errors.As(err, &te) || te.From != Minimised {
		t.Error(err)
	}
	if err := Reopen(ctx, s, g, "ada", ""); !errors.As(err, &te) {
		t.Error(err)
	}
	if err := SetState(ctx, s, g, Fixed, "ada", "in 2.15"); err != nil {
		t.Error(err)
	}
	shrunk(t, s, early, erfinv)
	if got := placeIt(t, s, early); got != g || stateOf(t, s, g) != Fixed {
		t.Errorf("group/%d is %s: one of before the fix brings nothing back", got, stateOf(t, s, g))
	}
	late := wrongOf(t, s, erfinv)
	shrunk(t, s, late, erfinv)
	if got := placeIt(t, s, late); got != g || stateOf(t, s, g) != Minimised {
		t.Errorf("group/%d is %s", got, stateOf(t, s, g))
	}
	ev, err := s.GroupEvents(ctx, g)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range ev {
		kinds = append(kinds, e.Kind)
	}
	if d := cmp.Diff([]string{"created", "state", "fixed", "member", "member", "reopened", "state"}, kinds); d != "" {
		t.Error(d)
	}
	if !strings.Contains(ev[5].Text, fmt.Sprintf("back: failure/%d", late)) {
		t.Error(ev[5])
	}

	if err := Mute(ctx, s, g, " ", time.Time{}, "ada"); err == nil {
		t.Error("muted without a reason")
	}
	if err := Mute(ctx, s, g, "known", now.Add(time.Hour), "ada"); err != nil {
		t.Error(err)
	}
	in, _ := s.Group(ctx, g)
	if !IsMuted(in, *now) || IsMuted(in, now.Add(2*time.Hour)) {
		t.Error(in)
	}
	if err := errors.Join(Unmute(ctx, s, g, "ada"), Assign(ctx, s, g, "grace", "ada")); err != nil {
		t.Error(err)
	}
	if in, _ := s.Group(ctx, g); IsMuted(in, *now) || in.Assignee != "grace" {
		t.Error(in)
	}
	if err := SetState(ctx, s, 99, Fixed, "ada", ""); !errors.As(err, new(*replay.NotFoundError)) {
		t.Error(err)
	}
	for from := range transitions {
		if !slices.Contains(States, from) || len(transitions) != len(States) {
			t.Error(from)
		}
	}
}

func TestRate(t *testing.T) {
	worst := Rate(replay.Group{Members: 8, Origins: 4}, Features{Kind: Wrong, Divergence: "output 0, RMSE 0.5"})
	if worst.Score != 60+8+6+6 || !slices.Equal(worst.Why, []string{"wrong results (+60)", "RMSE 0.5 (+8)", "8 failures (+6)", "from 4 places (+6)"}) {
		t.Error(worst)
	}
	last := 101
	for _, f := range []Features{{Kind: Wrong}, {Kind: Crash}, {Kind: Hang}, {Kind: Memory}, {Kind: Exit}, {Kind: Error}, {Kind: Error, Backend: "mine"}} {
		got := Rate(replay.Group{Members: 1}, f)
		if got.Score >= last {
			t.Errorf("%v: %d, not below %d", f, got.Score, last)
		}
		last = got.Score
	}
	if a, b := Rate(replay.Group{Rate: 0.2}, Features{Kind: Hang}), Rate(replay.Group{Rate: 1}, Features{Kind: Hang}); a.Score >= b.Score {
		t.Error(a, b)
	}
}

// many are failures of n bugs in a store, each some times.
func many(t testing.TB, s *replay.Store, failures, bugs int) {
	t.Helper()
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omikron sigma tau ypsilon omega")
	ids := make([]int64, failures)
	for i := range ids {
		var err error
		if ids[i], err = s.PutFailure(ctx, replay.Failure{Signature: replay.Signature{Stage: "run", Type: "RuntimeError", Message: fmt.Sprint(i)}, Origin: fmt.Sprintf("/home/user/%d.py", i%400)}); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Regroup(ctx, func(g *replay.Grouping) error {
		for i := range failures {
			b := i % bugs
			f := Features{Kind: Error, Type: "RuntimeError", Message: fmt.Sprintf("%s %s %s cannot view_%d", words[b%16], words[b/16%16], words[b/256%16], b), Graph: []string{"add", fmt.Sprint("op", b%97), fmt.Sprint("op", i%31)}, Calls: i}
			if b%3 == 0 {
				f = Features{Kind: Wrong, Graph: []string{"add", fmt.Sprint("op", b), fmt.Sprint("dtype d", b%7)}, Minimal: true, Calls: 1 + i%3}
			}
			if _, _, err := place(g, placed{id: ids[i], features: f, text: f.Text(), created: time.Now(), reached: New}, "bench"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkPlace places one more failure beside many.
func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("failures=%d", n), func(b *testing.B) {
			s := openStore(b)
			many(b, s, n, n/10)
			f := replay.Failure{Signature: replay.NewSignature("run", "RuntimeError", "beta alpha alpha cannot view_16", nil, nil), Repro: repro("aot", "", f32, []string{relu, erfinv, addOne})}
			for b.Loop() {
				b.StopTimer()
				id, err := s.PutFailure(ctx, f)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, _, err := Place(ctx, s, id, "bench"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGroups lists the groups of many failures.
func BenchmarkGroups(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("failures=%d", n), func(b *testing.B) {
			s := openStore(b)
			many(b, s, n, n/10)
			for b.Loop() {
				gs, err := s.Groups(ctx, replay.GroupFilter{})
				if err != nil || len(gs) < n/20 {
					b.Fatal(len(gs), err)
				}
			}
		})
	}
}

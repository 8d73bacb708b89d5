package replay

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// failing puts a failure with a message.
func failing(t *testing.T, s *Store, message string) int64 {
	t.Helper()
	id, err := s.PutFailure(ctx, Failure{Signature: Signature{Stage: "run", Type: "RuntimeError", Message: message}, Raw: message, Origin: "/home/user/" + message + ".py"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// grouped makes a group of failures.
func grouped(t *testing.T, s *Store, title string, failures ...int64) (id int64) {
	t.Helper()
	err := s.Regroup(ctx, func(g *Grouping) (err error) {
		if id, err = g.Create(title, "new", "ada", "by a test"); err != nil {
			return err
		}
		for _, f := range failures {
			if err := g.Put(Member{Failure: f, Group: id, Features: fmt.Sprintf(`{"kind":%q}`, title)}, []string{"key of " + title, fmt.Sprint(f)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestGroups(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	now := time.UnixMilli(1700000000000)
	s.Now = func() time.Time { now = now.Add(time.Second); return now }
	a, b, c := failing(t, s, "a"), failing(t, s, "b"), failing(t, s, "c")
	if u, err := s.Unplaced(ctx); err != nil || !cmp.Equal(u, []int64{a, b, c}) {
		t.Error(u, err)
	}
	one, two := grouped(t, s, "one", a, b), grouped(t, s, "two", c)
	if u, err := s.Unplaced(ctx); err != nil || len(u) != 0 {
		t.Error(u, err)
	}
	gs, err := s.Groups(ctx, GroupFilter{})
	if err != nil || len(gs) != 2 || gs[0].ID != two || gs[1].ID != one {
		t.Fatal(gs, err)
	}
	if g := gs[1]; g.Members != 2 || g.Origins != 2 || g.Example != b || g.Features != `{"kind":"one"}` || g.First.After(g.Last) || g.State != "new" {
		t.Errorf("%+v", g)
	}
	if gs, err := s.Groups(ctx, GroupFilter{States: []string{"fixed", "closed"}}); err != nil || len(gs) != 0 {
		t.Error(gs, err)
	}
	if gs, err := s.Groups(ctx, GroupFilter{Limit: 1}); err != nil || len(gs) != 1 {
		t.Error(gs, err)
	}

	// what is found about a failure has it looked at again
	mid, _, err := s.BeginMinification(ctx, "k", "start", Signature{Type: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetMinification(ctx, a, mid); err != nil {
		t.Fatal(err)
	}
	if u, err := s.Unplaced(ctx); err != nil || !cmp.Equal(u, []int64{a}) {
		t.Error(u, err)
	}
	if err := s.Regroup(ctx, func(g *Grouping) error { return g.Touch(a) }); err != nil {
		t.Fatal(err)
	}
	if err := s.PutResult(ctx, mid, Result{Repro: "import torch", Rate: 0.5, Runs: 4}); err != nil {
		t.Fatal(err)
	}
	if u, err := s.Unplaced(ctx); err != nil || !cmp.Equal(u, []int64{a}) {
		t.Error(u, err)
	}
	if g, err := s.Group(ctx, one); err != nil || g.Example != a || g.Rate != 0.5 { // the one that was shrunk says most
		t.Error(g, err)
	}
	if err := s.SetDecides(ctx, 99, 0, "x"); !errors.As(err, new(*NotFoundError)) {
		t.Error(err)
	}

	// muted until a time
	if err := s.Regroup(ctx, func(g *Grouping) error {
		in, err := g.Group(two)
		if err != nil {
			return err
		}
		in.Muted, in.Until = "known", now.Add(time.Hour)
		return g.Change(in)
	}); err != nil {
		t.Fatal(err)
	}
	if gs, err := s.Groups(ctx, GroupFilter{Loud: true}); err != nil || len(gs) != 1 || gs[0].ID != one {
		t.Error(gs, err)
	}
	now = now.Add(2 * time.Hour)
	if gs, err := s.Groups(ctx, GroupFilter{Loud: true}); err != nil || len(gs) != 2 {
		t.Error(gs, err)
	}

	// a change that fails leaves nothing behind
	boom := errors.New("boom")
	if err := s.Regroup(ctx, func(g *Grouping) error {
		if err := g.Merge(two, one, "ada", "by a test"); err != nil {
			return err
		}
		return boom
	}); !errors.Is(err, boom) {
		t.Error(err)
	}
	if g, err := s.Group(ctx, two); err != nil || g.Members != 1 {
		t.Error(g, err)
	}

	// a key of many groups is passed over
	if err := s.Regroup(ctx, func(g *Grouping) error {
		for most, want := range map[int]int{0: 0, 1: 2} {
			if got, err := g.Alike([]string{"key of one"}, most); err != nil || len(got) != want {
				t.Error(most, got, err)
			}
		}
		return g.Merge(two, one, "ada", "by a test")
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Group(ctx, two); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("group %d: it was merged into group/%d", two, one)) {
		t.Error(err)
	}
	if m, ok, err := s.MemberOf(ctx, c); err != nil || !ok || m.Group != one {
		t.Error(m, ok, err)
	}
	ev, err := s.GroupEvents(ctx, one)
	if err != nil || len(ev) != 3 || ev[2].Kind != "merge" || ev[2].Actor != "ada" {
		t.Error(ev, err)
	}
	if three := grouped(t, s, "three"); three <= two {
		t.Errorf("group/%d again", three)
	}

	// what a group is known by is not collected
	s.Now = func() time.Time { return now.Add(365 * 24 * time.Hour) }
	failing(t, s, "a")
	if _, err := s.GC(ctx, GCOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Failure(ctx, a); err != nil {
		t.Error(err)
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
		t.Error(r, err)
	}
}

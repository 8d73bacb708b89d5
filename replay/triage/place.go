package triage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"whittle/replay"
)

// tooPopular is in how many groups a key may be that is looked up.
const tooPopular = 200

// enoughIndexed is how many members of a group are looked up, whatever they are; further ones only where they add something: they lie farther than near from all of these.
const (
	enoughIndexed = 64
	near          = 0.1
)

// Keys that say what a group has, for Grouping.Has.
const (
	keyDecisive = "has decisive"
	keyMinimal  = "has minimal"
)

// placed is a failure with what is needed to place it.
type placed struct {
	id       int64
	features Features
	text     string // of features
	created  time.Time
	reached  State  // what is known of it brings its group at least there
	why      string // for people
}

// Place puts a failure into the group that it belongs to, or makes one. A failure that has a group is compared again where more is known of it
// now; a person's word stands. Groups that it joins become one. actor is who the history names.
func Place(ctx context.Context, s *replay.Store, failure int64, actor string) (group int64, created bool, err error) {
	p, err := prepare(ctx, s, failure)
	if err != nil {
		return 0, false, err
	}
	err = s.Regroup(ctx, func(g *replay.Grouping) error {
		group, created, err = place(g, p, actor)
		return err
	})
	return group, created, err
}

// Report says what PlaceAll did.
type Report struct {
	Placed  int     `json:"placed"`  // failures that were looked at
	Created int     `json:"created"` // groups
	Skipped []int64 `json:"skipped"` // failures that cannot be read
}

// batch is how many failures are placed in one transaction.
const batch = 50

// PlaceAll places all failures that have no group, and those of which more is known than when they were placed, oldest first. What was placed stays, where it is stopped.
func PlaceAll(ctx context.Context, s *replay.Store, actor string) (r Report, err error) {
	ids, err := s.Unplaced(ctx)
	if err != nil {
		return r, err
	}
	for some := range slices.Chunk(ids, batch) {
		var all []placed
		for _, id := range some {
			p, err := prepare(ctx, s, id)
			var corrupt *replay.CorruptError
			var nf *replay.NotFoundError
			switch {
			case err == nil:
				all = append(all, p)
			case errors.As(err, &corrupt), errors.As(err, &nf):
				r.Skipped = append(r.Skipped, id)
			default:
				return r, err
			}
		}
		n := 0
		if err := s.Regroup(ctx, func(g *replay.Grouping) error {
			n = 0
			for _, p := range all {
				_, created, err := place(g, p, actor)
				if err != nil {
					return fmt.Errorf("failure/%d: %w", p.id, err)
				}
				if created {
					n++
				}
			}
			return nil
		}); err != nil {
			return r, err
		}
		r.Placed, r.Created = r.Placed+len(all), r.Created+n
	}
	return r, nil
}

func prepare(ctx context.Context, s *replay.Store, failure int64) (placed, error) {
	f, err := s.Failure(ctx, failure)
	if err != nil {
		return placed{}, err
	}
	p := placed{id: failure, created: f.Created, reached: New}
	if p.features, err = Of(ctx, s, failure); err != nil {
		return p, err
	}
	p.text = p.features.Text()
	if f.Minification != 0 {
		r, err := s.Result(ctx, f.Minification)
		var nf *replay.NotFoundError
		switch {
		case errors.As(err, &nf):
		case err != nil:
			return p, err
		case r.Runs > 0 && r.Rate < 1:
			p.reached, p.why = Flaky, fmt.Sprintf("failure/%d fails in %.0f %% of %s", failure, 100*r.Rate, replay.Count(r.Runs, "run"))
		case r.Complete:
			p.reached, p.why = Minimised, fmt.Sprintf("failure/%d, minification/%d", failure, f.Minification)
		case r.Confirmed > 0:
			p.reached, p.why = Confirmed, fmt.Sprintf("failure/%d failed again in a fresh process", failure)
		}
	}
	if f.Bisection != 0 {
		b, err := s.Bisection(ctx, f.Bisection)
		if err != nil {
			return p, err
		}
		if b.Result != "" {
			p.reached, p.why = Bisected, fmt.Sprintf("bisection/%d: %s", f.Bisection, b.Result)
		}
	}
	return p, nil
}

// keys are what p is looked up by, with what it says of its group.
func (p placed) keys() []string {
	k := p.features.Keys()
	if p.features.decisive() {
		k = append(k, keyDecisive)
	}
	if p.features.Minimal {
		k = append(k, keyMinimal)
	}
	return k
}

// neighbour is a group that a failure belongs to, by its nearest member.
type neighbour struct {
	group    int64
	failure  int64
	distance float64
	pinned   bool
}

// neighbours are the groups that p belongs to, nearest first.
func neighbours(g *replay.Grouping, p placed, was replay.Member) ([]neighbour, error) {
	found, err := g.Alike(p.features.Keys(), tooPopular)
	if err != nil {
		return nil, err
	}
	if was.Group != 0 { // those beside it are asked, though they may not be looked up yet
		beside, err := g.Of(was.Group)
		if err != nil {
			return nil, err
		}
		found = append(found, beside[:min(len(beside), enoughIndexed)]...)
	}
	best := map[int64]neighbour{}
	decisive := map[int64]bool{}
	for _, m := range found {
		if m.Failure == p.id {
			continue
		}
		f, err := ParseFeatures(m.Features)
		if err != nil {
			return nil, &replay.CorruptError{Table: "member", Key: fmt.Sprint(m.Failure), Msg: err.Error()}
		}
		if p.features.decisive() && !f.decisive() {
			// Somebody in the group knows better what the bug is.
			d, known := decisive[m.Group]
			if !known {
				if d, err = g.Has(m.Group, keyDecisive); err != nil {
					return nil, err
				}
				decisive[m.Group] = d
			}
			if d {
				continue
			}
		}
		c := Compare(p.features, f)
		if b, ok := best[m.Group]; c.Same && (!ok || c.Distance < b.distance) {
			best[m.Group] = neighbour{m.Group, m.Failure, c.Distance, false}
		}
	}
	var out []neighbour
	for _, n := range best {
		if n.pinned, err = g.IsPinned(n.group); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b neighbour) int {
		switch {
		case a.distance < b.distance:
			return -1
		case a.distance > b.distance:
			return 1
		}
		return int(a.group - b.group)
	})
	return out, nil
}

// place puts one failure where it belongs.
func place(g *replay.Grouping, p placed, actor string) (group int64, created bool, err error) {
	was, had, err := g.Member(p.id)
	if err != nil {
		return 0, false, err
	}
	if had && was.Pinned {
		return was.Group, false, put(g, p, was, was.Group, was.Distance, true, actor)
	}
	all, err := neighbours(g, p, was)
	if err != nil {
		return 0, false, err
	}
	if had && was.Features == p.text && !slices.ContainsFunc(all, func(n neighbour) bool { return n.group == was.Group }) {
		pinned, err := g.IsPinned(was.Group)
		if err != nil {
			return 0, false, err
		}
		all = append(all, neighbour{was.Group, p.id, was.Distance, pinned}) // nothing has changed that put it there
	}
	switch {
	case len(all) > 0:
		group, err = join(g, p, was, all, actor)
		return group, false, err
	case had:
		stays := !p.features.decisive()
		if !stays {
			in, err := g.Group(was.Group)
			if err != nil {
				return 0, false, err
			}
			stays = in.Members == 1
		}
		if stays {
			return was.Group, false, put(g, p, was, was.Group, was.Distance, false, actor)
		}
		if err := g.Event(was.Group, actor, "member", fmt.Sprintf("failure/%d went: what was found about it does not fit", p.id)); err != nil {
			return 0, false, err
		}
	}
	if group, err = g.Create(p.features.Title(), string(New), actor, fmt.Sprintf("failure/%d", p.id)); err != nil {
		return 0, false, err
	}
	return group, true, put(g, p, was, group, 0, false, actor)
}

// join puts p into the nearest of the groups that it belongs to. A decisive failure shows that all of them are one.
func join(g *replay.Grouping, p placed, was replay.Member, all []neighbour, actor string) (int64, error) {
	to := all[0]
	if p.features.decisive() {
		if was.Group != 0 && !slices.ContainsFunc(all, func(n neighbour) bool { return n.group == was.Group }) {
			if in, err := g.Group(was.Group); err != nil {
				return 0, err
			} else if in.Members == 1 { // it brings its history
				all = append(all, neighbour{group: was.Group})
			}
		}
		into := to.group
		if !to.pinned { // the oldest has the number that people know
			for _, n := range all {
				if !n.pinned {
					into = min(into, n.group)
				}
			}
		}
		for _, n := range all {
			if n.group == into || n.pinned {
				continue
			}
			if err := mergeInto(g, n.group, into, actor, fmt.Sprintf("is the same bug, by failure/%d", p.id)); err != nil {
				return 0, err
			}
		}
		to.group = into
	} else if was.Group != 0 {
		if in, err := g.Group(was.Group); err != nil {
			return 0, err
		} else if in.Members > 1 {
			to.group = was.Group // too little is known of it to move it
		} else if was.Group != to.group {
			if err := mergeInto(g, was.Group, to.group, actor, fmt.Sprintf("is the same bug, by failure/%d", p.id)); err != nil {
				return 0, err
			}
		}
	}
	if was.Group != 0 && was.Group != to.group {
		if still, ok, err := g.Member(p.id); err != nil {
			return 0, err
		} else if ok && still.Group != to.group {
			if err := g.Event(still.Group, actor, "member", fmt.Sprintf("failure/%d went to group/%d", p.id, to.group)); err != nil {
				return 0, err
			}
		}
	}
	if was.Failure == 0 {
		if err := g.Event(to.group, actor, "member", fmt.Sprintf("failure/%d, at distance %.2f of failure/%d", p.id, to.distance, to.failure)); err != nil {
			return 0, err
		}
		if err := comeBack(g, p, to.group, actor); err != nil {
			return 0, err
		}
	}
	return to.group, put(g, p, was, to.group, to.distance, false, actor)
}

// mergeInto merges groups, of which one may be closed: what is open stays so.
func mergeInto(g *replay.Grouping, from, into int64, actor, why string) error {
	a, err := g.Group(from)
	if err != nil {
		return err
	}
	b, err := g.Group(into)
	if err != nil {
		return err
	}
	if err := g.Merge(from, into, actor, why); err != nil {
		return err
	}
	if State(a.State).Open() && !State(b.State).Open() {
		if err := setState(g, into, New, actor, "reopened", fmt.Sprintf("group/%d was open", from)); err != nil {
			return err
		}
	}
	return nil
}

// comeBack reopens a group that was done with when p was met.
func comeBack(g *replay.Grouping, p placed, group int64, actor string) error {
	in, err := g.Group(group)
	if err != nil || State(in.State).Open() {
		return err
	}
	var since time.Time
	for _, kind := range []string{"fixed", "state"} {
		e, found, err := g.LastEvent(group, kind)
		if err != nil {
			return err
		}
		if found && e.Created.After(since) {
			since = e.Created
		}
	}
	if !p.created.After(since) {
		return nil // it failed before that
	}
	return setState(g, group, New, actor, "reopened", fmt.Sprintf("back: failure/%d", p.id))
}

// put writes the member, lets others be found by what it was found by, and brings the group as far as p shows.
func put(g *replay.Grouping, p placed, was replay.Member, group int64, distance float64, pinned bool, actor string) error {
	if was.Failure != 0 && was.Features != p.text {
		if err := replaceTwin(g, was); err != nil {
			return err
		}
	}
	hadMinimal, err := g.Has(group, keyMinimal)
	if err != nil {
		return err
	}
	keys, err := wanted(g, p, group, distance)
	if err != nil {
		return err
	}
	if was.Failure != 0 && was.Group == group && was.Features == p.text && was.Pinned == pinned {
		if len(keys) > 0 {
			if err := g.Index(p.id, keys); err != nil {
				return err
			}
		}
		if err := g.Touch(p.id); err != nil {
			return err
		}
		return advance(g, p, group, actor)
	}
	if err := g.Put(replay.Member{Failure: p.id, Group: group, Features: p.text, Distance: distance, Pinned: pinned}, keys); err != nil {
		return err
	}
	if p.features.Minimal && !hadMinimal {
		in, err := g.Group(group)
		if err != nil {
			return err
		}
		in.Title = p.features.Title()
		if err := g.Change(in); err != nil {
			return err
		}
	}
	return advance(g, p, group, actor)
}

// wanted is what p is to be looked up by: nothing where others of its group do as well.
func wanted(g *replay.Grouping, p placed, group int64, distance float64) ([]string, error) {
	twin, err := g.Twin(group, p.id, p.text, true)
	if err != nil || twin != 0 {
		return nil, err
	}
	if distance <= near && !p.features.Minimal {
		if n, err := g.Indexed(group); err != nil || n >= enoughIndexed {
			return nil, err
		}
	}
	return p.keys(), nil
}

// replaceTwin lets another member with the features that one had be looked up in its place.
func replaceTwin(g *replay.Grouping, was replay.Member) error {
	twin, err := g.Twin(was.Group, was.Failure, was.Features, false)
	if err != nil || twin == 0 {
		return err
	}
	f, err := ParseFeatures(was.Features)
	if err != nil {
		return &replay.CorruptError{Table: "member", Key: fmt.Sprint(was.Failure), Msg: err.Error()}
	}
	return g.Index(twin, placed{features: f}.keys())
}

// advance brings a group as far as p shows, if its state may go there by itself.
func advance(g *replay.Grouping, p placed, group int64, actor string) error {
	in, err := g.Group(group)
	if err != nil {
		return err
	}
	from := State(in.State)
	if p.reached == New || !from.Open() || from == p.reached || from == Bisected || !slices.Contains(transitions[from], p.reached) {
		return nil
	}
	return setState(g, group, p.reached, actor, "state", p.why)
}

// Merge makes one group of several by hand: all members go to the first, and stay.
func Merge(ctx context.Context, s *replay.Store, into int64, others []int64, actor string) error {
	return s.Regroup(ctx, func(g *replay.Grouping) error {
		for _, o := range others {
			if o == into {
				return fmt.Errorf("group/%d cannot be merged into itself", o)
			}
			if _, err := g.Group(into); err != nil {
				return err
			}
			if err := g.Pin(o); err != nil {
				return err
			}
			if err := mergeInto(g, o, into, actor, "merged by hand"); err != nil {
				return err
			}
		}
		return nil
	})
}

// Split takes failures out of their group by hand, into a new one. Neither these nor those that stay move by themselves afterwards.
func Split(ctx context.Context, s *replay.Store, failures []int64, actor string) (group int64, err error) {
	failures = slices.Compact(slices.Sorted(slices.Values(failures)))
	if len(failures) == 0 {
		return 0, errors.New("split takes failures, got none")
	}
	err = s.Regroup(ctx, func(g *replay.Grouping) error {
		var members []replay.Member
		for _, id := range failures {
			m, found, err := g.Member(id)
			if err != nil {
				return err
			}
			if !found {
				return &replay.NotFoundError{Table: "group of failure", Key: fmt.Sprint(id)}
			}
			if m.Group != members0(members, m).Group {
				return fmt.Errorf("failure/%d is in group/%d, failure/%d in group/%d: split takes failures of one group", members[0].Failure, members[0].Group, id, m.Group)
			}
			members = append(members, m)
		}
		from := members[0].Group
		in, err := g.Group(from)
		if err != nil {
			return err
		}
		if in.Members == len(members) {
			return fmt.Errorf("group/%d has no other failures: there is nothing to split", from)
		}
		first, err := ParseFeatures(members[0].Features)
		if err != nil {
			return err
		}
		if group, err = g.Create(first.Title(), in.State, actor, fmt.Sprintf("split from group/%d by hand", from)); err != nil {
			return err
		}
		if err := g.Pin(from); err != nil {
			return err
		}
		for _, m := range members {
			f, err := ParseFeatures(m.Features)
			if err != nil {
				return err
			}
			if err := replaceTwin(g, m); err != nil {
				return err
			}
			keys := placed{features: f}.keys()
			if twin, err := g.Twin(group, m.Failure, m.Features, true); err != nil {
				return err
			} else if twin != 0 {
				keys = nil
			}
			m.Group, m.Pinned, m.Distance = group, true, 0
			if err := g.Put(m, keys); err != nil {
				return err
			}
		}
		return g.Event(from, actor, "split", fmt.Sprintf("%s to group/%d", replay.Count(len(members), "failure"), group))
	})
	return group, err
}

// members0 is the first of members; m where there is none.
func members0(members []replay.Member, m replay.Member) replay.Member {
	if len(members) > 0 {
		return members[0]
	}
	return m
}

package triage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"whittle/replay"
)

// State is how far a group is.
type State string

// The states. Muted is none of them: a muted group goes on, and is not spoken of.
const (
	New       State = "new"
	Confirmed State = "confirmed" // failed again in a fresh process
	Minimised State = "minimised"
	Bisected  State = "bisected"
	Flaky     State = "flaky"
	Fixed     State = "fixed"
	Closed    State = "closed" // by a person: not to be fixed
)

// States are all states, in order.
var States = []State{New, Confirmed, Minimised, Bisected, Flaky, Fixed, Closed}

// transitions say which state may follow which. What is fixed or closed only comes back as new.
var transitions = map[State][]State{
	New:       {Confirmed, Minimised, Bisected, Flaky, Fixed, Closed},
	Confirmed: {Minimised, Bisected, Flaky, Fixed, Closed},
	Minimised: {Bisected, Flaky, Fixed, Closed},
	Bisected:  {Flaky, Fixed, Closed},
	Flaky:     {Confirmed, Minimised, Bisected, Fixed, Closed},
	Fixed:     {New, Closed},
	Closed:    {New},
}

// Open reports whether a group of this state is something to be done.
func (s State) Open() bool { return s != Fixed && s != Closed }

// TransitionError says that a state may not follow another.
type TransitionError struct {
	Group    int64
	From, To State
}

func (e *TransitionError) Error() string {
	var may []string
	for _, t := range transitions[e.From] {
		may = append(may, string(t))
	}
	return fmt.Sprintf("group/%d is %s, and cannot become %s (but %s)", e.Group, e.From, e.To, strings.Join(may, ", "))
}

// ParseState reads a state's name.
func ParseState(name string) (State, error) {
	if !slices.Contains(States, State(name)) {
		return "", fmt.Errorf("no state %q: %v are", name, States)
	}
	return State(name), nil
}

// setState moves a group to a state, with an event of a kind.
func setState(g *replay.Grouping, group int64, to State, actor, kind, why string) error {
	was, err := g.Group(group)
	if err != nil {
		return err
	}
	from := State(was.State)
	if !slices.Contains(transitions[from], to) {
		return &TransitionError{group, from, to}
	}
	was.State = string(to)
	if err := g.Change(was); err != nil {
		return err
	}
	text := fmt.Sprintf("%s, was %s", to, from)
	if why != "" {
		text += ": " + why
	}
	return g.Event(group, actor, kind, text)
}

// SetState moves a group to a state: *TransitionError where it cannot follow, *replay.NotFoundError for no such group. why may be "".
func SetState(ctx context.Context, s *replay.Store, group int64, to State, actor, why string) error {
	kind := "state"
	if to == Fixed {
		kind = "fixed"
	}
	return s.Regroup(ctx, func(g *replay.Grouping) error { return setState(g, group, to, actor, kind, why) })
}

// Reopen brings a fixed or closed group back.
func Reopen(ctx context.Context, s *replay.Store, group int64, actor, why string) error {
	return s.Regroup(ctx, func(g *replay.Grouping) error { return setState(g, group, New, actor, "reopened", why) })
}

// edit changes a group by hand.
func edit(ctx context.Context, s *replay.Store, group int64, actor, kind, text string, change func(*replay.Group)) error {
	return s.Regroup(ctx, func(g *replay.Grouping) error {
		was, err := g.Group(group)
		if err != nil {
			return err
		}
		change(&was)
		if err := g.Change(was); err != nil {
			return err
		}
		return g.Event(group, actor, kind, text)
	})
}

// Mute keeps a group from being spoken of, for a reason, until a time; zero: for ever.
func Mute(ctx context.Context, s *replay.Store, group int64, reason string, until time.Time, actor string) error {
	if strings.TrimSpace(reason) == "" {
		return fmt.Errorf("group/%d: muting takes a reason", group)
	}
	text := reason
	if !until.IsZero() {
		text += ", until " + until.Format(time.DateOnly)
	}
	return edit(ctx, s, group, actor, "mute", text, func(g *replay.Group) { g.Muted, g.Until = reason, until })
}

// Unmute ends that.
func Unmute(ctx context.Context, s *replay.Store, group int64, actor string) error {
	return edit(ctx, s, group, actor, "unmute", "", func(g *replay.Group) { g.Muted, g.Until = "", time.Time{} })
}

// IsMuted reports whether a group is muted at a time.
func IsMuted(g replay.Group, at time.Time) bool {
	return g.Muted != "" && (g.Until.IsZero() || at.Before(g.Until))
}

// Assign says who sees to a group; "": nobody.
func Assign(ctx context.Context, s *replay.Store, group int64, who, actor string) error {
	text := who
	if who == "" {
		text = "nobody"
	}
	return edit(ctx, s, group, actor, "assign", text, func(g *replay.Group) { g.Assignee = who })
}

package serve

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/maruel/natural"

	"whittle/replay"
)

// axis is a bisection as a picture: the points that were tested, oldest first where their names tell the order.
type axis struct {
	replay.BisectionRow
	Points   []point
	Ordered  bool   // as the axis is, or by version; else in the order in which they were tested: the store does not know where they stand
	Between  [2]int // of the points, the last before the change and the first after it; both 0: not known
	Left     int    // points that are not drawn
	Width    int
	Err      string // why there are no points
	Failures []replay.FailureRow
}

// point is one that was tested. Verdict is good, bad, skip, or other: it failed in another way than the points that are bad.
type point struct {
	Name, Verdict, Text string
	Tests, Bad          int // of those that told
	X                   int
	Named               bool // by the result
}

// Letter stands for the verdict without its colour.
func (p point) Letter() string {
	return map[string]string{"good": "✓", "bad": "✗", "skip": "–", "other": "≠"}[p.Verdict]
}

// The picture: pixels of a point's place, and how many points are drawn.
const (
	pointWidth  = 34
	pointsDrawn = 200
)

// version is a name that tells where it stands among others.
var version = regexp.MustCompile(`^[vV]?[0-9]`)

func (s *Server) axis(ctx context.Context, id int64) (*axis, error) {
	row, err := s.store.BisectionByID(ctx, id)
	if err != nil {
		return nil, err
	}
	a := &axis{BisectionRow: row}
	trials, err := s.store.Trials(ctx, id)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		a.Err = err.Error()
		return a, nil
	}
	a.add(trials)
	return a, nil
}

// add judges the answers and puts the points in order.
func (a *axis) add(trials []replay.BisectionTrial) {
	if len(a.Axis) > 0 {
		a.Ordered = true
		place := map[string]int{}
		for i, p := range a.Axis {
			place[p] = i + 1
		}
		trials = slices.Clone(trials)
		slices.SortStableFunc(trials, func(x, y replay.BisectionTrial) int { return place[x.Point] - place[y.Point] })
	} else if a.Ordered = a.Kind == "versions" && !slices.ContainsFunc(trials, func(t replay.BisectionTrial) bool { return !version.MatchString(t.Point) }); a.Ordered {
		trials = slices.Clone(trials)
		slices.SortStableFunc(trials, func(x, y replay.BisectionTrial) int { return natural.Compare(x.Point, y.Point) })
	}
	// The failure that is looked for is that of the last point that has one, or of the first, where it was fixed; they are one in a bisection that was decided.
	var want replay.Signature
	for _, t := range trials {
		if t.Outcome != nil && verdict(t, replay.Signature{}) == "bad" {
			want = t.Outcome.Signature
		}
	}
	at := map[string]int{}
	for _, t := range trials {
		i, ok := at[t.Point]
		if !ok {
			i = len(a.Points)
			at[t.Point] = i
			a.Points = append(a.Points, point{Name: t.Point, Named: named(a.Result, t.Point)})
		}
		p := &a.Points[i]
		v := verdict(t, want)
		switch v {
		case "good":
			p.Tests++
		case "bad":
			p.Tests++
			p.Bad++
		}
		if p.Verdict == "" || p.Verdict == "skip" || v == "bad" {
			p.Verdict, p.Text = v, t.Text
			if t.Outcome != nil {
				p.Text = strings.TrimSpace(string(t.Outcome.Status) + ": " + t.Outcome.Signature.String())
			}
		}
	}
	a.between()
	if len(a.Points) > pointsDrawn {
		a.Left = len(a.Points) - pointsDrawn
	}
	for i := range a.Points {
		a.Points[i].X = i * pointWidth
	}
	a.Width = min(len(a.Points), pointsDrawn) * pointWidth
}

// Drawn are the points of the picture.
func (a *axis) Drawn() []point { return a.Points[:min(len(a.Points), pointsDrawn)] }

// RangeX and RangeWidth are the stretch in which the change is.
func (a *axis) RangeX() int     { return a.Between[0]*pointWidth + pointWidth/2 }
func (a *axis) RangeWidth() int { return (a.Between[1] - a.Between[0]) * pointWidth }

// between finds the range: one change from good to bad, or back, in points that stand in order.
func (a *axis) between() {
	if !a.Ordered {
		return
	}
	last, changes := -1, 0
	for i, p := range a.Points {
		if p.Verdict != "good" && p.Verdict != "bad" {
			continue
		}
		if last >= 0 && a.Points[last].Verdict != p.Verdict {
			changes++
			a.Between = [2]int{last, i}
		}
		last = i
	}
	if changes != 1 {
		a.Between = [2]int{}
	}
}

// verdict judges one answer. Those of engines are judged as outcomes: want is the failure that is looked for, zero: any.
func verdict(t replay.BisectionTrial, want replay.Signature) string {
	if t.Outcome == nil {
		switch t.Verdict {
		case "good", "bad":
			return t.Verdict
		}
		return "skip"
	}
	switch t.Outcome.Status {
	case replay.Pass:
		return "good"
	case replay.Failed, replay.Timeout, replay.OOM, replay.Killed:
		if want.IsZero() || t.Outcome.Signature.Matches(want) {
			return "bad"
		}
		return "other"
	}
	return "skip"
}

// named reports whether the result of a bisection names a point alone: as the first that is bad or good.
func named(result, point string) bool {
	line, _, _ := strings.Cut(result, "\n")
	return line == "first bad: "+point || line == "first good: "+point
}

func (s *Server) bisections(r *http.Request) (view, error) {
	before, err := numberOr(r, "before", 0)
	if err != nil {
		return view{}, err
	}
	rows, err := s.store.BisectionPage(r.Context(), before, pageRows+1)
	var b struct {
		Rows []replay.BisectionRow
		Next string
	}
	var next bool
	if b.Rows, next = more(rows, pageRows); next && err == nil {
		b.Next, err = query("/bisections", "before", b.Rows[pageRows-1].ID)
	}
	return view{name: "bisections", Title: "Bisections", Nav: "/bisections", Body: b}, err
}

func (s *Server) bisection(r *http.Request) (view, error) {
	id, err := number(r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	a, err := s.axis(r.Context(), id)
	if err != nil {
		return view{}, err
	}
	a.Failures, err = s.store.FailuresOf(r.Context(), "bisection", id, 20)
	return view{name: "bisection", Title: fmt.Sprintf("Bisection %d", id), Nav: "/bisections", Body: a}, err
}

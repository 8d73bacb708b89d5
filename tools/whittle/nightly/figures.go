package nightly

import (
	"context"
	"fmt"
	"slices"

	"whittle/accuracy/history"
	"whittle/replay"
)

// doubted reports whether a case's first run says something new.
func (n *night) doubted(x item) bool {
	r := n.valid(x, n.newest)
	if len(r) == 0 || r[0].Outcome.Status == replay.Invalid {
		return false
	}
	o := r[0].Outcome
	if failing(o.Status) {
		return n.find(x, o.Signature) == nil
	}
	if slices.ContainsFunc(n.open[x.id], func(f *finding) bool { return f.open() && !f.flaky }) {
		return true
	}
	for name, samples := range r[0].Figures {
		if len(samples) > 0 && history.Doubtful(append(n.points(x, name), history.NewPoint(samples)), n.options(name)) {
			return true
		}
	}
	return false
}

func (n *night) options(name string) history.Options {
	return figureOf(name).options(n.Config.Thresholds, n.report.series)
}

// points are a figure's nights before this one.
func (n *night) points(x item, name string) []history.Point {
	var out []history.Point
	for _, f := range n.figures[x.id][name] {
		out = append(out, history.Point{Value: f.Value, Spread: f.Spread, Count: len(f.Samples)})
	}
	return out
}

// compare holds the figures of a case against those of the nights before.
func (n *night) compare(ctx context.Context, x item, runs []replay.Run) error {
	var names []string
	for name, samples := range runs[0].Figures {
		if len(samples) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		var all []history.Point
		var samples [][]float64
		for _, r := range runs {
			if s := r.Figures[name]; len(s) > 0 {
				all, samples = append(all, history.NewPoint(s)), append(samples, s)
			}
		}
		before := n.points(x, name)
		o := n.options(name)
		best := history.Nearest(before, all, o)
		p := all[best]
		n.report.figures = append(n.report.figures, replay.NightFigure{Night: n.row.ID, Case: x.id, Name: name, Value: p.Value, Spread: p.Spread, Samples: samples[best]})
		points := append(before, p)
		if err := n.changed(ctx, x, name, points, o); err != nil {
			return err
		}
	}
	return nil
}

// changed says what a figure's nights show tonight.
func (n *night) changed(ctx context.Context, x item, name string, points []history.Point, o history.Options) error {
	f := figureOf(name)
	rows := n.figures[x.id][name]
	at := func(i int) (key, version string) {
		if i >= len(rows) {
			return n.Key, n.newest.Version
		}
		i = slices.IndexFunc(n.before, func(b replay.Night) bool { return b.ID == rows[i].Night })
		return n.before[i].Key, n.before[i].Version
	}
	begin := 0
	for _, c := range history.Scan(points, o) {
		begin = c.At
		if c.Found != len(points)-1 {
			continue
		}
		l := Line{Kind: f.Worse, Subject: name, Since: n.Key, Version: n.newest.Version, Figure: &Change{Name: name, Before: round(c.Before), After: round(c.After), Unit: f.Unit}}
		if (c.After > c.Before) == f.Down {
			l.Kind = f.Better
		}
		_, before := at(c.At - 1)
		since, version := at(c.At)
		l.Range = &Range{Good: before, Bad: version, Night: since}
		l.Text = l.Figure.text()
		if o.Scale == history.Ratio {
			l.Figure.Low, l.Figure.High = round(c.Low), round(c.High)
			l.Text += fmt.Sprintf(" (%s; 95 %% interval %s to %s)", percent(c.After/c.Before), percent(c.Low), percent(c.High))
		}
		l.Text += "; since night " + since
		if before != version {
			l.Text += fmt.Sprintf(", between versions %s and %s", before, version)
		}
		if l.Kind == "less_accurate" {
			if err := n.diverge(ctx, x, &l, true); err != nil {
				return err
			}
		}
		n.line(x, l)
	}
	if f.Limit == 0 || slices.ContainsFunc(n.said, func(s replay.News) bool {
		return s.Case == x.id && s.Kind == "drifting" && s.Subject == name && len(rows) > 0 && s.Night >= rows[max(len(rows)-60, 0)].Night && s.Night >= rows[min(begin, len(rows)-1)].Night
	}) {
		return nil
	}
	if t, ok := history.FindTrend(points, f.Limit, o); ok {
		since, _ := at(t.Since)
		l := Line{Kind: "drifting", Subject: name, Since: since, Version: n.newest.Version, Figure: &Change{Name: name, Before: round(points[t.Since].Value), After: round(points[len(points)-1].Value), Unit: f.Unit, Limit: f.Limit, Nights: t.Nights}}
		l.Text = fmt.Sprintf("%s since night %s, %s a night: passes its limit of %v in %s if it goes on", l.Figure.text(), since, percent(t.Nightly), f.Limit, replay.Count(t.Nights, "night"))
		if f.Worse == "less_accurate" {
			if err := n.diverge(ctx, x, &l, true); err != nil {
				return err
			}
		}
		n.line(x, l)
	}
	return nil
}

package nightly

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"whittle/replay"
)

// finding is a failure that a night reported, and what became of it.
type finding struct {
	Line               // as it was first said, or said to be back
	flaky       bool   // it does not fail in every run
	closed      bool   // fixed, or withdrawn
	last        int64  // the last night that saw it
	lastKey     string // its key
	lastVersion string // on which it failed then
}

// sure is how likely a flaky failure has to show by now, if it were still there, for it to count as fixed.
const sure = 0.99

// says reports whether an outcome says something about its case.
func says(o replay.Outcome) bool {
	return o.Status != replay.Infrastructure && (!failing(o.Status) || replay.MachineFault(o.Signature.Type, o.Message) == nil)
}

// judge says what there is to say about a case.
func (n *night) judge(ctx context.Context, x item) error {
	n.report.Cases++
	if x.Case.Problem != "" {
		n.report.Untested++
		n.trouble(x, x.Case.Problem)
		return nil
	}
	runs := n.valid(x, n.newest)
	if len(runs) == 0 {
		n.report.Untested++
		r, _ := n.run(x, n.newest, 0)
		text := r.Outcome.Message
		if fault := replay.MachineFault(r.Outcome.Signature.Type, text); fault != nil {
			text = fault.Error()
		}
		n.trouble(x, "could not be measured: "+text)
		return nil
	}
	first := runs[0].Outcome
	if first.Status == replay.Invalid {
		n.report.Untested++
		n.trouble(x, "does not run in eager: "+first.Message)
		return nil
	}
	if failing(first.Status) {
		n.report.Failed++
	} else {
		n.report.Passed++
	}
	if failing(first.Status) {
		if f := n.find(x, first.Signature); f != nil {
			n.line(x, n.known(f))
			return nil
		}
		return n.fails(ctx, x, runs, 0)
	}
	if len(runs) >= attempts { // something was doubted: a run that fails is no accident of one process
		for i, r := range runs {
			if failing(r.Outcome.Status) {
				if f := n.find(x, r.Outcome.Signature); f != nil {
					return n.wavers(x, f, runs)
				}
				return n.fails(ctx, x, runs, i)
			}
		}
	}
	for _, f := range n.open[x.id] {
		if !f.open() {
			continue
		}
		if err := n.passes(ctx, x, f, runs); err != nil {
			return err
		}
	}
	return n.compare(ctx, x, runs)
}

// find is the open finding that a signature shows; nil: it is new.
func (n *night) find(x item, s replay.Signature) *finding {
	for _, f := range n.open[x.id] {
		if f.open() && f.Signature.Matches(s) {
			return f
		}
	}
	return nil
}

// known is the line of a finding that is open already.
func (n *night) known(f *finding) Line {
	l := f.Line
	l.Kind, l.History = "known", nil
	l.Text = fmt.Sprintf("since night %s, version %s", f.Since, f.Version)
	if f.flaky {
		l.Text = "comes and goes " + l.Text
	}
	return l
}

// wavers is for a finding that was thought to be reliable, and passes in some runs.
func (n *night) wavers(x item, f *finding, runs []replay.Run) error {
	l := n.known(f)
	if !f.flaky {
		l.Kind, l.Text = "flaky", fmt.Sprintf("%s; open since night %s", rateText(*f.Signature, runs), f.Since)
	}
	l.Rate = rate(*f.Signature, runs)
	n.line(x, l)
	return nil
}

// rate is the share of runs that fail in one way.
func rate(s replay.Signature, runs []replay.Run) float64 {
	fails := 0
	for _, r := range runs {
		if failing(r.Outcome.Status) && s.Matches(r.Outcome.Signature) {
			fails++
		}
	}
	return float64(fails) / float64(len(runs))
}

func rateText(s replay.Signature, runs []replay.Run) string {
	return fmt.Sprintf("fails in %.0f of %s", rate(s, runs)*float64(len(runs)), replay.Count(len(runs), "run"))
}

// fails is for a failure that is not open: that of the run at i, which decides what it is.
func (n *night) fails(ctx context.Context, x item, runs []replay.Run, i int) error {
	s := runs[i].Outcome.Signature
	if len(runs) < attempts {
		n.trouble(x, "fails, which could not be confirmed because the machine or the engine failed: "+s.String())
		return nil
	}
	l := Line{Kind: "new", Subject: plain(s.String()), Signature: &s, Since: n.Key, Version: n.newest.Version, Fingerprint: n.report.Fingerprint, Rate: rate(s, runs), Text: rateText(s, runs)}
	for _, f := range n.open[x.id] {
		if f.closed && f.Signature.Matches(s) {
			l.Kind, l.History = "back", f.History
		}
	}
	if l.Rate < 1 && l.Kind == "new" {
		l.Kind = "flaky"
	}
	if l.Kind == "back" {
		l.Text += "; before: " + strings.Join(l.History, ", ")
	}
	repro := ""
	if x.Case.Repro {
		repro = x.Case.Text
	} else if runs[i].Outcome.Detail != "" {
		repro = runs[i].Outcome.Detail
	}
	origin := n.Config.Name + ": " + x.Case.Name
	if m := x.Mode.String(); m != "" {
		origin += " [" + m + "]"
	}
	id, err := n.Store.PutRunFailure(ctx, runs[i], replay.Failure{Signature: s, Raw: runs[i].Outcome.Message, Repro: repro}, origin)
	if err != nil {
		return err
	}
	l.Failure = id
	if err := n.work(ctx, x, &l, repro, runs[i].Attempt); err != nil {
		return err
	}
	if n.Group != nil {
		group, _, err := n.Group(ctx, id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			n.trouble(x, "could not be grouped: "+err.Error())
		}
		l.Group = group
	}
	n.line(x, l)
	return nil
}

// passes is for an open finding of a case that passes in all runs.
func (n *night) passes(ctx context.Context, x item, f *finding, runs []replay.Run) error {
	l := f.Line
	l.Range = nil
	if f.flaky {
		quiet := 1
		for _, b := range n.before {
			if b.ID > f.last {
				quiet++
			}
		}
		// The rate is what few runs showed: one failure more and one pass more are taken to be seen (Laplace's rule of succession).
		if p := math.Pow(1-(f.Rate*attempts+1)/(attempts+2), float64(quiet)); 1-p < sure {
			return nil
		}
		l.Kind, l.Text = "fixed", fmt.Sprintf("was flaky, and has not failed in %s", replay.Count(quiet, "night"))
		n.line(x, l)
		return nil
	}
	if len(runs) < attempts {
		return nil // tomorrow
	}
	old := slices.IndexFunc(n.engines, func(e Engine) bool { return e.Version == f.Version })
	last := slices.IndexFunc(n.engines, func(e Engine) bool { return e.Version == f.lastVersion })
	there := fmt.Sprintf("does not fail any more on version %s, on which it was found in night %s", f.Version, f.Since)
	switch {
	case f.Version == n.newest.Version && f.Fingerprint == n.report.Fingerprint:
		l.Kind, l.Text = "withdrawn", there
		n.line(x, l)
		return nil
	case old >= 0 && old < len(n.engines)-1 && n.started(ctx, n.engines[old]) == nil:
		if err := n.ensure(ctx, []item{x}, n.engines[old], attempts, false); err != nil {
			return err
		}
		again := n.valid(x, n.engines[old])
		if len(again) >= attempts && rate(*f.Signature, again) == 0 {
			l.Kind, l.Text = "withdrawn", there
			n.line(x, l)
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.Kind, l.Text = "fixed", fmt.Sprintf("failed on version %s in night %s, and passes on %s", f.lastVersion, f.lastKey, n.newest.Version)
	if last >= 0 && last < len(n.engines)-1 {
		r, err := n.bisect(ctx, x, *f.Signature, n.engines[last:], false)
		if err != nil {
			return err
		}
		if r != nil && r.Same == "" {
			l.Range = r
			l.Text += "; " + r.text()
		}
	}
	n.line(x, l)
	return nil
}

// absent is for what is open and belongs to no case of tonight.
func (n *night) absent(ctx context.Context) error {
	here := map[int64]bool{}
	for _, x := range n.items {
		here[x.id] = true
	}
	all, err := n.Store.Cases(ctx, n.Config.Name)
	if err != nil {
		return err
	}
	var ids []int64
	for id := range n.open {
		if !here[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		for _, f := range n.open[id] {
			if f.open() {
				n.report.Trouble = append(n.report.Trouble, Trouble{all[id].Name, all[id].Mode, "is not among the cases any more; open since night " + f.Since + ": " + f.Subject})
			}
		}
	}
	return nil
}

func (f *finding) open() bool { return !f.closed }

// readFindings goes through what the nights said, in their order.
func readFindings(said []replay.News) (map[int64][]*finding, error) {
	out := map[int64][]*finding{}
	for _, s := range said {
		var l Line
		if err := json.Unmarshal([]byte(s.Detail), &l); err != nil {
			return nil, &replay.CorruptError{Table: "news", Key: fmt.Sprintf("%d/%d/%s/%s", s.Night, s.Case, s.Kind, s.Subject), Msg: err.Error()}
		}
		if l.Signature == nil {
			continue // about a figure
		}
		i := slices.IndexFunc(out[s.Case], func(f *finding) bool { return f.Subject == l.Subject })
		if i < 0 {
			out[s.Case] = append(out[s.Case], &finding{Line: l})
			i = len(out[s.Case]) - 1
			out[s.Case][i].History = nil
		}
		f := out[s.Case][i]
		switch s.Kind {
		case "new", "back":
			old := f.History
			f.Line, f.flaky, f.closed = l, l.Rate < 1, false
			f.History = append(old, fmt.Sprintf("%s in night %s (%s)", s.Kind, s.Key, l.Version))
		case "flaky":
			f.flaky, f.closed, f.Rate = true, false, l.Rate
			f.History = append(f.History, fmt.Sprintf("flaky in night %s", s.Key))
		case "fixed", "withdrawn":
			f.closed = true
			f.History = append(f.History, fmt.Sprintf("%s in night %s", s.Kind, s.Key))
		}
		if s.Kind != "fixed" && s.Kind != "withdrawn" {
			f.last, f.lastKey = s.Night, s.Key
			f.lastVersion = l.seen()
		}
	}
	return out, nil
}

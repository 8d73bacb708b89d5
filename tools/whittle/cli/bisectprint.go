package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"whittle/minify/bisect"
	"whittle/replay"
)

// A bisectPrinter tells people, or programs, what a bisection does. With --json, standard output has the events, one JSON object a line, each with
// these fields first:
//
//	event       start, tested or done
//	elapsed_ms  since the command began; the only field that depends on time
//
// and then those of its kind:
//
//	start   id (of the bisection in the store), kind (of points), subject (what is tested), points (how many)
//	tested  id, point (its name; of settings those that are as in the bad configuration, or none, or all), attempt (from 0),
//	        verdict (good, bad, skip), text (why), known (the store had the answer)
//	done    id, subject, status, first, fixed, suspects, doubts, set, workaround, probability, rate, false_rate, tests, known, rounds, error
//
// status is found (first is the first bad point, or the first good one where fixed; of settings set has those that decide, as they are in the bad
// configuration, and workaround those that help, as they are in the good one), range (it is one of suspects), same (the ends do not differ; error
// says how), failed (a test gave no answer; error says why) or stopped (by a signal). doubts are pairs of points that speak of a second change: the
// later one is as before the first. probability and the rates are of tests that are wrong now and then; 0 otherwise. tests were run, known answers came from the
// store. Of each subject, done comes last, once. Two runs of one bisection write the same lines with the same number of workers, apart from
// elapsed_ms and known.
type bisectPrinter struct {
	a      *app
	out    io.Writer    // for people
	events *eventWriter // nil without --json
	many   bool
	table  [][]string // of many subjects: name, what was found, and each point
}

// The kinds of events. Their fields are documented at bisectPrinter.
type (
	bisectStart struct {
		ID      int64  `json:"id"`
		Kind    string `json:"kind"`
		Subject string `json:"subject"`
		Points  int    `json:"points"`
	}
	bisectTested struct {
		ID      int64          `json:"id"`
		Point   string         `json:"point"`
		Attempt int            `json:"attempt"`
		Verdict bisect.Verdict `json:"verdict"`
		Text    string         `json:"text"`
		Known   bool           `json:"known"`
	}
	bisectDone struct {
		ID          int64           `json:"id"`
		Subject     string          `json:"subject"`
		Status      string          `json:"status"`
		First       string          `json:"first"`
		Fixed       bool            `json:"fixed"`
		Suspects    []string        `json:"suspects"`
		Doubts      [][2]string     `json:"doubts"`
		Set         []string        `json:"set"`
		Workaround  []string        `json:"workaround"`
		Layer       string          `json:"layer"`
		Choices     []replay.Choice `json:"choices"`
		Share       float64         `json:"share"`
		Probability float64         `json:"probability"`
		Rate        float64         `json:"rate"`
		FalseRate   float64         `json:"false_rate"`
		Tests       int             `json:"tests"`
		Known       int             `json:"known"`
		Rounds      int             `json:"rounds"`
		Error       string          `json:"error"`
	}
)

func newBisectPrinter(a *app, o bisectOptions, many bool) *bisectPrinter {
	p := &bisectPrinter{a: a, out: a.stdout, many: many}
	if o.json {
		p.out, p.events = a.stderr, newEventWriter(a.stdout, time.Now)
	}
	return p
}

func (p *bisectPrinter) start(id int64, b *bisection) {
	if p.events != nil {
		p.events.write("start", bisectStart{id, b.kind, b.subject, len(b.points)})
	}
}

func (p *bisectPrinter) tested(id int64, b *bisection, t told) {
	if p.events != nil {
		p.events.write("tested", bisectTested{id, t.name, t.attempt, t.answer.Verdict, t.answer.Text, t.known})
	}
	name, text := t.name, ""
	if b.settings != nil {
		name = b.settings.said(name)
	}
	if t.answer.Text != "" {
		text = " (" + t.answer.Text + ")"
	}
	fmt.Fprintf(p.a.stderr, "whittle: %s: %s%s\n", name, t.answer.Verdict, text)
}

// failed tells of a bisection that a test has ended, and stopped of one that the user has.
func (p *bisectPrinter) failed(b *bisection, err error) { p.broken(b, "failed", err.Error()) }
func (p *bisectPrinter) stopped(b *bisection)           { p.broken(b, "stopped", "") }

func (p *bisectPrinter) broken(b *bisection, status, why string) {
	if p.events != nil {
		p.events.write("done", bisectDone{Subject: b.subject, Status: status, Error: why, Suspects: []string{}, Doubts: [][2]string{}, Set: []string{}, Workaround: []string{}})
	}
}

// result tells what was found. The error is exit status 1 where that is not one point.
func (p *bisectPrinter) result(b *bisection, r bisectResult) error {
	if b.settings == nil {
		p.pointTable(b, r)
	} else if p.many {
		p.table = append(p.table, []string{b.subject, r.text(b)})
	}
	fmt.Fprintln(p.out, r.text(b))
	if d := r.deciding; d != nil && len(d.Workaround) > 0 {
		fmt.Fprintf(p.out, "workaround: %s\n", strings.Join(b.settings.show(false, d.Workaround), ", "))
	}
	if r.found.Decided() && b.title != nil {
		fmt.Fprintln(p.out, b.title(b.points[r.found.Suspects[0]]))
	}
	if r.likely != nil && r.ends == nil {
		fmt.Fprintf(p.out, "probability: %.4f; bad in %.0f %% of tests with the change, and in %.1f %% without, after %s\n", r.likely.Probability, 100*r.likely.Rates.Fail, 100*r.likely.Rates.False,
			replay.Count(r.likely.Answers, "answer"))
	}
	for _, d := range r.found.Doubts {
		fmt.Fprintf(p.out, "there is more than one change: %s is past one, and %s, which comes later, is as before it\n", b.points[d[0]], b.points[d[1]])
	}
	if r.found.Decided() && b.rerun != nil {
		first := r.found.Suspects[0]
		was, is := "good", "bad"
		if r.found.Fixed {
			was, is = is, was
		}
		fmt.Fprintf(p.out, "%s: %s\n%s: %s\n", was, b.rerun(b.points[first-1]), is, b.rerun(b.points[first]))
	}
	c := r.found.Cost
	fmt.Fprintf(p.a.stderr, "whittle: bisection/%d: %s, %s, %s from the store\n", r.id, replay.Count(c.Tests, "test"), replay.Count(c.Rounds, "round"), replay.Count(c.Known, "answer"))
	if p.events != nil {
		p.events.write("done", r.done(b))
		if err := p.events.Err(); err != nil {
			return err
		}
	}
	if !r.decided() && !(p.many && r.ends != nil) {
		return exitCode(1)
	}
	return nil
}

// words are the verdicts of a point in the tables: those of an engine are about the failure.
func (b *bisection) words(a bisect.Answer) string {
	switch {
	case !b.engine:
		return string(a.Verdict)
	case a.Verdict == bisect.Bad:
		return "fails"
	case a.Verdict == bisect.Good:
		return "passes"
	case strings.HasPrefix(a.Text, differently):
		return "fails differently"
	}
	return "skipped"
}

// pointTable prints what each point that was tested is, in the order of the points.
func (p *bisectPrinter) pointTable(b *bisection, r bisectResult) {
	row := []string{b.subject, ""}
	var cells [][]string
	for i, name := range b.points {
		var of []told
		for _, t := range r.trials {
			if t.point == i {
				of = append(of, t)
			}
		}
		if len(of) == 0 {
			continue
		}
		text, word := of[0].answer.Text, b.words(of[0].answer)
		if r.likely != nil {
			bad := 0
			for _, t := range of {
				if t.answer.Verdict == bisect.Bad {
					bad++
					text = t.answer.Text
				}
			}
			word = fmt.Sprintf("bad in %d of %d", bad, len(of))
		}
		cells = append(cells, []string{name, word, strings.TrimPrefix(text, differently)})
		row = append(row, name+" "+word)
	}
	if row[1] = r.text(b); p.many {
		p.table = append(p.table, row)
	}
	p.columns(cells)
}

// columns prints rows whose cells stand below each other, without blanks at their ends.
func (p *bisectPrinter) columns(rows [][]string) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // into memory
	for l := range strings.Lines(text.String()) {
		fmt.Fprintln(p.out, strings.TrimRight(l, " \n"))
	}
}

// end prints the table of many subjects.
func (p *bisectPrinter) end() {
	if !p.many {
		return
	}
	fmt.Fprintln(p.out)
	var rows [][]string
	for _, row := range p.table {
		rows = append(rows, []string{row[0], strings.Join(row[2:], ", "), row[1]})
	}
	p.columns(rows)
}

// decided reports whether there is an answer.
func (r bisectResult) decided() bool {
	return r.ends == nil && (r.found.Decided() || r.deciding != nil)
}

// text is what was found, in a line.
func (r bisectResult) text(b *bisection) string {
	kind := "bad"
	if r.found.Fixed {
		kind = "good"
	}
	names := r.names(b, r.found.Suspects)
	switch {
	case r.ends != nil && b.engine:
		return r.endsText(b)
	case r.ends != nil:
		return "not decided: " + r.ends.Error()
	case r.deciding != nil:
		return fmt.Sprintf("decided by %s", strings.Join(b.settings.show(true, r.deciding.Set), ", "))
	case len(names) == 1:
		return fmt.Sprintf("first %s: %s", kind, names[0])
	case r.likely != nil:
		return fmt.Sprintf("not decided: the first %s is from %s to %s", kind, names[0], names[len(names)-1])
	}
	return fmt.Sprintf("not decided: the first %s is one of %s: what is between cannot be tested", kind, strings.Join(names, ", "))
}

// endsText says of a repro how the ends are alike.
func (r bisectResult) endsText(b *bisection) string {
	first, last := b.words(r.ends.First), b.words(r.ends.Last)
	if first == last {
		return fmt.Sprintf("not decided: %s on %s and on %s", first, b.points[0], b.points[len(b.points)-1])
	}
	return fmt.Sprintf("not decided: %s on %s, %s on %s", first, b.points[0], last, b.points[len(b.points)-1])
}

func (r bisectResult) names(b *bisection, points []int) []string {
	out := []string{}
	for _, i := range points {
		out = append(out, b.points[i])
	}
	return out
}

func (r bisectResult) done(b *bisection) bisectDone {
	c := r.found.Cost
	d := bisectDone{ID: r.id, Subject: b.subject, Status: "range", Fixed: r.found.Fixed, Suspects: r.names(b, r.found.Suspects), Doubts: [][2]string{}, Set: []string{}, Workaround: []string{}, Tests: c.Tests, Known: c.Known, Rounds: c.Rounds}
	switch {
	case r.ends != nil:
		d.Status, d.Error = "same", r.ends.Error()
	case r.deciding != nil:
		d.Status, d.Set, d.Workaround = "found", b.settings.show(true, r.deciding.Set), b.settings.show(false, r.deciding.Workaround)
	case r.found.Decided():
		d.Status, d.First = "found", d.Suspects[0]
	}
	for _, x := range r.found.Doubts {
		d.Doubts = append(d.Doubts, [2]string{b.points[x[0]], b.points[x[1]]})
	}
	if r.likely != nil {
		d.Probability, d.Rate, d.FalseRate = r.likely.Probability, r.likely.Rates.Fail, r.likely.Rates.False
	}
	return d
}

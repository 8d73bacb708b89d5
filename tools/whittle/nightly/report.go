package nightly

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"whittle/minify/bisect"
	"whittle/replay"
)

// Report is what a night said. Its JSON is what the hook gets, and what lies in the outbox.
type Report struct {
	Bot         string    `json:"bot"`
	Night       string    `json:"night"`
	Version     string    `json:"version"`        // of the newest engine
	Fingerprint string    `json:"fingerprint"`    // of it; "" where it could not be started
	Dead        string    `json:"dead,omitempty"` // why it could not: nothing was measured then
	Cases       int       `json:"cases"`          // in their modes
	Passed      int       `json:"passed"`
	Failed      int       `json:"failed"`
	Untested    int       `json:"untested"` // see Trouble
	News        []Line    `json:"news"`     // what no night before has said
	Open        []Line    `json:"open"`     // what fails as it did before
	Trouble     []Trouble `json:"trouble"`  // what could not be tested, and why

	series  int
	figures []replay.NightFigure
}

// Line is one thing that a night says of a case.
type Line struct {
	Kind        string            `json:"kind"` // see kinds
	Case        string            `json:"case"`
	Mode        string            `json:"mode"`
	Subject     string            `json:"subject"` // the signature, or the figure's name
	Text        string            `json:"text"`
	Since       string            `json:"since"`   // night in which it was first seen
	Version     string            `json:"version"` // that it was first seen on
	Seen        string            `json:"seen,omitempty"`
	Fingerprint string            `json:"fingerprint,omitempty"`
	Signature   *replay.Signature `json:"signature,omitempty"` // of a failure
	Rate        float64           `json:"rate,omitempty"`      // share of runs that fail
	Range       *Range            `json:"range,omitempty"`
	Repro       string            `json:"repro,omitempty"` // minimal, below the report's folder
	Calls       int               `json:"calls,omitempty"` // in it
	Failure     int64             `json:"failure,omitempty"`
	Group       int64             `json:"group,omitempty"`
	Figure      *Change           `json:"figure,omitempty"`
	Parts       *Divergence       `json:"parts,omitempty"`   // from eager, of the graph as it is minimised
	History     []string          `json:"history,omitempty"` // of one that is back: what nights before have said

	id           int64 // of the case
	minification int64 // 0: none
}

// seen is the version of the night that said so.
func (l Line) seen() string {
	if l.Seen != "" {
		return l.Seen
	}
	return l.Version
}

// Trouble is why a case was not tested, or something else that the night could not do.
type Trouble struct {
	Case string `json:"case"`
	Mode string `json:"mode"`
	Text string `json:"text"`
}

// Range is between which versions something came, or went.
type Range struct {
	Good   string   `json:"good,omitempty"`   // the last version before the change
	Bad    string   `json:"bad,omitempty"`    // the first that surely has it
	Untold []string `json:"untold,omitempty"` // versions between them that could not be told: they fail in another way, or cannot be tested
	Fixed  bool     `json:"fixed,omitempty"`
	More   bool     `json:"more,omitempty"`   // there is more than one change
	Same   string   `json:"same,omitempty"`   // what both ends are, where there is no change
	Night  string   `json:"night,omitempty"`  // of a figure: since when
	Chance *Chance  `json:"chance,omitempty"` // of a flaky failure
	Commit *Commit  `json:"commit,omitempty"` // between Good and Bad; nil: nobody asked for it

	id int64 // of the bisection that went furthest
}

// Chance is how sure one can be of where a flaky failure came from.
type Chance struct {
	Probability float64 `json:"probability"` // that it is where it is said to be
	Rate        float64 `json:"rate"`        // share of runs that fail with the change
	FalseRate   float64 `json:"false_rate"`  // and without it
	Runs        int     `json:"runs"`        // that say so
}

func newChance(l *bisect.Likely) *Chance {
	return &Chance{round(l.Probability), round(l.Rates.Fail), round(l.Rates.False), l.Answers}
}

func (c *Chance) text() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf(", with a probability of %v: it fails in %.3g %% of runs with the change, and in %.3g %% without, by %s", c.Probability, 100*c.Rate, 100*c.FalseRate, replay.Count(c.Runs, "run"))
}

// decides is what triage compares: where a failure came from, in the words of `whittle bisect` for commits.
func (r Range) decides() string {
	if r.Commit != nil && r.Commit.Hash != "" && len(r.Commit.Untold) == 0 {
		return "commits: first bad: " + r.Commit.Hash
	}
	return "versions: " + r.versions()
}

func (r Range) text() string {
	s := r.versions()
	if r.Same == "" {
		s += r.Chance.text()
	}
	if r.Commit != nil {
		s += "; " + r.Commit.text(r.Fixed)
	}
	return s
}

// versions says between which of them it came, or went.
func (r Range) versions() string {
	first := "first bad version"
	if r.Fixed {
		first = "first good version"
	}
	switch {
	case r.Same == "bad":
		return "fails on all versions, from " + r.Good
	case r.Same != "":
		return "not bisected: " + r.Same
	}
	s := fmt.Sprintf("%s %s, after %s", first, r.Bad, r.Good)
	if len(r.Untold) > 0 {
		s += fmt.Sprintf(" (or already %s: it cannot be told)", strings.Join(r.Untold, ", "))
	}
	if r.More {
		s += " (it came and went more than once)"
	}
	return s
}

// Change is a figure's levels.
type Change struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit,omitempty"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Low    float64 `json:"low,omitempty"` // of a 95 % interval for After/Before
	High   float64 `json:"high,omitempty"`
	Limit  float64 `json:"limit,omitempty"`
	Nights int     `json:"nights,omitempty"` // until it passes the limit
}

func (c Change) text() string {
	unit := c.Unit
	if unit != "" && unit != "x" {
		unit = " " + unit
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	if c.Unit == "bytes" {
		number = func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }
	}
	return fmt.Sprintf("%s: %s to %s%s", c.Name, number(c.Before), number(c.After), unit)
}

// round gives three significant digits: those behind are noise.
func round(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// percent is a ratio as people say it.
func percent(ratio float64) string {
	if p := math.Round(1000*(ratio-1)) / 10; p < 1000 {
		return fmt.Sprintf("%+.1f %%", p)
	}
	return fmt.Sprintf("%.3g times", ratio)
}

// kinds are those of lines, in the order in which people want to read them.
var kinds = []struct{ kind, title string }{
	{"new", "New failures"}, {"back", "Failures that are back"}, {"flaky", "Flaky"}, {"less_accurate", "Less accurate"}, {"drifting", "Drifting towards a limit"}, {"slower", "Slower"}, {"more", "More"},
	{"fixed", "Fixed"}, {"withdrawn", "Withdrawn"}, {"more_accurate", "More accurate"}, {"faster", "Faster"}, {"fewer", "Fewer"}, {"less", "Less"},
}

// order puts lines into the order of the report.
func (r *Report) order() {
	rank := func(l Line) int {
		for i, k := range kinds {
			if k.kind == l.Kind {
				return i
			}
		}
		return len(kinds)
	}
	slices.SortStableFunc(r.News, func(a, b Line) int { return rank(a) - rank(b) })
	for _, l := range []*[]Line{&r.News, &r.Open} {
		if *l == nil {
			*l = []Line{}
		}
		for i := range *l {
			(*l)[i].Seen = r.Version
		}
	}
	if r.Trouble == nil {
		r.Trouble = []Trouble{}
	}
}

func readReport(b []byte) (*Report, []byte, error) {
	var r Report
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, nil, &replay.CorruptError{Table: "night", Key: "report", Msg: err.Error()}
	}
	return &r, b, nil
}

//go:embed report.md.tmpl
var markdownText string

var markdownTemplate = template.Must(template.New("report").Funcs(template.FuncMap{"code": code, "text": text, "count": replay.Count[int]}).Parse(markdownText))

// code is a text in Markdown as it is, in one line.
func code(s string) string {
	s = plain(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 || strings.HasPrefix(s, " ") || s == "" {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// text is a text in Markdown that means nothing but itself.
func text(s string) string {
	return marks.Replace(plain(s))
}

var marks = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "<", "&lt;", ">", "&gt;", "[", "\\[", "]", "\\]", "|", "\\|", "&", "&amp;", "@", "&#64;", "#", "\\#")

// Section is a part of the Markdown.
type section struct {
	Title string
	Lines []Line
}

// Markdown is the report for people.
func (r *Report) Markdown() string {
	var parts []section
	for _, k := range kinds {
		s := section{Title: k.title}
		for _, l := range r.News {
			if l.Kind == k.kind {
				s.Lines = append(s.Lines, l)
			}
		}
		if len(s.Lines) > 0 {
			parts = append(parts, s)
		}
	}
	var b bytes.Buffer
	err := markdownTemplate.Execute(&b, map[string]any{"R": r, "Parts": parts})
	if err != nil {
		panic(err) // the template is ours, and writes to memory
	}
	return b.String()
}

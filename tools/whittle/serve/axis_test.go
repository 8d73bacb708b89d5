package serve

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
)

func TestAxis(t *testing.T) {
	bad := replay.Signature{Stage: "run", Type: "T"}
	outcome := func(point string, s replay.Status, sig replay.Signature) replay.BisectionTrial {
		return replay.BisectionTrial{Point: point, Outcome: &replay.Outcome{Status: s, Signature: sig}}
	}
	told := func(points ...string) (out []replay.BisectionTrial) {
		for _, p := range points {
			name, v, _ := strings.Cut(p, "=")
			out = append(out, replay.BisectionTrial{Point: name, Verdict: v})
		}
		return out
	}
	for _, c := range []struct {
		name, kind, result string
		trials             []replay.BisectionTrial
		want               string // name=verdict, * where the result names it; then the range
	}{
		{"versions stand in their order", "versions", "first bad: 2.10", told("2.6=good", "2.14=bad", "2.10=bad", "2.9=good"), "2.6=good 2.9=good 2.10=bad* 2.14=bad 1-2"},
		{"fixed", "versions", "first good: 3", told("1=bad", "4=good", "3=good", "2=bad"), "1=bad 2=bad 3=good* 4=good 1-2"},
		{"what cannot be tested lies between", "versions", "not decided", told("1=good", "4=bad", "2=skip", "3=skip"), "1=good 2=skip 3=skip 4=bad 0-3"},
		{"two changes have no range", "versions", "not decided", told("1=good", "2=bad", "3=good", "4=bad"), "1=good 2=bad 3=good 4=bad 0-0"},
		{"commits stand as they were tested", "commits", "first bad: b", told("c=good", "a=bad", "b=bad"), "c=good a=bad b=bad* 0-0"},
		{"a name that tells nothing", "versions", "", told("main=good", "1=bad"), "main=good 1=bad 0-0"},
		{"an engine's answers are judged by the failure at the end", "versions", "first bad: 3", []replay.BisectionTrial{outcome("1", replay.Pass, replay.Signature{}), outcome("4", replay.Failed, bad), outcome("2", replay.Failed, replay.Signature{Stage: "run", Type: "U"}),
			outcome("3", replay.Failed, bad), outcome("5", replay.Infrastructure, replay.Signature{})}, "1=good 2=other 3=bad* 4=bad 5=skip 0-2"},
		{"several answers of a point", "versions", "", told("1=good", "2=good", "2=bad", "2=good"), "1=good 2=bad 0-1"},
	} {
		a := &axis{BisectionRow: replay.BisectionRow{Bisection: replay.Bisection{Kind: c.kind, Result: c.result}}}
		a.add(c.trials)
		var got []string
		for _, p := range a.Points {
			s := p.Name + "=" + p.Verdict
			if p.Named {
				s += "*"
			}
			got = append(got, s)
			if p.Letter() == "" {
				t.Errorf("%s: %s has no letter", c.name, p.Verdict)
			}
		}
		got = append(got, fmt.Sprintf("%d-%d", a.Between[0], a.Between[1]))
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// svg is the series as a page has it, "" where it cannot be drawn.
func svg(t *testing.T, s series) string {
	t.Helper()
	p := s.draw()
	if p == nil {
		return ""
	}
	var b strings.Builder
	if err := template.Must(template.New("").Funcs(funcs).ParseFS(files, "templates/parts.html")).ExecuteTemplate(&b, "plot", p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPlot(t *testing.T) {
	huge, nan := 1e300, math.NaN()
	for _, s := range []series{{}, {Y: []float64{nan}}, {Y: []float64{huge}}} {
		if text := svg(t, s); text != "" {
			t.Errorf("%v: %q", s.Y, text)
		}
	}
	for _, s := range []series{{Y: []float64{1}}, {Y: []float64{0, 0, 0}}, {Y: []float64{0, 5e-324}}, {Y: []float64{1e9, 1e9 + 1e-6}}, {Y: []float64{-1e149, 1e149}}, {Y: []float64{1, nan, huge, -1}, Spread: []float64{1, 1, 1, nan}, Marks: []int{0, 1, 2, 9}},
		{Y: []float64{1, 2}, Labels: []string{"<b>", "\x1b\x00\xff"}, Title: `"><script>`, Unit: "<b>"}} {
		text := svg(t, s)
		if !strings.HasPrefix(text, "<svg ") || !strings.HasSuffix(text, "</svg>") || strings.Contains(text, "style=") || strings.Contains(text, "<b>") || strings.Contains(text, "<script") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%v: %s", s.Y, text)
		}
	}
	if text := svg(t, series{Y: []float64{1, 2}}); strings.Contains(text, "fill-mark") {
		t.Errorf("marks in %s", text)
	}
	if text := svg(t, series{Y: []float64{1, 2}, Marks: []int{1}}); strings.Count(text, "fill-mark") != 1 {
		t.Errorf("no mark in %s", text)
	}
	p := series{Y: []float64{3, 1, 2}, Spread: []float64{1, .5, 0}, Step: true}.draw()
	if d := cmp.Diff([]string{"M18.2 77.71L325.1 130L632 77.71L632 77.71L325.1 95.14L18.2 8Z", "M18.2 42.86H325.1V112.57H632V77.71"}, []string{p.Band, p.Line}); d != "" {
		t.Error(d)
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []float64
		minor     int
	}{
		{0, 1, []float64{0, .5, 1}, 8},
		{0, 4, []float64{0, 1, 2, 3, 4}, 16},
		{-7, 90, []float64{0, 20, 40, 60, 80}, 15},
		{1e6 - 1, 1e6 + 1, []float64{1e6 - 1, 1e6, 1e6 + 1}, 8},
	} {
		major, minor := scale(c.low, c.high)
		if d := cmp.Diff(c.want, major); d != "" || len(minor) != c.minor {
			t.Errorf("%v to %v: %s, %d minor", c.low, c.high, d, len(minor))
		}
	}
}

func TestDiff(t *testing.T) {
	got := codeDiff(map[string][]byte{"generated/good/k.cpp": []byte("a\nb\n"), "generated/bad/k.cpp": []byte("a\nc\n"), "generated/bad/alone": nil, "data": nil})
	want := []diffFile{{Name: "k.cpp", Lines: []diffLine{{"hunk", "", "--- good/k.cpp"}, {"hunk", "", "+++ bad/k.cpp"}, {"hunk", "", "@@ -1,2 +1,2 @@"}, {"", " ", "a"}, {"del", "-", "b"}, {"add", "+", "c"}}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := diffOf("x", "same", "same"); !d.Equal {
		t.Error("equal texts differ")
	}
}

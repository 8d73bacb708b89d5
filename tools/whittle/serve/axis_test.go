package serve

import (
	"fmt"
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

func TestPlot(t *testing.T) {
	huge, nan := 1e300, 0.0
	nan /= nan
	for _, s := range []series{{}, {Y: []float64{nan}}, {Y: []float64{huge}}} {
		if svg, err := s.svg(); err != nil || svg != "" {
			t.Errorf("%v: %q, %v", s.Y, svg, err)
		}
	}
	for _, s := range []series{{Y: []float64{1}}, {Y: []float64{0, 0, 0}}, {Y: []float64{1, nan, huge, -1}, Spread: []float64{1, 1, 1, nan}, Marks: []int{0, 1, 2, 9}}, {Y: []float64{1, 2}, Labels: []string{"<b>", "\x1b\x00\xff"}, Title: `"><script>`}} {
		svg, err := s.svg()
		if err != nil {
			t.Errorf("%v: %v", s.Y, err)
		}
		text := string(svg)
		if !strings.HasPrefix(text, "<svg ") || !strings.HasSuffix(text, "</svg>") || strings.Contains(text, "style=") || strings.Contains(text, "<b>") || strings.Contains(text, "<script") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%v: %s", s.Y, text)
		}
	}
	a, _ := series{Y: []float64{1, 2}}.svg()
	b, _ := series{Y: []float64{1, 2}, Marks: []int{1}}.svg()
	if n := strings.Count(string(b), "fill-mark"); n != 1 || strings.Contains(string(a), "fill-mark") {
		t.Errorf("%d marks", n)
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

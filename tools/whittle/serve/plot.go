package serve

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sizes of a plot, in pixels before the page scales it. A letter is as wide as most are: the browser's font is not known here.
const (
	plotWidth   = 640
	plotHeight  = 150
	plotMargin  = 8  // above and right of the field, at least
	plotBelow   = 20 // its labels
	plotTick    = 5
	letterWidth = 5.2
)

// series is what a plot shows: values in order, how much each is spread, and where something is marked.
type series struct {
	Title, Unit string
	Y, Spread   []float64 // Spread nil: none
	Labels      []string  // of the values, below; nil: their numbers from 1
	Marks       []int     // places in Y
	Step        bool      // a value holds until the next one
}

// plot is a series as the template draws it: the d of paths, and labels. Colours are the style sheet's.
type plot struct {
	Width, Height           int
	Title, Unit             string
	UnitX, UnitY            float64
	Band, Line, Dots, Marks string // "" where there are none
	Axes                    string
	Below, Left             []plotLabel
}

type plotLabel struct {
	X, Y float64
	Text string
}

// xy is a point in the series' own units.
type xy struct{ x, y float64 }

// outline writes the d of a path.
type outline struct{ strings.Builder }

func (p *outline) add(op string, at ...float64) {
	p.WriteString(op)
	for i, v := range at {
		if i > 0 {
			p.WriteByte(' ')
		}
		p.WriteString(strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64))
	}
}

// draw lays the series out: nil where there is nothing that can be drawn.
func (s series) draw() *plot {
	line, low, high, marks := s.points()
	if len(line) == 0 {
		return nil
	}
	bottom, top := math.Inf(1), math.Inf(-1)
	for _, points := range [][]xy{line, low, high} {
		for _, p := range points {
			bottom, top = min(bottom, p.y), max(top, p.y)
		}
	}
	if top-bottom <= max(1e-12*max(math.Abs(top), math.Abs(bottom)), 1e-300) { // one value: a scale of its own
		d := max(math.Abs(top)/10, 1e-9)
		bottom, top = bottom-d, top+d
	}
	p := &plot{Width: plotWidth, Height: plotHeight, Title: s.Title, Unit: s.Unit}
	major, minor := scale(bottom, top)
	left := 0.0
	for _, v := range major {
		left = max(left, letterWidth*float64(len(tickText(v))))
	}
	if left += plotTick + 8; s.Unit != "" {
		left += 12
	}
	right := plotWidth - float64(plotMargin)
	for _, i := range s.named() { // a label is centred, and may reach beyond the field
		half := letterWidth * float64(len([]rune(s.label(i)))) / 2
		if i == 0 {
			left = max(left, half)
		}
		if i == len(s.Y)-1 {
			right = min(right, plotWidth-half)
		}
	}
	x := func(v float64) float64 {
		return left + (right-left)*v/float64(max(len(s.Y)-1, 1))
	}
	y := func(v float64) float64 {
		return plotMargin + (plotHeight-plotBelow-plotMargin)*(top-v)/(top-bottom)
	}
	p.UnitX, p.UnitY = 9, (plotMargin+plotHeight-plotBelow)/2

	var axes outline
	axes.add("M", left, plotMargin)
	axes.add("V", plotHeight-plotBelow)
	axes.add("H", right)
	for _, v := range major {
		axes.add("M", left, y(v))
		axes.add("h", -plotTick)
		p.Left = append(p.Left, plotLabel{left - plotTick - 3, y(v) + 3, tickText(v)})
	}
	for _, v := range minor {
		axes.add("M", left, y(v))
		axes.add("h", -plotTick/2.0)
	}
	for _, i := range s.named() {
		axes.add("M", x(float64(i)), plotHeight-plotBelow)
		axes.add("v", plotTick)
		p.Below = append(p.Below, plotLabel{x(float64(i)), plotHeight - 5, s.label(i)})
	}
	p.Axes = axes.String()

	if len(low) > 0 {
		var band outline
		for i, at := range append(low, high...) {
			band.add("ML"[min(i, 1):][:1], x(at.x), y(at.y))
		}
		p.Band = band.String() + "Z"
	}
	var l, dots, triangles outline
	for i, at := range line {
		switch {
		case i == 0:
			l.add("M", x(at.x), y(at.y))
		case s.Step:
			l.add("H", x(at.x))
			l.add("V", y(at.y))
		default:
			l.add("L", x(at.x), y(at.y))
		}
		dots.add("M", x(at.x)-1.3, y(at.y))
		dots.WriteString("a1.3 1.3 0 1 0 2.6 0a1.3 1.3 0 1 0 -2.6 0Z")
	}
	for _, at := range marks {
		triangles.add("M", x(at.x), y(at.y)-4.5)
		triangles.WriteString("l3.9 6.75h-7.8Z")
	}
	p.Line, p.Dots, p.Marks = l.String(), dots.String(), triangles.String()
	return p
}

// points are what can be drawn: a value that is no number, or beyond what a scale can have, is left out. The upper edge of the band goes backwards.
func (s series) points() (line, low, high, marks []xy) {
	fine := func(v float64) bool { return math.Abs(v) < 1e150 } // false for NaN
	for i, y := range s.Y {
		if fine(y) {
			line = append(line, xy{float64(i), y})
		}
	}
	if s.Spread != nil && len(line) > 1 {
		for _, p := range line {
			if d := s.Spread[int(p.x)]; fine(d) {
				low = append(low, xy{p.x, p.y - d})
				high = append([]xy{{p.x, p.y + d}}, high...)
			}
		}
	}
	for _, i := range s.Marks {
		if i >= 0 && i < len(s.Y) && fine(s.Y[i]) {
			marks = append(marks, xy{float64(i), s.Y[i]})
		}
	}
	return line, low, high, marks
}

// scale are round values of a range, and rounder ones among them, which get a label: two to five of these.
func scale(low, high float64) (major, minor []float64) {
	unit := math.Pow(10, math.Floor(math.Log10(high-low)))
	step, parts := unit, 5
	switch n := (high - low) / unit; { // 1 <= n < 10
	case n < 2:
		step = unit / 2
	case n >= 5:
		step, parts = 2*unit, 4
	}
	fine := step / float64(parts)
	first := math.Ceil(low / fine)
	for i := range int(math.Floor(high/fine)-first) + 1 {
		if n := first + float64(i); math.Mod(n, float64(parts)) == 0 {
			major = append(major, n/float64(parts)*step)
		} else {
			minor = append(minor, n*fine)
		}
	}
	return major, minor
}

func tickText(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

// label names a value.
func (s series) label(i int) string {
	if s.Labels == nil {
		return fmt.Sprint(i + 1)
	}
	return string(visible([]byte(short(14, s.Labels[i]))))
}

// named are the values whose labels there is room for.
func (s series) named() []int {
	widest := 3
	for i := range s.Y {
		widest = max(widest, len([]rune(s.label(i))))
	}
	every := max(1, (len(s.Y)*widest*7+plotWidth-1)/(plotWidth-80))
	var out []int
	for i := 0; i < len(s.Y); i += every {
		out = append(out, i)
	}
	return out
}

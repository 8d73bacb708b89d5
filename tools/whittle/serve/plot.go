package serve

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Inks are colours that the plot library is given; on the page they are classes, which the style sheet gives colours that suit light and dark.
var (
	inkLine  = color.RGBA{R: 1, G: 1, B: 2, A: 255}
	inkBand  = color.RGBA{R: 1, G: 1, B: 3, A: 255}
	inkMark  = color.RGBA{R: 1, G: 1, B: 4, A: 255}
	inkPaper = color.RGBA{R: 1, G: 1, B: 5, A: 255}
	inks     = map[string]string{"#010102": "line", "#010103": "band", "#010104": "mark", "#010105": "paper", "#000000": "ink"}
)

// Sizes of a plot, in points.
const (
	plotWidth  = 640
	plotHeight = 150
)

// series is what a plot shows: values in order, how much each is spread, and where something is marked.
type series struct {
	Title, Unit string
	Y, Spread   []float64 // Spread nil: none
	Labels      []string  // of the values, below; nil: their numbers from 1
	Marks       []int     // places in Y
	Step        bool      // a value holds until the next one
}

// svg draws the series: "" where there is nothing that can be drawn.
func (s series) svg() (template.HTML, error) {
	line, low, high, marks := s.points()
	if len(line) == 0 {
		return "", nil
	}
	p := plot.New()
	p.BackgroundColor = inkPaper
	p.Y.Label.Text = s.Unit
	p.X.Tick.Marker = plot.ConstantTicks(s.ticks())
	p.X.Min, p.X.Max = 0, float64(max(len(s.Y)-1, 1))
	if low != nil {
		band, err := plotter.NewPolygon(append(low, high...))
		if err != nil {
			return "", err
		}
		band.Color, band.LineStyle.Width = inkBand, 0
		p.Add(band)
	}
	l, err := plotter.NewLine(line)
	if err != nil {
		return "", err
	}
	l.Color, l.Width = inkLine, 1.2
	if s.Step {
		l.StepStyle = plotter.PostStep
	}
	p.Add(l)
	dots, err := plotter.NewScatter(line)
	if err != nil {
		return "", err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: inkLine, Radius: 1.3, Shape: draw.CircleGlyph{}}
	p.Add(dots)
	if len(marks) > 0 {
		m, err := plotter.NewScatter(marks)
		if err != nil {
			return "", err
		}
		m.GlyphStyle = draw.GlyphStyle{Color: inkMark, Radius: 4.5, Shape: draw.PyramidGlyph{}}
		p.Add(m)
	}
	if p.Y.Max-p.Y.Min < 1e-300 { // one value: a scale of its own
		d := math.Max(math.Abs(p.Y.Max)/10, 1e-9)
		p.Y.Min, p.Y.Max = p.Y.Min-d, p.Y.Max+d
	}
	p.Y.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		ticks := plot.DefaultTicks{}.Ticks(low, high)
		for i, t := range ticks {
			if !t.IsMinor() {
				ticks[i].Label = strconv.FormatFloat(t.Value, 'g', 5, 64)
			}
		}
		return ticks
	})
	c := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	return classes(&b, s.Title)
}

// points are what can be drawn: a value that is no number, or beyond what a scale can have, is left out.
func (s series) points() (line, low, high, marks plotter.XYs) {
	fine := func(v float64) bool { return math.Abs(v) < 1e150 } // false for NaN
	for i, y := range s.Y {
		if fine(y) {
			line = append(line, plotter.XY{X: float64(i), Y: y})
		}
	}
	if s.Spread != nil && len(line) > 1 {
		for _, p := range line {
			if d := s.Spread[int(p.X)]; fine(d) {
				low = append(low, plotter.XY{X: p.X, Y: p.Y - d})
				high = append(plotter.XYs{{X: p.X, Y: p.Y + d}}, high...)
			}
		}
	}
	for _, i := range s.Marks {
		if i >= 0 && i < len(s.Y) && fine(s.Y[i]) {
			marks = append(marks, plotter.XY{X: float64(i), Y: s.Y[i]})
		}
	}
	return line, low, high, marks
}

// ticks names some of the values: as many as there is room for.
func (s series) ticks() []plot.Tick {
	label := func(i int) string {
		if s.Labels == nil {
			return fmt.Sprint(i + 1)
		}
		return string(visible([]byte(short(14, s.Labels[i])))) // XML has no control characters
	}
	widest := 3
	for i := range s.Y {
		widest = max(widest, len([]rune(label(i))))
	}
	every := max(1, (len(s.Y)*widest*7+plotWidth-1)/(plotWidth-80))
	var out []plot.Tick
	for i := 0; i < len(s.Y); i += every {
		out = append(out, plot.Tick{Value: float64(i), Label: label(i)})
	}
	return out
}

// drawn are the elements of a drawing that pass, with their attributes.
var drawn = map[string][]string{"g": {"transform"}, "path": {"d"}, "text": {"x", "y", "transform"}}

// classes writes a drawing of the plot library as a part of a page: without style attributes, which the page's policy forbids, and with classes
// for the colours. It is made anew from the elements and attributes that it may have.
func classes(r io.Reader, title string) (template.HTML, error) {
	var b strings.Builder
	esc := template.HTMLEscapeString
	fmt.Fprintf(&b, `<svg class="plot" viewBox="0 0 %d %d" role="img" aria-label="%s"><title>%s</title>`, plotWidth, plotHeight, esc(title), esc(title))
	dec := xml.NewDecoder(r)
	for depth := 0; ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return template.HTML(b.String()), nil //nolint:gosec // made of constants, and of what is escaped here
		}
		if err != nil {
			return "", err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				continue // svg itself
			}
			allowed, ok := drawn[tok.Name.Local]
			if !ok {
				return "", fmt.Errorf("a plot has an element %s", tok.Name.Local)
			}
			b.WriteString("<" + tok.Name.Local)
			for _, a := range tok.Attr {
				switch {
				case a.Name.Local == "style":
					b.WriteString(styled(a.Value))
				default:
					for _, name := range allowed {
						if a.Name.Local == name {
							fmt.Fprintf(&b, ` %s="%s"`, name, esc(a.Value))
						}
					}
				}
			}
			b.WriteString(">")
		case xml.EndElement:
			if depth--; depth == 0 {
				b.WriteString("</svg>")
				continue
			}
			b.WriteString("</" + tok.Name.Local + ">")
		case xml.CharData:
			if depth > 1 {
				b.WriteString(esc(string(tok)))
			}
		}
	}
}

// styled are the attributes for a style of the plot library: colours as a class, and the width of a line.
func styled(style string) string {
	var class []string
	out := ""
	for _, kv := range strings.Split(style, ";") {
		k, v, _ := strings.Cut(strings.TrimSpace(kv), ":")
		switch k {
		case "fill", "stroke":
			if v == "none" {
				class = append(class, "no-"+k)
			} else if name := inks[strings.ToLower(v)]; name != "" {
				class = append(class, k+"-"+name)
			}
		case "stroke-width":
			out += ` stroke-width="` + template.HTMLEscapeString(v) + `"`
		}
	}
	if len(class) > 0 {
		out += ` class="` + strings.Join(class, " ") + `"`
	}
	return out
}

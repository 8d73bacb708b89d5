package stack

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"whittle/lowering"
	"whittle/tools/whittle/layout"
)

const (
	diagramPiece = 40 // units that are laid out together: the time for more grows faster than they do
	diagramLimit = 30 * time.Second
	diagramLine  = 15.0 // height of a line of text
	diagramWidth = 60   // of a line of text, in letters
)

// unitBox is a box of a diagram: a unit of work, or what a unit reads that none of its piece makes.
type unitBox struct {
	lines []string
	class string // kernel, extern, elsewhere
}

// diagram draws the units of work of a graph, with a line from each to those that read what it makes, as an SVG document. Long graphs are drawn in pieces,
// one below the other; what is read of another piece, and the inputs, are boxes of their own.
func diagram(units []lowering.Scheduled) (string, error) {
	var engine layout.Engine
	var b strings.Builder
	width, height := 0.0, 0.0
	for piece := range slices.Chunk(units, diagramPiece) {
		var boxes []unitBox
		var edges [][2]int
		at := map[string]int{} // the box that makes a buffer
		for _, u := range piece {
			box := unitBox{class: "kernel", lines: []string{u.Name + ": " + u.Kind + " kernel"}}
			if u.Call != "" {
				box = unitBox{class: "extern", lines: []string{u.Name + ": " + u.Call}}
			}
			box.lines = append(box.lines, wrapped("makes ", u.Buffer)...)
			box.lines = append(box.lines, wrapped("", u.Nodes)...)
			for _, name := range u.Reads {
				from, ok := at[name]
				if !ok {
					from = len(boxes)
					at[name] = from
					boxes = append(boxes, unitBox{[]string{name}, "elsewhere"})
				}
				edges = append(edges, [2]int{from, -1})
			}
			for i := range edges {
				if edges[i][1] < 0 {
					edges[i][1] = len(boxes)
				}
			}
			for _, name := range u.Buffer {
				at[name] = len(boxes)
			}
			boxes = append(boxes, box)
		}
		var sizes [][2]float64
		for _, x := range boxes {
			letters := 0
			for _, l := range x.lines {
				letters = max(letters, len([]rune(l)))
			}
			sizes = append(sizes, [2]float64{float64(letters)*7.3 + 16, float64(len(x.lines))*diagramLine + 12})
		}
		slices.SortFunc(edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		l, err := engine.Place(sizes, slices.Compact(edges), diagramLimit)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "<g transform=\"translate(0,%.1f)\">\n", height)
		for _, path := range l.Lines {
			fmt.Fprintf(&b, "<path d=\"%s\" marker-end=\"url(#arrow)\"/>\n", path)
		}
		for i, x := range boxes {
			fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"4\"/>\n", x.class, l.Boxes[i][0], l.Boxes[i][1], sizes[i][0], sizes[i][1])
			for k, line := range x.lines {
				fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", l.Boxes[i][0]+8, l.Boxes[i][1]+diagramLine*float64(k+1)+2, html.EscapeString(line))
			}
		}
		b.WriteString("</g>\n")
		width, height = max(width, l.Width), height+l.Height
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">
<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0L8,4L0,8z" fill="#555"/></marker></defs>
<style>text{font:12px monospace;white-space:pre} g>path{fill:none;stroke:#555} rect{stroke:#333} .kernel{fill:#dcebf9} .extern{fill:#f9e7c9} .elsewhere{fill:#fff;stroke-dasharray:4 3}</style>
<rect width="100%%" height="100%%" fill="#fff" style="stroke:none"/>
`, width, height, width, height) + b.String() + "</svg>\n", nil
}

// wrapped are names in lines.
func wrapped(begin string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	out := []string{begin}
	for i, n := range names {
		last := len(out) - 1
		switch {
		case i > 0 && len(out[last])+len(n)+2 > diagramWidth:
			out[last] += ","
			out = append(out, n)
		case i > 0:
			out[last] += ", " + n
		default:
			out[last] += n
		}
	}
	return out
}

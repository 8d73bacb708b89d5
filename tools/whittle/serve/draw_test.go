package serve

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/replay/replaytest"
)

// TestDraw: the pages of a drawing have each node once, where it does not lie on another, and a line for each thing that it reads.
func TestDraw(t *testing.T) {
	for _, calls := range []int{2, 50, longGraph + 50} {
		draws(t, calls)
	}
}

func draws(t *testing.T, calls int) {
	a := &artist{}
	text := replaytest.Graph(calls)
	names := map[string]int{}
	d, err := a.drawText(ctx, "graph", "", text, 1)
	if err != nil {
		t.Fatal(err)
	}
	for page := 1; page <= d.Pages; page++ {
		p, err := a.drawText(ctx, "graph", "", text, page)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for i, b := range p.Boxes {
			if b.Class != "elsewhere" {
				names[b.Name]++
			} else if b.Page < 1 || b.Page >= page {
				t.Errorf("page %d: %s is said to be on page %d", page, b.Name, b.Page)
			}
			if b.X < 0 || b.Y < 0 || b.X+b.Width > p.Width || b.Y+b.Height > p.Height {
				t.Errorf("page %d: %+v is outside of %v by %v", page, b, p.Width, p.Height)
			}
			for _, o := range p.Boxes[:i] {
				if b.X < o.X+o.Width && o.X < b.X+b.Width && b.Y < o.Y+o.Height && o.Y < b.Y+b.Height {
					t.Errorf("page %d: %s lies on %s", page, b.Name, o.Name)
				}
			}
		}
		for _, r := range p.Rows {
			if r.Inputs != "" {
				lines += 1 + strings.Count(r.Inputs, ", ")
			}
		}
		if lines != len(p.Lines) {
			t.Errorf("page %d: %d lines for %d things that are read", page, len(p.Lines), lines)
		}
		if page > 5 {
			continue
		}
		again, err := (&artist{}).drawText(ctx, "graph", "", text, page)
		if err != nil || cmp.Diff(p, again) != "" {
			t.Errorf("page %d drawn again: %v %s", page, err, cmp.Diff(p, again))
		}
	}
	if len(names) != d.Nodes || d.Nodes != calls+3 {
		t.Errorf("%d of %d nodes, of %d calls", len(names), d.Nodes, calls)
	}
	for name, n := range names {
		if n != 1 {
			t.Errorf("%s %d times", name, n)
		}
	}
	if d, err := a.drawText(ctx, "graph", "", text, 999); err != nil || d.Page != d.Pages {
		t.Errorf("a page beyond the last: %+v, %v", d, err)
	}
	for _, c := range [][2]string{{"print('hello')", "cannot be read"}, {strings.Repeat("#", graphText+1), "too long"}, {"\xff\x00", "cannot be read"}} {
		if _, err := a.drawText(ctx, "graph", "", c[0], 1); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%.20q: %v, want %s", c[0], err, c[1])
		}
	}
}

// FuzzNodes: no text makes the reader of drawings panic.
func FuzzNodes(f *testing.F) {
	f.Add(replaytest.Graph(3))
	for _, a := range replaytest.Attacks {
		f.Add(a)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if nodes, err := nodesOf(text); err == nil && len(nodes) == 0 {
			t.Error("a graph without nodes, and no error")
		}
	})
}

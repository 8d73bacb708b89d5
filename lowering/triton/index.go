package triton

import (
	"fmt"
	"slices"
	"strings"

	"whittle/lowering/ir"
)

// A place is an index as Triton writes it.
type place struct {
	text string
	x, r bool // the axes that it depends on
	all  bool // it differs from point to point of the axes that the code runs over
}

// A run is neighbouring axes of a loop that an index walks as one: coef * ((flat / div) % size), where flat counts the points of x or r.
type run struct {
	coef, div, size int64
	r               bool
}

// runs cuts the affine part of an index over axes from to to of the given sizes into as few runs as can be, the innermost first.
func runs(at ir.Index, sizes []int64, from, to int, r bool) []run {
	var out []run
	div, open := int64(1), false
	for a := to - 1; a >= from; a-- {
		c, n := at.At(a), sizes[a]
		switch last := len(out) - 1; {
		case n == 1:
		case c == 0:
			open = false
		case open && c == out[last].coef*out[last].size:
			out[last].size *= n
		default:
			out = append(out, run{c, div, n, r})
			open = true
		}
		div *= n
	}
	return out
}

// place writes an index of a loop.
func (g *gen) place(at ir.Index, l *ir.Loops) place {
	sizes := l.Sizes()
	rows := g.rows(l)
	parts := append(runs(at, sizes, 0, rows, false), runs(at, sizes, rows, len(sizes), true)...)
	slices.SortStableFunc(parts, func(a, b run) int {
		switch {
		case a.coef < b.coef:
			return -1
		case a.coef > b.coef:
			return 1
		}
		return 0
	})
	p := place{all: true}
	var terms []string
	if at.Const != 0 {
		terms = append(terms, fmt.Sprint(at.Const))
	}
	covered := map[bool]int64{}
	for _, t := range parts {
		name := g.axis(t)
		switch {
		case t.coef == 1:
			terms = append(terms, name)
		case t.coef < 0:
			terms = append(terms, fmt.Sprintf("((%d)*%s)", t.coef, name))
		default:
			terms = append(terms, fmt.Sprintf("%d*%s", t.coef, name))
		}
		p.x, p.r = p.x || !t.r, p.r || t.r
		covered[t.r] = max(covered[t.r], 1) * t.size
	}
	for _, t := range at.More {
		of := g.place(t.Of, l)
		text := "(" + of.text + ")"
		if t.Div != 1 {
			text = fmt.Sprintf("(%s // %d)", text, t.Div)
		}
		if t.Mod != 0 {
			text = fmt.Sprintf("(%s %% %d)", text, t.Mod)
		}
		switch {
		case t.Coef < 0:
			text = fmt.Sprintf("((%d)*%s)", t.Coef, text)
		case t.Coef != 1:
			text = fmt.Sprintf("%d*%s", t.Coef, text)
		}
		terms = append(terms, text)
		p.x, p.r = p.x || of.x, p.r || of.r
	}
	p.all = len(at.More) == 0 && covered[false] == g.k.X && (!g.inner || covered[true] == g.k.R)
	if len(terms) == 0 {
		terms = []string{"0"}
	}
	p.text = strings.Join(terms, " + ")
	if lo, hi := at.Bounds(sizes); lo < -1<<31 || hi >= 1<<31 {
		g.wide = true
	}
	return p
}

// axis is the variable of a run, which is declared where it is first needed.
func (g *gen) axis(t run) string {
	flat, n, prefix, lines := "xindex", g.k.X, "x", &g.xs
	if t.r {
		flat, n, prefix, lines = "rindex", g.k.R, "r", &g.rs
	}
	key := run{0, t.div, t.size, t.r}
	name, ok := g.axes[key]
	if !ok {
		name = fmt.Sprintf("%s%d", prefix, len(g.axes))
		g.axes[key] = name
	}
	switch {
	case t.div == 1 && t.size == n:
	case t.div == 1:
		flat = fmt.Sprintf("(%s %% %d)", flat, t.size)
	case t.div*t.size == n:
		flat = fmt.Sprintf("%s // %d", flat, t.div)
	default:
		flat = fmt.Sprintf("((%s // %d) %% %d)", flat, t.div, t.size)
	}
	if line := name + " = " + flat; !slices.Contains(*lines, line) {
		*lines = append(*lines, line)
	}
	return name
}

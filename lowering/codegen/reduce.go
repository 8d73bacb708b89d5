package codegen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// combine describes a reduction as an algebra: its neutral element for a type T, how two results become one, and OpenMP's name for that.
type combine struct{ start, step, clause string }

var combines = map[ir.Reduce]combine{
	"sum":  {"T(0)", "$a + $v", "+"},
	"prod": {"T(1)", "$a * $v", "*"},
	"amax": {"whittle_lowest<T>()", "whittle_max($a, $v)", "whittle_amax"},
	"amin": {"whittle_highest<T>()", "whittle_min($a, $v)", "whittle_amin"},
	"any":  {"T(0)", "$a | $v", "|"},
	"all":  {"T(1)", "$a & $v", "&"},
}

// An accumulator is one reduction of a stage, as it is being computed.
type accumulator struct {
	l    *ir.Loops
	name string
	t    string // type of the values
	wide string // type of what they come to
	combine
}

// accumulators are those of a stage. Sums of float32 are kept in double, by several lanes of a vector: memory is slower than that.
func (g *gen) accumulators(loops []*ir.Loops) []accumulator {
	var out []accumulator
	for _, l := range loops {
		if l.Reduce == "" {
			continue
		}
		a := accumulator{l: l, name: fmt.Sprintf("a%d", g.nvar), t: ctype(l.Value.DType), combine: combines[l.Reduce]}
		g.nvar++
		if l.Value.DType == tensor.Bool {
			a.t = "uint8_t"
		}
		a.wide = a.t
		if l.Reduce == "sum" && l.Value.DType == tensor.Float32 {
			a.wide = "double"
		}
		out = append(out, a)
	}
	return out
}

func (a accumulator) begin(t string) string { return replaceType(a.start, t) }

// plus is the statement that puts v to what is in acc.
func (a accumulator) plus(acc, v string) string {
	return acc + " = " + strings.NewReplacer("$a", acc, "$v", v).Replace(a.step) + ";"
}

// widened puts v to acc, of type wide, from the type of the values.
func (a accumulator) widened(acc, v string) string {
	if a.wide != a.t {
		v = a.wide + "(" + v + ")"
	}
	return a.plus(acc, v)
}

// rows writes reductions of whole rows, whose results are variables from then on, and what else runs along with them.
func (g *gen) rows(loops []*ir.Loops, indent string, inside bool) {
	accs := g.accumulators(loops)
	sizes := accs[0].l.Sizes()
	first := len(accs[0].l.Ranges)
	for _, a := range accs {
		g.line("%s%s %s = %s;", indent, a.wide, a.name, a.begin(a.wide))
	}
	pieces, step := int64(1), sizes[first]
	if total := prod(sizes[first:]); inside {
		pieces = min(max(total/piece, 1), 64, sizes[first])
		step = (sizes[first] + pieces - 1) / pieces
		pieces = (sizes[first] + step - 1) / step
	}
	if pieces == 1 {
		g.row(loops, accs, sizes, "0", fmt.Sprint(sizes[first]), indent)
	} else {
		// Pieces of a fixed size, added up in order: the result does not depend on how many threads there are.
		for _, a := range accs {
			g.line("%s%s %sp[%d];", indent, a.wide, a.name, pieces)
		}
		g.line("%s#pragma omp parallel for%s schedule(static)", indent, g.threads())
		g.line("%sfor (int64_t c = 0; c < %d; c++) {", indent, pieces)
		for _, a := range accs {
			g.line("%s  %s %s = %s;", indent, a.wide, a.name, a.begin(a.wide))
		}
		g.row(loops, accs, sizes, fmt.Sprintf("c*%d", step), least(fmt.Sprintf("(c + 1)*%d", step), sizes[first], step), indent+"  ")
		for _, a := range accs {
			g.line("%s  %sp[c] = %s;", indent, a.name, a.name)
		}
		g.line("%s}", indent)
		for _, a := range accs {
			g.line("%sfor (int64_t c = 0; c < %d; c++) %s", indent, pieces, a.plus(a.name, a.name+"p[c]"))
		}
	}
	for _, a := range accs {
		g.final(a, a.name, indent)
	}
}

// each writes reductions whose rows lie apart for each point of further kept axes.
func (g *gen) each(loops []*ir.Loops, indent string, inside bool) {
	sizes, n := loops[0].Ranges, len(loops[0].Ranges)
	if inside {
		g.line("%s#pragma omp parallel for%s%s schedule(static)", indent, g.threads(), collapse(n-g.p))
	}
	known := g.known
	g.known = maps.Clone(known)
	inner := g.open(sizes, g.p, n, indent)
	g.rows(loops, inner, false)
	g.close(inner, indent)
	g.known = known
}

// row writes the loops over the reduced axes, the first of them from one bound to another.
func (g *gen) row(loops []*ir.Loops, accs []accumulator, sizes []int64, from, to, indent string) {
	first, last := len(accs[0].l.Ranges), len(sizes)-1
	outer := indent
	if first < last {
		g.line("%sfor (int64_t i%d = %s; i%d < %s; i%d++) {", indent, first, from, first, to, first)
		indent = g.open(sizes, first+1, last, indent+"  ")
		from, to = "0", fmt.Sprint(sizes[last])
	}
	g.loop(last, from, to, indent, func(indent string) {
		g.body(loops, indent, func(l *ir.Loops, v, indent string) {
			a := accs[slices.IndexFunc(accs, func(a accumulator) bool { return a.l == l })]
			g.line("%s%s", indent, a.widened(a.name, v))
		})
	}, accs...)
	g.close(indent, outer)
}

// final stores what has come of a reduction.
func (g *gen) final(a accumulator, acc, indent string) {
	g.acc = acc
	e := a.l.Final
	if e == nil {
		e = &ir.Expr{Kind: ir.Acc, DType: a.l.Value.DType}
	}
	g.store(a.l, e, g.emit(e, indent), indent)
}

// columns writes reductions that are neighbours in memory: a block of results at a time, which the lanes of vectors add up side by side.
func (g *gen) columns(loops []*ir.Loops, indent string, inside bool) {
	accs := g.accumulators(loops)
	l := accs[0].l
	kept, sizes := l.Ranges[g.p:], l.Sizes()
	last := len(l.Ranges) - 1 // the axis of neighbours
	first := len(l.Ranges)    // of the reduced ones
	n := l.Ranges[last]
	block, others, rest := int64(columns), prod(kept[:len(kept)-1]), l.Reduction[0]
	pieces, step := int64(1), rest
	if inside {
		if others*((n+block-1)/block) < unitsWanted {
			block = min(max((n/unitsWanted+15)/16*16, 16), columns)
		}
		if others*((n+block-1)/block) < unitsWanted && prod(kept) <= 2048 {
			pieces = min(max(prod(sizes[g.p:])/piece, 1), 32, rest)
			step = (rest + pieces - 1) / pieces
			pieces = (rest + step - 1) / step
			block = columns
		}
	}
	block = min(block, n)
	for _, a := range accs {
		if pieces > 1 {
			g.line("%s%s %sp[%d];", indent, a.wide, a.name, pieces*prod(kept))
		}
	}
	closing := indent
	if inside {
		axes := len(kept) - 1
		if n > block {
			axes++
		}
		if pieces > 1 {
			axes = 1
		}
		if axes > 0 {
			g.line("%s#pragma omp parallel for%s%s schedule(static)", indent, g.threads(), collapse(axes))
		}
	}
	from, to := "0", fmt.Sprint(rest)
	if pieces > 1 {
		g.line("%sfor (int64_t c = 0; c < %d; c++) {", indent, pieces)
		from, to = fmt.Sprintf("c*%d", step), least(fmt.Sprintf("(c + 1)*%d", step), rest, step)
		indent += "  "
	}
	indent = g.open(sizes, g.p, last, indent)
	if n > block {
		g.line("%sfor (int64_t b = 0; b < %d; b += %d) {", indent, n, block)
		indent += "  "
	}
	lo, hi, lane := "0", fmt.Sprint(n), fmt.Sprintf("i%d", last)
	if n > block {
		lo, hi, lane = "b", least(fmt.Sprintf("b + %d", block), n, block), fmt.Sprintf("i%d - b", last)
	}
	each := func(indent string, f func(indent string)) {
		g.loop(last, lo, hi, indent, f)
	}
	for _, a := range accs {
		g.line("%s%s %s[%d];", indent, a.wide, a.name, block)
		g.line("%sfor (int64_t j = 0; j < %d; j++) %s[j] = %s;", indent, block, a.name, a.begin(a.wide))
	}
	inner := indent
	g.line("%sfor (int64_t i%d = %s; i%d < %s; i%d++) {", inner, first, from, first, to, first)
	inner = g.open(sizes, first+1, len(sizes), inner+"  ")
	g.line("%s#pragma GCC ivdep", inner)
	g.line("%sfor (int64_t i%d = %s; i%d < %s; i%d++) {", inner, last, lo, last, hi, last)
	known := g.known
	g.known = maps.Clone(known)
	g.body(loops, inner+"  ", func(l *ir.Loops, v, indent string) {
		a := accs[slices.IndexFunc(accs, func(a accumulator) bool { return a.l == l })]
		g.line("%s%s", indent, a.widened(fmt.Sprintf("%s[%s]", a.name, lane), v))
	})
	g.known = known
	g.line("%s}", inner)
	g.close(inner, indent)
	if pieces == 1 {
		each(indent, func(indent string) {
			for _, a := range accs {
				g.final(a, fmt.Sprintf("%s[%s]", a.name, lane), indent)
			}
		})
		g.close(indent, closing)
		return
	}
	flat := ""
	for i := g.p; i <= last; i++ {
		if flat == "" {
			flat = fmt.Sprintf("i%d", i)
		} else {
			flat = fmt.Sprintf("(%s)*%d + i%d", flat, sizes[i], i)
		}
	}
	each(indent, func(indent string) {
		for _, a := range accs {
			g.line("%s%sp[c*%d + %s] = %s[%s];", indent, a.name, prod(kept), flat, a.name, lane)
		}
	})
	g.close(indent, closing)
	indent = g.open(sizes, g.p, last, closing)
	g.loop(last, "0", fmt.Sprint(n), indent, func(indent string) {
		for _, a := range accs {
			g.line("%s%s %s = %s;", indent, a.wide, a.name, a.begin(a.wide))
			g.line("%sfor (int64_t c = 0; c < %d; c++) %s", indent, pieces, a.plus(a.name, fmt.Sprintf("%sp[c*%d + %s]", a.name, prod(kept), flat)))
			g.final(a, a.name, indent)
		}
	})
	g.close(indent, closing)
}

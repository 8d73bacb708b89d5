package codegen

import (
	"fmt"
	"slices"
	"strings"

	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// Kernel is one generated function.
type Kernel struct {
	Source string
	Bufs   []*ir.Buffer // owners of the memory, in argument order
}

// Generate writes the function for a group of loops with equal iteration order. Long loops are shared out among threads, 0 for as many as OpenMP
// has by default.
func Generate(group []*ir.Loops, threads int) *Kernel {
	g := &gen{k: &Kernel{}, slot: map[*ir.Buffer]int{}, threads: threads}
	for _, l := range group {
		l.Value.Reads(func(e *ir.Expr) { g.use(e.Buf) })
		g.use(l.Out)
		for _, x := range l.Extra {
			g.use(x.Out)
		}
	}
	g.line("// %s", strings.Join(origins(group), ", "))
	g.line(`extern "C" void kernel(void** bufs, const int64_t* sizes) {`)
	for i, b := range g.k.Bufs {
		g.line("  %s* __restrict__ p%d = (%s*)bufs[%d]; // %s", ctype(b.DType), i, ctype(b.DType), i, b.Name)
	}
	for i := 0; i < len(group); {
		j := i + 1
		for j < len(group) && sameSpace(group[i], group[j]) && independent(group[i:j], group[j]) {
			j++
		}
		g.nest(group[i:j])
		i = j
	}
	g.line("}")
	g.k.Source = Prelude + g.b.String()
	return g.k
}

// origins are the graph nodes that a group computes, for the comment that its kernel opens with.
func origins(group []*ir.Loops) []string {
	var o []string
	for _, l := range group {
		o = append(o, l.Origins...)
	}
	return o
}

// sameSpace reports whether two loops may share one nest as far as their iteration goes. A reduction shares with nobody: its accumulator needs
// a body of its own.
func sameSpace(a, b *ir.Loops) bool {
	return a.Reduce == "" && b.Reduce == "" && slices.Equal(a.Ranges, b.Ranges)
}

// independent reports whether l may run in one nest with the loops before it: what one writes, another touches at the same place of the
// iteration only. A transposed read, say, has to wait for the whole of what it reads.
func independent(nest []*ir.Loops, l *ir.Loops) bool {
	for _, x := range nest {
		if clash(x, l) || clash(l, x) || x.Out.Owner() == l.Out.Owner() && !sameIndex(storeIndex(x), storeIndex(l), l.Ranges) {
			return false
		}
	}
	return true
}

// clash reports whether r reads what w writes, at another place of the iteration.
func clash(w, r *ir.Loops) bool {
	at := storeIndex(w)
	found := false
	r.Value.Reads(func(e *ir.Expr) {
		if e.Buf.Owner() == w.Out.Owner() && (e.Buf.DType.Size() != w.Out.DType.Size() || !sameIndex(e.At, at, w.Ranges)) {
			found = true
		}
	})
	return found
}

// storeIndex is where in its buffer a loop writes.
func storeIndex(l *ir.Loops) ir.Index {
	return ir.Index{Coef: l.Out.Stride[:min(len(l.Ranges), len(l.Out.Stride))], Const: l.Out.Offset}
}

// sameIndex reports whether two indices agree on all of a space.
func sameIndex(a, b ir.Index, ranges []int64) bool {
	coef := func(x ir.Index, i int) int64 {
		if i < len(x.Coef) {
			return x.Coef[i]
		}
		return 0
	}
	for i, n := range ranges {
		if n > 1 && coef(a, i) != coef(b, i) {
			return false
		}
	}
	return a.Const == b.Const
}

// A gen writes one kernel. Buffers have slots in the order of their first use, variables numbers in the order of theirs: text does not depend
// on maps.
type gen struct {
	k       *Kernel
	b       strings.Builder
	slot    map[*ir.Buffer]int
	threads int
	vars    map[string]string // text of an expression => its variable, per loop body
	nvar    int
}

// line writes one line of C++.
func (g *gen) line(f string, args ...any) { fmt.Fprintf(&g.b, f+"\n", args...) }

// use is the slot of the memory that b lies in. Views of one buffer share a pointer, so the compiler, which takes pointers to be distinct
// (__restrict__), is not deceived.
func (g *gen) use(b *ir.Buffer) int {
	// Views with another element type get a pointer of their own.
	key := b.Owner()
	if i, ok := g.slot[key]; ok {
		return i
	}
	g.slot[key] = len(g.k.Bufs)
	g.k.Bufs = append(g.k.Bufs, key)
	return g.slot[key]
}

// nest writes loops that share an iteration space; a single reduction is the other case.
func (g *gen) nest(ls []*ir.Loops) {
	l := ls[0]
	work := int64(1)
	for _, n := range append(append([]int64{}, l.Ranges...), l.Reduction...) {
		work *= n
	}
	indent := "  "
	if len(l.Ranges) == 0 { // a scope of its own for the accumulator
		g.line("%s{", indent)
		defer g.line("%s}", indent)
	}
	for i, n := range l.Ranges {
		last := i == len(l.Ranges)-1
		if i == 0 && work >= 1<<15 && g.threads != 1 && (n > 1) {
			many := ""
			if g.threads > 0 {
				many = fmt.Sprintf(" num_threads(%d)", g.threads)
			}
			g.line("%s#pragma omp parallel for%s schedule(static)", indent, many)
		} else if last && l.Reduce == "" {
			g.line("%s#pragma GCC ivdep", indent)
		}
		g.line("%sfor (int64_t i%d = 0; i%d < %d; i%d++) {", indent, i, i, n, i)
		indent += "  "
	}
	if l.Reduce != "" {
		g.reduce(l, indent)
	} else {
		g.vars = map[string]string{}
		for _, x := range ls {
			v := g.emit(x.Value, indent)
			g.store(x.Out, v, x.Value.DType, len(x.Ranges), indent)
		}
	}
	for i := len(l.Ranges) - 1; i >= 0; i-- {
		indent = indent[2:]
		g.line("%s}", indent)
	}
}

// store writes the statement that stores v, of dtype d, where the loop of n axes stands. 16-bit floats are rounded here, and nowhere else.
func (g *gen) store(out *ir.Buffer, v string, d tensor.DType, n int, indent string) {
	at := ir.Index{Coef: out.Stride[:min(n, len(out.Stride))], Const: out.Offset} // as storeIndex has it
	if d != out.DType {
		v = fmt.Sprintf("whittle_cast<%s>(%s)", ctype(out.DType), v)
		if out.DType == tensor.BFloat16 || out.DType == tensor.Float16 {
			v = fmt.Sprintf("%s(float(%s))", ctype(out.DType), strings.TrimSuffix(strings.TrimPrefix(v, fmt.Sprintf("whittle_cast<%s>(", ctype(out.DType))), ")"))
		}
	}
	g.line("%sp%d[%s] = %s;", indent, g.use(out), at.Text(), v)
}

// accumulate describes a reduction: start value, combination of acc and v, both C text.
var accumulate = map[ir.Reduce]struct{ start, step string }{
	"sum":  {"T(0)", "acc += v"},
	"prod": {"T(1)", "acc *= v"},
	"amax": {"LOWEST", "acc = whittle_max(acc, v)"},
	"amin": {"HIGHEST", "acc = whittle_min(acc, v)"},
	"any":  {"false", "acc = acc || v"},
	"all":  {"true", "acc = acc && v"},
}

// reduce writes a reduction: an accumulator, the inner loops, and the store of what Final makes of it. Sums of float32 accumulate in double.
// Variance takes two passes, the mean and then the squares of what differs from it, which costs a second read, and loses no digits where the
// mean is large; Welford's method, after which the reduction is named, would divide once per element.
func (g *gen) reduce(l *ir.Loops, indent string) {
	n := len(l.Ranges)
	inner := indent
	open := func() {
		inner = indent
		for i, r := range l.Reduction {
			a := n + i
			g.line("%sfor (int64_t i%d = 0; i%d < %d; i%d++) {", inner, a, a, r, a)
			inner += "  "
		}
	}
	closeAll := func() {
		for range l.Reduction {
			inner = inner[2:]
			g.line("%s}", inner)
		}
	}
	t := ctype(l.Value.DType)
	g.vars = map[string]string{}
	if l.Reduce == "welford" {
		// Two passes: the mean in double, then the squared distances from it.
		g.line("%sdouble acc = 0, mean = 0, m2 = 0, count = %d;", indent, prod(l.Reduction))
		open()
		g.vars = map[string]string{}
		v := g.emit(l.Value, inner)
		g.line("%sacc += double(%s);", inner, v)
		closeAll()
		g.line("%smean = acc / count;", indent)
		open()
		g.vars = map[string]string{}
		v = g.emit(l.Value, inner)
		g.line("%s{ double d = double(%s) - mean; m2 += d * d; }", inner, v)
		closeAll()
		g.final(l.Out, l.Final, n, indent)
		for _, x := range l.Extra {
			g.final(x.Out, x.Final, n, indent)
		}
		return
	}
	a := accumulate[l.Reduce]
	wide := t
	if l.Reduce == "sum" && l.Value.DType == tensor.Float32 {
		wide = "double" // keeps the accuracy of a cascade sum without its code
	}
	start := strings.NewReplacer("LOWEST", fmt.Sprintf("whittle_lowest<%s>()", t), "HIGHEST", fmt.Sprintf("whittle_highest<%s>()", t)).Replace(a.start)
	g.line("%s%s acc = %s;", indent, wide, strings.ReplaceAll(start, "T", wide))
	open()
	v := g.emit(l.Value, inner)
	g.line("%s{ %s v = %s; %s; }", inner, t, v, a.step)
	closeAll()
	g.final(l.Out, l.Final, n, indent)
}

// prod is the number of points of a space.
func prod(s []int64) int64 {
	n := int64(1)
	for _, v := range s {
		n *= v
	}
	return n
}

// final stores a result of a reduction: what f makes of the accumulator, or the accumulator itself.
func (g *gen) final(out *ir.Buffer, f func(string) string, n int, indent string) {
	v := "acc"
	if f != nil {
		v = f("acc")
	}
	at := ir.Index{Coef: out.Stride[:min(n, len(out.Stride))], Const: out.Offset} // as storeIndex has it
	g.line("%sp%d[%s] = %s(%s);", indent, g.use(out), at.Text(), ctype(out.DType), v)
}

// emit writes the statements for e and returns its variable; equal subexpressions are computed once.
func (g *gen) emit(e *ir.Expr, indent string) string {
	t := ctype(e.DType)
	var text string
	switch e.Kind {
	case ir.Const:
		return fmt.Sprintf("%s(%s)", t, e.Lit)
	case ir.AxisValue:
		text = fmt.Sprintf("%s(%s)", t, e.At.Text())
	case ir.Load:
		text = fmt.Sprintf("p%d[%s]", g.use(e.Buf), e.At.Text())
		if e.Buf.DType != e.DType {
			text = fmt.Sprintf("whittle_cast<%s>(%s)", t, text)
			if e.Buf.DType == tensor.BFloat16 || e.Buf.DType == tensor.Float16 {
				text = fmt.Sprintf("%s(float(p%d[%s]))", t, g.use(e.Buf), e.At.Text())
			}
		}
	default:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = g.emit(a, indent)
		}
		text = ops[e.Op]
		for i, a := range args {
			text = strings.ReplaceAll(text, fmt.Sprintf("$%d", i), a)
		}
		text = replaceType(text, t)
	}
	key := t + " " + text
	if v, ok := g.vars[key]; ok {
		return v
	}
	v := fmt.Sprintf("t%d", g.nvar)
	g.nvar++
	g.vars[key] = v
	g.line("%s%s %s = %s;", indent, t, v, text)
	return v
}

// replaceType puts the C type for the stand-alone letter T.
func replaceType(s, t string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		word := func(j int) bool {
			return j >= 0 && j < len(s) && (s[j] == '_' || s[j] >= '0' && s[j] <= '9' || s[j] >= 'A' && s[j] <= 'Z' || s[j] >= 'a' && s[j] <= 'z')
		}
		if s[i] == 'T' && !word(i-1) && !word(i+1) {
			b.WriteString(t)
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

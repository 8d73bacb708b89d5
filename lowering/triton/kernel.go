package triton

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// An Error says what cannot be written as Triton, and the graph nodes that it is for.
type Error struct {
	Msg   string
	Nodes []string
}

func (e *Error) Error() string {
	return fmt.Sprintf("no Triton for %s: %s", strings.Join(e.Nodes, ", "), e.Msg)
}

// A gen writes one kernel. Numbers are given in the order of first use: text does not depend on maps.
type gen struct {
	k      *Kernel
	loops  bool // rows are walked in blocks, as they do not fit one
	hidden map[*ir.Buffer]bool
	input  func(*ir.Buffer) bool

	names   map[*ir.Buffer]string
	reads   []*ir.Buffer // in the order of first use, what is written left out
	written []*ir.Buffer
	loaded  map[*ir.Buffer]bool // of those that are written: from memory
	nload   int
	nreduce int
	wide    bool // an index needs 64 bits

	b       *strings.Builder
	indent  string
	inner   bool // the code runs over r, too
	nvar    int
	axes    map[run]string
	xs, rs  []string          // declarations of the axes' variables
	known   map[string]string // text of an expression, or of a place in memory => the variable that has it
	halves  map[string]bool   // places of known whose variable is not rounded yet
	loop    *ir.Loops         // that is being written
	earlier map[*ir.Buffer]bool
	barrier bool // the loop under way reads what an earlier one wrote
	acc     string
}

// generate writes the kernel's text, but for its name, into Source. Memory that hidden names is not touched: what is in it is a variable where it is
// needed. input says of memory whether it is the caller's.
func (k *Kernel) generate(hidden map[*ir.Buffer]bool, input func(*ir.Buffer) bool) (g *gen, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			e.Nodes = g.loop.Origins
			err = e
		}
	}()
	g = &gen{k: k, hidden: hidden, input: input, names: map[*ir.Buffer]string{}, loaded: map[*ir.Buffer]bool{}, axes: map[run]string{}, known: map[string]string{},
		halves: map[string]bool{}, earlier: map[*ir.Buffer]bool{}, indent: "    "}
	for _, l := range k.nest.Loops() {
		if l.Out.Owner().DType != l.Out.DType {
			g.loop = l
			g.fail("%s is written as %s", l.Out.Owner().DType, l.Out.DType)
		}
		if b := l.Out.Owner(); !hidden[b] && g.names[b] == "" {
			prefix := "out_ptr"
			if input(b) {
				prefix = "in_out_ptr"
			}
			g.names[b] = fmt.Sprintf("%s%d", prefix, len(g.written))
			g.written = append(g.written, b)
		}
	}
	g.loops = k.R > k.persistent()
	var body strings.Builder
	g.b = &body
	for _, s := range k.nest.Stages {
		g.stage(s.Loops)
	}
	k.Source = g.head() + body.String()
	return g, nil
}

// persistent is the longest row that is one block. Rows whose elements lie apart are kept short, so that more of them share a block.
func (k *Kernel) persistent() int64 {
	if k.columns() {
		return 64
	}
	return 1024
}

// columns reports whether the elements of a row lie apart, and neighbours in memory are of different rows.
func (k *Kernel) columns() bool {
	return slices.ContainsFunc(k.nest.Loops(), func(l *ir.Loops) bool { return l.Columns() })
}

// fail ends the generation of the kernel with an Error.
func (g *gen) fail(format string, args ...any) { panic(&Error{Msg: fmt.Sprintf(format, args...)}) }

// rows is how many axes of a loop make up x.
func (g *gen) rows(l *ir.Loops) int {
	if g.k.R > 0 {
		return g.k.rows
	}
	return len(l.Ranges)
}

// block is the shape of what a program instance computes.
func (g *gen) block() string {
	switch {
	case g.k.R == 0:
		return "[XBLOCK]"
	case g.inner:
		return "[XBLOCK, RBLOCK]"
	}
	return "[XBLOCK, 1]"
}

// line writes one line.
func (g *gen) line(format string, args ...any) { fmt.Fprintf(g.b, g.indent+format+"\n", args...) }

// stage writes loops that run together: over x alone, or over x and r.
func (g *gen) stage(loops []*ir.Loops) {
	g.inner = slices.ContainsFunc(loops, func(l *ir.Loops) bool { return g.k.R > 0 && len(l.Sizes()) > g.k.rows })
	if !g.inner || !g.loops {
		g.body(loops)
		g.done(loops)
		return
	}
	// A loop over blocks of the row. What it computes is gone behind it, but for what reductions have come to.
	known, halves, outside, indent := g.known, g.halves, g.b, g.indent
	var text strings.Builder
	g.known, g.halves, g.b, g.indent, g.rs, g.barrier = copied(known), copied(halves), &text, indent+"    ", nil, false
	accs := g.body(loops)
	g.known, g.halves, g.b, g.indent = known, halves, outside, indent
	if g.barrier {
		g.line("tl.debug_barrier()")
	}
	for _, a := range accs {
		g.line("_%s = tl.full([XBLOCK, RBLOCK], %s, %s)", a.name, a.neutral, widths[a.d].value)
	}
	g.line("for roffset in range(0, rnumel, RBLOCK):")
	g.line("    rindex = roffset + rbase")
	g.line("    rmask = rindex < rnumel")
	for _, r := range g.rs {
		g.line("    %s", r)
	}
	g.b.WriteString(text.String())
	g.inner = false
	for _, a := range accs {
		g.final(a, "_"+a.name)
	}
	g.done(loops)
}

func copied[V any](m map[string]V) map[string]V {
	out := make(map[string]V, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// done notes what loops wrote, for those that read it back later.
func (g *gen) done(loops []*ir.Loops) {
	for _, l := range loops {
		g.earlier[l.Out.Owner()] = true
	}
}

// body writes what loops compute for one block. What reductions have come to is final, unless rows are walked in blocks: then it is returned.
func (g *gen) body(loops []*ir.Loops) (open []accumulator) {
	var closed []accumulator
	for _, l := range loops {
		g.loop = l
		v := g.emit(l.Value, l.Value.Kind == ir.Const)
		if l.Reduce == "" {
			g.store(l, l.Value, v)
			continue
		}
		a := g.reduce(l, v)
		if g.loops {
			open = append(open, a)
		} else {
			closed = append(closed, a)
		}
	}
	inner := g.inner
	for _, a := range closed {
		g.inner = false
		g.final(a, a.block)
	}
	g.inner = inner
	return open
}

// pointer is the argument that memory is reached by.
func (g *gen) pointer(b *ir.Buffer) string {
	if b.Owner().DType != b.DType {
		g.fail("%s is read as %s", b.Owner().DType, b.DType)
	}
	b = b.Owner()
	if _, ok := widths[b.DType]; !ok {
		g.fail("%s", b.DType)
	}
	name, ok := g.names[b]
	if !ok {
		name = fmt.Sprintf("in_ptr%d", len(g.reads))
		g.names[b] = name
		g.reads = append(g.reads, b)
	}
	return name
}

// masks are the conditions under which a place is inside of the memory.
func (g *gen) masks(p place) string {
	var m []string
	if p.r && g.masked() {
		m = append(m, "rmask")
	}
	if p.x {
		m = append(m, "xmask")
	}
	return strings.Join(m, " & ")
}

// masked reports whether the last block of a row is longer than what is left of the row.
func (g *gen) masked() bool { return g.loops || g.k.R != ceilPower(g.k.R) }

// load writes the load of a place and gives its variable.
func (g *gen) load(e *ir.Expr) string {
	ptr, p := g.pointer(e.Buf), g.place(e.At, g.loop)
	owner := e.Buf.Owner()
	if slices.Contains(g.written, owner) || g.hidden[owner] {
		g.loaded[owner] = true
		g.barrier = g.barrier || g.earlier[owner]
	}
	text := fmt.Sprintf("tl.load(%s + (%s)", ptr, p.text)
	if m := g.masks(p); m != "" {
		text += ", " + m
	}
	if p.x || p.r {
		switch {
		case !p.all:
			text += ", eviction_policy='evict_last'"
		case g.inner && g.loops:
			text += ", eviction_policy='evict_first'"
		}
	}
	if p.r && g.masked() {
		text += ", other=0.0"
	}
	text += ")"
	switch e.Buf.DType {
	case tensor.BFloat16, tensor.Float16:
		text += ".to(tl.float32)"
	case tensor.Bool:
		text += ".to(tl.int1)"
	}
	if _, ok := g.known[text]; !ok {
		g.nload++
	}
	v := g.variable(text)
	if !p.x && !p.r {
		v = g.variable(fmt.Sprintf("tl.broadcast_to(%s, %s)", v, g.block()))
	}
	return v
}

// where names an element of memory.
func where(b *ir.Buffer, at ir.Index) string {
	return fmt.Sprintf("%p %s[%s]", b.Owner(), b.DType, at.Text())
}

// variable assigns text to a variable, unless there is one.
func (g *gen) variable(text string) string {
	if v, ok := g.known[text]; ok {
		return v
	}
	v := fmt.Sprintf("tmp%d", g.nvar)
	g.nvar++
	g.known[text] = v
	g.line("%s = %s", v, text)
	return v
}

// emit writes the statements for e and returns its variable. A number stands for itself where something else says the dtype that it is computed
// in; with block it becomes a block.
func (g *gen) emit(e *ir.Expr, block bool) string {
	switch e.Kind {
	case ir.Const:
		return g.variable(g.number(e.DType, e.Value, block))
	case ir.Acc:
		return g.acc
	case ir.AxisValue:
		p := g.place(e.At, g.loop)
		if !p.x && !p.r {
			return g.variable(g.number(e.DType, e.At.Const, true))
		}
		return g.variable(fmt.Sprintf("(%s).to(%s)", p.text, widths[e.DType].value))
	case ir.Load:
		return g.cast(g.read(e), compute(e.Buf.DType), e.DType)
	}
	if e.Op == "cast" {
		return g.cast(g.emit(e.Args[0], true), e.Args[0].DType, e.DType)
	}
	args := make([]string, len(e.Args))
	alone := !slices.ContainsFunc(e.Args, func(a *ir.Expr) bool { return a.Kind != ir.Const })
	for i, a := range e.Args {
		args[i] = g.emit(a, alone)
	}
	d := e.Args[len(e.Args)-1].DType
	if e.Op == "pow" && !d.IsFloat() {
		return g.power(e, args[0])
	}
	text := ops[e.Op].of(d)
	if t, ok := doubles[e.Op]; ok && d == tensor.Float64 {
		text = []string{t}
	}
	if text == nil {
		g.fail("operator %s on %s", e.Op, d)
	}
	var pairs []string
	for i, a := range args {
		pairs = append(pairs, fmt.Sprintf("$%d", i), a)
	}
	pairs = append(pairs, "zero", g.number(d, int64(0), false), "one", g.number(d, int64(1), false), "(T)", "("+widths[e.DType].value+")")
	v := ""
	for i, t := range text {
		v = g.variable(strings.NewReplacer(pairs...).Replace(t))
		pairs = append(pairs, fmt.Sprintf("@%d", i), v)
	}
	return v
}

// read is the variable of an element of memory, as expressions compute with it.
func (g *gen) read(e *ir.Expr) string {
	at := where(e.Buf, e.At)
	v, ok := g.known[at]
	if !ok {
		return g.load(e)
	}
	if g.halves[at] {
		v = g.variable(fmt.Sprintf("%s.to(%s).to(tl.float32)", v, widths[e.Buf.DType].value))
	}
	return v
}

// power is x to a constant number, of integers.
func (g *gen) power(e *ir.Expr, x string) string {
	n, ok := e.Args[1].Value.(int64)
	if e.Args[1].Kind != ir.Const || !ok || n < 0 {
		g.fail("integers to the power of %s", e.Args[1])
	}
	out := ""
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			if out == "" {
				out = x
			} else {
				out = g.variable(fmt.Sprintf("%s * %s", out, x))
			}
		}
		if n > 1 {
			x = g.variable(fmt.Sprintf("%s * %s", x, x))
		}
	}
	if out == "" {
		out = g.variable(g.number(e.DType, int64(1), true))
	}
	return out
}

// compute is the dtype that expressions have elements of dtype d in.
func compute(d tensor.DType) tensor.DType {
	if d == tensor.BFloat16 || d == tensor.Float16 {
		return tensor.Float32
	}
	return d
}

// cast converts v between dtypes. Floats become uint8 by way of a signed integer: what is negative wraps, and does not become 0.
func (g *gen) cast(v string, from, to tensor.DType) string {
	switch {
	case from == to:
		return v
	case to == tensor.Bool:
		return g.variable(fmt.Sprintf("(%s != 0)", v))
	case to == tensor.UInt8 && from.IsFloat():
		return g.variable(fmt.Sprintf("%s.to(tl.int64).to(tl.uint8)", v))
	}
	if _, ok := widths[to]; !ok {
		g.fail("%s", to)
	}
	return g.variable(fmt.Sprintf("%s.to(%s)", v, widths[to].value))
}

// number writes a constant. Alone, a Python number would have a dtype of its own, so where it is a block, or of another dtype than float32, it is made
// one.
func (g *gen) number(d tensor.DType, value any, block bool) string {
	text := ""
	switch v := value.(type) {
	case bool:
		text = map[bool]string{true: "True", false: "False"}[v]
	case int64:
		text = fmt.Sprint(v)
		if d.IsFloat() {
			text = fx.FormatArg(float64(v))
		}
	case float64:
		if d == tensor.Float32 {
			if r := float64(float32(v)); math.IsInf(r, 0) { // in Triton it would be a double
				v = r
			}
		}
		switch {
		case math.IsInf(v, 1):
			text = `float("inf")`
		case math.IsInf(v, -1):
			text = `float("-inf")`
		case math.IsNaN(v):
			text = `float("nan")`
		default:
			text = fx.FormatArg(v)
		}
	default:
		panic(fmt.Sprintf("a constant of type %T", value))
	}
	if d == tensor.Float32 && !block {
		return text
	}
	shape := "[1]"
	if g.k.R > 0 {
		shape = "[1, 1]"
	}
	if _, ok := widths[d]; !ok {
		g.fail("%s", d)
	}
	return fmt.Sprintf("tl.full(%s, %s, %s)", shape, text, widths[d].value)
}

// store writes the statement that stores v, what e computes. Memory rounds to 16-bit floats; who reads the place gets the variable, rounded.
func (g *gen) store(l *ir.Loops, e *ir.Expr, v string) {
	owner, d, at := l.Out.Owner(), l.Out.DType, where(l.Out, l.At)
	half := d == tensor.BFloat16 || d == tensor.Float16
	if half {
		v = g.cast(v, e.DType, tensor.Float32)
	} else {
		v = g.cast(v, e.DType, d)
	}
	g.known[at] = v
	g.halves[at] = half
	if g.hidden[owner] {
		return
	}
	ptr, p := g.pointer(l.Out), g.place(l.At, l)
	text := p.text
	switch {
	case !p.x && !p.r:
		text = fmt.Sprintf("tl.full(%s, %s, tl.int32)", g.block(), text)
	case g.inner && !(p.x && p.r):
		text = fmt.Sprintf("tl.broadcast_to(%s, %s)", text, g.block())
	}
	mask := "xmask"
	if g.inner && g.masked() {
		mask = "rmask & xmask"
	}
	g.line("tl.store(%s + (%s), %s, %s)", ptr, text, v, mask)
}

// ceilPower is the least power of two that is not below n.
func ceilPower(n int64) int64 {
	p := int64(1)
	for p < n {
		p *= 2
	}
	return p
}

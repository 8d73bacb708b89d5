package codegen

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"whittle/kernels/tensor"
	"whittle/lowering/ir"
	"whittle/lowering/sched"
)

// Kernel is one generated function.
type Kernel struct {
	Source string
	Bufs   []*ir.Buffer // owners of the memory, in argument order
}

// Options are what a kernel may do besides computing.
type Options struct {
	// Threads is among how many threads long loops are shared out, 0 for as many as OpenMP has by default.
	Threads int
	// Local says of a buffer that owns memory whether nothing outside of the group touches it, so that it need not be there. nil: of none.
	Local func(*ir.Buffer) bool
	// Result says of a buffer that owns memory whether nothing in the program reads it, and its memory is likely new, so that it is written past the caches.
	// nil: of none.
	Result func(*ir.Buffer) bool
}

// Sizes that loops are cut by, in elements.
const (
	parallelWork = 1 << 15 // points of a nest that are worth threads
	chunk        = 4096    // of a plain loop, for one thread at a time: its operands fit the second cache
	piece        = 1 << 14 // least part of a reduction for a thread
	columns      = 256     // results of a reduction that are computed side by side
	scratchBytes = 1 << 16 // of a local buffer
	tile         = 16      // of an axis that is walked across memory: a line of the cache
	room         = 256     // elements of a row that are in a room at a time
	rooms        = 8       // such rows of a loop
	longRow      = 64      // elements of a row that is worth writing past the caches
	blocks       = 8       // that are turned at a time: they stay in the first cache
	farApart     = 1024    // bytes between neighbours from which a block is turned: of those, the first cache has no place for all of a block
	unitsWanted  = 8       // pieces of work that are enough for all threads
)

// Generate writes the function for a group of loops.
func Generate(group []*ir.Loops, o Options) *Kernel {
	g := &gen{k: &Kernel{}, slot: map[*ir.Buffer]int{}, o: o, nests: map[*ir.Buffer][]int{}}
	var nests []nest
	for i, n := range sched.CPU.Nests(group) {
		nests = append(nests, prepare(n))
		for _, l := range nests[i].loops() {
			touch := func(b *ir.Buffer) {
				if s := g.nests[b.Owner()]; len(s) == 0 || s[len(s)-1] != i {
					g.nests[b.Owner()] = append(s, i)
				}
			}
			l.Value.Reads(func(e *ir.Expr) { touch(e.Buf) })
			touch(l.Out)
		}
	}
	var body strings.Builder
	g.b = &body
	for _, n := range nests {
		g.nest(n)
	}
	var head strings.Builder
	g.b = &head
	g.line("// %s", strings.Join(origins(group), ", "))
	g.line(`extern "C" void kernel(void** bufs, const int64_t* sizes) {`)
	for i, b := range g.k.Bufs {
		g.line("  %s* __restrict__ p%d = (%s*)bufs[%d]; // %s", ctype(b.DType), i, ctype(b.DType), i, b.Name)
	}
	g.k.Source = Prelude + head.String() + body.String() + "}\n"
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

// A nest is one of the scheduler's with its axes merged: the loops' first p axes are outer ones.
type nest struct {
	p      int
	outer  []int64
	stages [][]*ir.Loops
}

func (n nest) loops() []*ir.Loops { return slices.Concat(n.stages...) }

// prepare copies the loops of a nest and merges axes that are walked as one: outer ones in all of the nest, inner ones in a stage. Where nothing
// has an inner axis, the last outer one becomes it.
func prepare(n sched.Nest) nest {
	out := nest{p: n.Outer}
	inner := false
	for _, s := range n.Stages {
		var loops []*ir.Loops
		for _, l := range s.Loops {
			c := *l
			loops = append(loops, &c)
			inner = inner || len(l.Ranges) > n.Outer || l.Reduce != ""
		}
		out.stages = append(out.stages, loops)
	}
	if !inner && out.p > 0 {
		out.p--
	}
	last := out.p - 2
	if !inner {
		last++
	}
	for a := last; a >= 0; a-- {
		if mergeable(out.loops(), a) {
			merge(out.loops(), a)
			out.p--
		}
	}
	for _, s := range out.stages {
		ends := len(s[0].Sizes()) // where reductions begin, if there is one
		for _, l := range s {
			if l.Reduce != "" {
				ends = len(l.Ranges)
			}
		}
		for a := len(s[0].Sizes()) - 2; a >= out.p; a-- {
			if a != ends-1 && mergeable(s, a) {
				merge(s, a)
				if a < ends {
					ends--
				}
			}
		}
	}
	out.outer = out.loops()[0].Ranges[:out.p]
	return out
}

// mergeable reports whether axes a and a+1 of all loops are walked as one.
func mergeable(loops []*ir.Loops, a int) bool {
	ok := true
	for _, l := range loops {
		n := l.Sizes()[a+1]
		l.Indices(func(x ir.Index) { ok = ok && x.Affine() && x.At(a) == x.At(a+1)*n })
		if a+1 < len(l.Ranges) && l.At.At(a) != l.At.At(a+1)*n {
			ok = false
		}
	}
	return ok
}

// merge makes one axis of axes a and a+1.
func merge(loops []*ir.Loops, a int) {
	for _, l := range loops {
		l.Merge(a)
	}
}

// A gen writes one kernel. Buffers have slots in the order of their first use, variables numbers in the order of theirs: text does not depend
// on maps.
type gen struct {
	k     *Kernel
	b     *strings.Builder
	slot  map[*ir.Buffer]int
	nests map[*ir.Buffer][]int // the nests that touch a buffer
	o     Options

	// of the nest
	p       int
	scratch map[*ir.Buffer]scratch
	hidden  map[*ir.Buffer]bool // local, and always at hand as a variable
	reads   map[*ir.Buffer]bool // what the nest reads
	turned  map[string]string   // a place in memory => the place in a block on the stack that has the same

	// of the code that is being written
	known   map[string]string // text of an expression, or of a place in memory => the variable that has it
	nvar    int
	acc     string // the variable of an Acc
	careful bool   // ask the C library where a vector would not reach
	vector  bool   // the code is the body of a loop that counts wild operands
	wild    bool   // there were such
	count   string // the variable that says so
	axis    int    // of the innermost loop
	folds   bool   // it has accumulators
	walked  []row  // what it has rooms for
}

// A row is what an innermost loop walks in memory and has a room for on the stack, a piece at a time: 16-bit floats, which compilers turn by vectors in a loop
// of their own, and not the numbers in a loop that computes with them; and results that are written past the caches. What is new in the cache costs
// to be read first, although nobody wants it, and again to be written back, and nobody reads a result so soon that it would be there still.
type row struct {
	room, from string // from is the element of memory where the row is at the axis of the loop
	t          string // type of what is in the room
	turn       string // what is called of the room, the place in memory and a number of elements
	written    bool
}

// half is the place of an element in the room of its row, where it is one of a row of 16-bit floats.
func (g *gen) half(b *ir.Buffer, at ir.Index) (string, bool) {
	if b.DType != tensor.Float16 {
		return "", false
	}
	return g.inRoom(b, at, row{t: "float", turn: "whittle_widen"})
}

// halfResult is half where the element is what loops write.
func (g *gen) halfResult(l *ir.Loops) (string, bool) {
	b := l.Out.Owner()
	if l.Out.DType != tensor.Float16 || g.reads[b] || g.hidden[b] {
		return "", false
	}
	turn := "whittle_narrow"
	if g.isResult(l) {
		turn = "whittle_narrow_past"
	}
	return g.inRoom(l.Out, l.At, row{t: "float", turn: turn, written: true})
}

// past is the place of an element in the room of its row, where that is written past the caches.
func (g *gen) past(l *ir.Loops) (string, bool) {
	if !g.isResult(l) || g.folds {
		return "", false
	}
	return g.inRoom(l.Out, l.At, row{t: ctype(l.Out.DType), turn: "whittle_past", written: true})
}

// isResult reports whether loops write long rows that nobody reads.
func (g *gen) isResult(l *ir.Loops) bool {
	b := l.Out.Owner()
	_, local := g.scratch[b]
	return !local && g.o.Result != nil && g.o.Result(b) && !g.reads[b] && l.Out.DType == b.DType && g.axis < len(l.Ranges) && l.Ranges[g.axis] >= longRow
}

// inRoom is the place of an element in the room of its row, which is like r.
func (g *gen) inRoom(b *ir.Buffer, at ir.Index, r row) (string, bool) {
	if !g.vector || !at.Affine() || at.At(g.axis) != 1 {
		return "", false
	}
	r.from = g.place(b, at)
	k := slices.IndexFunc(g.walked, func(o row) bool { return o.from == r.from && o.written == r.written })
	if k < 0 {
		if len(g.walked) == rooms {
			return "", false
		}
		k = len(g.walked)
		r.room = fmt.Sprintf("h%d", k)
		g.walked = append(g.walked, r)
	}
	return fmt.Sprintf("%s[i%d - s]", g.walked[k].room, g.axis), true
}

// scratch is a buffer that lies on the stack for one point of the outer space.
type scratch struct {
	name string
	base int64 // the offset in the buffer at which it begins
}

// line writes one line of C++.
func (g *gen) line(f string, args ...any) { fmt.Fprintf(g.b, f+"\n", args...) }

// use is the slot of the memory that b lies in. Views of one buffer share a pointer, so the compiler, which takes pointers to be distinct
// (__restrict__), is not deceived.
func (g *gen) use(b *ir.Buffer) int {
	key := b.Owner()
	if i, ok := g.slot[key]; ok {
		return i
	}
	g.slot[key] = len(g.k.Bufs)
	g.k.Bufs = append(g.k.Bufs, key)
	return g.slot[key]
}

// place is the C++ of an element of memory.
func (g *gen) place(b *ir.Buffer, at ir.Index) string {
	if s, ok := g.scratch[b.Owner()]; ok {
		return fmt.Sprintf("%s[%s]", s.name, s.at(at, g.p).Text())
	}
	return g.element(b, at.Text())
}

// element is the C++ of an element of memory that no nest has for itself.
func (g *gen) element(b *ir.Buffer, at string) string {
	name := fmt.Sprintf("p%d", g.use(b))
	if o := b.Owner(); o.DType != b.DType {
		name = fmt.Sprintf("((%s*)%s)", ctype(b.DType), name)
	}
	return fmt.Sprintf("%s[%s]", name, at)
}

// at is an index of the buffer without what the p outer axes add.
func (s scratch) at(at ir.Index, p int) ir.Index {
	c := slices.Clone(at.Coef)
	clear(c[:min(p, len(c))])
	return ir.Index{Coef: c, Const: at.Const - s.base}
}

// nest writes a nest of loops.
func (g *gen) nest(n nest) {
	g.p, g.known, g.reads = n.p, map[string]string{}, map[*ir.Buffer]bool{}
	for _, l := range n.loops() {
		l.Value.Reads(func(e *ir.Expr) { g.reads[e.Buf.Owner()] = true })
	}
	g.localise(n)
	outer, work := int64(1), int64(0)
	for _, s := range n.outer {
		outer *= s
	}
	for _, l := range n.loops() {
		work += prod(l.Sizes())
	}
	parallel := work >= parallelWork && g.o.Threads != 1
	if u := n.crossed(); u >= 0 {
		g.tiles(n, u, parallel)
		return
	}
	inside := parallel && outer < unitsWanted
	indent := "  "
	if n.p == 0 { // a scope of its own for what is declared
		g.line("%s{", indent)
		indent += "  "
	}
	if parallel && !inside {
		axes, units := 0, int64(1)
		for axes < n.p && units < 8*unitsWanted {
			units *= n.outer[axes]
			axes++
		}
		g.line("%s#pragma omp parallel for%s%s schedule(static)", indent, g.threads(), collapse(axes))
	}
	for i, s := range n.outer {
		g.line("%sfor (int64_t i%d = 0; i%d < %d; i%d++) {", indent, i, i, s, i)
		indent += "  "
	}
	for _, b := range slices.SortedFunc(maps.Keys(g.scratch), func(a, b *ir.Buffer) int { return strings.Compare(g.scratch[a].name, g.scratch[b].name) }) {
		g.line("%s%s %s[%d] __attribute__((aligned(64)));", indent, ctype(b.DType), g.scratch[b].name, g.extent(n, b))
	}
	for _, s := range n.stages {
		g.stage(s, indent, inside)
	}
	for range max(n.p, 1) {
		indent = indent[2:]
		g.line("%s}", indent)
	}
}

// crossed is an outer axis of a nest of plain loops along which a load walks memory by single steps, while it strides along the inner axis;
// -1 if there is none.
func (n nest) crossed() int {
	if len(n.stages) != 1 {
		return -1
	}
	u := -1
	for _, l := range n.stages[0] {
		if l.Reduce != "" || len(l.Ranges) != n.p+1 || l.Ranges[n.p] < tile {
			return -1
		}
		for a := range n.p {
			if l.Ranges[a] >= tile {
				l.Value.Reads(func(e *ir.Expr) {
					if crosses(e, a, n.p) {
						u = a
					}
				})
			}
		}
	}
	return u
}

// crosses reports whether a load walks memory by single steps along axis u, and strides along the inner one.
func crosses(e *ir.Expr, u, inner int) bool {
	c, d := e.At.At(u), e.At.At(inner)
	return e.Direct() && e.At.Affine() && (c == 1 || c == -1) && (d <= -tile || d >= tile)
}

// tiles writes a nest of plain loops in blocks of its inner and of another axis, so that what a load brings into the cache by a stride is used for
// all of the block. What lies far apart is first turned, in a block on the stack: then it is used at once, and the loop itself has vectors.
func (g *gen) tiles(n nest, u int, parallel bool) {
	sizes := n.stages[0][0].Ranges
	indent, units, axes := "  ", int64(1), 0
	heads := []string{}
	for a := range n.p {
		if a != u {
			heads = append(heads, fmt.Sprintf("for (int64_t i%d = 0; i%d < %d; i%d++) {", a, a, sizes[a], a))
			if units < unitsWanted {
				units *= sizes[a]
				axes++
			}
		}
	}
	heads = append(heads, fmt.Sprintf("for (int64_t b%d = 0; b%d < %d; b%d += %d) {", u, u, sizes[u], u, tile))
	if units < unitsWanted {
		axes = len(heads)
	}
	heads = append(heads, fmt.Sprintf("for (int64_t b%d = 0; b%d < %d; b%d += %d) {", n.p, n.p, sizes[n.p], n.p, 4*tile))
	if parallel {
		g.line("%s#pragma omp parallel for%s%s schedule(static)", indent, g.threads(), collapse(axes))
	}
	for _, h := range heads {
		g.line("%s%s", indent, h)
		indent += "  "
	}
	long := fmt.Sprintf("for (int64_t i%d = b%d; i%d < %s; i%d++)", n.p, n.p, n.p, least(fmt.Sprintf("b%d + %d", n.p, 4*tile), sizes[n.p], 4*tile), n.p)
	short := fmt.Sprintf("for (int64_t i%d = b%d; i%d < %s; i%d++)", u, u, u, least(fmt.Sprintf("b%d + %d", u, tile), sizes[u], tile), u)
	g.turned = map[string]string{}
	for _, l := range n.stages[0] {
		l.Value.Reads(func(e *ir.Expr) {
			key := where(e.Buf, e.At)
			d := e.At.At(n.p) * int64(e.Buf.DType.Size())
			swift := e.At.At(u) == 1 && e.Buf.DType.Size() > 1 // by vectors
			if _, ok := g.turned[key]; ok || !crosses(e, u, n.p) || !swift && d > -farApart && d < farApart || g.stored(n, e.Buf) || len(g.turned) == blocks {
				return
			}
			name := fmt.Sprintf("q%d", len(g.turned))
			at := fmt.Sprintf("%s[%d*(i%d - b%d) + i%d - b%d]", name, 4*tile, u, u, n.p, n.p)
			g.line("%s%s %s[%d] __attribute__((aligned(64)));", indent, ctype(e.Buf.DType), name, 4*tile*tile)
			if swift {
				g.line("%s{ int64_t i%d = b%d, i%d = b%d; whittle_turn<%d, %d>(%s, &%s, %d, %s - b%d, %s - b%d); }", indent, u, u, n.p, n.p, e.Buf.DType.Size(), 4*tile, name, g.place(e.Buf, e.At),
					e.At.At(n.p), least(fmt.Sprintf("b%d + %d", u, tile), sizes[u], tile), u, least(fmt.Sprintf("b%d + %d", n.p, 4*tile), sizes[n.p], 4*tile), n.p)
				g.turned[key] = at
				return
			}
			g.line("%s%s", indent, long)
			g.line("%s  %s %s = %s;", indent, short, at, g.place(e.Buf, e.At))
			g.turned[key] = at
		})
	}
	g.line("%s%s {", indent, short)
	g.loop(n.p, fmt.Sprintf("b%d", n.p), least(fmt.Sprintf("b%d + %d", n.p, 4*tile), sizes[n.p], 4*tile), indent+"  ", func(indent string) { g.body(n.stages[0], indent, nil) })
	g.turned = nil
	g.close(indent+"  ", "  ")
}

// stored reports whether a nest writes to the memory of b.
func (g *gen) stored(n nest, b *ir.Buffer) bool {
	return slices.ContainsFunc(n.loops(), func(l *ir.Loops) bool { return l.Out.Owner() == b.Owner() })
}

// threads is the clause that bounds them.
func (g *gen) threads() string {
	if g.o.Threads > 0 {
		return fmt.Sprintf(" num_threads(%d)", g.o.Threads)
	}
	return ""
}

func collapse(axes int) string {
	if axes > 1 {
		return fmt.Sprintf(" collapse(%d)", axes)
	}
	return ""
}

// localise finds what the nest alone touches: what is always at hand as a variable is never stored, what is small enough lies on the stack.
func (g *gen) localise(n nest) {
	g.scratch, g.hidden = map[*ir.Buffer]scratch{}, map[*ir.Buffer]bool{}
	if g.o.Local == nil {
		return
	}
	type place struct {
		stage int
		at    ir.Index
	}
	wrote := map[*ir.Buffer][]place{}
	far := map[*ir.Buffer]bool{}   // read in another stage than written, or elsewhere in the row
	whole := map[*ir.Buffer]bool{} // cannot be local
	for s, loops := range n.stages {
		for _, l := range loops {
			l.Value.Reads(func(e *ir.Expr) {
				b := e.Buf.Owner()
				w := wrote[b]
				if len(w) != 1 || e.Buf.DType != b.DType || !e.At.Affine() || !e.Direct() {
					whole[b] = true
				} else if !w[0].at.Equal(e.At) || w[0].stage != s && len(n.stages[w[0].stage][0].Sizes()) > n.p && !reduced(n.stages[w[0].stage], b, n.p) {
					far[b] = true
				}
			})
			b := l.Out.Owner()
			wrote[b] = append(wrote[b], place{s, l.At})
			if l.Out.DType != b.DType || !l.At.Affine() {
				whole[b] = true
			}
		}
	}
	for _, l := range n.loops() {
		b := l.Out.Owner()
		if !g.o.Local(b) || whole[b] || len(g.nests[b]) != 1 || len(wrote[b]) != 1 {
			continue
		}
		if !far[b] {
			g.hidden[b] = true
		} else if size := g.extent(n, b) * int64(b.DType.Size()); n.p > 0 && size > 0 && size <= scratchBytes {
			g.scratch[b] = scratch{fmt.Sprintf("l%d", len(g.scratch)), wrote[b][0].at.Const}
		}
	}
}

// reduced reports whether b is the result of a reduction of whole rows, which is a variable of the row.
func reduced(stage []*ir.Loops, b *ir.Buffer, p int) bool {
	return slices.ContainsFunc(stage, func(l *ir.Loops) bool { return l.Out.Owner() == b && l.Reduce != "" && len(l.Ranges) == p })
}

// extent is how many elements of b, from the first, one point of the outer space touches; 0 where it walks backwards.
func (g *gen) extent(n nest, b *ir.Buffer) int64 {
	most := int64(0)
	see := func(at ir.Index, sizes []int64) {
		lo, hi := scratch{}.at(ir.Index{Coef: at.Coef}, n.p).Bounds(sizes)
		if lo < 0 {
			hi = math.MinInt32
		}
		most = max(most, hi+1)
	}
	for _, l := range n.loops() {
		if l.Out.Owner() == b {
			see(l.At, l.Ranges)
		}
		l.Value.Reads(func(e *ir.Expr) {
			if e.Buf.Owner() == b {
				see(e.At, l.Sizes())
			}
		})
	}
	return most
}

// stage writes the loops of a stage.
func (g *gen) stage(loops []*ir.Loops, indent string, inside bool) {
	reduces := slices.IndexFunc(loops, func(l *ir.Loops) bool { return l.Reduce != "" })
	inside = inside && prod(loops[0].Sizes()[g.p:]) >= parallelWork
	switch {
	case reduces < 0:
		g.plain(loops, indent, inside)
	case len(loops[reduces].Ranges) == g.p:
		g.rows(loops, indent, inside)
	case !loops[reduces].Columns():
		g.each(loops, indent, inside)
	default:
		g.columns(loops, indent, inside)
	}
}

// plain writes loops without reductions.
func (g *gen) plain(loops []*ir.Loops, indent string, inside bool) {
	sizes := loops[0].Ranges
	last := len(sizes) - 1
	if last < g.p {
		g.body(loops, indent, nil)
		return
	}
	from, to := "0", fmt.Sprint(sizes[last])
	closing := indent
	if inside {
		g.line("%s#pragma omp parallel for%s%s schedule(static)", indent, g.threads(), collapse(last-g.p))
		if last == g.p {
			g.line("%sfor (int64_t c%d = 0; c%d < %d; c%d += %d) {", indent, last, last, sizes[last], last, chunk)
			from, to = fmt.Sprintf("c%d", last), least(fmt.Sprintf("c%d + %d", last, chunk), sizes[last], chunk)
			indent += "  "
		}
	}
	indent = g.open(sizes, g.p, last, indent)
	g.loop(last, from, to, indent, func(indent string) { g.body(loops, indent, nil) })
	g.close(indent, closing)
}

// least is the smaller of an end and n; n is left out where steps of a size never pass it.
func least(end string, n int64, step int64) string {
	if n%step == 0 {
		return end
	}
	return fmt.Sprintf("(%s < %d ? %s : %d)", end, n, end, n)
}

// open begins loops over axes from to last, without last, and gives the indentation within.
func (g *gen) open(sizes []int64, from, last int, indent string) string {
	for a := from; a < last; a++ {
		g.line("%sfor (int64_t i%d = 0; i%d < %d; i%d++) {", indent, a, a, sizes[a], a)
		indent += "  "
	}
	return indent
}

// close ends loops and scopes down to an indentation.
func (g *gen) close(indent, outer string) {
	for len(indent) > len(outer) {
		indent = indent[2:]
		g.line("%s}", indent)
	}
}

// loop writes an innermost loop, which is to become vectors. Where its body has operands that a vector does not reach, the loop counts them, and is done
// again, with the C library, if there were any, from what the accumulators were before. Rows that have rooms are walked a piece at a time; see row.
func (g *gen) loop(axis int, from, to, indent string, body func(indent string), accs ...accumulator) {
	write := func(careful bool) string {
		known, outside := g.known, g.b
		var text strings.Builder
		g.known, g.b, g.vector, g.careful, g.wild, g.axis = maps.Clone(known), &text, true, careful, false, axis
		body(indent + "  ")
		g.known, g.b, g.vector, g.careful = known, outside, false, false
		return text.String()
	}
	g.count, g.walked, g.folds = fmt.Sprintf("wild%d", g.nvar), nil, len(accs) > 0
	text := write(false)
	first, end, outside := from, to, g.b
	var piece strings.Builder
	if len(g.walked) > 0 {
		g.b, first, end = &piece, "s", "e"
	}
	head := fmt.Sprintf("%sfor (int64_t i%d = %s; i%d < %s; i%d++) {\n", indent, axis, first, axis, end, axis)
	wild, clauses := g.wild, ""
	for _, a := range accs {
		clauses += fmt.Sprintf(" reduction(%s:%s)", a.clause, a.name)
	}
	if wild {
		g.line("%sint %s = 0;", indent, g.count)
		if clauses != "" {
			clauses += " reduction(|:" + g.count + ")"
		}
		for _, a := range accs {
			g.line("%s%s %sb = %s;", indent, a.wide, a.name, a.name)
		}
	}
	if clauses != "" {
		g.line("%s#pragma omp simd%s", indent, clauses)
	} else {
		g.line("%s#pragma GCC ivdep", indent)
	}
	g.b.WriteString(head + text + indent + "}\n")
	if wild {
		g.line("%sif (%s) {", indent, g.count)
		for _, a := range accs {
			g.line("%s  %s = %sb;", indent, a.name, a.name)
		}
		g.b.WriteString("  " + head + write(true) + indent + "  }\n" + indent + "}\n")
	}
	if len(g.walked) > 0 {
		g.b = outside
		g.pieces(axis, from, to, indent, piece.String())
	}
}

// pieces writes a loop over pieces of its rows, which are turned before and after each.
func (g *gen) pieces(axis int, from, to, indent, text string) {
	g.line("%sfor (int64_t s = %s; s < %s; s += %d) {", indent, from, to, room)
	g.line("%s  int64_t e = s + %d < %s ? s + %d : %s;", indent, room, to, room, to)
	turn := func(written bool) {
		for _, r := range g.walked {
			if r.written == written {
				g.line("%s  { int64_t i%d = s; %s(%s, &%s, e - s); }", indent, axis, r.turn, r.room, r.from)
			}
		}
	}
	for _, r := range g.walked {
		g.line("%s  %s %s[%d] __attribute__((aligned(64)));", indent, r.t, r.room, room)
	}
	turn(false)
	for _, l := range strings.SplitAfter(text, "\n") {
		if l != "" {
			g.b.WriteString("  " + l)
		}
	}
	turn(true)
	g.line("%s}", indent)
}

// body writes what loops compute at one point: plain ones store it, and each of a reduction's values goes to add.
func (g *gen) body(loops []*ir.Loops, indent string, add func(l *ir.Loops, v, indent string)) {
	for _, l := range loops {
		v := g.emit(l.Value, indent)
		if l.Reduce != "" {
			add(l, v, indent)
			continue
		}
		g.store(l, l.Value, v, indent)
	}
}

// store writes the statement that stores v, what e computes. 16-bit floats are rounded here, and nowhere else. Who reads the place gets the variable.
func (g *gen) store(l *ir.Loops, e *ir.Expr, v, indent string) {
	t := ctype(l.Out.DType)
	half := l.Out.DType == tensor.BFloat16 || l.Out.DType == tensor.Float16
	if to, ok := g.halfResult(l); ok {
		g.line("%s%s = float(%s);", indent, to, v)
		return
	}
	switch {
	case half && e.DType != tensor.Float32:
		v = fmt.Sprintf("%s(float(%s))", t, v)
	case half:
		v = fmt.Sprintf("%s(%s)", t, v)
	case e.DType != l.Out.DType:
		v = fmt.Sprintf("whittle_cast<%s>(%s)", t, v)
	}
	if half || e.DType != l.Out.DType || !g.isVariable(v) {
		v = g.variable(t, v, indent)
	}
	if !g.hidden[l.Out.Owner()] {
		to, ok := g.past(l)
		if !ok {
			to = g.place(l.Out, l.At)
		}
		g.line("%s%s = %s;", indent, to, v)
	}
	g.known[where(l.Out, l.At)] = v
}

// where names an element of memory.
func where(b *ir.Buffer, at ir.Index) string {
	return fmt.Sprintf("%p %s[%s]", b.Owner(), b.DType, at.Text())
}

// isVariable reports whether v is one of the variables that emit declares.
func (g *gen) isVariable(v string) bool {
	return len(v) > 1 && v[0] == 't' && strings.Trim(v[1:], "0123456789") == ""
}

// variable declares a variable for text, unless there is one.
func (g *gen) variable(t, text, indent string) string {
	key := t + " " + text
	if v, ok := g.known[key]; ok {
		return v
	}
	v := fmt.Sprintf("t%d", g.nvar)
	g.nvar++
	g.known[key] = v
	g.line("%s%s %s = %s;", indent, t, v, text)
	return v
}

// emit writes the statements for e and returns its variable, or a constant; equal subexpressions are computed once.
func (g *gen) emit(e *ir.Expr, indent string) string {
	t := ctype(e.DType)
	switch e.Kind {
	case ir.Const:
		return literal(e)
	case ir.Acc:
		return g.variable(t, fmt.Sprintf("%s(%s)", t, g.acc), indent)
	case ir.AxisValue:
		return g.variable(t, fmt.Sprintf("%s(%s)", t, e.At.Text()), indent)
	case ir.Load:
		if !e.Direct() {
			at := e.At.Text()
			for i, a := range e.Args {
				at += fmt.Sprintf(" + %d*%s", e.Steps[i], g.emit(a, indent))
			}
			return g.variable(t, g.loaded(e, truth(e.Buf, g.element(e.Buf, at))), indent)
		}
		text, ok := g.known[where(e.Buf, e.At)]
		if ok && e.Buf.DType == e.DType {
			return text
		}
		if !ok {
			text, ok = g.turned[where(e.Buf, e.At)]
		}
		if !ok {
			if text, ok = g.half(e.Buf, e.At); ok {
				return g.variable(t, text, indent)
			}
			text = truth(e.Buf, g.place(e.Buf, e.At))
		}
		return g.variable(t, g.loaded(e, text), indent)
	}
	args := make([]string, 0, 2*len(e.Args))
	for i, a := range e.Args {
		args = append(args, fmt.Sprintf("$%d", i), g.emit(a, indent))
	}
	text, operands := ops[e.Op], strings.NewReplacer(args...)
	far := map[tensor.DType]map[string]struct{ when, text string }{tensor.Float32: wild, tensor.Float64: wildDoubles}[e.DType]
	if w, ok := far[e.Op]; ok {
		if g.vector && !g.careful {
			g.wild = true
			g.line("%s%s |= %s;", indent, g.count, operands.Replace(w.when))
		} else {
			text = w.text
		}
	}
	return g.variable(t, replaceType(operands.Replace(text), t), indent)
}

// truth is the value of a place in memory: a bool is read as the byte that it is, which compilers have vectors of.
func truth(b *ir.Buffer, place string) string {
	if b.DType == tensor.Bool {
		return fmt.Sprintf("(*(const uint8_t*)&%s != 0)", place)
	}
	return place
}

// loaded is the value of an element of memory, of which text is the place, as e computes with it.
func (g *gen) loaded(e *ir.Expr, text string) string {
	switch t := ctype(e.DType); {
	case e.Buf.DType == tensor.BFloat16 || e.Buf.DType == tensor.Float16:
		return fmt.Sprintf("%s(float(%s))", t, text)
	case e.Buf.DType != e.DType:
		return fmt.Sprintf("whittle_cast<%s>(%s)", t, text)
	}
	return text
}

// literal is the C++ of a constant.
func literal(e *ir.Expr) string {
	t := ctype(e.DType)
	switch v := e.Value.(type) {
	case bool:
		return fmt.Sprintf("%s(%t)", t, v)
	case int64:
		if v == math.MinInt64 {
			return fmt.Sprintf("%s(INT64_MIN)", t)
		}
		return fmt.Sprintf("%s(%dLL)", t, v)
	case float64:
		switch {
		case math.IsInf(v, 1):
			return fmt.Sprintf("%s(__builtin_inf())", t)
		case math.IsInf(v, -1):
			return fmt.Sprintf("%s(-__builtin_inf())", t)
		case math.IsNaN(v):
			return fmt.Sprintf("%s(__builtin_nan(\"\"))", t)
		}
		s := strconv.FormatFloat(v, 'g', 17, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return fmt.Sprintf("%s(%s)", t, s)
	}
	panic(fmt.Sprintf("a constant of type %T", e.Value))
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

// prod is the number of points of a space.
func prod(s []int64) int64 {
	n := int64(1)
	for _, v := range s {
		n *= v
	}
	return n
}

package tiles

import (
	"fmt"
	"slices"
	"sync"

	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// tile is how many elements of the inner axis are evaluated at a time: a few registers of that many floats fit the first cache.
const tile = 2048

// A Program is loops that run one after another.
type Program struct{ loops []*loop }

// A loop is loops as instructions: value computes what is stored or reduced, final what is stored of a reduction.
type loop struct {
	*ir.Loops
	sizes  []int64
	vector int // the axis that tiles are of; -1: there is no axis
	value  code
	final  code
}

// A code is an expression as instructions on registers, the last of which has its value. Registers of instructions that do not vary along the inner
// axis have one element.
type code []instruction

type instruction struct {
	kind   ir.Kind
	d      tensor.DType
	varies bool
	buf    *ir.Buffer
	at     ir.Index
	value  vector // of a constant
	op     operation
	cast   tensor.DType // what a cast converts from; Invalid: no cast
	args   []int
	steps  []int64 // of a load by numbers from memory
}

// New prepares loops. An operator that no tile has is an error that names it.
func New(group []*ir.Loops) (*Program, error) {
	p := &Program{}
	for _, l := range group {
		x := &loop{Loops: l, sizes: l.Sizes()}
		x.vector = len(x.sizes) - 1
		if l.Columns() {
			x.vector = len(l.Ranges) - 1
		}
		var err error
		if x.value, err = compile(l.Value, x.vector); err != nil {
			return nil, err
		}
		if l.Reduce != "" {
			f := l.Final
			if f == nil {
				f = &ir.Expr{Kind: ir.Acc, DType: l.Value.DType}
			}
			if x.final, err = compile(f, x.vector); err != nil {
				return nil, err
			}
		}
		p.loops = append(p.loops, x)
	}
	return p, nil
}

// Buffers are those that own the memory which the program touches, in the order of their first use.
func (p *Program) Buffers() []*ir.Buffer {
	var out []*ir.Buffer
	use := func(b *ir.Buffer) {
		if !slices.Contains(out, b.Owner()) {
			out = append(out, b.Owner())
		}
	}
	for _, l := range p.loops {
		l.Value.Reads(func(e *ir.Expr) { use(e.Buf) })
		use(l.Out)
	}
	return out
}

// compile makes instructions of e; equal subexpressions are computed once.
func compile(e *ir.Expr, axis int) (code, error) {
	var c code
	known := map[string]int{}
	var walk func(e *ir.Expr) (int, error)
	operands := func(in *instruction, e *ir.Expr, key *string) error {
		for _, a := range e.Args {
			r, err := walk(a)
			if err != nil {
				return err
			}
			in.args = append(in.args, r)
			in.varies = in.varies || c[r].varies
			*key += fmt.Sprint(" ", r)
		}
		return nil
	}
	walk = func(e *ir.Expr) (int, error) {
		in := instruction{kind: e.Kind, d: e.DType, buf: e.Buf, at: e.At}
		key := fmt.Sprintf("%d %s ", e.Kind, e.DType)
		switch e.Kind {
		case ir.Const:
			in.value = constant(e)
			key += fmt.Sprintf("%T %v", e.Value, e.Value)
		case ir.Load:
			in.varies, in.steps = along(e.At, axis), e.Steps
			key += fmt.Sprintf("%p %s %v", e.Buf, e.At.Text(), e.Steps)
			if err := operands(&in, e, &key); err != nil {
				return 0, err
			}
		case ir.AxisValue:
			in.varies = along(e.At, axis)
			key += e.At.Text()
		case ir.Acc:
			in.varies = true // as far as the accumulator is
		case ir.Call:
			key += e.Op
			if err := operands(&in, e, &key); err != nil {
				return 0, err
			}
			from := e.Args[len(e.Args)-1].DType
			switch e.Op {
			case "cast":
				in.cast = from
			case "where":
				in.op = choose
			default:
				if in.op = operationOf(e.Op, classOf(from)); in.op == nil {
					return 0, fmt.Errorf("tiles have no %s of %s", e.Op, from)
				}
			}
		}
		if r, ok := known[key]; ok && e.Kind != ir.Acc {
			return r, nil
		}
		known[key] = len(c)
		c = append(c, in)
		return len(c) - 1, nil
	}
	_, err := walk(e)
	return c, err
}

// along reports whether x varies along an axis.
func along(x ir.Index, axis int) bool {
	return axis >= 0 && (x.At(axis) != 0 || slices.ContainsFunc(x.More, func(t ir.Term) bool { return along(t.Of, axis) }))
}

// A machine is the registers of one thread.
type machine struct {
	mem  map[*ir.Buffer]*tensor.Tensor
	pos  []int64 // of the loop's axes; of the inner one the tile's first
	n    int     // elements of the tile
	acc  vector
	regs []vector
	own  []vector // memory of the registers
}

// machines keep their registers from one loop to the next.
var machines = sync.Pool{New: func() any { return &machine{} }}

// index is the value of x where the machine stands, and its step along the inner axis.
func (m *machine) index(x ir.Index, axis int) (at, step int64) {
	at = x.Const
	for i, c := range x.Coef {
		if c != 0 {
			at += c * m.pos[i]
		}
	}
	for _, t := range x.More {
		q, _ := m.index(t.Of, axis)
		if q /= t.Div; t.Mod > 0 {
			q %= t.Mod
		}
		at += t.Coef * q
	}
	if axis >= 0 {
		step = x.At(axis)
	}
	return at, step
}

// each calls f with the value of x for every element of the tile.
func (m *machine) each(x ir.Index, axis, n int, f func(k int, at int64)) {
	first := int64(0)
	if axis >= 0 {
		first = m.pos[axis]
	}
	for k := range n {
		if axis >= 0 {
			m.pos[axis] = first + int64(k)
		}
		at, _ := m.index(x, axis)
		f(k, at)
	}
	if axis >= 0 {
		m.pos[axis] = first
	}
}

// run computes c on the tile, and gives its value.
func (m *machine) run(c code, axis int) vector {
	for len(m.regs) < len(c) {
		m.regs, m.own = append(m.regs, vector{}), append(m.own, vector{})
	}
	var args []vector
	for r, in := range c {
		n := 1
		if in.varies {
			n = m.n
		}
		switch in.kind {
		case ir.Const:
			m.regs[r] = in.value
			continue
		case ir.Acc:
			m.regs[r] = m.acc
			if k := classOf(in.d); k == single && m.acc.f == nil {
				v := m.room(r, in.d, len(m.acc.d))
				convert(m.acc, tensor.Float64, v, in.d)
				m.regs[r] = v
			}
			continue
		case ir.Load:
			t := m.mem[in.buf.Owner()]
			v := m.room(r, in.d, n)
			if len(in.args) > 0 {
				one := room(in.d, 1)
				m.each(in.at, axis, n, func(k int, at int64) {
					for i, a := range in.args {
						x := m.regs[a].i
						at += in.steps[i] * x[min(k, len(x)-1)]
					}
					put(v, k, load(t, in.buf.DType, in.d, at, 0, 1, one))
				})
				m.regs[r] = v
				continue
			}
			if !in.at.Affine() && in.varies {
				one := room(in.d, 1)
				m.each(in.at, axis, n, func(k int, at int64) { put(v, k, load(t, in.buf.DType, in.d, at, 0, 1, one)) })
				m.regs[r] = v
				continue
			}
			at, step := m.index(in.at, axis)
			m.regs[r] = load(t, in.buf.DType, in.d, at, step, n, v)
			continue
		case ir.AxisValue:
			v := m.room(r, in.d, n)
			x := room(tensor.Int64, n)
			m.each(in.at, axis, n, func(k int, at int64) { x.i[k] = at })
			convert(x, tensor.Int64, v, in.d)
			m.regs[r] = v
			continue
		}
		args = args[:0]
		for _, a := range in.args {
			args = append(args, m.regs[a])
			if in.varies {
				n = max(n, size(m.regs[a])) // of an accumulator
			}
		}
		v := m.room(r, in.d, n)
		if in.cast != tensor.Invalid {
			convert(args[0], in.cast, v, in.d)
		} else {
			in.op(v, in.d, args)
		}
		m.regs[r] = v
	}
	return m.regs[len(c)-1]
}

// size is how many elements v has.
func size(v vector) int { return max(len(v.f), len(v.d), len(v.i), len(v.b)) }

// put makes the only element of x element k of v.
func put(v vector, k int, x vector) {
	switch {
	case v.f != nil:
		v.f[k] = x.f[0]
	case v.d != nil:
		v.d[k] = x.d[0]
	case v.i != nil:
		v.i[k] = x.i[0]
	default:
		v.b[k] = x.b[0]
	}
}

// room is memory for register r.
func (m *machine) room(r int, d tensor.DType, n int) vector {
	have := m.own[r]
	var v vector
	switch classOf(d) {
	case single:
		if cap(have.f) < n {
			have.f = make([]float32, max(n, tile))
		}
		v.f = have.f[:n]
	case double:
		if cap(have.d) < n {
			have.d = make([]float64, max(n, tile))
		}
		v.d = have.d[:n]
	case integer:
		if cap(have.i) < n {
			have.i = make([]int64, max(n, tile))
		}
		v.i = have.i[:n]
	default:
		if cap(have.b) < n {
			have.b = make([]uint8, max(n, tile))
		}
		v.b = have.b[:n]
	}
	m.own[r] = have
	return v
}

// Run runs the program on the memory of its buffers, which own it.
func (p *Program) Run(mem map[*ir.Buffer]*tensor.Tensor) {
	for _, l := range p.loops {
		l.run(mem)
	}
}

// run shares the points of all kept axes but the inner one out, a tile of that at a time.
func (l *loop) run(mem map[*ir.Buffer]*tensor.Tensor) {
	if slices.Contains(l.Ranges, 0) {
		return
	}
	kept := slices.Clone(l.Ranges)
	tiles := int64(1)
	inner := l.vector >= 0 && l.vector < len(l.Ranges) // the inner axis is a kept one
	if inner {
		tiles = (l.Ranges[l.vector] + tile - 1) / tile
		kept[l.vector] = 1
	}
	points, each := int64(1), int64(1)
	for _, n := range kept {
		points *= n
	}
	for _, n := range l.Reduction {
		each *= n
	}
	if inner {
		each *= min(tile, l.Ranges[l.vector])
	}
	parallel.For(int(points*tiles), int(max((1<<15)/max(each, 1), 1)), func(lo, hi int) {
		m := machines.Get().(*machine)
		defer machines.Put(m)
		m.mem, m.pos = mem, make([]int64, len(l.sizes))
		for k := lo; k < hi; k++ {
			rest := int64(k) / tiles
			for a := len(kept) - 1; a >= 0; a-- {
				m.pos[a] = rest % kept[a]
				rest /= kept[a]
			}
			m.n = 1
			if inner {
				m.pos[l.vector] = int64(k) % tiles * tile
				m.n = int(min(tile, l.Ranges[l.vector]-m.pos[l.vector]))
			}
			l.point(m)
		}
		m.mem = nil
	})
}

// point computes what is stored from where the machine stands.
func (l *loop) point(m *machine) {
	n, v, d := m.n, vector{}, l.Value.DType
	if l.Reduce == "" {
		v = m.run(l.value, l.vector)
	} else {
		l.reduce(m)
		m.n = n
		for a := len(l.Ranges); a < len(l.sizes); a++ {
			m.pos[a] = 0
		}
		if v = m.run(l.final, l.vector); l.Final != nil {
			d = l.Final.DType
		}
	}
	at, step := m.index(l.At, l.vector)
	if !l.At.Affine() {
		m.each(l.At, l.vector, n, func(k int, at int64) { store(m.mem[l.Out.Owner()], l.Out.DType, at, 0, 1, one(v, k), d) })
		return
	}
	store(m.mem[l.Out.Owner()], l.Out.DType, at, step, n, v, d)
}

// one is element k of v.
func one(v vector, k int) vector {
	if size(v) == 1 {
		k = 0
	}
	switch {
	case v.f != nil:
		v.f = v.f[k : k+1]
	case v.d != nil:
		v.d = v.d[k : k+1]
	case v.i != nil:
		v.i = v.i[k : k+1]
	default:
		v.b = v.b[k : k+1]
	}
	return v
}

// reduce leaves in the machine's accumulator what the values of all reduced points come to: one number, or one for each element of the tile.
func (l *loop) reduce(m *machine) {
	f := foldOf(l.Reduce, l.Value.DType)
	lanes := m.n
	rows := l.vector >= len(l.Ranges) // the inner axis is reduced
	if rows {
		lanes = 1
	}
	m.acc = f.begin(lanes)
	outer := slices.Clone(l.Reduction)
	if rows {
		outer[l.vector-len(l.Ranges)] = 1
	}
	points := int64(1)
	for _, n := range outer {
		points *= n
	}
	for k := range points {
		rest := k
		for a := len(outer) - 1; a >= 0; a-- {
			m.pos[len(l.Ranges)+a] = rest % outer[a]
			rest /= outer[a]
		}
		if !rows {
			f.lanes(m.acc, m.run(l.value, l.vector))
			continue
		}
		for from := int64(0); from < l.sizes[l.vector]; from += tile {
			m.pos[l.vector] = from
			m.n = int(min(tile, l.sizes[l.vector]-from))
			f.row(m.acc, m.run(l.value, l.vector), m.n)
		}
	}
}

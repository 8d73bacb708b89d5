package sizes

import (
	"slices"

	"whittle/capture/sizes/relations"
	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// rules say what sizes results have, over expressions.
var rules = relations.NewTable[*Expr]()

var (
	zero = symbolic.Int(0)
	unit = symbolic.Int(1)
)

// questions is a call as rules see it: what they ask is decided by the environment, which makes guards. After the first
// question without an answer all answers are no.
type questions struct{ *call }

var _ relations.Call[*Expr] = questions{}

func (c questions) Const(n int64) *Expr { return symbolic.Int(n) }

func (c questions) Constant(e *Expr) (int64, bool) { return e.Int, e.Op == symbolic.OpInt }

func (c questions) Value(e *Expr) int64 { return c.trial(e) }

func (c questions) Add(es ...*Expr) *Expr { return symbolic.Add(es...) }

func (c questions) Sub(a, b *Expr) *Expr { return symbolic.Sub(a, b) }

func (c questions) Mul(es ...*Expr) *Expr { return symbolic.Mul(es...) }

func (c questions) Div(a, b *Expr) *Expr { return symbolic.FloorDiv(a, b) }

func (c questions) Rest(a, b *Expr) *Expr { return symbolic.Mod(a, b) }

var relationOps = map[relations.Relation]symbolic.Op{relations.Equal: symbolic.OpEq, relations.Less: symbolic.OpLt, relations.AtMost: symbolic.OpLe,
	relations.Greater: symbolic.OpGt, relations.AtLeast: symbolic.OpGe}

func (c questions) Ask(r relations.Relation, a, b *Expr) bool {
	return c.decide(symbolic.Cmp(relationOps[r], a, b))
}

func (c questions) Require(r relations.Relation, a, b *Expr) {
	if c.err == nil {
		c.err = c.Env.Require(symbolic.Cmp(relationOps[r], a, b))
	}
}

func (c questions) Fix(e *Expr) int64 {
	if c.err != nil {
		return 0
	}
	n, err := c.Env.SpecializeInt(e)
	c.err = err
	return n
}

func (c questions) Multiple(a, b *Expr) { c.same(symbolic.Mod(a, b), zero) }

func (c questions) Mark(_ int, e *Expr) { c.Env.MarkSize(e) }

func (c questions) SameCount(a, b []*Expr) { c.same(symbolic.Mul(a...), symbolic.Mul(b...)) }

// same is equal with constants on the right, as Python's comparisons have them.
func (c questions) same(a, b *Expr) bool {
	if a.IsConst() {
		a, b = b, a
	}
	return c.equal(a, b)
}

func (c questions) Infer(shape []*Expr, numel *Expr) []*Expr {
	shape = slices.Clone(shape)
	at, rest := -1, unit
	for i, e := range shape {
		if e.Op == symbolic.OpInt && e.Int == -1 {
			at = i
		} else {
			c.Ask(relations.AtLeast, e, zero)
			rest = symbolic.Mul(rest, e)
		}
	}
	if at >= 0 {
		c.decide(symbolic.Cmp(symbolic.OpNe, rest, zero))
		c.same(symbolic.Mod(numel, rest), zero)
		shape[at] = symbolic.FloorDiv(numel, rest)
	} else {
		c.same(numel, rest)
	}
	return shape
}

// Regroup asks, dimension by dimension, how old sizes are merged and split into new ones.
func (c questions) Regroup(old, shape []*Expr) []*Expr {
	if c.err != nil || len(old) == 0 || len(shape) <= 1 || len(old) == 1 && len(shape) == 2 {
		return shape // the strides of what lies in one piece are plain then
	}
	k := 0
	for i, n := range shape {
		if c.err != nil || i == len(shape)-1 && k == len(old)-1 {
			break // the last one fits by the number of elements
		}
		if k >= len(old) {
			break
		}
		if c.same(n, old[k]) {
			k++
			continue
		}
		acc, end := old[k], k
		for !c.same(symbolic.Mod(acc, n), zero) && c.err == nil {
			if end++; end >= len(old) {
				return shape
			}
			acc = symbolic.Mul(acc, old[end])
		}
		for _, e := range old[k:end] {
			c.same(e, unit)
		}
		tail := old[end+1:]
		if c.same(acc, n) {
			old = append(append(slices.Clone(old[:k]), n), tail...)
		} else {
			old = append(append(slices.Clone(old[:k]), n, symbolic.FloorDiv(acc, n)), tail...)
		}
		k++
	}
	return shape
}

// most is how many results an operator can have here.
const most = 1 << 16

func (c questions) Pieces(s, size *Expr) []*Expr {
	n := c.Fix(symbolic.FloorDiv(symbolic.Add(s, size, symbolic.Int(-1)), size))
	if c.err != nil || n <= 0 || n > most {
		return nil
	}
	out := slices.Repeat([]*Expr{size}, int(n))
	last := symbolic.Sub(s, symbolic.Mul(size, symbolic.Int(n-1)))
	c.Ask(relations.AtLeast, last, zero)
	out[n-1] = last
	return out
}

func (c questions) Sum(s *Expr, parts []*Expr) { c.same(s, symbolic.Add(parts...)) }

func (c questions) Window(n, pad, kernel, dilation, stride *Expr) *Expr {
	span := symbolic.Add(symbolic.Mul(dilation, symbolic.Sub(kernel, unit)), unit)
	return symbolic.Add(symbolic.FloorDiv(symbolic.Sub(symbolic.Add(n, symbolic.Mul(symbolic.Int(2), pad)), span), stride), unit)
}

func (c questions) Schema() *aten.Schema { return c.op.Sig() }

func (c questions) Tensor(i int) []*Expr {
	if t, ok := c.args[i].(*tensor.Tensor); ok && t != nil {
		return c.Size(t)
	}
	return nil
}

func (c questions) Tensors(i int) []relations.Tensor[*Expr] {
	l, _ := c.args[i].([]aten.Value)
	out := make([]relations.Tensor[*Expr], len(l))
	for j, x := range l {
		if t, ok := x.(*tensor.Tensor); ok && t != nil {
			out[j] = relations.Tensor[*Expr]{Given: true, Size: c.Size(t), DType: t.DType}
		}
	}
	return out
}

func (c questions) Operands() [][]*Expr {
	var out [][]*Expr
	for _, a := range c.args {
		if t, ok := a.(*tensor.Tensor); ok && t != nil {
			out = append(out, c.Size(t))
		}
	}
	return out
}

func (c questions) number(v aten.Value) (*Expr, bool) {
	switch v := v.(type) {
	case Number:
		return c.Env.Simplify(v.Expression()), true
	case int64:
		return symbolic.Int(v), true
	}
	return nil, false
}

func (c questions) Number(i int) (*Expr, bool) { return c.number(c.args[i]) }

func (c questions) Numbers(i int) ([]*Expr, bool) {
	l, ok := c.args[i].([]aten.Value)
	out := make([]*Expr, len(l))
	for j, x := range l {
		e, is := c.number(x)
		out[j], ok = e, ok && is
	}
	return out, ok
}

func (c questions) Extent(i int) (*Expr, bool) { return c.Number(i) }

func (c questions) Extents(i int) ([]*Expr, bool) { return c.Numbers(i) }

func (c questions) Literal(i int) any {
	switch v := c.args[i].(type) {
	case int64, bool:
		return v
	case []aten.Value:
		out := make([]int64, len(v))
		for j, x := range v {
			n, ok := x.(int64)
			if !ok {
				return nil
			}
			out[j] = n
		}
		return out
	}
	return nil
}

package relations

import (
	"strings"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Rule gives the sizes of a call's results, one list for each tensor among them; nil when it does not know.
type Rule[S any] func(c Call[S]) [][]S

// Relation is how two sizes compare.
type Relation uint8

// The relations.
const (
	Equal Relation = iota
	Less
	AtMost
	Greater
	AtLeast
)

// Holds reports whether a and b are so related.
func (r Relation) Holds(a, b int64) bool {
	switch r {
	case Equal:
		return a == b
	case Less:
		return a < b
	case AtMost:
		return a <= b
	case Greater:
		return a > b
	}
	return a >= b
}

// Sizes is the arithmetic of sizes of one kind. All sizes have values at hand: those of the call that is examined.
type Sizes[S any] interface {
	// Const is a size that is always n.
	Const(n int64) S
	// Constant is what s always is, if it always is the same.
	Constant(s S) (n int64, ok bool)
	// Value is what s is in the call at hand.
	Value(s S) int64

	Add(s ...S) S
	Sub(a, b S) S
	Mul(s ...S) S // of no sizes, 1
	// Div is a divided by b, rounded down; Value(b) is above 0.
	Div(a, b S) S
	// Rest is what Div leaves.
	Rest(a, b S) S

	// Ask answers by the values at hand, and holds the program to the answer.
	Ask(r Relation, a, b S) bool
	// Require holds the program to a relation that is true of the values at hand, and learns nothing else from it.
	Require(r Relation, a, b S)
	// Fix holds s to its value.
	Fix(s S) int64
	// Multiple holds a to be a multiple of b, which it is.
	Multiple(a, b S)

	// Infer puts the size that a constant -1 in shape stands for in its place: shape has count elements.
	Infer(shape []S, count S) []S
	// SameCount holds two shapes to the same number of elements.
	SameCount(a, b []S)
	// Regroup is shape, known to be what a tensor of the sizes old can be viewed as: its elements in order.
	Regroup(old, shape []S) []S
	// Pieces cuts s into parts of a size, the last of which may be smaller; nil if there are too many.
	Pieces(s, size S) []S
	// Sum holds s to the sum of parts.
	Sum(s S, parts []S)
	// Window is the number of places that a window of size kernel has in n.
	Window(n, pad, kernel, dilation, stride S) S
	// Mark says that dimension dim of the result has a size that comes from no tensor.
	Mark(dim int, s S)
}

// Call is a call of an operator. Arguments are counted as in the operator's schema; one that is not given has its default.
type Call[S any] interface {
	Sizes[S]
	Schema() *aten.Schema
	// Tensor is the size of tensor argument i; nil where there is none.
	Tensor(i int) []S
	// Tensors is list argument i.
	Tensors(i int) []Tensor[S]
	// Operands are the sizes of all tensors that are arguments by themselves, in order.
	Operands() [][]S
	// Extent is integer argument i, the size of something.
	Extent(i int) (S, bool)
	// Extents is integer list argument i, of sizes.
	Extents(i int) ([]S, bool)
	// Number is integer argument i, which is no size: an offset or a step.
	Number(i int) (S, bool)
	// Numbers is integer list argument i, of what are no sizes.
	Numbers(i int) ([]S, bool)
	// Literal is argument i when it is a plain int64, bool or a list of int64; nil for all else.
	Literal(i int) any
}

// Tensor is an element of a list of tensors.
type Tensor[S any] struct {
	Given bool // not None
	Size  []S
	DType tensor.DType
}

// Table has the rules by operator. Keys are names with an overload, split.Tensor, or without, for all overloads.
type Table[S any] map[string]Rule[S]

// Of is the rule for op, nil for none. Pointwise operators need no rows, nor do forms that write to their first argument, where the
// other form has one. What a program calls by the name of an operator of PyTorch has none.
func (t Table[S]) Of(op *aten.Op) Rule[S] {
	s := op.Sig()
	if len(s.Returns) == 0 || op.Library != nil {
		return nil
	}
	if r := t[s.Name+"."+s.Overload]; r != nil {
		return r
	}
	if r := t[s.Name]; r != nil {
		return r
	}
	if op.Tags&aten.Inplace != 0 {
		if r := t[strings.TrimSuffix(s.Name, "_")]; r != nil || op.Tags&aten.Pointwise != 0 {
			return t["copy_"]
		}
	}
	if op.Tags&aten.Pointwise != 0 {
		return t["where"]
	}
	return nil
}

// call has what rules ask often.
type call[S any] struct{ Call[S] }

func (c call[S]) equal(a, b S) bool { return c.Ask(Equal, a, b) }

// same is equal with constants on the right, as Python's comparisons have them.
func (c call[S]) same(a, b S) bool {
	if _, ok := c.Constant(a); ok {
		a, b = b, a
	}
	return c.equal(a, b)
}

func (c call[S]) unit() S { return c.Const(1) }

func (c call[S]) isConst(s S, n int64) bool {
	k, ok := c.Constant(s)
	return ok && k == n
}

// arg is the position of the argument of that name, -1 for none.
func (c call[S]) arg(name string) int { return c.Schema().Arg(name) }

// integer is plain integer argument i; def where it is none.
func (c call[S]) integer(i int, def int64) int64 {
	if i >= 0 {
		if n, ok := c.Literal(i).(int64); ok {
			return n
		}
	}
	return def
}

// truth is boolean argument i; false where it is none.
func (c call[S]) truth(i int) bool {
	if i < 0 {
		return false
	}
	b, _ := c.Literal(i).(bool)
	return b
}

// dim is argument i as an index into n dimensions.
func (c call[S]) dim(i, n int) (int, bool) {
	d, ok := c.Literal(i).(int64)
	return index(d, n, ok)
}

func index(d int64, n int, ok bool) (int, bool) {
	if d < 0 {
		d += int64(n)
	}
	return int(d), ok && d >= 0 && d < int64(n)
}

func clip[S any](s []S) []S { return append([]S(nil), s...) }

func one[S any](s []S) [][]S { return [][]S{s} }

// without is s but for dimension d.
func without[S any](s []S, d int) []S { return append(clip(s[:d]), s[d+1:]...) }

// broadcast asks, from the last dimension on, whether one of two sizes is 1, and makes them equal otherwise.
func (c call[S]) broadcast(a, b []S) []S {
	n := max(len(a), len(b))
	out := make([]S, n)
	for i := n - 1; i >= 0; i-- {
		x, y := c.unit(), c.unit()
		if k := i - n + len(a); k >= 0 {
			x = a[k]
		}
		if k := i - n + len(b); k >= 0 {
			y = b[k]
		}
		switch {
		case c.equal(x, c.unit()):
			out[i] = y
		case c.equal(y, c.unit()):
			out[i] = x
		default:
			c.equal(x, y)
			out[i] = x
		}
	}
	return out
}

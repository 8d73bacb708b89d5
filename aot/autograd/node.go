package autograd

import (
	"fmt"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Meta is a tensor's autograd state; it hangs on tensor.Tensor.Autograd.
type Meta struct {
	RequiresGrad bool           // set on leaves by the user
	Grad         *tensor.Tensor // accumulated gradient of a leaf, or of a tensor that retains it
	RetainGrad   bool
	Node         *Node // the operator that made the tensor; nil => leaf
	OutNr        int   // which result of Node
	Hooks        []Hook
	PostHooks    []func(t *tensor.Tensor) error // after accumulation, on leaves

	oneOf       bool                // it is a view that Node made together with others: it cannot be written
	viewVersion int64               // storage version for which Node describes a view's history
	again       func() (*Node, int) // finds the history of a view of a trace once more, after its base was written; nil => not known
}

// Hook sees a gradient on its way to a tensor and may replace it; nil keeps it.
type Hook func(g *tensor.Tensor) (*tensor.Tensor, error)

// Edge says where a gradient flows next: to result Nr of Node, or into a leaf. The zero Edge takes none.
type Edge struct {
	Node *Node
	Nr   int
	Leaf *tensor.Tensor
}

// valid reports whether a gradient goes anywhere.
func (e Edge) valid() bool { return e.Node != nil || e.Leaf != nil }

// Node is one recorded operator.
type Node struct {
	Name  string // as PyTorch names it: AddBackward0
	Next  []Edge // per differentiable input
	NOut  int    // number of results that can receive a gradient
	Shape []outMeta
	seq   uint64 // creation order: higher runs first
	hooks map[int][]Hook

	origin any // what Engine.Origin said when it was recorded

	// Apply maps the results' gradients (nil => zero) to the inputs' (nil => none), in the order of Next.
	Apply func(d aten.Dispatcher, grads []*tensor.Tensor, need []bool) ([]*tensor.Tensor, error)
	// Saved is dropped after a backward pass that does not retain the graph.
	freed bool
	keep  bool // Apply holds nothing that freeing would release

	call *recorded // the operator's call; nil for what NewNode made
	Kept []*Saved  // what a node that NewNode made keeps for its backward pass

	// Custom says that NewNode made it: its gradient is not that of an operator.
	Custom bool

	Trace  any   // where the program was when it was made, as Anomaly.Trace gave it; nil => it was not asked
	Parent *Node // the node in whose formula it was made, while anomalies were looked for

	Face any // what a program sees of the node, once it has looked
}

type outMeta struct {
	shape []int64
	dtype tensor.DType
}

// MetaOf returns t's autograd state, nil when it has none.
func MetaOf(t *tensor.Tensor) *Meta {
	m, _ := t.Autograd.(*Meta)
	return m
}

// Ensure returns t's autograd state, making it when missing.
func Ensure(t *tensor.Tensor) *Meta {
	m := MetaOf(t)
	if m == nil {
		m = &Meta{}
		t.Autograd = m
	}
	return m
}

// RequiresGrad reports whether gradients flow to t: it is a leaf that asks for them or the result of a recorded operator.
func RequiresGrad(t *tensor.Tensor) bool {
	if m := MetaOf(t); m != nil && (m.RequiresGrad || m.Node != nil) {
		return true
	}
	if t.Base != nil {
		m := MetaOf(t)
		if m != nil && m.viewVersion == t.Version() {
			return false
		}
		if b := MetaOf(t.Base); b != nil && b.Node != nil && m != nil {
			return true
		}
	}
	return false
}

// IsLeaf reports whether t was not made by a recorded operator.
func IsLeaf(t *tensor.Tensor) bool { return GradFn(t) == nil }

// GradFn returns the node that made t, nil for a leaf. For a view whose base was
// written in place since, the history is rebuilt from the base.
func GradFn(t *tensor.Tensor) *Node {
	m := MetaOf(t)
	if m == nil {
		return nil
	}
	if t.Base != nil && m.viewVersion != t.Version() {
		b := MetaOf(t.Base)
		if b != nil && (b.Node != nil || b.RequiresGrad) {
			m.viewVersion = t.Version()
			m.viewed(t)
		}
		m.viewVersion = t.Version()
	}
	return m.Node
}

// edgeOf is where a gradient of t flows.
func edgeOf(t *tensor.Tensor) Edge {
	if n := GradFn(t); n != nil {
		return Edge{Node: n, Nr: MetaOf(t).OutNr}
	}
	if m := MetaOf(t); m != nil && m.RequiresGrad {
		return Edge{Leaf: t}
	}
	return Edge{}
}

// SetHistory makes n the origin of t, as result nr.
func SetHistory(t *tensor.Tensor, n *Node, nr int) {
	m := Ensure(t)
	m.Node, m.OutNr = n, nr
	m.viewVersion = t.Version()
}

// Detach removes t's history (detach_); the leaf flag goes too.
func Detach(t *tensor.Tensor) {
	if m := MetaOf(t); m != nil {
		m.Node, m.OutNr, m.RequiresGrad = nil, 0, false
	}
}

// asStridedNode is the history of a view, rebuilt as one as_strided of its base.
func asStridedNode(t *tensor.Tensor) *Node {
	base := t.Base
	shape, stride, off := clone(t.Shape), clone(t.Stride), t.Offset
	n := newNode("AsStridedBackward0", []Edge{edgeOf(base)}, 1)
	n.Apply = func(d aten.Dispatcher, g []*tensor.Tensor, need []bool) ([]*tensor.Tensor, error) {
		if g[0] == nil {
			return []*tensor.Tensor{nil}, nil
		}
		return withCtx(d, func(c *Ctx) []*tensor.Tensor {
			part, size := c.unexpand(g[0], shape, stride)
			return []*tensor.Tensor{c.T("as_strided_scatter.default", c.zerosAs(part, base), part, build.Ints(size), build.Ints(stride), off)}
		})
	}
	return n
}

func clone(s []int64) []int64 { return append([]int64(nil), s...) }

// InplaceError says that a value saved for backward was overwritten.
type InplaceError struct {
	Dtype    string
	Shape    []int64
	Node     string
	OutNr    int
	Got      int64
	Expected int64
	Traced   bool // where the node came from has been said
}

// Error is PyTorch's message.
func (e *InplaceError) Error() string {
	of := ""
	if e.Node != "" {
		of = fmt.Sprintf(", which is output %d of %s,", e.OutNr, e.Node)
	}
	hint := "enable anomaly detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True)."
	if e.Traced {
		hint = "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was changed in there or anywhere later. Good luck!"
	}
	return fmt.Sprintf("one of the variables needed for gradient computation has been modified by an inplace operation: [torch.%s %s]%s is at version %d; expected version %d instead. Hint: %s",
		e.Dtype, tensorTypeShape(e.Shape), of, e.Got, e.Expected, hint)
}

// Overwritten is the error for t, saved for backward at version expected and written since.
func Overwritten(t *tensor.Tensor, expected int64) *InplaceError {
	return &InplaceError{Dtype: typeName(t.DType), Shape: t.Shape, Got: t.Version(), Expected: expected}
}

func tensorTypeShape(s []int64) string {
	out := "["
	for i, v := range s {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprint(v)
	}
	return out + "]"
}

// viewed gives a view t, of which m is the state, the node that leads to its base as that is now.
func (m *Meta) viewed(t *tensor.Tensor) {
	m.Node = nil
	if m.again != nil {
		m.Node, m.OutNr = m.again()
	}
	if m.Node == nil {
		m.Node, m.OutNr = asStridedNode(t), 0
	}
}

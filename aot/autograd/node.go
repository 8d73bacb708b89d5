package autograd

import (
	"errors"
	"fmt"
	"math"
	"slices"

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
	Inference    bool                           // made under inference mode: it is never part of a graph

	accumulator *Node               // of a leaf, once somebody has asked
	made        making              // of a view: how
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

// making says how a view was made. One that was not made by an operator that was recorded, alone, is not written where gradients are recorded.
type making uint8

const (
	plainly     making = iota
	inCustom           // it is a result of a function of the program, or an input that such a function gave back
	withOthers         // by a node that makes several
	unrecorded         // while nothing was recorded
	inInference        // in inference mode
)

// Node is one recorded operator.
type Node struct {
	Name  string // as PyTorch names it: AddBackward0
	Next  []Edge // per differentiable input
	NOut  int    // number of results that can receive a gradient
	Shape []outMeta
	seq   uint64 // creation order: higher runs first

	hooks   []resultHook           // on results, in the order in which they were registered
	retains map[int]*tensor.Tensor // the results that keep their gradients, as the hooks leave them
	before  []*NodeHook
	after   []*NodeHook
	numbers []int          // places among the arguments that take a gradient where a number stands for a tensor
	leaf    *tensor.Tensor // the node accumulates the gradients of this leaf

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
	// Checked says that its gradients are a program's: they are compared with what they are for. It runs also where no gradient arrived.
	Checked bool

	Trace  any   // where the program was when it was made, as Anomaly.Trace gave it; nil => it was not asked
	Parent *Node // the node in whose formula it was made, while anomalies were looked for

	Face any // what a program sees of the node, once it has looked
}

// resultHook is a hook on a result of a node.
type resultHook struct {
	nr int
	h  Hook
}

// A NodeHook sees what a node is given, or what it gives: Call gets the gradients of its results, and, behind the node, those of its inputs first. What it
// returns takes their place, unless that is nil.
type NodeHook struct {
	Call func(inputs, outputs []*tensor.Tensor) ([]*tensor.Tensor, error)
}

// Before has h called with the gradients of the node's results each time before it runs. It returns a function that undoes that.
func (n *Node) Before(h *NodeHook) (remove func()) {
	n.before = append(n.before, h)
	return func() { n.before = slices.DeleteFunc(slices.Clone(n.before), func(x *NodeHook) bool { return x == h }) }
}

// After has h called each time the node has run.
func (n *Node) After(h *NodeHook) (remove func()) {
	if len(n.numbers) > 0 {
		call := h.Call
		h = &NodeHook{func(inputs, outputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
			for _, at := range n.numbers {
				inputs = slices.Insert(slices.Clone(inputs), at, nil)
			}
			gs, err := call(inputs, outputs)
			for _, at := range slices.Backward(n.numbers) {
				if gs != nil {
					gs = slices.Delete(gs, at, at+1)
				}
			}
			return gs, err
		}}
	}
	n.after = append(n.after, h)
	return func() { n.after = slices.DeleteFunc(slices.Clone(n.after), func(x *NodeHook) bool { return x == h }) }
}

// Edges are where the gradients of the node's arguments flow: Next, with edges that lead nowhere for arguments that could have been tensors and were numbers.
func (n *Node) Edges() []Edge {
	out := n.Next
	for _, at := range n.numbers {
		out = slices.Insert(slices.Clone(out), at, Edge{})
	}
	return out
}

// Number is the place of the node in the order in which nodes were made; that of one that accumulates is behind all.
func (n *Node) Number() uint64 { return n.seq }

// Results describes the results of the node as tensors without elements, nil for one that was not described.
func (n *Node) Results() []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(n.Shape))
	for i, m := range n.Shape {
		if m.dtype != tensor.Invalid {
			out[i] = tensor.EmptyFake(m.dtype, m.shape, tensor.ContiguousStrides(m.shape))
		}
	}
	return out
}

// Leaf is the leaf whose gradients the node accumulates, nil for any other node.
func (n *Node) Leaf() *tensor.Tensor { return n.leaf }

// Accumulator is the node that accumulates the gradients of a leaf.
func Accumulator(t *tensor.Tensor) *Node {
	m := Ensure(t)
	if m.accumulator == nil {
		m.accumulator = &Node{Name: "AccumulateGrad", NOut: 1, Shape: []outMeta{{clone(t.Shape), t.DType}}, seq: math.MaxUint64, leaf: t, keep: true}
	}
	return m.accumulator
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

// RequiresGrad reports whether gradients flow to t: it is a leaf that asks for them, the result of a recorded operator, or a view of either.
func RequiresGrad(t *tensor.Tensor) bool {
	if m := MetaOf(t); m != nil && (m.RequiresGrad || m.Node != nil) {
		return true
	}
	return t.Base != nil && t.Base != t && t.DType.Kind() >= tensor.KindFloat && RequiresGrad(t.Base)
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
	if stale(t, m) {
		if RequiresGrad(t.Base) {
			if m.made != plainly {
				return m.Node // see Ambiguous
			}
			m.viewVersion = t.Version()
			m.viewed(t)
		}
		m.viewVersion = t.Version()
	}
	return m.Node
}

// stale reports whether t is a view whose memory was written after its history was last found.
func stale(t *tensor.Tensor, m *Meta) bool { return t.Base != nil && m.viewVersion != t.Version() }

// Ambiguous is the error of a view that was made where nothing was recorded, or together with others, and whose base was written since: what
// its history is cannot be said. nil for any other tensor.
func Ambiguous(t *tensor.Tensor) error {
	m := MetaOf(t)
	if m == nil || m.made == plainly || !stale(t, m) || !RequiresGrad(t.Base) {
		return nil
	}
	return m.forbidden(true)
}

// forbidden is the error of writing a view that cannot be written, or, elsewhere, the memory that it shows.
func (m *Meta) forbidden(elsewhere bool) error {
	what, where := "A view was created in no_grad mode", "with grad mode enabled"
	switch {
	case m.Node != nil && m.made == unrecorded:
		what = fmt.Sprintf("Output %d of %s is a view of a view which was created in no_grad mode", m.OutNr, m.Node.Name)
	case m.Node != nil && m.made == inInference:
		what, where = fmt.Sprintf("Output %d of %s is a view of a view which was created in inference mode", m.OutNr, m.Node.Name), "in normal mode"
	case m.Node != nil:
		what, where = fmt.Sprintf("Output %d of %s is a view", m.OutNr, m.Node.Name), ""
	case m.made == inInference:
		what, where = "A view was created in inference mode", "in normal mode"
	}
	text := what
	if elsewhere {
		text += " and its base or another view of its base has been modified inplace"
	} else {
		text += " and is being modified inplace"
	}
	if where != "" {
		text += " " + where
	}
	text += ". "
	switch m.made {
	case inCustom:
		text += "This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward " +
			"associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
	case withOthers:
		text += "This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. " +
			"You should replace the inplace operation by an out-of-place one."
	default:
		mode := "no_grad"
		if m.made == inInference {
			mode = "inference_mode"
		}
		text += "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the " + mode +
			" block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
	}
	return errors.New(text)
}

// EdgeOf is where a gradient of t flows.
func EdgeOf(t *tensor.Tensor) Edge { return edgeOf(t) }

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

// MadeByFunction notes that a function of the program made t, alone or with others: where it is a view it cannot be written where gradients are recorded.
func MadeByFunction(t *tensor.Tensor, several bool) {
	if t.Base == nil {
		return
	}
	m := Ensure(t)
	m.viewVersion = t.Version()
	if m.made = inCustom; several {
		m.made = withOthers
	}
}

// SetHistory makes n the origin of t, as result nr. A tensor that keeps its gradient keeps that of what it is now.
func SetHistory(t *tensor.Tensor, n *Node, nr int) {
	m := Ensure(t)
	m.follow(t, n, nr)
	m.viewVersion = t.Version()
}

// follow makes n the origin of t, whose state m is.
func (m *Meta) follow(t *tensor.Tensor, n *Node, nr int) {
	if m.RetainGrad && m.Node != nil && m.Node.retains[m.OutNr] == t {
		delete(m.Node.retains, m.OutNr)
		n.retain(nr, t)
	}
	m.Node, m.OutNr = n, nr
}

// retain has a result keep its gradient.
func (n *Node) retain(nr int, t *tensor.Tensor) {
	if n.retains == nil {
		n.retains = map[int]*tensor.Tensor{}
	}
	n.retains[nr] = t
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
	n.Describe(0, t)
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
	var n *Node
	nr := 0
	if m.again != nil {
		n, nr = m.again()
	}
	if n == nil {
		n, nr = asStridedNode(t), 0
	}
	m.follow(t, n, nr)
}

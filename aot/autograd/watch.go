package autograd

import (
	"errors"
	"fmt"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// A Watcher is told of what runs, and is told again when it is done: each operator, those that one is composed of within it, and in a backward pass each
// node. A profiler is one.
type Watcher interface {
	// Operator begins an operator. node is the number that the next node of this thread will have, -1 where none is recorded.
	Operator(op *aten.Op, args []aten.Value, node int64) (done func(out aten.Value))
	// Node begins a part of a backward pass of that name, of the node with that number.
	Node(name string, number int64, grads []*tensor.Tensor) (done func())
}

// watched runs an operator while e.Watch looks on.
func (e *Engine) watched(op *aten.Op, args []aten.Value) (out aten.Value, err error) {
	node := int64(-1)
	if e.Mode == nil || e.Mode.Enabled {
		node = int64(sequence.Load()) + 1
	}
	done := e.Watch.Operator(op, args, node)
	defer func() { done(out) }()
	return e.dispatch(op, args)
}

// watching is the dispatcher below an engine while somebody looks on.
type watching struct {
	below aten.Dispatcher
	watch Watcher
}

// Dispatch implements aten.Dispatcher. What is composed of others is so here, too, as an engine would have it.
func (w watching) Dispatch(op *aten.Op, args []aten.Value) (out aten.Value, err error) {
	done := w.watch.Operator(op, args, -1)
	defer func() { done(out) }()
	if op.Tags&aten.Composite != 0 && op.Decomp != nil {
		return aten.Decompose(w, op, args)
	}
	return w.below.Dispatch(op, args)
}

// watchedNode runs a node's formula while the watcher looks on.
func (s *sweep) watchedNode(n *Node, gs []*tensor.Tensor, need []bool) ([]*tensor.Tensor, error) {
	whole := s.e.Watch.Node("autograd::engine::evaluate_function: "+n.Name, int64(n.seq), nil)
	defer whole()
	defer s.e.Watch.Node(n.Name, int64(n.seq), gs)()
	return n.Apply(s.d, gs, need)
}

// watchedLeaf begins the accumulation of a gradient into a leaf.
func (e *Engine) watchedLeaf(g *tensor.Tensor) (done func()) {
	whole := e.Watch.Node("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", -1, nil)
	own := e.Watch.Node("torch::autograd::AccumulateGrad", -1, []*tensor.Tensor{g})
	return func() {
		own()
		whole()
	}
}

// detach is the operator that takes a gradient from its history. Looked up when it is needed: the first look builds the registry, which most commands
// do not need.
func detach() *aten.Op { return aten.Lookup("aten.detach.default") }

// unwatched is the dispatcher of a backward pass without those that look on: for what is no work of the program's.
func unwatched(d aten.Dispatcher) aten.Dispatcher {
	if w, ok := d.(watching); ok {
		return w.below
	}
	return d
}

// Anomaly has nodes keep where they were made, and backward passes say which node failed, or gave numbers that are none.
type Anomaly struct {
	CheckNaN bool
	// Trace is where the program is now.
	Trace func() any
	// Failed is told of the node in which a backward pass failed.
	Failed func(n *Node)

	visited *Node // whose formula runs
}

// NaNError says that a node gave a gradient with a NaN in it.
type NaNError struct {
	Node string
	Nr   int // of the gradient
}

// Error is PyTorch's message.
func (e *NaNError) Error() string {
	return fmt.Sprintf("Function '%s' returned nan values in its %dth output.", e.Node, e.Nr)
}

// Made notes in a new node where the program is, and the node of whose backward pass it is a part. Without a mode nothing is noted.
func (a *Anomaly) Made(n *Node) {
	if a != nil {
		n.Trace, n.Parent = a.Trace(), a.visited
	}
}

// checked is compute while anomalies are looked for.
func (s *sweep) checked(n *Node, gs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	a := s.e.Anomaly
	before := a.visited
	a.visited = n
	outs, err := s.compute(n, gs)
	a.visited = before
	if err == nil && a.CheckNaN {
		for i, g := range outs {
			if g != nil && hasNaN(g) {
				err = &NaNError{n.Name, i}
				break
			}
		}
	}
	if err != nil {
		var written *InplaceError
		if errors.As(err, &written) {
			written.Traced = true
		}
		a.Failed(n)
	}
	return outs, err
}

// hasNaN reports whether a number in t is none.
func hasNaN(t *tensor.Tensor) bool {
	if t.Fake || t.DType.Kind() < tensor.KindFloat {
		return false
	}
	out, err := aten.Run(aten.Eager, "aten.isnan.default", t)
	if err == nil {
		out, err = aten.Run(aten.Eager, "aten.any.default", out)
	}
	some, ok := out.(*tensor.Tensor)
	return err == nil && ok && some.Item() == true
}

package autograd

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Options of a backward pass.
type Options struct {
	RetainGraph bool
	CreateGraph bool             // record the backward pass itself
	Inputs      []*tensor.Tensor // only these receive gradients; nil => all leaves
	At          []Edge           // where the gradients of Inputs are, instead of tensors
	Accumulate  bool             // add into .grad; false returns the inputs' gradients
	AllowUnused bool
	On          aten.Dispatcher // what formulas run on; nil => the engine, or what is below it
	Alone       *bool           // set where nobody but the caller has the gradients that are returned, nor their memory; nil => nobody asks
}

// A queue gives the youngest node first: what uses a result is always younger than what made it. Leaves come before all.
type queue []*Node

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].seq > q[j].seq }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*Node)) }
func (q *queue) Pop() any {
	o := *q
	n := o[len(o)-1]
	*q = o[:len(o)-1]
	return n
}

// Backward propagates grads (nil => ones for a scalar) from roots. With opt.Inputs and without
// opt.Accumulate it returns one gradient per input, nil where none arrived.
func (e *Engine) Backward(roots, grads []*tensor.Tensor, opt Options) ([]*tensor.Tensor, error) {
	edges := make([]Edge, len(roots))
	for i, r := range roots {
		if err := Ambiguous(r); err != nil {
			return nil, err
		}
		edges[i] = edgeOf(r)
		if !edges[i].valid() {
			return nil, fmt.Errorf("element %d of tensors does not require grad and does not have a grad_fn", i)
		}
		if grads[i] != nil {
			continue
		}
		if tensor.Numel(r.Shape) != 1 {
			return nil, errors.New("grad can be implicitly created only for scalar outputs")
		}
		ones, err := e.newSweep(opt).c.Try("ones_like.default", r, nil, nil, nil, false, tensor.PreserveFormat)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			grads = slices.Clone(grads)
		}
		grads[i] = ones
	}
	return e.BackwardFrom(edges, grads, opt)
}

// BackwardFrom propagates gradients from edges.
func (e *Engine) BackwardFrom(roots []Edge, grads []*tensor.Tensor, opt Options) ([]*tensor.Tensor, error) {
	if opt.Accumulate {
		for _, t := range opt.Inputs {
			RetainGrad(t) // of a leaf nothing, as it has its gradient anyway
		}
	}
	s := e.newSweep(opt)
	for i, r := range roots {
		if i >= len(grads) || grads[i] != nil || !r.valid() {
			continue
		}
		m := r.Target().Shape[r.Nr]
		if tensor.Numel(m.shape) != 1 {
			return nil, errors.New("grad can be implicitly created only for scalar outputs")
		}
		ones, err := s.c.Try("ones.default", build.Ints(m.shape), m.dtype, nil, nil, nil)
		if err != nil {
			return nil, err
		}
		grads = slices.Clone(grads)
		grads[i] = ones
	}
	outer := e.running
	defer func() { e.running = outer }()
	s.count(roots)
	for i, r := range roots {
		if err := s.deliver(r, grads[i]); err != nil {
			return nil, err
		}
	}
	for s.q.Len() > 0 {
		n := heap.Pop(&s.q).(*Node)
		e.running = &pass{s, n, outer}
		if err := s.visit(n); err != nil {
			return nil, err
		}
	}
	if opt.Accumulate {
		return nil, nil
	}
	for i, g := range s.got {
		if g == nil && !opt.AllowUnused {
			return nil, errors.New("One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.")
		}
		s.got[i] = g
	}
	if opt.Alone != nil {
		*opt.Alone = s.own.alone(s.got)
	}
	return s.got, nil
}

// A pass is a backward pass under way, with those that it runs in.
type pass struct {
	s    *sweep
	node *Node // that runs
	in   *pass
}

// Running is the node whose formula or hooks run now, nil outside of backward passes.
func (e *Engine) Running() *Node {
	if e.running == nil {
		return nil
	}
	return e.running.node
}

// Keeps reports whether the pass under way leaves what nodes keep for another; false outside of passes.
func (e *Engine) Keeps() bool {
	return e.running != nil && (e.running.s.opt.RetainGraph || e.running.s.opt.CreateGraph)
}

// WillRun reports whether the pass under way runs a node: all is run where no inputs were given; ok is false outside of passes.
func (e *Engine) WillRun(n *Node) (runs, ok bool) {
	if e.running == nil {
		return false, false
	}
	s := e.running.s
	if len(s.at) == 0 {
		return s.left[n] > 0 || s.seen[n], true
	}
	return s.seen[n] && slices.ContainsFunc(n.Next, s.needs) || s.opt.Accumulate && n.leaf != nil && s.isInput(n), true
}

// Order is the order in which the nodes of the pass under way run that have not yet run; ok is false outside of passes.
func (e *Engine) Order() (nodes []*Node, ok bool) {
	if e.running == nil {
		return nil, false
	}
	s := e.running.s
	left := map[*Node]int{}
	for n, k := range s.left {
		left[n] = k
	}
	q := slices.Clone(s.q)
	heap.Init(&q)
	step := func(n *Node) {
		for _, ed := range n.Next {
			if !s.needs(ed) {
				continue
			}
			if to := ed.Target(); left[to] > 0 {
				if left[to]--; left[to] == 0 {
					heap.Push(&q, to)
				}
			}
		}
	}
	nodes = append(nodes, e.running.node)
	step(e.running.node)
	for q.Len() > 0 {
		n := heap.Pop(&q).(*Node)
		nodes = append(nodes, n)
		step(n)
	}
	return nodes, true
}

// Target is the node that an edge leads to, that of a leaf where it leads into one.
func (ed Edge) Target() *Node {
	if ed.Leaf != nil {
		return Accumulator(ed.Leaf)
	}
	return ed.Node
}

// sweep is one backward pass. A node is visited when all that uses its results has been.
type sweep struct {
	e       *Engine
	d       aten.Dispatcher // what formulas run on: with CreateGraph, one that records them
	c       *Ctx
	own     *passing // which memory is the pass's own; nil => it is not known
	opt     Options
	at      []Edge                     // the results that the caller wants the gradients of; none: all leaves
	pending map[*Node][]*tensor.Tensor // gradients that have arrived, per result
	left    map[*Node]int              // how many edges into a node are yet to deliver
	seen    map[*Node]bool             // nodes behind the roots
	q       queue
	got     []*tensor.Tensor // gradients of at
	wanted  map[*Node][]int  // which of at are results of a node
	leads   map[*Node]bool   // with at: whether one of them is a result of the node, or lies behind it
}

// newSweep notes which results the caller wants the gradients of.
func (e *Engine) newSweep(opt Options) *sweep {
	s := &sweep{e: e, d: e.Below, opt: opt, at: opt.At, pending: map[*Node][]*tensor.Tensor{}, left: map[*Node]int{}, seen: map[*Node]bool{}, wanted: map[*Node][]int{}, leads: map[*Node]bool{}}
	if e.Watch != nil {
		s.d = watching{e.Below, e.Watch}
	}
	if opt.CreateGraph {
		s.d = &Engine{Below: e.Below, Traced: e.Traced, Before: e.Before, Watch: e.Watch, Anomaly: e.Anomaly, Hooks: e.Hooks}
	}
	if opt.On != nil {
		s.d = opt.On
	}
	s.c = &Ctx{B: build.B{D: s.d}}
	s.own = e.passes(opt)
	for _, in := range opt.Inputs {
		s.at = append(s.at, edgeOf(in))
	}
	s.got = make([]*tensor.Tensor, len(s.at))
	for i, ed := range s.at {
		if ed.valid() {
			s.wanted[ed.Target()] = append(s.wanted[ed.Target()], i)
		}
	}
	return s
}

// isInput reports whether the caller wants a gradient of a result of n.
func (s *sweep) isInput(n *Node) bool { return len(s.wanted[n]) > 0 }

// count counts the edges into each node behind the roots.
func (s *sweep) count(roots []Edge) {
	var stack []*Node
	into := func(ed Edge) {
		if !s.needs(ed) {
			return
		}
		n := ed.Target()
		s.left[n]++
		if !s.seen[n] {
			s.seen[n] = true
			stack = append(stack, n)
		}
	}
	for _, r := range roots {
		into(r)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, ed := range n.Next {
			into(ed)
		}
	}
}

// needs reports whether a gradient along an edge is of use: with inputs, whether it gets to one of them.
func (s *sweep) needs(ed Edge) bool {
	switch {
	case !ed.valid():
		return false
	case len(s.at) == 0:
		return true
	}
	return s.reaches(ed.Target())
}

// reaches fills in leads for a node and what is behind it: a walk with a stack of its own, as graphs are deep.
func (s *sweep) reaches(n *Node) bool {
	if known, ok := s.leads[n]; ok {
		return known
	}
	stack := []*Node{n}
	for len(stack) > 0 {
		top, open, found := stack[len(stack)-1], false, s.isInput(stack[len(stack)-1])
		for _, ed := range top.Next {
			if !ed.valid() {
				continue
			}
			to := ed.Target()
			known, ok := s.leads[to]
			if !ok {
				stack, open = append(stack, to), true
			}
			found = found || known
		}
		if !open {
			s.leads[top] = found
			stack = stack[:len(stack)-1]
		}
	}
	return s.leads[n]
}

// deliver adds a gradient to those that have arrived where an edge leads, nil for none. What has all of its gradients is put into the queue.
func (s *sweep) deliver(ed Edge, g *tensor.Tensor) (err error) {
	if !s.needs(ed) {
		return nil
	}
	n := ed.Target()
	if g != nil {
		p := s.pending[n]
		if p == nil {
			p = make([]*tensor.Tensor, n.NOut)
			s.pending[n] = p
		}
		if had := p[ed.Nr]; had == nil {
			p[ed.Nr] = g
		} else {
			if p[ed.Nr], err = s.sums().Try("add.Tensor", had, g); err != nil {
				return err
			}
			s.own.waits(had, -1)
		}
		s.own.waits(p[ed.Nr], 1)
	}
	if s.left[n]--; s.left[n] == 0 {
		heap.Push(&s.q, n)
	}
	return nil
}

// sums is what adds gradients up.
func (s *sweep) sums() *Ctx {
	if s.own == nil {
		return s.c
	}
	return &Ctx{B: build.B{D: s.own}}
}

// visit runs the formula of a node on the gradients of its results, and passes on what it gives. Hooks see the gradients first, and may replace them.
func (s *sweep) visit(n *Node) error {
	gs := s.pending[n]
	delete(s.pending, n)
	if gs == nil {
		gs = make([]*tensor.Tensor, n.NOut)
	}
	for _, g := range gs {
		s.own.waits(g, -1)
	}
	if n.seen() {
		s.own.shown(gs)
	}
	run := s.compute
	if s.e.Anomaly != nil && n.leaf == nil {
		run = s.checked
	}
	outs, err := run(n, gs)
	if err != nil {
		return err
	}
	if n.seen() {
		s.own.shown(gs)
		s.own.shown(outs)
	}
	if outs != nil && !s.opt.RetainGraph && !s.opt.CreateGraph && !n.keep {
		n.free()
	}
	for i, ed := range n.Next {
		var g *tensor.Tensor
		if i < len(outs) {
			g = outs[i]
		}
		if err := s.deliver(ed, g); err != nil {
			return err
		}
	}
	s.own.settle(s.got)
	return nil
}

// seen reports whether somebody but the pass sees the gradients that the node is given, and what it makes of them: hooks, the program, compiled code.
func (n *Node) seen() bool {
	if n.leaf != nil {
		m := MetaOf(n.leaf)
		return len(n.hooks)+len(n.before)+len(n.after)+len(m.Hooks) > 0
	}
	return n.call == nil || len(n.hooks)+len(n.before)+len(n.after) > 0
}

// compute has the hooks of a node see the gradients of its results, and runs its formula: nil where nothing behind it is asked for.
func (s *sweep) compute(n *Node, gs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	if err := s.observed(n, gs); err != nil {
		return nil, err
	}
	for _, i := range s.wanted[n] {
		g := gs[s.at[i].Nr]
		if n.leaf != nil && s.opt.Accumulate {
			break // it is accumulated
		}
		if !s.opt.Accumulate {
			s.got[i] = g
		}
	}
	if n.leaf == nil && len(s.at) > 0 && !slices.ContainsFunc(n.Next, s.needs) && !(s.opt.Accumulate && s.isInput(n)) {
		return nil, nil // its results were asked for, and nothing behind it
	}
	if n.leaf != nil && (!s.opt.Accumulate || len(s.at) > 0 && !s.isInput(n)) {
		return nil, nil
	}
	arrived := slices.ContainsFunc(gs, func(g *tensor.Tensor) bool { return g != nil })
	for _, h := range n.before {
		gs2, err := h.Call(nil, gs)
		if err != nil {
			return nil, err
		}
		if gs2 != nil {
			gs = gs2
		}
	}
	var outs []*tensor.Tensor
	var err error
	switch {
	case n.leaf != nil:
		if arrived {
			err = s.e.accumulate(s, n.leaf, gs[0])
		}
	case arrived || n.Checked || len(n.after) > 0:
		outs, err = s.run(n, gs)
	}
	if err != nil {
		return nil, err
	}
	for _, h := range n.after {
		more, err := h.Call(outs, gs)
		if err != nil {
			return nil, err
		}
		if more != nil {
			outs = more
		}
	}
	return outs, nil
}

// observed calls the hooks on the results of a node, and keeps the gradients of those that keep theirs.
func (s *sweep) observed(n *Node, gs []*tensor.Tensor) error {
	for _, h := range n.hooks {
		r, err := h.h(gs[h.nr])
		if err != nil {
			return err
		}
		if r != nil {
			gs[h.nr] = r
		}
	}
	if n.leaf != nil {
		for _, h := range MetaOf(n.leaf).Hooks {
			r, err := h(gs[0])
			if err != nil {
				return err
			}
			if r != nil {
				gs[0] = r
			}
		}
	}
	for nr := range gs {
		if t := n.retains[nr]; t != nil && gs[nr] != nil {
			if err := s.e.retained(s.c, t, gs[nr]); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs the formula of a node.
func (s *sweep) run(n *Node, gs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	need := make([]bool, len(n.Next))
	for i, ed := range n.Next {
		need[i] = s.needs(ed)
	}
	if n.freed && n.keeps(n.wanted()) {
		return nil, ErrFreed
	}
	if !slices.Contains(need, true) {
		return make([]*tensor.Tensor, len(n.Next)), nil
	}
	if s.e.Enter != nil {
		s.e.Enter(n.origin)
	}
	var outs []*tensor.Tensor
	var err error
	if s.e.Watch != nil {
		outs, err = s.watchedNode(n, gs, need)
	} else {
		d := s.d
		if s.own != nil && n.call != nil {
			d = s.own
		}
		outs, err = n.Apply(d, gs, need)
	}
	if err == nil && n.Checked {
		err = s.fit(n, outs)
	}
	if err == nil && outs == nil {
		outs = make([]*tensor.Tensor, len(n.Next))
	}
	return outs, err
}

// Call runs the formula of a node on gradients of its results, nil for none, and gives those of its Edges, nil for none; the node of a leaf adds its gradient
// to the leaf's. No hook hears of it, and what the node keeps stays. With record the formula is recorded.
func (e *Engine) Call(n *Node, gs []*tensor.Tensor, record bool) ([]*tensor.Tensor, error) {
	s := e.newSweep(Options{CreateGraph: record, RetainGraph: true, Accumulate: true})
	s.own = nil // the program has what comes in and goes out
	arrived := slices.ContainsFunc(gs, func(g *tensor.Tensor) bool { return g != nil })
	if n.leaf != nil {
		if !arrived {
			return nil, nil
		}
		return nil, e.accumulate(s, n.leaf, gs[0])
	}
	outs := make([]*tensor.Tensor, len(n.Next))
	if arrived || n.Checked {
		var err error
		if outs, err = s.run(n, append(slices.Clone(gs), make([]*tensor.Tensor, max(n.NOut-len(gs), 0))...)); err != nil {
			return nil, err
		}
	}
	for _, at := range n.numbers {
		outs = slices.Insert(outs, at, nil)
	}
	return outs, nil
}

// fit makes the gradients of a function of the program those of what they are for: one that was broadcast is summed, one of another dtype converted, and one of
// a shape that does not fit refused.
func (s *sweep) fit(n *Node, outs []*tensor.Tensor) (err error) {
	for i, ed := range n.Next {
		if i >= len(outs) || outs[i] == nil || !ed.valid() {
			continue
		}
		want, g := ed.Target().Shape[ed.Nr], outs[i]
		if want.dtype == tensor.Invalid {
			continue
		}
		if !slices.Equal(g.Shape, want.shape) {
			if !expandable(want.shape, g.Shape) {
				return fmt.Errorf("Function %s returned an invalid gradient at index %d - got %s but expected shape compatible with %s", n.Name, i, tensorTypeShape(g.Shape), tensorTypeShape(want.shape))
			}
			if g, err = s.c.Try("sum_to_size.default", g, build.Ints(want.shape)); err != nil {
				return err
			}
		}
		if g.DType.Kind() == tensor.KindComplex && want.dtype.Kind() != tensor.KindComplex {
			return errors.New("Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
		}
		if g.DType != want.dtype {
			if g, err = s.c.Try("_to_copy.default", g, want.dtype, nil, nil, nil, false, nil); err != nil {
				return err
			}
		}
		outs[i] = g
	}
	return nil
}

// expandable reports whether a tensor of one shape can be expanded to another.
func expandable(shape, to []int64) bool {
	if len(shape) > len(to) {
		return false
	}
	off := len(to) - len(shape)
	for i, n := range shape {
		if n != to[off+i] && n != 1 {
			return false
		}
	}
	return true
}

// retained adds a gradient to that of a tensor that keeps its own.
func (e *Engine) retained(c *Ctx, t, g *tensor.Tensor) (err error) {
	m := Ensure(t)
	if m.Grad == nil {
		m.Grad, err = c.Try("clone.default", g, tensor.ContiguousFormat)
	} else {
		m.Grad, err = c.Try("add.Tensor", m.Grad, g)
	}
	return err
}

// accumulate adds a gradient to the .grad of a leaf.
func (e *Engine) accumulate(s *sweep, leaf, g *tensor.Tensor) error {
	m := MetaOf(leaf)
	if e.Watch != nil {
		defer e.watchedLeaf(g)()
	}
	if m.Grad == nil && s.own.sole(g) && sameStrides(g, leaf) && slices.Equal(g.Shape, leaf.Shape) && !(e.Mode != nil && e.Mode.Inference) {
		delete(s.own.made, g.Storage)
		m.Grad = g
	} else if err := e.addGrad(s.c, leaf, g, s.opt); err != nil {
		return err
	}
	for _, h := range slices.Clone(m.PostHooks) {
		if err := h(leaf); err != nil {
			return err
		}
	}
	return nil
}

// addGrad accumulates g into t.grad: the first gradient is taken (cloned when
// somebody else may hold it), a later one is added in place, as PyTorch's AccumulateGrad does.
func (e *Engine) addGrad(c *Ctx, t, g *tensor.Tensor, opt Options) (err error) {
	m := Ensure(t)
	if m.Grad == nil {
		if opt.CreateGraph {
			m.Grad, err = c.laidAs(g, t)
			return err
		}
		if e.Watch != nil { // PyTorch takes the gradient as it is, without its history
			c = &Ctx{B: build.B{D: unwatched(c.D)}}
			e.Watch.Operator(detach(), []aten.Value{g}, -1)(g)
		}
		// A gradient shaped like the leaf takes the leaf's strides.
		n, err := c.Try("clone.default", g, nil)
		if err != nil {
			return err
		}
		if !sameStrides(n, t) && len(n.Shape) == len(t.Shape) {
			z, err := c.Try("empty_strided.default", build.Ints(t.Shape), build.Ints(t.Stride), g.DType)
			if err != nil {
				return err
			}
			if n, err = c.Try("copy_.default", z, g); err != nil {
				return err
			}
		}
		m.Grad = n
		return nil
	}
	if opt.CreateGraph {
		m.Grad, err = c.Try("add.Tensor", m.Grad, g)
		return err
	}
	if IsInference(m.Grad) && !(e.Mode != nil && e.Mode.Inference) {
		return errInferenceWritten
	}
	_, err = c.Try("add_.Tensor", m.Grad, g)
	return err
}

// laidAs is a copy of g with the strides of t, which has a gradient where g has one.
func (c *Ctx) laidAs(g, t *tensor.Tensor) (*tensor.Tensor, error) {
	if !t.IsNonOverlappingAndDense() || len(g.Shape) != len(t.Shape) {
		return c.Try("clone.default", g, tensor.ContiguousFormat)
	}
	into, err := c.Try("empty_strided.default", build.Ints(t.Shape), build.Ints(t.Stride), g.DType)
	if err != nil {
		return nil, err
	}
	return c.Try("copy_.default", into, g)
}

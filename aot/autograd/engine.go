package autograd

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Engine is the autograd layer of the dispatcher stack.
type Engine struct {
	Below aten.Dispatcher
	Mode  *GradMode // nil => recording
	// Traced says that the backward pass is recorded in a graph by the layer below.
	Traced bool
	// Before is asked about each operator first, and may run others in its place; nil => nobody.
	Before func(op *aten.Op, args []aten.Value) (out aten.Value, done bool, err error)
	// Origin says what part of the program runs now, and Enter that the backward of such a part begins: a trace notes
	// it with what it records. nil => nobody.
	Origin func() any
	Enter  func(origin any)
	// Hooks are the program's hooks for what is saved now; nil => nobody, or none.
	Hooks func() *Hooks
	// Watch is told of what runs; nil => nobody.
	Watch Watcher
	// Anomaly is the mode that looks for what goes wrong in backward passes; nil => off.
	Anomaly *Anomaly
}

// GradMode is the switch of no_grad and enable_grad, shared by all layers that record.
type GradMode struct{ Enabled bool }

var sequence atomic.Uint64

// newNode makes a node younger than all before it.
func newNode(name string, next []Edge, nout int) *Node {
	return &Node{Name: name, Next: next, NOut: nout, seq: sequence.Add(1), Shape: make([]outMeta, nout)}
}

// NewNode makes a node for an operator that is not in the registry (autograd.Function, compiled graphs).
func NewNode(name string, inputs []*tensor.Tensor, nout int, apply func(d aten.Dispatcher, grads []*tensor.Tensor, need []bool) ([]*tensor.Tensor, error)) *Node {
	next := make([]Edge, len(inputs))
	for i, t := range inputs {
		if t != nil {
			next[i] = edgeOf(t)
		}
	}
	n := newNode(name, next, nout)
	n.Apply, n.Custom = apply, true
	return n
}

// Describe records the metadata of result nr, for gradients that never arrive.
func (n *Node) Describe(nr int, t *tensor.Tensor) { n.Shape[nr] = outMeta{clone(t.Shape), t.DType} }

// A Replayer is a layer below that knows by which operators a view came from its base.
type Replayer interface {
	// Views gives a function that makes the view t of base once more, of another tensor in base's place; nil where t is no such view.
	Views(base, t *tensor.Tensor) func(d aten.Dispatcher, in *tensor.Tensor) (*tensor.Tensor, error)
}

// A detacher is a layer below that runs the detach of a program in its own way.
type detacher interface {
	DispatchDetach(op *aten.Op, args []aten.Value) (aten.Value, error)
}

// Dispatch runs op below and records it where an input requires a gradient.
func (e *Engine) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	if e.Watch != nil {
		return e.watched(op, args)
	}
	return e.dispatch(op, args)
}

func (e *Engine) dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	if e.Before != nil {
		if out, done, err := e.Before(op, args); done || err != nil {
			return out, err
		}
	}
	if op.Tags&aten.Composite != 0 && op.Decomp != nil {
		return aten.Decompose(e, op, args)
	}
	if functionalName(op) == "detach.default" && op.Tags&aten.Inplace == 0 {
		// It shares memory with what it came from, and is no view of it to autograd: what is written to it gives that no history.
		below := e.Below.Dispatch
		if d, ok := e.Below.(detacher); ok {
			below = d.DispatchDetach
		}
		out, err := below(op, args)
		if v, ok := out.(*tensor.Tensor); ok && err == nil {
			v.Base = nil
		}
		return out, err
	}
	if e.Mode != nil && !e.Mode.Enabled {
		return e.Below.Dispatch(op, args)
	}
	need := false
	for _, a := range args {
		if anyRequires(a) {
			need = true
			break
		}
	}
	if !need {
		out, err := e.Below.Dispatch(op, args)
		if v, ok := out.(*tensor.Tensor); ok && v.Base != nil && MetaOf(v) == nil && functionalName(op) != "detach.default" {
			Ensure(v).viewVersion = v.Version() // gradients flow to it once its base is written with a value that has some
			e.noteView(v)
		}
		return out, err
	}
	return e.record(op, args)
}

// noteView notes in a view of a trace how its history is found again when its base has been written: the view is made once more.
func (e *Engine) noteView(v *tensor.Tensor) {
	r, ok := e.Below.(Replayer)
	if !ok {
		return
	}
	MetaOf(v).again = func() (*Node, int) {
		again := r.Views(v.Base, v)
		if again == nil {
			return nil, 0
		}
		on := *e
		on.Mode = nil
		made, err := again(&on, v.Base)
		if err != nil || GradFn(made) == nil {
			return nil, 0
		}
		return MetaOf(made).Node, MetaOf(made).OutNr
	}
}

// anyRequires reports whether an argument asks for gradients, at any depth of lists. Integers never do.
func anyRequires(a aten.Value) bool {
	switch a := a.(type) {
	case *tensor.Tensor:
		return a != nil && a.DType.Kind() >= tensor.KindFloat && RequiresGrad(a)
	case []aten.Value:
		for _, x := range a {
			if anyRequires(x) {
				return true
			}
		}
	}
	return false
}

// record runs op and hangs a node on its results.
func (e *Engine) record(op *aten.Op, args []aten.Value) (aten.Value, error) {
	name := functionalName(op)
	f, ok := formulaOf(name)
	if !ok && !nonDifferentiable[baseName(name)] {
		// A decomposition made of differentiable parts needs no formula of its own.
		if op.Decomp != nil {
			return aten.Decompose(e, op, args)
		}
	}
	if !ok && op.ByElement != nil {
		return aten.Elements(e, op, args)
	}
	if !ok && nonDifferentiable[baseName(name)] {
		return e.Below.Dispatch(op, args)
	}
	if op.Has(aten.OutVariant) && !op.Has(aten.Composite) {
		return nil, fmt.Errorf("%s(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.", op.Sig().Name)
	}
	inplace := op.Tags&aten.Inplace != 0
	if s := op.Sig().Name; s == "resize_" || s == "resize_as_" {
		return nil, errors.New("cannot resize variables that require grad")
	}
	if inplace {
		if err := checkInplace(args[0].(*tensor.Tensor)); err != nil {
			return nil, err
		}
	}
	inputs, index := flatTensors(args)
	next := make([]Edge, len(inputs))
	for i, t := range inputs {
		if t.DType.Kind() >= tensor.KindFloat {
			next[i] = edgeOf(t)
		}
	}
	versions := make([]int64, len(inputs))
	for i, t := range inputs {
		versions[i] = t.Version()
	}
	saved := args
	keeps := inplace && ok && f.usesSelf && !(f.forOthers && !slices.ContainsFunc(next[1:], Edge.valid))
	if keeps {
		// The formula reads the value that the operator is about to overwrite.
		saved = append([]aten.Value(nil), args...)
		old, err := (&build.B{D: e.Below}).Try("clone.default", args[0])
		if err != nil {
			return nil, err
		}
		saved[0] = old
		versions[0] = old.Version()
	}
	var selfGeom *tensor.Tensor
	var before int64
	var came tensor.Tensor // how it looked
	if inplace {
		selfGeom = args[0].(*tensor.Tensor)
		before = selfGeom.Version()
		came = *selfGeom
	}
	out, err := e.Below.Dispatch(op, args)
	if err != nil {
		return nil, err
	}
	results := build.Tensors(out)
	node := newNode(nodeName(op), next, len(results))
	e.Anomaly.Made(node)
	if e.Origin != nil {
		node.origin = e.Origin()
	}
	if inplace && !keeps {
		versions[0] = selfGeom.Version() // what it wrote to is no violation, but whatever else it read is
	}
	for i, r := range results {
		if r != nil {
			node.Shape[i] = outMeta{clone(r.Shape), r.DType}
		}
	}
	resVersions := make([]int64, len(results))
	for i, r := range results {
		if r != nil {
			resVersions[i] = r.Version()
		}
	}
	var call *recorded
	if op.Derivative != nil {
		node.Apply = func(d aten.Dispatcher, grads []*tensor.Tensor, need []bool) ([]*tensor.Tensor, error) {
			gs, err := op.Derivative(d, args, out, grads)
			if err != nil {
				return nil, err
			}
			return perTensor(args, gs), nil
		}
	} else if !ok {
		node.Apply = func(aten.Dispatcher, []*tensor.Tensor, []bool) ([]*tensor.Tensor, error) {
			return nil, noDerivative(op)
		}
	} else if base := baseName(name); !complexRows[base] && !holomorphicRows[base] && slices.ContainsFunc(append(slices.Clone(inputs), results...), isComplex) {
		// A formula for real numbers gives complex ones a wrong gradient: it lacks the conjugates. Those in complexRows have them,
		// and those in holomorphicRows get them here.
		node.Apply = func(aten.Dispatcher, []*tensor.Tensor, []bool) ([]*tensor.Tensor, error) {
			return nil, fmt.Errorf("derivative for aten::%s is not implemented for complex tensors", base)
		}
	} else {
		call = &recorded{op: op, f: f, args: saved, results: results, inputs: inputs, index: index, versions: versions, resVersions: resVersions, traced: e.Traced,
			conjugated: holomorphicRows[base] && slices.ContainsFunc(append(slices.Clone(inputs), results...), isComplex)}
		node.call, node.Apply = call, call.gradients
	}
	if inplace && viewsInPlace(selfGeom, before, &came) { // a view in place writes nothing, and its gradient is one of what was there
		inputs[0] = &came
		if call != nil {
			call.args = slices.Clone(args)
			call.args[0] = &came
		}
		SetHistory(selfGeom, node, 0)
		return out, nil
	}
	if inplace {
		e.rebase(selfGeom, node)
		return out, e.save(node)
	}
	for i, r := range results {
		if r != nil && r.DType.Kind() >= tensor.KindFloat && (f == nil || !f.noGrad[i]) {
			SetHistory(r, node, i)
			if r.Base != nil {
				of, _ := args[0].(*tensor.Tensor)
				MetaOf(r).oneOf = len(results) > 1 || manyResults(op) || of != nil && MetaOf(of) != nil && MetaOf(of).oneOf
				e.noteView(r)
			}
		}
	}
	return out, e.save(node)
}

// save has the program's hooks, where it has some, pack what the backward pass will read of a call.
func (e *Engine) save(n *Node) error {
	if h := e.SavedHooks(); h != nil && n.call != nil {
		return n.call.save(n.wanted(), h)
	}
	return nil
}

// SavedHooks are the program's hooks for what is saved now, nil when it has none.
func (e *Engine) SavedHooks() *Hooks {
	if e == nil || e.Hooks == nil {
		return nil
	}
	return e.Hooks()
}

// viewsInPlace reports whether an in-place operator made a tensor look otherwise than before, and wrote nothing.
func viewsInPlace(t *tensor.Tensor, before int64, came *tensor.Tensor) bool {
	return t.Version() == before && t.Storage == came.Storage
}

func isComplex(t *tensor.Tensor) bool { return t != nil && t.DType.Kind() == tensor.KindComplex }

// perTensor picks from one gradient value per argument those of the tensors, in the order of flatTensors.
func perTensor(args, gs []aten.Value) []*tensor.Tensor {
	var out []*tensor.Tensor
	var walk func(a, g aten.Value)
	walk = func(a, g aten.Value) {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil {
				t, _ := g.(*tensor.Tensor)
				out = append(out, t)
			}
		case []aten.Value:
			l, _ := g.([]aten.Value)
			for i, x := range a {
				var part aten.Value
				if i < len(l) {
					part = l[i]
				}
				walk(x, part)
			}
		}
	}
	for i, a := range args {
		var g aten.Value
		if i < len(gs) {
			g = gs[i]
		}
		walk(a, g)
	}
	return out
}

// manyResults reports whether an operator gives a list, of however many tensors.
func manyResults(op *aten.Op) bool {
	r := op.Sig().Returns
	return len(r) == 1 && r[0].Type.List
}

// checkInplace refuses what PyTorch refuses: writing a leaf that requires grad, a view of one, or one of several views.
func checkInplace(t *tensor.Tensor) error {
	m := MetaOf(t)
	if m != nil && m.RequiresGrad && m.Node == nil {
		return errors.New("a leaf Variable that requires grad is being used in an in-place operation.")
	}
	if t.Base != nil {
		if m != nil && m.oneOf && m.Node != nil {
			return fmt.Errorf("Output %d of %s is a view and is being modified inplace. This view is the output of a function that returns multiple views. "+
				"Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.", m.OutNr, m.Node.Name)
		}
		if b := MetaOf(t.Base); b != nil && b.RequiresGrad && b.Node == nil {
			return errors.New("a view of a leaf Variable that requires grad is being used in an in-place operation.")
		}
	}
	return nil
}

// rebase gives an in-place result its new history; for a view the base's history
// becomes a CopySlices node, which routes the gradient of the written part.
func (e *Engine) rebase(t *tensor.Tensor, fn *Node) {
	if t.Base == nil {
		SetHistory(t, fn, 0)
		return
	}
	base := t.Base
	shape, stride, off := clone(t.Shape), clone(t.Stride), t.Offset
	next := append([]Edge{edgeOf(base)}, fn.Next[1:]...)
	n := newNode("CopySlices", next, 1)
	n.Shape[0] = outMeta{clone(base.Shape), base.DType}
	n.origin = fn.origin
	var again func(aten.Dispatcher, *tensor.Tensor) (*tensor.Tensor, error)
	if r, ok := e.Below.(Replayer); ok {
		again = r.Views(base, t)
	}
	n.Apply = func(d aten.Dispatcher, g []*tensor.Tensor, need []bool) ([]*tensor.Tensor, error) {
		if g[0] == nil {
			return make([]*tensor.Tensor, len(next)), nil
		}
		return withCtx(d, func(c *Ctx) []*tensor.Tensor {
			if again != nil {
				return c.routed(fn, base, g[0], again, need)
			}
			gb := c.T("clone.default", g[0])
			if !sameStrides(gb, base) {
				gb = c.T("add.Tensor", c.zerosAs(gb, base), gb) // lies as its first operand does
			}
			gv := c.T("as_strided.default", gb, build.Ints(shape), build.Ints(stride), off)
			fneed := append([]bool{true}, need[1:]...)
			gs, err := fn.Apply(d, []*tensor.Tensor{gv}, fneed)
			c.Check(err)
			part := gs[0]
			if part == nil {
				part = c.T("zeros_like.default", gv)
			}
			scatter := func(into, part *tensor.Tensor) *tensor.Tensor {
				return c.T("as_strided_scatter.default", into, part, build.Ints(shape), build.Ints(stride), off)
			}
			if RequiresGrad(gb) || RequiresGrad(part) {
				// The formula of as_strided_scatter gives the written places of the first argument a gradient, as PyTorch's does: they are taken out before.
				zeros := c.T("zeros_like.default", c.T("detach.default", gb))
				written := c.T("ne.Scalar", scatter(zeros, c.T("ones_like.default", c.T("detach.default", part))), int64(0))
				gs[0] = c.T("add.Tensor", c.T("where.self", written, zeros, gb), scatter(zeros, part))
				return gs
			}
			gs[0] = scatter(gb, part)
			return gs
		})
	}
	SetHistory(base, n, 0)
	m := Ensure(t)
	m.viewed(t)
	m.viewVersion = t.Version()
}

// Written gives t, which a function of the program has as input number in, and has written to, the history of that: it is its result number out. A
// function that writes to a view has no other result.
func (e *Engine) Written(t *tensor.Tensor, fn *Node, in, out int) {
	if t.Base == nil {
		SetHistory(t, fn, out)
		return
	}
	if in > 0 { // to rebase, the first input is what was written
		first := func(need []bool) []bool {
			need = slices.Clone(need)
			need[0], need[in] = need[in], need[0]
			return need
		}
		apply := fn.Apply
		fn.Next[0], fn.Next[in] = fn.Next[in], fn.Next[0]
		fn.Apply = func(d aten.Dispatcher, grads []*tensor.Tensor, need []bool) ([]*tensor.Tensor, error) {
			gs, err := apply(d, grads, first(need))
			if err == nil {
				gs[0], gs[in] = gs[in], gs[0]
			}
			return gs, err
		}
	}
	e.rebase(t, fn)
}

// routed is the gradient of a base of which fn wrote a view, in a trace: the part of the view goes through fn in place.
func (c *Ctx) routed(fn *Node, base, g *tensor.Tensor, again func(aten.Dispatcher, *tensor.Tensor) (*tensor.Tensor, error), need []bool) []*tensor.Tensor {
	whole := c.T("new_empty_strided.default", g, build.Ints(base.Shape), build.Ints(base.Stride))
	c.T("copy_.default", whole, g)
	part, err := again(c.D, whole)
	c.Check(err)
	gs, err := fn.Apply(c.D, []*tensor.Tensor{c.T("clone.default", part, tensor.ContiguousFormat)}, append([]bool{true}, need[1:]...))
	c.Check(err)
	if gs[0] != nil {
		c.T("copy_.default", part, gs[0])
	}
	gs[0] = whole
	return gs
}

func sameStrides(a, b *tensor.Tensor) bool {
	for i := range a.Stride {
		if a.Stride[i] != b.Stride[i] && a.Shape[i] > 1 {
			return false
		}
	}
	return true
}

// flatTensors lists the tensors among args in order; index[i] is the argument position and place of each.
func flatTensors(args []aten.Value) (ts []*tensor.Tensor, index [][2]int) {
	for i, a := range args {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil {
				ts, index = append(ts, a), append(index, [2]int{i, 0})
			}
		case []aten.Value:
			for j, x := range a {
				if t, ok := x.(*tensor.Tensor); ok && t != nil {
					ts, index = append(ts, t), append(index, [2]int{i, j})
				}
			}
		}
	}
	return ts, index
}

// Options of a backward pass.
type Options struct {
	RetainGraph bool
	CreateGraph bool             // record the backward pass itself
	Inputs      []*tensor.Tensor // only these receive gradients; nil => all leaves
	Accumulate  bool             // add into .grad; false returns the inputs' gradients
	AllowUnused bool
	On          aten.Dispatcher // what formulas run on; nil => the engine, or what is below it
}

// A queue gives the youngest node first: what uses a result is always younger than what made it.
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
	s := e.newSweep(opt)
	for i, r := range roots {
		if err := s.root(i, r, grads[i]); err != nil {
			return nil, err
		}
	}
	for s.q.Len() > 0 {
		if err := s.visit(heap.Pop(&s.q).(*Node)); err != nil {
			return nil, err
		}
	}
	if opt.Accumulate {
		return nil, nil
	}
	res := make([]*tensor.Tensor, len(opt.Inputs))
	for i, in := range opt.Inputs {
		res[i] = s.got[in]
		if res[i] == nil && !opt.AllowUnused {
			return nil, errors.New("One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.")
		}
	}
	return res, nil
}

// sweep is one backward pass. A node is visited when all that uses its results has been: the queue gives the youngest node first.
type sweep struct {
	e       *Engine
	d       aten.Dispatcher // what formulas run on: with CreateGraph, one that records them
	c       *Ctx
	opt     Options
	pending map[*Node][]*tensor.Tensor // gradients that have arrived, per result
	q       queue
	queued  map[*Node]bool
	got     map[*tensor.Tensor]*tensor.Tensor  // gradients of opt.Inputs
	wanted  map[*Node]map[int][]*tensor.Tensor // the inputs that are results of nodes, per result
	isInput map[*tensor.Tensor]bool
	leads   map[*Node]bool // with opt.Inputs: whether one of them is a result of the node, or lies behind it
}

// newSweep notes which results the caller wants the gradients of.
func (e *Engine) newSweep(opt Options) *sweep {
	s := &sweep{e: e, d: e.Below, opt: opt, pending: map[*Node][]*tensor.Tensor{}, queued: map[*Node]bool{}, got: map[*tensor.Tensor]*tensor.Tensor{},
		wanted: map[*Node]map[int][]*tensor.Tensor{}, isInput: map[*tensor.Tensor]bool{}, leads: map[*Node]bool{}}
	if e.Watch != nil {
		s.d = watching{e.Below, e.Watch}
	}
	if opt.CreateGraph {
		s.d = &Engine{Below: e.Below, Traced: e.Traced, Before: e.Before, Watch: e.Watch, Anomaly: e.Anomaly}
	}
	if opt.On != nil {
		s.d = opt.On
	}
	s.c = &Ctx{B: build.B{D: s.d}}
	for _, in := range opt.Inputs {
		s.isInput[in] = true
		if n := GradFn(in); n != nil {
			if s.wanted[n] == nil {
				s.wanted[n] = map[int][]*tensor.Tensor{}
			}
			nr := MetaOf(in).OutNr
			s.wanted[n][nr] = append(s.wanted[n][nr], in)
		}
	}
	return s
}

// needs reports whether a gradient along an edge is of use: with opt.Inputs, whether it gets to one of them.
func (s *sweep) needs(ed Edge) bool {
	switch {
	case !ed.valid():
		return false
	case len(s.opt.Inputs) == 0:
		return true
	case ed.Leaf != nil:
		return s.isInput[ed.Leaf]
	}
	return s.reaches(ed.Node)
}

// reaches fills in leads for a node and what is behind it: a walk with a stack of its own, as graphs are deep.
func (s *sweep) reaches(n *Node) bool {
	if known, ok := s.leads[n]; ok {
		return known
	}
	stack := []*Node{n}
	for len(stack) > 0 {
		top, open, found := stack[len(stack)-1], false, len(s.wanted[stack[len(stack)-1]]) > 0
		for _, ed := range top.Next {
			switch {
			case !ed.valid():
			case ed.Leaf != nil:
				found = found || s.isInput[ed.Leaf]
			default:
				known, ok := s.leads[ed.Node]
				if !ok {
					stack, open = append(stack, ed.Node), true
				}
				found = found || known
			}
		}
		if !open {
			s.leads[top] = found
			stack = stack[:len(stack)-1]
		}
	}
	return s.leads[n]
}

// root starts at root number i, with its gradient.
func (s *sweep) root(i int, r, g *tensor.Tensor) error {
	ed := edgeOf(r)
	if !ed.valid() {
		return fmt.Errorf("element %d of tensors does not require grad and does not have a grad_fn", i)
	}
	if g == nil {
		if tensor.Numel(r.Shape) != 1 {
			return errors.New("grad can be implicitly created only for scalar outputs")
		}
		var err error
		if g, err = s.c.Try("ones_like.default", r, nil, nil, nil, false, tensor.PreserveFormat); err != nil {
			return err
		}
	}
	return s.deliver(ed, g)
}

// deliver adds a gradient to those that have arrived where an edge leads.
func (s *sweep) deliver(ed Edge, g *tensor.Tensor) (err error) {
	if g == nil || !s.needs(ed) {
		return nil
	}
	if ed.Leaf != nil {
		return s.e.accumulate(s.c, ed.Leaf, g, s.opt, s.isInput, s.got)
	}
	p := s.pending[ed.Node]
	if p == nil {
		p = make([]*tensor.Tensor, ed.Node.NOut)
		s.pending[ed.Node] = p
	}
	if p[ed.Nr] == nil {
		p[ed.Nr] = g
	} else if p[ed.Nr], err = s.c.Try("add.Tensor", p[ed.Nr], g); err != nil {
		return err
	}
	if !s.queued[ed.Node] {
		s.queued[ed.Node] = true
		heap.Push(&s.q, ed.Node)
	}
	return nil
}

// visit runs the formula of a node on the gradients of its results, and passes on what it gives. Hooks see the gradients first, and may replace them.
func (s *sweep) visit(n *Node) error {
	s.queued[n] = false
	gs := s.pending[n]
	delete(s.pending, n)
	run := s.compute
	if s.e.Anomaly != nil {
		run = s.checked
	}
	outs, err := run(n, gs)
	if err != nil || outs == nil {
		return err
	}
	if !s.opt.RetainGraph && !s.opt.CreateGraph && !n.keep {
		n.free()
	}
	for i, ed := range n.Next {
		if i < len(outs) {
			if err := s.deliver(ed, outs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// compute has the hooks of a node see the gradients of its results, and runs its formula: nil where nothing behind it is asked for.
func (s *sweep) compute(n *Node, gs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	for nr, ts := range n.hooks {
		for _, h := range ts {
			if gs[nr] == nil {
				continue
			}
			r, err := h(gs[nr])
			if err != nil {
				return nil, err
			}
			if r != nil {
				gs[nr] = r
			}
		}
	}
	for nr, ts := range s.wanted[n] {
		for _, t := range ts {
			if gs[nr] != nil {
				if err := s.e.deliverInput(s.c, t, gs[nr], s.opt, s.got); err != nil {
					return nil, err
				}
			}
		}
	}
	need := make([]bool, len(n.Next))
	for i, ed := range n.Next {
		need[i] = s.needs(ed)
	}
	if len(s.opt.Inputs) > 0 && !slices.Contains(need, true) {
		return nil, nil // its results were asked for, and nothing behind it
	}
	if n.freed && n.keeps(need) {
		return nil, ErrFreed
	}
	if s.e.Enter != nil {
		s.e.Enter(n.origin)
	}
	if s.e.Watch != nil {
		return s.watchedNode(n, gs, need)
	}
	return n.Apply(s.d, gs, need)
}

// deliverInput notes a gradient of one of Options.Inputs, or adds it to its .grad.
func (e *Engine) deliverInput(c *Ctx, t, g *tensor.Tensor, opt Options, got map[*tensor.Tensor]*tensor.Tensor) (err error) {
	if opt.Accumulate {
		return e.addGrad(c, t, g, opt)
	}
	if got[t] == nil {
		got[t] = g
	} else {
		got[t], err = c.Try("add.Tensor", got[t], g)
	}
	return err
}

// accumulate adds a gradient to a leaf: to its .grad, or with Options.Inputs to what is returned, if it is one of them.
func (e *Engine) accumulate(c *Ctx, leaf, g *tensor.Tensor, opt Options, isInput map[*tensor.Tensor]bool, got map[*tensor.Tensor]*tensor.Tensor) error {
	m := MetaOf(leaf)
	for _, h := range m.Hooks {
		r, err := h(g)
		if err != nil {
			return err
		}
		if r != nil {
			g = r
		}
	}
	if len(opt.Inputs) > 0 {
		if !isInput[leaf] {
			return nil
		}
		return e.deliverInput(c, leaf, g, opt, got)
	}
	if !opt.Accumulate {
		return nil
	}
	if e.Watch != nil {
		defer e.watchedLeaf(g)()
	}
	if err := e.addGrad(c, leaf, g, opt); err != nil {
		return err
	}
	for _, h := range m.PostHooks {
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
			m.Grad = g
			return nil
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
	_, err = c.Try("add_.Tensor", m.Grad, g)
	return err
}

// AddHook registers h on t: on its node when it has one, on the leaf otherwise. It returns a function that removes it.
func AddHook(t *tensor.Tensor, h Hook) func() {
	off := false
	wrapped := func(g *tensor.Tensor) (*tensor.Tensor, error) {
		if off {
			return nil, nil
		}
		return h(g)
	}
	if n := GradFn(t); n != nil {
		if n.hooks == nil {
			n.hooks = map[int][]Hook{}
		}
		nr := MetaOf(t).OutNr
		n.hooks[nr] = append(n.hooks[nr], wrapped)
	} else {
		m := Ensure(t)
		m.Hooks = append(m.Hooks, wrapped)
	}
	return func() { off = true }
}

// RetainGrad makes a non-leaf keep its gradient.
func RetainGrad(t *tensor.Tensor) {
	m := Ensure(t)
	if m.RetainGrad || m.Node == nil {
		return
	}
	m.RetainGrad = true
	AddHook(t, func(g *tensor.Tensor) (*tensor.Tensor, error) {
		m.Grad = g
		return nil, nil
	})
}

// noDerivative is the error of an operator without a formula, in PyTorch's words.
func noDerivative(op *aten.Op) error {
	s := op.Sig()
	if n := s.Name; n == "_cdist_backward" || n == "_pdist_backward" || n == "_embedding_bag_backward" {
		return &aten.Error{Op: op.Name(), Kind: aten.NotImplementedError, Msg: "the derivative for '" + n + "' is not implemented."}
	}
	return &aten.Error{Op: op.Name(), Kind: aten.RuntimeError, Msg: "derivative for " + s.Namespace + "::" + s.Name + " is not implemented"}
}

package autograd

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"strings"
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

	running *pass // the innermost backward pass under way
}

// GradMode is the switch of no_grad and enable_grad, shared by all layers that record.
type GradMode struct {
	Enabled   bool
	Inference bool // nothing that is made now will ever be part of a graph
}

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
	if e.Mode != nil && !e.Mode.Inference && op.Tags&(aten.Inplace|aten.OutVariant) != 0 {
		if err := refuseInference(op, args); err != nil {
			return nil, err
		}
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
			if of, ok := args[0].(*tensor.Tensor); ok && IsInference(of) {
				Ensure(v).Inference = true
			}
		}
		return out, err
	}
	need := false
	if e.Mode == nil || e.Mode.Enabled {
		for _, a := range args {
			if anyRequires(a) {
				need = true
				break
			}
		}
	}
	if need {
		return e.record(op, args)
	}
	out, err := e.Below.Dispatch(op, args)
	if err == nil {
		e.unrecorded(op, args, out)
	}
	return out, err
}

// notViews are operators whose results share memory with what they came from, and are no views of it to autograd: each is written by itself.
var notViews = map[string]bool{"unsafe_split": true, "unsafe_split_with_sizes": true, "unsafe_chunk": true, "_unsafe_view": true}

// unrecorded notes how the results of an operator came about that has no node, for when they are written, or in inference mode.
func (e *Engine) unrecorded(op *aten.Op, args []aten.Value, out aten.Value) {
	switch out := out.(type) {
	case *tensor.Tensor:
		if out != nil {
			e.came(op, args, out, false)
		}
	case []aten.Value:
		for _, o := range out {
			if v, ok := o.(*tensor.Tensor); ok && v != nil {
				e.came(op, args, v, manyResults(op) || len(out) > 1)
			}
		}
	}
}

func (e *Engine) came(op *aten.Op, args []aten.Value, v *tensor.Tensor, several bool) {
	inference := e.Mode != nil && e.Mode.Inference
	if v.Base == nil {
		if inference && MetaOf(v) == nil && !slices.ContainsFunc(tensorsOf(args), func(t *tensor.Tensor) bool { return t == v || t.Storage == v.Storage && !IsInference(t) }) {
			Ensure(v).Inference = true
		}
		return
	}
	if MetaOf(v) != nil {
		return
	}
	if notViews[op.Sig().Name] {
		v.Base = nil
		return
	}
	if IsInference(v.Base) {
		Ensure(v).Inference = true
		return
	}
	m := Ensure(v)
	m.viewVersion = v.Version() // gradients flow to it once its base is written with a value that has some
	of, _ := args[0].(*tensor.Tensor)
	m.made = madeOf(of)
	switch {
	case inference:
		m.made = inInference
	case e.Mode != nil && !e.Mode.Enabled:
		m.made = unrecorded
	case several:
		m.made = withOthers
	}
	e.noteView(v)
}

// madeOf is how a view came about that is made of t.
func madeOf(t *tensor.Tensor) making {
	if t != nil && t.Base != nil {
		if m := MetaOf(t); m != nil {
			return m.made
		}
	}
	return plainly
}

// IsInference reports whether t was made in inference mode.
func IsInference(t *tensor.Tensor) bool {
	m := MetaOf(t)
	return m != nil && m.Inference
}

// refuseInference is the error of an operator that writes to a tensor of inference mode.
func refuseInference(op *aten.Op, args []aten.Value) error {
	for i, a := range op.Sig().Args {
		if i >= len(args) || !strings.Contains(a.Alias, "!") {
			continue
		}
		for _, t := range tensorsOf(args[i : i+1]) {
			if IsInference(t) {
				return errInferenceWritten
			}
		}
	}
	return nil
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
	apart := false // whether an input is of inference mode
	for _, t := range inputs {
		if err := Ambiguous(t); err != nil {
			return nil, err
		}
		apart = apart || IsInference(t)
	}
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
		if ed := edgeOf(args[0].(*tensor.Tensor)); ed.Node != nil {
			SetHistory(old, ed.Node, ed.Nr) // of which the gradient has a gradient, too
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
	node.numbers = numbers(op, args)
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
		if !withoutDerivative[op.Sig().Name] {
			node.Name = "NotImplemented"
		}
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
	if apart && call != nil {
		if err := call.refuseInference(node.wanted()); err != nil {
			return nil, err
		}
	}
	if inplace {
		e.rebase(selfGeom, node)
		return out, e.save(node)
	}
	for i, r := range results {
		if r != nil && r.DType.Kind() >= tensor.KindFloat && (f == nil || !f.noGrad[i]) {
			if notViews[op.Sig().Name] {
				r.Base = nil
			}
			SetHistory(r, node, i)
			if r.Base != nil {
				of, _ := args[0].(*tensor.Tensor)
				MetaOf(r).made = madeOf(of)
				if len(results) > 1 || manyResults(op) {
					MetaOf(r).made = withOthers
				}
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

// numbers are the places of numbers among the arguments that are tensors.
func numbers(op *aten.Op, args []aten.Value) (at []int) {
	n := 0
	for i, a := range op.Sig().Args {
		if i >= len(args) || a.Type.Base != "Tensor" {
			continue
		}
		switch v := args[i].(type) {
		case bool, int64, float64, complex128:
			at = append(at, n)
			n++
		default:
			n += len(tensorsOf([]aten.Value{v}))
		}
	}
	return at
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
	if m != nil && t.Base != nil && m.made != plainly {
		GradFn(t)
		return m.forbidden(false)
	}
	if m != nil && m.RequiresGrad && m.Node == nil {
		return errors.New("a leaf Variable that requires grad is being used in an in-place operation.")
	}
	if t.Base != nil {
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
	m.made = plainly
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
	At          []Edge           // where the gradients of Inputs are, instead of tensors
	Accumulate  bool             // add into .grad; false returns the inputs' gradients
	AllowUnused bool
	On          aten.Dispatcher // what formulas run on; nil => the engine, or what is below it
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
		if p[ed.Nr] == nil {
			p[ed.Nr] = g
		} else if p[ed.Nr], err = s.c.Try("add.Tensor", p[ed.Nr], g); err != nil {
			return err
		}
	}
	if s.left[n]--; s.left[n] == 0 {
		heap.Push(&s.q, n)
	}
	return nil
}

// visit runs the formula of a node on the gradients of its results, and passes on what it gives. Hooks see the gradients first, and may replace them.
func (s *sweep) visit(n *Node) error {
	gs := s.pending[n]
	delete(s.pending, n)
	if gs == nil {
		gs = make([]*tensor.Tensor, n.NOut)
	}
	run := s.compute
	if s.e.Anomaly != nil && n.leaf == nil {
		run = s.checked
	}
	outs, err := run(n, gs)
	if err != nil {
		return err
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
	return nil
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
			err = s.e.accumulate(s.c, n.leaf, gs[0], s.opt)
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
		outs, err = n.Apply(s.d, gs, need)
	}
	if err == nil && n.Checked {
		err = s.fit(n, outs)
	}
	if err == nil && outs == nil {
		outs = make([]*tensor.Tensor, len(n.Next))
	}
	return outs, err
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
func (e *Engine) accumulate(c *Ctx, leaf, g *tensor.Tensor, opt Options) error {
	m := MetaOf(leaf)
	if e.Watch != nil {
		defer e.watchedLeaf(g)()
	}
	if err := e.addGrad(c, leaf, g, opt); err != nil {
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

var errInferenceWritten = errors.New("Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.")

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
		n.hooks = append(n.hooks, resultHook{MetaOf(t).OutNr, wrapped})
	} else {
		m := Ensure(t)
		m.Hooks = append(m.Hooks, wrapped)
	}
	return func() { off = true }
}

// RetainGrad makes a non-leaf keep its gradient.
func RetainGrad(t *tensor.Tensor) {
	n := GradFn(t)
	m := Ensure(t)
	if m.RetainGrad || n == nil {
		return
	}
	m.RetainGrad = true
	n.retain(m.OutNr, t)
}

// noDerivative is the error of an operator without a formula, in PyTorch's words.
func noDerivative(op *aten.Op) error {
	s := op.Sig()
	if n := s.Name; withoutDerivative[n] {
		return &aten.Error{Op: op.Name(), Kind: aten.NotImplementedError, Msg: "the derivative for '" + n + "' is not implemented."}
	}
	return &aten.Error{Op: op.Name(), Kind: aten.RuntimeError, Msg: "derivative for " + s.Namespace + "::" + s.Name + " is not implemented"}
}

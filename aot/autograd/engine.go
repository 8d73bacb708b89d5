package autograd

import (
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

// Forgets implements aten.Forgetful: nothing is recorded, and nobody looks on.
func (e *Engine) Forgets(args []aten.Value) bool {
	below, ok := e.Below.(aten.Forgetful)
	recording := e.Mode == nil || e.Mode.Enabled
	return ok && e.Watch == nil && e.Before == nil && !e.Traced && !(recording && slices.ContainsFunc(args, anyRequires)) && below.Forgets(args)
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
	if e.Mode != nil && !e.Mode.Inference && !e.Traced && op.Tags&(aten.Inplace|aten.OutVariant) != 0 {
		if err := refuseInference(op, args); err != nil {
			return nil, err
		}
	}
	if s := op.Sig(); s.Name == "detach" && s.Namespace == "aten" && s.Overload == "" {
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

var errInferenceWritten = errors.New("Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.")

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
		if !anyRequires(args[0]) { // the other one gives its sizes alone
			return e.Below.Dispatch(op, args)
		}
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

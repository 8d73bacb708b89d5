package autograd

import (
	"errors"
	"slices"
	"strings"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Hooks are a program's two functions for what is saved for the backward pass: Pack is given each tensor as it is saved, and what it returns is
// kept in the tensor's place; Unpack makes a tensor of that when the backward pass reads it.
type Hooks struct {
	Pack   func(*tensor.Tensor) (any, error)
	Unpack func(any) (*tensor.Tensor, error)
}

// ErrFreed is the error for what a backward pass has freed.
var ErrFreed = errors.New("Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward.")

// Saved is a tensor that a node keeps for its backward pass.
type Saved struct {
	Name string // of the argument or result that it is

	t       *tensor.Tensor // nil once hooks have packed it
	version int64
	edge    Edge // where its gradient flows
	hooks   *Hooks
	packed  any
	freed   bool
	at      slot
}

// NewSaved saves a tensor under a name, by hooks where there are some.
func NewSaved(name string, t *tensor.Tensor, h *Hooks) (*Saved, error) {
	if IsInference(t) {
		return nil, errInferenceSaved
	}
	s := &Saved{Name: name, t: t, version: t.Version()}
	if t.DType.Kind() >= tensor.KindFloat {
		s.edge = edgeOf(t)
	}
	if h == nil {
		return s, nil
	}
	return s, s.pack(h)
}

// Hook has hooks pack a tensor that was saved without.
func (s *Saved) Hook(h *Hooks) error {
	switch {
	case s.freed:
		return errors.New("Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved variables after calling backward.")
	case s.hooks != nil:
		return errors.New("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a time.")
	}
	return s.pack(h)
}

func (s *Saved) pack(h *Hooks) error {
	v := s.t.Version()
	p, err := h.Pack(s.t)
	if err != nil {
		return err
	}
	if s.t.Version() != v {
		return errors.New("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform in-place operations on the input to a pack hook.")
	}
	s.hooks, s.packed, s.t = h, p, nil
	return nil
}

// Get is the tensor: an error where it was freed, or written since it was saved (which is not seen behind hooks).
func (s *Saved) Get() (*tensor.Tensor, error) {
	if s.freed {
		return nil, ErrFreed
	}
	if s.hooks == nil {
		if s.t.Version() != s.version {
			return nil, Overwritten(s.t, s.version)
		}
		return s.t, nil
	}
	t, err := s.hooks.Unpack(s.packed)
	if err != nil || !s.edge.valid() || edgeOf(t) == s.edge {
		return t, err
	}
	u := *t // its gradient is that of what was packed, whatever the hook made of it
	u.Py, u.Autograd = nil, &Meta{Node: s.edge.Node, OutNr: s.edge.Nr}
	if leaf := s.edge.Leaf; leaf != nil {
		n := NewNode("AliasBackward0", []*tensor.Tensor{leaf}, 1, func(_ aten.Dispatcher, g []*tensor.Tensor, _ []bool) ([]*tensor.Tensor, error) { return g, nil })
		n.Describe(0, leaf)
		u.Autograd = &Meta{Node: n}
	}
	return &u, nil
}

// Free lets go of the tensor.
func (s *Saved) Free() { s.t, s.packed, s.freed = nil, nil, true }

// slot is a place of a recorded call that holds a tensor: the item sub of argument pos, or result sub where pos is -1.
type slot struct{ pos, sub int }

// put is args with t in an argument's slot; args itself stays as it is.
func (s slot) put(args []aten.Value, t *tensor.Tensor) []aten.Value {
	args = slices.Clone(args)
	if list, ok := args[s.pos].([]aten.Value); ok {
		list = slices.Clone(list)
		list[s.sub] = t
		args[s.pos] = list
	} else {
		args[s.pos] = t
	}
	return args
}

// recorded is a call of an operator, as the formula of its gradient reads it.
type recorded struct {
	op                    *aten.Op
	f                     *formula
	args                  []aten.Value
	results               []*tensor.Tensor
	inputs                []*tensor.Tensor
	index                 [][2]int // where in args each input is
	versions, resVersions []int64
	conjugated            bool // the formula is for real numbers, and holds for complex ones by conjugation
	traced                bool

	saved   []*Saved // what the formula reads, once somebody has asked
	scalars []string // the arguments without tensors that it reads
	looked  bool
}

// gradients runs the formula.
func (r *recorded) gradients(d aten.Dispatcher, grads []*tensor.Tensor, need []bool) ([]*tensor.Tensor, error) {
	args, results, versions, resVersions := r.args, r.results, r.versions, r.resVersions
	for _, s := range r.saved {
		if s.hooks == nil {
			continue
		}
		t, err := s.Get()
		if err != nil {
			return nil, err
		}
		if s.at.pos < 0 {
			if &results[0] == &r.results[0] {
				results, resVersions = slices.Clone(results), slices.Clone(resVersions)
			}
			results[s.at.sub], resVersions[s.at.sub] = t, t.Version()
			continue
		}
		args, versions = s.at.put(args, t), slices.Clone(versions)
		versions[r.input(s.at)] = t.Version()
	}
	return withCtx(d, func(c *Ctx) []*tensor.Tensor {
		if r.conjugated {
			grads = c.conjAll(grads)
		}
		c.op, c.args, c.grads, c.results = r.op, args, grads, results
		c.inputs, c.index, c.need = r.inputs, r.index, need
		c.versions, c.resVersions, c.traced = versions, resVersions, r.traced
		r.f.run(c)
		out := c.gradients()
		if r.conjugated {
			out = c.conjAll(out)
		}
		return out
	})
}

// save finds what the formula reads for the gradients that are asked for, and packs it where there are hooks.
func (r *recorded) save(need []bool, h *Hooks) error {
	if r.looked {
		return nil
	}
	r.looked = true
	read := r.reads(need)
	r.scalars = read.scalars
	for _, at := range read.slots {
		t, name := r.at(at)
		s, err := NewSaved(name, t, nil)
		if err != nil {
			return err
		}
		s.at = at
		if at.pos < 0 {
			s.version = r.resVersions[at.sub]
		} else {
			s.version = r.versions[r.input(at)]
		}
		r.saved = append(r.saved, s)
		if h == nil {
			continue
		}
		if err := s.pack(h); err != nil {
			return err
		}
		r.forget(at)
	}
	return nil
}

// refuseInference is the error of a call that would keep a tensor of inference mode for its backward pass.
func (r *recorded) refuseInference(need []bool) error {
	for _, s := range r.reads(need).slots {
		if t, _ := r.at(s); IsInference(t) {
			return errInferenceSaved
		}
	}
	return nil
}

var errInferenceSaved = errors.New("Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor and use it in autograd.")

// at is the tensor in a slot, and what it is called.
func (r *recorded) at(s slot) (*tensor.Tensor, string) {
	if s.pos >= 0 {
		v := r.args[s.pos]
		if list, ok := v.([]aten.Value); ok {
			v = list[s.sub]
		}
		return v.(*tensor.Tensor), r.op.Sig().Args[s.pos].Name
	}
	name := "result"
	if rs := r.op.Sig().Returns; s.sub < len(rs) && rs[s.sub].Name != "" {
		name = rs[s.sub].Name
	} else if len(r.results) > 1 {
		name += string(rune('0' + s.sub))
	}
	return r.results[s.sub], name
}

// forget leaves of the tensor in a slot its shape and dtype alone: hooks keep what the backward pass reads.
func (r *recorded) forget(s slot) {
	t, _ := r.at(s)
	shell := tensor.EmptyFake(t.DType, t.Shape, t.Stride)
	if s.pos < 0 {
		r.results = slices.Clone(r.results)
		r.results[s.sub] = shell
		return
	}
	r.args, r.inputs = s.put(r.args, shell), slices.Clone(r.inputs)
	r.inputs[r.input(s)] = shell
}

// input is the number of the input in an argument's slot.
func (r *recorded) input(s slot) int { return slices.Index(r.index, [2]int{s.pos, s.sub}) }

// free lets go of what is kept for the backward pass.
func (r *recorded) free() {
	for _, s := range r.saved {
		s.Free()
	}
}

// reading notes what a formula reads of a call.
type reading struct {
	of      map[*tensor.Tensor]slot
	shapes  map[*tensor.Tensor]bool // what was asked for to learn its shape
	slots   []slot
	scalars []string
}

func (rd *reading) tensor(t *tensor.Tensor) {
	if s, ok := rd.of[t]; ok && !slices.Contains(rd.slots, s) {
		rd.slots = append(rd.slots, s)
	}
}

// Dispatch computes shapes, and notes the tensors of the call that it is given.
func (rd *reading) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	for _, t := range tensorsOf(args) {
		if !rd.shapes[t] {
			rd.tensor(t)
		}
	}
	if op.Tags&aten.Composite != 0 && op.Decomp != nil {
		return aten.Decompose(rd, op, args)
	}
	return aten.Fake.Dispatch(op, args)
}

func tensorsOf(args []aten.Value) []*tensor.Tensor {
	ts, _ := flatTensors(args)
	return ts
}

// reads runs the formula on tensors without data, and says what it reads of the call: its arguments by their names, then its results
// (load_derivatives.py sorts them so). A formula that shapes do not lead through reads everything.
func (r *recorded) reads(need []bool) *reading {
	rd := &reading{of: map[*tensor.Tensor]slot{}, shapes: map[*tensor.Tensor]bool{}}
	fake := func(t *tensor.Tensor, s slot) *tensor.Tensor {
		f := tensor.EmptyFake(t.DType, t.Shape, t.Stride)
		rd.of[f] = s
		return f
	}
	args := r.args
	inputs := make([]*tensor.Tensor, len(r.inputs))
	for k, ix := range r.index {
		at := slot{ix[0], ix[1]}
		inputs[k] = fake(r.inputs[k], at)
		args = at.put(args, inputs[k])
	}
	results := make([]*tensor.Tensor, len(r.results))
	grads := make([]*tensor.Tensor, len(r.results))
	for i, t := range r.results {
		if t == nil {
			continue
		}
		results[i] = fake(t, slot{-1, i})
		if t.DType.Kind() >= tensor.KindFloat && !r.f.noGrad[i] {
			grads[i] = tensor.EmptyFake(t.DType, t.Shape, t.Stride)
		}
	}
	_, err := withCtx(rd, func(c *Ctx) []*tensor.Tensor {
		c.op, c.args, c.grads, c.results = r.op, args, grads, results
		c.inputs, c.index, c.need = inputs, r.index, need
		c.versions, c.resVersions = make([]int64, len(inputs)), make([]int64, len(results))
		c.reading = rd
		r.f.run(c)
		return c.gradients()
	})
	if err != nil {
		rd.slots = rd.slots[:0]
		for _, s := range rd.of {
			rd.slots = append(rd.slots, s)
		}
	}
	slices.SortStableFunc(rd.slots, func(a, b slot) int {
		if (a.pos < 0) != (b.pos < 0) {
			return b.pos - a.pos
		}
		if a.pos < 0 {
			return a.sub - b.sub
		}
		as := r.op.Sig().Args
		if c := strings.Compare(as[a.pos].Name, as[b.pos].Name); c != 0 {
			return c
		}
		return a.sub - b.sub
	})
	return rd
}

// Saved lists what the node keeps for its backward pass, in PyTorch's order; ErrFreed after a backward pass that did not retain the graph.
func (n *Node) Saved() ([]*Saved, error) {
	if n.call == nil {
		return n.Kept, nil
	}
	if n.freed && !n.call.looked {
		return nil, ErrFreed
	}
	err := n.call.save(n.wanted(), nil)
	return n.call.saved, err
}

// Scalars are the arguments of the operator that are no tensors and that the formula of its gradient reads, by name.
func (n *Node) Scalars() map[string]aten.Value {
	if _, err := n.Saved(); err != nil || n.call == nil {
		return nil
	}
	out := map[string]aten.Value{}
	for i, a := range n.call.op.Sig().Args {
		if slices.Contains(n.call.scalars, a.Name) {
			out[a.Name] = n.call.args[i]
		}
	}
	return out
}

// wanted says of each input whether a gradient flows to it.
func (n *Node) wanted() []bool {
	w := make([]bool, len(n.Next))
	for i, e := range n.Next {
		w[i] = e.valid()
	}
	return w
}

// keeps reports whether the formula of the node reads tensors of the forward pass: one that does not runs again after a backward pass.
func (n *Node) keeps(need []bool) bool {
	if n.call == nil {
		return true
	}
	read := n.call.reads(need)
	return len(read.slots) > 0 || slices.ContainsFunc(read.scalars, func(name string) bool { // a number in the place of a tensor is one to PyTorch
		at := n.call.op.Sig().Arg(name)
		return at >= 0 && n.call.op.Sig().Args[at].Type.Base == "Tensor"
	})
}

// free marks the node as used up.
func (n *Node) free() {
	n.freed = true
	if n.call != nil {
		n.call.free()
	}
	for _, s := range n.Kept {
		s.Free()
	}
}

package minify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/replay"
)

// State is what a search reduces. States are immutable: an edit makes another.
type State struct {
	Module *fx.GraphModule
	Inputs []Input // one per placeholder, in order
	Config []Setting
}

// Input is one argument of forward.
type Input struct {
	// Value is a *tensor.Tensor, int64, float64, bool or nil. A fake tensor only says what the argument looks like: dtype,
	// shape, strides, offset, and by its storage what it shares memory with. Data says where its elements come from.
	Value        any
	Data         Data
	RequiresGrad bool
	// Made says of an input that requires gradients that it is the result of an operator, and no leaf.
	Made bool
}

// Leaf reports whether the input is a leaf of the autograd graph.
func (in Input) Leaf() bool { return !in.RequiresGrad || !in.Made }

// Data says how an engine makes the elements of a fake tensor: from a value that it holds, or by a fill.
type Data struct {
	// Of names a held value (see Values). A tensor that looks like it is that value, sharing included; any
	// other is a fresh tensor whose element at an index is the held value's at the same index, cast to the tensor's dtype. So a
	// tensor may have smaller sizes than the value, other strides, or another dtype, and never more dimensions or larger ones.
	Of   string
	Hash string   // of the held value's content: part of a query's identity
	Fill Fill     // instead of a held value
	List []string // the elements of FillList, as Python literals in row-major order
}

// Fill is a way to make elements from nothing.
type Fill string

// The fills.
const (
	FillNone   Fill = ""       // a held value
	FillZeros  Fill = "zeros"  // all 0, or False
	FillOnes   Fill = "ones"   // all 1, or True
	FillArange Fill = "arange" // 0, 1, 2 ... in row-major order
	FillRandom Fill = "random" // what PyTorch's repro files get without data: normal numbers, or zeros for dtypes without fractions
	FillList   Fill = "list"   // Data.List

	// FillZeroTensor is PyTorch's ZeroTensor: zeros without memory. Engines give it to inputs that were one.
	FillZeroTensor Fill = "zerotensor"
)

// Setting is one setting that is not default, in the engine's words.
type Setting struct{ Name, Value string }

// Values lists the inputs' values.
func (s State) Values() []any {
	out := make([]any, len(s.Inputs))
	for i, in := range s.Inputs {
		out[i] = in.Value
	}
	return out
}

// A Candidate is a state to be tested.
type Candidate struct {
	State
	Reduction string         // row of the reductions table
	Edit      string         // what was done to the base, for people
	Hash      string         // identity of state: graph, inputs and configuration
	Fresh     bool           // run it in a process that ran nothing before
	Attempt   int            // > 0 for a repeated run of the same state
	Idle      bool           // run it on what others leave of the processors, where the engine can do that
	Until     string         // a step of the compiler (replay.Outcome.Before): a run that comes to it may be stopped there, and has passed; "" => none
	Choose    *replay.Choose // which of the compiler's choices are taken, which are listed then; nil => all, and they are not
}

// Cost orders states: lower is better, earlier fields weigh more.
type Cost struct {
	Calls, Outputs, Inputs, Settings int   // constants of the module are inputs
	Elements                         int64 // of the inputs
	Complexity                       int   // of the arguments
}

// CostOf measures a state, for all that is compared: an edit is asked about only if it makes a state that costs less. The calls in the bodies of higher-order operators count like others; a getitem that takes one of
// several results does not, as no graph can return them together.
func CostOf(s State) Cost {
	c := Cost{Inputs: len(s.Inputs), Settings: len(s.Config)}
	measure(&c, s.Module)
	c.Outputs = len(outputs(s.Module.Graph))
	targets, _ := attributes(s.Module)
	for _, t := range targets {
		c.Inputs++
		c.Elements += s.Module.Attrs[t].Numel()
		c.Complexity += constantWeight
	}
	for _, in := range s.Inputs {
		c.Complexity += inputWeight(s, in)
		if t := isTensor(in.Value); t != nil {
			c.Elements += t.Numel()
		} else {
			c.Elements++
		}
	}
	return c
}

func measure(c *Cost, gm *fx.GraphModule) {
	for _, n := range gm.Graph.Nodes {
		switch {
		case n.Op == fx.GetAttr && gm.Submodules[n.Target] != nil:
			measure(c, gm.Submodules[n.Target])
		case n.IsCall():
			if part(n) {
				c.Complexity++
			} else {
				c.Calls++
			}
			c.Complexity += rank(n)
			for _, a := range n.Args {
				c.Complexity += complexity(a)
			}
			for _, kw := range n.Kwargs {
				c.Complexity += 1 + complexity(kw.Val)
			}
		}
	}
}

// constantWeight is more than that of any input.
const constantWeight = 100

// part reports whether n takes one of several results of a call.
func part(n *fx.Node) bool {
	if n.Target != "operator.getitem" || len(n.Args) != 2 {
		return false
	}
	p, ok := n.Args[0].(*fx.Node)
	_, number := n.Args[1].(int64)
	return ok && number && p.IsCall()
}

// inputWeight is what makes an input more than a contiguous float32 tensor of zeros.
func inputWeight(s State, in Input) int {
	w := 0
	if in.RequiresGrad {
		w++
	}
	if !in.Leaf() {
		w++
	}
	t := isTensor(in.Value)
	if t == nil {
		return w
	}
	w += dataWeight(in)
	if simpler[t.DType] != tensor.Invalid {
		w++
	}
	if !t.IsContiguous(tensor.ContiguousFormat) {
		w++
	}
	if t.Offset != 0 {
		w++
	}
	if shared(s, in) {
		w++
	}
	return w
}

// Less reports whether c is better than d.
func (c Cost) Less(d Cost) bool {
	a, b := c.key(), d.key()
	return slices.Compare(a[:], b[:]) < 0
}

func (c Cost) key() [6]int64 {
	return [6]int64{int64(c.Calls), int64(c.Outputs), int64(c.Inputs), int64(c.Settings), c.Elements, int64(c.Complexity)}
}

// complexity weighs an argument: 0 and 1 are simpler than other numbers.
func complexity(a fx.Arg) int {
	n := 1
	switch a := a.(type) {
	case nil, bool:
		return 0
	case int64:
		if a < 0 || a > 1 {
			return 3
		}
		return 1 + int(a)
	case float64:
		if a != 0 && a != 1 {
			return 3
		}
		return 1 + int(a)
	case tensor.DType:
		if simpler[a] != tensor.Invalid {
			return 2
		}
	case fx.List:
		for _, x := range a {
			n += complexity(x)
		}
	case fx.Tuple:
		for _, x := range a {
			n += complexity(x)
		}
	case fx.Dict:
		for _, x := range a {
			n += complexity(x.Val)
		}
	}
	return n
}

// outputs lists what a graph returns, as a flat list.
func outputs(g *fx.Graph) []fx.Arg {
	o := g.OutputNode()
	if o == nil || len(o.Args) == 0 {
		return nil
	}
	switch a := o.Args[0].(type) {
	case fx.Tuple:
		return a
	case fx.List:
		return a
	}
	return []fx.Arg{o.Args[0]}
}

// hasher gives states their identity. Hashes of tensors are remembered, as their data never change.
type hasher struct {
	mu   sync.Mutex
	seen map[*tensor.Tensor]string
}

func (h *hasher) tensor(t *tensor.Tensor) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.seen[t]; ok {
		return s
	}
	s := contentHash(t)
	if h.seen == nil {
		h.seen = map[*tensor.Tensor]string{}
	}
	h.seen[t] = s
	return s
}

// contentHash is of the elements, in row-major order.
func contentHash(t *tensor.Tensor) string {
	sum := sha256.Sum256(t.Bytes())
	return hex.EncodeToString(sum[:16])
}

// data identifies an input's elements.
func (h *hasher) data(in Input) string {
	t, ok := in.Value.(*tensor.Tensor)
	switch {
	case !ok || t == nil:
		return fmt.Sprint(in.Value)
	case in.Data.Fill == FillList:
		return "list " + replay.HashOf(in.Data.List...)
	case in.Data.Fill != FillNone:
		return string(in.Data.Fill)
	case in.Data.Hash != "":
		return in.Data.Hash
	case t.Fake:
		return "held " + in.Data.Of
	}
	return h.tensor(t)
}

// key is the query that running s asks.
func (h *hasher) key(s State, fingerprint string) replay.QueryKey {
	gm, _ := s.Module.Clone()
	var ins []string
	for i, n := range gm.Graph.Placeholders() {
		n.Val = nil
		if i >= len(s.Inputs) {
			break
		}
		in := s.Inputs[i]
		n.Val = fx.Fake(in.Value)
		d := h.data(in)
		if t, ok := in.Value.(*tensor.Tensor); ok && t != nil {
			d += fmt.Sprintf(" %v %v %v %d", t.DType, t.Shape, t.Stride, t.Offset)
		}
		ins = append(ins, fmt.Sprintf("%s %v %v", d, in.RequiresGrad, in.Leaf()))
	}
	ins = append(ins, sharing(s))
	var cfg []string
	for _, c := range s.Config {
		cfg = append(cfg, c.Name+"="+c.Value)
	}
	slices.Sort(cfg)
	return replay.QueryKey{Graph: gm.Hash(), Inputs: replay.HashOf(ins...), Config: replay.HashOf(cfg...), Fingerprint: fingerprint}
}

// sharing says which inputs share memory, and where in it they lie.
func sharing(s State) string {
	var b strings.Builder
	first := map[*tensor.Storage]int{}
	for i, in := range s.Inputs {
		t, ok := in.Value.(*tensor.Tensor)
		if !ok || t == nil {
			continue
		}
		if j, ok := first[t.Storage]; ok {
			fmt.Fprintf(&b, "%d=%d+%d ", i, j, t.Offset)
		} else {
			first[t.Storage] = i
		}
	}
	return b.String()
}

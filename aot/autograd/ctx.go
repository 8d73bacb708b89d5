package autograd

import (
	"fmt"
	"slices"
	"strings"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// formula is one row of the derivative table.
type formula struct {
	run       func(c *Ctx)
	usesSelf  bool         // reads self's value, so an in-place form must save a copy
	forOthers bool         // with usesSelf: only for the gradients of other arguments
	noGrad    map[int]bool // results that never carry a gradient
}

// Ctx is what a formula sees: the operator's arguments and results, the incoming
// gradients, and a dispatcher to compute with.
type Ctx struct {
	build.B
	op          *aten.Op
	args        []aten.Value
	results     []*tensor.Tensor
	grads       []*tensor.Tensor
	inputs      []*tensor.Tensor
	index       [][2]int
	need        []bool
	wanted      []wanted
	versions    []int64
	resVersions []int64
	traced      bool // results are read through detach, as a traced backward pass shows them
	unpacked    map[int]*tensor.Tensor
	reading     *reading // what notes the reads; nil when gradients are computed
}

func withCtx(d aten.Dispatcher, f func(c *Ctx) []*tensor.Tensor) (out []*tensor.Tensor, err error) {
	c := &Ctx{B: build.B{D: d}}
	err = build.Run(func() { out = f(c) })
	return out, err
}

func (c *Ctx) argPos(name string) int {
	for i, a := range c.op.Sig().Args {
		if a.Name == name {
			return i
		}
	}
	panic(fmt.Sprintf("derivative of %s names argument %q, which its schema lacks", c.op.Name(), name))
}

// Arg is an argument's value; a tensor is checked for writes since the forward pass.
func (c *Ctx) Arg(name string) aten.Value {
	i := c.argPos(name)
	v := c.args[i]
	t, ok := v.(*tensor.Tensor)
	if c.reading != nil {
		if ok {
			c.reading.tensor(t)
		} else if _, list := v.([]aten.Value); !list || !slices.Contains(c.reading.scalars, name) {
			c.reading.scalars = append(c.reading.scalars, name)
		}
		return v
	}
	if ok && t != nil {
		c.verify(t, i, 0)
	}
	return v
}

func (c *Ctx) verify(t *tensor.Tensor, pos, sub int) {
	for k, ix := range c.index {
		if ix == [2]int{pos, sub} {
			if t.Version() != c.versions[k] {
				e := Overwritten(t, c.versions[k])
				if n := GradFn(t); n != nil { // of a view what leads to its base as that is now
					e.Node, e.OutNr = n.Name, MetaOf(t).OutNr
				}
				c.Check(e)
			}
			return
		}
	}
}

func typeName(d tensor.DType) string {
	switch d {
	case tensor.Float32:
		return "FloatTensor"
	case tensor.Float64:
		return "DoubleTensor"
	case tensor.Int64:
		return "LongTensor"
	case tensor.BFloat16:
		return "BFloat16Tensor"
	case tensor.Float16:
		return "HalfTensor"
	case tensor.Bool:
		return "BoolTensor"
	}
	return d.String()
}

// In is a tensor argument, nil for None.
func (c *Ctx) In(name string) *tensor.Tensor {
	t, _ := c.Arg(name).(*tensor.Tensor)
	return t
}

// Like is a tensor argument whose metadata alone matters (no version check).
func (c *Ctx) Like(name string) *tensor.Tensor {
	t, _ := c.args[c.argPos(name)].(*tensor.Tensor)
	if c.reading != nil {
		c.reading.shapes[t] = true
	}
	return t
}

// Out is result i.
func (c *Ctx) Out(i int) *tensor.Tensor {
	t := c.results[i]
	if c.reading != nil {
		c.reading.tensor(t)
		return t
	}
	if t != nil && t.Version() != c.resVersions[i] && c.op.Tags&aten.Inplace == 0 {
		e := Overwritten(t, c.resVersions[i])
		if m := MetaOf(t); m != nil && m.Node != nil {
			e.Node, e.OutNr = nodeName(c.op), i
		}
		c.Check(e)
	}
	if t == nil || !c.traced || GradFn(t) == nil { // without a history it is stored as it is
		return t
	}
	if u := c.unpacked[i]; u != nil {
		return u
	}
	// A result that an operator saves for itself is stored detached, and unpacked into yet another tensor.
	// Partitioning sees these nodes: a value behind one is not fused with its backward use.
	// What an operator wrote in place is stored with the rest of the tensor, and detached once.
	u, times := t, 4
	if c.op.Tags&aten.Inplace != 0 {
		times = 2
	}
	for range times {
		u = c.T("detach.default", u)
	}
	if c.unpacked == nil {
		c.unpacked = map[int]*tensor.Tensor{}
	}
	c.unpacked[i] = u
	return u
}

// ResultLike is result i where its metadata alone matters.
func (c *Ctx) ResultLike(i int) *tensor.Tensor {
	if c.reading != nil {
		c.reading.shapes[c.results[i]] = true
	}
	return c.results[i]
}

// G is the gradient of result i; a missing one is zeros.
func (c *Ctx) G(i int) *tensor.Tensor {
	if c.grads[i] == nil {
		r := c.results[i]
		c.grads[i] = c.T("zeros.default", build.Ints(r.Shape), r.DType)
	}
	return c.grads[i]
}

// Has reports whether a gradient arrived at result i.
func (c *Ctx) Has(i int) bool { return i < len(c.grads) && c.grads[i] != nil }

// Ints is an int-list argument.
func (c *Ctx) Ints(name string) []int64 { return build.ToInts(c.Arg(name)) }

// Mul is a*o. A number takes the Scalar overload, as the formulas of derivatives.yaml do.
func (c *Ctx) Mul(a *tensor.Tensor, o aten.Value) *tensor.Tensor { return c.arith("mul", a, o) }

// Div is a/o.
func (c *Ctx) Div(a *tensor.Tensor, o aten.Value) *tensor.Tensor { return c.arith("div", a, o) }

// Add is a+o.
func (c *Ctx) Add(a *tensor.Tensor, o aten.Value) *tensor.Tensor { return c.arith("add", a, o) }

// Sub is a-o.
func (c *Ctx) Sub(a *tensor.Tensor, o aten.Value) *tensor.Tensor { return c.arith("sub", a, o) }

func (c *Ctx) arith(op string, a *tensor.Tensor, o aten.Value) *tensor.Tensor {
	if _, ok := o.(*tensor.Tensor); ok {
		return c.T(op+".Tensor", a, o)
	}
	return c.T(op+".Scalar", a, o)
}

// filled is a tensor like a of one number: the left side of a formula that subtracts from or divides a number.
func (c *Ctx) filled(a *tensor.Tensor, x aten.Value) *tensor.Tensor {
	return c.T("fill.Scalar", c.T("empty_like.default", a, nil, nil, nil, nil, tensor.PreserveFormat), x)
}

// From is x-a.
func (c *Ctx) From(x aten.Value, a *tensor.Tensor) *tensor.Tensor { return c.Sub(c.filled(a, x), a) }

// Over is x/a.
func (c *Ctx) Over(x aten.Value, a *tensor.Tensor) *tensor.Tensor { return c.Div(c.filled(a, x), a) }

// Scalar is a 0-dim tensor of like's dtype.
func (c *Ctx) Scalar(v aten.Value, like *tensor.Tensor) *tensor.Tensor {
	return c.T("scalar_tensor.default", v, like.DType)
}

// Int is an int argument.
func (c *Ctx) Int(name string) int64 { n, _ := c.Arg(name).(int64); return n }

// Bool is a bool argument.
func (c *Ctx) Bool(name string) bool { b, _ := c.Arg(name).(bool); return b }

// slot finds the flat input for argument name, item j of a list; -1 when it is no tensor.
func (c *Ctx) slot(name string, j int) int {
	p := c.argPos(name)
	for k, ix := range c.index {
		if ix == [2]int{p, j} {
			return k
		}
	}
	return -1
}

// Need reports whether argument name wants a gradient.
func (c *Ctx) Need(name string) bool {
	k := c.slot(name, 0)
	return k >= 0 && c.need[k]
}

// Set gives argument name its gradient, summed to the argument's shape and cast to its dtype.
func (c *Ctx) Set(name string, g func() *tensor.Tensor) { c.SetItem(name, 0, g) }

// SetItem is Set for item j of a list argument.
func (c *Ctx) SetItem(name string, j int, g func() *tensor.Tensor) {
	if k := c.slot(name, j); k >= 0 && c.need[k] {
		c.wanted = append(c.wanted, wanted{name, k, g})
	}
}

// wanted is the gradient of input number slot, to be computed.
type wanted struct {
	name string
	slot int
	g    func() *tensor.Tensor
}

// gradients computes what the formula has set, in PyTorch's order: the formulas by the names of the arguments (its code generator sorts them,
// load_derivatives.py), then, input by input, what brings a gradient into the shape and dtype of its input (validate_outputs of engine.cpp).
func (c *Ctx) gradients() []*tensor.Tensor {
	slices.SortStableFunc(c.wanted, func(a, b wanted) int { return strings.Compare(a.name, b.name) })
	out := make([]*tensor.Tensor, len(c.inputs))
	for _, w := range c.wanted {
		t := w.g()
		if t != nil && out[w.slot] != nil {
			t = c.T("add.Tensor", out[w.slot], t)
		}
		if t != nil {
			out[w.slot] = t
		}
	}
	for k, t := range out {
		if t != nil {
			out[k] = c.fitted(t, c.inputs[k])
		}
	}
	return out
}

// fitted is a gradient in the shape and dtype of the input that it is for.
func (c *Ctx) fitted(t, in *tensor.Tensor) *tensor.Tensor {
	t = c.SumTo(t, in.Shape)
	if t.DType.Kind() == tensor.KindComplex && in.DType.Kind() != tensor.KindComplex {
		t = c.part(t, 0) // a real number moves along the real axis
	}
	if t.DType != in.DType {
		t = c.T("_to_copy.default", t, in.DType)
	}
	return t
}

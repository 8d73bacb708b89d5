package levels

import (
	"fmt"
	"slices"
	"strings"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// vmapped runs operators on a level of vmap.
type vmapped struct{ levelAt }

// batch is an argument of an operator on the level beneath: dim is the hidden dimension, -1 for none.
type batch struct {
	x   *tensor.Tensor
	dim int
}

// rank is the number of dimensions that the operator sees.
func (b batch) rank() int {
	if b.dim >= 0 {
		return b.x.Dim() - 1
	}
	return b.x.Dim()
}

// call is an operator on a level of vmap, its tensors taken apart.
type call struct {
	vmapped
	op      *aten.Op
	args    []aten.Value // as given
	tensors []batch      // all of them, in order, in lists as well
}

// Dispatch implements aten.Dispatcher.
func (d vmapped) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	l := d.level()
	c := &call{d, op, args, nil}
	batched := false
	var walk func(a aten.Value)
	walk = func(a aten.Value) {
		switch v := a.(type) {
		case *tensor.Tensor:
			if v != nil {
				x, dim := Unwrap(l, v)
				c.tensors = append(c.tensors, batch{x, dim})
				batched = batched || dim >= 0
			}
		case []aten.Value:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(args)
	random := op.Facts().Effect == aten.Random
	if random && !(op.Tags&aten.Composite != 0 && op.Decomp != nil) {
		return c.random(batched)
	}
	if !batched {
		return d.below().Dispatch(op, args)
	}
	if op.Tags&aten.Composite != 0 && op.Decomp != nil {
		return aten.Decompose(d.levelAt, op, args)
	}
	if op.Tags&aten.DataDependent != 0 && !(strings.HasPrefix(op.Sig().Name, "index") && !c.masks()) {
		if op.Sig().Name == "_local_scalar_dense" || op.Sig().Name == "item" {
			return nil, c.failed("%s", Item)
		}
		return nil, c.failed("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over %s. "+
			"Please voice your support in https://github.com/pytorch/functorch/issues/256", strings.SplitN(qualified(op), ".", 2)[0])
	}
	name := strings.TrimPrefix(op.Name(), "aten.")
	if r := rules[name]; r != nil {
		if v, done, err := r(c); done || err != nil {
			return v, err
		}
	}
	if op.Tags&aten.Pointwise != 0 {
		if v, done, err := c.pointwise(); done || err != nil {
			return v, err
		}
	}
	if op.Tags&aten.View != 0 && op.Tags&aten.Inplace == 0 {
		if v, done, err := c.view(); done || err != nil {
			return v, err
		}
	}
	return c.each()
}

// masks reports whether a tensor of truth values is among the arguments.
func (c *call) masks() bool {
	return slices.ContainsFunc(c.tensors[1:], func(b batch) bool { return b.x.DType == tensor.Bool })
}

// Truth is what PyTorch says of a branch on a tensor of a vmap.
const Truth = "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, please shout over at https://github.com/pytorch/functorch/issues/257 ."

// Item is what PyTorch says of reading the number in a tensor of a vmap.
const Item = "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please try to rewrite what you're doing with other operations. " +
	"If error is occurring somewhere inside PyTorch internals, please file a bug report."

func (c *call) failed(format string, args ...any) error {
	return &aten.Error{Op: c.op.Name(), Kind: aten.RuntimeError, Msg: fmt.Sprintf(format, args...)}
}

// run runs an operator of aten on the level beneath.
func (c *call) run(name string, args ...aten.Value) (aten.Value, error) {
	return aten.Run(c.below(), "aten."+name, args...)
}

func (c *call) one(name string, args ...aten.Value) (*tensor.Tensor, error) {
	v, err := c.run(name, args...)
	if err != nil {
		return nil, err
	}
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, c.failed("%s gave no tensor", name)
	}
	return t, nil
}

// wrap makes tensors of the level of results whose hidden dimension is dim.
func (c *call) wrap(v aten.Value, dim int) aten.Value {
	return mapped(v, func(x *tensor.Tensor) *tensor.Tensor { return c.s.Wrap(c.level(), x, dim) })
}

// replaced are the arguments with f's tensors in the place of theirs, in order.
func (c *call) replaced(f func(i int, b batch) (aten.Value, error)) ([]aten.Value, error) {
	k := 0
	out, err := aten.MapTensors(c.args, func(*tensor.Tensor) (aten.Value, error) {
		k++
		return f(k-1, c.tensors[k-1])
	})
	if err != nil {
		return nil, err
	}
	return out.([]aten.Value), nil
}

// front moves the hidden dimension of a tensor to the first place; one without stays as it is.
func (c *call) front(b batch) (*tensor.Tensor, error) {
	if b.dim <= 0 {
		return b.x, nil
	}
	order := []aten.Value{int64(b.dim)}
	for i := range b.x.Dim() {
		if i != b.dim {
			order = append(order, int64(i))
		}
	}
	return c.one("permute.default", b.x, order)
}

// full is front for a tensor that gets the hidden dimension where it has none.
func (c *call) full(b batch) (*tensor.Tensor, error) {
	if b.dim >= 0 {
		return c.front(b)
	}
	sizes := []aten.Value{c.level().Size}
	for range b.x.Shape {
		sizes = append(sizes, int64(-1))
	}
	x, err := c.one("unsqueeze.default", b.x, int64(0))
	if err != nil {
		return nil, err
	}
	return c.one("expand.default", x, sizes)
}

// aligned is a tensor whose hidden dimension stands first, before as many dimensions as rank says.
func (c *call) aligned(b batch, rank int) (*tensor.Tensor, error) {
	x, err := c.front(b)
	if err != nil || b.dim < 0 {
		return x, err
	}
	if b.rank() >= rank {
		return x, nil
	}
	sizes := []int64{x.Shape[0]}
	for range rank - b.rank() {
		sizes = append(sizes, 1)
	}
	return c.one("view.default", x, numbers(append(sizes, x.Shape[1:]...)))
}

// pointwise is the rule of operators that broadcast.
func (c *call) pointwise() (aten.Value, bool, error) {
	rank := 0
	for _, b := range c.tensors {
		rank = max(rank, b.rank())
	}
	for _, b := range c.tensors {
		// A tensor without dimensions, and a number, promote others less: what it is must stay visible.
		if b.dim >= 0 && b.rank() == 0 && slices.ContainsFunc(c.tensors, func(o batch) bool { return o.x.DType != b.x.DType }) {
			return nil, false, nil
		}
	}
	writes := c.op.Facts().Writes
	if len(writes) > 0 {
		if c.op.Tags&aten.Inplace == 0 {
			return nil, false, nil
		}
		self := c.tensors[0]
		if self.dim < 0 {
			return nil, false, c.unbatchedWrite()
		}
		if self.rank() < rank {
			return nil, false, nil
		}
	}
	args, err := c.replaced(func(_ int, b batch) (aten.Value, error) { return c.aligned(b, rank) })
	if err != nil {
		return nil, false, err
	}
	v, err := c.below().Dispatch(c.op, args)
	if err != nil {
		return nil, false, err
	}
	if len(writes) > 0 {
		return c.args[0], true, nil
	}
	return c.wrap(v, 0), true, nil
}

// unbatchedWrite is the error of an operator that writes what differs along the hidden dimension into a tensor that has none.
func (c *call) unbatchedWrite() error {
	return c.failed("vmap: %s(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "+
		"`self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of %s. If said operator is being called inside the PyTorch framework, please file a bug report instead.",
		strings.SplitN(qualified(c.op), ".", 2)[0], strings.SplitN(qualified(c.op), ".", 2)[0])
}

// view is the rule of views without one of their own: what the operator makes of the part at one index says how the whole lies.
func (c *call) view() (aten.Value, bool, error) {
	b := c.tensors[0]
	if b.dim < 0 || len(c.tensors) != 1 {
		return nil, false, nil
	}
	x := b.x
	part := tensor.EmptyFake(x.DType, slices.Delete(slices.Clone(x.Shape), b.dim, b.dim+1), slices.Delete(slices.Clone(x.Stride), b.dim, b.dim+1))
	part.Offset = x.Offset
	part.Storage = tensor.FakeStorage(x.Storage.NBytes)
	args, err := c.replaced(func(int, batch) (aten.Value, error) { return part, nil })
	if err != nil {
		return nil, false, err
	}
	v, err := aten.Fake.Dispatch(c.op, args)
	if err != nil {
		return nil, false, err
	}
	out, err := aten.MapTensors(v, func(v *tensor.Tensor) (aten.Value, error) {
		if v.Storage != part.Storage || v.DType != x.DType {
			return nil, errCopies
		}
		shape := append([]aten.Value{c.level().Size}, numbers(v.Shape)...)
		stride := append([]aten.Value{x.Stride[b.dim]}, numbers(v.Stride)...)
		y, err := c.one("as_strided.default", x, shape, stride, v.Offset)
		if err != nil {
			return nil, err
		}
		return c.s.Wrap(c.level(), y, 0), nil
	})
	if err == errCopies {
		return nil, false, nil
	}
	return out, err == nil, err
}

var errCopies = fmt.Errorf("levels: no view")

func numbers(ns []int64) []aten.Value {
	out := make([]aten.Value, len(ns))
	for i, n := range ns {
		out[i] = n
	}
	return out
}

// each runs the operator once for each index of the hidden dimension, and puts the results together.
func (c *call) each() (aten.Value, error) {
	l := c.level()
	for _, i := range c.op.Facts().Writes {
		if x, ok := c.args[i].(*tensor.Tensor); ok && x != nil {
			if _, dim := Unwrap(l, x); dim < 0 {
				return nil, c.unbatchedWrite()
			}
		}
	}
	if l.Size == 0 {
		return nil, c.failed("vmap over an empty dimension is not supported for %s", qualified(c.op))
	}
	var all []aten.Value
	for i := range l.Size {
		args, err := c.replaced(func(_ int, b batch) (aten.Value, error) {
			if b.dim < 0 {
				return b.x, nil
			}
			x, err := c.one("select.int", b.x, int64(b.dim), i)
			if err == nil && strings.HasPrefix(c.op.Sig().Name, "as_strided") {
				x, err = c.one("clone.default", x) // it counts from the beginning of the memory
			}
			return x, err
		})
		if err != nil {
			return nil, err
		}
		v, err := c.below().Dispatch(c.op, args)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	if len(c.op.Facts().Writes) > 0 && c.op.Tags&aten.Inplace != 0 {
		return c.args[0], nil
	}
	return c.stacked(all)
}

// stacked puts the results for each index together.
func (c *call) stacked(all []aten.Value) (aten.Value, error) {
	switch first := all[0].(type) {
	case *tensor.Tensor:
		if first == nil {
			return first, nil
		}
		x, err := c.one("stack.default", all, int64(0))
		if err != nil {
			return nil, err
		}
		return c.s.Wrap(c.level(), x, 0), nil
	case []aten.Value:
		out := make([]aten.Value, len(first))
		for k := range first {
			col := make([]aten.Value, len(all))
			for i, v := range all {
				col[i] = v.([]aten.Value)[k]
			}
			x, err := c.stacked(col)
			if err != nil {
				return nil, err
			}
			out[k] = x
		}
		return out, nil
	}
	return all[0], nil
}

// random runs an operator that draws numbers, as the level's randomness says.
func (c *call) random(batched bool) (aten.Value, error) {
	l := c.level()
	switch l.Randomness {
	case "error":
		return nil, c.failed("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or perform the randomness operation out of vmap")
	case "same":
		if batched {
			if c.op.Tags&aten.Inplace != 0 || len(c.tensors) != 1 {
				return nil, c.failed("vmap: Cannot ask for same randomness of %s over a batched tensor here", qualified(c.op))
			}
			return c.sameDraws()
		}
		return c.below().Dispatch(c.op, c.args)
	}
	if len(c.tensors) == 0 { // a factory: sizes come first
		args := slices.Clone(c.args)
		for i, a := range c.op.Sig().Args {
			if a.Name != "size" {
				continue
			}
			sizes, _ := args[i].([]aten.Value)
			args[i] = append([]aten.Value{l.Size}, sizes...)
			v, err := c.below().Dispatch(c.op, args)
			if err != nil {
				return nil, err
			}
			return c.wrap(v, 0), nil
		}
		var all []aten.Value
		for range l.Size {
			v, err := c.below().Dispatch(c.op, c.args)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return c.stacked(all)
	}
	if c.op.Tags&aten.Inplace != 0 {
		if c.tensors[0].dim < 0 {
			return nil, c.failed("vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is necessary for your usage, please file an issue with functorch.")
		}
		args, err := c.replaced(func(_ int, b batch) (aten.Value, error) { return c.aligned(b, b.rank()) })
		if err != nil {
			return nil, err
		}
		_, err = c.below().Dispatch(c.op, args)
		return c.args[0], err
	}
	if len(c.tensors) > 1 {
		return c.each()
	}
	args, err := c.replaced(func(_ int, b batch) (aten.Value, error) { return c.full(b) })
	if err != nil {
		return nil, err
	}
	if randomRows[c.op.Sig().Name] {
		return c.each()
	}
	v, err := c.below().Dispatch(c.op, args)
	if err != nil {
		return nil, err
	}
	return c.wrap(v, 0), nil
}

// randomRows are operators that draw, and that mean something else by a first dimension.
var randomRows = map[string]bool{"multinomial": true, "rrelu": false, "_fused_dropout": false}

// sameDraws runs an operator on each index with the same draws.
func (c *call) sameDraws() (aten.Value, error) {
	g := aten.DefaultGenerator
	for i, a := range c.op.Sig().Args {
		if given, ok := c.args[i].(*tensor.Generator); ok && a.Type.Base == "Generator" && given != nil {
			g = given
		}
	}
	begin := g.State()
	var all []aten.Value
	for i := range c.level().Size {
		if err := g.SetState(begin); err != nil {
			return nil, err
		}
		args, err := c.replaced(func(_ int, b batch) (aten.Value, error) { return c.one("select.int", b.x, int64(b.dim), i) })
		if err != nil {
			return nil, err
		}
		v, err := c.below().Dispatch(c.op, args)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return c.stacked(all)
}

package aot

import (
	"fmt"
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// callWriting records a call of an operator of the program that writes to its arguments, as the higher-order operator that gives it copies
// of what these are views of and returns these after the results. Mirrors torch/_higher_order_ops/auto_functionalize.py.
func (f *Functional) callWriting(tr *Tracer, op *aten.Op, args []aten.Value) (aten.Value, error) {
	c := writing{f: f}
	var kwargs []fx.Kwarg
	inner, err := f.unwrapAll(args)
	if err != nil {
		return nil, err
	}
	for i, a := range op.Sig().Args {
		if a.Write() {
			if err := c.argument("_"+a.Name, args[i]); err != nil {
				return nil, err
			}
			continue
		}
		v, err := tr.arg(inner[i])
		if err != nil {
			return nil, err
		}
		kwargs = append(kwargs, fx.Kwarg{Name: a.Name, Val: v})
	}
	out, err := aten.Fake.Dispatch(op, inner)
	if err != nil {
		return nil, err
	}
	vals := []aten.Value{out} // None for an operator without results
	if l, ok := out.([]aten.Value); ok && len(op.Sig().Returns) > 1 {
		vals = slices.Clone(l)
	}
	results := len(vals)
	bases := make(fx.List, len(c.bases))
	for i, b := range c.bases {
		if bases[i], err = tr.arg(b.value); err != nil {
			return nil, err
		}
		vals = append(vals, tensor.FakeLike(b.value))
	}
	kwargs = append(append(kwargs, c.views...), fx.Kwarg{Name: "_all_bases", Val: bases})
	n := tr.GM.Graph.CreateNode(fx.CallFunction, "torch.ops.higher_order.auto_functionalized_v2", []fx.Arg{fx.FnRef("torch.ops." + op.Name())}, kwargs, "")
	n.Custom, n.Val = op, vals
	n.SetOrigin(tr.origin())
	tr.noteRegion(n)
	tr.results(n, vals)
	for i, b := range c.bases {
		f.store(b, vals[results+i].(*tensor.Tensor))
	}
	for _, t := range c.written {
		if _, err := f.Inner(t); err != nil {
			return nil, err
		}
		t.Bump()
	}
	for i, v := range vals[:results] {
		if t, ok := v.(*tensor.Tensor); ok {
			vals[i] = f.Wrap(t)
		}
	}
	if len(op.Sig().Returns) > 1 {
		return vals[:results:results], nil
	}
	return vals[0], nil
}

// writing collects what a call writes.
type writing struct {
	f       *Functional
	bases   []*storageState
	written []*tensor.Tensor
	views   []fx.Kwarg // which view of which base each is
}

// argument adds a written argument: a tensor, a list of these, or None.
func (c *writing) argument(prefix string, v aten.Value) error {
	note := func(what string, v fx.Arg) { c.views = append(c.views, fx.Kwarg{Name: prefix + what, Val: v}) }
	if l, ok := v.([]aten.Value); ok {
		note("_length", int64(len(l)))
		for i, x := range l {
			if err := c.argument(fmt.Sprintf("%s_%d", prefix, i), x); err != nil {
				return err
			}
		}
		return nil
	}
	t, _ := v.(*tensor.Tensor)
	if t == nil {
		note("_base_index", nil)
		return nil
	}
	st := c.f.outer[t]
	if st == nil {
		return fmt.Errorf("in-place operation on a constant tensor of shape %v inside a compiled function", t.Shape)
	}
	base := c.f.storage[t.Storage]
	if base.frozen {
		return &aten.Error{Kind: aten.RuntimeError, Msg: "cannot mutate tensors with frozen storage"}
	}
	at := slices.Index(c.bases, base)
	if at < 0 {
		at = len(c.bases)
		c.bases = append(c.bases, base)
	}
	c.written = append(c.written, t)
	note("_base_index", int64(at))
	if len(st.chain) == 0 {
		return nil
	}
	b := base.base
	if t.Offset == b.Offset && slices.Equal(t.Shape, b.Shape) && slices.Equal(t.Stride, b.Stride) {
		note("_alias", true)
	} else if dim := slicedAlong(b, t); dim >= 0 {
		start := t.Offset / t.Stride[dim]
		note("_slice_dim", int64(dim))
		note("_slice_start", start)
		note("_slice_end", start+t.Shape[dim])
	} else {
		note("_size", fx.Tuple(ints(t.Shape)))
		note("_stride", fx.Tuple(ints(t.Stride)))
		note("_storage_offset", t.Offset)
	}
	return nil
}

// slicedAlong is the one dimension that t is a slice of b in, -1 where it is none.
func slicedAlong(b, t *tensor.Tensor) int {
	if len(t.Shape) != len(b.Shape) || !slices.Equal(t.Stride, b.Stride) {
		return -1
	}
	dim := -1
	for i := range t.Shape {
		if t.Shape[i] == b.Shape[i] {
			continue
		}
		if dim >= 0 {
			return -1
		}
		dim = i
	}
	if dim >= 0 && (t.Stride[dim] == 0 || t.Offset%t.Stride[dim] != 0) {
		return -1
	}
	return dim
}

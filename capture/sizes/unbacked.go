package sizes

import (
	"errors"
	"slices"

	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// counted is a result of an operator whose results' sizes only the running program knows.
type counted struct {
	d    tensor.DType
	size []*Expr
}

// counter gives the count, a new symbol, of so many at most among the elements of a tensor of these sizes; nil => there is no most.
type counter func(most *Expr, of []*Expr) *Expr

// counting says what such operators give. ok is false for calls whose results are not known.
var counting = map[string]func(c *call, t *tensor.Tensor, n counter) (out []counted, ok bool){
	"nonzero": func(c *call, t *tensor.Tensor, n counter) ([]counted, bool) {
		return []counted{{tensor.Int64, []*Expr{n(symbolic.Mul(c.Size(t)...), c.Size(t)), symbolic.Int(int64(len(t.Shape)))}}}, true
	},
	"masked_select": func(c *call, t *tensor.Tensor, n counter) ([]counted, bool) {
		return []counted{{t.DType, []*Expr{n(symbolic.Mul(c.Size(t)...), c.Size(t))}}}, true
	},
	"index": masked,
	"repeat_interleave": func(c *call, t *tensor.Tensor, n counter) ([]counted, bool) {
		if len(c.args) < 2 || c.args[1] != nil || c.op.Name() != "aten.repeat_interleave.Tensor" {
			return nil, false
		}
		return []counted{{t.DType, []*Expr{n(nil, nil)}}}, true
	},
	"_unique2": func(c *call, t *tensor.Tensor, n counter) ([]counted, bool) {
		count := n(symbolic.Mul(c.Size(t)...), c.Size(t))
		return distinct(c, t, []*Expr{count}, c.Size(t), count, 2), true
	},
	"unique_dim": func(c *call, t *tensor.Tensor, n counter) ([]counted, bool) {
		d, ok := c.args[1].(int64)
		if !ok || len(t.Shape) == 0 {
			return nil, false
		}
		size := slices.Clone(c.Size(t))
		if d < 0 {
			d += int64(len(size))
		}
		along := size[d]
		count := n(along, size)
		size[d] = count
		return distinct(c, t, size, []*Expr{along}, count, 3), true
	},
}

// distinct are the results of unique: the values, where each comes to lie, how often each is there. The last two are empty where the arguments from at
// do not ask for them.
func distinct(c *call, t *tensor.Tensor, size, places []*Expr, count *Expr, at int) []counted {
	wanted := func(i int, size []*Expr) []*Expr {
		if on, _ := c.args[i].(bool); on {
			return size
		}
		return []*Expr{symbolic.Int(0)}
	}
	return []counted{{t.DType, size}, {tensor.Int64, wanted(at, places)}, {tensor.Int64, wanted(at+1, []*Expr{count})}}
}

// masked is indexing with one mask among the indices.
func masked(c *call, t *tensor.Tensor, n counter) ([]counted, bool) {
	l, _ := c.args[1].([]aten.Value)
	var mask *tensor.Tensor
	at := 0
	for i, x := range l {
		m, ok := x.(*tensor.Tensor)
		if !ok || m == nil {
			continue
		}
		if mask != nil || m.DType != tensor.Bool {
			return nil, false
		}
		mask, at = m, i
	}
	if mask == nil || at+len(mask.Shape) > len(t.Shape) {
		return nil, false
	}
	all := c.Size(t)
	for i, e := range c.Size(mask) {
		c.equal(e, all[at+i])
	}
	size := append(slices.Clone(all[:at]), n(symbolic.Mul(c.Size(mask)...), c.Size(mask)))
	return []counted{{t.DType, append(size, all[at+len(mask.Shape):]...)}}, true
}

// unbacked runs operators whose results' sizes only the running program knows.
func (c *call) unbacked() (aten.Value, bool, error) {
	rule := counting[c.op.Sig().Name]
	if rule == nil {
		return nil, false, nil
	}
	t, ok := c.args[0].(*tensor.Tensor)
	if !ok || t == nil {
		return nil, false, nil
	}
	var fresh *Expr
	outs, ok := rule(c, t, func(most *Expr, of []*Expr) *Expr {
		fresh = c.Env.Unbacked(true)
		// PyTorch bounds the count only where there is more than a little to count.
		if all := symbolic.Mul(of...); most != nil && most.Op == symbolic.OpInt && all.Op == symbolic.OpInt && all.Int > 2 {
			c.Env.Constrain(fresh.Name, symbolic.Range{Lo: 0, Hi: most.Int})
		}
		return fresh
	})
	if !ok {
		return nil, false, nil
	}
	var vals []aten.Value
	for _, o := range outs {
		shape := make([]int64, len(o.size))
		for i, e := range o.size {
			shape[i] = c.trial(e)
		}
		out := tensor.EmptyFake(o.d, shape, tensor.ContiguousStrides(shape))
		c.Set(out, o.size, nil)
		vals = append(vals, out)
	}
	if c.Fresh != nil {
		c.Fresh(fresh)
	}
	if len(vals) == 1 {
		return vals[0], true, c.err
	}
	return vals, true, c.err
}

// splits are the operators that cut a dimension into parts of given sizes.
var splits = map[string]bool{"split": true, "split_with_sizes": true, "unsafe_split_with_sizes": true, "split_with_sizes_copy": true}

// promise takes for granted, and leaves to be checked by the running program, what an operator wants of sizes that only that program knows: the parts
// of a split are counts, and together they are what is split.
func (c *call) promise() error {
	if !splits[c.op.Sig().Name] || len(c.args) < 2 {
		return nil
	}
	q := questions{c}
	parts, ok := q.Numbers(1)
	if !ok || !slices.ContainsFunc(parts, c.Env.Unknown) {
		return nil
	}
	size, d := q.Tensor(0), int64(0)
	if len(c.args) > 2 {
		d, ok = c.args[2].(int64)
	}
	if d < 0 {
		d += int64(len(size))
	}
	if !ok || d < 0 || d >= int64(len(size)) {
		return nil
	}
	for _, p := range parts {
		c.Env.MarkSize(p)
	}
	if _, err := c.Env.Assert(symbolic.Cmp(symbolic.OpEq, symbolic.Add(parts...), size[d])); err != nil {
		return err
	}
	c.Env.Share(size[d], parts)
	return nil
}

// parts runs a composite operator whose parts depend on data, part by part.
func (c *call) parts(err error) (aten.Value, bool, error) {
	var e *aten.Error
	if !c.Unbacked || c.op.Decomp == nil || c.op.Tags&aten.Composite == 0 || !errors.As(err, &e) || e.Kind != aten.DataDependentError {
		return nil, false, nil
	}
	v, err := aten.Decompose(each{c.Tracker}, c.op, c.plain(c.args, nil).([]aten.Value))
	return v, true, err
}

// each is a dispatcher that notes the sizes of what it runs on fake tensors.
type each struct{ *Tracker }

// Dispatch implements aten.Dispatcher.
func (k each) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	return k.Tracker.Dispatch(op, args, func(args []aten.Value) (aten.Value, error) { return aten.Fake.Dispatch(op, args) })
}

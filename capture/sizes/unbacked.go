package sizes

import (
	"slices"

	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// unbacked runs operators whose results' sizes only the running program knows.
func (c *call) unbacked() (aten.Value, bool, error) {
	t, ok := c.args[0].(*tensor.Tensor)
	if !ok || t == nil {
		return nil, false, nil
	}
	at, dt := 0, t.DType
	var size []*Expr
	counted := c.Size(t)
	count := func() *Expr {
		n := c.Env.Unbacked(true)
		// PyTorch bounds the count only where there is more than a little to count.
		if all := symbolic.Mul(counted...); all.Op == symbolic.OpInt && all.Int > 2 {
			c.Env.Constrain(n.Name, symbolic.Range{Lo: 0, Hi: all.Int})
		}
		return n
	}
	switch c.op.Sig().Name {
	case "nonzero":
		size, dt = []*Expr{count(), symbolic.Int(int64(len(t.Shape)))}, tensor.Int64
	case "masked_select":
		size = []*Expr{count()}
	case "index":
		l, _ := c.args[1].([]aten.Value)
		var mask *tensor.Tensor
		for i, x := range l {
			m, ok := x.(*tensor.Tensor)
			if !ok || m == nil {
				continue
			}
			if mask != nil || m.DType != tensor.Bool {
				return nil, false, nil
			}
			mask, at = m, i
		}
		if mask == nil || at+len(mask.Shape) > len(t.Shape) {
			return nil, false, nil
		}
		for i, e := range c.Size(mask) {
			c.equal(e, counted[at+i])
		}
		all := counted
		counted = c.Size(mask)
		size = append(slices.Clone(all[:at]), count())
		size = append(size, all[at+len(mask.Shape):]...)
	default:
		return nil, false, nil
	}
	shape := make([]int64, len(size))
	for i, e := range size {
		shape[i] = c.trial(e)
	}
	out := tensor.EmptyFake(dt, shape, tensor.ContiguousStrides(shape))
	c.Set(out, size, nil)
	if c.Fresh != nil {
		c.Fresh(out, at, size[at])
	}
	return out, true, c.err
}

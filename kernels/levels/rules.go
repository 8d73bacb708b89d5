package levels

import (
	"slices"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// A rule runs an operator on tensors with a hidden dimension at once; done is false where it leaves a call to the loop over the indices.
type rule func(c *call) (v aten.Value, done bool, err error)

// rules are those of operators that neither broadcast nor are views, and of views that are better told from their arguments.
var rules map[string]rule

func init() {
	rules = map[string]rule{
		"view.default": shaped("view.default"), "_unsafe_view.default": shaped("_unsafe_view.default"), "reshape.default": shaped("reshape.default"),
		"expand.default": expand, "permute.default": permute, "unsqueeze.default": unsqueeze,
		"squeeze.default": squeezeAll, "mm.default": product, "bmm.default": product, "addmm.default": plusProduct("aten.mm"), "baddbmm.default": plusProduct("aten.bmm"), "mv.default": mv, "dot.default": dot,
		"zeros_like.default": whole, "ones_like.default": whole, "full_like.default": whole, "empty_like.default": whole, "clone.default": whole, "_to_copy.default": whole,
		"detach.default": whole, "alias.default": whole, "contiguous.default": whole, "lift_fresh.default": whole,
		"new_zeros.default": fresh, "new_ones.default": fresh, "new_full.default": fresh, "new_empty.default": fresh,
		"cat.default": joined, "stack.default": joined,
		"_softmax.default": dims("dim"), "_log_softmax.default": dims("dim"), "cumsum.default": dims("dim"), "cumprod.default": dims("dim"), "flip.default": dims("dims"),
		"transpose.int": dims("dim0", "dim1"), "select.int": dims("dim"), "slice.Tensor": dims("dim"), "squeeze.dim": squeezeOne, "squeeze.dims": dims("dim"), "unbind.int": dims("dim"),
		"split.Tensor": dims("dim"), "split_with_sizes.default": dims("dim"), "chunk.default": dims("dim"), "diagonal.default": dims("dim1", "dim2"), "unfold.default": dims("dimension"),
		"sum.dim_IntList": dims("dim"), "mean.dim": dims("dim"), "amax.default": dims("dim"), "amin.default": dims("dim"), "prod.dim_int": dims("dim"), "any.dim": dims("dim"), "all.dim": dims("dim"),
		"max.dim": dims("dim"), "min.dim": dims("dim"), "argmax.default": dims("dim"), "argmin.default": dims("dim"), "logsumexp.default": dims("dim"), "var.correction": dims("dim"),
		"std.correction": dims("dim"), "var_mean.correction": dims("dim"), "linalg_vector_norm.default": dims("dim"), "sort.default": dims("dim"), "topk.default": dims("dim"),
		"t.default": transposed, "sum.default": reduced("sum.dim_IntList"), "mean.default": reduced("mean.dim"), "max.default": reduced("amax.default"), "min.default": reduced("amin.default"),
		"select_backward.default": backward, "slice_backward.default": backward, "diagonal_backward.default": backward,
	}
}

// single is the one tensor of a call, with its hidden dimension first.
func (c *call) single() (x *tensor.Tensor, rank int, ok bool, err error) {
	if len(c.tensors) != 1 || c.tensors[0].dim < 0 {
		return nil, 0, false, nil
	}
	x, err = c.front(c.tensors[0])
	return x, c.tensors[0].rank(), err == nil, err
}

// again runs the operator of the call, or another of its kind, with x in the place of its tensor and given arguments changed.
func (c *call) again(op *aten.Op, x *tensor.Tensor, change func(args []aten.Value)) (aten.Value, bool, error) {
	args, err := c.replaced(func(int, batch) (aten.Value, error) { return x, nil })
	if err != nil {
		return nil, false, err
	}
	if change != nil {
		change(args)
	}
	v, err := c.below().Dispatch(op, args)
	if err != nil {
		return nil, false, err
	}
	if op.Tags&aten.Inplace != 0 {
		return c.args[0], true, nil
	}
	return c.wrap(v, 0), true, nil
}

// whole is the rule of operators that do the same to every element.
func whole(c *call) (aten.Value, bool, error) {
	if len(c.tensors) != 1 || c.tensors[0].dim < 0 {
		return nil, false, nil
	}
	x, err := c.front(c.tensors[0]) // a layout that is asked for is that of what the program sees
	if err != nil {
		return nil, false, err
	}
	return c.again(c.op, x, nil)
}

// at is the position of an argument; -1 for none.
func (c *call) at(name string) int { return c.op.Sig().Arg(name) }

// shift is a dimension as it counts where the hidden one stands first.
func shift(d int64, rank int) int64 {
	if d < 0 {
		d += int64(rank)
	}
	return d + 1
}

// dims is the rule of operators that take dimensions by these arguments.
func dims(names ...string) rule {
	return func(c *call) (aten.Value, bool, error) {
		x, rank, ok, err := c.single()
		if !ok || rank == 0 {
			return nil, false, err
		}
		changed := true
		v, done, err := c.again(c.op, x, func(args []aten.Value) {
			for _, n := range names {
				i := c.at(n)
				if i < 0 {
					changed = false
					return
				}
				switch d := args[i].(type) {
				case int64:
					args[i] = shift(d, rank)
				case []aten.Value:
					out := make([]aten.Value, len(d))
					for k, e := range d {
						n, ok := e.(int64)
						if !ok {
							changed = false
							return
						}
						out[k] = shift(n, rank)
					}
					if len(d) == 0 {
						out = every(rank)
					}
					args[i] = out
				case nil:
					args[i] = every(rank)
					if _, list := c.op.Sig().Args[i].Default.([]aten.Value); !list && !c.op.Sig().Args[i].Type.List {
						changed = false // one over all dimensions: the loop does it
					}
				default:
					changed = false
				}
			}
		})
		if !changed {
			return nil, false, nil
		}
		return v, done, err
	}
}

// every are the dimensions behind the hidden one.
func every(rank int) []aten.Value {
	out := make([]aten.Value, rank)
	for i := range out {
		out[i] = int64(i + 1)
	}
	return out
}

// reduced is the rule of a reduction over all elements: the one of that name over all dimensions but the hidden one.
func reduced(name string) rule {
	return func(c *call) (aten.Value, bool, error) {
		x, rank, ok, err := c.single()
		if !ok {
			return nil, false, err
		}
		if rank == 0 {
			if x, err = c.one("unsqueeze.default", x, int64(1)); err != nil {
				return nil, false, err
			}
			rank = 1
		}
		op := aten.Lookup("aten." + name)
		kw := map[string]aten.Value{}
		if i := c.at("dtype"); i >= 0 && c.args[i] != nil {
			kw["dtype"] = c.args[i]
		}
		v, err := aten.CallOp(c.below(), op, []aten.Value{x, every(rank)}, kw)
		if err != nil {
			return nil, false, err
		}
		return c.wrap(v, 0), true, nil
	}
}

// shaped is the rule of operators that give the elements another shape.
func shaped(name string) rule {
	return func(c *call) (aten.Value, bool, error) {
		x, _, ok, err := c.single()
		if !ok {
			return nil, false, err
		}
		sizes, _ := c.args[1].([]aten.Value)
		v, err := c.one(name, x, append([]aten.Value{c.level().Size}, sizes...))
		if err != nil {
			return nil, false, err
		}
		return c.wrap(v, 0), true, nil
	}
}

func expand(c *call) (aten.Value, bool, error) {
	sizes, _ := c.args[1].([]aten.Value)
	if len(c.tensors) != 1 || c.tensors[0].dim < 0 {
		return nil, false, nil
	}
	x, err := c.aligned(c.tensors[0], len(sizes))
	if err != nil {
		return nil, false, err
	}
	return c.again(c.op, x, func(args []aten.Value) { args[1] = append([]aten.Value{c.level().Size}, sizes...) })
}

func permute(c *call) (aten.Value, bool, error) {
	x, rank, ok, err := c.single()
	if !ok {
		return nil, false, err
	}
	order := []aten.Value{int64(0)}
	given, _ := c.args[1].([]aten.Value)
	for _, d := range given {
		n, ok := d.(int64)
		if !ok {
			return nil, false, nil
		}
		order = append(order, shift(n, rank))
	}
	return c.again(c.op, x, func(args []aten.Value) { args[1] = order })
}

func transposed(c *call) (aten.Value, bool, error) {
	x, rank, ok, err := c.single()
	if !ok {
		return nil, false, err
	}
	if rank < 2 {
		v, err := c.one("alias.default", x)
		if err != nil {
			return nil, false, err
		}
		return c.wrap(v, 0), true, nil
	}
	v, err := c.one("transpose.int", x, int64(1), int64(2))
	if err != nil {
		return nil, false, err
	}
	return c.wrap(v, 0), true, nil
}

func unsqueeze(c *call) (aten.Value, bool, error) {
	x, rank, ok, err := c.single()
	d, isInt := c.args[1].(int64)
	if !ok || !isInt {
		return nil, false, err
	}
	return c.again(c.op, x, func(args []aten.Value) { args[1] = shift(d, rank+1) })
}

func squeezeAll(c *call) (aten.Value, bool, error) {
	x, rank, ok, err := c.single()
	if !ok {
		return nil, false, err
	}
	ds := []aten.Value{}
	for i := range rank {
		if x.Shape[i+1] == 1 {
			ds = append(ds, int64(i+1))
		}
	}
	v, err := c.one("squeeze.dims", x, ds)
	if err != nil {
		return nil, false, err
	}
	return c.wrap(v, 0), true, nil
}

func squeezeOne(c *call) (aten.Value, bool, error) {
	x, rank, ok, err := c.single()
	d, isInt := c.args[1].(int64)
	if !ok || !isInt || rank == 0 {
		return nil, false, err
	}
	v, err := c.one("squeeze.dims", x, []aten.Value{shift(d, rank)})
	if err != nil {
		return nil, false, err
	}
	return c.wrap(v, 0), true, nil
}

// plusProduct is the rule of what adds a product: beta*self + alpha*product, on the level itself.
func plusProduct(product string) rule {
	return func(c *call) (aten.Value, bool, error) {
		self, err := aten.Run(c.levelAt, "aten.mul.Scalar", c.args[0], c.args[c.at("beta")])
		if err != nil {
			return nil, false, err
		}
		p, err := aten.Run(c.levelAt, product, c.args[1], c.args[2])
		if err != nil {
			return nil, false, err
		}
		if alpha := c.args[c.at("alpha")]; alpha != int64(1) && alpha != 1.0 {
			if p, err = aten.Run(c.levelAt, "aten.mul.Scalar", p, alpha); err != nil {
				return nil, false, err
			}
		}
		v, err := aten.Run(c.levelAt, "aten.add.Tensor", self, p)
		return v, err == nil, err
	}
}

// product is the rule of matrix products: those of all indices are one product of stacks of matrices.
func product(c *call) (aten.Value, bool, error) {
	args, err := c.replaced(func(_ int, b batch) (aten.Value, error) { return c.front(b) })
	if err != nil {
		return nil, false, err
	}
	v, err := c.run("matmul.default", args...)
	if err != nil {
		return nil, false, err
	}
	return c.wrap(v, 0), true, nil
}

// mv is the rule of matrix times vector: one matrix takes all vectors as its columns.
func mv(c *call) (aten.Value, bool, error) {
	if one, v := c.tensors[0], c.tensors[1]; one.dim < 0 {
		columns := v.x
		if v.dim == 0 {
			var err error
			if columns, err = c.one("permute.default", v.x, []aten.Value{int64(1), int64(0)}); err != nil {
				return nil, false, err
			}
		}
		y, err := c.one("matmul.default", one.x, columns)
		return c.wrap(y, 1), err == nil, err
	}
	m, err := c.front(c.tensors[0])
	if err != nil {
		return nil, false, err
	}
	v, err := c.front(c.tensors[1])
	if err == nil {
		v, err = c.one("unsqueeze.default", v, int64(-1))
	}
	if err == nil {
		v, err = c.one("matmul.default", m, v)
	}
	if err == nil {
		v, err = c.one("squeeze.dim", v, int64(-1))
	}
	if err != nil {
		return nil, false, err
	}
	return c.wrap(v, 0), true, nil
}

func dot(c *call) (aten.Value, bool, error) {
	a, err := c.front(c.tensors[0])
	if err != nil {
		return nil, false, err
	}
	b, err := c.front(c.tensors[1])
	if err != nil || a.DType != b.DType {
		return nil, false, err
	}
	x, err := c.one("mul.Tensor", a, b)
	if err == nil {
		x, err = c.one("sum.dim_IntList", x, []aten.Value{int64(-1)})
	}
	if err != nil {
		return nil, false, err
	}
	return c.wrap(x, 0), true, nil
}

// fresh is the rule of tensors that are made like another one, of another shape.
func fresh(c *call) (aten.Value, bool, error) {
	x, _, ok, err := c.single()
	if !ok {
		return nil, false, err
	}
	sizes, _ := c.args[1].([]aten.Value)
	return c.again(c.op, x, func(args []aten.Value) { args[1] = append([]aten.Value{c.level().Size}, sizes...) })
}

// joined is the rule of operators that put a list of tensors together.
func joined(c *call) (aten.Value, bool, error) {
	rank := c.tensors[0].rank()
	for _, b := range c.tensors {
		if b.rank() != rank {
			return nil, false, nil
		}
	}
	args, err := c.replaced(func(_ int, b batch) (aten.Value, error) { return c.full(b) })
	if err != nil {
		return nil, false, err
	}
	d, ok := args[1].(int64)
	if !ok {
		return nil, false, nil
	}
	if c.op.Sig().Name == "stack" {
		rank++
	}
	args[1] = shift(d, rank)
	v, err := c.below().Dispatch(c.op, args)
	if err != nil {
		return nil, false, err
	}
	return c.wrap(v, 0), true, nil
}

// backward is the rule of the gradients of views, which are given the sizes of what was viewed.
func backward(c *call) (aten.Value, bool, error) {
	x, _, ok, err := c.single()
	if !ok {
		return nil, false, err
	}
	sizes, _ := c.args[1].([]aten.Value)
	rank := len(sizes)
	names := []string{"dim", "dim1", "dim2"}
	return c.again(c.op, x, func(args []aten.Value) {
		args[1] = append([]aten.Value{c.level().Size}, slices.Clone(sizes)...)
		for _, n := range names {
			if i := c.at(n); i >= 0 {
				if d, ok := args[i].(int64); ok {
					args[i] = shift(d, rank)
				}
			}
		}
	})
}

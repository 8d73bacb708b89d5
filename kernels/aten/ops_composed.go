package aten

import (
	"math"
	"slices"

	"whittle/kernels/tensor"
)

// Operators that PyTorch composes of others, and the norms of matrices.

func init() {
	segmentOps()
	gridOps()
	fractionalPools()
	ctcOps()
	histogramOps()
	gradients()
	products()
	matrixNorms()
}

func gradients() {
	along := func(c *Call, t *tensor.Tensor, d int64, spacing Value, order int64) Value {
		n := t.Shape[d]
		part := func(x Value, from, len int64) Value { return must(c.via("narrow", x, d, from, len)) }
		sub := func(a, b Value) Value { return must(c.via("sub.Tensor", a, b)) }
		add := func(a, b Value) Value { return must(c.via("add.Tensor", a, b)) }
		mul := func(a, b Value) Value { return must(c.via("mul.Tensor", a, b)) }
		div := func(a, b Value) Value { return must(c.via("div.Tensor", a, b)) }
		var edges [2]Value
		var middle Value
		if coords, ok := spacing.(*tensor.Tensor); ok {
			dx := must(c.via("diff", coords, int64(1), int64(0)))
			shape := fill(nil, t.Dim(), 1)
			shape[d] = n - 2
			cut := func(from, len int64) Value {
				return must(c.via("slice.Tensor", dx, int64(0), from, from+len, int64(1)))
			}
			a, b := must(c.via("reshape", cut(0, n-2), ints(shape))), must(c.via("reshape", cut(1, n-2), ints(shape)))
			sum := add(a, b)
			l := div(must(c.via("neg", b)), mul(a, sum))
			m := div(sub(b, a), mul(a, b))
			r := div(a, mul(b, sum))
			middle = add(add(mul(l, part(t, 0, n-2)), mul(m, part(t, 1, n-2))), mul(r, part(t, 2, n-2)))
			one := func(i int64) Value { return must(c.via("select.int", dx, int64(0), i)) }
			if order == 1 {
				edges[0] = div(sub(part(t, 1, 1), part(t, 0, 1)), one(0))
				edges[1] = div(sub(part(t, n-1, 1), part(t, n-2, 1)), one(n-2))
			} else {
				first := func(p, q Value, x, y, z Value, last bool) Value {
					s := add(p, q)
					var u, v, w Value
					if !last {
						u = div(must(c.via("neg", add(add(p, p), q))), mul(p, s))
						v = div(s, mul(p, q))
						w = div(must(c.via("neg", p)), mul(q, s))
					} else {
						u = div(q, mul(p, s))
						v = div(must(c.via("neg", s)), mul(p, q))
						w = div(add(add(q, q), p), mul(q, s))
					}
					return add(add(mul(u, x), mul(v, y)), mul(w, z))
				}
				edges[0] = first(one(0), one(1), part(t, 0, 1), part(t, 1, 1), part(t, 2, 1), false)
				edges[1] = first(one(n-3), one(n-2), part(t, n-3, 1), part(t, n-2, 1), part(t, n-1, 1), true)
			}
		} else {
			h := Value(1.0)
			if spacing != nil {
				h = spacing
			}
			twice := Value(2 * toFloat(h))
			middle = div(sub(part(t, 2, n-2), part(t, 0, n-2)), twice)
			if order == 1 {
				edges[0] = div(sub(part(t, 1, 1), part(t, 0, 1)), h)
				edges[1] = div(sub(part(t, n-1, 1), part(t, n-2, 1)), h)
			} else {
				three := func(a, b, e float64, at int64) Value {
					return div(add(add(mul(part(t, at, 1), a), mul(part(t, at+1, 1), b)), mul(part(t, at+2, 1), e)), h)
				}
				edges[0] = three(-1.5, 2, -0.5, 0)
				edges[1] = three(0.5, -2, 1.5, n-3)
			}
		}
		for _, v := range []Value{edges[0], middle, edges[1]} {
			if e, ok := v.(error); ok {
				return e
			}
		}
		return must(c.via("cat", []Value{edges[0], middle, edges[1]}, d))
	}
	comp("gradient.scalarint gradient.scalararray gradient.array gradient.scalarrayint gradient.scalarrayarray gradient.tensorarrayint gradient.tensorarray", func(c *Call) (Value, error) {
		t := c.T(0)
		order := toInt(c.opt("edge_order"))
		var dims []int64
		switch v := c.opt("dim").(type) {
		case int64:
			dims = []int64{v}
		case []Value:
			dims = toInts(v)
		default:
			for d := range t.Shape {
				dims = append(dims, int64(d))
			}
		}
		if order != 1 && order != 2 {
			return nil, errf("torch.gradient only supports edge_order=1 and edge_order=2.")
		}
		spacing := c.opt("spacing")
		per, isList := spacing.([]Value)
		if isList && len(per) != len(dims) && len(per) != 1 {
			return nil, errf("torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'dim' or its rank, but got a list of length %d", len(per))
		}
		mask, err := wrapDims(dims, t.Dim(), false)
		if err != nil {
			return nil, err
		}
		_ = mask
		out := []Value{}
		for i, d := range dims {
			d, err := wrapDim(d, int64(t.Dim()))
			if err != nil {
				return nil, err
			}
			if t.Dim() == 0 || t.Shape[d] < order+1 {
				return nil, errf("torch.gradient expected each dimension size to be at least edge_order+1")
			}
			h := spacing
			if isList {
				h = per[min(i, len(per)-1)]
			}
			if x, ok := h.(*tensor.Tensor); ok && x.Dim() == 0 {
				if x.Fake {
					return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
				}
				h = x.Item()
			}
			v := along(c, t, d, h, order)
			if e, ok := v.(error); ok {
				return nil, e
			}
			out = append(out, v)
		}
		return out, nil
	})
}

func products() {
	comp("combinations", func(c *Call) (Value, error) {
		t, r := c.T(0), c.I(1)
		if t.Dim() != 1 {
			return nil, errf("Expect a 1D vector, but got shape %s", tensor.ShapeText(t.Shape))
		}
		if r < 0 {
			return nil, errf("Expect a non-negative number, but got %d", r)
		}
		if r == 0 {
			return c.via("empty.memory_format", ints([]int64{0}), t.DType)
		}
		if r == 1 {
			return c.via("stack", []Value{t}, int64(1))
		}
		at := must(c.via("arange", t.Shape[0]))
		var values, places, out []Value
		for range r {
			values, places = append(values, t), append(places, at)
		}
		grids, _ := must(c.via("meshgrid.indexing", places, "ij")).([]Value)
		ascending := "lt.Tensor"
		if c.B(2) {
			ascending = "le.Tensor"
		}
		var mask Value
		for i := range max(len(grids)-1, 0) {
			in := must(c.via(ascending, grids[i], grids[i+1]))
			if mask != nil {
				in = must(c.via("logical_and", mask, in))
			}
			mask = in
		}
		grids, _ = must(c.via("meshgrid.indexing", values, "ij")).([]Value)
		for _, g := range grids {
			v, err := c.via("masked_select", g, mask)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return c.via("stack", out, int64(1))
	})
	def("_trilinear", func(c *Call) (Value, error) {
		if v, ok := c.contracted(); ok {
			return v, nil
		}
		var prod Value
		for i := range 3 {
			v := Value(c.T(i))
			for _, d := range c.Ints(3 + i) {
				v = must(c.do("unsqueeze", v, d))
			}
			if prod == nil {
				prod = v
			} else {
				prod = must(c.do("mul.Tensor", prod, v))
			}
		}
		return c.do("sum.dim_IntList", prod, c.Args[6])
	})
	comp("bilinear", func(c *Call) (Value, error) {
		a, b, w := c.T(0), c.T(1), c.T(2)
		if a.DType != b.DType || a.DType != w.DType {
			return nil, errf("All tensors must have the same dtype, got input1: %s, input2: %s, weight: %s", lName(a.DType), lName(b.DType), lName(w.DType))
		}
		if a.Dim() != b.Dim() || a.Dim() < 1 || w.Dim() != 3 {
			return nil, errf("bilinear(): input dimensions do not match: got %d and %d", a.Dim(), b.Dim())
		}
		lead := a.Shape[:a.Dim()-1]
		if !slices.Equal(lead, b.Shape[:b.Dim()-1]) {
			return nil, errf("bilinear(): input batch dimensions do not match")
		}
		if x := a.Shape[a.Dim()-1]; x != w.Shape[1] {
			return nil, errf("bilinear(): input1 size does not match weight size: got %d but expected %d", x, w.Shape[1])
		}
		if x := b.Shape[b.Dim()-1]; x != w.Shape[2] {
			return nil, errf("bilinear(): input2 size does not match weight size: got %d but expected %d", x, w.Shape[2])
		}
		if bias := c.T(3); bias != nil && (bias.Dim() != 1 || bias.Shape[0] != w.Shape[0]) {
			return nil, errf("bilinear(): bias size does not match weight size: got %s but expected %d", tensor.ShapeText(bias.Shape), w.Shape[0])
		}
		n := tensor.Numel(lead)
		flat := func(t *tensor.Tensor) Value {
			return must(c.via("reshape", t, ints([]int64{n, t.Shape[t.Dim()-1]})))
		}
		v := must(c.via("_trilinear", flat(a), w, flat(b), ints([]int64{1, 3}), ints([]int64{0}), ints([]int64{1, 2}), ints([]int64{2, 3})))
		v = must(c.via("reshape", v, ints(append(slices.Clone(lead), w.Shape[0]))))
		if c.None(3) {
			return c.must2(v)
		}
		return c.via("add.Tensor", v, c.Args[3])
	})
}

func matrixNorms() {
	// moved puts the two dimensions of the matrices last.
	moved := func(c *Call, dims []int64) (*tensor.Tensor, error) {
		t := c.T(0)
		var perm []int64
		mask, err := wrapDims(dims, t.Dim(), false)
		if err != nil {
			return nil, err
		}
		for d := range t.Shape {
			if !mask[d] {
				perm = append(perm, int64(d))
			}
		}
		for _, d := range dims {
			w, _ := wrapDim(d, int64(t.Dim()))
			perm = append(perm, w)
		}
		return c.viaT("permute", t, ints(perm))
	}
	check := func(c *Call, dims []int64) error {
		t := c.T(0)
		if t.Dim() < 2 {
			return errf("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
		}
		if !t.DType.IsFloat() && !isComplex(t) {
			return errf("linalg.matrix_norm: Expected a floating point or complex tensor as input. Got %s", cName(t.DType))
		}
		if len(dims) != 2 {
			return errf("linalg.matrix_norm: dim must be a 2-tuple. Got %s", tensor.ShapeText(dims))
		}
		a, err := wrapDim(dims[0], int64(t.Dim()))
		if err != nil {
			return err
		}
		b, err := wrapDim(dims[1], int64(t.Dim()))
		if err != nil {
			return err
		}
		if a == b {
			return errf("linalg.matrix_norm: dims must be different. Got (%d, %d)", dims[0], dims[1])
		}
		return nil
	}
	// spectral reduces the singular values of the matrices.
	spectral := func(c *Call, dims []int64, keep bool, how func(s Value) Value) (Value, error) {
		m, err := moved(c, dims)
		if err != nil {
			return nil, err
		}
		x := Value(m)
		if d, ok := c.opt("dtype").(tensor.DType); ok {
			x = must(c.via("to.dtype", x, d))
		}
		v := how(must(c.via("linalg_svdvals", x, nil)))
		if keep {
			n := int64(c.T(0).Dim())
			a, _ := wrapDim(dims[0], n)
			b, _ := wrapDim(dims[1], n)
			v = must(c.via("unsqueeze", v, min(a, b)))
			v = must(c.via("unsqueeze", v, max(a, b)))
		}
		return c.must2(v)
	}
	last := ints([]int64{-1})
	comp("linalg_matrix_norm", func(c *Call) (Value, error) {
		ord, dims, keep := c.F(1), c.Ints(2), c.B(3)
		if err := check(c, dims); err != nil {
			return nil, err
		}
		t := c.T(0)
		switch math.Abs(ord) {
		case 2:
			return spectral(c, dims, keep, func(s Value) Value {
				if ord > 0 {
					return must(c.via("amax", s, last))
				}
				return must(c.via("amin", s, last))
			})
		case 1, math.Inf(1):
			a, _ := wrapDim(dims[0], int64(t.Dim()))
			b, _ := wrapDim(dims[1], int64(t.Dim()))
			if math.Abs(ord) != 1 {
				a, b = b, a
			}
			if !keep && b > a {
				b--
			}
			s := must(c.via("linalg_vector_norm", t, 1.0, ints([]int64{a}), keep, c.opt("dtype")))
			op := "amax"
			if ord < 0 {
				op = "amin"
			}
			return c.via(op, s, ints([]int64{b}), keep)
		}
		return nil, errf("linalg.matrix_norm: Order %s not supported.", valueText(c.Args[1]))
	})
	comp("linalg_matrix_norm.str_ord", func(c *Call) (Value, error) {
		dims, keep := c.Ints(2), c.B(3)
		if err := check(c, dims); err != nil {
			return nil, err
		}
		switch c.Str(1) {
		case "fro":
			return c.via("linalg_vector_norm", c.Args[0], 2.0, c.Args[2], c.Args[3], c.opt("dtype"))
		case "nuc":
			return spectral(c, dims, keep, func(s Value) Value { return must(c.via("sum.dim_IntList", s, last)) })
		}
		return nil, errf("linalg.matrix_norm: Order %s not supported.", c.Str(1))
	})
	norm := func(c *Call, matrix string) (Value, error) {
		t := c.T(0)
		dims := c.Args[2]
		if !c.None(2) {
			if n := len(c.Ints(2)); n != 1 && n != 2 && !c.None(1) {
				return nil, errf("linalg.norm: If dim is specified, it must be of length 1 or 2. Got %s", tensor.ShapeText(c.Ints(2)))
			}
		} else if !c.None(1) {
			if t.Dim() != 1 && t.Dim() != 2 {
				return nil, errf("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got %dD.", t.Dim())
			}
			if t.Dim() == 2 {
				dims = ints([]int64{0, 1})
			}
		}
		if l, _ := dims.([]Value); !c.None(1) && len(l) == 2 {
			return c.via(matrix, t, c.Args[1], dims, c.Args[3], c.opt("dtype"))
		}
		if s, ok := c.Args[1].(string); ok {
			if s != "fro" && s != "nuc" {
				return nil, errf("linalg.norm: Order %s not supported.", s)
			}
			return c.via(matrix, t, c.Args[1], dims, c.Args[3], c.opt("dtype"))
		}
		p := Value(2.0)
		if !c.None(1) {
			p = c.Args[1]
		}
		return c.via("linalg_vector_norm", t, p, dims, c.Args[3], c.opt("dtype"))
	}
	comp("linalg_norm", func(c *Call) (Value, error) { return norm(c, "linalg_matrix_norm") })
	comp("linalg_norm.ord_str", func(c *Call) (Value, error) { return norm(c, "linalg_matrix_norm.str_ord") })
}

// contracted is _trilinear of real numbers as two products of matrices, so that what the three operands are together is never in memory.
func (c *Call) contracted() (*tensor.Tensor, bool) {
	if !c.real || !c.T(0).DType.IsFloat() || c.T(0).Numel() == 0 || c.T(1).Numel() == 0 || c.T(2).Numel() == 0 {
		return nil, false
	}
	beneath := *c
	beneath.Dispatch = c.sub()
	var ts [3]*tensor.Tensor
	for i := range ts {
		ts[i] = c.T(i)
		for _, d := range c.Ints(3 + i) {
			var err error
			if ts[i], err = c.doT("unsqueeze", ts[i], d); err != nil {
				return nil, false
			}
		}
	}
	rank := ts[0].Dim()
	if ts[1].Dim() != rank || ts[2].Dim() != rank || len(c.Ints(6)) == 0 || slices.ContainsFunc(c.Ints(6), func(d int64) bool { return d < 0 || d >= int64(rank) }) {
		return nil, false // the general way words what is wrong
	}
	for d := range rank {
		n := max(ts[0].Shape[d], ts[1].Shape[d], ts[2].Shape[d])
		for _, t := range ts {
			if t.Shape[d] != n && t.Shape[d] != 1 {
				return nil, false
			}
		}
	}
	first, second := []int64{}, []int64{} // what is summed over with the second operand, and with the third
	for _, d := range c.Ints(6) {
		if ts[2].Shape[d] == 1 {
			first = append(first, d)
		} else {
			second = append(second, d)
		}
	}
	v, err := sumproduct(&beneath, ts[0], ts[1], first)
	if err == nil {
		v, err = sumproduct(&beneath, v, ts[2], second)
	}
	if err != nil {
		return nil, false
	}
	var shape []int64
	for d, s := range v.Shape {
		if !slices.Contains(c.Ints(6), int64(d)) {
			shape = append(shape, s)
		}
	}
	w := v.Contiguous()
	return tensor.NewView(w, shape, tensor.ContiguousStrides(shape), w.Offset), true
}

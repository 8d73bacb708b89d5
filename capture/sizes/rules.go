package sizes

import (
	"math"
	"strings"

	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// rule gives the sizes of an operator's results, nil when it does not know.
type rule func(c *call) [][]*Expr

func ruleOf(op *aten.Op) rule {
	s := op.Sig()
	if r := rules[s.Name+"."+s.Overload]; r != nil {
		return r
	}
	if r := rules[s.Name]; r != nil {
		return r
	}
	if op.Tags&aten.Inplace != 0 {
		if r := rules[strings.TrimSuffix(s.Name, "_")]; r != nil || op.Tags&aten.Pointwise != 0 {
			return inplace
		}
	}
	if op.Tags&aten.Pointwise != 0 {
		return pointwise
	}
	return nil
}

var rules = map[string]rule{
	"where": pointwise, "masked_fill": pointwise, "lerp": pointwise, "copy_": inplace, "fill_": inplace, "zero_": inplace, "masked_fill_": inplace,
	"mm":     func(c *call) [][]*Expr { return c.product(c.T(0), c.T(1)) },
	"bmm":    func(c *call) [][]*Expr { return c.product(c.T(0), c.T(1)) },
	"matmul": func(c *call) [][]*Expr { return c.product(c.T(0), c.T(1)) },
	"mv":     func(c *call) [][]*Expr { return c.product(c.T(0), c.T(1)) },
	"dot":    func(c *call) [][]*Expr { return c.product(c.T(0), c.T(1)) },
	"linear": func(c *call) [][]*Expr {
		w := c.T(1)
		if len(w) != 2 {
			return nil
		}
		return c.product(c.T(0), []*Expr{w[1], w[0]})
	},
	"addmm":   func(c *call) [][]*Expr { return c.product(c.T(1), c.T(2)) },
	"baddbmm": func(c *call) [][]*Expr { return c.product(c.T(1), c.T(2)) },
	"cat":     cat, "concat": cat, "concatenate": cat, "stack": stack,
	"slice.Tensor": slice, "select.int": selectInt, "narrow": narrow, "split.Tensor": split, "split": split, "chunk": chunk, "unbind": unbind, "unbind.int": unbind,
	"view": view, "reshape": view, "_unsafe_view": view, "flatten": flatten, "unflatten": unflatten, "expand": expand, "repeat": repeat,
	"zeros": factory(0), "ones": factory(0), "empty": factory(0), "rand": factory(0), "randn": factory(0), "full": factory(0),
	"new_zeros": factory(1), "new_ones": factory(1), "new_empty": factory(1), "new_full": factory(1), "arange": arange, "arange.start": arange, "arange.start_step": arange,
	"index.Tensor": index, "embedding": func(c *call) [][]*Expr { return [][]*Expr{append(clip(c.T(1)), c.T(0)[1:]...)} },
	"gather":   func(c *call) [][]*Expr { return [][]*Expr{c.T(2)} },
	"diagonal": diagonal, "topk": topk, "sort": sameSizes(2), "argsort": sameSizes(1), "cummax": sameSizes(2), "cummin": sameSizes(2),
	"cross_entropy_loss": crossEntropy, "nll_loss": crossEntropy, "nll_loss_nd": crossEntropy,
	"mse_loss": elementLoss, "l1_loss": elementLoss, "smooth_l1_loss": elementLoss, "huber_loss": elementLoss, "binary_cross_entropy": elementLoss,
	"binary_cross_entropy_with_logits": elementLoss, "kl_div": elementLoss, "soft_margin_loss": elementLoss,
	"conv1d":     conv,
	"conv2d":     conv,
	"conv3d":     conv,
	"max_pool1d": pool(1, 2, 3, 4, 5),
	"max_pool2d": pool(1, 2, 3, 4, 5),
	"max_pool3d": pool(1, 2, 3, 4, 5),
	"avg_pool1d": pool(1, 2, 3, -1, 4),
	"avg_pool2d": pool(1, 2, 3, -1, 4),
	"avg_pool3d": pool(1, 2, 3, -1, 4),
}

func clip(s []*Expr) []*Expr { return append([]*Expr(nil), s...) }

func one(s []*Expr) [][]*Expr { return [][]*Expr{s} }

var (
	zero = symbolic.Int(0)
	unit = symbolic.Int(1)
)

// pointwise results have the broadcast of all tensors' sizes.
func pointwise(c *call) [][]*Expr {
	var out []*Expr
	first := true
	for _, a := range c.args {
		t, ok := a.(*tensor.Tensor)
		if !ok || t == nil {
			continue
		}
		if first {
			out, first = c.Size(t), false
			continue
		}
		out = c.broadcast(out, c.Size(t))
	}
	return one(out)
}

func inplace(c *call) [][]*Expr {
	out := c.T(0)
	for _, a := range c.args[1:] {
		if t, ok := a.(*tensor.Tensor); ok && t != nil {
			c.broadcast(out, c.Size(t))
		}
	}
	return one(out)
}

// broadcast asks, from the last dimension on, whether one of two sizes is 1, and makes them equal otherwise.
func (c *call) broadcast(a, b []*Expr) []*Expr {
	n := max(len(a), len(b))
	out := make([]*Expr, n)
	for i := n - 1; i >= 0; i-- {
		x, y := unit, unit
		if k := i - n + len(a); k >= 0 {
			x = a[k]
		}
		if k := i - n + len(b); k >= 0 {
			y = b[k]
		}
		switch {
		case c.equal(x, unit):
			out[i] = y
		case c.equal(y, unit):
			out[i] = x
		default:
			c.equal(x, y)
			out[i] = x
		}
	}
	return out
}

// product is the matrix product of two sizes.
func (c *call) product(a, b []*Expr) [][]*Expr {
	switch {
	case len(a) == 0 || len(b) == 0:
		return nil
	case len(a) == 1 && len(b) == 1:
		c.equal(a[0], b[0])
		return one([]*Expr{})
	case len(b) == 1:
		c.equal(a[len(a)-1], b[0])
		return one(clip(a[:len(a)-1]))
	case len(a) == 1:
		c.equal(a[0], b[len(b)-2])
		return one(append(clip(b[:len(b)-2]), b[len(b)-1]))
	}
	batch := c.broadcast(a[:len(a)-2], b[:len(b)-2])
	c.equal(a[len(a)-1], b[len(b)-2])
	return one(append(batch, a[len(a)-2], b[len(b)-1]))
}

// list is the sizes of the tensors of list argument i.
func (c *call) list(i int) [][]*Expr {
	l, _ := c.args[i].([]aten.Value)
	var out [][]*Expr
	for _, x := range l {
		t, ok := x.(*tensor.Tensor)
		if !ok || t == nil {
			return nil
		}
		out = append(out, c.Size(t))
	}
	return out
}

func cat(c *call) [][]*Expr {
	parts := c.list(0)
	var kept [][]*Expr
	for _, p := range parts {
		if !(len(p) == 1 && p[0].Op == symbolic.OpInt && p[0].Int == 0) { // an empty vector fits everywhere
			kept = append(kept, p)
		}
	}
	if len(kept) == 0 || len(kept[0]) == 0 {
		return nil
	}
	d := c.dim(1, len(kept[0]))
	out := clip(kept[0])
	for _, p := range kept[1:] {
		if len(p) != len(out) {
			return nil
		}
		for i := range p {
			if i == d {
				out[i] = symbolic.Add(out[i], p[i])
			} else {
				c.equal(out[i], p[i])
			}
		}
	}
	return one(out)
}

func stack(c *call) [][]*Expr {
	parts := c.list(0)
	if len(parts) == 0 {
		return nil
	}
	for _, p := range parts[1:] {
		if len(p) != len(parts[0]) {
			return nil
		}
		for i := range p {
			c.equal(parts[0][i], p[i])
		}
	}
	d := c.dim(1, len(parts[0])+1)
	out := append(clip(parts[0][:d]), symbolic.Int(int64(len(parts))))
	return one(append(out, parts[0][d:]...))
}

// slice asks what PyTorch asks when it normalises the ends of a slice.
func slice(c *call) [][]*Expr {
	out := clip(c.T(0))
	d := c.dim(1, len(out))
	n := out[d]
	bound := func(i int, def *Expr) *Expr {
		if c.args[i] == nil {
			return def
		}
		return c.I(i)
	}
	start, end, step := bound(2, zero), bound(3, symbolic.Int(math.MaxInt64)), bound(4, unit)
	less := func(a, b *Expr) bool { return c.decide(symbolic.Cmp(symbolic.OpLt, a, b)) }
	more := func(a, b *Expr) bool {
		if a.IsConst() {
			return c.decide(symbolic.Cmp(symbolic.OpLt, b, a))
		}
		return c.decide(symbolic.Cmp(symbolic.OpGt, a, b))
	}
	if less(start, zero) {
		start = symbolic.Add(start, n)
	}
	last := end.Op == symbolic.OpInt && end.Int == math.MaxInt64
	if !last && less(end, zero) {
		end = symbolic.Add(end, n)
	}
	switch {
	case less(start, zero):
		start = zero
	case more(start, n):
		start = n
	}
	switch {
	case last:
		end = n
	case less(end, start):
		end = start
	case more(end, n):
		end = n
	}
	length := symbolic.Sub(end, start)
	if step.Op != symbolic.OpInt || step.Int != 1 {
		length = symbolic.FloorDiv(symbolic.Add(length, step, symbolic.Int(-1)), step)
	}
	out[d] = length
	return one(out)
}

func selectInt(c *call) [][]*Expr {
	s := c.T(0)
	d := c.dim(1, len(s))
	i := c.I(2)
	if c.err == nil {
		// index < size and -size <= index, as one question that narrows nothing.
		q := symbolic.Cmp(symbolic.OpGt, s[d], i)
		if h := c.trial(i); h < 0 {
			q = symbolic.Cmp(symbolic.OpGt, s[d], symbolic.Sub(symbolic.Int(-1), i))
		}
		c.err = c.Env.Require(q)
	}
	return one(append(clip(s[:d]), s[d+1:]...))
}

func narrow(c *call) [][]*Expr {
	s := clip(c.T(0))
	d := c.dim(1, len(s))
	if c.I(2) == nil || c.I(3) == nil {
		return nil
	}
	c.decide(symbolic.Cmp(symbolic.OpLe, symbolic.Add(c.I(2), c.I(3)), s[d]))
	s[d] = c.I(3)
	return one(s)
}

func (c *call) pieces(d int, size *Expr) [][]*Expr {
	s := c.T(0)
	n := c.fixed(symbolic.FloorDiv(symbolic.Add(s[d], size, symbolic.Int(-1)), size))
	if c.err != nil || n <= 0 || n > 1<<16 {
		return nil
	}
	var out [][]*Expr
	for i := int64(0); i < n; i++ {
		p := clip(s)
		p[d] = size
		if i == n-1 {
			p[d] = symbolic.Sub(s[d], symbolic.Mul(size, symbolic.Int(n-1)))
			c.decide(symbolic.Cmp(symbolic.OpGe, p[d], zero))
		}
		out = append(out, p)
	}
	return out
}

func split(c *call) [][]*Expr {
	if c.I(1) == nil {
		return nil
	}
	return c.pieces(c.dim(2, len(c.T(0))), c.I(1))
}

func chunk(c *call) [][]*Expr {
	d := c.dim(2, len(c.T(0)))
	n := c.fixed(c.I(1))
	return c.pieces(d, symbolic.FloorDiv(symbolic.Add(c.T(0)[d], symbolic.Int(n-1)), symbolic.Int(n)))
}

func unbind(c *call) [][]*Expr {
	s := c.T(0)
	d := c.dim(1, len(s))
	n := c.fixed(s[d])
	var out [][]*Expr
	for range n {
		out = append(out, append(clip(s[:d]), s[d+1:]...))
	}
	return out
}

// infer puts the size that -1 stands for in its place.
func (c *call) infer(shape []*Expr, numel *Expr) []*Expr {
	shape = clip(shape)
	at, rest := -1, unit
	for i, e := range shape {
		if e.Op == symbolic.OpInt && e.Int == -1 {
			at = i
		} else {
			rest = symbolic.Mul(rest, e)
		}
	}
	if at >= 0 {
		c.same(symbolic.Mod(numel, rest), zero)
		shape[at] = symbolic.FloorDiv(numel, rest)
	} else {
		c.same(numel, rest)
	}
	return shape
}

// view asks, dimension by dimension, how old sizes are merged and split into new ones.
func view(c *call) [][]*Expr {
	old, shape := clip(c.T(0)), c.Ints(1)
	if shape == nil {
		return nil
	}
	return c.viewTo(old, c.infer(shape, symbolic.Mul(old...)))
}

// viewTo asks for the way from old sizes to new ones with the same number of elements.
func (c *call) viewTo(old, shape []*Expr) [][]*Expr {
	if c.err != nil || len(old) == 0 || len(shape) <= 1 {
		return one(shape)
	}
	k := 0
	for i, n := range shape {
		if c.err != nil || i == len(shape)-1 && k == len(old)-1 {
			break // the last one fits by the number of elements
		}
		if k >= len(old) {
			break
		}
		if c.same(n, old[k]) {
			k++
			continue
		}
		acc, end := old[k], k
		for !c.same(symbolic.Mod(acc, n), zero) && c.err == nil {
			if end++; end >= len(old) {
				return one(shape)
			}
			acc = symbolic.Mul(acc, old[end])
		}
		for _, e := range old[k:end] {
			c.same(e, unit)
		}
		tail := old[end+1:]
		if c.same(acc, n) {
			old = append(append(clip(old[:k]), n), tail...)
		} else {
			old = append(append(clip(old[:k]), n, symbolic.FloorDiv(acc, n)), tail...)
		}
		k++
	}
	return one(shape)
}

func flatten(c *call) [][]*Expr {
	s := c.T(0)
	if len(s) == 0 {
		return one([]*Expr{unit})
	}
	if _, ok := c.args[1].(int64); !ok {
		return nil
	}
	a, b := c.dim(1, len(s)), c.dim(2, len(s))
	if b < a {
		return nil
	}
	return one(append(append(clip(s[:a]), symbolic.Mul(s[a:b+1]...)), s[b+1:]...))
}

func unflatten(c *call) [][]*Expr {
	s, sizes := c.T(0), c.Ints(2)
	if sizes == nil {
		return nil
	}
	d := c.dim(1, len(s))
	sizes = c.infer(sizes, s[d])
	shape := append(append(clip(s[:d]), sizes...), s[d+1:]...)
	c.same(symbolic.Mul(s...), symbolic.Mul(shape...))
	return c.viewTo(clip(s), shape)
}

func expand(c *call) [][]*Expr {
	s, out := c.T(0), clip(c.Ints(1))
	if len(out) < len(s) {
		return nil
	}
	for i := range s {
		k := len(out) - len(s) + i
		if out[k].Op == symbolic.OpInt && out[k].Int == -1 {
			out[k] = s[i]
			continue
		}
		if !c.same(out[k], s[i]) {
			c.same(s[i], unit)
		}
	}
	return one(out)
}

func repeat(c *call) [][]*Expr {
	s, by := c.T(0), c.Ints(1)
	if len(by) < len(s) {
		return nil
	}
	out := clip(by)
	for i := range s {
		k := len(by) - len(s) + i
		out[k] = symbolic.Mul(by[k], s[i])
	}
	return one(out)
}

func factory(arg int) rule {
	return func(c *call) [][]*Expr {
		s := c.Ints(arg)
		if s == nil {
			return nil
		}
		for _, e := range s {
			c.Env.MarkSize(e)
		}
		return one(s)
	}
}

// arange counts from start to end by step.
func arange(c *call) [][]*Expr {
	start, step := zero, unit
	end := c.I(0)
	if c.op.Sig().Arg("start") == 0 {
		start, end = c.I(0), c.I(1)
		if i := c.op.Sig().Arg("step"); i >= 0 && c.I(i) != nil {
			step = c.I(i)
		}
	}
	if start == nil || end == nil || step.Op != symbolic.OpInt || step.Int <= 0 {
		return nil
	}
	n := symbolic.Sub(end, start)
	if step.Int != 1 {
		n = symbolic.FloorDiv(symbolic.Add(n, symbolic.Int(step.Int-1)), step)
	}
	return one([]*Expr{n})
}

// sameSizes is the rule of operators whose n results are like their first argument.
func sameSizes(n int) rule {
	return func(c *call) [][]*Expr {
		out := make([][]*Expr, n)
		for i := range out {
			out[i] = c.T(0)
		}
		return out
	}
}

// diagonal is as long as the shorter of two dimensions, once an offset is taken off one of them.
func diagonal(c *call) [][]*Expr {
	s := c.T(0)
	offset, ok := c.args[1].(int64)
	if !ok || len(s) < 2 {
		return nil
	}
	i, j := c.dim(2, len(s)), c.dim(3, len(s))
	a, b := s[i], s[j]
	if offset >= 0 {
		b = symbolic.Sub(b, symbolic.Int(offset))
	} else {
		a = symbolic.Add(a, symbolic.Int(offset))
	}
	if c.decide(symbolic.Cmp(symbolic.OpLt, b, a)) {
		a = b
	}
	if c.decide(symbolic.Cmp(symbolic.OpLt, a, zero)) {
		a = zero
	}
	var out []*Expr
	for k, e := range s {
		if k != i && k != j {
			out = append(out, e)
		}
	}
	return one(append(out, a))
}

func topk(c *call) [][]*Expr {
	s := clip(c.T(0))
	k := c.I(1)
	if len(s) == 0 || k == nil {
		return nil
	}
	d := c.dim(2, len(s))
	c.decide(symbolic.Cmp(symbolic.OpLe, k, s[d]))
	s[d] = k
	return [][]*Expr{s, s}
}

// reduced is whether a loss is one number, and not one for each element.
func (c *call) reduced() bool {
	i := c.op.Sig().Arg("reduction")
	if i < 0 {
		return false
	}
	n, ok := c.args[i].(int64)
	return ok && n != 0
}

// crossEntropy compares scores, whose second dimension counts classes, with classes.
func crossEntropy(c *call) [][]*Expr {
	x, t := c.T(0), c.T(1)
	if len(x) == 0 {
		return nil
	}
	out := clip(t)
	switch {
	case len(t) == len(x)-1 && len(x) == 1:
	case len(t) == len(x)-1:
		rest := append(clip(x[:1]), x[2:]...)
		for i := range t {
			c.equal(rest[i], t[i])
		}
	case len(t) == len(x): // probabilities of the classes
		for i := range t {
			c.equal(x[i], t[i])
		}
		if len(x) == 1 {
			out = nil
		} else {
			out = append(clip(t[:1]), t[2:]...)
		}
	default:
		return nil
	}
	if c.reduced() {
		out = nil
	}
	return one(out)
}

// elementLoss compares element by element.
func elementLoss(c *call) [][]*Expr {
	out := c.broadcast(c.T(0), c.T(1))
	if c.reduced() {
		out = nil
	}
	return one(out)
}

// index gathers by tensors: their broadcast size takes the place of the indexed dimensions, in front if those are not neighbours.
func index(c *call) [][]*Expr {
	s := c.T(0)
	l, _ := c.args[1].([]aten.Value)
	var at []int
	var shape []*Expr
	first := true
	for i, x := range l {
		t, ok := x.(*tensor.Tensor)
		if !ok || t == nil {
			continue
		}
		if t.DType == tensor.Bool || t.DType == tensor.UInt8 || i >= len(s) {
			return nil
		}
		at = append(at, i)
		if first {
			shape, first = c.Size(t), false
		} else {
			shape = c.broadcast(shape, c.Size(t))
		}
	}
	if len(at) == 0 {
		return nil
	}
	var out []*Expr
	if at[len(at)-1]-at[0] == len(at)-1 {
		out = append(append(clip(s[:at[0]]), shape...), s[at[len(at)-1]+1:]...)
	} else {
		out = clip(shape)
		for i, e := range s {
			indexed := false
			for _, k := range at {
				indexed = indexed || k == i
			}
			if !indexed {
				out = append(out, e)
			}
		}
	}
	return one(out)
}

// window is the number of places of a window of size k in n.
func window(n, pad *Expr, k, dilation, stride *Expr) *Expr {
	span := symbolic.Add(symbolic.Mul(dilation, symbolic.Sub(k, unit)), unit)
	return symbolic.Add(symbolic.FloorDiv(symbolic.Sub(symbolic.Add(n, symbolic.Mul(symbolic.Int(2), pad)), span), stride), unit)
}

func pick(l []*Expr, i int, def *Expr) *Expr {
	switch {
	case i < len(l):
		return l[i]
	case len(l) == 1:
		return l[0]
	}
	return def
}

func conv(c *call) [][]*Expr {
	x, w := c.T(0), c.T(1)
	n := len(w) - 2
	stride, pad, dil := c.Ints(3), c.Ints(4), c.Ints(5)
	if len(x) != len(w) || stride == nil || pad == nil || dil == nil {
		return nil
	}
	if g, ok := c.args[6].(int64); ok {
		c.equal(x[1], symbolic.Mul(w[1], symbolic.Int(g)))
	}
	out := []*Expr{x[0], w[0]}
	for i := range n {
		out = append(out, window(x[2+i], pick(pad, i, zero), w[2+i], pick(dil, i, unit), pick(stride, i, unit)))
	}
	return one(out)
}

// pool is a rule for windows whose kernel, stride, padding, dilation and ceil mode are arguments; -1 for none.
func pool(kernel, stride, pad, dilation, ceil int) rule {
	return func(c *call) [][]*Expr {
		x, k, s, p := c.T(0), c.Ints(kernel), c.Ints(stride), c.Ints(pad)
		var dil []*Expr
		if dilation >= 0 {
			dil = c.Ints(dilation)
		}
		if up, _ := c.args[ceil].(bool); up || len(k) == 0 {
			return nil
		}
		if len(s) == 0 {
			s = k
		}
		n := len(k)
		if len(x) < n {
			return nil
		}
		out := clip(x)
		for i := range n {
			d := len(x) - n + i
			st := pick(s, i, unit)
			out[d] = window(x[d], pick(p, i, zero), pick(k, i, unit), pick(dil, i, unit), st)
			if st.Op != symbolic.OpInt || st.Int != 1 {
				span := symbolic.Sub(x[d], symbolic.Mul(pick(dil, i, unit), symbolic.Sub(pick(k, i, unit), unit)))
				c.same(symbolic.Mod(symbolic.Add(span, symbolic.Int(-1), symbolic.Mul(symbolic.Int(2), pick(p, i, zero))), st), zero)
			}
		}
		return one(out)
	}
}

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
		size = append(clip(all[:at]), count())
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

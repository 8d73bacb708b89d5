package minify

import (
	"slices"
	"strconv"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/sizes/relations"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// rules say how the sizes of results come from those of arguments, over products of variables.
var rules = relations.NewTable[size]()

// related is a call of a graph as rules see it (relations.Call). Capture asks the same rules with expressions of symbols, and gets the sizes of a
// result and the guards on them. Here the sizes are known, and the answer that is wanted is which of them hang together: so comparing two
// sizes that are equal makes them one, and arithmetic that products of variables cannot express gives a size that is free.
//
// Integers in arguments that are sizes, as in view(16, 32), are variables with a place (slot) until a rule equates them with a dimension: then
// they are written anew when it changes.
type related struct {
	*extents
	n      *fx.Node
	op     *aten.Op
	args   []argument // as the schema counts them
	listed bool       // the sizes of the result are a list among the arguments
}

var _ relations.Call[size] = (*related)(nil)

// argument is a value with its place in the call; a list has places for its elements.
type argument struct {
	val fx.Arg
	at  place
	els []place
}

// results are the dimensions of a call's results by the rule of its operator; nil when there is none, or it does not know.
func (e *extents) results(n *fx.Node) [][]size {
	c := e.bind(n)
	if c == nil {
		return nil
	}
	if rule := rules.Of(c.op); rule != nil {
		return rule(c)
	}
	return nil
}

// bind finds the operator that a node calls, and puts its arguments into the order of the schema. Functions of torch and methods are
// taken for the first overload of that name which the arguments fit, or else the first that has a place for each: many functions of
// torch.nn.functional are like an operator but for their last arguments.
func (e *extents) bind(n *fx.Node) *related {
	if n.Op == fx.CallModule {
		return nil
	}
	if op := n.Operator(); op != nil {
		if args, ok := e.fit(n, op.Sig(), true); ok {
			return &related{extents: e, n: n, op: op, args: args}
		}
		return nil
	}
	packet := aten.Packet("aten", opName(n))
	for _, exact := range []bool{true, false} {
		for _, op := range packet {
			if args, ok := e.fit(n, op.Sig(), exact); ok {
				if op.Sig().Name == "embedding" && strings.Contains(n.Target, "functional") { // embedding(input, weight)
					args[0], args[1] = args[1], args[0]
				}
				return &related{extents: e, n: n, op: op, args: args}
			}
		}
	}
	return nil
}

// fit binds a node's arguments to a schema, as Python would; sizes may stand one by one, as in x.view(2, 3). When it need not be exact, arguments
// may be missing, and names unknown.
func (e *extents) fit(n *fx.Node, sig *aten.Schema, exact bool) ([]argument, bool) {
	out := make([]argument, len(sig.Args))
	given := make([]bool, len(sig.Args))
	for i := 0; i < len(n.Args); i++ {
		if i >= len(sig.Args) || sig.Args[i].KwOnly {
			return nil, false
		}
		a := argument{val: n.Args[i], at: place{node: n.Name, arg: i, elem: -1}}
		ty := sig.Args[i].Type
		given[i] = true
		if ty.List && ty.Base != "Tensor" && e.whole(a.val) { // integers one by one
			end := i + 1
			for ty.Size == 0 && end < len(n.Args) && e.whole(n.Args[end]) {
				end++
			}
			list := fx.List{}
			for j := i; j < end; j++ {
				list = append(list, n.Args[j])
				a.els = append(a.els, place{node: n.Name, arg: j, elem: -1})
			}
			a.val = list
			out[i] = a
			if end > i+1 {
				if end < len(n.Args) {
					return nil, false
				}
				break
			}
			continue
		}
		if !e.fits(sig.Args[i], a.val) {
			return nil, false
		}
		out[i] = a.spread()
	}
	for _, kw := range n.Kwargs {
		i := sig.Arg(kw.Name)
		if kw.Name == "input" && i < 0 {
			i = 0
		}
		if i < 0 || i >= len(out) || given[i] || !e.fits(sig.Args[i], kw.Val) {
			if exact {
				return nil, false
			}
			continue
		}
		given[i] = true
		out[i] = argument{val: kw.Val, at: place{node: n.Name, kw: kw.Name, elem: -1}}.spread()
	}
	for i, a := range sig.Args {
		switch {
		case given[i]:
		case a.HasDefault:
			out[i] = argument{val: a.Default}
		case exact && !a.Type.Optional:
			return nil, false
		}
	}
	return out, true
}

// spread gives the elements of a list their places.
func (a argument) spread() argument {
	if l, ok := asList(a.val); ok {
		for j := range l {
			at := a.at
			at.elem = j
			a.els = append(a.els, at)
		}
	}
	return a
}

// whole reports whether an argument is an integer.
func (e *extents) whole(a fx.Arg) bool {
	switch a := a.(type) {
	case int64:
		return true
	case *fx.Node:
		_, ok := e.nums[a]
		return ok
	}
	return false
}

// fits reports whether an argument of a schema may be a.
func (e *extents) fits(arg aten.Arg, a fx.Arg) bool {
	_, list := asList(a)
	n, node := a.(*fx.Node)
	number := node && e.whole(n)
	switch ty := arg.Type; {
	case a == nil:
		return ty.Optional || arg.HasDefault
	case ty.List:
		return list || node && !number
	case list:
		return false
	case ty.Base == "Tensor":
		return node && !number
	case ty.Base == "int" || ty.Base == "SymInt":
		_, symbol := a.(fx.SymInt)
		return symbol || e.whole(a)
	case ty.Base == "bool":
		_, ok := a.(bool)
		return ok
	case ty.Base == "ScalarType":
		_, ok := a.(tensor.DType)
		return ok
	}
	return !node || number
}

func (c *related) Schema() *aten.Schema { return c.op.Sig() }

func (c *related) Tensor(i int) []size { return c.of(c.args[i].val) }

func (c *related) Tensors(i int) []relations.Tensor[size] {
	l, _ := asList(c.args[i].val)
	out := make([]relations.Tensor[size], len(l))
	for j, a := range l {
		if ds := c.of(a); ds != nil {
			out[j] = relations.Tensor[size]{Given: true, Size: ds, DType: c.dtypes[a.(*fx.Node)]}
		}
	}
	return out
}

func (c *related) Operands() [][]size {
	var out [][]size
	for _, a := range c.args {
		if ds := c.of(a.val); ds != nil {
			out = append(out, ds)
		}
	}
	return out
}

func (c *related) Number(i int) (size, bool) { return c.number(c.args[i].val) }

func (c *related) number(a fx.Arg) (size, bool) {
	switch a := a.(type) {
	case int64:
		return c.Const(a), true
	case *fx.Node:
		s, ok := c.nums[a]
		return s, ok
	}
	return nil, false
}

func (c *related) Numbers(i int) ([]size, bool) {
	l, ok := listed(c.args[i].val)
	out := make([]size, len(l))
	for j, a := range l {
		s, is := c.number(a)
		out[j], ok = s, ok && is
	}
	return out, ok
}

// extent is an integer that stands at a place and is a size: a variable, until a rule says which size it is.
func (c *related) extent(a fx.Arg, at place) (size, bool) {
	if n, ok := a.(int64); ok && n > 1 && at.node != "" {
		s := c.free(n)
		c.slots = append(c.slots, slot{at, n, s})
		return s, true
	}
	return c.number(a)
}

func (c *related) Extent(i int) (size, bool) { return c.extent(c.args[i].val, c.args[i].at) }

func (c *related) Extents(i int) ([]size, bool) {
	c.listed = true
	l, ok := listed(c.args[i].val)
	out := make([]size, len(l))
	for j, a := range l {
		at := place{}
		if j < len(c.args[i].els) {
			at = c.args[i].els[j]
		}
		s, is := c.extent(a, at)
		out[j], ok = s, ok && is
	}
	return out, ok
}

// listed are the elements of a list among a node's arguments, or a default.
func listed(a fx.Arg) ([]fx.Arg, bool) {
	if l, ok := a.([]aten.Value); ok {
		return l, true
	}
	return asList(a)
}

func (c *related) Literal(i int) any {
	switch v := c.args[i].val.(type) {
	case int64, bool:
		return v
	}
	l, ok := listed(c.args[i].val)
	out := make([]int64, len(l))
	for j, a := range l {
		n, is := a.(int64)
		out[j], ok = n, ok && is
	}
	if !ok {
		return nil
	}
	return out
}

func (c *related) Const(n int64) size {
	if n == 1 {
		return nil
	}
	if s, ok := c.consts[n]; ok {
		return s
	}
	s := c.fix(n)
	c.consts[n] = s
	return s
}

func (c *related) Constant(s size) (int64, bool) {
	s = c.roots(s)
	for _, v := range s {
		if c.sizes[v] != 0 && !slices.Equal(c.consts[c.sizes[v]], size{v}) {
			return 0, false
		}
	}
	return c.value(s), true
}

func (c *related) Value(s size) int64 { return c.value(s) }

// Add and Sub follow sizes only where nothing is added: x + 0 is x, and a sum is free.
func (c *related) Add(s ...size) size {
	sum, at := int64(0), -1
	for i, x := range s {
		if n := c.value(x); n != 0 {
			if sum += n; at >= 0 {
				return c.free(c.total(s))
			}
			at = i
		}
	}
	if at < 0 {
		return c.Const(0)
	}
	return s[at]
}

func (c *related) total(s []size) int64 {
	n := int64(0)
	for _, x := range s {
		n += c.value(x)
	}
	return n
}

func (c *related) Sub(a, b size) size {
	if c.value(b) == 0 {
		return a
	}
	return c.free(c.value(a) - c.value(b))
}

func (c *related) Mul(s ...size) size {
	var out size
	for _, x := range s {
		out = append(out, x...)
	}
	return out
}

func (c *related) Div(a, b size) size {
	if len(b) == 0 {
		return a
	}
	if n := c.value(b); n > 0 {
		return c.free(c.value(a) / n)
	}
	return c.free(0)
}

func (c *related) Rest(a, b size) size {
	if n := c.value(b); n > 0 {
		return c.free(c.value(a) % n)
	}
	return c.Const(0)
}

// Ask makes sizes equal that are compared and are equal: whatever the question, they change together.
func (c *related) Ask(r relations.Relation, a, b size) bool {
	c.equate(a, b) // which looks at the values
	return r.Holds(c.value(a), c.value(b))
}

func (c *related) Require(relations.Relation, size, size) {}

func (c *related) Fix(s size) int64 {
	n := c.value(s)
	c.equate(s, c.fix(n))
	return n
}

func (c *related) Multiple(a, b size) {
	n, k := c.value(a), c.value(b)
	switch {
	case k <= 1:
	case n == k:
		c.equate(a, b)
	case n > k && n%k == 0:
		c.equate(c.split(a, []int64{k, n / k})[0], c.fix(k))
	}
}

func (c *related) Infer(shape []size, count size) []size {
	rest, at := int64(1), -1
	for i, s := range shape {
		if n := c.value(s); n == -1 {
			at = i
		} else {
			rest *= n
		}
	}
	if at < 0 {
		return shape
	}
	shape = slices.Clone(shape)
	shape[at] = nil
	if rest > 0 {
		shape[at] = c.free(c.value(count) / rest)
	}
	return shape
}

func (c *related) SameCount([]size, []size) {}

// Regroup follows view and reshape: from the left it takes old dimensions and new ones until their products are equal, and takes the product of the
// old ones apart into the new ones: [2, 8, 32] as [16, 32] is (2*8) and (32).
func (c *related) Regroup(old, shape []size) []size {
	to := c.shape(shape)
	out := make([]size, 0, len(to))
	i := 0
	for j := 0; j < len(to); {
		var group size
		in, res := int64(1), to[j]
		end := j + 1
		for in != res {
			switch {
			case in < res && i < len(old):
				group = append(group, old[i]...)
				in *= c.value(old[i])
				i++
			case in > res && end < len(to):
				res *= to[end]
				end++
			default:
				return shape
			}
		}
		out = append(out, c.split(group, to[j:end])...)
		j = end
	}
	for j := range out {
		c.equate(shape[j], out[j])
	}
	return out
}

// most is how many parts are followed.
const most = 1 << 10

// Pieces follows split and chunk. A dimension that divides becomes a product of the number of parts, which stays, and of their size: so the parts
// shrink together. The last part of one that does not divide is free.
func (c *related) Pieces(s, part size) []size {
	n, k := c.value(s), c.value(part)
	if k <= 0 || n > k*most {
		return nil
	}
	count := max((n+k-1)/k, 1)
	switch {
	case count == 1:
		return []size{s}
	case n == count*k:
		parts := slices.Repeat([]size{part}, int(count))
		c.Sum(s, parts)
		return parts
	}
	return append(slices.Repeat([]size{part}, int(count-1)), c.free(n-(count-1)*k))
}

// Sum follows parts of one size.
func (c *related) Sum(s size, parts []size) {
	count := int64(len(parts))
	for _, p := range parts {
		if c.value(p)*count != c.value(s) {
			return
		}
	}
	if count < 2 {
		return
	}
	factors := c.split(s, []int64{count, c.value(parts[0])})
	c.equate(factors[0], c.fix(count))
	for _, p := range parts {
		c.equate(p, factors[1])
	}
}

// Window follows pooling and convolution where they keep the size, as with a kernel of 3 and a padding of 1. Other sizes of windows are free.
func (c *related) Window(n, pad, kernel, dilation, stride size) size {
	step := c.value(stride)
	if step <= 0 {
		return n
	}
	places := (c.value(n)+2*c.value(pad)-c.value(dilation)*(c.value(kernel)-1)-1)/step + 1
	if places == c.value(n) {
		return n
	}
	return c.free(places)
}

func (c *related) Mark(dim int, s size) {
	if len(s) != 1 || c.label[s[0]] != "" || !c.loose[s[0]] || c.def[s[0]] != nil {
		return
	}
	delete(c.loose, s[0])
	name := c.n.Name
	if c.listed {
		name += "." + strconv.Itoa(dim)
	}
	c.call(s[0], name)
}

package aot

import (
	"container/heap"
	"math"
	"sort"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// farAway is the distance of a value that no backward operator reads.
const farAway = 1_000_000_000

// longChain is how many forward operators a chain of fusible ones may span before it is cut.
const longChain = 100

// A cutter chooses the forward values to save. Mirrors solve_min_cut of torch/_functorch/partitioners.py.
type cutter struct {
	g     *fx.Graph
	users map[*fx.Node][]*fx.Node
	index map[*fx.Node]int
	fw    map[*fx.Node]bool // computed by the forward pass in any case
	bw    map[*fx.Node]bool // depends on a tangent, or is a gradient
	order map[*fx.Node]int  // position among the forward nodes
	dist  map[*fx.Node]int  // steps to the nearest node that only the backward pass computes
	ban   map[*fx.Node]bool // never computed again
	lost  map[*fx.Node]bool // overwritten when the forward pass ends
}

// lostWeight is more than all else that a graph could save.
const lostWeight = 1e15

// nodeHeap yields nodes in forward order; flag belongs to the caller.
type nodeHeap []struct {
	order int
	n     *fx.Node
	flag  bool
}

func (h nodeHeap) Len() int           { return len(h) }
func (h nodeHeap) Less(a, b int) bool { return h[a].order < h[b].order }
func (h nodeHeap) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }

// Push implements heap.Interface.
func (h *nodeHeap) Push(x any) {
	*h = append(*h, x.(struct {
		order int
		n     *fx.Node
		flag  bool
	}))
}

// Pop implements heap.Interface.
func (h *nodeHeap) Pop() any {
	l := *h
	x := l[len(l)-1]
	*h = l[:len(l)-1]
	return x
}

func (h *nodeHeap) add(order int, n *fx.Node, flag bool) {
	heap.Push(h, struct {
		order int
		n     *fx.Node
		flag  bool
	}{order, n, flag})
}

func (h *nodeHeap) next() (*fx.Node, bool) {
	x := heap.Pop(h).(struct {
		order int
		n     *fx.Node
		flag  bool
	})
	return x.n, x.flag
}

// saved returns the values that cross from forward to backward, in graph order.
func (c *cutter) saved() []*fx.Node {
	c.measure()
	c.ban = map[*fx.Node]bool{}
	for _, n := range c.g.Nodes {
		if n.Op == fx.Placeholder && !c.bw[n] || c.fw[n] && c.expensive(n) {
			c.keep(n)
		}
	}
	c.banFarApart()
	c.banLongChains()

	inf := math.Inf(1)
	f := newFlow(2*len(c.g.Nodes) + 2)
	src, sink := 2*len(c.g.Nodes), 2*len(c.g.Nodes)+1
	in := func(n *fx.Node) int { return 2 * c.index[n] }
	out := func(n *fx.Node) int { return 2*c.index[n] + 1 }
	for _, n := range c.g.Nodes {
		if n.Op == fx.Output {
			continue
		}
		if c.bw[n] {
			if n.Op != fx.Placeholder || IsTangent(n) {
				f.edge(in(n), sink, inf)
				continue
			}
			f.edge(out(n), sink, inf) // an input that is its own gradient
		}
		if c.ban[n] {
			f.edge(src, in(n), inf)
		}
		f.edge(in(n), out(n), c.weight(n))
		for _, u := range c.users[n] {
			if u.Op != fx.Output {
				f.edge(out(n), in(u), inf)
			}
		}
	}
	feeds := f.cut(src, sink)
	var saved []*fx.Node
	for _, n := range c.g.Nodes {
		if n.Op != fx.Output && !feeds[in(n)] && feeds[out(n)] && !(c.bw[n] && IsTangent(n)) {
			saved = append(saved, n)
		}
	}
	sort.SliceStable(saved, func(a, b int) bool { return c.index[saved[a]] < c.index[saved[b]] })
	return saved
}

// measure fills order and dist.
func (c *cutter) measure() {
	c.order, c.dist = map[*fx.Node]int{}, map[*fx.Node]int{}
	for _, n := range c.g.Nodes {
		if c.fw[n] {
			c.order[n] = len(c.order)
		}
	}
	for i := len(c.g.Nodes) - 1; i >= 0; i-- {
		n := c.g.Nodes[i]
		switch {
		case n.Op == fx.Output:
			c.dist[n] = farAway
		case !c.fw[n]:
			c.dist[n] = 0
		default:
			d := farAway
			for _, u := range c.users[n] {
				d = min(d, c.dist[u]+1)
			}
			c.dist[n] = d
		}
	}
}

// again reports whether the program asks for n to be computed again: it lies in a checkpointed region, and no later region
// takes it up.
func (c *cutter) again(n *fx.Node) bool {
	region := regionOf(n)
	if region == 0 {
		return false
	}
	for _, u := range c.users[n] {
		if regionOf(u) > region {
			return false
		}
	}
	return true
}

// keep forbids computing n again. Views cost nothing and stay free.
func (c *cutter) keep(n *fx.Node) {
	if !views[packet(n)] && !c.again(n) {
		c.ban[n] = true
	}
}

// weight is what saving n costs: its bytes, more the further it is from its use, twice when it would not be in memory otherwise.
func (c *cutter) weight(n *fx.Node) float64 {
	if c.again(n) {
		return math.Inf(1)
	}
	switch n.Val.(type) {
	case *tensor.Tensor:
	case int64, bool, fx.SymInt:
		return 1
	default:
		return math.Inf(1) // several results are saved one by one; a float is not saved
	}
	if c.lost[n] {
		return lostWeight
	}
	w := math.Trunc(size(n.Val) * math.Pow(1.1, float64(max(min(c.dist[n], 100), 1))))
	if n.Op == fx.Placeholder {
		return w
	}
	for _, u := range c.users[n] {
		if !fusible(n, u) {
			return w
		}
	}
	return 2 * w
}

// expensive says whether a forward value is not worth computing twice.
func (c *cutter) expensive(n *fx.Node) bool {
	if n.Op != fx.CallFunction || n.Target == "operator.getitem" || n.Target == "aten.lift_fresh_copy.default" || n.Target == "aten.lift_fresh.default" {
		return false
	}
	if regionOf(n) > 0 && !c.again(n) || !recomputable(n) || c.materialisedBackward(n) {
		return true
	}
	// A reduction that shrinks its input a lot is cheap to keep.
	ins := 0.0
	for _, a := range n.Args {
		if i, ok := a.(*fx.Node); ok {
			ins += size(i.Val)
		}
	}
	return size(n.Val)*4 < ins
}

// materialisedBackward reports whether a backward operator needs n in memory anyway, directly or behind views:
// then computing it again saves nothing.
func (c *cutter) materialisedBackward(n *fx.Node) bool {
	if views[packet(n)] {
		return false
	}
	for todo := []*fx.Node{n}; len(todo) > 0; {
		cur := todo[0]
		todo = todo[1:]
		for _, u := range c.users[cur] {
			if !c.fw[u] && !fusible(cur, u) {
				return true
			}
			if views[packet(u)] {
				todo = append(todo, u)
			}
		}
	}
	return false
}

// banFarApart keeps values computed from one that is also used before something that ends a fusion:
// both uses would hardly end up in one loop.
func (c *cutter) banFarApart() {
	for _, n := range c.g.Nodes {
		if !c.fw[n] {
			continue
		}
		var us []*fx.Node
		last := -1
		for _, u := range c.users[n] {
			if c.fw[u] {
				us = append(us, u)
				last = max(last, c.order[u])
			}
		}
		if len(us) == 0 {
			continue
		}
		first := c.firstUnfusible(us, last)
		for _, u := range us {
			if c.order[u] > first && fusible(n, u) && !c.ban[u] {
				c.keep(u)
			}
		}
	}
}

// firstUnfusible walks forward from start and returns the position of the first node that cannot be fused with what leads to it.
func (c *cutter) firstUnfusible(start []*fx.Node, limit int) int {
	var h nodeHeap
	for _, n := range start {
		h.add(c.order[n], n, true)
	}
	seen := map[*fx.Node]bool{}
	for h.Len() > 0 {
		n, ok := h.next()
		if !ok {
			return c.order[n]
		}
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, u := range c.users[n] {
			if c.fw[u] && c.order[u] <= limit {
				h.add(c.order[u], u, fusible(n, u))
			}
		}
	}
	return limit
}

// banLongChains cuts long chains of cheap operators, such as a residual stream through a whole model.
func (c *cutter) banLongChains() {
	visited := map[*fx.Node]bool{}
	for _, start := range c.g.Nodes {
		if !c.fw[start] {
			continue
		}
		var h nodeHeap
		h.add(c.order[start], start, true)
		for h.Len() > 0 {
			cur, _ := h.next()
			if visited[cur] {
				continue
			}
			visited[cur] = true
			if c.order[cur] > c.order[start]+longChain && h.Len() == 0 {
				c.keep(cur)
				break
			}
			for _, u := range c.users[cur] {
				if c.fw[u] && fusible(cur, u) && !c.ban[u] {
					h.add(c.order[u], u, true)
				}
			}
		}
	}
}

// IsTangent reports whether a node is the placeholder of a gradient that comes in.
func IsTangent(n *fx.Node) bool {
	return n.Op == fx.Placeholder && strings.HasPrefix(n.Target, "tangents_")
}

// cheap holds the operators that may be computed again: the pointwise ones of PyTorch 2.6, and some more.
var cheap = names(`aten.__and__ aten.__lshift__ aten.__or__ aten.__rshift__ aten.__xor__ aten._grad_sum_to_size aten._to_copy aten._unsafe_view aten.abs
	aten.acos aten.acosh aten.add aten.addcdiv aten.addcmul aten.alias aten.amax aten.angle aten.any aten.arange aten.argmax aten.as_strided
	aten.asin aten.asinh aten.atan aten.atan2 aten.atanh aten.bitwise_and aten.bitwise_left_shift aten.bitwise_not aten.bitwise_or
	aten.bitwise_right_shift aten.bitwise_xor aten.broadcast_tensors aten.ceil aten.celu aten.clamp aten.clamp_max aten.clamp_min aten.clip
	aten.clone aten.conj_physical aten.copysign aten.cos aten.cosh aten.deg2rad aten.digamma aten.div aten.elu aten.empty aten.empty_like
	aten.eq aten.erf aten.erfc aten.erfinv aten.exp aten.exp2 aten.expand aten.expm1 aten.floor aten.fmax aten.fmin aten.fmod aten.frac
	aten.frexp aten.full aten.full_like aten.gather aten.gcd aten.ge aten.gelu aten.gelu_backward aten.gt aten.hardshrink aten.hardsigmoid
	aten.hardtanh aten.heaviside aten.hypot aten.i0 aten.igamma aten.igammac aten.index aten.isfinite aten.isinf aten.isnan aten.isneginf
	aten.isposinf aten.lcm aten.le aten.lerp aten.lgamma aten.lift_fresh_copy aten.log aten.log10 aten.log1p aten.log2 aten.logaddexp
	aten.logaddexp2 aten.logical_and aten.logical_not aten.logical_or aten.logical_xor aten.logit aten.logit_backward aten.lt aten.masked_fill
	aten.max aten.maximum aten.mean aten.min aten.minimum aten.mish aten.mul aten.mvlgamma aten.nan_to_num aten.native_dropout_backward aten.ne
	aten.neg aten.new_zeros aten.nextafter aten.ones aten.permute aten.polygamma aten.positive aten.pow aten.rad2deg aten.reciprocal aten.relu
	aten.relu6 aten.remainder aten.reshape aten.round aten.rrelu aten.rsqrt aten.rsub aten.scalar_tensor aten.select aten.selu aten.sgn
	aten.sigmoid aten.sigmoid_backward aten.sign aten.signbit aten.silu aten.silu_backward aten.sin aten.sinc aten.sinh aten.slice aten.softplus
	aten.softshrink aten.special_entr aten.special_erfcx aten.special_i0e aten.special_i1 aten.special_i1e aten.special_log_ndtr
	aten.special_ndtri aten.special_xlog1py aten.special_zeta aten.sqrt aten.square aten.squeeze aten.std aten.sub aten.sum aten.sum_to_size
	aten.t aten.tan aten.tanh aten.tanh_backward aten.threshold aten.threshold_backward aten.to aten.triu aten.true_divide aten.trunc
	aten.type_as aten.unsqueeze aten.var aten.var_mean aten.view aten.where aten.xlogy aten.zeros aten.zeros_like
	prims._low_memory_max_pool2d_offsets_to_indices prims.broadcast_in_dim prims.convert_element_type prims.div prims.iota prims.sum prims.var
	operator.getitem operator.add operator.sub operator.mul operator.floordiv operator.truediv operator.mod operator.neg operator.pow
	operator.eq operator.ne operator.lt operator.le operator.gt operator.ge operator.and_ operator.or_ math.ceil math.floor math.trunc
	torch.sym_float torch.sym_ite torch.sym_max torch.sym_min torch.sym_not`)

// views are computed again for free.
var views = names(`aten.squeeze aten.unsqueeze aten.alias aten.view aten.slice aten.t prims.broadcast_in_dim aten.expand aten.as_strided aten.permute aten.select`)

// recomputable says whether n is cheap enough to run again in the backward pass.
func recomputable(n *fx.Node) bool { return n.Op == fx.CallFunction && cheap[packet(n)] }

// fusible reports whether a and its user b can become one loop.
func fusible(a, b *fx.Node) bool {
	return packet(b) == "aten.cat" || inLoop(a) && inLoop(b)
}

func inLoop(n *fx.Node) bool {
	switch packet(n) {
	case "aten.native_dropout", "aten.rand_like", "aten.randn_like":
		return true
	}
	return recomputable(n)
}

func names(s string) map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(s) {
		m[f] = true
	}
	return m
}

// packet is an operator's name without its overload.
func packet(n *fx.Node) string {
	if strings.HasPrefix(n.Target, "operator.") {
		return n.Target
	}
	if i := strings.LastIndex(n.Target, "."); i > 0 {
		return n.Target[:i]
	}
	return n.Target
}

// size is how many bytes keeping a value costs.
func size(v any) float64 {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil {
			return 0
		}
		return float64(tensor.Numel(v.Shape)) * float64(v.DType.Size())
	case []aten.Value:
		s := 0.0
		for _, x := range v {
			s += size(x)
		}
		return s
	}
	return 0
}

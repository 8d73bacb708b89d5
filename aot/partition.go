package aot

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Parts is a partitioned joint graph.
type Parts struct {
	Forward  *fx.GraphModule // outputs: mutated inputs, outputs, then Saved
	Backward *fx.GraphModule // inputs: Saved, then tangents; outputs: one gradient or None per forward input
	Saved    int
}

// partition splits the joint graph where the fewest bytes have to be kept: a min-cut over the values that
// cross from forward to backward. Cheap pointwise work is recomputed rather than saved.
// Follows min_cut_rematerialization_partition.
func partition(j *Joint) (*Parts, error) {
	g := j.GM.Graph
	index := map[*fx.Node]int{}
	for i, n := range g.Nodes {
		index[n] = i
	}
	users := g.Users()
	tangents := map[*fx.Node]bool{} // depends on a tangent
	for _, n := range g.Nodes {
		if n.Op == fx.Placeholder {
			tangents[n] = strings.HasPrefix(n.Target, "tangents_")
			continue
		}
		for _, in := range n.Inputs() {
			tangents[n] = tangents[n] || tangents[in]
		}
	}
	out := g.OutputNode()
	outs := out.Args[0].(fx.Tuple)
	fwOuts, bwOuts := outs[:j.NForward], outs[j.NForward:]

	needed := map[*fx.Node]bool{} // computed by the forward pass in any case
	var mark func(n *fx.Node)
	mark = func(n *fx.Node) {
		if needed[n] {
			return
		}
		needed[n] = true
		for _, in := range n.Inputs() {
			mark(in)
		}
	}
	for _, o := range fwOuts {
		if n, ok := o.(*fx.Node); ok {
			mark(n)
		}
	}
	for _, n := range g.Nodes {
		if n.IsMutating() && n.Op == fx.CallFunction && !tangents[n] || n.Op == fx.Placeholder && !tangents[n] {
			mark(n)
		}
	}
	saved := minCut(g, users, index, tangents, needed)

	fw, err := extract(j.GM, primals(g), nil, appendSaved(fwOuts, saved), func(n *fx.Node) bool { return !tangents[n] })
	if err != nil {
		return nil, fmt.Errorf("forward graph: %w", err)
	}
	// In-place copies into inputs end the forward graph.
	bw, err := extract(j.GM, nil, append(append([]*fx.Node{}, saved...), tangentNodes(g)...), fx.Tuple(bwOuts), func(n *fx.Node) bool { return !n.IsMutating() })
	if err != nil {
		return nil, fmt.Errorf("backward graph: %w", err)
	}
	return &Parts{Forward: fw, Backward: bw, Saved: len(saved)}, nil
}

func appendSaved(outs []fx.Arg, saved []*fx.Node) fx.Tuple {
	r := append(fx.Tuple{}, outs...)
	for _, n := range saved {
		r = append(r, n)
	}
	return r
}

func primals(g *fx.Graph) (ps []*fx.Node) {
	for _, n := range g.Placeholders() {
		if !strings.HasPrefix(n.Target, "tangents_") {
			ps = append(ps, n)
		}
	}
	return ps
}

func tangentNodes(g *fx.Graph) (ps []*fx.Node) {
	for _, n := range g.Placeholders() {
		if strings.HasPrefix(n.Target, "tangents_") {
			ps = append(ps, n)
		}
	}
	return ps
}

// extract copies what outs need into a graph of its own. inputs stay placeholders; values listed in cuts become placeholders.
func extract(gm *fx.GraphModule, inputs, cuts []*fx.Node, outs fx.Tuple, allow func(*fx.Node) bool) (*fx.GraphModule, error) {
	g := gm.Graph
	cut := map[*fx.Node]bool{}
	for _, n := range cuts {
		cut[n] = true
	}
	need := map[*fx.Node]bool{}
	var visit func(n *fx.Node)
	visit = func(n *fx.Node) {
		if need[n] {
			return
		}
		need[n] = true
		if cut[n] {
			return
		}
		for _, in := range n.Inputs() {
			visit(in)
		}
	}
	for _, o := range outs {
		if n, ok := o.(*fx.Node); ok {
			visit(n)
		}
	}
	if inputs != nil {
		for _, n := range g.Nodes {
			if n.IsMutating() && n.Op == fx.CallFunction && allow(n) {
				visit(n)
			}
		}
	}
	out := &fx.GraphModule{Graph: fx.NewGraph(), ClassName: gm.ClassName, Attrs: map[string]*tensor.Tensor{}}
	m := map[*fx.Node]*fx.Node{}
	for _, n := range append(append([]*fx.Node{}, inputs...), cuts...) {
		p := out.Graph.Placeholder(n.Name)
		p.Val = n.Val
		m[n] = p
	}
	for _, n := range g.Nodes {
		if !need[n] || m[n] != nil || n.Op == fx.Output {
			continue
		}
		if n.Op == fx.Placeholder {
			return nil, fmt.Errorf("%s is needed on the side that does not have it", n.Name)
		}
		if n.Op == fx.GetAttr {
			out.Attrs[n.Target] = gm.Attrs[n.Target]
		}
		c := out.Graph.CreateNode(n.Op, n.Target, n.Args, n.Kwargs, n.Name)
		c.Val = n.Val
		c.MapInputs(func(in *fx.Node) fx.Arg { return m[in] })
		m[n] = c
	}
	mapped := make(fx.Tuple, len(outs))
	for i, o := range outs {
		if n, ok := o.(*fx.Node); ok {
			mapped[i] = m[n]
		} else {
			mapped[i] = o
		}
	}
	out.Graph.Output(mapped)
	return out, nil
}

// recomputable operators are cheap enough to run again in the backward pass.
var recomputable = names(`aten.add aten.sub aten.div aten.atan2 aten.mul aten.max aten.min aten.pow aten.remainder aten.fmod aten.__and__ aten.__or__
	aten.__xor__ aten.__lshift__ aten.__rshift__ aten.eq aten.ne aten.ge aten.gt aten.le aten.lt aten.abs aten.bitwise_not aten.ceil aten.floor aten.frac
	aten.neg aten.relu aten.round aten.silu aten.trunc aten.log aten.log10 aten.log1p aten.log2 aten.lgamma aten.exp aten.expm1 aten.erf aten.erfc aten.cos
	aten.acos aten.cosh aten.sin aten.asin aten.sinh aten.tan aten.atan aten.tanh aten.atanh aten.sqrt aten.rsqrt aten.reciprocal aten.sigmoid aten.softplus
	aten.threshold aten.threshold_backward aten.clamp aten.where aten.lerp aten.addcmul aten.gelu aten.gelu_backward aten.sum aten.mean aten._grad_sum_to_size
	aten.sum_to_size aten.amax aten.to aten.type_as operator.getitem aten.squeeze aten.unsqueeze aten.rsub aten._to_copy aten.squeeze
	aten.expand aten.view aten.reshape aten.permute aten.transpose aten.t aten.select aten.slice aten.split aten.unbind aten.as_strided aten.alias aten.detach
	aten.clone aten._unsafe_view aten.full aten.zeros aten.ones aten.zeros_like aten.ones_like aten.full_like aten.new_zeros aten.new_ones aten.new_full aten.empty
	aten.arange aten.var_mean aten.var aten.std aten.clamp_min aten.clamp_max aten.logical_not aten.logical_and aten.logical_or aten.maximum aten.minimum aten.isnan
	aten.argmax aten.cumsum aten.tril aten.triu prims.convert_element_type prims.iota aten.native_layer_norm aten._softmax aten._log_softmax
	aten.leaky_relu aten.hardtanh aten.hardswish aten.hardsigmoid aten.elu aten.mish aten.masked_fill aten.gather aten.index aten.sign aten.sgn aten.fill aten.lift_fresh_copy`)

// views are recomputed for free.
var views = names(`aten.squeeze aten.unsqueeze aten.alias aten.view aten.slice aten.t aten.permute aten.transpose aten.expand aten.as_strided aten.select
	aten.split aten.unbind aten.diagonal aten.detach operator.getitem aten._unsafe_view`)

var expensive = names(`aten.mm aten.addmm aten.bmm aten.baddbmm aten.mv aten.convolution aten.convolution_backward aten._scaled_dot_product_flash_attention_for_cpu
	aten._scaled_dot_product_flash_attention_for_cpu_backward aten.upsample_bilinear2d aten._softmax aten._softmax_backward_data aten.native_layer_norm
	aten._native_batch_norm_legit_functional aten.native_batch_norm`)

func names(s string) map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(s) {
		m[f] = true
	}
	return m
}

func packet(n *fx.Node) string {
	if strings.HasPrefix(n.Target, "operator.") {
		return n.Target
	}
	if i := strings.LastIndex(n.Target, "."); i > 0 {
		return n.Target[:i]
	}
	return n.Target
}

// size is how many bytes keeping n costs.
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

// minCut chooses the forward values to save.
func minCut(g *fx.Graph, users map[*fx.Node][]*fx.Node, index map[*fx.Node]int, tangent, needed map[*fx.Node]bool) []*fx.Node {
	inf := math.Inf(1)
	// Backward distance: how far a value is from its first backward use.
	dist := map[*fx.Node]int{}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		if tangent[n] || n.Op == fx.Output {
			dist[n] = 0
			if n.Op == fx.Output {
				dist[n] = 1 << 30
			}
			continue
		}
		d := 1 << 30
		for _, u := range users[n] {
			d = min(d, dist[u]+1)
		}
		dist[n] = d
	}
	f := newFlow(2*len(g.Nodes) + 2)
	src, sink := 2*len(g.Nodes), 2*len(g.Nodes)+1
	in := func(n *fx.Node) int { return 2 * index[n] }
	outv := func(n *fx.Node) int { return 2*index[n] + 1 }
	for _, n := range g.Nodes {
		if n.Op == fx.Output {
			continue
		}
		if tangent[n] {
			if n.Op != fx.Placeholder {
				f.edge(in(n), sink, inf)
			}
			continue
		}
		multi := false
		if l, ok := n.Val.([]aten.Value); ok {
			multi = len(l) > 0
		}
		if n.Op == fx.Placeholder || !canRecompute(n) || materialisedBackward(n, users, needed) {
			f.edge(src, in(n), inf)
		}
		w := 0.0
		switch {
		case multi:
			w = inf // a tuple is saved by its items
		case n.Op == fx.GetAttr:
			w = 0.0
		default:
			w = size(n.Val) * math.Pow(1.1, float64(max(min(dist[n], 100), 1)))
			if n.Op != fx.Placeholder && !materialised(n, users) {
				w *= 2
			}
			if _, ok := n.Val.(*tensor.Tensor); !ok {
				w = 1
			}
		}
		f.edge(in(n), outv(n), w)
		for _, u := range users[n] {
			if u.Op != fx.Output && !u.IsImpure() {
				f.edge(outv(n), in(u), inf)
			}
		}
	}
	reach := f.cut(src, sink)
	var saved []*fx.Node
	for _, n := range g.Nodes {
		if n.Op != fx.Output && !tangent[n] && reach[in(n)] && !reach[outv(n)] && n.Op != fx.GetAttr {
			saved = append(saved, n)
		}
	}
	sort.SliceStable(saved, func(a, b int) bool { return index[saved[a]] < index[saved[b]] })
	return saved
}

// canRecompute says whether the backward pass may compute n again.
func canRecompute(n *fx.Node) bool {
	if n.Op == fx.GetAttr {
		return true
	}
	p := packet(n)
	if n.IsRandom() || n.IsImpure() || expensive[p] || !recomputable[p] {
		return false
	}
	if views[p] {
		return true
	}
	// A reduction that shrinks its input a lot is cheap to keep.
	if t, ok := n.Val.(*tensor.Tensor); ok {
		ins := 0.0
		for _, i := range n.Inputs() {
			ins += size(i.Val)
		}
		if size(t)*4 < ins {
			return false
		}
	}
	return true
}

// fusible reports whether a and its user b can become one loop.
func fusible(a, b *fx.Node) bool {
	if packet(b) == "aten.cat" {
		return true
	}
	ok := func(n *fx.Node) bool { return recomputable[packet(n)] && !expensive[packet(n)] || n.IsRandom() }
	return ok(a) && ok(b)
}

// materialisedBackward reports whether a backward operator needs n in memory anyway, directly or behind views:
// then computing it again saves nothing.
func materialisedBackward(n *fx.Node, users map[*fx.Node][]*fx.Node, needed map[*fx.Node]bool) bool {
	if views[packet(n)] {
		return false
	}
	seen := map[*fx.Node]bool{n: true}
	for todo := []*fx.Node{n}; len(todo) > 0; {
		cur := todo[0]
		todo = todo[1:]
		for _, u := range users[cur] {
			if u.Op == fx.Output {
				continue
			}
			if !needed[u] && !fusible(cur, u) {
				return true
			}
			if views[packet(u)] && !seen[u] {
				seen[u] = true
				todo = append(todo, u)
			}
		}
	}
	return false
}

// materialised values are written to memory anyway, as some user cannot be fused with them.
func materialised(n *fx.Node, users map[*fx.Node][]*fx.Node) bool {
	for _, u := range users[n] {
		if u.Op == fx.Output {
			return true
		}
		p := packet(u)
		if !recomputable[p] || expensive[p] {
			return true
		}
	}
	return false
}

// flow is a max-flow network (Dinic).
type flow struct {
	head [][]int
	to   []int
	cap  []float64
}

func newFlow(n int) *flow { return &flow{head: make([][]int, n)} }

func (f *flow) edge(a, b int, c float64) {
	f.head[a] = append(f.head[a], len(f.to))
	f.to, f.cap = append(f.to, b), append(f.cap, c)
	f.head[b] = append(f.head[b], len(f.to))
	f.to, f.cap = append(f.to, a), append(f.cap, 0)
}

// cut saturates the network and returns what the source still reaches.
func (f *flow) cut(s, t int) []bool {
	n := len(f.head)
	for {
		level := make([]int, n)
		for i := range level {
			level[i] = -1
		}
		level[s] = 0
		q := []int{s}
		for len(q) > 0 {
			v := q[0]
			q = q[1:]
			for _, e := range f.head[v] {
				if f.cap[e] > 1e-9 && level[f.to[e]] < 0 {
					level[f.to[e]] = level[v] + 1
					q = append(q, f.to[e])
				}
			}
		}
		if level[t] < 0 {
			reach := make([]bool, n)
			for i, l := range level {
				reach[i] = l >= 0
			}
			return reach
		}
		it := make([]int, n)
		var push func(v int, c float64) float64
		push = func(v int, c float64) float64 {
			if v == t {
				return c
			}
			for ; it[v] < len(f.head[v]); it[v]++ {
				e := f.head[v][it[v]]
				if f.cap[e] <= 1e-9 || level[f.to[e]] != level[v]+1 {
					continue
				}
				if d := push(f.to[e], math.Min(c, f.cap[e])); d > 0 {
					f.cap[e] -= d
					f.cap[e^1] += d
					return d
				}
			}
			return 0
		}
		for {
			d := push(s, math.Inf(1))
			if d == 0 {
				break
			}
			if math.IsInf(d, 1) { // nothing finite separates the sides: every path is free
				return make([]bool, n)
			}
		}
	}
}

package aot

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Parts is a partitioned joint graph.
type Parts struct {
	Forward  *fx.GraphModule // outputs: mutated inputs, outputs, then Saved
	Backward *fx.GraphModule // inputs: Saved, then tangents; outputs: one gradient or None per forward input
	Saved    int
}

// numbers is how many of the saved values are numbers: the last results of Forward, and the first inputs of Backward.
func (p *Parts) numbers() int {
	n := 0
	for _, in := range p.Backward.Graph.Placeholders() {
		if _, ok := in.Val.(fx.SymInt); !ok {
			break
		}
		n++
	}
	return n
}

// sides is a joint graph as a partitioner sees it: what depends on a tangent, and what the forward pass computes in any case.
type sides struct {
	gm               *fx.GraphModule
	fwOuts, bwOuts   fx.Tuple
	tangents, needed map[*fx.Node]bool
}

// sidesOf looks at a joint graph, of whose results the first so many are those of the forward pass.
func sidesOf(gm *fx.GraphModule, forward int) (*sides, error) {
	g := gm.Graph
	outs, err := Results(gm)
	if err != nil {
		return nil, err
	}
	if forward > len(outs) {
		return nil, fmt.Errorf("the joint graph has %d results, fewer than the %d of the forward pass", len(outs), forward)
	}
	s := &sides{gm: gm, fwOuts: outs[:forward], bwOuts: outs[forward:], tangents: map[*fx.Node]bool{}, needed: map[*fx.Node]bool{}}
	for _, n := range g.Nodes {
		if n.Op == fx.Placeholder {
			s.tangents[n] = IsTangent(n)
			continue
		}
		s.tangents[n] = n.Meta[metaBackward] != nil
		for _, in := range n.Inputs() {
			s.tangents[n] = s.tangents[n] || s.tangents[in]
		}
	}
	for _, o := range s.fwOuts {
		if n, ok := o.(*fx.Node); ok {
			s.need(n)
		}
	}
	for _, n := range g.Nodes {
		if (n.IsMutating(fx.UnknownMay) || checks(n)) && n.Op == fx.CallFunction && !s.tangents[n] || n.Op == fx.Placeholder && !s.tangents[n] {
			s.need(n)
		}
	}
	return s, nil
}

// checks reports whether a node checks something, or changes a state that outlives the graph: nobody needs its result.
func checks(n *fx.Node) bool {
	f, ok := n.Facts()
	return ok && f.Effect == aten.Lasting
}

// need marks what the forward pass computes for n.
func (s *sides) need(n *fx.Node) {
	if s.needed[n] {
		return
	}
	s.needed[n] = true
	for _, in := range n.Inputs() {
		s.need(in)
	}
}

// cut makes the two graphs, with these values kept from one to the other. Numbers are the last results of the forward graph, and the first
// inputs of the backward graph; what is checked about them is checked again there where again says so.
func (s *sides) cut(saved []*fx.Node, again bool) (*Parts, error) {
	g := s.gm.Graph
	saved, numbers := s.numbersApart(saved, again)
	fw, err := extract(s.gm, primals(g), nil, appendSaved(s.fwOuts, slices.Concat(saved, numbers)), func(n *fx.Node) bool { return !s.tangents[n] })
	if err != nil {
		return nil, fmt.Errorf("forward graph: %w", err)
	}
	// In-place copies into inputs end the forward graph.
	bw, err := extract(s.gm, nil, slices.Concat(numbers, saved, tangentNodes(g)), s.bwOuts, func(n *fx.Node) bool {
		return n.Meta[metaBackward] != nil || again && checks(n) && !slices.ContainsFunc(n.Inputs(), func(in *fx.Node) bool { return !slices.Contains(numbers, in) })
	})
	if err != nil {
		return nil, fmt.Errorf("backward graph: %w", err)
	}
	return &Parts{Forward: fw, Backward: bw, Saved: len(saved) + len(numbers)}, nil
}

// numbersApart takes the numbers out of what is saved, those that bring a symbol first, and adds what brings the symbols in the sizes of what else the
// backward graph gets, or what it computes again reads. With checked, what checks read is kept too.
func (s *sides) numbersApart(saved []*fx.Node, checked bool) (tensors, numbers []*fx.Node) {
	bring := map[string]*fx.Node{}
	reads := map[*fx.Node]bool{}
	for _, n := range s.gm.Graph.Nodes {
		if v, ok := n.Val.(fx.SymInt); ok && bring[v.Expr] == nil && !s.tangents[n] && len(symbolic.SymbolsIn(v.Expr)) == 1 && symbolic.SymbolsIn(v.Expr)[0] == v.Expr {
			bring[v.Expr] = n
		}
		if s.tangents[n] || checked && checks(n) {
			for _, in := range n.Inputs() {
				reads[in] = true
			}
		}
	}
	var computed []*fx.Node
	for _, n := range saved {
		switch v, number := n.Val.(fx.SymInt); {
		case !number:
			tensors = append(tensors, n)
		case bring[v.Expr] == n && reads[n]:
			numbers = append(numbers, n)
		case bring[v.Expr] != n:
			computed = append(computed, n)
		}
	}
	for _, n := range slices.Concat(tensors, tangentNodes(s.gm.Graph)) {
		symbols, _ := n.Meta[metaSymbols].([]string)
		for _, name := range symbols {
			if p := bring[name]; p != nil && !slices.Contains(numbers, p) {
				numbers = append(numbers, p)
			}
		}
	}
	again := s.readAgain(saved)
	for _, n := range saved {
		if v, number := n.Val.(fx.SymInt); number && bring[v.Expr] == n && again[n] && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return tensors, append(numbers, computed...)
}

// readAgain is what the backward graph reads of these saved values, and what it computes of them.
func (s *sides) readAgain(saved []*fx.Node) map[*fx.Node]bool {
	kept, read := map[*fx.Node]bool{}, map[*fx.Node]bool{}
	for _, n := range saved {
		kept[n] = true
	}
	var visit func(n *fx.Node)
	visit = func(n *fx.Node) {
		if read[n] {
			return
		}
		read[n] = true
		if !kept[n] {
			for _, in := range n.Inputs() {
				visit(in)
			}
		}
	}
	for _, o := range s.bwOuts {
		if n, ok := o.(*fx.Node); ok {
			visit(n)
		}
	}
	return read
}

// Results are what a graph returns, which has to be a tuple or a list.
func Results(gm *fx.GraphModule) (fx.Tuple, error) {
	switch r := gm.Graph.OutputNode().Args[0].(type) {
	case fx.Tuple:
		return r, nil
	case fx.List:
		return fx.Tuple(r), nil
	}
	return nil, errors.New("the graph does not return a tuple")
}

// DefaultPartition splits a joint graph where it is: what the forward pass computes and the backward pass reads is saved. The first forward
// results of the graph are the forward pass's. Follows default_partition of torch/_functorch/partitioners.py.
func DefaultPartition(gm *fx.GraphModule, forward int) (*Parts, error) {
	s, err := sidesOf(gm, forward)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(gm.Graph.Nodes, func(n *fx.Node) bool { return regionOf(n) > 0 }) {
		return MinCutPartition(gm, forward)
	}
	users := gm.Graph.Users()
	var saved []*fx.Node
	save := func(n *fx.Node) {
		if slices.ContainsFunc(users[n], func(u *fx.Node) bool { return !s.needed[u] && u.Op != fx.Output }) || slices.Contains(s.bwOuts, fx.Arg(n)) {
			saved = append(saved, n)
		}
	}
	for _, n := range gm.Graph.Nodes {
		_, many := n.Val.([]aten.Value)
		_, number := n.Val.(fx.SymInt)
		switch {
		case s.needed[n] && number && slices.ContainsFunc(users[n], checks):
			saved = append(saved, n)
		case s.needed[n] && many: // its results are there, whether the forward pass reads them or not
			for _, u := range users[n] {
				save(u)
			}
		case s.needed[n] && n.Target != "operator.getitem":
			save(n)
		}
	}
	return s.cut(saved, true)
}

// MinCutPartition splits a joint graph where the fewest bytes have to be kept: a min-cut over the values that cross from forward to backward.
// Cheap pointwise work is recomputed rather than saved. The first forward results of the graph are the forward pass's. Follows
// min_cut_rematerialization_partition.
func MinCutPartition(gm *fx.GraphModule, forward int) (*Parts, error) {
	s, err := sidesOf(gm, forward)
	if err != nil {
		return nil, err
	}
	g := gm.Graph
	index := map[*fx.Node]int{}
	for i, n := range g.Nodes {
		index[n] = i
	}
	bw := maps.Clone(s.tangents)
	for _, o := range s.bwOuts {
		if n, ok := o.(*fx.Node); ok {
			bw[n] = true
		}
	}
	c := &cutter{g: g, users: g.Users(), index: index, fw: s.needed, bw: bw, lost: map[*fx.Node]bool{}}
	for _, p := range g.Placeholders() {
		c.lost[p] = p.Meta[metaOverwritten] != nil
	}
	saved := c.saved()
	again := false
	for _, n := range saved {
		if c.lost[n] {
			again = true
			copyInput(g, n)
		}
	}
	if again {
		return MinCutPartition(gm, forward)
	}
	parts, err := s.cut(saved, false)
	if err == nil {
		inOrderOfUse(parts.Backward.Graph)
		parts.drawAgain()
	}
	return parts, err
}

// inOrderOfUse moves what a backward graph computes again to where it is first used, as late as can be, so that it does not lie in memory
// from the beginning. Follows reordering_to_mimic_autograd_engine.
func inOrderOfUse(g *fx.Graph) {
	place := make(map[*fx.Node]int, len(g.Nodes))
	first := len(g.Nodes)
	for i, n := range g.Nodes {
		place[n] = i
		if first > i && slices.ContainsFunc(n.Inputs(), IsTangent) {
			first = i
		}
	}
	if first == len(g.Nodes) {
		return
	}
	order := g.Placeholders()
	done := map[*fx.Node]bool{}
	for _, n := range order {
		done[n] = true
	}
	for i, n := range g.Nodes {
		if i < first && !n.IsMutating(fx.UnknownMay) {
			continue
		}
		var before []*fx.Node
		for todo := []*fx.Node{n}; len(todo) > 0; {
			n, todo = todo[len(todo)-1], todo[:len(todo)-1]
			if !done[n] {
				done[n] = true
				before = append(before, n)
				todo = append(todo, n.Inputs()...)
			}
		}
		slices.SortFunc(before, func(a, b *fx.Node) int { return place[a] - place[b] })
		order = append(order, before...)
	}
	g.Nodes = order
}

// copyInput has all that reads p read a copy of it.
func copyInput(g *fx.Graph, p *fx.Node) {
	var first *fx.Node
	for _, n := range g.Nodes {
		if n.Op != fx.Placeholder {
			first = n
			break
		}
	}
	var c *fx.Node
	g.InsertBefore(first, func() { c = g.CallFunction("aten.clone.default", p) })
	t := p.Val.(*tensor.Tensor)
	c.Val = tensor.FakeLike(t)
	for _, n := range g.Nodes {
		if n != c {
			n.MapInputs(func(in *fx.Node) fx.Arg {
				if in == p {
					return c
				}
				return in
			})
		}
	}
}

// appendSaved are the outputs of the forward graph: its results, then what the backward graph gets.
func appendSaved(outs []fx.Arg, saved []*fx.Node) fx.Tuple {
	r := append(fx.Tuple{}, outs...)
	for _, n := range saved {
		r = append(r, n)
	}
	return r
}

// primals are the placeholders of the program's inputs.
func primals(g *fx.Graph) (ps []*fx.Node) {
	for _, n := range g.Placeholders() {
		if !strings.HasPrefix(n.Target, "tangents_") {
			ps = append(ps, n)
		}
	}
	return ps
}

// tangentNodes are the placeholders of the gradients that come in.
func tangentNodes(g *fx.Graph) (ps []*fx.Node) {
	for _, n := range g.Placeholders() {
		if strings.HasPrefix(n.Target, "tangents_") {
			ps = append(ps, n)
		}
	}
	return ps
}

// extract copies what outs need into a graph of its own, and those writes that run in it. inputs stay placeholders; values listed in cuts become
// placeholders.
func extract(gm *fx.GraphModule, inputs, cuts []*fx.Node, outs fx.Tuple, runs func(*fx.Node) bool) (*fx.GraphModule, error) {
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
	for _, n := range g.Nodes {
		if (n.IsMutating(fx.UnknownMay) || checks(n)) && n.Op == fx.CallFunction && runs(n) {
			visit(n)
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
		if sub := gm.Submodules[n.Target]; n.Op == fx.GetAttr && sub != nil {
			if out.Submodules == nil {
				out.Submodules = map[string]*fx.GraphModule{}
			}
			out.Submodules[n.Target] = sub
		} else if n.Op == fx.GetAttr {
			out.Attrs[n.Target] = gm.Attrs[n.Target]
		}
		c := out.Graph.CreateNode(n.Op, n.Target, n.Args, n.Kwargs, n.Name)
		if o, ok := n.Meta[fx.MetaOrigin].(fx.Origin); ok {
			c.SetOrigin(o)
		}
		c.Custom, c.Val = n.Custom, n.Val
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

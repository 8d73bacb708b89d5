package fx

import (
	"fmt"

	"whittle/kernels/tensor"
)

// Part is one piece of a split graph. It runs after the pieces before it.
type Part struct {
	GM      *GraphModule
	Inputs  []*Node // nodes of the whole graph that it reads, in the order of its placeholders
	Outputs []*Node // nodes of the whole graph that later pieces or the result need, in the order of its results
}

// Split cuts a graph into n pieces: of says which piece each node but placeholders and the output belongs to. A node may read
// what earlier pieces made, and nothing of later ones. Names, values, attributes and bodies go with the nodes.
func (gm *GraphModule) Split(of map[*Node]int, n int) ([]Part, error) {
	parts := make([]Part, n)
	made := make([]map[*Node]*Node, n) // nodes of the whole graph => those of the piece
	for i := range parts {
		parts[i].GM = &GraphModule{Graph: NewGraph(), ClassName: fmt.Sprintf("submod_%d", i), Attrs: gm.Attrs, Modules: gm.Modules, Submodules: gm.Submodules}
		made[i] = map[*Node]*Node{}
	}
	needed := map[*Node]bool{} // outside of their own piece
	for _, x := range gm.Graph.Nodes {
		if x.Op == Placeholder {
			continue
		}
		at, ok := of[x]
		if !ok && x.Op != Output {
			return nil, fmt.Errorf("node %s belongs to no piece", x.Name)
		}
		var bad error
		x.WalkInputs(func(in *Node) {
			from, inner := of[in]
			if inner && (x.Op == Output || from != at) {
				needed[in] = true
			}
			if inner && x.Op != Output && from > at {
				bad = fmt.Errorf("node %s reads %s of a later piece", x.Name, in.Name)
			}
		})
		if bad != nil {
			return nil, bad
		}
	}
	for _, x := range gm.Graph.Nodes {
		if x.Op == Placeholder || x.Op == Output {
			continue
		}
		at := of[x]
		p, g := &parts[at], parts[at].GM.Graph
		x.WalkInputs(func(in *Node) {
			if made[at][in] != nil {
				return
			}
			var first *Node
			for _, y := range g.Nodes {
				if y.Op != Placeholder {
					first = y
					break
				}
			}
			add := func() {
				h := g.CreateNode(Placeholder, in.Name, nil, nil, in.Name)
				h.Val, h.Type, h.Meta = in.Val, in.Type, in.Meta
				made[at][in] = h
			}
			if first == nil {
				add()
			} else {
				g.InsertBefore(first, add)
			}
			p.Inputs = append(p.Inputs, in)
		})
		look := func(in *Node) Arg { return made[at][in] }
		c := g.CreateNode(x.Op, x.Target, mapArgs(x.Args, look), nil, x.Name)
		for _, k := range x.Kwargs {
			c.Kwargs = append(c.Kwargs, Kwarg{k.Name, MapArg(k.Val, look)})
		}
		c.Custom, c.Val, c.Type, c.Meta = x.Custom, x.Val, x.Type, x.Meta
		made[at][x] = c
		if needed[x] {
			p.Outputs = append(p.Outputs, x)
		}
	}
	for i := range parts {
		outs := make(Tuple, len(parts[i].Outputs))
		for k, x := range parts[i].Outputs {
			outs[k] = made[i][x]
		}
		parts[i].GM.Graph.Output(outs)
	}
	return parts, nil
}

// Buckets assigns the nodes of a graph to pieces as DistributedDataParallel groups gradients: from the end, a new piece begins
// when the parameters that the nodes of the last one read reach limit bytes; first is the limit of the last piece of all.
// bytes is the size of a parameter that is trained, 0 of other placeholders. A piece whose results nobody outside needs goes on
// until it has some. It returns the number of pieces.
func (g *Graph) Buckets(limit, first int64, bytes func(*Node) int64) (of map[*Node]int, n int) {
	type bucket struct {
		size  int64
		nodes []*Node
	}
	users := g.Users()
	buckets := []*bucket{{}} // from the last to the first
	external := func(b *bucket) bool {
		in := map[*Node]bool{}
		for _, x := range b.nodes {
			in[x] = true
		}
		for _, x := range b.nodes {
			for _, u := range users[x] {
				if !in[u] {
					return true
				}
			}
		}
		return false
	}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		x := g.Nodes[i]
		if x.Op == Placeholder || x.Op == Output {
			continue
		}
		b := buckets[len(buckets)-1]
		if (b.size >= limit || len(buckets) == 1 && b.size >= first) && external(b) {
			b = &bucket{}
			buckets = append(buckets, b)
		}
		for _, a := range x.Args {
			if p, ok := a.(*Node); ok && p.Op == Placeholder {
				b.size += bytes(p)
			}
		}
		b.nodes = append(b.nodes, x)
	}
	if last := len(buckets) - 1; last > 0 && buckets[last].size == 0 { // operators without parameters, before all others
		buckets[last-1].nodes = append(buckets[last-1].nodes, buckets[last].nodes...)
		buckets = buckets[:last]
	}
	of = map[*Node]int{}
	for i, b := range buckets {
		for _, x := range b.nodes {
			of[x] = len(buckets) - 1 - i
		}
	}
	return of, len(buckets)
}

// TensorBytes is the memory that a node's tensor takes; 0 for what is no tensor.
func (n *Node) TensorBytes() int64 {
	t, ok := n.Val.(*tensor.Tensor)
	if !ok || t == nil {
		return 0
	}
	return t.Numel() * int64(t.DType.Size())
}

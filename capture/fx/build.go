package fx

import (
	"slices"

	"whittle/kernels/aten"
)

// NewGraph makes an empty graph.
func NewGraph() *Graph { return &Graph{} }

// CreateNode appends a node (or puts it at the insertion point, see InsertBefore). name is a wish, made unique;
// "" names it after its target as PyTorch does.
func (g *Graph) CreateNode(op Op, target string, args []Arg, kwargs []Kwarg, name string) *Node {
	if name == "" {
		name = stemOf(op, target)
	}
	n := &Node{Op: op, Name: g.names.create(name), Target: target, Args: args, Kwargs: kwargs}
	g.add(n)
	return n
}

// add puts a node before the insertion point, or at the end. Its name has to be claimed already.
func (g *Graph) add(n *Node) {
	if g.insert != nil {
		if i := slices.Index(g.Nodes, g.insert); i >= 0 {
			g.Nodes = slices.Insert(g.Nodes, i, n)
			return
		}
	}
	g.Nodes = append(g.Nodes, n)
}

// Placeholder adds an input. The node's name is the target's snake case, as PyTorch makes it (L_x_ => l_x_).
func (g *Graph) Placeholder(target string) *Node {
	return g.CreateNode(Placeholder, target, nil, nil, "")
}

// CallFunction adds a call of a function by qualified name.
func (g *Graph) CallFunction(target string, args ...Arg) *Node {
	return g.CreateNode(CallFunction, target, args, nil, "")
}

// CallMethod adds a call of a method of args[0].
func (g *Graph) CallMethod(target string, args ...Arg) *Node {
	return g.CreateNode(CallMethod, target, args, nil, "")
}

// GetAttr adds a read of an attribute of the module.
func (g *Graph) GetAttr(target string) *Node {
	return g.CreateNode(GetAttr, target, nil, nil, "")
}

// CallModule adds a call of a submodule.
func (g *Graph) CallModule(target string, args ...Arg) *Node {
	return g.CreateNode(CallModule, target, args, nil, "")
}

// Output ends the graph with a result, usually a Tuple.
func (g *Graph) Output(result Arg) *Node {
	return g.CreateNode(Output, "output", []Arg{result}, nil, "output")
}

// InsertBefore makes the nodes that f creates go before n.
func (g *Graph) InsertBefore(n *Node, f func()) {
	old := g.insert
	g.insert = n
	defer func() { g.insert = old }()
	f()
}

// InsertAfter makes the nodes that f creates go after n, in order of creation.
func (g *Graph) InsertAfter(n *Node, f func()) {
	var next *Node
	if i := slices.Index(g.Nodes, n); i >= 0 && i+1 < len(g.Nodes) {
		next = g.Nodes[i+1]
	}
	g.InsertBefore(next, f)
}

// Erase takes nodes out of the graph. Nobody may use them any more (Lint finds it otherwise).
func (g *Graph) Erase(nodes ...*Node) {
	dead := make(map[*Node]bool, len(nodes))
	for _, n := range nodes {
		dead[n] = true
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *Node) bool { return dead[n] })
}

// Rename gives n another name (made unique) and returns it.
func (g *Graph) Rename(n *Node, name string) string {
	if n.Name != name {
		delete(g.names.used, n.Name)
		n.Name = g.names.create(name)
	}
	return n.Name
}

// NameAfter is Rename with the old name kept from other nodes, too.
func (g *Graph) NameAfter(n *Node, name string) {
	if n.Name != name {
		n.Name = g.names.create(name)
	}
}

// ReplaceUses makes every user of old use repl instead.
func (g *Graph) ReplaceUses(old *Node, repl Arg) {
	for _, n := range g.Nodes {
		n.MapInputs(func(in *Node) Arg {
			if in == old {
				return repl
			}
			return in
		})
	}
}

// MapArg rebuilds an argument with every node in it replaced by f's result.
func MapArg(a Arg, f func(*Node) Arg) Arg {
	switch a := a.(type) {
	case *Node:
		return f(a)
	case List:
		return List(mapArgs(a, f))
	case Tuple:
		return Tuple(mapArgs(a, f))
	case Dict:
		out := make(Dict, len(a))
		for i, it := range a {
			out[i] = DictItem{MapArg(it.Key, f), MapArg(it.Val, f)}
		}
		return out
	case Slice:
		return Slice{MapArg(a.Start, f), MapArg(a.Stop, f), MapArg(a.Step, f)}
	}
	return a
}

// mapArgs is MapArg for each of a list; the list is a new one.
func mapArgs(as []Arg, f func(*Node) Arg) []Arg {
	if as == nil {
		return nil
	}
	out := make([]Arg, len(as))
	for i, a := range as {
		out[i] = MapArg(a, f)
	}
	return out
}

// WalkArg calls f for every node in a, in order, repeats included.
func WalkArg(a Arg, f func(*Node)) {
	switch a := a.(type) {
	case *Node:
		f(a)
	case List:
		for _, x := range a {
			WalkArg(x, f)
		}
	case Tuple:
		for _, x := range a {
			WalkArg(x, f)
		}
	case Dict:
		for _, it := range a {
			WalkArg(it.Key, f)
			WalkArg(it.Val, f)
		}
	case Slice:
		WalkArg(a.Start, f)
		WalkArg(a.Stop, f)
		WalkArg(a.Step, f)
	}
}

// MapInputs replaces every node among n's arguments by f's result.
func (n *Node) MapInputs(f func(*Node) Arg) {
	n.Args = mapArgs(n.Args, f)
	for i := range n.Kwargs {
		n.Kwargs[i].Val = MapArg(n.Kwargs[i].Val, f)
	}
}

// WalkInputs calls f for every use of a node by n, in order, repeats included.
func (n *Node) WalkInputs(f func(*Node)) {
	for _, a := range n.Args {
		WalkArg(a, f)
	}
	for _, kw := range n.Kwargs {
		WalkArg(kw.Val, f)
	}
}

// Inputs lists the distinct nodes that n uses, in order of first use.
func (n *Node) Inputs() []*Node {
	var out []*Node
	n.WalkInputs(func(in *Node) {
		if !slices.Contains(out, in) {
			out = append(out, in)
		}
	})
	return out
}

// Kwarg finds a keyword argument.
func (n *Node) Kwarg(name string) (Arg, bool) {
	for _, kw := range n.Kwargs {
		if kw.Name == name {
			return kw.Val, true
		}
	}
	return nil, false
}

// IsCall reports whether n computes something: a call of a function, method or module.
func (n *Node) IsCall() bool { return n.Op == CallFunction || n.Op == CallMethod || n.Op == CallModule }

// Users lists, for every node, the distinct nodes that use it, in graph order.
func (g *Graph) Users() map[*Node][]*Node {
	users := make(map[*Node][]*Node, len(g.Nodes))
	for _, n := range g.Nodes {
		n.WalkInputs(func(in *Node) {
			us := users[in]
			if len(us) == 0 || us[len(us)-1] != n {
				users[in] = append(us, n)
			}
		})
	}
	return users
}

// Placeholders lists the inputs in order.
func (g *Graph) Placeholders() []*Node {
	return g.filter(func(n *Node) bool { return n.Op == Placeholder })
}

// Calls lists the nodes that compute something, in order.
func (g *Graph) Calls() []*Node { return g.filter((*Node).IsCall) }

// filter are the nodes that keep holds for, in order.
func (g *Graph) filter(keep func(*Node) bool) []*Node {
	var out []*Node
	for _, n := range g.Nodes {
		if keep(n) {
			out = append(out, n)
		}
	}
	return out
}

// OutputNode is the output, nil while there is none.
func (g *Graph) OutputNode() *Node {
	if k := len(g.Nodes); k > 0 && g.Nodes[k-1].Op == Output {
		return g.Nodes[k-1]
	}
	for _, n := range g.Nodes {
		if n.Op == Output {
			return n
		}
	}
	return nil
}

// Node finds a node by name, nil if there is none.
func (g *Graph) Node(name string) *Node {
	for _, n := range g.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// Operator is the operator that a call of an overload runs, nil for anything else.
func (n *Node) Operator() *aten.Op {
	if n.Op != CallFunction {
		return nil
	}
	if n.Custom != nil && n.Custom.Name() == n.Target {
		return n.Custom
	}
	return aten.Lookup(n.Target)
}

// Clone copies the graph; the map leads from old nodes to new ones. Vals and
// the values in Meta are shared, the Meta maps are not.
func (g *Graph) Clone() (*Graph, map[*Node]*Node) {
	c := &Graph{Nodes: make([]*Node, 0, len(g.Nodes)), ReturnType: g.ReturnType}
	m := make(map[*Node]*Node, len(g.Nodes))
	look := func(n *Node) Arg { return m[n] }
	c.names.init()
	for k := range g.names.used {
		c.names.used[k] = true
	}
	for k, v := range g.names.base {
		c.names.base[k] = v
	}
	for _, n := range g.Nodes {
		x := &Node{Op: n.Op, Name: n.Name, Target: n.Target, Custom: n.Custom, Type: n.Type, Val: n.Val, Args: mapArgs(n.Args, look)}
		if n.Kwargs != nil {
			x.Kwargs = make([]Kwarg, len(n.Kwargs))
			for i, kw := range n.Kwargs {
				x.Kwargs[i] = Kwarg{kw.Name, MapArg(kw.Val, look)}
			}
		}
		if n.Meta != nil {
			x.Meta = make(map[string]any, len(n.Meta))
			for k, v := range n.Meta {
				x.Meta[k] = v
			}
		}
		m[n] = x
		c.names.claim(n.Name)
		c.Nodes = append(c.Nodes, x)
	}
	return c, m
}

// Clone copies the module: its graph and its maps, but not the tensors in them.
func (gm *GraphModule) Clone() (*GraphModule, map[*Node]*Node) {
	g, m := gm.Graph.Clone()
	c := &GraphModule{Graph: g, ClassName: gm.ClassName, Init: slices.Clone(gm.Init)}
	c.Attrs = cloneMap(gm.Attrs)
	c.Modules = cloneMap(gm.Modules)
	c.Submodules = cloneMap(gm.Submodules)
	return c, m
}

// cloneMap copies a map, but not what it holds: tensors and modules are shared, as nobody writes to them. nil stays nil.
func cloneMap[V any](m map[string]V) map[string]V {
	if m == nil {
		return nil
	}
	out := make(map[string]V, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// IsMutating reports whether a node of g writes to what it is given.
func (g *Graph) IsMutating(u Unknown) bool {
	return slices.ContainsFunc(g.Nodes, func(n *Node) bool { return n.IsMutating(u) })
}

// IsRandom reports whether a node of g draws random numbers.
func (g *Graph) IsRandom(u Unknown) bool {
	return slices.ContainsFunc(g.Nodes, func(n *Node) bool { return n.IsRandom(u) })
}

// EliminateDeadCode erases pure calls and get_attrs that nobody uses, and reports how many went. Placeholders stay, and calls of unknown
// targets where these may do something.
func (g *Graph) EliminateDeadCode(u Unknown) int {
	uses := map[*Node]int{}
	for _, n := range g.Nodes {
		n.WalkInputs(func(in *Node) { uses[in]++ })
	}
	dead := map[*Node]bool{}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		if n.Op == Placeholder || n.Op == Output || uses[n] > 0 || n.IsImpure(u) {
			continue
		}
		dead[n] = true
		n.WalkInputs(func(in *Node) { uses[in]-- })
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *Node) bool { return dead[n] })
	return len(dead)
}

// Adopt appends a node made elsewhere, under exactly its own name. The name must be free; it reports whether it was.
func (g *Graph) Adopt(n *Node) bool {
	g.names.init()
	if g.names.used[n.Name] {
		return false
	}
	g.names.claim(n.Name)
	g.add(n)
	return true
}

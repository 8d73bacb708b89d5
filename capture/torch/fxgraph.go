package torch

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// Graph is the native half of a torch.fx.Graph: the graph, with the Python objects of its nodes.
type Graph struct {
	G     *fx.Graph
	t     *Torch
	nodes map[*fx.Node]*Node
	gone  map[*fx.Node][2]*fx.Node // what was before and behind nodes that were erased
	root  *Node                    // where the list of nodes begins and ends
	py    vm.Object                // the torch.fx.Graph; nil until somebody asks for it

	captured bool // it is a program's, as capture found it, and none of operators
}

// Type is the class of the native handle.
func (g *Graph) Type() *vm.Type { return g.t.GraphType }

// Node is a torch.fx.Node.
type Node struct {
	N     *fx.Node
	g     *Graph
	m     *vm.Dict // meta
	typ   vm.Object
	attrs *vm.Dict // that the program gave it
}

// Type is torch.fx.Node.
func (n *Node) Type() *vm.Type { return n.g.t.NodeType }

// AttrDict holds what the program sets on a node.
func (n *Node) AttrDict(create bool) *vm.Dict {
	if n.attrs == nil && create {
		n.attrs = vm.NewDict()
	}
	return n.attrs
}

func (t *Torch) newGraph(g *fx.Graph) *Graph {
	h := &Graph{G: g, t: t, nodes: map[*fx.Node]*Node{}, gone: map[*fx.Node][2]*fx.Node{}}
	h.root = &Node{N: &fx.Node{Op: "root", Name: "", Target: "root"}, g: h}
	return h
}

func (g *Graph) node(n *fx.Node) *Node {
	p := g.nodes[n]
	if p == nil {
		p = &Node{N: n, g: g}
		g.nodes[n] = p
	}
	return p
}

func (g *Graph) nodeObject(n *fx.Node) (vm.Object, error) { return g.node(n), nil }

// object is the torch.fx.Graph of g.
func (g *Graph) object() (vm.Object, error) {
	if g.py == nil {
		v, err := g.t.callIn("torch.fx.graph", "_graph_of", g)
		if err != nil {
			return nil, err
		}
		g.py = v
	}
	return g.py, nil
}

// beside is the node at a distance from n in the list, the root behind the last and before the first; n itself where it was erased.
func (g *Graph) beside(n *Node, by int) *Node {
	if n == g.root {
		if len(g.G.Nodes) == 0 {
			return n
		}
		if by > 0 {
			return g.node(g.G.Nodes[0])
		}
		return g.node(g.G.Nodes[len(g.G.Nodes)-1])
	}
	i := slices.Index(g.G.Nodes, n.N)
	if i < 0 {
		return n
	}
	if i += by; i < 0 || i == len(g.G.Nodes) {
		return g.root
	}
	return g.node(g.G.Nodes[i])
}

// erase takes n out of the graph. What was beside it stays known to those who go through the nodes.
func (g *Graph) erase(n *fx.Node) {
	at := slices.Index(g.G.Nodes, n)
	if at < 0 {
		return
	}
	var sides [2]*fx.Node
	if at > 0 {
		sides[0] = g.G.Nodes[at-1]
	}
	if at+1 < len(g.G.Nodes) {
		sides[1] = g.G.Nodes[at+1]
	}
	g.gone[n] = sides
	g.G.Erase(n)
}

// walk is an iterator over the nodes of a graph that may be edited meanwhile: it goes on at what is beside the node that it gave last, or was
// when that was erased.
type walk struct {
	g    *Graph
	last *fx.Node // nil => none yet
	at   int      // where last was
	back bool
}

// Type is the class of iterators over nodes.
func (w *walk) Type() *vm.Type { return w.g.t.nodeIterator }

// next is the next node, nil behind the last one.
func (w *walk) next() *Node {
	nodes := w.g.G.Nodes
	at := func(i int) *Node {
		if i < 0 || i >= len(nodes) {
			return nil
		}
		w.last, w.at = nodes[i], i
		return w.g.node(nodes[i])
	}
	step, side := 1, 1
	if w.back {
		step, side = -1, 0
	}
	if w.last == nil {
		if w.back {
			return at(len(nodes) - 1)
		}
		return at(0)
	}
	if w.at < len(nodes) && nodes[w.at] == w.last {
		return at(w.at + step)
	}
	if i := slices.Index(nodes, w.last); i >= 0 {
		return at(i + step)
	}
	for n := w.g.gone[w.last][side]; n != nil; n = w.g.gone[n][side] {
		if i := slices.Index(nodes, n); i >= 0 {
			return at(i)
		}
	}
	return nil
}

// target is the name by which a graph calls a function: one of its own for what no module has under its name.
func (t *Torch) target(o vm.Object) (string, error) {
	if n := t.TargetOf(o); n != "" {
		return n, nil
	}
	v, err := t.callIn("torch.fx.node", "_get_qualified_name", o)
	if err != nil {
		return "", err
	}
	s, _ := vm.AsStr(v)
	return t.nameFor(s, o), nil
}

// graphHandle is the native half of a torch.fx.Graph, which may be given itself.
func (t *Torch) graphHandle(o vm.Object) (*Graph, error) {
	if g, ok := o.(*Graph); ok {
		return g, nil
	}
	if i, ok := o.(*vm.Instance); ok && i.Dict != nil {
		if v, ok := i.Dict.GetStr("_native"); ok {
			if g, ok := v.(*Graph); ok {
				return g, nil
			}
		}
	}
	return nil, t.In.Errorf(t.In.Exc.TypeError, "expected a torch.fx.Graph, not %s", o.Type().Name)
}

// callIn calls a function of a module that is written in Python.
func (t *Torch) callIn(module, name string, args ...vm.Object) (vm.Object, error) {
	m, err := t.In.Import(module)
	if err != nil {
		return nil, err
	}
	return t.In.CallMethod(m, name, args...)
}

// immutable is a list or dict of a node's arguments as Python sees it.
func (t *Torch) immutable(class string, content vm.Object) (vm.Object, error) {
	return t.callIn("torch.fx.immutable_collections", class, content)
}

// nodeArgs are the positional arguments of a node for Python.
func (n *Node) nodeArgs() (vm.Object, error) { return n.g.t.frozenArg(fx.Tuple(n.N.Args), n.g) }

// nodeKwargs are the keyword arguments of a node for Python.
func (n *Node) nodeKwargs() (vm.Object, error) {
	d := vm.NewDict()
	for _, k := range n.N.Kwargs {
		v, err := n.g.t.frozenArg(k.Val, n.g)
		if err != nil {
			return nil, err
		}
		d.SetStr(k.Name, v)
	}
	return n.g.t.immutable("immutable_dict", d)
}

// frozenArg is an argument for Python, with lists and dicts that cannot be changed: a change would not reach the node.
func (t *Torch) frozenArg(a fx.Arg, g *Graph) (vm.Object, error) {
	each := func(as []fx.Arg) ([]vm.Object, error) {
		out := make([]vm.Object, len(as))
		for i, x := range as {
			o, err := t.frozenArg(x, g)
			if err != nil {
				return nil, err
			}
			out[i] = o
		}
		return out, nil
	}
	switch a := a.(type) {
	case fx.List:
		items, err := each(a)
		if err != nil {
			return nil, err
		}
		return t.immutable("immutable_list", vm.NewList(items...))
	case fx.Tuple:
		items, err := each(a)
		return vm.NewTuple(items...), err
	case fx.Dict:
		d := vm.NewDict()
		for _, it := range a {
			kv, err := each([]fx.Arg{it.Key, it.Val})
			if err != nil {
				return nil, err
			}
			if err := d.Set(t.In, kv[0], kv[1]); err != nil {
				return nil, err
			}
		}
		return t.immutable("immutable_dict", d)
	}
	return t.ArgObject(a, g.nodeObject)
}

// arg is a Python value as an argument of a node of g. Nodes of other graphs, which lint finds, remain theirs.
func (g *Graph) arg(o vm.Object) (fx.Arg, error) {
	return g.t.GraphArg(o, func(o vm.Object) (fx.Arg, bool, error) {
		if n, ok := o.(*Node); ok && n.g != g {
			g.nodes[n.N] = n
		}
		return nil, false, nil
	})
}

// setArgs gives a node other positional arguments.
func (n *Node) setArgs(v vm.Object) error {
	a, err := n.g.arg(v)
	if err != nil {
		return err
	}
	switch a := a.(type) {
	case fx.Tuple:
		n.N.Args = a
	case fx.List:
		n.N.Args = a
	default:
		return n.g.t.In.Errorf(n.g.t.In.Exc.TypeError, "Node.args must be a tuple")
	}
	return nil
}

// setKwargs gives a node other keyword arguments.
func (n *Node) setKwargs(v vm.Object) error {
	in := n.g.t.In
	d, ok := vm.AsDict(v)
	if !ok {
		return in.Errorf(in.Exc.TypeError, "Node.kwargs must be a dict")
	}
	var kws []fx.Kwarg
	keys, vals := d.Keys(), d.Values()
	for i, k := range keys {
		name, _ := vm.AsStr(k)
		a, err := n.g.arg(vals[i])
		if err != nil {
			return err
		}
		kws = append(kws, fx.Kwarg{Name: name, Val: a})
	}
	n.N.Kwargs = kws
	return nil
}

// setTarget gives a node another target: a name, or what a call_function calls.
func (n *Node) setTarget(v vm.Object) (err error) {
	n.N.Custom = nil
	if s, ok := vm.AsStr(v); ok {
		n.N.Target = s
		return nil
	}
	n.N.Target, err = n.g.t.target(v)
	return err
}

// metadata is what passes noted with a node.
func (n *Node) metadata() *vm.Dict {
	if n.m == nil {
		n.m = vm.NewDict()
		key := "val"
		if n.g.captured {
			key = "example_value"
		}
		if v := n.g.t.example(n.N.Val); v != nil {
			n.m.SetStr(key, v)
		}
		if t := n.N.Origin().Trail; t != nil {
			n.g.t.trailMeta(n.m, t)
		}
		if !n.g.captured && n.N.Op == fx.CallFunction && fx.IsOverload(n.N.Target) {
			if op, err := n.g.t.Resolve(n.N.Target); err == nil {
				n.m.SetStr("original_aten", op)
			}
		}
	}
	return n.m
}

// example is the value that a graph was made with at a node; nil where that is no tensor.
func (t *Torch) example(v any) vm.Object {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v != nil {
			return t.Wrap(v)
		}
	case []any:
		out := make([]vm.Object, len(v))
		for i, x := range v {
			if out[i] = t.example(x); out[i] == nil {
				return nil
			}
		}
		return vm.NewTuple(out...)
	}
	return nil
}

// trailMeta notes in a node's meta how the program came to it.
func (t *Torch) trailMeta(m *vm.Dict, tr *fx.Trail) {
	var text strings.Builder
	for _, o := range tr.Stack() {
		fmt.Fprintf(&text, "  File \"%s\", line %d, in %s\n    %s\n", o.File, o.Line, o.Func, o.Code)
	}
	m.SetStr("stack_trace", vm.Str(text.String()))
	if len(tr.Modules) > 0 {
		stack := vm.NewDict()
		for _, c := range tr.Modules {
			stack.SetStr(c.Key, vm.NewTuple(vm.Str(c.Path), c.Class.(vm.Object)))
		}
		m.SetStr("nn_module_stack", stack)
	}
	var fn vm.Object = vm.Str(tr.Target)
	switch {
	case tr.Op == fx.CallModule && len(tr.Modules) > 0:
		fn = tr.Modules[len(tr.Modules)-1].Class.(vm.Object)
	case tr.Op == fx.CallFunction:
		f, err := t.Resolve(tr.Target)
		if err != nil {
			return
		}
		fn = f
	}
	calls := vm.NewList()
	for _, op := range tr.Within {
		name, err := t.In.GetAttr(op.(vm.Object), "__name__")
		if err != nil {
			return
		}
		calls.Items = append(calls.Items, vm.NewTuple(name, op.(vm.Object)))
	}
	calls.Items = append(calls.Items, vm.NewTuple(vm.Str(tr.Node), fn))
	m.SetStr("source_fn_stack", calls)
}

// typeText is how a type stands in generated code.
func (t *Torch) typeText(o vm.Object) (string, error) {
	if o == nil || o == vm.None {
		return "", nil
	}
	v, err := t.callIn("torch.fx.graph", "_type_text", o)
	if err != nil {
		return "", err
	}
	s, _ := vm.AsStr(v)
	return s, nil
}

// create adds a node: (kind, target, args, kwargs, name, type).
func (g *Graph) create(a []vm.Object) (vm.Object, error) {
	kind, _ := vm.AsStr(a[0])
	n := g.node(&fx.Node{Op: fx.Op(kind)})
	for _, set := range []func() error{
		func() error { return n.setTarget(a[1]) },
		func() error { return n.setArgs(a[2]) },
		func() error { return n.setKwargs(a[3]) },
		func() error { return n.setType(a[5]) },
	} {
		if err := set(); err != nil {
			delete(g.nodes, n.N)
			return nil, err
		}
	}
	delete(g.nodes, n.N)
	name, _ := vm.AsStr(a[4])
	made := g.G.CreateNode(n.N.Op, n.N.Target, n.N.Args, n.N.Kwargs, name)
	made.Type = n.N.Type
	n.N = made
	g.nodes[made] = n
	return n, nil
}

func (n *Node) setType(o vm.Object) (err error) {
	n.typ = o
	n.N.Type, err = n.g.t.typeText(o)
	return err
}

// move puts x directly before n, or behind it.
func (n *Node) move(x *Node, behind bool) {
	g := n.g.G
	g.Erase(x.N)
	i := len(g.Nodes)
	switch at := slices.Index(g.Nodes, n.N); {
	case at >= 0 && behind:
		i = at + 1
	case at >= 0:
		i = at
	case n == n.g.root && behind:
		i = 0
	}
	g.Nodes = slices.Insert(g.Nodes, i, x.N)
}

// users are the nodes that use n, in the order of the graph.
func (n *Node) users() []*Node {
	var out []*Node
	for _, m := range n.g.G.Nodes {
		if slices.Contains(m.Inputs(), n.N) {
			out = append(out, n.g.node(m))
		}
	}
	return out
}

// replaceUses is Node.replace_all_uses_with: (replacement, whether a user is to use it). It gives the users that do now.
func (n *Node) replaceUses(a []vm.Object) (vm.Object, error) {
	t := n.g.t
	r, err := n.g.arg(a[0])
	if err != nil {
		return nil, err
	}
	done := vm.NewList()
	for _, u := range n.users() {
		if len(a) > 1 && a[1] != vm.None {
			v, err := t.In.Call(a[1], []vm.Object{u}, nil)
			if err != nil {
				return nil, err
			}
			if yes, err := t.In.Truth(v); err != nil {
				return nil, err
			} else if !yes {
				continue
			}
		}
		u.replaceInput(n.N, r)
		done.Items = append(done.Items, u)
	}
	return done, nil
}

// replaceInput has n use another value for one of its inputs.
func (n *Node) replaceInput(old *fx.Node, by fx.Arg) {
	n.N.MapInputs(func(in *fx.Node) fx.Arg {
		if in == old {
			return by
		}
		return in
	})
}

// bindInputs gives each placeholder its value of a call, as the generated forward would: by place, by name, the rest to *args and **kwargs.
func (g *GraphModule) bindInputs(args []vm.Object, kw []vm.KwArg) ([]vm.Object, error) {
	t := g.t
	places := g.GM.Graph.Placeholders()
	out := make([]vm.Object, len(places))
	used := make([]bool, len(kw))
	next := 0
	for i, p := range places {
		switch {
		case len(p.Target) > 1 && p.Target[:2] == "**":
			d := vm.NewDict()
			for j, k := range kw {
				if !used[j] {
					used[j] = true
					d.SetStr(k.Name, k.Value)
				}
			}
			out[i] = d
			continue
		case len(p.Target) > 0 && p.Target[0] == '*':
			out[i] = vm.NewTuple(slices.Clone(args[min(next, len(args)):])...)
			next = max(next, len(args))
			continue
		case next < len(args):
			out[i] = args[next]
			next++
			continue
		}
		for j, k := range kw {
			if !used[j] && k.Name == p.Target {
				out[i], used[j] = k.Value, true
			}
		}
		if out[i] == nil && len(p.Args) > 0 {
			v, err := t.ArgObject(p.Args[0], g.graph.nodeObject)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		if out[i] == nil {
			return nil, t.In.Errorf(t.In.Exc.TypeError, "forward() missing 1 required positional argument: '%s'", p.Target)
		}
	}
	if next < len(args) {
		return nil, t.In.Errorf(t.In.Exc.TypeError, "forward() takes %d positional arguments but %d were given", len(places)+1, len(args)+1)
	}
	for j, k := range kw {
		if !used[j] {
			return nil, t.In.Errorf(t.In.Exc.TypeError, "forward() got an unexpected keyword argument '%s'", k.Name)
		}
	}
	return out, nil
}

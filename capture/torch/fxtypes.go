package torch

import (
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
)

// graphTypes makes the classes of graph modules, nodes and graphs. What needs no graph of Go's is written in Python, in torch/fx.
func (t *Torch) graphTypes() {
	t.graphModuleType()
	t.nodeType()
	t.graphType()
}

func (t *Torch) graphModuleType() {
	gmOf := func(o vm.Object) *GraphModule { return o.(*GraphModule) }
	t.GraphModuleType = t.In.NewNativeType(vm.Spec{Name: "_NativeGraphModule", Module: "torch._C", NoDict: true, Methods: map[string]vm.GoFunc{
		"run": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			g := gmOf(a[0])
			args, err := g.bindInputs(a[1:], kw)
			if err != nil {
				return nil, err
			}
			return t.RunGraph(g.GM.Graph, g.attr, args)
		},
		"bind": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			gmOf(a[0]).module, _ = a[1].(*vm.Instance)
			return vm.None, nil
		},
		// with_graph is the module with another graph: what this one has and the object in Python lacks is there still.
		"with_graph": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			old := gmOf(a[0])
			g, err := t.graphHandle(a[1])
			if err != nil {
				return nil, err
			}
			gm := *old.GM
			gm.Graph = g.G
			return &GraphModule{GM: &gm, t: t, Attr: old.Attr, graph: g, module: old.module}, nil
		},
		"is_body": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { // of a higher-order operator: a graph of its own
			name, _ := vm.AsStr(a[1])
			return vm.MakeBool(gmOf(a[0]).GM.Submodules[name] != nil), nil
		},
		"readable": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			g := gmOf(a[0])
			describe := g.Describe
			if describe == nil {
				describe = func(n *fx.Node) string { return fx.DescribedSizes(n.Val) }
			}
			class, _ := vm.AsStr(a[1])
			return vm.Str(strings.TrimSuffix(g.GM.Readable(class, describe), "\n")), nil
		},
		"attr": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			n, _ := vm.AsStr(a[1])
			g := *gmOf(a[0])
			g.module = nil // which has looked already
			return g.attr(n)
		},
		"graph": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return gmOf(a[0]).graph.object() },
	}})
	t.c.Func("_graph_module", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		g, err := t.graphHandle(a[0])
		if err != nil {
			return nil, err
		}
		return &GraphModule{GM: &fx.GraphModule{Graph: g.G, ClassName: "GraphModule"}, t: t, graph: g}, nil
	})
}

func (t *Torch) nodeType() {
	in := t.In
	nodeOf := func(o vm.Object) *Node { return o.(*Node) }
	text := func(name string, get func(n *fx.Node) string, set func(n *Node, s string)) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return vm.Str(get(nodeOf(o).N)), nil }, Set: func(in *vm.Interp, o, v vm.Object) error {
			s, ok := vm.AsStr(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "Node.%s must be a string, not %s", name, v.Type().Name)
			}
			set(nodeOf(o), s)
			return nil
		}}
	}
	moved := func(behind bool) vm.GoFunc {
		return func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			n, ok := a[1].(*Node)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "expected a Node, not %s", a[1].Type().Name)
			}
			if n.g != nodeOf(a[0]).g {
				return nil, in.Errorf(in.Exc.AssertionError, "Attempting to move a Node into a different Graph")
			}
			if n != a[0] {
				nodeOf(a[0]).move(n, behind)
			}
			return vm.None, nil
		}
	}
	ordered := func(holds func(d int) bool) vm.GoFunc {
		return func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			n, ok := a[1].(*Node)
			if !ok {
				return vm.NotImplemented, nil
			}
			at := func(n *Node) int { return slices.Index(n.g.G.Nodes, n.N) }
			return vm.MakeBool(holds(at(nodeOf(a[0])) - at(n))), nil
		}
	}
	t.NodeType = in.NewNativeType(vm.Spec{Name: "Node", Module: "torch.fx.node", Methods: map[string]vm.GoFunc{
		"__repr__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str(nodeOf(a[0]).N.Name), nil
		},
		"__lt__": ordered(func(d int) bool { return d < 0 }), "__le__": ordered(func(d int) bool { return d <= 0 }),
		"__gt__": ordered(func(d int) bool { return d > 0 }), "__ge__": ordered(func(d int) bool { return d >= 0 }),
		"prepend": moved(false), "append": moved(true),
		"format_node": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str(fx.FormatNode(nodeOf(a[0]).N, len(nodeOf(a[0]).users()))), nil
		},
		"_replace_uses": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nodeOf(a[0]).replaceUses(a[1:])
		},
		"_rename": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			s, _ := vm.AsStr(a[1])
			nodeOf(a[0]).g.G.NameAfter(nodeOf(a[0]).N, s)
			return vm.None, nil
		},
		"replace_input_with": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			old, ok := a[1].(*Node)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "expected a Node, not %s", a[1].Type().Name)
			}
			by, err := nodeOf(a[0]).g.arg(a[2])
			if err != nil {
				return nil, err
			}
			nodeOf(a[0]).replaceInput(old.N, by)
			return vm.None, nil
		},
		"is_impure": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			n := nodeOf(a[0]).N
			return vm.MakeBool(n.Op == fx.Placeholder || n.Op == fx.Output || n.IsImpure(fx.UnknownDoesNot)), nil
		},
	}, GetSet: []*vm.GetSet{
		text("op", func(n *fx.Node) string { return string(n.Op) }, func(n *Node, s string) { n.N.Op = fx.Op(s) }),
		text("name", func(n *fx.Node) string { return n.Name }, func(n *Node, s string) { n.N.Name = s }),
		{Name: "target", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			n := nodeOf(o).N
			if n.Op == fx.CallFunction {
				return t.Resolve(n.Target)
			}
			return vm.Str(n.Target), nil
		}, Set: func(_ *vm.Interp, o, v vm.Object) error { return nodeOf(o).setTarget(v) }},
		{Name: "args", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return nodeOf(o).nodeArgs() },
			Set: func(_ *vm.Interp, o, v vm.Object) error { return nodeOf(o).setArgs(v) }},
		{Name: "kwargs", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return nodeOf(o).nodeKwargs() },
			Set: func(_ *vm.Interp, o, v vm.Object) error { return nodeOf(o).setKwargs(v) }},
		{Name: "type", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			n := nodeOf(o)
			if n.typ == nil && n.N.Type != "" {
				return t.Resolve(n.N.Type)
			}
			if n.typ == nil {
				return vm.None, nil
			}
			return n.typ, nil
		}, Set: func(_ *vm.Interp, o, v vm.Object) error { return nodeOf(o).setType(v) }},
		{Name: "meta", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return nodeOf(o).metadata(), nil }, Set: func(in *vm.Interp, o, v vm.Object) error {
			d, ok := vm.AsDict(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "Node.meta must be a dict, not %s", v.Type().Name)
			}
			nodeOf(o).m = d
			return nil
		}},
		{Name: "stack_trace", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			v, ok := nodeOf(o).metadata().GetStr("stack_trace")
			if !ok {
				return vm.None, nil
			}
			return v, nil
		}, Set: func(_ *vm.Interp, o, v vm.Object) error {
			nodeOf(o).metadata().SetStr("stack_trace", v)
			return nil
		}},
		{Name: "graph", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return nodeOf(o).g.object() }},
		getter("next", func(o vm.Object) vm.Object { return nodeOf(o).g.beside(nodeOf(o), 1) }),
		getter("prev", func(o vm.Object) vm.Object { return nodeOf(o).g.beside(nodeOf(o), -1) }),
		getter("_erased", func(o vm.Object) vm.Object {
			n := nodeOf(o)
			return vm.MakeBool(n != n.g.root && !slices.Contains(n.g.G.Nodes, n.N))
		}),
		getter("users", func(o vm.Object) vm.Object {
			d := vm.NewDict()
			for _, u := range nodeOf(o).users() {
				_ = d.Set(in, u, vm.None) // nodes hash by identity: cannot fail
			}
			return d
		}),
		getter("all_input_nodes", func(o vm.Object) vm.Object {
			n := nodeOf(o)
			l := vm.NewList()
			for _, x := range n.N.Inputs() {
				l.Items = append(l.Items, n.g.node(x))
			}
			return l
		}),
	}})
}

func (t *Torch) graphType() {
	in := t.In
	graphOf := func(o vm.Object) *Graph { return o.(*Graph) }
	t.nodeIterator = in.NewNativeType(vm.Spec{Name: "node_iterator", Module: "torch.fx.graph", NoDict: true, Methods: map[string]vm.GoFunc{
		"__iter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
		"__next__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if n := a[0].(*walk).next(); n != nil {
				return n, nil
			}
			return nil, in.Errorf(in.Exc.StopIteration, "")
		},
	}})
	t.GraphType = in.NewNativeType(vm.Spec{Name: "_NativeGraph", Module: "torch._C", NoDict: true, Methods: map[string]vm.GoFunc{
		"format": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str(formatGraph(graphOf(a[0]).G)), nil
		},
		"parts": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			p := graphOf(a[0]).G.Parts()
			body := strings.Split(fx.ShownCalls(strings.Join(p.Body, "\x00")), "\x00")
			if len(p.Body) == 0 {
				body = nil
			}
			return vm.NewTuple(strList(p.Params), vm.Str(p.Returns), strList(body), vm.Str(p.Result)), nil
		},
		"create": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return graphOf(a[0]).create(a[1:]) },
		"erase": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			graphOf(a[0]).erase(a[1].(*Node).N)
			return vm.None, nil
		},
		"eliminate_dead_code": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			// As in torch.fx, which takes a function for pure that it does not know.
			return vm.MakeBool(graphOf(a[0]).G.EliminateDeadCode(fx.UnknownDoesNot) > 0), nil
		},
		"tabular": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str(Tabular(graphOf(a[0]).G)), nil
		},
		"nodes": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			g := graphOf(a[0])
			l := vm.NewList()
			for _, n := range g.G.Nodes {
				l.Items = append(l.Items, g.node(n))
			}
			return l, nil
		},
		"walk": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return &walk{g: graphOf(a[0]), back: len(a) > 1 && a[1] == vm.True}, nil
		},
		"returns": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (_ vm.Object, err error) {
			graphOf(a[0]).G.ReturnType, err = t.typeText(a[1])
			return vm.None, err
		},
	}, GetSet: []*vm.GetSet{
		getter("root", func(o vm.Object) vm.Object { return graphOf(o).root }),
		getter("size", func(o vm.Object) vm.Object { return vm.MakeInt(int64(len(graphOf(o).G.Nodes))) }),
	}})
	t.c.Func("_name_of_target", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		name, err := t.target(a[0])
		return vm.Str(name), err
	})
	t.c.Func("_new_graph", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		g := t.newGraph(fx.NewGraph())
		g.py = a[0]
		return g, nil
	})
}

func strList(ss []string) *vm.List {
	l := vm.NewList()
	for _, s := range ss {
		l.Items = append(l.Items, vm.Str(s))
	}
	return l
}

package torch

import (
	"fmt"
	"math/big"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/literal"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Resolve finds the Python object that a graph target names: torch.relu, operator.add, aten.add.Tensor.
func (t *Torch) Resolve(target string) (vm.Object, error) {
	if o, ok := t.objects[target]; ok {
		return o, nil
	}
	path := strings.Split(strings.Replace(target, ":", ".", 1), ".")
	if fx.IsOverload(target) {
		path = append([]string{"torch", "ops"}, path...)
	}
	if len(path) == 1 {
		path = []string{"builtins", target}
	}
	root, err := t.In.Import(path[0])
	if err != nil {
		return nil, err
	}
	var o vm.Object = root
	for i, p := range path[1:] {
		next, err := t.In.GetAttr(o, p)
		if err != nil {
			m, ierr := t.In.Import(strings.Join(path[:i+2], "."))
			if ierr != nil {
				return nil, t.In.Errorf(t.In.Exc.AttributeError, "graph target %s does not exist here", target)
			}
			next = m
		}
		o = next
	}
	t.objects[target] = o
	return o, nil
}

// IsOperator reports whether o is an operator of torch.ops, or an overload of one.
func (t *Torch) IsOperator(o vm.Object) bool {
	if t.packetName == nil {
		return false
	}
	_, ok := t.packetName(o)
	return ok
}

// TargetOf is the qualified name of a callable, "" when it has none that a graph could use.
func (t *Torch) TargetOf(o vm.Object) string {
	switch f := o.(type) {
	case *vm.Builtin:
		if n, ok := f.Native.(Target); ok {
			return string(n)
		}
		if f.Self == nil && f.Module != "" {
			if b, ok := t.In.Builtins.Dict.GetStr(f.Name); ok && b == o { // open is a builtin, though it comes from io
				return f.Name
			}
			return pythonTarget(strings.TrimPrefix(f.Module, "_"), f.Name)
		}
	case *vm.Function:
		return t.functionTarget(f)
	}
	if t.packetName != nil {
		if n, ok := t.packetName(o); ok {
			return n
		}
	}
	return ""
}

// pythonTarget is the target of what a module has under a name. A name with the dots of an overload has a colon behind the module.
func pythonTarget(module, name string) string {
	if module == "builtins" {
		return name // as generated code calls it
	}
	if target := module + "." + name; !fx.IsOverload(target) {
		return target
	}
	return module + ":" + name
}

// functionTarget is the target of a function written in Python. Two functions of one name get two targets, the second one with a number.
func (t *Torch) functionTarget(f *vm.Function) string {
	m, ok := vm.AsStr(f.Module)
	if !ok {
		return ""
	}
	name := f.Qualname
	if i := strings.LastIndex(name, ">."); i >= 0 {
		name = name[i+2:]
	}
	if strings.Contains(name, "<") {
		return ""
	}
	base := pythonTarget(m, name)
	for target, n := base, 1; ; n++ {
		o, known := t.objects[target]
		if !known && n == 1 && !strings.Contains(f.Qualname, "<") {
			if found, err := t.Resolve(target); err == nil {
				o, known = found, true
			}
		}
		if !known {
			t.objects[target] = f
			return target
		}
		if o == vm.Object(f) {
			return target
		}
		target = fmt.Sprintf("%s_%d", base, n)
	}
}

// ArgObject converts a graph argument to Python; node looks nodes up.
func (t *Torch) ArgObject(a fx.Arg, node func(*fx.Node) (vm.Object, error)) (vm.Object, error) {
	seq := func(as []fx.Arg) ([]vm.Object, error) {
		out := make([]vm.Object, len(as))
		for i, x := range as {
			o, err := t.ArgObject(x, node)
			if err != nil {
				return nil, err
			}
			out[i] = o
		}
		return out, nil
	}
	switch a := a.(type) {
	case nil:
		return vm.None, nil
	case *fx.Node:
		return node(a)
	case bool:
		return vm.MakeBool(a), nil
	case int64:
		return vm.MakeInt(a), nil
	case *big.Int:
		return vm.MakeBig(a), nil
	case float64:
		return vm.Float(a), nil
	case complex128:
		return vm.Complex(a), nil
	case string:
		return vm.Str(a), nil
	case fx.List:
		items, err := seq(a)
		return vm.NewList(items...), err
	case fx.Tuple:
		items, err := seq(a)
		return vm.NewTuple(items...), err
	case fx.Dict:
		d := vm.NewDict()
		for _, it := range a {
			k, err := t.ArgObject(it.Key, node)
			if err != nil {
				return nil, err
			}
			v, err := t.ArgObject(it.Val, node)
			if err != nil {
				return nil, err
			}
			if err := d.Set(t.In, k, v); err != nil {
				return nil, err
			}
		}
		return d, nil
	case fx.Slice:
		var parts [3]vm.Object
		for i, x := range []fx.Arg{a.Start, a.Stop, a.Step} {
			o, err := t.ArgObject(x, node)
			if err != nil {
				return nil, err
			}
			parts[i] = o
		}
		return &vm.Slice{Start: parts[0], Stop: parts[1], Step: parts[2]}, nil
	case fx.Range:
		r := vm.Range(a)
		return &r, nil
	case fx.Ellipsis:
		return vm.Ellipsis, nil
	case fx.SymInt:
		return vm.MakeInt(a.Hint), nil
	case fx.FnRef:
		return t.Resolve(string(a))
	case tensor.DType, tensor.Device, tensor.MemoryFormat, tensor.Layout:
		return t.Object(a), nil
	}
	return nil, fmt.Errorf("graph argument of type %T has no Python form", a)
}

// RunGraph interprets a graph with Python values, each call through the object its target names.
// attr supplies get_attr values and call_module modules.
func (t *Torch) RunGraph(g *fx.Graph, attr func(name string) (vm.Object, error), inputs []vm.Object) (vm.Object, error) {
	return t.RunGraphObserved(g, attr, inputs, nil)
}

// RunGraphObserved is RunGraph, and shows each node's value as it is made.
func (t *Torch) RunGraphObserved(g *fx.Graph, attr func(name string) (vm.Object, error), inputs []vm.Object, observe func(n *fx.Node, v vm.Object)) (vm.Object, error) {
	env := make(map[*fx.Node]vm.Object, len(g.Nodes))
	node := func(n *fx.Node) (vm.Object, error) { return env[n], nil }
	next := 0
	defer t.Push(func(*Ambient) {})() // Running changes from node to node
	for _, n := range g.Nodes {
		t.Running = n
		var v vm.Object
		var err error
		args := make([]vm.Object, len(n.Args))
		for i, a := range n.Args {
			if args[i], err = t.ArgObject(a, node); err != nil {
				return nil, err
			}
		}
		var kw []vm.KwArg
		for _, k := range n.Kwargs {
			o, err := t.ArgObject(k.Val, node)
			if err != nil {
				return nil, err
			}
			kw = append(kw, vm.KwArg{Name: k.Name, Value: o})
		}
		switch n.Op {
		case fx.Placeholder:
			if next >= len(inputs) {
				if len(args) == 1 {
					v = args[0]
					break
				}
				return nil, t.In.Errorf(t.In.Exc.TypeError, "forward() missing 1 required positional argument: '%s'", n.Target)
			}
			v = inputs[next]
			next++
		case fx.GetAttr:
			v, err = attr(n.Target)
		case fx.CallModule:
			var m vm.Object
			if m, err = attr(n.Target); err == nil {
				v, err = t.In.Call(m, args, kw)
			}
		case fx.CallMethod:
			var m vm.Object
			if m, err = t.In.GetAttr(args[0], n.Target); err == nil {
				v, err = t.In.Call(m, args[1:], kw)
			}
		case fx.CallFunction:
			var f vm.Object
			if f, err = t.Resolve(n.Target); err == nil {
				v, err = t.In.Call(f, args, kw)
			}
			if n.Target == "operator.setitem" && len(args) > 0 {
				v = args[0] // what the text of the graph gives this name to
			}
		case fx.Output:
			return args[0], nil
		}
		if err != nil {
			return nil, err
		}
		env[n] = v
		if observe != nil {
			observe(n, v)
		}
	}
	return vm.None, nil
}

// GraphModule is the native half of torch.fx.GraphModule.
type GraphModule struct {
	GM *fx.GraphModule
	t  *Torch
	// Attr finds what get_attr and call_module nodes name; nil => GM's own tensors.
	Attr func(name string) (vm.Object, error)
	// Describe says what print_readable shows of a node's value; nil => dtype and sizes.
	Describe func(n *fx.Node) string
	nodes    map[*fx.Node]*Node
}

// Type is the class of the native handle.
func (g *GraphModule) Type() *vm.Type { return g.t.GraphModuleType }

// Node is a torch.fx.Node.
type Node struct {
	N  *fx.Node
	gm *GraphModule
	m  *vm.Dict // meta
}

// Type is torch.fx.Node.
func (n *Node) Type() *vm.Type { return n.gm.t.NodeType }

// Graph is a torch.fx.Graph.
type Graph struct{ gm *GraphModule }

// Type is torch.fx.Graph.
func (g *Graph) Type() *vm.Type { return g.gm.t.GraphType }

// NewGraphModule makes the torch.fx.GraphModule object of a graph.
func (t *Torch) NewGraphModule(gm *fx.GraphModule, attr func(name string) (vm.Object, error)) (vm.Object, error) {
	// Making the object is no part of the program that is being compiled.
	defer t.Push(func(a *Ambient) { a.FrameHook, a.CallHook = nil, nil })()
	h := &GraphModule{GM: gm, t: t, Attr: attr, nodes: map[*fx.Node]*Node{}}
	m, err := t.In.Import("torch.fx.graph_module")
	if err != nil {
		return nil, err
	}
	cls, err := t.In.GetAttr(m, "GraphModule")
	if err != nil {
		return nil, err
	}
	return t.In.Call(cls, []vm.Object{h}, nil)
}

// NativeGraph is the graph behind a torch.fx.GraphModule object; nil when o is none.
func (t *Torch) NativeGraph(o vm.Object) *GraphModule {
	if h, ok := o.(*GraphModule); ok {
		return h
	}
	if i, ok := o.(*vm.Instance); ok && i.Dict != nil {
		if v, ok := i.Dict.GetStr("_native"); ok {
			if h, ok := v.(*GraphModule); ok {
				return h
			}
		}
	}
	return nil
}

// graphOfSource is the graph module of a function's text, as FX writes it: (file, text, the module that has its attributes).
func (t *Torch) graphOfSource(a []vm.Object) (vm.Object, error) {
	file, _ := vm.AsStr(a[0])
	text, _ := vm.AsStr(a[1])
	gm, err := fx.Parse(file, text)
	if err != nil {
		return nil, t.In.Errorf(t.In.Exc.NotImplementedError, "torch.fx.symbolic_trace: not straight-line code: %s", err)
	}
	gm.ClassName = "GraphModule"
	attr := func(name string) (vm.Object, error) {
		o := a[2]
		for _, part := range strings.Split(name, ".") {
			var err error
			if o, err = t.In.GetAttr(o, part); err != nil {
				return nil, err
			}
		}
		return o, nil
	}
	return t.NewGraphModule(gm, attr)
}

// cond runs one of two graph modules: (pred, true, false, operands). A trace of operators records both.
func (t *Torch) cond(a []vm.Object) (vm.Object, error) {
	if p, ok := a[0].(*Tensor); ok && p.T.Fake && t.Cond != nil {
		gs := [2]*GraphModule{t.NativeGraph(a[1]), t.NativeGraph(a[2])}
		ops, ok := t.Value(a[3])
		if !ok || gs[0] == nil || gs[1] == nil {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, "cond: branches must be graph modules and operands tensors")
		}
		res, err := t.Cond(p.T, gs, ops.([]aten.Value))
		if err != nil {
			return nil, t.Error(err)
		}
		return t.Object(res), nil
	}
	yes, err := t.In.Truth(a[0])
	if err != nil {
		return nil, err
	}
	args, err := t.In.IterAll(a[3])
	if err != nil {
		return nil, err
	}
	if yes {
		return t.In.Call(a[1], args, nil)
	}
	return t.In.Call(a[2], args, nil)
}

// Attribute is what a get_attr node of the graph names.
func (g *GraphModule) Attribute(name string) (vm.Object, error) { return g.attr(name) }

func (g *GraphModule) attr(name string) (vm.Object, error) {
	if s := g.GM.Submodules[name]; s != nil {
		return g.t.NewGraphModule(s, g.Attr)
	}
	if g.Attr != nil {
		return g.Attr(name)
	}
	if x := g.GM.Attrs[name]; x != nil {
		return g.t.Wrap(x), nil
	}
	return nil, g.t.In.Errorf(g.t.In.Exc.AttributeError, "'GraphModule' object has no attribute '%s'", name)
}

func (g *GraphModule) node(n *fx.Node) *Node {
	p := g.nodes[n]
	if p == nil {
		p = &Node{N: n, gm: g}
		g.nodes[n] = p
	}
	return p
}

func (g *GraphModule) nodeObject(n *fx.Node) (vm.Object, error) { return g.node(n), nil }

// graphArg converts a Python value to a graph argument.
func (t *Torch) graphArg(o vm.Object) (fx.Arg, error) {
	seq := func(items []vm.Object) ([]fx.Arg, error) {
		out := make([]fx.Arg, len(items))
		for i, x := range items {
			a, err := t.graphArg(x)
			if err != nil {
				return nil, err
			}
			out[i] = a
		}
		return out, nil
	}
	switch v := o.(type) {
	case *Node:
		return v.N, nil
	case *vm.Tuple:
		items, err := seq(v.Items)
		return fx.Tuple(items), err
	case *vm.List:
		items, err := seq(v.Items)
		return fx.List(items), err
	case *vm.Slice:
		items, err := seq([]vm.Object{v.Start, v.Stop, v.Step})
		if err != nil {
			return nil, err
		}
		return fx.Slice{Start: items[0], Stop: items[1], Step: items[2]}, nil
	case *vm.Range:
		return fx.Range(*v), nil
	case *vm.EllipsisType:
		return fx.Ellipsis{}, nil
	case *vm.BigInt:
		return v.V, nil
	}
	if x, ok := t.Value(o); ok {
		switch x.(type) {
		case *tensor.Tensor, []aten.Value: // what goes into a graph by itself, and containers that have no form in one
		default:
			return x, nil
		}
	}
	if n := t.TargetOf(o); n != "" {
		return fx.FnRef(n), nil
	}
	return nil, t.In.Errorf(t.In.Exc.NotImplementedError, "argument of type: %s", o.Type().FullName())
}

// GraphArg converts a Python value to a graph argument; node maps values that a trace knows.
func (t *Torch) GraphArg(o vm.Object, node func(o vm.Object) (fx.Arg, bool, error)) (fx.Arg, error) {
	if a, ok, err := node(o); ok || err != nil {
		return a, err
	}
	seq := func(items []vm.Object) ([]fx.Arg, error) {
		out := make([]fx.Arg, len(items))
		for i, x := range items {
			a, err := t.GraphArg(x, node)
			if err != nil {
				return nil, err
			}
			out[i] = a
		}
		return out, nil
	}
	switch v := o.(type) {
	case *vm.Tuple:
		items, err := seq(v.Items)
		return fx.Tuple(items), err
	case *vm.List:
		items, err := seq(v.Items)
		return fx.List(items), err
	case *vm.Slice:
		items, err := seq([]vm.Object{v.Start, v.Stop, v.Step})
		if err != nil {
			return nil, err
		}
		return fx.Slice{Start: items[0], Stop: items[1], Step: items[2]}, nil
	case *vm.Instance:
		if tup, ok := vm.AsTuple(v); ok {
			items, err := seq(tup.Items)
			return fx.Tuple(items), err
		}
	}
	return t.graphArg(o)
}

func (t *Torch) graphTypes() {
	in := t.In
	gmOf := func(o vm.Object) *GraphModule { return o.(*GraphModule) }
	t.GraphModuleType = in.NewNativeType(vm.Spec{Name: "_NativeGraphModule", Module: "torch._C", NoDict: true, Methods: map[string]vm.GoFunc{
		"run": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			g := gmOf(a[0])
			args := a[1:]
			for _, k := range kw {
				args = append(args, k.Value)
			}
			return t.RunGraph(g.GM.Graph, g.attr, args)
		},
		"code": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str("\n\n\n" + gmOf(a[0]).GM.Graph.Forward("") + "\n    "), nil
		},
		"readable": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			g := gmOf(a[0])
			describe := g.Describe
			if describe == nil {
				describe = func(n *fx.Node) string { return fx.DescribedSizes(n.Val) }
			}
			return vm.Str(strings.TrimSuffix(g.GM.Readable("GraphModule", describe), "\n")), nil
		},
		"attr": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			n, _ := vm.AsStr(a[1])
			return gmOf(a[0]).attr(n)
		},
		"graph": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return &Graph{gmOf(a[0])}, nil },
	}})
	nodeOf := func(o vm.Object) *Node { return o.(*Node) }
	t.NodeType = in.NewNativeType(vm.Spec{Name: "Node", Module: "torch.fx.node", Methods: map[string]vm.GoFunc{
		"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str(nodeOf(a[0]).N.Name), nil
		},
		"format_node": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str(t.formatNode(nodeOf(a[0]).gm, nodeOf(a[0]).N)), nil
		},
		"replace_all_uses_with": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			r, err := t.graphArg(a[1])
			if err != nil {
				return nil, err
			}
			nodeOf(a[0]).gm.GM.Graph.ReplaceUses(nodeOf(a[0]).N, r)
			return vm.NewList(), nil
		},
	}, GetSet: []*vm.GetSet{
		{Name: "op", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return vm.Str(string(nodeOf(o).N.Op)), nil }, Set: func(in *vm.Interp, o, v vm.Object) error {
			op, ok := vm.AsStr(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "Node.op must be a string, not %s", v.Type().Name)
			}
			nodeOf(o).N.Op = fx.Op(op)
			return nil
		}},
		{Name: "name", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return vm.Str(nodeOf(o).N.Name), nil }, Set: func(in *vm.Interp, o, v vm.Object) error {
			name, ok := vm.AsStr(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "Node.name must be a string, not %s", v.Type().Name)
			}
			nodeOf(o).N.Name = name
			return nil
		}},
		getter("stack_trace", func(vm.Object) vm.Object { return vm.None }), // graphs keep no places of the program
		getter("graph", func(o vm.Object) vm.Object { return &Graph{nodeOf(o).gm} }),
		{Name: "target", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			n := nodeOf(o).N
			if n.Op == fx.CallFunction {
				return t.Resolve(n.Target)
			}
			return vm.Str(n.Target), nil
		}, Set: func(in *vm.Interp, o, v vm.Object) error {
			if s, ok := vm.AsStr(v); ok {
				nodeOf(o).N.Target = s
				return nil
			}
			name := t.TargetOf(v)
			if name == "" {
				return in.Errorf(in.Exc.TypeError, "a node's target must be a function that can be found by name, not %s", v.Type().Name)
			}
			nodeOf(o).N.Target = name
			return nil
		}},
		{Name: "args", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			n := nodeOf(o)
			return t.ArgObject(fx.Tuple(n.N.Args), n.gm.nodeObject)
		}, Set: func(in *vm.Interp, o, v vm.Object) error {
			a, err := t.graphArg(v)
			if err != nil {
				return err
			}
			tup, ok := a.(fx.Tuple)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "Node.args must be a tuple")
			}
			nodeOf(o).N.Args = tup
			return nil
		}},
		{Name: "kwargs", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			n := nodeOf(o)
			d := vm.NewDict()
			for _, k := range n.N.Kwargs {
				v, err := t.ArgObject(k.Val, n.gm.nodeObject)
				if err != nil {
					return nil, err
				}
				d.SetStr(k.Name, v)
			}
			return d, nil
		}, Set: func(in *vm.Interp, o, v vm.Object) error {
			d, ok := vm.AsDict(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "Node.kwargs must be a dict")
			}
			var kws []fx.Kwarg
			keys, vals := d.Keys(), d.Values()
			for i, k := range keys {
				name, _ := vm.AsStr(k)
				a, err := t.graphArg(vals[i])
				if err != nil {
					return err
				}
				kws = append(kws, fx.Kwarg{Name: name, Val: a})
			}
			nodeOf(o).N.Kwargs = kws
			return nil
		}},
		getter("users", func(o vm.Object) vm.Object {
			n := nodeOf(o)
			d := vm.NewDict()
			for _, u := range n.gm.GM.Graph.Users()[n.N] {
				_ = d.Set(in, n.gm.node(u), vm.None) // nodes hash by identity: cannot fail
			}
			return d
		}),
		getter("all_input_nodes", func(o vm.Object) vm.Object {
			n := nodeOf(o)
			l := vm.NewList()
			for _, x := range n.N.Inputs() {
				l.Items = append(l.Items, n.gm.node(x))
			}
			return l
		}),
		getter("meta", func(o vm.Object) vm.Object {
			n := nodeOf(o)
			if n.m == nil {
				n.m = vm.NewDict()
				if x, ok := n.N.Val.(*tensor.Tensor); ok && x != nil {
					n.m.SetStr("example_value", t.Wrap(x))
					n.m.SetStr("val", t.Wrap(x))
				}
			}
			return n.m
		}),
	}})
	graphOf := func(o vm.Object) *fx.Graph { return o.(*Graph).gm.GM.Graph }
	nodeList := func(g *GraphModule, ns []*fx.Node) *vm.List {
		l := vm.NewList()
		for _, n := range ns {
			l.Items = append(l.Items, g.node(n))
		}
		return l
	}
	t.GraphType = in.NewNativeType(vm.Spec{Name: "Graph", Module: "torch.fx.graph", Methods: map[string]vm.GoFunc{
		"__str__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str(t.formatGraph(a[0].(*Graph).gm)), nil
		},
		"lint": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.None, t.Error(graphOf(a[0]).Lint())
		},
		"erase_node": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			n := nodeOf(a[1]).N
			if us := graphOf(a[0]).Users()[n]; len(us) > 0 {
				return nil, in.Errorf(in.Exc.RuntimeError, "Tried to erase Node %s but it still had %d users in the graph: %s!", n.Name, len(us), us[0].Name)
			}
			graphOf(a[0]).Erase(n)
			return vm.None, nil
		},
		"eliminate_dead_code": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			// As in torch.fx, which takes a function for pure that it does not know.
			return vm.MakeBool(graphOf(a[0]).EliminateDeadCode(fx.UnknownDoesNot) > 0), nil
		},
		"print_tabular": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.None, in.Write(Tabular(graphOf(a[0])) + "\n")
		},
		"_call": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			// (kind, target, args, kwargs, before): the builder under call_function and friends
			g := a[0].(*Graph).gm
			kind, _ := vm.AsStr(a[1])
			target, ok := vm.AsStr(a[2])
			if !ok {
				target = t.TargetOf(a[2])
			}
			args, err := t.graphArg(a[3])
			if err != nil {
				return nil, err
			}
			tup, _ := args.(fx.Tuple)
			var out *fx.Node
			make := func() { out = g.GM.Graph.CreateNode(fx.Op(kind), target, tup, nil, "") }
			if b, ok := a[4].(*Node); ok {
				g.GM.Graph.InsertBefore(b.N, make)
			} else {
				make()
			}
			return g.node(out), nil
		},
	}, GetSet: []*vm.GetSet{
		getter("nodes", func(o vm.Object) vm.Object { return nodeList(o.(*Graph).gm, graphOf(o).Nodes) }),
	}})
}

// Tabular is the table that Graph.print_tabular prints.
func Tabular(g *fx.Graph) string {
	rows := [][]string{{"opcode", "name", "target", "args", "kwargs"}}
	for _, n := range g.Nodes {
		kw := make([]string, len(n.Kwargs))
		for i, k := range n.Kwargs {
			kw[i] = literal.Str(k.Name) + ": " + fx.FormatArg(k.Val)
		}
		rows = append(rows, []string{string(n.Op), n.Name, n.Target, fx.FormatArg(fx.Tuple(n.Args)), "{" + strings.Join(kw, ", ") + "}"})
	}
	widths := make([]int, 5)
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], len(c))
		}
	}
	var b strings.Builder
	line := func(r []string) {
		for i, c := range r {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(c)
			if i < 4 {
				b.WriteString(strings.Repeat(" ", widths[i]-len(c)))
			}
		}
		b.WriteString("\n")
	}
	line(rows[0])
	dash := make([]string, 5)
	for i, w := range widths {
		dash[i] = strings.Repeat("-", w)
	}
	line(dash)
	for _, r := range rows[1:] {
		line(r)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// formatNode is one line of str(graph).
func (t *Torch) formatNode(g *GraphModule, n *fx.Node) string {
	arg := func(a fx.Arg) string { return formatRef(a) }
	users := len(g.GM.Graph.Users()[n])
	typ := ""
	if n.Type != "" {
		typ = ": " + n.Type + " "
		typ = " " + strings.TrimSpace(typ)
	}
	switch n.Op {
	case fx.Placeholder:
		return fmt.Sprintf("%%%s%s : [num_users=%d] = placeholder[target=%s]", n.Name, typ, users, n.Target)
	case fx.GetAttr:
		return fmt.Sprintf("%%%s : [num_users=%d] = get_attr[target=%s]", n.Name, users, n.Target)
	case fx.Output:
		return "return " + arg(n.Args[0])
	}
	args := make([]string, len(n.Args))
	for i, a := range n.Args {
		args[i] = arg(a)
	}
	kw := make([]string, len(n.Kwargs))
	for i, k := range n.Kwargs {
		kw[i] = k.Name + ": " + arg(k.Val)
	}
	tup := "(" + strings.Join(args, ", ")
	if len(args) == 1 {
		tup += ","
	}
	return fmt.Sprintf("%%%s : [num_users=%d] = %s[target=%s](args = %s), kwargs = {%s})", n.Name, users, n.Op, n.Target, tup, strings.Join(kw, ", "))
}

func formatRef(a fx.Arg) string {
	list := func(as []fx.Arg) string {
		p := make([]string, len(as))
		for i, x := range as {
			p[i] = formatRef(x)
		}
		return strings.Join(p, ", ")
	}
	switch a := a.(type) {
	case *fx.Node:
		return "%" + a.Name
	case fx.Tuple:
		if len(a) == 1 {
			return "(" + list(a) + ",)"
		}
		return "(" + list(a) + ")"
	case fx.List:
		return "[" + list(a) + "]"
	case string:
		return a
	}
	return fx.FormatArg(a)
}

func (t *Torch) formatGraph(g *GraphModule) string {
	var b strings.Builder
	b.WriteString("graph():")
	for _, n := range g.GM.Graph.Nodes {
		s := t.formatNode(g, n)
		if n.Op == fx.Output {
			s = strings.ReplaceAll(s, "return (", "return (")
		}
		b.WriteString("\n    " + s)
	}
	return b.String()
}

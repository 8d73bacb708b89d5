package torch

import (
	"fmt"
	"math/big"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Resolve finds the Python object that a graph target names: torch.relu, operator.add, aten.add.Tensor.
func (t *Torch) Resolve(target string) (vm.Object, error) {
	if o, ok := t.objects[target]; ok {
		return o, nil
	}
	if i := strings.IndexByte(target, '('); i > 0 {
		return t.resolveWrapper(target, i)
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
	return t.wrapperTarget(o)
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
	if _, known := t.objects[base]; !known && !strings.Contains(f.Qualname, "<") {
		_, _ = t.Resolve(base) // a failure means that the name is free
	}
	return t.nameFor(base, f)
}

// nameFor is the target of o: base, or that with a number where another object has it.
func (t *Torch) nameFor(base string, o vm.Object) string {
	target := base
	for n := 1; ; n++ {
		switch known, ok := t.objects[target]; {
		case !ok:
			t.objects[target] = o
			return target
		case known == o:
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
	graph    *Graph
	module   *vm.Instance // the object in Python; nil while it is made
}

// Captured says that the graph is a program's, as capture found it, and none of operators: its nodes have their values for an example.
func (g *GraphModule) Captured() { g.graph.captured = true }

// Type is the class of the native handle.
func (g *GraphModule) Type() *vm.Type { return g.t.GraphModuleType }

// NewGraphModule makes the torch.fx.GraphModule object of a graph.
func (t *Torch) NewGraphModule(gm *fx.GraphModule, attr func(name string) (vm.Object, error)) (vm.Object, error) {
	// Making the object is no part of the program that is being compiled.
	defer t.Push(func(a *Ambient) { a.FrameHook, a.CallHook = nil, nil })()
	h := &GraphModule{GM: gm, t: t, Attr: attr, graph: t.newGraph(gm.Graph)}
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

// attr looks where attributes of the module in Python are, then at what the graph came with.
func (g *GraphModule) attr(name string) (vm.Object, error) {
	if g.module != nil {
		first, _, _ := strings.Cut(name, ".")
		for _, table := range []string{"", "_parameters", "_buffers", "_modules"} {
			d := g.module.Dict
			if table != "" {
				o, _ := d.GetStr(table)
				d, _ = vm.AsDict(o)
			}
			if d == nil {
				continue
			}
			if _, ok := d.GetStr(first); ok {
				return g.t.path(g.module, name)
			}
		}
	}
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

// path is what a name with dots leads to from o.
func (t *Torch) path(o vm.Object, name string) (vm.Object, error) {
	for _, part := range strings.Split(name, ".") {
		var err error
		if o, err = t.In.GetAttr(o, part); err != nil {
			return nil, err
		}
	}
	return o, nil
}

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
	if d, ok := o.(*vm.Dict); ok {
		return t.graphDict(d)
	}
	if i, ok := o.(*vm.Instance); ok {
		switch x := i.Native.(type) {
		case *vm.List:
			items, err := seq(x.Items)
			return fx.List(items), err
		case *vm.Dict:
			return t.graphDict(x)
		}
	}
	return nil, t.In.Errorf(t.In.Exc.NotImplementedError, "argument of type: %s", o.Type().FullName())
}

// graphDict converts a dict to a graph argument.
func (t *Torch) graphDict(d *vm.Dict) (fx.Arg, error) {
	out := fx.Dict{}
	keys, vals := d.Keys(), d.Values()
	for i := range keys {
		k, err := t.graphArg(keys[i])
		if err != nil {
			return nil, err
		}
		v, err := t.graphArg(vals[i])
		if err != nil {
			return nil, err
		}
		out = append(out, fx.DictItem{Key: k, Val: v})
	}
	return out, nil
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

package capture

import (
	"fmt"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// output is the graph under construction: its nodes, its inputs, and what its nodes name. While a body of an operator is traced, the
// scope is that body's, and branch leads back to the graph around it; everything else belongs to the whole module.
type output struct {
	*ground

	scope
	branch *branch // the body that is being traced; nil => the graph itself

	inputs  []input                    // in the order of first use
	attrs   map[string]*tensor.Tensor  // constants
	subs    map[string]*fx.GraphModule // the bodies that are done
	calls   int                        // that PyTorch's graph would hold before it is cleaned up; 0 => nothing to compile
	members []member                   // of the program's modules, in the order of their use (see export.go)

	later         map[string]func() *fx.Node // makes the input of a number that was not used yet, by symbol
	fresh         []*symbolic.Expr           // sizes that the call under way made unknown
	defined       []definition               // nodes of unbacked symbols
	tensorNumbers map[*fx.Node]bool          // numbers that are 0-d tensors when the graph runs
	variables     map[*torch.Tensor]bool     // tensors that are called after a variable
}

func newOutput(g *ground) *output {
	return &output{ground: g, scope: newScope(), attrs: map[string]*tensor.Tensor{}, subs: map[string]*fx.GraphModule{}, later: map[string]func() *fx.Node{},
		tensorNumbers: map[*fx.Node]bool{}, variables: map[*torch.Tensor]bool{}}
}

// input is a placeholder with the source it is read from at run time.
type input struct {
	node   *fx.Node
	source source.Source
	val    *tensor.Tensor // the real tensor seen while tracing; nil for a number
	symbol string         // the symbol that a number is, "" for tensors
	usedAt []guard.Place  // where an export first used a tensor that is not the program's to give; nil => it is
}

// placeholder adds an input to the graph, behind those that are there.
func (og *output) placeholder(name string) (n *fx.Node) {
	add := func() { n = og.graph.CreateNode(fx.Placeholder, name, nil, nil, "") }
	for _, m := range og.graph.Nodes {
		if m.Op != fx.Placeholder {
			og.graph.InsertBefore(m, add)
			return n
		}
	}
	add()
	return n
}

// bind names the results of a node: tensors become values of the trace, the parts of a tuple get getitem nodes.
func (og *output) bind(n *fx.Node, res vm.Object) vm.Object {
	switch v := res.(type) {
	case *torch.Scalar:
		og.scalars[v] = n
		return v
	case torch.Region:
		*v.EnteredBy() = n // the call that leaves it takes the node
		return res
	case *torch.Tensor:
		if og.nodes[v.T] != nil {
			// An in-place call returned its input: the result has a node of its own, and the input keeps its node.
			x, given := *v.T, v
			x.Py = nil
			og.sizes.Copy(&x, v.T)
			v = og.t.WrapAs(&x, v.Type())
			v.StandFor(given)
		}
		n.Val = v.T
		og.nodes[v.T] = n
		return v
	case *vm.List:
		return vm.NewList(og.bind(n, vm.NewTuple(v.Items...)).(*vm.Tuple).Items...)
	case *vm.Tuple:
		vals := make([]any, len(v.Items))
		items := make([]vm.Object, len(v.Items))
		for i, x := range v.Items {
			p, ok := x.(*torch.Tensor)
			if !ok {
				items[i] = x
				continue
			}
			vals[i] = p.T
			g := og.graph.CallFunction("operator.getitem", n, int64(i))
			o := n.Origin()
			if o.Trail != nil {
				t := *o.Trail
				t.Node, t.Op, t.Target = g.Name, g.Op, g.Target
				o.Trail = &t
			}
			g.SetOrigin(o)
			items[i] = og.bind(g, p)
		}
		n.Val = vals
		return vm.NewTuple(items...)
	case *vm.Instance:
		if tup, ok := vm.AsTuple(v); ok {
			t := og.bind(n, tup).(*vm.Tuple)
			return &vm.Instance{Class: v.Class, Native: t}
		}
	}
	return res
}

// nameAfter names the node of a tensor after the first variable that it is assigned to.
func (og *output) nameAfter(o vm.Object, variable string) {
	t, ok := o.(*torch.Tensor)
	if !ok || og.variables[t] {
		return
	}
	if og.d.ctx.Export != nil && strings.HasSuffix(og.in.Frame().Code.Filename, "torch/nn/modules/container.py") {
		return // PyTorch calls the members of such modules itself
	}
	if n := og.nodes[t.T]; n != nil && n.Op != fx.Placeholder {
		og.variables[t] = true
		og.graph.NameAfter(n, variable)
	}
}

// scalarArg is a symbolic number as the argument of a node: its node, or a constant where it is one by now. A number that graphs cannot
// compute is settled on the value that it has in this trace.
func (og *output) scalarArg(s *torch.Scalar) (fx.Arg, error) {
	if n := og.scalars[s]; n != nil {
		return n, nil
	}
	if e := og.unknowns.Simplify(s.Expr); e.Op == symbolic.OpInt {
		if make := og.later[s.Expr.Name]; s.Expr.Op == symbolic.OpSym && make != nil {
			// A number that the program was given is an input, though the trace relies on its value by now.
			if og.exprNodes[s.Expr.Name] == nil {
				og.exprNodes[s.Expr.Name] = make()
			}
			return og.exprNodes[s.Expr.Name], nil
		}
		return e.Int, nil
	}
	if s.Env != og.unknowns {
		return nil, unsupported(breaks.OtherTraceNumber)
	}
	if n := og.exprNode(s.Expr); n != nil {
		og.scalars[s] = n
		return n, nil
	}
	v, err := og.t.Specialize(s)
	if err != nil {
		return nil, err
	}
	return og.t.GraphArg(v, func(vm.Object) (fx.Arg, bool, error) { return nil, false, nil })
}

// constantNode notes a call on symbols whose result is a constant: nobody uses its node, and PyTorch keeps it.
func (og *output) constantNode(target string, operands ...vm.Object) error {
	args := make([]fx.Arg, len(operands))
	for i, o := range operands {
		x, err := og.t.GraphArg(o, func(o vm.Object) (fx.Arg, bool, error) {
			if s, ok := o.(*torch.Scalar); ok {
				x, err := og.scalarArg(s)
				return x, true, err
			}
			return nil, false, nil
		})
		if err != nil {
			return err
		}
		args[i] = x
	}
	og.graph.CallFunction(target, args...)
	og.calls++
	return nil
}

// numberObjects are expressions as Python numbers; at the level of the program each has a node.
func (og *output) numberObjects(es []*symbolic.Expr) []vm.Object {
	out := make([]vm.Object, len(es))
	for i, e := range es {
		o := og.t.Number(e, og.unknowns)
		if s, ok := o.(*torch.Scalar); ok {
			if og.depth == 0 {
				og.calls++ // PyTorch's graph holds a call here until it is cleaned up
				og.scalars[s] = og.exprNode(e)
			}
		}
		out[i] = o
	}
	return out
}

// exprNode is the node that computes e from the graph's inputs; nil when graphs have no function for it. It looks for what is there before
// it computes: a node of this graph, one of the graph around a body, an input that was not used yet.
func (og *output) exprNode(e *symbolic.Expr) *fx.Node {
	e = og.unknowns.Simplify(e)
	if n := og.exprNodes[e.String()]; n != nil {
		return n
	}
	if b := og.branch; b != nil {
		if n := b.number(og, e); n != nil {
			return n
		}
	}
	if make := og.later[e.String()]; make != nil {
		og.exprNodes[e.Name] = make()
		return og.exprNodes[e.Name]
	}
	arg := func(a *symbolic.Expr) fx.Arg {
		switch a.Op {
		case symbolic.OpInt:
			return a.Int
		case symbolic.OpFloat:
			return a.Float
		}
		if n := og.exprNode(a); n != nil {
			return n
		}
		return nil
	}
	var n *fx.Node
	binary := func(target string, args ...fx.Arg) {
		for _, a := range args {
			if a == nil {
				n = nil
				return
			}
		}
		n = og.graph.CallFunction(target, args...)
	}
	switch e.Op {
	case symbolic.OpMul:
		acc := arg(e.Args[0])
		for i := 1; i < len(e.Args); i++ {
			binary("operator.mul", acc, arg(e.Args[i]))
			if n == nil {
				return nil
			}
			acc = n
		}
	case symbolic.OpAdd:
		var parts fx.List
		for _, a := range symbolic.Summands(e) {
			x := arg(a)
			if x == nil {
				return nil
			}
			parts = append(parts, x)
		}
		n = og.graph.CallFunction("torch.sym_sum", parts)
	case symbolic.OpFloorDiv:
		binary("operator.floordiv", arg(e.Args[0]), arg(e.Args[1]))
	case symbolic.OpMod:
		binary("operator.mod", arg(e.Args[0]), arg(e.Args[1]))
	case symbolic.OpPow:
		binary("operator.pow", arg(e.Args[0]), e.Args[1].Int)
	case symbolic.OpMax:
		binary("torch.sym_max", arg(e.Args[0]), arg(e.Args[1]))
	case symbolic.OpMin:
		binary("torch.sym_min", arg(e.Args[0]), arg(e.Args[1]))
	}
	if n != nil {
		n.Val = fx.SymInt{Expr: e.String(), Hint: og.unknowns.HintInt(e)}
		og.exprNodes[e.String()] = n
	}
	return n
}

// operator adds a call of an operator of aten that the program did not write. Its node is called after the overload, too.
func (og *output) operator(op string, args ...fx.Arg) *fx.Node {
	return og.graph.CreateNode(fx.CallFunction, "aten."+op, args, nil, fx.SnakeCase(strings.ReplaceAll(op, ".", "_")))
}

// contextNode is what a graph has of the ctx of a torch.autograd.Function.
func (og *output) contextNode() *fx.Node {
	og.calls++
	return og.graph.CallFunction(functionModule + ".FunctionCtx")
}

// addBody files a subgraph under the first free name that begins with prefix.
func (og *output) addBody(prefix string, g *fx.Graph) string {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s_%d", prefix, i)
		if og.subs[name] == nil {
			og.file(name, g)
			return name
		}
	}
}

// file keeps a subgraph under a name, by which nodes get it. Its constants are among those of the whole module.
func (og *output) file(name string, g *fx.Graph) {
	og.subs[name] = &fx.GraphModule{Graph: g, ClassName: "GraphModule", Attrs: og.attrs, Submodules: og.branchesOf(g)}
}

// branchesOf are the subgraphs that g names.
func (og *output) branchesOf(g *fx.Graph) map[string]*fx.GraphModule {
	var out map[string]*fx.GraphModule
	for _, n := range g.Nodes {
		if s := og.subs[n.Target]; n.Op == fx.GetAttr && s != nil {
			if out == nil {
				out = map[string]*fx.GraphModule{}
			}
			out[n.Target] = s
		}
	}
	return out
}

// rename gives a branch's graph placeholders of these names for inputs, behind its first own ones. They are new ones, as in PyTorch: the old
// ones have the names.
func (og *output) rename(g *fx.Graph, inputs []outside, names []string, own int) {
	old := g.Placeholders()[own:]
	var first *fx.Node
	for _, n := range g.Nodes {
		if n.Op != fx.Placeholder {
			first = n
			break
		}
	}
	g.InsertBefore(first, func() {
		for i, v := range inputs {
			n := g.Placeholder(names[i])
			n.Val = og.nodeOf(v).Val
			for _, o := range old {
				if outsideOf(o) == v {
					g.ReplaceUses(o, n)
				}
			}
		}
	})
	g.Erase(old...)
}

// cleanGradModes removes switches of the gradient mode that follow each other and cancel out. A block that the trace found nothing to
// record in leaves such a pair.
func (og *output) cleanGradModes() {
	nodes := append([]*fx.Node(nil), og.graph.Nodes...)
	on := og.state.grad
	gone := map[*fx.Node]bool{}
	switches := func(n *fx.Node) (to, ok bool) {
		if n.Target != "torch._C._set_grad_enabled" || gone[n] || len(n.Args) != 1 {
			return false, false
		}
		to, ok = n.Args[0].(bool)
		return to, ok
	}
	for i := 0; i+1 < len(nodes); i++ {
		to, ok := switches(nodes[i])
		if !ok || to == on {
			continue
		}
		on = to
		if back, ok := switches(nodes[i+1]); ok && back != on {
			on = back
			gone[nodes[i]], gone[nodes[i+1]] = true, true
			og.graph.Erase(nodes[i], nodes[i+1])
			og.calls -= 2
		}
	}
}

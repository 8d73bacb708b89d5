package capture

import (
	"errors"
	"fmt"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// A body is a function that was traced with a graph of its own.
type body struct {
	graph  *fx.Graph
	inputs []outside // of the trace around it, in the order of their placeholders, behind those that are the body's own
	tree
}

// tree is a value as its leaves and their structure.
type tree struct {
	leaves []vm.Object // tensors and None
	spec   vm.Object   // nil => a tuple
	one    bool        // the value is its only leaf, and no tuple
}

// An operand is a value that is passed to a body as an argument of its own: inside it is another value, whose placeholder has that name.
type operand struct {
	value vm.Object
	name  string
}

// higherOrderOps are the operators of torch.ops.higher_order that a trace makes nodes of, by name.
var higherOrderOps map[string]func(bo *bodies, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error)

func init() {
	higherOrderOps = map[string]func(bo *bodies, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error){
		"cond":                      (*bodies).cond,
		"tag_activation_checkpoint": (*bodies).checkpoint,
		"wrap":                      (*bodies).wrap,
		"map":                       (*bodies).mapOver,
		"map_impl":                  (*bodies).mapOver,
		"strict_mode":               hard("strict_mode HOO", (*bodies).strictMode),
		"hints_wrapper":             hard("Hints_wrapper", (*bodies).hintsWrapper),
		"while_loop":                hard("while_loop", (*bodies).whileLoop),
		"out_dtype":                 (*bodies).outDtype,
		"invoke_subgraph":           (*bodies).invokeSubgraph,
		"associative_scan":          mustBeWhole("associative_scan must be captured completely with torch.compile.", (*bodies).associativeScan),
		"scan":                      mustBeWhole("scan must be captured completely with torch.compile.", (*bodies).scan),
		"wrap_with_set_grad_enabled": func(bo *bodies, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
			return bo.wrapMode("wrap_with_set_grad_enabled", "grad_enabled must be a constant", 1, args, kw)
		},
		"wrap_with_autocast": func(bo *bodies, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
			return bo.wrapMode("wrap_with_autocast", "device_type, dtype, enabled, cache_enabled must be constants", 4, args, kw)
		},
	}
}

// higherOrder is a call of an operator some of whose arguments are functions, or graphs.
func (bo *bodies) higherOrder(op *vm.Instance, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	defer func(before vm.Object) { bo.op = before }(bo.op)
	bo.op = op
	o, err := bo.in.GetAttr(op, "__name__")
	if err != nil {
		return nil, false, err
	}
	name, _ := vm.AsStr(o)
	if f := higherOrderOps[name]; f != nil {
		return f(bo, args, kw)
	}
	if plainBodies.has(name) {
		return nil, false, nil
	}
	return nil, false, refused("HigherOrderOperator %s", name)
}

// refused is the break at a call of such an operator that is not as the operator needs it.
func refused(format string, args ...any) *Unsupported {
	return unsupported(breaks.HigherOrder, fmt.Sprintf(format, args...))
}

// hard makes any break within an operator an error, as nothing else can run it.
func hard(what string, f func(*bodies, []vm.Object, []vm.KwArg) (vm.Object, bool, error)) func(*bodies, []vm.Object, []vm.KwArg) (vm.Object, bool, error) {
	return mustBeWhole(what+" doesn't work unless it is captured completely with torch.compile.", f)
}

func mustBeWhole(reason string, f func(*bodies, []vm.Object, []vm.KwArg) (vm.Object, bool, error)) func(*bodies, []vm.Object, []vm.KwArg) (vm.Object, bool, error) {
	return func(bo *bodies, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
		v, done, err := f(bo, args, kw)
		return v, done, bo.uncaptured(reason, err)
	}
}

// uncaptured is err, or the error that stands for it where it is a break.
func (bo *bodies) uncaptured(reason string, err error) error {
	var u *Unsupported
	if !errors.As(err, &u) {
		return err
	}
	raised := bo.d.raiseAt("torch._dynamo.exc", "UncapturedHigherOrderOpError", reason+" Scroll up to find out what causes the graph break.", bo.journal.stackFrames())
	var outer, cause *vm.Raised
	if errors.As(raised, &outer) && errors.As(bo.d.raise("torch._dynamo.exc", "Unsupported", vm.Str(u.Reason.Message())), &cause) {
		outer.Exc.Cause = cause.Exc
	}
	return &escaped{raised}
}

// flatten takes a value apart as torch.utils._pytree does.
func (bo *bodies) flatten(o vm.Object) (tree, error) {
	r, err := bo.pytree("tree_flatten", o)
	if err != nil {
		return tree{}, err
	}
	parts, ok := vm.AsTuple(r)
	if !ok || len(parts.Items) != 2 {
		return tree{}, fmt.Errorf("tree_flatten gave %s", r.Type().Name)
	}
	leaves, err := bo.in.IterAll(parts.Items[0])
	if len(leaves) != 1 || leaves[0] != o {
		for _, l := range leaves {
			bo.out.nameAfter(l, "child") // the variable that PyTorch's capture meets them in
		}
	}
	return tree{leaves: leaves, spec: parts.Items[1]}, err
}

// unflatten puts leaves into the structure of t.
func (bo *bodies) unflatten(t tree, leaves []vm.Object) (vm.Object, error) {
	return bo.pytree("tree_unflatten", vm.NewList(leaves...), t.spec)
}

// pytree calls a function of torch.utils._pytree, untraced.
func (bo *bodies) pytree(name string, args ...vm.Object) (vm.Object, error) {
	return bo.outside(func() (vm.Object, error) {
		f, err := bo.attribute("torch.utils._pytree", name)
		if err != nil {
			return nil, err
		}
		return bo.in.Call(f, args, nil)
	})
}

// realize makes what a function and its arguments hold inputs of the graph, in the order in which PyTorch comes across them.
func (bo *bodies) realize(fn vm.Object, args []vm.Object, kw []vm.KwArg) error {
	if err := bo.realizeOne(fn); err != nil {
		return err
	}
	for _, a := range args {
		if err := bo.realizeOne(a); err != nil {
			return err
		}
	}
	for _, k := range kw {
		if err := bo.realizeOne(k.Value); err != nil {
			return err
		}
	}
	return nil
}

func (bo *bodies) realizeOne(o vm.Object) error {
	switch v := o.(type) {
	case *torch.Tensor:
		_, err := bo.standIns.fake(v)
		return err
	case *torch.Scalar:
		_, err := bo.out.scalarArg(v)
		return err
	case *vm.Tuple:
		bo.world.seeItems(o)
		return bo.realize(nil, v.Items, nil)
	case *vm.List:
		bo.world.seeItems(o)
		return bo.realize(nil, v.Items, nil)
	case *vm.Dict:
		bo.world.seeItems(o)
		return bo.realize(nil, v.Values(), nil)
	case *vm.Function:
		return bo.realizeClosure(v)
	case *vm.BoundMethod:
		return bo.realizeOne(v.Func)
	case *vm.Instance:
		if v.Class.Name != "partial" || v.Class.Module != "functools" {
			return nil
		}
		for _, name := range []string{"func", "args", "keywords"} {
			if x, err := bo.in.GetAttr(v, name); err == nil {
				if err := bo.realizeOne(x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// trace runs fn with a graph of its own. own are the arguments that come first and are values of the body; the others it reads from around.
// The result has to consist of tensors, and fn must not change what was there before.
func (bo *bodies) trace(fn vm.Object, own []operand, args []vm.Object, kw []vm.KwArg) (*body, error) {
	watch := bo.effects.Watch(append([]vm.Object{fn, vm.NewTuple(args...)}, values(kw)...)...)
	b := bo.out.openBody()
	if bo.op != nil {
		bo.open = append(bo.open, bo.op)
		defer func(n int) { bo.open = bo.open[:n] }(len(bo.open) - 1)
	}
	defer b.close(bo.out) // after an error, too: the trace may go on behind it, in an except block of the program
	given := make([]vm.Object, len(own))
	for i, o := range own {
		given[i] = bo.standIns.bodyInput(o.value, o.name)
		if graphConstant(o.value) {
			n := bo.out.graph.Nodes[len(bo.out.graph.Nodes)-1]
			n.Type = o.value.Type().Name
		}
	}
	for _, o := range given {
		if p, ok := o.(*torch.Tensor); ok {
			for _, name := range bo.out.symbolsOf(p.T) {
				bo.out.exprNode(symbolic.Sym(name))
			}
		}
	}
	res, err := bo.callTraced(fn, append(given, args...), kw)
	if err != nil {
		return nil, err
	}
	if watch.Changed() {
		return nil, unsupported(breaks.SideEffects)
	}
	t, err := bo.flatten(res)
	if err != nil {
		return nil, err
	}
	out := make(fx.Tuple, len(t.leaves))
	for i, o := range t.leaves {
		switch v := o.(type) {
		case *vm.NoneType:
		case *torch.Tensor:
			f, err := bo.standIns.fake(v)
			if err != nil {
				return nil, err
			}
			out[i] = bo.out.nodes[f]
		default:
			return nil, unsupported(breaks.BodyResult)
		}
	}
	g := bo.out.graph
	g.Output(out)
	return &body{graph: g, inputs: b.inputs, tree: t}, nil
}

// values are those of keyword arguments.
func values(kw []vm.KwArg) []vm.Object {
	out := make([]vm.Object, len(kw))
	for i, k := range kw {
		out[i] = k.Value
	}
	return out
}

// graphConstant reports whether a value is a number or the like that graphs hold as it is.
func graphConstant(o vm.Object) bool {
	switch o.(type) {
	case *torch.Tensor, *torch.Scalar:
		return false
	}
	return true
}

// lift orders what a body reads of the trace around it by its use, and gives its nodes there.
func (bo *bodies) lift(b *body, own int) []fx.Arg {
	inputs := bo.byUse(b.graph, b.inputs)
	bo.arrange(b.graph, inputs, own)
	return bo.nodesOf(inputs)
}

// nodesOf are the nodes of values of the trace.
func (bo *bodies) nodesOf(vs []outside) []fx.Arg {
	out := make([]fx.Arg, len(vs))
	for i, v := range vs {
		out[i] = bo.out.nodeOf(v)
	}
	return out
}

// file names a body by a prefix and gives the node that gets it.
func (bo *bodies) file(prefix string, b *body) *fx.Node {
	n := bo.out.graph.GetAttr(bo.out.addBody(prefix, b.graph))
	n.SetOrigin(bo.trail(n))
	return n
}

// reading traces fn as a body that reads all of its arguments of the trace around it, and gives the nodes of what it reads.
func (bo *bodies) reading(fn vm.Object, args []vm.Object, kw []vm.KwArg) (*body, []fx.Arg, error) {
	bo.usePytree()
	if err := bo.realize(fn, args, kw); err != nil {
		return nil, nil, err
	}
	b, err := bo.trace(fn, nil, args, kw)
	if err != nil {
		return nil, nil, err
	}
	return b, bo.lift(b, 0), nil
}

// keywords are the pairs of a dict as keyword arguments.
func keywords(d *vm.Dict) []vm.KwArg {
	var out []vm.KwArg
	d.Each(func(k, v vm.Object) bool {
		if s, ok := vm.AsStr(k); ok {
			out = append(out, vm.KwArg{Name: s, Value: v})
		}
		return true
	})
	return out
}

// node adds the call of a higher-order operator, whose results are like the leaves of t: shaped makes one of each tensor, nil => a tensor like it.
func (bo *bodies) node(target string, args []fx.Arg, kw []fx.Kwarg, t tree, shaped func(*tensor.Tensor) *tensor.Tensor) (vm.Object, error) {
	n := bo.out.graph.CreateNode(fx.CallFunction, "torch.ops.higher_order."+target, args, kw, "")
	n.SetOrigin(bo.trail(n))
	bo.out.calls++
	bo.journal.logNode(n)
	items := make([]vm.Object, len(t.leaves))
	for i, o := range t.leaves {
		items[i] = o
		p, ok := bo.standIns.swapOne(o).(*torch.Tensor)
		if !ok {
			continue
		}
		x := tensor.FakeLike(p.T)
		if shaped != nil {
			x = shaped(p.T)
		} else {
			bo.sizes.Copy(x, p.T)
		}
		if bo.t.Grad.RequiresGrad(p.T) {
			if err := bo.t.Grad.SetRequiresGrad(x, true); err != nil {
				return nil, err
			}
		}
		items[i] = bo.t.Wrap(x)
	}
	if t.one {
		return bo.out.bind(n, items[0]), nil
	}
	bound := bo.out.bind(n, vm.NewTuple(items...)).(*vm.Tuple)
	if t.spec == nil {
		return bound, nil
	}
	return bo.unflatten(t, bound.Items)
}

// wrap is the operator that is nothing but its body: wrap(fn, *args, **kwargs).
func (bo *bodies) wrap(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(args) == 0 {
		return nil, false, nil // plain Python words the error
	}
	b, lifted, err := bo.reading(args[0], args[1:], kw)
	if err != nil {
		return nil, false, err
	}
	v, err := bo.node("wrap", append([]fx.Arg{bo.file("wrap_body", b)}, lifted...), nil, b.tree, nil)
	return v, err == nil, err
}

// invokeSubgraph is invoke_subgraph(fn, identifier, operands, kwargs): calls of a function whose bodies are the same share one, which the node names.
func (bo *bodies) invokeSubgraph(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(args) < 3 || len(kw) > 0 {
		return nil, false, nil
	}
	operands, err := bo.in.IterAll(args[2])
	if err != nil {
		return nil, false, err
	}
	var named []vm.KwArg
	if len(args) > 3 {
		if d, ok := args[3].(*vm.Dict); ok {
			named = keywords(d)
		}
	}
	b, lifted, err := bo.reading(args[0], operands, named)
	if err != nil {
		return nil, false, err
	}
	key := canonical(b.graph)
	name, known := bo.invoked[key]
	if !known {
		name = bo.out.addBody("invoke_subgraph", b.graph)
		bo.invoked[key] = name
	}
	body := bo.out.graph.GetAttr(name)
	body.SetOrigin(bo.trail(body))
	v, err := bo.node("invoke_subgraph", []fx.Arg{body, name, fx.Tuple(lifted)}, nil, b.tree, nil)
	return v, err == nil, err
}

// canonical is the text of a graph that graphs have in common which differ in the names of their nodes alone.
func canonical(g *fx.Graph) string {
	var b strings.Builder
	at := map[*fx.Node]string{}
	show := func(a fx.Arg) string {
		return fx.FormatArg(fx.MapArg(a, func(n *fx.Node) fx.Arg { return at[n] }))
	}
	for i, n := range g.Nodes {
		at[n] = fmt.Sprintf("%%%d", i)
		target := n.Target
		if n.Op == fx.Placeholder {
			target = fx.Described(n.Val)
		}
		fmt.Fprintf(&b, "%s %s", n.Op, target)
		for _, a := range n.Args {
			b.WriteString(" " + show(a))
		}
		for _, k := range n.Kwargs {
			b.WriteString(" " + k.Name + "=" + show(k.Val))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// strictMode is strict_mode(fn, operands).
func (bo *bodies) strictMode(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(args) != 2 {
		return nil, false, nil
	}
	operands, err := bo.in.IterAll(args[1])
	if err != nil {
		return nil, false, err
	}
	for _, o := range operands {
		switch o.(type) {
		case *vm.List, *vm.Tuple, *vm.Dict:
			return nil, false, refused("strict_mode HOO only works for flat inputs for now")
		}
	}
	if len(kw) > 0 {
		return nil, false, refused("strict_mode HOO received unexpected kwargs: %s", keywordList(kw))
	}
	b, lifted, err := bo.reading(args[0], operands, nil)
	if err != nil {
		return nil, false, err
	}
	v, err := bo.node("strict_mode", []fx.Arg{bo.file("strict_mode_body", b), fx.Tuple(lifted)}, nil, b.tree, nil)
	return v, err == nil, err
}

// keywordList shows the names of keyword arguments as a Python list.
func keywordList(kw []vm.KwArg) string {
	names := make([]string, len(kw))
	for i, k := range kw {
		names[i] = "'" + k.Name + "'"
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// hintsWrapper is hints_wrapper(fn, args, kwargs, hints=...).
func (bo *bodies) hintsWrapper(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(args) != 3 {
		return nil, false, refused("Expected 3 arguments but got %d.\nUsage: hints_wrapper(body_fn, args, kwargs, hints).\nkwargs required to be provided explicitly.", len(args))
	}
	operands, err := bo.sequence(args[1], "Expected a tuple but got %s")
	if err != nil {
		return nil, false, err
	}
	given, ok := args[2].(*vm.Dict)
	if !ok {
		return nil, false, refused("Expected a dict but got %s", classOf(args[2]))
	}
	var hints vm.Object
	for _, k := range kw {
		if k.Name == "hints" {
			hints = k.Value
		}
	}
	if hints == nil {
		return nil, false, &escaped{bo.d.raiseAt("torch._dynamo.exc", "InternalTorchDynamoError", "IncorrectUsage: hints_wrapper - key hints not provided", bo.journal.stackFrames())}
	}
	shown, err := bo.t.GraphArg(hints, func(vm.Object) (fx.Arg, bool, error) { return nil, false, nil })
	if err != nil {
		return nil, false, unsupportedArg(err)
	}
	b, lifted, err := bo.reading(args[0], operands, keywords(given))
	if err != nil {
		return nil, false, err
	}
	v, err := bo.node("hints_wrapper", []fx.Arg{bo.file("hints_wrapper_body", b), fx.Tuple(lifted), fx.Dict{}}, []fx.Kwarg{{Name: "hints", Val: shown}}, b.tree, nil)
	return v, err == nil, err
}

// classOf is the class of a value as Python prints it.
func classOf(o vm.Object) string { return "<class '" + o.Type().FullName() + "'>" }

// sequence are the items of a list or a tuple; others are refused in the words of form.
func (bo *bodies) sequence(o vm.Object, form string) ([]vm.Object, error) {
	bo.world.seeItems(o)
	switch v := o.(type) {
	case *vm.List:
		return v.Items, nil
	case *vm.Tuple:
		return v.Items, nil
	}
	return nil, refused(form, classOf(o))
}

// outDtype is out_dtype(op, dtype, *args): one node, whose result has that dtype.
func (bo *bodies) outDtype(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(kw) > 0 {
		return nil, false, refused("out_dtype does not handle kwargs")
	}
	if len(args) < 2 {
		return nil, false, nil
	}
	d, ok := args[1].(*torch.DType)
	if !ok {
		return nil, false, nil
	}
	if err := bo.realize(nil, args[2:], nil); err != nil {
		return nil, false, err
	}
	var shown []fx.Arg
	for _, a := range args {
		x, err := bo.t.GraphArg(a, func(o vm.Object) (fx.Arg, bool, error) {
			switch v := o.(type) {
			case *torch.Tensor:
				f, err := bo.standIns.fake(v)
				return bo.out.nodes[f], err == nil, err
			case *torch.Scalar:
				n, err := bo.out.scalarArg(v)
				return n, true, err
			}
			return nil, false, nil
		})
		if err != nil {
			return nil, false, unsupportedArg(err)
		}
		shown = append(shown, x)
	}
	of, err := bo.onFakes(func() (vm.Object, error) { return bo.in.Call(args[0], bo.standIns.swap(args[2:]), nil) })
	if err != nil {
		return nil, false, err
	}
	v, err := bo.node("out_dtype", shown, nil, tree{leaves: []vm.Object{of}, one: true}, func(x *tensor.Tensor) *tensor.Tensor {
		y := tensor.EmptyFake(d.D, x.Shape, x.Stride)
		bo.sizes.Copy(y, x)
		return y
	})
	return v, err == nil, err
}

// wrapMode is an operator that runs its body in a mode: what the mode is comes first, in that many constants, then the body and its operands.
func (bo *bodies) wrapMode(name, constants string, modes int, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(kw) > 0 {
		return nil, false, refused("%s: Got unexpected kwargs: %s", name, keywordList(kw))
	}
	if len(args) <= modes {
		return nil, false, nil
	}
	var shown []fx.Arg
	for _, a := range args[:modes] {
		if !graphConstant(a) {
			return nil, false, refused("%s", constants)
		}
		x, err := bo.t.GraphArg(a, func(vm.Object) (fx.Arg, bool, error) { return nil, false, nil })
		if err != nil {
			return nil, false, unsupportedArg(err)
		}
		shown = append(shown, x)
	}
	fn, operands := args[modes], args[modes+1:]
	bo.usePytree()
	if err := bo.realize(fn, operands, nil); err != nil {
		return nil, false, err
	}
	own, nodes, err := bo.ownOperands(operands)
	if err != nil {
		return nil, false, err
	}
	if f, ok := fn.(*vm.Function); ok {
		if names := argNames(f, len(own)); names != nil {
			for i := range own {
				if own[i].name == "const_unused" {
					own[i].name += "_" + names[i]
				} else {
					own[i].name = names[i]
				}
			}
		}
	}
	b, err := bo.inMode(name, args[:modes], func() (*body, error) { return bo.trace(fn, own, nil, nil) })
	if err != nil {
		return nil, false, err
	}
	if len(b.inputs) > 0 {
		return nil, false, refused("%s: Got unexpected freevars {%s}", name, bo.proxies(b.inputs))
	}
	all := append(append(shown, bo.file("wrap_body", b)), nodes...)
	v, err := bo.node(name, all, nil, b.tree, nil)
	return v, err == nil, err
}

// proxies shows values that a body reads of the trace around it as PyTorch's messages do.
func (bo *bodies) proxies(vs []outside) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = fmt.Sprintf("Proxy(%[1]s): Proxy(%[1]s)", bo.out.nodeOf(v).Name)
	}
	return strings.Join(parts, ", ")
}

// inMode runs f in the mode of an operator.
func (bo *bodies) inMode(name string, mode []vm.Object, f func() (*body, error)) (*body, error) {
	defer bo.t.KeepModes()()
	if name == "wrap_with_set_grad_enabled" {
		on, err := bo.in.Truth(mode[0])
		if err != nil {
			return nil, err
		}
		bo.t.Grad.SetEnabled(on)
		return f()
	}
	var b *body
	_, err := bo.outside(func() (vm.Object, error) {
		cls, err := bo.attribute("torch", "autocast")
		if err != nil {
			return nil, err
		}
		ctx, err := bo.in.Call(cls, mode, nil)
		if err != nil {
			return nil, err
		}
		return bo.in.CallMethod(ctx, "__enter__")
	})
	if err == nil {
		b, err = f()
	}
	return b, err
}

// ownOperands are arguments as the operands of a body that has values of its own for them, and their nodes around it.
func (bo *bodies) ownOperands(args []vm.Object) (own []operand, nodes []fx.Arg, err error) {
	for _, a := range args {
		switch v := a.(type) {
		case *torch.Tensor:
			f, err := bo.standIns.fake(v)
			if err != nil {
				return nil, nil, err
			}
			n := bo.out.nodes[f]
			own, nodes = append(own, operand{v, n.Name}), append(nodes, n)
		case *torch.Scalar:
			n, err := bo.out.scalarArg(v)
			if err != nil {
				return nil, nil, err
			}
			name := "const_unused"
			if node, ok := n.(*fx.Node); ok {
				name = node.Name
			}
			own, nodes = append(own, operand{v, name}), append(nodes, n)
		case vm.Int, vm.Bool, vm.Float, vm.Str, *vm.NoneType:
			n, err := bo.t.GraphArg(a, func(vm.Object) (fx.Arg, bool, error) { return nil, false, nil })
			if err != nil {
				return nil, nil, unsupportedArg(err)
			}
			own, nodes = append(own, operand{a, "const_unused"}), append(nodes, n)
		default:
			return nil, nil, refused("body that accepts non-Tensors as input. Got: %s", classOf(a))
		}
	}
	return own, nodes, nil
}

package stack

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"whittle/aot"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// bySizes compiles a graph with symbolic sizes. The stages below know plain sizes only: each combination of sizes that
// arrives is compiled when it is first seen, behind one callable, so that capture sees one compilation. Those who look at the graphs
// see them once, as they are for all sizes.
func (s *Session) bySizes(native *torch.GraphModule, inputs []vm.Object, dec map[string]aot.Decomposition, joint bool, comp compiler) (vm.Object, error) {
	known := map[string]vm.Object{}
	compile := func(args []vm.Object, w *watch) (vm.Object, error) {
		gm, kept, err := concrete(native.GM, args)
		if err != nil {
			return nil, err
		}
		obj, err := s.Torch.NewGraphModule(gm, native.Attr)
		if err != nil {
			return nil, err
		}
		return s.aotCompile(s.Torch.NativeGraph(obj), pickObjects(args, kept), dec, joint, comp, w)
	}
	hints := make([]vm.Object, len(inputs))
	for i, o := range inputs {
		hints[i] = o
		if n, ok := o.(*torch.Scalar); ok {
			hints[i] = n.Hint()
		}
	}
	key, kept, err := sizesKey(native.GM, hints)
	if err != nil {
		return nil, err
	}
	w := s.watching()
	w.numbers = 1                                     // most often there are some, and it is only told where somebody looks
	later := &watch{function: w.function, numbers: 1} // for other sizes: whoever looks has seen the graphs
	if s.AOT != nil || w.made != nil || s.Dynamo.Structured() {
		if g := s.forAllSizes(native, inputs, s.backendOptions(nil, &watch{}, dec, joint)); g != nil {
			w = w.forAllSizes(g)
			later.compiled = w.compiled // but for a backward graph that is needed first at these
		}
	}
	if known[key], err = compile(hints, w); err != nil {
		return nil, err
	}
	dims := dynamicResults(native.GM.Graph)
	return &vm.Builtin{Name: "compiled_fn", Module: "torch._functorch.aot_autograd", Max: -1, Fn: func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		key, _, err := sizesKey(native.GM, args)
		if err != nil {
			return nil, err
		}
		fn := known[key]
		if fn == nil {
			if fn, err = compile(args, later); err != nil {
				return nil, err
			}
			known[key] = fn
		}
		results, err := in.Call(fn, pickObjects(args, kept), nil)
		if err != nil {
			return nil, err
		}
		return results, markWeakly(in, results, dims)
	}}, nil
}

// forAllSizes is a watch that is shown g, once, in the place of the graphs for some sizes. The backward graph is compiled along with the forward
// graph where that leaves numbers for it, and else when it is first needed.
func (w *watch) forAllSizes(g *aot.Graphs) *watch {
	graphs := map[string]*fx.GraphModule{"joint": g.Joint, "forward": g.Forward, "backward": g.Backward, "inference": g.Inference}
	seen := map[string]bool{}
	all := &watch{function: w.function, described: w.described, numbers: g.Numbers}
	w.describe = g.Describe
	all.compiled = func(kind string, _ *fx.GraphModule) {
		if seen[kind] {
			return
		}
		seen[kind] = true
		w.compiled(kind, graphs[kind])
		if kind == "forward" && g.Numbers > 0 {
			all.compiled("backward", nil)
		}
	}
	if w.made != nil {
		all.made = func(kind string, _ *fx.GraphModule) { w.made(kind, graphs[kind]) }
	}
	return all
}

// forAllSizes is the graphs of a captured graph for all sizes; nil where they cannot be told: where a float is symbolic too, or the graph is
// another at other sizes.
func (s *Session) forAllSizes(native *torch.GraphModule, inputs []vm.Object, opt aot.Options) *aot.Graphs {
	sizes, ok := s.capturedSizes(native, inputs)
	if !ok {
		return nil
	}
	g, err := aot.ForAllSizes(s.function(native), sizes, opt)
	if err != nil {
		return nil
	}
	return g
}

// byCounting compiles a graph whose sizes or numbers depend on data into one for all of them, which the eager kernels run: loops want plain sizes. It is
// nil where that cannot be told.
func (s *Session) byCounting(native *torch.GraphModule, inputs []vm.Object, dec map[string]aot.Decomposition, joint bool) (vm.Object, error) {
	sizes, ok := s.capturedSizes(native, inputs)
	if !ok {
		return nil, nil
	}
	w := s.watching()
	describe := map[*tensor.Tensor]string{}
	sizes.Found = func(t *tensor.Tensor, size, stride []*symbolic.Expr) {
		describe[t] = t.DType.Short() + symbolic.List(size) + symbolic.List(stride) + "cpu"
	}
	w.describe = func(n *fx.Node) string {
		if t, ok := n.Val.(*tensor.Tensor); ok && describe[t] != "" {
			return describe[t]
		}
		return fx.Described(n.Val)
	}
	c, err := s.tracedForAllSizes(s.function(native), sizes, s.backendOptions(s.interpret, w, dec, joint))
	var each *aot.NotOneGraph
	if errors.As(err, &each) {
		return nil, nil
	} else if err != nil {
		return nil, s.Torch.Error(err)
	}
	return s.callable(c), nil
}

// capturedSizes is symbolicSizes for the inputs of a captured graph.
func (s *Session) capturedSizes(native *torch.GraphModule, inputs []vm.Object) (sizes aot.Sizes, ok bool) {
	if len(realInputs(native.GM)) > 0 {
		return sizes, false
	}
	fakes := make([]*tensor.Tensor, len(inputs))
	for i, p := range native.GM.Graph.Placeholders() {
		fakes[i], _ = p.Val.(*tensor.Tensor)
	}
	sizes, mode := s.symbolicSizes(inputs, fakes, native.GM.Graph)
	return sizes, mode != nil
}

// symbolicSizes says how the sizes of arguments follow from the symbols among them, as their fakes know it, whose mode is given back; what a captured
// graph computes is known. mode is nil where there are no symbols, or other ones than sizes and counts.
func (s *Session) symbolicSizes(args []vm.Object, fakes []*tensor.Tensor, captured *fx.Graph) (sizes aot.Sizes, mode torch.SymbolicMode) {
	for _, n := range captured.Nodes {
		if t, ok := n.Val.(*tensor.Tensor); ok && t != nil && mode == nil {
			mode, _ = t.Mode.(torch.SymbolicMode)
		}
	}
	if mode == nil {
		return sizes, nil
	}
	sizes.Env = mode.Env()
	exprs := make([][2][]*symbolic.Expr, len(args)) // of sizes and strides
	vals := make([]any, len(args))
	for i, o := range args {
		if n, ok := o.(*torch.Scalar); ok {
			if n.Kind != tensor.Int64 || n.Expr.Op != symbolic.OpSym {
				return sizes, nil
			}
			sizes.Symbols = append(sizes.Symbols, n.Expr.Name)
			exprs[i][0] = []*symbolic.Expr{n.Expr}
			continue
		}
		vals[i], _ = s.Torch.Value(o)
		if fakes[i] == nil {
			continue
		}
		if m, ok := fakes[i].Mode.(torch.FakeMode); ok {
			exprs[i] = [2][]*symbolic.Expr{expressions(m.Extents(fakes[i], false)), expressions(m.Extents(fakes[i], true))}
		}
	}
	for _, n := range captured.Nodes {
		if v, ok := n.Val.(fx.SymInt); ok {
			switch e, err := symbolic.Parse(v.Expr); {
			case err != nil || e.IsBool():
			case e.IsFloat():
				sizes.Reals = append(sizes.Reals, e)
			default:
				sizes.Known = append(sizes.Known, e)
			}
		}
	}
	sizes.Inputs = func(values map[string]int64) ([]aot.Input, error) {
		ins := make([]aot.Input, len(args))
		for i, v := range vals {
			size, err := evaluated(exprs[i][0], values)
			if err != nil {
				return nil, err
			}
			t, ok := v.(*tensor.Tensor)
			if !ok {
				if ins[i].Value = v; len(size) == 1 {
					ins[i].Value = size[0]
				}
				continue
			}
			ins[i] = aot.Input{Value: t, RequiresGrad: s.grad.RequiresGrad(t)}
			if size == nil {
				continue
			}
			stride, err := evaluated(exprs[i][1], values)
			if err != nil {
				return nil, err
			}
			sized := *t
			sized.Shape, sized.Stride = size, stride
			sized.Storage = tensor.EmptyFake(t.DType, size, stride).Storage
			ins[i].Value = &sized
		}
		return ins, nil
	}
	for _, n := range captured.Nodes {
		for _, name := range symbolsOf(n.Val) {
			if strings.HasPrefix(name, "z") {
				return sizes, nil // a float
			}
			if !slices.Contains(sizes.Symbols, name) && !slices.Contains(sizes.Unknown, name) {
				sizes.Unknown = append(sizes.Unknown, name)
			}
		}
	}
	sizes.Counted, sizes.Asserted = s.counted(sizes.Unknown), s.asserted
	if len(sizes.Symbols) == 0 && len(sizes.Unknown) == 0 {
		return sizes, nil
	}
	return sizes, mode
}

// counted is the symbol, one of these, that the captured node that runs now brings, as its inputs do not have it: a number that only a run knows.
func (s *Session) counted(unknown []string) func() string {
	return func() string {
		n := s.Torch.Running
		if n == nil {
			return ""
		}
		had := map[string]bool{}
		n.WalkInputs(func(in *fx.Node) {
			for _, name := range symbolsOf(in.Val) {
				had[name] = true
			}
		})
		for _, name := range symbolsOf(n.Val) {
			if !had[name] && slices.Contains(unknown, name) {
				return name
			}
		}
		return ""
	}
}

// relations are the functions of captured graphs that compare numbers.
var relations = map[string]symbolic.Op{"operator.eq": symbolic.OpEq, "operator.ne": symbolic.OpNe, "operator.lt": symbolic.OpLt, "operator.le": symbolic.OpLe,
	"operator.gt": symbolic.OpGt, "operator.ge": symbolic.OpGe}

// asserted is the relation that the captured assertion that runs now is about, of what the graph compares; nil for none.
func (s *Session) asserted() *symbolic.Expr {
	n := s.Torch.Running
	if n == nil || len(n.Args) == 0 {
		return nil
	}
	about, ok := n.Args[0].(*fx.Node)
	if !ok || len(about.Args) != 2 {
		return nil
	}
	op, ok := relations[about.Target]
	left, right := numberOf(about.Args[0]), numberOf(about.Args[1])
	if !ok || left == nil || right == nil {
		return nil
	}
	return symbolic.Cmp(op, left, right)
}

// numberOf is an argument of a captured node as an expression; nil for what is no whole number.
func numberOf(a fx.Arg) *symbolic.Expr {
	switch a := a.(type) {
	case int64:
		return symbolic.Int(a)
	case *fx.Node:
		if v, ok := a.Val.(fx.SymInt); ok {
			e, _ := symbolic.Parse(v.Expr)
			return e
		}
	}
	return nil
}

// symbolsOf are the symbols in a value of a captured node.
func symbolsOf(v any) []string {
	var out []string
	switch v := v.(type) {
	case fx.SymInt:
		return symbolic.SymbolsIn(v.Expr)
	case *tensor.Tensor:
		if v == nil {
			return nil
		}
		if m, ok := v.Mode.(torch.FakeMode); ok {
			for _, e := range expressions(m.Extents(v, false)) {
				out = append(out, e.Symbols()...)
			}
		}
	case []any:
		for _, x := range v {
			out = append(out, symbolsOf(x)...)
		}
	}
	return out
}

// expressions are numbers of a trace as expressions; nil for none.
func expressions(os []vm.Object) []*symbolic.Expr {
	var out []*symbolic.Expr
	for _, o := range os {
		if n, ok := o.(*torch.Scalar); ok {
			out = append(out, n.Expr)
		} else if n, ok := vm.AsInt(o); ok {
			out = append(out, symbolic.Int(n))
		}
	}
	return out
}

// evaluated are the values of expressions.
func evaluated(es []*symbolic.Expr, values map[string]int64) ([]int64, error) {
	var out []int64
	for _, e := range es {
		n, err := symbolic.EvalInt(e.String(), values)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// needsData reports whether a graph computes with sizes or numbers that depend on data. The stages below cannot trace it:
// it runs as it was captured.
func needsData(gm *fx.GraphModule) bool {
	reals := realInputs(gm)
	number := map[*fx.Node]bool{}
	for i, n := range gm.Graph.Placeholders() {
		number[n] = reals[i]
	}
	for _, n := range gm.Graph.Nodes {
		switch {
		case n.Target == "aten.sym_size.int":
			return true
		case n.Op == fx.CallMethod && n.Target == "item":
			if in, ok := n.Args[0].(*fx.Node); !ok || !number[in] {
				return true
			}
		}
	}
	return false
}

func pickObjects(args []vm.Object, kept []int) []vm.Object {
	out := make([]vm.Object, len(kept))
	for i, k := range kept {
		out[i] = args[k]
	}
	return out
}

// sizesKey names the sizes and layouts of the arguments and the values of the numbers among them. kept are the
// arguments that stay inputs: the tensors that are no numbers in disguise.
func sizesKey(gm *fx.GraphModule, args []vm.Object) (key string, kept []int, err error) {
	reals := realInputs(gm)
	var b strings.Builder
	for i, o := range args {
		switch v := o.(type) {
		case *torch.Tensor:
			if reals[i] && !asTensors(gm.Graph, gm.Graph.Placeholders()[i]) {
				fmt.Fprintf(&b, "%v;", v.T.At(0))
				continue
			}
			kept = append(kept, i)
			fmt.Fprintf(&b, "%v%v+%d;", v.T.Shape, v.T.Stride, v.T.Offset)
		case vm.Int, vm.Float, vm.Bool:
			fmt.Fprintf(&b, "%v;", v)
		default:
			return "", nil, fmt.Errorf("a graph with symbolic sizes was given a %s", o.Type())
		}
	}
	return b.String(), kept, nil
}

// realInputs are the placeholders that bring a float of the program in as a tensor: only their item is read.
func realInputs(gm *fx.GraphModule) map[int]bool {
	users := gm.Graph.Users()
	out := map[int]bool{}
	for i, n := range gm.Graph.Placeholders() {
		t, ok := n.Val.(*tensor.Tensor)
		if !ok || t.DType != tensor.Float64 || len(t.Shape) != 0 || len(users[n]) == 0 {
			continue
		}
		only := true
		for _, u := range users[n] {
			only = only && u.Op == fx.CallMethod && u.Target == "item"
		}
		if only {
			out[i] = true
		}
	}
	return out
}

// concrete is the graph with the numbers among its inputs, and the items of floats, as constants.
func concrete(gm *fx.GraphModule, args []vm.Object) (*fx.GraphModule, []int, error) {
	_, kept, err := sizesKey(gm, args)
	if err != nil {
		return nil, nil, err
	}
	reals := realInputs(gm)
	c, _ := gm.Clone()
	var gone []*fx.Node
	for i, n := range c.Graph.Placeholders() {
		if reals[i] && asTensors(c.Graph, n) {
			gone = append(gone, tensorify(c.Graph, n, args[i].(*torch.Tensor).T.At(0))...)
			continue
		}
		switch v := args[i].(type) {
		case vm.Int:
			c.Graph.ReplaceUses(n, int64(v))
		case vm.Float:
			c.Graph.ReplaceUses(n, float64(v))
		case vm.Bool:
			c.Graph.ReplaceUses(n, bool(v))
		case *torch.Tensor:
			if !reals[i] {
				continue
			}
			for _, u := range c.Graph.Users()[n] {
				c.Graph.ReplaceUses(u, v.T.At(0))
				gone = append(gone, u)
			}
		}
		gone = append(gone, n)
	}
	c.Graph.Erase(gone...)
	return c, kept, nil
}

// onTensors are operators for which a number and a 0-d tensor of the other operand's dtype are the same.
var onTensors = map[string]bool{"operator.add": true, "operator.sub": true, "operator.mul": true, "operator.truediv": true}

// comparisons of floats have one outcome in a graph: capture guards it.
var comparisons = map[string]bool{"operator.lt": true, "operator.le": true, "operator.gt": true, "operator.ge": true, "operator.eq": true, "operator.ne": true}

// floatOperand is the floating dtype of the tensor that meets number item in u; ok is false when there is none.
func floatOperand(u, item *fx.Node) (d tensor.DType, ok bool) {
	for _, a := range u.Args {
		if n, isNode := a.(*fx.Node); isNode && n != item {
			if t, isTensor := n.Val.(*tensor.Tensor); isTensor {
				return t.DType, t.DType.IsFloat() && len(t.Shape) > 0
			}
		}
	}
	return tensor.Invalid, false
}

// asTensors reports whether everything done with a float that comes in as tensor p can be done with the tensor: then one
// compilation serves all its values.
func asTensors(g *fx.Graph, p *fx.Node) bool {
	users := g.Users()
	for _, item := range users[p] {
		for _, u := range users[item] {
			if u.Op != fx.CallFunction || len(u.Args) != 2 || len(u.Kwargs) > 0 {
				return false
			}
			_, tensorOperand := floatOperand(u, item)
			switch {
			case onTensors[u.Target] && tensorOperand:
			case comparisons[u.Target] && !tensorOperand && number(u.Args[0], item) && number(u.Args[1], item):
			default:
				return false
			}
		}
	}
	return true
}

// number reports whether an argument is item itself or a literal.
func number(a fx.Arg, item *fx.Node) bool {
	switch a := a.(type) {
	case *fx.Node:
		return a == item
	case int64, float64:
		return true
	}
	return false
}

// tensorify rewrites the uses of float p, now v, as asTensors found them possible. It returns the nodes that nobody needs any more.
func tensorify(g *fx.Graph, p *fx.Node, v float64) (gone []*fx.Node) {
	users := g.Users()
	for _, item := range users[p] {
		for _, u := range users[item] {
			if comparisons[u.Target] {
				g.ReplaceUses(u, compared(u, item, v))
				gone = append(gone, u)
				continue
			}
			d, _ := floatOperand(u, item)
			var c *fx.Node
			g.InsertBefore(u, func() { c = g.CallFunction("prims.convert_element_type.default", p, d) })
			u.MapInputs(func(in *fx.Node) fx.Arg {
				if in == item {
					return c
				}
				return in
			})
		}
		gone = append(gone, item)
	}
	return gone
}

// compared is the outcome of comparison u when its operand item is v.
func compared(u, item *fx.Node, v float64) bool {
	value := func(a fx.Arg) float64 {
		switch a := a.(type) {
		case int64:
			return float64(a)
		case float64:
			return a
		}
		return v
	}
	a, b := value(u.Args[0]), value(u.Args[1])
	switch u.Target {
	case "operator.lt":
		return a < b
	case "operator.le":
		return a <= b
	case "operator.gt":
		return a > b
	case "operator.ge":
		return a >= b
	case "operator.eq":
		return a == b
	}
	return a != b
}

package capture

import (
	"fmt"
	"slices"
	"sort"

	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// codeID names a code object over resets of the code cache, as PyTorch does.
type codeID struct {
	file, name string
	line       int
}

// seenSizes is what the captures of one code object saw at one source. Values that differ between captures become dynamic.
type seenSizes struct {
	number vm.Object // of a plain number; nil before one was seen
	wild   bool      // the number differed, or a tensor was there as well
	size   []int64   // nil before a tensor was seen
	free   []bool    // dimensions whose sizes differed
	rank   bool      // the number of dimensions differed: all are dynamic
	stride []string  // as strideSpec gives it
	shift  []bool    // dimensions whose strides differed
}

func (s *seenSizes) seeNumber(v vm.Object) {
	switch {
	case s.size != nil:
		s.wild = true
	case s.number == nil:
		s.number = v
	case s.number != v:
		s.wild = true
	}
	s.rank = true
}

func (s *seenSizes) seeTensor(size []int64, stride []string) {
	s.wild = true
	switch {
	case s.number != nil:
		s.rank = true
	case s.size == nil:
		s.size, s.stride = append([]int64{}, size...), stride
		s.free, s.shift = make([]bool, len(size)), make([]bool, len(size))
	case len(s.size) != len(size):
		s.rank = true
	default:
		for i := range size {
			s.free[i] = s.free[i] || s.size[i] != size[i]
			s.shift[i] = s.shift[i] || s.stride[i] != stride[i]
		}
	}
}

func (s *seenSizes) sizeDynamic(i int) bool { return s.rank || i < len(s.free) && s.free[i] }

// strideDynamic holds only where no size ever differed.
func (s *seenSizes) strideDynamic(i int) bool {
	if s.rank {
		return false
	}
	for _, f := range s.free {
		if f {
			return false
		}
	}
	return i < len(s.shift) && s.shift[i]
}

// strideSpec describes each stride by the dimension whose extent it is, "S0", or as a number.
func strideSpec(size, stride []int64) []string {
	out := make([]string, len(size))
	ends := map[int64]int{}
	for {
		var left []int
		for i := range out {
			if out[i] == "" {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return out
		}
		sort.SliceStable(left, func(a, b int) bool { return stride[left[a]] < stride[left[b]] })
		found := false
		for _, i := range left {
			if d, ok := ends[stride[i]]; ok {
				out[i] = fmt.Sprintf("S%d", d)
				ends[size[i]*stride[i]] = i
				found = true
			}
		}
		if !found {
			i := left[0]
			out[i] = fmt.Sprint(stride[i])
			ends[size[i]*stride[i]] = i
		}
	}
}

// seen is the history of a source in the frame that is being captured.
func (sy *symbols) seen(source string) *seenSizes {
	c := sy.root.Code
	id := codeIDOf(c.Code)
	h := sy.d.history[id]
	if h == nil {
		h = map[string]*seenSizes{}
		sy.d.history[id] = h
	}
	if h[source] == nil {
		h[source] = &seenSizes{}
	}
	return h[source]
}

// shapeConfig is what decides which sizes are symbols.
type shapeConfig struct {
	assumeStatic, automatic, specializeInt, specializeFloat, staticParameters, ignoreMarks bool
}

func (d *Dynamo) shapeConfig() (c shapeConfig, err error) {
	for name, p := range map[string]*bool{"assume_static_by_default": &c.assumeStatic, "automatic_dynamic_shapes": &c.automatic, "specialize_int": &c.specializeInt,
		"specialize_float": &c.specializeFloat, "force_parameter_static_shapes": &c.staticParameters, "allow_ignore_mark_dynamic": &c.ignoreMarks} {
		if *p, err = d.configBool(name); err != nil {
			return c, err
		}
	}
	if d.ctx.Dynamic != nil {
		c.assumeStatic = !*d.ctx.Dynamic
		c.automatic = *d.ctx.Dynamic
	}
	return c, nil
}

// inputSizes are the sizes and strides of a tensor that comes from outside, as the trace sees them.
type inputSizes struct {
	size, stride []*symbolic.Expr
	offset       *symbolic.Expr
	bound        []string // symbols that this tensor has, those first that it was the first to have
}

// marks reads the set of dimensions in an attribute of a tensor.
func (sy *symbols) marks(p *torch.Tensor, name string) map[int]bool {
	dict := p.AttrDict(false)
	if dict == nil {
		return nil
	}
	v, ok := dict.GetStr(name)
	if !ok {
		return nil
	}
	items, err := sy.in.IterAll(v)
	if err != nil {
		return nil
	}
	out := map[int]bool{}
	for _, x := range items {
		if n, ok := vm.AsInt(x); ok {
			out[int(n)] = true
		}
	}
	return out
}

// sizesAt decides once which sizes of the tensor at a source are symbols.
func (sy *symbols) sizesAt(p *torch.Tensor, src source.Source) *inputSizes {
	name := src.Name()
	if s := sy.inputSizes[name]; s != nil {
		return s
	}
	x := p.T
	if x.Base != nil && !sy.isStatic(p, src) {
		if base, ok := sy.t.Wrap(x.Base).(*torch.Tensor); ok {
			sy.sizesAt(base, source.Attr{Base: src, Of: "_base"})
		}
	}
	before := len(sy.unknowns.Symbols())
	s := &inputSizes{}
	sy.inputSizes[name] = s
	limits := make([]*symbolic.Limit, len(x.Shape))
	policy := make([]symbolic.Policy, len(x.Shape))
	shifts := make([]bool, len(x.Shape))
	static := true
	if !sy.isStatic(p, src) {
		h := sy.seen(name)
		h.seeTensor(x.Shape, strideSpec(x.Shape, x.Stride))
		strong, weak, fixed := sy.marks(p, "_dynamo_dynamic_indices"), sy.marks(p, "_dynamo_weak_dynamic_indices"), sy.marks(p, "_dynamo_static_indices")
		for i := range policy {
			free := sy.shapes.automatic && h.sizeDynamic(i)
			shifts[i] = sy.shapes.automatic && h.strideDynamic(i) && !fixed[i] && !strong[i]
			switch {
			case strong[i]:
				if h.free != nil && i < len(h.free) {
					h.free[i] = true
				}
				policy[i] = symbolic.Dynamic
				if !sy.shapes.ignoreMarks {
					limits[i] = &symbolic.Limit{Range: sy.markedRange(p, i)}
				}
			case fixed[i]:
			case weak[i], free:
				policy[i] = symbolic.Dynamic
			case !sy.shapes.assumeStatic:
				policy[i] = symbolic.Duck
			}
			static = static && policy[i] == symbolic.Static
		}
	}
	for i, n := range x.Shape {
		e := sy.unknowns.Size(n, fmt.Sprintf("%s.size()[%d]", name, i), policy[i])
		if limits[i] != nil && limits[i].Range != symbolic.All && e.Op == symbolic.OpSym {
			sy.unknowns.Constrain(e.Name, limits[i].Range)
		}
		s.size = append(s.size, e)
	}
	s.stride = sy.strides(name, x, s.size, shifts, static)
	offset := symbolic.Duck
	if static {
		offset = symbolic.Static
	}
	s.offset = sy.unknowns.Size(x.Offset, name+".storage_offset()", offset)
	for _, sym := range sy.unknowns.Symbols()[before:] {
		s.bound = append(s.bound, sym.Name)
	}
	for _, e := range slices.Concat(s.size, s.stride, []*symbolic.Expr{s.offset}) { // the base of a view may have had it first
		if e.Op == symbolic.OpSym && !slices.Contains(s.bound, e.Name) {
			s.bound = append(s.bound, e.Name)
		}
	}
	track := func(text string, e *symbolic.Expr, l *symbolic.Limit, get func(t *tensor.Tensor) int64) {
		sy.track(symbolic.Input{From: text, Expr: e, Tensor: true, Limit: l}, func(e *source.Env) (any, bool) {
			v, err := src.Get(e)
			q, ok := v.(*torch.Tensor)
			if err != nil || !ok {
				return nil, false
			}
			return get(q.T), true
		})
	}
	for i := range x.Shape {
		track(fmt.Sprintf("%s.size()[%d]", name, i), s.size[i], limits[i], func(t *tensor.Tensor) int64 {
			if i < len(t.Shape) {
				return t.Shape[i]
			}
			return -1
		})
	}
	for i := range x.Shape {
		track(fmt.Sprintf("%s.stride()[%d]", name, i), s.stride[i], nil, func(t *tensor.Tensor) int64 {
			if i < len(t.Stride) {
				return t.Stride[i]
			}
			return -1
		})
	}
	track(name+".storage_offset()", s.offset, nil, func(t *tensor.Tensor) int64 { return t.Offset })
	return s
}

// markedRange is the range that mark_dynamic promised for dimension i.
func (sy *symbols) markedRange(p *torch.Tensor, i int) symbolic.Range {
	r := symbolic.All
	v, ok := p.AttrDict(true).GetStr("_dynamo_dynamic_range")
	if !ok {
		return r
	}
	items, err := sy.in.IterAll(v)
	if err != nil {
		return r
	}
	for _, it := range items {
		part := func(name string) (int64, bool) {
			o, err := sy.in.GetAttr(it, name)
			if err != nil {
				return 0, false
			}
			return vm.AsInt(o)
		}
		if d, ok := part("dim"); !ok || int(d) != i {
			continue
		}
		if n, ok := part("min"); ok {
			r.Lo = n
		}
		if n, ok := part("max"); ok {
			r.Hi = n
		}
	}
	return r
}

// isStatic tensors never have symbolic sizes: parameters, and what belongs to modules.
func (sy *symbols) isStatic(p *torch.Tensor, src source.Source) bool {
	return sy.shapes.staticParameters && staticShape(p, src)
}

// strides explains strides by sizes where it can: from the innermost on, a stride is another dimension's extent.
func (sy *symbols) strides(name string, x *tensor.Tensor, size []*symbolic.Expr, shifts []bool, static bool) []*symbolic.Expr {
	out := make([]*symbolic.Expr, len(size))
	for i, n := range x.Stride {
		if n == 0 || n == 1 {
			out[i] = symbolic.Int(n)
		}
	}
	for {
		ends := map[int64]*symbolic.Expr{}
		var left []int
		for i := range out {
			if out[i] != nil {
				ends[x.Shape[i]*x.Stride[i]] = symbolic.Mul(size[i], out[i])
			} else {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return out
		}
		sort.SliceStable(left, func(a, b int) bool { return x.Stride[left[a]] < x.Stride[left[b]] })
		open := left[:0:0]
		for _, i := range left {
			if e := ends[x.Stride[i]]; e != nil && !shifts[i] {
				out[i] = e
				ends[x.Shape[i]*x.Stride[i]] = symbolic.Mul(size[i], e)
			} else {
				open = append(open, i)
			}
		}
		if len(open) > 0 {
			i := open[0]
			p := symbolic.Duck
			switch {
			case shifts[i]:
				p = symbolic.Dynamic
			case static:
				p = symbolic.Static
			}
			out[i] = sy.unknowns.Size(x.Stride[i], fmt.Sprintf("%s.stride()[%d]", name, i), p)
		}
	}
}

// track notes a number that comes from outside, and how to read it.
func (sy *symbols) track(in symbolic.Input, get func(e *source.Env) (any, bool)) {
	sy.inputNumbers = append(sy.inputNumbers, in)
	sy.numbers[in.From] = get
}

// bindSymbols adds placeholders for symbols; they stand before that of the tensor that has them.
func (sy *symbols) bindSymbols(names []string) {
	for _, name := range names {
		if sy.out.exprNodes[name] != nil {
			continue
		}
		s := sy.unknowns.Symbol(name)
		n := sy.out.placeholder(name)
		n.Type = "torch.SymInt"
		hint, _ := s.Hint.(int64)
		n.Val = fx.SymInt{Expr: name, Hint: hint}
		n.Meta = map[string]any{fx.MetaSource: s.From}
		sy.out.exprNodes[name] = n
		sy.out.inputs = append(sy.out.inputs, input{node: n, source: numberSource{s.From, sy.numbers}, symbol: name})
	}
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

// numberSource reads a size, or a number that the program was given.
type numberSource struct {
	text    string
	numbers map[string]func(e *source.Env) (any, bool)
}

// Name is the text that guards use.
func (s numberSource) Name() string { return s.text }

// Get reads the number.
func (s numberSource) Get(e *source.Env) (vm.Object, error) {
	if get := s.numbers[s.text]; get != nil {
		if v, ok := get(e); ok {
			switch v := v.(type) {
			case int64:
				return vm.MakeInt(v), nil
			case float64:
				return vm.Float(v), nil
			}
		}
	}
	return nil, fmt.Errorf("%s is gone", s.text)
}

// sizesOf is torch's hook for sizes and strides of a tensor inside a trace.
func (st *standIns) sizesOf(x *tensor.Tensor, stride bool, dims ...int) []vm.Object {
	f := st.standIn(x)
	if f == nil || !st.sizes.Symbolic(f) && st.reals[f] == nil {
		return nil
	}
	all := st.sizes.Size(f)
	if stride {
		var err error
		if all, err = st.sizes.Stride(f); err != nil {
			return nil
		}
	}
	if len(dims) > 0 {
		some := make([]*symbolic.Expr, len(dims))
		for i, d := range dims {
			some[i] = all[d]
		}
		all = some
	}
	if constants(all) {
		return nil
	}
	return st.out.numberObjects(all)
}

// standIn is the fake of a tensor whose sizes are asked for: one that comes in is used by that. nil for tensors of no trace.
func (st *standIns) standIn(x *tensor.Tensor) *tensor.Tensor {
	if x.Fake {
		return x
	}
	p, ok := x.Py.(*torch.Tensor)
	if !ok || st.world.sources[p] == nil {
		return nil
	}
	f, err := st.fake(p)
	if err != nil {
		return nil
	}
	return f
}

// numelOf is torch's hook for the number of elements of a tensor inside a trace.
func (st *standIns) numelOf(x *tensor.Tensor) vm.Object {
	f := st.standIn(x)
	if f == nil || !st.sizes.Symbolic(f) {
		return nil
	}
	e := symbolic.Mul(st.sizes.Size(f)...)
	o := st.t.Number(e, st.unknowns)
	s, ok := o.(*torch.Scalar)
	if !ok || st.depth > 0 {
		return o
	}
	n := st.out.nodes[f]
	if st.out.exprNodes[e.String()] == nil && n != nil && n.Op == fx.Placeholder { // of anything else, it is computed from the inputs
		m := st.out.graph.CreateNode(fx.CallMethod, "numel", []fx.Arg{n}, nil, "")
		m.Val = fx.SymInt{Expr: e.String(), Hint: st.unknowns.HintInt(e)}
		st.out.exprNodes[e.String()] = m
	}
	st.out.calls++
	st.out.scalars[s] = st.out.exprNode(e)
	return s
}

func constants(es []*symbolic.Expr) bool {
	for _, e := range es {
		if !e.IsConst() {
			return false
		}
	}
	return true
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

// exprNode is the node that computes e from the graph's inputs; nil when graphs have no function for it.
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

// lifted is the symbolic number that stands for a plain one from outside; nil when it is a constant of the trace.
func (sy *symbols) lifted(v vm.Object, src source.Source) vm.Object {
	name := src.Name()
	if s := sy.liftedAs[name]; s != nil {
		return s
	}
	switch v := v.(type) {
	case vm.Int:
		if sy.shapes.specializeInt || !sy.mayVary(src) {
			return nil
		}
		h := sy.seen(name)
		h.seeNumber(v)
		if !(sy.shapes.automatic && h.wild) && sy.shapes.assumeStatic {
			return nil
		}
		e := sy.unknowns.Number(int64(v), name)
		sy.track(symbolic.Input{From: name, Expr: e}, func(e *source.Env) (any, bool) {
			o, err := src.Get(e)
			n, ok := o.(vm.Int)
			return int64(n), err == nil && ok
		})
		sy.guardLifted(v, src)
		sy.out.later[e.Name] = func() *fx.Node {
			n := sy.out.placeholder(placeholderName(name))
			n.Type = "torch.SymInt"
			n.Val = fx.SymInt{Expr: e.Name, Hint: int64(v)}
			n.Meta = map[string]any{fx.MetaSource: name}
			sy.out.inputs = append(sy.out.inputs, input{node: n, source: src, symbol: e.Name})
			return n
		}
		s := sy.t.Number(e, sy.unknowns)
		sy.liftedAs[name], sy.liftedFrom[s] = s, src
		return s
	case vm.Float:
		h := sy.seen(name)
		h.seeNumber(v)
		f := float64(v)
		if sy.shapes.specializeFloat || f != f || f-f != 0 || !h.wild {
			return nil
		}
		item := "___as_tensor(" + name + ").item()"
		e := sy.unknowns.Real(f, item)
		get := func(e *source.Env) (any, bool) {
			o, err := src.Get(e)
			n, ok := o.(vm.Float)
			return float64(n), err == nil && ok
		}
		sy.track(symbolic.Input{From: item, Expr: e}, get)
		sy.track(symbolic.Input{From: name, Expr: e}, get)
		sy.guardLifted(v, src)
		sy.out.later[e.Name] = func() *fx.Node {
			n := sy.out.placeholder(placeholderName(name))
			n.Type = "torch.Tensor"
			x := tensor.Full(tensor.Float64, f)
			n.Val = tensor.FakeLike(x)
			n.Meta = map[string]any{fx.MetaSource: name}
			sy.out.inputs = append(sy.out.inputs, input{node: n, source: asTensorSource{src, sy.t}, val: x})
			it := sy.out.graph.CreateNode(fx.CallMethod, "item", []fx.Arg{n}, nil, "")
			it.Val = fx.SymInt{Expr: e.Name}
			return it
		}
		s := sy.t.Number(e, sy.unknowns)
		sy.liftedAs[name], sy.liftedFrom[s] = s, src
		return s
	}
	return nil
}

// guardLifted guards the type of a number that became a symbol; what it may be is up to the guards on its symbol.
func (sy *symbols) guardLifted(v vm.Object, src source.Source) {
	n := src.Name()
	if _, done := sy.guards.Value(n); !done {
		sy.guards.SetValue(n, v)
		sy.guards.Add(guard.Type(v, src))
	}
}

// mayVary reports whether an integer at a source may become a symbol: it starts at a local variable, and is no attribute of
// one of the library's modules.
func (sy *symbols) mayVary(src source.Source) bool {
	if !source.IsLocal(src) {
		return false
	}
	for s := src; s != nil; s = source.Base(s) {
		if n, ok := s.(source.Module); ok && n.Kind == source.LibraryModule {
			return false
		}
		switch s.(type) {
		case source.Local, source.Attr, source.Item, source.Module, source.Native, iterItemSource:
		default:
			return false
		}
	}
	return true
}

// swapping runs f, in which see may make a symbol of a number; nil when it did not.
func (wo *world) swapping(f func()) vm.Object {
	var s vm.Object
	old := wo.symbolTo
	wo.symbolTo = &s
	f()
	wo.symbolTo = old
	return s
}

// asTensorSource is a float as the 0-d tensor that graphs take it as.
type asTensorSource struct {
	base source.Source
	t    *torch.Torch
}

// Name is the name of the float.
func (s asTensorSource) Name() string { return s.base.Name() }

// Get makes the tensor.
func (s asTensorSource) Get(e *source.Env) (vm.Object, error) {
	v, err := s.base.Get(e)
	if err != nil {
		return nil, err
	}
	f, ok := v.(vm.Float)
	if !ok {
		return nil, fmt.Errorf("%s is no float", s.base.Name())
	}
	return s.t.Wrap(tensor.Full(tensor.Float64, float64(f))), nil
}

// shapeGuards are the relations between sizes that the trace relies on.
func (sy *symbols) shapeGuards() ([]*guard.Guard, error) {
	rel, err := sy.unknowns.Guards(sy.inputNumbers)
	out := make([]*guard.Guard, 0, len(rel))
	sizes := map[string]bool{}
	for _, in := range sy.inputNumbers {
		sizes[in.From] = in.Tensor
	}
	for _, r := range rel {
		numbers := sy.numbers
		cause := guard.ValueVaries
		for _, from := range r.Needs() {
			if sizes[from] {
				cause = guard.SizeVaries
			}
		}
		out = append(out, guard.New(guard.LambdaGuard, r.Text, nil, func(e *source.Env, _ vm.Object) (bool, guard.Failure) {
			return r.Holds(func(from string) (any, bool) {
				get := numbers[from]
				if get == nil {
					return nil, false
				}
				return get(e)
			}), guard.Failure{Cause: cause}
		}))
	}
	return out, err
}

// liftItems is a tuple or list from outside with the numbers in it that are symbols; nil when there are none.
func (wo *world) liftItems(o vm.Object) vm.Object {
	src := wo.sources[source.Identity(o)]
	var items []vm.Object
	switch c := o.(type) {
	case *vm.Tuple:
		items = c.Items
	case *vm.List:
		items = c.Items
	}
	if src == nil || items == nil {
		return nil
	}
	var out []vm.Object
	for i, x := range items {
		switch x.(type) {
		case vm.Int, vm.Float:
		default:
			continue
		}
		s := wo.symbols.lifted(x, source.Item{Base: src, Key: vm.MakeInt(int64(i)), Text: fmt.Sprint(i)})
		if s == nil {
			continue
		}
		if out == nil {
			out = append([]vm.Object(nil), items...)
		}
		out[i] = s
	}
	if out == nil {
		return nil
	}
	for i, x := range out { // the rest is looked at as part of the original
		if _, ok := x.(*torch.Scalar); !ok {
			wo.see(x, source.Item{Base: src, Key: vm.MakeInt(int64(i)), Text: fmt.Sprint(i)})
		}
	}
	return vm.NewTuple(out...)
}

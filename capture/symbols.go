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

// symbols are the numbers of a trace that may differ from call to call: which of the sizes and numbers from outside those are, how
// to read them again, and what the trace took for granted of them. A number that is in none of these tables is a constant.
type symbols struct {
	*ground
	journal *journal
	out     *output

	shapes       shapeConfig
	inputSizes   map[string]*inputSizes                     // of tensors, by source
	liftedAs     map[string]vm.Object                       // numbers from outside that became symbols, by source
	liftedFrom   map[vm.Object]source.Source                // where they come from
	inputNumbers []symbolic.Input                           // numbers that guards may relate
	numbers      map[string]func(e *source.Env) (any, bool) // how to read them
	roots        map[string]*symbolic.Expr                  // the symbols of named dimensions
	refused      *refusedMark                               // the first mark of mark_dynamic that cannot be; nil => none
}

// refusedMark is the error that a promise of mark_dynamic ends in at once.
type refusedMark struct{ module, class, said string }

func newSymbols(g *ground, jo *journal, out *output) *symbols {
	return &symbols{ground: g, journal: jo, out: out, inputSizes: map[string]*inputSizes{}, liftedAs: map[string]vm.Object{}, liftedFrom: map[vm.Object]source.Source{},
		numbers: map[string]func(*source.Env) (any, bool){}, roots: map[string]*symbolic.Expr{}}
}

// inputSizes are the sizes and strides of a tensor that comes from outside, as the trace sees them.
type inputSizes struct {
	size, stride []*symbolic.Expr
	offset       *symbolic.Expr
	bound        []string // symbols that this tensor has, those first that it was the first to have
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

// sizesAt decides once which sizes of the tensor at a source are symbols. The base of a view comes first: it is the
// first to have the symbols that both have.
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
	rules, static := sy.dimRules(p, src)
	for i, n := range x.Shape {
		from := fmt.Sprintf("%s.size()[%d]", name, i)
		var e *symbolic.Expr
		if rules[i].named != nil {
			e = sy.namedSize(rules[i].named, n, from)
		} else {
			e = sy.unknowns.Size(n, from, rules[i].policy)
		}
		if l := rules[i].limit; l != nil && rules[i].named == nil && l.Range != symbolic.All && e.Op == symbolic.OpSym {
			sy.unknowns.Constrain(e.Name, l.Range)
			if sy.refused == nil && (n < l.Range.Lo || n > l.Range.Hi) {
				sy.refused = &refusedMark{"torch.fx.experimental.symbolic_shapes", "ConstraintViolationError", fmt.Sprintf("%d not in range [%d, %d]", n, l.Range.Lo, l.Range.Hi)}
			}
		}
		s.size = append(s.size, e)
	}
	s.stride = sy.strides(name, x, s.size, rules, static)
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
	sy.trackSizes(x, src, s, rules)
	return s
}

// dimRule says what becomes of one dimension of a tensor from outside.
type dimRule struct {
	policy symbolic.Policy // of its size
	limit  *symbolic.Limit // what mark_dynamic promised of it; nil => nothing
	named  *namedDim       // what an export calls it; nil => nothing
	shifts bool            // its stride, or what explained it, was another in an earlier call
}

// dimRules finds the rules for the dimensions of a tensor: marks of the program count more than what earlier calls showed, and that more
// than the settings. static says that no size is a symbol.
func (sy *symbols) dimRules(p *torch.Tensor, src source.Source) (rules []dimRule, static bool) {
	x := p.T
	rules, static = make([]dimRule, len(x.Shape)), true
	if sy.isStatic(p, src) {
		return rules, true
	}
	h := sy.seen(src.Name())
	if d := sy.d; (d.logs.on[logAutoSize] || d.Structured()) && h.number == nil && len(h.size) == len(x.Shape) {
		for i, n := range x.Shape {
			if !h.rank && !h.free[i] && h.size[i] != n {
				d.logf(logAutoSize, "automatic dynamic size %s size(%d) %d != %d", src.Name(), i, n, h.size[i])
				d.automatic(src.Name(), i, "size change", h.size[i], n)
			}
		}
	}
	h.seeTensor(x.Shape, strideSpec(x.Shape, x.Stride))
	named := sy.namedDims(x)
	strong, weak, fixed := sy.marks(p, "_dynamo_dynamic_indices"), sy.marks(p, "_dynamo_weak_dynamic_indices"), sy.marks(p, "_dynamo_static_indices")
	for i := range rules {
		r := &rules[i]
		free := sy.shapes.automatic && h.sizeDynamic(i)
		r.shifts = sy.shapes.automatic && h.strideDynamic(i) && !fixed[i] && !strong[i]
		switch {
		case named[i] != nil:
			r.policy, r.named = symbolic.Dynamic, named[i]
			r.limit = &symbolic.Limit{Range: r.named.bounds, Name: r.named.name}
			if r.named.name != r.named.root {
				r.limit = nil // what is computed from another one promises nothing of its own
			}
		case strong[i]:
			if h.free != nil && i < len(h.free) {
				h.free[i] = true
			}
			r.policy = symbolic.Dynamic
			if !sy.shapes.ignoreMarks {
				r.limit = &symbolic.Limit{Range: sy.markedRange(p, i)}
			}
		case fixed[i]:
		case weak[i], free:
			r.policy = symbolic.Dynamic
		case !sy.shapes.assumeStatic:
			r.policy = symbolic.Duck
		}
		static = static && r.policy == symbolic.Static
	}
	return rules, static
}

// trackSizes notes how the sizes, strides and offset of the tensor at src are read again: all sizes, then all strides,
// which is the order of the guards on them. What a tensor of fewer dimensions lacks is -1, which no guard holds for.
func (sy *symbols) trackSizes(x *tensor.Tensor, src source.Source, s *inputSizes, rules []dimRule) {
	name := src.Name()
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
	at := func(i int, of func(t *tensor.Tensor) []int64) func(t *tensor.Tensor) int64 {
		return func(t *tensor.Tensor) int64 {
			if ns := of(t); i < len(ns) {
				return ns[i]
			}
			return -1
		}
	}
	for i := range x.Shape {
		track(fmt.Sprintf("%s.size()[%d]", name, i), s.size[i], rules[i].limit, at(i, func(t *tensor.Tensor) []int64 { return t.Shape }))
	}
	for i := range x.Shape {
		track(fmt.Sprintf("%s.stride()[%d]", name, i), s.stride[i], nil, at(i, func(t *tensor.Tensor) []int64 { return t.Stride }))
	}
	track(name+".storage_offset()", s.offset, nil, func(t *tensor.Tensor) int64 { return t.Offset })
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
	for _, it := range items { // (dim, min, max) each; None for no bound
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
		lo, low := part("min")
		hi, high := part("max")
		if low {
			r.Lo = lo
		}
		if high {
			r.Hi = hi
		}
		if low != high && sy.refused == nil { // as in PyTorch, which makes a range of both
			sy.refused = &refusedMark{"builtins", "AssertionError", "not simple sympy type <class 'NoneType'>: None"}
		}
	}
	return r
}

// isStatic tensors never have symbolic sizes: parameters, and what belongs to modules.
func (sy *symbols) isStatic(p *torch.Tensor, src source.Source) bool {
	return sy.shapes.staticParameters && staticShape(p, src)
}

// strides explains strides by sizes where it can: from the innermost on, a stride is another dimension's extent. Each round explains all
// that the known ones reach, and then makes a symbol, or a constant, of the smallest that is left.
func (sy *symbols) strides(name string, x *tensor.Tensor, size []*symbolic.Expr, rules []dimRule, static bool) []*symbolic.Expr {
	out := make([]*symbolic.Expr, len(size))
	for i, n := range x.Stride {
		if n == 0 || n == 1 {
			out[i] = symbolic.Int(n)
		}
	}
	for {
		ends := map[int64]*symbolic.Expr{} // where a dimension ends: the stride of the one around it, if that is dense
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
			if e := ends[x.Stride[i]]; e != nil && !rules[i].shifts {
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
			case rules[i].shifts:
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

// lifted is the symbolic number that stands for a plain one from outside; nil when it is a constant of the trace. The number becomes an
// input of the graph only when it is used.
func (sy *symbols) lifted(v vm.Object, src source.Source) vm.Object {
	name := src.Name()
	if s := sy.liftedAs[name]; s != nil {
		return s
	}
	if sy.markedStatic(src) {
		return nil
	}
	var e *symbolic.Expr
	switch v := v.(type) {
	case vm.Int:
		e = sy.liftedInt(v, src)
	case vm.Float:
		e = sy.liftedFloat(v, src)
	}
	if e == nil {
		return nil
	}
	sy.guardLifted(v, src)
	s := sy.t.Number(e, sy.unknowns)
	sy.liftedAs[name], sy.liftedFrom[s] = s, src
	return s
}

// markedStatic reports whether a source is an attribute of a module whose class was marked by mark_static.
func (sy *symbols) markedStatic(src source.Source) bool {
	a, ok := src.(source.Attr)
	if !ok {
		return false
	}
	o, err := a.Base.Get(sy.env)
	i, isInst := o.(*vm.Instance)
	return err == nil && isInst && i.Class.Lookup("_dynamo_marked_static") == vm.Object(vm.True)
}

// liftedInt is the symbol of an integer: one that was another number in an earlier call, or any where nothing is taken to be static.
func (sy *symbols) liftedInt(v vm.Int, src source.Source) *symbolic.Expr {
	name := src.Name()
	if sy.shapes.specializeInt || !sy.mayVary(src) {
		return nil
	}
	h := sy.seen(name)
	if sy.shapes.automatic && h.number != nil && h.number != vm.Object(v) && !h.wild {
		sy.d.logf(logAutoNumber, "automatic dynamic int %s val %v != %v", name, v, h.number)
		sy.d.automatic(name, "scalar", "scalar change", h.number, v)
	}
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
	sy.out.later[e.Name] = func() *fx.Node {
		n := sy.out.placeholder(placeholderName(name))
		n.Type = "torch.SymInt"
		n.Val = fx.SymInt{Expr: e.Name, Hint: int64(v)}
		n.Meta = map[string]any{fx.MetaSource: name}
		sy.out.inputs = append(sy.out.inputs, input{node: n, source: src, symbol: e.Name})
		return n
	}
	return e
}

// liftedFloat is the symbol of a float that was another number in an earlier call. The graph gets it as a 0-d tensor, and takes it out
// of that; guards name it so, too. NaN and the infinities stay constants.
func (sy *symbols) liftedFloat(v vm.Float, src source.Source) *symbolic.Expr {
	name := src.Name()
	h := sy.seen(name)
	if sy.shapes.automatic && h.number != nil && h.number != vm.Object(v) && !h.wild {
		sy.d.logf(logAutoNumber, "automatic dynamic int %s val %v != %v", name, v, h.number)
		sy.d.automatic(name, "scalar", "scalar change", h.number, v)
	}
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
	sy.out.later[e.Name] = func() *fx.Node {
		n := sy.out.placeholder(placeholderName(name))
		n.Type = "torch.Tensor"
		x := tensor.Full(tensor.Float64, f)
		n.Val = tensor.FakeLike(x)
		n.Meta = map[string]any{fx.MetaSource: name}
		sy.out.inputs = append(sy.out.inputs, input{node: n, source: asTensorSource{src, sy.t}, val: x})
		it := sy.out.graph.CreateNode(fx.CallMethod, "item", []fx.Arg{n}, nil, "")
		it.SetOrigin(sy.origin())
		it.Val = fx.SymInt{Expr: e.Name}
		return it
	}
	return e
}

// guardLifted guards the type of a number that became a symbol; what it may be is up to the guards on its symbol.
func (sy *symbols) guardLifted(v vm.Object, src source.Source) {
	n := src.Name()
	if _, done := sy.guards.Value(n); !done {
		sy.guards.SetValue(n, v)
		sy.guards.Add(guard.Type(v, src))
	}
}

// pin guards the value of a number at a source, where it has become a symbol.
func (sy *symbols) pin(source string) {
	if s, ok := sy.liftedAs[source].(*torch.Scalar); ok && s.Backed() {
		_, _ = sy.t.Specialize(s) // a symbol that has a value
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
		case source.Local, source.Attr, source.Item, source.Module, source.Native, source.Numpy, iterItemSource:
		default: // a step that computes: what it gives may be another number with nothing changed
			return false
		}
	}
	return true
}

// decidable reports whether a trace can branch on s.
func (sy *symbols) decidable(s *torch.Scalar) bool {
	if s.Backed() {
		return true
	}
	e := s.Expr
	if s.Kind != tensor.Bool {
		e = symbolic.Cmp(symbolic.OpNe, e, symbolic.Int(0))
	}
	_, ok := sy.unknowns.Known(e)
	return ok
}

// fixed are the values of sizes that are constants at the end of the trace; guard.Free for the others.
func (sy *symbols) fixed(es []*symbolic.Expr) []int64 {
	out := make([]int64, len(es))
	for i, e := range es {
		out[i] = guard.Free
		if s := sy.unknowns.Simplify(e); s.Op == symbolic.OpInt {
			out[i] = s.Int
		}
	}
	return out
}

// indicesGuard says that a tensor carries no marks of dynamic dimensions that the trace does not know.
func (sy *symbols) indicesGuard(p *torch.Tensor, src source.Source) *guard.Guard {
	const attr = "_dynamo_dynamic_indices"
	n := src.Name()
	known := sy.marks(p, attr)
	if p.AttrDict(false) == nil || known == nil {
		return guard.New(guard.NoHasattr, fmt.Sprintf("hasattr(%s, '%s') == False", n, attr), src, func(_ *source.Env, now vm.Object) (bool, guard.Failure) {
			q, ok := now.(*torch.Tensor)
			return ok && sy.marks(q, attr) == nil, guard.Failure{}
		})
	}
	list := ""
	for i := range p.T.Shape {
		if known[i] {
			if list != "" {
				list += ", "
			}
			list += fmt.Sprint(i)
		}
	}
	return guard.New(guard.DynamicIndices, fmt.Sprintf("((%s.%s.issubset({%s})) if hasattr(%s, '%s') else True)", n, attr, list, n, attr), src, func(_ *source.Env, now vm.Object) (bool, guard.Failure) {
		q, ok := now.(*torch.Tensor)
		if !ok {
			return false, guard.Failure{}
		}
		for i := range sy.marks(q, attr) {
			if !known[i] {
				return false, guard.Failure{}
			}
		}
		return true, guard.Failure{}
	})
}

// trim removes what nobody reads and nobody would miss: unused inputs, constants, parts of tuples, and arithmetic on
// sizes. An input that is a symbol stays while another input has that symbol among its sizes; of several that came out as one symbol, and that nobody
// reads, the first does.
func (sy *symbols) trim() {
	g := sy.out.graph
	for {
		users := g.Users()
		var dead []*fx.Node
		bound := map[string]bool{} // symbols for which an unused input stays
		for _, n := range g.Nodes {
			if len(users[n]) > 0 {
				continue
			}
			_, number := n.Val.(fx.SymInt)
			switch { // sums of sizes stay, as they do in PyTorch
			case n.Op == fx.GetAttr, n.Op == fx.CallFunction && (n.Target == "operator.getitem" || number && n.Target != "torch.sym_sum"), n.Op == fx.CallMethod && number && (n.Target == "item" || n.Target == "numel"):
				dead = append(dead, n)
			case n.Op == fx.Placeholder:
				if sym := sy.symbolOf(n); !number || sym == "" || bound[sym] || !sy.named(sym) {
					dead = append(dead, n)
				} else {
					bound[sym] = true
				}
			}
		}
		if len(dead) == 0 {
			return
		}
		g.Erase(dead...)
	}
}

// symbolOf is the symbol that an input is by the end of the trace, which may have found it to be the same as another; "" if it is none.
func (sy *symbols) symbolOf(n *fx.Node) string {
	v, ok := n.Val.(fx.SymInt)
	if !ok {
		return ""
	}
	if e := sy.unknowns.Simplify(symbolic.Sym(v.Expr)); e.Op == symbolic.OpSym {
		return e.Name
	}
	return ""
}

// named reports whether a symbol is part of the sizes of an input that is in use.
func (sy *symbols) named(sym string) bool {
	for _, in := range sy.out.inputs {
		if in.symbol != "" || !kept(sy.out.graph, in.node) || len(sy.out.graph.Users()[in.node]) == 0 {
			continue
		}
		s := sy.inputSizes[in.source.Name()]
		if s == nil {
			continue
		}
		for _, e := range append(append([]*symbolic.Expr{}, s.size...), s.stride...) {
			for _, name := range sy.unknowns.Simplify(e).Symbols() {
				if name == sym {
					return true
				}
			}
		}
	}
	return false
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
		}).Noted(sy.journal.whyRelated(r)))
	}
	return out, err
}

// beforeShapes are the guards that PyTorch has made when those on sizes fail.
func beforeShapes(gs []*guard.Guard) []*guard.Guard {
	var out []*guard.Guard
	for _, g := range gs {
		switch g.Kind {
		case guard.LambdaGuard, guard.GlobalState, guard.TorchFunctionModeStack:
		default:
			out = append(out, g)
		}
	}
	return out
}

// constants reports whether all of es are.
func constants(es []*symbolic.Expr) bool {
	for _, e := range es {
		if !e.IsConst() {
			return false
		}
	}
	return true
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

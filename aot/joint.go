package aot

import (
	"fmt"
	"maps"
	"slices"

	"whittle/aot/autograd"
	"whittle/aot/build"
	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Function is a captured program: it computes on whatever tensors it is given, by calling d.
type Function func(d aten.Dispatcher, inputs []aten.Value) ([]aten.Value, error)

// Input is one argument of a compiled function.
type Input struct {
	Value        aten.Value // *tensor.Tensor (real or fake; only metadata is read) or int64, float64, ...
	RequiresGrad bool
}

// OutputKind says how the runtime gives an output back.
type OutputKind uint8

// The output kinds.
const (
	FromGraph    OutputKind = iota // result of the graph
	IsInput                        // the very tensor that came in
	AliasOfInput                   // a view of an input, rebuilt from it
	AliasOfValue                   // a view of a graph result that others view, too, rebuilt from it
	ConstantOut                    // not a tensor: known while tracing
)

// OutputInfo describes one output of the function.
type OutputInfo struct {
	Kind         OutputKind
	Input        int // for IsInput and AliasOfInput
	Base         int // for AliasOfValue: position of the viewed value among the graph's outputs
	Shape        []int64
	Stride       []int64
	Offset       int64      // from that of the tensor it is rebuilt from
	views        []viewStep // how the program made it; none => as its shape and strides say
	Const        aten.Value
	RequiresGrad bool // a tangent flows into it
	Detached     bool // for AliasOfInput: no gradient flows through it
	DType        tensor.DType
	GraphIndex   int   // position among the graph's outputs
	Dynamic      []int // the dimensions whose size differs between calls, in order
}

// Joint is the traced program: one graph with forward outputs and, when it trains, gradients.
type Joint struct {
	GM       *fx.GraphModule
	Inputs   []Input
	Outputs  []OutputInfo
	Mutated  []Mutation // inputs whose new value is a graph output, in output order, before the others
	InGraph  []int      // inputs that the graph itself writes with copy_
	Bases    []int      // positions of graph outputs that only serve to rebuild views, in order
	NForward int        // graph outputs that belong to the forward pass (mutated inputs, then outputs)
	Tangents int        // number of tangent placeholders; 0 => inference
	GradOf   []int      // per gradient output: its input
	trains   bool       // it was traced with gradients, whether there are some or not
	differs  bool       // it was traced without, and some of its results have them
	lateGrad bool       // the backward pass writes to inputs that gradients flow to
}

// A Mutation is what a program did to an input, where the graph itself does not do it.
type Mutation struct {
	Input int
	Data  bool // its elements were written
	Grad  bool // gradients flow to the new ones
	// Meta says that it was viewed in place, and looks otherwise now.
	Meta          bool
	Shape, Stride []int64
	Offset        int64 // from that of the tensor that comes in
}

// Written are the inputs whose elements the function writes.
func (j *Joint) Written() []int {
	var out []int
	for _, m := range j.Mutated {
		if m.Data {
			out = append(out, m.Input)
		}
	}
	return append(out, j.InGraph...)
}

// Trace is the first half of Compile: the graph of f, which nothing has compiled.
func Trace(f Function, inputs []Input, opt Options) (*Joint, error) {
	j, err := trace(f, inputs, &opt)
	if err != nil {
		return nil, err
	}
	return j, deadcode(j.GM.Graph)
}

// trace runs f under autograd over Functional over Tracer and leaves the joint graph. An input that is written and that gradients flow to
// is copied first: its old value belongs to the caller's graph, and backward may need it after the new one lies in its place. One that is
// only viewed in place is a view from the beginning, as gradients are those of what came in.
func trace(f Function, inputs []Input, opt *Options) (*Joint, error) {
	training := slices.ContainsFunc(inputs, func(in Input) bool { return in.RequiresGrad })
	j, err := traceOnce(f, inputs, opt, nil, training && opt.recording())
	if err == nil && j.differs { // gradients are off around the call, and f turns them on
		j, err = traceOnce(f, inputs, opt, nil, true)
	}
	if err != nil || !j.trains {
		return j, err
	}
	fresh := map[int]string{}
	for _, m := range j.Mutated {
		if m.Data && m.Grad {
			fresh[m.Input] = "aten.clone.default"
		} else if m.Meta {
			fresh[m.Input] = "aten.view.default"
		}
	}
	if len(fresh) > 0 && j.Tangents > 0 {
		if j, err = traceOnce(f, inputs, opt, fresh, true); err != nil {
			return nil, err
		}
	}
	places := j.GM.Graph.Placeholders()
	lost := slices.Clone(j.InGraph)
	for _, m := range j.Mutated {
		if m.Data && m.Grad {
			lost = append(lost, m.Input)
		}
	}
	for _, i := range lost {
		places[i].Meta = map[string]any{metaOverwritten: true}
	}
	return j, nil
}

// asInference makes the graph of a trace that turned out to need no gradients one that was traced without: its inputs are no primals, and none of
// its results are gradients.
func (j *Joint) asInference() {
	o := j.GM.Graph.OutputNode()
	o.Args[0] = o.Args[0].(fx.Tuple)[:j.NForward]
	for i, p := range j.GM.Graph.Placeholders() {
		if p.Name == primalName(i) {
			p.Name, p.Target = inputName(i), inputName(i)
		}
	}
}

// primalName and inputName are the names of an input in graphs with gradients and without.
func primalName(i int) string { return fmt.Sprintf("primals_%d", i+1) }
func inputName(i int) string  { return fmt.Sprintf("arg%d_1", i) }

// metaOverwritten is the Meta key of placeholders for inputs that are written before the backward pass could read them: by the graph, or by the
// runtime where gradients flow to them.
const metaOverwritten = "overwritten"

// tracing is one trace of a function, from its inputs to its joint graph. Each tensor of the program is three: the outer one, which the
// program holds and may write to; the inner one, which is the value that it has now; and the node that computes that.
type tracing struct {
	tr       *Tracer
	fn       *Functional
	eng      *autograd.Engine
	training bool
	set      []int // inputs that have another storage now
	returned bool  // what the function writes to inputs is a result in any case

	inner  []aten.Value // the inputs, as nodes stand for them
	leaves []aten.Value // the outer tensors that they are, to which gradients flow
	outer  []aten.Value // what the function is given: leaves, or copies or views of them

	j      *Joint
	after  []moment         // how each of outer is when the function has run
	values []aten.Value     // the results of the graph, so far, as the program holds them
	roots  []*tensor.Tensor // per result: what a gradient flows into, nil for none
}

// recording reports whether gradients are recorded around the call.
func (o *Options) recording() bool { return o.Grad == nil || o.Grad.Enabled }

// traceOnce is trace with the operators that make of some inputs what the function is given for them.
func traceOnce(f Function, inputs []Input, opt *Options, fresh map[int]string, training bool) (*Joint, error) {
	t := newTracing(inputs, opt, training)
	if err := t.giveInputs(inputs, fresh); err != nil {
		return nil, err
	}
	looks := make([]look, len(t.outer))
	for i, o := range t.outer {
		if x, ok := o.(*tensor.Tensor); ok {
			looks[i] = lookOf(x)
		}
	}
	if opt.Tracing != nil {
		opt.Tracing(t.eng.Mode)
	}
	outs, err := f(t.eng, t.outer)
	if err != nil {
		return nil, err
	}
	t.j = &Joint{GM: t.tr.GM, Inputs: inputs, trains: t.training, differs: !t.training && (slices.ContainsFunc(outs, recorded) || slices.ContainsFunc(t.outer, recorded))}
	if err := t.takeMutations(looks); err != nil {
		return nil, err
	}
	for _, m := range t.j.Mutated {
		if m.Meta && opt.wrapped([]aten.Value{inputs[m.Input].Value}) {
			return nil, &aten.Error{Kind: aten.RuntimeError, Msg: "Metadata mutations are currently not allowed on tensor subclasses"}
		}
	}
	for _, i := range t.set {
		if slices.Contains(outs, t.outer[i]) {
			return nil, fmt.Errorf("input %d of the graph is given another storage by set_, and returned: this is not supported", i)
		}
	}
	if err := t.takeOutputs(outs, t.fn.sharing(outs)); err != nil {
		return nil, err
	}
	t.j.NForward = len(t.values)
	var grads []aten.Value
	if t.training {
		// The backward pass begins with inputs as they are now.
		if t.after, err = t.fn.moments(t.outer); err != nil {
			return nil, err
		}
		if grads, err = t.backward(); err != nil {
			return nil, err
		}
	}
	t.tr.Origin = nil
	written, err := t.writeInGraph()
	if err != nil {
		return nil, err
	}
	return t.j, t.finish(written, grads)
}

// recorded reports whether a value is a tensor that an operator gave gradients to.
func recorded(v aten.Value) bool {
	x, ok := v.(*tensor.Tensor)
	return ok && x != nil && autograd.RequiresGrad(x) && !autograd.IsLeaf(x)
}

// newTracing sets up the layers of dispatchers: autograd over functionalisation over the tracer.
func newTracing(inputs []Input, opt *Options, training bool) *tracing {
	tr := NewTracer(opt.Decompositions)
	tr.Choices, tr.unknown = opt.Choices, opt.unknown
	fn := NewFunctional(tr)
	eng := &autograd.Engine{Below: fn, Mode: &autograd.GradMode{Enabled: training && opt.recording()}, Traced: true}
	fn.Mode = eng.Mode
	eng.Before = composites(eng, opt.Composite)
	tr.Region = opt.Region
	if opt.Origin != nil {
		tr.Origin = opt.Origin
		eng.Origin = func() any { return tr.origin() }
		eng.Enter = func(o any) {
			at, _ := o.(fx.Origin)
			tr.Origin = func() fx.Origin { return at }
		}
	}
	n := len(inputs)
	return &tracing{tr: tr, eng: eng, fn: fn, training: training, returned: opt.MutationsReturned, inner: make([]aten.Value, n), leaves: make([]aten.Value, n), outer: make([]aten.Value, n)}
}

// composites takes operators apart before autograd sees them, where a table says so; the parts go to d.
func composites(d aten.Dispatcher, table map[string]Decomposition) func(op *aten.Op, args []aten.Value) (aten.Value, bool, error) {
	return func(op *aten.Op, args []aten.Value) (out aten.Value, done bool, err error) {
		apart, ok := table[op.Name()]
		if !ok {
			return nil, false, nil
		}
		if _, err := refused(op, args); err != nil {
			return nil, true, err
		}
		if err := build.Run(func() { out = apart(&build.B{D: d}, args) }); err != nil {
			return nil, true, fmt.Errorf("decomposing %s: %w", op.Name(), err)
		}
		_, declined := out.(Declined)
		return out, !declined, nil
	}
}

// giveInputs makes a placeholder for each input, and what the function is given in its place.
func (t *tracing) giveInputs(inputs []Input, fresh map[int]string) error {
	for i, in := range inputs {
		name := inputName(i)
		if t.training {
			name = primalName(i)
		}
		t.inner[i] = t.tr.Input(name, in.Value)
		t.leaves[i], t.outer[i] = t.inner[i], t.inner[i]
		x, ok := t.inner[i].(*tensor.Tensor)
		if !ok {
			continue
		}
		o := t.fn.Wrap(x)
		t.leaves[i], t.outer[i] = o, o
		if in.RequiresGrad {
			autograd.Ensure(o).RequiresGrad = true
		}
		switch fresh[i] {
		case "":
			if given := in.Value.(*tensor.Tensor); in.RequiresGrad && t.training && (given.Fake || !autograd.IsLeaf(given)) {
				t.outer[i] = t.fn.result(o)
			}
			continue
		case "aten.view.default":
			if in.RequiresGrad && t.training {
				o = t.fn.result(o)
			}
			v, err := build.Call(t.eng, fresh[i], o, build.Ints(o.Shape))
			if err != nil {
				return err
			}
			t.outer[i] = v
		default:
			v, err := build.Call(t.eng, fresh[i], o)
			if err != nil {
				return err
			}
			t.outer[i] = v
		}
	}
	return nil
}

// result is an outer tensor with the value of leaf, of which gradients flow there: that of an operator, which may be written.
func (f *Functional) result(leaf *tensor.Tensor) *tensor.Tensor {
	o := f.Wrap(f.outer[leaf].inner)
	n := autograd.NewNode("AliasBackward0", []*tensor.Tensor{leaf}, 1, func(_ aten.Dispatcher, g []*tensor.Tensor, _ []bool) ([]*tensor.Tensor, error) { return g, nil })
	n.Custom = false
	n.Describe(0, o)
	autograd.SetHistory(o, n, 0)
	return o
}

// addOutput makes a tensor of the program a result of the graph; root says whether a gradient flows into it.
func (t *tracing) addOutput(x *tensor.Tensor, root bool) {
	t.values = append(t.values, x)
	if !root {
		x = nil
	}
	t.roots = append(t.roots, x)
}

// takeMutations finds the inputs that the function has written to, or viewed in place. Where neither gradients nor the way they look forbid it,
// the graph writes them back itself; else their new values are its first results, and the runtime does.
func (t *tracing) takeMutations(looks []look) error {
	for i, o := range t.outer {
		x, ok := o.(*tensor.Tensor)
		if !ok {
			continue
		}
		in := t.inner[i].(*tensor.Tensor)
		needs := t.training && autograd.RequiresGrad(x)
		m := Mutation{Input: i, Data: t.fn.Mutated(x), Meta: !looks[i].of(x)}
		if !m.Data && !m.Meta {
			continue
		}
		if x.Storage != looks[i].storage {
			if t.returned || m.Data && t.fn.graded(x) {
				return &aten.Error{Kind: aten.AssertionError, Msg: "Encountered a set_ on a graph input, but the input has other mutations that we cannot\n" +
					"keep in the graph. This is not supported today. Current state:\n" +
					fmt.Sprintf("  keep_input_mutations=%s\n  mutates_data=%s\n  mutates_metadata=True\n", python(!t.returned), python(m.Data))}
			}
			t.set = append(t.set, i)
			t.j.InGraph = append(t.j.InGraph, i)
			continue
		}
		if m.Meta {
			m.Shape, m.Stride, m.Offset = slices.Clone(x.Shape), slices.Clone(x.Stride), x.Offset-in.Offset
		}
		if m.Data && !m.Meta && !t.returned && (!needs || !t.fn.graded(x)) {
			t.j.InGraph = append(t.j.InGraph, i)
			continue
		}
		m.Grad = m.Data && needs
		t.j.Mutated = append(t.j.Mutated, m)
		t.addOutput(x, m.Grad)
	}
	return nil
}

// python is a boolean as Python shows it.
func python(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// writeInGraph adds the copies into inputs that the graph itself makes, and gives their nodes.
func (t *tracing) writeInGraph() (written map[int]*fx.Node, err error) {
	written = map[int]*fx.Node{}
	for _, i := range t.j.InGraph {
		var v *tensor.Tensor
		if t.after != nil {
			v = t.after[i].value
		} else if v, err = t.fn.Inner(t.outer[i].(*tensor.Tensor)); err != nil {
			return nil, err
		}
		op := "aten.copy_.default"
		if slices.Contains(t.set, i) {
			op = "aten.set_.source_Tensor"
		}
		if written[i], err = t.copyInto(op, i, v); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// copyInto has the graph write a value to an input, by an operator that does.
func (t *tracing) copyInto(op string, i int, v *tensor.Tensor) (*fx.Node, error) {
	a, err := t.tr.arg(v)
	if err != nil {
		return nil, err
	}
	src, ok := a.(*fx.Node)
	if !ok {
		return nil, fmt.Errorf("input %d is overwritten with a value that is no graph node", i)
	}
	dst := t.tr.Node(t.inner[i].(*tensor.Tensor))
	n := t.tr.GM.Graph.CallFunction(op, dst, src)
	n.Val = dst.Val
	return n, nil
}

// A moment is how an outer tensor is at some time.
type moment struct {
	look  look
	gen   int
	value *tensor.Tensor // nil for what is no tensor
}

// moments are how tensors are now.
func (f *Functional) moments(outer []aten.Value) ([]moment, error) {
	out := make([]moment, len(outer))
	for i, o := range outer {
		x, ok := o.(*tensor.Tensor)
		if !ok {
			continue
		}
		v, err := f.Inner(x)
		if err != nil {
			return nil, err
		}
		out[i] = moment{lookOf(x), f.storage[x.Storage].gen, v}
	}
	return out, nil
}

// metaBackward is the Meta key of nodes that the backward graph runs although no gradient flows through them.
const metaBackward = "backward"

// lateWrites has the graph do what the backward pass did to inputs of the forward pass: it may write to their elements. To gradients that come
// in it may do nothing.
func (t *tracing) lateWrites(tangents []*tensor.Tensor) error {
	for i, o := range t.outer {
		x, ok := o.(*tensor.Tensor)
		if !ok {
			continue
		}
		if !t.after[i].look.of(x) {
			return &aten.Error{Kind: aten.AssertionError, Msg: "Found a graph input that had its metadata mutated in the backward. This is not supported"}
		}
		if t.fn.storage[x.Storage].gen == t.after[i].gen || slices.ContainsFunc(t.j.Mutated, func(m Mutation) bool { return m.Input == i }) {
			continue
		}
		v, err := t.fn.Inner(x)
		if err != nil {
			return err
		}
		n, err := t.copyInto("aten.copy_.default", i, v)
		if err != nil {
			return err
		}
		n.Meta = map[string]any{metaBackward: true}
		t.j.lateGrad = t.j.lateGrad || t.j.Inputs[i].RequiresGrad
	}
	for _, x := range tangents {
		if ss := t.fn.storage[x.Storage]; ss.gen > 0 || len(t.fn.chain(x)) > 0 {
			return &aten.Error{Kind: aten.AssertionError, Msg: "Found an input to the backward that was mutated during the backward pass. This is not supported"}
		}
	}
	return nil
}

// finish ends the graph with the values that its results have now. An input that the graph itself has written is the node that wrote it.
func (t *tracing) finish(written map[int]*fx.Node, grads []aten.Value) error {
	var results fx.Tuple
	for _, v := range append(t.values, grads...) {
		if x, ok := v.(*tensor.Tensor); ok && x != nil {
			in, err := t.fn.Inner(x)
			if err != nil {
				return err
			}
			v = in
		}
		a, err := t.tr.arg(v)
		if err != nil {
			return err
		}
		results = append(results, a)
	}
	for _, o := range t.j.Outputs {
		if n := written[o.Input]; o.Kind == IsInput && n != nil {
			results[o.GraphIndex] = n
		}
	}
	t.tr.GM.Graph.Output(results)
	return nil
}

// takeOutputs makes results of what the function returned. A view of an input, or of a value that other outputs view too, is described as one
// and rebuilt by the runtime, so that it shares memory, and history, as in eager.
func (t *tracing) takeOutputs(outs []aten.Value, shared map[*tensor.Storage]aliases) error {
	inputOf := map[*tensor.Storage]int{}
	for i, o := range t.outer {
		if x, ok := o.(*tensor.Tensor); ok && !slices.Contains(t.set, i) {
			inputOf[x.Storage] = i
		}
	}
	position := map[*tensor.Storage]int{} // of a value that is returned and viewed, among the results
	viewing := map[int]*tensor.Storage{}  // what an output of kind AliasOfValue views
	for _, o := range outs {
		x, ok := o.(*tensor.Tensor)
		if !ok {
			t.j.Outputs = append(t.j.Outputs, OutputInfo{Kind: ConstantOut, Const: o, GraphIndex: len(t.values)})
			t.values, t.roots = append(t.values, o), append(t.roots, nil)
			continue
		}
		info := OutputInfo{Kind: FromGraph, Shape: x.Shape, Stride: x.Stride, Offset: x.Offset, DType: x.DType, GraphIndex: len(t.values)}
		train := t.training && x.DType.Kind() >= tensor.KindFloat && autograd.RequiresGrad(x)
		views := shared[x.Storage]
		if i, ok := inputOf[x.Storage]; ok && !(train && (views.single == 0 || x != t.outer[i] && custom(x))) {
			t.describeAlias(&info, i, x)
		}
		if info.Kind == FromGraph && train && views.single > 1 && len(t.fn.chain(x)) > 0 {
			info.Kind = AliasOfValue
			info.Shape, info.Stride = x.Shape, x.Stride
			if ss := t.fn.storage[x.Storage]; ss != nil {
				info.Offset -= ss.offset
				info.views = t.fn.chain(x)
			}
			viewing[len(t.j.Outputs)] = x.Storage
		}
		info.RequiresGrad = info.Kind == FromGraph && train
		if _, ok := position[x.Storage]; !ok && info.RequiresGrad && len(t.fn.chain(x)) == 0 {
			position[x.Storage] = len(t.values)
		}
		t.j.Outputs = append(t.j.Outputs, info)
		t.addOutput(x, info.RequiresGrad)
	}
	return t.addBases(viewing, position)
}

// describeAlias describes output x as input number i or a view of it.
func (t *tracing) describeAlias(info *OutputInfo, i int, x *tensor.Tensor) {
	in := t.inner[i].(*tensor.Tensor)
	info.Kind, info.Input = AliasOfInput, i
	info.Shape, info.Stride = x.Shape, x.Stride
	info.Detached = t.training && !autograd.RequiresGrad(x)
	info.Offset -= in.Offset
	if c := t.fn.chain(t.outer[i].(*tensor.Tensor)); len(c) == 0 { // the views begin at what comes in
		info.views = t.fn.chain(x)
	}
	if t.outer[i] == aten.Value(x) {
		info.Kind = IsInput
	}
}

// addBases makes what several outputs view an output itself, unless the program returns it anyway: gradients flow through it alone.
func (t *tracing) addBases(viewing map[int]*tensor.Storage, position map[*tensor.Storage]int) error {
	for _, out := range slices.Sorted(maps.Keys(viewing)) {
		storage := viewing[out]
		at, ok := position[storage]
		if !ok {
			at = len(t.values)
			position[storage] = at
			t.j.Bases = append(t.j.Bases, at)
			t.addOutput(t.fn.storage[storage].base, true)
		}
		t.j.Outputs[out].Base = at
	}
	return nil
}

// backward computes the gradients of the inputs; each differentiable output gets a tangent placeholder.
func (t *tracing) backward() (results []aten.Value, err error) {
	j := t.j
	var rs, gs, wrt []*tensor.Tensor
	for _, r := range t.roots {
		if r == nil {
			continue
		}
		j.Tangents++
		v := t.tr.Input(fmt.Sprintf("tangents_%d", j.Tangents), tensor.FakeLike(contiguousLike(r)))
		rs, gs = append(rs, r), append(gs, t.fn.Wrap(v.(*tensor.Tensor)))
	}
	if len(rs) == 0 {
		return nil, nil
	}
	for i, in := range j.Inputs {
		if in.RequiresGrad {
			wrt = append(wrt, t.leaves[i].(*tensor.Tensor))
		}
	}
	grads, err := t.eng.Backward(rs, gs, autograd.Options{Inputs: wrt, AllowUnused: true})
	if err != nil {
		return nil, err
	}
	if err := t.lateWrites(gs); err != nil {
		return nil, err
	}
	k := 0
	for i, in := range j.Inputs {
		j.GradOf = append(j.GradOf, i)
		var g aten.Value
		if in.RequiresGrad {
			if grads[k] != nil {
				g = grads[k]
			}
			k++
		}
		results = append(results, g)
	}
	return results, nil
}

// look is how a tensor lies in its storage.
type look struct {
	storage       *tensor.Storage
	shape, stride []int64
	offset        int64
}

func lookOf(t *tensor.Tensor) look {
	return look{t.Storage, slices.Clone(t.Shape), slices.Clone(t.Stride), t.Offset}
}

// of reports whether t still looks so.
func (l look) of(t *tensor.Tensor) bool {
	return l.storage == t.Storage && slices.Equal(l.shape, t.Shape) && slices.Equal(l.stride, t.Stride) && l.offset == t.Offset
}

// contiguousLike is a tangent's layout: that of images with their channels last where the output has it, row-major for all others.
func contiguousLike(t *tensor.Tensor) *tensor.Tensor {
	if t.IsContiguous(tensor.ContiguousFormat) || t.IsContiguous(tensor.ChannelsLast) || t.IsContiguous(tensor.ChannelsLast3d) {
		return t
	}
	return tensor.EmptyFake(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape))
}

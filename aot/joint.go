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
	GraphIndex   int // position among the graph's outputs
}

// Joint is the traced program: one graph with forward outputs and, when it trains, gradients.
type Joint struct {
	GM          *fx.GraphModule
	Inputs      []Input
	Outputs     []OutputInfo
	Mutated     []int  // inputs whose new value is a graph output, in output order, before the others
	MutatedGrad []bool // of Mutated: whether gradients flow to the new value
	InGraph     []int  // inputs that the graph itself writes with copy_
	Reshaped    []Reshape
	Bases       []int // positions of graph outputs that only serve to rebuild views, in order
	NForward    int   // graph outputs that belong to the forward pass (mutated inputs, then outputs)
	Tangents    int   // number of tangent placeholders; 0 => inference
	GradOf      []int // per gradient output: its input
}

// Trace is the first half of Compile: the graph of f, which nothing has compiled.
func Trace(f Function, inputs []Input, opt Options) (*Joint, error) {
	j, err := trace(f, inputs, &opt)
	if err != nil {
		return nil, err
	}
	return j, deadcode(j.GM.Graph)
}

// trace runs f under Functional over autograd over Tracer and leaves the joint graph. An input that is written and that gradients flow to
// is copied first: its old value belongs to the caller's graph, and backward may need it after the new one lies in its place.
func trace(f Function, inputs []Input, opt *Options) (*Joint, error) {
	j, err := traceOnce(f, inputs, opt, nil)
	if err != nil || j.Tangents == 0 {
		return j, err
	}
	var fresh []int
	for k, i := range j.Mutated {
		if j.MutatedGrad[k] {
			fresh = append(fresh, i)
		}
	}
	if len(fresh) > 0 {
		if j, err = traceOnce(f, inputs, opt, fresh); err != nil {
			return nil, err
		}
	}
	places := j.GM.Graph.Placeholders()
	for _, i := range append(fresh, j.InGraph...) {
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
	eng      *autograd.Engine
	fn       *Functional
	training bool
	returned bool // what the function writes to inputs is a result in any case

	inner []aten.Value // the inputs, as nodes stand for them
	start []aten.Value // what the function begins with: inner, or a copy
	outer []aten.Value // what it is given

	j       *Joint
	results fx.Tuple         // of the graph, so far
	roots   []*tensor.Tensor // per result: what a gradient flows into, nil for none
	copies  []copyBack
}

// copyBack is an input that the graph itself overwrites, and its new value.
type copyBack struct{ dst, src *fx.Node }

// traceOnce is trace with the inputs to copy.
func traceOnce(f Function, inputs []Input, opt *Options, fresh []int) (*Joint, error) {
	t := newTracing(inputs, opt)
	if err := t.giveInputs(inputs, fresh); err != nil {
		return nil, err
	}
	if opt.Tracing != nil {
		opt.Tracing(t.eng.Mode)
	}
	outs, err := f(t.fn, t.outer)
	if err != nil {
		return nil, err
	}
	t.tr.Origin = nil
	t.j = &Joint{GM: t.tr.GM, Inputs: inputs}
	shared := t.fn.sharing(outs)
	if err := t.takeMutations(); err != nil {
		return nil, err
	}
	if err := t.takeOutputs(outs, shared); err != nil {
		return nil, err
	}
	t.j.NForward = len(t.results)
	t.j.Reshaped = t.fn.reshaped(t.inner, t.outer)
	if t.training {
		if err := t.j.backward(t.tr, t.eng, t.inner, t.roots, &t.results); err != nil {
			return nil, err
		}
	}
	for k, c := range t.copies {
		n := t.tr.GM.Graph.CallFunction("aten.copy_.default", c.dst, c.src)
		n.Val = c.dst.Val
		for _, o := range t.j.Outputs {
			if o.Kind == IsInput && o.Input == t.j.InGraph[k] {
				t.results[o.GraphIndex] = n
			}
		}
	}
	t.tr.GM.Graph.Output(t.results)
	return t.j, nil
}

// newTracing sets up the layers of dispatchers: functionalisation over autograd over the tracer.
func newTracing(inputs []Input, opt *Options) *tracing {
	training := slices.ContainsFunc(inputs, func(in Input) bool { return in.RequiresGrad }) && (opt.Grad == nil || opt.Grad.Enabled)
	tr := NewTracer(opt.Decompositions)
	tr.Choices = opt.Choices
	eng := &autograd.Engine{Below: tr, Mode: &autograd.GradMode{Enabled: training}, Traced: true}
	tr.Region = opt.Region
	if opt.Origin != nil {
		tr.Origin = opt.Origin
		eng.Origin = func() any { return tr.origin() }
		eng.Enter = func(o any) {
			at, _ := o.(fx.Origin)
			tr.Origin = func() fx.Origin { return at }
		}
	}
	fn := NewFunctional(eng)
	fn.Composite = opt.Composite
	n := len(inputs)
	return &tracing{tr: tr, eng: eng, fn: fn, training: training, returned: opt.MutationsReturned, inner: make([]aten.Value, n), start: make([]aten.Value, n), outer: make([]aten.Value, n)}
}

// giveInputs makes a placeholder for each input, and what the function is given in its place; those of fresh are copied.
func (t *tracing) giveInputs(inputs []Input, fresh []int) error {
	for i, in := range inputs {
		name := inputName(i)
		if t.training {
			name = primalName(i)
		}
		t.inner[i] = t.tr.Input(name, in.Value)
		t.start[i] = t.inner[i]
		x, ok := t.inner[i].(*tensor.Tensor)
		if !ok {
			t.outer[i] = t.inner[i]
			continue
		}
		if in.RequiresGrad && t.training {
			autograd.Ensure(x).RequiresGrad = true
		}
		if slices.Contains(fresh, i) {
			v, err := build.Call(t.eng, "aten.clone.default", x)
			if err != nil {
				return err
			}
			x, t.start[i] = v.(*tensor.Tensor), v
		}
		o := t.fn.Wrap(x)
		if in.RequiresGrad {
			autograd.Ensure(o).RequiresGrad = true
		}
		t.outer[i] = o
	}
	return nil
}

// addOutput makes an inner value a result of the graph; root says whether a gradient flows into it.
func (t *tracing) addOutput(v *tensor.Tensor, root bool) error {
	a, err := t.tr.arg(v)
	if err != nil {
		return err
	}
	t.results = append(t.results, a)
	if !root {
		v = nil
	}
	t.roots = append(t.roots, v)
	return nil
}

// takeMutations finds the inputs that the function has written to. Where neither their size nor gradients forbid it, the graph writes them back
// itself; else their new values are its first results, and the runtime does.
func (t *tracing) takeMutations() error {
	for i, o := range t.outer {
		x, ok := o.(*tensor.Tensor)
		if !ok || !t.fn.Mutated(x) {
			continue
		}
		v, err := t.fn.Inner(t.fn.whole(x))
		if err != nil {
			return err
		}
		if v == t.start[i] {
			continue
		}
		in := t.inner[i].(*tensor.Tensor)
		plain := !(t.j.Inputs[i].RequiresGrad && t.training) && !autograd.RequiresGrad(v)
		if !t.returned && tensor.SameShape(v, in) && (plain || !t.fn.graded(x)) {
			src, err := t.tr.arg(v)
			if err != nil {
				return err
			}
			n, ok := src.(*fx.Node)
			if !ok {
				return fmt.Errorf("input %d is overwritten with a value that is no graph node", i)
			}
			t.copies = append(t.copies, copyBack{t.tr.Node(in), n})
			t.j.InGraph = append(t.j.InGraph, i)
			continue
		}
		t.j.Mutated, t.j.MutatedGrad = append(t.j.Mutated, i), append(t.j.MutatedGrad, t.training && autograd.RequiresGrad(v))
		if err := t.addOutput(v, autograd.RequiresGrad(v)); err != nil {
			return err
		}
	}
	return nil
}

// takeOutputs makes results of what the function returned. A view of an input, or of a value that other outputs view too, is described as one
// and rebuilt by the runtime, so that it shares memory, and history, as in eager.
func (t *tracing) takeOutputs(outs []aten.Value, shared map[*tensor.Storage]aliases) error {
	inputOf := map[*tensor.Storage]int{}
	for i, o := range t.outer {
		if x, ok := o.(*tensor.Tensor); ok {
			inputOf[x.Storage] = i
		}
	}
	position := map[*tensor.Storage]int{} // of a value that is returned and viewed, among the results
	viewing := map[int]*tensor.Storage{}  // what an output of kind AliasOfValue views
	for _, o := range outs {
		x, ok := o.(*tensor.Tensor)
		if !ok {
			t.j.Outputs = append(t.j.Outputs, OutputInfo{Kind: ConstantOut, Const: o, GraphIndex: len(t.results)})
			t.results, t.roots = append(t.results, o), append(t.roots, nil)
			continue
		}
		v, err := t.fn.Inner(x)
		if err != nil {
			return err
		}
		info := OutputInfo{Kind: FromGraph, Shape: v.Shape, Stride: v.Stride, Offset: x.Offset, DType: v.DType, GraphIndex: len(t.results)}
		train := t.training && v.DType.Kind() >= tensor.KindFloat && autograd.RequiresGrad(v)
		views := shared[x.Storage]
		if i, ok := inputOf[x.Storage]; ok && !(train && (views.single == 0 || x != t.outer[i] && custom(v))) {
			t.describeAlias(&info, i, x, v)
		}
		if info.Kind == FromGraph && train && views.single > 0 && views.all > 1 && len(t.fn.chain(x)) > 0 {
			info.Kind = AliasOfValue
			info.Shape, info.Stride = x.Shape, x.Stride
			if base := t.fn.storage[x.Storage].base; base != nil {
				info.Offset -= base.Offset
				info.views = t.fn.chain(x)
			}
			viewing[len(t.j.Outputs)] = x.Storage
		}
		info.RequiresGrad = info.Kind == FromGraph && train
		if _, ok := position[x.Storage]; !ok && info.RequiresGrad && len(t.fn.chain(x)) == 0 {
			position[x.Storage] = len(t.results)
		}
		t.j.Outputs = append(t.j.Outputs, info)
		if err := t.addOutput(v, info.RequiresGrad); err != nil {
			return err
		}
	}
	return t.addBases(viewing, position)
}

// describeAlias describes output x, with the value v, as input number i or a view of it.
func (t *tracing) describeAlias(info *OutputInfo, i int, x, v *tensor.Tensor) {
	in := t.inner[i].(*tensor.Tensor)
	info.Kind, info.Input = AliasOfInput, i
	info.Shape, info.Stride = x.Shape, x.Stride
	info.Detached = t.training && !autograd.RequiresGrad(v)
	info.Offset -= in.Offset
	info.views = t.fn.chain(x)
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
			v, err := t.fn.Inner(t.fn.storage[storage].base)
			if err != nil {
				return err
			}
			at = len(t.results)
			position[storage] = at
			t.j.Bases = append(t.j.Bases, at)
			if err := t.addOutput(v, true); err != nil {
				return err
			}
		}
		t.j.Outputs[out].Base = at
	}
	return nil
}

// backward appends the gradient computation; each differentiable output gets a tangent placeholder.
func (j *Joint) backward(tr *Tracer, eng *autograd.Engine, inner []aten.Value, roots []*tensor.Tensor, results *fx.Tuple) error {
	var rs, gs, wrt []*tensor.Tensor
	for _, r := range roots {
		if r == nil {
			continue
		}
		j.Tangents++
		t := tr.Input(fmt.Sprintf("tangents_%d", j.Tangents), tensor.FakeLike(contiguousLike(r)))
		rs, gs = append(rs, r), append(gs, t.(*tensor.Tensor))
	}
	if len(rs) == 0 {
		return nil
	}
	for i, in := range j.Inputs {
		if in.RequiresGrad {
			wrt = append(wrt, inner[i].(*tensor.Tensor))
		}
	}
	grads, err := eng.Backward(rs, gs, autograd.Options{Inputs: wrt, AllowUnused: true})
	if err != nil {
		return fmt.Errorf("tracing the backward pass: %w", err)
	}
	k := 0
	for i, in := range j.Inputs {
		j.GradOf = append(j.GradOf, i)
		if !in.RequiresGrad || grads[k] == nil {
			if in.RequiresGrad {
				k++
			}
			*results = append(*results, nil)
			continue
		}
		a, err := tr.arg(grads[k])
		if err != nil {
			return err
		}
		*results = append(*results, a)
		k++
	}
	return nil
}

// contiguousLike is a tangent's layout: the output's own when dense, contiguous otherwise.
func contiguousLike(t *tensor.Tensor) *tensor.Tensor {
	if t.IsNonOverlappingAndDense() {
		return t
	}
	return tensor.EmptyFake(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape))
}

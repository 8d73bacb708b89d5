package aot

import (
	"fmt"
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
	views        []viewStep // how to rebuild it where it has another dtype
	Const        aten.Value
	RequiresGrad bool // a tangent flows into it
	Detached     bool // for AliasOfInput: no gradient flows through it
	DType        tensor.DType
	GraphIndex   int // position among the graph's outputs, -1 for none
}

// Joint is the traced program: one graph with forward outputs and, when it trains, gradients.
type Joint struct {
	GM          *fx.GraphModule
	Inputs      []Input
	Outputs     []OutputInfo
	Mutated     []int  // inputs whose new value is a graph output, in output order, before the others
	MutatedGrad []bool // of Mutated: whether gradients flow to the new value
	InGraph     []int  // inputs that the graph itself writes with copy_
	Fresh       []int  // inputs that gradients flow to and that are written: the backward cannot read them
	Reshaped    []Reshape
	Bases       []int // positions of graph outputs that only serve to rebuild views, in order
	NForward    int   // graph outputs that belong to the forward pass (mutated inputs, then outputs)
	Tangents    int   // number of tangent placeholders; 0 => inference
	GradOf      []int // per gradient output: its input
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
	if len(fresh) == 0 {
		return j, nil
	}
	j, err = traceOnce(f, inputs, opt, fresh)
	if err == nil {
		j.Fresh = fresh
	}
	return j, err
}

// traceOnce is trace with the inputs to copy.
func traceOnce(f Function, inputs []Input, opt *Options, fresh []int) (*Joint, error) {
	training := false
	for _, in := range inputs {
		training = training || in.RequiresGrad
	}
	training = training && (opt.Grad == nil || opt.Grad.Enabled)
	tr := NewTracer(opt.Decompositions)
	mode := &autograd.GradMode{Enabled: training}
	eng := &autograd.Engine{Below: tr, Mode: mode, Traced: true}
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

	inner := make([]aten.Value, len(inputs))
	start := make([]aten.Value, len(inputs)) // what f begins with
	outer := make([]aten.Value, len(inputs))
	seen := map[*tensor.Storage]*tensor.Tensor{}
	for i, in := range inputs {
		name := fmt.Sprintf("arg%d_1", i)
		if training {
			name = fmt.Sprintf("primals_%d", i+1)
		}
		inner[i] = tr.Input(name, in.Value)
		start[i] = inner[i]
		t, ok := inner[i].(*tensor.Tensor)
		if !ok {
			outer[i] = inner[i]
			continue
		}
		if in.RequiresGrad && training {
			autograd.Ensure(t).RequiresGrad = true
		}
		if slices.Contains(fresh, i) {
			v, err := build.Call(eng, "aten.clone.default", t)
			if err != nil {
				return nil, err
			}
			t, start[i] = v.(*tensor.Tensor), v
		}
		o := fn.Wrap(t)
		if in.RequiresGrad {
			autograd.Ensure(o).RequiresGrad = true
		}
		outer[i] = o
		seen[o.Storage] = o
	}
	if opt.Tracing != nil {
		opt.Tracing(mode)
	}
	outs, err := f(fn, outer)
	if err != nil {
		return nil, err
	}
	tr.Origin = nil
	j := &Joint{GM: tr.GM, Inputs: inputs}
	shared := fn.sharing(outs)
	var results fx.Tuple
	inputOf := map[*tensor.Storage]int{}
	for i, o := range outer {
		t, ok := o.(*tensor.Tensor)
		if !ok {
			continue
		}
		inputOf[t.Storage] = i
	}
	type copyBack struct{ dst, src *fx.Node }
	var copies []copyBack
	var roots []*tensor.Tensor
	addOutput := func(v *tensor.Tensor) error {
		a, err := tr.arg(v)
		if err != nil {
			return err
		}
		results = append(results, a)
		return nil
	}
	for i, o := range outer {
		t, ok := o.(*tensor.Tensor)
		if !ok || !fn.Mutated(t) {
			continue
		}
		v, err := fn.Inner(fn.whole(t))
		if err != nil {
			return nil, err
		}
		if v == start[i] {
			continue
		}
		same := tensor.SameShape(v, inner[i].(*tensor.Tensor))
		plain := !(inputs[i].RequiresGrad && training) && !autograd.RequiresGrad(v)
		if same && (plain || !fn.graded(t)) {
			src, err := tr.arg(v)
			if err != nil {
				return nil, err
			}
			n, ok := src.(*fx.Node)
			if !ok {
				return nil, fmt.Errorf("input %d is overwritten with a value that is no graph node", i)
			}
			copies = append(copies, copyBack{tr.Node(inner[i].(*tensor.Tensor)), n})
			j.InGraph = append(j.InGraph, i)
			continue
		}
		j.Mutated, j.MutatedGrad = append(j.Mutated, i), append(j.MutatedGrad, training && autograd.RequiresGrad(v))
		if err := addOutput(v); err != nil {
			return nil, err
		}
		if autograd.RequiresGrad(v) {
			roots = append(roots, v)
		} else {
			roots = append(roots, nil)
		}
	}
	type viewOf struct {
		out     int
		storage *tensor.Storage
	}
	var bases []viewOf
	position := map[*tensor.Storage]int{} // of a value that is returned and viewed
	for _, o := range outs {
		t, ok := o.(*tensor.Tensor)
		if !ok {
			j.Outputs = append(j.Outputs, OutputInfo{Kind: ConstantOut, Const: o, GraphIndex: -1})
			continue
		}
		v, err := fn.Inner(t)
		if err != nil {
			return nil, err
		}
		info := OutputInfo{Kind: FromGraph, Shape: v.Shape, Stride: v.Stride, Offset: t.Offset, DType: v.DType, GraphIndex: len(results)}
		train := training && v.DType.Kind() >= tensor.KindFloat && autograd.RequiresGrad(v)
		views := shared[t.Storage]
		if i, ok := inputOf[t.Storage]; ok && !(train && views.single == 0) {
			info.Input = i
			info.Kind = AliasOfInput
			info.Shape, info.Stride = t.Shape, t.Stride
			in := inner[i].(*tensor.Tensor)
			info.Detached = training && !autograd.RequiresGrad(v)
			info.Offset -= in.Offset
			if t.DType != in.DType {
				info.views = fn.chain(t)
			}
			if outer[i] == o {
				info.Kind = IsInput
			}
		}
		if info.Kind == FromGraph && train && views.single > 0 && views.all > 1 && len(fn.chain(t)) > 0 {
			info.Kind = AliasOfValue
			info.Shape, info.Stride = t.Shape, t.Stride
			if base := fn.storage[t.Storage].base; base != nil {
				info.Offset -= base.Offset
				if t.DType != base.DType {
					info.views = fn.chain(t)
				}
			}
			bases = append(bases, viewOf{len(j.Outputs), t.Storage})
		}
		info.RequiresGrad = info.Kind == FromGraph && train
		if _, ok := position[t.Storage]; !ok && info.RequiresGrad && len(fn.chain(t)) == 0 {
			position[t.Storage] = len(results)
		}
		j.Outputs = append(j.Outputs, info)
		if err := addOutput(v); err != nil {
			return nil, err
		}
		if info.RequiresGrad {
			roots = append(roots, v)
		} else {
			roots = append(roots, nil)
		}
	}
	// What several outputs view becomes an output itself, unless the program returns it anyway: gradients flow through it alone.
	for _, b := range bases {
		at, ok := position[b.storage]
		if !ok {
			v, err := fn.Inner(fn.storage[b.storage].base)
			if err != nil {
				return nil, err
			}
			at = len(results)
			position[b.storage] = at
			j.Bases = append(j.Bases, at)
			if err := addOutput(v); err != nil {
				return nil, err
			}
			roots = append(roots, v)
		}
		j.Outputs[b.out].Base = at
	}
	j.NForward = len(results)
	j.Reshaped = fn.reshaped(inner, outer)
	if training {
		if err := j.backward(tr, eng, inner, roots, &results); err != nil {
			return nil, err
		}
	}
	for _, c := range copies {
		n := tr.GM.Graph.CallFunction("aten.copy_.default", c.dst, c.src)
		n.Val = c.dst.Val
	}
	tr.GM.Graph.Output(results)
	return j, nil
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

package aot

import (
	"errors"
	"fmt"
	"strings"

	"whittle/aot/build"
	"whittle/capture/fx"
	"whittle/capture/fx/choice"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Decomposition rewrites one operator into others while tracing.
type Decomposition func(b *build.B, args []aten.Value) aten.Value

// Tracer is the lowest dispatcher layer: it runs each operator on fake tensors and
// records it as a node.
type Tracer struct {
	GM     *fx.GraphModule
	Decomp map[string]Decomposition // by operator name "aten.gelu.default"; nil => none
	// Choices says which decompositions are made; nil => all.
	Choices *choice.Matcher
	// Region is the checkpointed region of the program that runs, counted from 1; 0 for none. nil => there are none.
	Region func() int
	// Parameter reports whether a tensor from outside of the trace is a parameter, which has a name of its own; nil => none is.
	Parameter func(x *tensor.Tensor) bool
	Origin    func() fx.Origin // the line of the program that nodes are recorded for; nil => not known

	unknown *unknowns

	nodes  map[*tensor.Tensor]*fx.Node
	consts map[*tensor.Tensor]*fx.Node
}

// NewTracer starts an empty graph.
func NewTracer(decomp map[string]Decomposition) *Tracer {
	gm := &fx.GraphModule{Graph: fx.NewGraph(), ClassName: "GraphModule", Attrs: map[string]*tensor.Tensor{}}
	return &Tracer{GM: gm, Decomp: decomp, nodes: map[*tensor.Tensor]*fx.Node{}, consts: map[*tensor.Tensor]*fx.Node{}}
}

// Input adds a placeholder for v; a tensor is given a fake stand-in, which is returned.
func (t *Tracer) Input(name string, v aten.Value) aten.Value {
	n := t.GM.Graph.Placeholder(name)
	x, ok := v.(*tensor.Tensor)
	if !ok {
		n.Val = v
		return v
	}
	f := tensor.FakeLike(x)
	n.Val = f
	t.nodes[f] = n
	return f
}

// Node is the node that computes x, nil when x is not of this trace.
func (t *Tracer) Node(x *tensor.Tensor) *fx.Node { return t.nodes[x] }

// Dispatch records op, or its decomposition.
func (t *Tracer) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	if d, ok := t.Decomp[op.Name()]; ok && t.Choices.Take("decomposition", op.Name(), "", t.origin().Where()) {
		meta, err := refused(op, args)
		if err != nil {
			return nil, err
		}
		var out aten.Value
		declined := false
		err = build.Run(func() {
			out = d(&build.B{D: t}, args)
			_, declined = out.(Declined)
			if !declined {
				out = promoted(&build.B{D: t}, out, meta)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("decomposing %s: %w", op.Name(), err)
		}
		if !declined {
			return out, nil
		}
	}
	if op.Tags&aten.Composite != 0 && op.Decomp != nil {
		return aten.Decompose(t, op, args)
	}
	out, err := t.run(op, args)
	if err != nil {
		return nil, err
	}
	fargs, kwargs, err := t.arguments(op, args)
	if err != nil {
		return nil, err
	}
	n := t.GM.Graph.CreateNode(fx.CallFunction, op.Name(), fargs, kwargs, "")
	if op.Library != nil {
		n.Custom = op
	}
	n.SetOrigin(t.origin())
	t.noteRegion(n)
	if t.unknown != nil && op.Sig().Name == "_assert_scalar" {
		if e := t.unknown.sizes.Asserted(); e != nil {
			n.Meta = map[string]any{metaAsserted: e}
		}
	}
	n.Val = out
	switch o := out.(type) {
	case *tensor.Tensor:
		t.nodes[o] = n
	case []aten.Value:
		t.results(n, o)
	}
	return out, nil
}

// run computes the metadata of an operator's results: of a guess, where data decides, and only a run knows them.
func (t *Tracer) run(op *aten.Op, args []aten.Value) (aten.Value, error) {
	if t.unknown != nil && op.Sig().Name == "_assert_scalar" {
		return nil, nil
	}
	out, err := aten.Fake.Dispatch(op, args)
	var e *aten.Error
	if t.unknown != nil && errors.As(err, &e) && e.Kind == aten.DataDependentError {
		if v := t.unknown.result(op, args); v != nil {
			return v, nil
		}
	}
	return out, err
}

// refused is the error of an operator whose arguments are wrong: what it decomposes into would say something else, or compute something. Else
// it gives the operator's own metadata, nil where that needs data.
func refused(op *aten.Op, args []aten.Value) (aten.Value, error) {
	v, err := aten.Fake.Dispatch(op, args)
	var e *aten.Error
	if errors.As(err, &e) && e.Kind == aten.DataDependentError {
		return nil, nil
	}
	return v, err
}

// promoted gives what a decomposition made the shapes, dtypes and layouts of the operator's own results: formulas do not broadcast and promote as
// kernels do, and keep the strides of what they are computed from where a kernel writes row by row. Random numbers are dealt out in the order of memory.
func promoted(b *build.B, out, meta aten.Value) aten.Value {
	switch m := meta.(type) {
	case *tensor.Tensor:
		t, ok := out.(*tensor.Tensor)
		if !ok || t == nil || m == nil {
			return out
		}
		if !tensor.SameShape(t, m) {
			t = b.T("expand.default", t, build.Ints(m.Shape))
		}
		if t.DType != m.DType {
			t = b.Prim("convert_element_type.default", t, m.DType)
		}
		if m.IsContiguous(tensor.ContiguousFormat) && !t.IsContiguous(tensor.ContiguousFormat) && t.IsNonOverlappingAndDense() {
			t = b.T("clone.default", t, tensor.ContiguousFormat)
		}
		return t
	case []aten.Value:
		if l, ok := out.([]aten.Value); ok && len(l) == len(m) {
			for i := range l {
				l[i] = promoted(b, l[i], m[i])
			}
		}
	}
	return out
}

// noteRegion notes in a node which checkpointed region it belongs to: what the backward pass recomputes instead of saving.
func (t *Tracer) noteRegion(n *fx.Node) {
	if t.Region == nil {
		return
	}
	if r := t.Region(); r > 0 {
		if n.Meta == nil {
			n.Meta = map[string]any{}
		}
		n.Meta[metaRegion] = r
	}
}

// metaRegion is the Meta key of the checkpointed region that a node was recorded in.
const metaRegion = "checkpoint"

// regionOf is the checkpointed region of a node, 0 for none.
func regionOf(n *fx.Node) int {
	r, _ := n.Meta[metaRegion].(int)
	return r
}

// origin is the line of the program that runs; the zero Origin where nobody knows.
func (t *Tracer) origin() fx.Origin {
	if t.Origin == nil {
		return fx.Origin{}
	}
	return t.Origin()
}

// Declined is returned by a decomposition that leaves this call as it is.
type Declined struct{}

// results adds a getitem for every result of a multi-result node; unused ones are dead code later.
func (t *Tracer) results(n *fx.Node, outs []aten.Value) {
	for i, o := range outs {
		switch o := o.(type) {
		case *tensor.Tensor:
			if o == nil {
				continue
			}
			g := t.GM.Graph.CallFunction("operator.getitem", n, int64(i))
			g.SetOrigin(t.origin())
			t.noteRegion(g)
			g.Val = o
			t.nodes[o] = g
		case []aten.Value:
			g := t.GM.Graph.CallFunction("operator.getitem", n, int64(i))
			g.Val = o
			t.results(g, o)
		}
	}
}

// arguments renders bound arguments as PyTorch's dispatcher shows them.
func (t *Tracer) arguments(op *aten.Op, args []aten.Value) ([]fx.Arg, []fx.Kwarg, error) {
	places, named := op.Sig().Shown(args)
	var fargs []fx.Arg
	for _, a := range args[:places] {
		v, err := t.arg(a)
		if err != nil {
			return nil, nil, err
		}
		fargs = append(fargs, v)
	}
	var kwargs []fx.Kwarg
	for _, i := range named {
		v, err := t.arg(args[i])
		if err != nil {
			return nil, nil, err
		}
		kwargs = append(kwargs, fx.Kwarg{Name: op.Sig().Args[i].Name, Val: v})
	}
	return fargs, kwargs, nil
}

// arg is a value as an argument of a node: tensors of the trace are their nodes, others constants of the module, and generators are left out,
// as graphs draw from the default one.
func (t *Tracer) arg(v aten.Value) (fx.Arg, error) {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil {
			return nil, nil
		}
		if n := t.nodes[v]; n != nil {
			return n, nil
		}
		return t.constant(v)
	case []aten.Value:
		l := make(fx.List, len(v))
		for i, x := range v {
			a, err := t.arg(x)
			if err != nil {
				return nil, err
			}
			l[i] = a
		}
		return l, nil
	case *tensor.Generator:
		return nil, nil
	}
	return v, nil
}

// constant lifts a tensor that the program created outside of the trace.
func (t *Tracer) constant(v *tensor.Tensor) (fx.Arg, error) {
	if n := t.consts[v]; n != nil {
		return n, nil
	}
	if v.Fake {
		return nil, fmt.Errorf("a fake tensor of shape %v from another trace reached the tracer", v.Shape)
	}
	kind := "_tensor_constant"
	if t.Parameter != nil && t.Parameter(v) {
		kind = "_param_constant"
	}
	count := 0
	for n := range t.GM.Attrs {
		if strings.HasPrefix(n, kind) {
			count++
		}
	}
	name := fmt.Sprintf("%s%d", kind, count)
	t.GM.Attrs[name] = v
	n := t.GM.Graph.GetAttr(name)
	n.Val = v
	t.consts[v] = n
	return n, nil
}

// Return ends the graph with v as its result; a list becomes a tuple.
func (t *Tracer) Return(v aten.Value) error {
	a, err := t.arg(v)
	if err != nil {
		return err
	}
	if l, ok := a.(fx.List); ok {
		a = fx.Tuple(l)
	}
	t.GM.Graph.Output(a)
	t.GM.Graph.EliminateDeadCode(fx.UnknownMay)
	return nil
}

package aot

import (
	"errors"
	"fmt"
	"slices"

	"whittle/aot/autograd"
	"whittle/aot/build"
	"whittle/capture/fx"
	"whittle/capture/fx/choice"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Callable runs a compiled graph on real tensors.
type Callable func(inputs []aten.Value) ([]aten.Value, error)

// Compiler turns one graph into something that runs. kind is "inference", "forward" or "backward".
type Compiler func(gm *fx.GraphModule, kind string) (Callable, error)

// Options of Compile.
type Options struct {
	Decompositions map[string]Decomposition
	// Composite are decompositions that autograd does not see, whatever the backend.
	Composite map[string]Decomposition
	Compiler  Compiler
	// Grad says whether gradients are recorded around the call; nil => yes.
	Grad *autograd.GradMode
	// Eager runs the few operators of the runtime wrapper (copies, views); it records gradients.
	Eager *autograd.Engine
	// Lone says that nobody keeps what Compiler's callables give: not they, and not what they call.
	Lone bool
	// JointPasses simplifies the joint graph before it is cut, as Inductor does.
	JointPasses bool
	// SameStream has those passes leave random operators alone, which then draw the numbers that an eager run does.
	SameStream bool
	// Partition cuts the joint graph in two, as it was traced; nil => MinCutPartition, after the passes over joint graphs.
	Partition func(joint *fx.GraphModule, forward int) (*Parts, error)
	// MutationsReturned has new values of inputs among the graph's results, where it could write them itself, too.
	MutationsReturned bool
	// Choices says which decompositions and passes are taken; nil => all.
	Choices *choice.Matcher
	// Observe sees every graph before it is compiled: kind and graph. nil => nobody.
	Observe func(kind string, gm *fx.GraphModule)

	// Graphs sees the graphs of a function when all are made, in order: joint, then forward and backward; or inference. nil => nobody.
	Graphs func(kind string, gm *fx.GraphModule)
	// Described gets what the trace found out about the function, in PyTorch's words, after the joint graph and before what is made of it: laid out, and in a line.
	// train says that there is a backward graph. nil => nobody.
	Described func(laidOut, line string, train bool)
	// Phase is told when a part of the work begins, by PyTorch's name for it; what it gives, when that ends. nil => nobody.
	Phase func(name string) (end func())
	// Origin is asked which line of the program runs, before each operator is recorded; nil => not known.
	Origin func() fx.Origin
	// Donates reports whether the backward graph may overwrite what was saved for it alone: asked when it is cut off, and before it runs. nil => no.
	Donates func() bool
	// Numbers is how many numbers would be saved for the backward graph were it for all sizes: of a function that is for some of those that it is called with.
	Numbers int
	// Region is the checkpointed region of the program that runs, counted from 1; 0 for none. nil => there are none.
	Region func() int

	// Wrapper reports whether a tensor is one of a class of the program's that runs operators itself; nil => none is.
	Wrapper func(t *tensor.Tensor) bool

	unknown *unknowns // nil => the trace has no numbers that only a run knows

	// Tracing is handed the grad mode of the trace before it starts: captured no_grad regions switch it. nil => nobody.
	Tracing func(mode *autograd.GradMode)
}

// Compiled is a function with its graphs.
type Compiled struct {
	joint *Joint
	parts *Parts
	// donated are the backward graph's inputs that it may overwrite; nil => that was not asked.
	donated []int
	fw      Callable
	bw      Callable
	opt     Options

	f       Function
	repeats repeats     // inputs that are the same tensor, where that matters; nil => none
	once    *Compiled   // the function of the different inputs, where some are repeated
	mutated []int       // inputs that f writes
	bases   *bases      // of inputs that share memory; nil => none that matter
	others  []*Compiled // for calls whose inputs share memory in other ways
	sizes   *unifier    // what its sizes follow from, where they are symbolic; nil => they are plain
}

// Compile traces f and compiles its graphs. The backward graph is compiled when it is first needed.
func Compile(f Function, inputs []Input, opt Options) (*Compiled, error) {
	j, err := trace(f, inputs, &opt)
	if err != nil {
		return nil, err
	}
	c := &Compiled{opt: opt, f: f, mutated: j.Written()}
	given := make([]aten.Value, len(inputs))
	for i, in := range inputs {
		given[i] = in.Value
	}
	if r := repeated(given); r != nil && r.matter(j) {
		if opt.wrapped(given) {
			return nil, notOfWrappers("duplicate")
		}
		c.repeats = r
		c.once, err = Compile(r.function(f), once(r, inputs), opt)
		return c, err
	}
	if len(c.mutated) > 0 {
		if c.bases = shared(given, c.mutated); c.bases != nil {
			if opt.wrapped(given) {
				return nil, notOfWrappers("aliased")
			}
			if j, err = c.traceMerged(inputs, given); err != nil {
				return nil, err
			}
		}
	}
	c.joint = j
	if err := c.compileGraphs(); err != nil {
		return c, err
	}
	j.Inputs = slices.Clone(j.Inputs)
	for i := range j.Inputs {
		j.Inputs[i].Value = nil // what it was traced with is the program's to drop
	}
	return c, nil
}

// compileGraphs makes the graphs of the trace, and compiles the first.
func (c *Compiled) compileGraphs() (err error) {
	j := c.joint
	if j.Tangents == 0 {
		j.asInference()
		// No CSE here: PyTorch's inference graphs are compiled as they were traced.
		if err := deadcode(j.GM.Graph); err != nil {
			return err
		}
		c.describe()
		c.show("inference", j.GM)
		c.observe("inference", j.GM)
		c.fw, err = c.opt.Compiler(j.GM, "inference")
		return err
	}
	end := func() {}
	if c.opt.Phase != nil && c.opt.JointPasses {
		end = c.opt.Phase("_recursive_joint_graph_passes")
	}
	err = c.opt.simplify(j)
	if end(); err != nil {
		return err
	}
	c.show("joint", j.GM)
	if c.parts, err = c.opt.cut(j); err != nil {
		return err
	}
	if c.opt.donates() {
		c.donated = c.parts.donated(j.NForward)
		for i := range c.donated {
			c.donated[i] += c.opt.Numbers
		}
	}
	c.describe()
	c.show("forward", c.parts.Forward)
	c.show("backward", c.parts.Backward)
	c.observe("forward", c.parts.Forward)
	if c.fw, err = c.opt.Compiler(c.parts.Forward, "forward"); err == nil && c.parts.numbers() > 0 {
		err = c.compileBackward()
	}
	return err
}

// compileBackward compiles the backward graph: at once where numbers are saved for it, as PyTorch does, and else when it is first needed.
func (c *Compiled) compileBackward() (err error) {
	c.observe("backward", c.parts.Backward)
	c.bw, err = c.opt.Compiler(c.parts.Backward, "backward")
	return err
}

// simplify runs the passes over a joint graph.
func (o *Options) simplify(j *Joint) error {
	wanted := func(p pass) bool { return (o.JointPasses || !p.joint) && !(o.SameStream && p.fresh) }
	if o.Partition != nil {
		wanted = func(p pass) bool { return p.name == "deadcode" }
	}
	return runPasses(j.GM.Graph, o.Choices, wanted)
}

// cut cuts a joint graph in two.
func (o *Options) cut(j *Joint) (*Parts, error) {
	if o.Partition != nil {
		return o.Partition(j.GM, j.NForward)
	}
	return MinCutPartition(j.GM, j.NForward)
}

func (o *Options) donates() bool { return o.Donates != nil && o.Donates() }

// wrapped reports whether one of the inputs is of a class that runs operators itself.
func (o *Options) wrapped(inputs []aten.Value) bool {
	return o.Wrapper != nil && slices.ContainsFunc(inputs, func(v aten.Value) bool {
		t, ok := v.(*tensor.Tensor)
		return ok && o.Wrapper(t)
	})
}

// notOfWrappers refuses inputs that share memory and are written, where some are of such a class.
func notOfWrappers(how string) error {
	return &aten.Error{Kind: aten.RuntimeError, Msg: "        Encountered " + how + " inputs that are mutated in the graph, but at least one input/output\n" +
		"        to the graph is a tensor subclass. This is not supported today. You can try to\n" +
		"        remove the aliasing yourself as a workaround, or otherwise file an issue on github."}
}

// traceMerged traces the function with the bases of its inputs in their place.
func (c *Compiled) traceMerged(inputs []Input, given []aten.Value) (*Joint, error) {
	merged, err := c.bases.merge(given)
	if err != nil {
		return nil, err
	}
	ins := make([]Input, len(merged))
	for k, v := range merged {
		ins[k].Value = v
		if k >= len(c.bases.groups) {
			ins[k] = inputs[c.bases.others[k-len(c.bases.groups)]]
			continue
		}
		for _, i := range c.bases.groups[k] {
			ins[k].RequiresGrad = ins[k].RequiresGrad || inputs[i].RequiresGrad
		}
	}
	return trace(c.bases.function(c.f, given), ins, &c.opt)
}

// Run calls the compiled function: it writes mutated inputs back, rebuilds aliases, and records the backward graph. Inputs that share
// memory in another way than those before, where that matters, have it compiled once more.
func (c *Compiled) Run(inputs []aten.Value) ([]aten.Value, error) {
	if len(c.mutated) == 0 && c.once == nil {
		return c.run(inputs)
	}
	now, twice := shared(inputs, c.mutated), repeated(inputs)
	for _, v := range append([]*Compiled{c}, c.others...) {
		if v.once != nil && slices.Equal(v.repeats, twice) {
			return v.once.Run(once(twice, inputs))
		}
		if v.once == nil && v.bases.equal(now) {
			return v.runMerged(inputs)
		}
	}
	ins := make([]Input, len(inputs))
	for i, v := range inputs {
		ins[i].Value = v
		if t, ok := v.(*tensor.Tensor); ok {
			ins[i].RequiresGrad = autograd.RequiresGrad(t)
		}
	}
	v, err := Compile(c.f, ins, c.opt)
	if err != nil {
		return nil, err
	}
	if c.sizes == nil {
		c.others = append(c.others, v) // else it is for these sizes only
	}
	if v.once != nil {
		return v.once.Run(once(v.repeats, inputs))
	}
	return v.runMerged(inputs)
}

// Dynamic are the dimensions of each output whose size differs between calls, in order; nil where it was compiled for one size.
func (c *Compiled) Dynamic() (dims [][]int) {
	if c.sizes == nil {
		return nil
	}
	for _, o := range c.joint.Outputs {
		dims = append(dims, o.Dynamic)
	}
	return dims
}

// runMerged runs with the bases of inputs that share memory in their place.
func (c *Compiled) runMerged(inputs []aten.Value) ([]aten.Value, error) {
	if c.bases == nil {
		return c.run(inputs)
	}
	merged, err := c.bases.merge(inputs)
	if err != nil {
		return nil, err
	}
	outs, err := c.run(merged)
	if err != nil {
		return nil, err
	}
	return c.bases.look(c.opt.Eager, inputs, outs)
}

// show hands a graph to Options.Graphs, when all passes have run.
func (c *Compiled) show(kind string, gm *fx.GraphModule) {
	if c.opt.Graphs != nil {
		c.opt.Graphs(kind, gm)
	}
}

// describe hands what is known of the function to Options.Described.
func (c *Compiled) describe() {
	if c.opt.Described != nil {
		saved := -1
		if c.parts != nil {
			saved = c.opt.Numbers + c.parts.numbers()
		}
		r := c.joint.describe(c.opt.MutationsReturned, saved, c.donated)
		c.opt.Described(laidOut(r, 0), laidOut(r, oneLine), c.parts != nil)
	}
}

// observe hands a graph to Options.Observe, before it is compiled.
func (c *Compiled) observe(kind string, gm *fx.GraphModule) {
	if c.opt.Observe != nil {
		c.opt.Observe(kind, gm)
	}
}

// Lone reports whether nobody but its caller has what Run gives, as far as it is none of the inputs': nothing is kept for gradients, no graph holds a
// tensor, and no input is written.
func (c *Compiled) Lone() bool {
	return c.opt.Lone && c.parts == nil && c.once == nil && c.bases == nil && len(c.mutated) == 0 && len(c.joint.Mutated) == 0 &&
		len(c.joint.GM.Attrs) == 0 && len(c.joint.GM.Submodules) == 0 && !slices.ContainsFunc(c.joint.Outputs, func(o OutputInfo) bool { return o.Kind != FromGraph })
}

// Repeated is, per input, the first one that is the same tensor, where the graphs rely on that; nil where they do not.
func (c *Compiled) Repeated() []int { return c.repeats.first() }

// Graphs returns the compiled graphs by kind.
func (c *Compiled) Graphs() map[string]*fx.GraphModule {
	if c.once != nil {
		return c.once.Graphs()
	}
	if c.parts == nil {
		return map[string]*fx.GraphModule{"inference": c.joint.GM}
	}
	return map[string]*fx.GraphModule{"forward": c.parts.Forward, "backward": c.parts.Backward}
}

// run calls the forward graph, and does what a graph cannot: record the backward graph as the history of the results, write new values of
// inputs back, and rebuild outputs that are inputs or views. The order matters: history is recorded on the values as the graph gave them,
// before anything is written.
func (c *Compiled) run(inputs []aten.Value) ([]aten.Value, error) {
	j := c.joint
	res, err := c.fw(inputs)
	if err != nil {
		return nil, err
	}
	if len(res) < j.NForward {
		return nil, fmt.Errorf("compiled graph gave %d outputs, %d expected", len(res), j.NForward)
	}
	if c.parts != nil {
		if err := c.record(inputs, res); err != nil {
			return nil, err
		}
	}
	if c.opt.Grad != nil && c.opt.Grad.Inference {
		j.markInference(res)
	}
	starts := make(map[int]int64, len(j.Mutated)) // where inputs that are viewed in place began
	for k, m := range j.Mutated {
		if m.Meta {
			starts[m.Input] = inputs[m.Input].(*tensor.Tensor).Offset
		}
		if err := c.writeBack(m, inputs[m.Input].(*tensor.Tensor), res[k]); err != nil {
			return nil, err
		}
	}
	outs := make([]aten.Value, len(j.Outputs))
	for i, o := range j.Outputs {
		if c.sizes != nil {
			if o, err = c.sizes.output(i, o, inputs); err != nil {
				return nil, err
			}
		}
		switch o.Kind {
		case ConstantOut:
			outs[i] = o.Const
		case IsInput:
			outs[i] = inputs[o.Input]
		case AliasOfInput, AliasOfValue:
			base, _ := inputs[o.Input].(*tensor.Tensor)
			if o.Kind == AliasOfValue {
				base = res[o.Base].(*tensor.Tensor)
			}
			start, moved := starts[o.Input]
			if !moved || o.Kind == AliasOfValue {
				start = base.Offset
			}
			if outs[i], err = c.rebuild(base, o, start); err != nil {
				return nil, fmt.Errorf("rebuilding output %d: %w", i, err)
			}
			if t, ok := outs[i].(*tensor.Tensor); ok && o.Detached && autograd.RequiresGrad(t) {
				if outs[i], err = build.Call(c.opt.Eager, "aten.detach.default", t); err != nil {
					return nil, err
				}
			}
		default:
			outs[i] = res[o.GraphIndex]
		}
	}
	return outs, nil
}

// markInference makes tensors of inference mode of what the graph gave for outputs that are no input's.
func (j *Joint) markInference(res []aten.Value) {
	for _, o := range j.Outputs {
		var at int
		switch o.Kind {
		case ConstantOut, IsInput, AliasOfInput:
			continue
		case AliasOfValue:
			at = o.Base
		default:
			at = o.GraphIndex
		}
		if t, ok := res[at].(*tensor.Tensor); ok {
			autograd.Ensure(t).Inference = true
		}
	}
}

// below runs operators on real tensors without recording gradients.
func (c *Compiled) below() aten.Dispatcher {
	if c.opt.Eager == nil {
		return aten.Eager
	}
	return c.opt.Eager.Below
}

// writeBack does to an input what the program did.
func (c *Compiled) writeBack(m Mutation, t *tensor.Tensor, value aten.Value) error {
	d := aten.Dispatcher(c.opt.Eager)
	if autograd.RequiresGrad(t) && autograd.IsLeaf(t) {
		d = c.below() // a leaf is only ever written under no_grad
	}
	if m.Meta && !(m.Data && grown(t, value.(*tensor.Tensor))) {
		if _, err := build.Call(d, "aten.as_strided_.default", t, build.Ints(m.Shape), build.Ints(m.Stride), t.Offset+m.Offset); err != nil {
			return fmt.Errorf("viewing input %d in place: %w", m.Input, err)
		}
	}
	if !m.Data {
		return nil
	}
	src := value.(*tensor.Tensor)
	if err := resize(d, t, src); err != nil {
		return fmt.Errorf("resizing input %d: %w", m.Input, err)
	}
	if _, err := build.Call(d, "aten.copy_.default", t, src); err != nil {
		return fmt.Errorf("writing input %d back: %w", m.Input, err)
	}
	return nil
}

// rebuild makes an output that is a view of base: by the views that the program made, so that its history names them, or, where these lead
// elsewhere from this base, by its shape and strides. As gen_alias_from_base of torch/_functorch/_aot_autograd/functional_utils.py.
// start is where base began before the program viewed it in place.
func (c *Compiled) rebuild(base *tensor.Tensor, o OutputInfo, start int64) (v aten.Value, err error) {
	if len(o.views) > 0 {
		b := build.B{D: c.opt.Eager}
		var t *tensor.Tensor
		err = build.Run(func() {
			levels := replay(&b, o.views, base)
			t = levels[len(levels)-1]
		})
		if err != nil || t.DType != base.DType || build.EqualInts(t.Shape, o.Shape) && build.EqualInts(t.Stride, o.Stride) && t.Offset == start+o.Offset {
			return t, err
		}
	}
	return build.Call(c.opt.Eager, "aten.as_strided.default", base, build.Ints(o.Shape), build.Ints(o.Stride), start+o.Offset)
}

// record hangs one node, the whole backward graph, on the differentiable outputs, and saves for it what the forward graph leaves: an error of the
// program's hooks.
func (c *Compiled) record(inputs, res []aten.Value) error {
	j := c.joint
	var ins []*tensor.Tensor
	for _, i := range j.GradOf {
		t, _ := inputs[i].(*tensor.Tensor)
		if !j.Inputs[i].RequiresGrad {
			t = nil
		}
		ins = append(ins, t)
	}
	if !slices.ContainsFunc(ins, func(t *tensor.Tensor) bool { return t != nil && autograd.RequiresGrad(t) }) {
		return nil // code that was made for training, given what asks for no gradients
	}
	tensors := len(res) - c.parts.numbers()
	saved := slices.Concat(res[tensors:], res[j.NForward:tensors])
	kept := make([]*autograd.Saved, len(saved)) // nil for what is no tensor
	for k, v := range saved {
		if t, ok := v.(*tensor.Tensor); ok && t != nil {
			s, err := autograd.NewSaved("", t, c.opt.Eager.SavedHooks())
			if err != nil {
				return err
			}
			kept[k], saved[k] = s, nil
		}
	}
	var targets []*tensor.Tensor
	for k, m := range j.Mutated {
		if t, ok := res[k].(*tensor.Tensor); ok && m.Grad {
			targets = append(targets, t)
		}
	}
	for _, o := range j.Outputs {
		if o.RequiresGrad {
			targets = append(targets, res[o.GraphIndex].(*tensor.Tensor))
		}
	}
	for _, at := range j.Bases {
		targets = append(targets, res[at].(*tensor.Tensor))
	}
	for _, o := range j.Outputs {
		if o.Kind != FromGraph || o.RequiresGrad {
			continue
		}
		if t, ok := res[o.GraphIndex].(*tensor.Tensor); ok && slices.Contains(targets, t.Base) {
			t.Base = nil // else it would require gradients, as what it views does
		}
	}
	n := autograd.NewNode("CompiledFunctionBackward", ins, len(targets), func(d aten.Dispatcher, grads []*tensor.Tensor, need []bool) ([]*tensor.Tensor, error) {
		saved := slices.Clone(saved)
		for k, s := range kept {
			if s != nil {
				t, err := s.Get()
				if err != nil {
					return nil, err
				}
				saved[k] = t
			}
		}
		if _, again := d.(*autograd.Engine); again && j.lateGrad {
			return nil, &aten.Error{Kind: aten.RuntimeError, Msg: "aot_autograd does not support input mutations with requires_grad in backward for create_graph=True"}
		}
		out, err := c.backward(saved, targets, grads)
		if _, recording := d.(*autograd.Engine); err != nil || !recording {
			return out, err
		}
		// The gradients of a compiled graph have no gradients: whoever asks for them is told so.
		again := autograd.NewNode("CompiledFunctionBackwardBackward", ins, len(out), func(aten.Dispatcher, []*tensor.Tensor, []bool) ([]*tensor.Tensor, error) {
			return nil, errors.New("torch.compile with aot_autograd does not currently support double backward")
		})
		for i, t := range out {
			if t != nil {
				again.Describe(i, t)
				autograd.SetHistory(t, again, i)
			}
		}
		return out, nil
	})
	for k, t := range targets {
		if !slices.Contains(inputs, aten.Value(t)) {
			t.Base = nil // results that share memory are none of each other's views: those that should be are made anew
		}
		n.Describe(k, t)
		autograd.SetHistory(t, n, k)
	}
	n.Kept = slices.DeleteFunc(slices.Clone(kept), func(s *autograd.Saved) bool { return s == nil })
	return nil
}

func (c *Compiled) backward(saved []aten.Value, targets, grads []*tensor.Tensor) ([]*tensor.Tensor, error) {
	keeps := c.opt.Eager.Keeps()
	if c.bw == nil {
		if keeps && c.donated != nil && c.opt.Numbers == 0 { // with numbers PyTorch compiles both graphs at once
			c.donated = []int{}
		}
		if err := c.compileBackward(); err != nil {
			return nil, err
		}
	}
	if keeps && len(c.donated) > 0 && c.opt.donates() {
		return nil, errDonated
	}
	args := append([]aten.Value(nil), saved...)
	tn := tangentNodesOf(c.parts.Backward, c.parts.Saved)
	for k, g := range grads {
		if g == nil {
			z, err := build.Call(c.below(), "aten.zeros_like.default", targets[k])
			if err != nil {
				return nil, err
			}
			g = z.(*tensor.Tensor)
		}
		// The graph was traced for dense tangents; a broadcast or strided one is brought into that layout.
		want := tn[k].Val.(*tensor.Tensor)
		if c.sizes != nil {
			want = contiguousLike(targets[k])
		}
		if !build.EqualInts(g.Stride, want.Stride) {
			dst, err := build.Call(c.below(), "aten.new_empty_strided.default", g, build.Ints(want.Shape), build.Ints(want.Stride))
			if err != nil {
				return nil, err
			}
			if _, err := build.Call(c.below(), "aten.copy_.default", dst, g); err != nil {
				return nil, err
			}
			g = dst.(*tensor.Tensor)
		}
		args = append(args, g)
	}
	res, err := c.bw(args)
	if err != nil {
		return nil, err
	}
	out := make([]*tensor.Tensor, len(res))
	for i, r := range res {
		out[i], _ = r.(*tensor.Tensor)
	}
	return out, nil
}

func tangentNodesOf(gm *fx.GraphModule, saved int) []*fx.Node {
	return gm.Graph.Placeholders()[saved:]
}

package capture

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// randomDraw is a call of Python's random module that a trace met. Compiled code makes the draws of a frame in their order before
// its graph runs, and passes them in.
type randomDraw struct {
	fn   vm.Object // a function of the module random
	args []vm.Object
	kw   []vm.KwArg

	// A generator of the program's own: its state counts as fixed. Every run gets the number that the trace drew, and
	// leaves the state that the trace left.
	generator source.Source // nil for functions of the module
	number    vm.Object
	after     vm.Object
}

// randomDraws are the draws of a frame, in order.
type randomDraws []*randomDraw

// randomness is what a trace drew from Python's random generators. While it runs they go on as the program has them go; putBack
// ends that, and every run of the compiled code draws for itself.
type randomness struct {
	*ground
	out     *output
	symbols *symbols
	world   *world

	draws      randomDraws
	generators map[*vm.Instance]vm.Object // those that the trace drew from, with the states before
}

func newRandomness(g *ground, out *output, sy *symbols, w *world) *randomness {
	return &randomness{ground: g, out: out, symbols: sy, world: w, generators: map[*vm.Instance]vm.Object{}}
}

// randomFunctions are the functions of random that become inputs of the graph.
var randomFunctions = []string{"randint", "randrange", "uniform"}

// randomCall is a call of a method of a random.Random: a number that every run draws anew. ok is false for other calls.
func (rn *randomness) randomCall(callable vm.Object, args []vm.Object, kw []vm.KwArg) (v vm.Object, ok bool, err error) {
	var self vm.Object
	name := ""
	switch m := callable.(type) {
	case *vm.BoundMethod:
		if f, isFn := m.Func.(*vm.Function); isFn {
			self, name = m.Self, f.Name
		} else if b, isB := m.Func.(*vm.Builtin); isB {
			self, name = m.Self, b.Name
		}
	case *vm.Builtin:
		self, name = m.Self, m.Name
		if self == nil && m.Owner != nil && len(args) > 0 {
			self, args = args[0], args[1:]
		}
	case *vm.Function: // LOAD_METHOD passes self as an argument
		if len(args) > 0 {
			self, name, args = args[0], m.Name, args[1:]
		}
	}
	inst, isInst := self.(*vm.Instance)
	if !isInst || inst.Class.Name != "Random" || inst.Class.Module != "random" {
		return nil, false, nil
	}
	shared, err := rn.sharedGenerator()
	if err != nil {
		return nil, false, err
	}
	d := &randomDraw{args: args, kw: kw}
	switch {
	case vm.Object(inst) == shared:
		if name == "random" {
			return nil, false, unsupportedBuiltin("None.Random", name)
		}
		if !slices.Contains(randomFunctions, name) {
			return nil, false, nil // a function of Python that capture does not look into
		}
	case rn.world.sources[inst] == nil, name != "random" && !slices.Contains(randomFunctions, name):
		return nil, false, nil
	default:
		d.generator = rn.world.sources[inst]
	}
	for _, a := range args {
		if _, unknown := a.(*torch.Scalar); unknown {
			return nil, false, nil
		}
	}
	v, err = rn.draw(inst, name, d)
	return v, err == nil, err
}

// draw makes the draw for this trace and gives the graph an input for those of the runs.
func (rn *randomness) draw(gen *vm.Instance, name string, d *randomDraw) (vm.Object, error) {
	number, err := rn.outside(func() (vm.Object, error) {
		state, err := rn.in.CallMethod(gen, "getstate")
		if err != nil {
			return nil, err
		}
		if _, known := rn.generators[gen]; !known {
			rn.generators[gen] = state
		}
		if d.fn, err = rn.in.GetAttr(gen, name); err != nil {
			return nil, err
		}
		v, err := rn.in.Call(d.fn, d.args, d.kw)
		if err == nil && d.generator != nil {
			d.number = v
			d.after, err = rn.in.CallMethod(gen, "getstate")
		}
		return v, err
	})
	if err != nil {
		return nil, err
	}
	x := asTensor(number)
	if x == nil {
		return nil, unsupported(breaks.RandomNumber, number.Type().Name)
	}
	src := randomSource{len(rn.draws), rn.t}
	rn.draws = append(rn.draws, d)
	n := rn.out.placeholder(src.Name())
	n.Type = "torch.Tensor"
	n.Val = tensor.FakeLike(x)
	n.Meta = map[string]any{fx.MetaSource: src.Name()}
	rn.out.inputs = append(rn.out.inputs, input{node: n, source: src, val: x})
	s := rn.t.NewScalar(x.DType, rn.unknowns)
	rn.out.scalars[s], rn.out.exprNodes[s.Expr.String()] = n, n
	rn.out.tensorNumbers[n] = true
	rn.symbols.liftedFrom[s] = drawnSource{src.index}
	return s, nil
}

// putBack gives the generators the states that they had before the trace.
func (rn *randomness) putBack() error {
	_, err := rn.outside(func() (vm.Object, error) {
		for gen, state := range rn.generators {
			if _, err := rn.in.CallMethod(gen, "setstate", state); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return err
}

// make draws the numbers of a run, as plain Python.
func (ds randomDraws) make(t *torch.Torch, e *source.Env) error {
	if len(ds) == 0 {
		return nil
	}
	defer t.Push(func(a *torch.Ambient) { a.FrameHook = nil })()
	e.Drawn = nil
	for _, d := range ds {
		v := d.number
		var err error
		if d.generator == nil {
			v, err = e.In.Call(d.fn, d.args, d.kw)
		} else {
			var gen vm.Object
			if gen, err = d.generator.Get(e); err == nil {
				_, err = e.In.CallMethod(gen, "setstate", d.after)
			}
		}
		if err != nil {
			return err
		}
		e.Drawn = append(e.Drawn, v)
	}
	return nil
}

// asTensor is a drawn number as graphs take it; nil for what is no number.
func asTensor(o vm.Object) *tensor.Tensor {
	switch v := o.(type) {
	case vm.Int:
		return tensor.Full(tensor.Int64, float64(v))
	case vm.Float:
		return tensor.Full(tensor.Float64, float64(v))
	}
	return nil
}

// drawnOperand refuses arithmetic on drawn numbers alone, as PyTorch does: the frame runs as plain Python.
func (rn *randomness) drawnOperand(c *torch.Call) error {
	some := false
	kinds := make([]string, len(c.Args))
	for i, a := range c.Args {
		kinds[i] = rn.world.variableName(a)
		if s, ok := a.(*torch.Scalar); ok && rn.out.tensorNumbers[rn.out.scalars[s]] {
			some, kinds[i] = true, "UnspecializedPythonVariable()"
		}
	}
	if !some {
		return nil
	}
	return unsupported(breaks.PartialTensorOp, strings.TrimPrefix(c.Target, "operator."), strings.Join(kinds, ", "))
}

// drawnSource is a number that the run drew.
type drawnSource struct{ index int }

// Name is how logs call the number.
func (s drawnSource) Name() string { return fmt.Sprintf("random_value_%d", s.index) }

// Get is the number.
func (s drawnSource) Get(e *source.Env) (vm.Object, error) {
	if s.index >= len(e.Drawn) {
		return nil, fmt.Errorf("%s was not drawn", s.Name())
	}
	return e.Drawn[s.index], nil
}

// randomSource is the same number in a tensor.
type randomSource struct {
	index int
	t     *torch.Torch
}

// Name is the name of the number.
func (s randomSource) Name() string { return drawnSource{s.index}.Name() }

// Get makes the tensor.
func (s randomSource) Get(e *source.Env) (vm.Object, error) {
	v, err := drawnSource{s.index}.Get(e)
	if err != nil {
		return nil, err
	}
	x := asTensor(v)
	if x == nil {
		return nil, fmt.Errorf("random number of type %s", v.Type().Name)
	}
	return s.t.Wrap(x), nil
}

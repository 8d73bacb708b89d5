package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"whittle/accuracy"
	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
	"whittle/lowering"
	"whittle/replay"
	"whittle/repros"
)

// Diverge runs a repro eagerly, in float64 and compiled, and has a row for each intermediate, each output and, after
// dynamo, each gradient: see accuracy.Diverge. dir is the folder of the repro file; cacheDir holds compiled kernels.
// Generated code runs in this process.
func Diverge(ctx context.Context, r *repros.Repro, dir, cacheDir string, o accuracy.Options) ([]accuracy.Row, error) {
	inputs, err := r.Tensors(r.Loader(dir))
	if err != nil {
		return nil, &accuracy.EagerError{Err: err}
	}
	x := accuracy.Executions{Seed: aten.DefaultGenerator.ManualSeed, SameStream: setting(r, "fallback_random") == "True"}
	if r.Stage == repros.AfterDynamo {
		return divergeDynamo(ctx, r, inputs, cacheDir, x, o)
	}
	x.Eager = func(ctx context.Context, gm *fx.GraphModule, inputs []any, observe func(*fx.Node, any)) ([]any, error) {
		out, err := fx.RunObserved(ctx, gm, inputs, interp.Aten(ctx, aten.Eager), func(n *fx.Node, v any) (any, error) {
			observe(n, v)
			return v, nil
		})
		return list(out), err
	}
	x.Rounded = func(ctx context.Context, gm *fx.GraphModule, inputs []any, r *accuracy.Rounding, observe func(*fx.Node, any)) ([]any, error) {
		out, err := fx.RunObserved(ctx, gm, inputs, interp.Aten(ctx, r), func(n *fx.Node, v any) (any, error) {
			observe(n, v)
			return v, nil
		})
		return list(out), err
	}
	x.Compiled = func(ctx context.Context, gm *fx.GraphModule, inputs []any) ([]any, error) {
		if err := interp.Propagate(ctx, gm, inputs); err != nil {
			return nil, err
		}
		cfg := lowering.Config{CacheDir: cacheDir, InjectRelu: setting(r, "cpp.inject_relu_bug_TESTING_ONLY"), InjectLog1p: setting(r, "cpp.inject_log1p_bug_TESTING_ONLY")}
		c, err := lowering.Compile(ctx, gm, cfg)
		if err != nil {
			return nil, err
		}
		return c.Run(inputs)
	}
	return accuracy.Diverge(ctx, r.Module, inputs, guard(x), o)
}

// guarded turns a panic of the stack into an error: the side that it happens on is to blame, and the others can go on.
func guarded(f func() ([]any, error)) (out []any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v", r)
		}
	}()
	return f()
}

// guard guards both executions.
func guard(x accuracy.Executions) accuracy.Executions {
	eager, compiled := x.Eager, x.Compiled
	x.Eager = func(ctx context.Context, gm *fx.GraphModule, inputs []any, observe func(*fx.Node, any)) ([]any, error) {
		return guarded(func() ([]any, error) { return eager(ctx, gm, inputs, observe) })
	}
	x.Compiled = func(ctx context.Context, gm *fx.GraphModule, inputs []any) ([]any, error) {
		return guarded(func() ([]any, error) { return compiled(ctx, gm, inputs) })
	}
	return x
}

func list(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

// dynamoRun is an after-dynamo repro in a session: its preamble has run.
type dynamoRun struct {
	s       *Session
	r       *repros.Repro
	backend vm.Object
	names   []string // of placeholders
}

func divergeDynamo(ctx context.Context, r *repros.Repro, inputs []any, cacheDir string, x accuracy.Executions, o accuracy.Options) ([]accuracy.Row, error) {
	s := New(ctx, cacheDir)
	s.In.Stdout, s.In.Stderr = io.Discard, io.Discard
	defer s.In.WithContext(ctx)()
	pre, _, _ := strings.Cut(repros.Write(r), "if __name__ == '__main__':")
	if err := s.In.RunText("repro.py", pre); err != nil {
		return nil, &accuracy.EagerError{Err: s.plain(err)}
	}
	d := newDynamoRun(s, r)
	var err error
	if d.backend, err = s.lookup(r.Backend); err != nil {
		return nil, &accuracy.EagerError{Err: s.plain(err)}
	}
	x.Eager = func(ctx context.Context, gm *fx.GraphModule, inputs []any, observe func(*fx.Node, any)) ([]any, error) {
		args, err := d.args(inputs, false)
		if err != nil {
			return nil, err
		}
		out, err := d.eager(gm, args, observe)
		return list(detached(out)), err
	}
	x.Rounded = func(ctx context.Context, gm *fx.GraphModule, inputs []any, r *accuracy.Rounding, observe func(*fx.Node, any)) ([]any, error) {
		defer d.rounded(r)()
		return x.Eager(ctx, gm, inputs, observe)
	}
	x.Compiled = func(ctx context.Context, gm *fx.GraphModule, inputs []any) ([]any, error) {
		fn, err := d.compile(gm, inputs, false)
		if err != nil {
			return nil, err
		}
		args, err := d.args(inputs, false)
		if err != nil {
			return nil, err
		}
		out, err := d.call(fn, args)
		return list(detached(out)), err
	}
	rows, err := accuracy.Diverge(ctx, r.Module, inputs, guard(x), o)
	if err != nil || accuracy.Differ(rows) {
		return rows, err
	}
	return d.gradients(ctx, rows, inputs, x, o)
}

// rounded has the session's operators round as r does, until the returned function is called.
func (d *dynamoRun) rounded(r *accuracy.Rounding) (undo func()) {
	below := d.s.grad.eager.Below
	r.Below, d.s.grad.eager.Below = below, r
	return func() { d.s.grad.eager.Below = below }
}

// noise is eager's noise, for results that run makes of a graph and inputs.
func noise(ref any, gm *fx.GraphModule, inputs []any, run func(gm *fx.GraphModule, inputs []any, r *accuracy.Rounding) (any, error)) (any, error) {
	return accuracy.Noise(ref, aten.Eager, func(r *accuracy.Rounding) (any, error) {
		aten.DefaultGenerator.ManualSeed(0)
		in := cloneAll(inputs)
		r.Nudge(in)
		return run(r.Attrs(gm), in, r)
	})
}

func newDynamoRun(s *Session, r *repros.Repro) *dynamoRun {
	d := &dynamoRun{s: s, r: r}
	for _, n := range r.Module.Graph.Placeholders() {
		d.names = append(d.names, n.Name)
	}
	return d
}

// plain is an exception as type and message.
func (s *Session) plain(err error) error {
	o := s.pythonOutcome("", err)
	return fmt.Errorf("%s", o.Message)
}

// args makes Python values of inputs; grad says whether they require gradients where the repro says so.
func (d *dynamoRun) args(inputs []any, grad bool) ([]vm.Object, error) {
	out := make([]vm.Object, len(inputs))
	for i, v := range inputs {
		if t, ok := v.(*tensor.Tensor); ok && grad && d.r.Inputs[i].RequiresGrad {
			if err := d.s.grad.SetRequiresGrad(t, true); err != nil {
				return nil, fmt.Errorf("input %s: %w", d.r.Inputs[i].Name, err)
			}
			if !d.r.Inputs[i].Leaf {
				made, err := d.s.asMade(t)
				if err != nil {
					return nil, fmt.Errorf("input %s: %w", d.r.Inputs[i].Name, err)
				}
				v = made
			}
		}
		out[i] = d.s.Torch.Object(v)
	}
	return out, nil
}

// asMade is a tensor over the memory of t that an operator has made of it.
func (s *Session) asMade(t *tensor.Tensor) (*tensor.Tensor, error) {
	defer s.Torch.KeepModes()()
	s.grad.SetEnabled(true)
	v, err := aten.Run(s.grad, "aten.clone", t)
	if err != nil {
		return nil, err
	}
	c := v.(*tensor.Tensor)
	c.Storage, c.Shape, c.Stride, c.Offset = t.Storage, slices.Clone(t.Shape), slices.Clone(t.Stride), t.Offset
	return c, nil
}

// module is a copy of gm for Python, which may do to it what it likes.
func (d *dynamoRun) module(gm *fx.GraphModule) (vm.Object, error) {
	c, _ := gm.Clone()
	names, attrs := slices.Sorted(maps.Keys(c.Attrs)), []any{}
	for _, name := range names {
		attrs = append(attrs, c.Attrs[name])
	}
	for i, t := range cloneAll(attrs) {
		c.Attrs[names[i]] = t.(*tensor.Tensor)
	}
	for _, n := range c.Graph.Nodes {
		n.Val = nil
	}
	return d.s.Torch.NewGraphModule(c, nil)
}

// eager runs a graph node by node. Values are shown without their autograd history.
func (d *dynamoRun) eager(gm *fx.GraphModule, args []vm.Object, observe func(*fx.Node, any)) (any, error) {
	obj, err := d.module(gm)
	if err != nil {
		return nil, d.s.plain(err)
	}
	t := d.s.Torch
	native := t.NativeGraph(obj)
	res, err := t.RunGraphObserved(gm.Graph, native.Attribute, args, func(n *fx.Node, o vm.Object) {
		if v, ok := t.Value(o); ok && observe != nil {
			observe(n, detached(v))
		}
	})
	if err != nil {
		return nil, d.s.plain(err)
	}
	return d.value(res)
}

func (d *dynamoRun) value(o vm.Object) (any, error) {
	v, ok := d.s.Torch.Value(o)
	if !ok {
		return nil, fmt.Errorf("the graph returns a %s", o.Type().Name)
	}
	return v, nil
}

// give gives a copy of a graph to the repro's backend: some edit what they get. The error is a Python exception.
func (d *dynamoRun) give(gm *fx.GraphModule, inputs []any, grad bool) (vm.Object, error) {
	obj, err := d.module(gm)
	if err != nil {
		return nil, err
	}
	examples, err := d.args(cloneAll(inputs), grad)
	if err != nil {
		return nil, err
	}
	d.s.exampleValues(d.s.Torch.NativeGraph(obj).GM, examples)
	return d.s.In.Call(d.backend, []vm.Object{obj, vm.NewList(examples...)}, nil)
}

// optimized is the module of the repro's file, compiled as the file itself does it when it is run: the backend gets what capture
// makes of the module, with the names, the metadata and without the unused inputs that it has there.
func (d *dynamoRun) optimized() (vm.Object, error) {
	optimize, err := d.s.attribute("torch._dynamo", "optimize")
	if err != nil {
		return nil, err
	}
	mod, err := d.s.attribute("__main__", "mod")
	if err != nil { // the older forms have none
		if mod, err = d.module(d.r.Module); err != nil {
			return nil, err
		}
	}
	around, err := d.s.In.Call(optimize, []vm.Object{d.backend}, nil)
	if err != nil {
		return nil, err
	}
	return d.s.In.Call(around, []vm.Object{mod}, nil)
}

// compile is give with errors for people.
func (d *dynamoRun) compile(gm *fx.GraphModule, inputs []any, grad bool) (vm.Object, error) {
	d.s.Failure = nil
	fn, err := d.give(gm, inputs, grad)
	if err != nil {
		if d.s.Failure != nil {
			return nil, d.s.Failure.Err
		}
		return nil, d.s.plain(err)
	}
	return fn, nil
}

func (d *dynamoRun) call(fn vm.Object, args []vm.Object) (any, error) {
	o, err := d.s.In.Call(fn, args, nil)
	if err != nil {
		return nil, d.s.plain(err)
	}
	return d.value(o)
}

// detached is a value whose tensors carry no autograd history and no Python object.
func detached(v any) any {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil {
			return v
		}
		return &tensor.Tensor{Storage: v.Storage, DType: v.DType, Shape: v.Shape, Stride: v.Stride, Offset: v.Offset, Fake: v.Fake}
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = detached(x)
		}
		return out
	}
	return v
}

// gradients adds a row for the gradient of each input that requires one, of the mean of the outputs, as PyTorch's
// accuracy check takes it.
func (d *dynamoRun) gradients(ctx context.Context, rows []accuracy.Row, inputs []any, x accuracy.Executions, o accuracy.Options) ([]accuracy.Row, error) {
	if !slices.ContainsFunc(d.r.Inputs, func(in repros.Input) bool { return in.RequiresGrad }) {
		return rows, nil
	}
	random := d.r.Module.Graph.IsRandom(fx.UnknownDoesNot) // two runs of what is unknown have been compared
	if random && !x.SameStream {
		return rows, nil // the outputs were refused already, or do not depend on it
	}
	eager := func(gm *fx.GraphModule, inputs []any) (map[string]*tensor.Tensor, error) {
		x.Seed(0)
		_, g, err := d.backward(inputs, func(args []vm.Object) (any, error) { return d.eager(gm, args, nil) })
		return g, err
	}
	ref, err := eager(d.r.Module, cloneAll(inputs))
	if err != nil {
		return append(rows, accuracy.Row{Node: "grad", Eager: math.NaN(), Compiled: math.NaN(), Same: true, Skipped: true, Note: "eager: backward: " + err.Error()}), nil
	}
	compiled := func() (map[string]*tensor.Tensor, error) {
		x.Seed(0)
		fn, err := d.compile(d.r.Module, inputs, true)
		if err != nil {
			return nil, err
		}
		_, g, err := d.backward(cloneAll(inputs), func(args []vm.Object) (any, error) { return d.call(fn, args) })
		return g, err
	}
	res, err := compiled()
	if err != nil {
		return rows, &accuracy.CompiledError{Err: fmt.Errorf("backward: %w", err)}
	}
	var exact map[string]*tensor.Tensor
	around := map[string]*tensor.Tensor{} // the noise
	if o.Direct {
		l, err := noise(gradList(d.names, ref), d.r.Module, inputs, func(gm *fx.GraphModule, in []any, r *accuracy.Rounding) (any, error) {
			defer d.rounded(r)()
			_, g, err := d.backward(in, func(args []vm.Object) (any, error) { return d.eager(gm, args, nil) })
			return gradList(d.names, g), err
		})
		if err != nil {
			return rows, &accuracy.EagerError{Err: fmt.Errorf("backward, rounded otherwise: %w", err)}
		}
		for i, v := range l.([]any) {
			around[d.names[i]], _ = v.(*tensor.Tensor)
		}
	}
	if !random {
		gm, in := accuracy.Double(d.r.Module, cloneAll(inputs))
		exact, _ = eager(gm, in) // without it, eager alone decides
	}
	if ctx.Err() != nil {
		return rows, ctx.Err()
	}
	first := true
	for i, name := range d.names {
		if i >= len(d.r.Inputs) || !d.r.Inputs[i].RequiresGrad {
			continue
		}
		row := accuracy.NewRow("grad["+name+"]", name, optional(ref[name]), optional(res[name]), optional(exact[name]), optional(around[name]), o)
		row.First = !row.Same && first
		first = first && row.Same
		rows = append(rows, row)
	}
	return rows, nil
}

// gradList is the gradients in the order of names.
func gradList(names []string, grads map[string]*tensor.Tensor) any {
	l := make([]any, len(names))
	for i, name := range names {
		l[i] = optional(grads[name])
	}
	return l
}

func optional(t *tensor.Tensor) any {
	if t == nil {
		return nil
	}
	return t
}

// backward runs a function on inputs, and the gradients of the mean of its outputs, by placeholder.
func (d *dynamoRun) backward(inputs []any, run func(args []vm.Object) (any, error)) (any, map[string]*tensor.Tensor, error) {
	var out any
	if _, err := guarded(func() (_ []any, err error) {
		args, err := d.args(inputs, true)
		if err == nil {
			out, err = run(args)
		}
		return nil, err
	}); err != nil {
		return nil, nil, err
	}
	var roots, grads []*tensor.Tensor
	var collect func(v any, weight float64)
	collect = func(v any, weight float64) {
		switch v := v.(type) {
		case *tensor.Tensor:
			if v != nil && v.DType.IsFloat() && d.s.grad.RequiresGrad(v) && v.Numel() > 0 {
				roots = append(roots, v)
				grads = append(grads, tensor.Full(v.DType, weight/float64(v.Numel()), v.Shape...))
			}
		case []any:
			for _, x := range v {
				collect(x, weight/float64(len(v)))
			}
		}
	}
	collect(out, 1)
	found := map[string]*tensor.Tensor{}
	if len(roots) == 0 {
		return detached(out), found, nil
	}
	if _, err := guarded(func() ([]any, error) {
		_, err := d.s.grad.Backward(roots, grads, torch.BackwardOptions{Accumulate: true})
		return nil, err
	}); err != nil {
		return nil, nil, d.s.plain(err)
	}
	for i, name := range d.names {
		if t, ok := inputs[i].(*tensor.Tensor); ok {
			if g := d.s.grad.Grad(t); g != nil {
				found[name] = detached(g).(*tensor.Tensor)
			}
		}
	}
	return detached(out), found, nil
}

// AccuracyOptions are the tolerance and strictness that a repro's settings ask for. Integers and bools are compared unless
// the file says otherwise, as when PyTorch runs one.
func AccuracyOptions(r *repros.Repro) (accuracy.Options, error) {
	o := accuracy.Minifying(r.Accuracy != repros.MinAccuracy)
	if v, ok := r.Lookup("repro_ignore_non_fp"); ok {
		o.IgnoreNonFP = v == "True"
	}
	if v, ok := r.Lookup("repro_tolerance"); ok {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || !(x >= 0) {
			return o, fmt.Errorf("repro_tolerance = %s is no tolerance", v)
		}
		o.Tol = x
	} else if repros.IsStrict(r) {
		o.Tol = 0
	}
	if repros.IsStrict(r) {
		o = o.Strict(o.Tol)
	}
	o.StrictNaN = setting(r, "cpp.inject_relu_bug_TESTING_ONLY") != "" // as in PyTorch
	return o, nil
}

// accuracyQuestion is whether a compiled graph computes what eager does.
type accuracyQuestion struct {
	Ref, Res        any                 // eager's and the compiled graph's results, from streams seeded with 0
	Eager, Compiled func() (any, error) // the same anew, on fresh inputs
	Exact           func() (any, error) // in float64
	Noise           func() (any, error) // of eager around Ref; takes the place of Exact where Options.Direct says so
	SameStream      bool                // fallback_random
	Options         accuracy.Options
	Outputs         string // where the graph's outputs are among the results: "[0]" before the place of each
}

// answer compares. What differs from itself, too, is random: it is refused, and not taken for a divergence.
func (q accuracyQuestion) answer(ctx context.Context) replay.Outcome {
	run := func(seed uint64, f func() (any, error)) (any, error) {
		if q.SameStream {
			seed = 0
		}
		aten.DefaultGenerator.ManualSeed(seed)
		return f()
	}
	invalid := func(err error) replay.Outcome {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}
	}
	third := q.Exact
	if q.Options.Direct {
		third = q.Noise
	}
	exact, err := run(0, third)
	if err != nil && q.Options.Direct {
		return invalid(fmt.Errorf("eager, rounded otherwise: %w", err))
	}
	if err != nil {
		exact = nil // float64 is only a help: then eager alone decides
	}
	rep := accuracy.Compare(q.Ref, q.Res, exact, q.Options)
	if rep.Same {
		return replay.Outcome{Status: replay.Pass}
	}
	for _, side := range []struct { // eager first: what it does not agree with itself about is nobody else's fault
		who string
		f   func() (any, error)
	}{{"eager", q.Eager}, {"compiled", q.Compiled}} {
		seed := uint64(0)
		err := accuracy.NullTest(ctx, side.who, func(context.Context) (any, error) {
			seed++
			return run(seed, side.f)
		}, q.Options)
		if err != nil {
			return invalid(err)
		}
	}
	o := replay.Outcome{Status: replay.Failed, Message: rep.Message, Signature: replay.Signature{Stage: "accuracy", Type: "AccuracyError", Message: "Bad accuracy detected", Output: rep.Where}}
	if at, ok := strings.CutPrefix(rep.Where, q.Outputs+"["); ok {
		number, _, _ := strings.Cut(at, "]")
		if i, err := strconv.Atoi(number); err == nil {
			o.Outputs = []int{i}
		}
	}
	return o
}

// exactly runs a graph in float64 with the numbers that it drew before.
func exactly(module *fx.GraphModule, inputs []any, run func(gm *fx.GraphModule, inputs []any) (any, error)) func() (any, error) {
	return func() (any, error) {
		if module.Graph.IsRandom(fx.UnknownDoesNot) {
			return nil, errors.New("float64 draws other random numbers")
		}
		gm, in := accuracy.Double(module, cloneAll(inputs))
		return run(gm, in)
	}
}

// accuracy answers for an after-dynamo repro: outputs and gradients.
func (d *dynamoRun) accuracy(ctx context.Context, inputs []any) replay.Outcome {
	s, r := d.s, d.r
	opt, err := AccuracyOptions(r)
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}
	}
	all := func(inputs []any, run func(args []vm.Object) (any, error)) (any, error) {
		out, grads, err := d.backward(inputs, run)
		if err != nil {
			return nil, err
		}
		l := []any{out}
		for _, name := range d.names {
			l = append(l, optional(grads[name]))
		}
		return l, nil
	}
	eager := func(gm *fx.GraphModule, inputs []any) (any, error) {
		return all(inputs, func(args []vm.Object) (any, error) { return d.eager(gm, args, nil) })
	}
	fn, err := d.optimized()
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}
	}
	q := accuracyQuestion{
		Eager: func() (any, error) { return eager(r.Module, cloneAll(inputs)) },
		Compiled: func() (any, error) {
			return all(cloneAll(inputs), func(args []vm.Object) (any, error) { return d.call(fn, args) })
		},
		Exact: exactly(r.Module, inputs, eager), SameStream: s.fallbackRandom(), Options: opt, Outputs: "[0]",
	}
	q.Noise = func() (any, error) {
		return noise(q.Ref, r.Module, inputs, func(gm *fx.GraphModule, in []any, rounding *accuracy.Rounding) (any, error) {
			defer d.rounded(rounding)()
			return eager(gm, in)
		})
	}
	aten.DefaultGenerator.ManualSeed(0)
	if q.Ref, err = q.Eager(); err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: "eager: " + err.Error()}
	}
	aten.DefaultGenerator.ManualSeed(0)
	if q.Res, err = q.Compiled(); err != nil {
		return s.pythonOutcome("run", err)
	}
	return q.answer(ctx)
}

package stack

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"whittle/aot"
	"whittle/aot/build"
	"whittle/aot/decomp"
	"whittle/capture/fx"
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// aotNatives are what torch._functorch and torch._decomp make AOTAutograd for programs of: functions of Python's are traced, compilers and
// partitioners of Python's called.
func (s *Session) aotNatives(m *vm.Module) {
	clinic.Def(m, "aot_compile", "flat_fn:obj, flat_args:obj, *, fw_compiler:obj, bw_compiler:obj, inference_compiler:obj, partition_fn:obj, decompositions:obj, keep_inference_input_mutations:bool, captured:obj=None",
		func(c *clinic.Call) (vm.Object, error) {
			compilers := map[string]vm.Object{"forward": c.Args[2], "backward": c.Args[3], "inference": c.Args[4]}
			opt := s.aotOptions(func(gm *fx.GraphModule, kind string) (aot.Callable, error) { return s.compileBy(compilers[kind], gm) }, s.watching())
			opt.Partition = func(joint *fx.GraphModule, forward int) (*aot.Parts, error) {
				return s.partitionBy(c.Args[5], joint, forward)
			}
			opt.MutationsReturned = !c.Bool(7)
			ins, err := s.aotProgram(c.Args[1], c.Args[6], &opt)
			if err != nil {
				return nil, err
			}
			run, repeated, err := s.aotProgramCallable(c, ins, opt)
			if err != nil {
				return nil, err
			}
			first := vm.NewList()
			for _, i := range repeated {
				first.Items = append(first.Items, vm.MakeInt(int64(i)))
			}
			return vm.NewTuple(run, first), nil
		})
	clinic.Def(m, "aot_trace", "flat_fn:obj, flat_args:obj, decompositions:obj", func(c *clinic.Call) (vm.Object, error) {
		opt := s.aotOptions(nil, &watch{})
		opt.MutationsReturned = true
		ins, err := s.aotProgram(c.Args[1], c.Args[2], &opt)
		if err != nil {
			return nil, err
		}
		defer s.Torch.Push(func(*torch.Ambient) {})() // Tracing sets GradSwitch
		j, err := aot.Trace(s.flatFunction(c.Args[0]), ins, opt)
		if err != nil {
			return nil, s.Torch.Error(err)
		}
		gm, err := s.Torch.NewGraphModule(j.GM, nil)
		if err != nil {
			return nil, err
		}
		written, aliased := vm.NewList(), vm.NewList()
		for _, m := range j.Mutated {
			written.Items = append(written.Items, vm.MakeInt(int64(m.Input)))
		}
		for i, o := range j.Outputs {
			if o.Kind == aot.IsInput || o.Kind == aot.AliasOfInput {
				aliased.Items = append(aliased.Items, vm.MakeInt(int64(i)))
			}
		}
		facts := vm.NewDict()
		facts.SetStr("mutated", written)
		facts.SetStr("aliased", aliased)
		return vm.NewTuple(gm, facts), nil
	})
	for name, cut := range map[string]func(*fx.GraphModule, int) (*aot.Parts, error){"default_partition": aot.DefaultPartition, "min_cut_partition": aot.MinCutPartition} {
		clinic.Def(m, name, "joint_module:obj, num_fwd_outputs:int", func(c *clinic.Call) (vm.Object, error) {
			g := s.Torch.NativeGraph(c.Args[0])
			if g == nil {
				return nil, c.Errorf(c.Exc.TypeError, "a joint graph is a torch.fx.GraphModule, not %s", c.Args[0].Type().Name)
			}
			parts, err := cut(g.GM, int(c.Int(1)))
			if err != nil {
				return nil, s.Torch.Error(err)
			}
			forward, err := s.Torch.NewGraphModule(parts.Forward, g.Attr)
			if err != nil {
				return nil, err
			}
			backward, err := s.Torch.NewGraphModule(parts.Backward, g.Attr)
			return vm.NewTuple(forward, backward), err
		})
	}
	clinic.Def(m, "make_fx", "flat_fn:obj, flat_args:obj, names:obj, decompositions:obj, symbolic:obj", func(c *clinic.Call) (vm.Object, error) {
		args, err := c.IterAll(c.Args[1])
		if err != nil {
			return nil, err
		}
		names, err := c.IterAll(c.Args[2])
		if err != nil {
			return nil, err
		}
		dec, err := s.decompositionsBy(c.Args[3])
		if err != nil {
			return nil, err
		}
		forAll, err := s.In.Truth(c.Args[4])
		if err != nil {
			return nil, err
		}
		record := s.makeFX
		if forAll {
			record = s.makeFXForAllSizes
		}
		gm, err := record(c.Args[0], args, names, dec)
		var unknown *aten.Error
		if errors.As(err, &unknown) && unknown.Kind == aten.DataDependentError {
			return nil, c.Errorf(c.Exc.RuntimeError, "It appears that you're trying to get value out of a tracing tensor with %s - erroring out! It's likely that this is caused by data-dependent control flow or similar.  It may be possible to trace this with dynamic shapes; try setting tracing_mode='symbolic' in your make_fx call.", unknown.Msg)
		}
		if err != nil {
			return nil, s.Torch.Error(err)
		}
		return s.Torch.NewGraphModule(gm, nil)
	})
	clinic.Def(m, "decomposed", "", func(c *clinic.Call) (vm.Object, error) {
		l := vm.NewList()
		for _, name := range slices.Sorted(maps.Keys(decomp.Inductor)) {
			o, err := s.overload(name)
			if err != nil {
				return nil, err
			}
			l.Items = append(l.Items, o)
		}
		return l, nil
	})
	clinic.Def(m, "decomposition", "op:obj", func(c *clinic.Call) (vm.Object, error) {
		op := torch.Overload(c.Args[0])
		if op == nil || !decomp.Shared(op.Name()) {
			return vm.None, nil
		}
		return s.decomposition(op), nil
	})
}

// aotProgramCallable compiles what aot_compile was called with. Arguments with symbolic sizes are the last of all: they are the inputs of a captured graph.
func (s *Session) aotProgramCallable(c *clinic.Call, ins []aot.Input, opt aot.Options) (run vm.Object, repeated []int, err error) {
	f := s.flatFunction(c.Args[0])
	native := s.Torch.NativeGraph(c.Args[8])
	if native == nil {
		return s.aotCallable(f, ins, opt)
	}
	args, err := s.In.IterAll(c.Args[1])
	if err != nil {
		return nil, nil, err
	}
	places := native.GM.Graph.Placeholders()
	fakes := make([]*tensor.Tensor, len(args))
	for i, p := range places {
		fakes[len(args)-len(places)+i], _ = p.Val.(*tensor.Tensor)
	}
	sizes, mode := s.symbolicSizes(args, fakes, native.GM.Graph)
	if mode == nil {
		return s.aotCallable(f, ins, opt)
	}
	sizes.Found = mode.Adopt
	defer func(before torch.SymbolicMode) { s.sizing = before }(s.sizing)
	s.sizing = mode
	compiled, err := s.tracedForAllSizes(f, sizes, opt)
	var each *aot.NotOneGraph
	if err == nil {
		return s.callable(compiled), nil, nil
	} else if !errors.As(err, &each) {
		return nil, nil, s.Torch.Error(err)
	}
	known := map[string]vm.Object{}
	return &vm.Builtin{Name: "compiled_fn", Module: "torch._functorch.aot_autograd", Max: -1, Fn: func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		var key strings.Builder
		for _, o := range args {
			if t, ok := s.tensor(o); ok {
				fmt.Fprint(&key, t.Shape, t.Stride, ";")
			} else {
				fmt.Fprint(&key, o, ";")
			}
		}
		run := known[key.String()]
		if run == nil {
			ins, err := s.aotInputs(args)
			if err != nil {
				return nil, err
			}
			if run, _, err = s.aotCallable(f, ins, opt); err != nil {
				return nil, err
			}
			known[key.String()] = run
		}
		return in.Call(run, args, nil)
	}}, nil, nil
}

// overload is the object of torch.ops that has this name, as in aten.add.Tensor.
func (s *Session) overload(name string) (vm.Object, error) {
	m, err := s.In.Import("torch")
	o := vm.Object(m)
	for _, part := range strings.Split("ops."+name, ".") {
		if err != nil {
			return nil, err
		}
		o, err = s.In.GetAttr(o, part)
	}
	return o, err
}

// decomposition is an operator's decomposition as a function of Python's, which takes what the operator does.
func (s *Session) decomposition(op *aten.Op) vm.Object {
	return &vm.Builtin{Name: op.Sig().Name, Module: "torch._decomp", Max: -1, Fn: func(_ *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		bound, err := s.Torch.Bind(op, args, kw)
		if err != nil {
			return nil, err
		}
		var out aten.Value
		if err := build.Run(func() { out = decomp.Inductor[op.Name()](&build.B{D: s.Torch.Dispatch}, bound) }); err != nil {
			return nil, s.Torch.Error(err)
		}
		if _, declined := out.(aot.Declined); declined {
			return vm.NotImplemented, nil
		}
		return s.Torch.Object(out), nil
	}}
}

// aotProgram reads what a program gives for a trace: its arguments and its table of decompositions.
func (s *Session) aotProgram(args, table vm.Object, opt *aot.Options) ([]aot.Input, error) {
	flat, err := s.In.IterAll(args)
	if err != nil {
		return nil, err
	}
	if opt.Decompositions, err = s.decompositionsBy(table); err != nil {
		return nil, err
	}
	return s.aotInputs(flat)
}

// decompositionsBy is a program's table of decompositions: from overloads of operators to functions. None is an empty one.
func (s *Session) decompositionsBy(table vm.Object) (map[string]aot.Decomposition, error) {
	d, ok := vm.AsDict(table)
	if !ok {
		if table == vm.None {
			return nil, nil
		}
		return nil, s.In.Errorf(s.In.Exc.TypeError, "a table of decompositions is a dict, not %s", table.Type().Name)
	}
	dec := map[string]aot.Decomposition{}
	d.Each(func(k, fn vm.Object) bool {
		if op := torch.Overload(k); op != nil {
			dec[op.Name()] = s.decomposeBy(fn, op)
		}
		return true
	})
	return dec, nil
}

// decomposeBy is a decomposition by a function of Python's.
func (s *Session) decomposeBy(fn vm.Object, op *aten.Op) aot.Decomposition {
	return func(b *build.B, args []aten.Value) aten.Value {
		defer s.Torch.Push(func(a *torch.Ambient) { s.tracingInto(b.D, a) })()
		pos, kw := s.callArguments(op, args)
		res, err := s.In.Call(fn, pos, kw)
		b.Check(err)
		if res == vm.NotImplemented {
			return aot.Declined{}
		}
		v, ok := s.Torch.Value(res)
		if !ok {
			b.Check(fmt.Errorf("the decomposition of %s returns a %s", op.Name(), res.Type().Name))
		}
		return v
	}
}

// callArguments are bound arguments as a call would give them.
func (s *Session) callArguments(op *aten.Op, args []aten.Value) (pos []vm.Object, kw []vm.KwArg) {
	for i, a := range op.Sig().Args {
		if !a.KwOnly {
			pos = append(pos, s.Torch.Object(args[i]))
		} else if args[i] != nil {
			kw = append(kw, vm.KwArg{Name: a.Name, Value: s.Torch.Object(args[i])})
		}
	}
	return pos, kw
}

// flatFunction is a function of Python's that takes a list and gives one.
func (s *Session) flatFunction(fn vm.Object) aot.Function {
	return func(d aten.Dispatcher, inputs []aten.Value) ([]aten.Value, error) {
		t := s.Torch
		defer t.KeepModes()()
		defer s.grad.tracing(d)()
		defer t.Push(func(a *torch.Ambient) {
			torch.Unwatched(a)
			s.tracingInto(d, a)
		})()
		res, err := s.In.Call(fn, []vm.Object{s.objects(inputs)}, nil)
		if err != nil {
			return nil, err
		}
		return s.flatValues(res)
	}
}

func (s *Session) objects(vals []aten.Value) *vm.List {
	l := vm.NewList()
	for _, v := range vals {
		l.Items = append(l.Items, s.Torch.Object(v))
	}
	return l
}

func (s *Session) flatValues(list vm.Object) ([]aten.Value, error) {
	items, err := s.In.IterAll(list)
	if err != nil {
		return nil, err
	}
	vals := make([]aten.Value, len(items))
	for i, o := range items {
		v, ok := s.Torch.Value(o)
		if !ok {
			return nil, s.In.Errorf(s.In.Exc.RuntimeError, "Found a graph output of type %s: not a tensor, a number or None", o.Type().Name)
		}
		vals[i] = v
	}
	return vals, nil
}

// compileBy has a compiler of Python's compile a graph. What it gives is called with a list if it says so, as boxed functions do.
func (s *Session) compileBy(compiler vm.Object, gm *fx.GraphModule) (aot.Callable, error) {
	module, err := s.Torch.NewGraphModule(gm, nil)
	if err != nil {
		return nil, err
	}
	examples := vm.NewList()
	for _, p := range gm.Graph.Placeholders() {
		o, err := s.example(p.Val)
		if err != nil {
			return nil, err
		}
		examples.Items = append(examples.Items, o)
	}
	compiled, err := s.In.Call(compiler, []vm.Object{module, examples}, nil)
	if err != nil {
		return nil, err
	}
	mark, err := s.In.GetAttrOpt(compiled, "_boxed_call")
	if err != nil {
		return nil, err
	}
	boxed := false
	if mark != nil {
		if boxed, err = s.In.Truth(mark); err != nil {
			return nil, err
		}
	}
	return func(inputs []aten.Value) ([]aten.Value, error) {
		defer s.Torch.KeepModes()()
		s.grad.SetEnabled(false) // what has a gradient was decided when the graph was made
		args := s.objects(inputs)
		given := args.Items
		if boxed {
			given = []vm.Object{args}
		}
		out, err := s.In.Call(compiled, given, nil)
		if err != nil {
			return nil, err
		}
		return s.flatValues(out)
	}, nil
}

// example is the value of a node for a compiler of Python's.
func (s *Session) example(v any) (vm.Object, error) {
	n, ok := v.(fx.SymInt)
	if !ok || s.sizing == nil {
		return s.Torch.Object(v), nil
	}
	e, err := symbolic.Parse(n.Expr)
	if err != nil {
		return nil, err
	}
	return s.sizing.Number(e), nil
}

// partitionBy has a partitioner of Python's cut a joint graph.
func (s *Session) partitionBy(fn vm.Object, joint *fx.GraphModule, forward int) (*aot.Parts, error) {
	module, err := s.Torch.NewGraphModule(joint, nil)
	if err != nil {
		return nil, err
	}
	primals, tangents := vm.NewList(), vm.NewList()
	for _, p := range joint.Graph.Placeholders() {
		o, err := s.example(p.Val)
		if err != nil {
			return nil, err
		}
		side := primals
		if aot.IsTangent(p) {
			side = tangents
		}
		side.Items = append(side.Items, o)
	}
	given := vm.NewList(primals, tangents)
	parts, err := s.In.Call(fn, []vm.Object{module, given}, []vm.KwArg{{Name: "num_fwd_outputs", Value: vm.MakeInt(int64(forward))}})
	if err != nil {
		return nil, err
	}
	both, err := s.In.IterAll(parts)
	if err != nil {
		return nil, err
	}
	var graphs []*fx.GraphModule
	for _, o := range both {
		if g := s.Torch.NativeGraph(o); g != nil {
			graphs = append(graphs, g.GM)
		}
	}
	if len(both) != 2 || len(graphs) != 2 {
		return nil, s.In.Errorf(s.In.Exc.TypeError, "a partitioner gives two torch.fx.GraphModules, the forward and the backward one")
	}
	results, err := aot.Results(graphs[0])
	if err != nil {
		return nil, err
	}
	if len(results) < forward {
		return nil, s.In.Errorf(s.In.Exc.ValueError, "the forward graph does not return the %d results that it has to", forward)
	}
	return &aot.Parts{Forward: graphs[0], Backward: graphs[1], Saved: len(results) - forward}, nil
}

// makeFX records the aten operators that fn runs, those of gradients that it asks for among them. fn takes a list; the names are those of the
// placeholders.
func (s *Session) makeFX(fn vm.Object, args, names []vm.Object, dec map[string]aot.Decomposition) (*fx.GraphModule, error) {
	given, err := s.fxValues(args)
	if err != nil {
		return nil, err
	}
	return s.recordFX(fn, nil, given, names, dec)
}

// fxValues are the arguments of what make_fx records.
func (s *Session) fxValues(args []vm.Object) ([]aot.Input, error) {
	given := make([]aot.Input, len(args))
	for i, o := range args {
		v, ok := s.Torch.Value(o)
		if !ok {
			return nil, s.In.Errorf(s.In.Exc.TypeError, "make_fx: argument %d has type %s", i, o.Type().Name)
		}
		x, isTensor := v.(*tensor.Tensor)
		given[i] = aot.Input{Value: v, RequiresGrad: isTensor && s.grad.RequiresGrad(x)}
	}
	return given, nil
}

// namedNumber is an input of a graph that fn is not given.
type namedNumber struct {
	name  string
	value int64
}

// recordFX is makeFX for values, behind inputs that fn is not given.
func (s *Session) recordFX(fn vm.Object, before []namedNumber, given []aot.Input, names []vm.Object, dec map[string]aot.Decomposition) (*fx.GraphModule, error) {
	tr := aot.NewTracer(dec)
	tr.Parameter = func(x *tensor.Tensor) bool { return s.Torch.Wrap(x).Type().Name == "Parameter" }
	t := s.Torch
	for _, n := range before {
		tr.Input(n.name, n.value)
	}
	ins := vm.NewList()
	for i, v := range given {
		name, _ := vm.AsStr(names[i])
		in := tr.Input(name, v.Value)
		if v.RequiresGrad {
			if err := s.grad.SetRequiresGrad(in.(*tensor.Tensor), true); err != nil {
				return nil, err
			}
		}
		ins.Items = append(ins.Items, t.Object(in))
	}
	defer func(below aten.Dispatcher) { s.grad.eager.Below = below }(s.grad.eager.Below)
	s.grad.eager.Below = tr
	defer t.Push(func(a *torch.Ambient) {
		torch.Unwatched(a)
		s.tracingInto(s.grad.eager, a)
		a.Record = nil // the engine itself keeps the history
	})()
	res, err := s.In.Call(fn, []vm.Object{ins}, nil)
	if err != nil {
		return nil, err
	}
	v, ok := t.Value(res)
	if !ok {
		return nil, fmt.Errorf("make_fx: the function returns a %s", res.Type().Name)
	}
	return tr.GM, tr.Return(v)
}

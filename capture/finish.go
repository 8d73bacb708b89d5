package capture

import (
	"errors"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/resume"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// finish turns a trace into an entry and runs it.
func (d *Dynamo) finish(tr *tracer, private *vm.Frame, out *outcome, f *vm.Frame, st *codeState, e *source.Env, ev *FrameEvent) (vm.Object, error) {
	p := &planner{tr: tr, idx: map[*tensor.Tensor]int{}, memo: map[vm.Object]*recipe{}}
	pl := &plan{draws: tr.random.draws, grad: out.gradEnd, autocast: out.autocastEnd}
	err := func() (err error) {
		if out.broke {
			pl.breaks, pl.pc = true, out.at.pc
			if err := p.lastFirst(private, out.at.pc); err != nil {
				return err
			}
			live := resume.Live(private.Code.Code, out.at.pc)
			if pl.stack, err = p.values(private.Stack[:private.SP]); err != nil {
				return err
			}
			pl.locals = make([]recipe, len(private.LocalsPlus))
			for i, v := range private.LocalsPlus {
				if v == nil || !live[i] && i < len(private.Code.VarNames) {
					continue
				}
				if name := private.Code.LocalsPlusName(i); !tr.bindings.stored[i] && i < len(private.Code.VarNames) && e.Locals[name] == v {
					pl.locals[i] = p.untouched(source.Local{Var: name})
					continue
				}
				if pl.locals[i], err = p.value(v); err != nil {
					return err
				}
			}
		} else if pl.result, err = p.value(out.result); err != nil {
			return err
		}
		if pl.logs, err = p.logs(); err != nil {
			return err
		}
		if pl.effects, err = p.sideEffects(); err != nil || out.broke || len(pl.effects) > 0 || len(pl.logs) > 0 {
			return err
		}
		if t, ok := out.result.(*torch.Tensor); ok && len(p.outs) == 0 && tr.out.calls > 0 {
			pl.result, err = p.passedOn(t, pl.result)
		}
		return err
	}()
	tr.effects.Undo()
	if err != nil {
		var u *Unsupported
		if errors.As(err, &u) {
			ev.Status = "skipped"
			d.report(ev)
			st.skip = true
			return d.plain(f)
		}
		return nil, err
	}
	if !out.broke && tr.out.calls == 0 && !d.ctx.FullGraph {
		// Nothing to compile here, so nothing to come back for.
		ev.Status = "skipped"
		d.report(ev)
		st.skip = true
		return d.plain(f)
	}
	outs := make(fx.Tuple, len(p.outs))
	for i, x := range p.outs {
		outs[i] = tr.out.nodes[x]
	}
	tr.out.cleanGradModes()
	tr.out.graph.Output(outs)
	tr.out.insertAsserts()
	tr.symbols.trim()
	var ins []input
	for _, in := range tr.out.inputs {
		if kept(tr.out.graph, in.node) {
			ins = append(ins, in)
		}
	}
	gm := &fx.GraphModule{Graph: tr.out.graph, ClassName: "GraphModule", Attrs: tr.out.attrs, Submodules: tr.out.branchesOf(tr.out.graph)}
	rel, violated := tr.symbols.shapeGuards()
	en := &entry{id: ev.ID, guards: guard.NewSet(append(append(ambientGuards(d, tr.state), tr.reads.finalGuards()...), rel...), tr.guards), inputs: ins, plan: pl, ctx: d.ctx, frame: ev}
	ev.Guards, ev.Status = en.guards.Shown(), "compiled"
	compiled := "" // the name of the graph's function
	d.logf(logCompileGraph, "COMPILING GRAPH due to %s", tr.journal.compileReason(out, ev))
	if tr.out.calls > 0 || len(p.outs) > 0 {
		compiled = d.uniqueName("__compiled_fn")
		tr.journal.logGraphs(gm, compiled)
		en.gm, _ = gm.Clone() // a backend may change what it is given
		ev.Graph, ev.Backend = en.gm, d.ctx.Backend.Name
		var fn vm.Object
		d.count("stats", "calls_captured", len(gm.Graph.Calls()))
		d.count("stats", "unique_graphs", 1)
		d.Step(2, "torch._dynamo.output_graph", "calling compiler function "+d.ctx.Backend.Name)
		d.logf(logCompiler, "Step 2: calling compiler function %s", d.ctx.Backend.Name)
		err := d.timed("OutputGraph.call_user_compiler", func() (err error) {
			fn, err = d.compileGraph(tr, gm, ins, ev, out)
			return err
		})
		if err == nil {
			d.Step(2, "torch._dynamo.output_graph", "done compiler function "+d.ctx.Backend.Name)
			d.logf(logCompiled, "Step 2: done compiler function %s", d.ctx.Backend.Name)
		}
		var u *Unsupported
		if errors.As(err, &u) {
			ev.Status, ev.Guards = "skipped", nil
			d.report(ev)
			st.skip = true
			return d.plain(f)
		}
		if err != nil {
			ev.Status, ev.Err, ev.Guards = "error", err, nil // the guards of a failed frame are never built
			d.report(ev)
			d.failing(f, err)
			if on, cerr := d.configBool("suppress_errors"); cerr == nil && on {
				d.logSuppressed(f, ev, err)
				st.skip = true
				return d.plain(f)
			}
			return nil, err
		}
		en.fn = fn
	}
	if violated != nil {
		err := d.raiseAt("torch.fx.experimental.symbolic_shapes", "ConstraintViolationError", violated.Error(), nil)
		ev.Status, ev.Err = "error", err
		ev.Guards = beforeShapes(ev.Guards)
		d.report(ev)
		return nil, err
	}
	if out.broke {
		d.uniqueName("__resume_at")
		if out.jump {
			d.uniqueName("__resume_at") // one for each side
		}
	}
	if d.outGuards != nil {
		*d.outGuards = append(*d.outGuards, en.guards.List()...)
	}
	d.count("frames", "ok", 1)
	d.logBytecode(f, en, compiled)
	d.logf(logProduceGuards, "produce_guards")
	if d.logs.on[logGuardTree] || d.Observe.Frame != nil {
		ev.Tree = en.guards.Tree()
	}
	d.logGuards(en)
	d.logGuardTime(en, e)
	d.report(ev)
	st.entries = append(st.entries, en)
	defer d.within("", 0)()
	return d.runEntry(en, f, e)
}

// compileGraph hands the graph to the backend, outside of any capture.
func (d *Dynamo) compileGraph(tr *tracer, gm *fx.GraphModule, ins []input, ev *FrameEvent, out *outcome) (vm.Object, error) {
	defer d.push(func(u *underway, a *torch.Ambient) { u.active, a.FrameHook = nil, nil })()
	obj, err := d.T.NewGraphModule(gm, nil)
	if err != nil {
		return nil, err
	}
	d.T.NativeGraph(obj).Describe = tr.journal.describedSizes
	if err := d.setReason(obj, tr, out); err != nil {
		return nil, err
	}
	examples := make([]vm.Object, len(ins))
	vals := make([]*tensor.Tensor, len(ins))
	for i, in := range ins {
		if in.symbol != "" {
			examples[i] = d.T.Number(symbolic.Sym(in.symbol), tr.unknowns)
			continue
		}
		examples[i] = d.T.Wrap(in.val)
		vals[i] = in.val
	}
	end := func() {}
	if d.Observe.Begin != nil {
		end = d.Observe.Begin(d.ctx.Backend, ev.Graph, vals)
	}
	fn, err := d.ctx.Backend.Compile(obj, examples)
	if err == nil && fn != nil && fn != vm.None && d.Observe.Check != nil {
		err = d.Observe.Check(obj, examples, fn)
	}
	end()
	if err != nil {
		var stop interface{ Abort() bool }
		if errors.As(err, &stop) && stop.Abort() {
			return nil, err
		}
		var ae *aten.Error
		if errors.As(err, &ae) && ae.Kind == aten.DataDependentError && !d.ctx.FullGraph {
			return nil, unsupported(breaks.FakeTensorBackend) // sizes that only running shows
		}
		if d.Observe.Failed != nil {
			d.Observe.Failed(d.ctx.Backend, ev.Graph, vals, err)
		}
		return nil, d.backendFailed(err)
	}
	if fn == nil || fn == vm.None {
		return nil, d.backendFailed(d.In.Errorf(d.In.Exc.AssertionError, "compiler_fn did not return callable"))
	}
	return fn, nil
}

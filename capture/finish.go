package capture

import (
	"errors"
	"slices"
	"time"

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

// finish turns a trace that ran to its end, or to the break that an earlier attempt found, into an entry, and runs that. A frame of which
// nothing is worth compiling runs as plain Python.
func (c *compilation) finish(tr *tracer, out *outcome) (vm.Object, error) {
	d, ev := c.d, c.ev
	pl, outs, err := tr.plan(out)
	tr.effects.Undo() // from here on objects are as the frame found them
	if r := tr.symbols.refused; r != nil {
		err := d.raiseAt(r.module, r.class, r.said, []guard.Place{{Code: c.f.Code, Line: c.f.Code.FirstLine}})
		ev.Status, ev.Err = "error", err
		d.report(ev)
		return nil, err
	}
	var u *Unsupported
	if errors.As(err, &u) {
		return c.skip("skipped")
	}
	if err != nil {
		return nil, err
	}
	if !out.broke && tr.out.calls == 0 && d.ctx.Export == nil {
		// Nothing to compile here, so nothing to come back for.
		c.count("ok")
		return c.skip("skipped")
	}
	gm, ins := tr.close(outs)
	// What the trace took for granted of sizes is complete only now. A promise of mark_dynamic that it broke is told after the backend ran,
	// as in PyTorch, where guards are built last.
	relations, violated := tr.symbols.shapeGuards()
	c.numbers = tr.symbols.inputNumbers
	guards := slices.Concat(ambientGuards(d, tr.state, tr.env.Modes), tr.reads.finalGuards(), relations)
	en := &entry{id: ev.ID, guards: guard.NewSet(guards, tr.guards), inputs: ins, plan: pl, ctx: d.ctx, frame: ev}
	ev.Guards, ev.Status = en.guards.Shown(), "compiled"
	d.logf(logCompileGraph, "COMPILING GRAPH due to %s", tr.journal.compileReason(out, ev))
	name := "" // of the graph's function
	if tr.out.calls > 0 || len(outs) > 0 {
		name = d.uniqueName("__compiled_fn")
		if en.fn, err = c.backend(tr, out, en, gm, name); err != nil {
			return c.backendEnded(err)
		}
	}
	if violated != nil {
		said := violated.Error()
		if d.ctx.Export == nil {
			said = d.advised(said+"\n", false)
		}
		err := d.raise("torch.fx.experimental.symbolic_shapes", "ConstraintViolationError", vm.Str(said))
		ev.Status, ev.Err = "error", err
		ev.Guards = beforeShapes(ev.Guards)
		d.report(ev)
		return nil, err
	}
	if out.broke && !out.rest {
		d.uniqueName("__resume_at")
		if out.jump {
			d.uniqueName("__resume_at") // one for each side
		}
	}
	c.enter(en, name)
	d.saveProfile()
	if err := c.done(); err != nil {
		return nil, err
	}
	defer d.within("", 0)()
	tr.over()
	return d.runEntry(en, c.f, c.e)
}

// plan plans what compiled code does behind the graph, and lists the tensors that the graph has to give it. The trace's writes are still
// in the objects.
func (tr *tracer) plan(out *outcome) (pl *plan, outs []*tensor.Tensor, err error) {
	p := &planner{tr: tr, idx: map[*tensor.Tensor]int{}, memo: map[vm.Object]*recipe{}, parts: map[vm.Object]part{}, calls: map[vm.Object]*logPlan{},
		looked: map[vm.Object]bool{}}
	pl = &plan{draws: tr.random.draws, grad: out.gradEnd, autocast: out.autocastEnd}
	if out.broke {
		pl.rest = out.rest
		err = p.goingOn(pl, out.at.pc)
	} else {
		pl.result, err = p.value(out.result)
	}
	if err != nil {
		return nil, nil, err
	}
	if !slices.Equal(out.modesEnd, tr.env.Modes) {
		pl.modesChanged = true
		if pl.modes, err = p.values(out.modesEnd); err != nil {
			return nil, nil, err
		}
	}
	if pl.logs, err = p.logs(); err != nil {
		return nil, nil, err
	}
	if pl.effects, err = p.sideEffects(); err != nil {
		return nil, nil, err
	}
	if err = p.writes(); err != nil {
		return nil, nil, err
	}
	nothingElse := !out.broke && len(pl.effects) == 0 && len(pl.logs) == 0
	if t, ok := out.result.(*torch.Tensor); ok && nothingElse && len(p.outs) == 0 && tr.out.calls > 0 {
		pl.result, err = p.passedOn(t, pl.result)
	}
	return pl, p.outs, err
}

// goingOn plans the values that the frame has at the break at pc: those on its stack, and the variables that are still read.
func (p *planner) goingOn(pl *plan, pc int) (err error) {
	f := p.tr.root
	pl.breaks, pl.pc = true, pc
	if err := p.lastFirst(f, pc); err != nil {
		return err
	}
	live := resume.Live(f.Code.Code, pc)
	if slices.Contains(f.Code.FreeVars, "__class__") && f.Code.ArgCount > 0 && slices.Contains(f.Code.Names, "super") {
		live[0] = true // super() without arguments looks for it in the frame
	}
	p.onStack = true
	if pl.stack, err = p.values(f.Stack[:f.SP]); err != nil {
		return err
	}
	for i, s := range p.tr.reads.onStack { // what nothing has taken is what the frame came with, whatever that is then
		if i < f.SP && f.Stack[i] == s.v {
			pl.stack[i] = p.untouched(s.src)
		}
	}
	p.onStack = false
	pl.locals = make([]recipe, len(f.LocalsPlus))
	for i, v := range f.LocalsPlus {
		if v == nil || !live[i] && i < len(f.Code.VarNames) {
			continue
		}
		if name := f.Code.LocalsPlusName(i); !p.tr.bindings.stored[i] && i < len(f.Code.VarNames) && p.tr.env.Locals[name] == v {
			pl.locals[i] = p.untouched(source.Local{Var: name})
			continue
		}
		if pl.locals[i], err = p.value(v); err != nil {
			return err
		}
	}
	return nil
}

// close ends the graph, which gives back outs, and takes out of it what is not needed; ins are the inputs that remain.
func (tr *tracer) close(outs []*tensor.Tensor) (gm *fx.GraphModule, ins []input) {
	og := tr.out
	nodes := make(fx.Tuple, len(outs))
	for i, x := range outs {
		nodes[i] = og.nodes[x]
	}
	og.cleanGradModes()
	og.graph.Output(nodes)
	og.mergeNumbers()
	og.insertAsserts()
	tr.symbols.readSizes()
	tr.symbols.trim()
	for _, in := range og.inputs {
		if kept(og.graph, in.node) {
			ins = append(ins, in)
		}
	}
	return &fx.GraphModule{Graph: og.graph, ClassName: "GraphModule", Attrs: og.attrs, Submodules: og.branchesOf(og.graph)}, ins
}

// backend has the graph of en compiled under a name.
func (c *compilation) backend(tr *tracer, out *outcome, en *entry, gm *fx.GraphModule, name string) (fn vm.Object, err error) {
	d, ev := c.d, c.ev
	tr.journal.logGraphs(gm, name)
	en.gm, _ = gm.Clone() // a backend may change what it is given
	ev.Graph, ev.Backend = en.gm, d.ctx.Backend.Name
	d.count("stats", "calls_captured", len(gm.Graph.Calls()))
	d.count("stats", "unique_graphs", 1)
	d.logf(logCompiler, "Step 2: calling compiler function %s", d.ctx.Backend.Name)
	start := time.Now()
	defer func() { c.metrics.backend = time.Since(start) }()
	err = d.timed("OutputGraph.call_user_compiler", func() (err error) {
		fn, err = d.compileGraph(tr, gm, en.inputs, ev, out)
		return err
	})
	for i := range en.inputs {
		en.inputs[i].val = nil // what the first call was given is the program's to drop
	}
	if err == nil {
		d.logf(logCompiled, "Step 2: done compiler function %s", d.ctx.Backend.Name)
	}
	return fn, err
}

// backendEnded is the end of a frame whose backend failed, or met what it cannot compile. The guards of such a frame are never built.
func (c *compilation) backendEnded(err error) (vm.Object, error) {
	c.ev.Guards = nil
	var u *Unsupported
	if errors.As(err, &u) {
		return c.skip("skipped")
	}
	return c.failed(err)
}

// failed is the end of a frame with an error of the script's program or of the backend: the script gets it, unless its settings
// suppress errors.
func (c *compilation) failed(err error) (vm.Object, error) {
	d, ev := c.d, c.ev
	ev.Status, ev.Err = "error", err
	d.report(ev)
	d.failing(c.f, err)
	err = d.saysWhere(err)
	if on, cerr := d.configBool("suppress_errors"); cerr == nil && on {
		d.logSuppressed(c.f, ev, err)
		c.st.skip = true
		if err := c.done(); err != nil {
			return nil, err
		}
		return d.plain(c.f)
	}
	return nil, err
}

// enter files an entry, and tells of it. name is that of the graph's function, "" where there is none.
func (c *compilation) enter(en *entry, name string) {
	d, ev := c.d, c.ev
	if d.Structured() {
		c.metrics.listed = len(en.guards.List())
	}
	if d.outGuards != nil {
		*d.outGuards = append(*d.outGuards, en.guards.List()...)
	}
	c.count("ok")
	d.logBytecode(c.f, en, name)
	c.tracked()
	if d.logs.on[logGuardTree] || d.Observe.Frame != nil || d.Structured() {
		ev.Tree = en.guards.Tree()
	}
	d.logGuards(en)
	d.logGuardTime(en, c.e)
	d.report(ev)
	c.st.entries = append(c.st.entries, en)
}

// tracked logs the numbers of the inputs that guards may be about, and which of them the checks of tensors compare.
func (c *compilation) tracked() {
	d := c.d
	d.logf(logProduceGuards, "produce_guards")
	if !d.logs.on[logTrackNumber] {
		return
	}
	for _, in := range c.numbers {
		promise := "None"
		if l := in.Limit; l != nil {
			warn := "False"
			if l.Warn {
				warn = "True"
			}
			promise = "RelaxedUnspecConstraint(warn_only=" + warn + ")"
			if r := l.Range; r != symbolic.All {
				promise = "StrictMinMaxConstraint(warn_only=" + warn + ", vr=VR" + bounds(r) + ")"
			}
		}
		d.logf(logTrackNumber, "track_symint %s %s %s", in.From, in.Expr, promise)
	}
	for _, in := range c.numbers {
		if in.Tensor && in.Expr.IsConst() {
			d.logf(logSkipGuard, "Skipping guard %s == %s", in.From, in.Expr)
		}
	}
}

// checkRepro refuses settings of the minifier that mean nothing. PyTorch has an assertion without a text for the stage, and takes any level.
func (d *Dynamo) checkRepro() error {
	after, err := d.config("repro_after")
	if err != nil || after == vm.None {
		return err
	}
	if name, ok := vm.AsStr(after); !ok || name != "" && name != "aot" && name != "dynamo" {
		text, err := d.In.Repr(after)
		if err != nil {
			return err
		}
		return d.In.Errorf(d.In.Exc.AssertionError, "torch._dynamo.config.repro_after ($TORCHDYNAMO_REPRO_AFTER) is %s: there are 'aot', 'dynamo' and None", text)
	}
	level, err := d.configInt("repro_level", 2)
	if err == nil && (level < 1 || level > 4) {
		err = d.In.Errorf(d.In.Exc.AssertionError, "torch._dynamo.config.repro_level ($TORCHDYNAMO_REPRO_LEVEL) is %d: there are 1 (keeps the graph), 2 and 3 (shrink it) and 4 (compares results, too)", level)
	}
	return err
}

// compileGraph hands the graph to the backend, outside of any capture.
func (d *Dynamo) compileGraph(tr *tracer, gm *fx.GraphModule, ins []input, ev *FrameEvent, out *outcome) (vm.Object, error) {
	defer d.push(func(u *underway, a *torch.Ambient) { u.active, a.FrameHook = nil, nil })()
	defer d.T.SuspendFunctionModes()()
	obj, err := d.T.NewGraphModule(gm, nil)
	if err != nil {
		return nil, err
	}
	native := d.T.NativeGraph(obj)
	native.Captured()
	tr.known()
	native.Describe = tr.journal.describedSizes()
	if err := d.giveMembers(obj, tr.out, ins); err != nil {
		return nil, err
	}
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
	if err := d.checkRepro(); err != nil {
		return nil, d.backendFailed(err)
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

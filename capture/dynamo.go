package capture

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"whittle/capture/fx"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// Backend compiles a graph: it gets the GraphModule object and example inputs and returns a callable.
type Backend struct {
	Name    string
	Fn      vm.Object // the callable as the script gave it
	Compile func(gm vm.Object, inputs []vm.Object) (vm.Object, error)
}

// Context is one torch.compile: what to do with the frames that run under it.
type Context struct {
	Backend   Backend
	FullGraph bool
	Dynamic   *bool
	// Compiles nothing new: torch._dynamo.run.
	RunOnly bool
}

// Dynamo compiles the frames of one interpreter.
type Dynamo struct {
	In *vm.Interp
	T  *torch.Torch
	// Extra adds functions to torch._C._dynamo; nil => none.
	Extra func(m *vm.Module)
	// Observe sees each event as it happens; nil fields are skipped.
	Observe Observer

	ctx       *Context
	active    *tracer
	outer     *tracer // the trace that runs plain Python right now
	log       traceLog
	logs      logs
	compiling string // id of the frame under way
	backends  Backends
	stance    stance
	outGuards *[]outGuard // of compiled frames, while explain() runs; nil => not kept
	counts    []count     // for torch._dynamo.utils.counters, until that is there
	breaks    []*BreakEvent
	failures  []*RecompileEvent // guards that failed where code was there: recompiles, and those that a cache limit forbade
	times     []*phase
	codes     map[*code.Code]*codeState
	resume    map[resumeKey]*vm.Code
	origins   map[*code.Code]*code.Code // what resume functions are parts of
	history   map[codeID]map[string]*seenSizes
	nextID    int
	always    map[*code.Code]bool // what torch.compile was asked for, whether or not it has to do with tensors
	unique    int                 // how many names of globals, functions and code objects were made up so far
}

// stance is what torch.compiler.set_stance asked for.
type stance struct {
	name, text string
	force      *Backend // takes the place of every backend; nil => none
}

// Observer is told what capture does.
type Observer struct {
	Frame     func(f *FrameEvent)
	Break     func(b *BreakEvent)
	Recompile func(r *RecompileEvent)
	// Failed is told of a frame whose backend failed, before the error reaches the script.
	Failed func(b Backend, gm *fx.GraphModule, inputs []*tensor.Tensor, err error)
	// Failing is told of a frame whose capture or compilation failed, before the error reaches the script.
	Failing func(f *vm.Frame, ctx *Context, err error)
	// Record is asked for each frame that is about to be captured: whether to write it down.
	Record func(f *vm.Frame) bool
	// Recorded gets a frame that was written down, with what came of it, or why it could not be.
	Recorded func(r *FrameRecord, err error)
	// Check looks at what a backend made before it is used; an error from it is a failure of the backend.
	Check func(gm vm.Object, inputs []vm.Object, compiled vm.Object) error
	// Begin is told of a graph before its backend gets it; what it returns is called when the backend is done.
	Begin func(b Backend, gm *fx.GraphModule, inputs []*tensor.Tensor) (end func())
}

// FrameEvent is one capture of a code object.
type FrameEvent struct {
	ID, Name, File string
	Line           int
	Status         string // compiled, skipped, unsupported, limit, error
	Attempts       int
	Backend        string
	Graph          *fx.GraphModule
	Reasons        []string
	Guards         []*Guard
	Tree           []string // Guards as the tree that logs print, a line each
	Err            error

	breaks []string     // in words
	record *FrameRecord // nil: not written down
}

// BreakEvent is one graph break.
type BreakEvent struct {
	Frame, Kind, Reason string
	Line                int
	Stack               []StackEntry

	at []stackFrame // Stack with the code of its frames
}

// RecompileEvent says why compiled code could not be reused.
type RecompileEvent struct {
	Frame, Function, File string
	Line                  int
	Reasons               []string
}

// codeState is what is known about one code object.
type codeState struct {
	id      int
	entries []*entry
	skip    bool
}

// entry is compiled code with the guards under which it may run.
type entry struct {
	id     string
	guards []*Guard
	tree   *guardTree // of guards; made at the first check
	inputs []input
	fn     vm.Object // nil => no graph
	plan   *plan
	ctx    *Context
	frame  *FrameEvent
	gm     *fx.GraphModule // as captured
	ran    bool
}

type resumeKey struct {
	code *code.Code
	pc   int
	sp   int
}

// New makes the compiler of an interpreter.
func New(in *vm.Interp, t *torch.Torch) *Dynamo {
	return &Dynamo{In: in, T: t, codes: map[*code.Code]*codeState{}, resume: map[resumeKey]*vm.Code{}, origins: map[*code.Code]*code.Code{}, history: map[codeID]map[string]*seenSizes{}, always: map[*code.Code]bool{}}
}

// Reset forgets all compiled code: torch._dynamo.reset().
func (d *Dynamo) Reset() {
	d.codes = map[*code.Code]*codeState{}
	d.resume = map[resumeKey]*vm.Code{}
	d.origins = map[*code.Code]*code.Code{}
	d.history = map[codeID]map[string]*seenSizes{}
	d.nextID = 0
}

// Call calls fn with frames compiled under ctx.
func (d *Dynamo) Call(ctx *Context, fn vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if c := codeOf(fn); c != nil {
		d.always[c] = true
	}
	old, oldHook := d.ctx, d.In.FrameHook
	d.ctx, d.In.FrameHook = ctx, d.frame
	defer func() { d.ctx, d.In.FrameHook = old, oldHook }()
	return d.In.Call(fn, args, kw)
}

// Disabled calls fn with capture switched off.
func (d *Dynamo) Disabled(fn vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	oldHook := d.In.FrameHook
	d.In.FrameHook = nil
	defer func() { d.In.FrameHook = oldHook }()
	return d.In.Call(fn, args, kw)
}

// Compiling reports whether a trace is in progress.
func (d *Dynamo) Compiling() bool { return d.active != nil }

// isLibrary reports whether a file belongs to the standard library or to torch.
func (d *Dynamo) isLibrary(file string) bool {
	return strings.HasPrefix(file, "<") || strings.HasPrefix(file, "torch/") || strings.HasPrefix(file, "lib/python") || strings.Contains(file, "/lib/python")
}

// frame is the hook of PEP 523: every Python frame passes here while compiled code is called.
func (d *Dynamo) frame(in *vm.Interp, f *vm.Frame) (vm.Object, error) {
	if tr := d.active; tr != nil {
		if tr.depth == 0 && !opaque(f) {
			f.Trace = tr.step
		}
		return in.EvalFrame(f)
	}
	if d.skipped(f) {
		d.logf(logSkip, "skipping: %s (reason: in skipfiles, file: %s)", f.Code.Name, f.Code.Filename)
		return in.EvalFrame(f)
	}
	return d.compiled(f)
}

// opaque frames run inside a trace without being watched: attribute look-up of modules.
func opaque(f *vm.Frame) bool {
	switch f.Code.Name {
	case "__getattr__", "__setattr__", "__delattr__":
		return strings.HasSuffix(f.Code.Filename, "torch/nn/modules/module.py")
	}
	return false
}

// breakLine is the line of the innermost frame that lies outside of torch.
func breakLine(stack []StackEntry) int {
	for i := len(stack) - 1; i >= 0; i-- {
		if !strings.HasPrefix(stack[i].File, "torch/") {
			return stack[i].Line
		}
	}
	return stack[len(stack)-1].Line
}

// skipped frames are never captured: the library itself, module bodies, generators.
func (d *Dynamo) skipped(f *vm.Frame) bool {
	c := f.Code
	if strings.HasSuffix(c.Name, "comp>") {
		return true // a part of the function around it
	}
	if f.Func == nil || c.Flags&code.Generator != 0 || c.Flags&code.NewLocals == 0 || c.Name == "<module>" || f.Locals != nil {
		return true
	}
	if marked(f.Func, "_torchdynamo_disable") || marked(f.Func, "_torchdynamo_disable_once") {
		return true
	}
	if strings.HasPrefix(c.Filename, "torch/") {
		// The library is traced through, never entered: only optimizers and the wrapper around a library module are
		// frames of their own. The switch of the grad mode around an optimizer's step does nothing but break graphs.
		inner := c.Filename == "torch/_dynamo/external_utils.py" && c.Name == "inner"
		return !inner && !strings.HasPrefix(c.Filename, "torch/optim/") || c.Filename == "torch/optim/lr_scheduler.py" || c.Name == "_use_grad"
	}
	return d.isLibrary(c.Filename)
}

// compiled runs a frame through its compiled code, compiling it first when none fits.
func (d *Dynamo) compiled(f *vm.Frame) (vm.Object, error) {
	key := f.Code.Code
	st := d.codes[key]
	if st != nil && st.skip {
		return d.plain(f)
	}
	for i, v := range f.LocalsPlus {
		f.LocalsPlus[i] = replayable(v)
	}
	e := d.envOf(f)
	var reasons []string
	if st != nil {
		for _, en := range st.entries {
			if en.ctx.Backend.Name != d.ctx.Backend.Name && en.ctx != d.ctx {
				continue
			}
			ok, why := en.holds(e)
			if ok {
				return d.runEntry(en, f, e)
			}
			reasons = append([]string{en.id + ": " + why}, reasons...)
		}
	}
	if d.ctx.RunOnly || d.stance.name == "eager_on_recompile" || d.filtered(f.Code.Name) {
		return d.plain(f)
	}
	if d.stance.name == "fail_on_recompile" {
		return nil, d.In.Errorf(d.In.Exc.RuntimeError, "Detected recompile when torch.compile stance is 'fail_on_recompile'")
	}
	if st == nil && !d.always[key] && !mayCompute(f) {
		return d.plain(f)
	}
	if st == nil {
		st = &codeState{id: d.nextID}
		d.nextID++
		d.codes[key] = st
	}
	return d.compile(f, st, e, reasons)
}

// holds checks the guards of an entry.
func (en *entry) holds(e *env) (bool, string) {
	if en.tree == nil {
		en.tree = compileGuards(en.guards)
	}
	return en.tree.holds(e)
}

func (d *Dynamo) envOf(f *vm.Frame) *env {
	e := &env{in: d.In, locals: make(map[string]vm.Object, len(f.LocalsPlus)+f.SP), globals: f.Globals}
	for i, v := range f.LocalsPlus {
		if c, ok := v.(*vm.Cell); ok {
			e.cell(f.Code.LocalsPlusName(i), c)
			v = c.V
		}
		if v != nil {
			e.locals[f.Code.LocalsPlusName(i)] = v
		}
	}
	if f.Func != nil {
		for i, c := range f.Func.Closure {
			if i < len(f.Code.FreeVars) {
				e.cell(f.Code.FreeVars[i], c)
				if c.V != nil {
					e.locals[f.Code.FreeVars[i]] = c.V
				}
			}
		}
	}
	k := 0
	for _, v := range f.Stack[:f.SP] {
		if v != nil {
			e.locals[fmt.Sprintf("___stack%d", k)] = v
			k++
		}
	}
	return e
}

// clone copies a frame, so that tracing leaves the real one alone.
func (d *Dynamo) clone(f *vm.Frame) *vm.Frame {
	g := d.In.NewFrame(f.Func, f.Code)
	copy(g.LocalsPlus, f.LocalsPlus)
	copy(g.Stack, f.Stack[:f.SP])
	g.SP, g.PC = f.SP, f.PC
	g.Globals, g.Builtins = f.Globals, f.Builtins
	for _, vs := range [][]vm.Object{g.LocalsPlus, g.Stack[:g.SP]} {
		for i, v := range vs {
			if it, ok := v.(*replayIter); ok {
				vs[i] = it.copy()
			}
		}
	}
	return g
}

// compile captures a frame, compiles its graph and runs it.
func (d *Dynamo) compile(f *vm.Frame, st *codeState, e *env, reasons []string) (vm.Object, error) {
	ev := &FrameEvent{ID: fmt.Sprintf("%d/%d", st.id, len(st.entries)), Name: f.Code.Name, File: shortFile(f.Code.Filename), Line: f.Code.FirstLine, Reasons: reasons}
	if f.PC > 0 {
		ev.Line = f.Line()
	}
	if d.Observe.Record != nil && d.Observe.Record(f) {
		var err error
		if ev.record, err = d.record(f, reasons); err != nil {
			d.Observe.Recorded(nil, err)
		}
	}
	d.lookAtLogs()
	if d.logs.any {
		d.logFrame(f)
	}
	inside := d.within(ev.ID, 0)
	defer func() { inside() }()
	if len(reasons) > 0 {
		d.logRecompile(f, ev.Line, reasons, func() []string { return d.allReasons(st, e) })
		d.failures = append(d.failures, &RecompileEvent{Frame: ev.ID, Function: ev.Name, File: ev.File, Line: ev.Line, Reasons: reasons})
		on, err := d.configBool("error_on_recompile")
		if err != nil {
			return nil, err
		}
		if !on && d.Observe.Recompile != nil {
			d.Observe.Recompile(&RecompileEvent{Frame: ev.ID, Function: ev.Name, File: ev.File, Line: ev.Line, Reasons: reasons})
		}
		if on {
			ev.Status = "error"
			d.report(ev)
			return nil, d.raise("torch._dynamo.exc", "RecompileError", fmt.Sprintf("Recompiling function %s in %s:%d\n    triggered by the following guard failure(s):\n    - %s", ev.Name, f.Code.Filename, ev.Line, strings.Join(reasons, "\n    - ")))
		}
	}
	limit, err := d.configInt("cache_size_limit", 8)
	if err != nil {
		return nil, err
	}
	total, err := d.configInt("accumulated_cache_size_limit", 256)
	if err != nil {
		return nil, err
	}
	if len(st.entries) >= min(limit, total) {
		hard, err := d.configBool("fail_on_cache_limit_hit")
		if err != nil {
			return nil, err
		}
		if hard {
			name := "accumulated_cache_size_limit"
			if len(st.entries) >= limit {
				name = "cache_size_limit"
			}
			return nil, d.raise("torch._dynamo.exc", "FailOnRecompileLimitHit", name+" reached, because fail_on_cache_limit_hit = True this is a HARD failure")
		}
		d.logLimit(f, ev, len(st.entries) >= limit, limit, total)
		ev.Status = "limit"
		st.skip = true
		d.report(ev)
		return d.plain(f)
	}
	d.compiling = ev.ID
	d.count("frames", "total", 1)
	d.logStartOf(f, ev.Line)
	d.structured("dynamo_start", map[string]any{"stack": []any{map[string]any{"line": ev.Line, "name": ev.Name, "filename": ev.File}}}, ev.ID, "")
	var stop *point
	jump := false // the stop is a branch on a tensor
	for {
		ev.Attempts++
		tr := newTracer(d, f, e, stop)
		private := d.clone(f)
		var out *outcome
		d.Step(1, "torch._dynamo.symbolic_convert", "torchdynamo start tracing "+ev.Name)
		if ev.Attempts > 1 {
			inside()
			inside = d.within(ev.ID, ev.Attempts-1)
		}
		d.logf(logTracing, "Step 1: torchdynamo start tracing %s %s:%d", ev.Name, f.Code.Filename, ev.Line)
		d.logf(logCreateEnv, "create_env")
		err := d.timed("_compile.compile_inner", func() (err error) {
			out, err = tr.run(private)
			if out != nil {
				out.jump = jump
			}
			return err
		})
		if err == nil {
			d.Step(1, "torch._dynamo.symbolic_convert", "torchdynamo done tracing "+ev.Name)
			if !out.broke {
				d.logf(logTraced, "Step 1: torchdynamo done tracing %s (RETURN_VALUE)", ev.Name)
			}
			return d.finish(tr, private, out, f, st, e, ev)
		}
		tr.restore()
		var during *escaped
		if errors.As(err, &during) {
			return nil, during.err
		}
		var wrong *fakeFailed
		if errors.As(err, &wrong) {
			return d.refused(f, st, ev, wrong)
		}
		var u *Unsupported
		if !errors.As(err, &u) {
			var r *vm.Raised
			if errors.As(err, &r) {
				// The traced code raises: plain Python will raise it again, with the real values.
				ev.Status = "skipped"
				b := tr.observed(err)
				if b != nil {
					b.Frame = ev.ID
					ev.Status = "unsupported"
					if d.ctx.FullGraph {
						b.Kind = "fullgraph"
					}
					d.broke(ev, b)
				}
				if d.ctx.FullGraph {
					ev.Status, ev.Err = "unsupported", err
				}
				d.report(ev)
				st.skip = true
				if b != nil && d.ctx.FullGraph {
					return nil, d.raiseAt("torch._dynamo.exc", "Unsupported", b.Reason, b.at)
				}
				return d.plain(f)
			}
			return nil, err
		}
		b := &BreakEvent{Frame: ev.ID, Kind: "break", Reason: u.Reason, Stack: tr.stack, at: tr.breakAt}
		if len(b.Stack) == 0 {
			b.at = []stackFrame{{f.Code, int(f.Code.Instrs[tr.at.pc].Line)}}
			b.Stack = []StackEntry{{f.Code.Name, int(f.Code.Instrs[tr.at.pc].Line), ev.File}}
		}
		b.Line = breakLine(b.Stack)
		if d.ctx.FullGraph {
			b.Kind = "fullgraph"
			ev.Status, ev.Err = "unsupported", u
			if u.Jump {
				ev.Status = "error" // the user's, and no break
			} else {
				d.broke(ev, b)
			}
			d.report(ev)
			d.failing(f, u)
			if u.Jump {
				return nil, d.raiseAt("torch._dynamo.exc", "UserError", "Dynamic control flow is not supported at the moment. Please use functorch.experimental.control_flow.cond to explicitly capture the control flow. For more information about this error, see: https://pytorch.org/docs/main/generated/exportdb/index.html#cond-operands", b.at)
			}
			return nil, d.raiseAt("torch._dynamo.exc", "Unsupported", trimUnsupported(u.Reason), b.at)
		}
		if u.NoBreak || tr.unresumable(private, tr.at.pc) != "" || (stop != nil && *stop == tr.at) {
			b.Kind = "skip"
			d.broke(ev, b)
			ev.Status = "skipped"
			d.report(ev)
			st.skip = true
			return d.plain(f)
		}
		d.broke(ev, b)
		if !u.Jump && inLoop(f.Code.Code, tr.at.pc) {
			// A resume function per iteration would be compiled each time: the frame runs as plain Python, and what it calls is compiled.
			ev.Status = "skipped"
			d.report(ev)
			st.skip = true
			return d.plain(f)
		}
		if !u.Jump {
			d.logf(logRestart, "Restarting analysis due to _dynamo/symbolic_convert.py:161 in fail_and_restart_analysis")
		}
		at := tr.at
		stop, jump = &at, u.Jump
		if u.Jump {
			ev.Attempts--
			d.unique-- // PyTorch compiles up to the branch without starting again
		}
	}
}

// refused ends the capture of a frame in which an operator refuses its arguments.
func (d *Dynamo) refused(f *vm.Frame, st *codeState, ev *FrameEvent, wrong *fakeFailed) (vm.Object, error) {
	err := d.raiseAt("torch._dynamo.exc", "TorchRuntimeError", wrong.msg, wrong.at)
	ev.Status, ev.Err = "error", err
	d.report(ev)
	d.failing(f, err)
	if on, cerr := d.configBool("suppress_errors"); cerr == nil && on {
		d.logSuppressed(f, ev, err)
		st.skip = true
		return d.plain(f)
	}
	return nil, err
}

// inLoop reports whether control can come back from behind pc to pc or before it.
func inLoop(c *code.Code, pc int) bool {
	for _, in := range c.Instrs[pc:] {
		if in.Op.HasJump() && int(in.Arg) <= pc {
			return true
		}
	}
	return false
}

func (d *Dynamo) failing(f *vm.Frame, err error) {
	if d.Observe.Failing != nil {
		d.Observe.Failing(f, d.ctx, err)
	}
}

func (d *Dynamo) report(ev *FrameEvent) {
	d.structuredFrame(ev)
	if ev.record != nil {
		ev.record.Came = d.came(ev)
		d.Observe.Recorded(ev.record, nil)
	}
	if d.Observe.Frame != nil {
		d.Observe.Frame(ev)
	}
}

func (d *Dynamo) broke(ev *FrameEvent, b *BreakEvent) {
	d.breaks = append(d.breaks, b)
	if strings.HasPrefix(b.Reason, "Unsupported: ") {
		d.count("graph_break", trimUnsupported(b.Reason), 1)
	}
	if b.Kind != "fullgraph" {
		d.logBreakAt(b, b.at)
	}
	ev.breaks = append(ev.breaks, fmt.Sprintf("%s in line %d: %s", b.Kind, b.Line, b.Reason))
	if d.Observe.Break != nil {
		d.Observe.Break(b)
	}
}

// finish turns a trace into an entry and runs it.
func (d *Dynamo) finish(tr *tracer, private *vm.Frame, out *outcome, f *vm.Frame, st *codeState, e *env, ev *FrameEvent) (vm.Object, error) {
	p := &planner{tr: tr, idx: map[*tensor.Tensor]int{}, memo: map[vm.Object]*recipe{}}
	pl := &plan{draws: tr.draws, grad: out.gradEnd, autocast: out.autocastEnd}
	err := func() (err error) {
		if out.broke {
			pl.breaks, pl.pc = true, out.at.pc
			if err := p.lastFirst(private, out.at.pc); err != nil {
				return err
			}
			live := liveLocals(private.Code.Code, out.at.pc)
			if pl.stack, err = p.values(private.Stack[:private.SP]); err != nil {
				return err
			}
			pl.locals = make([]recipe, len(private.LocalsPlus))
			for i, v := range private.LocalsPlus {
				if v == nil || !live[i] && i < len(private.Code.VarNames) {
					continue
				}
				if name := private.Code.LocalsPlusName(i); !tr.stored[i] && i < len(private.Code.VarNames) && e.locals[name] == v {
					pl.locals[i] = p.untouched(localSource{name})
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
		if t, ok := out.result.(*torch.Tensor); ok && len(p.outs) == 0 && tr.calls > 0 {
			pl.result, err = p.passedOn(t, pl.result)
		}
		return err
	}()
	tr.restore()
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
	if !out.broke && tr.calls == 0 && !d.ctx.FullGraph {
		// Nothing to compile here, so nothing to come back for.
		ev.Status = "skipped"
		d.report(ev)
		st.skip = true
		return d.plain(f)
	}
	outs := make(fx.Tuple, len(p.outs))
	for i, x := range p.outs {
		outs[i] = tr.nodes[x]
	}
	tr.cleanGradModes()
	tr.graph.Output(outs)
	tr.insertAsserts()
	tr.trim()
	var ins []input
	for _, in := range tr.inputs {
		if kept(tr.graph, in.node) {
			ins = append(ins, in)
		}
	}
	gm := &fx.GraphModule{Graph: tr.graph, ClassName: "GraphModule", Attrs: tr.attrs, Submodules: tr.branchesOf(tr.graph)}
	rel, violated := tr.shapeGuards()
	en := &entry{id: ev.ID, guards: append(append(ambientGuards(d, tr.grad), tr.finalGuards()...), rel...), inputs: ins, plan: pl, ctx: d.ctx, frame: ev}
	for _, g := range en.guards {
		if g.late != nil {
			g.late(g)
		}
	}
	ev.Guards, ev.Status = shown(en.guards), "compiled"
	compiled := "" // the name of the graph's function
	d.logf(logCompileGraph, "COMPILING GRAPH due to %s", tr.compileReason(out, ev))
	if tr.calls > 0 || len(p.outs) > 0 {
		compiled = d.uniqueName("__compiled_fn")
		tr.logGraphs(gm, compiled)
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
		*d.outGuards = append(*d.outGuards, tr.outGuards(en.guards)...)
	}
	d.count("frames", "ok", 1)
	d.logBytecode(f, en, compiled)
	d.logf(logProduceGuards, "produce_guards")
	if d.logs.on[logGuardTree] || d.Observe.Frame != nil {
		ev.Tree = treeLines(inTree(en.guards), tr.guards.values)
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
	oldHook, oldActive := d.In.FrameHook, d.active
	d.In.FrameHook, d.active = nil, nil
	defer func() { d.In.FrameHook, d.active = oldHook, oldActive }()
	obj, err := d.T.NewGraphModule(gm, nil)
	if err != nil {
		return nil, err
	}
	d.T.NativeGraph(obj).Describe = tr.describedSizes
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

// backendFailed wraps a backend's error as PyTorch's BackendCompilerFailed.
func (d *Dynamo) backendFailed(err error) error {
	inner := err.Error()
	var r *vm.Raised
	cause := vm.Object(vm.None)
	if errors.As(err, &r) {
		s, serr := d.In.Str(r.Exc)
		if serr == nil {
			inner = r.Exc.Class.Name + ": " + s
		}
		cause = r.Exc
	}
	m, ierr := d.In.Import("torch._dynamo.exc")
	if ierr != nil {
		return ierr
	}
	cls, ierr := d.In.GetAttr(m, "BackendCompilerFailed")
	if ierr != nil {
		return ierr
	}
	msg := d.advised(fmt.Sprintf("backend='%s' raised:\n%s\n", d.ctx.Backend.Name, inner), true)
	exc, ierr := d.In.Call(cls, []vm.Object{vm.Str(msg)}, nil)
	if ierr != nil {
		return ierr
	}
	x := exc.(*vm.Exception)
	x.Cause = cause
	if err := d.In.SetAttr(x, "inner_exception", cause); err != nil {
		return err
	}
	return d.In.Raise(x)
}

// raiseAt is raise for an error of capture: the message goes on with the lines of the program that led there, and with advice.
func (d *Dynamo) raiseAt(module, class, msg string, at []stackFrame) error {
	msg += "\n"
	stack := vm.NewList()
	if len(at) > 0 {
		msg += "\nfrom user code:\n "
		for _, p := range at {
			msg += fmt.Sprintf("  File \"%s\", line %d, in %s\n", p.code.Filename, p.line, p.code.Name)
			if text := strings.TrimSpace(rawLine(p.code, p.line)); text != "" {
				msg += "    " + text + "\n"
			}
			summary, err := d.frameSummary(p)
			if err != nil {
				return err
			}
			stack.Items = append(stack.Items, summary)
		}
	}
	err := d.raise(module, class, d.advised(msg, len(at) > 0))
	var r *vm.Raised
	if errors.As(err, &r) && len(at) > 0 {
		if serr := d.In.SetAttr(r.Exc, "real_stack", stack); serr != nil {
			return serr
		}
	}
	return err
}

// frameSummary is a place as an object of traceback.FrameSummary's kind.
func (d *Dynamo) frameSummary(p stackFrame) (vm.Object, error) {
	m, err := d.In.Import("torch._dynamo.eval_frame")
	if err != nil {
		return nil, err
	}
	cls, err := d.In.GetAttr(m, "FrameSummary")
	if err != nil {
		return nil, err
	}
	return d.In.Call(cls, []vm.Object{vm.Str(p.code.Filename), vm.MakeInt(int64(p.line)), vm.Str(p.code.Name)}, nil)
}

// advised is a message of capture with PyTorch's advice, as the settings verbose and suppress_errors have it.
func (d *Dynamo) advised(msg string, traced bool) string {
	if on, err := d.configBool("verbose"); err == nil && !on && traced {
		msg += "\nSet TORCH_LOGS=\"+dynamo\" and TORCHDYNAMO_VERBOSE=1 for more information\n"
	}
	if on, err := d.configBool("suppress_errors"); err == nil && !on {
		msg += "\n\nYou can suppress this exception and fall back to eager by setting:\n    import torch._dynamo\n    torch._dynamo.config.suppress_errors = True\n"
	}
	return msg
}

// raise makes an exception of a class in a torch module.
func (d *Dynamo) raise(module, class, msg string) error {
	m, err := d.In.Import(module)
	if err != nil {
		return err
	}
	cls, err := d.In.GetAttr(m, class)
	if err != nil {
		return err
	}
	return d.In.RaiseObj(cls.(*vm.Type), vm.Str(msg))
}

func kept(g *fx.Graph, n *fx.Node) bool {
	for _, m := range g.Nodes {
		if m == n {
			return true
		}
	}
	return false
}

// phase is one entry of compile_times(): the seconds that each run of a part of the compiler took.
type phase struct {
	name    string
	seconds []float64
}

// timed runs f and books its time.
func (d *Dynamo) timed(name string, f func() error) error {
	start := time.Now()
	err := f()
	for _, p := range d.times {
		if p.name == name {
			p.seconds = append(p.seconds, time.Since(start).Seconds())
			return err
		}
	}
	d.times = append(d.times, &phase{name, []float64{time.Since(start).Seconds()}})
	return err
}

func trimUnsupported(s string) string { return strings.TrimPrefix(s, "Unsupported: ") }

// ambientGuards are the facts that every capture relies on.
func ambientGuards(d *Dynamo, grad bool) []*Guard {
	autocast := d.T.Autocast
	return []*Guard{
		{Kind: "DEFAULT_DEVICE", Expr: "utils_device.CURRENT_DEVICE == None"},
		{Kind: "GLOBAL_STATE", Expr: "___check_global_state()", check: func(*env, vm.Object) (bool, string) {
			if d.T.Grad.Enabled() != grad {
				return false, "GLOBAL_STATE changed: grad_mode "
			}
			if d.T.Autocast != autocast {
				return false, "GLOBAL_STATE changed: autocast "
			}
			return true, ""
		}},
		{Kind: "TORCH_FUNCTION_MODE_STACK", Expr: "___check_torch_function_mode_stack()"},
	}
}

// runEntry runs compiled code in place of a frame.
func (d *Dynamo) runEntry(en *entry, f *vm.Frame, e *env) (vm.Object, error) {
	r := &rebuild{env: e, made: map[vm.Object]vm.Object{}}
	if err := en.plan.draws.make(e); err != nil {
		return nil, err
	}
	if en.fn != nil {
		args := make([]vm.Object, len(en.inputs))
		for i, in := range en.inputs {
			v, err := in.source.Get(e)
			if err != nil {
				return nil, err
			}
			args[i] = v
		}
		end := func() {}
		if !en.ran && d.Observe.Begin != nil {
			vals := make([]*tensor.Tensor, len(en.inputs))
			for i, in := range en.inputs {
				vals[i] = in.val
			}
			end = d.Observe.Begin(en.ctx.Backend, en.gm, vals)
		}
		en.ran = true
		res, err := d.Disabled(en.fn, args, nil)
		end()
		if err != nil {
			return nil, err
		}
		if r.outs, err = d.outputs(res); err != nil {
			return nil, err
		}
	}
	if err := d.applyEffects(en.plan, r); err != nil {
		return nil, err
	}
	if err := d.runLogs(en.plan, r); err != nil {
		return nil, err
	}
	if !en.plan.breaks {
		d.T.Grad.SetEnabled(en.plan.grad)
		d.T.Autocast = en.plan.autocast
		return en.plan.result(r)
	}
	return d.goOn(en, f, r)
}

func (d *Dynamo) outputs(res vm.Object) ([]vm.Object, error) {
	switch v := res.(type) {
	case *vm.Tuple:
		return v.Items, nil
	case *vm.List:
		return v.Items, nil
	case *torch.Tensor:
		return []vm.Object{v}, nil
	}
	return d.In.IterAll(res)
}

func (d *Dynamo) applyEffects(p *plan, r *rebuild) error {
	for _, ef := range p.effects {
		target := ef.object
		if ef.source != nil {
			o, err := ef.source.Get(r.env)
			if err != nil {
				return err
			}
			target = o
		}
		items, err := r.all(ef.items)
		if err != nil {
			return err
		}
		if ef.global != "" {
			target.(*vm.Dict).SetStr(ef.global, items[0])
			continue
		}
		ef.apply(d.In, target, items)
	}
	return nil
}

// errResume ends the real execution of the breaking instruction.
var errResume = errors.New("capture: behind the break")

// goOn runs the instruction that broke the graph as plain Python, then the rest of the frame as a resume function.
func (d *Dynamo) goOn(en *entry, f *vm.Frame, r *rebuild) (vm.Object, error) {
	p := en.plan
	g := d.In.NewFrame(f.Func, f.Code)
	g.Globals, g.Builtins = f.Globals, f.Builtins
	for i, rc := range p.locals {
		if rc == nil {
			if c, ok := f.LocalsPlus[i].(*vm.Cell); ok {
				g.LocalsPlus[i] = c
			}
			continue
		}
		v, err := rc(r)
		if err != nil {
			return nil, err
		}
		g.LocalsPlus[i] = v
	}
	for i, rc := range p.stack {
		v, err := rc(r)
		if err != nil {
			return nil, err
		}
		g.Stack[i] = v
	}
	g.SP, g.PC = len(p.stack), p.pc
	d.T.Grad.SetEnabled(p.grad)
	d.T.Autocast = p.autocast
	first := true
	g.Trace = func(*vm.Frame) error {
		if first {
			first = false
			return nil
		}
		return errResume
	}
	res, err := d.In.EvalFrame(g)
	if !errors.Is(err, errResume) {
		return res, err // the frame ended with that instruction
	}
	h := d.In.NewFrame(f.Func, d.resumeCode(f.Code, p.pc, g.PC, g.SP))
	h.Globals, h.Builtins = f.Globals, f.Builtins
	copy(h.LocalsPlus, g.LocalsPlus)
	for i, v := range g.Stack[:g.SP] {
		h.Stack[i] = replayable(v)
	}
	h.SP, h.PC = g.SP, g.PC
	if err := d.outsideModes(h); err != nil {
		return nil, err
	}
	return d.compiled(h)
}

// resumeCode is the code of the function that goes on at pc, after the instruction at broke the graph.
func (d *Dynamo) resumeCode(c *vm.Code, at, pc, sp int) *vm.Code {
	origin := c.Code // of a function that was resumed before, the one it began as: ways through it meet again
	if o := d.origins[origin]; o != nil {
		origin = o
	}
	k := resumeKey{origin, pc, sp}
	if r := d.resume[k]; r != nil {
		return r
	}
	cc := c.Code.Clone()
	name := c.Name
	line := int(c.Instrs[at].Line)
	if base, ok := strings.CutPrefix(name, "torch_dynamo_resume_in_"); ok {
		if i := strings.LastIndex(base, "_at_"); i > 0 {
			name = base[:i]
		}
	}
	cc.Name = fmt.Sprintf("torch_dynamo_resume_in_%s_at_%d", name, line)
	cc.FirstLine = line
	r := vm.NewCode(cc)
	d.resume[k] = r
	d.origins[cc] = origin
	return r
}

// uniqueName makes a name that no other part of this process's compiled code has. Guards show some of them.
func (d *Dynamo) uniqueName(prefix string) string {
	n := d.unique
	d.unique++
	return fmt.Sprintf("%s_%d", prefix, n)
}

func (d *Dynamo) config(name string) (vm.Object, error) {
	frame, call := d.In.FrameHook, d.In.CallHook
	d.In.FrameHook, d.In.CallHook = nil, nil // a trace does not look at how settings are read
	defer func() { d.In.FrameHook, d.In.CallHook = frame, call }()
	m, err := d.In.Import("torch._dynamo.config")
	if err != nil {
		return nil, err
	}
	return d.In.GetAttr(m, name)
}

func (d *Dynamo) configBool(name string) (bool, error) {
	v, err := d.config(name)
	if err != nil {
		return false, err
	}
	return d.In.Truth(v)
}

func (d *Dynamo) configInt(name string, def int) (int, error) {
	v, err := d.config(name)
	if err != nil {
		return def, err
	}
	n, ok := vm.AsInt(v)
	if !ok {
		return def, nil
	}
	return int(n), nil
}

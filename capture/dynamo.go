package capture

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/resume"
	"whittle/capture/source"
	"whittle/capture/torch"
	"whittle/kernels/parallel"
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
	// GuardFailed is called for each version of a frame that its guards keep from running, with the reason and the code; nil => nothing is.
	GuardFailed vm.Object
	// Compiles nothing new: torch._dynamo.run.
	RunOnly bool
	// Export says that the graph stands for the whole program, and what that said of its arguments (see export.go); nil => it stands for one
	// frame.
	Export *Export
}

// Dynamo compiles the frames of one interpreter.
type Dynamo struct {
	In *vm.Interp
	T  *torch.Torch
	// Extra adds functions to torch._C._dynamo; nil => none.
	Extra func(m *vm.Module)
	// Observe sees each event as it happens; nil fields are skipped.
	Observe Observer

	underway    // changes by push
	log         traceLog
	logs        logs
	recordedAt  string // the file of the frame that just failed, for the error to name; "" => none
	compiling   string // id of the frame under way
	backends    Backends
	stance      stance
	outGuards   *[]guard.Listed // of compiled frames, while explain() runs; nil => not kept
	counts      []count         // for torch._dynamo.utils.counters, until that is there
	breaks      []*BreakEvent
	failures    []*RecompileEvent // guards that failed where code was there: recompiles, and those that a cache limit forbade
	times       []*phase
	codes       map[*code.Code]*codeState
	resume      resume.Functions
	history     map[codeID]map[string]*seenSizes
	rules       rules // of the program
	profiled    bool  // the history of earlier runs was taken over
	nextID      int
	always      map[*code.Code]bool       // what torch.compile was asked for, whether or not it has to do with tensors
	polyfills   map[vm.Object]*substitute // by what they take the place of
	numpy       *numpyFunctions           // what traces know of numpy; nil until it is needed
	polyfilled  bool                      // the polyfills of torch itself are loaded
	metrics     []*metrics                // of compilations so far, the oldest first
	metricsKept int                       // how many of them are kept

	fakeModeType *vm.Type
	fakeModes    []enteredFakeMode // the innermost last

	onStart, onEnd vm.Object // called around each compilation; nil => nothing is

	advisedScalars bool // the program was told of capture_scalar_outputs

	lone *result // what the compiled call under way gives that nobody else has; nil => there is no such call, or nobody asks

	unique int // how many names of globals, functions and code objects were made up so far
}

// underway is what capture is at now.
type underway struct {
	ctx    *Context // of the compiled call that runs; nil => none
	active *tracer  // nil => nothing is being traced
	outer  *tracer  // the trace that runs plain Python right now; nil => none
}

// push lets change alter what is under way together with the ambient state of the torch package; pop brings both back.
func (d *Dynamo) push(change func(u *underway, a *torch.Ambient)) (pop func()) {
	before := d.underway
	popAmbient := d.T.Push(func(a *torch.Ambient) { change(&d.underway, a) })
	return func() {
		popAmbient()
		d.underway = before
	}
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
	// Recorded gets a frame that was written down, with what came of it, or why it could not be. It gives the file where the frame is now, "" for none.
	Recorded func(r *FrameRecord, err error) (file string)
	// ReplayFile captures the frame of such a file again, and runs it.
	ReplayFile func(file string) error
	// Check looks at what a backend made before it is used; an error from it is a failure of the backend.
	Check func(gm vm.Object, inputs []vm.Object, compiled vm.Object) error
	// Run is told of each run of a backend's code before it starts, with the inputs that it gets; what it returns is told how the run
	// ended. first: this code did not run before.
	Run func(b Backend, gm *fx.GraphModule, inputs []vm.Object, first bool) (end func(err error))
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
	Guards         []*guard.Guard
	Tree           []string // Guards as the tree that logs print, a line each
	Err            error

	breaks []string     // in words
	logged []string     // Reasons as logs have them
	record *FrameRecord // nil: not written down
}

// BreakEvent is one graph break.
type BreakEvent struct {
	Frame, Kind string
	Reason      breaks.Reason
	Line        int
	Stack       []StackEntry

	at    []guard.Place // Stack with the code of its frames
	loop  bool          // it is in a loop of the frame, which therefore runs as plain Python
	whole bool          // no part of the frame became a graph: it runs as plain Python
}

// RecompileEvent says why compiled code could not be reused.
type RecompileEvent struct {
	Frame, Function, File string
	Line                  int
	Reasons               []Unfit // newest code first
}

// Unfit is compiled code that cannot be reused: its id, and the first guard that failed.
type Unfit struct {
	Entry string
	guard.Failure

	failed vm.Object // the program's function that wants to know; nil => none
}

// String is the reason as logs and records have it.
func (u Unfit) String() string { return u.Entry + ": " + u.Text }

// logged is the reason as logs of recompiles have it: "" where all guards hold, and the code is that of another backend.
func (u Unfit) logged(places bool) string { return u.Entry + ": " + u.Logged(places) }

// codeState is what is known about one code object.
type codeState struct {
	id      int // -1 => of no compilation
	entries []*entry
	skip    bool
	full    bool   // it was compiled as often as the settings allow: what fits none of the entries runs as plain Python
	limit   string // the setting that says so
}

// entry is compiled code with the guards under which it may run.
type entry struct {
	id     string
	guards *guard.Set
	inputs []input
	fn     vm.Object // nil => no graph
	plan   *plan
	ctx    *Context
	frame  *FrameEvent
	gm     *fx.GraphModule // as captured
	ran    bool
	handle vm.Object // as programs see the entry; nil until one asks
}

// New makes the compiler of an interpreter.
func New(in *vm.Interp, t *torch.Torch) *Dynamo {
	return &Dynamo{In: in, T: t, codes: map[*code.Code]*codeState{}, history: map[codeID]map[string]*seenSizes{}, always: map[*code.Code]bool{}}
}

// Forget forgets the compiled code of one function.
func (d *Dynamo) Forget(fn vm.Object) {
	if c := codeOf(fn); c != nil {
		delete(d.codes, c)
	}
}

// Reset forgets all compiled code: torch._dynamo.reset().
func (d *Dynamo) Reset() {
	d.codes = map[*code.Code]*codeState{}
	d.resume = resume.Functions{}
	d.history, d.profiled = map[codeID]map[string]*seenSizes{}, false
	d.nextID = 0
	d.logs.broken = nil
}

// Call calls fn with frames compiled under ctx.
func (d *Dynamo) Call(ctx *Context, fn vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if c := codeOf(fn); c != nil {
		d.always[c] = true
	}
	defer d.push(func(u *underway, a *torch.Ambient) { u.ctx, a.FrameHook = ctx, d.frame })()
	return d.In.Call(fn, args, kw)
}

// Disabled calls fn with capture switched off.
func (d *Dynamo) Disabled(fn vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	defer d.T.Push(func(a *torch.Ambient) { a.FrameHook = nil })()
	return d.In.Call(fn, args, kw)
}

// Compiling reports whether a trace is in progress.
func (d *Dynamo) Compiling() bool { return d.active != nil }

// IsLibrary reports whether a file belongs to the standard library or to torch.
func (d *Dynamo) IsLibrary(file string) bool {
	return strings.HasPrefix(file, "<frozen ") || strings.HasPrefix(file, "torch/") || strings.HasPrefix(file, "lib/python") || strings.Contains(file, "/lib/python")
}

// frame is the hook of PEP 523: every Python frame passes here while compiled code is called.
func (d *Dynamo) frame(in *vm.Interp, f *vm.Frame) (vm.Object, error) {
	v, err := d.evaluate(in, f)
	if d.lone != nil && d.lone.frame != f { // what a frame within had alone, this one may have kept
		*d.lone = result{}
	}
	return v, err
}

func (d *Dynamo) evaluate(in *vm.Interp, f *vm.Frame) (vm.Object, error) {
	if tr := d.active; tr != nil {
		if tr.depth == 0 && !opaque(f) {
			f.Trace = tr.step
		}
		return in.EvalFrame(f)
	}
	if d.T.DispatchModes() > 0 {
		return in.EvalFrame(f) // what performs the operators is not looked into
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
	if len(stack) == 0 {
		return 0
	}
	return stack[len(stack)-1].Line
}

// skipped frames are never captured: the library itself, module bodies, generators.
func (d *Dynamo) skipped(f *vm.Frame) bool {
	c := f.Code
	if strings.HasSuffix(c.Name, "comp>") {
		return true // a part of the function around it
	}
	if c.Filename == "<string>" && (c.Name == "__new__" || c.Name == "__create_fn__") {
		return true // the constructor of a named tuple, or what makes methods of a dataclass
	}
	if f.Func == nil || c.Flags&code.Generator != 0 || c.Flags&code.NewLocals == 0 || c.Name == "<module>" || f.Locals != nil {
		return true
	}
	if d.rules.skips(c.Filename) || marked(f.Func, "_torchdynamo_disable") || marked(f.Func, "_torchdynamo_disable_once") {
		return true
	}
	if enteredFiles.has(c.Filename) {
		return false
	}
	if strings.HasPrefix(c.Filename, "torch/") {
		// The library is traced through, never entered: only optimizers and the wrapper around a library module are
		// frames of their own. The switch of the grad mode around an optimizer's step does nothing but break graphs.
		inner := c.Filename == "torch/_dynamo/external_utils.py" && c.Name == "inner"
		return !inner && !strings.HasPrefix(c.Filename, "torch/optim/") || c.Filename == "torch/optim/lr_scheduler.py" || c.Name == "_use_grad"
	}
	return d.IsLibrary(c.Filename)
}

// compiled runs a frame through its compiled code, compiling it first when none fits.
func (d *Dynamo) compiled(f *vm.Frame) (vm.Object, error) {
	key := f.Code.Code
	st := d.codes[key]
	if st != nil && st.skip {
		return d.plain(f)
	}
	for i, v := range f.LocalsPlus {
		if p, ok := v.(*torch.Tensor); ok && standsIn(p.T) {
			return d.plain(f) // it has no data to run compiled code on
		}
		if f.PC > 0 { // behind a break; what a program calls a frame with is its own, and is not read ahead
			f.LocalsPlus[i] = replayable(v)
		}
	}
	lookup := d.T.Region("TorchDynamo Cache Lookup")
	e := d.envOf(f)
	var reasons []Unfit
	if st != nil {
		for i := len(st.entries) - 1; i >= 0; i-- {
			en := st.entries[i]
			ok, why := en.guards.Check(e)
			if ok && (en.ctx == d.ctx || sameBackend(en.ctx.Backend, d.ctx.Backend)) {
				st.entries = append(slices.Delete(slices.Clone(st.entries), i, i+1), en) // what ran last is tried first
				lookup()
				return d.runEntry(en, f, e)
			}
			reasons = append(reasons, Unfit{Entry: en.id, Failure: why, failed: en.ctx.GuardFailed})
		}
	}
	lookup()
	if st != nil && st.full {
		return d.beyondLimit(f, st)
	}
	if d.ctx.RunOnly || d.stance.name == "eager_on_recompile" || d.filtered(f.Code.Name) {
		return d.plain(f)
	}
	if d.stance.name == "fail_on_recompile" {
		return nil, d.In.Errorf(d.In.Exc.RuntimeError, "Detected recompile when torch.compile stance is 'fail_on_recompile'")
	}
	if st == nil && !d.always[key] && !mayCompute(f) {
		if !d.ctx.FullGraph {
			d.count("frames", "total", 1)
			d.count("frames", "ok", 1)
		}
		d.codes[key] = &codeState{id: -1, skip: true} // whatever it is given later
		return d.plain(f)
	}
	if st == nil {
		st = &codeState{id: d.nextID}
		d.nextID++
		d.codes[key] = st
	}
	return d.compile(f, st, e, reasons)
}

// beyondLimit runs a frame for which there may be no more code as plain Python. Frames that it calls run what was compiled for them, and, unless
// the settings say otherwise, are not compiled either. Where the frame has to be one graph that is an error.
func (d *Dynamo) beyondLimit(f *vm.Frame, st *codeState) (vm.Object, error) {
	if d.ctx.FullGraph && st.limit != "" {
		d.count("unimplemented", st.limit+" reached", 1)
		return nil, d.raise("torch._dynamo.exc", "RecompileLimitExceeded", vm.Str(st.limit+" reached"))
	}
	recursive, err := d.configBool("skip_code_recursive_on_cache_limit_hit")
	if err != nil {
		return nil, err
	}
	if recursive && !d.ctx.RunOnly {
		run := *d.ctx
		run.RunOnly = true
		defer d.push(func(u *underway, _ *torch.Ambient) { u.ctx = &run })()
	}
	return d.plain(f)
}

// sameBackend reports whether code that one backend made may run where another is asked for. Functions of a script are told apart
// by identity: two may have one name.
func sameBackend(a, b Backend) bool {
	if _, native := a.Fn.(*vm.Builtin); !native && a.Fn != nil && b.Fn != nil && a.Fn != b.Fn {
		return false
	}
	return a.Name == b.Name
}

// envOf is what sources are read from when f is about to run.
func (d *Dynamo) envOf(f *vm.Frame) *source.Env {
	e := &source.Env{In: d.In, Modes: d.T.Functions.Stack, Locals: make(map[string]vm.Object, len(f.LocalsPlus)+f.SP), Globals: f.Globals}
	for i, v := range f.LocalsPlus {
		if c, ok := v.(*vm.Cell); ok {
			e.AddCell(f.Code.LocalsPlusName(i), c)
			v = c.V
		}
		if v != nil {
			e.Locals[f.Code.LocalsPlusName(i)] = v
		}
	}
	if f.Func != nil {
		for i, c := range f.Func.Closure {
			if i < len(f.Code.FreeVars) {
				e.AddCell(f.Code.FreeVars[i], c)
				if c.V != nil {
					e.Locals[f.Code.FreeVars[i]] = c.V
				}
			}
		}
	}
	k := 0
	for _, v := range f.Stack[:f.SP] {
		if v != nil {
			e.Locals[fmt.Sprintf("___stack%d", k)] = v
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

// kept reports whether a node is still in the graph.
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

// Phase begins a part of the compiler, which compile_times() lists by when it first began; the function that it gives back books the time.
func (d *Dynamo) Phase(name string) (end func()) {
	start := time.Now()
	i := slices.IndexFunc(d.times, func(p *phase) bool { return p.name == name })
	if i < 0 {
		i = len(d.times)
		d.times = append(d.times, &phase{name: name})
	}
	p := d.times[i]
	d.structuredEvent(name, "B", nil)
	shown := d.T.Region(name + " (dynamo_timed)")
	return func() {
		shown()
		p.seconds = append(p.seconds, time.Since(start).Seconds())
		d.structuredEvent(name, "E", nil)
	}
}

// timed runs f and books its time.
func (d *Dynamo) timed(name string, f func() error) error {
	defer d.Phase(name)()
	return f()
}

// globalState is what ___check_global_state() compares: modes of the whole process that decide what operators do.
type globalState struct {
	grad    bool
	blocks  torch.BlockModes
	modes   torch.Modes
	threads int
	dtype   tensor.DType

	functions torch.FunctionOff
}

// globalState is the state now, but for the grad mode, which the caller says.
func (d *Dynamo) globalState(grad bool) globalState {
	return globalState{grad, d.T.BlockModes, d.T.Modes, parallel.Threads(), d.T.DefaultDType, d.T.Functions.Off}
}

// changed names what is not as it was, as PyTorch does, each name with a space behind it.
func (s globalState) changed(now globalState) string {
	var b strings.Builder
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"grad_mode", s.grad != now.grad},
		{"autocast", s.blocks.Autocast != now.blocks.Autocast},
		{"deterministic_algorithms", s.modes.Deterministic != now.modes.Deterministic},
		{"deterministic_algorithms_warn_only", s.modes.WarnOnly != now.modes.WarnOnly},
		{"allow_tf32", s.modes.MatmulPrecision != now.modes.MatmulPrecision},
		{"num_threads", s.threads != now.threads},
		{"default_dtype", s.dtype != now.dtype},
		{"torch_function", s.functions != now.functions},
		{"inference_mode", s.blocks.Inference != now.blocks.Inference},
	} {
		if f.is {
			b.WriteString(f.name + " ")
		}
	}
	return b.String()
}

// ambientGuards are the facts that every capture relies on.
func ambientGuards(d *Dynamo, before globalState, modes []vm.Object) []*guard.Guard {
	return []*guard.Guard{
		d.deviceGuard(),
		guard.New(guard.GlobalState, "___check_global_state()", nil, func(*source.Env, vm.Object) (bool, guard.Failure) {
			now := d.globalState(d.T.Grad.Enabled())
			if now == before {
				return true, guard.Failure{}
			}
			cause := guard.Other
			switch {
			case now.grad != before.grad:
				cause = guard.GradVaries
			case now.blocks.Autocast != before.blocks.Autocast:
				cause = guard.AutocastVaries
			}
			return false, guard.Failure{Text: "GLOBAL_STATE changed: " + before.changed(now), Cause: cause}
		}),
		d.modesGuard(modes),
		d.levelsGuard(),
	}
}

// levelsGuard holds while the transformations that are under way are those of now. It is shown where there are any.
func (d *Dynamo) levelsGuard() *guard.Guard {
	shown := func() string {
		s, err := d.In.Repr(d.T.LevelStates())
		if err != nil {
			return err.Error()
		}
		return "torch._functorch.pyfunctorch.compare_functorch_state(" + s + ")"
	}
	before := shown()
	g := guard.New(guard.LambdaGuard, before, nil, func(*source.Env, vm.Object) (bool, guard.Failure) {
		if d.T.Levels.Top() == nil && strings.HasSuffix(before, "([])") {
			return true, guard.Failure{}
		}
		return shown() == before, guard.Failure{}
	})
	if d.T.Levels.Top() == nil {
		g.Hide()
	}
	return g
}

// deviceGuard holds while torch.set_default_device has the device that it has now.
func (d *Dynamo) deviceGuard() *guard.Guard {
	device := d.defaultDevice()
	text := "None"
	if device != nil {
		if r, err := d.In.Repr(device); err == nil {
			text = r
		}
	}
	return guard.New(guard.DefaultDevice, "utils_device.CURRENT_DEVICE == "+text, nil, func(*source.Env, vm.Object) (bool, guard.Failure) {
		now := d.defaultDevice()
		if device == nil || now == nil {
			return device == nil && now == nil, guard.Failure{}
		}
		same, err := d.In.Eq(device, now)
		return same && err == nil, guard.Failure{}
	})
}

// defaultDevice is what torch.set_default_device has set; nil for nothing.
func (d *Dynamo) defaultDevice() vm.Object {
	m, ok := d.In.Modules.GetStr("torch.utils._device")
	if !ok {
		return nil
	}
	mod, ok := m.(*vm.Module)
	if !ok {
		return nil
	}
	v, ok := mod.Dict.GetStr("CURRENT_DEVICE")
	if !ok || v == vm.None {
		return nil
	}
	return v
}

// modesGuard holds while as many modes of __torch_function__ are entered, of the same classes in the same order.
func (d *Dynamo) modesGuard(modes []vm.Object) *guard.Guard {
	classes := make([]*vm.Type, len(modes))
	for i, m := range modes {
		classes[i] = m.Type()
	}
	return guard.New(guard.TorchFunctionModeStack, "___check_torch_function_mode_stack()", nil, func(*source.Env, vm.Object) (bool, guard.Failure) {
		now := d.T.Functions.Stack
		if len(now) != len(classes) {
			return false, guard.Failure{}
		}
		for i, m := range now {
			if m.Type() != classes[i] {
				return false, guard.Failure{}
			}
		}
		return true, guard.Failure{}
	})
}

// uniqueName makes a name that no other part of this process's compiled code has. Guards show some of them.
func (d *Dynamo) uniqueName(prefix string) string {
	n := d.unique
	d.unique++
	return fmt.Sprintf("%s_%d", prefix, n)
}

// config reads a setting of torch._dynamo.config, as the program has it now.
func (d *Dynamo) config(name string) (vm.Object, error) {
	defer d.T.Push(func(a *torch.Ambient) { a.FrameHook, a.CallHook = nil, nil })() // a trace does not look at how settings are read
	m, err := d.In.Import("torch._dynamo.config")
	if err != nil {
		return nil, err
	}
	return d.In.GetAttr(m, name)
}

// configBool is config for a setting that is on or off.
func (d *Dynamo) configBool(name string) (bool, error) {
	v, err := d.config(name)
	if err != nil {
		return false, err
	}
	return d.In.Truth(v)
}

// configInt is config for a number; def where the setting is none.
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

package stack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/accuracy"
	"whittle/aot"
	"whittle/aot/autograd"
	"whittle/aot/decomp"
	"whittle/capture"
	"whittle/capture/fx"
	"whittle/capture/fx/choice"
	"whittle/capture/fx/interp"
	"whittle/capture/numpy"
	"whittle/capture/python/stdlib"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/aten"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
	"whittle/lowering"
	"whittle/replay"
	"whittle/repros"
	"whittle/tools/whittle/startcode"
)

// Session is one interpreter with the whole stack under it.
type Session struct {
	In     *vm.Interp
	Torch  *torch.Torch
	Dynamo *capture.Dynamo
	// CacheDir holds compiled kernels.
	CacheDir string
	// AOT sees every graph that goes to a backend compiler.
	AOT func(kind string, gm *fx.GraphModule)
	// Begin is told of each compilation before it starts; what it returns is called at its end. nil => nobody.
	Begin func(f *Failure) (end func())
	// OnFailure is told of each failure after aot; nil => nobody.
	OnFailure func(f *Failure)
	// InRepro says that the script is a repro file which is only to be run: its failure is known already.
	InRepro bool
	// Failure is the first backend failure, nil for none.
	Failure *Failure
	// TraceLoops has the loops of each graph, before and after they were put together, in traces, too. PyTorch 2.6 has no such records; later ones have.
	TraceLoops bool
	// Noted is told what came of something that a mode asks for, and in which compilation; nil => nobody.
	Noted func(compilation, text string)
	// Choices says which optional steps of compilers are taken; nil => all.
	Choices *choice.Matcher

	grad *gradient
	ctx  context.Context

	reading              bool               // the trace of a function that aot makes knows the numbers in tensors
	sizing               torch.SymbolicMode // what knows the symbolic sizes of the function on its way through aot; nil => they are plain
	aotCompiles, lowered int                // functions that went through aot, graphs that were lowered: logs number them
	pristine             vm.Object          // see Keep
	unkept               error              // likewise
	debugDir             string
	debug                debugTrace
	builds               *conc.WaitGroup // kernels that are compiled while tiles run; nil => none are
	stop                 func()          // ends those
	compiling            int             // the function that goes through aot right now
	lastAccuracy         bool            // the failure under way is one of accuracy
}

// Failure is a graph whose compilation failed, at the stage nearest to the cause.
type Failure struct {
	Stage    string // "aot" or "dynamo"
	Backend  string
	Graph    *fx.GraphModule
	Inputs   []*tensor.Tensor // as they were before the graph ran; real where known, fake otherwise
	Kind     string           // inference, forward, backward
	Err      error
	Fn       vm.Object // the backend's callable, after dynamo
	Accuracy bool      // the graph compiles, and computes something else
	Running  bool      // the graph compiles, and its code raises
}

// PathVariable is the environment variable that names folders of packages, as a Python has them in its site-packages: searched after the library
// and torch, by this process and those that it starts.
const PathVariable = "WHITTLE_PATH"

// kept is the code of torch's modules and of others inside the program: each question of a search has a session of its own, and each of these imports torch.
var kept vm.KeptCode

// Ahead makes what the import of torch needs, beside the import: tables and code that are the same in all sessions. Sessions begin it themselves
// when torch is imported; who knows earlier begins it earlier.
var Ahead = sync.OnceFunc(func() {
	aten.Prepare()
	startcode.Ahead()
})

// New makes a session.
func New(ctx context.Context, cacheDir string) *Session {
	in := vm.New()
	if p := os.Getenv("PYTHONPATH"); p != "" {
		in.Path = filepath.SplitList(p)
	}
	if p := os.Getenv(PathVariable); p != "" {
		for _, dir := range filepath.SplitList(p) {
			if at, err := filepath.Abs(dir); err == nil {
				dir = at
			}
			in.Site = append(in.Site, dir)
		}
	}
	in.CodeShipped, in.CodeKept = startcode.Code, &kept
	in.Ahead = map[string]func(){"torch": Ahead}
	if cacheDir != "" {
		in.CodeCache = filepath.Join(cacheDir, "code")
	}
	stdlib.Register(in)
	numpy.Register(in)
	s := &Session{In: in, CacheDir: cacheDir, grad: newGradient(), ctx: ctx, stop: func() {}}
	s.Torch = torch.New(in, s.grad)
	s.Torch.Generator = aten.DefaultGenerator
	s.Dynamo = capture.New(in, s.Torch)
	s.Dynamo.Extra = s.natives
	s.Dynamo.Observe.Check = s.checkBackend
	s.Dynamo.Observe.ReplayFile = s.replayFile
	s.Dynamo.Observe.Begin = func(_ capture.Backend, gm *fx.GraphModule, _ []*tensor.Tensor) func() {
		s.Keep(gm)
		return func() {}
	}
	s.Dynamo.Register(capture.Backends{
		"eager":                      s.eager,
		"aot_eager":                  s.aotBackend(nil, false, s.interpret),
		"aot_eager_decomp_partition": s.aotBackend(decomp.Inductor, false, s.interpret),
		"inductor":                   s.aotBackend(decomp.Inductor, true, s.inductor),
	})
	return s
}

// CompileInBackground has kernels compiled while the first run of a graph is on tiles, unless something asks for generated code at once: a setting, or a
// search for failures of it. Close ends what is compiled.
func (s *Session) CompileInBackground() {
	s.builds = conc.NewWaitGroup()
	s.ctx, s.stop = context.WithCancel(s.ctx)
}

// Close waits until nothing is compiled any more, and has removed its files.
func (s *Session) Close() {
	s.stop()
	if s.builds != nil {
		s.builds.Wait()
	}
}

// eager runs the captured graph as it is.
func (s *Session) eager(gm vm.Object, _ []vm.Object) (vm.Object, error) {
	return s.In.GetAttr(gm, "forward")
}

// compiler turns an aten graph into a callable.
type compiler func(gm *fx.GraphModule, kind string) (aot.Callable, error)

// interpret runs an aten graph node by node on the eager kernels.
func (s *Session) interpret(gm *fx.GraphModule, _ string) (aot.Callable, error) {
	return func(inputs []aten.Value) ([]aten.Value, error) { return Interpret(s.ctx, gm, inputs) }, nil
}

// Interpret runs an aten graph on the eager kernels.
func Interpret(ctx context.Context, gm *fx.GraphModule, inputs []aten.Value) ([]aten.Value, error) {
	out, err := fx.Run(ctx, gm, inputs, interp.Aten(ctx, aten.Eager))
	if err != nil {
		return nil, err
	}
	if l, ok := out.([]any); ok {
		return l, nil
	}
	return []aten.Value{out}, nil
}

// inductor lowers an aten graph to generated code.
func (s *Session) inductor(gm *fx.GraphModule, kind string) (aot.Callable, error) {
	cfg, err := s.loweringConfig()
	if err != nil {
		return nil, err
	}
	defer s.begin(&Failure{Stage: "aot", Backend: "inductor", Graph: gm, Kind: kind})()
	way, compiler := "FORWARDS", "fw_compiler_base"
	if kind == "backward" {
		way, compiler = "BACKWARDS", "bw_compiler"
	}
	defer s.Dynamo.Phase("compile_fx.<locals>." + compiler)()
	defer s.Dynamo.Phase("compile_fx_inner")()
	done := s.logLowering(way, gm)
	traced, err := s.traceGraph(gm, kind, s.compiling)
	if err != nil {
		return nil, fmt.Errorf("writing debug files: %w", err)
	}
	cfg.Phase = s.Dynamo.Phase
	if err := s.wantsCUDAGraphs(kind); err != nil {
		return nil, err
	}
	if _, after, _ := s.ReproConfig(); s.builds != nil && s.Choices == nil && cfg.InjectRelu == "" && cfg.InjectLog1p == "" && after == "" {
		cfg.Background = s.builds
	}
	c, err := lowering.Compile(s.ctx, gm, cfg)
	if err == nil {
		done(c)
		if err := traced(c); err != nil {
			return nil, fmt.Errorf("writing debug files: %w", err)
		}
	}
	if err != nil {
		s.fail(&Failure{Stage: "aot", Backend: "inductor", Graph: gm, Kind: kind, Err: err})
		return nil, s.loweringError(err)
	}
	if level, after, _ := s.ReproConfig(); level >= 4 && after == "aot" {
		return s.checked(gm, kind, c.Run), nil
	}
	run := func(inputs []aten.Value) ([]aten.Value, error) {
		out, err := c.Run(inputs)
		if be := (*lowering.BuildError)(nil); errors.As(err, &be) {
			s.fail(&Failure{Stage: "aot", Backend: "inductor", Graph: gm, Kind: kind, Err: be.Err})
			return nil, s.loweringError(be.Err)
		}
		return out, err
	}
	return s.announced(gm, kind, run, c.Tried), nil
}

// announced tells of the first run of a compiled graph before it starts, and of the first that runs generated code: that may take the process down.
func (s *Session) announced(gm *fx.GraphModule, kind string, run aot.Callable, generated func() bool) aot.Callable {
	if s.Begin == nil {
		return run
	}
	return func(inputs []aten.Value) ([]aten.Value, error) {
		if generated() {
			return run(inputs)
		}
		f := &Failure{Stage: "aot", Backend: "inductor", Graph: gm, Kind: kind}
		for _, v := range inputs {
			t, _ := v.(*tensor.Tensor)
			f.Inputs = append(f.Inputs, t)
		}
		defer s.begin(f)()
		return run(inputs)
	}
}

// checked compares the first run of a compiled graph with eager, as TORCHDYNAMO_REPRO_LEVEL=4 asks after aot.
func (s *Session) checked(gm *fx.GraphModule, kind string, run aot.Callable) aot.Callable {
	done := false
	return func(inputs []aten.Value) ([]aten.Value, error) {
		if done {
			return run(inputs)
		}
		done = true
		ref, err := Interpret(s.ctx, gm, cloneAll(inputs))
		if err != nil {
			return nil, err
		}
		copies := cloneAll(inputs)
		out, err := run(inputs)
		if err != nil {
			return nil, err
		}
		if o := sameAsEager(s.ctx, gm, copies, ref, out); o.Status != replay.Pass {
			f := &Failure{Stage: "aot", Backend: "inductor", Graph: gm, Kind: kind, Err: errors.New(o.Message), Accuracy: true}
			for _, v := range copies {
				t, _ := v.(*tensor.Tensor)
				f.Inputs = append(f.Inputs, t)
			}
			s.fail(f)
			return nil, s.accuracyError()
		}
		return out, nil
	}
}

// accuracyError is PyTorch's AccuracyError.
func (s *Session) accuracyError() error {
	m, err := s.In.Import("torch._dynamo.debug_utils")
	if err != nil {
		return err
	}
	cls, err := s.In.GetAttr(m, "AccuracyError")
	if err != nil {
		return err
	}
	return s.In.RaiseObj(cls.(*vm.Type), vm.Str("Bad accuracy detected"))
}

// GraphName is what PyTorch calls the graph after aot that is being compiled; kind is inference, forward or backward.
func (s *Session) GraphName(kind string) string {
	return fmt.Sprintf("model__%d_%s_%d", max(s.compiling, 0), kind, s.debug.graphs)
}

// Keep notes the graph that a backend is about to compile, as captured: a backend may change what it is given, and with
// TORCHDYNAMO_REPRO_LEVEL=4 its result is compared with this.
func (s *Session) Keep(gm *fx.GraphModule) { s.pristine, s.unkept = s.Torch.NewGraphModule(gm, nil) }

// checkBackend compares a backend's callable with the graph, as level 4 asks after dynamo.
func (s *Session) checkBackend(gm vm.Object, inputs []vm.Object, compiled vm.Object) error {
	if level, after, _ := s.ReproConfig(); level < 4 || after != "dynamo" {
		return nil
	}
	if s.pristine == nil || s.unkept != nil {
		return s.unkept
	}
	values := func(f func(args []vm.Object) (vm.Object, error)) (any, error) {
		args, err := s.copies(inputs)
		if err != nil {
			return nil, err
		}
		o, err := f(args)
		if err != nil {
			return nil, err
		}
		v, _ := s.Torch.Value(o)
		return v, nil
	}
	res, err := values(func(args []vm.Object) (vm.Object, error) { return s.In.Call(compiled, args, nil) })
	if err != nil {
		return err
	}
	ref, err := values(func(args []vm.Object) (vm.Object, error) { return s.In.Call(s.pristine, args, nil) })
	if err != nil {
		return err
	}
	if rep := accuracy.Compare(ref, res, nil, accuracy.Default()); !rep.Same {
		s.lastAccuracy = true
		return s.accuracyError()
	}
	return nil
}

// RunGraph runs a copy of a captured graph eagerly on copies of its arguments.
func (s *Session) RunGraph(gm *fx.GraphModule, args []vm.Object) error {
	c, _ := gm.Clone()
	obj, err := s.Torch.NewGraphModule(c, nil)
	if err != nil {
		return err
	}
	copies, err := s.copies(args)
	if err != nil {
		return err
	}
	_, err = s.In.Call(obj, copies, nil)
	return err
}

// Snapshot copies the arguments of a graph that is about to write to them. The copies are leaves, and require gradients where the arguments do.
func (s *Session) Snapshot(args []vm.Object) ([]vm.Object, error) {
	copies, err := s.copies(args)
	if err != nil {
		return nil, err
	}
	for i, o := range args {
		t, ok := s.tensor(o)
		if ok && s.RequiresGrad(t) {
			c, _ := s.tensor(copies[i])
			if err := s.grad.SetRequiresGrad(c, true); err != nil {
				return nil, err
			}
		}
	}
	return copies, nil
}

func (s *Session) tensor(o vm.Object) (*tensor.Tensor, bool) {
	v, _ := s.Torch.Value(o)
	t, ok := v.(*tensor.Tensor)
	return t, ok
}

// Tensors are the tensors among arguments; the others are nil.
func (s *Session) Tensors(args []vm.Object) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(args))
	for i, o := range args {
		out[i], _ = s.tensor(o)
	}
	return out
}

// copies are arguments with storages of their own, which they share as the arguments do.
func (s *Session) copies(args []vm.Object) ([]vm.Object, error) {
	vals := make([]any, len(args))
	for i, o := range args {
		v, ok := s.Torch.Value(o)
		if !ok {
			return nil, fmt.Errorf("an argument is a %s", o.Type().Name)
		}
		vals[i] = v
	}
	out := make([]vm.Object, len(args))
	for i, v := range cloneAll(vals) {
		out[i] = s.Torch.Object(v)
	}
	return out, nil
}

func (s *Session) fail(f *Failure) {
	if s.Failure == nil {
		s.Failure = f
	}
	if s.OnFailure != nil {
		s.OnFailure(f)
	}
}

// loweringError is the Python exception of a failed compilation.
func (s *Session) loweringError(err error) error {
	class := "LoweringException"
	var le *lowering.LoweringError
	var ce *lowering.CompileError
	switch {
	case errors.As(err, &ce):
		class = "CppCompileError"
	case !errors.As(err, &le):
		return err
	}
	m, ierr := s.In.Import("torch._inductor.exc")
	if ierr != nil {
		return ierr
	}
	cls, ierr := s.In.GetAttr(m, class)
	if ierr != nil {
		return ierr
	}
	return s.In.RaiseObj(cls.(*vm.Type), vm.Str(err.Error()))
}

func (s *Session) loweringConfig() (lowering.Config, error) {
	cfg := lowering.Config{CacheDir: s.CacheDir, Choices: s.Choices}
	m, err := s.In.Import("torch._inductor.config")
	if err != nil {
		return cfg, err
	}
	cpp, err := s.In.GetAttr(m, "cpp")
	if err != nil {
		return cfg, err
	}
	for name, p := range map[string]*string{"inject_relu_bug_TESTING_ONLY": &cfg.InjectRelu, "inject_log1p_bug_TESTING_ONLY": &cfg.InjectLog1p} {
		v, err := s.In.GetAttr(cpp, name)
		if err != nil {
			return cfg, err
		}
		*p, _ = vm.AsStr(v)
	}
	for _, name := range []string{"max_autotune", "max_autotune_pointwise"} {
		on, err := s.isOn(m, name)
		if err != nil {
			return cfg, err
		}
		if on {
			cfg.Tuned = s.tuned
		}
	}
	v, err := s.In.GetAttr(cpp, "threads")
	if err != nil {
		return cfg, err
	}
	if n, ok := vm.AsInt(v); ok && n > 0 {
		cfg.Threads = int(n)
	} else {
		cfg.Threads = parallel.Threads()
	}
	return cfg, nil
}

// aotBackend is a backend that goes through ahead-of-time autograd.
func (s *Session) aotBackend(dec map[string]aot.Decomposition, joint bool, comp compiler) func(gm vm.Object, inputs []vm.Object) (vm.Object, error) {
	return func(gm vm.Object, inputs []vm.Object) (vm.Object, error) {
		native := s.Torch.NativeGraph(gm)
		if native == nil {
			return nil, s.In.Errorf(s.In.Exc.TypeError, "this backend compiles a torch.fx.GraphModule, not %s", gm.Type().Name)
		}
		if needsData(native.GM) {
			if run, err := s.byCounting(native, inputs, dec, joint); run != nil || err != nil {
				return run, err
			}
			return s.eager(gm, inputs)
		}
		defer s.Dynamo.Phase("create_aot_dispatcher_function")()
		if len(realInputs(native.GM)) > 0 {
			return s.bySizes(native, inputs, dec, joint, comp)
		}
		for _, o := range inputs {
			if _, ok := o.(*torch.Scalar); ok {
				return s.bySizes(native, inputs, dec, joint, comp)
			}
		}
		return s.aotCompile(native, inputs, dec, joint, comp, s.watching())
	}
}

// aotCompile sends a graph through ahead-of-time autograd.
func (s *Session) aotCompile(native *torch.GraphModule, inputs []vm.Object, dec map[string]aot.Decomposition, joint bool, comp compiler, w *watch) (vm.Object, error) {
	ins, err := s.aotInputs(inputs)
	if err != nil {
		return nil, err
	}
	id := s.Dynamo.CompileID()
	compile := func(gm *fx.GraphModule, kind string) (aot.Callable, error) {
		defer s.Dynamo.Within(id)() // a backward is compiled late
		s.compiling = w.function
		return comp(gm, kind)
	}
	opt := s.backendOptions(compile, w, dec, joint)
	opt.Lone = true
	opt.MutationsReturned = dec != nil && !joint // of PyTorch's backends this one does not ask to keep them
	run, _, err := s.aotCallable(s.function(native), ins, opt)
	return run, err
}

// aotInputs are the arguments of a function to compile.
func (s *Session) aotInputs(args []vm.Object) ([]aot.Input, error) {
	ins := make([]aot.Input, len(args))
	for i, o := range args {
		v, ok := s.Torch.Value(o)
		if !ok {
			return nil, s.In.Errorf(s.In.Exc.TypeError, "graph input %d has type %s", i, o.Type().Name)
		}
		ins[i].Value = v
		if t, ok := v.(*tensor.Tensor); ok {
			ins[i].RequiresGrad = s.grad.RequiresGrad(t)
		}
	}
	return ins, nil
}

// aotOptions are those that every function of this session is compiled with.
func (s *Session) aotOptions(compile aot.Compiler, w *watch) aot.Options {
	return aot.Options{Described: w.described, Phase: s.Dynamo.Phase, Composite: decomp.Composite, Choices: s.Choices, Compiler: s.tracedCompiler(compile), Grad: s.grad.mode, Eager: s.grad.eager, Observe: w.compiled,
		Graphs: w.made, Origin: s.origin, Donates: func() bool { return s.configured("torch._functorch.config", "donated_buffer") }, Numbers: w.numbers, Region: func() int { return s.Torch.Checkpoint }, Wrapper: s.Torch.PerformsItself,
		Tracing: func(m *autograd.GradMode) { s.Torch.GradSwitch = func(on bool) { m.Enabled = on } }}
}

// tracedCompiler makes what a compiler does with a backward, which waits until it is needed, part of the compilation that made the graph.
func (s *Session) tracedCompiler(compile aot.Compiler) aot.Compiler {
	id := s.Dynamo.CompileID()
	if !s.Dynamo.Structured() {
		return compile
	}
	return func(gm *fx.GraphModule, kind string) (aot.Callable, error) {
		if kind == "backward" && s.Dynamo.CompileID() == "" {
			defer s.Dynamo.Within(id)()
			defer s.Dynamo.StructuredBackward(time.Now())
			defer s.Dynamo.Event("entire_backward_compile", fx.Fields{{Name: "fn_name", Value: "backward._backward_impl"}})()
		}
		return compile(gm, kind)
	}
}

// backendOptions are aotOptions with what a backend wants.
func (s *Session) backendOptions(compile aot.Compiler, w *watch, dec map[string]aot.Decomposition, joint bool) aot.Options {
	opt := s.aotOptions(compile, w)
	opt.Decompositions, opt.JointPasses, opt.SameStream = s.decompositions(dec), joint, s.fallbackRandom()
	return opt
}

// aotCallable compiles a function, and gives what runs it, and which inputs have to be the same tensor for that, as aot.Compiled.Repeated.
func (s *Session) aotCallable(f aot.Function, ins []aot.Input, opt aot.Options) (run vm.Object, repeated []int, err error) {
	c, err := s.traced(func() (*aot.Compiled, error) { return aot.Compile(f, ins, opt) })
	if err != nil {
		return nil, nil, s.Torch.Error(err)
	}
	return s.callable(c), c.Repeated(), nil
}

// traced is what compile makes, which traces functions.
func (s *Session) traced(compile func() (*aot.Compiled, error)) (*aot.Compiled, error) {
	defer s.Torch.Push(func(*torch.Ambient) {})() // Tracing sets GradSwitch
	return compile()
}

// tracedForAllSizes is traced for a function with symbolic sizes.
func (s *Session) tracedForAllSizes(f aot.Function, z aot.Sizes, opt aot.Options) (*aot.Compiled, error) {
	defer func(before bool) { s.reading = before }(s.reading)
	s.reading = len(z.Unknown) > 0
	return s.traced(func() (*aot.Compiled, error) { return aot.CompileForAllSizes(f, z, opt) })
}

// callable runs a compiled function. It says of its results, as a whole, whether somebody else has them.
func (s *Session) callable(c *aot.Compiled) vm.Object {
	lone := c.Lone()
	return &vm.Builtin{Name: "compiled_fn", Module: "torch._functorch.aot_autograd", Max: -1, Fresh: lone, Fn: func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		vals := make([]aten.Value, len(args))
		for i, a := range args {
			v, ok := s.Torch.Value(a)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "compiled function got an argument of type %s", a.Type().Name)
			}
			vals[i] = v
		}
		// What autocast changes was decided when the graph was traced.
		defer s.Torch.KeepModes()()
		s.Torch.Autocast.Enabled = false
		outs, err := c.Run(vals)
		if err != nil {
			return nil, s.Torch.Error(err)
		}
		results := s.Torch.Object(outs)
		if in.Made = nil; lone {
			in.Made = results
		}
		return results, markWeakly(in, results, c.Dynamic())
	}}
}

// markWeakly notes on the results of compiled code which of their dimensions had a symbol for a size, dims: where they come into another graph those
// have one again. Where no result had one, nothing is noted.
func markWeakly(in *vm.Interp, results vm.Object, dims [][]int) error {
	const attr = "_dynamo_weak_dynamic_indices"
	list, ok := vm.AsTuple(results)
	if !ok || !slices.ContainsFunc(dims, func(d []int) bool { return len(d) > 0 }) {
		return nil
	}
	for i, o := range list.Items {
		p, ok := o.(*torch.Tensor)
		if !ok || i >= len(dims) {
			continue
		}
		set := vm.NewSet()
		var before []vm.Object
		if old, ok := p.AttrDict(true).GetStr(attr); ok {
			var err error
			if before, err = in.IterAll(old); err != nil {
				return err
			}
		}
		for _, k := range dims[i] {
			before = append(before, vm.MakeInt(int64(k)))
		}
		for _, x := range before {
			if err := set.Add(in, x); err != nil {
				return err
			}
		}
		p.AttrDict(true).SetStr(attr, set)
	}
	return nil
}

// dynamicResults are the dimensions of each result of a captured graph that have a symbol for a size.
func dynamicResults(g *fx.Graph) [][]int {
	out := g.OutputNode()
	if out == nil || len(out.Args) == 0 {
		return nil
	}
	results := []fx.Arg{out.Args[0]}
	switch r := out.Args[0].(type) {
	case fx.Tuple:
		results = r
	case fx.List:
		results = r
	}
	var dims [][]int
	for _, r := range results {
		var at []int
		n, ok := r.(*fx.Node)
		if !ok {
			n = &fx.Node{}
		}
		if t, ok := n.Val.(*tensor.Tensor); ok && t != nil {
			if m, ok := t.Mode.(torch.FakeMode); ok {
				for k, e := range expressions(m.Extents(t, false)) {
					if !e.IsConst() {
						at = append(at, k)
					}
				}
			}
		}
		dims = append(dims, at)
	}
	return dims
}

// decompositions is dec, less the random operators where fallback_random is set: they draw eager's numbers then.
func (s *Session) decompositions(dec map[string]aot.Decomposition) map[string]aot.Decomposition {
	if dec == nil || !s.fallbackRandom() {
		return dec
	}
	out := maps.Clone(dec)
	maps.DeleteFunc(out, func(name string, _ aot.Decomposition) bool {
		op := aten.Lookup(name)
		return op != nil && op.Facts().Effect == aten.Random && !strings.Contains(name, "_like.") // which become rand, randn
	})
	return out
}

// fallbackRandom reads torch._inductor.config.fallback_random.
func (s *Session) fallbackRandom() bool {
	return s.configured("torch._inductor.config", "fallback_random")
}

// configured reports whether a setting of a module is on.
func (s *Session) configured(module, name string) bool {
	m, err := s.In.Import(module)
	if err != nil {
		return false
	}
	v, err := s.In.GetAttr(m, name)
	if err != nil {
		return false
	}
	on, err := s.In.Truth(v)
	return err == nil && on
}

// tracingInto makes what graphs do beside calling operators known to d, a trace of operators: torch.cond, functions with gradients
// of their own, and tensors made from numbers.
func (s *Session) tracingInto(d aten.Dispatcher, a *torch.Ambient) {
	a.Dispatch, a.Reads = d, s.reading
	a.Cond = func(pred *tensor.Tensor, branches [2]*torch.GraphModule, operands []aten.Value) ([]aten.Value, error) {
		return aot.Cond(d, pred, operands, [2]aot.Function{s.function(branches[0]), s.function(branches[1])})
	}
	a.Record = func(name string, ins, outs []*tensor.Tensor, apply func([]*tensor.Tensor) ([]*tensor.Tensor, error)) error {
		lift, enabled := s.Torch.Lift, s.grad.Enabled()
		return aot.RecordFunction(d, name, ins, outs, func(grads []*tensor.Tensor) ([]*tensor.Tensor, error) {
			defer s.Torch.KeepModes()()
			defer s.Torch.Push(func(a *torch.Ambient) { a.Dispatch, a.Lift = d, lift })()
			s.grad.SetEnabled(enabled)
			return apply(grads)
		})
	}
	// A tensor made from numbers is a constant of the graph, and a fresh value of the program.
	a.Lift = func(x *tensor.Tensor) (*tensor.Tensor, error) {
		v, err := aten.Run(d, "aten.lift_fresh_copy.default", x)
		if err != nil {
			return nil, err
		}
		return v.(*tensor.Tensor), nil
	}
}

// function runs a captured graph on whatever dispatcher it is given.
func (s *Session) function(g *torch.GraphModule) aot.Function {
	return func(d aten.Dispatcher, inputs []aten.Value) ([]aten.Value, error) {
		t := s.Torch
		defer t.KeepModes()()
		defer s.grad.tracing(d)()
		defer t.Push(func(a *torch.Ambient) { s.tracingInto(d, a) })()
		args := make([]vm.Object, len(inputs))
		for i, v := range inputs {
			args[i] = t.Object(v)
		}
		res, err := t.RunGraph(g.GM.Graph, g.Attribute, args)
		if err != nil {
			return nil, err
		}
		v, ok := t.Value(res)
		if !ok {
			return nil, fmt.Errorf("graph returns a %s", res.Type().Name)
		}
		if l, ok := v.([]aten.Value); ok {
			return l, nil
		}
		return []aten.Value{v}, nil
	}
}

// begin announces a compilation.
func (s *Session) begin(f *Failure) func() {
	if s.Begin == nil {
		return func() {}
	}
	return s.Begin(f)
}

// natives are the functions of torch._C._dynamo that need more than capture.
func (s *Session) natives(m *vm.Module) {
	s.aotNatives(m)
	m.Func("in_repro", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		s.InRepro = true
		return vm.None, nil
	})
	m.Func("read_storage", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		path, _ := vm.AsStr(a[0])
		v, _ := s.Torch.Value(a[1])
		d, ok := v.(tensor.DType)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "read_storage() takes a path and a dtype")
		}
		data, err := repros.ReadStorage(path)
		if err != nil {
			return nil, in.OSError(err, path)
		}
		x, err := tensor.FromBytes(d, data, int64(len(data)/d.Size()))
		if err != nil {
			return nil, s.Torch.Error(err)
		}
		return s.Torch.Wrap(x), nil
	})
	m.Func("compile_inner", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		g := s.Torch.NativeGraph(a[0])
		if g == nil {
			return nil, in.Errorf(in.Exc.TypeError, "compile_fx_inner() takes a torch.fx.GraphModule, not %s", a[0].Type().Name)
		}
		args, err := in.IterAll(a[1])
		if err != nil {
			return nil, err
		}
		s.exampleValues(g.GM, args)
		vals := make([]any, len(args))
		for i, o := range args {
			vals[i], _ = s.Torch.Value(o)
		}
		if err := interp.Propagate(s.ctx, g.GM, vals); err != nil {
			return nil, s.Torch.Error(err)
		}
		run, err := s.inductor(g.GM, "inference")
		if err != nil {
			return nil, err
		}
		return &vm.Builtin{Name: "compiled_fn", Module: "torch._inductor", Max: -1, Fn: func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			args, err := in.IterAll(a[0])
			if err != nil {
				return nil, err
			}
			vals := make([]aten.Value, len(args))
			for i, o := range args {
				vals[i], _ = s.Torch.Value(o)
			}
			outs, err := run(vals)
			if err != nil {
				return nil, s.Torch.Error(err)
			}
			return s.Torch.Object(outs), nil
		}}, nil
	})
}

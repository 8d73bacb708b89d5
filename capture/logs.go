package capture

import (
	"fmt"
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// LogPoint is a place in the compiler that logs: TORCH_LOGS and torch._logging.set_logs switch it by its logger and artifact.
type LogPoint int

// Places outside of this package, for whoever wires the stack.
const (
	// LogAOTGraphs takes forward, backward and inference graphs, LogAOTJoint joint ones.
	LogAOTGraphs LogPoint = iota
	LogAOTJoint
	// LogAOTMetadata takes what is known of a function with a backward graph, LogAOTInference of one without.
	LogAOTMetadata
	LogAOTInference
	// LogPostGrad takes the graph that is lowered.
	LogPostGrad
	// LogOutputCode takes all code that was generated for a graph, LogKernelCode that of one kernel.
	LogOutputCode
	LogKernelCode
	// LogSchedule takes the groups of loops that became kernels, LogFusion the rounds of grouping, LogNoFusion why loops did not go together.
	LogSchedule
	LogFusion
	LogNoFusion
	// LogPerfHints takes what could be faster.
	LogPerfHints
	// LogDDPGraphs takes the parts of a graph that was split at bucket boundaries.
	LogDDPGraphs
	// LogInductor takes the begin and end of the work of Inductor.
	LogInductor
	// LogReproFailed takes that a backend failed for which repro_after asks, LogReproInaccurate that its results are wrong, LogReproError the same of a
	// graph after aot, LogReproDrift of its results, LogReproWritten where the launcher of a minifier was written.
	LogReproFailed
	LogReproInaccurate
	LogReproError
	LogReproDrift
	LogReproWritten

	logBreak
	logGuards
	logGuardTree
	logGuardTiming
	logVerboseGuards
	logRecompiles
	logRecompilesVerbose
	logGraph
	logGraphCode
	logGraphSizes
	logBytecode
	logSource
	logInstr
	logNodeCall
	logInlined
	logInlining
	logInlineDone
	logStart
	logSkip
	logTracing
	logTraced
	logRestart
	logCompileGraph
	logCompiler
	logCompiled
	logGraphInput
	logCreateEnv
	logCreateSymbol
	logUnbacked
	logEval
	logProduceGuards
	logTrackNumber
	logSkipGuard
	logLimit
	logSuppressed
	logScalarOutputs
	logFrames
	logTimes
	logReturn
	logBreakAgain
	logBreakSkip
	logAutoSize
	logAutoNumber
	logReplaced
	numLogPoints
)

// Levels of Python's logging.
const (
	logDebug   = 10
	logInfo    = 20
	logWarning = 30
	logError   = 40
)

// logPoints has a row for each place: the module whose logger it is, the artifact ("" for none), the level, and where in PyTorch
// 2.6 the line comes from.
var logPoints = [numLogPoints]struct {
	module, artifact string
	level            int
	line             int
}{
	LogAOTGraphs:    {"torch._functorch._aot_autograd.jit_compile_runtime_wrappers", "aot_graphs", logInfo, 592},
	LogAOTMetadata:  {"torch._functorch._aot_autograd.jit_compile_runtime_wrappers", "aot_graphs", logInfo, 486},
	LogAOTInference: {"torch._functorch._aot_autograd.dispatch_and_compile_graph", "aot_graphs", logDebug, 123},
	LogAOTJoint:     {"torch._functorch._aot_autograd.jit_compile_runtime_wrappers", "aot_joint_graph", logInfo, 404},
	LogPostGrad:     {"torch._inductor.compile_fx", "post_grad_graphs", logDebug, 910},
	LogOutputCode:   {"torch._inductor.graph", "output_code", logDebug, 2045},
	LogKernelCode:   {"torch._inductor.async_compile", "kernel_code", logInfo, 231},
	LogSchedule:     {"torch._inductor.scheduler", "schedule", logInfo, 1941},
	LogFusion:       {"torch._inductor.scheduler", "fusion", logDebug, 2372},
	LogNoFusion:     {"torch._inductor.scheduler", "fusion", logDebug, 774},
	LogPerfHints:    {"torch._inductor.compile_fx", "perf_hints", logInfo, 440},
	LogDDPGraphs:    {"torch._dynamo.backends.distributed", "ddp_graphs", logDebug, 559},
	LogInductor:     {"torch._inductor.compile_fx", "", logInfo, 747},

	LogReproFailed:     {"torch._dynamo.repro.after_dynamo", "", logWarning, 111},
	LogReproInaccurate: {"torch._dynamo.repro.after_dynamo", "", logWarning, 95},
	LogReproError:      {"torch._dynamo.repro.after_aot", "", logError, 119},
	LogReproDrift:      {"torch._dynamo.repro.after_aot", "", logWarning, 173},
	LogReproWritten:    {"torch._dynamo.debug_utils", "", logWarning, 279},

	logBreak:             {"torch._dynamo.symbolic_convert", "graph_breaks", logDebug, 435},
	logGuards:            {"torch._dynamo.guards", "guards", logDebug, 2364},
	logGuardTree:         {"torch._dynamo.guards", "guards", logDebug, 2321},
	logGuardTiming:       {"torch._dynamo.guards", "guards", logDebug, 2346},
	logVerboseGuards:     {"torch._dynamo.guards", "verbose_guards", logDebug, 2414},
	logRecompiles:        {"torch._dynamo.guards", "recompiles", logDebug, 2791},
	logRecompilesVerbose: {"torch._dynamo.guards", "recompiles_verbose", logDebug, 2789},
	logGraph:             {"torch._dynamo.output_graph", "graph", logDebug, 1353},
	logGraphCode:         {"torch._dynamo.output_graph", "graph_code", logDebug, 1353},
	logGraphSizes:        {"torch._dynamo.output_graph", "graph_sizes", logDebug, 1353},
	logBytecode:          {"torch._dynamo.convert_frame", "bytecode", logDebug, 734},
	logSource:            {"torch._dynamo.symbolic_convert", "trace_source", logDebug, 932},
	logInstr:             {"torch._dynamo.symbolic_convert", "trace_bytecode", logDebug, 955},
	logNodeCall:          {"torch._dynamo.output_graph", "trace_call", logDebug, 2017},
	logInlined:           {"torch._dynamo.symbolic_convert", "trace_call", logDebug, 3159},
	logInlining:          {"torch._dynamo.symbolic_convert", "", logDebug, 3160},
	logInlineDone:        {"torch._dynamo.symbolic_convert", "", logDebug, 3222},
	logStart:             {"torch._dynamo.convert_frame", "", logDebug, 930},
	logSkip:              {"torch._dynamo.convert_frame", "", logDebug, 1345},
	logTracing:           {"torch._dynamo.symbolic_convert", "", logInfo, 2706},
	logTraced:            {"torch._dynamo.symbolic_convert", "", logInfo, 3028},
	logRestart:           {"torch._dynamo.convert_frame", "", logInfo, 755},
	logCompileGraph:      {"torch._dynamo.output_graph", "", logDebug, 972},
	logCompiler:          {"torch._dynamo.output_graph", "", logInfo, 1458},
	logCompiled:          {"torch._dynamo.output_graph", "", logInfo, 1463},
	logGraphInput:        {"torch._dynamo.output_graph", "", logDebug, 2156},
	logCreateEnv:         {"torch.fx.experimental.symbolic_shapes", "", logInfo, 3192},
	logCreateSymbol:      {"torch.fx.experimental.symbolic_shapes", "", logInfo, 4423},
	logUnbacked:          {"torch.fx.experimental.symbolic_shapes", "", logInfo, 4103},
	logEval:              {"torch.fx.experimental.symbolic_shapes", "", logInfo, 6281},
	logProduceGuards:     {"torch.fx.experimental.symbolic_shapes", "", logInfo, 4547},
	logTrackNumber:       {"torch.fx.experimental.symbolic_shapes", "", logDebug, 4755},
	logSkipGuard:         {"torch.fx.experimental.symbolic_shapes", "", logDebug, 4958},
	logLimit:             {"torch._dynamo.convert_frame", "", logWarning, 906},
	logSuppressed:        {"torch._dynamo.convert_frame", "", logWarning, 1233},
	logScalarOutputs:     {"torch._dynamo.variables.tensor", "", logWarning, 869},
	logFrames:            {"torch._dynamo.eval_frame", "", logInfo, 398},
	logTimes:             {"torch._dynamo.utils", "", logInfo, 446},
	logReturn:            {"torch._dynamo.symbolic_convert", "", logDebug, 3032},
	logBreakAgain:        {"torch._dynamo.symbolic_convert", "graph_breaks", logDebug, 442},
	logBreakSkip:         {"torch._dynamo.convert_frame", "graph_breaks", logDebug, 1205},
	logAutoSize:          {"torch._dynamo.pgo", "", logDebug, 355},
	logAutoNumber:        {"torch._dynamo.pgo", "", logDebug, 319},
	logReplaced:          {"torch.fx.experimental.symbolic_shapes", "", logInfo, 5963},
}

// logs is what is switched on, as of the last look, and the compilation that messages belong to.
type logs struct {
	on      [numLogPoints]bool
	any     bool                // something below a warning is
	traceID string              // "0/1", or "0/1_2" in the third attempt; "" outside of a compilation
	broken  map[StackEntry]bool // lines whose break was explained
	traced  []string            // frames that capture began with, for the list at the end
	ending  bool
}

// plainly runs f as plain Python in the middle of whatever goes on: nothing that it calls is captured or recorded.
func (d *Dynamo) plainly(f func() error) error {
	defer d.T.Push(torch.Unwatched)()
	return f()
}

// lookAtLogs finds out what is switched on. Until a program has to do with logging, that is nothing but warnings.
func (d *Dynamo) lookAtLogs() {
	l := &d.logs
	l.on, l.any = [numLogPoints]bool{}, false
	for i, p := range logPoints {
		l.on[i] = p.level >= logWarning
	}
	_, set := d.In.Modules.GetStr("torch._logging._internal")
	if _, logging := d.In.Modules.GetStr("logging"); !set && !logging {
		level, err := d.config("log_level")
		debug, derr := d.configBool("debug")
		if err != nil || derr != nil || level == vm.None && !debug {
			return
		}
	}
	rows := vm.NewList()
	for _, p := range logPoints {
		rows.Items = append(rows.Items, vm.NewTuple(vm.Str(p.module), vm.Str(p.artifact), vm.MakeInt(int64(p.level))))
	}
	_ = d.plainly(func() error {
		m, err := d.In.Import("torch._logging._internal")
		if err != nil {
			return err
		}
		f, err := d.In.GetAttr(m, "_enabled")
		if err != nil {
			return err
		}
		res, err := d.In.Call(f, []vm.Object{rows}, nil)
		if err != nil {
			return err
		}
		on, err := d.In.IterAll(res)
		for i, o := range on {
			l.on[i] = o == vm.True
			l.any = l.any || l.on[i] && logPoints[i].level < logWarning
		}
		return err
	})
}

// Logging reports whether the messages of a place go anywhere.
func (d *Dynamo) Logging(p LogPoint) bool {
	d.lookAtLogs()
	return d.logs.on[p]
}

// Log sends a message of one or more lines through Python's logging. A handler that fails stops nothing.
func (d *Dynamo) Log(p LogPoint, text string) {
	row := logPoints[p]
	_ = d.plainly(func() error {
		m, err := d.In.Import("torch._logging._internal")
		if err != nil {
			return err
		}
		f, err := d.In.GetAttr(m, "_emit")
		if err != nil {
			return err
		}
		path := strings.ReplaceAll(row.module, ".", "/") + ".py"
		_, err = d.In.Call(f, []vm.Object{vm.Str(row.module), vm.Str(row.artifact), vm.MakeInt(int64(row.level)), vm.Str(text), vm.Str(path), vm.MakeInt(int64(row.line))}, nil)
		return err
	})
}

// logf logs where p is switched on, as of the last look.
func (d *Dynamo) logf(p LogPoint, format string, args ...any) {
	if d.logs.on[p] {
		d.Log(p, fmt.Sprintf(format, args...))
	}
}

// within sets the compilation that messages belong to, until the function that it returns is called.
func (d *Dynamo) within(id string, attempt int) (leave func()) {
	old := d.logs.traceID
	d.logs.traceID = id
	if attempt > 0 {
		d.logs.traceID = fmt.Sprintf("%s_%d", id, attempt)
	}
	return func() { d.logs.traceID = old }
}

// Within makes the messages until leave part of the compilation id, such as "0/1"; "" for none.
func (d *Dynamo) Within(id string) (leave func()) { return d.within(id, 0) }

// CompileID is the compilation under way, "" outside of one.
func (d *Dynamo) CompileID() string { return d.logs.traceID }

package capture

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// traceLog is the file under TORCH_TRACE: a line of JSON for each step of a compilation, its payload indented below. The kinds of records, their
// fields and where each is said to come from are PyTorch 2.6's, so that what reads its traces reads these.
type traceLog struct {
	file      *os.File
	failed    bool
	strings   map[string]int // names of files by number: a record says each once
	describer int            // of the attempt that inputs are described for
	described string         // that attempt
	inputs    map[*tensor.Tensor]int
	storages  map[*tensor.Storage]int
	sources   map[string]bool

	dispatched fx.Fields     // what AOTAutograd did with the graph that is compiled
	overhead   time.Duration // that writing took
}

// tracePlaces are the lines that records are said to come from, by kind; of an artifact by its name.
var tracePlaces = map[string]string{
	"str":                           "torch/_logging/structured.py:22",
	"chromium_event":                "torch/_dynamo/utils.py:1318",
	"compilation_metrics":           "torch/_dynamo/utils.py:1072",
	"bwd_compilation_metrics":       "torch/_dynamo/utils.py:1072",
	"dynamo_start":                  "torch/_dynamo/convert_frame.py:958",
	"dynamo_error":                  "torch/_dynamo/convert_frame.py:1008",
	"dynamo_graph_break_reason":     "torch/_dynamo/symbolic_convert.py:416",
	"dynamo_output_graph":           "torch/_dynamo/output_graph.py:1359",
	"dynamo_cpp_guards_str":         "torch/_dynamo/guards.py:2318",
	"recompile_reasons":             "torch/_dynamo/guards.py:2795",
	"describe_storage":              "torch/_subclasses/meta_utils.py:253",
	"describe_tensor":               "torch/_subclasses/meta_utils.py:468",
	"describe_source":               "torch/_subclasses/meta_utils.py:1854",
	"create_symbol":                 "torch/fx/experimental/symbolic_shapes.py:4434",
	"aot_joint_graph":               "torch/_functorch/_aot_autograd/jit_compile_runtime_wrappers.py:418",
	"aot_forward_graph":             "torch/_functorch/_aot_autograd/jit_compile_runtime_wrappers.py:639",
	"aot_backward_graph":            "torch/_functorch/_aot_autograd/jit_compile_runtime_wrappers.py:643",
	"aot_inference_graph":           "torch/_functorch/_aot_autograd/dispatch_and_compile_graph.py:232",
	"fx_graph_runnable":             "torch/_inductor/compile_fx.py:857",
	"autotune":                      "torch/_inductor/select_algorithm.py:1682",
	"mode":                          "torch/_inductor/compile_fx.py:440",
	"inductor_ir_pre_fusion":        "torch/_inductor/debug.py:480",
	"inductor_ir_post_fusion":       "torch/_inductor/debug.py:480",
	"inductor_post_grad_graph":      "torch/_inductor/compile_fx.py:920",
	"inductor_output_code":          "torch/_inductor/graph.py:2062",
	"optimize_ddp_split_graph":      "torch/_dynamo/backends/distributed.py:566",
	"optimize_ddp_split_child":      "torch/_dynamo/backends/distributed.py:574",
	"inductor_pre_grad_graph":       "torch/_inductor/compile_fx.py:380",
	"aot_forward_graph_fw_metadata": "torch/_functorch/_aot_autograd/jit_compile_runtime_wrappers.py:621",
	"create_unbacked_symbol":        "torch/fx/experimental/symbolic_shapes.py:4113",
	"guard_added_fast":              "torch/fx/experimental/symbolic_shapes.py:6258",
}

// Structured reports whether structured logs are written.
func (d *Dynamo) Structured() bool { return d.environ("TORCH_TRACE") != "" && !d.log.failed }

// structured writes a record of the compilation under way; a folder that cannot be written ends the logging, not the program. payload is nil where
// there is none.
func (d *Dynamo) structured(kind string, meta any, payload *string) {
	if !d.Structured() {
		return
	}
	place := tracePlaces[kind]
	if m, ok := meta.(fx.Fields); ok && kind == "artifact" {
		name, _ := m[0].Value.(string)
		place = tracePlaces[name]
	}
	d.traceAt(place, kind, meta, payload, nil)
}

// traceAt is structured for a record that is said to come from a place, with more beside its kind.
func (d *Dynamo) traceAt(place, kind string, meta any, payload *string, beside fx.Fields) {
	begin := time.Now()
	defer func() { d.log.overhead += time.Since(begin) }()
	if !d.openTrace() {
		return
	}
	if meta == nil {
		meta = fx.Fields{}
	}
	rec := append(fx.Fields{{Name: kind, Value: meta}}, beside...)
	var frame, compile, attempt int
	if n, _ := fmt.Sscanf(d.logs.traceID, "%d/%d_%d", &frame, &compile, &attempt); n >= 2 && kind != "str" {
		rec = append(rec, fx.Fields{{Name: "frame_id", Value: frame}, {Name: "frame_compile_id", Value: compile}, {Name: "attempt", Value: attempt}}...)
	}
	if payload != nil {
		sum := md5.Sum([]byte(*payload))
		rec = append(rec, fx.Field{Name: "has_payload", Value: hex.EncodeToString(sum[:])})
	}
	text := fmt.Sprintf("V%s %d %s] %s\n", begin.Format("0102 15:04:05.000000"), os.Getpid(), place, fx.JSON(rec, false))
	if payload != nil {
		text += "\t" + strings.ReplaceAll(*payload, "\n", "\n\t") + "\n"
	}
	if _, err := d.log.file.WriteString(text); err != nil {
		d.log.failed = true
	}
}

// openTrace makes the file of the trace, once.
func (d *Dynamo) openTrace() bool {
	if d.log.file != nil || d.log.failed {
		return !d.log.failed
	}
	dir := d.environ("TORCH_TRACE")
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		d.log.file, err = os.CreateTemp(dir, "dedicated_log_torch_trace_*.log")
	}
	d.log.failed, d.log.strings = err != nil, map[string]int{}
	return err == nil
}

// interned is the number of a file's name, which is said first where it is new.
func (d *Dynamo) interned(name string) int {
	if !d.openTrace() {
		return 0
	}
	i, ok := d.log.strings[name]
	if !ok {
		i = len(d.log.strings)
		d.log.strings[name] = i
		d.structured("str", []any{name, i}, nil)
	}
	return i
}

// userStack is where a program is, outermost first, without what is no code of the program's; the frame itself is at line.
func (d *Dynamo) userStack(f *vm.Frame, line int) []any {
	places, _ := d.callers(f)
	var out []any
	for _, p := range append([]guard.Place{{Code: f.Code, Line: line}}, places...) { // files get their numbers from the inside out
		out = append([]any{fx.Fields{{Name: "line", Value: p.Line}, {Name: "name", Value: p.Code.Name}, {Name: "filename", Value: d.interned(p.Code.Filename)}}}, out...)
	}
	return out
}

// callers are the frames of the program's that led to f, innermost first, and how many of the library's lie between them.
func (d *Dynamo) callers(f *vm.Frame) (out []guard.Place, elided int) {
	at := f.Back
	if running := d.In.Frame(); at == nil && running != f { // what goes on behind a break is called by no code of the program's
		at = running
	}
	for ; at != nil; at = at.Back {
		if file := at.Code.Filename; !path.IsAbs(file) || strings.HasPrefix(file, "/whittle/") {
			elided++
			continue
		}
		out = append(out, guard.Place{Code: at.Code, Line: at.Line()})
	}
	return out, elided
}

// chromium are the names of parts of the compiler that events of a trace call otherwise.
var chromium = map[string]string{"_compile.compile_inner": "entire_frame_compile", "OutputGraph.call_user_compiler": "backend_compile", "compile_fx_inner": "inductor_compile",
	"GraphLowering.compile_to_module": "code_gen"}

// structuredEvent is the begin or end of a part of the compiler, as Chromium's profiler draws it. more goes with its arguments.
func (d *Dynamo) structuredEvent(name, ph string, more fx.Fields) {
	if !d.Structured() || d.logs.traceID == "" {
		return
	}
	var args fx.Fields
	if event, ok := chromium[name]; ok {
		args, name = fx.Fields{{Name: "fn_name", Value: name}}, event
		if name == "backend_compile" && ph == "E" {
			more, d.log.dispatched = append(more, d.log.dispatched...), nil
		}
	}
	id, _, _ := strings.Cut(d.logs.traceID, "_")
	args = append(append(args, fx.Field{Name: "compile_id", Value: id}), more...)
	event := fx.Fields{{Name: "name", Value: name}, {Name: "ts", Value: float64(time.Now().UnixNano()) / 1000}, {Name: "args", Value: args}, {Name: "ph", Value: ph},
		{Name: "cat", Value: "dynamo_timed"}, {Name: "tid", Value: 0}, {Name: "pid", Value: 0}}
	text := fx.JSON(event, true)
	d.structured("chromium_event", nil, &text)
}

// Event begins an event that is no part of compile_times(); the function that it gives back ends it.
func (d *Dynamo) Event(name string, args fx.Fields) (end func()) {
	d.structuredEvent(name, "B", args)
	return func() { d.structuredEvent(name, "E", args) }
}

// Dispatched says which way AOTAutograd takes with the graph that is compiled, for the event that ends with its backend.
func (d *Dynamo) Dispatched(mode string) {
	d.log.dispatched = fx.Fields{{Name: "requires_subclass_dispatch", Value: false}, {Name: "dispatch_mode", Value: mode}}
}

// instant is an event without a length, of the whole process.
func (d *Dynamo) instant(name string, args fx.Fields) {
	if !d.Structured() || d.logs.traceID == "" {
		return
	}
	id, _, _ := strings.Cut(d.logs.traceID, "_")
	text := fx.JSON(fx.Fields{{Name: "name", Value: name}, {Name: "ts", Value: float64(time.Now().UnixNano()) / 1000}, {Name: "args", Value: append(args, fx.Field{Name: "compile_id", Value: id})},
		{Name: "ph", Value: "i"}, {Name: "cat", Value: "dynamo_timed"}, {Name: "tid", Value: 0}, {Name: "pid", Value: 0}, {Name: "s", Value: "p"}}, true)
	d.structured("chromium_event", nil, &text)
}

// automatic tells of a size or number that another call had otherwise.
func (d *Dynamo) automatic(source string, dim any, reason string, before, now any) {
	d.instant("automatic_dynamic", fx.Fields{{Name: "name", Value: source}, {Name: "dim_changed", Value: dim}, {Name: "reason", Value: reason}, {Name: "cached", Value: fmt.Sprint(before)},
		{Name: "new", Value: fmt.Sprint(now)}})
}

// structuredStart is the begin of a compilation, and why there is another one of the frame.
func (d *Dynamo) structuredStart(c *compilation) {
	if !d.Structured() {
		return
	}
	d.structuredEvent("dynamo", "B", nil)
	if len(c.ev.logged) > 0 {
		var reasons []any
		for _, r := range c.ev.logged {
			reasons = append(reasons, r)
		}
		d.structuredArtifact("recompile_reasons", "json", fx.JSON(reasons, true))
	}
}

// structuredTrace is the begin of the trace.
func (d *Dynamo) structuredTrace(c *compilation) {
	if d.Structured() {
		d.structured("dynamo_start", fx.Fields{{Name: "stack", Value: d.userStack(c.f, c.ev.Line)}}, nil)
	}
}

// structuredLimit is the end of a compilation that was one too many. Its figures are of a kind that PyTorch has for all that is not of a forward.
func (d *Dynamo) structuredLimit(c *compilation) {
	if !d.Structured() {
		return
	}
	took := time.Since(c.metrics.start)
	all := inOrder(map[string]any{"compile_id": c.ev.ID, "start_time": float64(c.metrics.start.UnixNano()) / 1e9, "start_time_us": c.metrics.start.UnixMicro(), "duration_us": took.Microseconds(),
		"end_time_us": time.Now().UnixMicro(), "log_format_version": 3, "structured_logging_overhead_s": d.log.overhead.Seconds(), "structured_logging_overhead_us": d.log.overhead.Microseconds(),
		"inductor_config": d.configText("torch._inductor.config"), "fail_type": "RecompileLimitExceeded", "fail_reason": c.st.limit + " reached"})
	d.structured("bwd_compilation_metrics", all, nil)
	d.structuredEvent("dynamo", "E", shownMetrics(all))
}

// structuredArtifact is a text without a kind of its own.
func (d *Dynamo) structuredArtifact(name, encoding, text string) {
	d.structured("artifact", fx.Fields{{Name: "name", Value: name}, {Name: "encoding", Value: encoding}}, &text)
}

// StructuredArtifact is a text of another stage.
func (d *Dynamo) StructuredArtifact(name, encoding, text string) {
	d.structuredArtifact(name, encoding, text)
}

// StructuredText is a record with a text of another stage: a graph, or generated code.
func (d *Dynamo) StructuredText(kind string, meta fx.Fields, text string) {
	d.structured(kind, meta, &text)
}

// structuredInput describes an input of a graph, x, and where it comes from.
func (jo *journal) structuredInput(x *tensor.Tensor, source string) {
	d := jo.d
	if x == nil || !d.Structured() {
		return
	}
	l := &d.log
	if l.described != d.logs.traceID || l.inputs == nil {
		if l.inputs != nil {
			l.describer++
		}
		l.described, l.inputs, l.storages = d.logs.traceID, map[*tensor.Tensor]int{}, map[*tensor.Storage]int{}
		l.sources = map[string]bool{}
	}
	id := d.describe(x)
	if l.sources[source] { // an attempt that goes up to a branch has looked at it before
		return
	}
	l.sources[source] = true
	d.structured("describe_source", fx.Fields{{Name: "describer_id", Value: l.describer}, {Name: "id", Value: id}, {Name: "source", Value: source}}, nil)
}

// describe describes a tensor the first time: its storage, the tensor that it is a view of, its gradient, and itself. It gives the tensor's number.
func (d *Dynamo) describe(x *tensor.Tensor) int {
	l := &d.log
	if id, again := l.inputs[x]; again {
		return id
	}
	id := len(l.inputs)
	l.inputs[x] = id
	who := fx.Field{Name: "describer_id", Value: l.describer}
	storage, again := l.storages[x.Storage]
	if !again {
		storage = len(l.storages)
		l.storages[x.Storage] = storage
		d.structured("describe_storage", fx.Fields{{Name: "id", Value: storage}, who, {Name: "size", Value: x.Storage.NBytes}}, nil)
	}
	list := func(ns []int64) []any {
		out := []any{}
		for _, n := range ns {
			out = append(out, n)
		}
		return out
	}
	m := fx.Fields{{Name: "id", Value: id}, {Name: "ndim", Value: len(x.Shape)}, {Name: "dtype", Value: "torch." + x.DType.String()}, {Name: "device", Value: "device(type='cpu')"},
		{Name: "size", Value: list(x.Shape)}}
	said := func(is bool, name string) {
		if is {
			m = append(m, fx.Field{Name: name, Value: true})
		}
	}
	class, parameter := "Tensor", false
	if p, ok := d.T.Wrap(x).(*torch.Tensor); ok && p.Type().Name == "Parameter" {
		class, parameter = "Parameter", true
	}
	said(d.T.Grad.IsLeaf(x), "is_leaf")
	said(d.T.Grad.RequiresGrad(x), "requires_grad")
	said(x.Base != nil, "is_view")
	said(parameter, "is_parameter")
	m = append(m, fx.Field{Name: "stride", Value: list(x.Stride)})
	if x.Offset != 0 {
		m = append(m, fx.Field{Name: "storage_offset", Value: x.Offset})
	}
	m = append(m, fx.Field{Name: "storage", Value: storage})
	if x.Base != nil {
		m = append(m, fx.Field{Name: "base", Value: d.describe(x.Base)}, fx.Field{Name: "creation_meta", Value: "CreationMeta.DEFAULT"})
	}
	if g := d.T.Grad.Grad(x); g != nil {
		m = append(m, fx.Field{Name: "grad", Value: d.describe(g)})
	}
	d.structured("describe_tensor", append(m, fx.Field{Name: "view_func", Value: "_CustomViewFunc(func=<built-in method _view_func_unsafe of " + class + " object>)"}, who), nil)
	return id
}

// structuredGraph is the captured graph.
func (jo *journal) structuredGraph(gm *fx.GraphModule) {
	if !jo.d.Structured() {
		return
	}
	sizes := fx.Fields{}
	for _, n := range gm.Graph.Nodes {
		t, ok := n.Val.(*tensor.Tensor)
		if !ok || t == nil {
			continue
		}
		list := []any{}
		for i, e := range jo.sizes.Size(t) {
			if jo.sizes.Symbolic(t) {
				list = append(list, e.String())
			} else {
				list = append(list, t.Shape[i])
			}
		}
		sizes = append(sizes, fx.Field{Name: n.Name, Value: list})
	}
	jo.d.StructuredText("dynamo_output_graph", fx.Fields{{Name: "sizes", Value: sizes}}, gm.Readable("GraphModule", jo.described))
}

// structuredGuards are the guards of a new entry.
func (d *Dynamo) structuredGuards(en *entry) {
	if d.Structured() {
		d.StructuredText("dynamo_cpp_guards_str", nil, "\nTREE_GUARD_MANAGER:\n"+strings.Join(en.frame.Tree, "\n")+"\n")
	}
}

// structuredEnd is the end of a compilation: what failed, its figures, and the end of its event.
func (d *Dynamo) structuredEnd(c *compilation) {
	if !d.Structured() {
		return
	}
	if err := c.ev.Err; err != nil {
		d.structuredArtifact("dynamo_error", "string", err.Error())
	}
	clear(d.log.inputs) // the program may want their memory back
	clear(d.log.storages)
	all := d.compilationMetrics(c)
	d.structured("compilation_metrics", all, nil)
	d.structuredEvent("dynamo", "E", shownMetrics(all))
}

// metricNames are the fields of compilation_metrics, in PyTorch's order. Those that nothing here has are null.
var metricNames = strings.Fields(`compile_id frame_key co_name co_filename co_firstlineno cache_size accumulated_cache_size guard_count shape_env_guard_count graph_op_count graph_node_count
	graph_input_count start_time entire_frame_compile_time_s backend_compile_time_s inductor_compile_time_s code_gen_time_s fail_type fail_reason fail_user_frame_filename fail_user_frame_lineno
	non_compliant_ops compliant_custom_ops restart_reasons dynamo_time_before_restart_s has_guarded_code remote_cache_time_saved_s structured_logging_overhead_s config_suppress_errors
	config_inline_inbuilt_nn_modules specialize_float dynamo_config is_forward num_triton_bundles remote_fx_graph_cache_get_time_ms remote_fx_graph_cache_put_time_ms start_time_us duration_us
	dynamo_cumulative_compile_time_us aot_autograd_cumulative_compile_time_us inductor_cumulative_compile_time_us inductor_code_gen_cumulative_compile_time_us triton_compile_time_us
	runtime_cudagraphify_time_us runtime_triton_autotune_time_us dynamo_compile_time_before_restart_us cuda_synchronize_time_us distributed_ephemeral_timeout_us
	structured_logging_overhead_us remote_fx_graph_cache_get_time_us remote_fx_graph_cache_put_time_us backward_cumulative_compile_time_us end_time_us pre_grad_pass_time_us
	post_grad_pass_time_us joint_graph_pass_time_us log_format_version inductor_config remote_cache_version inductor_fx_remote_cache_hit_count inductor_fx_remote_cache_miss_count
	inductor_fx_remote_cache_backend_type inductor_fx_remote_cache_hit_keys inductor_fx_remote_cache_miss_keys cuda_version triton_version feature_usage`)

// inOrder are the metrics that are known, and null for the others.
func inOrder(known map[string]any) fx.Fields {
	out := make(fx.Fields, len(metricNames))
	for i, n := range metricNames {
		out[i] = fx.Field{Name: n, Value: known[n]}
	}
	return out
}

// shownMetrics are those figures of a compilation that its event has, too.
func shownMetrics(all fx.Fields) fx.Fields {
	var shown fx.Fields
	for _, f := range all[1:] {
		switch f.Name {
		case "frame_key", "co_name", "co_filename", "co_firstlineno", "cache_size", "accumulated_cache_size", "guard_count", "shape_env_guard_count", "graph_op_count", "graph_node_count",
			"graph_input_count", "fail_type", "fail_reason", "fail_user_frame_filename", "fail_user_frame_lineno", "non_compliant_ops", "compliant_custom_ops", "restart_reasons",
			"dynamo_time_before_restart_s", "has_guarded_code", "dynamo_config":
			shown = append(shown, f)
		}
	}
	return shown
}

func (d *Dynamo) compilationMetrics(c *compilation) fx.Fields {
	m, ev := c.metrics, c.ev
	micros := func(t time.Duration) any { return t.Microseconds() }
	known := map[string]any{"compile_id": ev.ID, "frame_key": fmt.Sprint(c.st.id + 1), "co_name": ev.Name, "co_filename": c.f.Code.Filename, "co_firstlineno": ev.Line,
		"cache_size": m.cached, "accumulated_cache_size": m.cached, "start_time": float64(m.start.UnixNano()) / 1e9, "entire_frame_compile_time_s": m.total.Seconds(),
		"non_compliant_ops": []any{}, "compliant_custom_ops": []any{}, "restart_reasons": []any{}, "dynamo_time_before_restart_s": m.before.Seconds(), "has_guarded_code": m.compiled,
		"structured_logging_overhead_s": d.log.overhead.Seconds(), "is_forward": true, "start_time_us": m.start.UnixMicro(), "duration_us": micros(m.total),
		"dynamo_cumulative_compile_time_us": micros(m.total), "dynamo_compile_time_before_restart_us": micros(m.before), "structured_logging_overhead_us": micros(d.log.overhead),
		"end_time_us": m.start.Add(m.total).UnixMicro(), "log_format_version": 3, "dynamo_config": d.configText("torch._dynamo.config"), "inductor_config": d.configText("torch._inductor.config")}
	for field, name := range map[string]string{"config_suppress_errors": "suppress_errors", "config_inline_inbuilt_nn_modules": "inline_inbuilt_nn_modules", "specialize_float": "specialize_float"} {
		if v, err := d.configBool(name); err == nil {
			known[field] = v
		}
	}
	if m.compiled {
		known["guard_count"], known["shape_env_guard_count"], known["graph_op_count"], known["graph_node_count"], known["graph_input_count"] = m.listed, 0, m.ops, m.nodes, m.inputs
	}
	if m.backend > 0 {
		known["backend_compile_time_s"], known["aot_autograd_cumulative_compile_time_us"] = m.backend.Seconds(), micros(m.backend)
	}
	if m.failType != "" {
		known["fail_type"], known["fail_reason"] = m.failType, m.failReason
		if m.failFile != "" {
			known["fail_user_frame_filename"], known["fail_user_frame_lineno"] = m.failFile, m.failLine
		}
	}
	if len(m.restarts) > 0 {
		var all []any
		for _, r := range m.restarts {
			all = append(all, r)
		}
		known["restart_reasons"] = all
	}
	return inOrder(known)
}

// configText is the settings of a module as JSON.
func (d *Dynamo) configText(module string) any {
	var text any
	_ = d.plainly(func() error {
		m, err := d.In.Import("torch._logging._internal")
		if err != nil {
			return err
		}
		o, err := d.In.CallMethod(m, "_config_json", vm.Str(module))
		if err == nil {
			text, _ = vm.AsStr(o)
		}
		return err
	})
	return text
}

// StructuredBackward are the figures of a backward that was compiled by itself, when it was first needed.
func (d *Dynamo) StructuredBackward(start time.Time) {
	if !d.Structured() {
		return
	}
	took := time.Since(start)
	id, _, _ := strings.Cut(d.logs.traceID, "_")
	d.structured("bwd_compilation_metrics", inOrder(map[string]any{"compile_id": id, "start_time": float64(start.UnixNano()) / 1e9, "is_forward": false, "start_time_us": start.UnixMicro(),
		"duration_us": took.Microseconds(), "backward_cumulative_compile_time_us": took.Microseconds(), "end_time_us": time.Now().UnixMicro(), "log_format_version": 3,
		"structured_logging_overhead_s": d.log.overhead.Seconds(), "structured_logging_overhead_us": d.log.overhead.Microseconds(), "inductor_config": d.configText("torch._inductor.config")}), nil)
}

// structuredModule binds torch._logging.trace_structured, whose Python side has made texts of what it was given.
func (d *Dynamo) structuredModule(m *vm.Module) {
	m.Func("tracing_structured", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.MakeBool(d.Structured()), nil })
	m.Func("interned", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) != 1 {
			return nil, in.Errorf(in.Exc.TypeError, "interned() takes a text")
		}
		name, _ := vm.AsStr(a[0])
		return vm.MakeInt(int64(d.interned(name))), nil
	})
	m.Func("trace_structured", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) != 6 {
			return nil, in.Errorf(in.Exc.TypeError, "trace_structured() takes kind, metadata, payload, stack, whether it belongs to a compilation, and place")
		}
		kind, _ := vm.AsStr(a[0])
		meta, _ := vm.AsStr(a[1])
		place, _ := vm.AsStr(a[5])
		var payload *string
		if s, ok := vm.AsStr(a[2]); ok {
			payload = &s
		}
		var beside fx.Fields
		inside := a[4] == vm.True
		if s, ok := vm.AsStr(a[3]); ok && (!inside || d.logs.traceID == "") {
			beside = fx.Fields{{Name: "stack", Value: fx.Raw(s)}}
		}
		if !inside {
			defer d.Within("")()
		}
		d.traceAt(place, kind, fx.Raw(meta), payload, beside)
		return vm.None, nil
	})
}

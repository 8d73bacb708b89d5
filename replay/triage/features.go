package triage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"whittle/replay"
	"whittle/repros"
)

// Kind is what a failure does to the program, whatever it says.
type Kind string

// The kinds.
const (
	Wrong  Kind = "wrong results"
	Crash  Kind = "crash" // a signal ended the process
	Hang   Kind = "hang"
	Memory Kind = "out of memory"
	Exit   Kind = "exit" // the process ended by itself
	Error  Kind = "error"
)

// Features are what is compared of a failure. "" and nil: not known.
type Features struct {
	Kind       Kind     `json:"kind"`
	Stage      string   `json:"stage,omitempty"`      // compile, run: for people, it is not compared
	Type       string   `json:"type,omitempty"`       // of the innermost exception, without module; or the signal
	Message    string   `json:"message,omitempty"`    // normalised, of the innermost exception
	Names      []string `json:"names,omitempty"`      // operators, types and files that the message names
	Frame      string   `json:"frame,omitempty"`      // innermost function of the compile stack
	Layer      string   `json:"layer,omitempty"`      // of the stack that raised: dynamo, aot, lowering, scheduler, codegen, C++, run
	Backend    string   `json:"backend,omitempty"`    // one of the program's own
	Source     string   `json:"source,omitempty"`     // hash of the backend's own text
	Graph      []string `json:"graph,omitempty"`      // operators, and dtypes that are not float32, sorted
	Calls      int      `json:"calls,omitempty"`      // of the graph
	Minimal    bool     `json:"minimal,omitempty"`    // the graph is a search's result: nothing of it can be left out, as far as the search got
	Canonical  string   `json:"canonical,omitempty"`  // hash of a minimal graph and of its inputs' dtypes; sizes do not matter
	Settings   []string `json:"settings,omitempty"`   // NAME=VALUE; of a search's result those that it needs
	Needed     bool     `json:"needed,omitempty"`     // Settings are those that the failure needs
	Decides    string   `json:"decides,omitempty"`    // layer, pass or range that a bisection found
	Divergence string   `json:"divergence,omitempty"` // which output differs, and how
}

// Text is the stored form. Equal features have equal texts.
func (f Features) Text() string {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // only texts, lists of texts and numbers
	}
	return string(b)
}

// ParseFeatures reads the stored form.
func ParseFeatures(text string) (Features, error) {
	var f Features
	err := json.Unmarshal([]byte(text), &f)
	if err != nil {
		err = fmt.Errorf("features: %w", err)
	}
	return f, err
}

// Of takes the features of a failure, from it and from what was found about it since.
func Of(ctx context.Context, s *replay.Store, failure int64) (Features, error) {
	f, err := s.Failure(ctx, failure)
	if err != nil {
		return Features{}, err
	}
	if f.Repro == "" && f.Graph != "" {
		if f.Repro, err = s.Graph(ctx, f.Graph); err != nil {
			return Features{}, err
		}
	}
	var res *replay.Result
	if f.Minification != 0 {
		r, err := s.Result(ctx, f.Minification)
		var nf *replay.NotFoundError
		switch {
		case err == nil:
			res = &r
		case !errors.As(err, &nf):
			return Features{}, err
		}
	}
	return Take(f, res), nil
}

// Take takes features of a failure, and of the result of the search that shrank it; nil for none. A graph that cannot be read is one that is not known.
func Take(f replay.Failure, res *replay.Result) Features {
	sig := f.Signature
	raw := f.Raw
	if res != nil {
		raw = res.Error
		if !res.Signature.IsZero() {
			sig = res.Signature
		}
	}
	out := Features{Decides: f.Decides, Divergence: f.Signature.Output}
	for _, text := range []*string{&sig.Stage, &sig.Type, &sig.Message, &sig.Frame, &out.Decides, &out.Divergence, &raw} { // JSON holds no other
		*text = strings.ToValidUTF8(*text, "\ufffd")
	}
	out.Kind = kindOf(sig)
	out.Stage, out.Frame = sig.Stage, sig.Frame
	out.Type, out.Message, out.Layer = unwrap(sig.Type, sig.Message)
	if out.Type == "CppCompileError" && strings.Contains(raw, " error: ") {
		out.Message = replay.Normalise(replay.CppError(raw))
	}
	if out.Kind == Wrong { // how it is told depends on who compares
		out.Type, out.Message = "", ""
	}
	out.Names = namesIn(out.Message)
	if m := reTarget().FindStringSubmatch(raw); m != nil && out.Layer == "lowering" {
		out.Names = append(out.Names, "operator "+operator(m[1]))
	}
	slices.Sort(out.Names)
	out.Names = slices.Compact(out.Names)
	if out.Frame == "" || out.Layer == "" {
		frame, layer := inStack(raw)
		if out.Frame == "" {
			out.Frame = frame
		}
		if out.Layer == "" {
			out.Layer = layer
		}
	}
	text := f.Repro
	if res != nil && res.Repro != "" {
		text = res.Repro
	}
	if text != "" {
		out.graph(text, res)
		out.Needed = out.Minimal
	}
	for k, v := range f.Config {
		out.Settings = append(out.Settings, strings.ToValidUTF8(k+"="+v, "\ufffd"))
	}
	if res != nil {
		out.Settings = nil
		for _, c := range res.Config {
			out.Settings = append(out.Settings, c.Name+"="+c.Value)
		}
	}
	slices.Sort(out.Settings)
	out.Settings = slices.Compact(out.Settings)
	return out
}

// nearlyMinimal is how many calls the result of a search may have that did not end: most of what is left is the bug.
const nearlyMinimal = 8

// graph takes what the repro says, res's if there is one.
func (f *Features) graph(text string, res *replay.Result) {
	r, err := repros.Read("repro.py", strings.ToValidUTF8(text, "\ufffd"))
	if err != nil {
		return
	}
	f.Graph, f.Calls = tokens(r.Module)
	f.Minimal = res != nil && res.Complete || (res != nil || isMinimal(r)) && f.Calls <= nearlyMinimal
	for _, in := range r.Inputs {
		if in.Kind != repros.ConstInput && in.DType != "" && in.DType != "float32" {
			f.Graph = append(f.Graph, "dtype "+in.DType)
		}
	}
	slices.Sort(f.Graph)
	f.Graph = slices.Compact(f.Graph)
	if f.Minimal {
		of := []string{r.Module.Hash()} // a graph that was read does not know its inputs
		for _, in := range r.Inputs {
			of = append(of, in.DType)
		}
		f.Canonical = replay.HashOf(of...)
	}
	if r.Preamble != "" || r.Stage == repros.AfterDynamo && !strings.HasPrefix(r.Backend, "aot_eager") && !slices.Contains([]string{"", "inductor", "eager"}, r.Backend) {
		f.Backend = r.Backend
		if r.Preamble != "" {
			f.Source = replay.HashOf(r.Preamble)[:16]
		}
	}
	for _, c := range r.Config {
		if !written[c.Name] {
			f.Settings = append(f.Settings, c.Name+"="+c.Value)
		}
	}
}

// written are settings that PyTorch writes into every repro, as their defaults are sets and lists that it takes for changed.
var written = func() map[string]bool {
	out := map[string]bool{}
	for module, names := range map[string]string{
		"dynamo": "traceable_tensor_subclasses allowed_functions_module_string_ignorelist _ddp_optimization_mode _save_config_ignore reorderable_logging_functions ignore_logger_methods _autograd_backward_strict_mode_banned_ops compiled_autograd_kwargs_override " +
			"repro_after repro_level debug_dir_root base_dir suppress_errors",
		"inductor": "pre_grad_fusion_options post_grad_fusion_options fx_passes_numeric_check reorder_for_compute_comm_overlap_passes _fuse_ddp_communication_passes aot_inductor.metadata aot_inductor.presets rocm.arch rocm.ck_supported_arch " +
			"_save_config_ignore _cache_config_ignore_prefix external_matmul fallback_random generate_intermediate_hooks compile_threads",
		"functorch": "functionalize_rng_ops fake_tensor_allow_unsafe_data_ptr_access unlift_effect_tokens debug_partitioner",
	} {
		for _, n := range strings.Fields(names) {
			out["torch._"+module+".config."+n] = true
		}
	}
	return out
}()

func kindOf(sig replay.Signature) Kind {
	switch {
	case sig.Stage == "accuracy", sig.Type == "AccuracyError":
		return Wrong
	case sig.Type == "timeout":
		return Hang
	case sig.Type == "oom", sig.Type == "MemoryError", sig.Type == "OutOfMemoryError", sig.Type == "SIGKILL": // nobody else sends that one, as far as can be told
		return Memory
	case sig.Type == "exit":
		return Exit
	case strings.HasPrefix(sig.Type, "SIG"):
		return Crash
	}
	return Error
}

// wrappers are exceptions that torch puts around another one, and the layer that does so, "" for any.
var wrappers = map[string]string{
	"BackendCompilerFailed": "", "InductorError": "", "LoweringException": "lowering", "TorchRuntimeError": "dynamo", "InternalTorchDynamoError": "dynamo",
	"TorchDynamoException": "", "UserError": "", "CalledProcessError": "", "RemoteError": "", "SubprocException": "",
}

var (
	reRaised = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^(?:backend=\S+ raised:\s*|Failed running [^\n]*?:\s+|An exception occurred in a subprocess:\s*)`)
	})
	reInner = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Failed|Interrupt|Exit|Unsupported|Warning)): ?(.*)$`)
	})
	reTarget = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*target: (\S+)`) })
	reArgs   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` (?:target: \S+)(?: args\[.*)?$`) })
)

// unwrap finds the innermost exception of a type and its normalised message, and the layer that put the last wrapper around it.
func unwrap(typ, msg string) (string, string, string) {
	base := func(t string) string { return t[strings.LastIndexByte(t, '.')+1:] }
	typ = base(typ)
	layer := ""
	for range 8 {
		l, wraps := wrappers[typ]
		if !wraps && typ != "" {
			break
		}
		if l != "" {
			layer = l
		}
		msg = strings.TrimSpace(reRaised().ReplaceAllString(msg, ""))
		m := reInner().FindStringSubmatch(msg)
		if m == nil {
			break
		}
		typ, msg = base(m[1]), m[2]
	}
	if typ == "CppCompileError" {
		layer = "C++"
	}
	if layer == "lowering" {
		msg = reArgs().ReplaceAllString(" "+msg, "")
	}
	return typ, replay.Normalise(msg), layer
}

var (
	reQuoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[‘'\"`]([A-Za-z_][^‘’'\"`]{0,80})[’'\"`]") })
	reDotted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:torch|aten|prims)(?:\.\w+)+`) })
	reCalled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[A-Za-z_]\w*(?:\.\w+)*\(`) })
	reCamel  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:[A-Z][a-z0-9]+){2,}[A-Z]?\b|\b\w*float8\w*|\bComplex\w+`)
	})
)

// namesIn are what a normalised message names: what is quoted, what has dots, what is called, and types.
func namesIn(msg string) []string {
	var out []string
	for _, m := range reQuoted().FindAllStringSubmatch(msg, -1) {
		out = append(out, m[1])
	}
	for _, t := range reDotted().FindAllString(msg, -1) {
		if strings.HasPrefix(t, "aten.") || strings.HasPrefix(t, "prims.") || strings.HasPrefix(t, "torch.ops.") {
			t = "operator " + operator(t)
		}
		out = append(out, t)
	}
	for _, t := range reCalled().FindAllString(msg, -1) {
		out = append(out, t+")")
	}
	return append(out, reCamel().FindAllString(msg, -1)...)
}

// reFrame matches a line of a traceback.
var reFrame = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*File "([^"\n]*)", line \d+, in (\S+)`) })

// layers say by its file which layer a frame belongs to; the first that fits.
var layers = []struct{ part, layer string }{
	{"torch/_inductor/lowering", "lowering"}, {"torch/_inductor/kernel/", "lowering"}, {"torch/_inductor/graph", "lowering"}, {"torch/_inductor/scheduler", "scheduler"}, {"torch/_inductor/codegen/", "codegen"},
	{"torch/_inductor/fx_passes", "passes"}, {"torch/_inductor/pattern_matcher", "passes"}, {"torch/_decomp/", "decomposition"}, {"torch/_refs/", "decomposition"}, {"torch/_functorch/", "aot"}, {"torch/_subclasses/", "aot"},
	{"torch/_dynamo/", "dynamo"}, {"torch/_inductor/", "inductor"}, {"torchinductor_", "run"},
}

// inStack is the innermost frame of a traceback's that is of the compile stack, and its layer.
func inStack(raw string) (frame, layer string) {
	all := reFrame().FindAllStringSubmatch(raw, -1)
	for i := len(all) - 1; i >= 0; i-- {
		file := strings.ReplaceAll(all[i][1], `\`, "/")
		for _, l := range layers {
			if at := strings.LastIndex(file, l.part); at >= 0 {
				if l.layer == "run" {
					return "", "run" // a generated file: its name is its content's
				}
				return all[i][2] + " in " + path.Clean(file[at:]), l.layer
			}
		}
	}
	return "", ""
}

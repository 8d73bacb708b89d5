package repros

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
)

// ReadFile reads a repro file. What an fx_graph_runnable.py lacks is looked for in the fx_graph_readable.py beside it.
func ReadFile(path string) (*Repro, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := Read(path, string(b))
	if err != nil || r.Complete() == nil || filepath.Base(path) != "fx_graph_runnable.py" {
		return r, err
	}
	beside := filepath.Join(filepath.Dir(path), "fx_graph_readable.py")
	if b, err := os.ReadFile(beside); err == nil {
		if gm, err := fx.Parse(beside, string(b)); err == nil {
			r.Module.FillBodies(gm)
		}
	}
	return r, nil
}

// Read reads a repro's text; file is used in errors.
func Read(file, text string) (*Repro, error) {
	text, preamble := cutPreamble(text)
	s, err := fx.ParseSource(file, relativeSaveDir().ReplaceAllString(text, "$1"))
	if err != nil {
		return nil, err
	}
	d := &reader{Source: s, r: &Repro{Accuracy: NoAccuracy, Preamble: preamble}, named: map[string]int64{}, bufs: map[string]int{}}
	if err := d.file(); err != nil {
		return nil, err
	}
	return d.r, nil
}

// relativeSaveDir is what Write makes of a save_dir beside the file.
var relativeSaveDir = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(besideFile) + `('[^'\n]*'|"[^"\n]*")\)`)
})

// IncompleteError says what a repro's text names without holding it: bodies of higher-order operators that PyTorch wrote
// as <lambda>(), modules whose repr is no constructor. The rest was read; PyTorch cannot run the file.
type IncompleteError struct{ Missing []fx.InitLine }

func (e *IncompleteError) Error() string {
	var parts []string
	for _, l := range e.Missing {
		if l.Expr == "" {
			parts = append(parts, fmt.Sprintf("self.%s is used, but the text does not hold it", l.Name))
			continue
		}
		text, _, more := strings.Cut(l.Expr, "\n")
		if more {
			text += " ...)"
		}
		what := "a module that cannot be made from its repr"
		if strings.HasPrefix(text, "<lambda>") || strings.HasPrefix(text, "GraphModule") {
			what = "a sub-graph of a higher-order operator that was not written down"
		}
		parts = append(parts, fmt.Sprintf("%s: self.%s = %s is %s", l.Pos, l.Name, text, what))
	}
	return strings.Join(parts, "; ")
}

// Complete is an *IncompleteError when the text that was read lacks a part of the module, nil when all is there.
func (r *Repro) Complete() error {
	if m := r.Module.Unread(); len(m) > 0 {
		return &IncompleteError{m}
	}
	return nil
}

// IsRepro reports whether a script is a repro, by the class that all forms of it define. Whether it can be read is another question.
func IsRepro(text string) bool { return reRepro().MatchString(text) }

var reRepro = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^class Repro\b`) })

// reader walks the statements of one file.
type reader struct {
	*fx.Source
	r        *Repro
	sawClass bool
	sawArgs  bool
	bufs     map[string]int   // buf0 => index of storage
	named    map[string]int64 // values of inputs that are called like symbols
	used     []string         // symbols in sizes, in order
	pending  []func() error   // sizes to compute once all symbols are known
}

// notUnderstood is the error for a statement outside of every known form.
func (d *reader) notUnderstood(n *sitter.Node) error {
	t := d.Content(n)
	if i := strings.IndexByte(t, '\n'); i >= 0 {
		t = t[:i]
	}
	if len(t) > 100 {
		t = t[:100] + "..."
	}
	return d.Errorf(n, "not understood: %s", t)
}

func (d *reader) file() error {
	for i := 0; i < int(d.Root.NamedChildCount()); i++ {
		if err := d.top(d.Root.NamedChild(i)); err != nil {
			return err
		}
	}
	if !d.sawClass {
		return &fx.ParseError{File: d.File, Line: 1, Msg: "no class Repro"}
	}
	if u := d.UnusedClasses(); len(u) > 0 {
		return d.Errorf(u[0], "class %s is used by no other", d.Content(u[0].ChildByFieldName("name")))
	}
	if !d.sawArgs && d.annotated() {
		d.sawArgs = true
	}
	if !d.sawArgs {
		return &fx.ParseError{File: d.File, Line: 1, Msg: "no inputs: neither load_args nor args"}
	}
	if d.r.Stage == "" {
		d.r.Stage = AfterAOT
	}
	if d.r.Command == "" {
		d.r.Command = "run"
	}
	if d.r.Tracing == "" && d.r.Stage == AfterAOT {
		d.r.Tracing = "real"
	}
	if err := d.resolve(); err != nil {
		return err
	}
	return d.finish()
}

// resolve gives the sizes their values. Where it is not plain which symbol has which value, the first assignment
// wins for which the graph's shapes work out.
func (d *reader) resolve() error {
	try := func(syms map[string]int64) error {
		d.named = syms
		for _, f := range d.pending {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}
	all := assignments(d.used, d.named, d.r.Inputs)
	if len(all) == 1 {
		return try(all[0])
	}
	var fits map[string]int64
	var first error
	for _, syms := range all {
		if err := try(syms); err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		vs, err := d.r.fakes()
		if err != nil {
			continue
		}
		if fits == nil {
			fits = syms
		}
		gm, _ := d.r.Module.Clone()
		if interp.Propagate(context.Background(), gm, vs) == nil {
			fits = syms
			break
		}
	}
	if fits == nil {
		if first == nil {
			first = &fx.ParseError{File: d.File, Line: 1, Msg: "the symbolic sizes do not fit the storages"}
		}
		return first
	}
	return try(fits)
}

// finish checks that graph and inputs belong together, and names inputs after placeholders where they have no name.
func (d *reader) finish() error {
	ph := d.r.Module.Graph.Placeholders()
	if len(ph) != len(d.r.Inputs) {
		return &fx.ParseError{File: d.File, Line: 1, Msg: fmt.Sprintf("forward takes %d inputs, the file has %d", len(ph), len(d.r.Inputs))}
	}
	for i := range d.r.Inputs {
		if d.r.Inputs[i].Name == "" {
			d.r.Inputs[i].Name = ph[i].Target
		}
	}
	return nil
}

func (d *reader) top(n *sitter.Node) error {
	switch n.Type() {
	case "comment":
		if c := strings.TrimRight(d.Content(n), " "); !d.sawClass && c != "#" {
			d.r.Head = append(d.r.Head, c)
		}
		return nil
	case "import_statement", "import_from_statement", "future_import_statement":
		d.imports(n)
		return nil
	case "class_definition":
		if !d.IsGraph(n) {
			d.keep(n)
			return nil
		}
		if d.sawClass || d.Content(n.ChildByFieldName("name")) != d.MainClass() {
			return nil // a sub-graph
		}
		gm, err := d.Module()
		if err != nil {
			return err
		}
		d.r.Module, d.sawClass = gm, true
		return nil
	case "function_definition":
		if d.Content(n.ChildByFieldName("name")) == "load_args" {
			return d.loadArgs(n)
		}
		if d.Content(n.ChildByFieldName("name")) == "forward" && !d.sawClass {
			gm, err := d.Module()
			if err != nil {
				return err
			}
			d.r.Module, d.sawClass = gm, true
			return nil
		}
		d.keep(n)
		return nil
	case "decorated_definition": // kernels that the graph calls
		d.keep(n)
		return nil
	case "if_statement":
		if c := d.Content(n.ChildByFieldName("condition")); strings.HasPrefix(c, "__name__ ==") {
			return d.block(n.ChildByFieldName("consequence"))
		}
	case "with_statement":
		if strings.Contains(d.Content(n), "autocast(enabled=True)") {
			d.r.Autocast = true
		}
		return d.block(n.ChildByFieldName("body"))
	case "expression_statement":
		if n.NamedChildCount() == 1 {
			return d.expression(n.NamedChild(0))
		}
	case "pass_statement":
		return nil
	}
	return d.notUnderstood(n)
}

// keep takes a definition that the graph may need into the preamble.
func (d *reader) keep(n *sitter.Node) {
	d.r.Preamble = strings.TrimLeft(d.r.Preamble+"\n"+d.Content(n), "\n")
}

func (d *reader) block(b *sitter.Node) error {
	for i := 0; i < int(b.NamedChildCount()); i++ {
		if c := b.NamedChild(i); c.Type() != "comment" {
			if err := d.top(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// usualImports are written by Write, or stand for the stage.
var usualImports = map[string]bool{}

func init() {
	for _, l := range slices.Concat(KeepGraph, []string{
		"import torch", "from torch import tensor, device", "import torch.fx as fx", "from math import inf", "from torch.nn import *",
		"from torch.fx.experimental.proxy_tensor import make_fx", "from torch._inductor.compile_fx import compile_fx_inner",
		"import torch._dynamo as dynamo", "import os", "from torch._dynamo.repro.after_aot import run_repro", "from torch._dynamo.repro.after_dynamo import run_repro",
	}, aotImports, dynamoImports) {
		usualImports[l] = true
	}
}

// helperImport binds what HelperImports writes again.
var helperImport = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:from (?:operator|math) import \w+ as \w+|import torch\._higher_order_ops\.wrap|torch_Tensor_\w+ = torch\.Tensor\.\w+)$`)
})

func (d *reader) imports(n *sitter.Node) {
	t := d.Content(n)
	switch {
	case strings.Contains(t, "repro.after_dynamo"), strings.Contains(t, "import run_fwd_maybe_bwd"):
		d.r.Stage = AfterDynamo
	case strings.Contains(t, "repro.after_aot"), strings.Contains(t, "compile_fx_inner"):
		d.r.Stage = AfterAOT
	}
	if !usualImports[t] && !helperImport().MatchString(t) {
		d.r.Imports = append(d.r.Imports, t)
	}
}

// ignorable are statements of the older forms that say nothing beyond the stage.
var ignorable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(compiled\(\*args\)|ref = run_fwd_maybe_bwd\(|res = run_fwd_maybe_bwd\(|compiled = compile_fx_inner\(|mod = make_fx\(|mod = \w+\(\)|mod\(\*args\)|isolate_fails_code_str = |load_args\._version = 0$|mod = mod\.)`)
})

var environ = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^os\.environ\[["'](\w+)["']\]$`) })

func (d *reader) expression(e *sitter.Node) error {
	text := d.Content(e)
	switch {
	case e.Type() == "string", ignorable().MatchString(text), helperImport().MatchString(text), usualImports[text]:
		return nil
	case e.Type() == "call":
		return d.call(e)
	case e.Type() != "assignment" || e.ChildByFieldName("right") == nil:
		return d.notUnderstood(e)
	}
	l, r := d.Content(e.ChildByFieldName("left")), e.ChildByFieldName("right")
	if m := environ().FindStringSubmatch(l); m != nil && r.Type() == "string" {
		d.r.Env = append(d.r.Env, Setting{m[1], d.Content(r)})
		return nil
	}
	switch {
	case strings.HasPrefix(l, "torch.") && (strings.Contains(l, ".config.") || strings.Contains(l, "._config.")):
		d.setting(Setting{l, strings.Join(strings.Fields(d.Content(r)), " ")})
		return nil
	case l == "args" && r.Type() == "list":
		return d.argsList(r)
	case l == "args" && r.Type() == "list_comprehension":
		return nil
	case l == "opt_mod":
		d.r.Stage = AfterDynamo
		if m := regexp.MustCompile(`backend\s*=\s*["']([^"']*)["']`).FindStringSubmatch(d.Content(r)); m != nil && m[1] != "None" {
			d.r.Backend = m[1]
		}
		return nil
	}
	return d.notUnderstood(e)
}

// setting keeps a configuration line unless it says what is so anyway.
func (d *reader) setting(s Setting) {
	short := strings.TrimPrefix(s.Name, "torch.")
	if def, ok := defaults[short]; ok && (def == "*" || def == canonicalSet(s.Value)) {
		return
	}
	d.r.Config = append(d.r.Config, s)
}

// canonicalSet sorts the elements of a set of strings: PyTorch prints them in any order.
func canonicalSet(v string) string {
	if strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}") && !strings.Contains(v, ":") {
		parts := strings.Split(v[1:len(v)-1], ", ")
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return v
}

// defaults are the lines that PyTorch 2.6 prints although they hold what a fresh process has ("*": whatever it says; a
// list or a set that only tells names).
var defaults = map[string]string{
	"_dynamo.config.traceable_tensor_subclasses": "set()", "_dynamo.config.reorderable_logging_functions": "set()",
	"_dynamo.config.ignore_logger_methods": "set()", "_dynamo.config.compiled_autograd_kwargs_override": "{}",
	"_dynamo.config._ddp_optimization_mode": "*", "_dynamo.config._save_config_ignore": "*",
	"_dynamo.config._autograd_backward_strict_mode_banned_ops": "*", "_dynamo.config.allowed_functions_module_string_ignorelist": "*",
	"_inductor.config.pre_grad_fusion_options": "{}", "_inductor.config.post_grad_fusion_options": "{}",
	"_inductor.config.fx_passes_numeric_check":                 "{'pre_grad': False, 'precision': 0.0001, 'num_iterations': 1, 'requires_optimizer': True}",
	"_inductor.config.reorder_for_compute_comm_overlap_passes": "*", "_inductor.config._fuse_ddp_communication_passes": "*",
	"_inductor.config.aot_inductor.metadata": "{}", "_inductor.config.aot_inductor.presets": "{}", "_inductor.config.rocm.arch": "[]",
	"_inductor.config.rocm.ck_supported_arch": "*", "_inductor.config._save_config_ignore": "*", "_inductor.config._cache_config_ignore_prefix": "*",
	"_inductor.config.external_matmul": "[]", "_functorch.config.fake_tensor_allow_unsafe_data_ptr_access": "True",
	"_inductor.config.trace.enabled": "*", "_inductor.config.trace.save_real_tensors": "False", "_functorch.config.debug_partitioner": "False",
	"_functorch.config.unlift_effect_tokens":  "*", // set by the compiler around itself
	"_functorch.config.functionalize_rng_ops": "False",
}

// call reads run_repro(...) and the few other calls at the top of a file.
func (d *reader) call(e *sitter.Node) error {
	fn := d.Content(e.ChildByFieldName("function"))
	a, err := d.Arg(e, true)
	if err != nil {
		return err
	}
	n, ok := a.(*fx.Node)
	if !ok {
		return d.notUnderstood(e)
	}
	switch {
	case fn == "run_repro":
	case fn == "torch.manual_seed" && len(n.Args) == 1:
		if v, ok := n.Args[0].(int64); ok {
			d.r.Seed = v
			return nil
		}
		return d.notUnderstood(e)
	case strings.HasPrefix(fn, "torch.ops.load_librar"):
		d.r.Imports = append(d.r.Imports, d.Content(e))
		return nil
	default:
		return d.notUnderstood(e)
	}
	for _, kw := range n.Kwargs {
		s, isStr := kw.Val.(string)
		b, isBool := kw.Val.(bool)
		ok := isStr || kw.Val == nil
		switch kw.Name {
		case "accuracy":
			ok = isStr || isBool
			d.r.Accuracy = Accuracy(fx.FormatArg(kw.Val))
		case "command":
			d.r.Command = s
		case "save_dir":
			d.r.SaveDir = s
		case "tracing_mode":
			d.r.Tracing = s
		case "check_str":
			d.r.Check = s
		case "backend":
			d.r.Backend = s
		case "autocast":
			ok = isBool
			d.r.Autocast = b
		case "patch_code":
		default:
			return d.Errorf(e, "run_repro: keyword %s is not understood", kw.Name)
		}
		if !ok {
			return d.Errorf(e, "run_repro: %s=%s is not understood", kw.Name, fx.FormatArg(kw.Val))
		}
	}
	return nil
}

package repros

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/tensor"
)

// ReadFile reads a repro file.
func ReadFile(path string) (*Repro, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Read(path, string(b))
}

// Read reads a repro's text; file is used in errors.
func Read(file, text string) (*Repro, error) {
	text, preamble := cutPreamble(text)
	s, err := fx.ParseSource(file, text)
	if err != nil {
		return nil, err
	}
	d := &reader{Source: s, r: &Repro{Accuracy: NoAccuracy, Preamble: preamble}, named: map[string]int64{}, bufs: map[string]int{}}
	if err := d.file(); err != nil {
		return nil, err
	}
	return d.r, nil
}

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
		if d.sawClass {
			return d.Errorf(n, "a second class")
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
	for _, l := range append(append([]string{
		"import torch", "from torch import tensor, device", "import torch.fx as fx", "from math import inf", "from torch.nn import *",
		"from torch.fx.experimental.proxy_tensor import make_fx", "from torch._inductor.compile_fx import compile_fx_inner",
		"import torch._dynamo as dynamo", "import os", "from torch._dynamo.repro.after_aot import run_repro", "from torch._dynamo.repro.after_dynamo import run_repro",
	}, aotImports...), dynamoImports...) {
		usualImports[l] = true
	}
}

func (d *reader) imports(n *sitter.Node) {
	t := d.Content(n)
	switch {
	case strings.Contains(t, "repro.after_dynamo"), strings.Contains(t, "import run_fwd_maybe_bwd"):
		d.r.Stage = AfterDynamo
	case strings.Contains(t, "repro.after_aot"), strings.Contains(t, "compile_fx_inner"):
		d.r.Stage = AfterAOT
	}
	if !usualImports[t] {
		d.r.Imports = append(d.r.Imports, t)
	}
}

// ignorable are statements of the older forms that say nothing beyond the stage.
var ignorable = regexp.MustCompile(`^(compiled\(\*args\)|ref = run_fwd_maybe_bwd\(|res = run_fwd_maybe_bwd\(|compiled = compile_fx_inner\(|mod = make_fx\(|mod = \w+\(\)|mod\(\*args\)|isolate_fails_code_str = |load_args\._version = 0$|mod = mod\.)`)

func (d *reader) expression(e *sitter.Node) error {
	text := d.Content(e)
	switch {
	case e.Type() == "string", ignorable.MatchString(text):
		return nil
	case e.Type() == "call":
		return d.call(e)
	case e.Type() != "assignment" || e.ChildByFieldName("right") == nil:
		return d.notUnderstood(e)
	}
	l, r := d.Content(e.ChildByFieldName("left")), e.ChildByFieldName("right")
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

// loadArgs reads the statements of load_args(reader).
func (d *reader) loadArgs(fn *sitter.Node) error {
	d.sawArgs = true
	body := fn.ChildByFieldName("body")
	if body == nil {
		return d.notUnderstood(fn)
	}
	for i := 0; i < int(body.NamedChildCount()); i++ {
		st := body.NamedChild(i)
		switch st.Type() {
		case "comment":
			if strings.Contains(d.Content(st), "unsupported type for dumping") {
				return d.notUnderstood(st)
			}
			continue
		case "pass_statement":
			continue
		case "expression_statement":
		default:
			return d.notUnderstood(st)
		}
		name := ""
		if c := st.NextNamedSibling(); c != nil && c.Type() == "comment" && c.StartPoint().Row == st.EndPoint().Row {
			name, _, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(d.Content(c), "#")), ", filtered out")
		}
		e := st.NamedChild(0)
		buf := ""
		if e.Type() == "assignment" && e.ChildByFieldName("right") != nil {
			buf, e = d.Content(e.ChildByFieldName("left")), e.ChildByFieldName("right")
		}
		if e.Type() != "call" {
			return d.notUnderstood(st)
		}
		if err := d.readerCall(st, e, buf, name); err != nil {
			return err
		}
	}
	// The last comment of load_args belongs to the last input even where the parser puts it outside of the body.
	if k := len(d.r.Inputs); k > 0 && d.r.Inputs[k-1].Name == "" {
		last := body.NamedChild(int(body.NamedChildCount()) - 1)
		line := strings.Split(string(d.Text), "\n")[last.EndPoint().Row]
		if _, c, ok := strings.Cut(line, ")  # "); ok {
			d.r.Inputs[k-1].Name, _, _ = strings.Cut(c, ", filtered out")
			if in := d.r.Inputs[k-1]; in.Kind == SymIntInput {
				d.noteInt(in)
			}
		}
	}
	return nil
}

var symbolName = regexp.MustCompile(`^[su]\d+$`)

func (d *reader) noteInt(in Input) {
	if v, ok := in.Value.(int64); ok && symbolName.MatchString(in.Name) {
		d.named[in.Name] = v
	}
}

func (d *reader) readerCall(st, e *sitter.Node, buf, name string) error {
	a, err := d.Arg(e, true)
	if err != nil {
		return err
	}
	n, ok := a.(*fx.Node)
	if !ok {
		return d.notUnderstood(st)
	}
	args := n.Args
	if n.Op == fx.CallMethod && len(args) > 0 {
		args = args[1:]
	}
	switch d.Content(e.ChildByFieldName("function")) {
	case "reader.storage":
		return d.storage(st, args, n.Kwargs, buf)
	case "reader.tensor":
		return d.tensor(st, args, n.Kwargs, name)
	case "reader.symint":
		if len(args) == 1 {
			switch v := args[0].(type) {
			case int64:
				in := Input{Kind: SymIntInput, Name: name, Value: v}
				d.noteInt(in)
				d.r.Inputs = append(d.r.Inputs, in)
				return nil
			case float64:
				d.r.Inputs = append(d.r.Inputs, Input{Kind: SymIntInput, Name: name, Value: v})
				return nil
			}
		}
	case "reader.const":
		if len(args) == 1 {
			if s, ok := args[0].(string); ok {
				d.r.Inputs = append(d.r.Inputs, Input{Kind: ConstInput, Name: s})
				return nil
			}
		}
	}
	return d.notUnderstood(st)
}

// size takes a size that may be symbolic; put gets its value at the end.
func (d *reader) size(st *sitter.Node, a fx.Arg, put func(int64)) error {
	switch v := a.(type) {
	case int64:
		put(v)
		return nil
	case fx.SymInt:
		d.symbolic(st, v.Expr, put)
		return nil
	case *fx.Node: // Max(1, s0)
		if v.Op == fx.CallFunction {
			d.symbolic(st, nodeText(v), put)
			return nil
		}
	}
	return d.Errorf(st, "size %s is not understood", fx.FormatArg(a))
}

func (d *reader) symbolic(st *sitter.Node, expr string, put func(int64)) {
	seen := map[string]bool{}
	symbolsIn(expr, seen)
	for _, s := range sorted(seen) {
		if !slices.Contains(d.used, s) {
			d.used = append(d.used, s)
		}
	}
	d.pending = append(d.pending, func() error {
		v, err := evalInt(expr, d.named)
		if err != nil {
			return d.Errorf(st, "%v", err)
		}
		put(v)
		return nil
	})
}

func sorted(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// nodeText turns arithmetic that was read as nodes back into text.
func nodeText(n *fx.Node) string {
	var parts []string
	for _, a := range n.Args {
		if in, ok := a.(*fx.Node); ok {
			parts = append(parts, nodeText(in))
		} else {
			parts = append(parts, fx.FormatArg(a))
		}
	}
	ops := map[string]string{"operator.add": "+", "operator.sub": "-", "operator.mul": "*", "operator.floordiv": "//", "operator.pow": "**", "operator.mod": "%", "operator.truediv": "/"}
	if op, ok := ops[n.Target]; ok && len(parts) == 2 {
		return "(" + parts[0] + op + parts[1] + ")"
	}
	return n.Target + "(" + strings.Join(parts, ", ") + ")"
}

func dtypeName(a fx.Arg) (string, bool) {
	switch v := a.(type) {
	case tensor.DType:
		return v.String(), true
	case fx.FnRef:
		if s, ok := strings.CutPrefix(string(v), "torch."); ok && !strings.Contains(s, ".") {
			return s, true
		}
	}
	return "", false
}

func (d *reader) storage(st *sitter.Node, args []fx.Arg, kwargs []fx.Kwarg, buf string) error {
	if len(args) != 2 || buf == "" {
		return d.notUnderstood(st)
	}
	s := Storage{Device: "cpu", DTypeHint: "float32"}
	switch h := args[0].(type) {
	case nil:
	case string:
		s.Hash = h
	default:
		return d.notUnderstood(st)
	}
	for _, kw := range kwargs {
		switch kw.Name {
		case "device":
			v, ok := kw.Val.(tensor.Device)
			if !ok {
				return d.notUnderstood(st)
			}
			s.Device = v.Type
			if v.Index >= 0 {
				s.Device = fmt.Sprintf("%s:%d", v.Type, v.Index)
			}
		case "dtype_hint":
			name, ok := dtypeName(kw.Val)
			if !ok {
				return d.notUnderstood(st)
			}
			s.DTypeHint = name
		default:
			return d.notUnderstood(st)
		}
	}
	k := len(d.r.Storages)
	d.r.Storages = append(d.r.Storages, s)
	d.bufs[buf] = k
	return d.size(st, args[1], func(v int64) { d.r.Storages[k].NBytes = v })
}

func (d *reader) tensor(st *sitter.Node, args []fx.Arg, kwargs []fx.Kwarg, name string) error {
	if len(args) < 2 || len(args) > 3 {
		return d.notUnderstood(st)
	}
	ref, ok := args[0].(fx.FnRef)
	k, known := d.bufs[string(ref)]
	if !ok || !known {
		return d.Errorf(st, "storage %s is not defined", fx.FormatArg(args[0]))
	}
	i := len(d.r.Inputs)
	d.r.Inputs = append(d.r.Inputs, Input{Kind: TensorInput, Name: name, Storage: k, DType: "float32"})
	in := &d.r.Inputs[i]
	list := func(a fx.Arg, put func(j int, v int64)) (int, error) {
		var items []fx.Arg
		switch a := a.(type) {
		case fx.Tuple:
			items = a
		case fx.List:
			items = a
		default:
			return 0, d.notUnderstood(st)
		}
		for j, it := range items {
			if err := d.size(st, it, func(v int64) { put(j, v) }); err != nil {
				return 0, err
			}
		}
		return len(items), nil
	}
	count := func(a fx.Arg) int {
		switch a := a.(type) {
		case fx.Tuple:
			return len(a)
		case fx.List:
			return len(a)
		}
		return 0
	}
	in.Shape = make([]int64, count(args[1]))
	shape := in.Shape
	if _, err := list(args[1], func(j int, v int64) { shape[j] = v }); err != nil {
		return err
	}
	stride := fx.Arg(nil)
	if len(args) == 3 {
		stride = args[2]
	}
	for _, kw := range kwargs {
		switch kw.Name {
		case "stride":
			stride = kw.Val
		case "storage_offset":
			if err := d.size(st, kw.Val, func(v int64) { d.r.Inputs[i].Offset = v }); err != nil {
				return err
			}
		case "dtype":
			dt, ok := dtypeName(kw.Val)
			if !ok {
				return d.notUnderstood(st)
			}
			in.DType = dt
		case "requires_grad", "is_leaf":
			v, ok := kw.Val.(bool)
			if !ok {
				return d.notUnderstood(st)
			}
			if kw.Name == "is_leaf" {
				in.Leaf = v
			} else {
				in.RequiresGrad = v
			}
		default:
			in.Meta = append(in.Meta, Setting{kw.Name, fx.FormatArg(kw.Val)})
		}
	}
	if stride != nil {
		s := make([]int64, count(stride))
		if len(s) != len(shape) {
			return d.Errorf(st, "%d sizes and %d strides", len(shape), len(s))
		}
		if _, err := list(stride, func(j int, v int64) { s[j] = v }); err != nil {
			return err
		}
		d.pending = append(d.pending, func() error {
			d.r.Inputs[i].Stride = nil
			if !slices.Equal(s, tensor.ContiguousStrides(shape)) { // known once symbols have values
				d.r.Inputs[i].Stride = slices.Clone(s)
			}
			return nil
		})
	}
	return nil
}

// argsList reads the older form: args = [((200, 200), (200, 1), torch.float32, 'cpu', False)].
func (d *reader) argsList(n *sitter.Node) error {
	d.sawArgs = true
	a, err := d.Arg(n, false)
	if err != nil {
		return err
	}
	l, ok := a.(fx.List)
	if !ok {
		return d.notUnderstood(n)
	}
	for _, it := range l {
		t, ok := it.(fx.Tuple)
		if !ok || len(t) < 4 || len(t) > 5 {
			return d.Errorf(n, "argument %s is not understood", fx.FormatArg(it))
		}
		shape, ok1 := ints(t[0])
		stride, ok2 := ints(t[1])
		dt, ok3 := dtypeName(t[2])
		dev, ok4 := t[3].(string)
		if v, isDev := t[3].(tensor.Device); isDev {
			dev, ok4 = v.Type, true
		}
		if !ok1 || !ok2 || !ok3 || !ok4 || len(shape) != len(stride) {
			return d.Errorf(n, "argument %s is not understood", fx.FormatArg(it))
		}
		in := Input{Kind: TensorInput, Storage: len(d.r.Storages), Shape: shape, DType: dt, Leaf: true}
		if !slices.Equal(stride, tensor.ContiguousStrides(shape)) {
			in.Stride = stride
		}
		if len(t) == 5 {
			rg, ok := t[4].(bool)
			if !ok {
				return d.Errorf(n, "argument %s is not understood", fx.FormatArg(it))
			}
			in.RequiresGrad = rg
		}
		size := int64(4)
		if p, ok := tensor.ParseDType(dt); ok {
			size = int64(p.Size())
		}
		elems := int64(1)
		for i, s := range shape {
			if s == 0 {
				elems = 0
				break
			}
			elems += (s - 1) * stride[i]
		}
		d.r.Storages = append(d.r.Storages, Storage{NBytes: elems * size, Device: dev, DTypeHint: dt})
		d.r.Inputs = append(d.r.Inputs, in)
	}
	return nil
}

func ints(a fx.Arg) ([]int64, bool) {
	t, ok := a.(fx.Tuple)
	if !ok {
		return nil, false
	}
	out := make([]int64, len(t))
	for i, x := range t {
		if out[i], ok = x.(int64); !ok {
			return nil, false
		}
	}
	return out, true
}

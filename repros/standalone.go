package repros

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"whittle/capture/fx"
	"whittle/capture/python/literal"
	"whittle/kernels/tensor"
)

// Standalone says how WriteStandalone fills in what a Repro only refers to. The zero value inlines nothing that is stored and
// compiles with torch.compile.
type Standalone struct {
	// Load reads a storage by content hash; nil, or an error from it, leaves random data. Its bytes are written into the script.
	Load func(hash string) ([]byte, error)
	// MaxBytes bounds the storages that are written into the script; 0 is 64 KiB.
	MaxBytes int64
	// Direct hands an after-aot graph to compile_fx_inner as run_repro does, instead of calling torch.compile on its calls. It
	// is for graphs that torch.compile takes apart differently. After dynamo it means nothing.
	Direct bool
}

// LargeStorageError says that a storage is too large to be written into a script.
type LargeStorageError struct {
	Hash        string
	Bytes, Most int64
}

func (e *LargeStorageError) Error() string {
	return fmt.Sprintf("storage %s has %d bytes; a script takes %d", e.Hash, e.Bytes, e.Most)
}

// WriteStandalone is the repro as a plain script of a few lines: a function with the graph's calls, inputs made in place, and
// torch.compile. Where accuracy is what fails, it compares with eager by PyTorch's own rule and raises the AccuracyError
// that run_repro raises. Errors: *IncompleteError, *LargeStorageError.
func WriteStandalone(r *Repro, o Standalone) (string, error) {
	if err := r.Complete(); err != nil {
		return "", err
	}
	w := &standalone{Repro: r, o: o}
	if w.o.MaxBytes == 0 {
		w.o.MaxBytes = 64 << 10
	}
	return w.script()
}

type standalone struct {
	*Repro
	o    Standalone
	b    strings.Builder
	args []string
}

// free is a name for the script's own use that no input has.
func (w *standalone) free(name string) string {
	for slices.ContainsFunc(w.Module.Graph.Placeholders(), func(n *fx.Node) bool { return n.Name == name }) {
		name += "_"
	}
	return name
}

func (w *standalone) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *standalone) script() (string, error) {
	def, callee, err := w.function()
	if err != nil {
		return "", err
	}
	inputs, err := w.inputs()
	if err != nil {
		return "", err
	}
	tail := w.tail(callee)
	for _, h := range w.Head {
		w.line("%s", h)
	}
	if len(w.Env) > 0 {
		w.line("import os")
		for _, s := range w.Env {
			w.line("os.environ['%s'] = %s", s.Name, s.Value)
		}
	}
	w.imports(def + inputs + tail)
	w.line("")
	for _, s := range w.Config {
		w.line("%s = %s", s.Name, s.Value)
	}
	w.line("torch.manual_seed(%d)", w.Seed)
	if w.Preamble != "" {
		w.line("\n%s\n%s\n%s", preambleStart, strings.TrimRight(w.Preamble, "\n"), preambleEnd)
	}
	w.line("\n%s\n%s", def, inputs+tail)
	return strings.TrimRight(w.b.String(), "\n") + "\n", nil
}

// imports writes the imports that the script's text needs.
func (w *standalone) imports(text string) {
	w.line("import torch")
	var mods []string
	for _, s := range w.Config {
		for _, part := range []string{".config.", "._config."} {
			if m, _, ok := strings.Cut(s.Name, part); ok {
				m += strings.TrimSuffix(part, ".")
				if !slices.Contains(mods, m) {
					mods = append(mods, m)
				}
			}
		}
	}
	for _, m := range mods {
		w.line("import %s", m)
	}
	for _, p := range []struct{ word, line string }{
		{`\binf\b`, "from math import inf"},
		{`\bnan\b`, "from math import nan"},
		{`\bdevice\(`, "from torch import device"},
		{`\btorch\.ops\.prims\.(?:_\w+|iota|inductor_\w+)\b`, "import torch._inductor.inductor_prims"},
		{`\bmake_fx\(`, "from torch.fx.experimental.proxy_tensor import make_fx"},
		{`\bcompile_fx_inner\(`, "from torch._inductor.compile_fx import compile_fx_inner"},
		{`\breduce_to_scalar_loss\(`, "from torch._dynamo.testing import reduce_to_scalar_loss, requires_bwd_pass"},
		{`\bsame_two_models\(`, "from torch._dynamo.debug_utils import AccuracyError, same_two_models"},
	} {
		if regexp.MustCompile(p.word).MatchString(text) {
			w.line("%s", p.line)
		}
	}
	for _, l := range fx.HelperImports(w.Module) {
		w.line("%s", l)
	}
	for _, l := range w.Imports {
		w.line("%s", l)
	}
}

var (
	deletes   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`;  (?:\w+ = )+None$`) })
	fnHead    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^def forward\(self(?:, )?(.*?)\)(?: -> .*)?:$`) })
	paramType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\w+) : [^,=]+`) })
)

// function is the definition of what is compiled, and the expression that names it. A module with attributes beyond small
// constants stays a module.
func (w *standalone) function() (def, callee string, err error) {
	gm, _ := w.Module.Clone()
	// PyTorch's comparison after dynamo asks for a module's parameters.
	compared := w.Accuracy != NoAccuracy && w.Accuracy != ""
	if len(gm.Submodules) > 0 || len(gm.Modules) > 0 || w.Stage == AfterDynamo && (compared || len(gm.InitLines()) > 0) {
		c := *gm
		c.ClassName = "Repro"
		text := c.String()
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimRight(deletes().ReplaceAllString(l, ""), " ")
		}
		text = strings.Join(lines, "\n")
		if len(gm.Modules) > 0 {
			text = "from torch.nn import *\n\n" + text
		}
		if strings.Contains(text, "= tensor(") || strings.Contains(text, ", tensor(") {
			text = "from torch import tensor\n" + text
		}
		return text, "Repro()", nil
	}
	consts := map[string]string{}
	for _, l := range gm.InitLines() {
		e := l.Expr
		if strings.HasPrefix(e, "tensor(") {
			e = "torch." + e
		}
		consts[l.Name] = e
	}
	lines := strings.Split(gm.Graph.Forward(""), "\n")
	m := fnHead().FindStringSubmatch(lines[0])
	if m == nil {
		return "", "", fmt.Errorf("forward %q cannot be a function", lines[0])
	}
	var b strings.Builder
	fn := w.free("f")
	fmt.Fprintf(&b, "def %s(%s):\n", fn, paramType().ReplaceAllString(m[1], "$1"))
	for _, l := range lines[1:] {
		l = deletes().ReplaceAllString(l, "")
		if left, name, ok := strings.Cut(l, " = self."); ok && consts[name] != "" {
			l = left + " = " + consts[name]
		}
		b.WriteString(l + "\n")
	}
	return b.String(), fn, nil
}

// inputs writes the arguments, in the order in which load_args makes them.
func (w *standalone) inputs() (string, error) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	views := make([]int, len(w.Storages))
	for _, in := range w.Inputs {
		if in.Kind == TensorInput {
			views[in.Storage]++
		}
	}
	made := make([]bool, len(w.Storages))
	ph := w.Module.Graph.Placeholders()
	for i, in := range w.Inputs {
		name := ph[i].Name
		w.args = append(w.args, name)
		switch in.Kind {
		case SymIntInput:
			line("%s = %s", name, fx.FormatArg(in.Value))
			continue
		case ConstInput:
			line("%s = None", name)
			continue
		case ExprInput:
			line("%s = %s", name, in.Expr)
			continue
		}
		st := w.Storages[in.Storage]
		d, ok := tensor.ParseDType(in.DType)
		if !ok {
			return "", &DTypeUnsupported{in.Name, in.DType}
		}
		expr := ""
		whole := in.Stride == nil && in.Offset == 0 && elements(in.Shape)*int64(d.Size()) == st.NBytes
		if views[in.Storage] == 1 && whole && (st.Hash != "" || st.Expr != "" || st.DTypeHint == in.DType || st.DTypeHint == "") {
			var err error
			if expr, err = w.storage(st, in.DType, in.Shape); err != nil {
				return "", err
			}
		} else {
			buf := w.free(fmt.Sprintf("buf%d", in.Storage))
			hint := st.DTypeHint
			if hint == "" {
				hint = "float32"
			}
			hd, ok := tensor.ParseDType(hint)
			if !ok {
				return "", &DTypeUnsupported{in.Name, hint}
			}
			if !made[in.Storage] {
				made[in.Storage] = true
				e, err := w.storage(st, hint, []int64{st.NBytes / int64(hd.Size())})
				if err != nil {
					return "", err
				}
				line("%s = %s", buf, e)
			}
			if hint != in.DType {
				buf += ".view(torch." + in.DType + ")"
			}
			expr = fmt.Sprintf("torch.as_strided(%s, %s, %s", buf, tupleText(in.Shape), tupleText(in.AllStrides()))
			if in.Offset != 0 {
				expr += fmt.Sprintf(", %d", in.Offset)
			}
			expr += ")"
		}
		for _, m := range in.Meta { // conjugate and negative bits
			if m.Value == "True" && (m.Name == "is_conj" || m.Name == "conj") {
				expr += ".conj()"
			}
			if m.Value == "True" && (m.Name == "is_neg" || m.Name == "neg") {
				expr = "torch._neg_view(" + expr + ")"
			}
		}
		if in.RequiresGrad && w.Stage == AfterDynamo {
			expr += ".requires_grad_()"
			if !in.Leaf {
				expr += ".clone()"
			}
		}
		line("%s = %s", name, expr)
	}
	return b.String(), nil
}

func elements(shape []int64) int64 {
	n := int64(1)
	for _, s := range shape {
		n *= s
	}
	return n
}

// storage is an expression that makes a storage's data as a tensor of a dtype and shape that fill it.
func (w *standalone) storage(st Storage, dtype string, shape []int64) (string, error) {
	device := ""
	if st.Device != "" && st.Device != "cpu" {
		device = ", device=" + literal.Str(st.Device)
	}
	if st.Expr != "" {
		e := strings.TrimSuffix(st.Expr, ".untyped_storage()")
		t := fx.ConstValue(e)
		if t != nil && t.DType.String() == dtype && slices.Equal(t.Shape, shape) {
			return e, nil
		}
		if t == nil { // the storage of any expression, seen as it is wanted
			return fmt.Sprintf("torch.tensor([], dtype=torch.%s%s).set_(%s, 0, %s)", dtype, device, st.Expr, tupleText(shape)), nil
		}
		return DataExpr(dtype, shape, t.Storage.Data, device), nil
	}
	if st.Hash != "" && w.o.Load != nil {
		data, err := w.o.Load(st.Hash)
		if err == nil {
			if int64(len(data)) < st.NBytes {
				return "", fmt.Errorf("storage %s holds %d bytes, %d wanted", st.Hash, len(data), st.NBytes)
			}
			data = data[:st.NBytes]
			e := DataExpr(dtype, shape, data, device)
			if int64(len(data)) > w.o.MaxBytes && len(e) > 200 {
				return "", &LargeStorageError{st.Hash, st.NBytes, w.o.MaxBytes}
			}
			return e, nil
		}
	}
	size := strings.Trim(fx.FormatArg(dims(shape)), "[]")
	if size == "" {
		size = "()"
	}
	d, _ := tensor.ParseDType(dtype)
	switch {
	case d.IsFloat() && d.Size() == 1:
		return fmt.Sprintf("torch.randn(%s, dtype=torch.float16%s).to(torch.%s)", size, device, dtype), nil
	case d.IsFloat():
		return "torch.randn(" + size + dtypeArg(dtype, "float32") + device + ")", nil
	}
	return "torch.zeros(" + size + dtypeArg(dtype, "float32") + device + ")", nil
}

func dims(shape []int64) fx.List {
	l := make(fx.List, len(shape))
	for i, s := range shape {
		l[i] = s
	}
	return l
}

func dtypeArg(dtype, def string) string {
	if dtype == def {
		return ""
	}
	return ", dtype=torch." + dtype
}

// maxList is how many numbers are written as a list; more become base64 text.
const maxList = 256

// DataExpr is a Python expression for a contiguous tensor with the given bytes: zeros, ones, full or arange where that is what they
// are, a list of its numbers where it is short, base64 text otherwise. It is exact, NaN payloads aside. device is "" or further
// keyword text such as ", device='cuda'".
func DataExpr(dtype string, shape []int64, data []byte, device string) string {
	d, ok := tensor.ParseDType(dtype)
	size := strings.Trim(fx.FormatArg(dims(shape)), "[]")
	if size == "" {
		size = "()"
	}
	zero := !slices.ContainsFunc(data, func(b byte) bool { return b != 0 })
	if zero {
		return "torch.zeros(" + size + dtypeArg(dtype, "float32") + device + ")"
	}
	vals := numbers(d, data)
	if !ok || vals == nil || (len(vals) > maxList && !uniform(vals) && !counts(vals)) {
		suffix := ""
		if len(shape) != 1 {
			suffix = ".reshape(" + fx.FormatArg(dims(shape)) + ")"
		}
		if device != "" {
			suffix += ".to(" + strings.TrimPrefix(device, ", device=") + ")"
		}
		return "torch.frombuffer(bytearray(__import__('base64').b64decode('" + base64.StdEncoding.EncodeToString(data) + "')), dtype=torch." + dtype + ")" + suffix
	}
	if uniform(vals) && len(vals) > 1 {
		if isOne(vals[0]) {
			return "torch.ones(" + size + dtypeArg(dtype, "float32") + device + ")"
		}
		return "torch.full(" + tupleText(shape) + ", " + number(vals[0]) + ", dtype=torch." + dtype + device + ")"
	}
	if counts(vals) && len(vals) > 2 && d.IsInt() {
		e := fmt.Sprintf("torch.arange(%d%s%s)", len(vals), dtypeArg(dtype, "int64"), device)
		if len(shape) != 1 {
			e += ".reshape(" + fx.FormatArg(dims(shape)) + ")"
		}
		return e
	}
	def := map[tensor.Kind]string{tensor.KindBool: "bool", tensor.KindInt: "int64", tensor.KindFloat: "float32", tensor.KindComplex: "complex64"}[d.Kind()]
	return "torch.tensor(" + nested(shape, vals) + dtypeArg(dtype, def) + device + ")"
}

func isOne(v any) bool {
	return v == any(1.0) || v == any(int64(1)) || v == any(true)
}

func uniform(vals []any) bool {
	return !slices.ContainsFunc(vals, func(v any) bool { return !identical(v, vals[0]) })
}

// identical reports whether two numbers are the same to the bit: the signs of zeros count, and one NaN is like another.
func identical(a, b any) bool {
	same := func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
	}
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && same(a, b)
	case complex128:
		b, ok := b.(complex128)
		return ok && same(real(a), real(b)) && same(imag(a), imag(b))
	}
	return a == b
}

func counts(vals []any) bool {
	for i, v := range vals {
		if v != any(int64(i)) {
			return false
		}
	}
	return true
}

func number(v any) string {
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return "float('" + literal.Float(v) + "')"
		}
	case complex128:
		if !sums(real(v), imag(v)) {
			return "complex(" + number(real(v)) + ", " + number(imag(v)) + ")"
		}
	}
	return fx.FormatArg(v)
}

// sums reports whether the literal `re+imj` is that number to the bit: it is a sum in Python, in which the sign of a zero is lost,
// and there is no literal for what is not finite.
func sums(re, im float64) bool {
	finite := !math.IsInf(re, 0) && !math.IsNaN(re) && !math.IsInf(im, 0) && !math.IsNaN(im)
	negative := func(f float64) bool { return f == 0 && math.Signbit(f) }
	return finite && !negative(re) && !negative(im) && (re != 0 || im >= 0)
}

func nested(shape []int64, vals []any) string {
	if len(shape) == 0 {
		return number(vals[0])
	}
	n := int(shape[0])
	parts := make([]string, n)
	step := 0
	if n > 0 {
		step = len(vals) / n
	}
	for i := range parts {
		parts[i] = nested(shape[1:], vals[i*step:(i+1)*step])
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// numbers are the values in data as Python numbers, nil for dtypes without a plain form.
func numbers(d tensor.DType, data []byte) []any {
	if d == tensor.Invalid || d.Size() == 0 || len(data)%d.Size() != 0 {
		return nil
	}
	n := len(data) / d.Size()
	out := make([]any, n)
	if d.Computes() {
		t := &tensor.Tensor{Storage: &tensor.Storage{Data: data, NBytes: int64(len(data))}, DType: d, Shape: []int64{1}, Stride: []int64{1}}
		for i := range out {
			t.Offset = int64(i)
			out[i] = t.Item()
		}
		return out
	}
	for i := range out {
		b := data[i*d.Size():]
		switch d {
		case tensor.UInt16:
			out[i] = int64(binary.LittleEndian.Uint16(b))
		case tensor.UInt32:
			out[i] = int64(binary.LittleEndian.Uint32(b))
		case tensor.Complex64:
			out[i] = complex(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))))
		case tensor.Complex128:
			out[i] = complex(math.Float64frombits(binary.LittleEndian.Uint64(b)), math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
		default:
			return nil
		}
	}
	return out
}

// tail compiles and runs.
func (w *standalone) tail(callee string) string {
	var b strings.Builder
	indent := ""
	line := func(format string, args ...any) { fmt.Fprintf(&b, indent+format+"\n", args...) }
	call := strings.Join(w.args, ", ")
	options := ""
	symbolic := w.Stage == AfterAOT && w.Tracing == "symbolic"
	for _, in := range w.Inputs {
		symbolic = symbolic || in.Kind == SymIntInput
	}
	if symbolic {
		options = ", dynamic=True"
	}
	if w.Stage == AfterDynamo && w.Backend != "" && w.Backend != "inductor" {
		options += ", backend=" + w.backend()
	}
	f, args, gm, out := w.free("f"), w.free("args"), w.free("gm"), w.free("out")
	if callee != f {
		line("%s = %s", f, callee)
	}
	accuracy := w.Accuracy != NoAccuracy && w.Accuracy != ""
	compiled := "torch.compile(" + f + options + ")"
	if w.Stage == AfterDynamo {
		if w.Autocast {
			line("with torch.amp.autocast('cuda'):")
			indent = "    "
		}
		grad := slices.ContainsFunc(w.Inputs, func(in Input) bool { return in.RequiresGrad })
		switch {
		case accuracy:
			line("if not same_two_models(%s, %s, [%s]):", f, compiled, call)
			line("    raise AccuracyError('Dynamo failed')")
		case grad:
			line("%s = %s(%s)", out, compiled, call)
			line("if requires_bwd_pass(%s):", out)
			line("    reduce_to_scalar_loss(%s).backward()", out)
		default:
			line("%s(%s)", compiled, call)
		}
		return b.String()
	}
	if !w.o.Direct && !accuracy {
		line("%s(%s)", compiled, call)
		return b.String()
	}
	tracing := ""
	if w.Tracing != "" && w.Tracing != "real" {
		tracing = ", tracing_mode=" + literal.Str(w.Tracing)
	}
	line("%s = [%s]", args, call)
	line("with torch.no_grad():")
	indent = "    "
	line("%s = make_fx(%s%s)(*%s)", gm, f, tracing, args)
	if w.o.Direct {
		compiled = "compile_fx_inner(" + gm + ", " + args + ")"
	}
	if accuracy {
		line("if not same_two_models(%s, %s, %s, only_fwd=True):", gm, compiled, args)
		line("    raise AccuracyError('Bad accuracy detected')")
	} else {
		line("%s(list(%s))", compiled, args)
	}
	return b.String()
}

// backend is how torch.compile is told the backend: by name where it has one, else the preamble's function.
func (w *standalone) backend() string {
	defines := regexp.MustCompile(`(?m)^(?:def|class) ` + regexp.QuoteMeta(w.Backend) + `\b|^` + regexp.QuoteMeta(w.Backend) + ` =`)
	if defines.MatchString(w.Preamble) {
		return w.Backend
	}
	return literal.Str(w.Backend)
}

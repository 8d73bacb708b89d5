package repros

import (
	"fmt"
	"path/filepath"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/literal"
	"whittle/replay/files"
)

var aotImports = []string{"import torch", "from torch import tensor, device", "import torch.fx as fx", "from torch._dynamo.testing import rand_strided",
	"from math import inf", "import torch._inductor.inductor_prims"}

// KeepGraph goes into repros whose graph writes to its inputs. PyTorch's run_repro compares with a graph that the compiler has edited meanwhile; one that was
// made to write in place may not even run. What reads a repro leaves these lines out: who finishes one puts them in.
var KeepGraph = []string{
	"import copy, torch._inductor.compile_fx as _compile_fx",
	"_inner = _compile_fx.compile_fx_inner",
	"_compile_fx.compile_fx_inner = lambda gm, args, **options: _inner(copy.deepcopy(gm), args, **options)",
}

var dynamoImports = []string{"from math import inf", "import torch", "from torch import tensor, device", "import torch.fx as fx", "import torch._dynamo",
	"from torch._dynamo.testing import rand_strided", "from torch._dynamo.debug_utils import run_fwd_maybe_bwd",
	"import torch._dynamo.config", "import torch._inductor.config", "import torch._functorch.config", "import torch.fx.experimental._config"}

// The marker comments around Repro.Preamble.
const (
	preambleStart = "# --- from the script: what this repro needs ---"
	preambleEnd   = "# --- end ---"
)

// cutPreamble takes the marked part out of a file's text, leaving its lines empty so that line numbers stay.
func cutPreamble(text string) (rest, preamble string) {
	before, tail, ok := strings.Cut(text, preambleStart+"\n")
	if !ok {
		return text, ""
	}
	preamble, after, ok := strings.Cut(tail, preambleEnd+"\n")
	if !ok {
		return text, ""
	}
	return before + strings.Repeat("\n", strings.Count(preamble, "\n")+2) + after, strings.TrimRight(preamble, "\n")
}

// Write is the repro as a Python file in the form of PyTorch 2.6.
func Write(r *Repro) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, h := range r.Head {
		line("%s", h)
	}
	if len(r.Env) > 0 {
		line("import os")
	}
	for _, s := range r.Env {
		line("os.environ['%s'] = %s", s.Name, s.Value)
	}
	imports := aotImports
	if r.Stage == AfterDynamo {
		imports = dynamoImports[:7]
	}
	for _, l := range imports {
		line("%s", l)
	}
	line("")
	for _, l := range dynamoImports[7:] {
		line("%s", l)
	}
	for _, s := range r.Config {
		line("%s = %s", s.Name, s.Value)
	}
	for _, l := range fx.HelperImports(r.Module) {
		line("%s", l)
	}
	line("")
	for _, l := range r.Imports {
		line("%s", l)
	}
	if r.Preamble != "" {
		line("%s", preambleStart)
		line("%s", strings.TrimRight(r.Preamble, "\n"))
		line("%s", preambleEnd)
	}
	if r.Seed != 0 {
		line("torch.manual_seed(%d)", r.Seed)
	}
	line("from torch.nn import *")
	b.WriteString(r.Module.String())
	line("")
	line("def load_args(reader):")
	done := make([]bool, len(r.Storages))
	if len(r.Inputs) == 0 {
		line("    pass")
	}
	for _, in := range r.Inputs {
		writeInput(line, r, in, done)
	}
	line("load_args._version = 0")
	name := r.Module.ClassName
	if name == "" {
		name = "Repro"
	}
	line("mod = %s()", name)
	line("if __name__ == '__main__':")
	acc := r.Accuracy
	if acc == "" {
		acc = NoAccuracy
	}
	command := r.Command
	if command == "" {
		command = "run"
	}
	dir := orNone(r.SaveDir)
	if r.SaveDir != "" && !filepath.IsAbs(r.SaveDir) {
		line("    import os")
		dir = besideFile + dir + ")"
	}
	if r.Stage == AfterDynamo {
		line("    from torch._dynamo.repro.after_dynamo import run_repro")
		auto := "False"
		if r.Autocast {
			auto = "True"
		}
		line("    run_repro(mod, load_args, accuracy=%s, command=%s,\n        save_dir=%s, autocast=%s, backend=%s)", acc, literal.Str(command), dir, auto, orNone(r.Backend))
		return b.String()
	}
	tracing := r.Tracing
	if tracing == "" {
		tracing = "real"
	}
	tail := fmt.Sprintf("save_dir=%s, tracing_mode=%s, check_str=%s)", dir, literal.Str(tracing), orNone(r.Check))
	line("    from torch._dynamo.repro.after_aot import run_repro")
	line("    with torch.no_grad():")
	line("        run_repro(mod, load_args, accuracy=%s, command=%s, %s", acc, literal.Str(command), tail)
	line("        # To run it separately, do")
	line("        # mod, args = run_repro(mod, load_args, accuracy=%s, command='get_args', %s", acc, tail)
	line("        # mod(*args)")
	return b.String()
}

// besideFile begins the save_dir that lies beside the file, wherever that is run from. PyTorch takes a relative one from the current folder.
const besideFile = "os.path.join(os.path.dirname(os.path.abspath(__file__)), "

func orNone(s string) string {
	if s == "" {
		return "None"
	}
	return literal.Str(s)
}

func writeInput(line func(string, ...any), r *Repro, in Input, done []bool) {
	switch in.Kind {
	case SymIntInput:
		line("    reader.symint(%s)  # %s", fx.FormatArg(in.Value), in.Name)
		return
	case ConstInput: // PyTorch's own readers have no method for it
		line("    reader.symint(None)  # %s", in.Name)
		return
	case ExprInput:
		line("    reader.symint(%s)  # %s", in.Expr, in.Name)
		return
	}
	if !done[in.Storage] {
		done[in.Storage] = true
		st := r.Storages[in.Storage]
		if st.Expr != "" {
			unit := "bytes"
			if st.NBytes == 1 {
				unit = "byte"
			}
			line("    buf%d = %s  # %d %s", in.Storage, st.Expr, st.NBytes, unit)
		} else {
			writeStorage(line, in.Storage, st)
		}
	}
	args := ""
	if in.Stride != nil {
		args += ", " + tupleText(in.Stride)
	}
	if in.DType != "" && in.DType != "float32" {
		args += ", dtype=torch." + in.DType
	}
	if in.Offset != 0 {
		args += fmt.Sprintf(", storage_offset=%d", in.Offset)
	}
	for _, m := range in.Meta {
		args += ", " + m.Name + "=" + m.Value
	}
	if in.RequiresGrad {
		args += ", requires_grad=True"
	}
	if in.Leaf {
		args += ", is_leaf=True"
	}
	line("    reader.tensor(buf%d, %s%s)  # %s", in.Storage, tupleText(in.Shape), args, in.Name)
}

func writeStorage(line func(string, ...any), k int, st Storage) {
	extra := ""
	if st.Device != "" && st.Device != "cpu" {
		typ, idx, ok := strings.Cut(st.Device, ":")
		extra = ", device=device(type=" + literal.Str(typ)
		if ok {
			extra += ", index=" + idx
		}
		extra += ")"
	}
	if st.DTypeHint != "" && st.DTypeHint != "float32" {
		extra += ", dtype_hint=torch." + st.DTypeHint
	}
	line("    buf%d = reader.storage(%s, %d%s)", k, orNone(st.Hash), st.NBytes, extra)
}

func tupleText(xs []int64) string {
	t := make(fx.Tuple, len(xs))
	for i, x := range xs {
		t[i] = x
	}
	return fx.FormatArg(t)
}

// WriteFile writes the repro to path, or to a free name beside it where somebody else's file is, and returns where: see files.Put, which about
// goes to.
func WriteFile(path string, r *Repro, about ...string) (string, error) {
	return files.Put(path, []byte(Write(r)), about...)
}

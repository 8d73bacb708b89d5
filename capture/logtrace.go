package capture

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/kernels/tensor"
)

// frames walks from the running frame out to the frame that is captured.
func (gr *ground) frames(visit func(f *vm.Frame) bool) {
	if gr.ended {
		return
	}
	for f := gr.in.Frame(); f != nil; f = f.Back {
		if !visit(f) || f == gr.root {
			return
		}
	}
}

// userPlace is the line of the innermost frame that PyTorch would trace, too.
func (gr *ground) userPlace() guard.Place {
	var at guard.Place
	gr.frames(func(f *vm.Frame) bool {
		if f != gr.root && !gr.mirrored(f) {
			return true
		}
		at = guard.Place{Code: f.Code, Line: f.Line()}
		return false
	})
	return at
}

// origin is the line that a node of the graph belongs to: modules of torch.nn count for the line that calls them.
func (gr *ground) origin() fx.Origin {
	var o fx.Origin
	gr.frames(func(f *vm.Frame) bool {
		if f != gr.root && (!gr.mirrored(f) || strings.HasPrefix(f.Code.Filename, "torch/nn/modules/")) {
			return true
		}
		o = fx.Origin{File: f.Code.Filename, Line: f.Line(), Func: f.Code.Name, Code: strings.TrimSpace(guard.Place{Code: f.Code, Line: f.Line()}.Text())}
		return false
	})
	return o
}

// header is how traces name the line that a frame is at.
func (gr *ground) header(f *vm.Frame) string {
	depth := 0
	for g := f; g != nil && g != gr.root; g = g.Back {
		if gr.mirrored(g) {
			depth++
		}
	}
	name := f.Code.QualName
	name = strings.ReplaceAll(name, "<locals>.", "")
	s := fmt.Sprintf("%s:%d in %s (%s)", f.Code.Filename, f.Line(), f.Code.Name, name)
	if depth > 0 {
		s += fmt.Sprintf(" (inline depth: %d)", depth)
	}
	return s
}

// logStep logs the line and the instruction that a frame is at; name is what it calls the values on the stack.
func (jo *journal) logStep(f *vm.Frame, ins code.Instr, name func(o vm.Object) string) {
	l := &jo.d.logs
	if !l.on[logSource] && !l.on[logInstr] || f != jo.root && !jo.mirrored(f) {
		return
	}
	if line := f.Line(); l.on[logSource] && jo.loggedLine[f] != line {
		jo.loggedLine[f] = line
		jo.d.Log(logSource, fmt.Sprintf("TRACE starts_line %s\n    %s", jo.header(f), guard.Place{Code: f.Code, Line: line}.Text()))
	}
	if !l.on[logInstr] {
		return
	}
	stack := make([]string, f.SP)
	for i, v := range f.Stack[:f.SP] {
		stack[i] = "NullVariable"
		if v != nil {
			stack[i] = name(v)
		}
	}
	jo.d.Log(logInstr, fmt.Sprintf("TRACE %s %s [%s]", ins.Op, f.Code.ArgValue(ins), strings.Join(stack, ", ")))
}

// logInlined logs that a frame of the trace begins.
func (jo *journal) logInlined(f *vm.Frame) {
	if !jo.d.logs.any || !jo.mirrored(f) || f.Back == nil {
		return
	}
	if jo.d.logs.on[logInlined] && (f.Back == jo.root || jo.mirrored(f.Back)) {
		jo.d.Log(logInlined, fmt.Sprintf("TRACE inlined call %s from %s\n%s", f.Code.Name, jo.header(f.Back), marks(jo.in, f.Back)))
	}
	if jo.d.logs.on[logInlining] {
		why := "inlined by default"
		if strings.HasPrefix(f.Code.Filename, "torch/") {
			why = "MOD_INLINELIST"
		}
		jo.d.Log(logInlining, fmt.Sprintf("INLINING %s, inlined according trace_rules.lookup %s", codeText(f.Code), why))
	}
}

func codeText(c *vm.Code) string {
	return fmt.Sprintf("<code object %s, file %q, line %d>", c.Name, c.Filename, c.FirstLine)
}

// logNode logs a node that was just made.
func (jo *journal) logNode(n *fx.Node) {
	if !jo.d.logs.on[logNodeCall] {
		return
	}
	jo.frames(func(f *vm.Frame) bool {
		if f != jo.root && !jo.mirrored(f) {
			return true
		}
		jo.d.Log(logNodeCall, fmt.Sprintf("TRACE FX call %s from %s\n%s", n.Name, jo.header(f), marks(jo.in, f)))
		return false
	})
}

// marks is the line that a frame is at with marks under the expression that runs.
func marks(in *vm.Interp, f *vm.Frame) string {
	text := guard.Place{Code: f.Code, Line: f.Line()}.Text()
	if f.PC < 0 || f.PC >= len(f.Code.Instrs) {
		return text
	}
	ins := f.Code.Instrs[f.PC]
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	start, end := int(ins.Col), int(ins.EndCol)
	if ins.EndLine != ins.Line {
		end = len(text)
	}
	if start < indent || end > len(text) || end <= start {
		return text
	}
	seg := text[start:end]
	n := utf8.RuneCountInString(seg)
	under := strings.Repeat("^", n)
	if open := callBracket(seg); open > 0 {
		k := utf8.RuneCountInString(seg[:open])
		under = strings.Repeat("~", k) + strings.Repeat("^", n-k)
	} else if lines := strings.Split(in.FormatEntry(f.Code, f.PC), "\n"); len(lines) > 3 && strings.Contains(lines[2], "~") {
		under = strings.TrimLeft(lines[2], " ")
	}
	return text + "\n" + strings.Repeat(" ", utf8.RuneCountInString(text[:start])) + under
}

// callBracket is where the arguments of a call begin, for source that ends in them; 0 for other source.
func callBracket(seg string) int {
	if !strings.HasSuffix(seg, ")") {
		return 0
	}
	depth := 0
	for i := len(seg) - 1; i > 0; i-- {
		switch seg[i] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// described is what printed graphs say of a node, with sizes as the trace knows them.
func (jo *journal) described(n *fx.Node) string {
	t, ok := n.Val.(*tensor.Tensor)
	if !ok || t == nil || !jo.sizes.Symbolic(t) {
		return fx.Described(n.Val)
	}
	text := t.DType.Short() + exprList(jo.sizes.Size(t))
	if stride, err := jo.sizes.Stride(t); err == nil {
		text += exprList(stride) + "cpu"
	}
	return text
}

// describedSizes is described without strides and device.
func (jo *journal) describedSizes(n *fx.Node) string {
	if t, ok := n.Val.(*tensor.Tensor); ok && t != nil && jo.sizes.Symbolic(t) {
		return t.DType.Short() + exprList(jo.sizes.Size(t))
	}
	return fx.DescribedSizes(n.Val)
}

func exprList(es []*symbolic.Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.String()
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// sizesText is a node's sizes as a Python tuple; "" for what is no tensor.
func (jo *journal) sizesText(n *fx.Node) string {
	t, ok := n.Val.(*tensor.Tensor)
	if !ok || t == nil {
		return ""
	}
	size := jo.sizes.Size(t)
	parts := make([]string, len(size))
	for i, e := range size {
		parts[i] = e.String()
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// logGraphs logs a captured graph in the forms that are asked for.
func (jo *journal) logGraphs(gm *fx.GraphModule, name string) {
	on := &jo.d.logs.on
	if on[logGraph] {
		jo.d.Log(logGraph, GraphText(name, gm.Graph.Table()))
	}
	if on[logGraphCode] {
		jo.d.Log(logGraphCode, GraphText(name, gm.Readable("GraphModule", jo.described)))
	}
	if on[logGraphSizes] {
		jo.d.Log(logGraphSizes, fmt.Sprintf("TRACED GRAPH TENSOR SIZES\n===== %s =====\n%s", name, gm.Graph.Sizes(jo.sizesText)))
	}
}

// GraphText is how logs present a graph called name.
func GraphText(name, text string) string {
	return fmt.Sprintf("TRACED GRAPH\n ===== %s =====\n %s\n", name, strings.TrimSuffix(text, "\n"))
}

// logInputs logs a placeholder.
func (jo *journal) logInput(n *fx.Node, source string) {
	if !jo.d.logs.on[logGraphInput] {
		return
	}
	jo.d.Log(logGraphInput, fmt.Sprintf("create_graph_input %s %s %s at debug_level 0 before=False", n.Target, source, jo.described(n)))
}

// logBreakAt logs a graph break with the user's stack; the same line is explained once.
func (d *Dynamo) logBreakAt(b *BreakEvent, frames []guard.Place) {
	if !d.logs.on[logBreak] || len(frames) == 0 {
		return
	}
	in := frames[len(frames)-1]
	key := StackEntry{File: in.Code.Filename, Line: in.Line}
	if d.logs.broken[key] {
		d.Log(logBreak, fmt.Sprintf("Graph break (details suppressed) in user code at %s:%d\nReason: %s", key.File, key.Line, b.Reason))
		return
	}
	if d.logs.broken == nil {
		d.logs.broken = map[StackEntry]bool{}
	}
	d.logs.broken[key] = true
	var s strings.Builder
	fmt.Fprintf(&s, "Graph break in user code at %s:%d\nReason: %s\nUser code traceback:\n", key.File, key.Line, b.Reason)
	for _, f := range frames {
		fmt.Fprintf(&s, "  File \"%s\", line %d, in %s\n", f.Code.Filename, f.Line, f.Code.Name)
		if t := strings.TrimSpace(f.Text()); t != "" {
			s.WriteString("    " + t + "\n")
		}
	}
	d.Log(logBreak, s.String())
}

// stackFrames lists the frames from the captured one to the running one.
func (jo *journal) stackFrames() []guard.Place {
	var out []guard.Place
	jo.frames(func(f *vm.Frame) bool {
		out = append([]guard.Place{{Code: f.Code, Line: f.Line()}}, out...)
		return true
	})
	return out
}

// logRecompile logs why a frame is compiled again.
func (d *Dynamo) logRecompile(f *vm.Frame, line int, reasons []string, all func() []string) {
	head := fmt.Sprintf("Recompiling function %s in %s:%d\n    triggered by the following guard failure(s):\n", f.Code.Name, f.Code.Filename, line)
	if d.logs.on[logRecompilesVerbose] {
		var parts []string
		for i, r := range all() {
			parts = append(parts, fmt.Sprintf("    guard %d failures:\n    - %s", i, strings.ReplaceAll(r, "\n", "\n    - ")))
		}
		d.Log(logRecompilesVerbose, head+strings.Join(parts, "\n\n"))
		return
	}
	if d.logs.on[logRecompiles] {
		d.Log(logRecompiles, head+"    - "+strings.Join(reasons, "\n    - "))
	}
}

// logBytecode logs the code of a frame that was captured, and what runs in its place.
func (d *Dynamo) logBytecode(f *vm.Frame, en *entry, compiled string) {
	if !d.logs.on[logBytecode] {
		return
	}
	show := func(what, listing string) {
		d.Log(logBytecode, fmt.Sprintf("%s BYTECODE %s %s line %d \n%s\n", what, f.Code.Name, f.Code.Filename, en.frame.Line, listing))
	}
	show("ORIGINAL", f.Code.Dis(-1))
	show("MODIFIED", d.replacement(f, en, compiled))
}

// replacement lists, in the form of bytecode, what an entry does in place of its frame: the call of the compiled graph, the writes
// to objects, and the result, or the instruction that broke the graph and the call of the function that goes on.
func (d *Dynamo) replacement(f *vm.Frame, en *entry, compiled string) string {
	var b strings.Builder
	line := fmt.Sprint(en.frame.Line)
	emit := func(op, arg string) {
		b.WriteString(code.DisLine(line, op, arg))
		line = ""
	}
	emit("RESUME", "    0")
	if en.fn != nil {
		emit("LOAD_GLOBAL", "      (NULL + "+compiled+")")
		for _, in := range en.inputs {
			loadSource(in.source, emit)
		}
		emit("CALL", fmt.Sprintf("%5d", len(en.inputs)))
		emit("STORE_FAST", "      (graph_out_0)")
	}
	p := en.plan
	for _, ef := range p.effects {
		for range ef.items {
			emit("LOAD_FAST", "      (graph_out_0)")
		}
		switch {
		case ef.global != "":
			emit("STORE_GLOBAL", "      ("+ef.global+")")
		case ef.cell:
			emit("STORE_DEREF", "")
		case ef.source != nil:
			loadSource(ef.source, emit)
			emit("CALL", fmt.Sprintf("%5d (refill)", len(ef.items)))
		}
	}
	for _, l := range p.logs {
		emit("CALL", fmt.Sprintf("%5d (put off)", len(l.args)))
	}
	if !p.breaks {
		emit("LOAD_FAST", "      (graph_out_0)")
		emit("RETURN_VALUE", "")
		return b.String()
	}
	ins := f.Code.Instrs[p.pc]
	emit(ins.Op.String(), fmt.Sprintf("%5d (%s)", ins.Arg, f.Code.ArgValue(ins)))
	n := len(p.stack)
	for _, r := range p.locals {
		if r != nil {
			n++
		}
	}
	emit("LOAD_GLOBAL", fmt.Sprintf("      (NULL + __resume_at_%d)", p.pc))
	emit("CALL", fmt.Sprintf("%5d", n))
	emit("RETURN_VALUE", "")
	return b.String()
}

// loadSource lists the instructions that read a source.
func loadSource(s source.Source, emit func(op, arg string)) {
	switch s := s.(type) {
	case source.Local:
		emit("LOAD_FAST", "      ("+s.Var+")")
	case source.Global:
		emit("LOAD_GLOBAL", "      ("+s.Var+")")
	case source.Attr:
		loadSource(s.Base, emit)
		emit("LOAD_ATTR", "      ("+s.Of+")")
	case source.Item:
		loadSource(s.Base, emit)
		emit("LOAD_CONST", "      ("+s.Text+")")
		emit("BINARY_SUBSCR", "")
	case source.Module:
		loadSource(s.Base, emit)
	default:
		emit("LOAD_GLOBAL", "      ("+s.Name()+")")
	}
}

// logFrame notes a frame that capture begins with, for the list that is logged at the end of the program.
func (d *Dynamo) logFrame(f *vm.Frame) {
	if f.PC > 0 {
		return
	}
	d.logs.traced = append(d.logs.traced, fmt.Sprintf("  * %s %s:%d", f.Code.Name, f.Code.Filename, f.Code.FirstLine))
	if d.logs.ending || !d.logs.any {
		return
	}
	d.logs.ending = true
	d.In.AtExit(&vm.Builtin{Name: "dump_frames", Module: "torch._dynamo", Max: -1, Fn: func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		if d.Logging(logFrames) {
			d.Log(logFrames, "TorchDynamo attempted to trace the following frames: [\n"+strings.Join(d.logs.traced, "\n")+"\n]")
		}
		return vm.None, nil
	}})
}

// logStartOf logs a compilation that begins, and who called the frame.
func (d *Dynamo) logStartOf(f *vm.Frame, line int) {
	if !d.logs.on[logStart] {
		return
	}
	var s strings.Builder
	for g := f.Back; g != nil; g = g.Back {
		entry := fmt.Sprintf("  File \"%s\", line %d, in %s\n", g.Code.Filename, g.Line(), g.Code.Name)
		if t := strings.TrimSpace(guard.Place{Code: g.Code, Line: g.Line()}.Text()); t != "" {
			entry += "    " + t + "\n"
		}
		old := s.String()
		s.Reset()
		s.WriteString(entry + old)
	}
	d.Log(logStart, fmt.Sprintf("torchdynamo start compiling %s %s:%d, stack (elided 0 frames):\n%s", f.Code.Name, f.Code.Filename, line, s.String()))
}

// logSymbols makes the symbols and guards of the trace's numbers known to the log.
func (jo *journal) logSymbols() {
	if !jo.d.logs.on[logCreateSymbol] {
		return
	}
	user := func(where string) string {
		at := jo.userPlace()
		if at.Code == nil {
			return "(" + where + ")"
		}
		return strings.TrimPrefix(at.Comment(), "# ") + " (" + where + ")"
	}
	bounds := func(r symbolic.Range) string {
		lo, hi := "-int_oo", "int_oo"
		if r.Lo != symbolic.All.Lo {
			lo = fmt.Sprint(r.Lo)
		}
		if r.Hi != symbolic.NoUpper {
			hi = fmt.Sprint(r.Hi)
		}
		return "[" + lo + ", " + hi + "]"
	}
	jo.unknowns.Created = func(s *symbolic.Symbol) {
		if s.Hint == nil {
			jo.d.Log(logUnbacked, fmt.Sprintf("create_unbacked_symint %s %s %s", s.Name, bounds(s.Range), user("_subclasses/fake_impls.py:0 in <lambda>")))
			return
		}
		where := "_dynamo/variables/builder.py:2861 in <lambda>"
		if !strings.Contains(s.From, ".") {
			where = "_dynamo/variables/builder.py:1855 in wrap_symint"
		}
		jo.d.Log(logCreateSymbol, fmt.Sprintf(`create_symbol %s = %v for %s %s %s, for more info run with TORCHDYNAMO_EXTENDED_DEBUG_CREATE_SYMBOL="%s" or to suppress this message run with TORCHDYNAMO_EXTENDED_ADVICE="0"`,
			s.Name, s.Hint, s.From, bounds(s.Range), user(where), s.Name))
	}
	jo.unknowns.Guarded = func(g *symbolic.Expr) {
		jo.d.Log(logEval, fmt.Sprintf(`eval %s [guard added] %s, for more info run with TORCHDYNAMO_EXTENDED_DEBUG_GUARD_ADDED="%s"`, g, user("_dynamo/variables/tensor.py:1201 in evaluate_expr"), g))
	}
}

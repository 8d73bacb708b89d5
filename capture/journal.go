package capture

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/resume"
	"whittle/capture/symbolic"
	"whittle/kernels/tensor"
)

// journal is what a trace says about itself: in PyTorch's logs, line by line and graph by graph, and about the place of a break.
type journal struct {
	*ground
	loggedLine map[*vm.Frame]int // the line that was last logged of each frame

	// The innermost frames at the error that ended the trace, in both forms that logs have; nil as long as there is none.
	stack   []StackEntry
	breakAt []guard.Place
}

// StackEntry is one frame of a user stack: function, line, file.
type StackEntry struct {
	Function string
	Line     int
	File     string
}

// located notes the user's stack when err ends the trace.
func (jo *journal) located(err error) error {
	var u *Unsupported
	if jo.stack == nil && errors.As(err, &u) {
		jo.stack, jo.breakAt = jo.userStack(), jo.stackFrames()
		if row := u.Reason.ID.Row(); !row.Bare && !row.Before && jo.inContext(row.Missing) {
			u.Reason = breaks.New(breaks.GenericContext)
		}
	}
	return err
}

// inContext reports whether the running frame, unless it is left out, or one that called it, is inside of a with block of a context manager of
// the program's.
func (jo *journal) inContext(leaveOut bool) bool {
	for f := jo.in.Frame(); f != nil; f = f.Back {
		if !leaveOut && slices.ContainsFunc(resume.Blocks(f.Code.Code, f.PC), func(b resume.Block) bool { return b.With && b.Depth <= f.SP && ofProgram(f.Stack[b.Depth-1]) }) {
			return true
		}
		if leaveOut = false; f == jo.root {
			break
		}
	}
	return false
}

// ofProgram reports whether the context manager whose __exit__ a with block left on the stack is of a class of the program's.
func ofProgram(exit vm.Object) bool {
	m, ok := exit.(*vm.BoundMethod)
	if !ok {
		return false
	}
	i, ok := m.Self.(*vm.Instance)
	return ok && !strings.HasPrefix(i.Class.Module, "torch") && !nullContexts.has(i.Class.FullName())
}

// userStack lists the traced frames that lie outside of the library, outermost first.
func (jo *journal) userStack() []StackEntry {
	var out []StackEntry
	for f := jo.in.Frame(); f != nil; f = f.Back {
		out = append([]StackEntry{{f.Code.Name, f.Line(), shortFile(f.Code.Filename)}}, out...)
		if f == jo.root {
			break
		}
	}
	return out
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

// adviseScalarOutputs warns, once, of a break that a setting avoids.
func (tr *tracer) adviseScalarOutputs() {
	if tr.d.advisedScalars {
		return
	}
	tr.d.advisedScalars = true
	var s strings.Builder
	s.WriteString("Graph break from `Tensor.item()`, consider setting:\n    torch._dynamo.config.capture_scalar_outputs = True\nor:\n" +
		"    env TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1\nto include these operations in the captured graph.\n\nGraph break: from user code at:\n")
	for _, f := range tr.journal.stackFrames() {
		fmt.Fprintf(&s, "  File \"%s\", line %d, in %s\n", f.Code.Filename, f.Line, f.Code.Name)
		if line := strings.TrimSpace(f.Text()); line != "" {
			fmt.Fprintf(&s, "    %s\n", line)
		}
	}
	tr.d.logf(logScalarOutputs, "%s\n", s.String())
}

// shortFile is a file as records name it: the script by its name, library files from torch/ on.
func shortFile(p string) string {
	if i := strings.Index(p, "torch/"); i >= 0 && strings.HasPrefix(p[i:], "torch/") {
		return p[i:]
	}
	return filepath.Base(p)
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

// codeText is how Python writes a code object, less its address.
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
				if !strings.ContainsAny(seg[i-1:i], " \t+-*/%@&|^<>=~,(") {
					return i
				}
				return 0 // a part of an expression that is in brackets
			}
		}
	}
	return 0
}

// logInputs logs a placeholder.
func (jo *journal) logInput(n *fx.Node, source string) {
	jo.structuredInput(n, source)
	if !jo.d.logs.on[logGraphInput] {
		return
	}
	jo.d.Log(logGraphInput, fmt.Sprintf("create_graph_input %s %s %s at debug_level 0 before=False", n.Target, source, jo.described(n)))
}

// described is what printed graphs say of a node, with sizes as the trace knows them.
func (jo *journal) described(n *fx.Node) string {
	t, ok := n.Val.(*tensor.Tensor)
	if !ok || t == nil || !jo.sizes.Symbolic(t) {
		return fx.Described(n.Val)
	}
	text := t.DType.Short() + symbolic.List(jo.sizes.Size(t))
	if stride, err := jo.sizes.Stride(t); err == nil {
		text += symbolic.List(stride) + "cpu"
	}
	return text
}

// describedSizes is described without strides and device.
func (jo *journal) describedSizes(n *fx.Node) string {
	if t, ok := n.Val.(*tensor.Tensor); ok && t != nil && jo.sizes.Symbolic(t) {
		return t.DType.Short() + symbolic.List(jo.sizes.Size(t))
	}
	return fx.DescribedSizes(n.Val)
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
	jo.structuredGraph(gm)
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

// logSymbols makes the symbols and guards of the trace's numbers known to the log.
func (jo *journal) logSymbols() {
	if !jo.d.logs.on[logCreateSymbol] && !jo.d.Structured() {
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
			if !jo.d.logs.on[logUnbacked] {
				return
			}
			jo.d.Log(logUnbacked, fmt.Sprintf("create_unbacked_symint %s %s %s", s.Name, bounds(s.Range), user("_subclasses/fake_impls.py:0 in <lambda>")))
			return
		}
		if at := jo.userPlace(); at.Code != nil && jo.d.Structured() {
			stack := []any{fx.Fields{{Name: "line", Value: at.Line}, {Name: "name", Value: at.Code.Name}, {Name: "filename", Value: jo.d.interned(at.Code.Filename)}}}
			jo.d.structured("create_symbol", fx.Fields{{Name: "symbol", Value: s.Name}, {Name: "val", Value: fmt.Sprint(s.Hint)}, {Name: "vr", Value: bounds(s.Range)}, {Name: "source", Value: s.From},
				{Name: "user_stack", Value: stack}, {Name: "stack", Value: stack}}, nil)
		}
		if !jo.d.logs.on[logCreateSymbol] {
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
		if !jo.d.logs.on[logEval] {
			return
		}
		jo.d.Log(logEval, fmt.Sprintf(`eval %s [guard added] %s, for more info run with TORCHDYNAMO_EXTENDED_DEBUG_GUARD_ADDED="%s"`, g, user("_dynamo/variables/tensor.py:1201 in evaluate_expr"), g))
	}
}

// compileReason says why a graph ends where it does.
func (jo *journal) compileReason(out *outcome, ev *FrameEvent) string {
	reason := "'return_value'"
	at := guard.Place{Code: jo.root.Code, Line: jo.root.Line()}
	if out.broke {
		b := jo.d.breaks[len(jo.d.breaks)-1]
		reason = fmt.Sprintf("%q", b.Reason.Explain())
		if len(b.at) > 0 {
			at = b.at[len(b.at)-1]
		}
	}
	return fmt.Sprintf("GraphCompileReason(reason=%s, user_stack=[<FrameSummary file %s, line %d in %s>], graph_break=%s)", reason, at.Code.Filename, at.Line, at.Code.Name, pyBool(out.broke))
}

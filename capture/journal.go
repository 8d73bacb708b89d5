package capture

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
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

	decided  map[*symbolic.Expr]guard.Place // where decisions about numbers were made
	firstUse map[string]guard.Place         // where symbols were first needed

	// The innermost frames at the error that ended the trace, in both forms that logs have; nil as long as there is none.
	stack   []StackEntry
	breakAt []guard.Place

	inComprehension bool // at that error, a comprehension of the captured frame itself was running
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
		jo.stack, jo.breakAt, jo.inComprehension = jo.userStack(), jo.stackFrames(), jo.comprehends()
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
	line := 0
	for f := jo.in.Frame(); f != nil; f = f.Back {
		if line == 0 {
			line = f.Line()
		}
		if !comprehension(f.Code) {
			out = append([]StackEntry{{f.Code.Name, line, shortFile(f.Code.Filename)}}, out...)
			line = 0
		}
		if f == jo.root {
			break
		}
	}
	return out
}

// comprehension reports whether code is that of [x for ...] and the like: to Python of the recorded version, 3.13, it is a part of the function that it stands in.
func comprehension(c *vm.Code) bool {
	return c.Name == "<listcomp>" || c.Name == "<setcomp>" || c.Name == "<dictcomp>"
}

// comprehends reports whether the captured frame itself is in a comprehension: one that it runs, or one inside of that.
func (jo *journal) comprehends() bool {
	f := jo.in.Frame()
	for ; f != nil && f != jo.root; f = f.Back {
		if f.Back == jo.root {
			return comprehension(f.Code)
		}
	}
	return false
}

// stackFrames lists the frames from the captured one to the running one.
func (jo *journal) stackFrames() []guard.Place {
	var out []guard.Place
	line := 0
	jo.frames(func(f *vm.Frame) bool {
		if line == 0 {
			line = f.Line()
		}
		if !comprehension(f.Code) {
			out = append([]guard.Place{{Code: f.Code, Line: line, In: jo.in}}, out...)
			line = 0
		}
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
		jo.d.Log(logSource, fmt.Sprintf("TRACE starts_line %s\n    %s", jo.header(f), guard.Place{Code: f.Code, Line: line, In: jo.in}.Text()))
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
		jo.d.Log(logInlining, fmt.Sprintf("INLINING %s, inlined according trace_rules.lookup %s", jo.codeText(f.Code), why))
	}
}

// logReturns logs that a frame of the trace ends.
func (jo *journal) logReturns(f *vm.Frame) {
	if jo.d.logs.on[logInlineDone] && f != jo.root && f.Back != nil && jo.mirrored(f) {
		jo.d.Log(logInlineDone, "DONE INLINING "+jo.codeText(f.Code))
	}
}

// codeText is how Python writes a code object.
func (jo *journal) codeText(c *vm.Code) string {
	text, err := jo.in.Repr(c)
	if err != nil {
		return fmt.Sprintf("<code object %s, file %q, line %d>", c.Name, c.Filename, c.FirstLine)
	}
	return text
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
	text := guard.Place{Code: f.Code, Line: f.Line(), In: in}.Text()
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

// logInput logs a placeholder, which stands for the tensor x.
func (jo *journal) logInput(n *fx.Node, x *tensor.Tensor, source string) {
	jo.structuredInput(x, source)
	if !jo.d.logs.on[logGraphInput] {
		return
	}
	what := jo.described(n)
	if t, ok := n.Val.(*tensor.Tensor); ok && t != nil {
		what = "FakeTensor(..., size=" + jo.sizesText(n)
		if t.DType != tensor.Float32 {
			what += ", dtype=torch." + t.DType.String()
		}
		if jo.d.T.Grad.RequiresGrad(t) {
			what += ", requires_grad=True"
		}
		what += ")"
		if n.Type == "torch.nn.parameter.Parameter" {
			what = "Parameter(" + what + ")"
		}
	}
	jo.d.Log(logGraphInput, fmt.Sprintf("create_graph_input %s %s %s at debug_level 0 before=False", n.Target, source, what))
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

// describedSizes is described without strides and device. It keeps the sizes, and not the trace.
func (jo *journal) describedSizes() func(n *fx.Node) string {
	sizes := jo.sizes
	return func(n *fx.Node) string {
		if t, ok := n.Val.(*tensor.Tensor); ok && t != nil && sizes.Symbolic(t) {
			return t.DType.Short() + symbolic.List(sizes.Size(t))
		}
		return fx.DescribedSizes(n.Val)
	}
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
	jo.unknowns.Created = func(s *symbolic.Symbol) { jo.firstUse[s.Name] = jo.userPlace() }
	jo.unknowns.Guarded = func(g *symbolic.Expr) { jo.decided[g] = jo.userPlace() }
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
	stacks := func() (user, all []any) {
		entry := func(p guard.Place) any {
			return fx.Fields{{Name: "line", Value: p.Line}, {Name: "name", Value: p.Code.Name}, {Name: "filename", Value: jo.d.interned(p.Code.Filename)}}
		}
		callers, _ := jo.d.callers(jo.root)
		slices.Reverse(callers)
		for _, p := range callers {
			all = append(all, entry(p))
		}
		for _, p := range jo.stackFrames() {
			if !jo.d.IsLibrary(p.Code.Filename) {
				user = append(user, entry(p))
			}
		}
		return user, append(all, user...)
	}
	jo.unknowns.Created = func(s *symbolic.Symbol) {
		jo.firstUse[s.Name] = jo.userPlace()
		if s.Hint == nil && jo.d.Structured() {
			user, all := stacks()
			jo.d.structured("create_unbacked_symbol", fx.Fields{{Name: "symbol", Value: s.Name}, {Name: "vr", Value: bounds(s.Range)}, {Name: "user_stack", Value: user}, {Name: "stack", Value: all}}, nil)
		}
		if s.Hint == nil {
			if !jo.d.logs.on[logUnbacked] {
				return
			}
			jo.d.Log(logUnbacked, fmt.Sprintf("create_unbacked_symint %s %s %s", s.Name, bounds(s.Range), user("_subclasses/fake_impls.py:0 in <lambda>")))
			return
		}
		val, vr, from := fmt.Sprint(s.Hint), bounds(s.Range), s.From
		if f, ok := s.Hint.(float64); ok { // it is read through a tensor
			val, _ = jo.in.Repr(vm.Float(f))
			vr, from = "[-oo, oo]", strings.TrimSuffix(strings.TrimPrefix(from, "___as_tensor("), ").item()")
		}
		if at := jo.userPlace(); at.Code != nil && jo.d.Structured() {
			user, all := stacks()
			jo.d.structured("create_symbol", fx.Fields{{Name: "symbol", Value: s.Name}, {Name: "val", Value: val}, {Name: "vr", Value: vr}, {Name: "source", Value: from},
				{Name: "user_stack", Value: user}, {Name: "stack", Value: all}}, nil)
		}
		if !jo.d.logs.on[logCreateSymbol] {
			return
		}
		where := "_dynamo/variables/builder.py:2861 in <lambda>"
		if _, whole := s.Hint.(int64); whole && !s.Size {
			where = "_dynamo/variables/builder.py:1855 in wrap_symint"
		}
		text := fmt.Sprintf("create_symbol %s = %s for %s %s %s", s.Name, val, from, vr, user(where))
		if more, asked := jo.extended("extended_debug_create_symbol", s.Name); asked {
			text += more
		} else if advice := jo.d.environ("TORCHDYNAMO_EXTENDED_ADVICE"); advice != "0" {
			text += fmt.Sprintf(`, for more info run with TORCHDYNAMO_EXTENDED_DEBUG_CREATE_SYMBOL="%s" or to suppress this message run with TORCHDYNAMO_EXTENDED_ADVICE="0"`, s.Name)
		}
		jo.d.Log(logCreateSymbol, text)
	}
	jo.unknowns.Replaced = func(s *symbolic.Symbol, to *symbolic.Expr, why string) {
		jo.d.logf(logReplaced, "set_replacement %s = %s (%s) VR%s", s.Name, to, why, bounds(s.Range))
	}
	jo.unknowns.Guarded = func(g *symbolic.Expr) {
		jo.decided[g] = jo.userPlace()
		if jo.d.Structured() {
			user, all := stacks()
			jo.d.structured("guard_added_fast", fx.Fields{{Name: "expr", Value: g.String()}, {Name: "user_stack", Value: user}, {Name: "stack", Value: all}}, nil)
		}
		if !jo.d.logs.on[logEval] {
			return
		}
		text := fmt.Sprintf("eval %s [guard added] %s", g, user(decidedIn))
		if more, asked := jo.extended("extended_debug_guard_added", g.String()); asked {
			text += more
		} else {
			text += fmt.Sprintf(`, for more info run with TORCHDYNAMO_EXTENDED_DEBUG_GUARD_ADDED="%s"`, g)
		}
		jo.d.Log(logEval, text)
	}
}

// bounds writes a range as PyTorch does.
func bounds(r symbolic.Range) string {
	lo, hi := "-int_oo", "int_oo"
	if r.Lo != symbolic.All.Lo {
		lo = fmt.Sprint(r.Lo)
	}
	if r.Hi != symbolic.NoUpper {
		hi = fmt.Sprint(r.Hi)
	}
	return "[" + lo + ", " + hi + "]"
}

// decidedIn is the place in PyTorch's own code that its logs name for decisions about numbers.
const decidedIn = "_dynamo/variables/tensor.py:1201 in evaluate_expr"

// whyRelated is what logs say of a relation between numbers: the line that decided it, or the rule.
func (jo *journal) whyRelated(g *symbolic.Guard) string {
	at := func(p guard.Place, more string) string {
		if p.Code == nil {
			return more
		}
		return strings.TrimPrefix(p.Comment(), "# ") + " " + more
	}
	switch {
	case g.Decision != nil:
		return at(jo.decided[g.Decision], "("+decidedIn+")")
	case g.NaN:
		return "implicit guard for float input due to NaN specialization in the framework"
	case g.Same != nil && !g.Same.Tensor:
		return "(unknown var " + g.Same.Expr.String() + ", please file a bug)"
	case g.Same != nil && !strings.Contains(g.Same.From, ".size()["):
		return "(unknown source " + g.Same.From + ", please file a bug)"
	case g.Same != nil:
		hint, _ := jo.unknowns.Hint(g.Same.Expr)
		return fmt.Sprintf("duck sizing added this equality because these variables had the same size %v (to avoid this specialization, set torch.fx.experimental._config.use_duck_shape = False)", hint)
	case g.Bounded != "":
		s := jo.unknowns.Symbol(g.Bounded)
		if s == nil || !s.Size {
			return ""
		}
		return at(jo.firstUse[g.Bounded], "(user code shown is first use of this value--the guard itself is not due user code but due to 0/1 specialization in the framework; to avoid specialization try torch._dynamo.mark_unbacked(tensor, dim))")
	}
	return ""
}

// extended is the stack of the program below a message about a symbol or guard; asked says that a setting of torch.fx.experimental._config names
// it. Where extended_debug_cpp is set, the frames of native code follow.
func (jo *journal) extended(setting, name string) (text string, asked bool) {
	read := func(setting string) (v vm.Object) {
		_ = jo.d.plainly(func() error {
			m, err := jo.in.Import("torch.fx.experimental._config")
			if err == nil {
				v, err = jo.in.GetAttr(m, setting)
			}
			return err
		})
		return v
	}
	if s, ok := vm.AsStr(read(setting)); !ok || s != name {
		return "", false
	}
	callers, _ := jo.d.callers(jo.root)
	slices.Reverse(callers)
	traced := slices.DeleteFunc(jo.stackFrames(), func(p guard.Place) bool { return jo.d.IsLibrary(p.Code.Filename) })
	text = "\nUser Stack (most recent call last):\n  (snipped, see stack below for prefix)\n" + stackText(traced) + "\n"
	if read("extended_debug_cpp") == vm.True {
		text += "C++ stack trace:\n" + nativeFrames()
	} else {
		text += "For C++ stack trace, run with TORCHDYNAMO_EXTENDED_DEBUG_CPP=1\n"
	}
	return text + "Stack (most recent call last):\n" + stackText(callers), true
}

// nativeFrames lists the functions of whittle's own that run, outermost first; their language is Go.
func nativeFrames() string {
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var lines []string
	for {
		f, more := frames.Next()
		lines = append(lines, fmt.Sprintf("  File \"%s\", line %d, in %s\n", filepath.Base(f.File), f.Line, f.Function))
		if !more {
			break
		}
	}
	slices.Reverse(lines)
	return strings.Join(lines, "")
}

// compileReason says why a graph ends where it does.
func (jo *journal) compileReason(out *outcome, ev *FrameEvent) string {
	reason := "'return_value'"
	at := guard.Place{Code: jo.root.Code, Line: jo.root.Line()}
	if out.broke {
		b := jo.d.breaks[len(jo.d.breaks)-1]
		reason, _ = jo.in.Repr(vm.Str(b.Reason.Explain()))
		if len(b.at) > 0 {
			at = b.at[len(b.at)-1]
		}
	}
	return fmt.Sprintf("GraphCompileReason(reason=%s, user_stack=[<FrameSummary file %s, line %d in %s>], graph_break=%s)", reason, at.Code.Filename, at.Line, at.Code.Name, pyBool(out.broke))
}

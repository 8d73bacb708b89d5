package capture

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// logBreakAt logs a graph break with the user's stack; the same line is explained once.
func (d *Dynamo) logBreakAt(b *BreakEvent, frames []guard.Place) {
	if len(frames) == 0 {
		return
	}
	if d.Structured() {
		d.structuredArtifact("dynamo_graph_break_reason", "string", breakText(b, frames))
	}
	if !d.logs.on[logBreak] {
		return
	}
	if b.whole {
		why := d.In.FormatException(d.raiseAt("torch._dynamo.exc", "Unsupported", b.Reason.Message(), frames))
		if head := "Traceback (most recent call last):\n"; !strings.HasPrefix(why, head) {
			why = head + why
		}
		d.Log(logBreakSkip, "Graph break: skip: from user code at:\n"+stackText(frames)+strings.TrimSuffix(why, "\n"))
		return
	}
	in := frames[len(frames)-1]
	key := StackEntry{File: in.Code.Filename, Line: in.Line}
	if d.logs.broken[key] {
		d.Log(logBreakAgain, fmt.Sprintf("Graph break (details suppressed) in user code at %s:%d\nReason: %s", key.File, key.Line, b.Reason))
		return
	}
	if d.logs.broken == nil {
		d.logs.broken = map[StackEntry]bool{}
	}
	d.logs.broken[key] = true
	d.Log(logBreak, breakText(b, frames))
}

// breakText explains a break, with the lines that led to it.
func breakText(b *BreakEvent, frames []guard.Place) string {
	in := frames[len(frames)-1]
	key := StackEntry{File: in.Code.Filename, Line: in.Line}
	return fmt.Sprintf("Graph break in user code at %s:%d\nReason: %s\nUser code traceback:\n%s", key.File, key.Line, b.Reason, stackText(frames))
}

// stackText lists places as tracebacks do.
func stackText(places []guard.Place) string {
	var s strings.Builder
	for _, p := range places {
		fmt.Fprintf(&s, "  File \"%s\", line %d, in %s\n", p.Code.Filename, p.Line, p.Code.Name)
		if t := strings.TrimSpace(p.Text()); t != "" {
			s.WriteString("    " + t + "\n")
		}
	}
	return s.String()
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
		d.logTracedFrames()
		return vm.None, nil
	}})
}

// logTracedFrames logs the frames that capture began with.
func (d *Dynamo) logTracedFrames() {
	if d.Logging(logFrames) {
		d.Log(logFrames, "TorchDynamo attempted to trace the following frames: [\n"+strings.Join(d.logs.traced, "\n")+"\n]")
	}
	if !d.Logging(logTimes) || len(d.times) == 0 {
		return
	}
	_ = d.plainly(func() error {
		m, err := d.In.Import("torch._dynamo.utils")
		if err != nil {
			return err
		}
		text, err := d.In.CallMethod(m, "compile_times", vm.Str("str"), vm.True)
		if s, ok := vm.AsStr(text); err == nil && ok {
			d.Log(logTimes, s)
		}
		return err
	})
}

// logStartOf logs a compilation that begins, and who called the frame.
func (d *Dynamo) logStartOf(f *vm.Frame, line int) {
	if !d.logs.on[logStart] {
		return
	}
	places, elided := d.callers(f)
	slices.Reverse(places)
	d.Log(logStart, fmt.Sprintf("torchdynamo start compiling %s %s:%d, stack (elided %d frames):\n%s", f.Code.Name, f.Code.Filename, line, elided, stackText(places)))
}

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"whittle/capture"
	"whittle/capture/python/code"
	"whittle/replay"
	"whittle/tools/whittle/serve/look"
	"whittle/tools/whittle/stack"
	"whittle/tools/whittle/trace"
)

// explainFlags say what is asked for beside the summary.
type explainFlags struct{ guards, graphs, breaks, recompiles, code, all bool }

func (a *app) explainCommand() *cobra.Command {
	var o explainFlags
	c := &cobra.Command{
		Use:   "explain FILE[:FUNCTION]",
		Short: "Run a script and show what capture did: frames, graphs, breaks and recompiles, a line each; more where it is asked for",
		Long: `Run a script and say what capture did: a summary, with a line for each frame, break and recompile, and then what was asked for. What the script itself prints goes to the
standard error. Of a FUNCTION, only what belongs to it is shown.`,
		Example: `  whittle explain model.py
  whittle explain --breaks --guards model.py:forward`,
		Args: oneFile("explain"),
		RunE: func(c *cobra.Command, args []string) error { return a.explain(c.Context(), args[0], o) },
	}
	f := c.Flags()
	f.BoolVar(&o.breaks, "breaks", false, "each graph break with its stack, its line and what to do")
	f.BoolVar(&o.recompiles, "recompiles", false, "each recompile with the guards that failed, and what to do")
	f.BoolVar(&o.graphs, "graphs", false, "each graph, with the shapes of its values")
	f.BoolVar(&o.guards, "guards", false, "the guards of each frame")
	f.BoolVar(&o.code, "code", false, "the code that the backend generated")
	f.BoolVar(&o.all, "all", false, "all of it")
	return c
}

// explain runs a script and prints what capture told of it.
func (a *app) explain(ctx context.Context, arg string, o explainFlags) error {
	file, fn, one := strings.Cut(arg, ":")
	if one && fn == "" {
		return usagef("explain %s: which function?", arg)
	}
	text, err := checkFile(file)
	if err != nil {
		return err
	}
	script, err := a.checkSyntax(file, text)
	if err != nil {
		return err
	}
	if script == nil {
		return usagef("explain %s: the text is not in UTF-8", file)
	}
	traces := os.Getenv("TORCH_TRACE")
	if (o.graphs || o.code || o.all) && traces == "" {
		if traces, err = os.MkdirTemp("", "whittle-explain-"); err != nil {
			return err
		}
		defer os.RemoveAll(traces)
		if err := os.Setenv("TORCH_TRACE", traces); err != nil {
			return err
		}
		defer os.Unsetenv("TORCH_TRACE")
	}
	x := &explanation{file: file, fn: fn, lines: strings.Split(string(text), "\n"), ids: map[string]bool{}}
	s := stack.New(ctx, cacheDir())
	s.In.Stdout, s.In.Stderr = a.stderr, a.stderr
	s.Noted = func(id, text string) { x.notes = append(x.notes, note{id, text}) }
	s.Dynamo.Observe = capture.Observer{Frame: x.frame, Break: x.graphBreak, Recompile: x.recompile}
	ran := s.In.RunFile(file, nil)
	_ = s.In.Flush()
	names := functions(script)
	if known := slices.Contains(names, fn); one && len(x.frames)+len(x.breaks) == 0 { // it may have been one of a module that the file imports
		if code := finish(s.In, ran, a.stderr); code != 0 && known {
			return exitCode(code)
		}
		if known {
			return usagef("%s was not captured: nothing that torch.compile was given called it", fn)
		}
		return usagef("no function %s was captured, and %s has none: it has %s", fn, file, list(names))
	}
	p := painter{w: a.stdout}
	if f, ok := a.stdout.(*os.File); ok && os.Getenv("NO_COLOR") == "" {
		p.colours = term.IsTerminal(int(f.Fd()))
	}
	x.summary(p)
	if o.breaks || o.all {
		x.showBreaks(p)
	}
	if o.recompiles || o.all {
		x.showRecompiles(p)
	}
	var compiles []*trace.Compile
	if o.graphs || o.code || o.all {
		if compiles, err = x.compiles(traces); err != nil {
			return err
		}
	}
	if o.graphs || o.all {
		x.showGraphs(p, compiles)
	}
	if o.guards || o.all {
		x.showGuards(p)
	}
	if o.code || o.all {
		x.showCode(p, compiles)
	}
	if code := finish(s.In, ran, a.stderr); code != 0 {
		return exitCode(code)
	}
	return nil
}

// painter prints, in colours where somebody looks at a terminal. What a program chose is shown without what would move the cursor.
type painter struct {
	w       io.Writer
	colours bool
}

// The colours, as terminals number them.
const (
	plain  = 0
	bold   = 1
	red    = 31
	green  = 32
	yellow = 33
	violet = 35
	blue   = 36
)

func (p painter) line(colour int, format string, args ...any) {
	text := string(look.Visible(fmt.Appendf(nil, format, args...)))
	if p.colours && colour != plain {
		text = fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, text)
	}
	fmt.Fprintln(p.w, text)
}

// text prints lines below a heading.
func (p painter) text(s string) {
	for _, l := range strings.Split(strings.TrimRight(s, " \n"), "\n") {
		p.line(plain, "%s", strings.TrimRight("    "+l, " "))
	}
}

// explanation is what capture told.
type explanation struct {
	file, fn string
	lines    []string // of the script

	frames     []*capture.FrameEvent
	breaks     []*capture.BreakEvent
	recompiles []*capture.RecompileEvent
	notes      []note
	ids        map[string]bool // of frames that are shown
}

// note is what came of something that a mode asks for.
type note struct{ frame, text string }

func (x *explanation) shows(name string) bool {
	return x.fn == "" || name == x.fn || strings.Contains(name, "_in_"+x.fn+"_at_")
}

func (x *explanation) frame(ev *capture.FrameEvent) {
	if !x.shows(ev.Name) {
		return
	}
	x.frames = append(x.frames, ev)
	x.ids[ev.ID] = true
}

func (x *explanation) graphBreak(b *capture.BreakEvent) {
	if len(b.Stack) == 0 || x.shows(b.Stack[0].Function) {
		x.breaks = append(x.breaks, b)
	}
}

func (x *explanation) recompile(r *capture.RecompileEvent) {
	if x.shows(r.Function) {
		x.recompiles = append(x.recompiles, r)
	}
}

// summary says in a line how much there was of each, and then has a line for each frame, break and recompile.
func (x *explanation) summary(p painter) {
	graphs, frames := 0, map[string]bool{}
	for _, f := range x.frames {
		number, _, _ := strings.Cut(f.ID, "/")
		frames[number] = true
		if f.Graph != nil {
			graphs++
		}
	}
	p.line(bold, "%s: %s, %s, %s, %s", x.file, replay.Count(len(frames), "frame"), replay.Count(graphs, "graph"), replay.Count(len(x.breaks), "graph break"), replay.Count(len(x.recompiles), "recompile"))
	for _, f := range x.frames {
		what, colour := "no graph", plain
		if f.Graph != nil {
			what, colour = replay.Count(len(f.Graph.Graph.Calls()), "call")+" for backend "+f.Backend, green
		}
		if f.Err != nil {
			what, colour = headOf(f.Err.Error()), red
		}
		p.line(colour, "  frame     [%s] %s (%s:%d): %s, %s, %s", f.ID, f.Name, f.File, f.Line, f.Status, replay.Count(f.Attempts, "attempt"), what)
	}
	for _, b := range x.breaks {
		p.line(yellow, "  break     [%s] %s: %s", b.Frame, x.place(b), headOf(b.Reason.String()))
	}
	for _, r := range x.recompiles {
		why := ""
		if len(r.Reasons) > 0 {
			why = headOf(r.Reasons[0].String())
		}
		p.line(violet, "  recompile [%s] %s (%s:%d): %s", r.Frame, r.Function, r.File, r.Line, why)
	}
	for _, n := range x.notes {
		if id, _, _ := strings.Cut(n.frame, "_"); x.ids[id] {
			p.line(blue, "  mode      [%s] %s", n.frame, n.text)
		}
	}
}

// place is the line of a break.
func (x *explanation) place(b *capture.BreakEvent) string {
	if n := len(b.Stack); n > 0 {
		return fmt.Sprintf("%s:%d", b.Stack[n-1].File, b.Stack[n-1].Line)
	}
	return fmt.Sprintf("%s:%d", x.file, b.Line)
}

func (x *explanation) showBreaks(p painter) {
	for _, b := range x.breaks {
		p.line(plain, "")
		p.line(yellow, "[%s] graph break: %s", b.Frame, b.Reason)
		for _, f := range b.Stack {
			p.line(plain, "  %s:%d in %s", f.File, f.Line, f.Function)
		}
		if b.Line > 0 && b.Line <= len(x.lines) {
			src := x.lines[b.Line-1]
			lead := len(src) - len(strings.TrimLeft(src, " \t"))
			p.line(plain, "    %s", strings.TrimSpace(src))
			p.line(yellow, "    %s", strings.Repeat("^", max(len(src)-lead, 1)))
		}
		p.line(blue, "  hint: %s", b.Reason.Hint())
	}
}

func (x *explanation) showRecompiles(p painter) {
	for _, r := range x.recompiles {
		p.line(plain, "")
		p.line(violet, "[%s] recompiling %s (%s:%d)", r.Frame, r.Function, r.File, r.Line)
		for i, why := range r.Reasons {
			p.line(plain, "  %s", why)
			if h := why.Hint(); i == 0 || h != r.Reasons[i-1].Hint() {
				p.line(blue, "  hint: %s", h)
			}
		}
	}
}

// compiles are what the trace of the run has of the frames that are shown: printed graphs, with symbols for sizes that vary, and generated code.
func (x *explanation) compiles(folder string) ([]*trace.Compile, error) {
	names, err := trace.Files(folder)
	if err != nil {
		return nil, nil // nothing was compiled
	}
	t, err := trace.Read(names[len(names)-1:])
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(t.Compiles, func(c *trace.Compile) bool { return !x.ids[c.ID] }), nil
}

func (x *explanation) showGraphs(p painter, compiles []*trace.Compile) {
	for _, c := range compiles {
		for _, g := range c.Graphs {
			if g.Kind != "dynamo_output_graph" || g.Attempt != c.Attempts-1 {
				continue
			}
			p.line(plain, "")
			p.line(green, "[%s] graph of %s (%s:%d), %s", c.ID, c.Name, c.File, c.Line, replay.Count(g.Ops, "operation"))
			p.text(c.Texts[g.Text])
		}
	}
}

func (x *explanation) showGuards(p painter) {
	for _, f := range x.frames {
		if len(f.Guards) == 0 {
			continue
		}
		p.line(plain, "")
		p.line(green, "[%s] %s of %s (%s:%d)", f.ID, replay.Count(len(f.Guards), "guard"), f.Name, f.File, f.Line)
		for _, g := range f.Guards {
			p.line(plain, "  guard %s: %s", g.Kind, g.Expr)
		}
	}
}

func (x *explanation) showCode(p painter, compiles []*trace.Compile) {
	for _, c := range compiles {
		for _, k := range c.Codes {
			p.line(plain, "")
			p.line(green, "[%s] code of %s (%s:%d)", c.ID, c.Name, c.File, c.Line)
			p.text(c.Texts[k.Text])
		}
	}
}

// headOf is the first line of a text.
func headOf(text string) string {
	l, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return l
}

// functions are the names of the functions and methods that a script defines, in the order of its text.
func functions(c *code.Code) []string {
	var out []string
	for _, k := range c.Consts {
		inner, ok := k.(*code.Code)
		if !ok {
			continue
		}
		if inner.Flags&code.NewLocals != 0 && !strings.HasPrefix(inner.Name, "<") && !slices.Contains(out, inner.Name) {
			out = append(out, inner.Name)
		}
		for _, n := range functions(inner) {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// list is names for a sentence.
func list(names []string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return "no functions"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + " and " + replay.Count(len(names)-most, "other")
	}
	return strings.Join(names, ", ")
}

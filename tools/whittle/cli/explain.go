package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"whittle/capture"
	"whittle/capture/python/code"
	"whittle/replay"
	"whittle/tools/whittle/stack"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain FILE[:FUNCTION]",
		Short: "Run a script and show what capture did: graphs, breaks with their lines, guards, recompiles",
		Args:  oneFile("explain"),
		RunE: func(c *cobra.Command, args []string) error {
			file, fn, one := strings.Cut(args[0], ":")
			if one && fn == "" {
				return usagef("explain %s: which function?", args[0])
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
			lines := strings.Split(string(text), "\n")
			s := stack.New(c.Context(), cacheDir())
			s.In.Stdout, s.In.Stderr = a.stderr, a.stderr
			frames, breaks := 0, 0
			show := func(name string) bool { return fn == "" || name == fn || strings.Contains(name, "_in_"+fn+"_at_") }
			s.Dynamo.Observe = capture.Observer{
				Frame: func(ev *capture.FrameEvent) {
					if !show(ev.Name) {
						return
					}
					frames++
					fmt.Fprintf(a.stdout, "[%s] %s (%s:%d): %s, %s\n", ev.ID, ev.Name, ev.File, ev.Line, ev.Status, replay.Count(ev.Attempts, "attempt"))
					if ev.Graph != nil {
						fmt.Fprintf(a.stdout, "  graph for backend %s, %s:\n", ev.Backend, replay.Count(len(ev.Graph.Graph.Calls()), "call"))
						fmt.Fprint(a.stdout, indent(ev.Graph.Graph.Forward(""), "    "))
					}
					for _, g := range ev.Guards {
						fmt.Fprintf(a.stdout, "  guard %s: %s\n", g.Kind, g.Expr)
					}
				},
				Break: func(b *capture.BreakEvent) {
					if len(b.Stack) > 0 && !show(b.Stack[0].Function) {
						return
					}
					breaks++
					fmt.Fprintf(a.stdout, "[%s] graph break: %s\n", b.Frame, b.Reason)
					for _, f := range b.Stack {
						fmt.Fprintf(a.stdout, "  %s:%d in %s\n", f.File, f.Line, f.Function)
					}
					if b.Line > 0 && b.Line <= len(lines) {
						src := lines[b.Line-1]
						lead := len(src) - len(strings.TrimLeft(src, " \t"))
						fmt.Fprintf(a.stdout, "    %s\n    %s\n", strings.TrimSpace(src), strings.Repeat("^", max(len(src)-lead, 1)))
					}
					fmt.Fprintf(a.stdout, "  hint: %s\n", b.Reason.Hint())
				},
				Recompile: func(r *capture.RecompileEvent) {
					if !show(r.Function) {
						return
					}
					fmt.Fprintf(a.stdout, "[%s] recompiling %s (%s:%d)\n", r.Frame, r.Function, r.File, r.Line)
					for i, why := range r.Reasons {
						fmt.Fprintf(a.stdout, "  %s\n", why)
						if h := why.Hint(); i == 0 || h != r.Reasons[i-1].Hint() {
							fmt.Fprintf(a.stdout, "  hint: %s\n", h)
						}
					}
				},
			}
			err = s.In.RunFile(file, nil)
			_ = s.In.Flush()
			names := functions(script)
			if known := slices.Contains(names, fn); one && frames+breaks == 0 { // it may have been one of a module that the file imports
				if code := finish(s.In, err, a.stderr); code != 0 && known {
					return exitCode(code)
				}
				if known {
					return usagef("%s was not captured: nothing that torch.compile was given called it", fn)
				}
				return usagef("no function %s was captured, and %s has none: it has %s", fn, file, list(names))
			}
			fmt.Fprintf(a.stdout, "%s, %s\n", replay.Count(frames, "frame"), replay.Count(breaks, "graph break"))
			if code := finish(s.In, err, a.stderr); code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
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

func indent(text, by string) string {
	var b strings.Builder
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(by + l + "\n")
	}
	return b.String()
}

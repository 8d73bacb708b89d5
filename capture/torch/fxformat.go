package torch

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/literal"
)

// uses is how many nodes use n.
func uses(g *fx.Graph, n *fx.Node) (count int) {
	for _, m := range g.Nodes {
		if slices.Contains(m.Inputs(), n) {
			count++
		}
	}
	return count
}

// Tabular is the table that Graph.print_tabular prints.
func Tabular(g *fx.Graph) string {
	rows := [][]string{{"opcode", "name", "target", "args", "kwargs"}}
	for _, n := range g.Nodes {
		kw := make([]string, len(n.Kwargs))
		for i, k := range n.Kwargs {
			kw[i] = literal.Str(k.Name) + ": " + fx.FormatArg(k.Val)
		}
		rows = append(rows, []string{string(n.Op), n.Name, n.Target, fx.FormatArg(fx.Tuple(n.Args)), "{" + strings.Join(kw, ", ") + "}"})
	}
	widths := make([]int, 5)
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], len(c))
		}
	}
	var b strings.Builder
	line := func(r []string) {
		for i, c := range r {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(c)
			if i < 4 {
				b.WriteString(strings.Repeat(" ", widths[i]-len(c)))
			}
		}
		b.WriteString("\n")
	}
	line(rows[0])
	dash := make([]string, 5)
	for i, w := range widths {
		dash[i] = strings.Repeat("-", w)
	}
	line(dash)
	for _, r := range rows[1:] {
		line(r)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// formatNode is one line of str(graph).
func (t *Torch) formatNode(g *fx.Graph, n *fx.Node) string {
	arg := func(a fx.Arg) string { return formatRef(a) }
	users := uses(g, n)
	typ := ": "
	if n.Type != "" {
		typ = ": " + n.Type + " "
	}
	switch n.Op {
	case fx.Placeholder:
		def := ""
		if len(n.Args) > 0 {
			def = "(default=" + arg(n.Args[0]) + ")"
		}
		return fmt.Sprintf("%%%s %s[num_users=%d] = placeholder[target=%s]%s", n.Name, typ, users, n.Target, def)
	case fx.GetAttr:
		return fmt.Sprintf("%%%s %s[num_users=%d] = get_attr[target=%s]", n.Name, typ, users, n.Target)
	case fx.Output:
		return "return " + fx.FormatArg(n.Args[0])
	}
	args := make([]string, len(n.Args))
	for i, a := range n.Args {
		args[i] = arg(a)
	}
	kw := make([]string, len(n.Kwargs))
	for i, k := range n.Kwargs {
		kw[i] = k.Name + ": " + arg(k.Val)
	}
	tup := "(" + strings.Join(args, ", ")
	if len(args) == 1 {
		tup += ","
	}
	target := n.Target
	if n.Op == fx.CallFunction && !strings.Contains(target, ".") {
		target = "builtins." + target
	}
	return fmt.Sprintf("%%%s %s[num_users=%d] = %s[target=%s](args = %s), kwargs = {%s})", n.Name, typ, users, n.Op, target, tup, strings.Join(kw, ", "))
}

func formatRef(a fx.Arg) string {
	list := func(as []fx.Arg) string {
		p := make([]string, len(as))
		for i, x := range as {
			p[i] = formatRef(x)
		}
		return strings.Join(p, ", ")
	}
	switch a := a.(type) {
	case *fx.Node:
		return "%" + a.Name
	case fx.Tuple:
		if len(a) == 1 {
			return "(" + list(a) + ",)"
		}
		return "(" + list(a) + ")"
	case fx.List:
		return "[" + list(a) + "]"
	case string:
		return a
	}
	return fx.FormatArg(a)
}

func (t *Torch) formatGraph(g *fx.Graph) string {
	var b strings.Builder
	b.WriteString("graph():")
	for _, n := range g.Nodes {
		b.WriteString("\n    " + t.formatNode(g, n))
	}
	return b.String()
}

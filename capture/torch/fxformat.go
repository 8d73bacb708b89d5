package torch

import (
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/literal"
)

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
	return fx.Tabulate(rows)
}

// formatNode is one line of str(graph); users is how many nodes use n.
func formatNode(n *fx.Node, users int) string {
	arg := func(a fx.Arg) string { return formatRef(a) }
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
	if n.Op == fx.CallFunction {
		target = shownFunction(target)
	}
	return fmt.Sprintf("%%%s %s[num_users=%d] = %s[target=%s](args = %s), kwargs = {%s})", n.Name, typ, users, n.Op, target, tup, strings.Join(kw, ", "))
}

// shownFunction is a function as str(graph) names it: after its module and its own name.
func shownFunction(target string) string {
	if fx.IsOverload(target) {
		return "torch.ops." + target
	}
	if module, name, ok := strings.Cut(target, ":"); ok {
		return module + "." + name[strings.LastIndexByte(name, '.')+1:]
	}
	if !strings.Contains(target, ".") {
		return "builtins." + target
	}
	return target
}

// formatRef is an argument with a % before the names of nodes.
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

// formatGraph is str(graph).
func formatGraph(g *fx.Graph) string {
	users := g.Users()
	var b strings.Builder
	b.WriteString("graph():")
	for _, n := range g.Nodes {
		b.WriteString("\n    " + formatNode(n, len(users[n])))
	}
	return b.String()
}

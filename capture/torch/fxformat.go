package torch

import (
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

// formatGraph is str(graph).
func formatGraph(g *fx.Graph) string {
	users := g.Users()
	var b strings.Builder
	b.WriteString("graph():")
	for _, n := range g.Nodes {
		b.WriteString("\n    " + fx.FormatNode(n, len(users[n])))
	}
	return b.String()
}

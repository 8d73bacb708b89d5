package aot

import (
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/aten"
)

// pass is one rewrite of the joint graph, in place.
type pass struct {
	name  string
	run   func(g *fx.Graph) error
	after []string
}

// passes run over every traced graph, in this order.
var passes = []pass{
	{name: "deadcode", run: deadcode},
	{name: "cse", run: cse, after: []string{"deadcode"}}, // equal dead nodes need no comparison
}

// runPasses applies the named passes; an error names the pass.
func runPasses(g *fx.Graph, skip map[string]bool) error {
	for _, p := range passes {
		if skip[p.name] {
			continue
		}
		if err := p.run(g); err != nil {
			return fmt.Errorf("aot pass %s: %w", p.name, err)
		}
	}
	return nil
}

// impure nodes stay though nobody reads them.
func impure(n *fx.Node) bool {
	if n.Op == fx.Placeholder || n.Op == fx.Output {
		return true
	}
	if n.Op != fx.CallFunction {
		return false
	}
	op, ok := aten.Lookup(n.Target)
	if !ok {
		return !strings.HasPrefix(n.Target, "operator.")
	}
	return len(op.Parsed().Mutated()) > 0
}

func deadcode(g *fx.Graph) error {
	live := map[*fx.Node]bool{}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		if !live[n] && !impure(n) {
			continue
		}
		live[n] = true
		for _, in := range n.Inputs() {
			live[in] = true
		}
	}
	kept := g.Nodes[:0:0]
	for _, n := range g.Nodes {
		if live[n] {
			kept = append(kept, n)
		}
	}
	g.Nodes = kept
	return nil
}

// cse merges equal pure calls. Views and plain computations merge alike; random operators and
// operators that make fresh storage which somebody may write do not occur twice by accident.
func cse(g *fx.Graph) error {
	seen := map[string]*fx.Node{}
	repl := map[*fx.Node]*fx.Node{}
	kept := g.Nodes[:0:0]
	for _, n := range g.Nodes {
		n.ReplaceInputs(repl)
		if n.Op != fx.CallFunction || impure(n) || random(n) || strings.HasPrefix(n.Target, "aten.empty") {
			kept = append(kept, n)
			continue
		}
		key := n.Target + fx.ArgsKey(n.Args, n.Kwargs)
		if prev, ok := seen[key]; ok {
			repl[n] = prev
			continue
		}
		seen[key] = n
		kept = append(kept, n)
	}
	g.Nodes = kept
	return nil
}

func random(n *fx.Node) bool {
	op, ok := aten.Lookup(n.Target)
	return ok && op.Tags&aten.Random != 0
}

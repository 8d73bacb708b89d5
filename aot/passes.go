package aot

import (
	"fmt"
	"regexp"
	"strings"

	"whittle/aot/build"
	"whittle/capture/fx"
	"whittle/capture/fx/choice"
	"whittle/kernels/tensor"
)

// pass is one rewrite of the joint graph, in place.
type pass struct {
	name  string
	joint bool // only where Inductor compiles a training function
	fresh bool // leaves the eager operators' stream of random numbers
	run   func(g *fx.Graph) error
	after []string // passes that have to run before it; a test holds the table to it
}

// passes run over every traced graph, in this order.
var passes = []pass{
	{name: "deadcode", run: deadcode},
	{name: "noops", run: noops, joint: true, after: []string{"deadcode"}},
	{name: "uniform", run: uniform, joint: true, after: []string{"noops"}},
	{name: "reshapes", run: reshapes, joint: true, after: []string{"uniform"}},
	{name: "softmaxScale", run: softmaxScale, joint: true, after: []string{"reshapes"}},
	{name: "randoms", run: randoms, joint: true, fresh: true, after: []string{"softmaxScale"}},
	{name: "sweep", run: deadcode, after: []string{"randoms"}},
	{name: "cse", run: cse, after: []string{"sweep"}}, // equal dead nodes need no comparison
}

// runPasses applies the wanted passes, as far as they are chosen; an error names the pass.
func runPasses(g *fx.Graph, choices *choice.Matcher, wanted func(pass) bool) error {
	for _, p := range passes {
		if !wanted(p) || !choices.Take("joint_graph_passes", p.name, "", "") {
			continue
		}
		if err := p.run(g); err != nil {
			return fmt.Errorf("aot pass %s: %w", p.name, err)
		}
	}
	return nil
}

// deadcode drops what nothing uses; what may have an effect stays.
func deadcode(g *fx.Graph) error {
	g.EliminateDeadCode(fx.UnknownMay)
	return nil
}

// permutes replaces a permutation of a permutation that restores the order by the original, as Inductor's joint-graph passes do.
func permutes(g *fx.Graph) error {
	users := g.Users()
	for _, n := range g.Nodes {
		if n.Target != "aten.permute.default" {
			continue
		}
		in, ok := n.Args[0].(*fx.Node)
		if !ok || in.Target != "aten.permute.default" || len(users[in]) != 1 {
			continue
		}
		outer, inner := n.Args[1].(fx.List), in.Args[1].(fx.List)
		identity := true
		for i, d := range outer {
			k, ok := d.(int64)
			if !ok {
				identity = false
				break
			}
			back, ok := inner[build.Wrap(k, len(inner))].(int64)
			identity = identity && ok && build.Wrap(back, len(inner)) == i
		}
		if identity {
			g.ReplaceUses(n, in.Args[0])
		}
	}
	return nil
}

// cse merges equal pure calls. Views and plain computations merge alike; random operators, and what shares its storage with a result stay
// apart. So does aten.empty, as in PyTorch: of all that gives uninitialised memory it alone is left out there.
func cse(g *fx.Graph) error {
	results := map[*tensor.Storage]bool{}
	for _, o := range g.OutputNode().Inputs() {
		if t := valueOf(o); t != nil {
			results[t.Storage] = true
		}
	}
	type entry struct {
		key string
		n   *fx.Node
	}
	seen := map[string]entry{} // one per bucket
	repl := map[*fx.Node]*fx.Node{}
	kept := g.Nodes[:0:0]
	for _, n := range g.Nodes {
		n.MapInputs(func(in *fx.Node) fx.Arg {
			if r, ok := repl[in]; ok {
				return r
			}
			return in
		})
		if n.Op != fx.CallFunction || n.IsImpure(fx.UnknownMay) || packet(n) == "aten.empty" || valueOf(n) != nil && results[valueOf(n).Storage] {
			kept = append(kept, n)
			continue
		}
		key := callKey(n)
		bucket := bucketOf(key)
		prev, ok := seen[bucket]
		if ok && prev.key == key {
			repl[n] = prev.n
			continue
		}
		if !ok {
			seen[bucket] = entry{key, n}
		}
		kept = append(kept, n)
	}
	g.Nodes = kept
	return nil
}

// bucketOf is where a call is looked up. As in PyTorch, a bucket holds one call, and the numbers -1 and -2, which Python hashes
// to the same value, share theirs: which of two such calls merges with later ones depends on which came first.
func bucketOf(key string) string { return minusOne.ReplaceAllString(key, "int64:-2$1") }

// minusOne is a whole -1 in a call's key.
var minusOne = regexp.MustCompile(`int64:-1([^0-9]|$)`)

// callKey identifies what a call computes: its target and the nodes and constants it reads.
func callKey(n *fx.Node) string {
	var b strings.Builder
	b.WriteString(n.Target)
	for _, a := range n.Args {
		fmt.Fprintf(&b, "|%s", argKey(a))
	}
	for _, k := range n.Kwargs {
		fmt.Fprintf(&b, "|%s=%s", k.Name, argKey(k.Val))
	}
	return b.String()
}

// argKey tells arguments apart by type and value: 1 and 1.0 are two.
func argKey(a fx.Arg) string {
	switch a := a.(type) {
	case *fx.Node:
		return "%" + a.Name
	case fx.List:
		return "[" + listKey(a) + "]"
	case fx.Tuple:
		return "(" + listKey(a) + ")"
	}
	return fmt.Sprintf("%T:%v", a, a)
}

// listKey is argKey for the items of a list.
func listKey(l []fx.Arg) string {
	parts := make([]string, len(l))
	for i, a := range l {
		parts[i] = argKey(a)
	}
	return strings.Join(parts, ",")
}

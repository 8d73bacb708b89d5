package minify

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/replay"
)

// A reduction is one row of the table: run edits the current state through the driver until it has no more ideas; singles
// are its smallest edits of the current state, for the sweep.
type reduction struct {
	name       string
	needs      knowledge
	run        func(ctx context.Context, d *driver) error
	singles    func(v *view) []Edit // nil => none that others do not have
	large      bool                 // for graphs of many calls
	soon       func(v *view) bool   // for which failures it asks for its singles in graphs of few calls; nil => none
	likely     bool                 // the opening is often adopted
	together   bool                 // for graphs of few calls, where candidates are asked together
	opensEarly bool                 // its opening is asked ahead of its time also where that costs something
	graph      bool                 // takes calls, outputs and inputs away; the others make plain what is left
	grain      grain                // of what it changes
	opening    func(v *view) []Edit // what run will ask first: idle workers look at it before its time; nil => singles
}

// reductions, coarse to fine. The first row finds where the failure is; the others take away what it does not need.
var reductions []reduction

func init() { // the functions look the table up through the driver
	reductions = []reduction{
		// one call, alone on its real inputs; else the smallest prefix, its smallest suffix, and both ends alone
		{name: "localise", needs: values, run: localise},
		{name: "dead", run: dead},
		{name: "plain", needs: looks, run: plain, likely: true, opensEarly: true, opening: plainEdit}, // the simplest inputs, all at once: early, as small tensors make every query cheaper
		{name: "apart", run: apart, together: true, opensEarly: true, opening: apartOpening},          // what the other rows ask of a small graph, at once
		needs("symbols", looks, symbolItems, concrete),                                                // sizes that are inputs become numbers
		taking(items("regions", nothing, regionItems, func(n []string) Edit { return DropRegions{n} })),
		taking(reduction{name: "inline", run: inline, singles: inlineSingles}), // a branch or body for a higher-order call
		taking(itemsOf("outputs", nothing, outputItems, innerOutputs, func(n []string) Edit { return DropOutputs{n} })),
		taking(large(itemsOf("bypass", looks, doubted(bypassItems), bypassItems, func(n []string) Edit { return Bypass{n} }), crashes)), // before cut: it also takes away what stands between two operators
		taking(large(itemsOf("cut", values, doubted(callItems), callItems, func(n []string) Edit { return Cut{n} }), nil)),              // with a tap: who made it becomes an output
		taking(large(reduction{name: "shortcut", needs: looks, run: shortcut, singles: shortcutSingles}, nil)),                          // earlier values through one adapter
		taking(items("bodies", looks, bodyItems, func(n []string) Edit { return BypassInBodies{n} })),
		taking(items("inputs", nothing, inputItems, func(n []string) Edit { return DropInputs{n} })),
		taking(items("modules", nothing, moduleItems, func(n []string) Edit { return Unwrap{n} })),
		finer(ofShapes, needs("gradients", nothing, gradItems, noGrad)),
		finer(ofShapes, needs("constants", values, constantItems, asInputs)), // tensors that are the module's become inputs
		finer(ofShapes, needs("leaves", nothing, madeItems, asLeaf)),         // inputs that are results of operators
		finer(ofShapes, reduction{name: "sizes", needs: looks, run: shrink, singles: shrinkSingles}),
		finer(ofShapes, needs("dtypes", nothing, dtypeItems, simplerDTypes)),
		finer(ofShapes, needs("layouts", nothing, layoutItems, contiguous)),
		finer(ofData, reduction{name: "values", likely: true, opensEarly: true, run: fills, singles: fillSingles, opening: fillOpening}), // zeros, ones, arange, random
		finer(ofArguments, reduction{name: "arguments", likely: true, run: arguments, singles: argumentSingles, opening: argumentOpening}),
		finer(ofSettings, needs("config", nothing, configItems, func(n []string) Edit { return DropSettings{n} })),
		{name: "simplify", needs: looks, run: simplify, singles: simplifications},                            // down the lattice of operators
		items("casts", nothing, castItems, func(n []string) Edit { return Uncast{n} }),                       // what a call's argument dtype does as well
		finer(ofData, reduction{name: "elements", opensEarly: true, run: elements, singles: elementSingles}), // the few that matter
		{name: "sweep", run: sweep},            // one element at a time, until nothing more goes: 1-minimal
		{name: "workaround", run: workarounds}, // settings that make the failure go away
	}
}

// fewCalls is the number of calls up to which the sweep takes calls away, once inputs and arguments are small: what is asked before that has to be
// asked again.
const fewCalls = 8

// large is a row for graphs of many calls. In smaller ones it leaves its edits to the sweep, but for failures for which soon is true: then each is
// asked about once, as every call that goes makes the questions of the rows that follow fewer.
func large(r reduction, soon func(v *view) bool) reduction {
	run := r.run
	r.run = func(ctx context.Context, d *driver) error {
		switch {
		case CostOf(d.cur).Calls > fewCalls:
			return run(ctx, d)
		case soon != nil && soon(&d.view):
			return d.rounds(ctx, d.untried(r.singles(&d.view)))
		}
		return nil
	}
	r.large, r.soon = true, soon
	return r
}

// crashes reports whether the failure is none of wrong results. Those come and go with what else is computed, so that what was asked of a larger
// graph is most often asked again.
func crashes(v *view) bool { return !v.accuracy() }

// taking is a row that makes the graph smaller.
func taking(r reduction) reduction {
	r.graph = true
	return r
}

// finer is a row that changes no calls.
func finer(g grain, r reduction) reduction {
	r.grain = g
	return r
}

// rowNamed is a row of the table; nil where there is none of that name.
func rowNamed(name string) *reduction {
	if i := slices.IndexFunc(reductions, func(r reduction) bool { return r.name == name }); i >= 0 {
		return &reductions[i]
	}
	return nil
}

// needs is a row that looks for the items that the failure needs: most often none, or one.
func needs(name string, know knowledge, list func(*view) []string, mk func([]string) Edit) reduction {
	return reduction{name: name, needs: know, likely: true, singles: singles(list, mk), opening: all(list, mk), run: func(ctx context.Context, d *driver) error {
		return d.walk(ctx, needed("", d.hopeful(list(&d.view), mk), mk))
	}}
}

// all is the edit of all items together.
func all(list func(*view) []string, mk func([]string) Edit) func(*view) []Edit {
	return func(v *view) []Edit {
		if items := list(v); len(items) > 0 {
			return []Edit{mk(items)}
		}
		return nil
	}
}

// items is a row that takes away items: all at once, by halves, quarters ...
func items(name string, know knowledge, list func(*view) []string, mk func([]string) Edit) reduction {
	return itemsOf(name, know, list, list, mk)
}

// itemsOf is a row that takes away items, and in the sweep each of others.
func itemsOf(name string, know knowledge, list, each func(*view) []string, mk func([]string) Edit) reduction {
	return reduction{name: name, needs: know, run: chunked(list, mk), singles: singles(each, mk), opening: func(v *view) []Edit {
		var out []Edit
		its := list(v)
		for size := len(its); size >= 1 && len(out) < 2*v.atOnce; size /= 2 {
			out = append(out, chunks(its, size, mk)...)
		}
		return out
	}}
}

// Reductions lists the names of the table's rows, in order.
func Reductions() []string {
	var out []string
	for _, r := range reductions {
		out = append(out, r.name)
	}
	return out
}

// callItems lists the calls, those aside that take one of several results: they go with the call that gives them.
func callItems(v *view) []string {
	var out []string
	for _, n := range v.cur.Module.Graph.Calls() {
		if !part(n) {
			out = append(out, n.Name)
		}
	}
	return out
}

// doubted are the calls of a list that are not known to be needed.
func doubted(list func(*view) []string) func(*view) []string {
	return func(v *view) []string {
		return slices.DeleteFunc(list(v), func(name string) bool { return v.needed[name] || v.edges[name] })
	}
}

func bypassItems(v *view) []string {
	var out []string
	for _, n := range v.cur.Module.Graph.Calls() {
		if v.w.standIns(v.cur, n) != nil {
			out = append(out, n.Name)
		}
	}
	return out
}

func outputItems(v *view) []string {
	var out []string
	seen := map[string]bool{}
	for _, o := range outputs(v.cur.Module.Graph) {
		if t := fx.FormatArg(o); !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// innerOutputs are the outputs that a call uses, too. The others need no question of their own in the sweep: a call whose result is only returned
// goes when it is cut, and it takes less with it then.
func innerOutputs(v *view) []string {
	used := map[*fx.Node]bool{}
	for _, n := range v.cur.Module.Graph.Calls() {
		n.WalkInputs(func(in *fx.Node) { used[in] = true })
	}
	last := map[string]bool{}
	for _, o := range outputs(v.cur.Module.Graph) {
		if n, ok := o.(*fx.Node); ok && n.IsCall() && !used[n] {
			last[fx.FormatArg(o)] = true
		}
	}
	return slices.DeleteFunc(outputItems(v), func(text string) bool { return last[text] })
}

func inputItems(v *view) []string {
	used := map[*fx.Node]bool{}
	for _, n := range v.cur.Module.Graph.Nodes {
		n.WalkInputs(func(in *fx.Node) { used[in] = true })
	}
	var out []string
	for _, p := range v.cur.Module.Graph.Placeholders() {
		if !used[p] {
			out = append(out, p.Name)
		}
	}
	return out
}

// configItems lists the settings, those first that share a word with the operators that are left or with the failure's text: they are
// the likeliest to be needed.
func configItems(v *view) []string {
	said := setOf(settingWord.FindAllString(strings.ToLower(v.message), -1))
	for _, n := range v.cur.Module.Graph.Calls() {
		for _, w := range settingWord.FindAllString(strings.ToLower(n.Target), -1) {
			said[w] = true
		}
	}
	var first, rest []string
	for _, c := range v.cur.Config {
		_, key, _ := strings.Cut(c.Name, ".config.")
		if slices.ContainsFunc(settingWord.FindAllString(strings.ToLower(key), -1), func(w string) bool { return said[w] && !settingWords[w] }) {
			first = append(first, c.Name)
		} else {
			rest = append(rest, c.Name)
		}
	}
	return append(first, rest...)
}

var settingWord = regexp.MustCompile(`[a-z0-9]{2,}`)

// settingWords are in too many names of settings and texts of errors to tell anything.
var settingWords = setOf([]string{"cpp", "torch", "config", "compile", "error", "use", "to", "default", "on", "is", "of", "in", "enable", "size", "max", "for", "no", "debug", "graph", "cache"})

func dead(ctx context.Context, d *driver) error {
	return d.rounds(ctx, []Edit{DeadCode{}})
}

// sweep settles the graph, then tries every single element with every reduction, until none goes. The verdicts of the last time round are
// the certificate: the result is 1-minimal, no single edit of any row keeps the failure and makes it smaller (Zeller and Hildebrandt, Simplifying and Isolating
// Failure-Inducing Input, 2002, for the word). What was asked before is not asked again, unless something as coarse or coarser changed since (grain);
// the certificate says which of its answers are so.
func sweep(ctx context.Context, d *driver) error {
	defer func() { d.certify = "" }()
	for {
		if err := settle(ctx, d); err != nil {
			return err
		}
		before := d.taken
		d.certificate, d.short = nil, nil
		clear(d.lost) // the certificate takes nothing for granted but what was asked
		clear(d.needed)
		clear(d.edges)
		for _, r := range reductions {
			if err := d.single(ctx, r, nil); err != nil {
				return err
			}
		}
		if d.taken == before {
			return nil
		}
	}
}

// settle takes single calls away until none goes; then what is left is made plain, as far as that was not tried before.
func settle(ctx context.Context, d *driver) error {
	for _, graph := range []bool{true, false} {
		for again, before := true, d.taken; again; {
			was := d.taken
			for _, r := range reductions {
				if r.graph != graph {
					continue
				}
				if err := d.single(ctx, r, d.untried); err != nil {
					return err
				}
			}
			again = d.taken > was
			if graph && !again && d.taken == before {
				return nil // as it was when all rows were through
			}
		}
	}
	return nil
}

// single asks for a row's smallest edits: all of them, or those that choose leaves.
func (d *driver) single(ctx context.Context, r reduction, choose func([]Edit) []Edit) error {
	if r.singles == nil || d.off[r.name] || d.s.without[r.name] {
		return nil
	}
	if err := d.learn(ctx, r.needs); err != nil {
		return err
	}
	d.certify = r.name
	edits := r.singles(&d.view)
	if choose != nil {
		return d.rounds(ctx, choose(edits))
	}
	for _, e := range edits {
		if k, known := d.kept[e.String()]; known {
			d.certificate = append(d.certificate, Trial{r.name, e.String(), k.trial.verdict, true})
			d.noteShort(k.trial)
		}
	}
	return d.rounds(ctx, d.open(edits))
}

// untried leaves out what most likely loses the failure: edits that did in a larger state, and those that take away calls that are needed. Of
// several edits of one thing it leaves the first. Wrong results come and go with what else is computed, so that for them a window's edges prove
// little.
func (v *view) untried(edits []Edit) []Edit {
	seen := map[string]bool{}
	return slices.DeleteFunc(edits, func(e Edit) bool {
		of, takes := subject(e), takesAway(e)
		out := v.lost[e.String()] || v.needed[takes] || v.edges[takes] && !v.accuracy() || of != "" && seen[of]
		seen[of] = seen[of] || !out
		return out
	})
}

// possible leaves out the edits that take away, with others, a call whose bypass lost the failure.
func (v *view) possible(edits []Edit) []Edit {
	return slices.DeleteFunc(edits, func(e Edit) bool { return v.needed[takesAway(e)] })
}

// conclude notes what the answer to an edit says about later ones, as far as failing is monotonic: the same edit loses the failure in a
// smaller state, too. A bypass leaves all else that is computed connected: where it loses the failure, the failure needs that call.
func (d *driver) conclude(t *trial) {
	if t.skip || t.verdict == replay.Reproduced {
		return
	}
	if t.verdict != replay.Passed {
		return // what cannot be asked of a large state may be possible in a small one
	}
	d.lost[t.c.Edit] = true
	e, bypasses := t.edit.(Bypass)
	if !bypasses || e.takes() == "" {
		return
	}
	n := d.cur.Module.Graph.Node(e.takes())
	if n == nil {
		return
	}
	stays := map[*fx.Node]bool{}
	for _, in := range d.w.standIns(d.cur, n) {
		stays[in.by] = true
	}
	if !slices.ContainsFunc(n.Inputs(), func(in *fx.Node) bool { return in.IsCall() && !stays[in] }) {
		d.needed[e.takes()] = true
	}
}

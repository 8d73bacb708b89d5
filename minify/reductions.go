package minify

import (
	"context"

	"whittle/capture/fx"
)

// A reduction is one row of the table: run edits the current state through the driver until it has no more ideas; singles
// are its smallest edits of the current state, for the sweep.
type reduction struct {
	name    string
	needs   knowledge
	run     func(ctx context.Context, d *driver) error
	singles func(d *driver) []edit // nil => none that others do not have
}

// reductions, coarse to fine. The first rows find where the failure is; the others take away what it does not need.
var reductions []reduction

func init() { // the functions look the table up through the driver
	reductions = []reduction{
		{"localise", values, localise, nil}, // one call, alone on its real inputs
		{"ends", values, ends, nil},         // the smallest prefix, then its smallest suffix, then both ends alone
		{"dead", nothing, dead, nil},
		needs("symbols", looks, symbolItems, concrete), // sizes that are inputs become numbers
		items("regions", nothing, regionItems, dropRegions),
		{"inline", nothing, inline, inlineSingles}, // a branch or body for a higher-order call
		items("outputs", nothing, outputItems, (*world).dropOutputs),
		items("bypass", looks, bypassItems, (*world).bypass), // before cut: it also takes away what stands between two operators
		items("cut", values, callItems, (*world).cut),        // with a tap: who made it becomes an output
		{"shortcut", looks, shortcut, shortcutSingles},       // earlier values through one adapter
		items("bodies", looks, bodyItems, (*world).bodyBypass),
		items("inputs", nothing, inputItems, func(_ *world, n []string) edit { return unusedInputs(n) }),
		needs("config", nothing, configItems, func(_ *driver, n []string) edit { return dropSettings(n) }),
		items("modules", nothing, moduleItems, unwrap),
		{"plain", looks, plain, nil}, // the simplest inputs, all at once
		needs("gradients", nothing, gradItems, noGrad),
		{"sizes", looks, shrink, shrinkSingles},
		needs("dtypes", nothing, dtypeItems, simplerDTypes),
		needs("layouts", nothing, layoutItems, contiguous),
		{"values", nothing, fills, fillSingles}, // zeros, ones, arange, random
		{"arguments", nothing, arguments, argumentSingles},
		{"simplify", looks, simplify, simplifications},  // down the lattice of operators
		{"elements", nothing, elements, elementSingles}, // the few that matter
		{"sweep", nothing, sweep, nil},                  // one element at a time, until nothing more goes: 1-minimal
		{"workaround", nothing, workarounds, nil},       // settings that make the failure go away
	}
}

// needs is a row that looks for the items that the failure needs: most often none, or one.
func needs(name string, know knowledge, list func(*driver) []string, mk func(*driver, []string) edit) reduction {
	return reduction{name, know, func(ctx context.Context, d *driver) error {
		return d.walk(ctx, needed("", list(d), func(names []string) edit { return mk(d, names) }))
	}, singles(list, mk)}
}

// items is a row that takes away items: all at once, by halves, quarters ...
func items(name string, needs knowledge, list func(*driver) []string, mk func(*world, []string) edit) reduction {
	edits := func(d *driver, names []string) edit { return mk(d.w, names) }
	return reduction{name, needs, chunked(list, edits), singles(list, edits)}
}

// Reductions lists the names of the table's rows, in order.
func Reductions() []string {
	var out []string
	for _, r := range reductions {
		out = append(out, r.name)
	}
	return out
}

func callItems(d *driver) []string {
	var out []string
	for _, n := range d.cur.Module.Graph.Calls() {
		out = append(out, n.Name)
	}
	return out
}

func bypassItems(d *driver) []string {
	var out []string
	for _, n := range d.cur.Module.Graph.Calls() {
		if d.w.through(d.cur, n) != nil {
			out = append(out, n.Name)
		}
	}
	return out
}

func outputItems(d *driver) []string {
	var out []string
	seen := map[string]bool{}
	for _, o := range outputs(d.cur.Module.Graph) {
		if t := fx.FormatArg(o); !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

func inputItems(d *driver) []string {
	used := map[*fx.Node]bool{}
	for _, n := range d.cur.Module.Graph.Nodes {
		n.WalkInputs(func(in *fx.Node) { used[in] = true })
	}
	var out []string
	for _, p := range d.cur.Module.Graph.Placeholders() {
		if !used[p] {
			out = append(out, p.Name)
		}
	}
	return out
}

func configItems(d *driver) []string {
	var out []string
	for _, c := range d.cur.Config {
		out = append(out, c.Name)
	}
	return out
}

func dead(ctx context.Context, d *driver) error {
	return d.rounds(ctx, []edit{d.w.deadCode()})
}

// sweep tries every single element with every reduction until none goes, and notes the verdicts of the last time round.
// What was asked before is not asked again.
func sweep(ctx context.Context, d *driver) error {
	d.after = func() []*trial { return []*trial{d.question(d.proof(0))} }
	defer func() { d.after, d.certify = nil, "" }()
	for {
		before := d.taken
		d.certificate = nil
		for _, r := range reductions {
			if r.singles == nil || d.off[r.name] {
				continue
			}
			if err := d.learn(ctx, r.needs); err != nil {
				return err
			}
			d.certify = r.name
			if err := d.rounds(ctx, r.singles(d)); err != nil {
				return err
			}
		}
		if d.taken == before {
			return nil
		}
	}
}

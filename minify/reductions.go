package minify

import (
	"context"
	"regexp"
	"strings"

	"whittle/capture/fx"
)

// A reduction is one row of the table: run edits the current state through the driver until it has no more ideas.
type reduction struct {
	name string
	run  func(ctx context.Context, d *driver) error
}

// reductions, in order. localise, prefix and suffix find where the failure is; the rest take away what it does not need.
var reductions []reduction

func init() { // the functions look the table up through the driver
	reductions = []reduction{
		{"localise", localise}, // nodes that the error names, then windows, alone on their real inputs
		{"prefix", prefix},     // the smallest failing prefix
		{"suffix", suffix},     // the largest prefix that can become inputs
		{"dead", dead},
		{"outputs", chunked(outputItems, (*world).dropOutputs)},
		{"bypass", chunked(bypassItems, (*world).bypass)}, // before cut: it also takes away what stands between two operators
		{"cut", chunked(callItems, (*world).cut)},
		{"shortcut", shortcut}, // earlier values through one adapter
		{"inputs", chunked(inputItems, func(_ *world, n []string) edit { return unusedInputs(n) })},
		{"config", chunked(configItems, func(_ *world, n []string) edit { return dropSettings(n) })},
		{"sweep", sweep}, // one element at a time, until nothing more goes: 1-minimal
	}
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

// chunked tries an edit on all items, then on halves, quarters ... and at last on each. Each chunk is tried once;
// what later makes single items go is the sweep's business.
func chunked(items func(*driver) []string, mk func(*world, []string) edit) func(context.Context, *driver) error {
	return func(ctx context.Context, d *driver) error {
		all := items(d)
		for size := len(all); size >= 1; size /= 2 {
			var edits []edit
			for lo := 0; lo < len(all); lo += size {
				edits = append(edits, mk(d.w, all[lo:min(lo+size, len(all))]))
			}
			if err := d.rounds(ctx, edits); err != nil {
				return err
			}
			// What went needs no more tries.
			left := setOf(items(d))
			var rest []string
			for _, x := range all {
				if left[x] {
					rest = append(rest, x)
				}
			}
			all = rest
			size = min(size, len(all)+1)
		}
		return nil
	}
}

func dead(ctx context.Context, d *driver) error {
	return d.rounds(ctx, []edit{d.w.deadCode()})
}

var word = regexp.MustCompile(`[A-Za-z_][\w.]*`)

// named lists the calls that a failure's message names: by node name first, then by target.
func named(g *fx.Graph, message string) []string {
	words := map[string]bool{}
	for _, w := range word.FindAllString(message, -1) {
		words[strings.TrimRight(w, ".")] = true
	}
	if len(words) == 0 {
		return nil
	}
	var byName, byTarget []string
	targets := map[string]int{}
	for _, n := range g.Calls() {
		switch {
		case words[n.Name] && len(n.Name) > 1:
			byName = append(byName, n.Name)
		case words[n.Target] || words["torch.ops."+n.Target] || words["torch."+n.Target]:
			// A few of each target: they often fail all or none.
			if targets[n.Target]++; targets[n.Target] <= 4 {
				byTarget = append(byTarget, n.Name)
			}
		}
	}
	return append(byName, byTarget...)
}

// localise looks for one window of calls that fails alone, and for ever shorter windows within it. A failure in one
// operator ends here.
func localise(ctx context.Context, d *driver) error {
	if len(d.cur.Module.Graph.Calls()) < 2 {
		return nil
	}
	if names := named(d.cur.Module.Graph, d.message); len(names) > 0 {
		var edits []edit
		for _, n := range names[:min(len(names), 2*d.size)] {
			edits = append(edits, d.w.keepOnly([]string{n}))
		}
		if won, err := d.first(ctx, edits); won >= 0 || err != nil {
			return err
		}
	}
	for {
		calls := callItems(d)
		n := len(calls)
		if n < 2 {
			return nil
		}
		k := min(d.size, n)
		var edits []edit
		for i := range k {
			edits = append(edits, d.w.keepOnly(calls[i*n/k:(i+1)*n/k]))
		}
		won, err := d.first(ctx, edits)
		if won < 0 || err != nil {
			return err
		}
	}
}

// prefix finds the smallest p for which the first p calls fail, by k-ary search: what is known is
// that the first hi calls fail, and the first lo do not (as far as failing is monotonic).
func prefix(ctx context.Context, d *driver) error {
	return d.bisect(ctx, func(calls []string, p int) []string { return calls[:p] })
}

// suffix is prefix from the other end: the first n-p calls become inputs.
func suffix(ctx context.Context, d *driver) error {
	return d.bisect(ctx, func(calls []string, p int) []string { return calls[len(calls)-p:] })
}

// sweep tries every single element with every reduction until none goes, and notes the verdicts of the last time round.
func sweep(ctx context.Context, d *driver) error {
	singles := []struct {
		name  string
		items func(*driver) []string
		mk    func(*world, []string) edit
	}{
		{"outputs", outputItems, (*world).dropOutputs},
		{"cut", callItems, (*world).cut},
		{"bypass", bypassItems, (*world).bypass},
		{"inputs", inputItems, func(_ *world, n []string) edit { return unusedInputs(n) }},
		{"config", configItems, func(_ *world, n []string) edit { return dropSettings(n) }},
	}
	for {
		before := d.taken
		d.certificate = nil
		for _, s := range singles {
			var edits []edit
			for _, it := range s.items(d) {
				edits = append(edits, s.mk(d.w, []string{it}))
			}
			d.certify = s.name
			err := d.rounds(ctx, edits)
			d.certify = ""
			if err != nil {
				return err
			}
		}
		d.certify = "shortcut"
		err := shortcut(ctx, d)
		d.certify = ""
		if err != nil {
			return err
		}
		if d.taken == before {
			return nil
		}
	}
}

package minify

import (
	"context"
	"maps"
	"slices"

	"whittle/replay"
)

// A view is what a reduction looks at and proposes edits of: the best state so far, and what is known of it. Reductions do not change it. Those who
// look ahead make another one for what would follow (after, in), so that nothing of the search is touched by what may never be.
type view struct {
	cur     State // the best so far; it fails
	w       *world
	row     string // reduction under way
	certify string // part of the sweep under way, "" outside of it
	atOnce  int    // how many edits are asked about at once
	*insight
}

// insight is what is known of the failure. The answers add to it.
type insight struct {
	want     replay.Signature
	message  string                                   // of the start's failure, with what the engine says of its place
	suspects []string                                 // calls that the engine takes to be at fault
	hinted   []string                                 // calls that the caller suspects
	anyWrong bool                                     // see Search.AnyWrong
	outputs  []int                                    // of the best state, that the engine found to be wrong
	sizes    map[string]bool                          // inputs of the start that are sizes of its tensors
	check    func(ctx context.Context, s State) error // static check; nil => shape propagation
	together func() bool                              // whether small candidates cost less together than each by itself

	needed map[string]bool // calls that the failure needs, by what was answered so far; see conclude
	edges  map[string]bool // calls between which the failure lies
	lost   map[string]bool // edits that lost the failure, by their text
	kept   map[string]kept // answers to single edits that still hold
	off    map[string]bool // rows that are switched off: too many of their candidates hung
}

// kept is the answer to a single edit that does not keep the failure: of the best state, or of one that what was adopted since made finer in
// things that come after the row's.
type kept struct {
	trial *trial
	grain grain
}

// grain orders what rows change: from the graph down to settings. An answer about something coarse outlives what becomes finer later, as which
// calls a failure needs seldom depends on what their inputs hold; what is finer is asked again after a change of something coarser.
type grain int

const (
	ofGraph     grain = iota // calls, and what stands between them
	ofShapes                 // sizes, dtypes, layouts, gradients
	ofData                   // what inputs hold
	ofArguments              // constants in calls
	ofSettings
)

// keep notes the answer to an edit of a row.
func (v *view) keep(row string, t *trial) {
	r := rowNamed(row)
	if r == nil || r.singles == nil || t.verdict == replay.Reproduced || t.verdict == replay.VerdictInfra {
		return
	}
	v.kept[t.c.Edit] = kept{t, r.grain}
}

// changed forgets the answers that the adoption of a row's edit makes doubtful.
func (v *view) changed(row string) {
	at := ofGraph
	if r := rowNamed(row); r != nil {
		at = r.grain
	}
	maps.DeleteFunc(v.kept, func(_ string, k kept) bool { return k.grain >= at })
}

// open leaves out the edits to which the answer is known.
func (v *view) open(edits []Edit) []Edit {
	return slices.DeleteFunc(edits, func(e Edit) bool { _, known := v.kept[e.String()]; return known })
}

// in is the view of a reduction.
func (v *view) in(row string) *view {
	if v.row == row {
		return v
	}
	other := *v
	other.row = row
	return &other
}

// after is what the view will be if a trial is adopted, as far as meta functions tell.
func (v *view) after(ctx context.Context, won *trial) *view {
	then := *v
	then.cur = won.c.State
	if reshapes(won.edit) {
		w := *v.w
		w.outdated = true
		then.w = &w
		if vals, complete, _ := w.propagate(ctx, then.cur); complete {
			w.fakes, w.held, w.outdated, w.hollow = vals, map[string]Held{}, false, true
		}
	}
	return &then
}

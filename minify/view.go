package minify

import (
	"context"

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
	outputs  []int                                    // of the best state, that the engine found to be wrong
	sizes    map[string]bool                          // inputs of the start that are sizes of its tensors
	check    func(ctx context.Context, s State) error // static check; nil => shape propagation

	needed map[string]bool // calls that the failure needs, by what was answered so far; see conclude
	edges  map[string]bool // calls between which the failure lies
	lost   map[string]bool // edits that lost the failure, by their text
	off    map[string]bool // rows that are switched off: too many of their candidates hung
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

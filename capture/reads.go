package capture

import (
	"whittle/capture/effects"
	"whittle/capture/python/vm"
)

// reads are what traced code asks of objects from outside, by instructions and through the interpreter: attributes, items, members,
// contents, what their classes have. Each answer becomes a guard, and what is read gets a source.
type reads struct {
	*ground
	out      *output
	symbols  *symbols
	effects  *effects.Log
	world    *world
	standIns *standIns

	classes    map[*vm.Type]*classFacts // what was looked up in classes
	classOrder []*vm.Type               // those, in order of first sight
	onStack    map[int]stackValue       // what lies untouched on a resume function's stack, by slot
}

func newReads(g *ground, out *output, sy *symbols, ef *effects.Log, w *world, st *standIns) *reads {
	return &reads{ground: g, out: out, symbols: sy, effects: ef, world: w, standIns: st, classes: map[*vm.Type]*classFacts{}}
}

package capture

import (
	"whittle/capture/effects"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// bindings are what the variables of running frames are bound to: how the function that a frame is a call of can be reached from
// outside, and through it the cells of its closure and its defaults.
type bindings struct {
	*ground
	effects  *effects.Log
	world    *world
	standIns *standIns
	reads    *reads

	called   calledFunc                         // the function that the next frame is a call of
	funcs    map[*vm.Frame]source.Source        // functions that the running frames are calls of
	cells    map[*vm.Cell]source.Source         // cells of functions that were called, with the way to their contents; nil for those without
	defaults map[*vm.Frame]map[int]defaultValue // of running inlined calls, by slot
	stored   map[int]bool                       // local variables that the root frame assigned
}

func newBindings(g *ground, ef *effects.Log, w *world, st *standIns, rd *reads) *bindings {
	return &bindings{ground: g, effects: ef, world: w, standIns: st, reads: rd, funcs: map[*vm.Frame]source.Source{}, cells: map[*vm.Cell]source.Source{},
		defaults: map[*vm.Frame]map[int]defaultValue{}, stored: map[int]bool{}}
}

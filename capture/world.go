package capture

import (
	"whittle/capture/effects"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// world is what a trace knows of the objects that existed before it: the source of each that it came across, and with that its
// guards. An object has a source from when it is first seen; tensors are guarded only when they are used.
type world struct {
	*ground
	out     *output
	symbols *symbols
	effects *effects.Log

	builtins   string                      // the global under which guards reach the builtins
	sources    map[vm.Object]source.Source // of objects that existed before the trace
	order      []vm.Object                 // those, in order of first sight
	made       map[vm.Object]bool          // functions that the trace made
	anchored   map[vm.Object]bool          // objects without a source that are the same in every call
	fixedCount int                         // of those that got a source after all
	keyNumbers map[vm.Object]int           // of keys of dicts that guards name
	symbolTo   *vm.Object                  // where see may leave a symbol to take the place of a number; nil => nowhere
}

func newWorld(g *ground, out *output, sy *symbols, ef *effects.Log) *world {
	w := &world{ground: g, out: out, symbols: sy, effects: ef, builtins: g.d.uniqueName("__builtins_dict__"), sources: map[vm.Object]source.Source{}, made: map[vm.Object]bool{},
		anchored: map[vm.Object]bool{}, keyNumbers: map[vm.Object]int{}}
	for name, c := range g.env.Cells {
		w.sources[c] = source.Cell{Var: name}
	}
	return w
}

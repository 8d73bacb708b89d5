package capture

import "whittle/capture/python/vm"

// sideEffects are what a trace changed in objects that existed before it. Each such object is saved before it is first written; the
// writes are undone when the trace has ended, and compiled code makes them again (see plan.go).
type sideEffects struct {
	*ground
	saved      map[vm.Object]snapshot
	savedOrder []vm.Object    // the objects of saved, and assigned globals, in order of first sight
	globals    []*globalWrite // globals that the trace assigned
	logs       []logCall      // calls put off until the graph has run
}

func newEffects(g *ground) *sideEffects {
	return &sideEffects{ground: g, saved: map[vm.Object]snapshot{}}
}

package capture

import (
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/symbolic"
)

// symbols are the numbers of a trace that may differ from call to call: which of the sizes and numbers from outside those are, how
// to read them again, and what the trace took for granted of them. A number that is in none of these tables is a constant.
type symbols struct {
	*ground
	out *output

	shapes       shapeConfig
	inputSizes   map[string]*inputSizes                     // of tensors, by source
	liftedAs     map[string]vm.Object                       // numbers from outside that became symbols, by source
	liftedFrom   map[vm.Object]source.Source                // where they come from
	inputNumbers []symbolic.Input                           // numbers that guards may relate
	numbers      map[string]func(e *source.Env) (any, bool) // how to read them
}

func newSymbols(g *ground, out *output) *symbols {
	return &symbols{ground: g, out: out, inputSizes: map[string]*inputSizes{}, liftedAs: map[string]vm.Object{}, liftedFrom: map[vm.Object]source.Source{},
		numbers: map[string]func(*source.Env) (any, bool){}}
}

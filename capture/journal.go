package capture

import (
	"whittle/capture/guard"
	"whittle/capture/python/vm"
)

// journal is what a trace says about itself: in PyTorch's logs, line by line and graph by graph, and about the place of a break.
type journal struct {
	*ground
	loggedLine map[*vm.Frame]int // the line that was last logged of each frame

	// The innermost frames at the error that ended the trace, in both forms that logs have; nil as long as there is none.
	stack   []StackEntry
	breakAt []guard.Place
}

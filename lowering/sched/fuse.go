package sched

import (
	"slices"
	"strings"

	"whittle/capture/fx/choice"
	"whittle/lowering/ir"
)

// Step is one unit of work in graph order: a group of loops, or something else (an extern call, a view).
type Step struct {
	Loops []*ir.Loops
	Other any
	Free  bool // Other is nothing to be done when the program runs: loops on both sides of it may be one group
}

// rules say when loops may join a group; one that holds is enough.
var rules = []func(group []*ir.Loops, l *ir.Loops) bool{
	// the same space
	func(g []*ir.Loops, l *ir.Loops) bool {
		last := g[len(g)-1]
		return last.Reduce == "" && l.Reduce == "" && slices.Equal(last.Ranges, l.Ranges)
	},
	// Loops of one kernel run one after another, so any order of spaces is right; sharing saves
	// a call and a compile. Large groups compile slowly, which bounds them.
	func(g []*ir.Loops, _ *ir.Loops) bool { return len(g) < maxGroup },
}

// maxGroup is how many loops of different spaces a kernel may have.
const maxGroup = 24

// Fuse groups neighbouring loops, as far as that is chosen. The steps that come in stay as they are; nothing changes its place but for
// steps that are free, which go before the group that is being made.
func Fuse(steps []Step, choices *choice.Matcher) []Step {
	var out []Step
	for i, s := range steps {
		if s.Free && i > 0 && len(out) > 0 && len(out[len(out)-1].Loops) > 0 {
			out = slices.Insert(out, len(out)-1, s)
			continue
		}
		if len(s.Loops) == 0 || len(out) == 0 || len(out[len(out)-1].Loops) == 0 {
			s.Loops = slices.Clip(s.Loops) // a group grows in memory of its own
			out = append(out, s)
			continue
		}
		last := &out[len(out)-1]
		for _, l := range s.Loops {
			joined := false
			for _, ok := range rules {
				if ok(last.Loops, l) {
					if !choices.Take("fusion", l.Out.Name, strings.Join(l.Origins, ", ")+" with "+strings.Join(last.Loops[0].Origins, ", "), "") {
						break
					}
					last.Loops = append(last.Loops, l)
					joined = true
					break
				}
			}
			if !joined {
				out = append(out, Step{Loops: []*ir.Loops{l}})
				last = &out[len(out)-1]
			}
		}
	}
	return out
}

package triton

import (
	"slices"

	"whittle/kernels/tensor"
	"whittle/lowering/ir"
	"whittle/lowering/sched"
)

// A Kernel is one function on the device.
type Kernel struct {
	Name    string
	Source  string       // as the module has it between quotes
	Args    []*ir.Buffer // owners of the memory, in argument order
	X, R    int64        // points of the axes; R is 0 where nothing is reduced
	Origins []string     // graph nodes that it computes, each once

	nest   sched.Nest
	rows   int   // leading axes of a loop that make up x, where there is an r
	inputs []int // of Args: what it reads and does not write
}

// gpu is what nests are arranged for: any number of rows will do, each row is reduced by one program instance, and what a stage wrote can be read
// back at the same point alone, as each thread has its own.
var gpu = sched.Machine{Outer: 1, Points: true, Fits: oneKernel}

// wholeRow is the longest row that one program instance works through where loops beside a reduction of all elements would join it.
const wholeRow = 1 << 16

// oneKernel reports whether a nest is one kernel: all its reductions are of whole rows, and everything else walks the rows, or what they reduce.
func oneKernel(n sched.Nest) bool {
	loops := n.Loops()
	inner := int64(-1)
	for _, l := range loops {
		if l.Reduce != "" {
			if len(l.Ranges) != n.Outer {
				return false
			}
			inner = tensor.Numel(l.Reduction)
		}
	}
	if inner < 0 {
		return len(n.Stages) == 1
	}
	if len(loops) > 1 && n.Outer == 0 && inner > wholeRow {
		return false
	}
	for _, l := range loops {
		if of := tensor.Numel(l.Sizes()[n.Outer:]); of != inner && len(l.Sizes()) > n.Outer {
			return false
		}
	}
	return true
}

// Plan arranges a group of loops in kernels, which run one after another. Loops without points are left out.
func Plan(group []*ir.Loops) []*Kernel {
	var out []*Kernel
	group = slices.DeleteFunc(slices.Clone(group), func(l *ir.Loops) bool { return slices.Contains(l.Sizes(), 0) })
	for _, n := range gpu.Nests(group) {
		k := &Kernel{nest: n, rows: n.Outer}
		for _, l := range n.Loops() {
			for _, o := range l.Origins {
				if !slices.Contains(k.Origins, o) {
					k.Origins = append(k.Origins, o)
				}
			}
			if l.Reduce != "" {
				k.R = tensor.Numel(l.Reduction)
			}
		}
		first := n.Loops()[0]
		if k.X = tensor.Numel(first.Ranges); k.R > 0 {
			k.X = tensor.Numel(first.Ranges[:n.Outer])
		}
		out = append(out, k)
	}
	return out
}

// touches calls f for the memory that k reads and writes.
func (k *Kernel) touches(f func(*ir.Buffer)) {
	for _, l := range k.nest.Loops() {
		l.Value.Reads(func(e *ir.Expr) { f(e.Buf.Owner()) })
		f(l.Out.Owner())
	}
}

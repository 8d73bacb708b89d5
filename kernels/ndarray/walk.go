package ndarray

import (
	"slices"
	"unsafe"
)

// A walk goes over several arrays of one shape at once, the longest runs innermost.
type walk struct {
	shape   []int
	strides [][]int // by array
	offs    []int
}

// newWalk prepares to go over views that have the shape already. With sorted, axes are in the order in which they lie in memory; axes that lie
// one behind the other in all arrays become one.
func newWalk(shape []int, views []*Array, sorted bool) *walk {
	w := &walk{shape: slices.Clone(shape), offs: make([]int, len(views))}
	for i, v := range views {
		w.offs[i] = v.Offset
		w.strides = append(w.strides, slices.Clone(v.Strides))
	}
	if sorted {
		w.permute(memoryOrder(len(shape), w.strides, w.shape))
	}
	w.coalesce()
	return w
}

// memoryOrder is the order of axes, slowest first, in which most arrays lie in memory; ties stay in C order.
func memoryOrder(n int, strides [][]int, shape []int) []int {
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	// An insertion sort, as the relation is partial: an axis moves ahead only over axes about which the arrays say something.
	for i := 1; i < n; i++ {
		ax := perm[i]
		pos := i
		for j := i - 1; j >= 0; j-- {
			c := compareAxes(ax, perm[j], strides, shape)
			if c == 0 {
				continue
			}
			if c > 0 {
				pos = j
				continue
			}
			break
		}
		copy(perm[pos+1:i+1], perm[pos:i])
		perm[pos] = ax
	}
	return perm
}

// compareAxes says whether axis p is slower (1) or faster (-1) than q, 0 for nothing known.
func compareAxes(p, q int, strides [][]int, shape []int) int {
	out := 0
	for _, s := range strides {
		x, y := abs(s[p]), abs(s[q])
		if x == 0 || y == 0 {
			continue
		}
		if x <= y {
			return -1 // one array that says so decides for C order
		}
		out = 1
	}
	return out
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

func (w *walk) permute(perm []int) {
	w.shape = pick(w.shape, perm)
	for i, s := range w.strides {
		w.strides[i] = pick(s, perm)
	}
}

func pick(s, perm []int) []int {
	out := make([]int, len(perm))
	for i, p := range perm {
		out[i] = s[p]
	}
	return out
}

// coalesce drops axes of size 1 and joins neighbours.
func (w *walk) coalesce() {
	n := 0 // axes that are kept
	for i, size := range w.shape {
		if size == 1 {
			continue
		}
		joined := n > 0
		for _, s := range w.strides {
			joined = joined && s[n-1] == size*s[i]
		}
		if joined {
			w.shape[n-1] *= size
			for _, s := range w.strides {
				s[n-1] = s[i]
			}
			continue
		}
		w.shape[n] = size
		for _, s := range w.strides {
			s[n] = s[i]
		}
		n++
	}
	w.shape = w.shape[:n]
	for i, s := range w.strides {
		w.strides[i] = s[:n]
	}
}

// run calls f for each innermost run: where it begins in each array, how long it is, and the steps.
func (w *walk) run(f func(offs []int, n int, steps []int) error) error {
	steps := make([]int, len(w.strides))
	offs := slices.Clone(w.offs)
	nd := len(w.shape)
	if slices.Contains(w.shape, 0) {
		return nil
	}
	if nd == 0 {
		return f(offs, 1, steps)
	}
	for i, s := range w.strides {
		steps[i] = s[nd-1]
	}
	at := make([]int, nd-1)
	for {
		if err := f(offs, w.shape[nd-1], steps); err != nil {
			return err
		}
		k := nd - 2
		for ; k >= 0; k-- {
			at[k]++
			if at[k] < w.shape[k] {
				for i, s := range w.strides {
					offs[i] += s[k]
				}
				break
			}
			for i, s := range w.strides {
				offs[i] -= s[k] * (w.shape[k] - 1)
			}
			at[k] = 0
		}
		if k < 0 {
			return nil
		}
	}
}

// A Loop computes n elements: p says where the inputs and outputs are, s by how many bytes to step.
type Loop func(n int, p []unsafe.Pointer, s []int)

// runLoop runs a loop over views of one shape.
func runLoop(w *walk, views []*Array, loop Loop) {
	p := make([]unsafe.Pointer, len(views))
	_ = w.run(func(offs []int, n int, steps []int) error {
		for i, v := range views {
			p[i] = v.ptr(offs[i])
		}
		loop(n, p, steps)
		return nil
	})
}

// at is the i-th element of a run.
func at[T any](p unsafe.Pointer, s, i int) *T { return (*T)(unsafe.Add(p, s*i)) }

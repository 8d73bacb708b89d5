package bisect

import (
	"math/bits"
	"slices"
)

// An order says which points come before which: each has the points that it was made from as parents, which have lower numbers. The zero order is a
// chain, where point i is made from i-1.
type order struct{ parents func(i int) []int }

// reach marks a point and all that come before it, of n points.
func (o order) reach(point, n int) []bool {
	seen := make([]bool, n)
	if o.parents == nil {
		for i := range point + 1 {
			seen[i] = true
		}
		return seen
	}
	todo := []int{point}
	seen[point] = true
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range o.parents(i) {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
	return seen
}

// mostWeighed is up to how many points with parents are weighed exactly: it takes a bit for each pair.
const mostWeighed = 20000

// weights is for each of some points, ascending, how many of them it comes after, itself counted: so many are left if it is bad. Where they are too
// many to weigh, the place in the list stands for it: the search asks more, and finds the same.
func (o order) weights(points []int) []int {
	out := make([]int, len(points))
	if o.parents == nil || len(points) > mostWeighed {
		for i := range points {
			out[i] = i + 1
		}
		return out
	}
	words := (len(points) + 63) / 64
	sets := make([]uint64, words*len(points))
	set := func(i int) []uint64 { return sets[i*words : (i+1)*words] }
	for i, p := range points {
		own := set(i)
		own[i/64] |= 1 << (i % 64)
		for _, parent := range o.parents(p) {
			if j, ok := slices.BinarySearch(points, parent); ok {
				for w, x := range set(j) {
					own[w] |= x
				}
			}
		}
		for _, x := range own {
			out[i] += bits.OnesCount64(x)
		}
	}
	return out
}

package aot

import "math"

// flow is a max-flow network (Dinic).
type flow struct {
	head [][]int
	to   []int
	cap  []float64
}

func newFlow(n int) *flow { return &flow{head: make([][]int, n)} }

func (f *flow) edge(a, b int, c float64) {
	f.head[a] = append(f.head[a], len(f.to))
	f.to, f.cap = append(f.to, b), append(f.cap, c)
	f.head[b] = append(f.head[b], len(f.to))
	f.to, f.cap = append(f.to, a), append(f.cap, 0)
}

// cut saturates the network and returns the sink's side: all from which the sink can still be reached.
// Of several minimal cuts that is the one nearest to the sink.
func (f *flow) cut(s, t int) []bool {
	n := len(f.head)
	for {
		level := make([]int, n)
		for i := range level {
			level[i] = -1
		}
		level[s] = 0
		q := []int{s}
		for len(q) > 0 {
			v := q[0]
			q = q[1:]
			for _, e := range f.head[v] {
				if f.cap[e] > 1e-9 && level[f.to[e]] < 0 {
					level[f.to[e]] = level[v] + 1
					q = append(q, f.to[e])
				}
			}
		}
		if level[t] < 0 {
			return f.feeds(t)
		}
		it := make([]int, n)
		var push func(v int, c float64) float64
		push = func(v int, c float64) float64 {
			if v == t {
				return c
			}
			for ; it[v] < len(f.head[v]); it[v]++ {
				e := f.head[v][it[v]]
				if f.cap[e] <= 1e-9 || level[f.to[e]] != level[v]+1 {
					continue
				}
				if d := push(f.to[e], math.Min(c, f.cap[e])); d > 0 {
					f.cap[e] -= d
					f.cap[e^1] += d
					return d
				}
			}
			return 0
		}
		for {
			d := push(s, math.Inf(1))
			if d == 0 {
				break
			}
			if math.IsInf(d, 1) { // nothing finite separates the sides: every path is free
				return make([]bool, n)
			}
		}
	}
}

// feeds says from which vertices t can be reached along edges with room left.
func (f *flow) feeds(t int) []bool {
	ok := make([]bool, len(f.head))
	ok[t] = true
	for todo := []int{t}; len(todo) > 0; {
		v := todo[0]
		todo = todo[1:]
		for _, e := range f.head[v] {
			if u := f.to[e]; !ok[u] && f.cap[e^1] > 1e-9 {
				ok[u] = true
				todo = append(todo, u)
			}
		}
	}
	return ok
}

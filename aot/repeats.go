package aot

import (
	"slices"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// A tensor that is given twice, and written, is one input of the graph: see AOTDedupeWrapper of torch/_functorch/_aot_autograd/runtime_wrappers.py.

// repeats are, per input, the position among the different ones.
type repeats []int

// repeated finds the tensors that are given more than once; nil when there are none.
func repeated(inputs []aten.Value) repeats {
	r := make(repeats, len(inputs))
	first := map[*tensor.Tensor]int{}
	kept := 0
	for i, v := range inputs {
		t, ok := v.(*tensor.Tensor)
		if at, seen := first[t]; ok && seen {
			r[i] = at
			continue
		}
		if ok {
			first[t] = kept
		}
		r[i] = kept
		kept++
	}
	if kept == len(inputs) {
		return nil
	}
	return r
}

// matter reports whether the function writes to one of the repeated inputs, or changes its metadata.
func (r repeats) matter(j *Joint) bool {
	count := map[int]int{}
	for _, at := range r {
		count[at]++
	}
	written := slices.Clone(j.InGraph)
	for _, m := range j.Mutated {
		written = append(written, m.Input)
	}
	return slices.ContainsFunc(written, func(i int) bool { return count[r[i]] > 1 })
}

// first is, per input, the first one that is the same tensor.
func (r repeats) first() []int {
	if r == nil {
		return nil
	}
	out := make([]int, len(r))
	for i, at := range r {
		out[i] = slices.Index(r, at)
	}
	return out
}

// once keeps the first of each.
func once[T any](r repeats, inputs []T) []T {
	var out []T
	for i, v := range inputs {
		if r[i] == len(out) {
			out = append(out, v)
		}
	}
	return out
}

// function is f for the different inputs alone.
func (r repeats) function(f Function) Function {
	return func(d aten.Dispatcher, inputs []aten.Value) ([]aten.Value, error) {
		all := make([]aten.Value, len(r))
		for i, at := range r {
			all[i] = inputs[at]
		}
		return f(d, all)
	}
}

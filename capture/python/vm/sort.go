package vm

import (
	"slices"
	"sort"
)

// sortItems sorts in place, stably, by key (None: the items) as list.sort does.
func sortItems(in *Interp, items []Object, key Object, reverse bool) error {
	keys := items
	if key != nil && key != None {
		keys = make([]Object, len(items))
		for i, it := range items {
			k, err := in.Call(key, []Object{it}, nil)
			if err != nil {
				return err
			}
			keys[i] = k
		}
	}
	idx := make([]int, len(items))
	for i := range idx {
		idx[i] = i
	}
	var failed error
	less := func(a, b Object) bool {
		if failed != nil {
			return false
		}
		if x, ok := a.(Int); ok {
			if y, ok := b.(Int); ok {
				return x < y
			}
		}
		if x, ok := a.(Str); ok {
			if y, ok := b.(Str); ok {
				return x < y
			}
		}
		v, err := in.Compare("<", a, b)
		if err != nil {
			failed = err
			return false
		}
		t, err := in.Truth(v)
		if err != nil {
			failed = err
		}
		return t
	}
	// Comparisons ask "later < earlier" only, as timsort does.
	if reverse {
		slices.Reverse(idx)
	}
	sort.SliceStable(idx, func(i, j int) bool { return less(keys[idx[i]], keys[idx[j]]) })
	if reverse {
		slices.Reverse(idx)
	}
	if failed != nil {
		return failed
	}
	out := make([]Object, len(items))
	for i, j := range idx {
		out[i] = items[j]
	}
	copy(items, out)
	return nil
}

package effects

import (
	"slices"

	"whittle/capture/python/vm"
)

// Contents is what a list, a dict, a cell or an instance holds: items, keys and values in turn, the value, attributes as keys and
// values. It is a copy; nil for other objects.
func Contents(o vm.Object) []vm.Object {
	switch v := o.(type) {
	case *vm.List:
		return append([]vm.Object(nil), v.Items...)
	case *vm.Dict:
		return Pairs(v)
	case *vm.Cell:
		return []vm.Object{v.V}
	case *vm.Instance:
		if v.Dict != nil {
			return Pairs(v.Dict)
		}
	}
	return nil
}

// Pairs are the keys and values of a dict in turn.
func Pairs(d *vm.Dict) []vm.Object {
	var out []vm.Object
	d.Each(func(k, v vm.Object) bool {
		out = append(out, k, v)
		return true
	})
	return out
}

// SameItems reports whether two lists hold the same objects: by identity, and constants by value and type.
func SameItems(a, b []vm.Object) bool { return slices.Equal(a, b) }

// Entries compares the keys and values of a dict, in turn, before and after: which keys to take out, and which entries then
// to set, for the same contents in the same order.
func Entries(before, now []vm.Object) (drop, set []vm.Object) {
	at := map[vm.Object]int{}
	for i := 0; i+1 < len(before); i += 2 {
		at[before[i]] = i
	}
	kept := map[int]bool{}
	last, appended := -1, false
	for i := 0; i+1 < len(now); i += 2 {
		j, was := at[now[i]]
		if was && j > last && !appended {
			last = j
			kept[j] = true
			if before[j+1] != now[i+1] {
				set = append(set, now[i], now[i+1])
			}
			continue
		}
		appended = true
		set = append(set, now[i], now[i+1])
	}
	for i := 0; i+1 < len(before); i += 2 {
		if !kept[i] {
			drop = append(drop, before[i])
		}
	}
	return drop, set
}

// Replace makes o hold items, which are as Contents gives them. An instance without a __dict__ gets one when there is something to hold.
func Replace(in *vm.Interp, o vm.Object, items []vm.Object) {
	switch v := o.(type) {
	case *vm.List:
		v.Items = append(v.Items[:0:0], items...)
	case *vm.Dict:
		refill(in, v, items)
	case *vm.Cell:
		v.V = items[0]
	case *vm.Instance:
		if v.Dict == nil {
			if len(items) == 0 {
				return
			}
			v.Dict = vm.NewDict()
		}
		refill(in, v.Dict, items)
	}
}

// refill replaces the entries of a dict, unless they are the same in the same order: its version stays then, and with it what others
// remember of its keys.
func refill(in *vm.Interp, d *vm.Dict, items []vm.Object) {
	if SameItems(Pairs(d), items) {
		return
	}
	d.Clear()
	for i := 0; i+1 < len(items); i += 2 {
		_ = d.Set(in, items[i], items[i+1]) // keys of a dict are hashable
	}
}

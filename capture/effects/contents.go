package effects

import (
	"slices"

	"whittle/capture/python/vm"
)

// A Sequence is a container of items in order that is no list: a deque.
type Sequence interface {
	vm.Object
	Items() []vm.Object
	SetItems(items []vm.Object)
}

// Contents is what a list, another Sequence, a dict, a cell or an instance holds: items, keys and values in turn, the value, attributes as keys and
// values, those of __slots__ behind those of __dict__. It is a copy; nil for other objects.
func Contents(o vm.Object) []vm.Object {
	switch v := o.(type) {
	case *vm.List:
		return append([]vm.Object(nil), v.Items...)
	case Sequence:
		return slices.Clone(v.Items())
	case *vm.Dict:
		return Pairs(v)
	case *vm.Cell:
		return []vm.Object{v.V}
	case *vm.Instance:
		var out []vm.Object
		if v.Dict != nil {
			out = Pairs(v.Dict)
		}
		for _, m := range members(v) {
			if x := v.Slots[m.Index]; x != nil {
				out = append(out, vm.Str(m.Name), x)
			}
		}
		return out
	}
	return nil
}

// members are the descriptors of an instance's __slots__, in the order of its classes.
func members(i *vm.Instance) []*vm.Member {
	var out []*vm.Member
	for _, c := range i.Class.MRO {
		if len(i.Slots) == 0 {
			break
		}
		c.Dict.Each(func(_, v vm.Object) bool {
			if m, ok := v.(*vm.Member); ok && m.Index < len(i.Slots) && i.Class.IsSubtype(m.Own) {
				out = append(out, m)
			}
			return true
		})
	}
	return out
}

// member is the descriptor of one of them, by name; nil for other attributes.
func member(i *vm.Instance, name vm.Object) *vm.Member {
	for _, m := range members(i) {
		if vm.Object(vm.Str(m.Name)) == name {
			return m
		}
	}
	return nil
}

// Assign writes attributes of an instance, given as keys and values in turn, where __slots__ or its __dict__ have them, after it took those in drop
// out.
func Assign(in *vm.Interp, i *vm.Instance, drop, items []vm.Object) {
	for _, k := range drop {
		if m := member(i, k); m != nil {
			i.Slots[m.Index] = nil
		} else if i.Dict != nil {
			_, _ = i.Dict.Del(in, k) // the keys were hashable before
		}
	}
	for k := 0; k+1 < len(items); k += 2 {
		if m := member(i, items[k]); m != nil {
			i.Slots[m.Index] = items[k+1]
			continue
		}
		if i.Dict == nil {
			i.Dict = vm.NewDict()
		}
		_ = i.Dict.Set(in, items[k], items[k+1])
	}
}

// attributes are those of Contents of an instance that lie in its __dict__.
func attributes(i *vm.Instance, contents []vm.Object) []vm.Object {
	var out []vm.Object
	for k := 0; k+1 < len(contents); k += 2 {
		if member(i, contents[k]) == nil {
			out = append(out, contents[k], contents[k+1])
		}
	}
	return out
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
	case Sequence:
		v.SetItems(items)
	case *vm.Dict:
		refill(in, v, items)
	case *vm.Cell:
		v.V = items[0]
	case *vm.Instance:
		for _, m := range members(v) {
			v.Slots[m.Index] = nil
		}
		for k := 0; k+1 < len(items) && len(v.Slots) > 0; k += 2 {
			if m := member(v, items[k]); m != nil {
				v.Slots[m.Index] = items[k+1]
			}
		}
		items = attributes(v, items)
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

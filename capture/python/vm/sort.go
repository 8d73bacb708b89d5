package vm

import "slices"

// keyed is an item that is being sorted, with what it is compared by.
type keyed[K any] struct {
	key  K
	item Object
}

// sortItems sorts in place, stably, by key (None: the items) as list.sort does.
func sortItems(in *Interp, items []Object, key Object, reverse bool) error {
	keys := items
	if key != nil && key != None {
		keys = make([]Object, len(items))
		arg := make([]Object, 1)
		for i, it := range items {
			arg[0] = it
			k, err := in.Call(key, arg, nil)
			if err != nil {
				return err
			}
			keys[i] = k
		}
	}
	switch {
	case allAre[Int](keys):
		return sortKeys(items, reverse, func(i int) Int { return keys[i].(Int) }, func(a, b Int) (bool, error) { return a < b, nil })
	case allAre[Float](keys):
		return sortKeys(items, reverse, func(i int) Float { return keys[i].(Float) }, func(a, b Float) (bool, error) { return a < b, nil })
	case allAre[Str](keys):
		return sortKeys(items, reverse, func(i int) Str { return keys[i].(Str) }, func(a, b Str) (bool, error) { return a < b, nil })
	}
	return sortKeys(items, reverse, func(i int) Object { return keys[i] }, in.less)
}

// allAre reports whether all keys are of one Go type, which then needs no __lt__ to compare.
func allAre[T Object](keys []Object) bool {
	for _, k := range keys {
		if _, ok := k.(T); !ok {
			return false
		}
	}
	return true
}

// less is the truth of a < b.
func (in *Interp) less(a, b Object) (bool, error) {
	if x, ok := a.(Int); ok {
		if y, ok := b.(Int); ok {
			return x < y, nil
		}
	}
	v, err := in.Compare("<", a, b)
	if err != nil {
		return false, err
	}
	return in.Truth(v)
}

// sortKeys sorts items by their keys. To sort backwards and stably, it sorts what is reversed, and reverses that.
func sortKeys[K any](items []Object, reverse bool, key func(i int) K, less func(a, b K) (bool, error)) error {
	rows := make([]keyed[K], len(items))
	for i, it := range items {
		rows[i] = keyed[K]{key(i), it}
	}
	if reverse {
		slices.Reverse(rows)
	}
	if err := (&runs[K]{less: less}).sort(rows); err != nil {
		return err
	}
	if reverse {
		slices.Reverse(rows)
	}
	for i := range rows {
		items[i] = rows[i].item
	}
	return nil
}

// runs is a merge sort that starts from what is in order already: natural runs, short ones extended by binary insertion. It asks "later <
// earlier" alone, and keeps equal items in their order.
type runs[K any] struct {
	less func(a, b K) (bool, error)
	buf  []keyed[K] // the left one of two runs that are merged
}

// shortest is the length up to which runs of n items are extended: such that their number is a power of two, or a little less.
func shortest(n int) int {
	odd := 0
	for n >= 64 {
		odd |= n & 1
		n >>= 1
	}
	return n + odd
}

func (r *runs[K]) sort(a []keyed[K]) error {
	var ends []int // of the runs, each longer than the two after it together
	least := shortest(len(a))
	for i := 0; i < len(a); {
		n, err := r.run(a[i:])
		if err != nil {
			return err
		}
		if m := min(least, len(a)-i); n < m {
			if err := r.insert(a[i:i+m], n); err != nil {
				return err
			}
			n = m
		}
		i += n
		ends = append(ends, i)
		if ends, err = r.collapse(a, ends, false); err != nil {
			return err
		}
	}
	_, err := r.collapse(a, ends, true)
	return err
}

// run is the length of the run that a begins with; one that falls strictly is turned around.
func (r *runs[K]) run(a []keyed[K]) (int, error) {
	if len(a) < 2 {
		return len(a), nil
	}
	falls, err := r.less(a[1].key, a[0].key)
	if err != nil {
		return 0, err
	}
	n := 2
	for n < len(a) {
		lower, err := r.less(a[n].key, a[n-1].key)
		if err != nil {
			return 0, err
		}
		if lower != falls {
			break
		}
		n++
	}
	if falls {
		slices.Reverse(a[:n])
	}
	return n, nil
}

// insert sorts a, of which the first n are sorted.
func (r *runs[K]) insert(a []keyed[K], n int) error {
	for ; n < len(a); n++ {
		x := a[n]
		lo, hi := 0, n
		for lo < hi {
			mid := (lo + hi) / 2
			lower, err := r.less(x.key, a[mid].key)
			if err != nil {
				return err
			}
			if lower {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		copy(a[lo+1:n+1], a[lo:n])
		a[lo] = x
	}
	return nil
}

// collapse merges neighbouring runs until their lengths are right, or all of them.
func (r *runs[K]) collapse(a []keyed[K], ends []int, all bool) ([]int, error) {
	begin := func(k int) int {
		if k == 0 {
			return 0
		}
		return ends[k-1]
	}
	size := func(k int) int { return ends[k] - begin(k) }
	for len(ends) > 1 {
		k := len(ends) - 2 // the left one of the last two
		switch {
		case k > 0 && (all || size(k-1) <= size(k)+size(k+1)) && size(k-1) < size(k+1):
			k--
		case all || size(k) <= size(k+1) || k > 0 && size(k-1) <= size(k)+size(k+1):
		default:
			return ends, nil
		}
		if err := r.merge(a[begin(k):ends[k+1]], size(k)); err != nil {
			return nil, err
		}
		ends = slices.Delete(ends, k, k+1)
	}
	return ends, nil
}

// merge merges a[:m] and a[m:].
func (r *runs[K]) merge(a []keyed[K], m int) error {
	r.buf = append(r.buf[:0], a[:m]...)
	i, j, to := 0, m, 0
	for i < m && j < len(a) {
		lower, err := r.less(a[j].key, r.buf[i].key)
		if err != nil {
			return err
		}
		if lower {
			a[to] = a[j]
			j++
		} else {
			a[to] = r.buf[i]
			i++
		}
		to++
	}
	copy(a[to:], r.buf[i:m])
	return nil
}

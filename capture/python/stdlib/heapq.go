package stdlib

import "whittle/capture/python/vm"

// heap is a list in heap order: no item is less than its parent, the one at half its index. A heap of the largest first compares the other
// way round.
type heap struct {
	in   *vm.Interp
	l    *vm.List
	most bool
}

// less reports whether a belongs nearer to the top than b.
func (h *heap) less(a, b vm.Object) (bool, error) {
	if h.most {
		a, b = b, a
	}
	n := len(h.l.Items)
	v, err := h.in.Compare("<", a, b)
	if err != nil {
		return false, err
	}
	if len(h.l.Items) != n {
		return false, h.in.Errorf(h.in.Exc.RuntimeError, "list changed size during iteration")
	}
	return h.in.Truth(v)
}

// rise moves the item at pos up to where its parent is not greater, but not above top.
func (h *heap) rise(top, pos int) error {
	item := h.l.Items[pos]
	for pos > top {
		parent := (pos - 1) >> 1
		up, err := h.less(item, h.l.Items[parent])
		if err != nil {
			return err
		}
		if !up {
			break
		}
		h.l.Items[pos], h.l.Items[parent] = h.l.Items[parent], item
		pos = parent
	}
	return nil
}

// sink moves the item at pos down to a leaf, the smaller children up, and then lets it rise.
func (h *heap) sink(pos int) error {
	top, end := pos, len(h.l.Items)
	for 2*pos+1 < end {
		child := 2*pos + 1
		if child+1 < end {
			left, err := h.less(h.l.Items[child], h.l.Items[child+1])
			if err != nil {
				return err
			}
			if !left {
				child++
			}
		}
		h.l.Items[pos], h.l.Items[child] = h.l.Items[child], h.l.Items[pos]
		pos = child
	}
	return h.rise(top, pos)
}

func (h *heap) heapify() error {
	for i := len(h.l.Items)/2 - 1; i >= 0; i-- {
		if err := h.sink(i); err != nil {
			return err
		}
	}
	return nil
}

func (h *heap) pop() (vm.Object, error) {
	n := len(h.l.Items)
	if n == 0 {
		return nil, h.in.Errorf(h.in.Exc.IndexError, "index out of range")
	}
	last := h.l.Items[n-1]
	h.l.Items[n-1] = nil
	h.l.Items = h.l.Items[:n-1]
	if n == 1 {
		return last, nil
	}
	return h.swapTop(last)
}

// swapTop takes the top and puts another item into its place.
func (h *heap) swapTop(v vm.Object) (vm.Object, error) {
	top := h.l.Items[0]
	h.l.Items[0] = v
	return top, h.sink(0)
}

// heapqModule is _heapq.
func heapqModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_heapq", "Heap queue algorithm (a.k.a. priority queue).")
	add := func(name string, most bool, n int, f func(h *heap, a []vm.Object) (vm.Object, error)) {
		m.FuncN(name, n, n, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
			l, ok := vm.AsList(a[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "%s() argument%s must be list, not %s", name, map[bool]string{true: " 1"}[n > 1], vm.ArgName(a[0]))
			}
			return f(&heap{in, l, most}, a[1:])
		})
	}
	add("heappush", false, 2, func(h *heap, a []vm.Object) (vm.Object, error) {
		h.l.Items = append(h.l.Items, a[0])
		return vm.None, h.rise(0, len(h.l.Items)-1)
	})
	add("heappushpop", false, 2, func(h *heap, a []vm.Object) (vm.Object, error) {
		if len(h.l.Items) == 0 {
			return a[0], nil
		}
		less, err := h.less(h.l.Items[0], a[0])
		if err != nil || !less {
			return a[0], err
		}
		if len(h.l.Items) == 0 {
			return nil, h.in.Errorf(h.in.Exc.IndexError, "index out of range")
		}
		return h.swapTop(a[0])
	})
	for _, most := range []bool{false, true} {
		suffix, prefix := "", ""
		if most {
			suffix, prefix = "_max", "_"
		}
		add(prefix+"heappop"+suffix, most, 1, func(h *heap, _ []vm.Object) (vm.Object, error) { return h.pop() })
		add(prefix+"heapify"+suffix, most, 1, func(h *heap, _ []vm.Object) (vm.Object, error) { return vm.None, h.heapify() })
		add(prefix+"heapreplace"+suffix, most, 2, func(h *heap, a []vm.Object) (vm.Object, error) {
			if len(h.l.Items) == 0 {
				return nil, h.in.Errorf(h.in.Exc.IndexError, "index out of range")
			}
			return h.swapTop(a[0])
		})
	}
	return m, nil
}

// bisectModule is _bisect.
func bisectModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_bisect", "Bisection algorithms.")
	for _, right := range []bool{false, true} {
		suffix := "left"
		if right {
			suffix = "right"
		}
		for _, insert := range []bool{false, true} {
			name := "bisect_" + suffix
			if insert {
				name = "insort_" + suffix
			}
			params := vm.NewParams(name, "a, x, lo=0, hi=None, *, key=None")
			m.Func(name, func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				a, err := params.Bind(in, args, kw)
				if err != nil {
					return nil, err
				}
				x := a[1]
				if insert && a[4] != vm.None {
					if x, err = in.Call(a[4], []vm.Object{x}, nil); err != nil {
						return nil, err
					}
				}
				i, err := bisect(in, a, x, right)
				if err != nil || !insert {
					return vm.MakeInt(i), err
				}
				_, err = in.CallMethod(a[0], "insert", vm.MakeInt(i), a[1])
				return vm.None, err
			})
		}
	}
	return m, nil
}

// bisect finds where x belongs among the sorted items of a[0]: behind those that are equal, if right is set, or before them.
func bisect(in *vm.Interp, a []vm.Object, x vm.Object, right bool) (int64, error) {
	lo, err := in.Index(a[2])
	if err != nil {
		return 0, err
	}
	if lo < 0 {
		return 0, in.Errorf(in.Exc.ValueError, "lo must be non-negative")
	}
	var hi int64
	if a[3] != vm.None {
		hi, err = in.Index(a[3])
	} else {
		var n int
		n, err = in.Len(a[0])
		hi = int64(n)
	}
	for err == nil && lo < hi {
		mid := lo + (hi-lo)/2
		var v vm.Object
		if v, err = in.GetItem(a[0], vm.MakeInt(mid)); err != nil {
			break
		}
		if a[4] != vm.None {
			if v, err = in.Call(a[4], []vm.Object{v}, nil); err != nil {
				break
			}
		}
		if right {
			v, err = in.Compare("<", x, v)
		} else {
			v, err = in.Compare("<", v, x)
		}
		if err != nil {
			break
		}
		var less bool
		if less, err = in.Truth(v); less != right {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, err
}

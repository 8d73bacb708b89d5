package ndarray

import (
	"slices"
	"unsafe"
)

// An Index is one part of a key.
type Index struct {
	Kind              IndexKind
	I                 int // of At
	Start, Stop, Step *int
	Of                *Array // of Fancy: int64; of Mask: bool
}

// IndexKind tells parts of a key apart.
type IndexKind uint8

// The kinds of parts.
const (
	At      IndexKind = iota // an integer
	Part                     // a slice
	NewAxis                  // None
	Dots                     // ...
	Fancy                    // integers
	Mask                     // truths
)

// A Selection is what a key picks: a view, and the arrays of indices on axes of it that are left.
type Selection struct {
	View  *Array   // with the axes that Fancy parts index still there
	fancy []*Array // by axis of View, nil for none
	axes  []int    // the axes of View with a fancy index
	front bool     // the fancy dimensions come first
	shape []int    // that of all fancy indices together
}

// Basic says that the selection is a view of the array.
func (s *Selection) Basic() bool { return len(s.axes) == 0 }

// Select resolves a key.
func (a *Array) Select(key []Index) (*Selection, error) {
	key, err := a.complete(key)
	if err != nil {
		return nil, err
	}
	s := &Selection{View: &Array{Buf: a.Buf, DType: a.DType, Offset: a.Offset, ReadOnly: a.ReadOnly, Shape: []int{}, Strides: []int{}}}
	v := s.View
	anyFancy := slices.ContainsFunc(key, func(k Index) bool { return k.Kind == Fancy || k.Kind == Mask })
	ax := 0
	last := -1 // the place in the key of the last fancy part
	apart := false
	add := func(n, stride int, f *Array) {
		if f != nil {
			s.axes = append(s.axes, len(v.Shape))
		}
		v.Shape, v.Strides, s.fancy = append(v.Shape, n), append(v.Strides, stride), append(s.fancy, f)
	}
	note := func(i int) {
		apart = apart || last >= 0 && i != last+1
		last = i
	}
	for i, k := range key {
		switch k.Kind {
		case NewAxis:
			add(1, 0, nil)
		case At:
			n := a.Shape[ax]
			j := k.I
			if j < -n || j >= n {
				return nil, fail("IndexError", "index %d is out of bounds for axis %d with size %d", j, ax, n)
			}
			if j < 0 {
				j += n
			}
			if anyFancy { // an integer among arrays is one of them
				note(i)
			}
			v.Offset += j * a.Strides[ax]
			ax++
		case Part:
			lo, step, n, err := k.slice(a.Shape[ax])
			if err != nil {
				return nil, err
			}
			if n > 0 {
				v.Offset += lo * a.Strides[ax]
			}
			add(n, a.Strides[ax]*step, nil)
			ax++
		case Fancy:
			note(i)
			f, err := inRange(k.Of, a.Shape[ax], ax)
			if err != nil {
				return nil, err
			}
			add(a.Shape[ax], a.Strides[ax], f)
			ax++
		case Mask:
			note(i)
			if k.Of.NDim() == 0 { // one truth: an axis of one or no elements
				add(1, 0, zeros(b2i(k.Of.Get(k.Of.Offset).(bool))))
				continue
			}
			for d, n := range k.Of.Shape {
				if n != a.Shape[ax+d] {
					return nil, fail("IndexError", "boolean index did not match indexed array along axis %d; size of axis is %d but size of corresponding boolean axis is %d", ax+d, a.Shape[ax+d], n)
				}
			}
			for _, f := range Nonzero(k.Of) {
				add(a.Shape[ax], a.Strides[ax], f)
				ax++
			}
		}
	}
	return s, s.arrange(apart)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func zeros(n int) *Array { return New(Of(Int64), n) }

// arrange broadcasts the fancy indices together.
func (s *Selection) arrange(apart bool) error {
	if len(s.axes) == 0 {
		return nil
	}
	var shapes [][]int
	for _, ax := range s.axes {
		shapes = append(shapes, s.fancy[ax].Shape)
	}
	shape, err := BroadcastShapes(shapes...)
	if err != nil {
		return fail("IndexError", "shape mismatch: indexing arrays could not be broadcast together with shapes %s ", tightShapes(shapes))
	}
	s.shape = shape
	for _, ax := range s.axes {
		if s.fancy[ax], err = s.fancy[ax].Broadcast(shape); err != nil {
			return err
		}
	}
	s.front = apart
	return nil
}

// complete expands the dots and adds what is missing at the end.
func (a *Array) complete(key []Index) ([]Index, error) {
	used, dots := 0, -1
	for i, k := range key {
		switch k.Kind {
		case At, Part, Fancy:
			used++
		case Mask:
			used += k.Of.NDim()
		case Dots:
			if dots >= 0 {
				return nil, fail("IndexError", "an index can only have a single ellipsis ('...')")
			}
			dots = i
		}
	}
	if used > a.NDim() {
		return nil, fail("IndexError", "too many indices for array: array is %d-dimensional, but %d were indexed", a.NDim(), used)
	}
	rest := make([]Index, a.NDim()-used)
	for i := range rest {
		rest[i].Kind = Part
	}
	if dots < 0 {
		return slices.Concat(key, rest), nil
	}
	return slices.Concat(key[:dots], rest, key[dots+1:]), nil
}

// slice resolves a slice for an axis of n elements.
func (k Index) slice(n int) (lo, step, count int, err error) {
	step = 1
	if k.Step != nil {
		if step = *k.Step; step == 0 {
			return 0, 0, 0, fail("ValueError", "slice step cannot be zero")
		}
	}
	first, end := 0, n
	if step < 0 {
		first, end = n-1, -1
	}
	clamp := func(p *int, def int) int {
		if p == nil {
			return def
		}
		x := *p
		if x < 0 {
			x += n
		}
		if step < 0 {
			return min(max(x, -1), n-1)
		}
		return min(max(x, 0), n)
	}
	lo = clamp(k.Start, first)
	hi := clamp(k.Stop, end)
	if step > 0 {
		count = (hi - lo + step - 1) / step
	} else {
		count = (lo - hi - step - 1) / -step
	}
	return lo, step, max(count, 0), nil
}

// inRange checks indices of an axis, and gives them counted from the front.
func inRange(f *Array, n, ax int) (*Array, error) {
	c, err := f.AsType(Of(Int64), 'C')
	if err != nil {
		return nil, err
	}
	xs := Slice[int64](c)
	for i, x := range xs {
		if x < int64(-n) || x >= int64(n) {
			return nil, fail("IndexError", "index %d is out of bounds for axis %d with size %d", x, ax, n)
		}
		if x < 0 {
			xs[i] = x + int64(n)
		}
	}
	return c, nil
}

// result is the shape of what a fancy selection picks, the view of what lies behind one of its indices, and where its axes go.
func (s *Selection) result() (shape []int, inner *Array, place int) {
	v := s.View
	inner = v.View(nil, nil, v.Offset)
	place = -1
	for ax := range v.Shape {
		if s.fancy[ax] != nil {
			if place < 0 {
				place = len(inner.Shape)
			}
			continue
		}
		inner.Shape, inner.Strides = append(inner.Shape, v.Shape[ax]), append(inner.Strides, v.Strides[ax])
	}
	if s.front {
		place = 0
	}
	return slices.Concat(inner.Shape[:place], s.shape, inner.Shape[place:]), inner, place
}

// places are the offsets, relative to the view, of all combinations of fancy indices.
func (s *Selection) places() []int {
	out := make([]int, Count(s.shape))
	for _, ax := range s.axes {
		st := s.View.Strides[ax]
		i := 0
		f := s.fancy[ax]
		each(s.shape, f.Strides, f.Offset, func(off int) {
			out[i] += int(*at[int64](f.ptr(off), 0, 0)) * st
			i++
		})
	}
	return out
}

// Read is what the selection picks: a view, or a copy for fancy indices.
func (s *Selection) Read() *Array {
	if s.Basic() {
		return s.View
	}
	shape, inner, place := s.result()
	out := New(s.View.DType, shape...)
	if len(inner.Shape) == 0 && len(s.axes) == 1 && s.gather(out, inner.Offset) {
		return out
	}
	s.pass(out, inner, place, func(o, v *Array) { _ = o.Assign(v) }, false)
	return out
}

// gather reads single elements of one axis, of a common size; it reports whether it did.
func (s *Selection) gather(out *Array, base int) bool {
	f := s.fancy[s.axes[0]]
	if !f.Contiguous() || out.Len() == 0 || out.DType.Num == Object {
		return false
	}
	idx, step, p := Slice[int64](f), s.View.Strides[s.axes[0]], s.View.ptr(base)
	switch out.DType.Size {
	case 8:
		pickInto(Slice[uint64](out), idx, p, step)
	case 4:
		pickInto(Slice[uint32](out), idx, p, step)
	case 1:
		pickInto(Slice[uint8](out), idx, p, step)
	default:
		return false
	}
	return true
}

func pickInto[T any](out []T, idx []int64, p unsafe.Pointer, step int) {
	for i, j := range idx {
		out[i] = *at[T](p, step, int(j))
	}
}

// Write stores values, broadcast, in what the selection picks.
func (s *Selection) Write(src *Array) error {
	if s.View.ReadOnly {
		return fail("ValueError", "assignment destination is read-only")
	}
	if s.Basic() {
		return s.View.Assign(src)
	}
	shape, inner, place := s.result()
	for len(src.Shape) > len(shape) && src.Shape[0] == 1 {
		src = src.View(src.Shape[1:], src.Strides[1:], src.Offset)
	}
	v, err := src.Broadcast(shape)
	if err != nil {
		return fail("ValueError", "shape mismatch: value array of shape %s could not be broadcast to indexing result of shape %s", tightShape(src.Shape), tightShape(shape))
	}
	if !v.DType.Same(s.View.DType) || v.SharesMemory(s.View) {
		if v, err = v.AsType(s.View.DType, 'C'); err != nil {
			return err
		}
	}
	s.pass(v, inner, place, func(o, v *Array) { _ = v.Assign(o) }, true)
	return nil
}

// pass goes over all combinations of fancy indices with the part of other, of the result's shape, and the part of the view that belong together.
func (s *Selection) pass(other, inner *Array, place int, f func(o, v *Array), write bool) {
	k := len(s.shape)
	o := other.View(slices.Delete(slices.Clone(other.Shape), place, place+k), slices.Delete(slices.Clone(other.Strides), place, place+k), 0)
	places := s.places()
	i := 0
	base := inner.Offset
	single := len(inner.Shape) == 0
	size := inner.DType.Size
	run := 0 // bytes of an inner part that lies in one piece on both sides
	if !single && inner.Contiguous() && o.Contiguous() && inner.DType.Num != Object {
		run = inner.Len() * size
	}
	each(s.shape, other.Strides[place:place+k], other.Offset, func(off int) {
		switch from := base + places[i]; {
		case single && write:
			move(inner, from, other, off, size)
		case single:
			move(other, off, inner, from, size)
		case run > 0 && write:
			copy(inner.Buf.Bytes[from:from+run], other.Buf.Bytes[off:off+run])
		case run > 0:
			copy(other.Buf.Bytes[off:off+run], inner.Buf.Bytes[from:from+run])
		default:
			o.Offset, inner.Offset = off, from
			f(o, inner)
		}
		i++
	})
}

// Each calls f with the offsets of the elements that a selection picks, in the order of its result, and the number of each.
func (s *Selection) Each(f func(off, i int) error) error {
	idx := New(Of(Int64), s.View.Shape...)
	xs := Slice[int64](idx)
	i := 0
	each(s.View.Shape, s.View.Strides, s.View.Offset, func(off int) { xs[i] = int64(off); i++ })
	t := *s
	t.View = idx
	picked := t.Read()
	for i, off := range picked.Ints() {
		if err := f(int(off), i); err != nil {
			return err
		}
	}
	return nil
}

// Shape is the shape of what is picked.
func (s *Selection) Shape() []int {
	if s.Basic() {
		return s.View.Shape
	}
	shape, _, _ := s.result()
	return shape
}

// Nonzero are the indices of the elements that are not zero, an array for each axis.
func Nonzero(a *Array) []*Array {
	m := a
	if a.DType.Num != Bool {
		m = a.Truths()
	}
	nd := a.NDim()
	if nd == 1 && m.Len() > 0 {
		var idx []int64
		p, step := m.ptr(m.Offset), m.Strides[0]
		for i := range m.Shape[0] {
			if *at[b8](p, step, i) != 0 {
				idx = append(idx, int64(i))
			}
		}
		return []*Array{FromSlice(Int64, idx)}
	}
	xs := make([][]int64, nd)
	pos := make([]int64, nd)
	each(m.Shape, m.Strides, m.Offset, func(off int) {
		if m.Buf.Bytes[off] != 0 {
			for d := range xs {
				xs[d] = append(xs[d], pos[d])
			}
		}
		for d := nd - 1; d >= 0; d-- {
			if pos[d]++; int(pos[d]) < m.Shape[d] {
				break
			}
			pos[d] = 0
		}
	})
	out := make([]*Array, nd)
	for d := range xs {
		out[d] = FromSlice(Int64, xs[d])
	}
	return out
}

// Truths says of each element whether it is true.
func (a *Array) Truths() *Array {
	if a.DType.Num != Object {
		m, _ := a.AsType(Of(Bool), 'C')
		return m
	}
	m := New(Of(Bool), a.Shape...)
	for i, off := range a.offsets() {
		t, _ := a.DType.Lang.Truth(a.Buf.Objects[off/8])
		m.Buf.Bytes[i] = byte(boolean(t))
	}
	return m
}

package ndarray

import (
	"slices"
	"unsafe"
)

// Reduction says how a reduction is done.
type Reduction struct {
	Axes     []int // nil: all
	KeepDims bool
	DType    *DType
	Out      *Array
	Where    *Array
	Initial  any  // a value as Get gives it; nil for none given
	NoStart  bool // Initial is None: begin with the first element
}

// Reduce folds a along axes.
func (u *Ufunc) Reduce(a *Array, r Reduction) (*Array, error) {
	if u.In != 2 || u.Out != 1 {
		return nil, fail("ValueError", "reduce only supported for binary functions")
	}
	axes, err := Axes(r.Axes, a.NDim())
	if err != nil {
		return nil, err
	}
	if r.Axes == nil {
		for i := range a.Shape {
			axes = append(axes, i)
		}
	}
	var kept, full []int // the shape of the result, without and with axes of 1
	count := 1
	for i, n := range a.Shape {
		if slices.Contains(axes, i) {
			full = append(full, 1)
			count *= n
		} else {
			kept, full = append(kept, n), append(full, n)
		}
	}
	row, a, err := u.reduceRow(a, r.DType, r.Out)
	if err != nil {
		return nil, err
	}
	end := append([]int{}, kept...)
	if r.KeepDims {
		end = append([]int{}, full...)
	}
	if r.Out != nil && !slices.Equal(r.Out.Shape, end) {
		return nil, fail("ValueError", "output parameter for reduction operation %s has the wrong number of dimensions: Found %d but expected %d (must match the operand's shape%s)", u.Name, r.Out.NDim(), len(end), map[bool]string{true: " with keepdims=True", false: ""}[r.KeepDims])
	}
	d := Of(row.Types[2])
	if a.DType.Num == Object {
		d = a.DType
	}
	out := NewOrder(d, full, memoryOrder(len(full), [][]int{a.Strides}, full))
	rest, where, err := u.start(out, a, axes, count, r)
	if err != nil {
		return nil, err
	}
	if err := u.fold(row, out, rest, where); err != nil {
		return nil, err
	}
	res := out
	if !r.KeepDims {
		if res, err = out.Reshape(kept, 'C'); err != nil {
			return nil, err
		}
		if !out.Contiguous() {
			res, err = out.Squeeze(append([]int{}, axes...))
		}
	}
	if r.Out != nil && err == nil {
		return r.Out, r.Out.Assign(res)
	}
	return res, err
}

// reduceRow is the loop of a reduction and the array in its type.
func (u *Ufunc) reduceRow(a *Array, d *DType, out *Array) (*Typed, *Array, error) {
	if a.DType.Num == Object && d == nil {
		return &Typed{Types: []Num{Object, Object, Object}}, a, nil
	}
	if d == nil && out != nil && (u.Name == "add" || u.Name == "multiply") && kindRank[out.DType.Kind] >= kindRank[a.DType.Kind] {
		d = out.DType.Native()
	}
	if d == nil && (u.Name == "add" || u.Name == "multiply") { // small integers add up in large ones
		switch {
		case a.DType.Kind == 'b', a.DType.Kind == 'i' && a.DType.Size < 8:
			d = Of(Int64)
		case a.DType.Kind == 'u' && a.DType.Size < 8:
			d = Of(UInt64)
		}
	}
	if d != nil && !comparing(u) {
		b, err := a.As(d.Native(), 'K')
		if err != nil {
			return nil, nil, err
		}
		a = b
	}
	row, err := u.resolve([]*Array{a, a}, nil, Options{})
	if err != nil {
		return nil, nil, err
	}
	if row == nil {
		return nil, nil, u.unsupported([]*DType{a.DType, a.DType})
	}
	if row.Types[2] != row.Types[0] && row.Types[2] != Bool {
		return nil, nil, fail("TypeError", "the resolved dtypes are not compatible with %s.reduce", u.Name)
	}
	if row.Types[2] == Bool && row.Types[0] != Bool { // a truth is folded with truths
		if a, err = a.AsType(Of(Bool), 'K'); err != nil {
			return nil, nil, err
		}
		row = &u.Rows[0]
	}
	if b, err := a.As(Of(row.Types[1]), 'K'); err == nil {
		a = b
	}
	return row, a, nil
}

func comparing(u *Ufunc) bool {
	return u.Name == "logical_and" || u.Name == "logical_or" || u.Name == "logical_xor"
}

// start gives the result its first values: the identity, or the first elements, which rest then leaves out.
func (u *Ufunc) start(out, a *Array, axes []int, count int, r Reduction) (rest, where *Array, err error) {
	if where = r.Where; where != nil {
		if where, err = where.As(Of(Bool), 'K'); err != nil {
			return nil, nil, err
		}
		if where, err = where.Broadcast(a.Shape); err != nil {
			return nil, nil, err
		}
	}
	first := r.Initial
	if first == nil && !r.NoStart && a.DType.Num != Object {
		first = u.Identity
	}
	if first == nil && a.DType.Num == Object && (count == 0 || len(axes) > 1) && !r.NoStart {
		first = u.Identity
	}
	if first != nil {
		return a, where, out.Fill(first)
	}
	if count == 0 && out.Len() > 0 {
		return nil, nil, fail("ValueError", "zero-size array to reduction operation %s which has no identity", u.Name)
	}
	if where != nil {
		return nil, nil, fail("ValueError", "reduction operation '%s' does not have an identity, so to use a where mask one has to specify 'initial'", u.Name)
	}
	if a.Len() == 0 {
		return a, nil, nil
	}
	head := a.Alias()
	for _, ax := range axes {
		head.Shape[ax] = 1
	}
	if err := out.Assign(head); err != nil {
		return nil, nil, err
	}
	switch {
	case len(axes) == 0 || count == 1:
		return nil, nil, nil
	case idempotent[u.Name] && a.DType.Num != Object: // the first elements may come twice
		return a, nil, nil
	case len(axes) > 1:
		return nil, nil, fail("ValueError", "reduction operation '%s' is not reorderable, so at most one axis may be specified", u.Name)
	}
	return a.between(axes[0], 1, a.Shape[axes[0]]), nil, nil
}

// idempotent are the functions that an element may enter twice.
var idempotent = map[string]bool{"maximum": true, "minimum": true, "fmax": true, "fmin": true, "bitwise_and": true, "bitwise_or": true, "logical_and": true, "logical_or": true}

// fold runs the loop over the array and its result, which stands still along the axes. Where the result began with the first elements, they
// are passed over.
func (u *Ufunc) fold(row *Typed, out, a, where *Array) error {
	if a == nil || a.Len() == 0 {
		return nil
	}
	return u.foldPart(row, out, a, where)
}

// Fill stores one value everywhere.
func (a *Array) Fill(v any) error {
	s := New(a.DType)
	if err := s.Set(0, v); err != nil {
		return err
	}
	return a.Assign(s)
}

func (u *Ufunc) foldPart(row *Typed, out, a, where *Array) error {
	o, err := out.Broadcast(a.Shape)
	if err != nil {
		return err
	}
	if a.DType.Num == Object {
		return u.foldObjects(o, a)
	}
	if where == nil {
		w := newWalk(a.Shape, []*Array{o, a, o}, true)
		runLoop(w, []*Array{o, a, o}, row.Loop)
		return nil
	}
	w := newWalk(a.Shape, []*Array{o, a, where}, true)
	zero := []int{0, 0, 0}
	return w.run(func(offs []int, n int, steps []int) error {
		for i := range n {
			if *at[b8](where.ptr(offs[2]), steps[2], i) == 0 {
				continue
			}
			q := unsafe.Add(o.ptr(offs[0]), i*steps[0])
			row.Loop(1, []unsafe.Pointer{q, unsafe.Add(a.ptr(offs[1]), i*steps[1]), q}, zero)
		}
		return nil
	})
}

func (u *Ufunc) foldObjects(o, a *Array) error {
	lang := a.DType.Lang
	return newWalk(a.Shape, []*Array{o, a}, false).run(func(offs []int, n int, steps []int) error {
		for i := range n {
			to := &o.Buf.Objects[(offs[0]+i*steps[0])/8]
			x := a.Buf.Objects[(offs[1]+i*steps[1])/8]
			v, err := lang.Apply(u.Name, []any{*to, x})
			if err != nil {
				return err
			}
			*to = v
		}
		return nil
	})
}

// Accumulate keeps all partial results along an axis.
func (u *Ufunc) Accumulate(a *Array, axis int, d *DType, out *Array) (*Array, error) {
	if u.In != 2 || u.Out != 1 {
		return nil, fail("ValueError", "accumulate only supported for binary functions")
	}
	if a.NDim() == 0 {
		return nil, fail("TypeError", "cannot accumulate on a scalar")
	}
	axis, err := Axis(axis, a.NDim())
	if err != nil {
		return nil, err
	}
	row, a, err := u.reduceRow(a, d, out)
	if err != nil {
		return nil, err
	}
	res := New(a.DType, a.Shape...)
	if a.Shape[axis] > 0 {
		if err := res.along(axis, 0).Assign(a.along(axis, 0)); err != nil {
			return nil, err
		}
	}
	n := a.Shape[axis] - 1
	switch {
	case a.DType.Num == Object:
		for i := 1; i <= n; i++ {
			cur := res.along(axis, i)
			if err := cur.Assign(res.along(axis, i-1)); err != nil {
				return nil, err
			}
			if err := u.foldObjects(cur, a.along(axis, i)); err != nil {
				return nil, err
			}
		}
	case n > 0: // each line is one run, whose first operand is what it has just written
		so, sa := res.Strides[axis], a.Strides[axis]
		steps := []int{so, sa, so}
		err = lanes(axis, []*Array{res, a}, func(offs []int) error {
			row.Loop(n, []unsafe.Pointer{res.ptr(offs[0]), a.ptr(offs[1] + sa), res.ptr(offs[0] + so)}, steps)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if out != nil {
		return out, out.Assign(res)
	}
	return res, nil
}

// along is the view of one index of an axis.
func (a *Array) along(axis, i int) *Array {
	return a.View(slices.Delete(slices.Clone(a.Shape), axis, axis+1), slices.Delete(slices.Clone(a.Strides), axis, axis+1), a.Offset+i*a.Strides[axis])
}

// between is the view of a range of an axis.
func (a *Array) between(axis, lo, hi int) *Array {
	v := a.Alias()
	v.Shape[axis] = hi - lo
	v.Offset += lo * v.Strides[axis]
	return v
}

// ReduceAt reduces the stretches of an axis that indices begin.
func (u *Ufunc) ReduceAt(a *Array, indices []int64, axis int, d *DType) (*Array, error) {
	axis, err := Axis(axis, a.NDim())
	if err != nil {
		return nil, err
	}
	var parts []*Array
	n := a.Shape[axis]
	for i, lo := range indices {
		if lo < 0 || int(lo) >= n {
			return nil, fail("IndexError", "index %d out-of-bounds in %s.reduceat [0, %d)", lo, u.Name, n)
		}
		hi := n
		if i+1 < len(indices) {
			hi = int(indices[i+1])
		}
		if hi <= int(lo) {
			hi = int(lo) + 1
		}
		p, err := u.Reduce(a.between(axis, int(lo), hi), Reduction{Axes: []int{axis}, KeepDims: true, DType: d})
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return a.between(axis, 0, 0).Copy('C'), nil
	}
	return Concatenate(parts, axis)
}

// Concatenate joins arrays along an axis; their dtypes promote.
func Concatenate(parts []*Array, axis int) (*Array, error) {
	ds := make([]*DType, len(parts))
	for i, p := range parts {
		ds[i] = p.DType
	}
	d := ResultType(ds, nil)
	if d == nil {
		return nil, fail("TypeError", "The DType could not be promoted")
	}
	if parts[0].NDim() == 0 {
		return nil, fail("ValueError", "zero-dimensional arrays cannot be concatenated")
	}
	axis, err := Axis(axis, parts[0].NDim())
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(parts[0].Shape)
	shape[axis] = 0
	for i, p := range parts {
		if p.NDim() != len(shape) {
			return nil, fail("ValueError", "all the input arrays must have same number of dimensions, but the array at index 0 has %d dimension(s) and the array at index %d has %d dimension(s)", len(shape), i, p.NDim())
		}
		for k, n := range p.Shape {
			if k == axis {
				shape[k] += n
			} else if n != shape[k] {
				return nil, fail("ValueError", "all the input array dimensions except for the concatenation axis must match exactly, but along dimension %d, the array at index 0 has size %d and the array at index %d has size %d", k, shape[k], i, n)
			}
		}
	}
	out := New(d, shape...)
	lo := 0
	for _, p := range parts {
		hi := lo + p.Shape[axis]
		if err := out.between(axis, lo, hi).Assign(p); err != nil {
			return nil, err
		}
		lo = hi
	}
	return out, nil
}

package numpy

import (
	"slices"

	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

// FromObject is an object as an array: its own elements where it is an array already (unless copied), of dtype d if that is not nil.
func (np *NumPy) FromObject(o vm.Object, d *ndarray.DType, copied bool) (*ndarray.Array, error) {
	a, own, err := np.arrayOf(o)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return np.fromNested(o, d)
	}
	if d != nil && d.Flexible() && d.Size == 0 && a.DType.Num == d.Num {
		d = nil
	}
	if d == nil || a.DType.Same(d) {
		if copied && !own {
			return a.Copy('K'), nil
		}
		return a, nil
	}
	a, err = a.AsType(d, 'K')
	return a, np.err(err)
}

// arrayOf is the array that an object is or gives by itself; own says that nobody else has it. nil: it is no array.
func (np *NumPy) arrayOf(o vm.Object) (a *ndarray.Array, own bool, err error) {
	switch x := o.(type) {
	case *Array:
		return x.A, false, nil
	case vm.Int, vm.Float, vm.Bool, vm.Str, vm.Bytes, vm.Complex, *vm.List, *vm.Tuple, *vm.Dict, *vm.NoneType, *vm.BigInt:
		return nil, false, nil
	case *vm.MemoryView, *vm.ByteArray:
		return np.fromBuffer(o)
	case vm.Buffer:
		return np.fromBuffer(o)
	}
	if _, isType := o.(*vm.Type); isType {
		return nil, false, nil
	}
	if _, _, ok := np.scalarOf(o); ok {
		return np.zeroDim(o), true, nil
	}
	in := np.In
	f, err := in.GetAttrOpt(o, "__array__")
	if err != nil || f == nil {
		return nil, false, err
	}
	v, err := in.Call(f, nil, nil)
	if err != nil {
		return nil, false, err
	}
	if x, ok := v.(*Array); ok {
		return x.A, false, nil
	}
	return nil, false, in.Errorf(in.Exc.ValueError, "object __array__ method not producing an array")
}

// formats are the characters of buffers, by NumPy's types.
var formats = map[byte]ndarray.Num{'?': ndarray.Bool, 'b': ndarray.Int8, 'B': ndarray.UInt8, 'h': ndarray.Int16, 'H': ndarray.UInt16, 'i': ndarray.Int32, 'I': ndarray.UInt32,
	'l': ndarray.Int64, 'L': ndarray.UInt64, 'q': ndarray.Int64, 'Q': ndarray.UInt64, 'f': ndarray.Float32, 'd': ndarray.Float64, 'e': ndarray.Float16}

// fromBuffer is an array over the memory of an object.
func (np *NumPy) fromBuffer(o vm.Object) (*ndarray.Array, bool, error) {
	in := np.In
	view, err := in.Call(vm.MemoryViewType, []vm.Object{o}, nil)
	if err != nil {
		return nil, false, err
	}
	f, err := in.GetAttr(view, "format")
	if err != nil {
		return nil, false, err
	}
	text, _ := vm.AsStr(f)
	n, ok := formats[text[len(text)-1]]
	if !ok {
		n = ndarray.UInt8
	}
	shapeObj, err := in.GetAttr(view, "shape")
	if err != nil {
		return nil, false, err
	}
	shape, err := np.ints(shapeObj)
	if err != nil {
		return nil, false, err
	}
	raw, writable := vm.WritableBytes(view)
	if !writable {
		if raw, ok = vm.AsBytes(view); !ok {
			return nil, false, nil
		}
	}
	a := overBytes(raw, ndarray.Of(n), shape, view)
	a.ReadOnly = !writable
	return a, false, nil
}

// overBytes is an array in C order over bytes that somebody else holds.
func overBytes(raw []byte, d *ndarray.DType, shape []int, holder any) *ndarray.Array {
	return &ndarray.Array{Buf: &ndarray.Buffer{Bytes: raw, Holder: holder}, DType: d, Shape: shape, Strides: ndarray.CStrides(d.Size, shape)}
}

// A nest is what nested sequences turn out to be.
type nest struct {
	np     *NumPy
	dtype  *ndarray.DType // that holds all scalars; nil for none seen
	ragged bool           // shapes disagree
}

// fromNested makes an array of a scalar or of nested sequences.
func (np *NumPy) fromNested(o vm.Object, d *ndarray.DType) (*ndarray.Array, error) {
	n := &nest{np: np}
	shape, err := n.look(o, 0, d == nil || d.Flexible() && d.Size == 0)
	if err != nil {
		return nil, err
	}
	if n.ragged && (d == nil || d.Num != ndarray.Object) {
		return nil, np.In.Errorf(np.In.Exc.ValueError, "setting an array element with a sequence. The requested array has an inhomogeneous shape after %d dimensions. The detected shape was %s + inhomogeneous part.", len(shape), ndarray.ShapeText(shape))
	}
	if d == nil {
		if d = n.dtype; d == nil {
			d = ndarray.Of(ndarray.Float64)
		}
	} else if d.Flexible() && d.Size == 0 {
		if n.dtype != nil && d.Num == n.dtype.Num {
			d = n.dtype
		} else if n.dtype != nil {
			e := ndarray.Promote(n.dtype, ndarray.Text(1))
			if e == nil || !e.Flexible() {
				e = ndarray.Text(32)
			}
			if d = e; d.Size == 0 {
				d = ndarray.Text(1)
			}
		}
	}
	if d.Flexible() && d.Size == 0 {
		if d = ndarray.Text(1); n.dtype != nil && n.dtype.Num == ndarray.String {
			d = ndarray.RawText(1)
		}
	}
	a := ndarray.New(d, shape...)
	pos := 0
	return a, n.fill(a, o, 0, &pos)
}

// sequence is the items of what counts as a sequence; ok is false for all else.
func (np *NumPy) sequence(o vm.Object) (items []vm.Object, ok bool, err error) {
	switch x := o.(type) {
	case *vm.List:
		return x.Items, true, nil
	case *vm.Tuple:
		return x.Items, true, nil
	case *vm.Range:
		items, err := np.In.IterAll(o)
		return items, true, err
	case vm.Int, vm.Float, vm.Bool, vm.Str, vm.Bytes, vm.Complex, *vm.NoneType, *vm.Dict, *vm.Set, *vm.FrozenSet, *vm.Type, *vm.Function, *vm.BigInt:
		return nil, false, nil
	}
	if _, isDict := vm.AsDict(o); isDict {
		return nil, false, nil
	}
	if _, _, _, scalar := np.element(o); scalar {
		return nil, false, nil
	}
	t := o.Type()
	if t.Lookup("__len__") == nil || t.Lookup("__getitem__") == nil {
		return nil, false, nil
	}
	n, err := np.In.Len(o)
	if err != nil {
		return nil, false, nil
	}
	for i := range n {
		v, err := np.In.GetItem(o, vm.MakeInt(int64(i)))
		if err != nil {
			if np.In.Matches(err, np.In.Exc.KeyError) {
				return nil, false, nil
			}
			return nil, false, err
		}
		items = append(items, v)
	}
	return items, true, nil
}

const mostDims = 64

// look finds the shape of what lies at a depth, and the dtype of all scalars if that is wanted.
func (n *nest) look(o vm.Object, depth int, types bool) ([]int, error) {
	np := n.np
	a, _, err := np.arrayOf(o)
	if err != nil {
		return nil, err
	}
	if a != nil {
		n.meet(a.DType)
		return a.Shape, nil
	}
	if depth < mostDims {
		items, ok, err := np.sequence(o)
		if err != nil {
			return nil, err
		}
		if ok {
			return n.lookItems(items, depth, types)
		}
	}
	if types {
		_, d, _, ok := np.element(o)
		if !ok {
			d = np.object
		}
		n.meet(d)
	}
	return []int{}, nil
}

func (n *nest) meet(d *ndarray.DType) {
	if n.dtype == nil {
		n.dtype = d.Native()
	} else if n.dtype != d {
		if n.dtype = ndarray.Promote(n.dtype, d); n.dtype == nil {
			n.dtype = n.np.object
		}
	}
}

func (n *nest) lookItems(items []vm.Object, depth int, types bool) ([]int, error) {
	var inner []int
	for i, it := range items {
		s, err := n.look(it, depth+1, types)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			inner = s
			continue
		}
		if !slices.Equal(s, inner) { // what they have in common is left
			n.ragged = true
			k := 0
			for k < len(s) && k < len(inner) && s[k] == inner[k] {
				k++
			}
			inner = inner[:k]
		}
	}
	return append([]int{len(items)}, inner...), nil
}

// fill stores what lies at a depth in the elements from pos on.
func (n *nest) fill(a *ndarray.Array, o vm.Object, depth int, pos *int) error {
	np := n.np
	size := a.DType.Size
	if depth < a.NDim() {
		src, _, err := np.arrayOf(o)
		if err != nil {
			return err
		}
		if src != nil {
			shape := a.Shape[depth:]
			part := a.View(shape, ndarray.CStrides(size, shape), *pos*size)
			*pos += ndarray.Count(shape)
			return np.err(part.Assign(src))
		}
		items, _, err := np.sequence(o)
		if err != nil {
			return err
		}
		for _, it := range items {
			if err := n.fill(a, it, depth+1, pos); err != nil {
				return err
			}
		}
		return nil
	}
	v, err := np.valueFor(o, a.DType)
	if err != nil {
		return err
	}
	err = a.Set(*pos*size, v)
	*pos++
	return np.err(err)
}

// ints reads an integer or a sequence of them.
func (np *NumPy) ints(o vm.Object) ([]int, error) {
	in := np.In
	if i, ok := vm.AsInt(o); ok {
		return []int{int(i)}, nil
	}
	if a, isArray := o.(*Array); isArray && a.A.NDim() == 1 {
		out := []int{}
		for _, x := range a.A.Ints() {
			out = append(out, int(x))
		}
		return out, nil
	}
	if o.Type().Lookup("__index__") != nil {
		i, err := in.Index(o)
		return []int{int(i)}, err
	}
	if o.Type().Lookup("__iter__") == nil && o.Type().Lookup("__getitem__") == nil {
		return nil, in.Errorf(in.Exc.TypeError, "expected a sequence of integers or a single integer, got '%s'", reprOf(in, o))
	}
	items, err := in.IterAll(o)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(items))
	for i, it := range items {
		n, err := in.Index(it)
		if err != nil {
			return nil, err
		}
		out[i] = int(n)
	}
	return out, nil
}

func reprOf(in *vm.Interp, o vm.Object) string {
	s, err := in.Repr(o)
	if err != nil {
		return "?"
	}
	return s
}

// shapeArg is ints of a shape: no size is negative.
func (np *NumPy) shapeArg(o vm.Object) ([]int, error) {
	s, err := np.ints(o)
	if err != nil {
		return nil, err
	}
	for _, n := range s {
		if n < 0 {
			return nil, np.In.Errorf(np.In.Exc.ValueError, "negative dimensions are not allowed")
		}
	}
	return s, nil
}

// tuple is a tuple of integers.
func tuple(xs []int) vm.Object {
	items := make([]vm.Object, len(xs))
	for i, x := range xs {
		items[i] = vm.MakeInt(int64(x))
	}
	return vm.NewTuple(items...)
}

// axesArg is an axis argument: nil for None.
func (np *NumPy) axesArg(o vm.Object) ([]int, error) {
	if o == nil || o == vm.None {
		return nil, nil
	}
	if t, ok := vm.AsTuple(o); ok {
		out := []int{}
		for _, it := range t.Items {
			i, err := np.In.Index(it)
			if err != nil {
				return nil, err
			}
			out = append(out, int(i))
		}
		return out, nil
	}
	i, err := np.In.Index(o)
	return []int{int(i)}, err
}

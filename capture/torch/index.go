package torch

import (
	"math"
	"slices"

	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

func (t *Torch) run(name string, args ...aten.Value) (*tensor.Tensor, error) {
	return t.runKw(name, args, nil)
}

func (t *Torch) runKw(name string, args []aten.Value, kw map[string]aten.Value) (*tensor.Tensor, error) {
	v, err := aten.CallKw(t.dispatcher(), "aten."+name, args, kw)
	if err != nil {
		return nil, t.Error(err)
	}
	x, _ := v.(*tensor.Tensor)
	return x, nil
}

// indices takes an index apart. A short list that holds sequences, tensors, slices, Ellipsis or None counts as a tuple, as in NumPy's early days.
func indices(idx vm.Object) []vm.Object {
	if tup, ok := vm.AsTuple(idx); ok {
		return tup.Items
	}
	if l, ok := vm.AsList(idx); ok && len(l.Items) < 32 {
		for _, it := range l.Items {
			switch it.(type) {
			case *Tensor, *vm.List, *vm.Tuple, *vm.Slice, *vm.EllipsisType, *vm.NoneType:
				return l.Items
			}
		}
	}
	return []vm.Object{idx}
}

// indexer applies the parts of an index to a tensor one after another: ints, slices, None, Ellipsis and bools as views, at once; tensors and
// sequences are left for one gather.
type indexer struct {
	t       *Torch
	x       *tensor.Tensor // as far as it is indexed
	tensors []aten.Value   // per dimension of x, nil where none; empty when no tensor indexes
	dim     int            // the dimension of x that the next part is for
	hidden  int            // how many dimensions an Ellipsis stands for
	whole   bool           // leave slices of whole dimensions out
	alone   bool           // there is one part, and it is the index itself
}

// index takes x[idx] apart, in PyTorch's order. Reading, unlike writing, leaves a slice of a whole dimension out where it is not the only part.
func (t *Torch) index(x *tensor.Tensor, idx vm.Object, reading bool) (*indexer, error) {
	in := t.In
	items := indices(idx)
	used := 0
	for _, it := range items {
		switch v := it.(type) {
		case *vm.NoneType, vm.Bool, *vm.EllipsisType:
		case *Tensor:
			if isMask(v.T) {
				used += len(v.T.Shape)
			} else {
				used++
			}
		default:
			used++
		}
	}
	_, slice := idx.(*vm.Slice)
	if used > len(x.Shape) && !slice {
		if _, isTuple := vm.AsTuple(idx); len(x.Shape) == 0 && !isTuple && len(items) == 1 {
			return nil, in.Errorf(in.Exc.IndexError, "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number")
		}
		return nil, in.Errorf(in.Exc.IndexError, "too many indices for tensor of dimension %d", len(x.Shape))
	}
	r := &indexer{t: t, x: x, hidden: len(x.Shape) - used, whole: reading && !slice, alone: len(items) == 1 && items[0] == idx}
	for i, it := range items {
		if err := r.part(i, it); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// isMask reports whether a tensor selects by truth, so that it stands for as many dimensions as it has.
func isMask(x *tensor.Tensor) bool { return x.DType == tensor.Bool || x.DType == tensor.UInt8 }

// part applies part number i of the index.
func (r *indexer) part(i int, it vm.Object) (err error) {
	t := r.t
	switch v := it.(type) {
	case *vm.EllipsisType:
		r.dim += r.hidden
	case *vm.NoneType:
		err = r.unsqueeze()
		r.dim++
	case vm.Bool:
		if bool(v) && r.alone {
			return r.unsqueeze()
		}
		err = r.truth(bool(v))
	case *vm.Slice:
		err = r.slice(v)
	case *Tensor:
		err = r.tensor(v.T)
	case *Scalar:
		n, _ := t.Value(v)
		r.x, err = t.run("select.int", r.x, int64(r.dim), n)
	default:
		if _, ok, _ := t.items(it); ok {
			var data *tensor.Tensor
			if data, err = t.indexData(it); err == nil {
				r.gather(data)
			}
			return err
		}
		err = r.number(i, it)
	}
	return err
}

// gather leaves the dimension to a tensor. As in PyTorch, what follows is for the next one, though a mask is for several.
func (r *indexer) gather(v *tensor.Tensor) {
	for len(r.tensors) <= r.dim {
		r.tensors = append(r.tensors, nil)
	}
	r.tensors[r.dim] = v
	r.dim++
}

func (r *indexer) unsqueeze() (err error) {
	r.x, err = r.t.run("unsqueeze.default", r.x, int64(r.dim))
	return err
}

// truth takes all of a new dimension of size one, or nothing.
func (r *indexer) truth(v bool) error {
	if err := r.unsqueeze(); err != nil {
		return err
	}
	r.gather(tensor.FromBools([]bool{v}, 1))
	return nil
}

func (r *indexer) slice(s *vm.Slice) (err error) {
	whole := false
	if r.whole {
		if whole, err = r.t.wholeSlice(r.x, r.dim, s); err != nil {
			return err
		}
	}
	if !whole {
		r.x, err = r.t.slice(r.x, r.dim, s)
	}
	r.dim++
	return err
}

// tensor indexes by v: as by its number where it has no dimensions and the number is known, else by a gather.
func (r *indexer) tensor(v *tensor.Tensor) (err error) {
	switch {
	case len(v.Shape) == 0 && v.DType.IsInt() && v.DType != tensor.UInt8 && !v.Fake && r.t.Hook == nil:
		r.x, err = r.t.run("select.int", r.x, int64(r.dim), v.AtInt(0))
		return err
	case len(v.Shape) == 0 && isMask(v):
		b, err := r.t.item(v)
		if err != nil {
			return err
		}
		yes, err := r.t.In.Truth(b)
		if err != nil {
			return err
		}
		return r.truth(yes)
	}
	r.gather(v)
	return nil
}

// indexData is a sequence as a tensor to index with: of bools, or of whatever numbers as integers.
func (t *Torch) indexData(o vm.Object) (*tensor.Tensor, error) {
	d, err := t.suggested(o)
	if err != nil {
		return nil, err
	}
	if d != tensor.Bool && d != tensor.UInt8 {
		d = tensor.Int64
	}
	x, err := t.fromData(o, d)
	if err == nil && t.Lift != nil {
		if x, err = t.Lift(x); err != nil {
			return nil, t.Error(err)
		}
	}
	return x, err
}

// number selects one element of a dimension; i counts the parts of the index, as messages do.
func (r *indexer) number(i int, it vm.Object) error {
	in := r.t.In
	n, ok := vm.AsInt(it)
	if !ok {
		if f := it.Type().Lookup("__index__"); f != nil {
			o, err := in.CallMethod(it, "__index__")
			if err != nil {
				return err
			}
			n, ok = vm.AsInt(o)
		}
	}
	if !ok {
		if _, isStr := vm.AsStr(it); isStr {
			return in.Errorf(in.Exc.TypeError, "new(): invalid data type 'str'")
		}
		return in.Errorf(in.Exc.IndexError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got %s)", it.Type().Name)
	}
	size := r.x.Shape[r.dim]
	if n < -size || n >= size {
		return in.Errorf(in.Exc.IndexError, "index %d is out of bounds for dimension %d with size %d", n, i, size)
	}
	var err error
	r.x, err = r.t.run("select.int", r.x, int64(r.dim), n)
	return err
}

// wholeSlice reports whether a slice among several indices takes a whole dimension, as PyTorch asks it: by its end alone.
func (t *Torch) wholeSlice(x *tensor.Tensor, dim int, s *vm.Slice) (bool, error) {
	zero := func(o vm.Object, is int64) bool {
		n, ok := vm.AsInt(o)
		return o == nil || o == vm.None || ok && n == is
	}
	if !zero(s.Start, 0) || !zero(s.Step, 1) || dim >= len(x.Shape) {
		return false, nil
	}
	stop := vm.Object(vm.MakeInt(math.MaxInt64))
	if s.Stop != nil && s.Stop != vm.None {
		stop = s.Stop
	}
	size := t.sizes(x, dim)[0]
	a, ok := size.(*Scalar)
	if !ok {
		n, isInt := size.(vm.Int)
		b, isScalar := stop.(*Scalar)
		if !isInt {
			return false, nil
		}
		if !isScalar {
			end, ok := vm.AsInt(stop)
			return ok && end == int64(n), nil
		}
		whole, err := b.Env.DecideSize(symbolic.Cmp(symbolic.OpEq, symbolic.Int(int64(n)), b.Expr))
		return whole, t.ScalarError(err)
	}
	end, ok := expression(stop)
	if !ok {
		return false, nil
	}
	whole, err := a.Env.DecideSize(symbolic.Cmp(symbolic.OpEq, a.Expr, end))
	return whole, t.ScalarError(err)
}

func (t *Torch) slice(x *tensor.Tensor, dim int, s *vm.Slice) (*tensor.Tensor, error) {
	bound := func(o vm.Object, def int64) (aten.Value, error) {
		if o == nil || o == vm.None {
			return def, nil
		}
		if p, ok := o.(*Tensor); ok {
			v, err := t.item(p.T)
			if err != nil {
				return nil, err
			}
			o = v
		}
		if _, ok := o.(*Scalar); ok {
			v, _ := t.Value(o)
			return v, nil
		}
		b, ok := vm.AsBig(o)
		if !ok && o.Type().Lookup("__index__") != nil {
			var err error
			if b, err = t.In.IndexBig(o); err != nil {
				return nil, err
			}
			ok = true
		}
		switch {
		case !ok:
			return nil, t.In.Errorf(t.In.Exc.TypeError, "slice indices must be integers or None or have an __index__ method")
		case !b.IsInt64() && b.Sign() < 0:
			return int64(math.MinInt64), nil
		case !b.IsInt64():
			return int64(math.MaxInt64), nil
		}
		return b.Int64(), nil
	}
	start, err := bound(s.Start, 0)
	if err != nil {
		return nil, err
	}
	stop, err := bound(s.Stop, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	step, err := bound(s.Step, 1)
	if err != nil {
		return nil, err
	}
	if n, ok := step.(int64); ok && n == 0 {
		return nil, t.In.Errorf(t.In.Exc.ValueError, "slice step cannot be zero")
	} else if ok && n < 0 {
		return nil, t.In.Errorf(t.In.Exc.ValueError, "step must be greater than zero")
	}
	return t.run("slice.Tensor", x, int64(dim), start, stop, step)
}

func (t *Torch) getItem(x *tensor.Tensor, idx vm.Object) (vm.Object, error) {
	r, err := t.index(x, idx, true)
	if err != nil {
		return nil, err
	}
	if len(r.tensors) > 0 {
		v, err := t.run("index.Tensor", r.x, r.tensors)
		return t.Wrap(v), err
	}
	if r.x == x {
		v, err := t.run("alias.default", x)
		return t.Wrap(v), err
	}
	return t.Wrap(r.x), nil
}

// setItem is x[idx] = val.
func (t *Torch) setItem(x *tensor.Tensor, idx, val vm.Object) error {
	v, err := t.assigned(x, val)
	if err != nil {
		return err
	}
	vt, isTensor := v.(*tensor.Tensor)
	if !isTensor && t.Lift != nil {
		// Where a graph is traced, the number becomes a constant tensor, before anything is indexed.
		c := tensor.Scalar(v).To(x.DType)
		if vt, err = t.Lift(c); err != nil {
			return t.Error(err)
		}
		isTensor = true
	}
	r, err := t.index(x, idx, false)
	if err != nil {
		return err
	}
	if len(r.tensors) > 0 {
		if !isTensor {
			if vt, err = t.runKw("full.default", []aten.Value{[]aten.Value{}, v}, map[string]aten.Value{"dtype": r.x.DType}); err != nil {
				return err
			}
		}
		if vt, err = t.withoutOnes(vt); err != nil {
			return err
		}
		_, err = t.run("index_put_.default", r.x, r.tensors, vt)
		return err
	}
	switch {
	case !isTensor:
		_, err = t.run("fill_.Scalar", r.x, v)
		return err
	case slices.Equal(vt.Shape, r.x.Shape):
	case len(vt.Shape) == 0:
		_, err = t.run("fill_.Tensor", r.x, vt)
		return err
	default:
		if vt, err = t.run("view.default", vt, t.sizeArgs(vt, leadingOnes(vt.Shape))); err != nil {
			return err
		}
		if !slices.Equal(vt.Shape, r.x.Shape) {
			if vt, err = t.run("expand.default", vt, t.sizeArgs(r.x, 0)); err != nil { // which says what is wrong
				return err
			}
		}
	}
	_, err = t.run("copy_.default", r.x, vt)
	return err
}

// leadingOnes is how many dimensions of size one stand in front.
func leadingOnes(shape []int64) (n int) {
	for n < len(shape) && shape[n] == 1 {
		n++
	}
	return n
}

// sizeArgs are the sizes of x from a dimension on, as an operator takes them: symbolic where a trace has them so.
func (t *Torch) sizeArgs(x *tensor.Tensor, from int) []aten.Value {
	out := sizesArg(x.Shape[from:])
	for i, o := range t.sizes(x)[from:] {
		if v, ok := t.Value(o); ok {
			out[i] = v
		}
	}
	return out
}

// withoutOnes is v without dimensions of size one in front.
func (t *Torch) withoutOnes(v *tensor.Tensor) (*tensor.Tensor, error) {
	n := leadingOnes(v.Shape)
	if n == 0 {
		return v, nil
	}
	return t.run("view.default", v, t.sizeArgs(v, n))
}

// assigned is what is written to elements of x: a tensor, or a number that their dtype holds.
func (t *Torch) assigned(x *tensor.Tensor, val vm.Object) (aten.Value, error) {
	v, ok := t.Value(val)
	switch n := v.(type) {
	case *tensor.Tensor, int64, float64, bool, SymbolicNumber:
	case complex128:
		if imag(n) != 0 && x.DType.Kind() != tensor.KindComplex {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, "value cannot be converted to type %s without overflow", cScalar(x.DType))
		}
	default:
		ok = false
	}
	if _, isInt := vm.AsBig(val); isInt && !ok {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "Overflow when unpacking long")
	}
	if !ok {
		return nil, t.In.Errorf(t.In.Exc.TypeError, "can't assign a %s to a torch.%s", val.Type().Name, legacyName(x.DType))
	}
	return v, nil
}

func sizesArg(shape []int64) []aten.Value {
	out := make([]aten.Value, len(shape))
	for i, n := range shape {
		out[i] = n
	}
	return out
}

package torch

import (
	"math"

	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// indexed is x[...] split up: views first, then at most one gather by tensors.
type indexed struct {
	x       *tensor.Tensor
	tensors []aten.Value // per dimension of x, nil where none; empty when no tensor indexes
}

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

// index applies the basic parts of an index (ints, slices, None, Ellipsis, bools) as views, in PyTorch's order. Reading, unlike
// writing, leaves a slice of a whole dimension out.
func (t *Torch) index(x *tensor.Tensor, idx vm.Object, reading bool) (*indexed, error) {
	in := t.In
	items := indices(idx)
	used := 0
	for _, it := range items {
		switch v := it.(type) {
		case *vm.NoneType, vm.Bool:
		case *vm.EllipsisType:
		case *Tensor:
			if v.T.DType == tensor.Bool || v.T.DType == tensor.UInt8 {
				used += len(v.T.Shape)
			} else {
				used++
			}
		default:
			used++
		}
	}
	if used > len(x.Shape) {
		if len(x.Shape) == 0 {
			return nil, in.Errorf(in.Exc.IndexError, "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number")
		}
		return nil, in.Errorf(in.Exc.IndexError, "too many indices for tensor of dimension %d", len(x.Shape))
	}
	r := &indexed{x: x}
	dim := 0
	var err error
	setTensor := func(d int, v *tensor.Tensor) {
		for len(r.tensors) <= d {
			r.tensors = append(r.tensors, nil)
		}
		r.tensors[d] = v
	}
	for _, it := range items {
		switch v := it.(type) {
		case *vm.EllipsisType:
			dim += len(x.Shape) - used
		case *vm.NoneType:
			if r.x, err = t.run("unsqueeze.default", r.x, int64(dim)); err != nil {
				return nil, err
			}
			dim++
		case vm.Bool:
			if r.x, err = t.run("unsqueeze.default", r.x, int64(dim)); err != nil {
				return nil, err
			}
			setTensor(dim, tensor.FromBools([]bool{bool(v)}, 1))
			dim++
		case *vm.Slice:
			whole := false
			if _, lone := idx.(*vm.Slice); reading && !lone {
				if whole, err = t.wholeSlice(r.x, dim, v); err != nil {
					return nil, err
				}
			}
			if !whole {
				if r.x, err = t.slice(r.x, dim, v); err != nil {
					return nil, err
				}
			}
			dim++
		case *Tensor:
			if len(v.T.Shape) == 0 && v.T.DType.IsInt() && v.T.DType != tensor.UInt8 && !v.T.Fake && t.Hook == nil {
				if r.x, err = t.run("select.int", r.x, int64(dim), v.T.AtInt(0)); err != nil {
					return nil, err
				}
				continue
			}
			if len(v.T.Shape) == 0 && v.T.DType == tensor.Bool {
				// A mask without dimensions is like True or False: its value takes all of a new dimension of size one, or nothing.
				b, err := t.item(v.T)
				if err != nil {
					return nil, err
				}
				if r.x, err = t.run("unsqueeze.default", r.x, int64(dim)); err != nil {
					return nil, err
				}
				setTensor(dim, tensor.FromBools([]bool{b == vm.True}, 1))
				dim++
				continue
			}
			setTensor(dim, v.T)
			if v.T.DType == tensor.Bool || v.T.DType == tensor.UInt8 {
				dim += len(v.T.Shape)
			} else {
				dim++
			}
		case *vm.List, *vm.Tuple, *vm.Range:
			ix, err := t.fromData(it, tensor.Invalid)
			if err != nil {
				return nil, err
			}
			if t.Lift != nil {
				if ix, err = t.Lift(ix); err != nil {
					return nil, t.Error(err)
				}
			}
			if ix.Numel() == 0 {
				ix = ix.To(tensor.Int64)
			}
			setTensor(dim, ix)
			dim++
		case *Scalar:
			i, _ := t.Value(v)
			if r.x, err = t.run("select.int", r.x, int64(dim), i); err != nil {
				return nil, err
			}
		default:
			n, ok := vm.AsInt(it)
			if !ok {
				if f := it.Type().Lookup("__index__"); f != nil {
					o, err := in.CallMethod(it, "__index__")
					if err != nil {
						return nil, err
					}
					n, ok = vm.AsInt(o)
				}
			}
			if !ok {
				if _, isStr := vm.AsStr(it); isStr {
					return nil, in.Errorf(in.Exc.TypeError, "new(): invalid data type 'str'")
				}
				return nil, in.Errorf(in.Exc.IndexError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got %s)", it.Type().Name)
			}
			size := r.x.Shape[dim]
			if n < -size || n >= size {
				return nil, in.Errorf(in.Exc.IndexError, "index %d is out of bounds for dimension %d with size %d", n, dim, size)
			}
			if r.x, err = t.run("select.int", r.x, int64(dim), n); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
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
		n, ok := vm.AsInt(o)
		if !ok {
			return nil, t.In.Errorf(t.In.Exc.TypeError, "slice indices must be integers or None or have an __index__ method")
		}
		return n, nil
	}
	start, err := bound(s.Start, 0)
	if err != nil {
		return nil, err
	}
	const end = int64(9223372036854775807)
	stop, err := bound(s.Stop, end)
	if err != nil {
		return nil, err
	}
	step, err := bound(s.Step, 1)
	if err != nil {
		return nil, err
	}
	if n, ok := step.(int64); ok && n <= 0 {
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

func (t *Torch) setItem(x *tensor.Tensor, idx, val vm.Object) error {
	r, err := t.index(x, idx, false)
	if err != nil {
		return err
	}
	v, ok := t.Value(val)
	if !ok {
		return t.In.Errorf(t.In.Exc.TypeError, "can't assign a %s to a torch.%s", val.Type().Name, legacyName(x.DType))
	}
	vt, isTensor := v.(*tensor.Tensor)
	if !isTensor && t.Lift != nil {
		// Where a graph is traced, the number becomes a constant tensor.
		c := tensor.Scalar(v).To(x.DType)
		if vt, err = t.Lift(c); err != nil {
			return t.Error(err)
		}
		if len(r.tensors) == 0 {
			_, err = t.run("fill_.Tensor", r.x, vt)
			return err
		}
		isTensor = true
	}
	if len(r.tensors) > 0 {
		if !isTensor {
			if vt, err = t.runKw("full.default", []aten.Value{[]aten.Value{}, v}, map[string]aten.Value{"dtype": r.x.DType}); err != nil {
				return err
			}
		}
		if vt.DType != r.x.DType {
			if vt, err = t.runKw("_to_copy.default", []aten.Value{vt}, map[string]aten.Value{"dtype": r.x.DType}); err != nil {
				return err
			}
		}
		_, err = t.run("index_put_.default", r.x, r.tensors, vt)
		return err
	}
	if r.x == x {
		if r.x, err = t.run("alias.default", x); err != nil {
			return err
		}
	}
	if !isTensor {
		_, err = t.run("fill_.Scalar", r.x, v)
		return err
	}
	for len(vt.Shape) > len(r.x.Shape) && vt.Shape[0] == 1 {
		if vt, err = t.run("squeeze.dim", vt, int64(0)); err != nil {
			return err
		}
	}
	_, err = t.run("copy_.default", r.x, vt)
	return err
}

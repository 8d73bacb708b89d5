package numpy

import (
	"bytes"
	"math"
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

// creation defines what makes arrays.
func (np *NumPy) creation(m *vm.Module) {
	clinic.Def(m, "array", "object, dtype=None, *, copy=True, order:str?=None, subok=False, ndmin:int=0, like=None", func(c *clinic.Call) (vm.Object, error) {
		return np.array(c, c.Args[0], c.Args[1], c.Args[2], c.Str(3), int(c.Int(5)))
	})
	for name, order := range map[string]string{"asarray": "", "asanyarray": "", "ascontiguousarray": "C", "asfortranarray": "F"} {
		clinic.Def(m, name, "a, dtype=None, order:str?=None, *, device=None, copy=None, like=None", func(c *clinic.Call) (vm.Object, error) {
			o := c.Str(2)
			least := 0
			if order != "" {
				o, least = order, 1
			}
			cp := c.Args[4]
			if x, ok := c.Args[0].(*Array); ok && name == "asanyarray" && x.class != np.ArrayType && c.None(1) {
				return x, nil
			}
			return np.array(c, c.Args[0], c.Args[1], cp, o, least)
		})
	}
	for _, name := range []string{"empty", "zeros"} {
		clinic.Def(m, name, "shape, dtype=None, order:str='C', *, device=None, like=None", func(c *clinic.Call) (vm.Object, error) {
			shape, err := np.shapeArg(c.Args[0])
			if err != nil {
				return nil, err
			}
			d, err := np.ToDType(c.Args[1])
			if err != nil {
				return nil, err
			}
			if d.Flexible() && d.Size == 0 {
				d = map[bool]*ndarray.DType{true: ndarray.Text(1), false: ndarray.RawText(1)}[d.Num == ndarray.Unicode]
			}
			a := ndarray.NewOrder(d, shape, fortran(c.Args[2], len(shape)))
			if d.Num == ndarray.Object && name == "zeros" {
				for i := range a.Buf.Objects {
					a.Buf.Objects[i] = vm.MakeInt(0)
				}
			}
			return np.Wrap(a), nil
		})
	}
	clinic.Def(m, "arange", "start=nil, stop=nil, step=nil, dtype=None, *, device=None, like=None", np.arange)
	clinic.Def(m, "frombuffer", "buffer, dtype=None, count:int=-1, offset:int=0, *, like=None", np.frombuffer)
	clinic.Def(m, "fromiter", "iter, dtype, count:int=-1, *, like=None", func(c *clinic.Call) (vm.Object, error) {
		d, err := np.ToDType(c.Args[1])
		if err != nil {
			return nil, err
		}
		items, err := c.IterAll(c.Args[0])
		if err != nil {
			return nil, err
		}
		if n := int(c.Int(2)); n >= 0 {
			if n > len(items) {
				return nil, c.Errorf(c.Exc.ValueError, "iterator too short: Expected %d but iterator had only %d items.", n, len(items))
			}
			items = items[:n]
		}
		return np.wrap(np.fromNested(vm.NewList(items...), d))
	})
	clinic.Def(m, "_as_strided", "a, shape, strides, writeable:bool", func(c *clinic.Call) (vm.Object, error) {
		x := c.Args[0].(*Array)
		shape, err := np.ints(c.Args[1])
		if err != nil {
			return nil, err
		}
		strides, err := np.ints(c.Args[2])
		if err != nil {
			return nil, err
		}
		v := x.A.View(shape, strides, x.A.Offset)
		v.ReadOnly = v.ReadOnly || !c.Bool(3)
		return np.view(v, x), nil
	})
	clinic.Def(m, "_reconstruct", "subtype, shape, dtype", func(c *clinic.Call) (vm.Object, error) {
		cls, ok := c.Args[0].(*vm.Type)
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "_reconstruct: the first argument must be a sub-type of ndarray")
		}
		return &Array{A: ndarray.New(ndarray.Of(ndarray.Int8), 0), class: cls, np: np}, nil
	})
	clinic.Def(m, "scalar", "dtype, obj=nil", func(c *clinic.Call) (vm.Object, error) {
		d, err := np.ToDType(c.Args[0])
		if err != nil {
			return nil, err
		}
		raw, ok := vm.AsBytes(c.Args[1])
		if !ok || len(raw) < d.Size {
			return nil, c.Errorf(c.Exc.ValueError, "initialization string is too small")
		}
		return np.Return(overBytes(bytes.Clone(raw), d, nil, nil)), nil
	})
	// Types.
	clinic.Def(m, "result_type", "*args", func(c *clinic.Call) (vm.Object, error) {
		var ds []*ndarray.DType
		var weak []ndarray.Weak
		for _, o := range mustTuple(c.Args[0]) {
			d, w, err := np.typeOf(o)
			if err != nil {
				return nil, err
			}
			ds, weak = append(ds, d), append(weak, w)
		}
		if len(ds) == 0 {
			return nil, c.Errorf(c.Exc.ValueError, "at least one array or dtype is required")
		}
		d := ndarray.ResultType(ds, weak)
		if d == nil {
			return nil, c.Errorf(c.Exc.TypeError, "The DTypes could not be promoted")
		}
		return np.DTypeObject(d), nil
	})
	clinic.Def(m, "promote_types", "type1, type2", func(c *clinic.Call) (vm.Object, error) {
		a, err := np.ToDType(c.Args[0])
		if err != nil {
			return nil, err
		}
		b, err := np.ToDType(c.Args[1])
		if err != nil {
			return nil, err
		}
		d := ndarray.Promote(a, b)
		if d == nil {
			return nil, c.Errorf(c.Exc.TypeError, "The DTypes could not be promoted")
		}
		return np.DTypeObject(d), nil
	})
	clinic.Def(m, "can_cast", "from_, to, casting:str='safe'", func(c *clinic.Call) (vm.Object, error) {
		switch c.Args[0].(type) {
		case vm.Int, vm.Float, vm.Complex:
			return nil, c.Errorf(c.Exc.TypeError, "can_cast() does not support Python ints, floats, and complex because the result used to depend on the value.\nThis change was part of adopting NEP 50, we may explicitly allow them again in the future.")
		}
		a, _, err := np.typeOf(c.Args[0])
		if err != nil {
			return nil, err
		}
		b, err := np.ToDType(c.Args[1])
		if err != nil {
			return nil, err
		}
		return vm.MakeBool(ndarray.CanCast(a, b, c.Str(2))), nil
	})
}

// typeOf is the dtype of an argument that may be an array, a scalar or a dtype.
func (np *NumPy) typeOf(o vm.Object) (*ndarray.DType, ndarray.Weak, error) {
	if a, ok := o.(*Array); ok {
		return a.A.DType, 0, nil
	}
	switch o.(type) {
	case *DType, *vm.Type, vm.Str:
		d, err := np.ToDType(o)
		return d, 0, err
	}
	if _, d, w, ok := np.element(o); ok {
		if _, isInst := o.(*vm.Instance); isInst {
			w = 0
		}
		return d, w, nil
	}
	if a, err := np.FromObject(o, nil, false); err == nil && a.DType.Num != ndarray.Object {
		return a.DType, 0, nil
	}
	d, err := np.ToDType(o)
	return d, 0, err
}

// array is array() and asarray().
func (np *NumPy) array(c *clinic.Call, o, dt, cp vm.Object, order string, ndmin int) (vm.Object, error) {
	d, err := np.optDType(dt)
	if err != nil {
		return nil, err
	}
	copied := false
	if cp != vm.None {
		if copied, err = c.Truth(cp); err != nil {
			return nil, err
		}
	}
	x, isArray := o.(*Array)
	a, err := np.FromObject(o, d, copied)
	if err != nil {
		return nil, err
	}
	if cp == vm.False && (!isArray || a != x.A) {
		if src, _, _ := np.arrayOf(o); src == nil || src.Buf != a.Buf {
			return nil, c.Errorf(c.Exc.ValueError, "Unable to avoid copy while creating an array as requested.\nIf using `np.array(obj, copy=False)` replace it with `np.asarray(obj)` to allow a copy when needed (no behavior change in NumPy 1.x).\nFor more details, see https://numpy.org/devdocs/numpy_2_0_migration_guide.html#adapting-to-changes-in-the-copy-keyword.")
		}
	}
	if order != "" {
		if a, err = a.As(a.DType, strings.ToUpper(order)[0]); err != nil {
			return nil, np.err(err)
		}
	}
	if isArray && a == x.A && x.class == np.ArrayType && a.NDim() >= ndmin {
		return x, nil
	}
	for a.NDim() < ndmin {
		a = a.Insert(0)
	}
	if isArray && a.Buf == x.A.Buf {
		v := np.view(a, x).(*Array)
		v.class = np.ArrayType
		return v, nil
	}
	return np.Wrap(a), nil
}

func (np *NumPy) arange(c *clinic.Call) (vm.Object, error) {
	args := c.Args
	if args[0] == nil && args[1] == nil {
		return nil, c.Errorf(c.Exc.TypeError, "arange() requires stop to be specified.")
	}
	if args[1] == nil || args[1] == vm.None {
		args[0], args[1] = vm.MakeInt(0), args[0]
	}
	if args[0] == nil || args[0] == vm.None {
		args[0] = vm.MakeInt(0)
	}
	if args[2] == nil || args[2] == vm.None {
		args[2] = vm.MakeInt(1)
	}
	d, err := np.optDType(args[3])
	if err != nil {
		return nil, err
	}
	var ds []*ndarray.DType
	var weak []ndarray.Weak
	vals := make([]any, 3)
	for i, o := range args[:3] {
		v, e, _, ok := np.element(o)
		if !ok {
			a, err := np.FromObject(o, nil, false)
			if err != nil {
				return nil, err
			}
			if a.NDim() != 0 {
				return nil, c.Errorf(c.Exc.TypeError, "only length-1 arrays can be converted to Python scalars")
			}
			v, e = a.Get(a.Offset), a.DType
		}
		vals[i] = v
		ds, weak = append(ds, e), append(weak, 0)
	}
	if d == nil {
		d = ndarray.ResultType(ds, weak)
	}
	start, step := vals[0], vals[2]
	n := math.Ceil((ndarray.AsFloat(vals[1]) - ndarray.AsFloat(start)) / ndarray.AsFloat(step))
	if ndarray.AsFloat(step) == 0 {
		return nil, c.Errorf(c.Exc.ZeroDivisionError, "division by zero")
	}
	if math.IsNaN(n) {
		return nil, c.Errorf(c.Exc.ValueError, "arange: cannot compute length")
	}
	if !(n > 0) {
		n = 0
	}
	if n > 1<<40 {
		return nil, c.Errorf(c.Exc.ValueError, "Maximum allowed size exceeded")
	}
	a := ndarray.New(d, int(n))
	return np.wrap(a, a.Count(start, step))
}

func (np *NumPy) frombuffer(c *clinic.Call) (vm.Object, error) {
	d, err := np.ToDType(c.Args[1])
	if err != nil {
		return nil, err
	}
	raw, writable := vm.WritableBytes(c.Args[0])
	if !writable {
		var ok bool
		if raw, ok = vm.AsBytes(c.Args[0]); !ok {
			return nil, c.Errorf(c.Exc.TypeError, "a bytes-like object is required, not '%s'", c.Args[0].Type().Name)
		}
	}
	off, count := int(c.Int(3)), int(c.Int(2))
	if off < 0 || off > len(raw) {
		return nil, c.Errorf(c.Exc.ValueError, "offset must be non-negative and no greater than buffer length (%d)", len(raw))
	}
	raw = raw[off:]
	if count < 0 {
		if d.Size == 0 || len(raw)%d.Size != 0 {
			return nil, c.Errorf(c.Exc.ValueError, "buffer size must be a multiple of element size")
		}
		count = len(raw) / d.Size
	}
	if count*d.Size > len(raw) {
		return nil, c.Errorf(c.Exc.ValueError, "buffer is smaller than requested size")
	}
	a := overBytes(raw, d, []int{count}, c.Args[0])
	a.ReadOnly = !writable
	return np.WrapView(a, c.Args[0]), nil
}

// arrays are the items of a sequence as arrays.
func (np *NumPy) arrays(o vm.Object) ([]*ndarray.Array, error) {
	items, err := np.In.IterAll(o)
	if err != nil {
		return nil, err
	}
	out := make([]*ndarray.Array, len(items))
	for i, it := range items {
		if out[i], err = np.FromObject(it, nil, false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// shaping defines what joins and broadcasts.
func (np *NumPy) shaping(m *vm.Module) {
	clinic.Def(m, "concatenate", "arrays, axis=0, out=None, *, dtype=None, casting:str='same_kind'", func(c *clinic.Call) (vm.Object, error) {
		parts, err := np.arrays(c.Args[0])
		if err != nil {
			return nil, err
		}
		if len(parts) == 0 {
			return nil, c.Errorf(c.Exc.ValueError, "need at least one array to concatenate")
		}
		ax := int64(0)
		if c.None(1) {
			for i, p := range parts {
				if parts[i], err = p.Reshape([]int{-1}, 'C'); err != nil {
					return nil, np.err(err)
				}
			}
		} else if ax, err = c.Index(c.Args[1]); err != nil {
			return nil, err
		}
		r, err := ndarray.Concatenate(parts, int(ax))
		if err != nil {
			return nil, np.err(err)
		}
		if d, err := np.optDType(c.Args[3]); err != nil {
			return nil, err
		} else if d != nil {
			if r, err = r.As(d, 'K'); err != nil {
				return nil, np.err(err)
			}
		}
		if out, ok := c.Args[2].(*Array); ok {
			return out, np.err(out.A.Assign(r))
		}
		return np.Wrap(r), nil
	})
	clinic.Def(m, "_broadcast_to", "a, shape", func(c *clinic.Call) (vm.Object, error) {
		x := c.Args[0].(*Array)
		shape, err := np.shapeArg(c.Args[1])
		if err != nil {
			return nil, err
		}
		v, err := x.A.Broadcast(shape)
		if err != nil {
			return nil, c.Errorf(c.Exc.ValueError, "operands could not be broadcast together with remapped shapes [original->remapped]: %s  and requested shape %s", tight(x.A.Shape), tight(shape))
		}
		v.ReadOnly = true
		return np.view(v, x), nil
	})
	clinic.Def(m, "_broadcast_shape", "*shapes", func(c *clinic.Call) (vm.Object, error) {
		var shapes [][]int
		for _, o := range mustTuple(c.Args[0]) {
			s, err := np.ints(o)
			if err != nil {
				return nil, err
			}
			shapes = append(shapes, s)
		}
		s, err := ndarray.BroadcastShapes(shapes...)
		if err != nil {
			for i := range shapes {
				for j := range i {
					if _, err := ndarray.BroadcastShapes(shapes[j], shapes[i]); err != nil {
						return nil, c.Errorf(c.Exc.ValueError, "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg %d with shape %s and arg %d with shape %s.", j, ndarray.ShapeText(shapes[j]), i, ndarray.ShapeText(shapes[i]))
					}
				}
			}
			return nil, np.err(err)
		}
		return tuple(s), nil
	})
	clinic.Def(m, "copyto", "dst, src, casting:str='same_kind', where=True", func(c *clinic.Call) (vm.Object, error) {
		dst, ok := c.Args[0].(*Array)
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "argument 1 must be numpy.ndarray, not %s", c.Args[0].Type().Name)
		}
		src, w, err := np.operand(c.Args[1])
		if err != nil {
			return nil, err
		}
		if w > ndarray.WeakInt && !ndarray.CanCast(src.DType, dst.A.DType, c.Str(2)) {
			return nil, c.Errorf(c.Exc.TypeError, "Cannot cast scalar from %s to %s according to the rule '%s'", dtypeRepr(src.DType), dtypeRepr(dst.A.DType), c.Str(2))
		}
		if w == 0 && !ndarray.CanCast(src.DType, dst.A.DType, c.Str(2)) {
			return nil, c.Errorf(c.Exc.TypeError, "Cannot cast array data from %s to %s according to the rule '%s'", dtypeRepr(src.DType), dtypeRepr(dst.A.DType), c.Str(2))
		}
		if c.Args[3] == vm.True {
			return vm.None, np.err(dst.A.Assign(src))
		}
		mask, err := np.FromObject(c.Args[3], nil, false)
		if err != nil {
			return nil, err
		}
		return vm.None, np.err(ndarray.PutMask(dst.A, mask, src))
	})
	for _, name := range []string{"shares_memory", "may_share_memory"} {
		clinic.Def(m, name, "a, b, max_work=None", func(c *clinic.Call) (vm.Object, error) {
			a, err := np.FromObject(c.Args[0], nil, false)
			if err != nil {
				return nil, err
			}
			b, err := np.FromObject(c.Args[1], nil, false)
			if err != nil {
				return nil, err
			}
			return vm.MakeBool(a.SharesMemory(b)), nil
		})
	}
}

func tight(s []int) string { return strings.ReplaceAll(ndarray.ShapeText(s), ", ", ",") }

// searching defines where and its like.
func (np *NumPy) searching(m *vm.Module) {
	clinic.Def(m, "where", "condition, x=nil, y=nil, /", func(c *clinic.Call) (vm.Object, error) {
		cond, err := np.FromObject(c.Args[0], nil, false)
		if err != nil {
			return nil, err
		}
		if c.Args[1] == nil {
			if cond.NDim() == 0 {
				cond = cond.Insert(0)
			}
			return np.nonzero(cond)
		}
		if c.Args[2] == nil {
			return nil, c.Errorf(c.Exc.ValueError, "either both or neither of x and y should be given")
		}
		x, wx, err := np.operand(c.Args[1])
		if err != nil {
			return nil, err
		}
		y, wy, err := np.operand(c.Args[2])
		if err != nil {
			return nil, err
		}
		return np.wrap(ndarray.Where(cond.Truths(), x, y, ndarray.ResultType([]*ndarray.DType{x.DType, y.DType}, []ndarray.Weak{wx, wy})))
	})
	clinic.Def(m, "lexsort", "keys, axis:int=-1", func(c *clinic.Call) (vm.Object, error) {
		keys, err := np.arrays(c.Args[0])
		if err != nil {
			return nil, err
		}
		if len(keys) == 0 {
			return nil, c.Errorf(c.Exc.TypeError, "need sequence of keys with len > 0 in lexsort")
		}
		return np.wrap(ndarray.LexSort(keys))
	})
	clinic.Def(m, "bincount", "x, /, weights=None, minlength:int=0", func(c *clinic.Call) (vm.Object, error) {
		x, err := np.FromObject(c.Args[0], nil, false)
		if err != nil {
			return nil, err
		}
		if x.NDim() != 1 {
			return nil, c.Errorf(c.Exc.ValueError, "object of too small depth for desired array")
		}
		if k := x.DType.Kind; k != 'i' && k != 'u' && k != 'b' && x.Len() > 0 {
			return nil, c.Errorf(c.Exc.TypeError, "Cannot cast array data from %s to %s according to the rule 'safe'", dtypeRepr(x.DType), dtypeRepr(ndarray.Of(ndarray.Int64)))
		}
		n := int(c.Int(2))
		xs := x.Ints()
		for _, v := range xs {
			if v < 0 {
				return nil, c.Errorf(c.Exc.ValueError, "'list' argument must have no negative elements")
			}
			n = max(n, int(v)+1)
		}
		if c.None(1) {
			out := make([]int64, n)
			for _, v := range xs {
				out[v]++
			}
			return np.Wrap(ndarray.FromSlice(ndarray.Int64, out)), nil
		}
		w, err := np.FromObject(c.Args[1], nil, false)
		if err != nil {
			return nil, err
		}
		ws := w.Floats()
		if len(ws) != len(xs) {
			return nil, c.Errorf(c.Exc.ValueError, "The weights and list don't have the same length.")
		}
		out := make([]float64, n)
		for i, v := range xs {
			out[v] += ws[i]
		}
		return np.Wrap(ndarray.FromSlice(ndarray.Float64, out)), nil
	})
}

// algebra defines products.
func (np *NumPy) algebra(m *vm.Module) {
	clinic.Def(m, "dot", "a, b, out=None", func(c *clinic.Call) (vm.Object, error) { return np.dot(c.Args[0], c.Args[1], c.Args[2]) })
}

// dot is the product of vectors and matrices; of more axes, over the last of a and the last but one of b.
func (np *NumPy) dot(a, b, out vm.Object) (vm.Object, error) {
	x, _, err := np.operand(a)
	if err != nil {
		return nil, err
	}
	y, _, err := np.operand(b)
	if err != nil {
		return nil, err
	}
	if x.NDim() == 0 || y.NDim() == 0 {
		v, err := np.ufunc("multiply").call([]vm.Object{a, b}, call{})
		if o, ok := out.(*Array); ok && err == nil {
			src, err := np.FromObject(v, nil, false)
			if err != nil {
				return nil, err
			}
			return o, np.err(o.A.Assign(src))
		}
		return v, err
	}
	r, err := ndarray.Dot(x, y)
	if err != nil {
		return nil, np.err(err)
	}
	if o, ok := out.(*Array); ok {
		return o, np.err(o.A.Assign(r))
	}
	return np.Return(r), nil
}

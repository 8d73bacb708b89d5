package numpy

import (
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

// Ufunc is a universal function object.
type Ufunc struct {
	U    *ndarray.Ufunc
	name string
	np   *NumPy
}

// Type is numpy.ufunc.
func (u *Ufunc) Type() *vm.Type { return u.np.UfuncType }

// ufunc is the object of a universal function.
func (np *NumPy) ufunc(name string) *Ufunc {
	k := ndarray.Find(name)
	u := np.ufuncs[k.Name]
	if u == nil {
		u = &Ufunc{U: k, name: k.Name, np: np}
		np.ufuncs[k.Name] = u
	}
	return u
}

// call are the options of a call of a universal function.
type call struct {
	outs  []vm.Object // nil, or an object or None for each output
	where vm.Object
	dtype *ndarray.DType
	cast  string
	order byte
}

// call computes u of objects.
func (u *Ufunc) call(args []vm.Object, c call) (vm.Object, error) {
	np := u.np
	ins := make([]*ndarray.Array, len(args))
	weak := make([]ndarray.Weak, len(args))
	var like *Array // an instance of a subclass, whose class results have
	for i, o := range args {
		a, w, err := np.operand(o)
		if err != nil {
			return nil, err
		}
		ins[i], weak[i] = a, w
		if x, ok := o.(*Array); ok && x.class != np.ArrayType && like == nil {
			like = x
		}
	}
	o := ndarray.Options{DType: c.dtype, Casting: c.cast, Order: c.order}
	given := false
	for _, out := range c.outs {
		if out == nil || out == vm.None {
			o.Outs = append(o.Outs, nil)
			continue
		}
		x, ok := out.(*Array)
		if !ok {
			return nil, np.In.Errorf(np.In.Exc.TypeError, "return arrays must be of ArrayType")
		}
		o.Outs = append(o.Outs, x.A)
		given = true
	}
	if c.where != nil && c.where != vm.True {
		w, err := np.FromObject(c.where, ndarray.Of(ndarray.Bool), false)
		if err != nil {
			return nil, err
		}
		o.Where = w
	}
	if u.U.Name == "matmul" {
		return u.matmul(ins, c)
	}
	res, err := u.compare(ins, weak, o)
	if err != nil {
		return nil, np.err(err)
	}
	wrap := np.wrapper(args)
	outs := make([]vm.Object, len(res))
	for i, r := range res {
		switch {
		case given && i < len(c.outs) && c.outs[i] != nil && c.outs[i] != vm.None:
			outs[i] = c.outs[i]
		case like != nil && r.NDim() > 0:
			outs[i] = &Array{A: r, class: like.class, np: np}
		case wrap != nil:
			if outs[i], err = np.In.Call(wrap, []vm.Object{np.Wrap(r)}, nil); err != nil {
				return nil, err
			}
		default:
			outs[i] = np.Return(r)
		}
	}
	if len(outs) == 1 {
		return outs[0], nil
	}
	return vm.NewTuple(outs...), nil
}

// wrapper is the method by which an operand that is no array makes results its own kind; nil for none.
func (np *NumPy) wrapper(args []vm.Object) vm.Object {
	for _, a := range args {
		switch a.(type) {
		case *Array, vm.Int, vm.Float, vm.Bool, *vm.List, *vm.Tuple, *vm.Instance:
			continue
		}
		if a.Type().Lookup("__array_wrap__") != nil {
			if f, err := np.In.GetAttrOpt(a, "__array_wrap__"); err == nil {
				return f
			}
		}
	}
	return nil
}

// compare is Call, where a Python integer that does not fit the other operand's type is only larger or smaller than it.
func (u *Ufunc) compare(ins []*ndarray.Array, weak []ndarray.Weak, o ndarray.Options) ([]*ndarray.Array, error) {
	res, err := u.U.Call(ins, weak, o)
	if e, ok := err.(*ndarray.Error); ok && e.Kind == "OverflowError" && relations[u.U.Name] != "" {
		for i, w := range weak {
			if w == ndarray.WeakInt {
				f, cerr := ins[1-i].AsType(ndarray.Of(ndarray.Float64), 'K')
				if cerr != nil {
					return nil, cerr
				}
				ins[1-i] = f
			}
		}
		return u.U.Call(ins, weak, o)
	}
	return res, err
}

// operand is an object as an operand: a number of Python's is weak.
func (np *NumPy) operand(o vm.Object) (*ndarray.Array, ndarray.Weak, error) {
	if a, ok := o.(*Array); ok {
		return a.A, 0, nil
	}
	if v, d, w, ok := np.element(o); ok {
		if _, isInst := o.(*vm.Instance); isInst {
			w = 0
		}
		a := ndarray.New(d)
		return a, w, np.err(a.Set(0, v))
	}
	a, err := np.FromObject(o, nil, false)
	return a, 0, err
}

func (u *Ufunc) matmul(ins []*ndarray.Array, c call) (vm.Object, error) {
	r, err := ndarray.MatMul(ins[0], ins[1], c.dtype)
	if err != nil {
		return nil, u.np.err(err)
	}
	if len(c.outs) > 0 && c.outs[0] != nil && c.outs[0] != vm.None {
		out := c.outs[0].(*Array)
		return out, u.np.err(out.A.Assign(r))
	}
	return u.np.Return(r), nil
}

// callKw is u(...), with its keywords.
func (u *Ufunc) callKw(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	np := u.np
	c := call{}
	if len(args) < u.U.In {
		return nil, in.Errorf(in.Exc.TypeError, "%s() takes from %d to %d positional arguments but %d were given", u.name, u.U.In, u.U.In+u.U.Out, len(args))
	}
	if len(args) > u.U.In+u.U.Out {
		return nil, in.Errorf(in.Exc.TypeError, "%s() takes from %d to %d positional arguments but %d were given", u.name, u.U.In, u.U.In+u.U.Out, len(args))
	}
	c.outs = append(c.outs, args[u.U.In:]...)
	args = args[:u.U.In]
	for _, k := range kw {
		var err error
		switch k.Name {
		case "out":
			if t, ok := vm.AsTuple(k.Value); ok {
				c.outs = t.Items
			} else {
				c.outs = []vm.Object{k.Value}
			}
		case "where":
			c.where = k.Value
		case "dtype":
			c.dtype, err = np.optDType(k.Value)
		case "casting":
			c.cast, _ = vm.AsStr(k.Value)
		case "order":
			if s, _ := vm.AsStr(k.Value); s != "" {
				c.order = strings.ToUpper(s)[0]
			}
		case "subok", "axes", "axis", "keepdims", "signature", "sig":
		default:
			err = in.Errorf(in.Exc.TypeError, "%s() got an unexpected keyword argument '%s'", u.name, k.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	if v, done, err := u.override(in, "__call__", args, kw); done {
		return v, err
	}
	return u.call(args, c)
}

// override lets an operand's __array_ufunc__ compute instead.
func (u *Ufunc) override(in *vm.Interp, method string, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	for _, a := range args {
		switch x := a.(type) {
		case vm.Int, vm.Float, vm.Bool, *vm.List, *vm.Tuple, vm.Str, vm.Complex:
			continue
		case *Array:
			if x.class == u.np.ArrayType {
				continue
			}
		}
		f := a.Type().Lookup("__array_ufunc__")
		if f == nil {
			continue
		}
		if f == vm.None {
			return nil, true, in.Errorf(in.Exc.TypeError, "operand '%s' does not support ufuncs (__array_ufunc__=None)", a.Type().Name)
		}
		v, err := in.Call(f, append([]vm.Object{a, u, vm.Str(method)}, args...), kw)
		if err != nil {
			return nil, true, err
		}
		if v != vm.NotImplemented {
			return v, true, nil
		}
	}
	return nil, false, nil
}

func (np *NumPy) ufuncType() {
	get := func(name string, f func(u *Ufunc) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return f(o.(*Ufunc)), nil }}
	}
	np.UfuncType = np.In.NewNativeType(vm.Spec{Name: "ufunc", Module: "numpy", NoDict: true, Final: true,
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create 'numpy.ufunc' instances")
		},
		Methods: map[string]vm.GoFunc{
			"__call__": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				return a[0].(*Ufunc).callKw(in, a[1:], kw)
			},
			"__repr__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.Str("<ufunc '" + a[0].(*Ufunc).name + "'>"), nil
			},
			"__reduce__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.Str(a[0].(*Ufunc).name), nil
			},
			"reduce": clinic.Method("reduce", "array, axis=0, dtype=None, out=None, keepdims:bool=False, initial=nil, where=True", func(c *clinic.Call) (vm.Object, error) {
				return np.reduce(c.Self.(*Ufunc).U, reduceArgs{c.Args[0], c.Args[1], c.Args[2], c.Args[3], c.Bool(4), c.Args[5], c.Args[6]})
			}),
			"accumulate": clinic.Method("accumulate", "array, axis:int=0, dtype=None, out=None", func(c *clinic.Call) (vm.Object, error) {
				return np.accumulate(c.Self.(*Ufunc).U, c.Args[0], int(c.Int(1)), c.Args[2], c.Args[3])
			}),
			"reduceat": clinic.Method("reduceat", "array, indices, axis:int=0, dtype=None, out=None", func(c *clinic.Call) (vm.Object, error) {
				a, err := np.FromObject(c.Args[0], nil, false)
				if err != nil {
					return nil, err
				}
				idx, err := np.FromObject(c.Args[1], nil, false)
				if err != nil {
					return nil, err
				}
				d, err := np.optDType(c.Args[3])
				if err != nil {
					return nil, err
				}
				return np.wrap(c.Self.(*Ufunc).U.ReduceAt(a, idx.Ints(), int(c.Int(2)), d))
			}),
			"outer": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) { return np.outer(in, a, kw) },
			"at": clinic.Method("at", "a, indices, b=nil, /", func(c *clinic.Call) (vm.Object, error) {
				return vm.None, np.ufuncAt(c.Self.(*Ufunc).U, c.Args[0], c.Args[1], c.Args[2])
			}),
		},
		GetSet: []*vm.GetSet{
			get("__name__", func(u *Ufunc) vm.Object { return vm.Str(u.name) }),
			get("__qualname__", func(u *Ufunc) vm.Object { return vm.Str(u.name) }),
			get("__module__", func(*Ufunc) vm.Object { return vm.Str("numpy") }),
			get("__doc__", func(u *Ufunc) vm.Object { return vm.None }),
			get("nin", func(u *Ufunc) vm.Object { return vm.MakeInt(int64(u.U.In)) }),
			get("nout", func(u *Ufunc) vm.Object { return vm.MakeInt(int64(u.U.Out)) }),
			get("nargs", func(u *Ufunc) vm.Object { return vm.MakeInt(int64(u.U.In + u.U.Out)) }),
			get("ntypes", func(u *Ufunc) vm.Object { return vm.MakeInt(int64(len(u.U.Rows))) }),
			get("identity", func(u *Ufunc) vm.Object {
				if u.U.Identity == nil {
					return vm.None
				}
				return np.Python(u.U.Identity)
			}),
			get("signature", func(u *Ufunc) vm.Object {
				if u.name == "matmul" {
					return vm.Str("(n?,k),(k,m?)->(n?,m?)")
				}
				return vm.None
			}),
			get("types", func(u *Ufunc) vm.Object {
				l := &vm.List{}
				for _, t := range u.U.Types() {
					l.Items = append(l.Items, vm.Str(t))
				}
				return l
			}),
		},
	})
}

type reduceArgs struct {
	array, axis, dtype, out vm.Object
	keep                    bool
	initial, where          vm.Object // nil for none given
}

// reduce is u.reduce, and what sum, max and their like are.
func (np *NumPy) reduce(u *ndarray.Ufunc, r reduceArgs) (vm.Object, error) {
	a, err := np.FromObject(r.array, nil, false)
	if err != nil {
		return nil, err
	}
	q := ndarray.Reduction{KeepDims: r.keep}
	if q.Axes, err = np.axesArg(r.axis); err != nil {
		return nil, err
	}
	if a.NDim() == 0 && len(q.Axes) == 1 && (q.Axes[0] == 0 || q.Axes[0] == -1) {
		q.Axes = nil
	}
	if q.DType, err = np.optDType(r.dtype); err != nil {
		return nil, err
	}
	if t, ok := vm.AsTuple(r.out); ok && len(t.Items) == 1 {
		r.out = t.Items[0]
	}
	if x, ok := r.out.(*Array); ok {
		q.Out = x.A
	}
	switch {
	case r.initial == vm.None:
		q.NoStart = true
	case r.initial != nil:
		v, _, _, ok := np.element(r.initial)
		if !ok {
			v = ndarray.Item{V: r.initial}
		}
		q.Initial = v
	}
	if r.where != nil && r.where != vm.True {
		if q.Where, err = np.FromObject(r.where, nil, false); err != nil {
			return nil, err
		}
	}
	res, err := u.Reduce(a, q)
	if err != nil {
		return nil, np.err(err)
	}
	if q.Out != nil {
		return r.out, nil
	}
	return np.Return(res), nil
}

func (np *NumPy) accumulate(u *ndarray.Ufunc, o vm.Object, axis int, dt, out vm.Object) (vm.Object, error) {
	a, err := np.FromObject(o, nil, false)
	if err != nil {
		return nil, err
	}
	d, err := np.optDType(dt)
	if err != nil {
		return nil, err
	}
	var to *ndarray.Array
	if x, ok := out.(*Array); ok {
		to = x.A
	}
	res, err := u.Accumulate(a, axis, d, to)
	if err != nil {
		return nil, np.err(err)
	}
	if to != nil {
		return out, nil
	}
	return np.Wrap(res), nil
}

// outer applies u to all pairs.
func (np *NumPy) outer(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	u := a[0].(*Ufunc)
	if len(a) != 3 || u.U.In != 2 {
		return nil, in.Errorf(in.Exc.ValueError, "outer product only supported for binary functions")
	}
	x, err := np.FromObject(a[1], nil, false)
	if err != nil {
		return nil, err
	}
	y, err := np.FromObject(a[2], nil, false)
	if err != nil {
		return nil, err
	}
	for range y.Shape {
		x = x.Insert(x.NDim())
	}
	return u.callKw(in, []vm.Object{np.Wrap(x), np.Wrap(y)}, kw)
}

// ufuncAt applies u in place at indices, as often as each occurs.
func (np *NumPy) ufuncAt(u *ndarray.Ufunc, o, idx, with vm.Object) error {
	a, ok := o.(*Array)
	if !ok {
		return np.In.Errorf(np.In.Exc.TypeError, "first operand must be array")
	}
	key, _, err := np.key(idx)
	if err != nil {
		return err
	}
	s, err := a.A.Select(key)
	if err != nil {
		return np.err(err)
	}
	var b *ndarray.Array
	var weak ndarray.Weak
	if u.In == 2 {
		if with == nil {
			return np.In.Errorf(np.In.Exc.ValueError, "second operand needed for ufunc")
		}
		if b, weak, err = np.operand(with); err != nil {
			return err
		}
		if b, err = b.Broadcast(s.Shape()); err != nil {
			return np.err(err)
		}
		b = b.Copy('C')
	}
	return np.err(s.Each(func(off, i int) error {
		at := a.A.View(nil, nil, off)
		ins, ws := []*ndarray.Array{at}, []ndarray.Weak{0}
		if b != nil {
			ins, ws = append(ins, b.View(nil, nil, b.Offset+i*b.DType.Size)), append(ws, weak)
		}
		_, err := u.Call(ins, ws, ndarray.Options{Outs: []*ndarray.Array{at}})
		return err
	}))
}

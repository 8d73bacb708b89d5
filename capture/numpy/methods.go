package numpy

import (
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

// A method is a row of the table of ndarray's methods.
type method struct {
	params string
	fn     clinic.Func
}

// letter is an order argument.
func letter(c *clinic.Call, i int) (byte, error) {
	if c.None(i) {
		return 'K', nil
	}
	s := strings.ToUpper(c.Str(i))
	if len(s) != 1 || !strings.Contains("CFAK", s) {
		return 0, c.Errorf(c.Exc.ValueError, "order must be one of 'C', 'F', 'A', or 'K' (got '%s')", c.Str(i))
	}
	return s[0], nil
}

// inPython is a method whose work is a function of our own Python, in numpy._core._methods.
func (np *NumPy) inPython(name string) vm.GoFunc {
	return func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		m, err := in.Import("numpy._core._methods")
		if err != nil {
			return nil, err
		}
		f, err := in.GetAttr(m, name)
		if err != nil {
			return nil, err
		}
		return in.Call(f, a, kw)
	}
}

// pass hands a call to a function of _core._methods.
func (np *NumPy) pass(name string) clinic.Func {
	f := np.inPython(name)
	return func(c *clinic.Call) (vm.Object, error) {
		kw, _ := vm.AsDict(c.Args[len(c.Args)-1])
		args := append([]vm.Object{c.Self}, mustTuple(c.Args[0])...)
		return f(c.Interp, args, keywords(kw))
	}
}

func mustTuple(o vm.Object) []vm.Object {
	t, _ := vm.AsTuple(o)
	if t == nil {
		return nil
	}
	return t.Items
}

func keywords(d *vm.Dict) []vm.KwArg {
	var out []vm.KwArg
	if d != nil {
		d.Each(func(k, v vm.Object) bool {
			s, _ := vm.AsStr(k)
			out = append(out, vm.KwArg{Name: s, Value: v})
			return true
		})
	}
	return out
}

// folded is a method that reduces by a universal function.
func (np *NumPy) folded(ufunc string) method {
	return method{"axis=None, dtype=None, out=None, keepdims:bool=False, initial=nil, where=True", func(c *clinic.Call) (vm.Object, error) {
		return np.reduce(ndarray.Find(ufunc), reduceArgs{c.Self, c.Args[0], c.Args[1], c.Args[2], c.Bool(3), c.Args[4], c.Args[5]})
	}}
}

// extreme is folded without a dtype.
func (np *NumPy) extreme(ufunc string) method {
	return method{"axis=None, out=None, keepdims:bool=False, initial=nil, where=True", func(c *clinic.Call) (vm.Object, error) {
		return np.reduce(ndarray.Find(ufunc), reduceArgs{c.Self, c.Args[0], vm.None, c.Args[1], c.Bool(2), c.Args[3], c.Args[4]})
	}}
}

// truth is all and any.
func (np *NumPy) truth(ufunc string) method {
	return method{"axis=None, out=None, keepdims:bool=False, *, where=True", func(c *clinic.Call) (vm.Object, error) {
		return np.reduce(ndarray.Find(ufunc), reduceArgs{c.Self, c.Args[0], vm.None, c.Args[1], c.Bool(2), nil, c.Args[3]})
	}}
}

func (np *NumPy) running(ufunc string) method {
	return method{"axis=None, dtype=None, out=None", func(c *clinic.Call) (vm.Object, error) {
		a, err := np.alongAxis(self(c.Self), c.Args[0])
		if err != nil {
			return nil, err
		}
		ax := 0
		if !c.None(0) {
			i, err := c.Index(c.Args[0])
			if err != nil {
				return nil, err
			}
			ax = int(i)
		}
		return np.accumulate(ndarray.Find(ufunc), np.Wrap(a), ax, c.Args[1], c.Args[2])
	}}
}

// alongAxis is the array, flat where no axis is given.
func (np *NumPy) alongAxis(a *ndarray.Array, axis vm.Object) (*ndarray.Array, error) {
	if axis != vm.None {
		return a, nil
	}
	r, err := a.Reshape([]int{-1}, 'C')
	return r, np.err(err)
}

// argExtreme is argmax and argmin.
func (np *NumPy) argExtreme(largest bool) method {
	return method{"axis=None, out=None, *, keepdims:bool=False", func(c *clinic.Call) (vm.Object, error) {
		a := self(c.Self)
		flat, err := np.alongAxis(a, c.Args[0])
		if err != nil {
			return nil, err
		}
		ax := int64(0)
		if !c.None(0) {
			if ax, err = c.Index(c.Args[0]); err != nil {
				return nil, err
			}
		}
		if flat.NDim() == 0 {
			flat = flat.Insert(0)
		}
		r, err := ndarray.ArgExtreme(flat, int(ax), largest)
		if err != nil {
			return nil, np.err(err)
		}
		if c.Bool(2) {
			if c.None(0) {
				shape := make([]int, a.NDim())
				for i := range shape {
					shape[i] = 1
				}
				if r, err = r.Reshape(shape, 'C'); err != nil {
					return nil, np.err(err)
				}
			} else {
				if ax < 0 {
					ax += int64(a.NDim())
				}
				r = r.Insert(int(ax))
			}
		}
		if out, ok := c.Args[1].(*Array); ok {
			return out, np.err(out.A.Assign(r))
		}
		return np.Return(r), nil
	}}
}

// arrayMethods is the table of methods. Those that need nothing of ndarray's own are Python, in numpy._core._methods.
func (np *NumPy) arrayMethods() map[string]method {
	m := map[string]method{
		"sum": np.folded("add"), "prod": np.folded("multiply"), "max": np.extreme("maximum"), "min": np.extreme("minimum"),
		"all": np.truth("logical_and"), "any": np.truth("logical_or"), "cumsum": np.running("add"), "cumprod": np.running("multiply"),
		"argmax": np.argExtreme(true), "argmin": np.argExtreme(false),
		"astype": {"dtype, order:str='K', casting:str='unsafe', subok=True, copy=True", np.astype},
		"copy": {"order:str='C'", func(c *clinic.Call) (vm.Object, error) {
			o, err := letter(c, 0)
			if err != nil {
				return nil, err
			}
			return &Array{A: self(c.Self).Copy(o), class: c.Self.Type(), np: np}, nil
		}},
		"reshape": {"*shape, order:str='C', copy=None", np.reshape},
		"transpose": {"*axes", func(c *clinic.Call) (vm.Object, error) {
			perm, err := np.spread(c.Args[0])
			if err != nil {
				return nil, err
			}
			t, err := self(c.Self).Transpose(perm)
			if err != nil {
				return nil, np.err(err)
			}
			return np.view(t, c.Self.(*Array)), nil
		}},
		"swapaxes": {"axis1:int, axis2:int, /", func(c *clinic.Call) (vm.Object, error) {
			a := self(c.Self)
			p, err := ndarray.Axis(int(c.Int(0)), a.NDim())
			if err != nil {
				return nil, np.err(err)
			}
			q, err := ndarray.Axis(int(c.Int(1)), a.NDim())
			if err != nil {
				return nil, np.err(err)
			}
			v := a.Alias()
			v.Shape[p], v.Shape[q], v.Strides[p], v.Strides[q] = v.Shape[q], v.Shape[p], v.Strides[q], v.Strides[p]
			return np.view(v, c.Self.(*Array)), nil
		}},
		"ravel":   {"order:str='C'", func(c *clinic.Call) (vm.Object, error) { return np.flatten(c, false) }},
		"flatten": {"order:str='C'", func(c *clinic.Call) (vm.Object, error) { return np.flatten(c, true) }},
		"squeeze": {"axis=None", func(c *clinic.Call) (vm.Object, error) {
			ax, err := np.axesArg(c.Args[0])
			if err != nil {
				return nil, err
			}
			v, err := self(c.Self).Squeeze(ax)
			if err != nil {
				return nil, np.err(err)
			}
			return np.view(v, c.Self.(*Array)), nil
		}},
		"diagonal": {"offset:int=0, axis1:int=0, axis2:int=1", func(c *clinic.Call) (vm.Object, error) {
			v, err := self(c.Self).Diagonal(int(c.Int(0)), int(c.Int(1)), int(c.Int(2)))
			if err != nil {
				return nil, np.err(err)
			}
			v.ReadOnly = true
			return np.view(v, c.Self.(*Array)), nil
		}},
		"fill": {"value", func(c *clinic.Call) (vm.Object, error) {
			v, err := np.valueFor(c.Args[0], self(c.Self).DType)
			if err != nil {
				return nil, err
			}
			return vm.None, np.err(self(c.Self).Fill(v))
		}},
		"item":   {"*args", np.item},
		"tolist": {"", func(c *clinic.Call) (vm.Object, error) { return np.toList(self(c.Self)), nil }},
		"tobytes": {"order:str='C'", func(c *clinic.Call) (vm.Object, error) {
			a := self(c.Self)
			if o, _ := letter(c, 0); o == 'F' {
				a = a.T()
			}
			return vm.Bytes(a.Bytes()), nil
		}},
		"view":     {"dtype=nil, type=nil", np.viewAs},
		"byteswap": {"inplace:bool=False", np.byteswap},
		"nonzero":  {"", func(c *clinic.Call) (vm.Object, error) { return np.nonzero(self(c.Self)) }},
		"sort": {"axis:int=-1, kind=None, order=None, *, stable=None", func(c *clinic.Call) (vm.Object, error) {
			return vm.None, np.err(ndarray.Sort(self(c.Self), int(c.Int(0))))
		}},
		"argsort":      {"axis=-1, kind=None, order=None, *, stable=None", np.argsort},
		"searchsorted": {"v, side:str='left', sorter=None", np.searchSorted},
		"take":         {"indices, axis=None, out=None, mode:str='raise'", np.take},
		"repeat":       {"repeats, axis=None", np.repeat},
		"dot":          {"b, out=None", func(c *clinic.Call) (vm.Object, error) { return np.dot(c.Self, c.Args[0], c.Args[1]) }},
		"setflags": {"write=None, align=None, uic=None", func(c *clinic.Call) (vm.Object, error) {
			if !c.None(0) {
				w, err := c.Truth(c.Args[0])
				if err != nil {
					return nil, err
				}
				self(c.Self).ReadOnly = !w
			}
			return vm.None, nil
		}},
		"__array__": {"dtype=None, *, copy=None", func(c *clinic.Call) (vm.Object, error) {
			d, err := np.optDType(c.Args[0])
			if err != nil || d == nil || self(c.Self).DType.Same(d) {
				return c.Self, err
			}
			return np.wrap(self(c.Self).AsType(d, 'K'))
		}},
		"__array_wrap__": {"array, context=None, return_scalar=False, /", func(c *clinic.Call) (vm.Object, error) { return c.Args[0], nil }},
		"__array_ufunc__": {"ufunc, method, *inputs, **kwargs", func(c *clinic.Call) (vm.Object, error) {
			name, _ := vm.AsStr(c.Args[1])
			f, err := c.GetAttr(c.Args[0], name)
			if err != nil {
				return nil, err
			}
			kw, _ := vm.AsDict(c.Args[3])
			return c.Call(f, mustTuple(c.Args[2]), keywords(kw))
		}},
	}
	for _, name := range []string{"mean", "std", "var", "ptp", "clip", "round", "trace", "compress", "choose", "put", "partition", "argpartition", "conj", "conjugate", "tofile", "dump", "dumps", "resize"} {
		m[name] = method{"*args, **kwargs", np.pass("_" + name)}
	}
	return m
}

// spread is *args that may be one tuple; nil for none, or for None.
func (np *NumPy) spread(o vm.Object) ([]int, error) {
	items := mustTuple(o)
	switch {
	case len(items) == 0, len(items) == 1 && items[0] == vm.None:
		return nil, nil
	case len(items) == 1:
		return np.ints(items[0])
	}
	return np.ints(o)
}

func (np *NumPy) reshape(c *clinic.Call) (vm.Object, error) {
	items := mustTuple(c.Args[0])
	if len(items) == 0 {
		return nil, c.Errorf(c.Exc.TypeError, "reshape() takes exactly 1 argument (0 given)")
	}
	shape, err := np.spread(c.Args[0])
	if err != nil {
		return nil, err
	}
	o, err := letter(c, 1)
	if err != nil {
		return nil, err
	}
	a := self(c.Self)
	if o == 'A' && (a.Contiguous() || !a.FContiguous()) {
		o = 'C'
	} else if o == 'A' {
		o = 'F'
	}
	r, err := a.Reshape(shape, o)
	if err != nil {
		return nil, np.err(err)
	}
	if r.Buf == a.Buf {
		return np.view(r, c.Self.(*Array)), nil
	}
	return np.Wrap(r), nil
}

func (np *NumPy) flatten(c *clinic.Call, copied bool) (vm.Object, error) {
	o, err := letter(c, 0)
	if err != nil {
		return nil, err
	}
	a := self(c.Self)
	if o == 'K' || o == 'A' {
		o = 'C'
		if a.FContiguous() && !a.Contiguous() {
			o = 'F'
		}
	}
	r, err := a.Reshape([]int{-1}, o)
	if err != nil {
		return nil, np.err(err)
	}
	if r.Buf != a.Buf {
		return np.Wrap(r), nil
	}
	if copied || !r.Contiguous() {
		return np.Wrap(r.Copy('C')), nil
	}
	return np.view(r, c.Self.(*Array)), nil
}

func (np *NumPy) astype(c *clinic.Call) (vm.Object, error) {
	a := self(c.Self)
	d, err := np.ToDType(c.Args[0])
	if err != nil {
		return nil, err
	}
	o, err := letter(c, 1)
	if err != nil {
		return nil, err
	}
	rule := c.Str(2)
	if !ndarray.CanCast(a.DType, d, rule) {
		return nil, c.Errorf(c.Exc.TypeError, "Cannot cast array data from %s to %s according to the rule '%s'", dtypeRepr(a.DType), dtypeRepr(d), rule)
	}
	copied, err := c.Truth(c.Args[4])
	if err != nil {
		return nil, err
	}
	if !copied && a.DType.Same(d) {
		return c.Self, nil
	}
	r, err := a.AsType(d, o)
	if err != nil {
		return nil, np.err(err)
	}
	return &Array{A: r, class: c.Self.Type(), np: np}, nil
}

// item is one element as a value of Python's.
func (np *NumPy) item(c *clinic.Call) (vm.Object, error) {
	a := self(c.Self)
	idx, err := np.spread(c.Args[0])
	if err != nil {
		return nil, err
	}
	switch {
	case len(idx) == 0:
		if a.Len() != 1 {
			return nil, c.Errorf(c.Exc.ValueError, "can only convert an array of size 1 to a Python scalar")
		}
		return np.Python(a.Get(a.Offset)), nil
	case len(idx) == 1 && a.NDim() != 1:
		flat, err := a.Reshape([]int{-1}, 'C')
		if err != nil {
			return nil, np.err(err)
		}
		a = flat
	case len(idx) != a.NDim():
		return nil, c.Errorf(c.Exc.ValueError, "incorrect number of indices for array")
	}
	off := a.Offset
	for ax, i := range idx {
		n := a.Shape[ax]
		if i < -n || i >= n {
			return nil, c.Errorf(c.Exc.IndexError, "index %d is out of bounds for axis %d with size %d", i, ax, n)
		}
		if i < 0 {
			i += n
		}
		off += i * a.Strides[ax]
	}
	return np.Python(a.Get(off)), nil
}

// toList is nested lists of values of Python's.
func (np *NumPy) toList(a *ndarray.Array) vm.Object {
	if a.NDim() == 0 {
		return np.Python(a.Get(a.Offset))
	}
	l := &vm.List{Items: make([]vm.Object, a.Shape[0])}
	for i := range l.Items {
		l.Items[i] = np.toList(a.View(a.Shape[1:], a.Strides[1:], a.Offset+i*a.Strides[0]))
	}
	return l
}

func (np *NumPy) viewAs(c *clinic.Call) (vm.Object, error) {
	a, cls := self(c.Self), c.Self.Type()
	dt := c.Args[0]
	if t, ok := dt.(*vm.Type); ok && t.IsSubtype(np.ArrayType) {
		cls, dt = t, nil
	}
	if t, ok := c.Args[1].(*vm.Type); ok {
		cls = t
	}
	v := a.Alias()
	if dt != nil && dt != vm.None {
		d, err := np.ToDType(dt)
		if err != nil {
			return nil, err
		}
		if v, err = a.Reinterpret(d); err != nil {
			return nil, np.err(err)
		}
	}
	out := &Array{A: v, class: cls, np: np, base: c.Self}
	if f := cls.Lookup("__array_finalize__"); f != nil && cls != np.ArrayType {
		if _, err := c.Call(f, []vm.Object{out, c.Self}, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (np *NumPy) byteswap(c *clinic.Call) (vm.Object, error) {
	a := self(c.Self)
	d := *a.DType
	d.Swapped = !d.Swapped
	v := a.Alias()
	v.DType = &d
	r, err := v.AsType(a.DType, 'C')
	if err != nil {
		return nil, np.err(err)
	}
	if c.Bool(0) {
		return c.Self, np.err(a.Assign(r))
	}
	return np.Wrap(r), nil
}

func (np *NumPy) nonzero(a *ndarray.Array) (vm.Object, error) {
	if a.NDim() == 0 {
		return nil, np.In.Errorf(np.In.Exc.ValueError, "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`.")
	}
	var items []vm.Object
	for _, f := range ndarray.Nonzero(a) {
		items = append(items, np.Wrap(f))
	}
	return vm.NewTuple(items...), nil
}

func (np *NumPy) argsort(c *clinic.Call) (vm.Object, error) {
	a, err := np.alongAxis(self(c.Self), c.Args[0])
	if err != nil {
		return nil, err
	}
	ax := int64(-1)
	if !c.None(0) {
		if ax, err = c.Index(c.Args[0]); err != nil {
			return nil, err
		}
	}
	return np.wrap(ndarray.Argsort(a, int(ax)))
}

func (np *NumPy) searchSorted(c *clinic.Call) (vm.Object, error) {
	v, err := np.FromObject(c.Args[0], nil, false)
	if err != nil {
		return nil, err
	}
	var sorter []int64
	if !c.None(2) {
		s, err := np.FromObject(c.Args[2], nil, false)
		if err != nil {
			return nil, err
		}
		sorter = s.Ints()
	}
	return np.result(ndarray.SearchSorted(self(c.Self), v, strings.HasPrefix(c.Str(1), "r"), sorter))
}

// take picks along an axis by indices; those out of range raise, wrap around or are clipped.
func (np *NumPy) take(c *clinic.Call) (vm.Object, error) {
	a, err := np.alongAxis(self(c.Self), c.Args[1])
	if err != nil {
		return nil, err
	}
	ax := 0
	if !c.None(1) {
		i, err := c.Index(c.Args[1])
		if err != nil {
			return nil, err
		}
		if ax, err = ndarray.Axis(int(i), a.NDim()); err != nil {
			return nil, np.err(err)
		}
	}
	idx, err := np.FromObject(c.Args[0], nil, false)
	if err != nil {
		return nil, err
	}
	if idx.DType.Kind != 'i' && idx.DType.Kind != 'u' && idx.DType.Kind != 'b' && idx.Len() > 0 {
		return nil, c.Errorf(c.Exc.TypeError, "Cannot cast array data from %s to %s according to the rule 'safe'", dtypeRepr(idx.DType), dtypeRepr(ndarray.Of(ndarray.Int64)))
	}
	if idx, err = idx.AsType(ndarray.Of(ndarray.Int64), 'C'); err != nil {
		return nil, np.err(err)
	}
	n := int64(a.Shape[ax])
	for i, x := range ndarray.Slice[int64](idx) {
		switch c.Str(3) {
		case "wrap":
			if n > 0 {
				x = ((x % n) + n) % n
			}
		case "clip":
			x = min(max(x, 0), n-1)
		}
		ndarray.Slice[int64](idx)[i] = x
	}
	key := make([]ndarray.Index, ax+1)
	for i := range key {
		key[i].Kind = ndarray.Part
	}
	key[ax] = ndarray.Index{Kind: ndarray.Fancy, Of: idx}
	s, err := a.Select(key)
	if err != nil {
		return nil, np.err(err)
	}
	r := s.Read()
	if out, ok := c.Args[2].(*Array); ok {
		return out, np.err(out.A.Assign(r))
	}
	return np.Return(r), nil
}

func (np *NumPy) repeat(c *clinic.Call) (vm.Object, error) {
	a, err := np.alongAxis(self(c.Self), c.Args[1])
	if err != nil {
		return nil, err
	}
	ax := 0
	if !c.None(1) {
		i, err := c.Index(c.Args[1])
		if err != nil {
			return nil, err
		}
		if ax, err = ndarray.Axis(int(i), a.NDim()); err != nil {
			return nil, np.err(err)
		}
	}
	counts, err := np.ints(c.Args[0])
	if err != nil {
		return nil, err
	}
	n := a.Shape[ax]
	if len(counts) != 1 && len(counts) != n {
		return nil, c.Errorf(c.Exc.ValueError, "operands could not be broadcast together with shape (%d,) (%d,)", n, len(counts))
	}
	var idx []int64
	for i := range n {
		k := counts[0]
		if len(counts) > 1 {
			k = counts[i]
		}
		if k < 0 {
			return nil, c.Errorf(c.Exc.ValueError, "repeats may not contain negative values.")
		}
		for range k {
			idx = append(idx, int64(i))
		}
	}
	key := make([]ndarray.Index, ax+1)
	for i := range key {
		key[i].Kind = ndarray.Part
	}
	key[ax] = ndarray.Index{Kind: ndarray.Fancy, Of: ndarray.FromSlice(ndarray.Int64, idx)}
	s, err := a.Select(key)
	if err != nil {
		return nil, np.err(err)
	}
	return np.Wrap(s.Read()), nil
}

package stdlib

import (
	"slices"

	"whittle/capture/python/vm"
)

// dequeMethod is a method of deque: self is what it was called on, d the deque that self is or holds.
type dequeMethod = func(in *vm.Interp, d *Deque, self vm.Object, a []vm.Object) (vm.Object, error)

// spec describes collections.deque.
func (t *dequeTypes) spec() vm.Spec {
	s := vm.Spec{Strict: true, Name: "deque", NoModule: true, Module: "collections", NoDict: true, Collection: vm.Sequence,
		Doc: "deque([iterable[, maxlen]]) --> deque object\n\nA list-like sequence optimized for data accesses near its endpoints.",
		New: func(_ *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			d := &Deque{types: t, most: -1}
			if cls == t.deque {
				return d, nil
			}
			return vm.NewInstance(cls, d), nil
		},
		Methods: map[string]vm.GoFunc{}, Arity: map[string][2]int{},
		Class: map[string]vm.GoFunc{"__class_getitem__": genericAlias},
		GetSet: []*vm.GetSet{{Name: "maxlen", Doc: "maximum size of a deque or None if unbounded", Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) {
			if d, _ := dequeOf(self); d.most >= 0 {
				return vm.MakeInt(int64(d.most)), nil
			}
			return vm.None, nil
		}}}}
	add := func(name string, lo, hi int, f dequeMethod) {
		s.Arity[name] = [2]int{lo, hi}
		s.Methods[name] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			d, ok := dequeOf(a[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' requires a 'collections.deque' object but received a '%s'", name, vm.TypeName(a[0]))
			}
			return f(in, d, a[0], a[1:])
		}
	}
	params := vm.NewParams("deque", "iterable=nil, maxlen=None")
	s.Methods["__init__"] = func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := params.Bind(in, args[1:], kw)
		if err != nil {
			return nil, err
		}
		d, _ := dequeOf(args[0])
		return vm.None, d.init(in, a)
	}
	endMethods(add)
	searchMethods(add)
	itemMethods(add)
	wholeMethods(t, add)
	return s
}

// endMethods are those that work at the ends.
func endMethods(add func(name string, lo, hi int, f dequeMethod)) {
	none := func(f func(d *Deque, v vm.Object)) dequeMethod {
		return func(_ *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
			f(d, a[0])
			return vm.None, nil
		}
	}
	add("append", 1, 1, none((*Deque).append))
	add("appendleft", 1, 1, none((*Deque).appendLeft))
	take := func(f func(d *Deque) vm.Object) dequeMethod {
		return func(in *vm.Interp, d *Deque, _ vm.Object, _ []vm.Object) (vm.Object, error) {
			if d.n == 0 {
				return nil, in.Errorf(in.Exc.IndexError, "pop from an empty deque")
			}
			return f(d), nil
		}
	}
	add("pop", 0, 0, take((*Deque).pop))
	add("popleft", 0, 0, take((*Deque).popLeft))
	add("extend", 1, 1, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		return vm.None, d.extend(in, a[0], d.append)
	})
	add("extendleft", 1, 1, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		return vm.None, d.extend(in, a[0], d.appendLeft)
	})
	add("__iadd__", 1, 1, func(in *vm.Interp, d *Deque, self vm.Object, a []vm.Object) (vm.Object, error) {
		return self, d.extend(in, a[0], d.append)
	})
	add("rotate", 0, 1, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		n := int64(1)
		if len(a) > 0 {
			var err error
			if n, err = in.Index(a[0]); err != nil {
				return nil, err
			}
		}
		d.rotate(n)
		return vm.None, nil
	})
	add("clear", 0, 0, func(_ *vm.Interp, d *Deque, _ vm.Object, _ []vm.Object) (vm.Object, error) {
		d.set(nil)
		return vm.None, nil
	})
	add("reverse", 0, 0, func(_ *vm.Interp, d *Deque, _ vm.Object, _ []vm.Object) (vm.Object, error) {
		for i, j := 0, d.n-1; i < j; i, j = i+1, j-1 {
			a, b := d.at(i), d.at(j)
			*a, *b = *b, *a
		}
		return vm.None, nil
	})
}

// searchMethods are those that compare items with a value.
func searchMethods(add func(name string, lo, hi int, f dequeMethod)) {
	mutated := func(in *vm.Interp) error {
		return in.Errorf(in.Exc.RuntimeError, "deque mutated during iteration")
	}
	absent := func(in *vm.Interp, v vm.Object) error {
		s, err := in.Repr(v)
		if err != nil {
			return err
		}
		return in.Errorf(in.Exc.ValueError, "%s is not in deque", s)
	}
	add("__contains__", 1, 1, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		i, err := d.find(in, a[0], 0, d.n, mutated(in))
		return vm.MakeBool(i >= 0), err
	})
	add("index", 1, 3, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		from, to, err := d.bounds(in, a[1:])
		if err != nil {
			return nil, err
		}
		i, err := d.find(in, a[0], from, to, mutated(in))
		if err == nil && i < 0 {
			err = absent(in, a[0])
		}
		return vm.MakeInt(int64(i)), err
	})
	add("count", 1, 1, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		count := int64(0)
		for i := 0; i < d.n; i++ {
			at, err := d.find(in, a[0], i, d.n, mutated(in))
			if err != nil {
				return nil, err
			}
			if at < 0 {
				break
			}
			count++
			i = at
		}
		return vm.MakeInt(count), nil
	})
	add("remove", 1, 1, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		i, err := d.find(in, a[0], 0, d.n, in.Errorf(in.Exc.IndexError, "deque mutated during remove()."))
		if err != nil {
			return nil, err
		}
		if i < 0 {
			return nil, absent(in, a[0])
		}
		d.set(slices.Delete(d.items(), i, i+1))
		return vm.None, nil
	})
}

// itemMethods are those that take an index.
func itemMethods(add func(name string, lo, hi int, f dequeMethod)) {
	add("__getitem__", 1, 1, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		i, err := d.index(in, a[0])
		if err != nil {
			return nil, err
		}
		return *d.at(i), nil
	})
	add("__setitem__", 2, 2, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		i, err := d.index(in, a[0])
		if err == nil {
			*d.at(i) = a[1]
		}
		return vm.None, err
	})
	add("__delitem__", 1, 1, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		i, err := d.index(in, a[0])
		if err == nil {
			d.set(slices.Delete(d.items(), i, i+1))
		}
		return vm.None, err
	})
	add("insert", 2, 2, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
		i, err := in.Index(a[0])
		if err != nil {
			return nil, err
		}
		if d.most >= 0 && d.n >= d.most {
			return nil, in.Errorf(in.Exc.IndexError, "deque already at its maximum size")
		}
		d.insert(i, a[1])
		return vm.None, nil
	})
}

// wholeMethods are those that take the deque as a whole.
func wholeMethods(t *dequeTypes, add func(name string, lo, hi int, f dequeMethod)) {
	add("__len__", 0, 0, func(_ *vm.Interp, d *Deque, _ vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.MakeInt(int64(d.n)), nil
	})
	add("__iter__", 0, 0, func(_ *vm.Interp, d *Deque, _ vm.Object, _ []vm.Object) (vm.Object, error) {
		return d.iter(t.iter), nil
	})
	add("__reversed__", 0, 0, func(_ *vm.Interp, d *Deque, _ vm.Object, _ []vm.Object) (vm.Object, error) {
		return d.iter(t.reverse), nil
	})
	add("__repr__", 0, 0, func(in *vm.Interp, d *Deque, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return d.repr(in, self)
	})
	for _, name := range []string{"copy", "__copy__"} {
		add(name, 0, 0, func(in *vm.Interp, d *Deque, self vm.Object, _ []vm.Object) (vm.Object, error) {
			return d.like(in, self, d.items())
		})
	}
	add("__add__", 1, 1, func(in *vm.Interp, d *Deque, self vm.Object, a []vm.Object) (vm.Object, error) {
		x, ok := dequeOf(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "can only concatenate deque (not \"%s\") to deque", vm.TypeName(a[0]))
		}
		return d.like(in, self, append(d.items(), x.items()...))
	})
	for _, name := range []string{"__mul__", "__rmul__"} {
		add(name, 1, 1, func(in *vm.Interp, d *Deque, self vm.Object, a []vm.Object) (vm.Object, error) {
			items, err := d.repeat(in, a[0])
			if err != nil {
				return nil, err
			}
			return d.like(in, self, items)
		})
	}
	add("__imul__", 1, 1, func(in *vm.Interp, d *Deque, self vm.Object, a []vm.Object) (vm.Object, error) {
		items, err := d.repeat(in, a[0])
		if err == nil {
			d.set(items)
		}
		return self, err
	})
	for name, op := range map[string]string{"__lt__": "<", "__le__": "<=", "__eq__": "==", "__ne__": "!=", "__gt__": ">", "__ge__": ">="} {
		add(name, 1, 1, func(in *vm.Interp, d *Deque, _ vm.Object, a []vm.Object) (vm.Object, error) {
			return d.compare(in, op, a[0])
		})
	}
	add("__sizeof__", 0, 0, func(_ *vm.Interp, d *Deque, _ vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.MakeInt(int64(232 + 528*(d.n/64+1))), nil
	})
	add("__reduce__", 0, 0, func(in *vm.Interp, d *Deque, self vm.Object, _ []vm.Object) (vm.Object, error) {
		args := vm.NewTuple()
		if d.most >= 0 {
			args = vm.NewTuple(vm.NewTuple(), vm.MakeInt(int64(d.most)))
		}
		var state vm.Object = vm.None
		if self != vm.Object(d) {
			var err error
			if state, err = in.CallMethod(self, "__getstate__"); err != nil {
				return nil, err
			}
		}
		return vm.NewTuple(self.Type(), args, state, d.iter(t.iter)), nil
	})
}

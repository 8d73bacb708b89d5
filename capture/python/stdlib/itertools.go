package stdlib

import (
	"slices"

	"whittle/capture/python/vm"
)

// iterType makes a type whose instances are Go iterators; make turns the arguments of a call into the next function.
func iterType(in *vm.Interp, m *vm.Module, name string, mk func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (func(in *vm.Interp) (vm.Object, error), error)) {
	var t *vm.Type
	next := func(o vm.Object) *vm.GoIter {
		if i, ok := o.(*vm.Instance); ok {
			g, _ := i.Native.(*vm.GoIter)
			return g
		}
		g, _ := o.(*vm.GoIter)
		return g
	}
	t = in.NewNativeType(vm.Spec{Name: name, Module: "itertools", NoDict: true,
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			f, err := mk(in, args, kw)
			if err != nil {
				return nil, err
			}
			g := &vm.GoIter{NextFn: f, T: t}
			if cls != t {
				return vm.NewInstance(cls, g), nil
			}
			return g, nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) { return vm.None, nil },
			"__iter__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) { return args[0], nil },
			"__next__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				v, err := next(args[0]).Next(in)
				if v == nil && err == nil {
					return nil, in.RaiseObj(in.Exc.StopIteration)
				}
				return v, err
			},
		}})
	m.Set(name, t)
}

func itertoolsModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("itertools", "")
	type nextFn = func(in *vm.Interp) (vm.Object, error)
	end := func(in *vm.Interp) (vm.Object, error) { return nil, nil }
	def := func(name string, mk func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (func(in *vm.Interp) (vm.Object, error), error)) {
		iterType(in, m, name, mk)
	}
	sig := func(name, s string, mk func(in *vm.Interp, a []vm.Object) (nextFn, error)) {
		def(name, func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (func(in *vm.Interp) (vm.Object, error), error) {
			a, err := in.ParseArgs(name, args, kw, s)
			if err != nil {
				return nil, err
			}
			return mk(in, a)
		})
	}
	sig("count", "start=0, step=1", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
		cur := a[0]
		for _, x := range a {
			t := x.Type()
			if t.Lookup("__index__") == nil && t.Lookup("__float__") == nil && t.Lookup("__int__") == nil && t != vm.ComplexType {
				return nil, in.Errorf(in.Exc.TypeError, "a number is required")
			}
		}
		return func(in *vm.Interp) (vm.Object, error) {
			v := cur
			var err error
			cur, err = in.BinaryOp("+", cur, a[1])
			return v, err
		}, nil
	})
	sig("cycle", "iterable", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
		it, err := in.Iter(a[0])
		var saved []vm.Object
		i := -1
		return func(in *vm.Interp) (vm.Object, error) {
			if i < 0 {
				v, err := in.Next(it)
				if v != nil || err != nil {
					saved = append(saved, v)
					return v, err
				}
				i = 0
			}
			if len(saved) == 0 {
				return nil, nil
			}
			i++
			return saved[(i-1)%len(saved)], nil
		}, err
	})
	sig("repeat", "object, times=None", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
		n := int64(-1)
		if a[1] != vm.None {
			k, err := in.Index(a[1])
			if err != nil {
				return nil, err
			}
			n = max(k, 0)
		}
		return func(in *vm.Interp) (vm.Object, error) {
			if n == 0 {
				return nil, nil
			}
			if n > 0 {
				n--
			}
			return a[0], nil
		}, nil
	})
	chain := func(next func(in *vm.Interp) (vm.Object, error)) nextFn {
		var cur vm.Object
		return func(in *vm.Interp) (vm.Object, error) {
			for {
				if cur == nil {
					src, err := next(in)
					if src == nil || err != nil {
						return nil, err
					}
					if cur, err = in.Iter(src); err != nil {
						return nil, err
					}
				}
				v, err := in.Next(cur)
				if v != nil || err != nil {
					return v, err
				}
				cur = nil
			}
		}
	}
	def("chain", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (func(in *vm.Interp) (vm.Object, error), error) {
		i := 0
		return chain(func(in *vm.Interp) (vm.Object, error) {
			if i >= len(args) {
				return nil, nil
			}
			i++
			return args[i-1], nil
		}), nil
	})
	ch, _ := m.Dict.GetStr("chain")
	ch.(*vm.Type).SetAttr("from_iterable", &vm.StaticMethod{Func: &vm.Builtin{Name: "from_iterable", Max: -1, Fn: func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		it, err := in.Iter(args[0])
		if err != nil {
			return nil, err
		}
		return &vm.GoIter{T: ch.(*vm.Type), NextFn: chain(func(in *vm.Interp) (vm.Object, error) { return in.Next(it) })}, nil
	}}})
	sig("compress", "data, selectors", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
		d, err := in.Iter(a[0])
		if err != nil {
			return nil, err
		}
		s, err := in.Iter(a[1])
		return func(in *vm.Interp) (vm.Object, error) {
			for {
				v, err := in.Next(d)
				if v == nil || err != nil {
					return nil, err
				}
				k, err := in.Next(s)
				if k == nil || err != nil {
					return nil, err
				}
				if t, err := in.Truth(k); t || err != nil {
					return v, err
				}
			}
		}, err
	})
	while := func(name string, f func() func(t bool) (emit, stop bool)) {
		sig(name, "predicate, iterable", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
			it, err := in.Iter(a[1])
			step := f()
			done := false
			return func(in *vm.Interp) (vm.Object, error) {
				for !done {
					v, err := in.Next(it)
					if v == nil || err != nil {
						return nil, err
					}
					r := v
					if a[0] != vm.None {
						if r, err = in.Call(a[0], []vm.Object{v}, nil); err != nil {
							return nil, err
						}
					}
					t, err := in.Truth(r)
					if err != nil {
						return nil, err
					}
					emit, stop := step(t)
					if stop {
						done = true
						break
					}
					if emit {
						return v, nil
					}
				}
				return nil, nil
			}, err
		})
	}
	while("takewhile", func() func(bool) (bool, bool) { return func(t bool) (bool, bool) { return true, !t } })
	while("dropwhile", func() func(bool) (bool, bool) {
		on := false
		return func(t bool) (bool, bool) { on = on || !t; return on, false }
	})
	while("filterfalse", func() func(bool) (bool, bool) { return func(t bool) (bool, bool) { return !t, false } })
	def("starmap", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (func(in *vm.Interp) (vm.Object, error), error) {
		a, err := in.ParseArgs("starmap", args, kw, "function, iterable")
		if err != nil {
			return nil, err
		}
		it, err := in.Iter(a[1])
		return func(in *vm.Interp) (vm.Object, error) {
			v, err := in.Next(it)
			if v == nil || err != nil {
				return nil, err
			}
			items, err := in.IterAll(v)
			if err != nil {
				return nil, err
			}
			return in.Call(a[0], items, nil)
		}, err
	})
	def("islice", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (func(in *vm.Interp) (vm.Object, error), error) {
		if len(args) < 2 || len(args) > 4 {
			return nil, in.Errorf(in.Exc.TypeError, "islice expected at least 2 arguments, got %d", len(args))
		}
		it, err := in.Iter(args[0])
		if err != nil {
			return nil, err
		}
		start, stop, step := int64(0), int64(-1), int64(1)
		get := func(o vm.Object, v *int64) error {
			if o == vm.None {
				return nil
			}
			n, err := in.Index(o)
			if err != nil || n < 0 {
				return in.Errorf(in.Exc.ValueError, "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
			}
			*v = n
			return nil
		}
		if len(args) == 2 {
			err = get(args[1], &stop)
		} else {
			if err = get(args[1], &start); err == nil {
				err = get(args[2], &stop)
			}
			if err == nil && len(args) > 3 {
				err = get(args[3], &step)
			}
		}
		if step < 1 {
			err = in.Errorf(in.Exc.ValueError, "Step for islice() must be a positive integer or None.")
		}
		pos, want := int64(0), start
		return func(in *vm.Interp) (vm.Object, error) {
			if stop >= 0 && want >= stop {
				for pos < stop {
					pos++
					if v, err := in.Next(it); v == nil || err != nil {
						pos = stop
						return nil, err
					}
				}
				return nil, nil
			}
			for {
				v, err := in.Next(it)
				if v == nil || err != nil {
					return nil, err
				}
				pos++
				if pos-1 == want {
					want += step
					return v, nil
				}
			}
		}, err
	})
	sig("accumulate", "iterable, func=None, *, initial=None", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
		it, err := in.Iter(a[0])
		var acc vm.Object
		first := a[2] != vm.None
		return func(in *vm.Interp) (vm.Object, error) {
			if first {
				first = false
				acc = a[2]
				return acc, nil
			}
			v, err := in.Next(it)
			if v == nil || err != nil {
				return nil, err
			}
			switch {
			case acc == nil:
				acc = v
			case a[1] == vm.None:
				acc, err = in.BinaryOp("+", acc, v)
			default:
				acc, err = in.Call(a[1], []vm.Object{acc, v}, nil)
			}
			return acc, err
		}, err
	})
	sig("pairwise", "iterable", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
		it, err := in.Iter(a[0])
		var prev vm.Object
		return func(in *vm.Interp) (vm.Object, error) {
			if prev == nil {
				v, err := in.Next(it)
				if v == nil || err != nil {
					return nil, err
				}
				prev = v
			}
			v, err := in.Next(it)
			if v == nil || err != nil {
				return nil, err
			}
			p := vm.NewTuple(prev, v)
			prev = v
			return p, nil
		}, err
	})
	sig("zip_longest", "*iterables, fillvalue=None", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
		args := a[0].(*vm.Tuple).Items
		its := make([]vm.Object, len(args))
		var err error
		for i, x := range args {
			if its[i], err = in.Iter(x); err != nil {
				return nil, err
			}
		}
		live := len(its)
		return func(in *vm.Interp) (vm.Object, error) {
			if live == 0 {
				return nil, nil
			}
			out := make([]vm.Object, len(its))
			for i, it := range its {
				out[i] = a[1]
				if it == nil {
					continue
				}
				v, err := in.Next(it)
				if err != nil {
					return nil, err
				}
				if v == nil {
					its[i] = nil
					live--
					continue
				}
				out[i] = v
			}
			if live == 0 {
				return nil, nil
			}
			return vm.NewTuple(out...), nil
		}, nil
	})
	pools := func(in *vm.Interp, o vm.Object) ([]vm.Object, error) { return in.IterAll(o) }
	// indices drives the combinatoric iterators: step advances the index vector and says whether there is another.
	emit := func(pool func(i, idx int) vm.Object, idx []int, step func() bool) nextFn {
		first := true
		return func(in *vm.Interp) (vm.Object, error) {
			if !first && !step() {
				step = func() bool { return false }
				return nil, nil
			}
			first = false
			out := make([]vm.Object, len(idx))
			for i, k := range idx {
				out[i] = pool(i, k)
			}
			return vm.NewTuple(out...), nil
		}
	}
	sig("product", "*iterables, repeat=1", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
		r, err := in.Index(a[1])
		if err != nil {
			return nil, err
		}
		var ps [][]vm.Object
		for _, x := range a[0].(*vm.Tuple).Items {
			p, err := pools(in, x)
			if err != nil {
				return nil, err
			}
			ps = append(ps, p)
		}
		one := ps
		ps = nil
		for range r {
			ps = append(ps, one...)
		}
		for _, p := range ps {
			if len(p) == 0 {
				return end, nil
			}
		}
		idx := make([]int, len(ps))
		return emit(func(i, k int) vm.Object { return ps[i][k] }, idx, func() bool {
			for i := len(idx) - 1; i >= 0; i-- {
				idx[i]++
				if idx[i] < len(ps[i]) {
					return true
				}
				idx[i] = 0
			}
			return false
		}), nil
	})
	comb := func(name string, repl bool) {
		sig(name, "iterable, r", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
			p, err := pools(in, a[0])
			if err != nil {
				return nil, err
			}
			rr, err := in.Index(a[1])
			if err != nil {
				return nil, err
			}
			r, n := int(rr), len(p)
			if r < 0 {
				return nil, in.Errorf(in.Exc.ValueError, "r must be non-negative")
			}
			if !repl && r > n || repl && n == 0 && r > 0 {
				return end, nil
			}
			idx := make([]int, r)
			if !repl {
				for i := range idx {
					idx[i] = i
				}
			}
			return emit(func(_, k int) vm.Object { return p[k] }, idx, func() bool {
				for i := r - 1; i >= 0; i-- {
					limit := n - r + i
					if repl {
						limit = n - 1
					}
					if idx[i] < limit {
						idx[i]++
						for j := i + 1; j < r; j++ {
							if repl {
								idx[j] = idx[i]
							} else {
								idx[j] = idx[j-1] + 1
							}
						}
						return true
					}
				}
				return false
			}), nil
		})
	}
	comb("combinations", false)
	comb("combinations_with_replacement", true)
	sig("permutations", "iterable, r=None", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
		p, err := pools(in, a[0])
		if err != nil {
			return nil, err
		}
		n, r := len(p), len(p)
		if a[1] != vm.None {
			k, err := in.Index(a[1])
			if err != nil {
				return nil, err
			}
			r = int(k)
		}
		if r > n {
			return end, nil
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		cyc := make([]int, r)
		for i := range cyc {
			cyc[i] = n - i
		}
		return emit(func(_, k int) vm.Object { return p[k] }, all[:r], func() bool {
			for i := r - 1; i >= 0; i-- {
				cyc[i]--
				if cyc[i] == 0 {
					x := all[i]
					copy(all[i:], all[i+1:])
					all[n-1] = x
					cyc[i] = n - i
				} else {
					j := n - cyc[i]
					all[i], all[j] = all[j], all[i]
					return true
				}
			}
			return false
		}), nil
	})
	sig("groupby", "iterable, key=None", func(in *vm.Interp, a []vm.Object) (nextFn, error) {
		it, err := in.Iter(a[0])
		if err != nil {
			return nil, err
		}
		var cur, curKey vm.Object
		fetch := func(in *vm.Interp) error {
			v, err := in.Next(it)
			cur, curKey = v, v
			if err != nil || v == nil {
				return err
			}
			if a[1] != vm.None {
				curKey, err = in.Call(a[1], []vm.Object{v}, nil)
			}
			return err
		}
		started := false
		var last vm.Object
		gen := 0
		return func(in *vm.Interp) (vm.Object, error) {
			if !started {
				started = true
				if err := fetch(in); err != nil {
					return nil, err
				}
			}
			for last != nil && cur != nil {
				same, err := in.Eq(curKey, last)
				if err != nil {
					return nil, err
				}
				if !same {
					break
				}
				if err := fetch(in); err != nil {
					return nil, err
				}
			}
			if cur == nil {
				return nil, nil
			}
			last = curKey
			key := curKey
			gen++
			mine := gen
			return vm.NewTuple(key, &vm.GoIter{NextFn: func(in *vm.Interp) (vm.Object, error) {
				if cur == nil || mine != gen {
					return nil, nil
				}
				same, err := in.Eq(curKey, key)
				if err != nil || !same {
					return nil, err
				}
				v := cur
				return v, fetch(in)
			}}), nil
		}, nil
	})
	m.FuncN("tee", 1, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		n := int64(2)
		if len(args) > 1 {
			var err error
			if n, err = in.Index(args[1]); err != nil {
				return nil, err
			}
		}
		it, err := in.Iter(args[0])
		if err != nil {
			return nil, err
		}
		queues := make([][]vm.Object, n)
		out := make([]vm.Object, n)
		for i := range out {
			out[i] = &vm.GoIter{NextFn: func(in *vm.Interp) (vm.Object, error) {
				if len(queues[i]) == 0 {
					v, err := in.Next(it)
					if v == nil || err != nil {
						return nil, err
					}
					for j := range queues {
						queues[j] = append(queues[j], v)
					}
				}
				v := queues[i][0]
				queues[i] = slices.Delete(queues[i], 0, 1)
				return v, nil
			}}
		}
		return vm.NewTuple(out...), nil
	})
	return m, nil
}

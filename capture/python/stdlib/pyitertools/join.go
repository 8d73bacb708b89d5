package pyitertools

import (
	"slices"

	"whittle/capture/python/vm"
)

// chain is chain(*iterables).
type chain struct{ source, active vm.Object } // source is nil at the end

func newChain(c *call) (iterator, error) {
	return &chain{source: vm.NewTupleIter(slices.Clone(c.args))}, nil
}

func (x *chain) next(in *vm.Interp) (vm.Object, error) {
	for x.source != nil {
		if x.active == nil {
			o, err := in.Next(x.source)
			if err == nil && o != nil {
				x.active, err = in.Iter(o)
			}
			if o == nil || err != nil {
				x.source = nil
				return nil, err
			}
		}
		v, err := in.Next(x.active)
		if v != nil || err != nil {
			return v, err
		}
		x.active = nil
	}
	return nil, nil
}

func (x *chain) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	switch {
	case x.source == nil:
		return made(cls, vm.NewTuple())
	case x.active == nil:
		return made(cls, vm.NewTuple(), vm.NewTuple(x.source))
	}
	return made(cls, vm.NewTuple(), vm.NewTuple(x.source, x.active))
}

func (x *chain) setState(in *vm.Interp, state vm.Object) error {
	items, err := tupleState(in, state, -1)
	if err != nil {
		return err
	}
	if n := len(items); n < 1 || n > 2 {
		how, k := "at least", 1
		if n > 2 {
			how, k = "at most", 2
		}
		return in.Errorf(in.Exc.TypeError, "function takes %s %d argument%s (%d given)", how, k, map[int]string{1: "", 2: "s"}[k], n)
	}
	for _, o := range items {
		if _, ok := o.(vm.Iterator); !ok && o.Type().Lookup("__next__") == nil {
			return in.Errorf(in.Exc.TypeError, "Arguments must be iterators.")
		}
	}
	x.source, x.active = items[0], nil
	if len(items) == 2 {
		x.active = items[1]
	}
	return nil
}

// accumulate is accumulate(iterable, func, initial=...).
type accumulate struct {
	m       *module
	it, f   vm.Object
	total   vm.Object // nil before the first
	initial vm.Object // nil once it was given
}

func newAccumulate(c *call) (iterator, error) {
	it, err := c.Iter(c.args[0])
	x := &accumulate{m: c.m, it: it, f: c.args[1]}
	if c.args[2] != vm.None {
		x.initial = c.args[2]
	}
	return x, err
}

func (x *accumulate) next(in *vm.Interp) (vm.Object, error) {
	if x.initial != nil {
		x.total, x.initial = x.initial, nil
		return x.total, nil
	}
	v, err := in.Next(x.it)
	if v == nil || err != nil {
		return nil, err
	}
	switch {
	case x.total == nil:
	case x.f == vm.None:
		v, err = in.BinaryOp("+", x.total, v)
	default:
		v, err = in.Call(x.f, []vm.Object{x.total, v}, nil)
	}
	if err != nil {
		return nil, err
	}
	x.total = v
	return v, nil
}

func (x *accumulate) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	before := func(first vm.Object) vm.Object {
		items := vm.NewTupleIter([]vm.Object{vm.NewTuple(first), x.it})
		t := x.m.classes["chain"]
		return x.m.object(t, t, &chain{source: items})
	}
	switch {
	case x.initial != nil:
		return made(cls, vm.NewTuple(before(x.initial), x.f), vm.None)
	case x.total == vm.None:
		t := x.m.classes["accumulate"]
		inner := x.m.object(t, t, &accumulate{m: x.m, it: before(x.total), f: x.f})
		return made(x.m.classes["islice"], vm.NewTuple(inner, vm.MakeInt(1), vm.None))
	case x.total == nil:
		return made(cls, vm.NewTuple(x.it, x.f), vm.None)
	}
	return made(cls, vm.NewTuple(x.it, x.f), x.total)
}

func (x *accumulate) setState(_ *vm.Interp, state vm.Object) error {
	x.total = state
	return nil
}

// zipLongest is zip_longest(*iterables, fillvalue=None).
type zipLongest struct {
	its    []vm.Object // nil where one has ended
	active int
	fill   vm.Object
}

// zipLongest makes the class.
func (s *module) zipLongest(in *vm.Interp, m *vm.Module) {
	s.define(in, m, "zip_longest", func(in *vm.Interp, _ bool, args []vm.Object, kw []vm.KwArg) (iterator, error) {
		x := &zipLongest{fill: vm.None, active: len(args)}
		for _, k := range kw {
			if k.Name != "fillvalue" || len(kw) > 1 {
				return nil, in.Errorf(in.Exc.TypeError, "zip_longest() got an unexpected keyword argument")
			}
			x.fill = k.Value
		}
		for _, o := range args {
			it, err := in.Iter(o)
			if err != nil {
				return nil, err
			}
			x.its = append(x.its, it)
		}
		return x, nil
	})
}

func (x *zipLongest) next(in *vm.Interp) (vm.Object, error) {
	if x.active == 0 {
		return nil, nil
	}
	out := make([]vm.Object, len(x.its))
	for i, it := range x.its {
		out[i] = x.fill
		if it == nil {
			continue
		}
		v, err := in.Next(it)
		if err != nil {
			x.active = 0
			return nil, err
		}
		if v != nil {
			out[i] = v
			continue
		}
		if x.active--; x.active <= 0 {
			x.active = 0
			return nil, nil
		}
		x.its[i] = nil
	}
	return vm.NewTuple(out...), nil
}

func (x *zipLongest) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	args := make([]vm.Object, len(x.its))
	for i, it := range x.its {
		if args[i] = it; it == nil {
			args[i] = vm.NewTuple()
		}
	}
	return made(cls, vm.NewTuple(args...), x.fill)
}

func (x *zipLongest) setState(_ *vm.Interp, state vm.Object) error {
	x.fill = state
	return nil
}

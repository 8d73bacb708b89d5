package pyitertools

import (
	"whittle/capture/python/vm"
)

// groupBy is groupby(iterable, key).
type groupBy struct {
	m                    *module
	self                 vm.Object // the groupby object, for pickles of its groups
	it, f                vm.Object
	value, key, groupKey vm.Object // the last value with its key, nil for none; the key of the group
	group                *grouper  // the one that is walked through
}

func newGroupBy(c *call) (iterator, error) {
	it, err := c.Iter(c.args[0])
	return &groupBy{m: c.m, it: it, f: c.args[1]}, err
}

// step takes the next value; false at the end.
func (x *groupBy) step(in *vm.Interp) (bool, error) {
	v, err := in.Next(x.it)
	if v == nil || err != nil {
		return false, err
	}
	key := v
	if x.f != vm.None {
		if key, err = in.Call(x.f, []vm.Object{v}, nil); err != nil {
			return false, err
		}
	}
	x.value, x.key = v, key
	return true, nil
}

func (x *groupBy) next(in *vm.Interp) (vm.Object, error) {
	x.group = nil
	for {
		if x.key != nil {
			if x.groupKey == nil {
				break
			}
			same, err := equal(in, x.groupKey, x.key)
			if err != nil {
				return nil, err
			}
			if !same {
				break
			}
		}
		if ok, err := x.step(in); !ok || err != nil {
			return nil, err
		}
	}
	x.groupKey = x.key
	x.group = &grouper{parent: x, key: x.key}
	return vm.NewTuple(x.key, x.m.object(nil, x.m.grouper, x.group)), nil
}

// equal compares as containers do: what is the same is equal.
func equal(in *vm.Interp, a, b vm.Object) (bool, error) {
	if vm.Is(a, b) {
		return true, nil
	}
	return in.Eq(a, b)
}

func (x *groupBy) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	if x.groupKey != nil && x.key != nil && x.value != nil {
		return made(cls, vm.NewTuple(x.it, x.f), vm.NewTuple(x.value, x.groupKey, x.key))
	}
	return made(cls, vm.NewTuple(x.it, x.f))
}

func (x *groupBy) setState(in *vm.Interp, state vm.Object) error {
	items, err := tupleState(in, state, 3)
	if err == nil {
		x.value, x.groupKey, x.key = items[0], items[1], items[2]
	}
	return err
}

// grouper is one group.
type grouper struct {
	parent *groupBy
	key    vm.Object
}

func (g *grouper) next(in *vm.Interp) (vm.Object, error) {
	p := g.parent
	if p.group != g {
		return nil, nil
	}
	if p.value == nil {
		if ok, err := p.step(in); !ok || err != nil {
			return nil, err
		}
	}
	same, err := equal(in, g.key, p.key)
	if !same || err != nil {
		return nil, err
	}
	v := p.value
	p.value = nil
	return v, nil
}

func (g *grouper) reduce(in *vm.Interp, cls *vm.Type) (vm.Object, error) {
	if g.parent.group != g {
		iter, err := in.GetAttr(in.Builtins, "iter")
		return vm.NewTuple(iter, vm.NewTuple(vm.NewTuple())), err
	}
	return made(cls, vm.NewTuple(g.parent.self, g.key))
}

// makeGrouper makes the class of groups.
func (s *module) makeGrouper(in *vm.Interp, m *vm.Module) {
	params := vm.NewParams("_grouper", "parent, tgtkey, /")
	s.grouper = in.NewNativeType(s.spec("_grouper", func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := params.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		var p *groupBy
		if c := carrierOf(a[0]); c != nil {
			p, _ = c.it.(*groupBy)
		}
		if p == nil {
			return nil, in.Errorf(in.Exc.TypeError, "_grouper() argument 1 must be itertools.groupby, not %s", vm.ArgName(a[0]))
		}
		p.group = &grouper{parent: p, key: a[1]}
		return s.object(cls, s.grouper, p.group), nil
	}))
	m.Set("_grouper", s.grouper)
}

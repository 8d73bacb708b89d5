package pyitertools

import (
	"slices"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// cells is how many objects one link of a chain holds.
const cells = 57

// link is a part of what an iterator has given, which the tees of it share: _tee_dataobject.
type link struct {
	it      vm.Object
	values  []vm.Object
	after   *link
	running bool
	self    vm.Object
}

// at is object i of the link, which may have to be asked for.
func (l *link) at(in *vm.Interp, i int) (vm.Object, error) {
	if i < len(l.values) {
		return l.values[i], nil
	}
	if l.running {
		return nil, in.Errorf(in.Exc.RuntimeError, "cannot re-enter the tee iterator")
	}
	l.running = true
	v, err := in.Next(l.it)
	l.running = false
	if v != nil && err == nil {
		l.values = append(l.values, v)
	}
	return v, err
}

// jump is the link behind.
func (l *link) jump() *link {
	if l.after == nil {
		l.after = &link{it: l.it}
	}
	return l.after
}

// tee is one of the iterators that tee() gives.
type tee struct {
	m  *module
	on *link
	i  int
}

func (t *tee) next(in *vm.Interp) (vm.Object, error) {
	if t.i >= cells {
		t.on, t.i = t.on.jump(), 0
	}
	v, err := t.on.at(in, t.i)
	if v != nil && err == nil {
		t.i++
	}
	return v, err
}

func (t *tee) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	return made(cls, vm.NewTuple(vm.NewTuple()), vm.NewTuple(t.m.linkObject(t.on), vm.MakeInt(int64(t.i))))
}

func (t *tee) setState(in *vm.Interp, state vm.Object) error {
	items, err := tupleState(in, state, 2)
	if err != nil {
		return err
	}
	i, ok := items[0].(*vm.Instance)
	var l *link
	if ok {
		l, ok = i.Native.(*link)
	}
	if !ok {
		return in.Errorf(in.Exc.TypeError, "argument 1 must be itertools._tee_dataobject, not %s", vm.ArgName(items[0]))
	}
	n, err := in.Index(items[1])
	if err != nil {
		return err
	}
	if n < 0 || n > cells {
		return in.Errorf(in.Exc.ValueError, "Index out of range")
	}
	t.on, t.i = l, int(n)
	return nil
}

// linkObject is the link as Python sees it.
func (s *module) linkObject(l *link) vm.Object {
	if l.self == nil {
		l.self = vm.NewInstance(s.data, l)
	}
	return l.self
}

// fromIterable makes a tee of anything; one of a tee shares its links.
func (s *module) fromIterable(in *vm.Interp, o vm.Object) (vm.Object, error) {
	it, err := in.Iter(o)
	if err != nil {
		return nil, err
	}
	if c := carrierOf(it); c != nil {
		if t, ok := c.it.(*tee); ok {
			return s.object(nil, s.tee, &tee{s, t.on, t.i}), nil
		}
	}
	return s.object(nil, s.tee, &tee{s, &link{it: it}, 0}), nil
}

// makeTee makes tee and its classes.
func (s *module) makeTee(in *vm.Interp, m *vm.Module) {
	params := vm.NewParams("_tee", "iterable, /")
	spec := s.spec("_tee", func(in *vm.Interp, _ *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := params.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		return s.fromIterable(in, a[0])
	})
	spec.Final = true
	spec.Methods["__copy__"] = clinic.Method("__copy__", "", func(c *clinic.Call) (vm.Object, error) {
		t := iteratorOf(c.Self).(*tee)
		return s.object(nil, s.tee, &tee{s, t.on, t.i}), nil
	})
	s.tee = in.NewNativeType(spec)
	m.Set("_tee", s.tee)
	s.makeLink(in, m)
	clinic.Def(m, "tee", "iterable, n:int=2, /", func(c *clinic.Call) (vm.Object, error) {
		n := int(c.Int(1))
		if n < 0 {
			return nil, c.Errorf(c.Exc.ValueError, "n must be >= 0")
		}
		if n == 0 {
			return vm.NewTuple(), nil
		}
		it, err := c.Iter(c.Args[0])
		if err != nil {
			return nil, err
		}
		dup, err := c.GetAttrOpt(it, "__copy__")
		if err != nil {
			return nil, err
		}
		if dup == nil {
			if it, err = s.fromIterable(c.Interp, it); err != nil {
				return nil, err
			}
			if dup, err = c.GetAttr(it, "__copy__"); err != nil {
				return nil, err
			}
		}
		out := []vm.Object{it}
		for len(out) < n {
			v, err := c.Call(dup, nil, nil)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return vm.NewTuple(out...), nil
	})
}

// makeLink makes the class of links, which pickles have.
func (s *module) makeLink(in *vm.Interp, m *vm.Module) {
	params := vm.NewParams("teedataobject", "it, values, next, /")
	s.data = in.NewNativeType(vm.Spec{Name: "_tee_dataobject", NoModule: true, Module: "itertools", NoDict: true, Strict: true, Final: true,
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := params.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			values, ok := vm.AsList(a[1])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "teedataobject() argument 2 must be list, not %s", vm.ArgName(a[1]))
			}
			l := &link{it: a[0], values: slices.Clone(values.Items)}
			after, isLink := a[2].(*vm.Instance)
			if isLink {
				l.after, isLink = after.Native.(*link)
			}
			if n := len(l.values); n > cells || n < cells && a[2] != vm.None || a[2] != vm.None && !isLink {
				return nil, in.Errorf(in.Exc.ValueError, "Invalid arguments")
			}
			l.self = vm.NewInstance(cls, l)
			return l.self, nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil },
			"__reduce__": clinic.Method("__reduce__", "", func(c *clinic.Call) (vm.Object, error) {
				l := c.Self.(*vm.Instance).Native.(*link)
				after := vm.None
				if l.after != nil {
					after = s.linkObject(l.after)
				}
				return made(c.Self.Type(), vm.NewTuple(l.it, vm.NewList(slices.Clone(l.values)...), after))
			}),
		}})
	m.Set("_tee_dataobject", s.data)
}

package pyitertools

import (
	"whittle/capture/python/vm"
)

// count is count(start, step).
type count struct{ at, step vm.Object }

func newCount(c *call) (iterator, error) {
	for _, o := range c.args {
		t := o.Type()
		if t.Lookup("__index__") == nil && t.Lookup("__float__") == nil && t.Lookup("__int__") == nil && !t.IsSubtype(vm.ComplexType) {
			return nil, c.Errorf(c.Exc.TypeError, "a number is required")
		}
	}
	return &count{c.args[0], c.args[1]}, nil
}

func (x *count) next(in *vm.Interp) (vm.Object, error) {
	v := x.at
	n, err := in.BinaryOp("+", v, x.step)
	if err != nil {
		return nil, err
	}
	x.at = n
	return v, nil
}

// single reports whether the step is the integer 1, which need not be told.
func (x *count) single() bool {
	n, ok := vm.AsInt(x.step)
	return ok && n == 1
}

func (x *count) repr(in *vm.Interp) (string, error) {
	s, err := in.Repr(x.at)
	if err != nil || x.single() {
		return "(" + s + ")", err
	}
	step, err := in.Repr(x.step)
	return "(" + s + ", " + step + ")", err
}

func (x *count) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	if x.single() {
		if _, big := x.at.(*vm.BigInt); big { // as CPython tells what its C cannot count
			return made(cls, vm.NewTuple(x.at, x.step))
		}
		return made(cls, vm.NewTuple(x.at))
	}
	return made(cls, vm.NewTuple(x.at, x.step))
}

// cycle is cycle(iterable): what it gave is kept, and given again.
type cycle struct {
	it    vm.Object // nil at its end
	saved *vm.List
	i     int
	again bool // what the iterator gives is in saved already
}

func newCycle(c *call) (iterator, error) {
	it, err := c.Iter(c.args[0])
	return &cycle{it: it, saved: vm.NewList()}, err
}

func (x *cycle) next(in *vm.Interp) (vm.Object, error) {
	if x.it != nil {
		v, err := in.Next(x.it)
		if err != nil {
			return nil, err
		}
		if v != nil {
			if !x.again {
				x.saved.Items = append(x.saved.Items, v)
			}
			return v, nil
		}
		x.it = nil
	}
	if len(x.saved.Items) == 0 {
		return nil, nil
	}
	v := x.saved.Items[x.i%len(x.saved.Items)]
	x.i = (x.i + 1) % len(x.saved.Items)
	return v, nil
}

func (x *cycle) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	if x.it == nil {
		return made(cls, vm.NewTuple(vm.NewListIter(x.saved, x.i)), vm.NewTuple(x.saved, vm.True))
	}
	return made(cls, vm.NewTuple(x.it), vm.NewTuple(x.saved, vm.MakeBool(x.again)))
}

func (x *cycle) setState(in *vm.Interp, state vm.Object) error {
	items, err := tupleState(in, state, 2)
	if err != nil {
		return err
	}
	saved, ok := vm.AsList(items[0])
	if !ok {
		return in.Errorf(in.Exc.TypeError, "argument 1 must be list, not %s", vm.ArgName(items[0]))
	}
	n, err := in.Index(items[1])
	if err != nil {
		return err
	}
	x.saved, x.again, x.i = saved, n != 0, 0
	return nil
}

// repeat is repeat(object, times); a negative number is for ever.
type repeat struct {
	o vm.Object
	n int64
}

func newRepeat(c *call) (iterator, error) {
	n := int64(-1)
	if c.args[1] != nil {
		var err error
		if n, err = c.Index(c.args[1]); err != nil {
			return nil, err
		}
		n = max(n, 0)
	}
	return &repeat{c.args[0], n}, nil
}

func (x *repeat) next(*vm.Interp) (vm.Object, error) {
	if x.n == 0 {
		return nil, nil
	}
	if x.n > 0 {
		x.n--
	}
	return x.o, nil
}

func (x *repeat) repr(in *vm.Interp) (string, error) {
	s, err := in.Repr(x.o)
	if x.n >= 0 && err == nil {
		var n string
		n, err = in.Repr(vm.MakeInt(x.n))
		s += ", " + n
	}
	return "(" + s + ")", err
}

func (x *repeat) left(in *vm.Interp) (vm.Object, error) {
	if x.n < 0 {
		return nil, in.Errorf(in.Exc.TypeError, "len() of unsized object")
	}
	return vm.MakeInt(x.n), nil
}

func (x *repeat) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	if x.n < 0 {
		return made(cls, vm.NewTuple(x.o))
	}
	return made(cls, vm.NewTuple(x.o, vm.MakeInt(x.n)))
}

package pyitertools

import (
	"whittle/capture/python/vm"
)

// compress is compress(data, selectors).
type compress struct{ data, selectors vm.Object }

func newCompress(c *call) (iterator, error) {
	data, err := c.Iter(c.args[0])
	if err != nil {
		return nil, err
	}
	selectors, err := c.Iter(c.args[1])
	return &compress{data, selectors}, err
}

func (x *compress) next(in *vm.Interp) (vm.Object, error) {
	for {
		v, err := in.Next(x.data)
		if v == nil || err != nil {
			return nil, err
		}
		s, err := in.Next(x.selectors)
		if s == nil || err != nil {
			return nil, err
		}
		ok, err := in.Truth(s)
		if err != nil {
			return nil, err
		}
		if ok {
			return v, nil
		}
	}
}

func (x *compress) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	return made(cls, vm.NewTuple(x.data, x.selectors))
}

// tested is a predicate with the iterator whose objects it is asked about.
type tested struct{ f, it vm.Object }

func newTested(c *call) (tested, error) {
	it, err := c.Iter(c.args[1])
	return tested{c.args[0], it}, err
}

// ask calls the predicate.
func (x *tested) ask(in *vm.Interp, v vm.Object) (bool, error) {
	r, err := in.Call(x.f, []vm.Object{v}, nil)
	if err != nil {
		return false, err
	}
	return in.Truth(r)
}

// takeWhile is takewhile(predicate, iterable), dropWhile dropwhile, filterFalse filterfalse.
type takeWhile struct {
	tested
	done bool
}

func newTakeWhile(c *call) (iterator, error) {
	t, err := newTested(c)
	return &takeWhile{tested: t}, err
}

func (x *takeWhile) next(in *vm.Interp) (vm.Object, error) {
	if x.done {
		return nil, nil
	}
	v, err := in.Next(x.it)
	if v == nil || err != nil {
		return nil, err
	}
	ok, err := x.ask(in, v)
	if err != nil {
		return nil, err
	}
	if !ok {
		x.done = true
		return nil, nil
	}
	return v, nil
}

// number is a truth value as C shows it.
func number(b bool) vm.Object {
	if b {
		return vm.MakeInt(1)
	}
	return vm.MakeInt(0)
}

func (x *takeWhile) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	return made(cls, vm.NewTuple(x.f, x.it), number(x.done))
}

func (x *takeWhile) setState(in *vm.Interp, state vm.Object) (err error) {
	x.done, err = in.Truth(state)
	return err
}

type dropWhile struct {
	tested
	begun bool
}

func newDropWhile(c *call) (iterator, error) {
	t, err := newTested(c)
	return &dropWhile{tested: t}, err
}

func (x *dropWhile) next(in *vm.Interp) (vm.Object, error) {
	for {
		v, err := in.Next(x.it)
		if v == nil || err != nil || x.begun {
			return v, err
		}
		ok, err := x.ask(in, v)
		if err != nil {
			return nil, err
		}
		if !ok {
			x.begun = true
			return v, nil
		}
	}
}

func (x *dropWhile) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	return made(cls, vm.NewTuple(x.f, x.it), number(x.begun))
}

func (x *dropWhile) setState(in *vm.Interp, state vm.Object) (err error) {
	x.begun, err = in.Truth(state)
	return err
}

type filterFalse struct{ tested }

func newFilterFalse(c *call) (iterator, error) {
	t, err := newTested(c)
	return &filterFalse{t}, err
}

func (x *filterFalse) next(in *vm.Interp) (vm.Object, error) {
	for {
		v, err := in.Next(x.it)
		if v == nil || err != nil {
			return nil, err
		}
		var ok bool
		if x.f == vm.None || x.f == vm.Object(vm.BoolType) {
			ok, err = in.Truth(v)
		} else {
			ok, err = x.ask(in, v)
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			return v, nil
		}
	}
}

func (x *filterFalse) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	return made(cls, vm.NewTuple(x.f, x.it))
}

// starMap is starmap(function, iterable).
type starMap struct{ f, it vm.Object }

func newStarMap(c *call) (iterator, error) {
	it, err := c.Iter(c.args[1])
	return &starMap{c.args[0], it}, err
}

func (x *starMap) next(in *vm.Interp) (vm.Object, error) {
	v, err := in.Next(x.it)
	if v == nil || err != nil {
		return nil, err
	}
	args, err := in.IterAll(v)
	if err != nil {
		return nil, err
	}
	return in.Call(x.f, args, nil)
}

func (x *starMap) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	return made(cls, vm.NewTuple(x.f, x.it))
}

// pairwise is pairwise(iterable).
type pairwise struct{ it, old vm.Object }

func newPairwise(c *call) (iterator, error) {
	it, err := c.Iter(c.args[0])
	return &pairwise{it: it}, err
}

func (x *pairwise) next(in *vm.Interp) (vm.Object, error) {
	if x.it == nil {
		return nil, nil
	}
	step := func() (vm.Object, error) {
		it := x.it
		v, err := in.Next(it)
		if v == nil || err != nil {
			x.it, x.old = nil, nil
		}
		return v, err
	}
	if x.old == nil {
		v, err := step()
		if v == nil || err != nil {
			return nil, err
		}
		x.old = v
		if x.it == nil { // it came back here while it was asked
			return nil, nil
		}
	}
	old := x.old
	v, err := step()
	if v == nil || err != nil {
		return nil, err
	}
	x.old = v
	return vm.NewTuple(old, v), nil
}

// slice is islice(iterable, start, stop, step).
type slice struct {
	it         vm.Object // nil at the end
	at, from   int64     // how many were taken, which is given next
	stop, step int64     // a negative stop is none
}

func newSlice(c *call) (iterator, error) {
	x := &slice{stop: -1, step: 1}
	stop := c.args[1]
	if len(c.args) > 2 {
		stop = c.args[2]
	}
	var ok bool
	if x.stop, ok = place(c, stop, -1); !ok {
		if len(c.args) == 2 {
			return nil, c.Errorf(c.Exc.ValueError, "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
		}
		return nil, c.Errorf(c.Exc.ValueError, "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
	}
	if len(c.args) > 2 {
		if x.from, ok = place(c, c.args[1], 0); !ok {
			return nil, c.Errorf(c.Exc.ValueError, "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
		}
	}
	if len(c.args) > 3 {
		if x.step, ok = place(c, c.args[3], 1); !ok || x.step < 1 {
			return nil, c.Errorf(c.Exc.ValueError, "Step for islice() must be a positive integer or None.")
		}
	}
	it, err := c.Iter(c.args[0])
	x.it = it
	return x, err
}

// place reads a bound; none stands for None.
func place(c *call, o vm.Object, none int64) (int64, bool) {
	if o == vm.None {
		return none, true
	}
	n, err := c.Index(o)
	return n, err == nil && n >= 0
}

func (x *slice) next(in *vm.Interp) (vm.Object, error) {
	if x.it == nil {
		return nil, nil
	}
	for x.at < x.from {
		v, err := in.Next(x.it)
		if v == nil || err != nil {
			x.it = nil
			return nil, err
		}
		x.at++
	}
	if x.stop >= 0 && x.at >= x.stop {
		x.it = nil
		return nil, nil
	}
	v, err := in.Next(x.it)
	if v == nil || err != nil {
		x.it = nil
		return nil, err
	}
	x.at++
	x.from += x.step
	if x.from < 0 || x.stop >= 0 && x.from > x.stop { // beyond what numbers reach, or the end; without an end CPython goes on with the next
		x.from = x.stop
	}
	return v, nil
}

func (x *slice) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	if x.it == nil {
		return made(cls, vm.NewTuple(emptyIter(), vm.MakeInt(0)), vm.MakeInt(0))
	}
	stop := vm.None
	if x.stop >= 0 {
		stop = vm.MakeInt(x.stop)
	}
	return made(cls, vm.NewTuple(x.it, vm.MakeInt(x.from), stop, vm.MakeInt(x.step)), vm.MakeInt(x.at))
}

func (x *slice) setState(in *vm.Interp, state vm.Object) (err error) {
	x.at, err = stateInt(in, state)
	return err
}

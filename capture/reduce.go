package capture

import (
	"errors"

	"whittle/capture/breaks"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// reduction is what __reduce_ex__ says of an object: how to make one like it.
type reduction struct {
	callable, args, state vm.Object
	list, pairs           []vm.Object // items to append; keys and values, in turn, to set
}

// reduce asks an object of a class that is not known here for its reduction, as the copy module would. ok is false where it has none, or
// is a thing of a module and goes by its name: there is only one of it.
func (p *planner) reduce(o vm.Object) (red *reduction, ok bool, err error) {
	in := p.tr.in
	v, err := in.CallMethod(o, "__reduce_ex__", vm.MakeInt(2))
	var raised *vm.Raised
	if errors.As(err, &raised) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	t, isTuple := v.(*vm.Tuple)
	if !isTuple || len(t.Items) < 2 {
		return nil, false, nil
	}
	part := func(i int) vm.Object {
		if i < len(t.Items) && t.Items[i] != vm.None {
			return t.Items[i]
		}
		return nil
	}
	red = &reduction{callable: t.Items[0], args: t.Items[1], state: part(2)}
	if items := part(3); items != nil {
		if red.list, err = in.IterAll(items); err != nil {
			return nil, false, err
		}
	}
	if items := part(4); items != nil {
		all, err := in.IterAll(items)
		if err != nil {
			return nil, false, err
		}
		for _, x := range all {
			kv, err := in.IterAll(x)
			if err != nil || len(kv) != 2 {
				return nil, false, err
			}
			red.pairs = append(red.pairs, kv...)
		}
	}
	return red, true, nil
}

// plain reports whether the reduction holds nothing that a trace could have made.
func (red *reduction) plain() bool {
	return len(red.list) == 0 && len(red.pairs) == 0 && plain(red.callable) && plain(red.args) && plain(red.state)
}

// plain reports whether o is a constant, a thing of a module, or a tuple of such.
func plain(o vm.Object) bool {
	switch v := o.(type) {
	case nil, *vm.Type, *vm.Module, *vm.Builtin:
		return true
	case *vm.Function:
		return len(v.Closure) == 0
	case *vm.Tuple:
		for _, x := range v.Items {
			if !plain(x) {
				return false
			}
		}
		return true
	}
	return source.Identity(o) == nil
}

// reduced plans an object of a class that capture knows nothing of. One that changes as it is used, or that holds what the trace made,
// is made anew in every run as its reduction says; others are taken as they are.
func (p *planner) reduced(o vm.Object) (recipe, error) {
	if r := p.memo[o]; r != nil {
		return func(b *rebuild) (vm.Object, error) { return (*r)(b) }, nil
	}
	_, iterates := o.(vm.Iterator)
	if iterates && p.onStack {
		// The frame that goes on with it may be traced twice, and a trace that is given up has taken items from it.
		return nil, unsupported(breaks.LeftOverIterator, o.Type().Name)
	}
	red, ok, err := p.reduce(o)
	if err != nil {
		return nil, err
	}
	if !ok && iterates {
		// Its state is in it, and would be shared by all runs.
		return nil, unsupported(breaks.LeftOverIterator, o.Type().Name)
	}
	if !ok || red.plain() && !iterates && !changeable(o) {
		return constant(o), nil
	}
	var again recipe
	p.memo[o] = &again
	parts, err := p.values([]vm.Object{red.callable, red.args, red.state})
	if err != nil {
		return nil, err
	}
	list, err := p.values(red.list)
	if err != nil {
		return nil, err
	}
	pairs, err := p.values(red.pairs)
	if err != nil {
		return nil, err
	}
	key, kind := p.part(o), o.Type()
	var state recipe // nil => there is none
	if red.state != nil {
		state = parts[2]
	}
	again = func(r *rebuild) (vm.Object, error) {
		if x, begun := r.made[key]; begun {
			if x == nil {
				return nil, r.env.In.Errorf(r.env.In.Exc.RecursionError, "%s is needed to make itself", kind.Name)
			}
			return x, nil
		}
		r.made[key] = nil
		how, err := r.all(parts[:2])
		if err != nil {
			return nil, err
		}
		args, _ := vm.AsTuple(how[1])
		x, err := r.env.In.Call(how[0], args.Items, nil)
		if err != nil {
			return nil, err
		}
		r.made[key] = x
		return x, r.restore(x, state, list, pairs)
	}
	return again, nil
}

// restore gives an object that was made by the first half of a reduction what the second half says.
func (r *rebuild) restore(x vm.Object, state recipe, list, pairs []recipe) error {
	in := r.env.In
	if state != nil {
		st, err := state(r)
		if err == nil {
			_, err = in.CallMethod(x, "__setstate__", st)
		}
		if err != nil {
			return err
		}
	}
	items, err := r.all(list)
	if err != nil {
		return err
	}
	for _, v := range items {
		if _, err := in.CallMethod(x, "append", v); err != nil {
			return err
		}
	}
	if items, err = r.all(pairs); err != nil {
		return err
	}
	for i := 0; i+1 < len(items); i += 2 {
		if err := in.SetItem(x, items[i], items[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// changeable reports whether an object can be written, as those that cannot be hashed can.
func changeable(o vm.Object) bool {
	h := o.Type().Lookup("__hash__")
	return h == nil || h == vm.None
}

// view plans a view of a dict: of the dict that the run has.
func (p *planner) view(o vm.Object, d *vm.Dict, of func(*vm.Dict) vm.Object) (recipe, error) {
	dict, err := p.value(d)
	if err != nil {
		return nil, err
	}
	key := p.part(o)
	return func(r *rebuild) (vm.Object, error) {
		if x := r.made[key]; x != nil {
			return x, nil
		}
		v, err := dict(r)
		if err != nil {
			return nil, err
		}
		now, _ := vm.AsDict(v)
		r.made[key] = of(now)
		return r.made[key], nil
	}, nil
}

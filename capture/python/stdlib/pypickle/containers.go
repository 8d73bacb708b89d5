package pypickle

import (
	"whittle/capture/python/vm"
)

// saveTuple saves a tuple. One that holds itself, by way of a list say, is remembered once its items are saved: these are dropped again.
func (p *pickler) saveTuple(t *vm.Tuple) error {
	n := len(t.Items)
	switch {
	case n == 0 && p.bin:
		return p.op(opEmptyTuple)
	case n == 0:
		return p.op(opMark, opTuple)
	}
	short := n <= 3 && p.proto >= 2
	if !short {
		if err := p.op(opMark); err != nil {
			return err
		}
	}
	for _, it := range t.Items {
		if err := p.save(it); err != nil {
			return err
		}
	}
	if i, ok := p.memo[t]; ok {
		drop := n
		switch {
		case !short && p.bin:
			if err := p.op(opPopMark); err != nil {
				return err
			}
			return p.fetch(i)
		case !short:
			drop++
		}
		for range drop {
			if err := p.op(opPop); err != nil {
				return err
			}
		}
		return p.fetch(i)
	}
	code := byte(opTuple)
	if short {
		code = opTuple1 + byte(n) - 1
	}
	if err := p.op(code); err != nil {
		return err
	}
	return p.remember(t)
}

// begin writes an empty container and remembers it.
func (p *pickler) begin(o vm.Object, empty, marked byte) error {
	code := []byte{empty}
	if !p.bin {
		code = []byte{opMark, marked}
	}
	if err := p.op(code...); err != nil {
		return err
	}
	return p.remember(o)
}

func (p *pickler) saveList(l *vm.List) error {
	return p.nested(l, func() error {
		if err := p.begin(l, opEmptyList, opList); err != nil || len(l.Items) == 0 {
			return err
		}
		switch {
		case p.proto == 0:
			it, err := p.in.Iter(l)
			if err != nil {
				return err
			}
			return p.appendEach(it)
		case len(l.Items) == 1:
			if err := p.save(l.Items[0]); err != nil {
				return err
			}
			return p.op(opAppend)
		}
		i := 0
		return p.batches(opAppends, func() (bool, error) {
			if i >= len(l.Items) { // it has become shorter meanwhile
				return false, nil
			}
			err := p.save(l.Items[i])
			i++
			return i < len(l.Items), err
		})
	})
}

// batches writes items between marks; next saves one and says whether there are more.
func (p *pickler) batches(code byte, next func() (more bool, err error)) error {
	for more := true; more; {
		if err := p.op(opMark); err != nil {
			return err
		}
		for n := 0; more && n < batchSize; n++ {
			var err error
			if more, err = next(); err != nil {
				return err
			}
		}
		if err := p.op(code); err != nil {
			return err
		}
	}
	return nil
}

// appendEach saves the items of an iterator one by one, as protocol 0 has it.
func (p *pickler) appendEach(it vm.Object) error {
	for {
		v, err := p.in.Next(it)
		if v == nil || err != nil {
			return err
		}
		if err := p.save(v); err != nil {
			return err
		}
		if err := p.op(opAppend); err != nil {
			return err
		}
	}
}

// appendAll saves the items of an iterator; setAll does so with pairs.
func (p *pickler) appendAll(it vm.Object) error {
	if p.proto == 0 {
		return p.appendEach(it)
	}
	return p.iterated(it, opAppend, opAppends, p.save)
}

func (p *pickler) setAll(it vm.Object) error {
	pair := func(v vm.Object) error {
		t, ok := v.(*vm.Tuple)
		if !ok || len(t.Items) != 2 {
			return p.in.Errorf(p.in.Exc.TypeError, "dict items iterator must return 2-tuples")
		}
		if err := p.save(t.Items[0]); err != nil {
			return err
		}
		return p.save(t.Items[1])
	}
	if p.proto > 0 {
		return p.iterated(it, opSetItem, opSetItems, pair)
	}
	for {
		v, err := p.in.Next(it)
		if v == nil || err != nil {
			return err
		}
		if err := pair(v); err != nil {
			return err
		}
		if err := p.op(opSetItem); err != nil {
			return err
		}
	}
}

// iterated saves what an iterator gives in batches; the last item alone needs no mark.
func (p *pickler) iterated(it vm.Object, one, many byte, save func(vm.Object) error) error {
	for n := batchSize; n == batchSize; {
		first, err := p.in.Next(it)
		if first == nil || err != nil {
			return err
		}
		v, err := p.in.Next(it)
		if err != nil {
			return err
		}
		if v == nil {
			if err := save(first); err != nil {
				return err
			}
			return p.op(one)
		}
		if err := p.op(opMark); err != nil {
			return err
		}
		if err := save(first); err != nil {
			return err
		}
		for n = 1; v != nil; {
			if err := save(v); err != nil {
				return err
			}
			if n++; n == batchSize {
				break
			}
			if v, err = p.in.Next(it); err != nil {
				return err
			}
		}
		if err := p.op(many); err != nil {
			return err
		}
	}
	return nil
}

func (p *pickler) saveDict(d *vm.Dict) error {
	return p.nested(d, func() error {
		if err := p.begin(d, opEmptyDict, opDict); err != nil || d.Len() == 0 {
			return err
		}
		items, err := p.in.CallMethod(d, "items")
		if err != nil {
			return err
		}
		it, err := p.in.Iter(items)
		if err != nil || p.proto == 0 || d.Len() == 1 {
			if err == nil {
				err = p.setAll(it)
			}
			return err
		}
		size, left := d.Len(), d.Len()
		return p.batches(opSetItems, func() (bool, error) {
			v, err := p.in.Next(it)
			if err != nil {
				return false, err
			}
			pair := v.(*vm.Tuple).Items
			if err := p.save(pair[0]); err != nil {
				return false, err
			}
			if err := p.save(pair[1]); err != nil {
				return false, err
			}
			if d.Len() != size {
				return false, p.in.Errorf(p.in.Exc.RuntimeError, "dictionary changed size during iteration")
			}
			left--
			return left > 0, nil
		})
	})
}

func (p *pickler) saveSet(s *vm.Set) error {
	if p.proto < 4 {
		return p.saveReduce(vm.NewTuple(vm.SetType, vm.NewTuple(vm.NewList(s.Items()...))), s)
	}
	if err := p.op(opEmptySet); err != nil {
		return err
	}
	if err := p.remember(s); err != nil || s.Len() == 0 {
		return err
	}
	items := s.Items()
	return p.batches(opAddItems, func() (bool, error) {
		err := p.save(items[0])
		if items = items[1:]; err == nil && len(items) > 0 && s.Len() < len(items) {
			err = p.in.Errorf(p.in.Exc.RuntimeError, "set changed size during iteration")
		}
		return len(items) > 0, err
	})
}

func (p *pickler) saveFrozenSet(s *vm.FrozenSet) error {
	if p.proto < 4 {
		return p.saveReduce(vm.NewTuple(vm.FrozenSetType, vm.NewTuple(vm.NewList(s.Items()...))), s)
	}
	return p.nested(s, func() error {
		if err := p.op(opMark); err != nil {
			return err
		}
		for _, it := range s.Items() {
			if err := p.save(it); err != nil {
				return err
			}
		}
		if i, ok := p.memo[s]; ok { // it holds itself, by way of another object
			if err := p.op(opPopMark); err != nil {
				return err
			}
			return p.fetch(i)
		}
		if err := p.op(opFrozenSet); err != nil {
			return err
		}
		return p.remember(s)
	})
}

// nested runs a function that saves a container. In fast mode nothing is remembered, so that deep nests are searched for cycles.
func (p *pickler) nested(o vm.Object, save func() error) error {
	if !p.fast {
		return save()
	}
	p.nesting++
	defer func() { p.nesting-- }()
	if p.nesting >= fastNestingMost {
		if p.fastSeen[o] {
			return p.in.Errorf(p.in.Exc.ValueError, "fast mode: can't pickle cyclic objects including object type %s at %s", vm.TypeName(o), p.in.Addr(o))
		}
		if p.fastSeen == nil {
			p.fastSeen = map[vm.Object]bool{}
		}
		p.fastSeen[o] = true
		defer delete(p.fastSeen, o)
	}
	return save()
}

package vm

// The operations of sets, in the order of insertions and removals that CPython's setobject.c has: the order in which
// a set is iterated depends on it.

// discard takes key out and says whether it was there.
func (s *setTable) discard(in *Interp, key Object) (bool, error) { return s.Remove(in, key) }

// union is s | others.
func (s *setTable) union(in *Interp, others ...Object) (setTable, error) {
	t := s.clone()
	for _, o := range others {
		if y, ok := asSet(o); ok && y == s {
			continue
		}
		if err := t.update(in, o); err != nil {
			return t, err
		}
	}
	return t, nil
}

// intersect is s & o: of two sets, the smaller is walked.
func (s *setTable) intersect(in *Interp, o Object) (setTable, error) {
	var t setTable
	var items []Object
	of := s
	if y, ok := asSet(o); ok {
		if y == s {
			return s.clone(), nil
		}
		if y.used > s.used {
			y, of = s, y
		}
		items = y.Items()
	} else {
		var err error
		if items, err = in.IterAll(o); err != nil {
			return t, err
		}
	}
	for _, k := range items {
		ok, err := of.Has(in, k)
		if err == nil && ok {
			err = t.Add(in, k)
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// subtract is s - o.
func (s *setTable) subtract(in *Interp, o Object) (setTable, error) {
	var t setTable
	size := -1
	has := func(k Object) (bool, error) { return false, nil }
	if y, ok := asSet(o); ok {
		size, has = y.used, func(k Object) (bool, error) { return y.Has(in, k) }
	} else if d, ok := o.(*Dict); ok {
		size, has = d.Len(), func(k Object) (bool, error) {
			_, ok, err := d.Get(in, k)
			return ok, err
		}
	}
	if size < 0 || s.used>>2 > size {
		t = s.clone()
		return t, t.remove(in, o)
	}
	for _, k := range s.Items() {
		ok, err := has(k)
		if err == nil && !ok {
			err = t.Add(in, k)
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// remove is s -= o. Many removals end with a table without gaps.
func (s *setTable) remove(in *Interp, o Object) error {
	var items []Object
	if y, ok := asSet(o); ok {
		if y == s {
			*s = setTable{}
			return nil
		}
		items = y.Items()
	} else {
		var err error
		if items, err = in.IterAll(o); err != nil {
			return err
		}
	}
	for _, k := range items {
		if _, err := s.discard(in, k); err != nil {
			return err
		}
	}
	if s.fill-s.used > (len(s.table)-1)/4 {
		s.grow()
	}
	return nil
}

// grow rebuilds the table with room for what it holds.
func (s *setTable) grow() {
	if s.used > 50000 {
		s.resize(s.used * 2)
	} else {
		s.resize(s.used * 4)
	}
}

// toggle is s ^= o.
func (s *setTable) toggle(in *Interp, o Object) error {
	var items []Object
	if y, ok := asSet(o); ok {
		if y == s {
			*s = setTable{}
			return nil
		}
		items = y.Items()
	} else {
		// Members given twice count once; the keys of a dict are walked in its order.
		all, err := in.IterAll(o)
		if err != nil {
			return err
		}
		items = all
		if _, isDict := o.(*Dict); !isDict {
			var t setTable
			for _, k := range all {
				if err := t.Add(in, k); err != nil {
					return err
				}
			}
			items = t.Items()
		}
	}
	return s.toggleItems(in, items)
}

// toggleItems adds the items that are no members and removes those that are: symmetric difference.
func (s *setTable) toggleItems(in *Interp, items []Object) error {
	for _, k := range items {
		ok, err := s.discard(in, k)
		if err == nil && !ok {
			err = s.Add(in, k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// combine is one binary operation of s with any iterable.
func (s *setTable) combine(in *Interp, op string, o Object) (t setTable, err error) {
	switch op {
	case "|":
		return s.union(in, o)
	case "&":
		return s.intersect(in, o)
	case "-":
		return s.subtract(in, o)
	}
	if err = t.update(in, o); err == nil {
		err = t.toggleItems(in, s.Items())
	}
	return t, err
}

// change is the operation in place.
func (s *setTable) change(in *Interp, op string, o Object) error {
	switch op {
	case "|":
		return s.update(in, o)
	case "-":
		return s.remove(in, o)
	case "^":
		return s.toggle(in, o)
	}
	t, err := s.intersect(in, o)
	if err == nil {
		*s = t
	}
	return err
}

// likeSet gives t the type of a: set or frozenset.
func likeSet(a Object, t setTable) Object {
	if _, ok := a.(*FrozenSet); ok {
		return &FrozenSet{setTable: t}
	}
	return &Set{t}
}

// viewBinary is an operation with a view of a dict's keys or items on either side.
func viewBinary(in *Interp, op string, a, b Object) (Object, error) {
	fresh := func(o Object) (t setTable, err error) {
		if v, ok := o.(*dictView); ok && v.Type() == DictKeysType {
			o = v.d
		}
		err = t.update(in, o)
		return t, err
	}
	if op == "&" {
		return viewIntersect(in, a, b)
	}
	t, err := fresh(a)
	if err != nil {
		return nil, err
	}
	if op == "^" {
		y, err := fresh(b)
		if err != nil {
			return nil, err
		}
		err = t.toggleItems(in, y.Items())
		return &Set{t}, err
	}
	err = t.change(in, op, b)
	return &Set{t}, err
}

// viewIntersect walks the operand that is no view, or the smaller of two, unless a set is at least as large as the view.
func viewIntersect(in *Interp, a, b Object) (Object, error) {
	view, other := a, b
	if _, ok := a.(*dictView); !ok {
		view, other = b, a
	}
	v := view.(*dictView)
	if o, ok := other.(*dictView); ok && o.d.Len() > v.d.Len() {
		v, other = o, v
	}
	if s, ok := other.(*Set); ok && s.used >= v.d.Len() {
		t, err := s.intersect(in, v)
		return &Set{t}, err
	}
	items, err := in.IterAll(other)
	if err != nil {
		return nil, err
	}
	var t setTable
	for _, k := range items {
		ok, err := in.Contains(v, k)
		if err == nil && ok {
			err = t.Add(in, k)
		}
		if err != nil {
			return nil, err
		}
	}
	return &Set{t}, nil
}

package capture

import (
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// guardTree is the guards of one entry, compiled for speed: what several guards look at is read once, each value from the
// one that it belongs to.
type guardTree struct {
	slots  []treeSlot // a source's base comes before it
	checks []treeCheck

	// The values read in the check that runs; stamp tells them from those of earlier checks.
	values []vm.Object
	stamps []uint64
	stamp  uint64
	busy   bool // a check runs code of the script, which may come here again
}

// treeSlot is a source, read from the value of another slot.
type treeSlot struct {
	base int // -1: the source starts
	src  source.Source
	step source.Step // how to get from the base's value to this one; nil when base is -1

	// A name in a namespace or a dict is looked up in place, where it was found last.
	name string
	kind lookup
	at   int
}

// lookup says what kind of name a slot is.
type lookup int

const (
	noName lookup = iota
	attrName
	itemName
)

// treeCheck is a guard with the slots of what it looks at.
type treeCheck struct {
	guard *Guard
	slot  int // -1: the guard looks at nothing
	all   []int
}

// compileGuards builds the tree of a list of guards; they are checked in the list's order.
func compileGuards(gs []*Guard) *guardTree {
	t := &guardTree{}
	index := map[string]int{}
	var slot func(s source.Source) int
	slot = func(s source.Source) int {
		for {
			n, ok := s.(source.Module) // says something about its base, and is it
			if !ok {
				break
			}
			s = n.Base
		}
		key := sourceKey(s)
		if i, ok := index[key]; ok {
			return i
		}
		n := treeSlot{base: -1, src: s}
		if st, ok := s.(source.Step); ok {
			n.base, n.step = slot(st.From()), st
			switch a := s.(type) {
			case source.Attr:
				n.name, n.kind = a.Of, attrName
			case source.Item:
				if k, ok := a.Key.(vm.Str); ok {
					n.name, n.kind = string(k), itemName
				}
			}
		}
		t.slots = append(t.slots, n)
		index[key] = len(t.slots) - 1
		return len(t.slots) - 1
	}
	seen := map[string]bool{}
	for _, g := range gs {
		if g.check == nil && g.relate == nil || seen[g.Kind+" "+g.Expr] {
			continue
		}
		seen[g.Kind+" "+g.Expr] = true
		c := treeCheck{guard: g, slot: -1}
		if g.Source != nil {
			c.slot = slot(g.Source)
		}
		for _, s := range g.among {
			c.all = append(c.all, slot(s))
		}
		t.checks = append(t.checks, c)
	}
	t.values, t.stamps = make([]vm.Object, len(t.slots)), make([]uint64, len(t.slots))
	return t
}

// sourceKey tells sources apart that print alike: a list and the built-in value inside of an instance.
func sourceKey(s source.Source) string {
	if _, ok := s.(source.Native); ok {
		return "native " + s.Name()
	}
	return s.Name()
}

// holds checks all guards; why says what failed first.
func (t *guardTree) holds(e *source.Env) (ok bool, why string) {
	if t.busy {
		fresh := *t
		fresh.busy = false
		fresh.values, fresh.stamps = make([]vm.Object, len(t.slots)), make([]uint64, len(t.slots))
		return fresh.holds(e)
	}
	t.busy = true
	defer func() { t.busy = false }()
	t.stamp++
	var many []vm.Object
	for i := range t.checks {
		c := &t.checks[i]
		g := c.guard
		var v vm.Object
		if c.slot >= 0 {
			var err error
			if v, err = t.value(e, c.slot); err != nil {
				return false, g.Expr
			}
		}
		if g.relate != nil {
			many = many[:0]
			for _, s := range c.all {
				x, err := t.value(e, s)
				if err != nil {
					return false, g.Expr
				}
				many = append(many, x)
			}
			ok, why = g.relate(many)
		} else {
			ok, why = g.check(e, v)
		}
		if !ok {
			if why == "" {
				why = g.Expr
			}
			return false, why
		}
	}
	return true, ""
}

// failures says of each guard that does not hold what failed. A guard on what cannot be read any more counts among them.
func (t *guardTree) failures(e *source.Env) []string {
	var out []string
	for i := range t.checks {
		one := *t
		one.busy, one.checks = false, t.checks[i:i+1]
		one.values, one.stamps = make([]vm.Object, len(t.slots)), make([]uint64, len(t.slots))
		if ok, why := one.holds(e); !ok {
			out = append(out, why)
		}
	}
	return out
}

func (t *guardTree) value(e *source.Env, i int) (vm.Object, error) {
	if t.stamps[i] == t.stamp {
		return t.values[i], nil
	}
	s := &t.slots[i]
	var v vm.Object
	var err error
	if s.base < 0 {
		v, err = s.src.Get(e)
	} else {
		var b vm.Object
		if b, err = t.value(e, s.base); err == nil {
			if v = s.inPlace(b); v == nil {
				v, err = s.step.Step(e, b)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	t.values[i], t.stamps[i] = v, t.stamp
	return v, nil
}

// inPlace looks a name up without running code; nil when that does not find it.
func (s *treeSlot) inPlace(b vm.Object) vm.Object {
	var d *vm.Dict
	switch s.kind {
	case attrName:
		switch o := b.(type) {
		case *vm.Instance:
			d = o.Dict
		case *vm.Module:
			d = o.Dict
		}
	case itemName:
		d, _ = b.(*vm.Dict)
	}
	if d == nil {
		return nil
	}
	v, _ := d.GetStrAt(s.name, &s.at)
	return v
}

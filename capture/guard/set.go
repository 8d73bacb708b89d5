package guard

import (
	"weak"

	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// Set is the guards of compiled code. What several of them look at is read once, each value from the one that it belongs to. A Set
// is checked by one goroutine at a time; a check may run code of the program, which may check the same Set again.
type Set struct {
	guards []*Guard
	values map[string]vm.Object // what was guarded looks like, by the name of its source: see likeness

	// Filled by the first check.
	slots  []slot // a source's base comes before it
	checks []check

	// The values read in the check that runs; stamp tells them from those of earlier checks.
	read   []vm.Object
	stamps []uint64
	stamp  uint64
	busy   bool
	strict bool // every fact counts, wherever it was found
}

// slot is a source, read from the value of another slot.
type slot struct {
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

// check is a guard with the slots of what it looks at, and what the guard does with them.
//
// A tensor in a dict that nobody has changed since the guards last held may have begun or ceased to require gradients: PyTorch does not look at tensors of
// such dicts at all (skip_tensor_guards_with_matching_dict_tags), unless their keys are guarded in order. Other facts of them are checked all the same, as compiled code is made for them.
type check struct {
	slot   int // -1: the guard looks at nothing
	all    []int
	holds  Check
	relate func(vs []vm.Object) (ok bool, why Failure)
	guard  *Guard

	in   holder
	dict weak.Pointer[vm.Dict] // what a tensor was found in when all guards held last, and its version then
	ver  uint64
}

// holder says what kind of dict a tensor is found in.
type holder int

const (
	noDict   holder = iota
	globals         // of the frame
	ownDict         // the value of the base is a dict
	instance        // it is a module, which has a dict
)

// holderOf is the kind of dict that the value of a slot is found in.
func holderOf(n slot) holder {
	switch src := n.src.(type) {
	case source.Global:
		return globals
	case source.Item:
		return ownDict
	case source.Attr:
		if _, ok := src.Base.(source.Module); ok {
			return instance
		}
	}
	return noDict
}

// dictOf is the dict that a check's tensor is found in; nil if it is in none.
func (s *Set) dictOf(e *source.Env, c *check) (d *vm.Dict) {
	switch c.in {
	case globals:
		return e.Globals
	case ownDict:
		d, _ = s.read[s.slots[c.slot].base].(*vm.Dict)
	case instance:
		if i, ok := s.read[s.slots[c.slot].base].(*vm.Instance); ok {
			d = i.Dict
		}
	}
	return d
}

// untouched reports whether a check failed only by what is not looked at in a dict that is as it was.
func (s *Set) untouched(e *source.Env, c *check, why Failure) bool {
	return why.Cause == GradVaries && !s.strict && c.asItWas(s.dictOf(e, c))
}

// asItWas reports whether d is the dict that held the check's tensor last, unchanged.
func (c *check) asItWas(d *vm.Dict) bool {
	return d != nil && d.Version() == c.ver && c.dict.Value() == d
}

// held notes that all guards hold.
func (s *Set) held(e *source.Env) {
	for i := range s.checks {
		c := &s.checks[i]
		if c.in == noDict {
			continue
		}
		if d := s.dictOf(e, c); d != nil && !c.asItWas(d) {
			c.dict, c.ver = weak.Make(d), d.Version()
		}
	}
}

// NewSet makes a Set of guards that are checked in this order, and completes those that waited for the end of the trace. The draft
// is that of the trace; nil => there was none.
func NewSet(gs []*Guard, d *Draft) *Set {
	for _, g := range gs {
		if g.late != nil {
			g.late(g)
			g.late = nil
		}
	}
	s := &Set{guards: gs}
	if d != nil {
		s.values = make(map[string]vm.Object, len(d.values))
		for name, v := range d.values {
			s.values[name] = likeness(v)
		}
	}
	return s
}

var (
	someTensor = &torch.Tensor{}
	someList   = vm.NewList()
	someTuple  = vm.NewTuple()
	someDict   = vm.NewDict()
)

// likeness is what listings tell a guarded value by. The value itself is the program's, to drop when it likes.
func likeness(v vm.Object) vm.Object {
	switch v.(type) {
	case vm.Bool, *vm.NoneType, vm.Int, vm.Float, vm.Str:
		return v
	case *torch.Tensor:
		return someTensor
	}
	switch {
	case ListLen(v) >= 0:
		return someList
	case TupleLen(v) >= 0:
		return someTuple
	case DictLen(v) >= 0:
		return someDict
	}
	return vm.Ellipsis
}

// NeverHolds is a Set that always fails, and says why.
func NeverHolds(why string) *Set {
	return NewSet([]*Guard{New(GlobalState, why, nil, func(*source.Env, vm.Object) (bool, Failure) { return false, Failure{} })}, nil)
}

// Len is the number of guards.
func (s *Set) Len() int { return len(s.guards) }

// Shown are the guards that logs and records print.
func (s *Set) Shown() []*Guard {
	out := make([]*Guard, 0, len(s.guards))
	for _, g := range s.guards {
		if !g.Hidden {
			out = append(out, g)
		}
	}
	return out
}

// compile sorts out what is read from what.
func (s *Set) compile() {
	index := map[string]int{}
	ordered := map[string]bool{}
	for _, g := range s.guards {
		if g.isKey {
			ordered[g.Source.Name()] = true
		}
	}
	seen := map[string]bool{}
	s.checks = []check{}
	for _, g := range s.guards {
		if g.check == nil && g.relate == nil || seen[g.Kind.String()+" "+g.Expr] {
			continue
		}
		seen[g.Kind.String()+" "+g.Expr] = true
		c := check{guard: g, slot: -1, holds: g.check, relate: g.relate}
		if g.Source != nil {
			c.slot = s.slot(index, g.Source)
			if g.Kind == TensorMatch {
				if item, ok := g.Source.(source.Item); !ok || !ordered[item.Base.Name()] {
					c.in = holderOf(s.slots[c.slot])
				}
			}
		}
		for _, src := range g.among {
			c.all = append(c.all, s.slot(index, src))
		}
		s.checks = append(s.checks, c)
	}
	s.read, s.stamps = make([]vm.Object, len(s.slots)), make([]uint64, len(s.slots))
}

// slot is the number of the slot of a source; index has those that there are.
func (s *Set) slot(index map[string]int, src source.Source) int {
	for {
		n, ok := src.(source.Module) // says something about its base, and is it
		if !ok {
			break
		}
		src = n.Base
	}
	key := sourceKey(src)
	if i, ok := index[key]; ok {
		return i
	}
	n := slot{base: -1, src: src}
	if st, ok := src.(source.Step); ok {
		n.base, n.step = s.slot(index, st.From()), st
		switch a := src.(type) {
		case source.Attr:
			n.name, n.kind = a.Of, attrName
		case source.Item:
			if k, ok := a.Key.(vm.Str); ok {
				n.name, n.kind = string(k), itemName
			}
		}
	}
	s.slots = append(s.slots, n)
	index[key] = len(s.slots) - 1
	return len(s.slots) - 1
}

// sourceKey tells sources apart that print alike: a list and the built-in value inside of an instance.
func sourceKey(s source.Source) string {
	if _, ok := s.(source.Native); ok {
		return "native " + s.Name()
	}
	return s.Name()
}

// Check reports whether all guards hold; why says what failed first. A guard on what cannot be read any more fails.
func (s *Set) Check(e *source.Env) (ok bool, why Failure) {
	if s.checks == nil {
		s.compile()
	}
	if s.busy {
		return s.again(s.checks).Check(e)
	}
	s.busy = true
	defer func() {
		s.busy = false
		clear(s.read)
	}()
	s.stamp++
	var many []vm.Object
	for i := range s.checks {
		c := &s.checks[i]
		var v vm.Object
		if c.slot >= 0 {
			var err error
			if v, err = s.value(e, c.slot); err != nil {
				return false, c.guard.failure(Failure{})
			}
		}
		if c.relate != nil {
			many = many[:0]
			for _, at := range c.all {
				x, err := s.value(e, at)
				if err != nil {
					return false, c.guard.failure(Failure{})
				}
				many = append(many, x)
			}
			ok, why = c.relate(many)
		} else {
			ok, why = c.holds(e, v)
		}
		if !ok && !s.untouched(e, c, why) {
			return false, c.guard.failure(why)
		}
	}
	if !s.strict {
		s.held(e)
	}
	return true, Failure{}
}

// failure is why with what a check left open.
func (g *Guard) failure(why Failure) Failure {
	if why.Text == "" {
		why.Text, why.by = g.Expr, g
	}
	if why.Cause == 0 {
		why.Cause = g.Kind.row().cause
	}
	return why
}

// again is the set with some of its checks, and with values of its own: for a check inside a check.
func (s *Set) again(checks []check) *Set {
	fresh := *s
	fresh.busy, fresh.checks, fresh.strict = false, checks, true
	fresh.read, fresh.stamps = make([]vm.Object, len(s.slots)), make([]uint64, len(s.slots))
	return &fresh
}

// Failures says of each guard that does not hold what failed.
func (s *Set) Failures(e *source.Env) []Failure {
	if s.checks == nil {
		s.compile()
	}
	var out []Failure
	for i := range s.checks {
		if ok, why := s.again(s.checks[i : i+1]).Check(e); !ok {
			out = append(out, why)
		}
	}
	return out
}

// value is what the slot i holds in the check that runs.
func (s *Set) value(e *source.Env, i int) (vm.Object, error) {
	if s.stamps[i] == s.stamp {
		return s.read[i], nil
	}
	n := &s.slots[i]
	var v vm.Object
	var err error
	if n.base < 0 {
		v, err = n.src.Get(e)
	} else {
		var b vm.Object
		if b, err = s.value(e, n.base); err == nil {
			if v = n.inPlace(b); v == nil {
				v, err = n.step.Step(e, b)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	s.read[i], s.stamps[i] = v, s.stamp
	return v, nil
}

// inPlace looks a name up without running code; nil when that does not find it.
func (n *slot) inPlace(b vm.Object) vm.Object {
	var d *vm.Dict
	switch n.kind {
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
	v, _ := d.GetStrAt(n.name, &n.at)
	return v
}

package sre

import (
	"slices"

	"whittle/capture/python/vm"
)

// Match is re.Match.
type Match struct {
	vm.Identity
	p         *Pattern
	text      *text
	pos, end  int   // what was searched
	marks     []int // begin and end of the match itself and of each group
	lastIndex int
}

// Type implements vm.Object.
func (m *Match) Type() *vm.Type { return m.p.types.match }

func (p *Pattern) newMatch(s *span, e engine, start, end int) *Match {
	marks, last := e.captures()
	m := &Match{p: p, text: s.text, pos: s.pos, end: s.end, lastIndex: last, marks: make([]int, 0, 2+len(marks))}
	m.marks = append(append(m.marks, start, end), marks...)
	return m
}

// index gives the number of a group that is named by number or by name.
func (m *Match) index(in *vm.Interp, o vm.Object) (int, error) {
	i := int64(-1)
	if n, ok := vm.AsInt(o); ok {
		i = n
	} else if o.Type().Lookup("__index__") != nil {
		if n, err := in.Index(o); err == nil {
			i = n
		}
	} else if n, ok, err := m.p.groupIndex.Get(in, o); err == nil && ok {
		i, _ = vm.AsInt(n)
	}
	if i < 0 || i > int64(m.p.prog.groups) {
		return 0, in.Errorf(in.Exc.IndexError, "no such group")
	}
	return int(i), nil
}

// group is one group by number, otherwise if it has not matched.
func (m *Match) group(i int, otherwise vm.Object) vm.Object {
	return m.text.group(m.marks[2*i], m.marks[2*i+1], otherwise)
}

func (m *Match) getItem(in *vm.Interp, o vm.Object) (vm.Object, error) {
	i, err := m.index(in, o)
	if err != nil {
		return nil, err
	}
	return m.group(i, vm.None), nil
}

// groupMethod is Match.group.
func (m *Match) groupMethod(in *vm.Interp, names []vm.Object) (vm.Object, error) {
	switch len(names) {
	case 0:
		return m.group(0, vm.None), nil
	case 1:
		return m.getItem(in, names[0])
	}
	out := make([]vm.Object, len(names))
	for i, n := range names {
		var err error
		if out[i], err = m.getItem(in, n); err != nil {
			return nil, err
		}
	}
	return vm.NewTuple(out...), nil
}

// groupDict is Match.groupdict.
func (m *Match) groupDict(in *vm.Interp, otherwise vm.Object) (vm.Object, error) {
	d := vm.NewDict()
	var err error
	m.p.groupIndex.Each(func(k, v vm.Object) bool {
		i, _ := vm.AsInt(v)
		err = d.Set(in, k, m.group(int(i), otherwise))
		return err == nil
	})
	return d, err
}

// bounds gives where a group begins and ends; -1 for one that has not matched.
func (m *Match) bounds(in *vm.Interp, names []vm.Object) (from, to vm.Object, err error) {
	i := 0
	if len(names) > 0 {
		if i, err = m.index(in, names[0]); err != nil {
			return nil, nil, err
		}
	}
	a, b := m.marks[2*i], m.marks[2*i+1]
	if b < a {
		a, b = -1, -1
	}
	return vm.MakeInt(int64(a)), vm.MakeInt(int64(b)), nil
}

// regs is the tuple of the places of all groups.
func (m *Match) regs() vm.Object {
	var out []vm.Object
	for p := range slices.Chunk(m.marks, 2) {
		out = append(out, vm.NewTuple(vm.MakeInt(int64(p[0])), vm.MakeInt(int64(p[1]))))
	}
	return vm.NewTuple(out...)
}

// lastGroup is the name of the group that was closed last.
func (m *Match) lastGroup() vm.Object {
	if m.lastIndex > 0 && m.lastIndex < len(m.p.indexGroup) {
		return m.p.indexGroup[m.lastIndex]
	}
	return vm.None
}

func (m *Match) repr(in *vm.Interp) (vm.Object, error) {
	s, err := in.Repr(m.group(0, vm.None))
	if err != nil {
		return nil, err
	}
	if r := []rune(s); len(r) > 50 {
		s = string(r[:50])
	}
	at, err := in.Repr(vm.NewTuple(vm.MakeInt(int64(m.marks[0])), vm.MakeInt(int64(m.marks[1]))))
	return vm.Str("<re.Match object; span=" + at + ", match=" + s + ">"), err
}

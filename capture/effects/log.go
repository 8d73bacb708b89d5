package effects

import (
	"slices"

	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// Log is what one trace changed so far. An object is in it from when it is saved, whether or not it is written after that.
type Log struct {
	in      *vm.Interp
	saved   map[vm.Object]snapshot
	globals []Global // that the trace assigned
	order   []entry  // of saved and of globals, in order of first sight
	calls   []*Call
	attrs   map[attribute]*Call       // those of calls that assign attributes
	stores  map[*vm.Instance][]string // the attributes that the trace assigned, in order
}

// Forget lets go of all objects, when nothing is left to undo or to plan.
func (l *Log) Forget() { *l = *New(l.in) }

// snapshot is the content of an object before the trace touched it.
type snapshot struct {
	items      []vm.Object // as Contents gives them
	attributes bool        // they are those of an instance's own __dict__
}

// entry is a saved object, or, where that is nil, a global.
type entry struct {
	object vm.Object
	global int // index in Log.globals
}

// attribute names an attribute of an object.
type attribute struct {
	of   vm.Object
	name string
}

// Global is a global variable that the trace assigned.
type Global struct {
	Dict *vm.Dict
	Name string
	old  vm.Object // nil => there was none
}

// Call is a call that the trace put off: it is made when the graph has run.
type Call struct {
	Fn   vm.Object
	Args []vm.Object
	Kw   []vm.KwArg
	// Result stands in the trace for what the call gives; nil => nothing does.
	Result vm.Object
}

// New makes the log of a trace in an interpreter.
func New(in *vm.Interp) *Log { return &Log{in: in, saved: map[vm.Object]snapshot{}} }

// Saved reports whether o is in the log.
func (l *Log) Saved(o vm.Object) bool {
	_, ok := l.saved[o]
	return ok
}

// Save remembers what a list, a dict, a cell or an instance holds now, before its first write, and reports whether this is the first
// time; other objects are not kept. Of an instance that is its attributes: what it has as a list or a dict is an object of its own.
func (l *Log) Save(o vm.Object) (first bool) {
	s := snapshot{}
	switch c := o.(type) {
	case *vm.List, *vm.Dict, *vm.Cell, Sequence:
		s.items = Contents(o)
	case *vm.Instance:
		s.items, s.attributes = Contents(o), c.Dict != nil || len(c.Slots) > 0
	default:
		return false
	}
	return l.keep(o, s)
}

// SaveAttributes files the __dict__ of a saved instance, met as an object, with what the instance had.
func (l *Log) SaveAttributes(i *vm.Instance, dict vm.Object) {
	l.keep(dict, snapshot{items: attributes(i, l.saved[i].items)})
}

func (l *Log) keep(o vm.Object, s snapshot) (first bool) {
	if l.Saved(o) {
		return false
	}
	l.saved[o] = s
	l.order = append(l.order, entry{object: o})
	return true
}

// Before is what o held when it was saved, as Contents gives it; ok is false for objects that are not in the log.
func (l *Log) Before(o vm.Object) (items []vm.Object, ok bool) {
	s, ok := l.saved[o]
	return s.items, ok
}

// Held reports whether a container held v under key before the trace. A list or a dict has to be saved for that; a tuple never changes.
func (l *Log) Held(owner, key, v vm.Object) bool {
	if i, ok := owner.(*vm.Instance); ok {
		if n, ok := i.Native.(vm.Object); ok {
			owner = n
		}
	}
	at := func(items []vm.Object) bool {
		i, ok := vm.AsInt(key)
		if i < 0 {
			i += int64(len(items))
		}
		return ok && i >= 0 && i < int64(len(items)) && items[i] == v
	}
	switch o := owner.(type) {
	case *vm.Tuple:
		return at(o.Items)
	case *vm.List:
		return at(l.saved[o].items)
	case *vm.Dict:
		return l.under(l.saved[o].items, key, v)
	case Sequence:
		if s, saved := l.saved[o]; saved {
			return at(s.items)
		}
		return at(o.Items())
	}
	return false
}

// Attribute is an attribute that an object had of its own before the trace.
func (l *Log) Attribute(i *vm.Instance, name string) (v vm.Object, ok bool) {
	if before, saved := l.Before(i); saved {
		for k := 0; k+1 < len(before); k += 2 {
			if before[k] == vm.Object(vm.Str(name)) {
				return before[k+1], true
			}
		}
		return nil, false
	}
	if i.Dict == nil {
		return nil, false
	}
	return i.Dict.GetStr(name)
}

// HadAttr reports whether an attribute of an instance is v now as it was before the trace. What is not its own is its class's affair.
func (l *Log) HadAttr(i *vm.Instance, name string, v vm.Object) bool {
	s, saved := l.saved[i]
	if saved && member(i, vm.Str(name)) != nil {
		return l.under(s.items, vm.Str(name), v)
	}
	if i.Dict == nil {
		return true
	}
	if _, own := i.Dict.GetStr(name); !own || !saved {
		return true
	}
	return l.under(s.items, vm.Str(name), v)
}

// under reports whether a list of keys and values has v under key.
func (l *Log) under(items []vm.Object, key, v vm.Object) bool {
	for i := 0; i+1 < len(items); i += 2 {
		if items[i] == key || source.Identity(key) != nil && guard.Same(l.in, items[i], key) {
			return items[i+1] == v
		}
	}
	return false
}

// Lacked reports whether an object had no attribute of its own of a name before the trace.
func (l *Log) Lacked(o *vm.Instance, name string) bool {
	if s, ok := l.saved[o]; ok && s.attributes {
		for i := 0; i < len(s.items); i += 2 {
			if n, ok := vm.AsStr(s.items[i]); ok && n == name {
				return false
			}
		}
		return true
	}
	if o.Dict == nil {
		return true
	}
	_, has := o.Dict.GetStr(name)
	return !has
}

// Keys are the keys that a dict, or an instance of a subclass, had before the trace; ok is false for other objects, and unless all
// keys are constants or classes or, as fixed says, as good as such.
func (l *Log) Keys(o vm.Object, fixed func(key vm.Object) bool) (keys []vm.Object, ok bool) {
	d, isDict := vm.AsDict(o)
	if !isDict {
		return nil, false
	}
	items := Pairs(d)
	for _, x := range []vm.Object{o, d} {
		if s, saved := l.saved[x]; saved && !s.attributes {
			items = s.items
		}
	}
	for i := 0; i < len(items); i += 2 {
		if source.Identity(items[i]) != nil && !fixed(items[i]) {
			return nil, false
		}
		keys = append(keys, items[i])
	}
	return keys, true
}

// StoreGlobal remembers what a global is before the trace assigns it, the first time.
func (l *Log) StoreGlobal(globals *vm.Dict, name string) {
	if l.WroteGlobal(globals, name) {
		return
	}
	old, _ := globals.GetStr(name)
	l.order = append(l.order, entry{global: len(l.globals)})
	l.globals = append(l.globals, Global{globals, name, old})
}

// WroteGlobal reports whether the trace assigned a global.
func (l *Log) WroteGlobal(globals *vm.Dict, name string) bool {
	for _, g := range l.globals {
		if g.Dict == globals && g.Name == name {
			return true
		}
	}
	return false
}

// PutOff adds a call that is to be made when the graph has run.
func (l *Log) PutOff(c *Call) { l.calls = append(l.calls, c) }

// PutOffAttr puts an assignment to an attribute off: set, a setattr, does it when the graph has run. The last value counts.
func (l *Log) PutOffAttr(set, o vm.Object, name string, v vm.Object) {
	key := attribute{o, name}
	if c := l.attrs[key]; c != nil {
		c.Args[2] = v
		return
	}
	if l.attrs == nil {
		l.attrs = map[attribute]*Call{}
	}
	c := &Call{Fn: set, Args: []vm.Object{o, vm.Str(name), v}}
	l.attrs[key] = c
	l.PutOff(c)
}

// AttrPutOff is the value of an attribute that was assigned by PutOffAttr; nil for others.
func (l *Log) AttrPutOff(o vm.Object, name string) vm.Object {
	if c := l.attrs[attribute{o, name}]; c != nil {
		return c.Args[2]
	}
	return nil
}

// StoreAttr notes that the trace assigns an attribute of an object.
func (l *Log) StoreAttr(o vm.Object, name string) {
	if i, ok := o.(*vm.Instance); ok && !slices.Contains(l.stores[i], name) {
		if l.stores == nil {
			l.stores = map[*vm.Instance][]string{}
		}
		l.stores[i] = append(l.stores[i], name)
	}
}

// AsStored puts attributes of an instance, given as keys and values in turn, in the order in which the trace first assigned them; others go before them.
func (l *Log) AsStored(i *vm.Instance, items []vm.Object) []vm.Object {
	type pair struct{ key, value vm.Object }
	pairs := make([]pair, 0, len(items)/2)
	for k := 0; k+1 < len(items); k += 2 {
		pairs = append(pairs, pair{items[k], items[k+1]})
	}
	at := func(p pair) int {
		name, _ := vm.AsStr(p.key)
		return slices.Index(l.stores[i], name)
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return at(a) - at(b) })
	out := make([]vm.Object, 0, len(items))
	for _, p := range pairs {
		out = append(out, p.key, p.value)
	}
	return out
}

// Cancel takes back a call that was put off.
func (l *Log) Cancel(c *Call) {
	l.calls = slices.DeleteFunc(l.calls, func(x *Call) bool { return x == c })
}

// Calls are those that were put off, in order.
func (l *Log) Calls() []*Call { return l.calls }

// Change is an object that may hold something else than before, or a global that was assigned.
type Change struct {
	Object vm.Object   // nil for a global
	Before []vm.Object // of Object, as Contents gives it
	Global Global
}

// Changes lists the objects in the log and the assigned globals, in order of first sight. Objects that hold what they held are among
// them.
func (l *Log) Changes() []Change {
	out := make([]Change, len(l.order))
	for i, e := range l.order {
		if e.object == nil {
			out[i].Global = l.globals[e.global]
		} else {
			out[i] = Change{Object: e.object, Before: l.saved[e.object].items}
		}
	}
	return out
}

// Changed reports whether anything in the log is not as it was. A global counts even when it was assigned what it was.
func (l *Log) Changed() bool {
	for _, c := range l.Changes() {
		if c.Object == nil || !SameItems(Contents(c.Object), c.Before) {
			return true
		}
	}
	return false
}

// Accept runs f for good: what it changes in objects of the log counts as what was there before.
func (l *Log) Accept(f func() (vm.Object, error)) (vm.Object, error) {
	before := map[vm.Object][]vm.Object{}
	for o := range l.saved {
		before[o] = l.acceptable(o)
	}
	v, err := f()
	for o, old := range before {
		if now := l.acceptable(o); !SameItems(now, old) {
			s := l.saved[o]
			s.items = now
			l.saved[o] = s
		}
	}
	return v, err
}

// acceptable is Contents, but for instances without a __dict__ that are dicts.
func (l *Log) acceptable(o vm.Object) []vm.Object {
	if i, ok := o.(*vm.Instance); ok && i.Dict == nil && len(i.Slots) == 0 {
		if d, ok := vm.AsDict(i); ok {
			return Pairs(d)
		}
	}
	return Contents(o)
}

// Undo takes all writes of the trace back. The log stays as it is: it goes on saying what was there before.
func (l *Log) Undo() {
	for _, g := range l.globals {
		if g.old == nil {
			g.Dict.DelStr(g.Name)
		} else {
			g.Dict.SetStr(g.Name, g.old)
		}
	}
	for o, s := range l.saved {
		Replace(l.in, o, s.items)
	}
}

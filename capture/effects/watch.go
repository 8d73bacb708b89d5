package effects

import "whittle/capture/python/vm"

// A Watch finds what is written from its beginning on, in the objects of a log and in those that can be reached from some roots.
type Watch struct {
	log     *Log
	before  map[vm.Object][]vm.Object
	globals []vm.Object // the values of Log.globals
}

// Watch begins to look for writes.
func (l *Log) Watch(roots ...vm.Object) *Watch {
	w := &Watch{log: l, before: map[vm.Object][]vm.Object{}}
	for o := range l.saved {
		w.before[o] = Contents(o)
	}
	for _, g := range l.globals {
		v, _ := g.Dict.GetStr(g.Name)
		w.globals = append(w.globals, v)
	}
	seen := map[vm.Object]bool{}
	for _, o := range roots {
		w.reach(o, seen)
	}
	return w
}

// reach notes what the containers, cells and plain objects behind o hold.
func (w *Watch) reach(o vm.Object, seen map[vm.Object]bool) {
	switch v := o.(type) {
	case *vm.Tuple:
		for _, x := range v.Items {
			w.reach(x, seen)
		}
	case *vm.Function:
		for _, c := range v.Closure {
			w.reach(c, seen)
		}
		for _, d := range v.Defaults {
			w.reach(d, seen)
		}
	case *vm.BoundMethod:
		w.reach(v.Func, seen)
		w.reach(v.Self, seen)
	case *vm.List, *vm.Dict, *vm.Cell, *vm.Instance, Sequence:
		if seen[o] {
			return
		}
		seen[o] = true
		w.before[o] = Contents(o)
		for _, x := range w.before[o] {
			if x != nil {
				w.reach(x, seen)
			}
		}
	}
}

// Changed reports whether anything was written since.
func (w *Watch) Changed() bool {
	for o, old := range w.before {
		if !SameItems(Contents(o), old) {
			return true
		}
	}
	for o, s := range w.log.saved {
		if _, cell := o.(*vm.Cell); cell {
			continue // of a call that began since
		}
		if _, known := w.before[o]; !known && !SameItems(Contents(o), s.items) {
			return true
		}
	}
	for i, g := range w.log.globals {
		v, _ := g.Dict.GetStr(g.Name)
		if i >= len(w.globals) || v != w.globals[i] {
			return true
		}
	}
	return false
}

package vm

import (
	"maps"
	"runtime"
	"slices"
)

// A circle of objects that somebody waits for the end of is not given back by Go: who has a finalizer, and refers to itself, stays. A program that asks for a
// collection expects the __del__ of such objects to be called.
//
// Only Go knows all that refers to an object; what the interpreter can follow (Referents) ends where something is written in Go. So Go is asked: each object of
// the circle is copied, the copies refer to each other as the objects do, the objects' finalizers are taken away, and Go collects. If an object is gone then,
// nothing but the circle referred to it, and its copy is what __del__ is called with: nobody can tell it from the object, whose identity it has. What is still
// there was not garbage, whoever holds it, and gets its finalizer again.

// farthest is how many objects are followed from those that may be in a circle.
const farthest = 1 << 17

// aCopy is one object of a circle.
type aCopy struct {
	weakly func() Object // the object, nil once it is gone
	as     Object
}

// circles has copies made of the circles in which objects with a __del__ are, and these objects' finalizers taken away, for Go to collect; the function that it
// returns is to be called after that: it calls the __del__ of those that are gone, and says how many these are. It is nil where there are no such objects.
func (in *Interp) circles() func() int {
	waiting := slices.DeleteFunc(slices.Clone(in.watches), func(w *watch) bool { return !w.del || w.void || w.gone() })
	if len(waiting) == 0 {
		return nil
	}
	suspects := map[Object]*watch{}
	for _, w := range waiting {
		if o := w.object(); o != nil {
			suspects[o] = w
		}
	}
	in.dropReached(suspects)
	if len(suspects) == 0 {
		return nil
	}
	members := circleOf(suspects)
	if len(members) == 0 {
		return nil
	}
	copies, ws := make([]aCopy, 0, len(members)), []*watch{}
	taken := map[*watch]bool{}
	for o, c := range members {
		copies = append(copies, aCopy{weaklyOf(o), c})
		if w := suspects[o]; w != nil {
			runtime.SetFinalizer(o, nil)
			ws, taken[w] = append(ws, w), true
		}
	}
	as := standing(members)
	for o, c := range members {
		fill(c, o, as)
	}
	in.watches = slices.DeleteFunc(in.watches, func(w *watch) bool { return taken[w] })
	for o, w := range suspects {
		w.as = members[o]
	}
	slices.SortFunc(ws, func(a, b *watch) int { return a.seq - b.seq })
	return func() int { return in.endCircles(copies, ws) }
}

// dropReached removes the objects that can be reached from the modules and the frames that run.
func (in *Interp) dropReached(suspects map[Object]*watch) {
	seen := map[Object]bool{}
	var todo []Object
	add := func(o Object) {
		if followed(o) && !seen[o] {
			seen[o] = true
			todo = append(todo, o)
			delete(suspects, o)
		}
	}
	add(in.Modules)
	if in.frame != nil {
		add(in.frame)
	}
	for _, t := range in.running {
		if f := t.stack.frame; f != nil {
			add(f)
		}
	}
	if in.exc != nil {
		add(in.exc)
	}
	for len(todo) > 0 && len(suspects) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		Referents(o, add)
	}
}

// followed reports whether an object may refer to others that the interpreter can follow.
func followed(o Object) bool {
	switch o.(type) {
	case *Tuple, *List, *Set, *FrozenSet, *Dict, *MappingProxy, *Instance, *Exception, *Traceback, *Frame, *Generator, *Function, *Cell, *BoundMethod,
		*Builtin, *Property, *ClassMethod, *StaticMethod, *Module, *Type, *GenericAlias, *Super:
		return true
	}
	return false
}

// circleOf gives the objects of the circles that suspects are in, and those from which these can be reached, with an empty copy for each. Nothing that cannot be
// copied is among them.
func circleOf(suspects map[Object]*watch) map[Object]Object {
	from, to := map[Object][]Object{}, map[Object][]Object{} // what refers to an object, and what it refers to
	var all []Object
	visit := func(o Object) {
		if _, ok := from[o]; !ok {
			from[o] = nil
			all = append(all, o)
		}
	}
	for o := range suspects {
		visit(o)
	}
	for i := 0; i < len(all); i++ {
		if len(all) > farthest {
			return nil
		}
		Referents(all[i], func(o Object) {
			if followed(o) {
				visit(o)
				from[o], to[all[i]] = append(from[o], all[i]), append(to[all[i]], o)
			}
		})
	}
	members := map[Object]Object{}
	var todo []Object
	add := func(o Object) {
		if _, ok := members[o]; !ok {
			members[o] = emptyCopy(o)
			todo = append(todo, o)
		}
	}
	for o := range circling(all, from, to) {
		if suspects[o] != nil {
			add(o)
		}
	}
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, x := range from[o] {
			add(x)
		}
	}
	maps.DeleteFunc(members, func(_, c Object) bool { return c == nil })
	return members
}

// circling are the objects of all that lie in circles, or between two of them: what is left when those go to which nothing refers, and those that refer to
// nothing, until there are none.
func circling(all []Object, from, to map[Object][]Object) map[Object]bool {
	left := make(map[Object]bool, len(all))
	ins, outs := make(map[Object]int, len(all)), make(map[Object]int, len(all))
	var ends []Object
	for _, o := range all {
		left[o], ins[o], outs[o] = true, len(from[o]), len(to[o])
		if ins[o] == 0 || outs[o] == 0 {
			ends = append(ends, o)
		}
	}
	for len(ends) > 0 {
		o := ends[len(ends)-1]
		ends = ends[:len(ends)-1]
		if !left[o] {
			continue
		}
		delete(left, o)
		for _, x := range to[o] {
			if ins[x]--; ins[x] == 0 {
				ends = append(ends, x)
			}
		}
		for _, x := range from[o] {
			if outs[x]--; outs[x] == 0 {
				ends = append(ends, x)
			}
		}
	}
	return left
}

// emptyCopy makes what is to be a copy of an object; nil for one that cannot be copied.
func emptyCopy(o Object) Object {
	switch x := o.(type) {
	case *Instance:
		switch x.Native.(type) {
		case nil, Int, *BigInt, Float, Complex, Str, Bytes, *List, *Dict, *Tuple:
			return &Instance{}
		}
	case *Dict:
		return &Dict{}
	case *List:
		return &List{}
	case *Tuple:
		return &Tuple{}
	case *Set:
		return &Set{}
	case *Cell:
		return &Cell{}
	case *Function:
		if x.Native == nil && x.Override == nil {
			return &Function{}
		}
	case *BoundMethod:
		return &BoundMethod{}
	}
	return nil
}

// fill makes c, an empty copy, a copy of o. as gives what is to stand for an object.
func fill(c, o Object, as func(o Object) Object) {
	list := func(os []Object) []Object {
		os = slices.Clone(os)
		for i, o := range os {
			os[i] = as(o)
		}
		return os
	}
	dict := func(d *Dict) *Dict {
		if d == nil {
			return nil
		}
		return as(d).(*Dict)
	}
	entries := func(t []dictEntry) []dictEntry {
		t = slices.Clone(t)
		for i, e := range t {
			t[i].key, t[i].val = as(e.key), as(e.val)
		}
		return t
	}
	switch o := o.(type) {
	case *Instance:
		c := c.(*Instance)
		*c = *o
		c.id &^= notNumber
		c.Dict, c.Slots = dict(o.Dict), list(o.Slots)
		switch n := o.Native.(type) {
		case *List:
			c.Native = &List{list(n.Items)}
		case *Tuple:
			c.Native = &Tuple{list(n.Items)}
		case *Dict:
			d := &Dict{}
			fill(d, n, as)
			c.Native = d
		}
	case *Dict:
		c := c.(*Dict)
		*c = *o
		c.entries, c.index = entries(o.entries), slices.Clone(o.index)
	case *Set:
		c := c.(*Set)
		*c = *o
		c.table = entries(o.table)
	case *List:
		c.(*List).Items = list(o.Items)
	case *Tuple:
		c.(*Tuple).Items = list(o.Items)
	case *Cell:
		c.(*Cell).V = as(o.V)
	case *BoundMethod:
		c := c.(*BoundMethod)
		c.Func, c.Self = as(o.Func), as(o.Self)
	case *Function:
		c := c.(*Function)
		*c = *o
		c.Defaults, c.KwDefaults, c.Dict, c.Closure = list(o.Defaults), dict(o.KwDefaults), dict(o.Dict), slices.Clone(o.Closure)
		for i, x := range c.Closure {
			c.Closure[i] = as(x).(*Cell)
		}
		c.Doc, c.Annots = as(o.Doc), as(o.Annots)
	}
}

// standing gives what stands for an object: what the table has for it, else itself.
func standing(table map[Object]Object) func(o Object) Object {
	return func(o Object) Object {
		if o != nil && followed(o) {
			if c := table[o]; c != nil {
				return c
			}
		}
		return o
	}
}

// weaklyOf gives an object as long as it is there, for one that emptyCopy knows.
func weaklyOf(o Object) func() Object {
	switch x := o.(type) {
	case *Instance:
		return Weakly(x)
	case *Dict:
		return Weakly(x)
	case *List:
		return Weakly(x)
	case *Tuple:
		return Weakly(x)
	case *Set:
		return Weakly(x)
	case *Cell:
		return Weakly(x)
	case *Function:
		return Weakly(x)
	case *BoundMethod:
		return Weakly(x)
	}
	return func() Object { return nil }
}

// endCircles is called after the collection.
func (in *Interp) endCircles(copies []aCopy, ws []*watch) int {
	stayed := map[Object]Object{} // the objects that were not garbage, by their copies
	for _, c := range copies {
		if o := c.weakly(); o != nil {
			stayed[c.as] = o
		}
	}
	if len(stayed) > 0 {
		object := standing(stayed)
		for _, c := range copies {
			if stayed[c.as] == nil {
				fill(c.as, c.as, object)
			}
		}
	}
	dead := 0
	var gone []*Instance
	for _, w := range ws {
		if o := w.object(); o != nil {
			w.arm(o)
			w.as = nil
			in.watches = append(in.watches, w)
			continue
		}
		dead++
		gone = append(gone, w.as.(*Instance))
	}
	for _, o := range gone {
		exc := in.exc
		in.del(o)
		in.exc = exc
	}
	return dead
}

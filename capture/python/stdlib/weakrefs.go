package stdlib

import (
	"cmp"
	"slices"
	"weak"

	"whittle/capture/python/vm"
)

// referent is what a weak reference refers to. Between collections it holds its object, so that programs behave alike whenever Go frees
// memory. gc.collect lets all of them go, has Go collect, and takes back what is still there: what is not is dead.
type referent struct {
	object vm.Object        // nil while a collection decides, and once it is dead
	again  func() vm.Object // the object, or nil if it is gone; nil for kinds of objects that stay
	hash   uint64           // that a reference keeps after its object's death
	hashed bool
}

// Type implements vm.Object: a referent lies in a slot of its reference.
func (*referent) Type() *vm.Type { return vm.ObjectType }

// weakRefs are the references of an interpreter, by the numbers of their objects, oldest first.
type weakRefs struct {
	byObject map[int64][]weak.Pointer[vm.Instance]
	calls    []*vm.Instance // that have a function to call, as their objects are gone
}

type weakRefsKey struct{}

func weakRefsOf(in *vm.Interp) *weakRefs {
	w, ok := in.Ext[weakRefsKey{}].(*weakRefs)
	if !ok {
		w = &weakRefs{byObject: map[int64][]weak.Pointer[vm.Instance]{}}
		in.Ext[weakRefsKey{}] = w
		in.Heard = func() bool { return w.heard(in) }
		in.AroundCollect(w.loosen, func() (dead, left int) { dead = w.regain(in); return dead, len(w.byObject) })
	}
	return w
}

// refer makes r, a reference or a proxy, one to o.
func (w *weakRefs) refer(in *vm.Interp, r *vm.Instance, o, callback vm.Object) *vm.Instance {
	t := &referent{object: o}
	switch x := o.(type) {
	case *vm.Instance:
		t.again = vm.Weakly(x)
	case *vm.Function:
		t.again = vm.Weakly(x)
	case *vm.BoundMethod:
		t.again = vm.Weakly(x)
	case *vm.Set:
		t.again = vm.Weakly(x)
	case *vm.FrozenSet:
		t.again = vm.Weakly(x)
	case *vm.Generator:
		t.again = vm.Weakly(x)
	case *vm.Coroutine:
		t.again = vm.Weakly(x)
	case *vm.Module:
		t.again = vm.Weakly(x)
	case *vm.Type:
		t.again = vm.Weakly(x)
	case *vm.Code:
		t.again = vm.Weakly(x)
	case *vm.MemoryView:
		t.again = vm.Weakly(x)
	case vm.Mortal:
		t.again = x.Weakly()
	}
	r.Slots[refObject] = t
	if callback != vm.None {
		r.Slots[refCallback] = callback
	}
	in.ID(r) // references are told in the order in which they were made
	id := in.ID(o)
	if len(w.byObject[id]) == 0 && t.again != nil {
		in.Await(o)
	}
	w.byObject[id] = append(w.byObject[id], weak.Make(r))
	return r
}

// to are the references to an object, oldest first.
func (w *weakRefs) to(in *vm.Interp, o vm.Object) (out []vm.Object) {
	for _, p := range w.byObject[in.ID(o)] {
		if r := p.Value(); r != nil && r.Slots[refObject].(*referent).object == o {
			out = append(out, r)
		}
	}
	return out
}

// heard reports whether a reference calls what is not the library's: its own functions take dead objects out of its containers.
func (w *weakRefs) heard(in *vm.Interp) bool {
	own := map[string]bool{}
	for _, refs := range w.byObject {
		for _, p := range refs {
			r := p.Value()
			if r == nil || r.Slots[refCallback] == nil {
				continue
			}
			f, ok := r.Slots[refCallback].(*vm.Function)
			if !ok {
				return true
			}
			file := f.Code.Filename
			is, known := own[file]
			if !known {
				is = in.EmbeddedFile(file)
				own[file] = is
			}
			if !is {
				return true
			}
		}
	}
	return false
}

// loosen lets go of the objects of all references, and forgets the references that are gone themselves.
func (w *weakRefs) loosen() {
	for id, refs := range w.byObject {
		refs = slices.DeleteFunc(refs, func(p weak.Pointer[vm.Instance]) bool {
			r := p.Value()
			if r == nil {
				return true
			}
			if t := r.Slots[refObject].(*referent); t.again != nil {
				t.object = nil
			}
			return false
		})
		if len(refs) == 0 {
			delete(w.byObject, id)
		} else {
			w.byObject[id] = refs
		}
	}
}

// regain takes back the objects that are still there, counts the others, and calls what their references were told to call.
func (w *weakRefs) regain(in *vm.Interp) (dead int) {
	for id, refs := range w.byObject {
		gone := false
		for _, p := range refs {
			r := p.Value()
			if r == nil {
				continue
			}
			t := r.Slots[refObject].(*referent)
			if t.again == nil {
				continue
			}
			if t.object = t.again(); t.object == nil {
				gone, t.again = true, nil
				if r.Slots[refCallback] != nil {
					w.calls = append(w.calls, r)
				}
			}
		}
		if gone {
			dead++
			delete(w.byObject, id)
		}
	}
	slices.SortFunc(w.calls, func(a, b *vm.Instance) int { return cmp.Compare(in.ID(b), in.ID(a)) })
	calls := w.calls
	w.calls = nil
	for _, r := range calls {
		f := r.Slots[refCallback]
		r.Slots[refCallback] = nil
		if _, err := in.Call(f, []vm.Object{r}, nil); err != nil {
			in.Unraisable(err, "", f)
		}
	}
	return dead
}

// unraisable gives an error that nobody waits for to sys.unraisablehook. A place is named in the message.
func unraisable(in *vm.Interp, err error, place string, about vm.Object) {
	r, ok := err.(*vm.Raised)
	if !ok {
		return
	}
	sys, err := in.Import("sys")
	if err != nil {
		return
	}
	t, err := in.GetAttr(sys, "UnraisableHookArgs")
	if err != nil {
		return
	}
	var tb vm.Object = vm.None
	if r.Exc.Traceback != nil {
		tb = r.Exc.Traceback
	}
	var msg vm.Object = vm.None
	if place != "" {
		msg = vm.Str("Exception ignored " + place)
	}
	args, err := in.Call(t, []vm.Object{vm.NewTuple(r.Exc.Class, r.Exc, tb, msg, about)}, nil)
	if err == nil {
		_, _ = in.CallMethod(sys, "unraisablehook", args) // it is the last to be told
	}
}

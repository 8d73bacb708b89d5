package vm

import "slices"

// What may change about a class after it was made, and about the class of an object.

// sameLayout reports whether instances of two classes look alike: what is left of both when the classes that add nothing are taken away is
// the same, or adds the same to the same class.
func sameLayout(a, b *Type) bool {
	a, b = a.adding(), b.adding()
	return a == b || a.Heap && b.Heap && !a.layout && !b.layout && a.HasDict == b.HasDict && a.HasWeak == b.HasWeak && a.extends() == b.extends() && slices.Equal(a.slotNames, b.slotNames)
}

// extends is the class whose instances those of t extend, nil for object: __base__.
func (t *Type) extends() *Type {
	if t.base == nil && len(t.Bases) > 0 {
		return t.Bases[0]
	}
	return t.base
}

// adding is the nearest class from t on down that adds something to the instances of the one that it extends.
func (t *Type) adding() *Type {
	for t.Heap && !t.layout {
		b := t.extends()
		if b == nil || len(t.slotNames) > 0 || t.HasDict != b.HasDict || t.HasWeak != b.HasWeak {
			break
		}
		t = b
	}
	return t
}

// Reclassed is an object of Go's that may be given another class.
type Reclassed interface {
	// SetType makes c the object's class; false where it cannot be.
	SetType(c *Type) bool
}

// setClass is obj.__class__ = c.
func setClass(in *Interp, self, v Object) error {
	c, ok := v.(*Type)
	if !ok {
		return in.Errorf(in.Exc.TypeError, "__class__ must be set to a class, not '%s' object", TypeName(v))
	}
	old := self.Type()
	if m, ok := self.(*Module); ok && c.IsSubtype(ModuleType) {
		m.class = c
		return nil
	}
	if r, ok := self.(Reclassed); ok && r.SetType(c) {
		return nil
	}
	if !old.Heap || !c.Heap || old.fixed || c.fixed {
		return in.Errorf(in.Exc.TypeError, "__class__ assignment only supported for mutable types or ModuleType subclasses")
	}
	if !sameLayout(old, c) {
		return in.Errorf(in.Exc.TypeError, "__class__ assignment: '%s' object layout differs from '%s'", c.errName(), old.errName())
	}
	switch x := self.(type) {
	case *Instance:
		x.Class = c
	case *Exception:
		x.Class = c
	case *Type:
		x.Meta = c
		x.modified()
	default:
		return in.Errorf(in.Exc.TypeError, "__class__ assignment only supported for mutable types or ModuleType subclasses")
	}
	return nil
}

// setBases is cls.__bases__ = bases: the classes that derive from cls get new orders of resolution, too. If one has none, nothing changes.
func (t *Type) setBases(in *Interp, v Object) error {
	if !t.Heap || t.fixed {
		return in.Errorf(in.Exc.TypeError, "cannot set '__bases__' attribute of immutable type '%s'", t.errName())
	}
	tuple, ok := v.(*Tuple)
	if !ok {
		return in.Errorf(in.Exc.TypeError, "can only assign tuple to %s.__bases__, not %s", t.Name, TypeName(v))
	}
	if len(tuple.Items) == 0 {
		return in.Errorf(in.Exc.TypeError, "can only assign non-empty tuple to %s.__bases__, not ()", t.Name)
	}
	var bases []*Type
	for _, o := range tuple.Items {
		b, ok := o.(*Type)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "%s.__bases__ must be tuple of classes, not '%s'", t.Name, TypeName(o))
		}
		if b.IsSubtype(t) {
			return in.Errorf(in.Exc.TypeError, "a __bases__ item causes an inheritance cycle")
		}
		if b.Final {
			return in.Errorf(in.Exc.TypeError, "type '%s' is not an acceptable base type", b.FullName())
		}
		bases = append(bases, b)
	}
	best, err := layoutBase(in, bases)
	if err != nil {
		return err
	}
	if was := t.extends(); !sameLayout(best, was) {
		return in.Errorf(in.Exc.TypeError, "__bases__ assignment: '%s' object layout differs from '%s'", best.errName(), was.errName())
	}
	old := t.Bases
	t.Bases = bases
	undo, err := t.resolve(in)
	if err != nil {
		t.Bases = old
		for _, f := range undo {
			f()
		}
		return err
	}
	if !slices.Equal(t.Bases, bases) { // an mro() has set others meanwhile
		return nil
	}
	for _, b := range bases {
		if b.below(t) {
			t.Bases = old
			for _, f := range undo {
				f()
			}
			return in.Errorf(in.Exc.TypeError, "a __bases__ item causes an inheritance cycle")
		}
	}
	for _, b := range old {
		in.disown(b, t)
	}
	for _, b := range bases {
		in.adopt(b, t)
	}
	t.New, t.base = best.New, best
	t.modified()
	return nil
}

// below reports whether a class derives from top by its bases, whatever its MRO says.
func (t *Type) below(top *Type) bool {
	return t == top || slices.ContainsFunc(t.Bases, func(b *Type) bool { return b.below(top) })
}

// resolve works out the MRO of a class again, and of all that derive from it. undo puts back what has changed.
func (t *Type) resolve(in *Interp) (undo []func(), err error) {
	mro, err := t.order(in)
	if err != nil {
		return nil, err
	}
	was := t.MRO
	t.MRO = mro
	undo = append(undo, func() { t.MRO = was; t.modified() })
	for _, s := range in.subclassesOf(t) {
		u, err := s.resolve(in)
		undo = append(undo, u...)
		if err != nil {
			return undo, err
		}
	}
	return undo, nil
}

// order is the MRO of a class: what the metaclass's own mro() gives, if there is one, else C3.
func (t *Type) order(in *Interp) ([]*Type, error) {
	f := t.Type().Lookup("mro")
	if f == nil || f == TypeType.Lookup("mro") {
		return t.linearize(in, t.Bases)
	}
	v, err := in.callSpecial(f, t)
	if err != nil {
		return nil, err
	}
	items, err := in.IterAll(v)
	if err != nil {
		return nil, err
	}
	var out []*Type
	for _, o := range items {
		b, ok := o.(*Type)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "mro() returned a non-class ('%s')", TypeName(o))
		}
		if !t.extends().solid().IsSubtype(b.solid()) && b != t {
			return nil, in.Errorf(in.Exc.TypeError, "mro() returned base with unsuitable layout ('%s')", b.Name)
		}
		out = append(out, b)
	}
	if len(out) == 0 {
		return nil, in.Errorf(in.Exc.TypeError, "type MRO must not be empty")
	}
	return out, nil
}

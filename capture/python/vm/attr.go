package vm

import (
	"errors"
	"strings"
)

var objectClass, objectGetattribute, objectSetattr, objectDelattr, typeSetattr, typeDelattr, objectInit, objectNewB Object

// GetAttr is obj.name.
func (in *Interp) GetAttr(o Object, name string) (Object, error) {
	v, err := in.lookupAttr(o, name)
	if err != nil {
		var r *Raised
		if errors.As(err, &r) && r.Exc.Class.IsSubtype(in.Exc.AttributeError) && r.Exc.Field("name") == None && r.Exc.Field("obj") == None {
			r.Exc.SetField("name", Str(name)) // for the suggestion of another name
			r.Exc.SetField("obj", o)
		}
		return nil, err
	}
	if v == nil {
		return nil, in.noAttr(o, name)
	}
	return v, nil
}

// GetAttrOpt is obj.name, or nil where there is no such attribute.
func (in *Interp) GetAttrOpt(o Object, name string) (Object, error) {
	v, err := in.lookupAttr(o, name)
	if err != nil && in.Matches(err, in.Exc.AttributeError) {
		return nil, nil
	}
	return v, err
}

// noAttr is the AttributeError for an attribute that o does not have. Classes and modules name themselves in it; of anything else it is the
// class that is named.
func (r *Raising) noAttr(o Object, name string) error {
	switch x := o.(type) {
	case *Type:
		return r.attrError(o, name, "type object '%s' has no attribute '%s'", x.Name, name)
	case *Module:
		n := x.Name
		if v, ok := x.Dict.GetStr("__name__"); ok {
			if s, ok := v.(Str); ok {
				n = string(s)
			}
		}
		return r.attrError(o, name, "module '%s' has no attribute '%s'", n, name)
	}
	return r.attrError(o, name, "'%s' object has no attribute '%s'", o.Type().errName(), name)
}

// lookupAttr finds an attribute, nil if there is none. A user's __getattribute__ and __getattr__ are run: the second where the first, or the
// ordinary lookup, finds nothing or raises AttributeError.
func (in *Interp) lookupAttr(o Object, name string) (Object, error) {
	t := o.Type()
	h := t.hooks()
	if h.getattribute != nil {
		v, err := in.callSpecial(h.getattribute, o, Str(name))
		if err == nil || h.getattr == nil || !in.Matches(err, in.Exc.AttributeError) {
			return v, err
		}
		return in.callSpecial(h.getattr, o, Str(name))
	}
	v, err := in.genericGetAttr(o, t, name)
	if h.getattr == nil {
		return v, err
	}
	if v != nil {
		return v, nil
	}
	if err != nil && !in.Matches(err, in.Exc.AttributeError) {
		return nil, err
	}
	return in.callSpecial(h.getattr, o, Str(name))
}

// isData reports whether a class attribute goes before an object's own when it is read: a descriptor that takes values, and gives them.
func isData(d Object) bool {
	switch x := d.(type) {
	case *Property, *GetSet, *Member:
		return true
	case *Instance:
		return (x.Class.Lookup("__set__") != nil || x.Class.Lookup("__delete__") != nil) && x.Class.Lookup("__get__") != nil
	}
	return false
}

// bindDescr applies the descriptor protocol to d, an attribute that was found in class t for the object obj: it gives what obj.name is. What
// is no descriptor is itself. The built-in descriptors are known by their Go types; an instance of a class asks its class for __get__.
func (in *Interp) bindDescr(d, obj Object, t *Type) (Object, error) {
	switch x := d.(type) {
	case *Function:
		return &BoundMethod{x, obj}, nil
	case *Builtin:
		if x.Method {
			return &BoundMethod{x, obj}, nil
		}
		return x, nil
	case *Property:
		if x.Get == nil {
			return nil, x.lacks(in, t, "getter")
		}
		return in.Call(x.Get, []Object{obj}, nil)
	case *GetSet:
		return x.Get(in, obj)
	case *Member:
		slots := slotsOf(obj)
		if slots == nil || !t.IsSubtype(x.Own) {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", x.Name, x.Own.errName(), t.errName())
		}
		if x.Index >= len(*slots) || (*slots)[x.Index] == nil {
			return nil, in.attrError(obj, x.Name, "'%s' object has no attribute '%s'", t.errName(), x.Name)
		}
		return (*slots)[x.Index], nil
	case *ClassMethod:
		return x.bind(in, t)
	case *StaticMethod:
		return x.Func, nil
	case *Instance:
		if get := x.Class.Lookup("__get__"); get != nil {
			return in.callSpecial(get, x, obj, t)
		}
	case *Super:
		return x.of(in, obj)
	case *Code, *Type, *Module, Int, Str:
	}
	return d, nil
}

// bind is what a class method is when it is looked up on class t or on an instance of t: what it holds, bound to the class. A descriptor
// inside, as 3.9 to 3.12 allow it, is looked up on the class; what is none is called with the class as its first argument.
func (c *ClassMethod) bind(in *Interp, t *Type) (Object, error) {
	switch f := c.Func.(type) {
	case *Function, *Builtin, *BoundMethod:
		return &BoundMethod{f, t}, nil
	case *Type:
		return &BoundMethod{f, t}, nil
	}
	v, err := in.bindDescr(c.Func, t, t)
	if err == nil && v == c.Func {
		v = &BoundMethod{c.Func, t}
	}
	return v, err
}

// genericGetAttr is object.__getattribute__, and what type, module and super have in its place; nil, nil says that there is no such
// attribute. The order decides: a data descriptor of the class, then the object's own dict, then whatever else the class has, bound to the
// object.
//
// An Attributer of an embedder answers before all of this, and an alias such as list[int] hands on to its origin what is not its own.
func (in *Interp) genericGetAttr(o Object, t *Type, name string) (Object, error) {
	switch x := o.(type) {
	case *Type:
		return x.getAttr(in, name)
	case *Module:
		return x.getAttr(in, name)
	case *Super:
		return x.getAttr(in, name)
	case Attributer:
		v, found, err := x.GetAttribute(in, name)
		if found || err != nil {
			return v, err
		}
	case *GenericAlias:
		if !aliasOwn[name] {
			return in.lookupAttr(x.Origin, name)
		}
	}
	d := t.Lookup(name)
	if d != nil && isData(d) {
		return in.bindDescr(d, o, t)
	}
	if hd, ok := o.(HasDict); ok {
		if dict := hd.AttrDict(false); dict != nil {
			if v, ok := dict.GetStr(name); ok {
				return v, nil
			}
		}
	}
	if d != nil {
		return in.bindDescr(d, o, t)
	}
	if name == "__dict__" {
		if hd, ok := o.(HasDict); ok {
			if dict := hd.AttrDict(true); dict != nil {
				return dict, nil
			}
		}
	}
	return nil, nil
}

// getAttr looks in the module's namespace first, then asks GetAttrHook, by which Go code supplies attributes late, then the module's class,
// and the module's own __getattr__ (PEP 562) last.
func (m *Module) getAttr(in *Interp, name string) (Object, error) {
	if m.class != nil {
		if d := m.class.Lookup(name); d != nil && isData(d) {
			return in.bindDescr(d, m, m.class)
		}
	}
	if v, ok := m.Dict.GetStr(name); ok {
		return v, nil
	}
	if name == "__dict__" {
		return m.Dict, nil
	}
	if in.SpecHook != nil && (name == "__spec__" || name == "__loader__") {
		if v, ok, err := in.SpecHook(in, m, name); ok || err != nil {
			return v, err
		}
	}
	if m.GetAttrHook != nil {
		v, ok, err := m.GetAttrHook(in, name)
		if ok || err != nil {
			return v, err
		}
	}
	if d := m.Type().Lookup(name); d != nil {
		return in.bindDescr(d, m, m.Type())
	}
	if g, ok := m.Dict.GetStr("__getattr__"); ok {
		return in.Call(g, []Object{Str(name)}, nil)
	}
	return nil, nil
}

// getAttr looks a name up on a class: a data descriptor of the metaclass goes first, then the class and its bases, then whatever else the
// metaclass has. What the class has is bound as for no instance: a function stays itself, a class method gets t, __get__ gets None. What the
// metaclass has is bound to t as its instance.
func (t *Type) getAttr(in *Interp, name string) (Object, error) {
	meta := t.Type()
	md := meta.Lookup(name)
	if md != nil && isData(md) {
		return in.bindDescr(md, t, meta)
	}
	if v := t.Lookup(name); v != nil {
		return t.bindOwn(in, v)
	}
	if md != nil {
		return in.bindDescr(md, t, meta)
	}
	return nil, nil
}

// bindOwn binds what was found in a class as an attribute of that class: functions stay as they are.
func (t *Type) bindOwn(in *Interp, v Object) (Object, error) {
	switch x := v.(type) {
	case *Function:
		return x, nil
	case *ClassMethod:
		return x.bind(in, t)
	case *StaticMethod:
		return x.Func, nil
	case *Instance:
		if get := x.Class.Lookup("__get__"); get != nil {
			return in.callSpecial(get, x, None, t)
		}
	}
	return v, nil
}

// SetAttr is obj.name = v.
func (in *Interp) SetAttr(o Object, name string, v Object) error {
	t := o.Type()
	if h := t.hooks(); h.setattr != nil {
		_, err := in.callSpecial(h.setattr, o, Str(name), v)
		return err
	}
	return in.genericSetAttr(o, name, v)
}

// DelAttr is del obj.name.
func (in *Interp) DelAttr(o Object, name string) error {
	if h := o.Type().hooks(); h.delattr != nil {
		_, err := in.callSpecial(h.delattr, o, Str(name))
		return err
	}
	return in.genericSetAttr(o, name, nil)
}

// AttrSetter is implemented by embedder's own Go objects that take attribute assignment themselves; v nil deletes.
type AttrSetter interface {
	SetAttribute(in *Interp, name string, v Object) (handled bool, err error)
}

// genericSetAttr is object.__setattr__, and __delattr__ for a nil v: a data descriptor of the class goes first, then the object's own dict.
func (in *Interp) genericSetAttr(o Object, name string, v Object) error {
	switch x := o.(type) {
	case *Type:
		return x.setAttr(in, name, v)
	case *Module:
		if x.class != nil || name == "__dict__" || name == "__class__" {
			if d := x.Type().Lookup(name); d != nil {
				if done, err := in.setDescr(d, o, name, v); done {
					return err
				}
			}
		}
		return in.storeInDict(o, x.Dict, name, v)
	case AttrSetter:
		if ok, err := x.SetAttribute(in, name, v); ok || err != nil {
			return err
		}
	}
	t := o.Type()
	d := t.Lookup(name)
	if d != nil {
		if done, err := in.setDescr(d, o, name, v); done {
			return err
		}
	}
	if hd, ok := o.(HasDict); ok {
		if _, ok := o.(*Instance); ok && name == "__dict__" && t.HasDict {
			return setInstanceDict(in, o, v)
		}
		if dict := hd.AttrDict(v != nil); dict != nil {
			return in.storeInDict(o, dict, name, v)
		}
	}
	if d != nil && v != nil {
		return in.attrError(o, name, "'%s' object attribute '%s' is read-only", t.errName(), name)
	}
	return in.noAttr(o, name)
}

// storeInDict stores an attribute of o in its dict, or deletes it there if v is nil.
func (r *Raising) storeInDict(o Object, d *Dict, name string, v Object) error {
	if v == nil {
		if !d.DelStr(name) {
			return r.noAttr(o, name)
		}
		return nil
	}
	d.SetStr(name, v)
	return nil
}

// setDescr hands a value to the class attribute d that was found for o, or deletes through it; done is false if d takes none and what it
// is does not matter.
func (in *Interp) setDescr(d, o Object, name string, v Object) (done bool, err error) {
	t := o.Type()
	switch x := d.(type) {
	case *Property:
		f, what := x.Set, "setter"
		args := []Object{o, v}
		if v == nil {
			f, what, args = x.Del, "deleter", args[:1]
		}
		if f == nil {
			return true, x.lacks(in, t, what)
		}
		_, err := in.Call(f, args, nil)
		return true, err
	case *GetSet:
		if x.Set == nil && x.member {
			return true, in.attrError(o, name, "readonly attribute")
		}
		if x.Set == nil {
			return true, in.attrError(o, name, "attribute '%s' of '%s' objects is not writable", name, t.errName())
		}
		if v == nil && x.keep {
			return true, x.kept(in, o)
		}
		return true, x.Set(in, o, v)
	case *Member:
		slots := slotsOf(o)
		if slots == nil || !t.IsSubtype(x.Own) {
			return true, in.Errorf(in.Exc.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", x.Name, x.Own.errName(), t.errName())
		}
		for len(*slots) <= x.Index {
			*slots = append(*slots, nil)
		}
		if v == nil && (*slots)[x.Index] == nil {
			return true, in.attrError(o, name, "%s", name)
		}
		(*slots)[x.Index] = v
		return true, nil
	case *Instance:
		how, args := "__set__", []Object{x, o, v}
		if v == nil {
			how, args = "__delete__", args[:2]
		}
		if f := x.Class.Lookup(how); f != nil {
			_, err := in.Call(f, args, nil)
			return true, err
		}
	}
	return false, nil
}

// setAttr stores an attribute of a class, or deletes it for a nil v. Built-in classes refuse, as all interpreters of the process share them.
// A data descriptor of the metaclass takes the value instead; else it goes into the class's namespace, and everything that was cached about
// the class and the classes below it is dropped.
func (t *Type) setAttr(in *Interp, name string, v Object) error {
	if !t.Heap || t.fixed {
		return in.Errorf(in.Exc.TypeError, "cannot set '%s' attribute of immutable type '%s'", name, t.errName())
	}
	if md := t.Type().Lookup(name); md != nil {
		if done, err := in.setDescr(md, t, name, v); done {
			return err
		}
	}
	if v == nil {
		if !t.Dict.DelStr(name) {
			return in.attrError(t, name, "type object '%s' has no attribute '%s'", t.Name, name)
		}
	} else {
		t.Dict.SetStr(name, v)
	}
	t.modified()
	return nil
}

// CallMethod calls obj.name(args...).
func (in *Interp) CallMethod(o Object, name string, args ...Object) (Object, error) {
	f, self, err := in.loadMethod(o, name)
	if err != nil {
		return nil, err
	}
	if self != nil {
		return in.Call(f, append([]Object{self}, args...), nil)
	}
	return in.Call(f, args, nil)
}

// loadMethod finds what a call obj.name(...) calls without making a bound method for it: f takes self as its first argument. self is nil if
// f is bound already, or is no method.
func (in *Interp) loadMethod(o Object, name string) (f, self Object, err error) {
	t := o.Type()
	if h := t.hooks(); h.getattribute == nil && h.getattr == nil {
		switch x := o.(type) {
		case *Type, *Module, *Super, Attributer, *GenericAlias:
		default:
			d := t.Lookup(name)
			if d != nil {
				isMethod := false
				switch m := d.(type) {
				case *Function:
					isMethod = true
				case *Builtin:
					isMethod = m.Method
				}
				if isMethod {
					if hd, ok := x.(HasDict); ok {
						if dict := hd.AttrDict(false); dict != nil {
							if v, ok := dict.GetStr(name); ok {
								return v, nil, nil
							}
						}
					}
					return d, o, nil
				}
			}
		}
	}
	f, err = in.GetAttr(o, name)
	return f, nil, err
}

// Special calls a special method looked up on the type; found false if there is none. None in a class forbids the operation: it cannot be called.
func (in *Interp) Special(o Object, name string, args ...Object) (v Object, found bool, err error) {
	t := o.Type()
	d := t.Lookup(name)
	if d == nil {
		return nil, false, nil
	}
	switch d.(type) {
	case *Function, *Builtin:
		full := make([]Object, 0, 4)
		if b, ok := d.(*Builtin); !ok || b.Method {
			full = append(full, o)
		}
		v, err = in.Call(d, append(full, args...), nil)
		return v, true, err
	}
	f, err := in.bindDescr(d, o, t)
	if err != nil {
		return nil, true, err
	}
	v, err = in.Call(f, args, nil)
	return v, true, err
}

// suggest finds the candidate closest to name, or "": at most a third of the letters may differ.
func suggest(name string, cands []string) string {
	const longest, most = 40, 750
	if len(name) > longest || len(cands) >= most {
		return ""
	}
	best, bestD := "", -1
	for _, c := range cands {
		if c == name || len(c) > longest {
			continue
		}
		limit := (len(name) + len(c) + 3) * 2 / 6
		if bestD >= 0 {
			limit = min(limit, bestD-1)
		}
		if d := editDistance(name, c); d <= limit {
			best, bestD = c, d
		}
	}
	return best
}

// editDistance is Levenshtein's, doubled, with a change of case at half price.
func editDistance(a, b string) int {
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = 2 * j
	}
	for i := range len(a) {
		cur := make([]int, len(b)+1)
		cur[0] = 2 * (i + 1)
		for j := range len(b) {
			cost := 0
			if a[i] != b[j] {
				cost = 2
				if strings.EqualFold(a[i:i+1], b[j:j+1]) {
					cost = 1
				}
			}
			cur[j+1] = min(prev[j]+cost, prev[j+1]+2, cur[j]+2)
		}
		prev = cur
	}
	return prev[len(b)]
}

// slotsOf are the values of __slots__ of an object that may have some.
func slotsOf(o Object) *[]Object {
	switch x := o.(type) {
	case *Instance:
		return &x.Slots
	case *Module:
		return &x.slots
	case *Exception:
		return &x.slots
	}
	return nil
}

// kept is the TypeError for the deletion of an attribute that a type needs.
func (x *GetSet) kept(in *Interp, o Object) error {
	switch o := o.(type) {
	case *Type:
		return in.Errorf(in.Exc.TypeError, "cannot delete '%s' attribute of immutable type '%s'", x.Name, o.Name)
	case *Function:
		switch x.Name {
		case "__name__", "__qualname__":
			return in.Errorf(in.Exc.TypeError, "%s must be set to a string object", x.Name)
		case "__code__":
			return in.Errorf(in.Exc.TypeError, "__code__ must be set to a code object")
		case "__dict__":
			return in.Errorf(in.Exc.TypeError, "cannot delete __dict__")
		}
	}
	return in.Errorf(in.Exc.TypeError, "can't delete %s attribute", x.Name)
}

package vm

import (
	"slices"
	"strings"
	"weak"

	"whittle/capture/python/code"
)

// NewFunc allocates (and, for immutable types, initialises) an object of class cls.
type NewFunc func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error)

// Type is a class. Types of the interpreter itself are set up once and never change; those that class statements and embedders make (Heap)
// may, and tell so by their version.
//
// A class lists the classes that derive from it, so that a change reaches what they have cached.
type Type struct {
	Identity
	Name     string
	Qualname string
	Module   string
	Doc      string
	Bases    []*Type
	MRO      []*Type // itself first
	Dict     *Dict
	Meta     *Type // nil: type
	HasDict  bool  // its instances have a __dict__
	HasWeak  bool  // weak references can be made to its instances
	Heap     bool  // made by a class statement or by an embedder: may be changed
	Final    bool  // cannot be a base
	New      NewFunc
	NumSlots int // length of Instance.Slots
	Native   any // embedder's payload

	flat       map[string]Object    // all attributes of an immutable type
	cache      map[string]Object    // attributes found, for heap types; nil values for misses
	version    uint32               // grows with every change of the type or of a base
	base       *Type                // the base whose instances its own extend; nil: the first
	slotNames  []string             // of its own members that __slots__ made, in order of their names
	subs       []weak.Pointer[Type] // the classes that derive from it; those of the interpreter's own types are in Interp.subclasses
	flags      typeFlags
	width      int       // attributes that instances had in their dicts at first
	ctor       *Function // see constructs
	makes      Object    // of a built-in type, its __new__
	inits      Object    // and its __init__
	ctorKnown  bool
	owner      *Interp // whose class statement made it; nil for native types
	layout     bool    // a native type with a constructor of its own
	fixed      bool    // a native type that scripts cannot change
	wholeName  bool    // errors name it with its module
	byKey      bool    // see Spec.ByKey
	collection Collection
	fields     *excFields
}

// typeFlags caches which hooks a class overrides; see (*Type).hooks.
type typeFlags struct {
	known        bool
	getattribute Object // a user's __getattribute__
	getattr      Object // __getattr__
	setattr      Object // a user's __setattr__
	delattr      Object
	del          bool // there is a __del__
}

// String is the class's bare name, for Go's own printing.
func (t *Type) String() string { return t.Name }

// FullName is the name with its module, as in reprs.
func (t *Type) FullName() string {
	if t.Module == "builtins" || t.Module == "" {
		return t.Qualname
	}
	return t.Module + "." + t.Qualname
}

// errName is the name in texts of the interpreter itself: a class of Python goes by its bare one, one that CPython writes in C by the whole.
func (t *Type) errName() string {
	if t.Heap && !t.fixed && !t.wholeName {
		return t.Name
	}
	return t.FullName()
}

// NameAsNative makes errors name a class that is written in Python as they do the ones that CPython has in C.
func (t *Type) NameAsNative() { t.wholeName = true }

// Version grows with every change of the class or of one that it derives from.
func (t *Type) Version() uint32 { return t.version }

// Lookup finds a class attribute along the MRO, or nil.
func (t *Type) Lookup(name string) Object {
	v := t.lookup(name)
	if t.owner != nil && t.owner.LookupHook != nil {
		t.owner.LookupHook(t, name, v)
	}
	return v
}

// lookup is Lookup without telling LookupHook. The built-in types have all attributes in one map; a class remembers what was asked, misses
// too.
func (t *Type) lookup(name string) Object {
	if t.flat != nil {
		return t.flat[name]
	}
	if v, ok := t.cache[name]; ok {
		return v
	}
	var v Object
	for _, b := range t.MRO {
		if x, ok := b.Dict.GetStr(name); ok {
			v = x
			break
		}
	}
	if t.Heap {
		if t.cache == nil {
			t.cache = map[string]Object{}
		}
		t.cache[name] = v
	}
	return v
}

// lookupAfter finds an attribute behind class start in the MRO of t, and the class that has it: what super() looks up.
func (t *Type) lookupAfter(start *Type, name string) (Object, *Type) {
	i := slices.Index(t.MRO, start)
	if i+1 < len(t.MRO) {
		t.MRO[i+1].Lookup(name) // for LookupHook
	}
	for _, b := range t.MRO[i+1:] {
		if x, ok := b.Dict.GetStr(name); ok {
			return x, b
		}
	}
	return nil, nil
}

// IsSubtype reports whether t is base or derives from it.
func (t *Type) IsSubtype(base *Type) bool {
	if t == base {
		return true
	}
	for _, b := range t.MRO {
		if b == base {
			return true
		}
	}
	return false
}

// modified drops what was cached about t and the classes below it, and takes them to a new version, by which inline caches know that they
// are out of date.
func (t *Type) modified() {
	t.version++
	t.cache = nil
	t.flags = typeFlags{}
	t.ctorKnown = false
	for _, w := range t.subs {
		if s := w.Value(); s != nil {
			s.modified()
		}
	}
}

// subclassesOf are the classes that derive from t directly and are alive, in the order in which they were made.
func (in *Interp) subclassesOf(t *Type) []*Type {
	var out []*Type
	subs := t.subs
	if !t.Heap {
		subs = in.subclasses[t]
	}
	for _, w := range subs {
		if s := w.Value(); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// adopt notes that s derives from t; disown takes that back. Both forget classes that are gone.
func (in *Interp) adopt(t, s *Type) { in.disown(t, s, weak.Make(s)) }

func (in *Interp) disown(t, s *Type, more ...weak.Pointer[Type]) {
	subs := t.subs
	if !t.Heap {
		subs = in.subclasses[t]
	}
	if n := len(subs); n&(n-1) == 0 || len(more) == 0 { // now and then
		subs = slices.DeleteFunc(subs, func(w weak.Pointer[Type]) bool { c := w.Value(); return c == nil || c == s })
	}
	subs = append(subs, more...)
	if t.Heap {
		t.subs = subs
	} else {
		in.subclasses[t] = subs
	}
}

// SetAttr stores a class attribute.
func (t *Type) SetAttr(name string, v Object) {
	t.Dict.SetStr(name, v)
	t.modified()
}

// hooks says which of the special methods of attribute access a class overrides, so that plain access need not look for them every time.
func (t *Type) hooks() *typeFlags {
	f := &t.flags
	if !f.known {
		f = &typeFlags{known: true}
		if v := t.Lookup("__getattribute__"); v != objectGetattribute {
			f.getattribute = v
		}
		f.getattr = t.Lookup("__getattr__")
		if v := t.Lookup("__setattr__"); v != objectSetattr && v != typeSetattr {
			f.setattr = v
		}
		if v := t.Lookup("__delattr__"); v != objectDelattr && v != typeDelattr {
			f.delattr = v
		}
		f.del = t.Lookup("__del__") != nil
		if t.Heap {
			t.flags = *f
			return &t.flags
		}
	}
	return f
}

// linearize gives the method resolution order: t, and then its bases merged by C3. Each round takes the first class that is behind no other
// in what is left of the bases' own orders and of the list of bases, so that all of these orders hold in the result. There may be no such
// class: then the bases contradict each other.
func (t *Type) linearize(in *Interp, bases []*Type) ([]*Type, error) {
	var seqs [][]*Type
	for _, b := range bases {
		seqs = append(seqs, slices.Clone(b.MRO))
	}
	seqs = append(seqs, slices.Clone(bases))
	out := []*Type{t}
	for {
		var cand *Type
		empty := true
		for _, s := range seqs {
			if len(s) == 0 {
				continue
			}
			empty = false
			c := s[0]
			ok := true
			for _, o := range seqs {
				if len(o) > 1 && slices.Contains(o[1:], c) {
					ok = false
					break
				}
			}
			if ok {
				cand = c
				break
			}
		}
		if empty {
			return out, nil
		}
		if cand == nil {
			var names []string // of the classes that stand first in what is left
			seen := map[*Type]bool{}
			for _, s := range seqs {
				if len(s) > 0 && !seen[s[0]] {
					seen[s[0]] = true
					names = append(names, s[0].Name)
				}
			}
			return nil, in.Errorf(in.Exc.TypeError, "Cannot create a consistent method resolution\norder (MRO) for bases %s", strings.Join(names, ", "))
		}
		out = append(out, cand)
		for i := range seqs {
			if len(seqs[i]) > 0 && seqs[i][0] == cand {
				seqs[i] = seqs[i][1:]
			}
		}
	}
}

// solid is the nearest class in the MRO that decides how instances look in Go: a built-in type, or a native type with a constructor of its
// own. Classes of Python add attributes and slots only.
func (t *Type) solid() *Type {
	for _, b := range t.MRO {
		if b.IsSubtype(excTypes.BaseException) {
			return excTypes.BaseException // all exceptions look alike
		}
		if !b.Heap || b.layout {
			return b
		}
	}
	return ObjectType
}

// Embedded reports whether an embedder's type decides how instances of the class look in Go.
func (t *Type) Embedded() bool { return t.solid().Heap }

// MakeClass makes a class of a metaclass, a name, bases and a namespace, which becomes its own. It runs no hook of Python code: no
// __init_subclass__, no __set_name__, nothing of the metaclass.
func (in *Interp) MakeClass(meta *Type, name string, bases []*Type, dict *Dict) (*Type, error) {
	return newClass(in, meta, name, bases, dict)
}

// newClass makes a heap type, as type(name, bases, dict) does, without running __init_subclass__ or __set_name__. dict is the class's own
// from then on.
func newClass(in *Interp, meta *Type, name string, bases []*Type, dict *Dict) (*Type, error) {
	if len(bases) == 0 {
		bases = []*Type{ObjectType}
	}
	for i, b := range bases {
		if b.Final {
			return nil, in.Errorf(in.Exc.TypeError, "type '%s' is not an acceptable base type", b.FullName())
		}
		if slices.Contains(bases[:i], b) {
			return nil, in.Errorf(in.Exc.TypeError, "duplicate base class %s", b.Name)
		}
	}
	t := &Type{Name: name, Qualname: name, Bases: bases, Dict: dict, Heap: true, owner: in}
	if meta != TypeType {
		t.Meta = meta
	}
	best, err := layoutBase(in, bases)
	if err != nil {
		return nil, err
	}
	t.base, t.New, t.NumSlots = best, best.New, best.NumSlots
	mro, err := t.linearize(in, bases)
	if err != nil && t.Type().Lookup("mro") == TypeType.Lookup("mro") {
		return nil, err
	}
	t.MRO = mro
	if t.MRO, err = t.order(in); err != nil {
		return nil, err
	}
	t.inheritCollection()
	if err := t.takeNames(in); err != nil {
		return nil, err
	}
	t.HasDict, t.HasWeak = best.HasDict, best.HasWeak
	if sl, ok := dict.GetStr("__slots__"); ok {
		if err := t.addSlots(in, sl); err != nil {
			return nil, err
		}
		for _, b := range bases { // another base may bring what __slots__ leaves out
			t.HasDict, t.HasWeak = t.HasDict || b.HasDict, t.HasWeak || b.HasWeak
		}
	} else {
		t.HasDict, t.HasWeak = true, t.HasWeak || best.varSize() == 0
	}
	if t.HasDict && !best.HasDict {
		dict.setDefault("__dict__", &GetSet{Name: "__dict__", Get: getInstanceDict, Set: setInstanceDict, own: t, Doc: "dictionary for instance variables (if defined)"})
	}
	if t.HasWeak && !best.HasWeak {
		dict.setDefault("__weakref__", &GetSet{Name: "__weakref__", Get: getWeakRef, own: t, Doc: "list of weak references to the object (if defined)"})
	}
	dict.setDefault("__doc__", None) // it may be a slot
	t.wrapSpecial()
	for _, b := range bases {
		in.adopt(b, t)
	}
	return t, nil
}

// varSize is the __itemsize__ of instances: not 0 for those that CPython makes longer the more they hold, to which nothing can be added.
func (t *Type) varSize() int64 { return itemSizes[t.solid().Name] }

// ownDict is the attribute __dict__ of the built-in type below an object that is no instance of Go's own kind: classes, modules, exceptions.
func ownDict(o Object) *GetSet {
	if _, ok := o.(*Instance); ok {
		return nil
	}
	d, _ := o.Type().solid().Lookup("__dict__").(*GetSet)
	return d
}

// getInstanceDict is what obj.__dict__ gives where a class of Python has put it.
func getInstanceDict(in *Interp, o Object) (Object, error) {
	if d := ownDict(o); d != nil {
		return d.Get(in, o)
	}
	if hd, ok := o.(HasDict); ok {
		if d := hd.AttrDict(true); d != nil {
			return d, nil
		}
	}
	return nil, in.noAttr(o, "__dict__")
}

// setInstanceDict is obj.__dict__ = v, and its deletion for nil: without one, an object gets an empty one when it needs it.
func setInstanceDict(in *Interp, o, v Object) error {
	if d := ownDict(o); d != nil {
		_, err := in.setDescr(d, o, "__dict__", v)
		return err
	}
	i, ok := o.(*Instance)
	if !ok {
		return in.Errorf(in.Exc.AttributeError, "attribute '__dict__' of '%s' objects is not writable", TypeName(o))
	}
	if v == nil {
		i.Dict = nil
		return nil
	}
	d, ok := AsDict(v)
	if !ok {
		return in.Errorf(in.Exc.TypeError, "__dict__ must be set to a dictionary, not a '%s'", TypeName(v))
	}
	i.Dict = d
	return nil
}

// getWeakRef is obj.__weakref__: the first of its weak references.
func getWeakRef(in *Interp, o Object) (Object, error) {
	if in.FirstWeakRef == nil {
		return None, nil
	}
	return in.FirstWeakRef(o), nil
}

// layoutBase is the base whose instances a class's own instances extend: the one with the most derived solid class, and of those the one
// with the most slots. Two solid classes of which neither derives from the other cannot both be inside one object.
func layoutBase(in *Interp, bases []*Type) (*Type, error) {
	best := bases[0]
	for _, b := range bases[1:] {
		bs, s := best.solid(), b.solid()
		if s != bs {
			switch {
			case s.IsSubtype(bs):
				best = b
			case bs.IsSubtype(s):
			default:
				return nil, in.Errorf(in.Exc.TypeError, "multiple bases have instance lay-out conflict")
			}
		}
		if b.NumSlots > best.NumSlots {
			best = b
		}
	}
	return best, nil
}

// takeNames takes what the namespace says of the class itself: __qualname__, which leaves it, __module__, which is that of the code that
// runs if it is missing, and __doc__.
func (t *Type) takeNames(in *Interp) error {
	if q, ok := t.Dict.GetStr("__qualname__"); ok {
		s, ok := AsStr(q)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "type __qualname__ must be a str, not %s", TypeName(q))
		}
		t.Qualname = s
		t.Dict.DelStr("__qualname__")
	}
	if m, ok := t.Dict.GetStr("__module__"); ok {
		if s, ok := m.(Str); ok {
			t.Module = string(s)
		}
	} else if in.frame != nil {
		if m, ok := in.frame.Globals.GetStr("__name__"); ok {
			if s, ok := m.(Str); ok {
				t.Module = string(s)
				t.Dict.SetStr("__module__", m)
			}
		}
	}
	if d, ok := t.Dict.GetStr("__doc__"); ok {
		if s, ok := d.(Str); ok {
			t.Doc = string(s)
		}
	}
	return nil
}

// Lays reports whether v, of the dict of t, is what making t put there for the layout of its instances: the members of __slots__,
// __dict__ and __weakref__.
func (t *Type) Lays(v Object) bool {
	switch v := v.(type) {
	case *Member:
		return v.Own == t
	case *GetSet:
		return v.own == t && t.Heap
	}
	return false
}

// addSlots makes a member of each name in __slots__, behind the slots of the base.
func (t *Type) addSlots(in *Interp, slots Object) error {
	items := []Object{slots}
	if _, ok := slots.(Str); !ok {
		var err error
		if items, err = in.IterAll(slots); err != nil {
			return err
		}
	}
	best := t.base
	if len(items) > 0 && best.varSize() != 0 {
		return in.Errorf(in.Exc.TypeError, "nonempty __slots__ not supported for subtype of '%s'", best.Name)
	}
	for _, it := range items {
		n, ok := AsStr(it)
		switch {
		case !ok:
			return in.Errorf(in.Exc.TypeError, "__slots__ items must be strings, not '%s'", TypeName(it))
		case !isIdentifier(n):
			return in.Errorf(in.Exc.TypeError, "__slots__ must be identifiers")
		case n == "__dict__":
			if t.HasDict && !best.Embedded() {
				return in.Errorf(in.Exc.TypeError, "__dict__ slot disallowed: we already got one")
			}
			t.HasDict = true
			continue
		case n == "__weakref__":
			if t.HasWeak && !best.Embedded() || best.varSize() != 0 {
				return in.Errorf(in.Exc.TypeError, "__weakref__ slot disallowed: either we already got one, or __itemsize__ != 0")
			}
			t.HasWeak = true
			continue
		}
		if _, ok := t.Dict.GetStr(code.Mangle(t.Name, n)); ok && n != "__qualname__" && n != "__classcell__" {
			return in.Errorf(in.Exc.ValueError, "'%s' in __slots__ conflicts with class variable", n)
		}
		t.slotNames = append(t.slotNames, code.Mangle(t.Name, n))
	}
	slices.Sort(t.slotNames)
	for _, n := range t.slotNames {
		t.Dict.SetStr(n, &Member{n, t.NumSlots, t})
		t.NumSlots++
	}
	return nil
}

// wrapSpecial makes of some functions in the namespace what they are without being told: __new__ a static method, two others class methods.
// A class that says what equals what and not how to hash has no hash.
func (t *Type) wrapSpecial() {
	if fn, ok := t.own("__new__").(*Function); ok {
		t.Dict.SetStr("__new__", &StaticMethod{Func: fn})
	}
	for _, n := range []string{"__init_subclass__", "__class_getitem__"} {
		if fn, ok := t.own(n).(*Function); ok {
			t.Dict.SetStr(n, &ClassMethod{Func: fn})
		}
	}
	if t.own("__eq__") != nil && t.own("__hash__") == nil {
		t.Dict.SetStr("__hash__", None)
	}
}

// own is an attribute in the class's own namespace, or nil.
func (t *Type) own(name string) Object {
	v, _ := t.Dict.GetStr(name)
	return v
}

// typeNew is type.__new__ with three arguments: the class, and then what a new class is told. The cell of __class__ is filled, each
// descriptor that has __set_name__ learns its name, and __init_subclass__ of the next class in the MRO is called with the keywords.
func typeNew(in *Interp, meta *Type, name string, basesT []Object, ns *Dict, kw []KwArg) (Object, error) {
	var bases []*Type
	for _, b := range basesT {
		t, ok := b.(*Type)
		if !ok {
			if has, err := in.GetAttrOpt(b, "__mro_entries__"); err != nil {
				return nil, err
			} else if has != nil {
				return nil, in.Errorf(in.Exc.TypeError, "type() doesn't support MRO entry resolution; use types.new_class()")
			}
			return nil, in.Errorf(in.Exc.TypeError, "type.__new__() bases must be types, not %s", TypeName(b))
		}
		bases = append(bases, t)
	}
	// The most derived metaclass wins, and makes the class if it has a way of its own to do so.
	asked := meta
	for _, b := range bases {
		bm := b.Type()
		if meta.IsSubtype(bm) {
			continue
		}
		if bm.IsSubtype(meta) {
			meta = bm
			continue
		}
		return nil, in.Errorf(in.Exc.TypeError, "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases")
	}
	if meta != asked {
		if f := meta.Lookup("__new__"); f != TypeType.Lookup("__new__") {
			return in.Call(f, []Object{meta, Str(name), NewTuple(basesT...), ns}, kw)
		}
	}
	dict := ns.Copy()
	var cell *Cell
	if c, ok := dict.GetStr("__classcell__"); ok {
		if cell, ok = c.(*Cell); !ok {
			return nil, in.Errorf(in.Exc.TypeError, "__classcell__ must be a nonlocal cell, not <class '%s'>", c.Type().FullName())
		}
		dict.DelStr("__classcell__")
	}
	t, err := newClass(in, meta, name, bases, dict)
	if err != nil {
		return nil, err
	}
	if cell != nil {
		cell.V = t
	}
	for _, e := range append([]dictEntry(nil), dict.entries...) {
		if e.key == nil {
			continue
		}
		switch x := e.val.(type) {
		case *Property:
			x.name, _ = AsStr(e.key)
		case *Instance:
			sn := e.val.Type().Lookup("__set_name__")
			if sn == nil {
				continue
			}
			if _, err := in.Call(sn, []Object{e.val, t, e.key}, nil); err != nil {
				key, _ := in.Repr(e.key)
				return nil, in.ErrorFrom(err, in.Exc.RuntimeError, "Error calling __set_name__ on '%s' instance %s in '%s'", TypeName(e.val), key, t.Name)
			}
		}
	}
	// __init_subclass__ of the parents.
	if f, own := t.lookupAfter(t, "__init_subclass__"); f != nil && own != ObjectType {
		b, err := in.bindDescr(f, t, t.Type())
		if err != nil {
			return nil, err
		}
		if cm, ok := f.(*ClassMethod); ok {
			b = &BoundMethod{cm.Func, t}
		}
		if _, err := in.Call(b, nil, kw); err != nil {
			return nil, err
		}
	} else if len(kw) > 0 {
		return nil, in.Errorf(in.Exc.TypeError, "%s.__init_subclass__() takes no keyword arguments", t.Qualname)
	}
	return t, nil
}

// Spec describes a native type of an embedder.
type Spec struct {
	Name       string
	Module     string
	Doc        string
	Bases      []*Type
	New        NewFunc           // nil: the base's
	Methods    map[string]GoFunc // dunder names make operators; self is args[0]
	Docs       map[string]string
	Arity      map[string][2]int // of Methods: how few and how many arguments besides self, and no keywords; such a method does not keep its slice of arguments
	Class      map[string]GoFunc // class methods; the class is args[0]
	Static     map[string]GoFunc
	GetSet     []*GetSet
	Attrs      map[string]Object
	NoDict     bool // instances have no __dict__
	Final      bool
	Strict     bool       // as a type of CPython's in C: methods check self, dunder methods that they get as many arguments as they take; scripts cannot change it
	NoModule   bool       // as a type of CPython's that is no heap type: its own namespace lacks __module__
	ByKey      bool       // __getitem__ takes keys, and none of __iter__ and __contains__ is made of it
	Collection Collection // whether patterns take instances for sequences or mappings
	Meta       *Type
}

// NewNativeType makes a type of Go functions. Its instances are *Instance values whose Native field is the embedder's,
// or the embedder's own Go type that implements Object.
func (in *Interp) NewNativeType(s Spec) *Type {
	t := &Type{Name: s.Name, Qualname: s.Name, Module: s.Module, Doc: s.Doc, Bases: s.Bases, Dict: NewDict(), Heap: true, HasDict: !s.NoDict, HasWeak: !s.NoDict, Final: s.Final, Meta: s.Meta, fixed: s.Strict, byKey: s.ByKey}
	if len(t.Bases) == 0 {
		t.Bases = []*Type{ObjectType}
	}
	mro, err := t.linearize(in, t.Bases)
	if err != nil {
		mro = append([]*Type{t}, t.Bases[0].MRO...)
	}
	t.MRO = mro
	if t.collection = s.Collection; t.collection == NoCollection {
		t.inheritCollection()
	}
	if _, inits := s.Methods["__init__"]; s.New == nil && s.Strict && !inits && len(s.Bases) == 0 {
		s.New = Uncreatable
	}
	t.New = s.New
	t.layout = s.New != nil
	if t.New == nil {
		t.New = t.Bases[0].New
	}
	t.NumSlots = t.Bases[0].NumSlots
	if !s.NoModule {
		t.Dict.SetStr("__module__", Str(s.Module))
	}
	if s.Doc != "" {
		t.Dict.SetStr("__doc__", Str(s.Doc))
	}
	for _, n := range sortedKeys(s.Methods) {
		b := &Builtin{Name: n, Fn: s.Methods[n], Method: true, Owner: t, Max: -1, Doc: s.Docs[n]}
		if a, ok := s.Arity[n]; ok {
			b.Min, b.Max, b.NoKw, b.shared = a[0], a[1], true, true
		} else if k, ok := dunderArity[n]; ok && (s.Strict || slotNames[n]) {
			b.Min, b.Max, b.NoKw, b.bounded = k[0], k[1], s.Strict, true
		}
		b.strict, b.slot = true, s.Strict && inSlot(t, n)
		t.Dict.SetStr(n, b)
	}
	if _, ok := s.Methods["__eq__"]; ok {
		if _, ok := s.Methods["__hash__"]; !ok {
			t.Dict.SetStr("__hash__", None)
		}
	}
	for _, n := range sortedKeys(s.Class) {
		t.Dict.SetStr(n, newClassMethod(t, n, s.Docs[n], s.Class[n], s.Arity))
	}
	for _, n := range sortedKeys(s.Static) {
		t.Dict.SetStr(n, &StaticMethod{Func: &Builtin{Name: n, Fn: s.Static[n], Owner: t, Max: -1, Doc: s.Docs[n]}})
	}
	for _, g := range s.GetSet {
		g.own = t
		t.Dict.SetStr(g.Name, g)
	}
	for _, n := range sortedKeys(s.Attrs) {
		t.Dict.SetStr(n, s.Attrs[n])
	}
	if s.New != nil {
		t.Dict.SetStr("__new__", &Builtin{Name: "__new__", Owner: t, Max: -1, Fn: func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			if len(args) == 0 {
				return nil, in.Errorf(in.Exc.TypeError, "%s.__new__(): not enough arguments", s.Name)
			}
			cls, ok := args[0].(*Type)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "%s.__new__(X): X is not a type object (%s)", s.Name, TypeName(args[0]))
			}
			return s.New(in, cls, args[1:], kw)
		}})
	}
	for _, b := range t.Bases {
		in.adopt(b, t)
	}
	return t
}

// dunderArity is how few and how many arguments besides self special methods of native types take.
var dunderArity = func() map[string][2]int {
	m := map[string][2]int{"__setitem__": {2, 2}, "__setattr__": {2, 2}, "__set__": {2, 2}, "__get__": {1, 2}, "__exit__": {0, 3}, "__setstate__": {1, 1}, "__delete__": {1, 1},
		"__pow__": {1, 2}, "__contains__": {1, 1}, "__missing__": {1, 1}, "__deepcopy__": {1, 1}, "__getattribute__": {1, 1}, "__delattr__": {1, 1}, "__getitem__": {1, 1}, "__delitem__": {1, 1}}
	for _, n := range []string{"repr", "str", "hash", "len", "iter", "next", "reduce", "copy", "bool", "length_hint", "sizeof", "reversed", "neg", "pos", "abs", "invert"} {
		m["__"+n+"__"] = [2]int{0, 0}
	}
	for _, n := range []string{"eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift", "matmul"} {
		m["__"+n+"__"] = [2]int{1, 1}
		m["__r"+n+"__"] = [2]int{1, 1}
		m["__i"+n+"__"] = [2]int{1, 1}
	}
	return m
}()

// sortedKeys are the keys of a map in order: what is made of a map is made in the same order every time.
func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TypeName is how errors name an object's class.
func TypeName(o Object) string { return o.Type().errName() }

// ArgName is how errors about a single argument name what was given: the class, or None.
func ArgName(o Object) string {
	if o == None {
		return "None"
	}
	return TypeName(o)
}

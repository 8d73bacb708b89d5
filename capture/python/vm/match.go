package vm

import (
	"slices"

	"whittle/capture/python/literal"
)

// What match statements ask.

// Pattern matching.

// Collection is what a class says of its instances to patterns: that sequence patterns, or mapping patterns, may match them. The first class of the MRO
// that says so decides; classes of collections.abc do, and what is registered with those.
type Collection uint8

// The kinds of collections.
const (
	NoCollection Collection = iota
	Sequence
	Mapping
)

// Collection is the kind of a class.
func (t *Type) Collection() Collection { return t.collection }

// SetCollection sets the kind of a class that may be changed, and of those that derive from it.
func (t *Type) SetCollection(in *Interp, c Collection) {
	if t.collection == c || !t.Heap || t.fixed {
		return
	}
	t.collection = c
	for _, sub := range in.subclassesOf(t) {
		sub.SetCollection(in, c)
	}
}

// inheritCollection gives a new class the kind of the first that it derives from which has one.
func (t *Type) inheritCollection() {
	for _, b := range t.MRO {
		if b != t && b.collection != NoCollection {
			t.collection = b.collection
			return
		}
	}
}

// initCollections marks the built-in classes.
func initCollections() {
	for _, t := range []*Type{ListType, TupleType, RangeType, MemoryViewType} {
		t.collection = Sequence
	}
	for _, t := range []*Type{DictType, MappingProxyType} {
		t.collection = Mapping
	}
}

// matchKeys gives the values of a mapping pattern's keys in a tuple, None if one is missing. The subject's method get is asked, which adds nothing to a
// mapping that makes what it lacks.
func matchKeys(in *Interp, subject Object, keys *Tuple) (Object, error) {
	out := make([]Object, 0, len(keys.Items))
	if len(keys.Items) == 0 {
		return &Tuple{out}, nil
	}
	get, err := in.GetAttr(subject, "get")
	if err != nil {
		return nil, err
	}
	missing := &Instance{Class: ObjectType}
	seen := NewDict()
	for _, k := range keys.Items {
		if _, twice, err := seen.Get(in, k); err != nil {
			return nil, err
		} else if twice {
			s, err := in.Repr(k)
			if err != nil {
				return nil, err
			}
			return nil, in.Errorf(in.Exc.ValueError, "mapping pattern checks duplicate key (%s)", s)
		}
		if err := seen.Set(in, k, None); err != nil {
			return nil, err
		}
		v, err := in.Call(get, []Object{k, missing}, nil)
		if err != nil {
			return nil, err
		}
		if v == Object(missing) {
			return None, nil
		}
		out = append(out, v)
	}
	return &Tuple{out}, nil
}

// matchClass gives what the sub-patterns of a class pattern are matched against, in a tuple, None if the subject is no instance or lacks an
// attribute. Positional ones stand for the attributes that __match_args__ names; of some built-in types, the one is the subject itself.
func matchClass(in *Interp, subject, cls Object, npos int, names *Tuple) (Object, error) {
	t, ok := cls.(*Type)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "called match pattern must be a class")
	}
	is, err := in.IsInstance(subject, cls)
	if err != nil {
		return nil, err
	}
	if !is {
		return None, nil
	}
	out := []Object{}
	var seen []string
	take := func(name string) (found bool, err error) {
		if slices.Contains(seen, name) {
			return false, in.Errorf(in.Exc.TypeError, "%s() got multiple sub-patterns for attribute %s", t.Name, literal.Str(name))
		}
		seen = append(seen, name)
		v, err := in.GetAttrOpt(subject, name)
		if v == nil || err != nil {
			return false, err
		}
		out = append(out, v)
		return true, nil
	}
	if npos > 0 {
		var attrs []Object
		if ma := t.Lookup("__match_args__"); ma != nil {
			tp, ok := ma.(*Tuple)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "%s.__match_args__ must be a tuple (got %s)", t.Name, TypeName(ma))
			}
			attrs = tp.Items
		} else {
			self := false
			for _, b := range []*Type{BoolType, ByteArrayType, BytesType, DictType, FloatType, FrozenSetType, IntType, ListType, SetType, StrType, TupleType} {
				self = self || t.IsSubtype(b)
			}
			if self {
				if npos > 1 {
					return nil, in.Errorf(in.Exc.TypeError, "%s() accepts 1 positional sub-pattern (%d given)", t.Name, npos)
				}
				out = append(out, subject)
				npos = 0
			}
		}
		if npos > len(attrs) {
			pl := "s"
			if len(attrs) == 1 {
				pl = ""
			}
			return nil, in.Errorf(in.Exc.TypeError, "%s() accepts %d positional sub-pattern%s (%d given)", t.Name, len(attrs), pl, npos)
		}
		for i := range npos {
			n, ok := AsStr(attrs[i])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "__match_args__ elements must be strings (got %s)", TypeName(attrs[i]))
			}
			if found, err := take(n); !found {
				return None, err
			}
		}
	}
	for _, n := range names.Items {
		s, _ := AsStr(n)
		if found, err := take(s); !found {
			return None, err
		}
	}
	return &Tuple{out}, nil
}

package vm

// What match statements ask.

// Pattern matching.

// isMatchSequence is the test of a sequence pattern: lists, tuples, ranges, and instances of collections.abc.Sequence, but never strings or
// bytes.
func isMatchSequence(in *Interp, o Object) bool {
	switch unwrap(o).(type) {
	case *List, *Tuple, *Range, *longRange:
		return true
	case Str, Bytes, *ByteArray:
		return false
	}
	if i, ok := o.(*Instance); ok {
		if seq := in.abcClass("Sequence"); seq != nil {
			ok, _ := in.IsInstance(i, seq)
			return ok
		}
	}
	return false
}

// isMatchMapping is the test of a mapping pattern: dicts, and instances of collections.abc.Mapping.
func isMatchMapping(in *Interp, o Object) bool {
	if _, ok := unwrap(o).(*Dict); ok {
		return true
	}
	if _, ok := o.(*MappingProxy); ok {
		return true
	}
	if i, ok := o.(*Instance); ok {
		if m := in.abcClass("Mapping"); m != nil {
			ok, _ := in.IsInstance(i, m)
			return ok
		}
	}
	return false
}

// abcClass gives a class of collections.abc if that has been imported.
func (im *Imports) abcClass(name string) Object {
	m, ok := im.Modules.GetStr("collections.abc")
	if !ok {
		return nil
	}
	v, _ := m.(*Module).Dict.GetStr(name)
	return v
}

// matchKeys gives the values of a mapping pattern's keys in a tuple, None if one is missing.
func matchKeys(in *Interp, subject Object, keys *Tuple) (Object, error) {
	out := make([]Object, 0, len(keys.Items))
	for _, k := range keys.Items {
		v, err := in.GetItem(subject, k)
		if err != nil {
			if in.Matches(err, in.Exc.KeyError) {
				return None, nil
			}
			return nil, err
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
			n, _ := AsStr(attrs[i])
			v, err := in.GetAttrOpt(subject, n)
			if err != nil {
				return nil, err
			}
			if v == nil {
				return None, nil
			}
			out = append(out, v)
		}
	}
	for _, n := range names.Items {
		s, _ := AsStr(n)
		v, err := in.GetAttrOpt(subject, s)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return None, nil
		}
		out = append(out, v)
	}
	return &Tuple{out}, nil
}

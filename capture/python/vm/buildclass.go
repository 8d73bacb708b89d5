package vm

import (
	"slices"
)

// buildClass is __build_class__, which a class statement calls with a function of the body, the name, the bases and keywords (PEP 3115). In
// order: what bases say to be in their place (PEP 560), the metaclass (that of the bases unless a keyword names one, and the most derived of
// all), the namespace that it prepares, the body, which runs in that namespace, and the call of the metaclass. The body returns the cell of
// __class__ if a method wants it, for super() above all.
func buildClass(in *Interp, args []Object, kw []KwArg) (Object, error) {
	if len(args) < 2 {
		return nil, in.Errorf(in.Exc.TypeError, "__build_class__: not enough arguments")
	}
	fn, ok := args[0].(*Function)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "__build_class__: func must be a function")
	}
	name := args[1]
	orig := slices.Clone(args[2:])
	bases := make([]Object, 0, len(orig))
	changed := false
	for _, b := range orig {
		if _, ok := b.(*Type); !ok {
			if m, err := in.GetAttrOpt(b, "__mro_entries__"); err != nil {
				return nil, err
			} else if m != nil {
				r, err := in.Call(m, []Object{NewTuple(orig...)}, nil)
				if err != nil {
					return nil, err
				}
				items, err := in.IterAll(r)
				if err != nil {
					return nil, err
				}
				bases = append(bases, items...)
				changed = true
				continue
			}
		}
		bases = append(bases, b)
	}
	var meta Object
	var rest []KwArg
	for _, k := range kw {
		if k.Name == "metaclass" {
			meta = k.Value
		} else {
			rest = append(rest, k)
		}
	}
	if meta == nil {
		meta = TypeType
		if len(bases) > 0 {
			meta = bases[0].Type()
		}
	}
	if mt, ok := meta.(*Type); ok {
		for _, b := range bases {
			bt := b.Type()
			if mt.IsSubtype(bt) {
				continue
			}
			if bt.IsSubtype(mt) {
				mt = bt
				continue
			}
			return nil, in.Errorf(in.Exc.TypeError, "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases")
		}
		meta = mt
	}
	basesT := NewTuple(bases...)
	var ns Object = NewDict()
	if meta != TypeType {
		prep, err := in.GetAttrOpt(meta, "__prepare__")
		if err != nil {
			return nil, err
		}
		if prep != nil {
			if ns, err = in.Call(prep, []Object{name, basesT}, rest); err != nil {
				return nil, err
			}
			if t := ns.Type(); t.Lookup("__getitem__") == nil || t.keyless() {
				who := "<metaclass>"
				if mt, ok := meta.(*Type); ok {
					who = mt.Name
				}
				return nil, in.Errorf(in.Exc.TypeError, "%s.__prepare__() must return a mapping, not %s", who, TypeName(ns))
			}
		}
	}
	f := in.NewFrame(fn, fn.Code)
	f.Locals = ns
	cell, err := in.runFrame(f)
	if err != nil {
		return nil, err
	}
	if changed {
		if err := in.SetItem(ns, Str("__orig_bases__"), NewTuple(orig...)); err != nil {
			return nil, err
		}
	}
	cls, err := in.Call(meta, []Object{name, basesT, ns}, rest)
	if err != nil {
		return nil, err
	}
	return cls, in.checkClassCell(cell, cls, name)
}

// checkClassCell holds that the cell of __class__, which the body of a class statement returned if it has one, got the class: type.__new__ puts
// it there, if the metaclass hands the namespace on to it.
func (in *Interp) checkClassCell(cell, cls, name Object) error {
	c, ok := cell.(*Cell)
	if _, isType := cls.(*Type); !ok || !isType || c.V == cls {
		return nil
	}
	n, err := in.Repr(name)
	if err != nil {
		return err
	}
	if c.V == nil {
		return in.Errorf(in.Exc.RuntimeError, "__class__ not set defining %s as %s. Was __classcell__ propagated to type.__new__?", n, typeText(in, cls))
	}
	return in.Errorf(in.Exc.TypeError, "__class__ set to %s defining %s as %s", typeText(in, c.V), n, typeText(in, cls))
}

// typeText is a value's repr, for an error text.
func typeText(in *Interp, o Object) string {
	s, err := in.Repr(o)
	if err != nil {
		return "<" + o.Type().Name + ">"
	}
	return s
}

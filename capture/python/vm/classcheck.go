package vm

// isinstance and issubclass. What is no class counts as one if it has __bases__, a tuple: then these say what it derives from.

// IsInstance is isinstance(o, cls): cls may be a class, a tuple or union of them, or anything whose class has __instancecheck__. A
// metaclass's __instancecheck__ is not asked for an instance of the very class. An object may say by its __class__ that it stands for
// another.
func (in *Interp) IsInstance(o, cls Object) (bool, error) {
	switch c := cls.(type) {
	case *Type:
		if t := o.Type(); t == c || c.Meta == nil && t.IsSubtype(c) {
			return true, nil
		}
		if c.Meta != nil {
			if f := c.Meta.Lookup("__instancecheck__"); f != nil && f != typeInstanceCheck {
				return in.truthOf(in.callSpecial(f, c, o))
			}
		}
		return in.instanceOf(o, c)
	case *Tuple:
		return in.anyOf(c.Items, func(x Object) (bool, error) { return in.IsInstance(o, x) })
	case *UnionType:
		return in.anyOf(c.Args.Items, func(x Object) (bool, error) {
			if x == None {
				return o == None, nil
			}
			return in.IsInstance(o, x)
		})
	case *GenericAlias:
		return false, in.Errorf(in.Exc.TypeError, "isinstance() argument 2 cannot be a parameterized generic")
	}
	if v, ok, err := in.Special(cls, "__instancecheck__", o); ok {
		return in.truthOf(v, err)
	}
	return in.instanceOf(o, cls)
}

// IsSubclass is issubclass(o, cls).
func (in *Interp) IsSubclass(o, cls Object) (bool, error) {
	switch c := cls.(type) {
	case *Tuple:
		return in.anyOf(c.Items, func(x Object) (bool, error) { return in.IsSubclass(o, x) })
	case *UnionType:
		return in.anyOf(c.Args.Items, func(x Object) (bool, error) {
			if x == None {
				x = NoneTypeType
			}
			return in.IsSubclass(o, x)
		})
	case *GenericAlias:
		return false, in.Errorf(in.Exc.TypeError, "issubclass() argument 2 cannot be a parameterized generic")
	case *Type:
		if c.Meta != nil {
			if f := c.Meta.Lookup("__subclasscheck__"); f != nil && f != typeSubclassCheck {
				return in.truthOf(in.callSpecial(f, c, o))
			}
		}
		return in.subclassOf(o, c)
	}
	if v, ok, err := in.Special(cls, "__subclasscheck__", o); ok {
		return in.truthOf(v, err)
	}
	return in.subclassOf(o, cls)
}

func (in *Interp) truthOf(v Object, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	return in.Truth(v)
}

// anyOf asks for each of some classes, which may hold tuples of classes.
func (in *Interp) anyOf(classes []Object, is func(Object) (bool, error)) (yes bool, err error) {
	err = in.Guard(func() error {
		for _, c := range classes {
			if yes, err = is(c); yes || err != nil {
				return err
			}
		}
		return nil
	})
	return yes, err
}

// instanceOf is type.__instancecheck__: by the class of o, and by what o says that its class is.
func (in *Interp) instanceOf(o, cls Object) (bool, error) {
	t := o.Type()
	c, isType := cls.(*Type)
	if isType {
		if t.IsSubtype(c) {
			return true, nil
		}
		if t.Lookup("__class__") == objectClass && t.hooks().getattribute == nil {
			return false, nil
		}
	} else if err := in.checkClass(cls, "isinstance() arg 2 must be a type, a tuple of types, or a union"); err != nil {
		return false, err
	}
	claimed, err := in.GetAttrOpt(o, "__class__")
	if err != nil || claimed == nil {
		return false, err
	}
	if !isType {
		return in.derives(claimed, cls)
	}
	k, ok := claimed.(*Type)
	return ok && k.IsSubtype(c), nil
}

// subclassOf is type.__subclasscheck__.
func (in *Interp) subclassOf(o, cls Object) (bool, error) {
	t, ok := o.(*Type)
	if c, isType := cls.(*Type); ok && isType {
		return t.IsSubtype(c), nil
	}
	if err := in.checkClass(o, "issubclass() arg 1 must be a class"); err != nil {
		return false, err
	}
	if err := in.checkClass(cls, "issubclass() arg 2 must be a class, a tuple of classes, or a union"); err != nil {
		return false, err
	}
	return in.derives(o, cls)
}

// derives follows __bases__ from o up to cls.
func (in *Interp) derives(o, cls Object) (yes bool, err error) {
	for {
		if o == cls {
			return true, nil
		}
		b, err := in.basesOf(o)
		if err != nil || b == nil || len(b.Items) == 0 {
			return false, err
		}
		if len(b.Items) > 1 {
			return in.anyOf(b.Items, func(x Object) (bool, error) { return in.derives(x, cls) })
		}
		o = b.Items[0]
		if err := in.Poll(); err != nil {
			return false, err
		}
	}
}

// basesOf is __bases__, nil where there is no such tuple.
func (in *Interp) basesOf(o Object) (*Tuple, error) {
	if t, ok := o.(*Type); ok {
		b := &Tuple{}
		for _, x := range t.Bases {
			b.Items = append(b.Items, x)
		}
		return b, nil
	}
	v, err := in.GetAttrOpt(o, "__bases__")
	if err != nil || v == nil {
		return nil, err
	}
	b, _ := v.(*Tuple)
	return b, nil
}

// checkClass raises a TypeError for what has no __bases__.
func (in *Interp) checkClass(o Object, text string) error {
	b, err := in.basesOf(o)
	if err == nil && b == nil {
		err = in.Errorf(in.Exc.TypeError, "%s", text)
	}
	return err
}

// answer makes an Object of a decision.
func answer(yes bool, err error) (Object, error) {
	if err != nil {
		return nil, err
	}
	return MakeBool(yes), nil
}

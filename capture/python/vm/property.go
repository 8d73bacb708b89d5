package vm

// initProperty gives property what makes one: __new__ leaves it empty and __init__ fills it, so that a subclass may have arguments of its own.
func initProperty() {
	t := PropertyType
	t.New = func(in *Interp, cls *Type, _ []Object, _ []KwArg) (Object, error) {
		return wrap(cls, PropertyType, &Property{Doc: None}), nil
	}
	addKw(t, "__init__", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		p, ok := unwrap(args[0]).(*Property)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '__init__' requires a 'property' object but received a '%s'", TypeName(args[0]))
		}
		a, err := in.ParseArgs("property", args[1:], kw, "fget=None, fset=None, fdel=None, doc=None")
		if err != nil {
			return nil, err
		}
		*p = Property{Get: given(a[0]), Set: given(a[1]), Del: given(a[2]), Doc: a[3], name: p.name}
		if a[3] == None && p.Get != nil {
			d, err := in.GetAttrOpt(p.Get, "__doc__")
			if err != nil {
				return nil, err
			}
			if d != nil {
				p.Doc, p.own = d, true
			}
		}
		if args[0].Type() != t { // the class's own docstring would hide it
			if i, ok := args[0].(*Instance); ok && p.own {
				if err := in.SetAttr(i, "__doc__", p.Doc); err != nil {
					return nil, err
				}
			}
		}
		return None, nil
	})
	for i, name := range []string{"getter", "setter", "deleter"} {
		addMethod(t, name, 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			return unwrap(args[0]).(*Property).with(in, args[0].Type(), i, args[1])
		})
	}
	addMethod(t, "__set_name__", 0, -1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if len(args) != 3 {
			return nil, in.Errorf(in.Exc.TypeError, "__set_name__() takes 2 positional arguments but %d were given", len(args)-1)
		}
		unwrap(args[0]).(*Property).name, _ = AsStr(args[2])
		return None, nil
	})
}

// given is a function that a property was given, nil for None.
func given(o Object) Object {
	if o == None {
		return nil
	}
	return o
}

// with is a property of class t with another function: 0 is the getter, 1 the setter, 2 the deleter. A docstring that was the getter's is
// that of the new one.
func (p *Property) with(in *Interp, t *Type, which int, f Object) (Object, error) {
	args := []Object{orNone(p.Get), orNone(p.Set), orNone(p.Del), orNone(p.Doc)}
	if f != None {
		args[which] = f
	}
	if p.own && args[0] != None {
		args[3] = None
	}
	v, err := in.Call(t, args, nil)
	if n, ok := v.(*Property); ok {
		n.name = p.name
	} else if v != nil {
		if n, ok := unwrap(v).(*Property); ok {
			n.name = p.name
		}
	}
	return v, err
}

// lacks is the AttributeError for a property of an instance of t without a getter, setter or deleter.
func (p *Property) lacks(in *Interp, t *Type, what string) error {
	if p.name == "" {
		return in.Errorf(in.Exc.AttributeError, "property of '%s' object has no %s", t.Qualname, what)
	}
	return in.Errorf(in.Exc.AttributeError, "property '%s' of '%s' object has no %s", p.name, t.Qualname, what)
}

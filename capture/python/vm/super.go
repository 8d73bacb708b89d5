package vm

import "slices"

// Type implements Object.
func (s *Super) Type() *Type {
	if s.class != nil {
		return s.class
	}
	return SuperType
}

// AttrDict implements HasDict.
func (s *Super) AttrDict(create bool) *Dict {
	if s.dict == nil && create && s.class != nil {
		s.dict = NewDict()
	}
	return s.dict
}

// getAttr looks a name up behind Start in the MRO of the object's class, and binds what it finds to the object, as if the object's class had
// it. Where super() stands for a class (in a class method or __new__), it is bound as an attribute of that. Only super's own attributes are left
// when there is nothing: __class__ is always its own.
func (s *Super) getAttr(in *Interp, name string) (Object, error) {
	if name != "__class__" && s.SelfCls != nil {
		if v, _ := s.SelfCls.lookupAfter(s.Start, name); v != nil {
			if st, ok := s.Self.(*Type); ok && st == s.SelfCls {
				return st.bindOwn(in, v)
			}
			switch x := v.(type) {
			case *StaticMethod:
				return x.Func, nil
			case *ClassMethod:
				return x.bind(in, s.SelfCls)
			}
			return in.bindDescr(v, s.Self, s.SelfCls)
		}
	}
	t := s.Type()
	d := t.Lookup(name)
	if d == nil || !isData(d) {
		if s.dict != nil {
			if v, ok := s.dict.GetStr(name); ok {
				return v, nil
			}
		}
	}
	if d == nil {
		return nil, in.attrError(s, name, "'super' object has no attribute '%s'", name)
	}
	return in.bindDescr(d, s, t)
}

// bind checks that a super may stand for self, by its class or by what self says that its class is, and binds it.
func (s *Super) bind(in *Interp, self Object) error {
	if st, ok := self.(*Type); ok && st.IsSubtype(s.Start) {
		s.Self, s.SelfCls = self, st
		return nil
	}
	t := self.Type()
	if !t.IsSubtype(s.Start) {
		v, err := in.GetAttrOpt(self, "__class__")
		if err != nil {
			return err
		}
		c, ok := v.(*Type)
		if !ok || !c.IsSubtype(s.Start) {
			return in.Errorf(in.Exc.TypeError, "super(type, obj): obj must be an instance or subtype of type")
		}
		t = c
	}
	s.Self, s.SelfCls = self, t
	return nil
}

// of is what a super that is an attribute of a class gives where it is looked up on obj: one that is not bound is bound to it.
func (s *Super) of(in *Interp, obj Object) (Object, error) {
	if obj == None || s.Self != nil {
		return s, nil
	}
	if s.class != nil {
		return in.Call(s.class, []Object{s.Start, obj}, nil)
	}
	b := &Super{Start: s.Start}
	return b, b.bind(in, obj)
}

// ofFrame are the class and the object of super() without arguments: the cell __class__ and the first argument of the function that runs.
func (in *Interp) ofFrame() (t *Type, self Object, err error) {
	f := in.frame
	if f == nil || f.Code.ArgCount == 0 && f.Code.NumArgs() == 0 {
		return nil, nil, in.Errorf(in.Exc.RuntimeError, "super(): no arguments")
	}
	self = f.LocalsPlus[0]
	if c, ok := self.(*Cell); ok && slices.Contains(f.Code.CellVars, f.Code.VarNames[0]) {
		self = c.V
	}
	if self == nil {
		return nil, nil, in.Errorf(in.Exc.RuntimeError, "super(): arg[0] deleted")
	}
	slot := f.Code.CellSlot("__class__")
	if slot < 0 {
		return nil, nil, in.Errorf(in.Exc.RuntimeError, "super(): __class__ cell not found")
	}
	c, ok := f.LocalsPlus[slot].(*Cell)
	if !ok || c.V == nil {
		return nil, nil, in.Errorf(in.Exc.RuntimeError, "super(): empty __class__ cell")
	}
	if t, ok = c.V.(*Type); !ok {
		return nil, nil, in.Errorf(in.Exc.RuntimeError, "super(): __class__ is not a type (%s)", TypeName(c.V))
	}
	return t, self, nil
}

// initSuper gives super its methods. __new__ leaves it empty and __init__ fills it, so that a class that derives from it may have arguments of its own.
func initSuper() {
	st := SuperType
	fill := func(in *Interp, s *Super, args []Object) error {
		var self Object
		var err error
		switch len(args) {
		case 0:
			if s.Start, self, err = in.ofFrame(); self == None { // as super(type, None)
				self = nil
			}
		case 1, 2:
			var ok bool
			if s.Start, ok = args[0].(*Type); !ok {
				err = in.Errorf(in.Exc.TypeError, "super() argument 1 must be a type, not %s", TypeName(args[0]))
			} else if len(args) > 1 && args[1] != None {
				self = args[1]
			}
		default:
			err = in.Errorf(in.Exc.TypeError, "super() expected at most 2 arguments, got %d", len(args))
		}
		if err != nil || self == nil {
			return err
		}
		return s.bind(in, self)
	}
	st.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if cls != st {
			return &Super{class: cls}, nil
		}
		if len(kw) > 0 {
			return nil, in.Errorf(in.Exc.TypeError, "super() takes no keyword arguments")
		}
		s := &Super{}
		return s, fill(in, s, args)
	}
	addKw(st, "__init__", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		if len(kw) > 0 {
			return nil, in.Errorf(in.Exc.TypeError, "super() takes no keyword arguments")
		}
		if s := args[0].(*Super); s.Start == nil || len(args) > 1 { // __new__ has filled a plain one
			*s = Super{class: s.class, dict: s.dict}
			return None, fill(in, s, args[1:])
		}
		return None, nil
	})
	addGet(st, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return args[0].(*Super).of(in, args[1])
	})
	addGetSet(st, "__thisclass__", func(_ *Interp, o Object) (Object, error) {
		if t := o.(*Super).Start; t != nil {
			return t, nil
		}
		return None, nil
	}, nil)
	addGetSet(st, "__self__", func(_ *Interp, o Object) (Object, error) { return orNone(o.(*Super).Self), nil }, nil)
	addGetSet(st, "__self_class__", func(_ *Interp, o Object) (Object, error) {
		if t := o.(*Super).SelfCls; t != nil {
			return t, nil
		}
		return None, nil
	}, nil)
}

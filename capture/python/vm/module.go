package vm

// Set stores an attribute of a module.
func (m *Module) Set(name string, v Object) { m.Dict.SetStr(name, v) }

// Func adds a Go function to a module.
func (m *Module) Func(name string, fn GoFunc) *Builtin {
	b := &Builtin{Name: name, Module: m.Name, Fn: fn, Max: -1}
	m.Dict.SetStr(name, b)
	return b
}

// FuncN adds a Go function that takes between min and max positional arguments and no keywords.
func (m *Module) FuncN(name string, min, max int, fn func(in *Interp, args []Object) (Object, error)) *Builtin {
	b := &Builtin{Name: name, Module: m.Name, Min: min, Max: max, NoKw: true, Fn: func(in *Interp, args []Object, _ []KwArg) (Object, error) { return fn(in, args) }}
	m.Dict.SetStr(name, b)
	return b
}

// NewModule makes an empty module; it is not registered.
func (in *Interp) NewModule(name, doc string) *Module {
	m := &Module{Name: name, Dict: NewDict(), native: true}
	m.Dict.SetStr("__name__", Str(name))
	if doc != "" {
		m.Dict.SetStr("__doc__", Str(doc))
	} else {
		m.Dict.SetStr("__doc__", None)
	}
	m.Dict.SetStr("__package__", None)
	m.Dict.SetStr("__loader__", None)
	m.Dict.SetStr("__spec__", None)
	return m
}

// strList makes a list of strings.
func strList(ss []string) *List {
	l := &List{}
	for _, s := range ss {
		l.Items = append(l.Items, Str(s))
	}
	return l
}

// initModule gives the type of modules its methods. A module that __new__ made, and no __init__, has nothing in it.
func initModule() {
	t := ModuleType
	t.New = func(_ *Interp, cls *Type, _ []Object, _ []KwArg) (Object, error) {
		m := &Module{Dict: NewDict()}
		if cls != t {
			m.class = cls
			if cls.NumSlots > 0 {
				m.slots = make([]Object, cls.NumSlots)
			}
		}
		return m, nil
	}
	addGetSet(t, "__dict__", func(_ *Interp, o Object) (Object, error) { return o.(*Module).Dict, nil }, nil)
	addKw(t, "__init__", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("module", args[1:], kw, "name, doc=None")
		if err != nil {
			return nil, err
		}
		name, ok := AsStr(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "module() argument 'name' must be str, not %s", ArgName(a[0]))
		}
		m := args[0].(*Module)
		m.Name = name
		for _, e := range []struct {
			name string
			v    Object
		}{{"__name__", a[0]}, {"__doc__", a[1]}, {"__package__", None}, {"__loader__", None}, {"__spec__", None}} {
			m.Dict.SetStr(e.name, e.v)
		}
		return None, nil
	})
	addMethod(t, "__dir__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		m := args[0].(*Module)
		if f, ok := m.Dict.GetStr("__dir__"); ok {
			return in.Call(f, nil, nil)
		}
		return dirOf(in, m)
	})
	addDeletable(t, "__annotations__", func(in *Interp, self Object) (Object, error) {
		m := self.(*Module)
		if v, ok := m.Dict.GetStr("__annotations__"); ok {
			return v, nil
		}
		d := NewDict()
		m.Dict.SetStr("__annotations__", d)
		return d, nil
	}, func(in *Interp, self, v Object) error {
		m := self.(*Module)
		if v != nil {
			m.Dict.SetStr("__annotations__", v)
		} else if !m.Dict.DelStr("__annotations__") {
			return in.Errorf(in.Exc.AttributeError, "__annotations__")
		}
		return nil
	})
}

// moduleRepr is what importlib says of a module: by its spec, else by its loader and file.
func moduleRepr(in *Interp, m *Module) (string, error) {
	get := func(name string) Object { v, _ := m.Dict.GetStr(name); return v }
	repr := func(o Object) string {
		s, err := in.Repr(o)
		if err != nil {
			return o.Type().Name
		}
		return s
	}
	loader, file := get("__loader__"), get("__file__")
	if spec := get("__spec__"); spec != nil && spec != None {
		attr := func(name string) Object { v, _ := in.GetAttrOpt(spec, name); return v }
		name := attr("name")
		if name == nil || name == None {
			name = Str("?")
		}
		origin, l := attr("origin"), attr("loader")
		switch has, err := in.Truth(orNil(attr("has_location"))); {
		case err != nil:
			return "", err
		case (origin == nil || origin == None) && (l == nil || l == None):
			return "<module " + repr(name) + ">", nil
		case origin == nil || origin == None:
			return "<module " + repr(name) + " (" + repr(l) + ")>", nil
		case has:
			return "<module " + repr(name) + " from " + repr(origin) + ">", nil
		default:
			s, _ := AsStr(origin)
			return "<module " + repr(name) + " (" + s + ")>", nil
		}
	}
	name := get("__name__")
	if name == nil {
		name = Str("?")
	}
	switch {
	case file != nil:
		return "<module " + repr(name) + " from " + repr(file) + ">", nil
	case m.native:
		return "<module " + repr(name) + " (built-in)>", nil
	case loader == nil || loader == None:
		return "<module " + repr(name) + ">", nil
	}
	return "<module " + repr(name) + " (" + repr(loader) + ")>", nil
}

// orNil is None for no object.
func orNil(o Object) Object {
	if o == nil {
		return None
	}
	return o
}

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
	m := &Module{Name: name, Dict: NewDict()}
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

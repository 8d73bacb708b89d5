package pycontext

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// variable is a ContextVar.
type variable struct {
	vm.Identity
	m        *module
	name     vm.Object
	fallback vm.Object // nil: it has no value where none was set
}

// Type implements vm.Object.
func (v *variable) Type() *vm.Type { return v.m.variable }

// token is what set gives, by which the variable is put back.
type token struct {
	vm.Identity
	m       *module
	context *context
	v       *variable
	old     vm.Object // nil: there was no value
	used    bool
}

// Type implements vm.Object.
func (t *token) Type() *vm.Type { return t.m.token }

func (v *variable) set(in *vm.Interp, value vm.Object) (vm.Object, error) {
	x := v.m.current(in)
	old, _, err := x.values.Get(in, v)
	if err != nil {
		return nil, err
	}
	return &token{m: v.m, context: x, v: v, old: old}, x.values.Set(in, v, value)
}

func (v *variable) reset(in *vm.Interp, o vm.Object) error {
	s, err := in.Repr(o)
	if err != nil {
		return err
	}
	t, ok := o.(*token)
	x := v.m.current(in)
	switch {
	case !ok:
		return in.Errorf(in.Exc.TypeError, "expected an instance of Token, got %s", s)
	case t.used:
		return in.Errorf(in.Exc.RuntimeError, "%s has already been used once", s)
	case t.v != v:
		return in.Errorf(in.Exc.ValueError, "%s was created by a different ContextVar", s)
	case t.context != x:
		return in.Errorf(in.Exc.ValueError, "%s was created in a different Context", s)
	}
	t.used = true
	if t.old != nil {
		return x.values.Set(in, v, t.old)
	}
	_, err = x.values.Del(in, v)
	return err
}

// makeVariable makes ContextVar.
func (m *module) makeVariable(in *vm.Interp) {
	params := vm.NewParams("ContextVar", "name, *, default=nil")
	m.variable = in.NewNativeType(vm.Spec{Name: "ContextVar", Module: "_contextvars", NoDict: true, Strict: true, Final: true,
		New: func(in *vm.Interp, _ *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if n := len(args); n > 1 || n+len(kw) == 0 {
				how := "exactly"
				if n > 1 {
					how = "at most"
				}
				return nil, in.Errorf(in.Exc.TypeError, "ContextVar() takes %s 1 positional argument (%d given)", how, n)
			}
			a, err := params.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			if _, ok := vm.AsStr(a[0]); !ok {
				return nil, in.Errorf(in.Exc.TypeError, "context variable name must be a str")
			}
			return &variable{m: m, name: a[0], fallback: a[1]}, nil
		},
		Class: map[string]vm.GoFunc{"__class_getitem__": vm.ClassGetItem},
		Methods: map[string]vm.GoFunc{
			"__init__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil },
			"get": clinic.Method("get", "default=nil, /", func(c *clinic.Call) (vm.Object, error) {
				v := c.Self.(*variable)
				value, ok, err := m.current(c.Interp).values.Get(c.Interp, v)
				switch {
				case err != nil || ok:
					return value, err
				case c.Args[0] != nil:
					return c.Args[0], nil
				case v.fallback != nil:
					return v.fallback, nil
				}
				return nil, c.RaiseObj(c.Exc.LookupError, v)
			}),
			"set":   clinic.Method("set", "value, /", func(c *clinic.Call) (vm.Object, error) { return c.Self.(*variable).set(c.Interp, c.Args[0]) }),
			"reset": clinic.Method("reset", "token, /", func(c *clinic.Call) (vm.Object, error) { return vm.None, c.Self.(*variable).reset(c.Interp, c.Args[0]) }),
			"__repr__": clinic.Method("__repr__", "", func(c *clinic.Call) (vm.Object, error) {
				v := c.Self.(*variable)
				s, err := c.Repr(v.name)
				if err == nil && v.fallback != nil {
					var d string
					d, err = c.Repr(v.fallback)
					s += " default=" + d
				}
				return vm.Str("<ContextVar name=" + s + " at " + c.Addr(v) + ">"), err
			}),
		},
		GetSet: []*vm.GetSet{readonly("name", func(o vm.Object) vm.Object { return o.(*variable).name })}})
}

// readonly is an attribute that nobody sets.
func readonly(name string, get func(o vm.Object) vm.Object) *vm.GetSet {
	return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return get(o), nil },
		Set: func(in *vm.Interp, _, _ vm.Object) error {
			return in.Errorf(in.Exc.AttributeError, "readonly attribute")
		}}
}

// makeToken makes Token.
func (m *module) makeToken(in *vm.Interp) {
	missing := in.NewNativeType(vm.Spec{Name: "Token.MISSING", Module: "builtins", NoDict: true, Final: true, New: noNew("Token.MISSING"), Methods: map[string]vm.GoFunc{
		"__repr__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.Str("<Token.MISSING>"), nil },
	}})
	m.missing = vm.NewInstance(missing, m)
	m.token = in.NewNativeType(vm.Spec{Name: "Token", Module: "_contextvars", NoDict: true, Strict: true, Final: true,
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.RuntimeError, "Tokens can only be created by ContextVars")
		},
		Class: map[string]vm.GoFunc{"__class_getitem__": vm.ClassGetItem},
		Attrs: map[string]vm.Object{"MISSING": m.missing, "__hash__": vm.None},
		Methods: map[string]vm.GoFunc{
			"__repr__": clinic.Method("__repr__", "", func(c *clinic.Call) (vm.Object, error) {
				t := c.Self.(*token)
				s, err := c.Repr(t.v)
				used := ""
				if t.used {
					used = " used"
				}
				return vm.Str("<Token" + used + " var=" + s + " at " + c.Addr(t) + ">"), err
			}),
		},
		GetSet: []*vm.GetSet{
			{Name: "var", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return o.(*token).v, nil }},
			{Name: "old_value", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
				if old := o.(*token).old; old != nil {
					return old, nil
				}
				return m.missing, nil
			}},
		}})
}

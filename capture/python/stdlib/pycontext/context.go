package pycontext

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// context is a Context: variables with their values.
type context struct {
	vm.Identity
	m       *module
	values  *vm.Dict
	entered bool
}

// Type implements vm.Object.
func (x *context) Type() *vm.Type { return x.m.context }

// module is what the classes share.
type module struct {
	context, variable, token *vm.Type
	missing                  vm.Object // Token.MISSING
	iters                    [3]*vm.Type
}

// currentKey finds a thread's context.
type currentKey struct{}

// current is the context that runs.
func (m *module) current(in *vm.Interp) *context {
	ext := in.Thread().Ext
	x, ok := ext[currentKey{}].(*context)
	if !ok {
		x = m.newContext()
		x.entered = true
		ext[currentKey{}] = x
	}
	return x
}

func (m *module) newContext() *context { return &context{m: m, values: vm.NewDict()} }

func (x *context) dup() *context { return &context{m: x.m, values: x.values.Copy()} }

// run calls a function in the context.
func (x *context) run(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if x.entered {
		s, err := in.Repr(x)
		if err != nil {
			return nil, err
		}
		return nil, in.Errorf(in.Exc.RuntimeError, "cannot enter context: %s is already entered", s)
	}
	before := x.m.current(in)
	ext := in.Thread().Ext
	x.entered = true
	ext[currentKey{}] = x
	defer func() {
		x.entered = false
		ext[currentKey{}] = before
	}()
	return in.Call(args[0], args[1:], kw)
}

// key checks that a key is a variable.
func key(in *vm.Interp, o vm.Object) error {
	if _, ok := o.(*variable); ok {
		return nil
	}
	s, err := in.Repr(o)
	if err != nil {
		return err
	}
	return in.Errorf(in.Exc.TypeError, "a ContextVar key was expected, got %s", s)
}

// iterate walks through the keys, values or items.
func (x *context) iterate(in *vm.Interp, kind int) (vm.Object, error) {
	it, err := in.Iter(vm.NewDictView(x.values, kind, [...]*vm.Type{vm.DictKeysType, vm.DictValuesType, vm.DictItemsType}[kind]))
	if err != nil {
		return nil, err
	}
	return &vm.GoIter{T: x.m.iters[kind], NextFn: func(in *vm.Interp) (vm.Object, error) { return in.Next(it) }}, nil
}

// makeIters makes the classes of the iterators.
func (m *module) makeIters(in *vm.Interp) {
	for i, name := range []string{"keys", "values", "items"} {
		m.iters[i] = in.NewNativeType(vm.Spec{Name: name, Module: "builtins", NoDict: true, Strict: true, Final: true, New: noNew(name),
			Methods: map[string]vm.GoFunc{
				"__iter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
				"__next__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
					v, err := a[0].(*vm.GoIter).Next(in)
					if v == nil && err == nil {
						return nil, in.RaiseObj(in.Exc.StopIteration)
					}
					return v, err
				},
			}})
	}
}

func noNew(name string) vm.NewFunc {
	return func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return nil, in.Errorf(in.Exc.TypeError, "cannot create '%s' instances", name)
	}
}

// makeContext makes Context.
func (m *module) makeContext(in *vm.Interp) {
	methods := map[string]vm.GoFunc{
		"run": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(a) < 2 {
				return nil, in.Errorf(in.Exc.TypeError, "run() missing 1 required positional argument")
			}
			return a[0].(*context).run(in, a[1:], kw)
		},
	}
	def := func(name, params string, f func(c *clinic.Call, x *context) (vm.Object, error)) {
		methods[name] = clinic.Method(name, params, func(c *clinic.Call) (vm.Object, error) { return f(c, c.Self.(*context)) })
	}
	def("copy", "", func(_ *clinic.Call, x *context) (vm.Object, error) { return x.dup(), nil })
	def("get", "key, default=None, /", func(c *clinic.Call, x *context) (vm.Object, error) {
		if err := key(c.Interp, c.Args[0]); err != nil {
			return nil, err
		}
		v, ok, err := x.values.Get(c.Interp, c.Args[0])
		if !ok {
			v = c.Args[1]
		}
		return v, err
	})
	def("__getitem__", "key, /", func(c *clinic.Call, x *context) (vm.Object, error) {
		if err := key(c.Interp, c.Args[0]); err != nil {
			return nil, err
		}
		v, ok, err := x.values.Get(c.Interp, c.Args[0])
		if err == nil && !ok {
			err = c.KeyError(c.Args[0])
		}
		return v, err
	})
	def("__contains__", "key, /", func(c *clinic.Call, x *context) (vm.Object, error) {
		if err := key(c.Interp, c.Args[0]); err != nil {
			return nil, err
		}
		_, ok, err := x.values.Get(c.Interp, c.Args[0])
		return vm.MakeBool(ok), err
	})
	def("__len__", "", func(_ *clinic.Call, x *context) (vm.Object, error) { return vm.MakeInt(int64(x.values.Len())), nil })
	for kind, names := range [][]string{{"keys", "__iter__"}, {"values"}, {"items"}} {
		for _, name := range names {
			def(name, "", func(c *clinic.Call, x *context) (vm.Object, error) { return x.iterate(c.Interp, kind) })
		}
	}
	def("__eq__", "other, /", func(c *clinic.Call, x *context) (vm.Object, error) {
		y, ok := c.Args[0].(*context)
		if !ok {
			return vm.NotImplemented, nil
		}
		same, err := c.Eq(x.values, y.values)
		return vm.MakeBool(same), err
	})
	m.context = in.NewNativeType(vm.Spec{Name: "Context", Module: "_contextvars", NoDict: true, Strict: true, Final: true, Methods: methods,
		New: func(in *vm.Interp, _ *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(args)+len(kw) > 0 {
				return nil, in.Errorf(in.Exc.TypeError, "Context() does not accept any arguments")
			}
			return m.newContext(), nil
		}})
}

// Module makes _contextvars.
func Module(in *vm.Interp) (*vm.Module, error) {
	mod := in.NewModule("_contextvars", "Context Variables")
	m := &module{}
	m.makeIters(in)
	m.makeContext(in)
	m.makeVariable(in)
	m.makeToken(in)
	mod.Set("Context", m.context)
	mod.Set("ContextVar", m.variable)
	mod.Set("Token", m.token)
	clinic.Def(mod, "copy_context", "", func(c *clinic.Call) (vm.Object, error) { return m.current(c.Interp).dup(), nil })
	return mod, nil
}

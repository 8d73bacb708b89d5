package pyctypes

import (
	"whittle/capture/python/vm"
)

// function is what an address of code stands for: one of the module's own, or a callable of Python's.
type function func(f *data, args []vm.Object) (vm.Object, error)

// codeAddress is the address of the first function of the module's own; no memory is there.
const codeAddress = 0x5000

// addCode gives code an address.
func (c *lib) addCode(f function) uint64 {
	c.code = append(c.code, f)
	return codeAddress + 16*uint64(len(c.code)-1)
}

// codeAt is the code at an address.
func (c *lib) codeAt(address uint64) (function, error) {
	if i := (address - codeAddress) / 16; address >= codeAddress && i < uint64(len(c.code)) {
		return c.code[i], nil
	}
	return nil, c.in.Errorf(c.in.Exc.ValueError, "there is no code at 0x%x: foreign functions cannot be called here", address)
}

// newFunction makes a class of functions.
func (c *lib) newFunction(in *vm.Interp, meta *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	cls, l, err := c.newClass(meta, args, kw)
	if err != nil || cls == nil || cls.MRO[1] == c.cdata {
		return cls, err
	}
	if l == nil {
		l = &layout{class: cls, kind: functionKind, size: 8, align: 8, pointers: true}
		cls.Native = l
	}
	flags, err := in.GetAttrOpt(cls, "_flags_")
	if err != nil {
		return nil, err
	}
	if _, ok := vm.AsInt(orNone(flags)); !ok {
		return nil, in.Errorf(in.Exc.TypeError, "class must define _flags_ which must be an integer")
	}
	argtypes, err := in.GetAttrOpt(cls, "_argtypes_")
	if err != nil {
		return nil, err
	}
	if argtypes != nil {
		t, ok := vm.AsTuple(argtypes)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "_argtypes_ must be a sequence of types")
		}
		if err := c.takesParams(t.Items, "_argtypes_"); err != nil {
			return nil, err
		}
		l.args, l.hasArgs = t.Items, true
	}
	result, err := in.GetAttrOpt(cls, "_restype_")
	if err != nil {
		return nil, err
	}
	if l.result = result; result != nil && result != vm.None && layoutOf(result) == nil && !callable(result) {
		return nil, in.Errorf(in.Exc.TypeError, "_restype_ must be a type, a callable, or None")
	}
	return cls, nil
}

func callable(o vm.Object) bool { return o.Type().Lookup("__call__") != nil }

// takesParams raises if one of the types of arguments has no from_param.
func (c *lib) takesParams(types []vm.Object, what string) error {
	for i, t := range types {
		f, err := c.in.GetAttrOpt(t, "from_param")
		if err != nil {
			return err
		}
		if f == nil {
			return c.in.Errorf(c.in.Exc.TypeError, "item %d in %s has no from_param method", i+1, what)
		}
	}
	return nil
}

// prototype is what one function says about its calls, beyond its class.
type prototype struct {
	args     []vm.Object
	hasArgs  bool
	result   vm.Object // nil: the class's
	errcheck vm.Object
}

// functionType is CFuncPtr.
func (c *lib) functionType() *vm.Type {
	of := func(o vm.Object) *prototype {
		d := dataOf(o)
		if d.prototype == nil {
			d.prototype = &prototype{args: d.layout.args, hasArgs: d.layout.hasArgs, result: d.layout.result}
		}
		return d.prototype
	}
	return c.in.NewNativeType(vm.Spec{Name: "CFuncPtr", Module: "_ctypes", Bases: []*vm.Type{c.cdata}, Meta: c.metaFunction, NoDict: true, New: c.newFuncPtr,
		Methods: map[string]vm.GoFunc{
			"__bool__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.MakeBool(dataOf(args[0]).target() != 0), nil
			},
			"__call__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				return c.call(dataOf(args[0]), of(args[0]), args[1:])
			},
		},
		GetSet: []*vm.GetSet{
			{Name: "argtypes",
				Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
					if p := of(o); p.hasArgs {
						return vm.NewTuple(p.args...), nil
					}
					return vm.None, nil
				},
				Set: func(in *vm.Interp, o, v vm.Object) error {
					p := of(o)
					if v == nil || v == vm.None {
						p.args, p.hasArgs = nil, false
						return nil
					}
					types, err := in.IterAll(v)
					if err != nil {
						return err
					}
					if err := c.takesParams(types, "_argtypes_"); err != nil {
						return err
					}
					p.args, p.hasArgs = types, true
					return nil
				}},
			{Name: "restype",
				Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return orNone(of(o).result), nil },
				Set: func(in *vm.Interp, o, v vm.Object) error {
					if v == nil {
						of(o).result = dataOf(o).layout.result
						return nil
					}
					if v != vm.None && layoutOf(v) == nil && !callable(v) {
						return in.Errorf(in.Exc.TypeError, "restype must be a type, a callable, or None")
					}
					of(o).result = v
					return nil
				}},
			{Name: "errcheck",
				Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return orNone(of(o).errcheck), nil },
				Set: func(in *vm.Interp, o, v vm.Object) error {
					if v != nil && !callable(v) {
						return in.Errorf(in.Exc.TypeError, "the errcheck attribute must be callable")
					}
					of(o).errcheck = v
					return nil
				}},
		}})
}

// newFuncPtr makes a function of nothing, of an address, of a callable of Python's, or of a name in a library.
func (c *lib) newFuncPtr(in *vm.Interp, cls *vm.Type, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	l := layoutOf(cls)
	if l == nil {
		return nil, in.Errorf(in.Exc.TypeError, "cannot construct instance of this class: no argtypes")
	}
	d, err := c.create(cls)
	if err != nil || len(args) == 0 {
		return d.self, err
	}
	if t, ok := vm.AsTuple(args[0]); ok {
		if len(t.Items) != 2 {
			return nil, in.Errorf(in.Exc.TypeError, "argument 1 must be tuple of length 2, not %d", len(t.Items))
		}
		return nil, c.undefined(t.Items[1], t.Items[0], in.Exc.AttributeError)
	}
	if _, ok := vm.AsInt(args[0]); ok {
		store(d.mem, intAddress(args[0]))
		return d.self, nil
	}
	if !callable(args[0]) {
		return nil, in.Errorf(in.Exc.TypeError, "argument must be callable or integer function address")
	}
	if !l.hasArgs {
		return nil, in.Errorf(in.Exc.TypeError, "cannot construct instance of this class: no argtypes")
	}
	fn := args[0]
	store(d.mem, c.addCode(func(f *data, args []vm.Object) (vm.Object, error) { return c.callback(l, fn, args) }))
	d.hold(0, fn, fn)
	return d.self, nil
}

// undefined says that a library, or this program, has no such symbol, which is true of all libraries here.
func (c *lib) undefined(library, name vm.Object, class *vm.Type) error {
	path, err := c.in.GetAttrOpt(library, "_name")
	if err != nil {
		return err
	}
	where, _ := vm.AsStr(orNone(path))
	if where == "" {
		where = "whittle"
	}
	s, ok := vm.AsStr(name)
	if !ok {
		if s, err = c.in.Repr(name); err != nil {
			return err
		}
	}
	return c.in.Errorf(class, "%s: undefined symbol: %s", where, s)
}

// call converts the arguments, calls what is at the address, and converts the result.
func (c *lib) call(d *data, p *prototype, args []vm.Object) (vm.Object, error) {
	if d.target() == 0 {
		return nil, c.in.Errorf(c.in.Exc.ValueError, "NULL function pointer") // CPython ends here
	}
	code, err := c.codeAt(d.target())
	if err != nil {
		return nil, err
	}
	if need := len(p.args); p.hasArgs && len(args) < need {
		plural := "s"
		if need == 1 {
			plural = ""
		}
		return nil, c.in.Errorf(c.in.Exc.TypeError, "this function takes at least %d argument%s (%d given)", need, plural, len(args))
	}
	converted := make([]vm.Object, len(args))
	for i, a := range args {
		if converted[i], err = c.argument(p, i, a); err != nil {
			return nil, c.argumentError(i, err)
		}
	}
	out, err := code(d, converted)
	if err != nil {
		return nil, err
	}
	if out, err = c.returned(p.result, out); err != nil || p.errcheck == nil {
		return out, err
	}
	return c.in.Call(p.errcheck, []vm.Object{out, d.self, vm.NewTuple(args...)}, nil)
}

// argument converts one argument: by the type that the function names for it, or as whatever it is.
func (c *lib) argument(p *prototype, i int, a vm.Object) (vm.Object, error) {
	if i < len(p.args) {
		v, err := c.in.CallMethod(p.args[i], "from_param", a)
		if err != nil {
			return nil, err
		}
		a = v
	}
	_, number := vm.AsBig(a)
	_, text := vm.AsStr(a)
	_, raw := vm.AsBytes(a)
	if _, ok := a.(*param); ok || dataOf(a) != nil || a == vm.None || number || text || raw {
		return a, nil
	}
	as, err := c.in.GetAttrOpt(a, "_as_parameter_")
	if err != nil || as != nil {
		return as, err
	}
	return nil, c.in.Errorf(c.in.Exc.TypeError, "Don't know how to convert parameter %d", i+1)
}

// argumentError says which argument could not be converted, and why.
func (c *lib) argumentError(i int, err error) error {
	r, ok := err.(*vm.Raised)
	if !ok {
		return err
	}
	text, err := c.in.Call(vm.StrType, []vm.Object{r.Exc}, nil)
	if err != nil {
		return err
	}
	s, _ := vm.AsStr(text)
	return c.in.Errorf(c.argError, "argument %d: %s: %s", i+1, r.Exc.Type().Name, s)
}

// returned is a result as the type of results makes it: of the module's own functions, an object of Python's or a number.
func (c *lib) returned(result, out vm.Object) (vm.Object, error) {
	l := layoutOf(orNone(result))
	switch {
	case result == nil || result == vm.None:
		return vm.None, nil
	case l == nil:
		return c.in.Call(result, []vm.Object{out}, nil)
	case l.letter() == 'O':
		return out, nil
	}
	d, err := c.create(l.class)
	if err != nil {
		return nil, err
	}
	if src := dataOf(out); src != nil {
		copy(d.mem, src.mem)
		d.hold(0, out, src)
	} else if l.kind == simpleKind {
		if err := l.set(d, 0, d.mem, out); err != nil {
			return nil, err
		}
	} else {
		store(d.mem, intAddress(out))
	}
	return d.read(l, 0, 0)
}

// callback calls a callable of Python's as C would: the arguments pass through the types of C, and so does the result.
func (c *lib) callback(l *layout, fn vm.Object, args []vm.Object) (vm.Object, error) {
	passed := make([]vm.Object, len(l.args))
	for i, t := range l.args {
		of := layoutOf(t)
		if of == nil {
			return nil, c.in.Errorf(c.in.Exc.TypeError, "cannot build parameter")
		}
		d, err := c.create(of.class)
		if err != nil {
			return nil, err
		}
		if err := d.receive(args[i]); err != nil {
			return nil, err
		}
		if passed[i], err = d.read(of, 0, 0); err != nil {
			return nil, err
		}
	}
	out, err := c.in.Call(fn, passed, nil)
	if err != nil {
		if _, ok := err.(*vm.Raised); ok && c.in.Unraisable != nil { // C knows no exceptions: it is reported, and the result is zero
			c.in.Unraisable(err, "on calling ctypes callback function", fn)
			return vm.MakeInt(0), nil
		}
		return nil, err
	}
	return out, nil
}

// receive puts an argument of a call into memory.
func (d *data) receive(a vm.Object) error {
	if p, ok := a.(*param); ok {
		if p.keeps != nil {
			d.hold(0, nil, p.keeps)
			if src := dataOf(p.keeps); src != nil {
				d.awaits = src.root
			} else if p.block != nil {
				d.awaits = p.block
			}
		}
		if p.tag == 'P' || p.tag == 'z' || p.tag == 'Z' || p.tag == 'O' {
			store(d.mem, p.address())
			return nil
		}
		return d.layout.set(d, 0, d.mem, p.value)
	}
	if src := dataOf(a); src != nil && d.layout.kind == pointerKind && src.layout.kind == arrayKind {
		d.hold(0, a, src)
		store(d.mem, d.lib.address(src))
		return nil
	}
	return d.write(d.layout, 0, d.mem, a)
}

// ownFunctions are the functions that ctypes is built on, by the names of their addresses.
func (c *lib) ownFunctions() map[string]function {
	address := func(o vm.Object) uint64 {
		switch x := o.(type) {
		case *param:
			return x.address()
		case *vm.Instance:
			if d := dataOf(x); d != nil {
				return load(d.mem)
			}
		}
		if _, ok := vm.AsBig(o); ok {
			return intAddress(o)
		}
		return 0
	}
	number := func(o vm.Object) int64 {
		if p, ok := o.(*param); ok {
			o = p.value
		} else if d := dataOf(o); d != nil {
			return int64(load(d.mem))
		}
		n, _ := vm.AsInt(o)
		return n
	}
	text := func(width int, made func(b []byte) vm.Object) function {
		return func(_ *data, args []vm.Object) (vm.Object, error) {
			b, err := c.text(address(args[0]), int(number(args[1])), width)
			if err != nil {
				return nil, err
			}
			return made(b), nil
		}
	}
	return map[string]function{
		"_memmove_addr": func(_ *data, args []vm.Object) (vm.Object, error) {
			n := int(number(args[2]))
			if n == 0 {
				return c.pointerParam('P', address(args[0]), nil).value, nil
			}
			to, _, err := c.piece(address(args[0]), n)
			if err != nil {
				return nil, err
			}
			from, _, err := c.piece(address(args[1]), n)
			if err != nil {
				return nil, err
			}
			copy(to, from)
			return c.pointerParam('P', address(args[0]), nil).value, nil
		},
		"_memset_addr": func(_ *data, args []vm.Object) (vm.Object, error) {
			to, _, err := c.piece(address(args[0]), int(number(args[2])))
			if err != nil {
				return nil, err
			}
			for i := range to {
				to[i] = byte(number(args[1]))
			}
			return c.pointerParam('P', address(args[0]), nil).value, nil
		},
		"_string_at_addr":  text(1, func(b []byte) vm.Object { return vm.Bytes(b) }),
		"_wstring_at_addr": text(4, func(b []byte) vm.Object { return vm.Str(narrow(b)) }),
		"_cast_addr": func(_ *data, args []vm.Object) (vm.Object, error) {
			return c.cast(address(args[0]), args[1].(*param).keeps, args[2].(*param).keeps)
		},
	}
}

// cast is an address as a pointer of another type; it keeps what the one that it comes from keeps.
func (c *lib) cast(address uint64, src, to vm.Object) (vm.Object, error) {
	l := layoutOf(to)
	switch {
	case l != nil && (l.kind == pointerKind || l.kind == functionKind):
	case l != nil && l.kind == simpleKind && l.pointers:
	default:
		name := to.Type().Name
		if t, ok := to.(*vm.Type); ok {
			name = t.Name
		}
		return nil, c.in.Errorf(c.in.Exc.TypeError, "cast() argument 2 must be a pointer type, not %s", name)
	}
	d, err := c.create(l.class)
	if err != nil {
		return nil, err
	}
	store(d.mem, address)
	if s := dataOf(src); s != nil {
		objects := s.root.objectsDict()
		if s.root.layout.kind == simpleKind { // its one object has no place
			objects = vm.NewDict()
		}
		if err := objects.Set(c.in, vm.MakeInt(c.in.ID(src)), src); err != nil {
			return nil, err
		}
		d.objects, s.root.objects = objects, objects
		d.kept = map[string]any{"cast": s}
	} else if p, ok := src.(*param); ok {
		d.kept = map[string]any{"cast": p}
	} else if b, ok := vm.AsBytes(src); ok {
		store(d.mem, d.keepText(0, src, append(b[:len(b):len(b)], 0)))
	}
	return d.self, nil
}

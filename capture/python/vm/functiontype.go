package vm

import (
	"slices"
)

// initFunctions gives functions, methods and builtins their attributes.
func initFunctions() {
	t := FunctionType
	fn := func(o Object) *Function { return o.(*Function) }
	addGet(t, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if args[1] == None {
			return args[0], nil
		}
		return &BoundMethod{args[0], args[1]}, nil
	})
	addMethod(t, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		return in.Call(args[0], slices.Clone(args[1:]), kw)
	})
	addMethod(t, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return Str("<function " + fn(args[0]).Qualname + " at " + in.addr(args[0]) + ">"), nil
	})
	set := func(name string, get func(in *Interp, f *Function) Object, put func(in *Interp, f *Function, v Object) error) {
		var s func(in *Interp, self, v Object) error
		if put != nil {
			s = func(in *Interp, self, v Object) error { return put(in, fn(self), v) }
		}
		add := addGetSet
		switch name {
		case "__module__", "__doc__", "__defaults__", "__kwdefaults__", "__annotations__":
			add = addDeletable
		}
		add(t, name, func(in *Interp, self Object) (Object, error) { return get(in, fn(self)), nil }, s)
	}
	name := func(attr string, p func(f *Function) *string) (func(in *Interp, f *Function) Object, func(in *Interp, f *Function, v Object) error) {
		return func(_ *Interp, f *Function) Object { return Str(*p(f)) }, func(in *Interp, f *Function, v Object) error {
			s, ok := AsStr(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "%s must be set to a string object", attr)
			}
			*p(f) = s
			return nil
		}
	}
	g, s := name("__name__", func(f *Function) *string { return &f.Name })
	set("__name__", g, s)
	g, s = name("__qualname__", func(f *Function) *string { return &f.Qualname })
	set("__qualname__", g, s)
	set("__module__", func(_ *Interp, f *Function) Object { return orNone(f.Module) }, func(_ *Interp, f *Function, v Object) error { f.Module = v; return nil })
	set("__doc__", func(_ *Interp, f *Function) Object { return orNone(f.Doc) }, func(_ *Interp, f *Function, v Object) error { f.Doc = v; return nil })
	set("__globals__", func(_ *Interp, f *Function) Object { return f.Globals }, nil)
	set("__builtins__", func(_ *Interp, f *Function) Object { return f.Builtins }, nil)
	set("__dict__", func(_ *Interp, f *Function) Object { return f.AttrDict(true) }, func(in *Interp, f *Function, v Object) error {
		d, ok := v.(*Dict)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "__dict__ must be set to a dictionary, not a '%s'", TypeName(v))
		}
		f.Dict = d
		return nil
	})
	set("__code__", func(_ *Interp, f *Function) Object { return f.Code }, func(in *Interp, f *Function, v Object) error {
		c, ok := v.(*Code)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "__code__ must be set to a code object")
		}
		if n := len(c.FreeVars); n != len(f.Closure) {
			return in.Errorf(in.Exc.ValueError, "%s() requires a code object with %d free vars, not %d", f.Name, len(f.Closure), n)
		}
		f.Code = c
		return nil
	})
	set("__defaults__", func(_ *Interp, f *Function) Object {
		if len(f.Defaults) == 0 {
			return None
		}
		return NewTuple(f.Defaults...)
	}, func(in *Interp, f *Function, v Object) error {
		if v == None || v == nil {
			f.Defaults = nil
			return nil
		}
		tp, ok := AsTuple(v)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "__defaults__ must be set to a tuple object")
		}
		f.Defaults = tp.Items
		return nil
	})
	set("__kwdefaults__", func(_ *Interp, f *Function) Object {
		if f.KwDefaults == nil {
			return None
		}
		return f.KwDefaults
	}, func(in *Interp, f *Function, v Object) error { f.KwDefaults, _ = v.(*Dict); return nil })
	set("__closure__", func(_ *Interp, f *Function) Object {
		if len(f.Closure) == 0 {
			return None
		}
		var items []Object
		for _, c := range f.Closure {
			items = append(items, c)
		}
		return NewTuple(items...)
	}, nil)
	set("__annotations__", func(in *Interp, f *Function) Object { return f.Annotations() }, func(in *Interp, f *Function, v Object) error {
		if _, ok := v.(*Dict); !ok && v != nil && v != None {
			return in.Errorf(in.Exc.TypeError, "__annotations__ must be set to a dict object")
		}
		f.Annots = v
		if v == None {
			f.Annots = nil
		}
		return nil
	})
	FunctionType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("function", args, kw, "code, globals, name=None, argdefs=None, closure=None")
		if err != nil {
			return nil, err
		}
		c, ok := a[0].(*Code)
		g, ok2 := AsDict(a[1])
		if !ok || !ok2 {
			return nil, in.Errorf(in.Exc.TypeError, "function() argument 'code' must be code, not %s", ArgName(a[0]))
		}
		f := &Function{Code: c, Globals: g, Builtins: in.builtinsOf(g), Name: c.Name, Qualname: c.QualName, Doc: None, Module: None}
		if s, ok := AsStr(a[2]); ok {
			f.Name, f.Qualname = s, s
		}
		if m, ok := g.GetStr("__name__"); ok {
			f.Module = m
		}
		if tp, ok := a[3].(*Tuple); ok {
			f.Defaults = tp.Items
		}
		if tp, ok := a[4].(*Tuple); ok {
			for _, x := range tp.Items {
				cell, ok := x.(*Cell)
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "arg 5 (closure) expected cell, found %s", TypeName(x))
				}
				f.Closure = append(f.Closure, cell)
			}
		}
		if len(f.Closure) != len(c.FreeVars) {
			return nil, in.Errorf(in.Exc.ValueError, "%s requires closure of length %d, not %d", c.Name, len(c.FreeVars), len(f.Closure))
		}
		return f, nil
	}

	m := MethodType
	m.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(args) != 2 {
			return nil, in.Errorf(in.Exc.TypeError, "method expected 2 arguments, got %d", len(args))
		}
		return &BoundMethod{args[0], args[1]}, nil
	}
	addGetSet(m, "__func__", func(in *Interp, o Object) (Object, error) { return o.(*BoundMethod).Func, nil }, nil)
	addGetSet(m, "__self__", func(in *Interp, o Object) (Object, error) { return o.(*BoundMethod).Self, nil }, nil)
	for _, n := range []string{"__name__", "__qualname__", "__doc__", "__module__", "__code__", "__defaults__", "__kwdefaults__", "__globals__", "__closure__", "__annotations__", "__wrapped__"} {
		addGetSet(m, n, func(in *Interp, o Object) (Object, error) { return in.GetAttr(o.(*BoundMethod).Func, n) }, nil)
	}
	addMethod(m, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		return in.Call(args[0], slices.Clone(args[1:]), kw)
	})
	for _, t := range []*Type{m, BuiltinType, MethodWrapperType} {
		addMethod(t, "__eq__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			x, ok1 := args[0].(*BoundMethod)
			y, ok2 := args[1].(*BoundMethod)
			if !ok1 || !ok2 {
				return NotImplemented, nil
			}
			return MakeBool(Is(x.Func, y.Func) && Is(x.Self, y.Self)), nil
		})
	}
	addMethod(m, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b := args[0].(*BoundMethod)
		q := "?"
		for _, n := range []string{"__qualname__", "__name__"} {
			v, err := in.GetAttrOpt(b.Func, n)
			if err != nil {
				return nil, err
			}
			if s, ok := AsStr(v); ok {
				q = s
				break
			}
		}
		r, err := in.Repr(b.Self)
		return Str("<bound method " + q + " of " + r + ">"), err
	})
	addMethod(m, "__getattribute__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b := args[0].(*BoundMethod)
		name, _ := AsStr(args[1])
		v, err := in.genericGetAttr(b, MethodType, name)
		if v == nil && err == nil {
			if v, err = in.lookupAttr(b.Func, name); v == nil && err == nil {
				err = in.noAttr(b, name)
			}
		}
		return v, err
	})
	for _, bt := range []*Type{BuiltinType, MethodDescrType, WrapperDescrType, MethodWrapperType} {
		bi := func(o Object) *Builtin {
			if m, ok := o.(*BoundMethod); ok { // [].append
				o = m.Func
			}
			return o.(*Builtin)
		}
		addGetSet(bt, "__name__", func(in *Interp, o Object) (Object, error) { return Str(bi(o).Name), nil }, func(in *Interp, o, v Object) error {
			bi(o).Name, _ = AsStr(v)
			return nil
		})
		addGetSet(bt, "__qualname__", func(in *Interp, o Object) (Object, error) {
			if b := bi(o); b.Owner != nil {
				return Str(b.Owner.Name + "." + b.Name), nil
			}
			return Str(bi(o).Name), nil
		}, func(in *Interp, o, v Object) error { return nil })
		addGetSet(bt, "__module__", func(in *Interp, o Object) (Object, error) {
			if bi(o).Module == "" {
				return None, nil
			}
			return Str(bi(o).Module), nil
		}, func(in *Interp, o, v Object) error { bi(o).Module, _ = AsStr(v); return nil })
		addGetSet(bt, "__doc__", func(in *Interp, o Object) (Object, error) {
			if bi(o).Doc == "" {
				return None, nil
			}
			return Str(bi(o).Doc), nil
		}, func(in *Interp, o, v Object) error { bi(o).Doc, _ = AsStr(v); return nil })
		addGetSet(bt, "__text_signature__", func(in *Interp, o Object) (Object, error) { return bi(o).textSig(), nil }, nil)
		addMethod(bt, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			return in.Call(args[0], slices.Clone(args[1:]), kw)
		})
		addMethod(bt, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			b := bi(args[0])
			if m, ok := args[0].(*BoundMethod); ok && b.slot {
				return Str("<method-wrapper '" + b.Name + "' of " + TypeName(m.Self) + " object at " + in.addr(m.Self) + ">"), nil
			} else if ok {
				return Str("<built-in method " + b.Name + " of " + TypeName(m.Self) + " object at " + in.addr(m.Self) + ">"), nil
			}
			if b.slot {
				return Str("<slot wrapper '" + b.Name + "' of '" + b.Owner.errName() + "' objects>"), nil
			}
			if b.Method {
				return Str("<method '" + b.Name + "' of '" + b.Owner.errName() + "' objects>"), nil
			}
			return Str("<built-in function " + b.Name + ">"), nil
		})
	}
	for _, t := range []*Type{BuiltinType, MethodWrapperType} {
		addGetSet(t, "__self__", func(in *Interp, o Object) (Object, error) {
			if m, ok := o.(*BoundMethod); ok {
				return m.Self, nil
			}
			return o.(*Builtin).receiver(in), nil
		}, nil)
	}
	addGetSet(MethodWrapperType, "__objclass__", func(in *Interp, o Object) (Object, error) { return o.(*BoundMethod).Func.(*Builtin).Owner, nil }, nil)
	for _, t := range []*Type{MethodDescrType, WrapperDescrType} {
		addGetSet(t, "__objclass__", func(in *Interp, o Object) (Object, error) { return o.(*Builtin).Owner, nil }, nil)
		addGet(t, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			if args[1] == None {
				return args[0], nil
			}
			b := args[0].(*Builtin)
			if t := args[1].Type(); b.strict && !t.IsSubtype(b.Owner) {
				return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", b.Name, b.Owner.errName(), t.errName())
			}
			return &BoundMethod{b, args[1]}, nil
		})
	}
	initCodeFrame()
}

func orNone(o Object) Object {
	if o == nil {
		return None
	}
	return o
}

// Annotations gives the function's __annotations__ dict.
func (fn *Function) Annotations() *Dict {
	switch a := fn.Annots.(type) {
	case *Dict:
		return a
	case *Tuple:
		d := NewDict()
		for i := 0; i+1 < len(a.Items); i += 2 {
			d.SetStr(string(a.Items[i].(Str)), a.Items[i+1])
		}
		fn.Annots = d
		return d
	}
	d := NewDict()
	fn.Annots = d
	return d
}

// initCodeFrame gives code objects, frames, tracebacks and cells their attributes, under CPython's names.
func initCodeFrame() {
	initCode()
	initTracing()
	addMethod(FrameType, "clear", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return None, args[0].(*Frame).clear(in)
	})
	f := func(name string, get func(in *Interp, f *Frame) Object) {
		addGetSet(FrameType, name, func(in *Interp, o Object) (Object, error) { return get(in, o.(*Frame)), nil }, nil)
	}
	f("f_code", func(_ *Interp, f *Frame) Object { return f.Code })
	f("f_globals", func(_ *Interp, f *Frame) Object { return f.Globals })
	f("f_builtins", func(_ *Interp, f *Frame) Object { return f.Builtins })
	f("f_locals", func(_ *Interp, f *Frame) Object {
		s := f.spy
		if s == nil || s.event == "" || f.Locals != nil {
			return f.LocalsDict()
		}
		if s.locals == nil {
			s.locals, _ = f.LocalsDict().(*Dict)
		}
		return s.locals
	})
	f("f_lasti", func(_ *Interp, f *Frame) Object { return MakeInt(int64(f.Code.lasti(f.PC))) })
	f("f_back", func(_ *Interp, f *Frame) Object {
		if f.Back == nil {
			return None
		}
		f.Back.Retain()
		return f.Back
	})
	tb := func(name string, get func(in *Interp, t *Traceback) Object, set func(in *Interp, self, v Object) error) {
		addGetSet(TracebackType, name, func(in *Interp, o Object) (Object, error) { return get(in, o.(*Traceback)), nil }, set)
	}
	tb("tb_frame", func(in *Interp, t *Traceback) Object { return t.Frame(in) }, nil)
	tb("tb_lineno", func(in *Interp, t *Traceback) Object { return MakeInt(int64(t.Line())) }, nil)
	tb("tb_lasti", func(in *Interp, t *Traceback) Object {
		if t.made {
			return MakeInt(int64(t.lasti))
		}
		return MakeInt(int64(t.Code.lasti(t.PC)))
	}, nil)
	tb("tb_next", func(in *Interp, t *Traceback) Object {
		if t.Next == nil {
			return None
		}
		return t.Next
	}, func(in *Interp, self, v Object) error {
		next, ok := v.(*Traceback)
		if !ok && v != None {
			return in.Errorf(in.Exc.TypeError, "expected traceback object or None, got '%s'", TypeName(v))
		}
		for t := next; t != nil; t = t.Next {
			if t == self {
				return in.Errorf(in.Exc.ValueError, "traceback loop detected")
			}
		}
		self.(*Traceback).Next = next
		return nil
	})
	TracebackType.New = newTraceback
	for _, op := range allCompare {
		addMethod(CellType, compareDunders[op][0], 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			x, y := args[0].(*Cell), args[1]
			c, ok := y.(*Cell)
			if !ok {
				return NotImplemented, nil
			}
			if x.V != nil && c.V != nil {
				return in.Compare(op, x.V, c.V)
			}
			return nativeCompare(in, op, MakeBool(x.V != nil), MakeBool(c.V != nil)) // an empty cell is the least
		})
	}
	CellType.Dict.SetStr("__hash__", None)
	addDeletable(CellType, "cell_contents", func(in *Interp, o Object) (Object, error) {
		if v := o.(*Cell).V; v != nil {
			return v, nil
		}
		return nil, in.Errorf(in.Exc.ValueError, "Cell is empty")
	}, func(in *Interp, o, v Object) error { o.(*Cell).V = v; return nil })
	CellType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(args) > 0 {
			return &Cell{args[0]}, nil
		}
		return &Cell{}, nil
	}
}

// newTraceback is types.TracebackType(tb_next, tb_frame, tb_lasti, tb_lineno).
func newTraceback(in *Interp, _ *Type, args []Object, kw []KwArg) (Object, error) {
	a, err := in.ParseArgs("traceback", args, kw, "tb_next, tb_frame, tb_lasti, tb_lineno")
	if err != nil {
		return nil, err
	}
	next, ok := a[0].(*Traceback)
	if !ok && a[0] != None {
		return nil, in.Errorf(in.Exc.TypeError, "expected traceback object or None, got '%s'", TypeName(a[0]))
	}
	f, ok := a[1].(*Frame)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "traceback() argument 'tb_frame' must be frame, not %s", ArgName(a[1]))
	}
	at, err := in.Index(a[2])
	if err != nil {
		return nil, err
	}
	line, err := in.Index(a[3])
	if err != nil {
		return nil, err
	}
	return &Traceback{Code: f.Code, Globals: f.Globals, PC: f.Code.instrAt(int(at)), Next: next, frame: f, made: true, lasti: int(at), line: int(line)}, nil
}

// Frame gives the entry's frame; one that has been given back is stood in for by a copy without locals.
func (t *Traceback) Frame(in *Interp) *Frame {
	if t.frame == nil {
		t.frame = &Frame{Func: &Function{Code: t.Code, Globals: t.Globals, Name: t.Code.Name}, Code: t.Code, Globals: t.Globals, Builtins: in.Builtins.Dict,
			LocalsPlus: make([]Object, t.Code.nslots), PC: t.PC, heap: true}
		if t.Code.Name == "<module>" {
			t.frame.Locals = t.Globals
		}
	}
	return t.frame
}

// receiver is __self__: what the function is bound to, or else the class whose __new__ it is, or the module that it is in.
func (b *Builtin) receiver(in *Interp) Object {
	switch {
	case b.Self != nil:
		return b.Self
	case b.Owner != nil:
		return b.Owner
	}
	if m, ok := in.Modules.GetStr(b.Module); ok {
		return m
	}
	return None
}

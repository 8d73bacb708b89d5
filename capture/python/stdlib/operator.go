package stdlib

import (
	"whittle/capture/python/literal"
	"whittle/capture/python/vm"
)

func operatorModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_operator", "Operator interface.")
	alias := func(name string, b *vm.Builtin) {
		b.Module = "_operator"
		m.Set("__"+name+"__", b)
	}
	for name, op := range map[string]string{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
		"lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^"} {
		bare := name
		if bare[len(bare)-1] == '_' {
			bare = bare[:len(bare)-1]
		}
		alias(bare, m.FuncN(name, 2, 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) { return in.BinaryOp(op, a[0], a[1]) }))
		alias("i"+bare, m.FuncN("i"+bare, 2, 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) { return in.InplaceOp(op, a[0], a[1]) }))
	}
	for name, op := range map[string]string{"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="} {
		alias(name, m.FuncN(name, 2, 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) { return in.Compare(op, a[0], a[1]) }))
	}
	for name, op := range map[string]string{"neg": "-", "pos": "+", "invert": "~", "inv": "~"} {
		alias(name, m.FuncN(name, 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) { return in.UnaryOp(op, a[0]) }))
	}
	b := func(name string, n int, f func(in *vm.Interp, a []vm.Object) (vm.Object, error)) {
		alias(name, m.FuncN(name, n, n, f))
	}
	b("not_", 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		t, err := in.Truth(a[0])
		return vm.MakeBool(!t), err
	})
	b("truth", 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		t, err := in.Truth(a[0])
		return vm.MakeBool(t), err
	})
	b("is_", 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) { return vm.MakeBool(vm.Is(a[0], a[1])), nil })
	b("is_not", 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) { return vm.MakeBool(!vm.Is(a[0], a[1])), nil })
	b("contains", 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		t, err := in.Contains(a[0], a[1])
		return vm.MakeBool(t), err
	})
	b("getitem", 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) { return in.GetItem(a[0], a[1]) })
	b("setitem", 3, func(in *vm.Interp, a []vm.Object) (vm.Object, error) { return vm.None, in.SetItem(a[0], a[1], a[2]) })
	b("delitem", 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) { return vm.None, in.DelItem(a[0], a[1]) })
	joins := func(op func(op string, a, b vm.Object) (vm.Object, error)) func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		return func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
			if _, isDict := vm.AsDict(a[0]); isDict || a[0].Type().Lookup("__getitem__") == nil {
				return nil, in.Errorf(in.Exc.TypeError, "'%s' object can't be concatenated", vm.TypeName(a[0]))
			}
			return op("+", a[0], a[1])
		}
	}
	b("concat", 2, joins(in.BinaryOp))
	b("iconcat", 2, joins(in.InplaceOp))
	b("index", 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		if _, ok := vm.AsBig(a[0]); ok {
			return in.ToInt(a[0])
		}
		i, err := in.Index(a[0])
		return vm.MakeInt(i), err
	})
	b("abs", 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		f, _ := in.Builtins.Dict.GetStr("abs")
		return in.Call(f, a, nil)
	})
	// walk calls found for the index of each item of a[0] that is or equals a[1], until it gives false.
	walk := func(in *vm.Interp, a []vm.Object, found func(i int64) bool) error {
		it, err := in.Iter(a[0])
		for i := int64(0); err == nil; i++ {
			var v vm.Object
			if v, err = in.Next(it); v == nil || err != nil {
				return err
			}
			eq := vm.Is(v, a[1])
			if !eq {
				eq, err = in.Eq(v, a[1])
			}
			if err == nil && eq && !found(i) {
				return nil
			}
		}
		return err
	}
	b("countOf", 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		n := int64(0)
		err := walk(in, a, func(int64) bool { n++; return true })
		return vm.MakeInt(n), err
	})
	b("indexOf", 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		at := int64(-1)
		if err := walk(in, a, func(i int64) bool { at = i; return false }); err != nil {
			return nil, err
		}
		if at < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "sequence.index(x): x not in sequence")
		}
		return vm.MakeInt(at), nil
	})
	m.FuncN("length_hint", 1, 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		if len(a) > 1 {
			if _, err := in.Index(a[1]); err != nil {
				return nil, err
			}
		}
		if n, err := in.Len(a[0]); err == nil {
			return vm.MakeInt(int64(n)), nil
		} else if !in.Matches(err, in.Exc.TypeError) {
			return nil, err
		}
		if a[0].Type().Lookup("__length_hint__") != nil {
			n, err := in.CallMethod(a[0], "__length_hint__")
			if err != nil && !in.Matches(err, in.Exc.TypeError) {
				return nil, err
			}
			if err == nil && n != vm.NotImplemented {
				if !n.Type().IsSubtype(vm.IntType) {
					return nil, in.Errorf(in.Exc.TypeError, "__length_hint__ must be an integer, not %s", vm.TypeName(n))
				}
				if i, _ := vm.AsInt(n); i < 0 {
					return nil, in.Errorf(in.Exc.ValueError, "__length_hint__() should return >= 0")
				}
				return n, nil
			}
		}
		if len(a) > 1 {
			return a[1], nil
		}
		return vm.MakeInt(0), nil
	})
	m.FuncN("_compare_digest", 2, 2, compareDigest)
	m.Func("call", func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		if len(a) == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "call expected at least 1 argument, got 0")
		}
		return in.Call(a[0], a[1:], kw)
	})
	getter := func(name string, one func(in *vm.Interp, o, key vm.Object) (vm.Object, error)) {
		t := in.NewNativeType(vm.Spec{Strict: true, Name: name, Module: "operator",
			New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if len(args) == 0 {
					return nil, in.Errorf(in.Exc.TypeError, "%s expected 1 argument, got 0", name)
				}
				for _, k := range args {
					if _, ok := vm.AsStr(k); !ok && name == "attrgetter" {
						return nil, in.Errorf(in.Exc.TypeError, "attribute name must be a string")
					}
				}
				return vm.NewInstance(cls, args), nil
			},
			Methods: map[string]vm.GoFunc{
				"__init__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) { return vm.None, nil },
				"__call__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
					keys, _ := args[0].(*vm.Instance).Native.([]vm.Object)
					if len(kw) > 0 {
						return nil, in.Errorf(in.Exc.TypeError, "%s() takes no keyword arguments", name)
					}
					if len(args) != 2 {
						return nil, in.Errorf(in.Exc.TypeError, "%s expected 1 argument, got %d", name, len(args)-1)
					}
					if len(keys) == 1 {
						return one(in, args[1], keys[0])
					}
					var out []vm.Object
					for _, k := range keys {
						v, err := one(in, args[1], k)
						if err != nil {
							return nil, err
						}
						out = append(out, v)
					}
					return vm.NewTuple(out...), nil
				},
				"__reduce__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
					i := args[0].(*vm.Instance)
					keys, _ := i.Native.([]vm.Object)
					return vm.NewTuple(i.Class, vm.NewTuple(keys...)), nil
				},
				"__repr__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
					keys, _ := args[0].(*vm.Instance).Native.([]vm.Object)
					s, err := in.Repr(&vm.List{Items: keys})
					return vm.Str("operator." + name + "(" + s[1:len(s)-1] + ")"), err
				},
			}})
		m.Set(name, t)
	}
	getter("itemgetter", func(in *vm.Interp, o, key vm.Object) (vm.Object, error) { return in.GetItem(o, key) })
	getter("attrgetter", func(in *vm.Interp, o, key vm.Object) (vm.Object, error) {
		name := str(key)
		start := 0
		for i := 0; i <= len(name); i++ {
			if i == len(name) || name[i] == '.' {
				var err error
				if o, err = in.GetAttr(o, name[start:i]); err != nil {
					return nil, err
				}
				start = i + 1
			}
		}
		return o, nil
	})
	type call struct {
		name string
		args []vm.Object
		kw   []vm.KwArg
	}
	m.Set("methodcaller", in.NewNativeType(vm.Spec{Strict: true, Name: "methodcaller", Module: "operator",
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(args) == 0 {
				return nil, in.Errorf(in.Exc.TypeError, "methodcaller needs at least one argument, the method name")
			}
			if _, ok := vm.AsStr(args[0]); !ok {
				return nil, in.Errorf(in.Exc.TypeError, "method name must be a string")
			}
			return vm.NewInstance(cls, &call{str(args[0]), args[1:], kw}), nil
		},
		Methods: map[string]vm.GoFunc{
			"__reduce__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				i := args[0].(*vm.Instance)
				c := i.Native.(*call)
				if len(c.kw) == 0 {
					return vm.NewTuple(i.Class, vm.NewTuple(append([]vm.Object{vm.Str(c.name)}, c.args...)...)), nil
				}
				functools, err := in.Import("functools")
				if err != nil {
					return nil, err
				}
				partial, err := in.GetAttr(functools, "partial")
				if err != nil {
					return nil, err
				}
				f, err := in.Call(partial, []vm.Object{i.Class, vm.Str(c.name)}, c.kw)
				return vm.NewTuple(f, vm.NewTuple(c.args...)), err
			},
			"__repr__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				c, ok := args[0].(*vm.Instance).Native.(*call)
				if !ok {
					return vm.Str("operator.methodcaller()"), nil
				}
				s := "operator.methodcaller(" + literal.Str(c.name)
				for _, a := range c.args {
					r, err := in.Repr(a)
					if err != nil {
						return nil, err
					}
					s += ", " + r
				}
				for _, k := range c.kw {
					r, err := in.Repr(k.Value)
					if err != nil {
						return nil, err
					}
					s += ", " + k.Name + "=" + r
				}
				return vm.Str(s + ")"), nil
			},
			"__init__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) { return vm.None, nil },
			"__call__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				c := args[0].(*vm.Instance).Native.(*call)
				if len(args) != 2 || len(kw) > 0 {
					return nil, in.Errorf(in.Exc.TypeError, "methodcaller expected 1 argument, got %d", len(args)-1)
				}
				f, err := in.GetAttr(args[1], c.name)
				if err != nil {
					return nil, err
				}
				return in.Call(f, c.args, c.kw)
			},
		}}))
	return m, nil
}

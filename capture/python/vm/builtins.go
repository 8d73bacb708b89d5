package vm

import (
	"math/big"
	"slices"
	"unicode/utf8"

	"whittle/capture/python/code"
	"whittle/capture/python/syntax"
	"whittle/capture/python/wtf8"
)

// The builtins are made once and shared; those that hold state take it from the interpreter that calls them.
var builtinFuncs []*Builtin

func addBuiltin(name string, lo, hi int, fn GoFunc) {
	builtinFuncs = append(builtinFuncs, &Builtin{Name: name, Module: "builtins", Fn: fn, Min: lo, Max: hi, NoKw: hi >= 0, shared: true})
}

// newBuiltins makes an interpreter's module builtins. The functions in it are copies, as scripts may set attributes of them.
func newBuiltins(in *Interp) *Module {
	m := &Module{Name: "builtins", Dict: NewDict()}
	m.Dict.SetStr("__name__", Str("builtins"))
	m.Dict.SetStr("__doc__", None)
	for _, b := range builtinFuncs {
		c := *b
		m.Dict.SetStr(b.Name, &c)
		if b.Name == "__import__" {
			in.Imports.builtin = &c
		}
	}
	for _, t := range []*Type{ObjectType, TypeType, IntType, BoolType, FloatType, ComplexType, StrType, BytesType, ByteArrayType, TupleType, ListType, DictType,
		SetType, FrozenSetType, SliceType, RangeType, PropertyType, ClassMethodType, StaticMethodType, SuperType, EnumerateType, ZipType, MapType, FilterType, ReversedType, MemoryViewType} {
		m.Dict.SetStr(t.Name, t)
	}
	for _, t := range excByName {
		m.Dict.SetStr(t.Name, t)
	}
	m.Dict.SetStr("EnvironmentError", excTypes.OSError)
	m.Dict.SetStr("IOError", excTypes.OSError)
	m.Dict.SetStr("None", None)
	m.Dict.SetStr("True", True)
	m.Dict.SetStr("False", False)
	m.Dict.SetStr("Ellipsis", Ellipsis)
	m.Dict.SetStr("NotImplemented", NotImplemented)
	m.Dict.SetStr("__debug__", True)
	return m
}

func init() {
	addBuiltin("__build_class__", 0, -1, buildClass)
	addBuiltin("__import__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("__import__", args, kw, "name, globals=None, locals=None, fromlist=None, level=0")
		if err != nil {
			return nil, err
		}
		name, ok := AsStr(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "module name must be a string")
		}
		g, ok := AsDict(a[1])
		if !ok {
			g = NewDict()
		}
		level, _ := AsInt(a[4])
		if name == "" && level == 0 {
			return nil, in.Errorf(in.Exc.ValueError, "Empty module name")
		}
		return importRelative(in, g, name, a[3], int(level))
	})
	addBuiltin("print", 0, -1, builtinPrint)
	addBuiltin("len", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		n, err := in.Len(args[0])
		return MakeInt(int64(n)), err
	})
	addBuiltin("repr", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		s, err := in.Repr(args[0])
		return Str(s), err
	})
	addBuiltin("ascii", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		s, err := in.ascii(args[0])
		return Str(s), err
	})
	addBuiltin("format", 1, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		spec := ""
		if len(args) > 1 {
			s, ok := AsStr(args[1])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "format() argument 2 must be str, not %s", ArgName(args[1]))
			}
			spec = s
		}
		s, err := in.Format(args[0], spec)
		return Str(s), err
	})
	addBuiltin("isinstance", 2, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b, err := in.IsInstance(args[0], args[1])
		return MakeBool(b), err
	})
	addBuiltin("issubclass", 2, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b, err := in.IsSubclass(args[0], args[1])
		return MakeBool(b), err
	})
	attrName := func(in *Interp, o Object) (string, error) {
		s, ok := AsStr(o)
		if !ok {
			return "", in.Errorf(in.Exc.TypeError, "attribute name must be string, not '%s'", TypeName(o))
		}
		return s, nil
	}
	addBuiltin("getattr", 2, 3, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		n, err := attrName(in, args[1])
		if err != nil {
			return nil, err
		}
		if len(args) == 3 {
			v, err := in.GetAttrOpt(args[0], n)
			if v == nil && err == nil {
				return args[2], nil
			}
			return v, err
		}
		return in.GetAttr(args[0], n)
	})
	addBuiltin("hasattr", 2, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		n, err := attrName(in, args[1])
		if err != nil {
			return nil, err
		}
		v, err := in.GetAttrOpt(args[0], n)
		return MakeBool(v != nil), err
	})
	addBuiltin("setattr", 3, 3, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		n, err := attrName(in, args[1])
		if err != nil {
			return nil, err
		}
		return None, in.SetAttr(args[0], n, args[2])
	})
	addBuiltin("delattr", 2, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		n, err := attrName(in, args[1])
		if err != nil {
			return nil, err
		}
		return None, in.DelAttr(args[0], n)
	})
	addBuiltin("id", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return MakeInt(in.ID(args[0])), nil })
	addBuiltin("hash", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		h, err := in.Hash(args[0])
		return MakeInt(int64(h)), err
	})
	addBuiltin("callable", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return MakeBool(callable(args[0])), nil
	})
	addBuiltin("iter", 1, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if len(args) == 1 {
			return in.Iter(args[0])
		}
		f, end := args[0], args[1]
		if !callable(f) {
			return nil, in.Errorf(in.Exc.TypeError, "iter(v, w): v must be callable")
		}
		done := false
		return &GoIter{T: CallableIterType, Reduce: func(in *Interp, _ *Type) (Object, error) {
			if done {
				return remake(in, "iter", emptyTuple)
			}
			return NewTuple(in.builtin("iter"), NewTuple(f, end)), nil
		}, NextFn: func(in *Interp) (Object, error) {
			if done {
				return nil, nil
			}
			v, err := in.Call(f, nil, nil)
			if err != nil {
				if in.Matches(err, in.Exc.StopIteration) {
					done = true
					return nil, nil
				}
				return nil, err
			}
			eq, err := in.Eq(v, end)
			if err != nil || eq {
				done = true
				return nil, err
			}
			return v, nil
		}}, nil
	})
	addAsyncBuiltins()
	addBuiltin("next", 1, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if g, ok := args[0].(*Generator); ok {
			v, ret, err := g.resume(in, None, nil)
			if err != nil {
				return nil, err
			}
			if ret != nil {
				if len(args) > 1 {
					return args[1], nil
				}
				return nil, in.stopIteration(ret)
			}
			return v, nil
		}
		if _, ok := args[0].(Iterator); !ok {
			f := args[0].Type().Lookup("__next__")
			if f == nil {
				return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not an iterator", TypeName(args[0]))
			}
			v, err := in.callSpecial(f, args[0])
			if err != nil && len(args) > 1 && in.Matches(err, in.Exc.StopIteration) {
				return args[1], nil
			}
			return v, err
		}
		v, err := in.Next(args[0])
		if err != nil || v != nil {
			return v, err
		}
		if len(args) > 1 {
			return args[1], nil
		}
		return nil, in.stopIteration(None)
	})
	addBuiltin("abs", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		switch x := args[0].(type) {
		case Int:
			if x < 0 {
				return in.UnaryOp("-", x)
			}
			return x, nil
		case Float:
			if x < 0 || x == 0 {
				return Float(max(x, -x)), nil
			}
			return x, nil
		}
		v, ok, err := in.Special(args[0], "__abs__")
		if !ok && err == nil {
			err = in.Errorf(in.Exc.TypeError, "bad operand type for abs(): '%s'", TypeName(args[0]))
		}
		return v, err
	})
	addBuiltin("divmod", 2, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return in.BinaryOp("divmod", args[0], args[1])
	})
	addBuiltin("pow", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("pow", args, kw, "base, exp, mod=None")
		if err != nil {
			return nil, err
		}
		if a[2] == None {
			return in.BinaryOp("**", a[0], a[1])
		}
		if f := a[0].Type().Lookup("__pow__"); a[0].Type().Heap && f != nil && f != IntType.own("__pow__") {
			if v, err := in.callSpecial(f, a[0], a[1], a[2]); err != nil || v != NotImplemented {
				return v, err
			}
		}
		_, ok1 := AsBig(a[0])
		_, ok2 := AsBig(a[1])
		_, ok3 := AsBig(a[2])
		if !ok1 || !ok2 || !ok3 {
			if _, ok := unwrap(a[0]).(Complex); ok {
				return nil, in.Errorf(in.Exc.ValueError, "complex modulo")
			}
			if _, isFloat := unwrap(a[0]).(Float); !isFloat && !ok1 {
				if v, ok, err := in.Special(a[0], "__pow__", a[1], a[2]); err != nil || ok && v != NotImplemented {
					return v, err
				}
			}
			for _, o := range a[:3] {
				if _, ok := unwrap(o).(Float); ok {
					return nil, in.Errorf(in.Exc.TypeError, "pow() 3rd argument not allowed unless all arguments are integers")
				}
			}
			return nil, in.Errorf(in.Exc.TypeError, "unsupported operand type(s) for ** or pow(): '%s', '%s', '%s'", TypeName(a[0]), TypeName(a[1]), TypeName(a[2]))
		}
		return in.powMod(a[0], a[1], a[2])
	})
	addBuiltin("round", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("round", args, kw, "number, ndigits=None")
		if err != nil {
			return nil, err
		}
		f := a[0].Type().Lookup("__round__")
		if f == nil {
			return nil, in.Errorf(in.Exc.TypeError, "type %s doesn't define __round__ method", TypeName(a[0]))
		}
		if a[1] == None {
			return in.callSpecial(f, a[0])
		}
		return in.callSpecial(f, a[0], a[1])
	})
	addBuiltin("sum", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("sum", args, kw, "iterable, /, start=0")
		if err != nil {
			return nil, err
		}
		acc := a[1]
		if _, ok := acc.(Str); ok {
			return nil, in.Errorf(in.Exc.TypeError, "sum() can't sum strings [use ''.join(seq) instead]")
		}
		switch acc.(type) {
		case Bytes, *ByteArray:
			return nil, in.Errorf(in.Exc.TypeError, "sum() can't sum %s [use b''.join(seq) instead]", TypeName(acc))
		}
		it, err := in.Iter(a[0])
		if err != nil {
			return nil, err
		}
		n, small := acc.(Int) // the sum, while it is a small integer
		for {
			v, err := in.Next(it)
			if err != nil {
				return nil, err
			}
			if small {
				if y, ok := v.(Int); ok {
					if s := n + y; (n^s)&(y^s) >= 0 {
						n = s
						continue
					}
				}
				acc, small = MakeInt(int64(n)), false
			}
			if v == nil {
				return acc, nil
			}
			if acc, err = in.BinaryOp("+", acc, v); err != nil {
				return nil, err
			}
			n, small = acc.(Int)
		}
	})
	minmax := func(name, op string) {
		addBuiltin(name, 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			a, err := in.ParseArgs(name, args, kw, "*args, key=None, default=...")
			if err != nil {
				return nil, err
			}
			hasDefault := false
			for _, k := range kw {
				hasDefault = hasDefault || k.Name == "default"
			}
			var items []Object
			switch len(args) {
			case 0:
				return nil, in.Errorf(in.Exc.TypeError, "%s expected at least 1 argument, got 0", name)
			case 1:
				if items, err = in.IterAll(args[0]); err != nil {
					return nil, err
				}
			default:
				items = args
				if hasDefault {
					return nil, in.Errorf(in.Exc.TypeError, "Cannot specify a default for %s() with multiple positional arguments", name)
				}
			}
			if len(items) == 0 {
				if hasDefault {
					return a[2], nil
				}
				return nil, in.Errorf(in.Exc.ValueError, "%s() arg is an empty sequence", name)
			}
			var best, bestKey Object
			for _, it := range items {
				k := it
				if a[1] != None {
					if k, err = in.Call(a[1], []Object{it}, nil); err != nil {
						return nil, err
					}
				}
				if best == nil {
					best, bestKey = it, k
					continue
				}
				v, err := in.Compare(op, k, bestKey)
				if err != nil {
					return nil, err
				}
				t, err := in.Truth(v)
				if err != nil {
					return nil, err
				}
				if t {
					best, bestKey = it, k
				}
			}
			return best, nil
		})
	}
	minmax("min", "<")
	minmax("max", ">")
	anyall := func(name string, stop bool) {
		addBuiltin(name, 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			it, err := in.Iter(args[0])
			if err != nil {
				return nil, err
			}
			for {
				v, err := in.Next(it)
				if err != nil {
					return nil, err
				}
				if v == nil {
					return MakeBool(!stop), nil
				}
				t, err := in.Truth(v)
				if err != nil {
					return nil, err
				}
				if t == stop {
					return MakeBool(stop), nil
				}
			}
		})
	}
	anyall("any", true)
	anyall("all", false)
	addBuiltin("sorted", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		if len(args) != 1 {
			return nil, in.Errorf(in.Exc.TypeError, "sorted expected 1 argument, got %d", len(args))
		}
		a, err := in.ParseArgs("sorted", args, kw, "iterable, /, *, key=None, reverse=False")
		if err != nil {
			return nil, err
		}
		items, err := in.IterAll(a[0])
		if err != nil {
			return nil, err
		}
		rev, err := in.Truth(a[2])
		if err != nil {
			return nil, err
		}
		return &List{items}, sortItems(in, items, a[1], rev)
	})
	addBuiltin("chr", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if _, big := unwrap(args[0]).(*BigInt); big {
			return nil, in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C int")
		}
		n, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		if n != int64(int32(n)) {
			return nil, in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C int")
		}
		if n < 0 || n > utf8.MaxRune {
			return nil, in.Errorf(in.Exc.ValueError, "chr() arg not in range(0x110000)")
		}
		return Str(wtf8.Char(rune(n))), nil
	})
	addBuiltin("ord", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if b, ok := bytesOf(args[0]); ok && len(b) == 1 {
			return MakeInt(int64(b[0])), nil
		}
		s, ok := AsStr(args[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "ord() expected string of length 1, but %s found", TypeName(args[0]))
		}
		if n := strLen(s); n != 1 {
			return nil, in.Errorf(in.Exc.TypeError, "ord() expected a character, but string of length %d found", n)
		}
		r, _ := wtf8.DecodeRuneInString(s)
		return MakeInt(int64(r)), nil
	})
	for name, spec := range map[string]string{"hex": "#x", "oct": "#o", "bin": "#b"} {
		addBuiltin(name, 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			o := unwrap(args[0])
			switch o.(type) {
			case Int, *BigInt, Bool:
			default:
				i, err := in.IndexBig(o)
				if err != nil {
					return nil, err
				}
				o = MakeBig(i)
			}
			s, err := formatInt(in, o, spec)
			return Str(s), err
		})
	}
	addBuiltin("globals", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if in.frame == nil {
			return NewDict(), nil
		}
		return in.frame.Globals, nil
	})
	addBuiltin("locals", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if in.frame == nil {
			return NewDict(), nil
		}
		return in.frame.LocalsDict(), nil
	})
	addBuiltin("vars", 0, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if len(args) == 0 {
			return in.frame.LocalsDict(), nil
		}
		v, err := in.GetAttrOpt(args[0], "__dict__")
		if v == nil && err == nil {
			err = in.Errorf(in.Exc.TypeError, "vars() argument must have __dict__ attribute")
		}
		return v, err
	})
	addBuiltin("dir", 0, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if len(args) == 0 {
			l := in.frame.LocalsDict()
			var items []Object
			if d, ok := l.(*Dict); ok {
				items = d.Keys()
			} else {
				keys, err := in.CallMethod(l, "keys")
				if err != nil {
					return nil, err
				}
				if items, err = in.IterAll(keys); err != nil {
					return nil, err
				}
			}
			return &List{items}, sortItems(in, items, None, false)
		}
		return in.dir(args[0])
	})
	addBuiltin("input", 0, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return in.input(args) })
	addBuiltin("compile", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("compile", args, kw, "source, filename, mode, flags=0, dont_inherit=False, optimize=-1, *, _feature_version=-1")
		if err != nil {
			return nil, err
		}
		flags, _ := AsInt(a[3])
		level := in.Optimize
		switch n, _ := AsInt(a[5]); n {
		case -1:
		case 0, 1, 2:
			level = code.Optimize(n)
		default:
			return nil, in.Errorf(in.Exc.ValueError, "compile(): invalid optimize value")
		}
		if in.CompileTree != nil {
			name, _ := AsStr(a[1])
			how, _ := AsStr(a[2])
			if c, ok, err := in.CompileTree(level, a[0], name, how); ok {
				return c, err
			}
		}
		file, err := in.SourceName(a[1])
		if err != nil {
			return nil, err
		}
		src, ok := AsStr(a[0])
		if !ok {
			b, isB := bytesOf(a[0])
			if !isB {
				return nil, in.Errorf(in.Exc.TypeError, "compile() arg 1 must be a string, bytes or AST object")
			}
			if src, err = in.DecodeSource(file, b); err != nil {
				return nil, err
			}
		}
		if flags&^compileFlags != 0 {
			return nil, in.Errorf(in.Exc.ValueError, "compile(): unrecognised flags")
		}
		mode, _ := AsStr(a[2])
		switch mode {
		case "exec", "eval", "single":
		default:
			return nil, in.Errorf(in.Exc.ValueError, "compile() mode must be 'exec', 'eval' or 'single'")
		}
		if flags&onlyTree != 0 {
			return in.tree(file, src, mode)
		}
		return in.compileAt(level, file, src, code.Mode(mode), syntax.Typed{Incomplete: flags&allowIncomplete != 0, KeepIndent: flags&dontImplyDedent != 0})
	})
	run := func(name string, mode code.Mode) {
		addBuiltin(name, 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			spec := "source, globals=None, locals=None, /"
			if mode == code.Exec {
				spec += ", *, closure=None"
			}
			a, err := in.ParseArgs(name, args, kw, spec)
			if err != nil {
				return nil, err
			}
			if a[2] != None && a[2].Type().Lookup("__getitem__") == nil {
				if mode == code.Exec {
					return nil, in.Errorf(in.Exc.TypeError, "locals must be a mapping or None, not %s", TypeName(a[2]))
				}
				return nil, in.Errorf(in.Exc.TypeError, "locals must be a mapping")
			}
			var g *Dict
			var l Object
			if a[1] == None {
				if in.frame != nil {
					g, l = in.frame.Globals, in.frame.LocalsDict()
				} else {
					g = NewDict()
				}
			} else {
				var ok bool
				if g, ok = AsDict(a[1]); !ok {
					if a[1].Type().Lookup("__getitem__") != nil && name == "eval" {
						return nil, in.Errorf(in.Exc.TypeError, "globals must be a real dict; try eval(expr, {}, mapping)")
					}
					return nil, in.Errorf(in.Exc.TypeError, "%s() globals must be a dict, not %s", name, TypeName(a[1]))
				}
			}
			if a[2] != None {
				l = a[2]
			}
			if _, ok := g.GetStr("__builtins__"); !ok {
				g.SetStr("__builtins__", in.Builtins)
			}
			c, ok := a[0].(*Code)
			var cells []*Cell
			if ok && mode == code.Exec {
				if cells, err = closureFor(in, c, a[3]); err != nil {
					return nil, err
				}
			} else if ok && len(c.FreeVars) > 0 {
				return nil, in.Errorf(in.Exc.TypeError, "code object passed to eval() may not contain free variables")
			} else if mode == code.Exec && a[3] != None {
				return nil, in.Errorf(in.Exc.TypeError, "closure can only be used when source is a code object")
			}
			if !ok {
				src, isS := AsStr(a[0])
				if !isS {
					b, isB := bytesOf(a[0])
					if !isB {
						return nil, in.Errorf(in.Exc.TypeError, "%s() arg 1 must be a string, bytes or code object", name)
					}
					if src, err = in.DecodeSource("<string>", b); err != nil {
						return nil, err
					}
				}
				if c, err = in.Compile("<string>", src, mode); err != nil {
					return nil, err
				}
			}
			v, err := in.RunClosure(c, g, l, cells)
			if mode == code.Exec && err == nil {
				v = None
			}
			return v, err
		})
	}
	run("eval", code.Eval)
	run("exec", code.Exec)
	exit := func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return nil, in.RaiseObj(in.Exc.SystemExit, slices.Clone(args)...)
	}
	addBuiltin("exit", 0, 1, exit)
	addBuiltin("quit", 0, 1, exit)
	addBuiltin("breakpoint", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		sys, err := in.Import("sys")
		if err != nil {
			return nil, err
		}
		hook, ok := sys.Dict.GetStr("breakpointhook")
		if !ok {
			return nil, in.Errorf(in.Exc.RuntimeError, "lost sys.breakpointhook")
		}
		return in.Call(hook, args, kw)
	})
	addBuiltin("help", 0, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return None, nil })
}

// callable is callable(o).
// Callable is callable(o).
func Callable(o Object) bool { return callable(o) }

func callable(o Object) bool {
	switch o.(type) {
	case *Function, *Builtin, *Type, *BoundMethod, Caller:
		return true
	}
	return o.Type().Lookup("__call__") != nil
}

// closureFor are the cells of exec(code, closure=cells), with CPython's errors for a tuple that does not fit.
func closureFor(in *Interp, c *Code, closure Object) ([]*Cell, error) {
	n := len(c.FreeVars)
	if n == 0 {
		if closure != None {
			return nil, in.Errorf(in.Exc.TypeError, "cannot use a closure with this code object")
		}
		return nil, nil
	}
	t, ok := closure.(*Tuple)
	fits := ok && len(t.Items) == n
	var cells []*Cell
	for i := 0; fits && i < n; i++ {
		var cell *Cell
		cell, fits = t.Items[i].(*Cell)
		cells = append(cells, cell)
	}
	if !fits {
		return nil, in.Errorf(in.Exc.TypeError, "code object requires a closure of exactly length %d", n)
	}
	return cells, nil
}

// powMod is the power of three integers.
func (in *Interp) powMod(base, exp, mod Object) (Object, error) {
	x, _ := AsBig(base)
	y, _ := AsBig(exp)
	m, _ := AsBig(mod)
	if m.Sign() == 0 {
		return nil, in.Errorf(in.Exc.ValueError, "pow() 3rd argument cannot be 0")
	}
	abs := new(big.Int).Abs(m)
	if abs.IsInt64() && abs.Int64() == 1 {
		return MakeInt(0), nil
	}
	if y.Sign() < 0 { // Go gives another inverse of a negative number
		x = new(big.Int).Mod(x, abs)
	}
	r := new(big.Int).Exp(x, y, abs)
	if r == nil {
		return nil, in.Errorf(in.Exc.ValueError, "base is not invertible for the given modulus")
	}
	if m.Sign() < 0 && r.Sign() > 0 {
		r.Add(r, m)
	}
	return MakeBig(r), nil
}

package stdlib

import (
	"errors"
	"os"
	"runtime"
	"slices"

	"whittle/capture/python/clinic"
	"whittle/capture/python/stdlib/pyio"
	"whittle/capture/python/vm"
)

func strs(ss []string) *vm.List {
	l := &vm.List{}
	for _, s := range ss {
		l.Items = append(l.Items, vm.FSDecode(s))
	}
	return l
}

func sysModule(in *vm.Interp) (*vm.Module, error) {
	if m, ok := in.Modules.GetStr("sys"); ok {
		return m.(*vm.Module), nil
	}
	m := in.NewModule("sys", "")
	m.Set("argv", strs(in.Argv))
	m.Set("path", strs(slices.Concat(in.Path, []string{Prefix}, in.Site, []string{SitePackages})))
	m.Set("modules", in.Modules)
	m.Set("version", vm.Str("3.11.7 (whittle) [Go "+runtime.Version()+"]"))
	m.Set("platform", vm.Str(runtime.GOOS))
	m.Set("byteorder", vm.Str("little"))
	m.Set("maxsize", vm.Int(1<<63-1))
	m.Set("maxunicode", vm.Int(0x10ffff))
	m.Set("hexversion", vm.Int(0x030b07f0))
	m.Set("executable", vm.Str(executable()))
	m.Set("dont_write_bytecode", vm.True)
	m.Set("warnoptions", &vm.List{})
	m.Set("meta_path", &vm.List{})
	m.Set("path_hooks", &vm.List{})
	m.Set("path_importer_cache", vm.NewDict())
	m.Set("copyright", vm.Str(""))
	m.Set("api_version", vm.Int(1013))
	version := vm.NewInstance(versionInfo(in), vm.NewTuple(vm.Int(3), vm.Int(11), vm.Int(7), vm.Str("final"), vm.Int(0)))
	m.Set("version_info", version)
	m.Set("implementation", newNamespace(in, "name", vm.Str("cpython"), "version", version, "cache_tag", vm.Str("cpython-311"), "_multiarch", vm.Str("x86_64-linux-gnu"), "hexversion", vm.Int(0x030b07f0)))
	if err := sysStreams(in, m); err != nil {
		return nil, err
	}
	addAsync(in, m)
	m.FuncN("exit", 0, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		return nil, in.RaiseObj(in.Exc.SystemExit, args...)
	})
	m.FuncN("getrecursionlimit", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) {
		return vm.MakeInt(int64(in.RecursionLimit)), nil
	})
	m.FuncN("setrecursionlimit", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		n, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		if n < 1 {
			return nil, in.Errorf(in.Exc.ValueError, "recursion limit must be greater or equal than 1")
		}
		if depth := in.Depth(); int64(depth) >= n {
			return nil, in.Errorf(in.Exc.RecursionError, "cannot set the recursion limit to %d at the recursion depth %d: the limit is too low", n, depth)
		}
		in.RecursionLimit = int(min(n, 200000)) // what the Go stack holds
		return vm.None, nil
	})
	m.FuncN("exc_info", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) {
		e := in.Handling()
		if e == nil {
			return vm.NewTuple(vm.None, vm.None, vm.None), nil
		}
		var tb vm.Object = vm.None
		if e.Traceback != nil {
			tb = e.Traceback
		}
		return vm.NewTuple(e.Class, e, tb), nil
	})
	m.FuncN("exception", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) {
		if e := in.Handling(); e != nil {
			return e, nil
		}
		return vm.None, nil
	})
	m.FuncN("_getframe", 0, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		n := int64(0)
		if len(args) > 0 {
			n, _ = vm.AsInt(args[0])
		}
		f := in.Frame()
		for ; n > 0 && f != nil; n-- {
			f = f.Back
		}
		if f == nil {
			return nil, in.Errorf(in.Exc.ValueError, "call stack is not deep enough")
		}
		f.Retain()
		return f, nil
	})
	ident := func(in *vm.Interp, args []vm.Object) (vm.Object, error) { return args[0], nil }
	m.FuncN("intern", 1, 1, ident)
	clinic.Def(m, "getsizeof", "object, default=nil", func(c *clinic.Call) (vm.Object, error) {
		v, err := sizeOf(c.Interp, c.Args[0])
		if err != nil && c.Args[1] != nil && c.Matches(err, c.Exc.TypeError) {
			return c.Args[1], nil
		}
		return v, err
	})
	m.FuncN("getrefcount", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) { return vm.Int(2), nil })
	m.FuncN("getdefaultencoding", 0, 0, func(in *vm.Interp, args []vm.Object) (vm.Object, error) { return vm.Str("utf-8"), nil })
	m.FuncN("getfilesystemencoding", 0, 0, func(in *vm.Interp, args []vm.Object) (vm.Object, error) { return vm.Str("utf-8"), nil })
	m.FuncN("is_finalizing", 0, 0, func(in *vm.Interp, args []vm.Object) (vm.Object, error) { return vm.False, nil })
	none := func(in *vm.Interp, args []vm.Object) (vm.Object, error) { return vm.None, nil }
	m.FuncN("setswitchinterval", 1, 1, none)
	watch := func(set, get string, put func(in *vm.Interp, fn vm.Object), current func(in *vm.Interp) vm.Object) {
		m.FuncN(set, 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
			if args[0] == vm.None {
				args[0] = nil
			}
			put(in, args[0])
			return vm.None, nil
		})
		m.FuncN(get, 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) {
			if fn := current(in); fn != nil {
				return fn, nil
			}
			return vm.None, nil
		})
	}
	watch("settrace", "gettrace", (*vm.Interp).SetTrace, (*vm.Interp).TraceFunc)
	watch("setprofile", "getprofile", (*vm.Interp).SetProfile, (*vm.Interp).ProfileFunc)
	hook := m.FuncN("excepthook", 3, 3, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		e, ok := args[1].(*vm.Exception)
		if !ok {
			return vm.None, nil
		}
		f, err := in.GetAttrOpt(m, "stderr")
		if err != nil || f == nil || f == vm.None {
			return vm.None, err
		}
		_ = in.Flush()
		_, err = in.CallMethod(f, "write", vm.Str(in.FormatException(&vm.Raised{Exc: e})))
		return vm.None, err
	})
	m.Set("__excepthook__", hook)
	m.FuncN("displayhook", 1, 1, displayHook)
	breakpoints(m)
	sysFacts(in, m)
	return m, nil
}

func executable() string {
	p, err := os.Executable()
	if err != nil {
		return ""
	}
	return p
}

func versionInfo(in *vm.Interp) *vm.Type {
	names := []string{"major", "minor", "micro", "releaselevel", "serial"}
	s := vm.Spec{Name: "version_info", Module: "sys", Bases: []*vm.Type{vm.TupleType}, NoDict: true, New: vm.Uncreatable, Methods: map[string]vm.GoFunc{
		"__repr__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str("sys.version_info(major=3, minor=11, micro=7, releaselevel='final', serial=0)"), nil
		}}}
	for i, n := range names {
		s.GetSet = append(s.GetSet, &vm.GetSet{Name: n, Get: func(in *vm.Interp, self vm.Object) (vm.Object, error) {
			t, ok := vm.AsTuple(self)
			if !ok {
				return nil, errors.New("version_info: not a tuple")
			}
			return t.Items[i], nil
		}})
	}
	return in.NewNativeType(s)
}

// markNative says of a function, or of all the functions of a class, that CPython has them in C.
func markNative(o vm.Object) {
	switch x := o.(type) {
	case *vm.Function:
		markNative(x.Code)
	case *vm.Code:
		x.Native = true
		for _, k := range x.Consts {
			if c, ok := k.(*vm.Code); ok {
				markNative(c)
			}
		}
	case *vm.Type:
		x.Dict.Each(func(_, v vm.Object) bool {
			markNative(v)
			return true
		})
	case *vm.Property:
		for _, f := range []vm.Object{x.Get, x.Set, x.Del} {
			markNative(f)
		}
	case *vm.ClassMethod:
		markNative(x.Func)
	case *vm.StaticMethod:
		markNative(x.Func)
	}
}

// helperModule holds what the Python part of the library cannot say in Python.
func helperModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_whittle", "")
	m.FuncN("source_text", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		if s, ok := in.SourceText(str(args[0])); ok {
			return vm.Str(s), nil
		}
		return vm.None, nil
	})
	clinic.Def(m, "embedded_file", "path:path, /", func(c *clinic.Call) (vm.Object, error) { return vm.MakeBool(c.EmbeddedFile(c.Str(0))), nil })
	clinic.Def(m, "embedded_code", "path:path, /", func(c *clinic.Call) (vm.Object, error) {
		co, err := c.EmbeddedCode(c.Str(0))
		if co == nil || err != nil {
			return vm.None, err
		}
		return co, nil
	})
	clinic.Def(m, "embedded_dir", "path:path, /", func(c *clinic.Call) (vm.Object, error) { return vm.MakeBool(c.EmbeddedDir(c.Str(0))), nil })
	clinic.Def(m, "embedded_modules", "path:path, /", func(c *clinic.Call) (vm.Object, error) {
		l := &vm.List{}
		names, packages := c.EmbeddedModules(c.Str(0))
		for i, n := range names {
			l.Items = append(l.Items, vm.NewTuple(vm.Str(n), vm.MakeBool(packages[i])))
		}
		return l, nil
	})
	clinic.Def(m, "native_module", "name:str, /", func(c *clinic.Call) (vm.Object, error) { return vm.MakeBool(c.NativeModule(c.Str(0))), nil })
	clinic.Def(m, "embedded_entries", "path:path, /", func(c *clinic.Call) (vm.Object, error) {
		entries, ok := c.EmbeddedEntries(c.Str(0))
		if !ok {
			return vm.None, nil
		}
		l := &vm.List{}
		for _, e := range entries {
			l.Items = append(l.Items, vm.NewTuple(vm.Str(e.Name()), vm.MakeBool(e.IsDir())))
		}
		return l, nil
	})
	m.FuncN("native", 1, 1, func(_ *vm.Interp, args []vm.Object) (vm.Object, error) {
		markNative(args[0])
		return args[0], nil
	})
	clinic.Def(m, "native_class", "cls, /", func(c *clinic.Call) (vm.Object, error) {
		t, ok := c.Args[0].(*vm.Type)
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "a class is wanted, not %s", vm.TypeName(c.Args[0]))
		}
		t.NameAsNative()
		return t, nil
	})
	m.FuncN("format_exception", 1, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		e, ok := args[0].(*vm.Exception)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "an exception is wanted, not %s", vm.TypeName(args[0]))
		}
		chain := len(args) < 2 || args[1] == vm.True
		return vm.Str(in.FormatExceptionObj(e, chain)), nil
	})
	m.FuncN("format_exception_only", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		e, ok := args[0].(*vm.Exception)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "an exception is wanted, not %s", vm.TypeName(args[0]))
		}
		return vm.Str(in.FormatExceptionOnly(e)), nil
	})
	m.FuncN("format_tb", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		t, ok := args[0].(*vm.Traceback)
		if !ok {
			return vm.Str(""), nil
		}
		return vm.Str(in.FormatTB(t)), nil
	})
	m.FuncN("tb_line", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		if t, ok := args[0].(*vm.Traceback); ok {
			return vm.MakeInt(int64(t.Line())), nil
		}
		return vm.None, nil
	})
	for n, t := range map[string]*vm.Type{"FunctionType": vm.FunctionType, "MethodType": vm.MethodType, "CodeType": vm.CodeType, "BuiltinFunctionType": vm.BuiltinType,
		"MethodDescriptorType": vm.MethodDescrType, "ModuleType": vm.ModuleType, "GeneratorType": vm.GeneratorType, "FrameType": vm.FrameType, "TracebackType": vm.TracebackType,
		"CellType": vm.CellType, "MappingProxyType": vm.MappingProxyType, "GenericAlias": vm.GenericAliasType, "UnionType": vm.UnionTypeType, "NoneType": vm.NoneTypeType,
		"GetSetDescriptorType": vm.GetSetType, "MemberDescriptorType": vm.MemberType, "EllipsisType": vm.EllipsisTypeType, "NotImplementedType": vm.NotImplementedTypeType,
		"dict_keys": vm.DictKeysType, "dict_values": vm.DictValuesType, "dict_items": vm.DictItemsType} {
		m.Set(n, t)
	}
	return m, nil
}

// sysStreams sets the standard streams.
func sysStreams(in *vm.Interp, m *vm.Module) error {
	stdin, stdout, stderr, err := pyio.Streams(in)
	if err != nil {
		return err
	}
	for n, f := range map[string]vm.Object{"stdin": stdin, "stdout": stdout, "stderr": stderr} {
		m.Set(n, f)
		m.Set("__"+n+"__", f)
	}
	return nil
}

// sizeOf is what an object's __sizeof__ says.
func sizeOf(in *vm.Interp, o vm.Object) (vm.Object, error) {
	v, ok, err := in.Special(o, "__sizeof__")
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "Type %s doesn't define __sizeof__", vm.TypeName(o))
	}
	n, err := in.Index(v)
	if err == nil && n < 0 {
		err = in.Errorf(in.Exc.ValueError, "__sizeof__() should return >= 0")
	}
	return v, err
}

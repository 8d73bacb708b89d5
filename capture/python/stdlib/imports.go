package stdlib

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"whittle/capture/python/clinic"
	"whittle/capture/python/cpython"
	"whittle/capture/python/vm"
)

// Imports go two ways. A plain import statement is the interpreter's own affair (vm.Imports), which finds modules written in Go, files on
// sys.path and the embedded library without running any Python. importlib is CPython's: it comes to life when a program imports it, and from
// then on it decides wherever a program has changed sys.meta_path or sys.path_hooks, or has put something else than folders onto sys.path.

// importSystem is importlib's state in an interpreter.
type importSystem struct {
	bootstrap *vm.Module  // _frozen_importlib, nil until a program needs it
	starting  bool        // it is being made
	finders   []vm.Object // sys.meta_path and sys.path_hooks as they were at first
	hooks     []vm.Object
}

type importKey struct{}

// importsOf is the import system of an interpreter.
func importsOf(in *vm.Interp) *importSystem {
	s, ok := in.Ext[importKey{}].(*importSystem)
	if !ok {
		s = &importSystem{}
		in.Ext[importKey{}] = s
	}
	return s
}

// bootstrapModule is _frozen_importlib: CPython's importlib/_bootstrap.py, at work.
func bootstrapModule(in *vm.Interp) (*vm.Module, error) {
	s := importsOf(in)
	s.starting = true
	defer func() { s.starting = false }()
	m, err := frozen(in, "_frozen_importlib", "importlib/_bootstrap.py")
	if err != nil {
		return nil, err
	}
	in.Modules.SetStr("_frozen_importlib", m)
	imp, err := in.Import("_imp")
	if err != nil {
		return nil, err
	}
	sys, err := in.Import("sys")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"_thread", "_weakref", "_warnings"} {
		if _, err := in.Import(name); err != nil {
			return nil, err
		}
	}
	for _, f := range []string{"_install", "_install_external_importers"} {
		var args []vm.Object
		if f == "_install" {
			args = []vm.Object{sys, imp}
		}
		if _, err := in.CallMethod(m, f, args...); err != nil {
			return nil, err
		}
	}
	embedded, err := in.Import("_embedded")
	if err != nil {
		return nil, err
	}
	packages, err := in.GetAttr(embedded, "PackageFinder")
	if err != nil {
		return nil, err
	}
	meta := listOf(sys, "meta_path")
	meta.Items = append(meta.Items, packages)
	hooks := listOf(sys, "path_hooks")
	finder, err := in.GetAttr(embedded, "EmbeddedFinder")
	if err != nil {
		return nil, err
	}
	zip, err := in.Import("zipimport")
	if err != nil {
		return nil, err
	}
	archive, err := in.GetAttr(zip, "zipimporter")
	if err != nil {
		return nil, err
	}
	hooks.Items = append([]vm.Object{finder, archive}, hooks.Items...)
	s.bootstrap, s.finders, s.hooks = m, slices.Clone(listOf(sys, "meta_path").Items), slices.Clone(hooks.Items)
	return m, nil
}

// externalModule is _frozen_importlib_external: CPython's importlib/_bootstrap_external.py.
func externalModule(in *vm.Interp) (*vm.Module, error) {
	return frozen(in, "_frozen_importlib_external", "importlib/_bootstrap_external.py")
}

// frozen runs a file of the library under another name.
func frozen(in *vm.Interp, name, file string) (*vm.Module, error) {
	text, err := fs.ReadFile(cpython.Lib(), file)
	if err != nil {
		return nil, err
	}
	c, err := in.CompileKept("<frozen "+strings.TrimSuffix(strings.ReplaceAll(file, "/", "."), ".py")+">", string(text))
	if err != nil {
		return nil, err
	}
	m := in.NewModule(name, "")
	m.Dict.SetStr("__builtins__", in.Builtins)
	m.Dict.SetStr("__package__", vm.Str(""))
	_, err = in.RunCode(c, m.Dict, nil)
	return m, err
}

// listOf is a list of module sys; empty where a program has put something else.
func listOf(m *vm.Module, name string) *vm.List {
	if o, ok := m.Dict.GetStr(name); ok {
		if l, ok := o.(*vm.List); ok {
			return l
		}
	}
	return &vm.List{}
}

// delegate says whether importlib is to find a module, and lets it.
func delegate(in *vm.Interp, name string) (vm.Object, bool, error) {
	s := importsOf(in)
	o, ok := in.Modules.GetStr("sys")
	sys, isMod := o.(*vm.Module)
	if !ok || !isMod {
		return nil, false, nil
	}
	if s.starting {
		return nil, false, nil
	}
	if s.bootstrap == nil {
		if len(listOf(sys, "meta_path").Items) == 0 && len(listOf(sys, "path_hooks").Items) == 0 && !archives(in, sys) {
			return nil, false, nil
		}
		mine := listOf(sys, "meta_path").Items
		listOf(sys, "meta_path").Items = nil
		s.starting = true
		_, err := in.Import("_frozen_importlib")
		s.starting = false
		if err != nil {
			return nil, true, err
		}
		listOf(sys, "meta_path").Items = append(slices.Clone(mine), listOf(sys, "meta_path").Items...)
	}
	if s.bootstrap == nil || slices.Equal(listOf(sys, "meta_path").Items, s.finders) && slices.Equal(listOf(sys, "path_hooks").Items, s.hooks) && !archives(in, sys) {
		return nil, false, nil
	}
	if i := strings.LastIndexByte(name, '.'); i > 0 && in.NativeModule(name) && !isPackage(in, name[:i]) {
		return nil, false, nil // as what an extension has put into sys.modules, which no finder is asked for
	}
	m, err := in.CallMethod(s.bootstrap, "_gcd_import", vm.Str(name))
	return m, true, err
}

// isPackage reports whether an imported module has a path.
func isPackage(in *vm.Interp, name string) bool {
	o, _ := in.Modules.GetStr(name)
	m, ok := o.(*vm.Module)
	if !ok {
		return true
	}
	_, ok = m.Dict.GetStr("__path__")
	return ok
}

// archives reports whether sys.path names a file, or what would lie in a file if that were a folder.
func archives(in *vm.Interp, sys *vm.Module) bool {
	for _, o := range listOf(sys, "path").Items {
		p, ok := vm.AsStr(o)
		if !ok || in.EmbeddedDir(p) {
			continue
		}
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() || errors.Is(err, syscall.ENOTDIR) {
			return true
		}
	}
	return false
}

// moduleSpec makes __spec__ and __loader__ of a module that the interpreter has imported by itself, when they are first asked for.
func moduleSpec(in *vm.Interp, m *vm.Module, name string) (vm.Object, bool, error) {
	if o, ok := in.Modules.GetStr(m.Name); !ok || o != m {
		return vm.None, true, nil
	}
	if _, ok := in.Modules.GetStr("_frozen_importlib"); ok && importsOf(in).bootstrap == nil {
		return nil, false, nil // it is being set up
	}
	helper, err := in.Import("_embedded")
	if err != nil {
		return nil, false, err
	}
	spec, err := in.CallMethod(helper, "spec_of", m)
	if err != nil || spec == vm.None {
		return nil, false, err
	}
	v, ok := m.Dict.GetStr(name)
	return v, ok, nil
}

// impModule is _imp, on which importlib stands.
func impModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_imp", "")
	m.Set("check_hash_based_pycs", vm.Str("default"))
	def := func(name, params string, f clinic.Func) { clinic.Def(m, name, params, f) }
	always := func(v vm.Object) clinic.Func {
		return func(*clinic.Call) (vm.Object, error) { return v, nil }
	}
	def("extension_suffixes", "", func(*clinic.Call) (vm.Object, error) { return &vm.List{}, nil })
	def("lock_held", "", always(vm.False))
	def("acquire_lock", "", always(vm.None))
	def("release_lock", "", always(vm.None))
	def("is_builtin", "name:str, /", func(c *clinic.Call) (vm.Object, error) {
		switch {
		case c.Str(0) == "sys" || c.Str(0) == "builtins":
			return vm.MakeInt(-1), nil
		case c.NativeModule(c.Str(0)) && !strings.Contains(c.Str(0), "."): // those in packages are PackageFinder's
			return vm.MakeInt(1), nil
		}
		return vm.MakeInt(0), nil
	})
	def("is_frozen", "name:str, /", always(vm.False))
	def("is_frozen_package", "name:str, /", always(vm.False))
	def("find_frozen", "name:str, /, *, withdata:bool=False", always(vm.None))
	def("_frozen_module_names", "", func(*clinic.Call) (vm.Object, error) { return &vm.List{}, nil })
	def("get_frozen_object", "name:str, data=None, /", func(c *clinic.Call) (vm.Object, error) {
		return nil, c.Errorf(c.Exc.ImportError, "No such frozen object named %s", c.Str(0))
	})
	def("init_frozen", "name:str, /", always(vm.None))
	def("create_builtin", "spec, /", func(c *clinic.Call) (vm.Object, error) {
		name, err := c.GetAttr(c.Args[0], "name")
		if err != nil {
			return nil, err
		}
		mod, err := c.ImportNative(str(name))
		if err != nil {
			return nil, err
		}
		return mod, nil
	})
	def("exec_builtin", "mod, /", always(vm.Int(0)))
	def("_fix_co_filename", "code, path, /", always(vm.None))
	def("_override_frozen_modules_for_tests", "override:int, /", always(vm.None))
	def("_override_multi_interp_extensions_check", "override:int, /", always(vm.Int(0)))
	def("source_hash", "key:int, source:bytes", func(c *clinic.Call) (vm.Object, error) {
		return vm.Bytes(vm.SourceHash(uint64(c.Int(0)), string(c.Bytes(1)))), nil
	})
	return m, nil
}

func init() {
	maps.Copy(natives, map[string]func(in *vm.Interp) (*vm.Module, error){
		"_frozen_importlib": bootstrapModule, "_frozen_importlib_external": externalModule, "_imp": impModule, "_warnings": warningsModule,
	})
}

package vm

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/literal"
)

// Imports says where modules come from, and keeps those that were imported.
//
// A module is looked for in three places: among the files of sys.path, unless Go code is registered under its name; among the modules
// written in Go; and in the source trees that the embedder added. Modules has every module from the moment its code begins to run, so that
// two modules may import each other.
type Imports struct {
	Modules *Dict    // sys.modules
	Path    []string // sys.path until the sys module has a list of its own; Site comes behind the library
	Site    []string // folders of packages that are not the program's own, which the library's modules go before

	Optimize code.Optimize // the level at which modules are compiled

	CodeCache string // the folder that keeps compiled code, empty for none
	// CodeShipped, if not nil, gives the code that such a folder has under a name, and that came with the program; nil for what did not. Nobody
	// changes it.
	CodeShipped func(name string) *code.Code
	// ShipsTexts says that what CodeCache keeps will be shipped: texts that modules compile while they are imported are kept, too.
	ShipsTexts bool
	// Ahead has, by the name of a module, what its import will need and another goroutine may make meanwhile. It is begun once, before anything
	// of the module is.
	Ahead map[string]func()
	// CodeKept, if not nil, keeps the code of modules inside the program, for other interpreters of the process. Code is not changed once it was made.
	CodeKept *KeptCode

	natives map[string]func(in *Interp) (*Module, error) // modules written in Go
	sources []sourceTree
	builtin Object // the built-in __import__, which an import statement need not call

	// Delegate, if not nil, is asked first for a module that has not been imported: whether importlib is to find it, and what it found.
	Delegate func(in *Interp, name string) (m Object, ok bool, err error)
	// Loading, if not nil, sees each module whose text is about to run.
	Loading func(m *Module, name string)
	// SpecHook, if not nil, makes the attributes of modules that only importlib knows how to make, when they are asked for.
	SpecHook func(in *Interp, m *Module, name string) (Object, bool, error)
}

// sourceTree is a tree of .py files inside the program.
type sourceTree struct {
	fs     fs.FS
	prefix string // what __file__ starts with
	last   bool   // searched after all of sys.path
}

func newImports() Imports {
	return Imports{Modules: NewDict(), natives: map[string]func(in *Interp) (*Module, error){}}
}

// RegisterModule adds a module written in Go; init runs when it is first imported.
func (im *Imports) RegisterModule(name string, init func(in *Interp) (*Module, error)) {
	im.natives[name] = init
}

// AddSourceFS adds a tree of .py files, searched after sys.path and native modules. Their __file__ is prefix joined
// with the path inside the tree.
func (im *Imports) AddSourceFS(f fs.FS, prefix string) {
	im.sources = append(im.sources, sourceTree{fs: f, prefix: prefix})
}

// AddLastSourceFS is AddSourceFS for a tree that gives way to whatever sys.path has.
func (im *Imports) AddLastSourceFS(f fs.FS, prefix string) {
	im.sources = append(im.sources, sourceTree{fs: f, prefix: prefix, last: true})
}

// rel is where a file or folder lies in the tree, if it does. Those of a tree without a prefix have relative names.
func (t sourceTree) rel(file string) (string, bool) {
	if t.prefix == "" {
		return file, file != "" && !filepath.IsAbs(file)
	}
	return strings.CutPrefix(file, t.prefix+"/")
}

// SourceText gives the text of a source file, from the embedded trees too.
func (im *Imports) SourceText(file string) (string, bool) {
	for _, t := range im.sources {
		if rel, ok := t.rel(file); ok {
			if b, err := fs.ReadFile(t.fs, rel); err == nil {
				return string(b), true
			}
		}
	}
	b, err := os.ReadFile(file)
	return string(b), err == nil
}

// EmbeddedFile reports whether a file is one of the embedded sources.
func (im *Imports) EmbeddedFile(file string) bool {
	for _, t := range im.sources {
		if rel, ok := t.rel(file); ok {
			if _, _, ok := t.source(rel); ok {
				return true
			}
		}
	}
	return false
}

// EmbeddedCode compiles one of the embedded sources, by way of CodeCache; nil where the file is none.
func (in *Interp) EmbeddedCode(file string) (*Code, error) {
	for _, t := range in.sources {
		rel, ok := t.rel(file)
		if !ok {
			continue
		}
		if stamp, text, ok := t.source(rel); ok {
			co, err := in.compiled(file, stamp, text, in.Optimize.Known)
			if err != nil {
				return nil, syntaxError(in, err)
			}
			return NewCode(co), nil
		}
	}
	return nil, nil
}

// EmbeddedDir reports whether a folder lies among the embedded sources. Those without a prefix have relative names.
func (im *Imports) EmbeddedDir(d string) bool {
	for _, t := range im.sources {
		if t.prefix == "" && d != "" && !filepath.IsAbs(d) {
			if st, err := fs.Stat(t.fs, path.Clean(filepath.ToSlash(d))); err == nil && st.IsDir() && path.Clean(d) != "." {
				return true
			}
			continue
		}
		if t.prefix != "" && (d == t.prefix || strings.HasPrefix(d, t.prefix+"/")) {
			return true
		}
	}
	return false
}

// sysPath is sys.path as the script sees it.
func (im *Imports) sysPath() []string {
	if sys, ok := im.Modules.GetStr("sys"); ok {
		if p, ok := sys.(*Module).Dict.GetStr("path"); ok {
			if l, ok := p.(*List); ok {
				var out []string
				for _, it := range l.Items {
					if s, ok := AsStr(it); ok {
						out = append(out, s)
					}
				}
				return out
			}
		}
	}
	return im.Path
}

// Import imports a dotted name and gives the module of that name (not the top package).
func (in *Interp) Import(name string) (*Module, error) {
	o, err := importDotted(in, name)
	if err != nil {
		return nil, err
	}
	m, ok := o.(*Module)
	if !ok {
		return nil, in.Errorf(in.Exc.ImportError, "%s is not a module", name)
	}
	return m, nil
}

// importDotted imports a module by its full name, its packages first, and puts it into its package's namespace. A module that is being
// imported, by whoever is waiting for this one, is taken as it is.
func importDotted(in *Interp, name string) (Object, error) {
	if m, ok := in.Modules.GetStr(name); ok {
		if m == None {
			return nil, in.moduleNotFound(name, "import of "+name+" halted; None in sys.modules")
		}
		return m, nil
	}
	if ahead := in.Ahead[name]; ahead != nil {
		delete(in.Ahead, name)
		go ahead()
	}
	parent, child := "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		parent, child = name[:i], name[i+1:]
	}
	var pkg Object
	if parent != "" {
		p, err := importDotted(in, parent)
		if err != nil {
			return nil, err
		}
		if m, ok := in.Modules.GetStr(name); ok {
			return m, nil
		}
		pkg = p
	}
	load := func() (Object, error) {
		if in.Delegate != nil {
			if m, ok, err := in.Delegate(in, name); ok || err != nil {
				return m, err
			}
		}
		m, err := loadModule(in, name, child, pkg)
		if err != nil {
			return nil, err
		}
		if pm, ok := pkg.(*Module); ok {
			pm.Dict.SetStr(child, m)
		}
		return m, nil
	}
	if in.ImportHook != nil {
		return in.ImportHook(load)
	}
	return load()
}

func (r *Raising) moduleNotFound(name, msg string) error {
	e := &Exception{Class: r.Exc.ModuleNotFoundError, Args: NewTuple(Str(msg))}
	e.SetField("name", Str(name))
	e.SetField("msg", Str(msg))
	return r.Raise(e)
}

// loadModule finds a module that is not in Modules and runs it. child is the last part of its name, pkg its package if it has one: then it
// is looked for where the package's __path__ says.
func loadModule(in *Interp, name, child string, pkg Object) (Object, error) {
	var dirs []string
	if pkg != nil {
		pm, ok := pkg.(*Module)
		var p Object
		if ok {
			p, _ = pm.Dict.GetStr("__path__")
		}
		native := in.natives[name] != nil
		if p == nil && !native {
			parent := strings.TrimSuffix(name, "."+child)
			return nil, in.moduleNotFound(name, "No module named '"+name+"'; '"+parent+"' is not a package")
		}
		if p != nil {
			items, err := in.IterAll(p)
			if err != nil {
				return nil, err
			}
			for _, it := range items {
				if s, ok := AsStr(it); ok {
					dirs = append(dirs, s)
				}
			}
		}
	} else {
		dirs = in.sysPath()
	}
	// A native module has no other in its place. Else files are looked for in the order of the folders, and where the embedded sources stand
	// among them, or behind them all, in those.
	if init := in.natives[name]; init != nil {
		m, err := runNative(in, name, init)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	own := slices.IndexFunc(dirs, in.EmbeddedDir)
	if own < 0 {
		own = len(dirs)
	}
	m, parts, err := in.loadFrom(dirs[:own], name, child)
	if m != nil || err != nil {
		return m, err
	}
	if m, err := in.loadEmbedded(name, false); m != nil || err != nil {
		return m, err
	}
	m, more, err := in.loadFrom(dirs[own:], name, child)
	if m != nil || err != nil {
		return m, err
	}
	if m, err := in.loadEmbedded(name, true); m != nil || err != nil {
		return m, err
	}
	if parts = append(parts, more...); len(parts) > 0 {
		m := in.NewModule(name, "")
		m.lateSpec()
		m.Dict.SetStr("__path__", strList(parts))
		m.Dict.SetStr("__package__", Str(name))
		in.Modules.SetStr(name, m)
		return m, nil
	}
	return nil, in.moduleNotFound(name, "No module named "+literal.Str(name))
}

// loadFrom loads a module from the first of some folders that has it. If none has, parts are the folders of that name without an __init__.py,
// which make a namespace package.
func (in *Interp) loadFrom(dirs []string, name, child string) (m Object, parts []string, err error) {
	for _, d := range dirs {
		if in.EmbeddedDir(d) {
			continue
		}
		base := filepath.Join(d, child)
		if st, err := os.Stat(filepath.Join(base, "__init__.py")); err == nil && !st.IsDir() {
			m, err := loadFile(in, name, filepath.Join(base, "__init__.py"), base, true)
			return m, nil, err
		}
		if st, err := os.Stat(base + ".py"); err == nil && !st.IsDir() {
			m, err := loadFile(in, name, base+".py", "", true)
			return m, nil, err
		}
		if st, err := os.Stat(base); err == nil && st.IsDir() {
			if at, err := filepath.Abs(base); err == nil {
				parts = append(parts, at)
			}
		}
	}
	return nil, parts, nil
}

// loadEmbedded loads a module from the embedded sources, those that come last or the others; nil if they have none of the name.
func (in *Interp) loadEmbedded(name string, last bool) (Object, error) {
	rel := strings.ReplaceAll(name, ".", "/")
	for _, t := range in.sources {
		if t.last != last {
			continue
		}
		if stamp, text, ok := t.source(rel + "/__init__.py"); ok {
			file := path.Join(t.prefix, rel, "__init__.py")
			co, err := in.module(file, stamp, text)
			return loadSource(in, name, file, path.Join(t.prefix, rel), co, err)
		}
		if stamp, text, ok := t.source(rel + ".py"); ok {
			file := path.Join(t.prefix, rel+".py")
			co, err := in.module(file, stamp, text)
			return loadSource(in, name, file, "", co, err)
		}
	}
	return nil, nil
}

// lateSpec leaves __spec__ and __loader__ to SpecHook.
func (m *Module) lateSpec() {
	m.Dict.DelStr("__spec__")
	m.Dict.DelStr("__loader__")
}

// runNative makes a module that is written in Go.
func runNative(in *Interp, name string, init func(in *Interp) (*Module, error)) (*Module, error) {
	m, err := init(in)
	if err != nil {
		return nil, err
	}
	m.lateSpec()
	in.Modules.SetStr(name, m)
	if _, ok := m.Dict.GetStr("__package__"); !ok {
		m.Dict.SetStr("__package__", Str(""))
	}
	return m, nil
}

// loadFile runs a file as a module. pkgDir is the folder of a package, empty for a plain module.
func loadFile(in *Interp, name, file, pkgDir string, abs bool) (Object, error) {
	in.AboutToRead(file)
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, in.OSError(err, file)
	}
	if a, err := filepath.Abs(file); err == nil {
		file = a
		if pkgDir != "" {
			pkgDir = filepath.Dir(a)
		}
	}
	src, err := in.DecodeSource(file, b)
	if err != nil {
		return nil, err
	}
	co, err := in.compiled(file, textStamp(b), func() (string, error) { return src, nil },
		func(file, src string) (*code.Code, error) { return in.Optimize.Source(file, src, code.Exec) })
	return loadSource(in, name, file, pkgDir, co, err)
}

// loadSource runs what a text was compiled to as a module; err is why it was not. The module is in Modules while it runs and is taken out again if it fails; what stands there in the
// end is what the import gives, as a module may put something else in its own place.
func loadSource(in *Interp, name, file, pkgDir string, co *code.Code, err error) (Object, error) {
	if err != nil {
		return nil, syntaxError(in, err)
	}
	c := NewCode(co)
	m := in.NewModule(name, "")
	m.lateSpec()
	m.Dict.SetStr("__file__", Str(file))
	m.Dict.SetStr("__builtins__", in.Builtins)
	pkg := name
	if pkgDir != "" {
		m.Dict.SetStr("__path__", strList([]string{pkgDir}))
	} else if i := strings.LastIndexByte(name, '.'); i >= 0 {
		pkg = name[:i]
	} else {
		pkg = ""
	}
	m.Dict.SetStr("__package__", Str(pkg))
	if in.Loading != nil {
		in.Loading(m, name)
	}
	in.Modules.SetStr(name, m)
	if _, err := in.RunCode(c, m.Dict, nil); err != nil {
		in.Modules.DelStr(name)
		return nil, err
	}
	if x, ok := in.Modules.GetStr(name); ok {
		return x, nil
	}
	return m, nil
}

func (f *Frame) importName(in *Interp, name string, fromlist Object, level int) (Object, error) {
	if imp, ok := f.Builtins.GetStr("__import__"); ok && imp != in.Imports.builtin {
		return in.Call(imp, []Object{Str(name), f.Globals, None, fromlist, MakeInt(int64(level))}, nil)
	}
	return importRelative(in, f.Globals, name, fromlist, level)
}

// importRelative is __import__: it imports name, from the package of globals for a level of 1 and higher, and gives the top package, or,
// with a fromlist, the module itself, after submodules that the list names have been imported.
func importRelative(in *Interp, globals *Dict, name string, fromlist Object, level int) (Object, error) {
	full := name
	if level > 0 {
		pkg := ""
		if p, ok := globals.GetStr("__package__"); ok {
			pkg, _ = AsStr(p)
		}
		if pkg == "" {
			return nil, in.Errorf(in.Exc.ImportError, "attempted relative import with no known parent package")
		}
		for range level - 1 {
			i := strings.LastIndexByte(pkg, '.')
			if i < 0 {
				return nil, in.Errorf(in.Exc.ImportError, "attempted relative import beyond top-level package")
			}
			pkg = pkg[:i]
		}
		full = pkg
		if name != "" {
			full += "." + name
		}
	}
	m, err := importDotted(in, full)
	if err != nil {
		return nil, err
	}
	if t, _ := in.Truth(orNone(fromlist)); !t {
		if level > 0 {
			return m, nil
		}
		top, _, _ := strings.Cut(full, ".")
		v, ok := in.Modules.GetStr(top)
		if !ok {
			return m, nil
		}
		return v, nil
	}
	// Submodules named in the list are imported.
	if mod, ok := m.(*Module); ok {
		if _, isPkg := mod.Dict.GetStr("__path__"); isPkg {
			names, err := in.IterAll(fromlist)
			if err != nil {
				return nil, err
			}
			for _, n := range names {
				s, _ := AsStr(n)
				if s == "*" {
					if all, ok := mod.Dict.GetStr("__all__"); ok {
						more, err := in.IterAll(all)
						if err != nil {
							return nil, err
						}
						for _, x := range more {
							xs, _ := AsStr(x)
							if err := mod.importSub(in, full, xs); err != nil {
								return nil, err
							}
						}
					}
					continue
				}
				if err := mod.importSub(in, full, s); err != nil {
					return nil, err
				}
			}
		}
	}
	return m, nil
}

// importSub imports full.name if the package has no such attribute and there is such a module.
func (m *Module) importSub(in *Interp, full, name string) error {
	if _, ok := m.Dict.GetStr(name); ok {
		return nil
	}
	if m.GetAttrHook != nil {
		if _, ok, err := m.GetAttrHook(in, name); ok || err != nil {
			return err
		}
	}
	_, err := importDotted(in, full+"."+name)
	var r *Raised
	if err != nil && errors.As(err, &r) && r.Exc.Class.IsSubtype(in.Exc.ModuleNotFoundError) {
		if n, _ := AsStr(r.Exc.Field("name")); n == full+"."+name {
			return nil
		}
	}
	return err
}

// importFrom is IMPORT_FROM: an attribute of the module, or the submodule of that name that is still being imported and so is no attribute
// yet.
func importFrom(in *Interp, m Object, name string) (Object, error) {
	v, err := in.lookupAttr(m, name)
	if err != nil && !in.Matches(err, in.Exc.AttributeError) {
		return nil, err
	}
	if v != nil && err == nil {
		return v, nil
	}
	mn := "?"
	file := "unknown location"
	if mod, ok := m.(*Module); ok {
		mn = mod.Name
		if n, ok := mod.Dict.GetStr("__name__"); ok {
			mn, _ = AsStr(n)
		}
		if x, ok := in.Modules.GetStr(mn + "." + name); ok {
			return x, nil
		}
		if fl, ok := mod.Dict.GetStr("__file__"); ok {
			file, _ = AsStr(fl)
		}
	}
	e := &Exception{Class: in.Exc.ImportError, Args: NewTuple(Str("cannot import name '" + name + "' from '" + mn + "' (" + file + ")"))}
	e.SetField("name", Str(mn))
	e.SetField("msg", e.Args.Items[0])
	return nil, in.Raise(e)
}

// importStar binds what __all__ names, or else everything without a leading underscore.
func (f *Frame) importStar(in *Interp, m Object) error {
	mod, ok := m.(*Module)
	if !ok {
		return in.Errorf(in.Exc.ImportError, "from-import-* object has no __dict__ and no __all__")
	}
	set := func(n string, v Object) error {
		if d, ok := f.Locals.(*Dict); ok {
			d.SetStr(n, v)
			return nil
		}
		return in.SetItem(f.Locals, Str(n), v)
	}
	if all, ok := mod.Dict.GetStr("__all__"); ok {
		names, err := in.IterAll(all)
		if err != nil {
			return err
		}
		for _, n := range names {
			s, _ := AsStr(n)
			v, err := in.GetAttr(mod, s)
			if err != nil {
				return err
			}
			if err := set(s, v); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	mod.Dict.Each(func(k, v Object) bool {
		if s, ok := k.(Str); ok && !strings.HasPrefix(string(s), "_") {
			err = set(string(s), v)
		}
		return err == nil
	})
	return err
}

// NativeModule reports whether a module is written in Go.
func (im *Imports) NativeModule(name string) bool { return im.natives[name] != nil }

// ImportNative gives a module that is written in Go, which it makes if it is not there yet.
func (in *Interp) ImportNative(name string) (Object, error) {
	if m, ok := in.Modules.GetStr(name); ok {
		return m, nil
	}
	init := in.natives[name]
	if init == nil {
		return nil, in.moduleNotFound(name, "no built-in module named "+name)
	}
	return runNative(in, name, init)
}

// EmbeddedModules are the modules in a folder of the embedded sources, and which of them are packages.
func (im *Imports) EmbeddedModules(dir string) (names []string, packages []bool) {
	for _, t := range im.sources {
		rel, ok := t.rel(dir + "/")
		if !ok {
			continue
		}
		entries, err := fs.ReadDir(t.fs, path.Clean(rel))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if n, ok := strings.CutSuffix(e.Name(), ".py"); ok && n != "__init__" {
				names, packages = append(names, n), append(packages, false)
			} else if _, err := fs.Stat(t.fs, path.Join(path.Clean(rel), e.Name(), "__init__.py")); err == nil {
				names, packages = append(names, e.Name()), append(packages, true)
			}
		}
	}
	return names, packages
}

// EmbeddedEntries are the files and folders in a folder of the embedded sources; false where there is none of that name.
func (im *Imports) EmbeddedEntries(dir string) ([]fs.DirEntry, bool) {
	for _, t := range im.sources {
		if rel, ok := t.rel(dir + "/"); ok {
			if entries, err := fs.ReadDir(t.fs, path.Clean(rel)); err == nil {
				return entries, true
			}
		}
	}
	return nil, false
}

// Archive is the files of a zip archive that the program embeds, for AddSourceFS. One that is damaged was so when the program was built: it panics.
func Archive(zipped string) fs.FS {
	r, err := zip.NewReader(strings.NewReader(zipped), int64(len(zipped)))
	if err != nil {
		panic("an embedded archive is damaged: " + err.Error())
	}
	return r
}

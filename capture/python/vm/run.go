package vm

// Compiling and running: scripts, texts, code objects.

import (
	"os"
	"path/filepath"

	"whittle/capture/python/code"
)

// Compile compiles source; its errors are raised as SyntaxError.
func (in *Interp) Compile(filename, src string, mode code.Mode) (*Code, error) {
	c, err := code.CompileSource(filename, src, mode)
	if err != nil {
		return nil, syntaxError(in, err)
	}
	return NewCode(c), nil
}

// RunFile runs a script as __main__.
func (in *Interp) RunFile(path string, argv []string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// As since 3.9: code and __file__ have the absolute path, sys.argv has what was given.
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(abs)
	in.Argv = append([]string{path}, argv...)
	in.Path = append([]string{dir}, in.Path...)
	if sys, ok := in.Modules.GetStr("sys"); ok {
		m := sys.(*Module)
		m.Dict.SetStr("argv", strList(in.Argv))
		if l, ok := m.Dict.GetStr("path"); ok {
			if l, ok := l.(*List); ok {
				l.Items = append([]Object{Str(dir)}, l.Items...)
			}
		}
	}
	return in.RunSource(abs, string(b))
}

// RunSource runs source text as __main__.
func (in *Interp) RunSource(filename, src string) error { return in.runMain(filename, src, nil) }

// RunText is RunSource for a text that is in no file: its loader gives it to who asks for a function's source.
func (in *Interp) RunText(filename, src string) error {
	loader := in.NewModule("text", "")
	loader.Func("get_source", func(*Interp, []Object, []KwArg) (Object, error) { return Str(src), nil })
	return in.runMain(filename, src, loader)
}

// runMain compiles and runs a text as the module __main__, which it puts into Modules.
func (in *Interp) runMain(filename, src string, loader Object) error {
	m := in.NewModule("__main__", "")
	m.Dict.SetStr("__doc__", None)
	m.Dict.SetStr("__builtins__", in.Builtins)
	m.Dict.SetStr("__file__", Str(filename))
	if loader != nil {
		m.Dict.SetStr("__loader__", loader)
	}
	in.Modules.SetStr("__main__", m)
	c, err := in.Compile(filename, src, code.Exec)
	if err != nil {
		return err
	}
	_, err = in.RunCode(c, m.Dict, nil)
	return err
}

// RunCode runs a module's or expression's code in the given namespaces; locals nil means globals.
func (in *Interp) RunCode(c *Code, globals *Dict, locals Object) (Object, error) {
	fn := &Function{Code: c, Globals: globals, Builtins: in.builtinsOf(globals), Name: c.Name, Qualname: c.QualName, Module: None, Doc: None}
	f := in.NewFrame(fn, c)
	f.Locals = globals
	if locals != nil {
		f.Locals = locals
	}
	return in.runFrame(f)
}

// builtinsOf is the namespace of builtins for code that runs in globals, which may name one of its own.
func (in *Interp) builtinsOf(globals *Dict) *Dict {
	if b, ok := globals.GetStr("__builtins__"); ok {
		switch b := b.(type) {
		case *Module:
			return b.Dict
		case *Dict:
			return b
		}
	}
	return in.Builtins.Dict
}

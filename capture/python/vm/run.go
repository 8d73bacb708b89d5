package vm

// Compiling and running: scripts, texts, code objects.

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/syntax"
)

// Compile compiles source, at the level that the program runs at; its errors are raised as SyntaxError.
func (in *Interp) Compile(filename, src string, mode code.Mode) (*Code, error) {
	c, err := in.compiledText(filename, src, mode)
	if err != nil {
		return nil, err
	}
	if c != nil {
		return NewCode(c), nil
	}
	return in.compileAt(in.Optimize, filename, src, mode, syntax.Typed{})
}

func (in *Interp) compileAt(level code.Optimize, filename, src string, mode code.Mode, how syntax.Typed) (*Code, error) {
	c, err := level.Typed(filename, src, mode, how)
	if err != nil {
		return nil, syntaxError(in, err)
	}
	if err := in.warnOf(filename, src, c.Warnings); err != nil {
		return nil, err
	}
	return NewCode(c), nil
}

// warnOf issues the warnings of a compilation. One that is to be an error is raised as a SyntaxError at its place.
func (in *Interp) warnOf(filename, src string, ws []syntax.Warning) error {
	for _, w := range ws {
		category := in.Exc.SyntaxWarning
		if w.Deprecated {
			category = in.Exc.DeprecationWarning
		}
		m, err := in.Import("_warnings")
		if err == nil {
			_, err = in.CallMethod(m, "warn_explicit", Str(w.Text), category, Str(filename), MakeInt(int64(w.Line)))
		}
		if err != nil && in.Matches(err, category) {
			f := &syntax.File{Filename: filename, Source: src}
			return syntaxError(in, f.ErrorAt(w.Span, "%s", w.Text))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CompileKept is Compile of the text of a module, by way of CodeCache.
func (in *Interp) CompileKept(filename, src string) (*Code, error) {
	c, err := in.compiled(filename, textStamp([]byte(src)), func() (string, error) { return src, nil }, in.Optimize.Known)
	if err != nil {
		return nil, syntaxError(in, err)
	}
	return NewCode(c), nil
}

// SourceError is an error of the parser or the compiler, raised as SyntaxError.
func (in *Interp) SourceError(err error) error { return syntaxError(in, err) }

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
	in.SetArgv(append([]string{path}, argv...), &dir)
	src, err := in.DecodeFile(abs, b)
	if err != nil {
		return err
	}
	return in.RunSource(abs, src)
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
	m.Dict.SetStr("__spec__", None)
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
	return in.RunClosure(c, globals, locals, nil)
}

// RunClosure is RunCode for code with free variables, which are in cells.
func (in *Interp) RunClosure(c *Code, globals *Dict, locals Object, cells []*Cell) (Object, error) {
	if c.broken != nil {
		return nil, in.Errorf(in.Exc.SystemError, "%s cannot run: %v", c.Name, c.broken)
	}
	fn := &Function{Code: c, Globals: globals, Builtins: in.builtinsOf(globals), Closure: cells, Name: c.Name, Qualname: c.QualName, Module: None, Doc: None}
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

// Settings are what the options of the command python say.
type Settings struct {
	Warn, X   []string // of -W and -X
	IgnoreEnv bool     // PYTHONPATH and its like are not read
	Isolated  bool     // no folder of the program's is put onto sys.path
	Optimize  int      // -O, -OO: how often
	Inspect   bool     // -i: a prompt follows the program, or is it
}

// Configure takes settings over into module sys; before the program runs.
func (in *Interp) Configure(s Settings) {
	in.isolated = s.Isolated
	if !s.IgnoreEnv && s.Optimize == 0 {
		if n, err := strconv.Atoi(os.Getenv("PYTHONOPTIMIZE")); err == nil && n > 0 {
			s.Optimize = n
		} else if os.Getenv("PYTHONOPTIMIZE") != "" {
			s.Optimize = 1
		}
	}
	in.Optimize = min(code.Optimize(s.Optimize), code.NoDocs)
	in.Builtins.Dict.SetStr("__debug__", MakeBool(in.Optimize == code.Whole))
	o, _ := in.Modules.GetStr("sys")
	sys, ok := o.(*Module)
	if !ok {
		return
	}
	if !s.IgnoreEnv {
		s.Warn = append(splitList(os.Getenv("PYTHONWARNINGS")), s.Warn...)
	} else if l, ok := sys.Dict.GetStr("path"); ok && os.Getenv("PYTHONPATH") != "" {
		l.(*List).Items = l.(*List).Items[len(filepath.SplitList(os.Getenv("PYTHONPATH"))):]
	}
	if l, ok := sys.Dict.GetStr("warnoptions"); ok {
		l.(*List).Items = append(l.(*List).Items, strList(s.Warn).Items...)
	}
	if d, ok := sys.Dict.GetStr("_xoptions"); ok {
		for _, x := range s.X {
			if k, v, ok := strings.Cut(x, "="); ok {
				d.(*Dict).SetStr(k, Str(v))
			} else {
				d.(*Dict).SetStr(x, True)
			}
		}
	}
	if o, ok := sys.Dict.GetStr("flags"); ok {
		one := func(on bool) Object { return MakeInt(int64(map[bool]int{true: 1}[on])) }
		randomized, _ := HashesRandomized()
		for name, v := range map[string]Object{"hash_randomization": one(randomized), "optimize": MakeInt(int64(s.Optimize)), "inspect": one(s.Inspect), "interactive": one(s.Inspect), "ignore_environment": one(s.IgnoreEnv),
			"isolated": one(s.Isolated && s.IgnoreEnv), "no_user_site": one(s.Isolated && s.IgnoreEnv), "safe_path": MakeBool(s.Isolated), "dev_mode": MakeBool(slices.Contains(s.X, "dev"))} {
			setStructField(o.(*Instance), name, v)
		}
	}
}

// splitList splits at commas.
func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// SetArgv sets sys.argv, and puts a folder first on sys.path if there is one.
func (in *Interp) SetArgv(argv []string, first *string) {
	in.Argv = argv
	if first != nil && !in.isolated {
		in.Path = append([]string{*first}, in.Path...)
	}
	o, _ := in.Modules.GetStr("sys")
	sys, ok := o.(*Module)
	if !ok {
		return
	}
	sys.Dict.SetStr("argv", strList(argv))
	if l, ok := sys.Dict.GetStr("path"); ok && first != nil && !in.isolated {
		if l, ok := l.(*List); ok {
			l.Items = append([]Object{Str(*first)}, l.Items...)
		}
	}
}

// NewMain makes the module __main__ that runpy fills.
func (in *Interp) NewMain() *Module {
	m := in.NewModule("__main__", "")
	m.Dict.SetStr("__builtins__", in.Builtins)
	in.Modules.SetStr("__main__", m)
	return m
}

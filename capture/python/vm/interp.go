package vm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"whittle/capture/python/code"
)

// Interp is one Python interpreter. It is used by one goroutine at a time.
type Interp struct {
	// Set by the embedder before running.
	Stdin          io.Reader
	Stdout         io.Writer // what print writes to; buffered by the interpreter, see Flush
	Stderr         io.Writer
	Argv           []string
	Path           []string // sys.path
	RecursionLimit int

	// Exc holds the built-in exception types.
	Exc *ExcTypes
	// Modules is sys.modules.
	Modules  *Dict
	Builtins *Module

	// Hooks are what watches the interpreter now.
	Hooks
	// OnInterrupt, if not nil, runs after Interrupt was called; what it raises is raised where the code is.
	OnInterrupt func() error

	// Ext is free for embedders: packages keep their per-interpreter state under a key of their own type.
	Ext map[any]any

	frame   *Frame
	depth   int
	boxes   boxes
	texts   textCache
	exc     *Exception // the exception being handled
	slab    []Object
	top     int
	free    []*Frame
	reprs   []Object
	natives map[string]func(in *Interp) (*Module, error)
	sources []sourceTree
	stdin   *bufio.Reader
	out     *bufio.Writer

	subclasses map[*Type][]*Type
	nextID     int64
	ctx        context.Context
	stop       atomic.Bool
	exit       []Object // atexit callbacks
}

type sourceTree struct {
	fs     fs.FS
	prefix string // what __file__ starts with
}

// New makes an interpreter with the builtins and nothing else.
func New() *Interp {
	in := &Interp{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		RecursionLimit: 1000,
		Exc:            &excTypes,
		Modules:        NewDict(),
		Ext:            map[any]any{},
		natives:        map[string]func(in *Interp) (*Module, error){},
		subclasses:     map[*Type][]*Type{},
		nextID:         0x7f0000001000,
		slab:           make([]Object, 4096),
		ctx:            context.Background(),
	}
	in.Builtins = newBuiltins(in)
	in.Modules.SetStr("builtins", in.Builtins)
	return in
}

// WithContext makes running code stop with ctx's error once ctx ends. The function it returns lifts that.
func (in *Interp) WithContext(ctx context.Context) (stop func()) {
	old := in.ctx
	in.ctx = ctx
	in.stop.Store(ctx.Err() != nil)
	cancel := context.AfterFunc(ctx, func() { in.stop.Store(true) })
	return func() {
		cancel()
		in.ctx = old
		in.stop.Store(old.Err() != nil)
	}
}

// Context is what WithContext set.
func (in *Interp) Context() context.Context { return in.ctx }

func (in *Interp) stopped() error {
	if err := in.ctx.Err(); err != nil {
		return fmt.Errorf("interrupted: %w", context.Cause(in.ctx))
	}
	in.stop.Store(false)
	if in.OnInterrupt != nil {
		return in.OnInterrupt()
	}
	return nil
}

// Interrupt makes running code call OnInterrupt soon, between two instructions. Any goroutine may ask for it.
func (in *Interp) Interrupt() { in.stop.Store(true) }

// Write writes to the interpreter's standard output.
func (in *Interp) Write(s string) error {
	if in.out == nil {
		in.out = bufio.NewWriterSize(writerFunc(func(p []byte) (int, error) { return in.Stdout.Write(p) }), 8192)
	}
	_, err := in.out.WriteString(s)
	if err != nil {
		return in.OSError(err, "")
	}
	return nil
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Flush passes on what print has written.
func (in *Interp) Flush() error {
	if in.out == nil {
		return nil
	}
	return in.out.Flush()
}

// Frame returns the frame that runs now, or nil.
func (in *Interp) Frame() *Frame { return in.frame }

// SetFrame replaces the current frame; embedders that run frames of their own restore the old one.
func (in *Interp) SetFrame(f *Frame) { in.frame = f }

// Handling returns the exception that is being handled, or nil.
func (in *Interp) Handling() *Exception { return in.exc }

// ID gives an object's identity as id() shows it.
func (in *Interp) ID(o Object) int64 {
	switch x := o.(type) {
	case Int:
		return 0x7e0000000000 + int64(x)*32
	case Bool:
		if x {
			return 0x955d00
		}
		return 0x955d20
	}
	if x, ok := o.(interface{ identity() *int64 }); ok {
		p := x.identity()
		if *p == 0 {
			in.nextID += 48
			*p = in.nextID
		}
		return *p
	}
	return int64(uintptr((*iface)(unsafe.Pointer(&o)).data))
}

// enter counts a call; leave undoes it.
func (in *Interp) enter() error {
	in.depth++
	if in.depth > in.RecursionLimit {
		if in.depth > in.RecursionLimit+50 {
			in.depth--
			return in.newRecursionError()
		}
		in.depth--
		return in.newRecursionError()
	}
	return nil
}

func (in *Interp) newRecursionError() error {
	return in.Errorf(in.Exc.RecursionError, "maximum recursion depth exceeded")
}

func (in *Interp) leave() { in.depth-- }

// Guard runs f as a level of recursion.
func (in *Interp) Guard(f func() error) error {
	if err := in.enter(); err != nil {
		return err
	}
	defer in.leave()
	return f()
}

// Compile compiles source; its errors are raised as SyntaxError.
func (in *Interp) Compile(filename, src string, mode code.Mode) (*Code, error) {
	c, err := code.CompileSource(filename, src, mode)
	if err != nil {
		return nil, in.fromSyntaxError(err)
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

// NewModule makes an empty module; it is not registered.
func (in *Interp) NewModule(name, doc string) *Module {
	m := &Module{Name: name, Dict: NewDict()}
	m.Dict.SetStr("__name__", Str(name))
	if doc != "" {
		m.Dict.SetStr("__doc__", Str(doc))
	} else {
		m.Dict.SetStr("__doc__", None)
	}
	m.Dict.SetStr("__package__", None)
	m.Dict.SetStr("__loader__", None)
	m.Dict.SetStr("__spec__", None)
	return m
}

// Set stores an attribute of a module.
func (m *Module) Set(name string, v Object) { m.Dict.SetStr(name, v) }

// Func adds a Go function to a module.
func (m *Module) Func(name string, fn GoFunc) *Builtin {
	b := &Builtin{Name: name, Module: m.Name, Fn: fn, Max: -1}
	m.Dict.SetStr(name, b)
	return b
}

// FuncN adds a Go function that takes between min and max positional arguments and no keywords.
func (m *Module) FuncN(name string, min, max int, fn func(in *Interp, args []Object) (Object, error)) *Builtin {
	b := &Builtin{Name: name, Module: m.Name, Min: min, Max: max, NoKw: true, Fn: func(in *Interp, args []Object, _ []KwArg) (Object, error) { return fn(in, args) }}
	m.Dict.SetStr(name, b)
	return b
}

func strList(ss []string) *List {
	l := &List{}
	for _, s := range ss {
		l.Items = append(l.Items, Str(s))
	}
	return l
}

// AtExit registers a callable to run when the embedder calls RunAtExit.
func (in *Interp) AtExit(f Object) { in.exit = append(in.exit, f) }

// RunAtExit runs the registered callables, last first, and flushes.
func (in *Interp) RunAtExit() error {
	var first error
	for len(in.exit) > 0 {
		f := in.exit[len(in.exit)-1]
		in.exit = in.exit[:len(in.exit)-1]
		if _, err := in.Call(f, nil, nil); err != nil && first == nil {
			first = err
		}
	}
	if err := in.Flush(); err != nil && first == nil {
		first = err
	}
	return first
}

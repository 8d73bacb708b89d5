package capture

import (
	"fmt"
	"regexp"
	"strings"

	"whittle/capture/python/vm"
)

// Source says how to reach a value from the frame that is being compiled. Name is the text that guards print.
type Source interface {
	Name() string
	Get(e *env) (vm.Object, error)
}

// env is what sources are read from: the frame's arguments and globals.
type env struct {
	in      *vm.Interp
	locals  map[string]vm.Object
	globals *vm.Dict
	drawn   []vm.Object         // random numbers of the run
	cells   map[string]*vm.Cell // of free variables, and of a resume function's own ones; nil for none
}

type (
	localSource  struct{ name string }
	globalSource struct{ name string }
	attrSource   struct {
		base Source
		name string
	}
	itemSource struct {
		base Source
		key  vm.Object
		text string
	}
	// importSource is a module under the name by which guards reach it from any globals.
	importSource struct{ module string }
	// builtinSource is a builtin, reached through a global that holds their dict.
	builtinSource struct{ dict, name string }
	// nnSource is base, an nn.Module: what is reached through it changes rarely.
	nnSource struct {
		base Source
		kind nnKind
	}
	// typeSource is type(base).
	typeSource struct{ base Source }
	// keyedSource is base[key] for a key with a source of its own.
	keyedSource struct{ base, key Source }
	// placedSource is what a dict has under a key, named by the place of the key.
	placedSource struct {
		Source
		at int
	}
	// nativeSource is the built-in value inside an instance of a subclass of a built-in type.
	nativeSource struct{ base Source }
)

// nnKind says whose class a module is of.
type nnKind int

const (
	nnUser    nnKind = iota + 1 // a script's
	nnBuiltin                   // torch.nn's
)

func (s localSource) Name() string  { return fmt.Sprintf("L['%s']", s.name) }
func (s globalSource) Name() string { return fmt.Sprintf("G['%s']", s.name) }
func (s attrSource) Name() string   { return s.base.Name() + "." + s.name }
func (s itemSource) Name() string   { return s.base.Name() + "[" + s.text + "]" }
func (s importSource) Name() string {
	return "G['__import_" + strings.ReplaceAll(s.module, ".", "_dot_") + "']"
}
func (s builtinSource) Name() string { return "G['" + s.dict + "']['" + s.name + "']" }
func (s nnSource) Name() string      { return s.base.Name() }
func (s typeSource) Name() string    { return "type(" + s.base.Name() + ")" }
func (s keyedSource) Name() string   { return s.base.Name() + "[" + s.key.Name() + "]" }

func (s placedSource) Name() string {
	return fmt.Sprintf("%s[list(%[1]s.keys())[%d]]", sourceBase(s.Source).Name(), s.at)
}

func (s nativeSource) Name() string { return s.base.Name() }

func (s localSource) Get(e *env) (vm.Object, error) {
	if v := e.locals[s.name]; v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("local %s is unbound", s.name)
}

func (s globalSource) Get(e *env) (vm.Object, error) {
	if v, ok := e.globals.GetStr(s.name); ok {
		return v, nil
	}
	return nil, fmt.Errorf("global %s is undefined", s.name)
}

func (s attrSource) Get(e *env) (vm.Object, error) { return stepped(e, s, s.base) }

func (s attrSource) step(e *env, b vm.Object) (vm.Object, error) {
	switch o := b.(type) {
	case *vm.Instance:
		if o.Dict != nil {
			if v, ok := o.Dict.GetStr(s.name); ok {
				return v, nil
			}
		}
	case *vm.Module:
		if v, ok := o.Dict.GetStr(s.name); ok {
			return v, nil
		}
	}
	return e.in.GetAttr(b, s.name)
}

func (s itemSource) Get(e *env) (vm.Object, error) { return stepped(e, s, s.base) }

func (s itemSource) step(e *env, b vm.Object) (vm.Object, error) {
	if d, ok := b.(*vm.Dict); ok {
		if n, isStr := s.key.(vm.Str); isStr {
			if v, ok := d.GetStr(string(n)); ok {
				return v, nil
			}
		}
	}
	return e.in.GetItem(b, s.key)
}

func (s importSource) Get(e *env) (vm.Object, error) {
	if m, ok := e.in.Modules.GetStr(s.module); ok {
		return m, nil
	}
	return e.in.Import(s.module)
}

func (s builtinSource) Get(e *env) (vm.Object, error) {
	if v, ok := e.in.Builtins.Dict.GetStr(s.name); ok {
		return v, nil
	}
	return nil, fmt.Errorf("builtin %s is gone", s.name)
}

func (s nnSource) Get(e *env) (vm.Object, error) { return s.base.Get(e) }

func (s typeSource) Get(e *env) (vm.Object, error) { return stepped(e, s, s.base) }

func (s typeSource) step(e *env, b vm.Object) (vm.Object, error) {
	return b.Type(), nil
}

func (s keyedSource) Get(e *env) (vm.Object, error) { return stepped(e, s, s.base) }

func (s keyedSource) step(e *env, b vm.Object) (vm.Object, error) {
	k, err := s.key.Get(e)
	if err != nil {
		return nil, err
	}
	d, ok := vm.AsDict(b) // not GetItem: a defaultdict would make the item
	if !ok {
		return nil, fmt.Errorf("%s is no dict", s.base.Name())
	}
	v, ok, err := d.Get(e.in, k)
	if err == nil && !ok {
		err = fmt.Errorf("%s is gone", s.Name())
	}
	return v, err
}

func (s nativeSource) Get(e *env) (vm.Object, error) { return stepped(e, s, s.base) }

func (s nativeSource) step(e *env, b vm.Object) (vm.Object, error) {
	if i, ok := b.(*vm.Instance); ok {
		if n, ok := i.Native.(vm.Object); ok {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s holds no built-in value", s.base.Name())
}

// stepped reads a source by way of its base.
func stepped(e *env, s stepSource, base Source) (vm.Object, error) {
	b, err := base.Get(e)
	if err != nil {
		return nil, err
	}
	return s.step(e, b)
}

// sourceBase is the source that a source reads from; nil for those that start.
func sourceBase(s Source) Source {
	switch s := s.(type) {
	case attrSource:
		return s.base
	case itemSource:
		return s.base
	case nnSource:
		return s.base
	case typeSource:
		return s.base
	case keyedSource:
		return s.base
	case placedSource:
		return sourceBase(s.Source)
	case nativeSource:
		return s.base
	case iterItemSource:
		return s.base
	case mroSource:
		return s.base
	case valueSource:
		return s.base
	}
	return nil
}

// isLocal reports whether a source starts at a local variable.
func isLocal(s Source) bool {
	for b := sourceBase(s); b != nil; b = sourceBase(s) {
		s = b
	}
	_, ok := s.(localSource)
	return ok
}

// sourceRank is the place of a source's kind in the order of guards: locals, globals, then what lies in modules of
// scripts, then what lies in torch's.
func sourceRank(s Source) int {
	global := 1
	if isLocal(s) {
		global = 0
	}
	for ; s != nil; s = sourceBase(s) {
		if n, ok := s.(nnSource); ok {
			return 2*int(n.kind) + global
		}
	}
	return global
}

// inModule reports whether a source reaches into an nn.Module.
func inModule(s Source) bool { return sourceRank(s) > 1 }

// sourceLess orders sources as PyTorch orders guards.
func sourceLess(a, b Source) bool {
	if a == nil || b == nil {
		return b != nil
	}
	if x, y := sourceRank(a), sourceRank(b); x != y {
		return x < y
	}
	x, y := a.Name(), b.Name()
	if len(x) != len(y) {
		return len(x) < len(y)
	}
	return x < y
}

var notWord = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// placeholderName is the name that PyTorch gives to a source's graph input: L['x'] is L_x_.
func placeholderName(source string) string {
	return strings.TrimPrefix(notWord.ReplaceAllString(source, "_"), "_")
}

// cell notes a cell that is there before the frame runs.
func (e *env) cell(name string, c *vm.Cell) {
	if e.cells == nil {
		e.cells = map[string]*vm.Cell{}
	}
	e.cells[name] = c
}

// cellSource is a cell of the frame itself, not what it holds.
type cellSource struct{ name string }

func (s cellSource) Name() string { return "L['" + s.name + "'].__cell__" }

func (s cellSource) Get(e *env) (vm.Object, error) {
	if c := e.cells[s.name]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("capture: no cell of %s in this frame", s.name)
}

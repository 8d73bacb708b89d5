package source

import (
	"fmt"
	"strings"

	"whittle/capture/python/vm"
)

// Source says how to reach a value from the frame that is being compiled. Sources are values: nothing changes one.
type Source interface {
	// Name is the Python that guards print. It tells sources apart, but for a Module or Native and what it stands around.
	Name() string
	// Get reads the value from the surroundings of a call; an error says that it is not there.
	Get(e *Env) (vm.Object, error)
}

// Step is a source that is read from the value of another one.
type Step interface {
	Source
	// From is the source of the other value.
	From() Source
	// Step reads the value from base, which From gave.
	Step(e *Env, base vm.Object) (vm.Object, error)
}

// Env is the surroundings of a call: what sources are read from.
type Env struct {
	In      *vm.Interp
	Locals  map[string]vm.Object // those with a value
	Globals *vm.Dict
	Drawn   []vm.Object         // the random numbers of the run, in the order of their draws
	Cells   map[string]*vm.Cell // of free variables, and of a resume function's own ones; nil for none
	Modes   []vm.Object         // of __torch_function__ that are entered, the outermost first
}

// AddCell notes a cell that is there before the frame runs.
func (e *Env) AddCell(name string, c *vm.Cell) {
	if e.Cells == nil {
		e.Cells = map[string]*vm.Cell{}
	}
	e.Cells[name] = c
}

// The sources that start.
type (
	// Local is a local variable: L['x'].
	Local struct{ Var string }
	// Global is a global of the frame: G['x'].
	Global struct{ Var string }
	// Import is a module under the name by which guards reach it from any globals.
	Import struct{ Module string }
	// Builtin is a builtin, reached through a global that holds their dict.
	Builtin struct{ Dict, Var string }
	// Cell is a cell of the frame itself, not what it holds.
	Cell struct{ Var string }
	// Mode is the I-th mode of __torch_function__ that is entered, the outermost being the first.
	Mode struct{ I int }
	// Fixed is an object that is the same in every call, as the way to it is guarded: a method that a class has, say. What is
	// read from it is guarded from there. No log shows it; N tells it from others.
	Fixed struct {
		Value vm.Object
		N     int
	}
)

// The sources that go on from another.
type (
	// Attr is an attribute: Base.Of.
	Attr struct {
		Base Source
		Of   string
	}
	// Item is Base[Key]; Text is how Python writes the key.
	Item struct {
		Base Source
		Key  vm.Object
		Text string
	}
	// Keyed is Base[Key] for a key with a source of its own.
	Keyed struct{ Base, Key Source }
	// Value is the I-th value of a dict, whatever its key.
	Value struct {
		Base Source
		I    int
	}
	// Placed is what a dict has under a key, named by the place of the key among its keys.
	Placed struct {
		Source
		I int
	}
	// Class is type(Base).
	Class struct{ Base Source }
	// Inherited is an attribute of the class that is the I-th in the method resolution order of Base, as super() finds it.
	Inherited struct {
		Base Source
		I    int
		Of   string
	}
	// Native is the built-in value inside of Base, an instance of a subclass of a built-in type. Both have one name.
	Native struct{ Base Source }
	// Numpy is the tensor over the memory of Base, an array or a scalar of numpy.
	Numpy struct {
		Base Source
		Of   Converter
	}
	// Module is Base, an nn.Module: it says that what is reached through it changes rarely.
	Module struct {
		Base Source
		Kind ModuleKind
	}
)

// Converter makes the tensor of an array.
type Converter interface {
	FromArray(o vm.Object) (vm.Object, error)
}

// ModuleKind says whose class a module is of.
type ModuleKind int

// The kinds, in the order in which guards on what lies in their modules stand.
const (
	UserModule    ModuleKind = iota + 1 // a script's
	LibraryModule                       // torch.nn's
)

func (s Local) Name() string  { return "L['" + s.Var + "']" }
func (s Global) Name() string { return "G['" + s.Var + "']" }
func (s Import) Name() string {
	return "G['__import_" + strings.ReplaceAll(s.Module, ".", "_dot_") + "']"
}
func (s Builtin) Name() string { return "G['" + s.Dict + "']['" + s.Var + "']" }
func (s Cell) Name() string    { return "L['" + s.Var + "'].__cell__" }
func (s Mode) Name() string {
	return fmt.Sprintf("___get_torch_function_mode_stack_at(%d)", s.I)
}
func (s Fixed) Name() string  { return fmt.Sprintf("___fixed_%d", s.N) }
func (s Attr) Name() string   { return s.Base.Name() + "." + s.Of }
func (s Item) Name() string   { return s.Base.Name() + "[" + s.Text + "]" }
func (s Keyed) Name() string  { return s.Base.Name() + "[" + s.Key.Name() + "]" }
func (s Value) Name() string  { return nthOf(s.Base, s.I) }
func (s Placed) Name() string { return nthOf(Base(s.Source), s.I) }
func (s Class) Name() string  { return "type(" + s.Base.Name() + ")" }
func (s Inherited) Name() string {
	return fmt.Sprintf("type(%s).__mro__[%d].%s", s.Base.Name(), s.I, s.Of)
}
func (s Numpy) Name() string  { return "___from_numpy(" + s.Base.Name() + ")" }
func (s Native) Name() string { return s.Base.Name() }
func (s Module) Name() string { return s.Base.Name() }

// nthOf is a value of a dict, named by the place of its key.
func nthOf(dict Source, i int) string {
	return fmt.Sprintf("%s[list(%[1]s.keys())[%d]]", dict.Name(), i)
}

// Get reads the variable.
func (s Local) Get(e *Env) (vm.Object, error) {
	if v := e.Locals[s.Var]; v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("local %s is unbound", s.Var)
}

// Get reads the variable.
func (s Global) Get(e *Env) (vm.Object, error) {
	if v, ok := e.Globals.GetStr(s.Var); ok {
		return v, nil
	}
	return nil, fmt.Errorf("global %s is undefined", s.Var)
}

// Get gives the module; it is imported where it is not yet.
func (s Import) Get(e *Env) (vm.Object, error) {
	if m, ok := e.In.Modules.GetStr(s.Module); ok {
		return m, nil
	}
	return e.In.Import(s.Module)
}

// Get reads the builtin.
func (s Builtin) Get(e *Env) (vm.Object, error) {
	if v, ok := e.In.Builtins.Dict.GetStr(s.Var); ok {
		return v, nil
	}
	return nil, fmt.Errorf("builtin %s is gone", s.Var)
}

// Get gives the cell.
func (s Cell) Get(e *Env) (vm.Object, error) {
	if c := e.Cells[s.Var]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("no cell of %s in this frame", s.Var)
}

// Get gives the mode as the stack has it.
func (s Mode) Get(e *Env) (vm.Object, error) {
	if s.I >= len(e.Modes) {
		return nil, fmt.Errorf("there is no mode %d", s.I)
	}
	return e.Modes[s.I], nil
}

// Get gives the object.
func (s Fixed) Get(*Env) (vm.Object, error) { return s.Value, nil }

// Get gives what the base is.
func (s Module) Get(e *Env) (vm.Object, error) { return s.Base.Get(e) }

// From is the module itself.
func (s Module) From() Source { return s.Base }

// From is the source that the value is read from.
func (s Placed) From() Source { return Base(s.Source) }

// Via reads a source by way of its base: what Get is for a Step.
func Via(e *Env, s Step) (vm.Object, error) {
	b, err := s.From().Get(e)
	if err != nil {
		return nil, err
	}
	return s.Step(e, b)
}

// Get reads the attribute.
func (s Attr) Get(e *Env) (vm.Object, error) { return Via(e, s) }

// From is what has the attribute.
func (s Attr) From() Source { return s.Base }

// Step reads the attribute; one that the object itself has is read without running code.
func (s Attr) Step(e *Env, b vm.Object) (vm.Object, error) {
	switch o := b.(type) {
	case *vm.Instance:
		if o.Dict != nil {
			if v, ok := o.Dict.GetStr(s.Of); ok {
				return v, nil
			}
		}
	case *vm.Module:
		if v, ok := o.Dict.GetStr(s.Of); ok {
			return v, nil
		}
	}
	return e.In.GetAttr(b, s.Of)
}

// Get reads the item.
func (s Item) Get(e *Env) (vm.Object, error) { return Via(e, s) }

// From is the container.
func (s Item) From() Source { return s.Base }

// Step reads the item.
func (s Item) Step(e *Env, b vm.Object) (vm.Object, error) {
	if d, ok := b.(*vm.Dict); ok {
		if n, isStr := s.Key.(vm.Str); isStr {
			if v, ok := d.GetStr(string(n)); ok {
				return v, nil
			}
		}
	}
	return e.In.GetItem(b, s.Key)
}

// Get reads the item.
func (s Keyed) Get(e *Env) (vm.Object, error) { return Via(e, s) }

// From is the dict.
func (s Keyed) From() Source { return s.Base }

// Step reads the item without asking the dict's class: a defaultdict would make it.
func (s Keyed) Step(e *Env, b vm.Object) (vm.Object, error) {
	k, err := s.Key.Get(e)
	if err != nil {
		return nil, err
	}
	d, ok := vm.AsDict(b)
	if !ok {
		return nil, fmt.Errorf("%s is no dict", s.Base.Name())
	}
	v, ok, err := d.Get(e.In, k)
	if err == nil && !ok {
		err = fmt.Errorf("%s is gone", s.Name())
	}
	return v, err
}

// Get reads the value.
func (s Value) Get(e *Env) (vm.Object, error) { return Via(e, s) }

// From is the dict.
func (s Value) From() Source { return s.Base }

// Step reads the value.
func (s Value) Step(_ *Env, b vm.Object) (vm.Object, error) {
	if d, ok := vm.AsDict(b); ok {
		if vs := d.Values(); s.I < len(vs) {
			return vs[s.I], nil
		}
	}
	return nil, fmt.Errorf("%s is gone", s.Name())
}

// Get gives the tensor.
func (s Numpy) Get(e *Env) (vm.Object, error) { return Via(e, s) }

// From is the array.
func (s Numpy) From() Source { return s.Base }

// Step makes the tensor; what is no array has none.
func (s Numpy) Step(_ *Env, b vm.Object) (vm.Object, error) { return s.Of.FromArray(b) }

// Get gives the class.
func (s Class) Get(e *Env) (vm.Object, error) { return Via(e, s) }

// From is the object.
func (s Class) From() Source { return s.Base }

// Step gives the class.
func (s Class) Step(_ *Env, b vm.Object) (vm.Object, error) { return b.Type(), nil }

// Get looks the attribute up again.
func (s Inherited) Get(e *Env) (vm.Object, error) { return Via(e, s) }

// From is the object.
func (s Inherited) From() Source { return s.Base }

// Step looks the attribute up in its class alone.
func (s Inherited) Step(_ *Env, b vm.Object) (vm.Object, error) {
	t := b.Type()
	if s.I < len(t.MRO) {
		if v, ok := t.MRO[s.I].Dict.GetStr(s.Of); ok {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%s is gone", s.Name())
}

// Get gives the built-in value.
func (s Native) Get(e *Env) (vm.Object, error) { return Via(e, s) }

// From is the instance.
func (s Native) From() Source { return s.Base }

// Step gives the built-in value.
func (s Native) Step(_ *Env, b vm.Object) (vm.Object, error) {
	if i, ok := b.(*vm.Instance); ok {
		if n, ok := i.Native.(vm.Object); ok {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s holds no built-in value", s.Base.Name())
}

// Base is the source that a source goes on from; nil for those that start.
func Base(s Source) Source {
	if b, ok := s.(interface{ From() Source }); ok {
		return b.From()
	}
	return nil
}

// Start is where the path of a source starts.
func Start(s Source) Source {
	for b := Base(s); b != nil; b = Base(s) {
		s = b
	}
	return s
}

// IsLocal reports whether a source starts at a local variable.
func IsLocal(s Source) bool {
	_, ok := Start(s).(Local)
	return ok
}

// IsFixed reports whether a source starts at an object rather than at a name.
func IsFixed(s Source) bool {
	_, ok := Start(s).(Fixed)
	return ok
}

// InModule reports whether a source reaches into an nn.Module.
func InModule(s Source) bool { return rank(s) > 1 }

// rank is the place of a source's kind in the order of guards: locals, globals, then what lies in modules of scripts, then what
// lies in torch's.
func rank(s Source) int {
	global := 1
	if IsLocal(s) {
		global = 0
	}
	for ; s != nil; s = Base(s) {
		if n, ok := s.(Module); ok {
			return 2*int(n.Kind) + global
		}
	}
	return global
}

// Less orders sources as PyTorch orders guards; nil comes first.
func Less(a, b Source) bool {
	if a == nil || b == nil {
		return b != nil
	}
	if x, y := rank(a), rank(b); x != y {
		return x < y
	}
	x, y := a.Name(), b.Name()
	if len(x) != len(y) {
		return len(x) < len(y)
	}
	return x < y
}

// Identity is the object under which the source of o is kept; nil for immutable scalars, of which there is no telling one from another.
func Identity(o vm.Object) vm.Object {
	switch o.(type) {
	case vm.Int, vm.Float, vm.Str, vm.Bool, vm.Bytes, vm.Complex, *vm.NoneType:
		return nil
	}
	return o
}

package stack

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"whittle/capture/python/vm"
	"whittle/repros"
)

// BackendSource is the part of a script that defines a backend: the top-level statements that it needs, whatever kind of callable
// it is (function, closure, lambda, instance, method, partial), with a line that registers it under its name. A backend from the
// library needs none.
func (s *Session) BackendSource(fn vm.Object, name string) ([]string, error) {
	home := s.ownFunction(fn, map[vm.Object]bool{})
	if home == nil {
		return nil, nil
	}
	b := &backendSource{s: s, home: home.Globals, text: strings.TrimRight(home.Code.Source.Text, "\n") + "\n", made: map[vm.Object]string{}, imports: map[string]bool{}}
	e, err := b.expr(fn)
	var text string
	if err == nil {
		wanted := e
		if !identifier(e) {
			wanted = "registered_backend"
			b.text += wanted + " = " + e + "\n"
			e = wanted
		}
		text, err = repros.SliceSource(home.Code.Filename, b.text, wanted)
	}
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w", name, err)
	}
	var lines []string
	for _, m := range slices.Sorted(maps.Keys(b.imports)) {
		lines = append(lines, "import "+m)
	}
	lines = append(lines, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
	if f, ok := fn.(*vm.Function); ok && f.Name == name && e == name {
		if registers.MatchString(text) {
			return lines, nil
		}
		return append(lines, "from torch._dynamo import register_backend", fmt.Sprintf("register_backend(%s)", e)), nil
	}
	return append(lines, "from torch._dynamo import register_backend", fmt.Sprintf("register_backend(%s, name=%s)", e, b.quoted(name))), nil
}

// registers finds the decorator that has told PyTorch the backend's name: it may be told once.
var registers = regexp.MustCompile(`(?m)^@.*register_backend`)

var word = regexp.MustCompile(`^[A-Za-z_]\w*$`)

func identifier(e string) bool { return word.MatchString(e) }

// OwnBackend reports whether a script has made a backend, and not the library.
func (s *Session) OwnBackend(fn vm.Object) bool {
	return s.ownFunction(fn, map[vm.Object]bool{}) != nil
}

// ownFunction is the first function of a script, and not of the library, that a callable is made of.
func (s *Session) ownFunction(o vm.Object, seen map[vm.Object]bool) *vm.Function {
	if seen[o] {
		return nil
	}
	switch o := o.(type) {
	case *vm.Function:
		if s.own(o) {
			return o
		}
		seen[o] = true
		for _, c := range o.Closure {
			if f := s.ownFunction(c.V, seen); f != nil {
				return f
			}
		}
	case *vm.BoundMethod:
		if f := s.ownFunction(o.Func, seen); f != nil {
			return f
		}
		return s.ownFunction(o.Self, seen)
	case *vm.Type:
		if call, ok := o.Lookup("__call__").(*vm.Function); ok && s.own(call) {
			return call
		}
		if init, ok := o.Lookup("__init__").(*vm.Function); ok && s.own(init) {
			return init
		}
	case *vm.Instance:
		seen[o] = true
		if isPartial(o) {
			f, err := s.In.GetAttr(o, "func")
			if err != nil {
				return nil
			}
			return s.ownFunction(f, seen)
		}
		if f := s.ownFunction(o.Class, seen); f != nil {
			return f
		}
		if o.Dict != nil {
			for _, v := range o.Dict.Values() {
				if f := s.ownFunction(v, seen); f != nil {
					return f
				}
			}
		}
	case *vm.Dict:
		seen[o] = true
		for _, v := range o.Values() {
			if f := s.ownFunction(v, seen); f != nil {
				return f
			}
		}
	}
	return nil
}

// own reports whether a function is a script's.
func (s *Session) own(f *vm.Function) bool {
	return f.Code.Source != nil && !s.Dynamo.IsLibrary(f.Code.Filename)
}

// backendSource writes objects as Python that makes them again in their module.
type backendSource struct {
	s       *Session
	home    *vm.Dict // the variables of the module
	text    string   // of the module, with what is added to it
	made    map[vm.Object]string
	imports map[string]bool
	names   int
}

// variable is the name by which the module knows an object, "" for none.
func (b *backendSource) variable(o vm.Object) string {
	name := ""
	b.home.Each(func(k, v vm.Object) bool {
		if n, ok := vm.AsStr(k); ok && v == o && identifier(n) {
			name = n
		}
		return name == ""
	})
	return name
}

// add binds an expression to a new name of the module.
func (b *backendSource) add(o vm.Object, statement func(name string) string) string {
	for {
		b.names++
		name := fmt.Sprintf("backend_part_%d", b.names)
		if _, taken := b.home.GetStr(name); !taken {
			b.made[o] = name
			b.text += statement(name) + "\n"
			return name
		}
	}
}

// under marks objects whose expression is under way: one that holds itself has none.
const under = "under way"

// expr is an expression for o, of the variables of its module.
func (b *backendSource) expr(o vm.Object) (string, error) {
	switch o := o.(type) {
	case *vm.NoneType, vm.Bool, vm.Int, vm.Float, vm.Str, vm.Bytes:
		return b.s.In.Repr(o)
	case *vm.Module:
		b.imports[o.Name] = true
		return o.Name, nil
	}
	if e, ok := b.made[o]; ok {
		if e == under {
			return "", fmt.Errorf("%s holds itself", b.shown(o))
		}
		return e, nil
	}
	if n := b.variable(o); n != "" {
		return n, nil
	}
	b.made[o] = under
	defer func() {
		if b.made[o] == under {
			delete(b.made, o)
		}
	}()
	switch o := o.(type) {
	case *vm.Function:
		return b.function(o)
	case *vm.BoundMethod:
		self, err := b.expr(o.Self)
		f, ok := o.Func.(*vm.Function)
		if err != nil || !ok {
			return "", fmt.Errorf("%s cannot be written: %w", b.shown(o), err)
		}
		return self + "." + f.Name, nil
	case *vm.Type:
		return b.qualified(o, o.Module, o.Qualname)
	case *vm.Instance:
		return b.instance(o)
	case *vm.List:
		return b.items("[", o.Items, "]")
	case *vm.Tuple:
		return b.items("(", o.Items, ",)")
	case *vm.Dict:
		return b.dict(o)
	}
	name := b.s.Torch.TargetOf(o) // of a function of the library
	if name == "" {
		name = b.shown(o) // a dtype is shown by its name
	}
	if !strings.Contains(name, ".") {
		name = "builtins." + name
	}
	at := strings.LastIndexByte(name, '.')
	if e, err := b.qualified(o, name[:at], name[at+1:]); err == nil {
		return e, nil
	}
	return "", fmt.Errorf("%s cannot be written into a repro", b.shown(o))
}

func (b *backendSource) shown(o vm.Object) string {
	if text, err := b.s.In.Repr(o); err == nil {
		return text
	}
	return "an object of class " + o.Type().Name
}

func (b *backendSource) quoted(name string) string {
	text, _ := b.s.In.Repr(vm.Str(name))
	return text
}

// function writes a function that no variable of the module holds.
func (b *backendSource) function(f *vm.Function) (string, error) {
	if !strings.Contains(f.Qualname, "<") { // of a class of the module, or of another module
		module, _ := vm.AsStr(f.Module)
		if e, err := b.qualified(f, module, f.Qualname); err == nil || !b.s.own(f) {
			return e, err
		}
	}
	if f.Globals != b.home {
		return "", fmt.Errorf("%s is made in another file, %s", b.shown(f), f.Code.Filename)
	}
	text, lambda, err := repros.FunctionText(f.Code.Code)
	if err != nil {
		return "", err
	}
	var params, args []string
	for i, c := range f.Closure {
		name := f.Code.FreeVars[i]
		if c.V == vm.Object(f) && name == f.Name {
			continue // it calls itself
		}
		if c.V == nil {
			continue // a variable without a value
		}
		e, err := b.expr(c.V)
		if err != nil {
			return "", fmt.Errorf("%s of %s: %w", name, f.Qualname, err)
		}
		params, args = append(params, name), append(args, e)
	}
	if lambda {
		text = "return (" + text + ")"
	} else {
		text += "\nreturn " + f.Name
	}
	return b.add(f, func(name string) string {
		return fmt.Sprintf("def make_%s(%s):\n    %s\n%s = make_%s(%s)", name, strings.Join(params, ", "), strings.ReplaceAll(text, "\n", "\n    "), name, name, strings.Join(args, ", "))
	}), nil
}

// qualified is what a name of a module leads to, if that is o.
func (b *backendSource) qualified(o vm.Object, module, name string) (string, error) {
	no := fmt.Errorf("%s is not what %s.%s is", b.shown(o), module, name)
	first, rest, _ := strings.Cut(name, ".")
	var at vm.Object
	at, found := b.home.GetStr(first)
	e := name
	here, _ := b.home.GetStr("__name__")
	if said, _ := vm.AsStr(here); said != module || !found {
		m, err := b.s.In.Import(module)
		if err != nil || module == "__main__" {
			return "", no
		}
		at, e, rest = m, module+"."+name, name
	}
	for rest != "" {
		var err error
		first, rest, _ = strings.Cut(rest, ".")
		if at, err = b.s.In.GetAttr(at, first); err != nil {
			return "", no
		}
	}
	if at != o {
		return "", no
	}
	if e != name {
		b.imports[module] = true
	}
	return e, nil
}

// instance writes an object by its class and its attributes; it is not initialised again.
func (b *backendSource) instance(o *vm.Instance) (string, error) {
	class, err := b.expr(o.Class)
	if err != nil {
		return "", err
	}
	if isPartial(o) {
		return b.partial(o, class)
	}
	if o.Native != nil || len(o.Slots) > 0 {
		return "", fmt.Errorf("%s cannot be written into a repro", b.shown(o))
	}
	attrs := "{}"
	if o.Dict != nil {
		if attrs, err = b.dict(o.Dict); err != nil {
			return "", err
		}
	}
	return b.add(o, func(name string) string {
		return fmt.Sprintf("def make_%[1]s():\n    o = object.__new__(%[2]s)\n    o.__dict__.update(%[3]s)\n    return o\n%[1]s = make_%[1]s()", name, class, attrs)
	}), nil
}

// isPartial reports whether an object is a functools.partial.
func isPartial(o *vm.Instance) bool {
	return o.Class.Module == "functools" && o.Class.Name == "partial"
}

func (b *backendSource) partial(o *vm.Instance, class string) (string, error) {
	var parts [3]string
	for i, attr := range []string{"func", "args", "keywords"} {
		v, err := b.s.In.GetAttr(o, attr)
		if err == nil {
			parts[i], err = b.expr(v)
		}
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s(%s, *%s, **%s)", class, parts[0], parts[1], parts[2]), nil
}

func (b *backendSource) items(open string, items []vm.Object, end string) (string, error) {
	var l []string
	for _, o := range items {
		e, err := b.expr(o)
		if err != nil {
			return "", err
		}
		l = append(l, e)
	}
	if len(l) == 0 {
		end = end[len(end)-1:]
	}
	return open + strings.Join(l, ", ") + end, nil
}

func (b *backendSource) dict(d *vm.Dict) (string, error) {
	var l []string
	for _, k := range d.Keys() {
		v, _, err := d.Get(b.s.In, k)
		if err != nil {
			return "", err
		}
		key, err := b.expr(k)
		if err != nil {
			return "", err
		}
		value, err := b.expr(v)
		if err != nil {
			return "", err
		}
		l = append(l, key+": "+value)
	}
	return "{" + strings.Join(l, ", ") + "}", nil
}

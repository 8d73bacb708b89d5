package stdlib

import (
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// warnings is the state of _warnings, which warnings.py shows and changes.
type warnings struct {
	m       *vm.Module
	version int64 // grows with every change of the filters
	ready   bool  // the filters of -W are there, if there are any
}

// warningsModule is _warnings: what issues warnings. warnings.py takes its functions and filters, and prints what passes.
func warningsModule(in *vm.Interp) (*vm.Module, error) {
	w := &warnings{m: in.NewModule("_warnings", "_warnings provides basic warning filtering support.\nIt is a helper module to speed up interpreter start-up.")}
	w.m.Set("filters", vm.NewList(
		filterOf("default", in.Exc.DeprecationWarning, "__main__"), filterOf("ignore", in.Exc.DeprecationWarning, ""),
		filterOf("ignore", in.Exc.PendingDeprecationWarning, ""), filterOf("ignore", in.Exc.ImportWarning, ""), filterOf("ignore", in.Exc.ResourceWarning, "")))
	w.m.Set("_defaultaction", vm.Str("default"))
	w.m.Set("_onceregistry", vm.NewDict())
	clinic.Def(w.m, "_filters_mutated", "", func(*clinic.Call) (vm.Object, error) { w.version++; return vm.None, nil })
	clinic.Def(w.m, "warn", "message, category=None, stacklevel:int=1, source=None", func(c *clinic.Call) (vm.Object, error) {
		return vm.None, w.warn(c.Interp, c.Args[0], c.Args[1], int(c.Int(2)), c.Args[3])
	})
	clinic.Def(w.m, "warn_explicit", "message, category, filename, lineno:int, module=None, registry=None, module_globals=None, source=None", func(c *clinic.Call) (vm.Object, error) {
		in := c.Interp
		line, err := sourceLine(in, c.Args[6], c.Int(3))
		if err != nil {
			return nil, err
		}
		return vm.None, w.explicit(in, warning{message: c.Args[0], category: c.Args[1], file: c.Args[2], line: c.Int(3), module: c.Args[4], registry: c.Args[5], text: line, source: c.Args[7]})
	})
	return w.m, nil
}

// filterOf is a row of the filters at the start.
func filterOf(action string, category *vm.Type, module string) vm.Object {
	var m vm.Object = vm.None
	if module != "" {
		m = vm.Str(module)
	}
	return vm.NewTuple(vm.Str(action), vm.None, category, m, vm.Int(0))
}

// warning is one warning: what is said, where, and by whom.
type warning struct {
	message, category vm.Object
	file              vm.Object
	line              int64
	module, registry  vm.Object // None: of the file's name; none
	text              vm.Object // the source line; None: to be looked up
	source            vm.Object
}

// warn finds out which line a warning is about: that of the frame stacklevel steps up, importlib's own not counted.
func (w *warnings) warn(in *vm.Interp, message, category vm.Object, level int, source vm.Object) error {
	if isWarning(in, message) {
		category = message.Type()
	} else if category == vm.None {
		category = in.Exc.UserWarning
	}
	if t, ok := category.(*vm.Type); !ok || !t.IsSubtype(in.Exc.Warning) {
		return in.Errorf(in.Exc.TypeError, "category must be a Warning subclass, not '%s'", vm.TypeName(category))
	}
	f := in.Frame()
	internal := func(f *vm.Frame) bool { return f != nil && ofImportlib(f.Code.Filename) }
	if level <= 0 || internal(f) {
		for ; level > 1 && f != nil; level-- {
			f = f.Back
		}
	} else {
		for ; level > 1 && f != nil; level-- {
			for f = f.Back; internal(f); f = f.Back {
			}
		}
	}
	x := warning{message: message, category: category, text: vm.None, source: source}
	globals := (*vm.Dict)(nil)
	if f == nil {
		sys, err := in.Import("sys")
		if err != nil {
			return err
		}
		globals, x.file, x.line = sys.Dict, vm.Str("sys"), 1
	} else {
		globals, x.file, x.line = f.Globals, vm.Str(f.Code.Filename), int64(f.Line())
	}
	var ok bool
	if x.registry, ok = globals.GetStr("__warningregistry__"); !ok {
		x.registry = vm.NewDict()
		globals.SetStr("__warningregistry__", x.registry)
	}
	if x.module, ok = globals.GetStr("__name__"); !ok {
		x.module = vm.Str("<string>")
	} else if _, isStr := vm.AsStr(x.module); !isStr && x.module != vm.None {
		x.module = vm.Str("<string>")
	}
	return w.explicit(in, x)
}

// ofImportlib reports whether a file is of the import system.
func ofImportlib(file string) bool {
	return strings.Contains(file, "importlib") && strings.Contains(file, "_bootstrap")
}

// isWarning reports whether o is an instance of Warning.
func isWarning(in *vm.Interp, o vm.Object) bool { return o.Type().IsSubtype(in.Exc.Warning) }

// begin has warnings.py put the filters of -W in, before the first warning.
func (w *warnings) begin(in *vm.Interp) error {
	if w.ready {
		return nil
	}
	w.ready = true
	sys, err := in.Import("sys")
	if err != nil {
		return err
	}
	if o, ok := sys.Dict.GetStr("warnoptions"); ok {
		if some, err := in.Truth(o); err == nil && some {
			_, err = in.Import("warnings")
			return err
		}
	}
	return nil
}

// explicit asks the filters what to do about a warning, and does it.
func (w *warnings) explicit(in *vm.Interp, x warning) error {
	if err := w.begin(in); err != nil {
		return err
	}
	if _, ok := vm.AsDict(x.registry); !ok && x.registry != vm.None {
		return in.Errorf(in.Exc.TypeError, "'registry' must be a dict or None, not '%s'", vm.TypeName(x.registry))
	}
	if x.module == vm.None {
		name, _ := vm.AsStr(x.file)
		if name == "" {
			name = "<unknown>"
		}
		x.module = vm.Str(strings.TrimSuffix(name, ".py"))
	}
	text := x.message
	if isWarning(in, x.message) {
		s, err := in.Str(x.message)
		if err != nil {
			return err
		}
		text, x.category = vm.Str(s), x.message.Type()
	} else {
		m, err := in.Call(x.category, []vm.Object{x.message}, nil)
		if err != nil {
			return err
		}
		x.message = m
	}
	key := vm.NewTuple(text, x.category, vm.MakeInt(x.line))
	if said, err := w.said(in, x.registry, key, true); err != nil || said {
		return err
	}
	action, row, err := w.action(in, x, text)
	if err != nil {
		return err
	}
	switch action {
	case "error":
		e, _ := x.message.(*vm.Exception)
		return in.Raise(e)
	case "ignore":
		return nil
	}
	if x.registry != vm.None && action != "always" {
		if err := in.SetItem(x.registry, key, vm.True); err != nil {
			return err
		}
	}
	said := false
	switch action {
	case "once":
		registry := x.registry
		if registry == vm.None {
			if registry, err = w.onceRegistry(in); err != nil {
				return err
			}
		}
		said, err = w.said(in, registry, vm.NewTuple(text, x.category), false)
	case "module":
		if x.registry != vm.None {
			said, err = w.said(in, x.registry, vm.NewTuple(text, x.category, vm.Int(0)), false)
		}
	case "default", "always":
	default:
		return in.Errorf(in.Exc.RuntimeError, "Unrecognized action (%s) in warnings.filters:\n %s", reprOf(in, vm.Str(action)), reprOf(in, row))
	}
	if err != nil || said {
		return err
	}
	return w.show(in, x, text)
}

func reprOf(in *vm.Interp, o vm.Object) string {
	s, err := in.Repr(o)
	if err != nil {
		return o.Type().Name
	}
	return s
}

// said reports whether a registry has key; if not, and it is not only asked for, key is put in. A registry of filters that have changed is cleared.
func (w *warnings) said(in *vm.Interp, registry, key vm.Object, ask bool) (bool, error) {
	if registry == vm.None {
		return false, nil
	}
	d, ok := vm.AsDict(registry)
	if !ok {
		return false, in.Errorf(in.Exc.TypeError, "_warnings.onceregistry must be a dict, not '%s'", vm.TypeName(registry))
	}
	v, ok := d.GetStr("version")
	if n, isInt := vm.AsInt(v); !ok || !isInt || int64(n) != w.version {
		d.Clear()
		d.SetStr("version", vm.MakeInt(w.version))
	} else if v, ok, err := d.Get(in, key); err != nil {
		return false, err
	} else if ok {
		return in.Truth(v)
	}
	if ask {
		return false, nil
	}
	return false, d.Set(in, key, vm.True)
}

// attr is what warnings.py, if a program has imported it, or this module calls name.
func (w *warnings) attr(in *vm.Interp, name, own string) (vm.Object, error) {
	if py, ok := in.Modules.GetStr("warnings"); ok {
		if v, err := in.GetAttrOpt(py, name); err != nil || v != nil {
			return v, err
		}
	}
	v, _ := w.m.Dict.GetStr(own)
	return v, nil
}

func (w *warnings) onceRegistry(in *vm.Interp) (vm.Object, error) {
	return w.attr(in, "onceregistry", "_onceregistry")
}

// action is what the first filter that matches says, with its row.
func (w *warnings) action(in *vm.Interp, x warning, text vm.Object) (string, vm.Object, error) {
	filters, err := w.attr(in, "filters", "filters")
	if err != nil {
		return "", nil, err
	}
	l, ok := vm.AsList(filters)
	if !ok {
		return "", nil, in.Errorf(in.Exc.ValueError, "_warnings.filters must be a list")
	}
	for i := 0; i < len(l.Items); i++ {
		t, ok := vm.AsTuple(l.Items[i])
		if !ok || len(t.Items) != 5 {
			return "", nil, in.Errorf(in.Exc.ValueError, "_warnings.filters item %d isn't a 5-tuple", i)
		}
		action, ok := vm.AsStr(t.Items[0])
		if !ok {
			return "", nil, in.Errorf(in.Exc.TypeError, "action must be a string, not '%s'", vm.TypeName(t.Items[0]))
		}
		line, err := in.Index(t.Items[4])
		if err != nil {
			return "", nil, err
		}
		if line != 0 && int64(line) != x.line {
			continue
		}
		good, err := in.IsSubclass(x.category, t.Items[2])
		for k, what := range map[int]vm.Object{1: text, 3: x.module} {
			if err == nil && good {
				good, err = matches(in, t.Items[k], what)
			}
		}
		if err != nil {
			return "", nil, err
		}
		if good {
			return action, t, nil
		}
	}
	d, err := w.attr(in, "defaultaction", "_defaultaction")
	if err != nil {
		return "", nil, err
	}
	action, ok := vm.AsStr(d)
	if !ok {
		return "", nil, in.Errorf(in.Exc.TypeError, "_warnings.defaultaction must be a string, not '%s'", vm.TypeName(d))
	}
	return action, vm.None, nil
}

// matches holds a filter's pattern against a text: None matches all, a str what is equal, else its match method says.
func matches(in *vm.Interp, pattern, text vm.Object) (bool, error) {
	if pattern == vm.None {
		return true, nil
	}
	if s, ok := pattern.(vm.Str); ok {
		t, _ := vm.AsStr(text)
		return string(s) == t, nil
	}
	v, err := in.CallMethod(pattern, "match", text)
	if err != nil {
		return false, err
	}
	return in.Truth(v)
}

// show has warnings.py print a warning.
func (w *warnings) show(in *vm.Interp, x warning, text vm.Object) error {
	py, err := in.Import("warnings")
	if err != nil {
		return err
	}
	f, err := in.GetAttrOpt(py, "_showwarnmsg")
	if err != nil {
		return err
	}
	if f == nil {
		return in.Errorf(in.Exc.AttributeError, "module 'warnings' has no attribute '_showwarnmsg'")
	}
	if !callableObject(f) {
		return in.Errorf(in.Exc.TypeError, "warnings._showwarnmsg() must be set to a callable")
	}
	class, err := in.GetAttr(py, "WarningMessage")
	if err != nil {
		return err
	}
	m, err := in.Call(class, []vm.Object{x.message, x.category, x.file, vm.MakeInt(x.line), vm.None, x.text, x.source}, nil)
	if err != nil {
		return err
	}
	_, err = in.Call(f, []vm.Object{m}, nil)
	return err
}

// sourceLine asks the loader in a module's globals for a line of its source, as files in archives have no other way.
func sourceLine(in *vm.Interp, globals vm.Object, line int64) (vm.Object, error) {
	if globals == vm.None {
		return vm.None, nil
	}
	d, ok := vm.AsDict(globals)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "module_globals must be a dict, not '%s'", vm.TypeName(globals))
	}
	loader, ok1 := d.GetStr("__loader__")
	name, ok2 := d.GetStr("__name__")
	if !ok1 || !ok2 || loader == vm.None {
		return vm.None, nil
	}
	get, err := in.GetAttrOpt(loader, "get_source")
	if err != nil || get == nil {
		return vm.None, err
	}
	src, err := in.Call(get, []vm.Object{name}, nil)
	if err != nil {
		return nil, err
	}
	s, _ := vm.AsStr(src)
	lines := strings.Split(s, "\n")
	if line < 1 || line > int64(len(lines)) {
		return vm.None, nil
	}
	return vm.Str(lines[line-1]), nil
}

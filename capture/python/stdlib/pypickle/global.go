package pypickle

import (
	"encoding/binary"
	"slices"
	"strings"

	"whittle/capture/python/vm"
)

// path splits a qualified name. One within a function leads nowhere.
func path(name string) (parts []string, local bool) {
	parts = strings.Split(name, ".")
	return parts, slices.Contains(parts, "<locals>")
}

// deep follows names from an object; nil if one is missing.
func deep(in *vm.Interp, o vm.Object, parts []string) (v, parent vm.Object, err error) {
	for _, n := range parts {
		parent = o
		if o, err = in.GetAttrOpt(o, n); o == nil || err != nil {
			return nil, nil, err
		}
	}
	return o, parent, nil
}

// whichModule is the name of the module that an object is found in.
func (p *pickler) whichModule(o vm.Object, parts []string) (string, error) {
	m, err := p.in.GetAttrOpt(o, "__module__")
	if err != nil {
		return "", err
	}
	if m != nil && m != vm.None {
		s, ok := vm.AsStr(m)
		if !ok {
			s, err = p.in.Str(m)
		}
		return s, err
	}
	found := "__main__"
	p.in.Modules.Copy().Each(func(k, m vm.Object) bool {
		name, ok := vm.AsStr(k)
		if !ok || name == "__main__" || m == vm.None {
			return true
		}
		v, _, err := deep(p.in, m, parts)
		if err == nil && v != nil && vm.Is(v, o) {
			found = name
			return false
		}
		return true
	})
	return found, nil
}

// saveGlobal saves a class or a function by its name, that which __reduce__ gave if it gave one.
func (p *pickler) saveGlobal(o vm.Object, name string) error {
	if name == "" {
		n, err := p.in.GetAttrOpt(o, "__qualname__")
		if err == nil && n == nil {
			n, err = p.in.GetAttr(o, "__name__")
		}
		if err != nil {
			return err
		}
		name, _ = vm.AsStr(n)
	}
	parts, local := path(name)
	if local {
		s, err := p.in.Repr(vm.Str(name))
		if err != nil {
			return err
		}
		return p.in.Errorf(p.in.Exc.AttributeError, "Can't pickle local object %s", s)
	}
	mod, err := p.whichModule(o, parts)
	if err != nil {
		return err
	}
	parent, err := p.lookUp(o, mod, name, parts)
	if err != nil {
		return err
	}
	if p.proto >= 2 {
		if done, err := p.saveExtension(mod, name); done || err != nil {
			return err
		}
	}
	return p.writeGlobal(o, mod, name, parts, parent)
}

// lookUp finds an object where it says that it is, and what it is an attribute of.
func (p *pickler) lookUp(o vm.Object, mod, name string, parts []string) (parent vm.Object, err error) {
	fail := func(format string, args ...any) (vm.Object, error) {
		s, err := p.in.Repr(o)
		if err != nil {
			return nil, err
		}
		return nil, p.in.Errorf(p.pickling, "Can't pickle %s: "+format, append([]any{s}, args...)...)
	}
	m, err := p.importModule(p.in, mod)
	if err != nil {
		s, _ := p.in.Repr(vm.Str(mod))
		return fail("import of module %s failed", s)
	}
	v, parent, err := deep(p.in, m, parts)
	switch {
	case err != nil:
		return nil, err
	case v == nil:
		return fail("attribute lookup %s on %s failed", name, mod)
	case !vm.Is(v, o):
		return fail("it's not the same object as %s.%s", mod, name)
	}
	if parent == m {
		parent = nil
	}
	return parent, nil
}

// saveExtension saves a global by the number that copyreg has for it.
func (p *pickler) saveExtension(mod, name string) (done bool, err error) {
	v, err := p.registered(p.in, "_extension_registry", vm.NewTuple(vm.Str(mod), vm.Str(name)))
	if v == nil || err != nil {
		return false, err
	}
	code, ok := vm.AsInt(v)
	if !ok {
		return true, p.in.Errorf(p.pickling, "Can't pickle %s: extension code is not an integer", name)
	}
	switch {
	case code <= 0 || code > 0x7fffffff:
		return true, p.in.Errorf(p.in.Exc.RuntimeError, "extension code %d is out of range", code)
	case code <= 0xff:
		return true, p.op(opExt1, byte(code))
	case code <= 0xffff:
		return true, p.op(opExt2, byte(code), byte(code>>8))
	}
	return true, p.op(binary.LittleEndian.AppendUint32([]byte{opExt4}, uint32(code))...)
}

// writeGlobal writes the names, as far as the protocol can tell them.
func (p *pickler) writeGlobal(o vm.Object, mod, name string, parts []string, parent vm.Object) error {
	switch {
	case p.proto >= 4:
		if err := p.save(vm.Str(mod)); err != nil {
			return err
		}
		if err := p.save(vm.Str(name)); err != nil {
			return err
		}
		if err := p.op(opStackGlobal); err != nil {
			return err
		}
	case parent != nil:
		getattr, err := p.in.GetAttr(p.in.Builtins, "getattr")
		if err != nil {
			return err
		}
		if err := p.saveReduce(vm.NewTuple(getattr, vm.NewTuple(parent, vm.Str(parts[len(parts)-1]))), nil); err != nil {
			return err
		}
	default:
		name = parts[len(parts)-1]
		if p.proto < 3 && p.fixImports {
			var err error
			if mod, name, err = p.oldNames(p.in, mod, name, true); err != nil {
				return err
			}
		}
		for _, n := range []struct{ what, name string }{{"module", mod}, {"global", name}} {
			if p.proto < 3 && !ascii(n.name) {
				return p.in.Errorf(p.pickling, "can't pickle %s identifier '%s' using pickle protocol %d", n.what, n.name, p.proto)
			}
		}
		if err := p.op([]byte("c" + mod + "\n" + name + "\n")...); err != nil {
			return err
		}
	}
	return p.remember(o)
}

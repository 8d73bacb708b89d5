package pypickle

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// module is what the classes and functions of the module share.
type module struct {
	err, pickling, unpickling        *vm.Type
	pickler, picklerMemo             *vm.Type
	unpickler, unpicklerMemo, buffer *vm.Type
}

// Module makes _pickle.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_pickle", "Optimized C implementation for the Python pickle module.")
	s := &module{}
	for _, e := range []struct {
		name string
		base **vm.Type
		to   **vm.Type
	}{{"PickleError", &in.Exc.Exception, &s.err}, {"PicklingError", &s.err, &s.pickling}, {"UnpicklingError", &s.err, &s.unpickling}} {
		t, err := in.MakeClass(vm.TypeType, e.name, []*vm.Type{*e.base}, vm.StrDict("__module__", vm.Str("_pickle")))
		if err != nil {
			return nil, err
		}
		*e.to = t
		m.Set(e.name, t)
	}
	s.makeBuffer(in)
	s.makePickler(in)
	s.makeUnpickler(in)
	m.Set("PickleBuffer", s.buffer)
	m.Set("Pickler", s.pickler)
	m.Set("Unpickler", s.unpickler)
	s.functions(m)
	return m, nil
}

// functions adds dump, dumps, load and loads.
func (s *module) functions(m *vm.Module) {
	clinic.Def(m, "dump", "obj, file, protocol=None, *, fix_imports:bool=True, buffer_callback=None", func(c *clinic.Call) (vm.Object, error) {
		p, err := s.newPickler(c.Interp, c.Args[1], c.Args[2], c.Bool(3), c.Args[4])
		if err == nil {
			err = p.dump(c.Args[0])
		}
		if err == nil {
			err = p.flush(c.Interp)
		}
		return vm.None, err
	})
	clinic.Def(m, "dumps", "obj, protocol=None, *, fix_imports:bool=True, buffer_callback=None", func(c *clinic.Call) (vm.Object, error) {
		p, err := s.newPickler(c.Interp, nil, c.Args[1], c.Bool(2), c.Args[3])
		if err == nil {
			err = p.dump(c.Args[0])
		}
		if err != nil {
			return nil, err
		}
		return vm.Bytes(p.buf), nil
	})
	clinic.Def(m, "load", "file, *, fix_imports:bool=True, encoding:str='ASCII', errors:str='strict', buffers=None", func(c *clinic.Call) (vm.Object, error) {
		u := s.newUnpickler(c.Interp)
		if err := u.setUp(c.Args[0], nil, c.Bool(1), c.Str(2), c.Str(3), c.Args[4]); err != nil {
			return nil, err
		}
		return u.load()
	})
	clinic.Def(m, "loads", "data:bytes, /, *, fix_imports:bool=True, encoding:str='ASCII', errors:str='strict', buffers=None", func(c *clinic.Call) (vm.Object, error) {
		u := s.newUnpickler(c.Interp)
		if err := u.setUp(nil, c.Bytes(0), c.Bool(1), c.Str(2), c.Str(3), c.Args[4]); err != nil {
			return nil, err
		}
		return u.load()
	})
}

// importModule imports a module by its whole name.
func (s *module) importModule(in *vm.Interp, name string) (vm.Object, error) {
	if m, ok := in.Modules.GetStr(name); ok && m != vm.None {
		return m, nil
	}
	if _, err := in.Import(name); err != nil {
		return nil, err
	}
	m, ok := in.Modules.GetStr(name)
	if !ok {
		return nil, in.KeyError(vm.Str(name))
	}
	return m, nil
}

// registered is what a table of copyreg has for a key, nil if nothing.
func (s *module) registered(in *vm.Interp, table string, key vm.Object) (vm.Object, error) {
	copyreg, err := s.importModule(in, "copyreg")
	if err != nil {
		return nil, err
	}
	o, err := in.GetAttr(copyreg, table)
	if err != nil {
		return nil, err
	}
	d, ok := vm.AsDict(o)
	if !ok {
		return nil, in.Errorf(in.Exc.RuntimeError, "copyreg.%s should be a dict, not %s", table, vm.TypeName(o))
	}
	v, _, err := d.Get(in, key)
	return v, err
}

// oldNames gives Python 2's names for those of Python 3, or the other way round.
func (s *module) oldNames(in *vm.Interp, mod, name string, old bool) (string, string, error) {
	names, mods := "NAME_MAPPING", "IMPORT_MAPPING"
	if old {
		names, mods = "REVERSE_NAME_MAPPING", "REVERSE_IMPORT_MAPPING"
	}
	compat, err := s.importModule(in, "_compat_pickle")
	if err != nil {
		return "", "", err
	}
	get := func(table string, key vm.Object) (vm.Object, error) {
		o, err := in.GetAttr(compat, table)
		if err != nil {
			return nil, err
		}
		d, ok := vm.AsDict(o)
		if !ok {
			return nil, in.Errorf(in.Exc.RuntimeError, "_compat_pickle.%s should be a dict, not %s", table, vm.TypeName(o))
		}
		v, _, err := d.Get(in, key)
		return v, err
	}
	v, err := get(names, vm.NewTuple(vm.Str(mod), vm.Str(name)))
	if err != nil {
		return "", "", err
	}
	if v != nil {
		t, ok := vm.AsTuple(v)
		if !ok || len(t.Items) != 2 {
			return "", "", in.Errorf(in.Exc.RuntimeError, "_compat_pickle.%s values should be 2-tuples, not %s", names, vm.TypeName(v))
		}
		m, mok := vm.AsStr(t.Items[0])
		n, nok := vm.AsStr(t.Items[1])
		if !mok || !nok {
			return "", "", in.Errorf(in.Exc.RuntimeError, "_compat_pickle.%s values should be pairs of str, not (%s, %s)", names, vm.TypeName(t.Items[0]), vm.TypeName(t.Items[1]))
		}
		return m, n, nil
	}
	if v, err = get(mods, vm.Str(mod)); err != nil || v == nil {
		return mod, name, err
	}
	m, ok := vm.AsStr(v)
	if !ok {
		return "", "", in.Errorf(in.Exc.RuntimeError, "_compat_pickle.%s values should be strings, not %s", mods, vm.TypeName(v))
	}
	return m, name, nil
}

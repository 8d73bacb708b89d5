package pyio

import (
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// openParams are the parameters of open.
const openParams = "file, mode:str='r', buffering:int=-1, encoding=None, errors=None, newline=None, closefd:bool=True, opener=None"

// functions are the module's functions.
func (m *module) functions(in *vm.Interp) {
	open := clinic.Def(m.Module, "open", openParams, m.open)
	open.Module = "io"
	in.Builtins.Set("open", open)
	clinic.Def(m.Module, "open_code", "path:str", func(c *clinic.Call) (vm.Object, error) {
		return c.Interp.Call(open, []vm.Object{c.Args[0], vm.Str("rb")}, nil)
	})
	clinic.Def(m.Module, "text_encoding", "encoding, stacklevel:int=2, /", func(c *clinic.Call) (vm.Object, error) {
		if c.None(0) {
			return vm.Str("locale"), nil
		}
		return c.Args[0], nil
	})
}

// textMode is a mode of open, such as "r+" or "wb".
type textMode struct {
	kinds, raw             string // of x, r, w and a those that are there; what FileIO is given
	updating, text, binary bool
}

// parseTextMode reads a mode of open.
func parseTextMode(in *vm.Interp, mode string) (o textMode, err error) {
	for i, c := range mode {
		if !strings.ContainsRune("xrwa+tb", c) || strings.ContainsRune(mode[:i], c) {
			return o, in.Errorf(in.Exc.ValueError, "invalid mode: '%s'", mode)
		}
		switch c {
		case '+':
			o.updating = true
		case 't':
			o.text = true
		case 'b':
			o.binary = true
		default:
			o.kinds += string(c)
		}
	}
	if o.raw = o.kinds; o.updating {
		o.raw += "+"
	}
	switch {
	case o.text && o.binary:
		return o, in.Errorf(in.Exc.ValueError, "can't have text and binary mode at once")
	case len(o.kinds) > 1:
		return o, in.Errorf(in.Exc.ValueError, "must have exactly one of create/read/write/append mode")
	}
	return o, nil
}

// open is the function open.
func (m *module) open(c *clinic.Call) (vm.Object, error) {
	in := c.Interp
	file := c.Args[0]
	if _, number := vm.AsInt(file); !number && file.Type().Lookup("__index__") == nil {
		if _, err := in.FSPath(file); err != nil {
			return nil, err
		}
		if f := file.Type().Lookup("__fspath__"); f != nil {
			var err error
			if file, err = in.CallMethod(file, "__fspath__"); err != nil {
				return nil, err
			}
		}
	}
	mode, err := parseTextMode(in, c.Str(1))
	if err != nil {
		return nil, err
	}
	if mode.binary {
		for i, what := range []string{"an encoding", "an errors", "a newline"} {
			if !c.None(3 + i) {
				return nil, in.Errorf(in.Exc.ValueError, "binary mode doesn't take %s argument", what)
			}
		}
		if c.Int(2) == 1 {
			if err := warn(in, in.Exc.RuntimeWarning, "line buffering (buffering=1) isn't supported in binary mode, the default buffer size will be used"); err != nil {
				return nil, err
			}
		}
	}
	raw, err := in.Call(m.fileIO, []vm.Object{file, vm.Str(mode.raw), vm.MakeBool(c.Bool(6)), c.Args[7]}, nil)
	if err != nil {
		return nil, err
	}
	f, err := m.wrap(c, raw, mode)
	if err != nil {
		_, cerr := in.CallMethod(raw, "close")
		return nil, chained(cerr, err)
	}
	return f, nil
}

// warn issues a warning.
func warn(in *vm.Interp, category *vm.Type, text string) error {
	w, err := in.Import("_warnings")
	if err == nil {
		_, err = in.CallMethod(w, "warn", vm.Str(text), category, vm.MakeInt(1))
	}
	return err
}

// wrap puts a buffer and text over a raw file as a mode wants it.
func (m *module) wrap(c *clinic.Call, raw vm.Object, mode textMode) (vm.Object, error) {
	in, f := c.Interp, raw.(*vm.Instance).Native.(*fileIO)
	size, lines := c.Int(2), false
	if size == 1 || size < 0 && isTerminal(f.fd) {
		size, lines = -1, true
	}
	if size < 0 {
		size = int64(f.block)
	}
	if size == 0 {
		if !mode.binary {
			return nil, in.Errorf(in.Exc.ValueError, "can't have unbuffered text I/O")
		}
		return raw, nil
	}
	class := m.writer
	switch {
	case mode.updating:
		class = m.random
	case mode.kinds == "r":
		class = m.reader
	}
	buffer, err := in.Call(class, []vm.Object{raw, vm.MakeInt(size)}, nil)
	if err != nil || mode.binary {
		return buffer, err
	}
	text, err := in.Call(m.text, []vm.Object{buffer, c.Args[3], c.Args[4], c.Args[5], vm.MakeBool(lines)}, nil)
	if err != nil {
		return nil, err
	}
	return text, in.SetAttr(text, "mode", c.Args[1])
}

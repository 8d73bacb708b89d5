package stdlib

import (
	"os"
	"strings"

	"whittle/capture/python/vm"
)

// displayHook is sys.displayhook: it prints a value, and keeps it as _. What the stream cannot encode is written as escapes.
func displayHook(in *vm.Interp, args []vm.Object) (vm.Object, error) {
	if args[0] == vm.None {
		return vm.None, nil
	}
	in.Builtins.Set("_", vm.None)
	s, err := in.Repr(args[0])
	if err != nil {
		return nil, err
	}
	sys, err := in.Import("sys")
	if err != nil {
		return nil, err
	}
	out, ok := sys.Dict.GetStr("stdout")
	if !ok || out == vm.None {
		return nil, in.Errorf(in.Exc.RuntimeError, "lost sys.stdout")
	}
	if _, err = in.CallMethod(out, "write", vm.Str(s)); err != nil {
		if !in.Matches(err, in.Exc.UnicodeEncodeError) {
			return nil, err
		}
		if err := writeEscaped(in, out, s); err != nil {
			return nil, err
		}
	}
	if _, err := in.CallMethod(out, "write", vm.Str("\n")); err != nil {
		return nil, err
	}
	in.Builtins.Set("_", args[0])
	return vm.None, nil
}

// writeEscaped writes to a stream what its encoding lacks as escapes.
func writeEscaped(in *vm.Interp, out vm.Object, s string) error {
	enc, err := in.GetAttr(out, "encoding")
	if err != nil {
		return err
	}
	b, err := in.CallMethod(vm.Str(s), "encode", enc, vm.Str("backslashreplace"))
	if err != nil {
		return err
	}
	buffer, err := in.GetAttrOpt(out, "buffer")
	if err != nil {
		return err
	}
	if buffer != nil {
		_, err = in.CallMethod(buffer, "write", b)
		return err
	}
	text, err := in.CallMethod(b, "decode", enc, vm.Str("strict"))
	if err == nil {
		_, err = in.CallMethod(out, "write", text)
	}
	return err
}

// breakpoints gives sys the hook that breakpoint() calls. By default that is what $PYTHONBREAKPOINT names, else pdb.set_trace (PEP 553).
func breakpoints(m *vm.Module) {
	m.Set("__breakpointhook__", m.Func("breakpointhook", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		name, err := breakpointName(in)
		if err != nil {
			return nil, err
		}
		switch name {
		case "0":
			return vm.None, nil
		case "":
			name = "pdb.set_trace"
		}
		module, attr := "builtins", name
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			module, attr = name[:i], name[i+1:]
		}
		var f vm.Object
		if module != "" {
			var mod *vm.Module
			if mod, err = in.Import(module); err == nil {
				f, err = in.GetAttr(mod, attr)
			}
		}
		if f == nil || err != nil {
			if err != nil && !in.Matches(err, in.Exc.ImportError) && !in.Matches(err, in.Exc.AttributeError) && !in.Matches(err, in.Exc.ValueError) {
				return nil, err
			}
			w, err := in.Import("_warnings")
			if err == nil {
				_, err = in.CallMethod(w, "warn", vm.Str("Ignoring unimportable $PYTHONBREAKPOINT: \""+name+"\""), in.Exc.RuntimeWarning)
			}
			return vm.None, err
		}
		return in.Call(f, args, kw)
	}))
}

// breakpointName is $PYTHONBREAKPOINT as the program sees it in os.environ, or as its process has it.
func breakpointName(in *vm.Interp) (string, error) {
	if o, ok := in.Modules.GetStr("os"); ok {
		env, err := in.GetAttr(o, "environ")
		if err != nil {
			return "", err
		}
		v, err := in.CallMethod(env, "get", vm.Str("PYTHONBREAKPOINT"), vm.Str(""))
		if err != nil {
			return "", err
		}
		s, _ := vm.AsStr(v)
		return s, nil
	}
	return os.Getenv("PYTHONBREAKPOINT"), nil
}

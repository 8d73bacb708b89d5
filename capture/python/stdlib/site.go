package stdlib

import (
	"errors"
	"fmt"
	"io"

	"whittle/capture/python/vm"
)

// Site adds to the builtins what CPython's module site does for people: exit and quit, help, copyright, credits and license.
func Site(in *vm.Interp) error {
	m, err := in.Import("_sitebuiltins")
	if err != nil {
		return err
	}
	add := func(name, class string, args ...vm.Object) {
		if err != nil {
			return
		}
		var o vm.Object
		if o, err = in.CallMethod(m, class, args...); err == nil {
			in.Builtins.Dict.SetStr(name, o)
		}
	}
	add("exit", "Quitter", vm.Str("exit"), vm.Str("Ctrl-D (i.e. EOF)"))
	add("quit", "Quitter", vm.Str("quit"), vm.Str("Ctrl-D (i.e. EOF)"))
	add("help", "_Helper")
	add("copyright", "_Printer", vm.Str("copyright"), vm.Str("whittle is published under the BSD-3-Clause licence. Its Python library is CPython's,\nCopyright (c) 2001-2023 Python Software Foundation. All Rights Reserved."))
	add("credits", "_Printer", vm.Str("credits"), vm.Str("Thanks to those who made CPython, NumPy and PyTorch, whose behaviour whittle follows."))
	add("license", "_Printer", vm.Str("license"), vm.Str("whittle: BSD-3-Clause; see LICENSE. The library: https://docs.python.org/3.11/license.html"))
	return err
}

// customizations are the modules of a site, and of a user, that run before the program where there are any.
var customizations = []string{"sitecustomize", "usercustomize"}

// Customize imports what a site or a user has put on the module path to run before every program. What goes wrong in it is said in two lines, and
// the program runs; what ends the process, as sys.exit, does that.
func Customize(in *vm.Interp) error {
	for _, name := range customizations {
		_, err := in.Import(name)
		var r *vm.Raised
		if !errors.As(err, &r) {
			if err != nil {
				return err
			}
			continue
		}
		if !r.Exc.Class.IsSubtype(in.Exc.Exception) {
			return err
		}
		if r.Exc.Class.IsSubtype(in.Exc.ImportError) && named(r.Exc, name) {
			continue
		}
		_ = in.Flush()
		what, serr := in.Str(r.Exc)
		if serr != nil {
			return serr
		}
		fmt.Fprintf(in.Stderr, "Error in %s; set PYTHONVERBOSE for traceback:\n%s: %s\n", name, r.Exc.Class.Name, what)
	}
	return nil
}

// named tells whether an ImportError is about this module, and not about one that it imports.
func named(e *vm.Exception, name string) bool {
	s, ok := vm.AsStr(e.Field("name"))
	return ok && s == name
}

// Excepthook hands what ended the program to sys.excepthook, and reports whether that was a function of the program's own: the text of any other is the
// caller's to print.
func Excepthook(in *vm.Interp, r *vm.Raised, stderr io.Writer) (own bool, err error) {
	o, _ := in.Modules.GetStr("sys")
	sys, ok := o.(*vm.Module)
	if !ok {
		return false, nil
	}
	hook, ok := sys.Dict.GetStr("excepthook")
	if !ok {
		_ = in.Flush()
		fmt.Fprintln(stderr, "sys.excepthook is missing")
		return false, nil
	}
	if whole, _ := sys.Dict.GetStr("__excepthook__"); hook == whole {
		return false, nil
	}
	tb := r.Exc.Field("__traceback__")
	if t, terr := in.GetAttrOpt(r.Exc, "__traceback__"); terr == nil && t != nil {
		tb = t
	}
	_, err = in.Call(hook, []vm.Object{r.Exc.Class, r.Exc, tb}, nil)
	var again *vm.Raised
	if !errors.As(err, &again) || again.Exc.Class.IsSubtype(in.Exc.SystemExit) {
		return err == nil, err
	}
	_ = in.Flush()
	fmt.Fprintf(stderr, "Error in sys.excepthook:\n%s\nOriginal exception was:\n", in.FormatException(again))
	return false, nil
}

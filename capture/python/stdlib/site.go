package stdlib

import "whittle/capture/python/vm"

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

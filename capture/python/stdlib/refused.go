package stdlib

import "whittle/capture/python/vm"

// refused are the modules of CPython's that are not here, with what a program that imports one is told.
var refused = map[string]string{
	"_ssl": "No module named '_ssl': there is no TLS in this Python",
}

func init() {
	for name, why := range refused {
		natives[name] = func(in *vm.Interp) (*vm.Module, error) {
			err := in.Errorf(in.Exc.ModuleNotFoundError, "%s", why)
			if r, ok := err.(*vm.Raised); ok {
				r.Exc.SetField("name", vm.Str(name))
			}
			return nil, err
		}
	}
}

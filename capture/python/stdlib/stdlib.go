package stdlib

import (
	"embed"
	"io/fs"

	"whittle/capture/python/cpython"
	"whittle/capture/python/vm"
)

//go:embed all:lib
var libFS embed.FS

// Prefix is what __file__ of the embedded modules starts with.
const Prefix = "/whittle/lib/python3.11"

// natives are the modules written in Go.
var natives = map[string]func(in *vm.Interp) (*vm.Module, error){}

func init() {
	natives["sys"] = sysModule
	natives["posix"] = posixModule
	natives["math"] = mathModule
	natives["cmath"] = cmathModule
	natives["time"] = timeModule
	natives["_signal"] = signalModule
	natives["itertools"] = itertoolsModule
	natives["operator"] = operatorModule
	natives["_random"] = randomModule
	natives["_json"] = jsonModule
	natives["_re"] = reModule
	natives["_struct"] = structModule
	natives["_hashlib"] = hashModule
	natives["_whittle"] = helperModule
	natives["gc"] = gcModule
	natives["atexit"] = atexitModule
	natives["builtins"] = func(in *vm.Interp) (*vm.Module, error) { return in.Builtins, nil }
}

// Register makes the library known to in and sets up sys.
func Register(in *vm.Interp) {
	for n, f := range natives {
		in.RegisterModule(n, f)
	}
	sub, err := fs.Sub(libFS, "lib")
	if err == nil {
		in.AddSourceFS(sub, Prefix)
	}
	in.AddSourceFS(cpython.Lib(), Prefix)
	// sys is always there: print and import look at it.
	if m, err := sysModule(in); err == nil {
		in.Modules.SetStr("sys", m)
	}
}

func str(o vm.Object) string {
	s, _ := vm.AsStr(o)
	return s
}

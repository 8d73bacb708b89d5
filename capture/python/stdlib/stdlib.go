package stdlib

import (
	"embed"
	"io/fs"
	"maps"

	"whittle/capture/python/cpython"
	"whittle/capture/python/stdlib/audioop"
	"whittle/capture/python/stdlib/cjk"
	"whittle/capture/python/stdlib/posix"
	"whittle/capture/python/stdlib/pyarray"
	"whittle/capture/python/stdlib/pyast"
	"whittle/capture/python/stdlib/pybz2"
	"whittle/capture/python/stdlib/pycontext"
	"whittle/capture/python/stdlib/pycsv"
	"whittle/capture/python/stdlib/pyctypes"
	"whittle/capture/python/stdlib/pydatetime"
	"whittle/capture/python/stdlib/pyexpat"
	"whittle/capture/python/stdlib/pyio"
	"whittle/capture/python/stdlib/pyitertools"
	"whittle/capture/python/stdlib/pyjson"
	"whittle/capture/python/stdlib/pylzma"
	"whittle/capture/python/stdlib/pymmap"
	"whittle/capture/python/stdlib/pymulti"
	"whittle/capture/python/stdlib/pypickle"
	"whittle/capture/python/stdlib/pysocket"
	"whittle/capture/python/stdlib/pysqlite3"
	"whittle/capture/python/stdlib/pystruct"
	"whittle/capture/python/stdlib/sre"
	"whittle/capture/python/stdlib/zlib"
	"whittle/capture/python/vm"
)

//go:embed all:lib
var libFS embed.FS

// Prefix is what __file__ of the embedded modules starts with.
const Prefix = "/whittle/lib/python3.11"

// SitePackages is the same for the embedded packages that are not CPython's. It is the end of sys.path: what a user has under such a name is taken.
const SitePackages = Prefix + "/site-packages"

// natives are the modules written in Go.
var natives = map[string]func(in *vm.Interp) (*vm.Module, error){}

func init() {
	natives["sys"] = sysModule
	natives["posix"] = func(in *vm.Interp) (*vm.Module, error) { return posix.New(in, posixHooks) }
	maps.Copy(natives, posix.Modules)
	maps.Copy(natives, cjk.Modules)
	maps.Copy(natives, pymulti.Modules)
	natives["_thread"] = threadModule
	natives["_codecs"] = codecsModule
	natives["_socket"] = pysocket.Module
	natives["_uuid"] = uuidModule
	natives["pyexpat"] = pyexpat.Module
	natives["_bz2"] = pybz2.Module
	natives["_lzma"] = pylzma.Module
	natives["mmap"] = pymmap.Module
	natives["_datetime"] = pydatetime.Module
	natives["zlib"] = zlib.Module
	natives["marshal"] = marshalModule
	natives["_locale"] = localeModule
	natives["_ast"] = pyast.Module
	natives["math"] = mathModule
	natives["cmath"] = cmathModule
	natives["time"] = timeModule
	natives["_signal"] = signalModule
	natives["itertools"] = pyitertools.Module
	natives["_operator"] = operatorModule
	natives["_functools"] = functoolsModule
	natives["_collections"] = collectionsModule
	natives["_abc"] = abcModule
	natives["_string"] = stringModule
	natives["_weakref"] = weakrefModule
	natives["_random"] = randomModule
	natives["_json"] = pyjson.Module
	natives["_io"] = pyio.Module
	natives["_sre"] = sre.Module
	natives["array"] = pyarray.Module
	natives["_contextvars"] = pycontext.Module
	natives["_queue"] = queueModule
	natives["_statistics"] = statisticsModule
	natives["_typing"] = typingModule
	natives["_csv"] = pycsv.Module
	natives["_sqlite3"] = pysqlite3.Module
	natives["_pickle"] = pypickle.Module
	natives["_struct"] = pystruct.Module
	natives["_hashlib"] = hashlibModule
	natives["_md5"] = digestModule("_md5", "md5")
	natives["_sha1"] = digestModule("_sha1", "sha1")
	natives["_sha256"] = digestModule("_sha256", "sha224", "sha256")
	natives["_sha512"] = digestModule("_sha512", "sha384", "sha512")
	natives["_sha3"] = digestModule("_sha3", "sha3_224", "sha3_256", "sha3_384", "sha3_512", "shake_128", "shake_256")
	natives["_blake2"] = blake2Module
	natives["binascii"] = binasciiModule
	natives["_heapq"] = heapqModule
	natives["unicodedata"] = unicodedataModule
	natives["_bisect"] = bisectModule
	natives["_whittle"] = helperModule
	natives["_lsprof"] = lsprofModule
	natives["audioop"] = audioop.Module
	natives["_ctypes"] = pyctypes.Module
	natives["gc"] = gcModule
	natives["atexit"] = atexitModule
	natives["builtins"] = func(in *vm.Interp) (*vm.Module, error) { return in.Builtins, nil }
}

// Register makes the library known to in and sets up sys.
func Register(in *vm.Interp) {
	in.Unraisable = func(err error, place string, about vm.Object) { unraisable(in, err, place, about) }
	for n, f := range natives {
		in.RegisterModule(n, f)
	}
	sub, err := fs.Sub(libFS, "lib")
	if err == nil {
		in.AddSourceFS(sub, Prefix)
	}
	in.AddSourceFS(cpython.Lib(), Prefix)
	in.AddLastSourceFS(cpython.Site(), SitePackages)
	in.Delegate, in.SpecHook = delegate, moduleSpec
	// sys is always there: print and import look at it.
	if m, err := sysModule(in); err == nil {
		in.Modules.SetStr("sys", m)
	}
}

func str(o vm.Object) string {
	s, _ := vm.AsStr(o)
	return s
}

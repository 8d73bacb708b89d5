package stdlib

import (
	"os"
	"slices"
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// stdlibModules are the top-level names of CPython 3.11's library: sys.stdlib_module_names.
const stdlibModules = `__future__ _abc _aix_support _ast _asyncio _bisect _blake2 _bootsubprocess _bz2 _codecs _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw
_collections _collections_abc _compat_pickle _compression _contextvars _crypt _csv _ctypes _curses _curses_panel _datetime _dbm _decimal _elementtree _frozen_importlib
_frozen_importlib_external _functools _gdbm _hashlib _heapq _imp _io _json _locale _lsprof _lzma _markupbase _md5 _msi _multibytecodec _multiprocessing _opcode _operator
_osx_support _overlapped _pickle _posixshmem _posixsubprocess _py_abc _pydecimal _pyio _queue _random _scproxy _sha1 _sha256 _sha3 _sha512 _signal _sitebuiltins _socket _sqlite3
_sre _ssl _stat _statistics _string _strptime _struct _symtable _thread _threading_local _tkinter _tokenize _tracemalloc _typing _uuid _warnings _weakref _weakrefset _winapi
_zoneinfo abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code
codecs codeop collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis
distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib
grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal
math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools
pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource
rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat
statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token
tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref
xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`

// sysFacts are what module sys says of the interpreter, its numbers and the way it was started.
func sysFacts(in *vm.Interp, m *vm.Module) {
	num := func(vs ...int64) (out []vm.Object) {
		for _, v := range vs {
			out = append(out, vm.MakeInt(v))
		}
		return out
	}
	fact := func(name string, fields string, values ...vm.Object) {
		t := vm.NewStructSequence(in, "sys", name, "", len(values), strings.Fields(fields)...)
		m.Set(name, vm.NewStructValue(t, values...))
	}
	flags := num(0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1)
	flags[13], flags[16] = vm.False, vm.False
	fact("flags", "debug inspect interactive optimize dont_write_bytecode no_user_site no_site ignore_environment verbose bytes_warning quiet hash_randomization isolated dev_mode "+
		"utf8_mode warn_default_encoding safe_path int_max_str_digits", flags...)
	fact("thread_info", "name lock version", vm.Str("pthread"), vm.Str("semaphore"), vm.None)
	fact("float_info", "max max_exp max_10_exp min min_exp min_10_exp dig mant_dig epsilon radix rounds", vm.Float(1.7976931348623157e308), vm.Int(1024), vm.Int(308),
		vm.Float(2.2250738585072014e-308), vm.Int(-1021), vm.Int(-307), vm.Int(15), vm.Int(53), vm.Float(2.220446049250313e-16), vm.Int(2), vm.Int(1))
	fact("hash_info", "width modulus inf nan imag algorithm hash_bits seed_bits cutoff",
		append(num(64, 1<<61-1, 314159, 0, 1000003), append([]vm.Object{vm.Str("siphash13")}, num(64, 128, 0)...)...)...)
	fact("int_info", "bits_per_digit sizeof_digit default_max_str_digits str_digits_check_threshold", num(30, 4, 4300, 640)...)

	var names []vm.Object
	for n := range natives {
		names = append(names, vm.Str(n))
	}
	slices.SortFunc(names, func(a, b vm.Object) int { return strings.Compare(str(a), str(b)) })
	m.Set("builtin_module_names", vm.NewTuple(names...))
	var all []vm.Object
	for _, n := range strings.Fields(stdlibModules) {
		all = append(all, vm.Str(n))
	}
	if s, err := in.Call(vm.FrozenSetType, []vm.Object{vm.NewTuple(all...)}, nil); err == nil {
		m.Set("stdlib_module_names", s)
	}
	for _, n := range []string{"prefix", "base_prefix", "exec_prefix", "base_exec_prefix"} {
		m.Set(n, vm.Str("/whittle"))
	}
	m.Set("_base_executable", vm.Str(executable()))
	m.Set("platlibdir", vm.Str("lib"))
	m.Set("_stdlib_dir", vm.Str(Prefix))
	m.Set("abiflags", vm.Str(""))
	m.Set("_framework", vm.Str(""))
	m.Set("_home", vm.None)
	m.Set("_git", vm.NewTuple(vm.Str("CPython"), vm.Str(""), vm.Str("")))
	m.Set("float_repr_style", vm.Str("short"))
	m.Set("pycache_prefix", vm.None)
	m.Set("_xoptions", vm.NewDict())
	m.Set("orig_argv", strs(os.Args))
	give := func(name string, v vm.Object) {
		clinic.Def(m, name, "", func(*clinic.Call) (vm.Object, error) { return v, nil })
	}
	give("getfilesystemencodeerrors", vm.Str("surrogateescape"))
	give("getswitchinterval", vm.Float(0.005))
	give("getallocatedblocks", vm.Int(0))
	give("getdlopenflags", vm.Int(2))
	give("_clear_type_cache", vm.None)
	clinic.Def(m, "setdlopenflags", "flags:int, /", func(*clinic.Call) (vm.Object, error) { return vm.None, nil })
	clinic.Def(m, "_current_frames", "", func(c *clinic.Call) (vm.Object, error) {
		d := vm.NewDict()
		for _, t := range c.Running() {
			if f := c.FrameOf(t); f != nil {
				f.Retain()
				_ = d.Set(c.Interp, vm.MakeInt(identOf(t)), f)
			}
		}
		return d, nil
	})
	sysHooks(in, m)
}

// auditKey finds the audit hooks of an interpreter.
type auditKey struct{}

// sysHooks are the functions that programs replace, or that call what programs have put in.
func sysHooks(in *vm.Interp, m *vm.Module) {
	clinic.Def(m, "addaudithook", "hook", func(c *clinic.Call) (vm.Object, error) {
		hooks, _ := c.Ext[auditKey{}].([]vm.Object)
		c.Ext[auditKey{}] = append(hooks, c.Args[0])
		return vm.None, nil
	})
	clinic.Def(m, "audit", "event:str, *args", func(c *clinic.Call) (vm.Object, error) {
		hooks, _ := c.Ext[auditKey{}].([]vm.Object)
		for _, h := range hooks {
			if _, err := c.Interp.Call(h, []vm.Object{c.Args[0], c.Args[1]}, nil); err != nil {
				return nil, err
			}
		}
		return vm.None, nil
	})
	t := vm.NewStructSequence(in, "sys", "UnraisableHookArgs", "", 5, "exc_type", "exc_value", "exc_traceback", "err_msg", "object")
	m.Set("UnraisableHookArgs", t)
	unraisable := clinic.Def(m, "unraisablehook", "unraisable, /", func(c *clinic.Call) (vm.Object, error) {
		get := func(n string) vm.Object {
			v, err := c.GetAttrOpt(c.Args[0], n)
			if err != nil || v == nil {
				return vm.None
			}
			return v
		}
		msg := "Exception ignored in"
		if s, ok := vm.AsStr(get("err_msg")); ok {
			msg = s
		}
		text := msg + ": " + reprOr(c.Interp, get("object")) + "\n"
		if e, ok := get("exc_value").(*vm.Exception); ok {
			text += c.FormatExceptionObj(e, true)
		}
		f, err := c.GetAttrOpt(m, "stderr")
		if err != nil || f == nil || f == vm.None {
			return vm.None, err
		}
		_ = c.Flush()
		return c.CallMethod(f, "write", vm.Str(text))
	})
	m.Set("__unraisablehook__", unraisable)
	if f, ok := m.Dict.GetStr("displayhook"); ok {
		m.Set("__displayhook__", f)
	}
	clinic.Def(m, "get_int_max_str_digits", "", func(*clinic.Call) (vm.Object, error) { return vm.MakeInt(int64(in.IntDigits)), nil })
	clinic.Def(m, "set_int_max_str_digits", "maxdigits:int", func(c *clinic.Call) (vm.Object, error) {
		n := c.Int(0)
		if n != 0 && n < vm.LeastIntDigits {
			return nil, c.Errorf(c.Exc.ValueError, "maxdigits must be 0 or larger than %d", vm.LeastIntDigits)
		}
		in.IntDigits = int(n)
		return vm.None, nil
	})
}

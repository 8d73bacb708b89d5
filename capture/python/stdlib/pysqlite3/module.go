package pysqlite3

/*
#include <stdlib.h>
#include "api.h"
*/
import "C"

import (
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// module is what the classes and functions share.
type module struct {
	errs    errors
	classes map[string]*vm.Type // of exceptions, by name

	connection, cursor, row, statement, blob, protocol *vm.Type

	adapters    *vm.Dict // by (class, protocol)
	converters  *vm.Dict // by the name of a type, in capitals
	baseAdapted bool     // there is an adapter for a class that SQLite knows
	tracebacks  bool     // errors in callbacks are shown
}

// Module makes _sqlite3.
func Module(in *vm.Interp) (*vm.Module, error) {
	mod := in.NewModule("_sqlite3", "")
	m := &module{classes: map[string]*vm.Type{}, adapters: vm.NewDict(), converters: vm.NewDict()}
	if err := m.errs.make(in, func(name string, v vm.Object) {
		mod.Set(name, v)
		m.classes[name] = v.(*vm.Type)
	}); err != nil {
		return nil, err
	}
	m.protocol = in.NewNativeType(vm.Spec{Name: "PrepareProtocol", Module: "sqlite3", NoDict: true, Strict: true, Final: true, Methods: map[string]vm.GoFunc{
		"__init__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil },
	}})
	m.statement = in.NewNativeType(vm.Spec{Name: "Statement", Module: "sqlite3", NoDict: true, Strict: true, Final: true, New: vm.Uncreatable})
	m.cursor, m.row, m.blob, m.connection = m.cursorClass(in), m.rowClass(in), m.blobClass(in), m.connectionClass(in)
	for name, v := range map[string]vm.Object{
		"Connection": m.connection, "Cursor": m.cursor, "Row": m.row, "Blob": m.blob, "PrepareProtocol": m.protocol, "adapters": m.adapters, "converters": m.converters,
		"PARSE_DECLTYPES": vm.MakeInt(parseDecl), "PARSE_COLNAMES": vm.MakeInt(parseNames), "threadsafety": vm.MakeInt(3), "version": vm.Str("2.6.0"),
		"sqlite_version": vm.Str(C.GoString(C.sqlite3_libversion())),
	} {
		mod.Set(name, v)
	}
	for _, list := range []string{resultCodes, otherCodes} {
		eachCode(list, func(name string, n int) { mod.Set(name, vm.MakeInt(int64(n))) })
	}
	m.functions(mod)
	return mod, nil
}

// functions adds the functions.
func (m *module) functions(mod *vm.Module) {
	connect := mod.Func("connect", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		var factory vm.Object = m.connection
		if len(args) > 5 {
			factory = args[5]
		}
		for _, k := range kw {
			if k.Name == "factory" {
				factory = k.Value
			}
		}
		return in.Call(factory, args, kw)
	})
	connect.Doc = "Opens a connection to the SQLite database file database.\n\nYou can use \":memory:\" to open a database connection to a database that resides\nin RAM instead of on disk."
	clinic.Def(mod, "complete_statement", "statement:str", func(k *clinic.Call) (vm.Object, error) {
		return vm.MakeBool(withString(k.Str(0), func(s *C.char) C.int { return C.sqlite3_complete(s) }) != 0), nil
	})
	clinic.Def(mod, "enable_shared_cache", "do_enable:int", func(k *clinic.Call) (vm.Object, error) {
		if C.sqlite3_enable_shared_cache(C.int(k.Int(0))) != sqliteOK {
			return nil, k.Errorf(m.errs.operational, "Changing the shared_cache flag failed")
		}
		return vm.None, nil
	})
	clinic.Def(mod, "enable_callback_tracebacks", "enable:bool, /", func(k *clinic.Call) (vm.Object, error) {
		m.tracebacks = k.Bool(0)
		return vm.None, nil
	})
	clinic.Def(mod, "register_adapter", "type, adapter, /", func(k *clinic.Call) (vm.Object, error) {
		switch k.Args[0] {
		case vm.IntType, vm.FloatType, vm.StrType, vm.ByteArrayType:
			m.baseAdapted = true
		}
		return vm.None, m.adapters.Set(k.Interp, vm.NewTuple(k.Args[0], m.protocol), k.Args[1])
	})
	clinic.Def(mod, "register_converter", "typename:str, converter, /", func(k *clinic.Call) (vm.Object, error) {
		return vm.None, m.converters.Set(k.Interp, vm.Str(strings.ToUpper(k.Str(0))), k.Args[1])
	})
	clinic.Def(mod, "adapt", "obj, proto=nil, alt=nil, /", func(k *clinic.Call) (vm.Object, error) {
		proto := k.Args[1]
		if proto == nil {
			proto = m.protocol
		}
		return m.adapt(k.Interp, k.Args[0], proto, k.Args[2])
	})
}

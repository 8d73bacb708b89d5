package pysqlite3

/*
#include "api.h"
*/
import "C"

import "whittle/capture/python/vm"

// errors are the exceptions of the DB-API.
type errors struct {
	warning, err, iface, database, internal, operational, programming, integrity, data, unsupported *vm.Type
}

// make makes the classes and puts them where both the module and the connection have them.
func (e *errors) make(in *vm.Interp, set func(name string, v vm.Object)) error {
	for _, c := range []struct {
		to   **vm.Type
		name string
		base **vm.Type
	}{
		{&e.warning, "Warning", &in.Exc.Exception},
		{&e.err, "Error", &in.Exc.Exception},
		{&e.iface, "InterfaceError", &e.err},
		{&e.database, "DatabaseError", &e.err},
		{&e.data, "DataError", &e.database},
		{&e.operational, "OperationalError", &e.database},
		{&e.integrity, "IntegrityError", &e.database},
		{&e.internal, "InternalError", &e.database},
		{&e.programming, "ProgrammingError", &e.database},
		{&e.unsupported, "NotSupportedError", &e.database},
	} {
		t, err := in.MakeClass(vm.TypeType, c.name, []*vm.Type{*c.base}, vm.StrDict("__module__", vm.Str("sqlite3")))
		if err != nil {
			return err
		}
		*c.to = t
		set(c.name, t)
	}
	return nil
}

// class is the exception for a code of SQLite's.
func (e *errors) class(in *vm.Interp, code int) *vm.Type {
	switch code {
	case sqliteInternal, sqliteNotFound:
		return e.internal
	case sqliteNoMem:
		return in.Exc.MemoryError
	case sqliteError, sqlitePerm, sqliteAbort, sqliteBusy, sqliteLocked, 8, 9, 10, sqliteFull, sqliteCantOpen, sqliteProtocol, sqliteEmpty, sqliteSchema:
		return e.operational
	case sqliteTooBig:
		return e.data
	case sqliteConstraint, sqliteMismatch:
		return e.integrity
	case sqliteMisuse, sqliteRange:
		return e.iface
	}
	return e.database
}

// failed is what the database says about the last call, as an exception.
func (m *module) failed(in *vm.Interp, d *database) error {
	return m.code(in, int(C.sqlite3_errcode(d.p)), int(C.sqlite3_extended_errcode(d.p)), C.GoString(C.sqlite3_errmsg(d.p)))
}

// coded is the exception for a code that a call gave, where the database has no message for it.
func (m *module) coded(in *vm.Interp, rc int) error {
	return m.code(in, rc&0xff, rc, C.GoString(C.sqlite3_errstr(C.int(rc))))
}

func (m *module) code(in *vm.Interp, code, extended int, text string) error {
	class := m.errs.class(in, code)
	if class == in.Exc.MemoryError {
		return in.RaiseObj(class)
	}
	err := in.RaiseObj(class, vm.Str(text))
	r, ok := err.(*vm.Raised)
	if !ok {
		return err
	}
	name := codeNames()[extended]
	if name == "" {
		name = "unknown"
	}
	if err := in.SetAttr(r.Exc, "sqlite_errorcode", vm.MakeInt(int64(extended))); err != nil {
		return err
	}
	if err := in.SetAttr(r.Exc, "sqlite_errorname", vm.Str(name)); err != nil {
		return err
	}
	return r
}

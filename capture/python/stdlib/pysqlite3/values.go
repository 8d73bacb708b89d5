package pysqlite3

/*
#include "api.h"
*/
import "C"

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
	"unsafe"

	"whittle/capture/python/vm"
)

// utf8Of is a str in UTF-8; one with lone surrogates raises.
func utf8Of(in *vm.Interp, s string) (string, error) {
	if utf8.ValidString(s) {
		return s, nil
	}
	b, err := in.Encode(s, "utf-8", "strict")
	return string(b), err
}

// bind gives parameter i, from 1, a value. It is not ok for one of a class that SQLite does not know.
func (s *statement) bind(in *vm.Interp, i int, o vm.Object) (ok bool, err error) {
	n, p := C.int(i), s.p
	var rc C.int
	switch {
	case o == vm.None:
		rc = C.sqlite3_bind_null(p, n)
	case isInt(o):
		v, err := int64Of(in, o)
		if err != nil {
			return false, err
		}
		rc = C.sqlite3_bind_int64(p, n, C.sqlite3_int64(v))
	case o.Type().IsSubtype(vm.FloatType):
		f, _ := vm.AsFloat(o)
		rc = C.sqlite3_bind_double(p, n, C.double(f))
	default:
		if text, ok := vm.AsStr(o); ok {
			if text, err = utf8Of(in, text); err != nil {
				return false, err
			}
			if len(text) > math.MaxInt32 {
				return false, in.Errorf(in.Exc.OverflowError, "string longer than INT_MAX bytes")
			}
			rc = C.wh_bind_text(p, n, (*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.int(len(text)))
			break
		}
		b, ok, err := in.OneBuffer(o)
		if err != nil || !ok {
			return false, err
		}
		if len(b) > math.MaxInt32 {
			return false, in.Errorf(in.Exc.OverflowError, "BLOB longer than INT_MAX bytes")
		}
		rc = C.wh_bind_blob(p, n, pointer(b), C.int(len(b)))
	}
	if rc != sqliteOK {
		return false, s.c.m.failed(in, s.c.db)
	}
	return true, nil
}

func isInt(o vm.Object) bool { return o.Type().IsSubtype(vm.IntType) }

// int64Of is an integer as SQLite can hold it.
func int64Of(in *vm.Interp, o vm.Object) (int64, error) {
	b, err := in.IndexBig(o)
	if err != nil {
		return 0, err
	}
	if !b.IsInt64() {
		return 0, in.Errorf(in.Exc.OverflowError, "Python int too large to convert to SQLite INTEGER")
	}
	return b.Int64(), nil
}

// adapted is what stands for a value that SQLite does not know: what an adapter gives, or the value itself.
func (m *module) adapted(in *vm.Interp, o vm.Object) (vm.Object, error) {
	if !m.baseAdapted {
		switch t := o.Type(); t {
		case vm.IntType, vm.FloatType, vm.StrType, vm.ByteArrayType:
			return o, nil
		}
	}
	return m.adapt(in, o, m.protocol, o)
}

// adapt asks the adapters, then the protocol and the object; alt is what it gives if none knows, or nil.
func (m *module) adapt(in *vm.Interp, o, proto, alt vm.Object) (vm.Object, error) {
	f, ok, err := m.adapters.Get(in, vm.NewTuple(o.Type(), proto))
	if err != nil {
		return nil, err
	}
	if ok {
		return in.Call(f, []vm.Object{o}, nil)
	}
	ask := func(who vm.Object, name string, arg vm.Object) (vm.Object, error) {
		f, err := in.GetAttrOpt(who, name)
		if err != nil || f == nil {
			return nil, err
		}
		v, err := in.Call(f, []vm.Object{arg}, nil)
		if err != nil && in.Matches(err, in.Exc.TypeError) {
			return nil, nil
		}
		if v == vm.None {
			v = nil
		}
		return v, err
	}
	if v, err := ask(proto, "__adapt__", o); v != nil || err != nil {
		return v, err
	}
	if v, err := ask(o, "__conform__", proto); v != nil || err != nil {
		return v, err
	}
	if alt != nil {
		return alt, nil
	}
	return nil, in.Errorf(m.errs.programming, "can't adapt")
}

// bindAll gives a statement its parameters: a sequence, or a mapping for names.
func (s *statement) bindAll(in *vm.Interp, params vm.Object) error {
	m := s.c.m
	need := int(C.sqlite3_bind_parameter_count(s.p))
	one := func(i int, name string, o vm.Object) error {
		o, err := m.adapted(in, o)
		if err != nil {
			return err
		}
		ok, err := s.bind(in, i, o)
		if err == nil && !ok {
			where := name
			if where == "" {
				return in.Errorf(m.errs.programming, "Error binding parameter %d: type '%s' is not supported", i, vm.TypeName(o))
			}
			return in.Errorf(m.errs.programming, "Error binding parameter ':%s': type '%s' is not supported", where, vm.TypeName(o))
		}
		return err
	}
	t := params.Type()
	_, keyed := params.(*vm.MappingProxy)
	keyed = keyed || t.IsSubtype(vm.DictType)
	switch {
	case !keyed && t.Lookup("__getitem__") != nil:
		n, err := in.Len(params)
		if err != nil {
			return err
		}
		if n != need {
			return in.Errorf(m.errs.programming, "Incorrect number of bindings supplied. The current statement uses %d, and there are %d supplied.", need, n)
		}
		for i := range n {
			o, err := item(in, params, i)
			if err != nil {
				return err
			}
			if err := one(i+1, "", o); err != nil {
				return err
			}
		}
		return nil
	case keyed:
		for i := 1; i <= need; i++ {
			p := C.sqlite3_bind_parameter_name(s.p, C.int(i))
			if p == nil {
				return in.Errorf(m.errs.programming, "Binding %d has no name, but you supplied a dictionary (which has only names).", i)
			}
			name := C.GoString(p)[1:]
			o, err := in.GetItem(params, vm.Str(name))
			if err != nil {
				if in.Matches(err, in.Exc.LookupError) {
					return in.Errorf(m.errs.programming, "You did not supply a value for binding parameter :%s.", name)
				}
				return err
			}
			if err := one(i, name, o); err != nil {
				return err
			}
		}
		return nil
	}
	return in.Errorf(m.errs.programming, "parameters are of unsupported type")
}

// item is an item of a sequence of parameters.
func item(in *vm.Interp, params vm.Object, i int) (vm.Object, error) {
	switch p := params.(type) {
	case *vm.Tuple:
		return p.Items[i], nil
	case *vm.List:
		if i < len(p.Items) {
			return p.Items[i], nil
		}
	}
	return in.GetItem(params, vm.MakeInt(int64(i)))
}

// column is the value of a column of the row that a statement is at.
func (s *statement) column(in *vm.Interp, c *cursor, i int) (vm.Object, error) {
	n, p := C.int(i), s.p
	if i < len(c.casts) && c.casts[i] != nil {
		b := C.sqlite3_column_blob(p, n)
		if b == nil {
			return vm.None, nil
		}
		raw := bytesOf(b, C.sqlite3_column_bytes(p, n))
		return in.Call(c.casts[i], []vm.Object{vm.Bytes(raw)}, nil)
	}
	switch C.sqlite3_column_type(p, n) {
	case typeInteger:
		return vm.MakeInt(int64(C.sqlite3_column_int64(p, n))), nil
	case typeFloat:
		return vm.Float(C.sqlite3_column_double(p, n)), nil
	case typeText:
		t := C.sqlite3_column_text(p, n)
		raw := bytesOf(unsafe.Pointer(t), C.sqlite3_column_bytes(p, n))
		switch f := c.c.textFactory; f {
		case vm.StrType:
			if !utf8.Valid(raw) {
				return nil, in.Errorf(c.c.m.errs.operational, "Could not decode to UTF-8 column '%s' with text '%s'", C.GoString(C.sqlite3_column_name(p, n)), strings.ToValidUTF8(string(raw), "\uFFFD"))
			}
			return vm.Str(raw), nil
		case vm.BytesType:
			return vm.Bytes(raw), nil
		case vm.ByteArrayType:
			return &vm.ByteArray{B: raw}, nil
		default:
			return in.Call(f, []vm.Object{vm.Bytes(raw)}, nil)
		}
	case typeBlob:
		return vm.Bytes(bytesOf(C.sqlite3_column_blob(p, n), C.sqlite3_column_bytes(p, n))), nil
	}
	return vm.None, nil
}

// argument is an argument that SQLite gives a function.
func argument(in *vm.Interp, v *C.sqlite3_value) (vm.Object, error) {
	switch C.sqlite3_value_type(v) {
	case typeInteger:
		return vm.MakeInt(int64(C.sqlite3_value_int64(v))), nil
	case typeFloat:
		return vm.Float(C.sqlite3_value_double(v)), nil
	case typeText:
		t := C.sqlite3_value_text(v)
		s, err := in.Decode(bytesOf(unsafe.Pointer(t), C.sqlite3_value_bytes(v)), "utf-8", "strict")
		return vm.Str(s), err
	case typeBlob:
		return vm.Bytes(bytesOf(C.sqlite3_value_blob(v), C.sqlite3_value_bytes(v))), nil
	}
	return vm.None, nil
}

func arguments(in *vm.Interp, n C.int, v **C.sqlite3_value) ([]vm.Object, error) {
	args := make([]vm.Object, n)
	for i, p := range unsafe.Slice(v, int(n)) {
		var err error
		if args[i], err = argument(in, p); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// result gives SQLite the result of a function. It is not ok for what SQLite does not know.
func result(in *vm.Interp, c *C.sqlite3_context, o vm.Object) (ok bool, err error) {
	switch {
	case o == vm.None:
		C.sqlite3_result_null(c)
	case isInt(o):
		v, err := int64Of(in, o)
		if err != nil {
			return false, err
		}
		C.sqlite3_result_int64(c, C.sqlite3_int64(v))
	case o.Type().IsSubtype(vm.FloatType):
		f, _ := vm.AsFloat(o)
		C.sqlite3_result_double(c, C.double(f))
	default:
		if s, ok := vm.AsStr(o); ok {
			if s, err = utf8Of(in, s); err != nil {
				return false, err
			}
			C.wh_result_text(c, (*C.char)(unsafe.Pointer(unsafe.StringData(s))), C.int(len(s)))
			return true, nil
		}
		b, ok, err := in.OneBuffer(o)
		if err != nil || !ok {
			return false, err
		}
		C.wh_result_blob(c, pointer(b), C.int(len(b)))
	}
	return true, nil
}

// fits32 is an integer that C's int holds.
func fits32(in *vm.Interp, o vm.Object) (int, error) {
	b, err := in.IndexBig(o)
	if err != nil {
		return 0, err
	}
	if b.Cmp(big.NewInt(math.MaxInt32)) > 0 || b.Cmp(big.NewInt(math.MinInt32)) < 0 {
		return 0, in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C int")
	}
	return int(b.Int64()), nil
}

package pysqlite3

/*
#include "api.h"
*/
import "C"

import (
	"runtime"
	"weak"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// blob is a Blob: a value in a table that is read and written in place.
type blob struct {
	vm.Identity
	c   *connection
	p   *C.sqlite3_blob // nil once it is closed
	pos int
}

// Type implements vm.Object.
func (b *blob) Type() *vm.Type { return b.c.m.blob }

func (b *blob) close() {
	if b.p != nil {
		C.sqlite3_blob_close(b.p)
		b.p = nil
	}
}

// openBlob is blobopen.
func (c *connection) openBlob(k *clinic.Call) (vm.Object, error) {
	b := &blob{c: c}
	write := C.int(1)
	if k.Bool(3) {
		write = 0
	}
	rc := withString(k.Str(4), func(db *C.char) (rc C.int) {
		withString(k.Str(0), func(table *C.char) C.int {
			withString(k.Str(1), func(column *C.char) C.int {
				rc = C.sqlite3_blob_open(c.db.p, db, table, column, C.sqlite3_int64(k.Int(2)), write, &b.p)
				return 0
			})
			return 0
		})
		return rc
	})
	switch rc {
	case sqliteOK:
	case sqliteMisuse:
		return nil, k.Errorf(c.m.errs.iface, "%s", C.GoString(C.sqlite3_errstr(C.int(rc))))
	default:
		return nil, c.m.failed(k.Interp, c.db)
	}
	c.blobs = append(c.blobs, weak.Make(b))
	runtime.SetFinalizer(b, func(b *blob) { go b.close() }) // its database may be in use, which must not stop the collector
	return b, nil
}

// usable raises unless the blob is open.
func (b *blob) usable(in *vm.Interp) error {
	if err := b.c.usable(in); err != nil {
		return err
	}
	if b.p == nil {
		return in.Errorf(b.c.m.errs.programming, "Cannot operate on a closed blob.")
	}
	return nil
}

func (b *blob) len() int { return int(C.sqlite3_blob_bytes(b.p)) }

// failed is what an access to a blob says.
func (b *blob) failed(in *vm.Interp, rc C.int) error {
	if rc == sqliteAbort {
		return in.Errorf(b.c.m.errs.operational, "Cannot operate on an expired blob handle")
	}
	return b.c.m.failed(in, b.c.db)
}

func (b *blob) read(in *vm.Interp, at, n int) ([]byte, error) {
	buf := make([]byte, n)
	if n == 0 {
		return buf, nil
	}
	if rc := C.sqlite3_blob_read(b.p, pointer(buf), C.int(n), C.int(at)); rc != sqliteOK {
		return nil, b.failed(in, rc)
	}
	return buf, nil
}

func (b *blob) write(in *vm.Interp, at int, raw []byte) error {
	if at+len(raw) > b.len() {
		return in.Errorf(in.Exc.ValueError, "data longer than blob length")
	}
	if rc := C.sqlite3_blob_write(b.p, pointer(raw), C.int(len(raw)), C.int(at)); rc != sqliteOK {
		return b.failed(in, rc)
	}
	return nil
}

// index is the place that an integer names.
func (b *blob) index(in *vm.Interp, o vm.Object) (int, error) {
	n, err := in.IndexBig(o)
	if err != nil {
		return 0, err
	}
	if !n.IsInt64() {
		return 0, in.Errorf(in.Exc.IndexError, "cannot fit 'int' into an index-sized integer")
	}
	i := n.Int64()
	if i < 0 {
		i += int64(b.len())
	}
	if i < 0 || i >= int64(b.len()) {
		return 0, in.Errorf(in.Exc.IndexError, "Blob index out of range")
	}
	return int(i), nil
}

func hasIndex(o vm.Object) bool { return o.Type().Lookup("__index__") != nil }

// get is blob[key].
func (b *blob) get(in *vm.Interp, key vm.Object) (vm.Object, error) {
	if s, ok := key.(*vm.Slice); ok {
		start, stop, step, n, err := s.Indices(in, b.len())
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return vm.Bytes(""), nil
		}
		if step == 1 {
			raw, err := b.read(in, start, n)
			return vm.Bytes(raw), err
		}
		lo, hi := start, start+(n-1)*step
		if step < 0 {
			lo, hi = hi, lo
		}
		_ = stop
		raw, err := b.read(in, lo, hi-lo+1)
		if err != nil {
			return nil, err
		}
		out := make([]byte, n)
		for i := range out {
			out[i] = raw[start+i*step-lo]
		}
		return vm.Bytes(out), nil
	}
	if !hasIndex(key) {
		return nil, in.Errorf(in.Exc.TypeError, "Blob indices must be integers")
	}
	i, err := b.index(in, key)
	if err != nil {
		return nil, err
	}
	raw, err := b.read(in, i, 1)
	if err != nil {
		return nil, err
	}
	return vm.MakeInt(int64(raw[0])), nil
}

// set is blob[key] = v.
func (b *blob) set(in *vm.Interp, key, v vm.Object) error {
	if s, ok := key.(*vm.Slice); ok {
		start, _, step, n, err := s.Indices(in, b.len())
		if err != nil {
			return err
		}
		raw, ok, err := in.OneBuffer(v)
		if err != nil {
			return err
		}
		if !ok {
			return in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(v))
		}
		if len(raw) != n {
			return in.Errorf(in.Exc.IndexError, "Blob slice assignment is wrong size")
		}
		if n == 0 {
			return nil
		}
		if step == 1 {
			return b.write(in, start, raw)
		}
		lo, hi := start, start+(n-1)*step
		if step < 0 {
			lo, hi = hi, lo
		}
		old, err := b.read(in, lo, hi-lo+1)
		if err != nil {
			return err
		}
		for i, c := range raw {
			old[start+i*step-lo] = c
		}
		return b.write(in, lo, old)
	}
	if !hasIndex(key) {
		return in.Errorf(in.Exc.TypeError, "Blob indices must be integers")
	}
	i, err := b.index(in, key)
	if err != nil {
		return err
	}
	if !isInt(v) {
		return in.Errorf(in.Exc.TypeError, "'%s' object cannot be interpreted as an integer", vm.TypeName(v))
	}
	n, err := in.IndexBig(v)
	if err != nil {
		return err
	}
	if !n.IsInt64() || n.Int64() < 0 || n.Int64() > 255 {
		return in.Errorf(in.Exc.ValueError, "byte must be in range(0, 256)")
	}
	return b.write(in, i, []byte{byte(n.Int64())})
}

// blobClass makes Blob.
func (m *module) blobClass(in *vm.Interp) *vm.Type {
	method := func(name, params string, fn func(k *clinic.Call, b *blob) (vm.Object, error)) vm.GoFunc {
		return clinic.Method(name, params, func(k *clinic.Call) (vm.Object, error) {
			b := k.Self.(*blob)
			if err := b.usable(k.Interp); err != nil {
				return nil, err
			}
			defer b.c.hold()()
			return fn(k, b)
		})
	}
	return in.NewNativeType(vm.Spec{Name: "Blob", Module: "sqlite3", NoDict: true, Strict: true, Final: true, ByKey: true, New: vm.Uncreatable,
		Methods: map[string]vm.GoFunc{
			"__len__": method("__len__", "", func(k *clinic.Call, b *blob) (vm.Object, error) { return vm.MakeInt(int64(b.len())), nil }),
			"__getitem__": method("__getitem__", "key, /", func(k *clinic.Call, b *blob) (vm.Object, error) {
				return b.get(k.Interp, k.Args[0])
			}),
			"__setitem__": method("__setitem__", "key, value, /", func(k *clinic.Call, b *blob) (vm.Object, error) {
				return vm.None, b.set(k.Interp, k.Args[0], k.Args[1])
			}),
			"__delitem__": method("__delitem__", "key, /", func(k *clinic.Call, b *blob) (vm.Object, error) {
				if _, ok := k.Args[0].(*vm.Slice); ok {
					return nil, k.Errorf(k.Exc.TypeError, "Blob doesn't support slice deletion")
				}
				return nil, k.Errorf(k.Exc.TypeError, "Blob doesn't support item deletion")
			}),
			"__enter__": method("__enter__", "", func(k *clinic.Call, b *blob) (vm.Object, error) { return b, nil }),
			"__exit__": method("__exit__", "type, val, tb, /", func(k *clinic.Call, b *blob) (vm.Object, error) {
				b.close()
				return vm.False, nil
			}),
			"close": clinic.Method("close", "", func(k *clinic.Call) (vm.Object, error) {
				b := k.Self.(*blob)
				if err := b.c.usable(k.Interp); err != nil {
					return nil, err
				}
				b.close()
				return vm.None, nil
			}),
			"read": method("read", "length:int=-1, /", func(k *clinic.Call, b *blob) (vm.Object, error) {
				n := b.len() - b.pos
				if l := int(k.Int(0)); l >= 0 {
					n = min(n, l)
				}
				raw, err := b.read(k.Interp, b.pos, n)
				if err == nil {
					b.pos += n
				}
				return vm.Bytes(raw), err
			}),
			"write": method("write", "data:bytes, /", func(k *clinic.Call, b *blob) (vm.Object, error) {
				err := b.write(k.Interp, b.pos, k.Bytes(0))
				if err == nil {
					b.pos += len(k.Bytes(0))
				}
				return vm.None, err
			}),
			"tell": method("tell", "", func(k *clinic.Call, b *blob) (vm.Object, error) { return vm.MakeInt(int64(b.pos)), nil }),
			"seek": method("seek", "offset, origin:int=0, /", func(k *clinic.Call, b *blob) (vm.Object, error) {
				off, err := fits32(k.Interp, k.Args[0])
				if err != nil {
					return nil, err
				}
				base := 0
				switch k.Int(1) {
				case 0:
				case 1:
					base = b.pos
				case 2:
					base = b.len()
				default:
					return nil, k.Errorf(k.Exc.ValueError, "'origin' should be os.SEEK_SET, os.SEEK_CUR, or os.SEEK_END")
				}
				if base+off > 1<<31-1 {
					return nil, k.Errorf(k.Exc.OverflowError, "seek offset results in overflow")
				}
				if base+off < 0 || base+off > b.len() {
					return nil, k.Errorf(k.Exc.ValueError, "offset out of blob range")
				}
				b.pos = base + off
				return vm.None, nil
			}),
		}})
}

package pysqlite3

/*
#include "api.h"
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"

	"whittle/capture/python/vm"
)

// callback is a function of Python's that SQLite calls.
type callback struct {
	in *vm.Interp
	m  *module
	fn vm.Object
}

func find(h C.uintptr_t) *callback { return cgo.Handle(h).Value().(*callback) }

// drop forgets an error that no caller can be told of, or shows it where the program asked for that.
func (k *callback) drop(err error) {
	if k.m.tracebacks && k.in.Unraisable != nil {
		k.in.Unraisable(err, "", k.fn)
	}
}

// failed tells SQLite that a function failed.
func (k *callback) failed(c *C.sqlite3_context, err error, text string) {
	switch {
	case k.in.Matches(err, k.in.Exc.MemoryError):
		C.sqlite3_result_error_nomem(c)
	case k.in.Matches(err, k.in.Exc.OverflowError):
		C.sqlite3_result_error_toobig(c)
	default:
		withString(text, func(s *C.char) C.int { C.sqlite3_result_error(c, s, -1); return 0 })
	}
	k.drop(err)
}

// give hands a result on.
func (k *callback) give(c *C.sqlite3_context, v vm.Object, err error, text string) {
	ok := false
	if err == nil {
		ok, err = result(k.in, c, v)
	}
	switch {
	case err != nil:
		k.failed(c, err, text)
	case !ok:
		withString(text, func(s *C.char) C.int { C.sqlite3_result_error(c, s, -1); return 0 })
	}
}

//export whCall
func whCall(c *C.sqlite3_context, n C.int, v **C.sqlite3_value) {
	k := find(C.wh_user(c))
	args, err := arguments(k.in, n, v)
	var r vm.Object
	if err == nil {
		r, err = k.in.Call(k.fn, args, nil)
	}
	k.give(c, r, err, "user-defined function raised exception")
}

// aggregate is the object of Python's that gathers one group.
type aggregate struct{ o vm.Object }

// ask calls a method of an aggregate.
func (k *callback) ask(c *C.sqlite3_context, a *aggregate, name string, n C.int, v **C.sqlite3_value) (vm.Object, bool) {
	f, err := k.in.GetAttr(a.o, name)
	if err != nil {
		k.failed(c, err, "user-defined aggregate's '"+name+"' method not defined")
		return nil, false
	}
	args, err := arguments(k.in, n, v)
	var r vm.Object
	if err == nil {
		r, err = k.in.Call(f, args, nil)
	}
	if err != nil {
		k.failed(c, err, "user-defined aggregate's '"+name+"' method raised error")
		return nil, false
	}
	return r, true
}

// state is the aggregate of a group; nil if there is none yet.
func state(c *C.sqlite3_context) *aggregate {
	p := C.wh_state(c, 0)
	if p == nil || *p == 0 {
		return nil
	}
	return cgo.Handle(*p).Value().(*aggregate)
}

//export whStep
func whStep(c *C.sqlite3_context, n C.int, v **C.sqlite3_value) {
	k := find(C.wh_user(c))
	a := state(c)
	if a == nil {
		o, err := k.in.Call(k.fn, nil, nil)
		if err != nil {
			k.failed(c, err, "user-defined aggregate's '__init__' method raised error")
			return
		}
		a = &aggregate{o}
		*C.wh_state(c, 1) = C.uintptr_t(cgo.NewHandle(a))
	}
	k.ask(c, a, "step", n, v)
}

//export whInverse
func whInverse(c *C.sqlite3_context, n C.int, v **C.sqlite3_value) {
	if a := state(c); a != nil {
		find(C.wh_user(c)).ask(c, a, "inverse", n, v)
	}
}

//export whValue
func whValue(c *C.sqlite3_context) {
	k := find(C.wh_user(c))
	if a := state(c); a != nil {
		if r, ok := k.ask(c, a, "value", 0, nil); ok {
			k.give(c, r, nil, "user-defined aggregate's 'value' method raised error")
		}
	}
}

//export whFinal
func whFinal(c *C.sqlite3_context) {
	k := find(C.wh_user(c))
	a := state(c)
	if a == nil {
		return
	}
	if r, ok := k.ask(c, a, "finalize", 0, nil); ok {
		k.give(c, r, nil, "user-defined aggregate's 'finalize' method raised error")
	}
	p := C.wh_state(c, 0)
	cgo.Handle(*p).Delete()
	*p = 0
}

//export whDrop
func whDrop(h C.uintptr_t) { cgo.Handle(h).Delete() }

//export whCollate
func whCollate(h C.uintptr_t, n C.int, a unsafe.Pointer, m C.int, b unsafe.Pointer) C.int {
	k := find(h)
	var args [2]vm.Object
	for i, raw := range [][]byte{bytesOf(a, n), bytesOf(b, m)} {
		s, err := k.in.Decode(raw, "utf-8", "strict")
		if err != nil {
			k.drop(err)
			return 0
		}
		args[i] = vm.Str(s)
	}
	v, err := k.in.Call(k.fn, args[:], nil)
	if err != nil {
		k.drop(err)
		return 0
	}
	r, err := k.in.IndexBig(v)
	if err != nil {
		k.drop(err)
		return 0
	}
	return C.int(r.Sign())
}

//export whAuthorize
func whAuthorize(h C.uintptr_t, code C.int, a, b, c, d *C.char) C.int {
	k := find(h)
	args := []vm.Object{vm.MakeInt(int64(code))}
	for _, p := range []*C.char{a, b, c, d} {
		if p == nil {
			args = append(args, vm.None)
		} else {
			args = append(args, vm.Str(C.GoString(p)))
		}
	}
	v, err := k.in.Call(k.fn, args, nil)
	if err == nil && isInt(v) {
		var n int
		if n, err = fits32(k.in, v); err == nil {
			return C.int(n)
		}
	}
	if err != nil {
		k.drop(err)
	}
	return sqliteDeny
}

//export whProgress
func whProgress(h C.uintptr_t) C.int {
	k := find(h)
	v, err := k.in.Call(k.fn, nil, nil)
	stop := true
	if err == nil {
		stop, err = k.in.Truth(v)
	}
	if err != nil {
		k.drop(err)
		return 1
	}
	if stop {
		return 1
	}
	return 0
}

//export whTrace
func whTrace(h C.uintptr_t, s, text unsafe.Pointer) C.int {
	k := find(h)
	sql := ""
	if p := C.sqlite3_expanded_sql((*C.sqlite3_stmt)(s)); p != nil {
		sql = C.GoString(p)
		C.sqlite3_free(unsafe.Pointer(p))
	} else {
		k.drop(k.in.Errorf(k.m.errs.data, "Expanded SQL string exceeds the maximum string length"))
		sql = C.GoString((*C.char)(text))
	}
	if _, err := k.in.Call(k.fn, []vm.Object{vm.Str(sql)}, nil); err != nil {
		k.drop(err)
	}
	return 0
}

// waiting is how long a connection waits for others' locks.
type waiting struct {
	in    *vm.Interp
	limit time.Duration
	since time.Time
}

// whBusy waits a little while another connection has the lock, and lets other threads run meanwhile. That connection may be another process's, so that
// there is nothing to be woken by: as SQLite's own handler does, it looks again, after longer and longer pauses.
//
//export whBusy
func whBusy(h C.uintptr_t, n C.int) C.int {
	w := cgo.Handle(h).Value().(*waiting)
	if n == 0 {
		w.since = time.Now()
		runtime.GC() // a connection that nobody refers to any more may have the lock
	}
	left := w.limit - time.Since(w.since)
	if left <= 0 {
		return 0
	}
	pause := min(left, time.Millisecond*time.Duration(1+2*min(n, 25)))
	_ = w.in.Unlocked(func() error { time.Sleep(pause); return nil })
	return 1
}

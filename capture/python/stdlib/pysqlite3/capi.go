package pysqlite3

/*
#include <stdlib.h>
#include "api.h"
*/
import "C"

import (
	"runtime/cgo"
	"sync"
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // the library
)

// Codes of SQLite's that the code here asks about.
const (
	sqliteOK         = 0
	sqliteError      = 1
	sqliteInternal   = 2
	sqlitePerm       = 3
	sqliteAbort      = 4
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteNoMem      = 7
	sqliteCorrupt    = 11
	sqliteNotFound   = 12
	sqliteFull       = 13
	sqliteCantOpen   = 14
	sqliteProtocol   = 15
	sqliteEmpty      = 16
	sqliteSchema     = 17
	sqliteTooBig     = 18
	sqliteConstraint = 19
	sqliteMismatch   = 20
	sqliteMisuse     = 21
	sqliteRange      = 25
	sqliteRow        = 100
	sqliteDone       = 101

	sqliteDeny = 1

	openReadWrite = 2
	openCreate    = 4
	openURI       = 64

	deterministic = 0x800

	limitLength    = 0
	limitSQLLength = 1

	typeInteger = 1
	typeFloat   = 2
	typeText    = 3
	typeBlob    = 4
	typeNull    = 5
)

// database is an open database, with the statements that nobody refers to any more and that are still to be finalised.
type database struct {
	p       *C.sqlite3
	handles []cgo.Handle // of callbacks that SQLite does not drop by itself

	mu     sync.Mutex
	dead   []*C.sqlite3_stmt
	left   []*use // of cursors that died
	closed bool
}

// leave has the statement of a cursor that died be reset when the database is used next.
func (d *database) leave(u *use) {
	d.mu.Lock()
	d.left = append(d.left, u)
	d.mu.Unlock()
}

// discard has a statement finalised when the database is used next: a collector must not wait for the lock of a connection.
func (d *database) discard(s *C.sqlite3_stmt) {
	d.mu.Lock()
	if d.closed {
		defer C.sqlite3_finalize(s) // nobody is within
		defer d.mu.Unlock()
		return
	}
	d.dead = append(d.dead, s)
	d.mu.Unlock()
}

// sweep resets what was left and finalises what was discarded; it says whether there was anything.
func (d *database) sweep() bool {
	d.mu.Lock()
	dead, left := d.dead, d.left
	d.dead, d.left = nil, nil
	d.mu.Unlock()
	for _, u := range left {
		if u.s != nil && u.s.user == u {
			u.s.reset()
		}
	}
	for _, s := range dead {
		C.sqlite3_finalize(s)
	}
	return len(dead)+len(left) > 0
}

// close closes the database; what still refers to it keeps it until that is closed, too.
func (d *database) close() {
	if d.p == nil {
		return
	}
	d.sweep()
	p := d.p
	d.p = nil
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	C.wh_trace(p, 0)
	C.wh_authorizer(p, 0)
	C.wh_progress(p, 0, 0)
	C.wh_busy(p, 0)
	C.sqlite3_close_v2(p)
	for _, h := range d.handles {
		h.Delete()
	}
	d.handles = nil
}

// keep makes a handle that lives until the database is closed.
func (d *database) keep(v any) C.uintptr_t {
	h := cgo.NewHandle(v)
	d.handles = append(d.handles, h)
	return C.uintptr_t(h)
}

// open opens a database. It may be there with an error, whose message it has.
func open(name string, uri bool) (*database, int) {
	flags := C.int(openReadWrite | openCreate)
	if uri {
		flags |= openURI
	}
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	d := &database{}
	rc := C.sqlite3_open_v2(s, &d.p, flags, nil)
	return d, int(rc)
}

// prepare compiles the first statement of a text, and says how many bytes it read.
func (d *database) prepare(sql string) (s *C.sqlite3_stmt, read, rc int) {
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	var tail *C.char
	code := C.sqlite3_prepare_v2(d.p, text, C.int(len(sql)+1), &s, &tail)
	if tail != nil {
		read = int(uintptr(unsafe.Pointer(tail)) - uintptr(unsafe.Pointer(text)))
	}
	return s, read, int(code)
}

// run runs a statement without parameters to its end.
func (d *database) run(sql string) int {
	s, _, rc := d.prepare(sql)
	if rc == sqliteOK {
		C.sqlite3_step(s)
		rc = int(C.sqlite3_finalize(s))
	}
	return rc
}

// autocommit says that no transaction is open.
func (d *database) autocommit() bool { return C.sqlite3_get_autocommit(d.p) != 0 }

// limit asks for a limit, and sets it unless v is negative.
func (d *database) limit(category, v int) int {
	return int(C.sqlite3_limit(d.p, C.int(category), C.int(v)))
}

// bytesOf copies memory of SQLite's.
func bytesOf(p unsafe.Pointer, n C.int) []byte {
	if n == 0 {
		return []byte{}
	}
	return C.GoBytes(p, n)
}

// pointer is where bytes begin; nil if there are none.
func pointer(b []byte) unsafe.Pointer {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Pointer(&b[0])
}

// withString calls f with a text as C has it.
func withString(s string, f func(*C.char) C.int) int {
	p := C.CString(s)
	defer C.free(unsafe.Pointer(p))
	return int(f(p))
}

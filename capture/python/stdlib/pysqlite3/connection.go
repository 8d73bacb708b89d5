package pysqlite3

/*
#include <stdlib.h>
#include "api.h"
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"slices"
	"strings"
	"time"
	"unsafe"
	"weak"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// connection is the Native of a Connection.
type connection struct {
	m    *module
	self *vm.Instance
	in   *vm.Interp

	ready  bool // __init__ has run
	db     *database
	thread *vm.Thread // nil: any thread may use it
	ident  int64      // its number for programs

	detect      int64
	level       vm.Object // None, or how BEGIN goes on
	rowFactory  vm.Object
	textFactory vm.Object

	cache   map[string]*statement
	recent  []string // its keys, the least recent first
	cached  int      // how many of them are kept
	stmts   []weak.Pointer[statement]
	blobs   []weak.Pointer[blob]
	waiting *waiting

	// A callback's handle, for the three of which there is one. It lives until it is replaced.
	authorizer, progress, trace cgo.Handle

	holder   *vm.Thread    // the thread that is within SQLite
	depth    int           // how many times it is
	released chan struct{} // closed when it has left; nil => nobody waits for that
}

const (
	closedDatabase = "Cannot operate on a closed database."
	parseDecl      = 1
	parseNames     = 2
)

// levels are the isolation levels, and what a transaction begins with.
var levels = []string{"", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"}

// hold has this thread be the only one that calls SQLite for the connection; the function that it gives ends that.
func (c *connection) hold() func() {
	t := c.in.Thread()
	for c.holder != nil && c.holder != t {
		if c.released == nil {
			c.released = make(chan struct{})
		}
		released := c.released
		_ = c.in.Unlocked(func() error { <-released; return nil })
	}
	c.holder = t
	c.depth++
	if c.db != nil && c.depth == 1 {
		c.db.sweep()
	}
	return func() {
		if c.depth--; c.depth > 0 {
			return
		}
		c.holder = nil
		if c.released != nil {
			close(c.released)
			c.released = nil
		}
	}
}

// collect resets the statements of dead cursors, which may lock what another wants; it says whether there were any. Weak pointers tell at once who is dead:
// cleanups come later, on goroutines of their own.
func (c *connection) collect(in *vm.Interp) bool {
	in.Collect()
	runtime.GC()
	if c.db == nil {
		return false
	}
	found := c.db.sweep()
	for _, w := range c.stmts {
		if s := w.Value(); s != nil && s.user != nil && s.user.by.Value() == nil {
			s.user = nil
			s.reset()
			found = true
		}
	}
	return found
}

// checkThread raises in a thread that may not use the connection.
func (c *connection) checkThread(in *vm.Interp) error {
	if t := in.Thread(); c.thread != nil && c.thread != t {
		return in.Errorf(c.m.errs.programming, "SQLite objects created in a thread can only be used in that same thread. The object was created in thread id %d and this is thread id %d.",
			c.ident, ident(in))
	}
	return nil
}

// ident is the number of the thread that runs.
func ident(in *vm.Interp) int64 {
	threads, err := in.ImportNative("_thread")
	if err != nil {
		return 0
	}
	v, err := in.CallMethod(threads, "get_ident")
	if err != nil {
		return 0
	}
	n, _ := vm.AsInt(v)
	return n
}

// checkOpen raises unless the connection is open.
func (c *connection) checkOpen(in *vm.Interp) error {
	if !c.ready {
		return in.Errorf(c.m.errs.programming, "Base Connection.__init__ not called.")
	}
	if c.db == nil {
		return in.Errorf(c.m.errs.programming, closedDatabase)
	}
	return nil
}

// usable raises unless this thread may use the connection and it is open.
func (c *connection) usable(in *vm.Interp) error {
	if err := c.checkThread(in); err != nil {
		return err
	}
	return c.checkOpen(in)
}

// connectParams are what connect and Connection take.
const connectParams = "database, timeout=5.0, detect_types=0, isolation_level='', check_same_thread=True, factory=None, cached_statements=128, uri=False"

var connectSig = vm.NewParams("Connection", connectParams)

// init is __init__.
func (c *connection) init(in *vm.Interp, args []vm.Object, kw []vm.KwArg) error {
	a, err := connectSig.Bind(in, args, kw)
	if err != nil {
		return err
	}
	sys, err := in.ImportNative("sys")
	if err != nil {
		return err
	}
	if _, err := in.CallMethod(sys, "audit", vm.Str("sqlite3.connect"), a[0]); err != nil {
		return err
	}
	name, err := in.FSPath(a[0])
	if err != nil {
		return err
	}
	if strings.IndexByte(name, 0) >= 0 {
		return in.Errorf(in.Exc.ValueError, "embedded null byte")
	}
	timeout, err := in.Float(a[1])
	if err != nil {
		return err
	}
	detect, err := fits32(in, a[2])
	if err != nil {
		return err
	}
	level, err := c.parseLevel(in, a[3])
	if err != nil {
		return err
	}
	sameThread, err := in.Truth(a[4])
	if err != nil {
		return err
	}
	cached, err := fits32(in, a[6])
	if err != nil {
		return err
	}
	uri, err := in.Truth(a[7])
	if err != nil {
		return err
	}
	if c.ready {
		c.close(false)
		c.ready = false
	}
	db, rc := open(name, uri)
	if rc != sqliteOK {
		defer db.close()
		if db.p == nil {
			return c.m.coded(in, rc)
		}
		return c.m.failed(in, db)
	}
	c.db, c.ready, c.detect, c.level, c.cached = db, true, int64(detect), level, max(cached, 0)
	c.rowFactory, c.textFactory = vm.None, vm.StrType
	c.cache, c.recent, c.thread = map[string]*statement{}, nil, nil
	if sameThread {
		c.thread, c.ident = in.Thread(), ident(in)
	}
	c.waiting = &waiting{in: in, limit: time.Duration(timeout * float64(time.Second))}
	C.wh_busy(db.p, db.keep(c.waiting))
	runtime.AddCleanup(c, func(d *database) { d.close() }, db)
	_, err = in.CallMethod(sys, "audit", vm.Str("sqlite3.connect/handle"), c.self)
	return err
}

// close closes the database, and finalises the statements whose rows no cursor is to give any more: with any of them left, the file stays open.
func (c *connection) close(whole bool) {
	if c.db == nil {
		return
	}
	for _, w := range c.blobs {
		if b := w.Value(); b != nil {
			b.close()
		}
	}
	for _, w := range c.stmts {
		if s := w.Value(); s != nil && whole {
			s.finalize()
		}
	}
	c.blobs, c.stmts, c.cache, c.recent = nil, nil, nil, nil
	c.db.close()
	c.db = nil
	for _, h := range []*cgo.Handle{&c.authorizer, &c.progress, &c.trace} {
		if *h != 0 {
			h.Delete()
			*h = 0
		}
	}
}

// parseLevel reads an isolation level.
func (c *connection) parseLevel(in *vm.Interp, o vm.Object) (vm.Object, error) {
	if o == vm.None {
		return o, nil
	}
	s, ok := vm.AsStr(o)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "isolation_level must be str or None")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return nil, in.Errorf(in.Exc.ValueError, "embedded null character")
	}
	for _, l := range levels {
		if strings.EqualFold(l, s) && len(l) == len(s) {
			return vm.Str(l), nil
		}
	}
	return nil, in.Errorf(in.Exc.ValueError, "isolation_level string must be '', 'DEFERRED', 'IMMEDIATE', or 'EXCLUSIVE'")
}

// run runs a statement of the connection's own.
func (c *connection) run(in *vm.Interp, sql string) error {
	defer c.hold()()
	if rc := c.db.run(sql); rc != sqliteOK {
		return c.m.failed(in, c.db)
	}
	return nil
}

// commit ends the transaction, if one is open.
func (c *connection) commit(in *vm.Interp) error {
	if c.db.autocommit() {
		return nil
	}
	return c.run(in, "COMMIT")
}

// rollback takes the transaction back, if one is open.
func (c *connection) rollback(in *vm.Interp) error {
	if c.db.autocommit() {
		return nil
	}
	return c.run(in, "ROLLBACK")
}

// newCursor calls a factory for a cursor.
func (c *connection) newCursor(in *vm.Interp, factory vm.Object) (*cursor, error) {
	o, err := in.Call(factory, []vm.Object{c.self}, nil)
	if err != nil {
		return nil, err
	}
	i, ok := o.(*vm.Instance)
	var cur *cursor
	if ok {
		cur, ok = i.Native.(*cursor)
	}
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "factory must return a cursor, not %s", vm.TypeName(o))
	}
	if c.rowFactory != vm.None {
		cur.rowFactory = c.rowFactory
	}
	return cur, nil
}

// statement is the compiled form of a text, from the cache if it is there.
func (c *connection) statement(in *vm.Interp, sql string) (*statement, error) {
	if s := c.cache[sql]; s != nil {
		i := slices.Index(c.recent, sql)
		c.recent = append(slices.Delete(c.recent, i, i+1), sql)
		return s, nil
	}
	s, err := c.compile(in, sql)
	if err != nil || c.cached == 0 {
		return s, err
	}
	if len(c.recent) >= c.cached {
		delete(c.cache, c.recent[0])
		c.recent = slices.Delete(c.recent, 0, 1)
	}
	c.cache[sql], c.recent = s, append(c.recent, sql)
	return s, nil
}

// connectionOf is the connection of a Connection.
func connectionOf(o vm.Object) *connection { return o.(*vm.Instance).Native.(*connection) }

// within is a method that needs an open connection in its own thread; SQLite is held for it while it runs.
func within(name, params string, fn func(k *clinic.Call, c *connection) (vm.Object, error)) vm.GoFunc {
	return clinic.Method(name, params, func(k *clinic.Call) (vm.Object, error) {
		c := connectionOf(k.Self)
		if err := c.usable(k.Interp); err != nil {
			return nil, err
		}
		defer c.hold()()
		return fn(k, c)
	})
}

// onCursor hands a call on to a new cursor.
func onCursor(name string) vm.GoFunc {
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		if name == "execute" && len(args) == 1 {
			return nil, in.Errorf(in.Exc.TypeError, "execute expected at least 1 argument, got 0")
		}
		cur, err := in.CallMethod(args[0], "cursor")
		if err != nil {
			return nil, err
		}
		f, err := in.GetAttr(cur, name)
		if err != nil {
			return nil, err
		}
		return in.Call(f, args[1:], kw)
	}
}

// create registers a function under a name; what it gives an unusable number of arguments fails.
func (c *connection) create(in *vm.Interp, rc int, what string) (vm.Object, error) {
	if rc != sqliteOK {
		return nil, in.Errorf(c.m.errs.operational, "Error creating %s", what)
	}
	return vm.None, nil
}

// handle is what SQLite calls a function of Python's by; 0 for None.
func (c *connection) handle(fn vm.Object) C.uintptr_t {
	if fn == vm.None {
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(&callback{c.in, c.m, fn}))
}

// hook puts a callback in the place of the one that was there.
func (c *connection) hook(old *cgo.Handle, fn vm.Object, set func(h C.uintptr_t) C.int) int {
	h := c.handle(fn)
	rc := set(h)
	if *old != 0 {
		old.Delete()
	}
	*old = cgo.Handle(h)
	return int(rc)
}

// backup copies the database to another connection, a few pages at a time.
func (c *connection) backup(k *clinic.Call) (vm.Object, error) {
	in := k.Interp
	target, ok := k.Args[0].(*vm.Instance)
	var to *connection
	if ok {
		to, ok = target.Native.(*connection)
	}
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "backup() argument 1 must be sqlite3.Connection, not %s", vm.TypeName(k.Args[0]))
	}
	pages, err := fits32(in, k.Args[1])
	if err != nil {
		return nil, err
	}
	if err := to.checkOpen(in); err != nil {
		return nil, err
	}
	if to == c {
		return nil, in.Errorf(in.Exc.ValueError, "target cannot be the same connection instance")
	}
	progress := k.Args[2]
	if progress != vm.None && !vm.Callable(progress) {
		return nil, in.Errorf(in.Exc.TypeError, "progress argument must be a callable")
	}
	if pages == 0 {
		pages = -1
	}
	pause := k.Float(4)
	defer to.hold()()
	var b *C.sqlite3_backup
	main := C.CString("main")
	defer C.free(unsafe.Pointer(main))
	withString(k.Str(3), func(s *C.char) C.int { b = C.sqlite3_backup_init(to.db.p, main, c.db.p, s); return 0 })
	if b == nil {
		return nil, c.m.failed(in, to.db)
	}
	var failed error
	for {
		rc := C.sqlite3_backup_step(b, C.int(pages))
		if progress != vm.None {
			if _, failed = in.Call(progress, []vm.Object{vm.MakeInt(int64(rc)), vm.MakeInt(int64(C.sqlite3_backup_remaining(b))), vm.MakeInt(int64(C.sqlite3_backup_pagecount(b)))}, nil); failed != nil {
				break
			}
		}
		if rc == sqliteBusy || rc == sqliteLocked { // the program says how long to wait then
			_ = in.Unlocked(func() error { time.Sleep(time.Duration(pause * float64(time.Second))); return nil })
		} else if rc != sqliteOK {
			break
		}
	}
	rc := C.sqlite3_backup_finish(b)
	if failed == nil && rc != sqliteOK {
		failed = c.m.failed(in, to.db)
	}
	return vm.None, failed
}

// connectionClass makes Connection.
func (m *module) connectionClass(in *vm.Interp) *vm.Type {
	attrs := map[string]vm.Object{}
	for name, t := range m.classes {
		attrs[name] = t
	}
	factory := func(get func(*connection) *vm.Object) *vm.GetSet {
		return &vm.GetSet{Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			if v := *get(connectionOf(o)); v != nil {
				return v, nil
			}
			return vm.None, nil
		}, Set: func(_ *vm.Interp, o, v vm.Object) error {
			*get(connectionOf(o)) = v
			return nil
		}}
	}
	rows, texts := factory(func(c *connection) *vm.Object { return &c.rowFactory }), factory(func(c *connection) *vm.Object { return &c.textFactory })
	rows.Name, texts.Name = "row_factory", "text_factory"
	asked := func(name string, get func(c *connection) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(in *vm.Interp, o vm.Object) (vm.Object, error) {
			c := connectionOf(o)
			if err := c.checkOpen(in); err != nil {
				return nil, err
			}
			return get(c), nil
		}}
	}
	level := asked("isolation_level", func(c *connection) vm.Object { return c.level })
	level.Set = func(in *vm.Interp, o, v vm.Object) error {
		if v == nil {
			return in.Errorf(in.Exc.AttributeError, "cannot delete attribute")
		}
		c := connectionOf(o)
		l, err := c.parseLevel(in, v)
		if err != nil {
			return err
		}
		if l == vm.None {
			if err := c.usable(in); err != nil {
				return err
			}
			if err := c.commit(in); err != nil {
				return err
			}
		}
		c.level = l
		return nil
	}
	const function = "name:str, narg:int, func, *, deterministic:bool=False"
	spec := vm.Spec{Name: "Connection", Module: "sqlite3", Doc: "SQLite database connection object.", NoDict: true, Strict: true, Attrs: attrs,
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			c := &connection{m: m, in: in}
			c.self = vm.NewInstance(cls, c)
			return c.self, nil
		},
		GetSet: []*vm.GetSet{rows, texts, level,
			asked("total_changes", func(c *connection) vm.Object { return vm.MakeInt(int64(C.sqlite3_total_changes(c.db.p))) }),
			asked("in_transaction", func(c *connection) vm.Object { return vm.MakeBool(!c.db.autocommit()) }),
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				return vm.None, connectionOf(args[0]).init(in, args[1:], kw)
			},
			"execute": onCursor("execute"), "executemany": onCursor("executemany"), "executescript": onCursor("executescript"),
			"cursor": clinic.Method("cursor", "factory=nil", func(k *clinic.Call) (vm.Object, error) {
				c := connectionOf(k.Self)
				if err := c.usable(k.Interp); err != nil {
					return nil, err
				}
				f := k.Args[0]
				if f == nil {
					f = m.cursor
				}
				cur, err := c.newCursor(k.Interp, f)
				if err != nil {
					return nil, err
				}
				return cur.self, nil
			}),
			"__call__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				c := connectionOf(args[0])
				if err := c.usable(in); err != nil {
					return nil, err
				}
				a, err := statementSig.Bind(in, args[1:], kw)
				if err != nil {
					return nil, err
				}
				sql, ok := vm.AsStr(a[0])
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "argument 1 must be str, not %s", vm.TypeName(a[0]))
				}
				defer c.hold()()
				return c.compile(in, sql)
			},
			"commit":   within("commit", "", func(k *clinic.Call, c *connection) (vm.Object, error) { return vm.None, c.commit(k.Interp) }),
			"rollback": within("rollback", "", func(k *clinic.Call, c *connection) (vm.Object, error) { return vm.None, c.rollback(k.Interp) }),
			"close": clinic.Method("close", "", func(k *clinic.Call) (vm.Object, error) {
				c := connectionOf(k.Self)
				if err := c.checkThread(k.Interp); err != nil {
					return nil, err
				}
				if !c.ready {
					return nil, k.Errorf(m.errs.programming, "Base Connection.__init__ not called.")
				}
				defer c.hold()()
				c.close(true)
				return vm.None, nil
			}),
			"__enter__": within("__enter__", "", func(k *clinic.Call, c *connection) (vm.Object, error) { return c.self, nil }),
			"__exit__": within("__exit__", "exc_type, exc_value, exc_tb, /", func(k *clinic.Call, c *connection) (vm.Object, error) {
				if k.Args[0] != vm.None {
					return vm.False, c.rollback(k.Interp)
				}
				err := c.commit(k.Interp)
				if err != nil {
					_ = c.rollback(k.Interp) // what the commit said is what counts
				}
				return vm.False, err
			}),
			"create_function": within("create_function", function, func(k *clinic.Call, c *connection) (vm.Object, error) {
				flags := C.int(0)
				if k.Bool(3) {
					flags = deterministic
				}
				rc := withString(k.Str(0), func(s *C.char) C.int {
					return C.wh_function(c.db.p, s, C.int(k.Int(1)), flags, c.handle(k.Args[2]))
				})
				return c.create(k.Interp, rc, "function")
			}),
			"create_aggregate": within("create_aggregate", "name:str, n_arg:int, aggregate_class", func(k *clinic.Call, c *connection) (vm.Object, error) {
				rc := withString(k.Str(0), func(s *C.char) C.int {
					return C.wh_aggregate(c.db.p, s, C.int(k.Int(1)), c.handle(k.Args[2]))
				})
				return c.create(k.Interp, rc, "aggregate")
			}),
			"create_window_function": within("create_window_function", "name:str, num_params:int, aggregate_class, /", func(k *clinic.Call, c *connection) (vm.Object, error) {
				if rc := withString(k.Str(0), func(s *C.char) C.int {
					return C.wh_window(c.db.p, s, C.int(k.Int(1)), c.handle(k.Args[2]))
				}); rc != sqliteOK {
					return nil, k.Errorf(m.errs.programming, "%s", C.GoString(C.sqlite3_errstr(C.int(rc)))) // the database has no message for it
				}
				return vm.None, nil
			}),
			"create_collation": within("create_collation", "name:str, callback, /", func(k *clinic.Call, c *connection) (vm.Object, error) {
				if k.Args[1] != vm.None && !vm.Callable(k.Args[1]) {
					return nil, k.Errorf(k.Exc.TypeError, "parameter must be callable")
				}
				name, err := utf8Of(k.Interp, k.Str(0))
				if err != nil {
					return nil, err
				}
				if rc := withString(name, func(s *C.char) C.int { return C.wh_collation(c.db.p, s, c.handle(k.Args[1])) }); rc != sqliteOK {
					return nil, m.failed(k.Interp, c.db)
				}
				return vm.None, nil
			}),
			"set_authorizer": within("set_authorizer", "authorizer_callback", func(k *clinic.Call, c *connection) (vm.Object, error) {
				if c.hook(&c.authorizer, k.Args[0], func(h C.uintptr_t) C.int { return C.wh_authorizer(c.db.p, h) }) != sqliteOK {
					return nil, k.Errorf(m.errs.operational, "Error setting authorizer callback")
				}
				return vm.None, nil
			}),
			"set_progress_handler": within("set_progress_handler", "progress_handler, n:int", func(k *clinic.Call, c *connection) (vm.Object, error) {
				c.hook(&c.progress, k.Args[0], func(h C.uintptr_t) C.int { C.wh_progress(c.db.p, C.int(k.Int(1)), h); return 0 })
				return vm.None, nil
			}),
			"set_trace_callback": within("set_trace_callback", "trace_callback", func(k *clinic.Call, c *connection) (vm.Object, error) {
				c.hook(&c.trace, k.Args[0], func(h C.uintptr_t) C.int { return C.wh_trace(c.db.p, h) })
				return vm.None, nil
			}),
			"interrupt": clinic.Method("interrupt", "", func(k *clinic.Call) (vm.Object, error) {
				c := connectionOf(k.Self)
				if err := c.checkOpen(k.Interp); err != nil {
					return nil, err
				}
				C.sqlite3_interrupt(c.db.p)
				return vm.None, nil
			}),
			"iterdump": clinic.Method("iterdump", "", func(k *clinic.Call) (vm.Object, error) {
				if err := connectionOf(k.Self).checkOpen(k.Interp); err != nil {
					return nil, err
				}
				dump, err := k.Import("sqlite3.dump")
				if err != nil {
					return nil, err
				}
				f, err := k.GetAttr(dump, "_iterdump")
				if err != nil {
					return nil, err
				}
				return k.Interp.Call(f, []vm.Object{k.Self}, nil)
			}),
			"backup":   within("backup", "target, *, pages=-1, progress=None, name:str='main', sleep:float=0.25", func(k *clinic.Call, c *connection) (vm.Object, error) { return c.backup(k) }),
			"getlimit": within("getlimit", "category:int, /", func(k *clinic.Call, c *connection) (vm.Object, error) { return c.limit(k.Interp, k.Int(0), -1) }),
			"setlimit": within("setlimit", "category:int, limit:int, /", func(k *clinic.Call, c *connection) (vm.Object, error) {
				return c.limit(k.Interp, k.Int(0), k.Int(1))
			}),
			"blobopen": within("blobopen", "table:str, column:str, row:int, /, *, readonly:bool=False, name:str='main'", func(k *clinic.Call, c *connection) (vm.Object, error) { return c.openBlob(k) }),
			"serialize": within("serialize", "*, name:str='main'", func(k *clinic.Call, c *connection) (vm.Object, error) {
				var size C.sqlite3_int64
				var p *C.uchar
				withString(k.Str(0), func(s *C.char) C.int { p = C.sqlite3_serialize(c.db.p, s, &size, 0); return 0 })
				if p == nil {
					return nil, k.Errorf(m.errs.operational, "unable to serialize '%s'", k.Str(0))
				}
				defer C.sqlite3_free(unsafe.Pointer(p))
				return vm.Bytes(bytesOf(unsafe.Pointer(p), C.int(size))), nil
			}),
			"deserialize": within("deserialize", "data, /, *, name:str='main'", func(k *clinic.Call, c *connection) (vm.Object, error) { return c.deserialize(k) }),
			"enable_load_extension": within("enable_load_extension", "enable:bool, /", func(k *clinic.Call, c *connection) (vm.Object, error) {
				if C.sqlite3_enable_load_extension(c.db.p, C.int(k.Int(0))) != sqliteOK {
					return nil, k.Errorf(m.errs.operational, "Error enabling load extension")
				}
				return vm.None, nil
			}),
			"load_extension": within("load_extension", "name:str, /", func(k *clinic.Call, c *connection) (vm.Object, error) {
				var why *C.char
				rc := withString(k.Str(0), func(s *C.char) C.int { return C.sqlite3_load_extension(c.db.p, s, nil, &why) })
				if rc == sqliteOK {
					return vm.None, nil
				}
				text := C.GoString(why)
				C.sqlite3_free(unsafe.Pointer(why))
				return nil, k.Errorf(m.errs.operational, "%s", text)
			}),
		}}
	return in.NewNativeType(spec)
}

// statementSig is what a connection takes when it is called.
var statementSig = vm.NewParams("Connection", "sql, /")

// limit asks for or sets a limit, and gives the one before.
func (c *connection) limit(in *vm.Interp, category, v int64) (vm.Object, error) {
	old := c.db.limit(int(category), int(min(v, 1<<31-1)))
	if old < 0 {
		return nil, in.Errorf(c.m.errs.programming, "'category' is out of bounds")
	}
	return vm.MakeInt(int64(old)), nil
}

// deserialize has the database be one that was serialised.
func (c *connection) deserialize(k *clinic.Call) (vm.Object, error) {
	raw, ok, err := k.OneBuffer(k.Args[0])
	if s, is := vm.AsStr(k.Args[0]); is {
		s, err = utf8Of(k.Interp, s)
		raw, ok = []byte(s), true
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, k.Errorf(k.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(k.Args[0]))
	}
	n := len(raw)
	p := C.sqlite3_malloc64(C.ulonglong(max(n, 1)))
	if p == nil {
		return nil, k.RaiseObj(k.Exc.MemoryError)
	}
	copy(unsafe.Slice((*byte)(p), max(n, 1)), raw)
	const freeOnClose, resizable = 1, 2
	if rc := withString(k.Str(1), func(s *C.char) C.int {
		return C.sqlite3_deserialize(c.db.p, s, (*C.uchar)(p), C.sqlite3_int64(n), C.sqlite3_int64(n), freeOnClose|resizable)
	}); rc != sqliteOK {
		return nil, c.m.failed(k.Interp, c.db)
	}
	return vm.None, nil
}

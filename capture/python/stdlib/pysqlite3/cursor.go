package pysqlite3

/*
#include "api.h"
*/
import "C"

import (
	"runtime"
	"strings"
	"weak"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// statement is a compiled statement: a Statement of Python's.
type statement struct {
	vm.Identity
	c     *connection
	p     *C.sqlite3_stmt // nil for a text without a statement, and after the connection is closed
	isDML bool            // it inserts, updates, deletes or replaces
	held  *heldStatement
	user  *use // the cursor's that ran it last
}

// use is one cursor's use of a statement. When the cursor dies in the midst of the rows, the statement is reset: it would lock its tables.
type use struct {
	s  *statement
	by weak.Pointer[cursor]
}

// heldStatement is what a statement's cleanup needs.
type heldStatement struct {
	db *database
	p  *C.sqlite3_stmt
}

// Type implements vm.Object.
func (s *statement) Type() *vm.Type { return s.c.m.statement }

// finalize ends the statement.
func (s *statement) finalize() {
	if s.p != nil {
		C.sqlite3_finalize(s.p)
		s.p, s.held.p = nil, nil
	}
}

func (s *statement) reset() int {
	if s.p == nil {
		return sqliteOK
	}
	return int(C.sqlite3_reset(s.p))
}

// step goes to the next row, or to the end.
func (s *statement) step() int {
	if s.p == nil {
		return sqliteDone
	}
	return int(C.sqlite3_step(s.p))
}

// begins skips white space and comments; it is empty if nothing is left.
func begins(sql string) string {
	for {
		sql = strings.TrimLeft(sql, " \t\f\n\r")
		switch {
		case strings.HasPrefix(sql, "--"):
			_, rest, ok := strings.Cut(sql, "\n")
			if !ok {
				return ""
			}
			sql = rest
		case strings.HasPrefix(sql, "/*"):
			_, rest, ok := strings.Cut(sql[2:], "*/")
			if !ok {
				return ""
			}
			sql = rest
		default:
			return sql
		}
	}
}

// compile compiles one statement.
func (c *connection) compile(in *vm.Interp, sql string) (*statement, error) {
	sql, err := utf8Of(in, sql)
	if err != nil {
		return nil, err
	}
	if len(sql) > c.db.limit(limitSQLLength, -1) {
		return nil, in.Errorf(c.m.errs.data, "query string is too large")
	}
	if strings.IndexByte(sql, 0) >= 0 {
		return nil, in.Errorf(c.m.errs.programming, "the query contains a null character")
	}
	p, read, rc := c.db.prepare(sql)
	if rc != sqliteOK {
		return nil, c.m.failed(in, c.db)
	}
	if begins(sql[min(read, len(sql)):]) != "" {
		C.sqlite3_finalize(p)
		return nil, in.Errorf(c.m.errs.programming, "You can only execute one statement at a time.")
	}
	s := &statement{c: c, p: p, held: &heldStatement{c.db, p}}
	word := begins(sql)
	for _, w := range []string{"insert", "update", "delete", "replace"} {
		s.isDML = s.isDML || len(word) >= len(w) && strings.EqualFold(word[:len(w)], w)
	}
	runtime.AddCleanup(s, func(h *heldStatement) {
		if h.p != nil {
			h.db.discard(h.p)
		}
	}, s.held)
	if len(c.stmts) >= 64 && len(c.stmts)&(len(c.stmts)-1) == 0 {
		live := c.stmts[:0]
		for _, w := range c.stmts {
			if w.Value() != nil {
				live = append(live, w)
			}
		}
		c.stmts = live
	}
	c.stmts = append(c.stmts, weak.Make(s))
	return s, nil
}

// cursor is the Native of a Cursor.
type cursor struct {
	m    *module
	self *vm.Instance
	c    *connection // nil before __init__

	closed, locked bool
	stmt           *statement // whose rows are still to come
	use            *use
	casts          []vm.Object
	description    vm.Object
	arraySize      int64
	rowcount       int64
	lastRow        vm.Object
	rowFactory     vm.Object
}

func cursorOf(o vm.Object) *cursor { return o.(*vm.Instance).Native.(*cursor) }

// check raises unless the cursor can be used.
func (c *cursor) check(in *vm.Interp) error {
	switch {
	case c.c == nil:
		return in.Errorf(c.m.errs.programming, "Base Cursor.__init__ not called.")
	case c.closed:
		return in.Errorf(c.m.errs.programming, "Cannot operate on a closed cursor.")
	case c.locked:
		return in.Errorf(c.m.errs.programming, "Recursive use of cursors not allowed.")
	}
	return c.c.usable(in)
}

// forget lets the statement go.
func (c *cursor) forget() {
	if c.stmt != nil {
		c.stmt.reset()
		c.stmt, c.use.s = nil, nil
	}
}

// execute runs a statement with each of the sets of parameters that next gives, until it gives nil.
func (c *cursor) execute(in *vm.Interp, sql string, many bool, next func() (vm.Object, error)) (err error) {
	defer c.c.hold()()
	c.locked = true
	defer func() {
		c.locked = false
		if err != nil {
			c.forget()
			c.rowcount = -1
		} else if c.stmt != nil && (c.stmt.p == nil || C.sqlite3_stmt_busy(c.stmt.p) == 0) {
			c.stmt, c.use.s = nil, nil
		}
	}()
	c.forget()
	c.description = vm.None
	s, err := c.c.statement(in, sql)
	if err != nil {
		return err
	}
	if s.p != nil && C.sqlite3_stmt_busy(s.p) != 0 {
		if s, err = c.c.compile(in, sql); err != nil { // another cursor is at its rows
			return err
		}
	}
	c.stmt, c.use.s, s.user = s, s, c.use
	s.reset()
	if many && s.p != nil && C.sqlite3_stmt_readonly(s.p) != 0 {
		return in.Errorf(c.m.errs.programming, "executemany() can only execute DML statements.")
	}
	c.rowcount = -1
	if s.isDML {
		c.rowcount = 0
	}
	if level, ok := c.c.level.(vm.Str); ok && s.isDML && c.c.db.autocommit() {
		if err := c.c.run(in, "BEGIN "+string(level)); err != nil {
			return err
		}
	}
	for {
		params, err := next()
		if err != nil {
			return err
		}
		if params == nil {
			break
		}
		if c.c.db == nil {
			return in.Errorf(c.m.errs.programming, closedDatabase)
		}
		if err := s.bindAll(in, params); err != nil {
			return err
		}
		if c.c.db == nil || s.p == nil && s.held.p != nil {
			return in.Errorf(c.m.errs.programming, closedDatabase)
		}
		rc := s.step()
		if rc&0xff == sqliteLocked && c.c.collect(in) {
			s.reset()
			rc = s.step()
		}
		if c.c.db == nil {
			return in.Errorf(c.m.errs.programming, closedDatabase)
		}
		if rc != sqliteDone && rc != sqliteRow {
			failed := c.m.failed(in, c.c.db)
			s.reset()
			return failed
		}
		if err := c.columns(in); err != nil {
			return err
		}
		if rc == sqliteDone {
			if s.isDML {
				c.rowcount += int64(C.sqlite3_changes(c.c.db.p))
			}
			s.reset()
		} else if many {
			s.reset()
		}
	}
	if !many {
		c.lastRow = vm.MakeInt(int64(C.sqlite3_last_insert_rowid(c.c.db.p)))
	}
	return nil
}

// columns describes the columns of the statement's rows, and finds the converters that their names or declarations ask for.
func (c *cursor) columns(in *vm.Interp) error {
	c.casts = nil
	s := c.stmt
	if s.p == nil {
		return nil
	}
	n := int(C.sqlite3_column_count(s.p))
	names := make([]string, n)
	for i := range n {
		names[i] = C.GoString(C.sqlite3_column_name(s.p, C.int(i)))
	}
	if c.c.detect != 0 {
		c.casts = make([]vm.Object, n)
		for i, name := range names {
			if open := strings.IndexByte(name, '['); open >= 0 && c.c.detect&parseNames != 0 {
				if end := strings.IndexByte(name[open:], ']'); end >= 0 {
					f, err := c.m.converter(in, name[open+1:open+end])
					if err != nil {
						return err
					}
					c.casts[i] = f
				}
			}
			if d := C.sqlite3_column_decltype(s.p, C.int(i)); d != nil && c.casts[i] == nil && c.c.detect&parseDecl != 0 {
				kind := C.GoString(d)
				if end := strings.IndexAny(kind, " ("); end >= 0 {
					kind = kind[:end]
				}
				f, err := c.m.converter(in, kind)
				if err != nil {
					return err
				}
				c.casts[i] = f
			}
		}
	}
	if n == 0 || c.description != vm.None {
		return nil
	}
	cols := make([]vm.Object, n)
	for i, name := range names {
		if open := strings.IndexByte(name, '['); open >= 0 && c.c.detect&parseNames != 0 {
			name = strings.TrimSuffix(name[:open], " ")
		}
		cols[i] = vm.NewTuple(vm.Str(name), vm.None, vm.None, vm.None, vm.None, vm.None, vm.None)
	}
	c.description = vm.NewTuple(cols...)
	return nil
}

// converter is the converter of a type's name; nil if there is none.
func (m *module) converter(in *vm.Interp, kind string) (vm.Object, error) {
	f, ok, err := m.converters.Get(in, vm.Str(strings.ToUpper(kind)))
	if !ok {
		f = nil
	}
	return f, err
}

// next is the next row; nil if there is none.
func (c *cursor) next(in *vm.Interp) (vm.Object, error) {
	if err := c.check(in); err != nil {
		return nil, err
	}
	s := c.stmt
	if s == nil {
		return nil, nil
	}
	defer c.c.hold()()
	if s.p == nil || C.sqlite3_data_count(s.p) == 0 {
		c.forget()
		return nil, nil
	}
	c.locked = true
	items := make([]vm.Object, C.sqlite3_data_count(s.p))
	var err error
	for i := range items {
		if items[i], err = s.column(in, c, i); err != nil {
			break
		}
		if s.p == nil {
			err = in.Errorf(c.m.errs.programming, closedDatabase)
			break
		}
	}
	c.locked = false
	if err != nil {
		return nil, err
	}
	switch rc := s.step(); rc {
	case sqliteRow:
	case sqliteDone:
		if s.isDML && c.c.db != nil {
			c.rowcount = int64(C.sqlite3_changes(c.c.db.p))
		}
		c.forget()
	default:
		err := c.m.failed(in, c.c.db)
		c.forget()
		return nil, err
	}
	row := vm.NewTuple(items...)
	if c.rowFactory != vm.None && c.rowFactory != nil {
		return in.Call(c.rowFactory, []vm.Object{c.self, row}, nil)
	}
	return row, nil
}

// fetch gives up to n rows; all of them for a negative n.
func (c *cursor) fetch(in *vm.Interp, n int64) (vm.Object, error) {
	rows := vm.NewList()
	for n != 0 {
		row, err := c.next(in)
		if err != nil {
			return nil, err
		}
		if row == nil {
			break
		}
		rows.Append(row)
		n--
	}
	return rows, nil
}

// script runs statements without parameters, after a commit.
func (c *cursor) script(in *vm.Interp, sql string) error {
	if err := c.check(in); err != nil {
		return err
	}
	defer c.c.hold()()
	sql, err := utf8Of(in, sql)
	if err != nil {
		return err
	}
	if len(sql) > c.c.db.limit(limitSQLLength, -1) {
		return in.Errorf(c.m.errs.data, "query string is too large")
	}
	if err := c.c.commit(in); err != nil {
		return err
	}
	for sql != "" {
		p, read, rc := c.c.db.prepare(sql)
		if rc == sqliteOK {
			for rc = sqliteRow; rc == sqliteRow && p != nil; {
				rc = int(C.sqlite3_step(p))
			}
			rc = int(C.sqlite3_finalize(p))
		}
		if rc != sqliteOK {
			return c.m.failed(in, c.c.db)
		}
		sql = sql[min(read, len(sql)):]
	}
	return nil
}

// cursorClass makes Cursor.
func (m *module) cursorClass(in *vm.Interp) *vm.Type {
	member := func(name string, get func(c *cursor) vm.Object, set func(in *vm.Interp, c *cursor, v vm.Object) error) *vm.GetSet {
		g := &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			if v := get(cursorOf(o)); v != nil {
				return v, nil
			}
			return vm.None, nil
		}}
		if set != nil {
			g.Set = func(in *vm.Interp, o, v vm.Object) error { return set(in, cursorOf(o), v) }
		}
		return g
	}
	one := vm.NewParams("Cursor", "cursor, /")
	t := in.NewNativeType(vm.Spec{Name: "Cursor", Module: "sqlite3", Doc: "SQLite database cursor class.", NoDict: true, Strict: true,
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			c := &cursor{m: m, use: &use{}}
			c.use.by = weak.Make(c)
			c.self = vm.NewInstance(cls, c)
			runtime.AddCleanup(c, func(u *use) {
				if u.s != nil {
					u.s.held.db.leave(u)
				}
			}, c.use)
			return c.self, nil
		},
		GetSet: []*vm.GetSet{
			member("connection", func(c *cursor) vm.Object {
				if c.c == nil {
					return nil
				}
				return c.c.self
			}, nil),
			member("description", func(c *cursor) vm.Object { return c.description }, nil),
			member("arraysize", func(c *cursor) vm.Object { return vm.MakeInt(c.arraySize) }, func(in *vm.Interp, c *cursor, v vm.Object) error {
				if v == nil {
					return in.Errorf(in.Exc.TypeError, "can't delete numeric/char attribute")
				}
				n, err := fits32(in, v)
				c.arraySize = int64(n)
				return err
			}),
			member("lastrowid", func(c *cursor) vm.Object { return c.lastRow }, nil),
			member("rowcount", func(c *cursor) vm.Object { return vm.MakeInt(c.rowcount) }, nil),
			member("row_factory", func(c *cursor) vm.Object { return c.rowFactory }, func(_ *vm.Interp, c *cursor, v vm.Object) error {
				c.rowFactory = v
				return nil
			}),
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				a, err := one.Bind(in, args[1:], kw)
				if err != nil {
					return nil, err
				}
				i, ok := a[0].(*vm.Instance)
				var conn *connection
				if ok {
					conn, ok = i.Native.(*connection)
				}
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "Cursor() argument 1 must be sqlite3.Connection, not %s", vm.TypeName(a[0]))
				}
				c := cursorOf(args[0])
				if c.locked {
					return nil, in.Errorf(m.errs.programming, "Recursive use of cursors not allowed.")
				}
				c.forget()
				c.c, c.closed, c.arraySize, c.rowcount = conn, false, 1, -1
				c.description, c.lastRow, c.rowFactory, c.casts = vm.None, vm.None, vm.None, nil
				return vm.None, conn.checkThread(in)
			},
			"__iter__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) { return args[0], nil },
			"__next__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				v, err := cursorOf(args[0]).next(in)
				if v == nil && err == nil {
					return nil, in.RaiseObj(in.Exc.StopIteration)
				}
				return v, err
			},
			"execute": clinic.Method("execute", "sql:str, parameters=nil, /", func(k *clinic.Call) (vm.Object, error) {
				c := cursorOf(k.Self)
				if err := c.check(k.Interp); err != nil {
					return nil, err
				}
				params := k.Args[1]
				if params == nil {
					params = vm.NewTuple()
				}
				return k.Self, c.execute(k.Interp, k.Str(0), false, func() (vm.Object, error) {
					p := params
					params = nil
					return p, nil
				})
			}),
			"executemany": clinic.Method("executemany", "sql:str, seq_of_parameters, /", func(k *clinic.Call) (vm.Object, error) {
				c := cursorOf(k.Self)
				if err := c.check(k.Interp); err != nil {
					return nil, err
				}
				it, err := k.Iter(k.Args[1])
				if err != nil {
					return nil, err
				}
				return k.Self, c.execute(k.Interp, k.Str(0), true, func() (vm.Object, error) { return k.Next(it) })
			}),
			"executescript": clinic.Method("executescript", "sql_script:str, /", func(k *clinic.Call) (vm.Object, error) {
				if strings.IndexByte(k.Str(0), 0) >= 0 {
					return nil, k.Errorf(k.Exc.ValueError, "embedded null character")
				}
				return k.Self, cursorOf(k.Self).script(k.Interp, k.Str(0))
			}),
			"fetchone": clinic.Method("fetchone", "", func(k *clinic.Call) (vm.Object, error) {
				v, err := cursorOf(k.Self).next(k.Interp)
				if v == nil && err == nil {
					v = vm.None
				}
				return v, err
			}),
			"fetchmany": clinic.Method("fetchmany", "size=nil", func(k *clinic.Call) (vm.Object, error) {
				c := cursorOf(k.Self)
				n := c.arraySize
				if k.Args[0] != nil {
					size, err := fits32(k.Interp, k.Args[0])
					if err != nil {
						return nil, err
					}
					n = int64(size)
				}
				return c.fetch(k.Interp, max(n, -1))
			}),
			"fetchall":      clinic.Method("fetchall", "", func(k *clinic.Call) (vm.Object, error) { return cursorOf(k.Self).fetch(k.Interp, -1) }),
			"setinputsizes": clinic.Method("setinputsizes", "sizes, /", func(*clinic.Call) (vm.Object, error) { return vm.None, nil }),
			"setoutputsize": clinic.Method("setoutputsize", "size, column=None, /", func(*clinic.Call) (vm.Object, error) { return vm.None, nil }),
			"close": clinic.Method("close", "", func(k *clinic.Call) (vm.Object, error) {
				c := cursorOf(k.Self)
				if c.locked {
					return nil, k.Errorf(m.errs.programming, "Recursive use of cursors not allowed.")
				}
				if c.c == nil {
					return nil, k.Errorf(m.errs.programming, "Base Cursor.__init__ not called.")
				}
				if err := c.c.usable(k.Interp); err != nil {
					return nil, err
				}
				defer c.c.hold()()
				c.forget()
				c.closed = true
				return vm.None, nil
			}),
		}})
	t.HasWeak = true
	return t
}

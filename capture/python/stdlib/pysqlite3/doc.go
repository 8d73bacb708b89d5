// Package pysqlite3 is Python's module _sqlite3, on which CPython's own package sqlite3 stands: SQLite as the DB-API has it.
//
// The library of SQLite is the one that github.com/mattn/go-sqlite3 carries and whittle links for its store. Its driver is not used: it turns
// columns that are declared as dates or booleans into values of Go's, hides the error codes of single steps and knows neither window functions
// nor blobs, so this package calls SQLite's C functions itself (api.h names them).
//
// capi.go wraps a database and a statement, callbacks.go is what SQLite calls back, connection.go, cursor.go, row.go and blob.go are the classes,
// values.go turns values into each other, errors.go SQLite's codes into exceptions.
//
// SQLite locks a connection while a statement runs. A thread that waits for that lock must not hold the interpreter's, so each use of a connection
// goes through hold, which waits in Python's way for the thread that is within.
package pysqlite3

package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"
	sqlite3 "github.com/mattn/go-sqlite3"
)

//go:embed schema.sql
var schemaSQL string

//go:embed schema2.sql
var schema2SQL string

//go:embed schema3.sql
var schema3SQL string

//go:embed schema4.sql
var schema4SQL string

//go:embed schema5.sql
var schema5SQL string

// driver is SQLite with our own functions: candidate_of is QueryKey.Candidate.
const driver = "sqlite3_whittle"

func init() {
	sql.Register(driver, &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		return c.RegisterFunc("candidate_of", func(graph, inputs, config string) string {
			return QueryKey{Graph: graph, Inputs: inputs, Config: config}.Candidate()
		}, true)
	}})
}

// applicationID marks our databases in SQLite's header: "whit".
const applicationID = 0x77686974

// migrations[i] brings a database from user_version i to i+1. Rows are only ever appended.
var migrations = []string{schemaSQL, schema2SQL, schema3SQL, schema4SQL, schema5SQL}

// A Store is an open database. Its methods may be called from many goroutines, and several processes may have the same file open: SQLite's log lets
// all read while one writes, and who wants to write waits for up to ten seconds.
type Store struct {
	Path string
	// Now is the clock that stamps rows; tests replace it before first use.
	Now func() time.Time

	write *sql.DB // one connection
	read  *sql.DB // several
	enc   *zstd.Encoder
	dec   *zstd.Decoder
}

// Open opens or creates the store at path. Errors about the file are *OpenError.
func Open(ctx context.Context, path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, &OpenError{path, NotWritable, err}
	}
	if err := sniff(path, abs); err != nil {
		return nil, err
	}
	s := &Store{Path: path, Now: time.Now}
	if s.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
		return nil, err
	}
	if s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(4<<30)); err != nil {
		return nil, err
	}
	q := url.Values{}
	// FULL: what is acknowledged is on the disk, at a sync for each commit. immediate: a transaction that will write says so when it begins, so that
	// none fails halfway because another was faster.
	for _, kv := range []string{"_foreign_keys=on", "_busy_timeout=10000", "_synchronous=FULL", "_txlock=immediate"} {
		k, v, _ := strings.Cut(kv, "=")
		q.Set(k, v)
	}
	dsn := (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String()
	if s.write, err = sql.Open(driver, dsn); err != nil {
		return nil, s.openError(err)
	}
	s.write.SetMaxOpenConns(1)
	if err := s.migrate(ctx); err != nil {
		s.write.Close()
		return nil, s.openError(err)
	}
	// Only now that the file is known to be ours: the mode is kept in its header.
	if _, err := s.write.ExecContext(ctx, "PRAGMA journal_mode=WAL"); err != nil {
		s.write.Close()
		return nil, s.openError(err)
	}
	q.Set("mode", "ro")
	q.Del("_txlock")
	dsn = (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String()
	if s.read, err = sql.Open("sqlite3", dsn); err != nil {
		s.write.Close()
		return nil, s.openError(err)
	}
	s.read.SetMaxOpenConns(max(4, runtime.NumCPU()))
	return s, nil
}

// sniff looks at the file before SQLite does, for errors that say what is wrong. Whether pages are missing is left to SQLite, which also sees the log or
// the journal that completes them.
func sniff(path, abs string) error {
	st, err := os.Stat(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		dir, err := os.Stat(filepath.Dir(abs))
		if err != nil || !dir.IsDir() {
			return &OpenError{path, NoDirectory, nil}
		}
		if err := orphaned(path, abs); err != nil {
			return err
		}
		f, err := os.OpenFile(abs, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return &OpenError{path, NotWritable, err}
		}
		return f.Close()
	case err != nil:
		return &OpenError{path, NotWritable, err}
	case st.IsDir():
		return &OpenError{path, IsDirectory, nil}
	case !st.Mode().IsRegular():
		return &OpenError{path, NotADatabase, nil}
	}
	f, err := os.OpenFile(abs, os.O_RDWR, 0)
	if err != nil {
		return &OpenError{path, NotWritable, err}
	}
	defer f.Close()
	if st.Size() == 0 {
		return orphaned(path, abs)
	}
	head := make([]byte, 100)
	n, _ := f.Read(head)
	if !bytes.HasPrefix(head[:n], []byte("SQLite format 3\x00")) {
		return &OpenError{path, NotADatabase, nil}
	}
	if n < 100 {
		return &OpenError{path, Truncated, nil}
	}
	return nil
}

// orphaned refuses to begin a store beside the log of one that is gone: SQLite would remove the log, with what only the log may have, or take it for the new store's.
func orphaned(path, abs string) error {
	st, err := os.Stat(abs + "-wal")
	if err != nil || st.Size() == 0 {
		return nil
	}
	return &OpenError{path, Orphaned, fmt.Errorf("%[1]s-wal: put the store back beside it, or move %[1]s-wal and %[1]s-shm away to begin a new one", path)}
}

// migrate brings the database to this version's schema, in one transaction: all of it, or none. It refuses a database that is another program's, and
// one that a newer whittle wrote, before it writes anything.
func (s *Store) migrate(ctx context.Context) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var id, version, tables int
	if err := tx.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if id != applicationID && (tables > 0 || id != 0 || version != 0) {
		return &OpenError{s.Path, Foreign, nil}
	}
	if version > len(migrations) {
		return &OpenError{s.Path, Newer, fmt.Errorf("schema %d, this one knows %d", version, len(migrations))}
	}
	if version == len(migrations) {
		return nil
	}
	for ; version < len(migrations); version++ {
		if _, err := tx.ExecContext(ctx, migrations[version]); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, version)); err != nil {
		return err
	}
	return tx.Commit()
}

// openError gives SQLite's complaints about a file our words.
func (s *Store) openError(err error) error {
	var oe *OpenError
	if errors.As(err, &oe) {
		return err
	}
	var se sqlite3.Error
	if errors.As(err, &se) {
		switch se.Code {
		case sqlite3.ErrNotADB:
			return &OpenError{s.Path, NotADatabase, nil}
		case sqlite3.ErrCorrupt:
			return &OpenError{s.Path, Truncated, err}
		case sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm:
			return &OpenError{s.Path, NotWritable, err}
		case sqlite3.ErrBusy, sqlite3.ErrLocked:
			return &OpenError{s.Path, Locked, nil}
		}
	}
	return s.wrap(err)
}

// wrap gives errors of a running store their types.
func (s *Store) wrap(err error) error {
	var se sqlite3.Error
	if errors.As(err, &se) {
		switch se.Code {
		case sqlite3.ErrFull:
			return &FullError{s.Path, err}
		case sqlite3.ErrIoErr:
			if full(se.SystemErrno) {
				return &FullError{s.Path, err}
			}
			return &OpenError{s.Path, Unreachable, fmt.Errorf("%w, code %d", err, se.ExtendedCode)}
		case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
			return &OpenError{s.Path, Truncated, err}
		}
	}
	return err
}

// full reports whether an error of the system says that there is no space.
func full(e syscall.Errno) bool {
	return e == syscall.ENOSPC || e == syscall.EDQUOT || e == syscall.EFBIG
}

// Close ends the use of the store.
func (s *Store) Close() error {
	err := errors.Join(s.read.Close(), s.write.Close(), s.enc.Close())
	s.dec.Close()
	return err
}

// LimitPages bounds the size of the database, in pages of 4 KiB; writes beyond it fail with *FullError.
func (s *Store) LimitPages(ctx context.Context, pages int) error {
	_, err := s.write.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	return s.wrap(err)
}

// tx runs f in a write transaction.
func (s *Store) tx(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return s.wrap(err)
	}
	return s.wrap(tx.Commit())
}

func (s *Store) now() int64 { return s.Now().UnixMilli() }

// Key is the key of bytes: their SHA-256.
func Key(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// PutBlob stores bytes by content and returns their key.
func (s *Store) PutBlob(ctx context.Context, data []byte) (key string, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		key, err = s.putBlob(ctx, tx, data)
		return err
	})
	return key, err
}

func (s *Store) putBlob(ctx context.Context, tx *sql.Tx, data []byte) (string, error) {
	key := Key(data)
	var one int
	err := tx.QueryRowContext(ctx, "SELECT 1 FROM blobs WHERE key = ?", key).Scan(&one)
	if err == nil {
		return key, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	// EncodeAll and DecodeAll may be called from many goroutines; the streaming methods may not.
	_, err = tx.ExecContext(ctx, "INSERT INTO blobs(key, size, data) VALUES (?, ?, ?)", key, len(data), s.enc.EncodeAll(data, nil))
	return key, err
}

// Blob reads bytes by key and verifies them.
func (s *Store) Blob(ctx context.Context, key string) ([]byte, error) {
	var size int64
	var data []byte
	err := s.read.QueryRowContext(ctx, "SELECT size, data FROM blobs WHERE key = ?", key).Scan(&size, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, &NotFoundError{"blob", key}
	}
	if err != nil {
		return nil, s.wrap(err)
	}
	return decodeBlob(s.dec, key, size, data)
}

// decodeBlob decompresses a stored blob and checks it against its key.
func decodeBlob(dec *zstd.Decoder, key string, size int64, data []byte) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(data); err != nil {
		return nil, &CorruptError{"blob", key, "not zstd: " + err.Error()}
	}
	if h.HasFCS && h.FrameContentSize != uint64(size) {
		return nil, &CorruptError{"blob", key, fmt.Sprintf("holds %d bytes, %d noted", h.FrameContentSize, size)}
	}
	out, err := dec.DecodeAll(data, nil)
	if err != nil {
		return nil, &CorruptError{"blob", key, err.Error()}
	}
	if int64(len(out)) != size || Key(out) != key {
		return nil, &CorruptError{"blob", key, "the bytes are not those of the key"}
	}
	return out, nil
}

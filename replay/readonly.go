package replay

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// More reasons why a file cannot be read as a store.
const (
	Older       Reason = "written by an older whittle, and only looked at: any other command of this one brings it up to date"
	Missing     Reason = "there is no such file"
	NotReadable Reason = "not readable"
)

// A Reader is a store that is only looked at: it never writes to the file, and never brings it to another schema. SQLite holds it to that, too. Its
// methods may be called from many goroutines, while others write.
type Reader struct {
	Path string

	s    *Store                         // whose reading half is all that there is
	seen func(query string, args []any) // of each query, for tests; nil: nobody looks
}

// readDriver is SQLite with severity, which is what RateGroups was given.
const readDriver = "sqlite3_whittle_reader"

// rateGroup says how bad a group is; nil: nobody does.
var rateGroup func(features string, members, origins int, rate float64) int

// RateGroups sets what a Reader's groups are rated by, from 0 to 100: their example's features, their members and the places that these came from, and the share of
// the example's runs that fail. Package triage does it when it is linked in; without it all are 0.
func RateGroups(f func(features string, members, origins int, rate float64) int) { rateGroup = f }

func init() {
	sql.Register(readDriver, &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		return c.RegisterFunc("severity", func(features string, members, origins int, rate float64) int {
			if rateGroup == nil {
				return 0
			}
			return rateGroup(features, members, origins, rate)
		}, true)
	}})
}

// OpenReadOnly opens the store at path for looking at it. Errors about the file are *OpenError; one with a schema that is not this version's is refused.
func OpenReadOnly(ctx context.Context, path string) (*Reader, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, &OpenError{path, NotReadable, err}
	}
	if err := look(path, abs); err != nil {
		return nil, err
	}
	s := &Store{Path: path}
	q := url.Values{"mode": {"ro"}, "_query_only": {"on"}, "_busy_timeout": {"10000"}}
	if s.read, err = sql.Open(readDriver, (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String()); err != nil {
		return nil, &OpenError{path, NotReadable, err}
	}
	s.read.SetMaxOpenConns(4)
	s.read.SetMaxIdleConns(4)
	if s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30)); err != nil {
		s.read.Close()
		return nil, err
	}
	r := &Reader{Path: path, s: s}
	if err := r.known(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// look says what is wrong with the file before SQLite does.
func look(path, abs string) error {
	st, err := os.Stat(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &OpenError{path, Missing, nil}
	case err != nil:
		return &OpenError{path, NotReadable, err}
	case st.IsDir():
		return &OpenError{path, IsDirectory, nil}
	case !st.Mode().IsRegular():
		return &OpenError{path, NotADatabase, nil}
	}
	f, err := os.Open(abs)
	if err != nil {
		return &OpenError{path, NotReadable, err}
	}
	defer f.Close()
	head := make([]byte, 16)
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, []byte("SQLite format 3\x00")) {
		return &OpenError{path, NotADatabase, nil}
	}
	return nil
}

// known refuses what is not a store of this version's schema.
func (r *Reader) known(ctx context.Context) error {
	var id, version int
	err := r.s.read.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id)
	if err == nil {
		err = r.s.read.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	}
	var oe *OpenError
	switch {
	case err != nil:
		if err = r.s.openError(err); errors.As(err, &oe) && oe.Why == NotWritable {
			oe.Why = NotReadable
		}
		return err
	case id != applicationID:
		return &OpenError{r.Path, Foreign, nil}
	case version > len(migrations):
		return &OpenError{r.Path, Newer, fmt.Errorf("schema %d, this one knows %d", version, len(migrations))}
	case version < len(migrations):
		return &OpenError{r.Path, Older, fmt.Errorf("schema %d, this one reads %d", version, len(migrations))}
	}
	return nil
}

// Close ends the use of the store.
func (r *Reader) Close() error {
	err := r.s.read.Close()
	r.s.dec.Close()
	return err
}

// Blob reads bytes by key and verifies them: see Store.Blob.
func (r *Reader) Blob(ctx context.Context, key string) ([]byte, error) { return r.s.Blob(ctx, key) }

// Graph reads a graph's text: see Store.Graph.
func (r *Reader) Graph(ctx context.Context, hash string) (string, error) { return r.s.Graph(ctx, hash) }

// Result reads what a search found: see Store.Result.
func (r *Reader) Result(ctx context.Context, id int64) (Result, error) { return r.s.Result(ctx, id) }

// Minification reads a search with its texts: see Store.Minification.
func (r *Reader) Minification(ctx context.Context, id int64) (Minification, error) {
	return r.s.Minification(ctx, id)
}

// Start is the repro that a search began with.
func (r *Reader) Start(ctx context.Context, id int64) (string, error) {
	return r.s.blobBy(ctx, "minification", "SELECT start FROM minifications WHERE id = ?", id)
}

// Findings lists the other failures that a search met: see Store.Findings.
func (r *Reader) Findings(ctx context.Context, minification int64) ([]Finding, error) {
	return r.s.Findings(ctx, minification)
}

// Trials are the answers of a bisection in the order in which they came: see Store.Trials.
func (r *Reader) Trials(ctx context.Context, bisection int64) ([]BisectionTrial, error) {
	return r.s.Trials(ctx, bisection)
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, r *Reader, scan func(rows *sql.Rows, t *T) error, query string, args ...any) ([]T, error) {
	if r.seen != nil {
		r.seen(query, args)
	}
	rows, err := r.s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, r.s.wrap(err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var t T
		if err := scan(rows, &t); err != nil {
			return nil, r.s.wrap(err)
		}
		out = append(out, t)
	}
	return out, r.s.wrap(rows.Err())
}

// one reads the row of a query that has one at most: a *NotFoundError of table and key where it has none.
func one[T any](ctx context.Context, r *Reader, table string, key any, scan func(rows *sql.Rows, t *T) error, query string, args ...any) (T, error) {
	all, err := collect(ctx, r, scan, query, args...)
	if err != nil || len(all) == 0 {
		var none T
		if err == nil {
			err = &NotFoundError{table, fmt.Sprint(key)}
		}
		return none, err
	}
	return all[0], nil
}

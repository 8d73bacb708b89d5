package replay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// What the store keeps where nobody says otherwise: see GCOptions.
const (
	KeepFor  = 30 * 24 * time.Hour
	KeepSize = 2 << 30
)

// GCOptions say what is old and what is large.
type GCOptions struct {
	OlderThan time.Duration // of what may go: older than this
	MaxSize   int64         // of the file, in bytes: where it is larger, younger answers go too, the oldest first; 0 => no bound
	DryRun    bool          // say what would go, and leave it
	Vacuum    bool          // give the space back to the disk; otherwise it is used again by what comes
}

// GCReport says how much went, or would go.
type GCReport struct {
	Queries  int   `json:"queries"`
	Failures int   `json:"failures"`
	Compiles int   `json:"compiles"`
	Graphs   int   `json:"graphs"`
	Tensors  int   `json:"tensors"`
	Blobs    int   `json:"blobs"`
	Before   int64 `json:"before"` // bytes in use
	After    int64 `json:"after"`
}

// GC drops what is old and nobody needs:
//
//   - answers to queries, unless a search that can be resumed asked or used them;
//   - recorded compiles;
//   - failures of which a younger one with the same signature is there, unless their group is known by them: a report needs one;
//   - graphs, tensors and other content that nothing names any more.
//
// Searches with their journals, results and findings, frames, bisections, and the latest failure of each signature stay, however old. All
// of it goes, or nothing.
func (s *Store) GC(ctx context.Context, o GCOptions) (r GCReport, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		g := gc{ctx: ctx, tx: tx, report: &r}
		if r.Before, err = g.size(); err != nil {
			return err
		}
		if err := g.drop(s.Now().Add(-o.OlderThan).UnixMilli(), o.MaxSize); err != nil {
			return err
		}
		if r.After, err = g.size(); err != nil {
			return err
		}
		if o.DryRun {
			return errDry
		}
		return nil
	})
	if err == errDry {
		return r, nil
	}
	if err != nil || !o.Vacuum {
		return r, err
	}
	for _, q := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := s.write.ExecContext(ctx, q); err != nil {
			return r, s.wrap(err)
		}
	}
	return r, nil
}

// errDry takes a dry run's transaction back.
var errDry = fmt.Errorf("a dry run")

// Size is how many bytes of the file are in use.
func (s *Store) Size(ctx context.Context) (int64, error) {
	var n int64
	err := s.read.QueryRowContext(ctx, sizeSQL).Scan(&n)
	return n, s.wrap(err)
}

const sizeSQL = "SELECT (p.page_count - f.freelist_count) * z.page_size FROM pragma_page_count() p, pragma_freelist_count() f, pragma_page_size() z"

// gc is one collection, in one transaction. What it keeps is marked first (needed), then rows go, then what only they named: content is shared, so that
// it is nobody's own.
type gc struct {
	ctx    context.Context
	tx     *sql.Tx
	report *GCReport
}

func (g *gc) size() (n int64, err error) {
	err = g.tx.QueryRowContext(g.ctx, sizeSQL).Scan(&n)
	return n, err
}

// exec adds the number of rows that a statement dropped to n.
func (g *gc) exec(n *int, query string, args ...any) error {
	res, err := g.tx.ExecContext(g.ctx, query, args...)
	if err != nil {
		return err
	}
	k, err := res.RowsAffected()
	*n += int(k)
	return err
}

// drop drops what is older than a time, and then younger answers until no more than most bytes are in use.
func (g *gc) drop(before, most int64) error {
	if err := g.needed(); err != nil {
		return err
	}
	r := g.report
	if err := g.exec(&r.Queries, "DELETE FROM queries WHERE created < ? AND "+unneeded, before); err != nil {
		return err
	}
	if err := g.exec(&r.Failures, `DELETE FROM failures WHERE created < ? AND id NOT IN (SELECT max(id) FROM failures GROUP BY stage, type, message, frame, output)
		AND id NOT IN (SELECT failure FROM keys) AND id NOT IN (SELECT max(failure) FROM members GROUP BY "group")`, before); err != nil {
		return err
	}
	if err := g.exec(&r.Compiles, "DELETE FROM compiles WHERE created < ? AND id NOT IN (SELECT compile FROM failures WHERE compile IS NOT NULL)", before); err != nil {
		return err
	}
	if err := g.unnamed(); err != nil || most <= 0 {
		return err
	}
	// A tenth of the answers at a time: how much space they give back shows only afterwards.
	for {
		n, err := g.size()
		if err != nil || n <= most {
			return err
		}
		was := r.Queries
		if err := g.exec(&r.Queries, `DELETE FROM queries WHERE (graph, inputs, config, fingerprint) IN
			(SELECT graph, inputs, config, fingerprint FROM queries WHERE `+unneeded+` ORDER BY created LIMIT max(100, (SELECT count(*) / 10 FROM queries)))`); err != nil {
			return err
		}
		if r.Queries == was {
			return nil // the rest is needed
		}
	}
}

// unneeded is true of an answer that no search needs which can be resumed: see needed.
const unneeded = `NOT EXISTS (SELECT 1 FROM temp.resumable r WHERE queries.created BETWEEN r.began AND r.until)
	AND candidate_of(graph, inputs, config) NOT IN (SELECT candidate FROM temp.wanted)`

// lasting is how long a search may ask without its journal saying so: answers come before the steps that use them.
const lasting = 24 * time.Hour

// needed notes what searches that can be resumed need: what their journals name, whoever asked it, and all that was asked since they
// began, for a day, or as long as they run.
func (g *gc) needed() error {
	for _, q := range []string{
		"DROP TABLE IF EXISTS temp.resumable", "DROP TABLE IF EXISTS temp.wanted", "CREATE TEMP TABLE resumable (id INTEGER, began INTEGER, until INTEGER)",
	} {
		if _, err := g.tx.ExecContext(g.ctx, q); err != nil {
			return err
		}
	}
	type search struct {
		id, began int64
		owner     sql.NullString
	}
	rows, err := g.tx.QueryContext(g.ctx, `SELECT id, created, owner FROM minifications WHERE finished IS NULL
		AND id NOT IN (SELECT minification FROM steps WHERE reduction = '`+EndNotFailing+`')`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var open []search
	for rows.Next() {
		var s search
		if err := rows.Scan(&s.id, &s.began, &s.owner); err != nil {
			return err
		}
		open = append(open, s)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, s := range open {
		until := s.began + lasting.Milliseconds()
		if s.owner.Valid && alive(s.owner.String) {
			until = math.MaxInt64
		}
		if _, err := g.tx.ExecContext(g.ctx, "INSERT INTO temp.resumable VALUES (?,?,?)", s.id, s.began, until); err != nil {
			return err
		}
	}
	_, err = g.tx.ExecContext(g.ctx, "CREATE TEMP TABLE wanted AS SELECT DISTINCT candidate FROM main.steps WHERE minification IN (SELECT id FROM temp.resumable)")
	return err
}

// unnamed drops content that nothing names any more: tensors are named by failures, graphs and blobs by whatever refers to them.
func (g *gc) unnamed() error {
	r := g.report
	if err := g.exec(&r.Tensors, "DELETE FROM tensors WHERE key NOT IN (SELECT j.value FROM failures, json_each(failures.inputs) j WHERE j.value IS NOT NULL)"); err != nil {
		return err
	}
	for _, t := range []struct {
		table, key string
		n          *int
	}{{"graphs", "hash", &r.Graphs}, {"blobs", "key", &r.Blobs}} {
		refs, err := g.references(t.table)
		if err != nil {
			return err
		}
		query := "DELETE FROM " + t.table + " WHERE true"
		for _, ref := range refs {
			query += fmt.Sprintf(" AND %s NOT IN (SELECT %s FROM %s WHERE %[2]s IS NOT NULL)", t.key, ref[1], ref[0])
		}
		if err := g.exec(t.n, query); err != nil {
			return err
		}
	}
	return nil
}

// references are the columns that name rows of a table, by the schema itself: table and column.
func (g *gc) references(to string) ([][2]string, error) {
	rows, err := g.tx.QueryContext(g.ctx, `SELECT m.name, f."from" FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND f."table" = ?`, to)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out [][2]string
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, err
		}
		out = append(out, [2]string{`"` + table + `"`, `"` + column + `"`})
	}
	slices.SortFunc(out, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(out), rows.Err()
}

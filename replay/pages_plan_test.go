package replay

import (
	"context"
	"strings"
	"testing"
)

// SetSeen lets a test of another package look at the queries of a reader.
func (r *Reader) SetSeen(f func(query string, args []any)) { r.seen = f }

// Plan is what SQLite says about how it runs a query.
func (r *Reader) Plan(t *testing.T, query string, args []any) []string {
	t.Helper()
	rows, err := r.s.read.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimSpace(detail))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Write tries to write through the reader.
func (r *Reader) Write(query string) error {
	_, err := r.s.read.Exec(query)
	return err
}

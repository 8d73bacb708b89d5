package replay

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"whittle/replay/files"
)

// CheckReport is what Check found.
type CheckReport struct {
	Blobs    int      `json:"blobs"`
	Tensors  int      `json:"tensors"`
	Rows     int      `json:"rows"` // in all tables
	Problems []string `json:"problems"`
}

// Check verifies the file's structure, every foreign key and every hash. Damage is reported, not returned as an error.
func (s *Store) Check(ctx context.Context) (CheckReport, error) {
	var r CheckReport
	problem := func(format string, args ...any) { r.Problems = append(r.Problems, fmt.Sprintf(format, args...)) }
	if err := s.each(ctx, "PRAGMA integrity_check", func(cols []any) {
		if t := fmt.Sprint(cols[0]); t != "ok" {
			problem("integrity: %s", t)
		}
	}); err != nil {
		problem("integrity: %v", err)
		return r, nil
	}
	if err := s.each(ctx, "PRAGMA foreign_key_check", func(cols []any) {
		problem("row %v of %v names a missing row of %v", cols[1], cols[0], cols[2])
	}); err != nil {
		return r, err
	}
	rows, err := s.read.QueryContext(ctx, "SELECT key, size, data FROM blobs")
	if err != nil {
		return r, s.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var size int64
		var data []byte
		if err := rows.Scan(&key, &size, &data); err != nil {
			return r, s.wrap(err)
		}
		r.Blobs++
		if _, err := decodeBlob(s.dec, key, size, data); err != nil {
			problem("%v", err)
		}
	}
	if err := rows.Err(); err != nil {
		problem("blobs: %v", err)
	}
	var keys []string
	if err := s.each(ctx, "SELECT key FROM tensors", func(cols []any) { keys = append(keys, fmt.Sprint(cols[0])) }); err != nil {
		return r, err
	}
	for _, k := range keys {
		r.Tensors++
		if _, err := s.Tensor(ctx, k); err != nil {
			problem("%v", err)
		}
	}
	var tables []string
	if err := s.each(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", func(cols []any) { tables = append(tables, fmt.Sprint(cols[0])) }); err != nil {
		return r, err
	}
	for _, t := range tables {
		var n int
		if err := s.read.QueryRowContext(ctx, "SELECT count(*) FROM "+t).Scan(&n); err != nil {
			return r, s.wrap(err)
		}
		r.Rows += n
	}
	var ids []int64
	if err := s.each(ctx, "SELECT minification FROM results", func(cols []any) {
		id, _ := cols[0].(int64)
		ids = append(ids, id)
	}); err != nil {
		return r, err
	}
	for _, id := range ids {
		var ce *CorruptError
		if _, err := s.Result(ctx, id); errors.As(err, &ce) && ce.Table != "blob" { // blobs are checked above
			problem("%v", err)
		}
	}
	return r, s.jsonColumns(ctx, problem)
}

// jsonColumns checks that what should be JSON is. A step without an edit has an empty text, and so has the answer of a command.
func (s *Store) jsonColumns(ctx context.Context, problem func(string, ...any)) error {
	for _, c := range []string{"queries.outcome", "minifications.signature", "findings.signature", "trials.outcome", "failures.inputs", "failures.config", "compiles.config",
		"results.config", "results.workaround", "results.free", "results.off", "results.start_cost", "results.end_cost", "steps.change"} {
		t, col, _ := strings.Cut(c, ".")
		if err := s.each(ctx, "SELECT "+col+" FROM "+t, func(cols []any) {
			if text := fmt.Sprint(cols[0]); !json.Valid([]byte(text)) && !(text == "" && (c == "steps.change" || c == "trials.outcome")) {
				problem("%s: %.40q is not JSON", c, cols[0])
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for every row of a query.
func (s *Store) each(ctx context.Context, query string, f func(cols []any), args ...any) error {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return s.wrap(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		cols := make([]any, len(names))
		ptrs := make([]any, len(names))
		for i := range cols {
			ptrs[i] = &cols[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			return s.wrap(err)
		}
		f(cols)
	}
	return s.wrap(rows.Err())
}

// Entry is one line of a listing.
type Entry struct {
	Kind    string    `json:"kind"` // failure, minification, finding, bisection, group, frame, compile
	ID      int64     `json:"id"`
	Created time.Time `json:"created"`
	Summary string    `json:"summary"`
}

// listings are the kinds of records in the order in which they are listed, with id, time in milliseconds, and what says in a line what it is.
var listings = []struct{ kind, query string }{
	{"failure", `SELECT id, created, json_object('stage', stage, 'type', type, 'message', message, 'frame', frame, 'output', output) FROM failures`},
	{"minification", ""}, // see Minifications
	{"finding", `SELECT id, created, signature FROM findings`},
	{"bisection", `SELECT id, created, kind || ', ' || subject || ': ' || CASE result WHEN '' THEN 'not finished' ELSE result END FROM bisections`},
	{"group", `SELECT id, created, state || ': ' || title FROM groups`},
	{"frame", `SELECT id, created, name FROM frames`},
	{"compile", `SELECT id, created, backend || ': ' || status FROM compiles`},
}

// List lists rows of one kind ("" for all), oldest first.
func (s *Store) List(ctx context.Context, kind string) ([]Entry, error) {
	var out []Entry
	known := false
	for _, l := range listings {
		if kind != "" && kind != l.kind {
			continue
		}
		known = true
		if l.query == "" {
			ms, err := s.Minifications(ctx)
			if err != nil {
				return nil, err
			}
			for _, m := range ms {
				out = append(out, Entry{l.kind, m.ID, m.Created, m.String()})
			}
			continue
		}
		if err := s.each(ctx, l.query+" ORDER BY id", func(c []any) {
			id, _ := c[0].(int64)
			ms, _ := c[1].(int64)
			text := fmt.Sprint(c[2])
			var sig Signature
			if (l.kind == "failure" || l.kind == "finding") && json.Unmarshal([]byte(text), &sig) == nil {
				text = sig.String()
			}
			out = append(out, Entry{l.kind, id, time.UnixMilli(ms), text})
		}); err != nil {
			return nil, err
		}
	}
	if !known {
		return nil, fmt.Errorf("the store has no records of kind %q", kind)
	}
	return out, nil
}

// Show is the record "kind/id" (or a hash of a blob, graph or tensor) as text for people; with full, what is shortened for them stands there as well:
// the edits of a search's steps as the journal has them, in JSON.
func (s *Store) Show(ctx context.Context, ref string, full bool) (string, error) {
	kind, id, ok := strings.Cut(ref, "/")
	if !ok {
		if text, err := s.Graph(ctx, ref); err == nil {
			return text, nil
		}
		if t, err := s.Tensor(ctx, ref); err == nil {
			return fmt.Sprintf("tensor %s shape %v stride %v offset %d, %d bytes of storage\n", t.DType, t.Shape, t.Stride, t.Offset, len(t.Data)), nil
		}
		b, err := s.Blob(ctx, ref)
		return string(b), err
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return "", fmt.Errorf("%q is no record: want kind/number", ref)
	}
	var b strings.Builder
	switch kind {
	case "failure":
		f, err := s.Failure(ctx, n)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s\n\n%s\n", f.Signature, f.Raw)
		if f.Repro != "" {
			b.WriteString("\n" + f.Repro)
		}
	case "minification":
		m, err := s.Minification(ctx, n)
		if err != nil {
			return "", err
		}
		steps, err := s.Journal(ctx, n)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s\n", m.Signature)
		for _, st := range steps {
			mark := " "
			if st.Taken {
				mark = "*"
			}
			fmt.Fprintf(&b, "%4d %s %-12s %-14s %s\n", st.Seq, mark, st.Reduction, st.Verdict, st.Edit)
			if full && st.Change != "" {
				fmt.Fprintf(&b, "       %s\n", st.Change)
			}
		}
		r, err := s.Result(ctx, n)
		var nf *NotFoundError
		switch {
		case err == nil:
			b.WriteString("\n" + r.Repro)
		case !errors.As(err, &nf):
			return "", err
		case m.Finished:
			b.WriteString("\n" + m.Result)
		}
	case "finding":
		var sig, raw, blob string
		err := s.read.QueryRowContext(ctx, "SELECT signature, raw, repro FROM findings WHERE id = ?", n).Scan(&sig, &raw, &blob)
		if errors.Is(err, sql.ErrNoRows) {
			return "", &NotFoundError{kind, id}
		}
		if err != nil {
			return "", s.wrap(err)
		}
		text, err := s.Blob(ctx, blob)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s\n\n%s\n\n%s", sig, raw, text)
	case "bisection":
		bi, err := s.Bisection(ctx, n)
		if err != nil {
			return "", err
		}
		trials, err := s.Trials(ctx, n)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s of %s\n", bi.Kind, bi.Subject)
		for _, t := range trials {
			verdict, text := t.Verdict, t.Text
			if t.Outcome != nil {
				verdict, text = string(t.Outcome.Status), t.Outcome.Signature.String()
			}
			fmt.Fprintf(&b, "%-40s %-4s %s\n", t.Point, verdict, text)
		}
		fmt.Fprintf(&b, "result: %s\n", bi.Result)
	case "group":
		g, err := s.Group(ctx, n)
		if err != nil {
			return "", err
		}
		events, err := s.GroupEvents(ctx, n)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s: %s\n", g.State, g.Title)
		for _, e := range events {
			fmt.Fprintf(&b, "%s %s %s: %s\n", e.Created.Format("2006-01-02 15:04:05"), e.Actor, e.Kind, e.Text)
		}
	case "frame":
		f, err := s.Frame(ctx, n)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s: %s version %d, %d bytes\n", f.Name, f.Kind, f.Version, len(f.Data))
	default:
		return "", fmt.Errorf("the store has no records of kind %q", kind)
	}
	return b.String(), nil
}

// Export writes the repro of a failure, finding or finished minification ("kind/id") into dir as repro.py and
// returns its path; the plain script of a minification goes beside it as standalone.py, and so do
// the files that it reads. What is in dir and is not of that record stays: see package files.
func (s *Store) Export(ctx context.Context, ref, dir string) (string, error) {
	kind, id, _ := strings.Cut(ref, "/")
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return "", fmt.Errorf("%q is no record: want kind/number", ref)
	}
	var text, plain string
	var beside map[string][]byte
	switch kind {
	case "failure":
		text, err = s.blobBy(ctx, kind, "SELECT repro FROM failures WHERE id = ?", n)
	case "finding":
		text, err = s.blobBy(ctx, kind, "SELECT repro FROM findings WHERE id = ?", n)
	case "minification":
		r, rerr := s.Result(ctx, n)
		var nf *NotFoundError
		switch {
		case rerr == nil:
			text, plain, beside = r.Repro, r.Standalone, r.Files
		case errors.As(rerr, &nf):
			text, err = s.blobBy(ctx, kind, "SELECT result FROM minifications WHERE id = ?", n)
		default:
			err = rerr
		}
	default:
		return "", fmt.Errorf("records of kind %q have no repro", kind)
	}
	if err != nil {
		return "", err
	}
	for p, data := range beside {
		if !filepath.IsLocal(filepath.FromSlash(p)) {
			return "", &CorruptError{"result of minification", id, fmt.Sprintf("the file %q would lie outside of its folder", p)}
		}
		if err := files.Exact(filepath.Join(dir, filepath.FromSlash(p)), data); err != nil {
			return "", err
		}
	}
	if plain != "" {
		if _, err := files.Put(filepath.Join(dir, "standalone.py"), []byte(plain), ref, s.Path); err != nil {
			return "", err
		}
	}
	return files.Put(filepath.Join(dir, "repro.py"), []byte(text), ref, s.Path)
}

package replay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
)

// MergeReport says what a merge brought: what was there already does not count.
type MergeReport struct {
	Failures      int `json:"failures"`
	Minifications int `json:"minifications"`
	Bisections    int `json:"bisections"`
	Queries       int `json:"queries"`
	Findings      int `json:"findings"`
	Compiles      int `json:"compiles"`
	Groups        int `json:"groups"` // that none of ours has failures of
}

// Merge brings what another store has: failures, compiles with their frames, graphs, tensors and other content, answers, searches with their journals,
// results and findings, bisections with their tests, and groups with their members and history. What is known here already comes once, however
// often it is merged; a search or bisection that has ended there, and not here, is taken instead of ours, unless ours runs. A group of which a failure is in one of
// ours goes into that one; of two states, assignees or muted reasons ours stays. What a bot tested night after night is not brought.
//
// The other store is not changed. It is copied first, to the folder of temporary files, and the copy brought to this version's schema, so that it may be of an earlier one, and
// another process may write to it. All of it comes, or nothing.
func (s *Store) Merge(ctx context.Context, path string) (r MergeReport, err error) {
	dir, err := os.MkdirTemp("", "whittle-merge-")
	if err != nil {
		return r, &OpenError{path, NotWritable, err}
	}
	defer os.RemoveAll(dir)
	copied, err := copyStore(ctx, path, filepath.Join(dir, "other.db"))
	if err != nil {
		return r, err
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return r, s.wrap(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "ATTACH ? AS other", copied); err != nil {
		return r, s.wrap(err)
	}
	// The connection is the store's only one for writing: it goes back as it was.
	defer func() {
		_, derr := conn.ExecContext(context.WithoutCancel(ctx), "DETACH other")
		err = errors.Join(err, s.wrap(derr))
	}()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return r, s.wrap(err)
	}
	defer tx.Rollback()
	if err := (&merge{ctx, tx, &r}).run(); err != nil {
		return r, s.wrap(err)
	}
	return r, s.wrap(tx.Commit())
}

// copyStore copies a store, with what its log holds, and brings the copy to this version.
func copyStore(ctx context.Context, path, to string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", &OpenError{path, NotADatabase, err}
	}
	st, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", &OpenError{path, NotADatabase, err}
	case st.IsDir():
		return "", &OpenError{path, IsDirectory, nil}
	}
	f, err := os.Open(abs)
	if err != nil {
		return "", &OpenError{path, NotADatabase, err}
	}
	defer f.Close()
	head := make([]byte, 16)
	if _, err := io.ReadFull(f, head); err != nil || string(head) != "SQLite format 3\x00" {
		return "", &OpenError{path, NotADatabase, nil}
	}
	q := url.Values{"mode": {"ro"}, "_busy_timeout": {"10000"}}
	if _, err := os.Stat(abs + "-wal"); err != nil {
		q.Set("immutable", "1") // nobody has it open: a folder that cannot be written to will do
	}
	db, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String())
	if err != nil {
		return "", &OpenError{path, NotADatabase, err}
	}
	defer db.Close()
	as := &Store{Path: path}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return "", as.openError(err)
	}
	s, err := Open(ctx, to)
	var oe *OpenError
	if errors.As(err, &oe) {
		oe.Path = path
	}
	if err != nil {
		return "", err
	}
	return to, errors.Join(s.identify(ctx), s.Close())
}

// identify gives failures of earlier versions their identity.
func (s *Store) identify(ctx context.Context) error {
	return s.tx(ctx, func(tx *sql.Tx) error { return identify(ctx, tx) })
}

func identify(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT f.id, stage, type, message, frame, output, raw, config, inputs, coalesce(repro, ''), origin, created FROM failures f WHERE identity IS NULL ORDER BY id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	ids := map[int64]string{}
	seen := map[string]int{}
	for rows.Next() {
		var id, ms int64
		var v [10]string
		if err := rows.Scan(&id, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9], &ms); err != nil {
			return err
		}
		parts := append([]string{"before schema 5", strconv.FormatInt(ms, 10)}, v[:]...)
		key := HashOf(parts...)
		seen[key]++
		ids[id] = HashOf(append(parts, strconv.Itoa(seen[key]))...)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for id, identity := range ids {
		if _, err := tx.ExecContext(ctx, "UPDATE OR IGNORE failures SET identity = ? WHERE id = ?", identity, id); err != nil {
			return err
		}
	}
	return nil
}

// merge is one merge, in one transaction: the other store is attached as other. Rows that refer to each other by number come with a table
// from numbers there to numbers here.
type merge struct {
	ctx    context.Context
	tx     *sql.Tx
	report *MergeReport
}

func (m *merge) exec(n *int, query string, args ...any) error {
	res, err := m.tx.ExecContext(m.ctx, query, args...)
	if err != nil {
		return fmt.Errorf("%.60s: %w", query, err)
	}
	if n != nil {
		k, err := res.RowsAffected()
		*n += int(k)
		return err
	}
	return nil
}

func (m *merge) run() error {
	if err := identify(m.ctx, m.tx); err != nil {
		return err
	}
	r := m.report
	for _, t := range []string{"frames", "compiles", "minifications", "bisections", "failures", "groups"} {
		if err := m.exec(nil, "DROP TABLE IF EXISTS temp.of_"+t); err != nil {
			return err
		}
		if err := m.exec(nil, "CREATE TEMP TABLE of_"+t+" (there INTEGER PRIMARY KEY, here INTEGER NOT NULL)"); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		n     *int
		query string
	}{
		{nil, "INSERT OR IGNORE INTO main.blobs SELECT * FROM other.blobs"},
		{nil, "INSERT OR IGNORE INTO main.tensors SELECT * FROM other.tensors"},
		{nil, "INSERT OR IGNORE INTO main.graphs SELECT * FROM other.graphs"},
		{&r.Queries, "INSERT OR IGNORE INTO main.queries SELECT * FROM other.queries"},

		{nil, `INSERT INTO main.frames(kind, version, name, blob, created) SELECT kind, version, name, blob, created FROM other.frames o
			WHERE NOT EXISTS (SELECT 1 FROM main.frames f WHERE (f.kind, f.version, f.name, f.blob, f.created) = (o.kind, o.version, o.name, o.blob, o.created)) GROUP BY kind, version, name, blob, created`},
		{nil, `INSERT INTO temp.of_frames SELECT o.id, min(f.id) FROM other.frames o JOIN main.frames f ON (f.kind, f.version, f.name, f.blob, f.created) = (o.kind, o.version, o.name, o.blob, o.created) GROUP BY o.id`},

		{&r.Compiles, `INSERT INTO main.compiles(frame, graph, backend, config, fingerprint, status, ms, created) SELECT x.here, graph, backend, config, fingerprint, status, ms, created
			FROM other.compiles o LEFT JOIN temp.of_frames x ON x.there = o.frame WHERE NOT EXISTS (SELECT 1 FROM main.compiles c WHERE ` + sameCompile + `) GROUP BY x.here, graph, backend, config, fingerprint, status, ms, created`},
		{nil, `INSERT INTO temp.of_compiles SELECT o.id, min(c.id) FROM other.compiles o LEFT JOIN temp.of_frames x ON x.there = o.frame JOIN main.compiles c ON ` + sameCompile + ` GROUP BY o.id`},
	} {
		if err := m.exec(step.n, step.query); err != nil {
			return err
		}
	}
	for _, f := range []func() error{m.minifications, m.bisections, m.failures, m.groups} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

const sameCompile = `(c.created, c.backend, c.config, c.fingerprint, c.status, c.ms) = (o.created, o.backend, o.config, o.fingerprint, o.status, o.ms) AND c.graph IS o.graph AND c.frame IS x.here`

// minifications brings searches. One of both is that which ended; nothing is taken from a process that is at it.
func (m *merge) minifications() error {
	rows, err := m.tx.QueryContext(m.ctx, `SELECT h.id, h.owner FROM main.minifications h JOIN other.minifications o ON o.key = h.key WHERE h.finished IS NULL AND o.finished IS NOT NULL`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var behind []int64
	for rows.Next() {
		var id int64
		var owner sql.NullString
		if err := rows.Scan(&id, &owner); err != nil {
			return err
		}
		if !owner.Valid || !alive(owner.String) {
			behind = append(behind, id)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	r := m.report
	if err := m.exec(nil, "DROP TABLE IF EXISTS temp.taken"); err != nil {
		return err
	}
	for _, step := range []struct {
		n     *int
		query string
		args  []any
	}{
		{nil, "CREATE TEMP TABLE taken (there INTEGER PRIMARY KEY, here INTEGER)", nil}, // those whose journal and result come
		{nil, "INSERT INTO temp.taken SELECT o.id, NULL FROM other.minifications o WHERE o.key NOT IN (SELECT key FROM main.minifications)", nil},
		{nil, "INSERT INTO temp.taken SELECT o.id, h.id FROM other.minifications o JOIN main.minifications h ON h.key = o.key WHERE h.id IN (SELECT value FROM json_each(?))", []any{jsonText(behind)}},
		{&r.Minifications, `INSERT INTO main.minifications(key, start, result, signature, certificate, created, finished, start_calls, calls)
			SELECT key, start, result, signature, certificate, created, finished, start_calls, calls FROM other.minifications WHERE id IN (SELECT there FROM temp.taken WHERE here IS NULL) ORDER BY id`, nil},
		{&r.Minifications, `UPDATE main.minifications AS h SET (start, result, signature, certificate, finished, start_calls, calls, owner) =
			(SELECT o.start, o.result, o.signature, o.certificate, o.finished, o.start_calls, o.calls, NULL FROM other.minifications o WHERE o.key = h.key) WHERE id IN (SELECT here FROM temp.taken)`, nil},
		{nil, "INSERT INTO temp.of_minifications SELECT o.id, h.id FROM other.minifications o JOIN main.minifications h ON h.key = o.key", nil},
		{nil, "UPDATE temp.taken SET here = (SELECT here FROM temp.of_minifications x WHERE x.there = taken.there)", nil},
		{nil, "DELETE FROM main.steps WHERE minification IN (SELECT here FROM temp.taken)", nil},
		{nil, `INSERT INTO main.steps(minification, seq, parent, reduction, candidate, edit, verdict, cached, taken, ms, change, calls)
			SELECT t.here, seq, parent, reduction, candidate, edit, verdict, cached, taken, ms, change, calls FROM other.steps o JOIN temp.taken t ON t.there = o.minification`, nil},
		// A search that ended and was stopped before its result was stored has one only there.
		{nil, `INSERT OR IGNORE INTO temp.taken SELECT x.there, x.here FROM temp.of_minifications x WHERE x.here NOT IN (SELECT minification FROM main.results)
			AND x.here IN (SELECT id FROM main.minifications WHERE finished IS NOT NULL)`, nil},
		{nil, "DELETE FROM main.results WHERE minification IN (SELECT here FROM temp.taken) AND EXISTS (SELECT 1 FROM other.results o JOIN temp.taken t ON t.there = o.minification WHERE t.here = results.minification)", nil},
		{nil, `INSERT OR IGNORE INTO main.results(minification, repro, standalone, error, environment, certificate, engine, launcher, config, workaround, free, start_cost, end_cost, complete, queries, cache_hits, rejected, seconds,
			confirmed, runs, rate, false_runs, false_rate, stopped, off, created) SELECT t.here, repro, standalone, error, environment, certificate, engine, launcher, config, workaround, free, start_cost, end_cost, complete, queries, cache_hits, rejected, seconds,
			confirmed, runs, rate, false_runs, false_rate, stopped, off, created FROM other.results o JOIN temp.taken t ON t.there = o.minification`, nil},
		{nil, "INSERT OR IGNORE INTO main.result_files SELECT t.here, path, blob FROM other.result_files o JOIN temp.taken t ON t.there = o.minification", nil},
		{&r.Findings, `INSERT INTO main.findings(minification, signature, raw, repro, created) SELECT x.here, o.signature, o.raw, o.repro, o.created FROM other.findings o LEFT JOIN temp.of_minifications x ON x.there = o.minification
			WHERE NOT EXISTS (SELECT 1 FROM main.findings f WHERE f.minification IS x.here AND f.signature = o.signature AND (x.here IS NOT NULL OR (f.raw, f.repro, f.created) = (o.raw, o.repro, o.created))) ORDER BY o.id`, nil},
	} {
		if err := m.exec(step.n, step.query, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// bisections brings those, and the answers that are new to ours: the first answer to a question stays.
func (m *merge) bisections() error {
	for _, step := range []struct {
		n     *int
		query string
	}{
		{&m.report.Bisections, "INSERT INTO main.bisections(key, kind, subject, result, axis, created, finished) SELECT key, kind, subject, result, axis, created, finished FROM other.bisections WHERE key NOT IN (SELECT key FROM main.bisections) ORDER BY id"},
		{&m.report.Bisections, `UPDATE main.bisections AS h SET (result, finished) = (SELECT o.result, o.finished FROM other.bisections o WHERE o.key = h.key)
			WHERE finished IS NULL AND key IN (SELECT key FROM other.bisections WHERE finished IS NOT NULL)`},
		{nil, "INSERT INTO temp.of_bisections SELECT o.id, h.id FROM other.bisections o JOIN main.bisections h ON h.key = o.key"},
		{nil, `INSERT OR IGNORE INTO main.trials(bisection, point, attempt, verdict, text, outcome, ms, created)
			SELECT x.here, point, attempt, verdict, text, outcome, ms, created FROM other.trials o JOIN temp.of_bisections x ON x.there = o.bisection`},
	} {
		if err := m.exec(step.n, step.query); err != nil {
			return err
		}
	}
	return nil
}

// failures brings those of an identity that is new, and of the others what is known only there.
func (m *merge) failures() error {
	for _, step := range []struct {
		n     *int
		query string
	}{
		{&m.report.Failures, `INSERT INTO main.failures(compile, graph, stage, type, message, frame, output, raw, config, inputs, repro, created, minification, bisection, origin, decides, identity)
			SELECT c.here, o.graph, stage, type, message, frame, output, raw, config, inputs, repro, created, m.here, b.here, origin, decides, identity
			FROM other.failures o LEFT JOIN temp.of_compiles c ON c.there = o.compile LEFT JOIN temp.of_minifications m ON m.there = o.minification LEFT JOIN temp.of_bisections b ON b.there = o.bisection
			WHERE o.identity NOT IN (SELECT identity FROM main.failures WHERE identity IS NOT NULL) ORDER BY o.id`},
		{nil, "INSERT INTO temp.of_failures SELECT o.id, h.id FROM other.failures o JOIN main.failures h ON h.identity = o.identity"},
		{nil, `UPDATE main.members SET placed = 0 WHERE failure IN (SELECT h.id FROM temp.of_failures x JOIN main.failures h ON h.id = x.here JOIN other.failures o ON o.id = x.there
			WHERE h.minification IS NULL AND o.minification IS NOT NULL OR h.bisection IS NULL AND o.bisection IS NOT NULL OR h.decides = '' AND o.decides <> '')`},
		{nil, `UPDATE main.failures AS h SET
			minification = coalesce(h.minification, (SELECT m.here FROM temp.of_failures x JOIN other.failures o ON o.id = x.there JOIN temp.of_minifications m ON m.there = o.minification WHERE x.here = h.id)),
			bisection = coalesce(h.bisection, (SELECT b.here FROM temp.of_failures x JOIN other.failures o ON o.id = x.there JOIN temp.of_bisections b ON b.there = o.bisection WHERE x.here = h.id)),
			decides = CASE WHEN h.decides <> '' THEN h.decides ELSE (SELECT o.decides FROM temp.of_failures x JOIN other.failures o ON o.id = x.there WHERE x.here = h.id) END
			WHERE h.id IN (SELECT here FROM temp.of_failures)`},
	} {
		if err := m.exec(step.n, step.query); err != nil {
			return err
		}
	}
	return nil
}

// groups brings groups. Members come without what they are looked up by: package triage compares them with ours when it is next asked.
func (m *merge) groups() error {
	rows, err := m.tx.QueryContext(m.ctx, `SELECT g.id, (SELECT h."group" FROM other.members o JOIN temp.of_failures x ON x.there = o.failure JOIN main.members h ON h.failure = x.here
		WHERE o."group" = g.id GROUP BY h."group" ORDER BY count(*) DESC, h."group" LIMIT 1) FROM other.groups g WHERE EXISTS (SELECT 1 FROM other.members o WHERE o."group" = g.id) ORDER BY g.id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	type pair struct {
		there int64
		here  sql.NullInt64
	}
	var all []pair
	for rows.Next() {
		var p pair
		if err := rows.Scan(&p.there, &p.here); err != nil {
			return err
		}
		all = append(all, p)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, p := range all {
		if !p.here.Valid {
			if p.here.Int64, err = insert(m.ctx, m.tx, `INSERT INTO main.groups(title, state, assignee, muted, until, created, updated) SELECT title, state, assignee, muted, until, created, updated FROM other.groups WHERE id = ?`, p.there); err != nil {
				return err
			}
			m.report.Groups++
		}
		if err := m.exec(nil, "INSERT INTO temp.of_groups VALUES (?,?)", p.there, p.here.Int64); err != nil {
			return err
		}
	}
	if err := m.exec(nil, `INSERT OR IGNORE INTO main.members(failure, "group", features, distance, pinned, placed)
		SELECT x.here, g.here, o.features, o.distance, o.pinned, 0 FROM other.members o JOIN temp.of_failures x ON x.there = o.failure JOIN temp.of_groups g ON g.there = o."group"`); err != nil {
		return err
	}
	// Of events that name failures and groups the numbers are those of the store that they come from. Who merges back has them without that note.
	return m.exec(nil, `INSERT INTO main.events("group", actor, kind, text, created) SELECT g.here, o.actor, o.kind, CASE WHEN o.text GLOB '*[a-z]/[0-9]*' THEN replace(o.text, ?1, '') || ?1 ELSE o.text END, o.created
		FROM other.events o JOIN temp.of_groups g ON g.there = o."group"
		WHERE NOT EXISTS (SELECT 1 FROM main.events e WHERE (e."group", e.actor, e.kind, replace(e.text, ?1, ''), e.created) = (g.here, o.actor, o.kind, replace(o.text, ?1, ''), o.created)) ORDER BY o.created, o.id`, " (numbers of another store)")
}

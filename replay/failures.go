package replay

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Failure is one recorded failure.
type Failure struct {
	ID           int64
	Compile      int64  // 0: none
	Graph        string // canonical hash, "" for none
	Signature    Signature
	Raw          string            // the error's own text, whole
	Config       map[string]string // settings that were not default
	Inputs       []string          // of the graph: tensor keys, and numbers as text
	Repro        string            // text of the repro file, "" for none
	Minification int64             // the search that shrank it; 0: none
	Bisection    int64             // the one that told what decides; 0: none
	Origin       string            // where it came from, for people: a program, a file, a case of a bot; "": nobody said
	Decides      string            // the layer, pass or version range that was found to decide; "": not known
	Identity     string            // which failure it is in any store; PutFailure makes it; "": written before schema 5
	Created      time.Time
}

// identity is a hash of a failure's content and of when it was met. The n-th of several that were met in one millisecond differs by n.
func (f Failure) identity(ms int64, n int) string {
	sig := f.Signature
	return HashOf(strconv.FormatInt(ms, 10), strconv.Itoa(n), sig.Stage, sig.Type, sig.Message, sig.Frame, sig.Output, f.Raw, jsonText(f.Config), jsonText(f.Inputs), f.Repro, f.Origin)
}

// PutFailure stores a failure and returns its id.
func (s *Store) PutFailure(ctx context.Context, f Failure) (id int64, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		var repro sql.NullString
		if f.Repro != "" {
			key, err := s.putBlob(ctx, tx, []byte(f.Repro))
			if err != nil {
				return err
			}
			repro = nullText(key)
		}
		now := s.now()
		for n := 0; ; n++ {
			f.Identity = f.identity(now, n)
			var one int
			err := tx.QueryRowContext(ctx, "SELECT 1 FROM failures WHERE identity = ?", f.Identity).Scan(&one)
			if errors.Is(err, sql.ErrNoRows) {
				break
			}
			if err != nil {
				return err
			}
		}
		id, err = insert(ctx, tx, `INSERT INTO failures(compile, graph, stage, type, message, frame, output, raw, config, inputs, repro, minification, bisection, origin, decides, identity, created)
			VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			nullInt(f.Compile), nullText(f.Graph), f.Signature.Stage, f.Signature.Type, f.Signature.Message, f.Signature.Frame, f.Signature.Output,
			f.Raw, jsonText(f.Config), jsonText(f.Inputs), repro, nullInt(f.Minification), nullInt(f.Bisection), f.Origin, f.Decides, f.Identity, now)
		return err
	})
	return id, err
}

// SetMinification notes the search that shrinks a failure.
func (s *Store) SetMinification(ctx context.Context, failure, minification int64) error {
	return s.updateFailure(ctx, failure, "minification = ?", minification)
}

// SetDecides notes what was found to decide about a failure, as AXIS: TEXT, and the bisection that found it; 0 for none.
func (s *Store) SetDecides(ctx context.Context, failure, bisection int64, decides string) error {
	return s.updateFailure(ctx, failure, "bisection = coalesce(?, bisection), decides = ?", nullInt(bisection), decides)
}

// FailuresOf are the failures that a record stands for: failure/3 itself, and of minification/3 those that it shrinks.
func (s *Store) FailuresOf(ctx context.Context, ref string) (ids []int64, err error) {
	kind, id, _ := strings.Cut(ref, "/")
	column := map[string]string{"failure": "id", "minification": "minification"}[kind]
	if column == "" {
		return nil, nil
	}
	rows, err := s.read.QueryContext(ctx, "SELECT id FROM failures WHERE "+column+" = ? ORDER BY id", id)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, s.wrap(rows.Err())
}

func (s *Store) updateFailure(ctx context.Context, failure int64, set string, args ...any) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "UPDATE failures SET "+set+" WHERE id = ?", append(args, failure)...)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err == nil && n == 0 {
			err = &NotFoundError{"failure", fmt.Sprint(failure)}
		}
		if err != nil {
			return err
		}
		// What is known of it has changed: whoever groups failures looks at it again.
		_, err = tx.ExecContext(ctx, "UPDATE members SET placed = 0 WHERE failure = ?", failure)
		return err
	})
}

// Failure reads a recorded failure.
func (s *Store) Failure(ctx context.Context, id int64) (Failure, error) {
	f := Failure{ID: id}
	var compile, minification, bisection sql.NullInt64
	var graph, repro, identity sql.NullString
	var config, inputs string
	var created int64
	err := s.read.QueryRowContext(ctx, `SELECT compile, graph, stage, type, message, frame, output, raw, config, inputs, repro, minification, bisection, origin, decides, identity, created
		FROM failures WHERE id = ?`, id).
		Scan(&compile, &graph, &f.Signature.Stage, &f.Signature.Type, &f.Signature.Message, &f.Signature.Frame, &f.Signature.Output, &f.Raw, &config, &inputs, &repro,
			&minification, &bisection, &f.Origin, &f.Decides, &identity, &created)
	if errors.Is(err, sql.ErrNoRows) {
		return f, &NotFoundError{"failure", fmt.Sprint(id)}
	}
	if err != nil {
		return f, s.wrap(err)
	}
	f.Compile, f.Graph, f.Created = compile.Int64, graph.String, time.UnixMilli(created)
	f.Minification, f.Bisection, f.Identity = minification.Int64, bisection.Int64, identity.String
	if json.Unmarshal([]byte(inputs), &f.Inputs) != nil {
		return f, &CorruptError{"failure", fmt.Sprint(id), "inputs are not a list"}
	}
	_ = json.Unmarshal([]byte(config), &f.Config) // an empty list stands for an empty map
	if repro.Valid {
		b, err := s.Blob(ctx, repro.String)
		if err != nil {
			return f, err
		}
		f.Repro = string(b)
	}
	return f, nil
}

// FailureBy finds the failure of an identity.
func (s *Store) FailureBy(ctx context.Context, identity string) (id int64, found bool, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT id FROM failures WHERE identity = ?", identity).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, s.wrap(err)
}

// SameFailure finds a failure of the same signature, text and repro, or the one whose search had this repro for a result, whenever it was met: the oldest. A repro is the same with and without
// what whittle adds to the files that it writes: its version, and the line at the end.
func (s *Store) SameFailure(ctx context.Context, f Failure) (id int64, found bool, err error) {
	sig := f.Signature
	plain := reSeal().ReplaceAllString(f.Repro, "")
	keys := jsonText([]string{Key([]byte(f.Repro)), Key([]byte(plain)), Key([]byte(reWriter().ReplaceAllString(plain, "$1")))})
	err = s.read.QueryRowContext(ctx, `SELECT id FROM failures WHERE repro IN (SELECT value FROM json_each(?1)) AND (stage, type, message, frame, output, raw) = (?2, ?3, ?4, ?5, ?6, ?7)
		UNION SELECT f.id FROM results r JOIN failures f ON f.minification = r.minification WHERE r.repro IN (SELECT value FROM json_each(?1)) ORDER BY 1 LIMIT 1`,
		keys, sig.Stage, sig.Type, sig.Message, sig.Frame, sig.Output, f.Raw).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, s.wrap(err)
}

// reSeal matches the line that package files ends a file with, reWriter the version in the first line of a search's result.
var reWriter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(# Minimal repro written by whittle) \S+`) })
var reSeal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`# whittle wrote this file, and replaces it as long as nobody edits it: [0-9a-f ]+\n$`)
})

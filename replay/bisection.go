package replay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Bisection is a search for the change that decides whether something fails.
type Bisection struct {
	ID      int64
	Key     string   // what is tested, and along what
	Kind    string   // of points: versions, commits, settings
	Subject string   // what is tested, for people
	Result  string   // what was found, for people; "" until it is finished
	Axis    []string // the points in their order, oldest first; nil where they are sets, and in stores of before
}

// BisectionTrial is the answer of one test.
type BisectionTrial struct {
	Point    string // its own name, which means the same in every run: a version, the hash of a commit
	Attempt  int    // from 0
	Verdict  string // good, bad or skip; "" where Outcome is to be judged
	Text     string // why, for people
	Outcome  *Outcome
	Duration time.Duration
}

// BeginBisection starts a bisection, or finds the one of the same key. Its answers are there, whether it had ended or not.
func (s *Store) BeginBisection(ctx context.Context, b Bisection) (id int64, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT id FROM bisections WHERE key = ?", b.Key).Scan(&id)
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE bisections SET result = '', finished = NULL, axis = ? WHERE id = ?", axisText(b.Axis), id)
			return err
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		id, err = insert(ctx, tx, "INSERT INTO bisections(key, kind, subject, result, axis, created) VALUES (?,?,?,'',?,?)", b.Key, b.Kind, b.Subject, axisText(b.Axis), s.now())
		return err
	})
	return id, err
}

// axisText is an axis as the store has it.
func axisText(points []string) string {
	if len(points) == 0 {
		return ""
	}
	return jsonText(points)
}

// PutTrial keeps an answer. The first one to a question stays.
func (s *Store) PutTrial(ctx context.Context, bisection int64, t BisectionTrial) error {
	outcome := ""
	if t.Outcome != nil {
		var err error
		if outcome, err = t.Outcome.encode(); err != nil {
			return err
		}
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO trials(bisection, point, attempt, verdict, text, outcome, ms, created) VALUES (?,?,?,?,?,?,?,?)",
			bisection, t.Point, t.Attempt, t.Verdict, t.Text, outcome, t.Duration.Milliseconds(), s.now())
		return err
	})
}

// Trial is the answer to one question, if there is one.
func (s *Store) Trial(ctx context.Context, bisection int64, point string, attempt int) (t BisectionTrial, found bool, err error) {
	all, err := s.trials(ctx, "bisection = ? AND point = ? AND attempt = ?", bisection, point, attempt)
	if err != nil || len(all) == 0 {
		return t, false, err
	}
	return all[0], true, nil
}

// Trials are the answers of a bisection in the order in which they came.
func (s *Store) Trials(ctx context.Context, bisection int64) ([]BisectionTrial, error) {
	return s.trials(ctx, "bisection = ? ORDER BY created, point, attempt", bisection)
}

func (s *Store) trials(ctx context.Context, where string, args ...any) ([]BisectionTrial, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT point, attempt, verdict, text, outcome, ms FROM trials WHERE "+where, args...)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	var out []BisectionTrial
	for rows.Next() {
		var t BisectionTrial
		var outcome string
		var ms int64
		if err := rows.Scan(&t.Point, &t.Attempt, &t.Verdict, &t.Text, &outcome, &ms); err != nil {
			return nil, s.wrap(err)
		}
		if outcome != "" {
			o, err := decodeOutcome(outcome)
			if err != nil {
				return nil, &CorruptError{"trial", t.Point, err.Error()}
			}
			t.Outcome = &o
		}
		t.Duration = time.Duration(ms) * time.Millisecond
		out = append(out, t)
	}
	return out, s.wrap(rows.Err())
}

// DropTrials forgets the answers of a bisection.
func (s *Store) DropTrials(ctx context.Context, bisection int64) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM trials WHERE bisection = ?", bisection)
		return err
	})
}

// FinishBisection notes what was found.
func (s *Store) FinishBisection(ctx context.Context, id int64, result string) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE bisections SET result = ?, finished = ? WHERE id = ?", result, s.now(), id)
		return err
	})
}

// Bisection reads a bisection.
func (s *Store) Bisection(ctx context.Context, id int64) (Bisection, error) {
	b := Bisection{ID: id}
	err := s.read.QueryRowContext(ctx, "SELECT key, kind, subject, result FROM bisections WHERE id = ?", id).Scan(&b.Key, &b.Kind, &b.Subject, &b.Result)
	if errors.Is(err, sql.ErrNoRows) {
		return b, &NotFoundError{"bisection", fmt.Sprint(id)}
	}
	return b, s.wrap(err)
}

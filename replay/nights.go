package replay

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Night is one run of a bot over all its cases.
type Night struct {
	ID          int64
	Bot         string
	Key         string // which night it is, as the bot was told: a date
	Version     string // of the newest engine, as the bot's configuration calls it
	Fingerprint string // of that engine, as it says itself; "" where it could not be started
	Report      []byte // JSON; nil: under way
	Hook        string // "" not begun, HookBegun, else how it ended
	Created     time.Time
}

// HookBegun says of a night's hook that it was started. Where nothing else follows, its end was not seen.
const HookBegun = "begun"

// BotCase is what a bot tests in one of its modes.
type BotCase struct {
	ID         int64
	Name, Mode string
}

// Run is one measurement of a case.
type Run struct {
	Night, Case int64
	Version     string
	Attempt     int // from 0; later ones confirm
	Outcome     Outcome
	Figures     map[string][]float64 // samples by the figure's name, in its own unit
	Failure     int64                // 0: none was recorded
	Duration    time.Duration
}

// NightFigure is a figure of a case in one night.
type NightFigure struct {
	Night, Case   int64
	Name          string
	Value, Spread float64 // median of the samples, and their median absolute deviation
	Samples       []float64
}

// News is what a night said of a case.
type News struct {
	Night, Case   int64
	Key           string // of the night; filled when read
	Kind, Subject string
	Group         int64 // 0: none
	Failure       int64 // 0: none
	Text          string
	Detail        string // JSON
}

// NightChangedError says that a night was begun with another engine than it is to go on with.
type NightChangedError struct {
	Night        Night
	Version      string
	SameVersions bool // it is the engine behind the version that changed
}

func (e *NightChangedError) Error() string {
	if e.SameVersions {
		return fmt.Sprintf("night %s was begun with another build of %s: it cannot go on with this one", e.Night.Key, e.Version)
	}
	return fmt.Sprintf("night %s was begun with version %s, and the newest is %s now: it cannot go on", e.Night.Key, e.Night.Version, e.Version)
}

// BeginNight starts a night, or finds the one of the same bot and key: then n comes back as it was begun. The error is a *NightChangedError where
// that was with another engine and is not finished.
func (s *Store) BeginNight(ctx context.Context, n Night) (Night, error) {
	old, found, err := s.night(ctx, n.Bot, n.Key)
	if err != nil {
		return n, err
	}
	if found {
		if old.Report == nil && (old.Version != n.Version || old.Fingerprint != n.Fingerprint) {
			return old, &NightChangedError{old, n.Version, old.Version == n.Version}
		}
		return old, nil
	}
	err = s.tx(ctx, func(tx *sql.Tx) error {
		n.ID, err = insert(ctx, tx, "INSERT INTO nights(bot, key, version, fingerprint, hook, created) VALUES (?,?,?,?,'',?)", n.Bot, n.Key, n.Version, n.Fingerprint, s.now())
		return err
	})
	return n, err
}

// FindNight reads a night; found is false where there is none.
func (s *Store) FindNight(ctx context.Context, bot, key string) (n Night, found bool, err error) {
	return s.night(ctx, bot, key)
}

func (s *Store) night(ctx context.Context, bot, key string) (n Night, found bool, err error) {
	all, err := s.nights(ctx, "bot = ? AND key = ?", bot, key)
	if err != nil || len(all) == 0 {
		return n, false, err
	}
	n = all[0]
	var report sql.NullString
	if err := s.read.QueryRowContext(ctx, "SELECT report FROM nights WHERE id = ?", n.ID).Scan(&report); err != nil {
		return n, true, s.wrap(err)
	}
	if report.Valid {
		n.Report, err = s.Blob(ctx, report.String)
	}
	return n, true, err
}

// Nights are a bot's nights in the order in which they were begun, without their reports.
func (s *Store) Nights(ctx context.Context, bot string) ([]Night, error) {
	return s.nights(ctx, "bot = ? ORDER BY id", bot)
}

func (s *Store) nights(ctx context.Context, where string, args ...any) ([]Night, error) {
	var out []Night
	err := s.rows(ctx, "SELECT id, bot, key, version, fingerprint, hook, created FROM nights WHERE "+where, args, func(r *sql.Rows) error {
		var n Night
		var created int64
		err := r.Scan(&n.ID, &n.Bot, &n.Key, &n.Version, &n.Fingerprint, &n.Hook, &created)
		n.Created = time.UnixMilli(created)
		out = append(out, n)
		return err
	})
	return out, err
}

// rows calls f for each row of a query.
func (s *Store) rows(ctx context.Context, query string, args []any, f func(r *sql.Rows) error) error {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return s.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return s.wrap(err)
		}
	}
	return s.wrap(rows.Err())
}

// PutCases makes sure that the cases of a bot are there, and gives their ids in the order of the list.
func (s *Store) PutCases(ctx context.Context, bot string, all []BotCase) ([]BotCase, error) {
	out := make([]BotCase, len(all))
	err := s.tx(ctx, func(tx *sql.Tx) error {
		for i, c := range all {
			if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO cases(bot, name, mode) VALUES (?,?,?)", bot, c.Name, c.Mode); err != nil {
				return err
			}
			if err := tx.QueryRowContext(ctx, "SELECT id FROM cases WHERE bot = ? AND name = ? AND mode = ?", bot, c.Name, c.Mode).Scan(&c.ID); err != nil {
				return err
			}
			out[i] = c
		}
		return nil
	})
	return out, err
}

// Cases are all cases that a bot ever had, by id.
func (s *Store) Cases(ctx context.Context, bot string) (map[int64]BotCase, error) {
	out := map[int64]BotCase{}
	err := s.rows(ctx, "SELECT id, name, mode FROM cases WHERE bot = ?", []any{bot}, func(r *sql.Rows) error {
		var c BotCase
		err := r.Scan(&c.ID, &c.Name, &c.Mode)
		out[c.ID] = c
		return err
	})
	return out, err
}

// PutRun keeps a measurement. The first one of its night, case, version and attempt stays.
func (s *Store) PutRun(ctx context.Context, r Run) error {
	outcome, err := r.Outcome.encode()
	if err != nil {
		return err
	}
	figures, err := json.Marshal(r.Figures)
	if err != nil {
		return err
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO runs(night, "case", version, attempt, status, outcome, figures, ms, created) VALUES (?,?,?,?,?,?,?,?,?)`,
			r.Night, r.Case, r.Version, r.Attempt, string(r.Outcome.Status), outcome, string(figures), r.Duration.Milliseconds(), s.now())
		return err
	})
}

// Runs are the measurements of a night, by case, version and attempt.
func (s *Store) Runs(ctx context.Context, night int64) ([]Run, error) {
	var out []Run
	err := s.rows(ctx, `SELECT night, "case", version, attempt, outcome, figures, failure, ms FROM runs WHERE night = ? ORDER BY "case", version, attempt`, []any{night}, func(rows *sql.Rows) error {
		var r Run
		var outcome, figures string
		var failure sql.NullInt64
		var ms int64
		if err := rows.Scan(&r.Night, &r.Case, &r.Version, &r.Attempt, &outcome, &figures, &failure, &ms); err != nil {
			return err
		}
		var err error
		if r.Outcome, err = decodeOutcome(outcome); err == nil {
			err = json.Unmarshal([]byte(figures), &r.Figures)
		}
		if err != nil {
			return &CorruptError{"run", fmt.Sprintf("%d/%d/%s/%d", r.Night, r.Case, r.Version, r.Attempt), err.Error()}
		}
		r.Failure, r.Duration = failure.Int64, time.Duration(ms)*time.Millisecond
		out = append(out, r)
		return nil
	})
	return out, err
}

// PutRunFailure records the failure that a run showed, once: where the run has one already, that is it. origin says for people where it came from.
func (s *Store) PutRunFailure(ctx context.Context, r Run, f Failure, origin string) (id int64, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		at := []any{r.Night, r.Case, r.Version, r.Attempt}
		var old sql.NullInt64
		if err := tx.QueryRowContext(ctx, `SELECT failure FROM runs WHERE night = ? AND "case" = ? AND version = ? AND attempt = ?`, at...).Scan(&old); err != nil {
			return err
		}
		if id = old.Int64; old.Valid {
			return nil
		}
		var repro string
		if f.Repro != "" {
			if repro, err = s.putBlob(ctx, tx, []byte(f.Repro)); err != nil {
				return err
			}
		}
		// The same run of the same night of the same bot is one failure, in whatever store.
		var bot, key string
		if err := tx.QueryRowContext(ctx, "SELECT bot, key FROM nights WHERE id = ?", r.Night).Scan(&bot, &key); err != nil {
			return err
		}
		now := s.now()
		identity := HashOf("night", bot, key, origin, r.Version, fmt.Sprint(r.Attempt), f.Signature.String(), f.Raw, repro, fmt.Sprint(now))
		id, err = insert(ctx, tx, "INSERT INTO failures(graph, stage, type, message, frame, output, raw, config, inputs, repro, created, origin, identity) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
			nullText(f.Graph), f.Signature.Stage, f.Signature.Type, f.Signature.Message, f.Signature.Frame, f.Signature.Output, f.Raw, jsonText(f.Config), jsonText(f.Inputs), nullText(repro), now, origin, identity)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE runs SET failure = ? WHERE night = ? AND "case" = ? AND version = ? AND attempt = ?`, append([]any{id}, at...)...)
		return err
	})
	return id, err
}

// FinishNight keeps a night's report with all that later nights need of it: all of it, or nothing. A night that is finished stays as it is.
func (s *Store) FinishNight(ctx context.Context, night int64, report []byte, figures []NightFigure, news []News) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		var done sql.NullString
		if err := tx.QueryRowContext(ctx, "SELECT report FROM nights WHERE id = ?", night).Scan(&done); err != nil || done.Valid {
			return err
		}
		for _, f := range figures {
			samples, err := json.Marshal(f.Samples)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO figures("case", name, night, value, spread, samples) VALUES (?,?,?,?,?,?)`, f.Case, f.Name, night, f.Value, f.Spread, string(samples)); err != nil {
				return err
			}
		}
		for _, n := range news {
			if _, err := tx.ExecContext(ctx, `INSERT INTO news(night, "case", kind, subject, "group", failure, text, detail) VALUES (?,?,?,?,?,?,?,?)`,
				night, n.Case, n.Kind, n.Subject, nullInt(n.Group), nullInt(n.Failure), n.Text, n.Detail); err != nil {
				return err
			}
		}
		key, err := s.putBlob(ctx, tx, report)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE nights SET report = ?, finished = ? WHERE id = ?", key, s.now(), night)
		return err
	})
}

// NightFigures are the figures of a bot's finished nights that were begun before one, by case and name, oldest first. Of figures that were
// measured more than most times the latest are given; 0 stands for all.
func (s *Store) NightFigures(ctx context.Context, bot string, before int64, most int) (map[int64]map[string][]NightFigure, error) {
	if most <= 0 {
		most = 1 << 30
	}
	out := map[int64]map[string][]NightFigure{}
	err := s.rows(ctx, `SELECT f."case", f.name, f.night, f.value, f.spread, f.samples FROM (
			SELECT figures.*, row_number() OVER (PARTITION BY figures."case", figures.name ORDER BY figures.night DESC) AS back
			FROM figures JOIN nights ON nights.id = figures.night WHERE nights.bot = ? AND nights.id < ? AND nights.report IS NOT NULL) f
		WHERE f.back <= ? ORDER BY f."case", f.name, f.night`, []any{bot, before, most}, func(r *sql.Rows) error {
		var f NightFigure
		var samples string
		if err := r.Scan(&f.Case, &f.Name, &f.Night, &f.Value, &f.Spread, &samples); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(samples), &f.Samples); err != nil {
			return &CorruptError{"figure", fmt.Sprintf("%d/%s/%d", f.Case, f.Name, f.Night), err.Error()}
		}
		if out[f.Case] == nil {
			out[f.Case] = map[string][]NightFigure{}
		}
		out[f.Case][f.Name] = append(out[f.Case][f.Name], f)
		return nil
	})
	return out, err
}

// NewsBefore is all that a bot's nights said that were begun before one, oldest first.
func (s *Store) NewsBefore(ctx context.Context, bot string, before int64) ([]News, error) {
	var out []News
	err := s.rows(ctx, `SELECT news.night, news."case", nights.key, news.kind, news.subject, news."group", news.failure, news.text, news.detail
		FROM news JOIN nights ON nights.id = news.night WHERE nights.bot = ? AND nights.id < ? ORDER BY news.night, news."case", news.kind, news.subject`, []any{bot, before}, func(r *sql.Rows) error {
		var n News
		var group, failure sql.NullInt64
		err := r.Scan(&n.Night, &n.Case, &n.Key, &n.Kind, &n.Subject, &group, &failure, &n.Text, &n.Detail)
		n.Group, n.Failure = group.Int64, failure.Int64
		out = append(out, n)
		return err
	})
	return out, err
}

// BeginHook notes that a night's hook is being started, and reports whether nobody did so before: only then it may be.
func (s *Store) BeginHook(ctx context.Context, night int64) (first bool, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, "UPDATE nights SET hook = ? WHERE id = ? AND hook = ''", HookBegun, night)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		first = n == 1
		return err
	})
	return first, err
}

// EndHook notes how a night's hook ended; "" has it start again.
func (s *Store) EndHook(ctx context.Context, night int64, how string) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE nights SET hook = ? WHERE id = ?", how, night)
		return err
	})
}

// OpenFailures are the ids of the failures that have a repro and did not come from a bot, the latest of each signature, oldest first; without those
// whose group is fixed, closed or muted.
func (s *Store) OpenFailures(ctx context.Context) ([]int64, error) {
	var out []int64
	err := s.rows(ctx, `SELECT max(f.id) FROM failures f LEFT JOIN members m ON m.failure = f.id LEFT JOIN groups g ON g.id = m."group"
		WHERE f.repro IS NOT NULL AND f.id NOT IN (SELECT failure FROM runs WHERE failure IS NOT NULL)
		AND (g.id IS NULL OR g.state NOT IN ('fixed', 'closed') AND (g.muted = '' OR g.until <= ?))
		GROUP BY f.stage, f.type, f.message, f.frame, f.output ORDER BY max(f.id)`, []any{s.now()}, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		out = append(out, id)
		return err
	})
	return out, err
}

package replay

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Cost measures a state of a search: earlier fields weigh more.
type Cost struct {
	Calls      int   `json:"calls"`
	Outputs    int   `json:"outputs"`
	Inputs     int   `json:"inputs"`
	Settings   int   `json:"settings"`
	Elements   int64 `json:"elements"` // of the inputs
	Complexity int   `json:"complexity"`
}

// Setting is one setting in PyTorch's words, with its Python text: torch._inductor.config.cpp.simdlen, 0.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Trial is one line of a certificate: an edit of the result that was tried last, and why it is not in it.
type Trial struct {
	Reduction string  `json:"reduction"`
	Edit      string  `json:"edit"`
	Verdict   Verdict `json:"verdict"`
	Earlier   bool    `json:"earlier,omitempty"` // asked before the last edits of finer things: see minify.Trial
}

// Result is what a search found: everything that a report says.
type Result struct {
	Signature  Signature `json:"signature"`            // of the failure; zero: the one that the search began with
	Repro      string    `json:"repro"`                // the file in PyTorch's form, byte for byte as it was proved
	Standalone string    `json:"standalone,omitempty"` // the plain script; "" for none
	// Files lie beside the repro, by relative path with slashes: checkpoints/storages/HASH, the inputs' data. JSON has them not.
	Files       map[string][]byte `json:"-"`
	Error       string            `json:"error"`       // the failure's own text
	Environment string            `json:"environment"` // versions and machine, lines for people
	Certificate []Trial           `json:"certificate"`
	Engine      string            `json:"engine"`     // native, torch
	Launcher    string            `json:"launcher"`   // path of the file that the search began with; "" for none
	Config      []Setting         `json:"config"`     // what the failure needs
	Workaround  []Setting         `json:"workaround"` // what makes it go away; empty: none found
	Free        []string          `json:"free"`       // what may vary freely, a line for each
	Start       Cost              `json:"start"`
	End         Cost              `json:"end"`
	Complete    bool              `json:"complete"` // 1-minimal and proved; false: the best when the search was stopped
	Queries     int               `json:"queries"`  // asked of the engine
	CacheHits   int               `json:"cache_hits"`
	Rejected    int               `json:"rejected"` // by the static check
	Seconds     float64           `json:"seconds"`  // of the search, all its runs together
	Confirmed   int               `json:"confirmed"`
	Runs        int               `json:"runs"`       // of the result, counted for Rate; 0: not measured
	Rate        float64           `json:"rate"`       // of Runs that failed, 0 to 1
	FalseRuns   int               `json:"false_runs"` // of a state without the failure, where it is flaky
	FalseRate   float64           `json:"false_rate"`
	Stopped     string            `json:"stopped,omitempty"` // why the search ended early: "deadline"; "" if it did not
	Off         []string          `json:"off"`               // reductions switched off because too many of their candidates hung
}

// check says what of a result cannot be stored.
func (r Result) check() error {
	switch {
	case r.Repro == "":
		return errors.New("a result without a repro")
	case !(r.Rate >= 0 && r.Rate <= 1) || !(r.FalseRate >= 0 && r.FalseRate <= 1):
		return fmt.Errorf("rates of %v and %v", r.Rate, r.FalseRate)
	case !(r.Seconds >= 0 && r.Seconds < 1e12):
		return fmt.Errorf("a search of %v seconds", r.Seconds)
	case r.Queries < 0 || r.CacheHits < 0 || r.Rejected < 0 || r.Confirmed < 0 || r.Runs < 0 || r.FalseRuns < 0:
		return errors.New("a count below 0")
	}
	return checkFiles(r.Files)
}

// checkFiles refuses files that do not lie below the repro's folder.
func checkFiles(files map[string][]byte) error {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !filepath.IsLocal(filepath.FromSlash(path)) {
			return fmt.Errorf("a file outside of the repro's folder: %q", path)
		}
	}
	return nil
}

// PutResult stores what the search id found, instead of what was stored before. All of it is there, or nothing of it.
func (s *Store) PutResult(ctx context.Context, id int64, r Result) error {
	if err := r.check(); err != nil {
		return fmt.Errorf("minification %d: %w", id, err)
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "UPDATE minifications SET start_calls = ?, calls = ? WHERE id = ?", r.Start.Calls, r.End.Calls, id)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(&NotFoundError{"minification", fmt.Sprint(id)}, err)
		}
		if err := putSignature(ctx, tx, id, r.Signature); err != nil {
			return err
		}
		var keys [5]sql.NullString
		for i, text := range []string{r.Repro, r.Standalone, r.Error, r.Environment, jsonText(r.Certificate)} {
			if i == 1 && text == "" {
				continue
			}
			k, err := s.putBlob(ctx, tx, []byte(text))
			if err != nil {
				return err
			}
			keys[i] = nullText(k)
		}
		_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO results(minification, repro, standalone, error, environment, certificate, engine, launcher, config, workaround, free,
			start_cost, end_cost, complete, queries, cache_hits, rejected, seconds, confirmed, runs, rate, false_runs, false_rate, stopped, off, created) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			id, keys[0], keys[1], keys[2], keys[3], keys[4], r.Engine, r.Launcher, jsonText(r.Config), jsonText(r.Workaround), jsonText(r.Free),
			jsonText(r.Start), jsonText(r.End), r.Complete, r.Queries, r.CacheHits, r.Rejected, r.Seconds, r.Confirmed, r.Runs, r.Rate, r.FalseRuns, r.FalseRate, r.Stopped, jsonText(r.Off), s.now())
		if err != nil {
			return err
		}
		for _, path := range slices.Sorted(maps.Keys(r.Files)) { // replacing the row above took the old ones along
			k, err := s.putBlob(ctx, tx, r.Files[path])
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO result_files(minification, path, blob) VALUES (?,?,?)", id, path, k); err != nil {
				return err
			}
		}
		return nil
	})
}

// The files of a result that are generated code begin with these: of the side of a bisection that is good, and of the one that is bad. Those of one name are compared.
const (
	GoodCode = "generated/good/"
	BadCode  = "generated/bad/"
)

// AddResultFiles puts files beside those of a result; of one that is there already, the new one stays. The error is a *NotFoundError where there is no result.
func (s *Store) AddResultFiles(ctx context.Context, id int64, files map[string][]byte) error {
	if err := checkFiles(files); err != nil {
		return fmt.Errorf("minification %d: %w", id, err)
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
		var one int
		err := tx.QueryRowContext(ctx, "SELECT 1 FROM results WHERE minification = ?", id).Scan(&one)
		if errors.Is(err, sql.ErrNoRows) {
			return &NotFoundError{"result of minification", fmt.Sprint(id)}
		}
		for _, path := range slices.Sorted(maps.Keys(files)) {
			var k string
			if err == nil {
				k, err = s.putBlob(ctx, tx, files[path])
			}
			if err == nil {
				_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO result_files(minification, path, blob) VALUES (?,?,?)", id, path, k)
			}
		}
		return err
	})
}

// Result reads what the search id found: a *NotFoundError where nothing is stored, a *CorruptError for what does not decode.
func (s *Store) Result(ctx context.Context, id int64) (Result, error) {
	var r Result
	var keys [5]sql.NullString
	var config, workaround, free, off, start, end string
	var sig string
	err := s.read.QueryRowContext(ctx, `SELECT signature, repro, standalone, error, environment, r.certificate, engine, launcher, config, workaround, free,
		start_cost, end_cost, complete, queries, cache_hits, rejected, seconds, confirmed, runs, rate, false_runs, false_rate, stopped, off FROM results r JOIN minifications m ON m.id = r.minification WHERE m.id = ?`, id).
		Scan(&sig, &keys[0], &keys[1], &keys[2], &keys[3], &keys[4], &r.Engine, &r.Launcher, &config, &workaround, &free,
			&start, &end, &r.Complete, &r.Queries, &r.CacheHits, &r.Rejected, &r.Seconds, &r.Confirmed, &r.Runs, &r.Rate, &r.FalseRuns, &r.FalseRate, &r.Stopped, &off)
	if errors.Is(err, sql.ErrNoRows) {
		return r, &NotFoundError{"result of minification", fmt.Sprint(id)}
	}
	if err != nil {
		return r, s.wrap(err)
	}
	var cert string
	for i, to := range []*string{&r.Repro, &r.Standalone, &r.Error, &r.Environment, &cert} {
		if !keys[i].Valid {
			continue
		}
		b, err := s.Blob(ctx, keys[i].String)
		if err != nil {
			return r, err
		}
		*to = string(b)
	}
	if err := s.resultFiles(ctx, id, &r); err != nil {
		return r, err
	}
	return r, r.decode(id, sig, cert, config, workaround, free, off, start, end)
}

func (s *Store) resultFiles(ctx context.Context, id int64, r *Result) error {
	keys := map[string]string{}
	if err := s.each(ctx, "SELECT path, blob FROM result_files WHERE minification = ?", func(c []any) { keys[fmt.Sprint(c[0])] = fmt.Sprint(c[1]) }, id); err != nil {
		return err
	}
	for path, key := range keys {
		b, err := s.Blob(ctx, key)
		if err != nil {
			return err
		}
		if r.Files == nil {
			r.Files = map[string][]byte{}
		}
		r.Files[path] = b
	}
	return nil
}

// decode fills in what is stored as JSON.
func (r *Result) decode(id int64, sig, cert, config, workaround, free, off, start, end string) error {
	for _, f := range []struct {
		name, text string
		to         any
	}{
		{"signature", sig, &r.Signature}, {"certificate", cert, &r.Certificate}, {"config", config, &r.Config}, {"workaround", workaround, &r.Workaround}, {"free", free, &r.Free}, {"off", off, &r.Off},
		{"start cost", start, &r.Start}, {"end cost", end, &r.End},
	} {
		if err := json.Unmarshal([]byte(f.text), f.to); err != nil {
			return &CorruptError{"result of minification", fmt.Sprint(id), f.name + ": " + err.Error()}
		}
	}
	return nil
}

// PutProgress notes what a search looks for, once that is known, and how large its graph was and is: for those who look at it while
// it runs. A zero signature leaves the one that is stored.
func (s *Store) PutProgress(ctx context.Context, id int64, sig Signature, start, now int) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		if err := putSignature(ctx, tx, id, sig); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE minifications SET start_calls = ?, calls = ? WHERE id = ?", start, now, id)
		return err
	})
}

func putSignature(ctx context.Context, tx *sql.Tx, id int64, sig Signature) error {
	if sig.IsZero() {
		return nil
	}
	_, err := tx.ExecContext(ctx, "UPDATE minifications SET signature = ? WHERE id = ?", jsonText(sig), id)
	return err
}

// State is how far a search is.
type State string

// The states.
const (
	Running     State = "running"
	Done        State = "done"
	Interrupted State = "interrupted" // its process ended before it: running it again resumes it
	NotFailing  State = "not failing" // the start did not fail again; Summary.Why says why
)

// EndNotFailing is the reduction of a step that ends a search whose start did not fail again; its edit is the reason.
const EndNotFailing = "not failing"

// Summary is a search in a line.
type Summary struct {
	ID         int64     `json:"id"`
	Signature  Signature `json:"signature"`
	State      State     `json:"state"`
	StartCalls int       `json:"start_calls"` // -1: not known
	Calls      int       `json:"calls"`       // of the best so far; -1: not known
	Steps      int       `json:"steps"`
	Created    time.Time `json:"created"`
	Finished   time.Time `json:"finished,omitzero"`
	Why        string    `json:"why,omitempty"` // of NotFailing
}

// String is the line.
func (m Summary) String() string {
	known := func(n int, text string) string {
		if n < 0 {
			return "?"
		}
		return text
	}
	if m.State == NotFailing {
		return fmt.Sprintf("%s: %s", m.State, strings.Join(slices.DeleteFunc([]string{m.Signature.String(), m.Why}, func(s string) bool { return s == "" }), ": "))
	}
	return fmt.Sprintf("%s, %s -> %s, %s: %s", m.State, known(m.StartCalls, fmt.Sprint(m.StartCalls)), known(m.Calls, Count(m.Calls, "call")), Count(m.Steps, "step"), m.Signature)
}

// Minifications lists all searches, oldest first.
func (s *Store) Minifications(ctx context.Context) ([]Summary, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, signature, owner, start_calls, calls, created, finished, (SELECT count(*) FROM steps WHERE minification = m.id),
		(SELECT edit FROM steps WHERE minification = m.id AND reduction = '`+EndNotFailing+`' ORDER BY seq DESC LIMIT 1) FROM minifications m ORDER BY id`)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	var out []Summary
	for rows.Next() {
		var m Summary
		var sig string
		var owner, why sql.NullString
		var start, calls, finished sql.NullInt64
		var created int64
		if err := rows.Scan(&m.ID, &sig, &owner, &start, &calls, &created, &finished, &m.Steps, &why); err != nil {
			return nil, s.wrap(err)
		}
		if err := json.Unmarshal([]byte(sig), &m.Signature); err != nil {
			return nil, &CorruptError{"minification", fmt.Sprint(m.ID), err.Error()}
		}
		m.StartCalls, m.Calls, m.Created = orUnknown(start), orUnknown(calls), time.UnixMilli(created)
		switch {
		case finished.Valid:
			m.State, m.Finished = Done, time.UnixMilli(finished.Int64)
		case owner.Valid && alive(owner.String):
			m.State = Running
		case why.Valid:
			m.State, m.Why = NotFailing, why.String
		default:
			m.State = Interrupted
		}
		out = append(out, m)
	}
	return out, s.wrap(rows.Err())
}

func orUnknown(n sql.NullInt64) int {
	if !n.Valid {
		return -1
	}
	return int(n.Int64)
}

// InterruptMinification notes that nobody is at a search any more, where the process lives on. A process that ends need not say so.
func (s *Store) InterruptMinification(ctx context.Context, id int64) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE minifications SET owner = NULL WHERE id = ?", id)
		return err
	})
}

// PassStats is one reduction's part in a search.
type PassStats struct {
	Reduction string        `json:"reduction"`
	Steps     int           `json:"steps"`
	Wins      int           `json:"wins"` // candidates taken
	Time      time.Duration `json:"time"`
}

// Passes sums the journal of a search up, in the order in which reductions first came.
func (s *Store) Passes(ctx context.Context, id int64) ([]PassStats, error) {
	var out []PassStats
	err := s.each(ctx, "SELECT reduction, count(*), sum(taken), sum(ms) FROM steps WHERE minification = ? GROUP BY reduction ORDER BY min(seq)", func(c []any) {
		p := PassStats{Reduction: fmt.Sprint(c[0])}
		for i, to := range []*int{&p.Steps, &p.Wins} {
			n, _ := c[i+1].(int64)
			*to = int(n)
		}
		ms, _ := c[3].(int64)
		p.Time = time.Duration(ms) * time.Millisecond
		out = append(out, p)
	}, id)
	return out, err
}

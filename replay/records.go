package replay

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Tensor is a tensor as stored: metadata and the bytes of the storage that it views.
type Tensor struct {
	DType        string // as PyTorch names it, without "torch."
	Shape        []int64
	Stride       []int64 // in elements
	Offset       int64   // in elements, into the storage
	RequiresGrad bool
	Data         []byte // the whole storage
}

// meta is the line that, with the storage's key, makes a tensor's key.
func (t Tensor) meta() string {
	return fmt.Sprintf("%s %v %v %d %v", t.DType, t.Shape, t.Stride, t.Offset, t.RequiresGrad)
}

// Key is the tensor's identity by content.
func (t Tensor) Key() string { return Key([]byte(t.meta() + " " + Key(t.Data))) }

// PutTensor stores a tensor by content; equal storages are kept once.
func (s *Store) PutTensor(ctx context.Context, t Tensor) (string, error) {
	key := t.Key()
	return key, s.tx(ctx, func(tx *sql.Tx) error {
		blob, err := s.putBlob(ctx, tx, t.Data)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT OR IGNORE INTO tensors(key, dtype, shape, stride, "offset", requires_grad, blob) VALUES (?,?,?,?,?,?,?)`,
			key, t.DType, jsonText(t.Shape), jsonText(t.Stride), t.Offset, t.RequiresGrad, blob)
		return err
	})
}

// Tensor reads a tensor by key.
func (s *Store) Tensor(ctx context.Context, key string) (Tensor, error) {
	var t Tensor
	var shape, stride, blob string
	err := s.read.QueryRowContext(ctx, `SELECT dtype, shape, stride, "offset", requires_grad, blob FROM tensors WHERE key = ?`, key).
		Scan(&t.DType, &shape, &stride, &t.Offset, &t.RequiresGrad, &blob)
	if errors.Is(err, sql.ErrNoRows) {
		return t, &NotFoundError{"tensor", key}
	}
	if err != nil {
		return t, s.wrap(err)
	}
	if json.Unmarshal([]byte(shape), &t.Shape) != nil || json.Unmarshal([]byte(stride), &t.Stride) != nil {
		return t, &CorruptError{"tensor", key, "shape or stride is not a list"}
	}
	t.Data, err = s.Blob(ctx, blob)
	if err == nil && t.Key() != key {
		err = &CorruptError{"tensor", key, "the content is not that of the key"}
	}
	return t, err
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only lists, maps and strings come here
	}
	if string(b) == "null" {
		return "[]"
	}
	return string(b)
}

// PutGraph stores a graph's text under its canonical hash.
func (s *Store) PutGraph(ctx context.Context, hash, text string, nodes int) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		blob, err := s.putBlob(ctx, tx, []byte(text))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT OR IGNORE INTO graphs(hash, text, nodes, created) VALUES (?,?,?,?)", hash, blob, nodes, s.now())
		return err
	})
}

// Graph reads a graph's text.
func (s *Store) Graph(ctx context.Context, hash string) (string, error) {
	return s.blobBy(ctx, "graph", "SELECT text FROM graphs WHERE hash = ?", hash)
}

func (s *Store) blobBy(ctx context.Context, table, query string, arg any) (string, error) {
	var blob sql.NullString
	err := s.read.QueryRowContext(ctx, query, arg).Scan(&blob)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !blob.Valid {
		return "", &NotFoundError{table, fmt.Sprint(arg)}
	}
	if err != nil {
		return "", s.wrap(err)
	}
	b, err := s.Blob(ctx, blob.String)
	return string(b), err
}

// Frame is a recorded frame: bytes that only its kind and version give a meaning.
type Frame struct {
	ID      int64
	Kind    string // who knows what Data means
	Version int    // of the form of Data
	Name    string // of the function, for people
	Data    []byte
}

// PutFrame stores a frame and returns its id.
func (s *Store) PutFrame(ctx context.Context, f Frame) (id int64, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		blob, err := s.putBlob(ctx, tx, f.Data)
		if err != nil {
			return err
		}
		id, err = insert(ctx, tx, "INSERT INTO frames(kind, version, name, blob, created) VALUES (?,?,?,?,?)", f.Kind, f.Version, f.Name, blob, s.now())
		return err
	})
	return id, err
}

// Frame reads a recorded frame.
func (s *Store) Frame(ctx context.Context, id int64) (Frame, error) {
	f := Frame{ID: id}
	err := s.read.QueryRowContext(ctx, "SELECT kind, version, name FROM frames WHERE id = ?", id).Scan(&f.Kind, &f.Version, &f.Name)
	if errors.Is(err, sql.ErrNoRows) {
		return f, &NotFoundError{"frame", fmt.Sprint(id)}
	}
	if err != nil {
		return f, s.wrap(err)
	}
	text, err := s.blobBy(ctx, "frame", "SELECT blob FROM frames WHERE id = ?", id)
	f.Data = []byte(text)
	return f, err
}

func insert(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error) {
	r, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// Compile is one recorded compile.
type Compile struct {
	ID          int64
	Frame       int64             // 0: none
	Graph       string            // canonical hash, "" for none; PutGraph first
	Backend     string            // as torch.compile names it
	Config      map[string]string // settings that were not default
	Fingerprint string            // of the stack that compiled: versions, flags, machine
	Status      Status            // how it ended
	Duration    time.Duration
}

// PutCompile stores a compile and returns its id.
func (s *Store) PutCompile(ctx context.Context, c Compile) (id int64, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		id, err = insert(ctx, tx, "INSERT INTO compiles(frame, graph, backend, config, fingerprint, status, ms, created) VALUES (?,?,?,?,?,?,?,?)",
			nullInt(c.Frame), nullText(c.Graph), c.Backend, jsonText(c.Config), c.Fingerprint, string(c.Status), c.Duration.Milliseconds(), s.now())
		return err
	})
	return id, err
}

func nullInt(i int64) sql.NullInt64    { return sql.NullInt64{Int64: i, Valid: i != 0} }
func nullText(t string) sql.NullString { return sql.NullString{String: t, Valid: t != ""} }

// QueryKey identifies the question that an outcome answers: does this graph, on these inputs, with these settings, fail on that engine? Whoever asks
// the same question again, in whatever search, has the answer.
type QueryKey struct {
	Graph, Inputs, Config string // hashes
	Fingerprint           string // of the engine
}

// Candidate is the hash that the journal of a search has for what a query asks about, whichever engine answers.
func (k QueryKey) Candidate() string { return HashOf(k.Graph, k.Inputs, k.Config)[:32] }

// CachedOutcome looks a query up; found is false for one never asked.
func (s *Store) CachedOutcome(ctx context.Context, k QueryKey) (o Outcome, found bool, err error) {
	var text string
	err = s.read.QueryRowContext(ctx, "SELECT outcome FROM queries WHERE graph = ? AND inputs = ? AND config = ? AND fingerprint = ?", k.Graph, k.Inputs, k.Config, k.Fingerprint).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return o, false, nil
	}
	if err != nil {
		return o, false, s.wrap(err)
	}
	if o, err = decodeOutcome(text); err != nil {
		return o, false, &CorruptError{"query", k.Graph, err.Error()}
	}
	return o, true, nil
}

// PutOutcome remembers the answer to a query; the first answer stays. Infrastructure says nothing and is not kept.
func (s *Store) PutOutcome(ctx context.Context, k QueryKey, o Outcome) error {
	if o.Status == Infrastructure {
		return nil
	}
	text, err := o.encode()
	if err != nil {
		return err
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO queries(graph, inputs, config, fingerprint, outcome, ms, created) VALUES (?,?,?,?,?,?,?)",
			k.Graph, k.Inputs, k.Config, k.Fingerprint, text, o.Duration.Milliseconds(), s.now())
		return err
	})
}

// Minification is a search as stored.
type Minification struct {
	ID          int64
	Key         string
	Start       string // text
	Result      string // text, "" while not finished
	Signature   Signature
	Certificate string // JSON, "" while not finished
	Finished    bool
}

// BeginMinification starts a search, or finds the one of the same key to resume. This process is its owner from then on: until it ends, nobody takes
// the search for one that was interrupted.
func (s *Store) BeginMinification(ctx context.Context, key, start string, sig Signature) (id int64, resumed bool, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT id FROM minifications WHERE key = ?", key).Scan(&id)
		if err == nil {
			resumed = true
			_, err = tx.ExecContext(ctx, "UPDATE minifications SET owner = ? WHERE id = ?", owner(), id)
			return err
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		blob, err := s.putBlob(ctx, tx, []byte(start))
		if err != nil {
			return err
		}
		id, err = insert(ctx, tx, "INSERT INTO minifications(key, start, signature, owner, created) VALUES (?,?,?,?,?)", key, blob, jsonText(sig), owner(), s.now())
		return err
	})
	return id, resumed, err
}

// FinishMinification notes the end of a search.
func (s *Store) FinishMinification(ctx context.Context, id int64, result, certificate string) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		blob, err := s.putBlob(ctx, tx, []byte(result))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE minifications SET result = ?, certificate = ?, finished = ?, owner = NULL WHERE id = ?", blob, certificate, s.now(), id)
		return err
	})
}

// Minification reads a search.
func (s *Store) Minification(ctx context.Context, id int64) (Minification, error) {
	m := Minification{ID: id}
	var start, sig string
	var result, cert sql.NullString
	err := s.read.QueryRowContext(ctx, "SELECT key, start, result, signature, certificate FROM minifications WHERE id = ?", id).Scan(&m.Key, &start, &result, &sig, &cert)
	if errors.Is(err, sql.ErrNoRows) {
		return m, &NotFoundError{"minification", fmt.Sprint(id)}
	}
	if err != nil {
		return m, s.wrap(err)
	}
	b, err := s.Blob(ctx, start)
	if err != nil {
		return m, err
	}
	m.Start, m.Certificate = string(b), cert.String
	if result.Valid {
		if b, err = s.Blob(ctx, result.String); err != nil {
			return m, err
		}
		m.Result, m.Finished = string(b), true
	}
	if err := json.Unmarshal([]byte(sig), &m.Signature); err != nil {
		return m, &CorruptError{"minification", fmt.Sprint(id), err.Error()}
	}
	return m, nil
}

// Step is one line of a search's journal.
type Step struct {
	Seq       int    // from 1
	Parent    string // the state that was edited, by QueryKey.Candidate
	Reduction string // row of the table of reductions
	Candidate string // the state that was asked about
	Edit      string // what was done, for people: long lists are shortened
	Change    string // the same in full, as JSON: minify.Retrace does it again; "" where nothing was edited, and in stores of before
	Verdict   Verdict
	Cached    bool
	Taken     bool // the candidate became the state of the search, or went into the one that did
	Duration  time.Duration
	Calls     int // of the candidate's graph; 0 in stores of before
}

// PutStep appends to the journal. Writing the same seq again replaces the line: a resumed search walks the same steps.
func (s *Store) PutStep(ctx context.Context, id int64, st Step) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO steps(minification, seq, parent, reduction, candidate, edit, verdict, cached, taken, ms, change, calls) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
			id, st.Seq, st.Parent, st.Reduction, st.Candidate, st.Edit, string(st.Verdict), st.Cached, st.Taken, st.Duration.Milliseconds(), st.Change, st.Calls)
		return err
	})
}

// Journal reads the steps of a search in order.
func (s *Store) Journal(ctx context.Context, id int64) ([]Step, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT seq, parent, reduction, candidate, edit, verdict, cached, taken, ms, change, coalesce(calls, 0) FROM steps WHERE minification = ? ORDER BY seq", id)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	var out []Step
	for rows.Next() {
		var st Step
		var ms int64
		if err := rows.Scan(&st.Seq, &st.Parent, &st.Reduction, &st.Candidate, &st.Edit, &st.Verdict, &st.Cached, &st.Taken, &ms, &st.Change, &st.Calls); err != nil {
			return nil, s.wrap(err)
		}
		st.Duration = time.Duration(ms) * time.Millisecond
		out = append(out, st)
	}
	return out, s.wrap(rows.Err())
}

// Finding is another failure met during a search.
type Finding struct {
	ID           int64
	Minification int64 // 0: none
	Signature    Signature
	Raw          string
	Repro        string
}

// PutFinding stores a finding; a signature is kept once per search.
func (s *Store) PutFinding(ctx context.Context, f Finding) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		blob, err := s.putBlob(ctx, tx, []byte(f.Repro))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT OR IGNORE INTO findings(minification, signature, raw, repro, created) VALUES (?,?,?,?,?)",
			nullInt(f.Minification), jsonText(f.Signature), f.Raw, blob, s.now())
		return err
	})
}

// Findings lists the findings of a search.
func (s *Store) Findings(ctx context.Context, minification int64) ([]Finding, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT id, signature, raw, repro FROM findings WHERE minification = ? ORDER BY id", minification)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	var out []Finding
	var blobs []string
	for rows.Next() {
		f := Finding{Minification: minification}
		var sig, blob string
		if err := rows.Scan(&f.ID, &sig, &f.Raw, &blob); err != nil {
			return nil, s.wrap(err)
		}
		if err := json.Unmarshal([]byte(sig), &f.Signature); err != nil {
			return nil, &CorruptError{"finding", fmt.Sprint(f.ID), err.Error()}
		}
		out, blobs = append(out, f), append(blobs, blob)
	}
	if err := rows.Err(); err != nil {
		return nil, s.wrap(err)
	}
	for i := range out {
		b, err := s.Blob(ctx, blobs[i])
		if err != nil {
			return nil, err
		}
		out[i].Repro = string(b)
	}
	return out, nil
}

// HashOf is a hash of a list of texts that keeps their borders.
func HashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n%s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// CountOutcomes is how many queries have an answer in the store.
func (s *Store) CountOutcomes(ctx context.Context) (n int, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT count(*) FROM queries").Scan(&n)
	return n, s.wrap(err)
}

package engine

import (
	"context"
	"errors"
	"time"

	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
)

// Engine is what answers a search, and tells the Clock of the context what its time goes to. Its methods may be called from many goroutines, Load aside, which comes first.
type Engine interface {
	minify.Values
	// Fingerprint says what answers: equal fingerprints give equal outcomes.
	Fingerprint() string
	// Load makes the state that r stands for. Its stored data lie under dir, see Repro.Loader.
	Load(ctx context.Context, r *repros.Repro, dir string) (minify.State, error)
	// Run runs a candidate. r is what Load was given.
	Run(ctx context.Context, r *repros.Repro, c minify.Candidate) (replay.Outcome, error)
	// Finish makes the repro of a state as it is written to a file, with the bytes of the storages that do not fit into the text, by hash.
	Finish(ctx context.Context, r *repros.Repro, s minify.State) (*repros.Repro, map[string][]byte, error)
	// RunScript runs a script in a process that ran nothing before.
	RunScript(ctx context.Context, r *repros.Repro, text string) (replay.Outcome, error)
	// Checks reports whether the graph's shapes can be checked without the engine.
	Checks(r *repros.Repro) bool
	// Name is native or torch.
	Name() string
	// Together is how many small candidates it runs for little more than the price of one, in a search for such a failure.
	Together(sig replay.Signature) int
	// Yields reports whether a candidate that is Idle gives way to all others; if not it is one like them.
	Yields() bool
	// About is lines for people: versions and machine.
	About() []string
	// Close ends its processes and waits for that. What is under way ends with ErrClosed.
	Close() error
}

// Limits bound one query, whatever engine it goes to. Zero means no limit, or the engine's own default.
type Limits struct {
	Wall   time.Duration // of all its stages
	CPU    time.Duration // of all its threads
	Memory int64         // bytes resident; of a process that many share, beyond what that has idle
}

// ErrClosed says that an engine was closed before it answered.
var ErrClosed = errors.New("the engine is closed")

// A Query is one repro to be run. An engine's own queries add what only it needs.
type Query struct {
	Text    string         `json:"text"`             // of the repro file
	Backend string         `json:"backend"`          // after dynamo: a registered backend, or one that the text defines
	Fresh   bool           `json:"fresh,omitempty"`  // in a process that ran nothing before
	Choose  *replay.Choose `json:"choose,omitempty"` // as minify.Candidate says it
}

// A Reply is one message from a process that runs a query: a stage is behind it, a choice was made, or this is its outcome. A process that does not give the
// query's nonce back does not speak of the query.
type Reply struct {
	Nonce   string          `json:"nonce"`
	Mark    string          `json:"mark,omitempty"`
	Choice  *replay.Choice  `json:"choice,omitempty"` // one that the compiler asked about
	Outcome *replay.Outcome `json:"outcome,omitempty"`
}

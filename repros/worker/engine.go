package worker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"whittle/capture/fx"
	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
)

// Options configure an Engine.
type Options struct {
	Limits engine.Limits // of one query
	Print  string        // the engine's fingerprint: versions, flags, machine
	About  []string      // lines for people
	Script []string      // the command that runs a script, whose path is added
	// Execute runs a graph whose calls are not all aten's, eagerly, and shows each node's value; nil => there are only such graphs.
	Execute func(ctx context.Context, gm *fx.GraphModule, inputs []any, see func(*fx.Node, any)) error
}

// Engine asks worker processes of whittle's own stack. It implements engine.Engine.
type Engine struct {
	engine.Local
	o    Options
	pool *Pool
	work string // folder of what its workers read
}

// New starts nothing yet; workers start with the first query.
func New(o Options) (*Engine, error) {
	work, err := os.MkdirTemp("", "whittle-minify-")
	if err != nil {
		return nil, err
	}
	return &Engine{Local: engine.Local{EagerValues: &minify.EagerValues{Execute: o.Execute}}, o: o, pool: &Pool{Print: o.Print, Limits: o.Limits}, work: work}, nil
}

// Close ends the workers.
func (e *Engine) Close() error {
	err := e.pool.Close()
	return errors.Join(err, os.RemoveAll(e.work))
}

// Fingerprint implements Engine.
func (e *Engine) Fingerprint() string { return e.pool.Fingerprint() }

// Name implements Engine.
func (e *Engine) Name() string { return "native" }

// About implements Engine.
func (e *Engine) About() []string { return e.o.About }

// Run implements Engine.
func (e *Engine) Run(ctx context.Context, r *repros.Repro, c minify.Candidate) (replay.Outcome, error) {
	x, err := e.Render(r, c.State, e.work)
	var sys syscall.Errno
	if errors.As(err, &sys) { // the disk is at fault, and not the candidate
		return replay.Outcome{}, err
	}
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}, nil
	}
	x.SaveDir = engine.SaveDir
	return e.pool.Run(ctx, Query{Query: engine.Query{Text: repros.Write(x), Backend: r.Backend, Fresh: c.Fresh, Choose: c.Choose}, Dir: e.work})
}

var lastLine = regexp.MustCompile(`^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)(?:: (.*))?$`)

// RunScript implements Engine.
func (e *Engine) RunScript(ctx context.Context, _ *repros.Repro, text string) (replay.Outcome, error) {
	dir, err := os.MkdirTemp(e.work, "script-")
	if err != nil {
		return replay.Outcome{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "script.py")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return replay.Outcome{}, err
	}
	limit := e.pool.Limits.Wall
	if limit == 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.o.Script[0], append(slices.Clone(e.o.Script[1:]), file)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "WHITTLE_STORE=", "TORCHDYNAMO_REPRO_AFTER=", "TORCHDYNAMO_REPRO_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return replay.Outcome{Status: replay.Timeout, Signature: replay.Signature{Type: "timeout"}}, nil
	}
	if err == nil {
		return replay.Outcome{Status: replay.Pass}, nil
	}
	return scriptOutcome(string(out)), nil
}

// scriptOutcome reads the exception off a traceback.
func scriptOutcome(out string) replay.Outcome {
	o := replay.Outcome{Status: replay.Failed, Message: out}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		m := lastLine.FindStringSubmatch(lines[i])
		if m == nil || !strings.Contains(m[1], "E") {
			continue
		}
		o.Signature = replay.NewSignature("", m[1], m[2], nil, nil)
		return o
	}
	return o
}

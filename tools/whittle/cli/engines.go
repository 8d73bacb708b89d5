package cli

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"whittle/capture/fx"
	"whittle/replay"
	"whittle/replay/files"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/repros/torch"
	"whittle/repros/worker"
	"whittle/tools/whittle/reduce"
	"whittle/tools/whittle/stack"
)

// queryLimit bounds one native query whose failure is not a hang: far above what compiling a large graph takes.
const queryLimit = 30 * time.Second

// hangLimit is after how long a native query counts as the hang that is looked for: far above what a candidate takes that does not hang.
const hangLimit = 3 * time.Second // on an idle machine: see slowness

// wall is the time limit of one query for this failure.
func (e *event) wall() time.Duration {
	limit := queryLimit
	if e.Hung {
		limit = hangLimit
	}
	return time.Duration(float64(limit) * slowness())
}

// engines are what a command asks, for one failure after another. Those that ask a real PyTorch share one Python, which is started for the first.
type engines struct {
	o       minifyOptions
	workers int           // queries at a time
	client  *torch.Client // nil until it is needed

	mu     sync.Mutex // starts begin where others end
	ahead  []ahead    // in the order in which they come
	closed bool
}

// ahead is a failure whose start is run before it comes to it, by an engine of its own.
type ahead struct {
	repro  *repros.Repro
	engine engine.Engine
	begun  *reduce.Begun
}

// mostAhead is how many failures are begun at a time: what a long search leaves idle is enough for more than one start, and a short one leaves little.
const mostAhead = 2

// begin runs the starts of s and of those that come after it, one after the other, on what the failure under way leaves idle. Only a real PyTorch has anything
// to gain, and one query at a time leaves no room. What cannot be begun says why when it comes to it.
func (g *engines) begin(ctx context.Context, s *subject) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for ; s != nil; s = s.next {
		if i := slices.IndexFunc(g.ahead, func(a ahead) bool { return a.repro == s.repro }); i >= 0 {
			if g.ahead[i].begun.Ended() {
				continue
			}
			return
		}
		if g.closed || len(g.ahead) == mostAhead || g.workers < 2 || g.client == nil || reduce.NeedsBackend(s.repro) {
			return
		}
		a, next := ahead{repro: s.repro, engine: torch.New(g.client)}, s.next
		a.begun = reduce.Begin(ctx, a.engine, s.repro, s.dir, func() { g.begin(ctx, next) })
		g.ahead = append(g.ahead, a)
		return
	}
}

// took gives what was begun of a failure, with its engine; nil where nothing was.
func (g *engines) took(r *repros.Repro) (engine.Engine, *reduce.Begun) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.ahead) == 0 || g.ahead[0].repro != r {
		return nil, nil
	}
	a := g.ahead[0]
	g.ahead = g.ahead[1:]
	return a.engine, a.begun
}

// of gives a failure's engine, and what ends it when the failure is done with: one of a real PyTorch lives on, for the next, until close.
func (g *engines) of(ctx context.Context, r *repros.Repro) (e engine.Engine, closed func() error, err error) {
	o := g.o
	command := o.python
	if len(command) == 0 {
		command = strings.Fields(o.torch)
	}
	if len(command) == 0 && o.engine != "native" && (g.client != nil || hasTorch(ctx)) {
		command = defaultPython
	}
	if o.engine == "torch" && len(command) == 0 {
		return nil, nil, errNoTorch
	}
	var memory int64
	if o.memory != "" && o.memory != "0" {
		if memory, err = parseBytes(o.memory); err != nil {
			return nil, nil, usagef("--memory: %v", err)
		}
	}
	if o.engine == "native" || len(command) == 0 {
		n, err := nativeEngine(r, o.timeout, memory)
		if err != nil {
			return nil, nil, err
		}
		return n, n.Close, nil
	}
	if reduce.NeedsBackend(r) {
		return nil, nil, usagef("backend %s is not PyTorch's own: --source FILE names the script that defines it", r.Backend)
	}
	if g.client == nil {
		if err := g.start(ctx, command, memory); err != nil {
			return nil, nil, err
		}
	}
	return torch.New(g.client), func() error { return nil }, nil
}

// nativeEngine is an engine of whittle's own stack.
func nativeEngine(r *repros.Repro, wall time.Duration, memory int64) (*worker.Engine, error) {
	if wall == 0 {
		wall = queryLimit
	}
	if memory == 0 {
		memory = 8 << 30
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	n := worker.Options{Print: fingerprint(), Limits: engine.Limits{Wall: wall, CPU: 4 * wall, Memory: memory},
		About: append([]string{"follows PyTorch " + PyTorchVersion}, machine()...), Script: []string{self, "run", "--no-minify"}}
	if r.Stage == repros.AfterDynamo {
		n.Execute = func(ctx context.Context, gm *fx.GraphModule, inputs []any, see func(*fx.Node, any)) error {
			return stack.Execute(ctx, cacheDir(), gm, inputs, see)
		}
	}
	return worker.New(n)
}

// start starts the Python.
func (g *engines) start(ctx context.Context, command []string, memory int64) error {
	facts := newFacts(command)
	var visit func(ctx context.Context) net.Conn
	if !g.o.noKeep && os.Getenv("WHITTLE_ENGINE") != "none" {
		visit = connectKept(command)
	}
	c, err := torch.Start(ctx, torch.Options{Command: command, Facts: facts.read(), Kept: visit, Slots: g.workers, Limits: torch.Limits{Limits: engine.Limits{Memory: memory}, Compile: g.o.timeout}})
	if err != nil {
		if ctx.Err() == nil {
			err = usageError{err}
		}
		return err
	}
	facts.write(c.Facts())
	g.client = c
	return nil
}

// close ends the Python.
func (g *engines) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	for _, a := range g.ahead {
		a.begun.Close()
	}
	if g.client != nil {
		_ = g.client.Close() // it has been asked all that there is to ask
	}
}

// defaultPython is asked where no command is named.
var defaultPython = []string{"python3"}

// errNoTorch says that there is no real PyTorch to be asked.
var errNoTorch = usagef("no Python with torch: --torch \"COMMAND\" or $WHITTLE_TORCH names one")

// hasTorch reports whether python3 is there and finds torch.
func hasTorch(ctx context.Context) bool {
	return exec.CommandContext(ctx, "python3", "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)").Run() == nil
}

// facts keeps what a Python said about itself, so that it is not asked again: the tests of its compiler take seconds.
type facts struct{ path string }

func newFacts(command []string) facts {
	return facts{filepath.Join(cacheDir(), "torch", replay.HashOf(command...)[:16]+".json")}
}

func (f facts) read() torch.Facts {
	var v torch.Facts
	if b, err := os.ReadFile(f.path); err == nil {
		if json.Unmarshal(b, &v) != nil {
			v = torch.Facts{}
		}
	}
	return v
}

// write keeps v; a cache that cannot be written costs time alone.
func (f facts) write(v torch.Facts) {
	b, err := json.Marshal(v)
	if err == nil && os.MkdirAll(filepath.Dir(f.path), 0o777) == nil {
		_ = files.Replace(f.path, b)
	}
}

package torch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"whittle/replay"
	"whittle/repros/engine"
)

// Options say how an Engine starts and what bounds its queries.
type Options struct {
	Command []string // starts a Python that has torch: {"python3"}, {"chroot", DIR, "python3"}, {"ssh", HOST, "python3"}
	Env     []string // more environment, NAME=value; only for a Python that this machine starts
	Limits  Limits
	Facts   Facts // of an earlier Engine with the same Command: saves asking again; zero for none
	Slots   int   // candidates that are at work at a time, of those that are asked about; 0 => as many as that Python has processors
	Threads int   // of eager and generated code; 0 => what that Python has by default
	// Kept gives a connection to a Python that was started before and is this client's alone until it closes it: see Host. nil where there is none,
	// or as a function where none is asked for; then the Command is started.
	Kept func(ctx context.Context) net.Conn
	Held int64 // bytes of storages that the far side keeps: those unused for longest go first, and are made again when they are asked for; 0 => 8 GiB
}

// Limits bound one query, and the Python that answers it. Zero means the default that Start fills in.
type Limits struct {
	engine.Limits
	Load, Eager, Compile, Run time.Duration // wall time of each stage
	// Run is further bounded by RunFactor times the query's own eager time, but not below RunFloor: generated code does not take
	// many times what eager takes.
	RunFactor float64
	RunFloor  time.Duration

	Start   time.Duration // until torch is imported
	Silence time.Duration // without a sign of life from a Python that was asked for one
	Grace   time.Duration // that a Python gets to end by itself, and again after SIGTERM
}

// patience is what any job may take, and a silence on top. The far side keeps to the limits of stages; this is for one that does not.
func (l Limits) patience() time.Duration { return l.Wall + l.Silence }

// Facts are what a Python with torch says about itself.
type Facts struct {
	Torch    string `json:"torch"`
	Git      string `json:"git"`
	Python   string `json:"python"`
	Threads  int    `json:"threads"`
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	Memory   int64  `json:"memory"`   // bytes of the whole machine
	Compiler string `json:"compiler"` // C++
	ISA      string `json:"isa"`      // vector instructions that Inductor chooses
	ISAOK    bool   `json:"isa_ok"`   // they were tried
}

// Client is a Python with torch that answers. Its methods may be called from many goroutines; what the Python does to itself, the next in
// its seat takes its place. What a Python lacks, storages and explorations, it is told when a job turns out to need it (informed).
type Client struct {
	o     Options
	facts Facts // set before Start returns
	kept  bool  // likewise
	guess bool  // no limit of compiling was given

	seat *engine.Seat[*process]

	mu      sync.Mutex // nothing under it waits
	started int
	slowest time.Duration // compilation that ended
	largest int64         // bytes that a query held that ended
	hogged  bool          // one took all that it was allowed
	stuck   string        // stage in which a query was stopped by its time, "" for none so far

	sources      map[string]source // of storages, by hash
	explorations []*exploration    // least recently used first
	explored     int               // bytes of their texts
}

type hello struct {
	Facts
	Seconds float64 `json:"seconds"`
	Tmp     string  `json:"tmp"`
	PID     int     `json:"pid"`
}

// Start starts the command and waits until torch is imported. The error names the command and the end of what it printed.
func Start(ctx context.Context, o Options) (*Client, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("torch: no command that starts a Python")
	}
	c := &Client{o: o, sources: map[string]source{}, guess: o.Limits.Compile == 0}
	c.o.Limits = fill(o.Limits)
	c.seat = engine.NewSeat(c.start)
	p, err := c.seat.Get(ctx)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.facts, c.kept = p.hello.Facts, p.kept
	if c.o.Limits.Memory == 0 {
		c.o.Limits.Memory = min(max(c.facts.Memory/4, 2<<30), 8<<30)
	}
	return c, nil
}

// fill puts defaults where a limit of time is zero.
func fill(l Limits) Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&l.Load, 2*time.Minute)
	def(&l.Eager, 5*time.Minute)
	def(&l.Compile, 10*time.Minute)
	def(&l.Run, 5*time.Minute)
	def(&l.RunFloor, 2*time.Second)
	def(&l.CPU, 30*time.Minute)
	def(&l.Start, 10*time.Minute)
	def(&l.Silence, 2*time.Minute)
	def(&l.Grace, 5*time.Second)
	def(&l.Wall, l.Load+l.Eager+l.Compile+2*l.Run)
	if l.RunFactor == 0 {
		l.RunFactor = 30
	}
	return l
}

// boot reads the program's length and text from standard input, without a buffer, and runs it. The program comes by the pipe, so that
// the command line stays short.
const boot = `import sys; f = open(0, "rb", 0, closefd=False); n = int(f.readline()); b = bytearray(); [b.extend(f.read(n - len(b))) for _ in iter(lambda: len(b) < n, False)]; SOURCE = b.decode(); exec(compile(SOURCE, "whittle_far", "exec"))`

// argv is the whole command. A shell on the far side of ssh takes quotes off.
func argv(command []string) []string {
	text := boot
	if filepath.Base(command[0]) == "ssh" {
		text = "'" + text + "'"
	}
	return append(append([]string{}, command...), "-u", "-c", text)
}

// startTries is how often a Python that is killed while it starts is started again: that says nothing about the next one.
const startTries = 3

// start starts a Python in place of the one before, whose files it removes. The first one may be kept by somebody; whoever keeps it has lost it, if it is
// over, or it does not do as it should.
func (c *Client) start(life context.Context, before *process) (*process, error) {
	facts, old := c.o.Facts, ""
	if before != nil {
		facts = before.hello.Facts
		if !before.kept {
			old = before.hello.Tmp
		}
	} else if p := c.visit(life); p != nil {
		return p, nil
	}
	body, err := greeting(known{ISAOK: facts.ISAOK && facts.Torch != "", Old: old, Held: c.o.Held})
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		p, err := launch(c.o)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		c.started++
		c.mu.Unlock()
		err = p.greet(life, body)
		if err == nil {
			return p, nil
		}
		p.End(err)
		switch {
		case life.Err() != nil:
			return nil, engine.ErrClosed
		case !p.died || try == startTries:
			return nil, noStart(c.o.Command, p.line, err)
		}
	}
}

// visit gives the Python that somebody keeps; nil where there is none that can be had.
func (c *Client) visit(life context.Context) *process {
	if c.o.Kept == nil {
		return nil
	}
	conn := c.o.Kept(life)
	if conn == nil {
		return nil
	}
	// It is ready, and the first that comes is what it said of itself when it was.
	var a answer
	var h hello
	err := conn.SetReadDeadline(time.Now().Add(c.o.Limits.Grace))
	if err == nil {
		err = engine.ReadFrame(conn, &a)
	}
	if err == nil {
		err = json.Unmarshal(a.Result, &h)
	}
	if err == nil {
		err = conn.SetReadDeadline(time.Time{})
	}
	if err != nil {
		conn.Close()
		return nil
	}
	p := talk(visit{conn}, c.o.Limits)
	p.kept, p.hello = true, h
	close(p.ready)
	return p
}

// noStart says why a command did not start a Python, by the last that it printed.
func noStart(command []string, l line, err error) error {
	lines := strings.Split(strings.TrimSpace(l.said()), "\n")
	why := lines[len(lines)-1]
	if why == "" {
		why = err.Error()
	}
	return fmt.Errorf("torch: %s does not start a Python with torch: %s", strings.Join(command, " "), why)
}

// Close ends the Python, its children and its files, and waits for that. Jobs under way end with engine.ErrClosed.
func (c *Client) Close() error {
	c.seat.Close()
	return nil
}

// Facts are what the Python said about itself.
func (c *Client) Facts() Facts { return c.facts }

// Kept reports whether the first Python was one that somebody keeps.
func (c *Client) Kept() bool { return c.kept }

// Fingerprint says what answers: equal fingerprints give equal outcomes.
func (c *Client) Fingerprint() string {
	f := c.facts
	return replay.HashOf("torch", f.Torch, f.Git, f.Python, f.CPU, f.Compiler, f.ISA, strconv.Itoa(c.threads()))
}

func (c *Client) threads() int {
	if c.o.Threads > 0 {
		return c.o.Threads
	}
	return c.facts.Threads
}

// Started is how many Pythons were started so far: more than one after a death.
func (c *Client) Started() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// ask asks the present process, or after its death the next one. It is a question of ctx's clock.
func (c *Client) ask(ctx context.Context, j job, give map[string][]byte) (json.RawMessage, error) {
	clock := engine.ClockOf(ctx).Begin(engine.OnPython)
	defer clock.End()
	for try := 0; ; try++ {
		started := clock.Wait(engine.OnStart)
		p, err := c.seat.Get(ctx)
		started()
		if err != nil {
			return nil, err
		}
		b, err := c.informed(ctx, p, j, give, clock)
		var gone *errGone
		if err == nil || !errors.As(err, &gone) || try == 2 {
			return b, err
		}
	}
}

package torch

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/replay"
)

//go:embed engine.py
var program string

// Options say how an Engine starts and what bounds its queries.
type Options struct {
	Command []string // starts a Python that has torch: {"python3"}, {"chroot", DIR, "python3"}, {"ssh", HOST, "python3"}
	Env     []string // more environment, NAME=value; only for a Python that this machine starts
	Limits  Limits
	Facts   Facts // of an earlier Engine with the same Command: saves asking again; zero for none
	Spares  int   // fresh queries that will be asked: Pythons are kept for them; 0 => 1
	Threads int   // of eager and generated code; 0 => what that Python has by default
}

// Limits bound one query. Zero means none, but for the defaults that Start fills in.
type Limits struct {
	Load, Eager, Compile, Run time.Duration // wall time of each stage
	// Run is further bounded by RunFactor times the query's own eager time, but not below RunFloor: generated code does not take
	// many times what eager takes.
	RunFactor float64
	RunFloor  time.Duration
	CPU       time.Duration // of all stages
	Memory    int64         // bytes beyond what an idle Python with torch has
}

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

// Engine is a Python with torch that answers. Its methods may be called from many goroutines; what the Python does to itself,
// a new one takes its place.
type Engine struct {
	o     Options
	facts Facts

	mu      sync.Mutex
	p       *process
	storage map[string][]byte // put so far, for a new process
	replays []job             // explorations, for a new process
	slowest time.Duration     // compilation that ended
	largest int64             // bytes that a query held that ended
	hogged  bool              // one took all that it was allowed
	guess   bool              // no limit of compiling was given
	stuck   string            // stage in which a query was stopped by its time, "" for none so far
	closed  bool
	started int
}

// process is one Python.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr *tail
	hello  hello
	wg     conc.WaitGroup

	send    sync.Mutex
	mu      sync.Mutex
	next    int64
	pending map[int64]chan json.RawMessage
	gone    error // set when it is dead
	dead    chan struct{}
}

type hello struct {
	Facts
	Seconds float64 `json:"seconds"`
	Tmp     string  `json:"tmp"`
	PID     int     `json:"pid"`
}

// job is one request. Its fields are those that engine.py reads.
type job map[string]any

// errGone says that the Python ended before it answered.
type errGone struct{ cause error }

func (e *errGone) Error() string { return "the Python with torch ended: " + e.cause.Error() }
func (e *errGone) Unwrap() error { return e.cause }

// Start starts the command and waits until torch is imported. The error names the command and the end of what it printed.
func Start(ctx context.Context, o Options) (*Engine, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("torch: no command that starts a Python")
	}
	e := &Engine{o: o, storage: map[string][]byte{}}
	p, err := e.start(ctx, o.Facts, "", startTries)
	if err != nil {
		return nil, err
	}
	e.p, e.facts = p, p.hello.Facts
	e.o.Limits, e.guess = fill(o.Limits, e.facts), o.Limits.Compile == 0
	return e, nil
}

// fill puts defaults where a limit is zero.
func fill(l Limits, f Facts) Limits {
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
	if l.RunFactor == 0 {
		l.RunFactor = 30
	}
	if l.Memory == 0 {
		l.Memory = min(max(f.Memory/4, 2<<30), 8<<30)
	}
	return l
}

// boot reads the program's length and text from standard input, without a buffer, and runs it. The program comes by the pipe, so that
// the command line stays short.
const boot = `import sys; f = open(0, "rb", 0, closefd=False); n = int(f.readline()); b = bytearray(); [b.extend(f.read(n - len(b))) for _ in iter(lambda: len(b) < n, False)]; SOURCE = b.decode(); exec(compile(SOURCE, "engine.py", "exec"))`

// argv is the whole command. A shell on the far side of ssh takes quotes off.
func argv(command []string) []string {
	text := boot
	if filepath.Base(command[0]) == "ssh" {
		text = "'" + text + "'"
	}
	return append(append([]string{}, command...), "-u", "-c", text)
}

func (e *Engine) start(ctx context.Context, known Facts, old string, tries int) (*process, error) {
	args := argv(e.o.Command)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(cmd.Environ(), e.o.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := &process{cmd: cmd, stderr: &tail{}, pending: map[int64]chan json.RawMessage{}, dead: make(chan struct{})}
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("torch: starting %s: %w", strings.Join(e.o.Command, " "), err)
	}
	e.mu.Lock()
	e.started++
	e.mu.Unlock()
	first := make(chan json.RawMessage, 1)
	p.pending[0] = first
	p.wg.Go(p.read)
	if _, err := io.WriteString(p.in, strconv.Itoa(len(program))+"\n"+program); err == nil {
		facts := map[string]any{"isa_ok": known.ISAOK && known.Torch != "", "old": old, "spares": max(e.o.Spares, 1)}
		err = writeFrame(p.in, job{"op": "hello", "facts": facts})
		if err != nil {
			p.kill()
			return nil, e.noStart(p, err)
		}
	}
	select {
	case b, ok := <-first:
		if !ok {
			signaled := p.ended()
			if signaled && tries > 0 && ctx.Err() == nil { // somebody killed it; that says nothing about the next one
				return e.start(ctx, known, old, tries-1)
			}
			return nil, e.noStart(p, p.gone)
		}
		if err := json.Unmarshal(b, &p.hello); err != nil {
			p.kill()
			return nil, e.noStart(p, err)
		}
	case <-ctx.Done():
		p.kill()
		return nil, ctx.Err()
	}
	return p, nil
}

// startTries is how often a Python that is killed while it starts is started again.
const startTries = 3

// ended waits for a process whose pipe is closed; it reports whether a signal ended it that was not ours.
func (p *process) ended() bool {
	p.in.Close()
	p.wg.Wait()
	done := make(chan struct{})
	var wg conc.WaitGroup
	wg.Go(func() {
		_ = p.cmd.Wait()
		close(done)
	})
	byUs := false
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		byUs = true
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	wg.Wait()
	ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled() && !byUs
}

func (e *Engine) noStart(p *process, err error) error {
	text := p.stderr.String()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := lines[len(lines)-1]
	if last == "" {
		last = err.Error()
	}
	return fmt.Errorf("torch: %s does not start a Python with torch: %s", strings.Join(e.o.Command, " "), last)
}

// read takes answers until the process is gone.
func (p *process) read() {
	r := bufio.NewReaderSize(p.out, 1<<16)
	var err error
	for {
		var a answer
		if a, err = readFrame(r); err != nil {
			break
		}
		p.mu.Lock()
		c := p.pending[a.ID]
		delete(p.pending, a.ID)
		p.mu.Unlock()
		if c != nil {
			c <- a.Result
		}
	}
	p.mu.Lock()
	p.gone = err
	for id, c := range p.pending {
		close(c)
		delete(p.pending, id)
	}
	p.mu.Unlock()
	close(p.dead)
}

// ask sends a job and waits for its answer. A cancelled job's child is ended.
func (p *process) ask(ctx context.Context, j job) (json.RawMessage, error) {
	c := make(chan json.RawMessage, 1)
	p.mu.Lock()
	if p.gone != nil {
		p.mu.Unlock()
		return nil, &errGone{p.gone}
	}
	p.next++
	id := p.next
	p.pending[id] = c
	p.mu.Unlock()
	x := job{"id": id}
	for k, v := range j {
		x[k] = v
	}
	if err := p.write(x); err != nil {
		return nil, &errGone{err}
	}
	select {
	case b, ok := <-c:
		if !ok {
			return nil, &errGone{p.gone}
		}
		return b, nil
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.pending, id)
		p.mu.Unlock()
		_ = p.write(job{"op": "cancel", "id": id})
		return nil, ctx.Err()
	}
}

func (p *process) write(j job) error {
	p.send.Lock()
	defer p.send.Unlock()
	return writeFrame(p.in, j)
}

// kill ends the process and waits for it.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	p.in.Close()
	p.wg.Wait()
	_ = p.cmd.Wait()
}

// close says goodbye, so that the process takes its files and children with it.
func (p *process) close() {
	_ = p.write(job{"op": "close"})
	p.in.Close()
	select {
	case <-p.dead:
	case <-time.After(5 * time.Second):
	}
	p.kill()
}

// Close ends the Python, its children and its files.
func (e *Engine) Close() error {
	e.mu.Lock()
	p := e.p
	e.p, e.closed = nil, true
	e.mu.Unlock()
	if p != nil {
		p.close()
	}
	return nil
}

// Facts are what the Python said about itself.
func (e *Engine) Facts() Facts { return e.facts }

// Fingerprint says what answers: equal fingerprints give equal outcomes.
func (e *Engine) Fingerprint() string {
	f := e.facts
	return replay.HashOf("torch", f.Torch, f.Git, f.Python, f.CPU, f.Compiler, f.ISA, strconv.Itoa(e.threads()))
}

func (e *Engine) threads() int {
	if e.o.Threads > 0 {
		return e.o.Threads
	}
	return e.facts.Threads
}

// Started is how many Pythons were started so far: more than one after a death.
func (e *Engine) Started() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.started
}

// ask asks the present process, or after its death a new one that was told what the old one knew.
func (e *Engine) ask(ctx context.Context, j job) (json.RawMessage, error) {
	for try := 0; ; try++ {
		p, err := e.alive(ctx)
		if err != nil {
			return nil, err
		}
		b, err := p.ask(ctx, j)
		var gone *errGone
		if err == nil || !errors.As(err, &gone) || try == 2 {
			return b, err
		}
	}
}

func (e *Engine) alive(ctx context.Context) (*process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.New("torch: the engine is closed")
	}
	if e.p != nil {
		select {
		case <-e.p.dead:
		default:
			return e.p, nil
		}
		old := e.p
		e.p = nil
		old.kill()
		e.mu.Unlock()
		p, err := e.start(ctx, e.facts, old.hello.Tmp, startTries)
		e.mu.Lock()
		if err != nil {
			return nil, err
		}
		for hash, data := range e.storage {
			if err := put(p, hash, data); err != nil {
				return nil, err
			}
		}
		for _, j := range e.replays {
			if _, err := p.ask(ctx, j); err != nil {
				return nil, err
			}
		}
		e.p = p
		return p, nil
	}
	p, err := e.start(ctx, e.facts, "", startTries)
	if err == nil {
		e.p = p
	}
	return p, err
}

// maxPut is how many bytes of a storage go into one message.
const maxPut = 64 << 20

func put(p *process, hash string, data []byte) error {
	for more := false; ; more = true {
		n := min(len(data), maxPut)
		if err := p.write(job{"op": "put", "hash": hash, "data": base64.StdEncoding.EncodeToString(data[:n]), "more": more}); err != nil {
			return err
		}
		if data = data[n:]; len(data) == 0 {
			return nil
		}
	}
}

// Put hands over a storage's bytes under its hash, once; queries name it by that.
func (e *Engine) Put(ctx context.Context, hash string, data []byte) error {
	p, err := e.alive(ctx)
	if err != nil {
		return err
	}
	e.mu.Lock()
	_, known := e.storage[hash]
	e.storage[hash] = data
	e.mu.Unlock()
	if known {
		return nil
	}
	if err := put(p, hash, data); err != nil {
		return &errGone{err}
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if over := len(t.b) - 32<<10; over > 0 {
		t.b = append([]byte{}, t.b[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.b), "?")
}

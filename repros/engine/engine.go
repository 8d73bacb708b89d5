package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"whittle/replay"
)

// Limits bound one query. Zero means no limit.
type Limits struct {
	Wall   time.Duration
	CPU    time.Duration // of all threads
	Memory int64         // resident bytes
}

// LimitsFrom derives time limits from how long the first run took: ten times it, within bounds.
func LimitsFrom(first time.Duration) Limits {
	w := min(max(10*first, 5*time.Second), 10*time.Minute)
	return Limits{Wall: w, CPU: 8 * w}
}

// ErrClosed says that an engine was closed before it answered.
var ErrClosed = errors.New("the engine is closed")

// Engine keeps workers and gives them queries. Its methods may be called from many goroutines. A worker belongs to one query, or is idle:
// nobody waits for another's worker, and whoever holds one ends it or gives it back.
type Engine struct {
	Command     []string // starts a worker; empty: this binary with WorkerArg
	Env         []string // more environment for workers
	Limits      Limits
	Print       string // the engine's fingerprint: versions, flags, machine
	MaxRequests int    // a worker is replaced after so many queries; 0 => 200

	mu      sync.Mutex // nothing under it waits
	idle    []*worker
	started int
	closed  bool
	running map[*query]bool
	done    sync.WaitGroup // of running
}

// query is one under way.
type query struct{ stop context.CancelCauseFunc }

// Fingerprint says what answers: equal fingerprints give equal outcomes.
func (e *Engine) Fingerprint() string { return e.Print }

// Started is how many worker processes were started so far.
func (e *Engine) Started() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.started
}

// Close ends all workers and waits for that. Queries under way end with ErrClosed.
func (e *Engine) Close() error {
	e.mu.Lock()
	idle := e.idle
	e.idle, e.closed = nil, true
	for q := range e.running {
		q.stop(ErrClosed)
	}
	e.mu.Unlock()
	for _, w := range idle {
		w.end()
	}
	e.done.Wait()
	return nil
}

// begin registers a query, so that Close can end it.
func (e *Engine) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, nil, ErrClosed
	}
	ctx, stop := context.WithCancelCause(ctx)
	q := &query{stop}
	if e.running == nil {
		e.running = map[*query]bool{}
	}
	e.running[q] = true
	e.done.Add(1)
	return ctx, func() {
		stop(nil)
		e.mu.Lock()
		delete(e.running, q)
		e.mu.Unlock()
		e.done.Done()
	}, nil
}

// worker is one process, owned by one query at a time.
type worker struct {
	cmd     *exec.Cmd
	queries *os.File // we write
	answers *os.File // we read
	output  *os.File // what it prints, an unlinked file
	served  int
	dead    bool
}

func (e *Engine) start() (*worker, error) {
	argv := e.Command
	if len(argv) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		argv = []string{self, WorkerArg}
	}
	qr, qw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ar, aw, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, qr.Close(), qw.Close())
	}
	out, err := os.CreateTemp("", "whittle-worker")
	if err != nil {
		return nil, errors.Join(err, qr.Close(), qw.Close(), ar.Close(), aw.Close())
	}
	os.Remove(out.Name())
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.ExtraFiles = []*os.File{qr, aw}
	cmd.Stdout, cmd.Stderr = out, out
	// With "crash" the Go runtime dies by the signal that it would otherwise turn into exit status 2.
	cmd.Env = append(append(os.Environ(), "GOTRACEBACK=crash"), e.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	qr.Close()
	aw.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a worker: %w", err), qw.Close(), ar.Close(), out.Close())
	}
	_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	e.mu.Lock()
	e.started++
	e.mu.Unlock()
	return &worker{cmd: cmd, queries: qw, answers: ar, output: out}, nil
}

func (e *Engine) take(fresh bool) (*worker, error) {
	e.mu.Lock()
	if k := len(e.idle); k > 0 && !fresh {
		w := e.idle[k-1]
		e.idle = e.idle[:k-1]
		e.mu.Unlock()
		return w, nil
	}
	e.mu.Unlock()
	return e.start()
}

func (e *Engine) give(w *worker) {
	limit := e.MaxRequests
	if limit == 0 {
		limit = 200
	}
	e.mu.Lock()
	keep := !e.closed && w.served < limit
	if keep {
		e.idle = append(e.idle, w)
	}
	e.mu.Unlock()
	if !keep {
		w.end()
	}
}

// end ends the worker and frees all that it held.
func (w *worker) end() {
	w.kill()
	w.output.Close()
}

// kill ends the worker's process group. What it printed can still be read.
func (w *worker) kill() {
	if w.dead {
		return
	}
	w.dead = true
	_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL)
	_ = w.cmd.Wait()
	w.queries.Close()
	w.answers.Close()
}

// Run runs one query. The error is ctx's, or that no worker can be started, or ErrClosed; all else is an outcome.
func (e *Engine) Run(ctx context.Context, q Query) (replay.Outcome, error) {
	ctx, end, err := e.begin(ctx)
	if err != nil {
		return replay.Outcome{}, err
	}
	defer end()
	for fresh := q.Fresh; ; fresh = true {
		w, err := e.take(fresh)
		if err != nil {
			return replay.Outcome{}, err
		}
		served := w.served
		o, err := e.query(ctx, w, q)
		if err == nil && served > 0 && o.Status == replay.Infrastructure && len(o.Marks) == 0 {
			continue // the queries before may have left the worker like this: a new one says more
		}
		return o, err
	}
}

// query has a worker run a query, and gives the worker back or ends it.
func (e *Engine) query(ctx context.Context, w *worker, q Query) (replay.Outcome, error) {
	q.Nonce = rand.Text()
	begin := time.Now()
	o, clean, err := e.converse(ctx, w, q)
	o.Duration = time.Since(begin)
	w.served++
	if clean && err == nil && !q.Fresh {
		e.give(w)
	} else {
		w.end()
	}
	return o, err
}

// poll is how often limits are looked at.
const poll = 20 * time.Millisecond

// converse sends a query and follows the answers until the outcome, a limit, or the worker's end.
func (e *Engine) converse(ctx context.Context, w *worker, q Query) (o replay.Outcome, clean bool, err error) {
	from, _ := w.output.Seek(0, io.SeekEnd)
	pid := w.cmd.Process.Pid
	cpu0 := cpuTime(pid)
	if e.Limits.CPU > 0 {
		lim := uint64((cpu0+e.Limits.CPU)/time.Second) + 1
		_ = unix.Prlimit(pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: lim, Max: unix.RLIM_INFINITY}, nil)
	}
	_ = w.queries.SetWriteDeadline(time.Now().Add(time.Minute))
	hurry := context.AfterFunc(ctx, func() { _ = w.queries.SetWriteDeadline(time.Now()) })
	err = writeFrame(w.queries, q)
	hurry()
	if err != nil {
		w.kill() // what it printed at its end is all there now
		return e.infra(w, from, nil, "the worker takes no query: "+err.Error()), false, context.Cause(ctx)
	}
	begin := time.Now()
	var marks []string
	var buf []byte
	chunk := make([]byte, 64<<10)
	for {
		_ = w.answers.SetReadDeadline(time.Now().Add(poll))
		n, rerr := w.answers.Read(chunk)
		buf = append(buf, chunk[:n]...)
		for {
			var r reply
			used, err := cutFrame(buf, &r)
			if err != nil {
				return e.infra(w, from, marks, err.Error()), false, nil
			}
			if used == 0 {
				break
			}
			buf = buf[used:]
			if r.Nonce != q.Nonce {
				return e.infra(w, from, marks, "an answer without the query's nonce"), false, nil
			}
			if r.Mark != "" {
				marks = append(marks, r.Mark)
			}
			if r.Outcome != nil {
				o := *r.Outcome
				o.Marks = marks
				o.Detail = join(o.Detail, w.tail(from))
				if why := o.Unproved(); why != "" {
					return replay.Outcome{Status: replay.Infrastructure, Message: why, Marks: marks, Detail: o.Detail}, false, nil
				}
				return o, true, nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return o, false, context.Cause(ctx)
		case errors.Is(rerr, os.ErrDeadlineExceeded), rerr == nil:
		default: // the pipe is closed: the worker died, or closed it
			return e.death(w, from, marks, cpu0), false, nil
		}
		if e.Limits.Wall > 0 && time.Since(begin) > e.Limits.Wall {
			return limit(w, from, marks, replay.Timeout, "timeout", fmt.Sprintf("not done after %v", e.Limits.Wall)), false, nil
		}
		if e.Limits.CPU > 0 && cpuTime(pid)-cpu0 > e.Limits.CPU {
			return limit(w, from, marks, replay.Timeout, "timeout", fmt.Sprintf("%v of CPU time used", e.Limits.CPU)), false, nil
		}
		if e.Limits.Memory > 0 {
			if rss := resident(pid); rss > e.Limits.Memory {
				return limit(w, from, marks, replay.OOM, "oom", fmt.Sprintf("%d bytes resident, %d allowed", rss, e.Limits.Memory)), false, nil
			}
		}
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// limit is the outcome of a broken limit. Where eager had not run yet, the repro itself is at fault.
func limit(w *worker, from int64, marks []string, st replay.Status, typ, msg string) replay.Outcome {
	o := replay.Outcome{Status: st, Message: msg, Marks: marks, Detail: w.tail(from), Signature: replay.Signature{Stage: underWay(marks), Type: typ}}
	return early(o, marks)
}

// early is what an end before eager was through means: nothing about the compiler.
func early(o replay.Outcome, marks []string) replay.Outcome {
	switch len(marks) {
	case 0:
		o.Status, o.Signature = replay.Infrastructure, replay.Signature{}
		o.Message = "while loading: " + o.Message
	case 1:
		o.Status, o.Signature = replay.Invalid, replay.Signature{}
		o.Message = "in eager: " + o.Message
	}
	return o
}

func underWay(marks []string) string {
	return []string{"load", "eager", "compile", "run", "compare"}[min(len(marks), 4)]
}

func (e *Engine) infra(w *worker, from int64, marks []string, msg string) replay.Outcome {
	return replay.Outcome{Status: replay.Infrastructure, Message: msg, Marks: marks, Detail: w.tail(from)}
}

var (
	reSignal = regexp.MustCompile(`(?m)^(?:\[signal |fatal error: .*?\[signal |)(SIG[A-Z]+)\b`)
	reOOM    = regexp.MustCompile(`out of memory|std::bad_alloc|cannot allocate memory`)
)

// death is the outcome of a worker that ended by itself.
func (e *Engine) death(w *worker, from int64, marks []string, cpu0 time.Duration) replay.Outcome {
	// The pipe's end comes a moment before the process is gone.
	for range 100 {
		if gone(w.cmd.Process.Pid) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	alive := !gone(w.cmd.Process.Pid)
	w.kill()
	if alive {
		return e.infra(w, from, marks, "the worker closed its pipe")
	}
	text := w.tail(from)
	ps := w.cmd.ProcessState
	ws, _ := ps.Sys().(syscall.WaitStatus)
	o := replay.Outcome{Status: replay.Killed, Marks: marks, Detail: text}
	switch {
	case reOOM.MatchString(text):
		return early(replay.Outcome{Status: replay.OOM, Message: "out of memory", Marks: marks, Detail: text, Signature: replay.Signature{Stage: underWay(marks), Type: "oom"}}, marks)
	case e.Limits.CPU > 0 && ps.UserTime()+ps.SystemTime()-cpu0 >= e.Limits.CPU:
		return limit(w, from, marks, replay.Timeout, "timeout", fmt.Sprintf("%v of CPU time used", e.Limits.CPU))
	case reSignal.MatchString(text):
		o.Signature.Type = reSignal.FindStringSubmatch(text)[1]
	case ws.Signaled():
		o.Signature.Type = unix.SignalName(ws.Signal())
	default:
		o.Signature.Type = fmt.Sprintf("exit %d", ws.ExitStatus())
	}
	o.Signature.Stage = underWay(marks)
	o.Message = "the process ended with " + o.Signature.Type
	return early(o, marks)
}

// gone reports whether a process has ended (it may still be unreaped).
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	i := bytes.LastIndexByte(b, ')')
	return i < 0 || i+2 >= len(b) || b[i+2] == 'Z' || b[i+2] == 'X'
}

// tail is the end of what the worker printed since an offset.
func (w *worker) tail(from int64) string {
	const most = 16 << 10
	end, err := w.output.Seek(0, io.SeekEnd)
	if err != nil || end <= from {
		return ""
	}
	cut := ""
	if end-from > most { // a crash says first what it was
		head := make([]byte, 4<<10)
		n, _ := w.output.ReadAt(head, from)
		cut = string(head[:n]) + "\n...\n"
		from = end - most
	}
	b := make([]byte, end-from)
	n, _ := w.output.ReadAt(b, from)
	return strings.ToValidUTF8(cut+string(b[:n]), "?")
}

// cpuTime is the CPU time used by a process so far.
func cpuTime(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	i := bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 13 {
		return 0
	}
	ut, _ := strconv.ParseInt(f[11], 10, 64)
	st, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(ut+st) * (time.Second / 100)
}

// resident is the memory that a process holds.
func resident(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

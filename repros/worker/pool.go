package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"whittle/replay"
	"whittle/repros/engine"
)

// Pool keeps workers and gives them queries. Its methods may be called from many goroutines. A worker sits in an engine.Seat, which belongs to one
// query, or is free: nobody waits for another's worker, and whoever holds a seat gives it back, empty if its worker is not to be asked again.
type Pool struct {
	Command     []string // starts a worker; empty: this binary with WorkerArg
	Env         []string // more environment for workers
	Limits      engine.Limits
	Print       string // the engine's fingerprint: versions, flags, machine
	MaxRequests int    // a worker is replaced after so many queries; 0 => 200

	mu      sync.Mutex // nothing under it waits
	free    []*engine.Seat[*worker]
	started int
	closed  bool
	running map[*query]bool
	done    sync.WaitGroup // of running
}

// query is one under way.
type query struct{ stop context.CancelCauseFunc }

// Fingerprint says what answers: equal fingerprints give equal outcomes.
func (p *Pool) Fingerprint() string { return p.Print }

// Started is how many worker processes were started so far.
func (p *Pool) Started() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// Close ends all workers and waits for that. Queries under way end with engine.ErrClosed.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	for q := range p.running {
		q.stop(engine.ErrClosed)
	}
	p.mu.Unlock()
	p.done.Wait()
	for _, s := range p.free { // all are, and nobody takes one any more
		s.Close()
	}
	return nil
}

// begin registers a query, so that Close can end it.
func (p *Pool) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, engine.ErrClosed
	}
	ctx, stop := context.WithCancelCause(ctx)
	q := &query{stop}
	if p.running == nil {
		p.running = map[*query]bool{}
	}
	p.running[q] = true
	p.done.Add(1)
	return ctx, func() {
		stop(nil)
		p.mu.Lock()
		delete(p.running, q)
		p.mu.Unlock()
		p.done.Done()
	}, nil
}

// worker is one process, owned by one query at a time.
type worker struct {
	group   *engine.Group
	state   *os.ProcessState // nil => it was not reaped yet
	queries *os.File         // we write
	answers *os.File         // we read
	output  *os.File         // what it prints, an unlinked file
	served  int              // queries that it was given
}

// start starts a worker. A worker knows nothing of the one before.
func (p *Pool) start(context.Context, *worker) (*worker, error) {
	argv := p.Command
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
	cmd.Env = append(append(os.Environ(), "GOTRACEBACK=crash"), p.Env...)
	group, err := engine.StartGroup(cmd)
	qr.Close()
	aw.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a worker: %w", err), qw.Close(), ar.Close(), out.Close())
	}
	_ = unix.Prlimit(group.PID(), unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	p.mu.Lock()
	p.started++
	p.mu.Unlock()
	return &worker{group: group, queries: qw, answers: ar, output: out}, nil
}

// take gives a seat to a query: for a fresh one, which wants a process of its own, an empty one.
func (p *Pool) take(fresh bool) *engine.Seat[*worker] {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.free) - 1; i >= 0; i-- {
		if s := p.free[i]; s.Empty() == fresh {
			p.free = slices.Delete(p.free, i, i+1)
			return s
		}
	}
	if k := len(p.free); k > 0 && !fresh {
		s := p.free[k-1]
		p.free = p.free[:k-1]
		return s
	}
	return engine.NewSeat(p.start)
}

// give takes a seat back.
func (p *Pool) give(s *engine.Seat[*worker]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, s)
}

// Over reports whether the worker was ended.
func (w *worker) Over() bool { return w.state != nil }

// End ends the worker and frees all that it held.
func (w *worker) End(error) {
	w.kill()
	w.output.Close()
}

// kill ends the worker's process group. What it printed can still be read.
func (w *worker) kill() {
	if w.state != nil {
		return
	}
	w.state = w.group.Reap()
	w.queries.Close()
	w.answers.Close()
}

// Run runs one query. The error is ctx's, or that no worker can be started, or engine.ErrClosed; all else is an outcome.
func (p *Pool) Run(ctx context.Context, q Query) (replay.Outcome, error) {
	ctx, end, err := p.begin(ctx)
	if err != nil {
		return replay.Outcome{}, err
	}
	defer end()
	clock := engine.ClockOf(ctx).Begin(engine.OnPython)
	defer clock.End()
	seat := p.take(q.Fresh)
	defer p.give(seat)
	for {
		started := clock.Wait(engine.OnStart)
		w, err := seat.Get(ctx)
		started()
		if err != nil {
			return replay.Outcome{}, err
		}
		o, again, err := p.query(ctx, w, q, clock)
		served := w.served
		w.served++
		spoilt := err == nil && served > 0 && o.Status == replay.Infrastructure && len(o.Marks) == 0
		if !again || err != nil || q.Fresh || spoilt || w.served >= cmp.Or(p.MaxRequests, 200) {
			w.End(nil)
		}
		if !spoilt { // else the queries before may have left the worker like this: a new one says more
			return o, err
		}
	}
}

// query has a worker run a query, and tells clock what it spent. again says that the worker may be asked again.
func (p *Pool) query(ctx context.Context, w *worker, q Query, clock *engine.Question) (o replay.Outcome, again bool, err error) {
	q.Nonce = rand.Text()
	begin := time.Now()
	var choices []replay.Choice
	o, again, err = p.converse(ctx, w, q, clock, func(c replay.Choice) { choices = append(choices, c) })
	o.Choices = choices
	o.Duration = time.Since(begin)
	return o, again, err
}

// spending is what the stage after so many marks spends its time on. Of compiling, the C++ compiler's part is not known.
var spending = []string{engine.OnPython, engine.OnEager, engine.OnLowering, engine.OnRun}

// poll is how often limits are looked at.
const poll = 20 * time.Millisecond

// converse sends a query and follows the answers until the outcome, a limit, or the worker's end.
func (p *Pool) converse(ctx context.Context, w *worker, q Query, clock *engine.Question, chosen func(replay.Choice)) (o replay.Outcome, again bool, err error) {
	from, _ := w.output.Seek(0, io.SeekEnd)
	cpu0 := w.group.CPUTime()
	if p.Limits.CPU > 0 {
		lim := uint64((cpu0+p.Limits.CPU)/time.Second) + 1
		_ = unix.Prlimit(w.group.PID(), unix.RLIMIT_CPU, &unix.Rlimit{Cur: lim, Max: unix.RLIM_INFINITY}, nil)
	}
	_ = w.queries.SetWriteDeadline(time.Now().Add(time.Minute))
	hurry := context.AfterFunc(ctx, func() { _ = w.queries.SetWriteDeadline(time.Now()) })
	err = engine.WriteFrame(w.queries, q)
	hurry()
	if err != nil {
		w.kill() // what it printed at its end is all there now
		return p.infra(w, from, nil, "the worker takes no query: "+err.Error()), false, context.Cause(ctx)
	}
	begin := time.Now()
	var marks []string
	stage := clock.Wait(spending[0])
	defer func() { stage() }()
	var buf []byte
	chunk := make([]byte, 64<<10)
	for {
		_ = w.answers.SetReadDeadline(time.Now().Add(poll))
		n, rerr := w.answers.Read(chunk)
		buf = append(buf, chunk[:n]...)
		for {
			var r engine.Reply
			used, err := engine.CutFrame(buf, &r)
			if err != nil {
				return p.infra(w, from, marks, err.Error()), false, nil
			}
			if used == 0 {
				break
			}
			buf = buf[used:]
			if r.Nonce != q.Nonce {
				return p.infra(w, from, marks, "an answer without the query's nonce"), false, nil
			}
			if r.Choice != nil {
				chosen(*r.Choice)
			}
			if r.Mark != "" {
				marks = append(marks, r.Mark)
				stage()
				stage = clock.Wait(spending[min(len(marks), len(spending)-1)])
			}
			if r.Outcome != nil {
				o := *r.Outcome
				o.Marks = marks
				o.Detail = join(o.Detail, w.tail(from))
				proved := engine.Proved(o)
				return proved, proved.Status == o.Status, nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return o, false, context.Cause(ctx)
		case errors.Is(rerr, os.ErrDeadlineExceeded), rerr == nil:
		default: // the pipe is closed: the worker died, or closed it
			return p.death(w, from, marks, cpu0), false, nil
		}
		if p.Limits.Wall > 0 && time.Since(begin) > p.Limits.Wall {
			return limit(w, from, marks, replay.Timeout, "timeout", fmt.Sprintf("not done after %v", p.Limits.Wall)), false, nil
		}
		if p.Limits.CPU > 0 && w.group.CPUTime()-cpu0 > p.Limits.CPU {
			return limit(w, from, marks, replay.Timeout, "timeout", fmt.Sprintf("%v of CPU time used", p.Limits.CPU)), false, nil
		}
		if p.Limits.Memory > 0 {
			if rss := w.group.Resident(); rss > p.Limits.Memory {
				return limit(w, from, marks, replay.OOM, "oom", fmt.Sprintf("%d bytes resident, %d allowed", rss, p.Limits.Memory)), false, nil
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
	return engine.Early(replay.Outcome{Status: st, Message: msg, Marks: marks, Detail: w.tail(from), Signature: replay.Signature{Stage: engine.UnderWay(len(marks)), Type: typ}})
}

func (p *Pool) infra(w *worker, from int64, marks []string, msg string) replay.Outcome {
	return replay.Outcome{Status: replay.Infrastructure, Message: msg, Marks: marks, Detail: w.tail(from)}
}

var (
	reSignal = regexp.MustCompile(`(?m)^(?:\[signal |fatal error: .*?\[signal |)(SIG[A-Z]+)\b`)
	reOOM    = regexp.MustCompile(`out of memory|std::bad_alloc|cannot allocate memory`)
)

// death is the outcome of a worker that ended by itself.
func (p *Pool) death(w *worker, from int64, marks []string, cpu0 time.Duration) replay.Outcome {
	ended := w.group.Ends(500 * time.Millisecond) // the pipe's end comes a moment before the process is gone
	w.kill()
	if !ended {
		return p.infra(w, from, marks, "the worker closed its pipe")
	}
	text := w.tail(from)
	ws, _ := w.state.Sys().(syscall.WaitStatus)
	o := replay.Outcome{Status: replay.Killed, Marks: marks, Detail: text}
	switch {
	case reOOM.MatchString(text):
		return engine.Early(replay.Outcome{Status: replay.OOM, Message: "out of memory", Marks: marks, Detail: text, Signature: replay.Signature{Stage: engine.UnderWay(len(marks)), Type: "oom"}})
	case p.Limits.CPU > 0 && w.state.UserTime()+w.state.SystemTime()-cpu0 >= p.Limits.CPU:
		return limit(w, from, marks, replay.Timeout, "timeout", fmt.Sprintf("%v of CPU time used", p.Limits.CPU))
	case reSignal.MatchString(text):
		o.Signature.Type = reSignal.FindStringSubmatch(text)[1]
	case ws.Signaled():
		o.Signature.Type = unix.SignalName(ws.Signal())
	default:
		o.Signature.Type = fmt.Sprintf("exit %d", ws.ExitStatus())
	}
	o.Signature.Stage = engine.UnderWay(len(marks))
	o.Message = "the process ended with " + o.Signature.Type
	return engine.Early(o)
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

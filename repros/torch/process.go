package torch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/repros/engine"
)

// process is one Python. It has four goroutines, all of which end with it: one writes, one reads, one listens for signs of life, and one ends
// it. Whatever goes wrong leads to fail, once; from there on the process is dead for all who ask, and on its way out. Nobody else has to
// end it, so that none is left behind.
type process struct {
	line   line
	kept   bool // somebody else started it
	limits Limits
	hello  hello // set before ready is closed
	wg     conc.WaitGroup

	frames    chan []byte   // handed to the writer one by one
	wake      chan struct{} // there are notices for the writer
	supplying chan struct{} // has an element while somebody hands over storages
	ready     chan struct{} // closed when it said hello
	dead      chan struct{} // closed when no answer comes any more
	began     time.Time
	heard     atomic.Int64 // since began, when it last gave a sign of life: bytes from it, or much taken by it

	mu      sync.Mutex // nothing under it waits
	next    int64
	pending map[int64]chan answer // nil for a job that nobody waits for any more: its answer still comes
	notices [][]byte
	gone    error // why it is dead
	died    bool  // by a signal of somebody else; set by end
}

// launch starts a Python and its goroutines. It says nothing to it yet.
func launch(o Options) (*process, error) {
	y, err := spawn(o, "")
	if err != nil {
		return nil, err
	}
	return talk(y, o.Limits), nil
}

// talk starts the goroutines of a process that a line leads to.
func talk(l line, limits Limits) *process {
	p := &process{line: l, limits: limits, pending: map[int64]chan answer{}, frames: make(chan []byte), wake: make(chan struct{}, 1),
		began:     time.Now(),
		supplying: make(chan struct{}, 1), ready: make(chan struct{}), dead: make(chan struct{})}
	p.wg.Go(p.write)
	p.wg.Go(p.read)
	p.wg.Go(p.watch)
	p.wg.Go(p.end)
	return p
}

func (p *process) alive() { p.heard.Store(int64(time.Since(p.began))) }

// greeting is the first that a Python is told: its program, and what is known.
func greeting(facts known) ([]byte, error) {
	body, err := engine.Frame(job{Op: "hello", Facts: &facts})
	return append([]byte(strconv.Itoa(len(program()))+"\n"+program()), body...), err
}

// greet says body, a greeting, and waits until torch is imported.
func (p *process) greet(ctx context.Context, body []byte) error {
	c := make(chan answer, 1)
	p.mu.Lock()
	if p.gone == nil {
		p.pending[0] = c
	}
	p.mu.Unlock()
	a, err := p.exchange(ctx, 0, body, c, p.limits.Start)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(a.Result, &p.hello); err != nil {
		return err
	}
	close(p.ready)
	return nil
}

// ask sends a job and waits for its answer, which comes once for each job, even for one that is cancelled.
func (p *process) ask(ctx context.Context, j job) (answer, error) {
	c := make(chan answer, 1)
	p.mu.Lock()
	if p.gone != nil {
		defer p.mu.Unlock()
		return answer{}, &errGone{p.gone}
	}
	p.next++
	id := p.next
	if len(p.pending) == 0 {
		p.alive() // it had no reason to say anything
	}
	p.pending[id] = c
	p.mu.Unlock()
	j.ID = id
	body, err := engine.Frame(j)
	if err != nil {
		p.mu.Lock()
		delete(p.pending, id)
		p.mu.Unlock()
		return answer{}, err
	}
	return p.exchange(ctx, id, body, c, p.limits.patience())
}

// exchange hands a frame to the writer and waits for what c brings. A far side that lets a job wait for longer than patience is broken.
func (p *process) exchange(ctx context.Context, id int64, body []byte, c chan answer, patience time.Duration) (answer, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case p.frames <- body:
	case <-p.dead:
	case <-late.C:
		p.fail(fmt.Errorf("nothing was read for %v", patience))
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.pending, id)
		p.mu.Unlock()
		return answer{}, ctx.Err()
	}
	select {
	case a, ok := <-c:
		if ok {
			return a, nil
		}
	case <-p.dead:
		select {
		case a, ok := <-c: // it came before the end
			if ok {
				return a, nil
			}
		default:
		}
	case <-late.C:
		p.fail(fmt.Errorf("no answer for %v", patience))
	case <-ctx.Done():
		p.cancel(id)
		return answer{}, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return answer{}, &errGone{p.gone}
}

// cancel says that nobody waits for a job any more.
func (p *process) cancel(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, open := p.pending[id]; open {
		p.pending[id] = nil
		p.notice(job{Op: "cancel", ID: id})
	}
}

// notice queues a small message that nobody waits for. p.mu is held.
func (p *process) notice(j job) {
	if b, err := engine.Frame(j); err == nil {
		p.notices = append(p.notices, b)
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// write writes what is handed over, and notices, until the process is dead.
func (p *process) write() {
	for {
		p.mu.Lock()
		notices := p.notices
		p.notices = nil
		p.mu.Unlock()
		for _, b := range notices {
			if !p.put(b) {
				return
			}
		}
		select {
		case b := <-p.frames:
			if !p.put(b) {
				return
			}
		case <-p.wake:
		case <-p.dead:
			return
		}
	}
}

// maxWrite is how much is written at once: each part of a longer message that the far side takes is a sign of life. What is short may lie in
// the pipe, unread.
const maxWrite = 1 << 20

func (p *process) put(b []byte) bool {
	for long := len(b) > maxWrite; len(b) > 0; {
		n, err := p.line.Write(b[:min(len(b), maxWrite)])
		if err != nil {
			p.fail(fmt.Errorf("writing to it: %w", err))
			return false
		}
		if long {
			p.alive()
		}
		b = b[n:]
	}
	return true
}

// heardReader notes when bytes come.
type heardReader struct{ p *process }

func (r heardReader) Read(b []byte) (int, error) {
	n, err := r.p.line.Read(b)
	r.p.alive()
	return n, err
}

// read hands out answers until there is something wrong with one.
func (p *process) read() {
	r := bufio.NewReaderSize(heardReader{p}, 1<<16)
	for {
		var a answer
		err := engine.ReadFrame(r, &a)
		if err == nil {
			p.mu.Lock()
			c, open := p.pending[a.ID]
			delete(p.pending, a.ID)
			p.mu.Unlock()
			if open && c != nil {
				c <- a
			}
			if !open {
				err = fmt.Errorf("an answer to job %d, which was not asked or was answered", a.ID)
			}
		}
		if err != nil {
			p.fail(err)
			return
		}
	}
}

// watch asks for a sign of life where something is waited for and nothing was heard in a while.
func (p *process) watch() {
	select {
	case <-p.ready:
	case <-p.dead:
		return
	}
	tick := time.NewTicker(p.limits.Silence / 4)
	defer tick.Stop()
	var asked struct{ at, heard time.Duration } // the latest question, and what was heard last before it
	for {
		select {
		case <-p.dead:
			return
		case <-tick.C:
		}
		now, heard := time.Since(p.began), time.Duration(p.heard.Load())
		p.mu.Lock()
		waited := len(p.pending) > 0
		if waited && now-heard > p.limits.Silence/2 && (asked.at == 0 || asked.heard != heard) {
			asked.at, asked.heard = now, heard
			p.next++
			p.pending[p.next] = nil
			p.notice(job{Op: "ping", ID: p.next})
		}
		p.mu.Unlock()
		if waited && asked.at > 0 && asked.heard == heard && now-asked.at > p.limits.Silence/2 {
			p.fail(fmt.Errorf("not a word for %v", (now - heard).Round(time.Millisecond)))
			return
		}
	}
}

// fail makes the process dead. The first reason stays.
func (p *process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone != nil {
		return
	}
	p.gone = err
	for id, c := range p.pending {
		delete(p.pending, id)
		if c != nil {
			close(c)
		}
	}
	close(p.dead)
}

// Over reports whether the process is dead.
func (p *process) Over() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// End makes the process dead, if it is not, and waits until it is gone, with its pipes and goroutines. The end of its input is its goodbye.
func (p *process) End(why error) {
	p.fail(why)
	p.wg.Wait()
}

// end sees a dead process out.
func (p *process) end() {
	<-p.dead
	// One that is given up while it starts does not read its input yet.
	p.died = p.line.leave(errors.Is(p.gone, context.Canceled), p.limits.Grace)
}

// errGone says that the Python ended before it answered.
type errGone struct{ cause error }

func (e *errGone) Error() string { return "the Python with torch ended: " + e.cause.Error() }
func (e *errGone) Unwrap() error { return e.cause }

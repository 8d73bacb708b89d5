package torch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/repros/engine"
)

// Host keeps a Python with torch for one client after another: see Options.Kept. It passes on whole messages, and knows nothing of what they say.
// When a client is gone, however that came, the Python is brought back to what it was before the next one comes.
//
// What holds: while nobody visits, the Python has no children but those that make something ready, no storages and no generated code; and no answer
// to one visitor ever reaches another.
type Host struct {
	o       Options
	python  *python
	welcome []byte // the frame that it said when it was ready
	hello   hello
	gone    chan struct{} // closed when the Python says nothing more
	wg      conc.WaitGroup
	answers chan answer // to what the host itself asks

	mu      sync.Mutex // nothing under it waits
	visitor net.Conn   // that gets all that the Python says; nil => nobody
	asked   int64
}

// ErrRefused says that a visitor cannot have the Python any more: something of it was replaced since it started, for instance. It is of no use then.
var ErrRefused = errors.New("the kept Python is of no use any more")

// StartHost starts a Python in the folder home and waits until torch is imported. If that is the Python's own folder too, it goes to that of each visitor.
func StartHost(ctx context.Context, o Options, home string) (*Host, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("torch: no command that starts a Python")
	}
	o.Limits = fill(o.Limits)
	y, err := spawn(o, home)
	if err != nil {
		return nil, err
	}
	h := &Host{o: o, python: y, gone: make(chan struct{}), answers: make(chan answer, 1)}
	body, err := greeting(known{ISAOK: o.Facts.ISAOK && o.Facts.Torch != "", Held: o.Held, Home: home})
	if err == nil {
		h.wg.Go(h.read)
		h.wg.Go(func() { _, _ = y.Write(body) }) // an error shows as its end
		var a answer
		if a, err = h.answer(ctx, 0, o.Limits.Start); err == nil {
			err = json.Unmarshal(a.Result, &h.hello)
		}
		if err == nil {
			h.welcome, err = engine.Frame(map[string]any{"id": 0, "result": a.Result})
		}
	}
	if err != nil {
		hurried := ctx.Err() != nil
		y.leave(hurried, o.Limits.Grace)
		h.wg.Wait()
		if hurried {
			return nil, ctx.Err()
		}
		return nil, noStart(o.Command, y, err)
	}
	return h, nil
}

// Facts are what the Python said about itself.
func (h *Host) Facts() Facts { return h.hello.Facts }

// PID is the number of the process that the command started.
func (h *Host) PID() int { return h.python.group.PID() }

// Gone is closed when the Python has ended, or says nothing more.
func (h *Host) Gone() <-chan struct{} { return h.gone }

// Close ends the Python, its children and its files, and waits for that. Nobody may be visiting.
func (h *Host) Close() {
	h.python.leave(false, h.o.Limits.Grace)
	h.wg.Wait()
}

// read passes on what the Python says to whoever visits, else to answer.
func (h *Host) read() {
	defer close(h.gone)
	r := bufio.NewReaderSize(h.python, 1<<16)
	for {
		b, err := engine.RawFrame(r)
		if err != nil {
			return
		}
		h.mu.Lock()
		visitor := h.visitor
		h.mu.Unlock()
		if visitor != nil {
			if _, err := visitor.Write(b); err != nil {
				visitor.Close() // Serve sees it
			}
			continue
		}
		var a answer
		if _, err := engine.CutFrame(b, &a); err != nil {
			return
		}
		if a.ID > 0 { // to a visitor that is gone
			continue
		}
		select {
		case h.answers <- a:
		default: // nobody asked
		}
	}
}

// answer waits for one answer, and drops others.
func (h *Host) answer(ctx context.Context, id int64, patience time.Duration) (answer, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case a := <-h.answers:
			if a.ID == id {
				return a, nil
			}
		case <-h.gone:
			select {
			case a := <-h.answers: // it came before the end
				if a.ID == id {
					return a, nil
				}
			default:
			}
			return answer{}, errors.New("the Python with torch ended")
		case <-late.C:
			return answer{}, fmt.Errorf("no answer for %v", patience)
		case <-ctx.Done():
			return answer{}, ctx.Err()
		}
	}
}

// tell asks something of the host's own. Its jobs have numbers that no visitor's have.
func (h *Host) tell(ctx context.Context, j job) (answer, error) {
	h.asked--
	j.ID = h.asked
	b, err := engine.Frame(j)
	if err == nil {
		_, err = h.python.Write(b)
	}
	if err != nil {
		return answer{}, err
	}
	return h.answer(ctx, j.ID, h.o.Limits.Silence)
}

// Serve has the Python answer one visitor, whose folder is cwd, until that goes away or ctx ends; it closes conn. Reset comes next. Both are called by one
// goroutine. An error says that the Python is of no use any more and has to be closed: ErrRefused, or that it is dead or deaf.
func (h *Host) Serve(ctx context.Context, conn net.Conn, cwd string) error {
	defer conn.Close()
	a, err := h.tell(ctx, job{Op: "attach", Cwd: cwd})
	if err != nil {
		return err
	}
	var r struct {
		Refused string `json:"refused"`
	}
	if err := json.Unmarshal(a.Result, &r); err != nil {
		return err
	}
	if r.Refused != "" {
		return fmt.Errorf("%w: %s", ErrRefused, r.Refused)
	}
	if _, err := conn.Write(h.welcome); err != nil {
		return nil // the visitor is gone, and asked nothing
	}
	h.setVisitor(conn)
	done := make(chan struct{})
	h.wg.Go(func() {
		defer close(done)
		in := bufio.NewReaderSize(conn, 1<<16)
		for {
			b, err := engine.RawFrame(in)
			if err == nil {
				_, err = h.python.Write(b)
			}
			if err != nil {
				return
			}
		}
	})
	select {
	case <-done:
	case <-h.gone:
	case <-ctx.Done():
	}
	h.setVisitor(nil)
	conn.Close()
	select {
	case <-done:
		return nil
	case <-time.After(h.o.Limits.Silence): // it does not read
		return errors.New("the Python with torch is deaf")
	}
}

// Reset brings the Python back to what it was before the last visitor came. An error is like Serve's.
func (h *Host) Reset(ctx context.Context) error {
	_, err := h.tell(ctx, job{Op: "reset"})
	return err
}

func (h *Host) setVisitor(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.visitor = conn
}

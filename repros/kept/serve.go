package kept

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/repros/engine"
)

// Host is an engine that is kept.
type Host interface {
	// Serve has it answer one command, whose folder is cwd, until that goes away or ctx ends, and closes conn. An error says that it is of no use any
	// more.
	Serve(ctx context.Context, conn net.Conn, cwd string) error
	// Reset brings it back to what it was before the command came. An error is like Serve's.
	Reset(ctx context.Context) error
	// Gone is closed when it has ended by itself.
	Gone() <-chan struct{}
	// Close ends it.
	Close()
}

// Options say what is kept, and for how long.
type Options struct {
	Command []string
	Keep    time.Duration // without a command; then it ends
	// Start starts the engine, and again one that died: an error ends all.
	Start func(ctx context.Context) (h Host, version string, err error)
	// Ready is called when commands can come.
	Ready func(About)
}

// mostDeaths is how often an engine may die without a command in between: then it will not live.
const mostDeaths = 3

// mostPath is how long the path of a socket may be, on Linux.
const mostPath = 107

// keeper is the process that keeps an engine.
type keeper struct {
	o    Options
	host Host
	wg   conc.WaitGroup
	turn chan visitor  // to the one goroutine that has the host
	poke chan struct{} // the time was set
	stop context.CancelFunc

	mu    sync.Mutex // nothing under it waits
	about About
	since time.Time // nobody has had it
}

// visitor is a command that wants the engine.
type visitor struct {
	conn net.Conn
	cwd  string
}

// Serve keeps the engine with a key until ctx ends, it is stopped, nobody wanted it for Options.Keep, or it cannot be had any more: only the last is an
// error, as is ErrKept.
func (f Folder) Serve(ctx context.Context, key string, o Options) error {
	if err := f.make(); err != nil {
		return err
	}
	lock, err := f.tryHold(key)
	if err != nil {
		return err
	}
	defer f.remove(key, lock)
	os.RemoveAll(f.Home(key))
	if err := os.Mkdir(f.Home(key), 0o700); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	k := &keeper{o: o, turn: make(chan visitor), poke: make(chan struct{}, 1), stop: stop}
	var version string
	if k.host, version, err = o.Start(ctx); err != nil {
		return err
	}
	defer func() { k.host.Close() }()
	os.Remove(f.socket(key)) // of a keeper that was killed
	if n := len(f.socket(key)); n > mostPath {
		return fmt.Errorf("%s: the path of a socket has at most %d bytes, and this has %d", f.socket(key), mostPath, n)
	}
	l, err := net.Listen("unix", f.socket(key))
	if err != nil {
		return err
	}
	if err := os.Chmod(f.socket(key), 0o600); err != nil {
		l.Close()
		return err
	}
	k.about, k.since = About{Command: o.Command, Version: version, PID: os.Getpid(), Keep: o.Keep}, time.Now()
	k.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			k.wg.Go(func() { k.hear(ctx, conn) })
		}
	})
	if o.Ready != nil {
		o.Ready(k.look())
	}
	err = k.serve(ctx)
	stop()
	l.Close()
	k.wg.Wait()
	return err
}

// serve lets one command after another have the host.
func (k *keeper) serve(ctx context.Context) error {
	deaths := 0
	for {
		var over <-chan time.Time
		if a := k.look(); !a.Busy { // else somebody is about to come
			over = time.After(time.Until(a.Ends))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-k.poke:
			continue
		case <-over:
			return nil
		case v := <-k.turn:
			k.busy() // another one may have taken its place since this one asked
			err := k.host.Serve(ctx, v.conn, v.cwd)
			k.idle() // the next one may come, and waits for the end of this turn
			if err == nil {
				err = k.host.Reset(ctx)
			}
			if ctx.Err() != nil {
				return nil
			}
			if err == nil {
				deaths = 0
				continue
			}
		case <-k.host.Gone():
		}
		// It is dead, deaf or out of date, and another one takes its place, while nobody can have it.
		if deaths++; deaths > mostDeaths {
			return errors.New("the engine died again and again")
		}
		k.busy()
		k.host.Close()
		host, version, err := k.o.Start(ctx)
		if err != nil {
			k.host = nobody{}
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		k.host = host
		k.mu.Lock()
		k.about.Version = version
		k.mu.Unlock()
		k.idle()
	}
}

// nobody is there between one host and the next.
type nobody struct{ Host }

func (nobody) Close() {}

// busy takes the engine; false where somebody else has it.
func (k *keeper) busy() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.about.Busy
	k.about.Busy = true
	return !was
}

func (k *keeper) idle() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.about.Busy, k.since = false, time.Now()
}

// look is what the engine is like now.
func (k *keeper) look() About {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.about
	if a.Busy {
		return a
	}
	a.Idle, a.Ends = time.Since(k.since), k.since.Add(a.Keep)
	return a
}

// hear does what one caller asks for.
func (k *keeper) hear(ctx context.Context, conn net.Conn) {
	var r request
	if owned(conn) != nil || conn.SetDeadline(time.Now().Add(manners)) != nil || engine.ReadFrame(conn, &r) != nil {
		conn.Close()
		return
	}
	if r.Op == opAttach {
		if conn.SetDeadline(time.Time{}) == nil && k.busy() {
			select {
			case k.turn <- visitor{conn, r.Cwd}:
				return
			case <-ctx.Done():
			}
		}
		conn.Close()
		return
	}
	defer conn.Close()
	if r.Op == opKeep {
		k.mu.Lock()
		k.about.Keep = r.Keep
		k.mu.Unlock()
		select {
		case k.poke <- struct{}{}:
		default:
		}
	}
	_ = engine.WriteFrame(conn, k.look()) // who asked may be gone
	if r.Op == opStop {
		k.stop()
	}
}

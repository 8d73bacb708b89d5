package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"

	"whittle/replay"
)

// rogueEnv makes the test binary a worker that does what each query says, and knows no manners.
const rogueEnv = "WHITTLE_TEST_ROGUE"

// What a query of a rogue says: "FAULT AFTER TEXT". AFTER is how many marks come first.
var rogueFaults = []string{"killed", "exits", "hangs", "garbled", "huge", "half", "slow", "closes its answers", "closes its queries", "wrong nonce",
	"no marks", "twice", "dies later", "says more later"}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// rogue is the whole of such a worker.
func rogue() {
	in, out := os.NewFile(3, "queries"), os.NewFile(4, "answers")
	for {
		var q Query
		if readFrame(in, &q) != nil {
			return
		}
		fault, rest, _ := strings.Cut(q.Repro, "/")
		var after int
		fmt.Sscan(rest, &after)
		o := replay.Outcome{Status: replay.Pass, Message: digest(q.Repro)}
		for i, mark := range append(stages, "") {
			if i == after {
				misbehave(fault, in, out)
			}
			switch {
			case fault == "wrong nonce" && i >= after:
				_ = writeFrame(out, reply{Nonce: "another", Mark: mark, Outcome: &o})
			case mark != "" && (fault != "no marks" || i < after):
				_ = writeFrame(out, reply{Nonce: q.Nonce, Mark: mark})
			}
		}
		_ = writeFrame(out, reply{Nonce: q.Nonce, Outcome: &o})
		switch fault {
		case "twice":
			_ = writeFrame(out, reply{Nonce: q.Nonce, Outcome: &o})
		case "says more later":
			time.Sleep(5 * time.Millisecond)
			out.WriteString("and another thing")
		case "dies later":
			time.Sleep(5 * time.Millisecond)
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
}

func misbehave(fault string, in, out *os.File) {
	switch fault {
	case "killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "exits":
		os.Exit(3)
	case "hangs":
		select {}
	case "garbled":
		out.WriteString("this is not a frame, and never was one")
	case "huge":
		out.Write(binary.BigEndian.AppendUint32(nil, 1<<31))
	case "half":
		out.Write(append(binary.BigEndian.AppendUint32(nil, 100), '{'))
		select {}
	case "slow":
		time.Sleep(30 * time.Millisecond)
	case "closes its answers":
		out.Close()
		select {}
	case "closes its queries":
		in.Close()
	}
}

// expected are the statuses that a query of a fault may have; ones without a fault pass, whoever had the worker before.
func expected(fault string, after int, o replay.Outcome) bool {
	switch fault {
	case "none", "slow", "closes its queries", "twice", "dies later", "says more later":
		return o.Status == replay.Pass
	case "no marks":
		return o.Status == replay.Pass && after == 4 || o.Status == replay.Infrastructure && after < 4
	case "wrong nonce", "garbled", "huge":
		return o.Status == replay.Infrastructure
	}
	switch after {
	case 0:
		return o.Status == replay.Infrastructure
	case 1:
		return o.Status == replay.Invalid || fault == "closes its answers" && o.Status == replay.Infrastructure
	}
	switch fault {
	case "killed", "exits":
		return o.Status == replay.Killed
	case "closes its answers":
		return o.Status == replay.Infrastructure
	}
	return o.Status == replay.Timeout
}

// Eight workers ask; whatever a worker process does to itself, its query has the outcome that says so, all others are right, and when the
// engine is closed, at any moment, nothing is left behind.
func TestWhateverWorkersDo(t *testing.T) {
	seed := uint64(1)
	if text := os.Getenv("WHITTLE_TEST_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("WHITTLE_TEST_SEED=%d", seed)
	var asked atomic.Int64
	if err := engineLife(seed, &asked); err != nil { // the runtime makes what it keeps
		t.Fatal(err)
	}
	goroutines, files, _ := held(t)
	watchdog := time.AfterFunc(5*time.Minute, func() {
		fmt.Fprintln(os.Stderr, "a deadlock")
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
		os.Exit(2)
	})
	defer watchdog.Stop()
	const lives = 25 // of eight rounds each
	p := pool.New().WithMaxGoroutines(6).WithErrors()
	for i := range uint64(lives) {
		p.Go(func() error {
			if err := engineLife(seed+i, &asked); err != nil {
				return fmt.Errorf("seed %d: %w", seed+i, err)
			}
			return nil
		})
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	t.Logf("%d queries", asked.Load())
	gone := func() bool {
		g, f, c := held(t)
		return g <= goroutines && f <= files && len(c) == 0
	}
	for range 200 { // the runtime's own goroutines and descriptors go a little later
		if gone() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	g, f, c := held(t)
	_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
	t.Errorf("left behind: %d goroutines of %d, %d descriptors of %d, processes %v", g, goroutines, f, files, c)
}

// engineLife is eight rounds of queries by eight workers.
func engineLife(seed uint64, asked *atomic.Int64) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	e := &Engine{Command: []string{self}, Env: []string{rogueEnv + "=1"}, Limits: Limits{Wall: 4 * time.Second}, MaxRequests: 20}
	rng := rand.New(rand.NewPCG(seed, 0))
	closes := -1 // the round in which it is closed
	if rng.IntN(4) == 0 {
		closes = rng.IntN(8)
	}
	errs := make([]error, 8)
	for round := range 8 {
		var wg conc.WaitGroup
		for w := range 8 {
			rng := rand.New(rand.NewPCG(seed, uint64(1+8*round+w)))
			wg.Go(func() {
				fault, after := "none", rng.IntN(5)
				if rng.IntN(3) == 0 {
					fault = rogueFaults[rng.IntN(len(rogueFaults))]
				}
				if (fault == "hangs" || fault == "half") && rng.IntN(4) > 0 { // they take all their time
					fault = "none"
				}
				ctx, cancel := context.WithCancel(context.Background())
				hurried := rng.IntN(8) == 0
				if hurried {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(30))*time.Millisecond)
				}
				defer cancel()
				text := fmt.Sprintf("%s/%d %d %d %s", fault, after, round, w, strings.Repeat("x", rng.IntN(3)*100<<10))
				o, err := e.Run(ctx, Query{Repro: text, Fresh: rng.IntN(16) == 0})
				asked.Add(1)
				switch {
				case err != nil:
					if !(hurried && errors.Is(err, context.DeadlineExceeded) || closes >= 0 && closes <= round && errors.Is(err, ErrClosed)) {
						errs[w] = errors.Join(errs[w], fmt.Errorf("%s/%d: %w", fault, after, err))
					}
				case !expected(fault, after, o) || o.Status == replay.Pass && o.Message != digest(text):
					errs[w] = errors.Join(errs[w], fmt.Errorf("%s/%d: %s %s\n%s", fault, after, o.Status, o.Message, o.Detail))
				}
			})
		}
		if closes == round {
			wait := time.Duration(rng.IntN(30)) * time.Millisecond
			wg.Go(func() {
				time.Sleep(wait)
				_ = e.Close()
			})
		}
		wg.Wait()
	}
	return errors.Join(append(errs, e.Close())...)
}

// held is what this process holds of the system: goroutines, file descriptors, children.
func held(t testing.TB) (goroutines, files int, children []string) {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tasks {
		if b, err := os.ReadFile(f); err == nil {
			children = append(children, strings.Fields(string(b))...)
		}
	}
	return runtime.NumGoroutine(), len(fds), children
}

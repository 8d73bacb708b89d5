package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/sourcegraph/conc/pool"

	"whittle/replay"
	"whittle/repros/engine"
)

func TestMain(m *testing.M) {
	if os.Getenv(rogueEnv) != "" {
		rogue()
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == WorkerArg {
		if err := Serve(context.Background(), testRunner); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var hog [][]byte

// testRunner does what the repro's text says, after the stages that the backend lists.
func testRunner(ctx context.Context, q Query, mark func(string)) replay.Outcome {
	fmt.Println("noise on stdout")
	n := map[string]int{"": 0, "load": 0, "eager": 1, "compile": 2, "run": 3, "done": 4}[q.Backend]
	for _, s := range engine.Marks[:n] {
		mark(s)
	}
	switch q.Text {
	case "pass":
		return replay.Outcome{Status: replay.Pass}
	case "fail":
		return replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Stage: "compile", Type: "E"}}
	case "panic":
		panic("index 7 out of range")
	case "segv":
		syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		time.Sleep(time.Hour)
	case "deref":
		var p *int
		syscall.Kill(os.Getpid(), 0)
		*p = 1
	case "abort":
		syscall.Kill(os.Getpid(), syscall.SIGABRT)
		time.Sleep(time.Hour)
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	case "exit":
		os.Exit(7)
	case "hang":
		time.Sleep(time.Hour)
	case "spin":
		//lint:ignore SA5002 a worker that spins is what this case is for
		for {
		}
	case "hog":
		for {
			hog = append(hog, bytes.Repeat([]byte{1}, 32<<20))
			time.Sleep(time.Millisecond)
		}
	case "rubbish":
		os.NewFile(4, "").Write([]byte("this is not a frame"))
		time.Sleep(time.Hour)
	case "close":
		syscall.Close(4)
		time.Sleep(time.Hour)
	case "pid":
		return replay.Outcome{Status: replay.Pass, Message: fmt.Sprint(os.Getpid())}
	}
	return replay.Outcome{Status: replay.Invalid, Message: "?"}
}

func TestOutcomes(t *testing.T) {
	e := &Pool{Limits: engine.Limits{Wall: 2 * time.Second, CPU: time.Second, Memory: 250 << 20}}
	defer e.Close()
	large := &Pool{Limits: engine.Limits{Memory: 250 << 20}} // how long that takes is not the question
	defer large.Close()
	for _, c := range []struct {
		repro, at string
		status    replay.Status
		stage     string
		typ       string
	}{
		{"pass", "done", replay.Pass, "", ""},
		{"pass", "run", replay.Infrastructure, "", ""}, // lacks a mark
		{"fail", "compile", replay.Failed, "compile", "E"},
		{"fail", "load", replay.Infrastructure, "", ""},
		{"panic", "compile", replay.Failed, "compile", "panic"},
		{"segv", "compile", replay.Killed, "compile", "SIGSEGV"},
		{"segv", "run", replay.Killed, "run", "SIGSEGV"},
		{"segv", "eager", replay.Invalid, "", ""},
		{"segv", "load", replay.Infrastructure, "", ""},
		{"abort", "run", replay.Killed, "run", "SIGABRT"},
		{"kill", "run", replay.Killed, "run", "SIGKILL"},
		{"exit", "run", replay.Killed, "run", "exit 7"},
		{"hang", "compile", replay.Timeout, "compile", "timeout"},
		{"spin", "run", replay.Timeout, "run", "timeout"},
		{"hog", "compile", replay.OOM, "compile", "oom"},
		{"rubbish", "run", replay.Infrastructure, "", ""},
		{"close", "run", replay.Infrastructure, "", ""},
		{"pass", "done", replay.Pass, "", ""},
	} {
		e := e
		if c.status == replay.OOM {
			e = large
		}
		o, err := e.Run(context.Background(), Query{Query: engine.Query{Text: c.repro, Backend: c.at}})
		if err != nil || o.Status != c.status || o.Signature.Stage != c.stage || o.Signature.Type != c.typ {
			t.Errorf("%s at %s: %v: %s %+v %s", c.repro, c.at, err, o.Status, o.Signature, o.Message)
		}
	}
}

func TestWorkersAreReused(t *testing.T) {
	e := &Pool{Limits: engine.Limits{Wall: 10 * time.Second}}
	defer e.Close()
	pids := map[string]bool{}
	for i := range 6 {
		o, err := e.Run(context.Background(), Query{Query: engine.Query{Text: "pid", Backend: "done", Fresh: i == 3}})
		if err != nil {
			t.Fatal(err)
		}
		pids[o.Message] = true
	}
	if len(pids) != 2 || e.Started() != 2 {
		t.Errorf("%d processes for six queries, one of them fresh", len(pids))
	}
	p := pool.New().WithErrors()
	for range 8 {
		p.Go(func() error {
			o, err := e.Run(context.Background(), Query{Query: engine.Query{Text: "pass", Backend: "done"}})
			if err == nil && o.Status != replay.Pass {
				err = errors.New(o.Message)
			}
			return err
		})
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}

func TestCancelEndsTheWorker(t *testing.T) {
	e := &Pool{}
	defer e.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := e.Run(ctx, Query{Query: engine.Query{Text: "hang", Backend: "run"}}); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 5*time.Second {
		t.Error(err, time.Since(begin))
	}
}

func TestNoWorkerIsAnError(t *testing.T) {
	e := &Pool{Command: []string{"/no/such/program"}}
	if _, err := e.Run(context.Background(), Query{}); err == nil {
		t.Error("started")
	}
}

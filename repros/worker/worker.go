package worker

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/sourcegraph/conc"

	"whittle/replay"
	"whittle/repros/engine"
)

// WorkerArg is the hidden subcommand that makes a binary a worker; its main calls Serve when it sees it.
const WorkerArg = "__worker"

// A Query is one repro to be run by a worker.
type Query struct {
	engine.Query
	Nonce string `json:"nonce"` // set by the pool
	Dir   string `json:"dir"`   // folder that the file is thought to lie in, for its storages
	// Chosen is told of each choice that the compiler asks about, where Choose is set. Serve sets it.
	Chosen func(replay.Choice) `json:"-"`
}

// A Runner runs one query in the worker. It marks each stage that is behind it.
type Runner func(ctx context.Context, q Query, mark func(stage string)) replay.Outcome

// Serve answers queries until the engine closes its pipe. It is the whole of a worker's main.
func Serve(ctx context.Context, run Runner) error {
	in, out := os.NewFile(3, "queries"), os.NewFile(4, "answers")
	if in == nil || out == nil {
		return fmt.Errorf("%s is not for people: it needs the engine's pipes", WorkerArg)
	}
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	if _, err := in.Stat(); err != nil {
		return fmt.Errorf("%s is not for people: it needs the engine's pipes", WorkerArg)
	}
	queries := make(chan Query)
	var wg conc.WaitGroup
	wg.Go(func() {
		defer close(queries)
		for {
			var q Query
			if engine.ReadFrame(in, &q) != nil {
				// The engine is gone. A query under way has nobody to answer to, and its children go, too.
				syscall.Kill(0, syscall.SIGKILL)
				return
			}
			queries <- q
		}
	})
	for q := range queries {
		q.Chosen = func(c replay.Choice) { _ = engine.WriteFrame(out, engine.Reply{Nonce: q.Nonce, Choice: &c}) }
		o := serveOne(ctx, run, q, func(stage string) { _ = engine.WriteFrame(out, engine.Reply{Nonce: q.Nonce, Mark: stage}) })
		if err := engine.WriteFrame(out, engine.Reply{Nonce: q.Nonce, Outcome: &o}); err != nil {
			return err
		}
	}
	wg.Wait()
	return nil
}

// serveOne runs a query; a panic is a failure of the stack, with its frame.
func serveOne(ctx context.Context, run Runner, q Query, mark func(string)) (o replay.Outcome) {
	done := 0 // stages
	defer func() {
		if r := recover(); r != nil {
			stack := string(debug.Stack())
			o = replay.Outcome{Status: replay.Failed, Message: fmt.Sprint(r), Detail: stack,
				Signature: replay.NewSignature(engine.UnderWay(done), "panic", fmt.Sprint(r), goFrames(stack), nil)}
		}
	}()
	return run(ctx, q, func(stage string) {
		done = slices.Index(engine.Marks, stage) + 1
		mark(stage)
	})
}

// goFrames lists a Go stack's functions of this module, outermost first.
func goFrames(stack string) []string {
	var out []string
	past := false
	for _, l := range strings.Split(stack, "\n") {
		if strings.HasPrefix(l, "panic(") {
			past = true
			continue
		}
		if past && strings.HasPrefix(l, "whittle/") {
			if i := strings.LastIndexByte(l, '('); i > 0 {
				l = l[:i]
			}
			out = append([]string{l}, out...)
		}
	}
	return out
}

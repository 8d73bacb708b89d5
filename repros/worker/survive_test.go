package worker

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"whittle/replay"
	"whittle/repros/engine"
	"whittle/repros/engine/enginetest"
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
		if engine.ReadFrame(in, &q) != nil {
			return
		}
		fault, rest, _ := strings.Cut(q.Text, "/")
		var after int
		fmt.Sscan(rest, &after)
		o := replay.Outcome{Status: replay.Pass, Message: digest(q.Text)}
		for i, mark := range append(slices.Clone(engine.Marks), "") {
			if i == after {
				misbehave(fault, in, out)
			}
			switch {
			case fault == "wrong nonce" && i >= after:
				_ = engine.WriteFrame(out, engine.Reply{Nonce: "another", Mark: mark, Outcome: &o})
			case mark != "" && (fault != "no marks" || i < after):
				_ = engine.WriteFrame(out, engine.Reply{Nonce: q.Nonce, Mark: mark})
			}
		}
		_ = engine.WriteFrame(out, engine.Reply{Nonce: q.Nonce, Outcome: &o})
		switch fault {
		case "twice":
			_ = engine.WriteFrame(out, engine.Reply{Nonce: q.Nonce, Outcome: &o})
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

// Eight workers ask; whatever a worker process does to itself, its query has the outcome that says so, and all others are right.
func TestWhateverWorkersDo(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	enginetest.Survives(t, enginetest.Plan{Lives: 25, AtOnce: 6, Workers: 8, Asks: 8, Start: func(context.Context, string, uint64, *rand.Rand) (enginetest.Subject, error) {
		p := &Pool{Command: []string{self}, Env: []string{rogueEnv + "=1"}, Limits: engine.Limits{Wall: 4 * time.Second}, MaxRequests: 20}
		return enginetest.Subject{
			Ask:   func(ctx context.Context, rng *rand.Rand, name string) error { return askRogue(ctx, p, rng, name) },
			Known: func(error) bool { return false },
			Close: p.Close,
		}, nil
	}})
}

// askRogue has a worker misbehave in one way, or in none, and looks at the outcome.
func askRogue(ctx context.Context, p *Pool, rng *rand.Rand, name string) error {
	fault, after := "none", rng.IntN(5)
	if rng.IntN(3) == 0 {
		fault = rogueFaults[rng.IntN(len(rogueFaults))]
	}
	if (fault == "hangs" || fault == "half") && rng.IntN(4) > 0 { // they take all their time
		fault = "none"
	}
	text := fmt.Sprintf("%s/%d %s %s", fault, after, name, strings.Repeat("x", rng.IntN(3)*100<<10))
	o, err := p.Run(ctx, Query{Query: engine.Query{Text: text, Fresh: rng.IntN(16) == 0}})
	switch {
	case err != nil:
		return fmt.Errorf("%s/%d: %w", fault, after, err)
	case !expected(fault, after, o), o.Status == replay.Pass && o.Message != digest(text):
		return fmt.Errorf("%s/%d: %w\n%s", fault, after, &enginetest.WrongAnswer{Got: string(o.Status) + " " + o.Message, Want: fault}, o.Detail)
	}
	return nil
}

func TestMissingDataAreAnError(t *testing.T) { enginetest.RefusesMissingData(t, (&Engine{}).Load) }

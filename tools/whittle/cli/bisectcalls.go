package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"whittle/minify/bisect"
	"whittle/replay"
	"whittle/tools/whittle/axis"
	"whittle/tools/whittle/exec"
)

// callSearch finds the first call of a program's compiled functions, or step of its optimizers, that computes something else than it does eagerly.
type callSearch struct {
	a       *app
	st      *replay.Store
	id      int64
	p       *bisectPrinter
	o       bisectOptions
	command []string
	ran     int
	known   int
}

// recording is one run of the program, as the store keeps it.
type recording struct {
	Status int         `json:"status"` // exit status
	Calls  []exec.Call `json:"calls"`
}

// bisectCalls runs a program eagerly, twice, and compiled, and compares what was recorded.
func (a *app) bisectCalls(ctx context.Context, st *replay.Store, command []string, o bisectOptions, p *bisectPrinter) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	key := append([]string{"calls", dir}, command...)
	for _, word := range command { // the program may have been edited
		if b, err := os.ReadFile(word); err == nil {
			key = append(key, fmt.Sprintf("%x", sha256.Sum256(b)))
		}
	}
	b := &bisection{kind: "calls", subject: axis.Line(command), key: replay.HashOf(key...)}
	s := &callSearch{a: a, st: st, p: p, o: o, command: command}
	if s.id, err = st.BeginBisection(ctx, b.row()); err == nil && o.again {
		err = st.DropTrials(ctx, s.id)
	}
	if err != nil {
		return err
	}
	p.start(s.id, b)
	found, err := s.run(ctx)
	if ctx.Err() != nil {
		p.stopped(b)
		return exitCode(1)
	}
	if err != nil {
		p.failed(b, err)
		return err
	}
	if err := st.FinishBisection(ctx, s.id, found.text); err != nil {
		return err
	}
	return s.tell(b, found)
}

// callsFound is what was found. at is nil where text says that nothing was.
type callsFound struct {
	at   *exec.Parting
	text string
	more []string // lines
}

func (s *callSearch) run(ctx context.Context) (f callsFound, err error) {
	every := exec.Calls{Every: s.o.every}
	eager, again, compiled, err := s.all(ctx, every)
	if err != nil {
		return f, err
	}
	if len(eager.Calls) == 0 {
		return callsFound{text: "not decided: the program calls nothing that torch.compile made, and no optimizer"}, nil
	}
	if at, _ := exec.Part(eager.Calls, again.Calls, s.o.tolerance); at != nil {
		return callsFound{text: "not decided: two eager runs part already, at " + where(at) + "; does the program seed its random numbers?"}, nil
	}
	at, largest := exec.Part(eager.Calls, compiled.Calls, s.o.tolerance)
	if at != nil && s.o.every > 1 { // between two that were recorded
		from, to := 0, at.Call.N+1
		if at.Before != nil {
			from = at.Before.N + 1
		}
		if eager, _, compiled, err = s.all(ctx, exec.Calls{Every: 1, From: from, To: &to}); err != nil {
			return f, err
		}
		if finer, _ := exec.Part(eager.Calls, compiled.Calls, s.o.tolerance); finer != nil {
			if finer.Before == nil {
				finer.Before = at.Before
			}
			at = finer
		}
	}
	f.at = at
	switch {
	case at != nil:
		f.text = "first to differ: " + where(at)
		if at.Before != nil {
			f.more = append(f.more, "the last that is the same: "+callText(*at.Before))
		}
	case len(compiled.Calls) < len(eager.Calls):
		f.text = fmt.Sprintf("not decided: compiled, the program ended with status %d after %s that were the same", compiled.Status, replay.Count(len(compiled.Calls), "call"))
	default:
		f.text = fmt.Sprintf("not decided: all %s are the same; the largest difference is %.1g", replay.Count(len(eager.Calls), "call"), largest)
	}
	return f, nil
}

// where says what parts, for people.
func where(at *exec.Parting) string {
	if at.Value == "" {
		return fmt.Sprintf("%s: %s", callText(at.Call), at.Why)
	}
	return fmt.Sprintf("%s of %s: %s", at.Value, callText(at.Call), at.Why)
}

func callText(c exec.Call) string {
	text := fmt.Sprintf("%s %d, %s", c.Kind, c.N, c.What)
	if c.At != "" {
		text += " (" + c.At + ")"
	}
	return text
}

// all are the three recordings of a part of the program's calls.
func (s *callSearch) all(ctx context.Context, c exec.Calls) (eager, again, compiled recording, err error) {
	c.Eager = true
	if eager, err = s.record(ctx, "eager", c); err != nil {
		return
	}
	if again, err = s.record(ctx, "eager, again", c); err != nil {
		return
	}
	c.Eager = false
	compiled, err = s.record(ctx, "compiled", c)
	return
}

// record runs the program once, unless the store has the recording.
func (s *callSearch) record(ctx context.Context, name string, c exec.Calls) (r recording, err error) {
	if c.Every > 1 {
		name += fmt.Sprintf(", every %d", c.Every)
	}
	if c.To != nil {
		name += fmt.Sprintf(", %d to %d", c.From, *c.To-1)
	}
	t, ok, err := s.st.Trial(ctx, s.id, name, 0)
	if err != nil {
		return r, err
	}
	if ok {
		s.known++
		blob, err := s.st.Blob(ctx, t.Text)
		if err == nil {
			err = json.Unmarshal(blob, &r)
		}
		return r, err
	}
	if err := ctx.Err(); err != nil {
		return r, err
	}
	begin := time.Now()
	res, err := exec.Run(ctx, exec.Options{Args: s.command, Stdin: os.Stdin, Stdout: io.Discard, Stderr: s.a.stderr, Calls: &c})
	var start *exec.StartError
	if errors.As(err, &start) {
		return r, usageError{err}
	}
	if err != nil {
		return r, err
	}
	if !res.Heard {
		return r, usagef("%s: no Python ran in it that could record its calls", axis.Line(s.command))
	}
	if c.Eager && res.Status != 0 {
		return r, fmt.Errorf("the program ends with status %d when it runs eagerly", res.Status)
	}
	for _, line := range res.Trouble {
		fmt.Fprintln(s.a.stderr, "whittle: recording:", line)
	}
	r = recording{res.Status, res.Calls}
	b, err := json.Marshal(r)
	if err != nil {
		return r, err
	}
	s.ran++
	key, err := s.st.PutBlob(ctx, b)
	if err == nil {
		err = s.st.PutTrial(ctx, s.id, replay.BisectionTrial{Point: name, Verdict: string(bisect.Good), Text: key, Duration: time.Since(begin)})
	}
	fmt.Fprintf(s.a.stderr, "whittle: %s: %s, %.1f s\n", name, replay.Count(len(r.Calls), "call"), time.Since(begin).Seconds())
	return r, err
}

// tell tells what was found.
func (s *callSearch) tell(b *bisection, f callsFound) error {
	fmt.Fprintln(s.p.out, f.text)
	for _, l := range f.more {
		fmt.Fprintln(s.p.out, l)
	}
	fmt.Fprintf(s.a.stderr, "whittle: bisection/%d: %s, %s from the store\n", s.id, replay.Count(s.ran, "run"), replay.Count(s.known, "recording"))
	if s.p.events != nil {
		d := bisectDone{ID: s.id, Subject: b.subject, Status: "same", Error: f.text, Suspects: []string{}, Doubts: [][2]string{}, Set: []string{}, Workaround: []string{}, Choices: []replay.Choice{}, Tests: s.ran, Known: s.known}
		if f.at != nil {
			d.Status, d.Error, d.First = "found", "", callText(f.at.Call)
			d.Set = append(d.Set, f.at.Value)
			if !math.IsInf(f.at.Share, 0) {
				d.Share = f.at.Share
			}
		}
		s.p.events.write("done", d)
		if err := s.p.events.Err(); err != nil {
			return err
		}
	}
	if f.at == nil {
		return exitCode(1)
	}
	return nil
}

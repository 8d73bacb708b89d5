package nightly

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode"

	"whittle/accuracy/history"
	"whittle/replay"
	"whittle/repros/engine"
)

// Lab measures. Its methods are called from as many goroutines as measurements run at a time.
type Lab interface {
	// Start makes an engine ready, and says what it is: equal fingerprints stand for the same engine. An error is that there is no such engine
	// tonight; its text is a line of the report.
	Start(ctx context.Context, e Engine) (fingerprint string, err error)
	// Measure runs a case once, in a process that ran nothing before. That the engine or the machine failed is an outcome
	// (replay.Infrastructure), and so is an error that is not the context's.
	Measure(ctx context.Context, q Question) (Measurement, error)
	// Minimise shrinks what a case fails with, and writes the result below dir, which is the report's. It is called again for a night that was
	// killed. The error says why there is no result.
	Minimise(ctx context.Context, q Question, want replay.Signature, dir string) (Minimal, error)
}

// Divergence is where the compiled execution of a graph parts from eager's.
type Divergence struct {
	Node   string `json:"node"`   // the first that does; "output[0]" for an output of the graph as it is
	Target string `json:"target"` // what it calls
}

// Diverger is a Lab that can look into graphs. Not every engine can: the error says why not.
type Diverger interface {
	Lab
	// Diverge finds the first node of a repro that parts from eager; nil: none does. inside says that the case passes: then what counts is the noise of eager, and not
	// the tolerance.
	Diverge(ctx context.Context, q Question, inside bool) (*Divergence, error)
}

// Coder is a Lab that can show what an engine generates for a repro.
type Coder interface {
	Lab
	// Code is the generated code, by the names of files. The error says that the repro does not compile, or that the engine cannot say.
	Code(ctx context.Context, q Question) (map[string][]byte, error)
}

// Question is what is to be measured.
type Question struct {
	Case    Case
	Mode    Mode
	Engine  Engine
	Attempt int           // from 0
	Figures bool          // wanted besides the outcome, of a case that passes
	Repeats int           // of each timing
	Time    time.Duration // that it may take
	Memory  string        // that it may use; "" => as the engine sees fit
	Night   string        // key
	Dir     string        // where the failing graph of a program may be left with its data; "" => it is not wanted
}

// Measurement is the answer.
type Measurement struct {
	Outcome replay.Outcome
	Figures map[string][]float64 // samples, in the units of Figures; names that are not there have none
	Repro   string               // of a program that fails: the failing graph as a repro file; "" none
}

// Minimal is a minimised failure.
type Minimal struct {
	Repro        string // text of the repro file
	Path         string // where it lies
	Calls        int    // in its graph
	Minification int64  // in the store; 0: none
	Unfinished   string // why it may not be minimal; "" it is
	// How often it fails, and how often what is left does without the calls at fault, where it is flaky; both 0 where it is not.
	Rate, FalseRate float64
}

// Figure says what a name of a figure means.
type Figure struct {
	Name   string
	Unit   string // for people: s, bytes, x, "" for none
	Scale  history.Scale
	Down   bool    // lower is worse
	Worse  string  // kind of news
	Better string  // likewise
	Limit  float64 // a case fails beyond it; 0: there is none
	Prior  float64 // as history.Options
}

// Figures are those that whittle measures. A Command may have others: of these more is worse.
var Figures = []Figure{
	{Name: "compile_s", Unit: "s", Worse: "slower", Better: "faster"},
	{Name: "speedup", Unit: "x", Down: true, Worse: "slower", Better: "faster"},
	{Name: "rmse", Worse: "less_accurate", Better: "more_accurate", Limit: 1, Prior: 0.1},  // against float64, as a share of what PyTorch's rule allows
	{Name: "worst", Worse: "less_accurate", Better: "more_accurate", Limit: 1, Prior: 0.1}, // element: its error as a share of the tolerance
	{Name: "cosine_gap", Worse: "less_accurate", Better: "more_accurate", Prior: 0.1},      // 1 less the cosine with float64
	{Name: "graph_breaks", Scale: history.Whole, Worse: "more", Better: "fewer"},
	{Name: "recompiles", Scale: history.Whole, Worse: "more", Better: "fewer"},
	{Name: "peak_memory", Unit: "bytes", Worse: "more", Better: "less"},
}

// figureOf gives the meaning of a name.
func figureOf(name string) Figure {
	if i := slices.IndexFunc(Figures, func(f Figure) bool { return f.Name == name }); i >= 0 {
		return Figures[i]
	}
	return Figure{Name: name, Worse: "more", Better: "less"}
}

// options are those of the test for a change.
func (f Figure) options(t Thresholds, series int) history.Options {
	o := history.Options{Scale: f.Scale, Alarms: t.Alarms, Series: series, Prior: f.Prior, Smallest: t.Change}
	if v, ok := t.Figures[f.Name]; ok {
		o.Smallest = v
	}
	if f.Prior > 0 {
		o.Floor = 1e-6
	}
	return o
}

// Command is a Lab whose engines are commands of the user's (Engine.Command). Each is started once for each question, gets that as one JSON object on
// its standard input, and answers with one on its standard output:
//
//	{"op": "start", "version": "2.7"}
//	{"fingerprint": "what it is"}
//
//	{"op": "measure", "version": "2.7", "case": "models/gpt", "path": "/corpus/gpt.py", "text": "import torch ...", "mode": {"backend": "inductor", "dynamic": null, "mode": "", "dtype": ""},
//	 "attempt": 0, "figures": true, "repeats": 9, "night": "2026-01-31"}
//	{"status": "pass", "figures": {"compile_s": [4.1], "speedup": [1.52, 1.49]}}
//	{"status": "fail", "signature": {"stage": "compile", "type": "AssertionError", "message": "..."}, "message": "as it came", "repro": "text of a repro file, if there is one"}
//
//	{"op": "diverge", "version": "2.7", "case": "models/gpt", ...}
//	{"node": "add_3", "target": "aten.add.Tensor"}
//
// status is pass, fail, invalid (eager itself fails), timeout, oom, killed, or infrastructure. A command that ends with another exit status than 0, or
// answers with something else, is infrastructure; one without a node does not know where a graph parts, and need not know the question. One that takes longer than the limit is ended with all that it started: it hangs.
type Command struct {
	Dir string // that commands run in
}

var _ Diverger = Command{}

// commandQuestion is a question as the command reads it.
type commandQuestion struct {
	Op      string       `json:"op"`
	Version string       `json:"version"`
	Case    string       `json:"case,omitempty"`
	Path    string       `json:"path,omitempty"`
	Text    string       `json:"text,omitempty"`
	Mode    *commandMode `json:"mode,omitempty"`
	Attempt int          `json:"attempt"`
	Figures bool         `json:"figures"`
	Repeats int          `json:"repeats,omitempty"`
	Night   string       `json:"night,omitempty"`
}

type commandMode struct {
	Backend string `json:"backend"`
	Dynamic *bool  `json:"dynamic"`
	Mode    string `json:"mode"`
	DType   string `json:"dtype"`
}

// commandAnswer is what a command says.
type commandAnswer struct {
	Fingerprint string               `json:"fingerprint"`
	Status      replay.Status        `json:"status"`
	Signature   replay.Signature     `json:"signature"`
	Message     string               `json:"message"`
	Figures     map[string][]float64 `json:"figures"`
	Repro       string               `json:"repro"`
}

// statuses are those that an answer may have.
var statuses = []replay.Status{replay.Pass, replay.Failed, replay.Invalid, replay.Timeout, replay.OOM, replay.Killed, replay.Infrastructure}

// parseAnswer reads the answer to a measurement.
func parseAnswer(b []byte) (Measurement, error) {
	var a commandAnswer
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return Measurement{}, err
	}
	if d.More() {
		return Measurement{}, errors.New("more than one object")
	}
	if !slices.Contains(statuses, a.Status) {
		return Measurement{}, fmt.Errorf("status %q is none of %q", a.Status, statuses)
	}
	o := replay.Outcome{Status: a.Status, Signature: a.Signature, Message: a.Message}
	if failing(o.Status) {
		s := replay.NewSignature(a.Signature.Stage, a.Signature.Type, a.Signature.Message, nil, nil)
		s.Frame, s.Output = a.Signature.Frame, a.Signature.Output
		if o.Signature = s; s.IsZero() {
			return Measurement{}, fmt.Errorf("status %s without a signature", a.Status)
		}
	} else {
		o.Signature = replay.Signature{}
	}
	for name, samples := range a.Figures {
		for _, x := range samples {
			if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
				return Measurement{}, fmt.Errorf("figure %s: %v", name, x)
			}
		}
	}
	return Measurement{Outcome: o, Figures: a.Figures, Repro: a.Repro}, nil
}

// Start implements Lab.
func (l Command) Start(ctx context.Context, e Engine) (string, error) {
	b, _, err := l.ask(ctx, e, commandQuestion{Op: "start", Version: e.Version}, time.Minute)
	if err != nil {
		return "", err
	}
	var a commandAnswer
	if err := json.Unmarshal(b, &a); err != nil || a.Fingerprint == "" {
		return "", fmt.Errorf("%s: it did not say its fingerprint", strings.Join(e.Command, " "))
	}
	return a.Fingerprint, nil
}

// Measure implements Lab.
func (l Command) Measure(ctx context.Context, q Question) (Measurement, error) {
	m := commandMode(q.Mode)
	b, late, err := l.ask(ctx, q.Engine, commandQuestion{"measure", q.Engine.Version, q.Case.Name, q.Case.Path, q.Case.Text, &m, q.Attempt, q.Figures, q.Repeats, q.Night}, q.Time)
	if late {
		return Measurement{Outcome: replay.Outcome{Status: replay.Timeout, Signature: replay.Signature{Type: "timeout"}, Message: fmt.Sprintf("ran longer than %v", q.Time)}}, nil
	}
	if err != nil {
		return Measurement{}, err
	}
	a, err := parseAnswer(b)
	if err != nil {
		return a, fmt.Errorf("an answer that is none: %w", err)
	}
	return a, nil
}

// Diverge implements Diverger.
func (l Command) Diverge(ctx context.Context, q Question, _ bool) (*Divergence, error) {
	m := commandMode(q.Mode)
	b, _, err := l.ask(ctx, q.Engine, commandQuestion{"diverge", q.Engine.Version, q.Case.Name, q.Case.Path, q.Case.Text, &m, q.Attempt, q.Figures, q.Repeats, q.Night}, q.Time)
	var d Divergence
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err != nil || d.Node == "" {
		return nil, err
	}
	return &d, nil
}

// ErrNoMinimiser says that an engine cannot minimise.
var ErrNoMinimiser = errors.New("the engine is a command, which cannot be asked about smaller graphs")

// Minimise implements Lab.
func (l Command) Minimise(context.Context, Question, replay.Signature, string) (Minimal, error) {
	return Minimal{}, ErrNoMinimiser
}

// ask runs the command once.
func (l Command) ask(ctx context.Context, e Engine, q commandQuestion, limit time.Duration) (out []byte, late bool, err error) {
	in, err := json.Marshal(q)
	if err != nil {
		return nil, false, err
	}
	// A file: a process that does not read cannot keep us from writing, and one that leaves a child behind cannot keep us from reading.
	stdin, err := scratch(in)
	if err != nil {
		return nil, false, err
	}
	defer stdin.Close()
	stdout, err := scratch(nil)
	if err != nil {
		return nil, false, err
	}
	defer stdout.Close()
	stderr, err := scratch(nil)
	if err != nil {
		return nil, false, err
	}
	defer stderr.Close()
	cmd := exec.Command(e.Command[0], e.Command[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.Dir, stdin, stdout, stderr
	g, err := engine.StartGroup(cmd)
	if err != nil {
		return nil, false, err
	}
	until := time.Now().Add(limit)
	for !g.Ends(20*time.Millisecond) && ctx.Err() == nil && !late {
		late = time.Now().After(until)
	}
	state := g.Reap()
	if ctx.Err() != nil || late {
		return nil, late, ctx.Err()
	}
	if !state.Success() {
		said, _ := whole(stderr) // for people; without it they have the status
		return nil, false, fmt.Errorf("%s: %s%s", strings.Join(e.Command, " "), state, lastLine(said))
	}
	out, err = whole(stdout)
	return out, false, err
}

// scratch is a file without a name: nothing of it is left when its last user ends, however that comes.
func scratch(b []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "whittle-nightly-")
	if err != nil {
		return nil, err
	}
	if err = os.Remove(f.Name()); err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// whole is all that a scratch file holds.
func whole(f *os.File) ([]byte, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// lastLine is the last line of what a program printed, behind a colon.
func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if s := plain(lines[len(lines)-1]); s != "" {
		return ": " + s
	}
	return ""
}

// longest is how long a text of somebody else's may be in a report, in bytes.
const longest = 300

// plain is a text as one line that no terminal obeys.
func plain(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))), " ")
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "..."
	}
	return s
}

// failing reports whether a status is a failure of the case.
func failing(s replay.Status) bool {
	return s == replay.Failed || s == replay.Timeout || s == replay.OOM || s == replay.Killed
}

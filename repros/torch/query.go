package torch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"whittle/replay"
	"whittle/repros/engine"
)

// A Query is one repro to be run. A fresh one is run as the file itself.
type Query struct {
	engine.Query
	Calls    int                // in its graph, which bounds the time that compiling may take
	Stage    string             // aot or dynamo
	Accuracy string             // "" for none, "accuracy", or "strict"
	Tracing  string             // after aot: real, symbolic, fake; "" reads as real
	Autocast bool               // after dynamo
	OnlyFwd  bool               // after dynamo: no backward
	Derived  map[string]Derived // storages that the text names and that are made from held ones
	Storages []string           // that the text names, Derived aside: Put, given, or made by Explore. Fresh: the file's save_dir gets them
	Give     map[string][]byte  // those of Storages that are this query's alone, by hash
	SaveDir  string             // Fresh: as the text says it
	Locate   bool               // after aot: say which calls to blame, where that can be told
	Idle     bool               // on what other queries leave of the processors, and beside as many as may be at work
	Until    string             // as minify.Candidate says it: "backend", where Dynamo calls one, or "C++", where the first code is to be compiled
}

// needs are the storages that the far side has to hold.
func (q Query) needs() []string {
	out := slices.Clone(q.Storages)
	for _, d := range q.Derived {
		out = append(out, d.Of.Storage)
	}
	slices.Sort(out)
	return append([]string{}, slices.Compact(out)...)
}

// View is a tensor over a held storage.
type View struct {
	Storage string  `json:"storage"` // hash
	DType   string  `json:"dtype"`   // PyTorch's name: float32
	Shape   []int64 `json:"shape"`
	Stride  []int64 `json:"stride"`
	Offset  int64   `json:"offset"`
}

// Derived is a storage of a tensor whose elements are those of another one at the same indices, cast to DType.
type Derived struct {
	Of     View    `json:"of"`
	DType  string  `json:"dtype"`
	Shape  []int64 `json:"shape"`
	Stride []int64 `json:"stride"`
	NBytes int64   `json:"nbytes"`
}

// A Value is what one value of an explored graph looks like.
type Value struct {
	Kind         string  `json:"kind"` // tensor, int, float, bool, none, list, other
	DType        string  `json:"dtype"`
	Shape        []int64 `json:"shape"`
	Stride       []int64 `json:"stride"`
	Offset       int64   `json:"offset"`
	Storage      string  `json:"storage"` // hash of the held storage; "" where the value was too large to hold
	NBytes       int64   `json:"nbytes"`  // of the storage
	Group        int     `json:"group"`   // of an input: inputs of one group share their storage
	RequiresGrad bool    `json:"requires_grad"`
	Zero         bool    `json:"zero"`  // a ZeroTensor, which has no storage
	Value        any     `json:"value"` // of int (float64 here), bool; of float its repr
	Items        []Value `json:"items"`
}

// reply is an outcome as far/outcome.py says it.
type reply struct {
	Status    replay.Status      `json:"status"`
	Message   string             `json:"message"`
	Detail    string             `json:"detail"`
	Marks     []string           `json:"marks"`
	Seconds   float64            `json:"seconds"`
	Known     float64            `json:"known"` // seconds after which its status was known: the rest says where the failure is
	Times     map[string]float64 `json:"times"`
	Peak      int64              `json:"peak"` // bytes beyond an idle Python
	Suspects  []string           `json:"suspects"`
	Region    []string           `json:"region"`
	Outputs   []int              `json:"outputs"`
	Before    string             `json:"before"`
	Choices   []replay.Choice    `json:"choices"`
	Killer    string             `json:"killer"` // the signal that ended the child, sent by neither side
	Signature replay.Signature   `json:"signature"`
	Error     *struct {
		Stage, Type, Message, Frame string
	} `json:"error"`
}

// job is a request about a query's repro.
func (c *Client) job(op string, q Query) job {
	return job{Op: op, Needs: q.needs(), subject: &subject{Text: q.Text, Stage: q.Stage, Backend: q.Backend, Accuracy: q.Accuracy, Tracing: q.Tracing, Autocast: q.Autocast, OnlyFwd: q.OnlyFwd,
		Derived: q.Derived, Threads: c.threads(), CompileThreads: c.compileThreads(q), Slots: c.o.Slots, Limits: c.limits(q.Fresh, q.Calls)}}
}

// Run runs one query. The error is ctx's, or that no Python with torch can be started any more; all else is an outcome.
func (c *Client) Run(ctx context.Context, q Query) (replay.Outcome, error) {
	j := c.job("run", q)
	j.Nonce, j.Locate, j.Idle, j.Until, j.Choose = rand.Text(), q.Locate, q.Idle, q.Until, q.Choose
	if q.Fresh {
		j.Op, j.Storages, j.SaveDir = "fresh", q.Storages, q.SaveDir
	}
	// A candidate does not kill itself with SIGKILL every time by chance: one such end may be somebody else's doing.
	for try := 0; ; try++ {
		b, err := c.ask(ctx, j, q.Give)
		if ctx.Err() != nil {
			return replay.Outcome{}, ctx.Err()
		}
		if err != nil {
			return replay.Outcome{}, err
		}
		var r reply
		if err := json.Unmarshal(b, &r); err != nil {
			return replay.Outcome{Status: replay.Infrastructure, Message: "an answer that is no outcome: " + err.Error()}, nil
		}
		if o := r.outcome(q.Until); try == 2 || r.Killer != "SIGKILL" {
			if !q.Idle { // what it took says nothing about others
				c.learn(r)
			}
			return o, nil
		}
	}
}

// learn notes how long compiling takes, which bounds later queries.
func (c *Client) learn(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := r.Times["compile"]; ok {
		c.slowest = max(c.slowest, time.Duration(s*float64(time.Second)))
	}
	switch r.Status {
	case replay.Timeout:
		c.stuck = r.Signature.Stage
	case replay.OOM:
		c.hogged = true
	case replay.Pass, replay.Failed:
		c.largest = max(c.largest, r.Peak)
	}
}

// Until a query did not end, compiling may take firstCompile and callCompile for each call, if no limit was given. Inductor was seen to take 15 ms
// a call on two cores, and a few seconds for the first kernel.
const (
	firstCompile = 30 * time.Second
	callCompile  = 250 * time.Millisecond
)

// limits are those of the next query. After one that did not end, ten times what others took is enough to call it a hang; after one
// that took all memory, four times what others held. A fresh process compiles and runs in what it tells as one stage.
func (c *Client) limits(fresh bool, calls int) limits {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.o.Limits
	switch {
	case c.stuck == "compile" && !fresh && c.slowest > 0:
		l.Compile = min(l.Compile, max(10*c.slowest, 3*time.Second))
	case c.stuck == "compile", fresh && c.stuck != "": // compiling for the first time takes longer
		l.Compile = min(l.Compile, max(10*c.slowest, 10*time.Second))
	case !fresh && c.guess:
		l.Compile = min(l.Compile, firstCompile+time.Duration(calls)*callCompile)
	}
	if c.hogged && !fresh { // the proof gets all that the start got
		l.Memory = min(l.Memory, max(4*c.largest, l.Memory/4))
	}
	return limits{Load: l.Load.Seconds(), Eager: l.Eager.Seconds(), Compile: l.Compile.Seconds(), Run: l.Run.Seconds(), Compare: l.Run.Seconds(),
		RunFactor: l.RunFactor, RunFloor: l.RunFloor.Seconds(), CPU: l.CPU.Seconds(), Memory: l.Memory}
}

// compileThreads is how many kernels of a query are compiled at once. A small graph is one kernel most often, which shares a compilation with those
// of other queries: that is done on no thread (far/pool.py).
func (c *Client) compileThreads(q Query) int {
	if !q.Fresh && q.Calls <= oneKernel {
		return 1
	}
	return c.facts.Cores
}

// oneKernel is up to how many calls Inductor most often makes one kernel of.
const oneKernel = 12

// outcome is what the reply to a query that was to go until a step proves. One that was not asked to stop there has to have all its marks.
func (r reply) outcome(until string) replay.Outcome {
	if r.Status == replay.Pass && r.Before != until {
		r.Before = ""
	}
	o := replay.Outcome{Status: r.Status, Message: r.Message, Detail: r.Detail, Marks: r.Marks, Signature: r.Signature, Suspects: r.Suspects, Region: r.Region, Outputs: r.Outputs, Before: r.Before, Choices: r.Choices, Duration: time.Duration(r.Known * float64(time.Second))}
	if r.Error != nil {
		o.Signature = signature(r.Error.Stage, r.Error.Type, r.Error.Message, r.Error.Frame)
	}
	return engine.Proved(o)
}

// signature reduces an exception's message to what its kind of error says in every candidate.
func signature(stage, typ, message, frame string) replay.Signature {
	switch {
	case typ == "CppCompileError":
		message, frame = replay.CppError(message), ""
	case strings.Contains(message, "\n  target: "): // a LoweringException: the operator counts, its arguments do not
		head, rest, _ := strings.Cut(message, "\n  target: ")
		target, _, _ := strings.Cut(rest, "\n")
		message = head + " target: " + target
	default:
		message, _, _ = strings.Cut(message, "\n\n")
	}
	var frames []string
	if frame != "" {
		frames = []string{frame}
	}
	return replay.NewSignature(stage, typ, message, frames, nil)
}

// Explore runs the repro's graph eagerly and holds every value that forward gives a name, and the inputs, called inputs in
// the order of load_args. After an error in the graph the values so far come with it.
func (c *Client) Explore(ctx context.Context, q Query, inputs []string) (map[string]Value, error) {
	return c.explore(ctx, q, inputs, false)
}

// Inputs is Explore without running the graph: the inputs are made and held. After an error while they are made those so far come with it.
func (c *Client) Inputs(ctx context.Context, q Query, inputs []string) (map[string]Value, error) {
	return c.explore(ctx, q, inputs, true)
}

func (c *Client) explore(ctx context.Context, q Query, inputs []string, only bool) (map[string]Value, error) {
	j := c.job("explore", q)
	j.Inputs, j.OnlyInputs = append([]string{}, inputs...), only // a list for the far side, where there are none, too
	b, err := c.ask(ctx, j, q.Give)
	if err != nil {
		return nil, err
	}
	var r struct {
		Values map[string]Value `json:"values"`
		Error  string           `json:"error"`
		reply
	}
	if err := read(b, &r, &r.reply); err != nil {
		return nil, fmt.Errorf("torch: exploring: %w", err)
	}
	c.remember(j, r.Values)
	if r.Error != "" {
		return r.Values, fmt.Errorf("torch: exploring: %s", r.Error)
	}
	return r.Values, nil
}

// Elements reads a tensor's elements, row-major, as Python literals.
func (c *Client) Elements(ctx context.Context, v View) ([]string, error) {
	b, err := c.ask(ctx, job{Op: "elements", Needs: []string{v.Storage}, wanted: &wanted{Of: &v}}, nil)
	if err != nil {
		return nil, err
	}
	var r struct {
		Elements []string `json:"elements"`
		reply
	}
	if err := read(b, &r, &r.reply); err != nil {
		return nil, fmt.Errorf("torch: reading elements: %w", err)
	}
	return r.Elements, nil
}

// read decodes a result. The error is that of the decoder, or of the outcome, o, that came in place of what was asked for.
func read(b json.RawMessage, into any, o *reply) error {
	if err := json.Unmarshal(b, into); err != nil {
		return err
	}
	if o.Status != "" {
		return errors.New(o.Message)
	}
	return nil
}

// Diverge runs a repro eagerly, in float64 and compiled, and compares the values of the buffers that Inductor makes, in the order in which
// it makes them, and the outputs. The rows come as accuracy.Row reads them. tolerance 0 is PyTorch's. With direct, the verdict is that of
// a comparison with eager itself, by eager's own noise, and tolerance 0 is none.
func (c *Client) Diverge(ctx context.Context, q Query, tolerance float64, ignoreNonFP, direct bool) (rows json.RawMessage, err error) {
	j := c.job("diverge", q)
	j.Tolerance, j.IgnoreNonFP, j.Strict = tolerance, ignoreNonFP, direct
	b, err := c.ask(ctx, j, q.Give)
	if err != nil {
		return nil, err
	}
	var r struct {
		Rows  json.RawMessage `json:"rows"`
		Fault string          `json:"error"`
	}
	if err := json.Unmarshal(b, &r); err != nil || r.Rows == nil {
		var o reply
		if e := read(b, &o, &o); e != nil {
			err = e
		}
		return nil, fmt.Errorf("torch: comparing: %w", err)
	}
	if r.Fault != "" {
		return r.Rows, fmt.Errorf("torch: %s", r.Fault)
	}
	return r.Rows, nil
}

// Code is the code that Inductor generates for a query, as texts in the order in which graphs are compiled, whatever comes of it when it runs. An error says that
// it does not compile, or that there is none.
func (c *Client) Code(ctx context.Context, q Query) ([]string, error) {
	j := c.job("code", q)
	j.Nonce, j.Choose = rand.Text(), q.Choose
	b, err := c.ask(ctx, j, q.Give)
	if err != nil {
		return nil, err
	}
	var r struct {
		Code []string `json:"code"`
		reply
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("torch: generating code: %w", err)
	}
	if !slices.Contains(r.Marks, engine.Compiled) || len(r.Code) == 0 {
		return nil, fmt.Errorf("torch: no code was generated: %s", r.Message)
	}
	return r.Code, nil
}

package ablate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"whittle/replay"
	"whittle/tools/whittle/exec"
)

// Report is what the runs of a program say.
type Report struct {
	Program string   `json:"program"`
	Engine  string   `json:"engine"` // native or torch
	Runs    []Run    `json:"runs"`   // in the order in which they ran
	Guilty  *Guilty  `json:"guilty"` // null: no layer that the program uses does anything else than eager
	Slow    []Slow   `json:"slow"`   // layers with which calls take longer than eagerly
	Helps   []string `json:"helps"`  // runs that are as eager is, where the guilty layer alone is not
	Also    []string `json:"also"`   // runs that are not as eager is although the program as it is is
	Next    []string `json:"next"`   // what to do, in sentences
}

// Guilty is the first layer that does something else than eager.
type Guilty struct {
	Layer  string `json:"layer"` // dynamo, aot, decompositions, inductor, or backend for one of the program's own
	Name   string `json:"name"`  // for people
	Status Status `json:"status"`
	Why    string `json:"why"`
}

// Slow is a layer with which calls take longer than eagerly.
type Slow struct {
	Layer   string  `json:"layer"`
	Seconds float64 `json:"seconds"` // of a call, once it is compiled
	Eager   float64 `json:"eager"`
}

// Change is how a run differs from the program as it is.
type Change struct {
	Name     string         // for people: backend="eager"
	Layer    string         // the layer that it ends with; "" => it varies something else
	Eager    bool           // nothing is compiled
	Compile  map[string]any // arguments of torch.compile
	Settings []exec.Setting
}

// Runner runs the program with a change and records its calls. stderr is the last line of what it said.
type Runner func(ctx context.Context, c Change) (res exec.Result, stderr string, err error)

// Options say how far to go.
type Options struct {
	Tolerance float64        // the share of a value's magnitude that it may be off
	Quick     bool           // the layers alone
	Repeat    int            // runs of each change; a bad one counts. 0 => 1
	Settings  []exec.Setting // that may make a failure of Inductor go away
	Say       func(Run)      // is told of each run as it ends; nil => nobody
	Advice    Advice
}

// EagerError says that the program cannot be ablated.
type EagerError struct{ Why string }

func (e *EagerError) Error() string { return e.Why }

// Layers are the parts of the stack, each with the backend that ends with it: what works with one and not with the next is the next one's.
var Layers = []struct{ Name, Title, Backend string }{
	{"dynamo", "TorchDynamo, which captures the graphs", "eager"},
	{"aot", "AOTAutograd, which makes aten graphs of them, forward and backward", "aot_eager"},
	{"decompositions", "AOTAutograd's decompositions, or its partitioner", "aot_eager_decomp_partition"},
	{"inductor", "TorchInductor, which generates code", "inductor"},
}

// ablation is one search.
type ablation struct {
	Options
	run   Runner
	eager exec.Result
	rep   *Report
	own   program
}

// Ablate runs the program as often as it takes. Errors are *EagerError, what the runner cannot do, and the context's.
func Ablate(ctx context.Context, run Runner, o Options) (*Report, error) {
	a := &ablation{Options: o, run: run, rep: &Report{Slow: []Slow{}, Helps: []string{}, Also: []string{}, Next: []string{}}}
	a.Repeat = max(a.Repeat, 1)
	if err := a.reference(ctx); err != nil {
		return nil, err
	}
	asItIs, err := a.try(ctx, Change{Name: "as it is"})
	if err != nil {
		return nil, err
	}
	layers := make([]*Run, len(Layers))
	for i, l := range Layers {
		c := Change{Name: fmt.Sprintf("backend=%q", l.Backend), Layer: l.Name, Compile: map[string]any{"backend": l.Backend}}
		if layers[i], err = a.try(ctx, c); err != nil {
			return nil, err
		}
	}
	base := a.judge(asItIs, layers)
	if !a.Quick {
		if err := a.vary(ctx, base); err != nil {
			return nil, err
		}
	}
	a.rep.Slow = append(a.rep.Slow, slow(a.eager, layers)...)
	a.rep.Next = append(a.rep.Next, a.Advice.next(a.rep, a.own)...)
	return a.rep, nil
}

// reference runs the program eagerly, twice: what differs between the two is no layer's fault.
func (a *ablation) reference(ctx context.Context) error {
	c := Change{Name: "eager", Eager: true}
	begin := time.Now()
	first, said, err := a.run(ctx, c)
	if err != nil {
		return err
	}
	switch {
	case !first.Heard:
		return &EagerError{"no Python ran that could record its calls"}
	case first.Overdue:
		return &EagerError{"the program does not end in time when nothing is compiled"}
	case first.Status != 0:
		why := said
		if n := last(first.Notes, "ended"); n != nil {
			why = oneLine(n.Type, n.Message)
		}
		return &EagerError{fmt.Sprintf("the program ends with status %d when nothing is compiled: %s", first.Status, why)}
	case !slices.ContainsFunc(first.Calls, func(c exec.Call) bool { return c.Kind == "call" }):
		return &EagerError{"the program calls nothing that torch.compile made"}
	}
	a.eager, a.own = first, programOf(first.Notes)
	r := Run{Name: c.Name, Status: Same, Why: replay.Count(len(first.Calls), "call"), Seconds: time.Since(begin).Seconds()}
	r.times(first.Calls)
	a.tell(r)
	begin = time.Now()
	second, _, err := a.run(ctx, c)
	if err != nil {
		return err
	}
	again := a.compare("eager, again", second, "")
	again.Seconds = time.Since(begin).Seconds()
	a.tell(again)
	if again.Status != Same {
		return &EagerError{"two eager runs part already, " + again.Why + "; does the program seed its random numbers?"}
	}
	return nil
}

// try runs the program with a change, as often as it is to be repeated, and keeps the first bad run, or the last.
func (a *ablation) try(ctx context.Context, c Change) (*Run, error) {
	var r Run
	for i := range a.Repeat {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		begin := time.Now()
		res, said, err := a.run(ctx, c)
		if err != nil {
			return nil, err
		}
		r = a.compare(c.Name, res, said)
		r.Layer, r.Seconds, r.calls = c.Layer, time.Since(begin).Seconds(), res.Calls
		if c.Name == "as it is" {
			a.own = programOf(res.Notes)
		}
		if r.Status.bad() {
			if i > 0 {
				r.Why += fmt.Sprintf(" (in run %d; those before were the same as eager)", i+1)
			}
			break
		}
	}
	a.tell(r)
	return &r, nil
}

func (a *ablation) tell(r Run) {
	a.rep.Runs = append(a.rep.Runs, r)
	if a.Say != nil {
		a.Say(r)
	}
}

// judge finds the guilty layer, among those that the program's own backend is made of, and says what to vary it with.
func (a *ablation) judge(asItIs *Run, layers []*Run) (base Change) {
	upTo := a.own.layers() // of Layers
	for i, r := range layers {
		if !r.Status.bad() {
			continue
		}
		if i < upTo {
			a.rep.Guilty = &Guilty{Layers[i].Name, Layers[i].Title, r.Status, r.Why}
			return Change{Name: Layers[i].Name, Layer: Layers[i].Name, Compile: map[string]any{"backend": Layers[i].Backend}}
		}
		if !asItIs.Status.bad() {
			a.rep.Also = append(a.rep.Also, r.Name+": "+r.Why)
		}
	}
	if asItIs.Status.bad() {
		g := &Guilty{Layer: "inductor", Name: "TorchInductor with " + a.own.with(), Status: asItIs.Status, Why: asItIs.Why}
		switch {
		case a.own.custom != "":
			g.Layer, g.Name = "backend", "the program's backend "+a.own.custom
		case a.own.with() == "" && a.own.known < len(Layers):
			g.Layer, g.Name = Layers[a.own.known-1].Name, Layers[a.own.known-1].Title
		case a.own.with() == "":
			g.Name = Layers[len(Layers)-1].Title + ": it comes and goes"
		}
		a.rep.Guilty = g
	}
	return Change{}
}

// vary tries what may hide a failure, or bring one about, one thing at a time.
func (a *ablation) vary(ctx context.Context, base Change) error {
	g := a.rep.Guilty
	bad := g != nil
	var all []Change
	add := func(name string, compile map[string]any, settings ...exec.Setting) {
		c := Change{Name: name, Compile: map[string]any{}, Settings: settings}
		for _, from := range []map[string]any{base.Compile, compile} {
			for k, v := range from {
				c.Compile[k] = v
			}
		}
		all = append(all, c)
	}
	if a.own.custom == "" && a.own.known == len(Layers) && (!bad || g.Layer == "inductor") {
		for _, mode := range []string{"reduce-overhead", "max-autotune"} {
			add(fmt.Sprintf("mode=%q", mode), map[string]any{"backend": "inductor", "mode": mode})
		}
	}
	for _, d := range []struct {
		text  string
		value any
	}{{"True", true}, {"False", false}, {"None", nil}} {
		if a.own.dynamic[d.text] {
			continue
		}
		if d.value == nil && !bad {
			continue // what is there by default is in the layers
		}
		add("dynamic="+d.text, map[string]any{"dynamic": d.value})
	}
	if !a.own.fullgraph {
		add("fullgraph=True", map[string]any{"fullgraph": true})
	}
	if bad {
		add("torch._dynamo.config.suppress_errors = True", nil, exec.Setting{Name: "torch._dynamo.config.suppress_errors", Value: true})
		for _, s := range a.own.changed {
			if s.Name != "torch._dynamo.config.suppress_errors" {
				add(python(s.Name, s.Before), nil, exec.Setting{Name: s.Name, Value: s.Before})
			}
		}
		if g.Layer == "inductor" {
			for _, s := range a.Settings {
				if !slices.ContainsFunc(a.own.changed, func(c exec.Setting) bool { return c.Name == s.Name }) {
					add(python(s.Name, s.Value), nil, s)
				}
			}
		}
	}
	for _, c := range all {
		r, err := a.try(ctx, c)
		if err != nil {
			return err
		}
		switch {
		case bad && !r.Status.bad():
			a.rep.Helps = append(a.rep.Helps, c.Name)
		case !bad && r.Status.bad():
			a.rep.Also = append(a.rep.Also, c.Name+": "+r.Why)
		}
	}
	return nil
}

// IsEager reports whether an error is about the program and not about whittle.
func IsEager(err error) bool {
	var e *EagerError
	return errors.As(err, &e)
}

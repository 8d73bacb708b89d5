package torch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"whittle/accuracy"
	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
)

// Engine asks a real PyTorch. It implements engine.Engine.
type Engine struct {
	*Client

	mu    sync.Mutex
	repro *repros.Repro
	held  map[string]View   // by the name that minify.Data.Of uses
	stage map[string]string // of a candidate's failure, for its fresh run
}

// New makes an engine of a started client, which is closed with it.
func New(c *Client) *Engine {
	return &Engine{Client: c, held: map[string]View{}, stage: map[string]string{}}
}

// Name implements Engine.
func (e *Engine) Name() string { return "torch" }

// Together implements Engine: most of what a small graph costs is the C++ compiler's start, and it takes several kernels at once (far/pool.py).
// Where that compiler itself is what fails it takes each alone.
func (e *Engine) Together(sig replay.Signature) int {
	if sig.Type == "CppCompileError" {
		return 1
	}
	return together
}

// together is how many kernels share a compilation without making it much longer.
const together = 8

// Yields implements Engine.
func (e *Engine) Yields() bool { return true }

// About implements Engine.
func (e *Engine) About() []string {
	f := e.Facts()
	out := []string{"torch version: " + f.Torch}
	if f.Git != "" {
		out = append(out, "torch git version: "+f.Git)
	}
	return append(out, "python version: "+f.Python, "CPU: "+f.CPU, "vector code: "+f.ISA)
}

// Checks implements Engine.
func (e *Engine) Checks(r *repros.Repro) bool { return r.Stage != repros.AfterDynamo }

// Load implements Engine: the far side gets the stored data, and makes those that are random.
func (e *Engine) Load(ctx context.Context, r *repros.Repro, dir string) (minify.State, error) {
	e.repro = r
	load := r.Loader(dir)
	x := *r
	x.Storages = slices.Clone(r.Storages)
	for i, st := range r.Storages {
		switch {
		case st.Hash == "":
		case load == nil:
			x.Storages[i].Hash = ""
		default:
			if _, err := load(st.Hash); err != nil {
				return minify.State{}, err
			}
			e.Put(st.Hash, func() ([]byte, error) { return load(st.Hash) })
		}
	}
	s := engine.Start(r)
	names := inputNames(s)
	values, err := e.Client.Inputs(ctx, e.query(&x, nil), names)
	if err != nil && values == nil {
		return s, err
	}
	fakes := map[int]*tensor.Storage{}
	for i, name := range names {
		v, ok := values[name]
		if !ok {
			return s, errors.Join(fmt.Errorf("input %s: the engine did not make it", name), err)
		}
		h, err := e.hold("input/"+name, v, fakes)
		if err != nil {
			return s, fmt.Errorf("input %s: %w", name, err)
		}
		in := minify.Input{Value: h.Value, RequiresGrad: r.Inputs[i].RequiresGrad, Made: !r.Inputs[i].Leaf}
		if _, isTensor := h.Value.(*tensor.Tensor); isTensor {
			in.Data = minify.Data{Of: "input/" + name, Hash: h.Hash}
			if v.Zero {
				in.Data = minify.Data{Fill: minify.FillZeroTensor}
			}
		}
		s.Inputs = append(s.Inputs, in)
	}
	return s, nil
}

func inputNames(s minify.State) []string {
	var out []string
	for _, n := range s.Module.Graph.Placeholders() {
		out = append(out, n.Name)
	}
	return out
}

// query is what the engine needs to know of a repro, some of whose storages are derived from held ones.
func (e *Engine) query(r *repros.Repro, derived map[string]Derived) Query {
	q := Query{Query: engine.Query{Text: repros.Write(r), Backend: r.Backend}, Calls: minify.CostOf(minify.State{Module: r.Module}).Calls, Stage: string(r.Stage), Tracing: r.Tracing, Autocast: r.Autocast, SaveDir: r.SaveDir, Derived: derived}
	for _, st := range r.Storages {
		if _, made := derived[st.Hash]; st.Hash != "" && !made {
			q.Storages = append(q.Storages, st.Hash)
		}
	}
	switch r.Accuracy {
	case repros.WithAccuracy, repros.MinAccuracy:
		q.Accuracy = "accuracy"
	case repros.StrictAccuracy:
		q.Accuracy = "strict"
	}
	return q
}

// hold notes where a value lies, and describes it for the search.
func (e *Engine) hold(name string, v Value, fakes map[int]*tensor.Storage) (minify.Held, error) {
	switch v.Kind {
	case "none":
		return minify.Held{}, nil
	case "bool":
		b, _ := v.Value.(bool)
		return minify.Held{Value: b}, nil
	case "int":
		x, _ := v.Value.(float64)
		return minify.Held{Value: int64(x)}, nil
	case "float":
		text, _ := v.Value.(string)
		x, err := strconv.ParseFloat(text, 64)
		return minify.Held{Value: x}, err
	case "list":
		var list []any
		for i, it := range v.Items {
			h, err := e.hold(fmt.Sprintf("%s/%d", name, i), it, nil)
			if err != nil {
				return minify.Held{}, err
			}
			list = append(list, h.Value)
		}
		return minify.Held{Value: list}, nil
	case "tensor":
	default:
		return minify.Held{}, fmt.Errorf("a value that is no strided tensor on the CPU")
	}
	d, ok := tensor.ParseDType(v.DType)
	if !ok {
		return minify.Held{}, &repros.DTypeUnsupported{Input: name, DType: v.DType}
	}
	f := &tensor.Tensor{DType: d, Shape: v.Shape, Stride: v.Stride, Offset: v.Offset, Fake: true}
	if fakes != nil && fakes[v.Group] != nil {
		f.Storage = fakes[v.Group]
	} else {
		f.Storage = tensor.FakeStorage(v.NBytes)
		if fakes != nil {
			fakes[v.Group] = f.Storage
		}
	}
	if v.Zero || v.Storage == "" {
		return minify.Held{Value: f}, nil
	}
	e.mu.Lock()
	e.held[name] = View{Storage: v.Storage, DType: v.DType, Shape: v.Shape, Stride: v.Stride, Offset: v.Offset}
	e.mu.Unlock()
	return minify.Held{Value: f, Hash: fmt.Sprintf("%s+%d", v.Storage, v.Offset)}, nil
}

// Explore implements minify.Values.
func (e *Engine) Explore(ctx context.Context, s minify.State, prefix string) (map[string]minify.Held, error) {
	names := inputNames(s)
	x, derived, err := e.render(s)
	if err != nil {
		return nil, err
	}
	values, failed := e.Client.Explore(ctx, e.query(x, derived), names)
	out := map[string]minify.Held{}
	fakes := map[int]*tensor.Storage{}
	for name, v := range values {
		groups := fakes
		if !slices.Contains(names, name) {
			groups = nil
		}
		if h, err := e.hold(prefix+name, v, groups); err == nil {
			out[name] = h
		}
	}
	return out, failed
}

// Elements implements minify.Values.
func (e *Engine) Elements(ctx context.Context, name string) ([]string, error) {
	e.mu.Lock()
	v, ok := e.held[name]
	e.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("no tensor is held under %q", name)
	}
	return e.Client.Elements(ctx, v)
}

// derivation is how an input's storage comes from a held one; nil where it is that storage.
func (e *Engine) derivation(in minify.Input) (hash string, d *Derived, err error) {
	v := in.Value.(*tensor.Tensor)
	e.mu.Lock()
	of, ok := e.held[in.Data.Of]
	e.mu.Unlock()
	if !ok {
		return "", nil, fmt.Errorf("no value is held under %q", in.Data.Of)
	}
	if of.DType == v.DType.String() && slices.Equal(of.Shape, v.Shape) && slices.Equal(of.Stride, v.Stride) && of.Offset == v.Offset {
		return of.Storage, nil, nil
	}
	if len(v.Shape) > len(of.Shape) {
		return "", nil, fmt.Errorf("%s has more dimensions than what is held under %q", v.Describe(), in.Data.Of)
	}
	of.Shape, of.Stride = of.Shape[:len(v.Shape)], of.Stride[:len(v.Shape)]
	d = &Derived{Of: of, DType: v.DType.String(), Shape: v.Shape, Stride: v.Stride, NBytes: engine.Span(v) * int64(v.DType.Size())}
	b, err := json.Marshal(d)
	return "d" + replay.HashOf(string(b))[:39], d, err
}

// render makes the repro of a state over held storages.
func (e *Engine) render(s minify.State) (*repros.Repro, map[string]Derived, error) {
	derived := map[string]Derived{}
	x, err := engine.Render(e.repro, s, func(_ int, in minify.Input) (repros.Storage, error) {
		hash, d, err := e.derivation(in)
		if err != nil {
			return repros.Storage{}, err
		}
		if d != nil {
			derived[hash] = *d
			return repros.Storage{Hash: hash, NBytes: d.NBytes}, nil
		}
		return repros.Storage{Hash: hash, NBytes: in.Value.(*tensor.Tensor).Storage.NBytes}, nil
	})
	x.SaveDir = engine.SaveDir
	return x, derived, err
}

// Run implements Engine. A fresh candidate is run as the file that would be written.
func (e *Engine) Run(ctx context.Context, r *repros.Repro, c minify.Candidate) (replay.Outcome, error) {
	if c.Fresh {
		return e.fresh(ctx, c)
	}
	x, derived, err := e.render(c.State)
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}, nil
	}
	q := e.query(x, derived)
	q.Locate, q.Idle, q.Until, q.Choose = c.Reduction == "start", c.Idle, c.Until, c.Choose
	o, err := e.Client.Run(ctx, q)
	if err != nil {
		return o, err
	}
	if stage := o.Signature.Stage; stage != "" { // a run that passes by chance says nothing
		e.mu.Lock()
		e.stage[c.Hash] = stage
		e.mu.Unlock()
	}
	return o, nil
}

func (e *Engine) fresh(ctx context.Context, c minify.Candidate) (replay.Outcome, error) {
	x, stored, err := e.Finish(ctx, e.repro, c.State)
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}, nil
	}
	x.Command = "run"
	o, err := e.script(ctx, x, repros.Write(x), stored)
	if o.Status == replay.Killed || o.Status == replay.Timeout || o.Status == replay.OOM {
		// A fresh process cannot tell compiling from running where it was ended from outside: that is told by the run before, if it
		// was this process's own.
		e.mu.Lock()
		o.Signature.Stage = e.stage[c.Hash]
		e.mu.Unlock()
	}
	return o, err
}

// RunScript implements Engine.
func (e *Engine) RunScript(ctx context.Context, r *repros.Repro, text string) (replay.Outcome, error) {
	return e.script(ctx, r, text, nil)
}

func (e *Engine) script(ctx context.Context, r *repros.Repro, text string, stored map[string][]byte) (replay.Outcome, error) {
	q := e.query(r, nil)
	q.Text, q.Fresh, q.Give, q.Storages = text, true, stored, slices.Sorted(maps.Keys(stored))
	return e.Client.Run(ctx, q)
}

// Finish implements Engine.
func (e *Engine) Finish(ctx context.Context, r *repros.Repro, s minify.State) (*repros.Repro, map[string][]byte, error) {
	x, stored, err := engine.Finish(r, s, func(_ int, in minify.Input) ([]byte, error) {
		hash, d, err := e.derivation(in)
		if err != nil {
			return nil, err
		}
		return e.Storage(ctx, hash, d)
	})
	if r.Stage != repros.AfterDynamo && r.Accuracy != repros.NoAccuracy && r.Accuracy != "" && s.Module.Graph.IsMutating(fx.UnknownMay) {
		x.Imports = append(slices.Clone(x.Imports), repros.KeepGraph...)
	}
	return x, stored, err
}

// Diverge compares the intermediates of a repro in eager, in float64 and compiled: see accuracy.Row. dir is the folder of its file.
func (e *Engine) Diverge(ctx context.Context, r *repros.Repro, dir string, o accuracy.Options) ([]accuracy.Row, error) {
	q, err := e.asked(ctx, r, dir)
	if err != nil {
		return nil, err
	}
	b, failed := e.Client.Diverge(ctx, q, o.Tol, o.IgnoreNonFP, o.Direct)
	var rows []accuracy.Row
	if b != nil {
		if err := json.Unmarshal(b, &rows); err != nil {
			return nil, err
		}
	}
	for i := range rows {
		if !rows[i].Same {
			rows[i].First = true
			break
		}
	}
	return rows, failed
}

// asked is what the far side is asked about a repro. dir is the folder of its file.
func (e *Engine) asked(ctx context.Context, r *repros.Repro, dir string) (Query, error) {
	s, err := e.Load(ctx, r, dir)
	if err != nil {
		return Query{}, err
	}
	x, derived, err := e.render(s)
	if err != nil {
		return Query{}, err
	}
	return e.query(x, derived), nil
}

// Code is the code that Inductor generates for a repro, by the names of files: see Client.Code. choose says what the compiler does; nil: all.
func (e *Engine) Code(ctx context.Context, r *repros.Repro, dir string, choose *replay.Choose) (map[string][]byte, error) {
	q, err := e.asked(ctx, r, dir)
	if err != nil {
		return nil, err
	}
	q.Choose = choose
	texts, err := e.Client.Code(ctx, q)
	out := map[string][]byte{}
	for i, text := range texts {
		out[fmt.Sprintf("output_code_%d.py", i)] = []byte(text)
	}
	return out, err
}

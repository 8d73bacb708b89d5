package minify

import (
	"context"
	"fmt"
	"slices"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// world is what a search knows of the values in the current graph, by node name. Names are kept by all edits.
//
// Knowledge comes in generations: the engine holds the values of generation n under names that begin with "n/". A new generation begins
// when values are needed after an edit that changed what they look like. Most edits do not: a call that became an input has the value that
// it had. So a search explores two or three times in all.
//
// Between two generations meta functions say what values look like. They are whittle's, and the engine may be a PyTorch that disagrees: the first
// generation, whose values are known, shows which of them are sound, and no other is believed.
type world struct {
	values Values
	base   string // before the generation's number
	gen    int    // generations explored
	prefix string // of the latest
	held   map[string]Held
	fakes  map[string]any  // what values look like by shape propagation, where the engine was not asked; may lack some
	grads  map[string]bool // the value depends on an input that requires gradients

	outdated bool            // an edit changed what values look like
	hollow   bool            // fakes are of the current graph, held is not
	wrong    map[string]bool // operators whose meta functions fail, or disagree with the engine
	sound    map[string]bool // operators whose meta functions agree with it

	origin *world // the first generation
}

func newWorld(v Values) *world {
	if v == nil {
		v = &EagerValues{}
	}
	return &world{values: v, held: map[string]Held{}, fakes: map[string]any{}, grads: map[string]bool{}, wrong: map[string]bool{}, sound: map[string]bool{}}
}

// known is what a node's value looks like.
func (w *world) known(name string) (any, bool) {
	if h, ok := w.held[name]; ok {
		return h.Value, true
	}
	v, ok := w.fakes[name]
	return v, ok
}

// input is what a node becomes when it is turned into an input: its real value. What the engine could not tell stays a call.
func (w *world) input(n *fx.Node) (Input, bool) {
	var in Input
	if h, ok := w.held[n.Name]; ok {
		in = Input{Value: h.Value, Data: Data{Of: w.prefix + n.Name, Hash: h.Hash}}
	} else if _, adapted := n.Meta["adapter"]; adapted {
		return Input{}, false // until the next generation
	} else if v, ok := w.fakes[n.Name]; ok {
		in = Input{Value: v}
	}
	switch v := in.Value.(type) {
	case *tensor.Tensor:
		return in, v != nil && in.Data.Of != ""
	case int64, float64, bool:
		return Input{Value: v}, true
	}
	return Input{}, false
}

// knowledge is what a reduction has to know of the values in the graph.
type knowledge int

const (
	nothing knowledge = iota
	looks             // what they look like
	values            // and where the engine holds them
)

// knowledges are their names in a journal.
var knowledges = []string{"nothing", "looks", "values"}

// MarshalText gives the name.
func (k knowledge) MarshalText() ([]byte, error) { return []byte(knowledges[k]), nil }

// UnmarshalText reads a name.
func (k *knowledge) UnmarshalText(text []byte) error {
	i := slices.Index(knowledges, string(text))
	if i < 0 {
		return fmt.Errorf("%q is nothing that can be known of values", text)
	}
	*k = knowledge(i)
	return nil
}

// learn brings the world up to date, as cheaply as it can: not at all, by meta functions, by asking the engine.
func (d *driver) learn(ctx context.Context, need knowledge) error {
	w := d.w
	if w.gen == 0 {
		if need == nothing {
			return nil
		}
		d.learned = append(d.learned, need)
		return d.explore(ctx)
	}
	if need == nothing || !w.outdated && !(w.hollow && need == values) || len(d.cur.Module.Graph.Calls()) < 2 {
		return nil
	}
	d.learned = append(d.learned, need)
	if w.outdated {
		vals, complete, _ := w.propagate(ctx, d.cur)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if complete {
			w.outdated = false
			same := true
			for _, n := range d.cur.Module.Graph.Calls() {
				h, ok := w.held[n.Name]
				same = same && ok && alike(h.Value, vals[n.Name])
			}
			if same {
				return nil
			}
			w.fakes, w.held, w.hollow = vals, map[string]Held{}, true
			if need == looks {
				return nil
			}
		}
	}
	return d.explore(ctx)
}

// restart goes back to the start, of which everything is to be learnt anew.
func (d *driver) restart() {
	d.cur, d.back, d.learned = d.start, true, nil
	clear(d.kept)
	d.w = newWorld(d.s.Values)
	d.w.base = fmt.Sprintf("r%d/", d.measured.round)
}

// explore begins a generation.
func (d *driver) explore(ctx context.Context) error {
	w := d.w
	w.prefix = fmt.Sprintf("%s%d/", w.base, w.gen)
	w.gen++
	got, err := w.values.Explore(ctx, d.cur, w.prefix)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && (got == nil || w.gen > 1) {
		return fmt.Errorf("minify: the engine does not give the values of the graph: %w", err)
	}
	if err != nil {
		d.partial = err // if the start fails in eager, too, then asking about it says so; else fewer calls can become inputs
	}
	w.held, w.outdated, w.hollow = got, false, false
	if got == nil {
		w.held = map[string]Held{}
	}
	vals, _, _ := w.propagate(ctx, d.cur)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.fakes = vals
	if w.gen > 1 {
		return nil
	}
	d.cur = d.heldInputs(d.cur)
	for i, p := range d.start.Module.Graph.Placeholders() {
		w.grads[p.Name] = d.start.Inputs[i].RequiresGrad
	}
	for _, n := range d.start.Module.Graph.Calls() {
		n.WalkInputs(func(in *fx.Node) {
			if w.grads[in.Name] && n.Target != "detach" && n.Target != "aten.detach.default" {
				w.grads[n.Name] = true
			}
		})
	}
	first := *w
	w.origin = &first
	return nil
}

// heldInputs gives the real inputs of a state the names under which the engine holds them, so that they can be changed.
func (d *driver) heldInputs(s State) State {
	out := State{Module: s.Module, Config: s.Config}
	fakes := map[*tensor.Storage]*tensor.Storage{}
	for i, p := range s.Module.Graph.Placeholders() {
		in := s.Inputs[i]
		t, ok := in.Value.(*tensor.Tensor)
		if _, held := d.w.held[p.Name].Value.(*tensor.Tensor); ok && held && t != nil && !t.Fake {
			f := tensor.FakeLike(t)
			if fakes[t.Storage] == nil {
				fakes[t.Storage] = f.Storage
			}
			f.Storage = fakes[t.Storage]
			in.Value, in.Data = f, Data{Of: d.w.prefix + p.Name, Hash: d.h.tensor(t)}
		}
		out.Inputs = append(out.Inputs, in)
	}
	return out
}

// alike reports whether two values have the same dtypes and shapes.
func alike(a, b any) bool {
	switch a := a.(type) {
	case *tensor.Tensor:
		b, ok := b.(*tensor.Tensor)
		if !ok || a == nil || b == nil {
			return ok && a == b
		}
		return a.DType == b.DType && slices.Equal(a.Shape, b.Shape)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, alike)
	}
	return a == b
}

// errUnknown stops a propagation where nothing can be said.
type errUnknown struct{}

func (errUnknown) Error() string { return "not known" }

// propagate runs a state on fake tensors. complete is set where every call was understood; the error is that of a call
// that cannot be right. The first propagation also learns which meta functions the engine agrees with.
func (w *world) propagate(ctx context.Context, s State) (vals map[string]any, complete bool, err error) {
	vals, complete = map[string]any{}, true
	teach := w.gen == 1 && len(w.sound) == 0 && len(w.wrong) == 0
	fallback := func(n *fx.Node) (any, error) {
		complete = false
		if h, ok := w.held[n.Name]; ok && !w.outdated {
			return h.Value, nil
		}
		return nil, errUnknown{}
	}
	var bad error
	resolve := interp.Aten(ctx, aten.Fake)
	_, err = fx.RunObserved(ctx, s.Module, fakes(s), func(n *fx.Node, args []any, kwargs map[string]any) (any, error) {
		if w.wrong[n.Target] {
			return fallback(n)
		}
		v, err := resolve(n, args, kwargs)
		if err == nil {
			if h, ok := w.held[n.Name]; teach && ok && !alike(h.Value, fx.Fake(v)) {
				w.wrong[n.Target] = true
				delete(w.sound, n.Target)
				return fallback(n)
			}
			if teach {
				w.sound[n.Target] = true
			}
			return v, nil
		}
		unsure := teach || !w.sound[n.Target] && !fx.IsOverload(n.Target)
		if e, ok := err.(*aten.Error); ok && (e.Kind == aten.NotImplementedError || e.Kind == aten.DataDependentError) {
			unsure = true
		}
		if unsure {
			if teach {
				w.wrong[n.Target] = true
				delete(w.sound, n.Target)
			}
			return fallback(n)
		}
		bad = &fx.NodeError{Node: n, Err: err}
		return nil, bad
	}, func(n *fx.Node, v any) (any, error) {
		v = fx.Fake(v)
		if n.IsCall() {
			vals[n.Name] = v
		}
		return v, nil
	})
	return vals, complete && err == nil, bad
}

func fakes(s State) []any {
	out := s.Values()
	for i, v := range out {
		out[i] = fx.Fake(v)
	}
	return out
}

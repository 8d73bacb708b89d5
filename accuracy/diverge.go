package accuracy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Executions are the two ways to run a graph that Diverge compares.
type Executions struct {
	// Eager runs gm node by node and shows every node's value as it is made; observe keeps no reference to it. It may write
	// to inputs. The result is the list of outputs. It serves for float64 graphs, too. Where a node fails, the error
	// wraps a *fx.NodeError or the values shown so far are all there is.
	Eager func(ctx context.Context, gm *fx.GraphModule, inputs []any, observe func(n *fx.Node, v any)) ([]any, error)
	// Rounded is Eager with its operators run by r; only for Options.Direct.
	Rounded func(ctx context.Context, gm *fx.GraphModule, inputs []any, r *Rounding, observe func(n *fx.Node, v any)) ([]any, error)
	// Compiled compiles gm and runs it on inputs, to which it may write.
	Compiled func(ctx context.Context, gm *fx.GraphModule, inputs []any) ([]any, error)
	// Seed sets the streams of random numbers of both before each run; nil => they have none.
	Seed func(seed uint64)
	// SameStream says that both draw the same numbers from the same seed, as fallback_random asks. Without it what
	// depends on random numbers cannot be judged.
	SameStream bool
	// MaxPrefixes bounds how many prefixes are compiled one by one where taps cannot be used: more are bisected; 0 => 32.
	MaxPrefixes int
}

// EagerError says that the graph fails without any compiler.
type EagerError struct{ Err error }

func (e *EagerError) Error() string { return "eager: " + e.Err.Error() }
func (e *EagerError) Unwrap() error { return e.Err }

// CompiledError says that the compiled graph fails, so that there is nothing to compare.
type CompiledError struct{ Err error }

func (e *CompiledError) Error() string { return "compiled: " + e.Err.Error() }
func (e *CompiledError) Unwrap() error { return e.Err }

// Notes on rows.
const (
	noteRandom   = "random: two eager runs differ"
	noteUninit   = "depends on uninitialised memory"
	noteCompiled = "two compiled runs differ"
	noteNoRef    = "no float64 reference"
	noteTaps     = "with every intermediate as an output the failure disappears: found in prefixes of the graph"
	noteTapsFail = "with every intermediate as an output the graph does not compile: found in prefixes of the graph"
	noteWrites   = "the graph writes to its operands: found in prefixes of the graph"
	noteWhole    = "only the whole graph fails, no prefix of it"
	noteNotRun   = "not run: other prefixes decide"
	noteAgree    = "not run: the graph writes to its operands, and its outputs agree"
)

// Diverge runs gm eagerly, in float64 and compiled, and has a row for each intermediate tensor in graph order, then
// one for each output as the untouched graph computes it. The first row that differs is marked.
//
// The compiled graph is run once with every intermediate as an extra output. That changes what is fused; where the
// failure disappears by it, or where the graph writes to its operands, growing prefixes are compiled instead, each
// with its last node as the only output, and a Note says so.
//
// What differs between two eager runs or two compiled runs, or with the contents of uninitialised memory, is not judged.
// If nothing else differs and an output is among it, the error is a *NondeterministicError, and the rows are valid. Other
// errors are ctx's, *EagerError and *CompiledError.
func Diverge(ctx context.Context, gm *fx.GraphModule, inputs []any, x Executions, o Options) ([]Row, error) {
	d := &diverging{x: x, o: o, gm: gm, inputs: inputs, refused: map[string]string{}}
	if d.x.MaxPrefixes == 0 {
		d.x.MaxPrefixes = 32
	}
	if err := d.references(ctx); err != nil {
		return nil, err
	}
	plain, err := d.compiled(ctx, gm)
	if err != nil {
		return nil, err
	}
	outs, err := d.outputs(ctx, plain)
	if err != nil {
		return nil, err
	}
	rows, err := d.intermediates(ctx, plain, differs(outs))
	if err != nil {
		return nil, err
	}
	if differs(outs) && !differs(rows) && d.prefixNote != "" {
		for i := range outs {
			if !outs[i].Same {
				outs[i].Note = noteWhole
			}
		}
	}
	rows = append(rows, outs...)
	for i := range rows {
		if !rows[i].Same {
			rows[i].First = true
			if rows[i].Note == "" {
				rows[i].Note = d.prefixNote
			}
			return rows, nil
		}
	}
	for _, r := range outs {
		if r.Skipped {
			return rows, &NondeterministicError{Where: r.Node, Why: r.Note}
		}
	}
	return rows, nil
}

// diverging is one call of Diverge.
type diverging struct {
	x      Executions
	o      Options
	gm     *fx.GraphModule
	inputs []any

	nodes      []*fx.Node // those with a row
	eager      map[string]any
	exact      map[string]any    // in float64
	refused    map[string]string // why a node is not judged, by name
	eagerOut   []any
	exactOut   []any
	refusedOut []string
	noise      map[string]any // of eager, where o.Direct asks for it
	noiseOut   []any
	prefixNote string
}

func (d *diverging) seed(run uint64) {
	if d.x.Seed == nil {
		return
	}
	if d.x.SameStream {
		run = 0
	}
	d.x.Seed(run)
}

// references makes the eager values, the null test of them, and the float64 values.
func (d *diverging) references(ctx context.Context) error {
	d.eager = map[string]any{}
	d.seed(0)
	var err error
	d.eagerOut, err = d.x.Eager(ctx, d.gm, cloneList(d.inputs), func(n *fx.Node, v any) {
		if n.IsCall() {
			d.eager[n.Name] = Clone(v) // later nodes may write to it
		}
	})
	if err != nil {
		return orDone(ctx, &EagerError{err})
	}
	users := d.gm.Graph.Users()
	for _, n := range d.gm.Graph.Nodes {
		t, ok := d.eager[n.Name].(*tensor.Tensor)
		if n.IsCall() && !epilogue(n, users) && ok && t != nil && (t.DType.IsFloat() || !d.o.IgnoreNonFP) {
			d.nodes = append(d.nodes, n)
		}
	}
	d.refusedOut = make([]string, len(d.eagerOut))
	if err := d.null(ctx, d.gm, cloneList(d.inputs), noteRandom); err != nil {
		return err
	}
	if err := d.nullUninitialised(ctx); err != nil {
		return err
	}
	if err := d.float64s(ctx); err != nil || !d.o.Direct {
		return err
	}
	return d.noises(ctx)
}

// noises runs eager with everything rounded otherwise.
func (d *diverging) noises(ctx context.Context) error {
	ref := []any{d.eagerOut}
	for _, n := range d.nodes {
		ref = append(ref, d.eager[n.Name])
	}
	v, err := Noise(ref, aten.Eager, func(r *Rounding) (any, error) {
		seen := map[string]any{}
		in := cloneList(d.inputs)
		r.Nudge(in)
		d.seed(0)
		out, err := d.x.Rounded(ctx, r.Attrs(d.gm), in, r, func(n *fx.Node, v any) {
			if n.IsCall() {
				seen[n.Name] = Clone(v)
			}
		})
		l := []any{out}
		for _, n := range d.nodes {
			l = append(l, seen[n.Name])
		}
		return l, err
	})
	if err != nil {
		return orDone(ctx, &EagerError{fmt.Errorf("rounded otherwise: %w", err)})
	}
	l := v.([]any)
	d.noise = map[string]any{}
	d.noiseOut, _ = l[0].([]any)
	for i, n := range d.nodes {
		d.noise[n.Name] = l[i+1]
	}
	return nil
}

// null runs gm again and refuses what comes out differently.
func (d *diverging) null(ctx context.Context, gm *fx.GraphModule, inputs []any, why string) error {
	d.seed(1)
	out, err := d.x.Eager(ctx, gm, inputs, func(n *fx.Node, v any) {
		if before, ok := d.eager[n.Name]; ok && d.refused[n.Name] == "" && !alike(before, v, d.o) {
			d.refused[n.Name] = why
		}
	})
	if err != nil {
		return orDone(ctx, &EagerError{fmt.Errorf("in a second run: %w", err)})
	}
	for i, v := range out {
		if i < len(d.eagerOut) && d.refusedOut[i] == "" && !alike(d.eagerOut[i], v, d.o) {
			d.refusedOut[i] = why
		}
	}
	return nil
}

// nullUninitialised fills what operators leave uninitialised with other values, and refuses what changes by it.
func (d *diverging) nullUninitialised(ctx context.Context) error {
	other := map[string]any{}
	for _, n := range d.gm.Graph.Nodes {
		if t, ok := d.eager[n.Name].(*tensor.Tensor); ok && n.IsUninitialised(fx.UnknownDoesNot) {
			p := Clone(t).(*tensor.Tensor)
			p.Fill(97)
			other[n.Name] = p
			d.refused[n.Name] = noteUninit
		}
	}
	if len(other) == 0 {
		return nil
	}
	// Random nodes keep their values, so that only the memory differs.
	maps.Copy(other, d.drawn())
	gm, inputs := pin(d.gm, cloneList(d.inputs), other)
	err := d.null(ctx, gm, inputs, noteUninit)
	var ee *EagerError
	if errors.As(err, &ee) {
		return nil // an index out of range, say: what the values before it depend on is known
	}
	return err
}

// drawn is the values of nodes that draw random numbers and write to nothing. An unknown target's are judged: two runs said that they do not differ.
func (d *diverging) drawn() map[string]any {
	out := map[string]any{}
	for _, n := range d.gm.Graph.Nodes {
		if v, ok := d.eager[n.Name]; ok && n.IsRandom(fx.UnknownDoesNot) && !n.IsMutating(fx.UnknownDoesNot) {
			out[n.Name] = v
		}
	}
	return out
}

// float64s runs the graph in float64 as far as it goes. Random numbers are those of the eager run.
func (d *diverging) float64s(ctx context.Context) error {
	d.exact = map[string]any{}
	for _, n := range d.gm.Graph.Nodes {
		if n.IsCall() && n.IsRandom(fx.UnknownDoesNot) && n.IsMutating(fx.UnknownDoesNot) {
			return nil // it would draw other numbers in float64
		}
	}
	g, in := Double(d.gm, cloneList(d.inputs))
	fixed := map[string]any{}
	for k, v := range d.drawn() {
		fixed[k] = double(Clone(v))
	}
	for _, n := range d.gm.Graph.Nodes {
		if v, ok := d.eager[n.Name]; ok && n.IsUninitialised(fx.UnknownDoesNot) {
			fixed[n.Name] = double(Clone(v))
		}
	}
	g, in = pin(g, in, fixed)
	maps.Copy(d.exact, fixed)
	d.seed(0)
	out, err := d.x.Eager(ctx, g, in, func(n *fx.Node, v any) {
		if n.IsCall() {
			d.exact[n.Name] = Clone(v)
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		d.exactOut = out
	}
	return nil
}

// double casts the floating tensors of a value.
func double(v any) any {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v != nil && v.DType.IsFloat() {
			return v.To(tensor.Float64)
		}
	case []any:
		for i, x := range v {
			v[i] = double(x)
		}
	}
	return v
}

func (d *diverging) compiled(ctx context.Context, gm *fx.GraphModule) ([]any, error) {
	return d.compiledSeed(ctx, gm, 0)
}

func (d *diverging) compiledSeed(ctx context.Context, gm *fx.GraphModule, run uint64) ([]any, error) {
	c, _ := gm.Clone()
	d.seed(run)
	out, err := d.x.Compiled(ctx, c, cloneList(d.inputs))
	if err != nil {
		return nil, orDone(ctx, &CompiledError{err})
	}
	return out, nil
}

// outputs judges what the untouched graph returns.
func (d *diverging) outputs(ctx context.Context, plain []any) ([]Row, error) {
	var rows []Row
	if len(plain) != len(d.eagerOut) {
		return []Row{{Node: "output", Note: fmt.Sprintf("%d outputs, eager has %d", len(plain), len(d.eagerOut))}}, nil
	}
	names := outputNames(d.gm.Graph)
	var again []any
	for i, ref := range d.eagerOut {
		if !d.wanted(ref) {
			continue
		}
		r := Row{Node: fmt.Sprintf("output[%d]", i)}
		if i < len(names) {
			r.Target = names[i]
		}
		var f any
		if i < len(d.exactOut) {
			f = d.exactOut[i]
		}
		var noise any
		if i < len(d.noiseOut) {
			noise = d.noiseOut[i]
		}
		d.judge(&r, ref, plain[i], f, noise, d.refusedOut[i])
		if !r.Same {
			if again == nil {
				var err error
				if again, err = d.compiledSeed(ctx, d.gm, 1); err != nil {
					return nil, err
				}
			}
			if i >= len(again) || !alike(plain[i], again[i], d.o) {
				r.Same, r.Skipped, r.Note = true, true, noteCompiled
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (d *diverging) wanted(v any) bool {
	if !d.o.IgnoreNonFP {
		return true
	}
	t, ok := v.(*tensor.Tensor)
	if !ok {
		_, f := v.(float64)
		return f
	}
	return t != nil && t.DType.IsFloat()
}

// judge fills a row from the three values, and the noise of eager where that decides.
func (d *diverging) judge(r *Row, ref, res, exact, noise any, refused string) {
	x := NewRow(r.Node, r.Target, ref, res, exact, noise, d.o)
	if refused != "" {
		x.Same, x.Skipped, x.Note = true, true, refused
	}
	*r = x
}

// intermediates has a row for each node. failing says that the untouched graph is known to fail.
func (d *diverging) intermediates(ctx context.Context, plain []any, failing bool) ([]Row, error) {
	tapped, ok := d.tapped()
	if !ok {
		return d.prefixes(ctx, noteWrites, failing)
	}
	vals, err := d.compiled(ctx, tapped)
	var ce *CompiledError
	if errors.As(err, &ce) {
		return d.prefixes(ctx, noteTapsFail, failing)
	}
	if err != nil {
		return nil, err
	}
	if len(vals) != len(plain)+len(d.nodes) {
		return nil, &CompiledError{fmt.Errorf("%d outputs, %d expected", len(vals), len(plain)+len(d.nodes))}
	}
	again, err := d.compiledSeed(ctx, tapped, 1)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for i, n := range d.nodes {
		k := len(plain) + i
		why := d.refused[n.Name]
		if why == "" && (k >= len(again) || !alike(vals[k], again[k], d.o)) {
			why = noteCompiled
		}
		r := Row{Node: n.Name, Target: n.Target}
		d.judge(&r, d.eager[n.Name], vals[k], d.exact[n.Name], d.noise[n.Name], why)
		rows = append(rows, r)
	}
	if failing && !differs(rows) {
		return d.prefixes(ctx, noteTaps, failing)
	}
	return rows, nil
}

// tapped is the graph with its nodes as further outputs. ok is false where writes make that meaningless, or where an unknown function may write. A
// module is taken to write to nothing but its buffers.
func (d *diverging) tapped() (*fx.GraphModule, bool) {
	c, m := d.gm.Clone()
	used := c.Graph.Users()
	var drop []*fx.Node
	for _, n := range c.Graph.Nodes {
		if n.Op == fx.CallModule || !n.IsMutating(fx.UnknownMay) {
			continue
		}
		if !epilogue(n, used) {
			return nil, false
		}
		drop = append(drop, n)
	}
	c.Graph.Erase(drop...)
	o := c.Graph.OutputNode()
	outs := outputArgs(c.Graph)
	for _, n := range d.nodes {
		outs = append(outs, m[n])
	}
	o.Args = []fx.Arg{fx.Tuple(outs)}
	return c, true
}

// prefixes compiles the graph up to single nodes. Few nodes are all tried; of many, the first that differs is searched by
// halves, which takes it that what differs stays different; where nothing is known to fail, there is nothing to search.
func (d *diverging) prefixes(ctx context.Context, note string, failing bool) ([]Row, error) {
	d.prefixNote = note
	rows := make([]Row, len(d.nodes))
	for i, n := range d.nodes {
		rows[i] = Row{Node: n.Name, Target: n.Target, Eager: relative(d.eager[n.Name], d.exact[n.Name]), Compiled: math.NaN(), Same: true, Skipped: true, Note: noteNotRun}
	}
	probe := func(i int) (bool, error) {
		n := d.nodes[i]
		if rows[i].Note != noteNotRun {
			return !rows[i].Same, nil
		}
		r := Row{Node: n.Name, Target: n.Target}
		p := prefix(d.gm, n)
		out, err := d.compiled(ctx, p)
		var ce *CompiledError
		switch {
		case errors.As(err, &ce):
			r.Same, r.Skipped, r.Note, r.Compiled = true, true, "this prefix does not run compiled", math.NaN()
			r.Eager = rows[i].Eager
			rows[i] = r
			return false, nil
		case err != nil:
			return false, err
		}
		var v any
		if len(out) == 1 {
			v = out[0]
		}
		d.judge(&r, d.eager[n.Name], v, d.exact[n.Name], d.noise[n.Name], d.refused[n.Name])
		if !r.Same {
			again, err := d.compiledSeed(ctx, p, 1)
			if err != nil {
				return false, err
			}
			if len(again) != 1 || !alike(v, again[0], d.o) {
				r.Same, r.Skipped, r.Note = true, true, noteCompiled
			}
		}
		rows[i] = r
		return !r.Same, nil
	}
	if len(d.nodes) <= d.x.MaxPrefixes {
		for i := range d.nodes {
			if _, err := probe(i); err != nil {
				return nil, err
			}
		}
		return rows, nil
	}
	if !failing {
		for i := range rows {
			rows[i].Note = noteAgree
		}
		return rows, nil
	}
	// Known: all before lo agree or are taken to; hi differs, or is the end.
	lo, hi := 0, len(d.nodes)
	for lo < hi {
		mid := (lo + hi) / 2
		bad, err := probe(mid)
		if err != nil {
			return nil, err
		}
		if bad {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return rows, nil
}

// prefix is gm up to node last, which becomes its only output.
func prefix(gm *fx.GraphModule, last *fx.Node) *fx.GraphModule {
	c, m := gm.Clone()
	end := m[last]
	o := c.Graph.OutputNode()
	var cut []*fx.Node
	past := false
	for _, n := range c.Graph.Nodes {
		if past && n != o && n.Op != fx.Placeholder {
			cut = append(cut, n)
		}
		past = past || n == end
	}
	c.Graph.Erase(cut...)
	o.Args = []fx.Arg{fx.Tuple{end}}
	c.Graph.EliminateDeadCode(fx.UnknownMay)
	return c
}

// pin turns nodes into inputs with given values: by name, in a copy.
func pin(gm *fx.GraphModule, inputs []any, values map[string]any) (*fx.GraphModule, []any) {
	if len(values) == 0 {
		return gm, inputs
	}
	c, _ := gm.Clone()
	var first *fx.Node // that is no placeholder
	for _, n := range c.Graph.Nodes {
		if n.Op != fx.Placeholder {
			first = n
			break
		}
	}
	for _, n := range slices.Clone(c.Graph.Nodes) {
		v, ok := values[n.Name]
		if !ok || !n.IsCall() {
			continue
		}
		var p *fx.Node
		c.Graph.InsertBefore(first, func() { p = c.Graph.Placeholder("pinned_" + n.Name) })
		c.Graph.ReplaceUses(n, p)
		if first == n {
			i := slices.Index(c.Graph.Nodes, n)
			first = c.Graph.Nodes[i+1]
		}
		c.Graph.Erase(n)
		inputs = append(inputs, v)
	}
	return c, inputs
}

func differs(rows []Row) bool { return slices.ContainsFunc(rows, func(r Row) bool { return !r.Same }) }

// epilogue reports whether n is what functionalisation leaves of a write: a copy into an input that nobody reads.
func epilogue(n *fx.Node, users map[*fx.Node][]*fx.Node) bool {
	if n.Target != "aten.copy_.default" || len(n.Args) == 0 || len(users[n]) > 0 {
		return false
	}
	to, ok := n.Args[0].(*fx.Node)
	return ok && to.Op == fx.Placeholder
}

// outputArgs lists what a graph returns, as a flat list.
func outputArgs(g *fx.Graph) []fx.Arg {
	o := g.OutputNode()
	if o == nil || len(o.Args) == 0 {
		return nil
	}
	switch a := o.Args[0].(type) {
	case fx.Tuple:
		return slices.Clone([]fx.Arg(a))
	case fx.List:
		return slices.Clone([]fx.Arg(a))
	}
	return []fx.Arg{o.Args[0]}
}

func outputNames(g *fx.Graph) []string {
	var out []string
	for _, a := range outputArgs(g) {
		name := ""
		if n, ok := a.(*fx.Node); ok {
			name = n.Name
		}
		out = append(out, name)
	}
	return out
}

func orDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func cloneList(in []any) []any { return Clone(in).([]any) }

// Clone copies the tensors in a value. Views of one storage keep sharing within one call.
func Clone(v any) any {
	return clone(v, map[*tensor.Storage]*tensor.Storage{})
}

func clone(v any, seen map[*tensor.Storage]*tensor.Storage) any {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil || v.Fake {
			return v
		}
		st, ok := seen[v.Storage]
		if !ok {
			st = tensor.NewStorage(v.Storage.NBytes)
			copy(st.Data, v.Storage.Data)
			seen[v.Storage] = st
		}
		return &tensor.Tensor{Storage: st, DType: v.DType, Shape: append([]int64{}, v.Shape...), Stride: append([]int64{}, v.Stride...), Offset: v.Offset}
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = clone(x, seen)
		}
		return out
	case fx.Dict:
		out := make(fx.Dict, len(v))
		for i, it := range v {
			out[i] = fx.DictItem{Key: it.Key, Val: clone(it.Val, seen)}
		}
		return out
	}
	return v
}

// Double is gm in float64: floating inputs and constants are cast, and floating dtypes among the arguments become float64.
func Double(gm *fx.GraphModule, inputs []any) (*fx.GraphModule, []any) {
	c, _ := gm.Clone()
	for _, n := range c.Graph.Nodes {
		for i, a := range n.Args {
			n.Args[i] = doubleArg(a)
		}
		for i, kw := range n.Kwargs {
			n.Kwargs[i].Val = doubleArg(kw.Val)
		}
		if n.Op == fx.CallMethod && (n.Target == "float" || n.Target == "half" || n.Target == "bfloat16") {
			n.Target = "double"
		}
	}
	for k, t := range c.Attrs {
		if t != nil && t.DType.IsFloat() {
			c.Attrs[k] = t.To(tensor.Float64)
		}
	}
	for k, sub := range c.Submodules {
		c.Submodules[k], _ = Double(sub, nil)
	}
	out := make([]any, len(inputs))
	for i, v := range inputs {
		out[i] = v
		if t, ok := v.(*tensor.Tensor); ok && t.DType.IsFloat() {
			out[i] = t.To(tensor.Float64)
		}
	}
	return c, out
}

func doubleArg(a fx.Arg) fx.Arg {
	if d, ok := a.(tensor.DType); ok && d.IsFloat() {
		return tensor.Float64
	}
	return a
}

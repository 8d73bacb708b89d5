package minify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/capture/python/literal"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// EagerValues computes and holds values in this process. The zero value is ready; its methods may be called from several
// goroutines.
type EagerValues struct {
	// Execute runs a graph on real inputs and shows every value to see; nil => package aten does.
	Execute func(ctx context.Context, gm *fx.GraphModule, inputs []any, see func(n *fx.Node, v any)) error
	// Limit bounds the bytes of all values that are held; 0 => DefaultLimit. Of one exploration, what goes beyond it is not held, and its
	// calls cannot become inputs. Explorations that were unused for longest are let go of, and run again when one of their values is asked for.
	Limit int64

	mu       sync.Mutex // nothing slow happens under it
	explored map[string]*explored
	clock    int64
}

// DefaultLimit is how many bytes an EagerValues holds if nothing else is said.
const DefaultLimit = 4 << 30

// explored is one exploration: enough to give its values, and to compute them again after they were let go of.
type explored struct {
	state  State
	hashes map[string]string // of the values' contents, by node name: what is computed again has to be the same

	again sync.Mutex // held while it is run again

	// The rest is under EagerValues.mu.
	values map[string]any // by node name, never written to; nil where they were let go of
	bytes  int64
	used   int64
}

func (e *EagerValues) limit() int64 {
	if e.Limit > 0 {
		return e.Limit
	}
	return DefaultLimit
}

// Explore runs the graph; after an error the values so far are returned with it.
func (e *EagerValues) Explore(ctx context.Context, s State, prefix string) (map[string]Held, error) {
	real, bytes, c, err := e.run(ctx, s)
	if real == nil {
		return nil, err
	}
	x := &explored{state: s, hashes: map[string]string{}}
	out := map[string]Held{}
	for name, v := range real {
		h := Held{Value: c.fake(v)}
		if t, ok := v.(*tensor.Tensor); ok && t != nil {
			h.Hash = contentHash(t)
			x.hashes[name] = h.Hash
		}
		out[name] = h
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.explored == nil {
		e.explored = map[string]*explored{}
	}
	e.explored[prefix] = x
	e.hold(x, real, bytes)
	return out, err
}

// run gives the values of a graph, copied, and how many bytes they have. There are none if its inputs cannot be made.
func (e *EagerValues) run(ctx context.Context, s State) (real map[string]any, bytes int64, c *copier, err error) {
	ins, err := e.MakeAll(s.Inputs)
	if err != nil {
		return nil, 0, nil, err
	}
	c = &copier{most: e.limit(), kept: map[version]*tensor.Storage{}, fakes: map[*tensor.Storage]*tensor.Storage{}}
	real = map[string]any{}
	execute := e.Execute
	if execute == nil {
		execute = executeAten
	}
	err = execute(ctx, s.Module, ins, func(n *fx.Node, v any) {
		if n.Op != fx.Output {
			if k, ok := c.keep(v); ok {
				real[n.Name] = k
			}
		}
	})
	return real, c.bytes, c, err
}

// hold takes values in, and lets go of the explorations that were unused for longest. e.mu is held.
func (e *EagerValues) hold(x *explored, values map[string]any, bytes int64) {
	e.clock++
	x.values, x.bytes, x.used = values, bytes, e.clock
	for {
		total, oldest := int64(0), (*explored)(nil)
		for _, o := range e.explored {
			if o.values == nil {
				continue
			}
			total += o.bytes
			if o != x && (oldest == nil || o.used < oldest.used) {
				oldest = o
			}
		}
		if total <= e.limit() || oldest == nil {
			return
		}
		oldest.values, oldest.bytes = nil, 0
	}
}

// tensor finds a held tensor by the name that Explore gave it. The values of an exploration that was let go of are computed again.
func (e *EagerValues) tensor(name string) (*tensor.Tensor, error) {
	i := strings.LastIndexByte(name, '/') + 1
	find := func() (x *explored, v any) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if x = e.explored[name[:i]]; x == nil || x.values == nil {
			return x, nil
		}
		e.clock++
		x.used = e.clock
		return x, x.values[name[i:]]
	}
	x, v := find()
	if x != nil && v == nil {
		x.again.Lock()
		defer x.again.Unlock()
		if _, v = find(); v == nil {
			var err error
			if v, err = e.remake(x, name[i:]); err != nil {
				return nil, fmt.Errorf("computing %q again: %w", name, err)
			}
		}
	}
	t, ok := v.(*tensor.Tensor)
	if !ok || t == nil {
		return nil, fmt.Errorf("no tensor is held under %q", name)
	}
	return t, nil
}

// remake runs an exploration again, for the sake of one value.
func (e *EagerValues) remake(x *explored, name string) (any, error) {
	want, ok := x.hashes[name]
	if !ok {
		return nil, nil // it never was a tensor, or too large
	}
	real, bytes, _, err := e.run(context.Background(), x.state) // once it ran, it ends
	t, ok := real[name].(*tensor.Tensor)
	switch {
	case !ok:
		return nil, errors.Join(err, errors.New("it is not there any more"))
	case contentHash(t) != want:
		return nil, errors.New("it is another value now: the graph is random")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hold(x, real, bytes)
	return t, nil
}

func executeAten(ctx context.Context, gm *fx.GraphModule, inputs []any, see func(n *fx.Node, v any)) error {
	_, err := fx.RunObserved(ctx, gm, inputs, interp.Aten(ctx, aten.Eager), func(n *fx.Node, v any) (any, error) {
		see(n, v)
		return v, nil
	})
	return err
}

// version is a storage between two writes: what was kept of it serves until the next one.
type version struct {
	s *tensor.Storage
	v int64
}

// copier copies values so that later writes do not reach the copies, which share memory as the values do.
type copier struct {
	most, bytes int64 // that may be kept, and that are
	kept        map[version]*tensor.Storage
	fakes       map[*tensor.Storage]*tensor.Storage // of the copies
}

// keep copies a value; ok is false where it is too large.
func (c *copier) keep(v any) (_ any, ok bool) {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil || v.Fake {
			return v, true
		}
		k := version{v.Storage, v.Storage.Version}
		if c.kept[k] == nil {
			if c.bytes+v.Storage.NBytes > c.most {
				return nil, false
			}
			c.bytes += v.Storage.NBytes
			c.kept[k] = copyStorage(v.Storage, v.Storage.NBytes)
		}
		return over(v, c.kept[k]), true
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			if out[i], ok = c.keep(x); !ok {
				return nil, false
			}
		}
		return out, true
	}
	return v, true
}

func (c *copier) fake(v any) any {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil || v.Fake {
			return v
		}
		f := tensor.FakeLike(v)
		if c.fakes[v.Storage] == nil {
			c.fakes[v.Storage] = f.Storage
		}
		f.Storage = c.fakes[v.Storage]
		return f
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = c.fake(x)
		}
		return out
	}
	return v
}

func copyStorage(s *tensor.Storage, nbytes int64) *tensor.Storage {
	out := tensor.NewStorage(nbytes)
	copy(out.Data, s.Data)
	return out
}

// over is a tensor that looks like t, over other memory.
func over(t *tensor.Tensor, s *tensor.Storage) *tensor.Tensor {
	return &tensor.Tensor{Storage: s, DType: t.DType, Shape: t.Shape, Stride: t.Stride, Offset: t.Offset}
}

// Elements reads a held tensor.
func (e *EagerValues) Elements(_ context.Context, name string) ([]string, error) {
	t, err := e.tensor(name)
	if err != nil {
		return nil, fmt.Errorf("minify: %w", err)
	}
	out := make([]string, t.Numel())
	for i := range out {
		switch {
		case t.DType == tensor.Bool:
			out[i] = "False"
			if t.AtInt(int64(i)) != 0 {
				out[i] = "True"
			}
		case t.DType.IsInt():
			out[i] = strconv.FormatInt(t.AtInt(int64(i)), 10)
		default:
			out[i] = literal.Float(t.At(int64(i)))
		}
	}
	return out, nil
}

// Make makes the real value of one input, in memory of its own.
func (e *EagerValues) Make(in Input) (any, error) {
	out, err := e.MakeAll([]Input{in})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// MakeAll makes the real values of a state's inputs, as the comment on Data says. Nothing shares memory with what is held, or
// with what an earlier call made; among themselves, inputs share memory where their descriptions say so. The error names
// the input by its number, and what it lacks.
func (e *EagerValues) MakeAll(ins []Input) ([]any, error) {
	out := make([]any, len(ins))
	made := map[[2]*tensor.Storage]*tensor.Storage{} // by what is copied, for which description
	share := func(of, like *tensor.Tensor) *tensor.Tensor {
		k := [2]*tensor.Storage{of.Storage, like.Storage}
		if made[k] == nil {
			made[k] = copyStorage(of.Storage, of.Storage.NBytes)
		}
		return over(of, made[k])
	}
	for i, in := range ins {
		t, ok := in.Value.(*tensor.Tensor)
		if !ok || t == nil {
			out[i] = in.Value
			continue
		}
		if !t.Fake {
			out[i] = share(t, t)
			continue
		}
		if !t.DType.Computes() {
			return nil, fmt.Errorf("minify: input %d: elements of dtype %v cannot be made here", i, t.DType)
		}
		if in.Data.Fill != FillNone {
			v, err := fill(t, in.Data, uint64(i))
			if err != nil {
				return nil, fmt.Errorf("minify: input %d: %w", i, err)
			}
			out[i] = v
			continue
		}
		h, err := e.tensor(in.Data.Of)
		switch {
		case err != nil:
			return nil, fmt.Errorf("minify: input %d: %w", i, err)
		case h.DType == t.DType && slices.Equal(h.Shape, t.Shape) && slices.Equal(h.Stride, t.Stride) && h.Offset == t.Offset:
			out[i] = share(h, t)
		default:
			v, err := cutOut(h, t)
			if err != nil {
				return nil, fmt.Errorf("minify: input %d: %w", i, err)
			}
			out[i] = v
		}
	}
	return out, nil
}

// fresh is a real tensor that looks like t, of zeros.
func fresh(t *tensor.Tensor) *tensor.Tensor {
	span := tensor.EmptyStrided(t.DType, t.Shape, t.Stride).Storage.NBytes
	return over(t, tensor.NewStorage(span+t.Offset*int64(t.DType.Size())))
}

// cutOut is a tensor that looks like t, with the elements of held at the same indices.
func cutOut(held, t *tensor.Tensor) (*tensor.Tensor, error) {
	if len(t.Shape) > len(held.Shape) {
		return nil, fmt.Errorf("%s has more dimensions than the held %s", t.Describe(), held.Describe())
	}
	for d, n := range t.Shape {
		if n > held.Shape[d] {
			return nil, fmt.Errorf("%s is larger than the held %s", t.Describe(), held.Describe())
		}
	}
	out := fresh(t)
	tensor.Copy(out, tensor.NewView(held, t.Shape, held.Stride[:len(t.Shape)], held.Offset))
	return out, nil
}

// fill makes elements from nothing.
func fill(t *tensor.Tensor, d Data, seed uint64) (*tensor.Tensor, error) {
	out := fresh(t)
	switch d.Fill {
	case FillZeros:
	case FillOnes:
		out.Fill(1)
	case FillArange:
		for i := range t.Numel() {
			out.SetInt(i, i)
		}
	case FillRandom:
		if t.DType.IsFloat() {
			c := tensor.Empty(t.DType, t.Shape...)
			tensor.NewGenerator(seed).NormalFill(c, 0, 1)
			tensor.Copy(out, c)
		}
	case FillList:
		if int64(len(d.List)) != t.Numel() {
			return nil, fmt.Errorf("%d elements for %s", len(d.List), t.Describe())
		}
		for i, text := range d.List {
			if err := setElement(out, int64(i), text); err != nil {
				return nil, err
			}
		}
	default:
		return nil, fmt.Errorf("unknown fill %q", d.Fill)
	}
	return out, nil
}

// setElement stores a Python literal.
func setElement(t *tensor.Tensor, i int64, text string) error {
	switch text {
	case "True":
		t.SetInt(i, 1)
		return nil
	case "False":
		t.SetInt(i, 0)
		return nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		t.SetInt(i, n)
		return nil
	}
	x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(text, "float('"), "')"), 64)
	if err != nil {
		return fmt.Errorf("%q is not an element of a tensor", text)
	}
	t.Set(i, x)
	return nil
}

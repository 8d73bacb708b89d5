package minify

import (
	"context"
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

	mu   sync.Mutex
	held map[string]any // real values, never written to
}

// Explore runs the graph; after an error the values so far are returned with it.
func (e *EagerValues) Explore(ctx context.Context, s State, prefix string) (map[string]Held, error) {
	ins, err := e.MakeAll(s.Inputs)
	if err != nil {
		return nil, err
	}
	c := &copier{kept: map[version]*tensor.Storage{}, fakes: map[*tensor.Storage]*tensor.Storage{}}
	out := map[string]Held{}
	real := map[string]any{}
	execute := e.Execute
	if execute == nil {
		execute = executeAten
	}
	err = execute(ctx, s.Module, ins, func(n *fx.Node, v any) {
		if n.IsCall() || n.Op == fx.Placeholder {
			k := c.keep(v)
			real[n.Name] = k
			h := Held{Value: c.fake(k)}
			if t, ok := k.(*tensor.Tensor); ok && t != nil {
				h.Hash = contentHash(t)
			}
			out[n.Name] = h
		}
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.held == nil {
		e.held = map[string]any{}
	}
	for k, v := range real {
		e.held[prefix+k] = v
	}
	return out, err
}

func executeAten(ctx context.Context, gm *fx.GraphModule, inputs []any, see func(n *fx.Node, v any)) error {
	_, err := fx.RunObserved(ctx, gm, inputs, interp.Aten(ctx, aten.Eager), func(n *fx.Node, v any) (any, error) {
		see(n, v)
		return v, nil
	})
	return err
}

// version is a storage between two writes.
type version struct {
	s *tensor.Storage
	v int64
}

// copier copies values so that later writes do not reach the copies, which share memory as the values do.
type copier struct {
	kept  map[version]*tensor.Storage
	fakes map[*tensor.Storage]*tensor.Storage // of the copies
}

func (c *copier) keep(v any) any {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil || v.Fake {
			return v
		}
		k := version{v.Storage, v.Storage.Version}
		if c.kept[k] == nil {
			c.kept[k] = copyStorage(v.Storage, v.Storage.NBytes)
		}
		return over(v, c.kept[k])
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = c.keep(x)
		}
		return out
	}
	return v
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
	e.mu.Lock()
	v, ok := e.held[name]
	e.mu.Unlock()
	t, isTensor := v.(*tensor.Tensor)
	if !ok || !isTensor || t == nil {
		return nil, fmt.Errorf("minify: no tensor is held under %q", name)
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
		e.mu.Lock()
		h, _ := e.held[in.Data.Of].(*tensor.Tensor)
		e.mu.Unlock()
		switch {
		case h == nil:
			return nil, fmt.Errorf("minify: input %d: no tensor is held under %q", i, in.Data.Of)
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

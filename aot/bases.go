package aot

import (
	"fmt"
	"slices"

	"whittle/aot/autograd"
	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Inputs that share memory, of which one is written, cannot each be a value of a graph without mutation. As in AOTAutograd, the graph
// then takes the tensor that they are views of, their synthetic base, and makes the views itself.

// bases says which inputs of a function are views of which synthetic bases.
type bases struct {
	groups [][]int   // the inputs of each base
	layout [][]int64 // where they lie: their offsets, and the base's sizes and strides
	others []int     // inputs that stay as they are
	viewed []int     // inputs of groups that the function views in place: it returns them, after its results
}

// sharing are the groups of inputs that share memory.
func sharing(inputs []aten.Value) (groups [][]int) {
	var all [][]int
	at := map[*tensor.Storage]int{}
	some := false
	for i, v := range inputs {
		t, ok := v.(*tensor.Tensor)
		if !ok || t.Storage == nil || t.Numel() == 0 {
			continue
		}
		k, seen := at[t.Storage]
		if !seen {
			at[t.Storage], all = len(all), append(all, []int{i})
			continue
		}
		all[k] = append(all[k], i)
		some = true
	}
	if !some {
		return nil
	}
	for _, g := range all {
		if g = overlapping(inputs, g); len(g) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// overlapping are those inputs of one storage that overlap with another one.
func overlapping(inputs []aten.Value, of []int) []int {
	hit := make([]bool, len(of))
	for a := range of {
		for b := a + 1; b < len(of); b++ {
			if !apart(inputs[of[a]].(*tensor.Tensor), inputs[of[b]].(*tensor.Tensor)) {
				hit[a], hit[b] = true, true
			}
		}
	}
	var out []int
	for k, i := range of {
		if hit[k] {
			out = append(out, i)
		}
	}
	return out
}

// apart reports whether two tensors of one storage are known to have no element in common: because one ends before the other begins, or
// because they are blocks of columns of one matrix. As tensors_definitely_do_not_overlap of PyTorch, other cases count as overlapping.
func apart(x, y *tensor.Tensor) bool {
	if x == y {
		return false
	}
	sx, sy := int64(x.DType.Size()), int64(y.DType.Size())
	if x.Offset*sx > y.Offset*sy {
		x, y, sx, sy = y, x, sy, sx
	}
	if (x.Offset+extent(x))*sx <= y.Offset*sy {
		return true
	}
	if sx != sy || len(x.Shape) != 2 || len(y.Shape) != 2 || x.Stride[1] != 1 || y.Stride[1] != 1 || x.Stride[0] != y.Stride[0] || x.Stride[0] == 0 {
		return false
	}
	behind := y.Offset - x.Offset
	if behind < x.Shape[1] { // the first rows meet
		return false
	}
	return behind%x.Stride[0]+y.Shape[1] <= x.Stride[0]
}

// shared finds the inputs that share memory with another one where one of them is among mutated; nil when there are none.
func shared(inputs []aten.Value, mutated []int) *bases {
	out := &bases{}
	merged := make([]bool, len(inputs))
	for _, g := range sharing(inputs) {
		if !slices.ContainsFunc(g, func(i int) bool { return slices.Contains(mutated, i) }) {
			continue
		}
		root := rootOf(inputs[g[0]].(*tensor.Tensor))
		layout := append([]int64{root.Storage.NBytes}, append(slices.Clone(root.Shape), root.Stride...)...)
		for _, i := range g {
			layout = append(layout, inputs[i].(*tensor.Tensor).Offset)
			merged[i] = true
		}
		out.groups, out.layout = append(out.groups, g), append(out.layout, layout)
	}
	if len(out.groups) == 0 {
		return nil
	}
	for i, m := range merged {
		if !m {
			out.others = append(out.others, i)
		}
	}
	return out
}

// equal reports whether both make the same inputs views of the same bases.
func (b *bases) equal(c *bases) bool {
	if b == nil || c == nil {
		return b == c
	}
	return slices.EqualFunc(b.groups, c.groups, slices.Equal[[]int]) && slices.EqualFunc(b.layout, c.layout, slices.Equal[[]int64])
}

// merge replaces the inputs of each group by its base; bases come first.
func (b *bases) merge(inputs []aten.Value) ([]aten.Value, error) {
	out := make([]aten.Value, 0, len(b.groups)+len(b.others))
	for _, g := range b.groups {
		base, err := baseOf(inputs, g)
		if err != nil {
			return nil, err
		}
		out = append(out, base)
	}
	for _, i := range b.others {
		out = append(out, inputs[i])
	}
	return out, nil
}

// baseOf is the tensor of which the inputs of a group are views: the one that they were made from, or all of their storage.
func baseOf(inputs []aten.Value, group []int) (*tensor.Tensor, error) {
	first := inputs[group[0]].(*tensor.Tensor)
	one, grad := true, false
	for _, i := range group {
		t := inputs[i].(*tensor.Tensor)
		if t.DType != first.DType {
			return nil, fmt.Errorf("inputs %d and %d of the graph share memory as %s and %s, and one of them is written: this is not supported", group[0], i, first.DType, t.DType)
		}
		one = one && rootOf(t) == rootOf(first)
		grad = grad || autograd.RequiresGrad(t)
	}
	if one && rootOf(first).DType == first.DType {
		return rootOf(first), nil
	}
	if grad {
		return nil, fmt.Errorf("inputs %v of the graph share memory, one of them is written, and they are no views of one tensor that gradients could flow to", group)
	}
	n := first.Storage.NBytes / int64(first.DType.Size())
	return &tensor.Tensor{Storage: first.Storage, DType: first.DType, Shape: []int64{n}, Stride: []int64{1}, Fake: first.Fake}, nil
}

// rootOf is the tensor that t is a view of, or t.
func rootOf(t *tensor.Tensor) *tensor.Tensor {
	if t.Base != nil {
		return t.Base
	}
	return t
}

// function is f with the inputs that merge leaves; like are inputs as f takes them.
func (b *bases) function(f Function, like []aten.Value) Function {
	return func(d aten.Dispatcher, merged []aten.Value) ([]aten.Value, error) {
		inputs := make([]aten.Value, len(like))
		looks := map[int]look{}
		for k, g := range b.groups {
			for _, i := range g {
				t := like[i].(*tensor.Tensor)
				v, err := build.Call(d, "aten.as_strided.default", merged[k], build.Ints(t.Shape), build.Ints(t.Stride), t.Offset)
				if err != nil {
					return nil, err
				}
				inputs[i] = v
				looks[i] = lookOf(v.(*tensor.Tensor))
			}
		}
		for k, i := range b.others {
			inputs[i] = merged[len(b.groups)+k]
		}
		outs, err := f(d, inputs)
		b.viewed = nil
		for i, v := range inputs {
			if l, ok := looks[i]; ok && !l.of(v.(*tensor.Tensor)) {
				b.viewed = append(b.viewed, i)
				outs = append(outs, v)
			}
		}
		return outs, err
	}
}

// look has inputs look as the function left them, and gives its own results.
func (b *bases) look(d aten.Dispatcher, inputs, outs []aten.Value) ([]aten.Value, error) {
	n := len(outs) - len(b.viewed)
	for k, i := range b.viewed {
		v := outs[n+k].(*tensor.Tensor)
		if _, err := build.Call(d, "aten.as_strided_.default", inputs[i], build.Ints(v.Shape), build.Ints(v.Stride), v.Offset); err != nil {
			return nil, fmt.Errorf("viewing input %d in place: %w", i, err)
		}
	}
	return outs[:n], nil
}

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
		for len(g) > 1 {
			var group []int
			if group, g = overlap(inputs, g); len(group) > 1 {
				groups = append(groups, group)
			}
		}
	}
	return groups
}

// overlap takes the inputs of one storage apart: those whose range of bytes is connected with that of the first, and the rest.
func overlap(inputs []aten.Value, of []int) (group, rest []int) {
	type bytes struct{ lo, hi int64 }
	span := func(i int) bytes {
		t := inputs[i].(*tensor.Tensor)
		last := t.Offset
		for d, n := range t.Shape {
			last += (n - 1) * t.Stride[d]
		}
		size := int64(t.DType.Size())
		return bytes{t.Offset * size, (last + 1) * size}
	}
	in := span(of[0])
	group, rest = of[:1:1], of[1:]
	for grown := true; grown; {
		grown = false
		var out []int
		for _, i := range rest {
			s := span(i)
			if s.lo >= in.hi || s.hi <= in.lo {
				out = append(out, i)
				continue
			}
			group, grown = append(group, i), true
			in = bytes{min(in.lo, s.lo), max(in.hi, s.hi)}
		}
		rest = out
	}
	slices.Sort(group)
	return group, rest
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
		for k, g := range b.groups {
			for _, i := range g {
				t := like[i].(*tensor.Tensor)
				v, err := build.Call(d, "aten.as_strided.default", merged[k], build.Ints(t.Shape), build.Ints(t.Stride), t.Offset)
				if err != nil {
					return nil, err
				}
				inputs[i] = v
			}
		}
		for k, i := range b.others {
			inputs[i] = merged[len(b.groups)+k]
		}
		return f(d, inputs)
	}
}

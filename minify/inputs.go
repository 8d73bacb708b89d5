package minify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// change edits the named inputs one by one.
func change(desc string, names []string, f func(in Input, t *tensor.Tensor) (Input, bool)) edit {
	in := setOf(names)
	return edit{desc: desc + " " + list(names), apply: func(s State) (State, bool) {
		out := State{Module: s.Module, Config: s.Config, Inputs: slices.Clone(s.Inputs)}
		changed := false
		for i, p := range s.Module.Graph.Placeholders() {
			if !in[p.Name] {
				continue
			}
			if next, ok := f(out.Inputs[i], isTensor(out.Inputs[i].Value)); ok {
				out.Inputs[i], changed = next, true
			}
		}
		return out, changed
	}}
}

// inputsWhere lists the inputs for which is holds.
func inputsWhere(d *driver, is func(in Input, t *tensor.Tensor) bool) []string {
	var out []string
	for i, p := range d.cur.Module.Graph.Placeholders() {
		if in := d.cur.Inputs[i]; is(in, isTensor(in.Value)) {
			out = append(out, p.Name)
		}
	}
	return out
}

func gradItems(d *driver) []string {
	return inputsWhere(d, func(in Input, _ *tensor.Tensor) bool { return in.RequiresGrad })
}

// noGrad takes inputs out of differentiation: with the last one the backward goes.
func noGrad(_ *driver, names []string) edit {
	return change("no gradient for", names, func(in Input, _ *tensor.Tensor) (Input, bool) {
		in.RequiresGrad = false
		return in, true
	})
}

// plainLayout reports whether a tensor is contiguous from the start of memory of its own.
func plainLayout(s State, in Input, t *tensor.Tensor) bool {
	return t == nil || t.IsContiguous(tensor.ContiguousFormat) && t.Offset == 0 && !shared(s, in)
}

// shared reports whether another input lies in the same memory.
func shared(s State, in Input) bool {
	t := isTensor(in.Value)
	n := 0
	for _, o := range s.Inputs {
		if x := isTensor(o.Value); x != nil && x.Storage == t.Storage {
			n++
		}
	}
	return n > 1
}

func layoutItems(d *driver) []string {
	return inputsWhere(d, func(in Input, t *tensor.Tensor) bool { return t != nil && t.Fake && !plainLayout(d.cur, in, t) })
}

func contiguous(_ *driver, names []string) edit {
	return change("contiguous, in memory of its own,", names, func(in Input, t *tensor.Tensor) (Input, bool) {
		if t == nil || !t.Fake {
			return in, false
		}
		in.Value = fakeAt(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape), 0)
		return in, true
	})
}

// simpler maps dtypes to those that fewer things depend on.
var simpler = map[tensor.DType]tensor.DType{
	tensor.Float64: tensor.Float32, tensor.Float16: tensor.Float32, tensor.BFloat16: tensor.Float32,
	tensor.Complex64: tensor.Float32, tensor.Complex128: tensor.Float32, tensor.Complex32: tensor.Float32,
	tensor.Float8E4M3FN: tensor.Float32, tensor.Float8E5M2: tensor.Float32, tensor.Float8E4M3FNUZ: tensor.Float32, tensor.Float8E5M2FNUZ: tensor.Float32,
	tensor.Int64: tensor.Int32, tensor.UInt16: tensor.Int32, tensor.UInt32: tensor.Int32, tensor.UInt64: tensor.Int32,
}

// dtypeItems are the inputs, and the arguments, of dtypes that have a simpler one.
func dtypeItems(d *driver) []string {
	out := inputsWhere(d, func(_ Input, t *tensor.Tensor) bool { return t != nil && t.Fake && simpler[t.DType] != tensor.Invalid })
	eachArg(d.cur.Module.Graph, func(at place, a fx.Arg) {
		if dt, ok := a.(tensor.DType); ok && simpler[dt] != tensor.Invalid {
			out = append(out, at.String())
		}
	})
	return out
}

func simplerDTypes(_ *driver, names []string) edit {
	in := setOf(names)
	inputs := change("", names, func(in Input, t *tensor.Tensor) (Input, bool) {
		if t == nil || !t.Fake || simpler[t.DType] == tensor.Invalid {
			return in, false
		}
		in.Value = fakeAt(simpler[t.DType], t.Shape, t.Stride, t.Offset)
		in.RequiresGrad = in.RequiresGrad && simpler[t.DType].IsFloat()
		return in, true
	})
	return edit{desc: "a simpler dtype for " + list(names), reshapes: true, apply: func(s State) (State, bool) {
		out, changed := inputs.apply(s)
		gm, _ := s.Module.Clone()
		var at []place
		var to []fx.Arg
		eachArg(gm.Graph, func(p place, a fx.Arg) {
			if dt, ok := a.(tensor.DType); ok && in[p.String()] && simpler[dt] != tensor.Invalid {
				at, to = append(at, p), append(to, simpler[dt])
			}
		})
		for i := range at {
			put(gm.Graph.Node(at[i].node), at[i], to[i])
			changed = true
		}
		out.Module = gm
		return out, changed
	}}
}

// eachArg shows every argument of every call, with the elements of lists.
func eachArg(g *fx.Graph, f func(at place, a fx.Arg)) {
	show := func(at place, a fx.Arg) {
		at.elem = -1
		f(at, a)
		if l, ok := asList(a); ok {
			for i, x := range l {
				at.elem = i
				f(at, x)
			}
		}
	}
	for _, n := range g.Calls() {
		for i, a := range n.Args {
			show(place{node: n.Name, arg: i}, a)
		}
		for _, kw := range n.Kwargs {
			show(place{node: n.Name, kw: kw.Name}, kw.Val)
		}
	}
}

// fills, simplest first, with what they weigh in a state's cost.
var fillWeights = map[Fill]int{FillZeros: 0, FillOnes: 1, FillArange: 2, FillList: 3, FillRandom: 28, FillNone: 30}

func fillItems(fill Fill) func(d *driver) []string {
	return func(d *driver) []string {
		return inputsWhere(d, func(in Input, t *tensor.Tensor) bool {
			return t != nil && t.Fake && dataWeight(in) > fillWeights[fill] && !(fill == FillRandom && listable(in, t))
		})
	}
}

func filled(fill Fill) func(d *driver, names []string) edit {
	return func(_ *driver, names []string) edit {
		return change(string(fill)+" for", names, func(in Input, t *tensor.Tensor) (Input, bool) {
			if t == nil || !t.Fake || dataWeight(in) <= fillWeights[fill] {
				return in, false
			}
			in.Data = Data{Fill: fill}
			in.Value = fakeAt(t.DType, t.Shape, t.Stride, t.Offset) // elements made from nothing share no memory
			return in, true
		})
	}
}

// dataWeight is what an input's elements weigh in the cost.
func dataWeight(in Input) int {
	w := fillWeights[in.Data.Fill]
	if in.Data.Fill == FillList {
		for _, x := range in.Data.List {
			if !isZero(x) && w < 24 {
				w++
			}
		}
	}
	return w
}

func isZero(literal string) bool {
	return literal == "False" || strings.Trim(literal, "-0.j") == "" && literal != ""
}

// fills tries simpler and simpler elements, for all inputs together and then for those that do not need theirs. A few that need more than
// zeros seldom all do with the next best; and of zeros alone no result is wrong.
func fills(ctx context.Context, d *driver) error {
	for _, f := range []Fill{FillZeros, FillOnes, FillArange, FillRandom} {
		mk := filled(f)
		items, drop := fillItems(f)(d), func(names []string) edit { return mk(d, names) }
		tree := needed("", items, drop)
		switch {
		case f != FillZeros && len(items) <= few:
			tree = oneByOne("", items, nil, drop)
		case f == FillZeros && d.accuracy() && len(items) > 1 && len(items) == len(d.cur.Inputs):
			tree = someNeeded("", items, nil, drop)
		}
		if err := d.walk(ctx, tree); err != nil {
			return err
		}
	}
	return nil
}

func fillOpening(d *driver) []edit { return all(fillItems(FillZeros), filled(FillZeros))(d) }

func fillSingles(d *driver) []edit {
	var out []edit
	for _, f := range []Fill{FillZeros, FillOnes, FillArange, FillRandom} {
		for _, n := range fillItems(f)(d) {
			e := filled(f)(d, []string{n})
			e.of = n
			out = append(out, e)
		}
	}
	return out
}

// maxListed is how many elements of an input are written down one by one.
const maxListed = 64

// listable reports whether an input's real data can be written down, which says more than random ones.
func listable(in Input, t *tensor.Tensor) bool {
	return in.Data.Fill == FillNone && t.Numel() <= maxListed && t.DType.Kind() != tensor.KindComplex
}

// elements writes small inputs whose real data matter down, and turns the elements that do not matter into zeros.
func elements(ctx context.Context, d *driver) error {
	names := inputsWhere(d, func(in Input, t *tensor.Tensor) bool {
		return t != nil && t.Fake && listable(in, t)
	})
	if len(names) > 0 {
		if err := d.explore(ctx); err != nil {
			return err
		}
		lists := map[string][]string{}
		for _, n := range names {
			l, err := d.w.values.Elements(ctx, d.w.prefix+n)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil && l != nil {
				lists[n] = l
			}
		}
		at := map[*tensor.Tensor]string{} // of the state in which the walk begins: its edits are made while others are adopted
		for i, p := range d.cur.Module.Graph.Placeholders() {
			if t := isTensor(d.cur.Inputs[i].Value); t != nil {
				at[t] = p.Name
			}
		}
		mk := func(names []string) edit {
			return change("written down:", names, func(in Input, t *tensor.Tensor) (Input, bool) {
				l := lists[at[t]]
				if t == nil || int64(len(l)) != t.Numel() {
					return in, false
				}
				in.Data = Data{Fill: FillList, List: l}
				in.Value = fakeAt(t.DType, t.Shape, t.Stride, t.Offset)
				return in, true
			})
		}
		if err := d.walk(ctx, needed("", names, mk)); err != nil {
			return err
		}
	}
	for _, name := range inputsWhere(d, func(in Input, _ *tensor.Tensor) bool { return in.Data.Fill == FillList }) {
		// All zeros were tried before there was a list.
		if err := d.walk(ctx, someNeeded("", nonZeros(d, name), nil, zeroed)); err != nil {
			return err
		}
	}
	return nil
}

// nonZeros are the elements of a written-down input, as "name[3]".
func nonZeros(d *driver, name string) []string {
	var out []string
	for i, p := range d.cur.Module.Graph.Placeholders() {
		if p.Name != name {
			continue
		}
		for j, x := range d.cur.Inputs[i].Data.List {
			if !isZero(x) {
				out = append(out, fmt.Sprintf("%s[%d]", name, j))
			}
		}
	}
	return out
}

func zeroed(items []string) edit {
	at := setOf(items)
	return edit{desc: "zero for " + list(items), apply: func(s State) (State, bool) {
		out := State{Module: s.Module, Config: s.Config, Inputs: slices.Clone(s.Inputs)}
		changed := false
		for i, p := range s.Module.Graph.Placeholders() {
			in := &out.Inputs[i]
			if in.Data.Fill != FillList {
				continue
			}
			zero := "0.0"
			switch t := isTensor(in.Value); t.DType.Kind() {
			case tensor.KindBool:
				zero = "False"
			case tensor.KindInt:
				zero = "0"
			}
			l := slices.Clone(in.Data.List)
			for j := range l {
				if at[fmt.Sprintf("%s[%d]", p.Name, j)] && !isZero(l[j]) {
					l[j], changed = zero, true
				}
			}
			in.Data.List = l
		}
		return out, changed
	}}
}

func elementSingles(d *driver) []edit {
	var out []edit
	for _, name := range inputsWhere(d, func(in Input, _ *tensor.Tensor) bool { return in.Data.Fill == FillList }) {
		its := nonZeros(d, name)
		if len(its) == 1 {
			continue // without it the list is all zeros, a fill
		}
		for _, it := range its {
			out = append(out, zeroed([]string{it}))
		}
	}
	return out
}

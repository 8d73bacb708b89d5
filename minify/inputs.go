package minify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// change edits the named inputs one by one. f says false where it has nothing to change.
func change(s State, names []string, f func(in Input, t *tensor.Tensor) (Input, bool)) (State, bool) {
	in := setOf(names)
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
}

// inputsWhere lists the inputs for which is holds.
func inputsWhere(s State, is func(in Input, t *tensor.Tensor) bool) []string {
	var out []string
	for i, p := range s.Module.Graph.Placeholders() {
		if in := s.Inputs[i]; is(in, isTensor(in.Value)) {
			out = append(out, p.Name)
		}
	}
	return out
}

func gradItems(v *view) []string {
	return inputsWhere(v.cur, func(in Input, _ *tensor.Tensor) bool { return in.RequiresGrad })
}

// NoGrad takes inputs out of differentiation: with the last one the backward goes.
type NoGrad struct{ Inputs []string }

func noGrad(names []string) Edit { return NoGrad{names} }

func (e NoGrad) String() string { return "no gradient for " + list(e.Inputs) }

func (e NoGrad) apply(_ *world, s State) (State, bool) {
	return change(s, e.Inputs, func(in Input, _ *tensor.Tensor) (Input, bool) {
		in.RequiresGrad = false
		return in, true
	})
}

func madeItems(v *view) []string {
	return inputsWhere(v.cur, func(in Input, _ *tensor.Tensor) bool { return !in.Leaf() })
}

// AsLeaf makes inputs leaves that came out of operators.
type AsLeaf struct{ Inputs []string }

func asLeaf(names []string) Edit { return AsLeaf{names} }

func (e AsLeaf) String() string { return "as leaf: " + list(e.Inputs) }

func (e AsLeaf) apply(_ *world, s State) (State, bool) {
	return change(s, e.Inputs, func(in Input, _ *tensor.Tensor) (Input, bool) {
		in.Made = false
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

func layoutItems(v *view) []string {
	return inputsWhere(v.cur, func(in Input, t *tensor.Tensor) bool { return t != nil && t.Fake && !plainLayout(v.cur, in, t) })
}

// Contiguous makes inputs contiguous, each in memory of its own.
type Contiguous struct{ Inputs []string }

func contiguous(names []string) Edit { return Contiguous{names} }

func (e Contiguous) String() string { return "contiguous, in memory of its own, " + list(e.Inputs) }

func (e Contiguous) apply(_ *world, s State) (State, bool) {
	return change(s, e.Inputs, func(in Input, t *tensor.Tensor) (Input, bool) {
		if t == nil || !t.Fake {
			return in, false
		}
		in.Value = fakeAt(t.DType, t.Shape, tensor.ContiguousStrides(t.Shape), 0)
		return in, true
	})
}

// simpler maps dtypes to those that fewer things depend on: float32 is what every kernel has, and int32 needs no wider arithmetic. Chains end: none of
// the targets has a simpler one.
var simpler = map[tensor.DType]tensor.DType{
	tensor.Float64: tensor.Float32, tensor.Float16: tensor.Float32, tensor.BFloat16: tensor.Float32,
	tensor.Complex64: tensor.Float32, tensor.Complex128: tensor.Float32, tensor.Complex32: tensor.Float32,
	tensor.Float8E4M3FN: tensor.Float32, tensor.Float8E5M2: tensor.Float32, tensor.Float8E4M3FNUZ: tensor.Float32, tensor.Float8E5M2FNUZ: tensor.Float32,
	tensor.Int64: tensor.Int32, tensor.UInt16: tensor.Int32, tensor.UInt32: tensor.Int32, tensor.UInt64: tensor.Int32,
}

// dtypeItems are the inputs, and the arguments, of dtypes that have a simpler one.
func dtypeItems(v *view) []string {
	out := inputsWhere(v.cur, func(_ Input, t *tensor.Tensor) bool { return t != nil && t.Fake && simpler[t.DType] != tensor.Invalid })
	eachArg(v.cur.Module.Graph, func(at place, a fx.Arg) {
		if dt, ok := a.(tensor.DType); ok && simpler[dt] != tensor.Invalid {
			out = append(out, at.String())
		}
	})
	return out
}

// SimplerDTypes gives inputs, and arguments that are dtypes, ones that fewer things depend on.
type SimplerDTypes struct{ Items []string }

func simplerDTypes(items []string) Edit { return SimplerDTypes{items} }

func (e SimplerDTypes) String() string { return "a simpler dtype for " + list(e.Items) }
func (e SimplerDTypes) reshapes() bool { return true }

func (e SimplerDTypes) apply(_ *world, s State) (State, bool) {
	out, changed := change(s, e.Items, func(in Input, t *tensor.Tensor) (Input, bool) {
		if t == nil || !t.Fake || simpler[t.DType] == tensor.Invalid {
			return in, false
		}
		in.Value = fakeAt(simpler[t.DType], t.Shape, t.Stride, t.Offset)
		in.RequiresGrad = in.RequiresGrad && simpler[t.DType].IsFloat()
		return in, true
	})
	in := setOf(e.Items)
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

// fillWeights are the fills, simplest first, with what they weigh in a state's cost. A list lies between: it weighs more with each element that is not
// zero, and less than random data even when it is full, as it says what they are.
var fillWeights = map[Fill]int{FillZeros: 0, FillOnes: 1, FillArange: 2, FillList: 3, FillRandom: 28, FillNone: 30}

func fillItems(fill Fill) func(v *view) []string {
	return func(v *view) []string {
		return inputsWhere(v.cur, func(in Input, t *tensor.Tensor) bool {
			return t != nil && t.Fake && dataWeight(in) > fillWeights[fill] && !(fill == FillRandom && listable(in, t))
		})
	}
}

// Fills gives inputs elements made from nothing, as far as these are simpler than theirs.
type Fills struct {
	With   Fill
	Inputs []string
}

func filled(fill Fill) func(names []string) Edit {
	return func(names []string) Edit { return Fills{fill, names} }
}

func (e Fills) String() string { return string(e.With) + " for " + list(e.Inputs) }

func (e Fills) apply(_ *world, s State) (State, bool) {
	return change(s, e.Inputs, func(in Input, t *tensor.Tensor) (Input, bool) {
		if t == nil || !t.Fake || dataWeight(in) <= fillWeights[e.With] {
			return in, false
		}
		in.Data = Data{Fill: e.With}
		in.Value = fakeAt(t.DType, t.Shape, t.Stride, t.Offset) // elements made from nothing share no memory
		return in, true
	})
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
		drop := filled(f)
		items := d.hopeful(fillItems(f)(&d.view), drop)
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

// fillOpening lists zeros for all inputs; and where that is one, what it is asked about after them.
func fillOpening(v *view) []Edit {
	out := all(fillItems(FillZeros), filled(FillZeros))(v)
	for _, f := range []Fill{FillOnes, FillArange} {
		if items := fillItems(f)(v); len(items) == 1 {
			out = append(out, filled(f)(items))
		}
	}
	return out
}

func fillSingles(v *view) []Edit {
	var out []Edit
	for _, f := range []Fill{FillZeros, FillOnes, FillArange, FillRandom} {
		for _, n := range fillItems(f)(v) {
			out = append(out, Fills{f, []string{n}})
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

// elements writes down small inputs whose real data matter, and turns the elements that do not matter into zeros.
func elements(ctx context.Context, d *driver) error {
	e, err := d.writtenDown(ctx)
	if err != nil {
		return err
	}
	if err := d.walk(ctx, needed("", e.Inputs, func(names []string) Edit { return WrittenDown{names, e.Lists} })); err != nil {
		return err
	}
	for _, name := range inputsWhere(d.cur, func(in Input, _ *tensor.Tensor) bool { return in.Data.Fill == FillList }) {
		// All zeros were tried before there was a list.
		if err := d.walk(ctx, someNeeded("", nonZeros(d.cur, name), nil, zeroed)); err != nil {
			return err
		}
	}
	return nil
}

// unlisted are the small inputs whose real data are part of a state.
func unlisted(s State) []string {
	return inputsWhere(s, func(in Input, t *tensor.Tensor) bool { return t != nil && t.Fake && listable(in, t) })
}

// writtenDown writes down all small inputs whose real data are part of the best state. What is written is what the engine holds now, after all other
// edits: so it explores once more, unless that was done since the last of them.
func (d *driver) writtenDown(ctx context.Context) (WrittenDown, error) {
	e := WrittenDown{Inputs: unlisted(d.cur), Lists: map[string][]string{}}
	if len(e.Inputs) == 0 {
		return e, nil
	}
	of := d.hash(d.cur)
	if d.read.of == of {
		return d.read.WrittenDown, nil
	}
	if err := d.explore(ctx); err != nil {
		return e, err
	}
	for _, n := range e.Inputs {
		l, err := d.w.values.Elements(ctx, d.w.prefix+n)
		if ctx.Err() != nil {
			return e, ctx.Err()
		}
		if err == nil && l != nil {
			e.Lists[n] = l
		}
	}
	d.read.of, d.read.WrittenDown = of, e
	return e, nil
}

// WrittenDown gives inputs their real elements as a list.
type WrittenDown struct {
	Inputs []string
	Lists  map[string][]string // of all inputs that are small enough, as Python literals in row-major order
}

func (e WrittenDown) String() string { return "written down: " + list(e.Inputs) }

func (e WrittenDown) apply(_ *world, s State) (State, bool) {
	out, changed := s, false
	for _, name := range e.Inputs {
		next, ok := change(out, []string{name}, func(in Input, t *tensor.Tensor) (Input, bool) {
			l := e.Lists[name]
			if t == nil || int64(len(l)) != t.Numel() {
				return in, false
			}
			in.Data = Data{Fill: FillList, List: l}
			in.Value = fakeAt(t.DType, t.Shape, t.Stride, t.Offset)
			return in, true
		})
		if ok {
			out, changed = next, true
		}
	}
	return out, changed
}

// nonZeros are the elements of a written-down input, as "name[3]".
func nonZeros(s State, name string) []string {
	var out []string
	for i, p := range s.Module.Graph.Placeholders() {
		if p.Name != name {
			continue
		}
		for j, x := range s.Inputs[i].Data.List {
			if !isZero(x) {
				out = append(out, fmt.Sprintf("%s[%d]", name, j))
			}
		}
	}
	return out
}

// Zero makes elements of written-down inputs zeros: "name[3]".
type Zero struct{ Elements []string }

func zeroed(items []string) Edit { return Zero{items} }

func (e Zero) String() string { return "zero for " + list(e.Elements) }

func (e Zero) apply(_ *world, s State) (State, bool) {
	at := setOf(e.Elements)
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
}

func elementSingles(v *view) []Edit {
	var out []Edit
	for _, name := range inputsWhere(v.cur, func(in Input, _ *tensor.Tensor) bool { return in.Data.Fill == FillList }) {
		its := nonZeros(v.cur, name)
		if len(its) == 1 {
			continue // without it the list is all zeros, a fill
		}
		for _, it := range its {
			out = append(out, Zero{[]string{it}})
		}
	}
	return out
}

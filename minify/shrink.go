package minify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// borders are the sizes that are tried for a class of sizes that does not shrink to 1, 2 or 3: code generators break at
// the edges of vectors and tiles.
var borders = []int64{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129}

// smallSizes are tried for sizes of which operators want more than 1.
var smallSizes = borders[:5]

// Resize gives classes of sizes that must agree another size, in inputs and arguments together. A class is named after where it was first seen.
type Resize struct {
	Size    int64
	Classes []string
	of      *extents // of the state that the edit was made for: of others they are found out anew
}

func (e Resize) String() string { return fmt.Sprintf("size %d for %s", e.Size, list(e.Classes)) }
func (e Resize) reshapes() bool { return true }

func (e Resize) apply(w *world, s State) (State, bool) {
	of := e.of
	if of == nil || of.module != s.Module {
		of = w.extentsOf(s)
	}
	value := of.with(setOf(e.Classes), e.Size)
	gm, m := s.Module.Clone()
	out := State{Module: gm, Config: s.Config}
	changed := false
	for i, p := range s.Module.Graph.Placeholders() {
		in := s.Inputs[i]
		if is, ok := of.ints[p.Name]; ok {
			if v, ok := in.Value.(int64); ok && value(is) != v {
				in.Value, changed = value(is), true
			}
		}
		if t := isTensor(in.Value); t != nil {
			ds := of.inputs[p.Name]
			if len(ds) != len(t.Shape) {
				return State{}, false
			}
			shape := make([]int64, len(ds))
			for j := range ds {
				shape[j] = value(ds[j])
			}
			if !slices.Equal(shape, t.Shape) {
				next, ok := smaller(in, t, shape)
				if !ok {
					return State{}, false
				}
				in, changed = next, true
			}
		}
		out.Inputs = append(out.Inputs, in)
	}
	for _, sl := range of.slots {
		if v := value(sl.is); v != sl.old {
			n := s.Module.Graph.Node(sl.at.node)
			if n == nil || !put(m[n], sl.at, v) {
				return State{}, false
			}
			changed = true
		}
	}
	return out, changed
}

// put stores an argument.
func put(n *fx.Node, at place, v fx.Arg) bool {
	elem := func(a fx.Arg) (fx.Arg, bool) {
		switch l := a.(type) {
		case fx.List:
			l = slices.Clone(l)
			l[at.elem] = v
			return l, true
		case fx.Tuple:
			l = slices.Clone(l)
			l[at.elem] = v
			return l, true
		}
		return nil, false
	}
	set := func(a *fx.Arg) bool {
		if at.elem < 0 {
			*a = v
			return true
		}
		l, ok := elem(*a)
		if ok {
			*a = l
		}
		return ok
	}
	if at.kw == "" {
		return at.arg < len(n.Args) && set(&n.Args[at.arg])
	}
	for i := range n.Kwargs {
		if n.Kwargs[i].Name == at.kw {
			return set(&n.Kwargs[i].Val)
		}
	}
	return false
}

// smaller is an input cut to a shape. Dense tensors stay dense, in the same order of dimensions; others keep their strides.
func smaller(in Input, t *tensor.Tensor, shape []int64) (Input, bool) {
	if !t.Fake {
		return Input{}, false
	}
	for i := range shape {
		if shape[i] > t.Shape[i] {
			return Input{}, false
		}
	}
	stride := slices.Clone(t.Stride)
	if order, dense := strideOrder(t); dense {
		n := int64(1)
		for _, d := range order {
			stride[d] = n
			n *= max(shape[d], 1)
		}
	}
	in.Value = fakeAt(t.DType, shape, stride, t.Offset)
	if in.Data.Fill == FillList {
		var list []string
		for i, x := range in.Data.List {
			if inside(int64(i), t.Shape, shape) {
				list = append(list, x)
			}
		}
		in.Data.List = list
	}
	return in, true
}

// inside reports whether the element with a row-major number in from is still there in to.
func inside(i int64, from, to []int64) bool {
	for d := len(from) - 1; d >= 0; d-- {
		if i%from[d] >= to[d] {
			return false
		}
		i /= from[d]
	}
	return true
}

// strideOrder is how a layout is kept while its sizes change: channels-last stays channels-last. It lists the dimensions, fastest first, and whether the tensor's elements lie densely in that order.
func strideOrder(t *tensor.Tensor) ([]int, bool) {
	order := make([]int, len(t.Shape))
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := order[a], order[b]
		if t.Shape[x] == 1 || t.Shape[y] == 1 {
			return false
		}
		return t.Stride[x] < t.Stride[y]
	})
	n := int64(1)
	for _, d := range order {
		if t.Shape[d] != 1 && t.Stride[d] != n {
			return order, false
		}
		n *= t.Shape[d]
	}
	return order, true
}

// fakeAt is a fake tensor over memory of its own.
func fakeAt(dt tensor.DType, shape, stride []int64, offset int64) *tensor.Tensor {
	t := tensor.EmptyFake(dt, shape, stride)
	t.Offset = offset
	t.Storage = tensor.FakeStorage(t.Storage.NBytes + offset*int64(dt.Size()))
	return t
}

// sizesTo lists the classes above a size, largest first, and gives the edit that shrinks some of them to it.
func (v *view) sizesTo(k int64) (edits func(labels []string) Edit, labels []string) {
	e := v.w.extentsOf(v.cur)
	cs := e.classes()
	sort.SliceStable(cs, func(i, j int) bool { return cs[i].size > cs[j].size })
	for _, c := range cs {
		if c.size > k {
			labels = append(labels, c.label)
		}
	}
	return func(labels []string) Edit { return Resize{k, labels, e} }, labels
}

// shrink gives sizes that must agree the smallest values that still fail: all of them 1, 2, then 3, those that do not need more; then each the
// smallest at the borders of vectors and tiles.
func shrink(ctx context.Context, d *driver) error {
	for _, k := range []int64{1, 2, 3} {
		if err := d.learn(ctx, looks); err != nil {
			return err
		}
		edits, labels := d.sizesTo(k)
		if err := d.walk(ctx, needed("", d.hopeful(labels, edits), edits)); err != nil {
			return err
		}
	}
	for done := map[string]bool{}; ; {
		if err := d.learn(ctx, looks); err != nil {
			return err
		}
		e := d.w.extentsOf(d.cur)
		cs := e.classes()
		i := slices.IndexFunc(cs, func(c class) bool { return c.size > 3 && !done[c.label] })
		if i < 0 {
			return nil
		}
		c := cs[i]
		done[c.label] = true
		to := slices.DeleteFunc(slices.Clone(borders), func(k int64) bool { return k >= c.size || k <= 3 })
		probe := func(_, p, _ int) ask {
			return ask{edit: Resize{to[p], []string{c.label}, e}, chance: 0.5}
		}
		// Known: the present size, as if at the end of the list, fails; 3 and less do not.
		if err := d.walk(ctx, bisect(-1, len(to), probe, func(int) *ask { return nil })); err != nil {
			return err
		}
	}
}

// shrinkSingles asks, for each class, whether it can be a little smaller after all: the three smallest sizes, and the next border below it.
func shrinkSingles(v *view) []Edit {
	var out []Edit
	e := v.w.extentsOf(v.cur)
	for _, c := range e.classes() {
		below := slices.DeleteFunc(slices.Clone(borders), func(k int64) bool { return k >= c.size })
		if len(below) > 4 { // the smallest, and the next border
			below = append(below[:3:3], below[len(below)-1])
		}
		for _, k := range below {
			out = append(out, Resize{k, []string{c.label}, e})
		}
	}
	return out
}

// plain tries the simplest inputs at once: sizes of 1, contiguous zeros without gradients; at first with the arguments that may be left out gone
// as well. Failures to compile seldom need more, and the rows that follow then have nothing to do.
func plain(ctx context.Context, d *driver) error {
	chance := likely
	if d.few && d.grouped() {
		chance = 0.3 // all of them are asked together
	}
	_, err := d.first(ctx, chance, plainEdit(&d.view))
	return err
}

// apart asks, where candidates are asked together, about the smallest edits of every row at once, each by itself; what keeps the failure is then made
// together (merge). So a small graph takes two questions where the rows take a dozen, one after the other; they find little left to ask.
func apart(ctx context.Context, d *driver) error {
	if !d.few || !d.grouped() {
		return nil
	}
	var trials []*trial
	for _, r := range reductions {
		if !d.apartOf(r) || d.s.without[r.name] {
			continue
		}
		if err := d.learn(ctx, r.needs); err != nil {
			return err
		}
		for _, e := range foremost(r.singles(&d.view)) {
			t, err := d.prepare(ctx, d.in(r.name), d.cur, e)
			if err != nil {
				return err
			}
			if !t.skip && len(trials) < widest {
				trials = append(trials, t)
			}
		}
	}
	ahead := trials
	if 0 < len(trials) && len(trials) <= fewTrials {
		next, err := d.unlessApart(ctx)
		if err != nil {
			return err
		}
		ahead = d.join(slices.Clone(trials), next)
	}
	for i := range trials {
		if err := d.await(ctx, ahead[i:]); err != nil {
			return err
		}
	}
	return d.merge(ctx, trials)
}

// fewTrials is up to how many edits of a small state it is likely that none keeps the failure: then what follows is asked meanwhile.
const fewTrials = 3

// unlessApart lists what follows if apart changes nothing: of a small graph that is the writing down of what its inputs hold, and then the end.
func (d *driver) unlessApart(ctx context.Context) ([]*trial, error) {
	e, err := d.writtenDown(ctx)
	if err != nil {
		return nil, err
	}
	v := d.in("elements")
	written, err := d.prepare(ctx, v, d.cur, e)
	if err != nil {
		return nil, err
	}
	if written.skip || written.settled {
		return d.beyond(ctx, &d.view, nil, d.width(), 0)
	}
	more, err := d.beyond(ctx, v, written, d.width(), 0)
	return append([]*trial{written}, more...), err
}

// apartOpening is what apart asks, as far as it can be said of a state that is not the best yet.
func apartOpening(v *view) []Edit {
	var out []Edit
	for _, r := range reductions {
		if v.apartOf(r) && (r.needs == nothing || !v.w.outdated && (r.needs == looks || !v.w.hollow)) {
			out = append(out, foremost(r.singles(v))...)
		}
	}
	return out
}

// apartOf reports whether apart asks about a row's edits. What wrong results need of the graph is asked when all else is plain: they come and go with
// it.
func (v *view) apartOf(r reduction) bool {
	return r.singles != nil && !v.off[r.name] && !(r.graph && v.accuracy())
}

// foremost leaves out what is the least likely to be needed: sizes above 2, random elements.
func foremost(edits []Edit) []Edit {
	return slices.DeleteFunc(edits, func(e Edit) bool {
		switch e := e.(type) {
		case Resize:
			return e.Size > 2
		case Fills:
			return e.With == FillRandom
		}
		return false
	})
}

// hopeful are the items of a row, each of which an edit takes away, whose going was not yet seen to lose the failure.
func (v *view) hopeful(items []string, mk func([]string) Edit) []string {
	return slices.DeleteFunc(slices.Clone(items), func(item string) bool {
		edit := mk([]string{item}).String()
		_, asked := v.kept[edit]
		return asked || v.lost[edit]
	})
}

// plainEdit is what plain tries, boldest first. Wrong results come and go with the data, so that the same is tried without zeros where these are looked
// for.
func plainEdit(v *view) []Edit {
	parts := plainShapes(v)
	var out []Edit
	tries := func(name string, parts []Edit) {
		if args := optional(v); len(args) > 0 && len(parts) > 0 {
			out = append(out, Together{Name: "the simplest " + name + " and arguments", Parts: append(parts[:len(parts):len(parts)], Defaults{args})})
		}
		if len(parts) > 1 || len(parts) > 0 && v.accuracy() {
			out = append(out, Together{Name: "the simplest " + name, Parts: parts})
		}
	}
	zeros := fillItems(FillZeros)(v)
	switch {
	case len(zeros) == 0:
		tries("inputs", parts)
	case !v.accuracy():
		tries("inputs", append(parts, filled(FillZeros)(zeros)))
	default:
		if len(parts) > 0 {
			tries("inputs, zeros,", append(parts[:len(parts):len(parts)], filled(FillZeros)(zeros)))
		}
		tries("inputs", parts)
	}
	return out
}

// plainShapes makes all sizes 1, or as small as the operators allow, and inputs contiguous, without gradients.
func plainShapes(v *view) []Edit {
	return slices.Concat(v.smallest(), whole(gradItems(v), noGrad), whole(layoutItems(v), contiguous))
}

// smallest makes all sizes 1. Where a graph of few calls does not go together then, as a window of a pooling does not fit, each class of sizes gets
// the smallest with which it does, larger ones first; those classes that cannot be made smaller keep theirs.
func (v *view) smallest() []Edit {
	edits, labels := v.sizesTo(1)
	all := whole(labels, edits)
	fits := func(st State) bool { return v.static(context.Background(), st) == nil }
	if len(all) == 0 || CostOf(v.cur).Calls > fewCalls {
		return all
	}
	if st, ok := all[0].apply(v.w, v.cur); ok && fits(st) {
		return all
	}
	at := v.cur
	to := map[int64][]string{}
	for _, label := range labels {
		for _, k := range smallSizes {
			if st, ok := (Resize{k, []string{label}, nil}).apply(v.w, at); ok && fits(st) {
				at, to[k] = st, append(to[k], label)
				break
			}
		}
	}
	var out []Edit
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(to))) {
		out = append(out, Resize{k, to[k], nil})
	}
	return out
}

// plainInputs makes inputs the simplest.
func plainInputs(v *view) []Edit {
	return append(plainShapes(v), whole(fillItems(FillZeros)(v), filled(FillZeros))...)
}

// whole is the edit of all items, none where there are none.
func whole(items []string, mk func([]string) Edit) []Edit {
	if len(items) == 0 {
		return nil
	}
	return []Edit{mk(items)}
}

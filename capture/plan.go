package capture

import (
	"slices"

	"whittle/capture/breaks"
	"whittle/capture/effects"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/resume"
	"whittle/capture/source"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// recipe rebuilds one Python value when compiled code runs.
type recipe func(r *rebuild) (vm.Object, error)

// rebuild is one evaluation of a plan: graph outputs and sources are at hand, and shared objects are built once.
type rebuild struct {
	env  *source.Env
	outs []vm.Object        // of the graph, in planner.outs' order
	made map[part]vm.Object // object of the trace => the one that this run has for it
}

// part stands in a plan for an object of the trace. The plan outlives the trace, and with the object would keep all that the first call was given.
type part *struct{ _ byte }

// part is what stands for o.
func (p *planner) part(o vm.Object) part {
	if p.parts[o] == nil {
		p.parts[o] = &struct{ _ byte }{}
	}
	return p.parts[o]
}

// effect writes new contents into an object that existed before.
type effect struct {
	source source.Source
	object vm.Object // used when the object has no source of its own (a table inside an instance)
	cell   bool      // object is a cell
	items  []recipe
	global string // object is a dict of globals, of which this one is assigned
	// old says of each item of a list which of the old items it is; -1: what its recipe makes. Nothing guards items that the trace
	// only kept, so that they are taken from the list as it is then.
	old []int
	// entries: of a dict or an object's attributes only some are written, after drop is taken out.
	entries bool
	drop    []vm.Object
}

// plan is what compiled code does after its graph has run.
type plan struct {
	result  recipe
	effects []effect
	logs    []*logPlan // calls that were put off
	draws   randomDraws
	// A plan that breaks goes on behind the instruction at pc.
	breaks bool
	rest   bool // and all that follows, from that instruction on, is plain Python
	pc     int
	locals []recipe // per slot of the frame; nil => unbound
	stack  []recipe
	grad   bool // grad mode at the break
	// modes are those of __torch_function__ that are entered at the end, where these are others than at the start.
	modes        []recipe
	modesChanged bool
	// autocast is the autocast state there.
	autocast torch.Autocast
}

// planner makes recipes, collecting the tensors that the graph has to give back.
type planner struct {
	tr   *tracer
	outs []*tensor.Tensor       // stand-ins that the graph gives back
	idx  map[*tensor.Tensor]int // where they are in outs
	memo map[vm.Object]*recipe  // planned or being planned: what is shared is made once

	parts map[vm.Object]part     // see part
	calls map[vm.Object]*logPlan // those that were put off and give something, by what stands for that

	onStack bool // what is planned are the values of a frame's stack

	looked map[vm.Object]bool // see lookInto

	given map[*tensor.Tensor]bool // outputs of the graph even where they came in

	scalars map[*fx.Node]*tensor.Tensor // unknown numbers that the graph gives back

	unwritten []func() error // plan the attributes of the objects that the trace made, which are written after all that was there before
}

// value plans one value: a constant, what a source gives, an output of the graph, or an object that the trace made, which is made anew
// in every run. The error is a break, at what cannot be made again.
func (p *planner) value(o vm.Object) (recipe, error) {
	tr := p.tr
	if o == nil {
		return func(*rebuild) (vm.Object, error) { return nil, nil }, nil
	}
	if t, ok := o.(*torch.Tensor); ok {
		return p.tensor(t)
	}
	if s, ok := o.(*torch.Scalar); ok {
		return p.scalar(s)
	}
	if t, ok := o.(*laterText); ok {
		return t.recipe(p)
	}
	k := source.Identity(o)
	if k == nil {
		return constant(o), nil
	}
	for _, c := range tr.effects.Calls() {
		if c.Result == o {
			d, l := tr.d, p.call(c.Result)
			return func(r *rebuild) (vm.Object, error) {
				err := d.runLog(l, r)
				return r.made[l.result], err
			}, nil
		}
	}
	if it, ok := o.(*replayIter); ok && tr.world.sources[k] != nil {
		return p.iterator(it, tr.world.sources[k]), nil
	}
	if src := tr.world.sources[k]; src != nil {
		return func(r *rebuild) (vm.Object, error) { return src.Get(r.env) }, nil
	}
	return p.anew(o)
}

// anew plans an object without a source. What can be written is made in every run, or the runs would share it; everything else, modules
// and classes among it, is taken as it is.
func (p *planner) anew(o vm.Object) (recipe, error) {
	tr, in := p.tr, p.tr.in
	if _, err := p.asConstant(o, nil); err != nil {
		return nil, err
	}
	switch v := o.(type) {
	case *vm.List:
		return p.shared(o, v.Items, func() (vm.Object, filler) {
			l := vm.NewList()
			return l, func(items []vm.Object) { l.Items = items }
		})
	case *vm.Tuple:
		if !p.mutable(v.Items) {
			return constant(o), nil
		}
		return p.shared(o, v.Items, func() (vm.Object, filler) {
			t := &vm.Tuple{}
			return t, func(items []vm.Object) { t.Items = items }
		})
	case *vm.Dict:
		return p.shared(o, effects.Pairs(v), func() (vm.Object, filler) {
			d := vm.NewDict()
			return d, func(items []vm.Object) {
				for i := 0; i+1 < len(items); i += 2 {
					_ = d.Set(in, items[i], items[i+1]) // the keys were hashable before
				}
			}
		})
	case *vm.Slice:
		return p.shared(o, []vm.Object{v.Start, v.Stop, v.Step}, func() (vm.Object, filler) {
			s := &vm.Slice{}
			return s, func(it []vm.Object) { s.Start, s.Stop, s.Step = it[0], it[1], it[2] }
		})
	case *vm.BoundMethod:
		return p.shared(o, []vm.Object{v.Func, v.Self}, func() (vm.Object, filler) {
			m := &vm.BoundMethod{}
			return m, func(it []vm.Object) { m.Func, m.Self = it[0], it[1] }
		})
	case *vm.Cell:
		return p.cell(v)
	case *vm.Function:
		if len(v.Closure) == 0 || !tr.world.made[v] {
			return constant(o), nil
		}
		// A function that the trace made: its cells hold values of this run.
		cells := make([]vm.Object, len(v.Closure))
		for i, c := range v.Closure {
			cells[i] = c
		}
		bare := *v
		bare.Closure = nil
		return p.shared(o, cells, func() (vm.Object, filler) {
			f := bare
			return &f, func(it []vm.Object) {
				f.Closure = make([]*vm.Cell, len(it))
				for i, c := range it {
					f.Closure[i] = c.(*vm.Cell)
				}
			}
		})
	case *vm.Instance:
		if isEnumMember(v) {
			return constant(o), nil // there is one of it
		}
		if _, ok := v.Native.(vm.Object); !ok && (v.Native != nil || v.Dict == nil && len(v.Slots) == 0) {
			return constant(o), nil
		}
		return p.instance(v)
	}
	if d, of, ok := vm.ViewOf(o); ok {
		return p.view(o, d, of)
	}
	// On the stack an iterator is a loop's, which PyTorch goes on with over a tuple of what is left.
	if r, ok := replayable(o).(*replayIter); ok && (p.onStack || o.Type() != vm.ZipType) {
		return p.madeIterator(o, r)
	}
	return p.reduced(o)
}

// asConstant looks whether a container is one constant, as PyTorch's capture does before it makes one anew. It looks at the items in order, up to the first
// that is none: a tensor there that came from outside is an input, and guarded. around are the containers that o was found in.
func (p *planner) asConstant(o vm.Object, around []vm.Object) (constant bool, err error) {
	if guard.Constant(o) {
		return true, nil
	}
	src := p.tr.world.sourceOf(o)
	if t, ok := o.(*torch.Tensor); ok {
		if src != nil && !standsIn(t.T) {
			err = p.tr.standIns.useValue(t)
		}
		return false, err
	}
	if src != nil {
		return p.lookInto(o, src)
	}
	parts := items(o)
	if d, ok := o.(*vm.Dict); ok {
		parts = d.Values()
	}
	if parts == nil || slices.Contains(around, o) {
		return false, nil
	}
	around = append(slices.Clone(around), o)
	for _, x := range parts {
		if constant, err = p.asConstant(x, around); !constant || err != nil {
			return false, err
		}
	}
	return true, nil
}

// untouched passes a local variable on as it came in, whether or not the trace looked at it.
func (p *planner) untouched(src source.Source) recipe {
	return func(r *rebuild) (vm.Object, error) { return src.Get(r.env) }
}

// constant gives o itself, in every run.
func constant(o vm.Object) recipe { return func(*rebuild) (vm.Object, error) { return o, nil } }

// mutable reports whether a tuple holds anything but plain constants.
func (p *planner) mutable(items []vm.Object) bool {
	for _, x := range items {
		switch v := x.(type) {
		case *vm.Tuple:
			if p.mutable(v.Items) {
				return true
			}
		default:
			if source.Identity(x) != nil {
				return true
			}
		}
	}
	return false
}

// filler puts the parts into an object that was made empty.
type filler func(parts []vm.Object)

// shared plans an object with parts; within one rebuild it is made once, before its parts, which may refer to it.
func (p *planner) shared(o vm.Object, parts []vm.Object, mk func() (vm.Object, filler)) (recipe, error) {
	if r := p.memo[o]; r != nil {
		return func(b *rebuild) (vm.Object, error) { return (*r)(b) }, nil
	}
	var again recipe
	p.memo[o] = &again // before the parts are planned: they may lead back here
	rs, err := p.values(parts)
	if err != nil {
		return nil, err
	}
	again = madeOnce(p.part(o), &rs, mk)
	return again, nil
}

// madeOnce makes an object once within a rebuild, before its parts, of which rs are the recipes by then.
func madeOnce(key part, rs *[]recipe, mk func() (vm.Object, filler)) recipe {
	return func(r *rebuild) (vm.Object, error) {
		if x := r.made[key]; x != nil {
			return x, nil
		}
		x, fill := mk()
		r.made[key] = x
		items, err := r.all(*rs)
		if err != nil {
			return nil, err
		}
		fill(items)
		return x, nil
	}
}

// sharedLater is shared for an object whose parts are planned with the effects of the trace: what compiled code gives back of them comes last.
func (p *planner) sharedLater(o vm.Object, parts []vm.Object, mk func() (vm.Object, filler)) (recipe, error) {
	if r := p.memo[o]; r != nil {
		return func(b *rebuild) (vm.Object, error) { return (*r)(b) }, nil
	}
	var rs []recipe
	again := madeOnce(p.part(o), &rs, mk)
	p.memo[o] = &again
	p.unwritten = append(p.unwritten, func() (err error) {
		rs, err = p.lastToFirst(parts)
		return err
	})
	return again, nil
}

// lastToFirst is values, planned from the last to the first, as PyTorch writes the attributes of an object.
func (p *planner) lastToFirst(os []vm.Object) ([]recipe, error) {
	out := make([]recipe, len(os))
	for i := len(os) - 1; i >= 0; i-- {
		r, err := p.value(os[i])
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

// writes plans what was put off; that may put off more.
func (p *planner) writes() error {
	for len(p.unwritten) > 0 {
		plan := p.unwritten[0]
		p.unwritten = p.unwritten[1:]
		if err := plan(); err != nil {
			return err
		}
	}
	return nil
}

// cell plans a cell that the trace made. One that holds an argument as it came in takes it from there: nothing guards what was
// not looked at.
func (p *planner) cell(c *vm.Cell) (recipe, error) {
	mk := func() (vm.Object, filler) {
		n := &vm.Cell{}
		return n, func(it []vm.Object) { n.V = it[0] }
	}
	if !p.tr.effects.Saved(c) {
		if src := p.tr.bindings.argumentOf(c); src != nil {
			key := p.part(c)
			return func(r *rebuild) (vm.Object, error) {
				if x := r.made[key]; x != nil {
					return x, nil
				}
				v, err := src.Get(r.env)
				if err != nil {
					return nil, err
				}
				n := &vm.Cell{V: v}
				r.made[key] = n
				return n, nil
			}, nil
		}
	}
	return p.sharedLater(c, []vm.Object{c.V}, mk)
}

// instance plans an object of a Python class made during the trace: its class, its attributes, its slots and, if the class derives from a
// builtin one, what it is of that.
func (p *planner) instance(v *vm.Instance) (recipe, error) {
	native, derives := v.Native.(vm.Object)
	parts := slices.Clone(v.Slots)
	if derives {
		parts = append(parts, native)
	}
	in, own, slots, class, hasDict := p.tr.in, len(parts), len(v.Slots), v.Class, v.Dict != nil
	if v.Dict != nil {
		parts = append(parts, effects.Pairs(v.Dict)...)
	}
	shared := p.shared
	if !derives && slots == 0 {
		shared = p.sharedLater
	}
	return shared(v, parts, func() (vm.Object, filler) {
		x := &vm.Instance{Class: class}
		if hasDict {
			x.Dict = vm.NewDict()
		}
		return x, func(items []vm.Object) {
			x.Slots = items[:slots:slots]
			if derives {
				x.Native = items[own-1]
			}
			for i := own; i+1 < len(items); i += 2 {
				_ = x.Dict.Set(in, items[i], items[i+1]) // the keys were hashable before
			}
		}
	})
}

// values plans each of os.
func (p *planner) values(os []vm.Object) ([]recipe, error) {
	out := make([]recipe, len(os))
	for i, o := range os {
		r, err := p.value(o)
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

// all evaluates recipes in order; nil ones give nil.
func (r *rebuild) all(rs []recipe) ([]vm.Object, error) {
	out := make([]vm.Object, len(rs))
	for i, f := range rs {
		if f == nil {
			continue
		}
		o, err := f(r)
		if err != nil {
			return nil, err
		}
		out[i] = o
	}
	return out, nil
}

// tensor plans a tensor: one from outside is read from its source, one of the trace is a graph output.
func (p *planner) tensor(t *torch.Tensor) (recipe, error) {
	tr := p.tr
	if np, ok := tr.world.sources[t].(source.Numpy); ok {
		return func(r *rebuild) (vm.Object, error) { return np.Base.Get(r.env) }, nil
	}
	if tr.d.ctx.Export != nil && !standsIn(t.T) && tr.world.sources[t] != nil {
		f, err := tr.standIns.fake(t) // an exported graph gives back all that the program gives back
		if err != nil {
			return nil, err
		}
		return p.output(t, f), nil
	}
	if f := tr.standIns.fakes[t.T]; f != nil && p.given[f] { // it came in, and goes out with the others: see lastFirst
		i := p.idx[f]
		return func(r *rebuild) (vm.Object, error) { return r.outs[i], nil }, nil
	}
	if !standsIn(t.T) {
		if src := tr.world.sources[t]; src != nil {
			return func(r *rebuild) (vm.Object, error) { return src.Get(r.env) }, nil
		}
		return constant(t), nil
	}
	if real := tr.standIns.reals[t.T]; real != nil && tr.d.ctx.Export == nil {
		return p.tensor(real)
	}
	if src := tr.standIns.viaAttr[t.T]; src != nil {
		return func(r *rebuild) (vm.Object, error) { return src.Get(r.env) }, nil
	}
	if tr.out.nodes[t.T] == nil {
		return nil, unsupported(breaks.NoNode)
	}
	return p.output(t, t.T), nil
}

// output plans a tensor of the trace that the graph gives back as x.
func (p *planner) output(t *torch.Tensor, x *tensor.Tensor) recipe {
	i, ok := p.idx[x]
	if !ok {
		i = len(p.outs)
		p.idx[x] = i
		p.outs = append(p.outs, x)
	}
	lib := p.tr.t
	cls, attrs, isFace := t.Type(), t.AttrDict(false) != nil, lib.IsFace(t)
	return func(r *rebuild) (vm.Object, error) {
		o := r.outs[i]
		if x, ok := o.(*torch.Tensor); ok && isFace {
			return lib.ToArray(x)
		}
		if x, ok := o.(*torch.Tensor); ok && (cls != lib.TensorType || attrs) && x.Type() != cls {
			return lib.WrapAs(x.T, cls), nil
		}
		return o, nil
	}
}

// lastFirst fixes the order of the graph's outputs at a break where nothing but tensors is left: PyTorch gives them back from
// the last to the first, so that unpacking them restores the stack. Tensors that came in and lie elsewhere now become inputs for that.
func (p *planner) lastFirst(f *vm.Frame, pc int) error {
	tr := p.tr
	if tr.effects.Changed() || len(tr.effects.Calls()) > 0 {
		return nil
	}
	if op := f.Code.Instrs[pc].Op; op == code.JUMP_IF_FALSE_OR_POP || op == code.JUMP_IF_TRUE_OR_POP {
		return nil // the stack of Python 3.12 and later, on which PyTorch was recorded, has the value twice here
	}
	values := append([]vm.Object(nil), f.Stack[:f.SP]...)
	live := resume.Live(f.Code.Code, pc)
	for i, v := range f.LocalsPlus {
		if v == nil || !live[i] && i < len(f.Code.VarNames) || tr.env.Locals[f.Code.LocalsPlusName(i)] == v {
			continue
		}
		values = append(values, v)
	}
	for _, v := range values {
		if t, ok := v.(*torch.Tensor); !ok || tr.t.IsFace(t) || !standsIn(t.T) && tr.world.sources[t] == nil {
			return nil
		}
	}
	var all []*tensor.Tensor
	seen := map[*tensor.Tensor]bool{}
	for _, v := range values {
		x, err := tr.standIns.fake(v.(*torch.Tensor))
		if err != nil {
			return err
		}
		if seen[x] || tr.out.nodes[x] == nil {
			return nil
		}
		seen[x] = true
		all = append(all, x)
	}
	for i := len(all) - 1; i >= 0; i-- {
		p.idx[all[i]] = len(p.outs)
		p.outs = append(p.outs, all[i])
	}
	p.given = seen
	return nil
}

// passedOn plans a lone result that came in as it is: the graph gives it back, as PyTorch's graphs do.
func (p *planner) passedOn(t *torch.Tensor, otherwise recipe) (recipe, error) {
	f := t.T
	if p.tr.t.IsFace(t) {
		return otherwise, nil
	}
	if !standsIn(f) {
		if p.tr.world.sources[t] == nil {
			return otherwise, nil
		}
		var err error
		if f, err = p.tr.standIns.fake(t); err != nil {
			return nil, err
		}
	}
	if p.tr.out.nodes[f] == nil {
		return otherwise, nil
	}
	p.idx[f] = len(p.outs)
	p.outs = append(p.outs, f)
	return otherwise, nil
}

// sideEffects plans what compiled code has to change in objects that existed before.
func (p *planner) sideEffects() ([]effect, error) {
	var out []effect
	for _, c := range p.cellsFirst(p.tr.effects.Changes()) {
		plan := p.objectEffect
		if c.Object == nil {
			plan = p.globalEffect
		}
		e, err := plan(c)
		if err != nil {
			return nil, err
		}
		if e != nil {
			out = append(out, *e)
		}
	}
	return out, nil
}

// cellsFirst puts the changes of the compiled function's closure before all others, in the order of its free variables: PyTorch's capture knows these cells
// from the start.
func (p *planner) cellsFirst(cs []effects.Change) []effects.Change {
	place := map[vm.Object]int{}
	if f := p.tr.root.Func; f != nil {
		for i, c := range f.Closure {
			place[c] = i - len(f.Closure)
		}
	}
	slices.SortStableFunc(cs, func(a, b effects.Change) int { return place[a.Object] - place[b.Object] })
	return cs
}

// objectEffect plans the new contents of an object; nil when it holds what it held.
func (p *planner) objectEffect(c effects.Change) (*effect, error) {
	tr, o := p.tr, c.Object
	now := effects.Contents(o)
	e := &effect{source: tr.world.sources[o]}
	if e.source == nil {
		e.object = o
	}
	switch v := o.(type) {
	case *vm.Dict:
		e.entries = true
	case *vm.Cell:
		if tr.bindings.ownCell(v) {
			return nil, nil // whatever outlives the frame and holds it is planned with its contents
		}
		e.cell = true
	case *vm.Instance:
		if v.Dict == nil && len(v.Slots) == 0 {
			return nil, nil
		}
		e.entries = true
	}
	if effects.SameItems(now, c.Before) {
		return nil, nil
	}
	if e.entries {
		e.drop, now = effects.Entries(c.Before, now)
	}
	if d, ok := o.(*vm.Dict); ok && e.source != nil {
		if err := p.lookAtEntries(d, e.source, c.Before); err != nil {
			return nil, err
		}
	}
	switch o.(type) {
	case *vm.List, effects.Sequence:
		if err := p.lookAtRest(o, now, e.source, c.Before); err != nil {
			return nil, err
		}
		e.old = tr.keptItems(c.Before, now)
	}
	if i, attributes := o.(*vm.Instance); attributes {
		var err error
		now = tr.effects.AsStored(i, now)
		e.items, err = p.lastToFirst(now)
		return e, err
	}
	e.items = make([]recipe, len(now))
	for i, x := range now {
		if e.old != nil && e.old[i] >= 0 {
			continue
		}
		var err error
		if e.items[i], err = p.value(x); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// lookAtRest guards the items of a list or a deque from outside that PyTorch's capture looks at when the trace has changed it: it is written back as a
// whole, and asked first whether it is one constant. What ends that is the first item that is none, if it came from outside.
func (p *planner) lookAtRest(l vm.Object, now []vm.Object, src source.Source, before []vm.Object) error {
	if src == nil {
		return nil
	}
	seen := map[int]bool{} // where before was looked at
	for i, x := range now {
		at := i
		if i >= len(before) || before[i] != x {
			at = slices.Index(before, x)
		}
		constant := guard.Constant(x)
		if at >= 0 {
			seen[at] = true
			var err error
			if constant, err = p.lookAt(l, src, vm.MakeInt(int64(at)), x, at == i); err != nil {
				return err
			}
		}
		if !constant {
			break
		}
	}
	for i, x := range before {
		if !seen[i] && slices.Contains(now, x) {
			p.seeEqual(l, src, vm.MakeInt(int64(i)), x)
		}
	}
	return nil
}

// seeEqual guards a constant that a changed container from outside held, and holds, though PyTorch does not: nothing says whether it is the one that was
// there, or another of its value.
func (p *planner) seeEqual(of vm.Object, src source.Source, key, x vm.Object) {
	if guard.Constant(x) {
		p.tr.guards.Covertly(func() { p.tr.world.seeItem(of, src, key, x) })
	}
}

// lookAtEntries is lookAtRest for a dict.
func (p *planner) lookAtEntries(d *vm.Dict, src source.Source, before []vm.Object) (err error) {
	if p.tr.world.attributesOf(d) != nil {
		return nil
	}
	was := map[vm.Object]vm.Object{}
	for i := 0; i+1 < len(before); i += 2 {
		was[before[i]] = before[i+1]
	}
	whole := true // so far
	d.Each(func(k, x vm.Object) bool {
		switch held := was[k] == x; {
		case held && whole:
			whole, err = p.lookAt(d, src, k, x, true)
		case held:
			p.seeEqual(d, src, k, x)
		default:
			whole = whole && guard.Constant(x)
		}
		return err == nil
	})
	return err
}

// lookAt guards what a container from outside holds under a key, and reports whether it is a constant. A number that changed between calls may become a
// symbol, if the container still holds it there.
func (p *planner) lookAt(of vm.Object, src source.Source, key, x vm.Object, stayed bool) (constant bool, err error) {
	see := func() { p.tr.world.seeItem(of, src, key, x) }
	if stayed && p.tr.world.swapping(see) != nil {
		return false, nil
	} else if !stayed {
		see()
	}
	if guard.Constant(x) {
		p.tr.world.seeItems(x)
		return true, nil
	}
	if _, isTensor := x.(*torch.Tensor); isTensor {
		return false, p.tr.standIns.useValue(x)
	}
	if at := p.tr.world.sourceOf(x); at != nil {
		return p.lookInto(x, at)
	}
	return false, nil
}

// lookInto is lookAt for the items of a list, a tuple or a dict that came from outside.
func (p *planner) lookInto(o vm.Object, src source.Source) (constant bool, err error) {
	if p.looked[o] {
		return false, nil
	}
	p.looked[o] = true
	constant = items(o) != nil
	for i, x := range items(o) {
		if constant, err = p.lookAt(o, src, vm.MakeInt(int64(i)), x, true); !constant || err != nil {
			return false, err
		}
	}
	if d, ok := o.(*vm.Dict); ok && p.tr.world.attributesOf(d) == nil {
		constant = true
		d.Each(func(k, x vm.Object) bool {
			constant, err = p.lookAt(o, src, k, x, true)
			return constant && err == nil
		})
	}
	return constant, err
}

// keptItems finds for each item of a list where it stood before, -1 if nowhere or if the trace knows another way to it. Constants
// count only where they stayed in place: what they are worth elsewhere was guarded.
func (tr *tracer) keptItems(before, now []vm.Object) []int {
	at := map[vm.Object]int{}
	for i, x := range before {
		if k := source.Identity(x); k != nil {
			at[k] = i
		}
	}
	out := make([]int, len(now))
	for i, x := range now {
		out[i] = -1
		if k := source.Identity(x); k == nil {
			if i < len(before) && before[i] == x {
				out[i] = i
			}
		} else if j, ok := at[k]; ok && tr.world.sources[k] == nil {
			out[i] = j
		}
	}
	return out
}

// apply writes an effect into its object.
func (ef *effect) apply(in *vm.Interp, target vm.Object, items []vm.Object) {
	if ef.old != nil {
		there := effects.Contents(target)
		for i, j := range ef.old {
			if j >= 0 && j < len(there) {
				items[i] = there[j]
			}
		}
	}
	if !ef.entries {
		effects.Replace(in, target, items)
		return
	}
	if i, isInstance := target.(*vm.Instance); isInstance {
		effects.Assign(in, i, ef.drop, items)
		return
	}
	d, ok := target.(*vm.Dict)
	if !ok {
		return
	}
	for _, k := range ef.drop {
		_, _ = d.Del(in, k) // the keys were hashable before
	}
	for i := 0; i+1 < len(items); i += 2 {
		_ = d.Set(in, items[i], items[i+1])
	}
}

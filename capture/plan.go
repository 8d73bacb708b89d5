package capture

import (
	"fmt"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// recipe rebuilds one Python value when compiled code runs.
type recipe func(r *rebuild) (vm.Object, error)

// rebuild is one evaluation of a plan: graph outputs and sources are at hand, and shared objects are built once.
type rebuild struct {
	env  *env
	outs []vm.Object
	made map[vm.Object]vm.Object
}

// effect writes new contents into an object that existed before.
type effect struct {
	source Source
	object vm.Object // used when the object has no source of its own (a table inside an instance)
	cell   bool
	items  []recipe
	global string // object is a dict of globals, of which this one is assigned
}

// plan is what compiled code does after its graph has run.
type plan struct {
	result  recipe
	effects []effect
	logs    []logPlan // calls that were put off
	// A plan that breaks goes on behind the instruction at pc.
	breaks bool
	pc     int
	locals []recipe // per slot of the frame; nil => unbound
	stack  []recipe
	grad   bool // grad mode at the break
	// autocast is the autocast state there.
	autocast torch.Autocast
}

// planner makes recipes, collecting the tensors that the graph has to give back.
type planner struct {
	tr   *tracer
	outs []*tensor.Tensor
	idx  map[*tensor.Tensor]int
	memo map[vm.Object]bool // being planned: cycles

	given map[*tensor.Tensor]bool // outputs of the graph even where they came in

	scalars map[*fx.Node]*tensor.Tensor // unknown numbers that the graph gives back
}

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
	k := keyOf(o)
	if k == nil {
		return constant(o), nil
	}
	if it, ok := o.(*replayIter); ok && tr.sources[k] != nil {
		return p.iterator(it, tr.sources[k]), nil
	}
	if src := tr.sources[k]; src != nil {
		return func(r *rebuild) (vm.Object, error) { return src.Get(r.env) }, nil
	}
	switch v := o.(type) {
	case *vm.List:
		return p.shared(o, v.Items, func(items []vm.Object) vm.Object { return vm.NewList(items...) })
	case *vm.Tuple:
		if !p.mutable(v.Items) {
			return constant(o), nil
		}
		return p.shared(o, v.Items, func(items []vm.Object) vm.Object { return vm.NewTuple(items...) })
	case *vm.Dict:
		return p.shared(o, pairs(v), func(items []vm.Object) vm.Object {
			d := vm.NewDict()
			for i := 0; i+1 < len(items); i += 2 {
				_ = d.Set(tr.in, items[i], items[i+1]) // the keys were hashable before
			}
			return d
		})
	case *vm.Slice:
		return p.shared(o, []vm.Object{v.Start, v.Stop, v.Step}, func(it []vm.Object) vm.Object { return &vm.Slice{Start: it[0], Stop: it[1], Step: it[2]} })
	case *vm.BoundMethod:
		return p.shared(o, []vm.Object{v.Func, v.Self}, func(it []vm.Object) vm.Object { return &vm.BoundMethod{Func: it[0], Self: it[1]} })
	case *vm.Cell:
		return p.shared(o, []vm.Object{v.V}, func(it []vm.Object) vm.Object { return &vm.Cell{V: it[0]} })
	case *vm.Function:
		if len(v.Closure) == 0 || !tr.made[v] {
			return constant(o), nil
		}
		cells := make([]vm.Object, len(v.Closure))
		for i, c := range v.Closure {
			cells[i] = c
		}
		return p.shared(o, cells, func(it []vm.Object) vm.Object {
			f := *v
			f.Closure = make([]*vm.Cell, len(it))
			for i, c := range it {
				f.Closure[i] = c.(*vm.Cell)
			}
			return &f
		})
	case *vm.Instance:
		if n, ok := v.Native.(vm.Object); ok {
			native, err := p.value(n)
			if err != nil {
				return nil, err
			}
			return func(r *rebuild) (vm.Object, error) {
				x, err := native(r)
				if err != nil {
					return nil, err
				}
				return &vm.Instance{Class: v.Class, Dict: v.Dict, Slots: v.Slots, Native: x}, nil
			}, nil
		}
		if v.Native != nil || v.Dict == nil {
			return constant(o), nil
		}
		return p.instance(v)
	}
	// Everything else (modules, classes, iterators made inside) is taken as it is.
	return constant(o), nil
}

// untouched passes a local variable on as it came in, whether or not the trace looked at it.
func (p *planner) untouched(src Source) recipe {
	return func(r *rebuild) (vm.Object, error) { return src.Get(r.env) }
}

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
			if keyOf(x) != nil {
				return true
			}
		}
	}
	return false
}

// shared plans an object with parts; within one rebuild it is made once.
func (p *planner) shared(o vm.Object, parts []vm.Object, mk func(items []vm.Object) vm.Object) (recipe, error) {
	if p.memo[o] {
		return func(r *rebuild) (vm.Object, error) {
			if x := r.made[o]; x != nil {
				return x, nil
			}
			return nil, fmt.Errorf("a value made inside compiled code contains itself")
		}, nil
	}
	p.memo[o] = true
	rs, err := p.values(parts)
	if err != nil {
		return nil, err
	}
	return func(r *rebuild) (vm.Object, error) {
		if x := r.made[o]; x != nil {
			return x, nil
		}
		items, err := r.all(rs)
		if err != nil {
			return nil, err
		}
		x := mk(items)
		r.made[o] = x
		return x, nil
	}, nil
}

// instance plans an object of a Python class made during the trace: its class and its attributes.
func (p *planner) instance(v *vm.Instance) (recipe, error) {
	if p.memo[v] {
		return func(r *rebuild) (vm.Object, error) { return r.made[v], nil }, nil
	}
	p.memo[v] = true
	rs, err := p.values(pairs(v.Dict))
	if err != nil {
		return nil, err
	}
	return func(r *rebuild) (vm.Object, error) {
		if x := r.made[v]; x != nil {
			return x, nil
		}
		x := &vm.Instance{Class: v.Class, Dict: vm.NewDict(), Slots: append([]vm.Object(nil), v.Slots...)}
		r.made[v] = x
		items, err := r.all(rs)
		if err != nil {
			return nil, err
		}
		for i := 0; i+1 < len(items); i += 2 {
			if err := x.Dict.Set(r.env.in, items[i], items[i+1]); err != nil {
				return nil, err
			}
		}
		return x, nil
	}, nil
}

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

func (r *rebuild) all(rs []recipe) ([]vm.Object, error) {
	out := make([]vm.Object, len(rs))
	for i, f := range rs {
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
	if f := tr.fakes[t.T]; f != nil && p.given[f] {
		i := p.idx[f]
		return func(r *rebuild) (vm.Object, error) { return r.outs[i], nil }, nil
	}
	if !t.T.Fake {
		if src := tr.sources[t]; src != nil {
			return func(r *rebuild) (vm.Object, error) { return src.Get(r.env) }, nil
		}
		return constant(t), nil
	}
	if real := tr.reals[t.T]; real != nil {
		return p.tensor(real)
	}
	if src := tr.viaAttr[t.T]; src != nil {
		return func(r *rebuild) (vm.Object, error) { return src.Get(r.env) }, nil
	}
	if tr.nodes[t.T] == nil {
		return nil, &Unsupported{Reason: "a tensor without a node", NoBreak: true}
	}
	i, ok := p.idx[t.T]
	if !ok {
		i = len(p.outs)
		p.idx[t.T] = i
		p.outs = append(p.outs, t.T)
	}
	cls, attrs := t.Type(), t.AttrDict(false)
	return func(r *rebuild) (vm.Object, error) {
		o := r.outs[i]
		if x, ok := o.(*torch.Tensor); ok && (cls != tr.t.TensorType || attrs != nil) && x.Type() != cls {
			return tr.t.WrapAs(x.T, cls), nil
		}
		return o, nil
	}, nil
}

// lastFirst fixes the order of the graph's outputs at a break where nothing but tensors is left: PyTorch gives them back from
// the last to the first, so that unpacking them restores the stack.
func (p *planner) lastFirst(f *vm.Frame, pc int) error {
	tr := p.tr
	if tr.changed() || len(tr.logs) > 0 {
		return nil
	}
	values := append([]vm.Object(nil), f.Stack[:f.SP]...)
	live := liveLocals(f.Code.Code, pc)
	for i, v := range f.LocalsPlus {
		if v == nil || !live[i] && i < len(f.Code.VarNames) || tr.env.locals[f.Code.LocalsPlusName(i)] == v {
			continue
		}
		values = append(values, v)
	}
	var all []*tensor.Tensor
	seen := map[*tensor.Tensor]bool{}
	for _, v := range values {
		t, ok := v.(*torch.Tensor)
		if !ok {
			return nil
		}
		x := t.T
		if f := tr.fakes[x]; f != nil {
			x = f
		}
		if seen[x] || tr.nodes[x] == nil {
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

// changed reports whether the trace changed anything that was there before.
func (tr *tracer) changed() bool {
	for _, o := range tr.savedOrder {
		if _, ok := o.(*globalWrite); ok {
			return true
		}
		if !sameItems(contentsOf(o), tr.saved[o].items) {
			return true
		}
	}
	return false
}

// contentsOf is what a snapshot of o would hold now.
func contentsOf(o vm.Object) []vm.Object {
	switch v := o.(type) {
	case *vm.List:
		return v.Items
	case *vm.Dict:
		return pairs(v)
	case *vm.Cell:
		return []vm.Object{v.V}
	case *vm.Instance:
		if v.Dict != nil {
			return pairs(v.Dict)
		}
	}
	return nil
}

// passedOn plans a lone result that came in as it is: the graph gives it back, as PyTorch's graphs do.
func (p *planner) passedOn(t *torch.Tensor, otherwise recipe) (recipe, error) {
	f := t.T
	if !f.Fake {
		if p.tr.sources[t] == nil {
			return otherwise, nil
		}
		var err error
		if f, err = p.tr.fake(t); err != nil {
			return nil, err
		}
	}
	if p.tr.nodes[f] == nil {
		return otherwise, nil
	}
	p.idx[f] = len(p.outs)
	p.outs = append(p.outs, f)
	return otherwise, nil
}

// sideEffects finds what the trace changed in objects that existed before, and puts the old contents back.
func (p *planner) sideEffects() ([]effect, error) {
	tr := p.tr
	var out []effect
	for _, o := range tr.savedOrder {
		if w, ok := o.(*globalWrite); ok {
			e, err := p.globalEffect(w)
			if err != nil {
				return nil, err
			}
			if e != nil {
				out = append(out, *e)
			}
			continue
		}
		s := tr.saved[o]
		var now []vm.Object
		e := effect{source: tr.sources[o], object: o}
		switch v := o.(type) {
		case *vm.List:
			now = v.Items
		case *vm.Dict:
			now = pairs(v)
		case *vm.Cell:
			now, e.cell = []vm.Object{v.V}, true
		case *vm.Instance:
			if v.Dict == nil {
				continue
			}
			now = pairs(v.Dict)
		}
		if sameItems(now, s.items) {
			continue
		}
		if l, ok := o.(*vm.List); ok && e.source != nil {
			for i, x := range s.items { // what is written back is what was there: its constants are looked at
				if _, isTensor := x.(*torch.Tensor); (isTensor || keyOf(x) == nil) && i < len(l.Items) && l.Items[i] == x {
					tr.seeItem(l, e.source, vm.MakeInt(int64(i)), x)
					if err := tr.useValue(x); err != nil {
						return nil, err
					}
				}
			}
		}
		rs, err := p.values(now)
		if err != nil {
			return nil, err
		}
		e.items = rs
		out = append(out, e)
	}
	return out, nil
}

// restore undoes all writes of the trace.
func (tr *tracer) restore() {
	tr.restoreGlobals()
	for o, s := range tr.saved {
		put(tr.in, o, s.items, s.dict == nil)
	}
}

func sameItems(a, b []vm.Object) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// put replaces an object's contents.
func put(in *vm.Interp, o vm.Object, items []vm.Object, noDict bool) {
	fill := func(d *vm.Dict) {
		if sameItems(pairs(d), items) {
			return
		}
		d.Clear()
		for i := 0; i+1 < len(items); i += 2 {
			_ = d.Set(in, items[i], items[i+1]) // keys of a dict are hashable
		}
	}
	switch v := o.(type) {
	case *vm.List:
		v.Items = append(v.Items[:0:0], items...)
	case *vm.Dict:
		fill(v)
	case *vm.Cell:
		v.V = items[0]
	case *vm.Instance:
		if v.Dict == nil {
			if len(items) == 0 {
				return
			}
			v.Dict = vm.NewDict()
		}
		fill(v.Dict)
	}
}

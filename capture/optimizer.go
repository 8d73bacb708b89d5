package capture

import (
	"fmt"
	"slices"

	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// optimizerInputs makes the tensors of an optimizer inputs of the graph, in the order in which PyTorch comes across them at
// its _init_group(group): what is in its groups; the state of the first parameter of each group that is not the first to have
// any; then, for the group at hand, the gradients, and the states of its parameters list by list.
func (tr *tracer) optimizerInputs(callable vm.Object, args []vm.Object) error {
	self := vm.Object(nil)
	if m, ok := callable.(*vm.BoundMethod); ok {
		self = m.Self
	} else if len(args) > 0 {
		self, args = args[0], args[1:]
	}
	opt, ok := self.(*vm.Instance)
	if !ok || len(args) != 1 || tr.world.sources[opt] == nil {
		return nil
	}
	if !isA(opt.Class, "torch.optim.optimizer", "Optimizer") {
		return nil
	}
	found, err := tr.optimizerTensors(opt, args[0])
	if err != nil {
		return err
	}
	for _, f := range found {
		switch v := f.t.(type) {
		case *torch.Tensor:
			tr.world.see(v, f.src)
		case *vm.Dict: // what it holds is found when it is used
			if tr.world.sources[v] == nil {
				tr.world.sources[v] = f.src
				tr.world.order = append(tr.world.order, v)
			}
			tr.world.save(v)
			continue
		default:
			if s, ok := tr.symbols.lifted(v, f.src).(*torch.Scalar); ok {
				tr.out.exprNode(s.Expr)
			}
			continue
		}
		if err := tr.standIns.useValue(f.t); err != nil {
			return err
		}
	}
	return nil
}

// foundTensor is a tensor, a number that may become a symbol, or the state of a parameter, with the way to it.
type foundTensor struct {
	t   vm.Object
	src source.Source
}

// optimizerTensors lists the tensors of an optimizer for optimizerInputs. It reads them as plain Python does: reading is no part of the
// trace.
func (tr *tracer) optimizerTensors(opt *vm.Instance, group vm.Object) ([]foundTensor, error) {
	w := &optimizerWalk{in: tr.in, base: tr.world.sources[opt], index: map[vm.Object]int{}}
	_, err := tr.outside(func() (vm.Object, error) {
		ok, err := w.read(opt)
		if !ok || err != nil {
			return nil, err
		}
		w.walkGroups()
		if err := w.walkStates(); err != nil {
			return nil, err
		}
		for gi, g := range w.groups {
			if g == group {
				if err := w.walkGradients(gi); err != nil {
					return nil, err
				}
			}
		}
		return nil, nil
	})
	return w.found, err
}

// optimizerWalk goes through the parts of an optimizer in three passes, each of which adds to found.
type optimizerWalk struct {
	in     *vm.Interp
	base   source.Source     // of the optimizer
	groups []vm.Object       // param_groups
	states *vm.Dict          // state: what is kept of each parameter
	index  map[vm.Object]int // of a parameter in states
	lists  []vm.Object       // the keys of a parameter's state, in the order in which _init_group makes lists of them
	found  []foundTensor
}

// read finds the parts; ok is false for an optimizer that has not all of them.
func (w *optimizerWalk) read(opt *vm.Instance) (ok bool, err error) {
	g, err := w.in.GetAttr(opt, "param_groups")
	if err != nil {
		return false, err
	}
	s, err := w.in.GetAttr(opt, "state")
	if err != nil {
		return false, err
	}
	order, err := w.in.GetAttr(opt, "_state_lists")
	if err != nil {
		return false, err
	}
	groups, hasGroups := vm.AsList(g)
	states, hasStates := vm.AsDict(s)
	if !hasGroups || !hasStates {
		return false, nil
	}
	w.groups, w.states = groups.Items, states
	if lists, ok := vm.AsTuple(order); ok {
		w.lists = lists.Items
	}
	for i, k := range states.Keys() {
		w.index[k] = i
	}
	return true, nil
}

// walkGroups adds what is in the groups: the parameters, and settings that are tensors or numbers.
func (w *optimizerWalk) walkGroups() {
	for gi, g := range w.groups {
		d, ok := vm.AsDict(g)
		if !ok {
			continue
		}
		keys, vals := d.Keys(), d.Values()
		for k, v := range vals {
			name, _ := vm.AsStr(keys[k])
			if l, ok := vm.AsList(v); ok && name == "params" {
				for pi, p := range l.Items {
					w.add(p, w.paramSource(gi, pi))
				}
				continue
			}
			w.add(v, partOf(w.groupSource(gi), keys[k]))
		}
	}
}

// walkStates adds the state of the first parameter of each group that has any, but for the one that stands first in the optimizer's.
func (w *optimizerWalk) walkStates() error {
	for gi, g := range w.groups {
		for pi, p := range params(g) {
			d, src, err := w.stateOf(p, w.paramSource(gi, pi))
			if err != nil {
				return err
			}
			if d == nil || w.index[p] == 0 {
				continue
			}
			w.add(d, src)
			keys, vals := d.Keys(), d.Values()
			for k := range keys {
				w.add(vals[k], partOf(src, keys[k]))
			}
			break
		}
	}
	return nil
}

// walkGradients adds the gradients of a group's parameters, then the states of those that have one, list by list.
func (w *optimizerWalk) walkGradients(gi int) error {
	ps := params(w.groups[gi])
	var trained []int
	for pi, p := range ps {
		grad, err := w.in.GetAttr(p, "grad")
		if err != nil {
			return err
		}
		if grad != vm.None {
			trained = append(trained, pi)
			w.add(grad, source.Attr{Base: w.paramSource(gi, pi), Of: "grad"})
		}
	}
	for _, name := range w.lists {
		for _, pi := range trained {
			d, src, err := w.stateOf(ps[pi], w.paramSource(gi, pi))
			if err != nil {
				return err
			}
			if d == nil {
				continue
			}
			v, ok, err := d.Get(w.in, name)
			if err != nil {
				return err
			}
			if ok {
				w.add(v, source.Placed{Source: partOf(src, name), I: slices.Index(d.Keys(), name)})
			}
		}
	}
	return nil
}

// add notes o, if it is of a kind that optimizerInputs looks at.
func (w *optimizerWalk) add(o vm.Object, src source.Source) {
	switch o.(type) {
	case *torch.Tensor, *vm.Dict, vm.Float:
		w.found = append(w.found, foundTensor{o, src})
	}
}

// stateOf is what the optimizer keeps of parameter p, whose source is src; nil if nothing.
func (w *optimizerWalk) stateOf(p vm.Object, src source.Source) (*vm.Dict, source.Source, error) {
	v, ok, err := w.states.Get(w.in, p)
	if err != nil || !ok {
		return nil, nil, err
	}
	d, _ := vm.AsDict(v)
	return d, source.Placed{Source: source.Keyed{Base: source.Attr{Base: w.base, Of: "state"}, Key: src}, I: w.index[p]}, nil
}

func (w *optimizerWalk) groupSource(i int) source.Source {
	return source.Item{Base: source.Attr{Base: w.base, Of: "param_groups"}, Key: vm.MakeInt(int64(i)), Text: fmt.Sprint(i)}
}

func (w *optimizerWalk) paramSource(gi, pi int) source.Source {
	return source.Item{Base: partOf(w.groupSource(gi), vm.Str("params")), Key: vm.MakeInt(int64(pi)), Text: fmt.Sprint(pi)}
}

// partOf is the entry of a dict under a string.
func partOf(dict source.Source, key vm.Object) source.Source {
	name, _ := vm.AsStr(key)
	return source.Item{Base: dict, Key: key, Text: "'" + name + "'"}
}

// params are the parameters of a group; nil for what is no group.
func params(group vm.Object) []vm.Object {
	d, ok := vm.AsDict(group)
	if !ok {
		return nil
	}
	ps, _ := d.GetStr("params")
	if l, ok := vm.AsList(ps); ok {
		return l.Items
	}
	return nil
}

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

// optimizerTensors lists the tensors of an optimizer for optimizerInputs.
func (tr *tracer) optimizerTensors(opt *vm.Instance, group vm.Object) ([]foundTensor, error) {
	var out []foundTensor
	add := func(o vm.Object, src source.Source) {
		switch o.(type) {
		case *torch.Tensor, *vm.Dict, vm.Float:
			out = append(out, foundTensor{o, src})
		}
	}
	base := tr.world.sources[opt]
	_, err := tr.outside(func() (vm.Object, error) {
		get := func(name string) (vm.Object, error) { return tr.in.GetAttr(opt, name) }
		g, err := get("param_groups")
		if err != nil {
			return nil, err
		}
		groups, _ := vm.AsList(g)
		s, err := get("state")
		if err != nil {
			return nil, err
		}
		states, _ := vm.AsDict(s)
		order, err := get("_state_lists")
		if err != nil || groups == nil || states == nil {
			return nil, err
		}
		lists, _ := vm.AsTuple(order)
		groupSource := func(i int) source.Source {
			return source.Item{Base: source.Attr{Base: base, Of: "param_groups"}, Key: vm.MakeInt(int64(i)), Text: fmt.Sprint(i)}
		}
		paramSource := func(gi, pi int) source.Source {
			return source.Item{Base: source.Item{Base: groupSource(gi), Key: vm.Str("params"), Text: "'params'"}, Key: vm.MakeInt(int64(pi)), Text: fmt.Sprint(pi)}
		}
		for gi, g := range groups.Items {
			d, ok := vm.AsDict(g)
			if !ok {
				continue
			}
			keys, vals := d.Keys(), d.Values()
			for k, v := range vals {
				name, _ := vm.AsStr(keys[k])
				if l, ok := vm.AsList(v); ok && name == "params" {
					for pi, p := range l.Items {
						add(p, paramSource(gi, pi))
					}
					continue
				}
				add(v, source.Item{Base: groupSource(gi), Key: keys[k], Text: "'" + name + "'"})
			}
		}
		at := map[vm.Object]int{}
		for i, k := range states.Keys() {
			at[k] = i
		}
		// What a parameter has in the state, by the source of the parameter.
		stateOf := func(p vm.Object, src source.Source) (*vm.Dict, source.Source, error) {
			v, ok, err := states.Get(tr.in, p)
			if err != nil || !ok {
				return nil, nil, err
			}
			d, _ := vm.AsDict(v)
			return d, source.Placed{Source: source.Keyed{Base: source.Attr{Base: base, Of: "state"}, Key: src}, I: at[p]}, nil
		}
		part := func(src source.Source, key vm.Object) source.Source {
			name, _ := vm.AsStr(key)
			return source.Item{Base: src, Key: key, Text: "'" + name + "'"}
		}
		params := func(g vm.Object) []vm.Object {
			d, ok := vm.AsDict(g)
			if !ok {
				return nil
			}
			ps, _ := d.GetStr("params")
			if l, ok := vm.AsList(ps); ok {
				return l.Items
			}
			return nil
		}
		for gi, g := range groups.Items {
			for pi, p := range params(g) {
				d, src, err := stateOf(p, paramSource(gi, pi))
				if err != nil {
					return nil, err
				}
				if d == nil || at[p] == 0 {
					continue
				}
				add(d, src)
				keys, vals := d.Keys(), d.Values()
				for k := range keys {
					add(vals[k], part(src, keys[k]))
				}
				break
			}
		}
		for gi, g := range groups.Items {
			if g != group {
				continue
			}
			ps := params(g)
			var trained []int
			for pi, p := range ps {
				grad, err := tr.in.GetAttr(p, "grad")
				if err != nil {
					return nil, err
				}
				if grad != vm.None {
					trained = append(trained, pi)
					add(grad, source.Attr{Base: paramSource(gi, pi), Of: "grad"})
				}
			}
			if lists == nil {
				continue
			}
			for _, name := range lists.Items {
				for _, pi := range trained {
					d, src, err := stateOf(ps[pi], paramSource(gi, pi))
					if err != nil {
						return nil, err
					}
					if d == nil {
						continue
					}
					v, ok, err := d.Get(tr.in, name)
					if err != nil {
						return nil, err
					}
					if ok {
						add(v, source.Placed{Source: part(src, name), I: slices.Index(d.Keys(), name)})
					}
				}
			}
		}
		return nil, nil
	})
	return out, err
}

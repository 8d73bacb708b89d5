package autograd

import (
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// passing runs the operators of a backward pass that nobody looks at, and knows which memory is the pass's own: what its formulas made, and neither the
// program nor a node has seen. Such memory is given back as soon as nothing that is yet to come reads it: Go's collector would find out long after, and
// each gradient would get memory of its own, which is in no cache.
type passing struct {
	aten.Dispatcher
	made map[*tensor.Storage]bool // what operators made
	used map[*tensor.Storage]int  // in how many places a gradient waits for a node
	over []*tensor.Storage        // what may not be needed any more once the node that runs is done
}

// passes makes the dispatcher of a pass, nil where somebody sees, records or keeps what its formulas do.
func (e *Engine) passes(opt Options) *passing {
	below, ok := e.Below.(aten.Forgetful)
	if !ok || opt.CreateGraph || opt.On != nil || e.Traced || e.Watch != nil || e.Before != nil || e.Anomaly != nil || !below.Forgets(nil) {
		return nil
	}
	return &passing{Dispatcher: e.Below, made: map[*tensor.Storage]bool{}, used: map[*tensor.Storage]int{}}
}

// Forgets implements aten.Forgetful.
func (p *passing) Forgets(args []aten.Value) bool { return p.Dispatcher.(aten.Forgetful).Forgets(args) }

// Dispatch runs an operator, and notes the memory that it made.
func (p *passing) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	out, err := p.Dispatcher.Dispatch(op, args)
	if err != nil || !p.Forgets(args) {
		return out, err
	}
	switch out := out.(type) {
	case *tensor.Tensor:
		p.note(out, args)
	case []aten.Value:
		for _, x := range out {
			if t, ok := x.(*tensor.Tensor); ok {
				p.note(t, args)
			}
		}
	}
	return out, nil
}

// note notes a result that shares no memory with the arguments.
func (p *passing) note(t *tensor.Tensor, args []aten.Value) {
	if t == nil || t.Fake || t.Storage == nil || !t.Storage.Recyclable() || t.Py != nil || t.Mode != nil || t.Wraps != nil || sharing(t.Storage, args) {
		return
	}
	p.made[t.Storage] = true
	p.over = append(p.over, t.Storage)
}

// sharing reports whether a tensor among the values, at any depth, lies in s.
func sharing(s *tensor.Storage, vs []aten.Value) bool {
	for _, v := range vs {
		switch v := v.(type) {
		case *tensor.Tensor:
			if v != nil && v.Storage == s {
				return true
			}
		case []aten.Value:
			if sharing(s, v) {
				return true
			}
		}
	}
	return false
}

// shown says that somebody else has seen gradients, and may keep them.
func (p *passing) shown(gs []*tensor.Tensor) {
	if p == nil {
		return
	}
	for _, g := range gs {
		if g != nil {
			delete(p.made, g.Storage)
		}
	}
}

// waits counts the places where g waits by n more.
func (p *passing) waits(g *tensor.Tensor, n int) {
	if p == nil || g == nil || g.Storage == nil {
		return
	}
	if p.used[g.Storage] += n; p.used[g.Storage] <= 0 {
		delete(p.used, g.Storage)
		p.over = append(p.over, g.Storage)
	}
}

// sole reports whether g is all of memory that is the pass's own and waits nowhere.
func (p *passing) sole(g *tensor.Tensor) bool {
	return p != nil && g.Storage != nil && p.made[g.Storage] && p.used[g.Storage] == 0 && g.Base == nil && g.Offset == 0 &&
		tensor.Numel(g.Shape)*int64(g.DType.Size()) == g.Storage.NBytes
}

// settle gives back what is over, but for what is in kept.
func (p *passing) settle(kept []*tensor.Tensor) {
	if p == nil {
		return
	}
	for _, s := range p.over {
		if !p.made[s] || p.used[s] > 0 || has(kept, s) {
			continue
		}
		delete(p.made, s)
		s.Recycle()
	}
	p.over = p.over[:0]
}

// alone reports whether each of the gradients is the pass's own, and none is given twice.
func (p *passing) alone(gs []*tensor.Tensor) bool {
	if p == nil {
		return false
	}
	for i, g := range gs {
		if g == nil || !p.made[g.Storage] || has(gs[:i], g.Storage) {
			return false
		}
	}
	return true
}

func has(gs []*tensor.Tensor, s *tensor.Storage) bool {
	for _, g := range gs {
		if g != nil && g.Storage == s {
			return true
		}
	}
	return false
}

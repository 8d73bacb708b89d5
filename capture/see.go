package capture

import (
	"fmt"

	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

func (tr *tracer) note(f *vm.Frame, owner vm.Object, what any) {
	if tr.sourceOf(owner) == nil {
		f.Ext = nil
		return
	}
	if i, ok := owner.(*vm.Instance); ok && (wholeInstances.has(i.Class.FullName()) || isEnumMember(i) && tr.d.IsLibrary(f.Code.Filename)) {
		f.Ext = nil
		return
	}
	if tr.quiet() {
		switch owner.(type) {
		case *vm.Module, *vm.Type, *vm.Function:
			f.Ext = nil
			return
		}
	}
	p := &pending{owner: owner}
	switch w := what.(type) {
	case string:
		p.name = w
	case vm.Object:
		p.key = w
	}
	f.Ext = p
}

// after gives the value that the last instruction loaded its source.
func (tr *tracer) after(f *vm.Frame) {
	p, ok := f.Ext.(*pending)
	if !ok || p == nil {
		return
	}
	f.Ext = nil
	if f.SP == 0 {
		return
	}
	v := f.Stack[f.SP-1]
	if v == nil {
		return
	}
	if p.made {
		tr.made[v] = true
		return
	}
	if p.swap != nil {
		f.Stack[f.SP-1] = p.swap
		return
	}
	if p.imported != "" {
		if _, ok := v.(*vm.Module); ok && tr.sources[v] == nil {
			tr.sources[v] = source.Import{Module: p.imported}
			tr.guards.Covertly(func() { tr.guards.Add(guard.Identity(v, source.Import{Module: p.imported})) })
		}
		return
	}
	if p.method && f.SP > 1 && f.Stack[f.SP-2] != nil {
		return
	}
	base := tr.sourceOf(p.owner)
	if p.key != nil {
		if s := tr.swapping(func() { tr.seeItem(p.owner, base, p.key, v) }); s != nil {
			f.Stack[f.SP-1] = s
		}
		return
	}
	if owner, isTensor := p.owner.(*torch.Tensor); isTensor {
		if p.name == "data" || p.name == "requires_grad" || p.name == "grad_fn" || p.name == "shape" && !fixedSize(v) {
			tr.guards.Add(guard.Type(owner, base))
		}
		if p.name == "shape" && hasNumber(v) {
			tr.guards.Add(guard.Type(owner, base))
		}
		if p.name == "grad" {
			tr.see(v, source.Attr{Base: base, Of: p.name})
		}
		if d := owner.AttrDict(false); d != nil {
			if own, has := d.GetStr(p.name); has && own == v {
				tr.see(v, source.Attr{Base: base, Of: p.name})
			}
		}
		if r, ok := v.(*torch.Tensor); ok && (p.name == "T" || p.name == "mT" || p.name == "H" || p.name == "real" || p.name == "imag") {
			tr.viaAttr[r.T] = source.Attr{Base: base, Of: p.name}
		}
		return
	}
	if _, module := p.owner.(*vm.Module); !module {
		if tr.boundHere(p.owner, p.name, v) {
			return
		}
	}
	if p.name == "__dict__" {
		tr.ownDict(p.owner, v)
		return
	}
	if s := tr.swapping(func() { tr.seeAttr(p.owner, base, p.name, v) }); s != nil {
		f.Stack[f.SP-1] = s
	}
}

// seeItem gives owner[key] its source. Only what the container held before the trace has one: a defaultdict makes items, and
// classes compute them.
func (tr *tracer) seeItem(owner vm.Object, base source.Source, key, v vm.Object) {
	if !tr.held(owner, key, v) {
		return
	}
	if t, ok := owner.(*vm.Tuple); ok && tr.constantTuple(t, base) {
		return
	}
	switch key.(type) {
	case vm.Int, vm.Str, vm.Bool:
		if i, ok := vm.AsInt(key); ok && i < 0 && guard.ListLen(owner)+guard.TupleLen(owner) >= 0 {
			key = vm.MakeInt(i + int64(max(guard.ListLen(owner), guard.TupleLen(owner))))
		}
		if r, err := tr.in.Repr(key); err == nil {
			tr.see(v, source.Item{Base: base, Key: key, Text: r})
		}
	case *vm.Tuple, *vm.FrozenSet, vm.Float, *vm.NoneType, vm.Bytes, vm.Complex, *torch.DType, *torch.Device:
		if r, err := tr.in.Repr(key); err == nil && guard.Constant(key) {
			tr.see(v, source.Item{Base: base, Key: key, Text: r})
		}
	default:
		// A key that came from outside itself: state[param].
		if ks := tr.sources[keyOf(key)]; ks != nil && tr.sources[keyOf(v)] == nil {
			tr.see(v, source.Keyed{Base: base, Key: ks})
		} else if ks == nil && !tr.madeHere(key) {
			tr.see(v, source.Item{Base: base, Key: key, Text: fmt.Sprintf("<%s %d>", key.Type().Name, tr.keyNumber(key))})
		}
	}
}

// held reports whether a container held v under key before the trace.
func (tr *tracer) held(owner, key, v vm.Object) bool {
	if i, ok := owner.(*vm.Instance); ok {
		if n, ok := i.Native.(vm.Object); ok {
			owner = n
		}
	}
	at := func(items []vm.Object) bool {
		i, ok := vm.AsInt(key)
		if i < 0 {
			i += int64(len(items))
		}
		return ok && i >= 0 && i < int64(len(items)) && items[i] == v
	}
	switch o := owner.(type) {
	case *vm.Tuple:
		return at(o.Items)
	case *vm.List:
		return at(tr.saved[o].items)
	case *vm.Dict:
		return tr.same(tr.saved[o].items, key, v)
	}
	return false
}

// same reports whether a list of keys and values has v under key.
func (tr *tracer) same(items []vm.Object, key, v vm.Object) bool {
	for i := 0; i+1 < len(items); i += 2 {
		if items[i] == key || keyOf(key) != nil && guard.Same(tr.in, items[i], key) {
			return items[i+1] == v
		}
	}
	return false
}

// boundHere reports whether an attribute that was read is a method that reading it bound: it is guarded by the class.
func (tr *tracer) boundHere(owner vm.Object, name string, v vm.Object) bool {
	switch m := v.(type) {
	case *vm.BoundMethod:
		if m.Self != owner && m.Self != vm.Object(owner.Type()) {
			return false
		}
	case *vm.Builtin:
		if m.Self == nil {
			return false
		}
	default:
		return false
	}
	if i, ok := owner.(*vm.Instance); ok && i.Dict != nil {
		if own, has := i.Dict.GetStr(name); has && own == v {
			return false
		}
	}
	return true
}

// kept reports whether an attribute of an instance is what it was before the trace.
func (tr *tracer) kept(i *vm.Instance, name string, v vm.Object) bool {
	if i.Dict == nil {
		return true
	}
	s, saved := tr.saved[i]
	if _, own := i.Dict.GetStr(name); !own || !saved {
		return true
	}
	return tr.same(s.items, vm.Str(name), v)
}

// keyOf is the identity under which an object's source is kept; immutable scalars have none.
func keyOf(o vm.Object) vm.Object {
	switch o.(type) {
	case vm.Int, vm.Float, vm.Str, vm.Bool, vm.Bytes, vm.Complex, *vm.NoneType:
		return nil
	}
	return o
}

// see registers a value that existed before the trace: its source, its guards, and its content.
func (tr *tracer) see(v vm.Object, src source.Source) {
	if into := tr.symbolTo; into != nil {
		tr.symbolTo = nil
		defer func() { tr.symbolTo = into }()
		if s := tr.lifted(v, src); s != nil {
			*into = s
			return
		}
	}
	if p, ok := v.(*torch.Tensor); ok && p.T.Fake {
		return
	}
	if k := keyOf(v); k != nil {
		if first := tr.sources[k]; first != nil {
			tr.seeAgain(v, first, src)
			return
		}
		tr.sources[k] = src
		tr.order = append(tr.order, v)
	}
	if _, ok := v.(*torch.Tensor); ok {
		return // guarded when it is used
	}
	tr.guard(v, src)
	tr.save(v)
}

// seeItems registers the members of a container that native code is about to walk.
func (tr *tracer) seeItems(o vm.Object) {
	src := tr.sourceOf(o)
	if o == nil || src == nil {
		return
	}
	switch c := o.(type) {
	case *vm.List:
		for i, x := range c.Items {
			tr.seeItem(c, src, vm.MakeInt(int64(i)), x)
		}
	case *vm.Tuple:
		for i, x := range c.Items {
			tr.seeItem(c, src, vm.MakeInt(int64(i)), x)
		}
	case *vm.Dict:
		c.Each(func(k, v vm.Object) bool {
			if keyOf(k) == nil {
				tr.seeItem(c, src, k, v)
			}
			return true
		})
	}
}

// keyNumber tells keys apart that have no text.
func (tr *tracer) keyNumber(key vm.Object) int {
	n, ok := tr.keyNumbers[key]
	if !ok {
		if tr.keyNumbers == nil {
			tr.keyNumbers = map[vm.Object]int{}
		}
		n = len(tr.keyNumbers)
		tr.keyNumbers[key] = n
	}
	return n
}

func moduleTable(i *vm.Instance, table string) (*vm.Dict, bool) {
	if i.Dict == nil {
		return nil, false
	}
	t, ok := i.Dict.GetStr(table)
	if !ok {
		return nil, false
	}
	return vm.AsDict(t)
}

// save remembers the content of a mutable object, so that writes can be found and undone.
func (tr *tracer) save(o vm.Object) {
	if _, done := tr.saved[keyOf(o)]; done || keyOf(o) == nil {
		return
	}
	switch c := o.(type) {
	case *vm.List:
		tr.keep(o, snapshot{items: append([]vm.Object(nil), c.Items...)})
	case *vm.Dict:
		tr.keep(o, snapshot{items: pairs(c)})
	case *vm.Instance:
		s := snapshot{}
		if c.Dict != nil {
			s.dict = c.Dict
			s.items = pairs(c.Dict)
		}
		tr.keep(o, s)
		if n, ok := c.Native.(vm.Object); ok { // a subclass of dict or list: its items
			if src := tr.sources[keyOf(o)]; src != nil && keyOf(n) != nil && tr.sources[n] == nil {
				tr.sources[n] = source.Native{Base: src}
			}
			tr.save(n)
		}
		if c.Dict != nil {
			c.Dict.Each(func(_, v vm.Object) bool {
				if d, ok := vm.AsDict(v); ok {
					if inst, isInst := v.(*vm.Instance); isInst {
						_ = inst
						return true
					}
					if _, done := tr.saved[v]; !done {
						tr.keep(v, snapshot{items: pairs(d)})
					}
				}
				return true
			})
		}
	}
}

// keep files a snapshot.
func (tr *tracer) keep(o vm.Object, s snapshot) {
	tr.saved[o] = s
	tr.savedOrder = append(tr.savedOrder, o)
}

func pairs(d *vm.Dict) []vm.Object {
	var out []vm.Object
	d.Each(func(k, v vm.Object) bool {
		out = append(out, k, v)
		return true
	})
	return out
}

// touch is save for an object about to be written.
func (tr *tracer) touch(o vm.Object) {
	if tr.sourceOf(o) != nil {
		tr.save(o)
	}
}

func (tr *tracer) touchCell(c *vm.Cell) {
	if _, done := tr.saved[c]; !done {
		tr.keep(c, snapshot{items: []vm.Object{c.V}})
	}
}

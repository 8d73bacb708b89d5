package capture

import (
	"fmt"

	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

func (rd *reads) note(f *vm.Frame, owner vm.Object, what any) {
	if rd.world.sourceOf(owner) == nil {
		f.Ext = nil
		return
	}
	if i, ok := owner.(*vm.Instance); ok && (wholeInstances.has(i.Class.FullName()) || isEnumMember(i) && rd.d.IsLibrary(f.Code.Filename)) {
		f.Ext = nil
		return
	}
	if rd.quiet() {
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
func (rd *reads) after(f *vm.Frame) {
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
		rd.world.made[v] = true
		return
	}
	if p.swap != nil {
		f.Stack[f.SP-1] = p.swap
		return
	}
	if p.imported != "" {
		if _, ok := v.(*vm.Module); ok && rd.world.sources[v] == nil {
			rd.world.sources[v] = source.Import{Module: p.imported}
			rd.guards.Covertly(func() { rd.guards.Add(guard.Identity(v, source.Import{Module: p.imported})) })
		}
		return
	}
	if p.method && f.SP > 1 && f.Stack[f.SP-2] != nil {
		return
	}
	base := rd.world.sourceOf(p.owner)
	if p.key != nil {
		if s := rd.world.swapping(func() { rd.world.seeItem(p.owner, base, p.key, v) }); s != nil {
			f.Stack[f.SP-1] = s
		}
		return
	}
	if owner, isTensor := p.owner.(*torch.Tensor); isTensor {
		if p.name == "data" || p.name == "requires_grad" || p.name == "grad_fn" || p.name == "shape" && !fixedSize(v) {
			rd.guards.Add(guard.Type(owner, base))
		}
		if p.name == "shape" && hasNumber(v) {
			rd.guards.Add(guard.Type(owner, base))
		}
		if p.name == "grad" {
			rd.world.see(v, source.Attr{Base: base, Of: p.name})
		}
		if d := owner.AttrDict(false); d != nil {
			if own, has := d.GetStr(p.name); has && own == v {
				rd.world.see(v, source.Attr{Base: base, Of: p.name})
			}
		}
		if r, ok := v.(*torch.Tensor); ok && (p.name == "T" || p.name == "mT" || p.name == "H" || p.name == "real" || p.name == "imag") {
			rd.standIns.viaAttr[r.T] = source.Attr{Base: base, Of: p.name}
		}
		return
	}
	if _, module := p.owner.(*vm.Module); !module {
		if rd.boundHere(p.owner, p.name, v) {
			return
		}
	}
	if p.name == "__dict__" {
		rd.world.ownDict(p.owner, v)
		return
	}
	if s := rd.world.swapping(func() { rd.seeAttr(p.owner, base, p.name, v) }); s != nil {
		f.Stack[f.SP-1] = s
	}
}

// seeItem gives owner[key] its source. Only what the container held before the trace has one: a defaultdict makes items, and
// classes compute them.
func (wo *world) seeItem(owner vm.Object, base source.Source, key, v vm.Object) {
	if !wo.effects.Held(owner, key, v) {
		return
	}
	if t, ok := owner.(*vm.Tuple); ok && wo.constantTuple(t, base) {
		return
	}
	switch key.(type) {
	case vm.Int, vm.Str, vm.Bool:
		if i, ok := vm.AsInt(key); ok && i < 0 && guard.ListLen(owner)+guard.TupleLen(owner) >= 0 {
			key = vm.MakeInt(i + int64(max(guard.ListLen(owner), guard.TupleLen(owner))))
		}
		if r, err := wo.in.Repr(key); err == nil {
			wo.see(v, source.Item{Base: base, Key: key, Text: r})
		}
	case *vm.Tuple, *vm.FrozenSet, vm.Float, *vm.NoneType, vm.Bytes, vm.Complex, *torch.DType, *torch.Device:
		if r, err := wo.in.Repr(key); err == nil && guard.Constant(key) {
			wo.see(v, source.Item{Base: base, Key: key, Text: r})
		}
	default:
		// A key that came from outside itself: state[param].
		if ks := wo.sources[source.Identity(key)]; ks != nil && wo.sources[source.Identity(v)] == nil {
			wo.see(v, source.Keyed{Base: base, Key: ks})
		} else if ks == nil && !wo.madeHere(key) {
			wo.see(v, source.Item{Base: base, Key: key, Text: fmt.Sprintf("<%s %d>", key.Type().Name, wo.keyNumber(key))})
		}
	}
}

// boundHere reports whether an attribute that was read is a method that reading it bound: it is guarded by the class.
func (rd *reads) boundHere(owner vm.Object, name string, v vm.Object) bool {
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

// see registers a value that existed before the trace: its source, its guards, and its content.
func (wo *world) see(v vm.Object, src source.Source) {
	if into := wo.symbolTo; into != nil {
		wo.symbolTo = nil
		defer func() { wo.symbolTo = into }()
		if s := wo.symbols.lifted(v, src); s != nil {
			*into = s
			return
		}
	}
	if p, ok := v.(*torch.Tensor); ok && p.T.Fake {
		return
	}
	if k := source.Identity(v); k != nil {
		if first := wo.sources[k]; first != nil {
			wo.seeAgain(v, first, src)
			return
		}
		wo.sources[k] = src
		wo.order = append(wo.order, v)
	}
	if _, ok := v.(*torch.Tensor); ok {
		return // guarded when it is used
	}
	wo.guard(v, src)
	wo.save(v)
}

// seeItems registers the members of a container that native code is about to walk.
func (wo *world) seeItems(o vm.Object) {
	src := wo.sourceOf(o)
	if o == nil || src == nil {
		return
	}
	switch c := o.(type) {
	case *vm.List:
		for i, x := range c.Items {
			wo.seeItem(c, src, vm.MakeInt(int64(i)), x)
		}
	case *vm.Tuple:
		for i, x := range c.Items {
			wo.seeItem(c, src, vm.MakeInt(int64(i)), x)
		}
	case *vm.Dict:
		c.Each(func(k, v vm.Object) bool {
			if source.Identity(k) == nil {
				wo.seeItem(c, src, k, v)
			}
			return true
		})
	}
}

// keyNumber tells keys apart that have no text.
func (wo *world) keyNumber(key vm.Object) int {
	n, ok := wo.keyNumbers[key]
	if !ok {
		n = len(wo.keyNumbers)
		wo.keyNumbers[key] = n
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

// save remembers the content of a mutable object, so that writes can be found and undone: of an instance also that of the dicts that it
// holds, and what it is beside its attributes.
func (wo *world) save(o vm.Object) {
	switch o.(type) {
	case *vm.List, *vm.Dict, *vm.Instance:
	default:
		return
	}
	i, isInst := o.(*vm.Instance)
	if !wo.effects.Save(o) || !isInst {
		return
	}
	if n, ok := i.Native.(vm.Object); ok { // a subclass of dict or list: its items
		if src := wo.sources[i]; src != nil && source.Identity(n) != nil && wo.sources[n] == nil {
			wo.sources[n] = source.Native{Base: src}
		}
		wo.save(n)
	}
	if i.Dict != nil {
		i.Dict.Each(func(_, v vm.Object) bool {
			if d, ok := v.(*vm.Dict); ok {
				wo.effects.Save(d)
			}
			return true
		})
	}
}

// touch is save for an object about to be written.
func (wo *world) touch(o vm.Object) {
	if wo.sourceOf(o) != nil {
		wo.save(o)
	}
}

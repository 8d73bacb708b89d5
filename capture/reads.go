package capture

import (
	"fmt"
	"strings"

	"whittle/capture/effects"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// reads are what traced code asks of objects from outside, by instructions and through the interpreter: attributes, items, members,
// contents, what their classes have. Each answer becomes a guard, and what is read gets a source.
type reads struct {
	*ground
	out      *output
	symbols  *symbols
	effects  *effects.Log
	world    *world
	standIns *standIns

	classes    map[*vm.Type]*classFacts // what was looked up in classes
	classOrder []*vm.Type               // those, in order of first sight
	frozen     map[*vm.Instance]bool    // dataclasses whose fields are guarded
	onStack    map[int]stackValue       // what lies untouched on a resume function's stack, by slot
	setters    map[*vm.Function]bool    // the functions by which modules set attributes whose cell is guarded
}

func newReads(g *ground, out *output, sy *symbols, ef *effects.Log, w *world, st *standIns) *reads {
	return &reads{ground: g, out: out, symbols: sy, effects: ef, world: w, standIns: st, classes: map[*vm.Type]*classFacts{}, frozen: map[*vm.Instance]bool{}, setters: map[*vm.Function]bool{}}
}

// pending is what the next step of a frame has to finish: the source of a loaded value.
type pending struct {
	owner    vm.Object
	name     string
	key      vm.Object
	made     bool      // the instruction made a function
	imported string    // the instruction imported this module
	swap     vm.Object // takes the place of what the instruction loads

	method bool // LOAD_METHOD: self lies above what was found, or a null below it
}

// note leaves for after what the next value on the stack is: an attribute of owner, or an item. Objects that guards take as a whole, and
// the library's own ways, need no source for their parts.
func (rd *reads) note(f *vm.Frame, owner vm.Object, what any) {
	if rd.world.sourceOf(owner) == nil || rd.t.IsFace(owner) {
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
		return // a method of a class, which has its guard
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

// imports gives a module that traced code is about to import its source.
func (rd *reads) imports(f *vm.Frame, name string, from, level vm.Object) {
	if n, ok := vm.AsInt(level); !ok || n != 0 || rd.quiet() {
		return
	}
	if from == vm.None {
		name, _, _ = strings.Cut(name, ".")
	}
	f.Ext = &pending{imported: name}
}

// hasMethod notes that the trace relies on a method of a tensor from outside. PyTorch asks whether it is there; the guard shows
// nothing but the way to it, and cannot fail here.
func (rd *reads) hasMethod(f *vm.Frame, o vm.Object, name string) {
	t, ok := o.(*torch.Tensor)
	if !ok || rd.t.IsFace(t) || f != rd.root && !rd.mirrored(f) || !callable(t.Type().Lookup(name)) {
		return
	}
	if src := rd.world.sources[t]; src != nil {
		rd.guards.Add(guard.New(guard.Hasattr, fmt.Sprintf("hasattr(%s, '%s')", src.Name(), name), source.Attr{Base: src, Of: name}, nil).Hide())
	}
}

// callable reports whether a value is a method or function.
func callable(v vm.Object) bool {
	switch v.(type) {
	case *vm.BoundMethod, *vm.Builtin, *vm.Function:
		return true
	}
	return false
}

package capture

import (
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// PyTorch traces nn.Module's own code where hooks run and where attributes are assigned, and guards what that code reads. The
// same guards are made here by name, as the code is another.

// moduleFile is where nn.Module is defined.
var moduleFile = source.Import{Module: "torch.nn.modules.module"}

// seePath guards what a chain of attributes leads to.
func (rd *reads) seePath(src source.Source, names ...string) {
	v, err := src.Get(rd.env)
	if err != nil {
		return
	}
	rd.world.see(v, src)
	for _, n := range names {
		next, err := rd.in.GetAttr(v, n)
		if err != nil {
			return
		}
		if s := rd.world.sources[source.Identity(v)]; s != nil && rd.world.tracked(v) {
			src = s // a module that is known by another way already
		}
		src, v = source.Attr{Base: src, Of: n}, next
		rd.world.see(v, src)
	}
}

// seeHooks guards the hooks of a module whose call runs some, and what runs them.
func (rd *reads) seeHooks(m *vm.Instance, base source.Source) {
	own := source.Module{Base: base, Kind: moduleKind(m.Class)}
	after := false
	for _, table := range []string{"_forward_pre_hooks", "_forward_hooks"} {
		v, ok := m.Dict.GetStr(table)
		d, isDict := vm.AsDict(v)
		if !ok || !isDict || d.Len() == 0 || rd.effects.Saved(v) { // what the trace registered has no place before it
			continue
		}
		after = after || table == "_forward_hooks"
		if kw, ok := m.Dict.GetStr(table + "_with_kwargs"); ok {
			rd.world.see(kw, source.Attr{Base: own, Of: table + "_with_kwargs"})
		}
		src := source.Attr{Base: own, Of: table}
		g := guard.Length(guard.DictLength, src, d.Len(), guard.DictLen).Hide()
		rd.guards.Add(g)
		rd.guards.SetValue(src.Name(), v)
		for i, h := range d.Values() {
			rd.world.see(h, source.Value{Base: src, I: i})
		}
		rd.guards.Order(source.Attr{Base: moduleFile, Of: "_global" + table})
	}
	builtins := []string{"set"}
	if pre, ok := m.Dict.GetStr("_forward_pre_hooks"); ok && guard.DictLen(pre) > 0 {
		builtins = append(builtins, "tuple", "isinstance")
	}
	for _, b := range builtins {
		if v, ok := rd.in.Builtins.Dict.GetStr(b); ok {
			rd.world.useBuiltin(b, v)
		}
	}
	rd.seePath(moduleFile, "torch", "compiler", "is_compiling")
	rd.seePath(moduleFile, "torch", "_C")
	rd.guards.Add(guard.Part(source.Attr{Base: source.Attr{Base: source.Attr{Base: moduleFile, Of: "torch"}, Of: "_C"}, Of: "_get_tracing_state"}.Name()))
	if after {
		if v, ok := m.Dict.GetStr("_forward_hooks_always_called"); ok {
			rd.world.see(v, source.Attr{Base: own, Of: "_forward_hooks_always_called"})
		}
		for _, name := range []string{"_global_forward_hooks_with_kwargs", "_global_forward_hooks_always_called"} {
			rd.guards.Add(guard.New(guard.DictLength, "not "+source.Attr{Base: moduleFile, Of: name}.Name(), nil, nil))
		}
	}
}

// assigned guards what nn.Module.__setattr__ looks at when the trace assigns an attribute of a module.
func (rd *reads) assigned(o vm.Object, name string, v vm.Object) error {
	m, ok := o.(*vm.Instance)
	if !ok || rd.quiet() || !isModule(m) {
		return nil
	}
	base := rd.world.sources[m]
	set, ok := m.Class.Lookup("__setattr__").(*vm.Function)
	if base == nil || !ok || set.Code.Filename != "torch/nn/modules/module.py" {
		return nil
	}
	if err := rd.mayNotAssign(m, name); err != nil {
		return err
	}
	rd.seePath(moduleFile)
	for _, n := range []string{"Parameter", "Module"} {
		rd.seePath(moduleFile, n)
	}
	rd.guards.Add(guard.Part(source.Attr{Base: moduleFile, Of: "Buffer"}.Name()))
	own := source.Module{Base: base, Kind: moduleKind(m.Class)}
	buffer := false
	for _, table := range []string{"_parameters", "_modules", "_buffers"} {
		t, ok := moduleTable(m, table)
		if !ok {
			continue
		}
		if rd.effects.HadAttr(m, table, t) { // else the trace is in the middle of making the module
			rd.world.see(t, source.Attr{Base: own, Of: table})
		}
		if _, has := t.GetStr(name); has && table == "_buffers" {
			_, buffer = v.(*torch.Tensor)
		}
	}
	builtins := []string{"isinstance", "super"}
	if buffer {
		builtins = []string{"isinstance", "hasattr", "str"}
		rd.seePath(moduleFile, "torch", "Tensor")
		rd.seePath(moduleFile, "torch", "nn", "Module", "register_buffer")
		if s, ok := m.Dict.GetStr("_non_persistent_buffers_set"); ok && rd.effects.HadAttr(m, "_non_persistent_buffers_set", s) {
			rd.world.see(s, source.Attr{Base: own, Of: "_non_persistent_buffers_set"})
		}
	}
	for _, b := range builtins {
		if v, ok := rd.in.Builtins.Dict.GetStr(b); ok {
			rd.world.useBuiltin(b, v)
		}
	}
	if !rd.setters[set] { // later modules of any class lead to the same cell
		rd.setters[set] = true
		rd.guards.Add(guard.Part(base.Name() + ".__class__.__setattr__.__closure__[0].cell_contents"))
	}
	return nil
}

package capture

import (
	"fmt"

	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// PyTorch traces nn.Module's own code where hooks run and where attributes are assigned, and guards what that code reads. The
// same guards are made here by name, as the code is another.

// valueSource is the i-th value of a dict, whatever its key.
type valueSource struct {
	base Source
	i    int
}

// Name is how guards call the value.
func (s valueSource) Name() string {
	return fmt.Sprintf("%s[list(%s.keys())[%d]]", s.base.Name(), s.base.Name(), s.i)
}

// Get reads the value.
func (s valueSource) Get(e *env) (vm.Object, error) { return stepped(e, s, s.base) }

func (s valueSource) step(_ *env, b vm.Object) (vm.Object, error) {
	if d, ok := vm.AsDict(b); ok {
		if vs := d.Values(); s.i < len(vs) {
			return vs[s.i], nil
		}
	}
	return nil, fmt.Errorf("%s is gone", s.Name())
}

// moduleFile is where nn.Module is defined.
var moduleFile = importSource{"torch.nn.modules.module"}

// seePath guards what a chain of attributes leads to.
func (tr *tracer) seePath(src Source, names ...string) {
	v, err := src.Get(tr.env)
	if err != nil {
		return
	}
	tr.see(v, src)
	for _, n := range names {
		next, err := tr.in.GetAttr(v, n)
		if err != nil {
			return
		}
		if s := tr.sources[keyOf(v)]; s != nil && tr.tracked(v) {
			src = s // a module that is known by another way already
		}
		src, v = attrSource{src, n}, next
		tr.see(v, src)
	}
}

// seeHooks guards the hooks of a module whose call runs some, and what runs them.
func (tr *tracer) seeHooks(m *vm.Instance, base Source) {
	own := nnSource{base, moduleKind(m.Class)}
	after := false
	for _, table := range []string{"_forward_pre_hooks", "_forward_hooks"} {
		v, ok := m.Dict.GetStr(table)
		d, isDict := vm.AsDict(v)
		if !ok || !isDict || d.Len() == 0 {
			continue
		}
		after = after || table == "_forward_hooks"
		if kw, ok := m.Dict.GetStr(table + "_with_kwargs"); ok {
			tr.see(kw, attrSource{own, table + "_with_kwargs"})
		}
		src := attrSource{own, table}
		g := lengthGuard("DICT_LENGTH", src, d.Len(), dictLen)
		g.hidden = true
		tr.guards.add(g)
		tr.guards.values[src.Name()] = v
		for i, h := range d.Values() {
			tr.see(h, valueSource{src, i})
		}
		tr.guards.order(attrSource{moduleFile, "_global" + table})
	}
	builtins := []string{"set"}
	if pre, ok := m.Dict.GetStr("_forward_pre_hooks"); ok && dictLen(pre) > 0 {
		builtins = append(builtins, "tuple", "isinstance")
	}
	for _, b := range builtins {
		if v, ok := tr.in.Builtins.Dict.GetStr(b); ok {
			tr.useBuiltin(b, v)
		}
	}
	tr.seePath(moduleFile, "torch", "compiler", "is_compiling")
	tr.seePath(moduleFile, "torch", "_C")
	tr.guards.add(fixedGuard(attrSource{attrSource{attrSource{moduleFile, "torch"}, "_C"}, "_get_tracing_state"}.Name()))
	if after {
		if v, ok := m.Dict.GetStr("_forward_hooks_always_called"); ok {
			tr.see(v, attrSource{own, "_forward_hooks_always_called"})
		}
		for _, name := range []string{"_global_forward_hooks_with_kwargs", "_global_forward_hooks_always_called"} {
			tr.guards.add(&Guard{Kind: "DICT_LENGTH", Expr: "not " + attrSource{moduleFile, name}.Name()})
		}
	}
}

// assigned guards what nn.Module.__setattr__ looks at when the trace assigns an attribute of a module.
func (tr *tracer) assigned(o vm.Object, name string, v vm.Object) {
	m, ok := o.(*vm.Instance)
	if !ok || tr.quiet() || !isModule(m) {
		return
	}
	base := tr.sources[m]
	if set, ok := m.Class.Lookup("__setattr__").(*vm.Function); base == nil || !ok || set.Code.Filename != "torch/nn/modules/module.py" {
		return
	}
	tr.seePath(moduleFile)
	for _, n := range []string{"Parameter", "Module"} {
		tr.seePath(moduleFile, n)
	}
	tr.guards.add(fixedGuard(attrSource{moduleFile, "Buffer"}.Name()))
	own := nnSource{base, moduleKind(m.Class)}
	buffer := false
	for _, table := range []string{"_parameters", "_modules", "_buffers"} {
		t, ok := moduleTable(m, table)
		if !ok {
			continue
		}
		tr.see(t, attrSource{own, table})
		if _, has := t.GetStr(name); has && table == "_buffers" {
			_, buffer = v.(*torch.Tensor)
		}
	}
	builtins := []string{"isinstance", "super"}
	if buffer {
		builtins = []string{"isinstance", "hasattr", "str"}
		tr.seePath(moduleFile, "torch", "Tensor")
		tr.seePath(moduleFile, "torch", "nn", "Module", "register_buffer")
		if s, ok := m.Dict.GetStr("_non_persistent_buffers_set"); ok {
			tr.see(s, attrSource{own, "_non_persistent_buffers_set"})
		}
	}
	for _, b := range builtins {
		if v, ok := tr.in.Builtins.Dict.GetStr(b); ok {
			tr.useBuiltin(b, v)
		}
	}
	tr.guards.add(fixedGuard(base.Name() + ".__class__.__setattr__.__closure__[0].cell_contents"))
}

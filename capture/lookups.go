package capture

import (
	"strings"

	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// seeGlobal guards a global that an instruction is about to load. Those of the captured function's own module are reached by its globals;
// those of other modules by the module, or, where nothing leads there, by the function that is called. What no module has is a builtin,
// and stays one as long as nobody defines a global of that name.
func (rd *reads) seeGlobal(f *vm.Frame, name string) {
	v, global := f.Globals.GetStr(name)
	if rd.effects.WroteGlobal(f.Globals, name) {
		return
	}
	if f.Globals == rd.env.Globals {
		if global {
			rd.world.see(v, source.Global{Var: name})
			_ = rd.standIns.useValue(v) // globals are guarded as soon as they are loaded
			return
		}
	} else {
		imp, ok := rd.moduleOf(f)
		if !ok {
			return
		}
		m, err := imp.Get(rd.env)
		if mod, isModule := m.(*vm.Module); err != nil || !isModule || mod.Dict != f.Globals {
			// No module of that name has these globals: they are those of the function, whose guard knows them.
			rd.world.anchor(f.Globals)
			if src := rd.world.sourceOf(f.Globals); src != nil && global {
				rd.world.see(v, source.Item{Base: src, Key: vm.Str(name), Text: "'" + name + "'"})
				_ = rd.standIns.useValue(v)
				return
			}
		} else {
			rd.world.see(m, imp)
		}
		if global {
			rd.world.see(v, source.Attr{Base: imp, Of: name})
			_ = rd.standIns.useValue(v)
			return
		}
	}
	if v, ok := f.Builtins.GetStr(name); ok {
		rd.world.useBuiltin(name, v)
		rd.guards.Add(guard.Unbound(f.Globals, name))
	}
}

// moduleOf is the source of the module that a frame's function was defined in. Modules of the standard library, and those of
// torch that capture looks through, have none: in PyTorch they are no Python code, or never traced.
func (rd *reads) moduleOf(f *vm.Frame) (source.Import, bool) {
	v, ok := f.Globals.GetStr("__name__")
	name, isStr := vm.AsStr(v)
	if !ok || !isStr || !rd.mirrored(f) {
		return source.Import{}, false
	}
	return source.Import{Module: name}, true
}

// walked notes that the trace goes through all of a container, in order. Of a dict with constant keys PyTorch's own guards say the order;
// of others a guard that no log shows.
func (rd *reads) walked(o vm.Object) {
	src := rd.world.sourceOf(o)
	if src == nil || rd.quiet() {
		return
	}
	if d, ok := vm.AsDict(o); ok {
		rd.guards.Order(src)
		if _, plain := rd.effects.Keys(o, isFixedKey); !plain {
			rd.world.keysGuard(src, o, d)
		}
		return
	}
	if _, ok := guard.Contained(rd.in, o); ok {
		rd.world.membersGuard(src, o)
	}
	if m, ok := o.(*vm.Instance); ok && isModule(m) && !isA(m.Class, "torch.nn.modules.container", "ModuleDict") {
		if n := moduleLen(m); n >= 0 {
			rd.guards.Add(guard.Length(guard.LengthCheck, src, n, moduleLen))
		}
	}
}

// moduleLen is the length of one of torch.nn's containers, -1 for other objects.
func moduleLen(o vm.Object) int {
	m, ok := o.(*vm.Instance)
	if !ok {
		return -1
	}
	table := ""
	for _, name := range []string{"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"} {
		if isA(m.Class, "torch.nn.modules.container", name) {
			table = "_modules"
			if strings.HasPrefix(name, "Parameter") {
				table = "_parameters"
			}
		}
	}
	t, ok := moduleTable(m, table)
	if !ok {
		return -1
	}
	return t.Len()
}

// seeAttr gives an attribute that was just loaded its source, as PyTorch's capture names it.
func (rd *reads) seeAttr(owner vm.Object, base source.Source, name string, v vm.Object) {
	inst, ok := owner.(*vm.Instance)
	if c, isClass := owner.(*vm.Type); isClass && isA(c, "enum", "Enum") {
		return // members are constants of their class
	}
	if !ok && takenAsIs(owner, name, v) {
		if _, written := guard.Contained(rd.in, v); written || isSequence(v) {
			rd.guards.Covertly(func() { rd.world.see(v, source.Attr{Base: base, Of: name}) })
		}
		return
	}
	if ok && isEnumMember(inst) && (name == "value" || name == "name") {
		rd.world.see(v, source.Attr{Base: base, Of: name})
		return
	}
	if !ok {
		if !rd.t.IsOperator(owner) { // an overload of an operator is as fixed as the operator
			rd.world.see(v, source.Attr{Base: base, Of: name})
		}
		return
	}
	if unguarded.has(inst.Class.FullName()) {
		return
	}
	if name == "__dict__" {
		rd.world.ownDict(owner, v)
		return
	}
	if name == "__class__" {
		if rd.world.sources[v] == nil {
			rd.world.sources[v] = source.Attr{Base: base, Of: name}
		}
		return
	}
	if d, ok := inst.Class.Lookup(name).(*vm.Instance); ok && d.Class.Lookup("__get__") != nil && d.Class.Lookup("__set__") == nil {
		// An attribute of the object's own goes before the descriptor: functools.cached_property.
		if own, ok := rd.effects.Attribute(inst, name); ok && own == v {
			rd.world.see(v, source.Attr{Base: base, Of: name})
			return
		}
		rd.guards.Covertly(func() { rd.guards.Add(guard.Lacks(name, base)) })
		return
	}
	if !rd.effects.HadAttr(inst, name, v) || computed(inst, name) {
		return // the trace made it
	}
	own := false
	if isModule(inst) && rd.callsModule() {
		return
	}
	if inst.Dict != nil {
		_, own = inst.Dict.GetStr(name)
	}
	if isModule(inst) {
		kind := moduleKind(inst.Class)
		inClass := inst.Class.Lookup(name)
		if !own && inClass == nil {
			rd.seeMember(inst, base, name, v)
			return
		}
		base = source.Module{Base: base, Kind: kind}
	}
	if fn, isFn := v.(*vm.Function); isFn && !own {
		if _, static := inst.Class.Lookup(name).(*vm.StaticMethod); !static {
			return
		}
		v = fn
	}
	rd.world.see(v, source.Attr{Base: base, Of: name})
}

// takenAsIs reports whether an attribute is one that PyTorch's capture takes as it is, without a guard: a constant of a class, the name of a function.
func takenAsIs(owner vm.Object, name string, v vm.Object) bool {
	switch owner.(type) {
	case *vm.Type:
		return guard.Constant(v)
	case *vm.Function:
		return name == "__name__"
	}
	return false
}

// seeClassConstant guards a constant of a class that an object of the trace's own is about to be asked for.
func (rd *reads) seeClassConstant(o vm.Object, name string) {
	i, ok := o.(*vm.Instance)
	if !ok || rd.world.sourceOf(o) != nil || rd.quiet() {
		return
	}
	if i.Dict != nil {
		if _, own := i.Dict.GetStr(name); own {
			return
		}
	}
	if v := i.Class.Lookup(name); v != nil && guard.Constant(v) {
		if src := rd.world.sourceOf(i.Class); src != nil {
			rd.world.see(v, source.Attr{Base: src, Of: name})
		}
	}
}

// computed reports whether reading an attribute runs code of a script: what it gives has no source of its own.
func computed(i *vm.Instance, name string) bool {
	switch d := i.Class.Lookup(name).(type) {
	case *vm.Property:
		_, named := vm.AsTuple(i) // the fields of a named tuple
		return !named || i.Class.Lookup("_fields") == nil
	case *vm.Instance:
		if d.Class.FullName() == "_collections._tuplegetter" { // a field of a named tuple is an item
			return false
		}
		return d.Class.Lookup("__get__") != nil
	case nil:
		if i.Dict != nil {
			if _, own := i.Dict.GetStr(name); own {
				return false
			}
		}
		return !isModule(i) && i.Class.Lookup("__getattr__") != nil
	}
	return false
}

// seeMember is seeAttr for what nn.Module.__getattr__ finds: it looks into three tables in turn.
func (rd *reads) seeMember(m *vm.Instance, base source.Source, name string, v vm.Object) {
	kind := moduleKind(m.Class)
	for _, table := range []string{"_parameters", "_modules", "_buffers"} {
		t, ok := moduleTable(m, table)
		if !ok {
			continue
		}
		src := source.Attr{Base: source.Module{Base: base, Kind: kind}, Of: table}
		rd.world.see(t, src)
		if x, ok := t.GetStr(name); ok && x == v {
			if rd.effects.Saved(t) && !rd.effects.Held(t, vm.Str(name), v) {
				return // the trace put it there
			}
			rd.world.see(v, source.Item{Base: src, Key: vm.Str(name), Text: "'" + name + "'"})
			_ = rd.standIns.useValue(v) // it has a source, and so becomes an input
			return
		}
	}
}

// moduleKind tells modules of torch.nn from those that scripts define.
func moduleKind(c *vm.Type) source.ModuleKind {
	if strings.HasPrefix(c.Module, "torch.nn.") || strings.HasPrefix(c.Module, "torch.ao.") {
		return source.LibraryModule
	}
	return source.UserModule
}

// seeFrozen guards all fields of a frozen dataclass from outside: PyTorch's capture takes such an object with what it holds.
func (rd *reads) seeFrozen(o vm.Object) error {
	i, ok := o.(*vm.Instance)
	if !ok || i.Dict == nil || rd.quiet() || rd.frozen[i] {
		return nil
	}
	fields, isDict := vm.AsDict(i.Class.Lookup("__dataclass_fields__"))
	src := rd.world.sourceOf(i)
	params := i.Class.Lookup("__dataclass_params__")
	if !isDict || src == nil || params == nil {
		return nil
	}
	if frozen, err := rd.in.GetAttr(params, "frozen"); err != nil || frozen != vm.True {
		return err
	}
	rd.frozen[i] = true
	for _, k := range fields.Keys() {
		name, _ := vm.AsStr(k)
		v, own := i.Dict.GetStr(name)
		if !own {
			continue
		}
		if s := rd.world.swapping(func() { rd.seeAttr(i, src, name, v) }); s != nil {
			if n, isNumber := s.(*torch.Scalar); isNumber {
				rd.out.exprNode(n.Expr)
			}
			continue
		}
		if err := rd.standIns.useValue(v); err != nil {
			return err
		}
	}
	return nil
}

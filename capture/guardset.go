package capture

import (
	"fmt"
	"sort"
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// guardSet collects the guards of one trace.
type guardSet struct {
	list     []*Guard
	seen     map[string]bool      // kind and expression of each guard
	values   map[string]vm.Object // what was guarded, by the name of its source
	tensors  []source.Source      // those whose identities must differ
	keyOrder []source.Source      // dicts whose order of keys the trace relied on
	ordered  map[string]bool
	builtins string // the global under which guards reach the builtins
	place    func() place
	covert   bool                // guards made now are hidden
	unshown  map[string][]*Guard // those that were, by the names of their sources
}

// show lets logs print the guards on a source that were hidden because nobody but the interpreter had read it.
func (s *guardSet) show(name string) {
	for _, g := range s.unshown[name] {
		switch g.Kind {
		case "DICT_KEYS", "MEMBERS", "DICT_CONTAINS":
		default:
			g.hidden = false
		}
	}
	delete(s.unshown, name)
}

func newGuardSet(builtins string) guardSet {
	return guardSet{seen: map[string]bool{}, values: map[string]vm.Object{}, unshown: map[string][]*Guard{}, ordered: map[string]bool{}, builtins: builtins}
}

// add keeps a guard unless the set has it.
func (s *guardSet) add(gs ...*Guard) {
	for _, g := range gs {
		g.hidden = g.hidden || s.covert || g.Source != nil && source.IsFixed(g.Source)
		if k := g.Kind + " " + g.Expr; !s.seen[k] {
			s.seen[k] = true
			if s.covert && g.Source != nil {
				s.unshown[g.Source.Name()] = append(s.unshown[g.Source.Name()], g)
			}
			s.list = append(s.list, g)
			if s.place != nil && g.made.code == nil {
				g.made = s.place()
			}
		}
	}
}

// order notes that the trace walked the keys of the dict at src.
func (s *guardSet) order(src source.Source) {
	if n := src.Name(); !s.ordered[n] {
		s.ordered[n] = true
		s.keyOrder = append(s.keyOrder, src)
	}
}

// guard adds the guards of a value for one source.
func (tr *tracer) guard(v vm.Object, src source.Source) {
	n := src.Name()
	if _, done := tr.guards.values[n]; done {
		if !tr.guards.covert {
			tr.guards.show(n)
		}
		return
	}
	tr.guards.values[n] = v
	tr.guards.add(tr.guardFor(v, src)...)
	if p, ok := v.(*torch.Tensor); ok && !isParameter(p) {
		tr.guards.tensors = append(tr.guards.tensors, src)
	}
}

// seeAgain meets a value a second time, through another source: objects that have an identity to the trace must stay one
// object, others are guarded in both places.
func (tr *tracer) seeAgain(v vm.Object, first, src source.Source) {
	a, b := first.Name(), src.Name()
	if a == b {
		if !tr.guards.covert {
			tr.guards.show(b)
		}
		return
	}
	if source.IsFixed(first) && !source.IsFixed(src) {
		tr.sources[keyOf(v)] = src
		tr.guard(v, src)
		return
	}
	if _, isIter := v.(*replayIter); isIter {
		return
	}
	if !tr.tracked(v) {
		tr.guard(v, src)
		return
	}
	if source.IsLocal(first) != source.IsLocal(src) || tr.guards.seen["alias "+b+" is "+a] {
		return
	}
	if _, done := tr.guards.values[b]; done {
		return
	}
	tr.guards.seen["alias "+a+" is "+b] = true
	g := &Guard{Kind: "OBJECT_ALIASING", Expr: a + " is " + b, Source: src, among: []source.Source{first, src}, relate: func(vs []vm.Object) (bool, string) {
		return vs[0] == vs[1], ""
	}}
	if !tr.guards.seen[g.Kind+g.Expr] {
		tr.guards.seen[g.Kind+g.Expr] = true
		// Both objects carry the guard: it fails on the one that is looked at last.
		g.hidden = tr.guards.covert || source.IsFixed(first) || source.IsFixed(src)
		tr.guards.list = append(tr.guards.list, g, g)
	}
}

// tracked reports whether a value is one object to the trace wherever it comes from.
func (tr *tracer) tracked(v vm.Object) bool {
	switch v := v.(type) {
	case *torch.Tensor, *vm.List, *vm.Dict, *vm.Module:
		return true
	case *vm.Instance:
		name := v.Class.FullName()
		return name != "functools.partial" && !byIdentity.has(name) && !isEnumMember(v) && tr.t.TargetOf(v) == ""
	}
	return false
}

// finalGuards are the guards of a trace that has ended, in PyTorch's order.
func (tr *tracer) finalGuards() []*Guard {
	s := &tr.guards
	list := append([]*Guard(nil), s.list...)
	for _, src := range s.keyOrder {
		v, guarded := s.values[src.Name()]
		if !guarded {
			continue
		}
		keys, ok := tr.keysBefore(v)
		if !ok {
			continue
		}
		for _, g := range list {
			if g.Kind == "DICT_LENGTH" && g.Source != nil && g.Source.Name() == src.Name() {
				g.hidden = true // the guards on the keys print it
			}
		}
		list = append(list, tr.keyGuards(src, keys)...)
	}
	sort.SliceStable(list, func(i, j int) bool { return source.Less(list[i].Source, list[j].Source) })
	if len(s.tensors) > 1 {
		list = append(list, aliasingGuards(s.tensors)...)
	}
	return append(list, tr.classGuards()...)
}

// keysBefore are the keys that a dict had before the trace; ok is false unless all of them are constants.
func (tr *tracer) keysBefore(v vm.Object) (keys []vm.Object, ok bool) {
	d, isDict := vm.AsDict(v)
	if !isDict {
		return nil, false
	}
	items := pairs(d)
	for _, o := range []vm.Object{v, d} {
		if s, saved := tr.saved[o]; saved && s.dict == nil {
			items = s.items
		}
	}
	for i := 0; i < len(items); i += 2 {
		if keyOf(items[i]) != nil {
			return nil, false
		}
		keys = append(keys, items[i])
	}
	return keys, true
}

// keyGuards say what keys a dict has, in order. The first of them checks them all; each is shown.
func (tr *tracer) keyGuards(src source.Source, keys []vm.Object) []*Guard {
	gs := make([]*Guard, len(keys))
	for i, k := range keys {
		r, err := tr.in.Repr(k)
		if err != nil {
			r = k.Type().Name
		}
		gs[i] = &Guard{Kind: "EQUALS_MATCH", Expr: fmt.Sprintf("list(%s.keys())[%d] == %s", src.Name(), i, r), Source: src}
	}
	if len(gs) > 0 {
		gs[0].check = func(e *source.Env, now vm.Object) (bool, string) {
			d, ok := vm.AsDict(now)
			if !ok {
				return false, ""
			}
			at := 0
			d.Each(func(key, _ vm.Object) bool {
				if at == len(keys) {
					return false
				}
				if k := keys[at]; key != k {
					if key.Type() != k.Type() {
						return false
					}
					if eq, err := e.In.Eq(key, k); err != nil || !eq {
						return false
					}
				}
				at++
				return true
			})
			if at < len(keys) {
				return false, gs[at].Expr
			}
			return true, ""
		}
	}
	return gs
}

// aliasingGuards are the one that is shown, and one for the tensors that have no name besides.
func aliasingGuards(sources []source.Source) []*Guard {
	var named []source.Source
	for _, s := range sources {
		if !source.IsFixed(s) {
			named = append(named, s)
		}
	}
	var out []*Guard
	if len(named) > 1 {
		out = append(out, aliasingGuard(named))
	}
	if len(named) < len(sources) {
		g := aliasingGuard(sources)
		g.hidden = true
		out = append(out, g)
	}
	return out
}

// aliasingGuard says that tensors that came in as different objects still do.
func aliasingGuard(sources []source.Source) *Guard {
	all := append([]source.Source(nil), sources...)
	sort.SliceStable(all, func(i, j int) bool { return source.Less(all[i], all[j]) })
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name()
	}
	expr := "check_no_aliasing(" + strings.Join(names, ", ") + ")"
	return &Guard{Kind: "NO_TENSOR_ALIASING", Expr: expr, among: all, relate: func(vs []vm.Object) (bool, string) {
		if len(vs) < 8 {
			for i, v := range vs {
				for _, w := range vs[:i] {
					if v == w {
						return false, "Duplicate tensors found"
					}
				}
			}
			return true, ""
		}
		seen := make(map[vm.Object]bool, len(vs))
		for _, v := range vs {
			if seen[v] {
				return false, "Duplicate tensors found"
			}
			seen[v] = true
		}
		return true, ""
	}}
}

// shown are the guards that logs and records print.
func shown(gs []*Guard) []*Guard {
	out := make([]*Guard, 0, len(gs))
	for _, g := range gs {
		if !g.hidden {
			out = append(out, g)
		}
	}
	return out
}

// inTree are the guards that the printed tree has a place for.
func inTree(gs []*Guard) []*Guard {
	out := make([]*Guard, 0, len(gs))
	for _, g := range gs {
		if !g.hidden || g.Kind == "HASATTR" {
			out = append(out, g)
		}
	}
	return out
}

func isParameter(p *torch.Tensor) bool { return p.Type().Name == "Parameter" }

// seeGlobal guards a global that an instruction is about to load.
func (tr *tracer) seeGlobal(f *vm.Frame, name string) {
	v, global := f.Globals.GetStr(name)
	if tr.wroteGlobal(f.Globals, name) {
		return
	}
	if f.Globals == tr.env.Globals {
		if global {
			tr.see(v, source.Global{Var: name})
			_ = tr.useValue(v) // globals are guarded as soon as they are loaded
			return
		}
	} else {
		imp, ok := tr.moduleOf(f)
		if !ok {
			return
		}
		m, err := imp.Get(tr.env)
		if mod, isModule := m.(*vm.Module); err != nil || !isModule || mod.Dict != f.Globals {
			// No module of that name has these globals: they are those of the function, whose guard knows them.
			tr.anchor(f.Globals)
			if src := tr.sourceOf(f.Globals); src != nil && global {
				tr.see(v, source.Item{Base: src, Key: vm.Str(name), Text: "'" + name + "'"})
				_ = tr.useValue(v)
				return
			}
		} else {
			tr.see(m, imp)
		}
		if global {
			tr.see(v, source.Attr{Base: imp, Of: name})
			_ = tr.useValue(v)
			return
		}
	}
	if v, ok := f.Builtins.GetStr(name); ok {
		tr.useBuiltin(name, v)
		tr.guards.add(noGlobalGuard(f.Globals, name))
	}
}

// noGlobalGuard holds as long as a dict of globals lacks a name, so that the builtin of that name is found.
func noGlobalGuard(globals *vm.Dict, name string) *Guard {
	var before vm.Absence
	return &Guard{Kind: "NO_GLOBAL", Expr: fmt.Sprintf("'%s' not in globals %p", name, globals), hidden: true, check: func(*source.Env, vm.Object) (bool, string) {
		return globals.Lacks(name, &before), "a global hides the builtin " + name
	}}
}

// useBuiltin guards a builtin function or class.
func (tr *tracer) useBuiltin(name string, v vm.Object) {
	switch v.(type) {
	case *vm.Builtin, *vm.Function, *vm.Type:
		tr.guard(v, source.Builtin{Dict: tr.guards.builtins, Var: name})
	}
}

// moduleOf is the source of the module that a frame's function was defined in. Modules of the standard library, and those of
// torch that capture looks through, have none: in PyTorch they are no Python code, or never traced.
func (tr *tracer) moduleOf(f *vm.Frame) (source.Import, bool) {
	v, ok := f.Globals.GetStr("__name__")
	name, isStr := vm.AsStr(v)
	if !ok || !isStr || !tr.mirrored(f) {
		return source.Import{}, false
	}
	return source.Import{Module: name}, true
}

// mirrored reports whether a frame runs code that PyTorch traces, too.
func (tr *tracer) mirrored(f *vm.Frame) bool {
	if f.Code.Filename == "torch/nn/modules/module.py" { // see moduleguards.go
		return !strings.HasPrefix(f.Code.Name, "_") || f.Code.Name == "__init__"
	}
	return strings.HasPrefix(f.Code.Filename, "torch/nn/modules/") || !tr.d.IsLibrary(f.Code.Filename)
}

// quiet reports whether the running frame is the library's own way of doing what PyTorch does by other means.
func (tr *tracer) quiet() bool {
	f := tr.in.Frame()
	return f != nil && f.Globals != tr.env.Globals && !tr.mirrored(f)
}

// walked notes that the trace goes through all of a container, in order.
func (tr *tracer) walked(o vm.Object) {
	src := tr.sourceOf(o)
	if src == nil || tr.quiet() {
		return
	}
	if d, ok := vm.AsDict(o); ok {
		tr.guards.order(src)
		if _, plain := tr.keysBefore(o); !plain {
			tr.keysGuard(src, o, d)
		}
		return
	}
	if _, ok := members(tr.in, o); ok {
		tr.membersGuard(src, o)
	}
	if m, ok := o.(*vm.Instance); ok && isModule(m) {
		if n := moduleLen(m); n >= 0 {
			tr.guards.add(lengthGuard("LENGTH_CHECK", src, n, moduleLen))
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
func (tr *tracer) seeAttr(owner vm.Object, base source.Source, name string, v vm.Object) {
	inst, ok := owner.(*vm.Instance)
	if c, isClass := owner.(*vm.Type); isClass && isA(c, "enum", "Enum") {
		return // members are constants of their class
	}
	if !ok {
		if !tr.t.IsOperator(owner) { // an overload of an operator is as fixed as the operator
			tr.see(v, source.Attr{Base: base, Of: name})
		}
		return
	}
	if unguarded.has(inst.Class.FullName()) {
		return
	}
	if name == "__dict__" {
		tr.ownDict(owner, v)
		return
	}
	if name == "__class__" {
		if tr.sources[v] == nil {
			tr.sources[v] = source.Attr{Base: base, Of: name}
		}
		return
	}
	if !tr.kept(inst, name, v) || computed(inst, name) {
		return
	}
	own := false
	if isModule(inst) && tr.quiet() {
		return
	}
	if inst.Dict != nil {
		_, own = inst.Dict.GetStr(name)
	}
	if isModule(inst) {
		kind := moduleKind(inst.Class)
		inClass := inst.Class.Lookup(name)
		if !own && inClass == nil {
			tr.seeMember(inst, base, name, v)
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
	tr.see(v, source.Attr{Base: base, Of: name})
}

// computed reports whether reading an attribute runs code of a script: what it gives has no source of its own.
func computed(i *vm.Instance, name string) bool {
	switch d := i.Class.Lookup(name).(type) {
	case *vm.Property:
		_, named := vm.AsTuple(i) // the fields of a named tuple
		return !named || i.Class.Lookup("_fields") == nil
	case *vm.Instance:
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
func (tr *tracer) seeMember(m *vm.Instance, base source.Source, name string, v vm.Object) {
	kind := moduleKind(m.Class)
	for _, table := range []string{"_parameters", "_modules", "_buffers"} {
		t, ok := moduleTable(m, table)
		if !ok {
			continue
		}
		src := source.Attr{Base: source.Module{Base: base, Kind: kind}, Of: table}
		tr.see(t, src)
		if x, ok := t.GetStr(name); ok && x == v {
			tr.see(v, source.Item{Base: src, Key: vm.Str(name), Text: "'" + name + "'"})
			_ = tr.useValue(v) // it has a source, and so becomes an input
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

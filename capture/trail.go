package capture

import (
	"fmt"
	"slices"
	"strconv"

	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// modulePath is how a program reaches a module. Members by number are found in the tables of those that hold them.
func modulePath(src source.Source, exported bool) string {
	switch s := src.(type) {
	case source.Module:
		return modulePath(s.Base, exported)
	case source.Item:
		table, ok := s.Base.(source.Attr)
		key, isStr := vm.AsStr(s.Key)
		if !ok || table.Of != "_modules" || !isStr {
			break
		}
		if _, err := strconv.Atoi(key); err != nil {
			return modulePath(table.Base, exported) + "." + key
		}
		if exported {
			return modulePath(table.Base, exported) + "[" + key + "]"
		}
	}
	return src.Name()
}

// trail is the origin of a node that was just made for a call, with the modules whose calls are under way.
func (tr *tracer) trail(n *fx.Node) fx.Origin {
	o := tr.origin()
	if o == (fx.Origin{}) {
		return o
	}
	t := &fx.Trail{Node: n.Name, Op: n.Op, Target: n.Target}
	for _, op := range tr.bodies.open {
		t.Within = append(t.Within, op)
	}
	var places []guard.Place
	call := func(m vm.Object) {
		if src := tr.world.sources[m]; src != nil {
			c := fx.ModuleCall{Key: fmt.Sprint(tr.in.ID(m)), Path: modulePath(src, tr.d.ctx.Export != nil), Class: m.Type()}
			if tr.d.ctx.Export != nil {
				c.Key = memberName(memberPath(src, tr.env))
			}
			t.Modules = append(t.Modules, c)
		}
	}
	for _, m := range tr.out.members {
		if n.Op == fx.CallModule && m.name == n.Target {
			call(m.value)
		}
	}
	tr.frames(func(f *vm.Frame) bool {
		if f == tr.root || tr.shown(f) {
			places = append(places, guard.Place{Code: f.Code, Line: f.Line()})
		}
		if f != tr.root && f.Code.Name == "forward" && f.Code.ArgCount > 0 {
			if m, ok := f.LocalsPlus[0].(*vm.Instance); ok && isModule(m) {
				call(m)
			}
		}
		return true
	})
	slices.Reverse(places)
	slices.Reverse(t.Modules)
	t.Stack = func() []fx.Origin {
		out := make([]fx.Origin, len(places))
		for i, p := range places {
			out[i] = lineOf(p)
		}
		return out
	}
	o.Trail = t
	return o
}

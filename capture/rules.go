package capture

import (
	"slices"
	"strings"

	"whittle/capture/python/vm"
)

// The program can say which functions a trace looks into and which it leaves alone: torch._dynamo.trace_rules has what it said.

// rules is what the program said of functions.
type rules struct {
	skipped    []string             // files, or the folders that they lie in
	disallowed map[*vm.Builtin]bool // functions of torch that end graphs
}

// skips reports whether the program wants functions of a file left alone.
func (r *rules) skips(file string) bool {
	return slices.ContainsFunc(r.skipped, func(s string) bool { return strings.HasPrefix(file, s) })
}

// rulesModule is torch._dynamo.trace_rules, if the program has imported it.
func (d *Dynamo) rulesModule() vm.Object {
	m, ok := d.In.Modules.GetStr("torch._dynamo.trace_rules")
	if !ok {
		return nil
	}
	return m
}

// lookedInto reports whether the program wants a function looked into that a trace would leave alone.
func (tr *tracer) lookedInto(f *vm.Function) (bool, error) {
	m := tr.d.rulesModule()
	if m == nil {
		return false, nil
	}
	v, err := tr.outside(func() (vm.Object, error) { return tr.in.CallMethod(m, "_looked_into", f) })
	if err != nil {
		return false, err
	}
	return v == vm.True, nil
}

// rulesNatives binds what trace_rules tells of and asks.
func (d *Dynamo) rulesNatives(m *vm.Module) {
	m.Func("rules_changed", func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		mod := d.rulesModule()
		if mod == nil {
			return vm.None, nil
		}
		v, err := in.GetAttr(mod, "SKIP_DIRS")
		if err != nil {
			return nil, err
		}
		items, err := in.IterAll(v)
		if err != nil {
			return nil, err
		}
		d.rules.skipped = nil
		for _, x := range items {
			if s, ok := vm.AsStr(x); ok {
				d.rules.skipped = append(d.rules.skipped, s)
			}
		}
		return vm.None, nil
	})
	m.Func("disallow", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		f, ok := a[0].(*vm.Builtin)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "expected a function of torch, not %s", a[0].Type().Name)
		}
		if d.rules.disallowed == nil {
			d.rules.disallowed = map[*vm.Builtin]bool{}
		}
		d.rules.disallowed[f] = a[1] == vm.True
		return vm.None, nil
	})
	m.Func("skips", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		f, ok := a[0].(*vm.Function)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "expected a function, not %s", a[0].Type().Name)
		}
		mod, name := d.definition(f)
		top, _, _ := strings.Cut(mod, ".")
		switch {
		case marked(f, "_torchdynamo_disable"), d.rules.skips(f.Code.Filename):
			return vm.True, nil
		case top == "torch":
			return vm.MakeBool(strings.HasPrefix(mod, "torch._dynamo") || strings.HasPrefix(mod, "torch._inductor")), nil
		}
		return vm.MakeBool(libraryCalls[mod+"."+name] != nil || d.leavesAlone(f, top)), nil
	})
}

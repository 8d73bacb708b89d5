package capture

import (
	"strings"

	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// constantArgs reports whether a builtin is called on constants alone, or on what a trace made of them: PyTorch computes such calls while tracing.
func constantArgs(args []vm.Object) bool {
	for _, a := range args {
		if items, ok := vm.Remaining(a); ok && constantArgs(items) {
			continue
		}
		if !guard.Constant(a) {
			return false
		}
	}
	return true
}

// polyfill says what PyTorch's own Python version of a builtin looks up; capture guards it, as the trace goes through it.
type polyfill struct {
	folds    bool // calls on constants are computed instead
	module   string
	attrs    []string // of the module, dotted
	builtins []string
	then     string   // the builtin that it calls
	also     []string // other modules of polyfills that it reaches
	natives  []string // functions of the standard library, by module and name
}

// polyfills are the builtins that PyTorch traces through, by module and name.
var polyfills = map[string]polyfill{
	"builtins.sum":          {folds: true, module: "builtins", attrs: []string{"operator", "operator.add", "functools", "functools.reduce"}, then: "functools.reduce"},
	"builtins.enumerate":    {module: "builtins", builtins: []string{"isinstance", "int"}},
	"list_cmp":              {builtins: []string{"zip"}},
	"list_eq":               {builtins: []string{"zip", "len"}},
	"itertools.compress":    {module: "itertools", builtins: []string{"zip"}},
	"itertools.islice":      {module: "itertools", builtins: []string{"max", "zip", "range", "slice"}},
	"itertools.tee":         {module: "itertools", builtins: []string{"iter", "next", "range", "tuple", "StopIteration"}},
	"itertools.zip_longest": {builtins: []string{"iter", "next", "tuple", "StopIteration"}},
	"itertools.dropwhile":   {builtins: []string{"iter"}},
	"operator.itemgetter":   {module: "operator", builtins: []string{"len"}},
	"operator.attrgetter":   {module: "operator", builtins: []string{"any", "len", "str", "getattr", "isinstance"}},
	"operator.methodcaller": {module: "operator", builtins: []string{"str", "getattr", "isinstance"}},
	"list_index":            {builtins: []string{"isinstance", "int", "slice", "enumerate"}, also: []string{"builtins", "itertools"}, natives: []string{"itertools.islice"}},
	"functools.reduce":      {module: "functools", attrs: []string{"_INITIAL_MISSING"}, builtins: []string{"iter"}},
}

// usePolyfill guards what PyTorch's version of a builtin relies on.
func (wo *world) usePolyfill(name string, args []vm.Object) {
	p, ok := polyfills[name]
	if f := wo.in.Frame(); f != nil && strings.HasPrefix(f.Code.Filename, "torch/_dynamo/polyfills/") && name != "functools.reduce" {
		return // ours may be written with others than PyTorch's
	}
	if !ok || p.folds && constantArgs(args) {
		return
	}
	base := source.Import{Module: strings.TrimSuffix("torch._dynamo.polyfills."+p.module, ".")}
	wo.guards.Add(guard.Part(base.Name()))
	for _, a := range p.attrs {
		wo.guards.Add(guard.Part(base.Name() + "." + a))
	}
	for _, b := range p.builtins {
		if v, ok := wo.in.Builtins.Dict.GetStr(b); ok {
			wo.useBuiltin(b, v)
		}
	}
	for _, m := range p.also {
		wo.guards.Add(guard.Part(source.Import{Module: "torch._dynamo.polyfills." + m}.Name()))
	}
	for _, n := range p.natives {
		module, name, _ := strings.Cut(n, ".")
		wo.guards.Add(guard.Part(source.Import{Module: module}.Name() + "." + name))
	}
	if name == "functools.reduce" && len(args) == 2 { // the first item is the initial one
		if v, ok := wo.in.Builtins.Dict.GetStr("next"); ok {
			wo.useBuiltin("next", v)
		}
	}
	if p.then != "" {
		wo.usePolyfill(p.then, nil)
	}
}

// callModule is the call of an nn.Module without hooks: its forward is inlined, and what makes that right is guarded. A module with a
// forward of its own, one whose class has another __call__, and one with hooks are called as Python does; their __call__ is traced.
func (bn *bindings) callModule(m *vm.Instance, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	base := bn.world.sourceOf(m)
	if isA(m.Class, "torch.fx.graph_module", "GraphModule") {
		return nil, false, nil
	}
	fwd, isFn := m.Class.Lookup("forward").(*vm.Function)
	if own, ok := m.Dict.GetStr("forward"); ok {
		if base != nil {
			src := source.Source(source.Attr{Base: source.Module{Base: base, Kind: moduleKind(m.Class)}, Of: "forward"})
			f, isF := own.(*vm.Function)
			if b, bound := own.(*vm.BoundMethod); bound {
				src = source.Attr{Base: src, Of: "__func__"}
				f, isF = b.Func.(*vm.Function)
			}
			if isF {
				bn.guards.Add(guard.Code(f, src))
			}
		}
		return nil, false, nil
	}
	mod, err := bn.in.Import("torch.nn.modules.module")
	if err != nil {
		return nil, false, err
	}
	base0, err := bn.in.GetAttr(mod, "Module")
	if err != nil {
		return nil, false, err
	}
	if m.Class.Lookup("__call__") != base0.(*vm.Type).Lookup("__call__") {
		return nil, false, nil
	}
	// Hooks of this module, then those of all modules, whose tables are guarded to stay as they are.
	hooks := false
	for _, name := range []string{"_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks"} {
		v, ok := m.Dict.GetStr(name)
		hooks = hooks || ok && guard.DictLen(v) > 0
		if ok && !bn.world.skipHooks && base != nil && guard.DictLen(v) == 0 && bn.effects.HadAttr(m, name, v) {
			bn.world.see(v, source.Attr{Base: source.Module{Base: base, Kind: moduleKind(m.Class)}, Of: name})
		}
	}
	imp := moduleFile
	bn.world.see(mod, imp)
	for _, name := range []string{"_global_backward_pre_hooks", "_global_backward_hooks", "_global_forward_hooks", "_global_forward_pre_hooks"} {
		v, err := bn.in.GetAttr(mod, name)
		if err != nil {
			return nil, false, err
		}
		bn.world.see(v, source.Attr{Base: imp, Of: name})
		hooks = hooks || guard.DictLen(v) > 0
	}
	if hooks && base != nil {
		bn.reads.seeHooks(m, base)
	}
	if base != nil {
		bn.guards.AddAnew(guard.Lacks("forward", base)) // one for each call
	}
	if hooks || !isFn {
		return nil, false, nil
	}
	if base != nil {
		bn.called = calledFunc{fn: fwd, src: source.Attr{Base: source.Attr{Base: base, Of: "__class__"}, Of: "forward"}, given: len(args) + 1, kw: kw}
	}
	v, err := bn.in.Call(fwd, append([]vm.Object{m}, args...), kw)
	return v, true, err
}

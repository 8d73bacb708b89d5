package capture

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// calledFunc is a call that is about to become a frame of the trace.
type calledFunc struct {
	fn    *vm.Function
	src   source.Source // nil for a function without one
	given int           // positional arguments, self included
	kw    []vm.KwArg
}

// calling notes which function the next frame is a call of, and how the function was reached.
func (bn *bindings) calling(fn *vm.Function, callable vm.Object, args []vm.Object, kw []vm.KwArg) {
	c := calledFunc{fn: fn, given: len(args), kw: kw}
	if m, ok := callable.(*vm.BoundMethod); ok {
		c.given++
		if c.src = bn.methodSource(fn, m.Self); c.src == nil {
			c.src = bn.world.sourceOf(fn)
		}
	} else if c.src = bn.world.sourceOf(fn); c.src == nil && len(args) > 0 {
		c.src = bn.methodSource(fn, args[0]) // LOAD_METHOD passes self as an argument
	}
	bn.called = c
}

// methodSource is where a method of self was found; nil when self has no source, or the method is none of its class.
func (bn *bindings) methodSource(fn *vm.Function, self vm.Object) source.Source {
	inst, ok := self.(*vm.Instance)
	if !ok {
		return nil
	}
	base := bn.world.sourceOf(inst)
	if base == nil {
		return nil
	}
	if inst.Class.Lookup(fn.Name) == vm.Object(fn) {
		return source.Attr{Base: base, Of: fn.Name}
	}
	for i, c := range inst.Class.MRO {
		if v, ok := c.Dict.GetStr(fn.Name); ok && v == vm.Object(fn) {
			return source.Inherited{Base: base, I: i, Of: fn.Name}
		}
	}
	return nil
}

// enter gives a frame that starts the source of its function, and its default arguments theirs.
func (bn *bindings) enter(f *vm.Frame) {
	c := bn.called
	bn.called = calledFunc{}
	if c.fn == nil || c.fn != f.Func {
		c = calledFunc{given: -1}
		if f.Func != nil { // the interpreter calls it, to compare or to convert, say
			c.src = bn.world.sourceOf(f.Func)
		}
	}
	if bn.world.made[f.Func] {
		c.src = nil
	}
	bn.funcs[f] = c.src
	bn.bindCells(f, c.src)
	if c.src == nil || f.Func == nil {
		return
	}
	named := map[string]bool{}
	for _, k := range c.kw {
		named[k.Name] = true
	}
	cc := f.Code
	first := cc.ArgCount - len(f.Func.Defaults)
	for i, d := range f.Func.Defaults {
		slot := first + i
		if (slot >= c.given || c.given < 0) && !named[cc.VarNames[slot]] && f.LocalsPlus[slot] == d {
			bn.byDefault(f, slot, d, source.Item{Base: source.Attr{Base: c.src, Of: "__defaults__"}, Key: vm.MakeInt(int64(i)), Text: fmt.Sprint(i)})
		}
	}
	if f.Func.KwDefaults == nil {
		return
	}
	for slot := cc.ArgCount; slot < cc.ArgCount+cc.KwOnly; slot++ {
		name := cc.VarNames[slot]
		if d, ok := f.Func.KwDefaults.GetStr(name); ok && !named[name] {
			bn.byDefault(f, slot, d, source.Item{Base: source.Attr{Base: c.src, Of: "__kwdefaults__"}, Key: vm.Str(name), Text: "'" + name + "'"})
		}
	}
}

// defaultValue is an argument of an inlined call that was left at its default, and not looked at yet.
type defaultValue struct {
	v   vm.Object
	src source.Source
}

// byDefault notes an argument that was left at its default; it is guarded when the function reads it.
func (bn *bindings) byDefault(f *vm.Frame, slot int, v vm.Object, src source.Source) {
	if slices.Contains(f.Code.CellVars, f.Code.LocalsPlusName(slot)) {
		bn.world.see(v, src) // reads of a cell are seen otherwise
		return
	}
	if bn.defaults[f] == nil {
		bn.defaults[f] = map[int]defaultValue{}
	}
	bn.defaults[f][slot] = defaultValue{v, src}
}

// seeDefault guards an argument that an inlined function reads, if it is one that was left at its default.
func (bn *bindings) seeDefault(f *vm.Frame, slot int) {
	if d, ok := bn.defaults[f][slot]; ok {
		delete(bn.defaults[f], slot)
		if f.LocalsPlus[slot] == d.v {
			bn.world.see(d.v, d.src)
		}
	}
}

// bindCells notes how the cells of a function that is called can be reached. The first call decides.
func (bn *bindings) bindCells(f *vm.Frame, src source.Source) {
	if f.Func == nil {
		return
	}
	for i, c := range f.Func.Closure {
		if _, known := bn.cells[c]; known {
			continue
		}
		bn.cells[c] = nil
		if src != nil {
			bn.cells[c] = source.Attr{Base: source.Item{Base: source.Attr{Base: src, Of: "__closure__"}, Key: vm.MakeInt(int64(i)), Text: fmt.Sprint(i)}, Of: "cell_contents"}
		}
	}
}

// seeFree gives what an inlined function reads from its closure a source.
func (bn *bindings) seeFree(f *vm.Frame, slot int) {
	c, ok := f.LocalsPlus[slot].(*vm.Cell)
	if !ok || c.V == nil {
		return
	}
	if bn.cells[c] == nil {
		// A variable of the compiled function that a function made in it reads.
		name := f.Code.LocalsPlusName(slot)
		if _, isCell := bn.rootCell(name).(*vm.Cell); isCell && bn.rootCell(name) == vm.Object(c) && bn.env.Locals[name] == c.V {
			bn.world.loaded(f, c.V, source.Local{Var: name})
		}
		return
	}
	if before, touched := bn.effects.Before(c); touched && before[0] != c.V {
		return
	}
	bn.world.see(c.V, bn.cells[c])
	_ = bn.standIns.useValue(c.V)
}

// rootCell is what the compiled frame keeps in the slot of a variable.
func (bn *bindings) rootCell(name string) vm.Object {
	for i := range bn.root.LocalsPlus {
		if bn.root.Code.LocalsPlusName(i) == name {
			return bn.root.LocalsPlus[i]
		}
	}
	return nil
}

// seeClassCell guards the class that super() without arguments finds in its function's closure.
func (bn *bindings) seeClassCell(f *vm.Frame) {
	for i, name := range f.Code.FreeVars {
		if name != "__class__" {
			continue
		}
		slot := len(f.LocalsPlus) - len(f.Code.FreeVars) + i
		if f != bn.root {
			bn.seeFree(f, slot)
		} else if c, ok := f.LocalsPlus[slot].(*vm.Cell); ok && c.V != nil {
			bn.world.see(c.V, source.Local{Var: name})
		}
	}
}

// constantArgs reports whether a builtin is called on constants alone: PyTorch computes such calls while tracing.
func constantArgs(args []vm.Object) bool {
	for _, a := range args {
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
	then     string // the builtin that it calls
}

// polyfills are the builtins that PyTorch traces through, by module and name.
var polyfills = map[string]polyfill{
	"builtins.sum":       {folds: true, module: "builtins", attrs: []string{"operator", "operator.add", "functools", "functools.reduce"}, then: "functools.reduce"},
	"builtins.enumerate": {module: "builtins", builtins: []string{"isinstance", "int"}},
	"list_cmp":           {builtins: []string{"zip"}},
	"functools.reduce":   {module: "functools", attrs: []string{"_INITIAL_MISSING"}, builtins: []string{"iter"}},
}

// usePolyfill guards what PyTorch's version of a builtin relies on.
func (wo *world) usePolyfill(name string, args []vm.Object) {
	p, ok := polyfills[name]
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
	if p.then != "" {
		wo.usePolyfill(p.then, nil)
	}
}

// callModule is the call of an nn.Module without hooks: its forward is inlined, and what makes that right is guarded.
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
	hooks := false
	for _, name := range []string{"_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks"} {
		v, ok := m.Dict.GetStr(name)
		hooks = hooks || ok && guard.DictLen(v) > 0
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

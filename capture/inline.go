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
func (tr *tracer) calling(fn *vm.Function, callable vm.Object, args []vm.Object, kw []vm.KwArg) {
	c := calledFunc{fn: fn, given: len(args), kw: kw}
	if m, ok := callable.(*vm.BoundMethod); ok {
		c.given++
		if c.src = tr.methodSource(fn, m.Self); c.src == nil {
			c.src = tr.sourceOf(fn)
		}
	} else if c.src = tr.sourceOf(fn); c.src == nil && len(args) > 0 {
		c.src = tr.methodSource(fn, args[0]) // LOAD_METHOD passes self as an argument
	}
	tr.called = c
}

// methodSource is where a method of self was found; nil when self has no source, or the method is none of its class.
func (tr *tracer) methodSource(fn *vm.Function, self vm.Object) source.Source {
	inst, ok := self.(*vm.Instance)
	if !ok {
		return nil
	}
	base := tr.sourceOf(inst)
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
func (tr *tracer) enter(f *vm.Frame) {
	c := tr.called
	tr.called = calledFunc{}
	if c.fn == nil || c.fn != f.Func {
		c = calledFunc{given: -1}
		if f.Func != nil { // the interpreter calls it, to compare or to convert, say
			c.src = tr.sourceOf(f.Func)
		}
	}
	if tr.made[f.Func] {
		c.src = nil
	}
	tr.funcs[f] = c.src
	tr.bindCells(f, c.src)
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
			tr.byDefault(f, slot, d, source.Item{Base: source.Attr{Base: c.src, Of: "__defaults__"}, Key: vm.MakeInt(int64(i)), Text: fmt.Sprint(i)})
		}
	}
	if f.Func.KwDefaults == nil {
		return
	}
	for slot := cc.ArgCount; slot < cc.ArgCount+cc.KwOnly; slot++ {
		name := cc.VarNames[slot]
		if d, ok := f.Func.KwDefaults.GetStr(name); ok && !named[name] {
			tr.byDefault(f, slot, d, source.Item{Base: source.Attr{Base: c.src, Of: "__kwdefaults__"}, Key: vm.Str(name), Text: "'" + name + "'"})
		}
	}
}

// defaultValue is an argument of an inlined call that was left at its default, and not looked at yet.
type defaultValue struct {
	v   vm.Object
	src source.Source
}

// byDefault notes an argument that was left at its default; it is guarded when the function reads it.
func (tr *tracer) byDefault(f *vm.Frame, slot int, v vm.Object, src source.Source) {
	if slices.Contains(f.Code.CellVars, f.Code.LocalsPlusName(slot)) {
		tr.see(v, src) // reads of a cell are seen otherwise
		return
	}
	if tr.defaults == nil {
		tr.defaults = map[*vm.Frame]map[int]defaultValue{}
	}
	if tr.defaults[f] == nil {
		tr.defaults[f] = map[int]defaultValue{}
	}
	tr.defaults[f][slot] = defaultValue{v, src}
}

// seeDefault guards an argument that an inlined function reads, if it is one that was left at its default.
func (tr *tracer) seeDefault(f *vm.Frame, slot int) {
	if d, ok := tr.defaults[f][slot]; ok {
		delete(tr.defaults[f], slot)
		if f.LocalsPlus[slot] == d.v {
			tr.see(d.v, d.src)
		}
	}
}

// bindCells notes how the cells of a function that is called can be reached. The first call decides.
func (tr *tracer) bindCells(f *vm.Frame, src source.Source) {
	if f.Func == nil {
		return
	}
	for i, c := range f.Func.Closure {
		if _, known := tr.cells[c]; known {
			continue
		}
		tr.cells[c] = nil
		if src != nil {
			tr.cells[c] = source.Attr{Base: source.Item{Base: source.Attr{Base: src, Of: "__closure__"}, Key: vm.MakeInt(int64(i)), Text: fmt.Sprint(i)}, Of: "cell_contents"}
		}
	}
}

// seeFree gives what an inlined function reads from its closure a source.
func (tr *tracer) seeFree(f *vm.Frame, slot int) {
	c, ok := f.LocalsPlus[slot].(*vm.Cell)
	if !ok || c.V == nil {
		return
	}
	if tr.cells[c] == nil {
		// A variable of the compiled function that a function made in it reads.
		name := f.Code.LocalsPlusName(slot)
		if _, isCell := tr.rootCell(name).(*vm.Cell); isCell && tr.rootCell(name) == vm.Object(c) && tr.env.Locals[name] == c.V {
			tr.loaded(f, c.V, source.Local{Var: name})
		}
		return
	}
	if s, touched := tr.saved[c]; touched && (len(s.items) == 0 || s.items[0] != c.V) {
		return
	}
	tr.see(c.V, tr.cells[c])
	_ = tr.useValue(c.V)
}

// rootCell is what the compiled frame keeps in the slot of a variable.
func (tr *tracer) rootCell(name string) vm.Object {
	for i := range tr.root.LocalsPlus {
		if tr.root.Code.LocalsPlusName(i) == name {
			return tr.root.LocalsPlus[i]
		}
	}
	return nil
}

// seeClassCell guards the class that super() without arguments finds in its function's closure.
func (tr *tracer) seeClassCell(f *vm.Frame) {
	for i, name := range f.Code.FreeVars {
		if name != "__class__" {
			continue
		}
		slot := len(f.LocalsPlus) - len(f.Code.FreeVars) + i
		if f != tr.root {
			tr.seeFree(f, slot)
		} else if c, ok := f.LocalsPlus[slot].(*vm.Cell); ok && c.V != nil {
			tr.see(c.V, source.Local{Var: name})
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
func (tr *tracer) usePolyfill(name string, args []vm.Object) {
	p, ok := polyfills[name]
	if !ok || p.folds && constantArgs(args) {
		return
	}
	base := source.Import{Module: strings.TrimSuffix("torch._dynamo.polyfills."+p.module, ".")}
	tr.guards.Add(guard.Part(base.Name()))
	for _, a := range p.attrs {
		tr.guards.Add(guard.Part(base.Name() + "." + a))
	}
	for _, b := range p.builtins {
		if v, ok := tr.in.Builtins.Dict.GetStr(b); ok {
			tr.useBuiltin(b, v)
		}
	}
	if p.then != "" {
		tr.usePolyfill(p.then, nil)
	}
}

// callModule is the call of an nn.Module without hooks: its forward is inlined, and what makes that right is guarded.
func (tr *tracer) callModule(m *vm.Instance, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	base := tr.sourceOf(m)
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
				tr.guards.Add(guard.Code(f, src))
			}
		}
		return nil, false, nil
	}
	mod, err := tr.in.Import("torch.nn.modules.module")
	if err != nil {
		return nil, false, err
	}
	base0, err := tr.in.GetAttr(mod, "Module")
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
	tr.see(mod, imp)
	for _, name := range []string{"_global_backward_pre_hooks", "_global_backward_hooks", "_global_forward_hooks", "_global_forward_pre_hooks"} {
		v, err := tr.in.GetAttr(mod, name)
		if err != nil {
			return nil, false, err
		}
		tr.see(v, source.Attr{Base: imp, Of: name})
		hooks = hooks || guard.DictLen(v) > 0
	}
	if hooks && base != nil {
		tr.seeHooks(m, base)
	}
	if base != nil {
		tr.guards.AddAnew(guard.Lacks("forward", base)) // one for each call
	}
	if hooks || !isFn {
		return nil, false, nil
	}
	if base != nil {
		tr.called = calledFunc{fn: fwd, src: source.Attr{Base: source.Attr{Base: base, Of: "__class__"}, Of: "forward"}, given: len(args) + 1, kw: kw}
	}
	v, err := tr.in.Call(fwd, append([]vm.Object{m}, args...), kw)
	return v, true, err
}

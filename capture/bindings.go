package capture

import (
	"fmt"
	"slices"

	"whittle/capture/effects"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// bindings are what the variables of running frames are bound to: how the function that a frame is a call of can be reached from
// outside, and through it the cells of its closure and its defaults.
type bindings struct {
	*ground
	effects  *effects.Log
	world    *world
	standIns *standIns
	reads    *reads

	called   calledFunc                         // the function that the next frame is a call of
	funcs    map[*vm.Frame]source.Source        // functions that the running frames are calls of
	cells    map[*vm.Cell]source.Source         // cells of functions that were called, with the way to their contents; nil for those without
	defaults map[*vm.Frame]map[int]defaultValue // of running inlined calls, by slot
	stored   map[int]bool                       // local variables that the root frame assigned
}

func newBindings(g *ground, ef *effects.Log, w *world, st *standIns, rd *reads) *bindings {
	return &bindings{ground: g, effects: ef, world: w, standIns: st, reads: rd, funcs: map[*vm.Frame]source.Source{}, cells: map[*vm.Cell]source.Source{},
		defaults: map[*vm.Frame]map[int]defaultValue{}, stored: map[int]bool{}}
}

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
	} else if c.src = bn.world.sourceOf(fn); (c.src == nil || source.IsFixed(c.src)) && len(args) > 0 {
		if src := bn.methodSource(fn, args[0]); src != nil { // LOAD_METHOD passes self as an argument
			c.src = src
		}
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
	name := fn.Name
	for i, c := range inst.Class.MRO {
		if v, ok := c.Dict.GetStr(name); !ok || v != vm.Object(fn) {
			var found bool
			if name, found = nameOf(fn, c); !found { // what a decorator made may be called otherwise than the class calls it
				name = fn.Name
				continue
			}
		}
		if inst.Class.Lookup(name) == vm.Object(fn) {
			return source.Attr{Base: base, Of: name}
		}
		return source.Inherited{Base: base, I: i, Of: name}
	}
	return nil
}

// nameOf is what a class calls a function that stands in its own namespace.
func nameOf(fn *vm.Function, c *vm.Type) (name string, ok bool) {
	c.Dict.Each(func(k, v vm.Object) bool {
		if v == vm.Object(fn) {
			name, ok = vm.AsStr(k)
		}
		return !ok
	})
	return name, ok
}

// enter gives a frame that starts the source of its function, and its default arguments theirs.
func (bn *bindings) enter(f *vm.Frame) {
	c := bn.called
	bn.called = calledFunc{}
	if c.fn == nil || c.fn != f.Func {
		c = calledFunc{given: -1} // how many arguments there are is not known
		if f.Func != nil {        // the interpreter calls it, to compare or to convert, say
			c.src = bn.world.sourceOf(f.Func)
		}
	}
	if bn.world.made[f.Func] { // no way leads to it from outside, whatever it was reached by
		c.src = nil
	}
	bn.funcs[f] = c.src
	bn.bindCells(f, c.src)
	if c.src == nil || f.Func == nil || bn.world.keptWhole(f.Func) {
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
		if name := bn.rootVariable(c); name != "" {
			bn.cells[c] = source.Local{Var: name}
		} else if src != nil {
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
		return // the trace put it there
	}
	bn.world.loaded(f, c.V, bn.cells[c])
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

// rootVariable is the variable of the compiled frame that a cell is of, where it had a value when the frame was called; "" for other cells.
func (bn *bindings) rootVariable(c *vm.Cell) string {
	for i, v := range bn.root.LocalsPlus {
		if name := bn.root.Code.LocalsPlusName(i); v == vm.Object(c) && bn.env.Locals[name] != nil {
			return name
		}
	}
	return ""
}

// seeSuper sees what super() without arguments finds in its frame: the first argument, and the class in the function's closure.
func (bn *bindings) seeSuper(f *vm.Frame) {
	if f == bn.root && len(f.LocalsPlus) > 0 && len(f.Code.VarNames) > 0 {
		v, name := f.LocalsPlus[0], f.Code.VarNames[0]
		if c, ok := v.(*vm.Cell); ok {
			v = c.V
		}
		if v != nil && bn.env.Locals[name] == v && !bn.stored[0] {
			bn.world.see(v, source.Local{Var: name})
		}
	} else if f.Code.ArgCount > 0 && len(f.LocalsPlus) > 0 {
		bn.seeDefault(f, 0)
	}
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

// seeInlined gives what a wrapper of torch.compile calls the source by which the wrapper has it.
func (bn *bindings) seeInlined(wrapper *vm.Function, inner vm.Object) {
	base := bn.world.sourceOf(wrapper)
	if base == nil {
		return
	}
	if f, ok := inner.(*vm.Function); ok {
		bn.guardWrapped(wrapper, base, f, "_torchdynamo_inline")
	}
	src := source.Source(source.Attr{Base: base, Of: "_torchdynamo_orig_callable"})
	if m, ok := inner.(*vm.BoundMethod); ok {
		bn.world.see(m.Self, source.Attr{Base: src, Of: "__self__"})
		return
	}
	bn.guards.Covertly(func() { bn.world.see(inner, src) })
}

// seeWrapped gives the function that a wrapper calls the source by which the wrapper has it.
func (bn *bindings) seeWrapped(wrapper vm.Object, inner *vm.Function, attr string) {
	if base := bn.world.sourceOf(wrapper); base != nil {
		bn.guardWrapped(wrapper, base, inner, attr)
		bn.guards.Covertly(func() { bn.world.see(inner, source.Attr{Base: base, Of: attr}) })
	}
}

// guardWrapped guards what makes it right to trace the function that a wrapper has as an attribute in the wrapper's place.
func (bn *bindings) guardWrapped(wrapper vm.Object, base source.Source, inner *vm.Function, attr string) {
	bn.guards.Add(guard.Type(wrapper, base), guard.Code(inner, source.Attr{Base: base, Of: attr}))
	bn.guards.Add(guard.Part(source.Import{Module: "torch._dynamo.polyfills"}.Name()))
	if v, ok := bn.in.Builtins.Dict.GetStr("getattr"); ok {
		bn.world.useBuiltin("getattr", v)
	}
}

// compiledModule is the module that an OptimizedModule stands for, which a trace calls in its place; nil for other objects.
func (bn *bindings) compiledModule(m *vm.Instance) vm.Object {
	if !isA(m.Class, "torch._dynamo.eval_frame", "OptimizedModule") {
		return nil
	}
	t, ok := moduleTable(m, "_modules")
	if !ok {
		return nil
	}
	if ctx, ok := m.Dict.GetStr("dynamo_ctx"); ok && ctx.Type().Name == "DisableContext" {
		call, _ := m.Dict.GetStr("forward")
		return call
	}
	inner, _ := t.GetStr("_orig_mod")
	if base := bn.world.sourceOf(m); base != nil && inner != nil {
		bn.world.see(inner, source.Attr{Base: base, Of: "_orig_mod"})
	}
	return inner
}

// argumentOf is the argument that a cell of the compiled frame still holds, or the variable of a function around it; nil if it is neither.
func (bn *bindings) argumentOf(c *vm.Cell) source.Source {
	for name, outer := range bn.env.Cells {
		if outer == c && c.V != nil && bn.env.Locals[name] == c.V {
			return source.Local{Var: name}
		}
	}
	f := bn.root
	for i, v := range f.LocalsPlus {
		if name := f.Code.LocalsPlusName(i); v == vm.Object(c) && c.V != nil && i < len(f.Code.VarNames) && bn.env.Locals[name] == c.V && !bn.stored[i] {
			return source.Local{Var: name}
		}
	}
	return nil
}

// ownCell reports whether the compiled frame made c.
func (bn *bindings) ownCell(c *vm.Cell) bool {
	for _, outer := range bn.env.Cells {
		if outer == c {
			return false
		}
	}
	f := bn.root
	for _, v := range f.LocalsPlus[:len(f.LocalsPlus)-len(f.Code.FreeVars)] {
		if v == vm.Object(c) {
			return true
		}
	}
	return false
}

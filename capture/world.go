package capture

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/effects"
	"whittle/capture/guard"
	"whittle/capture/numpy"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// world is what a trace knows of the objects that existed before it: the source of each that it came across, and with that its
// guards. An object has a source from when it is first seen; tensors are guarded only when they are used.
type world struct {
	*ground
	symbols *symbols
	effects *effects.Log

	builtins   string                      // the global under which guards reach the builtins
	sources    map[vm.Object]source.Source // of objects that existed before the trace
	order      []vm.Object                 // those, in order of first sight
	made       map[vm.Object]bool          // functions that the trace made
	anchored   map[vm.Object]bool          // objects without a source that are the same in every call
	fixedCount int                         // of those that got a source after all
	keyNumbers map[vm.Object]int           // of keys of dicts that guards name
	faces      map[faceKey]*torch.Tensor   // of arrays that came in
	// tracesNumpy says that arrays are tensors to the trace, as the settings have it.
	tracesNumpy bool
	skipHooks   bool       // hooks that modules get later are not looked for: config.skip_nnmodule_hook_guards
	symbolTo    *vm.Object // where see may leave a symbol to take the place of a number; nil => nowhere
	plain       bool       // what is seen is read by code that knows no symbols
}

func newWorld(g *ground, sy *symbols, ef *effects.Log) *world {
	w := &world{ground: g, symbols: sy, effects: ef, builtins: g.d.uniqueName("__builtins_dict__"), sources: map[vm.Object]source.Source{}, made: map[vm.Object]bool{},
		anchored: map[vm.Object]bool{}, keyNumbers: map[vm.Object]int{}, faces: map[faceKey]*torch.Tensor{}, tracesNumpy: true}
	if on, err := g.d.configBool("trace_numpy"); err == nil {
		w.tracesNumpy = on
	}
	if on, err := g.d.configBool("skip_nnmodule_hook_guards"); err == nil {
		w.skipHooks = on
	}
	for name, c := range g.env.Cells {
		w.sources[c] = source.Cell{Var: name}
	}
	return w
}

// sourceOf is the source of an object that existed before the trace; nil for others.
func (wo *world) sourceOf(o vm.Object) source.Source {
	k := source.Identity(o)
	if k == nil {
		return nil
	}
	if s := wo.sources[k]; s != nil {
		return s
	}
	if !wo.anchored[k] {
		return nil
	}
	delete(wo.anchored, k) // from now on it has a source like any other
	wo.fixedCount++
	wo.see(o, source.Fixed{Value: k, N: wo.fixedCount})
	return wo.sources[k]
}

// see registers a value that existed before the trace: its source, its guards, and its content.
func (wo *world) see(v vm.Object, src source.Source) {
	if into := wo.symbolTo; into != nil { // only v itself may be swapped, not what its guards look at
		wo.symbolTo = nil
		defer func() { wo.symbolTo = into }()
		if s := wo.symbols.lifted(v, src); s != nil {
			*into = s
			return
		}
		if p := wo.face(v, src); p != nil {
			*into = p
			return
		}
	}
	if p, ok := v.(*torch.Tensor); ok && standsIn(p.T) {
		return
	}
	if k := source.Identity(v); k != nil {
		if first := wo.sources[k]; first != nil {
			wo.seeAgain(v, first, src)
			return
		}
		wo.sources[k] = src
		wo.order = append(wo.order, v)
	}
	switch v := v.(type) {
	case *torch.Tensor:
		return // guarded when it is used
	case *numpy.Array:
		if wo.tracesNumpy && wo.t.IsArray(v) {
			return
		}
	}
	wo.guard(v, src)
	wo.save(v)
}

// seeAgain meets a value a second time, through another source: objects that have an identity to the trace must stay one
// object, others are guarded in both places.
func (wo *world) seeAgain(v vm.Object, first, src source.Source) {
	a, b := first.Name(), src.Name()
	if a == b {
		wo.guards.Show(b)
		return
	}
	if source.IsFixed(first) && !source.IsFixed(src) {
		wo.sources[source.Identity(v)] = src
		wo.guard(v, src)
		return
	}
	if _, isIter := v.(*replayIter); isIter {
		return
	}
	if !wo.tracked(v) {
		wo.guard(v, src)
		return
	}
	if source.IsLocal(first) == source.IsLocal(src) {
		wo.guards.AddAlias(first, src)
	}
}

// tracked reports whether a value is one object to the trace wherever it comes from.
func (wo *world) tracked(v vm.Object) bool {
	switch v := v.(type) {
	case *torch.Tensor, *vm.List, *vm.Dict, *vm.Module:
		return true
	case *vm.Instance:
		name := v.Class.FullName()
		return name != "functools.partial" && !byIdentity.has(name) && !isEnumMember(v) && wo.t.TargetOf(v) == ""
	}
	return false
}

// anchor notes that the trace reached v by a way that is guarded, though v has no source.
func (wo *world) anchor(v vm.Object) {
	switch f := v.(type) {
	case *vm.ClassMethod:
		v = f.Func
	case *vm.StaticMethod:
		v = f.Func
	case *vm.Property:
		for _, x := range []vm.Object{f.Get, f.Set, f.Del} {
			if x != nil {
				wo.anchor(x)
			}
		}
		return
	case *torch.Tensor:
		if standsIn(f.T) {
			return
		}
	}
	switch v.(type) {
	case nil, *vm.NoneType, *vm.Builtin, *vm.GetSet, *vm.Member, *vm.Module, *torch.DType, *torch.Device, *vm.Cell:
		return
	}
	if t, ok := v.(*vm.Type); ok && !t.Heap {
		return
	}
	if k := source.Identity(v); k != nil && wo.sources[k] == nil && !wo.made[k] {
		wo.anchored[k] = true
	}
}

// madeHere reports whether an object without a source may have been made by the trace: only what is fixed by nature is not.
func (wo *world) madeHere(o vm.Object) bool {
	switch o.(type) {
	case *vm.Type, *vm.Function, *vm.Builtin, *vm.Module:
		return wo.made[o]
	}
	return true
}

// seeItem gives owner[key] its source. Only what the container held before the trace has one: a defaultdict makes items, and
// classes compute them.
func (wo *world) seeItem(owner vm.Object, base source.Source, key, v vm.Object) {
	if !wo.effects.Held(owner, key, v) {
		return
	}
	if t, ok := owner.(*vm.Tuple); ok && wo.constantTuple(t, base) {
		return
	}
	if name := fieldAt(owner, key); name != "" {
		wo.see(v, source.Attr{Base: base, Of: name})
		return
	}
	switch key.(type) {
	case vm.Int, vm.Str, vm.Bool:
		if i, ok := vm.AsInt(key); ok && i < 0 && guard.ListLen(owner)+guard.TupleLen(owner) >= 0 {
			key = vm.MakeInt(i + int64(max(guard.ListLen(owner), guard.TupleLen(owner))))
		}
		if r, err := wo.in.Repr(key); err == nil {
			wo.see(v, source.Item{Base: base, Key: key, Text: r})
		}
	case *vm.Tuple, *vm.FrozenSet, vm.Float, *vm.NoneType, vm.Bytes, vm.Complex, *torch.DType, *torch.Device:
		if r, err := wo.in.Repr(key); err == nil && guard.Constant(key) {
			wo.see(v, source.Item{Base: base, Key: key, Text: r})
		}
	default:
		if isFixedKey(key) {
			if keys, ok := wo.effects.Keys(owner, isFixedKey); ok {
				if i := slices.Index(keys, key); i >= 0 {
					wo.see(v, source.Item{Base: base, Key: key, Text: fmt.Sprintf("list(%s.keys())[%d]", base.Name(), i)})
					return
				}
			}
		}
		// A key that came from outside itself: state[param].
		if ks := wo.sources[source.Identity(key)]; ks != nil && wo.sources[source.Identity(v)] == nil {
			wo.see(v, source.Keyed{Base: base, Key: ks})
		} else if ks == nil && !wo.madeHere(key) {
			wo.see(v, source.Item{Base: base, Key: key, Text: fmt.Sprintf("<%s %d>", key.Type().Name, wo.keyNumber(key))})
		}
	}
}

// fieldAt is the name of the field of a named tuple that is the item of a number; "" for others.
func fieldAt(owner, key vm.Object) string {
	i, isInst := owner.(*vm.Instance)
	n, isInt := vm.AsInt(key)
	if !isInst || !isInt {
		return ""
	}
	fields, ok := vm.AsTuple(i.Class.Lookup("_fields"))
	if !ok {
		return ""
	}
	if n < 0 {
		n += int64(len(fields.Items))
	}
	if n < 0 || n >= int64(len(fields.Items)) {
		return ""
	}
	name, _ := vm.AsStr(fields.Items[n])
	return name
}

// seeItems registers the members of a container that native code is about to walk.
func (wo *world) seeItems(o vm.Object) {
	src := wo.sourceOf(o)
	if o == nil || src == nil {
		return
	}
	switch c := o.(type) {
	case *vm.List:
		for i, x := range c.Items {
			wo.seeItem(c, src, vm.MakeInt(int64(i)), x)
		}
	case *vm.Tuple:
		for i, x := range c.Items {
			wo.seeItem(c, src, vm.MakeInt(int64(i)), x)
		}
	case *vm.Dict: // the values are no part of what is walked
		wo.guards.Covertly(func() { wo.seeValues(c, c, src) })
	case *vm.Instance:
		if fieldAt(c, vm.MakeInt(0)) == "" {
			return
		}
		for i, x := range items(c) {
			wo.seeItem(c, src, vm.MakeInt(int64(i)), x)
		}
	case effects.Sequence:
		for i, x := range c.Items() {
			wo.seeItem(o, src, vm.MakeInt(int64(i)), x)
		}
	}
}

// seeValues registers the values of a dict under the keys that have a text.
func (wo *world) seeValues(owner vm.Object, d *vm.Dict, src source.Source) {
	d.Each(func(k, v vm.Object) bool {
		if source.Identity(k) == nil {
			wo.seeItem(owner, src, k, v)
		}
		return true
	})
}

// isFixedKey reports whether a key of a dict is a member of an enum or a class: its place among the keys names it.
func isFixedKey(key vm.Object) bool {
	switch k := key.(type) {
	case *vm.Type:
		return true
	case *vm.Instance:
		return isEnumMember(k)
	}
	return false
}

// keyNumber tells keys apart that have no text.
func (wo *world) keyNumber(key vm.Object) int {
	n, ok := wo.keyNumbers[key]
	if !ok {
		n = len(wo.keyNumbers)
		wo.keyNumbers[key] = n
	}
	return n
}

// save remembers the content of a mutable object, so that writes can be found and undone: of an instance also that of the dicts that it
// holds, and what it is beside its attributes.
func (wo *world) save(o vm.Object) {
	switch o.(type) {
	case *vm.List, *vm.Dict, *vm.Instance, effects.Sequence:
	default:
		return
	}
	i, isInst := o.(*vm.Instance)
	if !wo.effects.Save(o) || !isInst {
		return
	}
	if n, ok := i.Native.(vm.Object); ok { // a subclass of dict or list: its items
		if src := wo.sources[i]; src != nil && source.Identity(n) != nil && wo.sources[n] == nil {
			wo.sources[n] = source.Native{Base: src}
		}
		wo.save(n)
	}
	if i.Dict != nil {
		i.Dict.Each(func(_, v vm.Object) bool {
			if d, ok := v.(*vm.Dict); ok {
				wo.effects.Save(d)
			}
			return true
		})
	}
}

// touch is save for an object about to be written.
func (wo *world) touch(o vm.Object) {
	if wo.sourceOf(o) != nil {
		wo.save(o)
	}
}

// ownDict gives the __dict__ of an object from outside its source: vars(o) reads it as attributes are read.
func (wo *world) ownDict(o vm.Object, v vm.Object) {
	i, ok := o.(*vm.Instance)
	if !ok || i.Dict == nil || v != vm.Object(i.Dict) || wo.sources[v] != nil {
		return
	}
	if src := wo.sourceOf(o); src != nil {
		wo.sources[v] = source.Attr{Base: src, Of: "__dict__"}
		wo.save(o)
		wo.effects.SaveAttributes(i, v)
	}
}

// attributesOf is the object whose attributes a dict from outside holds: o.__dict__; nil for other dicts.
func (wo *world) attributesOf(o vm.Object) vm.Object {
	d, isDict := o.(*vm.Dict)
	if !isDict {
		return nil
	}
	a, ok := wo.sources[d].(source.Attr)
	if !ok || a.Of != "__dict__" {
		return nil
	}
	for _, x := range wo.order {
		if i, isInst := x.(*vm.Instance); isInst && i.Dict == d && !isModule(i) {
			return i
		}
	}
	return nil
}

// guard adds the guards of a value for one source.
func (wo *world) guard(v vm.Object, src source.Source) {
	n := src.Name()
	if _, done := wo.guards.Value(n); done {
		wo.guards.Show(n) // it may have been guarded covertly
		if wo.plain {
			wo.symbols.pin(n)
		}
		return
	}
	wo.guards.SetValue(n, v)
	wo.guards.Add(wo.guardFor(v, src)...)
	if p, ok := v.(*torch.Tensor); ok && !isParameter(p) {
		wo.guards.Distinct(src)
	}
}

// useBuiltin guards a builtin function or class.
func (wo *world) useBuiltin(name string, v vm.Object) {
	switch v.(type) {
	case *vm.Builtin, *vm.Function, *vm.Type:
		wo.guard(v, source.Builtin{Dict: wo.builtins, Var: name})
	}
}

// swapping runs f, in which see may make a symbol of a number; nil when it did not.
func (wo *world) swapping(f func()) vm.Object {
	var s vm.Object
	old := wo.symbolTo
	wo.symbolTo = &s
	f()
	wo.symbolTo = old
	return s
}

// liftItems is a tuple or list from outside with the numbers in it that are symbols; nil when there are none.
func (wo *world) liftItems(o vm.Object) vm.Object {
	src := wo.sources[source.Identity(o)]
	var items []vm.Object
	switch c := o.(type) {
	case *vm.Tuple:
		items = c.Items
	case *vm.List:
		items = c.Items
	}
	if src == nil || items == nil {
		return nil
	}
	var out []vm.Object
	for i, x := range items {
		switch x.(type) {
		case vm.Int, vm.Float:
		default:
			continue
		}
		if !wo.effects.Held(o, vm.MakeInt(int64(i)), x) {
			continue
		}
		s := wo.symbols.lifted(x, source.Item{Base: src, Key: vm.MakeInt(int64(i)), Text: fmt.Sprint(i)})
		if s == nil {
			continue
		}
		if out == nil {
			out = append([]vm.Object(nil), items...)
		}
		out[i] = s
	}
	if out == nil {
		return nil
	}
	for i, x := range out { // the rest is looked at as part of the original
		if _, ok := x.(*torch.Scalar); !ok {
			wo.seeItem(o, src, vm.MakeInt(int64(i)), x)
		}
	}
	return vm.NewTuple(out...)
}

// liftValues is a dict with the items of one from outside, and the numbers in it that are symbols; nil when there are none, or where keys have no text.
func (wo *world) liftValues(o vm.Object) *vm.Dict {
	d, ok := vm.AsDict(o)
	src := wo.sources[source.Identity(o)]
	if !ok || src == nil {
		return nil
	}
	lifted := map[vm.Object]vm.Object{}
	for _, k := range d.Keys() {
		switch k.(type) {
		case vm.Str, vm.Int:
		default:
			return nil
		}
		v, _, err := d.Get(wo.in, k)
		if err != nil {
			return nil
		}
		switch v.(type) {
		case vm.Int, vm.Float:
		default:
			continue
		}
		text, err := wo.in.Repr(k)
		if err != nil || !wo.effects.Held(o, k, v) {
			continue
		}
		if s := wo.symbols.lifted(v, source.Item{Base: src, Key: k, Text: text}); s != nil {
			lifted[k] = s
		}
	}
	if len(lifted) == 0 {
		return nil
	}
	wo.guards.Order(src)
	out := vm.NewDict()
	d.Each(func(k, v vm.Object) bool {
		if s := lifted[k]; s != nil {
			v = s
		} else {
			wo.seeItem(o, src, k, v)
		}
		_ = out.Set(wo.in, k, v) // the key was hashable before
		return true
	})
	return out
}

// lift is a list, a tuple or a dict from outside with the numbers in it that are symbols; nil when there are none.
func (wo *world) lift(o vm.Object) vm.Object {
	if t := wo.liftItems(o); t != nil {
		return t
	}
	if d := wo.liftValues(o); d != nil {
		return d
	}
	return nil
}

// loaded handles a value that the next instruction loads: a number may become a symbol.
func (wo *world) loaded(f *vm.Frame, v vm.Object, src source.Source) {
	if s := wo.swapping(func() { wo.see(v, src) }); s != nil {
		f.Ext = &pending{swap: s}
	}
}

// variableName is how PyTorch's reasons show one value: TensorVariable().
func (wo *world) variableName(o vm.Object) string {
	if _, isInst := o.(*vm.Instance); !isInst {
		if _, opaque := wo.opaque(o); opaque {
			return "UserDefinedObjectVariable(" + o.Type().Name + ")"
		}
	}
	_, name, _ := strings.Cut(wo.variableClass(o), ".")
	switch o := o.(type) {
	case *vm.Instance:
		switch name {
		case "EnumVariable":
			return name + "(" + classRepr(o.Class) + ")"
		case "SizeVariable", "NamedTupleVariable":
			if t, ok := vm.AsTuple(o); ok {
				return fmt.Sprintf("%s(length=%d)", name, len(t.Items))
			}
		case "ConstDictVariable", "DefaultDictVariable":
		default:
			return name + "(" + o.Class.Name + ")"
		}
	case *vm.List:
		return fmt.Sprintf("%s(length=%d)", name, len(o.Items))
	case *vm.Tuple:
		return fmt.Sprintf("%s(length=%d)", name, len(o.Items))
	case *vm.Type:
		if name == "BuiltinVariable" {
			return name + "(" + o.Name + ")"
		}
		return name + "(" + classRepr(o) + ")"
	case *vm.Builtin:
		return name + "(" + o.Name + ")"
	case vm.Str, vm.Int, vm.Float, vm.Bool, *vm.NoneType:
		if r, err := wo.in.Repr(o); err == nil {
			return fmt.Sprintf("%s(%s: %s)", name, o.Type().Name, r)
		}
	}
	return name + "()"
}

// variableClass is the name that PyTorch's capture gives to the kind of a value; reasons quote it.
func (wo *world) variableClass(o vm.Object) string {
	if _, opaque := wo.opaque(o); opaque && !isMappingSubclass(o) {
		return "user_defined.UserDefinedObjectVariable"
	}
	switch o := o.(type) {
	case *torch.Tensor:
		if wo.t.IsFace(o) {
			return "tensor.NumpyNdarrayVariable"
		}
		return "tensor.TensorVariable"
	case *torch.Scalar:
		return "tensor.SymNodeVariable"
	case *vm.List:
		return "lists.ListVariable"
	case *vm.Tuple:
		return "lists.TupleVariable"
	case *vm.Slice:
		return "lists.SliceVariable"
	case *vm.Range:
		return "lists.RangeVariable"
	case *vm.Dict:
		return "dicts.ConstDictVariable"
	case *vm.Set:
		return "dicts.SetVariable"
	case *vm.FrozenSet:
		return "dicts.FrozensetVariable"
	case *vm.Instance:
		switch name := o.Class.FullName(); {
		case o.Class == wo.t.SizeType:
			return "lists.SizeVariable"
		case isModule(o) && strings.HasPrefix(o.Class.Module, "torch.nn."):
			return "nn_module.UnspecializedBuiltinNNModuleVariable"
		case isModule(o):
			return "nn_module.UnspecializedNNModuleVariable"
		case name == "functools.partial":
			return "functions.FunctoolsPartialVariable"
		case o.Class.Module == "typing":
			return "misc.TypingVariable"
		case name == "torch.finfo" || name == "torch.iinfo":
			return "constant.ConstantVariable"
		case isEnumMember(o):
			return "constant.EnumVariable"
		case name == "collections.OrderedDict":
			return "dicts.ConstDictVariable"
		case name == "collections.defaultdict":
			return "dicts.DefaultDictVariable"
		case isNamedTuple(o):
			return "lists.NamedTupleVariable"
		case isMappingSubclass(o):
			return "user_defined.MutableMappingVariable"
		}
		return "user_defined.UserDefinedObjectVariable"
	case *vm.Exception:
		if !o.Class.Heap {
			return "misc.ExceptionVariable"
		}
		return "user_defined.UserDefinedObjectVariable"
	case *vm.BoundMethod:
		return "functions.UserMethodVariable"
	case *vm.Function:
		if wo.sources[o] == nil {
			return "functions.NestedUserFunctionVariable"
		}
		return "functions.UserFunctionVariable"
	case *vm.Type:
		switch {
		case o.Module == "" || o.Module == "builtins":
			return "builtin.BuiltinVariable"
		case o.Module == "itertools":
			return "iter.ItertoolsVariable"
		}
		return "user_defined.UserDefinedClassVariable"
	case *vm.Builtin:
		if _, ok := o.Native.(torch.Target); ok {
			return "torch.TorchInGraphFunctionVariable"
		}
		return "builtin.BuiltinVariable"
	case *vm.Module:
		return "misc.PythonModuleVariable"
	case *laterText:
		return "misc.StringFormatVariable"
	}
	if name := variableClasses[o.Type().Name]; name != "" {
		return name
	}
	return "constant.ConstantVariable"
}

// variableClasses are the kinds of values of native classes, by the class's name. Iterators that PyTorch exhausts when they are made are lists.
var variableClasses = map[string]string{
	"deque":                "lists.DequeVariable",
	"mappingproxy":         "user_defined.UserDefinedObjectVariable",
	"property":             "user_defined.UserDefinedObjectVariable",
	"Generator":            "user_defined.UserDefinedObjectVariable",
	"list_iterator":        "lists.ListIteratorVariable",
	"tuple_iterator":       "lists.ListIteratorVariable",
	"enumerate":            "lists.ListIteratorVariable",
	"generator":            "lists.ListIteratorVariable",
	"list_reverseiterator": "lists.TupleVariable",
	"zip":                  "iter.ZipVariable",
	"map":                  "iter.MapVariable",
	"filter":               "iter.FilterVariable",
	"count":                "iter.CountIteratorVariable",
	"cycle":                "iter.CycleIteratorVariable",
	"repeat":               "iter.RepeatIteratorVariable",
	"dict_keys":            "dicts.DictKeys",
	"dict_values":          "dicts.DictValues",
	"dict_items":           "lists.TupleVariable",
	"super":                "misc.SuperVariable",
}

// classRepr is how a class prints itself: those of enums say what they are of.
func classRepr(c *vm.Type) string {
	switch {
	case isA(c, "enum", "Flag"):
		return "<flag '" + c.Qualname + "'>"
	case isA(c, "enum", "Enum"):
		return "<enum '" + c.Qualname + "'>"
	}
	return "<class '" + c.FullName() + "'>"
}

// isNamedTuple reports whether an object is of a class of collections.namedtuple.
func isNamedTuple(o *vm.Instance) bool {
	_, tuple := vm.AsTuple(o)
	return tuple && o.Class.Lookup("_fields") != nil
}

// moduleTable is one of the dicts that an nn.Module keeps its members in.
func moduleTable(i *vm.Instance, table string) (*vm.Dict, bool) {
	if i.Dict == nil {
		return nil, false
	}
	t, ok := i.Dict.GetStr(table)
	if !ok {
		return nil, false
	}
	return vm.AsDict(t)
}

// isParameter reports whether a tensor is an nn.Parameter.
func isParameter(p *torch.Tensor) bool { return p.Type().Name == "Parameter" }

package capture

import (
	"errors"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/guard"
	"whittle/capture/numpy"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// PyTorch guards what its variables read. Here traced code runs on real values, and much of what it reads is read by the
// interpreter itself: the class of an object is asked for __len__, a comparison walks two lists, a method is found in a class.
// What follows guards that, too. These guards are not PyTorch's, and no log shows them.

// classFacts are attributes that were looked up in one class, and what was found.
type classFacts struct {
	names []string
	found map[string]vm.Object
}

// lookedUp is told of each attribute that the interpreter looks up in a class while a frame is traced.
func (rd *reads) lookedUp(t *vm.Type, name string, v vm.Object) {
	if !rd.listening() {
		return
	}
	if v != nil && !special(name) && !bindable(v) {
		return // data: who reads it guards it
	}
	rd.classFact(t, name, v)
}

// special reports whether a name is one of Python's own: __len__.
func special(name string) bool {
	return len(name) > 4 && name[:2] == "__" && name[len(name)-2:] == "__"
}

// bindable reports whether a class attribute is a method or another descriptor.
func bindable(v vm.Object) bool {
	switch d := v.(type) {
	case *vm.Function, *vm.ClassMethod, *vm.StaticMethod, *vm.Property, *vm.Builtin, *vm.GetSet, *vm.Member:
		return true
	case *vm.Instance:
		return d.Class.Lookup("__get__") != nil
	}
	return false
}

// classFact notes that a class has v under a name; nil for nothing.
func (rd *reads) classFact(t *vm.Type, name string, v vm.Object) {
	c := rd.classes[t]
	if c == nil {
		c = &classFacts{found: map[string]vm.Object{}}
		rd.classes[t] = c
		rd.classOrder = append(rd.classOrder, t)
	}
	if _, known := c.found[name]; known {
		return
	}
	c.names = append(c.names, name)
	c.found[name] = v
	if v != nil {
		rd.world.anchor(v)
	}
}

// classGuards hold as long as the classes that the trace asked have what they had. The trace has ended, and its writes are undone.
func (rd *reads) classGuards() []*guard.Guard {
	var out []*guard.Guard
	for i, t := range rd.classOrder {
		c := rd.classes[t]
		var names []string
		var found []vm.Object
		for _, n := range c.names {
			if v := t.Lookup(n); v == c.found[n] { // else the trace wrote it first
				names, found = append(names, n), append(found, v)
			}
		}
		if len(names) == 0 {
			continue
		}
		out = append(out, guard.Class(t, i, names, found))
	}
	return out
}

// readsAttr is told of an attribute that bytecode or getattr is about to read from o.
func (rd *reads) readsAttr(o vm.Object, name string) {
	switch o := o.(type) {
	case *vm.Instance:
		t := o.Class
		rd.lookedUp(t, "__getattribute__", t.Lookup("__getattribute__"))
		rd.lookedUp(t, "__getattr__", t.Lookup("__getattr__"))
		v := t.Lookup(name)
		src := rd.world.sourceOf(o)
		if src == nil || v != nil && bindable(v) {
			rd.classFact(t, name, v)
		} else if v == nil {
			rd.lookedUp(t, name, v)
		} // else it is data of the class: a guard on the attribute itself says what it is
		if src != nil && !isProperty(v) && rd.effects.Lacked(o, name) {
			rd.guards.Covertly(func() { rd.guards.Add(guard.Lacks(name, src)) })
		}
	case *vm.Super:
		if o.SelfCls == nil || o.Start == nil {
			return
		}
		for i, behind := 0, false; i < len(o.SelfCls.MRO); i++ {
			c := o.SelfCls.MRO[i]
			if v, ok := c.Dict.GetStr(name); ok && behind && c.Heap {
				rd.classFact(c, name, v)
				return
			}
			behind = behind || c == o.Start
		}
	case *vm.Type:
		if !o.Heap { // the classes of Python itself cannot be written
			return
		}
		m := o.Type()
		rd.lookedUp(m, name, m.Lookup(name))
		v := o.Lookup(name)
		if v == nil || bindable(v) || rd.world.sourceOf(o) == nil {
			rd.classFact(o, name, v)
		}
		if v == nil {
			rd.lookedUp(m, "__getattr__", m.Lookup("__getattr__"))
			rd.classFact(m, name, m.Lookup(name))
		}
	}
}

// ownAccess is the break at an attribute of an object from outside whose class has a __getattribute__ in Python: what that reads stands for more
// than the attribute.
func (rd *reads) ownAccess(o vm.Object) error {
	i, ok := o.(*vm.Instance)
	if !ok || rd.world.sourceOf(o) == nil {
		return nil
	}
	if _, own := i.Class.Lookup("__getattribute__").(*vm.Function); own {
		return unsupported(breaks.OwnGetattribute)
	}
	return nil
}

// asksAttr is told of hasattr(o, name).
func (rd *reads) asksAttr(o, name vm.Object) {
	n, ok := vm.AsStr(name)
	if !ok {
		return
	}
	rd.readsAttr(o, n)
	src := rd.world.sourceOf(o)
	if src == nil {
		return
	}
	v, err := rd.has(o, n)
	switch {
	case errors.Is(err, errNotAsked):
		if i, ok := o.(*vm.Instance); ok && !isModule(i) && i.Class.Lookup(n) == nil && rd.lacks(i, n) {
			rd.guards.Add(guard.LacksAttr(n, src))
		}
	case err == nil && v == nil:
		rd.guards.Add(guard.LacksAttr(n, src))
	case err == nil:
		rd.attrFound(o, n, v)
	}
	switch o := o.(type) {
	case *vm.Instance:
		if o.Dict != nil && !rd.effects.Lacked(o, n) {
			rd.guards.Covertly(func() { rd.guards.Add(guard.Has(n, src)) })
		}
	case *torch.Tensor:
		if o.Type().Lookup(n) != nil {
			return
		}
		asked := guard.Lacks
		if d := o.AttrDict(false); d != nil {
			if _, own := d.GetStr(n); own {
				asked = guard.Has
			}
		}
		rd.guards.Covertly(func() { rd.guards.Add(asked(n, src)) })
	}
}

// lacks reports whether an object whose class has a __getattr__ in Python lacks an attribute. The program's own question follows, and finds the same.
func (rd *reads) lacks(i *vm.Instance, name string) bool {
	if _, own := i.Class.Lookup("__getattribute__").(*vm.Function); own {
		return false
	}
	if _, asked := i.Class.Lookup("__getattr__").(*vm.Function); !asked {
		return false
	}
	_, err := rd.in.GetAttr(i, name)
	var r *vm.Raised
	return errors.As(err, &r) && r.Exc.Class == rd.in.Exc.AttributeError
}

// isProperty reports whether a class attribute is found before the object's own attributes are asked.
func isProperty(v vm.Object) bool {
	switch v.(type) {
	case *vm.Property, *vm.GetSet, *vm.Member:
		return true
	}
	return false
}

// content guards all that a container from outside holds, at any depth: code that nobody sees is about to read it.
func (rd *reads) content(o vm.Object) {
	defer func(before bool) { rd.world.plain = before }(rd.world.plain)
	rd.world.plain = true
	rd.guards.Covertly(func() { rd.deep(o, map[vm.Object]bool{}) })
}

// deep is content for one object; met are those that were looked at.
func (rd *reads) deep(o vm.Object, met map[vm.Object]bool) {
	if source.Identity(o) == nil || met[o] {
		return
	}
	met[o] = true
	src := rd.world.sourceOf(o)
	var items []vm.Object
	if l, ok := vm.AsList(o); ok {
		items = l.Items
	} else if t, ok := vm.AsTuple(o); ok {
		items = t.Items
	} else if d, ok := vm.AsDict(o); ok {
		if src != nil {
			rd.world.keysGuard(src, o, d)
			for _, k := range d.Keys() { // the keys are guarded: objects among them are the same in every call
				rd.world.anchor(k)
				rd.world.sourceOf(k)
			}
			for _, k := range d.Keys() {
				if v, ok, err := d.Get(rd.in, k); ok && err == nil {
					rd.world.seeItem(o, src, k, v)
				}
			}
		}
		items = append(d.Keys(), d.Values()...)
	} else if src != nil {
		rd.world.membersGuard(src, o)
	}
	for i, x := range items {
		if _, isDict := vm.AsDict(o); !isDict && src != nil {
			rd.world.seeItem(o, src, vm.MakeInt(int64(i)), x)
		}
		rd.deep(x, met)
	}
}

// nativeState is the break at a method of a native object that was there before the trace and keeps a state of its own: a random
// generator, a context variable, a file. Nothing could tell whether it is the same the next time.
func (rd *reads) nativeState(f *vm.Builtin, self vm.Object) error {
	switch o := self.(type) {
	case *numpy.Array:
		if rd.world.tracesNumpy {
			return nil // see arrays.go
		}
	case *torch.Tensor, *torch.Scalar, *vm.Module, *vm.Type, *replayIter, *torch.Node, *torch.Graph, *torch.GraphModule:
		return nil
	case *vm.Instance:
		if o.Native == nil {
			return nil
		}
		if _, ok := o.Native.(vm.Object); ok {
			return nil
		}
	}
	t := self.Type()
	if _, ok := self.(*torch.Generator); ok {
		return unsupported(breaks.NativeMethod, "Generator", f.Name)
	}
	if src := rd.world.sourceOf(self); src != nil && (t.Name == "Pattern" || t.Name == "Match") {
		rd.guards.Covertly(func() { rd.guards.Add(guard.Identity(self, src)) })
	}
	if rd.world.sourceOf(self) == nil || statelessTypes.has(t.Name) || (strings.HasPrefix(t.Module, "torch") || rd.quiet()) {
		return nil
	}
	id := breaks.NativeMethod
	if isFile(t) {
		id = breaks.FileMethod
	}
	return unsupported(id, t.Name, f.Name)
}

// isFile reports whether a class is that of files that are open for text, as open() makes them by default.
func isFile(t *vm.Type) bool { return t.Name == "TextIOWrapper" }

// storesTensor is the break at an assignment to what a tensor is: its data, its gradient, whether it wants one. A graph has no form for it,
// and done while tracing it would happen once.
func (rd *reads) storesTensor(o vm.Object, name string) error {
	t, ok := o.(*torch.Tensor)
	if !ok {
		return nil
	}
	if _, property := t.Type().Lookup(name).(*vm.GetSet); !property {
		return nil
	}
	return unsupported(breaks.TensorAttribute)
}

// asksByMethod does o.__getattr__(name) of a module and o.__getattribute__(name) of any object as the attribute itself is read.
func (rd *reads) asksByMethod(f, callable vm.Object, args []vm.Object) (vm.Object, bool) {
	switch m := f.(type) {
	case *vm.Function:
		if m.Code.Name != "__getattr__" || !strings.HasSuffix(m.Code.Filename, "torch/nn/modules/module.py") {
			return nil, false
		}
	case *vm.Builtin:
		if m.Name != "__getattribute__" {
			return nil, false
		}
	default:
		return nil, false
	}
	if b, ok := callable.(*vm.BoundMethod); ok {
		args = append([]vm.Object{b.Self}, args...)
	}
	if len(args) != 2 {
		return nil, false
	}
	if b, ok := f.(*vm.Builtin); ok { // the class may have one of its own, which calls this one
		return rd.readBy(args[0], args[1], func(o vm.Object, name string) (vm.Object, error) {
			return b.Fn(rd.in, []vm.Object{o, vm.Str(name)}, nil)
		})
	}
	return rd.readAttr(args[0], args[1])
}

// different guards that two objects from outside, which the trace compared by identity and found to be two, still are.
func (rd *reads) different(a, b vm.Object) {
	x, y := rd.world.sourceOf(a), rd.world.sourceOf(b)
	if x == nil || y == nil || a == b {
		return
	}
	rd.guards.Covertly(func() {
		rd.guards.Add(guard.TwoObjects(x, y))
	})
}

// finalGuards are the guards of a trace that has ended, in PyTorch's order.
func (rd *reads) finalGuards() []*guard.Guard {
	list := rd.guards.Ordered(func(dict vm.Object) (keys []vm.Object, reprs []string, ok bool) {
		if keys, ok = rd.effects.Keys(dict, isFixedKey); !ok {
			return nil, nil, false
		}
		for _, k := range keys {
			reprs = append(reprs, rd.repr(k))
		}
		return keys, reprs, true
	})
	return append(list, rd.classGuards()...)
}

// readAttr is getattr(o, name) of an object from outside: what it finds has a source, too. ok is false when there is nothing to find.
func (rd *reads) readAttr(o, name vm.Object) (v vm.Object, ok bool) {
	return rd.readBy(o, name, rd.in.GetAttr)
}

// readBy is readAttr by a function that finds attributes.
func (rd *reads) readBy(o, name vm.Object, find func(o vm.Object, name string) (vm.Object, error)) (v vm.Object, ok bool) {
	src := rd.world.sources[source.Identity(o)]
	n, isStr := vm.AsStr(name)
	if isStr {
		if v := rd.effects.AttrPutOff(o, n); v != nil {
			return v, true
		}
		rd.readsAttr(o, n)
	}
	if _, isTensor := o.(*torch.Tensor); src == nil || !isStr || isTensor {
		return nil, false
	}
	v, err := find(o, n)
	if err != nil {
		return nil, false
	}
	if !rd.boundHere(o, n, v) {
		rd.seeAttr(o, src, n, v)
	}
	return v, true
}

// seeForMethod registers the members of a container that one of its methods reads.
func (rd *reads) seeForMethod(self vm.Object, method string, args []vm.Object) {
	if method == "__contains__" && len(args) > 0 {
		if d, ok := vm.AsDict(self); ok && rd.world.sourceOf(self) != nil {
			rd.world.memberGuard(rd.world.sourceOf(self), d, args[0])
		} else {
			rd.content(self)
		}
	}
	if self.Type().Name == "deque" {
		rd.world.seeItems(self)
	}
	if method == "index" && isSequence(self) && !rd.quiet() {
		rd.world.usePolyfill("list_index", nil)
	}
	switch method { // these read nothing, or were dealt with above
	case "append", "extend", "insert", "clear", "__contains__", "__len__", "update", "__setitem__", "add", "discard":
		return
	}
	d, isDict := vm.AsDict(self)
	if !isDict {
		rd.world.seeItems(self)
		rd.content(self)
		return
	}
	src := rd.world.sourceOf(self)
	if src == nil {
		return
	}
	switch method {
	case "keys":
		rd.walked(self)
	case "get", "pop", "setdefault", "__getitem__":
		if len(args) == 0 {
			return
		}
		v, ok, err := d.Get(rd.in, args[0])
		rd.world.memberGuard(src, d, args[0])
		if ok && err == nil {
			rd.world.seeItem(self, src, args[0], v)
		}
		if err != nil || !ok || source.Identity(args[0]) != nil || !rd.effects.Held(self, args[0], v) {
			return
		}
		if r, err := rd.in.Repr(args[0]); err == nil {
			rd.world.see(v, source.Item{Base: src, Key: args[0], Text: r})
		}
	default:
		if method == "items" || method == "values" {
			rd.walked(self)
			rd.world.seeValues(self, d, src)
		}
		rd.world.seeItems(self)
		rd.content(self)
	}
}

// builtinAsks guards what some builtin functions ask of their arguments beside what they hold. The error is a break.
func (rd *reads) builtinAsks(name string, args []vm.Object) error {
	switch {
	case (name == "isinstance" || name == "issubclass") && len(args) == 2:
		rd.content(args[1]) // a tuple of classes
	case name == "setattr" && len(args) == 3:
		if n, ok := vm.AsStr(args[1]); ok {
			return rd.storesTensor(args[0], n)
		}
	case name == "hasattr" && len(args) == 2:
		rd.asksAttr(args[0], args[1])
	case name == "vars" && len(args) == 1:
		if i, ok := args[0].(*vm.Instance); ok {
			if d, err := rd.in.GetAttr(i, "__dict__"); err == nil {
				rd.world.ownDict(i, d)
			}
		}
	case name == "len" && len(args) == 1:
		if d, ok := args[0].(*vm.Dict); ok {
			if src := rd.world.sourceOf(d); src != nil {
				n := d.Len()
				if before, saved := rd.effects.Before(d); saved {
					n = len(before) / 2
				}
				rd.guards.Covertly(func() { rd.guards.Add(guard.Length(guard.DictLength, src, n, guard.DictLen)) })
			}
		} else if _, ok := guard.Contained(rd.in, args[0]); ok && rd.world.sourceOf(args[0]) != nil {
			rd.world.membersGuard(rd.world.sourceOf(args[0]), args[0])
		}
	}
	return nil
}

// has is the attribute of an object or a class of the program's, a module or a tensor, as far as finding it runs no code of the program's; nil where
// there is none. The error is that for others.
func (rd *reads) has(o vm.Object, name string) (vm.Object, error) {
	switch o := o.(type) {
	case *vm.Instance:
		if _, own := o.Class.Lookup("__getattribute__").(*vm.Function); own || o.Class.Lookup("__getattr__") != nil && !isModule(o) || isEnumMember(o) {
			return nil, errNotAsked
		}
		switch o.Class.Lookup(name).(type) {
		case *vm.Property, *vm.Instance:
			return nil, errNotAsked
		}
	case *torch.Tensor:
		if rd.t.IsFace(o) {
			return nil, errNotAsked
		}
		if _, computed := o.Type().Lookup(name).(*vm.GetSet); computed && name != "grad" {
			return nil, errNotAsked
		}
	case *vm.Type:
		if !o.Heap {
			return nil, errNotAsked
		}
	default:
		return nil, errNotAsked
	}
	v, err := rd.in.GetAttr(o, name)
	var r *vm.Raised
	if errors.As(err, &r) && r.Exc.Class == rd.in.Exc.AttributeError {
		return nil, nil
	}
	return v, err
}

// errNotAsked says of an attribute that nothing is known of it without asking the program.
var errNotAsked = errors.New("an attribute that the program computes")

// attrFound guards an attribute that hasattr found: PyTorch's capture reads it to know.
func (rd *reads) attrFound(o vm.Object, name string, v vm.Object) {
	src := rd.world.sourceOf(o)
	if _, isTensor := o.(*torch.Tensor); isTensor {
		if name == "grad" {
			rd.world.see(v, source.Attr{Base: src, Of: name})
		}
		return
	}
	if _, isClass := o.(*vm.Type); isClass || src == nil || rd.boundHere(o, name, v) {
		return
	}
	rd.seeAttr(o, src, name, v)
	_ = rd.standIns.useValue(v)
}

// asksAttrOr is told of getattr(o, name, default): where o lacks the attribute, that is guarded.
func (rd *reads) asksAttrOr(o, name vm.Object) {
	n, ok := vm.AsStr(name)
	src := rd.world.sourceOf(o)
	if !ok || src == nil {
		return
	}
	v, err := rd.has(o, n)
	if i, ok := o.(*vm.Instance); ok && errors.Is(err, errNotAsked) && !isModule(i) && i.Class.Lookup(n) == nil {
		if rd.lacks(i, n) {
			rd.guards.Add(guard.LacksAttr(n, src))
		}
		return
	}
	if err == nil && v == nil {
		rd.guards.Add(guard.LacksAttr(n, src))
	}
}

package capture

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// PyTorch models each kind of Python value by a class with a handler for each method that it knows, and ends the graph at the others. Traced
// code runs here on real values, for which every method works; so what has no handler there stands in these tables.

// unhandledMethods are methods of builtin classes, by the name of the class, at which a graph ends.
var unhandledMethods = map[string][]string{
	"list":        {"remove", "count", "__delitem__"},
	"tuple":       {"count"},
	"dict":        {"popitem"},
	"OrderedDict": {"popitem", "move_to_end"},
	"set":         {"symmetric_difference", "issubset", "issuperset"},
	"frozenset":   {"symmetric_difference", "issubset", "issuperset"},
	"deque":       {"rotate", "remove", "count"},
}

// unknownMethods are methods of builtin classes that PyTorch takes for functions of an extension, by the name of the class.
var unknownMethods = map[string][]string{
	"range": {"index", "count"},
	"slice": {"indices"},
}

// unhandledFunctions are native functions at which a graph ends, by module and name. The condition looks at the arguments; nil => always.
var unhandledFunctions = map[string]func(args []vm.Object, kw []vm.KwArg) bool{
	"builtins.hex":      nil,
	"builtins.ascii":    nil,
	"builtins.bin":      nil,
	"builtins.oct":      nil,
	"builtins.vars":     nil,
	"builtins.dir":      nil,
	"builtins.locals":   nil,
	"builtins.max":      ranks,
	"builtins.min":      ranks,
	"builtins.repr":     either(ofPlainInstance, ofException),
	"builtins.next":     withDefault,
	"_operator.countOf": nil,
	"_operator.concat":  nil,
	"_operator.setitem": nil,
	"_operator.delitem": nil,
	"operator.countOf":  nil,
	"operator.concat":   nil,
	"operator.setitem":  nil,
	"operator.delitem":  nil,
}

// unhandledClasses are native classes whose calls end a graph, by full name.
var unhandledClasses = map[string]func(args []vm.Object, kw []vm.KwArg) bool{
	"builtins.complex":        nil,
	"builtins.memoryview":     nil,
	"builtins.bytes":          nil,
	"builtins.bytearray":      nil,
	"builtins.object":         nil,
	"builtins.bool":           ofPlainInstance,
	"builtins.list":           ofEnumClass,
	"builtins.tuple":          ofEnumClass,
	"builtins.int":            ofProgramInstance,
	"builtins.float":          ofProgramInstance,
	"builtins.str":            ofException,
	"builtins.dict":           withMapping,
	"builtins.filter":         withoutFunction,
	"itertools.product":       withKeywords,
	"itertools.starmap":       nil,
	"itertools.takewhile":     nil,
	"itertools.filterfalse":   nil,
	"itertools.permutations":  nil,
	"collections.Counter":     nil,
	"collections.defaultdict": ofOddFactory,
}

// unknownClasses are native classes whose __new__ PyTorch takes for a function of an extension, by full name.
var unknownClasses = []string{"types.SimpleNamespace", "types.MappingProxyType", "mappingproxy", "torch._C._LegacyVariableBase"}

// either holds where one of two conditions does.
func either(a, b func(args []vm.Object, kw []vm.KwArg) bool) func(args []vm.Object, kw []vm.KwArg) bool {
	return func(args []vm.Object, kw []vm.KwArg) bool { return a(args, kw) || b(args, kw) }
}

// ofException holds of an exception of Python's own, of which a trace knows the class and no text.
func ofException(args []vm.Object, _ []vm.KwArg) bool {
	if len(args) != 1 {
		return false
	}
	e, ok := args[0].(*vm.Exception)
	return ok && !e.Class.Heap
}

func ranks(args []vm.Object, kw []vm.KwArg) bool {
	if slices.ContainsFunc(kw, func(k vm.KwArg) bool { _, isFunc := k.Value.(*vm.Function); return k.Name == "key" && isFunc }) {
		return true
	}
	if len(args) > 1 && slices.ContainsFunc(args, programInstance) {
		return true
	}
	return len(args) == 1 && (args[0].Type().Name == "dict_values" || ordersInstances(args[0]))
}

// ranksInstances reports whether f is max or min of instances: PyTorch has these for numbers, constants and tensors only, whoever calls.
func ranksInstances(f *vm.Builtin, args []vm.Object) bool {
	return f.Module == "builtins" && (f.Name == "max" || f.Name == "min") && len(args) == 1 && ordersInstances(args[0])
}

// ordersInstances reports whether a sequence has two or more items, and one is an instance whose order is written in Python.
func ordersInstances(o vm.Object) bool {
	items, ok := sequence(o)
	return ok && len(items) > 1 && slices.ContainsFunc(items, func(o vm.Object) bool {
		i, ok := o.(*vm.Instance)
		if !ok || i.Native != nil || isEnumMember(i) {
			return false
		}
		_, ok = i.Class.Lookup("__lt__").(*vm.Function)
		return ok
	})
}

func ofProgramInstance(args []vm.Object, _ []vm.KwArg) bool {
	return len(args) == 1 && programInstance(args[0])
}

// programInstance reports whether an object is an instance of a class of the program's, and neither a member of an enum, nor a module, nor of a class
// that derives from a native one.
func programInstance(o vm.Object) bool {
	i, ok := o.(*vm.Instance)
	return ok && i.Native == nil && i.Class.Heap && !isEnumMember(i) && !isModule(i) && i.Class.Module != "torch" && !strings.HasPrefix(i.Class.Module, "torch.")
}

func withDefault(args []vm.Object, _ []vm.KwArg) bool { return len(args) > 1 }

func withKeywords(_ []vm.Object, kw []vm.KwArg) bool { return len(kw) > 0 }

func withMapping(args []vm.Object, kw []vm.KwArg) bool {
	if len(args) != 1 || len(kw) == 0 {
		return false
	}
	_, isDict := vm.AsDict(args[0])
	return isDict
}

func withoutFunction(args []vm.Object, _ []vm.KwArg) bool { return len(args) > 0 && args[0] == vm.None }

func ofPlainInstance(args []vm.Object, _ []vm.KwArg) bool {
	return len(args) == 1 && plainInstance(args[0])
}

func ofEnumClass(args []vm.Object, _ []vm.KwArg) bool {
	return len(args) == 1 && (isEnumClass(args[0]) || args[0].Type().Name == "mappingproxy" || programInstance(args[0]))
}

// sequence are the items of a list or a tuple.
func sequence(o vm.Object) ([]vm.Object, bool) {
	if l, ok := vm.AsList(o); ok {
		return l.Items, true
	}
	t, ok := vm.AsTuple(o)
	if !ok {
		return nil, false
	}
	return t.Items, true
}

// ofOddFactory finds a defaultdict whose items are not made by a container or a function of the program.
func ofOddFactory(args []vm.Object, _ []vm.KwArg) bool {
	if len(args) == 0 {
		return false
	}
	switch f := args[0].(type) {
	case *vm.Function, *vm.BoundMethod, *vm.NoneType:
		return false
	case *vm.Type:
		return !slices.Contains([]string{"list", "tuple", "dict", "set"}, f.Name) || f.Heap
	}
	return true
}

// plainInstance reports whether an object is an instance of a class of the program's that is no container, no enum, and has neither a truth nor a
// text of its own.
func plainInstance(o vm.Object) bool {
	i, ok := o.(*vm.Instance)
	if !ok || i.Native != nil || isEnumMember(i) || !i.Class.Heap {
		return false
	}
	for _, name := range []string{"__bool__", "__len__"} {
		if i.Class.Lookup(name) != nil {
			return false
		}
	}
	return true
}

// isEnumClass reports whether an object is a class of enum members.
func isEnumClass(o vm.Object) bool {
	c, ok := o.(*vm.Type)
	return ok && isA(c, "enum", "Enum")
}

// ofProgram reports whether it is code of the program that makes the call, and not the library's, which is written otherwise than PyTorch's.
func (tr *tracer) ofProgram() bool {
	f := tr.in.Frame()
	return f != nil && !tr.quiet() && !tr.d.IsLibrary(f.Code.Filename)
}

// unhandledMethod is the break at a method of a builtin container that has no handler; nil for those that have one.
func (tr *tracer) unhandledMethod(name string, self vm.Object, args []vm.Object, kw []vm.KwArg) error {
	if !tr.ofProgram() {
		return nil
	}
	if l, ok := self.(*vm.List); ok && name == "sort" {
		if err := tr.sorts(l, kw); err != nil {
			return err
		}
	}
	if slices.Contains(unknownMethods[self.Type().Name], name) {
		return unsupportedBuiltin("None", self.Type().Name+"."+name)
	}
	if slices.Contains(unhandledMethods[self.Type().Name], name) {
		return unsupported(breaks.UnhandledMethod, tr.world.variableName(self), name, tr.variableNames(args), tr.keywordNames(kw))
	}
	if err := tr.opaqueMethod(name, self, args, kw); err != nil {
		return err
	}
	if owner := tr.world.attributesOf(self); owner != nil && !slices.Contains([]string{"__getitem__", "__contains__", "get"}, name) {
		return unsupported(breaks.UnhandledMethod, "GetAttrVariable("+tr.world.variableName(owner)+", __dict__)", name, tr.variableNames(args), tr.keywordNames(kw))
	}
	return nil
}

// unhandledFunction is the break at a native function that has no handler for its arguments.
func (tr *tracer) unhandledFunction(f *vm.Builtin, args []vm.Object, kw []vm.KwArg) error {
	if f.Module == "builtins" && f.Name == "len" && len(args) == 1 {
		return tr.opaqueOperand(breaks.UnhandledItemMethod, "__len__", args[0], "(%s)")
	}
	if f.Module == "builtins" && f.Name == "sorted" && len(args) == 1 && tr.ofProgram() {
		if err := tr.sorts(args[0], kw); err != nil {
			return err
		}
	}
	when, listed := unhandledFunctions[f.Module+"."+f.Name]
	if !listed || when != nil && !when(args, kw) || !tr.ofProgram() && !ranksInstances(f, args) {
		return nil
	}
	return tr.refusedBuiltin(f.Name, args, kw)
}

// sorts is the break at the sorting of items by themselves that are no constants: those of a list or tuple, or of a view of a dict.
func (tr *tracer) sorts(o vm.Object, kw []vm.KwArg) error {
	if slices.ContainsFunc(kw, func(k vm.KwArg) bool { return k.Name == "key" && k.Value != vm.None }) {
		return nil
	}
	keys, ok := sequence(o)
	if n := o.Type().Name; n == "dict_items" || n == "dict_values" {
		var err error
		if keys, err = tr.in.IterAll(o); err != nil {
			return err
		}
	} else if !ok {
		return nil
	}
	for _, k := range keys {
		switch k.(type) {
		case *torch.Tensor, *vm.Tuple, *vm.List:
			if !guard.Constant(k) {
				return unsupported(breaks.SortKeys)
			}
		}
	}
	return nil
}

// makerOf is the class whose __new__ makes a class's instances: the first of its method resolution order that has one of its own, or itself.
func makerOf(c *vm.Type) *vm.Type {
	for _, t := range c.MRO {
		if _, own := t.Dict.GetStr("__new__"); own && t != vm.ObjectType {
			return t
		}
	}
	return c
}

// unhandledClass is the break at a call of a native class that has no handler for its arguments.
func (tr *tracer) unhandledClass(c *vm.Type, args []vm.Object, kw []vm.KwArg) error {
	module := c.Module
	if module == "" {
		module = "builtins"
	}
	if err := tr.opaqueClass(c, args, kw); err != nil {
		return err
	}
	if maker := makerOf(c); slices.Contains(unknownClasses, maker.FullName()) && tr.ofProgram() {
		return unsupportedBuiltin("None", maker.Name+".__new__")
	}
	if init, ok := c.Lookup("__init__").(*vm.Function); ok && c.Module == "contextlib" && c.Name != "nullcontext" && tr.ofProgram() {
		return unsupported(breaks.InlineSkipped, init.Qualname, init.Name, init.Code.Filename, "SKIP_DIRS")
	}
	if _, opaque := tr.world.opaque(first(args)); opaque && module == "builtins" && (c.Name == "list" || c.Name == "tuple") && tr.ofProgram() && !isMappingSubclass(args[0]) {
		return tr.refusedBuiltin(c.Name, args, kw)
	}
	when, listed := unhandledClasses[module+"."+c.Name]
	if !listed || when != nil && !when(args, kw) || !tr.ofProgram() {
		return nil
	}
	if c.Name == "filter" && len(args) > 1 {
		items, ok := sequence(args[1])
		switch {
		case !ok:
		case len(items) == 0:
			return nil
		default: // it is None that PyTorch calls with the first item
			return unsupported(breaks.UnhandledCall, tr.world.variableName(args[0]), tr.variableNames(items[:1]), "{}")
		}
	}
	if module == "builtins" {
		return tr.refusedBuiltin(c.Name, args, kw)
	}
	return unsupported(breaks.UnhandledCall, tr.world.variableName(c), tr.variableNames(args), tr.keywordNames(kw))
}

// variableNames are the kinds of arguments as reasons list them.
func (tr *tracer) variableNames(args []vm.Object) string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = tr.world.variableName(a)
	}
	return strings.Join(names, ", ")
}

// keywordNames is variableNames for arguments that are given by name.
func (tr *tracer) keywordNames(kw []vm.KwArg) string {
	names := make([]string, len(kw))
	for i, k := range kw {
		names[i] = fmt.Sprintf("'%s': %s", k.Name, tr.world.variableName(k.Value))
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// unhandledComparison is the end of the trace at a comparison of an object of a class of the program's with a constant or a container, and at one of
// a tuple with a list. The instruction has no resume function.
func (u upcoming) unhandledComparison(op string, a, b vm.Object) error {
	if !u.ofProgram() || op != "==" && op != "!=" {
		return nil
	}
	name := map[string]string{"==": "eq", "!=": "ne"}[op]
	_, aTuple := a.(*vm.Tuple)
	_, bTuple := b.(*vm.Tuple)
	_, aList := a.(*vm.List)
	_, bList := b.(*vm.List)
	if aTuple && bList || aList && bTuple {
		return unsupported(breaks.UnhandledOperands, name, u.world.variableName(a), u.world.variableName(b))
	}
	if comparable := func(x, y vm.Object) bool {
		i, ok := x.(*vm.Instance)
		if !ok || i.Native != nil || isEnumMember(i) || !i.Class.Heap || i.Class.Module == "torch" || strings.HasPrefix(i.Class.Module, "torch.") && !isModule(i) {
			return true
		}
		if f, own := i.Class.Lookup("__eq__").(*vm.Function); own && !generated(f) {
			return true
		}
		switch y.(type) {
		case vm.Int, vm.Float, vm.Str, vm.Bool, *vm.List, *vm.Tuple, *vm.Dict:
			return false
		}
		return true
	}; comparable(a, b) && comparable(b, a) {
		return nil
	}
	return unsupported(breaks.UnhandledOperator, name, u.variableClasses(a, b), pyBool(false))
}

// generated reports whether a function is one that dataclasses wrote.
func generated(f *vm.Function) bool { return f.Code.Filename == "<string>" }

// variableClasses are the classes of operands as reasons list them.
func (tr *tracer) variableClasses(args ...vm.Object) string {
	kinds := make([]string, len(args))
	for i, a := range args {
		kinds[i] = "<class 'torch._dynamo.variables." + tr.world.variableClass(a) + "'>"
	}
	return strings.Join(kinds, ", ")
}

// unhandledMember is the end of the trace at "x in y" of a view of the values of a dict, of a class of enum members, and of a flag.
func (u upcoming) unhandledMember(what, where vm.Object) error {
	if !u.ofProgram() {
		return nil
	}
	if err := u.opaqueOperand(breaks.UnhandledOperandMethod, "__contains__", where, "[%s]", what); err != nil {
		return err
	}
	flag, isInst := where.(*vm.Instance)
	switch {
	case where.Type().Name == "dict_values", isEnumClass(where), isInst && isEnumMember(flag):
		return unsupported(breaks.UnhandledOperandMethod, u.world.variableName(where), "__contains__", "["+u.variableNames([]vm.Object{what})+"]")
	}
	if isSequence(where) && plainInstance(what) {
		for _, x := range items(where) {
			if err := u.unhandledComparison("==", x, what); err != nil {
				return err
			}
		}
	}
	return nil
}

// items are those of a list or tuple.
func items(o vm.Object) []vm.Object {
	if l, ok := vm.AsList(o); ok {
		return l.Items
	}
	if t, ok := vm.AsTuple(o); ok {
		return t.Items
	}
	return nil
}

// unhandledLoop is the end of the trace at a loop over a class of enum members, or over the attributes of an object.
func (u upcoming) unhandledLoop(o vm.Object) error {
	if !u.ofProgram() || u.ins.Op != code.GET_ITER {
		return nil
	}
	if err := u.opaqueOperand(breaks.UnhandledOperandMethod, "__iter__", o, "(%s)"); err != nil {
		return err
	}
	name := ""
	if owner := u.world.attributesOf(o); owner != nil {
		name = "GetAttrVariable(" + u.world.variableName(owner) + ", __dict__)"
	} else if isEnumClass(o) {
		name = u.world.variableName(o)
	} else if unhandledIterator(o) && u.world.sourceOf(o) != nil {
		name = "UserDefinedObjectVariable(" + o.Type().Name + ")"
	}
	if name == "" {
		return nil
	}
	return unsupported(breaks.UnhandledOperandMethod, name, "__iter__", "()") // PyTorch hands on a tuple here
}

// unhandledIterator reports whether an object is one of the iterators that no trace makes.
func unhandledIterator(o vm.Object) bool {
	t := o.Type()
	_, listed := unhandledClasses["itertools."+t.Name]
	return listed && t.Module == "itertools"
}

// storesAttribute is the break at an assignment to an attribute of a function of the program's, or to one of a tensor that the trace made.
func (u upcoming) storesAttribute(o vm.Object, name string) error {
	if !u.ofProgram() {
		return nil
	}
	switch o := o.(type) {
	case *vm.Function:
		return unsupported(breaks.TensorAttribute)
	case *torch.Tensor:
		if u.world.sourceOf(o) == nil {
			return unsupported(breaks.TensorAttribute)
		}
	}
	return nil
}

// deleteItem is the end of the trace where an item of a list goes.
func (u upcoming) deleteItem() error {
	l, isList := u.top(1).(*vm.List)
	if isList && u.ofProgram() {
		return unsupported(breaks.UnhandledOperandMethod, u.world.variableName(l), "__delitem__", "["+u.variableNames([]vm.Object{u.top(0)})+"]")
	}
	u.world.touch(u.top(1))
	return nil
}

package capture

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// Objects whose class derives from a builtin container, mappings that are no dict, and views of a dict that come from outside are objects like others
// to PyTorch: of what their class has from its native base it knows little.

// mappingHandled are the native methods that PyTorch has for an object of a class that derives from dict, and orderedHandled those for one of a class
// that derives from OrderedDict.
var (
	mappingHandled = []string{"__getitem__", "get", "__contains__"}
	orderedHandled = append([]string{"keys", "items"}, mappingHandled...)
)

// opaque reports whether an object from outside is one of whose native methods PyTorch has no more than handled.
func (wo *world) opaque(o vm.Object) (handled []string, ok bool) {
	i, isInst := o.(*vm.Instance)
	switch {
	case wo.sourceOf(o) == nil:
		return nil, false
	case isMappingSubclass(o) && isA(i.Class, "collections", "OrderedDict"):
		return orderedHandled, true
	case isMappingSubclass(o):
		return mappingHandled, true
	case isInst && i.Class.Heap && !strings.HasPrefix(i.Class.Module, "torch") && !isNamedTuple(i):
		switch i.Native.(type) {
		case *vm.Tuple, *vm.Set, *vm.FrozenSet:
			return nil, true
		}
	}
	return nil, slices.Contains([]string{"mappingproxy", "dict_keys", "dict_values", "dict_items", "odict_keys", "odict_values", "odict_items"}, o.Type().Name)
}

// isMappingSubclass reports whether an object's class derives from dict, and is neither Python's own OrderedDict or defaultdict nor torch's.
func isMappingSubclass(o vm.Object) bool {
	i, ok := o.(*vm.Instance)
	if !ok || strings.HasPrefix(i.Class.Module, "torch.") {
		return false
	}
	if _, isDict := vm.AsDict(o); !isDict {
		return false
	}
	name := i.Class.FullName()
	return name != "collections.OrderedDict" && name != "collections.defaultdict"
}

// opaqueMethod is the break at a native method of such an object, which the program calls by name; nil where PyTorch has it.
func (tr *tracer) opaqueMethod(name string, self vm.Object, args []vm.Object, kw []vm.KwArg) error {
	handled, opaque := tr.world.opaque(self)
	if !opaque || slices.Contains(handled, name) {
		return nil
	}
	named := make([]string, len(kw))
	for i, k := range kw {
		named[i] = fmt.Sprintf("'%s': %s", k.Name, tr.lazyName(k.Value))
	}
	return unsupported(breaks.UnhandledMethod, tr.world.variableName(self), name, tr.lazyNames(args), "{"+strings.Join(named, ", ")+"}")
}

// lazyNames are the kinds of arguments that a break at an object like these does not look at.
func (tr *tracer) lazyNames(args []vm.Object) string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = tr.lazyName(a)
	}
	return strings.Join(names, ", ")
}

// lazyName is the kind of one of them: a tensor from outside that nothing has used so far is not known as one.
func (tr *tracer) lazyName(o vm.Object) string {
	if p, ok := o.(*torch.Tensor); ok && tr.world.sourceOf(o) != nil && tr.standIns.fakes[p.T] == nil {
		return "LazyVariableTracker()"
	}
	return tr.world.variableName(o)
}

// opaqueOperand is the break, with the reason id, at an operator that calls a method of such an object; form is how the reason has the arguments. It is
// nil where PyTorch has the method, or where that is Python. That of Python's own collections, which PyTorch does not look into, is a break, too.
func (tr *tracer) opaqueOperand(id breaks.ID, method string, self vm.Object, form string, args ...vm.Object) error {
	if !tr.ofProgram() {
		return nil
	}
	if i, ok := self.(*vm.Instance); ok && tr.world.sourceOf(self) != nil {
		if f, ok := i.Class.Lookup(method).(*vm.Function); ok {
			if inCollections(f) {
				return unsupported(breaks.InlineSkipped, f.Qualname, f.Name, f.Code.Filename, "SKIP_DIRS")
			}
			return nil
		}
	}
	handled, opaque := tr.world.opaque(self)
	if !opaque || slices.Contains(handled, method) {
		return nil
	}
	return unsupported(id, tr.world.variableName(self), method, fmt.Sprintf(form, tr.lazyNames(args)))
}

// inCollections reports whether a function is of Python's module collections.
func inCollections(f *vm.Function) bool {
	return strings.HasSuffix(f.Code.Filename, "/collections/__init__.py")
}

// opaqueClass is the break at a call of a class that derives from a native one whose instances PyTorch cannot make.
func (tr *tracer) opaqueClass(c *vm.Type, args []vm.Object, kw []vm.KwArg) error {
	if !c.Heap || !tr.ofProgram() {
		return nil
	}
	if init, ok := c.Lookup("__init__").(*vm.Function); ok && inCollections(init) {
		if maker := makerOf(c); maker == c || maker.Heap {
			return unsupported(breaks.InlineSkipped, init.Qualname, init.Name, init.Code.Filename, "SKIP_DIRS")
		}
	}
	if c.Module == "collections" || strings.HasPrefix(c.Module, "torch.") || isA(c, "enum", "Enum") {
		return nil
	}
	switch maker := makerOf(c); maker.FullName() {
	case "collections.OrderedDict", "dict", "builtins.dict":
		if _, own := c.Lookup("__init__").(*vm.Function); !own && isA(c, "collections", "OrderedDict") && c.Lookup("__post_init__") == nil {
			return nil // a dict with a name of its own
		}
	case "collections.defaultdict", "set", "builtins.set", "frozenset", "builtins.frozenset", "int", "builtins.int", "float", "builtins.float":
	case "tuple", "builtins.tuple":
		if _, named := c.Lookup("_fields").(*vm.Tuple); named {
			return nil
		}
	case "str", "builtins.str":
		return unsupportedBuiltin("None", "str.__new__")
	default:
		return nil
	}
	return unsupported(breaks.UnhandledCall, tr.world.variableName(c), tr.variableNames(args), tr.keywordNames(kw))
}

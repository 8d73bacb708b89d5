package capture

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// step runs before every instruction of a traced frame. A generator's may outlive the trace, which then has nothing more to say to it.
func (tr *tracer) step(f *vm.Frame) error {
	if tr.ended {
		f.Trace = nil
		return nil
	}
	return tr.journal.located(tr.watch(f))
}

// watch looks at what an instruction is about to do: it counts the instructions of the captured frame, finishes what the one before
// left open, makes inputs of the tensors that this one looks into, and then does what is particular to its opcode.
func (tr *tracer) watch(f *vm.Frame) error {
	if f == tr.root {
		tr.steps++
		tr.at = point{tr.steps, f.PC}
		if f.SP == 0 && tr.out.calls > 1 && resumable(f, f.PC) {
			tr.restart = tr.at
		}
		if tr.stop != nil && tr.stop.step == tr.steps {
			tr.reads.after(f) // what the instruction before loaded lies on the stack that the rest of the frame starts with
			return errStop
		}
	} else if _, known := tr.bindings.funcs[f]; !known {
		if err := tr.entersDisabled(f); err != nil {
			return err
		}
		tr.bindings.enter(f)
		tr.journal.logInlined(f)
	}
	tr.reads.after(f)
	ins := f.Code.Instrs[f.PC]
	if tr.d.logs.any {
		tr.journal.logStep(f, ins, tr.world.variableName)
		if ins.Op == code.RETURN_VALUE {
			tr.journal.logReturns(f)
		}
	}
	tr.reads.useStack(f, ins)
	if err := tr.reads.use(f, ins); err != nil {
		return err
	}
	if look := watched[ins.Op]; look != nil {
		return look(upcoming{tr, f, ins})
	}
	return nil
}

// upcoming is an instruction that is about to run. What it takes lies on the stack of f.
type upcoming struct {
	*tracer
	f   *vm.Frame
	ins code.Instr
}

// top is the value k places below the top of the stack.
func (u upcoming) top(k int) vm.Object { return u.f.Stack[u.f.SP-1-k] }

// replaceTop puts o in the place of the value on top of the stack: the instruction takes it instead.
func (u upcoming) replaceTop(o vm.Object) { u.f.Stack[u.f.SP-1] = o }

// name is the name that the instruction's argument stands for.
func (u upcoming) name() string { return u.f.Code.Names[u.ins.Arg] }

// slot is the name of the local variable that the argument stands for.
func (u upcoming) slot() string { return u.f.Code.LocalsPlusName(int(u.ins.Arg)) }

// watched says what the trace does before an instruction runs, by opcode: give values sources and guards, save what is to be written,
// and end the trace where it has to. Instructions without a row only move values, or work on what is the trace's own; tensors that
// they look into were made inputs before (see operands).
var watched = [256]func(u upcoming) error{
	// Variables.
	code.LOAD_FAST:       upcoming.loadFast,
	code.STORE_FAST:      upcoming.storeFast,
	code.DELETE_FAST:     upcoming.deleteFast,
	code.LOAD_DEREF:      upcoming.loadCell,
	code.LOAD_CLASSDEREF: upcoming.loadCell,
	code.STORE_DEREF:     upcoming.storeCell,
	code.LOAD_GLOBAL:     upcoming.loadGlobal,
	code.LOAD_NAME:       upcoming.loadGlobal,
	code.STORE_GLOBAL:    upcoming.storeGlobal,
	code.DELETE_GLOBAL:   missing("DELETE_GLOBAL"),
	code.DELETE_DEREF:    missing("DELETE_DEREF"),
	code.IMPORT_NAME:     upcoming.importName,
	code.MAKE_FUNCTION:   upcoming.makeFunction,

	// Attributes and items.
	code.LOAD_ATTR:     upcoming.loadAttr,
	code.LOAD_METHOD:   upcoming.loadAttr,
	code.STORE_ATTR:    upcoming.storeAttr,
	code.DELETE_ATTR:   upcoming.deleteAttr,
	code.IMPORT_FROM:   upcoming.importFrom,
	code.BINARY_SUBSCR: upcoming.loadItem,
	code.STORE_SUBSCR:  upcoming.storeItem,
	code.DELETE_SUBSCR: upcoming.deleteItem,

	// Operators: the interpreter reads containers of any depth.
	code.COMPARE_OP:     upcoming.compare,
	code.IS_OP:          upcoming.is,
	code.CONTAINS_OP:    upcoming.contains,
	code.BINARY_OP:      upcoming.binary,
	code.FORMAT_VALUE:   upcoming.format,
	code.BUILD_STRING:   upcoming.join,
	code.BUILD_SLICE:    upcoming.buildSlice,
	code.UNARY_NEGATIVE: upcoming.unary,
	code.UNARY_POSITIVE: upcoming.unary,
	code.UNARY_INVERT:   upcoming.unary,
	code.UNARY_NOT:      upcoming.not,

	// Containers that are walked.
	code.GET_ITER:         upcoming.iterate,
	code.FOR_ITER:         upcoming.next,
	code.UNPACK_SEQUENCE:  upcoming.unpack,
	code.UNPACK_EX:        upcoming.walk,
	code.LIST_EXTEND:      upcoming.walk,
	code.DICT_MERGE:       upcoming.walk,
	code.DICT_UPDATE:      upcoming.walk,
	code.SET_UPDATE:       upcoming.walk,
	code.CALL_FUNCTION_EX: upcoming.spread,

	// Where the frame may go elsewhere.
	code.POP_JUMP_FORWARD_IF_FALSE:  upcoming.branches,
	code.POP_JUMP_FORWARD_IF_TRUE:   upcoming.branches,
	code.POP_JUMP_BACKWARD_IF_FALSE: upcoming.branches,
	code.POP_JUMP_BACKWARD_IF_TRUE:  upcoming.branches,
	code.JUMP_IF_FALSE_OR_POP:       upcoming.branches,
	code.JUMP_IF_TRUE_OR_POP:        upcoming.branches,
	code.BEFORE_WITH:                upcoming.enterBlock,
	code.RAISE_VARARGS:              upcoming.raise,
	code.CHECK_EXC_MATCH:            upcoming.matches,
	code.LOAD_BUILD_CLASS:           missing("LOAD_BUILD_CLASS"),
	code.MATCH_CLASS:                missing("MATCH_CLASS"),
	code.CHECK_EG_MATCH:             missing("CHECK_EG_MATCH"),
	code.YIELD_VALUE:                upcoming.generates,
	code.RETURN_GENERATOR:           upcoming.generates,
}

// missing is the end of the trace at an instruction that PyTorch's cannot do. What the library's own functions do is no business of it.
func missing(opcode string) func(u upcoming) error {
	return func(u upcoming) error {
		if u.d.IsLibrary(u.f.Code.Filename) {
			return nil
		}
		return unsupported(breaks.MissingOpcode, opcode)
	}
}

// loadFast sees a local variable of the captured frame that still holds what the frame was called with. A number among those may
// become a symbol, in the variable itself.
func (u upcoming) loadFast() error {
	i := int(u.ins.Arg)
	if u.f != u.root {
		u.bindings.seeDefault(u.f, i)
		return nil
	}
	v := u.f.LocalsPlus[i]
	if v == nil || u.env.Locals[u.slot()] != v || u.bindings.stored[i] {
		return nil
	}
	src := source.Local{Var: u.slot()}
	if s := u.symbols.lifted(v, src); s != nil {
		u.f.LocalsPlus[i] = s
		return nil
	}
	if p := u.world.face(v, src); p != nil {
		u.f.LocalsPlus[i] = p
		return nil
	}
	u.world.see(v, src)
	return nil
}

// storeFast names a tensor after the variable, and makes an input of what is kept in one.
func (u upcoming) storeFast() error {
	if err := u.standIns.useValue(u.top(0)); err != nil {
		return err
	}
	if s, ok := u.top(0).(*torch.Scalar); ok && u.symbols.liftedFrom[s] != nil {
		u.out.exprNode(s.Expr)
	}
	u.out.nameAfter(u.top(0), u.slot())
	return u.deleteFast()
}

// deleteFast notes that a variable does not hold its argument any more.
func (u upcoming) deleteFast() error {
	if u.f == u.root {
		u.bindings.stored[int(u.ins.Arg)] = true
	}
	return nil
}

// loadCell is loadFast for a variable that is in a cell.
func (u upcoming) loadCell() error {
	if u.f != u.root {
		u.bindings.seeFree(u.f, int(u.ins.Arg))
		return nil
	}
	if c, ok := u.f.LocalsPlus[u.ins.Arg].(*vm.Cell); ok && c.V != nil && u.env.Locals[u.slot()] == c.V {
		u.world.loaded(u.f, c.V, source.Local{Var: u.slot()})
	}
	return nil
}

func (u upcoming) storeCell() error {
	own := int(u.ins.Arg) < len(u.f.LocalsPlus)-len(u.f.Code.FreeVars)
	if c, ok := u.f.LocalsPlus[u.ins.Arg].(*vm.Cell); ok && (u.f == u.root || !own) { // the cells of an inlined call are its own
		u.effects.Save(c)
	}
	if u.f == u.root {
		u.out.nameAfter(u.top(0), u.slot())
	}
	return nil
}

func (u upcoming) loadGlobal() error {
	arg := u.ins.Arg
	if u.ins.Op == code.LOAD_GLOBAL {
		arg >>= 1 // the lowest bit asks for a null beside the value
	}
	if s := u.world.swapping(func() { u.reads.seeGlobal(u.f, u.f.Code.Names[arg]) }); s != nil {
		if n, ok := s.(*torch.Scalar); ok {
			u.out.exprNode(n.Expr) // unlike a local variable, a global is an input from when it is loaded
		}
		u.f.Ext = &pending{swap: s}
	}
	return nil
}

func (u upcoming) storeGlobal() error {
	u.effects.StoreGlobal(u.f.Globals, u.name())
	return nil
}

func (u upcoming) importName() error {
	u.reads.imports(u.f, u.name(), u.top(0), u.top(1))
	return nil
}

func (u upcoming) makeFunction() error {
	u.f.Ext = &pending{made: true}
	return nil
}

// loadAttr guards what the interpreter asks on its way to the attribute, and leaves a note: reads.after gives the value its source.
func (u upcoming) loadAttr() error {
	if err := u.strictMode(u.top(0), u.name()); err != nil {
		return err
	}
	if v := u.effects.AttrPutOff(u.top(0), u.name()); v != nil && u.ins.Op == code.LOAD_ATTR {
		u.replaceTop(&vm.Module{Dict: vm.NewDict()})
		u.top(0).(*vm.Module).Dict.SetStr(u.name(), v)
		return nil
	}
	if err := u.reads.ownAccess(u.top(0)); err != nil {
		return err
	}
	if err := u.describedAttribute(u.top(0), u.name()); err != nil {
		return err
	}
	if m, ok := u.top(0).(*vm.Module); ok {
		u.importPart(m, u.name())
	}
	if x, ok := u.top(0).(*torch.Tensor); ok && graphAttributes.has(u.name()) && u.ofProgram() && !u.t.IsFace(x) {
		if err := u.attributeNode(x, u.name()); err != nil {
			return err
		}
	}
	u.reads.seeClassConstant(u.top(0), u.name())
	if err := u.reads.seeFrozen(u.top(0)); err != nil {
		return err
	}
	u.reads.readsAttr(u.top(0), u.name())
	u.reads.note(u.f, u.top(0), u.name())
	if p, ok := u.f.Ext.(*pending); ok && p != nil {
		p.method = u.ins.Op == code.LOAD_METHOD
	}
	u.reads.hasMethod(u.f, u.top(0), u.name())
	return nil
}

// describedAttribute is the break at an attribute that a class of the program's describes by an object with a __get__ and a __set__ of its own: PyTorch
// takes the describing object itself for the value, which nothing can compute with.
func (u upcoming) describedAttribute(o vm.Object, name string) error {
	i, ok := o.(*vm.Instance)
	if !ok || !u.ofProgram() {
		return nil
	}
	d, ok := i.Class.Lookup(name).(*vm.Instance)
	if !ok || !programInstance(d) {
		return nil
	}
	get, gets := d.Class.Lookup("__get__").(*vm.Function)
	_, sets := d.Class.Lookup("__set__").(*vm.Function)
	if !gets || !sets || u.d.IsLibrary(get.Code.Filename) {
		return nil
	}
	return unsupported(breaks.DescribedAttribute, d.Class.Name)
}

// importPart lets a package of the library import a part that it imports when the part is first named. PyTorch's has it by then.
func (u upcoming) importPart(m *vm.Module, name string) {
	lazy, ok := m.Dict.GetStr("__getattr__")
	f, isFunc := lazy.(*vm.Function)
	if _, there := m.Dict.GetStr(name); !ok || !isFunc || there || !u.d.IsLibrary(f.Code.Filename) {
		return
	}
	_, _ = u.imports(func() (vm.Object, error) { return u.in.GetAttr(m, name) }) // an error comes again, to the program
}

// attributeNode leaves a node for an attribute of a tensor in the graph.
func (u upcoming) attributeNode(x *torch.Tensor, name string) error {
	args, _, err := u.nodeArguments(&torch.Call{Args: []vm.Object{x, vm.Str(name)}})
	if err != nil {
		return err
	}
	u.journal.logNode(u.out.graph.CreateNode(fx.CallFunction, "getattr", args, nil, ""))
	u.out.calls++
	return nil
}

// storeAttr saves the object that is about to be written.
func (u upcoming) storeAttr() error {
	if isPythonClass(u.top(0)) {
		return u.refusedBuiltin("setattr", []vm.Object{u.top(0), vm.Str(u.name()), u.top(1)}, nil)
	}
	if putOff(u.top(0), u.name()) && u.ofProgram() {
		return u.putOffAttr()
	}
	if err := u.reads.storesTensor(u.top(0), u.name()); err != nil {
		return err
	}
	if u.ofProgram() {
		if err := u.standIns.useValue(u.top(1)); err != nil {
			return err
		}
	}
	if err := u.storesAttribute(u.top(0), u.name()); err != nil {
		return err
	}
	u.world.touch(u.top(0))
	u.effects.StoreAttr(u.top(0), u.name())
	return u.reads.assigned(u.top(0), u.name(), u.top(1))
}

// putOff reports whether an assignment to an attribute is done when the graph has run: one that runs code, a property's, and one to the gradient of a tensor.
func putOff(o vm.Object, name string) bool {
	switch o := o.(type) {
	case *torch.Tensor:
		return name == "grad"
	case *vm.Instance:
		if p, ok := o.Class.Lookup(name).(*vm.Property); ok && o.Class.Heap && !isModule(o) {
			return p.Set != nil
		}
	}
	return false
}

// putOffAttr leaves the assignment for later. Until then the attribute is the value that it was assigned.
func (u upcoming) putOffAttr() error {
	o, v := u.top(0), u.top(1)
	if _, ok := o.(*torch.Tensor); ok && u.world.sourceOf(o) == nil {
		return unsupported(breaks.TensorAttribute)
	}
	for _, x := range []vm.Object{o, v} {
		if err := u.standIns.useValue(x); err != nil {
			return err
		}
	}
	set, err := u.in.GetAttr(u.in.Builtins, "setattr")
	if err != nil {
		return err
	}
	u.effects.PutOffAttr(set, o, u.name(), v)
	u.replaceTop(&vm.Module{Dict: vm.NewDict()}) // something that can be assigned to
	return nil
}

// deleteAttr is the end of the trace where an attribute of a class goes.
func (u upcoming) deleteAttr() error {
	if !isPythonClass(u.top(0)) {
		u.world.touch(u.top(0))
		return nil
	}
	r := u.refusedBuiltin("delattr", []vm.Object{u.top(0), vm.Str(u.name())}, nil)
	if b, ok := r.(*Unsupported); ok {
		b.Reason.ID = breaks.DeletedAttribute
	}
	return r
}

// isPythonClass reports whether an object is a class that was written in Python. Its attributes are no state of a trace, which neither undoes nor
// replays what is written there.
func isPythonClass(o vm.Object) bool {
	c, ok := o.(*vm.Type)
	return ok && c.Heap
}

func (u upcoming) importFrom() error {
	u.reads.readsAttr(u.top(0), u.name())
	u.reads.note(u.f, u.top(0), u.name())
	return nil
}

// loadItem leaves a note as loadAttr does. A slice is made of everything in the container. A tensor can be the index of a list if its value is
// known.
func (u upcoming) loadItem() error {
	if err := u.opaqueOperand(breaks.UnhandledItemMethod, "__getitem__", u.top(1), "(%s,)", u.top(0)); err != nil {
		return err
	}
	switch i := u.top(0).(type) {
	case *vm.Slice:
		u.reads.content(u.top(1))
	case *torch.Tensor:
		if !isSequence(u.top(1)) {
			break
		}
		n, err := u.knownNumber(i)
		if err != nil {
			return err
		}
		if n == nil {
			return unsupported(breaks.TensorIndex)
		}
		u.replaceTop(n)
	}
	if _, ok := guard.Contained(u.in, u.top(1)); ok {
		u.reads.content(u.top(1)) // items of these have no sources
	}
	u.reads.note(u.f, u.top(1), u.top(0))
	return nil
}

// buildSlice is the break at a slice whose ends are tensors; those whose value is known are numbers.
func (u upcoming) buildSlice() error {
	for k := range int(u.ins.Arg) {
		i, ok := u.top(k).(*torch.Tensor)
		if !ok {
			continue
		}
		n, err := u.knownNumber(i)
		if err != nil {
			return err
		}
		if n == nil {
			return unsupported(breaks.TensorSlice)
		}
		u.f.Stack[u.f.SP-1-k] = n
	}
	return nil
}

// knownNumber is the number in a tensor whose value the trace knows; nil for others.
func (u upcoming) knownNumber(i *torch.Tensor) (vm.Object, error) {
	x := u.standIns.known[i.T]
	if x == nil {
		return nil, nil
	}
	return u.outside(func() (vm.Object, error) { return u.in.CallMethod(u.t.Wrap(x), "item") })
}

func (u upcoming) storeItem() error {
	if err := u.opaqueOperand(breaks.UnhandledItemMethod, "__setitem__", u.top(1), "[%s]", u.top(0), u.top(2)); err != nil {
		return err
	}
	u.world.touch(u.top(1))
	return nil
}

func (u upcoming) compare() error {
	if int(u.ins.Arg) < len(code.CmpOps) {
		if err := u.unhandledComparison(code.CmpOps[u.ins.Arg], u.top(1), u.top(0)); err != nil {
			return err
		}
	}
	if err := u.binary(); err != nil {
		return err
	}
	if n := u.top(1); guard.Constant(n) && int(u.ins.Arg) < len(code.CmpOps) {
		if _, isTensor := u.top(0).(*torch.Tensor); isTensor {
			return u.compareTo(n)
		}
	}
	if int(u.ins.Arg) < len(code.CmpOps) && u.ofProgram() {
		u.compareSizes(code.CmpOps[u.ins.Arg], u.top(1), u.top(0))
	}
	if isSequence(u.top(0)) && isSequence(u.top(1)) && int(u.ins.Arg) < len(code.CmpOps) {
		if strings.ContainsAny(code.CmpOps[u.ins.Arg], "<>") {
			u.world.usePolyfill("list_cmp", nil)
		} else if u.ofProgram() {
			u.world.usePolyfill("list_eq", nil)
		}
		return u.reads.compared(u.top(1), u.top(0))
	}
	return nil
}

// compareSizes guards what a comparison of the sizes of two tensors looks up in PyTorch.
func (u upcoming) compareSizes(op string, a, b vm.Object) {
	if a.Type() != u.t.SizeType || b.Type() != u.t.SizeType {
		return
	}
	if op == "==" {
		u.world.usePolyfill("list_eq", nil)
		return
	}
	u.world.usePolyfill("list_cmp", nil)
	x, _ := vm.AsTuple(a)
	y, _ := vm.AsTuple(b)
	if n := min(len(x.Items), len(y.Items)); slices.Equal(x.Items[:n], y.Items[:n]) { // it is the lengths that decide
		if v, ok := u.in.Builtins.Dict.GetStr("len"); ok {
			u.world.useBuiltin("len", v)
		}
	}
}

// compareTo compares a constant with a tensor in the order in which the program has them, which Python would turn around.
func (u upcoming) compareTo(n vm.Object) error {
	op := code.CmpOps[u.ins.Arg]
	v, err := u.comparison(op, n, u.top(0))
	if err != nil || v == nil {
		return err
	}
	u.replaceTop(n)
	u.f.Ext = &pending{swap: v}
	return nil
}

func (u upcoming) is() error {
	u.reads.different(u.top(0), u.top(1))
	return nil
}

// contains guards that the container has the value, or has it not: a dict by its key, a set and the like by all members, a list by
// the items up to the one that is found. A constant is looked for among constants: the tensors of a sequence are not it, whatever they hold.
func (u upcoming) contains() error {
	if out := u.reads.stepsOuter(u.top(0)); out != nil {
		return out
	}
	where := u.top(0)
	if err := u.unhandledMember(u.top(1), where); err != nil {
		return err
	}
	if isSequence(where) {
		if _, isTensor := u.top(1).(*torch.Tensor); isTensor {
			return u.containsTensor()
		}
	}
	defer func() {
		if rest, some := withoutTensors(where); some && guard.Constant(u.top(1)) {
			u.replaceTop(rest)
		}
	}()
	if d, ok := vm.AsDict(where); ok {
		if src := u.world.sourceOf(where); src != nil {
			u.world.memberGuard(src, d, u.top(1))
			if v, ok, err := d.Get(u.in, u.top(1)); ok && err == nil && guard.Constant(v) {
				u.world.seeItem(where, src, u.top(1), v)
			}
		}
	} else {
		u.guards.Covertly(func() {
			if src := u.world.sourceOf(where); src != nil {
				u.world.membersGuard(src, where)
			}
		})
	}
	return u.reads.searched(where, u.top(1))
}

// withoutTensors is a sequence's items but the tensors among them; some says whether there are any.
func withoutTensors(o vm.Object) (rest *vm.Tuple, some bool) {
	var items []vm.Object
	if l, ok := vm.AsList(o); ok {
		items = l.Items
	} else if t, ok := vm.AsTuple(o); ok {
		items = t.Items
	}
	rest = vm.NewTuple(slices.DeleteFunc(slices.Clone(items), func(x vm.Object) bool {
		_, isTensor := x.(*torch.Tensor)
		return isTensor
	})...)
	return rest, len(rest.Items) < len(items)
}

func (u upcoming) binary() error {
	if u.formatOperator() {
		return nil
	}
	if err := u.readsLater(); err != nil {
		return err
	}
	if matmul := u.ins.Arg == 4 || u.ins.Arg == 17; matmul && u.ofProgram() {
		if l, r := u.top(1), u.top(0); (programInstance(l) || programInstance(r)) && !someTensor([]vm.Object{l, r}) {
			return unsupported(breaks.UnhandledOperator, map[bool]string{true: "matmul", false: "imatmul"}[u.ins.Arg == 4], u.variableClasses(l, r), pyBool(false))
		}
	}
	if l, r := u.top(1), u.top(0); u.ofProgram() && (operandOf(l, r) || operandOf(r, l)) {
		return unsupported(breaks.ObjectOperand, u.world.variableName(l)+" "+u.world.variableName(r))
	}
	u.reads.content(u.top(0))
	u.reads.content(u.top(1))
	return nil
}

// operandOf reports whether an object of the program's meets a tensor in an operator, which PyTorch takes for the tensor's. A class that says what
// functions of torch do to it is asked first.
func operandOf(o, x vm.Object) bool {
	_, isTensor := x.(*torch.Tensor)
	i, ok := o.(*vm.Instance)
	return ok && isTensor && programInstance(o) && i.Class.Lookup("__torch_function__") == nil
}

// unary is the break at a sign, or at an inversion, of an object of the program's.
func (u upcoming) unary() error {
	if !u.ofProgram() || !programInstance(u.top(0)) {
		return nil
	}
	name := map[code.Op]string{code.UNARY_NEGATIVE: "neg", code.UNARY_POSITIVE: "pos", code.UNARY_INVERT: "invert"}[u.ins.Op]
	return unsupported(breaks.UnhandledOperator, name, u.variableClasses(u.top(0)), pyBool(false))
}

// not is the break at "not x" of a tensor, or of an object that has no truth of its own.
func (u upcoming) not() error {
	if u.ofProgram() && plainInstance(u.top(0)) {
		return unsupported(breaks.UnhandledOperator, "not_", u.variableClasses(u.top(0)), pyBool(false))
	}
	if _, isTensor := u.top(0).(*torch.Tensor); isTensor {
		return unsupported(breaks.DataDependentOperator, readsTensor)
	}
	return nil
}

// iterate makes a loop over a tensor one over its rows, all of which PyTorch takes at once; other containers are guarded as a whole.
func (u upcoming) iterate() error {
	o := u.top(0)
	if err := u.unhandledLoop(o); err != nil {
		return err
	}
	rows, err := u.unpackTensor(o)
	if err != nil {
		return err
	}
	if rows != nil {
		u.reads.iterated(o)
		u.replaceTop(rows)
		return nil
	}
	u.reads.walked(o)
	u.reads.walkedSet(o)
	if t := u.world.liftItems(o); t != nil {
		u.replaceTop(t)
		return nil
	}
	u.world.seeItems(o)
	if _, ok := o.(*vm.Instance); ok {
		u.reads.content(o)
	}
	return nil
}

// next is told of each step of a loop over an iterator from outside.
func (u upcoming) next() error {
	switch it := u.top(0).(type) {
	case *replayIter:
		u.reads.stepped(it)
	case vm.Iterator:
		if u.world.sources[it] != nil { // running it here would use it up
			return unsupported(breaks.OuterGenerator)
		}
	}
	return nil
}

// unpack takes a tensor apart into its rows, and a sequence with numbers that are symbols into those.
func (u upcoming) unpack() error {
	if out := u.reads.stepsOuter(u.top(0)); out != nil {
		return out
	}
	if t, ok := u.top(0).(*torch.Tensor); ok {
		wrong := ""
		switch n := int64(u.ins.Arg); {
		case len(t.T.Shape) == 0:
			wrong = "Can't unpack scalar tensors. Number of unpacks should match the shape."
		case t.T.Shape[0] != n:
			wrong = fmt.Sprintf("Can't unpack a tensor of %d rows into a tuple of %d elements.", t.T.Shape[0], n)
		}
		if wrong != "" {
			return &escaped{u.in.Errorf(u.in.Exc.AssertionError, "%s", wrong)}
		}
	}
	rows, err := u.unpackTensor(u.top(0))
	if err != nil {
		return err
	}
	if rows != nil {
		u.replaceTop(rows)
		return nil
	}
	if t := u.world.liftItems(u.top(0)); t != nil {
		u.replaceTop(t)
		return nil
	}
	u.world.seeItems(u.top(0))
	return nil
}

func (u upcoming) walk() error {
	if out := u.reads.stepsOuter(u.top(0)); out != nil {
		return out
	}
	if n := u.world.lift(u.top(0)); n != nil && u.ins.Op != code.UNPACK_EX {
		u.replaceTop(n)
		return nil
	}
	if d, ok := u.top(0).(*vm.Dict); ok && (u.ins.Op == code.DICT_MERGE || u.ins.Op == code.DICT_UPDATE) { // the arguments of a call, a dict in a dict
		if src := u.world.sourceOf(d); src != nil {
			u.world.seeValues(d, d, src)
		}
	}
	u.world.seeItems(u.top(0))
	u.reads.content(u.top(0))
	return nil
}

// spread walks the arguments of a call that are given as *args and **kwargs.
func (u upcoming) spread() error {
	for k := range min(1+int(u.ins.Arg&1), u.f.SP) {
		if n := u.world.lift(u.top(k)); n != nil {
			u.f.Stack[u.f.SP-1-k] = n
			continue
		}
		u.world.seeItems(u.top(k))
		if d, ok := u.top(k).(*vm.Dict); ok {
			if src := u.world.sourceOf(d); src != nil {
				u.world.seeValues(d, d, src)
			}
		}
		u.reads.content(u.top(k))
	}
	return nil
}

// branches is the break at a branch on a tensor, or on a number that only the run will know.
func (u upcoming) branches() error {
	switch v := u.top(0).(type) {
	case *torch.Scalar:
		if !u.symbols.decidable(v) {
			return u.branchesOn(u.f)
		}
	case *torch.Tensor:
		if done, err := u.asserts(v); done || err != nil {
			return err
		}
		_, _ = u.standIns.fake(v) // an input of the graph, if it can be one: the break comes either way
		return u.branchesOn(u.f)
	case vm.Bool:
		if _, assertion, err := u.assertion(); v == vm.False && assertion && u.f == u.root {
			return u.branchesOn(u.f) // the program says that this never is: PyTorch leaves the branch to Python
		} else if err != nil {
			return err
		}
	case *vm.List, *vm.Tuple, *vm.Dict, *vm.Instance:
		u.reads.asksTruth(v)
	}
	return nil
}

// asserts makes of "assert tensor" and "assert tensor, 'message'" a check in the graph; done is false for other branches.
func (u upcoming) asserts(x *torch.Tensor) (done bool, err error) {
	message, ok, err := u.assertion()
	if !ok || err != nil {
		return false, err
	}
	if _, err := u.inTorch("_assert_async", x, message); err != nil {
		return false, err
	}
	u.replaceTop(vm.True)
	return true, nil
}

// assertion reports whether a branch is that of an assert statement, and gives its message; ok is false where that is to be computed.
func (u upcoming) assertion() (message vm.Object, ok bool, err error) {
	ins := u.f.Code.Instrs
	pc := u.f.PC + 1
	if u.ins.Op != code.POP_JUMP_FORWARD_IF_TRUE || pc >= len(ins) || ins[pc].Op != code.LOAD_ASSERTION_ERROR {
		return nil, false, nil
	}
	if on, err := u.d.configBool("rewrite_assert_with_torch_assert"); err != nil || !on {
		return nil, false, err
	}
	message = vm.Str("assertion error")
	if pc++; ins[pc].Op == code.LOAD_CONST {
		text, isText := vm.AsStr(u.f.Code.Consts[ins[pc].Arg])
		if !isText {
			return nil, false, nil
		}
		message = vm.Str(text)
		for pc++; ins[pc].Op == code.PRECALL || ins[pc].Op == code.CALL; {
			pc++
		}
	}
	return message, ins[pc].Op == code.RAISE_VARARGS, nil
}

// enterBlock is the break at a context manager that capture cannot enter: one of the script's from outside, whose state it would
// change, and those of plain Python.
func (u upcoming) enterBlock() error {
	if u.f == u.root {
		u.entered = u.top(0)
	}
	i, ok := u.top(0).(*vm.Instance)
	if torch.SwitchesOverrides(u.top(0)) { // what it switches is part of the modes that a trace keeps
		return nil
	}
	if !ok { // a file, a lock
		id := breaks.ContextManager
		if isFile(u.top(0).Type()) {
			id = breaks.FileContext
		}
		return unsupported(id, u.top(0).Type().Name)
	}
	if isA(i.Class, "torch.utils._python_dispatch", "TorchDispatchMode") && !strings.HasPrefix(i.Class.Module, "torch.") {
		text, err := u.in.Repr(i) // what a mode does to operators is no part of a graph
		if err != nil {
			return err
		}
		return unsupported(breaks.EnteredMode, text)
	}
	if u.world.sources[i] != nil && !strings.HasPrefix(i.Class.Module, "torch") && !nullContexts.has(i.Class.FullName()) {
		return unsupported(breaks.ContextManager, i.Class.Name)
	}
	return nil
}

// raise is the break at an exception of the script's own class, at one that is raised again, and at one that names its cause.
func (u upcoming) raise() error {
	if u.ins.Arg == 0 {
		if u.ofProgram() {
			return unsupported(breaks.Reraise)
		}
		return nil
	}
	if u.ins.Arg == 2 && u.ofProgram() {
		if u.top(0) != vm.None {
			return unsupported(breaks.RaiseFrom)
		}
		return nil
	}
	if c, ok := u.top(0).(*vm.Type); ok && u.userException(c, nil) != nil {
		return unsupported(breaks.RaiseUserException, c.Name)
	}
	return nil
}

// matches is the break at an except clause of the program's that names a class which Python has not by itself: whether the exception is of the class is not
// known then.
func (u upcoming) matches() error {
	if !u.ofProgram() {
		return nil
	}
	classes := []vm.Object{u.top(0)}
	form := breaks.ExceptClass
	if t, ok := u.top(0).(*vm.Tuple); ok {
		classes, form = t.Items, breaks.ExceptClasses
	}
	for _, c := range classes {
		if t, ok := c.(*vm.Type); !ok || t.Module != "builtins" {
			return unsupported(form, u.world.variableName(c))
		}
		if of, ok := c.(*vm.Type); ok && u.top(1).Type().IsSubtype(of) {
			return nil
		}
	}
	return nil
}

// generates is the break at a frame that is a generator's; inside of the trace generators run as they do in Python.
func (u upcoming) generates() error {
	if u.f == u.root {
		return unsupported(breaks.GeneratorFrame)
	}
	return nil
}

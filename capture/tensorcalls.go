package capture

import (
	"slices"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// tensorFunction performs a call of a function or class of Python's builtins that was given tensors: those that graphs have a form for become
// operators, others that would read the tensors end the trace.
func (tr *tracer) tensorFunction(module, name string, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if module == "math" && someTensor(args) {
		return nil, false, unsupported(breaks.DataDependentOperator, readsTensor)
	}
	if module != "builtins" && module != "_operator" {
		return nil, false, nil
	}
	switch name {
	case "contains":
		if len(args) == 2 && isSequence(args[0]) && someTensor(args[1:]) {
			items, err := tr.in.IterAll(args[0])
			if err != nil || len(items) == 0 {
				return nil, false, err
			}
			v, err := tr.anyEquals(items, args[1])
			return v, err == nil, err
		}
	case "str", "repr", "ascii", "format":
		if slices.ContainsFunc(args, written) {
			return nil, false, tr.refusedBuiltin(name, args, kw)
		}
	case "hash":
		if tr.ofProgram() {
			return nil, false, tr.refusedBuiltin(name, args, kw)
		}
	case "not_":
		if someTensor(args) {
			return nil, false, unsupported(breaks.DataDependentOperator, readsTensor)
		}
	case "index":
		if someTensor(args) {
			return nil, false, unsupported(breaks.TensorOfIndex)
		}
	case "abs":
		if len(args) == 1 && someTensor(args) {
			v, err := tr.t.Hook(&torch.Call{Op: fx.CallMethod, Target: "__abs__", Args: args, Run: func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return tr.in.CallMethod(a[0], "abs") }})
			return v, err == nil, err
		}
	case "max", "min":
		return tr.extremeTensor(name, args, kw)
	case "int", "float":
		return tr.castTensor(name, args, kw)
	case "bool", "complex", "range", "truth", "divmod", "pow":
		if someTensor(args) {
			return nil, false, tr.refusedBuiltin(name, args, kw)
		}
	}
	return nil, false, nil
}

func someTensor(args []vm.Object) bool {
	for _, a := range args {
		if _, ok := a.(*torch.Tensor); ok {
			return true
		}
	}
	return false
}

// extremeTensor is max or min of values with tensors among them: of each pair, the elements that are larger or smaller.
func (tr *tracer) extremeTensor(name string, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	of := args // what is compared
	if len(args) == 1 {
		if _, whole := args[0].(*torch.Tensor); whole {
			rows, err := tr.unpackTensor(args[0])
			if err != nil || rows == nil {
				return nil, false, err
			}
			args = []vm.Object{rows}
		}
		items, err := tr.in.IterAll(args[0])
		if err != nil {
			return nil, false, err
		}
		if !isSequence(args[0]) {
			args[0] = vm.NewList(items...) // what was an iterator is used up
		}
		of = items
	}
	if !someTensor(of) {
		return nil, false, nil
	}
	if len(kw) > 0 {
		return nil, false, tr.refusedBuiltin(name, args, kw)
	}
	pair, bound := "maximum", "min"
	if name == "min" {
		pair, bound = "minimum", "max"
	}
	best := of[0]
	for _, next := range of[1:] {
		var err error
		if best, err = tr.extremeOf(pair, bound, best, next); err != nil {
			return nil, false, err
		}
	}
	return best, true, nil
}

// extremeOf is the larger or smaller of two values: pair is the operator on two tensors, bound the argument of clamp for a number.
func (tr *tracer) extremeOf(pair, bound string, a, b vm.Object) (vm.Object, error) {
	_, first := a.(*torch.Tensor)
	_, second := b.(*torch.Tensor)
	if first && second {
		return tr.inTorch(pair, a, b)
	}
	if second {
		a, b = b, a
	}
	if first || second {
		clamp, err := tr.attribute("torch", "clamp")
		if err != nil {
			return nil, err
		}
		return tr.in.Call(clamp, []vm.Object{a}, []vm.KwArg{{Name: bound, Value: b}})
	}
	f, err := tr.in.GetAttr(tr.in.Builtins, map[string]string{"maximum": "max", "minimum": "min"}[pair])
	if err != nil {
		return nil, err
	}
	return tr.in.Call(f, []vm.Object{a, b}, nil)
}

// castTensor is int(x) or float(x) of a tensor, whose number stays in the graph where that was asked for.
func (tr *tracer) castTensor(name string, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(args) != 1 || len(kw) > 0 || !someTensor(args) {
		return nil, false, nil
	}
	if on, err := tr.d.configBool("capture_scalar_outputs"); err != nil || !on {
		return nil, false, err
	}
	n, err := tr.in.CallMethod(args[0], "item")
	if err != nil {
		return nil, false, err
	}
	t := vm.IntType
	if name == "float" {
		t = vm.FloatType
	}
	if v, done, err := tr.numberType(t, []vm.Object{n}, nil); done || err != nil {
		return v, done, err
	}
	v, err := tr.in.Call(t, []vm.Object{n}, nil)
	return v, err == nil, err
}

// containsTensor is "x in items" of a tensor: comparisons of its elements with all items, joined. "not in" would read them.
func (u upcoming) containsTensor() error {
	items, err := u.in.IterAll(u.top(0))
	if err != nil || len(items) == 0 {
		return err
	}
	found, err := u.anyEquals(items, u.top(1))
	if err != nil {
		return err
	}
	if u.ins.Arg == 1 {
		return unsupported(breaks.DataDependentOperator, readsTensor)
	}
	u.replaceTop(vm.NewTuple())
	u.f.Ext = &pending{swap: found}
	return nil
}

// anyEquals is what tells where x equals one of items at least.
func (tr *tracer) anyEquals(items []vm.Object, x vm.Object) (vm.Object, error) {
	if err := tr.standIns.useAll(slices.Clone(items)); err != nil {
		return nil, err
	}
	var found vm.Object
	for _, item := range items {
		same, err := tr.comparison("==", item, x)
		if err != nil {
			return nil, err
		}
		if found == nil {
			found = same
		} else if found, err = tr.in.BinaryOp("|", same, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// operatorNames are the names that module operator has for comparisons.
var operatorNames = map[string]string{"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

// comparison compares two values, a tensor among them, in this order.
func (tr *tracer) comparison(op string, a, b vm.Object) (vm.Object, error) {
	return tr.t.Hook(&torch.Call{Op: fx.CallFunction, Target: "operator." + operatorNames[op], Args: []vm.Object{a, b},
		Run: func(args []vm.Object, _ []vm.KwArg) (vm.Object, error) { return tr.in.Compare(op, args[0], args[1]) }})
}

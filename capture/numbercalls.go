package capture

import (
	"slices"

	"whittle/capture/breaks"
	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// mathFunctions are functions of module math that stay symbolic, by the name that graphs give them.
var mathFunctions = map[string]string{"sqrt": "torch._sym_sqrt", "sin": "torch._sym_sin", "cos": "torch._sym_cos", "tan": "torch._sym_tan", "sinh": "torch._sym_sinh",
	"cosh": "torch._sym_cosh", "tanh": "torch._sym_tanh", "asin": "torch._sym_asin", "acos": "torch._sym_acos", "atan": "torch._sym_atan"}

// numberFunction performs a call of a builtin function that was given symbolic numbers: functions that graphs have stay symbolic, others of
// math fix the numbers to their values. done is false for those that do right by the numbers' own methods.
func (tr *tracer) numberFunction(f *vm.Builtin, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if f.Module != "builtins" && f.Module != "math" || f.Self != nil && !isModuleObject(f.Self) {
		return nil, false, nil
	}
	// len(x) of a tensor is its first size, which may be a symbol.
	if x, ok := first(args).(*torch.Tensor); ok && !tr.t.IsFace(x) && f.Name == "len" && f.Module == "builtins" && len(args) == 1 {
		if size := tr.sizes.Size(x.T); len(x.T.Shape) > 0 && (!standsIn(x.T) || !size[0].IsConst()) {
			v, err := tr.in.CallMethod(x, "size", vm.MakeInt(0))
			return v, err == nil, err
		}
	}
	if (f.Name == "max" || f.Name == "min") && len(args) == 1 && len(kw) == 0 && isSequence(args[0]) {
		if items, err := tr.in.IterAll(args[0]); err == nil && len(items) > 1 && slices.ContainsFunc(items, unknownNumber) {
			args = items
		}
	}
	some := false
	for _, a := range args {
		if s, ok := a.(*torch.Scalar); ok {
			some = true
			// Nothing stands for the value of a number that only a run knows; these four work without.
			if !s.Backed() && f.Name != "isinstance" && f.Name != "abs" && f.Name != "max" && f.Name != "min" {
				return nil, false, unsupported(breaks.DataDependentOperator, readsNumber)
			}
		}
	}
	if _, breaks := lasting.names[f.Name]; !some || breaks {
		return nil, false, nil
	}
	switch f.Name {
	case "isinstance": // a symbolic number is an int to the program
		asked := append([]vm.Object(nil), args...)
		if s, ok := asked[0].(*torch.Scalar); ok {
			asked[0] = s.Hint()
		}
		v, err := tr.in.Call(f, asked, kw)
		return v, err == nil, err
	case "max", "min":
		if len(args) < 2 || len(kw) > 0 {
			return nil, false, nil
		}
		v, err := tr.extreme(f.Name, args)
		return v, err == nil, err
	case "divmod":
		return nil, false, tr.refusedBuiltin(f.Name, args, kw)
	}
	if target := mathFunctions[f.Name]; f.Module == "math" && target != "" && len(args) == 1 { // else the function itself words the error
		v, err := tr.t.ScalarFunction(target, args[0].(*torch.Scalar), func(e *symbolic.Expr) *symbolic.Expr { return symbolic.Call(f.Name, e) })
		return v, err == nil, err
	}
	if f.Module != "math" {
		return nil, false, nil // sum, sorted, len and the like use the numbers' own methods
	}
	plain, err := tr.plainNumbers(args)
	if err != nil {
		return nil, false, err
	}
	v, err := tr.in.Call(f, plain, kw)
	return v, err == nil, err
}

// first is the first argument; nil if there is none.
func first(args []vm.Object) vm.Object {
	if len(args) == 0 {
		return nil
	}
	return args[0]
}

// isModuleObject reports whether an object is a Python module.
func isModuleObject(o vm.Object) bool {
	_, ok := o.(*vm.Module)
	return ok
}

// plainNumbers fixes symbolic numbers to their values.
func (tr *tracer) plainNumbers(args []vm.Object) ([]vm.Object, error) {
	out := append([]vm.Object(nil), args...)
	for i, a := range out {
		if s, ok := a.(*torch.Scalar); ok {
			v, err := tr.t.Specialize(s)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
	}
	return out, nil
}

// extreme is max or min: comparisons, and so guards, choose one of the numbers. Where a constant is chosen, a node stays behind. The
// symbolic one of a pair is the one that is asked, so that its method makes the guard.
func (tr *tracer) extreme(name string, args []vm.Object) (vm.Object, error) {
	for _, o := range args {
		s, ok := o.(*torch.Scalar)
		if !ok {
			continue
		}
		if !s.Backed() {
			return tr.extremeUnknown(name, args)
		}
		if _, err := tr.out.scalarArg(s); err != nil {
			return nil, err
		}
	}
	best := args[0]
	for _, a := range args[1:] {
		_, aSymbol := a.(*torch.Scalar)
		_, bestSymbol := best.(*torch.Scalar)
		op, flipped := "__gt__", "__lt__"
		if name == "min" {
			op, flipped = flipped, op
		}
		var r vm.Object
		var err error
		if aSymbol {
			r, err = tr.in.CallMethod(a, op, best)
		} else if bestSymbol {
			r, err = tr.in.CallMethod(best, flipped, a)
		} else {
			if r, err = tr.in.CallMethod(a, op, best); err != nil {
				return nil, err
			}
			if better, err := tr.in.Truth(r); err != nil {
				return nil, err
			} else if better {
				best = a
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		better, err := tr.in.Truth(r)
		if err != nil {
			return nil, err
		}
		first := best
		if better {
			best = a
		}
		if _, symbol := best.(*torch.Scalar); symbol {
			continue
		}
		if err := tr.out.constantNode("torch.sym_"+name, first, a); err != nil {
			return nil, err
		}
	}
	return best, nil
}

// unknownNumber reports whether an object is a number that only a run knows.
func unknownNumber(o vm.Object) bool {
	s, ok := o.(*torch.Scalar)
	return ok && !s.Backed()
}

// extremeUnknown is extreme of numbers of which only a run knows the greatest: a node chooses.
func (tr *tracer) extremeUnknown(name string, args []vm.Object) (vm.Object, error) {
	choose := symbolic.Max
	if name == "min" {
		choose = symbolic.Min
	}
	best := args[0]
	for _, a := range args[1:] {
		s, ok := best.(*torch.Scalar)
		if !ok {
			if s, ok = a.(*torch.Scalar); !ok {
				return nil, unsupported(breaks.DataDependentOperator, readsNumber)
			}
		}
		v, err := tr.t.ScalarChoice("torch.sym_"+name, best, a, s.Env, choose)
		if err != nil {
			return nil, err
		}
		best = v
	}
	return best, nil
}

// numberType performs int(x), float(x), bool(x), range(x) and str(x) of symbolic numbers.
func (tr *tracer) numberType(t *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	var s *torch.Scalar
	for _, a := range args {
		if x, ok := a.(*torch.Scalar); ok {
			s = x
		}
	}
	if s == nil || len(kw) > 0 {
		return nil, false, nil
	}
	one := len(args) == 1
	var v vm.Object
	var err error
	switch {
	case t == vm.FloatType && one:
		if s.Kind == tensor.Float64 {
			return s, true, nil
		}
		v, err = tr.t.ScalarFunction("torch.sym_float", s, symbolic.ToFloat)
	case t == vm.IntType && one && s.Kind == tensor.Int64:
		return s, true, nil
	case t == vm.IntType && one && s.Kind == tensor.Float64:
		v, err = tr.t.ScalarFunction("torch.sym_int", s, symbolic.Trunc)
	case t == vm.BoolType && one:
		if !tr.symbols.decidable(s) {
			return nil, false, unsupported(breaks.DataDependentOperator, readsNumber)
		}
		var b bool
		b, err = tr.t.Truth(s)
		v = vm.MakeBool(b)
	case t == vm.TypeType && one:
		return s.Hint().Type(), true, nil
	case t == vm.StrType && one && tr.ofProgram():
		return nil, false, tr.refusedBuiltin("str", args, kw)
	case t.Name == "range" || t == vm.IntType || t == vm.StrType:
		var plain []vm.Object
		if plain, err = tr.plainNumbers(args); err == nil {
			v, err = tr.in.Call(t, plain, nil)
		}
	default:
		return nil, false, nil
	}
	return v, err == nil, err
}

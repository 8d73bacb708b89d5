package capture

import (
	"errors"
	"slices"

	"whittle/capture/breaks"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
)

// An exception that Python would raise at an operator or at a builtin function of constants, at an assignment to several names and at an import is
// none that a trace of PyTorch sees: it computes these things itself, and ends where it cannot, whatever would catch the exception.

// raised is such an end at the instruction that the frame is at; r where it is none.
func (tr *tracer) raised(f *vm.Frame, r *vm.Raised) error {
	if tr.depth > 0 || tr.ended || tr.d.active != tr || tr.d.outer != nil || tr.d.IsLibrary(f.Code.Filename) {
		return r
	}
	u := upcoming{tr, f, f.Code.Instrs[f.PC]}
	var end error
	switch u.ins.Op {
	case code.BINARY_OP:
		if foldable(u.top(1)) && foldable(u.top(0)) {
			end = unsupported(breaks.ConstantOperation, tr.repr(r.Exc))
		}
	case code.UNARY_NEGATIVE, code.UNARY_INVERT:
		if foldable(u.top(0)) {
			end = unsupported(breaks.ConstantOperation, tr.repr(r.Exc))
		}
	case code.UNPACK_SEQUENCE:
		if r.Exc.Type() == tr.in.Exc.ValueError {
			end = unsupported(breaks.UnpackLength)
		}
	case code.IMPORT_NAME:
		if r.Exc.Type().IsSubtype(tr.in.Exc.ImportError) {
			end = unsupported(breaks.MissingModule)
		}
	}
	if end == nil {
		return r
	}
	return tr.journal.located(end)
}

// fold calls a builtin function of constants; done is false where it is none of those that a trace calls itself.
func (tr *tracer) fold(callable vm.Object, args []vm.Object, kw []vm.KwArg) (v vm.Object, done bool, err error) {
	if len(kw) > 0 || !foldedBuiltins.has(builtinName(callable)) {
		return nil, false, nil
	}
	for _, a := range args {
		if l, ok := a.(*vm.List); !foldable(a) && (!ok || len(l.Items) > 0) {
			return nil, false, nil
		}
	}
	v, err = tr.in.Call(callable, args, nil)
	var r *vm.Raised
	if errors.As(err, &r) {
		err = unsupported(breaks.ConstantFold, tr.repr(r.Exc))
	}
	return v, true, err
}

// builtinName is the name of a builtin function or class with its module; "" for other callables.
func builtinName(callable vm.Object) string {
	switch f := callable.(type) {
	case *vm.Builtin:
		if f.Self == nil || f.Owner == nil {
			return f.Module + "." + f.Name
		}
	case *vm.Type:
		return f.Module + "." + f.Name
	}
	return ""
}

// foldable reports whether an object is a constant of PyTorch's traces: a number, a text, None, or a tuple of these.
func foldable(o vm.Object) bool {
	switch o := o.(type) {
	case vm.Int, vm.Bool, vm.Float, vm.Str, vm.Bytes, *vm.NoneType, *vm.BigInt, vm.Complex:
		return true
	case *vm.Tuple:
		return !slices.ContainsFunc(o.Items, func(x vm.Object) bool { return !foldable(x) })
	}
	return false
}

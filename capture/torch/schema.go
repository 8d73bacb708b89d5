package torch

import (
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
)

// schema is the torch.FunctionSchema of an operator.
func (t *Torch) schema(op *aten.Op) (vm.Object, error) {
	if s := t.schemas[op]; s != nil {
		return s, nil
	}
	sig := op.Sig()
	described := func(name string, typ aten.Type, alias string, more ...vm.Object) vm.Object {
		return vm.NewTuple(append([]vm.Object{vm.Str(name), vm.Str(typ.Base), vm.MakeBool(typ.List), vm.MakeInt(int64(typ.Size)), vm.MakeBool(typ.Optional),
			vm.MakeBool(typ.ElemOpt), vm.Str(alias)}, more...)...)
	}
	args, returns := vm.NewList(), vm.NewList()
	for _, a := range sig.Args {
		var def vm.Object = vm.None
		if a.HasDefault {
			def = t.argument(a.Default)
		}
		args.Items = append(args.Items, described(a.Name, a.Type, a.Alias, vm.MakeBool(a.HasDefault), def, vm.MakeBool(a.KwOnly)))
	}
	for _, r := range sig.Returns {
		returns.Items = append(returns.Items, described(r.Name, r.Type, r.Alias))
	}
	text := op.Schema
	if sig.Namespace != "aten" && sig.Namespace != "prims" { // as the program wrote it
		text = sig.String()
	}
	s, err := t.callIn("torch._function_schema", "FunctionSchema", vm.Str(text), vm.Str(sig.Namespace+"::"+sig.Name), vm.Str(sig.Overload), args, returns)
	if err == nil {
		t.schemas[op] = s
	}
	return s, err
}

package stdlib

import (
	"strings"

	"whittle/capture/python/vm"
)

// newNamespace makes an object of types.SimpleNamespace, which takes its class from sys.implementation.
func newNamespace(in *vm.Interp, kv ...any) vm.Object {
	var t *vm.Type
	t = in.NewNativeType(vm.Spec{Strict: true, Name: "SimpleNamespace", NoModule: true, Module: "types",
		Doc: "A simple attribute-based namespace.\n\nSimpleNamespace(**kwargs)",
		New: func(_ *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewInstance(cls, nil), nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if len(a) > 1 {
					return nil, in.Errorf(in.Exc.TypeError, "no positional arguments expected")
				}
				d := a[0].(*vm.Instance).AttrDict(true)
				for _, k := range kw {
					d.SetStr(k.Name, k.Value)
				}
				return vm.None, nil
			},
			"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return reprNamespace(in, t, a[0].(*vm.Instance))
			},
			"__eq__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				o, ok := a[1].(*vm.Instance)
				if !ok || !o.Class.IsSubtype(t) {
					return vm.NotImplemented, nil
				}
				return in.Compare("==", a[0].(*vm.Instance).AttrDict(true), o.AttrDict(true))
			},
			"__reduce__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				i := a[0].(*vm.Instance)
				return vm.NewTuple(i.Class, vm.NewTuple(), i.AttrDict(true)), nil
			}},
		GetSet: []*vm.GetSet{instanceDict()}})
	i := vm.NewInstance(t, nil)
	i.Dict = vm.StrDict(kv...)
	return i
}

func reprNamespace(in *vm.Interp, exact *vm.Type, i *vm.Instance) (vm.Object, error) {
	name := i.Class.Name
	if i.Class == exact {
		name = "namespace"
	}
	var parts []string
	ok, err := in.ReprGuard(i, func() (err error) {
		i.AttrDict(true).Copy().Each(func(k, v vm.Object) bool {
			var r string
			if s, isStr := vm.AsStr(k); isStr && s != "" {
				r, err = in.Repr(v)
				parts = append(parts, s+"="+r)
			}
			return err == nil
		})
		return err
	})
	if !ok {
		return vm.Str(name + "(...)"), err
	}
	return vm.Str(name + "(" + strings.Join(parts, ", ") + ")"), err
}

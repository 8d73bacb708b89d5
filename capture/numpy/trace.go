package numpy

import "whittle/capture/python/vm"

// traceable makes the methods of a class ask the interpreter's hook first. In a trace there are objects of class ndarray that are no Array:
// what they stand for is known only to the trace, and the hook does everything that is asked of them.
func (np *NumPy) traceable(methods map[string]vm.GoFunc) map[string]vm.GoFunc {
	out := make(map[string]vm.GoFunc, len(methods))
	for name, fn := range methods {
		out[name] = func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if v, done, err := np.asked(vm.ArrayUse{Name: name, Args: args, Kw: kw}); done || err != nil {
				return v, err
			}
			return fn(in, args, kw)
		}
	}
	return out
}

// traceableAttrs is traceable for attributes.
func (np *NumPy) traceableAttrs(attrs []*vm.GetSet) []*vm.GetSet {
	for _, g := range attrs {
		if get := g.Get; get != nil {
			g.Get = func(in *vm.Interp, o vm.Object) (vm.Object, error) {
				if v, done, err := np.asked(vm.ArrayUse{Name: g.Name, Args: []vm.Object{o}, Attr: true}); done || err != nil {
					return v, err
				}
				return get(in, o)
			}
		}
		if set := g.Set; set != nil {
			g.Set = func(in *vm.Interp, o, v vm.Object) error {
				if _, done, err := np.asked(vm.ArrayUse{Name: g.Name, Args: []vm.Object{o, v}, Attr: true, Set: true}); done || err != nil {
					return err
				}
				return set(in, o, v)
			}
		}
	}
	return attrs
}

// asked hands a use to the hook. An array of a trace that has ended has nobody to ask.
func (np *NumPy) asked(u vm.ArrayUse) (vm.Object, bool, error) {
	if hook := np.In.ArrayHook; hook != nil {
		if v, done, err := hook(u); done || err != nil {
			return v, done, err
		}
	}
	if len(u.Args) == 0 || u.Args[0].Type() != np.ArrayType {
		return nil, false, nil
	}
	if _, ok := u.Args[0].(*Array); !ok {
		return nil, false, np.In.Errorf(np.In.Exc.RuntimeError, "%s of an array outside of the trace that made it", u.Name)
	}
	return nil, false, nil
}
